//go:build !go1.24

package main

import (
	"runtime"
	"unsafe"
)

type resource struct {
	path  string
	owner *item
}

var finalized []*resource

func makeRuntimes() {
	for i := 0; i < 6; i++ {
		owner := &item{name: "owner " + number(i)}
		r := &resource{"/tmp/" + number(i), owner}
		finalized = append(finalized, r)
		if i%2 == 0 {
			runtime.SetFinalizer(r, (*resource).close)
		} else {
			runtime.SetFinalizer(r, func(r *resource) { owner.next = r.owner })
		}
	}
}

func (r *resource) close() { r.owner = nil }

// checkMaps asserts that a map is in the midst of growing: it has old buckets.
func checkMaps() {
	for _, c := range []*cache{aCache, bCache} {
		if (*(**[4]uintptr)(unsafe.Pointer(&c.growing)))[3] == 0 {
			panic("no map is growing")
		}
	}
}
