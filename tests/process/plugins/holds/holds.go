// A plugin that holds what it makes.
package main

type entry struct {
	name string
	next *entry
}

var entries *entry

// Fill makes n entries.
func Fill(n int) {
	for i := 0; i < n; i++ {
		entries = &entry{"an entry", entries}
	}
}

func main() {}
