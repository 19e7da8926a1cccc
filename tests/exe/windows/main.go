// A small shop for Windows, which forgets nothing: it writes a heap dump, takes more orders, and writes another one. It needs
// neither fmt nor net, so that its executable is small enough for samples/dumps.
//
//	windows FIRST.dump SECOND.dump
package main

import (
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"time"
)

// Customer is who orders.
type Customer struct {
	Name  string
	Since time.Time
	Notes []string
}

// Line is a part of an order.
type Line struct {
	Article string
	Pieces  int
	Price   any // cents, or a *Discount
}

// Discount is a price that depends on the customer.
type Discount struct {
	Cents int64
	For   *Customer
}

// Order is what is to be sent.
type Order struct {
	Number   int
	Customer *Customer
	Lines    []Line
	Sent     func() bool
}

// queue is a list of whatever waits.
type queue[T any] struct {
	first, last *entry[T]
}

type entry[T any] struct {
	value T
	next  *entry[T]
}

func (q *queue[T]) add(value T) {
	e := &entry[T]{value: value}
	if q.last == nil {
		q.first = e
	} else {
		q.last.next = e
	}
	q.last = e
}

var (
	orders    = map[string]*Order{}
	customers []*Customer
	returned  queue[*Order]
)

// take takes orders. LEAK: nothing is ever taken out of orders.
//
//go:noinline
func take(from, to int) {
	for i := from; i < to; i++ {
		c := customers[i%len(customers)]
		o := &Order{Number: i, Customer: c}
		o.Lines = append(o.Lines, Line{"article " + strconv.Itoa(i%7), i, int64(i) * 100}, Line{"article 9", 1, &Discount{int64(i), c}})
		o.Sent = func() bool { return o.Number < from }
		orders["order "+strconv.Itoa(i)] = o
		if i%4 == 0 {
			returned.add(o)
		}
	}
}

// ship waits until somebody takes the order. LEAK: nobody does.
//
//go:noinline
func ship(o *Order, out chan<- *Order, ready chan<- bool) {
	label := []byte("to " + o.Customer.Name)
	ready <- true
	out <- o
	runtime.KeepAlive(label)
}

//go:noinline
func start(from, to int, out chan *Order) {
	ready := make(chan bool)
	for i := from; i < to; i++ {
		go ship(orders["order "+strconv.Itoa(i)], out, ready)
		<-ready
	}
}

// dump writes a heap dump when all goroutines have come to rest.
func dump(name string) {
	file, err := os.Create(name)
	if err != nil {
		panic(err)
	}
	time.Sleep(50 * time.Millisecond)
	runtime.GC()
	debug.WriteHeapDump(file.Fd())
	if err := file.Close(); err != nil {
		panic(err)
	}
}

func main() {
	for _, name := range []string{"Ada", "Grace", "Barbara", "Frances", "Jean"} {
		c := &Customer{Name: name, Since: time.Now(), Notes: []string{"pays", name + " is kind"}}
		runtime.SetFinalizer(c, func(c *Customer) { c.Notes = nil })
		customers = append(customers, c)
	}
	out := make(chan *Order)
	take(0, 100)
	start(0, 10, out)
	dump(os.Args[1])
	take(100, 400)
	start(100, 130, out)
	dump(os.Args[2])
	runtime.KeepAlive(out)
}
