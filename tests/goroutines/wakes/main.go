// Wakes has goroutines that may all run again, though only something odd reaches what they wait on: weak pointers, finalizers and
// cleanups, timers, signals, files, pools, coroutines, locks that share their memory with other values.
//
//	wakes [DUMP [gc]]
//
// It collects garbage if wanted, writes a dump if wanted, prints "goid N NAME" for each goroutine and "ready", waits for a byte of
// standard input, and lets all run but those that wait for hours: "woke NAME", and "all" in the end.
package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/signal"
	"reflect"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"
)

type box struct {
	pad [64]byte
	ch  chan int
	mu  sync.Mutex
	wg  sync.WaitGroup
	rw  sync.RWMutex
}

type way struct {
	name string
	wake func()
}

var (
	mutex sync.Mutex
	names = map[string]string{} // goid -> name
	woken sync.WaitGroup
	wakes []func()
	gate  = make(chan int) // closed when all may run
)

func goid() string {
	var b [64]byte
	n := runtime.Stack(b[:], false)
	var id string
	fmt.Sscanf(string(b[:n]), "goroutine %s", &id)
	return id
}

// start runs a goroutine that blocks in wait.
func start(name string, wait func()) {
	woken.Add(1)
	go run(name, wait, woken.Done)
}

// startLong runs one that blocks for hours.
func startLong(name string, wait func()) { go run(name, wait, func() {}) }

//go:noinline
func run(name string, wait, done func()) {
	id := goid()
	mutex.Lock()
	names[id] = name
	mutex.Unlock()
	wait()
	fmt.Println("woke", name)
	done()
}

func recv(c chan int) func()    { return func() { <-c } }
func lock(m *sync.Mutex) func() { return func() { m.Lock() } }
func later(f func())            { wakes = append(wakes, f) }

// ---- locks that share slots ----

type pair struct {
	n  uint64
	mu sync.Mutex
}
type narrow struct {
	n  uint32
	mu sync.Mutex
}
type behind struct {
	mu sync.Mutex
	n  uint32
}

var (
	pairs    []*pair
	narrows  []*narrow
	behinds  []*behind
	two      []sync.Mutex
	anys     []any
	byName   = map[string]*pair{}
	once     *sync.Once
	closures []func()
	anchors  []unsafe.Pointer
	arrays   []*[2]sync.Mutex
	cut      []sync.Mutex
	keys     = map[*pair]bool{}
	nested   []**pair
	pairChan = make(chan *pair, 4)
	aptr     atomic.Pointer[pair]
	aval     atomic.Value
)

//go:noinline
func slots() {
	p := &pair{}
	p.mu.Lock()
	pairs = append(pairs, p)
	start("pair", lock(&p.mu))
	later(func() { pairs[0].mu.Unlock() })
	n := &narrow{}
	n.mu.Lock()
	narrows = append(narrows, n)
	start("narrow", lock(&n.mu))
	later(func() { narrows[0].mu.Unlock() })
	b := &behind{}
	b.mu.Lock()
	behinds = append(behinds, b)
	start("behind", lock(&b.mu))
	later(func() { behinds[0].mu.Unlock() })
	two = make([]sync.Mutex, 2)
	two[1].Lock()
	start("two", lock(&two[1]))
	later(func() { two[1].Unlock() })
	p2 := &pair{}
	p2.mu.Lock()
	anys = append(anys, p2)
	start("any", lock(&p2.mu))
	later(func() { anys[0].(*pair).mu.Unlock() })
	p3 := &pair{}
	p3.mu.Lock()
	byName["a"] = p3
	start("map", lock(&p3.mu))
	later(func() { byName["a"].mu.Unlock() })
	p4 := &pair{}
	p4.mu.Lock()
	closures = append(closures, func() { p4.mu.Unlock() })
	start("closure", lock(&p4.mu))
	later(func() { closures[0]() })
	p5 := &pair{}
	p5.mu.Lock()
	anchors = append(anchors, unsafe.Pointer(p5))
	start("unsafe", lock(&p5.mu))
	later(func() { (*pair)(anchors[0]).mu.Unlock() })
	a := new([2]sync.Mutex)
	a[1].Lock()
	arrays = append(arrays, a)
	start("array", lock(&a[1]))
	later(func() { arrays[0][1].Unlock() })
	c := make([]sync.Mutex, 2)
	c[1].Lock()
	cut = c[:1]
	start("cut", lock(&c[1]))
	later(func() { cut[:2][1].Unlock() })
	p6 := &pair{}
	p6.mu.Lock()
	keys[p6] = true
	start("key", lock(&p6.mu))
	later(func() {
		for k := range keys {
			k.mu.Unlock()
		}
	})
	p7 := &pair{}
	p7.mu.Lock()
	nested = append(nested, &p7)
	start("nested", lock(&p7.mu))
	later(func() { (*nested[0]).mu.Unlock() })
	p8 := &pair{}
	p8.mu.Lock()
	pairChan <- p8
	start("buffer", lock(&p8.mu))
	later(func() { (<-pairChan).mu.Unlock() })
	p9 := &pair{}
	p9.mu.Lock()
	aptr.Store(p9)
	start("atomicpointer", lock(&p9.mu))
	later(func() { aptr.Load().mu.Unlock() })
	p10 := &pair{}
	p10.mu.Lock()
	aval.Store(p10)
	start("atomicvalue", lock(&p10.mu))
	later(func() { aval.Load().(*pair).mu.Unlock() })
	p11 := &pair{}
	p11.mu.Lock()
	start("method", lock(&p11.mu))
	closures = append(closures, p11.mu.Unlock)
	later(func() { closures[1]() })
	p12 := &pair{}
	p12.mu.Lock()
	start("local", lock(&p12.mu))
	go holdPair(p12)
	once = new(sync.Once)
	in := make(chan int)
	started := make(chan int)
	go once.Do(func() { close(started); <-gate; <-in })
	<-started
	start("once", func() { once.Do(func() {}) })
	later(func() { close(in) })
	p13 := &pair{}
	p13.mu.Lock()
	start("reflect", lock(&p13.mu))
	value := reflect.ValueOf(p13).Elem()
	values = append(values, value)
	later(func() { values[0].Addr().Interface().(*pair).mu.Unlock() })
	wg := &sync.WaitGroup{}
	wg.Add(1)
	groups = append(groups, wg)
	start("group", wg.Wait)
	later(func() { groups[0].Done() })
	l := sync.Locker(&pair{}.mu2().mu)
	l.Lock()
	lockers = append(lockers, l)
	start("locker", l.Lock)
	later(func() { lockers[0].Unlock() })
}

func (p pair) mu2() *pair { return &p }

var values []reflect.Value
var groups []*sync.WaitGroup
var lockers []sync.Locker

//go:noinline
func holdPair(p *pair) { time.Sleep(time.Millisecond); <-gate; p.mu.Unlock() }

// ---- what is not a variable ----

type finalized struct {
	b *box
	c chan int
}

var pool sync.Pool
var signals = make(chan os.Signal, 1)

//go:noinline
func records() {
	c := make(chan int)
	f := &finalized{b: &box{ch: c}}
	runtime.SetFinalizer(f, func(f *finalized) { close(f.b.ch) })
	start("finalizer", recv(c))
	// queued behind one that blocks
	c1 := make(chan int)
	first := make(chan int)
	a := &finalized{c: first}
	runtime.SetFinalizer(a, func(f *finalized) { <-gate; close(f.c) })
	start("blockedfinalizer", recv(first))
	b := &finalized{c: c1}
	runtime.SetFinalizer(b, func(f *finalized) { close(f.c) })
	start("queuedfinalizer", recv(c1))
	c2 := make(chan int)
	for i := 0; i < 3; i++ {
		pool.Put(c2) // the first one is its processor's own
	}
	start("pool", recv(c2))
	later(func() { close(pool.Get().(chan int)) })
	s := make(chan os.Signal, 1)
	signal.Notify(s, syscall.SIGUSR1)
	start("signal", func() { <-s })
	later(func() { syscall.Kill(os.Getpid(), syscall.SIGUSR1) })
	ctx, _ := signal.NotifyContext(context.Background(), syscall.SIGUSR2)
	start("notifycontext", func() { <-ctx.Done() })
	later(func() { syscall.Kill(os.Getpid(), syscall.SIGUSR2) })
}

// ---- timers ----

var timers []*time.Timer

//go:noinline
func times() {
	const delay = time.Hour
	c := make(chan int)
	time.AfterFunc(delay, func() { close(c) })
	startLong("afterfunc", recv(c))
	ctx, cancel := context.WithTimeout(context.Background(), delay)
	_ = cancel
	startLong("timeout", func() { <-ctx.Done() })
	child, cancelChild := context.WithCancel(ctx)
	_ = cancelChild
	startLong("childtimeout", func() { <-child.Done() })
	c1 := make(chan int)
	context.AfterFunc(child, func() { close(c1) })
	startLong("contextafterfunc", recv(c1))
	startLong("after", func() { <-time.After(delay) })
	t := time.NewTicker(delay)
	startLong("ticker", func() { <-t.C })
	u := time.NewTimer(time.Hour)
	u.Stop()
	timers = append(timers, u)
	start("stopped", func() { <-u.C })
	later(func() { timers[0].Reset(time.Millisecond) })
	startLong("selecttimer", func() {
		select {
		case <-make(chan int):
		case <-time.After(delay):
		}
	})
	c2 := make(chan int)
	startLong("sleeper", recv(c2))
	go func() { time.Sleep(delay); close(c2) }()
	c3 := make(chan int)
	startLong("deferrer", recv(c3))
	go func() { defer close(c3); time.Sleep(delay) }()
	c4 := make(chan int)
	startLong("panicker", recv(c4))
	go func() {
		defer func() { close(recover().(chan int)) }()
		defer time.Sleep(delay)
		panic(c4)
	}()
	c5 := make(chan int)
	startLong("goexit", recv(c5))
	go func() {
		defer close(c5)
		defer time.Sleep(delay)
		runtime.Goexit()
	}()
	c6 := make(chan int)
	startLong("locked", recv(c6))
	go func() { runtime.LockOSThread(); time.Sleep(delay); close(c6) }()
	c7 := make(chan *box)
	b := &box{ch: make(chan int)}
	startLong("sender", func() { c7 <- b })
	startLong("sent", recv(b.ch))
	go func() { time.Sleep(delay); close((<-c7).ch) }()
}

// ---- files ----

//go:noinline
func files() {
	r, w, _ := os.Pipe()
	c := make(chan int)
	go func() { var d [1]byte; r.Read(d[:]); close(c) }()
	start("pipe", recv(c))
	later(func() { w.Write([]byte{1}) })
	var fds [2]int
	syscall.Pipe(fds[:])
	c1 := make(chan int)
	go func() { var d [1]byte; syscall.Read(fds[0], d[:]); close(c1) }()
	start("syscall", recv(c1))
	later(func() { syscall.Write(fds[1], []byte{1}) })
	l, _ := net.Listen("tcp", "127.0.0.1:0")
	c2 := make(chan int)
	go func() { l.Accept(); close(c2) }()
	start("accept", recv(c2))
	later(func() { net.Dial("tcp", l.Addr().String()) })
	a, b := net.Pipe()
	start("netpipe", func() { var d [1]byte; a.Read(d[:]) })
	pipes = append(pipes, b)
	later(func() { pipes[0].Write([]byte{1}) })
}

var pipes []net.Conn

// ---- reachable by odd pointers ----

var (
	interior []*sync.RWMutex
	chanChan = make(chan chan int, 1)
	chanMap  = map[chan int]int{}
	ifaces   []any
	rest     []chan int
	arr      [3]struct{ c chan int }
	pinner   runtime.Pinner
	linked   sync.Map
	conds    []*sync.Cond
	dirs     []reflect.Value
	sending  = make(chan chan int)
	unsafes  []unsafe.Pointer
)

//go:noinline
func odd() {
	b := &box{ch: make(chan int)}
	b.mu.Lock()
	interior = append(interior, &b.rw)
	start("interior", lock(&b.mu))
	later(func() { (*box)(unsafe.Add(unsafe.Pointer(interior[0]), -int(unsafe.Offsetof(box{}.rw)))).mu.Unlock() })
	c := make(chan int)
	chanChan <- c
	start("chanchan", recv(c))
	later(func() { close(<-chanChan) })
	c1 := make(chan int)
	chanMap[c1] = 1
	start("chanmap", recv(c1))
	later(func() {
		for c := range chanMap {
			close(c)
		}
	})
	c2 := make(chan int)
	ifaces = append(ifaces, struct{ c chan int }{c2})
	start("iface", recv(c2))
	later(func() { close(ifaces[0].(struct{ c chan int }).c) })
	list := []chan int{make(chan int), make(chan int)}
	rest = list[:1]
	start("rest", recv(list[1]))
	later(func() { close(rest[:2][1]) })
	arr[2].c = make(chan int)
	start("global", recv(arr[2].c))
	later(func() { close(arr[2].c) })
	m := &box{ch: make(chan int)}
	linked.Store("x", m)
	start("syncmap", recv(m.ch))
	later(func() { v, _ := linked.Load("x"); close(v.(*box).ch) })
	cond := sync.NewCond(&sync.Mutex{})
	conds = append(conds, cond)
	start("cond", func() { cond.L.Lock(); cond.Wait(); cond.L.Unlock() })
	later(func() { conds[0].Signal() })
	rc := make(chan int)
	dirs = append(dirs, reflect.ValueOf(rc))
	start("reflectselect", func() {
		reflect.Select([]reflect.SelectCase{{Dir: reflect.SelectRecv, Chan: reflect.ValueOf(rc)}})
	})
	later(func() { dirs[0].Close() })
	c3 := make(chan int)
	start("sending", recv(c3))
	start("sends", func() { sending <- c3 })
	later(func() { close(<-sending) })
	c4 := make(chan int)
	unsafes = append(unsafes, *(*unsafe.Pointer)(unsafe.Pointer(&c4)))
	start("unsafechan", recv(c4))
	later(func() { p := unsafes[0]; close(*(*chan int)(unsafe.Pointer(&p))) })
	// pinned by the goroutine that waits, and known only to memory that the collector does not see
	start("pinned", pinnedWait)
	later(func() { p := uintptr(hidden); close((*(**box)(unsafe.Pointer(&p))).ch) })
	rw := &sync.RWMutex{}
	rw.RLock()
	rws = append(rws, rw)
	start("rwmutex", func() { rw.Lock(); rw.Unlock() })
	start("rwreader", rw.RLock)
	later(func() { rws[0].RUnlock() })
	start("busy", recv(busyChan()))
	c5 := make(chan int)
	start("group2", recv(c5))
	g := &sync.WaitGroup{}
	g.Add(1)
	go func() { g.Wait(); close(c5) }()
	gs = append(gs, func() { g.Done() })
	later(func() { gs[0]() })
}

var rws []*sync.RWMutex
var gs []func()
var hidden uint64

func pinnedWait() {
	var p runtime.Pinner
	b := &box{ch: make(chan int)}
	p.Pin(b)
	defer p.Unpin()
	atomic.StoreUint64(&hidden, uint64(uintptr(unsafe.Pointer(b))))
	c := b.ch
	runtime.KeepAlive(b)
	<-c
}

var isGo atomic.Bool

//go:noinline
func busyChan() chan int {
	c := make(chan int)
	go okBusy(c)
	return c
}

func okBusy(c chan int) {
	for i := 0; !isGo.Load(); i++ {
		if i%64 == 0 {
			time.Sleep(time.Millisecond)
		}
	}
	close(c)
}

func dump(path string) {
	f, err := os.Create(path)
	if err != nil {
		panic(err)
	}
	debug.WriteHeapDump(f.Fd())
	f.Close()
}

func main() {
	debug.SetGCPercent(-1)
	slots()
	records()
	odd()
	newer()
	files()
	times()
	settle()
	if len(os.Args) > 2 && os.Args[2] == "gc" {
		runtime.GC() // a pool keeps what it has for one collection
		settle()
	}
	if len(os.Args) > 1 && os.Args[1] != "" {
		dump(os.Args[1])
	}
	for id, name := range names {
		fmt.Println("goid", id, name)
	}
	fmt.Println("ready")
	os.Stdin.Read(make([]byte, 1))
	isGo.Store(true)
	close(gate)
	for _, f := range wakes {
		f()
	}
	done := make(chan int)
	go func() { woken.Wait(); close(done) }()
	for tries := 0; tries < 600; tries++ {
		runtime.GC()
		select {
		case <-done:
			fmt.Println("all")
			os.Exit(0)
		case <-time.After(100 * time.Millisecond):
		}
	}
	fmt.Fprintln(os.Stderr, stacks())
	os.Exit(1)
}
