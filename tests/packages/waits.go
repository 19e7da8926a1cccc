// Holds something, says so, and waits: a process to be read.
package main

import (
	"fmt"
	"time"
)

type Order struct {
	ID   int
	Next *Order
}

var orders *Order

func main() {
	for i := range 1000 {
		orders = &Order{i, orders}
	}
	fmt.Println("ready")
	time.Sleep(time.Hour)
}
