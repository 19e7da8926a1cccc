// Loads two snapshots into a real Memory tab and compares all that it shows with what DevTools' worker computes in Node for
// the same files. For a pair from our program, this shows that a user sees the numbers that the other tests check.
//
//   memory-tab.test.mjs --base A.heapsnapshot --target B.heapsnapshot [--screenshots DIR]
//
// TAP on standard output. Screenshots go to build/screenshots/ unless --screenshots names another directory. Exits with 77,
// and one skipped test, if there is no Chromium.

import assert from 'node:assert/strict';
import {basename, dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {parseArgs} from 'node:util';
import {endWithoutChromium, MemoryTab, TabTests} from './browser.mjs';
import {comparison, loadSnapshot} from './devtools.mjs';

/** Tables are compared up to this row. */
const limit = 300;

const {values: options} = parseArgs({
  options: {
    base: {type: 'string'},
    target: {type: 'string'},
    screenshots: {
      type: 'string',
      default: join(dirname(fileURLToPath(import.meta.url)), '../../build/screenshots'),
    },
  },
});
if (options.base === undefined || options.target === undefined) {
  console.error('usage: memory-tab.test.mjs --base FILE --target FILE [--screenshots DIR]');
  process.exit(2);
}
endWithoutChromium();

// The panel writes numbers like this (core/i18n/ByteUtilities.ts); they are compared without the spaces.
const inUnit = (unit, digits) => new Intl.NumberFormat('en-US', {
  style: 'unit', unit, unitDisplay: 'narrow', minimumFractionDigits: digits, maximumFractionDigits: digits,
});
const kilobytes = bytes => inUnit('kilobyte', bytes / 1e3 < 100 ? 1 : 0).format(bytes / 1e3);
const megabytes = bytes => inUnit('megabyte', bytes / 1e6 < 100 ? 1 : 0).format(bytes / 1e6);
const bytesText = bytes => bytes < 1e3 ? inUnit('byte', 0).format(bytes) :
  bytes < 1e6 ? kilobytes(bytes) : megabytes(bytes);
const thousands = number => new Intl.NumberFormat('en-US').format(number);
/** Comparison writes counts in another way (core/platform/NumberUtilities.ts). */
const spaced = number => thousands(number).replaceAll(',', ' ');
const signed = (number, format) => (number > 0 ? '+' : number < 0 ? '\u2212' : '') + format(Math.abs(number));
const plain = text => String(text).replace(/\s/g, '');
/** The panel draws white space in names as one space. */
const oneLine = text => String(text).replace(/\s+/g, ' ').trim();
const distanceText = distance => distance === null ? '\u2212' : String(distance);

/** Compares the rows that the panel shows with the expected ones, which `key` identifies. */
function compareTables(shown, expected, key) {
  const inOrder = table => new Map(table.map(row => [row[key], row]));
  const [shownRows, expectedRows] = [inOrder(shown), inOrder(expected)];
  if (shown.length < limit) {
    assert.deepEqual([...shownRows.keys()].sort(), [...expectedRows.keys()].sort());
  }
  for (const [name, row] of shownRows) {
    try {
      assert.deepEqual(row, expectedRows.get(name));
    } catch (error) {
      throw new Error(`row ${name}: ${error.message}`);
    }
  }
  assert.ok(shown.length > 0 || expected.length === 0, 'there are rows');
}

const base = await loadSnapshot(options.base);
const target = await loadSnapshot(options.target);
const screenshot = name => tab.screenshot(join(options.screenshots, `${name}.png`));
const title = path => basename(path, '.heapsnapshot');

/** The class that retains most, where a user starts. Undefined if there are no objects. */
const [topClass] = Object.values(target.aggregates()).sort((a, b) => b.retained - a.retained);

async function lookAround() {
  if (topClass === undefined) {
    return;
  }

  await tests.test('Summary shows the classes, counts, distances and sizes', async () => {
    await tab.perspective('Summary');
    const shown = (await tab.rows({limit})).map(row => ({
      name: row.name, count: row.count, distance: row.Distance,
      self: plain(row['Shallow size']), retained: plain(row['Retained size']),
    }));
    compareTables(shown, Object.values(target.aggregates()).map(row => ({
      name: oneLine(row.name), count: thousands(row.count), distance: distanceText(row.distance),
      self: plain(kilobytes(row.self)), retained: plain(kilobytes(row.retained)),
    })), 'name');
    await screenshot('summary');
  });

  await tests.test('Summary can be filtered by class', async () => {
    const text = topClass.name.slice(0, 12);
    await tab.filter(text);
    const shown = (await tab.rows({limit})).map(row => row.name);
    const expected = Object.keys(target.aggregates())
      .filter(name => name.toLowerCase().includes(text.toLowerCase())).map(oneLine);
    if (shown.length < limit) assert.deepEqual(shown.sort(), expected.sort());
    await tab.filter('');
  });

  await tests.test('Retainers shows what an object hangs on, up to a group of the roots', async () => {
    const [instance] = await tab.expand(row => row.depth === 0 && row.name === oneLine(topClass.name));
    const node = target.nodeById(instance.id);
    assert.equal(instance['Retained size'].replace(/\s/g, ''), plain(kilobytes(node.retainedSize)));
    const shown = await tab.retainers(row => row.id === instance.id);
    await screenshot('retainers');
    const expected = node.retainers().filter(({type, source}) => type !== 'weak' && source.id !== target.root.id)
      .map(({type, name, source}) => `${type === 'element' ? `[${name}]` : oneLine(name) || '(empty)'} in @${source.id}`);
    const direct = shown.filter(row => row.depth === 0 && row.id);
    for (const row of direct) {
      assert.ok(expected.includes(`${row.edge} in @${row.id}`), `retainer ${row.name} of ${node}`);
    }
    assert.ok(direct.length > 0 && (expected.length > 50 || direct.length === expected.length),
      `${direct.length} of ${expected.length} retainers of ${node}`);
    // The panel opens twenty levels by itself.
    if (node.distance < 20) {
      assert.ok(shown.some(row => ['(GC roots)', '(globals)'].includes(row.object)), shown.map(row => row.name).join('; '));
    }
  });

  await tests.test('Comparison shows what is new and what is deleted', async () => {
    const rows = Object.values(comparison(base, target));
    await tab.perspective('Comparison', {mayBeEmpty: rows.length === 0});
    const shown = (await tab.rows({limit})).map(row => ({
      name: row.name, added: row['# New'], removed: row['# Deleted'], delta: row['# Delta'],
      addedSize: plain(row['Alloc. size']), removedSize: plain(row['Freed size']), sizeDelta: plain(row['Size delta']),
    }));
    compareTables(shown, rows.map(row => ({
      name: oneLine(row.name), added: spaced(row.addedCount), removed: spaced(row.removedCount),
      delta: signed(row.countDelta, spaced), addedSize: plain(bytesText(row.addedSize)),
      removedSize: plain(bytesText(row.removedSize)), sizeDelta: plain(signed(row.sizeDelta, bytesText)),
    })), 'name');
    await screenshot('comparison');
    if (rows.length > 0) {
      const [most] = rows.sort((a, b) => b.addedSize - a.addedSize);
      const children = await tab.expand(row => row.depth === 0 && row.name === oneLine(most.name));
      const ids = new Set([...most.addedIds, ...most.removedIds]);
      assert.deepEqual(children.filter(row => row.id && !ids.has(row.id)).map(row => row.name), []);
      await screenshot('comparison-expanded');
    }
  });

  await tests.test('Containment shows the roots with their sizes', async () => {
    await tab.perspective('Containment');
    const asText = rows => rows.filter(row => row.id).map(
      row => `${row.edge} ${row.object} @${row.id} ${row.Distance} ${plain(row['Retained size'])}`).sort();
    const expected = node => node.edges().map(({type, name, target}) => [
      type === 'element' ? `[${name}]` : oneLine(name) || '(empty)', oneLine(target.displayName),
      `@${target.id}`, distanceText(target.distance), plain(kilobytes(target.retainedSize)),
    ].join(' ')).sort();
    assert.deepEqual(asText(await tab.rows({limit})), expected(target.root));
    const gcRoots = target.root.edges().find(edge => edge.target.name === '(GC roots)').target;
    const children = await tab.expand(row => row.id === gcRoots.id);
    await screenshot('containment');
    assert.deepEqual(asText(children), expected(gcRoots));
    // Opens one more level of the two largest roots, for the picture.
    const largest = gcRoots.edges().map(edge => edge.target).filter(node => node.edgeCount > 0)
      .sort((a, b) => b.retainedSize - a.retainedSize).slice(0, 2);
    for (const node of largest) {
      await tab.expand(row => row.id === node.id && row.depth === 1);
    }
    await screenshot('containment-expanded');
  });

  await tests.test('Statistics shows the kinds of memory', async () => {
    await tab.perspective('Statistics');
    await screenshot('statistics');
    const shown = await tab.statistics();
    const {total, native, v8heap} = target.statistics();
    const others = v8heap.total - v8heap.code - v8heap.strings - v8heap.jsArrays - v8heap.system;
    // Statistics shows whole kilobytes, whatever the size.
    const digits = text => Number(text.replace(/[^0-9.]/g, ''));
    for (const [name, bytes] of Object.entries({
      Code: v8heap.code, Strings: v8heap.strings, 'JS arrays': v8heap.jsArrays, 'System objects': v8heap.system,
      'Other JS objects': others, Total: total,
    })) {
      assert.ok(Math.abs(digits(shown[name]) - bytes / 1000) <= 1, `${name}: ${shown[name]}, not ${bytes} bytes`);
    }
    // In our own snapshots, the native memory is that of stacks, and what a live process has outside of the heap.
    const {go2heapsnapshot: ours, extra_native_bytes: outside} = target.header;
    assert.equal(native.total, ours ? (ours.stack_bytes ?? 0) + outside : outside ?? native.total);
  });

  await tests.test('DevTools has no complaint on its console', () => {
    assert.deepEqual(tab.problems, []);
  });
}

const tab = await MemoryTab.open();
const tests = new TabTests(tab);
try {
  const loaded = await tests.test(`Chromium loads ${title(options.base)} and ${title(options.target)}`, async () => {
    for (const [i, file] of [options.base, options.target].entries()) {
      if ((await tab.snapshots()).length === i) await tab.load(file);
    }
    assert.deepEqual((await tab.snapshots()).map(snapshot => ({...snapshot, size: plain(snapshot.size)})), [
      {title: title(options.base), size: plain(bytesText(base.totalSize)), loading: false},
      {title: title(options.target), size: plain(bytesText(target.totalSize)), loading: false},
    ]);
    await tab.select(1);
  });
  if (loaded) {
    await lookAround();
  } else {
    console.log('Bail out! nothing to look at');
  }
} finally {
  await tab.close();
}

tests.end();
