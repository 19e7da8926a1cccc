// Profile has the allocation stack of every object in its dump.
package main

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"unsafe"

	"programs/truth"
)

var t = truth.New("profile")

type order struct {
	next *order
	id   string
	data [3]int64
}

type ledger struct { // with a header since Go 1.22
	first *order
	pages [100]int64
}

var keep struct {
	orders  *order
	ledgers []*ledger
	buffers [][]byte
}

//go:noinline
func newOrder(next *order) *order { return &order{next: next} }

//go:noinline
func takeOrders(n int) {
	for i := 0; i < n; i++ {
		keep.orders = newOrder(keep.orders)
		sampled(fmt.Sprintf("order %d", i), unsafe.Pointer(keep.orders), unsafe.Sizeof(order{}), true, "main.newOrder", "main.takeOrders", "main.main")
	}
}

//go:noinline
func newLedger() *ledger { return new(ledger) }

//go:noinline
func openLedgers(n int) {
	for i := 0; i < n; i++ {
		l := newLedger()
		keep.ledgers = append(keep.ledgers, l)
		o := sampled(fmt.Sprintf("ledger %d", i), unsafe.Pointer(l), unsafe.Sizeof(*l), true, "main.newLedger", "main.openLedgers", "main.main")
		l.first = keep.orders
		t.Edges = append(t.Edges, truth.Edge{From: o.Slot, Offset: uint64(o.Addr - o.Slot), To: truth.Addr(unsafe.Pointer(keep.orders))})
	}
}

//go:noinline
func newBuffer(n int) []byte { return make([]byte, n) }

func buffers() {
	for _, n := range []int{16, 100, 1000, 10000, 100000} {
		b := newBuffer(n)
		keep.buffers = append(keep.buffers, b)
		sampled(fmt.Sprintf("buffer of %d bytes", n), unsafe.Pointer(&b[0]), uintptr(n), false, "main.newBuffer", "main.main")
	}
}

func sampled(name string, p unsafe.Pointer, size uintptr, pointers bool, functions ...string) *truth.Object {
	o := t.Object(name, p, size, pointers)
	t.Samples = append(t.Samples, truth.Sample{Object: o.Slot, Functions: functions})
	return o
}

func main() {
	runtime.MemProfileRate = 1
	debug.SetGCPercent(-1)
	takeOrders(300)
	openLedgers(20)
	buffers()
	// Samples become visible when the collection after the next is done.
	runtime.GC()
	runtime.GC()
	truth.Dump(truth.Create("profile.dump"))
	t.Write()

	// Without a reference to the profile, the linker switches it off.
	if len(os.Args) > 2 {
		pprof.WriteHeapProfile(os.Stdout)
	}
}
