// Kinds of containers that a first screen has once named wrongly: each has a healthy twin of the same type that is made before it.
// READY has what the program measured of the leak itself.
//
//	ways plain stripped
//	within 5
//	case pairs SHAPE=pairs
//	unwalked the walk does not know that what both maps of a sync.Map of before Go 1.24 have is of one
//	is r.suspects[0].count === 20000 && r.suspects[0].item === 'main.user'
//	is r.suspects.filter(each => each.retained > r.suspects[0].retained / 10).length === 1
//	says[plain] held by     main\.columns(, a sync\.Map of 20,000 entries)?$
//	says[stripped] held by     the global used by main\.[^.]*(, a sync\.Map of 20,000 entries)?$
//	never ptr16|\.f\d
//	case pairsGrown SHAPE=pairs
//	base
//	is r.suspects[0].count_grown === 20000 && r.suspects[0].count === 40000
//	case trie SHAPE=trie
//	is[plain] r.suspects[0].item === 'main.node'
//	is[plain] !r.suspects[0].in
//	says[plain] held by     main\.routes\.root\.children$
//	never in one entry of
//	case words SHAPE=words
//	ways plain
//	says[plain] ^  1 .* main\.branch, in main\.index$
//	says[plain] held by     main\.index$
//	case listed SHAPE=listed
//	unwalked of what several variables hold the walk does not tell twins apart
//	is r.suspects[0].count === 20000
//	says[plain] held by     main\.recent, a list of 20,000 entries$
//	says[stripped] held by     the global (set|used) by main\.\S+ \(0x[0-9a-f]+\), a list of 20,000 entries$
//	case twinsGrown SHAPE=listed
//	unwalked of what several variables hold the walk does not tell twins apart
//	base
//	is r.suspects[0].count_grown === 20000 && r.suspects[0].count === 40000
//	says[plain] held by     main\.recent, a list of 40,000 entries$
//	says[stripped] held by     the global (set|used) by main\.\S+ \(0x[0-9a-f]+\), a list of 40,000 entries$
//	case decoded SHAPE=decoded
//	ways stripped
//	says ^  1 .* 40,000 map\[string\]interface \{\}, of which 20,000 in 4 × map\[int\]map\[string\]interface \{\}$
//	says held by     the global (set|used) by main\.\S+ \(0x[0-9a-f]+\)\S*, a map of 5,000 entries, one of 4$
//	is r.suspects[0].in.objects === 20000
//	case shards SHAPE=shards
//	says ^  1 .* 20,000 main\.user, in 4 × sync\.Map$
//	case tables SHAPE=tables
//	is r.suspects[0].count === 20000 && r.suspects[0].in.count === 8
//	says ^  1 .* 20,000 main\.user, in 8 × sync\.Map$
//	says[plain] ^      held by     main\.tables\[7\], (a sync\.Map of 4,4\d\d entries, )?one of 8$
//	says[stripped] ^      held by     .*\[7\](\.f\d+)?, (a sync\.Map of 4,4\d\d entries, )?one of 8$
//	case timers SHAPE=timers
//	ways plain
//	is r.suspects[0].count === 19999 && /^runtime\.timeTimer$|^time\.Timer$/.test(r.suspects[0].item)
//	is r.suspects[0].each.parts.every(each => !each.class.startsWith('[]')) && !r.suspects[0].in.objects
//	says ^  1 .* 19,999 \S+, in (2 × )?\S+, the runtime's timers, which call main\.\S+$
//	case sessions SHAPE=sessions
//	is r.suspects[0].count === 20000 && r.suspects[0].item === 'main.session'
//	says ^  1 .* 20,000 main\.session, in map\[int\]\*main\.session$
//	case texts SHAPE=texts
//	is r.suspects[0].entries === 20300 && r.suspects[0].is_entries
//	says ^  1 .* 20,300 entries, in 3 × map\[string\]string$
//	says[plain] held by     main\.texts\["de"\], a map of 20,100 entries$
//	case ends SHAPE=ends
//	ways plain
//	is r.suspects[0].count === 20000 && r.suspects[0].item === 'main.waiter'
//	says[plain] held by     main\.line\.(head|tail)$
//	case equalGrown SHAPE=equal
//	ways plain
//	base
//	is r.suspects[0].count_grown === 20000 && r.suspects[0].count === 60000
//	says[plain] held by     main\.both\.second$
//	says[plain] mostly      main\.both\.second alone has grown by [2-4]\.\d+ MB$
//	case border SHAPE=border
//	ways plain
//	is r.suspects[0].count === 20000 && r.suspects[1].count === 10020
//	says[plain] held by     main\.liveBy(ID|Name), a map of 20,000 entries$
//	says[plain] shared by   main\.liveBy(ID|Name)$
//	case segments SHAPE=segments
//	ways plain
//	is r.suspects[0].count === 8 && r.suspects.slice(1).every(each => each.retained < 100000)
//	case movedGrown SHAPE=moved
//	ways plain
//	base
//	is r.suspects[0].count_grown === 20000
//	is !(r.suspects[0].most?.retained_grown > 4e6)
//	case queuedGrown SHAPE=queued
//	base
//	is r.suspects[0].count_grown === 10000 && r.suspects[0].count === 80010
//	says held by     \S.*\["mail"\], a slice of 40,000 entries$
//	says mostly      \S.*\["mail"\] alone has grown by 2\.\d+ MB$
//	case poppedGrown SHAPE=popped
//	base
//	says held by     \S.*\["mail"\], a slice of 20,000 entries$
//	says mostly      \S.*\["mail"\] alone has grown by 1\.\d+ MB$
//	case refilledGrown SHAPE=refilled
//	ways plain
//	base
//	is r.suspects[0].count_grown === 0 && r.suspects[0].count === 20000
//	says held by     main\.pools$
//	case largerGrown SHAPE=larger
//	base
//	is r.suspects[0].count_grown === 0 && r.suspects[0].count === 500
//	says ^  1 .* \+0 \[\]main\.user, now 500, in map\[int\]\[\]main\.user$
//	says[plain] held by     main\.visits, a map of 500 entries$
//	says[stripped] held by     the global used by main\.\S+ \(0x[0-9a-f]+\), a map of 500 entries$
//	case appearedGrown SHAPE=appeared
//	base
//	is r.suspects[0].count_grown === 20000 && r.suspects[0].count === 60000
//	says mostly      \S.*\["mail"\] alone has grown by [23]\.\d+ MB$
package main

import (
	"bufio"
	"container/list"
	"fmt"
	"os"
	"runtime"
	"sync"
	"time"
)

type user struct {
	id   int
	name string
	data [100]byte
}

type route struct{ pattern string }

type node struct {
	children map[byte]*node
	route    *route
}

type router struct{ root *node }

type sharded struct {
	lock   sync.Mutex
	shards [4]sync.Map
	log    []*user
}

type branch struct {
	children [16]*branch
	user     *user
}

// The runtime has a slot for the timer of each.
type session struct {
	id      int
	timeout *time.Timer
}

//go:noinline
func login(sessions map[int]*session, id int) {
	each := &session{id: id}
	each.timeout = time.AfterFunc(time.Hour, func() { delete(sessions, each.id) })
	sessions[id] = each
}

// As many entries may be in the other one of the two, which has not grown.
type indexes struct{ first, second *register }

type register struct {
	byID map[int]*user
	all  []*user
}

func (x *register) add(each *user) {
	x.byID[each.id] = each
	x.all = append(x.all, each)
}

type trie struct {
	root  branch
	count int
}

var (
	known, columns       sync.Map
	idle, tables         [8]sync.Map
	static, routes       = &router{&node{}}, &router{&node{}}
	seed, index          trie
	old, recent          = list.New(), list.New()
	oldFound, foundFirst = map[string]*list.Element{}, map[string]*list.Element{}
	cells                = map[int]map[int]*user{}
	hub                  = &sharded{}
	drafts, published    = newShelves(), newShelves()
	both                 *indexes
	counter, line        waiters
	texts                = map[string]map[string]string{"de": {}, "en": {}, "fr": {}}
	deadline             *time.Timer
	queues               = map[string][]*user{}
	pools                = [4]map[int]*waiter{{}, {}, {}, {}} // of equal size
	goneByID, liveByID   = map[int]*user{}, map[int]*user{}
	goneByName           = map[string]*user{}
	liveByName           = map[string]*user{}
	rows                 [36]int
	calls, visits        = map[int][]user{}, map[int][]user{}
	gone, sessions       = map[int]*session{}, map[int]*session{}
	made                 int
)

// shelves have documents as encoding/json decodes them: maps in maps.
type shelves [4]map[int]map[string]any

func newShelves() *shelves {
	s := &shelves{}
	for i := range s {
		s[i] = map[int]map[string]any{}
	}
	return s
}

//go:noinline
func (s *shelves) put(id int) {
	s[id%len(s)][id] = map[string]any{"id": float64(id), "by": map[string]any{"name": fmt.Sprint("user", id)}}
}

// remember has a user as the key, and a slice as the value: two objects for each entry.
//
//go:noinline
func remember(i int) { columns.Store(user{id: i, name: fmt.Sprint("user", i)}, []string{"id", "name"}) }

//go:noinline
func (r *router) add(path string) {
	at := r.root
	for i := 0; i < len(path); i++ {
		if at.children == nil {
			at.children = map[byte]*node{}
		}
		if at.children[path[i]] == nil {
			at.children[path[i]] = &node{}
		}
		at = at.children[path[i]]
	}
	at.route = &route{path}
}

func (t *trie) put(key uint64) {
	at := &t.root
	for i := 0; i < 5; i++ {
		digit := key >> (4 * i) & 15
		if at.children[digit] == nil {
			at.children[digit] = &branch{}
		}
		at = at.children[digit]
	}
	at.user = &user{id: int(key)}
	t.count++
}

func fillOld() {
	for i, at := 0, 0; i < len(tables); i++ {
		for j := 0; j <= i; j, at = j+1, at+1 {
			rows[at] = i
		}
	}
	for i := 0; i < 100; i++ {
		known.Store(user{id: i}, []string{"id"})
		idle[i%len(idle)].Store(i, &user{id: i})
		static.add(fmt.Sprint("/static/", i))
		seed.put(uint64(i))
		key := fmt.Sprint("old", i)
		oldFound[key] = old.PushFront(&user{id: i})
		drafts.put(i)
		for _, each := range texts {
			each[fmt.Sprint("old", i)] = fmt.Sprint("old text ", i)
		}
		counter.join(&waiter{id: i})
		login(gone, i)
		calls[i] = append(calls[i], user{id: i})
	}
}

func fill(shape string, many int) {
	for j := 0; j < many; j++ {
		made++
		switch shape {
		case "pairs":
			remember(made)
			if j == many/2 {
				columns.Range(func(key, value any) bool { return true })
			}
		case "trie":
			routes.add(fmt.Sprintf("/users/%06d", made*37))
		case "tables": // of 36 one in the first, eight in the last
			tables[rows[made%len(rows)]].Store(made, &user{id: made})
		case "words":
			index.put(uint64(made) * 0x9E3779B97F4A7C15 >> 20)
		case "decoded":
			published.put(made)
		case "shards":
			hub.put(made)
		case "texts":
			texts["de"][fmt.Sprint("key", made)] = fmt.Sprint("Text ", made)
		case "ends":
			line.join(&waiter{id: made})
		case "segments": // few and large: the last one alone is much
			if j%(many/8) == 0 {
				line.join(&waiter{id: made, log: make([]byte, 100000)})
			}
		case "moved": // append moves the array
			both.second.all = append(both.second.all, &user{id: made})
		case "queued": // then as long as another one
			enqueue("mail", 1)
		case "popped": // until nothing is left of what the base knows
			enqueue("mail", 1)
			if j%2 == 0 {
				queues["mail"] = queues["mail"][1:]
			}
		case "refilled": // no entry comes, each gets larger
			each := pools[j%len(pools)][j]
			if each == nil {
				each = &waiter{id: made}
				pools[j%len(pools)][j] = each
			}
			each.log = make([]byte, len(each.log)+200)
		case "appeared": // after the base
			if made > many {
				enqueue("mail", 1)
			}
		case "border":
			keep(liveByID, liveByName, made)
			if j%1000 == 0 {
				keep(goneByID, goneByName, -made)
			}
		case "equal":
			both.second.add(&user{id: made})
		case "timers": // in the heaps of several processors, to one of which a timer of the program leads
			each := &user{id: made}
			timer := time.AfterFunc(time.Hour, func() { routes.add(each.name) })
			if j == 0 {
				deadline = timer
			}
			if j%1000 == 0 {
				handOver()
			}
		case "larger": // the slices, not their number
			visits[made%500] = append(visits[made%500], user{id: made})
		case "sessions":
			login(sessions, made)
		case "listed": // a key that is there already leaves the old element in the list
			foundFirst[fmt.Sprint("key", made%60)] = recent.PushFront(&user{id: made})
		}
	}
}

// The last of waiters is held by two fields, so by none of them alone.
type waiters struct{ head, tail *waiter }

type waiter struct {
	next *waiter
	id   int
	data [80]byte
	log  []byte
}

func (w *waiters) join(each *waiter) {
	if w.tail == nil {
		w.head = each
	} else {
		w.tail.next = each
	}
	w.tail = each
}

// keep makes a short string, which shares 16 bytes with the one made before, whatever has that.
func keep(byID map[int]*user, byName map[string]*user, id int) {
	each := &user{id: id, name: fmt.Sprint("n", id)}
	byID[id], byName[each.name] = each, each
}

//go:noinline
func (s *sharded) put(id int) { s.shards[id%len(s.shards)].Store(id, &user{id: id}) }

//go:noinline
func enqueue(name string, many int) {
	for i := 0; i < many; i++ {
		queues[name] = append(queues[name], &user{id: i})
	}
}

// handOver goes on in another thread, and so most likely on another processor.
func handOver() {
	done := make(chan bool)
	go func() {
		runtime.LockOSThread()
		done <- true
	}()
	<-done
}

func used() uint64 {
	var stats runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}

func main() {
	shape, input := os.Getenv("SHAPE"), bufio.NewReader(os.Stdin)
	fillOld()
	for i := 0; shape == "shards" && i < 20000; i++ { // another part of what holds the maps
		hub.log = append(hub.log, &user{id: i, name: fmt.Sprint("logged ", i)})
	}
	both = &indexes{&register{byID: map[int]*user{}}, &register{byID: map[int]*user{}}}
	for i := 0; shape == "moved" && i < 60000; i++ {
		both.first.all = append(both.first.all, &user{id: i})
		both.second.all = append(both.second.all, &user{id: i})
	}
	if shape == "queued" {
		queues["mail"] = nil
		enqueue("sms", 10)
		enqueue("push", 5000)
		enqueue("fax", 5000)
	}
	if shape == "queued" || shape == "appeared" || shape == "popped" {
		enqueue("billing", 40000)
	}
	for i := 0; shape == "border" && i < 10000; i++ {
		keep(goneByID, goneByName, -20000-i)
	}
	for i := 0; shape == "equal" && i < 20000; i++ {
		both.first.add(&user{id: i})
	}
	before := used()
	for {
		fill(shape, 20000)
		now := used()
		fmt.Println("READY", now-before)
		before = now
		if _, err := input.ReadString('\n'); err != nil {
			return
		}
		if shape == "queued" { // what comes is where its elements were
			queues["push"], queues["fax"] = nil, nil
			used()
		}
	}
}
