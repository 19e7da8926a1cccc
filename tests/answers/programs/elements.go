// Globals that are structs or arrays of structs, used field by field: a stripped program has neither names nor types of them, but the
// bounds that code checks say how long an array is, and where the linker puts variables which words are of one. Beside each is another
// one of the same type.
//
//	ways plain stripped
//	case fields SHAPE=fields
//	says ^  1 .* 20,000 main\.thing, in (main\.reg|the global used by main\.register \(0x[0-9a-f]+\))$
//	says[plain] ^      held by     main\.reg$
//	says[stripped] ^      held by     the global used by main\.register \(0x[0-9a-f]+\)$
//	case rings SHAPE=rings
//	says ^  1 .* 8,192 main\.thing, in (main\.rings|the global (used|set) by main\.record \(0x[0-9a-f]+\))$
//	says[plain] ^      example     main\.rings\[\d+\]\.buf\[\d+\]$
//	says[stripped] ^      example     the global (used|set) by main\.record \(0x[0-9a-f]+\)\[\d+\]\.f8\[\d+\]$
//	case shards SHAPE=shards
//	says ^  1 .* main\.thing, in 64 × map\[int\]\*main\.thing$
//	says ^      held by     (main\.shards|the global used by main\.shardOf \(0x[0-9a-f]+\))\[\d+\]\.(byID|f24), a map of \d+ entries, one of 64$
//	case nested SHAPE=nested
//	says ^  1 .* 2,400 \[\]string$
//	says[plain] ^      held by     main\.hists\[\d+\]\.buckets\[\d+\]\.list
//	says[stripped] ^      held by     the global used by main\.(observe|main) \(0x[0-9a-f]+\)\[\d+\]\.f16\[\d+\]
//	case maps SHAPE=maps
//	says ^  1 .* 25,000 main\.thing
//	says[plain] ^      held by     main\.tables\[\d\], (a sync\.Map of [\d,]+ entries, )?one of 8$
//	says[stripped] ^      held by     the global used by main\.put \(0x[0-9a-f]+\)\[\d\], (a sync\.Map of [\d,]+ entries, )?one of 8$
//	case hub SHAPE=hub
//	says ^  1 .* 20,000 main\.thing
//	says[plain] ^      held by     main\.hub\.loud, a sync\.Map of 20,000 entries$
//	says[stripped] ^      held by     the global used by main\.speak \(0x[0-9a-f]+\), a sync\.Map of 20,000 entries$
//	says ^  2 .* 4,000 main\.thing
//	says[plain] ^      held by     main\.hub\.tables\[\d\], (a sync\.Map of [\d,]+ entries, )?one of 4$
//	says[stripped] ^      held by     the global used by main\.table \(0x[0-9a-f]+\)
package main

import (
	"fmt"
	"os"
	"sync"
)

type thing struct {
	id   int
	name string
	note [10]int
}

type registry struct {
	mu     sync.Mutex
	byID   map[int]*thing
	byName map[string]*thing
	list   []*thing
}

type ring struct {
	mu   sync.Mutex
	buf  [64]*thing
	next int
}

type shard struct {
	mu    sync.RWMutex
	byID  map[int]*thing
	slots [16]*thing
	free  []*thing
}

type bucket struct {
	count uint64
	list  []string
	last  *thing
}

type histogram struct {
	count   int
	buckets [12]bucket
}

var (
	reg           = registry{byID: map[int]*thing{}, byName: map[string]*thing{}}
	other         = registry{byID: map[int]*thing{}, byName: map[string]*thing{}}
	rings, few    [128]ring
	shards        [64]shard
	hists         [200]histogram
	tables, twins [8]sync.Map
	hub           struct {
		quiet, loud sync.Map
		tables      [4]sync.Map
	}
)

//go:noinline
func register(each *thing) {
	reg.mu.Lock()
	defer reg.mu.Unlock()
	reg.byID[each.id] = each
	reg.byName[each.name] = each
	reg.list = append(reg.list, each)
}

//go:noinline
func registerOther(each *thing) {
	other.mu.Lock()
	defer other.mu.Unlock()
	other.byID[each.id] = each
	other.byName[each.name] = each
	other.list = append(other.list, each)
}

//go:noinline
func record(i int, each *thing) {
	r := &rings[i%len(rings)]
	r.mu.Lock()
	r.buf[r.next%len(r.buf)] = each
	r.next++
	r.mu.Unlock()
}

//go:noinline
func recordFew(i int, each *thing) {
	r := &few[i%len(few)]
	r.mu.Lock()
	r.buf[r.next%len(r.buf)] = each
	r.next++
	r.mu.Unlock()
}

//go:noinline
func shardOf(hash uint32) *shard { return &shards[hash%uint32(len(shards))] }

//go:noinline
func keep(each *thing) {
	s := shardOf(uint32(each.id) * 2654435761 >> 16)
	s.mu.Lock()
	if s.byID == nil {
		s.byID = map[int]*thing{}
	}
	s.byID[each.id] = each
	s.slots[each.id%len(s.slots)] = each
	s.mu.Unlock()
}

func (h *histogram) observe(i int) {
	h.count++
	b := &h.buckets[i%len(h.buckets)]
	b.count++
	b.list = append(b.list, fmt.Sprint("trace", i))
}

//go:noinline
func observe(route, i int) { hists[route%len(hists)].observe(i) }

//go:noinline
func put(i int, each *thing) { tables[i%len(tables)].Store(i, each) }

//go:noinline
func putTwin(i int, each *thing) { twins[i%len(twins)].Store(i, each) }

//go:noinline
func putInOne(i int, each *thing) { tables[3].Store(-i, each) }

//go:noinline
func speak(i int, each *thing) { hub.loud.Store(i, each) }

//go:noinline
func whisper(i int, each *thing) { hub.quiet.Store(i, each) }

//go:noinline
func table(i int, each *thing) { hub.tables[i%len(hub.tables)].Store(i, each) }

func newThing(i int) *thing { return &thing{id: i, name: fmt.Sprint("thing", i)} }

func main() {
	shape := os.Getenv("SHAPE")
	for i := 0; i < 30000; i++ {
		switch {
		case shape == "fields" && i < 20000:
			register(newThing(i))
		case shape == "rings" && i < 8192:
			record(i, newThing(i))
		case shape == "shards" && i < 20000:
			keep(newThing(i))
		case shape == "nested":
			observe(i, i/200)
		case shape == "maps" && i < 20000:
			put(i, newThing(i))
			if i < 5000 {
				putInOne(i+1, newThing(i))
			}
		case shape == "hub" && i < 20000:
			speak(i, newThing(i))
			if i < 4000 {
				table(i, newThing(i))
			}
		}
		if i < 100 {
			registerOther(newThing(i))
			recordFew(i, newThing(i))
			putTwin(i, newThing(i))
			whisper(i, newThing(i))
		}
	}
	fmt.Println("READY")
	fmt.Scanln()
	fmt.Println(len(reg.list), len(other.list), rings[1].next, few[1].next, hists[3].count)
	fmt.Println(tables[1].Load(1))
	fmt.Println(hub.tables[1].Load(1))
}
