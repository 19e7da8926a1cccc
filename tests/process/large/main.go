// A program with many small objects, and some large arrays without pointers. It prints "ready", and waits.
package main

import (
	"fmt"
	"strconv"
	"time"
)

type session struct {
	id    int
	token string
	tags  []string
}

var (
	sessions = map[string]*session{}
	blobs    [][]byte
	numbers  []int64
)

func main() {
	for i := 0; i < 100000; i++ {
		token := "token" + strconv.Itoa(i)
		sessions[token] = &session{i, token, []string{"tag" + strconv.Itoa(i%1000)}}
	}
	for i := 0; i < 16; i++ {
		blob := make([]byte, 256<<10)
		for j := range blob {
			blob[j] = byte(i + j*7)
		}
		blobs = append(blobs, blob)
	}
	for i := 0; i < 64<<10; i++ {
		numbers = append(numbers, int64(i))
	}
	fmt.Println("ready")
	time.Sleep(time.Hour)
}
