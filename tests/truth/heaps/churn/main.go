// A cache under churn: sessions come, change and go, and what is new lies in the slots of what was freed; a leak grows beside.
// Dumps itself after each round: churn FILE SHARE [FILE]..., where SHARE is how much of it all. Beside each FILE it writes
// FILE.counts: of its own classes, how many objects are there, and how many of them since the dump before.
package main

import (
	"container/list"
	"encoding/json"
	"fmt"
	"math/rand"
	"os"
	"runtime"
	"strconv"
	"sync"
	"time"

	"settle"
	"truth/record"
)

type Session struct {
	id      string
	user    *User
	created time.Time
	values  map[string]interface{}
	cart    []*Item
	last    *Visit
	hits    *uint64
	buffer  []byte
	round   int
}

type User struct {
	name  string
	roles []string
	quota int
}

type Item struct {
	sku   string
	count int
	price float64
}

type Visit struct {
	path string
	prev *Visit
	when int64
}

type Point struct{ x, y int32 }

type Leaked struct {
	session string
	payload [3]uint64
	round   int
}

type Cache struct {
	mu     sync.Mutex
	byID   map[string]*list.Element
	lru    *list.List
	users  []*User
	counts map[string]*uint64
	points []*Point
	events chan event
	recent []event
	pool   sync.Pool
	next   int
}

type event struct {
	name string
	of   *Session
	at   time.Time
}

var cache *Cache

// The leak is in a global, behind a pointer.
var leaks = &struct{ all []*Leaked }{}

func newSession(c *Cache, round int) *Session {
	c.next++
	s := &Session{
		id:      fmt.Sprintf("session-%08d", c.next),
		user:    c.users[rand.Intn(len(c.users))],
		created: time.Now(),
		values:  map[string]interface{}{"n": c.next, "lang": "en"},
		hits:    new(uint64),
		round:   round,
	}
	for i := 0; i < rand.Intn(4); i++ {
		s.cart = append(s.cart, &Item{"sku-" + strconv.Itoa(rand.Intn(50)), i, float64(i) / 3})
	}
	for i := 0; i < rand.Intn(3); i++ {
		s.last = &Visit{"/page/" + strconv.Itoa(i), s.last, int64(i)}
	}
	if rand.Intn(4) == 0 {
		s.buffer = make([]byte, 64)
	}
	return s
}

func (c *Cache) add(round int) {
	s := newSession(c, round)
	c.byID[s.id] = c.lru.PushFront(s)
	c.recent[c.next%len(c.recent)] = event{"add", s, s.created}
}

func (c *Cache) evict() {
	last := c.lru.Back()
	s := c.lru.Remove(last).(*Session)
	delete(c.byID, s.id)
}

// churn replaces a part of the sessions and changes another one.
func (c *Cache) churn(round, fresh, evicted, touched int) {
	for i := 0; i < evicted; i++ {
		c.evict()
	}
	for i := 0; i < fresh; i++ {
		c.add(round)
	}
	front := c.lru.Len()
	for id, element := range c.byID {
		if touched--; touched < 0 {
			break
		}
		s := element.Value.(*Session)
		c.lru.MoveToFront(element)
		*s.hits++
		s.last = &Visit{"/again/" + id[len(id)-2:], s.last, int64(round)}
		if s.last.prev != nil {
			s.last.prev.prev = nil
		}
		switch rand.Intn(4) {
		case 0:
			s.cart = append(s.cart, &Item{"sku-" + strconv.Itoa(rand.Intn(50)), round, 1})
		case 1:
			s.values["seen"] = front
		case 2:
			s.buffer = append(s.buffer[:0], id...)
		}
		c.counts[s.user.name] = s.hits
	}
	for i := range c.points {
		if rand.Intn(3) == 0 {
			c.points[i] = &Point{int32(i), int32(round)}
		} else if rand.Intn(3) == 0 {
			c.points[i].y++
		}
	}
	for i := 0; i < fresh/10; i++ {
		leaks.all = append(leaks.all, &Leaked{session: "leaked " + strconv.Itoa(i), round: round})
	}
	for i := 0; i < fresh; i++ { // what lives for a moment
		b, _ := c.pool.Get().(*[]byte)
		if b == nil {
			b = new([]byte)
		}
		*b, _ = json.Marshal(map[string]interface{}{"i": i, "s": strconv.Itoa(i)})
		c.pool.Put(b)
	}
}

// grown ends what growth of the map is under way: until 1.23 the old buckets, which are given up bit by bit, still hold what was
// deleted since where the map has been ranged over.
func (c *Cache) grown() {
	for i := 0; i < len(c.byID); i++ {
		c.byID[""] = nil
		delete(c.byID, "")
	}
}

// worker holds a session on its stack.
func worker(s *Session, done chan struct{}) {
	own := &Visit{path: "worker " + s.id}
	<-done
	runtime.KeepAlive(own)
	runtime.KeepAlive(s)
}

type counts struct{ All, New int }

func (c *Cache) write(path string, round int) {
	of := map[string]*counts{"main.Session": {}, "main.Leaked": {}}
	count := func(class string, r int) {
		of[class].All++
		if r == round {
			of[class].New++
		}
	}
	for e := c.lru.Front(); e != nil; e = e.Next() {
		count("main.Session", e.Value.(*Session).round)
	}
	for _, l := range leaks.all {
		count("main.Leaked", l.round)
	}
	text, _ := json.Marshal(of)
	if err := os.WriteFile(path+".counts", text, 0o666); err != nil {
		panic(err)
	}
}

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: churn FILE SHARE [FILE]...")
		os.Exit(2)
	}
	share, _ := strconv.ParseFloat(os.Args[2], 64)
	size := int(100000 * share)
	rand.Seed(1)
	cache = &Cache{byID: map[string]*list.Element{}, lru: list.New(), counts: map[string]*uint64{}, recent: make([]event, 256),
		points: make([]*Point, size), events: make(chan event, 16)}
	for i := 0; i < 100; i++ {
		cache.users = append(cache.users, &User{"user " + strconv.Itoa(i), []string{"reader", "role " + strconv.Itoa(i%7)}, i})
	}
	for i := range cache.points {
		cache.points[i] = &Point{int32(i), 0}
	}
	cache.churn(0, size, 0, size/3)
	files := append([]string{os.Args[1]}, os.Args[3:]...)
	stopped := make([]chan struct{}, len(files)+1)
	for round, file := range files {
		round++
		cache.churn(round, size/2+size/25, size/2, size/3)
		runtime.GC()
		cache.churn(round, size/20, size/20, size/10)
		// Goroutines come and go as well.
		stopped[round] = make(chan struct{})
		for i, e := 0, cache.lru.Front(); i < size/100; i, e = i+1, e.Next() {
			go worker(e.Value.(*Session), stopped[round])
		}
		if round > 1 {
			close(stopped[round-1])
		}
		settle.Settle()
		for i := range cache.recent { // what only the ring held
			cache.recent[i] = event{}
		}
		cache.grown()
		runtime.GC()
		runtime.GC()
		cache.write(file, round)
		record.Dump(file)
	}
	runtime.KeepAlive(cache)
}
