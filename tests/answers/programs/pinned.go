// Pointers to single elements keep whole arrays: of each list one element is wanted, the others live on with all that they hold.
//
//	case lists SHAPE=lists
//	says ^  1 .* 9\d % of the heap   200 \[\]main\.pod, in map\[string\]\*main\.pod$
//	says ^      pinned by   pointers to 200 of up to 1\d\d,\d{3} elements; nothing refers to the others$
//	says[plain] (held by|example)     main\.stores\["pods"\]\.items\["pod-\d+"\]$
//	says[plain] all in      main\.stores\["pods"\]\.items$
//	tells ^  arrays   \d+\.\d MB in elements that nothing refers to, in 200 arrays of \d+\.\d MB$
//	is r.waste.pinned.wasted > 0.9 * r.waste.pinned.bytes && r.waste.pinned.bytes === r.classes.find(c => c.class === '[]main.pod').bytes
//	is r.suspects[0].pinned.referred === 200 && r.suspects.length === 1
//	case sliced SHAPE=sliced
//	never ^ +pinned by
//	is r.suspects.every(each => !each.pinned && !each.views) && !r.waste.pinned
//	case wanted SHAPE=wanted
//	never ^ +pinned by
//	is r.suspects.every(each => !each.pinned && !each.views) && !r.waste.pinned
//	case channels SHAPE=channels
//	never ^ +pinned by
//	is r.suspects.every(each => !each.pinned && !each.views) && !r.waste.pinned
//	case whole SHAPE=whole
//	never ^ +pinned by
//	is r.suspects.every(each => !each.pinned && !each.views) && !r.waste.pinned
//	case mixed SHAPE=mixed
//	never ^ +pinned by
//	is r.suspects.every(each => !each.pinned && !each.views) && !r.waste.pinned
package main

import (
	"fmt"
	"os"
)

type pod struct {
	name   string
	labels map[string]string
	spec   [16]uint64
}

type store struct {
	items map[string]*pod
	lists [][]pod
}

type keeper struct {
	one *pod
	all *[500]pod
}

var (
	keepers []*keeper
	stores  = map[string]*store{}
	queues  []chan pod
	blocks  []*[500]pod
)

//go:noinline
func list(n int) []pod {
	pods := make([]pod, 500)
	for i := range pods {
		pods[i] = pod{name: fmt.Sprint("pod-", n*500+i), labels: map[string]string{"app": "web"}}
	}
	return pods
}

func main() {
	shape := os.Getenv("SHAPE")
	for _, name := range []string{"pods", "nodes"} {
		stores[name] = &store{items: map[string]*pod{}}
	}
	for n := 0; n < 200 && shape == "channels"; n++ {
		queues = append(queues, make(chan pod, 500))
		for _, one := range list(n) {
			queues[n] <- one
		}
	}
	for n := 0; n < 200 && shape == "whole"; n++ {
		blocks = append(blocks, (*[500]pod)(list(n)))
	}
	for n := 0; n < 200 && shape == "mixed"; n++ { // only the first one is not wanted as a whole
		one := &keeper{one: &list(n)[n]}
		if n > 0 {
			one.all = (*[500]pod)(list(n))
			one.one = &one.all[n]
		}
		keepers = append(keepers, one)
	}
	for n := 0; n < 200 && shape != "channels" && shape != "whole" && shape != "mixed"; n++ {
		pods, to := list(n), stores["pods"]
		if shape == "sliced" {
			to.lists = append(to.lists, pods)
		}
		for i := range pods {
			if i == n%500 || shape == "wanted" {
				to.items[pods[i].name] = &pods[i]
			}
		}
	}
	for n := 0; n < 1000; n++ {
		one := &pod{name: fmt.Sprint("node-", n)}
		stores["nodes"].items[one.name] = one
	}
	fmt.Println("READY")
	os.Stdin.Read(make([]byte, 1))
	fmt.Println(len(stores), len(queues), len(blocks), len(keepers))
}
