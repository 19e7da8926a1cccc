// Who owns memory that a list of the library points to as well, a list that only remembers: the list of all pools, what pools cache,
// the flags, a profile of the program's own. And who is named of several holders: one that has most.
//
//	ways plain stripped
//	case pools SHAPE=pools
//	says ^  1 .* 20,000 main\.record, in map\[int\]\*main\.record$
//	says ^      example     \S+\.records\[\d+\]  \((local|argument) of main\.
//	never held by     sync\.
//	is !/sync/.test(r.suspects[0].held_by)
//	case cached SHAPE=cached
//	says ^  1 .* 20,000 main\.record, in map\[int\]\*main\.record$
//	says ^      example     \S+\.records\[\d+\]  \((local|argument) of main\.
//	never ^      held by     main\.requests
//	case flags SHAPE=flags
//	says ^  1 .* 20,000 main\.record, in map\[int\]\*main\.record$
//	says ^      example     \S+\.records\[\d+\]  \((local|argument) of main\.
//	never held by     flag\.
//	case profile SHAPE=profile
//	says ^  1 .* 20,000 main\.record, in map\[int\]\*main\.record$
//	says ^      example     \S+\.records\[\d+\]  \((local|argument) of main\.
//	never held by     (runtime/)?pprof\.
//	case idle SHAPE=idle
//	says ^  1 .*\[\]uint8 header( \(([0-9.]+ MB|not) resident\))?, in
//	says[plain] ^      held by     main\.buffers  \(in a sync\.Pool: the next collections free it\)$
//	says[stripped] ^      held by     the global used by main\.\S+ \(0x\w+\)  \(in a sync\.Pool: the next collections free it\)$
//	case headers SHAPE=headers
//	says ^  1 .* 64 \[\]uint8 header( \(([0-9.]+ MB|not) resident\))?, in \[\]\*\[\]uint8$
//	says ^      each        1\.05 MB = \[\]uint8 header 24 B \+ \[\]uint8 1\.05 MB
//	says ^  2 .* 32 \[\]int64 header( \(([0-9.]+ MB|not) resident\))?, in \[\]interface \{\}$
//	is r.classes.find(each => each.class === '[]uint8 header').objects >= 64
//	case few SHAPE=few
//	says ^  1 .* 17,599 main\.record$
//	says[plain] ^      (held by|example)     main\.(index|journal)\["all"\]\.list, a slice of 17,599 entries$
//	says[plain] ^      shared by   main\.recent, main\.(index|journal)$
//	is r.suspects[0].held === 17599 && r.suspects[0].held_of === 17599
//	case beside SHAPE=beside
//	ways plain
//	options --path-to main.desk
//	tells ^  retains \d\.\d\d MB \(9\S+ %\) until the program changes it$
//	tells ^  caches \d+ B \(0\.\d %\) that the next collections free$
package main

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"runtime/pprof"
	"sync"
)

type record struct {
	id   int
	body [30]int
}

// server has a pool by value: the list of all pools points into it.
type server struct {
	addr    string
	workers int
	scratch sync.Pool
	records map[int]*record
}

type request struct {
	server *server
	buffer []byte
}

type shelf struct{ list []*record }

var (
	requests, buffers sync.Pool
	free              []*[]byte
	boxed             []any
	recent            = make([]*record, 400)
	index, journal    = map[string]*shelf{}, map[string]*shelf{}
	desk              server
)

func newServer() *server {
	s := &server{records: map[int]*record{}}
	for i := 0; i < 20_000; i++ {
		s.records[i] = &record{id: i}
	}
	return s
}

func (s *server) scratched() {
	b, _ := s.scratch.Get().(*[]byte)
	if b == nil {
		b = new([]byte)
	}
	*b = append((*b)[:0], "scratch"...)
	s.scratch.Put(b)
}

// A cached request points to the server that it was for.
func (s *server) serve() {
	r, _ := requests.Get().(*request)
	if r == nil {
		r = new(request)
	}
	r.server = s
	requests.Put(r)
}

//go:noinline
func idle() {
	for i := 0; i < 16; i++ {
		b := make([]byte, 1<<20)
		defer buffers.Put(&b)
	}
}

func headers() {
	for i := 0; i < 64; i++ {
		b := make([]byte, 1<<20)
		free = append(free, &b)
	}
	for i := 0; i < 32; i++ {
		boxed = append(boxed, make([]int64, 1<<16))
	}
}

func few() {
	a, b := &shelf{}, &shelf{}
	for i := 0; i < 17_599; i++ {
		r := &record{id: i}
		a.list, b.list = append(a.list, r), append(b.list, r)
		if i >= 17_199 {
			recent[i-17_199] = r
		}
	}
	index["all"], journal["all"] = a, b
}

//go:noinline
func wait(s *server) {
	fmt.Println("READY")
	os.Stdin.Read(make([]byte, 1))
	if s != nil {
		s.workers++
	}
}

//go:noinline
func hold(shape string) {
	s := newServer()
	switch shape {
	case "flags":
		flag.StringVar(&s.addr, "addr", ":80", "")
		flag.IntVar(&s.workers, "workers", 1, "")
		flag.Parse()
	case "profile":
		pprof.NewProfile("main.servers").Add(s, 0)
	}
	runtime.GC()
	switch shape {
	case "pools":
		s.scratched()
	case "cached":
		s.serve()
	}
	wait(s)
	runtime.KeepAlive(s)
}

func main() {
	switch shape := os.Getenv("SHAPE"); shape {
	case "idle":
		runtime.GC()
		idle()
		wait(nil)
	case "headers":
		headers()
		wait(nil)
	case "few":
		few()
		wait(nil)
	case "beside":
		desk.records = newServer().records
		runtime.GC()
		desk.scratched()
		wait(&desk)
	default:
		hold(shape)
	}
}
