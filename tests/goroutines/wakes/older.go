//go:build !go1.24

package main

func newer() {}
