// What the linker lays out: values that globals point to are in data or bss, not in the heap, and have no symbol of their
// own. What hangs there must be found by the name of the global.
package main

import (
	"fmt"
	"runtime"
	"sync"

	"leaks/expect"
	"leaks/static/store"
)

type Item struct {
	name string
	next *Item
}

type Order struct {
	id   int
	list []*Item
	note *string
}

type Cache struct {
	mutex sync.Mutex
	items map[string]*Item
	order []*Order
	limit int
	inner struct {
		head *Item
		more [2]*Order
	}
}

type Node struct {
	next *Node
	item *Item
}

type handler interface{ handle() int }

func (c *Cache) handle() int { return c.limit }
func (o *Order) handle() int { return o.id }

// The commonest global there is.
var cache = &Cache{items: map[string]*Item{}, limit: 7}

// Pointers behind pointers, arrays, slices, interfaces.
var list = []*Order{{id: 1}, {id: 2}}
var array = [3]*Order{{id: 3}, nil, {id: 5}}
var face handler = &Cache{limit: 8}
var empty interface{} = &Order{id: 9}
var faces = []handler{&Cache{limit: 9}, &Order{id: 10}}
var chain = &Node{next: &Node{next: &Node{}}}

// A pointer to another global, and to a pointer.
var other = Cache{limit: 10}
var pp = &other
var ppp = &pp

// Of another package, by a pointer from this one: the shorter way has the name.
var registry = store.Default
var hidden = &struct{ registry *store.Registry }{&store.Other}

// Values, not pointers, of all kinds.
var values = []Order{{id: 20}, {id: 21}}
var table = map[string]*Cache{"a": {limit: 1}, "b": {limit: 2}} // made at start, in the heap
var local sync.Map

// In bss: nothing is set before the program runs.
var zero Cache
var toZero = &zero.inner

type Leaked struct{ item *Item }

func main() {
	item := func(format string, n int) *Item { return &Item{name: fmt.Sprintf(format, n)} }
	for i := 0; i < 3000; i++ {
		cache.items[fmt.Sprintf("key %d", i)] = item("cached %d", i)
	}
	cache.order = append(cache.order, &Order{id: 100, list: []*Item{item("ordered %d", 1)}})
	cache.inner.head = item("head %d", 1)
	cache.inner.more[1] = &Order{id: 101}
	list[1].list = []*Item{item("of list %d", 1), item("of list %d", 2)}
	array[2].list = []*Item{item("of array %d", 1)}
	face.(*Cache).items = map[string]*Item{"face": item("of face %d", 1)}
	empty.(*Order).list = []*Item{item("of empty %d", 1)}
	faces[0].(*Cache).order = []*Order{{id: 102}}
	faces[1].(*Order).list = []*Item{item("of faces %d", 2)}
	chain.next.next.item = item("of chain %d", 1)
	other.items = map[string]*Item{"other": item("of other %d", 1)}
	registry.Add("entry")
	hidden.registry.Add("other entry")
	values[1].list = []*Item{item("of values %d", 1)}
	table["a"].order = []*Order{{id: 103}}
	toZero.head = item("of zero %d", 1)
	local.Store("local", &Leaked{item("of local %d", 1)})

	expect.Global("main", "cache.items", `map\[string\]\*main\.Item`)
	expect.Global("main", "cache.order", `\[\]\*main\.Order`)
	expect.Global("main", "cache.inner.head", `main\.Item`)
	expect.Global("main", "cache.inner.more[1]", `main\.Order`)
	expect.Global("main", "list[1].list", `\[\]\*main\.Item`)
	expect.Global("main", "array[2].list", `\[\]\*main\.Item`)
	expect.Global("main", "face.items", `map\[string\]\*main\.Item`)
	expect.Global("main", "empty.list", `\[\]\*main\.Item`)
	expect.Global("main", "faces[0].order", `\[\]\*main\.Order`)
	expect.Global("main", "faces[1].list", `\[\]\*main\.Item`)
	expect.Global("main", "chain.next.next.item", `main\.Item`)
	expect.Global("main", "other.items", `map\[string\]\*main\.Item`)
	expect.Global("main", "zero.inner.head", `main\.Item`)
	expect.Global("main", "values[1].list", `\[\]\*main\.Item`)
	expect.Global("store", "Default.entries", `\[\]store\.Entry`)
	expect.Global("store", "Other.entries", `\[\]store\.Entry`)
	expect.Objects(`main\.Item`, 3012)
	expect.Objects(`store\.Entry|\[\]store\.Entry`, 2)
	expect.Objects(`main\.Leaked`, 1)
	expect.Keys(`main\.Item`, 3000)
	expect.Untyped(0.5)
	expect.Add(expect.Expectation{Kind: "nameless", DWARF: true, What: "main"})
	expect.Dump(1)
	expect.Done()
	for _, x := range []interface{}{cache, list, array, face, empty, faces, chain, ppp, hidden, values, table, &local} {
		runtime.KeepAlive(x)
	}
}
