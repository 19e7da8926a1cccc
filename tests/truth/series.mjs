// Checks whether the ids of a series tell which objects survived, against the allocator's log:
//
//   series.mjs DIRECTORY N M [--min found=98,apart=98,lost=0.1] [--unnamed CLASS]
//
// For dump N, and M, the next one, DIRECTORY has N.dump; N.truth; N.heapsnapshot, which was converted by itself and whose ids
// are addresses; series/N.heapsnapshot, with the same nodes; and N.counts: {CLASS: {All, New}}, which the program says of its
// own classes. Among the objects whose address had one of the same class in N, this counts how many new ones have a new id
// (found), and how many survivors have lost theirs. If one new object is taken for the old one, those that hang together with it
// may be, too; apart is the share that is found if such a group of mistakes counts as one. No object of the CLASS of --unnamed has
// its name. TAP on standard output.
import fs from 'node:fs';
import { allocations, readDump, readSnapshot, readTruth, reachable } from './readers.mjs';

const [directory, before, after, , min = 'found=98,apart=98,lost=0.1', , unnamed] = process.argv.slice(2);
const limit = Object.fromEntries(min.split(',').map((one) => one.split('=')).map(([name, value]) => [name, Number(value)]));

function open(n) {
  const dump = readDump(`${directory}/${n}.dump`), truth = readTruth(`${directory}/${n}.truth`);
  const alone = readSnapshot(`${directory}/${n}.heapsnapshot`), series = readSnapshot(`${directory}/series/${n}.heapsnapshot`);
  if (alone.count !== series.count) throw new Error(`dump ${n}: ${series.count} nodes in the series, ${alone.count} by itself`);
  const { row } = allocations(dump, truth);
  // The number of each node's allocation in the process, or -1.
  const allocation = new Float64Array(alone.count).fill(-1);
  for (let i = 0; i < alone.count; i++) {
    const object = alone.isObject(i) ? dump.at(alone.address(i)) : -1;
    if (object >= 0 && row[object] >= 0) allocation[i] = truth.index[row[object]];
  }
  const classOf = (i) => (alone.nodeTypes[alone.node.type[i]].endsWith('string') ? '(string)' : alone.className(i));
  const counts = JSON.parse(fs.readFileSync(`${directory}/${n}.counts`, 'utf8'));
  return { alone, series, allocation, classOf, counts, reached: reachable(alone).reached };
}

let number = 0;
function tap(good, what, remarks = []) {
  console.log(`${good ? 'ok' : 'not ok'} ${++number} - ${what}`);
  if (good) return;
  process.exitCode = 1;
  for (const remark of remarks) console.log(`# ${remark}`);
}

const a = open(before), b = open(after);
const byAddress = new Map();
for (let i = 0; i < a.alone.count; i++) if (a.allocation[i] >= 0) byAddress.set(a.alone.node.id[i], i);

/** Returns in how many groups of nodes that are linked by edges, in either direction, the nodes of a snapshot fall. */
function groupsOf(nodes, { node, edge }) {
  const group = new Map(nodes.map((n) => [n, n]));
  const head = (n) => {
    while (group.get(n) !== n) group.set(n, n = group.get(group.get(n)));
    return n;
  };
  let count = nodes.length;
  for (const n of nodes) {
    for (let e = node.first[n]; e < node.first[n + 1]; e++) {
      if (!group.has(edge.to[e]) || head(edge.to[e]) === head(n)) continue;
      group.set(head(edge.to[e]), head(n));
      count--;
    }
  }
  return count;
}

const missed = [];
const sums = { kept: 0, lost: 0, found: 0, missed: 0 }, classes = { lost: new Map(), missed: new Map() };
for (let i = 0; i < b.alone.count; i++) {
  const was = b.allocation[i] >= 0 && b.reached[i] ? byAddress.get(b.alone.node.id[i]) : undefined;
  if (was === undefined || !a.reached[was] || a.classOf(was) !== b.classOf(i)) continue;
  const survived = a.allocation[was] === b.allocation[i], same = a.series.node.id[was] === b.series.node.id[i];
  const what = survived ? (same ? 'kept' : 'lost') : same ? 'missed' : 'found';
  sums[what]++;
  if (what === 'missed') missed.push(i);
  classes[what]?.set(b.classOf(i), (classes[what].get(b.classOf(i)) ?? 0) + 1);
}
const percent = (part, other) => (part + other === 0 ? 0 : 100 * part / (part + other));
const list = (map) => [...map].sort((x, y) => y[1] - x[1]).slice(0, 12).map(([name, count]) => `${count} ${name}`);
const groups = groupsOf(missed, b.alone);
const found = percent(sums.found, sums.missed), apart = percent(sums.found, groups), lost = percent(sums.lost, sums.kept);
tap(sums.found + sums.missed > 100 && found >= limit.found && apart >= limit.apart,
  `${found.toFixed(2)} % of ${sums.found + sums.missed} reused slots are found, the others are ${groups} mistakes, dump ${before} to ${after}`,
  list(classes.missed));
tap(sums.kept > 1000 && lost <= limit.lost, `${lost.toFixed(4)} % of ${sums.kept + sums.lost} survivors are lost, dump ${before} to ${after}`,
  list(classes.lost));

// Compares by ids, as do DevTools' Comparison and its filter "allocated between".
const ids = (s) => {
  const of = new Map();
  for (let i = 0; i < s.alone.count; i++) {
    if (!s.alone.isObject(i) || !s.reached[i]) continue;
    if (!of.has(s.classOf(i))) of.set(s.classOf(i), new Set());
    of.get(s.classOf(i)).add(s.series.node.id[i]);
  }
  return of;
};
const was = ids(a), is = ids(b);
let largest = 0;
for (let i = 0; i < a.series.count; i++) largest = Math.max(largest, a.series.node.id[i]);
for (const [name, { All: all, New: fresh }] of Object.entries(b.counts)) {
  const of = is.get(name) ?? new Set(), old = was.get(name) ?? new Set();
  if (name === unnamed) {
    tap(of.size === 0 && old.size === 0, `${name} has no name, dump ${before} to ${after}`, [`${of.size} have`]);
    continue;
  }
  const added = [...of].filter((id) => !old.has(id)).length, deleted = [...old].filter((id) => !of.has(id)).length;
  const between = [...of].filter((id) => id > largest).length, gone = a.counts[name].All - (all - fresh);
  // A survivor that is lost counts as one more object added and one more deleted, a reused slot that is not found as one less.
  const more = (classes.lost.get(name) ?? 0) - (classes.missed.get(name) ?? 0);
  tap(of.size === all && added === fresh + more && deleted === gone + more && between === added,
    `${name}: +${fresh} −${gone} of ${all}, dump ${before} to ${after}${more === 0 ? '' : `, but for ${more}`}`,
    [`+${added} −${deleted} of ${of.size}; ${between} allocated between; ${more} more are to be expected`]);
}
