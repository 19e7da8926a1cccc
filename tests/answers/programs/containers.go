// Containers whose entries leak, each with a healthy twin of the same type that is made before it: the first screen names the
// container, how many entries it has, and all that these take. READY has what the program measured of the leak itself.
//
//	ways plain stripped
//	within 5
//	case buckets SHAPE=buckets
//	is r.suspects[0].container.entries === 30000 && r.suspects[0].container.entries === r.suspects[0].count
//	says ^  1 .* 30,000 \[\]int64, in map\[string\]\[\]int64$
//	says[plain] held by     main\.buckets, a map of 30,000 entries$
//	case lru SHAPE=lru
//	ways plain
//	is r.suspects[0].count === 20000 && /^main\.element$|^list\.Element$/.test(r.suspects[0].item)
//	says[plain] held by     main\.recent$
//	case indexes SHAPE=indexes
//	is r.suspects[0].count === 20000 && r.suspects[0].item === 'main.user'
//	says[plain] ^  1 .* 20,000 main\.user, in main\.registry$
//	says[plain] held by     main\.registry$
//	case tree SHAPE=tree
//	ways plain
//	is Math.abs(r.suspects[0].count - 20000) <= 1 && r.suspects[0].item === 'main.item'
//	says[plain] held by     main\.btree\.children, a slice of \d entries$
//	case topics SHAPE=topics
//	ways plain
//	says[plain] ^  1 .* 20,000 main\.topic, in main\.bus$
//	case queue SHAPE=queue
//	is[plain] r.suspects[0].container.entries === 20000 && r.suspects[0].container.entries === r.suspects[0].count
//	says ^  1 .* 20,000 main\.user, in \[\]\*main\.user$
//	says[plain] held by     main\.queue, a slice of 20,000 entries$
//	case nested SHAPE=nested
//	is r.suspects[0].container.entries === 20000 && r.suspects[0].container.entries === r.suspects[0].count
//	says ^  1 .* 20,000 map\[string\]main\.point, in map\[int\]map\[string\]main\.point$
//	says[plain] held by     main\.nested, a map of 20,000 entries$
//	case generic SHAPE=generic
//	is r.suspects[0].container.entries === 20000 && r.suspects[0].container.entries === r.suspects[0].count
//	is r.suspects[0].count === 20000 && r.suspects[0].item.startsWith('main.box[')
//	says[plain] held by     main\.generic\.
//	case sharded SHAPE=sharded
//	is r.suspects[0].count === 32000 && r.suspects[0].item === 'main.user'
//	case pointed SHAPE=pointed
//	is r.suspects[0].count === 32000 && r.suspects[0].item === 'main.user'
//	says ^  1 .* 32,000 main\.user, in 16 × map\[int\]\*main\.user$
//	says held by     .*\[\d+\](\.m)?, a map of 2,000 entries, one of 16$
//	case local SHAPE=local
//	says[plain] held by     mine  \(local of main\.serve containers\.go:\d+\)$
//	says[stripped] held by     f\d+, a \[\]\*main\.user  \(local of main\.serve containers\.go:\d+\)$
//	is r.suspects[0].count === 20000 && r.suspects[0].item === 'main.user'
//	case localmap SHAPE=localmap
//	says ^  1 .* 25,000 main\.user, in map\[int\]\*main\.user$
//	says held by     \S+  \(local of main\.index containers\.go:\d+\), a map of 25,000 entries$
//	is r.suspects[0].count === 25000 && r.suspects[0].held_by.indexOf('.') > r.suspects[0].held_by.indexOf('(')
//	never ^      (mostly|all in)\b
//	never ^ .*\b0 × map\[
//	case localboth SHAPE=localboth
//	is r.suspects[0].count === 20000 && r.suspects[0].item === 'main.user'
//	says[plain] held by     mine\.(byID  \(local of main\.enrol containers\.go:\d+\), a map of 20,000 entries|all .*)$
//	says[plain] shared by   mine\.
//	says[stripped] held by     .*\(local of main\.enrol containers\.go:\d+\)
//	case localsync SHAPE=localsync
//	is r.suspects[0].count === 20000 && r.suspects[0].item === 'main.user'
//	says held by     (&mine|f\d+, a sync\.Map)  \(local of main\.hold containers\.go:\d+\)
//	case shaped SHAPE=shaped
//	is r.suspects[0].count === 20000 && r.suspects[0].item === 'main.link[string,*main.user]'
//	never go\.shape
//	case parts SHAPE=parts
//	ways plain
//	says ^  1 .* 20,000 main\.user, in \[\]\*main\.user$
//	says held by     main\.jobs\.retry\.elems, a slice of 20,000 entries$
//	case strings SHAPE=strings
//	says ^  1 .* 200 \(string\), in \[\]string$
//	says ^      besides     19,800 small ones,
//	case mixed SHAPE=mixed
//	is r.suspects[0].count === 400 && !r.suspects[0].is_entries
//	says ^  1 .* 400 \(string\), in \[\]string$
//	says ^      pinned by   400 substrings, which keep \S+ MB of documents and use \S+ kB$
//	case values SHAPE=values
//	is r.suspects[0].entries === 20000 && r.suspects[0].is_entries
//	says ^  1 .* 20,000 entries, in map\[int\]main\.sample$
//	says[plain] held by     main\.samples, a map of 20,000 entries$
//	case elements SHAPE=elements
//	is r.suspects[0].entries === 20000 && r.suspects[0].is_entries
//	says ^  1 .* 20,000 entries, in \[\]main\.sample$
//	says[plain] held by     main\.history\.all, a slice of 20,000 entries$
//	says[stripped] held by     the global used by main\.\S+ \(0x[0-9a-f]+\)\.\w+, a slice of 20,000 entries$
//	case deep SHAPE=deep
//	says[plain] ^      held by     main\.record\.all, a slice of 20,000 entries, below main\.servers$
//	says ^      example     main\.record\.all\[\d+\]\.points$
//	says ^      mostly      \[\]main\.sample at 0x[0-9a-f]+ alone has 20,000 of the 21,000, 2\.3\d MB
//	is r.suspects[0].held_by.endsWith('["https://server-1.cluster.example.com:2379"].cluster.state.storage.all')
//	case ordered SHAPE=ordered
//	is r.suspects[0].count === 20000 && r.suspects[0].item === 'main.user'
//	says[plain] ^  1 .* 20,000 main\.user, in main\.ordered$
//	case pool SHAPE=pool
//	ways plain
//	says ^  1 .* [\d,]+ main\.scratch, in a sync\.Pool$
//	says held by     main\.buffers  \(in a sync\.Pool: the next collections free it\)$
//	case newpool SHAPE=newpool
//	ways stripped
//	says held by     the global .*  \(in a sync\.Pool: the next collections free it\)$
//	case underpool SHAPE=pool
//	ways plain
//	options --under main.buffers
//	says ^  1 .* [\d,]+ main\.scratch, in a sync\.Pool$
//	is r.under.bytes > r.suspects[0].retained
//	case grownvalues SHAPE=values
//	ways plain
//	base
//	says ^  1 .* \+20,000 entries, now 40,000, in map\[int\]main\.sample$
//	case grown SHAPE=indexes
//	ways plain
//	base
//	is r.suspects[0].count_grown === 20000 && r.suspects[0].count === 40000
//	is r.suspects[0].retained_grown / r.suspects[0].retained > 0.45 && r.suspects[0].retained_grown / r.suspects[0].retained < 0.55
//	says[plain] ^      held by     main\.registry$
package main

import (
	"bufio"
	"container/list"
	"fmt"
	"os"
	"runtime"
	"sort"
	"strings"
	"sync"
)

type user struct {
	id   int
	name string
	data [100]byte
}

type element struct {
	key   string
	value *user
}

type cache struct {
	list  *list.List
	items map[string]*list.Element
}

type indexes struct {
	byID   map[int]*user
	byName map[string]*user
}

type item struct{ key, value []byte }

type node struct {
	items    []*item
	children []*node
}

type topic struct{ users []string }

type broker struct {
	subscribers map[string][]string
	topics      map[string]*topic
}

type point struct{ x, y, z float64 }

type box[T any] struct {
	value T
	note  string
}

type store[K comparable, V any] struct{ m map[K]*box[V] }

// The code of a generic map allocates memory of the type map[go.shape.string]*main.link[...].
type link[K comparable, V any] struct {
	prev, next *link[K, V]
	key        K
	value      V
}

type chain[K comparable, V any] struct {
	items map[K]*link[K, V]
	head  link[K, V]
}

//go:noinline
func (c *chain[K, V]) put(key K, value V) {
	if c.items == nil {
		c.items = map[K]*link[K, V]{}
		c.head.prev, c.head.next = &c.head, &c.head
	}
	each := &link[K, V]{prev: &c.head, next: c.head.next, key: key, value: value}
	each.next.prev, c.head.next = each, each
	c.items[key] = each
}

type elements struct{ elems []*user }

type dispatcher struct {
	ready, retry elements
	name         string
}

type shard struct {
	m map[int]*user
}

type sample struct {
	at     int64
	points []int64
}

type record struct {
	name string
	all  []sample
}

// The keys are held by the map and the slice together.
type stamped[V any] struct {
	value V
	at    int64
}

type inOrder[K comparable, V any] struct {
	items map[K]stamped[V]
	order []K
}

func (c *inOrder[K, V]) put(key K, value V) {
	if c.items == nil {
		c.items = map[K]stamped[V]{}
	}
	c.items[key] = stamped[V]{value, 1}
	c.order = append(c.order, key)
}

type scratch struct{ data [4000]byte }

type state struct{ storage *record }

type cluster struct{ state *state }

type server struct {
	name    string
	cluster *cluster
}

type lockedShard struct {
	lock sync.RWMutex
	m    map[int]*user
}

type shardedCache struct {
	name   string
	shards [16]lockedShard
}

func (c *shardedCache) put(u *user) {
	s := &c.shards[u.id%16]
	s.lock.Lock()
	defer s.lock.Unlock()
	if s.m == nil {
		s.m = map[int]*user{}
	}
	s.m[u.id] = u
}

var (
	logins, buckets     = map[string][]int64{}, map[string][]int64{}
	recentOld, recent   cache
	archive, registry   indexes
	small, btree        = &node{}, &node{}
	audit, bus          = &broker{}, &broker{}
	sent, queue         []*user
	short, findings     []string
	few, nested         map[int]map[string]point
	spare, generic      = &store[int, user]{map[int]*box[user]{}}, &store[int, user]{map[int]*box[user]{}}
	shardsOld, shards   [16]*shard
	offline             = &shardedCache{name: "offline"}
	online              = &shardedCache{name: "online"}
	pages, links        = &chain[string, *user]{}, &chain[string, *user]{}
	jobs                dispatcher
	rare, samples       = map[int]sample{}, map[int]sample{}
	recently, history   = &record{}, &record{}
	servers             = map[string]*server{}
	sorted, ordered     = &inOrder[string, *user]{}, &inOrder[string, *user]{}
	buffers             = sync.Pool{New: func() any { return new(scratch) }}
	requests, responses = make(chan int), make(chan int)
	indexed, enrolled   = make(chan int), make(chan int)
	cached              = make(chan int)
	made                int
)

func newUser(i int) *user { return &user{id: i, name: fmt.Sprint("user", i)} }

func (c *cache) add(i int) {
	if c.list == nil {
		c.list, c.items = list.New(), map[string]*list.Element{}
	}
	key := fmt.Sprint("k", i%60)
	c.items[key] = c.list.PushFront(&element{key, newUser(i)})
}

func (x *indexes) add(u *user) {
	if x.byID == nil {
		x.byID, x.byName = map[int]*user{}, map[string]*user{}
	}
	x.byID[u.id] = u
	x.byName[u.name] = u
}

// insert adds to a tree of three levels, as a B-tree whose nodes have at most 64 items.
func (n *node) insert(it *item, depth int) {
	if depth == 0 {
		n.items = append(n.items, it)
		sort.Slice(n.items, func(i, j int) bool { return string(n.items[i].key) < string(n.items[j].key) })
		return
	}
	last := len(n.children) - 1
	if last < 0 || n.children[last].isFull(depth-1) {
		n.children = append(n.children, &node{})
		last++
	}
	n.children[last].insert(it, depth-1)
}

func (n *node) isFull(depth int) bool {
	if depth == 0 {
		return len(n.items) >= 60
	}
	return len(n.children) >= 60 && n.children[len(n.children)-1].isFull(depth-1)
}

func (b *broker) add(i int) {
	if b.topics == nil {
		b.topics, b.subscribers = map[string]*topic{}, map[string][]string{}
	}
	name := fmt.Sprint("topic.", i)
	b.topics[name] = &topic{[]string{name}}
	b.subscribers[name] = make([]string, 0, 4)
}

func serve() {
	var old, mine []*user
	for many := range requests {
		for i := 0; i < many; i++ {
			if many < 10000 {
				old = append(old, newUser(i))
			} else {
				mine = append(mine, newUser(i))
			}
		}
		responses <- len(old) + len(mine)
	}
}

// The headers of both maps are in the frame, so that no object is the map.
func index() {
	old, mine := map[int]*user{}, map[int]*user{}
	for many := range indexed {
		for i := 0; i < many+many/4; i++ { // so many that Go 1.22 allocates overflow buckets
			if many < 10000 {
				old[i] = newUser(i)
			} else {
				mine[i] = newUser(i)
			}
		}
		responses <- len(old) + len(mine)
	}
}

// A struct in a frame, of which two fields hold the users together.
type roster struct {
	byID map[int]*user
	all  []*user
	last string
}

//go:noinline
func (r *roster) put(u *user) {
	r.byID[u.id] = u
	r.all = append(r.all, u)
}

func enrol() {
	old, mine := roster{byID: map[int]*user{}, last: "old"}, roster{byID: map[int]*user{}, last: "mine"}
	for many := range enrolled {
		for i := 0; i < many; i++ {
			if many < 10000 {
				old.put(newUser(i))
			} else {
				mine.put(newUser(i))
			}
		}
		responses <- len(old.all) + len(mine.all)
	}
}

// The map is allocated before the loop, which alone uses it.
func hold() {
	var old, mine sync.Map
	for many := range cached {
		for i := 0; i < many; i++ {
			if many < 10000 {
				old.Store(i, newUser(i))
			} else {
				mine.Store(i, newUser(i))
			}
		}
		responses <- many
	}
}

func fill(shape string, leaks bool, many int) {
	for j := 0; j < many; j++ {
		made++
		i := made
		switch shape {
		case "buckets":
			m := logins
			if leaks {
				m = buckets
			}
			m[fmt.Sprint("10.0.", i/256, ".", i%256)] = []int64{int64(i), 1, 2}
		case "lru":
			if leaks {
				recent.add(i)
			} else {
				recentOld.add(i)
			}
		case "indexes":
			if leaks {
				registry.add(newUser(i))
			} else {
				archive.add(newUser(i))
			}
		case "tree":
			t := small
			if leaks {
				t = btree
			}
			t.insert(&item{[]byte(fmt.Sprintf("%08d", i)), make([]byte, 90)}, 2)
		case "topics":
			if leaks {
				bus.add(i)
			} else {
				audit.add(i)
			}
		case "queue":
			if leaks {
				queue = append(queue, newUser(i))
			} else {
				sent = append(sent, newUser(i))
			}
		case "strings": // one of a hundred keeps a document
			s := &short
			if leaks {
				s = &findings
			}
			text := fmt.Sprint("finding number ", i)
			if leaks && j%100 == 0 {
				text += strings.Repeat(" ", 40<<10-len(text))
			}
			*s = append(*s, text)
		case "mixed": // a part of each document, and small texts that are as many as these
			s := &short
			if leaks {
				s = &findings
			}
			text := fmt.Sprint("text ", i)
			if leaks && j%50 == 0 {
				text = strings.Repeat(text, 4000)[:20]
			}
			if j%50 < 2 {
				*s = append(*s, text)
			}
		case "values":
			m := rare
			if leaks {
				m = samples
			}
			m[i] = sample{int64(i), make([]int64, 10)}
		case "elements":
			r := recently
			if leaks {
				r = history
			}
			r.all = append(r.all, sample{int64(i), make([]int64, 10)})
		case "ordered":
			c := sorted
			if leaks {
				c = ordered
			}
			c.put(fmt.Sprint("session ", i), newUser(i))
		case "deep":
			name := "https://server-0.cluster.example.com:2379"
			if leaks {
				name = "https://server-1.cluster.example.com:2379"
			}
			if servers[name] == nil {
				servers[name] = &server{name, &cluster{&state{&record{name: "log"}}}}
			}
			r := servers[name].cluster.state.storage
			r.all = append(r.all, sample{int64(i), make([]int64, 10)})
		case "nested":
			m := few
			if leaks {
				m = nested
			}
			m[i] = map[string]point{"a": {1, 2, 3}, fmt.Sprint("b", i): {4, 5, 6}}
		case "generic":
			s := spare
			if leaks {
				s = generic
			}
			s.m[i] = &box[user]{*newUser(i), fmt.Sprint("note ", i)}
		case "shaped":
			c := pages
			if leaks {
				c = links
			}
			c.put(fmt.Sprint("link", i), newUser(i))
		case "parts":
			if leaks {
				jobs.retry.elems = append(jobs.retry.elems, newUser(i))
			} else {
				jobs.ready.elems = append(jobs.ready.elems, newUser(i))
			}
		case "sharded":
			s := &shardsOld
			if leaks {
				s = &shards
			}
			if s[i%16] == nil {
				s[i%16] = &shard{map[int]*user{}}
			}
			s[i%16].m[i] = newUser(i)
		case "pointed":
			if leaks {
				online.put(newUser(i))
			} else {
				offline.put(newUser(i))
			}
		}
	}
	if shape == "local" {
		requests <- many
		<-responses
	}
	if shape == "localboth" {
		enrolled <- many
		<-responses
	}
	if shape == "localsync" {
		cached <- many
		<-responses
	}
	if shape == "localmap" {
		indexed <- many
		<-responses
	}
}

func used() uint64 {
	var stats runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}

func main() {
	shape, many := os.Getenv("SHAPE"), 20000
	if shape == "buckets" {
		many = 30000
	}
	if shape == "sharded" || shape == "pointed" {
		many = 32000
	}
	few, nested = map[int]map[string]point{}, map[int]map[string]point{}
	go serve()
	go index()
	go enrol()
	go hold()
	fill(shape, false, 1000)
	input := bufio.NewReader(os.Stdin)
	for {
		before := used()
		fill(shape, true, many)
		if strings.HasSuffix(shape, "pool") { // after the last collection
			take := buffers.Get
			if shape == "newpool" { // nothing is left over
				take = func() any { return new(scratch) }
				runtime.GC()
				runtime.GC()
			}
			var all []any
			for i := 0; i < many/10; i++ {
				all = append(all, take())
			}
			for _, each := range all {
				buffers.Put(each)
			}
			fmt.Println("READY", many/10*4096)
		} else {
			fmt.Println("READY", used()-before)
		}
		if _, err := input.ReadString('\n'); err != nil {
			break
		}
	}
	runtime.KeepAlive([]interface{}{&sent, &queue, &shardsOld, &shards, &archive, &registry, &jobs, recently, history})
}
