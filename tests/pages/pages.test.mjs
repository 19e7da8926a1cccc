// Compares what a report says that emptying a holder would free with by how much RSS of the program falls when it does so. TAP on
// standard output.
//
//   pages.test.mjs NATIVE PROGRAM NAME
//
//   NATIVE    go2heapsnapshot
//   PROGRAM   the program of program/, compiled
//   NAME      what precedes the tests' names

import assert from 'node:assert/strict';
import {execFileSync, spawn} from 'node:child_process';
import {readFileSync} from 'node:fs';
import {createInterface} from 'node:readline';
import process from 'node:process';
import {dataOf} from '../html/assemble.mjs';
import {end, step, test} from '../tap.mjs';

const [native, program, name] = process.argv.slice(2);
const TOLERANCE = 0.1, NOISE = 1 << 20; // of what has fallen; what the runtime itself takes and gives in a collection

/** Starts the program, and returns what reads and tells it. */
async function start(mode) {
  const child = spawn(program, [mode], {stdio: ['pipe', 'pipe', 'inherit']}), lines = createInterface({input: child.stdout})[Symbol.asyncIterator]();
  const expect = async pattern => pattern.exec((await lines.next()).value) ?? assert.fail(`the program does not say ${pattern}`);
  step(`${mode} is filled`);
  const [, nextGc] = await expect(/^ready (\d+)$/);
  return {
    nextGc: Number(nextGc),
    rss: () => 1024 * Number(/^Rss: *(\d+) kB$/m.exec(readFileSync(`/proc/${child.pid}/smaps_rollup`, 'latin1'))[1]),
    report: () => JSON.parse(execFileSync(native, ['--pid', child.pid, '--exe', program, '--format', 'report', '--json'],
      {stdio: ['ignore', 'pipe', 'pipe'], maxBuffer: 1 << 28})),
    dump: file => execFileSync(native, ['--pid', child.pid, '--exe', program, '--format', 'dump', '-o', file], {stdio: 'pipe'}),
    async empty(holder) {
      step(`${holder} is empty`);
      child.stdin.write(`${holder}\n`);
      await expect(/^emptied$/);
    },
    end: () => child.kill('SIGKILL'),
  };
}

function near(predicted, fallen, least = NOISE) {
  const wrong = Math.abs(predicted - fallen);
  console.log(`# predicted ${predicted}, fallen ${fallen}: ${(100 * wrong / fallen).toFixed(1)} %`);
  assert.ok(wrong <= Math.max(TOLERANCE * fallen, least), `predicted ${predicted}, but ${fallen} were freed`);
}

const suspectOf = (report, is) => report.suspects.find(is) ?? assert.fail(`no such suspect: ${JSON.stringify(report.suspects)}`);
const heldBy = variable => ({held_by: held}) => held === variable;

/** Empties a holder that a suspect is of. */
function emptying(mode, holder, is, check = () => {}) { // check(report, suspect, the running program)
  return test(`${name} ${mode}: RSS falls as the report predicts`, async () => {
    const running = await start(mode), before = running.rss(), report = running.report(), suspect = suspectOf(report, is);
    await running.empty(holder);
    near(suspect.pages.bytes, before - running.rss());
    check(report, suspect, running);
    running.end();
  });
}

await emptying('burst', 'index', heldBy('main.index'), (report, suspect, {nextGc}) => {
  const {collector} = report.process;
  assert.deepEqual([collector.goal, collector.gogc], [nextGc, 100]);
  assert.equal(collector.live + collector.garbage, collector.goal);
  assert.ok(suspect.pages.is_only_for_pages, 'it is a suspect for its pages alone');
  const [{held_by, count}] = report.free_slots.holders;
  assert.deepEqual([held_by, count], ['main.index', 6250]); // not what leads to the first of them
  assert.ok(report.free_slots.holders[0].free_slots > 0.9 * suspect.pages.bytes);
});
await emptying('arrays', 'arrays', ({item}) => item === '[]*main.request');
await emptying('noscan', 'bodies', heldBy('main.bodies'), report => assert.equal(report.free_slots.holders[0].held_by, 'main.bodies'));
await emptying('sizes', 'mixed', heldBy('main.mixed'), report => assert.equal(report.free_slots.holders[0].held_by, 'main.mixed'));
await emptying('stacks', 'stacks', ({is_goroutines: is}) => is);

await test(`${name} interleaved: one of two holders frees only its own, the other one what both shared`, async () => {
  const running = await start('interleaved');
  for (const holder of ['first', 'second']) {
    const before = running.rss(), suspect = suspectOf(running.report(), heldBy(`main.${holder}`)), {retained, pages} = suspect;
    await running.empty(holder);
    near(pages.bytes, before - running.rss());
    assert.equal(pages.bytes < retained / 2, holder === 'first', 'the first one leaves the pages to the second');
  }
  running.end();
});

await test(`${name} interleaved: SQLite, the page, MCP and --path-to have the figures of the report`, async () => {
  const running = await start('interleaved'), dump = `${program}.dump`, read = (...options) => execFileSync(native,
    ['--exe', program, ...options, dump], {stdio: ['pipe', 'pipe', 'pipe'], maxBuffer: 1 << 28, input: calls, encoding: 'utf8'});
  const calls = [['initialize', {protocolVersion: '2025-11-25', capabilities: {}, clientInfo: {name: 'tests', version: '1'}}],
    ...['summary', 'suspects'].map(tool => ['tools/call', {name: tool, arguments: {bytes: 100000}}])]
    .map(([method, params], id) => `${JSON.stringify({jsonrpc: '2.0', id, method, params})}\n`).join('');
  running.dump(dump);
  running.end();
  const report = JSON.parse(read('--format', 'report', '--json')), wanted = [];
  const gather = nodes => nodes?.forEach(({name: of, count, pages, holds}) => {
    if (count === 1) wanted.push([of, pages.bytes, pages.free_slots]);
    gather(holds);
  });
  gather(report.tree);
  const known = new Set(wanted.map(row => row.join('|')));
  assert.ok(wanted.filter(([of, bytes]) => of === 'main.cache' && bytes > NOISE).length === 2, 'both caches are in the tree');

  read('--format', 'sqlite', '-o', `${program}.db`);
  const rows = execFileSync('sqlite3', [`${program}.db`, `SELECT name, retained_pages, free_slots FROM node
    WHERE name IN ('(globals)', 'main', 'main.cache', '[][]uint8') AND retained_pages > ${NOISE / 4}`], {encoding: 'utf8'}).trimEnd().split('\n');
  assert.equal(rows.length, 5);
  for (const row of rows) assert.ok(known.has(row), `SQLite: ${row}`);
  const {tree, names} = dataOf(read('--format', 'html', '-o', '-')), pages = [...tree.pages], slots = [...tree.free_slots];
  for (let i = pages.length - 1; i > 0; i--) {
    pages[tree.parent[i]] += pages[i];
    slots[tree.parent[i]] += slots[i];
  }
  const onPage = new Set(pages.map((bytes, i) => [names[tree.name[i]], bytes, slots[i]].join('|')));
  for (const row of known) assert.ok(onPage.has(row), `the page: ${row}`);

  const [summary, suspects] = read('--mcp').trimEnd().split('\n').slice(1).map(line => JSON.parse(JSON.parse(line).result.content[0].text));
  assert.deepEqual(summary.free_slots, report.free_slots);
  assert.deepEqual(suspects.suspects.map(one => one.pages), report.suspects.map(one => one.pages));
  for (const variable of ['main.first', 'main.second']) {
    const asked = JSON.parse(read('--format', 'report', '--json', '--path-to', variable)), {pages: of} = asked.object ?? asked.class;
    assert.deepEqual([of.bytes, of.free_slots], Object.values(suspectOf(report, heldBy(variable)).pages).slice(0, 2));
  }
});
end();
