// Values of sizes around those where the allocator does something else: 512 bytes (a malloc header from Go 1.22 on), 32 KB
// (a span of its own, no header, its field list goes on to the end of the slot), beginning with and without a pointer.
package main

import (
	"fmt"
	"reflect"
	"runtime"
	"strings"

	"leaks/expect"
)

type leaf struct{ name string }

// Of 8 bytes each, so that sizes come out as they are called.
type (
	pointerFirst504 struct {
		p    *leaf
		rest [62]uint64
	}
	pointerFirst512 struct {
		p    *leaf
		rest [63]uint64
	}
	pointerFirst520 struct {
		p    *leaf
		rest [64]uint64
	}
	pointerFirst32752 struct {
		p    *leaf
		rest [4093]uint64
	}
	pointerFirst32760 struct {
		p    *leaf
		rest [4094]uint64
	}
	pointerFirst32764 struct {
		p    *leaf
		rest [4094]uint64
		more int32
	}
	pointerFirst32768 struct {
		p    *leaf
		rest [4095]uint64
	}
	pointerFirst32776 struct {
		p    *leaf
		rest [4096]uint64
	}
	pointerFirst40000 struct {
		p    *leaf
		rest [4999]uint64
	}
	pointerFirst65528 struct {
		p    *leaf
		rest [8190]uint64
	}
	pointerFirst65536 struct {
		p    *leaf
		rest [8191]uint64
	}
	pointerFirst66000 struct {
		p    *leaf
		rest [8249]uint64
	}
	pointerFirst73728 struct {
		p    *leaf
		rest [9215]uint64
	}

	numberFirst504 struct {
		n    uint64
		p    *leaf
		rest [61]uint64
	}
	numberFirst512 struct {
		n    uint64
		p    *leaf
		rest [62]uint64
	}
	numberFirst520 struct {
		n    uint64
		p    *leaf
		rest [63]uint64
	}
	numberFirst32760 struct {
		n    uint64
		p    *leaf
		rest [4093]uint64
	}
	numberFirst32768 struct {
		n    uint64
		p    *leaf
		rest [4094]uint64
	}
	numberFirst32776 struct {
		n    uint64
		p    *leaf
		rest [4095]uint64
	}
	numberFirst40000 struct {
		n    uint64
		p    *leaf
		rest [4998]uint64
	}
	numberFirst73728 struct {
		n    uint64
		p    *leaf
		rest [9214]uint64
	}
	floatFirst32768 struct {
		n    float64
		p    *leaf
		rest [4094]uint64
	}

	pointerLast32768 struct {
		rest [4095]uint64
		p    *leaf
	}
	pointerLast40000 struct {
		rest [4999]uint64
		p    *leaf
	}
	pointersOnly40000 struct{ p [5000]*leaf }
	manyPointers40000 struct {
		rows [1000]struct {
			name string
			next *leaf
			n, m int
		}
	}

	element struct {
		name string
		next *leaf
		n    int
	} // 32 bytes
	wide struct {
		name string
		next *leaf
		n    [6]int
		f    float64
	} // 80 bytes
	key       struct{ a, b, c, d int }
	inBuckets struct {
		name   string
		number [10]int
		next   *leaf
	}
)

var held struct {
	values []interface{}
	arrays []interface{}
	byKey  map[key]inBuckets
}

// What a value in an interface leads to is known without DWARF too.
type behind struct {
	byName map[string]*leaf
	queue  chan element
}

func newLeaf() *leaf { return &leaf{name: fmt.Sprint("leaf ", len(held.values))} }

func add(value interface{}) { held.values = append(held.values, value) }

func main() {
	l := newLeaf()
	add(&pointerFirst504{p: l})
	add(&pointerFirst512{p: l})
	add(&pointerFirst520{p: l})
	add(&pointerFirst32752{p: l})
	add(&pointerFirst32760{p: l})
	add(&pointerFirst32764{p: l})
	add(&pointerFirst32768{p: l})
	add(&pointerFirst32776{p: l})
	add(&pointerFirst40000{p: l})
	add(&pointerFirst65528{p: l})
	add(&pointerFirst65536{p: l})
	add(&pointerFirst66000{p: l})
	add(&pointerFirst73728{p: l})
	for i, n := range []uint64{0, 1, 4095, 1 << 40, 1 << 63} {
		add(&numberFirst504{p: l, n: n})
		add(&numberFirst512{p: l, n: n})
		add(&numberFirst520{p: l, n: n})
		add(&numberFirst32760{p: l, n: n})
		if n != 1<<40 { // could be the address of a type
			add(&numberFirst32768{p: l, n: n})
		}
		add(&numberFirst32776{p: l, n: n})
		add(&numberFirst40000{p: l, n: n})
		add(&numberFirst73728{p: l, n: n})
		add(&floatFirst32768{p: l, n: float64(i) + .5})
	}
	add(&pointerLast32768{p: l})
	add(&pointerLast40000{p: l})
	add(&pointersOnly40000{})
	add(&manyPointers40000{})
	seen := map[reflect.Type]bool{}
	for _, value := range held.values {
		t := reflect.TypeOf(value).Elem()
		if seen[t] {
			continue
		}
		seen[t] = true
		count := 1
		if strings.HasPrefix(t.Name(), "numberFirst") {
			count = 4
		}
		if strings.HasPrefix(t.Name(), "floatFirst") {
			count = 5
		}
		expect.Objects("main\\."+t.Name(), count)
	}
	for _, n := range []int{1, 15, 16, 17, 1022, 1023, 1024, 1025, 1250, 2048, 2303, 2304, 40000} {
		held.arrays = append(held.arrays, make([]element, n), make([]wide, n), make([]*leaf, n), make([]string, n))
		for _, a := range held.arrays[len(held.arrays)-4:] {
			// What the slices point to is typed though it holds nothing at all.
			v := reflect.ValueOf(a)
			if v.Index(0).Kind() == reflect.Struct {
				v.Index(n - 1).Field(0)
			}
		}
	}
	held.byKey = map[key]inBuckets{}
	b := &behind{byName: map[string]*leaf{}, queue: make(chan element, 3000)}
	add(b)
	for i := 0; i < 30000; i++ {
		held.byKey[key{a: i}] = inBuckets{name: fmt.Sprint(i), next: l}
		b.byName[fmt.Sprint("name ", i)] = &leaf{}
	}
	for i := 0; i < 3000; i++ {
		b.queue <- element{next: l}
	}
	expect.Objects(`\[\]main\.element`, 12)
	expect.Objects(`\[\]main\.wide`, 12)
	expect.Objects(`\[\]\*main\.leaf`, 13)
	expect.Keys(`main\.leaf`, 30000)
	if expect.Release() < 24 {
		expect.Objects(`map\[main\.key\]main\.inBuckets entries`, 1)
		expect.Objects(`map\[string\]\*main\.leaf entries`, 1)
	}
	expect.NoObjects(`ptr\d{3,} \(.*`)
	expect.Untyped(0.5)
	expect.Dump(1)
	expect.Done()
	runtime.KeepAlive(&held)
}
