// Verifies a snapshot against the dump it was made from, object by object and edge by edge.
//
//   node verify.mjs DUMP SNAPSHOT
//   node verify.mjs --pair DUMP1 SNAPSHOT1 DUMP2 SNAPSHOT2     two dumps of one process
import { pathToFileURL } from 'node:url';
import { followed, parse, wordAt } from './dump.mjs';
import { idsOf, placeOf, slotOf } from './ids.mjs';
import { Heap, isBelowProgram, isWeakBetween, pointedFrames, reachability, pointersToDeferred, tiers } from './heap.mjs';
import { load, reach } from './snapshot.mjs';
import { globalOf, isTrap, sameText, wordOf, wrongClass } from './naming.mjs';
import { Tap } from './tap.mjs';

const ARENA = 1n << 26n;
const hex = (n) => `0x${n.toString(16)}`;

const NODE_FIELDS = 'type,name,id,self_size,edge_count,trace_node_id,detachedness';
const NODE_TYPES = 'hidden,array,string,object,code,closure,regexp,number,native,synthetic,concatenated string,'
  + 'sliced string,symbol,bigint,object shape';
const EDGE_TYPES = 'context,element,property,internal,hidden,shortcut,weak';

/** A dump, its snapshot, and which node is which object. */
export class Case {
  /** The dump is a path, or what parse() made of it. */
  constructor(dump, snapshotPath) {
    this.dump = typeof dump === 'string' ? parse(dump) : dump;
    this.heap = new Heap(this.dump);
    this.snapshot = load(snapshotPath);
    this.key = this.snapshot.header.go2heapsnapshot ?? {};
    this.base = BigInt(this.key.id_base ?? 0);
    this.exceptions = new Map((this.key.id_arenas ?? []).map(([address, slot]) => [BigInt(address), slot]));
    this.ids = idsOf(this.heap.sorted, this.dump.params.ptrSize);
    this.objectOf = new Map(); // node → object
    this.nodeOf = new Map(); // object → node
    this.pieceOf = new Map(); // node → object of 4 GiB and more, whose size does not fit one node
    this.stray = []; // odd ids that are no object
    const large = this.heap.sorted.filter((o) => o.size >= 2 ** 32);
    for (const node of this.snapshot.nodes) {
      if (node.id % 2 === 0) continue;
      const o = this.ids.byId.get(node.id);
      const around = o ? undefined : large.find((l) => {
        const distance = BigInt(node.id - 1) / 2n * 8n - placeOf(l.address, this.dump.params.ptrSize) * 8n;
        return (distance + (1n << 34n)) % (1n << 34n) < BigInt(l.size);
      });
      if (o) {
        this.objectOf.set(node, o);
        this.nodeOf.set(o, node);
      } else if (around) {
        this.pieceOf.set(node, around);
      } else {
        this.stray.push(node);
      }
    }
    for (const [node, o] of this.objectOf) {
      if (o.size < 2 ** 32) continue;
      for (const e of node.edges) if (e.to.id % 2 === 0 && e.to.type === 'object') this.pieceOf.set(e.to, o);
    }
    this.gcRoots = this.snapshot.root.edges.map((e) => e.to).find((n) => n.name === '(GC roots)');
  }

  /** The node with this name below (GC roots), or beside it: objects that nothing holds are not below the GC's roots. */
  sub(name) {
    return [...(this.gcRoots?.edges ?? []), ...this.snapshot.root.edges].map((e) => e.to).find((n) => n.name === name);
  }

  /** `node` and the synthetic nodes below it. */
  subtree(node) {
    const seen = new Set(node ? [node] : []);
    for (const n of seen) for (const e of n.edges) if (!this.isObject(e.to)) seen.add(e.to);
    return seen;
  }

  isObject(node) {
    return this.objectOf.has(node) || this.pieceOf.has(node);
  }

  /** The places below (goroutines). Each has one goroutine, or the group of goroutines that share the place. */
  places() {
    return (this.sub('(goroutines)')?.edges ?? []).map((e) => {
      const match = /^([\d,]+) goroutines (\[.*)$/s.exec(e.to.name);
      return match ? { count: Number(match[1].replaceAll(',', '')), name: match[2], edges: e.to.edges } : { edges: [e] };
    });
  }

  /** The edges of a goroutine: those that keep something are below its stack, if it has one. */
  goroutineEdges(node) {
    const stack = stackOf(node);
    return stack ? [...node.edges, ...stack.edges] : node.edges;
  }

  goroutineNodes() {
    const nodes = new Map();
    for (const e of this.places().flatMap((place) => place.edges)) {
      const match = /^goroutine (\d+) \[/.exec(e.to.name);
      if (match) nodes.set(BigInt(match[1]), e.to);
    }
    return nodes;
  }
}

const stackOf = (goroutine) => goroutine.edges.find((e) => e.type === 'internal' && e.label === 'stack' && e.to.type === 'native')?.to;

const show = (node) => `@${node.id} ${node.type} ${JSON.stringify(node.name.slice(0, 60))}`;

// ---------------------------------------------------------------------------------------------------------------
// 0. The file by itself.

function checkFile(tap, c) {
  const { snapshot } = c;
  tap.none(snapshot.problems, 'the counts of the header are those of the arrays, every index is in range');

  const form = [];
  const { meta } = snapshot;
  if (meta.node_fields.join() !== NODE_FIELDS) form.push(`node_fields ${meta.node_fields}`);
  if (meta.node_types[0].join() !== NODE_TYPES) form.push(`node_types ${meta.node_types[0]}`);
  if (meta.edge_fields.join() !== 'type,name_or_index,to_node') form.push(`edge_fields ${meta.edge_fields}`);
  if (meta.edge_types[0].join() !== EDGE_TYPES) form.push(`edge_types ${meta.edge_types[0]}`);
  let at = -1;
  for (const token of ['"snapshot":', '"nodes":', '"edges":', '"samples":', '"locations":', '"strings":']) {
    const found = snapshot.text.indexOf(token, at + 1);
    const needed = !/samples|locations/.test(token) || meta[`${token.slice(1, -3)}_fields`] !== undefined;
    if (found < 0 && needed) form.push(`no ${token} where DevTools looks for it`);
    if (found >= 0) at = found;
  }
  if (!/\]\s*\}\s*$/.test(snapshot.text)) form.push('something follows the strings');
  if (new Set(snapshot.json.strings).size !== snapshot.json.strings.length) form.push('a string is there twice');
  for (const s of snapshot.json.strings) {
    if (s.length > 1026) form.push(`a string of ${s.length} characters`);
    if (!isWellFormed(s)) form.push(`a lone surrogate in ${JSON.stringify(s.slice(0, 60))}`);
  }
  tap.none(form, 'meta lists, sections and strings are as DevTools and memlab read them');

  const ids = new Set();
  const bad = [];
  for (const n of snapshot.nodes) {
    if (ids.has(n.id)) bad.push(`${show(n)}: id twice`);
    if (n.id === 0) bad.push(`${show(n)}: id 0`);
    ids.add(n.id);
    if (/^(synthetic|native)$/.test(n.type) !== (n.id % 2 === 0) && !c.pieceOf.has(n)) bad.push(`${show(n)}: parity of the id`);
    if (n.type === 'synthetic' && n.size !== 0) bad.push(`${show(n)}: synthetic with a size`);
    if (n.type !== 'synthetic' && isTrap(n.name)) bad.push(`${show(n)}: a name that trips DevTools`);
    for (const e of n.edges) {
      if ((e.type === 'shortcut') !== (n === snapshot.root && e.to.name === '(globals)' && e.to.type === 'synthetic')) bad.push(`${show(n)}: a ${e.type} to ${show(e.to)}`);
    }
  }
  for (const e of snapshot.root.edges) if (e.to.type !== 'synthetic') bad.push(`${show(e.to)} hangs on the root`);
  if (snapshot.root.type !== 'synthetic' || snapshot.root.ordinal !== 0) bad.push('the root is not the first node');
  if (!c.gcRoots) bad.push('no (GC roots)');
  tap.none(bad, 'ids are unique, odd for objects and even for synthetic nodes, no node trips DevTools');
}

function isWellFormed(s) {
  return !/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/.test(s);
}

// ---------------------------------------------------------------------------------------------------------------
// 1. Objects.

function checkObjects(tap, c) {
  const { dump } = c;
  const off = c.heap.sorted.filter((o) => {
    const start = (o.address / ARENA) * ARENA;
    const slot = c.exceptions.get(start) ?? Number((start - c.base) / ARENA);
    return slot !== Number(slotOf(o.address, dump.params.ptrSize));
  });
  tap.none([...off.map((o) => hex(o.address)), ...(c.key.id_granule === 8 && c.key.id_displaced === c.ids.displaced ? [] : [JSON.stringify(c.key)])],
    'the header says how ids map to addresses');
  const missing = c.heap.sorted.filter((o) => !c.nodeOf.has(o)).map((o) => `${hex(o.address)} of ${o.size} bytes has no node`);
  tap.none(missing, `every one of the ${c.heap.sorted.length} object records is a node`);
  const phantoms = new Map(dump.phantoms.map((o) => [Number(2n * placeOf(o.address, dump.params.ptrSize) + 1n), o]));
  tap.none(c.stray.map((n) => `${show(n)}${phantoms.has(n.id) ? ` is the phantom at ${hex(phantoms.get(n.id).address)}` : ''}`),
    'every odd id is an object record');

  const wrong = [];
  for (const [node, o] of c.objectOf) {
    if (node.type !== 'object') wrong.push(`${hex(o.address)}: type ${node.type}`);
    const expected = Math.min(o.size, 2 ** 32 - 1);
    if (o.size < 2 ** 32 && node.size !== expected) wrong.push(`${hex(o.address)}: size ${node.size}, should be ${expected}`);
    const name = wrongClass(dump, o, node.name);
    if (name !== null) wrong.push(`${hex(o.address)}: class ${JSON.stringify(node.name)}, should be ${JSON.stringify(name)}`);
  }
  tap.none(wrong, 'class and size of every object');
  tap.equal(c.snapshot.nodes.reduce((sum, n) => sum + (n.type === 'native' ? 0 : n.size), 0), c.heap.sorted.reduce((sum, o) => sum + o.size, 0),
    'sum of all self sizes but those of stacks');
}

// ---------------------------------------------------------------------------------------------------------------
// 2. Edges between objects.

/**
 * Finds to whom objects belong, by the pointers of the dump and by what synthetic nodes hold in the snapshot.
 */
function findTiers(c) {
  const unreachable = c.sub('(unreachable)');
  const live = reach(c.snapshot.root, new Set(unreachable ? [unreachable] : []));
  const roots = { program: [], goroutines: [], rest: [] };
  const nodesOf = (names) => new Set(names.flatMap((name) => [...c.subtree(c.sub(name))]));
  const program = nodesOf(['(globals)']), goroutines = nodesOf(['(goroutines)', '(defers and panics)']).add(c.gcRoots);
  const threads = nodesOf(['(OS threads)']);
  for (const n of c.snapshot.nodes) {
    if (c.isObject(n) || n === unreachable) continue;
    const name = program.has(n) ? 'program' : goroutines.has(n) && !threads.has(n) ? 'goroutines' : 'rest';
    for (const e of n.edges) if (e.type !== 'weak' && c.objectOf.has(e.to)) roots[name].push(c.objectOf.get(e.to));
  }
  return tiers(c.dump, c.heap, roots, (o) => live.has(c.nodeOf.get(o)));
}

/**
 * Checks that edges between objects that belong to different roots are weak, and from garbage, so that garbage takes nothing
 * away from the retained sizes of its targets, but not those that lead to what belongs to the program; that those to
 * deferred calls are weak, which belong to their records; and that no other edges are. Returns the edges as they would be if all were strong. A
 * weak edge has lost its element's index: its word is found by its target.
 */
function strong(c, node, out, hits, report) {
  const free = hits.slice();
  for (const e of out) {
    const isDeferred = c.toDeferred.get(c.objectOf.get(node))?.has(c.objectOf.get(e.to)) ?? false;
    const [from, to] = [c.tierOf.get(c.objectOf.get(node)), c.tierOf.get(c.objectOf.get(e.to))];
    if ((e.type === 'weak') !== (isDeferred || isWeakBetween(from, to))) {
      report(`edge ${JSON.stringify(e.label)} to ${show(e.to)} is ${e.type}, from ${from ?? 'garbage'} to ${to ?? 'garbage'}`);
    }
  }
  return out.map((e) => {
    if (e.type !== 'weak') return e;
    if (e.label !== 'element') return { ...e, type: 'property' };
    const i = free.findIndex((h) => h.target === c.objectOf.get(e.to));
    return i < 0 ? { ...e, type: 'property' } : { ...e, word: free.splice(i, 1)[0].offset };
  });
}

function checkEdges(tap, c) {
  c.toDeferred = pointersToDeferred(c.dump, c.heap);
  c.tierOf = findTiers(c);
  const wrong = [];
  const extra = [];
  let edges = 0;
  for (const [node, o] of c.objectOf) {
    const out = [];
    for (const e of node.edges) {
      if (e.type === 'weak' && e.label === 'allocated at' && !c.isObject(e.to)) continue;
      if (c.pieceOf.get(e.to) === o) continue; // the rest of this very object
      if (!c.objectOf.has(e.to)) extra.push(`${hex(o.address)} → ${show(e.to)} by ${e.type} ${JSON.stringify(e.label)}`);
      else out.push(e);
    }
    edges += out.length;
    const report = (text) => wrong.push(`${hex(o.address)} ${node.name.slice(0, 60)} ${text}`);
    const hits = c.heap.edges(o);
    compareWords(c, o, strong(c, node, out, hits, report), hits, report);
  }
  tap.none(wrong, `the ${edges} edges between objects are the pointer words that hit an object`);
  tap.none(extra, 'objects have no edges to other nodes');
}

/** The same for the edges of a root whose objects belong to `tier`: words that may be pointers are weak for other reasons, too. */
function strongOfRoot(c, tier, edges, report) {
  return edges.map((e) => {
    const isWeak = isWeakBetween(tier, c.tierOf.get(c.objectOf.get(e.to)));
    if (/\?$/.test(e.label)) return e;
    if (isWeak !== (e.type === 'weak')) report(`edge ${JSON.stringify(e.label)} to ${show(e.to)} is ${e.type}`);
    return isWeak ? { ...e, type: 'property' } : e;
  });
}

/** Compares edges with the words {offset, target, sure} that they stand for, one to one. */
function compareWords(c, region, edges, hits, report, conservative = null, read = wordOf) {
  const seen = new Map();
  for (const e of edges) {
    const word = e.word === undefined ? read(c.dump, region, e) : { offset: e.word };
    if (word.problem) {
      report(word.problem);
    } else if (word.conservative) {
      if (conservative) conservative(e, word.offset);
      else report(`has a conservative edge ${JSON.stringify(e.label)}`);
    } else if (seen.has(word.offset)) {
      report(`has two edges for offset ${word.offset}`);
    } else {
      seen.set(word.offset, c.objectOf.get(e.to));
    }
  }
  for (const h of hits) {
    const target = seen.get(h.offset);
    if (target === undefined) {
      if (h.sure) report(`lacks the edge at offset ${h.offset} to ${hex(h.target.address)} (${hex(h.value)})`);
    } else if (target !== h.target) {
      report(`edge at offset ${h.offset} goes to ${hex(target.address)}, should go to ${hex(h.target.address)}`);
    }
    seen.delete(h.offset);
  }
  for (const [offset, target] of seen) report(`edge at offset ${offset} to ${hex(target.address)}: no pointer there`);
}

function checkSamples(tap, c) {
  const expected = new Map();
  for (const s of c.dump.samples) {
    const o = c.heap.find(s.address);
    if (o) expected.set(o, (expected.get(o) ?? new Set()).add(s.prof));
  }
  const wrong = [];
  const siteOf = new Map();
  let found = 0;
  for (const [node, o] of c.objectOf) {
    const sites = node.edges.filter((e) => e.type === 'weak' && e.label === 'allocated at' && !c.isObject(e.to));
    const profs = expected.get(o);
    found += sites.length;
    if (sites.length === 0) continue;
    if (!profs) wrong.push(`${hex(o.address)}: no alloc sample names it`);
    else if (sites.length > profs.size) wrong.push(`${hex(o.address)}: ${sites.length} edges, ${profs.size} samples`);
    else if (profs.size === 1) {
      const [prof] = profs;
      if ((siteOf.get(prof) ?? sites[0].to) !== sites[0].to) wrong.push(`record ${prof} has two nodes`);
      siteOf.set(prof, sites[0].to);
    }
  }
  if (found > 0) {
    for (const o of expected.keys()) {
      if (!c.nodeOf.get(o)?.edges.some((e) => e.label === 'allocated at')) wrong.push(`${hex(o.address)}: sampled, no edge`);
    }
  }
  tap.none(wrong, `"allocated at" edges (${found}) agree with the ${c.dump.samples.length} alloc samples`);
}

// ---------------------------------------------------------------------------------------------------------------
// 3. Roots.

/** Edges from synthetic nodes to objects that some check has accounted for. */
class Ledger {
  constructor() {
    this.edges = new Set();
  }

  take(edges) {
    for (const e of edges) this.edges.add(e);
    return edges;
  }
}

function checkGlobals(tap, c, ledger) {
  const globals = [...c.subtree(c.sub('(globals)'))];
  const edgesOf = (nodes) => ledger.take(nodes.flatMap((n) => n.edges.filter((e) => c.isObject(e.to))));
  if (c.dump.dataRoots.length > 0) {
    // 2013 has no segments, only single roots.
    const origin = { address: 0n };
    const hits = c.dump.dataRoots.flatMap((r) => c.heap.hits([{ offset: Number(r.address), value: r.value, sure: true }]));
    checkSegment(tap, c, 'data', origin, edgesOf(globals), hits);
    return;
  }
  for (const [name, list] of [['data', c.dump.data], ['bss', c.dump.bss]]) {
    for (const s of list) checkSegment(tap, c, name, s, edgesOf(globals.filter((n) => n.name === name)), c.heap.hits(followed(c.dump, s)));
  }
}

function checkSegment(tap, c, name, segment, edges, hits) {
  const wrong = [];
  const report = (text) => wrong.push(text);
  compareWords(c, segment, strongOfRoot(c, 'program', edges, report), hits, report, null, globalOf);
  tap.none(wrong, `the ${edges.length} edges of ${name} are the words that hit an object`);
}

function checkGoroutines(tap, c, ledger) {
  const { dump } = c;
  const nodes = c.goroutineNodes();
  const listed = c.places().flatMap((place) => place.edges);
  const names = [];
  const frames = [];
  const words = [];
  const guessed = [];
  let exact = 0;
  let guesses = 0;
  const bySp = stackRootsBySp(c);
  const pointed = pointedFrames(dump, c.heap);

  if (listed.length !== dump.goroutines.length) names.push(`${listed.length} goroutines, should be ${dump.goroutines.length}`);
  for (const g of dump.goroutines) {
    const node = nodes.get(g.goid);
    if (!node) {
      names.push(`goroutine ${g.goid} is not there`);
      continue;
    }
    checkGoroutineName(g, node, names);
    checkGoroutineEdges(c, g, node, ledger, names);
    const children = c.goroutineEdges(node).filter((e) => e.type === 'element' && !c.isObject(e.to));
    if (children.length !== g.frames.length) frames.push(`goroutine ${g.goid}: ${children.length} frames, should be ${g.frames.length}`);
    for (const f of g.frames) {
      const at = `goroutine ${g.goid} frame ${f.depth} ${f.name}`;
      const edge = children.find((e) => e.label === f.depth);
      if (!edge) {
        frames.push(`${at}: is not there`);
        continue;
      }
      if (!sameText(edge.to.name, f.name)) frames.push(`${at}: is called ${JSON.stringify(edge.to.name)}`);
      const out = ledger.take(edge.to.edges.filter((e) => c.isObject(e.to)));
      for (const e of edge.to.edges) if (!c.isObject(e.to)) frames.push(`${at}: edge to ${show(e.to)}`);
      if (!f.contents) {
        for (const e of out) takeStackRoot(c, bySp, f, e, (text) => words.push(`${at} ${text}`));
        exact += out.length;
        continue;
      }
      const report = (text) => words.push(`${at} ${text}`);
      compareWords(c, f, strongOfRoot(c, 'goroutines', out, report), c.heap.hits(followed(dump, f)), report, (e, offset) => {
        guesses++;
        const value = wordAt(dump, f, offset);
        if (!c.heap.find(value) || c.heap.find(value) !== c.objectOf.get(e.to)) guessed.push(`${at}: ${e.label} holds ${hex(value)}, not ${show(e.to)}`);
        if (e.type !== 'internal' && e.type !== 'weak') guessed.push(`${at}: ${e.label} is ${e.type}`);
        if (!pointed.has(f)) guessed.push(`${at}: ${e.label}, but no pointer leads into this frame`);
      });
      exact += out.length;
    }
  }
  for (const [sp, left] of bySp) {
    for (const r of left) words.push(`stack root at ${hex(r.address)} (frame ${hex(sp)}) to ${hex(r.target.address)} has no edge`);
  }
  tap.none(names, `the ${dump.goroutines.length} goroutines by id, state and context pointer`);
  tap.none(frames, 'their frames by depth and function');
  tap.none(words, `the ${exact - guesses} edges of frames are the listed words that hit an object`);
  tap.none(guessed, `the ${guesses} conservative edges of frames are words of those frames`);
}

/** Checks that goroutines that do the same, in the same function, and of one go statement share a node, and others do not. */
function checkPlaces(tap, c) {
  const nodes = c.goroutineNodes();
  const placeOf = new Map();
  for (const g of c.dump.goroutines) {
    const runs = withoutLines(/\] (.*)$/s.exec(nodes.get(g.goid)?.name ?? '')?.[1])?.split(' ← ').pop();
    const innermost = g.frames.find((f) => !isBelowProgram(f.name));
    const dumping = g.frames.some((f) => f.name === 'runtime/debug.WriteHeapDump');
    placeOf.set(nodes.get(g.goid), JSON.stringify([g.status, g.status === 4 && !dumping ? g.waitReason : '', dumping, runs, `${innermost?.name}`, `${g.createdAt}`]));
  }
  const wrong = [];
  const seen = new Set();
  for (const { count, name, edges } of c.places()) {
    const keys = new Set(edges.map((e) => placeOf.get(e.to)));
    if (keys.size !== 1) wrong.push(`${name ?? show(edges[0].to)}: in ${keys.size} places`);
    if (count !== undefined && (count !== edges.length || count < 2)) wrong.push(`${count} goroutines ${name}: ${edges.length} are there`);
    if (edges.some((e) => e.type !== 'element')) wrong.push(`${name}: an edge that is no element`);
    for (const key of keys) {
      if (seen.has(key)) wrong.push(`two nodes for ${key}`);
      seen.add(key);
    }
  }
  tap.none(wrong, `goroutines in the same of ${seen.size} places are together`);
}

/**
 * Checks that stacks are as large as the first two words of their runtime.g say, since 1.4, that what their goroutine keeps is
 * below them, and that nothing else is native.
 */
function checkStacks(tap, c) {
  const { dump } = c;
  const nodes = c.goroutineNodes();
  const wrong = [];
  const known = new Set();
  const word = dump.params.ptrSize;
  for (const g of dump.goroutines) {
    const stacks = (nodes.get(g.goid)?.edges ?? []).filter((e) => e.to.type === 'native');
    const at = `goroutine ${g.goid}`;
    const o = dump.layout.typed ? undefined : c.heap.find(g.address);
    const offset = o ? Number(g.address - o.address) : 0;
    const [lo, hi] = o && offset + 2 * word <= Math.min(o.size, o.contents.available)
      ? [wordAt(dump, o, offset), wordAt(dump, o, offset + word)] : [0n, 0n];
    const expected = lo < hi && hi - lo <= 2000000000n && lo <= g.sp && g.sp <= hi ? Number(hi - lo) : undefined;
    if (stacks.length !== (expected === undefined ? 0 : 1)) {
      wrong.push(`${at}: ${stacks.length} stacks`);
      continue;
    }
    for (const e of stacks) {
      known.add(e.to);
      if (e.to.size !== expected) wrong.push(`${at}: ${e.to.size} bytes of stack, should be ${expected}`);
      if (e.type !== 'internal' || e.label !== 'stack') wrong.push(`${at}: ${e.type} ${e.label}`);
      const beside = (other) => other.type !== 'weak' && other !== e && other.label !== 'created by' && other.label !== 'thread';
      for (const other of nodes.get(g.goid).edges.filter(beside)) wrong.push(`${at}: ${other.label} is not below its stack`);
      for (const other of e.to.edges) if (other.type === 'weak') wrong.push(`${at}: its stack has a weak edge ${other.label}`);
      const [, state, run] = /^goroutine \d+ \[([^\],]*)[^\]]*\](?: (.*))?$/s.exec(nodes.get(g.goid).name) ?? [];
      const parts = /^goroutine stack \[([^\]]*)\](?: (.*))?$/s.exec(e.to.name);
      const [inner, outer] = withoutLines(parts?.[2])?.split(' ← ') ?? [];
      if (parts?.[1] !== state || (outer ?? inner) !== withoutLines(run)?.split(' ← ').pop()) wrong.push(`${at}: its stack is ${e.to.name}`);
      if (outer !== undefined && !g.frames.some((f) => sameText(inner, f.name))) wrong.push(`${at}: ${inner} is none of its frames`);
    }
  }
  for (const n of c.snapshot.nodes) if (n.type === 'native' && !known.has(n)) wrong.push(`${show(n)} is no stack`);
  const sum = [...known].reduce((bytes, n) => bytes + n.size, 0);
  if ((c.key.stacks ?? 0) !== known.size || (c.key.stack_bytes ?? 0) !== sum) wrong.push(`the header has ${c.key.stacks} with ${c.key.stack_bytes} bytes, not ${sum}`);
  tap.none(wrong, `the stacks of ${known.size} goroutines, by size and place`);
}

/** The name of a goroutine's place without lines: "main.send" of "main.send main.go:17 (go main.go:31)". */
const withoutLines = name => name?.replace(/ \(go .*\)$/s, '').replace(/ \S+:\d+(?= ← |$)/g, '');

function checkGoroutineName(g, node, problems) {
  const match = /^goroutine \d+ \[([^\]]*)\](?: (.*))?$/s.exec(node.name);
  const dumping = g.frames.some((f) => f.name === 'runtime/debug.WriteHeapDump');
  const state = { 1: 'runnable', 3: 'syscall' }[g.status] ?? (dumping ? null : g.waitReason);
  if (!match) problems.push(`goroutine ${g.goid}: ${node.name}`);
  else if (state && !match[1].includes(state)) problems.push(`goroutine ${g.goid}: [${match[1]}], should be ${state}`);
  else if (match[2] && !g.frames.some((f) => match[2].startsWith(f.name.slice(0, 990)) || sameText(match[2], f.name))) problems.push(`goroutine ${g.goid}: ${match[2]} is none of its frames`);
}

/** Whether a record of the runtime (sudog) begins with the goroutine's address and points to what it waits on. */
function waitsOn(c, g, target) {
  const word = c.dump.params.ptrSize, words = 20;
  return c.heap.sorted.some((o) => wordAt(c.dump, o, 0) === g.address &&
    Array.from({ length: words }, (_, i) => c.heap.find(wordAt(c.dump, o, i * word))).includes(target));
}

function checkGoroutineEdges(c, g, node, ledger, problems) {
  const ids = [g.ctxt, g.address, g.m, g.defer, g.panic].map((a) => c.heap.find(a));
  const out = ledger.take(c.goroutineEdges(node).filter((e) => c.isObject(e.to)));
  for (const e of out) {
    const target = c.objectOf.get(e.to);
    if (!ids.includes(target) && !(e.type === 'weak' && e.label === 'waiting on' && waitsOn(c, g, target))) problems.push(`goroutine ${g.goid}: edge ${e.label} to ${show(e.to)}: why?`);
  }
  if (ids[0] && !out.some((e) => c.objectOf.get(e.to) === ids[0] && e.type !== 'weak')) {
    problems.push(`goroutine ${g.goid}: context pointer to ${hex(ids[0].address)} is no edge`);
  }
}

/** 2013 only: roots come one by one and name their frame by its sp, which zero-size frames share. */
function stackRootsBySp(c) {
  const bySp = new Map();
  for (const r of c.dump.stackRoots) {
    const target = c.heap.find(r.value);
    if (target) bySp.set(r.sp, [...(bySp.get(r.sp) ?? []), { ...r, target }]);
  }
  return bySp;
}

function takeStackRoot(c, bySp, frame, edge, report) {
  const list = bySp.get(frame.sp) ?? [];
  const i = list.findIndex((r) => r.target === c.objectOf.get(edge.to) && edge.label === `f${r.address - r.sp}`);
  if (i < 0) report(`edge ${edge.label} to ${show(edge.to)}: no such stack root`);
  else list.splice(i, 1);
}

/** Checks the sub-roots whose inner form is free: only the objects that they reach count. */
function checkOtherRoots(tap, c, ledger) {
  const { dump } = c;
  const group = (name, required, allowed) => {
    const out = ledger.take([...c.subtree(c.sub(name))].flatMap((n) => n.edges.filter((e) => c.isObject(e.to))));
    const strong = new Set(out.filter((e) => e.type !== 'weak').map((e) => c.objectOf.get(e.to)));
    const any = new Set(out.map((e) => c.objectOf.get(e.to)));
    const wrong = [];
    for (const { what, value, weak } of required) {
      const o = c.heap.find(value);
      const isWeak = weak || isWeakBetween(name === '(defers and panics)' ? 'goroutines' : 'rest', c.tierOf.get(o));
      if (o && !(isWeak ? any : strong).has(o)) wrong.push(`${what} ${hex(value)} is not there`);
    }
    const known = new Set([...required, ...allowed].map(({ value }) => c.heap.find(value)));
    for (const e of out) if (!known.has(c.objectOf.get(e.to))) wrong.push(`edge ${e.label} to ${show(e.to)}: why?`);
    tap.none(wrong, `${name}: ${any.size} objects`);
  };
  const as = (what, list, weak = false) => list.map((value) => ({ what, value, weak }));

  const behind = dump.finalizers.flatMap((f) => {
    const o = c.heap.find(f.object);
    return o ? c.heap.edges(o).map((e) => e.value) : [];
  });
  const types = (list) => list.flatMap((f) => [f.argType, f.objectType]);
  group('(finalizers)',
    [...as('object with a finalizer', dump.finalizers.map((f) => f.object), true),
      ...as('closure', dump.finalizers.map((f) => f.funcval))],
    as('', [...behind, ...types(dump.finalizers)]));
  group('(queued finalizers)',
    [...as('object', dump.queued.map((f) => f.object)), ...as('closure', dump.queued.map((f) => f.funcval))],
    as('', types(dump.queued)));
  const defers = dump.goroutines.flatMap((g) => g.defers);
  const panics = dump.goroutines.flatMap((g) => g.panics);
  const isPointer = (p) => !dump.layout.typed || dump.types.get(p.type)?.pointer === true;
  group('(defers and panics)',
    [...as('deferred function', defers.map((d) => d.funcval)), ...as('panic value', panics.filter(isPointer).map((p) => p.data))],
    as('', [...defers.map((d) => d.address), ...defers.map((d) => d.next), ...panics.flatMap((p) => [p.address, p.next, p.data, p.type, p.defer])]));
  group('(other roots)', as('root', dump.otherRoots.map((r) => r.value)),
    as('', dump.stackRoots.map((r) => r.value)));
}

function checkNothingElse(tap, c, ledger) {
  const unreachable = c.sub('(unreachable)'), several = c.sub('(held by several)');
  // A goroutine or thread may show its own g and m: to the format they are ids, but they are runtime objects that are surely alive.
  const own = new Set([...c.dump.threads.map((t) => t.m), ...c.dump.goroutines.flatMap((g) => [g.address, g.m])].map((a) => c.heap.find(a)));
  const wrong = [];
  for (const node of c.snapshot.nodes) {
    if (c.isObject(node) || node === unreachable) continue;
    for (const e of node.edges) {
      if (own.has(c.objectOf.get(e.to))) continue;
      if (node === several && e.type === 'weak') continue; // tests/dominators looks at these
      if (c.isObject(e.to) && !ledger.edges.has(e)) wrong.push(`${show(node)} → ${show(e.to)} by ${e.type} ${JSON.stringify(e.label)}`);
    }
  }
  tap.none(wrong, 'no other node holds an object');
}

// ---------------------------------------------------------------------------------------------------------------
// 4. What is reachable.

function checkReachability(tap, c) {
  const { must, may } = reachability(c.dump, c.heap);
  const unreachable = c.sub('(unreachable)');
  const alive = reach(c.snapshot.root, new Set(unreachable ? [unreachable] : []));
  const rooted = reach(c.snapshot.root);

  const dead = [];
  const loose = [];
  const undead = [];
  for (const o of c.heap.sorted) {
    const node = c.nodeOf.get(o);
    if (!node) continue;
    if (!rooted.has(node)) loose.push(`${hex(o.address)} ${node.name}`);
    if (must.has(o) && !alive.has(node)) dead.push(`${hex(o.address)} ${node.name}`);
    if (!may.has(o) && alive.has(node)) undead.push(`${hex(o.address)} ${node.name}`);
  }
  tap.none(loose, 'every object has a way from the root');
  tap.none(dead, `nothing reachable (${must.size} objects) hangs only below (unreachable)`);
  tap.none(undead, `everything else (${c.heap.sorted.length - may.size} objects) hangs only there`);
  const both = (unreachable?.edges ?? []).filter((e) => alive.has(e.to)).map((e) => show(e.to));
  tap.none(both, '(unreachable) holds nothing that is reachable');
  const odd = c.snapshot.nodes.filter((n) => !c.isObject(n) && !rooted.has(n)
    && !c.snapshot.edges.some((e) => e.to === n && e.type === 'weak'));
  tap.none(odd.map(show), 'no synthetic node is lost');
}

// ---------------------------------------------------------------------------------------------------------------

/** Verifies a snapshot and returns its Case. */
export function verify(tap, dump, snapshotPath) {
  const c = new Case(dump, snapshotPath);
  if (!c.dump.complete) tap.note(`the dump is cut: ${c.dump.error.message}`);
  checkFile(tap, c);
  checkObjects(tap, c);
  checkEdges(tap, c);
  checkSamples(tap, c);
  const ledger = new Ledger();
  checkGlobals(tap, c, ledger);
  checkGoroutines(tap, c, ledger);
  checkPlaces(tap, c);
  checkStacks(tap, c);
  checkOtherRoots(tap, c, ledger);
  checkNothingElse(tap, c, ledger);
  checkReachability(tap, c);
  return c;
}

// 5. Two dumps of one process, given their Cases.
export function verifyPair(tap, a, b) {
  const changed = [];
  const taken = [];
  let same = 0;
  const idsBefore = new Map([...a.nodeOf].map(([o, node]) => [node.id, o]));
  for (const [o2, n2] of b.nodeOf) {
    const o1 = a.dump.objects.get(o2.address);
    if (!o1) {
      if (idsBefore.has(n2.id)) taken.push(`${hex(o2.address)} has the id of ${hex(idsBefore.get(n2.id).address)}`);
      continue;
    }
    const n1 = a.nodeOf.get(o1);
    if (!n1 || o1.size !== o2.size || o1.hasPointers !== o2.hasPointers || o1.type !== o2.type || o1.kind !== o2.kind) continue;
    same++;
    if (n1.id !== n2.id || n1.name !== n2.name) changed.push(`${hex(o2.address)}: ${show(n1)}, then ${show(n2)}`);
  }
  tap.none(changed, `the ${same} objects in both have the same id and class`);
  tap.none(taken, `the ${b.nodeOf.size - same} others have ids of their own`);

  const [g1, g2] = [a.goroutineNodes(), b.goroutineNodes()];
  const moved = [];
  for (const [goid, node] of g2) {
    if (g1.has(goid) && g1.get(goid).id !== node.id) moved.push(`goroutine ${goid}: ${g1.get(goid).id}, then ${node.id}`);
    for (const [other, n1] of g1) if (other !== goid && n1.id === node.id) moved.push(`goroutine ${goid} has the id of ${other}`);
  }
  tap.none(moved, `goroutines in both have the same id (${g2.size})`);

  const fixed = [];
  for (const name of ['(globals)', '(goroutines)', '(finalizers)', '(queued finalizers)', '(defers and panics)', '(other roots)', '(unreachable)']) {
    const [x, y] = [a.sub(name), b.sub(name)];
    if (x && y && x.id !== y.id) fixed.push(`${name}: ${x.id}, then ${y.id}`);
  }
  tap.none(fixed, 'the roots have the same ids');
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const args = process.argv.slice(2);
  const tap = new Tap();
  if (args[0] === '--pair' && args.length === 5) verifyPair(tap, new Case(args[1], args[2]), new Case(args[3], args[4]));
  else if (args.length === 2) verify(tap, ...args);
  else {
    console.error('usage: verify.mjs DUMP SNAPSHOT | --pair DUMP1 SNAPSHOT1 DUMP2 SNAPSHOT2');
    process.exit(2);
  }
  tap.end();
}
