// Tests that the program in the page writes what the native one writes, byte by byte, and that no input ends it. TAP on standard output.
//
//   program.test.mjs PAGE NATIVE DIRECTORY      NATIVE: the program; DIRECTORY: for its outputs
//
// The page's own worker runs here in Node (program.mjs), with the samples and with the small inputs of the fuzzers.

import assert from 'node:assert/strict';
import {spawnSync} from 'node:child_process';
import {mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync} from 'node:fs';
import {basename, join, resolve} from 'node:path';
import process from 'node:process';
import {end, test} from '../tap.mjs';
import {file, makeWorker, moduleOf, workerOf} from './program.mjs';

const [page, native, directory] = process.argv.slice(2).map(path => resolve(path));
const worker = workerOf(page), module = await moduleOf(page);
const formats = [['heapsnapshot', ['.heapsnapshot']], ['report', ['.txt']], ['report', ['.json'], true], ['html', ['.html']],
  ['pprof', ['.pb.gz']], ['hprof', ['.hprof']], ['csv', ['.nodes.csv', '.edges.csv']]];
mkdirSync(directory, {recursive: true});

/** What the native program writes, by one thread; undefined if it writes nothing. The files are given by their names, as in a page. */
function writtenNatively(inputs, options, format, suffixes, json) {
  const target = join(directory, `native${suffixes[0]}`);
  rmSync(target, {recursive: true, force: true});
  const ran = spawnSync(native, ['-j', '1', ...(json ? ['--json'] : []), '--format', format, ...options.flat(), '-o', target, inputs.at(-1).name],
    {cwd: directory, encoding: 'utf8'});
  if (ran.status !== 0 && ran.status !== 3) return {said: ran.stderr};
  return {files: (format === 'csv' ? [join(target, 'nodes.csv'), join(target, 'edges.csv')] : [target]).map(path => readFileSync(path)), said: ran.stderr};
}

/** An input, which the program finds in its directory. */
function inputOf(path) {
  const name = basename(path), link = join(directory, name);
  rmSync(link, {force: true});
  symlinkSync(resolve(path), link);
  return {name, path};
}
const sample = name => inputOf(`samples/${name}`);

/** Reads a heap in a worker, and compares all formats. bases and exe are as in the page. */
async function compare(heap, {exe, bases = []}, chosen = formats) {
  const ask = makeWorker(worker), given = input => file(input.path);
  const answer = await ask({module, heap: given(heap), bases: bases.map(given), exe: exe && given(exe)});
  const options = [...bases.map(({name}) => ['--base', name]), ...(exe ? [['--exe', exe.name]] : [])];
  const good = answer.heap === heap.name;
  for (const [format, suffixes, json = false] of chosen) {
    const expected = writtenNatively([...bases, heap], options, format, suffixes, json);
    if (!good) {
      assert.ok(expected.files === undefined, `the page refuses what the program reads: ${answer.said}`);
      const reason = /go2heapsnapshot: (?!warning|note)(.*)/.exec(answer.said)?.[1];
      assert.ok(reason && expected.said.includes(reason), `the page says “${answer.said}”, the program “${expected.said}”`);
      return;
    }
    const {saved, failed} = await ask({format, json, suffixes});
    if (expected.files === undefined) assert.ok(failed, `${format}: the program refuses it`);
    else assert.ok(saved && expected.files.every((bytes, i) => Buffer.compare(saved[i].blob.bytes, bytes) === 0), `${format}: the bytes differ`);
  }
}

const leak = {exe: sample('leakserver.exe.gz')};
await test('the kinds of files are told by their bytes', async () => {
  const packed = Object.entries({'a.zst': [0x28, 0xb5, 0x2f, 0xfd, 0], 'a.xz': [0xfd, 0x37, 0x7a, 0x58, 0x5a, 0], 'a.lz4': [0x04, 0x22, 0x4d, 0x18, 0]})
    .map(([name, bytes]) => { const path = join(directory, name); writeFileSync(path, Uint8Array.from(bytes)); return path; });
  const looked = await makeWorker(worker)({module, look: ['samples/leakserver.1.dump.gz', 'samples/leakserver.exe.gz', 'README.md', ...packed].map(path => file(path))});
  assert.deepEqual(looked.kinds, ['d', 'x', '?', 'Z', 'X', 'L']);
});
await test('a dump with its executable', () => compare(sample('leakserver.2.dump.gz'), leak));
await test('a dump compared with an earlier one', () => compare(sample('leakserver.2.dump.gz'), {...leak, bases: [sample('leakserver.1.dump.gz')]},
  formats.filter(([format]) => ['report', 'html'].includes(format))));
await test('a dump without its executable', () => compare(sample('leakserver.1.dump.gz'), {}));
await test('the executable of another dump is refused, as by the program',
  () => compare(inputOf('samples/dumps/go1.15-amd64.1.dump.gz'), leak));

await test('dumps in the wrong order are compared in the right one', async () => {
  const ask = makeWorker(worker);
  const answer = await ask({module, heap: file('samples/leakserver.1.dump.gz'), bases: [file('samples/leakserver.2.dump.gz')], exe: file(leak.exe.path)});
  assert.equal(answer.heap, 'leakserver.2.dump.gz');
  const {saved} = await ask({format: 'report', json: false, suffixes: ['.txt']});
  assert.match(saved[0].blob.bytes.toString(), /since leakserver\.1\.dump\.gz/);
});

// Of 32 bits, big-endian, and the first format; with $CHECK_ALL all samples.
const old = readdirSync('samples/dumps').filter(name => (process.env.CHECK_ALL ? /2\.dump\.gz$/ : /(386|s390x|beta1).*2\.dump\.gz$/).test(name))
  .map(name => inputOf(`samples/dumps/${name}`));
const written = readdirSync('tests/fuzz/corpus/dump').map(name => inputOf(`tests/fuzz/corpus/dump/${name}`));
for (const input of old) await test(`${input.name}`, () => compare(input, {}, [formats[0], formats[3]]));
await test(`${written.length} small dumps, cut, damaged and of all layouts`, async () => {
  for (const input of written) {
    await compare(input, {}, [formats[0]]).catch(error => { throw new Error(`${input.name}: ${error.message}`, {cause: error}); });
  }
});
for (const kind of ['exe', 'core']) {
  await test(`no small ${kind} ends the worker`, async () => {
    const corpus = `tests/fuzz/corpus/${kind}`;
    for (const name of readdirSync(corpus)) {
      const ask = makeWorker(worker), given = file(join(corpus, name));
      const answer = await ask({module, ...(kind === 'exe' ? {heap: file('samples/leakserver.1.dump.gz'), exe: given} : {heap: given, exe: file(leak.exe.path)}), bases: []});
      assert.ok(answer.heap !== undefined || answer.failed, `${name}: it ends`);
      assert.ok(!answer.said.includes('4 GB'), `${name}: ${answer.said}`);
    }
  });
}
end();
