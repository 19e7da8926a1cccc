package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"regexp"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"strings"
	"time"
)

var (
	goroutine = regexp.MustCompile(`^goroutine (\d+) \[([^\],]*)`)
	unsteady  = regexp.MustCompile(`(?m) \(leaked\)|^goroutine \d+ \[running\]:(?s:.*?)\n\n|, \d+ minutes`)
)

func stacks() string {
	text := make([]byte, 1<<20)
	return string(unsteady.ReplaceAll(text[:runtime.Stack(text, true)], nil))
}

// settle waits until no goroutine of the program has anything left to do, but those that are busy on purpose.
func settle() {
	before := ""
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); {
		now, is_settled := stacks(), true
		for _, stack := range strings.Split(now, "\n\n") {
			if match := goroutine.FindStringSubmatch(stack); match != nil && match[2] == "runnable" && !strings.Contains(stack, "main.okBusy") {
				is_settled = false
			}
		}
		if is_settled && (now == before || strings.Contains(now, "main.okBusy")) {
			return
		}
		before = now
		time.Sleep(5 * time.Millisecond)
	}
	fmt.Fprintln(os.Stderr, "does not come to rest:\n"+before)
	os.Exit(1)
}

// prove dumps the heap, if the program got a second argument, and then waits until it has been read from outside. Then it prints the
// numbers of the goroutines that are leaked: "named" by the names of their functions, "proved" by the runtime's own profile.
func prove(profile *pprof.Profile, _ io.Writer) {
	settle()
	runtime.GC()
	runtime.GC()
	settle()
	before := stacks()
	if len(os.Args) > 2 {
		file, err := os.Create(os.Args[2])
		if err != nil {
			panic(err)
		}
		debug.WriteHeapDump(file.Fd())
		file.Close()
	}
	fmt.Println("ready")
	os.Stdin.Read(make([]byte, 1))
	for _, stack := range strings.Split(before, "\n\n") {
		if match := goroutine.FindStringSubmatch(stack); match != nil && strings.Contains(stack, "main.leak") {
			fmt.Println("named", match[1])
			// The profile takes these for live: because of a list in a runtime.g, and because of what is beside a lock.
			if strings.Contains(stack, "main.leakDeferred") || strings.Contains(stack, "main.leakSmallLock") {
				fmt.Println("proved", match[1])
			}
			if strings.Contains(stack, "main.leakSmallLock") {
				fmt.Println("small", match[1])
			}
		}
	}
	if profile != nil {
		var text bytes.Buffer
		profile.WriteTo(&text, 2)
		for _, stack := range strings.Split(text.String(), "\n\n") {
			if match := goroutine.FindStringSubmatch(stack); match != nil && strings.HasSuffix(match[2], "(leaked)") &&
				!strings.Contains(stack, "main.okWeakly") { // which the profile calls leaked, though a weak pointer leads to it
				fmt.Println("proved", match[1])
			}
		}
		fmt.Println("end")
	}
	os.Exit(0)
}
