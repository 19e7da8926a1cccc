// A program that starts itself anew all the time, as one does that crashes and is started again:
//
//	starting MICROSECONDS
package main

import (
	"os"
	"strconv"
	"syscall"
	"time"
)

var kept [][]byte

func main() {
	pause, err := strconv.Atoi(os.Args[1])
	check(err)
	for i := 0; i < 100; i++ {
		kept = append(kept, make([]byte, 1000))
	}
	time.Sleep(time.Duration(pause) * time.Microsecond)
	own, err := os.Executable()
	check(err)
	check(syscall.Exec(own, os.Args, os.Environ()))
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
