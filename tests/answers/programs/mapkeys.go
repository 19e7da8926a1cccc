// Two sync.Maps that are alike, one of them in a struct: what they hold is found by key, and they are one object each, whatever a
// release of Go makes them of. Beside them are keys of types other than strings.
//
//	case suspects
//	tells[plain] ^  [12] .* 30,000 main\.session$
//	tells[stripped] ^  [12] .* 30,000 main\.session(, in the global used by main\.main \S+)?$
//	tells[plain] ^  [12] .* 30,000 main\.session\n +each .*\n +held by     main\.desk\.open, a sync\.Map of 30,000 entries$
//	tells[plain] ^  [12] .* 29,000 main\.session$
//	tells[stripped] ^  [12] .* 29,000 main\.session(, in the global used by main\.main \S+)?$
//	tells[plain] ^  [12] .* 29,000 main\.session\n +each .*\n +held by     main\.closed, a sync\.Map of 29,000 entries$
//	tells[plain] ^ +[\d.]+ MB +\d+ % +desk\.open$
//	tells[plain] ^ +[\d.]+ MB +\d+ % +(1 +)?sync\.Map$
//	tells ^ +[\d.]+ MB +\d+ % +30,000 +main\.session$
//	never internal/sync\.(entry|indirect)\S* *$
//	case string
//	ways plain
//	options --path-to main.desk.open["k17"]
//	tells OBJECT   main\.session at
//	tells held by +main\.desk\.open\["k17"\]$
//	case struct
//	ways plain
//	options --path-to main.closed[{17}]
//	tells held by +main\.closed\[\{17\}\]$
package main

import (
	"fmt"
	"sync"
)

type session struct {
	user string
	buf  [10]uint64
}

type id struct{ tenant int }

type counter struct {
	mu   sync.Mutex
	open sync.Map
}

var desk counter
var closed sync.Map
var few = map[id]*session{{1}: {}}

func main() {
	for i := 0; i < 30000; i++ {
		desk.open.Store(fmt.Sprint("k", i), &session{})
		if i < 29000 {
			closed.Store(id{i}, &session{})
		}
	}
	desk.open.Load("k0")
	fmt.Println("READY")
	fmt.Scanln()
	fmt.Println(len(few))
}
