// Known builds one of everything that a heap consists of, and dumps itself.
package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"unsafe"

	"programs/truth"
)

const word = unsafe.Sizeof(uintptr(0))

var t = truth.New("known")

// leaf has no pointers and fills a slot of 48 bytes.
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

func garbageLeaf(name string) (*leaf, *truth.Object) {
	l := plainLeaf()
	return l, t.Garbage(name, unsafe.Pointer(l), unsafe.Sizeof(*l), false)
}

// node has a bit of everything in it.
type node struct {
	next     *node
	left     *leaf
	nothing  *leaf
	static   *int64
	name     string
	bytes    []byte
	any      interface{}
	shape    shape
	call     func() *leaf
	ch       chan *leaf
	m        map[string]*leaf
	raw      unsafe.Pointer
	number   uintptr // holds an address, but is no pointer
	array    [3]*leaf
	embedded struct{ deep struct{ l *leaf } }
}

type shape interface{ area() float64 }

type circle struct{ x, y, r float64 }

func (c circle) area() float64 { return 3 * c.r * c.r }

type square struct {
	side float64
	note *leaf
}

func (s *square) area() float64 { return s.side * s.side }

var staticNumber int64 = 7

// Globals: bss, then data (a static initial value puts them there).
var (
	globalNode  *node
	globalSlice []*leaf
	globalMap   map[string]*leaf
	globalIface shape
	globalFunc  func() *leaf
	globalName  string
	globalChan  chan *leaf
	globalArray [4]*leaf
	globalPool  sync.Pool
	globalRest  []interface{} // keeps what needs no global of its own

	globalData = struct {
		title string
		leaf  *leaf
	}{title: "in data"}
)

// keep makes p reachable for good.
func keep(p interface{}) { globalRest = append(globalRest, p) }

func buildNode() {
	n := new(node)
	globalNode = n
	o := t.Object("node", unsafe.Pointer(n), unsafe.Sizeof(*n), true)
	t.Global("globalNode", unsafe.Pointer(&globalNode), o)

	n.next = new(node)
	next := t.Object("node.next", unsafe.Pointer(n.next), unsafe.Sizeof(*n), true)
	t.Edge(o, unsafe.Pointer(&n.next), next)
	n.next.next = n // a cycle of reachable objects
	t.Edge(next, unsafe.Pointer(&n.next.next), o)

	l, lo := newLeaf("node.left")
	n.left = l
	t.Edge(o, unsafe.Pointer(&n.left), lo)
	t.NoEdge(o, unsafe.Pointer(&n.nothing), "nil")
	n.static = &staticNumber
	t.NoEdge(o, unsafe.Pointer(&n.static), "points to a global without pointers")

	n.name = strings.Repeat("heap string ", 5)
	name := t.Object("node.name", truth.Word(unsafe.Pointer(&n.name)), uintptr(len(n.name)), false)
	t.Edge(o, unsafe.Pointer(&n.name), name)

	buffer := make([]byte, 100, 4000)
	copy(buffer, "byte buffer")
	n.bytes = buffer[10:20]
	bytes := t.Object("node.bytes", unsafe.Pointer(&buffer[0]), 4000, false)
	t.Edge(o, unsafe.Pointer(&n.bytes), bytes) // interior

	l, lo = newLeaf("node.any")
	n.any = l
	t.Interface(o, unsafe.Pointer(&n.any), lo, "*main.leaf")

	n.shape = circle{1, 2, float64(serial)}
	boxed := t.Object("node.shape", truth.Data(unsafe.Pointer(&n.shape)), unsafe.Sizeof(circle{}), false)
	t.Interface(o, unsafe.Pointer(&n.shape), boxed, "main.circle")

	l, lo = newLeaf("captured by node.call")
	n.call = closureOver(l)
	t.Edge(o, unsafe.Pointer(&n.call), t.Closure("node.call", unsafe.Pointer(&n.call), lo))

	l, lo = newLeaf("node.raw")
	n.raw = unsafe.Pointer(l)
	t.Edge(o, unsafe.Pointer(&n.raw), lo)

	for i := range n.array {
		n.array[i], lo = newLeaf(fmt.Sprintf("node.array[%d]", i))
		t.Edge(o, unsafe.Pointer(&n.array[i]), lo)
	}
	n.embedded.deep.l, lo = newLeaf("node.embedded.deep.l")
	t.Edge(o, unsafe.Pointer(&n.embedded.deep.l), lo)

	hidden, ho := garbageLeaf("held only by a uintptr")
	n.number = uintptr(unsafe.Pointer(hidden))
	t.NoEdge(o, unsafe.Pointer(&n.number), "uintptr to "+ho.Name)
}

//go:noinline
func closureOver(l *leaf) func() *leaf { return func() *leaf { return l } }

func buildGlobals() {
	globalSlice = make([]*leaf, 3, 10)
	so := t.Object("globalSlice", unsafe.Pointer(&globalSlice[0]), 10*word, true)
	t.Global("globalSlice", unsafe.Pointer(&globalSlice), so)
	for i := range globalSlice {
		l, lo := newLeaf(fmt.Sprintf("globalSlice[%d]", i))
		globalSlice[i] = l
		t.Edge(so, unsafe.Pointer(&globalSlice[i]), lo)
	}
	for i := range globalArray {
		l, lo := newLeaf(fmt.Sprintf("globalArray[%d]", i))
		globalArray[i] = l
		t.Global(fmt.Sprintf("globalArray[%d]", i), unsafe.Pointer(&globalArray[i]), lo)
	}
	s := &square{side: 2}
	globalIface = s
	so = t.Object("globalIface", unsafe.Pointer(s), unsafe.Sizeof(*s), true)
	t.Global("globalIface's data word", unsafe.Pointer(uintptr(unsafe.Pointer(&globalIface))+word), so)
	l, lo := newLeaf("square.note")
	s.note = l
	t.Edge(so, unsafe.Pointer(&s.note), lo)

	l, lo = newLeaf("captured by globalFunc")
	globalFunc = closureOver(l)
	t.Global("globalFunc", unsafe.Pointer(&globalFunc), t.Closure("globalFunc", unsafe.Pointer(&globalFunc), lo))

	globalName = strings.Repeat("n", 33)
	no := t.Object("globalName", truth.Word(unsafe.Pointer(&globalName)), 33, false)
	t.Global("globalName", unsafe.Pointer(&globalName), no)

	l, lo = newLeaf("globalData.leaf")
	globalData.leaf = l
	t.Global("globalData.leaf", unsafe.Pointer(&globalData.leaf), lo)

	l, lo = newLeaf("in globalPool")
	globalPool.Put(l)
	_ = lo // where the pool keeps it is the runtime's affair; it must be reachable
}

func buildStrings() {
	for _, n := range []int{1, 3, 15, 16, 17, 100, 511, 512, 1000, 5000, 32768, 40000} {
		s := strings.Repeat("s", n)
		if n == 1 {
			s = string([]byte{byte(n), 2, 3, 4, byte(serial)}[:2]) // one byte would be static
		}
		keep(&s)
		t.Object(fmt.Sprintf("string of %d bytes", len(s)), truth.Word(unsafe.Pointer(&s)), uintptr(len(s)), false)
	}
	big := make([]byte, 2<<20)
	keep(big[1<<20:]) // by an interior pointer only
	t.Object("big buffer", unsafe.Pointer(&big[0]), uintptr(len(big)), false)
}

func buildTiny() {
	type holder struct {
		a *int8
		b *int32
		c *int64
		d *[3]byte
		e *bool
	}
	h := &holder{new(int8), new(int32), new(int64), new([3]byte), new(bool)}
	*h.a, *h.b, *h.c = 1, 2, 3
	o := t.Object("holder of tiny values", unsafe.Pointer(h), unsafe.Sizeof(*h), true)
	keep(h)
	t.Edge(o, unsafe.Pointer(&h.a), t.Object("tiny int8", unsafe.Pointer(h.a), 1, false))
	t.Edge(o, unsafe.Pointer(&h.b), t.Object("tiny int32", unsafe.Pointer(h.b), 4, false))
	t.Edge(o, unsafe.Pointer(&h.c), t.Object("tiny int64", unsafe.Pointer(h.c), 8, false))
	t.Edge(o, unsafe.Pointer(&h.d), t.Object("tiny array", unsafe.Pointer(h.d), 3, false))
	t.Edge(o, unsafe.Pointer(&h.e), t.Object("tiny bool", unsafe.Pointer(h.e), 1, false))
}

// Sizes around the limits at which the runtime changes its layout. The names
// are true where a word has 64 bits.
type (
	just128 struct {
		first *leaf
		pad   [14]int64
		last  *leaf
	}
	just512 struct {
		first *leaf
		pad   [62]int64
		last  *leaf
	}
	just520 struct {
		first *leaf
		pad   [63]int64
		last  *leaf
	}
	just4000 struct {
		first *leaf
		pad   [498]int64
		last  *leaf
	}
	just32760 struct {
		first *leaf
		pad   [4093]int64
		last  *leaf
	}
	just32768 struct {
		first *leaf
		pad   [4094]int64
		last  *leaf
	}
	just50000 struct {
		first *leaf
		pad   [6248]int64
		last  *leaf
	}
)

func ends(name string, p unsafe.Pointer, size uintptr, first, last **leaf) {
	o := t.Object(name, p, size, true)
	l, lo := newLeaf(name + ".first")
	*first = l
	t.Edge(o, unsafe.Pointer(first), lo)
	l, lo = newLeaf(name + ".last")
	*last = l
	t.Edge(o, unsafe.Pointer(last), lo)
}

func buildSizes() {
	z := new(just128)
	keep(z)
	ends("128 bytes", unsafe.Pointer(z), unsafe.Sizeof(*z), &z.first, &z.last)
	a, b, c := new(just512), new(just520), new(just4000)
	d, e, f := new(just32760), new(just32768), new(just50000)
	keep(a)
	keep(b)
	keep(c)
	keep(d)
	keep(e)
	keep(f)
	ends("512 bytes", unsafe.Pointer(a), unsafe.Sizeof(*a), &a.first, &a.last)
	ends("520 bytes", unsafe.Pointer(b), unsafe.Sizeof(*b), &b.first, &b.last)
	ends("4000 bytes", unsafe.Pointer(c), unsafe.Sizeof(*c), &c.first, &c.last)
	ends("32760 bytes", unsafe.Pointer(d), unsafe.Sizeof(*d), &d.first, &d.last)
	ends("32768 bytes", unsafe.Pointer(e), unsafe.Sizeof(*e), &e.first, &e.last)
	ends("50000 bytes", unsafe.Pointer(f), unsafe.Sizeof(*f), &f.first, &f.last)

	// All slots of some spans: their tails are where phantoms are.
	for _, words := range []int{1, 2, 3, 4, 6, 8, 10, 20, 44, 64} {
		for i := 0; i < 200; i++ {
			s := make([]*leaf, words)
			keep(&s[0])
			if i%20 == 0 {
				l, lo := newLeaf("end of a slice")
				s[words-1] = l
				o := t.Object(fmt.Sprintf("%d words", words), unsafe.Pointer(&s[0]), uintptr(words)*word, true)
				t.Edge(o, unsafe.Pointer(&s[words-1]), lo)
			}
		}
	}
	for _, size := range []int{16, 24, 48, 112, 512, 1024} {
		for i := 0; i < 200; i++ {
			s := make([]byte, size)
			keep(&s[0])
			if i%40 == 0 {
				t.Object(fmt.Sprintf("%d bytes without pointers", size), unsafe.Pointer(&s[0]), uintptr(size), false)
			}
		}
	}
}

// buildTables makes slices of many pointers, at both sides of the offset of
// 1 MiB, from where edges have numbers instead of names.
func buildTables() {
	targets := make([]*leaf, 16)
	objects := make([]*truth.Object, len(targets))
	for i := range targets {
		targets[i], objects[i] = newLeaf(fmt.Sprintf("target %d of the tables", i))
	}
	for _, n := range []int{100000, 150000} {
		table := make([]*leaf, n)
		keep(&table[n/2]) // by an interior pointer only
		o := t.Object(fmt.Sprintf("table of %d pointers", n), unsafe.Pointer(&table[0]), uintptr(n)*word, true)
		for i := range table {
			if i%10 == 9 {
				continue // some are nil
			}
			table[i] = targets[i%len(targets)]
			if i%1111 == 0 || i == 1<<17 || i == 1<<17-1 || i == n-2 {
				t.Edge(o, unsafe.Pointer(&table[i]), objects[i%len(targets)])
			}
		}
		t.NoEdge(o, unsafe.Pointer(&table[n-1]), "nil at the end of a table")
	}

	// Pointers into the middle of an array of values.
	type pair struct {
		key   int64
		value *leaf
	}
	pairs := make([]pair, 1000)
	po := t.Object("array of pairs", unsafe.Pointer(&pairs[0]), 1000*unsafe.Sizeof(pairs[0]), true)
	for _, i := range []int{0, 1, 500, 999} {
		l, lo := newLeaf(fmt.Sprintf("pairs[%d].value", i))
		pairs[i].value = l
		t.Edge(po, unsafe.Pointer(&pairs[i].value), lo)
	}
	inner := &[2]*pair{&pairs[7], &pairs[999]}
	keep(inner)
	io := t.Object("pointers into pairs", unsafe.Pointer(inner), unsafe.Sizeof(*inner), true)
	t.Edge(io, unsafe.Pointer(&inner[0]), po)
	t.Edge(io, unsafe.Pointer(&inner[1]), po)
}

func buildMaps() {
	globalMap = make(map[string]*leaf)
	mo := t.Object("globalMap", truth.Word(unsafe.Pointer(&globalMap)), 0, true)
	t.Global("globalMap", unsafe.Pointer(&globalMap), mo)
	small := map[string]*leaf{}
	so := t.Object("small map", truth.Word(unsafe.Pointer(&small)), 0, true)
	keep(small)
	numbers := map[int64]*leaf{}
	no := t.Object("map of numbers", truth.Word(unsafe.Pointer(&numbers)), 0, true)
	keep(numbers)
	for i := 0; i < 1000; i++ {
		l, lo := newLeaf(fmt.Sprintf("globalMap[key-%d]", i))
		key := fmt.Sprintf("a rather long key, number %d", i)
		globalMap[key] = l
		if i%50 == 0 {
			t.Path("globalMap's value", mo, lo, 6)
			t.Path("globalMap's key", mo, t.Object(key, truth.Word(unsafe.Pointer(&key)), uintptr(len(key)), false), 6)
		}
		if i < 5 {
			l, lo = newLeaf(fmt.Sprintf("small[%d]", i))
			small[fmt.Sprint("key", i)] = l
			t.Path("small map's value", so, lo, 3)
		}
		if i < 300 {
			l, lo = newLeaf(fmt.Sprintf("numbers[%d]", i))
			numbers[int64(i)] = l
			t.Path("value of a map of numbers", no, lo, 6)
		}
	}
}

func buildChannels() {
	globalChan = make(chan *leaf, 8)
	co := t.Object("globalChan", truth.Word(unsafe.Pointer(&globalChan)), 0, true)
	t.Global("globalChan", unsafe.Pointer(&globalChan), co)
	for i := 0; i < 5; i++ {
		l, lo := newLeaf(fmt.Sprintf("sent to globalChan %d", i))
		globalChan <- l
		t.Path("channel's buffer", co, lo, 2)
	}
	numbers := make(chan int64, 100)
	numbers <- 1
	keep(numbers)
	t.Object("channel of numbers", truth.Word(unsafe.Pointer(&numbers)), 0, false)
}

// buildGarbage runs in a goroutine of its own, whose stack is gone afterwards.
func buildGarbage(done chan<- bool) {
	single, _ := garbageLeaf("garbage leaf")
	single[5] = 1

	live, lo := newLeaf("live, but garbage points to it, too")
	globalRest = append(globalRest, live)

	tail, a, b := new(node), new(node), new(node) // the tail has the lowest address
	a.next, b.next = b, a
	ao := t.Garbage("garbage cycle a", unsafe.Pointer(a), unsafe.Sizeof(*a), true)
	bo := t.Garbage("garbage cycle b", unsafe.Pointer(b), unsafe.Sizeof(*b), true)
	t.Edge(ao, unsafe.Pointer(&a.next), bo)
	t.Edge(bo, unsafe.Pointer(&b.next), ao)
	l, go_ := garbageLeaf("held by the garbage cycle")
	b.left = l
	t.Edge(bo, unsafe.Pointer(&b.left), go_)
	b.raw = unsafe.Pointer(live)
	t.Edge(bo, unsafe.Pointer(&b.raw), lo)
	b.any = tail
	tail.next = new(node)
	tailObject := t.Garbage("tail of the garbage cycle", unsafe.Pointer(tail), unsafe.Sizeof(*tail), true)
	t.Interface(bo, unsafe.Pointer(&b.any), tailObject, "*main.node")
	t.Edge(tailObject, unsafe.Pointer(&tail.next), t.Garbage("end of the tail", unsafe.Pointer(tail.next), unsafe.Sizeof(*tail), true))

	var head *node
	var headObject *truth.Object
	for i := 0; i < 10; i++ {
		n := &node{next: head}
		o := t.Garbage(fmt.Sprintf("garbage list %d", i), unsafe.Pointer(n), unsafe.Sizeof(*n), true)
		if head != nil {
			t.Edge(o, unsafe.Pointer(&n.next), headObject)
		}
		head, headObject = n, o
	}

	table := make([]*leaf, 2000)
	to := t.Garbage("garbage table", unsafe.Pointer(&table[0]), uintptr(len(table))*word, true)
	for i := 0; i < len(table); i += 100 {
		l, lo := garbageLeaf("in the garbage table")
		table[i] = l
		t.Edge(to, unsafe.Pointer(&table[i]), lo)
	}
	truth.Scrub()
	done <- true
}

// Goroutines that wait, each holding a leaf by a local variable only; the program
// goroutines has those that wait for other things. They are started without
// arguments: otherwise the compiler's wrapper would be the outermost function.
var (
	never   = make(chan int)
	another = make(chan *leaf)
)

func send() {
	l, o := newLeaf("held by send")
	sent, so := newLeaf("being sent by send")
	g := t.Enter("main.send", o, "chan send")
	g.Holds = append(g.Holds, so.Slot)
	another <- sent
	runtime.KeepAlive(l)
	runtime.KeepAlive(sent)
}

// box is a local variable whose address is taken. Only pointers to it are in
// the dump's field lists, not the pointers in it.
type box struct {
	number int64
	direct *leaf
	node   *node
}

func stackObject() {
	var b box
	l, _ := newLeaf("held by a stack object")
	b.direct = l
	b.node = new(node)
	no := t.Object("node held by a stack object", unsafe.Pointer(b.node), unsafe.Sizeof(node{}), true)
	inner, lo := newLeaf("held by the node held by a stack object")
	b.node.left = inner
	t.Edge(no, unsafe.Pointer(&b.node.left), lo)
	l, inner = nil, nil
	waitWith(&b)
}

//go:noinline
func waitWith(b *box) {
	g := t.Enter("main.stackObject", nil, "chan receive")
	g.Frames = []string{"main.waitWith", "main.stackObject"}
	<-never
	b.number = b.direct[0] + b.node.left[0]
}

type resource struct {
	name string
	big  [600]byte
	l    *leaf
}

func buildFinalizers() {
	r := &resource{name: "finalized"}
	o := t.Object("resource with a finalizer", unsafe.Pointer(r), unsafe.Sizeof(*r), true)
	l, lo := newLeaf("resource.l")
	r.l = l
	t.Edge(o, unsafe.Pointer(&r.l), lo)
	keep(r)

	// Its closure is a root, and what the closure captured with it.
	captured, co := newLeaf("captured by a finalizer")
	f := func(r *resource) { captured[0]++ }
	fo := t.Closure("finalizer's closure", unsafe.Pointer(&f), co)
	runtime.SetFinalizer(r, f)
	t.Finalizers = append(t.Finalizers, truth.Finalizer{Object: o.Slot, Closure: fo.Slot})
}

func main() {
	debug.SetGCPercent(-1) // garbage shall stay where it is
	buildNode()
	buildGlobals()
	buildStrings()
	buildTiny()
	buildSizes()
	buildTables()
	buildMaps()
	buildChannels()
	buildFinalizers()
	done := make(chan bool)
	go buildGarbage(done)
	<-done

	go send()
	go stackObject()
	t.Await(2)

	file := truth.Create("known.dump")
	mine, o := newLeaf("held by main")
	g := t.Enter("main.main", o, "running", "dumping heap")
	g.Frames = []string{"runtime/debug.WriteHeapDump", "main.main"}
	truth.Scrub()
	truth.Dump(file)
	t.Write()
	runtime.KeepAlive(mine)
}
