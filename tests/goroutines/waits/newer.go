//go:build go1.24

package main

import (
	"runtime"
	"weak"
)

var (
	weakly weak.Pointer[finalized]
)

// A weak pointer does not reach the channel.
func leakWeakly(f *finalized) { <-f.c }

// A cleanup closes the channel; nobody knows that what it waits for is held by a goroutine that is leaked.
func leakCleaned(f *item, c chan *item) { <-c; runtime.KeepAlive(f) }

func startNewer() {
	f := &finalized{make(chan *item)}
	weakly = weak.Make(f)
	go leakWeakly(f)
	cleaned, c := new(item), make(chan *item)
	runtime.AddCleanup(cleaned, func(c chan *item) { close(c) }, c)
	go okReceive(c)
	go leakCleaned(cleaned, make(chan *item))
}
