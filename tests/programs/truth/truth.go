// Package truth records what a test program knows of its own heap: which
// objects there are, where, who points to whom. A test looks all of it up in
// the snapshot made from the program's heap dump.
//
// Addresses are kept as numbers, so that the record keeps nothing alive.
package truth

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/ioutil"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"time"
	"unsafe"
)

// word is the size of a pointer.
const word = unsafe.Sizeof(uintptr(0))

// Addr is an address, in JSON a string of hexadecimal digits.
type Addr uintptr

// MarshalJSON implements json.Marshaler.
func (a Addr) MarshalJSON() ([]byte, error) { return []byte(fmt.Sprintf(`"%#x"`, uintptr(a))), nil }

// States of objects.
const (
	Reachable   = "reachable"   // the garbage collector would keep it
	Unreachable = "unreachable" // it would not, but has not run
)

// Object is a heap object.
type Object struct {
	Name     string `json:"name"`
	Addr     Addr   `json:"addr"`      // the program's pointer
	Slot     Addr   `json:"slot"`      // the allocation it points into
	Size     uint64 `json:"size"`      // as requested; 0 is unknown
	SlotSize uint64 `json:"slot_size"` // 0 is unknown
	Pointers bool   `json:"pointers"`
	State    string `json:"state"`
}

// Edge is a pointer in an object. An empty To means there must be no edge.
type Edge struct {
	From   Addr   `json:"from"`
	Offset uint64 `json:"offset"` // from the slot's start
	To     Addr   `json:"to"`
	Type   string `json:"type,omitempty"` // dynamic type, if an interface
	Why    string `json:"why,omitempty"`
}

// Reach says that From leads to To in at most Steps edges.
type Reach struct {
	Name  string `json:"name"`
	From  Addr   `json:"from"`
	To    Addr   `json:"to"`
	Steps int    `json:"steps"`
}

// Global is a word of the data or bss segment.
type Global struct {
	Name string `json:"name"`
	Addr Addr   `json:"addr"`
	To   Addr   `json:"to"`
}

// Goroutine is a goroutine in a known state.
type Goroutine struct {
	ID       uint64   `json:"id"` // 0 is unknown
	States   []string `json:"states"`
	Function string   `json:"function"`
	Frames   []string `json:"frames,omitempty"` // some of them, innermost first
	Depth    int      `json:"depth,omitempty"`  // at least so many frames
	Holds    []Addr   `json:"holds,omitempty"`  // objects that its frames point to
	Leads    []Addr   `json:"leads,omitempty"`  // objects that it leads to in a step or two
}

// Finalizer is a registered or queued finalizer.
type Finalizer struct {
	Object  Addr `json:"object"`
	Closure Addr `json:"closure"` // 0 is unknown or not in the heap
	Queued  bool `json:"queued"`
}

// Pending is what a goroutine's deferred call or panic keeps alive.
type Pending struct {
	Goroutine uint64 `json:"goroutine"`
	Kind      string `json:"kind"` // defer or panic
	Object    Addr   `json:"object"`
}

// Sample is an object that the heap profile has a stack for.
type Sample struct {
	Object    Addr     `json:"object"`
	Functions []string `json:"functions"` // some of them, innermost first
}

// Truth is everything that a program knows.
type Truth struct {
	mu         sync.Mutex
	Program    string       `json:"program"`
	Go         string       `json:"go"`
	GOARCH     string       `json:"goarch"`
	Objects    []*Object    `json:"objects"`
	Edges      []Edge       `json:"edges"`
	Reach      []Reach      `json:"reach"`
	Globals    []Global     `json:"globals"`
	Goroutines []*Goroutine `json:"goroutines"`
	Finalizers []Finalizer  `json:"finalizers"`
	Pending    []Pending    `json:"pending"`
	Samples    []Sample     `json:"samples"`

	// Only of programs that dump twice.
	Survivors []*Object `json:"survivors"`
	New       []*Object `json:"new"`
	Dead      []*Object `json:"dead"`
}

// New starts a record.
func New(program string) *Truth {
	return &Truth{Program: program, Go: runtime.Version(), GOARCH: runtime.GOARCH}
}

var escape unsafe.Pointer

// Describe makes an object known without adding it to a list.
func Describe(name string, p unsafe.Pointer, size uintptr, pointers bool) *Object {
	escape = p // what it points to must not be on a stack
	escape = nil
	o := &Object{Name: name, Addr: Addr(p), Slot: Addr(p), Size: uint64(size), Pointers: pointers, State: Reachable}
	switch {
	case size == 0:
		// A runtime type: the program knows neither size nor class.
	case !pointers && size < 16: // the tiny allocator
		o.Slot &^= 15
		o.SlotSize = 16
	case size > 32<<10: // whole pages
		o.SlotSize = (uint64(size) + 8191) &^ 8191
	case !pointers:
		o.SlotSize = uint64(cap(append([]byte(nil), make([]byte, size)...)))
	default:
		n := cap(append([]unsafe.Pointer(nil), make([]unsafe.Pointer, size/word)...))
		o.Slot -= Addr(header(size))
		o.SlotSize = uint64(uintptr(n)*word + header(size))
	}
	return o
}

// header is the size of what the runtime puts before an object with pointers.
func header(size uintptr) uintptr {
	if minor() >= 22 && size > 8*word*word && size <= 32<<10-8 {
		return 8
	}
	return 0
}

// minor is 22 for Go 1.22. Development versions count as new.
func minor() int {
	parts := strings.FieldsFunc(runtime.Version(), func(r rune) bool { return r < '0' || r > '9' })
	if !strings.HasPrefix(runtime.Version(), "go1.") || len(parts) < 2 {
		return 1 << 20
	}
	n, _ := strconv.Atoi(parts[1])
	return n
}

// Object adds a reachable object of a known size.
func (t *Truth) Object(name string, p unsafe.Pointer, size uintptr, pointers bool) *Object {
	o := Describe(name, p, size, pointers)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.Objects = append(t.Objects, o)
	return o
}

// Garbage adds an object that nothing will point to when the heap is dumped.
func (t *Truth) Garbage(name string, p unsafe.Pointer, size uintptr, pointers bool) *Object {
	o := t.Object(name, p, size, pointers)
	o.State = Unreachable
	return o
}

// Edge says that the word at field, in from, points to or into to.
func (t *Truth) Edge(from *Object, field unsafe.Pointer, to *Object) {
	t.Edges = append(t.Edges, Edge{From: from.Slot, Offset: uint64(Addr(field) - from.Slot), To: to.Slot})
}

// Interface is Edge for the data word of the interface at field.
func (t *Truth) Interface(from *Object, field unsafe.Pointer, to *Object, dynamic string) {
	t.Edges = append(t.Edges, Edge{From: from.Slot, Offset: uint64(Addr(field) + Addr(word) - from.Slot), To: to.Slot, Type: dynamic})
}

// NoEdge says that the word at field is no pointer to an object.
func (t *Truth) NoEdge(from *Object, field unsafe.Pointer, why string) {
	t.Edges = append(t.Edges, Edge{From: from.Slot, Offset: uint64(Addr(field) - from.Slot), Why: why})
}

// Closure adds the closure of the func at p, which has captured one pointer,
// and that pointer's target.
func (t *Truth) Closure(name string, p unsafe.Pointer, captured *Object) *Object {
	o := t.Object(name, Word(p), 2*word, true)
	t.Edges = append(t.Edges, Edge{From: o.Slot, Offset: uint64(word), To: captured.Slot})
	return o
}

// Path says that from leads to to in at most steps edges.
func (t *Truth) Path(name string, from, to *Object, steps int) {
	t.Reach = append(t.Reach, Reach{name, from.Slot, to.Slot, steps})
}

// Global says that a global variable points to or into to.
func (t *Truth) Global(name string, variable unsafe.Pointer, to *Object) {
	t.Globals = append(t.Globals, Global{name, Addr(variable), to.Slot})
}

// Enter records the calling goroutine, which is about to get into one of the
// given states. The outermost function is function.
func (t *Truth) Enter(function string, holds *Object, states ...string) *Goroutine {
	g := &Goroutine{ID: GoroutineID(), States: states, Function: function, Frames: []string{function}}
	if holds != nil {
		g.Holds = []Addr{holds.Slot}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.Goroutines = append(t.Goroutines, g)
	return g
}

// GoroutineID returns the number of the calling goroutine.
func GoroutineID() uint64 {
	line := make([]byte, 64)
	line = bytes.TrimPrefix(line[:runtime.Stack(line, false)], []byte("goroutine "))
	id, err := strconv.ParseUint(string(line[:bytes.IndexByte(line, ' ')]), 10, 64)
	if err != nil {
		panic(err)
	}
	return id
}

// Await waits until n goroutines are recorded and all are in their states.
func (t *Truth) Await(n int) {
	stacks := make([]byte, 1<<20)
	for deadline := time.Now().Add(time.Hour); ; time.Sleep(5 * time.Millisecond) {
		text := string(stacks[:runtime.Stack(stacks, true)])
		t.mu.Lock()
		ready := 0
		for _, g := range t.Goroutines {
			for _, s := range g.States {
				if strings.Contains(text, fmt.Sprintf("goroutine %d [%s]", g.ID, s)) ||
					strings.Contains(text, fmt.Sprintf("goroutine %d [%s, ", g.ID, s)) {
					ready++
					break
				}
			}
		}
		t.mu.Unlock()
		if ready == n {
			return
		}
		if time.Now().After(deadline) {
			fmt.Fprintf(os.Stderr, "%d of %d goroutines are where they should be\n%s", ready, n, text)
			os.Exit(1)
		}
	}
}

// Word reads a pointer at p: the data pointer of a string or slice, the
// header of a map or channel, the closure of a func.
func Word(p unsafe.Pointer) unsafe.Pointer { return *(*unsafe.Pointer)(p) }

// Data reads the data word of the interface at p.
func Data(p unsafe.Pointer) unsafe.Pointer { return Word(unsafe.Pointer(uintptr(p) + word)) }

// Scrub overwrites dead stack memory of the calling goroutine below its frame,
// where a conservative reader would find stale pointers.
//
//go:noinline
func Scrub() byte {
	var zero [32 << 10]byte
	for i := range zero {
		zero[i] = byte(i >> 20)
	}
	return zero[len(os.Args)]
}

// Dir is the directory that the program shall write to.
func Dir() string {
	if len(os.Args) != 2 {
		fmt.Fprintf(os.Stderr, "usage: %s DIR\n", os.Args[0])
		os.Exit(2)
	}
	return os.Args[1]
}

// Create opens a file in Dir.
func Create(name string) *os.File {
	file, err := os.Create(filepath.Join(Dir(), name))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	return file
}

// Dump writes a heap dump to a file that is already open: what a program does
// between its last preparation and the dump should be as little as possible.
func Dump(file *os.File) {
	debug.WriteHeapDump(file.Fd())
	if err := file.Close(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// Write saves the record. It comes after the dump, so as not to disturb it.
func (t *Truth) Write() {
	text, err := json.MarshalIndent(t, "", "\t")
	if err == nil {
		err = ioutil.WriteFile(filepath.Join(Dir(), t.Program+".json"), text, 0o666)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
