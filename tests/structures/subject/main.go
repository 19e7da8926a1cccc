// subject is a program that uses maps, channels and the rest of what src/types/runtime_types.c knows, so that its DWARF
// describes them. It is never run, only read.
package main

import (
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

type large struct {
	text  string
	bytes [200]byte
}

type pair struct {
	a, b uint64
	c    uint8
}

type node struct {
	next map[string]*node
	wait chan *node
}

var (
	stringInt  map[string]int
	byteByte   map[uint8]uint8
	byteFloat  map[uint8]float64
	set        map[string]struct{}
	largeKey   map[large]int
	largeElem  map[int]large
	limit      map[[128]byte][129]byte
	pairs      map[pair]pair
	nested     map[string]map[int]*node
	interfaces map[interface{}]error
	complexes  map[complex128]int8

	events   chan struct{}
	ints     chan int
	bytes    chan uint8
	nodes    chan *node
	pairsIn  <-chan pair
	largeOut chan<- large
	channels chan chan string

	pool  sync.Pool
	table sync.Map
	once  sync.Once
	cond  = sync.NewCond(new(sync.Mutex))
	value atomic.Value
	timer *time.Timer
	tick  *time.Ticker
)

func main() {
	stringInt = map[string]int{"a": len(os.Args)}
	byteByte = map[uint8]uint8{1: uint8(len(os.Args))}
	byteFloat = map[uint8]float64{1: 1}
	set = map[string]struct{}{"a": {}}
	largeKey = map[large]int{{}: 1}
	largeElem = map[int]large{1: {}}
	limit = map[[128]byte][129]byte{{}: {}}
	pairs = map[pair]pair{{}: {}}
	nested = map[string]map[int]*node{"a": {1: nil}}
	interfaces = map[interface{}]error{1: nil}
	complexes = map[complex128]int8{1: 1}
	events, ints, bytes = make(chan struct{}), make(chan int, 1), make(chan uint8, 9)
	nodes, channels = make(chan *node, 3), make(chan chan string)
	pairsIn, largeOut = make(chan pair, 2), make(chan large, 2)
	timer, tick = time.NewTimer(time.Hour), time.NewTicker(time.Hour)
	pool.New = func() interface{} { return new(node) }
	table.Store("a", pool.Get())
	value.Store(&node{next: map[string]*node{}, wait: nodes})
	cond.Signal()
	select {
	case <-events:
	case i := <-ints:
		bytes <- uint8(i)
	case p := <-pairsIn:
		fmt.Println(p)
	case largeOut <- large{}:
	case c := <-channels:
		<-c
	case <-timer.C:
	case <-tick.C:
	}
	fmt.Println(stringInt, byteByte, byteFloat, set, largeKey, largeElem, limit, pairs, nested, interfaces, complexes)
	fmt.Println(&pool, &table, value.Load())
}
