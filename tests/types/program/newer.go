//go:build go1.24
// +build go1.24

package main

import (
	"runtime"
	"unique"
	"weak"
)

// What newer releases have.
type newer struct {
	Handle  unique.Handle[string]
	Struct  unique.Handle[square]
	Weak    weak.Pointer[leaf]
	Target  *leaf
	Cleaned *resource
}

func buildNewer(e *everything) {
	e.Newer.Handle = unique.Make(text("unique"))
	e.Newer.Struct = unique.Make(square{float64(counter), text("unique")})
	e.Newer.Target = newLeaf("weak")
	e.Newer.Weak = weak.Make(e.Newer.Target)
	e.Newer.Cleaned = &resource{text("cleaned"), newLeaf("cleaned")}
	runtime.AddCleanup(e.Newer.Cleaned, func(l *leaf) { l.number++ }, newLeaf("argument of a cleanup"))
}
