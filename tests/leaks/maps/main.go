// Maps that have grown: of every kind of key and element, behind a global, of a size that takes a directory of tables
// (Go 1.24 on) or thousands of buckets; one in the midst of growing; sync.Map.
package main

import (
	"fmt"
	"runtime"
	"sync"

	"leaks/expect"
)

// An Item is what is leaked; each kind of map has its own, so that each can be counted.
type Item struct {
	name string
	next *Item
}
type byNumber struct{ Item }
type byStruct struct{ Item }
type byLarge struct{ Item }
type byInterface struct{ Item }
type bySync struct{ Item }
type growing struct{ Item }
type byArray struct{ Item }

type point struct{ x, y int32 }

// Keys and elements over 128 bytes are elsewhere.
type largeKey struct {
	words [20]int64
	name  string
}
type largeElem struct {
	words [20]int64
	item  *byLarge
}

// Between the two: groups of these are over 32 KB.
type wideElem struct {
	words [12]int64
	item  *byStruct
}

type Cache struct {
	byName      map[string]*Item
	byNumber    map[int64]*byNumber
	byPoint     map[point]wideElem
	byLarge     map[largeKey]largeElem
	byInterface map[interface{}]interface{}
	counts      map[uint64]uint64 // no pointers at all
	flags       map[string]struct{}
	byArray     map[[2]string]*byArray
	growing     map[string]*growing
	inline      map[int]string
	synced      sync.Map
}

var cache = &Cache{}

// A directory of more than 64 tables has a malloc header of its own.
type entry struct{ Item }

var direct map[string]*entry

func fill(n int) {
	c := cache
	c.byName = map[string]*Item{}
	c.byNumber = map[int64]*byNumber{}
	c.byPoint = map[point]wideElem{}
	c.byLarge = map[largeKey]largeElem{}
	c.byInterface = map[interface{}]interface{}{}
	c.counts = map[uint64]uint64{}
	c.flags = map[string]struct{}{}
	c.byArray = map[[2]string]*byArray{}
	c.inline = map[int]string{}
	for i := 0; i < n; i++ {
		name := fmt.Sprintf("item number %d", i)
		c.byName[name] = &Item{name: name}
		if i%4 == 0 {
			c.byNumber[int64(i)] = &byNumber{Item{name: name}}
			c.counts[uint64(i)] = uint64(i)
			c.flags[name+" flag"] = struct{}{}
			c.inline[i] = name + " inline"
		}
		if i%8 == 0 {
			c.byPoint[point{int32(i), 7}] = wideElem{item: &byStruct{Item{name: name}}}
			c.byInterface[name] = &byInterface{Item{name: name}}
			c.byArray[[2]string{name, "b"}] = &byArray{Item{name: name}}
		}
		if i%16 == 0 {
			key := largeKey{name: name}
			key.words[3] = int64(i)
			c.byLarge[key] = largeElem{item: &byLarge{Item{name: name}}}
		}
		if i%3 == 0 && i < 300000 {
			c.synced.Store(name, &bySync{Item{name: name}})
		}
	}
	direct = map[string]*entry{}
	for i := 0; i < n; i++ {
		name := fmt.Sprintf("entry %d", i)
		direct[name] = &entry{Item{name: name}}
	}
	// Just beyond the size at which a classic map doubles: it moves its buckets bit by bit.
	c.growing = map[string]*growing{}
	limit := 1 << 14 * 13 / 2
	for i := 0; i < limit+10; i++ {
		name := fmt.Sprintf("growing %d", i)
		c.growing[name] = &growing{Item{name: name}}
	}
}

func main() {
	n := expect.Size(300000)
	fill(n)
	expect.Objects(`main\.Item`, n)
	expect.Keys(`main\.Item`, n)
	expect.Keys(`main\.entry`, n)
	expect.Global("main", "direct", `map\[string\]\*main\.entry`)
	expect.Global("main", "cache.byName", `map\[string\]\*main\.Item`)
	expect.Keys(`main\.byNumber`, n/4)
	expect.Keys(`main\.byInterface`, n/8)
	expect.Keys(`main\.growing`, 1<<14*13/2)
	expect.Objects(`main\.byStruct`, n/8)
	expect.Objects(`main\.byArray`, n/8)
	expect.Objects(`main\.byLarge`, n/16)
	expect.Objects(`main\.largeKey`, n/16)
	expect.Objects(`main\.largeElem`, n/16)
	synced := n
	if synced > 300000 {
		synced = 300000
	}
	expect.Objects(`main\.bySync`, synced/3)
	expect.Untyped(0.5)
	expect.Dump(1)
	expect.Done()
	runtime.KeepAlive(cache)
}
