// Keys builds maps of all kinds, channels that goroutines wait on, and weak pointers, dumps its heap, and writes down
// what names of edges lead from where to where: keys DIRECTORY.
package main

import (
	"encoding/json"
	"fmt"
	"io/ioutil"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"runtime/debug"
	"settle"
	"strings"
	"unsafe"
)

// Expected is what a snapshot must have: edges of these names from a node, at most so many clicks apart, to another.
type Expected struct {
	Where  string `json:"where"`
	From   string `json:"from"` // address; of a goroutine: its id
	Name   string `json:"name"` // of the last edge; "[42]" is an element
	Clicks int    `json:"clicks"`
	To     string `json:"to,omitempty"`    // address; "" is any
	Then   string `json:"then,omitempty"`  // an edge from there
	Final  string `json:"final,omitempty"` // to this address
	Absent bool   `json:"absent,omitempty"`
	Index  bool   `json:"index,omitempty"` // the name is "[#3]" with any number, and Name behind it
}

type known struct {
	Expected []Expected `json:"expected"`
	Waiting  []Expected `json:"waiting"`
	Weak     []Expected `json:"weak"`
	Garbage  []string   `json:"garbage"` // what a map has by integers that nothing holds
	Texts    []string   `json:"texts"`   // of string nodes
	Secrets  []string   `json:"secrets"`
	Fields   []string   `json:"fields"` // secret names that package reflect was given
	Pins     []string   `json:"pins"`   // secret texts of four digits
	Ints     []string   `json:"ints"`   // secret numbers, some of them negated
}

var know known

type leaf struct {
	self *leaf // so that it has a pointer
	n    int
}

func newLeaf() *leaf { l := &leaf{n: 1}; l.self = l; return l }

func address(p unsafe.Pointer) string { return fmt.Sprintf("%#x", uintptr(p)) }

// header is where a map or channel value points to.
func header(value interface{}) string {
	return address(unsafe.Pointer(reflect.ValueOf(value).Pointer()))
}

// fresh is a copy of a string on the heap.
func fresh(s string) string { return string(append(make([]byte, 0, len(s)), s...)) }

// label is how a string is named in the snapshot.
func label(s string) string {
	runes := []rune(s) // each bad byte becomes U+FFFD
	if len(runes) > 64 {
		return `["` + string(runes[:64]) + `…"]`
	}
	return `["` + string(runes) + `"]`
}

func expect(where, from, name, to string) {
	know.Expected = append(know.Expected, Expected{Where: where, From: from, Name: name, Clicks: 2, To: to})
}

func to(l *leaf) string { return address(unsafe.Pointer(l)) }

var keep []interface{}

func stringMap(where string, keys []string) map[string]*leaf {
	m := make(map[string]*leaf)
	for _, k := range keys {
		m[k] = newLeaf()
	}
	for k, v := range m {
		expect(where, header(m), label(k), to(v))
	}
	keep = append(keep, m)
	return m
}

func numbered(prefix string, n int) (keys []string) {
	for i := 0; i < n; i++ {
		keys = append(keys, fresh(fmt.Sprint(prefix, i)))
	}
	return
}

// integers is of a map from some kind of integer to leaves, filled with the leaves of keys.
func integers(where string, m interface{}, keys ...interface{}) {
	v := reflect.ValueOf(m)
	for _, k := range keys {
		v.SetMapIndex(reflect.ValueOf(k).Convert(v.Type().Key()), reflect.ValueOf(newLeaf()))
	}
	for r := v.MapRange(); r.Next(); {
		expect(where, header(m), fmt.Sprintf("[%d]", r.Key().Interface()), to(r.Value().Interface().(*leaf)))
	}
	keep = append(keep, m)
}

// indexed is of a map to leaves.
func indexed(where string, m interface{}) {
	for r := reflect.ValueOf(m).MapRange(); r.Next(); {
		know.Expected = append(know.Expected, Expected{Where: where, From: address(unsafe.Pointer(reflect.ValueOf(m).Pointer())), Clicks: 2,
			To: to(r.Value().Interface().(*leaf)), Index: true})
	}
	keep = append(keep, m)
}

type pair struct{ first, second *leaf }

type big struct {
	words [60]uintptr
	leaf  *leaf
}

type id string
type weekday uint8

// odd strings: DevTools has a meaning of its own for some, as names of other nodes.
var odd = []string{
	"", "<", "<-chan int", "Detached window", "system / Context", "Object", "Array", "(string)", "Window / x", "__proto__",
	"\xff\xfe", "a\xed\xa0\x80b", "\xe2\x82", "\x00\x01\x1f\x7f", "line\nline\ttab", `quote"back\slash`, "日本語", "\U0001f600 face",
	strings.Repeat("x", 64), strings.Repeat("y", 65), strings.Repeat("é", 64), strings.Repeat("ü", 65), strings.Repeat("z", 5000),
	"17 [select]", "[42]", `["nested"]`, "]}", "\u2028",
}

func buildMaps() {
	stringMap("small", []string{"alice", "bob", fresh("carol"), fresh("a key of more than sixteen bytes")})
	stringMap("large", numbered("large key ", 5000))
	stringMap("growing", numbered("growing ", 835))
	var oddKeys []string
	for _, s := range odd {
		oddKeys = append(oddKeys, fresh(s))
		s = "this text is: " + s + "." // too long to share a block with others
		keep = append(keep, &text{fresh(s)})
		if len(s) < 1000 {
			know.Texts = append(know.Texts, string([]rune(s)))
		}
	}
	stringMap("odd", oddKeys)

	deleted := stringMap("deleted", numbered("deleted ", 300))
	know.Expected = know.Expected[:len(know.Expected)-300]
	for i := 0; i < 300; i++ {
		k := fmt.Sprint("deleted ", i)
		if i%3 != 0 {
			delete(deleted, k)
		}
		expect("deleted", header(deleted), label(k), "")
		if l := deleted[k]; l != nil {
			know.Expected[len(know.Expected)-1].To = to(l)
		} else {
			know.Expected[len(know.Expected)-1].Absent = true
		}
	}

	integers("int", map[int]*leaf{}, 0, 1, -1, 42, -7, math.MaxInt32-1, math.MaxInt32, math.MinInt32)
	integers("int8", map[int8]*leaf{}, -128, 127, 0)
	integers("int64", map[int64]*leaf{}, int64(math.MinInt64), int64(math.MaxInt64), int64(1<<31), 1<<31-1, 1<<31-2)
	integers("uint64", map[uint64]*leaf{}, uint64(math.MaxUint64), uint64(1<<63), 5)
	integers("uint16", map[uint16]*leaf{}, 65535, 256)
	integers("named uint8", map[weekday]*leaf{}, 3)
	integers("uintptr", map[uintptr]*leaf{}, 77)
	var many []interface{}
	for i := 0; i < 5000; i++ {
		many = append(many, i*7-300)
	}
	integers("many ints", map[int]*leaf{}, many...)

	bools := map[bool]*leaf{true: newLeaf(), false: newLeaf()}
	expect("bool", header(bools), "[true]", to(bools[true]))
	expect("bool", header(bools), "[false]", to(bools[false]))
	ids := map[id]*leaf{id(fresh("an id")): newLeaf()}
	expect("named string", header(ids), `["an id"]`, to(ids["an id"]))
	anys := map[interface{}]*leaf{"any": newLeaf(), fresh("fresh any"): newLeaf(), 1234567: newLeaf(), -5: newLeaf(), true: newLeaf(),
		id("any id"): newLeaf(), weekday(200): newLeaf()}
	for k, v := range anys {
		switch k.(type) {
		case string, id:
			expect("interface", header(anys), fmt.Sprintf(`["%v"]`, k), to(v))
		default:
			expect("interface", header(anys), fmt.Sprintf("[%v]", k), to(v))
		}
	}
	keep = append(keep, bools, ids, anys)

	indexed("float", map[float64]*leaf{1.5: newLeaf(), math.NaN(): newLeaf(), -math.NaN(): newLeaf(), math.Inf(1): newLeaf()})
	indexed("complex", map[complex128]*leaf{1i: newLeaf()})
	indexed("pointer", map[*leaf]*leaf{newLeaf(): newLeaf(), newLeaf(): newLeaf()})
	structKeys := map[struct{ a, b string }]*leaf{{"a", "b"}: newLeaf()}
	expect("struct", header(structKeys), `[{"a", "b"}]`, to(structKeys[struct{ a, b string }{"a", "b"}]))
	arrays2 := map[[2]string]*leaf{{"a", "b"}: newLeaf()}
	expect("array", header(arrays2), `[{"a", "b"}]`, to(arrays2[[2]string{"a", "b"}]))
	bytes := map[[4]byte]*leaf{{1, 0xfe, 0, 16}: newLeaf()}
	expect("bytes", header(bytes), `[01fe0010]`, to(bytes[[4]byte{1, 0xfe, 0, 16}]))
	keep = append(keep, structKeys, arrays2, bytes)
	indexed("struct with a pointer", map[struct{ a *leaf }]*leaf{{newLeaf()}: newLeaf()})
	indexed("large key", map[[40]int]*leaf{{1}: newLeaf(), {2}: newLeaf()})
	indexed("any of no text", map[interface{}]*leaf{1.5: newLeaf(), newLeaf(): newLeaf(), [2]int{}: newLeaf()})

	pairs := map[string]pair{"one": {newLeaf(), newLeaf()}, fresh("two"): {newLeaf(), newLeaf()}}
	intPairs := map[int]pair{8: {newLeaf(), newLeaf()}, -8: {newLeaf(), newLeaf()}}
	arrays := map[string][2]*leaf{"array": {newLeaf(), newLeaf()}}
	slices := map[string][]*leaf{fresh("slice"): {newLeaf()}}
	interfaces := map[string]interface{}{"pointer": newLeaf()}
	for k, v := range pairs {
		expect("struct elem", header(pairs), label(k)+".first", to(v.first))
		expect("struct elem", header(pairs), label(k)+".second", to(v.second))
	}
	for k, v := range intPairs {
		expect("struct elem of int", header(intPairs), fmt.Sprintf("[%d].second", k), to(v.second))
	}
	expect("array elem", header(arrays), `["array"][1]`, to(arrays["array"][1]))
	expect("slice elem", header(slices), `["slice"]`, address(unsafe.Pointer(&slices["slice"][0])))
	expect("interface elem", header(interfaces), `["pointer"]`, to(interfaces["pointer"].(*leaf)))
	keep = append(keep, pairs, intPairs, arrays, slices, interfaces)

	bigs := map[string]big{"big": {leaf: newLeaf()}, fresh("another big"): {leaf: newLeaf()}}
	for k, v := range bigs {
		know.Expected = append(know.Expected, Expected{Where: "large elem", From: header(bigs), Name: label(k), Clicks: 2,
			Then: "leaf", Final: to(v.leaf)})
	}
	nested := map[string]map[int]map[string]*leaf{"outer": {}}
	for i := 0; i < 20; i++ {
		inner := map[string]*leaf{fresh("inner"): newLeaf()}
		nested["outer"][i] = inner
		expect("nested", header(nested["outer"]), fmt.Sprintf("[%d]", i), header(inner))
		expect("nested", header(inner), `["inner"]`, to(inner["inner"]))
	}
	expect("nested", header(nested), `["outer"]`, header(nested["outer"]))
	keep = append(keep, bigs, nested)

	// Edges to the keys' own data.
	long := "the data of this key is an object of its own"
	data := map[string]*leaf{fresh(long): newLeaf()}
	for k := range data {
		bytes := *(*unsafe.Pointer)(unsafe.Pointer(&k))
		expect("key", header(data), label(k)+" (key)", address(bytes))
	}
	key := newLeaf()
	pointers := map[*leaf]*leaf{key: newLeaf()}
	know.Expected = append(know.Expected, Expected{Where: "pointer key", From: header(pointers), Name: " (key)", Index: true, Clicks: 2,
		To: to(key)})
	structs := map[struct {
		n int
		l *leaf
	}]*leaf{{1, key}: newLeaf()}
	know.Expected = append(know.Expected, Expected{Where: "struct key", From: header(structs), Name: " (key.l)", Index: true, Clicks: 2,
		To: to(key)})
	keep = append(keep, data, pointers, structs)
}

type text struct{ s string }

// The contents of these must not be in a redacted snapshot.
func buildSecrets() {
	secret := fresh("hunter2-is-the-password")
	ints := map[int]*leaf{918273645: newLeaf(), 716253443: newLeaf(), -918273645: newLeaf()}
	boxed := 817263542 + len(os.Args) // no constant: on the heap
	anys := map[interface{}]*leaf{boxed: newLeaf(), fresh("sw0rdfish-secret"): newLeaf()}
	more := map[int64]pair{615243342: {newLeaf(), nil}}
	m := map[string]*text{secret: {secret}, fresh("sh0rt-scr"): {fresh("t0psecret")}, "l1teral-secret": {secret}}
	know.Secrets = []string{"hunter2-is", "sw0rdfish-secret", "sh0rt-scr", "t0psecret", "l1teral-secret", "918273645", "716253443",
		"817263544", "615243342"}
	know.Ints = []string{"918273645", "716253443", "817263544", "615243342"}
	keep = append(keep, ints, anys, more, m)

	pins := map[string]*text{}
	for _, pin := range []string{"4711", "0815", "1234"} {
		pins[fresh(pin)] = &text{fresh(pin)}
		know.Pins = append(know.Pins, pin)
	}
	keep = append(keep, pins)

	// Names that are data: of the columns of somebody's table, say.
	columns := reflect.StructOf([]reflect.StructField{
		{Name: "C0lumnOne", Type: reflect.TypeOf("")},
		{Name: "C0lumnTwo", Type: reflect.TypeOf((*leaf)(nil)), Tag: `json:"s3cret-tag"`}})
	rows := reflect.MakeSlice(reflect.SliceOf(columns), 3, 3)
	for i := 0; i < 3; i++ {
		rows.Index(i).Field(0).SetString(fresh("the text of a row"))
		rows.Index(i).Field(1).Set(reflect.ValueOf(newLeaf()))
	}
	row := reflect.New(columns)
	row.Elem().Set(rows.Index(1))
	know.Fields = []string{"C0lumnOne", "C0lumnTwo"}
	keep = append(keep, rows.Interface(), row.Interface())

	// Since it has a method, the dump has a record of the type, with its tag.
	named := reflect.New(reflect.StructOf([]reflect.StructField{
		{Name: "Stringer", Type: reflect.TypeOf(&stringer{}), Anonymous: true, Tag: `json:"t4g-of-a-struct"`}})).Elem()
	named.Field(0).Set(reflect.ValueOf(&stringer{newLeaf()}))
	keep = append(keep, []fmt.Stringer{named.Interface().(fmt.Stringer)})
}

type stringer struct{ leaf *leaf }

func (*stringer) String() string { return "a stringer" }

func goid() string {
	buffer := make([]byte, 64)
	return strings.Fields(string(buffer[:runtime.Stack(buffer, false)]))[1]
}

func buildWaiting() {
	one, two, three := make(chan *leaf), make(chan int, 4), make(chan string)
	ids := make(chan string)
	go func() { ids <- goid(); <-one }()
	receiver := <-ids
	go func() {
		ids <- goid()
		select {
		case <-two:
		case three <- "x":
		}
	}()
	selecting := <-ids
	know.Waiting = append(know.Waiting,
		Expected{Where: "receive", From: receiver, Name: "waiting on", To: header(one)},
		Expected{Where: "select", From: selecting, Name: "waiting on", To: header(two)},
		Expected{Where: "select", From: selecting, Name: "waiting on", To: header(three)})
	keep = append(keep, one, two, three)
}

// buildGarbage makes a map that nothing holds any more, of values that live. Its entries are so many that they are in one
// object whose type stands before it, from Go 1.22 on.
//
//go:noinline
func buildGarbage() {
	m := make(map[int]*leaf)
	for i := 0; i < 100; i++ {
		l := newLeaf()
		m[i*7+1] = l
		keep = append(keep, l)
		know.Garbage = append(know.Garbage, to(l))
	}
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: keys DIRECTORY")
		os.Exit(2)
	}
	buildMaps()
	buildSecrets()
	buildWaiting()
	buildWeak()
	for i := 0; i < 3; i++ {
		settle.Settle()
		runtime.GC()
	}
	debug.SetGCPercent(-1)
	buildGarbage()
	encoded, err := json.Marshal(&know)
	if err == nil {
		err = ioutil.WriteFile(filepath.Join(os.Args[1], "keys.json"), encoded, 0o666)
	}
	know.Secrets = nil
	var file *os.File
	if err == nil {
		file, err = os.Create(filepath.Join(os.Args[1], "keys.dump"))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	debug.WriteHeapDump(file.Fd())
	runtime.KeepAlive(keep)
}
