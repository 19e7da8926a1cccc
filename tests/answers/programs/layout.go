// What slots have that no value needs, and values that no field has. Malloc headers are there from 1.22 on.
//
//	from 1.22
//	tells ^  rounding 9\d\d kB lost to size-class rounding, in [\d,]+ objects of \d
//	tells ^ +750 kB +50,000 × main\.snug, 33 B in slots of 48 B$
//	tells ^  padding  \d
//	tells ^ +1\.68 MB +80,000 × main\.loose, 21 of 48 B; reordering its fields saves 16 B each, 1\.28 MB: slots of 32 B instead of 48$
//	never main\.tight, \d
//	never main\.fixed, .*reordering
//	is r.waste.rounding.classes.find(row => row.class === 'main.snug').wasted === 50000 * 15
//	is r.waste.rounding.classes.find(row => row.class === 'main.header').headers === 2000 * 8
//	is r.waste.rounding.classes.find(row => row.class === 'main.header').wasted === 2000 * (704 - 8 - 648)
//	is r.waste.padding.classes.find(row => row.class === 'main.loose').saved === 80000 * 16
//	is r.waste.padding.classes.find(row => row.class === 'main.unlucky').saved === 0
//	is r.waste.padding.classes.find(row => row.class === 'main.ending').saved === 5000 * 8
//	is[plain] r.waste.padding.classes.find(row => row.class === '[]main.loose').saved === 3072 - 2048
package main

import (
	"fmt"
	"os"
	"runtime"
)

type snug struct {
	key  [32]byte
	mark bool
}

type tight struct {
	name string
	at   [2]int64
}

type loose struct {
	a  bool
	at *int
	b  bool
	n  int64
	c  bool
	d  int64
}

// unlucky has as much space between its fields as loose, but needs the same slot in any order.
type unlucky struct {
	a  bool
	at *int
	b  bool
	of [7]*int
}

// fixed says where its fields are to be.
type fixed struct {
	a  bool
	_  [15]byte
	at *int
	b  bool
	n  int64
}

// ending has a byte behind its last field, and seven more.
type ending struct {
	at   [3]*int
	done struct{}
}

type header struct {
	next *header
	data [640]byte
}

var (
	aSnug    []*snug
	bTight   []*tight
	cLoose   []*loose
	dUnlucky []*unlucky
	eFixed   []*fixed
	fHeader  []*header
	gArray   []loose
	hEnding  []*ending
)

func fill[T any](count int) []*T {
	all := make([]*T, count)
	for i := range all {
		all[i] = new(T)
	}
	return all
}

func main() {
	aSnug, bTight, cLoose, dUnlucky = fill[snug](50_000), fill[tight](20_000), fill[loose](80_000), fill[unlucky](10_000)
	eFixed, fHeader, gArray, hEnding = fill[fixed](10_000), fill[header](2000), make([]loose, 60), fill[ending](5000)
	runtime.GC()
	fmt.Println("READY")
	os.Stdin.Read(make([]byte, 1))
	runtime.KeepAlive([]any{aSnug, bTight, cLoose, dUnlucky, eFixed, fHeader, gArray, hEnding})
}
