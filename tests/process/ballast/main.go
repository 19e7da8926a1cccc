// ballast holds 20 MB of objects, and memory beside them that it has allocated and never written to, as its argument says: none;
// bytes or pointers, 60 slices of 64 MB; few, 3 of them; or huge, one of 8 GiB; variables.go has more. With goroutines, it has
// 20,000 that wait, with stacks of 4 KB that they do use. It prints "ready" and waits to be read.
package main

import (
	"fmt"
	"os"
	"runtime/debug"
	"time"
)

type object struct {
	text string
	next *object
}

var (
	last     *object
	bytes    [][]byte
	pointers [][]*object
)

func wait(calls int, done <-chan int) int {
	if calls == 0 {
		return <-done
	}
	var row [32]int
	row[calls] = wait(calls-1, done)
	return row[calls/2]
}

func main() {
	// When memory is collected and given back must not depend on the moment, or on the memory that there is beside the objects.
	debug.SetGCPercent(-1)
	const slices, size = 60, 64 << 20
	for i := 0; i < slices; i++ {
		switch kind := os.Args[1]; {
		case kind == "bytes" || kind == "few" && i < 3:
			bytes = append(bytes, make([]byte, size))
		case kind == "pointers":
			pointers = append(pointers, make([]*object, size/8))
		case kind == "huge" && i == 0:
			bytes = append(bytes, make([]byte, 8<<30))
		}
	}
	for i := 0; i < 20_000 && os.Args[1] == "goroutines"; i++ {
		go wait(8, make(chan int))
	}
	for i := 0; i < 300_000; i++ {
		last = &object{fmt.Sprintf("%40d", i), last}
	}
	debug.FreeOSMemory()
	fmt.Println("ready")
	time.Sleep(time.Hour)
}
