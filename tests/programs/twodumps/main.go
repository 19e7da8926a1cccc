// Twodumps dumps itself, leaks objects whose number and addresses it knows,
// lets others die, and dumps itself again.
package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"unsafe"

	"programs/truth"
)

var t = truth.New("twodumps")

// Each kind has a size that hardly anything else has, so that the comparison's
// counts of its class are known.
type (
	survivor struct { // 1152 bytes and a header
		next *survivor
		data [140]int64
	}
	leaked struct { // 208 bytes
		next *leaked
		note *[14]int64 // 112 bytes
		data [24]int64
	}
	mortal struct { // 352 bytes
		next *mortal
		data [43]int64
	}
)

const (
	survivors = 500
	leaks     = 1234
	deaths    = 700
)

var (
	cache    *survivor
	registry *leaked // grows
	requests *mortal // comes to an end
)

//go:noinline
func surviving() {
	for i := 0; i < survivors; i++ {
		cache = &survivor{next: cache}
		t.Survivors = append(t.Survivors, truth.Describe(fmt.Sprintf("survivor %d", i), unsafe.Pointer(cache), unsafe.Sizeof(*cache), true))
	}
}

//go:noinline
func leak(n int) []*truth.Object {
	var list []*truth.Object
	for i := 0; i < n; i++ {
		registry = &leaked{next: registry, note: new([14]int64)}
		list = append(list,
			truth.Describe(fmt.Sprintf("leaked %d", i), unsafe.Pointer(registry), unsafe.Sizeof(*registry), true),
			truth.Describe(fmt.Sprintf("note of leaked %d", i), unsafe.Pointer(registry.note), unsafe.Sizeof(*registry.note), false))
	}
	return list
}

//go:noinline
func dying() {
	for i := 0; i < deaths; i++ {
		requests = &mortal{next: requests}
		t.Dead = append(t.Dead, truth.Describe(fmt.Sprintf("mortal %d", i), unsafe.Pointer(requests), unsafe.Sizeof(*requests), true))
	}
}

// park is a goroutine that is there in both dumps.
func park() {
	t.Enter("main.park", nil, "chan receive")
	<-make(chan int)
}

func main() {
	// Collections only where the program wants them: then no slot is free in
	// the first dump and something else's in the second by accident.
	debug.SetGCPercent(-1)
	first, second := truth.Create("twodumps.1.dump"), truth.Create("twodumps.2.dump")
	go park()
	t.Await(1)
	surviving()
	t.Survivors = append(t.Survivors, leak(100)...)
	dying()
	truth.Scrub()
	runtime.GC()
	truth.Dump(first)

	t.New = leak(leaks)
	requests = nil
	truth.Scrub()
	runtime.GC()
	truth.Dump(second)
	t.Write()
	runtime.KeepAlive(cache)
}
