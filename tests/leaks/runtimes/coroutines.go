//go:build go1.23

package main

import (
	"iter"

	"leaks/expect"
)

var held []func()

func numbers(yield func(int) bool) {
	for i := 0; yield(i); i++ {
	}
}

//go:noinline
func words(n int) iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		for i := n; yield(i, "word"); i++ {
		}
	}
}

func never(yield func(string) bool) {}

func coroutines() {
	for i := 0; i < 10; i++ {
		next, stop := iter.Pull(numbers)
		next()
		held = append(held, stop)
		next2, stop2 := iter.Pull2(words(i))
		next2()
		held = append(held, stop2)
		_, stop3 := iter.Pull(never) // has not begun
		held = append(held, stop3)
		_, stop4 := iter.Pull2(words(i))
		held = append(held, stop4)
	}
	expect.Goroutines(`^goroutine \d+ \[coroutine\] main\.numbers$`, 10)
	expect.Goroutines(`^goroutine \d+ \[coroutine\] main\.words\.func1$`, 10)
	expect.Add(expect.Expectation{Kind: "goroutines", What: `^goroutine \d+ \[coroutine\] main\.never$`, Count: 10, DWARF: true})
	expect.Add(expect.Expectation{Kind: "goroutines", What: `^goroutine \d+ \[coroutine\] main\.words\.func1$`, Count: 20, DWARF: true})
	expect.Add(expect.Expectation{Kind: "objects", Class: `runtime\.coro`, Count: 40, DWARF: true})
	expect.NoObjects(`iter\.coro`)
}
