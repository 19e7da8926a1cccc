// Loads two snapshots of a process into DevTools' worker, without a browser, and compares what Summary and Comparison would
// show with what is in the files.
//
//   pair.test.mjs A.heapsnapshot B.heapsnapshot
//
// TAP on standard output.

import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';
import {comparison, loadSnapshot} from './devtools.mjs';
import {end, test} from '../tap.mjs';

const files = process.argv.slice(2);
if (files.length !== 2) {
  console.error('usage: pair.test.mjs A.heapsnapshot B.heapsnapshot');
  process.exit(2);
}

/** Returns the objects of a file that have a size, by class: a Map from class to a Map from id to size. */
function objectsOf(file) {
  const {snapshot: {meta}, nodes, strings} = JSON.parse(readFileSync(file, 'utf8'));
  const at = name => meta.node_fields.indexOf(name);
  const object = meta.node_types[at('type')].indexOf('object');
  const classes = new Map();
  for (let node = 0; node < nodes.length; node += meta.node_fields.length) {
    const size = nodes[node + at('self_size')];
    if (nodes[node + at('type')] !== object || size === 0) continue;
    const name = strings[nodes[node + at('name')]];
    if (!classes.has(name)) classes.set(name, new Map());
    classes.get(name).set(nodes[node + at('id')], size);
  }
  return classes;
}

const sum = sizes => [...sizes].reduce((all, size) => all + size, 0);
const sorted = ids => [...ids].sort((a, b) => a - b);
const byName = table => Object.fromEntries(Object.entries(table).sort(([a], [b]) => (a < b ? -1 : 1)));

const [before, after] = files.map(objectsOf);
const base = await loadSnapshot(files[0]);
const target = await loadSnapshot(files[1]);

for (const [snapshot, objects] of [[base, before], [target, after]]) {
  test('DevTools has no complaint', () => assert.deepEqual(snapshot.problems, []));
  test('Summary has all objects, by class', () => {
    const rows = snapshot.aggregates();
    const shown = {}, expected = {};
    for (const [name, sizes] of objects) {
      expected[name] = {count: sizes.size, self: sum(sizes.values())};
      shown[name] = rows[name] && {count: rows[name].count, self: rows[name].self};
    }
    assert.deepEqual(byName(shown), byName(expected));
    assert.equal(snapshot.root.retainedSize, snapshot.totalSize);
  });
}

test('Comparison shows what is new and what is deleted', () => {
  const rows = comparison(base, target);
  const shown = {}, expected = {};
  for (const name of new Set([...before.keys(), ...after.keys()])) {
    const [old, now] = [before.get(name) ?? new Map(), after.get(name) ?? new Map()];
    const added = [...now].filter(([id]) => !old.has(id)), removed = [...old].filter(([id]) => !now.has(id));
    if (added.length + removed.length > 0) {
      expected[name] = {
        added: sorted(added.map(([id]) => id)), removed: sorted(removed.map(([id]) => id)),
        addedSize: sum(added.map(([, size]) => size)), removedSize: sum(removed.map(([, size]) => size)),
      };
    }
    const row = rows[name];
    if (row) {
      const {addedIds, removedIds, addedSize, removedSize} = row;
      shown[name] = {added: sorted(addedIds), removed: sorted(removedIds), addedSize, removedSize};
    }
  }
  assert.deepEqual(byName(shown), byName(expected));
  assert.ok(Object.keys(expected).length > 0, 'something has come or gone');
});

end();
