// What does not escape lies on the stack, and variables lead to it: what hangs there must have its type and its name.
package main

import (
	"fmt"
	"runtime"
	"sync"

	"leaks/expect"
	"settle"
)

type Event struct {
	name string
	data []byte
}

type Cache struct {
	order [8]*Event
	byKey map[string]*Event
	inner *Cache
	count int
}

const workers = 100

var ready sync.WaitGroup
var block = make(chan int)

func event(format string, n int) *Event {
	return &Event{name: fmt.Sprintf(format, n), data: make([]byte, 100)}
}

// A pointer to a struct that does not escape.
//
//go:noinline
func cached(n int) int {
	c := &Cache{}
	for i := range c.order {
		c.order[i] = event("cached %d", n+i)
	}
	c.byKey = map[string]*Event{}
	for i := 0; i < 20; i++ {
		c.byKey[fmt.Sprint(i)] = event("by key %d", i)
	}
	ready.Done()
	touch(c)
	return c.count + len(c.byKey)
}

// Its parameter leads to the caller's frame.
//
//go:noinline
func touch(c *Cache) {
	c.count += <-block
	for _, e := range c.order {
		c.count += len(e.name)
	}
}

// A slice whose array does not escape.
//
//go:noinline
func events(n int) (sum int) {
	list := make([]*Event, 0, 8)
	for i := 0; i < 8; i++ {
		list = append(list, event("listed %d", n+i))
	}
	ready.Done()
	sum = wait(list)
	for _, e := range list {
		sum += len(e.name)
	}
	return sum
}

//go:noinline
func wait(list []*Event) int {
	n := <-block
	return n + len(list)
}

// A struct by value, and a pointer to it in another one.
//
//go:noinline
func nested(n int) int {
	inner := Cache{count: n}
	inner.order[3] = event("nested %d", n)
	outer := Cache{inner: &inner}
	outer.order[0] = event("outer %d", n)
	ready.Done()
	touchNested(&outer)
	return outer.count + inner.count
}

//go:noinline
func touchNested(c *Cache) {
	c.inner.count += <-block
	c.count += len(c.inner.order[3].name) + len(c.order[0].name)
}

func main() {
	ready.Add(3 * workers)
	for i := 0; i < workers; i++ {
		i := i
		go func() { cached(i) }()
		go func() { events(i) }()
		go func() { nested(i) }()
	}
	ready.Wait()
	settle.Settle()
	runtime.GC()
	expect.Objects(`main\.Event`, workers*(8+20+8))
	expect.Objects(`map\[string\]\*main\.Event`, workers)
	expect.Keys(`main\.Event`, workers*20)
	// Two pointers may be the way to the same word, and the compiler keeps the one or the other in memory.
	expect.Local("main.cached", `c\.order\[5\](?: \(of main\.touch\))?\??`, `main\.Event`, workers)
	expect.Local("main.cached", `c\.byKey(?: \(of main\.touch\))?\??`, `map\[string\]\*main\.Event`, workers)
	expect.Local("main.events", `list\[7\](?: \(of main\.wait\))?\??`, `main\.Event`, workers)
	expect.Local("main.nested", `outer\.order\[0\]\.name(?: \(of main\.touchNested\))?\??`, `\(string\)`, workers)
	expect.Untyped(0.5)
	expect.Dump(1)
	expect.Done()
}
