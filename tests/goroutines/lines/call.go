//go:build cgo

package main

/*
#cgo LDFLAGS: -lpthread
#include <pthread.h>
#include <stdint.h>
#include <unistd.h>
extern void fromC(uintptr_t);
extern int nested(int);
static void sleeps(void) { sleep(1000); }
static void calls(uintptr_t n) { fromC(n); }
static int calls_nested(int n) { return nested(n) + 1; }
static void *of_thread(void *n) { fromC((uintptr_t)n); return 0; }
static void starts(uintptr_t n) { pthread_t thread; pthread_create(&thread, 0, of_thread, (void *)n); }
*/
import "C"

import (
	"runtime"
	"time"
)

func calls() { C.sleeps() }

//export fromC
func fromC(n C.uintptr_t) {
	switch n {
	case 1:
		<-make(chan int)
	case 2:
		func() { C.sleeps() }()
	case 3:
		defer func() { recover(); select {} }()
		var p *int
		*p = 1
	}
}

//export nested
func nested(n C.int) C.int {
	if n == 0 {
		select {}
	}
	return C.calls_nested(n - 1)
}

func init() {
	more = append(more, func() {
		go calls()
		for i := C.uintptr_t(1); i <= 3; i++ {
			C.starts(i)
			go func(i C.uintptr_t) { C.calls(i) }(i)
		}
		go C.calls_nested(2)
		go func() {
			runtime.LockOSThread()
			C.sleeps()
		}()
		time.Sleep(100 * time.Millisecond)
	})
}
