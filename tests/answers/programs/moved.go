// What has grown although another variable holds it than before, or objects that are as many as before: of all shapes at least
// half of the growth is named, or said to be in no single place (growth.mjs).
//
//	base
//
//	case listed SHAPE=listed
//	says \+1?\d\d,\d00 main\.entry, now \d\d,\d00, in (39|40) × map\[\[20\]uint8\]\*main\.entry$
//	never Nothing grew
//	is r.suspects[0].item === "main.entry" && r.suspects[0].count_grown === 41500
//
//	case renamed SHAPE=renamed
//	is r.suspects[0].item === "main.entry" && r.suspects[0].count_grown === 41500
//
//	case slots SHAPE=slots
//	says \+0 map\[int\]int, now 40 with 200,000 entries, in 40 × main\.tenant$
//	is r.suspects[0].count_grown === 0 && r.suspects[0].entries === 200000 && r.suspects[0].retained_grown > 1000000
//
//	case buffers SHAPE=buffers
//	is r.suspects[0].item === "[]uint8" && r.suspects[0].count_grown === 0
//
//	case goroutines SHAPE=goroutines
//	says \+150 goroutines \[chan receive\] main\.second
//	never main\.first
//
//	case diffuse SHAPE=diffuse
//	says ^  Nothing grew by much in a single place\.$
//	says ^  \+\d\.\d+ MB of the growth has no single place: \+\S+ kB of main\.d\d
//	is r.suspects.length === 0 && r.grown_elsewhere.classes.length === 3
//
//	case mapped SHAPE=mapped
//	says ^  outside the Go heap grew by \d\d\.\d MB: C and other anonymous memory \+\d\d\.\d MB
//	is r.rss_growth.outside > 40000000
//
//	case scattered SHAPE=scattered
//	says ^  No objects grew by much in a single place\.$
//	says ^  \+\d\.\d+ MB of the growth has no single place: \+\S+ kB of main\.d\d
package main

import (
	"fmt"
	"os"
	"runtime"
	"syscall"
	"time"
)

type entry struct {
	id   int
	text [5]int
}

type tenant struct {
	name    string
	entries map[[20]byte]*entry
	numbers map[int]int
	buffer  []byte
}

type record struct {
	tenant *tenant
	path   string
}

type registry struct{ byName map[string]*tenant }

type gateway struct {
	tenants *registry
	pending []*record
}

var one, other = &gateway{tenants: &registry{map[string]*tenant{}}}, &gateway{}

func name(i int) string { return "tenant-" + string(rune('a'+i)) }

func fill(of *gateway, entries, numbers, bytes int) {
	for i := 0; i < 40; i++ {
		t := of.tenants.byName[name(i)]
		if t == nil {
			t = &tenant{name: name(i), entries: map[[20]byte]*entry{}, numbers: map[int]int{}}
			of.tenants.byName[t.name] = t
		}
		for j := len(t.entries); j < entries || (i == 17 && entries > 500 && j < 2*entries); j++ {
			t.entries[[20]byte{byte(j), byte(j >> 8)}] = &entry{id: j}
		}
		for j := len(t.numbers); j < numbers; j++ {
			t.numbers[j] = j
		}
		if bytes > len(t.buffer) {
			t.buffer = make([]byte, bytes)
		}
	}
}

// list lists the first tenants, so that the gateway dominates these.
func list(count int) {
	one.pending = nil
	for i := 0; i < count; i++ {
		one.pending = append(one.pending, &record{one.tenants.byName[name(i)], "/x"})
	}
}

//go:noinline
func first(stop chan int, of *registry) { <-stop; runtime.KeepAlive(of) }

//go:noinline
func second(stop chan int, of *registry) { <-stop; runtime.KeepAlive(of) }

// serve starts goroutines that each hold a registry.
func serve(count int, f func(chan int, *registry)) chan int {
	stop := make(chan int)
	for i := 0; i < count; i++ {
		g := gateway{tenants: &registry{map[string]*tenant{}}}
		fill(&g, 2, 2, 0)
		go f(stop, g.tenants)
	}
	return stop
}

// mapped takes memory outside of the Go heap.
func mapped() {
	memory, _ := syscall.Mmap(-1, 0, 40<<20, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	for i := 0; i < len(memory); i += 4096 {
		memory[i] = 1
	}
}

func ready() {
	time.Sleep(10 * time.Millisecond)
	runtime.GC()
	fmt.Println("READY")
	os.Stdin.Read(make([]byte, 1))
}

func main() {
	var stop chan int
	shape := os.Getenv("SHAPE")
	switch shape {
	case "listed":
		fill(one, 500, 0, 0)
		list(12)
	case "goroutines":
		stop = serve(50, first)
	case "diffuse", "scattered":
		diffuse(10)
	default:
		fill(one, 500, 500, 1000)
	}
	ready()
	switch shape {
	case "listed":
		fill(one, 1500, 0, 0)
		list(39)
	case "renamed":
		other.tenants, one.tenants = one.tenants, nil
		fill(other, 1500, 0, 0)
	case "slots":
		fill(one, 0, 5000, 0)
	case "mapped":
		mapped()
	case "buffers":
		other.tenants, one.tenants = one.tenants, nil
		fill(other, 0, 0, 50000)
	case "goroutines":
		close(stop)
		time.Sleep(10 * time.Millisecond)
		stop = serve(150, second)
	case "diffuse":
		diffuse(60)
	case "scattered":
		diffuse(60)
		mapped()
	}
	ready()
	runtime.KeepAlive(stop)
	runtime.KeepAlive(one)
	runtime.KeepAlive(other)
}

// Forty classes, each of which grows by little.
type (
	d00 [100]*int
	d01 [101]*int
	d02 [102]*int
	d03 [103]*int
	d04 [104]*int
	d05 [105]*int
	d06 [106]*int
	d07 [107]*int
	d08 [108]*int
	d09 [109]*int
	d10 [110]*int
	d11 [111]*int
	d12 [112]*int
	d13 [113]*int
	d14 [114]*int
	d15 [115]*int
	d16 [116]*int
	d17 [117]*int
	d18 [118]*int
	d19 [119]*int
	d20 [120]*int
	d21 [121]*int
	d22 [122]*int
	d23 [123]*int
	d24 [124]*int
	d25 [125]*int
	d26 [126]*int
	d27 [127]*int
	d28 [128]*int
	d29 [129]*int
	d30 [130]*int
	d31 [131]*int
	d32 [132]*int
	d33 [133]*int
	d34 [134]*int
	d35 [135]*int
	d36 [136]*int
	d37 [137]*int
	d38 [138]*int
	d39 [139]*int
)

var diffused struct {
	d00 []*d00
	d01 []*d01
	d02 []*d02
	d03 []*d03
	d04 []*d04
	d05 []*d05
	d06 []*d06
	d07 []*d07
	d08 []*d08
	d09 []*d09
	d10 []*d10
	d11 []*d11
	d12 []*d12
	d13 []*d13
	d14 []*d14
	d15 []*d15
	d16 []*d16
	d17 []*d17
	d18 []*d18
	d19 []*d19
	d20 []*d20
	d21 []*d21
	d22 []*d22
	d23 []*d23
	d24 []*d24
	d25 []*d25
	d26 []*d26
	d27 []*d27
	d28 []*d28
	d29 []*d29
	d30 []*d30
	d31 []*d31
	d32 []*d32
	d33 []*d33
	d34 []*d34
	d35 []*d35
	d36 []*d36
	d37 []*d37
	d38 []*d38
	d39 []*d39
}

func diffuse(count int) {
	d := &diffused
	for i := 0; i < count; i++ {
		d.d00 = append(d.d00, new(d00))
		d.d01 = append(d.d01, new(d01))
		d.d02 = append(d.d02, new(d02))
		d.d03 = append(d.d03, new(d03))
		d.d04 = append(d.d04, new(d04))
		d.d05 = append(d.d05, new(d05))
		d.d06 = append(d.d06, new(d06))
		d.d07 = append(d.d07, new(d07))
		d.d08 = append(d.d08, new(d08))
		d.d09 = append(d.d09, new(d09))
		d.d10 = append(d.d10, new(d10))
		d.d11 = append(d.d11, new(d11))
		d.d12 = append(d.d12, new(d12))
		d.d13 = append(d.d13, new(d13))
		d.d14 = append(d.d14, new(d14))
		d.d15 = append(d.d15, new(d15))
		d.d16 = append(d.d16, new(d16))
		d.d17 = append(d.d17, new(d17))
		d.d18 = append(d.d18, new(d18))
		d.d19 = append(d.d19, new(d19))
		d.d20 = append(d.d20, new(d20))
		d.d21 = append(d.d21, new(d21))
		d.d22 = append(d.d22, new(d22))
		d.d23 = append(d.d23, new(d23))
		d.d24 = append(d.d24, new(d24))
		d.d25 = append(d.d25, new(d25))
		d.d26 = append(d.d26, new(d26))
		d.d27 = append(d.d27, new(d27))
		d.d28 = append(d.d28, new(d28))
		d.d29 = append(d.d29, new(d29))
		d.d30 = append(d.d30, new(d30))
		d.d31 = append(d.d31, new(d31))
		d.d32 = append(d.d32, new(d32))
		d.d33 = append(d.d33, new(d33))
		d.d34 = append(d.d34, new(d34))
		d.d35 = append(d.d35, new(d35))
		d.d36 = append(d.d36, new(d36))
		d.d37 = append(d.d37, new(d37))
		d.d38 = append(d.d38, new(d38))
		d.d39 = append(d.d39, new(d39))
	}
}
