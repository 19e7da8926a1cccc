// Fast readers of the files that measure.mjs compares, for heaps of several million objects: they make typed arrays
// instead of an object per record. Addresses are Numbers: Go's are below 2^48.
import fs from 'node:fs';

/** A whole file of any size that fits into memory. */
export function readWhole(path) {
  const fd = fs.openSync(path);
  const { size } = fs.fstatSync(fd);
  const bytes = Buffer.allocUnsafe(size);
  for (let at = 0; at < size;) {
    const n = fs.readSync(fd, bytes, at, Math.min(size - at, 1 << 28), at);
    if (n === 0) throw new Error(`${path} has become shorter`);
    at += n;
  }
  fs.closeSync(fd);
  return bytes;
}

/** The index of the last element of an ascending array that is not above a value, or -1. */
export function floorIndex(array, value, count = array.length) {
  let low = 0, high = count;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (array[middle] <= value) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

// ---------------------------------------------------------------------------------------------------------------

/** A snapshot: columns of nodes and edges; edges of node n are first[n] … first[n + 1] - 1. */
export function readSnapshot(path) {
  const bytes = readWhole(path);
  const nodesAt = bytes.indexOf('"nodes":[');
  if (nodesAt < 0) throw new Error(`${path}: no nodes`);
  const head = bytes.toString('utf8', 0, nodesAt).replace(/,\s*$/, '');
  const header = JSON.parse(`${head}}`).snapshot;
  const { meta } = header;
  const width = meta.node_fields.length, edgeWidth = meta.edge_fields.length;
  const N = Object.fromEntries(meta.node_fields.map((name, i) => [name, i]));
  const E = Object.fromEntries(meta.edge_fields.map((name, i) => [name, i]));

  let at = nodesAt + '"nodes":['.length;
  const number = () => {
    let c = bytes[at];
    while (c < 48 || c > 57) c = bytes[++at];
    let value = 0;
    while (c >= 48 && c <= 57) {
      value = value * 10 + c - 48;
      c = bytes[++at];
    }
    return value;
  };
  const nodeCount = header.node_count, edgeCount = header.edge_count;
  const node = { type: new Uint8Array(nodeCount), name: new Uint32Array(nodeCount), id: new Uint32Array(nodeCount),
    size: new Float64Array(nodeCount), first: new Uint32Array(nodeCount + 1) };
  const cells = new Array(width);
  for (let n = 0; n < nodeCount; n++) {
    for (let k = 0; k < width; k++) cells[k] = number();
    node.type[n] = cells[N.type];
    node.name[n] = cells[N.name];
    node.id[n] = cells[N.id];
    node.size[n] = cells[N.self_size];
    node.first[n + 1] = node.first[n] + cells[N.edge_count];
  }
  at = bytes.indexOf('"edges":[', at) + '"edges":['.length;
  const edge = { type: new Uint8Array(edgeCount), name: new Uint32Array(edgeCount), to: new Uint32Array(edgeCount) };
  for (let e = 0; e < edgeCount; e++) {
    for (let k = 0; k < edgeWidth; k++) cells[k] = number();
    edge.type[e] = cells[E.type];
    edge.name[e] = cells[E.name_or_index];
    edge.to[e] = cells[E.to_node] / width;
  }
  if (node.first[nodeCount] !== edgeCount) throw new Error(`${path}: the counts of edges do not add up`);
  const stringsAt = bytes.indexOf('"strings":', at) + '"strings":'.length;
  const strings = JSON.parse(bytes.toString('utf8', stringsAt).replace(/\}\s*$/, ''));
  const tool = header.go2heapsnapshot;

  const guess = strings.indexOf('type is a guess'), holds = strings.indexOf('holds'), weak = meta.edge_types[E.type].indexOf('weak');
  const remark = (n, name) => {
    for (let e = node.first[n]; e < node.first[n + 1]; e++) {
      if (edge.name[e] === name && edge.type[e] === weak && node.id[edge.to[e]] % 2 === 0) return e;
    }
    return -1;
  };
  const arenaOf = new Map((tool.id_arenas ?? []).map(([address, slot]) => [slot, Number(address)]));
  const base = Number(tool.id_base);
  return { path, header, tool, node, edge, strings, count: nodeCount,
    nodeTypes: meta.node_types[N.type], edgeTypes: meta.edge_types[E.type],
    /** The address of a node's object: see Ids in docs/snapshot-format.md. */
    address(n) {
      const place = (node.id[n] - 1) / 2 * 8;
      const arena = arenaOf.get(Math.floor(place / 2 ** 26));
      return arena === undefined ? base + place : arena + place % 2 ** 26;
    },
    isObject: (n) => node.id[n] % 2 === 1,
    className: (n) => strings[node.name[n]],
    /** Edges add to the class of an object that it is a guess (isGuess), or the type of a part that is known (partOf). */
    isGuess: (n) => remark(n, guess) >= 0,
    partOf(n) {
      const e = remark(n, holds);
      return e < 0 ? '' : strings[node.name[edge.to[e]]];
    },
    edgeName(e) {
      const type = this.edgeTypes[edge.type[e]];
      return type === 'element' || type === 'hidden' ? `[${edge.name[e]}]` : strings[edge.name[e]];
    },
    child(n, name) {
      for (let e = node.first[n]; e < node.first[n + 1]; e++) if (this.className(edge.to[e]) === name) return edge.to[e];
      return -1;
    } };
}

/**
 * Finds the nodes that the root reaches over edges that hold, so not by shortcuts into lists, except through (unreachable): {reached: Uint8Array,
 * from, via, order}, where via[n] is the edge by which n was reached first (breadth first) and from[n] the node of that edge.
 */
export function reachable(s) {
  const { node, edge } = s;
  const weak = s.edgeTypes.indexOf('weak'), shortcut = s.edgeTypes.indexOf('shortcut');
  const reached = new Uint8Array(s.count), from = new Int32Array(s.count).fill(-1), via = new Int32Array(s.count).fill(-1);
  const queue = new Uint32Array(s.count);
  const closed = s.child(0, '(unreachable)');
  let head = 0, tail = 0;
  queue[tail++] = 0;
  reached[0] = 1;
  while (head < tail) {
    const n = queue[head++];
    for (let e = node.first[n]; e < node.first[n + 1]; e++) {
      const to = edge.to[e];
      if (edge.type[e] === weak || n !== 0 && edge.type[e] === shortcut || reached[to] || to === closed) continue;
      reached[to] = 1;
      from[to] = n;
      via[to] = e;
      queue[tail++] = to;
    }
  }
  return { reached, from, via, order: queue.subarray(0, tail) };
}

// ---------------------------------------------------------------------------------------------------------------

/** The objects of a dump of Go 1.7 or later, by address: for looking at their words. */
export function readDump(path) {
  const bytes = readWhole(path);
  const magic = 'go1.7 heap dump\n';
  if (bytes.toString('latin1', 0, magic.length) !== magic) throw new Error(`${path}: not a dump of Go 1.7 or later`);
  let at = magic.length;
  const varint = () => {
    let value = 0, factor = 1;
    for (;;) {
      const b = bytes[at++];
      value += (b & 0x7f) * factor;
      if (b < 0x80) return value;
      factor *= 128;
    }
  };
  const skipText = () => { const n = varint(); at += n; };
  let capacity = 1 << 20, count = 0, pointerSize = 8, bigEndian = false;
  let address = new Float64Array(capacity), offset = new Float64Array(capacity), size = new Float64Array(capacity);
  let pointers = new Uint8Array(capacity);
  const grow = (array) => { const a = new array.constructor(2 * array.length); a.set(array); return a; };
  for (let done = false; !done;) {
    switch (varint()) {
      case 6: // params
        bigEndian = varint() === 1;
        pointerSize = varint();
        varint();
        varint();
        skipText();
        skipText();
        varint();
        break;
      case 8: // itab
        varint();
        varint();
        break;
      case 3: // type
        varint();
        varint();
        skipText();
        varint();
        break;
      case 1: { // object
        if (count === capacity) {
          capacity *= 2;
          [address, offset, size, pointers] = [address, offset, size, pointers].map(grow);
        }
        address[count] = varint();
        const length = varint();
        size[count] = length;
        offset[count] = at;
        at += length < 0x7ffff000 ? length : Math.min(length % 2 ** 32, 0x7ffff000);
        if (varint() !== 0) {
          pointers[count] = 1;
          do varint(); while (varint() !== 0);
        }
        count++;
        break;
      }
      default:
        done = true; // goroutines and what follows
    }
  }
  const order = new Uint32Array(count).map((_, i) => i).sort((a, b) => address[a] - address[b]);
  const sorted = (array) => { const a = new array.constructor(count); for (let i = 0; i < count; i++) a[i] = array[order[i]]; return a; };
  address = sorted(address);
  offset = sorted(offset);
  size = sorted(size);
  pointers = sorted(pointers);
  return { path, pointerSize, count, address, size, pointers,
    /** The object that contains an address, or -1. */
    find(a) {
      const i = floorIndex(address, a, count);
      return i >= 0 && a < address[i] + size[i] ? i : -1;
    },
    at(a) {
      const i = floorIndex(address, a, count);
      return i >= 0 && address[i] === a ? i : -1;
    },
    /** The word at an offset of an object. */
    word(i, where) {
      if (where + pointerSize > size[i]) return 0;
      const p = offset[i] + where;
      if (pointerSize === 4) return bigEndian ? bytes.readUInt32BE(p) : bytes.readUInt32LE(p);
      return bigEndian ? bytes.readUInt32BE(p) * 2 ** 32 + bytes.readUInt32BE(p + 4)
        : bytes.readUInt32LE(p) + bytes.readUInt32LE(p + 4) * 2 ** 32;
    },
    byte(i, where) { return bytes[offset[i] + where]; },
    text(i, where, length) { return bytes.toString('latin1', offset[i] + where, offset[i] + where + length); } };
}

// ---------------------------------------------------------------------------------------------------------------

/** Reads the file that record.go wrote: {header, types, functions: Map entry → name, count, address, size, type, index}. */
export function readTruth(path) {
  const bytes = readWhole(path);
  let at = 0;
  const line = () => {
    const end = bytes.indexOf(10, at);
    const text = bytes.toString('utf8', at, end);
    at = end + 1;
    return text;
  };
  const header = JSON.parse(line());
  const types = [];
  for (let i = 0; i < header.types; i++) types.push(JSON.parse(line()));
  const functions = new Map();
  for (let i = 0; i < header.functions; i++) {
    const text = line();
    const space = text.indexOf(' ');
    functions.set(parseInt(text.slice(0, space), 16), text.slice(space + 1));
  }
  const count = header.rows;
  if (bytes.length - at !== 24 * count) throw new Error(`${path}: ${bytes.length - at} bytes of rows, not 24 * ${count}`);
  const address = new Float64Array(count), size = new Float64Array(count);
  const type = new Int32Array(count), index = new Uint32Array(count);
  for (let i = 0; i < count; i++, at += 24) {
    address[i] = bytes.readUInt32LE(at) + bytes.readUInt32LE(at + 4) * 2 ** 32;
    size[i] = bytes.readUInt32LE(at + 8) + bytes.readUInt32LE(at + 12) * 2 ** 32;
    type[i] = bytes.readInt32LE(at + 16);
    index[i] = bytes.readUInt32LE(at + 20);
  }
  return { path, header, types, functions, count, address, size, type, index };
}

/**
 * The allocation of each object of a dump: {row: Int32Array, parts: Uint16Array}; row is -1 if none is known. A live
 * object's allocation is the last one in its slot; only allocations of parts of a tiny block come after it, which parts counts.
 */
export function allocations(dump, truth) {
  const row = new Int32Array(dump.count).fill(-1), parts = new Uint16Array(dump.count);
  const headerFrom = dump.pointerSize === 8 ? 512 : 128;
  for (let r = 0; r < truth.count; r++) {
    const i = dump.find(truth.address[r]);
    if (i < 0) continue;
    const distance = truth.address[r] - dump.address[i];
    if (distance === 0 || (distance === 8 && dump.pointers[i] && dump.size[i] > headerFrom)) {
      row[i] = r;
      parts[i] = 0;
    } else {
      parts[i]++;
    }
  }
  return { row, parts };
}
