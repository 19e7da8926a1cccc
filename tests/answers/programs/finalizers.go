// Objects that only their finalizers hold, which never run: some reach themselves, others are captured by the function.
//
//	case ring SHAPE=ring
//	says ^  1 .* of the heap   3,000 main\.bFile$
//	says ^      held by     object  \(finalizer of main\.bFile\)$
//	says ^      never freed the object with the finalizer reaches itself, so the finalizer never runs$
//	is r.suspects[0].never_freed !== undefined && r.suspects.length === 1
//
//	case captured SHAPE=captured
//	says ^  1 .* of the heap   3,000 main\.bFile, in 3,000 × func main\.open\.func\d$
//	says ^      never freed the finalizer's function reaches the object, so the finalizer never runs$
//
//	case path SHAPE=ring
//	options --path-to main.bFile
//	tells ^  never freed the object with the finalizer reaches itself, so the finalizer never runs$
//
// Two objects with finalizers reach each other, so that none of the finalizers holds them alone:
//
//	case pair SHAPE=pair
//	says ^  1 .* of the heap   6,000 main\.bFile$
//	says ^      never freed the object with the finalizer reaches itself, so the finalizer never runs$
//	is r.suspects[0].never_freed !== undefined && r.suspects.length === 1
//
// Two objects with finalizers hold a third one. There was no collection since, so they will be freed:
//
//	case pending SHAPE=pending
//	says ^  1 .* of the heap   3,000 main\.bFile$
//	never never freed
//
// Nor does the collector mind a pointer of an object to itself; and of a ring another finalizer takes one link:
//
//	case itself SHAPE=itself
//	says ^  1 .* of the heap   3,000 main\.bFile$
//	never never freed
//
//	case closer SHAPE=closer
//	says ^  1 .* of the heap   3,000 main\.bFile$
//	never never freed
//
//	case held SHAPE=held
//	says ^  1 .* of the heap   3,000 main\.bFile
//	never never freed
package main

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
)

type aFile struct {
	page   []byte
	reader *reader
}

type bFile struct {
	name   string
	page   []byte
	reader *reader
	first  *bFile
}

type reader struct{ of any }

var held []*bFile

func open(shape string) {
	f := &bFile{name: shape, page: make([]byte, 2000)}
	switch shape {
	case "ring":
		f.reader = &reader{f}
		runtime.SetFinalizer(f, func(f *bFile) { f.page = nil })
	case "captured":
		runtime.SetFinalizer(f, func(*bFile) { f.page = nil })
	case "pair":
		other := &bFile{name: shape, page: make([]byte, 2000), reader: &reader{f}}
		f.reader = &reader{other}
		runtime.SetFinalizer(f, func(f *bFile) { f.page = nil })
		runtime.SetFinalizer(other, func(f *bFile) { f.page = nil })
	case "pending":
		for i := 0; i < 2; i++ {
			runtime.SetFinalizer(&reader{f}, func(r *reader) { r.of = nil })
		}
	case "itself":
		f.first = f
		runtime.SetFinalizer(f, func(f *bFile) { f.page = nil })
	case "closer":
		f.reader = &reader{f}
		runtime.SetFinalizer(f, func(f *bFile) { f.page = nil })
		runtime.SetFinalizer(&reader{f}, func(r *reader) { r.of.(*bFile).reader = nil })
	case "held":
		f.reader = &reader{f}
		runtime.SetFinalizer(f, func(f *bFile) { f.page = nil })
		held = append(held, f)
	}
}

// openWell is the neighbour, whose finalizers run.
func openWell() {
	f := &aFile{page: make([]byte, 20)}
	f.reader = &reader{f.page}
	runtime.SetFinalizer(f, func(f *aFile) { f.page = nil })
}

func main() {
	shape := os.Getenv("SHAPE")
	waits := shape == "pending" || shape == "itself" || shape == "closer"
	if waits {
		debug.SetGCPercent(-1)
	}
	for i := 0; i < 3000; i++ {
		open(shape)
		openWell()
	}
	if !waits {
		runtime.GC()
		runtime.GC()
	}
	fmt.Println("READY")
	os.Stdin.Read(make([]byte, 1))
	runtime.KeepAlive(held)
}
