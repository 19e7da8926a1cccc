// A program whose DWARF has all of the runtime's structures that src/process/layout.h names.
package main

import (
	"fmt"
	"os"
	"runtime"
	"runtime/pprof"
)

func main() {
	finalized := new([100]byte)
	runtime.SetFinalizer(finalized, func(*[100]byte) {})
	attach(finalized)
	if err := pprof.Lookup("heap").WriteTo(os.Stdout, 0); err != nil {
		fmt.Println(err)
	}
}
