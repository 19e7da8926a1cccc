// Everything in this program is held, and what it holds it writes down: one line of "object KIND ADDRESS" for each leaf, of which
// every kind of holder has some. Holders are of all sizes, densities of pointers and kinds of types, and goroutines wait on
// channels, locks and conditions that only such holders lead to, until main wakes them, so that none is leaked.
//
//	program before   says "ready" before any collection: run it with GOGC=off
//	program after    collects garbage first
//	program marking  collects garbage all the time
//
// It wakes all goroutines when standard input ends, and says "woke N of N".
package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"settle"
	"sync"
	"time"
	"unsafe"
)

// leaf is what holders lead to. It is the only type whose objects are counted.
type leaf struct {
	more *leaf
	n    [4]int
}

var (
	out   = bufio.NewWriter(os.Stdout)
	count int
	mutex sync.Mutex // of out and count, in goroutines
)

// of returns a new leaf, which has another one, and writes them down.
func of(kind string) *leaf {
	l := &leaf{more: &leaf{}}
	mutex.Lock()
	defer mutex.Unlock()
	count += 2
	fmt.Fprintf(out, "object %s %d\nobject %s %d\n", kind, uintptr(unsafe.Pointer(l)), kind, uintptr(unsafe.Pointer(l.more)))
	return l
}

// fill sets pointers of a holder that is seen as a slice of words: the first and the last ones, and some between.
func fill(kind string, pointers []*leaf, step int) {
	last := (len(pointers) - 1) / step * step
	for _, at := range []int{0, last / 3 / step * step, last / 2 / step * step, last} {
		if pointers[at] == nil {
			pointers[at] = of(kind)
		}
	}
}

// held keeps everything of which a kind says nothing else.
var held []interface{}

func hold(holder interface{}) { held = append(held, holder) }

var stop = make(chan struct{})

// churn makes garbage, some of it as large as the holders, and collects it.
func churn() {
	var trash [64]interface{}
	for i := 0; ; i++ {
		switch i % 3 {
		case 0:
			trash[i%len(trash)] = new([100]*int)
		case 1:
			trash[i%len(trash)] = new([2000]*int)
		default:
			trash[i%len(trash)] = make([]byte, 3000)
		}
		if i%500 == 0 {
			runtime.GC()
		}
		select {
		case <-stop:
			return
		default:
		}
	}
}

func main() {
	mode := os.Args[1]
	if mode != "before" {
		debug.SetGCPercent(20)
	}
	arrays()
	structs()
	generics()
	slices()
	maps()
	chans()
	closures()
	reflected()
	others()
	waiters()
	stacks()
	if mode != "before" {
		runtime.GC()
		runtime.GC()
	}
	var churning sync.WaitGroup
	if mode == "marking" {
		churning.Add(1)
		go func() { churn(); churning.Done() }()
		time.Sleep(50 * time.Millisecond)
	} else {
		settle.Settle()
	}
	mutex.Lock()
	fmt.Fprintf(out, "count %d\nready %d\n", count, os.Getpid())
	out.Flush()
	mutex.Unlock()
	_, _ = io.Copy(io.Discard, os.Stdin)
	close(stop)
	churning.Wait()
	fmt.Printf("woke %d of %d\n", wake(), waiting)
	fmt.Println(used())
}
