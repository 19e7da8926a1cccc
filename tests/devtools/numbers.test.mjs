// Loads snapshots with and without --numbers into DevTools' worker: each value must be seen beside its field, and everything
// else must be as without numbers: Summary, Statistics, retained sizes, dominators and Comparison.
//
//   numbers.test.mjs PLAIN.1 PLAIN.2 NUMBERS.1 NUMBERS.2      four .heapsnapshot of samples/leakserver, with --exe
//
// TAP on standard output. Without a Chromium, one test is skipped.

import assert from 'node:assert/strict';
import {findChromium, MemoryTab, TabTests} from './browser.mjs';
import {comparison, loadSnapshot} from './devtools.mjs';
import {end, skipAll, test} from '../tap.mjs';

const files = process.argv.slice(2);
if (files.length !== 4) {
  console.error('usage: numbers.test.mjs PLAIN.1 PLAIN.2 NUMBERS.1 NUMBERS.2');
  process.exit(2);
}
const [plain1, plain2, numbers1, numbers2] = await Promise.all(files.map(file => loadSnapshot(file)));
const plainRows = ({name, count, self, retained, distance, ids}) => ({name, count, self, retained, distance, ids});
const rows = snapshot => Object.values(snapshot.aggregates()).map(plainRows).sort((a, b) => (a.name < b.name ? -1 : 1));
const isNumber = node => node.type === 'number';

for (const [plain, numbers] of [[plain1, numbers1], [plain2, numbers2]]) {
  test('DevTools has no complaint', () => assert.deepEqual(numbers.problems, []));
  test('Summary and Statistics are those without numbers', () => {
    assert.deepEqual(rows(numbers), rows(plain));
    assert.deepEqual(numbers.statistics(), plain.statistics());
    assert.equal(numbers.totalSize, plain.totalSize);
  });
  test('all nodes but the numbers are those of the snapshot without, in their order', () => {
    assert.ok(numbers.nodeCount > plain.nodeCount + 1000);
    for (let i = 0; i < numbers.nodeCount; i++) {
      const node = numbers.node(i);
      assert.equal(isNumber(node), i >= plain.nodeCount);
      if (isNumber(node)) continue;
      const other = plain.node(i);
      for (const member of ['id', 'type', 'name', 'selfSize', 'retainedSize', 'distance']) assert.equal(node[member], other[member], `${node} ${member}`);
      assert.equal(node.dominator?.id, other.dominator?.id, `${node}: dominator`);
    }
  });
  test('numbers are as V8 writes them: one node for each text, which has no size and no edges', () => {
    const seen = new Set();
    for (let i = plain.nodeCount; i < numbers.nodeCount; i++) {
      const node = numbers.node(i);
      assert.ok(!seen.has(node.name), node.name);
      seen.add(node.name);
      assert.deepEqual([node.className, node.selfSize, node.retainedSize, node.edgeCount], ['(number)', 0, 0, 0]);
      assert.ok(node.retainers().every(({type, source}) => ['property', 'element'].includes(type) && source.type === 'object'), node.name);
    }
  });
}

/** Returns the numbers of an object, by field. */
const valuesOf = node => Object.fromEntries(node.edges().filter(({target}) => isNumber(target)).map(({name, target}) => [name, target.displayName]));

test('values are beside their fields', () => {
  const sessions = numbers2.nodesOfClass('main.Session');
  assert.equal(sessions.length, 2000);
  for (const session of sessions) {
    const values = valuesOf(session);
    assert.deepEqual(Object.keys(values), ['Started']);
    assert.match(values.Started, /^2026-11-20T17:11:4[45]\.\d+Z$/);
  }
  // Each preview has a width and as many pixels.
  const previews = numbers2.nodesOfClass('main.Preview');
  assert.ok(previews.length > 300);
  for (const preview of previews) assert.match(valuesOf(preview).Width, /^\d+$/);
  assert.ok(new Set(previews.map(preview => valuesOf(preview).Width)).size > 100);
});

test('numbers in maps are called by their keys', () => {
  const ports = numbers2.nodesOfClass('map[string]int entries').map(valuesOf).find(values => '["https"]' in values);
  assert.equal(ports['["https"]'], '443');
  assert.equal(ports['["ssh"]'], '22');
  assert.ok(Object.keys(ports).every(name => /^\["[a-z0-9]+"\]$/.test(name)), Object.keys(ports).join(' '));
});

test('Comparison is that without numbers: no number is new or deleted', () => {
  const table = (base, target) => Object.values(comparison(base, target)).map(row => ({...row})).sort((a, b) => (a.name < b.name ? -1 : 1));
  const shown = table(numbers1, numbers2);
  assert.deepEqual(shown, table(plain1, plain2));
  assert.ok(shown.length > 0 && !shown.some(({name}) => name === '(number)'));
});

test('a number has the same id in both', () => {
  const ids = snapshot => new Map([...snapshot.nodes()].filter(isNumber).map(node => [node.name, node.id]));
  const [one, other] = [ids(numbers1), ids(numbers2)];
  const both = [...one.keys()].filter(name => other.has(name));
  assert.ok(both.length > 500);
  for (const name of both) assert.equal(one.get(name), other.get(name), name);
});

test('native contexts have what they have without numbers', () => {
  const [shown, expected] = [numbers2, plain2].map(snapshot => snapshot.worker.getNativeContextSizes());
  assert.deepEqual(shown, expected);
  assert.ok(expected.nativeContexts.length > 10);
});

if (findChromium() === undefined) {
  skipAll('in a real Memory tab', 'no Chromium: run tools/setup check, or set CHROMIUM');
}
const tab = await MemoryTab.open();
const tests = new TabTests(tab);
try {
  await tab.load(files[2]);
  await tab.load(files[3]);
  await tab.select(1);
  await tests.test('Summary: an object shows the value of a number beside its field', async () => {
    await tab.filter('main.Bid');
    const [{id}] = await tab.expand(row => row.depth === 0 && row.name === 'main.Bid');
    const fields = await tab.expand(row => row.id === id);
    assert.match(fields.find(row => row.edge === 'Cents')?.object ?? 'nothing', /^\d+$/);
    assert.match(fields.find(row => row.edge === 'At')?.object ?? 'nothing', /^2026-11-20T/);
    await tab.filter('');
  });
  await tests.test('Summary and Comparison have no row for numbers', async () => {
    assert.ok(!(await tab.rows()).some(row => row.name === '(number)'));
    await tab.perspective('Comparison');
    assert.ok(!(await tab.rows()).some(row => row.name === '(number)'));
  });
} finally {
  await tab.close();
}
tests.end();
