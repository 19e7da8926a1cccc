// Iterators that were never stopped: what iter.Pull2 keeps of each is a struct without a name, whose fields the sentence about one of
// them does not list. The goroutine of each goes on only when what iter.Pull2 returned is called: it says who has that.
//
//	from 1.24
//	ways plain
//	tells ^      each .* \+ struct \{ k .{1,35}… \d+ B
//	says ^      resumed by  main\.open\[\d+\]\.(next|stop)\.c$
//	never ^      each .*panicValue
//	is JSON.stringify(r.suspects.map(s => s.each)).includes("panicValue interface {} }\"")
package main

import (
	"fmt"
	"iter"
	"runtime"
)

type query struct {
	next func() (int, *int, bool)
	stop func()
}

var open []*query

func rows(yield func(int, *int) bool) {
	for i := 0; yield(i, &i); i++ {
	}
}

func main() {
	for i := 0; i < 500; i++ {
		next, stop := iter.Pull2(rows)
		next()
		open = append(open, &query{next, stop})
	}
	runtime.GC()
	fmt.Println("READY")
	fmt.Scanln()
	runtime.KeepAlive(open)
}
