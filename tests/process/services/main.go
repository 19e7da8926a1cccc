// services is one of five services, and collects several times a second. Sessions leak; a cache of quotes is at its limit, and
// replaces what is old; a cache of pages still fills; requests hold what they use for a moment, and there are more and more of them;
// and a table of prices is built anew when the process gets SIGUSR1. It prints "ready" when it is under way.
//
//	services leak|limit|fill|load|nightly
package main

import (
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"
)

type session struct {
	id   int
	user *int
	pad  [12]int
}

type quote struct {
	id   int
	next *int
	pad  [18]int
}

type page struct {
	id   int
	next *int
	pad  [26]int
}

type request struct {
	id   int
	next *request
	pad  [40]int
}

type price struct {
	id   int
	next *int
	pad  [58]int
}

// A boot is there from the start.
type boot struct {
	id   int
	next *int
	pad  [76]int
}

const (
	tick   = 10 * time.Millisecond
	each   = 5    // sessions, pages and quotes of a tick
	quotes = 1500 // each lives for 3 s
	begun  = 1500
	short  = 30 // ticks that a request takes
)

var (
	sessions = map[int]*session{}
	recent   = map[int]*quote{}
	pages    = map[int]*page{}
	active   [short][]*request
	prices   []*price
	boots    []*boot
	garbage  []byte
	signals  = make(chan os.Signal, 1)
)

func rebuild() {
	table := make([]*price, 0, begun)
	for i := 0; i < cap(table); i++ {
		table = append(table, &price{id: i})
	}
	prices = table
}

func leak(i int) {
	for id := i * each; id < (i+1)*each; id++ {
		sessions[id] = &session{id: id}
	}
}

func limit(i int) {
	for id := i * each; id < (i+1)*each; id++ {
		recent[id] = &quote{id: id}
		delete(recent, id-quotes)
	}
}

func fill(i int) {
	for id := i * each; id < (i+1)*each; id++ {
		pages[id] = &page{id: id}
	}
}

func load(i int) {
	now := make([]*request, 0, 20+i/20)
	for j := 0; j < cap(now); j++ {
		now = append(now, &request{id: j})
	}
	active[i%short] = now
}

func nightly(i int) {
	select {
	case <-signals:
		rebuild()
	default:
		if i == 0 {
			rebuild()
		}
	}
}

func main() {
	signal.Notify(signals, syscall.SIGUSR1)
	work := map[string]func(int){"leak": leak, "limit": limit, "fill": fill, "load": load, "nightly": nightly}[os.Args[1]]
	for i := 0; i < begun/5; i++ {
		boots = append(boots, &boot{id: i})
	}
	for i := 0; ; i++ {
		for j := 0; i == 0 && j < quotes/each && os.Args[1] != "load"; j++ { // what there is before it is watched
			work(j - quotes/each)
		}
		work(i)
		garbage = make([]byte, 100000)
		if i == 2*short {
			fmt.Println("ready")
		}
		time.Sleep(tick)
	}
}
