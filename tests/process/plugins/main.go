// A program that has a plugin fill its own global, after one that the runtime refuses, writes a heap dump, and waits:
//
//	plugins PLUGIN DUMP REFUSED
package main

import (
	"fmt"
	"os"
	"plugin"
	"runtime"
	"runtime/debug"
	"time"

	_ "plugins/version"
)

func main() {
	_, err := plugin.Open(os.Args[3])
	if err == nil {
		panic("a plugin with another version of a package is not refused")
	}
	held, err := plugin.Open(os.Args[1])
	check(err)
	fill, err := held.Lookup("Fill")
	check(err)
	fill.(func(int))(20000)
	runtime.GC()
	dump, err := os.Create(os.Args[2])
	check(err)
	debug.WriteHeapDump(dump.Fd())
	check(dump.Close())
	fmt.Println("ready")
	time.Sleep(time.Hour)
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
