// Maps of many kinds of keys and values, decoded JSON, channels with waiting goroutines; then dumps itself:
// maps FILE [SHARE], where SHARE is how much of it all, 1 unless given.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"

	"settle"
	"truth/record"
)

type point struct{ X, Y int }

type user struct {
	ID      int               `json:"id"`
	Name    string            `json:"name"`
	Tags    []string          `json:"tags"`
	Attrs   map[string]string `json:"attrs"`
	Friends []*user           `json:"friends"`
	Extra   interface{}       `json:"extra"`
}

type bigKey struct {
	a [20]int64
	s string
}

type bigValue struct {
	data [30]int64
	next *bigValue
	text string
}

type shape interface{ area() float64 }
type square struct{ side float64 }
type circle struct {
	r    float64
	name *string
}

func (s square) area() float64  { return s.side * s.side }
func (c *circle) area() float64 { return 3 * c.r * c.r }

type kind int8

type registry struct {
	byName    map[string]*user
	byID      map[int]*user
	byPoint   map[point][]*user
	byPointer map[*user]string
	byAny     map[interface{}]interface{}
	byArray   map[[2]string]point
	byBig     map[bigKey]bigValue
	byBigText map[bigKey]string
	toBig     map[int]bigValue
	sets      map[string]struct{}
	counts    map[string]int
	bytes     map[byte]bool
	numbers   map[int64]float64
	nested    map[string]map[int]map[string][]int
	funcs     map[string]func(int) int
	shapes    map[kind]shape
	slices    map[string][]byte
	channels  map[string]chan *user
	arrays    map[int32][4]*point
	times     map[string]time.Time
	errors    map[uint16]error
	empty     map[string]*user
	none      map[string]*user
}

var (
	reg       registry
	documents []interface{}
	decoded   []*user
	shared    sync.Map
	typed     sync.Map
	pool      = sync.Pool{New: func() interface{} { return new(strings.Builder) }}
	growing   map[int]string
	wide      map[string]*user
	shrunk    map[string][]int
	waiting   []chan point
)

func text(prefix string, i int) string { return prefix + strconv.Itoa(i) }

func newUser(i int) *user {
	u := &user{ID: i, Name: text("user-", i)}
	for j := 0; j < i%4; j++ {
		u.Tags = append(u.Tags, text("tag", j+i))
	}
	if i%3 == 0 {
		u.Attrs = map[string]string{"color": text("c", i), "size": "large"}
	}
	if i%5 == 0 {
		u.Extra = map[string]interface{}{"n": float64(i), "s": text("extra ", i), "l": []interface{}{1.5, "x", nil, true}}
	} else if i%7 == 0 {
		u.Extra = point{i, i}
	}
	return u
}

func (r *registry) fill(n int) {
	r.byName = map[string]*user{}
	r.byID = make(map[int]*user, n)
	r.byPoint = map[point][]*user{}
	r.byPointer = map[*user]string{}
	r.byAny = map[interface{}]interface{}{}
	r.byArray = map[[2]string]point{}
	r.byBig = map[bigKey]bigValue{}
	r.byBigText = map[bigKey]string{}
	r.toBig = map[int]bigValue{}
	r.sets = map[string]struct{}{}
	r.counts = map[string]int{}
	r.bytes = map[byte]bool{}
	r.numbers = map[int64]float64{}
	r.nested = map[string]map[int]map[string][]int{}
	r.funcs = map[string]func(int) int{}
	r.shapes = map[kind]shape{}
	r.slices = map[string][]byte{}
	r.channels = map[string]chan *user{}
	r.arrays = map[int32][4]*point{}
	r.times = map[string]time.Time{}
	r.errors = map[uint16]error{}
	r.empty = map[string]*user{}
	for i := 0; i < n; i++ {
		u := newUser(i)
		r.byName[u.Name] = u
		r.byID[i] = u
		p := point{i % 100, i / 100}
		r.byPoint[p] = append(r.byPoint[p], u)
		r.byPointer[u] = u.Name
		r.counts[text("count", i)] = i
		r.numbers[int64(i)*7919] = float64(i)
		r.bytes[byte(i)] = true
		if i > 0 {
			u.Friends = append(u.Friends, r.byID[i/2])
		}
		if i%4 == 0 {
			r.byArray[[2]string{text("a", i), text("b", i)}] = point{i, -i}
			r.sets[text("set", i)] = struct{}{}
			r.slices[text("slice", i)] = make([]byte, i%300)
			r.times[text("t", i)] = time.Unix(int64(i), 0)
		}
		if i%8 == 0 {
			switch i / 8 % 6 {
			case 0:
				r.byAny[i+1000] = u
			case 1:
				r.byAny[text("key", i)] = p
			case 2:
				r.byAny[p] = &p
			case 3:
				r.byAny[u] = []int{i}
			case 4:
				r.byAny[float64(i)] = map[string]int{"x": i}
			case 5:
				r.byAny[[2]string{"x", text("", i)}] = func() int { return i }
			}
			j := i
			r.funcs[text("f", i)] = func(x int) int { j++; return x + j }
			r.channels[text("ch", i)] = make(chan *user, i%3)
		}
		if i%16 == 0 {
			r.byBig[bigKey{s: text("big", i)}] = bigValue{text: text("v", i)}
			r.byBigText[bigKey{s: text("big", i)}] = text("w", i)
			r.toBig[i] = bigValue{next: &bigValue{text: text("n", i)}}
			r.arrays[int32(i)] = [4]*point{&p, nil, {i, 0}}
			r.errors[uint16(i)] = fmt.Errorf("error %d: %w", i, os.ErrNotExist)
			outer := map[int]map[string][]int{}
			for k := 0; k < 3; k++ {
				inner := map[string][]int{}
				for l := 0; l < 12; l++ {
					inner[text("in", l)] = []int{k, l}
				}
				outer[k] = inner
			}
			r.nested[text("outer", i)] = outer
		}
	}
	name := "round"
	for i := 0; i < 100; i++ {
		r.shapes[kind(i)] = square{float64(i)}
		if i%2 == 0 {
			r.shapes[kind(i)] = &circle{float64(i), &name}
		}
	}
}

func document(i int) string {
	var b strings.Builder
	fmt.Fprintf(&b, `{"id":%d,"name":"document %d","tags":["a","b%d",null,true,%d.5],"attrs":{`, i, i, i, i)
	for j := 0; j < i%12; j++ {
		if j > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `"key%d":{"value":"%d","list":[%d,{"deep":{"er":"x%d"}}]}`, j, i*j, j, i)
	}
	b.WriteString(`}}`)
	return b.String()
}

func decode(n int) {
	for i := 0; i < n; i++ {
		var d interface{}
		if err := json.Unmarshal([]byte(document(i)), &d); err != nil {
			panic(err)
		}
		documents = append(documents, d)
		u := new(user)
		s := fmt.Sprintf(`{"id":%d,"name":"u%d","tags":["x","y%d"],"attrs":{"k":"v%d"},"friends":[{"name":"f"}],"extra":{"a":[1]}}`, i, i, i, i)
		if err := json.Unmarshal([]byte(s), u); err != nil {
			panic(err)
		}
		decoded = append(decoded, u)
	}
}

// Maps in between: a classic one that is moving its buckets, one with many deletions, one that has shrunk.
func change(n int) {
	growing = map[int]string{}
	for i := 0; i < 13*512+1; i++ {
		growing[i] = text("g", i)
	}
	wide = make(map[string]*user, n)
	for i := 0; i < n/10; i++ {
		wide[text("wide", i)] = newUser(i)
	}
	shrunk = map[string][]int{}
	for i := 0; i < n; i++ {
		shrunk[text("s", i)] = []int{i}
	}
	for i := 0; i < n; i++ {
		if i%50 != 0 {
			delete(shrunk, text("s", i))
		}
	}
}

func share(n int) {
	for i := 0; i < n; i++ {
		shared.Store(text("shared", i), newUser(i))
		typed.Store(i, &point{i, i})
		if i%3 == 0 {
			shared.Load(text("shared", i/2))
		}
		if i%10 == 0 {
			shared.Delete(text("shared", i))
		}
		caches.texts.put(text("c", i), []string{text("x", i)})
		caches.points.put(point{i, i}, newUser(i))
		caches.numbers.put(i, float64(i))
	}
	for i := 0; i < 50; i++ {
		b := new(strings.Builder)
		b.WriteString(text("pooled", i))
		pool.Put(b)
	}
}

func receive(c chan point, local map[string]*user) {
	local["received"] = newUser((<-c).X)
}

func send(c chan point, u *user) {
	c <- point{u.ID, 1}
}

func choose(a chan *user, b chan string, name *string) {
	select {
	case u := <-a:
		*name = u.Name
	case b <- *name:
	}
}

func wait(n int) {
	for i := 0; i < n; i++ {
		c, d := make(chan point), make(chan point)
		waiting = append(waiting, c, d)
		go receive(c, map[string]*user{"mine": newUser(i)})
		go send(d, newUser(i))
		name := text("chooser", i)
		go choose(make(chan *user), make(chan string), &name)
		full := make(chan *user, 2)
		full <- newUser(i)
		full <- newUser(i + 1)
		go func() { full <- newUser(i + 2) }()
	}
	settle.Settle()
}

func main() {
	size := 1.0
	if len(os.Args) > 2 {
		size, _ = strconv.ParseFloat(os.Args[2], 64)
	}
	n := int(size * 10000)
	reg.fill(n)
	decode(n / 2)
	change(n)
	share(n)
	wait(n / 100)
	local := map[point]string{}
	for i := 0; i < 20; i++ {
		local[point{i, 2}] = text("local", i)
	}
	small := map[string]*user{"one": newUser(1), "two": newUser(2)}
	record.Dump(os.Args[1])
	runtime.KeepAlive(local)
	runtime.KeepAlive(small)
}
