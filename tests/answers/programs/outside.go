// Memory that is in no object: top shows it, the heap does not. The head of the report has RSS and its parts, and the first
// suspect says which part is large.
//
//	never Nothing that holds
//	case file SHAPE=file
//	says RSS .*mapped files 3\d\.\d MB \(outside-table\d+ \(deleted\) 3\d\.\d MB\)
//	says ^  1 .*% of RSS +mapped files \(outside-table\d+ \(deleted\) 3\d\.\d MB\), no objects
//	says[plain] pointed to by main\.opened\.data \(33\.6 MB\)
//	points[plain] ^main opened\.data 33\.6 MB outside-table\d+ \(deleted\)$
//	points[stripped] ^main global set by main\.\S+ outside\.go:\d+ \(0x[0-9a-f]+\)\S* 33\.6 MB outside-table\d+ \(deleted\)$
//	is r.suspects[0].part === 'files' && r.process.rss.files.some(file => /outside-table/.test(file.path) && file.bytes > 30e6)
//	never mapper
//	case pointer SHAPE=pointer
//	says ^  1 .*% of RSS +mapped files .* 3\d\.\d MB\), no objects
//	says[plain] pointed to by main\.store\.data \(33\.6 MB\)
//	never pointed to by .*(spare|idle)
//	points[plain] ^main\.store data 33\.6 MB outside-table
//	points[stripped] ^(ptr\d+ f\d+|main\.store data) 33\.6 MB outside-table
//	case global SHAPE=global
//	says RSS .*mapped files 3\d\.\d MB
//	says[plain] pointed to by main\.mapped \(33\.6 MB\)
//	points[plain] ^main mapped 33\.6 MB outside-table
//	never pointed to by .*idle
//	case local SHAPE=local
//	says RSS .*mapped files 3\d\.\d MB
//	says[plain] pointed to by region +\((local of|argument of) main\.hold.*\) \(33\.6 MB\)
//	points[plain] ^main\..* region.* 33\.6 MB outside-table
//	case lost SHAPE=lost
//	says[plain] pointed to by syscall\.mapper\.active \(33\.6 MB\)
//	case entries SHAPE=entries
//	says RSS .*C and other anonymous memory (3|4)\d\.\d MB
//	says[plain] pointed to by main\.regions \(3\d\.\d MB\)
//	points[plain] ^map\[string\]\*\[1048576\]uint8 entries \[#\d+\] 3\d\.\d MB anonymous$
//	case private SHAPE=file
//	options --redact
//	says RSS .*mapped files 3\d\.\d MB
//	never outside-table
//	is !JSON.stringify(r).includes('outside-table')
//	points[plain] ^main opened\.data 33\.6 MB file$
//	case folded SHAPE=file
//	ways stripped
//	options --max-nodes 300
//	points ^main global set by main\.\S+ outside\.go:\d+ \(0x[0-9a-f]+\)\S* 33\.6 MB outside-table\d+ \(deleted\)$
//	case anonymous SHAPE=anonymous
//	says RSS .*C and other anonymous memory (3|4)\d\.\d MB
//	says ^  1 .*% of RSS +C and other anonymous memory, no objects
//	says meaning +malloc
//	says[plain] pointed to by main\.chunks \(3\d\.\d MB\)
//	points[plain] ^\[\]\[\]uint8 \[17\] 3\d\.\d MB anonymous$
//	case stale SHAPE=stale
//	ways plain
//	points ^\[\]\[\]uint8 \[0\] 3\d\.\d MB anonymous$
//	points ^\[\]\[\]uint8 \[-2 before the start\] 3\d\.\d MB anonymous$
//	points ^\[\]\[\]uint8 \[19 beyond the length\] 3\d\.\d MB anonymous$
//	case burst SHAPE=burst GODEBUG=madvdontneed=0
//	says RSS .*free heap [345]\d\.\d MB
//	says ^  1 .*% of RSS +free heap, no objects
//	says meaning +a burst is over.*FreeOSMemory
//	case buckets SHAPE=buckets
//	says RSS .*profile buckets [2-6]\d\.\d MB
//	says ^  1 .*% of RSS +profile buckets, no objects
//	case control SHAPE=control
//	says ^  1 .*% of the heap +6,000 main.page
//	never of RSS
//	is Object.values(r.process.rss.parts).reduce((a, b) => a + b) === r.process.rss.bytes
package main

import (
	"fmt"
	"os"
	"runtime"
	"runtime/pprof"
	"syscall"
	"unsafe"
)

const size = 32 << 20

type table struct{ data []byte }

type store struct {
	name string
	data *[size]byte
}

type page struct{ body [4000]byte }

var (
	unused, opened table
	spare, current *store
	idle, mapped   unsafe.Pointer
	none, regions  map[string]*[1 << 20]byte
	chunks         [][]byte
	recent, pages  []*page
	samples        [64]*[16]byte
	sink           int
)

func mapFile() []byte {
	file, err := os.CreateTemp("", "outside-table")
	if err != nil {
		panic(err)
	}
	defer file.Close()
	defer os.Remove(file.Name())
	file.Truncate(size)
	data, err := syscall.Mmap(int(file.Fd()), 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	if err != nil {
		panic(err)
	}
	touch(data)
	return data
}

//go:noinline
func hold(region *[size]byte, done chan bool) {
	done <- true
	<-done
	region[0]++
}

func touch(data []byte) {
	for i := 0; i < len(data); i += 512 {
		data[i] = 1
	}
}

func mapChunks() {
	for i := 0; i < 32; i++ {
		chunk, err := syscall.Mmap(-1, 0, 1<<20, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
		if err != nil {
			panic(err)
		}
		touch(chunk)
		chunks = append(chunks, chunk)
	}
}

func fill(count int) (made []*page) {
	for i := 0; i < count; i++ {
		one := &page{}
		touch(one.body[:])
		made = append(made, one)
	}
	return
}

//go:noinline
func burst() { sink += len(fill(10000)) }

// Each value of number is a stack of its own.
//
//go:noinline
func left(depth int, number uint) {
	if depth == 0 {
		samples[number%64] = new([16]byte)
	} else if number&1 == 0 {
		left(depth-1, number>>1)
	} else {
		right(depth-1, number>>1)
	}
}

//go:noinline
func right(depth int, number uint) {
	if depth == 0 {
		samples[number%64] = new([16]byte)
	} else if number&1 == 0 {
		left(depth-1, number>>1)
	} else {
		right(depth-1, number>>1)
	}
}

func main() {
	if os.Getenv("SHAPE") == "buckets" {
		runtime.MemProfileRate = 1
		for number := uint(0); number < 100000; number++ {
			left(24, number)
		}
	} else {
		runtime.MemProfileRate = 0
	}
	switch os.Getenv("SHAPE") {
	case "file":
		opened.data = mapFile()
	case "pointer":
		spare, current = &store{name: "spare"}, &store{"current", (*[size]byte)(mapFile())}
	case "global":
		mapped = unsafe.Pointer(&mapFile()[0])
	case "local":
		done := make(chan bool)
		go hold((*[size]byte)(mapFile()), done)
		<-done
	case "lost":
		mapFile()
	case "entries":
		mapChunks()
		regions = map[string]*[1 << 20]byte{}
		for i, chunk := range chunks {
			regions[fmt.Sprint("region ", i)] = (*[1 << 20]byte)(chunk)
		}
		chunks = nil
	case "anonymous":
		mapChunks()
	case "stale":
		mapChunks()
		chunks = chunks[2:10]
	case "burst":
		burst()
	case "control":
		recent, pages = fill(10), fill(6000)
	}
	runtime.GC()
	runtime.GC()
	if pprof.Lookup("none") != nil {
		fmt.Println(unused, recent, spare, current, idle, mapped, none, regions)
	}
	fmt.Println("READY")
	fmt.Scanln()
	runtime.KeepAlive(pages)
}
