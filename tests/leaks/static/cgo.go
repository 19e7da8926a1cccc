//go:build cgo

package main

// int in_c = 7;
import "C"

func init() { _ = C.in_c }
