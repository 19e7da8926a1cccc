package main

import "reflect"

type named interface{ Name() string }

type t0 struct{ n int }

func (t0) Name() string { return "" }

var held []interface{}

// makeReflected makes more itabs than the runtime's first table of them has space for: of types that reflect makes, each of which
// has the method of what is embedded in it.
func makeReflected() {
	for i := 0; i < 300; i++ {
		t := reflect.StructOf([]reflect.StructField{
			{Name: "T0", Type: reflect.TypeOf((*named)(nil)).Elem(), Anonymous: true},
			{Name: "F" + number(i), Type: reflect.TypeOf(0)},
		})
		v := reflect.New(t).Elem()
		v.Field(0).Set(reflect.ValueOf(t0{}))
		_ = v.Interface().(named)
		if i%30 == 0 {
			held = append(held, v.Interface())
		}
	}
	held = append(held, reflect.MakeMap(reflect.MapOf(reflect.TypeOf(0), reflect.TypeOf(t0{}))).Interface(),
		reflect.MakeSlice(reflect.SliceOf(reflect.TypeOf(t0{})), 2, 3).Interface(),
		reflect.MakeFunc(reflect.TypeOf(number), func(in []reflect.Value) []reflect.Value { return in }).Interface(), root.array, root.call)
}
