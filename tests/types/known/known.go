// Package known writes down what a program knows of its own heap: of each object its type, of each pointer the field it
// is in. It walks with reflection from values that the program names, before the dump.
package known

import (
	"encoding/json"
	"fmt"
	"io/ioutil"
	"path/filepath"
	"reflect"
	"runtime"
	"sort"
	"strings"
	"sync"
	"unsafe"
)

// Sources of what is known: what the tool has to start from.
const (
	Any    = "any"    // an interface in a global variable: the type's address is in the dump
	Global = "global" // a global variable that only DWARF has the type of
	Local  = "local"  // a local variable or parameter
)

// Addr is an address, in JSON hexadecimal.
type Addr uintptr

// MarshalJSON implements json.Marshaler.
func (a Addr) MarshalJSON() ([]byte, error) { return []byte(fmt.Sprintf(`"%#x"`, uintptr(a))), nil }

// Object is what starts at an address.
type Object struct {
	Addr    Addr     `json:"addr"`
	Size    uint64   `json:"size"`
	Classes []string `json:"classes"` // each is right
	String  string   `json:"string,omitempty"`
	Kind    string   `json:"kind"`
	Where   string   `json:"where"`
	Source  string   `json:"source"`
	Tiny    bool     `json:"tiny,omitempty"` // may share its slot
	Deep    int      `json:"-"`
}

// Edge is a pointer. From is 0 where the owner is a variable, or only its class is known.
type Edge struct {
	From       Addr   `json:"from"`
	FromClass  string `json:"from_class,omitempty"` // a regular expression
	Field      string `json:"field"`                // of the owner; "" is any name
	To         Addr   `json:"to"`
	Where      string `json:"where"`
	Source     string `json:"source"`
	Global     string `json:"global,omitempty"` // a variable: package.name.field
	Goroutine  uint64 `json:"goroutine,omitempty"`
	Function   string `json:"function,omitempty"`
	Variable   string `json:"variable,omitempty"`
	Parameter  bool   `json:"parameter,omitempty"`
	Closure    bool   `json:"closure,omitempty"` // of a func value: From is the closure
	Unfollowed bool   `json:"-"`
}

// Count says that there are so many objects of a class at least.
type Count struct {
	Class string `json:"class"` // a regular expression
	Min   int    `json:"min"`
	DWARF bool   `json:"dwarf"` // needed for it
}

// Known is everything.
type Known struct {
	mu      sync.Mutex
	Go      string    `json:"go"`
	GOARCH  string    `json:"goarch"`
	Objects []*Object `json:"objects"`
	Edges   []*Edge   `json:"edges"`
	Counts  []Count   `json:"counts"`
	byAddr  map[uintptr]*Object
	visited map[visit]bool
}

type visit struct {
	addr uintptr
	typ  reflect.Type
	n    int
}

// New starts.
func New() *Known {
	return &Known{Go: runtime.Version(), GOARCH: runtime.GOARCH, byAddr: map[uintptr]*Object{}, visited: map[visit]bool{}}
}

// Name is a type's with full import paths.
func Name(t reflect.Type) string {
	if t.Name() != "" {
		if t.PkgPath() == "" {
			return t.String()
		}
		return t.PkgPath() + "." + t.Name()
	}
	switch t.Kind() {
	case reflect.Ptr:
		return "*" + Name(t.Elem())
	case reflect.Slice:
		return "[]" + Name(t.Elem())
	case reflect.Array:
		return fmt.Sprintf("[%d]%s", t.Len(), Name(t.Elem()))
	case reflect.Map:
		return "map[" + Name(t.Key()) + "]" + Name(t.Elem())
	case reflect.Chan:
		switch t.ChanDir() {
		case reflect.RecvDir:
			return "<-chan " + Name(t.Elem())
		case reflect.SendDir:
			return "chan<- " + Name(t.Elem())
		}
		return "chan " + Name(t.Elem())
	}
	return t.String()
}

func hasPointers(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Bool, reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Uint, reflect.Uint8,
		reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr, reflect.Float32, reflect.Float64, reflect.Complex64,
		reflect.Complex128:
		return false
	case reflect.Array:
		return t.Len() > 0 && hasPointers(t.Elem())
	case reflect.Struct:
		for i := 0; i < t.NumField(); i++ {
			if hasPointers(t.Field(i).Type) {
				return true
			}
		}
		return false
	}
	return true
}

// object notes one; of several at one address (an array, its first element) the largest is it.
func (k *Known) object(addr uintptr, size uintptr, kind, where, source string, pointers bool, classes ...string) {
	if addr == 0 || size == 0 {
		return
	}
	o := k.byAddr[addr]
	if o == nil {
		o = &Object{Addr: Addr(addr), Kind: kind, Where: where, Source: source}
		k.byAddr[addr] = o
		k.Objects = append(k.Objects, o)
	}
	if source == Any {
		o.Source = Any
	}
	if uint64(size) < o.Size {
		return
	}
	if uint64(size) > o.Size {
		o.Classes, o.Kind, o.Where = nil, kind, where
	}
	o.Size = uint64(size)
	o.Tiny = !pointers && size < 16
	o.Classes = append(o.Classes, classes...)
}

// Owner says whose pointers a walk is at.
type owner struct {
	base   uintptr // 0: no object
	class  string
	edge   Edge // of a variable
	source string
	where  string
}

func (k *Known) edge(o owner, field string, to uintptr) {
	if to == 0 {
		return
	}
	e := o.edge
	e.From, e.FromClass, e.To, e.Source = Addr(o.base), o.class, Addr(to), o.source
	e.Where = join(o.where, field)
	if e.Variable != "" || e.Global != "" {
		if e.Variable != "" {
			e.Variable = join(e.Variable, field)
		} else {
			e.Global = join(e.Global, field)
		}
	} else {
		e.Field = field
	}
	k.Edges = append(k.Edges, &e)
}

func join(a, b string) string {
	if a == "" || b == "" || b[0] == '[' {
		return a + b
	}
	return a + "." + b
}

var word = unsafe.Sizeof(uintptr(0))

func load(addr uintptr) uintptr { return *(*uintptr)(unsafe.Pointer(addr)) }

func (o owner) in(base uintptr, where string) owner {
	return owner{base: base, source: o.source, where: where}
}

// value walks the value of a type at an address, which belongs to an owner as field.
//
//go:nocheckptr
func (k *Known) value(t reflect.Type, addr uintptr, o owner, field string) {
	where := join(o.where, field)
	if strings.HasPrefix(Name(t), "sync/atomic.Pointer[") {
		for i := 0; i < t.NumField(); i++ {
			if f := t.Field(i); f.Name == "v" {
				k.pointer(t.Field(0).Type.Elem().Elem(), load(addr+f.Offset), o, field, where)
			}
		}
		return
	}
	switch Name(t) {
	case "sync.Map":
		m := (*sync.Map)(unsafe.Pointer(addr))
		m.Range(func(key, value interface{}) bool {
			k.inMap(reflect.ValueOf(key), owner{source: o.source, where: where})
			k.inMap(reflect.ValueOf(value), owner{source: o.source, where: where})
			return true
		})
		return
	case "reflect.Value":
		if v := *(*reflect.Value)(unsafe.Pointer(addr)); v.CanAddr() {
			k.pointer(v.Type(), v.UnsafeAddr(), o, join(field, "ptr"), where)
		} else if v.Kind() == reflect.Ptr {
			k.pointer(v.Type().Elem(), v.Pointer(), o, join(field, "ptr"), where)
		}
		return
	case "sync.Pool", "reflect.rtype", "internal/abi.Type", "runtime.Frames":
		return
	}
	switch t.Kind() {
	case reflect.Struct:
		for i := 0; i < t.NumField(); i++ {
			f := t.Field(i)
			name := f.Name
			if t.PkgPath() == "unique" && strings.HasPrefix(t.Name(), "Handle[") {
				name = "Value()"
			}
			k.value(f.Type, addr+f.Offset, o, join(field, name))
		}
	case reflect.Array:
		for i := 0; i < t.Len() && i < 64; i++ {
			k.value(t.Elem(), addr+uintptr(i)*t.Elem().Size(), o, fmt.Sprintf("%s[%d]", field, i))
		}
	case reflect.Ptr:
		k.pointer(t.Elem(), load(addr), o, field, where)
	case reflect.String:
		s := *(*string)(unsafe.Pointer(addr))
		k.text(s, o, field, where)
	case reflect.Slice:
		data, n := load(addr), int(load(addr+2*word))
		if n == 0 {
			return
		}
		k.edge(o, field, data)
		k.array(t.Elem(), data, n, part{0, int(load(addr + word))}, o, where)
	case reflect.Interface:
		k.dynamic(t, addr, o, field, where)
	case reflect.Map:
		k.edge(o, field, load(addr))
		k.mapping(reflect.NewAt(t, unsafe.Pointer(addr)).Elem(), load(addr), o, where)
	case reflect.Chan:
		k.edge(o, field, load(addr))
		k.channel(t, load(addr), o, where)
	case reflect.Func:
		k.closure(load(addr), o, field, where)
	}
}

func (k *Known) text(s string, o owner, field, where string) {
	if len(s) == 0 {
		return
	}
	data := *(*uintptr)(unsafe.Pointer(&s))
	k.edge(o, field, data)
	k.object(data, uintptr(len(s)), "string", where, o.source, false, "(string)")
	if found := k.byAddr[data]; found.Kind == "string" && len(s) >= len(found.String) {
		if len(s) > 80 {
			s = s[:80]
		}
		found.String = strings.ToValidUTF8(s, "\uFFFD")
	}
}

func (k *Known) pointer(t reflect.Type, to uintptr, o owner, field, where string) {
	if to == 0 {
		return
	}
	k.edge(o, field, to)
	k.target(t, to, o, where)
}

// target is one value of a type, in an object of its own unless something larger is known to be there.
func (k *Known) target(t reflect.Type, to uintptr, o owner, where string) {
	if to == 0 || k.visited[visit{to, t, 1}] {
		return
	}
	k.visited[visit{to, t, 1}] = true
	classes := []string{Name(t)}
	if t.Kind() == reflect.Array {
		classes = append(classes, "[]"+Name(t.Elem()))
	}
	switch Name(t) {
	case "time.Timer", "time.Ticker":
		// The runtime's own is larger, with the same beginning.
		classes = append(classes, "runtime.timeTimer")
	case "runtime.timeTimer":
		classes = append(classes, "time.Timer", "time.Ticker")
	}
	k.object(to, t.Size(), "value", where, o.source, hasPointers(t), classes...)
	k.value(t, to, o.in(to, where), "")
}

// part is the elements of an array that slices use.
type part struct{ begin, length int }

// element returns the name of an array's element: its index in the slice, or that no slice uses it.
func (p part) element(i int) string {
	switch {
	case i < p.begin:
		return fmt.Sprintf("[-%d before the start]", p.begin-i)
	case i >= p.begin+p.length:
		return fmt.Sprintf("[%d beyond the length]", i-p.begin)
	}
	return fmt.Sprintf("[%d]", i-p.begin)
}

func (k *Known) array(t reflect.Type, data uintptr, n int, used part, o owner, where string) {
	if data == 0 || k.visited[visit{data, t, n}] {
		return
	}
	k.visited[visit{data, t, n}] = true
	classes := []string{"[]" + Name(t), fmt.Sprintf("[%d]%s", n, Name(t))}
	if n == 1 {
		classes = append(classes, Name(t))
	}
	k.object(data, uintptr(n)*t.Size(), "array", where, o.source, hasPointers(t), classes...)
	for i := 0; i < n && i < 64 && hasPointers(t); i++ {
		k.value(t, data+uintptr(i)*t.Size(), o.in(data, where), used.element(i))
	}
}

func direct(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Ptr, reflect.Map, reflect.Chan, reflect.Func, reflect.UnsafePointer:
		return true
	case reflect.Array:
		return t.Len() == 1 && direct(t.Elem())
	case reflect.Struct:
		return t.NumField() == 1 && direct(t.Field(0).Type)
	}
	return false
}

func (k *Known) dynamic(t reflect.Type, addr uintptr, o owner, field, where string) {
	v := reflect.NewAt(t, unsafe.Pointer(addr)).Elem().Elem()
	if !v.IsValid() {
		return
	}
	d := v.Type()
	if strings.HasPrefix(Name(d), "*reflect.") || strings.HasPrefix(Name(d), "*internal/abi.") || Name(d) == "*runtime._type" {
		return
	}
	if direct(d) {
		k.value(d, addr+word, o, field)
		return
	}
	k.edge(o, field, load(addr+word))
	k.target(d, load(addr+word), o, where)
}

// inMap walks the pointers of a key or value, of which only a copy is to be had.
func (k *Known) inMap(v reflect.Value, o owner) {
	if !v.IsValid() || !hasPointers(v.Type()) {
		return
	}
	copied := reflect.New(v.Type())
	if !v.CanInterface() {
		return
	}
	copied.Elem().Set(v)
	k.value(v.Type(), copied.Pointer(), o, "")
	runtime.KeepAlive(copied)
}

func (k *Known) mapping(m reflect.Value, header uintptr, o owner, where string) {
	t := m.Type()
	if header == 0 || k.visited[visit{header, t, 1}] {
		return
	}
	k.visited[visit{header, t, 1}] = true
	unnamed := "map[" + Name(t.Key()) + "]" + Name(t.Elem())
	classes := []string{unnamed, Name(t)}
	k.object(header, 6*word, "map", where, o.source, true, classes...)
	inside := owner{source: o.source, where: where,
		class: "^" + quote(unnamed) + " entries$"}
	if t.Key().Size() > 128 || t.Elem().Size() > 128 {
		inside.class = "" // there is an object in between
	}
	r := reflect.NewAt(t, unsafe.Pointer(&header)).Elem().MapRange()
	for n := 0; n < 200 && r.Next(); n++ {
		k.inMap(r.Key(), inside)
		k.inMap(r.Value(), inside)
	}
}

func quote(s string) string {
	var b strings.Builder
	for _, r := range s {
		if strings.ContainsRune(`\.+*?()|[]{}^$`, r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

func (k *Known) channel(t reflect.Type, header uintptr, o owner, where string) {
	if header == 0 || k.visited[visit{header, t, 1}] {
		return
	}
	k.visited[visit{header, t, 1}] = true
	elem := Name(t.Elem())
	size := 12 * word
	k.object(header, size, "chan", where, o.source, true, "chan "+elem, "<-chan "+elem, "chan<- "+elem, Name(t))
	buffer, n := load(header+2*word), int(load(header+word))
	if n > 0 && hasPointers(t.Elem()) {
		k.Edges = append(k.Edges, &Edge{From: Addr(header), Field: "buf", To: Addr(buffer), Where: where + " buffer", Source: o.source})
		k.array(t.Elem(), buffer, n, part{0, n}, o, where+" buffer")
	}
}

func (k *Known) closure(f uintptr, o owner, field, where string) {
	if f == 0 {
		return
	}
	k.edge(o, field, f)
	fn := runtime.FuncForPC(load(f))
	if fn == nil || k.visited[visit{f, nil, 1}] {
		return
	}
	k.visited[visit{f, nil, 1}] = true
	name := fn.Name()
	if !strings.Contains(name, ".func") && !strings.HasSuffix(name, "-fm") {
		// Old releases tell of a method that is inlined at the start of its method value. Other functions are in no object.
		name += "-fm"
	}
	k.object(f, 2*word, "closure", where, o.source, true, "func "+name)
}

// Root is a global variable of type interface{}: package.name.
func (k *Known) Root(name string, v interface{}) {
	k.value(reflect.TypeOf(v).Elem(), reflect.ValueOf(v).Pointer(), owner{source: Any, edge: Edge{Global: name}, where: name}, "")
}

// Variable is a global variable, given by its address: package.name.
func (k *Known) Variable(name string, v interface{}) {
	k.value(reflect.TypeOf(v).Elem(), reflect.ValueOf(v).Pointer(), owner{source: Global, edge: Edge{Global: name}, where: name}, "")
}

// Base is an array that only interior pointers lead to: a slice of all of it.
func (k *Known) Base(where, source string, slice interface{}) {
	k.Sub(where, source, slice, 0, reflect.ValueOf(slice).Cap())
}

// Sub is an array that only a part of it leads to: a slice of all of it, and where the part begins and ends.
func (k *Known) Sub(where, source string, slice interface{}, begin, end int) {
	v := reflect.ValueOf(slice)
	k.array(v.Type().Elem(), v.Pointer(), v.Cap(), part{begin, end - begin}, owner{source: source}, where)
}

// Text is the whole of a string that only substrings lead to.
func (k *Known) Text(where, source, s string) {
	k.text(s, owner{source: source}, "", where)
	k.Edges = k.Edges[:len(k.Edges)-1]
}

// Captured says what a closure has captured: the target of a pointer, a variable's name, and the func's address.
func (k *Known) Captured(f interface{}, name string, target interface{}) {
	k.mu.Lock()
	defer k.mu.Unlock()
	at := load(reflect.ValueOf(f).Pointer())
	k.Edges = append(k.Edges, &Edge{From: Addr(at), Field: name, To: Addr(reflect.ValueOf(target).Pointer()), Where: "captured " + name,
		Source: Any, Closure: true})
}

// Local is a variable of the calling goroutine, in a function (with package): a copy of its value behind a pointer.
func (k *Known) Local(goroutine uint64, function, name string, parameter bool, copied interface{}) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.value(reflect.TypeOf(copied).Elem(), reflect.ValueOf(copied).Pointer(), owner{source: Local, where: function + "." + name,
		edge: Edge{Goroutine: goroutine, Function: function, Variable: name, Parameter: parameter}}, "")
}

// Expect says how many objects of a class there are at least.
func (k *Known) Expect(class string, min int, dwarf bool) {
	k.Counts = append(k.Counts, Count{class, min, dwarf})
}

// Write writes to a directory.
func (k *Known) Write(directory string) {
	sort.Slice(k.Objects, func(i, j int) bool { return k.Objects[i].Addr < k.Objects[j].Addr })
	text, err := json.MarshalIndent(k, "", " ")
	if err == nil {
		err = ioutil.WriteFile(filepath.Join(directory, "types.json"), text, 0o666)
	}
	if err != nil {
		panic(err)
	}
}
