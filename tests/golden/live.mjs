// Reads a live Go program from outside, without Go: the stripped one of tests/golden/inputs prints what is in its heap, then waits
// for its standard input to end. What --pid, --fork, --at-death and a press of --inspect find must be what it has printed, and what
// the Console says must be what is in its source. TAP on standard output.
//
//   GO2HEAPSNAPSHOT   the program (default: build/go2heapsnapshot)
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import http from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import zlib from 'node:zlib';
import { wrongFigures, wrongSuspects } from '../suspects.mjs';
import { end, test } from '../tap.mjs';

const here = path.dirname(fileURLToPath(import.meta.url));
const g2h = path.resolve(process.env.GO2HEAPSNAPSHOT ?? path.join(here, '../../build/go2heapsnapshot'));
const skip = (why) => {
  console.log(`ok - live: a program without Go # SKIP ${why}`);
  process.exit(0);
};
if (process.platform !== 'linux' || process.arch !== 'x64') skip('for Linux on amd64 only');

const work = fs.mkdtempSync(path.join(os.tmpdir(), 'live-'));
const children = new Set();
process.on('exit', () => {
  for (const child of children) child.kill('SIGKILL');
  fs.rmSync(work, { recursive: true, force: true });
});
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => process.exit(1));

/** Starts a program. Gives the process; its output so far, and what it said; a promise of its end, a status or signal. */
function start(command, args) {
  const child = spawn(command, args, { env: { ...process.env, LC_ALL: 'C' }, stdio: 'pipe' });
  children.add(child);
  const started = { child, out: [], said: '' };
  child.stdout.on('data', (part) => started.out.push(part));
  child.stderr.on('data', (part) => { started.said += part; });
  started.ended = new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (status, signal) => {
      children.delete(child);
      resolve(status ?? signal);
    });
  });
  return started;
}

/** Waits until a program has written, or said, something that matches; fails if it ends before. */
async function written(started, stream, pattern) {
  const match = () => pattern.exec(stream === 'stdout' ? String(Buffer.concat(started.out)) : started.said);
  while (!match()) {
    const next = new Promise((resolve) => started.child[stream].once('data', resolve));
    const early = started.ended.then((status) => { if (!match()) throw new Error(`it ended with ${status}: ${started.said}`); });
    await Promise.race([next, early]);
  }
  return match();
}

async function converted(...args) {
  const run = start(g2h, args);
  run.child.stdin.end();
  const status = await run.ended;
  assert.equal(status, 0, run.said);
  return { text: Buffer.concat(run.out).toString('utf8'), said: run.said };
}

// ---- the program ----

const file = path.join(work, 'program');
fs.writeFileSync(file, zlib.gunzipSync(fs.readFileSync(path.join(here, 'inputs/go1.27-stripped.exe.gz'))), { mode: 0o700 });
const program = start(file, ['live']);
await written(program, 'stdout', /^READY$/m);
const pid = String(program.child.pid);
const lines = String(Buffer.concat(program.out)).split('\n').map((line) => line.split(' '));
/** What the program says: the objects of classes, the goroutines in a function. */
const said = (kind) => lines.filter((line) => line[0] === kind).map(([, name, count]) => [name, all(name, Number(count))]);
/** Of main.bTicket the program counts the entries of a map; as many are in a list, and one is in another. */
function all(name, count) { return name === 'main.bTicket' ? 2 * count + 1 : count; }

{
  const attempt = start(g2h, ['--pid', pid, '--format', 'report']);
  const status = await attempt.ended;
  if (status !== 0 && /ptrace|CAP_SYS_PTRACE/.test(attempt.said)) skip(`processes may not be read here: ${attempt.said.trim().split('\n')[0]}`);
}

/** Asserts that a snapshot has the objects and goroutines that the program counts. */
function isRight(text) {
  const { nodes, strings } = JSON.parse(text);
  const counts = new Map();
  for (let i = 0; i < nodes.length; i += 7) counts.set(strings[nodes[i + 1]], (counts.get(strings[nodes[i + 1]]) ?? 0) + 1);
  assert.ok(said('class').length >= 3);
  for (const [name, count] of said('class')) assert.equal(counts.get(name), count, name);
  for (const [name, count] of said('goroutines')) {
    const places = [...counts.keys()].filter((node) => node.startsWith(`${count} goroutines `) && node.includes(` ${name} `));
    assert.equal(places.length, 1, `${count} goroutines in ${name}`);
  }
}

await test('live: --pid: a snapshot', async () => isRight((await converted('--pid', pid)).text));
await test('live: --pid: a report', async () => {
  const report = JSON.parse((await converted('--pid', pid, '--format', 'report', '--json')).text);
  assert.equal(report.heap.source, `process ${pid} (program)`);
  for (const [name, count] of said('class')) assert.equal(report.classes.find((row) => row.class === name)?.objects, count, name);
});
await test('live: --sample: a report', async () => {
  const { sample, classes, suspects } = JSON.parse((await converted('--pid', pid, '--sample', '2', '--format', 'report', '--json')).text);
  assert.deepEqual([sample.every, sample.read, sample.unseen], [2, sample.objects, 0]); // of each size so few spans are there that all are read
  for (const row of [...classes, ...suspects]) assert.ok([row.objects_error ?? row.count_error, row.bytes_error].every((error) => error === 0), JSON.stringify(row));
  const { heap, classes: all } = JSON.parse((await converted('--pid', pid, '--format', 'report', '--json')).text);
  assert.ok(Math.abs(sample.objects - heap.objects) < 20 && heap.objects > 5000, `${sample.objects} objects of ${heap.objects}`); // the runtime makes and frees some
  const found = new Map(classes.map((row) => [row.class, row.objects]));
  const known = all.filter((row) => row.class.startsWith('main.') && found.has(row.class));
  assert.ok(known.length >= 3);
  for (const row of known) assert.equal(found.get(row.class), row.objects, row.class);
  assert.match(suspects[0].held_by, /^main › /);
});
await test('live: --pid --exe: names from the DWARF of the executable that is not stripped', async () => {
  const withDwarf = ['--pid', pid, '--exe', path.join(here, 'inputs/go1.27-dwarf.exe.gz')];
  isRight((await converted(...withDwarf)).text);
  const report = JSON.parse((await converted(...withDwarf, '--format', 'report', '--json')).text);
  assert.equal(report.suspects[0].held_by, 'main.bCache.byName');
  assert.deepEqual([...wrongSuspects(report), ...wrongFigures(report)], []);
  for (const [, name, type] of lines.filter((line) => line[0] === 'variable')) {
    const { object } = JSON.parse((await converted(...withDwarf, '--format', 'report', '--json', '--show', name)).text);
    assert.equal(object?.class, type, name);
  }
});
for (const fork of ['--fork', '--fork=huge']) {
  await test(`live: ${fork}: a snapshot`, async () => {
    const { text, said: messages } = await converted(fork, '--pid', pid);
    isRight(text);
    assert.doesNotMatch(messages, /without a fork|not forked/);
  });
}

await test('live: --pid: a dump, and what it is converted to: all formats have the same', async () => {
  const dump = path.join(work, 'whole.dump'), named = (name) => path.join(work, `whole.${name}`);
  const take = (...args) => converted('--exe', file, ...args, dump);
  await converted('--pid', pid, '--format', 'dump', '-o', dump);
  isRight((await take()).text);
  await take('--format', 'report', '-o', named('txt'));
  await take('--format', 'report', '--json', '-o', named('json'));
  await take('--reachable', '--no-contexts', '-o', named('reachable.heapsnapshot'));
  await take('--format', 'hprof', '-o', named('hprof'));
  for (const args of [['report-json.mjs', 'live', named('json'), named('txt')], ['hprof.mjs', named('hprof'), named('reachable.heapsnapshot')]]) {
    const checked = start(process.execPath, [path.join(here, '../formats', args[0]), ...args.slice(1)]);
    assert.equal(await checked.ended, 0, String(Buffer.concat(checked.out)) + checked.said);
  }
  const report = JSON.parse(fs.readFileSync(named('json'), 'utf8'));
  assert.ok(report.heap.objects > 5000 && report.process.rss.parts.objects <= report.heap.bytes);
  assert.deepEqual([...wrongSuspects(report), ...wrongFigures(report)], []);
});

await test('live: --pid of a shell names the program that it has started', async () => {
  const shell = start('sh', ['-c', `'${file}' live; :`]);
  await written(shell, 'stdout', /^READY$/m);
  const attempt = start(g2h, ['--pid', String(shell.child.pid)]);
  assert.equal(await attempt.ended, 1);
  const [, child] = /; its child (\d+) \(program\) is: --pid \1$/m.exec(attempt.said) ?? assert.fail(attempt.said);
  assert.equal(fs.readlinkSync(`/proc/${child}/exe`), file);
  shell.child.stdin.end();
  await shell.ended;
});

await test('live: --at-death: the heap of a program that is killed', async () => {
  const killed = start(file, ['live']);
  await written(killed, 'stdout', /^READY$/m);
  const dump = path.join(work, 'killed.dump.gz');
  const box = start(g2h, ['--at-death', '--pid', String(killed.child.pid), '-o', dump]);
  await written(box, 'stderr', /its heap is written when it is killed/);
  assert.ok(!fs.existsSync(dump) || fs.statSync(dump).size === 0, 'nothing is written while it lives');
  killed.child.kill('SIGKILL');
  assert.equal(await box.ended, 0, box.said);
  assert.equal(await killed.ended, 'SIGKILL');
  assert.match(box.said, new RegExp(`process ${killed.child.pid} \\(program\\) was killed by signal 9`));
  assert.match(box.said, /killed\.dump\.gz is written/);
  isRight((await converted('--exe', file, dump)).text);
});

await test('live: --at-death: the heap of a program that lives on, by SIGUSR1', async () => {
  const asked = start(file, ['live']);
  await written(asked, 'stdout', /^READY$/m);
  const directory = path.join(work, 'asked');
  fs.mkdirSync(directory);
  const box = start(g2h, ['--at-death', '--pid', String(asked.child.pid), '-o', `${directory}/`]);
  await written(box, 'stderr', /its heap is written when it is killed/);
  box.child.kill('SIGUSR1');
  await written(box, 'stderr', /-asked\S* is written/);
  const dumps = fs.readdirSync(directory);
  assert.equal(dumps.length, 1);
  isRight((await converted('--exe', file, path.join(directory, dumps[0]))).text);
  assert.equal(asked.child.exitCode, null);
  asked.child.stdin.end();
  assert.equal(await asked.ended, 0, 'it goes on, and ends by itself');
  assert.equal(await box.ended, 0, box.said);
  assert.equal(fs.readdirSync(directory).length, 1);
});

await test('live: --at-death: nothing of a program that ends by itself', async () => {
  const dump = path.join(work, 'ended.dump.gz');
  const box = start(g2h, ['--at-death', '-o', dump, '--', file, 'live']);
  await written(box, 'stderr', /its heap is written when it is killed/);
  await written(box, 'stdout', /^READY$/m);
  box.child.stdin.end();
  assert.equal(await box.ended, 0, box.said);
  assert.ok(!fs.existsSync(dump), box.said);
});

// ---- --watch: another one, meanwhile ----

const calm = start(file, ['live']), kept = path.join(work, 'kept');
await written(calm, 'stdout', /^READY$/m);
fs.mkdirSync(kept);
const watch = start(g2h, ['--pid', String(calm.child.pid), '--watch', '1s', '--count', '6', '--keep', kept]);

// ---- --ages: the program as one that collects garbage ten times per second ----

const often = path.join(work, 'often');
{
  const bytes = fs.readFileSync(file);
  const [period, shorter] = [120e9, 100e6].map((nanoseconds) => { const word = Buffer.alloc(8); word.writeBigInt64LE(BigInt(nanoseconds)); return word; });
  const at = bytes.indexOf(period); // runtime.forcegcperiod, which is a variable
  assert.ok(at >= 0 && bytes.indexOf(period, at + 1) < 0);
  shorter.copy(bytes, at);
  fs.writeFileSync(often, bytes, { mode: 0o700 });
}
/** Starts that program, which says when it has collected; waits until it has done so twice by itself. */
async function startOften() {
  const started = start('env', ['GODEBUG=gctrace=1', often, 'live']);
  await written(started, 'stdout', /^READY$/m);
  started.collections = () => [...started.said.matchAll(/^gc (\d+) .* MB, .* P$/gm)].map((match) => Number(match[1]));
  started.after = async (count) => { for (const end = started.collections().length + count; started.collections().length < end;) await new Promise((resolve) => started.child.stderr.once('data', resolve)); };
  await written(started, 'stderr', /^GC forced$/m);
  await started.after(2);
  started.begin = Date.now();
  return started;
}

/**
 * Asserts that the objects of a dump live since one collection, between these, because the program has made no others meanwhile. Its
 * runtime may have made some: for a thread, for example.
 */
async function haveOneAge(dump, { begin }, from, to) {
  const directory = `${dump}.csv`;
  await converted('--exe', often, '--format', 'csv', '-o', directory, dump);
  const objects = fs.readFileSync(path.join(directory, 'nodes.csv'), 'utf8').split('\n').map((line) => /,(\d+),(\d*),(\d*)$/.exec(line)).filter((match) => match);
  const since = Math.min(...objects.map((one) => Number(one[2] || Infinity)));
  const [old, others] = [true, false].map((is) => objects.filter((one) => (Number(one[2]) === since) === is));
  assert.ok(old.length > 5000 && others.length <= 30, `${old.length} live since ${since}, but ${others.map((one) => one.input).join('\n')}`);
  for (const one of others) assert.ok(!one.input.includes(',main.'), one.input);
  assert.ok(since >= from && since <= to, `${since} is of ${from} to ${to}`);
  assert.deepEqual([...new Set(old.map((one) => one[3]))], [old[0][3]]);
  assert.ok(Number(old[0][3]) >= begin && Number(old[0][3]) <= Date.now(), `${old[0][3]} is not after ${begin}`);
  const report = JSON.parse((await converted('--exe', often, '--format', 'report', '--json', dump)).text);
  assert.ok(report.suspects.length > 0);
  const { collections, missed } = report.suspects[0].age;
  for (const { age, count } of report.suspects) {
    assert.deepEqual([age.objects, age.before, age.born, age.young, age.collections, age.missed], [count, count, 0, 0, collections, missed]);
  }
  assert.ok(collections > 0 && since + collections + missed <= to, JSON.stringify([since, collections, missed, to]));
}

await test('live: --pid --ages: since when all objects live', async () => {
  const watched = await startOften();
  const dump = path.join(work, 'watched.dump');
  const before = watched.collections().at(-1);
  const { said: messages } = await converted('--pid', String(watched.child.pid), '--ages', '1s', '--format', 'dump', '-o', dump);
  await watched.after(1);
  await haveOneAge(dump, watched, before, watched.collections().at(-1));
  assert.match(messages, /was watched for \d+ collections?/);
  watched.child.stdin.end();
  assert.equal(await watched.ended, 0, watched.said);
});

await test('live: --at-death --ages: since when the objects of a program lived that is killed', async () => {
  const killed = await startOften();
  const dump = path.join(work, 'aged.dump');
  const box = start(g2h, ['--at-death', '--ages', '1h', '--pid', String(killed.child.pid), '-o', dump]);
  await written(box, 'stderr', /its heap is written when it is killed/);
  const before = killed.collections().at(-1);
  await killed.after(8);
  killed.child.kill('SIGKILL');
  assert.equal(await box.ended, 0, box.said);
  await haveOneAge(dump, killed, before - 1, killed.collections().at(-1));
});

// ---- a client of --inspect, of what Node has ----

/** Connects to a WebSocket. Gives a function that sends a request and gives the response, and hands each event to `on`. */
function connect(host, port, target, on) {
  return new Promise((resolve, reject) => {
    const request = http.get({ host, port, path: target, headers: {
      Connection: 'Upgrade', Upgrade: 'websocket', 'Sec-WebSocket-Version': 13, 'Sec-WebSocket-Key': randomBytes(16).toString('base64'),
    } });
    request.on('error', reject);
    request.on('response', (response) => reject(new Error(`status ${response.statusCode}`)));
    request.on('upgrade', (_, socket, head) => {
      const waiting = new Map();
      let buffer = head;
      const message = (text) => {
        const { id, error, result, ...event } = JSON.parse(text);
        if (id === undefined) return on(event);
        const [done, fail] = waiting.get(id);
        return error ? fail(new Error(error.message)) : done(result);
      };
      const take = () => {
        while (buffer.length >= 2) {
          const short = buffer[1] & 127;
          const start = short === 126 ? 4 : short === 127 ? 10 : 2;
          if (buffer.length < start) return;
          const length = short === 126 ? buffer.readUInt16BE(2) : short === 127 ? Number(buffer.readBigUInt64BE(2)) : short;
          if (buffer.length < start + length) return;
          const [first, payload] = [buffer[0], buffer.subarray(start, start + length)];
          buffer = buffer.subarray(start + length);
          if (first === 0x81) message(payload.toString('utf8')); // one frame of text, as the server sends
          else if ((first & 15) < 8) socket.destroy(new Error(`a frame that starts with ${first}`));
        }
      };
      socket.on('data', (part) => { buffer = Buffer.concat([buffer, part]); take(); });
      const lost = (error) => waiting.forEach(([, fail]) => fail(error ?? new Error('the server has closed')));
      socket.on('error', lost).on('close', () => lost());
      let id = 0;
      take();
      resolve({
        ask: (method, params = {}) => new Promise((done, fail) => {
          waiting.set(++id, [done, fail]);
          const text = Buffer.from(JSON.stringify({ id, method, params }));
          assert.ok(text.length < 0x10000);
          const length = text.length < 126 ? [0x80 | text.length] : [0x80 | 126, text.length >> 8, text.length & 255];
          socket.write(Buffer.concat([Buffer.from([0x81, ...length, 0, 0, 0, 0]), text])); // masked with zeros
        }),
        close: () => socket.destroy(),
      });
    });
  });
}

const sources = path.join(here, 'program'); // the program was built with -trimpath: its files are golden/main.go and so on
const server = start(g2h, ['--inspect=0', '--pid', pid, '--source', sources]);
const [, host, port, target] = await written(server, 'stderr', /&ws=([\d.]+):(\d+)(\/[-0-9a-f]{36})/);

/** Asks for a path of the server. Gives the status and the text. */
function get(of, from = host) {
  return new Promise((resolve, reject) => {
    http.get({ host: from, port, path: of, agent: false, headers: { Host: `${host}:${port}  ` } }, (response) => {
      let text = '';
      response.on('data', (part) => { text += part; }).on('end', () => resolve([response.statusCode, text]));
    }).on('error', reject);
  });
}

await test('live: --inspect: what DevTools discovers', async () => {
  const [status, version] = await get('/json/version');
  assert.equal(status, 200);
  assert.match(JSON.parse(version).Browser, /^go2heapsnapshot [0-9.]+/);
  const list = JSON.parse((await get('/json/list'))[1]);
  assert.equal(list.length, 1);
  assert.equal(list[0].webSocketDebuggerUrl, `ws://${host}:${port}${target}`);
  assert.equal(list[0].title, `program (pid ${pid})`);
  assert.ok(JSON.parse((await get('/json/protocol'))[1]).domains.some(({ domain }) => domain === 'HeapProfiler'));
  assert.equal((await get('/json/nothing'))[0], 404);
});

let snapshot = '';
const scripts = new Map(); // by URL
const client = await connect(host, port, target, ({ method, params }) => {
  if (method === 'HeapProfiler.addHeapSnapshotChunk') snapshot += params.chunk;
  if (method === 'Debugger.scriptParsed') scripts.set(params.url, params.scriptId);
});
const evaluated = async (expression) => (await client.ask('Runtime.evaluate', { expression })).result;
/** The properties of a value: [[name, what it is]]. */
async function properties(expression) {
  const { objectId } = typeof expression === 'string' ? await evaluated(expression) : expression;
  assert.ok(objectId, expression);
  const { result } = await client.ask('Runtime.getProperties', { objectId, ownProperties: true });
  return result.map(({ name, value }) => [name, value.description ?? value.value]);
}
const fields = async (expression) => Object.fromEntries(await properties(expression));

await test('live: --inspect: a snapshot that a client takes', async () => {
  await client.ask('HeapProfiler.enable');
  assert.match((await evaluated('goroutines()')).description, /^there is no snapshot yet/);
  await client.ask('HeapProfiler.takeHeapSnapshot');
  isRight(snapshot);
});
await test('live: --inspect: the source, which --source says where to find', async () => {
  await client.ask('Debugger.enable');
  const files = [...scripts].filter(([url]) => url.startsWith('file:///golden/')).map(([url, scriptId]) => [path.basename(url), scriptId]);
  assert.ok(files.some(([name]) => name === 'main.go'), [...scripts.keys()].join(' '));
  for (const [name, scriptId] of files) {
    const { scriptSource } = await client.ask('Debugger.getScriptSource', { scriptId });
    assert.equal(scriptSource, fs.readFileSync(path.join(sources, name), 'utf8'), name);
  }
});

await test('live: --inspect: the Console: classes, maps, structs, strings and goroutines', async () => {
  for (const [name, count] of said('class')) {
    assert.equal((await evaluated(`instances("${name}")`)).description, `${count} × ${name}`);
    assert.equal((await properties(`instances("${name}")`)).length, count, name);
  }
  const ticket = await fields('instances("main.bTicket")[0]');
  assert.deepEqual(Object.keys(ticket), ['next', 'id', 'text']);
  const cache = await fields('instances("main.cache")[0]');
  assert.equal(cache.byName, 'map[string]*main.item 1000 entries');
  assert.equal(cache.nested, 'map[string]map[string][]*main.item 1 entry');
  assert.deepEqual(await properties('instances("main.cache")[0].byFloat'), [['0.5', 'half'], ['-1e+300', 'small']]);
  assert.deepEqual(await properties('instances("main.cache")[0].inline'), [['1', 'one'], ['-2', 'minus two']]);
  assert.deepEqual(await properties('instances("main.cache")[0].nested["outer"]'), [['"inner"', '[]*main.item len 2 cap 2']]);
  assert.deepEqual(await fields('instances("main.cache")[0].nested["outer"]["inner"][1]'), { name: 'twice', next: 'nil' });
  assert.equal((await evaluated('len(instances("main.cache")[0].byNumber)')).value, 63);
  assert.equal((await evaluated('instances("main.cache")[0].inline[-2]')).value, 'minus two');
  assert.match((await evaluated('instances("main.cache")[0].inline[7]')).description, /^there is no 7 in it$/);
  assert.match((await evaluated('main.nothing')).description, /^main\.nothing is not a variable/);
  const { nodes, strings } = JSON.parse(snapshot);
  const i = strings.indexOf('main.cache');
  let id;
  for (let n = 0; n < nodes.length; n += 7) if (nodes[n + 1] === i) id = nodes[n + 2];
  const { result } = await client.ask('HeapProfiler.getObjectByHeapObjectId', { objectId: String(id) });
  assert.equal((await fields(result)).byName, 'map[string]*main.item 1000 entries');
  const goroutines = await properties('goroutines()');
  for (const [name, count] of said('goroutines')) {
    const blocked = goroutines.filter(([, text]) => text.endsWith(`] ${name}`));
    assert.equal(blocked.length, count, name);
    const frames = await properties(`goroutine ${blocked[0][0]}`);
    assert.ok(frames.some(([, text]) => String(text).startsWith(`${name} goroutines.go:`)), JSON.stringify(frames));
  }
});

await test('live: --watch: nothing grows', async () => {
  assert.equal(await watch.ended, 0, watch.said);
  const heaps = [...watch.said.matchAll(/^[\d:]+ +\d+ kB reachable, .* ([\d,]+) objects, (\d+) goroutines; RSS [\d.]+ MB/gm)];
  assert.equal(heaps.length, 6, watch.said);
  const report = String(Buffer.concat(watch.out));
  assert.match(report, new RegExp(`^6 heaps in \\d+ s of process ${calm.child.pid}$`, 'm'));
  assert.match(report, new RegExp(`objects ${heaps[0][1]} to ${heaps[5][1]}, goroutines ${heaps[0][2]} to ${heaps[5][2]}$`, 'm'));
  assert.match(report, /^Nothing grew in every interval/m);
  assert.deepEqual(fs.readdirSync(kept).sort(), ['first.dump.gz', 'last.dump.gz']);
  for (const name of fs.readdirSync(kept)) isRight((await converted('--exe', file, path.join(kept, name))).text);
  calm.child.stdin.end();
  assert.equal(await calm.ended, 0, calm.said);
});
await test('live: --inspect ends when it is told to', async () => {
  client.close();
  server.child.kill('SIGINT');
  assert.equal(await server.ended, 0, server.said);
});

await test('live: the program goes on, and ends when its standard input does', async () => {
  assert.equal(program.child.exitCode, null);
  program.child.stdin.end();
  assert.equal(await program.ended, 0, program.said);
});
end();
process.exit();
