//go:build go1.24

package main

import (
	"runtime"
	"weak"
)

var (
	weakly weak.Pointer[finalized]
)

// The program reaches the channel by a weak pointer, as long as this goroutine keeps it.
func okWeakly(f *finalized) { <-f.c; runtime.KeepAlive(f) }

// A cleanup closes the channel; nobody knows that what it waits for is held by a goroutine that is leaked.
func leakCleaned(f *item, c chan *item) { <-c; runtime.KeepAlive(f) }

func startNewer() {
	f := &finalized{make(chan *item)}
	weakly = weak.Make(f)
	go okWeakly(f)
	cleaned, c := new(item), make(chan *item)
	runtime.AddCleanup(cleaned, func(c chan *item) { close(c) }, c)
	go okReceive(c)
	go leakCleaned(cleaned, make(chan *item))
}
