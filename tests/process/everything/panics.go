// Panics in flight: goroutines that block inside of a deferred function.
package main

import (
	"errors"
	"runtime"
)

func never() *node { return <-make(chan *node) }

//go:noinline
func panicWith(v interface{}) {
	own := &node{name: "of a function that panics"}
	defer func() {
		own.next = never()
	}()
	panic(v)
}

//go:noinline
func panicInPanic() {
	defer func() {
		defer func() {
			held := &node{name: "of the innermost"}
			held.next = never()
		}()
		panic(errors.New("the second one"))
	}()
	panic(&node{name: "the first one"})
}

//go:noinline
func panicAfterRecover() {
	defer func() {
		defer never()
		panic("another one")
	}()
	func() {
		defer func() { recover() }()
		panic("recovered")
	}()
	panic(12345)
}

//go:noinline
func panicInLoop(n int) {
	for i := 0; i < n; i++ {
		i := i
		defer func() {
			if i == n/2 {
				never()
			}
		}()
	}
	panic("in a loop")
}

//go:noinline
func dereference(n *node) string { return n.name }

func panics() {
	for i := 0; i < 3; i++ {
		go panicWith("a text")
		go panicWith(&node{name: "the value of a panic"})
		go panicWith(square{2})
		go panicInPanic()
		go panicAfterRecover()
		go panicInLoop(5)
		go func() { // by a signal
			defer never()
			dereference(nil)
		}()
		go func() {
			var a []int
			defer never()
			a[len(kept)] = 1
		}()
		go func() {
			defer never()
			runtime.Goexit()
		}()
		go func() { // recovered, and waits
			defer func() {
				recover()
				never()
			}()
			panic("recovered")
		}()
	}
}
