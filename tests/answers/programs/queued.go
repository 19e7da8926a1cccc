// A cleanup that does not return keeps all others from being run, and what they have as arguments or have captured.
//
//	from 1.25
//	case argument SHAPE=cl
//	says ^  1 .* (2,99\d|3,000) main\.conn, in
//	says ^      held by     argument(\.value)?  \(argument \*main\.conn\? of a cleanup\)$
//	says ^      blocked by  goroutine \d+ \[chan receive\] main\.main\.func1 \S+ ← runtime\.runCleanups:$
//	says ^ +few goroutines run cleanups, and this one has not returned$
//	case captured SHAPE=capture
//	says ^  1 .* (2,99\d|3,000) main\.conn, in
//	says ^      blocked by  goroutine \d+ \[chan receive\] main\.main\.func\d \S+ ← runtime\.runCleanups:$
//
// Finalizers have a goroutine of their own:
//
//	case finalizer SHAPE=finalizer
//	says ^  1 .* 3,000 main\.file
//	never blocked by
package main

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"time"
)

type conn struct {
	buf  []byte
	name string
}
type file struct {
	page []byte
	fd   int
}

var stuck = make(chan int)

func main() {
	switch os.Getenv("SHAPE") {
	case "cl":
		for i := 0; i < 3000; i++ {
			f := &file{page: make([]byte, 8000), fd: i}
			c := &conn{buf: make([]byte, 8000)}
			runtime.AddCleanup(f, func(c *conn) { <-stuck; c.buf = nil }, c)
		}
	case "capture":
		for i := 0; i < 3000; i++ {
			f := &file{page: make([]byte, 8000), fd: i}
			c := &conn{buf: make([]byte, 8000)}
			runtime.AddCleanup(f, func(i int) { <-stuck; c.buf = nil }, 1)
		}
	case "finalizer":
		runtime.AddCleanup(&file{}, func(int) { <-stuck }, 1)
	}
	for i := 0; i < 3; i++ {
		runtime.GC()
		time.Sleep(50 * time.Millisecond)
	}
	debug.SetGCPercent(-1)
	for i := 0; i < 3000 && os.Getenv("SHAPE") == "finalizer"; i++ {
		runtime.SetFinalizer(&file{page: make([]byte, 8000), fd: i}, func(*file) {})
	}
	fmt.Println("READY")
	fmt.Scanln()
}
