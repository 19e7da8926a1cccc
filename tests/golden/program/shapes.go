package main

import (
	"context"
	"math"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"
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

type pair[K comparable, V any] struct {
	key   K
	value V
	more  *pair[K, V]
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

// Two of the same layout: the words of an object do not tell which of them it is.
type page struct {
	title string
	body  []byte
	links []*page
}
type card struct {
	title string
	body  []byte
	links []*card
}

// Fields in an order that costs padding, and a size that costs rounding.
type padded struct {
	isOpen bool
	size   int64
	isLast bool
	next   *padded
	kind   uint8
	_      [11]int64
}

type numbers struct {
	i8, j8   int8
	u16      uint16
	i32      int32
	u64      uint64
	f32      float32
	f64, nan float64
	inf      float64
	c        complex128
	is, not  bool
	wait     time.Duration
	when     time.Time
	at       uintptr
	list     [5]int16
	embedded
	f func()
}
type embedded struct{ x, y int32 }

type header struct {
	kind  *square
	where unsafe.Pointer
	field *int32
	elem  *string
}

type (
	aTicket struct {
		next *aTicket
		id   int
		text [40]byte
	}
	bTicket struct {
		next *bTicket
		id   int
		text [40]byte
	}
)

var (
	root, other *node
	nodes       int
	tables      struct {
		set     map[shape]struct{}
		matrix  [][]*square
		objects [8]*big
		pool    sync.Pool
		shared  sync.Map
		once    sync.Once
		lazy    func() *square
	}
	names          = []string{"one", "two", "three", "four", "five"}
	aHooks, bHooks []func()
	aPage, bPage   *page
	aCard, bCard   *card
	generic        *pair[string, *pair[int, []float64]]
	padding        []*padded
	values         *numbers
	headers        []*header
	aOpen, bOpen   = map[int]*aTicket{}, map[int]*bTicket{}
	aLast, bLast   *bTicket
	ring           *circle
	aContext       context.Context
	empty          struct{}
	nothing        interface{}
	large          []byte
)

func tree(depth int) *node {
	if depth == 0 {
		return nil
	}
	nodes++
	n := &node{left: tree(depth - 1), right: tree(depth - 1), values: map[string]*square{}}
	for i := range n.array {
		n.array[i].id = int32(i)
		n.array[i].text = number(depth) + "." + number(i)
		n.keys = append(n.keys, n.array[i].text)
		n.values[n.array[i].text] = &square{name: names[(depth+i)%len(names)], side: float64(i)}
	}
	label := "label " + number(depth)
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

func makeShapes() {
	root, other = tree(4), tree(2)
	squares := make([]*square, 32)
	for i := range squares {
		squares[i] = &square{name: names[i%len(names)], side: float64(i)}
		tables.shared.Store(i, squares[i])
	}
	tables.set = map[shape]struct{}{&square{}: {}, circle{radius: 2}: {}}
	for i := 0; i < 4; i++ {
		tables.matrix = append(tables.matrix, squares[i*8:i*8+8])
	}
	for i := range tables.objects {
		b := &big{head: root}
		b.parts[i].who = squares[i]
		b.parts[i].what = make([]byte, 10*i)
		b.parts[i].why = &b.parts[(i+1)%40]
		tables.objects[i] = b
		aHooks = append(aHooks, func() { b.head = nil })
		bHooks = append(bHooks, func() { squares[i] = nil })
	}
	tables.pool.Put(&tables.objects)
	tables.pool.Put(&page{title: "pooled"})
	tables.lazy = sync.OnceValue(func() *square { return squares[0] })
	tables.lazy()
	for i := 0; i < 5; i++ {
		aPage = &page{"a page", make([]byte, 30), []*page{aPage}}
		bPage = &page{"another page", make([]byte, 60), []*page{bPage, aPage}}
		aCard = &card{"a card", make([]byte, 30), []*card{aCard}}
		bCard = &card{"another card", make([]byte, 60), []*card{bCard, aCard}}
	}
	generic = &pair[string, *pair[int, []float64]]{"outer", &pair[int, []float64]{7, []float64{1.5, -2, math.Inf(-1)}, nil}, nil}
	for i := 0; i < 40; i++ {
		padding = append(padding, &padded{isOpen: true, size: int64(i)})
	}
	values = &numbers{i8: -8, j8: 127, u16: 65535, i32: -1 << 31, u64: 1<<64 - 1, f32: 0.1, f64: -0.0, nan: math.NaN(), inf: math.Inf(1),
		c: complex(1, -2), is: true, wait: 90 * time.Second, when: time.Unix(1700000000, 5).UTC(), at: 0xdead, list: [5]int16{1, -2, 3},
		embedded: embedded{3, -4}, f: makeStrings}
	for i := 0; i < 4; i++ {
		n := root.left
		headers = append(headers, &header{squares[i], unsafe.Pointer(&tables.objects[i].parts[3]), &n.array[i%3].id, &n.array[i%3].text})
	}
	a, b := &circle{radius: 3}, &circle{radius: 4}
	a.next, b.next, ring = b, a, a
	ctx, _ := context.WithCancel(context.WithValue(context.Background(), embedded{1, 2}, squares[1]))
	aContext, _ = context.WithTimeout(ctx, time.Hour)
	nothing = &empty
	large = make([]byte, 40<<10)
}

// leak adds to what leaks, and lets the healthy twins have as many as before.
func leak(n int) {
	for i := 0; i < n; i++ {
		id := len(bOpen)
		bOpen[id] = &bTicket{id: id, next: &bTicket{id: -id}}
		bOpen[id].next = nil
		bLast = &bTicket{next: bLast}
		aOpen[i%20] = &aTicket{id: i}
		aOpen[i%20].next = aOpen[0]
		aOpen[0].next = nil
	}
	aLast = &bTicket{id: n}
	for i := 0; i < n/20; i++ {
		startB(i)
	}
}
