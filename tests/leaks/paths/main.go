// Names of a package whose path the linker escapes, wherever they are shown; and the lines of frames and closures.
package main

import (
	"fmt"
	"runtime"
	"strings"

	"leaks/expect"
	queue "leaks/paths/go-queue"
	"leaks/paths/yaml.v2"
	"settle"
)

func init() { runtime.MemProfileRate = 1 }

var decoders []*yaml.Decoder

type box[T any] struct{ inside, other T }

var boxed []*box[*yaml.Node]

var task func() fmt.Stringer

// keeper returns a function that has what it never looks at: its type says nothing of it.
//
//go:noinline
func keeper(node *yaml.Node) func() { return func() { _ = node } }

var keep func()

func main() {
	started := make(chan bool)
	for _, name := range strings.Fields("first second last") {
		d := &yaml.Decoder{}
		decoders = append(decoders, d)
		go d.Decode(name, started)
		<-started
		<-started
	}
	boxed = append(boxed, &box[*yaml.Node]{inside: &yaml.Node{}})
	task = queue.New(strings.Repeat("task", len(boxed)))
	keep = keeper(&yaml.Node{})
	settle.Settle()
	const pkg = `leaks/paths/yaml\.v2`
	expect.Add(expect.Expectation{Kind: "objects", Class: pkg + `\.Node`, Count: 3, DWARF: true})
	expect.Add(expect.Expectation{Kind: "objects", Class: pkg + `\.Decoder`, Count: 3, DWARF: true})
	expect.Add(expect.Expectation{Kind: "objects", Class: `main\.box\[\*` + pkg + `\.Node\]`, Count: 1, DWARF: true})
	expect.Objects(`func `+pkg+`\.\(\*Decoder\)\.Decode\.func1`, 3)
	expect.Edges(`func `+pkg+`\.\(\*Decoder\)\.Decode\.func1`, `defined at`, `decoder\.go:21`, 3)
	expect.Objects(`func leaks/paths/go-queue\.New\.func1`, 1)
	expect.Goroutines(`\] `+pkg+`\.\(\*Decoder\)\.Decode$`, 3)
	expect.Goroutines(`\] `+pkg+`\.\(\*Decoder\)\.wait$`, 3)
	expect.Nodes(`go statement in `+pkg+`\.\(\*Decoder\)\.Decode decoder\.go:25`, 1)
	expect.Nodes(pkg+`\.\(\*Decoder\)\.Decode decoder\.go:27`, 3)
	expect.Nodes(pkg+`\.\(\*Decoder\)\.wait decoder\.go:33`, 3)
	expect.Nodes(pkg+`\.\(\*Decoder\)\.Decode decoder\.go:20 ← .*`, 1)
	expect.Global("leaks/paths/yaml.v2", "Last", `map\[string\]\*`+pkg+`\.Decoder`)
	expect.NoNodes(`.*%2e.*`)
	expect.Dump(1)
	expect.Done()
	// The profile is kept only where it can be asked for.
	runtime.MemProfile(nil, false)
	runtime.KeepAlive(decoders)
	runtime.KeepAlive(task())
	keep()
}
