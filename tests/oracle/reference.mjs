// Makes the snapshot that verify.mjs expects, straight from the reader's own model. It serves only to test the
// verifier: it must pass, and with one thing changed it must fail.
import { elementAt, followed, wordAt } from './dump.mjs';
import { idsOf, slotOf } from './ids.mjs';
import { Heap, allWords, isBelowProgram, isWeakBetween, pointedFrames, pointersToDeferred, tiers } from './heap.mjs';

const NODE_TYPES = ['hidden', 'array', 'string', 'object', 'code', 'closure', 'regexp', 'number', 'native', 'synthetic',
  'concatenated string', 'sliced string', 'symbol', 'bigint', 'object shape'];
const EDGE_TYPES = ['context', 'element', 'property', 'internal', 'hidden', 'shortcut', 'weak'];
const ARENA = 1n << 26n;
const hex = (n) => `0x${n.toString(16)}`;

/** Returns {nodes, key}: nodes are {type, name, id, size, edges: [{type, label, to}]}; `key` is the header's go2heapsnapshot. */
export function reference(dump) {
  const heap = new Heap(dump);
  const ids = idsOf(heap.sorted, dump.params.ptrSize);
  const idOf = new Map([...ids.byId].map(([id, o]) => [o, id]));
  const start = (heap.sorted[0]?.address ?? dump.params.start) / ARENA * ARENA;
  const base = start - slotOf(start, dump.params.ptrSize) * ARENA;
  const exceptions = [...new Set(heap.sorted.map((o) => o.address / ARENA * ARENA))]
    .map((arena) => [arena, Number(slotOf(arena, dump.params.ptrSize))]).filter(([arena, slot]) => (arena - base) / ARENA !== BigInt(slot));
  const nodes = [];
  const node = (type, name, id, size = 0) => {
    const n = { type, name, id, size, edges: [] };
    nodes.push(n);
    return n;
  };
  const link = (from, type, label, to) => from.edges.push({ type, label, to });

  const root = node('synthetic', '', 2);
  const gcRoots = node('synthetic', '(GC roots)', 4);
  link(root, 'element', 1, gcRoots);
  const sub = {};
  ['(globals)', '(goroutines)', '(finalizers)', '(queued finalizers)', '(defers and panics)', '(other roots)', '(unreachable)']
    .forEach((name, i) => {
      sub[name] = node('synthetic', name, 6 + 2 * i);
      if (name === '(globals)') link(root, 'shortcut', 'program', sub[name]);
      else link(gcRoots, 'element', i + 1, sub[name]);
    });
  const nodeOf = new Map();
  let next = 2 ** 31;
  const fresh = () => (next += 2);

  // goroutines and frames
  const groups = heap.sorted.map((o) => [o, node('object', className(dump, o), idOf.get(o), Math.min(o.size, 2 ** 32 - 1))]);
  for (const [o, n] of groups) nodeOf.set(o, n);
  const toDeferred = pointersToDeferred(dump, heap);
  for (const [o, n] of groups) {
    if (o.size >= 2 ** 32) link(n, 'internal', 'rest', node('object', n.name, fresh(), o.size - n.size));
    for (const h of heap.edges(o)) {
      const [type, label] = wordName(dump, o, h.offset);
      link(n, toDeferred.get(o)?.has(h.target) ? 'weak' : type, label, nodeOf.get(h.target));
    }
  }
  const sites = new Map();
  for (const s of dump.samples) {
    const o = heap.find(s.address);
    if (!o) continue;
    if (!sites.has(s.prof)) sites.set(s.prof, node('synthetic', dump.profs.get(s.prof).stack[0]?.name ?? '', fresh()));
    const site = sites.get(s.prof);
    if (!nodeOf.get(o).edges.some((e) => e.to === site)) link(nodeOf.get(o), 'weak', 'allocated at', site);
  }
  const segment = (name, list) => {
    const n = node('synthetic', name, fresh());
    link(sub['(globals)'], 'property', name, n);
    for (const s of list) for (const h of heap.hits(followed(dump, s))) link(n, 'property', hex(s.address + BigInt(h.offset)), nodeOf.get(h.target));
    return n;
  };
  const data = segment('data', dump.data);
  segment('bss', dump.bss);
  for (const r of dump.dataRoots) if (heap.find(r.value)) link(data, 'property', hex(r.address), nodeOf.get(heap.find(r.value)));

  const pointed = pointedFrames(dump, heap);
  const roots = [...dump.stackRoots];
  const stateOf = (g) => (g.frames.some((f) => f.name === 'runtime/debug.WriteHeapDump') ? 'dumping heap' : { 1: 'runnable', 3: 'syscall' }[g.status] ?? g.waitReason);
  const placeOf = (g) => JSON.stringify([g.status, stateOf(g), `${g.frames.find((f) => !isBelowProgram(f.name))?.name}`, `${g.createdAt}`]);
  const countIn = (place) => dump.goroutines.filter((g) => placeOf(g) === place).length;
  const groupOf = new Map();
  for (const g of dump.goroutines) {
    const state = stateOf(g);
    const count = countIn(placeOf(g));
    if (count > 1 && !groupOf.has(placeOf(g))) {
      const group = node('synthetic', clean(`${count.toLocaleString('en')} goroutines [${state}]`), fresh());
      link(sub['(goroutines)'], 'element', Number(g.goid % 4294967296n), group);
      groupOf.set(placeOf(g), group);
    }
    const n = node('synthetic', clean(`goroutine ${g.goid} [${state}]`), 1000 + 2 * Number(g.goid % 1000003n));
    link(groupOf.get(placeOf(g)) ?? sub['(goroutines)'], 'element', Number(g.goid % 4294967296n), n);
    const own = dump.layout.typed ? undefined : heap.find(g.address);
    const size = own ? stackSize(dump, own, g) : 0;
    const keeper = size ? node('native', clean(`goroutine stack [${state}]`), fresh(), size) : n;
    if (size) link(n, 'internal', 'stack', keeper);
    if (heap.find(g.ctxt)) link(keeper, 'property', 'ctxt', nodeOf.get(heap.find(g.ctxt)));
    for (const f of g.frames) {
      const fn = node('synthetic', clean(f.name), fresh());
      link(keeper, 'element', f.depth, fn);
      if (!f.contents) {
        for (let i = 0; i < roots.length; i++) {
          const r = roots[i];
          if (r.sp !== f.sp || !heap.find(r.value)) continue;
          link(fn, 'property', `f${r.address - r.sp}`, nodeOf.get(heap.find(r.value)));
          roots.splice(i--, 1);
        }
        continue;
      }
      const listed = heap.hits(followed(dump, f));
      for (const h of listed) link(fn, 'property', `f${h.offset}`, nodeOf.get(h.target));
      if (!pointed.has(f)) continue;
      for (const h of heap.hits(allWords(dump, f))) {
        if (!listed.some((l) => l.offset === h.offset)) link(fn, 'internal', `f${h.offset}?`, nodeOf.get(h.target));
      }
    }
  }
  const hold = (name, value, type = 'element') => {
    const o = heap.find(value);
    if (o) link(sub[name], type, type === 'weak' ? 'object' : sub[name].edges.length, nodeOf.get(o));
  };
  for (const f of dump.finalizers) {
    hold('(finalizers)', f.object, 'weak');
    hold('(finalizers)', f.funcval);
    for (const e of heap.find(f.object) ? heap.edges(heap.find(f.object)) : []) hold('(finalizers)', e.value);
  }
  for (const f of dump.queued) for (const value of [f.object, f.funcval]) hold('(queued finalizers)', value);
  for (const g of dump.goroutines) {
    for (const d of g.defers) for (const value of [d.address, d.funcval]) hold('(defers and panics)', value);
    for (const p of g.panics) hold('(defers and panics)', p.data);
  }
  for (const r of dump.otherRoots) hold('(other roots)', r.value);

  // the objects that are left, once each
  const reached = (from) => {
    const seen = new Set([from]);
    for (const n of seen) for (const e of n.edges) if (e.type !== 'weak') seen.add(e.to);
    return seen;
  };
  const alive = reached(root);
  const below = (from) => {
    const seen = new Set([from]);
    for (const n of seen) for (const e of n.edges) if (!objectOf.has(e.to)) seen.add(e.to);
    return [...seen];
  };
  const objectOf = new Map(groups.map(([o, n]) => [n, o]));
  const held = (nodes) => nodes.flatMap((n) => n.edges).filter((e) => e.type !== 'weak' && objectOf.has(e.to)).map((e) => objectOf.get(e.to));
  const above = {
    program: below(sub['(globals)']),
    goroutines: ['(goroutines)', '(defers and panics)'].flatMap((name) => below(sub[name])),
    rest: ['(finalizers)', '(queued finalizers)', '(other roots)'].flatMap((name) => below(sub[name])),
  };
  const tierOf = tiers(dump, heap, Object.fromEntries(Object.entries(above).map(([name, list]) => [name, held(list)])), (o) => alive.has(nodeOf.get(o)));
  const between = (n, from) => {
    for (const e of n.edges) {
      if (objectOf.has(e.to) && isWeakBetween(from, tierOf.get(objectOf.get(e.to)))) Object.assign(e, { type: 'weak', label: e.type === 'element' ? 'element' : e.label });
    }
  };
  for (const [o, n] of groups) between(n, tierOf.get(o));
  for (const [name, list] of Object.entries(above)) for (const n of list) between(n, name);
  for (const [o, n] of groups) if (!alive.has(n)) link(sub['(unreachable)'], 'element', sub['(unreachable)'].edges.length, n);
  const stacks = nodes.filter((n) => n.type === 'native');
  return { nodes, key: { version: '0', stacks: stacks.length, stack_bytes: stacks.reduce((sum, n) => sum + n.size, 0),  go_version: dump.params.version, goarch: dump.params.goarch, id_base: hex(base), id_granule: 8,
    id_arenas: exceptions.map(([arena, slot]) => [hex(arena), slot]), id_displaced: ids.displaced } };
}

function stackSize(dump, o, g) {
  const at = Number(g.address - o.address);
  if (at + 2 * dump.params.ptrSize > o.contents.available) return 0;
  const [lo, hi] = [0, 1].map((i) => wordAt(dump, o, at + i * dump.params.ptrSize));
  return lo <= g.sp && g.sp <= hi && lo < hi && hi - lo <= 2000000000n ? Number(hi - lo) : 0;
}

function clean(text) {
  return [...text.replace(/^<-chan /, 'chan (<-) ')].slice(0, 1024).join('');
}

function className(dump, o) {
  const type = dump.layout.typed ? dump.types.get(o.type) : undefined;
  if (!type) return `${o.hasPointers ? 'ptr' : 'noptr'}${o.size}`;
  const text = { 0: '', 1: '[]', 2: 'chan ' }[o.kind] + type.name;
  const full = clean(text);
  return /^(Object|Array|V8EventListener|\(.*\)|system \/ .*|Detached <.*)$/.test(full) ? `go ${full}` : full;
}

function wordName(dump, o, offset) {
  const type = dump.layout.typed ? dump.types.get(o.type) : undefined;
  if (type && o.kind !== 0) {
    const index = Math.floor((offset - (elementAt(dump, o, 0)?.offset ?? 0)) / type.size);
    if (type.size === dump.params.ptrSize) return ['element', index];
    return ['property', `[${index}].f${offset - elementAt(dump, o, index).offset}`];
  }
  if (offset >= 1 << 20) return ['element', offset];
  const head = offset >= dump.params.ptrSize ? wordAt(dump, o, offset - dump.params.ptrSize) : 0n;
  const itab = dump.itabs.get(head);
  const found = dump.types.get(itab ? itab.type : head);
  return ['property', found && !dump.layout.typed ? `f${offset} (${found.name})` : `f${offset}`];
}

/** Returns the text of a .heapsnapshot. */
export function write({ nodes, key }) {
  const strings = new Map([['<dummy>', 0]]);
  const string = (s) => {
    if (!strings.has(s)) strings.set(s, strings.size);
    return strings.get(s);
  };
  const ordinal = new Map(nodes.map((n, i) => [n, i]));
  const nodeCells = nodes.flatMap((n) => [NODE_TYPES.indexOf(n.type), string(n.name), n.id, n.size, n.edges.length, 0, 0]);
  const edgeCells = nodes.flatMap((n) => n.edges.flatMap((e) => [EDGE_TYPES.indexOf(e.type),
    e.type === 'element' || e.type === 'hidden' ? e.label : string(e.label), ordinal.get(e.to) * 7]));
  return JSON.stringify({
    snapshot: {
      meta: {
        node_fields: ['type', 'name', 'id', 'self_size', 'edge_count', 'trace_node_id', 'detachedness'],
        node_types: [NODE_TYPES, 'string', 'number', 'number', 'number', 'number', 'number'],
        edge_fields: ['type', 'name_or_index', 'to_node'],
        edge_types: [EDGE_TYPES, 'string_or_number', 'node'],
      },
      go2heapsnapshot: key,
      node_count: nodes.length, edge_count: edgeCells.length / 3, trace_function_count: 0,
    },
    nodes: nodeCells, edges: edgeCells, strings: [...strings.keys()],
  });
}
