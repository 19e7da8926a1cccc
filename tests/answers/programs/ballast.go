// Memory that was allocated and never written to takes none of the machine's: a ballast of any size stands beside the leak, is
// said not to be resident, and nothing is lost of what is around it, even if one object has more than 4 GiB.
//
//	case bytes SHAPE=bytes
//	says ^  reachable \d+ MB \(734 MB not resident\)
//	says ^  1     734 MB   9\d % of the heap   1 .* \(not resident\)$
//	says[plain] ^      held by     main\.ballast$
//	says ^  2    8\.39 MB .* 1 [^()\n]*$
//	says[plain] ^      held by     main\.cache$
//	says ^  3 .* of the heap   20,000 main\.span
//	says[plain] ^      held by     main\.pending$
//	is r.suspects[0].not_resident === 700 << 20 && r.suspects[1].not_resident === 0
//	case huge SHAPE=huge
//	says ^  reachable 5\.3\d GB \(5\.37 GB not resident\)
//	says ^  1    5\.37 GB  100 % of the heap   1 .* \(not resident\)$
//	says[plain] ^      held by     main\.ballast$
//	says ^  2    8\.39 MB .* 1 [^()\n]*$
//	says ^  3 .* of the heap   20,000 main\.span
//	says[plain] ^      held by     main\.pending$
//	is r.suspects[0].retained - r.suspects[0].not_resident < 1 << 15
//	case local SHAPE=local
//	says ^  1    4\.29 GB  100 % of the heap   1 .* \(not resident\)$
//	says ^  2 .* of the heap   20,000 main\.span
//	case half SHAPE=half
//	says ^  1    41\.9 MB   9\d % of the heap   1 .* \(16\.8 MB resident\)$
//	says ^  2 .* of the heap   20,000 main\.span
//	case pointers SHAPE=pointers
//	says ^  \d     629 MB   9\d % of the heap   1 \[\]\*main\.span \(not resident\)$
//	says[plain] ^      held by     main\.slots, a slice of 78,643,200 entries$
//	says ^  \d .* of the heap   1 \[\]\*main\.span$
//	says[plain] ^      held by     main\.ring, a slice of 1,048,576 entries$
//	says ^  \d .* of the heap   20,000 main\.span
//	case dropped SHAPE=dropped
//	says ^  reachable \d[.\d]* MB with .* of stacks, garbage 10\d MB$
//	says ^  of the garbage 105 MB are not resident: never written to$
package main

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
)

type span struct {
	name string
	next *span
	tags [40]byte
}

var (
	ballast, cache []byte  // nobody writes to the ballast; all of the cache is written to
	slots, ring    []*span // nobody writes to the slots; all of the ring is written to
	pending, done  *span   // nothing is ever done
)

func fill(bytes []byte) {
	for ; len(bytes) > 0; bytes = bytes[8:] {
		copy(bytes, "filled. ")
	}
}

// resident returns how many bytes of this process are resident.
func resident() int {
	var size, pages int
	statm, _ := os.ReadFile("/proc/self/statm")
	fmt.Sscan(string(statm), &size, &pages)
	return pages * os.Getpagesize()
}

func main() {
	var local []byte
	switch os.Getenv("SHAPE") {
	case "bytes":
		ballast, cache = make([]byte, 700<<20), make([]byte, 8<<20)
		fill(cache)
	case "huge":
		ballast, cache = make([]byte, 5<<30+12345), make([]byte, 8<<20)
		fill(cache)
	case "local":
		local = make([]byte, 4<<30)
	case "half":
		cache = make([]byte, 40<<20)
		fill(cache[8<<20 : 24<<20])
	case "dropped":
		debug.SetGCPercent(-1)
	case "pointers":
		slots, ring = make([]*span, 600<<17), make([]*span, 1<<20)
		for i := range ring {
			if i%1000 == 0 {
				ring[i] = &span{name: "in the ring"}
			} else {
				ring[i] = ring[i-1]
			}
		}
	}
	for i := 0; i < 20000; i++ {
		pending = &span{fmt.Sprint("span ", i), pending, [40]byte{1}}
	}
	runtime.GC()
	if os.Getenv("SHAPE") == "dropped" {
		cache = make([]byte, 100<<20)
		cache = nil
	}
	if slots != nil && resident() > 600<<20 {
		fmt.Println("SKIP this kernel has no page of zeros: memory that the collector reads becomes resident")
	}
	fmt.Println("READY")
	os.Stdin.Read(make([]byte, 1))
	runtime.KeepAlive(done)
	runtime.KeepAlive(local)
}
