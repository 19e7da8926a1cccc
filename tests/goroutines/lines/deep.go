package main

import (
	"fmt"
	"io"
	"runtime"
	"strings"
	"syscall"
	"text/template"
)

func blocks() { <-make(chan int) }

// ---- stacks that have grown, of which tracebacks leave out the middle

func deep(n int, c chan int) int {
	var large [2000]int
	large[n%2000] = n
	if n == 0 {
		return <-c
	}
	return deep(n-1, c) + large[n%2000]
}

//go:noinline
func even(n int, f func()) {
	if n == 0 {
		f()
		return
	}
	odd(n-1, f)
}

//go:noinline
func odd(n int, f func()) { even(n-1, f) }

// ---- panics: recovered, nested, of the runtime; Goexit

func nestedPanics() {
	defer func() {
		recover()
		blocks()
	}()
	defer func() {
		defer func() { panic("third") }()
		panic("second")
	}()
	panic("first")
}

func exits() {
	defer blocks()
	defer func() { panic("while it exits") }()
	runtime.Goexit()
}

func afterwards() {
	func() {
		defer func() { recover() }()
		_ = []int{}[len(syscall.Environ())]
	}()
	blocks()
}

type holder struct{ numbers [4]int }

func (h holder) value(n int)    { _ = h.numbers[n]; blocks() }
func (h *holder) pointer(n int) { blocks(); h.numbers[n]++ }

type holding interface{ pointer(int) }

func fails(f func()) {
	defer func() { blocks() }()
	f()
}

// ---- code of the library that calls the program

type stringer struct{}

func (stringer) String() string { defer blocks(); panic("in String") }

type reader struct{}

func (reader) Read([]byte) (int, error) { blocks(); return 0, nil }

// ---- generic types: methods of embedded fields, of values, by interfaces

type box[T any] struct{ c chan T }

func (b *box[T]) receive() T { return <-b.c }
func (b box[T]) send(v T)    { b.c <- v }

type embeds[K comparable, V any] struct {
	*box[V]
	keys map[K]V
}

func receives[T any](from interface{ receive() T }) T { return from.receive() }

func spawned[T any](f func(T), v T) {
	go func() {
		defer func() { _ = v }()
		f(v)
	}()
}

// ---- before main: variables and init

var started = func() bool { go func() { func() { blocks() }() }(); return true }()

func init() {
	go blocks()
	more = append(more, func() {
		for _, n := range []int{1, 40, 99, 1000} {
			go deep(n, make(chan int))
			go even(n+n%2, func() {
				defer func() { recover(); blocks() }()
				panic("deep")
			})
		}
		var none *holder
		var no holding
		for _, f := range []func(){nestedPanics, exits, afterwards, func() { none.value(1) }, func() { no.pointer(1) }, func() { panic(any(1).(string)) }} {
			go fails(f)
		}
		go holding(&holder{}).pointer(1)
		go holder{}.value(2)
		go fmt.Sprint(stringer{})
		go io.Copy(io.Discard, io.MultiReader(strings.NewReader("a"), reader{}))
		go template.Must(template.New("").Funcs(template.FuncMap{"f": func() int { blocks(); return 1 }}).Parse("{{f}}")).Execute(io.Discard, nil)
		e := embeds[string, int]{&box[int]{}, nil}
		go e.receive()
		go e.send(1)
		go receives[int](e)
		go (*box[[2]string]).receive(&box[[2]string]{})
		spawned(func(c chan int) { <-c }, make(chan int))
		spawned(e.send, 1)
		go func() {
			runtime.LockOSThread()
			fds := make([]int, 2)
			syscall.Pipe(fds)
			syscall.Read(fds[0], make([]byte, 1))
		}()
	})
}
