// A program most of whose heap is in user arenas (GOEXPERIMENT=arenas). It prints a line when it is ready, and ends when its
// standard input does.
package main

import (
	"arena"
	"fmt"
	"io"
	"os"
	"runtime"
)

type item struct {
	next *item
	data []byte
}

const items, size = 100_000, 100

func main() {
	memory := arena.NewArena()
	var head *item
	for i := 0; i < items; i++ {
		one := arena.New[item](memory)
		one.next = head
		one.data = arena.MakeSlice[byte](memory, size, size)
		for j := range one.data {
			one.data[j] = 1
		}
		head = one
	}
	runtime.GC()
	fmt.Println(items * size)
	io.Copy(io.Discard, os.Stdin)
	runtime.KeepAlive(head)
	runtime.KeepAlive(memory)
}
