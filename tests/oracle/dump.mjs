// A reader of Go heap dumps, all layouts, that prefers being obviously right to being fast. It is the second
// opinion on the C program, so it takes nothing from it: its only source is the format notes (§ numbers below),
// and for the 2013 layout the README of randall77/hprof.
//
//   const dump = parse(bufferOrPath)
//
// Addresses and memory words are BigInt everywhere; sizes, offsets and counts are Numbers.
import { open } from './source.mjs';

/** What is wrong with the input, and where. */
export class DumpError extends Error {
  constructor(offset, message) {
    super(`byte ${offset}: ${message}`);
    this.offset = offset;
  }
}

// ---------------------------------------------------------------------------------------------------------------
// Layouts: what differs between the writers, one row each (§2, §3, §9).

const TAGS = {
  0: 'eof', 1: 'object', 2: 'otherroot', 3: 'type', 4: 'goroutine', 5: 'frame', 6: 'params', 7: 'finalizer',
  8: 'itab', 9: 'thread', 10: 'memstats', 11: 'queued', 12: 'data', 13: 'bss', 14: 'defer', 15: 'panic',
  16: 'memprof', 17: 'sample',
};
const TAGS_2013 = {
  1: 'object', 3: 'eof', 4: 'stackroot', 5: 'dataroot', 6: 'otherroot', 7: 'type', 8: 'goroutine', 9: 'frame',
  10: 'params', 11: 'finalizer', 12: 'itab',
};

const KINDS_13 = { 1: 'ptr', 2: 'string', 3: 'slice', 4: 'iface', 5: 'eface' };
const KINDS_14 = { 1: 'ptr', 2: 'iface', 3: 'eface' };
const KINDS_2013 = { 0: 'ptr', 1: 'string', 2: 'slice', 3: 'iface', 4: 'eface' };

const base = { tags: TAGS, kinds: KINDS_14, typed: false, hchan: false, continpc: true, archString: false,
  itabType: true, corruptTypes: false, modern: false, countedFields: false };
const LAYOUTS = {
  '2013': { ...base, tags: TAGS_2013, kinds: KINDS_2013, typed: true, hchan: true, continpc: false, itabType: false,
    countedFields: true },
  '1.3beta': { ...base, kinds: KINDS_13, typed: true, hchan: true, continpc: false, itabType: false },
  '1.3': { ...base, kinds: KINDS_13, typed: true, hchan: true, itabType: false },
  '1.4': { ...base },
  '1.5': { ...base, corruptTypes: true },
  '1.6': { ...base },
  '1.7': { ...base, archString: true, modern: true },
};

const MEMSTATS = ['Alloc', 'TotalAlloc', 'Sys', 'Lookups', 'Mallocs', 'Frees', 'HeapAlloc', 'HeapSys', 'HeapIdle',
  'HeapInuse', 'HeapReleased', 'HeapObjects', 'StackInuse', 'StackSys', 'MSpanInuse', 'MSpanSys', 'MCacheInuse',
  'MCacheSys', 'BuckHashSys', 'GCSys', 'OtherSys', 'NextGC', 'LastGC', 'PauseTotalNs', 'PauseNs', 'NumGC'];

// ---------------------------------------------------------------------------------------------------------------
// Primitives (§0).

class Cursor {
  constructor(source, offset) {
    this.source = source;
    this.at = offset;
  }

  byte() {
    if (this.at >= this.source.length) throw new DumpError(this.at, 'the file ends here');
    return this.source.byteAt(this.at++);
  }

  /** uvarint as BigInt: values up to 2^64-1 occur. */
  big() {
    const start = this.at;
    let low = 0; // the first 7 bytes hold 49 bits, exact in a Number
    let factor = 1;
    for (let i = 0; i < 7; i++) {
      const b = this.byte();
      low += (b & 0x7f) * factor;
      if (b < 0x80) return BigInt(low);
      factor *= 128;
    }
    let value = BigInt(low);
    for (let shift = 49n; shift < 70n; shift += 7n) {
      const b = this.byte();
      value |= BigInt(b & 0x7f) << shift;
      if (b < 0x80) {
        if (value >= 1n << 64n) throw new DumpError(start, 'number of more than 64 bits');
        return value;
      }
    }
    throw new DumpError(start, 'number of more than 10 bytes');
  }

  /** uvarint that must be a sane count, size or offset. */
  num() {
    const start = this.at;
    const value = this.big();
    if (value > BigInt(Number.MAX_SAFE_INTEGER)) throw new DumpError(start, `${value} is no count or size`);
    return Number(value);
  }

  bool() {
    const start = this.at;
    const value = this.num();
    if (value > 1) throw new DumpError(start, `${value} is no bool`);
    return value === 1;
  }

  skip(size) {
    if (this.at + size > this.source.length) throw new DumpError(this.at, `${size} bytes go past the end of the file`);
    this.at += size;
  }

  /** A short string as raw bytes: not necessarily UTF-8. */
  bytes(size = this.num()) {
    const start = this.at;
    this.skip(size);
    return this.source.slice(start, size);
  }

  text() {
    return this.bytes().toString('utf8');
  }

  /** Memory that stays in the file: {offset, declared, available}. */
  contents() {
    const declared = this.num();
    const offset = this.at;
    this.skip(declared);
    return { offset, declared, available: declared };
  }

  /** As contents(), for memory that the dumper wrote with one write(2) and a 32-bit length (§4). */
  bulk(maybeShortened = false) {
    const start = this.at;
    const declared = this.num();
    // docs/dump-formats.md, "Shortened arrays"
    const available = maybeShortened && this.at - start === 10 ? this.num() : Math.min(declared % 2 ** 32, 0x7ffff000);
    const offset = this.at;
    this.skip(available);
    return { offset, declared, available };
  }

  fields(kinds) {
    const list = [];
    for (;;) {
      const start = this.at;
      const kind = this.num();
      if (kind === 0) return list;
      if (!(kind in kinds)) throw new DumpError(start, `unknown field kind ${kind}`);
      list.push({ kind: kinds[kind], offset: this.num() });
    }
  }
}

// ---------------------------------------------------------------------------------------------------------------
// Records (§3). Each function reads one record behind its tag and files it in the dump.

const RECORDS = {
  params(c, dump, layout) {
    const p = { bigEndian: c.bool(), ptrSize: c.num(), hchanSize: layout.hchan ? c.num() : 0, start: c.big(),
      end: c.big(), goarch: '', goexperiment: '', version: '', ncpu: 0 };
    if (p.ptrSize !== 4 && p.ptrSize !== 8) throw new DumpError(c.at, `pointers of ${p.ptrSize} bytes`);
    if (layout.tags !== TAGS_2013) {
      p.goarch = layout.archString ? c.text() : String.fromCharCode(c.num());
      const text = c.text();
      // §3.6: GOEXPERIMENT up to 1.15, the Go version from about 1.17.
      if (layout.archString && /go1|devel/.test(text)) p.version = text;
      else p.goexperiment = text;
      p.ncpu = c.num();
    }
    dump.params = p;
  },

  object(c, dump, layout) {
    const o = { address: c.big(), type: 0n, kind: 0, fields: null };
    if (layout.typed) {
      o.type = c.big();
      o.kind = c.num();
    }
    o.contents = c.bulk(!layout.typed);
    o.size = o.contents.declared;
    o.offset = o.contents.offset;
    if (!layout.typed) o.fields = c.fields(layout.kinds);
    dump.records.push(o);
  },

  otherroot(c, dump) {
    dump.otherRoots.push({ description: c.text(), value: c.big() });
  },

  stackroot(c, dump) {
    dump.stackRoots.push({ address: c.big(), value: c.big(), sp: c.big() });
  },

  dataroot(c, dump) {
    dump.dataRoots.push({ address: c.big(), value: c.big() });
  },

  type(c, dump, layout) {
    const t = { address: c.big(), size: c.num() };
    if (layout.corruptTypes && looksCorrupt(c)) resync(c, t.address, dump);
    else t.nameBytes = c.bytes();
    t.name = (t.nameBytes ?? Buffer.alloc(0)).toString('utf8');
    t.pointer = c.bool();
    t.fields = [];
    if (layout.countedFields) {
      for (let n = c.num(); n > 0; n--) {
        const kind = c.num();
        if (!(kind in layout.kinds)) throw new DumpError(c.at, `unknown field kind ${kind}`);
        t.fields.push({ kind: layout.kinds[kind], offset: c.num() });
      }
    } else if (layout.typed) {
      t.fields = c.fields(layout.kinds);
    }
    // §3.3: the same address may be written several times; keep the first.
    if (!dump.types.has(t.address)) dump.types.set(t.address, t);
    else dump.repeatedTypes++;
  },

  goroutine(c, dump, layout) {
    const g = { address: c.big(), sp: c.big(), goid: c.big(), createdAt: c.big(), status: c.num(), system: c.bool(),
      background: c.bool(), waitSince: c.big(), waitReason: c.text(), ctxt: 0n, m: 0n, defer: 0n, panic: 0n,
      frames: [], defers: [], panics: [] };
    if (layout.tags !== TAGS_2013) {
      g.ctxt = c.big();
      g.m = c.big();
      g.defer = c.big();
      g.panic = c.big();
    }
    dump.goroutines.push(g);
  },

  frame(c, dump, layout) {
    const f = { sp: c.big(), depth: 0, child: 0n, parent: 0n, contents: null, fields: [], continpc: null };
    if (layout.tags === TAGS_2013) {
      f.parent = c.big();
      f.entry = c.big();
      f.pc = c.big();
      f.name = c.text();
    } else {
      f.depth = c.num();
      f.child = c.big();
      f.contents = c.contents();
      f.entry = c.big();
      f.pc = c.big();
      if (layout.continpc) f.continpc = c.big();
      f.name = c.text();
      f.fields = c.fields(layout.kinds);
    }
    // §3.5: frames follow their goroutine directly.
    const g = lastGoroutine(c, dump);
    if (layout.tags === TAGS_2013) f.depth = g.frames.length;
    g.frames.push(f);
  },

  finalizer(c, dump) {
    dump.finalizers.push(finalizer(c));
  },

  queued(c, dump) {
    dump.queued.push(finalizer(c));
  },

  itab(c, dump, layout) {
    const i = { address: c.big() };
    if (layout.itabType) i.type = c.big();
    else i.pointer = c.bool();
    if (!dump.itabs.has(i.address)) dump.itabs.set(i.address, i);
  },

  thread(c, dump) {
    dump.threads.push({ m: c.big(), goid: c.big(), osid: c.big() });
  },

  memstats(c, dump) {
    const m = {};
    for (const name of MEMSTATS) {
      m[name] = name === 'PauseNs' ? Array.from({ length: 256 }, () => c.big()) : c.big();
    }
    dump.memstats = m;
  },

  data(c, dump, layout) {
    dump.data.push({ address: c.big(), contents: c.bulk(), fields: c.fields(layout.kinds) });
  },

  bss(c, dump, layout) {
    dump.bss.push({ address: c.big(), contents: c.bulk(), fields: c.fields(layout.kinds) });
  },

  defer(c, dump) {
    const d = { address: c.big(), g: c.big(), argp: c.big(), pc: c.big(), funcval: c.big(), code: c.big(),
      next: c.big() };
    ownerOf(c, dump, d.g).defers.push(d);
  },

  panic(c, dump) {
    const p = { address: c.big(), g: c.big(), type: c.big(), data: c.big(), defer: c.big(), next: c.big() };
    ownerOf(c, dump, p.g).panics.push(p);
  },

  memprof(c, dump) {
    const p = { id: c.big(), size: c.num(), stack: [], allocs: 0n, frees: 0n };
    for (let n = c.num(); n > 0; n--) p.stack.push({ name: c.text(), file: c.text(), line: c.num() });
    p.allocs = c.big();
    p.frees = c.big();
    dump.profs.set(p.id, p);
  },

  sample(c, dump) {
    dump.samples.push({ address: c.big(), prof: c.big() });
  },
};

function finalizer(c) {
  return { object: c.big(), funcval: c.big(), code: c.big(), argType: c.big(), objectType: c.big() };
}

function lastGoroutine(c, dump) {
  if (dump.goroutines.length === 0) throw new DumpError(c.at, 'a frame before every goroutine');
  return dump.goroutines[dump.goroutines.length - 1];
}

function ownerOf(c, dump, address) {
  return dump.goroutines.find((g) => g.address === address) ?? lastGoroutine(c, dump);
}

/** §3.3, 1.5 only: a length above 65536 is the sum of two addresses, not the length of the bytes in the file. */
function looksCorrupt(c) {
  const start = c.at;
  const length = c.big();
  c.at = start;
  return length > 65536n;
}

/**
 * Moves to the bool of a corrupt type record: the first place behind the length where the bytes are
 * <0|1> 08 <uvarint> <uvarint == the type's address>, that is the bool and the itab record that follows.
 */
function resync(c, address, dump) {
  c.big();
  const garbage = c.at;
  for (let at = garbage; at + 4 <= c.source.length; at++) {
    if (c.source.byteAt(at) > 1 || c.source.byteAt(at + 1) !== 8) continue;
    const probe = new Cursor(c.source, at + 2);
    try {
      probe.big();
      if (probe.big() !== address) continue;
    } catch (error) {
      if (!(error instanceof DumpError)) throw error;
      continue;
    }
    c.at = at;
    dump.resyncs.push({ from: garbage, to: at });
    return;
  }
  throw new DumpError(garbage, 'corrupt type record without a way out');
}

// ---------------------------------------------------------------------------------------------------------------
// A whole file.

function parseAs(source, name, layout, first) {
  const dump = { format: name, layout, source, params: null, records: [], objects: new Map(), phantoms: [],
    types: new Map(), repeatedTypes: 0, itabs: new Map(), goroutines: [], threads: [], data: [], bss: [],
    otherRoots: [], stackRoots: [], dataRoots: [], finalizers: [], queued: [], memstats: null, profs: new Map(),
    samples: [], counts: {}, resyncs: [], complete: false, error: null, end: 0 };
  const c = new Cursor(source, first);
  let start = c.at;
  try {
    for (;;) {
      start = c.at;
      const tag = c.num();
      const kind = layout.tags[tag];
      if (kind === undefined) throw new DumpError(start, `unknown record kind ${tag}`);
      if (kind === 'eof') {
        dump.counts.eof = 1;
        dump.complete = true;
        start = c.at;
        break;
      }
      if (kind !== 'params' && dump.params === null) throw new DumpError(start, `${kind} record before params`);
      RECORDS[kind](c, dump, layout);
      dump.counts[kind] = (dump.counts[kind] ?? 0) + 1;
    }
  } catch (error) {
    if (!(error instanceof DumpError)) throw error;
    dump.error = error; // what was read so far stays: cut dumps are worth reading
  }
  dump.end = start;
  return dump;
}

/** Reads a dump. Takes a Buffer (plain or gzip), a path or a Source. Throws only when it is no dump at all. */
export function parse(input) {
  const source = open(input);
  const match = /^go1\.(\d+) heap dump\n/.exec(source.slice(0, Math.min(32, source.length)).toString('latin1'));
  const minor = match ? Number(match[1]) : 0;
  if (minor < 3) throw new DumpError(0, 'not a Go heap dump');
  const first = match[0].length;

  let dump;
  if (minor === 3) {
    // §9: five layouts have one header. Only the right one leads to an EOF record that is the last byte; a cut file
    // is read by the layout that gets furthest.
    const tries = ['1.3', '1.3beta', '2013'].map((name) => parseAs(source, name, LAYOUTS[name], first));
    const score = (d) => (d.complete && d.end === source.length ? Infinity : d.end);
    dump = tries.reduce((best, d) => (score(d) > score(best) ? d : best));
    if (dump.format === '1.3beta') dump.format = dump.counts.memprof || dump.counts.sample ? '1.3beta2' : '1.3beta1';
  } else {
    // An unknown future header is read as 1.7's layout.
    dump = parseAs(source, `1.${minor}`, LAYOUTS[`1.${Math.min(minor, 7)}`], first);
  }
  finish(dump);
  return dump;
}

function finish(dump) {
  for (const o of dump.records) o.hasPointers = hasPointers(dump, o);
  markPhantoms(dump);
  for (const o of dump.records) {
    if (o.phantom) {
      dump.phantoms.push(o);
      continue;
    }
    o.pointers = followed(dump, o);
    dump.objects.set(o.address, o);
  }
}

function hasPointers(dump, o) {
  if (!dump.layout.typed) return o.fields.length > 0;
  if (o.kind === 127) return true;
  return (dump.types.get(o.type)?.fields.length ?? 0) > 0;
}

// ---------------------------------------------------------------------------------------------------------------
// Phantom objects (§3.1): slots of Go ≥ 1.22 that hold the span's own bitmaps.

/** {minor, text} of the version in params, or null. */
export function goVersion(dump) {
  const match = /go1\.(\d+)/.exec(dump.params?.version ?? '');
  return match ? { minor: Number(match[1]), text: dump.params.version } : null;
}

function markPhantoms(dump) {
  const version = goVersion(dump);
  if (!dump.layout.modern || !version || version.minor < 22 || /\bnoallocheaders\b/.test(version.text)) return;
  const greenTea = version.minor >= 26 ? !/\bnogreenteagc\b/.test(version.text)
    : version.minor === 25 && /\bgreenteagc\b/.test(version.text);
  const word = dump.params.ptrSize;
  const max = word === 8 ? 512 : 128;
  const withPointers = new Set();
  for (const o of dump.records) if (o.hasPointers) withPointers.add(o.address >> 13n);
  for (const o of dump.records) {
    if (o.size > max || o.size === 0) continue;
    let reserve = 0;
    if (withPointers.has(o.address >> 13n)) reserve += 8192 / word / 8;
    if (greenTea && o.size >= 16) reserve += 128;
    if (reserve === 0) continue;
    const slots = Math.floor((8192 - reserve) / o.size);
    o.phantom = Number(o.address & 8191n) >= slots * o.size;
  }
}

// ---------------------------------------------------------------------------------------------------------------
// Memory words and what the GC follows.

/** The word at `offset` of a region {contents}; 0n where the file has nothing (§4: large objects are cut short). */
export function wordAt(dump, region, offset) {
  const size = dump.params.ptrSize;
  if (offset + size > region.contents.available) return 0n;
  const bytes = dump.source.slice(region.contents.offset + offset, size);
  if (size === 8) return dump.params.bigEndian ? bytes.readBigUInt64BE() : bytes.readBigUInt64LE();
  return BigInt(dump.params.bigEndian ? bytes.readUInt32BE() : bytes.readUInt32LE());
}

/**
 * Where the elements of a typed object lie (1.3): [{index, offset}], one for a plain value. §3.1: kind 1 and 2 repeat
 * the type as often as it fits; the elements of a channel begin behind its header.
 */
function elements(dump, o) {
  const type = dump.types.get(o.type);
  if (!type) return [];
  if (o.kind === 0) return [{ index: 0, offset: 0 }];
  if (type.size === 0) return [];
  const list = [];
  const start = o.kind === 2 ? dump.params.hchanSize : 0;
  for (let at = start; at + type.size <= o.size; at += type.size) list.push({ index: list.length, offset: at });
  return list;
}

/** The element with an index, or undefined. As an array has as many edges as elements, this makes no list for each edge. */
export function elementAt(dump, o, index) {
  const type = dump.types.get(o.type);
  if (!type || !Number.isInteger(index) || index < 0) return undefined;
  if (o.kind === 0) return index === 0 ? { index, offset: 0 } : undefined;
  const offset = (o.kind === 2 ? dump.params.hchanSize : 0) + index * type.size;
  return type.size > 0 && offset + type.size <= o.size ? { index, offset } : undefined;
}

/**
 * The non-nil pointer words of an object, frame or segment: [{offset, value, sure}]. `sure` is false where the format
 * does not decide whether the word counts: an interface's own type word, or its data word when no record tells
 * whether that is a pointer.
 */
export function followed(dump, region) {
  const words = [];
  const add = (offset, sure = true) => {
    const value = wordAt(dump, region, offset);
    if (value !== 0n) words.push({ offset, value, sure });
  };
  if (region.kind === 127) {
    for (let at = 0; at + dump.params.ptrSize <= region.contents.declared; at += dump.params.ptrSize) add(at);
    return words;
  }
  if (region.fields) {
    for (const f of region.fields) follow(dump, region, f.kind, f.offset, add);
    return words;
  }
  const fields = dump.types.get(region.type)?.fields ?? [];
  if (fields.length === 0) return words;
  for (const element of elements(dump, region)) {
    for (const f of fields) follow(dump, region, f.kind, element.offset + f.offset, add);
  }
  return words;
}

function follow(dump, region, kind, offset, add) {
  const word = dump.params.ptrSize;
  switch (kind) {
    case 'ptr':
      add(offset);
      break;
    case 'string': // the GC of 1.3 looks at the pointer only if the length (of a slice: the capacity) is not 0
      if (wordAt(dump, region, offset + word) !== 0n) add(offset);
      break;
    case 'slice':
      if (wordAt(dump, region, offset + 2 * word) !== 0n) add(offset);
      break;
    case 'iface':
    case 'eface': {
      const head = wordAt(dump, region, offset);
      if (head === 0n) break; // a nil interface
      add(offset, false);
      const answer = interfaceHoldsPointer(dump, kind, head);
      if (answer !== false) add(offset + word, answer === true);
      break;
    }
  }
}

/** true, false, or undefined when no record tells. */
export function interfaceHoldsPointer(dump, kind, head) {
  if (!dump.layout.typed) return true; // §0: always from 1.4 on
  return (kind === 'iface' ? dump.itabs : dump.types).get(head)?.pointer;
}
