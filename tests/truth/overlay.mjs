// Makes a Go release's allocator log its calls: overlay.mjs GOROOT DIRECTORY writes patched copies of a
// few files of the runtime and overlay.json, for `go build -overlay`. Nothing in GOROOT changes.
//
// Every allocation calls mallocgc, or from 1.26 on one of the functions for a size class. Each is renamed to NAME_, and a
// function of the old name calls it and appends (address, size, type) to a log outside of the heap. The log's length at a
// dump is noted while the world is stopped. The package record/ reads the log from within the program.
import fs from 'node:fs';
import path from 'node:path';

const [goroot, directory] = process.argv.slice(2);
const runtime = path.join(fs.realpathSync(goroot), 'src/runtime');
const read = (name) => fs.readFileSync(path.join(runtime, name), 'utf8');
const exists = (name) => fs.existsSync(path.join(runtime, name));

function replace(text, pattern, by, what) {
  const result = text.replace(pattern, by);
  if (result === text) throw new Error(`${runtime}: no ${what}`);
  return result;
}

const files = {};
const malloc = read('malloc.go');
const linkname = malloc.includes('//go:linkname mallocgc\nfunc mallocgc(');
files['malloc.go'] = replace(malloc, /(?:\/\/go:linkname mallocgc\n)?func mallocgc\(/, 'func mallocgc_(', 'mallocgc');
files['heapdump.go'] = replace(read('heapdump.go'), /(\nfunc writeheapdump_m\(.*\{\n)/, '$1\ttruthMark()\n', 'writeheapdump_m');

const wrapped = ['mallocgc'];
if (exists('malloc_generated.go')) {
  const special = /\b(mallocgc(?:SmallScanNoHeader|SmallNoScan|Tiny)SC\d+)\b/g;
  const generated = read('malloc_generated.go');
  for (const m of generated.matchAll(/^func (mallocgc\w+SC\d+)\(size uintptr, typ \*_type, needzero bool\) unsafe\.Pointer \{/gm)) {
    wrapped.push(m[1]);
  }
  if (wrapped.length < 3) throw new Error(`${runtime}: malloc_generated.go is not what it was`);
  files['malloc_generated.go'] = generated.replace(special, '$1_');
  files['malloc_tables_generated.go'] = read('malloc_tables_generated.go').replace(special, '$1_');
  files['malloc.go'] = files['malloc.go'].replace(special, '$1_');
}

const atomic = /^\t"(\S*runtime\S*\/atomic)"$/m.exec(malloc)[1];
// From 1.18 on the table of functions has offsets.
const entry = read('symtab.go').includes('entryoff') ? 'md.textAddr(md.ftab[i].entryoff)' : 'md.ftab[i].entry';
// The name of the field of an itab that has its type.
const itabType = /\btab\.(_type|Type)\b/.exec(read('heapdump.go'))[1];
// truthFunc() gets the name of a function from the funcInfo that findfunc() finds.
files['g2h_truth.go'] = `package runtime

import (
	"${atomic}"
	"unsafe"
)

const truthChunk = 1 << 20

type truthRow struct{ addr, size, typ uintptr }

var (
	truthChunks [1024]uintptr
	truthNext   uint32
	truthMarked uint32
)

func truthRecord(x unsafe.Pointer, size uintptr, typ *_type) {
	i := uintptr(atomic.Xadd(&truthNext, 1) - 1)
	chunk := atomic.Loaduintptr(&truthChunks[i/truthChunk])
	if chunk == 0 {
		p, err := mmap(nil, truthChunk*unsafe.Sizeof(truthRow{}), _PROT_READ|_PROT_WRITE, _MAP_ANON|_MAP_PRIVATE, -1, 0)
		if err != 0 {
			throw("truth: no memory")
		}
		chunk = uintptr(p)
		if !atomic.Casuintptr(&truthChunks[i/truthChunk], 0, chunk) {
			munmap(p, truthChunk*unsafe.Sizeof(truthRow{}))
			chunk = atomic.Loaduintptr(&truthChunks[i/truthChunk])
		}
	}
	row := (*truthRow)(unsafe.Pointer(chunk + i%truthChunk*unsafe.Sizeof(truthRow{})))
	row.addr = uintptr(x)
	row.size = size
	row.typ = uintptr(unsafe.Pointer(typ))
}

func truthMark() { truthMarked = truthNext }

//go:linkname truthCount truth/record.count
func truthCount() uint32 { return truthMarked }

//go:linkname truthAt truth/record.at
func truthAt(i uint32) (addr, size, typ uintptr) {
	row := (*truthRow)(unsafe.Pointer(truthChunks[i/truthChunk] + uintptr(i%truthChunk)*unsafe.Sizeof(truthRow{})))
	return row.addr, row.size, row.typ
}

//go:linkname truthLinks truth/record.links
func truthLinks() ([]unsafe.Pointer, [][]int32) { return reflect_typelinks() }

//go:linkname truthItabs truth/record.itabs
func truthItabs(each func(typ uintptr)) {
	iterate_itabs(func(tab *itab) { each(uintptr(unsafe.Pointer(tab.${itabType}))) })
}

//go:linkname truthFunc truth/record.function
func truthFunc(i int) (entry uintptr, name string, ok bool) {
	md := &firstmoduledata
	if i >= len(md.ftab)-1 {
		return 0, "", false
	}
	entry = ${entry}
	return entry, funcname(findfunc(entry)), true
}
${wrapped.map((name) => `
${name === 'mallocgc' && linkname ? '//go:linkname mallocgc\n' : ''}func ${name}(size uintptr, typ *_type, needzero bool) unsafe.Pointer {
	x := ${name}_(size, typ, needzero)
	if size != 0 {
		truthRecord(x, size, typ)
	}
	return x
}
`).join('')}`;

fs.mkdirSync(directory, { recursive: true });
const overlay = { Replace: {} };
for (const [name, text] of Object.entries(files)) {
  const file = path.resolve(directory, name);
  fs.writeFileSync(file, text);
  // Go compares paths as texts, and GOROOT may have symbolic links.
  for (const root of [goroot, fs.realpathSync(goroot)]) overlay.Replace[path.join(root, 'src/runtime', name)] = file;
  overlay.Replace[path.join(runtime, name)] = file;
}
fs.writeFileSync(path.join(directory, 'overlay.json'), JSON.stringify(overlay, null, 1));
