// Maps fills its heap with maps, as a cache or an in-memory database does: large maps and many small ones, whose keys are
// strings, integers, structs, pointers and interfaces, and whose elements are pointers, values, interfaces and slices. See
// grow for its arguments.
package main

import (
	"fmt"
	"math/rand"
	"strconv"

	"heaps/grow"
)

type point struct{ x, y int32 }

type session struct {
	user   string
	token  []byte
	values map[string]interface{}
	roles  map[string]bool
}

type product struct {
	id     uint64
	name   string
	prices map[string]float64
	stock  map[point]int
	parent *product
}

// table is a table of a database, with indexes of its rows.
type table struct {
	sessions map[string]*session
	products map[uint64]*product
	byName   map[string][]*product
	byPlace  map[point]*product
	owners   map[*product]*session
	any      map[interface{}]interface{}
	counts   map[string]int
	names    map[int64]string
}

var random = rand.New(rand.NewSource(1))

func newSession() *session {
	s := &session{
		user:   "user-" + strconv.Itoa(random.Int()),
		token:  make([]byte, 32),
		values: map[string]interface{}{},
		roles:  map[string]bool{"reader": true},
	}
	for _, name := range []string{"theme", "cart", "seen", "language", "referrer"} {
		switch random.Intn(4) {
		case 0:
			s.values[name] = random.Int()
		case 1:
			s.values[name] = strconv.Itoa(random.Int())
		case 2:
			s.values[name] = []int{random.Int(), random.Int()}
		}
	}
	return s
}

func (t *table) newProduct(id uint64) *product {
	p := &product{
		id:     id,
		name:   fmt.Sprintf("product %d", random.Intn(1<<20)),
		prices: map[string]float64{"EUR": random.Float64(), "USD": random.Float64()},
		parent: t.products[uint64(random.Intn(int(id)+1))],
	}
	if random.Intn(4) == 0 {
		p.stock = map[point]int{}
		for i := random.Intn(12); i > 0; i-- {
			p.stock[point{random.Int31(), random.Int31()}] = i
		}
	}
	return p
}

func newTable(rows int) *table {
	t := &table{
		sessions: map[string]*session{},
		products: map[uint64]*product{},
		byName:   map[string][]*product{},
		byPlace:  map[point]*product{},
		owners:   map[*product]*session{},
		any:      map[interface{}]interface{}{},
		counts:   map[string]int{},
		names:    map[int64]string{},
	}
	for i := 0; i < rows; i++ {
		s := newSession()
		p := t.newProduct(uint64(i))
		t.sessions[s.user] = s
		t.products[p.id] = p
		t.byName[p.name] = append(t.byName[p.name], p)
		t.byPlace[point{int32(i), random.Int31()}] = p
		t.owners[p] = s
		t.counts[p.name]++
		t.names[random.Int63()] = s.user
		switch random.Intn(3) {
		case 0:
			t.any[s.user] = p
		case 1:
			t.any[i] = s.user
		case 2:
			t.any[p] = i
		}
	}
	return t
}

func main() {
	const perRow = 16 // objects, approximately
	grow.Main(func(missing uint64) interface{} { return newTable(int(missing/perRow) + 1) })
}
