// A program whose memory several hold: variables, goroutines that work with it, and timers. Each time there is one that people
// ask for. A leaking thing has a healthy sibling.
package main

import (
	"context"
	"fmt"
	"time"

	"leaks/expect"
)

// ---- a connection is in a global map, and a goroutine reads from it

type Conn struct {
	buf  []byte
	in   chan int
	name string
}
type Registry struct{ conns map[string]*Conn }
type Service struct{ previews, images *Registry }

var svc = &Service{&Registry{map[string]*Conn{}}, &Registry{map[string]*Conn{}}}

func (c *Conn) loop() {
	for range c.in {
		c.buf[0]++
	}
}

func (r *Registry) add(name string) {
	c := &Conn{buf: make([]byte, 1000), in: make(chan int), name: name}
	r.conns[name] = c
	go c.loop()
}

// ---- a goroutine waits on a channel of its own, which its record in the runtime leads to as well

type Message struct{ data [200]byte }

//go:noinline
func produce(out chan *Message) {
	for {
		out <- &Message{}
	}
}

// ---- two tenants are in a global map, and in variables of main.main

type item struct {
	next *item
	data [96]byte
}
type Tenant struct{ items []*item }

var tenants = map[string]*Tenant{}

func fill(t *Tenant, count int) {
	for i := 0; i < count; i++ {
		t.items = append(t.items, &item{})
	}
}

// ---- a goroutine waits for what it has asked for, or for a timer that leads to the same

type key struct{}
type request struct {
	ctx  context.Context
	body []byte
}

//go:noinline
func serve(r *request) {
	select {
	case <-r.ctx.Done():
	case <-time.After(time.Hour):
	}
	fmt.Println(len(r.body))
}

func main() {
	const many = 500
	svc.images.add("healthy")
	for i := 0; i < many; i++ {
		svc.previews.add(fmt.Sprint("leaking/", i))
	}
	for i := 0; i < many/10; i++ {
		go produce(make(chan *Message, 64))
	}
	small, large := &Tenant{}, &Tenant{}
	tenants["small"], tenants["large"] = small, large
	fill(small, 10)
	fill(large, 10*many)
	for i := 0; i < many/2; i++ {
		r := &request{body: make([]byte, 3000)}
		r.ctx, _ = context.WithTimeout(context.WithValue(context.Background(), key{}, r), time.Hour)
		go serve(r)
	}
	time.Sleep(200 * time.Millisecond)

	expect.Retains(many*1000, `\(globals\)`, "main", `main\.svc`, `previews\.conns`, `map\[string\]\*main\.Conn`, `main\.Conn`)
	expect.Retains(10*many*104, `\(globals\)`, "main", `tenants`, `map\[string\]\*main\.Tenant`)
	expect.Retains(many/10*64*200, `\(goroutines\)`, `goroutines \[chan send\] main\.produce .*`)
	expect.Retains(many/2*3000, `\(goroutines\)`, `goroutines \[select\] main\.serve .*`)
	expect.HoldsOnly("runtime.sudog")
	expect.Dump(1)
	expect.Done()
	fmt.Sprint(small.items[0], large.items[0])
}
