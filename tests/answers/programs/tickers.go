// Timers that are never stopped hold what their functions have captured. Goroutines that wait for tickers hold these themselves, even
// if the executable is stripped and nothing but its record of the first thread leads to the runtime's timers.
//
//	from 1.23
//	says ^  1 .* 3,000 runtime\.timeTimer, in .*\[\]runtime\.timerWhen, the runtime's timers, which call main\.submit\.func1$
//	says main\.job
//	says ^  2 .* 300 goroutines \[chan receive\] main\.
//	says[plain] main\.poller
//	never \(globals\)\n.* bss\n
//	is r.goroutines.find(g => g.count === 300).retained > 300 * 4900
package main

import (
	"fmt"
	"time"
)

type job struct {
	payload [900]byte
	retries int
}

var retries int

//go:noinline
func submit() {
	j := &job{}
	time.AfterFunc(time.Hour, func() {
		j.retries++
		retries += j.retries
	})
}

type poller struct {
	buf  []byte
	tick *time.Ticker
}

//go:noinline
func (p *poller) loop() {
	for range p.tick.C {
		p.buf[0]++
	}
}

func main() {
	for i := 0; i < 3000; i++ {
		submit()
		if i%10 == 0 {
			p := &poller{buf: make([]byte, 2000), tick: time.NewTicker(time.Hour)}
			go p.loop()
		}
	}
	time.Sleep(200 * time.Millisecond)
	fmt.Println("READY")
	fmt.Scanln()
}
