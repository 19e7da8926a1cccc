// Waits has goroutines that can never run again, whose functions begin with leak, and others beside them that look alike, whose
// functions begin with ok. Its argument is ignored; prove.go says what it prints.
package main

import (
	"context"
	"net"
	"os"
	"os/signal"
	"runtime"
	"runtime/pprof"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

type item struct{ bytes [1000]byte }

// A lock that shares no tiny block with anything else.
type guarded struct {
	sync.Mutex
	readers sync.RWMutex
	group   sync.WaitGroup
	ready   *sync.Cond
	item    *item
}

func newGuarded() *guarded {
	g := &guarded{item: new(item)}
	g.ready = sync.NewCond(&g.Mutex)
	return g
}

// ---- goroutines that can never run again ----

func leakSend(c chan *item)           { c <- new(item) }
func leakReceive(c chan *item)        { <-c }
func leakNil(c chan *item)            { <-c }
func leakNilSend(c chan *item)        { c <- nil }
func leakNoCase()                     { select {} }
func leakContext(ctx context.Context) { <-ctx.Done() }
func leakFirst(a, b chan *item)       { <-a; b <- nil }
func leakSecond(a, b chan *item)      { <-b; a <- nil }
func leakLock(g *guarded)             { g.Lock() }
func leakReadLock(g *guarded)         { g.readers.RLock() }
func leakWriteLock(g *guarded)        { g.readers.Lock() }
func leakGroup(g *guarded)            { g.group.Wait() }
func leakSmallLock(m *sync.Mutex)     { m.Lock() }
func leakCondition(g *guarded)        { g.Lock(); g.ready.Wait() }
func leakWorker(jobs chan *item) {
	for range jobs {
	}
}
func leakBehind(head, tail chan *item) { <-head; tail <- nil }
func leakTail(tail chan *item)         { <-tail }
func leakSelect(a chan *item, b chan bool) {
	select {
	case <-a:
	case b <- true:
	}
}

// What a leaked goroutine has deferred never runs.
func leakDeferring(c, other chan *item) {
	for i := 0; i < 3; i++ {
		defer func() { close(other) }()
	}
	<-c
}
func leakDeferred(other chan *item) { <-other }

//go:noinline
func startLeaks() {
	ctx, cancel := context.WithCancel(context.Background())
	_ = cancel
	a, b := make(chan *item), make(chan *item)
	locked, read, written, group, condition := newGuarded(), newGuarded(), newGuarded(), newGuarded(), newGuarded()
	locked.Lock()
	read.readers.Lock()
	written.readers.RLock()
	group.group.Add(2)
	jobs := make(chan *item)
	head, tail, other := make(chan *item), make(chan *item), make(chan *item)
	go leakSend(make(chan *item))
	go leakReceive(make(chan *item))
	go leakReceive(make(chan *item, 10))
	go leakNil(nil)
	go leakNilSend(nil)
	go leakNoCase()
	go leakContext(ctx)
	go leakFirst(a, b)
	go leakSecond(a, b)
	go leakLock(locked)
	go leakLock(locked)
	go leakReadLock(read)
	go leakWriteLock(written)
	go leakGroup(group)
	go leakGroup(group)
	go leakCondition(condition)
	go leakCondition(condition)
	for i := 0; i < 3; i++ {
		go leakWorker(jobs)
	}
	go leakBehind(head, tail)
	go leakTail(tail)
	go leakSelect(make(chan *item), make(chan bool))
	go leakDeferring(make(chan *item), other)
	go leakDeferred(other)
	for i := 0; i < 4; i++ {
		neighbours = append(neighbours, make([]byte, 7, 8))
		m := new(sync.Mutex)
		m.Lock()
		go leakSmallLock(m)
	}
}

// Values beside locks of 8 bytes, before and behind them in the same 16 bytes.
var neighbours [][]byte

// ---- goroutines that may run again ----

var (
	global          = make(chan *item)
	registry        = map[string]chan *item{}
	lock            sync.Mutex
	group           sync.WaitGroup
	guard           = newGuarded()
	isBusy, hasDone atomic.Bool
)

func okReceive(c chan *item)            { <-c }
func okSend(c chan *item)               { c <- new(item) }
func okAfter()                          { <-time.After(time.Hour) }
func okTicker()                         { <-time.NewTicker(time.Hour).C }
func okSleeper(c chan *item)            { time.Sleep(time.Hour); c <- nil }
func okHead(c chan *item)               { <-global; c <- nil }
func okDeferring(c chan *item)          { defer close(c); <-global }
func okLock()                           { lock.Lock() }
func okGroup()                          { group.Wait() }
func okCondition(g *guarded)            { g.Lock(); g.ready.Wait() }
func okLockOf(g *guarded)               { g.Lock() }
func okHolder(g *guarded)               { time.Sleep(time.Hour); g.Unlock() }
func okNetwork(c chan *item)            { l, _ := net.Listen("tcp", "127.0.0.1:0"); l.Accept(); c <- nil }
func okSignal(c chan os.Signal)         { <-c }
func okDeadline(ctx context.Context)    { <-ctx.Done() }
func okSystemCall(c chan *item, fd int) { syscall.Read(fd, make([]byte, 1)); c <- nil }
func okSelect(a, b chan *item) {
	select {
	case <-a:
	case <-b:
	}
}

// It has c in a register only, and is preempted anywhere.
func okBusy(c chan *item) {
	isBusy.Store(true)
	n := 0
	for !hasDone.Load() {
		n++
	}
	c <- nil
}

// What has a finalizer is held by a goroutine that is leaked; but the collector cannot know that the finalizer never runs.
type finalized struct{ c chan *item }

func leakHolder(f *finalized, c chan *item) { <-c; runtime.KeepAlive(f) }

//go:noinline
func startOthers() {
	lock.Lock()
	group.Add(1)
	go okReceive(global)
	registry["one"] = make(chan *item)
	go okSend(registry["one"])
	timed := make(chan *item)
	time.AfterFunc(time.Hour, func() { close(timed) })
	go okReceive(timed)
	go okAfter()
	go okTicker()
	slept := make(chan *item)
	go okSleeper(slept)
	go okReceive(slept)
	chained, deferred := make(chan *item), make(chan *item)
	go okHead(chained)
	go okReceive(chained)
	go okDeferring(deferred)
	go okReceive(deferred)
	go okLock()
	go okGroup()
	go okCondition(guard)
	held := newGuarded()
	held.Lock()
	go okLockOf(held)
	go okHolder(held)
	accepted := make(chan *item)
	go okNetwork(accepted)
	go okReceive(accepted)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGUSR1)
	go okSignal(signals)
	ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
	_ = cancel
	go okDeadline(ctx)
	var ends [2]int
	syscall.Pipe(ends[:])
	read := make(chan *item)
	go okSystemCall(read, ends[0])
	go okReceive(read)
	go okSelect(make(chan *item), global)
	busy := make(chan *item)
	go okBusy(busy)
	go okReceive(busy)
	f := &finalized{make(chan *item)}
	runtime.SetFinalizer(f, func(f *finalized) { close(f.c) })
	go okReceive(f.c)
	go leakHolder(f, make(chan *item))
	startNewer()
}

func main() {
	startLeaks()
	startOthers()
	for !isBusy.Load() {
		runtime.Gosched()
	}
	prove(pprof.Lookup("goroutineleak"), nil)
}
