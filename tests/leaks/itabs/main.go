// Itabs of types that package reflect makes: more than the runtime's first table has space for, and most of the dump's
// records of types are of none of the executable.
package main

import (
	"fmt"
	"reflect"

	"leaks/expect"
)

type Item struct {
	name string
	next *Item
}

var (
	items []interface{}
	held  []interface{}
)

type named interface{ Name() string }

type t0 struct{}

func (t0) Name() string { return "" }

// growTable makes more itabs than the first table of them has space for: of types that reflect makes, each of which has the
// method of what is embedded in it.
func growTable(n int) {
	for i := 0; i < n; i++ {
		t := reflect.StructOf([]reflect.StructField{
			{Name: "T0", Type: reflect.TypeOf((*named)(nil)).Elem(), Anonymous: true},
			{Name: fmt.Sprint("F", i), Type: reflect.TypeOf(0)},
		})
		v := reflect.New(t).Elem()
		v.Field(0).Set(reflect.ValueOf(t0{}))
		_ = v.Interface().(named)
		held = append(held, v.Interface())
	}
}

func main() {
	n := 600
	growTable(n)
	for i := 0; i < n; i++ {
		items = append(items, &Item{name: fmt.Sprint("item ", i), next: &Item{}})
	}
	expect.Dump(1)
	expect.Objects(`runtime\.itabTableType`, 1)
	expect.NoObjects(`noptr9472`)
	expect.Objects(`main\.Item`, 2*n)
	expect.Objects(`struct \{ main\.named; F\d+ int \}`, n)
	expect.Done()
}
