// The grammar of the zoo: what a program may consist of. A plan is plain data, made from a seed alone, so that a program can be named by
// its seed and shrunk by leaving parts of its plan out. program.mjs writes the Go program of a plan.
//
// Each container is a struct C whose method add(j) adds one element; each element is what new() returns. Types have the number of their
// plant at the end, so that no two plants share a class: C3, E3. Go code here has $ for that number.

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
 * chosen. extra: other objects that belong to each element.
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
    make: 'func() *E$ { e := &E${id: j}; s := make([]int, 3); e.in.more = &s; return e }()'},
  recursive: {bytes: 96, type: 'type E$ struct{ id int; left, right *E$ }', make: '&E${j, &E${id: -j}, &E${id: -j - 1}}', self: 3},
  function: {bytes: 64, type: 'type E$ struct{ id int; f func() int }', make: 'func() *E$ { k := j * 3; e := &E${id: j}; e.f = func() int { return k + e.id }; return e }()'},
  map: {bytes: 400, type: 'type E$ struct{ id int; m map[int]string }', make: '&E${j, map[int]string{j: "v", j + 1: "w"}}'},
  mask: {bytes: 2080, type: 'type M$ struct{ v [3]int }\ntype E$ struct{ id int; s [4]struct{ a [30]int; p [30]*M$; b [4]string } }',
    make: 'func() *E$ { e := &E${id: j}; e.s[1].p[7], e.s[3].p[29] = &M${}, &M${}; return e }()', extra: {M$: 2}},
};

/**
 * Containers: the declaration of C$ and of its method add(j). E is new element. from: the first release that has it. keeps: what a
 * container holds of each element added, if that is not one E$ ("none": no object of its own).
 */
export const containers = {
  slice: {type: 'type C$ struct{ list []*E$ }', add: 'c.list = append(c.list, NEW)'},
  map_string: {type: 'type C$ struct{ byName map[string]*E$ }', add: 'if c.byName == nil { c.byName = map[string]*E${} }\nc.byName["key-"+strconv.Itoa(j)] = NEW'},
  map_int: {type: 'type C$ struct{ byID map[int]*E$ }', add: 'if c.byID == nil { c.byID = map[int]*E${} }\nc.byID[j] = NEW'},
  map_struct: {type: 'type K$ struct{ a int32; b uint64 }\ntype C$ struct{ byKey map[K$]*E$ }', add: 'if c.byKey == nil { c.byKey = map[K$]*E${} }\nc.byKey[K${int32(j), 5}] = NEW'},
  map_any: {type: 'type C$ struct{ byKey map[any]*E$ }', add: 'if c.byKey == nil { c.byKey = map[any]*E${} }\nif j%2 == 0 { c.byKey[j] = NEW } else { c.byKey[strconv.Itoa(j)] = NEW }'},
  map_pointer: {type: 'type C$ struct{ set map[*E$]struct{} }', add: 'if c.set == nil { c.set = map[*E$]struct{}{} }\nc.set[NEW] = struct{}{}'},
  map_slices: {type: 'type C$ struct{ groups map[int][]*E$ }', add: 'if c.groups == nil { c.groups = map[int][]*E${} }\nc.groups[j/4] = append(c.groups[j/4], NEW)'},
  map_maps: {type: 'type C$ struct{ nested map[string]map[int]*E$ }', add: 'if c.nested == nil { c.nested = map[string]map[int]*E${} }\nk := strconv.Itoa(j / 8)\nif c.nested[k] == nil { c.nested[k] = map[int]*E${} }\nc.nested[k][j] = NEW'},
  sync_map: {type: 'type C$ struct{ m sync.Map }', add: 'c.m.Store("k"+strconv.Itoa(j), NEW)'},
  channel: {type: 'type C$ struct{ ch chan *E$ }', add: 'if c.ch == nil { c.ch = make(chan *E$, 120000) }\nc.ch <- NEW'},
  list: {type: 'type C$ struct{ l *list.List }', add: 'if c.l == nil { c.l = list.New() }\nc.l.PushBack(NEW)'},
  ring: {type: 'type C$ struct{ r *ring.Ring }', add: 'n := ring.New(1)\nn.Value = NEW\nif c.r == nil { c.r = n } else { c.r.Link(n) }'},
  linked: {type: 'type N$ struct{ next *N$; v *E$ }\ntype C$ struct{ head *N$ }', add: 'c.head = &N${c.head, NEW}', extra: {N$: 1}},
  tree: {type: 'type N$ struct{ key int; left, right *N$; v *E$ }\ntype C$ struct{ root *N$ }',
    add: 'at, key := &c.root, j*7919%100003\nfor *at != nil { if key < (*at).key { at = &(*at).left } else { at = &(*at).right } }\n*at = &N${key: key, v: NEW}', extra: {N$: 1}},
  trie: {type: 'type N$ struct{ children map[byte]*N$; v []*E$ }\ntype C$ struct{ root N$ }',
    add: 'n := &c.root\nfor _, b := range []byte(strconv.Itoa(j % 1000)) { if n.children == nil { n.children = map[byte]*N${} }; if n.children[b] == nil { n.children[b] = &N${} }; n = n.children[b] }\nn.v = append(n.v, NEW)'},
  lru: {type: 'type C$ struct{ items map[string]*list.Element; order *list.List }', add: 'if c.items == nil { c.items, c.order = map[string]*list.Element{}, list.New() }\nc.items["i"+strconv.Itoa(j)] = c.order.PushFront(NEW)'},
  two_indexes: {type: 'type C$ struct{ byID map[int]*E$; byName map[string]*E$ }', add: 'if c.byID == nil { c.byID, c.byName = map[int]*E${}, map[string]*E${} }\ne := NEW\nc.byID[j], c.byName["n"+strconv.Itoa(j)] = e, e'},
  sharded: {type: 'type S$ struct{ mu sync.Mutex; m map[int]*E$ }\ntype C$ struct{ shards [16]S$ }', add: 's := &c.shards[j%16]\ns.mu.Lock()\nif s.m == nil { s.m = map[int]*E${} }\ns.m[j] = NEW\ns.mu.Unlock()'},
  queue: {type: 'type C$ struct{ elems []*E$ }', add: 'c.elems = append(c.elems, NEW)\nif j%4 == 3 { c.elems = c.elems[1:] }', count: 'loose'},
  atomic: {type: 'type N$ struct{ next atomic.Pointer[N$]; v *E$ }\ntype C$ struct{ top atomic.Pointer[N$] }', add: 'n := &N${v: NEW}\nn.next.Store(c.top.Load())\nc.top.Store(n)', extra: {N$: 1}},
  generic: {type: 'type G$[K comparable, V any] struct{ mu sync.RWMutex; m map[K]V; keys []K }\ntype C$ struct{ g G$[string, *E$] }',
    add: 'if c.g.m == nil { c.g.m = map[string]*E${} }\nk := "g" + strconv.Itoa(j)\nc.g.m[k] = NEW\nc.g.keys = append(c.g.keys, k)'},
  functions: {type: 'type C$ struct{ callbacks []func() int }', add: 'e := NEW\nc.callbacks = append(c.callbacks, func() int { return int(e.id) })'},
  interfaces: {type: 'type I$ interface{ ID() int }\nfunc (e *E$) ID() int { return int(e.id) }\ntype C$ struct{ all []I$ }', add: 'c.all = append(c.all, NEW)'},
  context: {type: 'type X$ int\ntype C$ struct{ ctx context.Context }', add: 'if c.ctx == nil { c.ctx = context.Background() }\nc.ctx = context.WithValue(c.ctx, X$(j), NEW)'},
  heap: {type: 'type T$ []*E$\nfunc (t T$) Len() int { return len(t) }\nfunc (t T$) Less(a, b int) bool { return t[a].id < t[b].id }\nfunc (t T$) Swap(a, b int) { t[a], t[b] = t[b], t[a] }\nfunc (t *T$) Push(v any) { *t = append(*t, v.(*E$)) }\nfunc (t *T$) Pop() any { return nil }\ntype C$ struct{ t T$ }',
    add: 'heap.Push(&c.t, NEW)'},
};

/**
 * Holders: how the program keeps a container. declare: at file scope; hold: statements of hold$(), which main calls once and which
 * leaves the container in at$, a *C$ that only the holder keeps: at$ is what add uses, so it is read from the holder again: get.
 */
export const holders = {
  global_pointer: {declare: 'var v$ = &C${}', get: 'v$', says: /\bmain\.v\$/},
  global_value: {declare: 'var v$ C$', get: '&v$', says: /\bmain\.v\$/},
  global_interface: {declare: 'var v$ any = &C${}', get: 'v$.(*C$)', says: /\bmain\.v\$/},
  global_struct: {declare: 'var app$ struct{ n int; name string; v *C$ }', hold: 'app$.v = &C${}', get: 'app$.v', says: /\bmain\.app\$/},
  global_map: {declare: 'var m$ = map[string]*C${}', hold: 'm$["tenant"] = &C${}', get: 'm$["tenant"]', says: /\bmain\.m\$/},
  global_array: {declare: 'var a$ [5]*C$', hold: 'a$[3] = &C${}', get: 'a$[3]', says: /\bmain\.a\$/},
  package: {declare: '', hold: 'store.Held[$] = &C${}', get: 'store.Held[$].(*C$)', says: /\bstore(\.v2)?\.Held/, imports: ['zoo/store.v2']},
  closure: {declare: 'var f$ func() *C$', hold: 'c := &C${}\nf$ = func() *C$ { return c }', get: 'f$()', says: /\bmain\.f\$/},
  method_value: {declare: 'func (c *C$) self() *C$ { return c }\nvar f$ func() *C$', hold: 'f$ = (&C${}).self', get: 'f$()', says: /\bmain\.f\$/},
  goroutine_argument: {declare: 'var q$ = make(chan chan *C$)\nfunc serve$(c *C$) { for r := range q$ { r <- c } }', hold: 'go serve$(&C${})',
    get: 'func() *C$ { r := make(chan *C$); q$ <- r; return <-r }()', says: /main\.serve\$/},
  goroutine_local: {declare: 'var q$ = make(chan chan *C$)\nfunc serve$() { c := &C${}; for r := range q$ { r <- c } }', hold: 'go serve$()',
    get: 'func() *C$ { r := make(chan *C$); q$ <- r; return <-r }()', says: /main\.serve\$/},
  deferred: {declare: 'var q$ = make(chan chan *C$)\nfunc serve$() { c := &C${}; defer func() { c.add(-1) }(); for r := range q$ { r <- c } }', hold: 'go serve$()',
    get: 'func() *C$ { r := make(chan *C$); q$ <- r; return <-r }()', says: /main\.serve\$/},
  timer: {declare: 'var q$ = make(chan *C$, 1)', hold: 'c := &C${}\ntime.AfterFunc(time.Hour, func() { c.add(-1) })\nq$ <- c', get: '<-q$', put: 'q$ <- c', says: /timer|main\.hold\$|main\.q\$/},
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
  wakes_global: {start: 'go w$(g$)', declare: 'var g$ = make(chan int)\nfunc w$(c chan int) { began(); <-c; woke("w$") }', wake: 'g$ <- 1'},
  wakes_large: {start: 'c := make(chan int)\nb$[len(made$)*7+3] = &c\nmade$ = append(made$, 1)\ngo w$(c)',
    declare: 'var b$ = new([5000]*chan int)\nvar made$ []int\nfunc w$(c chan int) { began(); <-c; woke("w$") }', wake: 'for _, c := range b$ { if c != nil { close(*c) } }', once: true},
  wakes_mutex: {start: 'go w$(l$)', before: 'l$.mu.Lock()', declare: 'type L$ struct{ pad [3]string; mu sync.Mutex }\nvar l$ = &L${}\nfunc w$(l *L$) { began(); l.mu.Lock(); woke("w$"); l.mu.Unlock() }', wake: 'l$.mu.Unlock()', once: true},
  wakes_cond: {start: 'go w$(c$)', declare: 'var c$ = sync.NewCond(&sync.Mutex{})\nfunc w$(c *sync.Cond) { c.L.Lock(); began(); c.Wait(); c.L.Unlock(); woke("w$") }', wake: 'c$.L.Lock(); c$.L.Unlock(); c$.Broadcast()', once: true},
  wakes_timer: {start: 'c := make(chan int)\ntime.AfterFunc(until(), func() { close(c) })\ngo w$(c)', declare: 'func w$(c chan int) { began(); <-c; woke("w$") }', wake: ''},
  wakes_ticker: {start: 'go w$(time.NewTicker(until()))', declare: 'func w$(t *time.Ticker) { began(); <-t.C; woke("w$") }', wake: ''},
  wakes_after: {start: 'go w$(make(chan int))', declare: 'func w$(c chan int) { began(); select { case <-c: case <-time.After(until()): }; woke("w$") }', wake: ''},
  wakes_context: {start: 'ctx, cancel := context.WithTimeout(context.Background(), until())\n_ = cancel\ngo w$(ctx)', declare: 'func w$(ctx context.Context) { began(); <-ctx.Done(); woke("w$") }', wake: ''},
  wakes_chain: {start: 'a := make(chan int)\ngo w$(a)\ngo x$(a)', declare: 'func w$(a chan int) { began(); <-a; woke("w$") }\nfunc x$(a chan int) { <-g$; a <- 1 }\nvar g$ = make(chan int)', wake: 'g$ <- 1'},
  wakes_finalizer: {start: 'c := make(chan int)\nf := &F${ch: c}\nruntime.SetFinalizer(f, func(f *F$) { close(f.ch) })\nkept$ = append(kept$, f)\ngo w$(c)', declare: 'type F$ struct{ ch chan int; pad [9]*int }\nvar kept$ []*F$\nfunc w$(c chan int) { began(); <-c; woke("w$") }',
    wake: 'kept$ = nil; runtime.GC(); runtime.GC()', once: true},
  wakes_weak: {from: 24, imports: ['weak'], start: 'b := &W${ch: make(chan int)}\nws$ = append(ws$, weak.Make(b))\ngo w$(b)', declare: 'type W$ struct{ pad [9]*int; ch chan int }\nvar ws$ []weak.Pointer[W$]\nfunc w$(b *W$) { began(); <-b.ch; runtime.KeepAlive(b); woke("w$") }',
    wake: 'for _, p := range ws$ { if b := p.Value(); b != nil { close(b.ch) } }', once: true},
  wakes_closure: {start: 'c := make(chan int)\nfs$ = append(fs$, func() { close(c) })\ngo w$(c)', declare: 'var fs$ []func()\nfunc w$(c chan int) { began(); <-c; woke("w$") }', wake: 'for _, f := range fs$ { f() }', once: true},
};

const KIND = {containers: Object.keys(containers), elements: Object.keys(elements), holders: Object.keys(holders), waits: Object.keys(waits)};

/** Returns the plan of a seed: plants, the first of which leaks and has most of the heap, goroutines that wait, and noise. */
export function planOf(seed, minor) {
  const below = random(seed), pick = list => list[below(list.length)];
  const fits = kinds => KIND[kinds].filter(name => !((kinds === 'waits' ? waits : {})[name]?.from > minor));
  const plant = (number, bytes) => {
    const element = pick(fits('elements')), container = pick(fits('containers'));
    const count = Math.max(4, Math.min(50000, Math.round(bytes / (elements[element].bytes + 32))));
    return {number, container, element, holder: pick(fits('holders')), count, grows: 0};
  };
  const large = (2 + below(6)) << 20, leak = plant(1, large);
  leak.grows = leak.count;
  const plants = [leak];
  if (below(2) === 0) // a twin of the same types, in another holder
    plants.push({...leak, number: 2, twin: 1, grows: 0, count: Math.max(2, Math.round(leak.count * pick([0.05, 0.25, 0.5]))), holder: pick(fits('holders'))});
  for (let i = 1 + below(3); i > 0; i--) plants.push(plant(plants.length + 1, large / (8 + below(40))));
  const waiting = Array.from({length: 2 + below(4)}, (_, i) => ({number: 50 + i, kind: pick(fits('waits')), count: 1 + below(12)}));
  return {seed, plants, waits: waiting, garbage: below(3) * 1000, moment: pick(['before', 'after', 'after', 'marking'])};
}
