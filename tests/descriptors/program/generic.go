//go:build go1.18
// +build go1.18

package main

import "example.com/types/yaml.v3"

type pair[K comparable, V interface{}] struct {
	Key   K
	Value V
}

type tree[T interface{}] struct {
	left, right *tree[T]
	value       T
}

func (t *tree[T]) Value() T { return t.value }

func init() {
	more = append(more, pair[string, *yaml.Node]{}, tree[map[string]yaml.Node]{}, tree[pair[int, []byte]]{},
		[]pair[*node, local]{})
}
