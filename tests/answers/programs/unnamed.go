// What hangs from globals of which a stripped program has neither names nor types: the code that sets and uses them says both.
// Beside each global is another one of the same type, with which it must not be mixed up.
//
//	ways plain stripped
//	case map SHAPE=map
//	says ^  1 .* 20,000 main\.order
//	says[plain] example     main\.seen\["order\d+"\]
//	says[stripped] example     the global set by main\.remember \(0x[0-9a-f]+\)\["order\d+"\]
//	tells[stripped] ^ +[\d.]+ MB +\d+ % +global set by main\.remember unnamed\.go:\d+ \(0x[0-9a-f]+\)$
//	case list SHAPE=list
//	says ^  1 .* 1 \[\]main\.order
//	says[plain] held by     main\.late
//	says[stripped] held by     the global set by main\.\(\*clerk\)\.file \(0x[0-9a-f]+\)
//	case table SHAPE=table
//	says ^  1 .* 20,000 main\.order
//	says[plain] (held by|example)     main\.buckets\[\d+\]
//	says[stripped] held by     the global (used|set) by main\.place \(0x[0-9a-f]+\)
//	case field SHAPE=field
//	says ^  1 .* 20,000 main\.order, in map\[int\]\*main\.order
//	says[plain] (held by|example)     main\.shop\.open\[\d+\]
//	case value SHAPE=value
//	says ^  1 .* 20,000 main\.order, in map\[int\]\*main\.order
//	says[plain] (held by|example)     main\.desk\.open\[\d+\]
//	says[stripped] (held by|example)     the global used by main\.main \(0x[0-9a-f]+\)\.f16\[\d+\]
//	case chan SHAPE=chan
//	says ^  1 .* 20,000 main\.order
//	says[plain] (held by|example)     main\.queue\.buf\[\d+\]
//	says[stripped] held by     the global set by main\.send
//	case sync SHAPE=sync
//	tells 20,00\d .* main\.order
//	says[plain] (held by|example)     main\.notes
//	says[stripped] (held by|example)     the global used by main\.note \(0x[0-9a-f]+\)
//	case ring SHAPE=ring
//	says ^  1 .* (20,000|19,99\d) main\.order, in .*$
//	says[plain] (held by|example)     main\.line
//	says[stripped] (held by|example)     the global (used|set) by main\.(stand|main) \(0x[0-9a-f]+\)
//	case tree SHAPE=tree
//	tells 20,000 .* main\.leaf
//	says[plain] held by     main\.tree$
//	says[stripped] held by     the global used by main\.main \(0x[0-9a-f]+\)$
//	case shut SHAPE=shut
//	says ^  1 .* 20,000 main\.order, in map\[int\]\*main\.order
//	says[plain] held by     main\.shut, a map of 20,000 entries$
//	says[stripped] held by     the global used by main\.lock \(0x[0-9a-f]+\), a map of 20,000 entries$
//	case structs SHAPE=structs
//	says ^  1 .* 2\d,\d{3} main\.twig, in (main\.trunk|the global used by main\.main \(0x[0-9a-f]+\))$
//	says[plain] held by     main\.trunk$
//	says[stripped] held by     the global used by main\.main \(0x[0-9a-f]+\)$
//	says[stripped] example     the global used by main\.main \(0x[0-9a-f]+\)\.next\[\d+\]$
//	says ^  2 .* 20,000 main\.guest, in (main\.upper|the global used by main\.main \(0x[0-9a-f]+\))$
//	says ^      each .*\[\]\*main\.guest
//	says[plain] held by     main\.upper$
//	says[stripped] held by     the global used by main\.main \(0x[0-9a-f]+\)$
//	says ^  3 .* \[\]main\.turn\b
//	says held by     (main\.turns2|the global used by main\.main \(0x[0-9a-f]+\)), a slice of 20,000 entries$
//	is r.classes.some(each => each.class === 'main.visit' && each.objects >= 40000)
package main

import (
	"container/heap"
	"container/list"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync"
)

type order struct {
	id   int
	name string
	note [4]int
	next *order
}

type leaf struct {
	left, right *leaf
	each        *order
}

type clerk struct {
	name string
	open map[int]*order
}

// Of the following structs the program has no descriptors, since no function makes one, or the code that makes one does not say
// where it goes: only a loop does, a caller, or the offsets that methods use.
type twig struct {
	next [26]*twig
	last *visit
}

type visit struct {
	id    int
	note  [3]int
	later *visit
}

type row struct {
	first, last *visit
	count       int
}

type guest struct {
	name string
	note [10]int
}

type floor struct {
	lock   sync.Mutex
	guests []*guest
	byName map[string]*guest
}

type turn struct {
	at   int
	what string
	more [6]int
}

type turns []turn

func (t turns) Len() int           { return len(t) }
func (t turns) Less(i, j int) bool { return t[i].at < t[j].at }
func (t turns) Swap(i, j int)      { t[i], t[j] = t[j], t[i] }
func (t *turns) Push(each any)     { *t = append(*t, each.(turn)) }
func (t *turns) Pop() any          { return nil }

var (
	turns1, turns2 turns
	shoot, trunk   twig
	row1, row2     row
	ground, upper  floor
	soon, seen     map[string]*order
	early, late    []order
	drawers        [512]*order
	buckets        [512]*order
	bench, shop    = &clerk{name: "bench"}, &clerk{name: "shop"}
	counter, desk  clerk
	parcels, queue chan *order
	marks, notes   sync.Map
	head, line     list.List
	bush, tree     *leaf
	ajar, shut     = map[int]*order{}, map[int]*order{} // main uses them, too, and says nothing of them
)

//go:noinline
func remember(name string, each *order) {
	if seen == nil {
		seen = map[string]*order{}
	}
	seen[name] = each
}

//go:noinline
func (c *clerk) file(id int) {
	late = append(late, order{id: id, name: c.name})
}

//go:noinline
func (c *clerk) take(each *order) {
	if c.open == nil {
		c.open = map[int]*order{}
	}
	c.open[each.id] = each
}

//go:noinline
func place(each *order) {
	each.next = buckets[each.id%len(buckets)]
	buckets[each.id%len(buckets)] = each
}

//go:noinline
func send(each *order) {
	if queue == nil {
		queue = make(chan *order, 20000)
	}
	queue <- each
}

//go:noinline
func note(each *order) {
	notes.Store(each.id, each)
}

//go:noinline
func stand(each *order) {
	line.PushBack(each)
}

//go:noinline
func hang(at **leaf, each *order) {
	for *at != nil {
		if each.id*7919%20011 < (*at).each.id*7919%20011 {
			at = &(*at).left
		} else {
			at = &(*at).right
		}
	}
	*at = &leaf{each: each}
}

//go:noinline
func lock(each *order) {
	shut[each.id] = each
}

//go:noinline
func grow(at *twig, name string) {
	for i := range name {
		next := at.next[name[i]-'a']
		if next == nil {
			next = &twig{}
			at.next[name[i]-'a'] = next
		}
		at = next
	}
	at.last = &visit{}
}

//go:noinline
func (r *row) join(each *visit) {
	if r.last == nil {
		r.first = each
	} else {
		r.last.later = each
	}
	r.last = each
	r.count++
}

//go:noinline
func (f *floor) enter(each *guest) {
	f.lock.Lock()
	defer f.lock.Unlock()
	if f.byName == nil {
		f.byName = map[string]*guest{}
	}
	f.byName[each.name] = each
	f.guests = append(f.guests, each)
}

// Makes a word of letters, of which each number has another.
func word(number int) string {
	word := []byte{}
	for i := 0; i < 5; i++ {
		word = append(word, byte('a'+number%8))
		number /= 8
	}
	return string(word)
}

func main() {
	shape := os.Getenv("SHAPE")
	soon, parcels = map[string]*order{"a": {}}, make(chan *order, 1)
	early = append(early, order{id: 1})
	drawers[1] = &order{id: 1}
	bench.take(&order{id: 1})
	counter.take(&order{id: 1})
	marks.Store("a", &order{id: 1})
	head.PushBack(&order{id: 1})
	hang(&bush, &order{id: 1})
	ajar[1] = &order{id: 1}
	grow(&shoot, "a")
	row1.join(&visit{id: 1})
	ground.enter(&guest{name: "a"})
	heap.Push(&turns1, turn{})
	for i := 0; i < 20000; i++ {
		each := &order{id: i, name: "order" + strconv.Itoa(i)}
		switch shape {
		case "map":
			remember(each.name, each)
		case "list":
			bench.file(i)
		case "table":
			place(each)
		case "field":
			shop.take(each)
		case "value":
			desk.take(each)
		case "chan":
			send(each)
		case "ring":
			stand(each)
		case "tree":
			hang(&tree, each)
		case "sync":
			note(each)
		case "shut":
			lock(each)
		case "structs":
			grow(&trunk, word(i))
			row2.join(&visit{id: i})
			upper.enter(&guest{name: each.name})
			heap.Push(&turns2, turn{at: i})
		}
	}
	runtime.GC()
	fmt.Println("READY")
	os.Stdin.Read(make([]byte, 1))
	fmt.Println(len(ajar), len(shut), len(soon), len(early), len(parcels), drawers[1], counter.name, bench.name,
		len(upper.guests), row2.count)
}
