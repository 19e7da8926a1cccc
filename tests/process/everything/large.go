// Objects of large types that no collection has seen: from Go 1.24 on the runtime makes the pointer masks of such types when it first
// needs them. The dumper needs them, so it has made them at last, and they must be what was made from outside.
package main

import (
	"reflect"
	"unsafe"
)

type (
	cell[T any] struct {
		n     int
		value T
		small [3]int16
	}
	grid[T any] struct {
		name  string
		cells [30][10]cell[T]
		end   [100]int
	}
	around[T any] struct {
		none [0]func()
		only T
	}
	several struct {
		a     grid[*node]
		flag  bool
		b     [2]around[[1]grid[interface{}]]
		list  []several
		c     cell[map[string]*node]
		d     [129]unsafe.Pointer
		e     [4300]cell[string] // up to Go 1.26 only types of more than 128 KB are large
		f     func()
		more  [500]byte
		empty struct{}
	}
)

// fresh makes a T, all of whose words are 0 but for those that set has set.
func fresh[T any](set func(*T)) {
	value := new(T)
	set(value)
	keep(value)
}

func unscanned() {
	n := &node{name: "held by what no collection has seen"}
	fresh(func(v *[129]*node) { v[128] = n })
	fresh(func(v *[200]*node) { v[0] = n })
	fresh(func(v *[4095]cell[*node]) { v[4000].value = n })
	fresh(func(v *grid[*node]) { v.cells[29][9].value = n })
	fresh(func(v *grid[grid[*node]]) { v.cells[29][9].value.cells[1][1].value = n })
	fresh(func(v *around[around[[1]grid[func()]]]) { v.only.only[0].cells[0][0].value = func() { n.next = nil } })
	fresh(func(v *several) { v.e[3999].value, v.a.cells[3][3].value = n.name, n })
	fresh(func(v *[2]several) { v[1].d[128] = unsafe.Pointer(n) })
	keep(make(chan [150]cell[[2]*node], 40))
	keep(map[int][150]*node{1: {149: n}})
	keep(interface{}([200]cell[*node]{199: {value: n}}))
	var v [300]cell[*node]
	v[299].value = n
	keep(func() *node { return v[299].value })
	typ := reflect.StructOf([]reflect.StructField{
		{Name: "A", Type: reflect.TypeOf(byte(0))},
		{Name: "B", Type: reflect.ArrayOf(300, reflect.TypeOf(cell[[3]*node]{}))},
		{Name: "C", Type: reflect.ArrayOf(17000, reflect.TypeOf(0))},
		{Name: "D", Type: reflect.ArrayOf(1, reflect.TypeOf(n))},
	})
	keep(reflect.New(typ).Interface())
	slice := reflect.MakeSlice(reflect.SliceOf(typ), 2, 2)
	keep(slice.Interface())
}
