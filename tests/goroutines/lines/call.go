//go:build cgo

package main

/*
#include <unistd.h>
static void sleeps(void) { sleep(1000); }
*/
import "C"

func calls() { C.sleeps() }

func init() {
	more = append(more, func() { go calls() })
}
