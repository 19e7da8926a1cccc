// Checks that go tool pprof reads the same from a profile of --format pprof --by alloc as from the profile that the process
// wrote itself at that moment. TAP on standard output.
//
//   alloc.mjs PPROF NAME THEIRS.pb.gz OURS.pb.gz [bare | THEIRS.2.pb.gz OURS.2.pb.gz]
//
//   bare    OURS was made without the executable: counts and sizes are the same, calls have the names that the dump has
//   *.2     profiles of a later moment, for the growth between the two

import assert from 'node:assert/strict';
import {execFileSync} from 'node:child_process';

import {end, test} from '../tap.mjs';

const [program, name, theirs, ours, ...later] = process.argv.slice(2);
const isBare = later[0] === 'bare';
const types = ['alloc_objects', 'alloc_space', 'inuse_objects', 'inuse_space'];

const pprof = (...options) => execFileSync(program, options, {encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'], maxBuffer: 1 << 30});

/**
 * Returns pprof's output without what a dump does not know: the file's name, its build ID and the time. Sizes that have no
 * values are left out too: they come from what the process allocated to write its profile.
 */
const shown = (...options) => pprof(...options).split('\n').filter(line => !/^(File|Build ID|Time):|^ +0 \( +0%\): /.test(line)).join('\n');

/**
 * Reads a profile with -raw: {head, samples}. A location of a stack is represented by its text, which has the functions,
 * files and lines of all calls that are inlined there, but no address: a dump has only one location for two calls on one
 * line. Samples without values are left out: they are what the process allocated to write its profile.
 */
function raw(path) {
  const lines = pprof('-raw', path).split('\n');
  const [samples, locations, mappings] = ['Samples:', 'Locations', 'Mappings'].map(title => lines.indexOf(title));
  const texts = new Map();
  let last;
  for (const line of lines.slice(locations + 1, mappings)) {
    const first = /^ *(\d+): 0x[0-9a-f]+ (?:M=\d+ )?(.*)$/.exec(line);
    if (first) last = first[1];
    texts.set(last, first ? first[2] : `${texts.get(last)}\n      inlined into ${line.trim()}`);
  }
  const all = [];
  for (const line of lines.slice(samples + 2, locations)) {
    const sample = /^([ \d-]+):([ \d]*)$/.exec(line);
    if (sample) all.push({values: sample[1].trim().split(/ +/), stack: sample[2].trim().split(' ').map(id => texts.get(id)), labels: []});
    else if (line.trim() !== '') all.at(-1).labels.push(line.trim());
  }
  const head = lines.slice(0, samples).filter(line => !line.startsWith('Time: '));
  return {head: [...head, lines[samples + 1]], samples: all.filter(({values}) => values.some(value => value !== '0'))};
}

test(`${name}: the same kind of profile, by the same rate`, () => assert.deepEqual(raw(ours).head, raw(theirs).head));
test(`${name}: the same samples in the same order`, () => {
  const [mine, own] = [raw(ours), raw(theirs)].map(({samples}) => samples.map(({values, stack, labels}) => ({values, labels, stack: isBare ? stack.length > 0 : stack})));
  assert.ok(own.length > 0);
  own.forEach((sample, i) => assert.deepEqual(mine[i], sample));
  assert.equal(mine.length, own.length);
});
if (!isBare) {
  for (const type of types)
    test(`${name}, ${type}: -top -cum prints the same`, () => {
      const options = ['-top', '-cum', '-nodecount=1000000', '-nodefraction=0', `-sample_index=${type}`];
      const text = shown(...options, theirs);
      assert.ok(text.includes(' main.'), text.slice(0, 500));
      assert.equal(shown(...options, ours), text);
    });
  test(`${name}: the usual type is inuse_space`, () => assert.match(shown('-top', ours), /^Type: inuse_space$/m));
  for (const options of [['-tags'], ['-peek', '^main\\.'], ['-peek', 'newLeaf', '-sample_index=alloc_objects']])
    test(`${name}: ${options[0]} ${options[1] ?? ''} prints the same`, () => {
      const text = shown(...options, theirs);
      assert.ok(text.split('\n').length > 3);
      assert.equal(shown(...options, ours), text);
    });
  test(`${name}: -base finds no difference between the two`, () =>
    assert.match(shown('-top', '-sample_index=alloc_space', '-base', theirs, ours), /^Showing nodes accounting for 0, /m));
}
if (later.length === 2)
  test(`${name}: -base prints the same growth`, () => {
    const options = ['-top', '-cum', '-nodecount=1000000', '-nodefraction=0', '-base'];
    const text = shown(...options, theirs, later[0]);
    assert.ok(text.includes('main.build'), text.slice(0, 500));
    assert.equal(shown(...options, ours, later[1]), text);
  });
end();
