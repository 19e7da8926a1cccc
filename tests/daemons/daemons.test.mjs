// Runs daemons as Debian ships them, stripped, uses them over the loopback, reads them by --pid while they are used, and checks what
// is said of them: that no goroutine is called leaked that moves on, how much is typed, and that all formats have the same totals.
//
//   daemons.test.mjs G2H DAEMONS BUILD NAME
//
// DAEMONS has the directories SUITE/PACKAGE, which tools/setup check-all fetches. NAME is that of a package, which is tested from
// each suite. The outputs stay in BUILD/SUITE-PACKAGE. TAP on standard output.

import assert from 'node:assert/strict';
import {execFile, spawn} from 'node:child_process';
import {existsSync, openSync, readFileSync, rmSync} from 'node:fs';
import {setTimeout as sleep} from 'node:timers/promises';
import {promisify} from 'node:util';

import {end, report, step, test} from '../tap.mjs';
import {daemons, freePorts, prepare, request} from './daemons.mjs';
import {classesOf, heldBy, ofCsv, ofDatabase, ofProfile, ofSnapshot} from './figures.mjs';

const [g2h, directories, build, packageName] = process.argv.slice(2);
const SMALL = 150_000; // in a heap of 1 to 3 MB, so many bytes are some percent: mostly what is guessed, which counts as untyped
const READS = 3, USES = 3000, BETWEEN = 600, CLASSES = 40;
const run = promisify(execFile);

/** Uses a daemon until it has been used often enough. Returns an object with the number of uses, and stop(), which waits for its end. */
function useOften(daemon, ports) {
  const load = {uses: 0, answers: 0, stopped: false};
  const user = async () => {
    while (!load.stopped && load.uses < USES) {
      const {status} = await daemon.use(ports, load.uses++);
      load.answers += status >= 200 && status < 500;
      if (load.uses > BETWEEN) await sleep(20); // it is still used when it is read for the last time
    }
  };
  const users = Array.from({length: 16}, user);
  load.stop = async () => {
    load.stopped = true;
    await Promise.all(users);
  };
  return load;
}

/** Waits until a daemon answers. Throws if it has ended. */
async function answers(daemon, ports, child) {
  for (let i = 0; i < 600; i++) {
    assert.equal(child.exitCode ?? child.signalCode, null, `the daemon has ended: ${readFileSync(`${child.at}/log`, 'utf8').slice(-1000)}`);
    const {status} = await request(ports[0], 'GET', daemon.ready);
    if (status === daemon.readyStatus || (status >= 200 && status < 300)) return;
    step(`the daemon's first answer, it is ${status}`);
    await sleep(200);
  }
  throw new Error('the daemon does not answer');
}

/** Reads a process: writes its dump, and a report of that; returns the report, and what was said on standard error. */
async function read(pid, exe, at, number) {
  const dump = `${at}/${number}.dump`;
  await run(g2h, ['--pid', pid, '--format', 'dump', '-o', dump]);
  const {stdout, stderr} = await run(g2h, ['--exe', exe, '--format', 'report', '--json', dump], {maxBuffer: 1 << 28});
  return {dump, report: JSON.parse(stdout), said: stderr};
}

/** Tests one daemon of one suite. */
async function daemonOf(suite, daemon) {
  const name = `${suite} ${packageName}`, exe = `${directories}/${suite}/${packageName}/${daemon.program}`, at = `${build}/${suite}-${packageName}`;
  if (!existsSync(exe)) {
    report(`${name} # SKIP no package ${packageName} of ${suite}: tools/setup check-all fetches it`);
    return;
  }
  rmSync(at, {recursive: true, force: true});
  const ports = await freePorts(3);
  prepare(daemon, at, ports);
  const log = openSync(`${at}/log`, 'w');
  const child = spawn(exe, daemon.args(ports), {cwd: at, stdio: ['ignore', log, log], env: {PATH: process.env.PATH, HOME: at}});
  child.at = at;
  const ended = new Promise(resolve => child.on('exit', resolve));
  const reads = [];
  let load;
  try {
    await test(`${name}: runs, answers, and is read ${READS} times while it is used`, async () => {
      await answers(daemon, ports, child);
      load = useOften(daemon, ports);
      for (let i = 1; i <= READS; i++) {
        while (load.uses < i * BETWEEN && load.uses < USES) {
          step(`use ${i * BETWEEN}; it is used ${load.uses} times`);
          await sleep(100);
        }
        await sleep(1000);
        step(`read ${i}`);
        reads.push(await read(child.pid, exe, at, i));
      }
      await load.stop();
      assert.ok(load.answers > load.uses / 2, `${load.answers} of ${load.uses} requests were answered`);
    });
  } finally {
    if (load) load.stopped = true;
    child.kill('SIGKILL');
    await ended;
  }
  if (reads.length < READS) return;
  const last = reads[READS - 1], {heap} = last.report, is119 = heap.go.startsWith('go1.19');
  test(`${name}: no goroutine called leaked moves on`, () => {
    for (let i = 0; i + 1 < READS; i++) {
      const later = new Set(reads[i + 1].report.leaked?.goroutines ?? []);
      for (const goid of reads[i].report.leaked?.goroutines ?? []) assert.ok(later.has(goid), `goroutine ${goid} was leaked in ${reads[i].dump}, and is not in the next`);
    }
  });
  test(`${name}: much is typed`, () => {
    const share = Number(/ ([\d.]+) % of live bytes typed/.exec(last.said)?.[1]), untyped = (heap.bytes - heap.garbage) * (100 - share) / 100;
    assert.ok(share >= (daemon.least?.[suite] ?? (is119 ? 97 : 98)) || untyped <= SMALL, `${Math.round(untyped)} bytes untyped: ${last.said}`);
    assert.ok(!/another name/.test(last.said), last.said);
  });
  await test(`${name}: all formats have the same totals, and the holders that its source has`, async () => {
    const outputs = {database: `${at}/heap.db`, csv: `${at}/heap.csv`, profile: `${at}/heap.pb.gz`, snapshot: `${at}/heap.heapsnapshot`, text: `${at}/report.txt`};
    for (const [what, path] of Object.entries(outputs)) {
      step(what);
      rmSync(path, {recursive: true, force: true});
      await run(g2h, ['--exe', exe, '--format', {database: 'sqlite', csv: 'csv', profile: 'pprof', snapshot: 'heapsnapshot', text: 'report'}[what], '-o', path, last.dump]);
    }
    const figures = {objects: heap.objects, bytes: heap.bytes, stacks: heap.stacks};
    assert.deepEqual(ofSnapshot(outputs.snapshot), figures, 'snapshot');
    assert.deepEqual(ofDatabase(outputs.database), figures, 'database');
    assert.deepEqual(ofCsv(outputs.csv), figures, 'CSV');
    assert.equal(ofProfile(outputs.profile).space, heap.bytes + heap.stacks, 'profile');
    assert.equal(heap.reachable + heap.garbage, heap.bytes + heap.stacks, 'what is reachable, and garbage');
    assert.equal(last.report.classes.reduce((sum, {bytes}) => sum + bytes, 0), heap.bytes, 'all classes');
    for (const suspect of last.report.suspects) assert.doesNotMatch(suspect.held_by ?? '', REMEMBERS, `the holder of ${suspect.item}`);
    for (const [name, holder] of daemon.holders ?? []) {
      const {all, held} = heldBy(outputs.database, name, holder);
      assert.ok(all > 0, `there is no ${name}`);
      assert.equal(held, all, `${name} held by ${holder}`);
    }
    const classes = last.report.classes.slice(0, CLASSES), known = classesOf(outputs.database, classes.map(each => each.class));
    for (const {class: name, objects, retained} of classes) {
      if (name.endsWith(' entries')) assert.ok(objects <= known.get(name).objects, `class ${name}: those that their map holds are part of it`);
      else assert.deepEqual({objects, retained}, known.get(name), `class ${name}`);
    }
  });
}

/** Lists which only remember what others hold: they own nothing. */
const REMEMBERS = /sync\.(allPools|oldPools)|runtime\.(allgs|allm|allp)\b|^runtime\./;

const daemon = daemons[packageName];
assert.ok(daemon, `no daemon ${packageName}`);
for (const suite of ['bookworm', 'trixie']) await daemonOf(suite, daemon);
end();
