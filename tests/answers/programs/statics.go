// What the linker lays out, var desk = &counter{…}, has no symbol, and in a stripped program perhaps no type: the code that uses it by
// the variable says both, also if only main.init sets a field. Beside each is another one of the same type.
//
//	ways plain stripped
//	case inner SHAPE=inner
//	says ^  1 .* 30,000 main\.session
//	says[plain] ^      held by     main\.desk\.open
//	says[stripped] ^      held by     the global used by main\.enter \(0x[0-9a-f]+\)\.f\d+(, a sync\.Map of 30,000 entries)?$
//	case literal SHAPE=literal
//	says ^  1 .* 30,000 main\.session
//	says[plain] ^      held by     main\.desk\.known, a map of 30,000 entries$
//	says[plain] ^      example     main\.desk\.known\["k\d+"\]$
//	says[stripped] ^      held by     the global used by main\.(enter|learn) \(0x[0-9a-f]+\)\.f\d+, a map of 30,000 entries$
//	says[stripped] ^      example     the global used by main\.(enter|learn) \(0x[0-9a-f]+\)\.f\d+\["k\d+"\]$
//	case fixed SHAPE=fixed
//	says ^  1 .* 30,100 main\.session
//	says[plain] ^      held by     main\.desks\[1\]\.known, a map of 30,000 entries$
//	says[plain] ^      example     main\.desks\[1\]\.known\["k\d+"\]$
//	says[stripped] ^      held by     the global used by main\.place \(0x[0-9a-f]+\)\[1\]\.f\d+, a map of 30,000 entries$
//	says[stripped] ^      example     the global used by main\.place \(0x[0-9a-f]+\)\[1\]\.f\d+\["k\d+"\]$
//	case generic SHAPE=generic
//	says ^  1 .* 30,000 main\.session
//	says[plain] ^      held by     main\.waiting\.queue
//	says[stripped] ^      held by     the global used by main\.wait \(0x[0-9a-f]+\)
//	case value SHAPE=value
//	from 1.24
//	says ^  1 .* 30,000 main\.session
//	says[plain] ^      held by     main\.hall\.peers, a sync\.Map of 30,000 entries$
//	says[stripped] ^      held by     the global used by main\.(join|main|\(\*hub\)\.join) \(0x[0-9a-f]+\)\S*, a sync\.Map of 30,000 entries$
package main

import (
	"fmt"
	"os"
	"sync"
)

type session struct {
	user string
	buf  [10]uint64
}

type counter struct {
	mu    sync.Mutex
	known map[string]*session
	open  sync.Map
}

type blocking[T any] struct {
	mu    sync.Mutex
	queue []T
}

func (b *blocking[T]) push(v T) {
	b.mu.Lock()
	b.queue = append(b.queue, v)
	b.mu.Unlock()
}

// A hub is a value; the linker may place it behind one that a pointer leads to.
type hub struct {
	name  string
	rooms sync.Map
	peers sync.Map
}

var hall hub
var desk = &counter{known: map[string]*session{}}
var other = &counter{known: map[string]*session{}}
var desks = [3]*counter{{known: map[string]*session{}}, {known: map[string]*session{}}, {known: map[string]*session{}}}
var waiting = &blocking[*session]{}

//go:noinline
func enter(k string) { desk.open.Store(k, &session{}) }

//go:noinline
func learn(k string) { desk.known[k] = &session{} }

//go:noinline
func place(i int, k string) { desks[i].known[k] = &session{} }

//go:noinline
func wait() { waiting.push(&session{}) }

//go:noinline
func (h *hub) join(k string) { h.peers.Store(k, &session{}) }

func main() {
	for i := 0; i < 30000; i++ {
		k := fmt.Sprint("k", i)
		switch os.Getenv("SHAPE") {
		case "inner":
			enter(k)
		case "literal":
			learn(k)
		case "fixed":
			place(1, k)
			if i < 100 {
				place(2, k)
			}
		case "generic":
			wait()
		case "value":
			hall.join(k)
		}
		if i < 100 {
			other.open.Store(k, &session{})
			other.known[k] = &session{}
			hall.rooms.Store(k, &session{})
		}
	}
	fmt.Println("READY")
	fmt.Scanln()
	fmt.Println(len(other.known))
}
