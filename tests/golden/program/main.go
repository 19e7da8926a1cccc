// A small heap of all that the program under test knows, and of everything two: a healthy one and one that leaks, so that what is
// said of one can be told from what is said of the other. tests/golden/retake builds it and takes its dumps.
//
//	program dump FILE FILE   writes two dumps; between them, what leaks has grown
//	program small FILE       writes a dump of a part, for tests that convert it a thousand times: tests/exe, tests/failures
//	program live             prints what is there, a line for each class or variable, then READY, and ends with its standard input
package main

import (
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
)

// Nearly all allocations are in the profile of the dump, and none in that of a part.
var _ = func() bool {
	if runtime.MemProfileRate = 512; isSmall() {
		runtime.MemProfileRate = 0
	}
	return true
}()

func isSmall() bool { return len(os.Args) == 3 && os.Args[1] == "small" }

func say(words ...string) {
	text := ""
	for i, word := range words {
		if i > 0 {
			text += " "
		}
		text += word
	}
	os.Stdout.WriteString(text + "\n")
}

func number(n int) string { return strconv.Itoa(n) }

func dump(name string) {
	file, err := os.Create(name)
	if err != nil {
		panic(err)
	}
	runtime.GC()
	debug.WriteHeapDump(file.Fd())
	file.Close()
}

func main() {
	if len(os.Args) < 2 {
		say("usage: program dump FILE FILE | program small FILE | program live")
		os.Exit(2)
	}
	makeShapes()
	if isSmall() {
		wide := map[[20]string]string{{"a"}: "b"}
		runtime.SetFinalizer(tables.matrix[0][0], func(s *square) { s.name = "" })
		makeGoroutines()
		leak(60)
		dump(os.Args[2])
		runtime.KeepAlive(wide)
		return
	}
	makeMaps()
	makeStrings()
	makeSlices()
	makeTimers()
	makeReflected()
	makeRuntimes()
	makeGoroutines()
	leak(60)
	runtime.GC() // fills the victims of pools
	switch os.Args[1] {
	case "dump":
		dump(os.Args[2])
		leak(240)
		dump(os.Args[3])
	case "live":
		runtime.GC()
		say("class main.aTicket", number(len(aOpen)))
		say("class main.bTicket", number(len(bOpen)))
		say("class main.node", number(nodes))
		say("variable main.bOpen map[int]*main.bTicket")
		say("goroutines main.bWorker", number(bWorkers))
		say("READY")
		os.Stdin.Read(make([]byte, 1))
	}
}
