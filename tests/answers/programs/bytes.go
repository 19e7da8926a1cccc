// Two global buffers, of which the second one is large.
//
//	ways plain
//	says ^  1 .* of the heap   1 \[\]uint8
//	says ^      held by     main\.bBigBuf$
//	is r.suspects.length === 1
package main

import (
	"fmt"
	"os"
	"runtime"
)

var aSmallBuf, bBigBuf []byte

func main() {
	aSmallBuf, bBigBuf = make([]byte, 5000), make([]byte, 50_000_000)
	runtime.GC()
	fmt.Println("READY")
	os.Stdin.Read(make([]byte, 1))
	runtime.KeepAlive(aSmallBuf)
	runtime.KeepAlive(bBigBuf)
}
