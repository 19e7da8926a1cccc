// Two collections that have nothing to do with each other but that their small strings were made by turns, so that each block of 16
// bytes has one of either: they are two suspects. But objects of 16 bytes that two indexes have are no such blocks: these are one.
// A local map with such strings as keys has its own number of entries, not that of the blocks; an example of a long list is near.
//
//	case tiny
//	unwalked of what several variables hold the walk does not tell twins apart
//	is r.suspects.filter(({count, entries}) => count === 20000 || entries === 20000).length === 2
//	is !r.suspects.some(({each}) => /main\.session/.test(JSON.stringify(each)) && /main\.page/.test(JSON.stringify(each)))
//	case points SHAPE=points
//	unwalked of what several variables hold the walk does not tell twins apart
//	is r.suspects[0].count === 20000 && r.suspects[0].container.entries === 20000
//	is r.suspects[0].each.parts.some(part => part.class === 'map[int]*main.point')
//	tells ^  \d .* 20,000 entries, in map\[string\]int$
//	is r.suspects.some(({item, example}) => item === 'main.failure' && /^(main\.failed|the global .*\))\.cause$/.test(example))
package main

import (
	"container/list"
	"fmt"
	"os"
	"strconv"
)

type session struct {
	id   int
	mail string
	data [80]byte
}

type page struct {
	key  string
	body []byte
}

type point struct{ x, y int }

type failure struct {
	cause *failure
	codes [10]int
}

var (
	marks  = map[int]*point{}
	places = map[string]*point{}
	byID   = map[int]*session{}
	byMail = map[string]*session{}
	order  []*session
	recent = list.New()
	index  = map[string]*list.Element{}
	failed *failure
)

//go:noinline
func open(s *session) {
	byID[s.id], byMail[s.mail] = s, s
	order = append(order, s)
}

//go:noinline
func load(p *page) { index[p.key] = recent.PushBack(p) }

//go:noinline
func place(p *point) { marks[p.x], places[fmt.Sprint("the name of the place ", p.x)] = p, p }

func main() {
	counts := make(map[string]int, 20_000)
	for i := 0; i < 20_000; i++ {
		if os.Getenv("SHAPE") == "points" {
			place(&point{i, i})
			counts["k"+strconv.Itoa(i)]++
			failed = &failure{cause: failed}
			continue
		}
		open(&session{id: i, mail: fmt.Sprint("u", i)})
		load(&page{key: fmt.Sprint("k", i), body: make([]byte, 100)})
	}
	fmt.Println("READY")
	os.Stdin.Read(make([]byte, 1))
	fmt.Println(len(counts))
}
