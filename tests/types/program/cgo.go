package main

// Only built with CGO_ENABLED=1: threads are C's then, and memory may be.

/*
#include <stdlib.h>

static void *allocate(void) { return malloc(16); }
*/
import "C"

import "unsafe"

// ForeignMemory is no object, whatever it points to.
var ForeignMemory unsafe.Pointer = C.allocate()
