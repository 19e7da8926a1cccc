// Programs with one leak each, beside what any program holds; or with none:
//
//	planted LEAK DUMP
//
// LEAK is one of those below. The dump is written when it has grown.
package main

import (
	"container/list"
	"context"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"settle"
	"sync"
	"time"
)

const many = 20000

// record is what leaks.
type record struct {
	id   int
	name string
	data [6]int64
}

func newRecord(i int) *record { return &record{id: i, name: fmt.Sprint("record ", i)} }

type store struct {
	mu      sync.Mutex
	records map[string]*record
}

type node struct {
	next  *node
	value *record
}

// lru never throws anything out.
type lru struct {
	order *list.List
	byKey map[int]*list.Element
}

// conn is held by a variable and by the goroutine that serves it.
type conn struct {
	record *record
	page   [8192]byte
	done   chan struct{}
}

//go:noinline
func (c *conn) serve() {
	<-c.done
	fmt.Println(c.record.id)
}

type service struct{ cache *store }

// shard has two leaks.
type shard struct {
	records map[string]*record
	waiting []*record
}

var (
	byName      = map[string]*record{}
	history     []*record
	queue       = make(chan *record)
	callbacks   []func() int
	conns       = map[string]*conn{}
	timers      []*time.Timer
	contexts    []context.Context
	pool        = sync.Pool{New: func() interface{} { return new([]*record) }}
	pooled      []*[]*record
	shared      sync.Map
	finalized   *node
	cache       = &lru{order: list.New(), byKey: map[int]*list.Element{}}
	current     *service
	head        *node
	handed      = make(chan *record)
	interfaces  = map[int]interface{}{}
	nested      = map[string]map[int]*record{}
	background  [8]*record
	subscribers = map[*record]struct{}{}
	shards      [8]*shard
)

func leak(kind string) {
	switch kind {
	case "map":
		for i := 0; i < many; i++ {
			r := newRecord(i)
			byName[r.name] = r
		}
	case "slice":
		for i := 0; i < many; i++ {
			history = append(history, newRecord(i))
		}
	case "channel":
		queue = make(chan *record, many)
		for i := 0; i < many; i++ {
			queue <- newRecord(i)
		}
	case "closure":
		for i := 0; i < many; i++ {
			r := newRecord(i)
			callbacks = append(callbacks, func() int { return r.id })
		}
	case "goroutine":
		for i := 0; i < many/10; i++ {
			go send(newRecord(i))
		}
		settle.Settle()
	case "conn":
		for i := 0; i < many/10; i++ {
			c := &conn{record: newRecord(i), done: make(chan struct{})}
			conns[c.record.name] = c
			go c.serve()
		}
		settle.Settle()
	case "shards":
		for i := range shards {
			shards[i] = &shard{records: map[string]*record{}}
		}
		for i := 0; i < many; i++ {
			r, s := newRecord(i), shards[i%len(shards)]
			s.records[r.name] = r
		}
		for i := 0; i < many/2; i++ {
			s := shards[i%len(shards)]
			s.waiting = append(s.waiting, newRecord(i))
		}
	case "timer":
		for i := 0; i < many; i++ {
			r := newRecord(i)
			timers = append(timers, time.AfterFunc(time.Hour, func() { fmt.Println(r.id) }))
		}
	case "context":
		for i := 0; i < many; i++ {
			contexts = append(contexts, context.WithValue(context.Background(), interface{}("record"), newRecord(i)))
		}
	case "pool":
		for i := 0; i < 20; i++ {
			buffer := pool.Get().(*[]*record)
			for k := 0; k < many/20; k++ {
				*buffer = append(*buffer, newRecord(k))
			}
			pooled = append(pooled, buffer)
		}
	case "syncmap":
		for i := 0; i < many; i++ {
			shared.Store(i, newRecord(i))
		}
	case "finalizer":
		for i := 0; i < many; i++ {
			n := &node{next: finalized, value: newRecord(i)}
			runtime.SetFinalizer(n.value, func(*record) {})
			finalized = n
		}
	case "lru":
		for i := 0; i < many; i++ {
			cache.byKey[i] = cache.order.PushFront(newRecord(i))
		}
	case "pointer":
		current = &service{cache: &store{records: map[string]*record{}}}
		for i := 0; i < many; i++ {
			r := newRecord(i)
			current.cache.records[r.name] = r
		}
	case "list":
		for i := 0; i < many; i++ {
			head = &node{next: head, value: newRecord(i)}
		}
	case "interface":
		for i := 0; i < many; i++ {
			interfaces[i] = newRecord(i)
		}
	case "nested":
		for i := 0; i < 20; i++ {
			inner := map[int]*record{}
			for k := 0; k < many/20; k++ {
				inner[k] = newRecord(k)
			}
			nested[fmt.Sprint("tenant ", i)] = inner
		}
	case "keys":
		for i := 0; i < many; i++ {
			subscribers[newRecord(i)] = struct{}{}
		}
	case "none":
	default:
		fmt.Fprintln(os.Stderr, "there is no leak", kind)
		os.Exit(2)
	}
}

func send(r *record) { handed <- r }

func main() {
	for i := range background {
		background[i] = newRecord(i)
	}
	leak(os.Args[1])
	runtime.GC()
	runtime.GC()
	file, err := os.Create(os.Args[2])
	if err != nil {
		panic(err)
	}
	debug.WriteHeapDump(file.Fd())
	if err := file.Close(); err != nil {
		panic(err)
	}
	fmt.Println(len(byName), len(history), len(queue), len(callbacks), len(timers), len(contexts), len(pooled), finalized != nil,
		cache.order.Len(), current != nil, head != nil, len(interfaces), len(nested), len(subscribers), background[0].id)
}
