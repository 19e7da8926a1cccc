// Checks that a report says of waste what the program itself knows. TAP on standard output.
//
//   waste.mjs NAME WASTE.json REPORT.json      WASTE.json: the output of tests/formats/waste

import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';

import {end, test} from '../tap.mjs';

const [name, ...paths] = process.argv.slice(2);
const [known, report] = paths.map(path => JSON.parse(readFileSync(path, 'utf8')));
const {slices, stale, maps, substrings} = report.waste;
const sum = (rows, key) => rows.reduce((sum, row) => sum + row[key], 0);

test(`${name}: space in slices, by field and variable`, () => {
  for (const [place, {Wasted: wasted, Arrays: arrays}] of Object.entries(known.slices)) {
    const row = slices.places.find(row => row.place === place);
    assert.deepEqual([place, row?.wasted ?? 0, row?.arrays ?? 0], [place, wasted, arrays]);
  }
  assert.equal(slices.places.find(row => row.place === 'main.full'), undefined);
});
test(`${name}: what only slots that no slice uses hold, by field and variable`, () => {
  const rows = stale.places.filter(({place}) => place.startsWith('main.')).map(({place, wasted, objects}) => [place, wasted, objects]);
  assert.deepEqual(rows, Object.entries(known.stale).map(([place, {Wasted, Arrays}]) => [place, Wasted, Arrays]));
});
test(`${name}: texts of which strings have a part, by field and variable`, () => {
  const rows = substrings.places.map(({place, wasted, texts}) => [place, wasted, texts]);
  const wanted = Object.entries(known.parts).map(([place, {Wasted, Arrays}]) => [place, Wasted, Arrays]);
  assert.deepEqual(rows.filter(([place]) => /^main[.]|^map/.test(place)).sort(), wanted.sort());
});
test(`${name}: texts that are equal to their end`, () => {
  const long = report.waste.strings.texts.filter(({text}) => text.length > 1000);
  assert.deepEqual(long.map(({count, wasted}) => [count, wasted]), [[5, 4 * 3072]]);
});
test(`${name}: entries of maps, by type`, () => {
  for (const [type, [count, used]] of Object.entries(known.maps)) {
    const row = maps.types.find(row => row.type === type);
    assert.deepEqual([type, row?.maps, row?.used], [type, count, used]);
    assert.ok(used === 0 || row.slots >= used && row.slots % 8 === 0 && row.wasted > 0);
  }
});
test(`${name}: maps that have none`, () => {
  const row = maps.types.find(row => row.type === 'map[string]bool');
  assert.equal(row.empty, 100);
  assert.ok(row.empty_bytes >= 100 * 48 && row.empty_bytes < 100 * 512);
});
test(`${name}: sums are those of the rows`, () => {
  assert.equal(sum(slices.places, 'wasted'), slices.wasted);
  assert.equal(sum(slices.places, 'arrays'), slices.arrays);
  for (const key of ['wasted', 'maps', 'used', 'slots', 'bytes', 'empty', 'empty_bytes']) assert.equal(sum(maps.types, key), maps[key]);
  for (const key of ['wasted', 'objects']) assert.equal(sum(stale.places, key), stale[key]);
  for (const key of ['wasted', 'texts', 'bytes']) assert.equal(sum(substrings.places, key), substrings[key]);
  assert.equal(report.waste.wasted, slices.wasted + stale.wasted + maps.wasted + substrings.wasted + report.waste.strings.wasted);
});
test(`${name}: objects by the size of their slots`, () => {
  for (const [slot, objects] of Object.entries(known.slots)) {
    const row = report.waste.spans.sizes.find(row => row.slot === Number(slot));
    const found = row?.all_objects ?? 0;
    assert.ok(Math.abs(found - objects) <= 20 + objects / 100, `slots of ${slot} B: ${found} instead of ${objects}`);
  }
});
test(`${name}: what slots have beyond the value, and values beyond their fields`, () => {
  const {rounding, padding} = report.waste;
  for (const [type, {Objects: objects, Needed: needed, Padding: unused}] of Object.entries(known.layouts)) {
    const row = rounding.classes.find(row => row.class === type);
    assert.deepEqual([type, row?.objects, row?.needed - row?.headers, row?.wasted], [type, objects, needed, row?.bytes - row?.needed]);
    assert.equal(padding.classes.find(row => row.class === type)?.wasted, unused);
  }
  for (const [part, keys] of [[rounding, ['wasted', 'needed', 'headers', 'bytes']], [padding, ['wasted', 'saved']]])
    for (const key of keys) assert.ok(sum(part.classes, key) <= part[key]);
  assert.equal(sum(rounding.classes, 'wasted'), rounding.wasted);
  assert.equal(sum(padding.classes, 'saved'), padding.saved);
  assert.equal(sum(padding.classes, 'wasted'), padding.wasted);
});
end();
