// Tests of the tests: devtools.mjs must tell what DevTools computes, and check-snapshot.mjs must notice what is wrong.
// TAP on standard output.

import assert from 'node:assert/strict';
import {checkSnapshot, meta} from './check-snapshot.mjs';
import {comparison, loadSnapshot} from './devtools.mjs';
import {pair, snapshotOf} from './handmade.mjs';
import {end, test} from '../tap.mjs';

const bytes = file => Buffer.from(typeof file === 'string' ? file : JSON.stringify(file));


const base = await loadSnapshot(bytes(pair.base()));
const target = await loadSnapshot(bytes(pair.target()));

await test('a good snapshot loads without a word', () => {
  assert.deepEqual([base.problems, target.problems], [[], []]);
  assert.deepEqual([base.nodeCount, base.edgeCount, base.totalSize], [17, 17, 5 * (64 + 48) + 1024]);
});

await test('aggregates', () => {
  const rows = base.aggregates();
  assert.deepEqual(Object.keys(rows).sort(), ['noptr1024', 'noptr48', 'ptr64']);
  const {ids, ...numbers} = rows.ptr64;
  assert.deepEqual(numbers, {name: 'ptr64', count: 5, self: 320, retained: 560, distance: 3});
  assert.deepEqual(ids, [1001, 1017, 1033, 1049, 1065]);
  assert.equal(rows.noptr48.distance, 4);
});

await test('nodes, edges, retainers, dominators, distances', () => {
  const [globals] = base.nodesByName('(globals)');
  assert.deepEqual([globals.type, globals.id, globals.distance, globals.retainedSize], ['synthetic', 6, 2, 560]);
  const head = globals.follow('main.leak');
  assert.deepEqual([head.id, head.className, head.retainedSize, head.distance], [1001, 'ptr64', 560, 3]);
  assert.deepEqual(head.edges().map(edge => `${edge.type} ${edge.name} ${edge.target}`),
    ['property f16 noptr48 @1009', 'property f8 ptr64 @1017']);
  const last = base.nodeById(1065);
  assert.equal(last.distance, 7);
  assert.deepEqual(last.retainers().map(edge => `${edge.type} ${edge.name} ${edge.source}`),
    ['property f8 ptr64 @1049']);
  assert.equal(last.dominator.id, 1049);
  assert.equal(base.root.dominator, null);
  assert.equal(base.nodeById(9999), undefined);
  assert.equal(base.nodesOfClass('noptr48').length, 5);
});

await test('comparison', () => {
  const rows = comparison(base, target);
  assert.deepEqual(Object.keys(rows).sort(), ['noptr1024', 'noptr48', 'ptr64']);
  const {addedIds, removedIds, ...numbers} = rows.ptr64;
  assert.deepEqual(numbers, {
    name: 'ptr64', addedCount: 200, removedCount: 0, countDelta: 200,
    addedSize: 12800, removedSize: 0, sizeDelta: 12800,
  });
  assert.deepEqual([addedIds[0], addedIds.length, removedIds.length], [1081, 200, 0]);
  assert.deepEqual([rows.noptr1024.addedIds, rows.noptr1024.removedIds], [[777], [501]]);
  assert.deepEqual(Object.keys(comparison(base, base)), []);
});

await test('statistics', () => {
  assert.deepEqual(base.statistics(), {
    total: 1584, native: {total: 0, typedArrays: 0},
    v8heap: {total: 1584, code: 0, jsArrays: 0, strings: 0, system: 0},
  });
});

await test('a file of more than one slice, cut within a character', async () => {
  const file = pair.base();
  const filler = 'é'.repeat(6_000_000);
  for (const shift of ['', 'x']) {
    file.strings[0] = shift + filler;
    const snapshot = await loadSnapshot(bytes(file));
    assert.deepEqual(snapshot.problems, []);
    assert.equal(snapshot.strings[0], shift + filler);
  }
});

await test('a cut file and an empty one fail', async () => {
  const whole = bytes(pair.base());
  await assert.rejects(loadSnapshot(whole.subarray(0, whole.length / 2)), /Unexpected end|not found/);
  await assert.rejects(loadSnapshot(bytes('')), /not found/);
});

await test('a node without a way from the root is warned about', async () => {
  const file = pair.base();
  file.edges[2] = 0;
  const {problems} = await loadSnapshot(bytes(file));
  assert.match(problems.join(), /unreachable/);
});

await test('check-snapshot is content with a good snapshot', async () => {
  for (const make of [pair.base, pair.target]) {
    assert.deepEqual((await checkSnapshot(bytes(make()))).filter(row => row.problem !== null), []);
  }
});

const node = (type, name, id, size, edges) => ({type, name, id, size, edges});

/** Returns a snapshot of a goroutine with a stack and a frame, `more` below the goroutine, and `others`, the top ones below (GC roots). */
const goroutine = (more, others, isTop = () => true) => snapshotOf([
  node('synthetic', '', 2, 0, [['element', 1, 4]]),
  node('synthetic', '(GC roots)', 4, 0, [['element', 1, 6], ...others.filter(isTop).map(({id}, i) => ['element', i + 2, id])]),
  node('synthetic', 'goroutine 1 [running]', 6, 0, [['internal', 'stack', 8], ...more]),
  node('native', 'goroutine stack [running]', 8, 2048, [['element', 0, 10]]),
  node('synthetic', 'main.main', 10, 0, [['property', 'a', 501], ['property', 'b', 503]]),
  node('object', 'noptr1024', 501, 1024, []),
  node('object', 'noptr1024', 503, 1024, []),
  ...others,
]);
const below = (name, id, edges) => node('synthetic', name, id, 0, edges);
const handlers = [below('system / NativeContext / a', 20, []), below('(finalizers)', 22, []), below('(event handlers)', 24, [['element', 1, 26]])];
const shared = [below('system / NativeContext / a', 20, []), below('(globals)', 30, [['element', 1, 32]]), below('main', 32, [['property', 'a', 34], ['property', 'b', 36]]),
  below('main.a', 34, [['property', 's', 505]]), below('main.b', 36, [['property', 's', 505]]), node('object', 'noptr1024', 505, 1024, [])];
const far = [below('(globals)', 30, [['element', 1, 32]]), below('main', 32, [['element', 1, 34]]), below('leak', 34, [['property', 'c', 501]])];

await test('check-snapshot is content with goroutines, event handlers and frames that share', async () => {
  const listener = below('V8EventListener', 26, [['weak', '1', 22]]);
  for (const file of [goroutine([], [...handlers, listener]), goroutine([], far.slice(1), ({name}) => name === 'main')])
    assert.deepEqual((await checkSnapshot(bytes(file))).filter(row => row.problem !== null), []);
});

// [the promise that must be found broken, the damage that breaks it]
const nodeFields = meta.node_fields.length;
const damages = [
  ['one JSON document', () => '{"snapshot":'],
  ['one JSON document', file => JSON.stringify(file) + ']'],
  ['one JSON document', () => Buffer.concat([bytes(JSON.stringify(pair.base()).slice(0, -3)), Buffer.of(0xff, 0x22, 0x5d, 0x7d)])],
  ['lists of fields', file => { file.snapshot.meta = {...meta, edge_types: [['context'], 'string_or_number', 'node']}; }],
  ['lists of fields', file => { file.snapshot.meta = {...meta, scope_fields: []}; }],
  ['as many nodes and edges as its header', file => { file.snapshot.node_count++; }],
  ['as many nodes and edges as its header', file => { file.snapshot.edge_count--; }],
  ['as many nodes and edges as its header', file => { file.nodes[4]++; }],
  ['whole numbers', file => { file.nodes[3] = -1; }],
  ['whole numbers', file => { file.nodes[2] = 2 ** 32 + 2; }],
  ['whole numbers', file => { file.nodes[1] = 99; }],
  ['whole numbers', file => { file.edges[7] = 0.5; }],
  ['"<dummy>"', file => { file.nodes[1 + nodeFields] = 0; }],
  ['"<dummy>"', file => { file.edges[1 + file.edges.findIndex((cell, i) => i % 3 === 0 && cell === 2)] = 0; }],
  ['edges to nodes', file => { file.edges[2]++; }],
  ['edges to nodes', file => { file.edges[2] = file.nodes.length; }],
  ['no string twice', file => { file.strings.push('ptr64'); }],
  ['ids that are unique', file => { file.nodes[2 + nodeFields] = 2; }],
  ['odd ids for objects', file => { file.nodes[2] = 1; }],
  ['odd ids for objects', file => { file.nodes[2 + 6 * nodeFields] = 502; }],
  ['synthetic children', file => { file.edges[2] = 6 * nodeFields; }],
  ['a way from the root', file => { file.edges[file.edges.length - 3 + 2] = 0; }],
  ['as much as their goroutines', () => goroutine([['property', 'a', 501]], [])],
  ['event handlers for finalizers', () => goroutine([], [...handlers, below('V8EventListener', 26, [['weak', '1', 20]])])],
  ['99 % of what each package', () => goroutine([], shared, ({name}) => name === '(globals)' || name.startsWith('system'))],
  ['frames after all other', () => goroutine([], far, ({name}) => name === '(globals)')],
  ['without a warning', file => { file.edges[file.edges.length - 3 + 2] = 0; }],
];

for (const [promise, damage] of damages) {
  await test(`check-snapshot notices: ${promise}: ${String(damage).replace(/\s+/g, ' ').slice(0, 70)}`, async () => {
    const file = pair.base();
    const rows = await checkSnapshot(bytes(damage(file) ?? file));
    const broken = rows.filter(row => row.problem !== null).map(row => row.name);
    assert.ok(broken.some(name => name.includes(promise)), `broken: ${broken.join('; ') || 'none'}`);
  });
}

end();
