// Writes the inputs that fuzzing starts with: DIR/TARGET/NAME for the targets dump, exe, gzip, options, heapquery and inspect.
//
//   node seeds.mjs DIR
//
// An input of exe is an executable, followed by the dump that it wrote. All are of one small program, in each file format,
// as different releases of Go make it, with both word sizes and byte orders (executable.mjs). See corpus/README.md.
import fs from 'node:fs';
import path from 'node:path';
import zlib from 'node:zlib';
import { encode } from '../oracle/encode.mjs';
import { caseParts } from '../oracle/writer.mjs';
import { cases } from '../oracle/cases.mjs';
import { Bytes, Types, buildInfo, code, dwarf, elf, macho, moduledata, pclntab, pe } from './executable.mjs';

// ---- a program ----

/** Adds types of the library and the runtime that hold an unsafe.Pointer, though the type of its target is known. */
function makeLibrary(types, t) {
  const uint8 = types.get('uint8'), uintptr = types.get('uintptr'), bool = types.get('bool'), pairOf = '[interface {},interface {}]';
  const atomic = (name, of) => types.struct(`sync/atomic.Pointer[${name}]`, [['_', types.array(0, types.pointer(of))], ['v', t.raw]]);
  t.pool = types.struct('sync.Pool', [['local', t.raw], ['localSize', uintptr], ['victim', t.raw], ['victimSize', uintptr], ['New', types.func([], [t.any])]]);
  types.struct('sync.poolLocalInternal', [['private', t.any], ['shared', t.raw]]);
  t.weak = types.struct('weak.Pointer[main.node]', [['_', types.array(0, t.toNode)], ['u', t.raw]]);
  t.trieNode = types.struct(`internal/sync.node${pairOf}`, [['isEntry', bool]]);
  t.indirect = types.add({ name: `internal/sync.indirect${pairOf}`, kind: 'struct', named: true });
  types.fill(t.indirect, [['node!', t.trieNode], ['dead', bool], ['parent', types.pointer(t.indirect)], ['children', types.array(4, atomic(t.trieNode.name, t.trieNode))]]);
  t.trie = types.struct(`internal/sync.HashTrieMap${pairOf}`, [['root', atomic(t.indirect.name, t.indirect)], ['seed', uintptr]]);
  t.eface = types.struct('sync.eface', [['typ', t.raw], ['val', t.raw]]);
  t.entry = types.struct('sync.entry', [['p', t.raw]]);
  t.list = types.struct('sync.notifyList', [['wait', types.get('uint32')], ['head', t.raw], ['tail', t.raw]]);
  t.timer = types.struct('time.Timer', [['C', types.chan(t.int)], ['initTimer', bool]]);
  types.pointer(types.struct('iter.coro', []));
  t.holder = types.struct('main.holder', [['pool', types.pointer(t.pool)], ['weak', t.weak], ['trie', types.pointer(t.trie)], ['eface', t.eface], ['entry', t.entry],
    ['list', t.list], ['timer', types.pointer(t.timer)], ['numbers', types.chan(t.int)], ['made', t.any], ['bytes', types.slice(uint8)]]);
  types.func([t.string], []);
}

/** Returns the types of the program, by the names that the code below uses for them. */
function makeTypes(target) {
  const types = new Types(target), w = target.word;
  const t = { int: types.get('int'), string: types.get('string'), raw: types.get('unsafe.Pointer'), u64: types.get('uint64') };
  types.struct('runtime.eface', [['_type', t.raw], ['data', t.raw]]);
  types.struct('runtime.iface', [['tab', t.raw], ['data', t.raw]]);
  t.any = types.interface('interface {}', []);
  t.shape = types.interface('main.shape', [['area', types.func([], [types.get('float64')])]]);
  t.square = types.struct('main.square', [['name', t.string], ['side', types.get('float64')]]);
  t.circle = types.add({ name: 'main.circle', kind: 'struct', named: true });
  types.fill(t.circle, [['label', types.pointer(t.string)], ['next', types.pointer(t.circle)], ['square!', t.square]]);
  t.node = types.add({ name: 'main.node', kind: 'struct', named: true });
  t.toNode = types.pointer(t.node);
  t.atomic = types.struct('sync/atomic.Pointer[main.node]', [['_', types.array(0, t.toNode)], ['v', t.raw]]);
  t.values = types.map(t.string, types.pointer(t.square));
  t.queue = types.chan(types.pointer(t.circle));
  t.call = types.func([t.int], [t.int]);
  const part = types.struct('struct { id int32; text string }', [['id', types.get('int32')], ['text', t.string]]);
  types.fill(t.node, [['left', t.toNode], ['right', t.toNode], ['name', t.string], ['values', t.values], ['any', t.any], ['shape', t.shape],
    ['call', t.call], ['queue', t.queue], ['keys', types.slice(t.string)], ['array', types.array(2, part)], ['last', t.atomic]]);
  t.big = types.struct('main.big', [['head', t.toNode], ['parts', types.array(40, types.pointer(t.square))], ['tail', types.array(64 * w, types.get('uint8'))]]);
  t.sudog = types.add({ name: 'runtime.sudog', kind: 'struct', named: true });
  t.g = types.add({ name: 'runtime.g', kind: 'struct', named: true });
  t.m = types.struct('runtime.m', [['g0', types.pointer(t.g)], ['curg', types.pointer(t.g)], ['id', t.u64]]);
  types.fill(t.sudog, [['g', types.pointer(t.g)], ['next', types.pointer(t.sudog)], ['elem', t.raw], ['c', t.raw]]);
  types.fill(t.g, [['m', types.pointer(t.m)], ['waiting', types.pointer(t.sudog)], ['goid', t.u64], ['stack', types.array(2, types.get('uintptr'))]]);
  t.closure = types.struct('struct { F uintptr; n *main.node; X1 string }', [['F', types.get('uintptr')], ['n', t.toNode], ['X1', t.string]]);
  makeLibrary(types, t);
  types.array(2, t.toNode);
  types.pointer(t.toNode);
  types.func([types.pointer(t.square)], []);
  types.pointer(types.get('uint8'));
  for (const type of [...types.byName.values()]) if (['map', 'slice', 'struct'].includes(type.kind)) types.pointer(type.bucket ?? type.elem ?? type);
  return { types, t };
}

const FUNCTIONS = ['runtime.goexit', 'runtime.main', 'runtime.gopark', 'runtime.chanrecv', 'runtime.chanrecv1', 'main.tree', 'main.main', 'main.main.func1',
  'main.wait', 'main.(*square).area', 'main.(*node).visit-fm', 'main.(*square).free', 'runtime.getOrAddWeakHandle', 'runtime.AddCleanup[go.shape.struct {},go.shape.string].func1', 'runtime.newobject'];

/** Returns an executable, followed by its dump. The target says for which release, format and machine. */
function makeProgram(target) {
  const { word: w, base, slide = 0 } = target;
  const { types, t } = makeTypes(target);
  const at = { text: base + 0x1000, types: base + 0x10000, info: base + 0x18000, module: base + 0x18200,
    data: base + 0x1a000, bss: base + 0x1b000, end: base + 0x1c000 };
  const functions = FUNCTIONS.map((name, i) => ({ name, entry: at.text + 64 * i, size: 64, line: 10 * (i + 1) }));
  const fn = (name) => functions.find((f) => f.name === name);
  const typeBytes = types.encode(at.types);
  at.table = at.types + Math.ceil(typeBytes.size / 64) * 64;

  // The heap of the process, which may have loaded the program elsewhere than the file says.
  const heap = w === 8 ? 0xc000000000n : 0x9400000n, objects = [];
  let next = heap;
  const process = (address) => BigInt(address) + BigInt(slide);
  const object = (size, words = {}, fields = Object.keys(words).map(Number)) => {
    const slot = Math.ceil(size / 16) * 16, address = next;
    objects.push({ address, size: slot, words, fields: [...fields].sort((a, b) => a - b) });
    next += BigInt(slot);
    return address;
  };
  const pointers = (type) => type.mask.flatMap((is, i) => (is ? [i * w] : []));
  // The words of a value, given its fields: each field is one word, or several words from the field's start on.
  const value = (type, fields) => Object.fromEntries(Object.entries(fields).flatMap(([name, v]) =>
    [v].flat().map((word, i) => [types.field(type, name).offset + i * w, word])));
  const make = (type, fields) => object(type.size, value(type, fields), pointers(type));
  const wordsOf = (bytes) => {
    const words = {};
    for (let i = 0; i < bytes.length; i += w) {
      const part = [...bytes.subarray(i, i + w)];
      words[i] = BigInt(`0x${Buffer.from(target.big ? part : part.reverse()).toString('hex')}`);
    }
    return words;
  };
  const text = (string) => [object(string.length, wordsOf(Buffer.alloc(Math.ceil(string.length / w) * w, string)), []), string.length];
  const typeWord = (type) => process(type.address);
  const itab = process(at.data + 0x100);
  const label = object(2 * w, { 0: text('a label')[0], [w]: 7 }, [0]);
  const squares = ['one', 'two', 'three'].map((name) => make(t.square, { name: text(name) }));
  const circle = make(t.circle, { label, square: text('round') });
  objects.at(-1).words[types.field(t.circle, 'next').offset] = circle;
  const made = { classic: () => {
    const bucket = t.values.bucket, buckets = object(bucket.size, { 0: target.big ? 0x0506070000000000n >> (w === 8 ? 0n : 32n) : 0x70605n,
      ...Object.fromEntries(squares.flatMap((s, i) => [...text(`key ${i}`).map((v, j) => [8 + i * 2 * w + j * w, v]), [8 + 16 * w + i * w, s]])) }, pointers(bucket));
    return object(6 * w + 8, { 0: 3, [w + 8]: buckets, [2 * w + 8]: 0 }, [w + 8, 2 * w + 8, 4 * w + 8]);
  }, swiss: () => {
    const group = t.values.bucket, slots = object(group.size, { 0: w === 8 ? 0x8080808080030201n : 0x80030201n, ...(w === 8 ? {} : { 4: 0x80808080n }),
      ...Object.fromEntries(squares.flatMap((s, i) => [...text(`key ${i}`), s].map((v, j) => [8 + i * 3 * w + j * w, v]))) }, pointers(group));
    return object(8 + 5 * w + 8, { 0: target.big && w === 4 ? 0 : 3, [8 + w]: slots }, [8 + w]);
  } }[target.maps === 'classic' ? 'classic' : 'swiss']();
  const buffer = object(4 * w, { 0: circle }, [0, w, 2 * w, 3 * w]);
  const channel = object(12 * w, { 0: 1, [w]: 4, [2 * w]: buffer, [3 * w]: w }, [2 * w, 5 * w]);
  const nodes = [0n, 0n, 0n];
  for (let i = 2; i >= 0; i--) {
    const closure = object(4 * w, { 0: process(fn('main.main.func1').entry), [w]: nodes[2] || 0, [2 * w]: text('captured')[0], [3 * w]: 8 }, [w, 2 * w]);
    const keys = object(4 * w, { 0: text('k')[0], [w]: 1, [2 * w]: text('longer key')[0], [3 * w]: 10 }, [0, 2 * w]);
    nodes[i] = make(t.node, { left: nodes[i + 1] ?? 0, right: nodes[i + 2] ?? 0, name: text(`node ${i}`), values: made, any: [typeWord(types.pointer(t.circle)), circle],
      shape: [itab, squares[i]], call: closure, queue: channel, keys: [keys, 2, 2], last: nodes[2] || 0 });
  }
  const header = target.release >= 22 ? 8 : 0; // objects of more than 512 bytes have a malloc header: their type
  const big = object(t.big.size + header, { ...(header && { 0: typeWord(t.big) }), [header]: nodes[0], [header + w]: squares[0], [header + 9 * w]: squares[1] },
    pointers(t.big).map((o) => o + header));
  const list = object(3 * w, { 0: nodes[0], [w]: nodes[1], [2 * w]: nodes[2] }, [0, w, 2 * w]);
  const boxed = object(16, { 0: 42 }, []), garbage = make(t.circle, { label });
  const m = make(t.m, {}), sudog = make(t.sudog, {});
  const gs = [make(t.g, { m }), make(t.g, { waiting: sudog })];
  Object.assign(objects.at(-3).words, value(t.sudog, { g: gs[1], c: channel }));
  const method = object(2 * w, { 0: process(fn('main.(*node).visit-fm').entry), [w]: nodes[1] }, [w]);
  const released = object(16, { 0: process(fn('main.(*square).free').entry) }, []);

  // Objects of the library, and a type that package reflect has made: []main.circle, which the executable does not have.
  const direct = new Bytes(target).word(3 * w, w).u32(99).u8(0, w, w, 23).word(0, 0).u32(-2, 0).word(typeWord(t.circle)).align(16);
  const made1 = object(direct.size, wordsOf(direct.buffer()), [2 * w + 8, 3 * w + 8]);
  objects.at(-1).words[3 * w + 8] = object(16, { 0: 1 }, []);
  const elements = object(2 * t.circle.size, { 0: label }, pointers(types.array(2, t.toNode)).map((o) => o * 2));
  const slice = object(3 * w, { 0: elements, [w]: 1, [2 * w]: 2 }, [0]);
  const locals = object(256, { 0: typeWord(t.int), [w]: boxed }, [0, w, 2 * w]);
  const trieEntry = object(6 * w, { 0: target.big ? 1n << BigInt(8 * w - 8) : 1, [2 * w]: typeWord(t.int), [3 * w]: boxed, [4 * w]: typeWord(t.toNode), [5 * w]: nodes[1] }, [w, 2 * w, 3 * w, 4 * w, 5 * w]);
  const indirect = make(t.indirect, { children: [trieEntry, 0] });
  const handle = object(target.release >= 26 ? 16 : w, { 0: nodes[2] }, []);
  const holder = make(t.holder, { pool: make(t.pool, { local: locals, localSize: 1, victim: locals }), weak: handle, trie: make(t.trie, { root: indirect }),
    eface: [typeWord(t.string), object(2 * w, { 0: text('in an eface')[0], [w]: 11 }, [0])], entry: object(2 * w, { 0: typeWord(t.int), [w]: boxed }, [0, w]),
    list: [0], timer: object(16 * w, { 0: 0 }, [0]), numbers: object(16 * w, { [w]: 4, [2 * w]: 0 }, []), made: [made1, slice], bytes: text('bytes').concat(5) });
  const cleanup = object(2 * w, { 0: process(functions.at(-1).entry), [w]: process(at.data + 0x80) }, [w]);
  object(2 * w, { 0: text('argument')[0], [w]: 8 }, [0]);

  // Variables.
  const globals = [
    { name: 'main.table', address: at.data, type: types.array(2, t.toNode), words: [nodes[0], nodes[1]] },
    { name: 'main.hook', address: at.data + 2 * w, type: t.call, words: [method] },
    { name: 'main.AddCleanup.dict', address: at.data + 0x80, type: types.array(2, t.toNode), words: [typeWord(types.func([t.string], [])), typeWord(t.string)] },
    { name: 'main.held', address: at.data + 3 * w, type: types.pointer(t.holder), words: [holder] },
    { name: 'main.root', address: at.bss, type: t.toNode, words: [nodes[0]] },
    { name: 'main.byName', address: at.bss + w, type: t.values, words: [made] },
    { name: 'main.list', address: at.bss + 2 * w, type: types.slice(t.toNode), words: [list, 3, 3] },
    { name: 'main.object', address: at.bss + 5 * w, type: types.pointer(t.big), words: [big] },
    { name: 'main.value', address: at.bss + 6 * w, type: t.any, words: [typeWord(t.int), boxed] },
    { name: 'main.text', address: at.bss + 8 * w, type: t.string, words: text('a global') },
  ];
  const segment = (from, size) => {
    const own = globals.filter((v) => v.address >= from && v.address < from + size);
    return { address: process(from), size, words: Object.fromEntries(own.flatMap((v) => v.words.map((x, i) => [v.address - from + i * w, x]))),
      fields: own.flatMap((v) => pointers(v.type).map((o) => v.address - from + o)).sort((a, b) => a - b) };
  };
  const dataSize = 0x100 + 4 * w, bssSize = 12 * w;

  // The variables of the frames; their places are distances from the end of the frame.
  const variables = {
    'main.main': [{ name: 'n', type: t.toNode, place: -w }, { name: 's', type: t.string, place: -3 * w }, { name: 'c', type: t.queue, place: [[0, 32, -4 * w], [32, 64, -5 * w]] },
      { name: 'l', type: types.slice(t.toNode), pieces: [-8 * w, -7 * w, -6 * w] }],
    'main.wait': [{ name: 'q', type: t.queue, place: 0, parameter: true }, { name: 'x', type: types.pointer(t.big), place: -w }],
    'main.main.func1': [{ name: '&n', type: types.pointer(t.toNode), closure: w, place: -w }, { name: 'text', type: t.string, closure: 2 * w, place: -3 * w }],
  };
  for (const f of functions) f.variables = variables[f.name];
  const inner = { name: 'main.inlined', inlined: true };
  fn('main.main').blocks = [{ from: 4, to: 60, variables: [{ name: 'b', type: t.any, place: -10 * w }] },
    { of: inner.name, from: 8, to: 48, variables: [{ name: 'i', type: types.pointer(t.circle), place: -11 * w }] }];
  const stack = next + 0x10000n;
  const frame = (name, depth, words, fields) => {
    const entry = process(fn(name).entry);
    return { name, sp: stack + BigInt(depth * 0x100), size: 12 * w, entry, pc: entry + 20n, words, fields };
  };
  const goroutine = (i, goid, more, frames) => ({ address: gs[i], goid, m, createdAt: process(fn('main.main').entry + 16), ...more, frames });
  const goroutines = [
    goroutine(0, 1, { status: 2 }, [
      frame('main.main', 0, { [11 * w]: nodes[1], [9 * w]: text('local')[0], [10 * w]: 5, [8 * w]: channel, [4 * w]: list, [5 * w]: 3, [6 * w]: 3, [2 * w]: typeWord(types.pointer(t.square)), [3 * w]: squares[2], [w]: circle },
        [w, 3 * w, 4 * w, 8 * w, 9 * w, 11 * w]),
      frame('runtime.main', 1, {}, []), frame('runtime.goexit', 2, {}, [])]),
    goroutine(1, 18, { waitReason: 'chan receive' }, [
      frame('runtime.gopark', 4, {}, []), frame('runtime.chanrecv', 5, { 0: channel, [w]: sudog }, [0, w]), frame('runtime.chanrecv1', 6, {}, []),
      frame('main.wait', 7, { [11 * w]: big, 0: channel }, [0, 11 * w]), frame('runtime.goexit', 8, {}, [])]),
  ];
  goroutines[0].defers = [{ address: 0, funcval: method, code: process(fn('main.(*node).visit-fm').entry), pc: process(fn('main.main').entry + 30) }];
  const record = (type) => ({ address: typeWord(type), size: type.size, name: type.name, pointer: type.kind === 'pointer' });
  const dump = encode('1.7', {
    ptrSize: w, bigEndian: target.big, goarch: target.goarch, version: target.version, objects, goroutines,
    types: [types.pointer(t.circle), t.square, t.int, types.pointer(t.square), t.node].map(record), itabs: [{ address: itab, type: typeWord(types.pointer(t.square)) }],
    data: [segment(at.data, dataSize)], bss: [segment(at.bss, bssSize)],
    finalizers: [{ object: squares[0], funcval: released, code: process(fn('main.(*square).free').entry), argType: typeWord(types.pointer(t.square)), objectType: typeWord(types.pointer(t.square)) }],
    profs: [{ id: 5, size: 16, stack: [['main.tree', '/src/main.go', 61]] }], samples: [{ address: garbage, prof: 5 }],
  });

  const ranges = { text: [at.text, at.text + 64 * functions.length], noptrdata: [at.module, at.module], data: [at.data, at.data + dataSize],
    bss: [at.bss, at.bss + bssSize], noptrbss: [at.end, at.end], types: [at.types, at.types + typeBytes.size] };
  const debug = target.dwarf ? dwarf(target, types, globals, [inner, ...functions], at.text) : {};
  const symbols = target.stripped ? [] : [{ name: 'runtime.pclntab', address: at.table, size: 0, section: 'table' },
    ...globals.map((v) => ({ name: v.name, address: v.address, size: v.type.size, section: v.address < at.bss ? 'data' : 'bss' })),
    { name: 'main.main', address: fn('main.main').entry, size: 64, section: 'text' }];
  const parts = { at, types: typeBytes, table: pclntab(target, functions, at.text), module: moduledata(target, at.table, ranges),
    info: buildInfo(target, target.version), dataSize, bssSize, textSize: 64 * functions.length, debug, symbols,
    text: code(target, functions, { type: t.node.address, data: at.data, make: fn('runtime.newobject').entry, method: fn('main.(*square).free').entry }) };
  return Buffer.concat([FORMATS[target.format](target, parts), ...dump]);
}

// ---- the file of the program ----

const named = (symbols, names) => symbols.map((s) => ({ ...s, section: names[s.section] }));

function compressed(target, bytes, gnu) {
  const out = new Bytes(target);
  if (gnu) {
    out.text('ZLIB', false);
    for (let i = 7; i >= 0; i--) out.u8(Number((BigInt(bytes.size) >> BigInt(8 * i)) & 255n));
  } else if (target.word === 8) out.u32(1, 0).word(bytes.size, 1);
  else out.u32(1).word(bytes.size, 1);
  return out.raw(zlib.deflateSync(bytes.buffer()));
}

const FORMATS = {
  elf(target, { at, types, table, module, info, dataSize, bssSize, textSize, debug, symbols, text }) {
    const data = new Bytes(target).pad(dataSize), sections = [
      { name: '.text', address: at.text, size: textSize, data: text, exec: true },
      { name: target.release >= 26 ? '.go.type' : '.rodata', address: at.types, data: types },
      ...(target.plainTable ? [{ name: '.data.rel.ro', address: at.table, data: table }] : [{ name: '.gopclntab', address: at.table, data: table }]),
      { name: '.go.buildinfo', address: at.info, data: info, write: true },
      { name: '.noptrdata', address: at.module, data: module, write: true },
      { name: '.data', address: at.data, data, write: true },
      { name: '.bss', address: at.bss, size: bssSize, write: true },
      ...(target.linked ? [{ name: '.note.gnu.build-id', address: at.module + 0x800, type: 7, data: new Bytes(target).u32(4, 20, 3).text('GNU').raw(new Array(20).fill(0xab)) },
        { name: '.gnu_debuglink', data: new Bytes(target).text('app.debug').align(4).u32(0x12345678), debug: true }] : []),
    ];
    if (target.noModule) sections.splice(4, 1);
    if (target.pie) { // every word of moduledata comes from a relocation
      const relocations = new Bytes(target);
      for (let i = 0; i < module.size; i += 8) {
        const word = module.buffer().readBigUInt64LE(i);
        if (word > 64n) relocations.word(at.module + i, 8, word);
      }
      sections[4].data = new Bytes(target).pad(module.size);
      sections.push({ name: '.rela.dyn', address: at.module + 0x1000, data: relocations, type: 4 });
    }
    for (const [name, bytes] of Object.entries(debug)) {
      const is = target.packed && bytes.size > 200;
      sections.push({ name: `.${name}`, data: is ? compressed(target, bytes, false) : bytes, debug: true, compressed: is });
    }
    return elf(target, sections, named(symbols, { table: target.plainTable ? '.data.rel.ro' : '.gopclntab', data: '.data', bss: '.bss', text: '.text' }));
  },

  // Data and bss are one section, and all read-only data are another.
  pe(target, { at, types, table, module, info, bssSize, textSize, debug, symbols, text }) {
    const rdata = new Bytes(target).raw(types.data).pad(at.table - at.types).raw(table.data);
    const data = new Bytes(target).raw(info.data).pad(at.module - at.info).raw(module.data);
    const sections = [
      { name: '.text', address: at.text, size: textSize, data: text, exec: true },
      { name: '.rdata', address: at.types, data: rdata },
      { name: '.data', address: at.info, data, size: at.bss + bssSize - at.info, write: true },
      ...Object.entries(debug).map(([name, bytes]) => ({ name: `.${name}`, data: bytes, debug: true })),
    ];
    return pe(target, sections, named(symbols, { table: '.rdata', data: '.data', bss: '.data', text: '.text' }), target.base);
  },

  macho(target, { at, types, table, module, info, dataSize, bssSize, textSize, debug, symbols, text }) {
    let fixups, moduleData = module;
    if (target.chained) { // as Apple's linker writes them: each word of moduledata says how far away the next one is
      const words = [];
      for (let i = 0; i < module.size; i += 8) if (module.buffer().readBigUInt64LE(i) > 64n) words.push(i);
      moduleData = new Bytes(target).raw(module.data);
      words.forEach((i, n) => {
        const distance = n + 1 < words.length ? (words[n + 1] - i) / 4 : 0;
        moduleData.patch(i, (BigInt(module.buffer().readBigUInt64LE(i)) - BigInt(target.base)) | (BigInt(distance) << 51n), 8);
      });
      fixups = new Bytes(target).u32(0, 28, 0, 0, 0, 0, 0); // the header; the starts in each segment follow it
      fixups.u32(2, 0, 12).u32(22 + 2).u16(0x1000, 6).word(at.module - target.base).u32(0).u16(1, words[0]);
    }
    const segments = [
      { name: '__TEXT', address: target.base, sections: [{ name: '__text', address: at.text, size: textSize, data: text, exec: true },
        { name: target.release >= 26 ? '__go_type' : '__rodata', address: at.types, data: types }, { name: '__gopclntab', address: at.table, data: table }] },
      { name: '__DATA', write: true, sections: [{ name: '__go_buildinfo', address: at.info, data: info }, { name: '__noptrdata', address: at.module, data: moduleData },
        { name: '__data', address: at.data, data: new Bytes(target).pad(dataSize) }, { name: '__bss', address: at.bss, size: bssSize }] },
      { name: '__DWARF', sections: Object.entries(debug).map(([name, bytes]) => (target.packed
        ? { name: `__z${name}`.slice(0, 16), data: compressed(target, bytes, true) } : { name: `__${name}`.slice(0, 16), data: bytes })) },
    ];
    return macho(target, segments, named(symbols, { table: '__gopclntab', data: '__data', bss: '__bss', text: '__text' }), { fixups });
  },
};

const amd64 = { word: 8, big: false, goarch: 'amd64', machine: 62, base: 0x400000, format: 'elf' };
const i386 = { ...amd64, word: 4, goarch: '386', machine: 3, base: 0x8048000 };
const go = (release, more) => ({ release, version: `go1.${release}`, pcln: release >= 20 ? 120 : release >= 18 ? 118 : release >= 16 ? 116 : 12,
  varintNames: release >= 17, maps: release >= 27 ? 'swiss127' : release >= 24 ? 'swiss124' : 'classic', dwarf: release >= 25 ? 5 : 4, ...more });
const EXECUTABLES = {
  'elf-64-1.27': { ...amd64, ...go(27) },
  'elf-64-1.24-packed': { ...amd64, ...go(24, { packed: true }) },
  'elf-64-1.27-pie': { ...amd64, ...go(27, { pie: true, slide: 0x555555000000 }) },
  'elf-64-1.23-stripped': { ...amd64, ...go(23, { stripped: true, dwarf: 0, linked: true }) },
  'elf-64-1.19-plain-table': { ...amd64, ...go(19, { plainTable: true, stripped: true }) },
  'elf-64-1.15-no-module': { ...amd64, ...go(15, { noModule: true }) },
  'elf-32-1.22': { ...i386, ...go(22) },
  'elf-32-1.16': { ...i386, ...go(16) },
  'elf-64-be-1.27': { ...amd64, big: true, goarch: 's390x', machine: 22, ...go(27) },
  'elf-32-be-1.21': { ...i386, big: true, goarch: 'mips', machine: 8, ...go(21, { quantum: 4 }) },
  'pe-64-1.27': { ...amd64, format: 'pe', machine: 0x8664, base: 0x140000000, ...go(27) },
  'pe-32-1.21': { ...i386, format: 'pe', machine: 0x14c, base: 0x400000, ...go(21) },
  'macho-64-1.27': { ...amd64, format: 'macho', machine: 0x01000007, base: 0x1000000, ...go(27, { packed: true }) },
  'macho-64-1.25-chained': { ...amd64, format: 'macho', goarch: 'arm64', machine: 0x0100000c, base: 0x100000000, ...go(25, { chained: true }) },
};

// ---- gzip ----

const crc = (data) => {
  let sum = 0xffffffff;
  for (const byte of data) {
    sum ^= byte;
    for (let i = 0; i < 8; i++) sum = (sum >>> 1) ^ (sum & 1 ? 0xedb88320 : 0);
  }
  return (sum ^ 0xffffffff) >>> 0;
};
const u16 = (n) => Buffer.from([n & 255, n >> 8]), u32 = (n) => Buffer.concat([u16(n & 65535), u16(n >>> 16)]);
const member = (data, options, flags = 0, fields = Buffer.alloc(0)) => Buffer.concat([Buffer.from([0x1f, 0x8b, 8, flags, 0, 0, 0, 0, 0, 3]), fields,
  zlib.deflateRawSync(data, options), u32(crc(data)), u32(data.length)]);

function gzips() {
  const dump = (name) => Buffer.concat(caseParts(name));
  const one = dump('goroutines'), other = dump('1.3'), packed = member(one);
  const header = Buffer.concat([u16(8), Buffer.from('AP\x04\0fuzzapp.dump\0a comment\0', 'latin1')]);
  const sum = crc(Buffer.concat([Buffer.from([0x1f, 0x8b, 8, 31, 0, 0, 0, 0, 0, 3]), header])) & 0xffff;
  return {
    plain: one, nothing: Buffer.alloc(0), 'one-byte': Buffer.from([0x1f]), magic: Buffer.from([0x1f, 0x8b]), one: packed, 'of-1.3': member(other), 'of-32-bit': member(dump('32-bit-be')),
    two: Buffer.concat([member(one.subarray(0, 300)), member(one.subarray(300))]), empty: Buffer.concat([member(Buffer.alloc(0)), packed, member(Buffer.alloc(0))]),
    stored: member(one, { level: 0 }), huffman: member(one, { strategy: 2 }), rle: member(one, { strategy: 3 }), fixed: member(one, { strategy: 4 }),
    'small-window': member(one, { windowBits: 9, memLevel: 1 }), fields: member(one, {}, 31, Buffer.concat([header, u16(sum)])), cut: packed.subarray(0, 200),
    'cut-trailer': packed.subarray(0, -3), zeros: Buffer.concat([packed, Buffer.alloc(512)]), garbage: Buffer.concat([packed, Buffer.from('garbage')]),
    'garbage-magic': Buffer.concat([packed, Buffer.from([0x1f, 0x8b, 0, 0])]), 'bad-crc': Buffer.concat([packed.subarray(0, -8), Buffer.alloc(4), packed.subarray(-4)]),
    'bad-size': Buffer.concat([packed.subarray(0, -4), Buffer.alloc(4)]), twice: member(packed), zlib: zlib.deflateSync(one), 'many-zeros': member(Buffer.alloc(300000)),
    'zeros-behind': member(Buffer.concat([one, Buffer.alloc(100000)])), elf: member(Buffer.from('\x7fELF\x02\x01\x01'.padEnd(100, '\0'), 'latin1')),
  };
}

// ---- options: one argument per line ----

const OPTIONS = [
  'dump', '-o\nout\ndump', '--exe\napp\ndump', '-eapp\n-o\nout.heapsnapshot\n-v\ndump', '--exe=app.gz\n--output=out\n--redact\ndump.gz', '--reachable\n--max-nodes=100\ndump',
  '--max-nodes\n1K\n-j\n3\ncut', '-z\n-o\nout.gz\ndump', '-V', '--version', '-h', '--help', '', 'dump\napp', 'app\ndump', '--exe\ndump\napp', '--exe\ntext\n--untyped-ok\ndump', '--exe\ntext\ndump',
  '-', '-o\n-\n-', 'none', 'sub', 'sub/dump', '-o\nsub\ndump', '-o\nsub/out\ndump', '-o\nlink\ndump', '-o\nnowhere\ndump', '--exe\nsub\ndump', '-j\n0\ndump', '-j1025\ndump', '--threads=x', '--max-nodes=0',
  '--max-nodes=99999999999999999999\ndump', '-o\n\ndump', '--ex\napp\ndump', '--re\ndump', '--\n-dump', '--gzip=1', '-zrv\ndump', 'empty', 'text', 'app', 'app.gz', '-e', '-o\nout\n-o\nother\ndump', 'cut\n-v\n-r', '--redact-key\ntext\ndump', '--redact-key=text\n-o\ntext\ndump', '-o\nout\n--redact-key=empty\ndump',
  '--redact-key\nnone\n-o\nout\n--exe=app\ndump', '-o\ndump\n-', '--exe\napp\n-o\napp\ndump', '-o\nlink\n-', '-o\nsub/dump\n-e\napp\nsub/dump',
  '-o\nout\ndump\ncut', '--base\ndump\n-o\nsub\n-z\ncut.gz', '--base=dump\n-o\nout\n-e\napp\n-j\n3\nlink\ncut', '-o\n.\n--max-nodes=100\ndump\n--\n-dump', '-o\nsub\nsub/dump\ndump',
  '-o\nnowhere\ndump\ncut', '-o\nout\ndump\nempty',
];

// ---- heapquery: snapshots of V8 ----

const NODE_TYPES = ['hidden', 'array', 'string', 'object', 'code', 'closure', 'regexp', 'number', 'native', 'synthetic'];
const EDGE_TYPES = ['context', 'element', 'property', 'internal', 'hidden', 'shortcut', 'weak'];
const NODE_FIELDS = ['type', 'name', 'id', 'self_size', 'edge_count'], EDGE_FIELDS = ['type', 'name_or_index', 'to_node'];
const PAIR = '1 / part of key (Key @7) -> value (Value @11) pair in WeakMap (table @9)';

/** What a snapshot has: nodes with their edges, each with a type, a name or an index, and the node that it leads to. */
const HEAP = [
  ['synthetic', '', 0, [['element', 1, 1], ['shortcut', 'window', 2], ['element', 2, 6], ['weak', 'w', 5]]],
  ['synthetic', '(GC roots)', 0, [['element', 1, 3], ['element', 2, 4], ['element', 3, 9]]],
  ['object', 'Window', 10, [['property', 'self', 2], ['property', 'x', 5]]],
  ['object', 'Key', 20, [['internal', PAIR, 5]]],
  ['object', 'Table', 30, [['internal', PAIR, 5], ['hidden', 7, 2]]],
  ['string', 'a text\u0000 \ud83d\ude00\u202e', 40, []],
  ['synthetic', '(Document DOM trees)', 0, [['element', 1, 7]]],
  ['native', 'Div', 50, [['property', 'cycle', 8]]],
  ['object', 'Cycle', 60, [['property', 'cycle', 7]]],
  ['closure', 'f', 70, [['context', 'c', 8]]],
];

function snapshot(nodeFields = NODE_FIELDS, edgeFields = EDGE_FIELDS, more = {}) {
  const strings = [], nodes = [], edges = [];
  const string = (text) => (strings.includes(text) || strings.push(text), strings.indexOf(text));
  HEAP.forEach(([type, name, size, from], i) => {
    const values = { type: NODE_TYPES.indexOf(type), name: string(name), id: 2 * i + 1, self_size: size, edge_count: from.length, trace_node_id: i, detachedness: i % 3 };
    nodes.push(...nodeFields.map((field) => values[field] ?? 0));
    for (const [kind, label, to] of from) {
      const edge = { type: EDGE_TYPES.indexOf(kind), name_or_index: typeof label === 'number' ? label : string(label), to_node: to * nodeFields.length };
      edges.push(...edgeFields.map((field) => edge[field] ?? 0));
    }
  });
  const types = (fields, list) => fields.map((field) => (field === 'type' ? list : 'number'));
  const meta = { node_fields: nodeFields, node_types: types(nodeFields, NODE_TYPES), edge_fields: edgeFields, edge_types: types(edgeFields, EDGE_TYPES) };
  return { snapshot: { meta, node_count: HEAP.length, edge_count: edges.length / edgeFields.length, ...more }, nodes, edges, ...more.sections, strings };
}

function snapshots() {
  const usual = JSON.stringify(snapshot()), recent = [...NODE_FIELDS, 'trace_node_id', 'detachedness'];
  const ascii = (text) => text.replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16)}`);
  const sections = { trace_function_infos: [0, 1, 2, 0, 1, 1], trace_tree: [1, 0, 1, 9, []], samples: [1, 2], locations: [0, 0, 1, 1] };
  return {
    usual, ascii: ascii(usual), recent: JSON.stringify(snapshot(recent, EDGE_FIELDS, { trace_function_count: 1, extra_native_bytes: 8, sections })),
    'other-order': JSON.stringify(snapshot([...recent].reverse().concat('new'), ['to_node', 'new', 'type', 'name_or_index'], { root_index: 0 })),
    spaces: JSON.stringify(snapshot(), null, 1), cut: usual.slice(0, -200), 'strings-first': JSON.stringify(Object.fromEntries(Object.entries(snapshot()).reverse())),
    'bad-utf8': Buffer.from(usual.replace('Window', 'W\xff\xc0\x80'), 'latin1'), 'half-pairs': usual.replace('Window', '\\ud83d\\u0041\\ude00'),
    mark: `\ufeff${usual}`, numbers: usual.replace(',10,', ',1e1,').replace(',20,', ',200.0e-1,'), 'unknown-types': usual.replace('"nodes":[9,', '"nodes":[15,'),
    log: usual.match(/[^]{1,200}/g).map((chunk) => JSON.stringify({ method: 'HeapProfiler.addHeapSnapshotChunk', params: { chunk } })).join('\n'),
    nothing: '', lists: `{"x":${'['.repeat(200)}`, 'no-nodes': JSON.stringify({ ...snapshot(), nodes: [], edges: [] }),
  };
}

// ---- inspect: what clients of --inspect send, and what a session answers: target_inspect.c ----

/** What happens in a step, as in target_inspect.c; which: the client or the question. */
const HAPPENINGS = ['bytes', 'text', 'answers', 'fails', 'time', 'takes'];
const stepOf = (what, data = '', which = 0) => {
  const bytes = Buffer.from(data);
  return Buffer.concat([Buffer.from([HAPPENINGS.indexOf(what) + HAPPENINGS.length * which, bytes.length >> 8, bytes.length & 255]), bytes]);
};
const steps = (...all) => Buffer.concat(all.map((each) => stepOf(...[each].flat())));
const get = (target, host = 'localhost', more = '') => ['bytes', `GET ${target} HTTP/1.1\r\nHost: ${host}\r\n${more}\r\n`];
const call = (method, params = {}, more = {}, which = 0) => ['text', JSON.stringify({ id: 1, method, params, ...more }), which];
/** A frame as a client sends it. */
const frameOf = (first, text, mask = [1, 2, 3, 4]) => Buffer.from([first, 0x80 | text.length, ...mask, ...Buffer.from(text).map((byte, i) => byte ^ mask[i % 4])]);
const UPGRADE = get('/path', '127.0.0.1:9229', 'Upgrade: WebSocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n');
const PRESS = call('HeapProfiler.takeHeapSnapshot', { reportProgress: true });

const INSPECTED = {
  discovery: steps(get('/json/version'), get('/json/protocol', '[::1]:1'), get('/json'), 'answers', 'takes', get('/json/list?for_tab'), ['time', '', 5]),
  refused: steps(get('/json', 'evil.example'), 'takes', get('/json', 'localhost', 'Origin: null\r\n'), get('/path'), ['bytes', 'POST / HTTP/1.0\r\n\r\n', 1]),
  opening: steps(call('Profiler.enable'), call('Runtime.enable'), call('Debugger.enable', { maxScriptsCacheSize: 1e7 }), 'answers', 'answers', 'takes', call('Network.enable'), call('Runtime.getIsolateId'),
    call('Runtime.getHeapUsage', {}, { sessionId: 'A\u2028' }), 'answers', call('Debugger.disable'), call('HeapProfiler.collectGarbage'), 'takes'),
  snapshot: steps(PRESS, 'takes', ['answers', '2'], 'takes', ['answers', '{"strings":["ü'], 'takes', ['answers', '\u20ac"]}'], 'takes', 'answers', 'takes'),
  shared: steps(PRESS, 'takes', call('HeapProfiler.takeHeapSnapshot', {}, {}, 1), ['answers', '2'], 'takes', PRESS, 'takes', ['takes', '', 1], ['answers', '{}'], 'takes', 'answers', ['time', '', 40], ['answers', 'x'], 'takes'),
  failed: steps(PRESS, 'takes', ['fails', 'no "memory"\u00ff'], call('HeapProfiler.stopTrackingHeapObjects'), ['time', '', 40], 'answers', 'takes', ['fails', Buffer.from([0xff])], 'takes'),
  values: steps(call('HeapProfiler.getObjectByHeapObjectId', { objectId: '7' }), 'answers', call('Runtime.getProperties', { objectId: 'o7', ownProperties: true }), 'fails', call('HeapProfiler.getHeapObjectId', { objectId: 'o7' }),
    'answers', call('Runtime.getProperties', { objectId: 'o7', accessorPropertiesOnly: true }), 'takes'),
  console: steps(call('HeapProfiler.addInspectedHeapObject', { heapObjectId: '4294967295' }), call('Runtime.evaluate', { expression: '$0.x["ü\u2028"]', throwOnSideEffect: true, objectGroup: 'completion' }), 'answers',
    call('Runtime.compileScript'), call('Debugger.getScriptSource', { scriptId: '3' }), ['answers', 'x'.repeat(70)], 'takes'),
  frames: steps(UPGRADE, ['bytes', Buffer.concat([frameOf(0x01, '{"id":1,"me'), frameOf(0x89, 'ping'), frameOf(0x00, 'thod":'), frameOf(0x80, '"x"}')])], 'takes', ['bytes', frameOf(0x88, '\x03\xe8')], 'takes'),
  'no frames': steps(UPGRADE, ['bytes', Buffer.from([0x81, 0xff, 0x80, 0, 0, 0, 0, 0, 0, 0])], 'takes', UPGRADE, ['bytes', frameOf(0xc1, '')]),
  'no requests': steps(['text', '{"id":1,'], ['text', '{"id":"1","method":"x"}'], ['text', '[[[[[]]]]]'], ['text', '{"\\u0069d":-1,"method":"\\ud83d","sessionId":"\\ud83d\\ude00"}'], 'takes'),
};

// ---- all ----

function write(directory, name, bytes) {
  fs.mkdirSync(directory, { recursive: true });
  fs.writeFileSync(path.join(directory, name), bytes);
}

const [root] = process.argv.slice(2);
if (!root) {
  console.error('usage: seeds.mjs DIR');
  process.exit(2);
}
for (const [name, target] of Object.entries(EXECUTABLES)) write(path.join(root, 'exe'), name, makeProgram(target));
for (const [name, bytes] of Object.entries(gzips())) write(path.join(root, 'gzip'), name, bytes);
for (const [name, text] of Object.entries(snapshots())) write(path.join(root, 'heapquery'), name, text);
for (const [name, bytes] of Object.entries(INSPECTED)) write(path.join(root, 'inspect'), name.replace(' ', '-'), bytes);
OPTIONS.forEach((text, i) => write(path.join(root, 'options'), String(i).padStart(2, '0'), text));
for (const name of Object.keys(cases)) {
  const parts = caseParts(name);
  if (parts.every((p) => p.zeros === undefined) && parts.reduce((sum, p) => sum + p.length, 0) < 6000)
    write(path.join(root, 'dump'), name, Buffer.concat(parts));
}
