// A program that waits, with objects that only a global holds.
package main

import (
	"fmt"
	"time"
)

type shelf struct {
	books [64]byte
	next  *shelf
}

var library *shelf

func main() {
	for i := 0; i < 1000; i++ {
		library = &shelf{next: library}
	}
	fmt.Println("ready")
	time.Sleep(time.Hour)
}
