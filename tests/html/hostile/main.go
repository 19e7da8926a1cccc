// Hostile gives its things names and texts that would harm who looks at its heap, if a page took them for HTML or scripts: keys of
// maps, strings, names of source files; and texts that a redacted page must not have. All of the latter
// contain "s3cr3t". It writes three dumps, between which all of that grows.
//
//	hostile DIRECTORY
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
)

var texts = []string{
	"</script><script>window.pwned=1</script>", `<img src=x onerror="window.pwned=2">`, "<!--<script>", `"><svg onload=window.pwned=3>`,
	"javascript:window.pwned=4", "${window.pwned=5}", "</title><script>window.pwned=6</script>", "</pre><script>window.pwned=7</script>",
	"]]><script>window.pwned=8</script>", "&lt;img src=x onerror=window.pwned=9&gt;", "\\u003cscript>window.pwned=10</script>",
	"\u202egnp.exe", "\u2066\u200f\u200b\ufeff", "\x1b[31mred\x07\x00", "\u2028window.pwned=11\u2029", "__proto__", "constructor", "toString",
	"\U000e0041\U0001f600", "\xff\xfe", "שלום", strings.Repeat("long", 300),
}

// A type whose name is read from right to left.
type שלום struct {
	Text  string
	Bytes []byte
}

var (
	byText  = map[string]*שלום{}
	nested  = map[string]map[string]any{}
	equal   []*string
	queue   = make(chan *שלום)
	methods []func() string
)

// Grow adds something below each text.
func grow(round int) {
	for _, text := range texts {
		for i := 0; i < 20; i++ {
			key := fmt.Sprintf("%s s3cr3t %d.%d", text, round, i)
			value := &שלום{Text: key + key, Bytes: make([]byte, 300)}
			byText[key] = value
			copied := strings.Clone(text + " s3cr3t of all")
			equal = append(equal, &copied)
			methods = append(methods, func() string { return value.Text })
		}
		if nested[text] == nil {
			nested[text] = map[string]any{}
		}
		nested[text][fmt.Sprint(text, round)] = map[string]any{text: make([]int, 1000)}
	}
}

//line <img src=x onerror=window.pwned=13>.go:1
func wait(value *שלום) {
	queue <- value
}

//line </style><script>window.pwned=14<:1
func start(n int) {
	for i := 0; i < n; i++ {
		go wait(&שלום{Bytes: make([]byte, 2000)})
	}
}

//line main.go:80
func main() {
	for round := 1; round <= 3; round++ {
		grow(round)
		start(20)
		runtime.GC()
		runtime.GC()
		name := filepath.Join(os.Args[1], fmt.Sprintf("<img src=x onerror=window.pwned=%d>.dump", 20+round))
		file, err := os.Create(name)
		if err != nil {
			panic(err)
		}
		debug.WriteHeapDump(file.Fd())
		file.Close()
	}
	runtime.KeepAlive(methods)
}
