// Tests programs other than DevTools that read heap snapshots, with our snapshots:
//
//   readers.test.mjs LEAK.1.heapsnapshot LEAK.2.heapsnapshot      of samples/leakserver, converted together, with --exe
//
// VS Code's parser, memlab and heapsnapshot-parser see the nodes that DevTools' own worker sees; the first two also compute
// retained sizes. TAP on standard output.

import assert from 'node:assert/strict';
import {execFileSync} from 'node:child_process';
import {readFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import {comparison, loadSnapshot} from '../devtools/devtools.mjs';
import {end, test} from '../tap.mjs';

const [base, target] = process.argv.slice(2);
if (target === undefined) {
  console.error('usage: readers.test.mjs LEAK.1.heapsnapshot LEAK.2.heapsnapshot');
  process.exit(2);
}
const require = createRequire(import.meta.url);


const before = await loadSnapshot(base), snapshot = await loadSnapshot(target);
const most = 10;
const byRetained = (one, other) => other[1] - one[1] || one[0] - other[0];

/** The objects with the largest retained sizes, as [id, bytes]. */
const largest = [...snapshot.nodes()].filter(node => node.type !== 'synthetic').map(node => [node.id, node.retainedSize]).sort(byRetained).slice(0, most);

await test('there is something to compare', () => assert.ok(largest.length === most && largest[most - 1][1] > 10_000));

const memlab = require('@memlab/heap-analysis');
// memlab would print its progress on standard output, which is for TAP.
require('@memlab/core').config.muteConsole = true;

await test("memlab: the nodes and retained sizes are DevTools'", async () => {
  const heap = await memlab.getFullHeapFromFile(target);
  const all = [];
  heap.nodes.forEach(node => { if (node.type !== 'synthetic') all.push([node.id, node.retainedSize]); });
  assert.equal(heap.nodes.length, snapshot.worker.nodeCount);
  assert.deepEqual(all.sort(byRetained).slice(0, most), largest);
});

for (const name of ['ObjectSizeAnalysis', 'ObjectShapeAnalysis', 'StringAnalysis', 'ObjectFanoutAnalysis'])
  await test(`memlab: ${name} runs`, () => new memlab[name]().analyzeSnapshotFromFile(target));

await test('memlab: find-leaks has what Comparison says is new', () => {
  const said = execFileSync(process.execPath, [require.resolve('memlab/bin/memlab'), 'find-leaks',
    '--baseline', base, '--target', target, '--final', target], {encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe']});
  const table = new Map([...said.matchAll(/│ +\d+ +│ +'(.*?)' +│ +'(\w+)' +│ +(\d+) +│/g)].map(([, name, , count]) => [name, Number(count)]));
  const rows = comparison(before, snapshot);
  assert.ok(table.get('main.Session') >= 1600 && table.get('main.Preview') >= 300);
  for (const name of ['main.Session', 'main.Watcher', 'main.Preview', 'map[string]*main.Preview'].filter(name => table.has(name)))
    assert.equal(table.get(name), rows[name]?.addedCount, name);
});

await test("VS Code's parser: the nodes and retained sizes are DevTools'", () => {
  const parser = require('@vscode/v8-heap-parser');
  const graph = parser.decode_bytes(readFileSync(target));
  const all = [];
  graph.get_class_groups(0, 1 << 30, false).forEach((group, i) => {
    for (const node of graph.class_children(i, 0, most, parser.WasmSortBy.RetainedSize))
      if (node.typ !== parser.NodeType.Syntheic) all.push([node.id, Number(node.retained_size)]);
  });
  assert.deepEqual(all.sort(byRetained).slice(0, most), largest);
});

await test("heapsnapshot-parser: nodes, edges and sizes are DevTools'", () => {
  const parsed = require('heapsnapshot-parser').parse(readFileSync(target, 'utf8'));
  assert.equal(parsed.nodes.length, snapshot.worker.nodeCount);
  const bySize = (one, other) => other.size - one.size || one.id - other.id;
  const ours = parsed.nodes.map(({id, self_size: size}) => ({id, size})).sort(bySize).slice(0, most);
  const theirs = [...snapshot.nodes()].map(node => ({id: node.id, size: node.selfSize})).sort(bySize).slice(0, most);
  assert.deepEqual(ours, theirs);
});

end();
