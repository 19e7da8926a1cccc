// An array of structs behind other fields of a struct, longer than what counts as near an address, of which only a method of the
// struct has the index: all its elements are of the variable, also in a stripped program.
//
//	ways plain stripped
//	is r.suspects[0].count === 20000 && r.suspects[0].item === 'main.lease'
//	says ^  1 .* in 8 × map\[string\]\*main\.lease$
//	says[plain] ^      held by     main\.office\.zones\[\d\]\.leases, a map of 2,500 entries, one of 8$
//	says[stripped] ^      held by     the global used by main\.\S+ \(0x[0-9a-f]+\)\S*, a map of 2,500 entries, one of 8$
package main

import (
	"fmt"
	"sync"
)

type lease struct {
	address string
	data    [80]byte
}

type zone struct {
	lock   sync.Mutex
	leases map[string]*lease
	free   []int
}

type server struct {
	name    string
	zones   [8]zone
	options map[string]string
}

var relay, office server

func (s *server) add(i int) {
	z := &s.zones[i%8]
	z.lock.Lock()
	defer z.lock.Unlock()
	if z.leases == nil {
		z.leases = map[string]*lease{}
	}
	l := &lease{address: fmt.Sprint("10.", i)}
	z.leases[l.address] = l
}

func main() {
	for i := 0; i < 400; i++ {
		relay.add(i)
	}
	for i := 0; i < 20000; i++ {
		office.add(i)
	}
	fmt.Println("READY")
	fmt.Scanln()
	fmt.Println(relay, office)
}
