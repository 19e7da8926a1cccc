package main

import (
	"fmt"
	"unsafe"
)

// words returns the memory of a value as words.
func words[T any](holder *T) []*leaf {
	return unsafe.Slice((**leaf)(unsafe.Pointer(holder)), unsafe.Sizeof(*holder)/8)
}

// object holds a new T, whose words from the first one on, each step, are pointers.
func object[T any](kind string, first, step int) {
	holder := new(T)
	fill(kind, words(holder)[first:], step)
	hold(holder)
}

type (
	early[P any] struct { // a pointer, and words without pointers behind it
		p   *leaf
		pad P
	}
	late[P any] struct {
		pad P
		p   *leaf
	}
	table[T any] struct {
		rows [40]row[T]
	}
	row[T any] struct {
		n     int
		cells [10]T
	}
	wrapped[T any] struct{ only T }
	ended[T any]   struct { // ends without pointers
		all  [50]T
		tail [3000]int
	}
)

func arrays() {
	object[[1]*leaf]("array of 1", 0, 1)
	object[[2]*leaf]("array of 2", 0, 1)
	object[[3]*leaf]("array of 3", 0, 1)
	object[[8]*leaf]("array of 8", 0, 1)
	object[[31]*leaf]("array of 31", 0, 1)
	object[[64]*leaf]("array of 64", 0, 1)
	object[[65]*leaf]("array of 65", 0, 1)
	object[[127]*leaf]("array of 127", 0, 1)
	object[[128]*leaf]("array of 128", 0, 1)
	object[[129]*leaf]("array of 129", 0, 1)
	object[[200]*leaf]("array of 200", 0, 1)
	object[[1000]*leaf]("array of 1000", 0, 1)
	object[[4094]*leaf]("array of 4094", 0, 1)
	object[[4095]*leaf]("array of 4095", 0, 1)
	object[[4096]*leaf]("array of 4096", 0, 1)
	object[[16384]*leaf]("array of 16384", 0, 1)
	object[[16385]*leaf]("array of 16385", 0, 1)
	object[[131072]*leaf]("array of 131072", 0, 1)
	object[[50]early[[2]int]]("dense array", 0, 3)
	object[[5000]early[[2]int]]("large dense array", 0, 3)
	object[[3000]late[[6]int]]("large array of late pointers", 6, 7)
	object[[300]late[[99]int]]("sparse array", 99, 100)
	object[[40]early[[3000]byte]]("array of buffers", 0, 376)
	object[[100][20][5]*leaf]("array of arrays of arrays", 0, 1)
	object[[1][1][2000]*leaf]("array of one array", 0, 1)
	object[[30][70]early[[1]int]]("array of arrays of structs", 0, 2)
}

type (
	inner struct {
		name string
		a    [300]*leaf
		m    map[int]*leaf
		n    [7]int16
		any  interface{}
	}
	outer struct {
		none  struct{}
		small [3]byte
		inner
		more [4]inner
		list []*leaf
		f    func() *leaf
		_    [100]int
		last *leaf
		done bool
		end  struct{}
	}
	unsafePointers struct {
		n int
		p [500]unsafe.Pointer
	}
)

func fillInner(kind string, in *inner) {
	in.name = kind
	fill(kind+", array", in.a[:], 1)
	in.m = map[int]*leaf{1: of(kind + ", map")}
	in.any = of(kind + ", interface")
}

func structs() {
	object[late[[200]int]]("struct with one pointer at its end", 200, 1)
	object[late[[20000]int]]("large struct with one pointer at its end", 20000, 1)
	object[early[[20000]int]]("large struct with one pointer at its start", 0, 20001)
	out := &outer{small: [3]byte{1, 2, 3}}
	fillInner("struct in a struct", &out.inner)
	for i := range out.more {
		fillInner("array of structs in a struct", &out.more[i])
	}
	out.list, out.last = []*leaf{of("slice in a struct")}, of("last field")
	captured := of("closure in a struct")
	out.f = func() *leaf { return captured }
	hold(out)
	pointers := &unsafePointers{}
	for i := range pointers.p {
		if i%100 == 7 {
			pointers.p[i] = unsafe.Pointer(of("unsafe.Pointer"))
		}
	}
	hold(pointers)
	hold(interface{}(*out)) // a copy in an interface, with the same leaves
	boxed := wrapped[[700]*leaf]{}
	fill("struct in an interface", boxed.only[:], 1)
	hold(boxed)
	globalArray[500], globalArray[19999] = of("global array"), of("global array")
	fillInner("global struct", &globalStruct.inner)
	globalData.all[1].p, globalData.all[99].p = of("global with a value"), of("global with a value")
}

var (
	globalArray  [20000]*leaf
	globalStruct outer
	globalData   = struct {
		n   int
		all [100]late[[40]int]
	}{n: 1}
)

func generics() {
	object[table[*leaf]]("generic table", 1, 11)
	object[table[early[[3]int]]]("generic table of structs", 1, 41)
	object[wrapped[wrapped[wrapped[[300]*leaf]]]]("generic struct around others", 0, 1)
	object[wrapped[[1]wrapped[[1]table[late[[1]int]]]]]("generic struct around arrays of one", 2, 21)
	object[ended[*leaf]]("generic struct that ends without pointers", 0, 3050)
	object[[20]ended[early[[5]int]]]("generic array of these", 0, 3300)
	object[table[table[*leaf]]]("generic table of tables", 2, 4401)
}

func slices() {
	for _, n := range []int{1, 3, 50, 500, 5000, 50000} {
		list := make([]*leaf, n)
		fill(fmt.Sprint("slice of ", n), list, 1)
		hold(list)
		large := make([][200]*leaf, n/50+1)
		for i := range large {
			if i%100 == 0 {
				large[i][199] = of(fmt.Sprint("slice of arrays of ", n))
			}
		}
		hold(&large)
	}
	var grown []late[[300]int]
	for i := 0; i < 40; i++ {
		grown = append(grown, late[[300]int]{p: of("slice that grew")})
	}
	hold(grown[3:])
	tail := make([]*leaf, 3000)
	tail[0], tail[2999] = of("before a part of a slice"), of("part of a slice")
	hold(tail[2990:])
}

type largeKey struct {
	n [30]int
	p *leaf
}

func maps() {
	for _, n := range []int{1, 8, 9, 200} {
		pointers, keys := map[int]*leaf{}, map[*leaf]int{}
		inline, outside := map[string][15]*leaf{}, map[int][200]*leaf{}
		large, structs := map[largeKey]*leaf{}, map[int]late[[150]int]{}
		interfaces := map[interface{}]interface{}{}
		for i := 0; i < n; i++ {
			kind := fmt.Sprint("map of ", n)
			pointers[i] = of(kind)
			keys[of(kind+", keys")] = i
			inline[fmt.Sprint(i)] = [15]*leaf{3: of(kind + ", arrays")}
			outside[i] = [200]*leaf{150: of(kind + ", large arrays")}
			large[largeKey{n: [30]int{i}, p: of(kind + ", large keys")}] = of(kind + ", large keys")
			structs[i] = late[[150]int]{p: of(kind + ", structs")}
			interfaces[i] = [150]*leaf{149: of(kind + ", interfaces")}
		}
		hold([]interface{}{pointers, keys, inline, outside, large, structs, interfaces})
	}
}

func chans() {
	for _, n := range []int{1, 3, 20} {
		pointers, arrays := make(chan *leaf, n), make(chan [500]*leaf, n)
		structs, slices := make(chan late[[300]int], n), make(chan []*leaf, n)
		for i := 0; i < n; i++ {
			kind := fmt.Sprint("channel of ", n)
			pointers <- of(kind)
			arrays <- [500]*leaf{400: of(kind + ", arrays")}
			structs <- late[[300]int]{p: of(kind + ", structs")}
			slices <- []*leaf{of(kind + ", slices")}
		}
		hold([]interface{}{pointers, arrays, structs, slices, &wrapped[chan [500]*leaf]{arrays}})
	}
}
