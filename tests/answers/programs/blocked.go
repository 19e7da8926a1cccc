// A finalizer that does not return keeps all others from being run, and the objects that they are for.
//
//	says ^  1 .* 2,970 main\.file
//	says ^      blocked by  goroutine \d+ \[chan receive\] main\.closeFile \S+ ← runtime\.run(Finalizers|finq):$
//	says ^ +finalizers( and cleanups)? run one after the other, and this one has not returned$
//	is r.suspects[0].blocked_by.function === 'main.closeFile'
package main

import (
	"fmt"
	"runtime"
	"time"
)

type file struct {
	page []byte
	fd   int
}

var stuck = make(chan int)
var live []*file

func closeFile(f *file) { <-stuck }

func main() {
	for i := 0; i < 3000; i++ {
		f := &file{page: make([]byte, 2000), fd: i}
		runtime.SetFinalizer(f, closeFile)
		if i%100 == 0 {
			live = append(live, f)
		}
	}
	for i := 0; i < 3; i++ {
		runtime.GC()
		time.Sleep(50 * time.Millisecond)
	}
	fmt.Println("READY")
	fmt.Scanln()
	fmt.Println(len(live))
}
