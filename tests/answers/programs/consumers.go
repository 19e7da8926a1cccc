// Of goroutines in one place one holds nearly all: it comes first, with what multiplies in it; and a channel that is a field of what a
// goroutine holds is part of that, though the goroutine has it in a slot of its own while it waits.
//
//	case skewed SHAPE=skewed
//	says ^  1 .* 3 goroutines \[chan receive\] main\.consume
//	says ^      mostly      goroutine \d+ \[chan receive\] main\.consume.* alone has \d\.\d+ MB \((9\d|100) %\)$
//	says ^      of which    20,0\d\d main\.span, \d\.\d+ MB$
//	is r.suspects[0].inside.class === 'main.span'
//	case caches SHAPE=caches
//	says ^  1 .* 1,000 goroutines \[select\] main\.
//	says hold .*main\.cache, (9|10)\.\d+ kB each$
//	case receivers SHAPE=caches COLLECT=1
//	says ^  1 .* 1,000 goroutines \[select\] main\.
//	says hold .*main\.cache, (9|10)\.\d+ kB each$
package main

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"time"
)

type span struct {
	name     string
	children []*span
	data     [24]uint64
}

type cache struct {
	promote, remove chan *span
	stop            chan struct{}
	size            int
}

//go:noinline
func consume(in chan int, n int) {
	root := &span{name: "root"}
	for i := 0; i < n; i++ {
		root.children = append(root.children, &span{name: "done"})
	}
	for range in {
		root.children = append(root.children, &span{})
	}
}

//go:noinline
func (c *cache) work() {
	for {
		select {
		case <-c.promote:
			c.size++
		case <-c.remove:
			c.size--
		case <-c.stop:
			return
		}
	}
}

func main() {
	waits, waiting := "[chan receive]:\nmain.consume", 3
	inputs := []chan int{make(chan int), make(chan int), make(chan int)}
	if os.Getenv("SHAPE") == "skewed" {
		for i, n := range []int{20000, 30, 20} {
			go consume(inputs[i], n)
		}
	} else {
		waits, waiting = "[select]:\nmain.", 1000
		for i := 0; i < 1000; i++ {
			go (&cache{promote: make(chan *span, 512), remove: make(chan *span, 512), stop: make(chan struct{})}).work()
		}
	}
	for stacks := make([]byte, 1<<20); bytes.Count(stacks[:runtime.Stack(stacks, true)], []byte(waits)) < waiting; {
		time.Sleep(10 * time.Millisecond)
	}
	if os.Getenv("COLLECT") != "" {
		runtime.GC() // the func values that the goroutines were started with: only a spilled receiver leads to each cache
	}
	fmt.Println("READY")
	os.Stdin.Read(make([]byte, 1))
	fmt.Println(len(inputs))
}
