// Goroutines that wait in many ways, in functions that are inlined or not. Writes what the runtime says of their stacks (the profile
// goroutine, debug=2), and then a heap dump: both are of the same goroutines, at the same lines. Prints the labels that it has set.
package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"reflect"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"sort"
	"strings"
	"sync"
	"time"
)

type job struct{ buf [100]byte }

// ---- worker pools

type pool struct {
	jobs    chan *job
	results chan *job
}

func (p *pool) take() *job { return <-p.jobs } // inlined

func (p *pool) work() {
	for {
		j := p.take()
		p.put(j)
	}
}

//go:noinline
func (p *pool) put(j *job) {
	p.results <- j
}

func pools() {
	p := &pool{make(chan *job, 5), make(chan *job)}
	for i := 0; i < 4; i++ {
		go p.work()
	}
	p.jobs <- &job{}
	p.jobs <- &job{}
}

// ---- three lines of one function

func worker(kind int, results chan *job, wg *sync.WaitGroup) {
	j := &job{}
	step(kind, results, j)
	wg.Done()
}

//go:noinline
func step(kind int, results chan *job, j *job) {
	switch kind {
	case 0:
		results <- j
	case 1:
		var mu sync.Mutex
		mu.Lock()

		mu.Lock()
	case 2:
		select {
		case results <- j:

		case <-make(chan int):
		}
	}
}

func threeLines() {
	var wg sync.WaitGroup
	for i := 0; i < 9; i++ {
		wg.Add(1)
		go worker(i%3, make(chan *job), &wg)
	}
	go wg.Wait()
}

// ---- pipelines

func stage(in <-chan int) <-chan int {
	out := make(chan int)
	go func() {
		defer close(out)
		for v := range in {
			out <- v + 1
		}
	}()
	return out
}

func pipelines() {
	in := make(chan int)
	out := stage(stage(stage(in)))
	go func() {
		for i := 0; ; i++ {
			in <- i
		}
	}()
	<-out
}

// ---- groups as of package errgroup

type group struct {
	wg  sync.WaitGroup
	sem chan struct{}
}

func (g *group) Go(f func() error) {
	if g.sem != nil {
		g.sem <- struct{}{}
	}
	g.wg.Add(1)
	go func() {
		defer g.done()
		if err := f(); err != nil {
			panic(err)
		}
	}()
}

func (g *group) done() {
	if g.sem != nil {
		<-g.sem
	}
	g.wg.Done()
}

func groups() {
	never := make(chan error)
	g := &group{sem: make(chan struct{}, 3)}
	go func() {
		for i := 0; i < 5; i++ {
			g.Go(func() error { return <-never })
		}
		g.wg.Wait()
	}()
}

// ---- select with default, and a ticker

func polls(stop chan bool) {
	for {
		select {
		case <-stop:
			return
		default:
		}
		time.Sleep(time.Hour)
	}
}

func ticks() {
	t := time.NewTicker(time.Hour)
	for range t.C {
	}
}

func timers() {
	go polls(make(chan bool))
	go ticks()
	go func() {
		select {
		case <-time.After(time.Hour):
		}
	}()
}

// ---- sync.Cond, RWMutex, WaitGroup, Once

type queue struct {
	mu   sync.Mutex
	cond *sync.Cond
	rw   sync.RWMutex
	once sync.Once
	list []int
}

func (q *queue) take() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.list) == 0 {
		q.cond.Wait()
	}
	return q.list[0]
}

func (q *queue) read() int {
	q.rw.RLock()
	defer q.rw.RUnlock()
	return len(q.list)
}

func (q *queue) write() {
	q.rw.Lock()
	defer q.rw.Unlock()
	q.list = append(q.list, 1)
}

func locks() {
	q := &queue{}
	q.cond = sync.NewCond(&q.mu)
	q.rw.Lock()
	go q.take()
	go q.take()
	go q.read()
	go q.write()
	for i := 0; i < 2; i++ {
		go q.once.Do(func() { select {} })
	}
}

// ---- HTTP: a server, a client that waits, and one that has not closed a body

type handler struct{ stop chan bool }

func (h handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.WriteHeader(200)
	io.WriteString(w, strings.Repeat("x", 100000))
	w.(http.Flusher).Flush()
	if r.URL.Path == "/wait" {
		<-h.stop
	}
}

func web() {
	server := httptest.NewServer(handler{make(chan bool)})
	for _, path := range []string{"/", "/wait"} {
		go func(url string) {
			response, err := http.Get(url)
			if err != nil {
				panic(err)
			}
			io.ReadAll(response.Body)
			select {}
		}(server.URL + path)
	}
	connection, err := net.Dial("tcp", server.Listener.Addr().String())
	if err != nil {
		panic(err)
	}
	go bufio.NewReader(connection).ReadString('\n')
}

// ---- generics, methods of interfaces, closures, recursion, deferred calls

type list[T any] struct{ c chan T }

func (l *list[T]) next() T { return <-l.c }

func each[K comparable, V any](m map[K]V, f func(K, V)) {
	for k, v := range m {
		f(k, v)
	}
}

type waiter interface{ wait() }
type embedded struct{ waiter }
type channel chan int

func (c channel) wait() { <-c }

func descend(depth int, c chan int) int {
	if depth == 0 {
		return <-c
	}
	return descend(depth-1, c) + 1
}

func deferred() {
	defer func() { <-make(chan int) }()
	panics()
}

//go:noinline
func panics() { panic("recovered by nobody, but the deferred function never returns") }

func generics() {
	go (&list[string]{make(chan string)}).next()
	go (&list[[3]int]{make(chan [3]int)}).next()
	go each(map[string]int{"a": 1}, func(string, int) { <-make(chan int) })
	go embedded{channel(make(chan int))}.wait()
	var w waiter = &embedded{channel(make(chan int))}
	go w.wait()
	for depth := range []int{0, 1, 2, 7} {
		go descend(depth, make(chan int))
	}
	go deferred()
}

// ---- timers: a function that a timer runs, a deadline, a timer that is reset

func onTimer(c chan int) { <-c }

func deadlines() {
	time.AfterFunc(time.Millisecond, func() { onTimer(make(chan int)) })
	ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
	_ = cancel
	go wait(ctx)
	go func() {
		t := time.NewTimer(time.Hour)
		defer t.Stop()
		for t.Reset(time.Hour) {
			<-t.C
		}
	}()
}

// ---- package sync: a pool's New, a map's Range, a Locker of an RWMutex

func syncs() {
	pool := &sync.Pool{New: func() any { return <-make(chan int) }}
	go pool.Get()
	var m sync.Map
	m.Store(1, make(chan int))
	go m.Range(func(_, c any) bool { <-c.(chan int); return true })
	var rw sync.RWMutex
	rw.Lock()
	go func(l sync.Locker) { l.Lock() }(rw.RLocker())
}

// ---- functions that other code calls: sorting, reflection, method values, a finalizer, a deferred closure in a loop, goexit

type worker1 struct{ c chan int }

func (w *worker1) run()              { <-w.c }
func (w worker1) less(i, j int) bool { return <-w.c == i }

func called() {
	w := &worker1{make(chan int)}
	go sort.Slice([]int{3, 1, 2}, w.less)
	go reflect.ValueOf(w).MethodByName("Run").Call(nil)
	go reflect.ValueOf(w.run).Call(nil)
	go reflect.Select([]reflect.SelectCase{{Dir: reflect.SelectRecv, Chan: reflect.ValueOf(w.c)}})
	go (*worker1).run(w)
	f := w.run
	go f()
	go func() {
		for i := 0; i < 3; i++ {
			defer func(i int) { <-w.c }(i)
		}
	}()
	go func() {
		defer func() { <-w.c }()
		runtime.Goexit()
	}()
	go func() {
		defer func() {
			recover()
			<-w.c
		}()
		var m map[string]int
		m["nil"] = 1
	}()
	go func() {
		var p *worker1
		defer func() { <-w.c }()
		fmt.Fprint(io.Discard, p.c)
	}()
	type finalized struct{ c chan int }
	runtime.SetFinalizer(&finalized{make(chan int)}, func(f *finalized) { <-f.c })
	runtime.GC()
}

func (w *worker1) Run() { w.run() }

// ---- labels

func labelled() {
	for i := 0; i < 6; i++ {
		tenant := []string{"acme", "globex"}[i%2]
		fmt.Println("label", "tenant", tenant)
		go pprof.Do(context.Background(), pprof.Labels("tenant", tenant), func(ctx context.Context) {
			c, cancel := context.WithCancel(ctx)
			defer cancel()
			wait(c)
		})
	}
}

func wait(ctx context.Context) { <-ctx.Done() }

// ---- who has started the starter

func spawn(f func()) { go f() }

//go:noinline
func fromAPI() { spawn(func() { select {} }) }

//go:noinline
func fromCron() { spawn(func() { select {} }) }

func starters() {
	fromAPI()
	fromCron()
	go func() {
		fromCron()
		select {}
	}()
}

var more []func()

func main() {
	for _, f := range append(more, pools, threeLines, pipelines, groups, timers, locks, web, generics, deadlines, syncs, called, labelled, starters) {
		f()
	}
	for before := ""; ; { // until nothing changes any more
		text := make([]byte, 1<<20)
		now := string(text[:runtime.Stack(text, true)])
		if now == before {
			break
		}
		before = now
		time.Sleep(100 * time.Millisecond)
	}
	stacks, err := os.Create(os.Args[1])
	if err != nil {
		panic(err)
	}
	dump, err := os.Create(os.Args[2])
	if err != nil {
		panic(err)
	}
	pprof.Lookup("goroutine").WriteTo(stacks, 2)
	debug.WriteHeapDump(dump.Fd())
	stacks.Close()
	dump.Close()
	fmt.Println("ready")
	os.Stdin.Read(make([]byte, 1))
}
