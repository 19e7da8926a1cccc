// Goroutines that wait in a select on a channel of their own and on three that all share. A variable has one of the own channels; it
// must not be said to hold what the runtime keeps of all the others that wait, which are in three lists. The collector follows the queue of
// a channel only if it has a buffer for pointers.
//
//	from 1.22
//	says ^  1 .* 2,000 goroutines \[select\] main\.\(\*subscription\)\.loop
//	says ^      wait on     (main\.active|the global .*)\.stop, (main\.active|the global .*)\.ch, (main\.active|the global .*)\.done\[0\], (main\.active|the global .*)\.done\[1\]$
//	is r.suspects[0].wait_on === 'chan *int, chan struct {}' && r.suspects[0].waited.count === 2000
//	never ^  [123] .*runtime\.sudog
//	is r.suspects.length === 1
//	is r.waste.rounding.classes.filter(c => c.class === 'runtime.sudog').length < 2
//	is r.classes.find(c => c.class === 'runtime.sudog').objects >= 8000
package main

import (
	"fmt"
	"slices"
	"time"
	"unsafe"
)

type subscription struct {
	ch    chan *int
	done  [2]chan *int
	stop  chan struct{}
	state int
}

// loop waits for ever. The runtime has a record for each channel of a select, and links them in the order of the channels' addresses.
//
//go:noinline
func (s *subscription) loop() {
	for {
		select {
		case n := <-s.ch:
			s.state += *n
		case <-s.done[0]:
			return
		case <-s.done[1]:
			return
		case <-s.stop:
			return
		}
	}
}

var active *subscription

func main() {
	const count = 2000
	var chans []chan *int
	stop := make(chan struct{})
	for i := 0; i < count+2; i++ {
		chans = append(chans, make(chan *int, 1))
	}
	slices.SortFunc(chans, func(a, b chan *int) int {
		x, y := *(*uintptr)(unsafe.Pointer(&a)), *(*uintptr)(unsafe.Pointer(&b))
		return int(int64(x) - int64(y))
	})
	for i := 0; i < count; i++ {
		s := &subscription{ch: chans[i], done: [2]chan *int(chans[count:]), stop: stop}
		if i == 0 {
			active = s
		}
		go s.loop()
	}
	chans = nil
	time.Sleep(200 * time.Millisecond)
	fmt.Println("READY")
	fmt.Scanln()
	fmt.Println(active)
}
