// Tests the verifier: a snapshot that is right passes, and one with a single thing wrong does not.
//
//   node mutations.mjs [DUMP]...        without arguments: the cases of the writer
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { cases } from './cases.mjs';
import { parse } from './dump.mjs';
import { reference, write } from './reference.mjs';
import { Tap } from './tap.mjs';
import { Case, verify, verifyPair } from './verify.mjs';
import { caseParts, writeFile } from './writer.mjs';

const objects = (s) => s.nodes.filter((n) => n.type === 'object' && n.id % 2 === 1);
const named = (s, pattern) => s.nodes.find((n) => n.type === 'synthetic' && pattern.test(n.name) && n.edges.some((e) => e.to.type === 'object'));
const stackOf = (s) => s.nodes.find((n) => n.type === 'native');
const placeOf = (s) => s.nodes.find((n) => n.type === 'synthetic' && /^[\d,]+ goroutines \[/.test(n.name));
const frameOf = (s) => s.nodes.filter((n) => /^goroutine/.test(n.name)).flatMap((n) => n.edges).find((e) => e.type === 'element' && e.to.edges.length)?.to;

// Each spoils a fresh snapshot, or returns false if the snapshot has nothing of the kind.
const MUTATIONS = {
  'a lost object': (s) => {
    const victim = objects(s).pop();
    s.nodes.splice(s.nodes.indexOf(victim), 1);
    for (const n of s.nodes) n.edges = n.edges.filter((e) => e.to !== victim);
  },
  'an object too many': (s) => void s.nodes.push({ type: 'object', name: 'noptr16', id: Math.max(...objects(s).map((n) => n.id)) + 1000, size: 0, edges: [] }),
  'an id twice': (s) => void (objects(s)[0].id = objects(s)[1].id),
  'an odd synthetic id': (s) => void (s.nodes[1].id = 4294967295),
  'a wrong size': (s) => void (objects(s)[0].size += 8),
  'a wrong class': (s) => void (objects(s)[0].name = 'main.Wrong'),
  'ptr for noptr': (s) => {
    const n = objects(s).find((o) => /^noptr/.test(o.name));
    return n ? void (n.name = n.name.replace('noptr', 'ptr')) : false;
  },
  'a lost edge': (s) => objects(s).find((n) => n.edges.some((e) => e.to.id % 2))?.edges.shift() ?? false,
  'an invented edge': (s) => void objects(s)[0].edges.push({ type: 'property', label: 'f4096', to: objects(s)[1] }),
  'an edge to the wrong object': (s) => {
    const edge = objects(s).flatMap((n) => n.edges).find((e) => e.to.id % 2);
    return edge ? void (edge.to = objects(s).find((n) => n !== edge.to)) : false;
  },
  'an edge at the wrong offset': (s) => {
    const edge = objects(s).flatMap((n) => n.edges).find((e) => /^f\d+$/.test(e.label));
    return edge ? void (edge.label = `f${Number(edge.label.slice(1)) + 1}`) : false;
  },
  'an edge of the wrong type': (s) => {
    const edge = objects(s).flatMap((n) => n.edges).find((e) => /^f\d+$/.test(e.label));
    return edge ? void (edge.type = 'weak') : false;
  },
  'a goroutine\'s edge to what the program holds that is weak': (s) => {
    const held = new Set(s.nodes.filter((n) => /^(data|bss)$/.test(n.name)).flatMap((n) => n.edges.map((e) => e.to)));
    const edge = frameOf(s)?.edges.find((e) => e.type === 'property' && held.has(e.to));
    return edge ? void (edge.type = 'weak') : false;
  },
  '(globals) below (GC roots)': (s) => {
    const edge = s.nodes[0].edges.find((e) => e.type === 'shortcut');
    return void Object.assign(edge, { type: 'element', label: 1 });
  },
  'a lost global': (s) => named(s, /^(data|bss)$/)?.edges.pop() ?? false,
  'a global at the wrong address': (s) => {
    const n = named(s, /^(data|bss)$/);
    return n ? void (n.edges[0].label += '8') : false;
  },
  'a lost frame': (s) => s.nodes.find((n) => /^goroutine/.test(n.name) && n.edges.some((e) => e.type === 'element'))?.edges.pop() ?? false,
  'a lost word of a frame': (s) => frameOf(s)?.edges.shift() ?? false,
  'a misnamed frame': (s) => {
    const n = frameOf(s);
    return n ? void (n.name += 'x') : false;
  },
  'a lost stack': (s) => {
    const victim = stackOf(s);
    if (!victim) return false;
    s.nodes.splice(s.nodes.indexOf(victim), 1);
    for (const n of s.nodes) n.edges = n.edges.filter((e) => e.to !== victim);
    return undefined;
  },
  'a frame beside its stack': (s) => {
    const stack = s.nodes.find((n) => n.type === 'native' && n.edges.some((e) => e.type === 'element'));
    if (!stack) return false;
    const goroutine = s.nodes.find((n) => n.edges.some((e) => e.to === stack && e.type === 'internal'));
    goroutine.edges.push(stack.edges.pop());
  },
  'a stack that is too large': (s) => (stackOf(s) ? void (stackOf(s).size += 2048) : false),
  'a stack in another place': (s) => (stackOf(s) ? void (stackOf(s).name = 'goroutine stack [nowhere]') : false),
  'a goroutine out of its place': (s) => {
    const place = placeOf(s);
    return place ? void s.nodes.find((n) => n.name === '(goroutines)').edges.push(place.edges.pop()) : false;
  },
  'a wrong number of goroutines': (s) => {
    const place = placeOf(s);
    return place ? void (place.name = place.name.replace(/^\S+/, '1,000')) : false;
  },
  'a lost finalizer': (s) => named(s, /^\(finalizers\)$/)?.edges.shift() ?? false,
  'a lost queued finalizer': (s) => named(s, /^\(queued/)?.edges.shift() ?? false,
  'a lost defer or panic': (s) => named(s, /^\(defers/)?.edges.shift() ?? false,
  'a lost other root': (s) => named(s, /^\(other/)?.edges.shift() ?? false,
  'a root from nowhere': (s) => void s.nodes[1].edges.push({ type: 'element', label: 99, to: objects(s)[0] }),
  'lost unreachable objects': (s) => named(s, /^\(unreachable/)?.edges.splice(0) ?? false,
  'a reachable object called unreachable': (s) => {
    const n = objects(s).find((o) => s.nodes.some((r) => /^(data|bss)$/.test(r.name) && r.edges.some((e) => e.to === o)));
    return n ? void s.nodes.find((u) => u.name === '(unreachable)').edges.push({ type: 'element', label: 0, to: n }) : false;
  },
  'a lone edge to a site': (s) => void objects(s)[0].edges.push({ type: 'weak', label: 'allocated at', to: s.nodes[0] }),
  'a shifted base': (s) => void (s.key.id_base = `0x${(BigInt(s.key.id_base) + (1n << 26n)).toString(16)}`),
  'goroutines without their states': (s) => {
    const list = s.nodes.filter((g) => /^goroutine .*\[\w+/.test(g.name) && !g.edges.some((e) => e.to.name === 'runtime/debug.WriteHeapDump'));
    for (const n of list) n.name = n.name.replace(/\[.*\]/, '[]');
    return list.length > 0 ? undefined : false;
  },
};

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'oracle-'));
const snapshotFile = path.join(folder, 'x.heapsnapshot');
const quiet = () => new Tap(() => {});
const tap = new Tap();
const applied = new Map(Object.keys(MUTATIONS).map((name) => [name, 0]));

function failures(dump, snapshot) {
  const lines = [];
  const inner = new Tap((line) => lines.push(line));
  fs.writeFileSync(snapshotFile, write(snapshot));
  verify(inner, dump, snapshotFile);
  return lines.filter((line, i) => /^not ok/.test(line) || (/^#/.test(line) && lines.slice(0, i).some((l) => /^not ok/.test(l))));
}

function test(name, dumpFile) {
  const dump = parse(dumpFile);
  tap.none(failures(dump, reference(dump)), `${name}: the reference passes`);
  if (dump.objects.size < 2) return;
  const missed = [];
  for (const [what, spoil] of Object.entries(MUTATIONS)) {
    const snapshot = reference(dump);
    if (spoil(snapshot) === false) continue;
    applied.set(what, applied.get(what) + 1);
    if (failures(dump, snapshot).length === 0) missed.push(what);
  }
  tap.none(missed, `${name}: every mutation fails`);
}

// Heaps of more than 16 GiB and arenas terabytes apart need a scheme of ids that the reference does not have.
const SKIP = /^(far-apart|heap-60gib|heap-1tib|arenas-|pair-.*)/;
const files = process.argv.slice(2);
try {
  for (const file of files) test(path.basename(file), file);
  if (files.length === 0) {
    const pair = [];
    for (const name of Object.keys(cases)) {
      if (SKIP.test(name)) continue;
      const file = path.join(folder, `${name}.dump`);
      const fd = fs.openSync(file, 'w');
      writeFile(fd, caseParts(name));
      fs.closeSync(fd);
      test(name, file);
      if (name.startsWith('pair.')) {
        fs.writeFileSync(`${file}.heapsnapshot`, write(reference(parse(file))));
        pair.push([file, `${file}.heapsnapshot`]);
      } else {
        fs.rmSync(file);
      }
    }
    const good = quiet();
    verifyPair(good, ...pair.map((files) => new Case(...files)));
    tap.equal(good.failed, 0, 'pair: two references of one process agree');
    const s = reference(parse(pair[1][0]));
    // every id moves by one granule
    for (const n of objects(s)) n.id += 2;
    fs.writeFileSync(pair[1][1], write(s));
    const bad = quiet();
    verifyPair(bad, ...pair.map((files) => new Case(...files)));
    tap.ok(bad.failed > 0, 'pair: ids that moved fail');
    tap.none([...applied].filter(([, n]) => n === 0).map(([what]) => what), 'every mutation was tried');
  }
} finally {
  fs.rmSync(folder, { recursive: true });
}
tap.end();
