// Stacks: a recursion that runs away, goroutines whose memory is their stacks, and goroutines that have ended.
//
//	case deep SHAPE=deep
//	tells ^  \d .* of the heap   1 goroutine stack \[.*\] syscall\.Syscall \S+ ← main\.bWork$
//	tells ^      started by  go statement in main\.main stacks\.go:\d+$
//	tells ^      frames      1\d\d,\d\d\d, 100,001 of them of main\.bWalk$
//	tells ^  \[.*\] syscall\.Syscall \S+ ← .*  .* 1
//	is r.suspects.some(each => each.frames?.function === 'main.bWalk' && each.frames.most === 100001)
//	is !r.suspects.some(each => each.part === 'stacks')
//
//	case many SHAPE=many
//	tells ^  \d .* of the heap   1,000 goroutines \[chan receive\] main\.aWait \S+ ← main\.aWork$
//	tells ^      stack       16\.4 kB each, (9\d|100) % of this$
//	is r.suspects.some(each => each.is_goroutines && each.stack === 16384)
//	is !r.suspects.some(each => each.part === 'stacks')
//
//	case ended SHAPE=ended
//	tells ^  \d .* of the heap   [\d,]+ runtime\.g, in \[\]\*runtime\.g$
//	tells ^      meaning     \d+,\d\d\d goroutines have ended: a burst is over, the runtime keeps this for reuse$
//	tells ^  \d+,\d\d\d have ended: the runtime keeps their runtime\.g, \d\.\d\d MB, for reuse$
//	is r.ended.count >= 12000 && r.ended.count < 12050
package main

import (
	"fmt"
	"os"
	"runtime"
	"settle"
	"sync"
)

func ready() {
	runtime.GC()
	fmt.Println("READY")
	os.Stdin.Read(make([]byte, 1))
}

// aWalk is the neighbour: it recurses, too, but not deep.
//
//go:noinline
func aWalk(n int, then func()) int {
	if n == 0 {
		then()
		return 0
	}
	return aWalk(n-1, then) + n
}

//go:noinline
func bWalk(n int, then func()) int {
	if n == 0 {
		then()
		return 0
	}
	return bWalk(n-1, then) + n
}

func bWork() { bWalk(100_000, ready) }

//go:noinline
func aWait(until chan bool) byte {
	var page [9000]byte
	page[len(until)] = 1
	<-until
	return page[cap(until)]
}

func aWork(until chan bool) { aWait(until) }

func main() {
	until := make(chan bool)
	switch os.Getenv("SHAPE") {
	case "deep":
		go aWalk(200, func() { <-until })
		settle.Settle()
		go bWork()
		<-until
	case "many":
		for i := 0; i < 1000; i++ {
			go aWork(until)
		}
		settle.Settle()
	case "ended":
		var all sync.WaitGroup
		for i := 0; i < 12000; i++ {
			all.Add(1)
			go func() {
				<-until
				all.Done()
			}()
		}
		close(until)
		all.Wait()
		settle.Settle()
	}
	ready()
}
