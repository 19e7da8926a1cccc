// Goroutines that wait on a lock, a sync.WaitGroup, a sync.Cond or a channel: what they wait on has a name. A few of them wait on
// another one of the same type. They hold most of the heap by an argument whose address one of their cases takes, so that neither DWARF
// nor the code of the call says what the slot has; nor, after a collection, the closures that they began with.
//
//	says ^  1 .* [\d,]+ goroutines \[
//
//	is !r.suspects[0].waited || r.suspects[0].waited.count * 51 > r.suspects[0].waited.of * 49
//	is r.classes.some(c => c.class === 'main.request' && c.objects === 3000)
//
//	case lock SHAPE=lock
//	from 1.20
//	says[plain] ^      wait on     main\.theBank\.ledgers\["eur"\], as 2,9\d\d of [23],[09]\d\d do$
//
//	case stripped SHAPE=lock
//	from 1.27
//	ways stripped
//	says ^      wait on     the global .*\["eur"\], as 2,9\d\d of [23],[09]\d\d do$
//
//	case group SHAPE=group
//	from 1.25
//	says[plain] ^      wait on     main\.theBank\.ledgers\["eur"\], as 2,940 of 3,000 do$
//
//	case cond SHAPE=cond
//	says[plain] ^      wait on     main\.theBank\.ledgers\["eur"\]\.changed, as 2,940 of 3,000 do$
//
//	case channel SHAPE=channel
//	says[plain] ^      wait on     main\.theBank\.ledgers\["eur"\]\.asked, as 2,940 of 3,000 do$
//
// Each goroutine selects among six channels of its own and one that it shares with nearly all others, which the runtime's list
// has last: it is at the highest address. The shared one is a global variable.
//
//	case select SHAPE=select
//	says[plain] ^      wait on     main\.quit, chan int, chan int, chan int, …, as 2,940 of 3,000 do$
//	says[stripped] ^      wait on     the global .*\), chan int, chan int, chan int, …, as 2,940 of 3,000 do$
//
// A lock that is a global variable, and of which the dump does not even have the memory:
//
//	case global SHAPE=global
//	from 1.20
//	tells ^  1 .* 2,9\d\d goroutines \[
//	says[plain] ^      wait on     main\.turn$
//	says[stripped] ^      wait on     0x[0-9a-f]+$
//
// A sync.Cond outside of the heap, to which a global variable points:
//
//	case static SHAPE=static
//	ways plain
//	says ^      wait on     main\.settled, as 2,940 of 3,000 do$
//
// A lock that only the goroutines and the one that will unlock it have, in a block of 16 bytes whose other value is a global
// variable's:
//
//	case neighbour SHAPE=neighbour
//	ways plain
//	says ^      wait on     sync\.Mutex
//	never wait on     main\.counted
package main

import (
	"fmt"
	"os"
	"runtime"
	"sync"
	"time"
	"unsafe"
)

type request struct {
	id   int
	body []byte
}

type ledger struct {
	total   int64
	mu      sync.RWMutex
	idle    sync.WaitGroup
	changed *sync.Cond
	asked   chan *request
}

type bank struct{ ledgers map[string]*ledger }

var theBank = newBank()

var turn sync.RWMutex

var settled = sync.NewCond(&sync.Mutex{})

var counted *int64

// beside makes a lock in the block that counted is in.
func beside() *sync.Mutex {
	for {
		counted = new(int64)
		mu := new(sync.Mutex)
		if uintptr(unsafe.Pointer(counted))&^15 == uintptr(unsafe.Pointer(mu))&^15 {
			return mu
		}
	}
}

func waitBeside() {
	mu := beside()
	mu.Lock()
	for i := 0; i < 3000; i++ {
		go func(r *request) {
			mu.Lock()
			r.id++
			mu.Unlock()
		}(&request{i, make([]byte, 3000)})
	}
	go func() {
		<-started
		time.Sleep(time.Hour)
		mu.Unlock()
	}()
}

// quit is made after all other channels, and started is closed then.
var (
	quit    chan int
	started = make(chan int)
)

func newBank() *bank {
	b := &bank{map[string]*ledger{}}
	for _, name := range []string{"eur", "usd"} {
		l := &ledger{asked: make(chan *request)}
		l.changed = sync.NewCond(&sync.Mutex{})
		l.mu.Lock()
		l.idle.Add(1)
		b.ledgers[name] = l
	}
	return b
}

//go:noinline
func (l *ledger) wait(r *request, shape string) {
	switch shape {
	case "lock":
		l.mu.Lock()
	case "select":
		var own [6]chan int
		for i := range own {
			own[i] = make(chan int)
		}
		<-started
		q := quit
		if r.id%50 == 0 {
			q = make(chan int)
		}
		select {
		case <-own[0]:
		case <-own[1]:
		case <-own[2]:
		case <-own[3]:
		case <-own[4]:
		case <-own[5]:
		case <-q:
		}
	case "global":
		if r.id%50 == 0 {
			l.mu.Lock()
		} else {
			turn.Lock()
		}
	case "group":
		l.idle.Wait()
	case "cond":
		l.changed.L.Lock()
		l.changed.Wait()
	case "static":
		on := settled
		if r.id%50 == 0 {
			on = l.changed
		}
		on.L.Lock()
		on.Wait()
	case "channel":
		l.asked <- r
	}
	l.total += int64(r.id)
}

func main() {
	shape := os.Getenv("SHAPE")
	if shape == "neighbour" {
		waitBeside()
	}
	for i := 0; i < 3000 && shape != "neighbour"; i++ {
		l := theBank.ledgers["eur"]
		if i%50 == 0 {
			l = theBank.ledgers["usd"]
		}
		if i == 0 {
			turn.Lock()
		}
		go l.wait(&request{i, make([]byte, 3000)}, shape)
	}
	time.Sleep(300 * time.Millisecond)
	quit = make(chan int)
	close(started)
	time.Sleep(100 * time.Millisecond)
	runtime.GC()
	runtime.GC()
	fmt.Println("READY")
	os.Stdin.Read(make([]byte, 1))
}
