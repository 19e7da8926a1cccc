// Package settle waits in a program that is about to be read: for its other goroutines to stand still. Modules name it in their
// go.mod; programs of one file find it below GOPATH=tests/go.
package settle

import (
	"runtime"
	"strings"
	"time"
)

// Settle waits until all other goroutines are where they will stay, however long that takes on a busy machine: at several
// looks none of them runs, or could.
//
//go:noinline
func Settle() {
	text := make([]byte, 1<<16)
	for quiet := 0; quiet < 5; time.Sleep(time.Millisecond) {
		n := runtime.Stack(text, true)
		stacks := string(text[:n])
		switch {
		case n == len(text):
			text = make([]byte, 2*n)
		case strings.Count(stacks, " [running")+strings.Count(stacks, " [runnable")+strings.Count(stacks, " [preempted")+
			strings.Count(stacks, " [copystack")+strings.Count(stacks, " [GC assist") > 1: // this one runs
			quiet = 0
		default:
			quiet++
		}
	}
}
