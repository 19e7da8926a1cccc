// sampled holds a heap of a realistic mix whose classes are spread over thousands of spans: a map of sessions, which is the largest,
// a list too long to be followed, users that everything points to, buffers, and goroutines that wait for ever. It prints "ready" and
// waits to be read.
package main

import (
	"fmt"
	"runtime"
	"strconv"
	"sync"
	"time"
)

type user struct {
	id   uint64
	name string
}

type session struct {
	id      uint64
	user    *user
	token   string
	tags    []string
	history []int64
	next    *session
	created int64
}

type node struct {
	next, prev *node
	key        string
	value      *int64
}

type order struct {
	items []int32
	price float64
	buyer *user
}

var (
	sessions = map[string]*session{}
	lru      struct {
		head, tail *node
		count      int
	}
	users   []*user
	index   sync.Map
	orders  []*order
	buffers [][]byte
)

func wait(calls int, done <-chan int, of *user) int {
	if calls == 0 {
		return <-done + int(of.id)
	}
	return wait(calls-1, done, of) + calls
}

func main() {
	const scale = 1000
	for i := 0; i < 4*scale; i++ {
		users = append(users, &user{uint64(i), "user" + strconv.Itoa(100000+i)})
	}
	for i := 0; i < 60*scale; i++ {
		one := &session{id: uint64(i), user: users[i%len(users)], created: int64(i), history: make([]int64, 4+i%6)}
		one.token = fmt.Sprintf("token-%020d-%04x", uint64(i)*0x9e3779b97f4a7c15, i&0xffff)
		one.tags = []string{"tag" + strconv.Itoa(100000+i), "role"}
		sessions[one.token] = one
	}
	for i := 0; i < 50*scale; i++ {
		value := int64(i)
		one := &node{key: "key" + strconv.Itoa(1000000+i), value: &value, prev: lru.tail}
		if lru.tail == nil {
			lru.head = one
		} else {
			lru.tail.next = one
		}
		lru.tail = one
		lru.count++
	}
	for i := 0; i < 10*scale; i++ {
		index.Store("index"+strconv.Itoa(1000000+i), users[i%len(users)])
		orders = append(orders, &order{make([]int32, 4+i%20), float64(i), users[i%len(users)]})
	}
	for i := 0; i < 40; i++ {
		buffers = append(buffers, make([]byte, 64<<10))
	}
	done := make(chan int)
	for i := 0; i < scale; i++ {
		go wait(3+i%30, done, users[i%len(users)])
	}
	runtime.GC()
	fmt.Println("ready")
	time.Sleep(time.Hour)
}
