// Goroutines in all states in which they can stay, with frames of all kinds.
package main

import (
	"context"
	"net"
	"os"
	"runtime"
	"runtime/debug"
	"sync"
	"syscall"
	"time"
)

var (
	blockedMutex   sync.Mutex
	blockedRW      sync.RWMutex
	blockedGroup   sync.WaitGroup
	blockedCond    = sync.NewCond(new(sync.Mutex))
	unbuffered     = make(chan *node)
	results        = make(chan pair[string])
	keptOpen       []interface{}
	manyRecursions = 40
)

//go:noinline
func blockOn(ch chan *node, what *node, extra ...interface{}) *node {
	got := <-ch
	what.next = got
	return what
}

//go:noinline
func deep(n int, held *node, ch chan *node) *node {
	own := &node{name: "of a deep frame", next: held}
	if n == 0 {
		return blockOn(ch, own, n, held)
	}
	got := deep(n-1, own, ch)
	own.next = got
	return own
}

// bigFrame has 70 KB on its stack, with pointers.
//
//go:noinline
func bigFrame(ch chan *node) int {
	var words [8000]int
	var nodes [1000]*node
	for i := 0; i < len(nodes); i += 10 {
		nodes[i] = &node{name: "of a big frame"}
	}
	got := <-ch
	sum := 0
	for i := range words {
		words[i] += sum
		sum += words[i]
	}
	for i, n := range nodes {
		if n == got {
			sum += i
		}
	}
	return sum
}

type onStack struct {
	n    *node
	list [5]*node
	s    string
	next *onStack
}

// addressed has stack objects: their addresses go to other frames, also that of one in an array, and of one in another.
//
//go:noinline
func addressed(n int, ch chan *node) {
	var own onStack
	var many [4]onStack
	own.n = &node{name: "held by a stack object"}
	own.next = &many[n%4]
	many[n%4].list[2] = &node{name: "held by a stack object that another one holds"}
	waitWith(&own, &many[0], ch)
	runtime.KeepAlive(own.list)
}

//go:noinline
func waitWith(own, other *onStack, ch chan *node) {
	own.s = (<-ch).name
	other.s = own.s
}

//go:noinline
func manyArguments(a, b, c, d, e, f, g, h, i, j, k, l *node, texts [8]string, ch chan *node) *node {
	got := <-ch
	for _, n := range []*node{a, b, c, d, e, f, g, h, i, j, k, l} {
		if n == got {
			return n
		}
	}
	return &node{name: texts[0]}
}

// deferring has defers in a loop, which are allocated, and blocks.
//
//go:noinline
func deferring(n int, ch chan *node) {
	for i := 0; i < n; i++ {
		i, held := i, &node{name: "captured by a defer"}
		defer func() { held.data = i }()
		defer held.String()
	}
	defer func() { recover() }()
	<-ch
}

func yield() {
	for {
		runtime.Gosched()
	}
}

var sink uint64

//go:noinline
func compute(n uint64) uint64 {
	for i := uint64(0); i < 1<<20; i++ {
		n = n*6364136223846793005 + i
	}
	return n
}

func spin(n int) {
	for i := 0; i < n; i++ {
		held := &node{name: "of a goroutine that computes"}
		go func() {
			n := uint64(1)
			for {
				n = compute(n)
				if n == 1 {
					sink++
					held.data = n
				}
			}
		}()
	}
}

type live struct {
	left, right *live
	pad         []byte
	m           map[int]*node
}

func grow(depth int) *live {
	if depth == 0 {
		return nil
	}
	l := &live{left: grow(depth - 1), right: grow(depth - 1), pad: make([]byte, depth*40)}
	if depth%4 == 0 {
		l.m = map[int]*node{depth: {}}
	}
	return l
}

var liveTrees []*live

// plant makes so many MB that live, and has garbage collected all the time.
func plant() {
	runtime.GC()
	for i := 0; i < *trees; i++ { // a tree of depth 12 has about a megabyte
		liveTrees = append(liveTrees, grow(12))
	}
	debug.SetGCPercent(5)
}

func alloc(n int) {
	plant()
	for i := 0; i < n; i++ {
		i := i
		go func() {
			random := uint64(i)
			for {
				random = random*6364136223846793005 + 1442695040888963407
				own := grow(6)
				own.left.right = &live{pad: make([]byte, random>>50)}
				l := liveTrees[int(random>>33)%len(liveTrees)]
				for d := 0; d < 6 && l.left != nil && l.left.left != nil; d++ {
					random = random*6364136223846793005 + 1442695040888963407
					if random>>40&1 == 0 {
						l = l.left
					} else if l.right != nil && l.right.right != nil {
						l = l.right
					}
				}
				liveLock.Lock()
				l.right = own
				liveLock.Unlock()
			}
		}()
	}
}

var liveLock sync.Mutex

// talk has n groups of goroutines that hand what they make to each other: over channels with and without a buffer, in selects
// with timers, and to goroutines that end at once, so that others get their stacks.
func talk(n int) {
	plant()
	for i := 0; i < n; i++ {
		asked, answered := make(chan *live), make(chan *live, 8)
		for k := 0; k < 4; k++ {
			go func() {
				for question := range asked {
					select {
					case answered <- &live{left: question}:
					case <-time.After(100 * time.Microsecond):
						answered <- question
					}
				}
			}()
		}
		go func() {
			for answer := range answered {
				seen := make(chan *live)
				go func() { seen <- grow(len(answer.pad) % 7) }()
				answer.right = <-seen
			}
		}()
		go func() {
			for k := 0; ; k++ {
				asked <- &live{right: grow(k % 5), pad: make([]byte, k%300)}
			}
		}()
	}
}

func goroutines() {
	blockedMutex.Lock()
	blockedRW.Lock()
	blockedGroup.Add(1)
	for i := 0; i < 12; i++ {
		i := i
		go func() { // chan receive
			blockOn(make(chan *node), &node{name: "blocked"}, i, "more", &i)
		}()
		go func() { unbuffered <- &node{name: "sent"} }() // chan send
		go func() { results <- pair[string]{a: "sent", b: "too"} }()
		go func() { // select
			select {
			case results <- pair[string]{a: "not sent"}:
			case n := <-make(chan *node):
				keep(n)
			case <-time.After(time.Hour):
			}
		}()
		go func() { time.Sleep(time.Hour) }()
		go blockedMutex.Lock()
		go blockedRW.RLock()
		go blockedGroup.Wait()
		go deferring(i, unbufferedNever)
	}
	for i := 0; i < 4; i++ {
		i := i
		go func() { select {} }()
		go func() { // nil channel
			var none chan int
			none <- 1
		}()
		go func() {
			blockedCond.L.Lock()
			blockedCond.Wait()
		}()
		go func() {
			runtime.LockOSThread()
			blockOn(make(chan *node), &node{name: "on a thread of its own"})
		}()
		go deep(manyRecursions*(i+1), nil, make(chan *node))
		go bigFrame(make(chan *node))
		go addressed(i, make(chan *node))
		go func() {
			n := &node{}
			manyArguments(n, n, n, nil, n, n, &node{}, n, n, n, n, &node{}, [8]string{"a", "b"}, make(chan *node))
		}()
		ctx, cancel := context.WithCancel(context.Background())
		keep(cancel)
		go func() { <-ctx.Done() }()
		go waitForIO()
		go waitInSystemCall()
	}
	go accept()
	foreign()
}

var unbufferedNever = make(chan *node)

// IO wait.
func waitForIO() {
	r, w, err := os.Pipe()
	check(err)
	buffer := make([]byte, 100)
	r.Read(buffer)
	runtime.KeepAlive(w)
}

func accept() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil { // no network
		select {}
	}
	client, err := net.Dial("tcp", listener.Addr().String())
	check(err)
	server, err := listener.Accept()
	check(err)
	go server.Read(make([]byte, 10))
	go client.Read(make([]byte, 10))
	listener.Accept()
}

// A read that blocks the thread.
func waitInSystemCall() {
	var pipe [2]int
	check(syscall.Pipe(pipe[:]))
	buffer := make([]byte, 10)
	held := &node{name: "of a goroutine in a system call"}
	syscall.Read(pipe[0], buffer)
	runtime.KeepAlive(held)
}
