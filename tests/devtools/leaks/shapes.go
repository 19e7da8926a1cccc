package main

import (
	"container/list"
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"time"

	"settle"
)

// shapes has for each name a function that prepares the healthy twin, and returns the one that leaks.
var shapes = map[string]func() func(){
	"addresses":   addresses,
	"overwritten": overwritten,
	"topics":      topics,
	"statements":  statements,
	"indexes":     indexes,
	"together":    together,
	"listeners":   listeners,
	"backlog":     backlog,
	"blocks":      blocks,
	"findings":    findings,
	"contexts":    contexts,
	"abandoned":   abandoned,
	"cleaners":    cleaners,
	"deadlines":   deadlines,
	"finalized":   finalized,
}

// A map that has a key for every client, which nobody deletes.

var visits, logins = map[string][]time.Time{}, map[string][]time.Time{}

func addresses() func() {
	for i := 0; i < 300; i++ {
		logins[fmt.Sprint("192.168.0.", i)] = []time.Time{time.Now()}
	}
	n := 0
	return func() {
		for i := 0; i < 12000; i++ {
			n++
			visits[fmt.Sprint("10.0.", n)] = []time.Time{time.Now()}
		}
	}
}

// A key that exists is overwritten in the map of a cache, and stays in its list.

type endpoint struct{ URI, signer string }

type lru struct {
	entries map[string]*list.Element
	recent  *list.List
}

func (l *lru) put(key string, value *endpoint) { l.entries[key] = l.recent.PushFront(value) }

var endpoints, regions = &lru{map[string]*list.Element{}, list.New()}, &lru{map[string]*list.Element{}, list.New()}

func overwritten() func() {
	for i := 0; i < 200; i++ {
		regions.put(fmt.Sprint("region", i), &endpoint{URI: "https://r"})
	}
	n := 0
	return func() {
		for i := 0; i < 10000; i++ {
			n++
			endpoints.put(fmt.Sprint("bucket", n%60), &endpoint{URI: fmt.Sprint("https://b", n)})
		}
	}
}

// Topics that are used once stay in a map and in a sync.Map.

type subscriber struct{ out chan int }

type bus struct {
	name        string
	subscribers map[string][]*subscriber
	locks       sync.Map
}

func (b *bus) subscribe(topic string) {
	b.locks.LoadOrStore(topic, &sync.Mutex{})
	b.subscribers[topic] = append(b.subscribers[topic], nil)[:0]
}

var requests, audit = &bus{name: "requests", subscribers: map[string][]*subscriber{}}, &bus{name: "audit", subscribers: map[string][]*subscriber{}}

func topics() func() {
	for i := 0; i < 200; i++ {
		audit.subscribe(fmt.Sprint("audit.", i))
	}
	n := 0
	return func() {
		for i := 0; i < 6000; i++ {
			n++
			requests.subscribe(fmt.Sprint("reply.", n))
		}
	}
}

// Statements that are prepared and never closed.

type statement struct {
	of    *conn
	query string
	plan  [20]*string
}

type conn struct {
	path string
	open map[*statement]bool
}

type database struct{ free []*conn }

var rooms, users = &database{[]*conn{{path: "rooms"}}}, &database{[]*conn{{path: "users"}}}

func (d *database) prepare(query string) *statement {
	c := d.free[0]
	if c.open == nil {
		c.open = map[*statement]bool{}
	}
	s := &statement{of: c, query: query}
	c.open[s] = true
	return s
}

func statements() func() {
	for i := 0; i < 60; i++ {
		users.prepare(fmt.Sprint("SELECT ", i))
	}
	return func() {
		for i := 0; i < 5000; i++ {
			rooms.prepare("SELECT " + strings.Repeat("?, ", i%40))
		}
	}
}

// Two indexes of the same objects in one variable.

type user struct {
	ID   int
	Name string
	Data [100]byte
}

type index struct {
	byID   map[int]*user
	byName map[string]*user
}

func (x *index) add(u *user) { x.byID[u.ID], x.byName[u.Name] = u, u }

var registry, archive = index{map[int]*user{}, map[string]*user{}}, index{map[int]*user{}, map[string]*user{}}

func indexes() func() {
	for i := 0; i < 300; i++ {
		archive.add(&user{ID: i, Name: fmt.Sprint("old", i)})
	}
	n := 0
	return func() {
		for i := 0; i < 8000; i++ {
			n++
			registry.add(&user{ID: n, Name: fmt.Sprint("user", n)})
		}
	}
}

// Two variables of which each leads to all objects, so that neither holds them alone.

type account struct {
	id    int
	login string
	data  [20]int
}

var byID, byLogin = map[int]*account{}, map[string]*account{}
var adminsByID, adminsByLogin = map[int]*account{}, map[string]*account{}

func together() func() {
	for i := 0; i < 300; i++ {
		a := &account{id: i, login: fmt.Sprint("admin", i)}
		adminsByID[i], adminsByLogin[a.login] = a, a
	}
	n := 0
	return func() {
		for i := 0; i < 8000; i++ {
			n++
			a := &account{id: n, login: fmt.Sprint("login", n)}
			byID[n], byLogin[a.login] = a, a
		}
	}
}

// Listeners that are registered for every request.

type emitter struct{ handlers []func(int) }

type request struct {
	id   int
	body [200]byte
}

var changes, shutdowns emitter

func (e *emitter) on(r *request) { e.handlers = append(e.handlers, func(n int) { r.id += n }) }

func listeners() func() {
	for i := 0; i < 60; i++ {
		shutdowns.on(&request{id: i})
	}
	return func() {
		for i := 0; i < 9000; i++ {
			changes.on(&request{id: i})
		}
	}
}

// Messages that wait in a channel which nobody reads, and which a variable of a frame holds, too.

type message struct {
	topic   string
	payload [120]byte
}

type exporter struct{ queue chan *message }

var metrics, traces = &exporter{}, &exporter{}

func closeAtNight(queue chan *message) {
	time.Sleep(12 * time.Hour)
	close(queue)
}

func backlog() func() {
	metrics.queue, traces.queue = make(chan *message, 30000), make(chan *message, 1000)
	for i := 0; i < 100; i++ {
		traces.queue <- &message{topic: "traces"}
	}
	go closeAtNight(metrics.queue)
	return func() {
		for i := 0; i < 12000; i++ {
			metrics.queue <- &message{topic: "metrics"}
		}
	}
}

// Bodies of blocks: bytes, of which a healthy cache has others.

type block struct {
	height int
	Body   []byte
}

type chain struct{ pending []*block }

var mainnet, testnet chain

func blocks() func() {
	for i := 0; i < 30; i++ {
		testnet.pending = append(testnet.pending, &block{i, make([]byte, 900)})
	}
	return func() {
		for i := 0; i < 4000; i++ {
			mainnet.pending = append(mainnet.pending, &block{i, make([]byte, 900)})
		}
	}
}

// A part of each document is kept, and so is the document.

type finding struct {
	Rule, Secret string
	line         int
}

var found, reported []*finding

func findings() func() {
	for i := 0; i < 200; i++ {
		reported = append(reported, &finding{"aws", strings.Clone(fmt.Sprint("AKIA", i)), i})
	}
	n := 0
	return func() {
		for i := 0; i < 500; i++ {
			n++
			document := fmt.Sprintf("AKIA%016d %s", n, strings.Repeat("the quick brown fox ", 400))
			found = append(found, &finding{"aws", document[:20], i})
		}
	}
}

// Each request adds to the context of the one before.

type keyOf int

type session struct{ requests context.Context }

var current, other = &session{context.Background()}, &session{context.Background()}

func contexts() func() {
	for i := 0; i < 20; i++ {
		other.requests = context.WithValue(other.requests, keyOf(i), &request{id: i})
	}
	n := 0
	return func() {
		for i := 0; i < 5000; i++ {
			n++
			current.requests = context.WithValue(current.requests, keyOf(n), &request{id: n})
		}
	}
}

// Goroutines whose receiver has given up, and others that are still received from.

type answer struct{ rows [600]byte }

func ask(answers chan<- *answer) {
	a := &answer{}
	answers <- a
	a.rows[0]++
}

var awaited []chan *answer

func abandoned() func() {
	for i := 0; i < 20; i++ {
		answers := make(chan *answer)
		go ask(answers)
		awaited = append(awaited, answers)
	}
	return func() {
		for i := 0; i < 400; i++ {
			go ask(make(chan *answer))
		}
		settle.Settle()
	}
}

// Each cache starts a goroutine that cleans it, and never stops.

type cache struct {
	values map[int]*request
	tick   <-chan time.Time
	closer chan struct{}
}

func (c *cache) run() {
	for {
		select {
		case <-c.tick:
			clear(c.values)
		case <-c.closer:
			return
		}
	}
}

func newCache(size int) *cache {
	c := &cache{map[int]*request{}, time.NewTicker(time.Hour).C, make(chan struct{})}
	for i := 0; i < size; i++ {
		c.values[i] = &request{id: i}
	}
	go c.run()
	return c
}

var shared *cache

func cleaners() func() {
	shared = newCache(300)
	return func() {
		for i := 0; i < 150; i++ {
			newCache(40)
		}
		settle.Settle()
	}
}

// Timers that are never stopped keep what their functions have captured.

func (r *request) expire() { r.id = 0 }

var latest *time.Timer

func deadlines() func() {
	return func() {
		for i := 0; i < 6000; i++ {
			r := &request{id: i}
			latest = time.AfterFunc(time.Hour, func() { r.expire() })
		}
	}
}

// Objects with finalizers that lead back to themselves are never freed.

type queue struct {
	items [30]*request
	of    *device
}

type device struct{ inbound *queue }

func (q *queue) flush() {}

func finalized() func() {
	return func() {
		for i := 0; i < 3000; i++ {
			q := &queue{of: &device{}}
			q.of.inbound, q.items[0] = q, &request{id: i}
			runtime.SetFinalizer(q, (*queue).flush)
		}
	}
}
