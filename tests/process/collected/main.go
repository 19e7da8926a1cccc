// collected holds a heap of spans with one object each, which is the most that there is to read per byte of a heap, and runs the
// collector again and again. It prints "ready" when the heap is there.
//
//	collected MEGABYTES MILLISECONDS     between the collections
package main

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"time"
)

var objects []*[8192]byte

func main() {
	megabytes, _ := strconv.Atoi(os.Args[1])
	pause, _ := strconv.Atoi(os.Args[2])
	for i := 0; i < megabytes*128; i++ {
		objects = append(objects, new([8192]byte))
	}
	fmt.Println("ready")
	for i := 0; ; i++ {
		objects[i%len(objects)] = new([8192]byte)
		runtime.GC()
		time.Sleep(time.Duration(pause) * time.Millisecond)
	}
}
