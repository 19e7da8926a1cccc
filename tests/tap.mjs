// Tests in TAP on standard output. One that fails makes the exit status 1.
//
//   import {end, report, test} from '../tap.mjs';
//   test('two and two are four', () => assert.equal(2 + 2, 4));
//   await test('it loads', async () => { … });
//   end();

let count = 0;

/** Says how a test has ended: what is wrong, as an error or a text; undefined where nothing is. */
export function report(name, wrong) {
  console.log(`${wrong === undefined ? 'ok' : 'not ok'} ${++count} - ${name}`);
  if (wrong === undefined) return;
  process.exitCode = 1;
  const text = wrong.code === 'ERR_ASSERTION' ? wrong.message : String(wrong.stack ?? wrong);
  console.log(text.split('\n').slice(0, 40).join('\n').replace(/^/gm, '# '));
}

/** Runs a test; if its body is asynchronous, the result is to be awaited. */
export function test(name, body) {
  try {
    const pending = body();
    if (pending instanceof Promise) return pending.then(() => report(name), error => report(name, error));
    report(name);
  } catch (error) {
    report(name, error);
  }
}

/** The plan. */
export function end() {
  console.log(`1..${count}`);
}
