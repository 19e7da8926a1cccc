//go:build go1.24
// +build go1.24

package main

import (
	"fmt"
	"weak"
)

var faint weak.Pointer[large]

func init() {
	faint = weak.Make(&large{})
	fmt.Println(faint.Value())
}
