// Loads two snapshots of a series into a real Memory tab. For each class, Comparison must agree with what Summary says was
// allocated between the two. Only the stack of a goroutine may have another class than before, because its class says what
// the goroutine waits for.
//
//   series.test.mjs LEAK.1.heapsnapshot LEAK.2.heapsnapshot      of samples/leakserver, converted together, with --exe
//
// TAP on standard output. Exits with 77, and one skipped test, if there is no Chromium.

import assert from 'node:assert/strict';
import {basename} from 'node:path';
import {endWithoutChromium, MemoryTab, TabTests} from './browser.mjs';

const [base, target] = process.argv.slice(2);
if (target === undefined) {
  console.error('usage: series.test.mjs LEAK.1.heapsnapshot LEAK.2.heapsnapshot');
  process.exit(2);
}
endWithoutChromium();

const tab = await MemoryTab.open();
const tests = new TabTests(tab);

const number = (text) => Number(text.replace(/[^\d-]/g, ''));
const name = (file) => basename(file, '.heapsnapshot');

try {
  await tab.load(base);
  await tab.load(target);
  await tab.select(1);
  const fresh = new Map(), between = new Map();
  const isStack = (class_) => /^(Detached )?goroutine stack /.test(class_);
  await tests.test('Comparison: what has leaked is new, with its stacks', async () => {
    await tab.perspective('Comparison');
    for (const row of await tab.rows()) if (row.depth === 0 && number(row['# New']) > 0) fresh.set(row.name, number(row['# New']));
    assert.ok(fresh.get('main.Session') >= 1600 && fresh.get('main.Preview') >= 300, 'sessions and previews');
    assert.equal(fresh.get('Detached goroutine stack [chan send] main.ask main.go:178'), 60);
  });
  await tests.test('Summary: what was allocated between the two is what is new', async () => {
    await tab.perspective('Summary');
    await tab.objects(`Objects allocated between ${name(base)} and ${name(target)}`);
    for (const row of await tab.rows()) if (row.depth === 0) between.set(row.name, number(row.count));
    for (const [class_, count] of fresh) if (!isStack(class_)) assert.equal(between.get(class_), count, class_);
    for (const [class_, count] of between) assert.ok(isStack(class_) ? count <= fresh.get(class_) : fresh.has(class_), class_);
    const leak = [...between.keys()].find(class_ => isStack(class_) && class_.includes('main.ask'));
    assert.equal(between.get(leak), fresh.get(leak), 'stacks of the leak');
  });
  await tests.test('Summary: all else was allocated before the first', async () => {
    await tab.objects(`Objects allocated before ${name(base)}`);
    const before = new Map((await tab.rows()).map(row => [row.name, number(row.count)]));
    await tab.objects('All objects');
    const all = new Map((await tab.rows()).map(row => [row.name, number(row.count)]));
    for (const [class_, count] of all) assert.equal((before.get(class_) ?? 0) + (between.get(class_) ?? 0), count, class_);
  });
  await tests.test('DevTools has no complaint on its console', () => assert.deepEqual(tab.problems, []));
} finally {
  await tab.close();
}

tests.end();
