// Containers that are not one object: indexes in several variables, lists and maps in structs by value, arrays of shards, what two
// packages have of one type. Each has a healthy twin of the same type that is made before it: the first screen has the one that
// leaks, and all of it. READY has what the program measured of the leak itself.
//
//	ways plain stripped
//	within 5
//	case indexes SHAPE=indexes
//	unwalked of what several variables hold the walk does not tell twins apart
//	is Math.abs(r.suspects[0].count - 20000) <= 1 && r.suspects[0].item === 'main.user'
//	says[plain] held by     main\.byName, a map of 20,000 entries$
//	says[plain] shared by   main\.byID$
//	says[stripped] held by     the global (set|used) by main\.index
//	case topics SHAPE=topics
//	is r.suspects[0].count === 20000
//	says[plain] ^  1 .* in main\.bus$
//	says[stripped] ^  1 .* in the global used by main\.
//	case list SHAPE=list
//	is r.suspects[0].count === 20000 && r.suspects[0].item === 'main.user'
//	says[plain] held by     main\.recent\.elements, a list of 20,000 entries$
//	says[plain] example     main\.recent\.elements\.Front\(\)$
//	never root\.next|^      held by     0x
//	case ring SHAPE=ring
//	is r.suspects[0].count === 20000 && r.suspects[0].item === 'main.user'
//	says[plain] held by     main\.last
//	never \.next\b
//	case links SHAPE=links
//	is r.suspects[0].count === 20000 && r.suspects[0].item === 'main.link'
//	says[plain] held by     main\.leakLinks$
//	case registry SHAPE=registry
//	is r.suspects[0].count === 20000 && r.suspects[0].item === 'main.user'
//	says[stripped] held by     the global used by main\.[^,]*, a sync\.Map of 20,000 entries$
//	case shards SHAPE=shards
//	is r.suspects[0].count === 20000 && r.suspects[0].item === 'main.user'
//	says ^  1 .* in 16 × map\[int\]\*main\.user$
//	says[stripped] held by     the global (set|used) by main\.shard
//	case spread SHAPE=spread
//	is r.suspects[0].count === 20000 && r.suspects[0].item === 'main.user'
//	says ^  1 .* in 16 × map\[string\]\*main\.user$
//	says[plain] held by     main\.spread\[\d+\]\.users, a map of [\d,]+ entries, one of 16$
//	says[stripped] held by     the global (set|used) by main\.\S+ \(0x[0-9a-f]+\)(\.f\d+)?\[\d+\](\.f\d+)?, a map of [\d,]+ entries, one of 16$
//	case reflected SHAPE=reflected
//	unwalked what other packages have of each entry is no part of the container
//	is Math.abs(r.suspects[0].count - 300) <= 20
package main

import (
	"bufio"
	"container/list"
	"container/ring"
	"encoding/json"
	"fmt"
	"math/rand"
	"os"
	"reflect"
	"runtime"
	"sync"
)

type user struct {
	id   int
	name string
	data [100]byte
}

type broker struct {
	name        string
	lock        sync.RWMutex
	subscribers map[string][]*user
	locks       sync.Map
}

type cache struct {
	lock     sync.Mutex
	elements list.List
}

type link struct {
	previous, next *link
	user           *user
}

type links struct {
	lock sync.Mutex
	root link
}

type registry struct {
	name  string
	lock  sync.Mutex
	users sync.Map
}

type shard struct {
	lock sync.RWMutex
	m    map[int]*user
}

// spreader is larger than what counts as a variable behind the only address of it that code takes.
type spreader [16]struct {
	lock  sync.RWMutex
	hits  int
	users map[string]*user
}

func (s *spreader) add(u *user) {
	one := &s[u.id%16]
	one.lock.Lock()
	if one.users == nil {
		one.users = map[string]*user{}
	}
	one.users[u.name] = u
	one.lock.Unlock()
}

var (
	twinSpread, spread     spreader
	oldByID, byID          = map[int]*user{}, map[int]*user{}
	oldByName, byName      = map[string]*user{}, map[string]*user{}
	audit, bus             = newBroker("audit"), newBroker("bus")
	old, recent            cache
	previous, last         *ring.Ring
	twinLinks, leakLinks   links
	archive, users         registry
	twinShards, leakShards [16]shard
	random                 = rand.New(rand.NewSource(7))
)

func newBroker(name string) *broker {
	return &broker{name: name, subscribers: map[string][]*user{}}
}

func newUser(i int) *user { return &user{id: i, name: fmt.Sprint("user ", i)} }

func (b *broker) touch(topic string) {
	b.locks.LoadOrStore(topic, &sync.Mutex{})
	b.lock.Lock()
	b.subscribers[topic] = append(b.subscribers[topic], nil)[:0]
	b.lock.Unlock()
}

func (c *cache) add(u *user) {
	c.lock.Lock()
	c.elements.PushFront(u)
	c.lock.Unlock()
}

func (l *links) add(u *user) {
	one := &link{&l.root, l.root.next, u}
	if one.next == nil {
		one.next = &l.root
	}
	one.next.previous, l.root.next = one, one
}

func (r *registry) add(u *user) { r.users.Store(u.name, u) }

//go:noinline
func indexOld(u *user) { oldByID[u.id], oldByName[u.name] = u, u }

//go:noinline
func index(u *user) { byID[u.id], byName[u.name] = u, u }

//go:noinline
func shardOld(u *user) {
	s := &twinShards[u.id%16]
	if s.m == nil {
		s.m = map[int]*user{}
	}
	s.m[u.id] = u
}

//go:noinline
func shardNew(u *user) {
	s := &leakShards[u.id%16]
	s.lock.Lock()
	if s.m == nil {
		s.m = map[int]*user{}
	}
	s.m[u.id] = u
	s.lock.Unlock()
}

// ringOf returns a ring of n users.
func ringOf(n int) *ring.Ring {
	r := ring.New(n)
	for i := 0; i < n; i++ {
		r.Value = newUser(i)
		r = r.Next()
	}
	return r
}

// marshal has package json remember a type that no other call has.
func marshal() {
	var fields []reflect.StructField
	for i := 0; i < 24; i++ {
		name := fmt.Sprint("Setting", i)
		fields = append(fields, reflect.StructField{Name: name, Type: reflect.TypeOf(""), Tag: reflect.StructTag(`json:"a` + name + `"`)})
	}
	random.Shuffle(len(fields), func(i, j int) { fields[i], fields[j] = fields[j], fields[i] })
	json.Marshal(reflect.New(reflect.StructOf(fields)).Elem().Interface())
}

func fillOld(n int) {
	for i := 0; i < n; i++ {
		switch os.Getenv("SHAPE") {
		case "indexes":
			indexOld(newUser(i))
		case "topics":
			audit.touch(fmt.Sprint("audit.", i))
		case "list":
			old.add(newUser(i))
		case "links":
			twinLinks.add(newUser(i))
		case "registry":
			archive.add(newUser(i))
		case "shards":
			shardOld(newUser(i))
		case "spread":
			twinSpread.add(newUser(i))
		}
	}
	previous = ringOf(2)
}

func fill(n int) {
	for i := 0; i < n; i++ {
		switch os.Getenv("SHAPE") {
		case "indexes":
			index(newUser(i))
		case "topics":
			bus.touch(fmt.Sprint("some.longer.name.of.a.topic.", i))
		case "list":
			recent.add(newUser(i))
		case "links":
			leakLinks.add(newUser(i))
		case "registry":
			users.add(newUser(i))
		case "shards":
			shardNew(newUser(i))
		case "spread":
			spread.add(newUser(i))
		case "reflected":
			if i < 300 {
				marshal()
			}
		}
	}
	if os.Getenv("SHAPE") == "ring" {
		last = ringOf(n)
	}
}

func heapInUse() uint64 {
	var stats runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}

func main() {
	fillOld(1000)
	before := heapInUse()
	fill(20000)
	fmt.Println("READY", heapInUse()-before)
	bufio.NewReader(os.Stdin).ReadString('\n')
	runtime.KeepAlive(previous)
}
