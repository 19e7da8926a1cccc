// Iterators that were never stopped: what iter.Pull2 keeps of each is a struct without a name, whose fields the sentence about one of
// them does not list. The goroutine of each goes on only when what iter.Pull2 returned is called: it says who has that.
//
//	from 1.24
//	ways plain
//	case left SHAPE=left
//	tells ^      each .* \+ struct \{ k .{1,35}… \d+ B
//	says ^      resumed by  main\.open\[\d+\]\.(next|stop)\.c$
//	never ^      each .*panicValue
//	is JSON.stringify(r.suspects.map(s => s.each)).includes("panicValue interface {} }\"")
//	case local SHAPE=local
//	says ^  \d .* 500 goroutines \[coroutine\] iter\.Pull2.* main\.rows$
//	says ^      resumed by  (next|stop)\.c  \(local of main\.merge iterators\.go:\d+\)$
//	case blocked SHAPE=blocked
//	says ^  \d .* 500 goroutines \[chan receive\] main\.slow
//	never resumed by
package main

import (
	"fmt"
	"iter"
	"os"
	"runtime"
	"time"
)

type query struct {
	next func() (int, *int, bool)
	stop func()
}

var (
	open []*query
	more = make(chan int)
)

func rows(yield func(int, *int) bool) {
	for i := 0; yield(i, &i); i++ {
	}
}

// merge has the functions of an iterator in variables while it waits for something else.
func merge() {
	next, stop := iter.Pull2(rows)
	defer stop()
	next()
	<-more
	next()
}

// slow is a sequence that waits itself: next, which runs it, does not go on before.
func slow(yield func(int, *int) bool) {
	<-more
	yield(0, nil)
}

func wait() {
	next, stop := iter.Pull2(slow)
	defer stop()
	next()
}

func main() {
	for i := 0; i < 500; i++ {
		switch os.Getenv("SHAPE") {
		case "left":
			next, stop := iter.Pull2(rows)
			next()
			open = append(open, &query{next, stop})
		case "local":
			go merge()
		case "blocked":
			go wait()
		}
	}
	time.Sleep(100 * time.Millisecond)
	runtime.GC()
	fmt.Println("READY")
	fmt.Scanln()
	runtime.KeepAlive(open)
}
