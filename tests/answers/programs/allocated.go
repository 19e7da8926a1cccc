// Who allocated what is held by a variable of the runtime, of a library, or of the program, by the samples of the heap profile.
//
//	case two SHAPE=two
//	says ^  1 .* of the heap   51,000 main\.event
//	says[plain] ^      held by     main\.bSeen
//	says ^      allocated by main\.consume allocated\.go:\d+ \(\d,\d+ of \d,\d+ samples, 9\d % of their bytes\)$
//	is r.suspects[0].allocated_by.samples < r.suspects[0].allocated_by.of
//	is r.suspects[0].allocated_by.samples > 0.9 * r.suspects[0].allocated_by.of
//	is r.suspects[0].allocated_by.of < r.classes.find(each => each.class === 'main.event').allocated_by.of
//	samples
//	case timers SHAPE=timers
//	says ^  1 .* (runtime\.timeTimer|time\.Timer)
//	says ^      allocated by main\.await allocated\.go:\d+ \(
//	never allocated by main\.tick
//	samples
//	case processors SHAPE=timers GOMAXPROCS=4
//	says ^  1 .* \d+,\d{3} (runtime\.timeTimer|time\.Timer), in .*, the runtime's timers, (most of )?which call main\.await\.func1$
//	says ^      held by
//	says ^      allocated by main\.await allocated\.go:\d+ \(
//	is r.suspects.length === 1 && r.suspects[0].most === undefined
//	is (r.suspects[0].timers ?? r.suspects[0]).count >= 20_000
//	case contexts SHAPE=contexts
//	says ^  1 .* 20,000 context\.cancelCtx
//	says ^      allocated by main\.watch allocated\.go:\d+ \(
//	samples
//	case large SHAPE=large
//	says ^  1 .* of the heap   12 (\[\]uint8|noptr\d+)
//	says ^      allocated by main\.fill allocated\.go:\d+ \(12 of 12 samples\)$
//	is r.suspects[0].allocated_by.function === 'main.fill' && r.suspects[0].allocated_by.within === undefined
//	samples
//	case mixed SHAPE=mixed
//	says ^      allocated by main\.fill allocated\.go:\d+ \(4 of \d,\d+ samples, [89]\d % of their bytes\)$
//	is r.suspects[0].allocated_by.bytes > 0.8 * r.suspects[0].allocated_by.bytes_of
//	samples
//	case deep SHAPE=deep
//	says ^  1 .* of the heap   8 (\[\]uint8|noptr\d+)
//	says ^      allocated by main\.read allocated\.go:\d+ \(8 of 8 samples\), in bytes\.\S+$
//	samples
//	case none SHAPE=none
//	says ^  1 .* of the heap   50,000 main\.event
//	never allocated by
//	is r.suspects[0].allocated_by === undefined && r.classes.find(each => each.class === 'main.event').allocated_by === undefined
package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"time"
)

type event struct {
	id      int
	payload *[80]byte
}

var aSeen, bSeen []*event

//go:noinline
func produce(i int) *event {
	return &event{id: i, payload: new([80]byte)}
}

//go:noinline
func consume(i int) {
	bSeen = append(bSeen, &event{id: i, payload: new([80]byte)})
}

// Two functions allocate events, of which one keeps them; of the other's, one in fifty is kept beside those, and one in ten
// elsewhere.
func two() {
	runtime.MemProfileRate = 512
	for i := 0; i < 50_000; i++ {
		e := produce(i)
		if i%50 == 0 {
			bSeen = append(bSeen, e)
		} else if i%10 == 0 {
			aSeen = append(aSeen, e)
		}
		consume(i)
	}
}

//go:noinline
func await(i int) {
	time.AfterFunc(time.Hour, func() { aSeen[i].id++ })
}

//go:noinline
func tick(i int) {
	time.AfterFunc(time.Hour, func() { bSeen[i].id++ }).Stop()
}

// Timers end in the runtime's heaps of timers. Until Go 1.22 those that were stopped may stay there for a while.
func timers() {
	runtime.MemProfileRate = 512
	for i := 0; i < 20_000; i++ {
		await(i)
		tick(i)
	}
}

//go:noinline
func watch(parent context.Context) context.Context {
	ctx, _ := context.WithCancel(parent)
	return ctx
}

// Contexts are children of a context that is never done.
func contexts() {
	runtime.MemProfileRate = 512
	parent, cancel := context.WithCancel(context.Background())
	for i := 0; i < 20_000; i++ {
		watch(parent)
	}
	bParent, bCancel = parent, cancel
}

var bParent context.Context
var bCancel func()

var aChunks, bChunks [][]byte

//go:noinline
func fill(size int) []byte {
	return make([]byte, size)
}

//go:noinline
func read(size int) []byte {
	var buffer bytes.Buffer
	buffer.ReadFrom(bytes.NewReader(make([]byte, size)))
	return buffer.Bytes()
}

// Large objects at the usual rate: each of those of 8 MB is sampled.
func large() {
	for i := 0; i < 4; i++ {
		aChunks = append(aChunks, fill(600_000))
	}
	for i := 0; i < 12; i++ {
		bChunks = append(bChunks, fill(8_000_000))
	}
}

//go:noinline
func spill(size int) []byte {
	return make([]byte, size)
}

// Many small objects, of which each has a sample, and four that have most of the bytes.
func mixed() {
	runtime.MemProfileRate = 512
	for i := 0; i < 2_000; i++ {
		aChunks = append(aChunks, spill(2_000))
		bChunks = append(bChunks, aChunks[i])
	}
	for i := 0; i < 4; i++ {
		aChunks = append(aChunks, fill(8_000_000))
	}
	bChunks = nil
}

// The library is far down: growing a buffer is three calls below the program's.
func deep() {
	for i := 0; i < 8; i++ {
		bChunks = append(bChunks, read(8_000_000))
	}
}

// Nothing is sampled but the first object that a processor allocates after the change: since 1.24 it notices the new rate by that.
// So there is one processor, and the object is none of those that are looked for.
func none() {
	runtime.GOMAXPROCS(1)
	runtime.MemProfileRate = 0
	aChunks = append(aChunks, fill(100))
	for i := 0; i < 50_000; i++ {
		consume(i)
	}
}

func main() {
	shapes := map[string]func(){"two": two, "timers": timers, "contexts": contexts, "large": large, "mixed": mixed, "deep": deep, "none": none}
	shapes[os.Getenv("SHAPE")]()
	debug.FreeOSMemory()
	fmt.Println("READY")
	os.Stdin.Read(make([]byte, 1))
	pprof.WriteHeapProfile(os.Stderr)
}
