// Command stack stands in a recursion of so many calls until its standard input ends: each call has a variable on its stack
// that points to that of its caller and to an object, and a deferred function.
//
//	stack CALLS [DUMP]
//
// It writes its own heap dump to the file DUMP, and then says "ready".
package main

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
)

type visit struct {
	parent *visit
	seen   []int
}

var reached func()

//go:noinline
func (v *visit) depth() int {
	if v.parent == nil {
		return len(v.seen)
	}
	return v.parent.seen[0] + len(v.seen)
}

//go:noinline
func descend(calls int, parent *visit) int {
	here := visit{parent, make([]int, 1+calls%3)}
	defer func() { here.seen = nil }()
	if calls == 0 {
		reached()
		return here.depth()
	}
	return descend(calls-1, &here) + here.depth()
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func main() {
	debug.SetMaxStack(2 << 30)
	calls, err := strconv.Atoi(os.Args[1])
	check(err)
	reached = func() {
		runtime.GC()
		if len(os.Args) > 2 {
			file, err := os.Create(os.Args[2])
			check(err)
			debug.WriteHeapDump(file.Fd())
			check(file.Close())
		}
		fmt.Println("ready")
		io.Copy(io.Discard, os.Stdin)
	}
	descend(calls, nil)
}
