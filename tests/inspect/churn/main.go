// Churn keeps a table of items and makes garbage, until it is killed. One half of the items stays, the other comes and goes. It
// prints a line when the table is full.
//
//	churn ITEMS
package main

import (
	"fmt"
	"os"
	"strconv"
	"time"
)

type item struct {
	ID   int
	Name string
	Made time.Time
	Next *item
}

type table struct {
	byID map[int]*item
	last *item
}

var items = table{byID: make(map[int]*item)}

// put makes an item of an entry. The number of entries stays, whenever one looks.
func (t *table) put(entry, id int) {
	it := &item{ID: id, Name: fmt.Sprintf("item %d", id), Made: time.Now()}
	t.byID[entry] = it
	t.last = &item{ID: id, Next: it}
}

func main() {
	count, err := strconv.Atoi(os.Args[1])
	if err != nil {
		panic(err)
	}
	for id := 0; id < count; id++ {
		items.put(id, id)
	}
	fmt.Println("full")
	for id := count; ; id++ {
		items.put(count/2+id%(count-count/2), id)
		if id%64 == 0 {
			time.Sleep(time.Millisecond)
		}
	}
}
