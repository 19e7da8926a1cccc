// A program that writes heap dumps and, of the same moment, the heap profiles of runtime/pprof:
//
//	profiled RATE [early] PREFIX
//
// PREFIX.1.dump and PREFIX.1.pb.gz, then it allocates more, and PREFIX.2.*. With early there is one pair, of before the first
// garbage collection.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"sort"
	"strconv"
	"strings"
	"sync"
)

const secret = "correct horse battery staple "

var keep []any

// Generic, and inlined.
type pair[K comparable, V any] struct {
	key   K
	value V
	next  *pair[K, V]
}

func push[K comparable, V any](list *pair[K, V], key K, value V) *pair[K, V] {
	return &pair[K, V]{key, value, list}
}

// Inlined into each other, and twice on a line.
type leaf struct {
	bytes []byte
	name  string
}

func newLeaf(size int) *leaf { return &leaf{bytes: make([]byte, size)} }

func named(size int) *leaf {
	l := newLeaf(size)
	l.name = secret + strconv.Itoa(size)
	return l
}

func twice(size int) (*leaf, *leaf) { return named(size), newLeaf(size + 1) }

// Called by variables, and by wrappers that the compiler makes.
type shape interface{ grow(size int) }

type square struct{ all []*leaf }

func (s *square) grow(size int) { s.all = append(s.all, newLeaf(size)) }

type wrapped struct{ square }

func growAll(shapes []shape, size int) {
	for _, s := range shapes {
		s.grow(size)
	}
}

// Inlined into itself by the newer compilers; of few calls, for a stack that is cut does not say in the midst of which it was.
func recurse(depth int) []*leaf {
	if depth == 0 {
		return nil
	}
	return append(recurse(depth-1), newLeaf(depth))
}

// Of more calls than a stack has.
//
//go:noinline
func deep(calls int, f func()) {
	if calls == 0 {
		f()
	} else {
		deep(calls-1, f)
	}
}

// The same, two calls at a time: the stack of one of two ends amid them.
//
//go:noinline
func pairs(calls int, f func()) {
	if calls == 0 {
		f()
	} else {
		half(calls, f)
	}
}

func half(calls int, f func()) { pairs(calls-1, f) }

// On one line are who calls itself and who is inlined; whom they call tells them apart.
func both(n int) bool {
	return n == 0 && zero() || n > 0 && both(n-1) && func() bool { return more(n) }()
}

//go:noinline
func zero() bool { keep = append(keep, new([50]int)); return true }

//go:noinline
func more(n int) bool { keep = append(keep, named(n)); return true }

func closures() {
	add := func(l *leaf) { keep = append(keep, l) }
	add(named(3))
	func() { keep = append(keep, func() *leaf { return newLeaf(5) }, new([1000]int)) }()
	f := (&square{}).grow
	f(40)
	keep = append(keep, f)
	var once sync.Once
	once.Do(func() { keep = append(keep, named(7)) })
}

// The line of the innermost call is not that of where it returns to.
func lines(n int) (all []int) {
	for i := 0; i < n; i++ {
		all = append(all,
			-i,
			i)
	}
	sort.Ints(all)
	return
}

func build(n int) {
	var list *pair[string, int]
	var other *pair[int, []byte]
	for i := 0; i < n; i++ {
		list = push(list, secret+strconv.Itoa(i), i)
		other = push(other, i, make([]byte, i%500))
	}
	one, two := twice(1 << 16)
	keep = append(keep, list, other, one, two)
	var shapes []shape
	for i := 0; i < n/10; i++ {
		shapes = append(shapes, &square{}, &wrapped{})
	}
	for i := 0; i < 20; i++ {
		growAll(shapes, i*100)
	}
	keep = append(keep, shapes, recurse(20))
	counts := map[string][]int{}
	for i := 0; i < 5*n; i++ {
		k := strings.Repeat("k", i%50) + fmt.Sprint(i%500)
		counts[k] = append(counts[k], i)
	}
	keep = append(keep, counts)
	closures()
	done := make(chan []int)
	go func() { done <- lines(10 * n) }()
	keep = append(keep, <-done)
	deep(300, func() { keep = append(keep, named(77777)) })
	pairs(300, func() { keep = append(keep, named(66666)) })
	pairs(300, func() { keep = append(keep, newLeaf(55555)) })
	both(3)
	var value any
	text, _ := json.Marshal(map[string]any{"a": []int{1, 2, 3}, "b": map[string]string{"x": "y"}})
	if err := json.Unmarshal(text, &value); err != nil {
		panic(err)
	}
	keep = append(keep, value)
	garbage := 0
	for i := 0; i < 10*n; i++ {
		garbage += len(fmt.Sprintf("%d %s", i, secret))
	}
	keep = append(keep, garbage)
}

func create(path string) *os.File {
	file, err := os.Create(path)
	if err != nil {
		panic(err)
	}
	return file
}

// Nothing is allocated between the two, as far as the profile goes.
func write(prefix string) {
	dump, profile, heap := create(prefix+".dump"), create(prefix+".pb.gz"), pprof.Lookup("heap")
	debug.WriteHeapDump(dump.Fd())
	if err := heap.WriteTo(profile, 0); err != nil {
		panic(err)
	}
	dump.Close()
	profile.Close()
}

func main() {
	rate, _ := strconv.Atoi(os.Args[1])
	prefix := os.Args[len(os.Args)-1]
	runtime.MemProfileRate = rate
	if os.Args[2] == "early" {
		debug.SetGCPercent(-1)
		build(500)
		write(prefix + ".early")
		return
	}
	for i := 1; i <= 2; i++ {
		build(2000 * i)
		runtime.GC()
		runtime.GC() // the profile is that of the last one that has been swept
		write(fmt.Sprint(prefix, ".", i))
	}
	runtime.KeepAlive(keep)
}
