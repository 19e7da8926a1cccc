// A cache that stays as it is, of a goroutine that is in another state, and at another line, when the base is taken; only leaked grows.
//
//	base
//	says ^  1 .* \+2,000 main\.leaked, now 2,000, in \[\]\*main\.leaked$
//	never ^  2 .* of the heap
//	is r.suspects.length === 1 && r.since.reachable < 300000
package main

import (
	"fmt"
	"os"
	"sync/atomic"
	"time"
)

type item struct{ a [10]int }
type leaked struct{ a [10]int }

var leak []*leaked
var goOn atomic.Bool

//go:noinline
func serve(never chan int) {
	cache := map[int]*item{}
	for i := 0; i < 20000; i++ {
		cache[i] = &item{}
	}
	for !goOn.Load() {
		time.Sleep(50 * time.Millisecond)
	}
	<-never
	cache[-1] = nil
}

func main() {
	never := make(chan int)
	go serve(never)
	time.Sleep(500 * time.Millisecond)
	fmt.Println("READY")
	os.Stdin.Read(make([]byte, 1))
	goOn.Store(true)
	for i := 0; i < 2000; i++ {
		leak = append(leak, &leaked{})
	}
	time.Sleep(200 * time.Millisecond)
	fmt.Println("READY")
	os.Stdin.Read(make([]byte, 1))
	close(never)
}
