//go:build go1.18
// +build go1.18

package main

import "sync"

type pair[K comparable, V any] struct {
	key   K
	value V
}

type cache[K comparable, V any] struct {
	mu      sync.Mutex
	entries map[K]*pair[K, V]
	order   []K
}

func (c *cache[K, V]) put(k K, v V) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.entries == nil {
		c.entries = map[K]*pair[K, V]{}
	}
	c.entries[k] = &pair[K, V]{k, v}
	c.order = append(c.order, k)
}

var caches struct {
	texts   cache[string, []string]
	points  cache[point, *user]
	numbers cache[int, float64]
}
