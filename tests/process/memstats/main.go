// Prints runtime.MemStats in a line of JSON for each line that it gets, and does nothing in between. Its heap has objects, free
// spans, deep stacks and profile buckets.
package main

import (
	"runtime"
	"runtime/debug"
	"strconv"
	"syscall"
)

var (
	kept  [][]byte
	line  [4096]byte
	input [1]byte
	stats runtime.MemStats
)

func fill(count int) (made [][]byte) {
	for i := 0; i < count; i++ {
		one := make([]byte, 1000+i%5000)
		for at := range one {
			one[at] = 1
		}
		made = append(made, one)
	}
	return
}

func descend(depth int, parked chan bool) {
	var room [200]byte
	if depth > 0 {
		descend(depth-1, parked)
	} else {
		parked <- true
		<-parked
	}
	runtime.KeepAlive(&room)
}

func print() {
	runtime.ReadMemStats(&stats)
	members := []struct {
		name  string
		value uint64
	}{
		{"Sys", stats.Sys}, {"HeapAlloc", stats.HeapAlloc}, {"HeapSys", stats.HeapSys}, {"HeapIdle", stats.HeapIdle},
		{"HeapInuse", stats.HeapInuse}, {"HeapReleased", stats.HeapReleased}, {"StackInuse", stats.StackInuse},
		{"StackSys", stats.StackSys}, {"MSpanSys", stats.MSpanSys}, {"MCacheSys", stats.MCacheSys},
		{"BuckHashSys", stats.BuckHashSys}, {"GCSys", stats.GCSys}, {"OtherSys", stats.OtherSys},
	}
	text := line[:0]
	for i, member := range members {
		text = append(text, "{,"[min(i, 1)], '"')
		text = append(append(text, member.name...), '"', ':')
		text = strconv.AppendUint(text, member.value, 10)
	}
	syscall.Write(1, append(text, '}', '\n'))
}

func min(a, b int) int {
	if a < b {
		return a
	}
	return b
}

func main() {
	debug.SetGCPercent(-1)
	kept = fill(3000)
	fill(20000)
	for i := 0; i < 20; i++ {
		parked := make(chan bool)
		go descend(100, parked)
		<-parked
	}
	runtime.GC()
	runtime.GC()
	for {
		if n, _ := syscall.Read(0, input[:]); n != 1 {
			return
		}
		print()
	}
}
