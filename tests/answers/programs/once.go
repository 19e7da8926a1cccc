// What sync.OnceValue and sync.OnceValues have kept is of types that have a shape in common with others: only the instance of the
// generic function tells which type it is.
//
//	from 1.21
//	case value SHAPE=value
//	says ^  1 .* of the heap   10,000 \[\]uint8, in
//	says[plain] ^      example     main\.bPlan\.\S*\.rows\[\d+\]
//	says[stripped] ^      example     the global \w+ by main\.\S+ \(0x[0-9a-f]+\)\.\S*\.rows\[\d+\]
//	is r.classes.find(each => each.class === 'main.plan').objects === 2
//	is r.classes.find(each => each.class === 'main.route').objects === 1
//	never ^.* main\.sheet
//	never ^.* go\.shape\.
//
//	case values SHAPE=values
//	says ^  1 .* of the heap   10,000 \[\]uint8, in
//	says[plain] ^      (held by|example)     main\.bBoth\.\S*\.legs\[\d+\]
//	says[stripped] ^      (held by|example)     the global \w+ by main\.\S+ \(0x[0-9a-f]+\)\.\S*\.legs\[\d+\]
//	is r.classes.find(each => each.class === 'main.plan').objects === 2
//	is r.classes.find(each => each.class === 'main.route').objects === 2
//	never ^.* main\.sheet
//
//	case map SHAPE=map
//	says ^  1 .* of the heap   2,000 main\.sheet, in .*map\[string\]\*main\.sheet
//	says[plain] ^      (held by|example)     main\.bSheets\.\S*\["sheet\d+"\]
//	says[stripped] ^      (held by|example)     the global \w+ by main\.\S+ \(0x[0-9a-f]+\)\.\S*\["sheet\d+"\]
//	never ^.* go\.shape\.
//
//	case field SHAPE=field
//	says ^  1 .* of the heap   10,000 \[\]uint8, in
//	is r.classes.find(each => each.class === 'main.plan').objects === 2
//	is r.classes.find(each => each.class === 'main.route').objects === 50
//	never ^.* main\.sheet
//
//	case func SHAPE=func
//	says ^  1 .* of the heap   5,000 \[\]uint8, in
//	says[plain] ^      example     main\.bClose\.\S*\.rows\[\d+\]
//	is r.classes.find(each => each.class === 'main.plan').objects === 2
package main

import (
	"fmt"
	"os"
	"runtime"
	"sync"
)

// Three types of one shape.
type plan struct {
	name string
	rows [][]byte
}

type route struct {
	name string
	legs [][]byte
}

type sheet struct {
	name  string
	cells [][]byte
}

func chunks(n int) [][]byte {
	var all [][]byte
	for i := 0; i < n; i++ {
		all = append(all, make([]byte, 1000))
	}
	return all
}

var aPlan = sync.OnceValue(func() *plan { return &plan{"small", chunks(10)} })
var bPlan = sync.OnceValue(func() *plan { return &plan{"large", chunks(10_000)} })
var aRoute = sync.OnceValue(func() *route { return &route{"small", chunks(10)} })

var aBoth = sync.OnceValues(func() (*plan, *route) { return &plan{"a", chunks(10)}, &route{"a", chunks(10)} })
var bBoth = sync.OnceValues(func() (*plan, *route) { return &plan{"b", chunks(10)}, &route{"b", chunks(10_000)} })

func sheets(n int) map[string]*sheet {
	all := map[string]*sheet{}
	for i := 0; i < n; i++ {
		all[fmt.Sprint("sheet", i)] = &sheet{"s", chunks(2)}
	}
	return all
}

var aSheets = sync.OnceValues(func() (map[string]*sheet, error) { return sheets(20), nil })
var bSheets = sync.OnceValues(func() (map[string]*sheet, error) { return sheets(2000), nil })

type server struct {
	route func() *route
	plan  func() *plan
}

var aServers, bServers []*server

// The functions are not in variables, but in objects.
func field() {
	for i := 0; i < 50; i++ {
		bServers = append(bServers, &server{route: sync.OnceValue(func() *route { return &route{"r", chunks(200)} })})
		bServers[i].route()
	}
	for i := 0; i < 2; i++ {
		aServers = append(aServers, &server{plan: sync.OnceValue(func() *plan { return &plan{"p", chunks(10)} })})
		aServers[i].plan()
	}
}

var aClose, bClose func()

// The function keeps what it has captured until it is called.
//
//go:noinline
func closing(p *plan) func() { return sync.OnceFunc(func() { p.rows = nil }) }

func main() {
	switch os.Getenv("SHAPE") {
	case "value":
		aPlan()
		bPlan()
		aRoute()
	case "values":
		aBoth()
		bBoth()
	case "map":
		aSheets()
		bSheets()
	case "field":
		field()
	case "func":
		aClose, bClose = closing(&plan{"a", chunks(10)}), closing(&plan{"b", chunks(5000)})
	}
	runtime.GC()
	fmt.Println("READY")
	os.Stdin.Read(make([]byte, 1))
	runtime.KeepAlive(aServers)
	runtime.KeepAlive(bServers)
}
