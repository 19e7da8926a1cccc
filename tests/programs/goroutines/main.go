// Goroutines has one goroutine in each state that a heap dump can show, and
// what hangs from goroutines: deferred calls, panics, queued finalizers.
package main

import (
	"bytes"
	"io/ioutil"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"sync"
	"syscall"
	"time"
	"unsafe"

	"programs/truth"
)

var t = truth.New("goroutines")

type leaf [6]int64

var serial int64

//go:noinline
func plainLeaf() *leaf {
	serial++
	return &leaf{serial, 0x1ea5}
}

func newLeaf(name string) (*leaf, *truth.Object) {
	l := plainLeaf()
	return l, t.Object(name, unsafe.Pointer(l), unsafe.Sizeof(*l), false)
}

var (
	never      = make(chan *leaf)
	nilChannel chan *leaf
	mutex      sync.Mutex
	rwMutex    sync.RWMutex
	condition  = sync.NewCond(new(sync.Mutex))
	group      sync.WaitGroup
	pipe       [2]int
)

// start runs f and waits until it has said what it is about to do, so that
// goroutines and objects are recorded in order.
func start(f func()) {
	n := len(t.Goroutines) + 1
	go f()
	t.Await(n)
}

func receive() {
	l, o := newLeaf("held by receive")
	t.Enter("main.receive", o, "chan receive")
	<-never
	runtime.KeepAlive(l)
}

func receiveNil() {
	l, o := newLeaf("held by receiveNil")
	t.Enter("main.receiveNil", o, "chan receive (nil chan)")
	<-nilChannel
	runtime.KeepAlive(l)
}

func send() {
	l, o := newLeaf("held by send")
	t.Enter("main.send", o, "chan send")
	make(chan *leaf) <- l
	runtime.KeepAlive(l)
}

func sendNil() {
	l, o := newLeaf("held by sendNil")
	t.Enter("main.sendNil", o, "chan send (nil chan)")
	nilChannel <- l
	runtime.KeepAlive(l)
}

func choose() {
	l, o := newLeaf("held by choose")
	t.Enter("main.choose", o, "select")
	select {
	case <-never:
	case <-nilChannel:
	case make(chan *leaf) <- l:
	case <-time.After(time.Hour):
	}
	runtime.KeepAlive(l)
}

func chooseNothing() {
	t.Enter("main.chooseNothing", nil, "select (no cases)")
	select {}
}

func sleep() {
	l, o := newLeaf("held by sleep")
	t.Enter("main.sleep", o, "sleep")
	time.Sleep(time.Hour)
	runtime.KeepAlive(l)
}

func lock() {
	l, o := newLeaf("held by lock")
	t.Enter("main.lock", o, "sync.Mutex.Lock", "semacquire")
	mutex.Lock()
	runtime.KeepAlive(l)
}

func lockToRead() {
	l, o := newLeaf("held by lockToRead")
	t.Enter("main.lockToRead", o, "sync.RWMutex.RLock", "semacquire")
	rwMutex.RLock()
	runtime.KeepAlive(l)
}

func waitForGroup() {
	l, o := newLeaf("held by waitForGroup")
	t.Enter("main.waitForGroup", o, "sync.WaitGroup.Wait", "semacquire")
	group.Wait()
	runtime.KeepAlive(l)
}

func waitForCondition() {
	l, o := newLeaf("held by waitForCondition")
	t.Enter("main.waitForCondition", o, "sync.Cond.Wait")
	condition.L.Lock()
	condition.Wait()
	runtime.KeepAlive(l)
}

func readPoll() {
	l, o := newLeaf("held by readPoll")
	r, w, err := os.Pipe()
	if err != nil {
		panic(err)
	}
	t.Enter("main.readPoll", o, "IO wait")
	r.Read(make([]byte, 1))
	runtime.KeepAlive(l)
	runtime.KeepAlive(w)
}

func readBlocking() {
	l, o := newLeaf("held by readBlocking")
	t.Enter("main.readBlocking", o, "syscall")
	var b [1]byte
	syscall.Read(pipe[0], b[:])
	runtime.KeepAlive(l)
}

func locked() {
	runtime.LockOSThread()
	l, o := newLeaf("held by locked")
	g := t.Enter("main.locked", o)
	// runtime.Stack adds something that a dump does not have.
	g.States = []string{"chan receive", "chan receive, locked to thread"}
	<-never
	runtime.KeepAlive(l)
}

const depth = 500

func deep() {
	recurse(depth)
}

//go:noinline
func recurse(n int) int64 {
	var l *leaf
	if n > 0 {
		l = plainLeaf()
		if n%100 == 0 {
			o := t.Object("held by a deep frame", unsafe.Pointer(l), unsafe.Sizeof(*l), false)
			deepObjects = append(deepObjects, o)
		}
		sum := recurse(n - 1)
		return sum + l[0]
	}
	g := t.Enter("main.deep", nil, "chan receive")
	g.Depth = depth
	g.Frames = []string{"main.recurse", "main.recurse", "main.recurse", "main.deep"}
	for _, o := range deepObjects {
		g.Holds = append(g.Holds, o.Slot)
	}
	<-never
	return 0
}

var deepObjects []*truth.Object

// panics waits in a deferred call while a panic is on its way through.
func panics() {
	defer interrupt()
	panic(makeCause())
}

type cause struct {
	l    *leaf
	text string
}

//go:noinline
func makeCause() interface{} {
	l, lo := newLeaf("held by a panic's value")
	c := &cause{l, "on purpose"}
	o := t.Object("a panic's value", unsafe.Pointer(c), unsafe.Sizeof(*c), true)
	t.Edge(o, unsafe.Pointer(&c.l), lo)
	t.Pending = append(t.Pending, truth.Pending{Goroutine: truth.GoroutineID(), Kind: "panic", Object: o.Slot})
	return c
}

func interrupt() {
	g := t.Enter("main.panics", nil, "chan receive")
	g.Frames = []string{"main.interrupt", "main.panics"}
	<-never
	recover()
}

// recovered has had a panic and is over it.
func recovered() {
	func() {
		defer func() { recover() }()
		panic(new(leaf))
	}()
	l, o := newLeaf("held by recovered")
	t.Enter("main.recovered", o, "chan receive")
	<-never
	runtime.KeepAlive(l)
}

// defers has deferred calls in a loop, which are in the heap.
func defers() {
	for i := 0; i < 3; i++ {
		postpone(i)
	}
	t.Enter("main.defers", nil, "chan receive")
	<-never
}

// A deferred call in a loop of its own function, that has not come to its end.
func postpone(i int) {
	if i < 2 {
		return
	}
	for j := 0; j < 3; j++ {
		l, o := newLeaf("captured by a deferred call")
		t.Pending = append(t.Pending, truth.Pending{Goroutine: truth.GoroutineID(), Kind: "defer", Object: o.Slot})
		defer func() { l[0]++ }()
	}
	g := t.Enter("main.defers", nil, "chan receive")
	g.Frames = []string{"main.postpone", "main.defers"}
	<-never
}

type resource struct {
	l *leaf
	n [10]int64
}

// queueFinalizers blocks the goroutine that runs finalizers and lets two
// objects die whose finalizers then wait in the queue.
func queueFinalizers() {
	truth.Scrub()
	running := make(chan bool)
	abandon(func(*resource) {
		running <- true
		<-never
	}, false)
	truth.Scrub()
	runtime.GC()
	<-running
	for i := 0; i < 2; i++ {
		abandon(func(*resource) {}, true)
	}
	truth.Scrub()
	runtime.GC()
}

//go:noinline
func abandon(finalizer func(*resource), queued bool) {
	r := &resource{}
	o := t.Object("resource whose finalizer is to run", unsafe.Pointer(r), unsafe.Sizeof(*r), true)
	l, lo := newLeaf("held by a resource whose finalizer is to run")
	r.l = l
	t.Edge(o, unsafe.Pointer(&r.l), lo)
	runtime.SetFinalizer(r, finalizer)
	if queued {
		t.Finalizers = append(t.Finalizers, truth.Finalizer{Object: o.Slot, Queued: true})
	}
}

// hidden is an address that no reader of a dump takes for one. Nothing is
// collected, and nothing moves.
type hidden uintptr

func hide(p unsafe.Pointer) hidden { return hidden(^uintptr(p)) }

func (h hidden) pointer() unsafe.Pointer {
	p := ^uintptr(h)
	return *(*unsafe.Pointer)(unsafe.Pointer(&p))
}

// unstarted makes a function for a goroutine that has not run yet: no frame
// holds the closure, only the goroutine's record does.
//
//go:noinline
func unstarted(g *truth.Goroutine) (closure, captured hidden) {
	l, lo := newLeaf("captured by a goroutine that has not run")
	f := func() { l[0]++ }
	o := t.Closure("closure of a goroutine that has not run", unsafe.Pointer(&f), lo)
	g.Leads = []truth.Addr{o.Slot, lo.Slot}
	return hide(*(*unsafe.Pointer)(unsafe.Pointer(&f))), hide(unsafe.Pointer(l))
}

//go:noinline
func launch(closure hidden) {
	p := closure.pointer()
	go (*(*func())(unsafe.Pointer(&p)))()
}

// hasRun says whether it had before the dump: then the leaf was another one
// there, and is reset.
//
//go:noinline
func hasRun(captured hidden) bool {
	dump, err := ioutil.ReadFile(filepath.Join(truth.Dir(), "goroutines.dump"))
	if err != nil {
		panic(err)
	}
	before := leaf{serial, 0x1ea5} // it is the last one
	ran := !bytes.Contains(dump, (*[unsafe.Sizeof(before)]byte)(unsafe.Pointer(&before))[:])
	*(*leaf)(captured.pointer()) = before
	return ran
}

func main() {
	debug.SetGCPercent(-1)
	if err := syscall.Pipe(pipe[:]); err != nil {
		panic(err)
	}
	mutex.Lock()
	rwMutex.Lock()
	group.Add(1)
	for _, f := range []func(){
		receive, receiveNil, send, sendNil, choose, chooseNothing, sleep,
		lock, lockToRead, waitForGroup, waitForCondition, readPoll,
		readBlocking, locked, deep, panics, recovered, defers,
	} {
		start(f)
	}
	queueFinalizers()

	file := truth.Create("goroutines.dump")
	g := &truth.Goroutine{
		States:   []string{"runnable"},
		Function: "main.unstarted.func1",
		Frames:   []string{"main.unstarted.func1"},
	}
	t.Goroutines = append(t.Goroutines, g)
	closure, captured := unstarted(g)
	runtime.GOMAXPROCS(1)
	for {
		truth.Scrub()
		launch(closure) // stays runnable: nobody yields from here on, unless the machine is busy
		truth.Scrub()
		truth.Dump(file)
		if !hasRun(captured) {
			break
		}
		file = truth.Create("goroutines.dump")
	}
	t.Write()
}
