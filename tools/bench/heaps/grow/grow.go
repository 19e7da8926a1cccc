// Package grow fills the heap of its program up to a size and dumps it. The programs beside it share it.
//
//	PROGRAM -n OBJECTS -o FILE
package grow

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
)

func objects() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapObjects
}

// Main calls more until the heap has about as many objects as the command line asks for, and dumps the heap. It keeps what
// more returns until then, and passes it the number of objects that are missing.
func Main(more func(missing uint64) interface{}) {
	n := flag.Uint64("n", 1000000, "about this many heap `objects`")
	out := flag.String("o", "", "write the dump to this `file`")
	flag.Parse()
	if *out == "" || flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	file, err := os.Create(*out)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	debug.SetGCPercent(50) // halves the peak of a heap that only grows
	kept := []interface{}{}
	for runtime.GC(); objects() < *n-*n/50; runtime.GC() {
		kept = append(kept, more(*n-objects()))
	}
	debug.WriteHeapDump(file.Fd())
	runtime.KeepAlive(kept)
}
