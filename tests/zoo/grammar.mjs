// The grammar of the zoo: what a program may consist of. A plan is plain data, made from a seed alone, so that a program can be named by
// its seed and shrunk by leaving parts of its plan out. program.mjs writes the Go program of a plan.
//
// Each container is a struct C whose method add(j) adds one element; each element is what new() returns. Names have the tag of their
// plant at the end (seed and number), so that no two plants share a class but for twins: C7_1, E7_1. Go code here has $ for that tag, and
// # for the number alone. Types of holders get a small h, so that they never meet those of elements: Hh7_1.

/** Returns a generator of numbers below n, by xorshift: the same for the same seed everywhere. */
export function random(seed) {
  let state = (Math.imul(seed, 0x9e3779b1) ^ 0x5bd1e995) >>> 0 || 1;
  return n => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    state >>>= 0;
    return state % n;
  };
}

/**
 * Elements: the declaration of E$, and what makes the j-th one. bytes: about how large one is with what it holds, by which counts are
 * chosen. extra: other objects that belong to each element. closures: each has one, whose function is in new$.
 */
export const elements = {
  small: {bytes: 16, type: 'type E$ struct{ id, n int }', make: '&E${id: j, n: 1}'},
  byte: {bytes: 24, type: 'type E$ struct{ id int32; next *E$; b byte }', make: '&E${id: int32(j), b: 7}'},
  string: {bytes: 64, type: 'type E$ struct{ id int; name string }', make: '&E${j, "name-" + strconv.Itoa(j*7919)}'},
  bytes: {bytes: 330, type: 'type E$ struct{ id int; body []byte }', make: '&E${j, make([]byte, 290)}'},
  padded: {bytes: 1152, type: 'type E$ struct{ id int; pad [1100]byte }', make: '&E${id: j}'},
  large: {bytes: 20480, type: 'type E$ struct{ id int; pad [20000]byte }', make: '&E${id: j}'},
  pointers: {bytes: 400, type: 'type P$ struct{ v [4]int }\ntype E$ struct{ a, b, c *P$; id int; d [5]*P$ }',
    make: '&E${a: &P${}, b: &P${}, c: &P${}, id: j}', extra: {P$: 3}},
  wide: {bytes: 8192 + 200 * 48, type: 'type Q$ struct{ v [6]int }\ntype E$ struct{ id int; all [900]*Q$ }',
    make: 'func() *E$ { e := &E${id: j}; for i := 0; i < 200; i++ { e.all[i*4] = &Q${} }; return e }()', extra: {Q$: 200}},
  huge: {bytes: 262144 + 300 * 48, type: 'type H$ struct{ v [6]int }\ntype E$ struct{ name string; all [30000]*H$; id int }',
    make: 'func() *E$ { e := &E${id: j}; for i := 0; i < 300; i++ { e.all[i*100] = &H${} }; return e }()', extra: {H$: 300}},
  embedded: {bytes: 112, type: 'type B$ struct{ a, b int; s []int }\ntype E$ struct{ B$; id int }', make: '&E${B${1, 2, make([]int, 4)}, j}'},
  any: {bytes: 48, type: 'type E$ struct{ id int; v any }', make: '&E${j, []any{j + 1000, strconv.Itoa(j + 1000), float64(j)}[j%3]}'},
  anonymous: {bytes: 64, type: 'type E$ struct{ id int; in struct{ x, y int; more *[]int } }',
    make: 'func() *E$ { e := &E${id: j}; s := make([]int, 3); e.in.more = &s; return e }()', classes: {'[]int header': 1}},
  recursive: {bytes: 96, type: 'type E$ struct{ id int; left, right *E$ }', make: '&E${j, &E${id: -j}, &E${id: -j - 1}}', self: 3},
  function: {bytes: 64, type: 'type E$ struct{ id int; f func() int }', make: 'func() *E$ { k := j * 3; e := &E${id: j}; e.f = func() int { return k + e.id }; return e }()'},
  map: {bytes: 400, type: 'type E$ struct{ id int; m map[int]string }', make: '&E${j, map[int]string{j: "v", j + 1: "w"}}'},
  dense: {bytes: 1152 + 6 * 32, type: 'type Q$ struct{ v [4]int }\nvar shared$ *Q$\ntype E$ struct{ id int; all [140]*Q$ }',
    make: 'func() *E$ { if shared$ == nil { shared$ = &Q${} }; e := &E${id: j}; for i := range e.all { e.all[i] = shared$ }; for i := 0; i < 6; i++ { e.all[i*20+9] = &Q${} }; return e }()', extra: {Q$: 6}, once: {Q$: 1}},
  mega: {bytes: 1 << 20, type: 'type Q$ struct{ v [4]int }\ntype E$ struct{ id int; pad [1 << 20 - 8192]byte; last *Q$ }', make: '&E${id: j, last: &Q${}}', extra: {Q$: 1}},
  last: {bytes: 4864, type: 'type Q$ struct{ v [6]int }\ntype E$ struct{ id int; pad [600]int; last *Q$ }', make: '&E${id: j, last: &Q${}}', extra: {Q$: 1}},
  substring: {bytes: 32, type: 'var text$ = strings.Repeat("abcdefghij", 40)\ntype E$ struct{ id int; s string }', make: '&E${j, text$[j%100 : j%100+20]}'},
  boxed_slice: {bytes: 32 + 24 + 112, type: 'type E$ struct{ id int; v any }', make: '&E${j, make([]byte, 100)}', classes: {'[]uint8 header': 1}},
  boxed_pointer: {bytes: 32 + 64, type: 'type B$ struct{ s []int; n [4]int }\ntype E$ struct{ id int; v any }', make: '&E${j, &B${n: [4]int{j}}}', extra: {B$: 1}},
  slice_pointer: {bytes: 16 + 24 + 64, type: 'type E$ struct{ id int; s *[]int64 }', make: 'func() *E$ { s := make([]int64, 8); return &E${j, &s} }()', classes: {'[]int64 header': 1}},
  sums: {bytes: 100, type: 'type A$ struct{ n int; s string }\ntype B$ struct{ s string; p *A$ }\ntype V$ interface{ sum$() int }\nfunc (a *A$) sum$() int { return a.n }\nfunc (b *B$) sum$() int { return b.p.n }\ntype E$ struct{ id int; v, w V$ }',
    make: 'func() *E$ { a := &A${n: j}; return &E${j, a, &B${"x", a}} }()', extra: {A$: 1, B$: 1}},
  time: {bytes: 64, type: 'type E$ struct{ id int; at time.Time; d time.Duration }', make: '&E${j, time.Unix(int64(j), 0), time.Second}'},
  channel: {bytes: 160, type: 'type E$ struct{ id int; ch chan *E$ }', make: '&E${j, make(chan *E$, 4)}'},
  locked: {bytes: 64, type: 'type E$ struct{ mu sync.RWMutex; id int; once sync.Once; seen atomic.Value }', make: '&E${id: j}'},
  array: {bytes: 208, type: 'type P$ struct{ a, b int }\ntype U$ [3][4]*P$\ntype E$ struct{ id int; r U$ }', make: 'func() *E$ { e := &E${id: j}; e.r[1][2], e.r[2][3] = &P${}, &P${}; return e }()', extra: {P$: 2}},
  generic: {bytes: 120, type: 'type O$[T any] struct{ v *T; ok bool }\ntype D$ struct{ a, b, c int }\ntype E$ struct{ id int; o O$[D$]; q [2]O$[string] }',
    make: 'func() *E$ { s := strconv.Itoa(j + 1000); return &E${j, O$[D$]{v: &D${}}, [2]O$[string]{{}, {v: &s}}} }()', extra: {D$: 1}},
  cyclic: {bytes: 96, type: 'type Y$ struct{ up *E$; n [2]int }\ntype E$ struct{ id int; down *Y$; self *E$ }', make: 'func() *E$ { e := &E${id: j}; e.self, e.down = e, &Y${up: e}; return e }()', extra: {Y$: 1}},
  interior: {bytes: 240, type: 'type Y$ struct{ pad [20]int; in struct{ a, b int } }\ntype E$ struct{ id int; at *int }', make: 'func() *E$ { y := &Y${}; return &E${j, &y.in.b} }()', untyped: {Y$: 1}},
  unsafe: {bytes: 96, type: 'type Y$ struct{ v [9]int }\ntype E$ struct{ id int; p unsafe.Pointer }', make: '&E${j, unsafe.Pointer(&Y${})}', untyped: {Y$: 1}},
  weak: {from: 24, bytes: 64, type: 'type Y$ struct{ v [3]int }\nvar strong$ []*Y$\ntype E$ struct{ id int; w weak.Pointer[Y$] }', make: 'func() *E$ { if len(strong$) == 0 { strong$ = append(strong$, &Y${}) }; return &E${j, weak.Make(strong$[0])} }()', once: {Y$: 1}},
  unique: {from: 23, bytes: 96, type: 'type E$ struct{ id int; h unique.Handle[string] }', make: '&E${j, unique.Make("u" + strconv.Itoa(j%50))}'},
  mask: {bytes: 2080, type: 'type M$ struct{ v [3]int }\ntype E$ struct{ id int; s [4]struct{ a [30]int; p [30]*M$; b [4]string } }',
    make: 'func() *E$ { e := &E${id: j}; e.s[1].p[7], e.s[3].p[29] = &M${}, &M${}; return e }()', extra: {M$: 2}},
  tiny: {bytes: 8, type: 'type E$ struct{ id int32 }', make: '&E${int32(j)}', blocks: true},
  text: {bytes: 32 + 4096, type: 'type E$ struct{ id int; body string }', make: '&E${j, strings.Repeat(strconv.Itoa(j%10), 4000)}'},
  shared_text: {bytes: 32, type: 'var texts$ [7]string\ntype E$ struct{ id int; s string }', make: 'func() *E$ { if texts$[j&3] == "" { texts$[j&3] = strings.Repeat("ab", 300) }; return &E${j, texts$[j&3]} }()'},
  boxed_text: {bytes: 32 + 16 + 64, type: 'type E$ struct{ id int; v, w any }', make: '&E${j, strings.Repeat("x", 50) + strconv.Itoa(j), [3]int{j, 1, 2}}'},
  named_slice: {bytes: 32 + 24 + 96, type: 'type Y$ []*E$\ntype E$ struct{ id int; v any }', make: '&E${j, Y${nil, nil, nil, 11: nil}}', extra: {Y$: 1}},
  bare_box: {bytes: 32 + 64, type: 'type B$ struct{ n [6]int; s string }\ntype E$ struct{ id int; v any }', make: '&E${j, B${n: [6]int{j}}}', extra: {B$: 1}},
  decoded: {bytes: 900, type: 'type E$ struct{ id int; v map[string]any }', make: '&E${j, map[string]any{"name": strconv.Itoa(j + 1000), "spec": map[string]any{"n": float64(j), "tags": []any{"a", true, nil}}}}'},
  headers: {bytes: 700, type: 'type M$ map[string][]string\ntype E$ struct{ id int; h M$ }', make: 'func() *E$ { h := M${}; for i := 0; i < 3; i++ { h["key-"+strconv.Itoa(i)] = []string{strconv.Itoa(j + 1000)} }; return &E${j, h} }()'},
  delegate: {bytes: 32 + 64, type: 'type E$ struct{ id int; v any }', make: 'func() *E$ { if j&1 == 0 { return &E${j, &struct{ *store.Part; io.Reader }{}} }; return &E${j, &struct{ *store.Part; io.Reader; fmt.Stringer }{}} }()'},
  error: {bytes: 180, type: 'type E$ struct{ id int; err error }', make: '&E${j, fmt.Errorf("entry %d: %w", j+1000, io.EOF)}'},
  pointer_pointer: {bytes: 16 + 8 + 48, type: 'type Y$ struct{ v [5]int; s *string }\ntype E$ struct{ id int; p **Y$ }', make: 'func() *E$ { y := &Y${}; return &E${j, &y} }()', extra: {Y$: 1}},
  raw: {bytes: 32 + 128, type: 'type E$ struct{ id int; raw json.RawMessage }', make: '&E${j, json.RawMessage(`{"id":` + strings.Repeat("1", 100) + `}`)}'},
  by_value: {bytes: 32 + 112, type: 'type Y$ struct{ v [3]int }\ntype S$ struct{ a, b int; p *Y$ }\ntype E$ struct{ id int; f func() int }', make: 'func() *E$ { s, y := S${j, j + 1, &Y${}}, &Y${}; return &E${j, func() int { return s.a + s.p.v[0] + y.v[1] }} }()', closures: true, extra: {Y$: 2}},
  expires: {bytes: 32 + 32, type: 'type E$ struct{ id int; late func(time.Time) bool }', make: 'func() *E$ { at := time.Unix(int64(j), 0); return &E${j, func(now time.Time) bool { return now.After(at) }} }()', closures: true},
  wrapped: {bytes: 32 + 48, type: 'type R$ interface{ io.Reader; Own() int }\ntype D$ struct{ *store.Part }\nfunc (D$) Own() int { return 1 }\ntype E$ struct{ id int; v io.Reader }',
    make: 'func() *E$ { d := D${}; switch j & 7 { case 0: return &E${j, &struct{ *store.Part; io.Reader }{}}; case 1: return &E${j, &struct{ *store.Part; io.Reader; fmt.Stringer }{}}; case 2: return &E${j, &struct{ D$; *store.Part; io.Reader; io.Closer }{D$: d}}; case 3: return &E${j, &struct{ *store.Part; io.Reader; io.Seeker }{}}; case 4: return &E${j, &struct{ *store.Part; io.Reader; io.Writer }{}}; case 5: return &E${j, &struct{ *store.Part; io.Reader; io.Closer; io.Writer }{}}; case 6: return &E${j, &struct{ *store.Part; io.Reader; io.Closer; io.Seeker }{}} }; return &E${j, &struct{ *store.Part; R$ }{}} }()'},
  foreign: {bytes: 32 + 80, type: 'type E$ struct{ id int; p *store.Part }', make: '&E${j, &store.Part{Name: "x"}}'},
};

/**
 * Containers: the declaration of C$ and of its method add(j). E is new element. from: the first release that has it. keeps: what a
 * container holds of each element added, if that is not one E$ ("none": no object of its own). stays: something else holds its
 * elements as well, so they remain when another container takes its place. elsewhere: perhaps half of its bytes are held by a package.
 * also: another variable that holds all of its elements. each: bytes that it takes for each, if these are many.
 */
export const containers = {
  slice: {type: 'type C$ struct{ list []*E$ }', add: 'c.list = append(c.list, NEW)'},
  map_string: {type: 'type C$ struct{ byName map[string]*E$ }', add: 'if c.byName == nil { c.byName = map[string]*E${} }\nc.byName["key-"+strconv.Itoa(j)] = NEW'},
  map_int: {type: 'type C$ struct{ byID map[int]*E$ }', add: 'if c.byID == nil { c.byID = map[int]*E${} }\nc.byID[j] = NEW'},
  map_struct: {type: 'type K$ struct{ a int32; b uint64 }\ntype C$ struct{ byKey map[K$]*E$ }', add: 'if c.byKey == nil { c.byKey = map[K$]*E${} }\nc.byKey[K${int32(j), 5}] = NEW'},
  map_any: {type: 'type C$ struct{ byKey map[any]*E$ }', add: 'if c.byKey == nil { c.byKey = map[any]*E${} }\nif j%2 == 0 { c.byKey[j] = NEW } else { c.byKey[strconv.Itoa(j)] = NEW }'},
  map_pointer: {type: 'type C$ struct{ set map[*E$]struct{} }', add: 'if c.set == nil { c.set = map[*E$]struct{}{} }\nc.set[NEW] = struct{}{}'},
  map_slices: {split: true, type: 'type C$ struct{ groups map[int][]*E$ }', add: 'if c.groups == nil { c.groups = map[int][]*E${} }\nc.groups[j/4] = append(c.groups[j/4], NEW)'},
  map_maps: {split: true, type: 'type C$ struct{ nested map[string]map[int]*E$ }', add: 'if c.nested == nil { c.nested = map[string]map[int]*E${} }\nk := strconv.Itoa(j / 8)\nif c.nested[k] == nil { c.nested[k] = map[int]*E${} }\nc.nested[k][j] = NEW'},
  sync_map: {each: 110, type: 'type C$ struct{ m sync.Map }', add: 'c.m.Store("k"+strconv.Itoa(j), NEW)'},
  channel: {type: 'type C$ struct{ ch chan *E$ }', add: 'if c.ch == nil { c.ch = make(chan *E$, 20000) }\nc.ch <- NEW', base: 160000, most: 5000},
  list: {type: 'type C$ struct{ l *list.List }', add: 'if c.l == nil { c.l = list.New() }\nc.l.PushBack(NEW)'},
  ring: {type: 'type C$ struct{ r *ring.Ring }', add: 'n := ring.New(1)\nn.Value = NEW\nif c.r == nil { c.r = n } else { c.r.Link(n) }'},
  linked: {type: 'type N$ struct{ next *N$; v *E$ }\ntype C$ struct{ head *N$ }', add: 'c.head = &N${c.head, NEW}', extra: {N$: 1}},
  tree: {type: 'type N$ struct{ key int; left, right *N$; v *E$ }\ntype C$ struct{ root *N$ }',
    add: 'at, key := &c.root, j*7919%100003\nfor *at != nil { if key < (*at).key { at = &(*at).left } else { at = &(*at).right } }\n*at = &N${key: key, v: NEW}', extra: {N$: 1}},
  trie: {split: true, type: 'type N$ struct{ children map[byte]*N$; v []*E$ }\ntype C$ struct{ root N$ }',
    add: 'n := &c.root\nfor _, b := range []byte(strconv.Itoa(j % 1000)) { if n.children == nil { n.children = map[byte]*N${} }; if n.children[b] == nil { n.children[b] = &N${} }; n = n.children[b] }\nn.v = append(n.v, NEW)'},
  lru: {split: true, type: 'type C$ struct{ items map[string]*list.Element; order *list.List }', add: 'if c.items == nil { c.items, c.order = map[string]*list.Element{}, list.New() }\nc.items["i"+strconv.Itoa(j)] = c.order.PushFront(NEW)'},
  two_indexes: {split: true, type: 'type C$ struct{ byID map[int]*E$; byName map[string]*E$ }', add: 'if c.byID == nil { c.byID, c.byName = map[int]*E${}, map[string]*E${} }\ne := NEW\nc.byID[j], c.byName["n"+strconv.Itoa(j)] = e, e'},
  sharded: {split: true, type: 'type S$ struct{ mu sync.Mutex; m map[int]*E$ }\ntype C$ struct{ shards [16]S$ }', add: 's := &c.shards[j%16]\ns.mu.Lock()\nif s.m == nil { s.m = map[int]*E${} }\ns.m[j] = NEW\ns.mu.Unlock()'},
  queue: {type: 'type C$ struct{ elems []*E$ }', add: 'c.elems = append(c.elems, NEW)\nif j%4 == 3 { c.elems = c.elems[1:] }', count: 'loose'},
  atomic: {type: 'type N$ struct{ next atomic.Pointer[N$]; v *E$ }\ntype C$ struct{ top atomic.Pointer[N$] }', add: 'n := &N${v: NEW}\nn.next.Store(c.top.Load())\nc.top.Store(n)', extra: {N$: 1}},
  generic: {split: true, type: 'type G$[K comparable, V any] struct{ mu sync.RWMutex; m map[K]V; keys []K }\ntype C$ struct{ g G$[string, *E$] }',
    add: 'if c.g.m == nil { c.g.m = map[string]*E${} }\nk := "g" + strconv.Itoa(j)\nc.g.m[k] = NEW\nc.g.keys = append(c.g.keys, k)'},
  functions: {type: 'type C$ struct{ callbacks []func() int }', add: 'e := NEW\nc.callbacks = append(c.callbacks, func() int { return int(e.id) })'},
  interfaces: {type: 'type I$ interface{ ID() int }\nfunc (e *E$) ID() int { return int(e.id) }\ntype C$ struct{ all []I$ }', add: 'c.all = append(c.all, NEW)'},
  context: {type: 'type X$ int\ntype C$ struct{ ctx context.Context }', add: 'if c.ctx == nil { c.ctx = context.Background() }\nc.ctx = context.WithValue(c.ctx, X$(j), NEW)'},
  array: {type: 'type C$ struct{ n int; all [20000]*E$ }', add: 'c.all[c.n] = NEW\nc.n++', base: 160016, most: 5000},
  array_slice: {type: 'type C$ struct{ rows [][8]*E$; n int }', add: 'if c.n%8 == 0 { c.rows = append(c.rows, [8]*E${}) }\nc.rows[c.n/8][c.n%8] = NEW\nc.n++'},
  slice_values: {type: 'type C$ struct{ list []E$ }', add: 'c.list = append(c.list, *NEW)', values: true},
  slices: {split: true, type: 'type C$ struct{ pages [][]*E$ }', add: 'if n := len(c.pages); n == 0 || len(c.pages[n-1]) == 32 { c.pages = append(c.pages, make([]*E$, 0, 32)) }\nlast := &c.pages[len(c.pages)-1]\n*last = append(*last, NEW)'},
  slice_any: {type: 'type C$ struct{ list []any }', add: 'c.list = append(c.list, NEW)'},
  slice_pairs: {type: 'type W$ struct{ name string; v *E$; n int }\ntype C$ struct{ list []W$ }', add: 'c.list = append(c.list, W${"x", NEW, j})'},
  map_values: {type: 'type C$ struct{ byID map[uint32]E$ }', add: 'if c.byID == nil { c.byID = map[uint32]E${} }\nc.byID[uint32(j)] = *NEW', values: true},
  map_array: {type: 'type C$ struct{ byKey map[[2]int16]*E$ }', add: 'if c.byKey == nil { c.byKey = map[[2]int16]*E${} }\nc.byKey[[2]int16{int16(j), int16(j >> 16)}] = NEW'},
  map_interface: {type: 'type I$ interface{ ID() int }\nfunc (e *E$) ID() int { return int(e.id) }\ntype C$ struct{ byName map[string]I$ }', add: 'if c.byName == nil { c.byName = map[string]I${} }\nc.byName["i"+strconv.Itoa(j)] = NEW'},
  map_functions: {type: 'type C$ struct{ handlers map[string]func() *E$ }', add: 'if c.handlers == nil { c.handlers = map[string]func() *E${} }\ne := NEW\nc.handlers["h"+strconv.Itoa(j)] = func() *E$ { return e }'},
  map_sets: {split: true, type: 'type C$ struct{ topics map[string]map[*E$]bool }', add: 'if c.topics == nil { c.topics = map[string]map[*E$]bool{} }\nk := "t" + strconv.Itoa(j/6)\nif c.topics[k] == nil { c.topics[k] = map[*E$]bool{} }\nc.topics[k][NEW] = true'},
  map_channels: {split: true, type: 'type C$ struct{ subs map[int]chan *E$ }', add: 'if c.subs == nil { c.subs = map[int]chan *E${} }\nch := make(chan *E$, 1)\nch <- NEW\nc.subs[j] = ch'},
  map_structs: {type: 'type S$ struct{ hits int; last *E$; name string }\ntype C$ struct{ stats map[string]S$ }', add: 'if c.stats == nil { c.stats = map[string]S${} }\nc.stats["s"+strconv.Itoa(j)] = S${1, NEW, "n"}'},
  map_shrunk: {type: 'type C$ struct{ byID map[int]*E$; n int }', add: 'if c.byID == nil { c.byID = map[int]*E${} }\nc.byID[j] = NEW\nfor i := 0; i < 3; i++ { c.n++; c.byID[-c.n] = nil; delete(c.byID, -c.n) }'},
  channels: {split: true, type: 'type C$ struct{ chs []chan *E$; n int }', add: 'if c.n%8 == 0 { c.chs = append(c.chs, make(chan *E$, 8)) }\nc.chs[len(c.chs)-1] <- NEW\nc.n++'},
  doubly: {type: 'type N$ struct{ prev, next *N$; v *E$ }\ntype C$ struct{ first, last *N$; n int }', add: 'n := &N${prev: c.last, v: NEW}\nif c.last == nil { c.first = n } else { c.last.next = n }\nc.last = n\nc.n++', extra: {N$: 1}},
  btree: {split: true, type: 'type N$ struct{ kids [16]*N$; items [4]*E$; n int }\ntype C$ struct{ root N$ }', add: 'n := &c.root\nfor k := j; n.n == 4; k >>= 4 { if n.kids[k&15] == nil { n.kids[k&15] = &N${} }; n = n.kids[k&15] }\nn.items[n.n] = NEW\nn.n++', slow: true},
  lru_own: {split: true, type: 'type N$ struct{ prev, next *N$; key string; v *E$ }\ntype C$ struct{ items map[string]*N$; root N$ }', add: 'if c.items == nil { c.items = map[string]*N${}; c.root.next, c.root.prev = &c.root, &c.root }\nk := "k" + strconv.Itoa(j)\nn := &N${key: k, v: NEW, prev: &c.root, next: c.root.next}\nn.next.prev, c.root.next = n, n\nc.items[k] = n', extra: {N$: 1}},
  heap_index: {split: true, type: 'type W$ struct{ v *E$; at int }\ntype T$ []*W$\nfunc (t T$) Len() int { return len(t) }\nfunc (t T$) Less(a, b int) bool { return t[a].at > t[b].at }\nfunc (t T$) Swap(a, b int) { t[a], t[b] = t[b], t[a] }\nfunc (t *T$) Push(v any) { *t = append(*t, v.(*W$)) }\nfunc (t *T$) Pop() any { return nil }\ntype C$ struct{ t T$; byID map[int]*W$ }',
    add: 'if c.byID == nil { c.byID = map[int]*W${} }\nw := &W${NEW, j}\nheap.Push(&c.t, w)\nc.byID[j] = w', extra: {W$: 1}},
  sync_map_int: {each: 120, type: 'type K$ struct{ a, b int }\ntype C$ struct{ m *sync.Map }', add: 'if c.m == nil { c.m = &sync.Map{} }\nc.m.Store(K${j, 1}, NEW)'},
  sharded_pointers: {split: true, type: 'type S$ struct{ sync.RWMutex; m map[string]*E$ }\ntype C$ struct{ shards []*S$ }', add: 'if c.shards == nil { for i := 0; i < 32; i++ { c.shards = append(c.shards, &S${m: map[string]*E${}}) } }\ns := c.shards[j%32]\ns.Lock()\ns.m["k"+strconv.Itoa(j)] = NEW\ns.Unlock()', once: {S$: 32}},
  atomic_slice: {type: 'type L$ struct{ all []*E$ }\ntype C$ struct{ p atomic.Pointer[L$] }', add: 'l := c.p.Load()\nif l == nil { l = &L${} }\nc.p.Store(&L${append(l.all, NEW)})', once: {L$: 1}},
  atomic_value: {type: 'type C$ struct{ v atomic.Value }', add: 'm, _ := c.v.Load().(map[int]*E$)\nif m == nil { m = map[int]*E${}; c.v.Store(m) }\nm[j] = NEW'},
  ring_buffer: {type: 'type C$ struct{ buf []*E$; n int }', add: 'if c.n == len(c.buf) { b := make([]*E$, 2*len(c.buf)+8); copy(b, c.buf); c.buf = b }\nc.buf[c.n] = NEW\nc.n++'},
  generic_list: {type: 'type N$[T any] struct{ next *N$[T]; v T }\ntype C$ struct{ head *N$[*E$] }', add: 'c.head = &N$[*E$]{c.head, NEW}'},
  generic_set: {type: 'type G$[T comparable] struct{ m map[T]struct{} }\nfunc (g *G$[T]) put(t T) { if g.m == nil { g.m = map[T]struct{}{} }; g.m[t] = struct{}{} }\ntype C$ struct{ g *G$[*E$] }', add: 'if c.g == nil { c.g = &G$[*E$]{} }\nc.g.put(NEW)'},
  generic_lru: {split: true, type: 'type N$[K comparable, V any] struct{ k K; v V; prev, next *N$[K, V] }\ntype G$[K comparable, V any] struct{ items map[K]*N$[K, V]; head *N$[K, V] }\ntype C$ struct{ G$[int, *E$] }',
    add: 'if c.items == nil { c.items = map[int]*N$[int, *E$]{} }\nn := &N$[int, *E$]{k: j, v: NEW, next: c.head}\nif c.head != nil { c.head.prev = n }\nc.items[j], c.head = n, n'},
  chain: {type: 'type C$ struct{ last func() int }', add: 'e, f := NEW, c.last\nc.last = func() int { if f == nil { return int(e.id) }; return int(e.id) + 1 }'},
  methods: {type: 'func (e *E$) call() int { return int(e.id) }\ntype C$ struct{ fs []func() int }', add: 'c.fs = append(c.fs, NEW.call)'},
  cancels: {type: 'type C$ struct{ cancels []context.CancelFunc }', add: 'ctx, cancel := context.WithCancel(context.WithValue(context.Background(), "k", NEW))\n_ = ctx\nc.cancels = append(c.cancels, cancel)', as: /context\.cancelCtx/},
  timers: {split: true, type: 'type C$ struct{ timers []*time.Timer }', add: 'e := NEW\nc.timers = append(c.timers, time.AfterFunc(time.Hour, func() { e.id++ }))', most: 2000, as: /runtime\.(timeTimer|timer)|time\.Timer/},
  errors: {type: 'type R$ struct{ v *E$; err error }\nfunc (r *R$) Error() string { return "r" }\ntype C$ struct{ last error }', add: 'c.last = &R${NEW, c.last}', extra: {R$: 1}},
  buffers: {split: true, type: 'type C$ struct{ bufs []*bytes.Buffer; all []*E$ }', add: 'b := &bytes.Buffer{}\nb.WriteString("entry " + strconv.Itoa(j))\nc.bufs, c.all = append(c.bufs, b), append(c.all, NEW)', as: /bytes\.Buffer/},
  heap: {type: 'type T$ []*E$\nfunc (t T$) Len() int { return len(t) }\nfunc (t T$) Less(a, b int) bool { return t[a].id < t[b].id }\nfunc (t T$) Swap(a, b int) { t[a], t[b] = t[b], t[a] }\nfunc (t *T$) Push(v any) { *t = append(*t, v.(*E$)) }\nfunc (t *T$) Pop() any { return nil }\ntype C$ struct{ t T$ }',
    add: 'heap.Push(&c.t, NEW)'},
  map_ints: {none: 60, type: 'type C$ struct{ hits map[string]int }', add: 'if c.hits == nil { c.hits = map[string]int{} }\nc.hits["key-"+strconv.Itoa(j)] = j', as: /map\[string\]int/},
  map_texts: {none: 110, type: 'type C$ struct{ names map[int64]string }', add: 'if c.names == nil { c.names = map[int64]string{} }\nc.names[int64(j)] = strings.Repeat("n", 40) + strconv.Itoa(j)', as: /map\[int64\]string/},
  texts: {none: 60, type: 'type C$ struct{ lines []string }', add: 'c.lines = append(c.lines, "line "+strings.Repeat("z", 30)+strconv.Itoa(j))', as: /string/},
  pages: {none: 4140, type: 'type C$ struct{ pages [][]byte }', add: 'c.pages = append(c.pages, make([]byte, 4096))', as: /\[\](uint8|byte)/},
  named_map: {type: 'type M$ map[string]*E$\ntype C$ struct{ m M$ }', add: 'if c.m == nil { c.m = M${} }\nc.m["key-"+strconv.Itoa(j)] = NEW'},
  unique_keys: {elsewhere: true, from: 23, as: /unique\./, also: /\bunique\./, type: 'type C$ struct{ m map[unique.Handle[string]]*E$ }', add: 'if c.m == nil { c.m = map[unique.Handle[string]]*E${} }\nc.m[unique.Make("k$"+strconv.Itoa(j))] = NEW', split: true},
  weak_map: {from: 24, split: true, type: 'type C$ struct{ m map[int]weak.Pointer[E$]; all []*E$ }', add: 'if c.m == nil { c.m = map[int]weak.Pointer[E$]{} }\ne := NEW\nc.m[j], c.all = weak.Make(e), append(c.all, e)'},
  generic_tree: {type: 'type N$[K any, V any] struct{ k K; v V; left, right *N$[K, V] }\ntype C$ struct{ root *N$[int, *E$] }',
    add: 'at, key := &c.root, j*7919%100003\nfor *at != nil { if key < (*at).k { at = &(*at).left } else { at = &(*at).right } }\n*at = &N$[int, *E$]{k: key, v: NEW}'},
  generic_shards: {split: true, type: 'type S$[K comparable, V any] struct{ mu sync.RWMutex; m map[K]V }\ntype C$ struct{ shards [8]*S$[int, *E$] }', add: 's := &c.shards[j&7]\nif *s == nil { *s = &S$[int, *E$]{m: map[int]*E${}} }\n(*s).m[j] = NEW'},
  generic_pages: {split: true, type: 'type P$[T any] struct{ items [32]T; n int; next *P$[T] }\ntype C$ struct{ last *P$[*E$] }', add: 'if c.last == nil || c.last.n == 32 { c.last = &P$[*E$]{next: c.last} }\nc.last.items[c.last.n] = NEW\nc.last.n++', slow: true},
  skiplist: {type: 'type N$ struct{ next [4]*N$; v *E$ }\ntype C$ struct{ head N$; n int }', add: 'n := &N${v: NEW}\nfor i := 0; i < 4 && c.n>>(2*i)<<(2*i) == c.n; i++ { n.next[i], c.head.next[i] = c.head.next[i], n }\nc.n++', extra: {N$: 1}},
  beyond: {type: 'type C$ struct{ batch []*E$; n int }', add: 'c.batch = append(c.batch[:c.n], NEW)[:0]\nc.n++'},
  chunks: {split: true, type: 'type K$ struct{ items []*E$; next *K$ }\ntype C$ struct{ first, last *K$ }', add: 'if c.last == nil || len(c.last.items) == 64 { k := &K${}; if c.last == nil { c.first = k } else { c.last.next = k }; c.last = k }\nc.last.items = append(c.last.items, NEW)'},
  graph: {split: true, type: 'type N$ struct{ edges []*N$; v *E$ }\ntype C$ struct{ byID map[int]*N$; start *N$ }', add: 'if c.byID == nil { c.byID = map[int]*N${} }\nn := &N${v: NEW}\nif c.start != nil { n.edges = append(n.edges, c.start, c.byID[j/2]) }\nc.byID[j] = n\nc.start = n', extra: {N$: 1}},
  subscribers: {split: true, type: 'type O$ interface{ on(int) }\ntype W$ struct{ e *E$; fn func(int) }\nfunc (w *W$) on(int) {}\ntype C$ struct{ byTopic map[string][]O$ }', add: 'if c.byTopic == nil { c.byTopic = map[string][]O${} }\ne := NEW\nt := "topic" + strconv.Itoa(j%5)\nc.byTopic[t] = append(c.byTopic[t], &W${e, func(int) { e.id++ }})', extra: {W$: 1}},
  // More than 65,536 objects are held together: each N$ by two lists, each X$ by a third list and by its N$.
  three_owners: {split: true, stays: true, most: 33000, least: 33000, bytes: 200, type: 'type X$ struct{ n int; p *int }\ntype N$ struct{ v *E$; x *X$ }\nvar second$ []*N$\nvar third$ []*X$\ntype C$ struct{ list []*N$ }', also: /\bmain\.second\$/, add: 'n := &N${NEW, &X${n: j}}\nc.list, second$, third$ = append(c.list, n), append(second$, n), append(third$, n.x)', extra: {N$: 1, X$: 1}},
  // Several hold all entries, in which case any of them may be named; a few entries are also in a list that is nearer to the roots.
  decoy: {split: true, stays: true, least: 100, also: /\bstore(\.v2)?\.Held/, type: 'var newest$ [8]*E$\ntype C$ struct{ in struct{ list []*E$ } }', add: 'e := NEW\nif store.Held[80+#] == nil { store.Held[80+#] = map[int]*E${} }\nc.in.list, newest$[j&3|4] = append(c.in.list, e), e\nstore.Held[80+#].(map[int]*E$)[j] = e\nif j < 4 { newest$[j] = e }'},
  // A short list refers to some tenants, now to these and now to those, so that something else holds them than before.
  tenants: {split: true, stays: true, also: /\bmain\.gate\$|main\.\(\*C\$\)\.add/, type: 'type T$ struct{ name string; entries map[int]*E$ }\ntype R$ struct{ t *T$; path string }\ntype C$ struct{ byName map[string]*T$; pending []*R$; n int }\nvar gate$ []*R$',
    add: 'if c.byName == nil { c.byName = map[string]*T${} }\nk := "tenant-" + strconv.Itoa(j%40)\nt := c.byName[k]\nif t == nil { t = &T${k, map[int]*E${}}; c.byName[k] = t }\nt.entries[j] = NEW\nc.n++\nif c.n&31 == 0 { gate$, c.pending = nil, nil; for i := 0; i < 5+c.n/32*13%35; i++ { if t := c.byName["tenant-"+strconv.Itoa(i)]; t != nil { gate$ = append(gate$, &R${t, "/x"}) } } }'},
  // The same in three packages: which of them is found to hold an entry first depends on the threads.
  three_packages: {split: true, stays: true, most: 36000, least: 36000, also: /\bside\.Held|store\.Held/, type: 'type X$ struct{ n int; p *int }\ntype N$ struct{ v *E$; x *X$ }\ntype L$ struct{ all []*N$ }\ntype M$ struct{ all []*X$ }\ntype C$ struct{ list []*N$ }',
    add: 'n := &N${NEW, &X${n: j}}\nif store.Held[90+#] == nil { store.Held[90+#], side.Held[#] = &L${}, &M${} }\nl, m := store.Held[90+#].(*L$), side.Held[#].(*M$)\nc.list, l.all, m.all = append(c.list, n), append(l.all, n), append(m.all, n.x)', extra: {N$: 1, X$: 1}, once: {L$: 1, M$: 1}},
  pair_of_owners: {split: true, stays: true, type: 'var other$ []*E$\ntype C$ struct{ list []*E$ }', add: 'e := NEW\nc.list = append(c.list, e)\nif j&63 == 0 { other$ = append(other$, e) }'},
};

/**
 * Holders: how the program keeps a container. declare: at file scope; hold: statements of hold$(), which main calls once and which
 * leaves the container in at$, a *C$ that only the holder keeps: at$ is what add uses, so it is read from the holder again: get.
 * touch: what uses it once more before the first dump, and in every second program before the others, so that the runtime knows of its pool. shared: the holder's functions do not have the tag; by: functions of the library that use its variable, for programs without symbols; stays: it cannot be replaced between dumps; opaque: no type says what it holds.
 */
export const holders = {
  global_pointer: {declare: 'var v$ = &C${}', get: 'v$', says: /\bmain\.v\$/},
  global_value: {declare: 'var v$ C$', get: '&v$', says: /\bmain\.v\$/},
  global_interface: {declare: 'var v$ any = &C${}', get: 'v$.(*C$)', says: /\bmain\.v\$/},
  global_struct: {declare: 'var app$ struct{ n int; name string; v *C$ }', hold: 'app$.v = &C${}', get: 'app$.v', says: /\bmain\.app\$/},
  global_map: {declare: 'var m$ = map[string]*C${}', hold: 'm$["tenant"] = &C${}', get: 'm$["tenant"]', says: /\bmain\.m\$/},
  global_array: {declare: 'var a$ [5]*C$', hold: 'a$[3] = &C${}', get: 'a$[3]', says: /\bmain\.a\$/},
  global_static: {declare: 'var v$ = &H${name: "x", c: &C${}}\ntype H$ struct{ name string; c *C$ }', get: 'v$.c', says: /\bmain\.v\$/},
  global_slice: {declare: 'var s$ []*C$', hold: 's$ = append(s$, nil, nil, &C${})', get: 's$[len(s$)-1]', says: /\bmain\.s\$/},
  global_values: {declare: 'var g$ struct{ on bool; c C$ }', get: '&g$.c', says: /\bmain\.g\$/},
  global_generic: {declare: 'type H$[T any] struct{ mu sync.Mutex; v T }\nvar h$ = &H$[*C$]{}', hold: 'h$.v = &C${}', get: 'h$.v', says: /\bmain\.h\$/},
  global_atomic: {declare: 'var p$ atomic.Value', hold: 'p$.Store(&C${})', get: 'p$.Load().(*C$)', says: /\bmain\.p\$/},
  global_atomic_pointer: {declare: 'var p$ atomic.Pointer[C$]', hold: 'p$.Store(&C${})', get: 'p$.Load()', says: /\bmain\.p\$/},
  global_deep: {declare: 'type D$ struct{ pad [40]int; next *D$; c *C$ }\nvar d$ *D$', hold: 'd$ = &D${next: &D${next: &D${c: &C${}}}}', get: 'd$.next.next.c', says: /\bmain\.d\$/},
  global_sync_map: {declare: 'var m$ sync.Map', hold: 'm$.Store("x", &C${})', get: 'func() *C$ { v, _ := m$.Load("x"); return v.(*C$) }()', says: /\bmain\.m\$/},
  package_hidden: {shared: true, declare: '', hold: 'store.Put(#, &C${})', get: 'store.Get(#).(*C$)', says: /\bstore(\.v2)?\.hidden/},
  context_value: {declare: 'var ctx$ context.Context', hold: 'ctx$ = context.WithValue(context.Background(), "c", &C${})', get: 'ctx$.Value("c").(*C$)', says: /\bmain\.ctx\$/},
  once_value: {from: 21, declare: 'var o$ func() *C$', hold: 'o$ = sync.OnceValue(func() *C$ { return &C${} })\no$()', get: 'o$()', says: /\bmain\.o\$/},
  handler: {heavy: true, declare: 'var srv$ *http.Server\ntype H$ struct{ c *C$ }\nfunc (h *H$) ServeHTTP(http.ResponseWriter, *http.Request) {}', hold: 'm := http.NewServeMux()\nm.Handle("/x", &H${&C${}})\nsrv$ = &http.Server{Handler: m}',
    get: 'func() *C$ { r, _ := http.NewRequest("GET", "http://h/x", nil); h, _ := srv$.Handler.(*http.ServeMux).Handler(r); return h.(*H$).c }()', says: /\bmain\.srv\$/},
  default_mux: {by: 'http\\.\\w+', shared: true, heavy: true, declare: 'type H$ struct{ c *C$ }\nfunc (h *H$) ServeHTTP(http.ResponseWriter, *http.Request) {}', hold: 'http.Handle("/p$", &H${&C${}})',
    get: 'func() *C$ { r, _ := http.NewRequest("GET", "http://h/p$", nil); h, _ := http.DefaultServeMux.Handler(r); return h.(*H$).c }()', says: /http\.(defaultServeMux|DefaultServeMux)/},
  expvar: {by: 'expvar\\.\\w+', shared: true, heavy: true, declare: 'type X$ struct{ c *C$ }\nfunc (x *X$) String() string { return "0" }', hold: 'expvar.Publish("x$", &X${&C${}})', get: 'expvar.Get("x$").(*X$).c', says: /\bexpvar\.(vars|\w+)/},
  template: {heavy: true, declare: 'var t$ *template.Template\nvar q$ func() *C$', hold: 'c := &C${}\nt$ = template.Must(template.New("t").Funcs(template.FuncMap{"c": func() *C$ { return c }}).Parse("{{c}}"))\nq$ = func() *C$ { return c }', get: 'q$()', says: /\bmain\.[tq]\$|template/},
  ticker: {declare: 'var q$ = make(chan chan *C$)\nfunc serve$(t *time.Ticker) { c := &C${}; for { select { case <-t.C: c.add(-1); case r := <-q$: r <- c } } }', hold: 'go serve$(time.NewTicker(time.Hour))',
    get: 'func() *C$ { r := make(chan *C$); q$ <- r; return <-r }()', says: /main\.serve\$/},
  goroutine_closure: {declare: 'var q$ = make(chan chan *C$)', hold: 'c := &C${}\ngo func() { for r := range q$ { r <- c } }()', get: 'func() *C$ { r := make(chan *C$); q$ <- r; return <-r }()', says: /main\.hold\$/},
  goroutine_method: {declare: 'var q$ = make(chan chan *C$)\nfunc (c *C$) serve$() { for r := range q$ { r <- c } }', hold: 'go (&C${}).serve$()', get: 'func() *C$ { r := make(chan *C$); q$ <- r; return <-r }()', says: /\(\*C\$\)\.serve\$/},
  goroutine_deep: {declare: 'var q$ = make(chan chan *C$)\n//go:noinline\nfunc outer$() { c := &C${}; inner$(func() { c.add(-1) }, func(r chan *C$) { r <- c }); runtime.KeepAlive(c) }\n//go:noinline\nfunc inner$(f func(), g func(chan *C$)) { for r := range q$ { g(r) }; f() }', hold: 'go outer$()',
    get: 'func() *C$ { r := make(chan *C$); q$ <- r; return <-r }()', says: /main\.(outer|inner)\$/},
  finalizer: {declare: 'type F$ struct{ pad [6]int; self *F$ }\nvar kept$ *F$\nvar q$ func() *C$', hold: 'c := &C${}\nkept$ = &F${}\nruntime.SetFinalizer(kept$, func(*F$) { c.add(-1) })\nq$ = func() *C$ { return c }', get: 'q$()', says: /\bmain\.q\$|finalizer|main\.hold\$/},
  cleanup: {from: 24, declare: 'type F$ struct{ pad [6]int; self *F$ }\nvar kept$ *F$\nvar q$ func() *C$', hold: 'c := &C${}\nkept$ = &F${}\nruntime.AddCleanup(kept$, func(c *C$) { c.add(-1) }, c)\nq$ = func() *C$ { return c }', get: 'q$()', says: /\bmain\.q\$|cleanup|main\.hold\$/},
  waiting_sender: {declare: 'var out$ = make(chan *C$)', hold: 'c := &C${}\ngo func() { for { out$ <- c } }()', get: '<-out$', says: /main\.(hold|out)\$/},
  channel_buffer: {declare: 'var q$ = make(chan *C$, 3)', hold: 'q$ <- &C${}', get: '<-q$', put: 'q$ <- c', says: /\bmain\.q\$/},
  pool_of_structs: {declare: 'type D$ struct{ pool sync.Pool; c *C$ }\nvar d$ = &D${}', hold: 'd$.pool.New = func() any { return new(int) }\nd$.pool.Put(new(int))\nd$.pool.Put(d$.pool.Get())\nd$.c = &C${}', get: 'd$.c', touch: 'd$.pool.Put(d$.pool.Get())', says: /\bmain\.d\$/},
  pool_by_value: {declare: 'type D$ struct{ name string; pool sync.Pool; c C$ }\nvar ds$ map[string]*D$', hold: 'd := &D${name: "x"}\nd.pool.Put(new([9]int))\nds$ = map[string]*D${"x": d}', get: '&ds$["x"].c', touch: 'ds$["x"].pool.Put(new([9]int))', says: /\bmain\.ds\$/},
  package: {shared: true, declare: '', hold: 'store.Held[#] = &C${}', get: 'store.Held[#].(*C$)', says: /\bstore(\.v2)?\.Held/, imports: ['zoo/store.v2']},
  closure: {declare: 'var f$ func() *C$', hold: 'c := &C${}\nf$ = func() *C$ { return c }', get: 'f$()', says: /\bmain\.f\$/},
  method_value: {declare: 'func (c *C$) self() *C$ { return c }\nvar f$ func() *C$', hold: 'f$ = (&C${}).self', get: 'f$()', says: /\bmain\.f\$/},
  goroutine_argument: {declare: 'var q$ = make(chan chan *C$)\nfunc serve$(c *C$) { for r := range q$ { r <- c } }', hold: 'go serve$(&C${})',
    get: 'func() *C$ { r := make(chan *C$); q$ <- r; return <-r }()', says: /main\.serve\$/},
  goroutine_local: {declare: 'var q$ = make(chan chan *C$)\nfunc serve$() { c := &C${}; for r := range q$ { r <- c } }', hold: 'go serve$()',
    get: 'func() *C$ { r := make(chan *C$); q$ <- r; return <-r }()', says: /main\.serve\$/},
  deferred: {declare: 'var q$ = make(chan chan *C$)\nfunc serve$() { c := &C${}; defer func() { c.add(-1) }(); for r := range q$ { r <- c } }', hold: 'go serve$()',
    get: 'func() *C$ { r := make(chan *C$); q$ <- r; return <-r }()', says: /main\.serve\$/},
  timer: {declare: 'var q$ = make(chan *C$, 1)', hold: 'c := &C${}\ntime.AfterFunc(time.Hour, func() { c.add(-1) })\nq$ <- c', get: '<-q$', put: 'q$ <- c', says: /timer|main\.hold\$|main\.q\$/},
  // A local of main: only play's frame has it while the program waits. local and steps are code of play%().
  main_local: {declare: 'var at$ *C$', local: 'c$ := &C${}', enter: 'at$ = c$', leave: 'at$ = nil', get: 'at$', says: /main\.play%\b/},
  global_table: {declare: 'var table$ = [3]struct{ name string; c *C$ }{{"a", nil}, {"b", &C${}}, {"c", nil}}', get: 'table$[1].c', says: /\bmain\.table\$/},
  global_double: {declare: 'var pp$ **C$', hold: 'c := &C${}\npp$ = &c', get: '*pp$', says: /\bmain\.pp\$/},
  global_unsafe: {opaque: true, declare: 'var u$ unsafe.Pointer', hold: 'u$ = unsafe.Pointer(&C${})', get: '(*C$)(u$)', says: /\bmain\.u\$/},
  registry: {declare: 'var reg$ = map[string]func() *C${}', hold: 'c := &C${}\nreg$["x"] = func() *C$ { return c }', get: 'reg$["x"]()', says: /\bmain\.reg\$/},
  reflected: {declare: 'var rv$ reflect.Value', hold: 'rv$ = reflect.ValueOf(&C${})', get: 'rv$.Interface().(*C$)', says: /\bmain\.rv\$/},
  wrapped_error: {declare: 'type R$ struct{ c *C$ }\nfunc (*R$) Error() string { return "r" }\nvar err$ error', hold: 'err$ = fmt.Errorf("x: %w", &R${&C${}})', get: 'errors.Unwrap(err$).(*R$).c', says: /\bmain\.err\$/},
  logger: {declare: 'type W$ struct{ c *C$ }\nfunc (*W$) Write(b []byte) (int, error) { return len(b), nil }\nvar l$ *log.Logger', hold: 'l$ = log.New(&W${&C${}}, "", 0)', get: 'l$.Writer().(*W$).c', says: /\bmain\.l\$/},
  flag_value: {by: 'flag\\.\\w+', shared: true, stays: true, declare: 'type V$ struct{ c *C$ }\nfunc (*V$) String() string { return "" }\nfunc (*V$) Set(string) error { return nil }', hold: 'flag.Var(&V${&C${}}, "f$", "")', get: 'flag.Lookup("f$").Value.(*V$).c', says: /\bflag\.|other roots/},
  timer_global: {stays: true, declare: 'var t$ *time.Timer\nvar out$ = make(chan *C$)', hold: 'c := &C${}\nt$ = time.AfterFunc(time.Hour, func() { out$ <- c })', get: 'func() *C$ { t$.Reset(0); c := <-out$; t$.Reset(time.Hour); return c }()', says: /timer|\bmain\.(hold|t)\$/},
  iterator: {from: 23, stays: true, declare: 'var next$ func() (*C$, bool)', hold: 'c := &C${}\nnext$, _ = iter.Pull(func(yield func(*C$) bool) { for yield(c) { } })', get: 'func() *C$ { c, _ := next$(); return c }()', says: /\bmain\.(next|hold)\$|iter\.Pull/},
  pinner: {opaque: true, from: 21, stays: true, declare: 'var pin$ runtime.Pinner\nvar pinned$ uintptr', hold: 'c := &C${}\npin$.Pin(c)\npinned$ = uintptr(unsafe.Pointer(c))', get: '*(**C$)(unsafe.Pointer(&pinned$))', says: /\bmain\.pin\$|inner/},
  cgo_handle: {by: 'cgo\\.\\w+', cgo: true, shared: true, stays: true, declare: 'var handle$ cgo.Handle', hold: 'handle$ = cgo.NewHandle(&C${})', get: 'handle$.Value().(*C$)', says: /\bcgo\.handles/},
  sql_db: {stays: true, declare: 'type K$ struct{ c *C$ }\nfunc (*K$) Connect(context.Context) (driver.Conn, error) { return nil, io.EOF }\nfunc (k *K$) Driver() driver.Driver { return k }\nfunc (*K$) Open(string) (driver.Conn, error) { return nil, io.EOF }\nvar db$ *sql.DB',
    hold: 'db$ = sql.OpenDB(&K${&C${}})', get: 'db$.Driver().(*K$).c', says: /\bmain\.db\$/},
  sql_conn: {stays: true, declare: 'type J$ struct{ c *C$ }\nfunc (*J$) Prepare(string) (driver.Stmt, error) { return nil, io.EOF }\nfunc (*J$) Close() error { return nil }\nfunc (*J$) Begin() (driver.Tx, error) { return nil, io.EOF }\ntype K$ struct{}\nfunc (K$) Connect(context.Context) (driver.Conn, error) { return &J${&C${}}, nil }\nfunc (k K$) Driver() driver.Driver { return nil }\nvar db$ *sql.DB',
    hold: 'db$ = sql.OpenDB(K${})', get: 'func() (c *C$) { n, _ := db$.Conn(context.Background()); n.Raw(func(v any) error { c = v.(*J$).c; return nil }); n.Close(); return }()', says: /\bmain\.db\$/},
  sql_driver: {by: 'sql\\.Register', shared: true, stays: true, declare: 'type K$ struct{ c *C$ }\nfunc (*K$) Open(string) (driver.Conn, error) { return nil, io.EOF }', hold: 'sql.Register("d$", &K${&C${}})', get: 'func() *C$ { db, _ := sql.Open("d$", ""); defer db.Close(); return db.Driver().(*K$).c }()', says: /\bsql\.drivers/},
  expvar_func: {by: 'expvar\\.\\w+', shared: true, stays: true, heavy: true, declare: '', hold: 'c := &C${}\nexpvar.Publish("x$", expvar.Func(func() any { return c }))', get: 'expvar.Get("x$").(expvar.Func)().(*C$)', says: /\bexpvar\.(vars|\w+)/},
  shutdown: {heavy: true, stays: true, declare: 'var srv$ = &http.Server{}\nvar out$ = make(chan *C$)', hold: 'c := &C${}\nsrv$.RegisterOnShutdown(func() { out$ <- c })', get: 'func() *C$ { srv$.Shutdown(context.Background()); return <-out$ }()', says: /\bmain\.srv\$/},
  template_cache: {heavy: true, declare: 'var pages$ = map[string]*template.Template{}\nvar last$ *C$', hold: 'c := &C${}\npages$["x"] = template.Must(template.New("x").Funcs(template.FuncMap{"c": func() string { last$ = c; return "" }}).Parse("{{c}}"))',
    get: 'func() *C$ { pages$["x"].Execute(io.Discard, nil); c := last$; last$ = nil; return c }()', says: /\bmain\.pages\$/},
  goroutine_labels: {declare: 'var q$ = make(chan chan *C$)\ntype X$ struct{}\nfunc serve$(ctx context.Context) { pprof.Do(ctx, pprof.Labels("tenant", "t$"), func(ctx context.Context) { for r := range q$ { r <- ctx.Value(X${}).(*C$) } }) }', hold: 'go serve$(context.WithValue(context.Background(), X${}, &C${}))',
    get: 'func() *C$ { r := make(chan *C$); q$ <- r; return <-r }()', says: /main\.serve\$|pprof\.Do/},
  goroutine_pool: {declare: 'var q$ = make(chan chan *C$)\ntype D$ struct{ n [3]int; pool sync.Pool; c *C$ }\nfunc serve$() { d := &D${c: &C${}}; for r := range q$ { d.n[0]++; d.pool.Put(new([9]int)); r <- d.c } }', hold: 'go serve$()', touch: 'r := make(chan *C$)\nq$ <- r\n<-r',
    get: 'func() *C$ { r := make(chan *C$); q$ <- r; return <-r }()', says: /main\.serve\$/},
};

/** Ways in which goroutines wait. declare and start are code; wake makes them run again, and is missing for those that never can. */
export const waits = {
  leak_receive: {start: 'c := make(chan int)\ngo w$(c)', declare: 'func w$(c chan int) { began(); <-c; woke("w$") }'},
  leak_send: {start: 'c := make(chan int)\ngo w$(c)', declare: 'func w$(c chan int) { began(); c <- 1; woke("w$") }'},
  leak_range: {start: 'c := make(chan *[9]int, 1)\ngo w$(c)', declare: 'func w$(c chan *[9]int) { began(); for range c { }; woke("w$") }'},
  leak_select: {start: 'c, d := make(chan int), make(chan string)\ngo w$(c, d)', declare: 'func w$(c chan int, d chan string) { began(); select { case <-c: case d <- "x": }; woke("w$") }'},
  leak_mutex: {start: 'l := &L${}\nl.mu.Lock()\ngo w$(l)', declare: 'type L$ struct{ pad [40]int; mu sync.Mutex }\nfunc w$(l *L$) { began(); l.mu.Lock(); woke("w$") }'},
  leak_group: {start: 'l := &L${}\nl.wg.Add(1)\ngo w$(l)', declare: 'type L$ struct{ n int; wg sync.WaitGroup; pad [30]*int }\nfunc w$(l *L$) { began(); l.wg.Wait(); woke("w$") }'},
  leak_nil: {start: 'go w$(nil)', declare: 'func w$(c chan int) { began(); <-c; woke("w$") }'},
  leak_pair: {start: 'a, b := make(chan int), make(chan int)\ngo w$(a, b)\ngo w$(b, a)', each: 2, declare: 'func w$(a, b chan int) { began(); <-a; b <- 1; woke("w$") }'},
  leak_cond: {start: 'go w$(sync.NewCond(&sync.Mutex{}))', declare: 'func w$(c *sync.Cond) { c.L.Lock(); began(); c.Wait(); woke("w$") }'},
  leak_rwmutex: {start: 'l := &L${}\nl.mu.Lock()\ngo w$(l)', declare: 'type L$ struct{ pad [4]int; mu sync.RWMutex }\nfunc w$(l *L$) { began(); l.mu.RLock(); woke("w$") }'},
  leak_tiny: {start: 'l := new(sync.Mutex)\nl.Lock()\ngo w$(l)', declare: 'func w$(l *sync.Mutex) { began(); l.Lock(); woke("w$") }'},
  leak_select_all: {start: 'go w$()', declare: 'func w$() { began(); select {}; woke("w$") }'},
  leak_pipe: {start: 'r, w := io.Pipe()\n_ = w\ngo w$(r)', declare: 'func w$(r *io.PipeReader) { b := make([]byte, 9); began(); r.Read(b); woke("w$") }'},
  leak_ring: {start: 'a, b, c := make(chan int), make(chan int), make(chan int)\ngo w$(a, b)\ngo w$(b, c)\ngo w$(c, a)', each: 3, declare: 'func w$(a, b chan int) { began(); <-a; b <- 1; woke("w$") }'},
  leak_context: {start: 'ctx, cancel := context.WithCancel(context.Background())\n_ = cancel\ngo w$(ctx)', declare: 'func w$(ctx context.Context) { began(); <-ctx.Done(); woke("w$") }'},
  leak_cancelled_child: {start: 'ctx, cancel := context.WithCancel(context.Background())\nctx, _ = context.WithCancel(context.WithValue(ctx, "k", cancel))\ngo w$(ctx)', declare: 'func w$(ctx context.Context) { began(); <-ctx.Done(); woke("w$") }'},
  leak_dropped: {start: 'l := &L${ch: make(chan int)}\ngo l.w$()', declare: 'type L$ struct{ m map[string]*L$; ch chan int; s []*L$ }\nfunc (l *L$) w$() { l.m = map[string]*L${"a": l}; l.s = append(l.s, l); began(); <-l.ch; woke("w$") }', method: true},
  leak_ticker: {start: 't := time.NewTicker(time.Hour)\nt.Stop()\ngo w$(t)', declare: 'func w$(t *time.Ticker) { began(); for range t.C { }; woke("w$") }', soft: true},
  leak_holds: {start: 'b := &B${done: make(chan bool), body: make([]byte, 3000)}\ngo w$(b)', declare: 'type B$ struct{ done chan bool; body []byte }\nfunc w$(b *B$) { defer func() { b.body[0] = 1 }(); began(); <-b.done; woke("w$") }'},
  leak_generic: {start: 'go w$[string](make(chan string))', declare: 'func w$[T any](c chan T) { began(); <-c; woke("w$") }'},
  leak_large: {start: 'b := new(B$)\nb.ch = make(chan [64]*int, 2)\ngo w$(b)', declare: 'type B$ struct{ pad [3000]*int; ch chan [64]*int }\nfunc w$(b *B$) { b.pad[9] = new(int); began(); <-b.ch; woke("w$") }'},
  leak_results: {start: 'results := make(chan error)\nfor i := 0; i < 3; i++ { go w$(results) }', each: 3, declare: 'func w$(c chan error) { began(); c <- io.EOF; woke("w$") }'},
  leak_after: {start: 'a, b := make(chan int), make(chan int)\ngo w$(a, b)', declare: 'func w$(a, b chan int) { t := time.NewTimer(time.Hour); t.Stop(); began(); select { case <-a: case <-b: }; woke("w$") }'},
  leak_nil_send: {start: 'go w$(nil)', declare: 'func w$(c chan int) { began(); c <- 1; woke("w$") }'},
  leak_rlock: {start: 'l := &L${}\nl.mu.RLock()\ngo w$(l)', declare: 'type L$ struct{ s []int; mu sync.RWMutex }\nfunc w$(l *L$) { began(); l.mu.Lock(); woke("w$") }'},
  leak_once: {start: 'o := &sync.Once{}\nin := make(chan int)\ngo func() { o.Do(func() { close(in); <-make(chan int) }) }()\n<-in\ngo w$(o)', declare: 'func w$(o *sync.Once) { began(); o.Do(func() {}); woke("w$") }'},
  leak_reflect: {start: 'go w$(reflect.SelectCase{Dir: reflect.SelectRecv, Chan: reflect.ValueOf(make(chan int))})', declare: 'func w$(c reflect.SelectCase) { began(); reflect.Select([]reflect.SelectCase{c, c}); woke("w$") }'},
  leak_labels: {start: 'c := make(chan int)\ngo pprof.Do(context.Background(), pprof.Labels("request", "r$"), func(context.Context) { w$(c) })', declare: 'func w$(c chan int) { began(); <-c; woke("w$") }'},
  leak_thread: {start: 'c := make(chan int)\ngo w$(c)', declare: 'func w$(c chan int) { runtime.LockOSThread(); began(); <-c; woke("w$") }', few: true},
  leak_deep: {start: 'c := make(chan int)\ngo w$(c, 60)', declare: '//go:noinline\nfunc w$(c chan int, n int) (r int) { var pad [20]int; pad[n%20] = n; if n > 0 { return w$(c, n-1) + pad[n%20] }; began(); <-c; woke("w$"); return }'},
  leak_panics: {start: 'c := make(chan int)\ngo w$(c)', declare: 'func w$(c chan int) { defer func() { recover(); began(); <-c; woke("w$") }(); panic("x") }'},
  leak_semaphore: {start: 's := &S${slots: make(chan struct{}, 2)}\ns.slots <- struct{}{}\ns.slots <- struct{}{}\ngo s.w$()', declare: 'type S$ struct{ name string; slots chan struct{} }\nfunc (s *S$) w$() { began(); s.slots <- struct{}{}; woke("w$") }', method: true},
  leak_embedded: {start: 'l := &L${}\nl.Lock()\ngo w$(l)', declare: 'type B$ struct{ n [3]int; sync.Mutex }\ntype L$ struct{ B$; m map[string]int }\nfunc w$(l *L$) { began(); l.Lock(); woke("w$") }'},
  leak_weak: {from: 24, start: 'b := &B${ch: make(chan int)}\ngo w$(b.ch, weak.Make(b))', declare: 'type B$ struct{ pad [9]*int; ch chan int }\nfunc w$(c chan int, p weak.Pointer[B$]) { began(); <-c; runtime.KeepAlive(p); woke("w$") }', soft: true},
  wakes_nil_select: {start: 'c := make(chan int)\nns$ = append(ns$, c)\ngo w$(c, nil)', declare: 'var ns$ []chan int\nfunc w$(c, d chan int) { began(); select { case <-c: case <-d: case d <- 1: }; woke("w$") }', wake: 'for _, c := range ns$ { close(c) }', once: true},
  wakes_rlock: {start: 'go w$(l$)', before: 'l$.mu.Lock()', declare: 'type L$ struct{ pad [3]string; mu sync.RWMutex }\nvar l$ = &L${}\nfunc w$(l *L$) { began(); l.mu.RLock(); woke("w$"); l.mu.RUnlock() }', wake: 'l$.mu.Unlock()', once: true},
  wakes_reflect: {start: 'c := make(chan int)\nrs$ = append(rs$, reflect.ValueOf(c))\ngo w$(reflect.SelectCase{Dir: reflect.SelectRecv, Chan: reflect.ValueOf(c)})', declare: 'var rs$ []reflect.Value\nfunc w$(c reflect.SelectCase) { began(); reflect.Select([]reflect.SelectCase{c}); woke("w$") }', wake: 'for _, c := range rs$ { c.Close() }', once: true},
  wakes_labels: {start: 'c := make(chan int)\nls$ = append(ls$, c)\ngo pprof.Do(context.Background(), pprof.Labels("request", "r$"), func(context.Context) { w$(c) })', declare: 'var ls$ []chan int\nfunc w$(c chan int) { began(); <-c; woke("w$") }', wake: 'for _, c := range ls$ { close(c) }', once: true},
  wakes_label_context: {start: 'c := make(chan int)\nctx := pprof.WithLabels(context.WithValue(context.Background(), "c", c), pprof.Labels("a", "b"))\nkept$ = append(kept$, ctx)\ngo w$(c)', declare: 'var kept$ []context.Context\nfunc w$(c chan int) { began(); <-c; woke("w$") }', wake: 'for _, x := range kept$ { close(x.Value("c").(chan int)) }', once: true},
  wakes_thread: {few: true, start: 'go w$(g$)', declare: 'var g$ = make(chan int)\nfunc w$(c chan int) { runtime.LockOSThread(); began(); <-c; woke("w$") }', wake: 'g$ <- 1'},
  wakes_deep: {timed: true, start: 'c := make(chan int)\ngo x$(c, 50)\ngo w$(c)', declare: '//go:noinline\nfunc x$(c chan int, n int) (r int) { var pad [20]int; pad[n%20] = n; if n > 0 { return x$(c, n-1) + pad[n%20] }; time.Sleep(until()); close(c); return }\nfunc w$(c chan int) { began(); <-c; woke("w$") }', wake: ''},
  wakes_panics: {timed: true, start: 'c := make(chan int)\ngo x$(c)\ngo w$(c)', declare: 'func x$(c chan int) { defer func() { recover(); close(c) }(); defer func() { time.Sleep(until()) }(); panic("x") }\nfunc w$(c chan int) { began(); <-c; woke("w$") }', wake: ''},
  wakes_panic_value: {timed: true, start: 'c := make(chan int)\ngo x$(c)\ngo w$(c)', declare: 'type V$ struct{ n int; c chan int }\nfunc x$(c chan int) { defer func() { close(recover().(*V$).c) }(); defer func() { time.Sleep(until()) }(); panic(&V${1, c}) }\nfunc w$(c chan int) { began(); <-c; woke("w$") }', wake: ''},
  wakes_iterator: {from: 23, start: 'c := make(chan int)\nn, _ := iter.Pull(func(yield func(int) bool) { yield(1); close(c) })\nn()\nnexts$ = append(nexts$, n)\ngo w$(c)', declare: 'var nexts$ []func() (int, bool)\nfunc w$(c chan int) { began(); <-c; woke("w$") }', wake: 'for _, n := range nexts$ { n() }', once: true},
  wakes_beyond: {start: 'c := make(chan int)\nbs$ = append(bs$[:len(made$)], c)[:0]\nmade$ = append(made$, 1)\ngo w$(c)', declare: 'var bs$ []chan int\nvar made$ []int\nfunc w$(c chan int) { began(); <-c; woke("w$") }', wake: 'for _, c := range bs$[:len(made$)] { close(c) }', once: true},
  wakes_semaphore: {start: 'go w$()', before: 's$ <- 1', declare: 'var s$ = make(chan int, 1)\nfunc w$() { began(); s$ <- 1; woke("w$") }', wake: '<-s$'},
  wakes_cond_timer: {timed: true, start: 'c := sync.NewCond(&sync.Mutex{})\ntime.AfterFunc(until(), func() { c.L.Lock(); c.L.Unlock(); c.Broadcast() })\ngo w$(c)', declare: 'func w$(c *sync.Cond) { c.L.Lock(); began(); c.Wait(); c.L.Unlock(); woke("w$") }', wake: ''},
  wakes_group_timer: {timed: true, start: 'g := &sync.WaitGroup{}\ng.Add(1)\ntime.AfterFunc(until(), g.Done)\ngo w$(g)', declare: 'func w$(g *sync.WaitGroup) { began(); g.Wait(); woke("w$") }', wake: ''},
  wakes_mutex_timer: {timed: true, start: 'l := &sync.Mutex{}\nl.Lock()\ntime.AfterFunc(until(), l.Unlock)\ngo w$(l)', declare: 'func w$(l *sync.Mutex) { began(); l.Lock(); woke("w$"); l.Unlock() }', wake: ''},
  wakes_read: {start: 'r, w, _ := os.Pipe()\npw$ = append(pw$, w)\ngo w$(r)', declare: 'var pw$ []*os.File\nfunc w$(r *os.File) { b := make([]byte, 9); began(); r.Read(b); woke("w$") }', wake: 'for _, p := range pw$ { p.Close() }', once: true},
  wakes_syscall: {few: true, start: 'var p [2]int\nsyscall.Pipe(p[:])\nfd$ = append(fd$, p[1])\ngo w$(p[0])', declare: 'var fd$ []int\nfunc w$(fd int) { var b [9]byte; began(); syscall.Read(fd, b[:]); woke("w$") }', wake: 'for _, fd := range fd$ { syscall.Close(fd) }', once: true},
  wakes_in_syscall: {few: true, start: 'var p [2]int\nsyscall.Pipe(p[:])\nfd$ = append(fd$, p[1])\nc := make(chan int)\ngo x$(p[0], c)\ngo w$(c)', declare: 'var fd$ []int\nfunc x$(fd int, c chan int) { var b [9]byte; syscall.Read(fd, b[:]); close(c) }\nfunc w$(c chan int) { began(); <-c; woke("w$") }', wake: 'for _, fd := range fd$ { syscall.Close(fd) }', once: true},
  wakes_database: {start: 'k := &K${done: make(chan int)}\ndbs$ = append(dbs$, sql.OpenDB(k))\ngo w$(k.done)', declare: 'type K$ struct{ done chan int }\nfunc (*K$) Connect(context.Context) (driver.Conn, error) { return nil, io.EOF }\nfunc (k *K$) Driver() driver.Driver { close(k.done); return nil }\nvar dbs$ []*sql.DB\nfunc w$(c chan int) { began(); <-c; woke("w$") }', wake: 'for _, db := range dbs$ { db.Driver() }', once: true},
  wakes_error: {start: 'c := make(chan int)\nerrs$ = append(errs$, fmt.Errorf("x: %w", R$(c)))\ngo w$(c)', declare: 'type R$ chan int\nfunc (R$) Error() string { return "r" }\nvar errs$ []error\nfunc w$(c chan int) { began(); <-c; woke("w$") }', wake: 'for _, e := range errs$ { close(errors.Unwrap(e).(R$)) }', once: true},
  wakes_only_weak: {from: 24, start: 'b := &B${ch: make(chan int)}\nws$.Store(len(made$), weak.Make(b))\nmade$ = append(made$, 1)\ngo w$(b)', declare: 'type B$ struct{ n int; ch chan int }\nvar ws$ sync.Map\nvar made$ []int\nfunc w$(b *B$) { began(); <-b.ch; woke("w$"); runtime.KeepAlive(b) }', wake: 'ws$.Range(func(_, v any) bool { if b := v.(weak.Pointer[B$]).Value(); b != nil { close(b.ch) }; return true })', once: true},
  wakes_cgo_handle: {cgo: true, start: 'c := make(chan int)\nhs$ = append(hs$, cgo.NewHandle(c))\ngo w$(c)', declare: 'var hs$ []cgo.Handle\nfunc w$(c chan int) { began(); <-c; woke("w$") }', wake: 'for _, h := range hs$ { close(h.Value().(chan int)) }', once: true},
  wakes_sleep: {start: 'go w$()', timed: true, declare: 'func w$() { began(); time.Sleep(until()); woke("w$") }', wake: ''},
  wakes_once: {start: 'go w$(o$)', before: 'hold := make(chan int)\nin := make(chan int)\ngo func() { o$.Do(func() { close(in); <-h$; close(hold) }) }()\n<-in', declare: 'var o$ = &sync.Once{}\nvar h$ = make(chan int)\nfunc w$(o *sync.Once) { began(); o.Do(func() {}); woke("w$") }', wake: 'close(h$)', once: true},
  wakes_rwmutex: {start: 'go w$(l$)', before: 'l$.mu.RLock()', declare: 'type L$ struct{ pad [3]string; mu sync.RWMutex }\nvar l$ = &L${}\nfunc w$(l *L$) { began(); l.mu.Lock(); woke("w$"); l.mu.Unlock() }', wake: 'l$.mu.RUnlock()', once: true},
  wakes_group: {start: 'go w$(g$)', before: 'g$.Add(1)', declare: 'var g$ = &sync.WaitGroup{}\nfunc w$(g *sync.WaitGroup) { began(); g.Wait(); woke("w$") }', wake: 'g$.Done()', once: true},
  wakes_pipe: {start: 'r, w := io.Pipe()\nps$ = append(ps$, w)\ngo w$(r)', declare: 'var ps$ []*io.PipeWriter\nfunc w$(r *io.PipeReader) { b := make([]byte, 9); began(); r.Read(b); woke("w$") }', wake: 'for _, p := range ps$ { p.Close() }', once: true},
  wakes_os_pipe: {start: 'r, w, _ := os.Pipe()\npw$ = append(pw$, w)\nc := make(chan int)\ngo x$(r, c)\ngo w$(c)', declare: 'var pw$ []*os.File\nfunc x$(r *os.File, c chan int) { b := make([]byte, 9); r.Read(b); c <- 1 }\nfunc w$(c chan int) { began(); <-c; woke("w$") }', wake: 'for _, p := range pw$ { p.Close() }', once: true},
  wakes_net: {heavy: true, start: 'a := l$.Addr().String()\nc := make(chan int)\ngo x$(a, c)\ngo w$(c)', before: 'l$, _ = net.Listen("tcp", "127.0.0.1:0")\ngo func() { for { c, err := l$.Accept(); if err != nil { return }; mu$.Lock(); cs$ = append(cs$, c); mu$.Unlock() } }()',
    declare: 'var l$ net.Listener\nvar mu$ sync.Mutex\nvar cs$ []net.Conn\nfunc x$(a string, ch chan int) { c, err := net.Dial("tcp", a); if err != nil { panic(err) }; var b [9]byte; c.Read(b[:]); close(ch) }\nfunc w$(c chan int) { began(); <-c; woke("w$") }',
    wake: 'for n := -1; n != len(cs$); time.Sleep(20 * time.Millisecond) { mu$.Lock(); n = len(cs$); for _, c := range cs$ { c.Close() }; mu$.Unlock() }', once: true},
  wakes_map: {start: 'c := make(chan int)\nm$[strconv.Itoa(len(m$))] = c\ngo w$(c)', declare: 'var m$ = map[string]chan int{}\nfunc w$(c chan int) { began(); <-c; woke("w$") }', wake: 'for _, c := range m$ { close(c) }', once: true},
  wakes_map_key: {start: 'c := make(chan int)\nm$[c] = true\ngo w$(c)', declare: 'var m$ = map[chan int]bool{}\nfunc w$(c chan int) { began(); <-c; woke("w$") }', wake: 'for c := range m$ { close(c) }', once: true},
  wakes_sync_map: {start: 'c := make(chan int)\nm$.Store(c, 1)\ngo w$(c)', declare: 'var m$ sync.Map\nfunc w$(c chan int) { began(); <-c; woke("w$") }', wake: 'm$.Range(func(k, _ any) bool { close(k.(chan int)); return true })', once: true},
  wakes_pool: {start: 'c := make(chan int)\np$.Put(&c)\np2$ = append(p2$, c)\ngo w$(c)', declare: 'var p$ sync.Pool\nvar p2$ []chan int\nfunc w$(c chan int) { began(); <-c; woke("w$") }', wake: 'for _, c := range p2$ { close(c) }', once: true},
  wakes_channel: {start: 'c := make(chan int)\nq$ <- c\ngo w$(c)', declare: 'var q$ = make(chan chan int, 100)\nfunc w$(c chan int) { began(); <-c; woke("w$") }', wake: 'close(q$); for c := range q$ { close(c) }', once: true},
  wakes_interior: {start: 'b := &B${}\nb.in.ch = make(chan int)\nis$ = append(is$, &b.in)\ngo w$(b.in.ch)', declare: 'type I$ struct{ n int; ch chan int }\ntype B$ struct{ pad [700]int; in I$; more [9]string }\nvar is$ []*I$\nfunc w$(c chan int) { began(); <-c; woke("w$") }', wake: 'for _, i := range is$ { close(i.ch) }', once: true},
  wakes_unsafe: {start: 'c := make(chan int)\nus$ = append(us$, unsafe.Pointer(&c))\ngo w$(c)', declare: 'var us$ []unsafe.Pointer\nfunc w$(c chan int) { began(); <-c; woke("w$") }', wake: 'for _, p := range us$ { close(*(*chan int)(p)) }', once: true},
  wakes_interface: {start: 'as$ = append(as$, make(chan int))\ngo w$(as$[len(as$)-1].(chan int))', declare: 'var as$ []any\nfunc w$(c chan int) { began(); <-c; woke("w$") }', wake: 'for _, c := range as$ { close(c.(chan int)) }', once: true},
  wakes_argument: {start: 'c := make(chan int)\ngo x$(0, [6]int{}, c, "s")\ngo w$(c)', timed: true, declare: 'func x$(n int, a [6]int, c chan int, s string) { time.Sleep(until()); c <- n + a[1] + len(s) }\nfunc w$(c chan int) { began(); <-c; woke("w$") }', wake: ''},
  wakes_deferred: {start: 'c := make(chan int)\ngo x$(c)\ngo w$(c)', timed: true, declare: 'func x$(c chan int) { for i := 0; i < 2; i++ { defer func(n int) { c <- n }(i) }; time.Sleep(until()) }\nfunc w$(c chan int) { began(); <-c; <-c; woke("w$") }', wake: ''},
  wakes_cleanup: {from: 24, start: 'c := make(chan int)\nf := &F${}\nruntime.AddCleanup(f, func(c chan int) { close(c) }, c)\nkept$ = append(kept$, f)\ngo w$(c)', declare: 'type F$ struct{ self *F$; pad [9]*int }\nvar kept$ []*F$\nfunc w$(c chan int) { began(); <-c; woke("w$") }', wake: 'kept$ = nil; runtime.GC(); runtime.GC()', once: true},
  wakes_parent: {start: 'ctx, _ := context.WithCancel(context.WithValue(root$, "a", 1))\ngo w$(ctx)', before: 'root$, stop$ = context.WithCancel(context.Background())', declare: 'var root$ context.Context\nvar stop$ context.CancelFunc\nfunc w$(ctx context.Context) { began(); <-ctx.Done(); woke("w$") }', wake: 'stop$()', once: true},
  wakes_after_func: {from: 21, start: 'c := make(chan int)\ncontext.AfterFunc(root$, func() { close(c) })\ngo w$(c)', before: 'root$, stop$ = context.WithCancel(context.Background())', declare: 'var root$ context.Context\nvar stop$ context.CancelFunc\nfunc w$(c chan int) { began(); <-c; woke("w$") }', wake: 'stop$()', once: true},
  wakes_signal: {start: 'c := make(chan os.Signal, 1)\nsignal.Notify(c, syscall.SIGUSR1)\ngo w$(c)', declare: 'func w$(c chan os.Signal) { began(); <-c; woke("w$") }', wake: 'syscall.Kill(syscall.Getpid(), syscall.SIGUSR1)', once: true},
  wakes_select_send: {start: 'c, d := make(chan int), make(chan string)\nds$ = append(ds$, d)\ngo w$(c, d)', declare: 'var ds$ []chan string\nfunc w$(c chan int, d chan string) { began(); select { case c <- 1: case d <- "x": }; woke("w$") }', wake: 'for _, d := range ds$ { <-d }', once: true},
  wakes_stack: {start: 'c := make(chan int)\ngo x$(c)\ngo w$(c)', timed: true, declare: 'func x$(c chan int) { var b [600]chan int; b[417] = c; time.Sleep(until()); for _, c := range b { if c != nil { close(c) } } }\nfunc w$(c chan int) { began(); <-c; woke("w$") }', wake: ''},
  wakes_pair: {start: 'a, b := make(chan int), make(chan int)\nbs$ = append(bs$, b)\ngo w$(a, b)\ngo w$(b, a)', each: 2, declare: 'var bs$ []chan int\nfunc w$(a, b chan int) { defer func() { recover() }(); began(); <-a; woke("w$"); close(b) }', wake: 'for _, b := range bs$ { close(b) }', once: true},
  wakes_method: {start: 's := &S${stop: make(chan int)}\nms$ = append(ms$, s.halt)\ngo w$(s.stop)', declare: 'type S$ struct{ n [5]int; stop chan int }\nfunc (s *S$) halt() { close(s.stop) }\nvar ms$ []func()\nfunc w$(c chan int) { began(); <-c; woke("w$") }', wake: 'for _, f := range ms$ { f() }', once: true},
  wakes_huge: {start: 'c := make(chan int)\nh$.at[len(ns$)*9999+77].ch = c\nns$ = append(ns$, 1)\ngo w$(c)', before: 'h$ = new(H$)', declare: 'type H$ struct{ at [130000]struct{ n int; ch chan int } }\nvar h$ *H$\nvar ns$ []int\nfunc w$(c chan int) { began(); <-c; woke("w$") }', wake: 'for _, x := range h$.at { if x.ch != nil { close(x.ch) } }', once: true, bytes: 2080000},
  wakes_table: {start: 'c := make(chan int)\ntab$.p[len(ns$)*11+5] = &c\nns$ = append(ns$, 1)\ngo w$(c)', before: 'tab$ = new(T$)', declare: 'type T$ struct{ n int; p [200]*chan int; s [4]string }\nvar tab$ *T$\nvar ns$ []int\nfunc w$(c chan int) { began(); <-c; woke("w$") }', wake: 'for _, c := range tab$.p { if c != nil { close(*c) } }', once: true},
  wakes_global: {start: 'go w$(g$)', declare: 'var g$ = make(chan int)\nfunc w$(c chan int) { began(); <-c; woke("w$") }', wake: 'g$ <- 1'},
  wakes_large: {before: 'b$ = new([5000]*chan int)', start: 'c := make(chan int)\nb$[len(made$)*7+3] = &c\nmade$ = append(made$, 1)\ngo w$(c)',
    declare: 'var b$ *[5000]*chan int\nvar made$ []int\nfunc w$(c chan int) { began(); <-c; woke("w$") }', wake: 'for _, c := range b$ { if c != nil { close(*c) } }', once: true},
  wakes_mutex: {start: 'go w$(l$)', before: 'l$.mu.Lock()', declare: 'type L$ struct{ pad [3]string; mu sync.Mutex }\nvar l$ = &L${}\nfunc w$(l *L$) { began(); l.mu.Lock(); woke("w$"); l.mu.Unlock() }', wake: 'l$.mu.Unlock()', once: true},
  wakes_cond: {start: 'go w$(c$)', declare: 'var c$ = sync.NewCond(&sync.Mutex{})\nfunc w$(c *sync.Cond) { c.L.Lock(); began(); c.Wait(); c.L.Unlock(); woke("w$") }', wake: 'c$.L.Lock(); c$.L.Unlock(); c$.Broadcast()', once: true},
  wakes_timer: {timed: true, start: 'c := make(chan int)\ntime.AfterFunc(until(), func() { close(c) })\ngo w$(c)', declare: 'func w$(c chan int) { began(); <-c; woke("w$") }', wake: ''},
  wakes_ticker: {timed: true, start: 'go w$(time.NewTicker(until()))', declare: 'func w$(t *time.Ticker) { began(); <-t.C; woke("w$") }', wake: ''},
  wakes_after: {timed: true, start: 'go w$(make(chan int))', declare: 'func w$(c chan int) { began(); select { case <-c: case <-time.After(until()): }; woke("w$") }', wake: ''},
  wakes_context: {timed: true, start: 'ctx, cancel := context.WithTimeout(context.Background(), until())\n_ = cancel\ngo w$(ctx)', declare: 'func w$(ctx context.Context) { began(); <-ctx.Done(); woke("w$") }', wake: ''},
  wakes_chain: {start: 'a := make(chan int)\ngo w$(a)\ngo x$(a)', declare: 'func w$(a chan int) { began(); <-a; woke("w$") }\nfunc x$(a chan int) { <-g$; a <- 1 }\nvar g$ = make(chan int)', wake: 'g$ <- 1'},
  wakes_finalizer: {start: 'c := make(chan int)\nf := &F${ch: c}\nruntime.SetFinalizer(f, func(f *F$) { close(f.ch) })\nkept$ = append(kept$, f)\ngo w$(c)', declare: 'type F$ struct{ ch chan int; pad [9]*int }\nvar kept$ []*F$\nfunc w$(c chan int) { began(); <-c; woke("w$") }',
    wake: 'kept$ = nil; runtime.GC(); runtime.GC()', once: true},
  wakes_weak: {from: 24, imports: ['weak'], start: 'b := &W${ch: make(chan int)}\nws$ = append(ws$, weak.Make(b))\ngo w$(b)', declare: 'type W$ struct{ pad [9]*int; ch chan int }\nvar ws$ []weak.Pointer[W$]\nfunc w$(b *W$) { began(); <-b.ch; runtime.KeepAlive(b); woke("w$") }',
    wake: 'for _, p := range ws$ { if b := p.Value(); b != nil { close(b.ch) } }', once: true},
  wakes_closure: {start: 'c := make(chan int)\nfs$ = append(fs$, func() { close(c) })\ngo w$(c)', declare: 'var fs$ []func()\nfunc w$(c chan int) { began(); <-c; woke("w$") }', wake: 'for _, f := range fs$ { f() }', once: true},
};

const KIND = {containers, elements, holders, waits};

/** Returns whether a container and an element declare the same name. */
function clash(container, element) {
  const names = ({type}) => [...type.matchAll(/\b(?:type|var) (\w+\$)/g)].map(([, name]) => name);
  return names(elements[element]).some(name => names(containers[container]).includes(name));
}

/** Ways to build packs of programs: words for zoo.mjs, each as often as it stands here. experiment: with one of the experiments below. */
const builds = [['plain'], ['stripped'], ['plain'], ['stripped'], ['plain'], ['stripped'], ['plain'], ['stripped'], ['plain'], ['stripped'], ['stripped', 'pie'], ['pie'], ['noopt'], ['trimpath', 'stripped'], ['trimpath'], ['cgo'],
  ['stripped', 'pie', 'trimpath'], ['cgo', 'stripped'], ['race'], ['race', 'stripped'], ['experiment'], ['experiment', 'stripped']];

/** GOEXPERIMENTs by release: those that change what a heap, a type or a stack looks like. */
const experiments = {
  19: ['staticlockranking', 'unified'],
  21: ['staticlockranking', 'arenas'],
  22: ['noallocheaders', 'staticlockranking', 'newinliner'],
  23: ['staticlockranking', 'aliastypeparams'],
  24: ['noswissmap', 'nosynchashtriemap', 'nospinbitmutex', 'noaliastypeparams'],
  25: ['greenteagc', 'noswissmap', 'nosynchashtriemap', 'nodwarf5', 'jsonv2'],
  26: ['nogreenteagc', 'nodwarf5', 'sizespecializedmalloc', 'runtimefreegc', 'goroutineleakprofile', 'norandomizedheapbase64'],
  27: ['nogreenteagc', 'nodwarf5', 'nosizespecializedmalloc', 'runtimefreegc', 'mapsplitgroup', 'nojsonv2'],
};

/** Returns how to build the pack of a seed: words; the word of an experiment is exp=NAME. Seeds of one pack have the same. */
export function waysOf(seed, minor) {
  const below = random(Math.floor(seed / 40) + 7919), ways = builds[below(builds.length)], names = experiments[minor] ?? [];
  return ways.flatMap(way => way !== 'experiment' ? [way] : names.length > 0 ? [`exp=${names[below(names.length)]}`] : []);
}

/**
 * Returns the plan of a seed in a pack that is built in some ways: plants, the first of which leaks, goroutines that wait, and noise; when
 * and how it is read.
 */
export function planOf(seed, minor, ways = []) {
  const below = random(seed), pick = list => list[below(list.length)], chance = n => below(n) === 0;
  const isHeavy = Math.floor(seed / 40) % 5 === 4; // few packs have net/http, whose types take long to read
  const has = ({from, heavy, cgo}) => !(from > minor) && (isHeavy || !heavy) && (!cgo || ways.includes('cgo'));
  const fits = kind => Object.keys(KIND[kind]).filter(name => has(KIND[kind][name]));
  const plant = (number, bytes) => {
    const container = pick(fits('containers')), element = pick(fits('elements').filter(name => !clash(container, name) && !(containers[container].least && elements[name].bytes > 100 || containers[container].values && elements[name].bytes > 2500)));
    const most = containers[container].most ?? (containers[container].values ? 20000 : 40000);
    const count = Math.max(containers[container].least ?? 4, Math.min(most, Math.round(bytes / (containers[container].none ?? elements[element].bytes + 32))));
    return {number, tag: `${seed}_${number}`, container, element, holder: pick(fits('holders')), count, grows: 0};
  };
  const large = Math.round((240 + below(800)) * 1024 * (chance(25) ? 8 : 1)), leak = plant(1, large);
  leak.grows = Math.max(2, Math.round(leak.count * pick([0.5, 1, 1, 1.5])));
  if (containers[leak.container].most || containers[leak.container].base) leak.grows = Math.min(leak.grows, leak.count);
  const plants = [leak];
  if (chance(2) && !containers[leak.container].also) { // a sibling of the same types, in another holder, which does not grow: smaller, as large, or larger
    const share = pick([0.05, 0.25, 0.5, 0.5, 1, 1.5]);
    plants.push({...leak, number: 2, tag: `${seed}_2`, types: leak.tag, twin: 1, grows: 0, count: Math.max(2, Math.min(40000, Math.round(leak.count * share))), holder: pick(fits('holders').filter(name => name !== leak.holder || !holders[name].shared))});
  }
  for (let i = 1 + below(3); i > 0; i--) {
    const other = plant(plants.length + 1, chance(8) ? large / 2 : large / (8 + below(40))); // few are of comparable size
    // Between the dumps another container takes the place of this one, with as many elements.
    if (chance(3) && other.container !== 'timers' && !containers[other.container].stays && holders[other.holder].hold && !holders[other.holder].stays && !holders[other.holder].get.includes('q$') && !/expvar|default_mux|timer|finalizer|cleanup|sender|buffer|global_slice/.test(other.holder)) other.moves = true;
    plants.push(other);
  }
  const waiting = Array.from({length: 1 + below(4)}, (_, i) => ({number: 11 + i, tag: `${seed}_${11 + i}`, kind: pick(fits('waits')), count: 1 + below(9)}));
  for (const wait of waiting) if (waits[wait.kind].few) wait.count = Math.min(wait.count, 3);
  return {seed, plants, waits: waiting, garbage: below(3) * 1000, moment: pick(['before', 'after', 'after', 'after', 'marking', 'load']), read: pick(['pid', 'pid', 'pid', 'pid', 'fork', 'dump', 'dump', ways.includes('race') ? 'pid' : 'core', 'death']),
    compares: chance(3), series: chance(8), slows: pick(['', '', 'less', 'rarely']),
    also: plants.some(({container}) => containers[container].least) ? 'threads' : pick(['sqlite', 'snapshot', 'show', 'threads'])};
}

/** Returns plans that together have each production once: container, element, holder, and way to wait. */
export function everyPlan(minor, ways) {
  const has = ({from, cgo}) => !(from > minor) && (!cgo || ways.includes('cgo'));
  const names = Object.values(KIND).map(kind => Object.keys(kind).filter(name => has(kind[name])));
  return Array.from({length: Math.max(...names.map(({length}) => length))}, (_, i) => {
    const [container, element, holder, kind] = names.map(list => list[i % list.length]), seed = 1000 + i, plan = planOf(seed, minor, ways);
    const fits = clash(container, element) || containers[container].values && elements[element].bytes > 2500 ? 'small' : element;
    const count = Math.max(4, Math.min(containers[container].most ?? 4000, Math.round(400_000 / (containers[container].none ?? elements[fits].bytes + 32))));
    const plant = {number: 1, tag: `${seed}_1`, container, element: fits, holder, count, grows: count};
    return {...plan, plants: [plant], waits: [{number: 11, tag: `${seed}_11`, kind, count: waits[kind].few ? 2 : 3}]};
  });
}
