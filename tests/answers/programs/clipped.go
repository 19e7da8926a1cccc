// What is kept of a buffer is a short part of it, and its capacity ends with it: the buffer is a []byte (or []T) nevertheless, and
// WASTE says who keeps it for so little.
//
//	case middle SHAPE=middle
//	says ^  1 .* 750 main\.header
//	says each .* \[\]uint8 32\.8 kB
//	tells ^  slices   .* outside of what slices use
//	tells ^ +24\.6 MB +750 × main\.header\.trace, which uses 12 B of each 32\.8 kB
//	never noptr\d{5}
//	case large SHAPE=large
//	says each .* \[\]uint8 65\.5 kB
//	never noptr\d{5}
//	case start SHAPE=start
//	says each .* \[\]uint8 32\.8 kB
//	tells ^ +24\.6 MB +750 × main\.header\.trace, which uses 12 B of each 32\.8 kB
//	never noptr\d{5}
//	case clip SHAPE=clip
//	says each .* \[\]uint8 32\.8 kB
//	tells ^ +24\.6 MB +750 × main\.header\.trace, which uses 16 B of each 32\.8 kB
//	never noptr\d{5}
//	case pieces SHAPE=pieces
//	says ^  1 .* 750 \[\]uint8
//	tells ^ +24\.\d MB +750 × main\.header\.trace, which uses 64 B of each 32\.8 kB
//	never noptr\d{5}
//	case wide SHAPE=wide
//	says each .* \[\]main\.sample 32\.8 kB
//	tells ^ +24\.5 MB +750 × main\.series\.last, which uses 48 B of each 32\.8 kB
//	case field SHAPE=field
//	never uses 12 B of each
//	is !r.classes.some(row => row.class == '[]uint8' && row.objects >= 750)
//	case frames SHAPE=frames
//	is r.classes.some(row => row.class == '[]main.frame' && row.objects == 750)
//	never uses 12 B of each
package main

import (
	"fmt"
	"os"
	"runtime"
)

type header struct {
	id    uint64
	trace []byte
}

type sample struct{ at, value, weight uint64 }

type series struct{ last []sample }

// frame has an array that slices lead to: it is no []byte.
type frame struct {
	number uint64
	data   [10000]byte
}

type table struct {
	headers []*header
	series  []*series
	groups  [][]frame
}

var top, bottom = &table{}, &table{}

const buffers = 750

func main() {
	for i := uint64(0); i < buffers; i++ {
		switch os.Getenv("SHAPE") {
		case "middle":
			b := make([]byte, 32768)
			bottom.headers = append(bottom.headers, &header{i, b[100:112:112]})
		case "large": // as long as one of the runtime's structs, which is never in the heap
			b := make([]byte, 65536)
			bottom.headers = append(bottom.headers, &header{i, b[100:112:112]})
		case "start":
			b := make([]byte, 32768)
			bottom.headers = append(bottom.headers, &header{i, b[:12:12]})
		case "clip":
			b := make([]byte, 32768)[:16]
			bottom.headers = append(bottom.headers, &header{i, clip(b)})
		case "wide":
			b := make([]sample, 1365)
			bottom.series = append(bottom.series, &series{b[7:9:9]})
		case "pieces":
			b := make([]byte, 32768)
			bottom.headers = append(bottom.headers, &header{i, b[64:76:76]}, &header{i, b[100:128:128]})
		case "field":
			f := &frame{number: i}
			bottom.headers = append(bottom.headers, &header{i, f.data[100:112:112]})
		case "frames":
			group := make([]frame, 2)
			bottom.groups = append(bottom.groups, group)
			bottom.headers = append(bottom.headers, &header{i, group[1].data[100:112:112]})
		}
		top.headers = append(top.headers, &header{i, make([]byte, 8)})
	}
	runtime.GC()
	fmt.Println("READY")
	fmt.Scanln()
	runtime.KeepAlive(top)
}

// clip is slices.Clip.
func clip(b []byte) []byte { return b[:len(b):len(b)] }
