// What lies beyond the length of a slice, or before its start, lives on, though the program cannot reach it: "batch = batch[:0]",
// "queue = queue[1:]". The report says so of the suspect, and what it costs in WASTE; indices are those of the program's slice.
//
//	case length SHAPE=length
//	says ^  1 .* 1,500 main\.span
//	says[plain] (held by|example) +main\.right\.batch\[\d+ beyond the length\]
//	says[plain] stale +1,497 of them beyond the length of main\.right\.batch \(length 3\)
//	says[stripped] stale +1,497 of them beyond the length of the global used by main\.main \(0x\w+\)\.f16 \(length 3\)
//	tells ^  stale +15\.\d MB .* in 1,497 objects
//	tells ^ +15\.\d MB +1,497 × main\.exporter\.batch
//	is r.suspects[0].stale.count == 1497 && r.suspects[0].stale.beyond == 1497
//	case start SHAPE=start
//	says ^  1 .* 1,000 main\.span
//	says[plain] (held by|example) +main\.right\.batch\[-\d+ before the start\]
//	says[plain] stale +900 of them before the start of main\.right\.batch
//	says[stripped] stale +900 of them before the start of the global used by main\.main \(0x\w+\)\.f16
//	tells ^  stale +9\.\d* MB .* in 900 objects
//	is r.suspects[0].stale.before == 900
//	case few SHAPE=few
//	ways plain
//	says ^  1 .* 1,000 main\.span
//	says held by +main\.right\.batch, a slice of 980 entries$
//	says stale +20 of them before the start of main\.right\.batch \(length 980\)
//	case cleared SHAPE=cleared
//	says[plain] (held by|example) +main\.right\.batch\[99\]
//	says[stripped] (held by|example) +the global used by main\.main \(0x\w+\)\.f\d+\[99\]
//	never ^ +stale
//	case ring SHAPE=ring
//	never ^ +stale
//	case structs SHAPE=structs
//	says[plain] stale +590 of them beyond the length of main\.pairs\.kept
//	says[stripped] stale +590 of them beyond the length of the global used by main\.main \(0x\w+\)\.f\d+
//	tells ^  stale +6\.\d+ MB
//	tells ^ +6\.\d+ MB +590 × main\.table\.kept
//	case shared SHAPE=shared
//	never ^ +stale
//	case variables SHAPE=variables
//	ways plain
//	says ^  1 .* 1,000 main\.span$
//	says ^ +held by +main\.(first, a slice of 1,000 entries\n +shared by +main\.second|second, a slice of 1,000 entries\n +shared by +main\.first)$
//	case listed SHAPE=listed
//	ways plain
//	says ^  1 .* 1,000 main\.span, in 1,000 × list\.Element$
//	says ^ +held by +main\.(byNumber, a map of 1,000 entries\n +shared by +main\.recent|recent\S*\n +shared by +main\.byNumber)$
//	case pointer SHAPE=pointer
//	never ^ +stale
//	case global SHAPE=global
//	ways plain
//	says stale +500 of them beyond the length of main\.second
//	case local SHAPE=local
//	ways plain
//	says stale +500 of them beyond the length of pending
//	case many SHAPE=many
//	says ^  1 .* 100 main\.exporter
//	says[plain] stale +9\.\d+ MB: 900 objects beyond the length of 100 slices, such as main\.pools\[\d+\]\.batch
//	says[stripped] stale +9\.\d+ MB: 900 objects beyond the length of 100 slices, such as the global set by main\.main \(0x\w+\)\[\d+\]\.batch
//	is r.suspects[0].stale.retained > 9e6 && r.suspects[0].stale.slices == 100
//	case names SHAPE=names
//	says[plain] stale +2,990 of them before the start of main\.right\.batch \(length 10\)
//	is r.waste.stale.objects == 2990 && r.waste.strings.wasted < 10000
package main

import (
	"container/list"
	"fmt"
	"os"
	"runtime"
	"strings"
)

type span struct {
	name string
	body *body
}

type body struct{ bytes [10000]byte }

type exporter struct {
	name  string
	batch []*span
	other []*span
	one   **span
}

type pair struct {
	key   int
	value *body
}

type table struct{ kept, used []pair }

var left, right = &exporter{name: "left"}, &exporter{name: "right"}
var pairs = &table{}
var first, second []*span

var recent, byNumber = list.New(), map[int]*list.Element{}
var pools []*exporter
var registry []any // from which the types are known also if the program is stripped

func spans(n int) []*span {
	list := make([]*span, 0, n)
	for i := 0; i < n; i++ {
		list = append(list, &span{fmt.Sprint("span ", i), &body{}})
	}
	return list
}

func main() {
	registry = append(registry, left, right, pairs)
	left.batch = spans(20)
	switch os.Getenv("SHAPE") {
	case "length":
		right.batch = spans(1500)[:3]
	case "start":
		right.batch = spans(1000)[900:]
	case "few": // a fiftieth: said because the slice has not as many entries as there are objects
		right.batch = spans(1000)[20:]
	case "cleared":
		right.batch = spans(1000)
		for len(right.batch) > 100 {
			right.batch[0] = nil
			right.batch = right.batch[1:]
		}
		right.batch[99].name = string(make([]byte, 300000))
	case "ring":
		right.batch = spans(1000)
	case "structs":
		for i := 0; i < 600; i++ {
			pairs.used = append(pairs.used, pair{i, nil})
			pairs.kept = append(pairs.kept, pair{i, &body{}})
		}
		pairs.kept = pairs.kept[:10]
	case "shared":
		right.batch = spans(1000)
		right.other = right.batch[500:]
		right.batch = right.batch[:500]
	case "variables":
		first = spans(1000)
		second = append(second, first...)
	case "listed":
		for i, one := range spans(1000) {
			byNumber[i] = recent.PushFront(one)
		}
	case "pointer":
		right.batch = spans(1000)[:3]
		right.one = &right.batch[0]
	case "names":
		right.batch = spans(3000)
		for i, span := range right.batch {
			span.name = strings.Repeat("x", 400) + fmt.Sprint(i%3)
		}
		right.batch = right.batch[2990:]
	case "global":
		first, second = spans(10), spans(500)
		second = second[:0]
	case "local":
		wait()
	case "many":
		for i := 0; i < 100; i++ {
			pools = append(pools, &exporter{batch: spans(10)[:1]})
		}
	}
	ready()
	runtime.KeepAlive(left)
}

func ready() {
	runtime.GC()
	fmt.Println("READY")
	fmt.Scanln()
}

// wait has a slice whose three words are in its frame.
//
//go:noinline
func wait() {
	pending := spans(500)
	for i := range os.Args {
		pending = pending[:i]
		ready()
		pending = append(pending, &span{})
	}
	fmt.Println(len(pending), cap(pending))
}
