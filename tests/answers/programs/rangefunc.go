// Calls that are deferred in a loop that ranges over a function: the runtime keeps them in a list that one record leads to.
//
//	from 1.24
//	says ^  1 .* of the heap   4,000 deferred calls of main\.bAll \(rangefunc\.go:\d+\)$
//	says ^      hold        4,000 main\.bLock 4\.\d\d MB$
//	never pc 0x0
package main

import (
	"fmt"
	"os"
	"runtime"
)

type aLock struct{ page []byte }

type bLock struct {
	page []byte
	held bool
}

//go:noinline
func (l *aLock) Unlock() { l.page = nil }

//go:noinline
func (l *bLock) Unlock() { l.page = nil }

func upTo(n int) func(func(int) bool) {
	return func(yield func(int) bool) {
		for i := 0; i < n && yield(i); i++ {
		}
	}
}

func aFirst(then func()) {
	for range upTo(20) {
		l := &aLock{make([]byte, 1000)}
		defer l.Unlock()
	}
	then()
}

func bAll(then func()) {
	for range upTo(4000) {
		l := &bLock{page: make([]byte, 1000)}
		defer l.Unlock()
	}
	then()
}

func main() {
	aFirst(func() {
		bAll(func() {
			runtime.GC()
			fmt.Println("READY")
			os.Stdin.Read(make([]byte, 1))
		})
	})
}
