// Short slices and substrings keep whole buffers and documents: the first screen says how much is kept, and how little is in use.
// The healthy twin uses all of its buffers; or goroutines do, which will fill them; or another pointer leads to the whole
// buffer: that of an array, of the struct that it is in, or an unsafe.Pointer.
//
//	ways plain
//	case slices SHAPE=slices
//	says ^  1 .* 480 \[\]uint8.*, in \[\]\[\]uint8$
//	says ^      pinned by   slices that use 4\.10 kB of 65\.5 kB each, in 480 arrays$
//	says ^      held by     main\.heads, a slice of 480 entries$
//	case substrings SHAPE=substrings
//	says ^  1 .* 3,000 entries, in \[\]string$
//	says ^      pinned by   300 substrings, which keep 29\.5 MB of documents and use 4\.80 kB$
//	is r.suspects[0].views.count === 300
//	case headers SHAPE=headers
//	says ^  1 .* 480 main\.packet.*, in \[\]\*main\.packet$
//	says ^      pinned by   slices that use 16 B of 65\.5 kB each, in 480 arrays$
//	case used SHAPE=used
//	never pinned by
//	case busy SHAPE=busy
//	says ^  1 .* 480 \[\]uint8.*, in \[\]\[\]uint8$
//	never pinned by
//	is !(r.waste.slices?.wasted > 1e6)
//	case array SHAPE=array
//	says ^  1 .* 480 main\.conn.*, in \[\]\*main\.conn$
//	never pinned by
//	is !(r.waste.slices?.wasted > 1e6)
//	case inside SHAPE=inside
//	says ^  1 .* 480 main\.conn.*, in \[\]\*main\.conn$
//	never pinned by
//	is !(r.waste.slices?.wasted > 1e6)
//	case unsafe SHAPE=unsafe
//	never pinned by
//	is !(r.waste.slices?.wasted > 1e6)
package main

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"
	"unsafe"
)

type packet struct {
	header []byte
	number int
}

type conn struct {
	head    []byte
	array   *[1 << 16]byte
	frame   *frame
	pointer unsafe.Pointer
}

type frame struct {
	number int
	data   [1 << 16]byte
}

var (
	conns        []*conn
	heads, whole [][]byte
	packets      []*packet
	findings     []string
)

var filled = make(chan int)

func fill(buffer []byte) {
	<-filled
	for i := range buffer {
		buffer[i] = 1
	}
}

func main() {
	for i := 0; i < 480; i++ {
		switch os.Getenv("SHAPE") {
		case "slices":
			buffer := make([]byte, 1<<16)
			for j := range buffer {
				buffer[j] = 1
			}
			heads = append(heads, buffer[1000:1000+4096])
		case "headers":
			packets = append(packets, &packet{make([]byte, 1<<16)[:16], i})
		case "used":
			whole = append(whole, make([]byte, 1<<16))
		case "array":
			array := new([1 << 16]byte)
			conns = append(conns, &conn{head: array[:480], array: array})
		case "inside":
			frame := &frame{number: i}
			conns = append(conns, &conn{head: frame.data[:480], frame: frame})
		case "unsafe":
			buffer := make([]byte, 1<<16)
			conns = append(conns, &conn{head: buffer[:480], pointer: unsafe.Pointer(&buffer[0])})
		case "busy":
			buffer := make([]byte, 1<<16)
			heads = append(heads, buffer[:16])
			go fill(buffer)
		}
	}
	for i := 0; i < 3000 && os.Getenv("SHAPE") == "substrings"; i++ {
		finding := ""
		if i%10 == 0 {
			document := strings.Repeat("x", 98304)
			finding = document[90000:90016]
		}
		findings = append(findings, finding)
	}
	time.Sleep(100 * time.Millisecond)
	runtime.GC()
	fmt.Println("READY")
	os.Stdin.Read(make([]byte, 1))
	runtime.KeepAlive([]any{conns, heads, whole, packets, findings})
}
