// A server's life between two dumps: some of it dies, some is new, and what survives is held in other ways than before. No
// survivor may change its class.
package main

import (
	"container/list"
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"time"

	"leaks/expect"
)

type cached struct {
	name    string
	payload []byte
	next    *cached
	used    int
	stats   [5]int
}

type session struct {
	id      string
	started time.Time
	user    *user
	items   []*cached
	tags    map[string]string
	done    func() string
}

type user struct {
	name  string
	first *session
	ratio float64
	flags [3]bool
}

type event struct {
	at   int64
	what interface{}
}

type numbers struct{ a, b int64 }

var (
	mu        sync.Mutex
	cache     = map[string]*cached{}
	sessions  []*session
	users     = list.New()
	events    chan event
	documents []interface{}
	small     []*int64
	flags     []*bool
	pairs     []*numbers
	texts     []string
	starts    []*string // and to its start
	inner     []*[5]int // into the midst of what nothing else holds
	waiting   sync.WaitGroup
	release   = make(chan struct{})
)

func add(i int) {
	mu.Lock()
	defer mu.Unlock()
	c := &cached{name: fmt.Sprintf("object number %d", i), payload: make([]byte, 100+i%50)}
	cache[c.name] = c
	u := &user{name: fmt.Sprint("user ", i), ratio: float64(i)}
	s := &session{id: fmt.Sprint("session ", i), started: time.Now(), user: u, items: []*cached{c}, tags: map[string]string{"a": c.name}}
	s.done = func() string { return s.id + u.name }
	u.first = s
	sessions = append(sessions, s)
	users.PushBack(u)
	var document interface{}
	if err := json.Unmarshal([]byte(fmt.Sprintf(`{"n": %d.5, "list": [1, 2, true, "text %d"], "map": {"k": null, "b": false}}`, i, i)), &document); err != nil {
		panic(err)
	}
	documents = append(documents, document)
	number, flag := int64(i), i%2 == 0
	small = append(small, &number)
	flags = append(flags, &flag)
	pairs = append(pairs, &numbers{number, number})
	texts = append(texts, strings.Repeat("x", i%30))
	alone := &cached{name: "inner"}
	inner, starts = append(inner, &alone.stats), append(starts, &alone.name)
	if i%10 == 0 {
		waiting.Add(1)
		go wait(c, u)
	}
	if len(events) < cap(events) {
		events <- event{number, c}
	}
}

// What a goroutine holds is elsewhere on its stack in the second dump, or nowhere at all.
func wait(c *cached, u *user) {
	own := &cached{name: "of a goroutine", next: c}
	waiting.Done()
	<-release
	if own.used == 0 {
		own.used++
	}
	own = nil
	u.ratio++
	waiting.Done()
	select {}
}

func churn(n int) {
	mu.Lock()
	defer mu.Unlock()
	i := 0
	for name := range cache {
		if i++; i%3 == 0 {
			delete(cache, name)
		}
	}
	for i := range sessions {
		if i%4 == 0 {
			sessions[i] = nil
		} else if i%4 == 1 {
			sessions[i].items = append(sessions[i].items, sessions[i].items[0], sessions[i].items[0])
		}
	}
	for e := users.Front(); e != nil; {
		next := e.Next()
		if i++; i%5 == 0 {
			users.Remove(e)
		}
		e = next
	}
	for i := range documents {
		if i%3 == 0 {
			documents[i] = nil
		}
	}
	for i := range small {
		switch i % 4 { // one way is left, the other, both, none
		case 0:
			inner[i] = nil
		case 1:
			starts[i] = nil
		case 2:
			inner[i], starts[i] = nil, nil
		}
		if i%3 == 0 {
			small[i], flags[i], pairs[i], texts[i] = nil, nil, nil, ""
		}
	}
	for len(events) > cap(events)/2 {
		<-events
	}
	waiting.Add(n / 10)
	close(release)
}

func main() {
	n := expect.Size(5000)
	events = make(chan event, 1000)
	for i := 0; i < n; i++ {
		add(i)
	}
	waiting.Wait()
	expect.Objects(`main\.cached`, n)
	expect.Objects(`main\.session`, n)
	expect.Objects(`\(tiny block\)`, n/4)
	expect.Add(expect.Expectation{Kind: "objects", Class: `main\.numbers`, Count: n, DWARF: true})
	expect.NoObjects(`.*\?`)
	expect.NoObjects(`noptr16 \(.*`)
	expect.Dump(1)
	churn(n)
	waiting.Wait()
	release = make(chan struct{})
	for i := n; i < 2*n; i++ {
		add(i)
	}
	expect.Dump(2)
	expect.Done()
	runtime.KeepAlive(documents)
}
