//go:build cgo

package main

/*
#include <stdlib.h>
#include <unistd.h>
static void block(void) { for (;;) pause(); }
static void *allocate(void) { return malloc(1000); }
extern void calledByC(void *);
static void call_back(void *p) { calledByC(p); }
*/
import "C"

import "unsafe"

type holdsC struct {
	p unsafe.Pointer
	n *node
}

//export calledByC
func calledByC(p unsafe.Pointer) {
	own := &node{name: "of a function that C called"}
	own.next = never()
}

// foreign has goroutines in C, and in Go that C called.
func foreign() {
	for i := 0; i < 3; i++ {
		keep(&holdsC{C.allocate(), &node{}})
		go C.block()
		go C.call_back(C.allocate())
	}
}
