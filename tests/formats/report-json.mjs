// Checks that a report as JSON has the figures of the same report as text: it makes lines of the text from the numbers and
// the words between them, and the text must have these lines. TAP on standard output.
//
//   report-json.mjs NAME REPORT.json REPORT.txt

import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';

import {end, test} from '../tap.mjs';

const [name, json, path] = process.argv.slice(2);
const report = JSON.parse(readFileSync(json, 'utf8'));
const lines = readFileSync(path, 'utf8').split('\n').map(line => line.replace(/ +/g, ' ').trim());

/** bytes() writes a size in three digits, count() a number with its digits in groups, change() a change with its sign. */
function bytes(size) {
  if (size < 1000) return `${size} B`;
  const units = ['kB', 'MB', 'GB', 'TB'];
  let value = size / 1000;
  for (; value >= 999.5; value /= 1000) units.shift();
  return `${value.toFixed(value < 9.995 ? 2 : value < 99.95 ? 1 : 0)} ${units[0]}`;
}
const count = number => number.toLocaleString('en');
const change = (number, show = count) => number === 0 ? '·' : (number < 0 ? '-' : '+') + show(Math.abs(number));

/** Checks that a line begins with this text; names may be cut in the report as text. */
function has(begin) {
  const line = begin.replace(/ +/g, ' ').trim();
  assert.ok(lines.some(known => known.startsWith(line) || line.startsWith(known.replace(/….*/, '')) && /…/.test(known)), line);
}

test(`${name}: totals`, () => {
  const {heap, process: system, since} = report;
  has(`${heap.source} ${heap.go} ${bytes(heap.bytes)} in ${count(heap.objects)} objects ${count(heap.goroutines)} goroutines`);
  has(`reachable ${bytes(heap.reachable)}`);
  if (system && !system.rss) has(`process has ${bytes(system.bytes)}: objects ${bytes(system.objects)}, free ${bytes(system.free)}, stacks ${bytes(system.stacks)}, runtime ${bytes(system.runtime)}`);
  if (since) has(`since ${since.source}: ${change(since.reachable, bytes)}`);
});
test(`${name}: suspects`, () => {
  report.suspects.forEach((suspect, index) => {
    const grown = suspect.retained_grown !== undefined;
    has(`${index + 1} ${grown ? change(suspect.retained_grown, bytes) : bytes(suspect.retained)}`);
    const [number, more, what] = suspect.is_entries ? [suspect.entries, suspect.entries_grown, 'entries'] : [suspect.count, suspect.count_grown, suspect.item];
    assert.ok(lines.some(line => line.includes(grown ? `${change(more)} ${what}, now ${count(number)}` : `${count(number)} ${what}`)));
    /* A path that does not fit on a line is the type and the field that lead there, and the variable that it begins with. */
    const short = lines.find(line => line.startsWith('held by ') && line.includes(', below ') && suspect.held_by?.startsWith(line.replace(/.*, below /, '')));
    const [, word, owner] = /^(f\d+\S*)( {2}\(local of .*)$/.exec(suspect.held_by) ?? []; // with the class of what is there
    const isOfFrame = word && lines.some(line => line.startsWith(`held by ${word}, a `) && line.includes(owner.trim()));
    if (suspect.held_by && !isOfFrame && !(short && suspect.held_by.length >= 60)) has(`held by ${suspect.held_by.replace(/\.(local|victim)\[.*(?= {2}\(in a sync\.Pool)/, '')}`);
    const said = lines.find(line => line.startsWith(`held by ${suspect.held_by}, a `)); // how large the container is, if that says more
    if (said && suspect.container) assert.ok(said.includes(`, a ${suspect.container.kind} of ${count(suspect.container.entries)} entr`), said);
    if (suspect.each) has(`each ${bytes(suspect.each.retained)}`);
    if (suspect.each?.parts)
      assert.equal(suspect.each.parts.reduce((sum, part) => sum + part.bytes, 0) + (suspect.each.slots ?? 0) + (suspect.each.rest ?? 0), suspect.each.retained);
  });
});
test(`${name}: tables`, () => {
  const grew = row => row.grown === undefined || row.grown > 0;
  const grown = row => row.grown === undefined ? '' : `${change(row.grown)} `;
  const leaked = row => row.leaked === undefined ? '' : `${count(row.leaked)} `;
  if (report.leaked?.count > 0) {
    const [wait, retain] = report.leaked.count > 1 ? ['they wait', 'They retain'] : ['it waits', 'It retains'];
    has(`leaked: ${count(report.leaked.count)} can never run again: nothing alive reaches what ${wait} on. ${retain} ${bytes(report.leaked.retained)}`);
    assert.equal(report.goroutines.reduce((sum, row) => sum + row.leaked, 0), report.leaked.count);
    assert.equal(report.goroutines.reduce((sum, row) => sum + row.leaked_retained, 0), report.leaked.retained);
    assert.equal(report.leaked.goroutines.length, report.leaked.count);
    for (const row of report.goroutines) assert.ok(row.leaked <= row.count && row.leaked_retained <= row.retained, row.place);
  }
  for (const row of report.goroutines.slice(0, 10).filter(grew)) {
    const figures = `${grown(row)}${count(row.count)} ${leaked(row)}${bytes(row.retained)} ${row.started_at.split(' ← ')[0]}`.trim();
    // labels, and who started the starter, follow where there is room
    assert.ok(lines.some(line => row.labels ? line.includes(figures) : line.endsWith(figures) || line.includes(`${figures} ← `)), row.place);
  }
  for (const row of report.classes.slice(0, 10).filter(grew))
    assert.ok(lines.some(line => line.endsWith(`${count(row.objects)} ${bytes(row.bytes)} ${bytes(row.retained)}${row.grown === undefined ? '' : ` ${change(row.grown, bytes)}`}`)), row.class);
});
test(`${name}: the tree`, () => {
  let shown = 0;
  (function walk(nodes) {
    for (const node of nodes) {
      const size = node.retained_grown === undefined ? bytes(node.retained) : node.retained_grown < 0 ? '-' : `+${bytes(node.retained_grown)}`;
      assert.ok(lines.some(line => line.startsWith(`${size} `)), node.name);
      shown++;
      walk(node.holds);
    }
  })(report.tree);
  assert.ok(shown > 5);
});
test(`${name}: waste`, () => {
  const {waste} = report;
  if (!waste) return;
  has(`WASTE ${bytes(waste.wasted)}`);
  // The text leaves out slices that waste less than 1/1000 of the heap: src/output/report/report_waste.c.
  for (const row of lines.some(line => line.startsWith('slices ')) ? waste.slices.places.slice(0, 1) : []) has(`${bytes(row.wasted)} ${count(row.arrays)} × ${row.place}`);
  for (const row of (waste.maps?.types ?? []).slice(0, 1)) has(`${bytes(row.wasted)} ${count(row.maps)} × ${row.type}`);
  for (const row of (waste.strings?.texts ?? []).slice(0, 1)) has(`${bytes(row.wasted)} ${count(row.count)} × "${row.text}"`);
  // The text leaves out rounding of less than 1/100 of its objects' bytes or so: src/output/report/report_waste.c.
  for (const row of lines.some(line => line.startsWith('rounding ')) ? waste.rounding.classes.slice(0, 1) : []) has(`${bytes(row.wasted)} ${count(row.objects)} × ${row.class}, `);
});
end();
