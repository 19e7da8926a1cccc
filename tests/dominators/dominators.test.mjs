// Dominators and retained sizes as the library computes them, against those of DevTools' own worker, node by node.
//
//   dominators.test.mjs LISTING SNAPSHOT [LISTING SNAPSHOT]...
//
// A listing is what dominators.c prints of the dump that became the snapshot. TAP on standard output.

import {readFileSync} from 'node:fs';
import {basename} from 'node:path';
import {loadSnapshot} from '../devtools/devtools.mjs';

let tests = 0;

function result(name, wrong) {
  console.log(`${wrong ? 'not ok' : 'ok'} ${++tests} - ${name}`);
  if (wrong) {
    console.log(`# ${wrong}`);
  }
}

/** What differs; undefined where nothing does. */
function difference(listing, {worker, nodeCount, problems, node}) {
  if (problems.length > 0) {
    return `DevTools says: ${problems[0]}`;
  }
  const lines = listing.trimEnd().split('\n');
  if (lines.length !== nodeCount) {
    return `${lines.length} nodes in the listing, ${nodeCount} in the snapshot`;
  }
  for (let ordinal = 0; ordinal < nodeCount; ordinal++) {
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
  result(`${basename(files[i + 1], '.heapsnapshot')}: ${snapshot.nodeCount} nodes have the dominators of DevTools`,
    difference(readFileSync(files[i], 'utf8'), snapshot));
}
