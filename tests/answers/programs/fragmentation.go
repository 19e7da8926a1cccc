// Spans that few objects are left in: of one kind of sessions every 24th remains, of the other one all do. Garbage does not count as
// full, whether or not it has been collected. From 1.22 on, stripped programs tell these types.
//
//	from 1.22
//	is r.waste.spans.sizes.reduce((sum, row) => sum + row.wasted, 0) === r.waste.spans.wasted && r.waste.spans.wasted === r.waste.spans.bytes - r.waste.spans.live
//	is r.waste.spans.sizes.every(row => row.classes.every(each => each.spans <= row.spans && each.objects <= row.objects))
//	never stays in
//	never settles in
//	case swept
//	tells ^  spans    (9|10)\.\d+ MB free in 1,\d\d\d spans that are less than 25 % full, (9|10)\.\d+ MB of it in spans less than 10 % full$
//	tells ^ +9\.\d+ MB +1,[12]\d\d × spans of slots of 96 B, 4\.\d % full, pinned by 4,167 main\.remains in 1,[12]\d\d
//	case garbage GARBAGE=1
//	tells ^ +9\.\d+ MB +1,[12]\d\d × spans of slots of 96 B, 4\.\d % full, pinned by 4,167 main\.remains in 1,[12]\d\d
//	case large SIZE=large
//	tells ^  spans    1\d\.\d MB free in 2,\d\d\d spans that are less than 25 % full, \d+(\.\d+)? [kM]?B of it in spans less than 10 % full$
//	tells ^ +1\d\.\d MB +2,\d\d\d × spans of slots of 1,152 B, 14\.\d % full, pinned by 2,\d\d\d main\.bulky in 2,\d\d\d
package main

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
)

type remains struct {
	next *remains
	data [80]byte
}

type stays struct {
	next *stays
	data [72]byte
}

type bulky struct {
	next *bulky
	data [1100]byte
}

type settles struct {
	next *settles
	data [1200]byte
}

var (
	aFew   []*remains
	bAll   []*stays
	cBulky []*bulky
	dAll   []*settles
)

func thin[T any](all []*T, every int) []*T {
	few := make([]*T, 0, len(all)/every+1)
	for i := 0; i < len(all); i += every {
		few = append(few, all[i])
	}
	return few
}

func fill[T any](count int) []*T {
	all := make([]*T, 0, count)
	for i := 0; i < count; i++ {
		all = append(all, new(T))
	}
	return all
}

func main() {
	if os.Getenv("GARBAGE") != "" {
		debug.SetGCPercent(-1)
	}
	if os.Getenv("SIZE") == "large" {
		cBulky, dAll = thin(fill[bulky](20_000), 8), fill[settles](2000)
	} else {
		aFew, bAll = thin(fill[remains](100_000), 24), fill[stays](50_000)
	}
	if os.Getenv("GARBAGE") == "" {
		runtime.GC()
	}
	fmt.Println("READY")
	os.Stdin.Read(make([]byte, 1))
	runtime.KeepAlive([]any{aFew, bAll, cBulky, dAll})
}
