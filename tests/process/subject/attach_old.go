//go:build !go1.24

package main

func attach(*[100]byte) {}
