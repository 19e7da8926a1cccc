// Everything that a heap, its stacks and its runtime can hold: what is read of this process from outside is compared with
// what WriteHeapDump writes.
//
//	everything [-spinning] [-yielding] fifo PATH   builds all, collects garbage twice, writes a dump to the FIFO
//	everything serve                               builds all, says "ready", and stays
//	everything spin N                              the same, with N goroutines that compute
//	everything alloc N                             the same, with N goroutines that allocate, GOGC 5 and -trees MB that live
//	everything talk N                              the same, with N groups that talk over channels
//	everything crash nil | abort                   the same, then a nil dereference in a goroutine; or waits for a signal
//
// With -mortal SIGQUIT ends it as it does any program, with a core at that moment. -spinning and -yielding add goroutines that compute, or call Gosched, all the time.
package main

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"settle"
	"strconv"
	"syscall"
	"unsafe"
)

var (
	spinning = flag.Bool("spinning", false, "goroutines that compute")
	mortal   = flag.Bool("mortal", false, "ends by SIGQUIT, at once")
	yielding = flag.Bool("yielding", false, "goroutines that call Gosched")
	more     = flag.Int("more", 0, "megabytes of large objects")
	trees    = flag.Int("trees", 50, "megabytes that live, of alloc and talk")
)

var (
	moreBytes    [][]byte
	morePointers []*[1024]*byte
	moreSlice    []*byte
)

// moreObjects allocates megabytes: objects of 2 MB without pointers, of 8 KB with pointers, and a slice of pointers.
func moreObjects(megabytes int) {
	for i := 0; i < megabytes/4; i++ {
		block := make([]byte, 2<<20)
		for at := 0; at < len(block); at += 512 {
			block[at] = byte(at>>9 + i)
		}
		moreBytes = append(moreBytes, block)
	}
	for i := 0; i < megabytes<<20/4/8192; i++ {
		pointers := new([1024]*byte)
		pointers[i%1024] = &moreBytes[i%len(moreBytes)][i]
		morePointers = append(morePointers, pointers)
	}
	moreSlice = make([]*byte, megabytes<<20/4/8)
	for i := range moreSlice {
		moreSlice[i] = &moreBytes[i%len(moreBytes)][i%512]
	}
}

func main() {
	runtime.MemProfileRate = 512
	flag.Parse()
	if flag.NArg() == 0 {
		usage()
	}
	if *mortal {
		var byDefault [4]uint64 // struct sigaction of the kernel
		syscall.RawSyscall6(syscall.SYS_RT_SIGACTION, uintptr(syscall.SIGQUIT), uintptr(unsafe.Pointer(&byDefault)), 0, 8, 0, 0)
	}
	moreObjects(*more)
	objects()
	finalizers()
	newer()
	goroutines()
	panics()
	if *spinning {
		spin(2)
	}
	if *yielding {
		for i := 0; i < 3; i++ {
			go yield()
		}
	}
	locals := [3]*node{{name: "local of main"}, {}, chain(3)}
	switch mode := flag.Arg(0); {
	case mode == "fifo" && flag.NArg() == 2:
		rest()
		debug.SetGCPercent(-1)
		runtime.GC()
		queue()
		runtime.GC()
		unscanned()
		rest()
		null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
		check(err)
		debug.WriteHeapDump(null.Fd()) // the masks that it makes change what it has written before
		check(null.Close())
		fifo, err := os.OpenFile(flag.Arg(1), os.O_WRONLY, 0)
		check(err)
		debug.WriteHeapDump(fifo.Fd())
		check(fifo.Close())
	case mode == "serve":
		queue()
		ready()
		select {}
	case mode == "spin" && flag.NArg() == 2:
		queue()
		spin(number(1))
		ready()
		select {}
	case mode == "alloc" && flag.NArg() == 2:
		queue()
		alloc(number(1))
		ready()
		select {}
	case mode == "talk" && flag.NArg() == 2:
		queue()
		talk(number(1))
		ready()
		select {}
	case mode == "crash" && flag.NArg() == 2:
		queue()
		rest()
		ready()
		if flag.Arg(1) == "nil" {
			go crash(nil)
		}
		select {}
	default:
		usage()
	}
	runtime.KeepAlive(locals)
	runtime.MemProfile(nil, true) // without this the linker turns the profile off
}

func usage() {
	fmt.Fprintln(os.Stderr, "usage: everything [-spinning] [-yielding] fifo PATH | serve | spin N | alloc N | talk N | crash nil | crash abort")
	os.Exit(2)
}

func ready() {
	fmt.Println("ready")
}

func number(i int) int {
	n, err := strconv.Atoi(flag.Arg(i))
	check(err)
	return n
}

//go:noinline
func crash(n *node) {
	own := &node{name: "of the goroutine that crashes"}
	n.next = own
	runtime.KeepAlive(own)
}

// rest waits until all other goroutines are where they will stay. Some may never be.
func rest() {
	if !*spinning && !*yielding {
		settle.Settle()
	}
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
