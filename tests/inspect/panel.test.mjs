// Attaches a real Chromium's DevTools to the sample server and to saved dumps, and does in its Memory tab, Console and Sources
// what a user would. What the panel must say is counted by the requests that were sent. TAP on standard output.
//
//   panel.test.mjs GO2HEAPSNAPSHOT LEAKSERVER DIRECTORY

import assert from 'node:assert/strict';
import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {readFileSync} from 'node:fs';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {MemoryTab, TabTests, endWithoutChromium} from '../devtools/browser.mjs';

endWithoutChromium();
const [program, leakserver, directory] = process.argv.slice(2);
const samples = fileURLToPath(new URL('../../samples/', import.meta.url));
const ports = [20000 + process.pid % 20000, 20001 + process.pid % 20000];
const url = `http://127.0.0.1:${ports[0]}`;
const leaks = 300, previews = 40;

const start = (file, args) => spawn(file, args, {stdio: ['ignore', 'ignore', 'pipe']});

/** Attaches to what the arguments say; returns {child, address, said}: said() is what it has printed so far. */
async function attach(args) {
  const child = start(program, ['--inspect=0', ...args]);
  let said = '';
  child.stderr.on('data', data => { said += data; });
  while (!/devtools:\S+/.test(said)) {
    assert.equal(child.exitCode, null, `it has ended: ${said}`);
    await new Promise(resolve => setTimeout(resolve, 20));
  }
  return {child, address: /devtools:\S+/.exec(said)[0], said: () => said};
}

async function started() {
  for (;;) {
    try {
      return await fetch(`${url}/preview?auction=lamp&width=1`, {headers: {connection: 'close'}});
    } catch {
      await new Promise(resolve => setTimeout(resolve, 100));
    }
  }
}

/** Sends requests, a few at a time; returns how many were answered by a text. */
async function request(count, path, text) {
  let next = 0, sum = 0;
  const one = async () => {
    while (next < count) {
      const response = await fetch(url + path(next++), {headers: {connection: 'close'}});
      if (text === undefined || await response.text() === text) sum++;
      else await response.arrayBuffer().catch(() => {});
    }
  };
  await Promise.all(Array.from({length: 8}, one));
  return sum;
}

/** Leaks sessions by watchers; some may get a bid, which comes every ten seconds, and do not leak. */
async function leak(count) {
  let sum = 0;
  while (sum < count) sum += await request(count - sum, () => '/watch?wait=1ms&auction=lamp', 'no bid\n');
}

const server = start(leakserver, ['-listen', `127.0.0.1:${ports[0]}`, '-debug', `127.0.0.1:${ports[1]}`]), ended = once(server, 'exit');
await started();
await leak(20);
await request(previews, n => `/preview?auction=lamp&width=${100 + n}`);
let live = await attach(['--pid', String(server.pid)]);
let tab = await MemoryTab.open({address: live.address});
const tests = new TabTests(tab);

try {
  await tests.test('Memory is shown at once, and takes a snapshot', async () => assert.match((await tab.take()).size, /[kM]B$/));
  await leak(leaks);
  await tests.test('a second one', async () => assert.match((await tab.take()).title, /Snapshot 2/));
  await tests.test(`Comparison: +${leaks} main.Session, none deleted, and nothing of the requests`, async () => {
    await tab.select(1);
    await tab.perspective('Comparison');
    const rows = new Map((await tab.rows()).map(row => [row.name, row]));
    for (const name of ['main.Session', 'main.Watcher', 'chan *main.Bid']) {
      assert.equal(rows.get(name)?.['# New'], String(leaks), name);
      assert.equal(rows.get(name)?.['# Deleted'], '0', name);
    }
    assert.equal(rows.get('http.Request'), undefined);
  });
  await tests.test('the row of a session shows its values, numbers and times, too', async () => {
    await tab.perspective('Summary');
    await tab.filter('main.Session');
    const [first] = await tab.expand('main.Session');
    const fields = await tab.hover(first.name);
    assert.match(fields.Started, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/);
    assert.match(fields.Token, /^"[0-9a-f]{16}"$/);
    assert.match(fields['[[as of]]'], /snapshot 2, \d\d:\d\d:\d\d/);
    await tab.screenshot(join(directory, 'hover.png'));
  });
  await tests.test('of a watcher the number', async () => {
    await tab.filter('main.Watcher');
    const [first] = await tab.expand('main.Watcher');
    assert.match((await tab.hover(first.name)).ID, /^\d+$/);
  });
  await tests.test('of a preview the bytes', async () => {
    await tab.filter('main.Preview');
    const [first] = await tab.expand('main.Preview');
    const fields = await tab.hover(first.name);
    assert.match(fields.Pixels, /^\[\]uint8 len (\d+) cap \d+ 0x00/);
    assert.equal(/len (\d+)/.exec(fields.Pixels)[1], fields.Width);
  });
  await tests.test('of a map its entries', async () => {
    await tab.filter('map[string]*main.Preview');
    const [first] = await tab.expand('map[string]*main.Preview');
    const fields = await tab.hover(first.name);
    assert.equal(fields['"lamp, 117 wide"'], 'main.Preview');
  });
  await tests.test('a goroutine is linked to its line', async () => {
    await tab.perspective('Containment');
    await tab.expand(/GC roots/);
    await tab.expand(/\(goroutines\)/);
    const source = readFileSync(join(samples, 'leakserver/main.go'), 'utf8');
    const {line, text} = await tab.follow(/^main\.go:\d+$/);
    assert.ok(line > 1 && text.includes('Leakserver is a small auction server'), `line ${line}`);
    assert.ok(source.split('\n').length > line);
    await tab.screenshot(join(directory, 'source.png'));
  });
  await tests.test('Console evaluates Go, and completes names', async () => {
    assert.equal(await tab.evaluate('len(main.previews.byName)'), String(previews + 1));
    assert.equal(await tab.evaluate('main.previews.byName["lamp, 117 wide"].Width'), '117');
    assert.equal(await tab.evaluate('instances("main.Session")'), `${leaks + 20} × main.Session`);
    assert.match(await tab.evaluate('main.nothing'), /Uncaught main\.nothing is not a variable/);
    assert.ok((await tab.complete('main.')).includes('previews'));
    await tab.screenshot(join(directory, 'console.png'));
  });
  await tests.test('Console keeps what was said of each snapshot', async () => {
    const messages = await tab.messages();
    for (const number of [1, 2])
      assert.ok(messages.some(text => text.startsWith(`snapshot ${number}: the process was paused for`)), messages.join('\n'));
  });
  await tests.test('when the process has gone, hover and Console still answer', async () => {
    server.kill('SIGKILL');
    await ended;
    assert.equal(await tab.evaluate('len(main.previews.byName)'), String(previews + 1));
  });
  await tests.test('and a snapshot says why there is none', async () => {
    await tab.take();
    await tab.select(2);
    await tab.perspective('Summary', {mayBeEmpty: true});
    await tab.filter('');
    const rows = await tab.rows();
    assert.ok(rows.some(row => /^no snapshot: process \d+ has ended/.test(row.name)), rows.map(row => row.name).join(' | '));
  });
  await tests.test('DevTools complains of nothing but what no Go process has', () => {
    const others = tab.problems.filter(problem => !/Network\.\w+ (failed|wasn)|Network\./.test(problem));
    assert.deepEqual(others, []);
  });
} finally {
  await tab.close();
  live.child.kill('SIGTERM');
}

live = await attach(['--exe', join(samples, 'leakserver.exe.gz'), ...[1, 2].map(i => join(samples, `leakserver.${i}.dump.gz`))]);
tab = await MemoryTab.open({address: live.address});
const saved = new TabTests(tab);
try {
  await saved.test('two saved dumps: each press takes the next', async () => {
    await tab.take();
    await tab.take();
    await tab.select(1);
    await tab.perspective('Comparison');
    const rows = new Map((await tab.rows()).map(row => [row.name, row]));
    assert.equal(rows.get('main.Watcher')?.['# New'], '1 600');
    assert.equal(rows.get('main.Watcher')?.['# Deleted'], '0');
  });
  await saved.test('their values are there as well', async () => {
    assert.equal(await tab.evaluate('len(main.previews.byName)'), '400');
  });
} finally {
  await tab.close();
  live.child.kill('SIGTERM');
}
saved.end();
