//go:build variables

package main

// A quarter of a gigabyte of variables that point to objects, of which the program has only written to a few. The runtime itself
// writes a bit for each of the words.
var (
	table [1 << 24]*object
	index [1 << 24]*object
)

func init() {
	table[0] = &object{text: "first"}
	index[len(index)/2] = &object{text: "half", next: table[0]}
}
