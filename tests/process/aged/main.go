// aged makes objects of all kinds while four goroutines make garbage and one runs the collector, and knows in which collection
// each of them was born. After a line on standard input it prints those that it still has: kind, address, collections before.
//
// The collector also runs while objects are allocated, which are then marked at once.
//
// With the argument once it instead makes some objects before its last collection, and some after it.
package main

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"time"
	"unsafe"
)

type node struct {
	next *node
	pad  [5]int
}

type flat struct{ pad [9]int64 }

type wide struct {
	p   *node
	pad [6000]int64
}

type object struct {
	kind    string
	address uintptr
	birth   uint64
	keep    any
}

var cycles = []metrics.Sample{{Name: "/gc/cycles/total:gc-cycles"}}

func collections() uint64 {
	metrics.Read(cycles)
	return cycles[0].Value.Uint64()
}

var sinks [4]*node

func garbage(i int) {
	for {
		for j := 0; j < 100; j++ {
			sinks[i] = &node{next: &node{}}
		}
		time.Sleep(time.Millisecond)
	}
}

// make makes some objects, all in the same collection; otherwise it returns none.
func makeSome(tick int) (list []object) {
	before := collections()
	add := func(kind string, p unsafe.Pointer, keep any) {
		list = append(list, object{kind, uintptr(p), before, keep})
	}
	for i := 0; i < 6; i++ {
		f, n, p := new(flat), new(node), new([3]*int)
		add("flat", unsafe.Pointer(f), f)
		add("node", unsafe.Pointer(n), n)
		add("pointers", unsafe.Pointer(p), p)
	}
	if tick%10 == 0 {
		w, b := new(wide), new([100000]byte)
		add("wide", unsafe.Pointer(w), w)
		add("bytes", unsafe.Pointer(b), b)
	}
	for i := 0; i < 16; i++ {
		t := new([2]byte)
		add("tiny", unsafe.Pointer(uintptr(unsafe.Pointer(t))&^15), t)
	}
	if collections() != before {
		return nil
	}
	return list
}

var (
	flats []*flat
	nodes []*node
	wides []*wide
)

// some adds objects of three kinds.
func some(flatCount, nodeCount, wideCount int) {
	for i := 0; i < flatCount; i++ {
		flats = append(flats, new(flat))
	}
	for i := 0; i < nodeCount; i++ {
		nodes = append(nodes, new(node))
	}
	for i := 0; i < wideCount; i++ {
		wides = append(wides, new(wide))
	}
}

func main() {
	runtime.GOMAXPROCS(4)
	debug.SetGCPercent(-1)
	if len(os.Args) > 1 && os.Args[1] == "once" {
		some(3000, 6000, 6)
		runtime.GC()
		some(1500, 0, 2)
		fmt.Println("ready")
		time.Sleep(time.Hour)
	}
	for i := range sinks {
		go garbage(i)
	}
	go func() {
		for {
			runtime.GC()
			time.Sleep(100 * time.Millisecond)
		}
	}()
	var lock sync.Mutex
	var list []object
	go func() {
		for tick := 0; ; tick++ {
			some := makeSome(tick)
			lock.Lock()
			list = append(list, some...)
			for i := 0; i < len(some)/3; i++ { // a third of all ends at some time
				j := (tick*7919 + i*104729) % len(list)
				list[j] = list[len(list)-1]
				list[len(list)-1] = object{}
				list = list[:len(list)-1]
			}
			lock.Unlock()
			time.Sleep(5 * time.Millisecond)
		}
	}()
	fmt.Println("ready")
	bufio.NewReader(os.Stdin).ReadString('\n')
	lock.Lock()
	out := bufio.NewWriter(os.Stdout)
	blocks := map[uintptr]uint64{} // of tiny objects: a block is as old as the first of them
	for _, o := range list {
		if o.kind != "tiny" {
			fmt.Fprintln(out, o.kind, o.address, o.birth)
		} else if birth, ok := blocks[o.address]; !ok || o.birth < birth {
			blocks[o.address] = o.birth
		}
	}
	for address, birth := range blocks {
		fmt.Fprintln(out, "tiny", address, birth)
	}
	out.Flush()
}
