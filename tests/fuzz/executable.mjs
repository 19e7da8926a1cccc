// Writes small executables of Go: only the parts that go2heapsnapshot reads, as the linker of a given release would write
// them, for a program that is described as data. This is the mirror image of src/exe/, made from the same sources:
// internal/abi/type.go, runtime/symtab.go, debug/gosym, cmd/link. The text of amd64 and arm64 has code that is read, not run; that
// of others has no bytes.

/** Collects bytes in the target's byte order. */
export class Bytes {
  constructor(target) {
    this.target = target;
    this.data = [];
  }

  get size() {
    return this.data.length;
  }

  number(value, size) {
    const v = BigInt.asUintN(8 * size, BigInt(value));
    for (let i = 0; i < size; i++) this.data.push(Number((v >> BigInt(8 * (this.target.big ? size - 1 - i : i))) & 0xffn));
    return this;
  }

  u8(...values) {
    for (const v of values) this.number(v, 1);
    return this;
  }

  u16(...values) {
    for (const v of values) this.number(v, 2);
    return this;
  }

  u32(...values) {
    for (const v of values) this.number(v, 4);
    return this;
  }

  word(...values) {
    for (const v of values) this.number(v, this.target.word);
    return this;
  }

  uleb(value) {
    let v = BigInt(value);
    for (; v >= 0x80n; v >>= 7n) this.data.push(Number(v & 0x7fn) | 0x80);
    this.data.push(Number(v));
    return this;
  }

  sleb(value) {
    for (let v = value; ; v >>= 7) {
      const last = v >= -64 && v < 64;
      this.data.push((v & 0x7f) | (last ? 0 : 0x80));
      if (last) return this;
    }
  }

  text(text, end = true) {
    this.raw(Buffer.from(text));
    return end ? this.u8(0) : this;
  }

  raw(bytes) {
    for (const b of bytes) this.data.push(b);
    return this;
  }

  align(to) {
    while (this.size % to !== 0) this.data.push(0);
    return this;
  }

  pad(size) {
    while (this.size < size) this.data.push(0);
    return this;
  }

  patch(at, value, size) {
    const bytes = new Bytes(this.target).number(value, size).data;
    for (let i = 0; i < size; i++) this.data[at + i] = bytes[i];
  }

  buffer() {
    return Buffer.from(this.data);
  }
}

// ---- types ----

const KINDS = ['invalid', 'bool', 'int', 'int8', 'int16', 'int32', 'int64', 'uint', 'uint8', 'uint16', 'uint32', 'uint64', 'uintptr',
  'float32', 'float64', 'complex64', 'complex128', 'array', 'chan', 'func', 'interface', 'map', 'pointer', 'slice', 'string', 'struct',
  'unsafe.Pointer'];
const up = (n, to) => Math.ceil(n / to) * to;

/** The types of a program. Each is { name, kind, size, align, mask } and its parts; mask says which words are pointers. */
export class Types {
  constructor(target) {
    this.target = target;
    this.byName = new Map();
    const w = target.word;
    const scalars = { bool: 1, int: w, int8: 1, int16: 2, int32: 4, int64: 8, uint: w, uint8: 1, uint16: 2, uint32: 4, uint64: 8, uintptr: w,
      float32: 4, float64: 8 };
    for (const [name, size] of Object.entries(scalars)) this.add({ name, kind: name, size, align: Math.min(size, w) });
    this.add({ name: 'string', kind: 'string', size: 2 * w, align: w, mask: [true, false] });
    this.add({ name: 'unsafe.Pointer', kind: 'unsafe.Pointer', size: w, align: w, mask: [true] });
  }

  add(type) {
    const known = this.byName.get(type.name);
    if (known) return known;
    if (this.encoded) throw new Error(`${type.name} comes too late`);
    const whole = { mask: [], ...type };
    this.byName.set(type.name, whole);
    return whole;
  }

  get(name) {
    if (!this.byName.has(name)) throw new Error(`no type ${name}`);
    return this.byName.get(name);
  }

  pointer(elem) {
    return this.add({ name: `*${elem.name}`, kind: 'pointer', size: this.target.word, align: this.target.word, mask: [true], elem });
  }

  slice(elem) {
    const w = this.target.word;
    return this.add({ name: `[]${elem.name}`, kind: 'slice', size: 3 * w, align: w, mask: [true, false, false], elem });
  }

  array(length, elem) {
    this.slice(elem);
    const type = this.add({ name: `[${length}]${elem.name}`, kind: 'array', size: length * elem.size, align: elem.align, elem, length });
    type.mask = this.masked(type.size, Array.from({ length }, (_, i) => ({ offset: i * elem.size, type: elem })));
    return type;
  }

  chan(elem) {
    return this.add({ name: `chan ${elem.name}`, kind: 'chan', size: this.target.word, align: this.target.word, mask: [true], elem });
  }

  func(parameters, results) {
    const list = (types) => types.map((t) => t.name).join(', ');
    const name = `func(${list(parameters)})${results.length > 1 ? ` (${list(results)})` : results.length ? ` ${results[0].name}` : ''}`;
    return this.add({ name, kind: 'func', size: this.target.word, align: this.target.word, mask: [true], parameters, results });
  }

  /** Each method is [name, func type]. */
  interface(name, methods) {
    return this.add({ name, kind: 'interface', size: 2 * this.target.word, align: this.target.word, mask: [true, true], methods,
      named: methods.length > 0 });
  }

  /** Each field is [name, type]; the name of an embedded field ends with "!". */
  struct(name, fields) {
    const type = this.add({ name, kind: 'struct', named: !name.startsWith('struct ') });
    return this.fill(type, fields);
  }

  fill(type, fields) {
    let offset = 0;
    type.align = 1;
    type.fields = fields.map(([name, of]) => {
      offset = up(offset, of.align);
      const field = { name: name.replace('!', ''), embedded: name.endsWith('!'), type: of, offset };
      offset += of.size;
      type.align = Math.max(type.align, of.align);
      return field;
    });
    type.size = up(offset, type.align);
    type.mask = this.masked(type.size, type.fields);
    return type;
  }

  masked(size, parts) {
    const w = this.target.word;
    const mask = new Array(Math.ceil(size / w)).fill(false);
    for (const { offset, type } of parts) type.mask.forEach((is, i) => (mask[offset / w + i] ||= is));
    return mask;
  }

  /** Adds a map type, with the type that the compiler makes for it: the group of a Swiss map, the bucket of a classic one. */
  map(key, elem) {
    const name = `map[${key.name}]${elem.name}`;
    if (this.byName.has(name)) return this.byName.get(name);
    const w = this.target.word;
    const type = this.add({ name, kind: 'map', size: w, align: w, mask: [true], key, elem });
    if (this.target.maps === 'classic') {
      type.bucket = this.struct(`struct { topbits [8]uint8; keys [8]${key.name}; elems [8]${elem.name}; overflow unsafe.Pointer }`,
        [['topbits', this.array(8, this.get('uint8'))], ['keys', this.array(8, key)], ['elems', this.array(8, elem)],
          ['overflow', this.get('unsafe.Pointer')]]);
    } else {
      const slot = this.struct(`struct { key ${key.name}; elem ${elem.name} }`, [['key', key], ['elem', elem]]);
      type.bucket = this.struct(`struct { ctrl uint64; slots [8]${slot.name} }`, [['ctrl', this.get('uint64')], ['slots', this.array(8, slot)]]);
    }
    return type;
  }

  field(type, name) {
    return type.fields.find((f) => f.name === name);
  }

  /** The path of the package of a type; main if the type has no name. */
  pkg(type) {
    return type.named ? /^([\w./]*)\./.exec(type.name.replace(/\[.*/, ''))[1] : 'main';
  }

  /** The name of a type as its descriptor has it, with only the last part of the package's path. */
  text(type) {
    return type.named ? `*${type.name.replace(/^[\w./]*\//, '')}` : type.name;
  }

  // The size of a descriptor without the uncommon type and the entries behind that: the header, and the part for its kind.
  baseSize(type) {
    const w = this.target.word;
    const more = { pointer: w, slice: w, func: w, chan: 2 * w, array: 3 * w, interface: 4 * w, struct: 4 * w };
    if (type.kind !== 'map') return 4 * w + 16 + (more[type.kind] ?? 0);
    return up(4 * w + 16 + { classic: 4 * w + 8, swiss124: 7 * w + 4, swiss127: 10 * w + 4 }[this.target.maps], w);
  }

  entries(type) {
    const w = this.target.word;
    if (type.kind === 'struct') return 3 * w * type.fields.length;
    if (type.kind === 'interface') return 8 * type.methods.length;
    return type.kind === 'func' ? w * (type.parameters.length + type.results.length) : 0;
  }

  /** Encodes all descriptors, their names and masks, for this address of the file. */
  encode(address) {
    const { target } = this;
    const w = target.word;
    const all = [...this.byName.values()];
    this.encoded = true;
    let end = 64; // runtime.types has something before the first one
    for (const type of all) {
      type.offset = end;
      type.address = address + end;
      end = up(end + this.baseSize(type) + (type.named ? 16 : 0) + this.entries(type), 8);
    }
    const tail = new Bytes(target), places = new Map();
    const name = (text, flags = 0) => {
      const key = `${flags} ${text}`;
      if (!places.has(key)) {
        places.set(key, end + tail.size);
        tail.u8(flags);
        if (target.varintNames) tail.uleb(Buffer.byteLength(text));
        else tail.u8(text.length >> 8, text.length & 255);
        tail.text(text, false);
      }
      return places.get(key);
    };
    const masks = new Bytes(target), maskOf = new Map();
    for (const type of all) {
      maskOf.set(type, masks.size);
      for (let i = 0; i < type.mask.length; i += 8)
        masks.u8(type.mask.slice(i, i + 8).reduce((sum, is, bit) => sum | (is ? 1 << bit : 0), 0));
      name(this.text(type), 1);
      if (type.named) name(this.pkg(type));
      for (const f of type.fields ?? []) name(f.name, target.release >= 19 && f.embedded ? 8 : 0);
      for (const [method] of type.methods ?? []) name(method);
    }
    name('main');
    const masksAt = address + end + tail.size;
    const out = new Bytes(target);
    for (const type of all) {
      out.pad(type.offset);
      const direct = ['pointer', 'map', 'chan', 'func', 'unsafe.Pointer'].includes(type.kind);
      const pointers = type.mask.lastIndexOf(true) + 1;
      out.word(type.size, pointers * w).u32(0x1234 + type.offset);
      out.u8((type.named ? 1 + 2 + 4 : 0) + (direct && target.release >= 26 ? 32 : 0), type.align, type.align);
      out.u8(KINDS.indexOf(type.kind) + (direct && target.release < 26 ? 32 : 0));
      out.word(0, pointers > 0 ? masksAt + maskOf.get(type) : 0);
      out.u32(name(this.text(type), 1), this.byName.get(`*${type.name}`)?.offset ?? 0);
      const pkg = name(this.pkg(type));
      const entriesAt = address + type.offset + this.baseSize(type) + (type.named ? 16 : 0);
      if (type.kind === 'pointer' || type.kind === 'slice') out.word(type.elem.address);
      else if (type.kind === 'chan') out.word(type.elem.address, 3);
      else if (type.kind === 'array') out.word(type.elem.address, this.get(`[]${type.elem.name}`).address, type.length);
      else if (type.kind === 'func') out.u16(type.parameters.length, type.results.length);
      else if (type.kind === 'interface') out.word(address + pkg, entriesAt, type.methods.length, type.methods.length);
      else if (type.kind === 'struct') out.word(address + pkg, entriesAt, type.fields.length, type.fields.length);
      else if (type.kind === 'map') this.encodeMap(out, type);
      out.pad(type.offset + this.baseSize(type));
      if (type.named) out.u32(pkg, 0, 16, 0);
      for (const t of [...(type.parameters ?? []), ...(type.results ?? [])]) out.word(t.address);
      for (const [method, of] of type.methods ?? []) out.u32(name(method), of.offset);
      for (const f of type.fields ?? []) {
        const shifted = target.release >= 9 && target.release < 19;
        out.word(address + name(f.name, target.release >= 19 && f.embedded ? 8 : 0), f.type.address);
        out.word(shifted ? f.offset * 2 + (f.embedded ? 1 : 0) : f.offset);
      }
    }
    return out.pad(end).raw(tail.data).raw(masks.data).align(8);
  }

  encodeMap(out, type) {
    const group = type.bucket, slot = (group.size - 8) / 8;
    out.word(type.key.address, type.elem.address, group.address, 0);
    if (this.target.maps === 'classic') out.u8(type.key.size, type.elem.size).u16(group.size).u32(0);
    else if (this.target.maps === 'swiss124') out.word(group.size, slot, up(type.key.size, type.elem.align)).u32(0);
    else out.word(group.size, 8, slot, 8 + up(type.key.size, type.elem.align), slot, up(type.key.size, type.elem.align)).u32(0);
  }
}

// ---- pclntab ----

/** Encodes functions { name, entry, size, line }, which ascend and are all of one source file. */
export function pclntab(target, functions, text) {
  const { pcln, word: w } = target;
  const relative = pcln >= 118;
  const fields = (f, names, file, line) => [names, 0, 0, 0, file, line, 0, 0];
  const names = new Bytes(target), pcs = new Bytes(target).u8(0);
  const nameAt = functions.map((f) => {
    const at = names.size;
    names.text(f.name);
    return at;
  });
  const filePc = pcs.size;
  pcs.uleb(pcln === 12 ? 4 : 2).uleb(0x10000).u8(0); // file 0, or 1 in the table of Go 1.2: a zigzag delta from -1
  const linePcs = functions.map((f) => {
    const at = pcs.size;
    pcs.uleb(2 * (f.line + 1)).uleb(16).uleb(2).uleb(0x10000).u8(0);
    return at;
  });
  const count = functions.length, end = functions[count - 1].entry + functions[count - 1].size;
  const files = new Bytes(target).text('/src/main.go');
  const out = new Bytes(target);
  out.u32({ 12: 0xfffffffb, 116: 0xfffffffa, 118: 0xfffffff0, 120: 0xfffffff1 }[pcln]).u8(0, 0, target.quantum ?? 1, w).word(count);
  const records = (start, entrySize, nameBase, pcBase) => {
    const table = new Bytes(target), list = new Bytes(target);
    const size = entrySize + 8 * 4 + 12, tableSize = (2 * count + 1) * entrySize + (pcln === 12 ? 4 : 0);
    functions.forEach((f, i) => {
      table.number(relative ? f.entry - text : f.entry, entrySize).number(start + tableSize + i * size, entrySize);
      list.number(relative ? f.entry - text : f.entry, entrySize);
      for (const v of fields(f, nameBase + nameAt[i], pcBase + filePc, pcBase + linePcs[i])) list.u32(v);
      list.u32(f.line, 0, 0);
    });
    table.number(relative ? end - text : end, entrySize);
    return { table, list };
  };
  if (pcln === 12) {
    const functab = 8 + w, listAt = functab + (2 * count + 1) * w + 4;
    const namesAt = listAt + count * (w + 8 * 4 + 12), pcsAt = namesAt + names.size, filesAt = up(pcsAt + pcs.size, 4);
    const { table, list } = records(functab, w, namesAt, pcsAt);
    out.raw(table.data).u32(filesAt).raw(list.data).raw(names.data).raw(pcs.data).pad(filesAt);
    return out.u32(2, filesAt + 8).raw(files.data).align(8);
  }
  const words = pcln === 116 ? 7 : 8, header = 8 + words * w;
  const namesAt = header, cusAt = up(namesAt + names.size, 4), filesAt = cusAt + 4, pcsAt = filesAt + files.size;
  const functab = up(pcsAt + pcs.size, w);
  const { table, list } = records(0, relative ? 4 : w, 0, 0);
  out.word(1);
  if (relative) out.word(text);
  out.word(namesAt, cusAt, filesAt, pcsAt, functab).pad(header);
  out.raw(names.data).pad(cusAt).u32(0).raw(files.data).raw(pcs.data).pad(functab);
  return out.raw(table.data).raw(list.data).align(8);
}

// ---- code ----

/**
 * Returns the bytes of functions { entry, size }, which all do the same: make a value of a type, by the function `make`, store
 * it in data, in an element of an array and in the frame, and call the function `method`, in a loop. Returns nothing for other
 * machines.
 */
export function code(target, functions, { type, data, make, method }) {
  const out = new Bytes(target), start = functions[0].entry;
  const bytes = (hex) => out.raw(Buffer.from(hex, 'hex'));
  const distance = (hex, to) => bytes(hex).u32(to - (start + out.size + 4)); // to = the next instruction's address and a distance
  const page = (register, to) => {
    const pages = (to >> 12) - ((start + out.size) >> 12);
    out.u32(0x90000000 + (pages & 3) * 2 ** 29 + ((pages >> 2) & 0x7ffff) * 32 + register, 0x91000000 + (to & 0xfff) * 1024 + register * 33);
  };
  const call = (to) => out.u32(0x94000000 + (((to - (start + out.size)) >> 2) & 0x3ffffff));
  for (const f of functions) {
    if (target.goarch === 'amd64') {
      distance('488d05', type); // lea type(%rip),%rax
      distance('e8', make);
      distance('488d0d', data); // lea data(%rip),%rcx
      bytes('488901' + '488944d110'); // mov %rax,(%rcx); mov %rax,0x10(%rcx,%rdx,8)
      bytes('4889442418' + '488d1452'); // mov %rax,0x18(%rsp); lea (%rdx,%rdx,2),%rdx
      bytes('4839c8' + '7405' + '488b5c2418'); // cmp %rcx,%rax; je 5; mov 0x18(%rsp),%rbx
      distance('e8', method);
      bytes('75e6' + 'c3'); // jne; ret
    } else if (target.goarch === 'arm64') {
      page(0, type); // adrp and add
      call(make);
      page(1, data);
      out.u32(0xf9000020, 0xf8227820); // str x0, [x1]; str x0, [x1, x2, lsl #3]
      out.u32(0xf9000fe0, 0x8b020442); // str x0, [sp, #24]; add x2, x2, x2, lsl #1
      out.u32(0xeb01001f, 0x54000040, 0xf9400fe1); // cmp x0, x1; b.eq 8; ldr x1, [sp, #24]
      call(method);
      out.u32(0x54ffff21, 0xd65f03c0); // b.ne; ret
    } else return undefined;
    while (out.size < f.entry + f.size - start) out.u8(target.goarch === 'amd64' ? 0xcc : 0);
  }
  return out;
}

// ---- moduledata ----

/** Encodes moduledata; ranges are { text, noptrdata, data, bss, noptrbss, types }, each [start, end]. */
export function moduledata(target, table, ranges) {
  const { release: r } = target;
  const at = r >= 16 ? { text: 22, types: r >= 20 ? 37 : 35 } : { text: 12, types: 25 };
  const words = new Array(44).fill(0);
  words[0] = table;
  words[at.text - 2] = ranges.text[0];
  words[at.text - 1] = ranges.text[1];
  ['text', 'noptrdata', 'data', 'bss', 'noptrbss'].forEach((name, i) => words.splice(at.text + 2 * i, 2, ...ranges[name]));
  const last = ranges.noptrbss[1];
  if (r >= 20) words.splice(32, 2, last, last); // covctrs
  words[r >= 20 ? 34 : r >= 16 ? 32 : 22] = last;
  words[at.types] = ranges.types[0];
  if (r >= 27) words[at.types + 1] = 64; // typedesclen
  words[at.types + (r >= 27 ? 2 : 1)] = ranges.types[1];
  return new Bytes(target).word(...words);
}

/** Encodes the build information that debug/buildinfo reads. */
export function buildInfo(target, version) {
  const out = new Bytes(target).text('\xff Go buildinf:'.slice(1), false);
  out.data.unshift(0xff);
  return out.u8(target.word, target.big ? 3 : 2).pad(32).uleb(version.length).text(version, false).pad(80);
}

// ---- DWARF ----

const FORM = { addr: 1, block1: 10, data1: 11, string: 8, flag: 12, udata: 15, ref: 16, offset: 23, exprloc: 24, ref4: 19, data4: 6 };
const AT = { sibling: 1, location: 2, name: 3, size: 11, low: 17, high: 18, language: 19, inline: 32, upper: 47, origin: 49, count: 55,
  member: 56, encoding: 62, external: 63, base: 64, type: 73, ranges: 85, parameter: 75, kind: 0x2900, key: 0x2901, elem: 0x2902, embedded: 0x2903,
  runtime: 0x2904, closure: 0x2907 };
// Each has a tag, whether it has children, and attributes.
const ABBREVS = {
  unit: [17, 1, 'name string', 'language data1', 'low addr', 'ranges offset'],
  base: [36, 0, 'name string', 'encoding data1', 'size data1', 'kind data1', 'runtime addr'],
  struct: [19, 1, 'name string', 'size udata', 'kind data1', 'runtime addr'],
  slice: [19, 1, 'name string', 'size udata', 'kind data1', 'runtime addr', 'elem ref'],
  member: [13, 0, 'name string', 'member udata', 'type ref', 'embedded flag'],
  array: [1, 1, 'name string', 'type ref', 'size udata', 'kind data1', 'runtime addr'],
  range: [33, 0, 'type ref', 'count udata'],
  pointer: [15, 0, 'name string', 'type ref', 'kind data1', 'runtime addr'],
  bare: [15, 0, 'name string', 'kind data1', 'runtime addr'],
  map: [22, 0, 'name string', 'type ref', 'kind data1', 'runtime addr', 'key ref', 'elem ref'],
  chan: [22, 0, 'name string', 'type ref', 'kind data1', 'runtime addr', 'elem ref'],
  interface: [22, 0, 'name string', 'type ref', 'kind data1', 'runtime addr'],
  func: [21, 0, 'name string', 'kind data1', 'runtime addr'],
  global: [52, 0, 'name string', 'location EXPR', 'type ref', 'external flag'],
  function: [46, 1, 'name string', 'low addr', 'high addr', 'base BLOCK', 'external flag'],
  abstract: [46, 1, 'name string', 'inline data1'],
  concrete: [46, 1, 'origin ref', 'low addr', 'high addr', 'base BLOCK'],
  inlined: [29, 1, 'origin ref', 'low addr', 'high addr'],
  block: [11, 1, 'low addr', 'high addr'],
  local: [52, 0, 'name string', 'type ref', 'location EXPR'],
  captured: [52, 0, 'name string', 'type ref', 'closure udata', 'location EXPR'],
  listed: [52, 0, 'name string', 'type ref', 'location offset'],
  parameter: [5, 0, 'name string', 'parameter flag', 'type ref', 'location EXPR'],
};
const ENCODINGS = { bool: 2, f: 4, i: 5, u: 7 };

/** Encodes the debug sections. Globals are { name, address, type }; functions also have their variables: see seeds.mjs. */
export function dwarf(target, types, globals, functions, text) {
  const { word: w, dwarf: version } = target;
  const info = new Bytes(target), abbrev = new Bytes(target), lists = new Bytes(target), ranges = new Bytes(target);
  const codes = Object.keys(ABBREVS), places = new Map(), holes = [];
  const form = (name) => (name === 'EXPR' ? FORM.exprloc : name === 'BLOCK' ? FORM.block1 : FORM[name]);
  codes.forEach((name, i) => {
    const [tag, children, ...attributes] = ABBREVS[name];
    abbrev.uleb(i + 1).uleb(tag).u8(children);
    for (const [attribute, kind] of attributes.map((a) => a.split(' '))) abbrev.uleb(AT[attribute]).uleb(form(kind));
    abbrev.u8(0, 0);
  });
  abbrev.u8(0);
  const die = (name, ...values) => {
    info.uleb(codes.indexOf(name) + 1);
    ABBREVS[name].slice(2).forEach((attribute, i) => {
      const kind = attribute.split(' ')[1], value = values[i];
      if (kind === 'string') info.text(value);
      else if (kind === 'addr') info.word(value);
      else if (kind === 'udata') info.uleb(value);
      else if (kind === 'offset') info.u32(value);
      else if (kind === 'ref') {
        holes.push([info.size, value]);
        info.u32(0);
      } else if (kind === 'EXPR') info.uleb(value.size).raw(value.data);
      else if (kind === 'BLOCK') info.u8(value.size).raw(value.data);
      else info.u8(value);
    });
  };
  const expr = () => new Bytes(target);
  if (version >= 5) {
    lists.u32(0).u16(5).u8(w, 0).u32(0);
    ranges.u32(0).u16(5).u8(w, 0).u32(0);
  }
  // Adds a location list of a variable: its places in the frame for parts of a function, [from, to, offset from the CFA].
  const list = (function_, parts) => {
    const at = lists.size;
    for (const [from, to, offset] of parts) {
      const place = expr().u8(0x91).sleb(offset);
      if (version >= 5) lists.u8(4).uleb(from).uleb(to).uleb(place.size).raw(place.data); // DW_LLE_offset_pair
      else lists.word(function_.entry + from - text, function_.entry + to - text).u16(place.size).raw(place.data);
    }
    if (version >= 5) lists.u8(0);
    else lists.word(0, 0);
    return at;
  };
  const rangesAt = ranges.size;
  if (version >= 5) ranges.u8(6).word(text, text + 0x10000).u8(0); // DW_RLE_start_end
  else ranges.word(0, 0x10000, 0, 0);

  info.u32(0).u16(version);
  if (version >= 5) info.u8(1, w).u32(0);
  else info.u32(0).u8(w);
  die('unit', 'main', 22, version >= 5 ? 0 : text, rangesAt);
  const member = (name, offset, type, embedded = false) => die('member', name, offset, type, embedded ? 1 : 0);
  const g = (name) => types.get(name);
  for (const type of [...types.byName.values()]) {
    const { name, kind, size, offset } = type, number = KINDS.indexOf(kind);
    places.set(type, info.size);
    if (kind === 'struct' && type.fields) {
      die('struct', name, size, number, offset);
      for (const f of type.fields) member(f.name, f.offset, f.type, f.embedded);
      info.u8(0);
    } else if (kind === 'string' || kind === 'slice') {
      if (kind === 'slice') die('slice', name, size, number, offset, type.elem);
      else die('struct', name, size, number, offset);
      member(kind === 'slice' ? 'array' : 'str', 0, types.pointer(type.elem ?? g('uint8')));
      member('len', w, g('int'));
      if (kind === 'slice') member('cap', 2 * w, g('int'));
      info.u8(0);
    } else if (kind === 'array') {
      die('array', name, type.elem, size, number, offset);
      die('range', g('uintptr'), type.length);
      info.u8(0);
    } else if (kind === 'pointer') die('pointer', name, type.elem, number, offset);
    else if (kind === 'unsafe.Pointer') die('bare', name, number, offset);
    else if (kind === 'map') die('map', name, types.pointer(type.bucket), number, offset, type.key, type.elem);
    else if (kind === 'chan') die('chan', name, g('unsafe.Pointer'), number, offset, type.elem);
    else if (kind === 'interface') die('interface', name, g(type.methods.length ? 'runtime.iface' : 'runtime.eface'), number, offset);
    else if (kind === 'func') die('func', name, number, offset);
    else die('base', name, ENCODINGS[kind[0] === 'b' ? 'bool' : kind[0]], size, number, offset);
  }
  for (const v of globals) die('global', v.name, expr().u8(3).word(v.address), v.type, 1);
  const cfa = expr().u8(0x9c);
  const local = (f, v) => {
    const [name, type, place] = [v.name, v.type, v.place];
    if (Array.isArray(place)) die('listed', name, type, list(f, place));
    else if (v.closure !== undefined) die('captured', name, type, v.closure, expr().u8(0x91).sleb(place));
    else if (v.pieces) die('local', name, type, v.pieces.reduce((e, p) => e.u8(0x91).sleb(p).u8(0x93).uleb(w), expr()));
    else die(v.parameter ? 'parameter' : 'local', name, ...(v.parameter ? [0, type] : [type]), expr().u8(0x91).sleb(place));
  };
  for (const f of functions) {
    places.set(f, info.size);
    if (f.inlined) {
      die('abstract', f.name, 1);
      info.u8(0);
      continue;
    }
    die('function', f.name, f.entry, f.entry + f.size, cfa, 1);
    for (const v of f.variables ?? []) local(f, v);
    for (const b of f.blocks ?? []) {
      if (b.of) die('inlined', functions.find((o) => o.name === b.of), f.entry + b.from, f.entry + b.to);
      else die('block', f.entry + b.from, f.entry + b.to);
      for (const v of b.variables) local(f, v);
      info.u8(0);
    }
    info.u8(0);
  }
  info.u8(0);
  for (const [at, what] of holes) info.patch(at, places.get(what) ?? 0, 4);
  info.patch(0, info.size - 4, 4);
  if (version >= 5) for (const part of [lists, ranges]) part.patch(0, part.size - 4, 4);
  return version >= 5
    ? { debug_abbrev: abbrev, debug_info: info, debug_loclists: lists, debug_rnglists: ranges }
    : { debug_abbrev: abbrev, debug_info: info, debug_loc: lists, debug_ranges: ranges };
}

// ---- files ----
// Sections are { name, address, data (Bytes) or size, write, exec, debug, type, more }, symbols { name, address, size,
// section (name) }.

export function elf(target, sections, symbols) {
  const { word: w } = target, wide = w === 8;
  const all = [{ name: '', type: 0 }, ...sections];
  if (symbols.length > 0) {
    const texts = new Bytes(target).u8(0), table = new Bytes(target).pad(wide ? 24 : 16);
    for (const s of symbols) {
      const name = texts.size, section = all.findIndex((o) => o.name === s.section);
      texts.text(s.name);
      if (wide) table.u32(name).u8(1, 0).u16(section).word(s.address, s.size);
      else table.u32(name).word(s.address, s.size).u8(1, 0).u16(section);
    }
    all.push({ name: '.symtab', data: table, type: 2, debug: true, link: all.length + 1 }, { name: '.strtab', data: texts, type: 3, debug: true });
  }
  const names = new Bytes(target);
  all.push({ name: '.shstrtab', data: names, type: 3, debug: true });
  for (const s of all) {
    s.nameAt = names.size;
    names.text(s.name);
  }
  const out = new Bytes(target);
  out.raw([0x7f, 0x45, 0x4c, 0x46, wide ? 2 : 1, target.big ? 2 : 1, 1]).pad(16);
  out.u16(target.pie ? 3 : 2, target.machine).u32(1).word(0, 0);
  const headersAt = out.size;
  out.word(0).u32(0).u16(wide ? 64 : 52, 0, 0, wide ? 64 : 40, all.length, all.length - 1);
  for (const s of all) {
    out.align(8);
    s.offset = out.size;
    if (s.data) out.raw(s.data.data);
  }
  out.align(8);
  out.patch(headersAt, out.size, w);
  for (const s of all) {
    const flags = s.debug || s.type === 0 ? (s.compressed ? 0x800 : 0) : 2 + (s.write ? 1 : 0) + (s.exec ? 4 : 0);
    out.u32(s.nameAt, s.type ?? (s.data ? 1 : 8)).word(flags, s.address ?? 0, s.offset, s.data?.size ?? s.size ?? 0);
    out.u32(s.link ?? 0, 0).word(1, 0);
  }
  return out.buffer();
}

export function pe(target, sections, symbols, base) {
  const { word: w } = target, wide = w === 8;
  const texts = new Bytes(target).u32(0), table = new Bytes(target), out = new Bytes(target);
  const nameOf = (name) => {
    if (name.length <= 8) return new Bytes(target).text(name, false).pad(8);
    const at = texts.size;
    texts.text(name);
    return new Bytes(target).text(`/${at}`, false).pad(8);
  };
  for (const s of symbols) {
    const section = sections.findIndex((o) => o.name === s.section), at = texts.size;
    texts.text(s.name);
    table.u32(0, at, s.address - sections[section].address).u16(section + 1, 0).u8(3, 0);
  }
  const optional = wide ? 112 : 96, head = 64 + 24 + optional + 40 * sections.length;
  out.text('MZ', false).pad(60).u32(64).text('PE\0', true).u16(target.machine, sections.length).u32(0);
  const symbolsAt = out.size;
  out.u32(0, symbols.length).u16(optional, 0x22);
  out.u16(wide ? 0x20b : 0x10b).pad(64 + 24 + (wide ? 24 : 28)).word(base).pad(64 + 24 + optional);
  let offset = up(head, 16);
  for (const s of sections) {
    const characteristics = (s.exec ? 0x60000020 : 0x40000040) + (s.write ? 0x80000000 : 0) + (s.debug ? 0x02000000 : 0);
    const raw = s.data?.size ?? 0;
    out.raw(nameOf(s.name).data).u32(s.size ?? raw, (s.address ?? base) - base, raw, raw ? offset : 0, 0, 0).u16(0, 0).u32(characteristics >>> 0);
    offset = up(offset + raw, 16);
  }
  for (const s of sections) out.align(16).raw(s.data?.data ?? []);
  out.align(16).patch(symbolsAt, out.size, 4);
  texts.patch(0, texts.size, 4);
  return out.raw(table.data).raw(texts.data).buffer();
}

/** Writes a 64-bit file. Sections have their Mach-O names; each segment is a run of sections: { name, write, sections }. */
export function macho(target, segments, symbols, { fixups } = {}) {
  const out = new Bytes(target), texts = new Bytes(target).u8(0), table = new Bytes(target);
  const flat = segments.flatMap((s) => s.sections);
  for (const s of symbols) {
    const at = texts.size;
    texts.text(`_${s.name}`);
    table.u32(at).u8(0x0e, flat.findIndex((o) => o.name === s.section) + 1).u16(0).word(s.address);
  }
  const size = segments.reduce((sum, s) => sum + 72 + 80 * s.sections.length, 24 + (fixups ? 16 : 0));
  let offset = up(32 + size, 16);
  const place = (bytes) => {
    const at = offset;
    offset = up(offset + bytes.size, 16);
    return at;
  };
  for (const s of flat) s.offset = s.data ? place(s.data) : 0;
  out.u32(0xfeedfacf, target.machine, 0, 2, segments.length + 1 + (fixups ? 1 : 0), size, 0, 0);
  for (const s of segments) {
    out.u32(0x19, 72 + 80 * s.sections.length).raw(new Bytes(target).text(s.name, false).pad(16).data);
    const start = s.address ?? s.sections[0].address ?? 0;
    out.word(start, 0x10000, 0, 0).u32(s.write ? 3 : 1, s.write ? 3 : 1, s.sections.length, 0);
    for (const o of s.sections) {
      out.raw(new Bytes(target).text(o.name, false).pad(16).data).raw(new Bytes(target).text(s.name, false).pad(16).data);
      out.word(o.address ?? 0, o.data?.size ?? o.size).u32(o.offset, 3, 0, 0, (o.data ? 0 : 1) + (o.exec ? 0x400 : 0), 0, 0, 0);
    }
  }
  const tableAt = place(table), textsAt = place(texts);
  out.u32(2, 24, tableAt, symbols.length, textsAt, texts.size);
  if (fixups) out.u32(0x80000034, 16, place(fixups), fixups.size);
  for (const part of [...flat.filter((s) => s.data).map((s) => s.data), table, texts, ...(fixups ? [fixups] : [])]) out.align(16).raw(part.data);
  return out.buffer();
}
