//go:build go1.23

package main

import "iter"

func numbers(yield func(int) bool) {
	for i := 0; yield(i); i++ {
	}
}

func coroutines() {
	for i := 0; i < 3; i++ {
		next, stop := iter.Pull(numbers)
		next()
		keep(stop)
		next, stop = iter.Pull(numbers) // has not begun
		keep(next)
		keep(stop)
	}
}
