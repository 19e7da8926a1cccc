// Tests the oracle by itself: every dump of the directories given, and every case of the writer.
//
//   node selftest.mjs [DIRECTORY | DUMP]...
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { cases } from './cases.mjs';
import { parse } from './dump.mjs';
import { Heap, reachability } from './heap.mjs';
import { wrongClass } from './naming.mjs';
import { Tap } from './tap.mjs';
import { caseParts, writeFile } from './writer.mjs';

const hex = (n) => `0x${n.toString(16)}`;

/** The dumps in a list of files and directories. */
export function dumpsIn(args) {
  return args.flatMap((arg) => (fs.statSync(arg).isDirectory()
    ? fs.readdirSync(arg).filter((f) => /\.dump(\.gz)?$/.test(f)).sort().map((f) => path.join(arg, f)) : [arg]));
}

/** Tests what must hold for every dump that a Go program has written. */
function testDump(tap, file) {
  const dump = parse(file);
  const name = path.basename(file);
  const list = [...dump.objects.values()];
  const bytes = list.reduce((sum, o) => sum + o.size, 0);
  tap.ok(dump.complete && dump.end === dump.source.length, `${name}: Go ${dump.format}, EOF is the last byte`,
    [dump.error?.message ?? `EOF at ${dump.end} of ${dump.source.length}`]);
  testMemstats(tap, name, dump, list.length, bytes);
  const problems = [];
  if (list.length + dump.phantoms.length !== dump.counts.object) problems.push(`${dump.counts.object} records at ${list.length} addresses`);
  const heap = new Heap(dump);
  heap.sorted.forEach((o, i) => {
    const next = heap.sorted[i + 1];
    if (next && o.address + BigInt(o.size) > next.address) problems.push(`${hex(o.address)} overlaps ${hex(next.address)}`);
    if (o.address < dump.params.start || o.address >= dump.params.end) problems.push(`${hex(o.address)} is outside of the heap`);
  });
  const inside = (region, what) => {
    for (const f of region.fields ?? []) if (f.offset + dump.params.ptrSize > region.contents.declared) problems.push(`${what}: field at ${f.offset}`);
  };
  for (const o of list) inside(o, hex(o.address));
  for (const s of [...dump.data, ...dump.bss]) inside(s, 'segment');
  for (const g of dump.goroutines) {
    g.frames.forEach((f, i) => {
      inside(f, f.name);
      if (f.depth !== i) problems.push(`goroutine ${g.goid}: frame ${i} has depth ${f.depth}`);
    });
    if (g.frames.length && g.frames[0].sp !== g.sp) problems.push(`goroutine ${g.goid}: sp is not that of its first frame`);
  }
  for (const s of dump.samples) if (!dump.profs.has(s.prof)) problems.push(`sample of no record ${s.prof}`);
  tap.none(problems, `${name}: objects, frames and samples fit together`);
  const { must, may } = reachability(dump, heap);
  tap.ok(must.size <= may.size && may.size <= list.length, `${name}: ${must.size} to ${may.size} objects are reachable`);
  const c = dump.counts;
  tap.note(`${list.length} objects, ${bytes} bytes, ${dump.phantoms.length} phantoms, ${c.type ?? 0} types, ${c.itab ?? 0} itabs, `
    + `${dump.goroutines.length} goroutines, ${c.frame ?? 0} frames, ${dump.finalizers.length}+${dump.queued.length} finalizers, `
    + `${dump.samples.length} samples`);
}

function testMemstats(tap, name, dump, objects, bytes) {
  const m = dump.memstats;
  if (!m) return;
  const [wantObjects, wantBytes] = [Number(m.HeapObjects), Number(m.HeapAlloc)];
  const good = dump.layout.typed ? objects <= wantObjects && bytes <= wantBytes : objects === wantObjects && bytes === wantBytes;
  tap.ok(good, `${name}: objects and bytes ${dump.layout.typed ? 'do not exceed' : 'are'} those of memstats`,
    [`${objects} objects, ${bytes} bytes`, `${wantObjects} objects, ${wantBytes} bytes in memstats`]);
}

/** Tests what the reader finds in a case against what the case says of itself. */
function testCase(tap, name, file) {
  const { expect } = cases[name];
  const dump = parse(file);
  const heap = new Heap(dump);
  const wrong = [];
  const equal = (what, is, should) => {
    if (is !== should) wrong.push(`${what}: ${is}, should be ${should}`);
  };
  equal('format', dump.format, expect.format);
  equal('complete', dump.complete, expect.complete ?? true);
  if (dump.complete) equal('end', dump.end, dump.source.length);
  equal('objects', dump.objects.size, expect.objects);
  if (expect.repeatedTypes) equal('repeated types', dump.repeatedTypes, expect.repeatedTypes);
  const text = (list) => list.map(([from, offset, to]) => `${hex(from)}+${offset}→${hex(to)}`).sort();
  const edges = text(heap.sorted.flatMap((o) => heap.edges(o).map((e) => [o.address, e.offset, e.target.address])));
  const want = text(expect.edges);
  for (const e of edges) if (!want.includes(e)) wrong.push(`edge ${e} should not be`);
  for (const e of want) if (!edges.includes(e)) wrong.push(`edge ${e} is missing`);
  for (const [address, name] of Object.entries(expect.classes ?? {})) {
    const o = dump.objects.get(BigInt(address));
    const other = o ? wrongClass(dump, o, name) : 'no object';
    if (other !== null) wrong.push(`class of ${hex(BigInt(address))}: ${other}, should be ${name}`);
  }
  const { must, may } = reachability(dump, heap);
  for (const o of heap.sorted) {
    if ((expect.unclear ?? []).includes(o.address)) continue;
    const dead = expect.unreachable.includes(o.address);
    if (dead && may.has(o)) wrong.push(`${hex(o.address)} should be unreachable`);
    if (!dead && !must.has(o)) wrong.push(`${hex(o.address)} should be reachable`);
  }
  tap.none(wrong, `case ${name}: ${cases[name].about}`);
  if (dump.memstats) {
    testMemstats(tap, `case ${name}`, dump, dump.objects.size, heap.sorted.reduce((sum, o) => sum + o.size, 0));
  }
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const tap = new Tap();
  for (const file of dumpsIn(process.argv.slice(2))) testDump(tap, file);
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'oracle-'));
  try {
    for (const name of Object.keys(cases)) {
      const file = path.join(folder, name);
      const fd = fs.openSync(file, 'w');
      writeFile(fd, caseParts(name));
      fs.closeSync(fd);
      testCase(tap, name, file);
      fs.rmSync(file);
    }
  } finally {
    fs.rmSync(folder, { recursive: true });
  }
  tap.end();
}
