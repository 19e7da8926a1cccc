// Objects of every kind.
package main

import (
	"bytes"
	"container/list"
	"context"
	"errors"
	"fmt"
	"math/big"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"time"
	"unsafe"
)

type node struct {
	name string
	next *node
	data interface{}
}

// Leaked is what the conversions of cores must find.
type Leaked struct {
	name string
	body []byte
	next *Leaked
}

const leakedCount = 1000

var leak = map[int]*Leaked{}

//go:noinline
func chain(n int) *node {
	var head *node
	for i := 0; i < n; i++ {
		head = &node{fmt.Sprint("node ", i), head, i}
	}
	return head
}

type (
	bigKey   [200]byte
	bigValue struct {
		pad [30]int
		p   *node
	}
	// Sizes around the limits of the allocator: 512 bytes, from which on there are malloc headers; 32 KB.
	of504 struct{ p [63]*node }
	of512 struct{ p [64]*node }
	of520 struct{ p [65]*node }
	mixed struct {
		n    int
		s    string
		f    func() int
		p    *node
		pad  [100]uintptr
		tail []*node
	}
	sparse struct {
		pad  [300]uintptr
		p    *node
		more [300]uintptr
	}
	of32752 struct{ p [4094]*node } // with its header 32760 bytes
	of32760 struct{ p [4095]*node } // with its header the largest one that has one
	of32768 struct{ p [4096]*node } // has none
	huge    struct{ p [40000]*node }
	striped struct {
		a uintptr
		p *node
		b [3]uint32
	}
	hugeStriped struct{ s [5000]striped }
	shape       interface{ area() float64 }
	square      struct{ side float64 }
	circle      struct {
		r    float64
		name *string
	}
	empty       struct{}
	pair[A any] struct {
		a, b A
		p    *pair[A]
	}
	tree struct {
		left, right *tree
		value       fmt.Stringer
	}
	withUintptr struct {
		u uintptr
		p unsafe.Pointer
	}
)

func (s square) area() float64   { return s.side * s.side }
func (c *circle) area() float64  { return c.r * c.r * 3 }
func (e empty) area() float64    { return 0 }
func (n *node) String() string   { return n.name }
func (p *pair[A]) area() float64 { return 1 }

// All that is kept hangs from these: of pointers in bss and, as it has a value from the start, in data.
var (
	kept     []interface{}
	inData   = [...]*node{{name: "in data"}, nil, {name: "in data too"}}
	named    = map[string]interface{}{}
	noscan   [1000]uint64
	arrayBSS [300]*node
)

func keep(v interface{}) { kept = append(kept, v) }

func build(depth int) *tree {
	if depth == 0 {
		return nil
	}
	return &tree{build(depth - 1), build(depth - 1), time.Duration(depth)}
}

func objects() {
	for i := 0; i < leakedCount; i++ {
		leak[i] = &Leaked{fmt.Sprint("leaked ", i), make([]byte, 100), leak[i-1]}
	}
	for i := range arrayBSS {
		arrayBSS[i] = &node{name: "of an array"}
	}
	keep(leak)
	keep(chain(4000))
	keep(build(10))
	maps()
	closures()
	slices()
	channels()
	reflected()
	large()
	tiny()
	library()
	keep(garbage(100))
}

// garbage keeps each second node, so that spans have holes.
//
//go:noinline
func garbage(n int) (half []*node) {
	for i := 0; i < n; i++ {
		dead := chain(10)
		half = append(half, chain(1))
		runtime.KeepAlive(dead)
	}
	return
}

func maps() {
	for i := 0; i < 50; i++ {
		keep(map[string]int{"a": i})
		keep(map[int]*node{i: {name: "value"}, 2 * i: nil})
	}
	for _, n := range []int{0, 1, 8, 9, 100, 3000} {
		byInt, byName, set := map[int]*node{}, map[string]int{}, make(map[int]struct{}, n)
		byKey, byValue, mixedMap := map[bigKey]int{}, map[int32]bigValue{}, map[interface{}]interface{}{}
		for i := 0; i < n; i++ {
			byInt[i] = &node{}
			byName[fmt.Sprint("key ", i)] = i
			set[i] = struct{}{}
			if i < 200 {
				byKey[bigKey{byte(i)}] = i
				byValue[int32(i)] = bigValue{p: &node{}}
				mixedMap[i] = fmt.Sprint(i)
				mixedMap[fmt.Sprint(i)] = &node{}
				mixedMap[square{float64(i)}] = circle{}
			}
		}
		for i := 0; i < n; i += 3 {
			delete(byInt, i)
		}
		named[fmt.Sprint("maps ", n)] = []interface{}{byInt, byName, set, byKey, byValue, mixedMap}
	}
	var none map[string]*node
	keep(none)
}

func closures() {
	for i := 0; i < 50; i++ {
		i, n, s := i, &node{name: "captured"}, fmt.Sprint("text ", i)
		keep(func() int { return i })
		keep(func() *node { return n })
		keep(func() (int, string, *node) { i++; return i, s, n })
		keep(n.String) // a method value
		keep((*node).String)
	}
}

func slices() {
	for i := 0; i < 60; i++ {
		keep(make([]byte, i*17))
		keep(make([]*node, i))
		keep(make([]string, i, 2*i))
		keep(make([]striped, i))
		keep([][]*node{make([]*node, i), nil, {{}}})
		keep(make([]interface{}, i)[i/2:])
		keep(make([]square, i))
		keep(make([]mixed, i))
		keep(strings.Repeat("text ", i))
		keep([]byte(strings.Repeat("bytes ", i))[i:])
		keep(make([]withUintptr, i))
		keep([]shape{square{1}, &circle{}, empty{}, &pair[string]{a: "a"}, nil})
		keep(&pair[*node]{a: &node{}, p: &pair[*node]{}})
	}
}

func channels() {
	for i := 0; i < 20; i++ {
		numbers, nodes, texts := make(chan int, i), make(chan *node, i), make(chan string, 2*i)
		big, structs := make(chan [50]*node, 3), make(chan pair[*node], i+1)
		for k := 0; k < i; k++ {
			numbers <- k
			nodes <- &node{name: "in a channel"}
			texts <- fmt.Sprint("in a channel ", k)
		}
		big <- [50]*node{{}}
		structs <- pair[*node]{}
		keep([]interface{}{numbers, nodes, texts, big, structs, make(chan struct{})})
	}
}

func reflected() {
	pointer, text := reflect.TypeOf((*node)(nil)), reflect.TypeOf("")
	for i := 1; i <= 20; i++ {
		structure := reflect.StructOf([]reflect.StructField{
			{Name: "A", Type: pointer}, {Name: "B", Type: reflect.ArrayOf(i, reflect.TypeOf(byte(0)))},
			{Name: "C", Type: reflect.ArrayOf(i*10, pointer)}, {Name: "D", Type: text},
		})
		keep(reflect.New(structure).Interface())
		keep(reflect.MakeSlice(reflect.SliceOf(structure), i, 2*i).Interface())
		keep(reflect.New(reflect.ArrayOf(i*10, structure)).Interface())
		m := reflect.MakeMap(reflect.MapOf(reflect.ArrayOf(i, reflect.TypeOf(int32(0))), structure))
		m.SetMapIndex(reflect.Zero(reflect.ArrayOf(i, reflect.TypeOf(int32(0)))), reflect.Zero(structure))
		keep(m.Interface())
		keep(reflect.MakeChan(reflect.ChanOf(reflect.BothDir, structure), i).Interface())
		in := make([]reflect.Type, i)
		for k := range in {
			in[k] = []reflect.Type{pointer, text, structure}[k%3]
		}
		function := reflect.FuncOf(in, []reflect.Type{pointer}, false)
		keep(reflect.MakeFunc(function, func([]reflect.Value) []reflect.Value { return []reflect.Value{reflect.ValueOf(&node{})} }).Interface())
		keep(reflect.New(function).Interface())
		keep(reflect.PointerTo(structure))
	}
	keep(reflect.ValueOf(&node{}).MethodByName("String").Interface())
}

func large() {
	for i := 0; i < 10; i++ {
		keep(&of504{})
		keep(&of512{})
		keep(&of520{p: [65]*node{64: {}}})
		keep(&mixed{p: &node{}})
		keep(&sparse{p: &node{}})
	}
	for n := 1; n < 60; n++ {
		keep(make([]of520, n)[n-1:])
		keep(make([]*node, n*70))
		keep(make([]byte, n*700))
	}
	keep(&of32752{p: [4094]*node{4093: {}}})
	keep(&of32760{p: [4095]*node{4094: {}}})
	keep(&of32768{p: [4096]*node{4095: {}}})
	keep(&huge{p: [40000]*node{1: {}, 39999: {}}})
	keep(&hugeStriped{})
	keep(make([]hugeStriped, 3))
	keep(make([]huge, 2))
	keep(make([]byte, 40000))
	keep(make([]byte, 1<<20+1))
	keep(make([]*node, 5000))
	keep(make([]*node, 100000))
	keep(make([]striped, 10001))
	keep(make([]string, 5000))
	keep(make([]sparse, 100))
	keep(make([]interface{}, 3000))
}

func tiny() {
	for i := 0; i < 300; i++ {
		keep(new(int8))
		keep(new([3]byte))
		keep(new(int32))
		keep(fmt.Sprint(i))
		keep(new(float64))
		keep(new(*node)) // 8 bytes, of which each span has bits of its own
		keep(new(empty))
		keep(new(bool))
		keep(float64(i))
	}
}

func library() {
	l := list.New()
	var m sync.Map
	pool := &sync.Pool{New: func() interface{} { return new(node) }}
	for i := 0; i < 100; i++ {
		l.PushBack(&node{})
		m.Store(i, &node{})
		pool.Put(&node{})
	}
	ctx, cancel := context.WithTimeout(context.WithValue(context.Background(), empty{}, "value"), time.Hour)
	keep([]interface{}{l, &m, pool, ctx, cancel, time.AfterFunc(time.Hour, func() {}), time.NewTicker(time.Hour)})
	keep(new(big.Int).Exp(big.NewInt(3), big.NewInt(1000), nil))
	keep(bytes.NewBufferString(strings.Repeat("buffer", 100)))
	keep(errors.New("an error"))
	keep(fmt.Errorf("wrapped: %w", errors.New("another")))
	keep(new(strings.Builder))
	keep(time.Now())
}
