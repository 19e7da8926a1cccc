// A plugin that holds what it makes.
package main

type entry struct {
	name string
	next *entry
}

var (
	entries *entry
	starts  = make(chan bool)
	never   = make(chan *entry)
)

//go:noinline
func reader() {
	starts <- true
	last := <-never
	println(last.name)
}

// Fill makes n entries, and goroutines that wait forever.
func Fill(n int) {
	for i := 0; i < 3; i++ {
		go reader()
	}
	for i := 0; i < 3; i++ {
		<-starts
	}
	for i := 0; i < n; i++ {
		entries = &entry{"an entry", entries}
	}
}

func main() {}
