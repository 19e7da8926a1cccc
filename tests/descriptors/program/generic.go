//go:build go1.18
// +build go1.18

package main

import (
	io_model "example.com/types/model/go"
	"example.com/types/rand/v2"
	"example.com/types/yaml.v3"
)

type pair[K comparable, V interface{}] struct {
	Key   K
	Value V
}

type tree[T interface{}] struct {
	left, right *tree[T]
	value       T
}

func (t *tree[T]) Value() T { return t.value }

// Type arguments have whole paths in the names that reflect prints.
type doing[T interface{}] struct {
	*io_model.Metric
	with T
}

func init() {
	more = append(more, pair[string, *yaml.Node]{}, tree[map[string]yaml.Node]{}, tree[pair[int, []byte]]{},
		[]pair[*node, local]{})
	m := &io_model.Metric{Name: "another"}
	doers = append(doers, &doing[yaml.Node]{Metric: m}, &doing[func(rand.Source) *io_model.Metric]{},
		&doing[struct{ io_model.Metric }]{}, &doing[pair[string, map[yaml.Node2][]rand.Source]]{},
		struct {
			*doing[yaml.Lines]
			pair[int, rand.Source]
		}{&doing[yaml.Lines]{Metric: m}, pair[int, rand.Source]{}})
}
