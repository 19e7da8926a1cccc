// A library for C programs (-buildmode=c-shared) that holds what it makes.
package main

import "C"

import (
	"os"
	"runtime/debug"
	"settle"
	"strconv"
)

type page struct{ text [200]byte }

type book struct {
	title string
	first *page
	left  *book
}

var (
	books  *book
	titles = map[string]*book{}
	starts = make(chan bool)
	never  = make(chan *book)
)

//go:noinline
func reader(from chan *book) {
	starts <- true
	last := <-from
	println(last.title)
}

// Fill makes books, and readers that wait forever.
//
//export Fill
func Fill(count int) {
	for i := 0; i < count; i++ {
		books = &book{"book " + strconv.Itoa(i), new(page), books}
		titles[books.title] = books
	}
	for i := 0; i < 3; i++ {
		go reader(never)
	}
	for i := 0; i < 3; i++ {
		<-starts
	}
	settle.Settle() // they wait
}

// Dump writes a heap dump.
//
//export Dump
func Dump(path *C.char) {
	to, err := os.Create(C.GoString(path))
	if err != nil {
		panic(err)
	}
	debug.WriteHeapDump(to.Fd())
	to.Close()
}

func main() {}
