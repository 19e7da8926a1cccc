// Compares dominators and retained sizes as the library computes them with those of DevTools' own worker, node by node.
//
//   dominators.test.mjs LISTING SNAPSHOT [LISTING SNAPSHOT]...
//
// A listing is the output of dominators.c for the snapshot's dump. The snapshot may have more nodes at its end, in which
// large objects continue: a snapshot needs these, a view does not. TAP on standard output.

import {readFileSync} from 'node:fs';
import {basename} from 'node:path';
import {loadSnapshot} from '../devtools/devtools.mjs';
import {end, report} from '../tap.mjs';

/**
 * Returns the dominators and retained sizes of a listing as they are in a snapshot, where all that a goroutine keeps is below its
 * stack; only the stack, the go statement and the thread are not.
 */
function asInSnapshot(lines, snapshot) {
  const rows = lines.map(line => line.split(' '));
  const stackOf = new Map();
  for (const node of snapshot.nodes()) {
    if (node.type !== 'native') continue;
    const goroutine = node.retainers().find(edge => edge.name === 'stack')?.source;
    if (goroutine?.type === 'synthetic' && /^goroutine \d/.test(goroutine.name) && node.edgeCount > 0) stackOf.set(goroutine.ordinal, node.ordinal);
  }
  return rows.map(([dominator, retained], ordinal) => {
    const stack = stackOf.get(Number(dominator));
    if (stack === undefined) return `${dominator} ${retained}`;
    if (stack === ordinal) return `${dominator} ${rows[dominator][1]}`;
    const isElsewhere = snapshot.node(ordinal).retainers().every(edge => ['created by', 'thread'].includes(edge.name));
    return `${isElsewhere ? dominator : stack} ${retained}`;
  });
}

/** Returns what differs, or undefined if nothing does. */
function difference(listing, snapshot) {
  const {worker, nodeCount, problems} = snapshot;
  if (problems.length > 0) {
    return `DevTools says: ${problems[0]}`;
  }
  const lines = asInSnapshot(listing.trimEnd().split('\n'), snapshot);
  for (let ordinal = lines.length; ordinal < nodeCount; ordinal++) {
    const part = snapshot.node(ordinal);
    if (!part.name.endsWith(' (continued)') || part.retainedSize !== part.selfSize ||
        !part.retainers().some(edge => edge.source.ordinal === part.dominator.ordinal && edge.name === 'continued')) {
      return `${lines.length} nodes in the listing, ${nodeCount} in the snapshot, of which node ${ordinal} continues none`;
    }
  }
  for (let ordinal = 0; ordinal < lines.length; ordinal++) {
    const expected = `${worker.dominatorsTree[ordinal]} ${worker.retainedSizes[ordinal]}`;
    if (lines[ordinal] !== expected) {
      return `node ${ordinal}: dominator and retained size are ${expected} in DevTools, ${lines[ordinal]} here`;
    }
  }
  return undefined;
}

const files = process.argv.slice(2);
for (let i = 0; i < files.length; i += 2) {
  const snapshot = await loadSnapshot(files[i + 1]);
  report(`${basename(files[i + 1], '.heapsnapshot')}: ${snapshot.nodeCount} nodes have the dominators of DevTools`,
    difference(readFileSync(files[i], 'utf8'), snapshot));
}
end();
