// Show builds values of all kinds, dumps its heap, and writes down what go2heapsnapshot --show must say of them, which it finds
// by package reflect: show DIRECTORY. With a second argument it goes on until something is on its standard input.
package main

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"runtime/debug"
	"sort"
	"strings"
	"sync/atomic"
	"time"
	"unsafe"
)

// field is a value in an object or variable.
type field struct {
	Name   string `json:"name"`
	Type   string `json:"type"`
	Offset uint64 `json:"offset"`
	Value  string `json:"value"`
}

type entry struct {
	Key   string `json:"key"`
	Value string `json:"value"`
	order reflect.Value
}

// thing is an object, by its address, or a variable, by its name.
type thing struct {
	What    string  `json:"what"`
	Is      string  `json:"is"`
	Fields  []field `json:"fields,omitempty"`
	Begins  bool    `json:"begins,omitempty"` // an array, behind which its slot may have space for more
	Count   int     `json:"count,omitempty"`  // of a map
	Entries []entry `json:"entries,omitempty"`
	Any     bool    `json:"any,omitempty"` // the order of entries is not known
}

type spread struct {
	Min    string         `json:"min,omitempty"`
	Median string         `json:"median,omitempty"`
	Max    string         `json:"max,omitempty"`
	Count  int            `json:"distinct"`
	More   bool           `json:"is_distinct_at_least"`
	True   *int           `json:"true,omitempty"`
	Nil    *int           `json:"nil,omitempty"`
	Top    map[string]int `json:"top,omitempty"`
	Len    []int          `json:"lengths,omitempty"`
	Cap    []int          `json:"capacities,omitempty"`
}

type known struct {
	Objects   []thing           `json:"objects"`
	Variables []thing           `json:"variables"`
	Scalars   []thing           `json:"scalars"`
	Locals    []thing           `json:"locals"`
	Class     string            `json:"class"`
	Instances int               `json:"class_objects"`
	Spreads   map[string]spread `json:"spreads"`
	Secrets   []string          `json:"secrets"`
}

var know known

// ---- what --show must say ----

func quote(s string, whole int) string {
	cut := ""
	if runes := []rune(s); len(runes) > 200 {
		s, cut = string(runes[:200]), "…"
	} else if whole > len(s) {
		cut = "…"
	}
	return `"` + s + `"` + cut
}

func sayBytes(b []byte) string {
	whole := len(b)
	if len(b) > 200 {
		b = b[:200]
	}
	for _, c := range b {
		if (c < ' ' && !strings.ContainsRune("\n\t\r", rune(c))) || c >= 0x7f {
			if whole <= 32 {
				return fmt.Sprintf("%#x", b)
			}
			return fmt.Sprintf("%#x…", b[:32])
		}
	}
	return quote(string(b), whole)
}

// readable returns a value that reflect lets us read though its field is not exported.
func readable(v reflect.Value) reflect.Value {
	if v.CanAddr() {
		return reflect.NewAt(v.Type(), unsafe.Pointer(v.UnsafeAddr())).Elem()
	}
	return v
}

func word(v reflect.Value, i uintptr) uintptr {
	return *(*uintptr)(unsafe.Pointer(v.UnsafeAddr() + i*unsafe.Sizeof(i)))
}

func isByteArray(t reflect.Type) bool {
	return t.Kind() == reflect.Array && t.Elem().Kind() == reflect.Uint8
}

func isDirect(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Ptr, reflect.Map, reflect.Chan, reflect.Func, reflect.UnsafePointer:
		return true
	case reflect.Struct:
		return t.NumField() == 1 && isDirect(t.Field(0).Type)
	}
	return false
}

func firstString(v reflect.Value) (string, bool) {
	if v.Kind() != reflect.Struct || v.NumField() == 0 || v.Field(0).Kind() != reflect.String {
		return "", false
	}
	return quote(v.Field(0).String(), 0), true
}

func sayInterface(v reflect.Value) string {
	if v.IsNil() {
		return "nil"
	}
	in := v.Elem()
	name, data := in.Type().String(), word(v, 1)
	switch {
	case isDirect(in.Type()):
		if data == 0 {
			return name + " nil"
		}
		if v.Type().String() == "error" && in.Kind() == reflect.Ptr {
			if text, ok := firstString(in.Elem()); ok {
				return name + " " + text
			}
		}
		return fmt.Sprintf("%s %#x", name, data)
	case in.Type().Size() == 0:
		return name
	}
	copied := reflect.New(in.Type()).Elem()
	copied.Set(in)
	if text := say(copied); text != "" {
		return name + " " + text
	}
	if text, ok := firstString(in); ok {
		return name + " " + text
	}
	return fmt.Sprintf("%s at %#x", name, data)
}

// say returns what is shown of a value that is one for people, else "".
func say(v reflect.Value) string {
	v = readable(v)
	if v.Type().String() == "time.Time" {
		return v.Interface().(time.Time).Format(time.RFC3339Nano)
	}
	switch v.Kind() {
	case reflect.String:
		return quote(v.String(), 0)
	case reflect.Slice:
		if v.IsNil() {
			return "nil"
		}
		text := fmt.Sprintf("len %d cap %d", v.Len(), v.Cap())
		if v.Type().Elem().Kind() == reflect.Uint8 {
			text += " " + sayBytes(v.Bytes())
		}
		return text
	case reflect.Array:
		if !isByteArray(v.Type()) {
			return ""
		}
		b := make([]byte, v.Len())
		reflect.Copy(reflect.ValueOf(b), v)
		return sayBytes(b)
	case reflect.Struct:
		return ""
	case reflect.Interface:
		return sayInterface(v)
	case reflect.Map, reflect.Chan, reflect.Func, reflect.Ptr, reflect.UnsafePointer:
		if v.IsNil() {
			return "nil"
		}
	}
	switch v.Kind() {
	case reflect.Map:
		if v.Len() == 1 {
			return "1 entry"
		}
		return fmt.Sprintf("%d entries", v.Len())
	case reflect.Chan:
		return fmt.Sprintf("len %d cap %d", v.Len(), v.Cap())
	case reflect.Func:
		return runtime.FuncForPC(v.Pointer()).Name()
	case reflect.Ptr, reflect.UnsafePointer:
		return fmt.Sprintf("%#x", v.Pointer())
	}
	return fmt.Sprint(v.Interface())
}

// walk lists the values in a value, as --show does.
func walk(v reflect.Value, name string, base uintptr, list *[]field) {
	t := v.Type()
	if v.Kind() == reflect.Struct && strings.HasPrefix(t.String(), "atomic.") {
		inner := v.FieldByName("v")
		text := say(inner)
		if t.String() == "atomic.Bool" {
			text = fmt.Sprint(readable(inner).Uint() != 0)
		}
		*list = append(*list, field{name, "sync/" + t.String(), uint64(inner.UnsafeAddr() - base), text})
		return
	}
	if text := say(v); text != "" {
		*list = append(*list, field{name, t.String(), uint64(v.UnsafeAddr() - base), text})
		return
	}
	for i := 0; v.Kind() == reflect.Struct && i < v.NumField(); i++ {
		dot := name
		if dot != "" {
			dot += "."
		}
		walk(v.Field(i), dot+t.Field(i).Name, base, list)
	}
	for i := 0; v.Kind() == reflect.Array && i < v.Len(); i++ {
		walk(v.Index(i), fmt.Sprintf("%s[%d]", name, i), base, list)
	}
}

func fieldsOf(v reflect.Value) (list []field) {
	walk(v, "", v.UnsafeAddr(), &list)
	return list
}

// parts returns what is shown of a key or an element.
func parts(v reflect.Value) string {
	copied := reflect.New(v.Type()).Elem()
	copied.Set(v)
	if text := say(copied); text != "" {
		return text
	}
	list := fieldsOf(copied)
	end := "}"
	if len(list) > 16 {
		list, end = list[:16], " …}"
	}
	var words []string
	for _, f := range list {
		words = append(words, f.Name+": "+f.Value)
	}
	return "{" + strings.Join(words, ", ") + end
}

var keep []interface{}

func address(p unsafe.Pointer) string { return fmt.Sprintf("%#x", uintptr(p)) }

// object records what a pointer leads to.
func object(p interface{}) {
	keep = append(keep, p)
	v := reflect.ValueOf(p)
	what := thing{What: address(unsafe.Pointer(v.Pointer())), Is: v.Type().String()}
	if v.Kind() == reflect.Slice {
		what.Begins = true
		for i := 0; i < v.Len(); i++ {
			walk(v.Index(i), fmt.Sprintf("[%d]", i), v.Pointer(), &what.Fields)
		}
	} else {
		what.Fields = fieldsOf(v.Elem())
	}
	know.Objects = append(know.Objects, what)
}

func less(a, b reflect.Value) bool {
	switch a.Kind() {
	case reflect.String:
		return a.String() < b.String()
	case reflect.Int, reflect.Int8, reflect.Int64:
		return a.Int() < b.Int()
	case reflect.Uint8, reflect.Uint32:
		return a.Uint() < b.Uint()
	case reflect.Float64:
		return a.Float() < b.Float()
	}
	return !a.Bool() && b.Bool()
}

// mapped records the entries of a map; ordered: those with the least keys are shown.
func mapped(m interface{}, ordered bool) {
	keep = append(keep, m)
	v := reflect.ValueOf(m)
	what := thing{What: address(unsafe.Pointer(v.Pointer())), Is: v.Type().String(), Count: v.Len(), Any: !ordered}
	for _, key := range v.MapKeys() {
		what.Entries = append(what.Entries, entry{order: key, Key: parts(key), Value: parts(v.MapIndex(key))})
	}
	if ordered {
		sort.Slice(what.Entries, func(i, j int) bool { return less(what.Entries[i].order, what.Entries[j].order) })
		if len(what.Entries) > 20 {
			what.Entries = what.Entries[:20]
		}
	}
	know.Objects = append(know.Objects, what)
}

func variable(name string, p interface{}) {
	know.Variables = append(know.Variables, thing{What: name, Is: "variable", Fields: fieldsOf(reflect.ValueOf(p).Elem())})
}

// scalar is a variable without pointers, of which a dump has nothing.
func scalar(name string, p interface{}) {
	know.Scalars = append(know.Scalars, thing{What: name, Is: "scalar", Fields: fieldsOf(reflect.ValueOf(p).Elem())})
}

// many has more objects than --show keeps values of a class.
type many struct {
	N    int
	next *many
}

// local is a variable of a goroutine, of which p points to a copy.
func local(goroutine, name string, p interface{}) {
	know.Locals = append(know.Locals, thing{What: goroutine + " · " + name, Is: "local", Fields: fieldsOf(reflect.ValueOf(p).Elem())})
}

// blocked waits in the midst of a function that needs its variables afterwards.
//
//go:noinline
func blocked(n int, share float64, on bool, who string, list []int, w *embedded, ready, quit chan bool) {
	var stack [64]byte
	words := strings.Fields(string(stack[:runtime.Stack(stack[:], false)]))
	goroutine := words[0] + " " + words[1]
	n2, share2, on2, who2, list2, w2 := n, share, on, who, list, w
	local(goroutine, "n", &n2)
	local(goroutine, "share", &share2)
	local(goroutine, "on", &on2)
	local(goroutine, "who", &who2)
	local(goroutine, "main.blocked · list", &list2)
	know.Locals = append(know.Locals, thing{What: goroutine + ": w", Is: "local", Fields: fieldsOf(reflect.ValueOf(w2).Elem())})
	ready <- true
	<-quit
	fmt.Println(n, share, on, who, list, w)
}

// ---- values ----

type inner struct {
	Flag bool
	Pair [2]int16
}

type embedded struct {
	Label string
	inner
}

type numbersOnly struct {
	Level int
	On    bool
	inner
}

type celsius float32

type box[T any] struct {
	Value T
	next  *box[T]
}

type custom struct {
	message string
	code    int
}

func (c *custom) Error() string { return c.message }

type plain struct{ code int }

func (p plain) Error() string { return fmt.Sprint(p.code) }

type quiet struct{}

func (quiet) Error() string { return "" }

type numbers struct {
	Bool bool
	I8   int8
	I16  int16
	I32  int32
	I64  int64
	I    int
	U8   uint8
	U16  uint16
	U32  uint32
	U64  uint64
	U    uint
	Up   uintptr
	F32  float32
	F64  float64
	C64  complex64
	C128 complex128
	Deg  celsius
	self *numbers
}

type everything struct {
	embedded
	Name, Long, Empty, Odd string
	Bytes, Binary, None    []byte
	Fixed                  [8]byte
	Raw                    [4]byte
	Key                    [40]byte
	Times                  [7]time.Time
	Waits                  [9]time.Duration
	Errors                 [7]error
	Values                 [16]interface{}
	Stringer               fmt.Stringer
	Ints                   []int
	NoInts                 []int
	Map                    map[string]int
	One                    map[int]bool
	NoMap                  map[string]int
	Chan                   chan int
	NoChan                 chan string
	Func                   func()
	Closure                func() int
	Method                 func() string
	NoFunc                 func()
	Pointer                *int
	NoPointer              *int
	Unsafe                 unsafe.Pointer
	Count                  atomic.Int64
	Small                  atomic.Uint32
	Done                   atomic.Bool
	Next                   atomic.Pointer[numbers]
	Box                    box[string]
	Boxes                  [2]box[inner]
	Deep                   [2][2]struct{ X, Y int8 }
	Anonymous              struct{ A, B *int }
	_                      int
	Last                   struct{}
}

type item struct {
	ID    int
	Kind  string
	Open  bool
	When  time.Time
	Wait  time.Duration
	Share float64
	Next  *item
	Any   interface{}
	List  []int
	Code  uint8
	Text  string
}

func named() {}

// Values of it lie in static data, to which variables point.
type static struct {
	name  string
	n     int
	other *inner
}

var gLeft, gRight = &static{name: "left", n: 3}, &static{name: "right", n: 4}

var (
	gEverything everything
	gString     = "of a variable"
	gSlice      []int
	gAny        interface{} = 17.5
	gTime       time.Time
	gCount      = 17
	gTimeout    = 90 * time.Second
	gTotal      uint64
	gZero       int
	gShares     [3]float32
	gState      numbersOnly
	sink        int
)

// zone makes a time zone with two changes, in 2000 and 2010.
func zone() *time.Location {
	data := append([]byte("TZif"), make([]byte, 16)...)
	word := func(n int64) { data = binary.BigEndian.AppendUint32(data, uint32(n)) }
	for _, n := range []int64{0, 0, 0, 2, 2, 8} {
		word(n)
	}
	word(946684800)
	word(1262304000)
	data = append(data, 1, 0)
	word(3600)
	data = append(data, 0, 0)
	word(-9000)
	data = append(data, 1, 4)
	data = append(data, "ONE\x00TWO\x00"...)
	location, err := time.LoadLocationFromTZData("Test/Zone", data)
	if err != nil {
		panic(err)
	}
	return location
}

func fill(e *everything) {
	number, captured := new(int), 17
	*number = 42
	e.Label, e.Flag, e.Pair = "embedded", true, [2]int16{-5, 500}
	e.Name, e.Long, e.Odd = "Ada", strings.Repeat("long ünd ", 60), "tab\tquote\"line\nbad\xff"
	e.Odd = strings.ToValidUTF8(e.Odd, "�")
	e.Bytes, e.Binary = append(make([]byte, 0, 64), "bytes as text"...), []byte(strings.Repeat("\x00\xfe", 40))
	copy(e.Fixed[:], "fixed it")
	e.Raw = [4]byte{1, 2, 3, 255}
	copy(e.Key[:], "secret of forty bytes\x00\x01")
	at := time.Date(2021, 2, 3, 4, 5, 6, 789000000, time.UTC)
	in := zone()
	e.Times = [7]time.Time{{}, at, at.In(time.FixedZone("", 19800)), time.Date(1999, 12, 31, 23, 59, 59, 1, time.UTC).In(in),
		time.Date(2005, 6, 7, 8, 9, 10, 120, time.UTC).In(in), time.Now(), time.Date(12021, 2, 28, 0, 0, 0, 0, time.UTC)}
	e.Waits = [9]time.Duration{0, 1, 1500, 2500000, time.Second, 90*time.Minute + 1500*time.Millisecond, -time.Hour, 1<<63 - 1, -1 << 63}
	e.Errors = [7]error{nil, errors.New("an error"), &custom{"my own", 5}, plain{5}, quiet{}, &fs.PathError{Op: "open", Path: "/x", Err: errors.New("in it")}, (*custom)(nil)}
	e.Values = [16]interface{}{nil, 5, 70000, "boxed", 2.5, true, uint8(200), celsius(21.5), at, time.Minute, inner{true, [2]int16{1, 2}},
		embedded{Label: "in an interface"}, &e.Name, []int{1, 2, 3}, map[string]int{"a": 1}, [3]byte{'a', 'b', 'c'}}
	e.Stringer = at
	e.Ints = make([]int, 3, 10)
	e.Map, e.One = map[string]int{"one": 1, "two": 2}, map[int]bool{5: true}
	e.Chan = make(chan int, 5)
	e.Chan <- 1
	e.Chan <- 2
	e.Func, e.Closure, e.Method = named, func() int { return captured + *number }, at.String
	e.Pointer, e.Unsafe = number, unsafe.Pointer(number)
	e.Count.Store(-12)
	e.Small.Store(77)
	e.Done.Store(true)
	e.Next.Store(&numbers{I: 5})
	e.Box = box[string]{"boxed", &box[string]{Value: "next"}}
	e.Boxes[1].Value.Pair[1] = 9
	e.Deep[1][0].Y = -3
	e.Anonymous.B = number
}

func maps() {
	words := map[string]int{}
	strs := map[string]string{}
	ints := map[int]int{}
	small := map[int8]bool{}
	wide := map[int][40]int64{}
	keyed := map[[2]int32]string{}
	structs := map[string]inner{}
	churned := map[int64]string{}
	anys := map[interface{}]interface{}{1: "one", "two": 2, 3.5: nil, true: inner{}}
	bools := map[bool]float64{true: 1.5, false: -1}
	floats := map[float64]uint8{1.5: 1, -2.5: 2, 0: 3}
	sets := map[string]struct{}{"x": {}, "y": {}}
	pointers := map[uint32]*int{}
	wideKeys := map[[17]int64]string{}
	for i := 0; i < 6700; i++ { // before Go 1.24 they grow at 6657 entries
		words[fmt.Sprintf("word %05d", i)] = i * i
		ints[i*7-100] = -i
		strs[fmt.Sprintf("text %05d", i)] = fmt.Sprint(i)
	}
	for i := 0; i < 20000; i++ {
		churned[int64(i)] = fmt.Sprint(i)
		if i >= 37 {
			delete(churned, int64(i-30))
		}
	}
	for i := 0; i < 15; i++ {
		small[int8(i*17-120)] = i%2 == 0
		wide[i*1000] = [40]int64{int64(i), -1}
		keyed[[2]int32{int32(i), -5}] = fmt.Sprint("pair ", i)
		structs[fmt.Sprint("s", 100+i)] = inner{i%3 == 0, [2]int16{int16(i), 7}}
		n := i
		pointers[uint32(i)<<28] = &n
		wideKeys[[17]int64{int64(i)}] = fmt.Sprint("wide ", i)
	}
	for _, m := range []interface{}{words, strs, ints, small, wide, structs, churned, bools, floats, sets, pointers, map[string]int{}, map[int]int{}} {
		mapped(m, true)
	}
	for n := 1; n < 60; n += 3 { // of all small sizes: one group or bucket, two, tables
		m := map[int]string{}
		for i := 0; i < n; i++ {
			m[i*i] = fmt.Sprint(i)
		}
		mapped(m, true)
	}
	if strings.HasPrefix(runtime.Version(), "go1.2") && runtime.Version() < "go1.24" || strings.HasPrefix(runtime.Version(), "go1.19") {
		for _, m := range []interface{}{words, strs, ints} { // runtime.hmap.oldbuckets
			if *(*uintptr)(unsafe.Pointer(reflect.ValueOf(m).Pointer() + 24)) == 0 {
				panic("a map does not grow")
			}
		}
	}
	mapped(keyed, false)
	mapped(anys, false)
	mapped(wideKeys, false)
}

func classes() {
	kinds := []string{"a", "b", "b", "c", "c", "c", "d", "d", "d", "d", "e", "e", "e", "e", "e", "f", "f", "f", "f", "f", "f"}
	items := make([]*item, 0, 3000)
	for i := 0; i < 3000; i++ {
		it := &item{ID: i*i - 5000, Kind: kinds[i%len(kinds)], Open: i%3 == 0, Wait: time.Duration(i%40) * time.Second,
			When: time.Unix(1600000000+int64(i%500), int64(i%2)).UTC(), Share: float64(i%9) - 4.5, Code: uint8(i), Text: fmt.Sprint("unique ", i)}
		if i%4 != 0 {
			it.Next, it.List = it, make([]int, i%5, 5+i%7)
		}
		if i%3 == 1 {
			it.Any = i
		} else if i%3 == 2 && i%5 != 0 {
			it.Any = it
		}
		items = append(items, it)
	}
	keep = append(keep, items)
	know.Class, know.Instances, know.Spreads = "main.item", len(items), map[string]spread{}
	for f := 0; f < reflect.TypeOf((*item)(nil)).Elem().NumField(); f++ {
		know.Spreads[reflect.TypeOf((*item)(nil)).Elem().Field(f).Name] = spreadOf(items, f)
	}
}

func three(list []int) []int {
	sort.Ints(list)
	return []int{list[0], list[(len(list)-1)/2], list[len(list)-1]}
}

func spreadOf(items []*item, f int) (ret spread) {
	var numbers []reflect.Value
	var lens, caps []int
	texts := map[string]int{}
	nils, trues := 0, 0
	for _, it := range items {
		v := reflect.ValueOf(it).Elem().Field(f)
		switch v.Kind() {
		case reflect.Bool:
			ret.True = &trues
			if v.Bool() {
				trues++
			}
		case reflect.String:
			texts[say(v)]++
			lens = append(lens, v.Len())
		case reflect.Ptr, reflect.Interface, reflect.Slice:
			ret.Nil = &nils
			if v.IsNil() {
				nils++
			} else if v.Kind() == reflect.Interface {
				texts[v.Elem().Type().String()]++
			} else if v.Kind() == reflect.Slice {
				lens, caps = append(lens, v.Len()), append(caps, v.Cap())
			}
		default:
			numbers = append(numbers, v)
		}
	}
	distinct := map[string]bool{}
	if len(numbers) > 0 {
		sort.SliceStable(numbers, func(i, j int) bool {
			a, b := numbers[i], numbers[j]
			if t, ok := a.Interface().(time.Time); ok {
				return t.Before(b.Interface().(time.Time))
			}
			return less(a, b)
		})
		for _, n := range numbers {
			distinct[say(n)] = true
		}
		ret.Min, ret.Median, ret.Max = say(numbers[0]), say(numbers[(len(numbers)-1)/2]), say(numbers[len(numbers)-1])
	}
	for text := range texts {
		distinct[text] = true
	}
	ret.Count = len(distinct)
	if ret.Count > 1000 {
		ret.Count, ret.More = 1000, true
	}
	if len(texts) > 0 && !ret.More {
		var names []string
		for name := range texts {
			names = append(names, name)
		}
		sort.Slice(names, func(i, j int) bool { return texts[names[i]] > texts[names[j]] })
		if len(names) > 5 {
			names = names[:5]
		}
		ret.Top = map[string]int{}
		for _, name := range names {
			ret.Top[name] = texts[name]
		}
	}
	if len(lens) > 0 {
		ret.Len = three(lens)
	}
	if len(caps) > 0 {
		ret.Cap = three(caps)
	}
	return ret
}

func main() {
	if len(os.Args) != 2 && len(os.Args) != 3 {
		fmt.Println("usage: show DIRECTORY [stay]")
		os.Exit(2)
	}
	e, n := &everything{}, &numbers{}
	fill(e)
	*n = numbers{true, -128, -32768, -2147483648, -1 << 63, -42, 255, 65535, 4294967295, 1<<64 - 1, 42, 77, 1.25, -1e100, 1 - 2i, complex(0, 2.5), 36.6, n}
	object(e)
	object(n)
	object(&box[box[int]]{Value: box[int]{Value: 5}, next: &box[box[int]]{}})
	object([]embedded{{"first", inner{true, [2]int16{1, 2}}}, {"second", inner{}}, {"third", inner{false, [2]int16{-1, -2}}}})
	object(&[3]interface{}{"x", 1, nil})
	object(&custom{"planted secret", 271828183})
	maps()
	classes()
	fill(&gEverything)
	gSlice, gTime = make([]int, 2, 4), time.Date(2022, 3, 4, 5, 6, 7, 0, time.UTC)
	variable("main.gEverything", &gEverything)
	variable("main.gString", &gString)
	variable("main.gSlice", &gSlice)
	variable("main.gAny", &gAny)
	variable("main.gTime", &gTime)
	variable("main.gLeft", gLeft)
	variable("main.gRight", gRight)
	gTotal, gShares, gState = 1<<63, [3]float32{1, -0.5}, numbersOnly{-3, true, inner{true, [2]int16{5, 6}}}
	sink += gCount + int(gTimeout) + int(gTotal) + gZero + int(gShares[1]) + gState.Level
	scalar("main.gCount", &gCount)
	scalar("main.gTimeout", &gTimeout)
	scalar("main.gTotal", &gTotal)
	scalar("main.gZero", &gZero)
	scalar("main.gShares", &gShares)
	scalar("main.gState", &gState)
	var last *many
	for i := 0; i < 5000; i++ {
		last = &many{i, last}
	}
	ready, quit := make(chan bool), make(chan bool)
	go blocked(-5, 0.75, true, "blocked "+os.Args[1][:0], []int{4, 5}, &embedded{"of w", inner{true, [2]int16{8, 9}}}, ready, quit)
	<-ready
	for i := 0; i < 100; i++ { // until it waits
		runtime.Gosched()
	}
	time.Sleep(100 * time.Millisecond)
	know.Secrets = []string{"planted secret", "271828183", "forty bytes", "an error", "in an interface", "word 0000", "2021-02-03", "6162", "1h30m", "-1e+100"}

	file, err := os.Create(filepath.Join(os.Args[1], "show.dump"))
	if err != nil {
		panic(err)
	}
	debug.WriteHeapDump(file.Fd())
	data, err := json.Marshal(know)
	if err == nil {
		err = os.WriteFile(filepath.Join(os.Args[1], "show.json"), data, 0o666)
	}
	if err != nil {
		panic(err)
	}
	if len(os.Args) == 3 { // until it is read from outside
		fmt.Println("ready")
		os.Stdin.Read(make([]byte, 1))
	}
	quit <- true
	runtime.KeepAlive(e)
	runtime.KeepAlive(n)
	runtime.KeepAlive(last)
	runtime.KeepAlive(keep)
}
