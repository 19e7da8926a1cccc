package main

import (
	"fmt"
	"reflect"
	"runtime"
	"sync"
	"time"
)

// hub is a large object that alone leads to what goroutines wait on.
type hub struct {
	before [700]*leaf
	c      chan int
	more   struct {
		pad    [300]int
		sent   chan [300]*leaf
		locked sync.Mutex
		read   sync.RWMutex
		group  sync.WaitGroup
		cond   *sync.Cond
		closed [20]chan struct{}
		at     *chan int
	}
	woken sync.WaitGroup
}

var (
	hubs    [3]*hub
	waiting int // goroutines
	ticks   chan int
)

// start runs a goroutine that waits, and whose stack has leaves.
func start(h *hub, wait func()) {
	waiting++
	h.woken.Add(1)
	local := of("captured by a goroutine")
	go func() {
		defer h.woken.Done()
		var array [300]*leaf
		array[250] = of("array on a stack")
		wait()
		runtime.KeepAlive(local)
		useArray(&array)
	}()
}

//go:noinline
func useArray(array *[300]*leaf) { used1 += array[250].n[0] }

var used1 int

// waiters starts goroutines that wait on all kinds of things that only hubs have, each of another kind of holder.
func waiters() {
	for i := range hubs {
		h := &hub{c: make(chan int)}
		hubs[i] = h
		h.more.sent, h.more.cond = make(chan [300]*leaf), sync.NewCond(&sync.Mutex{})
		h.more.at = new(chan int)
		*h.more.at = make(chan int)
		h.more.locked.Lock()
		h.more.read.Lock()
		h.more.group.Add(1)
		start(h, func() { <-h.c })
		start(h, func() { h.more.sent <- [300]*leaf{299: of("element that is being sent")} })
		start(h, func() { h.more.locked.Lock(); h.more.locked.Unlock() })
		start(h, func() { h.more.read.RLock(); h.more.read.RUnlock() })
		start(h, func() { h.more.group.Wait() })
		start(h, func() { h.more.cond.L.Lock(); h.more.cond.Wait(); h.more.cond.L.Unlock() })
		start(h, func() {
			select {
			case <-h.c:
			case h.more.sent <- [300]*leaf{1: of("element that may be sent")}:
			}
		})
		at := h.more.at
		start(h, func() { <-*at })
		for j := range h.more.closed {
			h.more.closed[j] = make(chan struct{})
			closed := h.more.closed[j]
			start(h, func() { <-closed })
		}
	}
	byTimer := make(chan int)
	waiting++
	hubs[0].woken.Add(1)
	go func() { <-byTimer; hubs[0].woken.Done() }()
	time.AfterFunc(time.Hour, func() { close(byTimer) }) // it would wake; main does not wait for it
	go func() { wakeByTimer <- byTimer }()
	ticker := time.NewTicker(time.Hour)
	go func() {
		for range ticker.C {
			used1++
		}
	}()
	made := make(chan int)
	waiting++
	hubs[1].woken.Add(1)
	madeBy = made
	go callMade(made)
}

var (
	wakeByTimer = make(chan chan int)
	madeBy      chan int
)

// callMade waits in a function that reflect has made, whose arguments are on the stack and in registers.
func callMade(c chan int) {
	typ := reflect.TypeOf(func(*leaf, [3]*leaf, *leaf, chan int) int { return 0 })
	f := reflect.MakeFunc(typ, func(args []reflect.Value) []reflect.Value {
		n := <-args[3].Interface().(chan int)
		return []reflect.Value{reflect.ValueOf(n + args[0].Interface().(*leaf).n[0])}
	}).Interface().(func(*leaf, [3]*leaf, *leaf, chan int) int)
	used1 += f(of("argument of a function of reflect"), [3]*leaf{1: of("array for a function of reflect")}, of("argument of a function of reflect"), c)
	hubs[1].woken.Done()
}

// wake wakes all goroutines, and returns how many have ended.
func wake() int {
	close(<-wakeByTimer)
	close(madeBy)
	for _, h := range hubs {
		h.c <- 1
		<-h.more.sent
		select { // the goroutine with two cases may have been the one that received or sent
		case <-h.more.sent:
		case h.c <- 1:
		}
		h.more.locked.Unlock()
		h.more.read.Unlock()
		h.more.group.Done()
		h.more.cond.L.Lock()
		h.more.cond.Broadcast()
		h.more.cond.L.Unlock()
		*h.more.at <- 1
		for _, closed := range h.more.closed {
			close(closed)
		}
	}
	for _, h := range hubs {
		h.woken.Wait()
	}
	return waiting
}

// stacks starts goroutines with large variables on their stacks, in frames of different kinds, up to the end of the program.
func stacks() {
	for i := 0; i < 3; i++ {
		go deep(i * 10)
		go largeVariable()
		go hugeVariable()
		go deferred()
		go argument([200]*leaf{150: of("array that is an argument")}, of("argument"))
	}
}

//go:noinline
func deep(n int) *leaf {
	local := of("local variable")
	s := late[[20]int]{p: of("local struct")}
	if n == 0 {
		<-stop
	} else {
		deep(n - 1)
	}
	useStruct(&s)
	return local
}

//go:noinline
func useStruct(s *late[[20]int]) { keeps(s.p) }

func largeVariable() {
	var v outer
	v.last = of("large variable")
	v.more[2].a[100] = of("large variable")
	<-stop
	useOuter(&v)
}

//go:noinline
func useOuter(o *outer) { keeps(o.last) }

func hugeVariable() {
	var v [200000]late[[3]int] // on the stack, up to Go 1.23 with a GC program
	v[0].p, v[150000].p, v[199999].p = of("huge variable"), of("huge variable"), of("huge variable")
	<-stop
	useHuge(&v)
}

//go:noinline
func useHuge(v *[200000]late[[3]int]) { keeps(v[150000].p) }

func deferred() {
	l, array := of("captured by a deferred call"), [300]*leaf{200: of("array for a deferred call")}
	for i := 0; i < 3; i++ {
		i := i
		defer func() { keeps(l); keeps(array[200+i]) }()
	}
	<-stop
}

//go:noinline
func argument(array [200]*leaf, l *leaf) {
	<-stop
	keeps(array[150])
	keeps(l)
}

// used uses all that is held, so that nothing of it is dead before.
func used() int {
	return len(held) + used1 + len(fmt.Sprint(globalArray[500] != nil, globalStruct.name, globalData.n))
}
