// Judges whether a class is what the allocator was told. The rules are those of docs/snapshot-format.md on classes:
//
//   T                           a value of a type, with its full import path: --names=full
//   []T                         a backing array, whatever its length
//   a node of type "string"     the bytes of a string; its name is their text
//   map[K]V                     what a map value points to; map[K]V entries: its buckets (classic), groups, tables (Swiss)
//   string header               what a *string points to
//   []T header                  what a *[]T points to
//   chan T                      a channel's header, with its buffer where elements have no pointers
//   func main.f.func1           a closure
//   ptr64, noptr48              unknown; if only a part is known, an edge "holds" leads to the type of that part
//   (tiny block)                values of less than 16 bytes without pointers
//
// The truth is what mallocgc was told: a type and a size. The type of an array is that of its element. Bytes of strings,
// channels without pointers and the like have no type.

const pointless = /^(?:(?:no)?ptr\d+|\(garbage\))$/;

/** Returns what a class claims, together with its edges: {kind: untyped | string | tiny | partly | typed, name, guess}. */
export function claimOf(name, nodeType, guess = false, part = '') {
  if (nodeType.endsWith('string')) return { kind: 'string', name: 'string', guess: false };
  if (name === '(tiny block)') return { kind: 'tiny', name, guess: false };
  if (pointless.test(name)) return { kind: part ? 'partly' : 'untyped', name: part, guess: false };
  name = name.replace(/^(\[\](?:u?int\d*|uintptr|float\d+|complex\d+|bool)) \(.*\)$/s, '$1'); // by what holds it
  // The header of a string has another class than its type, so that its two words are not taken for a text.
  const type = { 'string header': 'string', string: '(a string that is no header)' };
  return { kind: 'typed', name: type[name] ?? name.replace(/^(\[\].*) header$/, '$1'), guess };
}

/** Returns whether a class is that of the entries of a map. */
const isEntries = (name) => /^map\[.* entries$/.test(name);

/** Returns one spelling of types that have several, and of types that snapshots rewrite. */
export function spell(name) {
  return name.replace(/ \(Go\)$/, '').replace(/^Go (?=<|system \/|Detached |Window|Object\(|\(closure)/, '')
    .replace(/chan \(<-\) /g, '<-chan ').replace(/\binterface\{/g, 'interface {').replace(/\bstruct\{/g, 'struct {')
    .replace(/\bany\b/g, 'interface {}').replace(/\bbyte\b/g, 'uint8').replace(/\brune\b/g, 'int32')
    .replace(/\{\s+\}/g, '{}').replace(/, /g, ',').replace(/go\.shape\./g, 'shape.');
}

export class Judge {
  constructor(truth, dump, allocation) {
    this.truth = truth;
    this.dump = dump;
    this.allocation = allocation;
    this.types = truth.types;
    this.word = dump.pointerSize;
    this.byAddress = new Map(this.types.map((t, i) => [Number(t.address), i]));
    this.byName = new Map();
    this.types.forEach((t, i) => {
      t.full = spell(t.name);
      t.short = spell(t.string);
      for (const name of [t.short, t.full]) this.byName.set(name, i); // later types win; below, full names win over short ones
    });
    this.types.forEach((t, i) => this.byName.set(t.full, i));
    this.signatures = new Map();
    this.cache = new Map();
    this.names = new Map();
  }

  /** The names that a type may have; the first is the one it should have. */
  namesOf(i) {
    const t = this.types[i];
    return t.full === t.short ? [t.full] : [t.full, t.short];
  }

  /** The underlying type, which two types share if they can be converted into each other. */
  underlying(i) {
    const t = this.types[i], name = (j) => this.types[j].full;
    switch (t.kind) {
      case 'struct': return `struct{${(t.fields ?? []).map((f) => `${f.name} ${name(f.type)}`).join(';')}}`;
      case 'array': return `[${t.len}]${name(t.elem)}`;
      case 'slice': return `[]${name(t.elem)}`;
      case 'ptr': return `*${name(t.elem)}`;
      case 'map': return `map[${name(t.key)}]${name(t.elem)}`;
      case 'chan': return `chan ${name(t.elem)}`;
      case 'func': case 'interface': return t.named ? t.full : t.short;
      default: return t.kind;
    }
  }

  /** The words of a type, without any names. */
  shape(i) {
    if (this.signatures.has(i)) return this.signatures.get(i);
    const parts = [];
    const walk = (j, offset) => {
      const t = this.types[j];
      if (parts.length > 200) return;
      if (t.kind === 'struct') (t.fields ?? []).forEach((f) => walk(f.type, offset + f.offset));
      else if (t.kind === 'array') for (let k = 0; k < t.len && parts.length <= 200; k++) walk(t.elem, offset + k * this.types[t.elem].size);
      else parts.push(`${offset}${t.kind}`);
    };
    walk(i, 0);
    const result = `${this.types[i].size}:${parts.join(',')}`;
    this.signatures.set(i, result);
    return result;
  }

  /** K and V of a bucket's or group's type, as [names of K, names of V]; null for any other type. */
  keyAndValue(i) {
    if (this.names.has(i)) return this.names.get(i);
    const t = this.types[i];
    let result = null;
    const field = (u, ...names) => (u.fields ?? []).find((f) => names.includes(f.name));
    let K = -1, V = -1;
    if (/^map\.bucket\[/.test(t.short)) {
      K = this.types[field(t, 'keys')?.type]?.elem ?? -1;
      V = this.types[field(t, 'elems')?.type]?.elem ?? -1;
    } else if (/^map\.group\[/.test(t.short)) {
      if (field(t, 'slots')) {
        const slot = this.types[this.types[field(t, 'slots').type].elem];
        K = field(slot, 'key')?.type ?? -1;
        V = field(slot, 'elem')?.type ?? -1;
      } else {
        K = this.types[field(t, 'keys')?.type]?.elem ?? -1;
        V = this.types[field(t, 'elems')?.type]?.elem ?? -1;
      }
    }
    if (K >= 0 && V >= 0) {
      // Keys and values over 128 bytes are stored as pointers; the type's own name tells their types.
      const inner = t.short.slice(t.short.indexOf('['));
      const options = (j) => (this.types[j].kind === 'ptr' ? [j, this.types[j].elem] : [j]);
      for (const k of options(K)) {
        for (const v of options(V)) {
          if (!result && inner === `[${this.types[k].short}]${this.types[v].short}`) result = [this.namesOf(k), this.namesOf(v)];
        }
      }
      result ??= [this.namesOf(K), this.namesOf(V)];
    }
    this.names.set(i, result);
    return result;
  }

  /** The type that was allocated at an address, or -1. */
  typeAt(address) {
    let i = this.dump.at(address);
    if (i < 0) {
      i = this.dump.at(address - 8); // behind a malloc header
      if (i < 0) return -1;
    }
    const r = this.allocation.row[i];
    return r < 0 ? -1 : this.truth.type[r];
  }

  /** K and V of a map header or a table, found in the memory that it points to; null if it has none. */
  mapAt(i, what) {
    const { dump, word } = this;
    const follow = (address, depth) => {
      const t = address ? this.typeAt(address) : -1;
      return t < 0 || depth > 2 ? null : this.keyAndValue(t);
    };
    const groupOf = (table) => {
      const o = dump.at(table);
      return o < 0 ? null : follow(dump.word(o, 16), 0);
    };
    if (what === 'table') return follow(dump.word(i, 16), 0);
    if (what === 'hmap') return follow(dump.word(i, 8 + word), 0);
    // used uint64, seed uintptr, dirPtr, dirLen
    const pointer = dump.word(i, 8 + word);
    if (dump.word(i, 8 + 2 * word) === 0) return follow(pointer, 0);
    const directory = dump.find(pointer);
    return directory < 0 ? null : groupOf(dump.word(directory, pointer - dump.address[directory]));
  }

  /** The verdict on a class of an object: {verdict, truth}. Verdicts: right, short, unverified, layout, shape, wrong. */
  judge(object, claim, nameIndex) {
    const r = this.allocation.row[object];
    if (r < 0) return { verdict: 'unverified', truth: '(no allocation)' };
    const type = this.truth.type[r], size = this.truth.size[r];
    if (claim.kind === 'tiny' && this.allocation.parts[object] === 0) {
      const truth = type < 0 ? (this.dump.pointers[object] ? '(no type)' : '(bytes)') : this.types[type].full;
      if (size < 16) return { verdict: type < 0 || !this.types[type].pointers ? 'right' : 'wrong', truth };
      // growslice() asks for all bytes of a slot, whatever the elements: a slice of 12 bytes looks as if it shared the slot.
      return { verdict: type < 0 && size === 16 ? 'unverified' : 'wrong', truth };
    }
    if (this.allocation.parts[object] > 0) return this.tiny(claim);
    if (type < 0) return this.bytes(claim, size, object);
    const t = this.types[type];
    const n = t.size ? Math.floor(size / t.size) : 1;
    const truthName = n > 1 ? `[]${t.full}` : t.full;
    const special = this.special(object, type, t, n, claim);
    if (special) return special;
    const key = `${nameIndex} ${type} ${Math.min(n, 2)} ${claim.kind === 'partly' ? claim.name : claim.kind}`;
    let found = this.cache.get(key);
    if (!found) {
      found = { verdict: this.plain(type, t, n, claim), truth: truthName };
      this.cache.set(key, found);
    }
    return found;
  }

  tiny(claim) {
    if (claim.kind === 'string' || claim.kind === 'tiny') return { verdict: 'right', truth: '(tiny block)' };
    const t = this.byName.get(spell(claim.name).replace(/^\[\]/, '')); // of an array, the type of the elements counts
    return { verdict: t !== undefined && this.types[t].pointers ? 'wrong' : 'unverified', truth: '(tiny block)' };
  }

  bytes(claim, size, object) {
    const truth = this.dump.pointers[object] ? '(no type)' : '(bytes)';
    if (claim.kind === 'string') return { verdict: 'right', truth };
    const name = spell(claim.name);
    if (/^(\[\]|\[\d+\])uint8$/.test(name)) return { verdict: 'right', truth };
    // runtime.itabAdd allocates the table, of size, count and 2^n entries, as bytes.
    if (name === 'runtime.itabTableType') return { verdict: Number.isInteger(Math.log2(size / this.word - 2)) ? 'right' : 'wrong', truth };
    const t = this.byName.get(name.replace(/^\[\]/, '')) ?? this.byName.get(name);
    if (t !== undefined && this.types[t].pointers && this.types[t].kind !== 'chan' && !/^chan |^<-chan /.test(name) && !this.dump.pointers[object]) return { verdict: 'wrong', truth };
    if (t !== undefined && this.types[t].size > this.dump.size[object]) return { verdict: 'wrong', truth };
    return { verdict: 'unverified', truth };
  }

  plain(type, t, n, claim) {
    if (claim.kind === 'string') return !t.pointers ? 'right' : 'wrong';
    const name = spell(claim.name);
    const [full, short] = this.namesOf(type);
    if (/^(\[\])?\*?runtime\.bmap$/.test(full) && isEntries(name)) return 'right';
    if (full === 'runtime.weakHandleBox' && name === 'weak.Pointer handle') return 'right';
    // reflect.MakeSlice allocates the header of a slice of any type as this type.
    if (full === 'internal/unsafeheader.Slice' && n === 1 && name.startsWith('[]')) return 'right';
    // The runtime boxes all strings, all slices and all small numbers as if they were of one type each.
    const boxed = /^runtime\.(string|slice|uint16|uint32|uint64)InterfacePtr$/.exec(full);
    if (boxed) return this.boxed(boxed[1], t, name);
    // Generic code knows only the shapes of its type arguments.
    if (/^[^ ]+\[.*shape\./.test(full)) {
      const base = (x) => x.slice(0, x.indexOf('['));
      if (name.includes('[') && base(name.replace(/^\[\]/, '')) === base(full)) return 'right';
    }
    const forms = (x) => [...(n === 1 ? [x] : []), `[]${x}`, `[${n}]${x}`];
    if (forms(full).includes(name)) return 'right';
    if (t.kind === 'array') {
      const [elem, elemShort] = this.namesOf(t.elem);
      if (name === `[]${elem}` || (t.len === 1 && name === elem)) return 'right';
      if (name === `[]${elemShort}`) return 'short';
    }
    if (short && forms(short).includes(name)) return 'short';
    // Is the layout identical?
    const slice = name.startsWith('[]');
    const candidates = [this.byName.get(name), slice ? this.byName.get(name.slice(2)) : undefined];
    let verdict = /shape\./.test(name) || /shape\./.test(full) ? 'layout' : 'wrong';
    candidates.forEach((c, k) => {
      if (c === undefined || (k === 0 && n > 1)) return;
      if (this.underlying(c) === this.underlying(type)) verdict = 'layout';
      else if (verdict === 'wrong' && this.shape(c) === this.shape(type)) verdict = 'shape';
    });
    return verdict;
  }

  boxed(kind, t, name) {
    const bare = name.replace(/^\[1\]/, '');
    const c = this.byName.get(bare);
    if (kind === 'string' && bare === 'string') return 'right';
    if (kind === 'slice' && bare.startsWith('[]')) return 'right';
    if (c === undefined) return 'unverified';
    const u = this.types[c];
    // This includes structs of nothing but a string or a slice.
    if (kind === 'string' || kind === 'slice') return this.shape(c) === `${t.size}:0${kind}` ? 'right' : 'wrong';
    return u.size === t.size && !u.pointers ? 'right' : 'wrong';
  }

  /** Judges structures of the runtime whose classes say more than their types. Returns null for other objects. */
  special(object, type, t, n, claim) {
    const name = spell(claim.name);
    const verdictOf = (start, kv, forms) => {
      if (claim.kind === 'string') return 'wrong';
      if (!name.replace(/^\[\]/, '').startsWith(start)) return null;
      if (!kv) return 'right';
      const all = [], first = [];
      kv[0].forEach((k, a) => kv[1].forEach((v, b) => forms(k, v).forEach((f) => (a || b ? all : first).push(f, `[]${f}`, `*${f}`, `[]*${f}`))));
      if (first.includes(name)) return 'right';
      // The truth has functions' types as reflect prints them, without the paths of packages.
      const bare = (x) => x.replace(/[\w.-]+\//g, '');
      const isFunc = name.includes('func(') && first.some((f) => bare(f) === bare(name));
      if (first.some((f) => f.includes('shape.'))) return 'layout'; // generic code knows only shapes
      return isFunc || all.includes(name) ? 'short' : 'wrong';
    };
    const entries = (kv) => (isEntries(name) ? verdictOf('map[', kv, (k, v) => [`map[${k}]${v} entries`]) : null);
    const showEntries = (kv) => show(kv, (k, v) => `map[${k}]${v} entries`);
    const result = (verdict, truth) => (verdict ? { verdict, truth } : null);
    const show = (kv, form) => (kv ? form(kv[0][0], kv[1][0]) : t.full);

    const map = /^map\.(bucket|group)\[/.exec(t.short);
    if (map) {
      const kv = this.keyAndValue(type);
      const verdict = entries(kv);
      return { verdict: verdict ?? 'wrong', truth: showEntries(kv) };
    }
    switch (t.full) {
      case 'runtime.hmap': case 'internal/runtime/maps.Map': {
        const kv = this.mapAt(object, t.full === 'runtime.hmap' ? 'hmap' : 'Map');
        let verdict = isEntries(name) ? 'wrong' : verdictOf('map[', kv, (k, v) => [`map[${k}]${v}`]);
        if (!verdict) { // the name of a map type?
          const c = this.byName.get(name);
          if (c !== undefined && this.types[c].kind === 'map') {
            const u = this.types[c];
            verdict = !kv || (kv[0].includes(this.types[u.key].full) && kv[1].includes(this.types[u.elem].full)) ? 'right' : 'wrong';
          }
        }
        return result(verdict, show(kv, (k, v) => `map[${k}]${v}`));
      }
      case 'internal/runtime/maps.table': {
        const kv = this.mapAt(object, 'table');
        return result(entries(kv), showEntries(kv));
      }
      case '*internal/runtime/maps.table': {
        const first = this.dump.at(this.dump.word(object, this.truth.address[this.allocation.row[object]] - this.dump.address[object]));
        const kv = first < 0 ? null : this.mapAt(first, 'table');
        return result(entries(kv), showEntries(kv));
      }
      case 'runtime.hchan': {
        const elem = this.byAddress.get(this.dump.word(object, this.word === 8 ? 32 : 20)) ??
          this.byAddress.get(this.dump.word(object, this.word === 8 ? 40 : 24));
        const names = elem === undefined ? [] : this.namesOf(elem);
        const truth = names.length ? `chan ${names[0]}` : 'chan ?';
        const bare = name.replace(/^hchan<(.*)>$/, 'chan $1').replace(/^<-chan |^chan<- /, 'chan ');
        if (!bare.startsWith('chan ')) return null;
        if (!names.length) return { verdict: 'right', truth };
        // An element that is a channel of one direction is in parentheses.
        const at = names.findIndex((x) => bare === `chan ${x}` || bare === `chan (${x})`);
        return { verdict: at === 0 ? 'right' : at > 0 ? 'short' : 'wrong', truth };
      }
      case 'runtime.sudog':
        return name.startsWith('sudog<') ? { verdict: 'right', truth: t.full } : null;
      case 'runtime.mapextra':
        return isEntries(name) ? { verdict: 'right', truth: t.full } : null;
    }
    if (n === 1 && t.kind === 'struct' && !t.named && /^\.?F$/.test(t.fields?.[0]?.name ?? '') && this.types[t.fields[0].type].kind === 'uintptr') {
      const where = this.truth.address[this.allocation.row[object]] - this.dump.address[object];
      // The linker's name: in the last element of an import path %2e is a dot.
      const f = (this.truth.functions.get(this.dump.word(object, where)) ?? '?').replace(/%([0-9a-f]{2})/g, (_, hex) => String.fromCharCode(parseInt(hex, 16)));
      if (!claim.name.startsWith('func ')) return { verdict: name === t.full ? 'right' : name === t.short ? 'short' : 'wrong', truth: `func ${f}` };
      const plain = (x) => x.replace(/\[.*\]/, '[…]');
      const right = claim.name === `func ${f}` || plain(claim.name) === plain(`func ${f}`);
      return { verdict: right ? 'right' : 'wrong', truth: `func ${f}` };
    }
    return null;
  }

  /** The type that an object was allocated as, for tables. */
  truthName(object) {
    const { truth } = this.judge(object, { kind: 'typed', name: '', guess: false }, -1);
    return truth === 'string' ? 'string header' : truth;
  }
}
