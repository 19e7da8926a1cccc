// The plainest leak of goroutines: thousands blocked as they send what nobody receives. What they send is typed by the
// channel.
package main

import (
	"fmt"
	"runtime"
	"time"

	"leaks/expect"
	"settle"
)

type Result struct {
	name string
	body []byte
	next *Result
}

const senders = 3000

//go:noinline
func fetch(n int) *Result {
	return &Result{name: fmt.Sprint("result ", n), body: make([]byte, 1000)}
}

//go:noinline
func query(n int) *Result {
	ch := make(chan *Result)
	for i := 0; i < 3; i++ {
		i := i
		go func() { ch <- fetch(n + i) }()
	}
	return <-ch
}

type Batch struct {
	results []*Result
	label   string
}

//go:noinline
func batch(n int) Batch {
	return Batch{[]*Result{fetch(n)}, fmt.Sprint("batch ", n)}
}

func main() {
	for i := 0; i < senders/2; i++ {
		query(i)
	}
	batches := make(chan Batch)
	for i := 0; i < senders/3; i++ {
		i := i
		go func() {
			select {
			case batches <- batch(i):
			case <-time.After(time.Hour):
			}
		}()
	}
	settle.Settle()
	runtime.GC()
	expect.Goroutines(`\[chan send`, senders)
	expect.Goroutines(`\[select`, senders/3)
	expect.Objects(`main\.Result`, senders+senders/3)
	expect.Objects(`\[\]\*main\.Result`, senders/3)
	expect.Untyped(0.5)
	expect.Dump(1)
	expect.Done()
	runtime.KeepAlive(batches)
}
