// One of many has nearly all of the objects: it is the one that must be named, and what it alone has must be said.
//
//	case rooms SHAPE=rooms
//	says ^  1 .* of the heap   20,900 main\.message
//	says[plain] ^      (held by|example)     main\.rooms\["room 61"\]\.last$
//	says[plain] ^      mostly      main\.rooms\["room 61"\]\.last alone has 20,010 of the 20,900, \S+ .B \(9\d %\)$
//	is r.suspects[0].most.count === 20010 && r.suspects[0].most.holders === 90
//	case tenants SHAPE=tenants
//	says[plain] ^  1 .* of the heap   20,900 main\.token, in 90 × map\[int\]\*main\.token
//	says[plain] ^      (held by|example)     main\.tenants\["tenant 7"\]\.tokens\[\d+\]$
//	says[plain] ^      mostly      main\.tenants\["tenant 7"\]\.tokens alone has 20,010 of the 20,900
//	case blobs SHAPE=blobs
//	says[plain] ^      (held by|example)     main\.blobs\["blob 42"\]$
//	says[plain] ^      mostly      main\.blobs\["blob 42"\] alone has 8\.\d+ MB \(9\d %\)$
//	case even SHAPE=even
//	says[plain] ^  1 .* of the heap   9,000 main\.message
//	never mostly
//	case one SHAPE=one
//	says[plain] ^  1 .* of the heap   20,000 main\.message
//	says[plain] ^      held by     main\.lobby\.last$
//	never mostly
//	case entry SHAPE=entry
//	says ^  1 .* of the heap   20,000 main\.message, in one entry of map\[string\]\*main\.message$
//	says[plain] ^      (held by|example)     main\.last\["room 61"\]$
//	never mostly
//	case aliases SHAPE=aliases
//	says ^  1 .* of the heap   20,000 main\.message, in map\[string\]\*main\.message$
//	says[plain] ^      (held by|example)     main\.last\["room 6[12]"\]$
//	case lists SHAPE=lists
//	says[plain] ^      held by     main\.lists\["room 61"\](, a list of 20,000 entries)?$
//	says[plain] ^      (mostly|all in) +main\.lists\["room 61"\]
//	case clones SHAPE=clones
//	says[plain] ^      (held by|example)     main\.logger\.core\.clones\[\d+\]$
//	case goroutines SHAPE=goroutines
//	says ^  1 .* 40 goroutines? .*main\.serve
//	says ^      mostly      goroutine \d+ \[chan receive\] .* alone has 8\.\d+ MB \(9\d %\)$
package main

import (
	"container/list"
	"fmt"
	"os"
	"runtime"
	"settle"
)

type message struct {
	text string
	prev *message
}
type room struct{ last *message }

func (r *room) post(n int) {
	for i := 0; i < n; i++ {
		r.last = &message{fmt.Sprint("message ", i), r.last}
	}
}

type token struct{ secret [64]byte }
type tenant struct{ tokens map[int]*token }

func (t *tenant) login(n int) {
	for i := 0; i < n; i++ {
		t.tokens[i] = new(token)
	}
}

type ioCore struct {
	clones []*ioCore
	buffer []byte
}
type log struct{ core *ioCore }

var (
	rooms   = map[string]*room{}
	tenants = map[string]*tenant{}
	blobs   = map[string][]byte{}
	last    = map[string]*message{}
	lists   = map[string]*list.List{}
	lobby   *room
	logger  *log
)

//go:noinline
func serve(size int, done chan bool) {
	buffer := make([]byte, size)
	<-done
	fmt.Println(buffer)
}

func main() {
	switch shape := os.Getenv("SHAPE"); shape {
	case "rooms", "even":
		for i := 0; i < 90; i++ {
			r := new(room)
			rooms[fmt.Sprint("room ", i)] = r
			if shape == "rooms" {
				r.post(10)
			} else {
				r.post(100)
			}
		}
		if shape == "rooms" {
			rooms["room 61"].post(20000)
		}
	case "tenants":
		for i := 0; i < 90; i++ {
			t := &tenant{map[int]*token{}}
			tenants[fmt.Sprint("tenant ", i)] = t
			t.login(10)
			if i == 7 {
				t.login(20010)
			}
		}
	case "blobs":
		for i := 0; i < 90; i++ {
			blobs[fmt.Sprint("blob ", i)] = make([]byte, 1000)
		}
		blobs["blob 42"] = make([]byte, 8000000)
	case "one":
		lobby = new(room)
		lobby.post(20000)
	case "entry":
		r := new(room)
		r.post(20000)
		last["room 61"] = r.last
	case "aliases":
		r := new(room)
		r.post(20000)
		last["room 61"], last["room 62"] = r.last, r.last
	case "lists":
		for i := 0; i < 90; i++ {
			l := list.New()
			lists[fmt.Sprint("room ", i)] = l
			for j := 0; j < 10 || i == 61 && j < 20000; j++ {
				l.PushBack(&message{text: fmt.Sprint("message ", j)})
			}
		}
	case "clones":
		logger = &log{&ioCore{}}
		for i := 0; i < 2000; i++ {
			logger.core.clones = append(logger.core.clones, &ioCore{buffer: make([]byte, 1000)})
		}
	case "goroutines":
		done := make(chan bool)
		for i := 0; i < 40; i++ {
			size := 1000
			if i == 17 {
				size = 8000000
			}
			go serve(size, done)
		}
		settle.Settle()
	}
	runtime.GC()
	fmt.Println("READY")
	os.Stdin.Read(make([]byte, 1))
	runtime.KeepAlive(lobby)
}
