// Gives what DevTools computes from a snapshot, by running its own loader and worker in Node (see build.mjs).
//
//   import {loadSnapshot, comparison} from './devtools.mjs';
//   const snapshot = await loadSnapshot('app.heapsnapshot');
//   snapshot.problems                        // [] unless DevTools warned about something
//   snapshot.aggregates()['ptr64']           // a row of Summary: {count, self, retained, distance, ids}
//   const node = snapshot.nodeById(4711);    // or nodesByName('(globals)'), nodesOfClass('ptr64'), root
//   node.retainedSize, node.distance, node.edges(), node.retainers(), node.dominator
//   comparison(before, after)['ptr64']       // a row of Comparison: {addedCount, removedCount, …, addedIds, removedIds}
//   snapshot.worker                          // DevTools' JSHeapSnapshot, for everything else

import {closeSync, openSync, readSync} from 'node:fs';
import {buildWorker} from './build.mjs';

const {HeapSnapshotLoader, HeapSnapshotModel, SecondaryInitManager, consoleMessages} = await import(await buildWorker());

/** The panel reads files in slices of this size (HeapSnapshotView.ts). */
const sliceSize = 10_000_000;

/**
 * The panel shows distances from here on as "−": the node cannot be reached, or only from what is not part of the program.
 */
const endOfDistances = HeapSnapshotModel.baseSystemDistance;

/** A node of a snapshot. It costs little and is made when it is asked for. */
export class Node {
  #worker;
  #node;

  constructor(snapshot, index) {
    this.snapshot = snapshot;
    this.#worker = snapshot.worker;
    this.#node = this.#worker.createNode(index);
  }

  /** The index of the node's first cell in the file's array of nodes, and the number of nodes before it. */
  get index() { return this.#node.nodeIndex; }
  get ordinal() { return this.#node.ordinal(); }

  get id() { return this.#node.id(); }
  get type() { return this.#node.type(); }
  /** The name as in the file (DevTools' own name() cuts and changes some). */
  get name() { return this.#node.rawName(); }
  get displayName() { return this.#node.name(); }
  get className() { return this.#node.className(); }
  get selfSize() { return this.#node.selfSize(); }
  get retainedSize() { return this.#node.retainedSize(); }
  get edgeCount() { return this.#node.edgesCount(); }
  get detachedness() { return this.#node.detachedness(); }

  /** Edges from the root, or null where the panel shows "−". */
  get distance() {
    const distance = this.#node.distance();
    return distance >= 0 && distance < endOfDistances ? distance : null;
  }

  /** The node's immediate dominator, or null for the root. */
  get dominator() {
    return this.#node.isRoot() ? null : new Node(this.snapshot, this.#node.dominatorIndex());
  }

  /** Outgoing edges in the file's order: [{type, name, target}]. */
  edges() {
    const edges = [];
    for (const edge of iterate(this.#node.edges())) {
      edges.push({type: edge.type(), name: edge.name(), target: new Node(this.snapshot, edge.nodeIndex())});
    }
    return edges;
  }

  /** The target of the first edge with this name, or undefined. */
  follow(name) { return this.edges().find(edge => String(edge.name) === String(name))?.target; }

  /** Incoming edges, also those that the Retainers pane hides (weak ones and the root's): [{type, name, source}]. */
  retainers() {
    const edges = [];
    for (const edge of iterate(this.#node.retainers())) {
      edges.push({type: edge.type(), name: edge.name(), source: new Node(this.snapshot, edge.nodeIndex())});
    }
    return edges;
  }

  toString() { return `${this.name} @${this.id}`; }
}

function* iterate(iterator) {
  for (; iterator.hasNext(); iterator.next()) {
    yield iterator.item();
  }
}

/** A loaded snapshot. */
export class Snapshot {
  #ordinals;
  #rawAggregates;

  constructor(worker, problems, order) {
    /** DevTools' JSHeapSnapshot. */
    this.worker = worker;
    /** Warnings and errors of the loader and the worker while they loaded the file. */
    this.problems = problems;
    /** Tells snapshots apart where DevTools caches comparisons. */
    this.order = order;
  }

  /** What the file has under "snapshot". */
  get header() { return this.worker.profile.snapshot; }
  get nodeCount() { return this.worker.nodeCount; }
  get edgeCount() { return this.worker.containmentEdges.length / this.worker.edgeFieldsCount; }
  get strings() { return this.worker.strings; }
  get totalSize() { return this.worker.totalSize; }
  get root() { return new Node(this, this.worker.rootNodeIndex); }

  node(ordinal) { return new Node(this, ordinal * this.worker.nodeFieldCount); }

  * nodes() {
    for (let ordinal = 0; ordinal < this.nodeCount; ordinal++) {
      yield this.node(ordinal);
    }
  }

  /** The node with this id, or undefined. */
  nodeById(id) {
    if (this.#ordinals === undefined) {
      // A Map takes 16 million entries at most, so this is a hash table of ordinals + 1, at most half full.
      this.#ordinals = new Uint32Array(2 ** Math.ceil(Math.log2(2 * this.nodeCount + 2)));
      for (let ordinal = 0; ordinal < this.nodeCount; ordinal++) {
        this.#ordinals[this.#slotOf(this.#idOf(ordinal))] = ordinal + 1;
      }
    }
    const found = this.#ordinals[this.#slotOf(id)];
    return found === 0 ? undefined : this.node(found - 1);
  }

  /** Returns the slot of this id in the hash table, or the slot where it would be. */
  #slotOf(id) {
    const mask = this.#ordinals.length - 1;
    let slot = (Math.imul(id, 0x9e3779b1) >>> 5) & mask;
    while (this.#ordinals[slot] !== 0 && this.#idOf(this.#ordinals[slot] - 1) !== id) {
      slot = (slot + 1) & mask;
    }
    return slot;
  }

  #idOf(ordinal) {
    return this.worker.nodes.getValue(ordinal * this.worker.nodeFieldCount + this.worker.nodeIdOffset);
  }

  /** All nodes with this name (of any type, of any size). */
  nodesByName(name) {
    const {nodes, nodeFieldCount, nodeNameOffset, strings} = this.worker;
    const found = [];
    for (let index = 0; index < nodes.length; index += nodeFieldCount) {
      if (strings[nodes.getValue(index + nodeNameOffset)] === name) {
        found.push(new Node(this, index));
      }
    }
    return found;
  }

  /** The nodes that Summary lists under this class. */
  nodesOfClass(name) {
    return Object.values(this.#aggregates()).filter(aggregate => aggregate.name === name)
      .flatMap(aggregate => Array.from(aggregate.idxs, index => new Node(this, index)));
  }

  #aggregates() { return this.#rawAggregates ??= this.worker.aggregatesWithFilter({}); }

  /**
   * The rows of Summary, by class name: {name, count, self, retained, distance, ids}.
   * Nodes of size 0 are in no row. (If two rows have the same name, which locations can cause, the second one is under
   * DevTools' key for it.)
   */
  aggregates() {
    const rows = Object.create(null);
    for (const [key, aggregate] of Object.entries(this.#aggregates())) {
      const snapshot = this;
      rows[aggregate.name in rows ? key : aggregate.name] = {
        name: aggregate.name,
        count: aggregate.count,
        self: aggregate.self,
        retained: aggregate.maxRet,
        distance: aggregate.distance < endOfDistances ? aggregate.distance : null,
        get ids() { return Array.from(aggregate.idxs, index => new Node(snapshot, index).id); },
      };
    }
    return rows;
  }

  /** The numbers of Statistics: {total, native: {total, typedArrays}, v8heap: {total, code, jsArrays, strings, system}}. */
  statistics() { return this.worker.getStatistics(); }
}

/**
 * The rows of Comparison, by class name: {name, addedCount, removedCount, countDelta, addedSize, removedSize,
 * sizeDelta, addedIds, removedIds}; classes in which nothing came or went have no row.
 */
export function comparison(base, target) {
  const rows = Object.create(null);
  const aggregates = base.worker.aggregatesForDiff(target.worker.interfaceDefinitions());
  for (const [key, diff] of Object.entries(target.worker.calculateSnapshotDiff(base.order, aggregates))) {
    const {name, addedCount, removedCount, countDelta, addedSize, removedSize, sizeDelta, addedIds} = diff;
    rows[name in rows ? key : name] = {
      name, addedCount, removedCount, countDelta, addedSize, removedSize, sizeDelta,
      addedIds, removedIds: diff.deletedIds,
    };
  }
  return rows;
}

/** The slices of a file, or of a buffer, as the panel would read them. */
function* slicesOf(pathOrBuffer) {
  if (typeof pathOrBuffer !== 'string') {
    for (let start = 0; start < pathOrBuffer.length; start += sliceSize) {
      yield pathOrBuffer.subarray(start, start + sliceSize);
    }
    return;
  }
  const file = openSync(pathOrBuffer);
  try {
    const slice = Buffer.allocUnsafe(sliceSize);
    for (let length; (length = readSync(file, slice, 0, sliceSize)) > 0;) {
      yield slice.subarray(0, length);
    }
  } finally {
    closeSync(file);
  }
}

const nextTurn = () => new Promise(resolve => setImmediate(resolve));

async function load(pathOrBuffer, order) {
  consoleMessages.length = 0;
  const problems = [];
  const dispatcher = {
    sendEvent(name, text) {
      if (name === HeapSnapshotModel.HeapSnapshotProgressEvent.BrokenSnapshot) problems.push(text);
    },
  };
  const loader = new HeapSnapshotLoader(dispatcher);
  const decoder = new TextDecoder();
  let failed = false;
  loader.parsingComplete.catch(() => failed = true);
  for (const slice of slicesOf(pathOrBuffer)) {
    loader.write(decoder.decode(slice, {stream: true}));
    // Lets the loader parse this slice before it gets the next one, so that memory holds only one of them.
    await nextTurn();
    if (failed) {
      break;
    }
  }
  loader.write(decoder.decode());
  loader.close();

  // DevTools computes dominators in a second worker; here both ends of the channel are in this thread.
  const channel = new MessageChannel();
  try {
    new SecondaryInitManager(channel.port2);
    const worker = await loader.buildSnapshot(channel.port1);
    return new Snapshot(worker, [...problems, ...consoleMessages], order);
  } catch (error) {
    throw error instanceof Error ? error : new Error(String(error));
  } finally {
    channel.port1.close();
    channel.port2.close();
    consoleMessages.length = 0;
  }
}

let loaded = 0;
let previous = Promise.resolve();

/**
 * Loads a snapshot from a path or a Buffer. Fails if DevTools fails; what DevTools only warns about is in `problems`.
 * Snapshots are loaded one after the other, so that each message is counted for the right one.
 */
export function loadSnapshot(pathOrBuffer) {
  const order = ++loaded;
  const result = previous.then(() => load(pathOrBuffer, order));
  previous = result.catch(() => {});
  return result;
}
