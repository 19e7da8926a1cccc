// What grew between two moments of a process, of which the first had much garbage of the class that leaks: what nothing holds
// is not compared.
//
//	base
//
//	case map SHAPE=map
//	says ^since .*: \+1\.\d\d MB .*, \+4,0\d\d objects
//	says ^WHAT GREW
//	says \+4,000 main\.ticket, now 4,0\d\d, in map\[int\]\*main\.ticket$
//	says[plain] ^      (held by|example)     main\.bOpen\[\d+\]
//	says ^CLASSES .* grown$
//	tells ^  main\.ticket .*\+1\.54 MB$
//	never \+\d.* main\.ticket, in map\[int\]\*main\.ticket\n.*\n.*main\.aOpen
//	is r.since.reachable > 1500000
//	is r.suspects.length === 1 && r.suspects[0].count_grown === 4000
//	is r.classes.find(c => c.class === "main.ticket").grown === 4000 * 384
//
//	case list SHAPE=list
//	says \+4,000 main\.ticket, now 4,0\d\d
//	says[plain] ^      held by     main\.bLast
//	is r.suspects[0].count_grown === 4000
//
//	case garbage SHAPE=garbage
//	says ^since .*: [+-][0-9.]+ k?B .*, [+-]?\d+ objects
//	says Nothing grew by much
//	never \+\d.*main\.ticket
//	is r.suspects.length === 0 && r.since.objects < 100 && r.since.reachable < 100000
//	is r.classes.find(c => c.class === "main.ticket").grown === 0
//
//	case timers SHAPE=timers
//	tells \+2,000 (runtime\.timeTimer|time\.Timer), now \S+, in .*, the runtime's timers, which call main\.\(\*ticket\)\.expire(-fm)?$
//
//	case entries SHAPE=entries
//	says \+52,999 entries, now 53,000, in map\[int\]int64$
//	is r.suspects[0].entries === 53000 && r.suspects[0].entries_grown === 52999
//
//	case path SHAPE=map
//	options --path-to main.ticket
//	says CLASS   main\.ticket: .*; \+4,000 since then$
//	is r.class.objects_grown === 4000
package main

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"time"
)

type ticket struct {
	next *ticket
	text [376]byte
}

func (t *ticket) expire() { t.next = nil }

var (
	aOpen, bOpen = map[int]*ticket{}, map[int]*ticket{}
	aLast, bLast *ticket
	index        = map[int]int64{}
)

func ready() {
	fmt.Println("READY")
	os.Stdin.Read(make([]byte, 1))
}

//go:noinline
func serve(count int) {
	for i := 0; i < count; i++ {
		dropped = new(ticket)
	}
	dropped = nil
}

var dropped *ticket

func main() {
	for i := 0; i < 30; i++ {
		aOpen[i], bOpen[i] = new(ticket), new(ticket)
	}
	index[-1] = 1
	aLast, bLast = &ticket{next: new(ticket)}, new(ticket)
	runtime.GC()
	debug.SetGCPercent(-1)
	shape := os.Getenv("SHAPE")
	if shape != "garbage" {
		serve(9000)
	}
	ready()
	runtime.GC()
	switch shape {
	case "map":
		for i := 0; i < 4000; i++ {
			bOpen[100+i] = new(ticket)
		}
	case "list":
		for i := 0; i < 4000; i++ {
			bLast = &ticket{next: bLast}
		}
	case "timers":
		for i := 0; i < 2000; i++ {
			time.AfterFunc(time.Hour, new(ticket).expire)
		}
	case "entries":
		for i := 1; i < 53000; i++ { // before Go 1.24 nearly 6.5 per bucket: many overflow, for any seed of the hash
			index[i] = 1
		}
	case "garbage":
		serve(9000)
	}
	ready()
	runtime.KeepAlive(aOpen)
	runtime.KeepAlive(aLast)
	runtime.KeepAlive(index)
}
