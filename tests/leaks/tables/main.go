// Maps of which a stripped program says nothing: they hang from variables of a structure behind a global pointer. What
// they contain tells what they are; from Go 1.22 on also the malloc headers of some buckets and groups.
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
type Lease struct {
	owner string
	until int
	hosts []string
}
type Key struct {
	tenant string
	id     int
}
type Cart struct {
	items map[string]int
	notes []string
	total float64
}
type Token struct {
	value [40]byte
	until int64
}

type Registry struct {
	sessions map[int]*Session
	routes   map[[2]int]*Route
	orders   map[string]*Order
	peers    map[uint16]*Peer    // one table
	first    map[string]*Session // one group or bucket
	leases   map[string]*Lease   // as large as the one before
	labels   map[string]string   // groups of more than 32 KB
	tokens   map[string]Token
	carts    map[Key]*Cart
	flags    map[string]map[string]bool
	values   map[string]any
	errors   map[string]error
	ports    map[uint32][]byte
	seen     map[int64]struct{} // without pointers: may be a map[uint64]bool as well
	callers  map[string]func() int
	reverse  map[*Lease]bool
	large    map[[200]byte]int // keys by themselves
}

var registry *Registry

func grow(r *Registry, from, to int) {
	for i := from; i < to; i++ {
		r.sessions[i] = &Session{id: i}
		r.routes[[2]int{i, -i}] = &Route{from: i}
		r.orders[fmt.Sprintf("customer %d", i)] = &Order{state: i}
		if i%6 != 0 {
			continue
		}
		name := fmt.Sprintf("name %d", i)
		lease := &Lease{owner: name, hosts: []string{name, "localhost"}}
		r.leases[name] = lease
		r.labels[name] = "label of " + name
		r.tokens[name] = Token{until: int64(i)}
		r.carts[Key{name, i}] = &Cart{items: map[string]int{name: i}, notes: []string{name}}
		r.flags[name] = map[string]bool{name: true, "new": i%4 == 0}
		r.values[name] = lease
		r.values[name+" as text"] = name
		r.errors[name] = fmt.Errorf("failed: %s", name)
		r.ports[uint32(i)] = []byte(name)
		r.seen[int64(i)*7] = struct{}{}
		number := i
		r.callers[name] = func() int { return number }
		r.reverse[lease] = true
		var key [200]byte
		copy(key[:], name)
		r.large[key] = i
	}
}

func main() {
	n := expect.Size(60000)
	registry = &Registry{map[int]*Session{}, map[[2]int]*Route{}, map[string]*Order{}, map[uint16]*Peer{},
		map[string]*Session{}, map[string]*Lease{}, map[string]string{}, map[string]Token{}, map[Key]*Cart{},
		map[string]map[string]bool{}, map[string]any{}, map[string]error{}, map[uint32][]byte{}, map[int64]struct{}{},
		map[string]func() int{}, map[*Lease]bool{}, map[[200]byte]int{}}
	for i := 0; i < 100; i++ {
		registry.peers[uint16(i)] = &Peer{i}
	}
	grow(registry, 0, n)
	for i := 0; i < 3; i++ {
		registry.first[fmt.Sprint(i)] = registry.sessions[i]
	}
	some := n / 6
	expect.Objects(`main\.Session`, n)
	expect.Objects(`main\.Route`, n)
	expect.Objects(`main\.Order`, n)
	expect.Objects(`main\.Lease`, some)
	expect.Objects(`main\.Cart`, some)
	expect.Objects(`map\[int\]\*main\.Session`, 1)
	expect.Objects(`map\[\[2\]int\]\*main\.Route`, 1)
	expect.Objects(`map\[string\]\*main\.Order`, 1)
	expect.Objects(`map\[uint16\]\*main\.Peer`, 1)
	expect.Objects(`map\[string\]\*main\.Session`, 1)
	expect.Objects(`map\[string\]\*main\.Lease`, 1)
	expect.Objects(`map\[string\]main\.Token`, 1)
	expect.Objects(`map\[main\.Key\]\*main\.Cart`, 1)
	expect.Objects(`map\[string\]map\[string\]bool`, 1)
	expect.Objects(`map\[string\]bool`, some)
	expect.Objects(`map\[string\]int`, some)
	expect.Objects(`map\[uint32\]\[\]uint8`, 1)
	expect.Objects(`map\[string\]func\(\) int`, 1)
	expect.Objects(`map\[\*main\.Lease\]bool`, 1)
	expect.Objects(`map\[\[200\]uint8\]int`, 1)
	expect.Keys(`main\.Session`, n)
	expect.Keys(`main\.Order`, n)
	expect.NoObjects(`(?:\[\]\*)?maps\.table`)
	expect.Untyped(0.5)
	expect.Dump(1)
	grow(registry, n, 3*n)
	expect.Dump(2)
	expect.Done()
	runtime.KeepAlive(registry)
}
