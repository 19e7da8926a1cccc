//go:build go1.24

package main

import (
	"fmt"
	"runtime"
	"unique"
	"weak"
)

func newer() {
	coroutines()
	for i := 0; i < 10; i++ {
		i, n, big := i, &node{}, &of520{}
		runtime.AddCleanup(n, func(held *node) { held.data = i }, &node{name: "argument of a cleanup"})
		runtime.AddCleanup(big, func(int) {}, i)
		keep([]interface{}{n, big, weak.Make(n), weak.Make(&node{}), unique.Make(fmt.Sprint("unique ", i))})
		runtime.AddCleanup(&node{}, func(held *node) { held.data = i }, &node{name: "argument of a cleanup that is due"})
	}
}
