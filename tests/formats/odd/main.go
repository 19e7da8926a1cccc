// A program with texts and keys that formats of text could misread, and with many classes:
//
//	odd DUMP          some
//	odd DUMP MANY     and objects of so many classes
//	odd DUMP twins    and records of one type in two maps of one type, in one of them more, so that neither names of classes nor those
//	                  of their holders tell the two suspects of the heap apart
package main

import (
	"fmt"
	"os"
	"reflect"
	"runtime"
	"runtime/debug"
	"strconv"
)

var (
	odd  = map[string]*string{}
	many []interface{}

	more, fewer = map[int]*record{}, map[int]*record{}
)

type record struct{ data [120]byte }

func main() {
	for _, text := range []string{
		"a,b", "say \"hi\"", "\"", "two\nlines", "cr\r\nlf", " before", "behind ", "nul\x00byte", "tab\tbed", "it's; -- so",
		"größer €", "not \xff UTF-8", "NULL", "0042", "\\N", "last\\",
	} {
		key, value := string([]byte("key "+text)), string([]byte(text))
		odd[key] = &value
	}
	if len(os.Args) > 2 {
		count, _ := strconv.Atoi(os.Args[2])
		for i := 0; i < 5000 && os.Args[2] == "twins"; i++ {
			more[i] = &record{}
			if i%2 == 0 {
				fewer[i] = &record{}
			}
		}
		for i := 1; i <= count; i++ {
			many = append(many, reflect.New(reflect.ArrayOf(i, reflect.TypeOf(byte(0)))).Interface())
		}
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
	fmt.Println(len(odd), len(many), len(more), len(fewer))
}
