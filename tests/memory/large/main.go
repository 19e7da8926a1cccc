// large: a heap of many small objects of several kinds, as a server with sessions, a cache and a queue has, whose size is an
// argument: 1 is 30 million objects in 1.8 GB. What leaks are sessions that are never removed, and goroutines on a channel that
// nobody sends to. Prints READY, and the number of sessions.
package main

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"sync"
	"time"
)

type account struct {
	id         uint64
	name, mail string
}

type session struct {
	id      uint64
	owner   *account
	token   string
	labels  []string
	details map[string]string
	history []int64
}

// sessions is the leak: nothing removes its entries.
type sessions struct {
	lock    sync.Mutex
	byToken map[string]*session
}

type page struct {
	newer, older *page
	path         string
	hits         *int64
}

type job struct {
	parts []int32
	price float64
	from  *account
}

var (
	open     = &sessions{byToken: map[string]*session{}}
	newest   *page
	byName   sync.Map
	jobs     []*job
	buffers  [][]byte
	accounts []*account
)

func newSession(i uint64) *session {
	s := &session{id: i, owner: accounts[i%uint64(len(accounts))], token: fmt.Sprintf("token-%016x-%d", i*0x9e3779b97f4a7c15, i)}
	s.labels = []string{"label" + strconv.FormatUint(i%100003, 10)}
	s.history = make([]int64, 4+i%6)
	if i%3 == 0 {
		s.details = map[string]string{"address": "10.0.0." + strconv.FormatUint(i%255, 10)}
	}
	return s
}

//go:noinline
func await(depth int, responses chan int, of *account) int {
	var frame [8]uint64
	frame[depth%8] = uint64(depth)
	if depth == 0 {
		return <-responses + int(of.id)
	}
	return await(depth-1, responses, of) + int(frame[3])
}

func main() {
	scale, err := strconv.ParseFloat(os.Args[1], 64)
	if err != nil {
		panic(err)
	}
	times := func(count float64) int { return int(count*scale) + 1 }
	debug.SetGCPercent(20)
	for i := range times(250000) {
		accounts = append(accounts, &account{uint64(i), "name" + strconv.Itoa(i), strconv.Itoa(i) + "@example.org"})
	}
	count := times(2.3e6)
	for i := range count {
		s := newSession(uint64(i))
		open.byToken[s.token] = s
	}
	for i := range times(3.5e6) {
		hits := int64(i)
		p := &page{older: newest, path: "/page/" + strconv.Itoa(i), hits: &hits}
		if newest != nil {
			newest.newer = p
		}
		newest = p
	}
	for i := range times(500000) {
		byName.Store("name"+strconv.Itoa(i), accounts[i%len(accounts)])
	}
	for i := range times(1e6) {
		jobs = append(jobs, &job{make([]int32, 4+i%20), float64(i), accounts[i%len(accounts)]})
	}
	for range times(1500) {
		buffers = append(buffers, []byte(fmt.Sprint(make([]byte, 64<<10))))
	}
	responses := make(chan int)
	for i := range 20000 {
		go await(3+i%60, responses, accounts[i%len(accounts)])
	}
	runtime.GC()
	fmt.Println("READY", count)
	time.Sleep(time.Hour)
}
