// Package leaks has every kind of leak that a call can cause, and tests that NoGrowth finds each one and names what holds it.
package leaks

import (
	"container/list"
	"context"
	"fmt"
	"regexp"
	"sync"
	"testing"
	"time"

	"go2heapsnapshot.invalid/heapdump/heaptest"
)

type session struct {
	id   int
	data [200]byte
	tags []string
}

func newSession(id int) *session { return &session{id: id, tags: []string{"a", "b"}} }

var (
	number      int
	sessions    = map[int]*session{}
	queue       []*session
	blocked     = make(chan *session)
	registry    sync.Map
	callbacks   []func() int
	background  context.Context
	neverCalled context.CancelFunc
	history     = list.New()
	newest      *node
	timers      []*time.Timer
	index       = map[string][]byte{}
	lookup      = map[int]int{}
	ids         []int
)

type node struct {
	next  *node
	value session
}

// leaks are the kinds of leaks, each with a pattern of the failure: variables of stripped programs are named by their code.
var leaks = []struct {
	name    string
	call    func()
	say     string
	options []heaptest.Option
}{
	{"map", func() { number++; sessions[number] = newSession(number) },
		`^grows: .* › map\[int\]\*leaks\.session › leaks\.session: \+1\.00 object and [23]\d\d B per call, held by .*\[\d+\]`, nil},
	{"strings", func() { number++; index[time.Duration(number).String()] = make([]byte, 100) },
		`^grows: .* › map\[string\]\[\]uint8 .*per call, held by `, nil},
	{"slice", func() { queue = append(queue, newSession(0)) },
		`^grows: .* › \[\]\*leaks\.session › leaks\.session: \+1\.00 object and [23]\d\d B per call, held by .*\[\d+\]`, nil},
	{"goroutine", func() { go sendSession() },
		`^grows: goroutines \[chan send\] .*sendSession.*: \+1\.00 goroutine and [2-9]\d{3} B per call`, nil},
	{"unreachable", func() { c := make(chan *session); go func() { c <- newSession(0) }() },
		`^grows: goroutines \[chan send\] .*: \+1\.00 goroutine and [2-9]\d{3} B per call, (\d+) of (\d+) can never run again`, nil},
	{"sync.Map", func() { number++; registry.Store(number, newSession(number)) },
		`^grows: .*leaks\.session: \+1\.00 object and [2-9]\d\d B per call, held by `, nil},
	{"timer", func() { s := newSession(0); time.AfterFunc(time.Hour, func() { s.id++ }) },
		`^grows: .*(runtime\.timeTimer|time\.Timer).*: \+1\.0\d objects? and [2-9]\d\d B per call`, nil},
	{"closures", func() { s := newSession(0); callbacks = append(callbacks, func() int { return s.id }) },
		`^grows: .*: \+1\.00 object and [23]\d\d B per call, held by `, nil},
	{"context", func() { _, neverCalled = context.WithCancel(background) },
		`^grows: .*context\.cancelCtx.*: \+1\.00 object and \d+ B per call, held by `, nil},
	{"list", func() { history.PushBack(newSession(0)) },
		`^grows: .*leaks\.session: \+1\.00 object and [2-9]\d\d B per call, held by `, nil},
	{"linked", func() { newest = &node{next: newest} },
		`^grows: .*leaks\.node: \+1\.00 object and [23]\d\d B per call, held by `, nil},
	{"numbers", func() { ids = append(ids, len(ids)) },
		`^grows: leaks › ids › \[\]int: \+(1\.0\d objects? and )?\d+ B per call, held by leaks\.ids\n.* 6 loops of 25 to 800 calls, after 25 `, []heaptest.Option{heaptest.Doubling()}},
	{"map of numbers", func() { number++; lookup[number] = number },
		`^grows: leaks › lookup › .*: \+.*\d\d B per call, held by leaks\.lookup`, []heaptest.Option{heaptest.Doubling()}},
	{"one in ten", func() {
		if number++; number%10 == 0 {
			queue = append(queue, newSession(0))
		}
	}, `^grows: .*leaks\.session: \+0\.10 objects and [23]\d B per call, held by `, []heaptest.Option{heaptest.Calls(50)}},
}

func sendSession() { blocked <- newSession(0) }

func init() { background, neverCalled = context.WithCancel(context.Background()) }

// recorder is a test that NoGrowth may fail.
type recorder struct {
	testing.TB
	failed, skipped string
}

func (r *recorder) Error(args ...interface{}) { r.failed += fmt.Sprint(args...) }
func (r *recorder) Fatalf(format string, args ...interface{}) {
	r.failed += fmt.Sprintf(format, args...)
}
func (r *recorder) Skipf(format string, args ...interface{}) {
	r.skipped += fmt.Sprintf(format, args...)
}

// record returns how NoGrowth ends, and the directory for what it keeps.
func record(t *testing.T, call func(), options ...heaptest.Option) (*recorder, string) {
	r, dir := &recorder{TB: t}, t.TempDir()
	heaptest.NoGrowth(r, call, append(options, heaptest.Keep(dir))...)
	return r, dir
}

func TestLeaks(t *testing.T) {
	for _, leak := range leaks {
		t.Run(leak.name, func(t *testing.T) {
			begun := time.Now()
			r, _ := record(t, leak.call, leak.options...)
			t.Logf("%.2f s: %s", time.Since(begun).Seconds(), r.failed)
			if !regexp.MustCompile(leak.say).MatchString(r.failed) {
				t.Errorf("does not match %s", leak.say)
			}
		})
	}
}
