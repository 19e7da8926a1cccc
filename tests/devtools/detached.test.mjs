// Compares the goroutines that a report in JSON calls leaked with what DevTools shows of a snapshot of the same dump: the class
// "Detached goroutine stack …" has their stacks, and the filter "Objects retained by detached DOM nodes" lists what they keep.
//
//   detached.test.mjs SNAPSHOT REPORT
//
// TAP on standard output; exits with 1 if a test failed.

import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';
import {loadSnapshot} from './devtools.mjs';

const [path, reportPath] = process.argv.slice(2);
const snapshot = await loadSnapshot(path);
const {leaked} = JSON.parse(readFileSync(reportPath, 'utf8'));
const kept = Object.values(snapshot.worker.aggregatesWithFilter({filterName: 'objectsRetainedByDetachedDomNodes'}));
const isStack = name => /^(Detached )?goroutine stack /.test(name);

function test(what, run) {
  try {
    run();
    console.log(`ok - ${what}`);
  } catch (error) {
    process.exitCode = 1;
    console.log(`not ok - ${what}\n${String(error.message).replace(/^/gm, '# ')}`);
  }
}

test('DevTools shows the stacks of leaked goroutines as detached', () => {
  assert.ok(leaked.count > 0);
  const stacks = Object.values(snapshot.aggregates()).filter(row => row.name.startsWith('Detached goroutine stack '));
  assert.equal(stacks.reduce((sum, row) => sum + row.count, 0), leaked.count);
  const goids = new Set([...snapshot.nodes()].filter(node => node.type === 'synthetic' && node.detachedness === 2)
    .map(node => Number(/^goroutine (\d+)/.exec(node.name)[1])));
  assert.deepEqual([...goids].sort((a, b) => a - b), leaked.goroutines.map(goroutine => Number(goroutine.goid)).sort((a, b) => a - b));
});

test('its filter for detached nodes lists what leaked goroutines keep', () => {
  const stacks = kept.filter(row => isStack(row.name));
  assert.ok(stacks.every(row => row.name.startsWith('Detached ')), stacks.map(row => row.name).join(', '));
  assert.equal(stacks.reduce((sum, row) => sum + row.count, 0), leaked.count);
  // The report adds up what each place keeps; DevTools also lists what several places keep together.
  const bytes = kept.reduce((sum, row) => sum + row.self, 0);
  assert.ok(bytes >= leaked.retained, `${bytes} bytes, in the report ${leaked.retained}`);
});
