// A program of which tests/process/builds.sh makes other builds: it changes the lines that have a marker. debugfiles.sh takes away its
// symbols.
package main

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"time"
)

type Session struct {
	ID   int // field
	Name string
	Next *Session
}

var all []*Session

//go:noinline
func fill(n int) {
	for i := 0; i < n; i++ {
		all = append(all, &Session{Name: fmt.Sprint("session-", i)}) // lines
	}
}

func main() {
	local := &Session{Name: fmt.Sprint("local", len(os.Args))}
	fill(3000)
	runtime.GC()
	if len(os.Args) > 1 {
		file, err := os.Create(os.Args[1])
		if err != nil {
			panic(err)
		}
		debug.WriteHeapDump(file.Fd())
		file.Close()
	}
	fmt.Println("ready")
	time.Sleep(time.Hour)
	fmt.Println(local.Name)
}
