// Takes the walk of samples/README.md in a real Memory tab: from the types that have grown between two dumps, along the
// names of fields, map keys, locals and globals, to what keeps their objects.
//
//   walk.test.mjs [--live] LEAK.1.heapsnapshot LEAK.2.heapsnapshot      of samples/leakserver, made with --exe
//
// With --live, the server got its requests from another process: it has garbage of its connections, and only a global holds
// the auctions.
//
// TAP on standard output. Exits with 77, and one skipped test, if there is no Chromium.

import assert from 'node:assert/strict';
import {endWithoutChromium, MemoryTab, TabTests} from './browser.mjs';

const isLive = process.argv[2] === '--live';
const [base, target] = process.argv.slice(isLive ? 3 : 2);
if (target === undefined) {
  console.error('usage: walk.test.mjs [--live] LEAK.1.heapsnapshot LEAK.2.heapsnapshot');
  process.exit(2);
}
endWithoutChromium();

/** Asserts that there are rows like these in this order, as 'edge in object' or 'edge :: object'. */
function assertWay(rows, patterns, between) {
  const seen = rows.map(row => `${row.edge} ${between} ${row.object}`);
  let from = 0;
  for (const pattern of patterns) {
    const found = seen.findIndex((text, i) => i >= from && pattern.test(text));
    assert.ok(found >= 0, `${pattern} is not in\n${seen.slice(0, 30).join('\n')}`);
    from = found + 1;
  }
}

const stacks = 'Detached goroutine stack [chan send] main.ask main.go:178';
const tab = await MemoryTab.open();
const tests = new TabTests(tab);
try {
  await tab.load(base);
  await tab.load(target);
  await tab.select(1);

  /** Opens a class of Comparison and selects its first object; returns the rows of Retainers. */
  async function retainersOf(class_) {
    const [{id}] = await tab.expand(row => row.depth === 0 && row.name === class_);
    return tab.retainers(row => row.id === id);
  }

  await tab.perspective('Comparison');
  await tests.test('Comparison shows what has leaked by its type', async () => {
    const rows = new Map((await tab.rows()).map(row => [row.name, row['# Delta']]));
    for (const [name, delta] of Object.entries({
      'main.Session': '+1 600', 'main.Watcher': '+1 600', 'chan *main.Bid': '+1 600', '[]*main.Bid': '+1 600',
      'main.Preview': '+300', 'main.Valuation': '+60', 'chan *main.Valuation': '+60',
      // DevTools puts "Detached" before the stacks of goroutines that can never run again.
      [stacks]: '+60',
    })) {
      assert.equal(rows.get(name)?.replace(/\s/g, ' '), delta, name);
    }
    const sizes = [...rows.keys()].filter(name => /^(no)?ptr\d+$/.test(name));
    assert.ok(isLive || sizes.length <= rows.size / 5, `few classes have no type: ${sizes}`);
  });

  await tests.test('Retainers of a main.Preview: the key of a map, and the global variable', async () =>
    assertWay(await retainersOf('main.Preview'), [
      /^\["(lamp|clock|chair|globe), \d+ wide"\] in /, /^\S+ in map\[string\]\*main\.Preview$/, /^previews\.byName in main$/,
      /^\[\d+\] in \(globals\)$/,
    ], 'in'));

  await tests.test('Retainers of a main.Valuation: the local variable, its frame and its goroutine', async () =>
    assertWay(await retainersOf('main.Valuation'), [
      /^v\? in main\.ask main\.go:\d+$/, /^\[\d+\] in (Detached )?goroutine stack \[chan send\] main\./, /^stack in goroutine \d+ \[chan send\] main\./,
      /^\[\d+\] in \d+ goroutines \[chan send\] main\./, /^\[\d+\] in \(goroutines\)$/, /^\[\d+\] in \(GC roots\)$/,
    ], 'in'));

  await tests.test('Retainers of a main.Session: fields, and the number that is its key', async () =>
    assertWay(await retainersOf('main.Session'), [
      /^Session in main\.Watcher$/, /^\[\d+\] in /, /^\S+ in map\[uint64\]\*main\.Watcher$/, /^watchers in main\.Auction$/,
    ], 'in'));

  await tests.test('Summary: an object shows its fields, and strings their text', async () => {
    await tab.perspective('Summary');
    await tab.filter('main.Session');
    const [{id}] = await tab.expand(row => row.depth === 0 && row.name === 'main.Session');
    const fields = await tab.expand(row => row.id === id);
    for (const [edge, text] of Object.entries({
      Token: /^"[0-9a-f]{16}"$/, Client: /^"127\.0\.0\.1:\d+"$/, Seen: /^\[\]string$/,
    })) {
      assert.match(fields.find(row => row.edge === edge)?.object ?? 'nothing', text, edge);
    }
    await tab.filter('');
  });

  await tests.test('Containment: a package and its variables; a goroutine, its stack, frames and their variables', async () => {
    await tab.perspective('Containment');
    await tab.expand(row => row.object === '(globals)' && row.edge === 'program');
    assertWay(await tab.expand(row => row.object === 'main'), [/^previews\.byName :: map\[string\]\*main\.Preview$/], '::');
    await tab.perspective('Summary');
    await tab.perspective('Containment');
    await tab.expand(row => row.object === '(GC roots)');
    await tab.expand(row => row.object === '(goroutines)');
    await tab.expand(row => / goroutines \[chan send\] /.test(row.object));
    const goroutine = await tab.expand(row => /^goroutine \d+ \[chan send\] /.test(row.object));
    assertWay(goroutine, [/^created by :: go statement in main\.\(\*Server\)\.value main\.go:\d+$/], '::');
    await tab.expand(row => row.edge === 'stack' && row.depth === 4);
    const variables = await tab.expand(row => row.depth === 5 && /^main\.ask main\.go:\d+$/.test(row.object));
    assertWay(variables, [/^v\? :: main\.Valuation$/], '::');
  });

  if (!isLive) await tests.test('Containment: what several hold together, by who holds it', async () => {
    await tab.perspective('Summary');
    await tab.perspective('Containment');
    await tab.expand(row => row.object === '(GC roots)');
    const rows = await tab.expand(row => row.object === '(held by several)');
    assert.ok(rows.some(row => /^\d goroutines and \(defers and panics\)$/.test(row.edge)), rows.map(row => row.edge).join('; '));
    assert.equal(rows.filter(row => row.object === 'main.Auction').length, 0, 'what a variable holds belongs to it');
  });

  const filter = 'Summary: the filter of a package has what its globals alone hold, and nothing else';
  await tab.perspective('Summary');
  const contexts = await tab.contexts();
  // Debian's first Chromium of bookworm, 150, has no native contexts; 156 has them.
  if (!contexts.are && contexts.version < 156) tests.skip(filter, `there are no native contexts in Chromium ${contexts.version}`);
  else await tests.test(filter, async () => {
    const count = (rows, name) => Number(rows.find(row => row.depth === 0 && row.name === name)?.count.replace(/\D/g, '') ?? 0);
    await tab.perspective('Summary');
    await tab.objects('All objects'); // when this is tried again, another filter may still be set
    const all = await tab.rows();
    assert.equal(count(all, 'map[string]*main.Preview entries'), 3, 'a directory, its table and the slots are one class');
    const names = new Set(all.filter(row => row.depth === 0).map(row => row.name));
    assert.ok(names.has('string header'), 'of string, the 16 bytes');
    assert.ok(names.has('http.Request') && !names.has('net/http.Request'), 'names are short');
    await tab.objects('Native context globals of main @');
    const main = await tab.rows();
    assert.equal(count(main, 'main.Preview'), count(all, 'main.Preview'), 'previews.byName is a global');
    assert.equal(count(main, 'main.Valuation'), 0);
    await tab.objects('Native context 80 goroutines [chan send] main.ask');
    const goroutines = await tab.rows();
    assert.equal(count(goroutines, stacks), 80);
    assert.ok(count(goroutines, 'main.Valuation') > 0);
    await tab.objects('All objects');
  });

  await tests.test('DevTools has no complaint on its console', () => assert.deepEqual(tab.problems, []));
} finally {
  await tab.close();
}

tests.end();
