// A variable that points to a composite literal: the literal has no name of its own, and in a stripped program nothing says its type,
// but the pointer to it is in a variable that code uses.
//
//	says ^  1 .* 9,000 main\.item, in \[\]\*main\.item$
//	says[plain] ^      example     main\.items\.list\[0\]
//	says[stripped] ^      example     the global used by main\.main \(0x\w+\)\.f24\[0\]
package main

import "fmt"

type item struct{ values [20]int }

type registry struct {
	name  string
	count int
	list  []*item
}

var items = &registry{name: "items"}

//go:noinline
func (r *registry) add(i *item) {
	r.list = append(r.list, i)
	r.count++
}

func main() {
	for i := 0; i < 9000; i++ {
		items.add(&item{[20]int{i}})
	}
	fmt.Println("READY")
	fmt.Scanln()
	items.add(nil)
}
