package main

import "sync"

type item struct {
	name string
	next *item
}
type point struct{ x, y int32 }

// Keys and elements over 128 bytes are elsewhere.
type largeKey struct {
	words [20]int64
	name  string
}
type largeElem struct {
	words [20]int64
	item  *item
}

type cache struct {
	byName      map[string]*item // a directory of tables, or buckets
	byNumber    map[int64]*item
	byPoint     map[point]item
	byLarge     map[largeKey]largeElem
	byInterface map[interface{}]interface{}
	byFloat     map[float64]string
	byBool      map[bool]*item
	byArray     map[[2]string]*item
	byPointer   map[*item]*item
	byChannel   map[chan int]*item
	byComplex   map[complex128][]string
	counts      map[uint64]uint64 // no pointers at all
	bytes       map[uint8]uint8
	flags       map[string]struct{}
	growing     map[string]*item // a classic map in the midst of growing
	regrowing   map[string]*item // one that has many overflow buckets and grows to the same size
	inline      map[int]string
	emptied     map[string]*item
	none        map[string]*item
	nested      map[string]map[string][]*item
	synced      sync.Map
}

// One is static data, the other in the heap: so it is with the other twins.
var aCache, bCache = &cache{}, (*cache)(nil)

func (c *cache) fill(n int) {
	c.byName = map[string]*item{}
	c.byNumber = map[int64]*item{}
	c.byPoint = map[point]item{}
	c.byLarge = map[largeKey]largeElem{}
	c.byInterface = map[interface{}]interface{}{}
	c.byFloat = map[float64]string{0.5: "half", -1e300: "small"}
	c.byBool = map[bool]*item{true: {name: "yes"}, false: {name: "no"}}
	c.byArray = map[[2]string]*item{}
	c.byPointer = map[*item]*item{}
	c.byChannel = map[chan int]*item{make(chan int, 2): {name: "of a channel"}}
	c.byComplex = map[complex128][]string{complex(1, 2): {"c", "d"}}
	c.counts = map[uint64]uint64{}
	c.bytes = map[uint8]uint8{1: 2, 3: 4}
	c.flags = map[string]struct{}{}
	c.inline = map[int]string{1: "one", -2: "minus two"}
	c.emptied = map[string]*item{}
	c.nested = map[string]map[string][]*item{"outer": {"inner": {{name: "nested"}, {name: "twice"}}}}
	for i := 0; i < n; i++ {
		name := "item " + number(i)
		c.byName[name] = &item{name: name}
		c.emptied[name] = c.byName[name]
		if i%16 == 0 {
			c.byNumber[int64(i)] = &item{name: name}
			c.counts[uint64(i)] = uint64(i)
			c.flags[name+" flag"] = struct{}{}
			c.byPoint[point{int32(i), 7}] = item{name: name}
			c.byArray[[2]string{name, "b"}] = &item{name: name}
			c.byPointer[c.byName[name]] = c.byNumber[int64(i)]
			c.synced.Store(name, &item{name: name})
		}
		if i%64 == 0 {
			c.byInterface[name] = &item{name: name}
			c.byInterface[i] = name
			c.byInterface[point{1, int32(i)}] = point{2, 3}
			key := largeKey{name: name}
			key.words[3] = int64(i)
			c.byLarge[key] = largeElem{item: &item{name: name}}
		}
	}
	for name := range c.emptied {
		delete(c.emptied, name)
	}
	// Just beyond the size at which a classic map doubles: it moves its buckets bit by bit.
	c.growing = map[string]*item{}
	for i := 0; i < 16*13/2+3; i++ {
		name := "growing " + number(i)
		c.growing[name] = &item{name: name}
	}
	// As many come as go, until the classic map has too many overflow buckets.
	c.regrowing = map[string]*item{}
	for i := 0; i < 600; i++ {
		name := "regrowing " + number(i)
		c.regrowing[name] = &item{name: name}
		if i >= 50 {
			delete(c.regrowing, "regrowing "+number(i-50))
		}
	}
}

func makeMaps() {
	bCache = &cache{}
	aCache.fill(100)
	bCache.fill(1000)
	checkMaps()
}
