// The totals of one dump in every format, each read from its own bytes.

import {execFileSync} from 'node:child_process';
import {readFileSync} from 'node:fs';
import {gunzipSync} from 'node:zlib';

/** Returns the rows of a query as arrays of strings. */
export function query(database, sql) {
  const text = execFileSync('sqlite3', ['-separator', '\t', database, sql], {encoding: 'utf8', maxBuffer: 1 << 30});
  return text.split('\n').slice(0, -1).map(row => row.split('\t'));
}

/** Returns {objects, bytes, stacks}: those of the nodes of a snapshot. */
export function ofSnapshot(path) {
  const {snapshot, nodes} = JSON.parse(readFileSync(path, 'utf8'));
  const fields = snapshot.meta.node_fields, types = snapshot.meta.node_types[0], size = fields.indexOf('self_size'), type = fields.indexOf('type');
  const figures = {objects: 0, bytes: 0, stacks: 0};
  for (let i = 0; i < nodes.length; i += fields.length) add(figures, types[nodes[i + type]], nodes[i + size]);
  return figures;
}

function add(figures, type, size) {
  if (type === 'native') figures.stacks += size;
  else if (type !== 'synthetic') {
    figures.objects++;
    figures.bytes += size;
  }
}

/** The same of the file nodes.csv. Names are quoted, and may have commas and line breaks. */
export function ofCsv(directory) {
  const text = readFileSync(`${directory}/nodes.csv`, 'utf8'), figures = {objects: 0, bytes: 0, stacks: 0};
  const row = /([^,\n]*),(?:"(?:[^"]|"")*"|[^,\n]*),([^,\n]*),([^,\n]*),[^\n]*\n/gy;
  row.lastIndex = text.indexOf('\n') + 1;
  for (let found; (found = row.exec(text));) add(figures, found[2], Number(found[3]));
  return figures;
}

/** The same of a database. */
export function ofDatabase(path) {
  const [[objects, bytes, stacks]] = query(path, "SELECT sum(type NOT IN ('synthetic', 'native')), " +
    "sum(CASE WHEN type NOT IN ('synthetic', 'native') THEN self_size ELSE 0 END), sum(CASE WHEN type = 'native' THEN self_size ELSE 0 END) FROM node");
  return {objects: Number(objects), bytes: Number(bytes), stacks: Number(stacks)};
}

/** Returns the sums of a profile's values by the names of their types. */
export function ofProfile(path) {
  const data = gunzipSync(readFileSync(path)), sums = [], types = [], strings = [];
  for (const [field, value] of messages(data)) {
    if (field === 6) strings.push(value.toString('utf8'));
    if (field === 1) types.push(Number([...messages(value)].find(([f]) => f === 1)[1]));
    if (field === 2)
      for (const [f, values] of messages(value)) {
        if (f !== 2) continue;
        const numbers = typeof values === 'bigint' ? [values] : [...varints(values)];
        numbers.forEach((number, i) => { sums[i] = (sums[i] ?? 0) + Number(number); });
      }
  }
  return Object.fromEntries(types.map((type, i) => [strings[type], sums[i]]));
}

/** Reads the varint at cursor.at, and moves the cursor to its end. */
function varint(data, cursor) {
  let value = 0n, shift = 0n, byte;
  do {
    byte = data[cursor.at++];
    value |= BigInt(byte & 127) << shift;
    shift += 7n;
  } while (byte & 128);
  return value;
}

function* varints(data) {
  for (const cursor = {at: 0}; cursor.at < data.length;) yield varint(data, cursor);
}

/** Yields the fields of a message of protocol buffers: their numbers, and their values, as bytes or bigint. */
function* messages(data) {
  const cursor = {at: 0};
  while (cursor.at < data.length) {
    const tag = Number(varint(data, cursor));
    if ((tag & 7) === 0) yield [tag >> 3, varint(data, cursor)];
    else {
      const size = Number(varint(data, cursor));
      yield [tag >> 3, data.subarray(cursor.at, cursor.at += size)];
    }
  }
}

/** Returns how many nodes of a database have a name, and how many of these a node of another name dominates. */
export function heldBy(database, name, holder) {
  const dominators = new Map(), names = new Map();
  for (const [number, dominator, text] of query(database, 'SELECT n.number, coalesce(n.dominator, -1), hex(s.text) FROM node_ n LEFT JOIN string s ON s.number = n.name')) {
    dominators.set(Number(number), Number(dominator));
    names.set(Number(number), Buffer.from(text, 'hex').toString('utf8'));
  }
  const nodes = [...names].filter(([, text]) => text === name);
  const isHeld = ([number]) => {
    let at = dominators.get(number);
    while (at > 0 && names.get(at) !== holder) at = dominators.get(at);
    return at > 0;
  };
  return {all: nodes.length, held: nodes.filter(isHeld).length};
}

/**
 * Returns, by class, {objects, retained} of a database: the objects of this name, and what those of them retain that no other one of
 * these dominates, as docs/sqlite.md has it for one class.
 */
export function classesOf(database, names) {
  const rows = query(database, 'SELECT number, coalesce(dominator, -1), name, type, retained_size FROM node_ ORDER BY number').map(row => row.map(Number));
  const texts = new Map(query(database, 'SELECT number, hex(text) FROM string').map(([number, hex]) => [Number(number), Buffer.from(hex, 'hex').toString('utf8')]));
  const types = new Map(query(database, 'SELECT number, name FROM node_type').map(([number, name]) => [Number(number), name]));
  const classOf = ([, , name, type]) => {
    const kind = types.get(type);
    return kind === 'synthetic' || kind === 'native' ? undefined : kind.includes('string') ? '(string)' : texts.get(name);
  };
  const own = rows.map(classOf), result = new Map();
  for (const wanted of names) {
    const found = {objects: 0, retained: 0}, inside = new Int8Array(rows.length); // 1: outside of all of the class; 2: inside one
    inside[0] = own[0] === wanted ? 2 : 1;
    for (let node = 0; node < rows.length; node++) {
      const path = [];
      let at = node;
      for (; inside[at] === 0; at = rows[at][1]) path.push(at);
      for (let above = inside[at]; path.length;) {
        const next = path.pop();
        if (own[next] === wanted && above === 1) found.retained += rows[next][4];
        if (own[next] === wanted) above = 2;
        inside[next] = above;
      }
      if (own[node] === wanted) found.objects++;
    }
    result.set(wanted, found);
  }
  return result;
}
