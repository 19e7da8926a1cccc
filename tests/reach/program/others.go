package main

import (
	"container/list"
	"context"
	"fmt"
	"reflect"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

func closures() {
	var a [400]*leaf
	fill("captured array", a[:], 1)
	hold(func() *leaf { return a[0] })
	var s outer
	fillInner("captured struct", &s.inner)
	copied := s.inner
	hold(func() string { return copied.name })
	l0, l1, l2, l3 := of("captured"), of("captured"), of("captured"), of("captured")
	f := func() []*leaf { return []*leaf{l0, l1, l2, l3} }
	hold(func() []*leaf { return f() })
	hold((&receiver{p: of("receiver of a method value")}).get)
	hold(receiver{p: of("copied receiver of a method value")}.copied)
}

// receiver is not generic: Go 1.19 may leave a pointer to a stack in a method value of a generic type.
type receiver struct {
	n [200]int
	p *leaf
}

func (r *receiver) get() *leaf   { return r.p }
func (r receiver) copied() *leaf { return r.p }

// reflected has holders of types that only exist while the program runs: up to Go 1.23 large ones have GC programs.
func reflected() {
	leaves := reflect.TypeOf((*leaf)(nil))
	for _, n := range []int{1, 7, 130, 3000, 30000} {
		kind := fmt.Sprint("reflect.ArrayOf ", n)
		holder := reflect.New(reflect.ArrayOf(n, leaves))
		holder.Elem().Index(n - 1).Set(reflect.ValueOf(of(kind)))
		hold(holder.Interface())
		kind = fmt.Sprint("reflect.StructOf ", n)
		typ := reflect.StructOf([]reflect.StructField{
			{Name: "A", Type: reflect.TypeOf(byte(0))},
			{Name: "B", Type: reflect.ArrayOf(n, reflect.TypeOf(early[[1]int]{}))},
			{Name: "C", Type: reflect.ArrayOf(n, reflect.TypeOf(0))},
			{Name: "D", Type: leaves},
		})
		holder = reflect.New(typ)
		holder.Elem().Field(1).Index(n / 2).Set(reflect.ValueOf(early[[1]int]{p: of(kind)}))
		holder.Elem().Field(3).Set(reflect.ValueOf(of(kind)))
		hold(holder.Interface())
		kind = fmt.Sprint("reflect.SliceOf ", n)
		slice := reflect.MakeSlice(reflect.SliceOf(typ), 3, 3)
		slice.Index(2).Field(3).Set(reflect.ValueOf(of(kind)))
		hold(slice.Interface())
		kind = fmt.Sprint("reflect.MapOf ", n)
		m := reflect.MakeMap(reflect.MapOf(reflect.TypeOf(0), typ))
		m.SetMapIndex(reflect.ValueOf(1), slice.Index(2))
		m.SetMapIndex(reflect.ValueOf(2), holder.Elem())
		hold(m.Interface())
		if typ.Size() < 1<<16 {
			c := reflect.MakeChan(reflect.ChanOf(reflect.BothDir, typ), 2)
			element := reflect.New(typ).Elem()
			element.Field(3).Set(reflect.ValueOf(of(fmt.Sprint("reflect.ChanOf ", n))))
			c.Send(element)
			hold(c.Interface())
		}
	}
}

// others has holders of the standard library and of the runtime.
func others() {
	l := list.New()
	l.PushBack(of("list"))
	l.PushBack([200]*leaf{100: of("list, arrays")})
	hold(l)
	var m sync.Map
	m.Store(1, of("sync.Map"))
	m.Store(2, [300]*leaf{200: of("sync.Map, arrays")})
	hold(&m)
	hold(context.WithValue(context.Background(), leaf{}, [300]*leaf{200: of("context")}))
	var v atomic.Value
	v.Store([1000]*leaf{900: of("atomic.Value")})
	hold(&v)
	timed := of("time.AfterFunc")
	large := [500]*leaf{400: of("time.AfterFunc, array")}
	hold(time.AfterFunc(time.Hour, func() { _, _ = timed, large }))
	time.AfterFunc(time.Hour, func() { keeps(timed) }) // only the runtime has this timer
	finalized := &late[[300]int]{p: of("object with a finalizer")}
	runtime.SetFinalizer(finalized, func(*late[[300]int]) {})
	hold(finalized)
}

//go:noinline
func keeps(*leaf) {}
