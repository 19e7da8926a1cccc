// Writes an executable with a table of about n entries, and a dump that asks for them.
//
//   node exe.mjs TABLE random|adverse N DIRECTORY    writes DIRECTORY/exe and DIRECTORY/dump
//   node exe.mjs --all DIRECTORY    writes all of them to DIRECTORY/TABLE-KIND-1 and -2, the second with twice as many
//                                   entries; prints TABLE KIND N ABOUT for each; DIRECTORY/none has the smallest executable
//
// Only the layouts are Go's: the file is the smallest ELF file that the reader takes for a program of Go 1.22, with one
// table as long as is asked for. "random" is the table as a linker would write it; "adverse" is the one that costs most:
// entries that share one long text, or chains, lists and trees that many entries lead into.
import fs from 'node:fs';
import zlib from 'node:zlib';
import {pathToFileURL} from 'node:url';
import {encode} from '../oracle/encode.mjs';
import {writeFile} from '../oracle/writer.mjs';

// ---- bytes ----

/** Returns a generator of random numbers, which gives the same ones in each run. */
function random(seed) {
  let state = seed * 2654435761 >>> 0 || 1;
  return (most) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    state >>>= 0;
    return state % most;
  };
}

const u8 = (...values) => Buffer.from(values.map((v) => v & 0xff));
const u16 = (...values) => {
  const out = Buffer.alloc(2 * values.length);
  values.forEach((v, i) => out.writeUInt16LE(v, 2 * i));
  return out;
};
const u32 = (...values) => {
  const out = Buffer.alloc(4 * values.length);
  values.forEach((v, i) => out.writeUInt32LE(Number(v) >>> 0, 4 * i));
  return out;
};
const u64 = (...values) => {
  const out = Buffer.alloc(8 * values.length);
  values.forEach((v, i) => out.writeBigUInt64LE(BigInt.asUintN(64, BigInt(v)), 8 * i));
  return out;
};
const uleb = (...values) => {
  const out = [];
  for (let v of values) {
    for (; v >= 0x80; v = Math.floor(v / 128)) out.push(v % 128 | 0x80);
    out.push(v);
  }
  return Buffer.from(out);
};
const text = (s) => Buffer.from(`${s}\0`, 'latin1');
const join = (...parts) => Buffer.concat(parts.flat(Infinity));
const times = (n, make) => Array.from({length: n}, (_, i) => make(i));
const name = (next, size = 20) => `main.${times(size, () => 'abcdefghijklmnopqrstuvwxyz'[next(26)]).join('')}`;

// ---- the executable ----

const TEXT = 0x401000, PCLNTAB = 0x10000000, TYPES = 0x20000000, MODULE = 0x30000000, DATA = 0x40000000;
const HEAP = 0xc000000000n;
const EDATA = 27; // the word of the module data of Go 1.22 with the end of its data
const [PROGBITS, SYMTAB, STRTAB, RELA] = [1, 2, 3, 4], [WRITE, ALLOC, EXECUTE] = [1, 2, 4];

function elf(sections) {
  const all = [{name: '', type: 0, data: Buffer.alloc(0)}, ...sections, {name: '.shstrtab', type: STRTAB}];
  // Names with the same end may share their bytes: nameAt says where a section's name is.
  const names = join(text(''), all.slice(1).map((s) => (s.nameAt === undefined ? text(s.name) : [])));
  let place = 1;
  for (const s of all) {
    s.name_offset = s.name === '' ? 0 : s.nameAt ?? place;
    if (s.name !== '' && s.nameAt === undefined) place += s.name.length + 1;
  }
  all.at(-1).data = names;
  let offset = 64;
  for (const s of all) {
    offset = Math.ceil(offset / 8) * 8;
    s.offset = offset;
    offset += s.data.length;
  }
  const table = Math.ceil(offset / 8) * 8, out = Buffer.alloc(table + 64 * all.length);
  join(Buffer.from('\x7fELF'), u8(2, 1, 1), Buffer.alloc(9), u16(2, 62), u32(1), u64(TEXT, 0, table), u32(0),
    u16(64, 0, 0, 64, all.length, all.length - 1)).copy(out);
  all.forEach((s, i) => {
    s.data.copy(out, s.offset);
    join(u32(s.name_offset, s.type ?? PROGBITS), u64(s.flags ?? 0, s.address ?? 0, s.offset, s.data.length),
      u32(s.link ?? 0, 0), u64(8, s.entry ?? 0)).copy(out, table + 64 * i);
  });
  return out;
}

/**
 * Makes the table of functions. `functions` have a name, or a nameAt that is an offset in `more`; a size; and the offsets
 * of their line tables in `pcs`.
 */
function pclntab({functions, more = Buffer.alloc(0), pcs = u8(0), files = text('main.go')}) {
  let place = more.length, entry = 0;
  const names = join(more, functions.map((f) => (f.nameAt === undefined ? text(f.name) : [])));
  const starts = functions.map((f) => f.nameAt ?? (place += f.name.length + 1) - f.name.length - 1);
  const functab = 8 * functions.length + 4;
  const entries = functions.map((f, i) => u32((entry += functions[i - 1]?.size ?? 0), functab + 44 * i));
  const records = functions.map((f, i) => join(
    entries[i].subarray(0, 4), u32(starts[i], 0, 0, 0, f.pcfile ?? 0, f.pcln ?? 0, 0, 0, 0, 0)));
  const parts = [names, u32(0), files, pcs, join(entries, u32(entry + functions.at(-1).size), records)];
  const offsets = [];
  let offset = 8 + 8 * 8;
  for (const part of parts) {
    offsets.push(offset);
    offset += part.length;
  }
  return join(u32(0xfffffff1), u8(0, 0, 1, 8), u64(functions.length, 1, TEXT, ...offsets), parts);
}

const MAIN = {name: 'main.main', size: 0x1000};

/** Makes the header that a descriptor begins with, abi.Type. */
const header = (size, kind, name_offset, {flags = 4, pointers = size} = {}) =>
  join(u64(size, pointers), u32(0), u8(flags, 8, 8, kind), u64(0, 0), u32(name_offset, 0));
const go_name = (s) => join(u8(0), uleb(s.length), Buffer.from(s, 'latin1'));
const aligned = (bytes) => join(bytes, Buffer.alloc(-bytes.length & 7));
/** The type int, whose descriptor is at offset 16. */
const integers = join(Buffer.alloc(8), go_name('int'), Buffer.alloc(3), header(8, 2, 8, {pointers: 0}));

/** Makes the file of these parts, each of which has a default. */
function executable({functions = [MAIN], table, types = integers, symbols, sections = [], debug = {}}) {
  const end = DATA + 0x1000000;
  const words = new Array(48).fill(0);
  words[0] = PCLNTAB;
  [TEXT, TEXT + 0x1000000, TEXT, TEXT + 0x1000000].forEach((w, i) => (words[20 + i] = w));
  [DATA, DATA, DATA, end, end, end, end, end, end, end, end].forEach((w, i) => (words[24 + i] = w));
  words[37] = TYPES;
  words[38] = TYPES + types.length;
  const module = {name: '.noptrdata', flags: ALLOC | WRITE, address: MODULE, data: u64(...words)};
  const information = Buffer.alloc(64);
  Buffer.from('\xff Go buildinf:', 'latin1').copy(information);
  information.writeUInt8(8, 14);
  information.writeUInt8(2, 15);
  join(uleb(8), Buffer.from('go1.22.0')).copy(information, 32);
  const all = [
    {name: '.gopclntab', flags: ALLOC, address: PCLNTAB, data: table ?? pclntab({functions})},
    {name: '.go.buildinfo', flags: ALLOC | WRITE, address: MODULE - 0x1000, data: information},
    module,
    {name: '.data', flags: ALLOC | WRITE, address: DATA, data: Buffer.alloc(64)},
    {name: '.rodata', flags: ALLOC, address: TYPES, data: types},
    ...sections,
    ...Object.entries(debug).map(([key, data]) => ({name: `.debug_${key}`, data})),
  ];
  if (symbols) {
    all.push({name: '.symtab', type: SYMTAB, data: symbols.table, link: all.length + 2, entry: 24},
      {name: '.strtab', type: STRTAB, data: symbols.texts});
  }
  return Object.assign(elf(all), {module});
}

/** Makes the dump of the process: one goroutine in main.main, and data that points to objects. */
function dump({frames = [], words = {}, size = 4096, types = [], objects = 1, ...more} = {}) {
  return Object.assign(encode('1.7', {
    version: 'go1.22.0',
    objects: times(objects, (i) => ({address: HEAP + 16n * BigInt(i), size: 16})),
    types,
    goroutines: [{goid: 1, frames: [{sp: 0xc100000000n, size: 64, name: 'main.main', entry: TEXT, pc: TEXT + 16, words: {8: HEAP}}, ...frames]}],
    data: [{address: DATA, size, words}],
    bss: [{address: DATA + 0x1000000, size: 0}],
    ...more,
  }), {data_size: size});
}

// ---- DWARF ----

const [CU, VARIABLE, SUBPROGRAM, TYPEDEF, BASE, STRUCT, MEMBER, BLOCK, PARAMETER, POINTER] =
  [0x11, 0x34, 0x2e, 0x16, 0x24, 0x13, 0x0d, 0x0b, 0x05, 0x0f];
const [NAME, LOCATION, TYPE, SIZE, LOW, HIGH, RANGES, ENCODING, MEMBER_LOCATION, ORIGIN, FRAME_BASE] =
  [0x03, 0x02, 0x49, 0x0b, 0x11, 0x12, 0x55, 0x3e, 0x38, 0x31, 0x40];
const [ADDR, DATA2, DATA4, DATA8, STRING, BLOCK1, FLAG_PRESENT, STRP, REF4, OFFSET, EXPRLOC, UDATA, INDIRECT] =
  [0x01, 0x05, 0x06, 0x07, 0x08, 0x0a, 0x19, 0x0e, 0x13, 0x17, 0x18, 0x0f, 0x16];

const abbreviation = (code, tag, children, ...attributes) =>
  join(uleb(code, tag), u8(children), uleb(...attributes.flat(Infinity)), u8(0, 0));
const unit = (dies, abbrev = 0) => join(u32(dies.length + 7), u16(4), u32(abbrev), u8(8), dies);
const FIRST = 11; // the offset of the first DIE
const at = (address) => join(uleb(9), u8(3), u64(address));
const cfa = u8(1, 0x9c); // DW_OP_call_frame_cfa

/** The abbreviations that the trees of DIEs here use. */
const known = join(
  abbreviation(1, CU, 1),
  abbreviation(2, VARIABLE, 0, NAME, STRING, LOCATION, EXPRLOC, TYPE, REF4),
  abbreviation(3, BASE, 0, NAME, STRING, SIZE, DATA2, ENCODING, DATA2),
  abbreviation(4, VARIABLE, 0, NAME, STRP, LOCATION, EXPRLOC, TYPE, REF4),
  abbreviation(5, TYPEDEF, 0, TYPE, REF4),
  abbreviation(6, SUBPROGRAM, 1, NAME, STRING, LOW, ADDR, HIGH, DATA8, FRAME_BASE, EXPRLOC),
  abbreviation(7, SUBPROGRAM, 0, RANGES, OFFSET),
  abbreviation(8, VARIABLE, 0, NAME, STRING, LOCATION, OFFSET, TYPE, REF4),
  abbreviation(9, BLOCK, 1, RANGES, OFFSET),
  abbreviation(10, BLOCK, 1, LOW, ADDR, HIGH, DATA8),
  abbreviation(11, STRUCT, 1, NAME, STRING, SIZE, DATA4),
  abbreviation(12, MEMBER, 0, NAME, STRING, MEMBER_LOCATION, DATA4, TYPE, REF4),
  abbreviation(13, SUBPROGRAM, 0, NAME, STRP, LOW, ADDR, HIGH, DATA8),
  abbreviation(14, STRUCT, 0, NAME, STRP, SIZE, DATA4),
  abbreviation(15, PARAMETER, 0, ORIGIN, REF4, LOCATION, EXPRLOC),
  abbreviation(16, POINTER, 0, TYPE, REF4),
  abbreviation(17, VARIABLE, 0),
  u8(0));
const integer = join(uleb(3), text('int'), u16(8, 5));
const compile_unit = (dies) => unit(join(uleb(1), dies, u8(0)));
const function_at = (body, entry = TEXT, size = 0x1000) => join(uleb(6), text('main.main'), u64(entry, size), cfa, body, u8(0));
const int_at = FIRST + 1;

/** Makes a file with these DIEs behind the one of int, and with more sections. */
const dwarf = (dies, more = {}) => executable({debug: {info: compile_unit(join(integer, dies)), abbrev: known, ...more}});

const unit5 = (dies) => join(u32(dies.length + 8), u16(5), u8(1, 8), u32(0), dies);
const int_at5 = int_at + 1;
const dwarf5 = (dies, more = {}) => executable({debug: {info: unit5(join(uleb(1), integer, dies, u8(0))), abbrev: known, ...more}});

// ---- code ----

/** Makes a value and stores it in data, as far as code tells. */
const stores = join(u8(0x48, 0x8d, 0x05), u32(TYPES + 16 - TEXT), u8(0x48, 0x8d, 0x0d), u32(DATA - TEXT),
  u8(0x48, 0x89, 0x01, 0x48, 0x8b, 0x51, 0x08, 0x48, 0x89, 0x44, 0xd1, 0x10, 0xc3));

/** Makes a stripped file of functions with this code; their sizes are those of the table, which may be damaged. */
function coded(code, sizes = code.map((c) => c.length)) {
  const functions = sizes.map((size, i) => ({name: i === 0 ? 'main.main' : `main.f${i}`, size}));
  return {exe: executable({functions, sections: [{name: '.text', flags: ALLOC | EXECUTE, address: TEXT, data: join(code)}]})};
}

// ---- the tables ----

/** Makes symbols of variables, whose names are at these offsets in a table of texts. */
function variables(offsets, texts) {
  return {
    texts: join(text(''), texts),
    table: join(Buffer.alloc(24), offsets.map((o, i) => join(u32(o + 1), u8(1, 0), u16(4), u64(DATA + 8 * i, 8)))),
  };
}
/** Makes the options of dump() with which each word of data points to an object of its own. */
const pointing = (n) => ({objects: n, size: 8 * n, words: Object.fromEntries(times(n, (i) => [8 * i, HEAP + 16n * BigInt(i)]))});

const ends = (names) => names.reduce((list, s) => [...list.slice(0, -1), list.at(-1), list.at(-1) + s.length + 1], [0]);
const starts = (names) => {
  const list = [];
  let place = 0;
  for (const s of names) {
    list.push(place);
    place += s.length + 1;
  }
  return list;
};

/** Makes n descriptors behind their names. make() gets a descriptor's number, the offset of its name, and its address. */
function descriptors(n, names, make, size, offset_of = (i, at) => at[i]) {
  const texts = [], offsets = [];
  let place = 8;
  for (const s of names) {
    offsets.push(place);
    texts.push(go_name(s));
    place += texts.at(-1).length;
  }
  const head = Buffer.alloc(Math.ceil(place / 8) * 8);
  join(Buffer.alloc(8), texts).copy(head);
  return join(head, times(n, (i) => make(i, offset_of(i, offsets), TYPES + head.length + size * i)));
}

/** Makes the types int and a struct with n fields of type int, which have these names. */
function fields(n, names) {
  const texts = names.map(go_name), places = [];
  let place = integers.length;
  for (const t of texts) {
    places.push(place);
    place += t.length;
  }
  const head = aligned(join(integers, texts, go_name('main.T'))), entries = TYPES + head.length + 80;
  return join(head, header(8 * n, 25, place, {pointers: 0}), u64(0, entries, n, n),
    times(n, (i) => u64(TYPES + places[i % places.length], TYPES + 16, 8 * i)));
}

export const tables = {
  functions: {
    about: 'functions by name',
    sizes: [4000, 600],
    random: (n, next) => ({exe: executable({functions: [MAIN, ...times(n, () => ({name: name(next, 40), size: 16}))]})}),
    adverse: (n) => ({exe: executable({table: pclntab({
      more: join(Buffer.alloc(20 * n, 'x'), text('')), functions: [MAIN, ...times(n, (i) => ({nameAt: i, size: 16}))]})})}),
  },
  closures: {
    about: 'functions that are closures by their names',
    sizes: [2000, 300],
    random: (n, next) => ({exe: executable({functions: [MAIN, ...times(n, (i) => ({name: `${name(next, 20)}.func${i}`, size: 16}))]})}),
    adverse: (n) => ({exe: executable({table: pclntab({
      more: join(Buffer.from(`main.${'.func-fm'.repeat(4 * n)}`), text('')), functions: [MAIN, ...times(n, (i) => ({nameAt: i, size: 16}))]})})}),
  },
  lines: {
    about: 'lines of functions: tables of steps, and frames that ask for them',
    sizes: [1000, 500],
    // random: a table of 16 steps for each function; adverse: one long table, whose end all frames ask for.
    random: (n, next) => {
      const functions = times(n, (i) => ({name: name(next), size: 64, pcfile: 0, pcln: 3 + 33 * i}));
      const pcs = join(u8(2), uleb(64), u8(0), times(n, () => [times(16, () => u8(2 + 2 * next(9), 4)), u8(0)]));
      return {
        exe: executable({table: pclntab({functions: [{...MAIN, size: 64}, ...functions], pcs})}),
        dump: dump({frames: functions.map((f, i) => ({sp: 0xc100000100n, size: 0, name: f.name, entry: TEXT + 64 + 64 * i, pc: TEXT + 64 + 64 * i + next(63)}))}),
      };
    },
    adverse: (n) => ({
      exe: executable({table: pclntab({functions: [{...MAIN, size: 40 * n, pcfile: 0, pcln: 0}], pcs: join(times(40 * n, () => u8(2, 1)), u8(0))})}),
      dump: dump({frames: times(n, (i) => ({sp: 0xc100000100n, size: 0, name: 'main.main', entry: TEXT, pc: TEXT + 40 * n - 1 - i}))}),
    }),
  },
  files: {
    about: 'names of files, of each line that is asked for',
    sizes: [1000, 500],
    adverse: (n) => ({
      exe: executable({table: pclntab({functions: [{...MAIN, size: 2 * n, pcfile: 0, pcln: 0}], pcs: join(u8(2), uleb(100 * n), u8(0)), files: text('x/'.repeat(100 * n))})}),
      dump: dump({frames: times(n, (i) => ({sp: 0xc100000100n, size: 0, name: 'main.main', entry: TEXT, pc: TEXT + i}))}),
    }),
  },
  symbols: {
    about: 'symbols of variables',
    sizes: [1500, 400],
    random: (n, next) => {
      const names = times(n, () => name(next));
      return {exe: executable({symbols: variables(starts(names), names.map(text))}), dump: dump(pointing(n))};
    },
    adverse: (n) => ({
      exe: executable({symbols: variables(times(n, (i) => i), [Buffer.alloc(60 * n, 'x/'), text('.x')])}), dump: dump(pointing(n))}),
  },
  sections: {
    about: 'sections by name',
    sizes: [3000, 1500],
    random: (n, next) => ({exe: executable({sections: times(n, () => ({name: name(next), data: u64(0)}))})}),
    adverse: (n) => ({exe: executable({sections: [
      {name: Buffer.alloc(20 * n, 'x').toString('latin1'), data: u64(0)}, ...times(n, (i) => ({name: 'x', nameAt: 60 + i, data: u64(0)}))]})}),
  },
  relocations: {
    about: 'relocations of a position-independent executable',
    sizes: [20000, 20000],
    random: (n, next) => ({exe: executable({sections: [{name: '.x', flags: ALLOC | WRITE, address: 0x50000000, data: Buffer.alloc(8 * n)},
      {name: '.rela', type: RELA, flags: ALLOC, address: 0x60000000, data: join(times(n, () => u64(0x50000000 + 8 * next(n), 8, next(1 << 30))))}]})}),
    // The relocations change many sections in turn, which all have the same contents.
    adverse: (n) => ({exe: executable({sections: [...times(Math.floor(n / 100), (i) => ({name: '.x', flags: ALLOC | WRITE, address: 0x50000000 + 4096 * i, data: u64(0, 0)})),
      {name: '.rela', type: RELA, flags: ALLOC, address: 0x70000000, data: join(times(n, (i) => u64(0x50000000 + 4096 * (i % Math.floor(n / 100)), 8, i)))}]})}),
  },
  types: {
    about: 'type descriptors by name',
    sizes: [2000, 1000],
    random: (n, next) => ({
      exe: executable({types: descriptors(n, times(n, () => name(next)), (i, at) => header(16, 12, at, {pointers: 0}).fill(u64(8), 0, 8), 48)}),
    }),
    // All types share one long name.
    adverse: (n) => ({exe: executable({types: join(aligned(join(Buffer.alloc(8), go_name('x'.repeat(16 * n)))), times(n, () => header(8, 2, 8, {pointers: 0})))})}),
  },
  fields: {
    about: 'fields of structs',
    sizes: [2000, 1000],
    random: (n, next) => ({exe: executable({types: fields(n, times(n, () => name(next)))})}),
    adverse: (n) => ({exe: executable({types: fields(n, ['x'.repeat(16 * n)])})}),
  },
  pointers: {
    about: 'types of pointers to pointers',
    sizes: [2000, 2000],
    random: (n, next) => ({exe: executable({types: join(integers,
      times(n, () => [header(8, 22, 8, {flags: 0}), u64(TYPES + 16)]))})}),
    adverse: (n) => ({exe: executable({types: join(integers,
      times(n, (i) => [header(8, 22, 8, {flags: 0}), u64(TYPES + 16 + (i === 0 ? 0 : 48 + 56 * (i - 1)))]))})}),
  },
  records: {
    about: 'type records that name no descriptor of the executable, sought in each section',
    sizes: [1000, 2500],
    random: (n, next) => ({exe: executable({types: Buffer.alloc(64)}), dump: dump({types: times(n, (i) => ({address: 0x80000000n + 64n * BigInt(next(1 << 20)), size: 8, name: 'main.T'}))})}),
    // The records are in the heap, where types made by package reflect are: none of them is a witness.
    adverse: (n) => ({
      exe: executable({types: Buffer.alloc(64), sections: times(250, (i) => ({name: '.x', flags: ALLOC, address: 0x50000000 + 4096 * i, data: Buffer.alloc(72)}))}),
      dump: dump({objects: n, types: times(n, (i) => ({address: HEAP + 16n * BigInt(i), size: 8, name: 'T'}))}),
    }),
  },
  code: {
    about: 'functions whose code is read',
    sizes: [500, 500],
    random: (n, next) => coded(times(n, () => join(stores, Buffer.alloc(next(16), 0xcc)))),
    // Every other function has all of the code: they overlap.
    adverse: (n) => coded([Buffer.alloc(16 * n, 0x90), ...times(n - 1, () => Buffer.alloc(0))], times(n, (i) => (i % 2 === 0 ? 16 * n : -16 * n))),
  },
  jumps: {
    about: 'jumps in one function, to the next instruction, in a frame of many words',
    sizes: [2000, 2000],
    random: (n, next) => coded([join(times(n, () => [u8(0x74, 0x05), u8(0x48, 0x89, 0x44, 0x24, 8 * next(16))]))]),
    adverse: (n) => coded([join(u8(0x48, 0x89, 0x84, 0x24, 0xf0, 0x0f, 0, 0), times(n, () => [u8(0x74, 0), u8(0x48, 0x89, 0xd8)]))]),
  },
  loops: {
    about: 'heads of loops in one function',
    sizes: [2000, 2000],
    adverse: (n) => coded([join(u8(0x48, 0x89, 0x84, 0x24, 0xf0, 0x0f, 0, 0), times(n, () => u8(0x48, 0x89, 0xc3, 0x75, 0xfb)))]),
  },
  indexed: {
    about: 'stores in a frame of many words, with an index',
    sizes: [2000, 2000],
    adverse: (n) => coded([join(u8(0x48, 0x89, 0x84, 0x24, 0xf0, 0x0f, 0, 0), times(n, () => u8(0x48, 0x89, 0x44, 0xcc, 8)))]),
  },
  dies: {
    about: 'DIEs of one unit',
    sizes: [2000, 1500],
    random: (n, next) => ({exe: dwarf(times(n, (i) => [uleb(2), text(name(next)), at(DATA + 8 * i), u32(int_at)])), dump: dump(pointing(n))}),
    // Each DIE is one byte, but has n attributes, which take no bytes.
    adverse: (n) => ({exe: executable({debug: {
      info: unit(join(uleb(1), Buffer.alloc(n, 2), u8(0))),
      abbrev: join(abbreviation(1, CU, 1), abbreviation(2, VARIABLE, 0, times(n, () => [0x3f, FLAG_PRESENT])), u8(0))}})}),
  },
  units: {
    about: 'units, and the abbreviations that they share',
    sizes: [1000, 1000],
    random: (n, next) => ({exe: executable({debug: {abbrev: known,
      info: join(times(n, (i) => compile_unit(join(integer, uleb(2), text(name(next)), at(DATA + 8 * i), u32(int_at)))))}}), dump: dump(pointing(n))}),
    // Each unit uses the last abbreviation.
    adverse: (n) => ({exe: executable({debug: {
      info: join(times(n, () => unit(join(uleb(n + 1), u8(0))))),
      abbrev: join(times(n, (i) => abbreviation(i + 1, BASE, 0)), abbreviation(n + 1, CU, 1), u8(0))}})}),
  },
  texts: {
    about: 'names that variables have by DW_FORM_strp',
    sizes: [2000, 500],
    random: (n, next) => {
      const names = times(n, () => name(next)), places = starts(names);
      return {exe: dwarf(times(n, (i) => [uleb(4), u32(places[i]), at(DATA + 8 * i), u32(int_at)]), {str: join(names.map(text))}), dump: dump(pointing(n))};
    },
    adverse: (n) => ({exe: dwarf(times(n, (i) => [uleb(4), u32(0), at(DATA + 8 * i), u32(int_at)]), {str: text('x'.repeat(100 * n))}), dump: dump(pointing(n))}),
  },
  'texts-of-functions': {
    about: 'names that functions have by DW_FORM_strp',
    sizes: [2000, 1000],
    random: (n, next) => {
      const names = times(n, () => name(next)), places = starts(names);
      return {exe: dwarf(times(n, (i) => [uleb(13), u32(places[i]), u64(TEXT + 16 * i, 16)]), {str: join(names.map(text))})};
    },
    adverse: (n) => ({exe: dwarf(times(n, (i) => [uleb(6), text('f'), u64(TEXT + 16 * i, 16), cfa, uleb(13), u32(0), u64(0, 0), u8(0)].concat([uleb(13), u32(0), u64(TEXT + 16 * i, 16)])),
      {str: text('x'.repeat(200 * n))})}),
  },
  'texts-of-types': {
    about: 'names that types have by DW_FORM_strp',
    sizes: [1500, 500],
    random: (n, next) => {
      const names = times(n, () => name(next)), places = starts(names);
      return {exe: dwarf([times(n, (i) => [uleb(14), u32(places[i], 8)]),
        times(n, (i) => [uleb(2), text(`v${i}`), at(DATA + 8 * i), u32(int_at + integer.length + 9 * i)])], {str: join(names.map(text))}), dump: dump(pointing(n))};
    },
    adverse: (n) => ({exe: dwarf([times(n, () => [uleb(14), u32(0, 8)]),
      times(n, (i) => [uleb(2), text(`v${i}`), at(DATA + 8 * i), u32(int_at + integer.length + 9 * i)])], {str: text('x'.repeat(200 * n))}), dump: dump(pointing(n))}),
  },
  places: {
    about: 'lists of places of variables in a frame',
    sizes: [1000, 400],
    random: (n, next) => {
      const lists = times(n, () => [u64(TEXT, TEXT + 0x1000), u16(2), u8(0x91, 8), u64(0, 0)]);
      return {exe: dwarf(function_at(times(n, (i) => [uleb(8), text(name(next)), u32(36 * i), u32(int_at)])), {loc: join(lists)})};
    },
    // All variables share one list, whose entries are for other places.
    adverse: (n) => ({exe: dwarf(function_at(times(n, (i) => [uleb(8), text(`v${i}`), u32(0), u32(int_at)])),
      {loc: join(times(10 * n, () => [u64(0x100, 0x200), u16(1), u8(0x9c)]), u64(0, 0))})}),
  },
  'places-of-bases': {
    about: 'the same of base addresses',
    sizes: [1000, 400],
    adverse: (n) => ({exe: dwarf(function_at(times(n, (i) => [uleb(8), text(`v${i}`), u32(0), u32(int_at)])),
      {loc: join(times(10 * n, () => u64(-1, TEXT)), u64(0, 0))})}),
  },
  'places-of-5': {
    about: 'the same of DWARF 5',
    sizes: [1000, 400],
    random: (n, next) => ({exe: dwarf5(function_at(times(n, (i) => [uleb(8), text(name(next)), u32(20 * i), u32(int_at5)])),
      {loclists: join(times(n, () => [u8(7), u64(TEXT, TEXT + 0x1000), u8(2, 0x91, 8)]), u8(0))})}),
    adverse: (n) => ({exe: dwarf5(function_at(times(n, (i) => [uleb(8), text(`v${i}`), u32(0), u32(int_at5)])),
      {loclists: join(times(10 * n, () => [u8(6), u64(TEXT)]), u8(0))})}),
  },
  ranges: {
    about: 'ranges of functions',
    sizes: [1000, 400],
    random: (n, next) => ({exe: dwarf(times(n, (i) => [uleb(7), u32(32 * i)]), {ranges: join(times(n, (i) => u64(TEXT + 16 * i, TEXT + 16 * i + 1 + next(15), 0, 0)))})}),
    // All functions share one list of empty ranges.
    adverse: (n) => ({exe: dwarf(times(n, () => [uleb(7), u32(0)]), {ranges: join(times(10 * n, () => u64(TEXT + 1, TEXT + 1)), u64(0, 0))})}),
  },
  'ranges-of-bases': {
    about: 'the same of base addresses',
    sizes: [1000, 400],
    adverse: (n) => ({exe: dwarf(times(n, () => [uleb(7), u32(0)]), {ranges: join(times(10 * n, () => u64(-1, TEXT)), u64(0, 0))})}),
  },
  'ranges-of-5': {
    about: 'the same of DWARF 5',
    sizes: [1000, 400],
    random: (n, next) => ({exe: dwarf5(times(n, (i) => [uleb(7), u32(18 * i)]), {rnglists: join(times(n, (i) => [u8(6), u64(TEXT + 16 * i, TEXT + 16 * i + 1 + next(15)), u8(0)]))})}),
    adverse: (n) => ({exe: dwarf5(times(n, () => [uleb(7), u32(0)]), {rnglists: join(times(10 * n, () => [u8(5), u64(TEXT)]), u8(0))})}),
  },
  blocks: {
    about: 'ranges of blocks of a function that has a frame',
    sizes: [1000, 400],
    random: (n, next) => ({exe: dwarf(function_at(times(n, (i) => [uleb(9), u32(32 * i), u8(0)])), {ranges: join(times(n, (i) => u64(TEXT + i % 16, TEXT + 1 + next(15), 0, 0)))})}),
    adverse: (n) => ({exe: dwarf(function_at(times(n, () => [uleb(9), u32(0), u8(0)])), {ranges: join(times(10 * n, () => u64(1, 2)), u64(0, 0))})}),
  },
  nested: {
    about: 'blocks in each other',
    sizes: [2000, 1000],
    random: (n, next) => ({exe: dwarf(function_at(times(n, () => [uleb(10), u64(TEXT, 0x1000), uleb(2), text(name(next)), u8(2, 0x91, 8), u32(int_at), u8(0)])))}),
    // The blocks are asked for at many pcs: no frame may cost a walk through all of them.
    adverse: (n) => ({
      exe: dwarf(function_at([times(n, () => [uleb(10), u64(TEXT, 0x1000)]), Buffer.alloc(n)])),
      dump: dump({frames: times(n, (i) => ({sp: 0xc100000100n, size: 0, name: 'main.main', entry: TEXT, pc: TEXT + 1 + i}))}),
    }),
  },
  typedefs: {
    about: 'typedefs of typedefs',
    sizes: [1000, 1000],
    random: (n, next) => ({exe: dwarf(times(n, (i) => [uleb(5), u32(int_at), uleb(2), text(name(next)), at(DATA + 8 * i), u32(int_at + integer.length + i * 44)]))}),
    adverse: (n) => ({exe: dwarf([times(n, (i) => [uleb(5), u32(i === 0 ? int_at : int_at + integer.length + 5 * (i - 1))]),
      times(n, (i) => [uleb(2), text('v'), at(DATA + 8 * i), u32(int_at + integer.length + 5 * i)])])}),
  },
  structs: {
    about: 'structs and their members',
    sizes: [1500, 300],
    random: (n, next) => {
      const size = 60;
      return {exe: dwarf([times(n, () => [uleb(11), text(name(next)), u32(8), uleb(12), text(name(next, 14)), u32(0, int_at), u8(0)]),
        times(n, (i) => [uleb(2), text('v'), at(DATA + 8 * i), u32(int_at + integer.length + size * i)])])};
    },
    // All structs have the members of the last one: they are nested, and end together.
    adverse: (n) => ({exe: dwarf([times(n, () => [uleb(11), text(''), u32(8 * n)]), times(10 * n, (i) => [uleb(12), text(''), u32(8 * i, int_at)]), Buffer.alloc(n),
      times(n, (i) => [uleb(2), text('v'), at(DATA + 8 * i), u32(int_at + integer.length + 6 * i)])])}),
  },
  expressions: {
    about: 'expressions of variables',
    sizes: [2000, 2000],
    // Each expression has many operations; Go's have one.
    adverse: (n) => ({exe: dwarf(times(Math.floor(n / 10), (i) => [uleb(2), text('v'), uleb(1000), Buffer.alloc(1000, 0x96), u32(int_at)]))}),
  },
  indirect: {
    about: 'forms that name another form',
    sizes: [2000, 200000],
    adverse: (n) => ({exe: executable({debug: {
      info: unit(join(uleb(1, 2), Buffer.alloc(n, INDIRECT), u8(FLAG_PRESENT, 0))),
      abbrev: join(abbreviation(1, CU, 1), abbreviation(2, VARIABLE, 0, NAME, INDIRECT), u8(0))}})}),
  },
  compressed: {
    about: 'debug sections that are compressed',
    sizes: [2000, 200],
    random: (n, next) => ({exe: compressed(join(integer, times(n, (i) => [uleb(2), text(name(next)), at(DATA + 8 * i), u32(int_at)]))), dump: dump(pointing(n))}),
    // Each variable is one byte; 1,000 of them are one byte of the input.
    adverse: (n) => ({exe: compressed(Buffer.alloc(1000 * n, 17))}),
  },
  chains: {
    about: "pages of Mach-O's chained fixups",
    sizes: [2000, 2000],
    random: (n) => ({exe: macho(1, 5 * n)}),
    adverse: (n) => ({exe: macho(n, n)}),
  },
};

/** Makes a file with these DIEs, compressed in the older way. */
function compressed(dies) {
  const info = compile_unit(dies), size = Buffer.alloc(8);
  size.writeBigUInt64BE(BigInt(info.length));
  return executable({sections: [{name: '.zdebug_info', data: join(Buffer.from('ZLIB'), size, zlib.deflateSync(info, {level: 9}))}], debug: {abbrev: known}});
}

/**
 * Makes a Mach-O file that is good for nothing but its fixups: its segments all have the same pages, in which no chain
 * begins.
 */
function macho(segments, pages) {
  const starts = join(u32(segments), times(segments, () => u32(4 + 4 * segments)),
    u32(22 + 2 * pages), u16(4096, 2), u64(0x1000), u32(0), u16(pages), Buffer.alloc(2 * pages, 0xff));
  const fixups = join(u32(0, 28, 0, 0, 0, 0, 0), starts);
  const segment = join(u32(0x19, 72 + 80), Buffer.from('__TEXT'.padEnd(16, '\0')), u64(0x100000000, 0x1000, 0, 0x1000), u32(5, 5, 1, 0),
    Buffer.from('__text'.padEnd(16, '\0')), Buffer.from('__TEXT'.padEnd(16, '\0')), u64(0x100001000, 64), u32(0, 0, 0, 0, 0, 0, 0, 0));
  const commands = join(segment, u32(0x80000034, 16, 32 + segment.length + 16, fixups.length));
  return join(u32(0xfeedfacf, 0x01000007, 3, 2, 2, commands.length, 0, 0), commands, fixups);
}

/** Writes both files. The executable's data is made as large as that of the dump: another is not the one that wrote it. */
function save(exe, parts, directory) {
  fs.mkdirSync(directory, {recursive: true});
  if (exe.module) u64(DATA + parts.data_size).copy(exe, exe.module.offset + 8 * EDATA);
  fs.writeFileSync(`${directory}/exe`, exe);
  const file = fs.openSync(`${directory}/dump`, 'w');
  writeFile(file, parts);
  fs.closeSync(file);
}

function write(table, kind, n, directory) {
  const {exe, dump: own} = tables[table][kind](n, random(n));
  save(exe, own ?? dump(), directory);
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const [table, kind, n, directory] = process.argv.slice(2);
  if (table === '--all') {
    save(executable({}), dump(), `${kind}/none`);
    for (const [key, t] of Object.entries(tables)) {
      for (const [i, order] of ['random', 'adverse'].entries()) {
        if (!t[order]) continue;
        console.log(key, order, t.sizes[i], t.about);
        for (const factor of [1, 2]) write(key, order, factor * t.sizes[i], `${kind}/${key}-${order}-${factor}`);
      }
    }
  } else {
    write(table, kind, Number(n), directory);
  }
}
