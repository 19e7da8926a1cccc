// Ten thousand goroutines that hang in two places, with stacks that have grown: which places these are, how many are in
// each, how much their stacks take, and how many there are more in the second dump.
package main

import (
	"runtime"
	"sync"

	"leaks/expect"
	"settle"
)

const (
	senders   = 7000
	receivers = 3000
	more      = 60
	few       = 20
)

type reply struct{ rows []int }

// A request that goes through some layers before it is answered, with what they have on the stack.
//
//go:noinline
func layer(depth int, answer func()) byte {
	var scratch [700]byte
	scratch[depth] = byte(depth)
	if depth == 0 {
		answer()
	} else {
		scratch[0] = layer(depth-1, answer)
	}
	return scratch[depth]
}

//go:noinline
func send(to chan<- *reply) { to <- &reply{rows: make([]int, 8)} }

//go:noinline
func receive(from <-chan *reply) { <-from }

//go:noinline
func ask(to chan *reply) { layer(6, func() { send(to) }) }

//go:noinline
func listen(from chan *reply) { layer(6, func() { receive(from) }) }

var mu sync.Mutex

// Whoever waits for a lock is in the runtime, in internal/sync and in sync before he is here.
//
//go:noinline
func update() {
	mu.Lock()
	defer mu.Unlock()
}

// So small that it is inlined where it is called, which is in what the compiler makes of the go statement.
func await(from <-chan int) { <-from }

func hang(senders, receivers int) {
	for i := 0; i < senders; i++ {
		ch := make(chan *reply)
		go ask(ch)
	}
	for i := 0; i < receivers; i++ {
		ch := make(chan *reply)
		go listen(ch)
	}
}

func main() {
	mu.Lock()
	never := make(chan int)
	for i := 0; i < few; i++ {
		go update()
		go await(never)
	}
	hang(senders, receivers)
	settle.Settle()
	runtime.GC()
	expect.Stacks(`\[chan send\] main\.send main\.go:\d+ ← main\.ask`, senders, more)
	expect.Stacks(`\[chan receive\] main\.receive main\.go:\d+ ← main\.listen`, receivers, 0)
	expect.Stacks(`\[(?:sync\.Mutex\.Lock|semacquire)\] main\.update main\.go:\d+`, few, 0)
	expect.InlinedStacks(`\[chan receive\] main\.await main\.go:\d+`, few)
	expect.StackInuse(1)
	expect.Dump(1)
	hang(more, 0)
	settle.Settle()
	expect.Dump(2)
	expect.Done()
}
