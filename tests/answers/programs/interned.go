// Values of handles of package unique are held by who has the handles: the package's own map, the handles of weak pointers and
// the cleanups (from Go 1.25 on) go with them.
//
//	from 1.23
//	case one SHAPE=one
//	unwalked the walk follows pointers that hold, and what goes with the entries has none to them
//	within 5
//	is[plain] r.suspects[0].entries === 30000 && r.suspects.length === 1
//	says ^  1 .* 30,000 (entries|string header), in \[\]unique\.Handle\[string\]$
//	says[plain] held by     main\.handles, a slice of 30,000 entries$
//	never held by     unique
//	case two SHAPE=two
//	is r.suspects[0].item === 'main.name' && r.suspects[0].count === 30000
//	says[plain] held by     main\.people, a map of 30,000 entries$
//	says ^  2 .* 30,000 (entries|string header), in \[\]unique\.Handle\[string\]$
//	says[plain] held by     main\.handles, a slice of 30,000 entries$
//	never held by     unique
package main

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"unique"
)

type name struct{ first, last string }

var (
	handles []unique.Handle[string]
	people  map[int]unique.Handle[name]
)

func used() uint64 {
	var stats runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}

func main() {
	before := used()
	for i := 0; i < 30000; i++ {
		handles = append(handles, unique.Make(fmt.Sprintf("value number %d of the table", i)))
	}
	if os.Getenv("SHAPE") == "two" {
		people = map[int]unique.Handle[name]{}
		for i := 0; i < 30000; i++ {
			people[i] = unique.Make(name{fmt.Sprint("first", i), fmt.Sprint("last name", i)})
		}
	}
	fmt.Println("READY", used()-before)
	bufio.NewReader(os.Stdin).ReadString('\n')
}
