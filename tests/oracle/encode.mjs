// Writes heap dump records in every layout, the mirror image of dump.mjs, for dumps that no program at hand writes.
// A dump is described as data and written whole:
//
//   const file = encode('1.7', { ptrSize: 8, objects: [{ address: 0xc000000000n, words: { 8: 0xc000000040n }, size: 16 }] })
//
// The result is a list of Buffers and holes ({zeros: n}), so that an object of 4 GiB costs nothing until it is read.

const DEFAULTS = { ptrSize: 8, bigEndian: false, hchanSize: 88, goarch: 'amd64', thechar: '6', version: '', ncpu: 2 };

const TAG = { eof: 0, object: 1, otherroot: 2, type: 3, goroutine: 4, frame: 5, params: 6, finalizer: 7, itab: 8,
  thread: 9, memstats: 10, queued: 11, data: 12, bss: 13, defer: 14, panic: 15, memprof: 16, sample: 17 };
const TAG_2013 = { object: 1, eof: 3, stackroot: 4, dataroot: 5, otherroot: 6, type: 7, goroutine: 8, frame: 9,
  params: 10, finalizer: 11, itab: 12 };

const KIND = {
  '2013': { ptr: 0, string: 1, slice: 2, iface: 3, eface: 4 },
  '1.3': { ptr: 1, string: 2, slice: 3, iface: 4, eface: 5 },
  later: { ptr: 1, iface: 2, eface: 3 },
};

/** Collects bytes and holes. */
class Output {
  constructor() {
    this.parts = [];
    this.pending = [];
  }

  byte(b) {
    this.pending.push(b);
  }

  flush() {
    if (this.pending.length) this.parts.push(Buffer.from(this.pending));
    this.pending = [];
  }

  raw(buffer) {
    this.flush();
    this.parts.push(buffer);
  }

  hole(size) {
    this.flush();
    if (size > 0) this.parts.push({ zeros: size });
  }

  /** A uvarint of whatever the arguments are: Numbers, BigInts, booleans. */
  num(...values) {
    for (const value of values) {
      let v = BigInt(value);
      while (v >= 0x80n) {
        this.byte(Number(v & 0x7fn) | 0x80);
        v >>= 7n;
      }
      this.byte(Number(v));
    }
  }

  /** A uvarint of ten bytes. */
  longest(value) {
    for (let i = 0n; i < 10n; i++) this.byte(Number(BigInt(value) >> (7n * i) & 0x7fn) | (i < 9n ? 0x80 : 0));
  }

  string(text) {
    const bytes = Buffer.isBuffer(text) ? text : Buffer.from(text, 'utf8');
    this.num(bytes.length);
    this.raw(bytes);
  }
}

/** Memory with words in it: `words` maps offsets to values. */
export function memory(size, words, { ptrSize, bigEndian }) {
  const buffer = Buffer.alloc(size);
  for (const [offset, value] of Object.entries(words ?? {})) {
    const at = Number(offset);
    if (ptrSize === 8) bigEndian ? buffer.writeBigUInt64BE(BigInt(value), at) : buffer.writeBigUInt64LE(BigInt(value), at);
    else bigEndian ? buffer.writeUInt32BE(Number(value), at) : buffer.writeUInt32LE(Number(value), at);
  }
  return buffer;
}

export function encode(variant, description) {
  const d = { ...DEFAULTS, ...description };
  const old = variant === '2013';
  const typed = old || variant.startsWith('1.3');
  const minor = old ? 3 : Number(/^1\.(\d+)/.exec(variant)[1]);
  const tags = old ? TAG_2013 : TAG;
  const kinds = old ? KIND['2013'] : typed ? KIND['1.3'] : KIND.later;
  const continpc = !old && !variant.startsWith('1.3beta');
  const out = new Output();

  const tag = (name) => {
    if (!(name in tags)) throw new Error(`no ${name} record in ${variant}`);
    out.num(tags[name]);
  };
  /** A field is the offset of a pointer, or [kind, offset]. */
  const pair = (f) => (Array.isArray(f) ? [kinds[f[0]], f[1]] : [kinds.ptr, f]);
  const fields = (list) => {
    for (const f of list ?? []) out.num(...pair(f));
    out.num(0);
  };
  /** Writes contents of `size` bytes, of which only `stored` are in the file (§4); the first of them have `words`. */
  const contents = ({ size, words, stored = size, head = Math.min(stored, 4096), left }) => {
    if (left !== undefined) { // a shortened array
      out.longest(size);
      out.num(left);
      out.raw(memory(left, words, d));
      return;
    }
    out.num(size);
    if (size <= 1 << 20) {
      out.raw(memory(size, words, d));
    } else {
      const top = Math.max(head, ...Object.keys(words ?? {}).map((o) => Number(o) + 8));
      out.raw(memory(top, words, d));
      out.hole(stored - top);
    }
  };

  const type = (t) => {
    tag('type');
    out.num(t.address, t.size);
    if (t.garbage) {
      out.num(t.garbage.length);
      out.raw(t.garbage.bytes);
    } else {
      out.string(t.name);
    }
    out.num(t.pointer ?? true);
    if (old) {
      out.num((t.fields ?? []).length);
      for (const f of t.fields ?? []) out.num(...pair(f));
    } else if (typed) {
      fields(t.fields);
    }
  };
  const object = (o) => {
    tag('object');
    out.num(o.address);
    if (typed) out.num(o.type ?? 0, o.kind ?? 0);
    contents(o);
    if (!typed) fields(o.fields ?? Object.keys(o.words ?? {}).map(Number));
  };
  const goroutine = (g) => {
    tag('goroutine');
    const frames = g.frames ?? [];
    out.num(g.address ?? 0xc000001000n, frames[0]?.sp ?? 0, g.goid, g.createdAt ?? 0x401000, g.status ?? 4, g.system ?? false, g.background ?? false,
      g.waitSince ?? 0);
    out.string(g.waitReason ?? '');
    if (!old) out.num(g.ctxt ?? 0, g.m ?? 0, g.defers?.[0]?.address ?? 0, g.panics?.[0]?.address ?? 0);
    frames.forEach((f, depth) => {
      tag('frame');
      const entry = f.entry ?? 0x401000;
      if (old) {
        out.num(f.sp, frames[depth + 1]?.sp ?? 0, entry, f.pc ?? entry + 16);
        out.string(f.name);
        return;
      }
      out.num(f.sp, depth, frames[depth - 1]?.sp ?? 0);
      contents(f);
      out.num(entry, f.pc ?? entry + 16);
      if (continpc) out.num(f.continpc ?? f.pc ?? entry + 16);
      out.string(f.name);
      fields(f.fields ?? Object.keys(f.words ?? {}).map(Number));
    });
    for (const r of g.defers ?? []) {
      tag('defer');
      out.num(r.address, g.address ?? 0xc000001000n, r.argp ?? 0, r.pc ?? 0x401010, r.funcval, r.code ?? 0x401800, r.next ?? 0);
    }
    for (const p of g.panics ?? []) {
      tag('panic');
      out.num(p.address, g.address ?? 0xc000001000n, p.type, p.data, p.defer ?? 0, p.next ?? 0);
    }
  };
  const finalizer = (name) => (f) => {
    tag(name);
    out.num(f.object, f.funcval, f.code ?? 0x401900, f.argType ?? 0x480000, f.objectType ?? 0x480000);
  };
  const segment = (name) => (s) => {
    tag(name);
    out.num(s.address);
    contents(s);
    fields(s.fields ?? Object.keys(s.words ?? {}).map(Number));
  };
  const each = (list, write) => (list ?? []).forEach(write);

  out.raw(Buffer.from(`go1.${minor} heap dump\n`));
  if (!d.noParams) {
    tag('params');
    const [start, end] = range(d);
    out.num(d.bigEndian, d.ptrSize);
    if (typed) out.num(d.hchanSize);
    out.num(start, end);
    if (!old) {
      if (minor >= 7) out.string(d.goarch);
      else out.num(d.thechar.charCodeAt(0));
      out.string(minor >= 7 ? d.version : '');
      out.num(d.ncpu);
    }
  }
  // §2: an itab's type comes before it, types come before the objects that need them.
  each(d.types, type);
  each(d.itabs, (i) => {
    tag('itab');
    out.num(i.address, typed ? i.pointer : i.type);
  });
  each(d.objects, object);
  each(d.goroutines, goroutine);
  each(d.stackRoots, (r) => {
    tag('stackroot');
    out.num(r.address, r.value, r.sp);
  });
  each(d.dataRoots, (r) => {
    tag('dataroot');
    out.num(r.address, r.value);
  });
  each(d.threads, (t) => {
    tag('thread');
    out.num(t.m, t.goid, t.osid);
  });
  each(d.data ?? (old ? [] : [{ address: 0x540000, size: 0 }]), segment('data'));
  each(d.bss ?? (old ? [] : [{ address: 0x550000, size: 0 }]), segment('bss'));
  each(d.otherRoots, (r) => {
    tag('otherroot');
    out.string(r.description);
    out.num(r.value);
  });
  each(d.finalizers, finalizer('finalizer'));
  each(d.queued, finalizer('queued'));
  if (!old && !d.noMemstats) {
    tag('memstats');
    out.num(...memstats(d));
  }
  each(d.profs, (p) => {
    tag('memprof');
    out.num(p.id, p.size, p.stack.length);
    for (const [name, file, line] of p.stack) {
      out.string(name);
      out.string(file);
      out.num(line);
    }
    out.num(p.allocs ?? 1, p.frees ?? 0);
  });
  each(d.samples, (s) => {
    tag('sample');
    out.num(s.address, s.prof);
  });
  if (!d.noEof) tag('eof');
  if (d.tail) out.raw(d.tail);
  out.flush();
  return out.parts;
}

/** The 281 numbers of memstats; HeapAlloc (7th) and HeapObjects (12th) have the sums of the objects. */
function memstats(d) {
  const real = (d.objects ?? []).filter((o) => !o.phantom);
  const list = new Array(281).fill(0);
  list[0] = list[6] = real.reduce((sum, o) => sum + o.size, 0);
  list[11] = real.length;
  list[21] = 2n ** 64n - 1n; // NextGC with the collector off
  return list;
}

/** Heap start and end as the dumper would write them: whole arenas around all objects. */
function range(d) {
  if (d.start !== undefined) return [d.start, d.end];
  const arena = d.ptrSize === 8 ? 1n << 26n : 1n << 22n;
  const all = d.objects ?? [];
  if (all.length === 0) return [0xc000000000n, 0xc004000000n];
  let [start, end] = [all[0].address, 0n];
  for (const o of all) {
    if (o.address < start) start = o.address;
    if (o.address + BigInt(o.size) > end) end = o.address + BigInt(o.size);
  }
  return [start - (start % arena), end + ((arena - (end % arena)) % arena)];
}
