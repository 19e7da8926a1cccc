// Objects that only cleanups hold which never run: their argument, or what the function has captured, reaches the object.
//
//	from 1.24
//	case argument SHAPE=argument
//	says ^  1 .* of the heap   3,000 (main\.bState|func runtime\.AddCleanup.*)
//	says ^      held by     (argument of a )?cleanup
//	says ^      never freed the cleanup's function or argument reaches the object, so the cleanup never runs$
//	is r.suspects[0].never_freed !== undefined && r.suspects.length === 1
//
//	case captured SHAPE=captured
//	says ^  1 .* of the heap   (3,000|6,000) (main\.bState|func .*)
//	says ^      never freed the cleanup's function or argument reaches the object, so the cleanup never runs$
//
//	case neighbours SHAPE=neighbours
//	says ^  1 .* of the heap   3,000 (main\.bState|func runtime\.AddCleanup.*)
//	says ^      never freed the cleanup's function or argument reaches the object, so the cleanup never runs$
//	is r.classes.find(each => each.class === 'main.aState').retained < 100_000
//
// Two objects reach each other by the arguments of their cleanups, so that none of these holds them alone:
//
//	case pair SHAPE=pair
//	says ^  1 .* of the heap   6,000 main\.bState
//	says ^      never freed the cleanup's function or argument reaches the object, so the cleanup never runs$
//
//	case path SHAPE=argument
//	options --path-to main.bState
//	tells ^  never freed the cleanup's function or argument reaches the object, so the cleanup never runs$
//
//	case held SHAPE=held
//	says ^  1 .* of the heap   3,000 main\.bMapping
//	says[plain] ^      (held by|example)     main\.bHeld\[\d+\]$
//	never never freed
//
// The program may get what holds them by weak pointers, and cut it:
//
//	case weak SHAPE=weak
//	says ^  1 .* of the heap   3,000 (main\.bState|func runtime\.AddCleanup.*)
//	never never freed
//
//	case waiting SHAPE=waiting
//	from 1.25
//	says ^      blocked by  goroutine \d+ \[select \(no cases\)\] main\.openWell\.func1 \S+ ← runtime\.run
//	says ^      held by     function  \(cleanup with argument \*main\.aState\)$
//
// All cleanups have run, so nothing keeps their arguments:
//
//	case ran SHAPE=ran
//	never (argument|cleanup) \S+State|cleanup with
package main

import (
	"fmt"
	"os"
	"runtime"
	"time"
	"weak"
)

type aMapping struct {
	page  []byte
	state *aState
}

type bMapping struct {
	name  string
	page  []byte
	state *bState
}

type aState struct{ of any }

type bState struct{ of any }

var aHeld []*aMapping
var bHeld []*bMapping
var bKnown []weak.Pointer[bMapping]

// use captures what it is given in one more closure, so that the function does not capture the mapping itself: since Go 1.26
// that panics.
func use(of any) func() {
	state := &bState{of}
	return func() { state.of = nil }
}

func open(shape string) {
	m := &bMapping{name: shape, page: make([]byte, 2000), state: &bState{}}
	switch shape {
	case "argument", "neighbours", "weak":
		if shape == "weak" {
			bKnown = append(bKnown, weak.Make(m))
		}
		m.state.of = m
		runtime.AddCleanup(m, func(s *bState) { s.of = nil }, m.state)
	case "pair":
		other := &bMapping{name: shape, page: make([]byte, 2000), state: &bState{m}}
		m.state.of = other
		runtime.AddCleanup(m, func(s *bState) { s.of = nil }, m.state)
		runtime.AddCleanup(other, func(s *bState) { s.of = nil }, other.state)
	case "captured":
		forget := use(m)
		runtime.AddCleanup(m, func(int) { forget() }, 1)
	case "held":
		runtime.AddCleanup(m, func(s *bState) { s.of = nil }, m.state)
		bHeld = append(bHeld, m)
	}
}

// openWell is the neighbour, whose cleanups run, unless what they are for is held. Their arguments are of the same shape.
func openWell(shape string) {
	m := &aMapping{page: make([]byte, 20), state: &aState{}}
	runtime.AddCleanup(m, func(s *aState) {
		s.of = nil
		if shape == "waiting" {
			select {}
		}
	}, m.state)
	if shape == "neighbours" {
		aHeld = append(aHeld, m)
	}
}

func main() {
	for i := 0; i < 3000; i++ {
		open(os.Getenv("SHAPE"))
		openWell(os.Getenv("SHAPE"))
	}
	runtime.GC()
	if os.Getenv("SHAPE") != "ran" {
		runtime.GC()
	}
	time.Sleep(100 * time.Millisecond)
	fmt.Println("READY")
	os.Stdin.Read(make([]byte, 1))
	runtime.KeepAlive(bHeld)
	runtime.KeepAlive(bKnown)
	runtime.KeepAlive(aHeld)
}
