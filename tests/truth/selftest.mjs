// Tests the judge: selftest.mjs TRUTH DUMP SNAPSHOT, where SNAPSHOT is of DUMP and untyped. With the truth as classes, all
// verdicts must be right; with spoiled classes, all must be wrong. TAP on standard output.
import { Judge, claimOf } from './judge.mjs';
import { allocations, readDump, readSnapshot, readTruth, reachable } from './readers.mjs';

const [truthFile, dumpFile, snapshotFile] = process.argv.slice(2);
let failed = false;
const tap = (good, what, notes = []) => {
  failed ||= !good;
  console.log(`${good ? 'ok' : 'not ok'} - ${what}`);
  if (!good) notes.slice(0, 10).forEach((n) => console.log(`# ${n}`));
};

const truth = readTruth(truthFile), dump = readDump(dumpFile), snapshot = readSnapshot(snapshotFile);
const allocation = allocations(dump, truth);
const judge = new Judge(truth, dump, allocation);
const objects = [];
const walk = reachable(snapshot);
for (const n of walk.order) if (snapshot.isObject(n)) objects.push(dump.at(snapshot.address(n)));

tap(objects.length > 1000 && objects.every((o) => o >= 0), `${objects.length} reachable objects are in the dump`);
const without = objects.filter((o) => allocation.row[o] < 0);
tap(without.length === 0, 'each has an allocation', without.map((o) => `0x${dump.address[o].toString(16)} of ${dump.size[o]} bytes`));
const sizes = objects.filter((o) => allocation.row[o] >= 0 && truth.size[allocation.row[o]] > dump.size[o]);
tap(sizes.length === 0, 'no allocation is larger than its slot', sizes.map((o) => `0x${dump.address[o].toString(16)}`));

// Go itself keeps the types of some objects, in malloc headers: this checks the log independently.
const minor = Number(/^go1\.(\d+)/.exec(truth.header.go)[1]);
const low = dump.pointerSize === 8 ? 512 : 128;
const headers = minor < 22 ? [] : objects.filter((o) => dump.pointers[o] && dump.size[o] > low && dump.size[o] <= 32768);
const differing = headers.filter((o) => judge.byAddress.get(dump.word(o, 0)) !== truth.type[allocation.row[o]]);
tap(differing.length === 0 && (minor < 22 || headers.length > 10), `the types of ${headers.length} malloc headers are the log's`,
  differing.map((o) => `0x${dump.address[o].toString(16)}: ${judge.truthName(o)}`));
// A type without pointers is in a slot without pointers, and the other way round.
const mixed = objects.filter((o) => {
  const t = allocation.row[o] < 0 ? -1 : truth.type[allocation.row[o]];
  return t >= 0 && allocation.parts[o] === 0 && truth.types[t].pointers !== (dump.pointers[o] === 1);
});
tap(mixed.length === 0, 'types with pointers are where the dump has pointers', mixed.map((o) => `0x${dump.address[o].toString(16)}: ${judge.truthName(o)}`));

const verdicts = (claim) => {
  const by = new Map();
  objects.forEach((o) => {
    const name = judge.truthName(o);
    const c = claim(o, name);
    if (!c) return;
    const { verdict } = judge.judge(o, c, name);
    if (!by.has(verdict)) by.set(verdict, new Map());
    by.get(verdict).set(`${c.name}, truth ${name}`, (by.get(verdict).get(`${c.name}, truth ${name}`) ?? 0) + 1);
  });
  return by;
};
const list = (by, ...names) => names.flatMap((v) => [...by.get(v) ?? []].map(([k, n]) => `${n} × ${v}: ${k}`));
const bare = (name) => name.startsWith('(');
const good = verdicts((o, name) => (bare(name) ? { kind: 'string', name: 'string', guess: false } : claimOf(name, 'object')));
const bad = list(good, 'wrong', 'layout', 'shape', 'short').filter((l) => !/\(tiny block\)|chan \?/.test(l));
tap(bad.length === 0 && good.get('right').size > 50, `the truth is right in ${good.get('right')?.size} ways`, bad);
judge.cache.clear();
const wrong = verdicts((o, name) => (bare(name) ? null : claimOf(`x${name}`, 'object')));
const notWrong = list(wrong, 'right', 'short');
tap(notWrong.length === 0, 'another name is wrong', notWrong);
judge.cache.clear();
// An object with pointers is no text.
const texts = verdicts((o, name) => (bare(name) || !dump.pointers[o] ? null : { kind: 'string', name: 'string', guess: false }));
tap(list(texts, 'right', 'short', 'layout', 'shape', 'unverified').length === 0, 'an object with pointers is no string',
  list(texts, 'right', 'short', 'layout', 'shape', 'unverified'));
process.exitCode = failed ? 1 : 0;
