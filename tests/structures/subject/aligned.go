//go:build go1.26 || goexperiment.swissmap
// +build go1.26 goexperiment.swissmap

package main

import "fmt"

// Compilers before Swiss maps have no maps of what 386 aligns to 8 bytes: "bad offset of overflow in bmap".
var byCounter map[string]counters

func init() {
	byCounter = map[string]counters{"a": {}}
	fmt.Println(len(byCounter))
}
