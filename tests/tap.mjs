// Prints tests as TAP on standard output. A test that fails makes the exit status 1.
//
//   import {end, report, test} from '../tap.mjs';
//   test('two and two are four', () => assert.equal(2 + 2, 4));
//   await test('it loads', async () => { … });
//   end();
//
// Whatever happens, the suite ends, and so does what it has started: at end(), at an error that nobody catches, at a signal. A test
// that hangs fails with what it was waiting for, which step() has told.
//
//   SILENCE     after how many seconds without a step a test hangs that hardly uses the processor (default: 300)

import process from 'node:process';
import {endDescendants, usedSeconds} from './descendants.mjs';

const silence = Number(process.env.SILENCE || 300), idle = silence / 100; // seconds; those of processors in that time

let count = 0, running = '', waitsFor = '', hasEnded = false;

/** Prints a test's result. wrong says what is wrong, as an error or a text; it is undefined if the test passed. */
export function report(name, wrong) {
  console.log(`${wrong === undefined ? 'ok' : 'not ok'} ${++count} - ${name}`);
  running = '';
  step('the next test');
  if (wrong === undefined) return;
  process.exitCode = 1;
  const text = wrong.code === 'ERR_ASSERTION' ? wrong.message : String(wrong.stack ?? wrong);
  console.log(text.split('\n').slice(0, 40).join('\n').replace(/^/gm, '# '));
}

/** Runs a test. If its body is asynchronous, the caller must await the result. */
export function test(name, body) {
  begin(name);
  try {
    const pending = body();
    if (pending instanceof Promise) return pending.then(() => report(name), error => report(name, error));
    report(name);
  } catch (error) {
    report(name, error);
  }
}

/** Says that a test has begun, which is to be reported. */
export function begin(name) {
  running = name;
  step('its first step');
}

/** Says what a test waits for from now on. */
export function step(what) {
  waitsFor = what;
  lastStep = {time: performance.now(), used: undefined};
}
let lastStep;
step('the first test');

/** Prints the plan, and ends the process. */
export function end() {
  console.log(`1..${count}`);
  hasEnded = true;
  process.exit();
}

/** Ends the process with a skipped test. */
export function skipAll(name, why) {
  report(`${name} # SKIP ${why}`);
  end();
}

/** Ends the process with a failed test: the one that has begun last. */
export function giveUp(wrong) {
  report(running || 'what follows', wrong);
  hasEnded = true;
  process.exit(1);
}

process.on('uncaughtException', error => giveUp(error));
for (const signal of ['SIGHUP', 'SIGINT', 'SIGTERM']) process.once(signal, () => giveUp(`${signal} while it waited for ${waitsFor}`));
process.on('exit', status => {
  if (!hasEnded && count > 0) {
    report(running || 'what follows', `the suite ended early, with status ${status}, while it waited for ${waitsFor}`);
  }
  endDescendants();
});

// What is counted is the time since the first look behind a step, so that a process that was stopped has not hung.
setInterval(() => {
  const time = performance.now();
  if (lastStep.used === undefined) {
    lastStep = {time, used: usedSeconds()};
  } else if (time - lastStep.time > 1000 * silence) {
    const used = usedSeconds() - lastStep.used;
    if (used < idle) giveUp(`it hangs: for ${silence} s nothing has come of ${waitsFor}`);
    lastStep = {time, used: usedSeconds()};
  }
}, 100 * silence).unref();
