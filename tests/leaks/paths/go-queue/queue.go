// Package queue does not call itself as its directory is called: only its types tell.
package queue

import "fmt"

type Task struct{ name string }

func (t *Task) String() string { return t.name }

// New returns what runs a task. Inlined, its closure would be one of main's.
//
//go:noinline
func New(name string) func() fmt.Stringer {
	t := &Task{name}
	return func() fmt.Stringer { return t }
}
