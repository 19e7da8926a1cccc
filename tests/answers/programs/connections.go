// A server: each connection has two goroutines and a sync.Cond, which hold it as well as the server's map does. What holds all of them
// is the map.
//
//	case connections SHAPE=connections
//	says ^  1 .* 400 main\.connection( |$)
//	says[plain] ^      held by     s\.open  \((local|argument) of main\.\S+( connections\.go:\d+)?\), a map of 400 entries$
//	says[stripped] ^      held by     \w+\.open  \((local|argument) of main\.\S+( connections\.go:\d+)?\), a map of 400 entries$
//	is r.suspects[0].held === 400 && r.suspects[0].held_of === 400
package main

import (
	"fmt"
	"runtime"
	"sync"
	"time"
)

type connection struct {
	mu      sync.Mutex
	written *sync.Cond
	in      chan []byte
	buffer  [6000]byte
	seen    map[string]int
	owner   *server
}

type server struct {
	mu   sync.Mutex
	open map[uint64]*connection
	quit chan struct{}
}

func (c *connection) read() {
	for b := range c.in {
		c.buffer[0] = b[0]
	}
}

func (c *connection) write() {
	for {
		c.written.L.Lock()
		c.written.Wait()
		c.buffer[1]++
		c.written.L.Unlock()
	}
}

func (s *server) accept(i uint64) {
	c := &connection{in: make(chan []byte), seen: map[string]int{"a": 1}, owner: s}
	c.written = sync.NewCond(&c.mu)
	s.mu.Lock()
	s.open[i] = c
	s.mu.Unlock()
	go c.read()
	go c.write()
}

func (s *server) run() {
	for i := uint64(0); i < 400; i++ {
		s.accept(i)
	}
	<-s.quit
}

func main() {
	s := &server{open: map[uint64]*connection{}, quit: make(chan struct{})}
	go s.run()
	time.Sleep(300 * time.Millisecond)
	runtime.GC()
	fmt.Println("READY")
	fmt.Scanln()
	close(s.quit)
}
