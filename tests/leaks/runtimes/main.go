// What the runtime and the library make without a word on its type: coroutines, pools after a collection.
package main

import (
	"fmt"
	"runtime"
	"sync"

	"leaks/expect"
)

type Buffer struct {
	name string
	data [10]int64
	next *Buffer
}

type Worker struct {
	name string
	pool sync.Pool
}

var (
	buffers = sync.Pool{New: func() interface{} { return new(Buffer) }}
	workers []*Worker
)

// fill leaves n buffers in each pool; the dump's collection makes them victims.
func fill(n int) {
	runtime.GOMAXPROCS(4)
	for i := 0; i < n; i++ {
		buffers.Put(&Buffer{name: fmt.Sprint("buffer ", i)})
	}
	for i := 0; i < 10; i++ {
		w := &Worker{name: fmt.Sprint("worker ", i)}
		for j := 0; j < n; j++ {
			w.pool.Put(&Buffer{name: fmt.Sprint("buffer of worker ", i)})
		}
		workers = append(workers, w)
	}
}

func main() {
	n := 200
	coroutines()
	fill(n)
	expect.Dump(1)
	expect.Objects(`main\.Buffer`, 11*n)
	expect.Add(expect.Expectation{Kind: "objects", Class: `\[\]sync\.poolLocal`, Count: 11, DWARF: true})
	expect.Untyped(0.5)
	expect.Done()
}
