//go:build go1.24
// +build go1.24

package main

import (
	"fmt"
	"unique"
	"weak"
)

var (
	// Compilers before Swiss maps have none with elements that 386 aligns to 8.
	byCounter map[string]counters

	handle unique.Handle[pair]
	faint  weak.Pointer[large]
)

func modern() {
	atomics()
	byCounter = map[string]counters{"a": {}}
	handle = unique.Make(pair{a: 1})
	faint = weak.Make(&large{})
	fmt.Println(len(byCounter), handle.Value(), faint.Value())
}
