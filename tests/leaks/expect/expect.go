// Package expect is what the programs of tests/leaks share: they say what must be found in their snapshot, then dump
// themselves. check.mjs reads it.
package expect

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"strconv"
)

// An Expectation, by Kind; see check.mjs. Those with DWARF hold only where the executable has it.
type Expectation struct {
	Kind  string   `json:"kind"`
	What  string   `json:"what,omitempty"`
	Class string   `json:"class,omitempty"`
	Way   []string `json:"way,omitempty"`
	Edge  string   `json:"edge,omitempty"`
	Count int      `json:"count,omitempty"`
	More  int      `json:"more,omitempty"`
	Most  float64  `json:"most,omitempty"`
	DWARF bool     `json:"dwarf,omitempty"`
}

var all []Expectation

// Add adds an expectation as it stands.
func Add(e Expectation) { all = append(all, e) }

// Objects: at least count objects that the roots reach are of a class, which is a regular expression for all of its name.
func Objects(class string, count int) { Add(Expectation{Kind: "objects", Class: class, Count: count}) }

// NoObjects: no object that the roots reach is of the class.
func NoObjects(class string) { Add(Expectation{Kind: "none", Class: class}) }

// Untyped: of what the roots reach, at most so many percent of the bytes have no plain type.
func Untyped(percent float64) { Add(Expectation{Kind: "untyped", Most: percent, DWARF: true}) }

// Unreachable: at most so many percent of the dump's bytes are garbage.
func Unreachable(percent float64) { Add(Expectation{Kind: "unreachable", Most: percent}) }

// Global: an edge of this name leads from the package's node below (globals) to an object of the class.
func Global(pkg, edge, class string) {
	Add(Expectation{Kind: "way", Way: []string{"(globals)", pkg}, Edge: edge, Class: class, DWARF: true})
}

// Local: an edge whose name the regular expression matches leads from so many frames of the function to an object of the
// class.
func Local(function, edge, class string, count int) {
	Add(Expectation{Kind: "frame", What: function, Edge: edge, Class: class, Count: count, DWARF: true})
}

// Keys: so many objects of the class are entries of maps that are named by their keys.
func Keys(class string, count int) { Add(Expectation{Kind: "keys", Class: class, Count: count}) }

// Goroutines: so many goroutines have a name that the regular expression matches.
func Goroutines(name string, count int) {
	Add(Expectation{Kind: "goroutines", What: name, Count: count})
}

// Stacks: exactly so many goroutines are in the place, which is a regular expression, and so many more in the second dump.
// They hang from one node, if it is more than one.
func Stacks(place string, count, more int) {
	Add(Expectation{Kind: "stacks", What: place, Count: count, More: more})
}

// InlinedStacks: the same of a place whose innermost function is inlined, which DWARF says.
func InlinedStacks(place string, count int) {
	Add(Expectation{Kind: "stacks", What: place, Count: count, DWARF: true})
}

// StackInuse: the sum of all stacks is within so many percent of what the runtime says.
func StackInuse(percent float64) { Add(Expectation{Kind: "inuse", Most: percent}) }

// Nodes: so many nodes, of objects or not, have a name that the regular expression matches as a whole.
func Nodes(name string, count int) { Add(Expectation{Kind: "nodes", What: name, Count: count}) }

// NoNodes: none has.
func NoNodes(name string) { Add(Expectation{Kind: "nodes", What: name}) }

// Edges: an edge of this name leads from so many objects of the class to a node of a name that the expression matches.
func Edges(class, edge, name string, count int) {
	Add(Expectation{Kind: "edges", Class: class, Edge: edge, What: name, Count: count})
}

// Retains: in the report's tree of dominators, the node to which these names lead, which are regular expressions, retains so many
// bytes at least.
func Retains(bytes int, way ...string) {
	Add(Expectation{Kind: "retains", Way: way, Count: bytes, DWARF: true})
}

// HoldsOnly: objects of the class hold nothing but others of it.
func HoldsOnly(class string) { Add(Expectation{Kind: "holdsOnly", Class: class, DWARF: true}) }

// Release is N of go1.N.
func Release() int {
	found := regexp.MustCompile(`go1\.(\d+)`).FindStringSubmatch(runtime.Version())
	if found == nil {
		return 1 << 20
	}
	n, _ := strconv.Atoi(found[1])
	return n
}

// Directory is where dumps go: the program's first argument.
func Directory() string {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: program DIRECTORY [SIZE]")
		os.Exit(2)
	}
	return os.Args[1]
}

// Size is the program's second argument, or usual.
func Size(usual int) int {
	if len(os.Args) > 2 {
		usual, _ = strconv.Atoi(os.Args[2])
	}
	return usual
}

// Dump writes the heap as N.dump. Before the first one garbage is collected, and never again: an object that is in both
// dumps is the same.
func Dump(n int) {
	if n == 1 {
		runtime.GC()
		debug.SetGCPercent(-1)
	}
	file, err := os.Create(filepath.Join(Directory(), strconv.Itoa(n)+".dump"))
	check(err)
	debug.WriteHeapDump(file.Fd())
	check(file.Close())
}

// Done writes what is expected of the first dump.
func Done() {
	text, err := json.MarshalIndent(all, "", " ")
	check(err)
	check(os.WriteFile(filepath.Join(Directory(), "expected.json"), text, 0o666))
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
