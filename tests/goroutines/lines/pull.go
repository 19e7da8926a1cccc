//go:build go1.23

package main

import "iter"

func numbers(yield func(int) bool) {
	for i := 0; yield(i); i++ {
	}
}

func init() {
	more = append(more, func() {
		next, stop := iter.Pull(numbers)
		next()
		pulled, _ := iter.Pull2(func(yield func(int, string) bool) { yield(1, "a") })
		pulled()
		kept = append(kept, next, pulled, stop)
	})
}

var kept []any
