// Objects that only a runtime.Pinner holds. It keeps a pointer without its type, so an object has the type that fits if there is
// only one, and a name of its shape if there are two.
//
//	from 1.21
//	case two SHAPE=two
//	says ^  1 .* of the heap   1,000 entries, in \[\]unsafe\.Pointer$
//	says ^      each        10\.3 kB = ptr96 95 B \+ noptr10240 10\.2 kB
//	says[plain] ^      (held by|example)     main\.bPins\.pinner\.refs\[\d+\]$
//	never main\.(frame|strip)
//
//	case one SHAPE=one
//	says ^  1 .* of the heap   995 main\.roll, in \[\]unsafe\.Pointer$
//	says ^      each        10\.4 kB = \S+ 112 B \+ \[\]uint8 10\.2 kB
//	says[plain] ^      (held by|example)     main\.bPins\.pinner\.refs\[\d+\]$
package main

import (
	"fmt"
	"os"
	"runtime"
)

// Of one shape.
type frame struct {
	size int
	data []byte
	at   [8]int
}

type strip struct {
	from int
	data []byte
	to   [8]int
}

type roll struct {
	at   [6]int
	size int
	data []byte
	last [4]int
}

var aPins, bPins runtime.Pinner

func main() {
	for i := 0; i < 1000; i++ {
		if os.Getenv("SHAPE") == "two" {
			bPins.Pin(&frame{size: i, data: make([]byte, 10_000)})
		} else {
			bPins.Pin(&roll{size: i, data: make([]byte, 10_000)})
		}
	}
	aPins.Pin(&strip{data: make([]byte, 10)})
	runtime.GC()
	fmt.Println("READY")
	os.Stdin.Read(make([]byte, 1))
	runtime.KeepAlive(&aPins)
	runtime.KeepAlive(&bPins)
}
