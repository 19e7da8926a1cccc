// Prints tests as TAP on standard output. A test that fails makes the exit status 1.
//
//   import {end, report, test} from '../tap.mjs';
//   test('two and two are four', () => assert.equal(2 + 2, 4));
//   await test('it loads', async () => { … });
//   end();

let count = 0;

/** Prints a test's result. wrong says what is wrong, as an error or a text; it is undefined if the test passed. */
export function report(name, wrong) {
  console.log(`${wrong === undefined ? 'ok' : 'not ok'} ${++count} - ${name}`);
  if (wrong === undefined) return;
  process.exitCode = 1;
  const text = wrong.code === 'ERR_ASSERTION' ? wrong.message : String(wrong.stack ?? wrong);
  console.log(text.split('\n').slice(0, 40).join('\n').replace(/^/gm, '# '));
}

/** Runs a test. If its body is asynchronous, the caller must await the result. */
export function test(name, body) {
  try {
    const pending = body();
    if (pending instanceof Promise) return pending.then(() => report(name), error => report(name, error));
    report(name);
  } catch (error) {
    report(name, error);
  }
}

/** Prints the plan. */
export function end() {
  console.log(`1..${count}`);
}
