//go:build go1.19
// +build go1.19

package main

import (
	"fmt"
	"sync/atomic"
)

type counters struct {
	small uint8
	total atomic.Uint64
}

var (
	current atomic.Pointer[node]
	counted chan counters
)

func init() {
	current.Store(&node{})
	counted = make(chan counters, 1)
	fmt.Println(current.Load(), cap(counted))
}
