// Writes the Go program of some plans (grammar.mjs), a pack: a module with main.go and the package store, whose path does not end in its
// name. One build serves all plans of a pack; the program's argument is the seed of the one that it plays.
//
// The program obeys its standard input, a line each, and answers with lines: "FACT {json}" of what it holds, then "READY".
//
//   (start)     builds the plants, starts the goroutines that wait, makes garbage
//   dump FILE   writes a dump by WriteHeapDump
//   grow        adds to the plants that grow, moves those that move, makes noise, collects
//   wake        wakes all goroutines that something can wake, waits for them, and ends
//
// Bytes are what the allocator says: the change of HeapAlloc between two collections. Before the first collection there are none.

import {mkdirSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';

import {containers, elements, holders, waits} from './grammar.mjs';

/** The packages that code may use, by the name it uses. */
const packages = {
  atomic: 'sync/atomic', bufio: 'bufio', bytes: 'bytes', cgo: 'runtime/cgo', context: 'context', debug: 'runtime/debug', driver: 'database/sql/driver', errors: 'errors', expvar: 'expvar',
  flag: 'flag', fmt: 'fmt', heap: 'container/heap', http: 'net/http', io: 'io', iter: 'iter', json: 'encoding/json', list: 'container/list', log: 'log', net: 'net', os: 'os',
  pprof: 'runtime/pprof', reflect: 'reflect', ring: 'container/ring', runtime: 'runtime', side: 'zoo/side', signal: 'os/signal', sql: 'database/sql', store: 'zoo/store.v2', strconv: 'strconv',
  strings: 'strings', sync: 'sync', syscall: 'syscall', template: 'text/template', time: 'time', unique: 'unique', unsafe: 'unsafe', weak: 'weak',
};

const tagged = (code, tag, number) => code.replaceAll('$', tag).replaceAll('#', String(number));

/** Returns code of a holder, whose types have a small h in their names; C$ is the container, of the plant's twin perhaps. */
const ofHolder = (code, {tag, number, types = tag}) => tagged(code.replaceAll(/\bC\$/g, `C${types}`).replaceAll(/\b([A-Z])\$/g, '$1h$$'), tag, number);

/** Returns the code of a plant. Its types are its own or those of its twin. */
function plantCode(plant) {
  const {tag, number, container, element, holder, types = tag} = plant;
  const c = containers[container], e = elements[element], h = holders[holder];
  const own = types === tag ? tagged(`
${e.type}

func new$(j int) *E$ { return ${e.make} }

${c.type}

func (c *C$) add(j int) {
	${c.add.replaceAll('*NEW', '*new$(j)').replaceAll('NEW', 'new$(j)')}
}
`, tag, number) : '';
  const held = code => ofHolder(code, plant);
  return `${own}
${held(h.declare)}

//go:noinline
func hold${tag}() {
	${held(h.hold ?? '')}
}

//go:noinline
func fill${tag}(from, n int) {
	c := ${held(h.get)}
	for j := from; j < from+n; j++ {
		c.add(j)
	}
	${held(h.put ?? '')}
}
${h.touch ? `
//go:noinline
func touch${tag}() {
	${held(h.touch)}
}
` : ''}`;
}

function waitCode({number, tag, kind, count}) {
  const wait = waits[kind];
  const text = `
${wait.declare}

//go:noinline
func start$() {
	${wait.before ?? ''}
	for i := 0; i < ${count}; i++ {
		${wait.start}
	}
}

//go:noinline
func wake$() {
	${wait.wake === undefined ? '' : wait.once || wait.wake === '' ? wait.wake : `for i := 0; i < ${count}; i++ { ${wait.wake} }`}
}
`;
  return tagged(text, tag, number);
}

/** Returns how many goroutines of a plan begin to wait, and how many of these run again. */
function goroutinesOf({waits: waiting}) {
  const count = list => list.reduce((sum, {kind, count}) => sum + count * (waits[kind].each ?? 1), 0);
  return [count(waiting), count(waiting.filter(({kind}) => kind.startsWith('wakes_')))];
}

const isTimed = ({waits: waiting}) => waiting.some(({kind}) => waits[kind].timed);

/** Returns the functions that play a plan. */
function playCode(plan) {
  const {seed, plants, waits: waiting, garbage, moment} = plan, [begin, wake] = goroutinesOf(plan);
  const locals = step => plants.filter(({holder}) => holders[holder].local).map(plant => ofHolder(holders[plant.holder][step], plant)).join('\n\t');
  const noise = {marking: 'go func() { for !stopped() { runtime.GC(); time.Sleep(500 * time.Microsecond) } }()\n\ttime.Sleep(time.Millisecond)', load: 'go churn()\n\tgo churn()\n\ttime.Sleep(time.Millisecond)'};
  return `${plants.map(plantCode).join('')}${waiting.map(waitCode).join('')}
//go:noinline
func build${seed}() {
${plants.map(({number, tag, count}) => `	hold${tag}()\n	grow(${number}, 0, ${count}, ${moment !== 'before'}, fill${tag})\n`).join('')}${waiting.map(({tag}) => `	start${tag}()\n`).join('')}	settle(${begin})
	litter(${garbage})
	touch${seed}()
	clear()
	${noise[moment] ?? ''}
}

func touch${seed}() {
	${plants.filter(({holder}) => holders[holder].touch).map(({tag}) => `touch${tag}()`).join('\n\t')}
}

//go:noinline
func grow${seed}() {
${plants.map(({number, tag, count, grows, moves}) => grows ? `	grow(${number}, grown(${number}, ${count}), ${{less: `${grows}/rounds+1`, rarely: `${grows}/(1+(rounds-1)*rounds*10)+1`}[plan.slows] ?? grows}, true, fill${tag})\n` : moves ? `	hold${tag}()\n	fill${tag}(0, ${count})\n` : '').join('')}}

//go:noinline
func wake${seed}() {
	${waiting.map(({tag}) => `wake${tag}()`).join('\n\t')}
	await(${wake}, ${isTimed(plan)})
}

// play${seed} is the frame of main's locals.
//
//go:noinline
func play${seed}() {
	${locals('local')}
	${locals('enter')}
	build${seed}()
	${locals('leave')}
	for ready(); obeys(); fmt.Println("READY") {
		${locals('enter')}
		more(grow${seed})
		${seed % 2 ? '' : `touch${seed}()`}
		${locals('leave')}
	}
	${plants.filter(({holder}) => holders[holder].local).map(({tag}) => `runtime.KeepAlive(c${tag})`).join('\n\t')}
	wake${seed}()
	fmt.Println("DONE")
}
`;
}

/** Returns the text of main.go. */
export function programOf(plans, hasC = false) {
  const body = `
var delay, _ = time.ParseDuration(os.Getenv("ZOO_DELAY"))
var start = time.Now()

func until() time.Duration { return delay - time.Since(start) }

var mutex sync.Mutex
var begun = map[uint64][2]any{}
var ran int
var isOver int32

func stopped() bool { return atomic.LoadInt32(&isOver) != 0 }

func goid() uint64 {
	var b [64]byte
	n, _ := strconv.ParseUint(strings.Fields(string(b[:runtime.Stack(b[:], false)]))[1], 10, 64)
	return n
}

// began notes the goroutine that calls it, its function, and the line where it waits next.
func began() {
	pc, _, line, _ := runtime.Caller(1)
	mutex.Lock()
	begun[goid()] = [2]any{runtime.FuncForPC(pc - 1).Name(), line}
	mutex.Unlock()
}

func woke(name string) {
	mutex.Lock()
	ran++
	fmt.Println("WOKE", goid(), name)
	mutex.Unlock()
}

// settle waits until as many goroutines have begun, and none of them runs.
func settle(count int) {
	for i := 0; i < 2000; i++ {
		time.Sleep(2 * time.Millisecond)
		mutex.Lock()
		n := len(begun)
		mutex.Unlock()
		if n < count {
			continue
		}
		b := make([]byte, 1<<18)
		text := string(b[:runtime.Stack(b, true)])
		if !strings.Contains(text, "[runnable") && strings.Count(text, "[running") == 1 {
			break
		}
	}
}

// await waits until as many goroutines have run again, and a moment more for others.
func await(count int, isTimed bool) {
	deadline := 20 * time.Second
	if isTimed {
		deadline += until()
	}
	for end := time.Now().Add(deadline); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		mutex.Lock()
		n := ran
		mutex.Unlock()
		if n >= count {
			break
		}
	}
	time.Sleep(30 * time.Millisecond)
}

func fact(v any) {
	b, _ := json.Marshal(v)
	fmt.Println("FACT", string(b))
}

func measure(collects bool) uint64 {
	if !collects {
		return 0
	}
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

type Z struct {
	next *Z
	v    [5]int
}

//go:noinline
func litter(n int) {
	var z *Z
	for i := 0; i < n; i++ {
		z = &Z{z, [5]int{i}}
	}
	if z != nil && z.v[0] == -1 {
		fmt.Println(z)
	}
}

//go:noinline
func clear() (n int) {
	var space [4096]byte
	for i := range space {
		space[i] = byte(i)
		n += int(space[i])
	}
	return n
}

// churn is load: it allocates, writes to a map, and sends and receives.
func churn() {
	type y struct {
		s string
		p *int
	}
	m, ch := map[int]*y{}, make(chan *y, 8)
	for i := 0; !stopped(); i++ {
		v := &y{strconv.Itoa(i), new(int)}
		m[i%300] = v
		ch <- v
		<-ch
		if i%200 == 0 {
			time.Sleep(5 * time.Millisecond)
		}
	}
}

var counts = map[int]int{}
var rounds int

// grown returns how many elements a plant has.
func grown(number, count int) int {
	if n, ok := counts[number]; ok {
		return n
	}
	return count
}

func grow(number, from, n int, collects bool, fill func(from, n int)) {
	before := measure(collects)
	fill(from, n)
	after := measure(collects)
	counts[number] = from + n
	fact(map[string]any{"plant": number, "count": from + n, "added": int64(after - before)})
}
${plans.map(playCode).join('')}
func main() {
	debug.SetGCPercent(-1)${hasC ? '\n\tallocate(1 << 18)' : ''}
	switch os.Args[1] {
${plans.map(({seed}) => `	case "${seed}":\n		play${seed}()\n`).join('')}	}
}

// ready says which goroutines wait, and that the heap may be read.
func ready() {
	mutex.Lock()
	for id, each := range begun {
		fact(map[string]any{"goid": id, "waits": each[0], "line": each[1]})
	}
	mutex.Unlock()
	fmt.Println("READY")
}

var in = bufio.NewScanner(os.Stdin)

// obeys does what standard input says. It returns true for "grow", and false when the goroutines are to wake.
func obeys() bool {
	for in.Scan() {
		words := strings.Fields(in.Text())
		if words[0] != "dump" {
			return words[0] == "grow"
		}
		f, _ := os.Create(words[1])
		debug.WriteHeapDump(f.Fd())
		f.Close()
		fmt.Println("READY")
	}
	os.Exit(0)
	return false
}

func more(grow func()) {
	atomic.StoreInt32(&isOver, 1)
	time.Sleep(2 * time.Millisecond)
	rounds++
	grow()
	litter(500)
	runtime.GC()
}
`;
  const used = Object.entries(packages).filter(([name]) => new RegExp(`(^|[^\\w.])${name}\\.`, 'm').test(body));
  return `package main

import (
${used.map(([, path]) => `\t"${path}"`).join('\n')}
)
${body}`;
}

/** Writes the program of some plans to a directory, as a module. hasC: with memory of C, by cgo. */
export function writeProgram(plans, directory, hasC) {
  mkdirSync(join(directory, 'store.v2'), {recursive: true});
  writeFileSync(join(directory, 'go.mod'), 'module zoo\n\ngo 1.18\n');
  writeFileSync(join(directory, 'store.v2', 'store.go'), `package store

// Held keeps what the programs of the zoo put there.
var Held [100]any

// Part is a type of another package.
type Part struct {
	Name string
	n    [7]int
}

var hidden = map[int]any{}

func Put(n int, v any) { hidden[n] = v }

func Get(n int) any { return hidden[n] }
`);
  mkdirSync(join(directory, 'side'), {recursive: true});
  writeFileSync(join(directory, 'side', 'side.go'), 'package side\n\n// Held keeps what other packages keep, too.\nvar Held [100]any\n');
  writeFileSync(join(directory, 'main.go'), programOf(plans, hasC));
  if (hasC)
    writeFileSync(join(directory, 'c.go'), `package main

// #include <stdlib.h>
// #include <string.h>
import "C"
import "unsafe"

var ofC unsafe.Pointer

func allocate(n int) {
	ofC = C.malloc(C.size_t(n))
	C.memset(ofC, 1, C.size_t(n))
}
`);
}
