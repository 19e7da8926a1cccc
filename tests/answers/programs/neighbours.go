// Two variables of one type beside each other, of which one has nearly all of the memory: it must be the one that is named. The
// other one comes first, in the order of names as in that of addresses, so that whoever takes the first one is wrong.
//
//	never[plain] held by .*([fF]ew|small)
//	case lists SHAPE=lists
//	says[plain] ^  1 .* of the heap   20,000 main\.item
//	says[plain] ^      held by     main\.listMany$
//	case trees SHAPE=trees
//	says[plain] ^  1 .* main\.leaf
//	says[plain] ^      held by     main\.treeMany
//	case maps SHAPE=maps
//	says[plain] ^  1 .* map\[uint64\]uint64
//	says[plain] ^      held by     main\.mapMany, a map of 200,000 entries$
//	case slices SHAPE=slices
//	says[plain] ^  1 .* of the heap   1 \[\]uint64
//	says[plain] ^      held by     main\.sliceMany, a slice of 1,000,000 entries$
//	case pointers SHAPE=pointers
//	says[plain] ^  1 .* of the heap   20,000 main\.item
//	says[plain] ^      (held by|example)     main\.itemsMany\[\d+\]$
//	case syncmaps SHAPE=syncmaps
//	says[plain] ^      held by     main\.sharedMany, a sync\.Map of 20,000 entries$
//	case locals SHAPE=locals
//	says[plain] ^  1 .* of the heap   20,000 main\.item
//	says[plain] ^      held by     large  \(local of main\.work
//	case fields SHAPE=fields
//	says[plain] ^  1 .* of the heap   20,000 main\.item
//	says[plain] ^      (held by|example)     main\.server\.large\["\d+"\]
//	case structs SHAPE=structs
//	says[plain] ^  1 .* of the heap   20,000 main\.item
//	says[plain] ^      held by     main\.storeMany\.head$
//	case received SHAPE=received
//	says[plain] ^  1 .* of the heap   20,000 main\.item
//	says[plain] ^      (held by|example)     queue\.buf\[\d+\]  \((local|argument) of main\.consume
package main

import (
	"fmt"
	"os"
	"runtime"
	"settle"
	"strconv"
	"sync"
)

type item struct {
	next *item
	body [100]byte
}

type store struct {
	name string
	head *item
}

type leaf struct {
	left, right *leaf
	body        [100]byte
}

func (l *leaf) grow(depth int) *leaf {
	if depth == 0 {
		return nil
	}
	return &leaf{left: l.grow(depth - 1), right: l.grow(depth - 1)}
}

const few, many = 500, 20000

var (
	listFew, listMany     *item
	treeFew, treeMany     *leaf
	mapFew, mapMany       = map[uint64]uint64{}, map[uint64]uint64{}
	sliceFew, sliceMany   []uint64
	itemsFew, itemsMany   []*item
	sharedFew, sharedMany sync.Map
	storeFew, storeMany   store
	server                struct{ small, large map[string]*item }
)

//go:noinline
func work(ready chan bool) *item {
	var small, large *item
	for i := 0; i < many; i++ {
		large = &item{next: large}
		if i < few {
			small = &item{next: small}
		}
	}
	ready <- true
	<-ready
	large.next = small
	return large
}

//go:noinline
func consume(queue chan *item, n int) {
	for i := 0; i < n; i++ {
		queue <- new(item)
	}
	for {
		queue <- new(item) // blocks
	}
}

func main() {
	switch os.Getenv("SHAPE") {
	case "lists":
		for i := 0; i < many; i++ {
			listMany = &item{next: listMany}
			if i < few {
				listFew = &item{next: listFew}
			}
		}
	case "trees":
		treeFew, treeMany = treeFew.grow(8), treeMany.grow(14)
	case "maps":
		for i := uint64(0); i < 10*many; i++ {
			mapMany[i] = i
			if i < few {
				mapFew[i] = i
			}
		}
	case "slices":
		sliceFew, sliceMany = make([]uint64, few), make([]uint64, 50*many)
	case "pointers":
		for i := 0; i < many; i++ {
			itemsMany = append(itemsMany, new(item))
			if i < few {
				itemsFew = append(itemsFew, new(item))
			}
		}
	case "syncmaps":
		for i := 0; i < many; i++ {
			sharedMany.Store(i, new(item))
			if i < few {
				sharedFew.Store(i, new(item))
			}
		}
	case "locals":
		ready := make(chan bool)
		go work(ready)
		<-ready
	case "fields":
		server.small, server.large = map[string]*item{}, map[string]*item{}
		for i := 0; i < many; i++ {
			server.large[strconv.Itoa(i)] = new(item)
			if i < few {
				server.small[strconv.Itoa(i)] = new(item)
			}
		}
	case "structs":
		for i := 0; i < many; i++ {
			storeMany.head = &item{next: storeMany.head}
			if i < few {
				storeFew.head = &item{next: storeFew.head}
			}
		}
	case "received":
		go consume(make(chan *item, few), few)
		go consume(make(chan *item, many), many)
		settle.Settle()
	}
	runtime.GC()
	fmt.Println("READY")
	os.Stdin.Read(make([]byte, 1))
	runtime.KeepAlive([]any{listFew, listMany, treeFew, treeMany, sliceFew, sliceMany, itemsFew, itemsMany})
}
