// Tests programs other than DevTools that read heap snapshots, with our snapshots:
//
//   readers.test.mjs BASE.heapsnapshot TARGET.heapsnapshot CLASS...      converted together; all these classes have grown
//
// VS Code's parser, memlab and heapsnapshot-parser see the nodes that DevTools' own worker sees; the first two also compute
// retained sizes: of each node those of DevTools. TAP on standard output.

import assert from 'node:assert/strict';
import {execFileSync} from 'node:child_process';
import {mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {comparison, loadSnapshot} from '../devtools/devtools.mjs';
import {end, test} from '../tap.mjs';

const [base, target, ...grown] = process.argv.slice(2);
if (grown.length === 0) {
  console.error('usage: readers.test.mjs BASE.heapsnapshot TARGET.heapsnapshot CLASS...');
  process.exit(2);
}
const require = createRequire(import.meta.url);
const directory = mkdtempSync(join(tmpdir(), 'readers-'));
process.on('exit', () => rmSync(directory, {recursive: true}));

const before = await loadSnapshot(base), snapshot = await loadSnapshot(target);

/** Fails if nodes have not DevTools' retained sizes, given as [id, bytes] of each; says of which the size is most different. */
function compareRetained(sizes) {
  assert.equal(sizes.length, snapshot.worker.nodeCount);
  const of = new Map(sizes), wrong = [...snapshot.nodes()].filter(node => of.get(node.id) !== node.retainedSize);
  const off = node => Math.abs(of.get(node.id) - node.retainedSize);
  wrong.sort((one, other) => off(other) - off(one));
  assert.equal(wrong.length, 0, `${wrong.length} nodes:\n${wrong.slice(0, 5).map(node => `${node}: ${of.get(node.id)}, not ${node.retainedSize}`).join('\n')}`);
}

test('the snapshot has what only snapshots of Go have', () => {
  const names = [...snapshot.nodes()].map(node => node.name);
  for (const some of [/^system \/ NativeContext \/ globals of main$/, /^V8EventListener$/, /^goroutine stack \[/, /^\d+ goroutines \[/])
    assert.ok(names.some(name => some.test(name)), `no ${some}`);
});

const memlab = require('@memlab/heap-analysis');
// memlab would print its progress on standard output, which is for TAP.
require('@memlab/core').config.muteConsole = true;

/**
 * memlab takes what the root's elements lead to for the page's, and DevTools, V8 and VS Code what its shortcuts lead to: a condition is the
 * wrong way round in memlab's flagReachableNodesFromWindow(), as one sees from snapshots of V8's own. Returns the path of the target with
 * these two kinds of the root's edges exchanged, so that memlab computes what it means to.
 */
function exchanged() {
  const json = JSON.parse(readFileSync(target)), {node_fields: fields, edge_fields: {length: width}, edge_types: [types]} = json.snapshot.meta;
  const shortcut = types.indexOf('shortcut'), other = new Map([[shortcut, types.indexOf('element')], [types.indexOf('element'), shortcut]]);
  for (let edge = json.nodes[fields.indexOf('edge_count')] - 1; edge >= 0; edge--)
    json.edges[edge * width] = other.get(json.edges[edge * width]) ?? json.edges[edge * width];
  const path = join(directory, 'exchanged.heapsnapshot');
  writeFileSync(path, JSON.stringify(json));
  return path;
}

await test("memlab: the nodes and, but for a fault of memlab's, the retained sizes are DevTools'", async () => {
  const heap = await memlab.getFullHeapFromFile(exchanged()), all = [];
  heap.nodes.forEach(node => { all.push([node.id, node.retainedSize]); });
  compareRetained(all);
});

for (const name of ['ObjectSizeAnalysis', 'ObjectShapeAnalysis', 'StringAnalysis', 'ObjectFanoutAnalysis', 'DetachedDOMElementAnalysis'])
  await test(`memlab: ${name} runs`, () => new memlab[name]().analyzeSnapshotFromFile(target));

await test('memlab: find-leaks has what Comparison says is new', () => {
  const said = execFileSync(process.execPath, [require.resolve('memlab/bin/memlab'), 'find-leaks',
    '--work-dir', directory, '--baseline', base, '--target', target, '--final', target], {encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe']});
  const table = new Map([...said.matchAll(/│ +\d+ +│ +'(.*?)' +│ +'(\w+)' +│ +(\d+) +│/g)].map(([, name, , count]) => [name, Number(count)]));
  const rows = comparison(before, snapshot);
  for (const name of grown) assert.ok(rows[name]?.addedCount > 0 && table.get(name) === rows[name].addedCount, `${name}: ${table.get(name)}, not ${rows[name]?.addedCount}`);
});

await test("VS Code's parser: the nodes and retained sizes are DevTools'", () => {
  const parser = require('@vscode/v8-heap-parser');
  const graph = parser.decode_bytes(readFileSync(target)), all = [];
  graph.get_class_groups(0, 1 << 30, false).forEach((group, i) => {
    for (const node of graph.class_children(i, 0, group.children_len, parser.WasmSortBy.RetainedSize)) all.push([node.id, Number(node.retained_size)]);
  });
  compareRetained(all);
});

await test("heapsnapshot-parser: nodes, edges and sizes are DevTools'", () => {
  const parsed = require('heapsnapshot-parser').parse(readFileSync(target, 'utf8'));
  assert.equal(parsed.edges.length, snapshot.edgeCount);
  assert.deepEqual(parsed.nodes.map(({id, self_size: size}) => [id, size]), [...snapshot.nodes()].map(node => [node.id, node.selfSize]));
});

end();
