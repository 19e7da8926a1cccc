// Tests heapquery on made-up snapshots: those of other versions of V8, with other fields in another order, and one with all
// that DevTools has rules for; and on damaged ones, each of which it must read or refuse. TAP on standard output.
//
//   heapquery.mjs HEAPQUERY DIRECTORY COUNT      HEAPQUERY: built with sanitizers; COUNT: the number of damaged snapshots

import assert from 'node:assert/strict';
import {execFileSync, spawnSync} from 'node:child_process';
import {existsSync, readdirSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';

import {loadSnapshot} from '../devtools/devtools.mjs';
import {end, test} from '../tap.mjs';

const [heapquery, directory, count] = process.argv.slice(2);
const snapshotPath = join(directory, 'made.heapsnapshot'), db = join(directory, 'made.db');

const nodeTypes = ['hidden', 'array', 'string', 'object', 'code', 'closure', 'regexp', 'number', 'native', 'synthetic'];
const edgeTypes = ['context', 'element', 'property', 'internal', 'hidden', 'shortcut', 'weak'];
const usual = ['type', 'name', 'id', 'self_size', 'edge_count'];

/**
 * Makes a snapshot of nodes [{type, name, size, edges: [[type, name or index, node]]}]; each node's id is 2 * its number +
 * 1.
 */
function make(list, nodeFields = usual, edgeFields = ['type', 'name_or_index', 'to_node']) {
  const strings = [], nodes = [], edges = [];
  const string = text => (strings.includes(text) || strings.push(text), strings.indexOf(text));
  list.forEach((node, i) => {
    const values = {type: nodeTypes.indexOf(node.type), name: string(node.name), id: 2 * i + 1, self_size: node.size,
      edge_count: node.edges.length, trace_node_id: i, detachedness: i % 3};
    nodes.push(...nodeFields.map(field => values[field] ?? 77));
    for (const [type, name, to] of node.edges) {
      const edge = {type: edgeTypes.indexOf(type), name_or_index: typeof name === 'number' ? name : string(name),
        to_node: to * nodeFields.length};
      edges.push(...edgeFields.map(field => edge[field] ?? 88));
    }
  });
  const meta = {node_fields: nodeFields, node_types: nodeFields.map(field => field === 'type' ? nodeTypes : 'number'),
    edge_fields: edgeFields, edge_types: edgeFields.map(field => field === 'type' ? edgeTypes : 'number')};
  return {snapshot: {meta, node_count: list.length, edge_count: edges.length / edgeFields.length}, nodes, edges, strings};
}

const node = (type, name, size, ...edges) => ({type, name, size, edges});

/** The name of an edge to a value that the key, node 18, holds, and not the WeakMap's table, node 19. */
const pair = '1 / part of key (Key @37) -> value (Value @41) pair in WeakMap (table @39)';

/** Nodes for every rule of DevTools; comments behind some of them give their numbers. */
const rules = [
  node('synthetic', '', 0, ['element', 1, 1], ['shortcut', 'window', 2], ['element', 3, 16], ['weak', 'w', 7]), // 0
  node('synthetic', '(GC roots)', 0, ['element', 1, 3], ['element', 2, 4], ['weak', 'w', 9], ['element', 3, 18], ['element', 4, 19]),
  node('object', 'Window', 10, ['property', 'x', 3], ['property', 'self', 2], ['shortcut', 's', 8]),
  node('object', 'OfPage', 20, ['property', 'y', 5]),
  node('object', 'OfNoPage', 30, ['property', 't', 5]),
  node('object', 'OfPageToo', 40, ['internal', 'slot', 6]),
  node('object', 'Below', 50), // 6
  node('object', 'Orphan', 60, ['property', 'a', 10], ['property', 'b', 3]),
  node('object', 'BehindShortcut', 70),
  node('object', 'CycleA', 80, ['property', 'b', 11], ['property', 'p', 4]),
  node('object', 'BelowOrphan', 90), // 10
  node('object', 'CycleB', 100, ['property', 'a', 9]),
  node('array', 'Lone', 110, ['hidden', 7, 13]),
  node('string', 'text \u0000 \ud83d\ude00', 120),
  node('object', 'Debugger', 130, ['property', 'p', 5]),
  node('object', 'Self', 140, ['property', 'self', 15]), // 15
  node('synthetic', '(Document DOM trees)', 0, ['element', 1, 17]),
  node('native', 'Div', 150, ['element', 0, 10]),
  node('object', 'Key', 160, ['internal', pair, 20]),
  node('object', 'Table', 170, ['internal', pair, 20]),
  node('object', 'Value', 180), // 20
];

const run = file => {
  writeFileSync(snapshotPath, file);
  return spawnSync(heapquery, [snapshotPath, db], {encoding: 'utf8'});
};
const query = sql => execFileSync('sqlite3', [db, sql], {encoding: 'utf8'}).trimEnd().split('\n').map(line => line.split('|'));

const shapes = {
  'as V8 writes them': [],
  'with trace_node_id and detachedness': [[...usual, 'trace_node_id', 'detachedness']],
  'in another order, with fields that nobody knows': [['detachedness', 'new', 'id', 'edge_count', 'name', 'self_size', 'type'], ['to_node', 'new', 'type', 'name_or_index']],
};
for (const [shape, fields] of Object.entries(shapes)) {
  const made = make(rules, ...fields);
  // V8 writes ASCII characters only, so this does too.
  const {status, stderr} = run(JSON.stringify(made).replace(/[\u0080-\uffff]/g, unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`));
  test(`fields ${shape}: all rows`, () => {
    assert.deepEqual([status, stderr], [0, '']);
    assert.deepEqual(query('select number, type, hex(name), self_size, edge_count from node order by number'),
      rules.map((node, i) => [i, node.type, Buffer.from(node.name).toString('hex').toUpperCase(), node.size, node.edges.length].map(String)));
    assert.deepEqual(query('select from_node, type, name_or_index, to_node from edge order by number'),
      rules.flatMap((node, i) => node.edges.map(([type, name, to]) => [2 * i + 1, type, name, 2 * to + 1].map(String))));
    if (made.snapshot.meta.node_fields.includes('detachedness')) {
      assert.deepEqual(query('select detachedness from node order by number').map(Number), rules.map((_, i) => i % 3));
    }
  });
}
const plain = JSON.stringify(make(rules));
run(plain);
const worker = (await loadSnapshot(snapshotPath)).worker;
test('dominators are those of DevTools', () =>
  assert.deepEqual(query('select coalesce(dominator, number) from node_ order by number').map(Number), [...worker.dominatorsTree].slice(0, rules.length)));

/** The messages that a log of the DevTools protocol has about a snapshot. */
const messages = text => text.match(/[^]{1,300}/g).map((chunk, i) => i % 2 ? JSON.stringify({method: 'HeapProfiler.addHeapSnapshotChunk', params: {chunk}})
  : JSON.stringify({sessionId: 'A', params: {chunk}, method: 'HeapProfiler.addHeapSnapshotChunk'}));

// Snapshots in forms that V8 does not write; each must give the rows of the plain one.
const tables = () => ['node', 'edge', 'string', 'node_type', 'edge_type'].map(table => query(`select * from ${table}`));
const plainRows = tables();
const moved = order => { const made = make(rules); return JSON.stringify(Object.fromEntries(order.map(key => [key, made[key]]))); };
const size = node => `${rules[node].size},${rules[node].edges.length}`;
const forms = {
  'with a byte order mark': `\ufeff${plain}`,
  'with strings first': moved(['strings', 'edges', 'nodes', 'snapshot']),
  'with edges before nodes': moved(['snapshot', 'edges', 'strings', 'nodes']),
  'with nodes before the meta': moved(['nodes', 'snapshot', 'strings', 'edges']),
  'with sizes such as 10.0 and 2e1': plain.replace(`,${size(2)},`, `,10.0,3,`).replace(`,${size(3)},`, `,2e1,1,`).replace(`,${size(4)},`, `,0.3e+2,1,`)
    .replace(`,${size(5)},`, `,400.00E-1,1,`).replace(`,${size(1)},`, `,0e-7,5,`),
  'as a log of the protocol': `{"id":1,"method":"HeapProfiler.takeHeapSnapshot"}\n${messages(plain).join('\n')}\n{"id":1,"result":{}}\n`,
  'as a list of messages': `[${messages(plain).join(',')}]`,
};
for (const [form, text] of Object.entries(forms)) {
  const {status, stderr} = run(text);
  test(`${form}: the same rows`, () => {
    assert.notEqual(text, plain);
    assert.deepEqual([status, stderr], [0, '']);
    assert.deepEqual(tables(), plainRows);
  });
}
test('types beyond the list are unknown', () => {
  const made = make(rules);
  made.nodes[0] = 15;
  made.edges[0] = 200;
  const {status, stderr} = run(JSON.stringify(made));
  assert.deepEqual([status, stderr], [0, '']);
  assert.deepEqual(query('select type from node where number = 0'), [['unknown (15)']]);
  assert.deepEqual(query('select type from edge where number = 0'), [['unknown (200)']]);
  assert.equal(query("select count(*) from node where type like 'unknown%'")[0][0], '1');
});

// Files that are no valid snapshots, with the message that each must give.
const changed = change => { const made = make(rules); return JSON.stringify(change(made) ?? made); };
const wrong = {
  'nothing': ['', /the file ends here/],
  'no JSON': ['hello', /byte 0: an object was expected/],
  'an empty object': ['{}', /is not a heap snapshot: it has no nodes/],
  'something behind': [`${plain}x`, /the end was expected/],
  'edges without nodes': [changed(({snapshot, edges}) => ({snapshot, edges})), /is not a heap snapshot: it has no nodes/],
  'nodes without meta': [changed(({nodes, edges, strings}) => ({nodes, edges, strings})), /is not a heap snapshot: it has no meta/],
  'a CPU profile': ['{"nodes":[{"id":1,"callFrame":{},"hitCount":0}],"startTime":1,"endTime":2,"samples":[1],"timeDeltas":[0]}', /: is a CPU profile, not a heap snapshot/],
  'a sampling heap profile': ['{"head":{"callFrame":{},"selfSize":0,"id":1,"children":[]},"samples":[]}', /: is a sampling heap profile, not a heap snapshot/],
  'a heap of JavaScriptCore': ['{"version":2,"type":"Inspector","nodes":[0,0,0,0],"nodeClassNames":["<root>"],"edges":[],"edgeTypes":["Internal"],"edgeNames":[]}',
    /: is a heap of JavaScriptCore, not a heap snapshot/],
  'a trace': ['{"traceEvents":[],"metadata":{}}', /: is a performance trace, not a heap snapshot/],
  'a log without a snapshot': ['{"method":"Network.loadingFinished","params":{}}\n{"id":1,"result":{}}', /is a log of the DevTools protocol without/],
  'a log that is cut': [messages(plain).join('\n').slice(0, -9), /the file ends here/],
  'a log with two snapshots': [[...messages(plain), ...messages(plain)].join('\n'), /a second snapshot begins/],
  'a log with half a snapshot': [messages(plain).slice(0, 2).join('\n'), /: its chunks: byte \d+: the file ends here/],
  'no meta': [changed(made => { made.snapshot.meta = {}; }), /byte \d+: meta has no fields/],
  'no names of edges': [changed(made => { made.snapshot.meta.edge_fields = ['type']; }), /edges have no/],
  'a node too few': [changed(made => { made.nodes.length -= usual.length; }), /not as many nodes/],
  'half a node': [changed(made => { made.nodes.push(1); }), /the last one is not complete/],
  'an edge too few': [changed(made => { made.edges.length -= 3; }), /there are fewer edges/],
  'an edge too many': [changed(made => { made.edges.push(2, 1, 0); }), /there are more edges/],
  'edges of which the last nodes promise too many': [changed(made => { made.nodes[made.nodes.length - 1] = 9; }), /there are fewer edges/],
  'edges without end': [changed(made => { made.nodes[4] = 2 ** 32; }), /so many nodes, edges or bytes/],
  'sizes without end': [changed(made => { made.nodes[3] = made.nodes[8] = 2 ** 62; }).replaceAll(String(2 ** 62), String(2n ** 62n)), /so many nodes, edges or bytes/],
  'a type that there is not': [changed(made => { made.nodes[0] = 256; }), /has a type that there is not/],
  'a name that there is not': [changed(made => { made.nodes[1] = 4000; }), /string 4000 is called for/],
  'an edge to no node': [changed(made => { made.edges[2] = 1; }), /leads to no node/],
  'a fraction': [plain.replace('"nodes":[9', '"nodes":[9.5'), /a whole number was expected/],
  'a negative number': [plain.replace('"nodes":[9', '"nodes":[-9'), /a whole number was expected/],
  'a number without end': [plain.replace('"nodes":[9', `"nodes":[${'9'.repeat(50)}`), /the number is too large/],
  'an escape that there is not': [plain.replace('(GC roots)', '\\x'), /there is no such escape/],
  'half an escape': [plain.replace('(GC roots)', '\\u12'), /there is no such escape/],
  'fields without end': [changed(made => { made.snapshot.meta.node_fields = Array(1000).fill('x'); }), /more fields than/],
  'types without end': [changed(made => { made.snapshot.meta.node_types[0] = Array(1000).fill('x'); }), /more types than/],
  'nodes twice': [`${plain.slice(0, -1)},"nodes":[]}`, /nodes come once/],
  'nodes twice, before the meta': [`{"nodes":[],"nodes":[],${plain.slice(1)}`, /nodes come once/],
  'a list of another kind before the meta': [`{"nodes":[}],${plain.slice(1).replace('"nodes"', '"other"')}`, /byte \d+: /],
  'a size that is not whole': [plain.replace('"nodes":[9', '"nodes":[95e-1'), /a whole number was expected/],
  'a size beyond all': [plain.replace('"nodes":[9', '"nodes":[9e99'), /a whole number was expected/],
  'half an exponent': [plain.replace('"nodes":[9', '"nodes":[9e'), /a whole number was expected/],
  'a root that is no node': [changed(made => { made.snapshot.root_index = 7; }), /the root is none of the nodes/],
  'lists in lists': [`{"x":${'['.repeat(1 << 20)}`, /the file ends here/],
};
for (const [name, [file, message]] of Object.entries(wrong)) {
  execFileSync('rm', ['-f', db]);
  const {status, stderr} = run(file);
  test(`refused: ${name}`, () => {
    assert.equal(status, 1);
    assert.match(stderr, message);
    assert.ok(stderr.startsWith(`heapquery: ${snapshotPath}: `) && stderr.split('\n').length === 2, stderr);
    assert.ok(!existsSync(db));
  });
}

test('lists in lists that end are passed over', () => {
  const {status, stderr} = run(`{"x":${'['.repeat(1 << 16)}${']'.repeat(1 << 16)},${plain.slice(1)}`);
  assert.deepEqual([status, stderr], [0, '']);
});

test(`${count} damaged ones are read or refused`, () => {
  const bytes = Buffer.from(plain);
  let state = 1;
  const random = most => (state = (state * 1103515245 + 12345) % 2 ** 31, Math.floor(state / 2 ** 31 * most));
  const seen = {0: 0, 1: 0};
  for (let i = 0; i < Number(count); i++) {
    const damaged = Buffer.from(bytes.subarray(0, i % 3 === 0 ? random(bytes.length) : bytes.length));
    for (let left = i % 3; left > 0; left--) damaged[random(damaged.length)] = ' ",:[]{}\\u0019.eE-\0\xff'.charCodeAt(random(22));
    const {status, stderr, signal} = run(damaged);
    assert.ok(status === 0 || (status === 1 && stderr.startsWith('heapquery: ')), `${i}: ${status ?? signal} ${stderr}`);
    seen[status]++;
  }
  assert.ok(seen[0] > 0 && seen[1] > 0, JSON.stringify(seen));
  assert.deepEqual(readdirSync(directory).filter(name => name.startsWith('made.db.')), []);
});
end();
