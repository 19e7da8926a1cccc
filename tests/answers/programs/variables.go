// Variables of a gigabyte, few of whose elements point to objects: the collector's mask of them has 16 MB, which the runtime counts
// among the buckets of its profiles. All that nobody has written to is passed.
//
//	says RSS .*, GC 1[789]\.\d MB
//	never profile buckets
//	says ^  1 .* of RSS        GC, no objects
//	says[plain] ^  2 .* of the heap   40,000 main\.row
//	says[plain] ^      (held by|example)     main\.index\[\d+\]
package main

import (
	"fmt"
	"os"
	"runtime"
)

type row struct {
	id   int
	next *row
}

var (
	table [1 << 26]*row
	index [1 << 26]*row
)

func main() {
	for i := 0; i < 40_000; i++ {
		index[1<<25+3*i] = &row{id: i}
	}
	for i := 0; i < 400; i++ {
		table[i] = &row{id: i}
	}
	runtime.GC()
	var size, pages int
	statm, _ := os.ReadFile("/proc/self/statm")
	fmt.Sscan(string(statm), &size, &pages)
	if pages*os.Getpagesize() > 1<<29 {
		fmt.Println("SKIP this kernel has no page of zeros: memory that the collector reads becomes resident")
	}
	fmt.Println("READY")
	fmt.Scanln()
	fmt.Println(table[0], index[0])
}
