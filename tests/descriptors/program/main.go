// Types writes a heap dump of itself to DIR/dump and, to DIR/types.json, what package reflect knows of its types: the
// truth that tests/descriptors/check.mjs compares with what was read from the executable.
//
//	types DIR
package main

import (
	"encoding/json"
	"fmt"
	htmltemplate "html/template"
	"io/ioutil"
	"math/big"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"text/template"
	"time"
	"unsafe"

	"example.com/types/yaml.v3"
)

type node struct {
	next  *node
	yaml  *yaml.Node
	_     int16
	flags [3]uint8
}

func (n *node) String() string { return "node" }

type base struct{ id uint32 }

type local struct {
	base
	*node
	fmt.Stringer `tag:"of the field"`
	sync.Mutex
	mixed struct {
		a    int8
		b    func(int, ...string) (node, error)
		c    <-chan chan<- (<-chan *node)
		d    chan (<-chan int)
		e    map[yaml.Node2]interface{ m(*node) }
		f    interface{}
		g    error
		h    unsafe.Pointer
		i    [0]func()
		j    complex64
		k, l bool
	}
	empty struct{}
}

type (
	named    map[string]*yaml.Node
	channel  chan node
	function func(yaml.Node) func()
	slice    []slice
	array    [2][4]named
	number   uint16
	single   struct{ only *node } // is in an interface's word itself
	once     [1]single
	large    [3000]struct {
		p *node
		n uintptr
	}
	cycle *cycle
)

// No type leads to it but the word of an interface.
type hidden struct{ hidden string }

var more []interface{}

// What reflect knows of a type. Other types by their addresses.
type record struct {
	Address, Name string
	Kind          int
	Size          uint64
	Length        int
	Elem, Key     string  `json:",omitempty"`
	Direct        *bool   `json:",omitempty"`
	Empty         bool    // interface{}
	Fields        []field `json:",omitempty"`
}

type field struct {
	Name, Type string
	Offset     uint64
	Embedded   bool
}

func address(t reflect.Type) string {
	if t == nil {
		return ""
	}
	return strconv.FormatUint(uint64(reflect.ValueOf(t).Pointer()), 16)
}

func list(count int, at func(int) reflect.Type, variadic bool) string {
	var names []string
	for i := 0; i < count; i++ {
		if t := at(i); variadic && i == count-1 {
			names = append(names, "..."+name(t.Elem()))
		} else {
			names = append(names, name(t))
		}
	}
	return strings.Join(names, ", ")
}

func name(t reflect.Type) string {
	if t.Name() != "" {
		if t.PkgPath() == "" {
			return t.String()
		}
		return t.PkgPath() + t.String()[strings.IndexByte(t.String(), '.'):]
	}
	switch t.Kind() {
	case reflect.Ptr:
		return "*" + name(t.Elem())
	case reflect.Slice:
		return "[]" + name(t.Elem())
	case reflect.Array:
		return "[" + strconv.Itoa(t.Len()) + "]" + name(t.Elem())
	case reflect.Map:
		return "map[" + name(t.Key()) + "]" + name(t.Elem())
	case reflect.Chan:
		elem := name(t.Elem())
		if t.ChanDir() == reflect.BothDir && strings.HasPrefix(elem, "<-") {
			elem = "(" + elem + ")"
		}
		return t.ChanDir().String() + " " + elem
	case reflect.Func:
		results := list(t.NumOut(), t.Out, false)
		if t.NumOut() > 1 {
			results = "(" + results + ")"
		}
		return strings.TrimSuffix("func("+list(t.NumIn(), t.In, t.IsVariadic())+") "+results, " ")
	case reflect.Struct:
		var fields []string
		for i := 0; i < t.NumField(); i++ {
			f := t.Field(i)
			text := name(f.Type)
			if !f.Anonymous {
				text = f.Name + " " + text
			}
			fields = append(fields, text)
		}
		if len(fields) == 0 {
			return "struct {}"
		}
		return "struct { " + strings.Join(fields, "; ") + " }"
	}
	return t.String()
}

// Whether the second word of an interface is a zero value itself, not its address.
func direct(t reflect.Type) *bool {
	if t.Kind() == reflect.Interface {
		return nil
	}
	value := reflect.New(t).Elem().Interface()
	is := (*[2]uintptr)(unsafe.Pointer(&value))[1] == 0
	return &is
}

var known = map[reflect.Type]bool{}
var records []record

func walk(t reflect.Type) {
	if known[t] {
		return
	}
	known[t] = true
	r := record{Address: address(t), Name: name(t), Kind: int(t.Kind()), Size: uint64(t.Size())}
	if t.Size() < 1<<16 {
		r.Direct = direct(t)
	}
	switch t.Kind() {
	case reflect.Map:
		r.Key = address(t.Key())
		walk(t.Key())
		r.Elem = address(t.Elem())
		walk(t.Elem())
	case reflect.Array:
		r.Length = t.Len()
		fallthrough
	case reflect.Chan, reflect.Ptr, reflect.Slice:
		r.Elem = address(t.Elem())
		walk(t.Elem())
	case reflect.Struct:
		for i := 0; i < t.NumField(); i++ {
			f := t.Field(i)
			r.Fields = append(r.Fields, field{f.Name, address(f.Type), uint64(f.Offset), f.Anonymous})
			walk(f.Type)
		}
	case reflect.Func:
		for i := 0; i < t.NumIn(); i++ {
			walk(t.In(i))
		}
		for i := 0; i < t.NumOut(); i++ {
			walk(t.Out(i))
		}
	case reflect.Interface:
		r.Empty = t.NumMethod() == 0
		for i := 0; i < t.NumMethod(); i++ {
			walk(t.Method(i).Type)
		}
	}
	records = append(records, r)
}

func main() {
	directory := os.Args[1]
	for _, value := range append(more, local{}, named{}, channel(nil), function(nil), slice{}, array{}, number(0), once{},
		large{}, cycle(nil), hidden{}, yaml.Lines{}, &http.Server{}, &http.Client{}, template.Template{},
		htmltemplate.Template{}, big.Float{}, time.Timer{}, os.File{}, json.Decoder{}, reflect.Value{}, [3]big.Int{},
		new(fmt.State), new(http.Handler), make(chan<- *http.Request), []map[http.ConnState]*template.Template{}) {
		walk(reflect.TypeOf(value))
	}
	// A dump has records of types that are in itabs.
	stringers := []fmt.Stringer{&node{}, &big.Int{}, time.Second, reflect.ValueOf(records)}
	text, err := json.Marshal(records)
	if err == nil {
		err = ioutil.WriteFile(filepath.Join(directory, "types.json"), text, 0o644)
	}
	if err != nil {
		panic(err)
	}
	file, err := os.Create(filepath.Join(directory, "dump"))
	if err != nil {
		panic(err)
	}
	debug.WriteHeapDump(file.Fd())
	runtime.KeepAlive(stringers)
}
