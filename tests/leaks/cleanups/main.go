//go:build go1.24

// Cleanups, canonical values and weak pointers: what the runtime keeps by records that no dump lists.
package main

import (
	"fmt"
	"runtime"
	"unique"
	"weak"

	"leaks/expect"
)

// A Handle is what cleanups are attached to.
type Handle struct {
	name string
	_    [40]byte
}

// A Resource is what only the argument of a cleanup holds.
type Resource struct {
	path   string
	buffer []byte
	owner  *Owner
}

// An Owner is what only the function of a cleanup holds.
type Owner struct {
	name  string
	links []*Owner
}

// A Descriptor is an argument by value.
type Descriptor struct {
	path string
	fd   int
	tags []string
}

type Key struct {
	host string
	port int
}

type Watched struct {
	name string
	data [3]int64
}

var (
	handles []*Handle
	names   []unique.Handle[string]
	keys    []unique.Handle[Key]
	watched []*Watched
	pointed []weak.Pointer[Watched]
	closed  int
)

func release(r *Resource) { closed += len(r.buffer) }

func closeFD(fd int) { closed += fd }

func closeFile(d Descriptor) { closed += d.fd }

func newHandle(i int) *Handle {
	h := &Handle{name: fmt.Sprint("handle ", i)}
	owner := &Owner{name: fmt.Sprint("owner ", i), links: make([]*Owner, 2)}
	switch i % 4 {
	case 0: // a plain function, a pointer
		runtime.AddCleanup(h, release, &Resource{path: fmt.Sprint("/tmp/", i), buffer: make([]byte, 300), owner: owner})
	case 1: // a closure, a number
		runtime.AddCleanup(h, func(fd int) { closed += len(owner.name) + fd + i }, i)
	case 2: // a plain function, a struct
		runtime.AddCleanup(h, closeFile, Descriptor{path: fmt.Sprint("/var/", i), fd: i, tags: []string{fmt.Sprint("tag ", i)}})
	case 3: // a closure, nothing
		runtime.AddCleanup(h, func(struct{}) { closed += len(owner.links) }, struct{}{})
	}
	if i%16 == 0 { // two of one object
		runtime.AddCleanup(h, closeFD, i)
	}
	return h
}

func main() {
	n := expect.Size(8000)
	if n > 8000 {
		n = 8000
	}
	for i := 0; i < n; i++ {
		handles = append(handles, newHandle(i))
		if i%2 == 0 {
			names = append(names, unique.Make(fmt.Sprint("name ", i)))
			keys = append(keys, unique.Make(Key{fmt.Sprint("host ", i), i}))
		}
		w := &Watched{name: fmt.Sprint("watched ", i)}
		watched = append(watched, w)
		if p := weak.Make(w); i%2 == 0 { // of the others only the runtime knows the handle
			pointed = append(pointed, p)
		}
	}
	runtime.GC()
	runtime.GC()
	expect.Dump(1)
	expect.Objects(`main\.Handle\??`, n)
	expect.Objects(`main\.Resource`, n/4)
	expect.Objects(`main\.Owner`, n/4)
	expect.Add(expect.Expectation{Kind: "objects", Class: `main\.Owner`, Count: n * 3 / 4, DWARF: true}) // captured variables
	expect.Objects(`func main\.newHandle\.func1`, n/4)
	expect.Unreachable(1)
	for _, group := range []struct {
		what        string
		count       int
		from, until int
	}{
		{`cleanup main\.newHandle\.func1`, n / 4, 24, 25},
		{`cleanup main\.newHandle\.func2`, n / 4, 24, 25},
		{`cleanup main\.release`, n / 4, 24, 25},
		{`cleanup main\.closeFile`, n / 4, 24, 25},
		{`cleanup main\.closeFD`, n / 16, 24, 25},
		{`cleanup with argument \*main\.Resource`, n / 4, 26, 99},
		{`cleanup with argument main\.Descriptor`, n / 4, 26, 99},
		{`cleanup with argument int`, n/4 + n/16, 26, 99},
		{`argument \*main\.Resource\?`, n / 4, 26, 99},
		{`argument main\.Descriptor\?`, n / 4, 26, 99},
		{`argument int\?`, n/4 + n/16, 26, 99},
		{`cleanup main\.newHandle\.func1\?`, n / 4, 26, 99},
		{`cleanup main\.newHandle\.func2\?`, n / 4, 26, 99},
		{`weak handles\?`, n / 2, 26, 99},
	} {
		if r := expect.Release(); group.from <= r && r <= group.until {
			expect.Add(expect.Expectation{Kind: "below", Way: []string{"(GC roots)", "(cleanups)"}, What: group.what, Count: group.count})
		}
	}
	expect.Done()
	runtime.KeepAlive(handles)
}
