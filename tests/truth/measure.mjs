// Measures how much of a heap a snapshot types, and how much of that is right:
//
//   measure.mjs --truth T --dump D --snapshot S [--top N] [--json FILE] [--min any=99,edges=99,wrong=0.01]
//   measure.mjs --pair --truth T --dump D --snapshot S --truth2 T2 --dump2 D2 --snapshot2 S2 [--top N] [--json FILE]
//
// T is the truth that tests/truth/record wrote beside D; S is made of D with --exe. All shares are of the objects that
// the root reaches over edges that are not weak, except through (unreachable). --pair counts the surviving objects that
// change their class. The exit status is 1 if a share is below --min (for wrong: above). Large heaps need node's
// --max-old-space-size=8000.
import fs from 'node:fs';
import { parseArgs } from 'node:util';
import { Judge, claimOf } from './judge.mjs';
import { allocations, reachable, readDump, readSnapshot, readTruth } from './readers.mjs';

const text = { type: 'string' };
const { values: options } = parseArgs({ options: { truth: text, dump: text, snapshot: text, truth2: text, dump2: text,
  snapshot2: text, top: text, json: text, min: text, pair: { type: 'boolean' } } });
if (!options.truth || !options.dump || !options.snapshot || (options.pair && !options.snapshot2)) {
  console.error(fs.readFileSync(new URL(import.meta.url), 'utf8').split('\n').slice(0, 9).map((l) => l.slice(3)).join('\n'));
  process.exit(2);
}
const top = Number(options.top ?? 25);
const percent = (a, b) => (b ? (100 * a / b).toFixed(a === b ? 0 : 3) : '–').padStart(7);
const cut = (s, n) => (s.length > n ? `${s.slice(0, n - 1)}…` : s);
const hex = (n) => `0x${n.toString(16)}`;

function open(truthFile, dumpFile, snapshotFile) {
  const dump = readDump(dumpFile), truth = readTruth(truthFile), snapshot = readSnapshot(snapshotFile);
  const allocation = allocations(dump, truth);
  const judge = new Judge(truth, dump, allocation);
  // The dump's object of each node, or -1 for nodes that are no objects.
  const object = new Int32Array(snapshot.count).fill(-1);
  for (let n = 0; n < snapshot.count; n++) if (snapshot.isObject(n)) object[n] = dump.at(snapshot.address(n));
  const claims = new Map();
  const claim = (n) => {
    const guess = snapshot.isGuess(n), part = snapshot.partOf(n);
    const number = (snapshot.node.name[n] * 32 + snapshot.node.type[n]) * 2 + guess, key = part ? `${number} ${part}` : number;
    let found = claims.get(key);
    if (!found) claims.set(key, found = claimOf(snapshot.className(n), snapshot.nodeTypes[snapshot.node.type[n]], guess, part));
    return found;
  };
  return { dump, truth, snapshot, allocation, judge, object, claim };
}

/** The rows of a table, by key, each with examples and the edges that lead to its objects. */
class Table {
  constructor() { this.rows = new Map(); }
  add(key, n, size) {
    let row = this.rows.get(key);
    if (!row) this.rows.set(key, row = { key, count: 0, bytes: 0, examples: [], owners: new Map() });
    row.count++;
    row.bytes += size;
    if (row.examples.length < 3) row.examples.push(n);
    return row;
  }
  print(title, { snapshot, walk }) {
    const rows = [...this.rows.values()].sort((a, b) => b.count - a.count || (a.key < b.key ? -1 : 1));
    if (rows.length === 0) return;
    console.log(`\n${title} (${rows.length} kinds)`);
    for (const row of rows.slice(0, top)) {
      console.log(`${String(row.count).padStart(9)} ${String(row.bytes).padStart(11)} B  ${cut(row.key, 200)}`);
      const owners = [...row.owners].sort((a, b) => b[1] - a[1]).slice(0, 3);
      for (const [owner, count] of owners) console.log(`                            ${String(count).padStart(7)} × ${cut(owner, 150)}`);
      const one = (n) => `${hex(snapshot.address(n))} @${snapshot.node.id[n]}` +
        (walk.from[n] >= 0 && snapshot.isObject(walk.from[n]) ? ` from ${hex(snapshot.address(walk.from[n]))}` : '');
      console.log(`                            e.g. ${row.examples.map(one).join(', ')}`);
    }
    if (rows.length > top) console.log(`          … ${rows.length - top} more`);
  }
}

function measure() {
  const heap = open(options.truth, options.dump, options.snapshot);
  const { dump, snapshot, judge, object, claim } = heap;
  const { node, edge } = snapshot;
  const walk = reachable(snapshot);
  heap.walk = walk;
  const sum = { objects: 0, bytes: 0, pointerObjects: 0, typed: 0, anyPointer: 0, typedPointer: 0, typedBytes: 0, partly: 0, guess: 0, noRow: 0,
    any: 0, edges: 0, named: 0, lost: 0 };
  const verdicts = { right: 0, short: 0, unverified: 0, layout: 0, shape: 0, wrong: 0 };
  const guesses = { right: 0, short: 0, unverified: 0, layout: 0, shape: 0, wrong: 0 };
  const parts = { ...guesses };
  const tables = { wrong: new Table(), shape: new Table(), layout: new Table(), short: new Table(), guess: new Table(), partly: new Table(),
    untyped: new Table(), edges: new Table() };
  const owner = (n) => (walk.from[n] < 0 ? '' : `${cut(snapshot.className(walk.from[n]), 90)} . ${snapshot.edgeName(walk.via[n])}`);
  const note = (table, key, n) => {
    const row = table.add(key, n, node.size[n]);
    if (row.owners.size < 2000 || row.owners.has(owner(n))) row.owners.set(owner(n), (row.owners.get(owner(n)) ?? 0) + 1);
  };
  const unnamed = /^f\d+\??(?: \(|$)/;
  const nameless = new Uint8Array(snapshot.strings.length);
  snapshot.strings.forEach((s, i) => { nameless[i] = unnamed.test(s) ? 1 : 0; });
  const weak = snapshot.edgeTypes.indexOf('weak'), shortcut = snapshot.edgeTypes.indexOf('shortcut'), element = snapshot.edgeTypes.indexOf('element');

  for (const n of walk.order) {
    if (!snapshot.isObject(n)) continue;
    const o = object[n];
    if (o < 0) {
      if (!/\(continued\)$/.test(snapshot.className(n))) sum.lost++;
      continue;
    }
    const c = claim(n), size = node.size[n];
    sum.objects++;
    sum.bytes += size;
    sum.pointerObjects += dump.pointers[o];
    if (heap.allocation.row[o] < 0) sum.noRow++;
    if (c.kind === 'untyped') {
      note(tables.untyped, `${snapshot.className(n)}, truth ${judge.truthName(o)}`, n);
    } else {
      const { verdict, truth } = judge.judge(o, c, node.name[n]);
      sum.any++;
      sum.anyPointer += dump.pointers[o];
      const key = `${snapshot.className(n)}${c.kind === 'string' ? ' (string)' : ''}, truth ${truth}`;
      if (c.kind === 'partly') {
        sum.partly++;
        parts[verdict]++;
        if (verdict === 'right' || verdict === 'short') sum.typedBytes += size;
        note(tables.partly, key, n);
      } else {
        sum.typed++;
        sum.typedPointer += dump.pointers[o];
        sum.typedBytes += size;
        if (c.guess) {
          sum.guess++;
          guesses[verdict]++;
          note(tables.guess, `${verdict}: ${key}`, n);
        } else {
          verdicts[verdict]++;
          if (verdict in tables) note(tables[verdict], c.kind === 'string' ? `(string), truth ${truth}` : key, n);
        }
      }
    }
    for (let e = node.first[n]; e < node.first[n + 1]; e++) {
      if (edge.type[e] === weak || edge.type[e] === shortcut || !snapshot.isObject(edge.to[e])) continue;
      sum.edges++;
      const named = edge.type[e] === element ? c.kind !== 'untyped' : !nameless[edge.name[e]];
      if (named) sum.named++;
      else tables.edges.add(`${cut(c.kind === 'string' ? '(string)' : snapshot.className(n), 80)} . ${edge.type[e] === element ? '[…]' : snapshot.edgeName(e)}` +
        (c.kind === 'untyped' ? `, truth ${judge.truthName(o)}` : ''), n, 0);
    }
  }

  const verifiable = verdicts.right + verdicts.short + verdicts.layout + verdicts.shape + verdicts.wrong;
  const line = (label, a, b, more = '') => console.log(`${label.padEnd(34)} ${percent(a, b)} %  ${a} of ${b}${more}`);
  console.log(`${options.snapshot}: ${heap.truth.header.go} ${heap.truth.header.goarch}`);
  line('objects with a typed region (any)', sum.any, sum.objects);
  line('objects typed', sum.typed, sum.objects, `, ${sum.guess} of them guessed; ${sum.partly} more in part`);
  line('with pointers, a typed region', sum.anyPointer, sum.pointerObjects);
  line('with pointers, typed', sum.typedPointer, sum.pointerObjects);
  line('bytes in objects typed', sum.typedBytes, sum.bytes);
  line('edges named by field', sum.named, sum.edges);
  line('wrong, of those with a truth', verdicts.wrong + verdicts.shape, verifiable, `; of these ${verdicts.shape} have the right words under another name`);
  line('same layout: cannot be decided', verdicts.layout, verifiable);
  line('right without the full import path', verdicts.short, verifiable);
  line('not verifiable (bytes, tiny blocks)', verdicts.unverified, sum.typed - sum.guess);
  const show = (v) => Object.entries(v).filter(([, n]) => n).map(([k, n]) => `${n} ${k}`).join(', ') || 'none';
  console.log(`guesses: ${show(guesses)}\nparts:   ${show(parts)}`);
  if (sum.lost) console.log(`${sum.lost} nodes with an object's id are in no object of the dump`);
  console.log(`${sum.noRow} objects without a known allocation`);
  tables.wrong.print('WRONG: class, truth', heap);
  tables.shape.print('WRONG, but with the same words: class, truth', heap);
  tables.layout.print('same layout', heap);
  tables.short.print('right, but not the full import path', heap);
  tables.guess.print('guesses', heap);
  tables.partly.print('typed in part', heap);
  tables.untyped.print('UNTYPED', heap);
  tables.edges.print('edges without a field', heap);

  const result = { any: 100 * sum.any / sum.objects, typed: 100 * sum.typed / sum.objects, pointers: 100 * sum.anyPointer / sum.pointerObjects,
    whole: 100 * sum.typedPointer / sum.pointerObjects,
    bytes: 100 * sum.typedBytes / sum.bytes, edges: 100 * sum.named / sum.edges,
    wrong: verifiable ? 100 * (verdicts.wrong + verdicts.shape) / verifiable : 0 };
  if (options.json) fs.writeFileSync(options.json, JSON.stringify({ ...result, sum, verdicts, guesses, parts }, null, 1));
  for (const limit of (options.min ?? '').split(',').filter(Boolean)) {
    const [name, value] = limit.split('=');
    const good = name === 'wrong' ? result[name] <= Number(value) : result[name] >= Number(value);
    if (!good) {
      console.log(`# ${name} is ${result[name].toFixed(4)} %, should be ${name === 'wrong' ? 'at most' : 'at least'} ${value} %`);
      process.exitCode = 1;
    }
  }
}

function pair() {
  const a = open(options.truth, options.dump, options.snapshot);
  const b = open(options.truth2, options.dump2, options.snapshot2);
  const reachedA = reachable(a.snapshot), reachedB = reachable(b.snapshot);
  const byId = new Map();
  for (let n = 0; n < a.snapshot.count; n++) if (a.object[n] >= 0 && reachedA.reached[n]) byId.set(a.snapshot.node.id[n], n);
  let survived = 0, changed = 0, reused = 0;
  const table = new Table();
  for (const m of reachedB.order) {
    if (b.object[m] < 0) continue;
    const n = byId.get(b.snapshot.node.id[m]);
    if (n === undefined) continue;
    const r = a.allocation.row[a.object[n]], s = b.allocation.row[b.object[m]];
    if (r < 0 || s < 0 || a.truth.index[r] !== b.truth.index[s]) {
      reused++;
      continue;
    }
    survived++;
    const was = `${a.snapshot.nodeTypes[a.snapshot.node.type[n]]} ${a.snapshot.className(n)}`;
    const is = `${b.snapshot.nodeTypes[b.snapshot.node.type[m]]} ${b.snapshot.className(m)}`;
    if (was !== is) {
      changed++;
      table.add(`${was} → ${is}, truth ${b.judge.truthName(b.object[m])}`, m, 0);
    }
  }
  console.log(`survivors that change their class  ${percent(changed, survived)} %  ${changed} of ${survived}; ${reused} more ids had another allocation`);
  table.print('changed', { snapshot: b.snapshot, walk: reachedB });
  if (options.json) fs.writeFileSync(options.json, JSON.stringify({ changed: 100 * changed / survived, survived }, null, 1));
  const limit = /changed=([\d.]+)/.exec(options.min ?? '');
  if (limit && 100 * changed / survived > Number(limit[1])) process.exitCode = 1;
}

if (options.pair) pair();
else measure();
