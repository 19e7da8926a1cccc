// Writes the Go program of a plan (grammar.mjs): a module with main.go and the package store, whose path does not end in its name.
//
// The program obeys its standard input, a line each, and answers with lines: "FACT {json}" of what it holds, then "READY".
//
//   (start)     builds the plants, starts the goroutines that wait, makes garbage
//   dump FILE   writes a dump by WriteHeapDump
//   grow        adds to the plants that grow, makes noise, collects
//   wake        wakes all goroutines that something can wake, waits for them, and ends
//
// Bytes are what the allocator says: the change of HeapAlloc between two collections. Before the first collection there are none.

import {mkdirSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';

import {containers, elements, holders, waits} from './grammar.mjs';

/** The packages that code may use, by the name it uses. */
const packages = {
  atomic: 'sync/atomic', bufio: 'bufio', context: 'context', debug: 'runtime/debug', fmt: 'fmt', heap: 'container/heap', json: 'encoding/json', list: 'container/list',
  os: 'os', ring: 'container/ring', runtime: 'runtime', store: 'zoo/store.v2', strconv: 'strconv', strings: 'strings', sync: 'sync', time: 'time', weak: 'weak',
};

const numbered = (code, number) => code.replaceAll('$', String(number));

function plantCode({number, container, element, holder, count}) {
  const c = containers[container], e = elements[element], h = holders[holder];
  const text = `
${e.type}

func new$(j int) *E$ { return ${e.make} }

${c.type}

func (c *C$) add(j int) {
	${c.add.replaceAll('NEW', 'new$(j)')}
}

${h.declare}

//go:noinline
func hold$() {
	${h.hold ?? ''}
}

//go:noinline
func fill$(from, n int) {
	c := ${h.get}
	for j := from; j < from+n; j++ {
		c.add(j)
	}
	${h.put ?? ''}
}
`;
  return numbered(text, number);
}

function waitCode({number, kind, count}) {
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

func wake$() {
	${wait.wake === undefined ? '' : wait.once || wait.wake === '' ? wait.wake : `for i := 0; i < ${count}; i++ { ${wait.wake} }`}
}
`;
  return numbered(text, number);
}

/** Returns the text of main.go. */
export function programOf(plan) {
  const {plants, waits: waiting, garbage, moment} = plan;
  const body = `
var delay = 6 * time.Second

func until() time.Duration { return delay }

var mutex sync.Mutex
var begun = map[uint64]string{}

func goid() uint64 {
	var b [64]byte
	n, _ := strconv.ParseUint(strings.Fields(string(b[:runtime.Stack(b[:], false)]))[1], 10, 64)
	return n
}

// began notes the goroutine that calls it: its function is the name.
func began() {
	pc, _, _, _ := runtime.Caller(1)
	mutex.Lock()
	begun[goid()] = runtime.FuncForPC(pc).Name()
	mutex.Unlock()
}

func woke(name string) {
	mutex.Lock()
	fmt.Println("WOKE", goid(), name)
	mutex.Unlock()
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

func grow(number, from, n int, collects bool, fill func(from, n int)) {
	before := measure(collects)
	fill(from, n)
	after := measure(collects)
	fact(map[string]any{"plant": number, "count": from + n, "added": int64(after - before)})
}
${plants.map(plantCode).join('')}${waiting.map(waitCode).join('')}
func main() {
	debug.SetGCPercent(-1)
	collects := ${moment !== 'before'}
${plants.map(({number, count}) => `	hold${number}()\n	grow(${number}, 0, ${count}, collects, fill${number})\n`).join('')}${waiting.map(({number}) => `	start${number}()\n`).join('')}
	time.Sleep(100 * time.Millisecond)
	litter(${garbage})
	clear()
	${moment === 'marking' ? 'go func() { for { runtime.GC() } }()\n\ttime.Sleep(20 * time.Millisecond)' : ''}
	mutex.Lock()
	for id, name := range begun {
		fact(map[string]any{"goid": id, "waits": name})
	}
	mutex.Unlock()
	fmt.Println("READY")
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		words := strings.Fields(in.Text())
		switch words[0] {
		case "dump":
			f, _ := os.Create(words[1])
			debug.WriteHeapDump(f.Fd())
			f.Close()
		case "grow":
${plants.filter(({grows}) => grows > 0).map(({number, count, grows}) => `			grow(${number}, ${count}, ${grows}, true, fill${number})\n`).join('')}			litter(500)
			runtime.GC()
		case "wake":
${waiting.map(({number}) => `			wake${number}()\n`).join('')}			time.Sleep(delay + time.Second)
			fmt.Println("DONE")
			return
		}
		fmt.Println("READY")
	}
}
`;
  const used = Object.entries(packages).filter(([name]) => new RegExp(`(^|[^\\w.])${name}\\.`, 'm').test(body));
  return `package main

import (
${used.map(([, path]) => `\t"${path}"`).join('\n')}
)
${body}`;
}

/** Writes the program of a plan to a directory, as a module. */
export function writeProgram(plan, directory) {
  mkdirSync(join(directory, 'store.v2'), {recursive: true});
  writeFileSync(join(directory, 'go.mod'), 'module zoo\n\ngo 1.18\n');
  writeFileSync(join(directory, 'store.v2', 'store.go'), 'package store\n\n// Held keeps what the programs of the zoo put there.\nvar Held [100]any\n');
  writeFileSync(join(directory, 'main.go'), programOf(plan));
}
