// Debug has variables of every kind, global, local, inlined, captured, and blocks in the midst of them. It writes what
// and where they are to truth.json, and dumps itself: debug DIRECTORY.
package main

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/ioutil"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"runtime/debug"
	"settle"
	"sync"
	"time"
	"unsafe"
)

type node struct {
	next  *node
	name  string
	value int64
}

type celsius float64

type pair struct {
	left  *node
	right uintptr // no padding, which has anything in it
}

type mixed struct {
	pair
	*node
	sync.Mutex
	Bytes  []byte
	nested struct {
		deep [2]pair
		_    int32
		last bool
	}
	call func(int) error
}

func (n *node) String() string { return n.name }

// ---- what is known ----

type field struct {
	Name, Type string
	Offset     uintptr
	Embedded   bool
}

type truth struct {
	Where    string // global, local or captured
	Function string
	Name     string
	Type     string // empty: not known
	Kind     string
	Elem     string
	Key      string
	Size     uintptr
	Address  uintptr // of a global, or of the closure that a captured variable is in
	Bytes    string
	Fields   []field
	Empty    bool
}

var (
	lock   sync.Mutex
	truths []truth
)

func name(t reflect.Type) string {
	if t.Kind() == reflect.Ptr && t.Name() == "" {
		return "*" + name(t.Elem())
	}
	if t.Name() != "" && t.PkgPath() != "" {
		return t.PkgPath() + "." + t.Name()
	}
	return t.String()
}

// note takes a pointer to the variable, or to a copy of it.
func note(where, function, variable string, pointer interface{}) *truth {
	v := reflect.ValueOf(pointer).Elem()
	t := v.Type()
	known := truth{Where: where, Function: function, Name: variable, Type: name(t), Kind: t.Kind().String(), Size: t.Size(),
		Address: reflect.ValueOf(pointer).Pointer()}
	switch t.Kind() {
	case reflect.Map:
		known.Key = name(t.Key())
		known.Elem = name(t.Elem())
	case reflect.Array, reflect.Chan, reflect.Ptr, reflect.Slice:
		known.Elem = name(t.Elem())
	case reflect.Interface:
		known.Empty = t.NumMethod() == 0
	case reflect.Struct:
		for i := 0; i < t.NumField(); i++ {
			f := t.Field(i)
			known.Fields = append(known.Fields, field{f.Name, name(f.Type), f.Offset, f.Anonymous})
		}
	}
	memory := make([]byte, t.Size())
	for i := range memory {
		memory[i] = *(*byte)(unsafe.Pointer(known.Address + uintptr(i)))
	}
	known.Bytes = hex.EncodeToString(memory)
	lock.Lock()
	defer lock.Unlock()
	truths = append(truths, known)
	return &truths[len(truths)-1]
}

var (
	arrived = make(chan bool)
	release = make(chan bool)
	kept    []interface{}
)

//go:noinline
func wait() {
	arrived <- true
	<-release
}

//go:noinline
func keep(values ...interface{}) {
	lock.Lock()
	kept = append(kept, values...)
	lock.Unlock()
}

//go:noinline
func newNode(value int64) *node {
	return &node{&node{nil, "next", value + 1}, fmt.Sprint("node ", value), value}
}

// ---- globals ----

var (
	globalBool                 = len(os.Args) > 0
	globalInt                  = 42
	globalInt8    int8         = -8
	globalUint64  uint64       = 1 << 63
	globalFloat   celsius      = 36.6
	globalComplex              = complex(1, 2)
	globalString               = "a string"
	globalBytes                = []byte("bytes")
	globalArray                = [3]*node{newNode(1), nil, newNode(2)}
	globalMap                  = map[string]*node{"one": newNode(3)}
	globalAny     interface{}  = newNode(4)
	globalFace    fmt.Stringer = newNode(5)
	globalError   error        = os.ErrNotExist
	globalChan                 = make(chan *node, 3)
	globalFunc                 = newNode
	globalPointer              = newNode(6)
	globalUnsafe               = unsafe.Pointer(newNode(7))
	globalMixed                = mixed{pair: pair{newNode(8), 9}, Bytes: []byte("x")}
	globalUintptr              = uintptr(0xabcdef)
	globalNamed                = struct{ A, B string }{"a", "b"}
	globalHandler http.Handler = http.NotFoundHandler()
	globalClient               = http.Client{Timeout: time.Second}
)

func globals() {
	note("global", "", "main.globalBool", &globalBool)
	note("global", "", "main.globalInt", &globalInt)
	note("global", "", "main.globalInt8", &globalInt8)
	note("global", "", "main.globalUint64", &globalUint64)
	note("global", "", "main.globalFloat", &globalFloat)
	note("global", "", "main.globalComplex", &globalComplex)
	note("global", "", "main.globalString", &globalString)
	note("global", "", "main.globalBytes", &globalBytes)
	note("global", "", "main.globalArray", &globalArray)
	note("global", "", "main.globalMap", &globalMap)
	note("global", "", "main.globalAny", &globalAny)
	note("global", "", "main.globalFace", &globalFace)
	note("global", "", "main.globalError", &globalError)
	note("global", "", "main.globalChan", &globalChan)
	note("global", "", "main.globalFunc", &globalFunc)
	note("global", "", "main.globalPointer", &globalPointer)
	note("global", "", "main.globalUnsafe", &globalUnsafe)
	note("global", "", "main.globalMixed", &globalMixed)
	note("global", "", "main.globalUintptr", &globalUintptr)
	note("global", "", "main.globalNamed", &globalNamed)
	note("global", "", "main.globalHandler", &globalHandler)
	note("global", "", "main.globalClient", &globalClient)
	note("global", "", "net/http.DefaultServeMux", &http.DefaultServeMux)
	note("global", "", "os.Args", &os.Args)
}

// ---- locals ----

//go:noinline
func parameters(number int64, small uint8, text string, list []uint16, table map[string]int, pointer *node,
	anything interface{}, face fmt.Stringer, function func() int, channel chan int32, two pair, wide celsius,
	raw unsafe.Pointer) {
	const f = "main.parameters"
	note("local", f, "number", &[]int64{number}[0])
	note("local", f, "small", &[]uint8{small}[0])
	note("local", f, "text", &[]string{text}[0])
	note("local", f, "list", &[][]uint16{list}[0])
	note("local", f, "table", &[]map[string]int{table}[0])
	note("local", f, "pointer", &[]*node{pointer}[0])
	note("local", f, "anything", &[]interface{}{anything}[0])
	note("local", f, "face", &[]fmt.Stringer{face}[0])
	note("local", f, "function", &[]func() int{function}[0])
	note("local", f, "channel", &[]chan int32{channel}[0])
	note("local", f, "two", &[]pair{two}[0])
	note("local", f, "wide", &[]celsius{wide}[0])
	note("local", f, "raw", &[]unsafe.Pointer{raw}[0])
	wait()
	keep(number, small, text, list, table, pointer, anything, face, function, channel, two, wide, raw)
}

//go:noinline
func locals(seed int64) {
	const f = "main.locals"
	pointer := newNode(seed)
	text := fmt.Sprint(seed)
	array := [3]*node{pointer, nil, pointer}
	local := mixed{node: pointer, Bytes: []byte(text)}
	escaped := node{name: text}
	keep(&escaped)
	note("local", f, "pointer", &[]*node{pointer}[0])
	note("local", f, "text", &[]string{text}[0])
	note("local", f, "array", &[][3]*node{array}[0])
	note("local", f, "&escaped", &[]*node{&escaped}[0])
	for i := 0; i < 1; i++ {
		inner := newNode(seed + 1)
		note("local", f, "inner", &[]*node{inner}[0])
		wait()
		keep(inner)
	}
	keep(pointer, text, array, local.node, local.Bytes, escaped)
}

func inlined(target *node) *node {
	next := target.next
	wait()
	return next
}

//go:noinline
func outer(target *node) {
	note("local", "main.inlined", "next", &[]*node{target.next}[0])
	note("local", "main.outer", "target", &[]*node{target}[0])
	keep(inlined(target), target)
}

//go:noinline
func (n *node) method(rest ...string) (result *node) {
	const f = "main.(*node).method"
	result = n.next
	note("local", f, "n", &[]*node{n}[0])
	note("local", f, "rest", &[][]string{rest}[0])
	note("local", f, "result", &[]*node{result}[0])
	defer func() { keep(result) }()
	wait()
	keep(n, rest, result)
	return
}

//go:noinline
func closure(seed int64) {
	value, text, counter := newNode(seed), fmt.Sprint("text ", seed), int(seed)
	f := func() {
		wait()
		counter++
		keep(value, text, &counter)
	}
	note("captured", "", "value", &[]*node{value}[0]).Address = *(*uintptr)(unsafe.Pointer(&f))
	note("captured", "", "text", &[]string{text}[0]).Address = *(*uintptr)(unsafe.Pointer(&f))
	note("captured", "", "&counter", &[]*int{&counter}[0]).Address = *(*uintptr)(unsafe.Pointer(&f))
	go f()
	keep(f)
}

var more []func()

func main() {
	globals()
	functions := append(more,
		func() {
			parameters(1<<40, 200, fmt.Sprint("text"), []uint16{1, 2, 3}, map[string]int{"a": 1}, newNode(10), newNode(11), newNode(12),
				func() int { return len(os.Args) }, make(chan int32), pair{newNode(13), 14}, 15.5, unsafe.Pointer(newNode(16)))
		},
		func() { locals(20) },
		func() { outer(newNode(30)) },
		func() { newNode(40).method("one", fmt.Sprint("two")) },
	)
	for _, f := range functions {
		go f()
		<-arrived
	}
	closure(50)
	<-arrived
	settle.Settle()
	text, err := json.Marshal(truths)
	if err == nil {
		err = ioutil.WriteFile(filepath.Join(os.Args[1], "truth.json"), text, 0o666)
	}
	var file *os.File
	if err == nil {
		file, err = os.Create(filepath.Join(os.Args[1], "debug.dump"))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	debug.WriteHeapDump(file.Fd())
}
