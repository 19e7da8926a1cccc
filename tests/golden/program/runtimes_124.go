//go:build go1.24

package main

import (
	"iter"
	"runtime"
	"unique"
	"weak"
)

type resource struct {
	path  string
	owner *item
}

type descriptor struct {
	path string
	fd   int
	tags []string
}

var (
	finalized []*resource
	uniques   []unique.Handle[string]
	keys      []unique.Handle[point]
	watched   []*resource
	pointed   []weak.Pointer[resource]
	pulled    []func() (*item, bool)
	closed    int
)

func (r *resource) close() { r.owner = nil }

// checkMaps has nothing to assert: these maps split their tables at once.
func checkMaps() {}

func closeFD(fd int) { closed += fd }

func closeFile(d descriptor) { closed += d.fd }

func closeResource(r *resource) { r.owner = nil }

func items(n int) iter.Seq[*item] {
	return func(yield func(*item) bool) {
		for i := 0; i < n; i++ {
			if !yield(&item{name: "pulled " + number(i)}) {
				return
			}
		}
	}
}

func makeRuntimes() {
	for i := 0; i < 8; i++ {
		owner := &item{name: "owner " + number(i)}
		r := &resource{"/tmp/" + number(i), owner}
		finalized = append(finalized, r)
		switch i % 4 {
		case 0:
			runtime.SetFinalizer(r, (*resource).close)
			runtime.AddCleanup(r, closeFD, i)
		case 1:
			runtime.SetFinalizer(r, func(r *resource) { owner.next = r.owner })
		case 2:
			runtime.AddCleanup(r, closeFile, descriptor{"/var/" + number(i), i, []string{"tag " + number(i)}})
			runtime.AddCleanup(r, func(fd int) { closed += len(owner.name) + fd }, i)
		case 3:
			runtime.AddCleanup(r, closeResource, &resource{"/run/" + number(i), owner})
		}
		uniques = append(uniques, unique.Make("unique "+number(i)))
		keys = append(keys, unique.Make(point{int32(i), 5}))
		w := &resource{path: "watched"}
		watched = append(watched, w)
		if p := weak.Make(w); i%2 == 0 { // of the others only the runtime knows the handle
			pointed = append(pointed, p)
		}
	}
	for i := 0; i < 3; i++ {
		next, _ := iter.Pull(items(10))
		next()
		pulled = append(pulled, next)
	}
}
