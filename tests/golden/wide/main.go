// Waits with a heap in which the tests of the report find something: goroutines with labels, behind locks and at well-known places of
// the standard library, contexts and tickers that nothing can end, views that keep large arrays, a key that holds most of a map, queues
// with stale entries, and containers of the standard library. Beside each is a healthy one. What is to be reported as a suspect holds
// some more than 5 % of the heap; there are two heaps, because one has no space for so many (the second with an argument). Prints READY,
// and ends with its input.
package main

import (
	"container/heap"
	"container/list"
	"container/ring"
	"context"
	"fmt"
	"io"
	"iter"
	"os"
	"runtime"
	"runtime/pprof"
	"strings"
	"sync"
	"time"
	"unique"
	"weak"
)

type record struct {
	name string
	next *record
	body [6]int64
}

type ranked []*record

func (r ranked) Len() int           { return len(r) }
func (r ranked) Less(i, j int) bool { return r[i].body[0] < r[j].body[0] }
func (r ranked) Swap(i, j int)      { r[i], r[j] = r[j], r[i] }
func (r *ranked) Push(x any)        { *r = append(*r, x.(*record)) }
func (r *ranked) Pop() any {
	old := *r
	last := old[len(old)-1]
	*r = old[:len(old)-1]
	return last
}

// parent is a context of a type that package context does not know, so that it starts a goroutine for each child.
type parent struct {
	context.Context
	done chan struct{}
}

func (p parent) Done() <-chan struct{} { return p.done }

type closer interface{ Close() error }
type file struct{ parts []string }

func (f *file) Close() error { f.parts = nil; return nil }

// shelf is an object that has one slice, of records without a name of their own.
type shelf struct {
	name string
	kept []*struct{ inner *record }
}

// session is an object with a map in which one key holds most.
type session struct {
	user   string
	values map[string]any
}

// recency is a cache as groupcache's lru has it: a list with what is found by a map.
type recency struct {
	most  int
	order list.List
	found map[string]*list.Element
}

// drawer is far from the variable that leads to it.
type drawer struct {
	inner *drawer
	kept  []*record
}

// tree is one object below another, on two sides.
type tree struct {
	left, right *tree
	value       *record
}

func (t *tree) insert(r *record) *tree {
	if t == nil {
		return &tree{value: r}
	}
	if r.body[0]%1009 < t.value.body[0]%1009 {
		t.left = t.left.insert(r)
	} else {
		t.right = t.right.insert(r)
	}
	return t
}

// event is one of a list that has no container.
type event struct {
	next *event
	what *record
}

type account struct {
	lock   sync.Mutex
	access sync.RWMutex
	wait   sync.WaitGroup
	ready  *sync.Cond
}

var (
	tenants  = map[string]map[string]*record{}
	titles   []string
	heads    [][]byte
	queue    []*record
	spare    []int64
	emptied  = map[int]*record{}
	best     ranked
	recent   = list.New()
	hours    = ring.New(24)
	byName   sync.Map
	pool     = sync.Pool{New: func() any { return new([512]byte) }}
	handles  []unique.Handle[string]
	notes    []string
	seen     []weak.Pointer[record]
	open     []closer
	ids      any = []any{int32(7), "seven", 7.5, [2]int{7, 7}}
	forever      = make(chan int)
	accounts [2]account
	iterator []func() (int, bool)
	shelves  = map[string]*shelf{"first": {name: "first"}}
	sessions []*session
	lru      = &recency{most: 2000, found: map[string]*list.Element{}}
	firsts   []*record
	work     = map[string][]*record{}
	app, _   = context.WithCancel(context.Background())
	archive  = map[string]*drawer{}
	sorted   *tree
	byID     = map[int]*record{}
	byTitle  = map[string]*record{}
	pages    []string
	events   *event
	waiting  = make(chan *record, 500)
	numbers  = map[string][]*record{}
	rings    = map[string]*ring.Ring{}
	orders   = map[string]*list.List{}
	boxes    []any
)

func newRecord(i int) *record {
	return &record{name: fmt.Sprint("record ", i), body: [6]int64{int64(i)}}
}

func fill() {
	for i := range 1300 { // one tenant has most
		tenant := fmt.Sprint("tenant", max(0, i-1180)/12)
		if tenants[tenant] == nil {
			tenants[tenant] = map[string]*record{}
		}
		tenants[tenant][fmt.Sprint("key", i)] = newRecord(i)
	}
	for i := range 12 {
		document := strings.Repeat(fmt.Sprint("line ", i, "; "), 2000)
		titles = append(titles, document[:12])
		heads = append(heads, make([]byte, 16<<10)[:64])
	}
	for i := range 400 {
		emptied[i] = nil
		heap.Push(&best, newRecord(i))
	}
	for i := range 1900 {
		queue = append(queue, newRecord(i))
		context.WithCancel(app)
	}
	for i := range 1400 {
		recent.PushBack(newRecord(i))
		lru.found[fmt.Sprint("page", i)] = lru.order.PushFront(newRecord(i))
	}
	for i := range 800 {
		byName.Store(fmt.Sprint("name", i), newRecord(i))
	}
	for i := range 1600 {
		shelves["first"].kept = append(shelves["first"].kept, &struct{ inner *record }{newRecord(i)})
	}
	for i := range 60 {
		values := map[string]any{"id": i, "theme": "dark", "history": make([]int64, 300), "page": newRecord(i)}
		sessions = append(sessions, &session{fmt.Sprint("user ", i), values})
	}
	for range 20 {
		firsts = append(firsts, &make([]record, 128)[3])
	}
	for i := range 20 {
		name := fmt.Sprint("worker ", i)
		for j := range 100 {
			work[name] = append(work[name], newRecord(j))
		}
		work[name] = work[name][90:92] // what was done stays in the array
	}
	queue = queue[1800:1820]
	clear(emptied)
	spare = make([]int64, 3, 3000)
	for range 200 {
		notes = append(notes, strings.Clone("the same note, of which each record has a copy of its own"))
	}
	for i := range 24 {
		hours.Value = newRecord(i)
		hours = hours.Next()
		handles = append(handles, unique.Make(fmt.Sprint("unique ", i)))
		seen = append(seen, weak.Make(newRecord(i)))
		open = append(open, &file{strings.Fields("some parts of a file")})
		kept := &record{name: "finalized"}
		runtime.SetFinalizer(kept, func(*record) {})
		cleaned := &record{name: "cleaned", next: kept}
		runtime.AddCleanup(cleaned, func(n int) { forever <- n }, i)
		best[i].next = cleaned
	}
	pool.Put(new([512]byte))
}

func fillMore() {
	kept := &drawer{}
	archive["what was kept of the year before the last one, as nobody looked at it"] = &drawer{inner: &drawer{inner: kept}}
	for i := range 900 {
		kept.kept = append(kept.kept, newRecord(i))
		sorted = sorted.insert(newRecord(i * 7919))
		shared := newRecord(i)
		byID[i] = shared
		byTitle[fmt.Sprint("title ", i)] = shared
		events = &event{events, newRecord(i)}
		boxes = append(boxes, newRecord(i))
	}
	for i := range 500 {
		waiting <- newRecord(i)
		pages = append(pages, strings.Repeat("page ", 1+i%5/4*200))
	}
	for i := range 30 {
		name := fmt.Sprint("list ", i)
		orders[name], rings[name] = list.New(), ring.New(20)
		for j := range 30 {
			orders[name].PushBack(newRecord(j))
			numbers[name] = append(numbers[name], newRecord(j))
			rings[name].Value, rings[name] = newRecord(j), rings[name].Next()
		}
	}
}

//go:noinline
func labelled(tenant string, i int) {
	labels := pprof.Labels("tenant", tenant, "task", fmt.Sprint("task", i%2))
	pprof.Do(context.Background(), labels, func(context.Context) { receive(newRecord(i)) })
}

//go:noinline
func receive(r *record) int { return <-forever + len(r.name) }

//go:noinline
func tick(r *record, page []byte) {
	for range time.NewTicker(time.Hour).C {
		r.body[0] += int64(len(page) + int(page[0]))
	}
}

//go:noinline
func keep() int {
	kept := map[string]*record{}
	for i := range 1150 {
		kept[fmt.Sprint("kept ", i)] = newRecord(i)
	}
	n := <-forever
	return n + len(kept)
}

//go:noinline
func locked(a *account) {
	a.lock.Lock()
	defer a.lock.Unlock()
	<-forever
}

//go:noinline
func twice(lock *sync.Mutex) {
	lock.Lock()
	lock.Lock()
}

func counted(most int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for i := range most {
			if !yield(i) {
				return
			}
		}
	}
}

func leak() {
	for i := range 12 { // a pattern begins at ten
		go tick(newRecord(i), make([]byte, 14<<10))
	}
	for i := range 8 {
		go labelled([]string{"red", "green"}[i%2], i)
		never := make(chan *record)
		go func() { never <- newRecord(i) }()
		go twice(new(sync.Mutex))
		time.NewTicker(time.Hour)
		time.AfterFunc(time.Hour, func() { queue = append(queue, newRecord(i)) })
		ctx, cancel := context.WithCancel(context.WithValue(context.Background(), "page", make([]byte, 20<<10)))
		_ = cancel
		go func() { <-ctx.Done() }()
		below, _ := context.WithCancel(parent{ctx, make(chan struct{})})
		_ = below
		next, _ := iter.Pull(counted(100))
		next()
		iterator = append(iterator, next)
	}
	go locked(&accounts[0])
	go keep()
	for range 3 {
		go func() {
			accounts[0].lock.Lock()
			accounts[0].lock.Unlock()
		}()
		go func() {
			accounts[1].wait.Add(1)
			accounts[1].wait.Wait()
		}()
		go func() {
			accounts[1].access.RLock()
			accounts[1].access.Lock()
		}()
		ready := sync.NewCond(new(sync.Mutex))
		go func() {
			ready.L.Lock()
			ready.Wait()
		}()
		go func() { select {} }()
		go func() { var none chan int; <-none }()
	}
}

func main() {
	if len(os.Args) > 1 {
		fillMore()
	} else {
		fill()
		leak()
	}
	runtime.GC()
	time.Sleep(200 * time.Millisecond)
	runtime.GC()
	fmt.Println("READY")
	io.Copy(io.Discard, os.Stdin)
	runtime.KeepAlive(ids)
}
