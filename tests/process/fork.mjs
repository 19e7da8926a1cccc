// Forks a program from outside, again and again, while it works, and ends go2heapsnapshot at every step of that. Whatever happens,
// the program goes on, loses no signal, and keeps nothing. TAP on standard output.
//
//   fork.mjs GO2HEAPSNAPSHOT PROGRAM STEPS DIRECTORY NAME CAPTURES KILLS RANDOM
//
// STEPS is the library of fork_steps.c; CAPTURES the number of forks, KILLS that of delays after each step at which
// go2heapsnapshot is killed, RANDOM that of kills at random moments.

import {spawn} from 'node:child_process';
import {existsSync, readFileSync, readdirSync} from 'node:fs';
import {createConnection} from 'node:net';
import {createInterface} from 'node:readline';

import {end, report as tell, step} from '../tap.mjs';

const [go2heapsnapshot, program, library, directory, name, ...numbers] = process.argv.slice(2);
const [captures, kills, random] = numbers.map(Number);
const steps = [
  'setregs', 'running', 'entry', 'infork', 'event', 'unguarded', 'guarded', 'leaving', 'exit', 'beforerestore', 'restoring',
  'restored', 'detaching', 'detached', 'holding', 'killed', 'reapsetregs', 'reaprunning', 'inwait', 'beforereaprestore',
  'reaprestoring', 'reaped',
];
const delays = [0, 100, 1000, 5000].slice(0, kills);
const sleep = milliseconds => new Promise(resolve => setTimeout(resolve, milliseconds));
const running = new Set();

/** Reports a test; wrong says more if it has not passed. */
const report = (isGood, name, wrong) => tell(name, isGood ? undefined : wrong || 'is not so');

/** A program that runs. */
class Target {
  constructor(...flags) {
    this.child = spawn(program, flags, {stdio: ['pipe', 'pipe', 'pipe']});
    this.pid = this.child.pid;
    this.waiting = [];
    this.errors = '';
    running.add(this);
    createInterface({input: this.child.stdout}).on('line', line => this.waiting.shift()?.(JSON.parse(line)));
    this.child.stderr.on('data', text => this.errors += text);
    this.child.stdin.on('error', () => {});
    this.ended = new Promise(resolve => this.child.on('exit', (status, signal) => {
      running.delete(this);
      this.waiting.forEach(each => each({}));
      resolve(signal ?? status);
    }));
    this.ready = this.next();
  }
  next() {
    return new Promise(resolve => this.waiting.push(resolve));
  }
  /** Says something to the program, which answers with its counts; {} once it has ended. */
  say(text) {
    if (!running.has(this)) return {};
    const answer = this.next();
    this.child.stdin.write(text + '\n');
    return answer;
  }
  counts() {
    step('an answer of the program');
    return this.say('');
  }
  end() {
    this.child.kill('SIGKILL');
    return this.ended;
  }
}

/** Reads a file of /proc; '' if the process has ended. */
function proc(pid, file) {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'latin1');
  } catch {
    return '';
  }
}

/** Lists the children of a process, as [number, state]. */
function children(pid) {
  return readdirSync(`/proc`).filter(entry => /^\d+$/.test(entry)).map(entry => [+entry, proc(entry, 'stat').split(') ').pop().split(' ')])
    .filter(([, fields]) => +fields[1] === pid).map(([number, fields]) => [number, fields[0]]);
}

/** Waits until a condition holds. Returns whether it does; after ten minutes it is not expected to. */
async function until(condition) {
  for (const begin = Date.now(); Date.now() - begin < 600_000; await sleep(5)) if (await condition()) return true;
  return false;
}

/** What a process's status says that must not change. */
function lasting(pid) {
  const maps = proc(pid, 'maps').split('\n').filter(line => !/\[heap|anon|\[stack/.test(line) && line.includes('/')).join('\n');
  return proc(pid, 'status').match(/^(SigBlk|SigIgn|SigCgt|TracerPid|Seccomp|NoNewPrivs):.*$/gm).join(' ') + maps;
}

/**
 * Runs go2heapsnapshot. Returns the child, the promise done of {status, text}, and for one that is held at a step: the promise held,
 * which is whether it has come there, and goOn().
 */
function start(pid, environment = {}, options = ['--format', 'dump', '-o', `${directory}/x.dump`]) {
  const child = spawn(go2heapsnapshot, ['--pid', pid, '--fork', ...options],
    {stdio: ['ignore', 'ignore', 'pipe', 'pipe', 'pipe'], env: {...process.env, ...environment}});
  const [, , , says, hears] = child.stdio;
  let text = '';
  child.stderr.on('data', more => text += more);
  hears.on('error', () => {}); // it has ended
  const held = new Promise(resolve => says.on('data', () => resolve(true)).on('end', () => resolve(false)));
  const done = new Promise(resolve => child.on('close', (status, signal) => resolve({status: signal ?? status, text})));
  return {child, held, goOn: () => hears.end(), done};
}
const killedAt = (step, microseconds) => ({LD_PRELOAD: library, FORK_STEP: `${step}:${microseconds}`});
const heldAt = step => ({LD_PRELOAD: library, FORK_STEP: `${step}:wait`});
const living = pid => children(pid).filter(([, state]) => state !== 'Z').map(([child]) => child);
const isForked = text => /was paused for .* while it was forked/.test(text);

// ---- many forks ----

async function soak() {
  const target = new Target('-write', '20000', '-gc');
  await target.ready;
  const before = lasting(target.pid);
  let isDone = false, sent = 0, lost = 0;
  const sender = (async () => {
    while (!isDone) {
      process.kill(target.pid, 'SIGUSR2');
      sent++;
      if (!await until(async () => (await target.counts()).signals === sent)) lost++;
    }
  })();
  const bad = [];
  let forked = 0, worst = 0, sum = 0, stopped = 0;
  for (let i = 0; i < captures && running.has(target); i++) {
    const {status, text} = await start(target.pid).done;
    if (status !== 0 || /zombie/.test(text)) bad.push(`${status}: ${text}`);
    const seconds = +text.match(/was paused for ([\d.]+)/)?.[1];
    if (!isForked(text)) continue;
    forked++;
    sum += seconds;
    worst = Math.max(worst, seconds);
  }
  isDone = true;
  await sender;
  const counts = await target.counts();
  report(bad.length === 0, `${name}: ${captures} captures under load`, bad.slice(0, 5).join('\n'));
  report(forked >= captures * 0.9, `${name}: most of them by a fork`, `${forked} of ${captures}`);
  report(counts.echoed > 0 && counts.slept > 0 && counts.piped > 0, `${name}: the program's checks hold`, target.errors + JSON.stringify(counts));
  report(lost === 0 && counts.signals === sent, `${name}: all signals arrive`, `${counts.signals} of ${sent}, ${lost} late`);
  report(counts.children === 0, `${name}: no SIGCHLD`, JSON.stringify(counts));
  report(children(target.pid).length === 0, `${name}: no child in any state`, JSON.stringify(children(target.pid)));
  report(lasting(target.pid) === before, `${name}: its state and files are as before`, lasting(target.pid));
  console.log(`# ${forked} forks, was paused for ${(sum / forked).toFixed(4)} s, at most ${worst}; ${sent} signals; ${JSON.stringify(counts)}`);
  await target.end();
}

// ---- the end of go2heapsnapshot ----

/** Ends go2heapsnapshot by a signal at a step, or at random, and looks at what is left. */
async function ends(how, signals) {
  const target = new Target('-write', '20000');
  await target.ready;
  const before = lasting(target.pid), failed = [], left = {};
  let killed = 0, seen = 0, runs = 0;
  for (const [environment, step, delay] of how) {
    const run = start(target.pid, environment);
    if (step === undefined) {
      await Promise.race([run.done, sleep(delay)]);
      run.child.kill(signals);
    }
    killed += (await run.done).status === signals;
    if (!await until(() => living(target.pid).length === 0)) failed.push(`a child lives after ${step}:${delay}`);
    const now = children(target.pid).length;
    if (now > seen) left[step] = (left[step] ?? 0) + 1;
    // The thread that was borrowed may make its call a while after the kill.
    if (now > ++runs) failed.push(`${now} zombies after ${runs} runs, the last one ${step}:${delay}`);
    seen = now;
    if (!running.has(target)) {
      failed.push(`it ends after ${step}:${delay}: ${await target.ended} ${target.errors}`);
      break;
    }
    if (proc(target.pid, 'status').match(/^State:\t([tT])/m)) failed.push(`it is stopped after ${step}:${delay}`);
  }
  const first = await target.counts();
  const goesOn = await until(async () => {
    const counts = await target.counts();
    return counts.echoed > first.echoed && counts.slept > first.slept && counts.piped > first.piped && counts.written > first.written;
  });
  const last = await start(target.pid).done;
  const unmarked = children(target.pid).length;
  const counts = await target.counts();
  const what = `${name}: ${signals} ${how[0][1] === undefined ? 'at random moments' : 'at each step'}`;
  report(failed.length === 0, `${what}: it lives, with no child that lives`, failed.slice(0, 10).join('\n'));
  report(goesOn && counts.children === 0, `${what}: it works on`, target.errors + JSON.stringify(counts));
  report(last.status === 0 && isForked(last.text), `${what}: it can be forked afterwards`, last.text);
  report(lasting(target.pid) === before, `${what}: its state and files are as before`, lasting(target.pid));
  // A child whose oom_score_adj could not be set before the kill is not known to be ours.
  const allowed = (left.event ?? 0) + (left.unguarded ?? 0) + (left.infork ?? 0) + (left.running ?? 0) + (left.setregs ?? 0) + (left.entry ?? 0) + (left.guarded ?? 0) + (left.undefined ?? 0);
  report(unmarked <= allowed, `${what}: the next run removes the zombies`, `${unmarked} of ${seen} stay; ${JSON.stringify(left)}`);
  console.log(`# ${killed} of ${how.length} were killed; zombies before the last run ${seen}, after it ${unmarked}; by step ${JSON.stringify(left)}`);
  await target.end();
  return killed;
}

// ---- the end of the program ----

/** Holds a child, and meanwhile lets something happen to the program. */
async function meanwhile(what, happens, expected) {
  const target = new Target();
  await target.ready;
  const run = start(target.pid, heldAt('holding'));
  const isThere = await run.held;
  const [child] = living(target.pid);
  const outcome = await happens(target);
  run.goOn();
  const {status, text} = await run.done;
  const isGone = await until(() => !existsSync(`/proc/${child}`) || proc(child, 'stat').includes(') Z '));
  report(isThere && child !== undefined && isGone, `${name}: ${what} while there is a child: that ends`, text);
  report(await expected(target, outcome, status), `${name}: ${what}: as without it`, `${status} ${outcome} ${text}`);
  await target.end();
}

// ---- connections ----

/** Connections that the program closes while there is a child are closed at once. */
async function connections() {
  const target = new Target();
  const {port} = await target.ready;
  const connection = createConnection(port, '127.0.0.1');
  await new Promise(resolve => connection.on('connect', resolve));
  const run = start(target.pid, heldAt('holding'));
  const isHeld = await run.held && living(target.pid).length > 0;
  let isClosed = false;
  connection.on('end', () => isClosed = true).resume().write('x');
  await until(() => isClosed);
  report(isClosed && isHeld && living(target.pid).length > 0, `${name}: a connection closes while there is a child`, isClosed ? 'there is no child' : 'it is open');
  run.goOn();
  await run.done;
  await target.end();
}

await soak();
let killed = await ends(steps.flatMap(step => delays.map(delay => [killedAt(step, delay), step, delay])), 'SIGKILL');
report(killed >= steps.length * delays.length * 0.8, `${name}: the steps are those of the program`, `${killed} of ${steps.length * delays.length}`);
await ends(Array.from({length: random}, () => [{}, undefined, Math.random() * 120]), 'SIGKILL');
for (const signal of ['SIGINT', 'SIGTERM']) {
  const target = new Target();
  await target.ready;
  const run = start(target.pid, heldAt('holding'));
  const isHeld = await run.held && living(target.pid).length > 0;
  run.child.kill(signal);
  run.goOn();
  const {status} = await run.done;
  report(isHeld && status === signal && children(target.pid).length === 0 && running.has(target), `${name}: ${signal} ends it, with no child left`,
    `${status} ${JSON.stringify(children(target.pid))}`);
  await target.end();
}
await meanwhile('it exits', target => (target.say('exit'), target.ended), async (target, outcome) => outcome === 0);
await meanwhile('it is killed', target => target.end(), async (target, outcome) => outcome === 'SIGKILL');
// The kernel tells a parent that has called execve() of the end of any child (do_notify_parent() of its kernel/signal.c).
await meanwhile('it becomes another program', target => target.say('exec'),
  async (target, outcome, status) => outcome.ready && status === 0 && (await target.counts()).children <= 1);
await meanwhile('it is stopped', async target => {
  process.kill(target.pid, 'SIGSTOP');
  return until(() => /^State:\tT/m.test(proc(target.pid, 'status')));
}, async (target, outcome, status) => {
  const stays = /^State:\tT/m.test(proc(target.pid, 'status'));
  process.kill(target.pid, 'SIGCONT');
  return outcome && stays && status === 0 && (await target.counts()).children === 0 && children(target.pid).every(([, state]) => state === 'Z');
});
await connections();
end();
