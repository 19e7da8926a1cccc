package main

import (
	"syscall"
	"unsafe"
)

// Numbers of system calls, and of an advice.
const (
	ioSetup     = 206
	userfaultfd = 323
	ioUring     = 425
	dontForkIt  = 10
	wipeOnFork  = 18
)

// special makes what a fork might disturb, as far as the flags ask for it.
func special() []any {
	var kept []any
	if *uring {
		parameters := new([120]byte)
		kept = append(kept, parameters, call("io_uring_setup", ioUring, 4, uintptr(unsafe.Pointer(parameters)), 0))
	}
	if *faults {
		kept = append(kept, call("userfaultfd", userfaultfd, syscall.O_CLOEXEC|1, 0, 0))
	}
	if *aio {
		context := new(uintptr)
		kept = append(kept, context, call("io_setup", ioSetup, 4, uintptr(unsafe.Pointer(context)), 0))
	}
	if *dontFork {
		memory, err := syscall.Mmap(-1, 0, 1<<20, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANON)
		if err != nil {
			fail("mmap:", err)
		}
		memory[0] = 1
		kept = append(kept, memory, call("madvise", syscall.SYS_MADVISE, uintptr(unsafe.Pointer(&memory[0])), 1<<20, dontForkIt))
	}
	if *wipes { // nothing else leads to the objects
		list := make([]*node, cap(nodes)+1<<18)
		copy(list, nodes)
		call("madvise", syscall.SYS_MADVISE, uintptr(unsafe.Pointer(&list[0])), uintptr(len(list)*8)&^4095, wipeOnFork)
		nodes = list[:len(nodes)]
	}
	return kept
}
