//go:build !truth
// +build !truth

package main

import (
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
)

func dump(directory string) {
	file, err := os.Create(filepath.Join(directory, "types.dump"))
	if err != nil {
		panic(err)
	}
	runtime.GC()
	runtime.GC()
	debug.WriteHeapDump(file.Fd())
	if err := file.Close(); err != nil {
		panic(err)
	}
}
