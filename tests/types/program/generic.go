//go:build go1.19
// +build go1.19

package main

import (
	"fmt"
	"sync/atomic"
)

type pair[K comparable, V any] struct {
	key   K
	value V
	next  *pair[K, V]
}

type list2[T any] struct {
	items []T
	head  *node[T]
}

type node[T any] struct {
	value T
	next  *node[T]
}

func generic[T any](v *T, name string) func() string {
	return func() string { return fmt.Sprint(v, name) }
}

// Instances, by the names that older releases have for types of their own.
type (
	leafPair   = pair[string, *leaf]
	pointPair  = pair[point, map[string]int]
	treePair   = pair[string, *tree]
	treeList   = list2[*tree]
	stringList = list2[string]
	treeNode   = node[*tree]
	stringNode = node[string]
	atomicTree = atomic.Pointer[tree]
	atomicLeaf = atomic.Pointer[leaf]
)
