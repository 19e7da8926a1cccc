// A small heap of all that typing knows, for tests/exe/mutate_typed.c: dumps itself to a file.
package main

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
)

type shape interface{ area() float64 }

type square struct {
	name string
	side float64
}

type circle struct {
	label  *string
	radius float64
	next   *circle
}

func (s *square) area() float64 { return s.side * s.side }
func (c circle) area() float64  { return c.radius }

type node struct {
	left, right *node
	keys        []string
	values      map[string]*square
	any         interface{}
	shape       shape
	call        func(int) int
	queue       chan *circle
	array       [3]struct {
		id   int32
		text string
	}
	box  box[circle]
	last atomic.Value
}

type box[T any] struct {
	items []T
	first *T
}

type big struct {
	head  *node
	parts [40]struct {
		who  *square
		what []byte
		why  interface{}
	}
	tail [100]byte
}

var (
	root   *node
	tables struct {
		byName  map[string]int
		byID    map[int64]*node
		wide    map[[20]string]string
		set     map[shape]struct{}
		matrix  [][]*square
		objects [16]*big
		pool    sync.Pool
		shared  sync.Map
		once    sync.Once
	}
	names = strings.Fields("one two three four five six seven eight nine ten")
	hooks []func()
)

func tree(depth int) *node {
	if depth == 0 {
		return nil
	}
	n := &node{left: tree(depth - 1), right: tree(depth - 1), values: map[string]*square{}}
	for i := range n.array {
		n.array[i].id = int32(i)
		n.array[i].text = fmt.Sprintf("%d.%d", depth, i)
		n.keys = append(n.keys, n.array[i].text)
		n.values[n.array[i].text] = &square{name: names[(depth+i)%len(names)], side: float64(i)}
	}
	label := fmt.Sprintf("label %d", depth)
	c := &circle{label: &label, radius: 1}
	c.next = c
	n.queue = make(chan *circle, 4)
	n.queue <- c
	n.box = box[circle]{items: make([]circle, 3), first: c}
	n.box.items[1] = *c
	switch depth % 4 {
	case 0:
		n.any, n.shape = depth, *c
	case 1:
		n.any, n.shape = n.keys, n.values[n.keys[0]]
	case 2:
		n.any, n.shape = &n.array[1], *c
	default:
		n.any, n.shape = n, c
	}
	n.call = func(x int) int { return x + len(label) + len(n.keys) }
	n.last.Store(label)
	return n
}

func wait(ready chan<- bool, b *big, text string, done <-chan struct{}) {
	local := square{name: text, side: 2}
	list := []*square{&local, b.parts[0].who}
	ready <- true
	<-done
	runtime.KeepAlive(list)
	runtime.KeepAlive(b)
}

func main() {
	root = tree(5)
	tables.byName = map[string]int{}
	tables.byID = map[int64]*node{}
	tables.wide = map[[20]string]string{{"a"}: "b"}
	tables.set = map[shape]struct{}{&square{}: {}}
	squares := make([]*square, 64)
	for i := range squares {
		squares[i] = &square{name: names[i%len(names)]}
		tables.byName[fmt.Sprint("key ", i)] = i
		tables.byID[int64(i)] = root
		tables.shared.Store(i, squares[i])
	}
	for i := 0; i < 8; i++ {
		tables.matrix = append(tables.matrix, squares[i*8:i*8+8])
	}
	for i := range tables.objects {
		b := &big{head: root}
		b.parts[i].who = squares[i]
		b.parts[i].what = []byte(strings.Repeat("what ", i))
		b.parts[i].why = &b.parts[(i+1)%40]
		tables.objects[i] = b
		hooks = append(hooks, func() { b.head = nil })
	}
	tables.pool.Put(&tables.objects)
	runtime.SetFinalizer(squares[0], func(s *square) { s.name = "" })
	ready, done := make(chan bool), make(chan struct{})
	for i := 0; i < 3; i++ {
		go wait(ready, tables.objects[i], fmt.Sprint("goroutine ", i), done)
		<-ready
	}
	file, err := os.Create(os.Args[1])
	if err != nil {
		panic(err)
	}
	runtime.GC()
	debug.WriteHeapDump(file.Fd())
	close(done)
	runtime.KeepAlive(squares)
}
