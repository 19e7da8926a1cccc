// Shards in an array that stands, in memory, behind the variable of another package, to which something points. What is behind that
// variable is not its own where code uses what is between.
//
//	from 1.21
//	ways stripped
//	case shards
//	unwalked walk.mjs does not know the elements of a variable with a node of its own, shards[0].m
//	is r.classes.some(row => row.class === 'main.rec' && row.objects === 60001)
//	never the global used by runtime\.
package main

import (
	"fmt"
	"os"
	"strconv"
	"sync"
)

type rec struct {
	id   int
	name string
}

type hub struct {
	mu   sync.Mutex
	last *rec
}

var last = &hub{}

var shards [128]struct {
	mu sync.Mutex
	m  map[string]*rec
}

//go:noinline
func put(h *hub, r *rec) {
	h.mu.Lock()
	h.last = r
	h.mu.Unlock()
}

func main() {
	for i := 0; i < 60_000; i++ {
		key, s := strconv.Itoa(i), &shards[i%len(shards)]
		s.mu.Lock()
		if s.m == nil {
			s.m = map[string]*rec{}
		}
		s.m[key] = &rec{i, key}
		s.mu.Unlock()
	}
	put(last, &rec{1, "last"})
	fmt.Println("READY")
	os.Stdin.Read(make([]byte, 1))
	put(last, shards[3].m["1"])
}
