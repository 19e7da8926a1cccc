// Command leaks leaks as reported bugs have leaked, in one of the shapes below, amid a small healthy program which has a twin of each leak: a
// thing of the same types that is in use. What DevTools must show of it is in leaks.test.mjs.
//
//	leaks SHAPE     leaks a little, prints READY, and leaks more for each line on standard input
package main

import (
	"bufio"
	"container/list"
	"fmt"
	"os"
	"runtime"
	"strings"
)

// ---- what surrounds the leak ----

type product struct {
	ID    int
	Name  string
	Stock map[string]int
}

type page struct {
	url  string
	html []byte
}

type pageCache struct {
	recent *list.List
	byURL  map[string]*list.Element
}

type application struct {
	catalogue []*product
	pages     *pageCache
	log       [256]string
	jobs      chan func()
}

var app = &application{}

func surround() {
	app.pages = &pageCache{recent: list.New(), byURL: map[string]*list.Element{}}
	for i := 0; i < 600; i++ {
		app.catalogue = append(app.catalogue, &product{ID: i, Name: fmt.Sprint("product ", i), Stock: map[string]int{"berlin": i % 7}})
	}
	for i := 0; i < 40; i++ {
		p := &page{fmt.Sprint("/page/", i), make([]byte, 4000)}
		app.pages.byURL[p.url] = app.pages.recent.PushFront(p)
	}
	for i := range app.log {
		app.log[i] = strings.Repeat("started ", 1+i%4)
	}
	app.jobs = make(chan func(), 16)
	for i := 0; i < 4; i++ {
		go work(app.jobs)
	}
}

func work(jobs <-chan func()) {
	for job := range jobs {
		job()
	}
}

func main() {
	surround()
	grow := shapes[os.Args[1]]()
	for lines := bufio.NewScanner(os.Stdin); ; {
		grow()
		for i := 0; i < 3; i++ {
			runtime.GC()
		}
		fmt.Println("READY")
		if !lines.Scan() {
			return
		}
	}
}
