//go:build !go1.19
// +build !go1.19

package main

import (
	"fmt"
	"sync/atomic"
	"unsafe"
)

// What are instances of generic types in newer releases.
type leafPair struct {
	key   string
	value *leaf
	next  *leafPair
}

type pointPair struct {
	key   point
	value map[string]int
	next  *pointPair
}

type treePair struct {
	key   string
	value *tree
	next  *treePair
}

type treeList struct {
	items []*tree
	head  *treeNode
}

type treeNode struct {
	value *tree
	next  *treeNode
}

type stringList struct {
	items []string
	head  *stringNode
}

type stringNode struct {
	value string
	next  *stringNode
}

type atomicTree struct{ p *tree }

func (a *atomicTree) Store(p *tree) {
	atomic.StorePointer((*unsafe.Pointer)(unsafe.Pointer(&a.p)), unsafe.Pointer(p))
}

type atomicLeaf struct{ p *leaf }

func (a *atomicLeaf) Store(p *leaf) {
	atomic.StorePointer((*unsafe.Pointer)(unsafe.Pointer(&a.p)), unsafe.Pointer(p))
}

func generic(v *leaf, name string) func() string {
	return func() string { return fmt.Sprint(v, name) }
}
