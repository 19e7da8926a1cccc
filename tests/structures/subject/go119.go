//go:build go1.19 && !go1.24
// +build go1.19,!go1.24

package main

func modern() {
	atomics()
}
