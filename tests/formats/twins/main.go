// Twins keeps records of one type in two maps of one type, in one of them more, so that neither names of classes nor those of their
// holders tell the two suspects of its heap apart. It writes a dump.
//
//	twins FILE
package main

import (
	"os"
	"runtime"
	"runtime/debug"
)

type record struct {
	data [120]byte
}

var many, fewer = map[int]*record{}, map[int]*record{}

func main() {
	for i := 0; i < 5000; i++ {
		many[i] = &record{}
		if i%2 == 0 {
			fewer[i] = &record{}
		}
	}
	runtime.GC()
	runtime.GC()
	file, err := os.Create(os.Args[1])
	if err != nil {
		panic(err)
	}
	debug.WriteHeapDump(file.Fd())
	if err := file.Close(); err != nil {
		panic(err)
	}
}
