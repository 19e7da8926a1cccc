// Objects whose type no typed pointer tells: what a spill slot has, labels, and victims of a pool.
//
//	from 1.21
//	case spill SHAPE=spill
//	says[plain] ^      hold        \S+ \(for main\.bReplies\) of main\.render untyped\.go:\d+: bytes\.Buffer, 205 kB each
//	says[stripped] ^      hold        \S+ of main\.render untyped\.go:\d+: bytes\.Buffer, 205 kB each
//	tells ^  bytes\.Buffer +80\b
//	never main\.cursor
//	case assertion SHAPE=assertion
//	says ^      hold        \S+ of main\.crawl untyped\.go:\d+: main\.page, 115 kB each
//	tells ^  main\.page +5,050\b
//	never main\.card
//	case either SHAPE=either
//	says ^  1 .*  50 goroutines .* main\.await untyped\.go:\d+
//	says ^      started by  go statement in main\.either
//	is r.classes.every(each => each.class !== 'main.card' && each.class !== 'main.page' || each.objects <= 25)
//	case labels SHAPE=labels
//	tells ^  pprof\.labelMap +(5|10),000
//	tells ^  \(string\) +(9|10),\d{3}
//	never ^  ptr
//	never goroutines have ended
//	case victim SHAPE=victim
//	says ^  1 .* \d+ bytes\.Buffer
//	says ^      each        10[67] kB = \S+ 48 B \+ \[\]uint8 106 kB
//	says[plain] ^      held by     main\.bReplies  \(in a sync\.Pool
//	never main\.cursor
package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"runtime"
	"runtime/pprof"
	"settle"
	"sync"
)

type page struct {
	title string
	body  []byte
	links []*page
}

// Of the same shape as a page, so that the words of an object do not tell which of the two it is.
type card struct {
	title string
	body  []byte
	links []*card
}

// Of the same shape as a bytes.Buffer, and as a table.
type cursor struct {
	body []byte
	at   int
	last int8
}

type ledger struct {
	name string
	rows [][]byte
}

var aCards []any = []any{&card{}, &cursor{}, &ledger{}}

var aScratch = sync.Pool{New: func() any { return new(bytes.Buffer) }}
var bReplies = sync.Pool{New: func() any { return new(bytes.Buffer) }}

//go:noinline
func render(size int, wait chan struct{}) {
	b := bReplies.Get().(*bytes.Buffer)
	b.Reset()
	b.Grow(size)
	b.WriteString("x")
	<-wait
	bReplies.Put(b)
}

//go:noinline
func draft(size int, wait chan struct{}) {
	b := aScratch.Get().(*bytes.Buffer)
	b.Reset()
	b.Grow(size)
	<-wait
	aScratch.Put(b)
}

// Two hundred requests are under way, each with a buffer of which only a spill slot knows.
func spill() {
	wait := make(chan struct{})
	for i := 0; i < 40; i++ {
		go render(200_000, wait)
		go draft(2_000, wait)
	}
	settle.Settle()
}

type source interface{ next() *page }

type slow struct {
	wait chan struct{}
	seen map[string]*page
}

func (s *slow) next() *page { <-s.wait; return nil }

//go:noinline
func make1(i int) any {
	p := &page{title: fmt.Sprint("page", i), body: make([]byte, 100_000)}
	for j := 0; j < 100; j++ {
		p.links = append(p.links, &page{title: fmt.Sprint("link", j)})
	}
	return p
}

//go:noinline
func crawl(i int, from source) {
	p := make1(i).(*page)
	q := from.next()
	p.links = append(p.links, q)
}

func assertion() {
	s := &slow{make(chan struct{}), map[string]*page{}}
	for i := 0; i < 50; i++ {
		go crawl(i, s)
	}
	settle.Settle()
}

//go:noinline
func (p *page) close() { p.body = nil }

//go:noinline
func (c *card) close() { c.body = nil }

//go:noinline
func either1(i int) any {
	if i%2 == 0 {
		return &page{body: make([]byte, 100_000)}
	}
	return &card{body: make([]byte, 100_000)}
}

// Behind the wait the code treats what it has as one type or the other.
//
//go:noinline
func await(i int, wait chan struct{}) {
	v := either1(i)
	<-wait
	if p, ok := v.(*page); ok {
		p.close()
	} else if c, ok := v.(*card); ok {
		c.close()
	}
}

func either() {
	wait := make(chan struct{})
	for i := 0; i < 50; i++ {
		go await(i, wait)
	}
	settle.Settle()
}

func labels() {
	wait := make(chan struct{})
	for i := 0; i < 5_000; i++ {
		go pprof.Do(context.Background(), pprof.Labels("user", fmt.Sprint("user-with-a-long-name-", i), "path", fmt.Sprint("/path/", i)), func(context.Context) { <-wait })
	}
	settle.Settle()
}

func victim() {
	keep := []*bytes.Buffer{}
	for i := 0; i < 100; i++ {
		b := bReplies.Get().(*bytes.Buffer)
		b.Grow(100_000)
		keep = append(keep, b)
	}
	for _, b := range keep {
		bReplies.Put(b)
	}
	a := aScratch.Get().(*bytes.Buffer)
	a.Grow(1000)
	aScratch.Put(a)
	keep = nil
	runtime.GC()
}

func main() {
	shapes := map[string]func(){"spill": spill, "assertion": assertion, "either": either, "labels": labels, "victim": victim}
	shapes[os.Getenv("SHAPE")]()
	if os.Getenv("SHAPE") != "victim" {
		runtime.GC()
	}
	fmt.Println("READY")
	os.Stdin.Read(make([]byte, 1))
	runtime.KeepAlive(aCards)
}
