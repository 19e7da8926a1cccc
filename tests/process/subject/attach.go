//go:build go1.24

package main

import (
	"runtime"
	"weak"
)

func attach(object *[100]byte) {
	runtime.AddCleanup(object, func(int) {}, 0)
	_ = weak.Make(object)
}
