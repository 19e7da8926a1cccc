//go:build !go1.18
// +build !go1.18

package main

import "sync"

// What the type parameters of caches.go make.
type textPair struct {
	key   string
	value []string
}

type textCache struct {
	mu      sync.Mutex
	entries map[string]*textPair
	order   []string
}

func (c *textCache) put(k string, v []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.entries == nil {
		c.entries = map[string]*textPair{}
	}
	c.entries[k] = &textPair{k, v}
	c.order = append(c.order, k)
}

type pointPair struct {
	key   point
	value *user
}

type pointCache struct {
	mu      sync.Mutex
	entries map[point]*pointPair
	order   []point
}

func (c *pointCache) put(k point, v *user) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.entries == nil {
		c.entries = map[point]*pointPair{}
	}
	c.entries[k] = &pointPair{k, v}
	c.order = append(c.order, k)
}

type numberPair struct {
	key   int
	value float64
}

type numberCache struct {
	mu      sync.Mutex
	entries map[int]*numberPair
	order   []int
}

func (c *numberCache) put(k int, v float64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.entries == nil {
		c.entries = map[int]*numberPair{}
	}
	c.entries[k] = &numberPair{k, v}
	c.order = append(c.order, k)
}

var caches struct {
	texts   textCache
	points  pointCache
	numbers numberCache
}
