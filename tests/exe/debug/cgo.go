//go:build cgo
// +build cgo

package main

/*
#include <stdint.h>

struct point { int32_t x, y; struct point *next; };
union number { float f; uint64_t u; };
enum color { RED, GREEN };

struct all {
	struct point point, points[2][3];
	union number number;
	unsigned bits : 3, more : 5;
	enum color color;
	const char *name;
	void *any;
	int (*call)(struct point *);
	volatile double wide;
	_Bool is;
};

struct point c_point = {1, 2, &c_point};
struct all c_all = {.name = "name", .any = &c_point, .wide = 0.5};
union number c_number = {.f = 1};
char *c_names[2][3];
static int32_t c_hidden = 7;

static int sum(void) { return c_hidden++ + c_point.x; }
*/
import "C"

import "unsafe"

var globalC = C.c_point

func init() {
	C.sum()
	more = append(more, func() {
		keep(unsafe.Pointer(&C.c_all), unsafe.Pointer(&C.c_number), unsafe.Pointer(&C.c_names))
		note("global", "", "main.globalC", &globalC).Type = ""
		note("global", "", "c_point", &C.c_point).Type = "point"
		wait()
	})
}
