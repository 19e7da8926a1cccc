// Finalizers: registered ones, one that blocks, and those that are queued behind it.
package main

import (
	"os"
	"runtime"
	"time"
)

type finalized struct {
	n    *node
	more [3]int
}

type finalizedBig struct{ p [100]*node }

var finalizerRuns = make(chan struct{})

func finalizers() {
	for i := 0; i < 8; i++ {
		i, f, g, number := i, &finalized{n: &node{}}, &finalizedBig{}, new([4]int)
		runtime.SetFinalizer(f, func(f *finalized) { f.more[0] = i })
		runtime.SetFinalizer(g, (*finalizedBig).finalize)
		runtime.SetFinalizer(number, func(interface{}) {})
		keep([]interface{}{f, g, number})
		file, err := os.Open(os.DevNull)
		check(err)
		keep(file) // with the library's own
	}
}

func (f *finalizedBig) finalize() { f.p[0] = nil }

//go:noinline
func drop(n int, block bool) {
	for i := 0; i < n; i++ {
		f, kept := &finalized{n: &node{name: "held by its finalizer"}}, &node{name: "captured by a finalizer"}
		if block {
			runtime.SetFinalizer(f, func(f *finalized) {
				finalizerRuns <- struct{}{}
				<-make(chan int)
				runtime.KeepAlive(kept)
			})
		} else {
			runtime.SetFinalizer(f, func(f *finalized) { f.n = kept })
		}
	}
}

// queue leaves one finalizer blocked and others behind it.
func queue() {
	drop(2, true)
	for ran := false; !ran; {
		clobber(50)
		runtime.GC()
		select {
		case <-finalizerRuns:
			ran = true
		case <-time.After(10 * time.Millisecond):
		}
	}
	drop(7, false)
	clobber(50)
	runtime.GC()
}

// clobber overwrites what is left of earlier calls on the stack.
//
//go:noinline
func clobber(n int) int {
	var pad [64]int
	if n > 0 {
		pad[n%64] = clobber(n - 1)
	}
	return pad[n%64]
}
