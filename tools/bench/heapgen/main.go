// Heapgen fills the heap of its own process with the shapes a server's heap is
// made of and writes it with debug.WriteHeapDump: input for the benchmarks.
//
//	heapgen -n 5000000 -o FILE [-seed N]
//
// The same seed builds the same graph. About 100 bytes, four pointer words and
// two live edges per object; the process needs about 100 bytes of memory per
// object.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"math/rand"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"time"
)

type plan struct {
	name   string
	limits [4]int64
	parent *plan
}

type account struct {
	id       uint64
	name     string
	email    string
	plan     *plan
	owner    *account
	settings map[string]string
	sessions []*session
	friends  []*account
	orders   []*order
	created  time.Time // its *Location points outside the heap
	quota    *int64    // interior: into a block of quotas
}

type session struct {
	next, prev *session // the LRU list runs through the whole heap
	account    *account
	token      string
	values     map[string]interface{}
	onExpire   func(*session) error
	last       time.Time
	err        error
}

type request struct {
	id      uint64
	method  string // a literal: outside the heap
	path    string
	header  map[string][]string
	body    []byte
	ctx     context.Context
	session *session
	done    chan struct{}
	reply   chan *request
}

type treeNode struct {
	key         uint64
	left, right *treeNode
	deleted     *time.Time
	value       interface{}
}

type event struct {
	next   *event
	at     int64
	source *account
	text   string
}

type series struct {
	name    string
	labels  []label
	samples []float64
	total   *int64
}

type label struct{ key, value string }

type document struct {
	root  interface{}
	index map[string]*document
	raw   []byte
	title []byte // interior: a part of raw
	links []*document
	rev   int
}

// order looks like what protoc generates: many pointers, half of them nil.
type order struct {
	state    uint64
	unknown  []byte
	id       string
	buyer    *account
	seller   *account
	items    []*item
	shipping *address
	billing  *address
	coupon   *string
	payment  interface{}
	watchers []*account
	note     *string
	previous *order
	document *document
	tags     []string
	extra    map[string]*item
	total    float64
}

type item struct {
	name    string
	sku     string
	order   *order
	picture []byte
	price   *int64
	options []label
	variant *item
	related []*item
	brand   *string // mostly nil, like the rest
	stock   *int64
	bundle  *item
	refund  *order
}

type address struct {
	lines   [4]string
	country *string
	account *account
}

type wideRow struct { // more than 512 bytes with pointers: has a malloc header since Go 1.22
	cells [40]*int64
	names [20]string
	seq   int64
}

type notFound struct{ what string }

func (e *notFound) Error() string { return e.what + " not found" }

// store is the object that holds the whole heap.
type store struct {
	rng      *rand.Rand
	plans    []*plan
	accounts []*account
	lru      *session
	byToken  [64]map[string]*session
	byKey    *treeNode
	events   *event
	series   []*series
	docs     []*document
	inFlight []*request
	rows     []*wideRow
	orders   []*order
	pages    [][]byte
	quotas   []int64
	serial   uint64
}

var (
	server     *store // a global root, as in many servers
	errExpired = errors.New("expired")
)

func newStore(seed int64) *store {
	s := &store{rng: rand.New(rand.NewSource(seed))}
	for i := range s.byToken {
		s.byToken[i] = make(map[string]*session)
	}
	for i := 0; i < 20; i++ {
		p := &plan{name: "plan-" + strconv.Itoa(i)}
		if i > 0 {
			p.parent = s.plans[s.rng.Intn(i)]
		}
		s.plans = append(s.plans, p)
	}
	return s
}

const letters = "abcdefghijklmnopqrstuvwxyz0123456789-_/"

// text makes a string of min to max bytes; short strings are more frequent.
func (s *store) text(min, max int) string { return string(s.bytes(min, max)) }

func (s *store) bytes(min, max int) []byte {
	n := min + int(float64(max-min)*s.rng.Float64()*math.Sqrt(s.rng.Float64()))
	b := make([]byte, n)
	bits := uint64(0)
	for i := range b {
		if i%8 == 0 {
			bits = s.rng.Uint64()
		}
		b[i] = letters[int(bits&255)%len(letters)]
		bits >>= 8
	}
	return b
}

func (s *store) quota() *int64 {
	if len(s.quotas) == 0 {
		s.quotas = make([]int64, 256)
	}
	q := &s.quotas[0]
	*q = s.rng.Int63()
	s.quotas = s.quotas[1:]
	return q
}

func (s *store) addAccount() *account {
	s.serial++
	a := &account{
		id:      s.serial,
		name:    s.text(6, 40),
		email:   s.text(10, 50),
		plan:    s.plans[s.rng.Intn(len(s.plans))],
		created: time.Now(),
		quota:   s.quota(),
	}
	if n := len(s.accounts); n > 0 && s.rng.Intn(2) == 0 {
		a.owner = s.accounts[s.rng.Intn(n)]
	}
	if s.rng.Intn(8) == 0 {
		a.settings = map[string]string{
			"lang":  "en",
			"theme": s.text(4, 20),
			"zone":  s.text(8, 24),
		}
	}
	if n := len(s.accounts); n > 0 && s.rng.Intn(2) == 0 {
		a.friends = make([]*account, 1+s.rng.Intn(64))
		for i := range a.friends {
			a.friends[i] = s.accounts[s.rng.Intn(n)]
		}
	}
	for i := s.rng.Intn(4); i > 0; i-- {
		a.sessions = append(a.sessions, s.addSession(a))
	}
	s.accounts = append(s.accounts, a)
	s.byKey = s.insert(s.byKey, s.rng.Uint64(), a)
	return a
}

func (s *store) addSession(a *account) *session {
	n := &session{account: a, token: s.text(16, 64), last: time.Now()}
	if s.lru != nil {
		n.next = s.lru
		s.lru.prev = n
	}
	s.lru = n
	s.byToken[s.rng.Intn(len(s.byToken))][n.token] = n
	switch s.rng.Intn(6) {
	case 0:
		n.err = &notFound{n.token}
	case 1:
		n.err = errExpired
	case 2:
		reason := s.text(8, 32)
		n.onExpire = func(x *session) error {
			x.err = &notFound{reason}
			x.account = a
			return x.err
		}
	case 3:
		n.values = map[string]interface{}{
			"cart":  s.json(1),
			"count": s.rng.Intn(1 << 20),
			"ref":   a,
		}
	}
	return n
}

// insert adds a node to an unbalanced tree; random keys make the tree about 2 ln n deep.
func (s *store) insert(root *treeNode, key uint64, value interface{}) *treeNode {
	at := &root
	for *at != nil {
		if key < (*at).key {
			at = &(*at).left
		} else {
			at = &(*at).right
		}
	}
	*at = &treeNode{key: key, value: value}
	return root
}

// json builds a value as encoding/json decodes it from a document.
func (s *store) json(depth int) interface{} {
	if depth <= 0 {
		switch s.rng.Intn(4) {
		case 0:
			return s.rng.Float64()
		case 1:
			return s.rng.Intn(2) == 0
		default:
			return s.text(3, 80)
		}
	}
	if s.rng.Intn(3) == 0 {
		m := make(map[string]interface{})
		for i := 2 + s.rng.Intn(5); i > 0; i-- {
			m[s.text(3, 12)] = s.json(depth - 1)
		}
		return m
	}
	l := make([]interface{}, 1+s.rng.Intn(8))
	for i := range l {
		l[i] = s.json(depth - 1)
	}
	return l
}

func (s *store) addDocument() {
	d := &document{raw: s.bytes(60, 1500), rev: s.rng.Int()}
	d.title = d.raw[8:20]
	if s.rng.Intn(8) == 0 {
		d.root = s.json(2)
	}
	for i := s.rng.Intn(6); i > 0 && len(s.docs) > 0; i-- {
		d.links = append(d.links, s.docs[s.rng.Intn(len(s.docs))])
	}
	if len(d.links) > 3 {
		d.index = make(map[string]*document)
		for _, l := range d.links {
			d.index[string(l.title)] = l
		}
	}
	s.docs = append(s.docs, d)
}

func (s *store) addEvents(a *account) {
	for i := s.rng.Intn(6); i > 0; i-- {
		s.events = &event{s.events, s.rng.Int63(), a, s.text(16, 300)}
	}
}

func (s *store) addSeries() {
	n := &series{name: s.text(12, 40), samples: make([]float64, 8+s.rng.Intn(56)), total: s.quota()}
	for i := 1 + s.rng.Intn(4); i > 0; i-- {
		n.labels = append(n.labels, label{"host", s.text(6, 30)})
	}
	s.series = append(s.series, n)
}

func (s *store) addRequest(n *session) {
	s.serial++
	r := &request{
		id:      s.serial,
		method:  "GET",
		path:    "/" + s.text(4, 80),
		body:    s.bytes(0, 400),
		session: n,
		done:    make(chan struct{}),
	}
	r.header = map[string][]string{
		"Accept": {"text/html", s.text(5, 30)},
		"Cookie": {n.token},
	}
	r.ctx = context.WithValue(context.Background(), s, r)
	if s.rng.Intn(4) == 0 {
		r.reply = make(chan *request, 4)
		for i := 0; i < 3 && len(s.inFlight) > 0; i++ {
			r.reply <- s.inFlight[s.rng.Intn(len(s.inFlight))]
		}
	}
	s.inFlight = append(s.inFlight, r)
}

func (s *store) stringPointer() *string {
	t := s.text(8, 60)
	return &t
}

func (s *store) addOrder(buyer *account) {
	o := &order{
		state:    s.rng.Uint64(),
		id:       s.text(12, 40),
		buyer:    buyer,
		seller:   s.accounts[s.rng.Intn(len(s.accounts))],
		shipping: &address{account: buyer},
		total:    s.rng.Float64(),
	}
	for i := range o.shipping.lines {
		o.shipping.lines[i] = s.text(10, 60)
	}
	o.billing = o.shipping
	if s.rng.Intn(3) == 0 {
		o.note = s.stringPointer()
		o.unknown = s.bytes(20, 300)
		o.document = s.docs[s.rng.Intn(len(s.docs))]
	}
	if s.rng.Intn(2) == 0 {
		o.watchers = make([]*account, 4+s.rng.Intn(28))
		for i := range o.watchers {
			o.watchers[i] = s.accounts[s.rng.Intn(len(s.accounts))]
		}
	}
	o.payment = o.shipping
	if len(buyer.orders) > 0 {
		o.previous = buyer.orders[len(buyer.orders)-1]
	}
	for i := 1 + s.rng.Intn(5); i > 0; i-- {
		it := &item{name: s.text(10, 80), sku: "SKU", order: o}
		if s.rng.Intn(2) == 0 {
			it.picture = s.bytes(30, 900)
			it.price = s.quota()
		}
		if s.rng.Intn(4) == 0 {
			it.options = []label{{"size", "XL"}, {"color", s.text(4, 20)}}
			it.variant = it
		}
		if len(o.items) > 0 {
			it.related = append([]*item(nil), o.items...)
		}
		o.items = append(o.items, it)
	}
	if s.rng.Intn(6) == 0 {
		o.extra = map[string]*item{"gift": o.items[0], s.text(5, 20): o.items[len(o.items)-1]}
	}
	buyer.orders = append(buyer.orders, o)
	s.orders = append(s.orders, o)
}

func (s *store) addRow() {
	r := &wideRow{seq: s.rng.Int63()}
	for i := range r.cells {
		switch s.rng.Intn(4) {
		case 0:
			v := s.rng.Int63()
			r.cells[i] = &v
		case 1:
			r.cells[i] = s.quota()
		}
	}
	for i := range r.names {
		if s.rng.Intn(3) == 0 {
			r.names[i] = s.text(4, 24)
		}
	}
	s.rows = append(s.rows, r)
}

// step adds one customer and the objects that a server keeps for it.
func (s *store) step() {
	a := s.addAccount()
	s.addEvents(a)

	s.addDocument()
	for i := s.rng.Intn(9); i > 0; i-- {
		s.addOrder(s.accounts[s.rng.Intn(len(s.accounts))])
	}
	if s.rng.Intn(2) == 0 {
		s.addSeries()
	}
	if len(a.sessions) > 0 && s.rng.Intn(2) == 0 {
		s.addRequest(a.sessions[0])
	}
	if s.rng.Intn(5) == 0 {
		s.addRow()
	}
	if s.rng.Intn(250) == 0 {
		s.pages = append(s.pages, s.bytes(4<<10, 64<<10))
	}
}

// waste imitates a server between two collections: it leaves about n objects of
// requests that are over, which the dump still shows.
func (s *store) waste(n uint64) {
	for end := heapObjects() + n; heapObjects() < end; {
		for i := 0; i < 100; i++ {
			a := s.accounts[s.rng.Intn(len(s.accounts))]
			s.addRequest(&session{account: a, token: s.text(16, 64), last: time.Now()})
			last := len(s.inFlight) - 1
			s.inFlight[last] = nil
			s.inFlight = s.inFlight[:last]
		}
	}
}

// descend recurses depth times with live pointers in every frame, then waits.
//
//go:noinline
func descend(depth int, s *store, pick *rand.Rand, parked chan<- int, wake <-chan struct{}) int {
	a := s.accounts[pick.Intn(len(s.accounts))]
	scratch := make([]byte, 64)
	sum := 0
	if depth > 0 {
		sum = descend(depth-1, s, pick, parked, wake)
	} else {
		parked <- depth
		<-wake
	}
	scratch[depth%len(scratch)]++
	return sum + len(a.name) + int(scratch[0])
}

func heapObjects() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapObjects
}

func run() error {
	n := flag.Uint64("n", 1000000, "about this many heap `objects`")
	out := flag.String("o", "", "write the dump to this `file`")
	seed := flag.Int64("seed", 1, "seed of the random `number` generator")
	goroutines := flag.Int("goroutines", 200, "`number` of parked goroutines with deep stacks")
	flag.Parse()
	if *out == "" || flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	file, err := os.Create(*out)
	if err != nil {
		return err
	}

	debug.SetGCPercent(50) // halves the peak of a heap that only grows
	start := time.Now()
	server = newStore(*seed)
	for full := false; !full; {
		for heapObjects() < *n {
			for i := 0; i < 50; i++ {
				server.step()
			}
		}
		runtime.GC() // so that the garbage of maps and slices that have grown does not count
		full = heapObjects() >= *n-*n/20
	}
	wake, parked := make(chan struct{}), make(chan int)
	for i := 0; i < *goroutines; i++ {
		pick := rand.New(rand.NewSource(*seed + int64(i)))
		go descend(10+pick.Intn(300), server, pick, parked, wake)
		<-parked
	}
	debug.SetGCPercent(-1)
	server.waste(*n / 25)
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	fmt.Printf("heap: %d objects, %d bytes, %.1f s\n", m.HeapObjects, m.HeapAlloc, time.Since(start).Seconds())

	start = time.Now()
	debug.WriteHeapDump(file.Fd())
	info, err := file.Stat()
	if err == nil {
		err = file.Close()
	}
	if err != nil {
		return err
	}
	fmt.Printf("dump: %d bytes, %.1f s\n", info.Size(), time.Since(start).Seconds())
	close(wake)
	runtime.KeepAlive(server)
	return nil
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "heapgen:", err)
		os.Exit(1)
	}
}
