// Secret has values that were allocated in secret.Do, and others beside them. It prints "ready" and waits for a byte of standard input.
package main

import (
	"fmt"
	"os"
	"runtime"
	"runtime/secret"
)

type key struct {
	private []byte
	note    string
	numbers [4]uint64
	next    *key
	public  *public
}

type public struct{ text string }

// In DWARF and in the heap, with what it leads to.
var (
	shown  *key
	plain  *key
	bytes  []byte
	text   string
	counts map[string]int
	large  []byte
	boxed  any
)

func mark(where string) string { return string(append([]byte("TOP"+"SECRET-"), where...)) }

//go:noinline
func fill() {
	secret.Do(func() {
		shown = &key{private: []byte(mark("private")), note: mark("note"), public: &public{mark("public")}}
		for i := range shown.numbers {
			shown.numbers[i] = 0x5ec4e75ec4e75ec4
		}
		shown.next = &key{note: mark("next")}
		bytes = []byte(mark("bytes"))
		text = mark("text")
		counts = map[string]int{mark("key"): 0x5ec4e75ec4e75ec}
		large = make([]byte, 100000)
		copy(large[50000:], mark("large"))
		boxed = mark("boxed")
	})
	plain = &key{private: []byte("PLAIN-private"), note: string([]byte("PLAIN-note"))}
}

func main() {
	fill()
	fmt.Println("ready")
	os.Stdin.Read(make([]byte, 1))
	runtime.KeepAlive(shown)
}
