// What a go statement passes to a function is in a frame of that function, or in its caller's: its type is that of the closure's field
// or of the argument, also where only the code tells.
//
//	case
//	says ^  1 .* 300 goroutines \[sync\.Mutex\.Lock\] main\.locked
//	says ^      hold        .*: main\.job, 20\.\d kB each$
//	says ^  2 .* 300 goroutines \[chan receive\] main\.received
//	says ^      hold        .*: main\.job, 10\.\d kB each$
package main

import (
	"bytes"
	"fmt"
	"runtime"
	"sync"
	"time"
)

type job struct {
	id  int
	out *bytes.Buffer
}

var (
	mu   sync.Mutex
	wait = make(chan int)
)

func newJob(i, size int) *job { return &job{i, bytes.NewBuffer(make([]byte, 0, size))} }

//go:noinline
func locked(j *job) {
	mu.Lock()
	defer mu.Unlock()
	fmt.Fprintln(j.out, j.id)
}

//go:noinline
func received(j *job, n int) {
	for range n {
		fmt.Fprintln(j.out, j.id, <-wait)
	}
}

//go:noinline
func receive(n int, j *job) {
	received(j, n)
	runtime.Gosched()
}

func main() {
	mu.Lock()
	for i := 0; i < 300; i++ {
		go locked(newJob(i, 20000))
		go receive(i+1, newJob(i, 10000))
	}
	time.Sleep(200 * time.Millisecond)
	runtime.GC()
	fmt.Println("READY")
	fmt.Scanln()
}
