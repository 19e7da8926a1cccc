// Values in containers of the library: what multiplies is the program's type, and held by is the variable with the container, not the
// nodes, elements and boxes between them. Each has a smaller twin.
//
//	case smap SHAPE=smap
//	says[plain] ^  1 .* 60,000 .*(main\.session|sync\.entry)
//	says[plain] main\.session
//	says[plain] held by     main\.sessions, a sync\.Map of 60,000 entries$
//	says[plain] example     main\.sessions\["user\d+"\]$
//	says[stripped] held by     the global used by main\.main \(0x\w+\)
//	never ^  [123] .*sync\.indirect
//	case boxes SHAPE=boxes
//	says ^  1 .* 60,000 .*(main\.audit|sync\.entry)
//	says main\.audit
//	never ^  [123] .*sync\.indirect
//	case list SHAPE=list
//	says ^  1 .* 60,000 main\.session, in list\.List$
//	says[plain] held by     main\.recent, a list of 60,000 entries$
//	case closures SHAPE=closures
//	says ^  1 .* 60,000 main\.session, in \[\]func\(\)$
//	says[plain] (held by|example)     main\.callbacks\[\d+\]
//	case inlined SHAPE=inlined
//	says ^  1 .* 60,000 main\.session, in \[\]func\(\)$
//	says[plain] (held by|example)     main\.callbacks\[\d+\]
//	says[stripped] (held by|example)     the global set by main\.main(\.func\d)? \(0x\w+\)\[\d+\]
package main

import (
	"container/list"
	"fmt"
	"os"
	"sync"
)

type session struct {
	user string
	buf  [10]uint64
}
type audit struct {
	next *audit
	line string
}

var (
	sessions, others sync.Map
	recent, healthy  = list.New(), list.New()
	callbacks        []func()
)

//go:noinline
func (s *session) use() { s.buf[0]++ }

//go:noinline
func repeat(n int, f func(int)) {
	for i := 0; i < n; i++ {
		f(i)
	}
}

// callback is inlined, and so is not in the executable; from Go 1.27 on its closure is named after it nevertheless.
func callback(s *session) func() { return func() { s.use() } }

func main() {
	n := 60000
	switch os.Getenv("SHAPE") {
	case "smap":
		for i := 0; i < n; i++ {
			sessions.Store(fmt.Sprint("user", i), &session{user: fmt.Sprint("u", i)})
			if i%100 == 0 {
				others.Store(i, &session{})
			}
		}
	case "list":
		for i := 0; i < n; i++ {
			recent.PushBack(&session{user: fmt.Sprint("u", i)})
			if i%100 == 0 {
				healthy.PushBack(&session{})
			}
		}
	case "closures":
		for i := 0; i < n; i++ {
			s := &session{user: fmt.Sprint("u", i)}
			callbacks = append(callbacks, func() { s.use() })
		}
	case "inlined":
		repeat(n, func(i int) { callbacks = append(callbacks, callback(&session{user: fmt.Sprint("u", i)})) })
	case "boxes":
		var m sync.Map
		for i := 0; i < n; i++ {
			m.Store(i, audit{line: fmt.Sprint("line ", i)})
		}
		fmt.Println("READY")
		fmt.Scanln()
		m.Store(1, audit{})
		return
	}
	fmt.Println("READY")
	fmt.Scanln()
	for _, f := range callbacks {
		f()
	}
}
