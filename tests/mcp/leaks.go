// A server that leaks in one of many ways: leaks KIND DIRECTORY. It serves some requests and writes the heap to first.dump, serves
// ten times as many, and writes it to second.dump. Each kind has a healthy twin of the same types, which does not grow.
package main

import (
	"container/list"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"sync"
	"time"
)

type session struct {
	user string
	data [12]uint64
	next *session
}

type request struct {
	id      int
	payload []byte
	done    chan int
}

type branch struct {
	left, right *branch
	key         int
	value       [8]uint64
}

type server struct {
	cache   map[string]*session
	healthy map[string]*session
	hooks   []func()
}

var (
	byUser, few    = map[string]*session{}, map[string]*session{}
	history, short []*session
	shared, calm   sync.Map
	recent, tidy   = list.New(), list.New()
	queue, idle    = make(chan *request, 1<<20), make(chan *request, 16)
	chain, single  *session
	index, small   *branch
	tenants        = map[int]map[string]*session{}
	prefixes       []string
	windows        [][]byte
	app            = &server{cache: map[string]*session{}, healthy: map[string]*session{}}
	root           = context.Background()
	timers         []*time.Timer
	boxes          []any
	release        = make(chan int)
	locked         sync.Mutex
	served         int
)

func newSession(i int) *session { return &session{user: fmt.Sprint("user", i)} }
func newRequest(i int) *request {
	return &request{id: i, payload: make([]byte, 200), done: make(chan int)}
}

//go:noinline
func (s *session) use() { served += len(s.user) }

//go:noinline
func answer(r *request) { r.done <- len(r.payload) } // nobody receives

//go:noinline
func await(r *request) { served += <-r.done + len(r.payload) } // nobody sends

//go:noinline
func hold(r *request) {
	locked.Lock() // never unlocked
	served += len(r.payload)
	runtime.KeepAlive(r)
}

//go:noinline
func looping(from, n int, started, done chan int) {
	for i := from; i < from+n; i++ {
		s := newSession(i)
		defer s.use()
	}
	started <- n
	<-done
}

func insert(b **branch, key int) {
	for *b != nil {
		if key < (*b).key {
			b = &(*b).left
		} else {
			b = &(*b).right
		}
	}
	*b = &branch{key: key}
}

type userKey int

var kinds = map[string]func(from, n int){
	"map":     each(func(i int) { byUser[fmt.Sprint(i)] = newSession(i) }),
	"slice":   each(func(i int) { history = append(history, newSession(i)) }),
	"syncmap": each(func(i int) { shared.Store(i, newSession(i)) }),
	"list":    each(func(i int) { recent.PushBack(newSession(i)) }),
	"channel": each(func(i int) { queue <- newRequest(i) }),
	"chain":   each(func(i int) { s := newSession(i); s.next = chain; chain = s }),
	"tree":    each(func(i int) { insert(&index, i*7919%1000003) }),
	"nested": each(func(i int) {
		if tenants[i%4] == nil {
			tenants[i%4] = map[string]*session{}
		}
		tenants[i%4][fmt.Sprint(i)] = newSession(i)
	}),
	"substrings": each(func(i int) { prefixes = append(prefixes, fmt.Sprintf("%400d", i)[390:]) }),
	"windows":    each(func(i int) { windows = append(windows, make([]byte, 500)[:4]) }),
	"field":      each(func(i int) { app.cache[fmt.Sprint(i)] = newSession(i) }),
	"closures":   each(func(i int) { s := newSession(i); app.hooks = append(app.hooks, func() { s.use() }) }),
	"context":    each(func(i int) { root = context.WithValue(root, userKey(i), newSession(i)) }),
	"timers": each(func(i int) {
		s := newSession(i)
		timers = append(timers[:0], time.AfterFunc(time.Hour, func() { s.use() }))
	}),
	"interfaces": each(func(i int) { boxes = append(boxes, newSession(i)) }),
	"senders":    each(func(i int) { go answer(newRequest(i)) }),
	"receivers":  each(func(i int) { go await(newRequest(i)) }),
	"defers": func(from, n int) {
		started := make(chan int)
		go looping(from, n, started, release)
		<-started
	},
	"lock": each(func(i int) { go hold(newRequest(i)) }),
}

func each(do func(i int)) func(from, n int) {
	return func(from, n int) {
		for i := from; i < from+n; i++ {
			do(i)
		}
	}
}

func dump(path string) {
	for i := 0; i < 3; i++ {
		runtime.GC()
		runtime.Gosched()
	}
	time.Sleep(20 * time.Millisecond) // goroutines reach where they wait; if one does not, it is only in another state
	file, err := os.Create(path)
	if err != nil {
		panic(err)
	}
	debug.WriteHeapDump(file.Fd())
	file.Close()
}

func main() {
	locked.Lock()
	for i := 0; i < 20; i++ {
		few[fmt.Sprint(i)], app.healthy[fmt.Sprint(i)] = newSession(i), newSession(i)
		short = append(short, newSession(i))
		calm.Store(i, newSession(i))
		tidy.PushBack(newSession(i))
		insert(&small, i)
		single = newSession(i)
		if len(idle) < cap(idle) {
			idle <- newRequest(i)
		}
	}
	serve := kinds[os.Args[1]]
	serve(0, 200)
	dump(filepath.Join(os.Args[2], "first.dump"))
	serve(200, 2000)
	dump(filepath.Join(os.Args[2], "second.dump"))
	close(release)
	runtime.KeepAlive([]any{byUser, few, history, short, recent, tidy, queue, idle, chain, single, index, small, tenants, prefixes, windows, app, root, timers, boxes})
}
