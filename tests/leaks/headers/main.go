// A long-lived goroutine that remembers in a map of its own what it has seen. The map's header does not escape: no variable is
// where it is, so only the code says that there is a map.
package main

import (
	"fmt"
	"runtime"
	"sync"

	"leaks/expect"
	"settle"
)

type Event struct {
	name string
	data []byte
}

const (
	watchers = 50
	events   = 100
)

var ready sync.WaitGroup
var block = make(chan int)

//go:noinline
func event(n int) *Event {
	return &Event{name: fmt.Sprint("event ", n), data: make([]byte, 100)}
}

//go:noinline
func watch(n int) (sum int) {
	seen := map[string]*Event{}
	for i := 0; i < events; i++ {
		seen[fmt.Sprint(n, " ", i)] = event(i)
	}
	ready.Done()
	sum = <-block
	for _, e := range seen {
		sum += len(e.name)
	}
	return sum
}

// The map grew, so that it has a directory, or old buckets, and is found by its number of entries.
//
//go:noinline
func count(n int) (sum int) {
	counts := map[int64]*Event{}
	for i := 0; i < 20*events; i++ {
		counts[int64(n+i)] = event(i)
	}
	for i := 0; i < 19*events; i++ {
		delete(counts, int64(n+i))
	}
	ready.Done()
	sum = <-block
	for _, e := range counts {
		sum += len(e.name)
	}
	return sum
}

func main() {
	ready.Add(2 * watchers)
	for i := 0; i < watchers; i++ {
		i := i
		go func() { watch(i) }()
		go func() { count(i) }()
	}
	ready.Wait()
	settle.Settle()
	runtime.GC()
	expect.Objects(`main\.Event`, 2*watchers*events)
	expect.Keys(`main\.Event`, 2*watchers*events)
	expect.Untyped(0.5)
	expect.Dump(1)
	expect.Done()
}
