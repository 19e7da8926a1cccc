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
//	case held SHAPE=held
//	says ^  1 .* of the heap   3,000 main\.bFile
//	never never freed
package main

import (
	"fmt"
	"os"
	"runtime"
)

type aFile struct {
	page   []byte
	reader *reader
}

type bFile struct {
	name   string
	page   []byte
	reader *reader
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
	for i := 0; i < 3000; i++ {
		open(os.Getenv("SHAPE"))
		openWell()
	}
	runtime.GC()
	runtime.GC()
	fmt.Println("READY")
	os.Stdin.Read(make([]byte, 1))
	runtime.KeepAlive(held)
}
