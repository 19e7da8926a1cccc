// Touched allocates memory in blocks of 1 MB, touches every page of it, and then works on a little of it, so that how long it
// stands still can be measured.
//
//	touched MEGABYTES
package main

import (
	"fmt"
	"os"
	"runtime/debug"
	"strconv"
	"time"
)

const page = 4096

func main() {
	megabytes, err := strconv.Atoi(os.Args[1])
	if err != nil {
		panic(err)
	}
	debug.SetGCPercent(-1)
	blocks := make([][]byte, megabytes)
	for i := range blocks {
		blocks[i] = make([]byte, 1<<20)
		for at := 0; at < len(blocks[i]); at += page {
			blocks[i][at] = byte(i) | 1
		}
	}
	fmt.Println("ready")
	for i := 0; ; i++ {
		blocks[0][i%(1<<20)]++ // others would lose their huge pages, if they have any, while there is a fork
		time.Sleep(time.Millisecond)
	}
}
