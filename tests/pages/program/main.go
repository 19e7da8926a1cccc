// A program whose holders keep memory in different ways. It says "ready" and NextGC of runtime.MemStats, and empties its holders one by one, each when it is told so:
// a holder that is empty has given back what it could when the program says "emptied".
//
//	program burst|interleaved|arrays|noscan|sizes|stacks
package main

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
)

type request struct{ id, a, b, c, d, e int }

type record struct {
	text [6]*request
	id   int
}

type cache map[int]*record

// requests have each request twice: neither the map nor the list alone holds it.
type requests struct {
	items map[int]*request
	order []*request
}

var (
	index  = &requests{items: map[int]*request{}} // what is left of a burst: each keeps its span
	first  = cache{}                              // their records come in turn, so that each span has some of both
	second = cache{}
	arrays [][]*request // large objects
	bodies = map[int][]byte{}
	mixed  = map[int]any{} // a few of each size
	done   = make(chan bool)
	other  [][]byte // what stays
)

// burst keeps one request of 160, about one for each span.
func burst() {
	all := make([]*request, 0, 1000000)
	for i := 0; i < cap(all); i++ {
		all = append(all, &request{id: i})
	}
	for i := 0; i < len(all); i += 160 {
		index.items[i] = all[i]
		index.order = append(index.order, all[i])
	}
}

func interleaved() {
	for i := 0; i < 250000; i++ {
		first[i] = &record{id: i}
		second[i] = &record{id: -i}
	}
}

func large() {
	for i := 0; i < 60; i++ {
		array := make([]*request, 60000+i*500)
		for j := range array {
			if j%1000 == 0 {
				array[j] = &request{id: j}
			} else {
				array[j] = array[j-1]
			}
		}
		arrays = append(arrays, array)
	}
}

func noscan() {
	all := make([][]byte, 0, 60000)
	for i := 0; i < cap(all); i++ {
		body := make([]byte, 1000)
		body[0], body[999] = 1, 1
		all = append(all, body)
	}
	for i := 0; i < len(all); i += 12 {
		bodies[i] = all[i]
	}
}

// value returns a value of one of some dozen sizes, half of which have pointers.
func value(i int) any {
	switch i % 12 {
	case 0:
		return new([3]int)
	case 1:
		return new([6]*int)
	case 2:
		return new([11]int)
	case 3:
		return new([20]*int)
	case 4:
		return new([33]int)
	case 5:
		return new([60]*int)
	case 6:
		return new([100]int)
	case 7:
		return new([170]*int)
	case 8:
		return new([300]int)
	case 9:
		return new([500]*int)
	case 10:
		return new([900]int)
	}
	return new([1200]*int)
}

func sizes() {
	all := make([]any, 0, 60000)
	for i := 0; i < cap(all); i++ {
		all = append(all, value(i))
	}
	for i := 0; i < len(all); i += 29 {
		mixed[i] = all[i]
	}
}

//go:noinline
func wait(depth int, started chan bool) int {
	var space [40]int
	space[depth%40] = depth
	if depth > 0 {
		return wait(depth-1, started) + space[depth%40]
	}
	started <- true
	<-done
	return space[0]
}

func stacks() {
	started := make(chan bool)
	for i := 0; i < 2000; i++ {
		go wait(30+i%40, started)
	}
	for i := 0; i < 2000; i++ {
		<-started
	}
}

func settle() {
	for i := 0; i < 3; i++ {
		runtime.GC()
	}
	debug.FreeOSMemory()
}

func main() {
	fill := map[string]func(){"burst": burst, "interleaved": interleaved, "arrays": large, "noscan": noscan, "sizes": sizes, "stacks": stacks}
	empty := map[string]func(){
		"index":  func() { *index = requests{} },
		"first":  func() { first = nil },
		"second": func() { second = nil },
		"arrays": func() { arrays = nil },
		"bodies": func() { bodies = nil },
		"mixed":  func() { mixed = nil },
		"stacks": func() { close(done) },
	}
	for i := 0; i < 6000; i++ {
		other = append(other, make([]byte, 2000))
	}
	fill[os.Args[1]]()
	settle()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	fmt.Println("ready", stats.NextGC)
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		empty[lines.Text()]()
		for runtime.NumGoroutine() > 1 && lines.Text() == "stacks" {
			runtime.Gosched()
		}
		settle()
		fmt.Println("emptied")
	}
	runtime.KeepAlive(other)
}
