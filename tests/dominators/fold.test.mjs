// Compares a folded snapshot with the whole one, both in DevTools' own worker: tests what folding promises
// (docs/snapshot-format.md).
//
//   fold.test.mjs WHOLE FOLDED... [-- WHOLE FOLDED...]...
//   fold.test.mjs --comparison FOLDED FOLDED
//
// The name of a folded snapshot says how many nodes it may have at most: NAME.NODES.heapsnapshot. TAP on standard output.

import assert from 'node:assert/strict';
import {basename} from 'node:path';
import {comparison, loadSnapshot} from '../devtools/devtools.mjs';
import {end, test} from '../tap.mjs';

function expect(condition, text) {
  assert.ok(condition, typeof text === 'function' && !condition ? text() : text);
}

/**
 * The class or type in a folded snapshot, which has no classes by what holds an array, no type for substrings, and does not say
 * whether folded stacks are detached.
 */
const asFolded = name => name.replace(/^(\[\](?:u?int\d*|uintptr|float\d+|complex\d+|bool)) \(.*\)$/s, '$1').replace('(sliced string)', '(string)')
  .replace(/^sliced string$/, 'string').replace(/^Detached /, '');

/** The sizes of classes, named as in a folded snapshot. */
function sizesOf(snapshot) {
  const sizes = {};
  for (const row of Object.values(snapshot.aggregates())) sizes[asFolded(row.name)] = (sizes[asFolded(row.name)] ?? 0) + row.self;
  return sizes;
}

const edgeText = ({type, name, target}) => `${type} ${name} → @${target.id}`;

/** Returns how often each item occurs, as a Map. */
function countOf(items) {
  const counts = new Map();
  for (const item of items) {
    counts.set(item, (counts.get(item) ?? 0) + 1);
  }
  return counts;
}

function compare(name, whole, folded, most) {
  const group = folded.nodesByName('(folded)')[0];
  // The nodes that stand for folded objects: by id, the name of the edge to them, which says for how many they stand.
  const countById = new Map(group.edges().filter(({type}) => type === 'weak').map(edge => [edge.target.id, edge.name]));
  const foldedNodes = [], kept = [];
  for (const node of folded.nodes()) {
    (countById.has(node.id) ? foldedNodes : kept).push(node);
  }

  test(`${name}: loads without a word, with ${folded.nodeCount} of ${whole.nodeCount} nodes`, () => {
    expect(folded.problems.length === 0, () => folded.problems[0]);
    expect(folded.nodeCount <= most, `more than ${most}`);
    expect(group.retainedSize === 0, 'the group of folded nodes retains something');
    expect(folded.root.edges().every(({target}) => target.type === 'synthetic'), 'the root holds an object');
    expect(countOf([...folded.nodes()].map(node => node.id)).size === folded.nodeCount, 'an id is there twice');
    for (const node of folded.nodes()) {
      expect(node.distance !== null, () => `${node} has no way from the root`);
    }
  });

  test(`${name}: sums, and sums of classes`, () => {
    expect(folded.totalSize === whole.totalSize, `${folded.totalSize} bytes, not ${whole.totalSize}`);
    const one = sizesOf(whole), other = sizesOf(folded);
    expect(Object.keys(one).sort().join('\n') === Object.keys(other).sort().join('\n'), 'other classes');
    for (const [name, size] of Object.entries(one)) expect(other[name] === size, `${name}: ${other[name]} bytes, not ${size}`);
    const statistics = [whole, folded].map(snapshot => JSON.stringify(snapshot.statistics()));
    expect(statistics[0] === statistics[1], () => `${statistics[1]}, not ${statistics[0]}`);
  });

  test(`${name}: ${kept.length} nodes that remain`, () => {
    for (const node of kept) {
      if (node.id === group.id) {
        continue;
      }
      const before = whole.nodeById(node.id);
      expect(before, () => `${node} is new`);
      for (const field of ['name', 'type', 'selfSize', 'retainedSize']) {
        const was = typeof before[field] === 'string' && node.type !== 'synthetic' ? asFolded(before[field]) : before[field];
        expect(node[field] === was, () => `${node}: ${field} is ${node[field]}, not ${was}`);
      }
      expect(node.dominator?.id === before.dominator?.id,
        () => `${node} is dominated by ${node.dominator}, not by ${before.dominator}`);
      expect(node.distance <= before.distance, () => `${node}: farther from the root`);
    }
  });

  test(`${name}: edges between them`, () => {
    const ids = new Set(kept.map(node => node.id));
    for (const node of kept) {
      if (node.id === group.id) {
        continue;
      }
      const own = ({target, name: edge, type}) =>
        ids.has(target.id) && target.id !== group.id && !(edge === '(folded)' && type === 'internal');
      const before = countOf(whole.nodeById(node.id).edges().filter(own).map(edgeText));
      const after = countOf(node.edges().filter(own).map(edgeText));
      expect(before.size === after.size, () => `${node} has ${after.size} different ones, not ${before.size}`);
      for (const [text, count] of before) {
        expect(after.get(text) === count, () => `${node} has ${after.get(text)} times ${text}, not ${count}`);
      }
    }
  });

  test(`${name}: ${foldedNodes.length} folded ones`, () => {
    let objects = 0;
    const keys = new Set();
    for (const node of foldedNodes) {
      const count = countById.get(node.id);
      expect(/^×\d{1,3}(,\d{3})*$/.test(count), () => `${node} stands for '${count}'`);
      objects += Number(count.slice(1).replaceAll(',', ''));
      expect(node.retainedSize === node.selfSize, () => `${node} retains something`);
      const edges = node.edges();
      expect(edges[0].type === 'weak' && edges[0].name === count && edges[0].target.id === group.id,
        () => `${node} does not say that it is folded`);
      expect(new Set(edges.map(edge => edge.target.id)).size === edges.length, () => `${node} has an edge twice`);
      expect(edges.slice(1).every(({type}) => type !== 'weak'), () => `${node} has a weak edge`);
      const key = `${node.dominator.id} ${node.className} ${node.type}`;
      expect(!keys.has(key) || folded.totalSize >= 2 ** 32, () => `${node}: there are two below ${node.dominator}`);
      keys.add(key);
      expect(!countById.has(node.dominator.id), () => `${node} is dominated by another folded one`);
    }
    expect(kept.length - 1 + objects === whole.nodeCount,
      `${kept.length - 1} nodes remain and ${objects} are folded of ${whole.nodeCount}`);
  });
}

/** Tests two dumps of one process, both folded: what was added and deleted of each class must match the difference in size. */
function compareFolded(name, one, other) {
  test(`${name}: Comparison of two that are folded`, () => {
    const rows = comparison(one, other), before = one.aggregates(), after = other.aggregates();
    let unchanged = 0;
    for (const node of other.nodes()) {
      unchanged += node.selfSize > 0 && one.nodeById(node.id)?.className === node.className ? 1 : 0;
    }
    expect(unchanged > 0, 'nothing is unchanged');
    for (const className of new Set([...Object.keys(before), ...Object.keys(after)])) {
      const difference = (after[className]?.self ?? 0) - (before[className]?.self ?? 0);
      const delta = rows[className]?.sizeDelta ?? 0;
      expect(delta === difference, `${className}: Size Delta is ${delta}, not ${difference}`);
    }
  });
}

const lists = [[]];
for (const argument of process.argv.slice(2)) {
  argument === '--' ? lists.push([]) : lists.at(-1).push(argument);
}
if (lists[0][0] === '--comparison') {
  const [, one, other] = lists.shift();
  compareFolded(`${basename(one)}, ${basename(other)}`, await loadSnapshot(one), await loadSnapshot(other));
}
for (const [file, ...files] of lists) {
  const whole = await loadSnapshot(file);
  for (const folded of files) {
    const [name, most] = /(.*)\.(\d+)\.heapsnapshot/.exec(basename(folded)).slice(1);
    compare(`${name} in ${most} nodes`, whole, await loadSnapshot(folded), Number(most));
  }
}
end();
