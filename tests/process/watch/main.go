// watch keeps sessions in a list for ever, beside a full cache whose entries change, a cache that fills and is full, and load
// in waves. It goes a step with each line of standard input and then prints a line; with an argument only the first two go on,
// all the time.
package main

import (
	"bufio"
	"fmt"
	"math/rand"
	"os"
	"runtime"
	"time"
)

type Session struct {
	ID   int
	Data [96]byte
}

type Entry struct {
	Value []byte
}

type Row struct {
	Text [240]byte
}

// Items of three types: each leaks in another tenant, so that a wrong one is not named rightly by chance.
type (
	Item  struct{ Name [56]byte }
	Order struct{ Name [60]byte }
	Visit struct{ Name [64]byte }
)

// A Tenant is one of several; only three of them leak.
type Tenant struct {
	Items  []*Item
	Orders []*Order
	Visits []*Visit
}

type Request struct {
	Body [480]byte
}

var (
	leak  []*Session
	full  = map[int]*Entry{}
	rows  = map[int]*Row{}
	load  []*Request
	steps int

	tenants = map[string]*Tenant{}
)

func leakSome(count int) {
	for i := 0; i < count; i++ {
		leak = append(leak, &Session{ID: len(leak)})
	}
}

// add appends objects of one type.
func add[T any](list *[]*T, count int) {
	for i := 0; i < count; i++ {
		*list = append(*list, new(T))
	}
}

func cacheSome(count int) {
	for i := 0; i < count; i++ {
		key := rand.Intn(100000)
		full[key] = &Entry{make([]byte, 100+rand.Intn(100))}
		for other := range full {
			if len(full) <= 5000 {
				break
			}
			if other != key {
				delete(full, other)
			}
		}
	}
}

func step() {
	waves := []int{1000, 2000, 3000, 2000}
	steps++
	leakSome(300)
	add(&tenants["t5"].Items, 200)
	add(&tenants["t2"].Orders, 200)
	add(&tenants["t6"].Visits, 200)
	cacheSome(500)
	for len(rows) < 1000*steps && len(rows) < 4000 {
		rows[len(rows)] = &Row{}
	}
	load = nil
	for i := 0; i < waves[steps%len(waves)]; i++ {
		load = append(load, &Request{})
	}
}

func main() {
	for i := 0; i < 8; i++ {
		name := fmt.Sprint("t", i)
		tenants[name] = &Tenant{}
		add(&tenants[name].Items, 100)
		add(&tenants[name].Orders, 100)
		add(&tenants[name].Visits, 100)
	}
	add(&tenants["t3"].Visits, 20000) // has more than the one that grows
	for len(full) < 5000 {
		cacheSome(1)
	}
	if len(os.Args) > 1 {
		fmt.Println("full")
		for {
			leakSome(1)
			cacheSome(5)
			time.Sleep(time.Millisecond)
		}
	}
	input := bufio.NewReader(os.Stdin)
	for {
		if _, err := input.ReadString('\n'); err != nil {
			return
		}
		step()
		runtime.GC()
		fmt.Println(steps)
	}
}
