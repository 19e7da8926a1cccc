// Memory of C's malloc(), which the Go heap does not know.
//
//	ways cgo
//	says RSS .*C and other anonymous memory (3|4)\d\.\d MB
//	says ^  1 .*% of RSS +C and other anonymous memory, no objects
//	says meaning +malloc
//	says pointed to by main\.device\.handle \(4\d\.\d MB\), main\.device\.label \(4\d\.\d MB\), main\.device\.frame
//	never pointed to by .*spare
//	points ^main\.device handle 4\d\.\d MB \[heap\]$
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
	"unsafe"
)

type device struct {
	handle unsafe.Pointer
	label  *C.char
	frame  []byte
}

var spare, devices []*device

// Other threads than the first one would get memory of their own from malloc(), not from [heap].
func init() { runtime.LockOSThread() }

func main() {
	for i := 0; i < 400; i++ {
		handle := C.malloc(100000)
		C.memset(handle, 1, 100000)
		devices = append(devices, &device{handle, (*C.char)(handle), (*[100000]byte)(handle)[:]})
	}
	spare = append(spare, &device{frame: make([]byte, 10)})
	runtime.GC()
	fmt.Println("READY")
	os.Stdin.Read(make([]byte, 1))
	fmt.Println(len(devices), len(spare))
}
