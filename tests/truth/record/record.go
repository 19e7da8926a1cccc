// Package record dumps the heap, and beside it writes what the allocator was told of every object: overlay.mjs has made
// a runtime that keeps a log.
//
// A truth file is a line of JSON, the header; a line of JSON per type; a line per function, hexadecimal entry and name;
// and rows of little-endian numbers: address and size, of 8 bytes; the type's place among the types (-1: none) and which
// allocation of the process it was, of 4 bytes. Of several allocations at one address the last one is there; rows are in
// the order of allocation.
package record

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"runtime"
	"runtime/debug"
	"strings"
	"syscall"
	"unsafe"
)

func count() uint32
func at(i uint32) (addr, size, typ uintptr)
func links() ([]unsafe.Pointer, [][]int32)
func itabs(each func(typ uintptr))
func function(i int) (entry uintptr, name string, ok bool)

// Field is one of a struct's.
type Field struct {
	Name   string  `json:"name"`
	Offset uintptr `json:"offset"`
	Type   int     `json:"type"`
}

// Type is a type that something was allocated as, another that the program has, or one that such a type is made of.
type Type struct {
	Address string  `json:"address"`
	Name    string  `json:"name"`   // with full import paths
	String  string  `json:"string"` // as Go prints it
	Kind    string  `json:"kind"`
	Named   bool    `json:"named"`
	Size    uintptr `json:"size"`
	Ptr     bool    `json:"pointers"`
	Elem    int     `json:"elem"`
	Key     int     `json:"key"`
	Len     int     `json:"len"`
	Fields  []Field `json:"fields,omitempty"`
}

type types struct {
	list   []*Type
	number map[reflect.Type]int
}

func reflected(address uintptr) reflect.Type {
	var i interface{}
	*(*uintptr)(unsafe.Pointer(&i)) = address
	return reflect.TypeOf(i)
}

// fullName is a type's name with full import paths.
func fullName(t reflect.Type) string {
	if t.Name() != "" {
		if t.PkgPath() == "" {
			return t.String()
		}
		return t.PkgPath() + "." + t.Name()
	}
	switch t.Kind() {
	case reflect.Ptr:
		return "*" + fullName(t.Elem())
	case reflect.Slice:
		return "[]" + fullName(t.Elem())
	case reflect.Array:
		return fmt.Sprintf("[%d]%s", t.Len(), fullName(t.Elem()))
	case reflect.Map:
		return "map[" + fullName(t.Key()) + "]" + fullName(t.Elem())
	case reflect.Chan:
		switch elem := fullName(t.Elem()); t.ChanDir() {
		case reflect.RecvDir:
			return "<-chan " + elem
		case reflect.SendDir:
			return "chan<- " + elem
		default:
			return "chan " + elem
		}
	}
	if t.Kind() == reflect.Struct && strings.HasPrefix(t.String(), "struct {") {
		parts := []string{}
		for i := 0; i < t.NumField(); i++ {
			f := t.Field(i)
			part := f.Name + " " + fullName(f.Type)
			if f.Anonymous {
				part = fullName(f.Type)
			}
			if f.Tag != "" {
				part += fmt.Sprintf(" %q", string(f.Tag))
			}
			parts = append(parts, part)
		}
		if len(parts) == 0 {
			return "struct {}"
		}
		return "struct { " + strings.Join(parts, "; ") + " }"
	}
	return t.String()
}

func hasPointers(t reflect.Type) bool {
	// PtrBytes is the second word of a descriptor.
	return (*[2]uintptr)((*[2]unsafe.Pointer)(unsafe.Pointer(&t))[1])[1] != 0
}

func (ts *types) add(t reflect.Type) int {
	if n, ok := ts.number[t]; ok {
		return n
	}
	n := len(ts.list)
	ts.number[t] = n
	address := uintptr((*[2]unsafe.Pointer)(unsafe.Pointer(&t))[1])
	it := &Type{Address: fmt.Sprintf("%#x", address), Name: fullName(t), String: t.String(), Kind: t.Kind().String(),
		Named: t.Name() != "", Size: t.Size(), Ptr: hasPointers(t), Elem: -1, Key: -1}
	ts.list = append(ts.list, it)
	switch t.Kind() {
	case reflect.Array:
		it.Len = t.Len()
		it.Elem = ts.add(t.Elem())
	case reflect.Map:
		it.Key = ts.add(t.Key())
		it.Elem = ts.add(t.Elem())
	case reflect.Ptr, reflect.Slice, reflect.Chan:
		it.Elem = ts.add(t.Elem())
	case reflect.Struct:
		for i := 0; i < t.NumField(); i++ {
			f := t.Field(i)
			it.Fields = append(it.Fields, Field{f.Name, f.Offset, ts.add(f.Type)})
		}
	}
	return n
}

// table is memory that the garbage collector does not know.
func table(n int) []uint32 {
	b, err := syscall.Mmap(-1, 0, 4*n, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		panic(err)
	}
	return (*[1 << 28]uint32)(unsafe.Pointer(&b[0]))[:n:n]
}

func free(t []uint32) {
	if err := syscall.Munmap((*[1 << 30]byte)(unsafe.Pointer(&t[0]))[: 4*len(t) : 4*len(t)]); err != nil {
		panic(err)
	}
}

// Dump collects garbage, then writes file.dump and file.truth.
func Dump(file string) {
	dump, err := os.Create(file + ".dump")
	if err != nil {
		panic(err)
	}
	truth, err := os.Create(file + ".truth")
	if err != nil {
		panic(err)
	}
	runtime.GC()
	runtime.GC()
	debug.WriteHeapDump(dump.Fd())
	dump.Close()
	write(truth)
	truth.Close()
}

func write(file *os.File) {
	n := count()
	size := 1024
	for size < 2*int(n) {
		size *= 2
	}
	// From an address to its last row, plus one.
	last := table(size)
	place := func(addr uintptr) int {
		h := uint64(addr) * 0x9e3779b97f4a7c15
		i := int((h ^ h>>29) & uint64(size-1))
		for last[i] != 0 {
			if a, _, _ := at(last[i] - 1); a == addr {
				break
			}
			i = (i + 1) & (size - 1)
		}
		return i
	}
	ts := types{number: map[reflect.Type]int{}}
	numbers := map[uintptr]int{0: -1}
	for i := uint32(0); i < n; i++ {
		addr, _, typ := at(i)
		last[place(addr)] = i + 1
		if _, ok := numbers[typ]; !ok {
			numbers[typ] = ts.add(reflected(typ))
		}
	}
	// Types that nothing was allocated as: what was may have been converted to them.
	sections, offsets := links()
	for i, section := range sections {
		for _, offset := range offsets[i] {
			ts.add(reflected(uintptr(section) + uintptr(offset)))
		}
	}
	itabs(func(typ uintptr) { ts.add(reflected(typ)) })
	rows := 0
	for _, l := range last {
		if l != 0 {
			rows++
		}
	}

	w := bufio.NewWriterSize(file, 1<<20)
	lines := json.NewEncoder(w)
	lines.SetEscapeHTML(false)
	functions := 0
	for ; ; functions++ {
		if _, _, ok := function(functions); !ok {
			break
		}
	}
	header := map[string]interface{}{"go": runtime.Version(), "goarch": runtime.GOARCH, "pointer_size": unsafe.Sizeof(uintptr(0)),
		"types": len(ts.list), "functions": functions, "rows": rows, "allocations": n}
	if err := lines.Encode(header); err != nil {
		panic(err)
	}
	for _, t := range ts.list {
		if err := lines.Encode(t); err != nil {
			panic(err)
		}
	}
	for i := 0; i < functions; i++ {
		entry, name, _ := function(i)
		fmt.Fprintf(w, "%x %s\n", entry, name)
	}
	var row [24]byte
	for i := uint32(0); i < n; i++ {
		addr, size, typ := at(i)
		if last[place(addr)] != i+1 {
			continue
		}
		binary.LittleEndian.PutUint64(row[:], uint64(addr))
		binary.LittleEndian.PutUint64(row[8:], uint64(size))
		binary.LittleEndian.PutUint32(row[16:], uint32(int32(numbers[typ])))
		binary.LittleEndian.PutUint32(row[20:], i)
		w.Write(row[:])
	}
	if err := w.Flush(); err != nil {
		panic(err)
	}
	free(last)
}
