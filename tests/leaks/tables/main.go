// Maps of pointers, of which a stripped program says nothing: they hang from variables of a structure behind a global
// pointer. The malloc headers of their groups tell what they are (Go 1.24 on).
package main

import (
	"fmt"
	"runtime"

	"leaks/expect"
)

type Session struct{ id, hits, last int }
type Route struct{ from, to, weight, uses, last int }
type Order struct{ state, tries, items, total int }
type Peer struct{ port int }

type Registry struct {
	sessions map[int]*Session
	routes   map[[2]int]*Route
	orders   map[string]*Order
	peers    map[uint16]*Peer // one table
	first    map[string]*Session
}

var registry = &Registry{
	sessions: map[int]*Session{},
	routes:   map[[2]int]*Route{},
	orders:   map[string]*Order{},
	peers:    map[uint16]*Peer{},
	first:    map[string]*Session{},
}

func grow(from, to int) {
	for i := from; i < to; i++ {
		registry.sessions[i] = &Session{id: i}
		registry.routes[[2]int{i, -i}] = &Route{from: i}
		registry.orders[fmt.Sprintf("customer %d", i)] = &Order{state: i}
	}
}

func main() {
	n := expect.Size(60000)
	for i := 0; i < 100; i++ {
		registry.peers[uint16(i)] = &Peer{i}
	}
	grow(0, n)
	for i := 0; i < 3; i++ { // it has but one group, which has no header: nothing tells its type
		registry.first[fmt.Sprint(i)] = registry.sessions[i]
	}
	expect.Objects(`main\.Session`, n)
	expect.Objects(`main\.Route`, n)
	expect.Objects(`main\.Order`, n)
	expect.Objects(`map\[int\]\*main\.Session`, 1)
	expect.Objects(`map\[\[2\]int\]\*main\.Route`, 1)
	expect.Objects(`map\[string\]\*main\.Order`, 1)
	expect.Objects(`map\[uint16\]\*main\.Peer`, 1)
	expect.Keys(`main\.Session`, n)
	expect.Keys(`main\.Order`, n)
	expect.NoObjects(`(?:\[\]\*)?maps\.table`)
	expect.Untyped(0.5)
	expect.Dump(1)
	grow(n, 3*n)
	expect.Dump(2)
	expect.Done()
	runtime.KeepAlive(registry)
}
