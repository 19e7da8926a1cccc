//go:build go1.23

package main

import (
	"iter"
	"slices"
)

func numbers(yield func(int) bool) {
	for i := 0; yield(i); i++ {
	}
}

func filtered[T any](from iter.Seq[T], f func(T) bool) iter.Seq[T] {
	return func(yield func(T) bool) {
		for v := range from {
			if f(v) && !yield(v) {
				return
			}
		}
	}
}

type tree[K any] struct {
	left, right *tree[K]
	key         K
}

func (t *tree[K]) push(yield func(K) bool) bool {
	return t == nil || t.left.push(yield) && yield(t.key) && t.right.push(yield)
}

func (t *tree[K]) all() iter.Seq[K] { return func(yield func(K) bool) { t.push(yield) } }

// ---- bodies of loops over functions: nested, with deferred calls, with panics

func ranges() {
	for i := range numbers {
		for j := range filtered(numbers, func(j int) bool { return j%2 == 1 }) {
			if i+j == 3 {
				func() { blocks() }()
			}
			if j > i {
				break
			}
		}
	}
}

func rangesDeferring() {
	for i := range numbers {
		defer func() { blocks() }()
		if i == 1 {
			return
		}
	}
}

func rangesPanicking() {
	defer func() {
		recover()
		blocks()
	}()
	for i := range filtered(numbers, func(i int) bool { return i%2 == 1 }) {
		if i == 3 {
			panic(i)
		}
	}
}

func rangesTree() {
	for k := range (&tree[string]{&tree[string]{nil, nil, "a"}, &tree[string]{nil, nil, "c"}, "b"}).all() {
		if k == "c" {
			blocks()
		}
	}
}

func init() {
	more = append(more, func() {
		next, stop := iter.Pull(numbers)
		next()
		pulled, _ := iter.Pull2(func(yield func(int, string) bool) { yield(1, "a") })
		pulled()
		of, _ := iter.Pull(filtered((&tree[int]{nil, nil, 1}).all(), func(i int) bool { return i > 0 }))
		of()
		kept = append(kept, next, pulled, stop, of)
		go ranges()
		go rangesDeferring()
		go rangesPanicking()
		go rangesTree()
		go slices.SortedFunc(slices.Values([]int{3, 1, 2}), func(a, b int) int { blocks(); return 0 })
	})
}

var kept []any
