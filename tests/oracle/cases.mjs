// One small dump per trap of the format notes. A case is
//   { about, variant, dump, expect, status? }
// `dump` is the description for encode(); `expect` has the facts that the trap is about, stated by hand so that the
// reader is tested against them too:
//   format       the format that the reader must find
//   objects      number of objects without phantoms
//   edges        all edges between objects: [from, offset, to]
//   unreachable  all objects that no root reaches
//   classes      address → class name
//   complete     false for a dump that is cut
// `status` is the exit status of the program, 0 if not given.

const H = 0xc000000000n; // where the heap begins since 1.11
const H3 = 0xc208000000n; // where it begins in 1.3
const at = (offset, heap = H) => heap + BigInt(offset);
const bssOf = (...values) => [{ address: 0x550000, size: values.length * 8,
  words: Object.fromEntries(values.map((v, i) => [i * 8, v])) }];

const cases = {};
const add = (name, about, variant, dump, expect, more = {}) => {
  cases[name] = { about, variant, dump, expect, ...more };
};

// --- the layouts under "go1.3 heap dump" -------------------------------------------------------------------------

/** Every field kind and object kind of 1.3, for words of `w` bytes. Used by 2013 and all of 1.3. */
function typedHeap(w, heap, hchan) {
  const [NODE, ALL, CELL, INT] = [0x480000n, 0x480100n, 0x480200n, 0x480300n];
  const [ITAB_PTR, ITAB_INT] = [0x490000n, 0x490100n];
  const o = (i) => heap + BigInt(i * 256);
  const types = [
    { address: NODE, size: 2 * w, name: 'main.Node', fields: [0, w] },
    { address: ALL, size: 10 * w, name: 'main.All', fields: [0, ['string', w], ['slice', 3 * w], ['iface', 6 * w], ['eface', 8 * w]] },
    { address: CELL, size: w, name: '*main.Node', fields: [0] },
    { address: INT, size: w, name: 'int', pointer: false, fields: [] },
  ];
  const itabs = [{ address: ITAB_PTR, pointer: true }, { address: ITAB_INT, pointer: false }];
  const objects = [
    // 0: one value with all kinds of fields, each pointing somewhere
    { address: o(0), size: 16 * w, type: ALL, kind: 0,
      words: { 0: o(1), [w]: o(2) + 3n, [2 * w]: 5, [3 * w]: o(3) + BigInt(w), [4 * w]: 0, [5 * w]: 4, [6 * w]: ITAB_PTR, [7 * w]: o(4),
        [8 * w]: NODE, [9 * w]: o(5) } },
    // 1: all kinds of fields, none of which counts: empty string, slice without space, scalars that look like pointers
    { address: o(1), size: 16 * w, type: ALL, kind: 0,
      words: { [w]: o(6), [2 * w]: 0, [3 * w]: o(6), [4 * w]: 0, [5 * w]: 0, [6 * w]: ITAB_INT, [7 * w]: o(6), [8 * w]: INT, [9 * w]: o(6) } },
    // 2: string data
    { address: o(2), size: 16 },
    // 3: array of nodes; the last partial element does not count
    { address: o(3), size: 5 * w, type: NODE, kind: 1, words: { 0: o(4), [w]: 0, [2 * w]: 0, [3 * w]: o(5), [4 * w]: o(6) } },
    { address: o(4), size: 2 * w, type: NODE, kind: 0, words: { 0: o(4), [w]: o(5) } },
    { address: o(5), size: 4 * w, type: CELL, kind: 1, words: { 0: o(4), [w]: 0, [2 * w]: 0x1234, [3 * w]: o(4) + 1n } },
    // 6: only words that are no pointers lead to it
    { address: o(6), size: 16, type: 0 },
    // 7: a channel of *Node: the buffer is behind the header, the header is no field
    { address: o(7), size: hchan + 2 * w, type: CELL, kind: 2, words: { 0: o(6), [hchan]: 0, [hchan + w]: o(8) } },
    // 8: no type, but scanned word by word
    { address: o(8), size: 3 * w, type: 0, kind: 127, words: { 0: 7, [w]: o(9), [2 * w]: o(9) + 15n } },
    { address: o(9), size: 16 },
    // 10: an array of something of size 0
    { address: o(10), size: 16, type: 0x480400n, kind: 1, words: { 0: o(6) } },
  ];
  types.push({ address: 0x480400n, size: 0, name: 'struct {}', fields: [] });
  const edges = [
    [o(0), 0, o(1)], [o(0), w, o(2)], [o(0), 3 * w, o(3)], [o(0), 7 * w, o(4)], [o(0), 9 * w, o(5)],
    [o(3), 0, o(4)], [o(3), 3 * w, o(5)],
    [o(4), 0, o(4)], [o(4), w, o(5)],
    [o(5), 0, o(4)], [o(5), 3 * w, o(4)],
    [o(7), hchan + w, o(8)],
    [o(8), w, o(9)], [o(8), 2 * w, o(9)],
  ];
  const classes = { [o(0)]: 'main.All', [o(2)]: 'noptr16', [o(3)]: '[]main.Node', [o(5)]: '[]*main.Node', [o(7)]: 'chan *main.Node',
    [o(8)]: `ptr${3 * w}` };
  return { o, types, itabs, objects, edges, classes, INT, NODE };
}

function dump2013(ptrSize, heap, more = {}) {
  const hchan = ptrSize === 8 ? 88 : 48;
  const h = typedHeap(ptrSize, heap, hchan);
  const stack = heap + 0x100000n;
  return {
    dump: {
      ...more, ptrSize, hchanSize: hchan, types: h.types, itabs: h.itabs, objects: h.objects, noMemstats: true,
      goroutines: [
        { address: heap + 0x200000n, goid: 1, waitReason: 'chan receive', frames: [
          { sp: stack, name: 'runtime.gopark' }, { sp: stack, name: 'runtime.leaf' }, { sp: stack + 64n, name: 'main.main' }] },
        { address: heap + 0x200100n, goid: 17, status: 1, system: true, frames: [{ sp: stack + 4096n, name: 'runtime.bgsweep' }] },
      ],
      stackRoots: [
        { address: stack + 64n + 8n, value: h.o(0), sp: stack + 64n },
        { address: stack + BigInt(ptrSize), value: 0x1234, sp: stack },
      ],
      dataRoots: [{ address: 0x55f2a0, value: h.o(7) + 4n }, { address: 0x55f2a8, value: 0x400000 }],
      otherRoots: [{ description: 'finalizer goroutine', value: h.o(10) }],
      finalizers: [{ object: h.o(2), funcval: 0x470000 }],
    },
    expect: { format: '2013', objects: 11, edges: h.edges, classes: h.classes, unreachable: [h.o(6)] },
  };
}

for (const [name, about, size, heap, more] of [
  ['2013-64', 'the pre-release layout of 2013 (other tags, counted fields, single roots), 64 bit', 8, H3, {}],
  ['2013-32', 'the same for 32 bit', 4, 0x18400000n, {}],
  ['2013-32-be', 'the same for 32 bit, big endian', 4, 0x18400000n, { bigEndian: true }],
]) {
  const c = dump2013(size, heap, more);
  add(name, about, '2013', c.dump, c.expect);
}

function dump13(ptrSize, heap, variant) {
  const hchan = ptrSize === 8 ? 88 : 48;
  const h = typedHeap(ptrSize, heap, hchan);
  const w = ptrSize;
  const stack = heap + 0x100000n;
  return {
    dump: {
      ptrSize, hchanSize: hchan, thechar: ptrSize === 8 ? '6' : '8', types: h.types, itabs: h.itabs, objects: h.objects,
      goroutines: [{ goid: 1, waitReason: 'chan receive', frames: [
        { sp: stack, size: 0, name: 'runtime.gopark' },
        { sp: stack, size: 8 * w, name: 'main.main', words: { 0: h.o(0), [w]: h.o(6), [2 * w]: 0, [3 * w]: h.INT, [4 * w]: h.o(6), [6 * w]: h.o(6) },
          fields: [0, ['string', w], ['eface', 3 * w]] }] }],
      bss: [{ address: 0x55f2a0, size: 6 * w, words: { 0: h.o(7) + 4n, [w]: h.NODE, [2 * w]: h.o(10), [3 * w]: h.o(6) }, fields: [0, ['eface', w], ['slice', 3 * w]] }],
      ...(variant === '1.3beta1' ? {} : {
        profs: [{ id: 5, size: 16, stack: [['main.f', '/src/main.go', 12], ['4005f0', '?', 0]] }],
        samples: [{ address: h.o(2), prof: 5 }],
      }),
    },
    expect: { format: variant, objects: 11, edges: h.edges, classes: h.classes, unreachable: [h.o(6)] },
  };
}

for (const [name, about, variant, size, heap] of [
  ['1.3', 'Go 1.3: all field kinds and object kinds, empty strings and slices, scalars in interfaces', '1.3', 8, H3],
  ['1.3-32', 'the same for 32 bit', '1.3', 4, 0x18400000n],
  ['1.3beta1', 'the same without continpc, profile records and samples', '1.3beta1', 8, H3],
  ['1.3beta2', 'the same without continpc, but with profile records and samples', '1.3beta2', 8, H3],
]) {
  const c = dump13(size, heap, variant);
  add(name, about, variant, c.dump, c.expect);
}

// --- 1.3 names ----------------------------------------------------------------------------------------------------

/** One object of kind 0 for every type name. */
function named(names) {
  return {
    types: names.map((name, i) => ({ address: 0x480000n + BigInt(i * 64), size: 8, name, fields: [0] })),
    objects: names.map((name, i) => ({ address: at(i * 16, H3), size: 16, type: 0x480000n + BigInt(i * 64), kind: 0 })),
    bss: bssOf(...names.map((name, i) => at(i * 16, H3))),
  };
}
const NAMES = ['<-chan int', '<-chan struct {}', 'chan<- int', '<-chan <-chan int', 'map[string]interface {}', 'func() (int)',
  'github.com/x/y.T', '*main.T', '[]uint8'];
add('names-chan', 'type names that begin with <-chan are rewritten', '1.3', named(NAMES),
  { format: '1.3', objects: NAMES.length, edges: [], unreachable: [],
    classes: { [at(0, H3)]: 'chan (<-) int', [at(16, H3)]: 'chan (<-) struct {}', [at(32, H3)]: 'chan<- int', [at(48, H3)]: 'chan (<-) <-chan int' } });
const TRAPS = ['Object', 'Array', '(string)', 'system / Context', 'system / NativeContext', '(array)', 'Detached <div>', '__proto__',
  'V8EventListener', 'main.Object'];
add('names-traps', 'type names on which DevTools hangs a meaning of its own are rewritten', '1.3', named(TRAPS),
  { format: '1.3', objects: TRAPS.length, edges: [], unreachable: [] });
add('names-bad-utf8', 'type, function and wait reason texts that are not UTF-8, with quotes and control characters', '1.3', {
  ...named([Buffer.from('main.\xff\xfeT', 'latin1'), Buffer.from('main.caf\xe9', 'latin1'), Buffer.from('main.\xc3', 'latin1'), 'main.\u00e9\u4e16\u{1f600}', 'a"b\\c',
    'tab\there\nnul\0end\x1f\x7f', Buffer.from([0xed, 0xa0, 0x80, 0x41]), Buffer.from([0xf4, 0x90, 0x80, 0x80, 0x42]), Buffer.from([0xc0, 0x80, 0x43])]),
  goroutines: [{ goid: 1, waitReason: Buffer.from('sel\xffect', 'latin1'), frames: [{ sp: 0xc208100000n, size: 0, name: Buffer.from('main.\x80f', 'latin1') }] }],
}, { format: '1.3', objects: 9, edges: [], unreachable: [] });
add('name-long', 'names of 5,000 characters, one of them with its 1,024th character in four bytes', '1.3',
  { ...named(['main.' + 'x'.repeat(4995), 'y'.repeat(1023) + '\u{1f600}'.repeat(1000)]),
    goroutines: [{ goid: 1, frames: [{ sp: 0xc208100000n, size: 0, name: 'main.' + 'f'.repeat(4995) }] }] },
  { format: '1.3', objects: 2, edges: [], unreachable: [] });
add('pointer-array', 'an array of pointers of 1.3 longer than 1 MiB: element edges by index', '1.3', {
  types: [{ address: 0x480000n, size: 8, name: '*main.T', fields: [0] }],
  objects: [{ address: at(0, H3), size: 2 << 20, type: 0x480000n, kind: 1, words: { 0: at(4 << 20, H3), 8: 0, 1048576: at(4 << 20, H3), 2097144: at((4 << 20) + 8, H3) } },
    { address: at(4 << 20, H3), size: 16 }],
  bss: bssOf(at(0, H3)),
}, { format: '1.3', objects: 2, unreachable: [],
  edges: [[at(0, H3), 0, at(4 << 20, H3)], [at(0, H3), 1048576, at(4 << 20, H3)], [at(0, H3), 2097144, at(4 << 20, H3)]] });
add('otherroot', "Go 1.3's only description of other roots, in the heap and outside of it", '1.3', {
  objects: [{ address: at(0, H3), size: 32 }, { address: at(32, H3), size: 32 }],
  otherRoots: [{ description: 'runtime type info', value: at(32, H3) }, { description: 'runtime type info', value: 0x1000 }],
}, { format: '1.3', objects: 2, edges: [], unreachable: [at(0, H3)] });

// --- 1.4 to 1.6 -----------------------------------------------------------------------------------------------------

add('1.4', 'Go 1.4: field kinds Ptr, Iface, Eface; an interface is one entry for two words', '1.4', {
  types: [{ address: 0x480000n, size: 8, name: '*main.T' }, { address: 0x480040n, size: 8, name: 'int' }],
  itabs: [{ address: 0x490000n, type: 0x480000n }],
  objects: [
    { address: at(0, H3), size: 64, words: { 0: at(64, H3), 8: 0x490000n, 16: at(80, H3), 24: 0x480040n, 32: at(96, H3), 40: 0, 48: 0 },
      fields: [0, ['iface', 8], ['eface', 24], ['eface', 40]] },
    { address: at(64, H3), size: 16 }, { address: at(80, H3), size: 16 }, { address: at(96, H3), size: 16 }],
  bss: [{ address: 0x550000, size: 16, words: { 0: 0x490000n, 8: at(0, H3) }, fields: [['iface', 0]] }],
}, { format: '1.4', objects: 4, unreachable: [], classes: { [at(0, H3)]: 'ptr64', [at(64, H3)]: 'noptr16' },
  edges: [[at(0, H3), 0, at(64, H3)], [at(0, H3), 16, at(80, H3)], [at(0, H3), 32, at(96, H3)]] });

const small = { objects: [{ address: at(0), size: 16, words: { 0: 0, 8: at(16) } }, { address: at(16), size: 16 }, { address: at(32), size: 16 }],
  bss: bssOf(at(0)) };
const smallExpect = { objects: 3, edges: [[at(0), 8, at(16)]], unreachable: [at(32)], classes: { [at(0)]: 'ptr16', [at(16)]: 'noptr16' } };

/** 1.5's corrupt type record: raw memory, then the record's end; a false end with another type's address before it. */
function garbage(address) {
  const varint = (value) => {
    const bytes = [];
    for (let v = BigInt(value); ; v >>= 7n) {
      if (v < 0x80n) return [...bytes, Number(v)];
      bytes.push(Number(v & 0x7fn) | 0x80);
    }
  };
  const junk = Array.from({ length: 100000 }, (_, i) => (i * 7919) & 0xff);
  return Buffer.from([...junk, 1, 8, ...varint(0x490000), ...varint(0x480040), // another type's end
    3, ...varint(address), 8, ...varint(0xc2080123456n), // the dump buffer's own copy of this record's beginning
    ...'runtime.'.split('').map((ch) => ch.charCodeAt(0)), 0x2e, ...junk.slice(0, 777)]);
}
add('1.5-corrupt', "Go 1.5's type record with a nonsense length, to be left at the itab record that follows", '1.5', {
  types: [{ address: 0x480000n, size: 8, garbage: { length: 0x5200c2080n, bytes: garbage(0x480000n) } }],
  itabs: [{ address: 0x490000n, type: 0x480000n }, { address: 0x490040n, type: 0 }],
  ...small,
}, { format: '1.5', ...smallExpect });
add('1.6', 'Go 1.6', '1.6', { ...small, types: [{ address: 0x480000n, size: 8, name: '*main.T' }], itabs: [{ address: 0x490000n, type: 0x480000n }] },
  { format: '1.6', ...smallExpect });

// --- 1.7 and later: reading -------------------------------------------------------------------------------------------

add('future', 'a header that no Go has written yet is read as 1.7', '1.9', { ...small, version: 'go1.40' }, { format: '1.9', ...smallExpect });
add('repeated-type', 'the same type record three times, the later ones with another name', '1.7', {
  ...small, version: 'go1.21.0', types: ['main.T', 'main.T', 'main.U'].map((name) => ({ address: 0x480000n, size: 8, name })),
  itabs: [{ address: 0x490000n, type: 0x480000n }],
  objects: [{ address: at(0), size: 16, words: { 0: 0x490000n, 8: at(16) } }, ...small.objects.slice(1)],
}, { format: '1.7', ...smallExpect, repeatedTypes: 2 });
add('pkg-names', 'types whose name is only "main.": unnamed types with methods since 1.7', '1.7', {
  version: 'go1.21.0', types: [{ address: 0x480000n, size: 8, name: 'main.' }, { address: 0x480040n, size: 8, name: 'encoding/json.' },
    { address: 0x480080n, size: 16, name: 'main.Pair[string,*main.Node]' }],
  itabs: [{ address: 0x490000n, type: 0x480000n }, { address: 0x490040n, type: 0x480040n }, { address: 0x490080n, type: 0x480080n }],
  objects: [{ address: at(0), size: 64, words: { 0: 0x490000n, 8: at(64), 16: 0x490040n, 24: at(80), 32: 0x490080n, 40: at(96), 48: 0x480080n, 56: at(112) } },
    ...[64, 80, 96, 112].map((o) => ({ address: at(o), size: 16 }))],
  bss: bssOf(at(0)),
}, { format: '1.7', objects: 5, unreachable: [], edges: [[at(0), 8, at(64)], [at(0), 24, at(80)], [at(0), 40, at(96)], [at(0), 56, at(112)]] });
add('unsorted', 'objects in the order of the span table, not of addresses', '1.7', {
  version: 'go1.21.0',
  objects: [0x6000, 0x2000, 0x8000, 0x0000, 0x4000].map((o, i, all) => ({ address: at(o), size: 8192, words: { 0: at(all[(i + 1) % 5]) + 100n } })),
  bss: bssOf(at(0x4000 + 8191)),
}, { format: '1.7', objects: 5, unreachable: [], edges: [0x6000, 0x2000, 0x8000, 0x0000, 0x4000].map((o, i, all) => [at(o), 0, at(all[(i + 1) % 5])]) });
add('goexit-arguments', 'Go < 1.17: arguments of a go statement are fields of goexit, outside of its contents', '1.7', {
  objects: [{ address: at(0), size: 16, words: { 0: at(16) } }, { address: at(16), size: 16 }, { address: at(32), size: 16 }],
  goroutines: [{ goid: 1, waitReason: 'select', frames: [
    { sp: at(0x10000), size: 16, words: { 8: at(0) }, fields: [8], name: 'main.f' },
    { sp: at(0x10010), size: 8, words: { 0: at(32) }, fields: [0, 8, 24], name: 'runtime.goexit' }] }],
}, { format: '1.7', objects: 3, edges: [[at(0), 0, at(16)]], unreachable: [] });
add('zero-size-frames', 'frames without contents that share their sp with the next', '1.7', {
  ...small, version: 'go1.21.0', bss: [{ address: 0x550000, size: 0 }],
  goroutines: [{ goid: 1, waitReason: 'select', frames: [
    { sp: at(0x10000), size: 0, name: 'runtime.gopark' }, { sp: at(0x10000), size: 0, name: 'runtime.park_m' },
    { sp: at(0x10000), size: 32, words: { 8: at(0) }, name: 'main.main' }, { sp: at(0x10020), size: 0, name: 'runtime.main' }] }],
}, { format: '1.7', ...smallExpect });
add('no-eof', 'a dump without its EOF record', '1.7', { ...small, version: 'go1.21.0', noEof: true },
  { format: '1.7', ...smallExpect, complete: false }, { status: 3 });
add('cut', 'a dump that ends in the middle of an object', '1.7', { ...small, version: 'go1.21.0', noEof: true, noMemstats: true,
  tail: Buffer.from([1, 0x80, 0x80, 4, 0x60, 1, 2, 3]) }, { format: '1.7', ...smallExpect, complete: false }, { status: 3 });
for (const [name, variant, source] of [['cut-1.3beta1', '1.3beta1', dump13(8, H3, '1.3beta1')], ['cut-2013', '2013', dump2013(8, H3)]]) {
  add(name, `a dump of ${variant} that ends in the middle of an object`, variant,
    { ...source.dump, noEof: true, noMemstats: true, tail: Buffer.from([1, 0x80, 0x80, 4, 0, 0, 0x60, 1, 2, 3]) },
    { ...source.expect, complete: false }, { status: 3 });
}
add('empty', 'a heap without objects', '1.7', { version: 'go1.21.0' }, { format: '1.7', objects: 0, edges: [], unreachable: [] });
add('big-endian', 'big-endian words (s390x)', '1.7', { ...small, version: 'go1.21.0', goarch: 's390x', bigEndian: true }, { format: '1.7', ...smallExpect });
const H32 = 0x9000000n;
const words32 = { ptrSize: 4, goarch: '386', version: 'go1.21.0',
  objects: [{ address: at(0, H32), size: 8, words: { 0: at(8, H32), 4: at(17, H32) } }, { address: at(8, H32), size: 8 }, { address: at(16, H32), size: 16, words: { 12: at(0, H32) } }],
  bss: [{ address: 0x81000000, size: 10, words: { 4: at(0, H32) + 7n } }] };
const expect32 = { format: '1.7', objects: 3, unreachable: [], edges: [[at(0, H32), 0, at(8, H32)], [at(0, H32), 4, at(16, H32)], [at(16, H32), 12, at(0, H32)]] };
add('32-bit', 'words of 4 bytes (386)', '1.7', words32, expect32);
add('32-bit-be', 'words of 4 bytes, big endian (mips)', '1.7', { ...words32, bigEndian: true, goarch: 'mips' }, expect32);

// --- 1.7 and later: memory ----------------------------------------------------------------------------------------------

add('object-2gib', 'an object of 2 GiB: 4096 bytes of it are not in the file', '1.7', {
  version: 'go1.21.0',
  objects: [{ address: at(0), size: 0x80000000, stored: 0x7ffff000, words: { 0: at(0x80000000), 8: at(0x7fffff00) },
    fields: [0, 8, 0x7fffeff8, 0x7fffff00] },
  { address: at(0x80000000), size: 16, words: { 8: at(0x80000010) } }, { address: at(0x80000010), size: 16 }],
  bss: bssOf(at(0x40000000)),
}, { format: '1.7', objects: 3, unreachable: [], classes: { [at(0)]: 'ptr2147483648' },
  edges: [[at(0), 0, at(0x80000000)], [at(0), 8, at(0)], [at(0x80000000), 8, at(0x80000010)]] });
const BIG = 4300005376;
add('object-4gib', 'an object of more than 4 GiB: only its length mod 2^32 bytes are in the file', '1.7', {
  version: 'go1.21.0',
  objects: [{ address: at(0), size: BIG, stored: BIG - 2 ** 32, words: { 0: at(BIG), 1048576: at(BIG + 16) }, fields: [0, 1048576, 8388608, 4294967296] },
    { address: at(BIG), size: 16, words: { 8: at(BIG + 16) } }, { address: at(BIG + 16), size: 16, words: { 0: at(0) + 0x100000001n } }],
  bss: bssOf(at(0x100000000)),
}, { format: '1.7', objects: 3, unreachable: [], classes: { [at(0)]: `ptr${BIG}` },
  edges: [[at(0), 0, at(BIG)], [at(0), 1048576, at(BIG + 16)], [at(BIG), 8, at(BIG + 16)], [at(BIG + 16), 0, at(0)]] });
add('shortened', 'arrays without pointers of which the dump has the beginning', '1.7', {
  ...small, version: 'go1.26.1',
  objects: [{ address: at(0), size: 8192, words: { 8: at(8192 + 5000), 16: at(0x100000) } }, { address: at(8192), size: 8192, left: 1024, fields: [] },
    { address: at(16384), size: 8192 }, { address: at(0x100000), size: 0x100000, left: 1, fields: [] }],
  bss: bssOf(at(0)),
}, { format: '1.7', objects: 4, unreachable: [at(16384)], edges: [[at(0), 8, at(8192)], [at(0), 16, at(0x100000)]] });
add('far-apart', 'arenas that are terabytes apart: addresses do not fit into ids one by one', '1.7', {
  version: 'go1.21.0',
  objects: [{ address: 0x2998b8000000n, size: 16, words: { 8: 0x3998b8000010n } }, { address: 0x3998b8000010n, size: 16, words: { 8: 0x7f0000000020n } },
    { address: 0x7f0000000020n, size: 16, words: { 0: 0x2998b8000008n } }],
  bss: bssOf(0x2998b8000000n),
}, { format: '1.7', objects: 3, unreachable: [],
  edges: [[0x2998b8000000n, 8, 0x3998b8000010n], [0x3998b8000010n, 8, 0x7f0000000020n], [0x7f0000000020n, 0, 0x2998b8000000n]] });
add('high-base', 'a heap above 2^46, at the randomised base of 1.26', '1.7', {
  ...small, version: 'go1.26.1 X:nogreenteagc', objects: [{ address: 0x7ffffc000000n, size: 16, words: { 0: 0x7ffffc000010n } }, { address: 0x7ffffc000010n, size: 16 }],
  bss: bssOf(0x7ffffc000000n),
}, { format: '1.7', objects: 2, unreachable: [], edges: [[0x7ffffc000000n, 0, 0x7ffffc000010n]] });

/** A whole span of 8192 bytes: `real` objects, the other slots are phantoms. */
function span(address, size, real, pointers, phantomFields = undefined) {
  const list = [];
  for (let i = 0; (i + 1) * size <= 8192; i++) {
    const o = { address: address + BigInt(i * size), size, fields: [] };
    if (i >= real) {
      // bitmaps that happen to look like a pointer to the span's first object
      Object.assign(o, { phantom: true, words: { 0: address }, fields: phantomFields ?? [] });
    } else if (pointers) {
      // each object points to the next, the last into the first phantom slot if there is one
      o.words = { 0: address + BigInt((i + 1) * size) };
      o.fields = [0];
    }
    list.push(o);
  }
  return list;
}
const chain = (address, size, real) => Array.from({ length: real - 1 }, (_, i) => [address + BigInt(i * size), 0, address + BigInt((i + 1) * size)]);

/** `spans` are [size, real, pointers, phantomFields], one page each. */
function phantoms(name, about, version, spans, more = {}) {
  const heap = more.heap ?? H;
  const place = (i) => heap + BigInt(i) * 8192n;
  const objects = spans.flatMap(([size, real, pointers, list], i) => span(place(i), size, real, pointers, list));
  // the chain of each span; the last pointer into a phantom slot is no edge
  const edges = spans.flatMap(([size, real, pointers], i) => (pointers ? chain(place(i), size, real) : []));
  // a span without phantoms has its last pointer at the next page's first object
  spans.forEach(([size, real, pointers], i) => {
    if (pointers && real * size === 8192 && i + 1 < spans.length) edges.push([place(i) + BigInt((real - 1) * size), 0, place(i + 1)]);
  });
  const word = more.ptrSize ?? 8;
  const roots = spans.map((s, i) => place(i));
  const unreachable = objects.filter((o) => !o.phantom).filter((o) => o.fields.length === 0 && !roots.includes(o.address)).map((o) => o.address);
  add(name, about, '1.7', { ...more, version, objects,
    bss: [{ address: 0x550000, size: spans.length * word, words: Object.fromEntries(roots.map((r, i) => [i * word, r])) }] },
  { format: '1.7', objects: spans.reduce((sum, s) => sum + s[1], 0), edges, unreachable });
}
phantoms('phantoms-1.22', 'Go 1.22: slots under the pointer bitmap at the end of a span', 'go1.22.5',
  [[48, 168, true], [48, 170, false], [8, 1008, true], [8, 1024, false], [24, 336, true], [512, 15, true], [1024, 8, true]]);
phantoms('phantoms-1.24', 'Go 1.24: phantom slots of 8 bytes that show a pointer', 'go1.24.0', [[8, 1008, true, [0]], [16, 504, true], [16, 512, false]]);
phantoms('phantoms-1.21', 'Go 1.21: none', 'go1.21.13', [[48, 170, true], [48, 170, false], [512, 16, true]]);
phantoms('phantoms-noallocheaders', 'Go 1.22 with X:noallocheaders: none', 'go1.22.5 X:noallocheaders', [[48, 170, true], [512, 16, true]]);
phantoms('phantoms-green-tea', 'Go 1.26: the Green Tea collector takes more, from spans without pointers too', 'go1.26.0',
  [[48, 165, true], [48, 168, false], [16, 504, false], [16, 496, true], [8, 1024, false], [8, 1008, true, [0]], [512, 15, false], [576, 14, false]]);
phantoms('phantoms-1.25-green-tea', 'Go 1.25 with X:greenteagc', 'go1.25.12 X:greenteagc', [[48, 165, true], [48, 168, false]]);
phantoms('phantoms-1.25', 'Go 1.25 without it', 'go1.25.12', [[48, 168, true], [48, 170, false]]);
phantoms('phantoms-1.26-no-green-tea', 'Go 1.26 with -X:nogreenteagc', 'go1.26.11-X:nogreenteagc', [[48, 168, true], [48, 170, false]]);
phantoms('phantoms-32', 'Go 1.26 on 32 bit: slots up to 128 bytes, bitmaps twice as large', 'go1.26.0',
  [[48, 162, true], [48, 168, false], [128, 61, true], [144, 56, true]], { ptrSize: 4, goarch: '386', heap: H32 });
phantoms('phantoms-32-1.22', 'Go 1.22 on 32 bit', 'go1.22.0', [[48, 165, true], [48, 170, false], [160, 51, true]], { ptrSize: 4, goarch: 'arm', heap: H32 });

add('malloc-header', 'Go 1.22: pointerful slots above 512 bytes begin with their type; pointers land 8 bytes in', '1.7', {
  version: 'go1.22.5',
  objects: [{ address: at(0), size: 640, words: { 0: 0x480000n, 8: at(8192 + 8), 16: 0 }, fields: [8, 16] },
    { address: at(8192), size: 640, words: { 0: at(0), 8: 0, 16: at(8) }, fields: [8, 16] }, // a header that looks like a pointer
    { address: at(8192 + 640), size: 640, words: { 0: 0x480000n }, fields: [8] }],
  bss: bssOf(at(8)), finalizers: [{ object: at(8192 + 8), funcval: 0x470000 }],
  profs: [{ id: 1, size: 600, stack: [['main.f', '/m.go', 1], ['main.main', '/m.go', 9]] }, { id: 2, size: 600, stack: [['(0x4005f0)', '?', 0]] }],
  samples: [{ address: at(8), prof: 1 }, { address: at(8192 + 8), prof: 2 }, { address: 0x1000, prof: 1 }],
}, { format: '1.7', objects: 3, unreachable: [at(8192 + 640)], edges: [[at(0), 8, at(8192)], [at(8192), 16, at(0)]] });
add('stack-object', 'Go ≥ 1.12: what a local struct holds is missing from the field list, only a pointer into the frame shows it', '1.7', {
  version: 'go1.21.0',
  objects: [...[0, 16, 32].map((o) => ({ address: at(o), size: 16, words: { 0: at(o + 64) } })), ...[64, 80, 96].map((o) => ({ address: at(o), size: 16 })),
    { address: at(128), size: 16, words: { 0: at(0x20008) } }],
  bss: bssOf(at(128)),
  goroutines: [
    { goid: 1, waitReason: 'select', frames: [{ sp: at(0x10000), size: 64, words: { 0: at(0x10020), 40: at(0) }, fields: [0], name: 'main.own' }] },
    { goid: 2, address: at(0x1100), waitReason: 'select', frames: [{ sp: at(0x20000), size: 32, words: { 24: at(16) }, fields: [], name: 'main.byHeap' }] },
    { goid: 3, address: at(0x1200), waitReason: 'select', frames: [{ sp: at(0x30000), size: 32, words: { 24: at(32) }, fields: [], name: 'main.stale' }] },
  ],
}, { format: '1.7', objects: 7, edges: [[at(0), 0, at(64)], [at(16), 0, at(80)], [at(32), 0, at(96)]], unreachable: [at(32), at(96)] });
add('tiny-block', 'several small values in one block of 16 bytes, pointed to at any offset', '1.7', {
  version: 'go1.21.0', objects: [{ address: at(0), size: 32, words: { 0: at(48 + 1), 8: at(48 + 7), 16: at(48 + 15), 24: at(48) } }, { address: at(48), size: 16 }],
  bss: bssOf(at(0)),
}, { format: '1.7', objects: 2, unreachable: [], edges: [0, 8, 16, 24].map((o) => [at(0), o, at(48)]) });
add('interior', 'pointers to the first, a middle and the last byte of an object, behind its end, before the heap, into a gap', '1.7', {
  version: 'go1.21.0',
  objects: [{ address: at(0x2000), size: 64, words: { 0: at(0x4000), 8: at(0x4020), 16: at(0x402f), 24: at(0x4030), 32: at(0x3fff), 40: at(0x2000) - 1n, 48: at(0x4060), 56: 1 } },
    { address: at(0x4000), size: 48 }, { address: at(0x4030), size: 48 }],
  bss: bssOf(at(0x2000), 0, 0xffffffffffffffffn, at(0x5000)),
}, { format: '1.7', objects: 3, unreachable: [], edges: [[at(0x2000), 0, at(0x4000)], [at(0x2000), 8, at(0x4000)], [at(0x2000), 16, at(0x4000)], [at(0x2000), 24, at(0x4030)]] });
add('far-fields', 'fields beyond 1 MiB: element edges by offset', '1.7', {
  version: 'go1.21.0', objects: [{ address: at(0), size: 2 << 20, words: { 1048568: at(4 << 20), 1048576: at(4 << 20), 1048584: at((4 << 20) + 16) } },
    { address: at(4 << 20), size: 16 }, { address: at((4 << 20) + 16), size: 16 }],
  bss: bssOf(at(0)),
}, { format: '1.7', objects: 3, unreachable: [], edges: [[at(0), 1048568, at(4 << 20)], [at(0), 1048576, at(4 << 20)], [at(0), 1048584, at((4 << 20) + 16)]] });

// --- 1.7 and later: roots --------------------------------------------------------------------------------------------------

const plain = (n, size = 16) => Array.from({ length: n }, (_, i) => ({ address: at(i * size), size }));
add('garbage-cycle', 'rings and chains that nothing reaches, one of which points at a living object', '1.7', {
  version: 'go1.21.0',
  objects: [[0, 16], [16, 0], [32, 48], [48, 96], [64, 80], [80, 96], [96, 96], [112, 32]].map(([o, to]) => ({ address: at(o), size: 16, words: { 8: at(to) } })),
  bss: bssOf(at(96)),
}, { format: '1.7', objects: 8, unreachable: [0, 16, 32, 48, 64, 80, 112].map((o) => at(o)),
  edges: [[0, 16], [16, 0], [32, 48], [48, 96], [64, 80], [80, 96], [96, 96], [112, 32]].map(([o, to]) => [at(o), 8, at(to)]) });
add('self-reference', 'objects that point to themselves, living and dead', '1.7', {
  version: 'go1.21.0', objects: [0, 16].map((o) => ({ address: at(o), size: 16, words: { 0: at(o), 8: at(o + 8) } })), bss: bssOf(at(0)),
}, { format: '1.7', objects: 2, unreachable: [at(16)], edges: [[at(0), 0, at(0)], [at(0), 8, at(0)], [at(16), 0, at(16)], [at(16), 8, at(16)]] });
add('finalizers', 'a registered finalizer keeps what its object reaches and its closure, a queued one the object too', '1.7', {
  version: 'go1.21.0',
  objects: [{ address: at(0), size: 16, words: { 0: at(16) } }, ...[16, 32, 64, 80].map((o) => ({ address: at(o), size: 16 })),
    { address: at(48), size: 16, words: { 0: at(64) } }, { address: at(96), size: 16 }],
  finalizers: [{ object: at(0), funcval: at(32) }], queued: [{ object: at(48), funcval: at(80) }],
}, { format: '1.7', objects: 7, unreachable: [at(96)], unclear: [at(0)], edges: [[at(0), 0, at(16)], [at(48), 0, at(64)]] });
add('defers-panics', 'nested panics and a chain of defers, argp all ones, without function or type record', '1.7', {
  version: 'go1.21.0', objects: plain(5),
  goroutines: [{ goid: 7, status: 3, frames: [{ sp: at(0x10000), size: 8, name: 'main.f' }],
    defers: [{ address: at(0x1040), funcval: at(0), next: at(0x1080), argp: 2n ** 64n - 1n }, { address: at(0x1080), funcval: 0, code: 0 }],
    panics: [{ address: at(0x10008), type: 0x480000, data: at(16), next: at(0x10010) }, { address: at(0x10010), type: 0x480040, data: at(32 + 8) }] }],
}, { format: '1.7', objects: 5, edges: [], unreachable: [at(48), at(64)] });
add('goroutines', 'states, times and ids of goroutines; context pointer; the one that dumps; a dead frame', '1.7', {
  version: 'go1.21.0', objects: plain(3),
  goroutines: [
    { goid: 1, address: at(0x1000), status: 4, waitReason: 'dumping heap', m: 0x560000, frames: [{ sp: at(0x10000), size: 0, name: 'runtime/debug.WriteHeapDump' }, { sp: at(0x10000), size: 16, name: 'main.main' }] },
    { goid: 2, address: at(0x1100), status: 1, waitReason: 'stale text', ctxt: at(8), frames: [{ sp: at(0x11000), size: 16, name: 'main.g', words: { 0: at(16) }, continpc: 0 }] },
    { goid: 3, address: at(0x1200), status: 3, system: true, frames: [{ sp: at(0x12000), size: 16, name: 'unknown function' }] },
    { goid: 1000000000000, address: at(0x1300), status: 4, waitReason: 'chan receive (nil chan)', waitSince: 2n ** 63n, frames: [{ sp: at(0x13000), size: 16, name: 'main.mk[...].func1' }] },
    { goid: 5, address: at(0x1400), status: 4, waitReason: '', frames: [] },
  ],
  threads: [{ m: 0x560000, goid: 1, osid: 4711 }, { m: at(0x2000), goid: 2, osid: 4712 }],
}, { format: '1.7', objects: 3, edges: [], unreachable: [at(32)] });
const stackAt = (i) => at(0x100000 + 0x10000 * i);
const gAt = (i) => at(64 * (i + 1));
const sender = (i, more = {}) => ({ goid: 10 + i, address: gAt(i), waitReason: 'chan send', frames: [
  { sp: stackAt(i) + 1024n, size: 16, name: 'runtime.gopark', entry: 0x401000 },
  { sp: stackAt(i) + 1040n, size: 16, name: 'main.send', entry: 0x402000 },
  { sp: stackAt(i) + 1056n, size: 16, name: 'main.work', entry: 0x403000 }], ...more });
add('stacks', 'goroutines in one place and in others; stacks, one larger than any, one upside down, one that its goroutine is not on', '1.7', {
  version: 'go1.21.0',
  objects: [{ address: at(0), size: 64 }, ...[[0, 2048], [0, 4096], [0, 2000000000], [0, 2000000001], [2048, 0], [0, 1000], [0, 8192]]
    .map(([lo, hi], i) => ({ address: gAt(i), size: 64, words: { 0: stackAt(i) + BigInt(lo), 8: stackAt(i) + BigInt(hi) }, fields: [] }))],
  goroutines: [sender(0), sender(1), sender(2), sender(3, { waitReason: 'chan receive' }), sender(4), sender(5, { status: 1 }),
    sender(6, { frames: sender(6).frames.slice(1) }), sender(7), sender(8, { status: 1, waitReason: 'stale' })],
  bss: bssOf(...[-1, 0, 1, 2, 3, 4, 5, 6].map(gAt)),
}, { format: '1.7', objects: 8, edges: [], unreachable: [] });
add('tiers', 'what the program, a goroutine and another root hold points to what the others hold; bss has the records of the goroutine and a thread', '1.7', {
  version: 'go1.21.0',
  objects: [[0, 16], [16], [32, 0, 48], [48, 0], [64, 48, 0], [80, 96], [96], [112, 128, 0], [128]].map(([o, ...to]) => ({ address: at(o), size: 16,
    words: Object.fromEntries(to.map((target, i) => [8 * i, at(target)])) })),
  bss: bssOf(at(0), at(80), at(112)), otherRoots: [{ description: 'other', value: at(64) }],
  goroutines: [{ goid: 1, address: at(80), m: at(112), status: 4, waitReason: 'select', frames: [{ sp: at(0x10000), size: 16, name: 'main.f', words: { 0: at(32), 8: at(0) }, fields: [0, 8] }] }],
  threads: [{ m: at(112), goid: 1, osid: 4711 }],
}, { format: '1.7', objects: 9, unreachable: [],
  edges: [[0, 0, 16], [32, 0, 0], [32, 8, 48], [48, 0, 0], [64, 0, 48], [64, 8, 0], [80, 0, 96], [112, 0, 128], [112, 8, 0]].map(([from, offset, to]) => [at(from), offset, at(to)]) });
add('segments', 'data and bss of odd lengths, both with roots; foreign words', '1.7', {
  version: 'go1.21.0', objects: plain(4),
  data: [{ address: 0x540008, size: 21, words: { 0: at(0), 8: 0x400000 }, fields: [0, 8] }],
  bss: [{ address: 0x55f298, size: 25, words: { 8: at(16), 16: at(32) + 15n }, fields: [0, 8, 16] }],
}, { format: '1.7', objects: 4, edges: [], unreachable: [at(48)] });
add('samples', 'alloc samples: tiny block twice, an address without object, a record nobody uses', '1.7', {
  version: 'go1.21.0', objects: plain(3), bss: bssOf(at(0), at(16), at(32)),
  profs: [1, 2, 3].map((id) => ({ id, size: 8, allocs: 5, frees: 4, stack: [['main.f' + id, '/src/main.go', id], ['main.main', '/src/main.go', 99]] })),
  samples: [{ address: at(0), prof: 1 }, { address: at(8), prof: 2 }, { address: at(16), prof: 1 }, { address: 0x1234, prof: 2 }],
}, { format: '1.7', objects: 3, edges: [], unreachable: [] });

// --- two dumps of one process -----------------------------------------------------------------------------------------------

const pairGoroutine = (goid, i) => ({ goid, address: at(0x1000 + i * 256), waitReason: 'select', frames: [{ sp: at(0x10000 + i * 4096), size: 16, name: 'main.worker' }] });
add('pair.1', 'two dumps of one process: the first', '1.7', { version: 'go1.21.0', objects: plain(6), bss: bssOf(...plain(6).map((o) => o.address)),
  goroutines: [pairGoroutine(1, 0), pairGoroutine(18, 1), pairGoroutine(19, 2)] },
{ format: '1.7', objects: 6, edges: [], unreachable: [] });
add('pair.2', 'and the second: objects gone, new and of another size class, a goroutine gone, another new, more arenas', '1.7', { version: 'go1.21.0',
  objects: [...plain(6).slice(2), { address: at(0x4000000), size: 32 }, { address: at(0), size: 32 }],
  bss: bssOf(...plain(6).slice(2).map((o) => o.address), at(0x4000000), at(0)), goroutines: [pairGoroutine(20, 1), pairGoroutine(1, 0), pairGoroutine(19, 2)] },
{ format: '1.7', objects: 6, edges: [], unreachable: [] });

/** Objects of 16 bytes at these addresses, each pointing to the next, all of them roots. */
const ring = (addresses, more = {}) => ({ version: 'go1.21.0', ...more,
  objects: addresses.map((address, i) => ({ address, size: 16, words: { 8: addresses[(i + 1) % addresses.length] } })), bss: bssOf(addresses[0]) });
const ringExpect = (addresses) => ({ format: '1.7', objects: addresses.length, unreachable: [],
  edges: addresses.map((a, i) => [a, 8, addresses[(i + 1) % addresses.length]]) });
const addRing = (name, about, addresses, more) => add(name, about, '1.7', ring(addresses, more), ringExpect(addresses));

const GiB = 1n << 30n;
const spread = (n, step) => Array.from({ length: n }, (_, i) => H + BigInt(i) * step + 16n);
addRing('heap-15gib', 'a heap of 15 GiB: ids still count 8 bytes', spread(16, GiB));
addRing('heap-60gib', 'a heap of 60 GiB', spread(61, GiB));
addRing('heap-1tib', 'a heap of 1 TiB, an object per arena in 300 of its arenas', spread(300, 3n * GiB + 5n * (1n << 26n)));
addRing('arenas-200', '200 arenas all over the address space', Array.from({ length: 200 }, (_, i) => (BigInt((i * 7919) % 200 + 1) << 38n) + 32n));
addRing('pair-between.1', 'arenas far apart; the second dump has another between them and one above', [0x2998b8000000n, 0x7f0000000020n]);
addRing('pair-between.2', 'the second', [0x2998b8000000n, 0x3998b8000010n, 0x7f0000000020n, 0x7fff00000020n]);
addRing('pair-growing.1', 'a heap that grows from 10 to 40 GiB', spread(11, GiB));
addRing('pair-growing.2', 'the second', spread(41, GiB));
const dense = (n) => Array.from({ length: n }, (_, i) => [H + BigInt(i) * (1n << 26n), H + BigInt(i) * (1n << 26n) + 0x3fffff0n]).flat();
addRing('pair-dense.1', 'a heap that grows from 10 to 40 GiB with objects in every arena', dense(160));
addRing('pair-dense.2', 'the second', dense(640));
addRing('pair-lower.1', 'the second dump has an arena below all of the first', [at(0), at(16), at(32)]);
addRing('pair-lower.2', 'the second', [at(16), at(32), at(48), 0xbf00000010n]);
addRing('pair-lower-far.1', 'the same terabytes below', [at(0), at(16), at(32)]);
addRing('pair-lower-far.2', 'the second', [at(16), at(32), at(48), 0x1000000010n]);

export { cases };
