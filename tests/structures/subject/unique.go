//go:build go1.23
// +build go1.23

package main

import (
	"fmt"
	"unique"
)

var handle unique.Handle[pair]

func init() {
	handle = unique.Make(pair{a: 1})
	fmt.Println(handle.Value())
}
