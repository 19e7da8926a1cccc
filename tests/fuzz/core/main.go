// A program with a little of all that is read of a process, that ends in the midst of it.
package main

import (
	"os"
	"runtime"
)

type small struct {
	next *small
	n    int
}

type large struct { // with a malloc header
	a [100]*small
	b [20]int
}

type huge [5000]*small

type any1 interface{ do() }

func (s *small) do() {}

var (
	list  *small
	lg    *large
	hg    *huge
	itf   any1
	ch    = make(chan int)
	trash *[64]*small
	ring  [64]*small
)

//go:noinline
func wait(s *small) {
	defer func() { s.n++ }()
	<-ch
	runtime.KeepAlive(s)
}

//go:noinline
func panics(s *small) {
	defer func() {
		<-ch
		recover()
	}()
	panic(s)
}

//go:noinline
func crash(p *int) { *p = 1 }

func main() {
	runtime.MemProfileRate = 4096
	for i := 0; i < 100; i++ {
		list = &small{list, i}
	}
	lg = &large{}
	lg.a[7] = list
	hg = &huge{}
	hg[4000] = list
	itf = list
	for i := 0; i < 4; i++ {
		f := &small{nil, i}
		runtime.SetFinalizer(f, func(f *small) { <-ch })
		if i < 2 {
			list.next.next = f
		}
	}
	go wait(list)
	go panics(list)
	runtime.Gosched()
	runtime.GC()
	if len(os.Args) > 1 {
		for i := 0; ; i++ {
			trash = &[64]*small{list}
			ring[i%len(ring)] = &small{list, i}
		}
	}
	crash(nil)
}
