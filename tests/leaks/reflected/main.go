// Types that package reflect makes while the program runs, which the executable does not know.
package main

import (
	"fmt"
	"reflect"
	"runtime"

	"leaks/expect"
)

type Item struct {
	name string
	next *Item
}

type Other struct {
	words [3]int64
	item  *Item
}

type Key struct {
	host string
	port int
}

type (
	ofSlice  struct{ Item }
	ofArray  struct{ Item }
	ofChan   struct{ Item }
	ofStruct struct{ Item }
	ofTree   struct{ Item }
)

var (
	maps    []interface{}
	structs []interface{}
	slices  []interface{}
	others  []interface{}
)

func item(i int) Item { return Item{name: fmt.Sprint("item ", i)} }

func makeMap(n int, key, elem reflect.Type, fill func(i int) (reflect.Value, reflect.Value)) {
	m := reflect.MakeMap(reflect.MapOf(key, elem))
	for i := 0; i < n; i++ {
		k, v := fill(i)
		m.SetMapIndex(k, v)
	}
	maps = append(maps, m.Interface())
}

func main() {
	n := 1000
	makeMap(n, reflect.TypeOf(""), reflect.TypeOf(Other{}), func(i int) (reflect.Value, reflect.Value) {
		one := item(i)
		return reflect.ValueOf(fmt.Sprint("key ", i)), reflect.ValueOf(Other{item: &one})
	})
	makeMap(n, reflect.TypeOf(Key{}), reflect.TypeOf(&Other{}), func(i int) (reflect.Value, reflect.Value) {
		return reflect.ValueOf(Key{fmt.Sprint("host ", i), i}), reflect.ValueOf(&Other{})
	})
	field := func(name string, t reflect.Type) reflect.StructField { return reflect.StructField{Name: name, Type: t} }
	made := reflect.StructOf([]reflect.StructField{
		field("Name", reflect.TypeOf("")),
		field("First", reflect.TypeOf(&ofStruct{})),
		field("Tree", reflect.MapOf(reflect.TypeOf(int8(0)), reflect.TypeOf(&ofTree{}))),
		field("Call", reflect.FuncOf([]reflect.Type{reflect.TypeOf(Key{})}, []reflect.Type{reflect.TypeOf(false)}, false)),
	})
	for i := 0; i < n; i++ {
		v := reflect.New(made).Elem()
		v.Field(0).SetString(fmt.Sprint("struct ", i))
		v.Field(1).Set(reflect.ValueOf(&ofStruct{item(i)}))
		v.Field(2).Set(reflect.MakeMap(v.Field(2).Type()))
		v.Field(2).SetMapIndex(reflect.ValueOf(int8(i)), reflect.ValueOf(&ofTree{item(i)}))
		structs = append(structs, v.Interface())
	}
	for i := 0; i < n; i++ {
		slice := reflect.MakeSlice(reflect.SliceOf(reflect.PointerTo(reflect.TypeOf(&ofSlice{}))), 3, 3)
		one := &ofSlice{item(i)}
		slice.Index(1).Set(reflect.ValueOf(&one))
		slices = append(slices, slice.Interface())

		array := reflect.New(reflect.ArrayOf(7, reflect.TypeOf(&ofArray{}))).Elem()
		array.Index(2).Set(reflect.ValueOf(&ofArray{item(i)}))
		channel := reflect.MakeChan(reflect.ChanOf(reflect.BothDir, reflect.TypeOf(&ofChan{})), 2)
		channel.Send(reflect.ValueOf(&ofChan{item(i)}))
		others = append(others, array.Interface(), channel.Interface())
	}
	expect.Dump(1)
	expect.Objects(`map\[string\]main\.Other`, 1)
	expect.Objects(`map\[main\.Key\]\*main\.Other`, 1)
	expect.Objects(`main\.Item`, n)
	expect.Objects(`main\.Other`, n)
	expect.Keys(`main\.Item`, n)
	expect.Objects(`struct \{ Name string; First \*main\.ofStruct; Tree map\[int8\]\*main\.ofTree; Call func\(main\.Key\) bool \}`, n)
	expect.Objects(`main\.ofStruct`, n)
	expect.Objects(`main\.ofTree`, n)
	expect.Objects(`map\[int8\]\*main\.ofTree`, n)
	expect.Objects(`main\.ofSlice`, n)
	expect.Objects(`(\[\]\*\*main\.ofSlice|\[3\]\*\*main\.ofSlice)`, n)
	expect.Objects(`main\.ofArray`, n)
	expect.Objects(`\[7\]\*main\.ofArray`, n)
	expect.Objects(`main\.ofChan`, n)
	expect.Objects(`chan \*main\.ofChan`, n)
	expect.Untyped(0.5)
	expect.Done()
	runtime.KeepAlive(maps)
}
