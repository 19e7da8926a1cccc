// Calls that are deferred in a loop, of a function that does not return: many of bMany, a few of aFew, which defers the same.
//
//	case method SHAPE=method
//	says ^  1 .* of the heap   5,000 deferred calls of main\.bMany \(defers\.go:\d+\)$
//	says ^      hold        5,000 main\.session 5\.\d\d MB$
//	says ^  2 .* of the heap   300 deferred calls of main\.aFew \(defers\.go:\d+\)$
//	says ^      hold        300 main\.session 3\d\d kB$
//	is r.suspects[0].is_deferred && r.suspects[0].count === 5000 && r.suspects[0].hold[0].class === 'main.session'
//
//	case interface SHAPE=interface
//	says ^  1 .* of the heap   5,000 deferred calls of main\.bMany \(defers\.go:\d+\)$
//	says ^      hold        5,000 main\.lease 5\.\d\d MB$
//	says ^  2 .* of the heap   300 deferred calls of main\.aFew \(defers\.go:\d+\)$
//	says ^      hold        300 main\.session 3\d\d kB$
//	is r.suspects[0].is_deferred && r.suspects[0].count === 5000 && r.suspects[0].hold[0].class === 'main.lease'
//
//	case inlined SHAPE=inlined
//	says ^  1 .* of the heap   5,000 deferred calls of main\.bMany \(defers\.go:\d+\)$
//	says ^      hold        5,000 main\.ticket 5\.\d\d MB$
//	says ^  2 .* of the heap   300 deferred calls of main\.aFew \(defers\.go:\d+\)$
//	says ^      hold        300 main\.session 3\d\d kB$
//	is r.suspects[0].is_deferred && r.suspects[0].count === 5000 && r.suspects[0].hold[0].class === 'main.ticket'
//
//	case arguments SHAPE=arguments
//	says ^  1 .* of the heap   5,000 deferred calls of main\.bMany \(defers\.go:\d+\)$
//	says ^      hold        5,000 main\.ticket 5\.\d\d MB$
//	says ^  2 .* of the heap   300 deferred calls of main\.aFew \(defers\.go:\d+\)$
//	says ^      hold        300 main\.session 3\d\d kB$
//	is r.suspects[0].is_deferred && r.suspects[0].count === 5000 && r.suspects[0].hold[0].class === 'main.ticket'
//
//	case closure SHAPE=closure
//	says ^  1 .* of the heap   5,000 deferred calls of main\.bMany \(defers\.go:\d+\)$
//	says ^      hold        5,000 main\.session 5\.\d\d MB$
//	says ^  2 .* of the heap   300 deferred calls of main\.aFew \(defers\.go:\d+\)$
//	says ^      hold        300 main\.session 3\d\d kB$
//	is r.suspects[0].is_deferred && r.suspects[0].count === 5000 && r.suspects[0].hold[0].class === 'main.session'
//
//	case field SHAPE=field
//	says ^  1 .* of the heap   5,000 deferred calls of main\.bMany \(defers\.go:\d+\)$
//	says ^      hold        5,000 main\.stall 5\.\d\d MB$
//	is r.suspects[0].hold[0].class === 'main.stall' && !r.classes.some(each => /main.(stand|booth)/.test(each.class))
//
//	case first SHAPE=first
//	says ^  1 .* of the heap   5,000 deferred calls of main\.bMany \(defers\.go:\d+\)$
//	says ^      hold        5,000 main\.door 5\.\d\d MB$
//	is r.suspects[0].hold[0].class === 'main.door'
//
//	case either SHAPE=either
//	says ^  1 .* of the heap   5,000 deferred calls of main\.bMany \(defers\.go:\d+\)$
//	says ^      hold        5,000 ptr64 5\.\d\d MB$
//	is !r.classes.some(each => /main.(left|right)/.test(each.class))
//
//	case lines SHAPE=method SHAPES=closure
//	says ^  1 .* of the heap   10,000 deferred calls of main\.bMany \(defers\.go:\d+, \d+\)$
//	says ^      hold        10,000 main\.session 10\.\d MB$
package main

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"sync"
)

type session struct {
	user int
	page []byte
}

type lease struct {
	page []byte
	user int
}

type ticket struct {
	user int64
	page []byte
	next *ticket
}

// Of one shape, two of which have a mutex, in different places.
type stall struct {
	page []byte
	size int64
	mu   sync.Mutex
}

type stand struct {
	page []byte
	mu   sync.Mutex
	size int64
}

type booth struct {
	page       []byte
	size, more int64
}

// Of the shape of a session, and of package os's own dirInfo, which has a mutex in the same place.
type door struct {
	mu   sync.Mutex
	page []byte
}

// Of one shape, with a mutex in the same place.
type left struct {
	mu      sync.Mutex
	page    []byte
	a, b, c int64
}

type right struct {
	mu      sync.Mutex
	page    []byte
	d, e, f int64
}

var kinds = []any{&stall{}, &stand{}, &booth{}, &door{}, &left{}, &right{}}

//go:noinline
func (s *session) Close() error { s.page = nil; return nil }

//go:noinline
func (l *lease) Close() error { l.page = nil; return nil }

func (t *ticket) drop() { t.page = nil }

//go:noinline
func giveBack(t *ticket, times int) { t.page = nil }

// aFew is the neighbour: it defers the same, but only some.
func aFew(n int, then func()) {
	for i := 0; i < n; i++ {
		s := &session{i, make([]byte, 1000)}
		defer s.Close()
	}
	then()
}

// bMany holds most.
func bMany(n int, then func()) {
	for i := 0; i < n; i++ {
		if os.Getenv("SHAPES") != "" {
			s := &session{i, make([]byte, 1000)}
			defer func() { s.Close() }()
		}
		switch shape {
		case "method":
			s := &session{i, make([]byte, 1000)}
			defer s.Close()
		case "interface":
			var c io.Closer = &lease{make([]byte, 1000), i}
			defer c.Close()
		case "inlined":
			t := &ticket{user: 1, page: make([]byte, 1000)}
			defer t.drop()
		case "arguments":
			t := &ticket{user: 1, page: make([]byte, 1000)}
			defer giveBack(t, i)
		case "field":
			s := &stall{page: make([]byte, 1000)}
			s.mu.Lock()
			defer s.mu.Unlock()
		case "first":
			d := &door{page: make([]byte, 1000)}
			d.mu.Lock()
			defer d.mu.Unlock()
		case "either":
			l := &left{page: make([]byte, 1000)}
			l.mu.Lock()
			defer l.mu.Unlock()
		case "closure":
			s := &session{i, make([]byte, 1000)}
			defer func() { s.Close() }()
		}
	}
	then()
}

func ready() {
	kinds = nil
	runtime.GC()
	fmt.Println("READY")
	os.Stdin.Read(make([]byte, 1))
}

var shape = os.Getenv("SHAPE")

func main() {
	aFew(300, func() { bMany(5000, ready) })
}
