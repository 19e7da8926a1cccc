// Looks up in a snapshot what a test program knows of its own heap.
//
//   node truth.test.mjs --truth T.json --snapshot S [--dump D] [--snapshot2 S2 [--dump2 D2]]
//
// T.json is what the package truth/ writes. The output is TAP without a plan;
// the exit code is 1 if a test failed. An object's id follows from its address
// (see "id_base" in the snapshot's header), so nothing is searched by name.

import {closeSync, fstatSync, openSync, readFileSync, readSync} from 'node:fs';
import {parseArgs} from 'node:util';

const {values: options} = parseArgs({
  options: Object.fromEntries(
      ['truth', 'dump', 'snapshot', 'dump2', 'snapshot2', 'prefix'].map(name => [name, {type: 'string'}])),
});
if (!options.truth || !options.snapshot) {
  console.error('usage: truth.test.mjs --truth T.json --snapshot S [--dump D] [--snapshot2 S2 [--dump2 D2]]');
  process.exit(2);
}

let tests = 0;
let failed = 0;

/** Reports one test. It passes if there are no complaints. */
function report(name, complaints) {
  ++tests;
  if (complaints.length) {
    ++failed;
  }
  console.log(`${complaints.length ? 'not ok' : 'ok'} ${tests} - ${options.prefix ?? ''}${name}`);
  complaints.slice(0, 8).forEach(c => console.log(`#   ${c}`));
  if (complaints.length > 8) {
    console.log(`#   and ${complaints.length - 8} more`);
  }
}

function skip(name, why) {
  ++tests;
  console.log(`ok ${tests} - ${options.prefix ?? ''}${name} # SKIP ${why}`);
}

/** Collects a complaint for every item that the check returns one for. */
const complain = (items, check) => items.map(check).filter(c => c);

class Snapshot {
  constructor(file) {
    const json = JSON.parse(readFileSync(file, 'utf8'));
    const {meta} = json.snapshot;
    this.header = json.snapshot;
    this.tool = json.snapshot.go2heapsnapshot;
    this.strings = json.strings;
    this.nodes = json.nodes;
    this.edges = json.edges;
    this.traceTree = json.trace_tree ?? [];
    const infos = json.trace_function_infos ?? [];
    const info = meta.trace_function_info_fields ?? [];
    this.functions = [];
    for (let i = 0; i < infos.length; i += info.length) {
      this.functions.push(json.strings[infos[i + info.indexOf('name')]]);
    }
    this.nodeTypes = meta.node_types[0];
    this.edgeTypes = meta.edge_types[0];
    this.nodeSize = meta.node_fields.length;
    this.edgeSize = meta.edge_fields.length;
    for (const field of meta.node_fields) {
      this[`node_${field}`] = meta.node_fields.indexOf(field);
    }
    for (const field of meta.edge_fields) {
      this[`edge_${field}`] = meta.edge_fields.indexOf(field);
    }
    this.count = this.nodes.length / this.nodeSize;
    this.firstEdge = new Uint32Array(this.count + 1);
    this.byId = new Map();
    for (let n = 0; n < this.count; ++n) {
      this.firstEdge[n + 1] = this.firstEdge[n] + this.nodes[n * this.nodeSize + this.node_edge_count];
      this.byId.set(this.id(n), n);
    }
    this.reachedCache = new Map();
  }

  id(n) { return this.nodes[n * this.nodeSize + this.node_id]; }
  name(n) { return this.strings[this.nodes[n * this.nodeSize + this.node_name]]; }
  type(n) { return this.nodeTypes[this.nodes[n * this.nodeSize + this.node_type]]; }
  size(n) { return this.nodes[n * this.nodeSize + this.node_self_size]; }
  trace(n) { return this.nodes[n * this.nodeSize + this.node_trace_node_id]; }

  /** The edges of a node: {type, name, to}; names of elements are numbers. */
  edgesOf(n) {
    const result = [];
    for (let e = this.firstEdge[n]; e < this.firstEdge[n + 1]; ++e) {
      const at = e * this.edgeSize;
      const type = this.edgeTypes[this.edges[at + this.edge_type]];
      const index = this.edges[at + this.edge_name_or_index];
      result.push({
        type,
        name: type === 'element' || type === 'hidden' ? index : this.strings[index],
        to: this.edges[at + this.edge_to_node] / this.nodeSize,
      });
    }
    return result;
  }

  /** The node of the object at an address, or undefined. */
  at(address) {
    const distance = Number(address) - Number(this.tool.id_base);
    return this.byId.get(2 * (distance / this.tool.id_granule) + 1);
  }

  child(n, name) { return n === undefined ? undefined : this.edgesOf(n).find(e => this.name(e.to) === name)?.to; }

  /** A synthetic node below (GC roots). */
  root(name) { return this.child(this.child(0, '(GC roots)'), name); }

  /** How many edges lead from a node to each node, at least; -1 if it is not reached. One node is left out. */
  distances(from, without, follow = () => true) {
    const distance = new Int32Array(this.count).fill(-1);
    if (from === undefined) {
      return distance;
    }
    let ring = [from];
    distance[from] = 0;
    for (let d = 1; ring.length; ++d) {
      const next = [];
      for (const n of ring) {
        for (let e = this.firstEdge[n]; e < this.firstEdge[n + 1]; ++e) {
          const to = this.edges[e * this.edgeSize + this.edge_to_node] / this.nodeSize;
          if (to !== without && distance[to] < 0 && follow(e)) {
            distance[to] = d;
            next.push(to);
          }
        }
      }
      ring = next;
    }
    return distance;
  }

  /** Weak edges, and shortcuts but those of the root, which are its first edges, keep nothing alive. */
  isWeak(e) {
    const type = this.edgeTypes[this.edges[e * this.edgeSize + this.edge_type]];
    return type === 'weak' || type === 'shortcut' && e >= this.firstEdge[1];
  }

  /** The distances from the root of nodes that are not garbage. */
  get live() { return this.liveCache ??= this.distances(0, this.child(0, '(unreachable)')); }
  get garbage() { return this.garbageCache ??= this.distances(this.child(0, '(unreachable)')); }

  describe(n) { return n === undefined ? 'nothing' : `${this.name(n)} (${this.type(n)} @${this.id(n)})`; }
}

/** Returns whether an edge has a name that an edge at an offset of an object may have. */
function isField(edge, offset) {
  if (offset >= 1 << 20) {
    return edge.type === 'element' && edge.name === offset;
  }
  return edge.type !== 'element' && (edge.name === `f${offset}` || String(edge.name).startsWith(`f${offset} (`));
}

function testDump(name, file) {
  const fd = openSync(file);
  const start = Buffer.alloc(16);
  const end = Buffer.alloc(1);
  readSync(fd, start, 0, 16, 0);
  readSync(fd, end, 0, 1, fstatSync(fd).size - 1);
  closeSync(fd);
  report(`${name} is a whole dump`, start.toString() === 'go1.7 heap dump\n' && end[0] === 0 ? [] : [`${file}: no dump`]);
}

function testSnapshot(name, snapshot, truth) {
  const complaints = [];
  const {header, tool} = snapshot;
  if (tool?.go_version !== truth.go || tool?.goarch !== truth.goarch) {
    complaints.push(`made by ${tool?.go_version} ${tool?.goarch}, not ${truth.go} ${truth.goarch}`);
  }
  if (header.node_count !== snapshot.count || header.edge_count * snapshot.edgeSize !== snapshot.edges.length ||
      snapshot.firstEdge[snapshot.count] !== header.edge_count) {
    complaints.push('the counts do not agree');
  }
  if (snapshot.byId.size !== snapshot.count) {
    complaints.push(`${snapshot.count - snapshot.byId.size} ids occur twice`);
  }
  const all = snapshot.distances(0);
  const lost = all.reduce((sum, d) => sum + (d < 0), 0);
  if (lost) {
    complaints.push(`${lost} nodes are not below the root`);
  }
  report(`${name} is consistent`, complaints);
}

/** Complains if an object is not what it should be. */
function wrongObject(snapshot, object) {
  const n = snapshot.at(object.slot);
  const what = `${object.name} at ${object.addr}`;
  if (n === undefined) {
    return `${what} is not in the snapshot`;
  }
  if (snapshot.type(n) !== 'object') {
    return `${what} is ${snapshot.describe(n)}`;
  }
  const size = snapshot.size(n);
  const want = `${object.pointers ? 'ptr' : 'noptr'}${size}`;
  if (snapshot.name(n) !== want || (object.slot_size && size !== object.slot_size)) {
    return `${what} is ${snapshot.describe(n)} of ${size} bytes, not ${object.pointers ? 'ptr' : 'noptr'}${object.slot_size || ''}`;
  }
  return undefined;
}

function testObjects(snapshot, truth) {
  report(`${truth.objects.length} objects have their ids, classes and sizes`,
         complain(truth.objects, o => wrongObject(snapshot, o)));

  const live = truth.objects.filter(o => o.state === 'reachable');
  report(`${live.length} objects are reachable`, complain(live, o => {
    const n = snapshot.at(o.slot);
    return n !== undefined && snapshot.live[n] < 0 ? `${o.name} at ${o.addr} is not` : undefined;
  }));
  const strong = snapshot.distances(0, undefined, e => !snapshot.isWeak(e));
  report('no object hangs from weak edges only', complain(truth.objects, o => {
    const n = snapshot.at(o.slot);
    return n !== undefined && strong[n] < 0 ? `${o.name} at ${o.addr} does` : undefined;
  }));

  const garbage = truth.objects.filter(o => o.state === 'unreachable');
  if (!garbage.length) {
    return;
  }
  report(`${garbage.length} objects of garbage are below (unreachable) and nowhere else`, complain(garbage, o => {
    const n = snapshot.at(o.slot);
    if (n === undefined) {
      return undefined;  // has been reported
    }
    if (snapshot.live[n] >= 0) {
      return `${o.name} at ${o.addr} is reachable`;
    }
    return snapshot.garbage[n] < 0 ? `${o.name} at ${o.addr} is not below (unreachable)` : undefined;
  }));

  // A head is garbage that no other garbage points to, or one of a cycle.
  const heads = new Set(snapshot.edgesOf(snapshot.child(0, '(unreachable)') ?? 0).map(e => e.to));
  const states = new Map(truth.objects.map(o => [o.slot, o.state]));
  const inner = truth.edges.filter(e => states.get(e.from) === 'unreachable' && states.get(e.to) === 'unreachable');
  report('(unreachable) shows the heads of garbage only', complain(inner, e => {
    const to = snapshot.at(e.to);
    const cycle = snapshot.distances(to)[snapshot.at(e.from)] >= 0;
    return !cycle && heads.has(to) ? `${e.to} is there, but ${e.from} points to it` : undefined;
  }));
}

function testEdges(snapshot, truth) {
  const present = truth.edges.filter(e => e.to !== '0x0');
  const absent = truth.edges.filter(e => e.to === '0x0');
  const edgesOf = new Map();
  const edgesAt = (from, offset) => {
    const n = snapshot.at(from);
    if (n === undefined) {
      return [];
    }
    if (!edgesOf.has(n)) {
      // The edges by offset: a table has more than 100,000 edges.
      const byOffset = new Map();
      for (const e of snapshot.edgesOf(n)) {
        const at = e.type === 'element' ? e.name : Number(/^f(\d+)/.exec(e.name)?.[1]);
        byOffset.set(at, [...byOffset.get(at) ?? [], e]);
      }
      edgesOf.set(n, byOffset);
    }
    return edgesOf.get(n).get(offset) ?? [];
  };
  report(`${present.length} pointers are edges`, complain(present, want => {
    const edges = edgesAt(want.from, want.offset).filter(e => isField(e, want.offset));
    if (edges.length !== 1 || edges[0].to !== snapshot.at(want.to)) {
      return `${want.from} + ${want.offset} leads to ${edges.map(e => snapshot.describe(e.to)).join(', ') || 'nothing'}, not to ${want.to}`;
    }
    return undefined;
  }));
  if (absent.length) {
    report(`${absent.length} words are no edges`, complain(absent, want => {
      const edges = edgesAt(want.from, want.offset);
      return edges.length ? `${want.from} + ${want.offset} (${want.why}) leads to ${snapshot.describe(edges[0].to)}` : undefined;
    }));
  }
  const typed = present.filter(e => e.type);
  if (typed.length) {
    // The type is optional. Pointers with methods have no name in a dump ("main."), so only the package can be expected of them.
    report('types of interfaces are right where they are given', complain(typed, want => {
      const name = String(edgesAt(want.from, want.offset)[0]?.name ?? '');
      const given = / \((.*)\)$/.exec(name)?.[1];
      const base = type => type.replace(/^\*/, '');
      return given !== undefined && base(given) !== base(want.type) ? `${want.from} + ${want.offset}: ${given}, not ${want.type}` : undefined;
    }));
  }
  if (truth.reach?.length) {
    const from = new Map();
    report(`${truth.reach.length} values of maps and channels are near their headers`, complain(truth.reach, want => {
      if (!from.has(want.from)) {
        from.set(want.from, snapshot.distances(snapshot.at(want.from), 0));
      }
      const steps = from.get(want.from)[snapshot.at(want.to)] ?? -1;
      return steps < 0 || steps > want.steps ? `${want.name} at ${want.to}: ${steps < 0 ? 'no way' : `${steps} steps`} from ${want.from}` : undefined;
    }));
  }
}

function testGlobals(snapshot, truth) {
  if (!truth.globals?.length) {
    return;
  }
  const globals = snapshot.child(0, '(globals)');
  const words = new Map();
  for (const segment of ['data', 'bss']) {
    const n = snapshot.child(globals, segment);
    for (const e of n === undefined ? [] : snapshot.edgesOf(n)) {
      words.set(String(e.name).replace(/ .*/, ''), e.to);
    }
  }
  report(`${truth.globals.length} global variables are edges of data or bss`, complain(truth.globals, want => {
    const to = words.get(want.addr);
    return to === undefined || to !== snapshot.at(want.to) ? `${want.name} at ${want.addr} leads to ${snapshot.describe(to)}, not to ${want.to}` : undefined;
  }));
}

function testGoroutines(snapshot, truth) {
  const all = new Map();
  const parent = snapshot.root('(goroutines)');
  const listed = parent === undefined ? [] : snapshot.edgesOf(parent)
    .flatMap(e => / goroutines \[/.test(snapshot.name(e.to)) ? snapshot.edgesOf(e.to) : [e]);
  for (const {to} of listed) {
    const [, id, state, name] = /^goroutine (\d+) \[([^\]]*)\] (.*)$/s.exec(snapshot.name(to)) ?? [];
    const [run, innermost] = (name ?? '').split(' ← ').reverse(); // the innermost function of one that is alone in its place
    all.set(Number(id), {node: to, state: state?.replace(/, .*/, ''), name: run, innermost});
  }
  const own = n => snapshot.type(n) === 'synthetic';
  for (const want of truth.goroutines ?? []) {
    const complaints = [];
    const found = want.id ? all.get(want.id) : [...all.values()].find(g => g.name === want.function);
    if (!found) {
      complaints.push('is not there');
    } else {
      if (!want.states.includes(found.state)) {
        complaints.push(`is in state ${found.state}, not ${want.states.join(' or ')}`);
      }
      if (found.name !== want.function) {
        complaints.push(`is called ${found.name}`);
      }
      // What a goroutine holds is below its stack, if that is known.
      const stack = snapshot.edgesOf(found.node).find(e => e.type === 'internal' && e.name === 'stack' && snapshot.type(e.to) === 'native');
      const keeper = stack?.to ?? found.node;
      const framesOf = n => snapshot.edgesOf(n).filter(e => e.type === 'element' && own(e.to));
      const frames = framesOf(keeper);
      if (stack && framesOf(found.node).length > 0) {
        complaints.push('has frames beside its stack');
      }
      frames.forEach((e, i) => {
        if (e.name !== i) {
          complaints.push(`frame ${i} has number ${e.name}`);
        }
      });
      if (frames.length < (want.depth ?? 1)) {
        complaints.push(`has ${frames.length} frames, not ${want.depth}`);
      }
      const names = frames.map(e => snapshot.name(e.to));
      if (found.innermost && !names.some(name => name.startsWith(found.innermost))) {
        complaints.push(`has no frame of ${found.innermost}`);
      }
      let at = 0;
      for (const f of want.frames ?? []) {
        const next = names.indexOf(f, at);
        if (next < 0) {
          complaints.push(`has no frame ${f}: ${names.slice(0, 20).join(', ')}`);
          break;
        }
        at = next + 1;
      }
      const held = new Set(frames.flatMap(e => snapshot.edgesOf(e.to)).filter(e => /^f\d+/.test(e.name)).map(e => e.to));
      for (const address of want.holds ?? []) {
        const n = snapshot.at(address);
        if (n === undefined || !held.has(n)) {
          complaints.push(`does not hold ${address}, ${snapshot.describe(n)}`);
        }
      }
      const distance = snapshot.distances(want.leads ? keeper : undefined);
      for (const address of want.leads ?? []) {
        const n = snapshot.at(address);
        if (n === undefined || distance[n] < 0 || distance[n] > 3) {
          complaints.push(`does not lead to ${address}, ${snapshot.describe(n)}`);
        }
      }
    }
    report(`goroutine ${want.id || '?'} [${want.states[0]}] ${want.function}`, complaints);
  }
}

function testFinalizers(snapshot, truth) {
  for (const [queued, name] of [[false, '(finalizers)'], [true, '(queued finalizers)']]) {
    const wanted = (truth.finalizers ?? []).filter(f => f.queued === queued);
    if (!wanted.length) {
      continue;
    }
    const top = snapshot.root(name);
    const groups = top === undefined ? [] : snapshot.edgesOf(top).map(e => e.to).filter(n => /^[\d,]+ finalizers/.test(snapshot.name(n)));
    const distances = [top, ...groups].map(n => snapshot.distances(n, 0));
    const near = address => distances.some(distance => {
      const d = distance[snapshot.at(address)] ?? -1;
      return d > 0 && d <= 3;
    });
    report(`${wanted.length} ${queued ? 'queued' : 'registered'} finalizers are below ${name}`, complain(wanted, f => {
      if (f.closure !== '0x0' && !near(f.closure)) {
        return `the closure ${f.closure} is not below ${name}`;
      }
      return queued && !near(f.object) ? `the object ${f.object} is not below ${name}` : undefined;
    }));
  }
  for (const kind of ['defer', 'panic']) {
    const wanted = (truth.pending ?? []).filter(p => p.kind === kind);
    if (!wanted.length) {
      continue;
    }
    const distance = snapshot.distances(snapshot.root('(defers and panics)'), 0);
    report(`${wanted.length} objects of a ${kind} are below (defers and panics)`, complain(wanted, p => {
      const d = distance[snapshot.at(p.object)] ?? -1;
      return d < 1 || d > 4 ? `${p.object} of goroutine ${p.goroutine} is not` : undefined;
    }));
  }
}

function testSamples(snapshot, truth) {
  if (!truth.samples?.length) {
    return;
  }
  const name = `${truth.samples.length} sampled objects have their stacks`;
  if (!snapshot.functions.length) {
    skip(name, 'the snapshot has no allocation stacks');
    return;
  }
  // trace_tree is [id, function, count, size, [children]], outermost function first.
  const stacks = new Map();
  const walk = (tree, above) => {
    for (let i = 0; i + 5 <= tree.length; i += 5) {
      const stack = [snapshot.functions[tree[i + 1]], ...above];
      stacks.set(tree[i], stack);
      walk(tree[i + 4], stack);
    }
  };
  walk(snapshot.traceTree, []);
  report(name, complain(truth.samples, want => {
    const n = snapshot.at(want.object);
    const stack = n === undefined ? [] : stacks.get(snapshot.trace(n)) ?? [];
    let at = 0;
    for (const f of want.functions) {
      at = stack.indexOf(f, at) + 1;
      if (!at) {
        return `${want.object} was allocated by ${stack.join(' < ') || 'nobody'}, not by ${want.functions.join(' < ')}`;
      }
    }
    return undefined;
  }));
}

/** Compares the two snapshots by ids, as DevTools does. */
function testPair(before, after, truth) {
  report(`${truth.survivors.length} survivors have the same id and class in both snapshots`, complain(truth.survivors, o => {
    const [a, b] = [before.at(o.slot), after.at(o.slot)];
    if (a === undefined || b === undefined) {
      return `${o.name} at ${o.addr} is not in snapshot ${a === undefined ? 1 : 2}`;
    }
    return before.id(a) !== after.id(b) || before.name(a) !== after.name(b) ?
        `${o.name} at ${o.addr} is ${before.describe(a)}, then ${after.describe(b)}` : undefined;
  }));
  report(`${truth.new.length} objects are new in the second snapshot`, complain(truth.new, o => {
    const before_ = before.at(o.slot);
    return before_ !== undefined ? `${o.name} at ${o.addr} is ${before.describe(before_)} in the first` : wrongObject(after, o);
  }));
  report(`${truth.dead.length} objects are gone from the second snapshot`, complain(truth.dead, o => {
    const after_ = after.at(o.slot);
    return after_ !== undefined ? `${o.name} at ${o.addr} is ${after.describe(after_)} in the second` : wrongObject(before, o);
  }));

  const classOf = o => `${o.pointers ? 'ptr' : 'noptr'}${o.slot_size}`;
  const count = (from, other, name) => {
    let n = 0;
    for (let i = 0; i < from.count; ++i) {
      if (from.name(i) === name && from.type(i) === 'object' && !other.byId.has(from.id(i))) {
        ++n;
      }
    }
    return n;
  };
  for (const [list, from, other, verb] of [[truth.new, after, before, 'new'], [truth.dead, before, after, 'gone']]) {
    const classes = new Map();
    for (const o of list) {
      classes.set(classOf(o), (classes.get(classOf(o)) ?? 0) + 1);
    }
    // The runtime makes objects of its own, but not of these classes and not many.
    report(`the comparison counts ${[...classes].map(([c, n]) => `${n} ${c}`).join(', ')} ${verb}`, complain([...classes], ([c, n]) => {
      const counted = count(from, other, c);
      return counted < n || counted > n + 8 ? `${counted} of ${c}` : undefined;
    }));
  }
  report('ids of both snapshots have the same base', before.tool.id_base === after.tool.id_base &&
         before.tool.id_granule === after.tool.id_granule ? [] : [`${before.tool.id_base}, ${after.tool.id_base}`]);

  const synthetic = s => new Map([...Array(s.count).keys()].filter(n => s.type(n) === 'synthetic' && /^\(|^goroutine/.test(s.name(n)))
      .map(n => [s.name(n).replace(/ \[.*?\]/, ''), s.id(n)]));
  const first = synthetic(before);
  report('roots and goroutines keep their ids', complain([...synthetic(after)], ([name, id]) =>
      first.has(name) && first.get(name) !== id ? `${name} has ${first.get(name)}, then ${id}` : undefined));
}

const truth = JSON.parse(readFileSync(options.truth, 'utf8'));
for (const list of ['objects', 'edges', 'reach', 'globals', 'goroutines', 'finalizers', 'pending', 'samples', 'survivors', 'new', 'dead']) {
  truth[list] ??= [];
}
const snapshot = new Snapshot(options.snapshot);
if (options.dump) {
  testDump('the dump', options.dump);
}
testSnapshot('the snapshot', snapshot, truth);
if (truth.objects.length) {
  testObjects(snapshot, truth);
}
if (truth.edges.length) {
  testEdges(snapshot, truth);
}
testGlobals(snapshot, truth);
testGoroutines(snapshot, truth);
testFinalizers(snapshot, truth);
testSamples(snapshot, truth);
if (options.snapshot2) {
  if (options.dump2) {
    testDump('the second dump', options.dump2);
  }
  const after = new Snapshot(options.snapshot2);
  testSnapshot('the second snapshot', after, truth);
  testPair(snapshot, after, truth);
}
process.exitCode = failed ? 1 : 0;
