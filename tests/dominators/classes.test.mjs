// Checks that all formats say the same of what a class retains: the bytes that would be free without all of its objects. It is
// computed here from the rows of the database, and must be what DevTools' Summary, the report, --path-to, the summary, the
// query of docs/sqlite.md and pprof's cum say. A summary says it of the objects that are not garbage. TAP on standard output.
//
//   classes.test.mjs GO2HEAPSNAPSHOT PPROF NAME DIRECTORY CLASS...
//
// DIRECTORY has NAME.dump, NAME.exe, NAME.heapsnapshot, NAME.json (the report), NAME.db, NAME.summary.db and NAME.pb.gz.
// CLASSes contain themselves.

import assert from 'node:assert/strict';
import {execFileSync} from 'node:child_process';
import {readFileSync} from 'node:fs';
import {join} from 'node:path';

import {loadSnapshot} from '../devtools/devtools.mjs';
import {end, test} from '../tap.mjs';

const [program, pprof, name, directory, ...recursive] = process.argv.slice(2);
const file = ending => join(directory, `${name}.${ending}`);
const run = (command, ...words) => execFileSync(command, words, {encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'], maxBuffer: 1 << 30});
const rows = (database, sql) => JSON.parse(run('sqlite3', '-json', file(database), sql) || '[]');

/** The class in the report of a class of a snapshot, which tells arrays apart by their holders, and substrings from strings. */
const merged = name => name === '(sliced string)' ? '(string)' : name.replace(/^(\[\]\S+) \(.*\)$/s, '$1');

/**
 * Returns the retained size of each class, from the rows of the database: of all objects, and of those that are held. The parts
 * of a map have no class of their own.
 */
function unions() {
  const nodes = rows('db', `SELECT n.number, n.dominator, n.retained_size AS retained, t.name AS type, s.text AS name FROM node_ n
    JOIN node_type t ON t.number = n.type JOIN string s ON s.number = n.name ORDER BY n.number`);
  const classOf = node => node.type.endsWith('string') ? '(string)' : node.type === 'object' ? merged(node.name) : undefined;
  const all = {}, held = {};
  const aboveOf = node => node.dominator === null ? undefined : nodes[node.dominator];
  const isGarbage = node => { while (node && node.name !== '(unreachable)') node = aboveOf(node); return Boolean(node); };
  for (const node of nodes) {
    const name = classOf(node);
    let above = node;
    if (name === undefined || name.endsWith(' entries')) continue;
    do above = aboveOf(above); while (above && classOf(above) !== name);
    all[name] = (all[name] ?? 0) + (above ? 0 : node.retained);
    held[name] = (held[name] ?? 0) + (above || isGarbage(node) ? 0 : node.retained);
  }
  return {all, held};
}

const {all: expected, held} = unions(), classes = Object.keys(expected);
/** What a sync.Map consists of is a class of its own in DevTools and in the database only, and so is garbage without a type. */
const isPart = name => name === '(garbage)' || /^(internal\/sync|sync|unique)\.(entry|indirect|node)\b/.test(name);
const of = entries => Object.fromEntries(entries.filter(([name]) => name in expected));
const withoutParts = sizes => of(Object.entries(sizes).filter(([name]) => !isPart(name)));
const report = JSON.parse(readFileSync(file('json'), 'utf8'));

test(`${name}: there are classes that contain themselves`, () => {
  for (const each of recursive) {
    const [{sum}] = rows('db', `SELECT sum(retained_size) AS sum FROM node WHERE name = '${each}'`);
    assert.ok(sum > expected[each], each);
  }
});
test(`${name}: the report`, () => assert.deepEqual(of(report.classes.map(row => [row.class, row.retained])), withoutParts(expected)));
test(`${name}: --path-to`, () => {
  for (const each of recursive) {
    const path = JSON.parse(run(program, '--exe', file('exe'), '--format', 'report', '--json', '--path-to', each, file('dump')));
    assert.equal(path.class.retained, expected[each], each);
  }
});
test(`${name}: the summary, which counts garbage apart`, () =>
  assert.deepEqual(of(rows('summary.db', 'SELECT class, retained FROM class_stat').map(row => [row.class, row.retained])), withoutParts(held)));
test(`${name}: the query of docs/sqlite.md`, () => {
  const page = readFileSync(new URL('../../docs/sqlite.md', import.meta.url), 'utf8');
  const sql = [...page.matchAll(/^```sql\n(.*?)^```/gms)].map(([, text]) => text).find(text => text.includes('AS together'));
  for (const each of recursive) {
    const asked = sql.replace(/-- →.*/g, '').replace(/text = '[^']*'/, `text = '${each}'`);
    assert.equal(rows('db', asked)[0].together, expected[each], each);
  }
});
test(`${name}: pprof`, () => {
  const top = run(pprof, '-top', '-cum', '-nodecount=1000000', '-nodefraction=0', '-unit=B', file('pb.gz'));
  const found = {};
  for (const [, cum, name] of top.matchAll(/^ *\d+B? +\S+% +\S+% +(\d+)B? +\S+% {2}(.*)$/gm)) found[name] = Number(cum);
  for (const each of classes.filter(name => !isPart(name))) assert.equal(found[each], expected[each], each);
});
const snapshot = await loadSnapshot(file('heapsnapshot'));
test(`${name}: Summary in DevTools`, () => {
  const shown = {}; // neither arrays that have holders nor strings hold others of their class: the sizes add up
  for (const {name: each, retained} of Object.values(snapshot.aggregates())) shown[merged(each)] = (shown[merged(each)] ?? 0) + retained;
  assert.deepEqual(of(Object.entries(shown)), expected);
});
end();
