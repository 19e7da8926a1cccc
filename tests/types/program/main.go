// Builds objects of every kind that Go has, writes down what they are, and dumps itself: program DIRECTORY.
package main

import (
	"bytes"
	"container/list"
	"context"
	"errors"
	"fmt"
	"math/big"
	"net/http"
	"net/url"
	"os"
	"reflect"
	"regexp"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"settle"
	"types/known"
)

type leaf struct {
	number int64
	text   string
	next   *leaf
}

type point struct{ x, y int32 }

type base struct {
	id    int
	owner *leaf
}

type embedded struct {
	base
	*leaf2
	tail *leaf
}

type leaf2 struct {
	hidden string
	more   []*leaf
}

type deep struct {
	pad   [3]int
	inner struct {
		a    int
		list [3]struct {
			flag bool
			to   *leaf
		}
		name string
	}
	last interface{}
}

type large struct {
	head *leaf
	data [200]*leaf
	tail string
}

type huge struct {
	words [5000]uintptr
	head  *leaf
}

type bigKey struct {
	a [20]int64
	s string
}

type bigValue struct {
	data [30]int64
	to   *leaf
}

type tree struct {
	left, right *tree
	value       string
}

type shape interface{ area() float64 }
type square struct {
	side  float64
	label string
}
type circle struct {
	r    float64
	name *string
}
type onlyPointer struct{ to *leaf }
type callback func(int) int
type names []string
type set map[string]struct{}
type failure struct {
	code int
	err  error
}

func (s square) area() float64          { return s.side }
func (c *circle) area() float64         { return c.r }
func (l *leaf) method(n int) int        { return int(l.number) + n }
func (l leaf) valueMethod(n int) int    { return int(l.number) + n }
func (f *failure) Error() string        { return strconv.Itoa(f.code) }
func (o onlyPointer) area() float64     { return 0 }
func (f callback) area() float64        { return 1 }
func (c *circle) grow(by float64) shape { c.r += by; return c }

type wide struct {
	numbers [10]int
	first   *leaf
	text    string
}

// A span fits into registers, like a time.Time.
type span struct {
	from, to int
	of       *leaf
}

// Only a reflect.Value leads to a reflected.
type reflected struct {
	number int
	of     *leaf
}

// everything has a field of every kind.
type everything struct {
	Pointer     *leaf
	ToPointer   **leaf
	ToToPointer ***leaf
	Linked      *leaf
	Tree        *tree
	Array       *[4]*leaf
	ArrayOf     [3]*leaf
	Structs     *[2]square
	Embedded    *embedded
	Deep        *deep
	Large       *large
	Huge        *huge
	Number      *int64
	Numbers     *[40]float64
	First       *base // of Embedded: the same address
	Interior    *string
	InArray     *point

	Slice        []*leaf
	Longer       []*leaf
	Sub          []square
	SliceStructs []square
	SliceStrings []string
	SliceAny     []interface{}
	SliceShapes  []shape
	SliceSlices  [][]string
	SliceMaps    []map[string]int
	SliceArrays  [][3]*leaf
	SliceFuncs   []func() int
	SliceChans   []chan int
	SliceOne     []*leaf
	SliceEmpty   []*leaf
	Bytes        []byte
	Runes        []rune
	Floats       []float64
	Points       []point
	Bools        []bool
	HugeSlice    []leaf
	Named        names

	Tiny      string
	Text      string
	Substring string
	BigText   string
	Static    string

	MapText     map[string]*leaf
	MapInt      map[int]string
	MapAny      map[interface{}]interface{}
	MapPoint    map[point]*leaf
	MapArray    map[[2]string]bool
	MapBigKey   map[bigKey]*leaf
	MapBigValue map[int]bigValue
	MapBigBoth  map[bigKey]bigValue
	MapSet      set
	MapNested   map[string]map[int]map[string][]int
	MapSlices   map[string][]*leaf
	MapStructs  map[string]square
	MapPointers map[*leaf]func(int) int
	MapShapes   map[int8]shape
	MapChans    map[string]chan *leaf
	MapFloats   map[float64]float64
	MapBytes    map[byte]bool
	MapLarge    map[string]*leaf
	MapLargeInt map[int]int
	MapGrowing  map[int]*tree
	MapDeleted  map[string]*tree
	MapEmpty    map[string]*leaf
	MapNil      map[string]*leaf
	MapGeneric  map[string]*leafPair
	MapDoc      map[string]interface{}

	ChanBuffered chan *leaf
	ChanStructs  chan square
	ChanInts     chan int
	ChanPoints   chan point
	ChanEmpty    chan struct{}
	ChanUnbuf    chan *leaf
	ChanSend     chan<- *tree
	ChanReceive  <-chan *square
	ChanReceived chan *circle
	ChanSent     chan shape

	FuncValue   func() int
	FuncRef     func() int
	FuncMany    func(int) string
	FuncMethod  func(int) int
	FuncValMeth func(int) int
	FuncIface   func() float64
	FuncGeneric func() string
	FuncStatic  func(string) int
	FuncNamed   callback
	FuncWide    func() int
	FuncSpan    func() int

	Reflected     reflect.Value
	ReflectedPart []reflect.Value

	AnyPointer   interface{}
	AnyStruct    interface{}
	AnyMap       interface{}
	AnyFunc      interface{}
	AnyString    interface{}
	AnyInt       interface{}
	AnySlice     interface{}
	AnyArray     interface{}
	AnyChan      interface{}
	AnyDirect    interface{}
	AnyNamed     interface{}
	AnyAnonymous interface{}
	Shape        shape
	ShapeValue   shape
	ShapeDirect  shape
	ShapeFunc    shape
	Err          error
	Wrapped      error
	Joined       error

	Pair        *leafPair
	PairPoint   *pointPair
	List        *treeList
	ListStrings *stringList
	Anonymous   *struct {
		A int
		B *leaf
	}

	AtomicPtr   atomicTree
	AtomicValue atomic.Value
	Once        sync.Once
	SyncMap     sync.Map
	Pool        *sync.Pool
	Mutex       *sync.RWMutex
	Cond        *sync.Cond
	Timer       *time.Timer
	Func        *time.Timer
	Ticker      *time.Ticker
	Context     context.Context
	Cancel      context.CancelFunc
	When        time.Time
	Where       *time.Location
	ListList    *list.List
	Buffer      *bytes.Buffer
	Builder     *strings.Builder
	BigInt      *big.Int
	Regexp      *regexp.Regexp
	URL         *url.URL
	Header      http.Header
	Request     *http.Request
	Client      *http.Client
	Finalized   *resource
	Newer       newer
}

type resource struct {
	name string
	l    *leaf
}

type contextKey struct{ name string }

var counter int

// text is new memory each time.
func text(s string) string {
	counter++
	return fmt.Sprintf("%s number %d, somewhat longer", s, counter)
}

func newLeaf(s string) *leaf { return &leaf{number: int64(len(s)), text: text(s)} }

func newTree(s string) *tree { return &tree{value: text(s), left: &tree{value: text(s + " left")}} }

func build(k *known.Known, source string) *everything {
	e := new(everything)
	e.Pointer = newLeaf("pointer")
	p := newLeaf("pointer to pointer")
	e.ToPointer = &p
	q := newLeaf("pointer to pointer to pointer")
	r := &q
	e.ToToPointer = &r
	for i := 0; i < 5; i++ {
		l := newLeaf("linked")
		l.next = e.Linked
		e.Linked = l
	}
	e.Tree = newTree("tree")
	e.Tree.right = newTree("tree right")
	e.Array = &[4]*leaf{newLeaf("array 0"), nil, newLeaf("array 2")}
	e.ArrayOf = [3]*leaf{1: newLeaf("array of 1")}
	e.Structs = &[2]square{{1, text("square")}, {2, text("square")}}
	e.Embedded = &embedded{base: base{1, newLeaf("base.owner")}, leaf2: &leaf2{hidden: text("hidden"), more: []*leaf{newLeaf("more"), newLeaf("more")}}, tail: newLeaf("tail")}
	e.Deep = new(deep)
	e.Deep.inner.list[1].to = newLeaf("deep list")
	e.Deep.inner.name = text("deep name")
	e.Deep.last = newTree("deep last")
	e.Large = &large{head: newLeaf("large head"), tail: text("large tail")}
	e.Large.data[199] = newLeaf("large data")
	e.Huge = &huge{head: newLeaf("huge head")}
	e.Number = new(int64)
	e.Numbers = new([40]float64)
	e.First = &e.Embedded.base
	e.Interior = &e.Large.tail
	points := make([]point, 40)
	e.InArray = &points[7]
	k.Base("InArray", source, points)

	e.Slice = []*leaf{newLeaf("slice 0"), newLeaf("slice 1"), newLeaf("slice 2")}
	e.Longer = make([]*leaf, 2, 20)
	e.Longer[1] = newLeaf("longer 1")
	e.Longer[:7][6] = newLeaf("longer beyond its length")
	squares := make([]square, 10)
	for i := range squares {
		squares[i].label = text("sub")
	}
	e.Sub = squares[3:5:6]
	k.Sub("Sub", source, squares, 3, 5)
	e.SliceStructs = []square{{1, text("struct 0")}, {2, text("struct 1")}, {3, text("struct 2")}}
	e.SliceStrings = []string{text("string 0"), text("string 1"), "static"}
	name := text("circle")
	e.SliceAny = []interface{}{newLeaf("any 0"), text("any 1"), 1 << 20, square{1, text("any 3")}, nil, []string{text("any 5")}, true, 2.5}
	e.SliceShapes = []shape{square{1, text("shape 0")}, &circle{1, &name}, onlyPointer{newLeaf("shape 2")}}
	e.SliceSlices = [][]string{{text("slices 0 0"), text("slices 0 1")}, nil, {text("slices 2 0")}}
	e.SliceMaps = []map[string]int{{text("maps 0"): 1}, {text("maps 1"): 2}}
	e.SliceArrays = [][3]*leaf{{newLeaf("arrays 0 0")}, {nil, newLeaf("arrays 1 1")}}
	e.SliceFuncs = []func() int{func() int { return len(name) }, func() int { return counter }}
	e.SliceChans = []chan int{make(chan int), make(chan int, 10)}
	e.SliceOne = []*leaf{newLeaf("one")}
	e.SliceEmpty = []*leaf{}
	e.Bytes = bytes.Repeat([]byte("x"), 100)
	e.Runes = []rune(text("runes"))
	e.Floats = make([]float64, 33)
	e.Points = make([]point, 17)
	e.Bools = make([]bool, 50)
	e.HugeSlice = make([]leaf, 3000)
	e.HugeSlice[2].text = text("huge slice")
	e.HugeSlice[1].next = newLeaf("huge slice 1")
	e.Named = names{text("named 0"), text("named 1")}

	e.Tiny = strconv.Itoa(123456 + counter)
	e.Text = text("text")
	whole := text("whole of which a part is there")
	e.Substring = whole[6:20]
	k.Text("Substring", source, whole)
	e.BigText = strings.Repeat(text("big"), 3000)
	e.Static = "static"

	buildMaps(e)
	buildChannels(e)
	buildFuncs(k, e)

	e.Reflected = reflect.New(reflect.TypeOf(reflected{})).Elem() // the value
	e.ReflectedPart = []reflect.Value{
		reflect.ValueOf(&reflected{1, newLeaf("reflected pointer")}),         // a pointer to the value
		reflect.ValueOf(&struct{ to *reflected }{&reflected{2, nil}}).Elem(), // what has a pointer to it
	}
	e.AnyPointer = newLeaf("any pointer")
	e.AnyStruct = square{1, text("any struct")}
	e.AnyMap = map[string]*leaf{text("any map"): newLeaf("any map")}
	e.AnyFunc = func() string { return name }
	e.AnyString = text("any string")
	e.AnyInt = 1<<20 + counter
	e.AnySlice = []*leaf{newLeaf("any slice"), newLeaf("any slice")}
	e.AnyArray = [2]*leaf{newLeaf("any array"), newLeaf("any array")}
	e.AnyChan = make(chan *square, 3)
	e.AnyDirect = onlyPointer{newLeaf("any direct")}
	e.AnyNamed = names{text("any named"), text("any named")}
	e.AnyAnonymous = struct {
		A string
		B *leaf
	}{text("anonymous"), newLeaf("anonymous")}
	e.Shape = &circle{2, &name}
	e.ShapeValue = square{3, text("shape value")}
	e.ShapeDirect = onlyPointer{newLeaf("shape direct")}
	e.ShapeFunc = callback(func(n int) int { return n + len(name) })
	e.Err = errors.New(text("error"))
	e.Wrapped = fmt.Errorf("wrapped %d: %w", counter, &failure{counter, errors.New(text("inner"))})

	e.Pair = &leafPair{text("key"), newLeaf("value"), &leafPair{key: text("next key")}}
	e.PairPoint = &pointPair{value: map[string]int{text("pair"): 1}}
	e.List = &treeList{items: []*tree{newTree("item"), newTree("item")}, head: &treeNode{value: newTree("node")}}
	e.ListStrings = &stringList{items: []string{text("item"), text("item")}, head: &stringNode{value: text("node"), next: &stringNode{value: text("node")}}}
	e.Anonymous = &struct {
		A int
		B *leaf
	}{1, newLeaf("anonymous")}

	e.AtomicPtr.Store(newTree("atomic"))
	e.AtomicValue.Store(square{1, text("atomic value")})
	for i := 0; i < 30; i++ {
		e.SyncMap.Store(text("sync"), newLeaf("sync"))
		e.SyncMap.Store(i, newTree("sync"))
	}
	e.Pool = &sync.Pool{New: func() interface{} { return new(leaf) }}
	e.Mutex = new(sync.RWMutex)
	e.Cond = sync.NewCond(e.Mutex)
	e.Timer = time.NewTimer(time.Hour)
	captured := newLeaf("captured by a timer")
	e.Func = time.AfterFunc(time.Hour, func() { captured.number++ })
	e.Ticker = time.NewTicker(time.Hour)
	ctx := context.WithValue(context.Background(), contextKey{text("key")}, newLeaf("context"))
	ctx, _ = context.WithTimeout(ctx, time.Hour)
	e.Context, e.Cancel = context.WithCancel(context.WithValue(ctx, &contextKey{text("key")}, text("value")))
	e.When = time.Now().In(time.FixedZone(text("zone"), 3600))
	e.Where = time.FixedZone(text("zone"), 7200)
	e.ListList = list.New()
	e.ListList.PushBack(newLeaf("list"))
	e.ListList.PushBack(text("list"))
	e.Buffer = bytes.NewBufferString(text("buffer"))
	e.Builder = new(strings.Builder)
	e.Builder.WriteString(text("builder"))
	e.BigInt = new(big.Int).Exp(big.NewInt(3), big.NewInt(1000), nil)
	e.Regexp = regexp.MustCompile(`^(a+|b*)[c-k]{2,5}\w(?P<name>x+)$`)
	e.URL, _ = url.Parse("http://user:" + strconv.Itoa(counter) + "@example.com:8080/path/to?query=1#fragment")
	e.Header = http.Header{"Content-Type": {text("type")}, "X-Long-Header": {text("long"), text("long")}}
	e.Request, _ = http.NewRequest("POST", "http://example.com/"+strconv.Itoa(counter), strings.NewReader(text("body")))
	e.Client = &http.Client{Timeout: time.Minute, Transport: &http.Transport{MaxIdleConns: 3}}
	e.Finalized = &resource{text("finalized"), newLeaf("finalized")}
	held := newLeaf("captured by a finalizer")
	runtime.SetFinalizer(e.Finalized, func(*resource) { held.number++ })
	buildNewer(e)
	return e
}

func buildMaps(e *everything) {
	e.MapText = map[string]*leaf{text("a"): newLeaf("map a"), text("b"): newLeaf("map b"), text("nil"): nil}
	e.MapInt = map[int]string{1: text("map 1"), 2: text("map 2")}
	e.MapAny = map[interface{}]interface{}{text("key"): newLeaf("any"), point{1, 2}: text("any"), 1 << 20: newTree("any"), true: 1.5}
	e.MapPoint = map[point]*leaf{{1, 2}: newLeaf("point"), {3, 4}: newLeaf("point")}
	e.MapArray = map[[2]string]bool{{text("x"), text("y")}: true}
	e.MapBigKey = map[bigKey]*leaf{{s: text("big key")}: newLeaf("big key")}
	e.MapBigValue = map[int]bigValue{1: {to: newLeaf("big value")}, 2: {to: newLeaf("big value")}}
	e.MapBigBoth = map[bigKey]bigValue{{s: text("both")}: {to: newLeaf("both")}}
	e.MapSet = set{text("set"): {}, text("set"): {}}
	e.MapNested = map[string]map[int]map[string][]int{text("outer"): {1: {text("inner"): {1, 2, 3}}}}
	e.MapSlices = map[string][]*leaf{text("slices"): {newLeaf("slices"), newLeaf("slices")}}
	e.MapStructs = map[string]square{text("structs"): {1, text("structs")}}
	name := text("captured in a map")
	e.MapPointers = map[*leaf]func(int) int{newLeaf("key"): func(n int) int { return n + len(name) }}
	e.MapShapes = map[int8]shape{1: square{1, text("shapes")}, 2: &circle{1, &name}}
	e.MapChans = map[string]chan *leaf{text("chans"): make(chan *leaf, 2)}
	e.MapFloats = map[float64]float64{1.5: 2.5}
	e.MapBytes = map[byte]bool{1: true}
	e.MapLarge = map[string]*leaf{}
	e.MapLargeInt = map[int]int{}
	e.MapGrowing = map[int]*tree{}
	e.MapDeleted = map[string]*tree{}
	for i := 0; i < 3000; i++ {
		e.MapLarge[text("large")] = newLeaf("large")
		e.MapLargeInt[i] = i
		e.MapDeleted[strconv.Itoa(i)] = newTree("deleted")
	}
	for i := 0; i < 13*64+1; i++ { // a classic map of 128 buckets has just begun to grow
		e.MapGrowing[i] = newTree("growing")
	}
	for i := 0; i < 2990; i++ {
		delete(e.MapDeleted, strconv.Itoa(i))
	}
	e.MapEmpty = map[string]*leaf{}
	e.MapGeneric = map[string]*leafPair{text("generic"): {key: text("generic")}}
	e.MapDoc = map[string]interface{}{text("n"): 1.5, text("s"): text("doc"), text("l"): []interface{}{text("doc"), 2.5, map[string]interface{}{text("deep"): nil}}}
}

func buildChannels(e *everything) {
	e.ChanBuffered = make(chan *leaf, 4)
	e.ChanBuffered <- newLeaf("buffered")
	e.ChanBuffered <- newLeaf("buffered")
	e.ChanStructs = make(chan square, 3)
	e.ChanStructs <- square{1, text("chan")}
	e.ChanInts = make(chan int, 10)
	e.ChanPoints = make(chan point, 5)
	e.ChanEmpty = make(chan struct{})
	e.ChanUnbuf = make(chan *leaf)
	e.ChanSend = make(chan *tree, 2)
	c := make(chan *square, 2)
	c <- &square{1, text("receive")}
	e.ChanReceive = c
	e.ChanReceived = make(chan *circle)
	e.ChanSent = make(chan shape)
}

func buildFuncs(k *known.Known, e *everything) {
	byValue := newLeaf("captured by value")
	e.FuncValue = func() int { return int(byValue.number) }
	byReference := newLeaf("captured by reference")
	e.FuncRef = func() int { byReference = byReference.next; return 1 }
	a, b, c, d := newLeaf("captured 1"), text("captured 2"), []string{text("captured 3"), text("captured 3")}, map[string]*leaf{text("captured 4"): nil}
	var f interface{} = newTree("captured 5")
	e.FuncMany = func(n int) string { return b + c[0] + fmt.Sprint(a, d, f, n) }
	l := newLeaf("receiver")
	e.FuncMethod = l.method
	e.FuncValMeth = newLeaf("copied receiver").valueMethod
	var s shape = &circle{3, &b}
	e.FuncIface = s.area
	e.FuncGeneric = generic(newLeaf("generic"), text("generic"))
	e.FuncStatic = func(s string) int { return len(s) }
	e.FuncNamed = func(n int) int { return n + len(b) }
	// Too large for registers, so DWARF has its address, a pointer, where the closure has the value; up to 1.25 optimized code has
	// neither, so that only the class can be asked for.
	w := wide{first: newLeaf("captured in a value"), text: text("captured in a value")}
	e.FuncWide = func() int { return w.sum() + w.sum() }
	// DWARF of optimized code leaves out a struct that registers hold.
	between, behind := span{1, 2, newLeaf("captured in a struct")}, newLeaf("captured behind a struct")
	e.FuncSpan = func() int { return between.from + int(between.of.number+behind.number) }
	k.Captured(&e.FuncValue, "byValue", byValue)
	k.Captured(&e.FuncSpan, "behind", behind)
	k.Captured(&e.FuncMany, "a", a)
}

//go:noinline
func (w wide) sum() int { return len(w.text) + w.numbers[len(w.text)%10] + int(w.first.number) }

// Roots. What an interface holds is known without DWARF.
var (
	RootAny      interface{}
	Root         *everything
	GlobalLeaf   *leaf
	GlobalStruct struct {
		first  *tree
		nested struct {
			list []*leaf
			any  interface{}
		}
		table map[string]*square
		text  string
	}
	GlobalSlice  []square
	GlobalArray  [3]*leaf
	GlobalMap    = map[point]*tree{}
	GlobalChan   chan *square
	GlobalFunc   func() int
	GlobalString string
	GlobalError  error
	GlobalShape  shape
	GlobalSync   sync.Map
	GlobalAtomic atomicLeaf
	GlobalOnce   sync.Once
	GlobalPair   treePair
	// The address of a type before a pointer, and yet no interface that holds that pointer.
	GlobalTyped struct {
		is reflect.Type
		of []square
	}
)

// Has a pointer where a square has, of another name.
type linked struct {
	number uint64
	next   *linked
}

func buildGlobals() {
	GlobalLeaf = newLeaf("global")
	GlobalStruct.first = newTree("global")
	GlobalStruct.nested.list = []*leaf{newLeaf("global list"), newLeaf("global list")}
	GlobalStruct.nested.any = &square{1, text("global any")}
	GlobalStruct.table = map[string]*square{text("global"): {1, text("global table")}}
	GlobalStruct.text = text("global text")
	GlobalSlice = []square{{1, text("global slice")}, {2, text("global slice")}}
	GlobalArray[2] = newLeaf("global array")
	for i := 0; i < 20; i++ {
		GlobalMap[point{int32(i), 1}] = newTree("global map")
	}
	GlobalChan = make(chan *square, 3)
	GlobalChan <- &square{1, text("global chan")}
	l := newLeaf("captured by a global's closure")
	GlobalFunc = func() int { return int(l.number) }
	GlobalString = text("global string")
	GlobalError = &failure{1, errors.New(text("global error"))}
	GlobalShape = square{1, text("global shape")}
	GlobalSync.Store(text("global sync"), newLeaf("global sync"))
	GlobalAtomic.Store(newLeaf("global atomic"))
	GlobalTyped.is, GlobalTyped.of = reflect.TypeOf(linked{}), []square{{1, text("global typed")}, {2, text("global typed")}}
	GlobalPair.key, GlobalPair.value = text("global pair"), newTree("global pair")
}

var (
	never = make(chan bool)
	ready = make(chan bool)
)

func goroutineID() uint64 {
	line := make([]byte, 64)
	line = bytes.TrimPrefix(line[:runtime.Stack(line, false)], []byte("goroutine "))
	id, _ := strconv.ParseUint(string(line[:bytes.IndexByte(line, ' ')]), 10, 64)
	return id
}

//go:noinline
func use(a *leaf, b []*tree, c map[string]*square, d string, e shape, f func() int, g chan *circle, h **leaf) int {
	return len(b) + len(c) + len(d) + int(a.number) + int(e.area()) + f() + len(g) + int((*h).number)
}

// Parameters that are used after the wait.
//
//go:noinline
func parameters(k *known.Known, pa *leaf, pb []*tree, pc map[string]*square, pd string, pe shape, pf func() int, pg chan *circle, ph **leaf) {
	id := goroutineID()
	f := "main.parameters"
	note := func(name string, v interface{}) { k.Local(id, f, name, true, v) }
	a, b, c, d, e, g, h := pa, pb, pc, pd, pe, pg, ph
	fn := pf
	note("pa", &a)
	note("pb", &b)
	note("pc", &c)
	note("pd", &d)
	note("pe", &e)
	note("pf", &fn)
	note("pg", &g)
	note("ph", &h)
	a, b, c, d, e, g, h, fn = nil, nil, nil, "", nil, nil, nil, nil
	ready <- true
	<-never
	use(pa, pb, pc, pd, pe, pf, pg, ph)
}

//go:noinline
func locals(k *known.Known) {
	l := newLeaf("local")
	trees := append(make([]*tree, 0, 5), newTree("local"), newTree("local"))
	squares := map[string]*square{text("local"): {1, text("local")}}
	name, label := text("local"), text("local label")
	s := anyShape(&label)
	captured := newLeaf("captured by a local closure")
	fn := func() int { return int(captured.number) }
	ch := make(chan *circle, 2)
	pp := new(*leaf)
	*pp = newLeaf("local pointer to pointer")
	noteLocals(k, l, trees, squares, name, s, fn, ch, pp)
	ready <- true
	<-never
	use(l, trees, squares, name, s, fn, ch, pp)
}

// The compiler does not see which type it is: else it would not keep the interface's first word.
//
//go:noinline
func anyShape(label *string) shape {
	if len(*label) > 100 {
		return &square{1, *label}
	}
	return &circle{1, label}
}

//go:noinline
func noteLocals(k *known.Known, l *leaf, trees []*tree, squares map[string]*square, name string, s shape, fn func() int, ch chan *circle, pp **leaf) {
	id := goroutineID()
	note := func(name string, v interface{}) { k.Local(id, "main.locals", name, false, v) }
	note("l", &l)
	note("trees", &trees)
	note("squares", &squares)
	note("name", &name)
	note("s", &s)
	note("fn", &fn)
	note("ch", &ch)
	note("pp", &pp)
}

// A local struct whose address is taken: the collector knows it as a stack object.
//
//go:noinline
func stackStruct(k *known.Known) {
	var pairs leafPair
	pairs.key, pairs.value = text("stack"), newLeaf("stack")
	noteStack(k, &pairs)
	ready <- true
	<-never
	touch(&pairs)
}

//go:noinline
func noteStack(k *known.Known, p *leafPair) {
	c := *p
	k.Local(goroutineID(), "main.stackStruct", "pairs", false, &c)
}

//go:noinline
func touch(p *leafPair) { p.value.number++ }

// Deferred calls in a loop have records.
//
//go:noinline
func deferring(k *known.Known) {
	for i := 0; i < 3; i++ {
		l := newLeaf("deferred")
		f := func() { l.number++ } // called where it stands, old releases pass it l instead
		defer f()
	}
	ready <- true
	<-never
}

//go:noinline
func receiving(e *everything) {
	ready <- true
	c := <-e.ChanReceived
	c.r++
}

//go:noinline
func sending(e *everything) {
	s := square{1, text("sent")}
	ready <- true
	e.ChanSent <- s
}

//go:noinline
func selecting(e *everything) {
	l := newLeaf("selected")
	ready <- true
	select {
	case e.ChanUnbuf <- l:
	case s := <-never:
		_ = s
	}
}

func start(k *known.Known) {
	RootAny = build(k, known.Any)
	Root = build(k, known.Global)
	buildGlobals()
	// These goroutines note down what they know.
	go locals(k)
	<-ready
	go func() {
		name, label := text("parameter"), text("parameter label")
		captured := newLeaf("captured by a parameter")
		pp := new(*leaf)
		*pp = newLeaf("parameter pointer to pointer")
		parameters(k, newLeaf("parameter"), []*tree{newTree("parameter"), newTree("parameter")}, map[string]*square{text("parameter"): {1, text("p")}},
			name, &circle{1, &label}, func() int { return int(captured.number) }, make(chan *circle, 1), pp)
	}()
	<-ready
	go stackStruct(k)
	<-ready
	go deferring(k)
	<-ready
	for _, e := range []*everything{RootAny.(*everything), Root} {
		go receiving(e)
		<-ready
		go sending(e)
		<-ready
		go selecting(e)
		<-ready
	}
	settle.Settle()
	k.Root("main.RootAny", &RootAny)
	k.Variable("main.Root", &Root)
	k.Variable("main.GlobalLeaf", &GlobalLeaf)
	k.Variable("main.GlobalStruct", &GlobalStruct)
	k.Variable("main.GlobalSlice", &GlobalSlice)
	k.Variable("main.GlobalArray", &GlobalArray)
	k.Variable("main.GlobalMap", &GlobalMap)
	k.Variable("main.GlobalChan", &GlobalChan)
	k.Variable("main.GlobalFunc", &GlobalFunc)
	k.Variable("main.GlobalString", &GlobalString)
	k.Variable("main.GlobalError", &GlobalError)
	k.Variable("main.GlobalShape", &GlobalShape)
	k.Variable("main.GlobalSync", &GlobalSync)
	k.Variable("main.GlobalAtomic", &GlobalAtomic)
	k.Variable("main.GlobalPair", &GlobalPair)
	k.Variable("main.GlobalTyped", &GlobalTyped)
	k.Expect(`^runtime\.g$`, 10, true)
	k.Expect(`^(runtime\.sudog|sudog<.*>)$`, 2, true)
	k.Expect(`^main\.bigKey$`, 4, false)
	k.Expect(`^main\.bigValue$`, 6, false)
	k.Expect(`^map\[string\]\*main\.leaf entries$`, 2, false)
	k.Expect(`^func main\.deferring\.func1$`, 3, true)
	k.Expect(`^(\[\])?sync\.poolLocal$`, 0, true)
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: program DIRECTORY")
		os.Exit(2)
	}
	debug.SetGCPercent(-1)
	k := known.New()
	done := make(chan bool)
	go func() { // what is on this stack is not in the dump
		start(k)
		done <- true
	}()
	<-done
	dump(os.Args[1])
	k.Write(os.Args[1])
}
