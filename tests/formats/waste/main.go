// A program that knows what it wastes, and says so in JSON:
//
//	waste DUMP
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"unsafe"
)

type part struct {
	names []string
	more  [3]struct {
		id   int
		list []int64
	}
}

type document struct {
	title string
	body  []byte
	view  []byte // another slice of body's array
	part  part
}

type index struct{ words []uint32 }

// piece keeps a part of a buffer, cut off before the buffer's end, and may keep another one of the same buffer.
type piece struct{ data, more []byte }

type item [112]uint64

// request keeps parts of lines.
type request struct {
	id     string
	fields [2]struct{ value string }
	raw    []byte
}

var (
	documents []*document
	lines     []int64
	ring      [4][]int32
	byTitle   map[string][]int16
	sparse    map[int]*document
	named     registry
	empties   []map[string]bool
	current   = &index{} // which the linker lays out
	full      []byte
	dropped   []*document
	requests  []*request
	seen      = map[string]struct{}{}
	title     string
	parts     = map[string]*row{}
	copies    [5]string
	pieces    []*piece
	queue     []*item
	stale     = map[string]row{}
)

type registry map[uint8]uint64

type row struct {
	Wasted, Arrays uint64
}

var rows = map[string]*row{}

func waste[T any](place string, s []T) {
	r := rows[place]
	if r == nil {
		r = &row{}
		rows[place] = r
	}
	var zero T
	if cap(s) > len(s) {
		r.Wasted += uint64(cap(s)-len(s)) * uint64(unsafe.Sizeof(zero))
		r.Arrays++
	}
}

func fill() {
	for i := 0; i < 500; i++ {
		d := &document{title: fmt.Sprint("document ", i)}
		d.body = make([]byte, 100+i, 2000)
		if i%5 == 0 {
			d.view = d.body[:2000] // uses all
		} else if i%2 == 0 {
			d.view = d.body[:1900] // uses what body does not
			waste("main.document.view", d.view)
		} else {
			waste("main.document.body", d.body)
		}
		d.part.names = append(d.part.names, d.title, d.title, d.title)
		waste("main.document.part.names", d.part.names)
		for k := range d.part.more {
			d.part.more[k].list = make([]int64, k, 10)
			waste("main.document.part.more[].list", d.part.more[k].list)
		}
		documents = append(documents, d)
	}
	waste("main.documents", documents)
	for i := 0; i < 3000; i++ {
		lines = append(lines, int64(i))
	}
	lines = lines[:17]
	waste("main.lines", lines)
	for i := range ring {
		ring[i] = make([]int32, i, 1000)
		waste("main.ring[]", ring[i])
	}
	current.words = make([]uint32, 5, 5000)
	waste("main.index.words", current.words)
	full = make([]byte, 4096)
	byTitle = map[string][]int16{}
	for i := 0; i < 300; i++ {
		s := make([]int16, 2, 50)
		byTitle[fmt.Sprint("title ", i)] = s
		waste("map[string][]int16[]", s)
	}
	sparse = map[int]*document{}
	for i := 0; i < 5000; i++ {
		sparse[i] = documents[i%len(documents)]
	}
	for i := 0; i < 5000; i++ {
		if i%100 != 0 {
			delete(sparse, i)
		}
	}
	named = registry{}
	for i := 0; i < 200; i++ {
		named[uint8(i)] = uint64(i)
	}
	for i := 0; i < 100; i++ {
		empties = append(empties, make(map[string]bool))
	}
	waste("main.empties", empties)
}

// fillPieces makes slices that leave out what is before them, and what is behind their capacity.
func fillPieces() {
	cut := &row{}
	rows["main.piece.data"] = cut
	for i := 0; i < 50; i++ {
		buffer := make([]byte, 8192)
		p := &piece{data: buffer[1000+i : 1024+i : 1025+i]}
		used := 24
		if i%2 == 0 { // what is between the two counts as used
			p.more = buffer[2000:2010:2010]
			used = 2010 - 1000 - i
		}
		cut.Wasted += uint64(len(buffer) - used)
		cut.Arrays++
		pieces = append(pieces, p)
	}
	waste("main.pieces", pieces)
	for i := 0; i < 64; i++ {
		queue = append(queue, &item{})
	}
	queue = queue[10:60]
	rows["main.queue"] = &row{14 * uint64(unsafe.Sizeof(queue[0])), 1}
	stale["main.queue"] = row{14 * uint64(unsafe.Sizeof(item{})), 14}
}

// line returns a new text, and what it takes.
func line(n int) (string, uint64) {
	text := strings.Repeat(string(rune('a'+n%26)), n)
	return text, uint64(cap(append([]byte(nil), text...)))
}

func keep(place string, size, used uint64) {
	r := parts[place]
	if r == nil {
		r = &row{}
		parts[place] = r
	}
	r.Wasted += size - used
	r.Arrays++
}

func fillParts() {
	for i := 0; i < 900; i++ {
		r := &request{}
		text, size := line(1000 + i)
		switch i % 9 {
		case 0: // from the begin
			r.id = text[:10]
			keep("main.request.id", size, 10)
		case 1: // up to the end
			r.fields[1].value = text[len(text)-20:]
			keep("main.request.fields[].value", size, 20)
		case 2: // two, of which one is longer
			r.id = text[100:110]
			r.fields[0].value = text[300:350]
			keep("main.request.fields[].value", size, 60)
		case 3: // begin and end, and more that overlap
			r.id = text[:6]
			r.fields[0].value = text[len(text)-5:]
			r.fields[1].value = text[2:5]
			keep("main.request.id", size, 14)
		case 4: // most of it, in two
			r.id = text[:len(text)/3]
			r.fields[0].value = text[len(text)/2:]
		case 5: // another one has all
			r.id = text[:5]
			r.fields[0].value = text
		case 6: // a key
			key := fmt.Sprint(i)
			text = key + text
			seen[text[:len(key)]] = struct{}{}
			keep("map[string]struct {} (key)", uint64(cap(append([]byte(nil), text...))), uint64(len(key)))
		case 7: // short
			text, _ = line(40)
			r.id = text[:1]
		case 8: // a slice uses it, too
			r.raw = []byte(text)
			r.id = *(*string)(unsafe.Pointer(&struct {
				data *byte
				size int
			}{&r.raw[0], 10}))
		}
		requests = append(requests, r)
	}
	waste("main.requests", requests)
	for i := range copies {
		copies[i], _ = line(3000)
	}
	text, size := line(5000)
	title = text[7:12]
	keep("main.title", size, 5)
}

// What objects of a class need, and what of it belongs to no field.
type layout struct {
	Objects, Needed, Padding uint64
}

type ticket struct {
	paid   bool
	owner  *document
	seat   [41]byte
	prices struct {
		full bool
		of   int32
	}
	last bool
}

var (
	tickets []*ticket
	seats   [][]byte
	rounds  [][]ticket
	layouts = map[string]*layout{}
)

// fillLayouts makes objects that need less than their slots.
func fillLayouts() {
	const size, padding = unsafe.Sizeof(ticket{}), unsafe.Sizeof(ticket{}) - 1 - unsafe.Sizeof(uintptr(0)) - 41 - 1 - 4 - 1
	layouts["main.ticket"] = &layout{1000, 1000 * uint64(size), 1000 * uint64(padding)}
	layouts["[]main.ticket"] = &layout{50, 0, 0}
	for i := 0; i < 1000; i++ {
		tickets = append(tickets, &ticket{})
	}
	for i := 0; i < 50; i++ {
		rounds = append(rounds, make([]ticket, i+1))
		count := uint64(i + 1)
		layouts["[]main.ticket"].Needed += count * uint64(size)
		layouts["[]main.ticket"].Padding += count * uint64(padding)
	}
	for i := 0; i < 100; i++ {
		seats = append(seats, make([]byte, 100+i))
	}
}

// slots returns how many slots of each size have objects.
func slots(stats *runtime.MemStats) map[uint32]uint64 {
	slots := map[uint32]uint64{}
	for _, each := range stats.BySize {
		slots[each.Size] = each.Mallocs - each.Frees
	}
	return slots
}

// litter is garbage by the time of the dump.
//
//go:noinline
func litter() {
	for i := 0; i < 200; i++ {
		dropped = append(dropped, &document{body: make([]byte, 1, 3000)})
	}
	dropped = nil
}

func main() {
	fill()
	fillParts()
	fillPieces()
	held, _ := line(70000) // by a frame
	requests[0].fields[0].value = held[:10]
	fillLayouts()
	runtime.GC()
	debug.SetGCPercent(-1)
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	litter()
	file, err := os.Create(os.Args[1])
	if err != nil {
		panic(err)
	}
	debug.WriteHeapDump(file.Fd())
	if err := file.Close(); err != nil {
		panic(err)
	}
	json.NewEncoder(os.Stdout).Encode(map[string]interface{}{
		"slices":  rows,
		"stale":   stale,
		"slots":   slots(&stats),
		"layouts": layouts,
		"parts":   parts,
		"maps": map[string][2]int{
			"map[string][]int16":     {1, len(byTitle)},
			"map[int]*main.document": {1, len(sparse)},
			"map[uint8]uint64":       {1, len(named)},
			"map[string]bool":        {len(empties), 0},
		},
	})
	runtime.KeepAlive(full)
	runtime.KeepAlive(tickets)
	runtime.KeepAlive(held)
}
