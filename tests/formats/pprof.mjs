// Checks that go tool pprof reads from a profile of --format pprof what the snapshot of the same dump has: as many bytes
// and objects of each class, and as many bytes in all; and that the roots retain all but garbage. TAP on standard output.
//
//   pprof.mjs PPROF PROFILE.pb.gz SNAPSHOT.heapsnapshot

import assert from 'node:assert/strict';
import {execFileSync} from 'node:child_process';
import {readFileSync} from 'node:fs';

import {end, report} from '../tap.mjs';

const [pprof, profile, snapshotPath] = process.argv.slice(2);

/**
 * Returns what pprof prints for a sample type: rows, a Map from name to {flat, cum}; text, all of its output; total, the
 * sum of all.
 */
function top(type) {
  const text = execFileSync(pprof, ['-top', '-cum', '-nodecount=1000000', '-nodefraction=0', '-unit=B', `-sample_index=${type}`, profile],
                            {encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'], maxBuffer: 1 << 30});
  const rows = new Map();
  for (const line of text.split('\n')) {
    const match = /^ *(\d+)B? +\S+% +\S+% +(\d+)B? +\S+% {2}(.*)$/.exec(line) ?? /^ *(\d+)B? +\S+ +\S+ +(\d+)B? +\S+ {2}(.*)$/.exec(line);
    if (match) rows.set(match[3], {flat: Number(match[1]), cum: Number(match[2])});
  }
  return {rows, text, total: Number(/ of (\d+)B? total/.exec(text)?.[1])};
}

/** Returns the classes of the snapshot, a Map from name to {count, bytes}, and the sum of all sizes. */
function read(path) {
  const {snapshot, nodes, strings} = JSON.parse(readFileSync(path, 'utf8'));
  const fields = snapshot.meta.node_fields, types = snapshot.meta.node_types[0];
  const classes = new Map();
  let total = 0;
  for (let i = 0; i < nodes.length; i += fields.length) {
    const type = types[nodes[i]], size = nodes[i + fields.indexOf('self_size')];
    total += size;
    if (type === 'synthetic' || type === 'native') continue;
    // DevTools shows all that V8 calls a string as one class.
    const name = type.includes('string') ? '(string)' : strings[nodes[i + fields.indexOf('name')]].replace(/^(map\[.*) entries$/, '$1')
      .replace(/^(\[\]\w+) \(.*\)$/, '$1') // the snapshot alone tells arrays apart by what holds them
      .replace(/^internal\/sync\.(indirect|entry)\[interface \{\},interface \{\}\]$/, 'sync.Map').replace(/\b(indirect|entry)\[/, 'HashTrieMap['); // parts of one object
    const own = classes.get(name) ?? {count: 0, bytes: 0};
    own.count++;
    own.bytes += size;
    classes.set(name, own);
  }
  return {classes, total};
}

function test(name, body) {
  try {
    body();
    report(name);
  } catch (error) {
    report(name, error.message.slice(0, 2000));
  }
}

/** Objects without a type: the profile has those that are garbage by their sizes, as the others; in the snapshot they are one class. */
const isUntyped = name => /^(no)?ptr\d+$|^\(garbage\)$/.test(name);
const untypedOf = (rows, figure) => [...rows].reduce((sum, [name, row]) => sum + (isUntyped(name) ? row[figure] : 0), 0);

const space = top('space'), objects = top('objects'), snapshot = read(snapshotPath);
test('all bytes are there', () => assert.equal(space.total, snapshot.total));
test('each class has as many bytes', () => {
  assert.ok(snapshot.classes.size > 20);
  const flat = name => space.rows.get(name)?.flat ?? 0; // something other than the map may hold its entries
  let moved = 0; // entries of maps whose type has a name, as http.Header, count for that type
  assert.equal(untypedOf(space.rows, 'flat'), untypedOf(snapshot.classes, 'bytes'));
  for (const [name, {bytes}] of snapshot.classes) {
    if (isUntyped(name)) continue;
    const more = flat(name) + flat(`${name} entries`) - bytes;
    if (more < 0) assert.match(name, /^map\[/);
    if (more > 0) assert.match(name, /^[\w./]+\.\w+$/);
    moved += more;
  }
  assert.equal(moved, 0);
});
test('each class has as many objects', () => {
  assert.equal(untypedOf(objects.rows, 'flat'), untypedOf(snapshot.classes, 'count'));
  for (const [name, {count, bytes}] of snapshot.classes)
    if (bytes > 0 && !isUntyped(name) && !/^map\[|^sync\.Map$|\bHashTrieMap\[/.test(name)) assert.equal(objects.rows.get(name)?.flat, count, name); // the profile counts maps without their parts
});
test('names are whole', () => {
  for (const name of snapshot.classes.keys())
    if (/[<(]/.test(name) && !isUntyped(name) && snapshot.classes.get(name).bytes > 0) assert.ok(space.rows.has(name), name);
});
test('the roots retain all but garbage, and what they hold together', () => {
  const cum = name => space.rows.get(name)?.cum ?? 0;
  const threads = [...space.rows].filter(([name]) => /^M .*\(OS thread/.test(name)).reduce((sum, [, row]) => sum + row.cum, 0);
  const roots = cum('(GC roots)') + cum('(globals)') + threads, garbage = cum('(unreachable)'), several = cum('(held by several)');
  assert.ok(roots <= space.total && roots + several >= space.total - garbage, `${roots}, ${several} and ${garbage} of ${space.total}`);
});
end();
