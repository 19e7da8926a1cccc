// Writes a dump of a heap in which classes contain themselves in many ways.
//
//	recursion FILE.dump
package main

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
)

type (
	list struct {
		next *list
		text string
	}
	node struct {
		id   [3]int
		kids []*node
	}
	// One contains the other, and is contained in it.
	even struct {
		odd *odd
		pad [5]int
	}
	odd struct {
		even *even
		more map[string]*even
	}
	// Below a wrapper there is one more of what contains the wrapper.
	wrapper  struct{ object map[string]any }
	visitor  interface{ visit() int }
	sequence struct{ all []visitor }
	leaf     struct{ data [40]byte }
)

func (s *sequence) visit() int { return len(s.all) }
func (l *leaf) visit() int     { return len(l.data) }

var (
	lists    *list
	trees    []*node
	pairs    *even
	items    = map[string]any{}
	visitors visitor
	shared   *node
)

func tree(depth, width int) *node {
	n := &node{}
	for i := 0; i < width && depth > 0; i++ {
		n.kids = append(n.kids, tree(depth-1, width))
	}
	return n
}

func mutual(depth int) *even {
	if depth == 0 {
		return nil
	}
	e := &even{odd: &odd{even: mutual(depth - 1)}}
	if depth%3 == 0 {
		e.odd.more = map[string]*even{"a": mutual(depth / 3), "b": mutual(2)}
	}
	return e
}

func document(depth int) map[string]any {
	d := map[string]any{"name": strings.Repeat("n", depth+1), "id": depth}
	if depth > 0 {
		d["all"] = []any{document(depth - 1), document(depth - 1), []any{depth, "s"}}
		d["one"] = document(depth - 1)
		d["wrapped"] = &wrapper{document(0)}
	}
	return d
}

func visited(depth int) visitor {
	if depth == 0 {
		return &leaf{}
	}
	return &sequence{[]visitor{visited(depth - 1), &leaf{}, visited(depth - 1)}}
}

func main() {
	for i := 0; i < 3000; i++ {
		lists = &list{lists, fmt.Sprint("text ", i)}
	}
	trees = append(trees, tree(8, 2), tree(4, 5), tree(0, 0))
	shared = trees[0].kids[0].kids[1] // of which the tree alone holds nothing
	pairs = mutual(40)
	for i := 0; i < 40; i++ {
		items[fmt.Sprint("item ", i)] = &wrapper{document(3)}
	}
	visitors = visited(9)
	runtime.GC()
	file, err := os.Create(os.Args[1])
	if err != nil {
		panic(err)
	}
	debug.WriteHeapDump(file.Fd())
	runtime.KeepAlive(shared)
}
