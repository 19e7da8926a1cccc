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

// An Item is of a size that nothing else has.
type Item struct {
	next *Item
	Name [560]byte
}

// A Tenant is one of several; only one of them leaks.
type Tenant struct {
	Items []*Item
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

func (t *Tenant) add(count int) {
	for i := 0; i < count; i++ {
		t.Items = append(t.Items, &Item{})
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
	tenants["t5"].add(200)
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
		tenants[name].add(100)
	}
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
