// A program that has mapped many files, for many-files.sh: the first argument says how many, the second is a directory for them. It
// prints "ready" when all are mapped, and ends when its standard input does.
package main

import (
	"fmt"
	"os"
	"strconv"
	"syscall"
)

var kept [][]byte

func main() {
	count, _ := strconv.Atoi(os.Args[1])
	for n := 0; n < count; n++ {
		file, err := os.Create(fmt.Sprintf("%s/%d.so", os.Args[2], n))
		if err == nil {
			_, err = file.WriteString("\x7fELF")
		}
		if err == nil {
			var data []byte
			data, err = syscall.Mmap(int(file.Fd()), 0, 4, syscall.PROT_READ, syscall.MAP_PRIVATE)
			kept = append(kept, data)
		}
		if err != nil {
			panic(err)
		}
		file.Close()
	}
	fmt.Println("ready", kept[count-1][1:])
	os.Stdin.Read(make([]byte, 1))
}
