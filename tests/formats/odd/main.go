// A program with texts and keys that formats of text could misread:
//
//	odd DUMP
package main

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
)

var odd = map[string]*string{}

func main() {
	for _, text := range []string{
		"a,b", "say \"hi\"", "\"", "two\nlines", "cr\r\nlf", " before", "behind ", "nul\x00byte", "tab\tbed", "it's; -- so",
		"größer €", "not \xff UTF-8", "NULL", "0042", "\\N", "last\\",
	} {
		key, value := string([]byte("key "+text)), string([]byte(text))
		odd[key] = &value
	}
	runtime.GC()
	file, err := os.Create(os.Args[1])
	if err != nil {
		panic(err)
	}
	debug.WriteHeapDump(file.Fd())
	if err := file.Close(); err != nil {
		panic(err)
	}
	fmt.Println(len(odd))
}
