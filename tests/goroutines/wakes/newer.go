//go:build go1.24

package main

import (
	"iter"
	"runtime"
	"sync"
	"unique"
	"weak"
)

type key struct{ c chan int }

var (
	weaks    []weak.Pointer[box]
	weakMu   weak.Pointer[sync.Mutex]
	weakPair weak.Pointer[pair]
	weakMap  = map[weak.Pointer[box]]int{}
	weakAny  []any
	weakSync sync.Map
	handles  []unique.Handle[key]
	nexts    []func() (int, bool)
	weakIn   weak.Pointer[sync.RWMutex]
	chained  weak.Pointer[node]
)

type node struct {
	next weak.Pointer[box]
	pad  [64]byte
}

func hold(b *box, f func()) func() { return func() { f(); runtime.KeepAlive(b) } }

//go:noinline
func newer() {
	b := &box{ch: make(chan int)}
	weaks = append(weaks, weak.Make(b))
	start("weak", hold(b, recv(b.ch)))
	later(func() { close(weaks[0].Value().ch) })
	b1 := &box{}
	b1.mu.Lock()
	weakMap[weak.Make(b1)] = 1
	start("weakmapkey", hold(b1, lock(&b1.mu)))
	later(func() {
		for w := range weakMap {
			w.Value().mu.Unlock()
		}
	})
	b2 := &box{ch: make(chan int)}
	weakAny = append(weakAny, weak.Make(b2))
	start("weakany", hold(b2, recv(b2.ch)))
	later(func() { close(weakAny[0].(weak.Pointer[box]).Value().ch) })
	b3 := &box{ch: make(chan int)}
	weakSync.Store("x", weak.Make(b3))
	start("weaksync", hold(b3, recv(b3.ch)))
	later(func() { v, _ := weakSync.Load("x"); close(v.(weak.Pointer[box]).Value().ch) })
	m := new(sync.Mutex)
	m.Lock()
	weakMu = weak.Make(m)
	start("weaktiny", lock(m))
	later(func() { weakMu.Value().Unlock() })
	p := new(pair)
	p.mu.Lock()
	weakPair = weak.Make(p)
	start("weakpair", lock(&p.mu))
	later(func() { weakPair.Value().mu.Unlock() })
	b4 := &box{}
	b4.rw.RLock()
	weakIn = weak.Make(&b4.rw)
	start("weakinterior", hold(b4, b4.rw.Lock))
	later(func() { weakIn.Value().RUnlock() })
	b5 := &box{ch: make(chan int)}
	n := &node{next: weak.Make(b5)}
	chained = weak.Make(n)
	start("weakchain", func() { <-b5.ch; runtime.KeepAlive(b5); runtime.KeepAlive(n) })
	later(func() { close(chained.Value().next.Value().ch) })
	c := make(chan int)
	handles = append(handles, unique.Make(key{c}))
	start("unique", recv(c))
	later(func() { close(handles[0].Value().c) })
	c1 := make(chan int)
	next, _ := iter.Pull(func(yield func(int) bool) { yield(1); close(c1); yield(2) })
	next()
	nexts = append(nexts, next)
	start("pull", recv(c1))
	later(func() { nexts[0]() })
	// a cleanup with an argument, with a captured variable, of an object that lives
	c2, c3, c4 := make(chan int), make(chan int), make(chan int)
	runtime.AddCleanup(&box{}, func(c chan int) { close(c) }, c2)
	runtime.AddCleanup(&box{}, func(int) { close(c3) }, 0)
	kept = &box{}
	runtime.AddCleanup(kept, func(c chan int) { close(c) }, c4)
	start("cleanup", recv(c2))
	start("cleanupcaptured", recv(c3))
	start("cleanupofliving", recv(c4))
	later(func() { kept = nil })
	// queued behind one that blocks
	c5, c6 := make(chan int), make(chan int)
	runtime.AddCleanup(&box{}, func(c chan int) { <-gate; close(c) }, c5)
	runtime.AddCleanup(&box{}, func(c chan int) { close(c) }, c6)
	start("blockedcleanup", recv(c5))
	start("queuedcleanup", recv(c6))
	c7 := make(chan int)
	runtime.AddCleanup(&box{}, func(k struct{ b *box }) { close(k.b.ch) }, struct{ b *box }{&box{ch: c7}})
	start("cleanupstruct", recv(c7))
}

var kept *box
