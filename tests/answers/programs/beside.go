// Growth outside of the Go heap since a base: of malloc(), of stacks, of the heap that is free.
//
//	base
//	ways cgo
//
//	case malloc SHAPE=malloc
//	says ^  No objects grew by much\.$
//	never Nothing grew
//	says ^  RSS \+4\d\.\d MB, to \d\d\.\d MB: objects
//	says ^  outside the Go heap grew by 4\d\.\d MB: C and other anonymous memory \+[34]\d\.\d MB
//	is r.rss_growth.outside > 40000000 && r.rss_growth.parts.c > 30000000 && r.rss_growth.objects < 1000000
//
//	case stacks SHAPE=stacks
//	says ^  outside the Go heap grew by \d\d\.\d MB: stacks \+\d\d\.\d MB
//	is r.rss_growth.parts.stacks > 15000000 && r.rss_growth.parts.c < 2000000
//
//	case freed SHAPE=freed
//	says ^  RSS \+\d\d\.\d MB, to \d\d\.\d MB: objects [+-]\S+ k?B, free heap \+\d\d\.\d MB$
//	never outside the Go heap grew
//	is r.rss_growth.free > 20000000 && r.rss_growth.outside < 1000000
package main

/*
#include <stdlib.h>
#include <string.h>
*/
import "C"

import (
	"fmt"
	"os"
	"runtime"
	"time"
	"unsafe"
)

var kept [20]unsafe.Pointer
var buffers [][]byte
var stop = make(chan bool)

func deep(n int) int {
	var words [256]int
	words[n%256] = n
	if n == 0 {
		<-stop
		return 1
	}
	return deep(n-1) + words[3]
}

func grow(shape string) {
	switch shape {
	case "malloc":
		for i := range kept {
			kept[i] = C.malloc(2000000)
			C.memset(kept[i], 1, 2000000)
		}
	case "stacks":
		for i := 0; i < 200; i++ {
			go deep(50)
		}
	case "freed":
		for i := 0; i < 30; i++ {
			buffers = append(buffers, make([]byte, 1<<20))
			for j := range buffers[i] {
				buffers[i][j] = 1
			}
		}
		buffers = nil
		runtime.GC()
	}
	time.Sleep(200 * time.Millisecond)
}

func main() {
	shape := os.Getenv("SHAPE") // before the base: the first call makes the map syscall.env, which is not small in this heap
	var line string
	fmt.Println("READY")
	fmt.Scanln(&line)
	grow(shape)
	fmt.Println("READY")
	fmt.Scanln(&line)
	close(stop)
	runtime.KeepAlive(buffers)
}
