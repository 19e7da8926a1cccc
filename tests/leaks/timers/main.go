// The leak that Go had until 1.22: time.After in a loop. Only the runtime points to these timers. Since 1.23 they are
// collected; those of time.AfterFunc still live until their time has come.
package main

import (
	"runtime"
	"time"

	"leaks/expect"
)

const rounds, calls, ticks = 5000, 700, 30

//go:noinline
func work(events <-chan int) (sum int) {
	for i := 0; i < rounds; i++ {
		select {
		case n := <-events:
			sum += n
		case <-time.After(time.Hour):
			return
		}
	}
	return
}

//go:noinline
func later(n int) {
	time.AfterFunc(time.Hour, func() { println(n) })
}

//go:noinline
func tick() <-chan time.Time { return time.NewTicker(time.Hour).C }

func main() {
	events := make(chan int, rounds)
	for i := 0; i < rounds; i++ {
		events <- i
	}
	if work(events) == 0 {
		panic("nothing was done")
	}
	for i := 0; i < calls; i++ {
		later(i)
	}
	for i := 0; i < ticks; i++ {
		tick()
	}
	runtime.GC()
	runtime.GC()
	if expect.Release() >= 23 {
		expect.Objects(`runtime\.timeTimer`, calls)
	} else {
		expect.Objects(`time\.Timer`, rounds+calls)
		expect.Objects(`time\.Ticker`, ticks)
	}
	expect.Objects(`func main\.later\.func1`, calls)
	expect.Dump(1)
	expect.Done()
}
