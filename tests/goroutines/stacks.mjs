// Compares the stacks, parents and starters of a database that go2heapsnapshot has written with what the runtime said of the same
// goroutines (the profile goroutine, debug=2), and the labels with those that the program printed. TAP lines on standard output.
//
//   stacks.mjs NAME DATABASE STACKS LABELS

import {execFileSync} from 'node:child_process';
import {readFileSync} from 'node:fs';
import {basename} from 'node:path';

const [name, database, stacksPath, labelsPath] = process.argv.slice(2);

function query(sql) {
  const text = execFileSync('sqlite3', ['-json', database, sql], {maxBuffer: 1 << 28, encoding: 'utf8'});
  return text.trim() === '' ? [] : JSON.parse(text);
}

function test(what, found, expected) {
  const differ = [...expected.keys()].filter(goid => JSON.stringify(found.get(goid)) !== JSON.stringify(expected.get(goid)));
  console.log(`${differ.length === 0 && expected.size > 0 ? 'ok' : 'not ok'} - ${name}: ${what} of ${expected.size} goroutines`);
  for (const goid of differ.slice(0, 5)) {
    console.log(`# goroutine ${goid}: expected ${JSON.stringify(expected.get(goid), null, 1).replaceAll('\n', '\n# ')}`);
    console.log(`# found ${JSON.stringify(found.get(goid), null, 1)?.replaceAll('\n', '\n# ')}`);
  }
}

/** The name as tracebacks have it: funcNameForPrint() of runtime/traceback.go. */
const shown = text => text.replace(/\[.*\]/s, '[...]').replace(/^runtime\.gopanic$/, 'panic');

/** Whether tracebacks have a function: showfuncinfo(). */
const isShown = text => text.includes('.') &&
  (!text.startsWith('runtime.') || /^runtime\.[A-Z]/.test(text) || /^runtime\.(gopanic|run(Finalizers|Cleanups))$/.test(text));

/** Reads the profile: by goid the frames, the go statement, the parent, and the starters. */
function readStacks(text) {
  const all = new Map();
  for (const block of text.trim().split('\n\n')) {
    const lines = block.split('\n'), [, goid] = /^goroutine (\d+) /.exec(lines[0]);
    const one = {frames: [], created: null, parent: null, starters: []};
    let into = one.frames;
    for (let i = 1; i < lines.length; i++) {
      const place = () => {
        const [, file, line] = /^\t(.*):(\d+)/.exec(lines[++i]);
        return `${basename(file)}:${line}`;
      };
      const created = /^created by (.*?)(?: in goroutine (\d+))?$/.exec(lines[i]), from = /^\[originating from goroutine (\d+)\]:/.exec(lines[i]);
      if (from) {
        one.starters.push([Number(from[1]), into = []]);
      } else if (created) {
        const at = place();
        if (one.starters.length === 0) Object.assign(one, {created: `${created[1]} ${at}`, parent: created[2] === undefined ? null : Number(created[2])});
      } else if (/^\.\.\./.test(lines[i])) {
        one.elidedAt = one.frames.length; // what follows are the outermost ones
      } else {
        const call = lines[i].replace(/\((?:[^()]|\([^()]*\))*\)$/, '');
        into.push(`${call} ${place()}`);
      }
    }
    all.set(Number(goid), one);
  }
  return all;
}

const expected = readStacks(readFileSync(stacksPath, 'utf8'));
const dumping = new Set(query('SELECT goid FROM goroutine WHERE state = "dumping heap"').map(row => row.goid));
for (const goid of dumping) expected.delete(goid);

const frames = new Map([...expected.keys()].map(goid => [goid, []]));
for (const {goid, function: call, file, line, is_wrapper: isWrapper} of query('SELECT * FROM goroutine_frame ORDER BY goid, depth'))
  if (isShown(call) && !isWrapper) frames.get(goid)?.push(`${shown(call)} ${basename(file ?? '')}:${line}`);
for (const [goid, {elidedAt, frames: {length}}] of expected)
  if (elidedAt !== undefined) frames.get(goid).splice(elidedAt, frames.get(goid).length - length);
test('functions and lines', frames, new Map([...expected].map(([goid, one]) => [goid, one.frames])));

const created = new Map(query(`SELECT goid, s.text AS site FROM goroutine JOIN edge_ e ON e.from_node = node
  JOIN string l ON l.number = e.name AND l.text = 'created by' JOIN node_ n ON n.number = e.to_node JOIN string s ON s.number = n.name`)
  .map(({goid, site}) => [goid, shown(site.replace(/^go statement in | ← .*/gs, ''))]));
test('go statements', created, new Map([...expected].filter(([, one]) => one.created).map(([goid, one]) => [goid, one.created])));

const hasParents = [...expected.values()].some(one => one.parent !== null);
if (hasParents) {
  const parents = new Map(query('SELECT goid, parent FROM goroutine').map(row => [row.goid, row.parent]));
  test('parents', parents, new Map([...expected].filter(([, one]) => one.parent !== null).map(([goid, one]) => [goid, one.parent])));
}

// The profile prints the functions at return addresses, which may be those of the next line. So only the numbers are compared.
const starters = new Map();
for (const {goid, starter} of query('SELECT DISTINCT goid, level, starter FROM goroutine_starter ORDER BY goid, level')) {
  if (!starters.has(goid)) starters.set(goid, []);
  starters.get(goid).push(starter);
}
test('starters', starters, new Map([...expected].filter(([, one]) => one.starters.length > 0)
  .map(([goid, one]) => [goid, one.starters.filter(([, calls]) => calls.length > 0).map(([starter]) => starter)])));
const callers = query(`SELECT below.function || ' ' || count(*) AS text FROM goroutine_starter at JOIN goroutine_starter below ON below.goid = at.goid
  AND below.level = 0 AND below.depth = 1 WHERE at.level = 0 AND at.depth = 0 AND at.function = 'main.spawn' GROUP BY below.function ORDER BY 1`).map(row => row.text).join();
console.log(`${callers === 'main.fromAPI 1,main.fromCron 2' ? 'ok' : 'not ok'} - ${name}: callers of the function with the go statement: ${callers}`);

const count = list => JSON.stringify([...list].sort());
const labels = count(query('SELECT key, value FROM goroutine_label').map(({key, value}) => `label ${key} ${value}`));
const printed = count(readFileSync(labelsPath, 'utf8').split('\n').filter(line => line.startsWith('label ')));
console.log(`${labels === printed && labels.length > 2 ? 'ok' : 'not ok'} - ${name}: labels`);
if (labels !== printed) console.log(`# ${labels}\n# ${printed}`);
