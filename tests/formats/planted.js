// Writes a snapshot of this process, by V8's own writer, with what JavaScript has and Go has not: pairs of a WeakMap, half a
// character, names that need escapes, a lot of one class.
//
//   node planted.js FILE.heapsnapshot

class Planted {
  constructor(i) { this.text = `planted ${i}`; }
}
const pairs = new WeakMap();
globalThis.planted = [];
for (let i = 0; i < 2000; i++) {
  const one = new Planted(i);
  pairs.set(one, new Planted(-i));
  globalThis.planted.push(one);
}
globalThis.planted.push({'a "quoted"\n\u0001 name': pairs}, '\ud83d\ude00 whole', 'half \ud83d', 'nul \0 behind');
require('node:v8').writeHeapSnapshot(process.argv[2]);
