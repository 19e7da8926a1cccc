//go:build go1.18
// +build go1.18

package main

// Of a generic function there is one for all pointers; what they point to is not known in it.
//
//go:noinline
func generic[T any](first T, list []T) {
	const f = "main.generic[...]"
	note("local", f, "first", &[]T{first}[0]).Type = ""
	note("local", f, "list", &[][]T{list}[0]).Type = ""
	wait()
	keep(first, list)
}

type box[T any] struct {
	value T
	next  *box[T]
}

var globalBox = box[*node]{newNode(60), nil}

func init() {
	more = append(more,
		func() { generic(newNode(61), []*node{newNode(62)}) },
		func() { generic("text", []string{"one"}) },
		func() { note("global", "", "main.globalBox", &globalBox); wait() })
}
