// A program whose executable is then disguised: maps, channels and goroutines, whose types depend on the release of Go.
package main

import (
	"fmt"
	"os"
	"runtime/debug"
	"time"
)

type order struct {
	id    int
	lines map[string]*line
}

type line struct {
	article string
	amount  int
}

var open = map[int]*order{}

func wait(o *order, done chan int) {
	<-done
	fmt.Println(o.id)
}

func main() {
	done := make(chan int)
	for i := 0; i < 500; i++ {
		o := &order{id: i, lines: map[string]*line{}}
		for j := 0; j < 12; j++ {
			o.lines[fmt.Sprint("article ", i, j)] = &line{article: fmt.Sprint(j), amount: j}
		}
		open[i] = o
	}
	for i := 0; i < 20; i++ {
		go wait(open[i], done)
	}
	file, err := os.Create(os.Args[1])
	if err != nil {
		panic(err)
	}
	debug.WriteHeapDump(file.Fd())
	file.Close()
	fmt.Println("ready")
	time.Sleep(time.Hour)
	close(done)
}
