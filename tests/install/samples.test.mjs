// Compares what the programs of samples/ print with DevTools' own worker and with the snapshot of the same dump.
//
//   samples.test.mjs CONVERTER BIN DUMP[+EXE]...
//
// BIN is a directory with the programs. TAP on standard output.

import assert from 'node:assert/strict';
import {spawnSync} from 'node:child_process';
import {mkdtempSync, readFileSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {basename, join} from 'node:path';
import {loadSnapshot} from '../devtools/devtools.mjs';
import {end, test} from '../tap.mjs';

const [converter, bin, ...inputs] = process.argv.slice(2);
const directory = mkdtempSync(join(tmpdir(), 'samples-'));
process.on('exit', () => rmSync(directory, {recursive: true}));

/** Runs a program; returns {status, stdout, stderr}. */
const call = (program, ...args) => spawnSync(program, args, {encoding: 'utf8', maxBuffer: 2 ** 30});

/** Returns the stdout of a program, which must succeed and have no stderr. */
function run(program, ...args) {
  const {status, stdout, stderr} = call(program, ...args);
  assert.deepEqual([status, stderr], [0, ''], `${basename(program)} ${args.join(' ')}`);
  return stdout;
}

/** Returns the name that a class has in snapshots, where some names are V8's own (docs/snapshot-format.md, "Names"). */
const inSnapshot = name => name.replace(/^<-chan /, 'chan (<-) ');

const sorted = entries => [...entries].sort(([a], [b]) => (a < b ? -1 : 1));

/** Reads a snapshot's file: its nodes, and its edges with their sources. */
function read(path) {
  const {snapshot: {meta, edge_count: edgeCount, go2heapsnapshot: tool}, nodes, edges, strings} = JSON.parse(readFileSync(path));
  const width = meta.node_fields.length, edgeWidth = meta.edge_fields.length;
  const [type, name, id, edgeCountAt] = ['type', 'name', 'id', 'edge_count'].map(field => meta.node_fields.indexOf(field));
  const file = {tool, edgeCount, nodes: [], edges: []};
  for (let at = 0, edge = 0; at < nodes.length; at += width) {
    const source = at / width;
    const node = {type: meta.node_types[type][nodes[at + type]], name: strings[nodes[at + name]], id: nodes[at + id], edges: []};
    file.nodes.push(node);
    for (let i = 0; i < nodes[at + edgeCountAt]; i++, edge += edgeWidth) {
      const [kind, label, target] = edges.slice(edge, edge + 3);
      const edgeType = meta.edge_types[0][kind];
      node.edges.push({source, target: target / width, type: edgeType, label: edgeType === 'element' ? `[${label}]` : strings[label]});
    }
  }
  return asInView(file);
}

/**
 * Undoes what snapshots have beside the view (docs/snapshot.md): the edges of a goroutine begin at its stack, and each element of a long
 * list has an edge from the first one.
 */
function asInView(file) {
  const isStack = ({type, name}) => type === 'native' && /^(Detached )?goroutine stack/.test(name);
  for (const [source, node] of file.nodes.entries()) {
    const stacks = node.edges.map(({target}) => file.nodes[target]).filter(isStack);
    node.edges = [...node.edges, ...stacks.flatMap(stack => stack.edges.splice(0))]
      .filter(({label}) => label !== 'element of the list').map(edge => ({...edge, source}));
  }
  file.edges = file.nodes.flatMap(({edges}) => edges);
  file.edgeCount = file.edges.length;
  return file;
}

/** Returns the name of the class that the view has for one of Summary: arrays are not told apart by what holds them. */
const inView = name => name.replace(/^Detached (?=goroutine stack )/, '').replace(/^(\[\d*\]\S+) \((?!Go\)).*\)$/, '$1').replace(/^\(sliced string\)$/, '(string)');

/** Returns the records of a CSV file, lists of fields {text, quoted}. It accepts RFC 4180 strictly. */
function parse(csv) {
  const records = [];
  const field = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/y;
  let record = [];
  while (field.lastIndex < csv.length) {
    const at = field.lastIndex, match = field.exec(csv);
    assert.ok(match, `no field at ${at}: ${JSON.stringify(csv.slice(at, at + 60))}`);
    const [, quoted, plain, end] = match;
    record.push({text: quoted?.replaceAll('""', '"') ?? plain, quoted: quoted !== undefined});
    if (end !== ',') {
      records.push(record);
      record = [];
    }
  }
  assert.deepEqual(record, [], 'the last line has its end');
  return records;
}

/** Returns whether a row that edges prints is this edge of the snapshot. */
function isEdge([source, target, label, flags], edge) {
  const words = new Set(flags.text.split(' '));
  const byIndex = !label.quoted, isWeak = words.has('weak');
  const type = words.has('shortcut') ? 'shortcut' : isWeak ? 'weak' : byIndex ? 'element' : words.has('internal') ? 'internal' : 'property';
  // A weak edge of a snapshot has no index, but a name, which is the same for all such edges or that of the slot.
  return Number(source.text) === edge.source && Number(target.text) === edge.target && type === edge.type &&
    (isWeak && byIndex || label.text === edge.label);
}

/** Returns whether a chain may go by an edge of the snapshot: it holds its target, which edges between tiers do not. */
const leads = ({type, source, isForeign}) => type !== 'weak' && (type !== 'shortcut' || source === 0) && !isForeign;

/** Returns the distance of each node from the root, in edges that lead. */
function distances(file) {
  const distance = new Array(file.nodes.length).fill(Infinity), queue = [0];
  distance[0] = 0;
  for (const node of queue) {
    for (const edge of file.nodes[node].edges) {
      if (!leads(edge) || distance[edge.target] < Infinity) continue;
      distance[edge.target] = distance[node] + 1;
      queue.push(edge.target);
    }
  }
  return distance;
}

/** Follows a chain that path has printed; returns the nodes to which it may lead, and its length. */
function follow(file, text, addressOf) {
  const [first, ...steps] = text.trimEnd().split('\n');
  assert.equal(first, '(root)');
  let at = new Set([0]);
  for (const step of steps) {
    const [, label, name, address] = /^(.*) -> (.*?)(?: @([0-9a-f]+))?$/.exec(step) ?? [];
    const next = new Set();
    for (const node of at) {
      for (const edge of file.nodes[node].edges) {
        const target = file.nodes[edge.target];
        if (!leads(edge) || edge.label !== label) continue;
        if (target.type === 'string' ? name !== '(string)' : target.name !== inSnapshot(name)) continue;
        if (address === undefined ? target.type === 'synthetic' : addressOf(target) === BigInt(`0x${address}`)) next.add(edge.target);
      }
    }
    assert.ok(next.size > 0, `there is no '${step}' in\n${text}`);
    at = next;
  }
  return {at, length: steps.length};
}

for (const input of inputs) {
  const args = input.split('+');
  const [dump, exe] = args;
  const name = `${basename(dump, '.dump.gz')}${exe ? ', typed' : ''}`;
  const path = join(directory, 'a.heapsnapshot');
  const {status} = call(converter, '--no-contexts', ...(exe ? ['--exe', exe] : []), '-o', path, dump);
  assert.equal(status, 0);
  const snapshot = await loadSnapshot(path);
  const file = read(path);
  // A class whose objects DevTools shows as detached in part, or arrays by what holds them, are several rows of Summary.
  const rowOf = new Map();
  for (const {name: shown, count, retained} of Object.values(snapshot.aggregates())) {
    const className = inView(shown), row = rowOf.get(className);
    rowOf.set(className, {name: className, count: count + (row?.count ?? 0), retained: retained + (row?.retained ?? 0)});
  }
  const rows = [...rowOf.values()];

  test(`${name}: classes has the ${rows.length} classes of Summary, and how many objects each has`, () => {
    const lines = run(join(bin, 'classes'), ...args).trimEnd().split('\n').map(line => /^(\d+) (.*)$/.exec(line).slice(1));
    const numbers = lines.map(([count]) => Number(count));
    assert.deepEqual(numbers, [...numbers].sort((a, b) => b - a), 'the most frequent come first');
    // Garbage without a type is one class there, several by size here.
    const isTold = rows.some(row => row.name === '(garbage)') ? name => !/^(no)?ptr\d+$|^\(garbage\)$/.test(name) : () => true;
    const told = entries => sorted(entries.filter(([className]) => isTold(className)));
    assert.deepEqual(told(lines.map(([count, className]) => [inSnapshot(className), Number(count)])), told(rows.map(row => [row.name, row.count])));
  });

  // What the runtime keeps of a map is a row of its own in Summary only.
  // The stack of a goroutine retains there what the goroutine does.
  assert.equal(rows.some(row => /^map\[.* entries$/.test(row.name)), exe !== undefined);
  const counted = rows.filter(row => !/^map\[.* entries$|^goroutine stack/.test(row.name));
  test(`${name}: retained has the ten rows of Summary that retain most`, () => {
    const lines = run(join(bin, 'retained'), ...args).trimEnd().split('\n');
    const found = lines.map(line => /^ *(\d+) bytes by (\d+) of (.*)$/.exec(line).slice(1))
      .map(([retained, count, className]) => ({name: inSnapshot(className), count: Number(count), retained: Number(retained)}))
      .filter(row => !row.name.startsWith('goroutine stack'));
    const byName = new Map(counted.map(row => [row.name, {name: row.name, count: row.count, retained: row.retained}]));
    assert.deepEqual(found, found.map(row => byName.get(row.name)));
    assert.deepEqual(found.map(row => row.retained), counted.map(row => row.retained).sort((a, b) => b - a).slice(0, found.length));
    assert.equal(new Set(found.map(row => row.name)).size, found.length);
  });

  test(`${name}: edges has the ${file.edgeCount} edges of the snapshot`, () => {
    const [head, ...records] = parse(run(join(bin, 'edges'), ...args));
    assert.deepEqual(head.map(({text}) => text), ['source', 'target', 'label', 'flags']);
    assert.equal(records.length, file.edgeCount);
    for (const record of records) {
      const edge = file.nodes[Number(record[0].text)].edges.find(each => each.isForeign === undefined && isEdge(record, each));
      assert.ok(edge, `${JSON.stringify(record)} is in the snapshot`);
      edge.isForeign = /\bforeign\b/.test(record[3].text);
    }
    const flags = new Set(records.flatMap(([, , , {text}]) => text.split(' ')));
    assert.deepEqual([...flags].sort(), exe ? ['', 'elem', 'foreign', 'index', 'internal', 'key', 'shortcut', 'weak'] : ['', 'foreign', 'index', 'internal', 'shortcut', 'weak']);
  });

  const objects = file.nodes.filter(({id}) => id % 2 === 1), count = 12;
  test(`${name}: path finds a shortest chain to each of ${count} objects`, () => {
    const {id_base: base, id_arenas: arenas, id_displaced: displaced} = file.tool;
    assert.deepEqual([arenas, displaced], [undefined, 0], 'addresses follow from ids');
    const addressOf = ({id}) => BigInt(base) + BigInt((id - 1) / 2) * 8n;
    const distance = distances(file);
    for (let i = 0; i < count; i++) {
      const object = objects[Math.floor(i * (objects.length - 1) / (count - 1))], number = file.nodes.indexOf(object);
      // The address of any byte of the object, as a program's %p prints it, or without 0x.
      const address = `${i % 2 === 0 ? '0x' : ''}${(addressOf(object) + BigInt(i % 8)).toString(16)}`;
      const {at, length} = follow(file, run(join(bin, 'path'), dump, address, ...args.slice(1)), addressOf);
      assert.deepEqual([...at], [number]);
      assert.equal(length, distance[number], `the chain to ${address}`);
    }
  });
}

const [dump, exe] = inputs.find(input => input.includes('+')).split('+');
test('what goes wrong is said, and is the exit status', () => {
  for (const name of ['classes', 'retained', 'edges']) {
    const program = join(bin, name);
    assert.equal(call(program).status, 2, name);
    const noDump = call(program, exe), other = call(program, dump, converter);
    assert.deepEqual([noDump.status, noDump.stdout, other.status, other.stdout], [1, '', 1, ''], name);
    assert.match(noDump.stderr, /^.*not a Go heap dump.*\n$/);
    assert.match(other.stderr, /^.+\n$/);
  }
  const path = join(bin, 'path');
  assert.equal(call(path, dump).status, 2);
  const none = call(path, dump, '8');
  assert.deepEqual([none.status, none.stdout, none.stderr], [1, '', `${dump}: nothing is found at 8\n`]);
});
end();
