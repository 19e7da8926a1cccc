// Checks that sqlite3 reads from a database's views what the snapshot of the same heap has, which is read as JSON; and that
// the dominators are those of DevTools' own worker. TAP on standard output.
//
//   sqlite.mjs FILE.db FILE.heapsnapshot

import assert from 'node:assert/strict';
import {execFileSync} from 'node:child_process';
import {readFileSync} from 'node:fs';

import {loadSnapshot} from '../devtools/devtools.mjs';
import {end, test} from '../tap.mjs';

const [db, path] = process.argv.slice(2);

/** Returns the rows of a query as arrays of texts. */
function query(sql) {
  const text = execFileSync('sqlite3', ['-separator', '|', db, sql], {encoding: 'utf8', maxBuffer: 1 << 30});
  return text === '' ? [] : text.trimEnd().split('\n').map(line => line.split('|'));
}

/** Returns a text as SQL's hex() writes it. For half a surrogate pair this is U+FFFD, as V8's readers make it. */
const hex = text => Buffer.from(text.toWellFormed?.() ?? text, 'utf8').toString('hex').toUpperCase();

const {snapshot: {meta}, nodes, edges, strings} = JSON.parse(readFileSync(path, 'utf8'));
const width = meta.node_fields.length, edgeWidth = meta.edge_fields.length;
const field = Object.fromEntries(meta.node_fields.map((name, i) => [name, i]));
const nodeTypes = meta.node_types[0], edgeTypes = meta.edge_types[0];
const nodeCount = nodes.length / width;
const id = node => nodes[node * width + field.id];

function* jsonNodes() {
  for (let at = 0; at < nodes.length; at += width) {
    yield [nodes[at + field.id], hex(strings[nodes[at + field.name]]), nodeTypes[nodes[at + field.type]],
      nodes[at + field.self_size], nodes[at + field.edge_count]].join('|');
  }
}

function* jsonEdges() {
  let at = 0;
  for (let node = 0; node < nodeCount; node++) {
    for (let left = nodes[node * width + field.edge_count]; left > 0; left--, at += edgeWidth) {
      const type = edgeTypes[edges[at]], name = edges[at + 1];
      yield [id(node), id(edges[at + 2] / width), type,
        hex(['element', 'hidden'].includes(type) ? String(name) : strings[name])].join('|');
    }
  }
}

/** Fails at the first row that differs. */
function compare(rows, expected) {
  let row = 0;
  for (const wanted of expected) assert.equal(rows[row++]?.join('|'), wanted, `row ${row - 1}`);
  assert.equal(rows.length, row, 'rows');
}

test('the view node has the snapshot\'s nodes', () =>
  compare(query('select id, hex(name), type, self_size, edge_count from node order by number'), jsonNodes()));
test('the view edge has the snapshot\'s edges', () =>
  compare(query('select from_node, to_node, type, hex(name_or_index) from edge order by number'), jsonEdges()));
test('counts and sums', () => {
  const sum = nodes.reduce((sum, value, i) => sum + (i % width === field.self_size ? value : 0), 0);
  assert.deepEqual(query('select count(*), sum(self_size) from node'), [[nodeCount, sum].map(String)]);
  assert.deepEqual(query('select count(*) from edge'), [[String(edges.length / edgeWidth)]]);
  assert.deepEqual(query('select retained_size from node where dominator is null'), [[String(sum)]]);
});
test('the edges of a node are those from first_edge on', () =>
  assert.deepEqual(query(`select count(*) from node_ n join edge_ e
    on e.number >= n.first_edge and e.number < n.first_edge + n.edge_count where e.from_node = n.number`),
  [[String(edges.length / edgeWidth)]]));

const devtools = (await loadSnapshot(path)).worker;
test('dominators are those of DevTools', () => {
  const rows = query('select number, coalesce(dominator, number) from node_ order by number');
  for (const [number, dominator] of rows) {
    assert.equal(Number(dominator), devtools.dominatorsTree[number], `node ${number}`);
  }
  assert.equal(rows.length, devtools.nodeCount);
});
test('retained sizes are the sums of what is dominated', () => {
  const rows = query('select self_size, retained_size, dominator from node_ order by number');
  const sums = rows.map(([self]) => Number(self));
  const children = rows.map(() => []);
  rows.forEach(([, , dominator], number) => { if (dominator !== '') children[dominator].push(number); });
  const order = [rows.findIndex(([, , dominator]) => dominator === '')];
  for (let i = 0; i < order.length; i++) order.push(...children[order[i]]);
  assert.equal(order.length, rows.length);
  for (const number of order.reverse()) if (rows[number][2] !== '') sums[rows[number][2]] += sums[number];
  rows.forEach(([, retained], number) => assert.equal(Number(retained), sums[number], `node ${number}`));
});
end();
