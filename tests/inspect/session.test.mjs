// Tests the session of --inspect with a process whose objects come and go: series of snapshots, children that are killed, and how
// it ends. TAP on standard output.
//
//   session.test.mjs GO2HEAPSNAPSHOT CHURN DIRECTORY     the directory is made anew
//
//   KILLS       how many children are killed (default: 6)

import assert from 'node:assert/strict';
import {execFileSync, spawn} from 'node:child_process';
import {once} from 'node:events';
import {mkdirSync, readFileSync, readdirSync, rmSync} from 'node:fs';
import {join, resolve} from 'node:path';
import process from 'node:process';
import {end, report, test} from '../tap.mjs';
import {Client, Server, until} from './clients.mjs';

const [program, churn, directory] = process.argv.slice(2).map(path => resolve(path));
const kills = Number(process.env.KILLS || 6);
rmSync(directory, {recursive: true, force: true});
mkdirSync(directory, {recursive: true});

const attach = (...options) => Server.start([program, '--inspect=0', ...options], {pattern: /&ws=([\d.]+):(\d+)(\/[-0-9a-f]{36})/});
const pause = time => new Promise(done => setTimeout(done, time));

/** Starts the program with a table of so many items; returns it when the table is full. */
async function full(items) {
  const child = spawn(churn, [String(items)], {stdio: ['ignore', 'pipe', 'inherit']});
  await once(child.stdout, 'data');
  return child;
}

const stat = pid => {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const [state, parent] = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return {state, parent: Number(parent)};
  } catch {
    return {}; // it has ended
  }
};
const childrenOf = parent => readdirSync('/proc').filter(name => /^\d+$/.test(name)).map(Number).filter(pid => {
  const found = stat(pid);
  return found.parent === parent && found.state !== 'Z';
});
const withoutLinks = text => text.replace(/"locations":\[[\d,]*\]/, '"locations":[]');

/** The answer to an expression, or what is wrong with it. */
async function evaluate(client, expression) {
  const {result} = await client.ask('Runtime.evaluate', {expression});
  return result.description ?? result.value;
}

await test('five dumps of a process that goes on meanwhile: ids are those of -o DIRECTORY', async () => {
  const child = await full(2000);
  const dumps = [1, 2, 3, 4, 5].map(i => join(directory, `${i}.dump`));
  for (const dump of dumps) execFileSync(program, ['--pid', String(child.pid), '--format', 'dump', '-o', dump], {stdio: 'pipe'});
  child.kill('SIGKILL');
  const files = join(directory, 'series');
  execFileSync(program, ['--exe', churn, '-o', files, ...dumps], {stdio: 'pipe'});
  const server = await attach('--exe', churn, ...dumps);
  const client = await Client.connect(server);
  for (const i of [1, 2, 3, 4, 5])
    assert.ok(withoutLinks((await client.takeSnapshot()).text) === withoutLinks(readFileSync(join(files, `${i}.heapsnapshot`), 'utf8')), `${i}`);
  await client.close();
  await server.stop();
});

await test('the Console takes what a report prints, and says what there is instead', async () => {
  const dump = join(directory, '1.dump');
  const server = await attach('--exe', churn, dump);
  const client = await Client.connect(server);
  await client.takeSnapshot();
  const report = JSON.parse(execFileSync(program, ['--json', '--full', '--exe', churn, dump], {stdio: ['ignore', 'pipe', 'ignore'], maxBuffer: 1 << 28}));
  const asked = new Set(), members = new Set(['held_by', 'example', 'address', 'place', 'class']);
  const collect = (value, key) => {
    if (value && typeof value === 'object') Object.entries(value).forEach(([name, member]) => collect(member, Array.isArray(value) ? key : name));
    else if (typeof value === 'string' && members.has(key) && !value.includes('…') && value !== '(string)') asked.add(value);
  };
  for (const part of [report.suspects, report.goroutines, report.classes.filter(row => row.class.includes('main.') && row.objects > (row.garbage ?? 0)).slice(0, 20)]) collect(part, '');
  assert.ok(asked.size > 8);
  for (const expression of asked) {
    const {exceptionDetails} = await client.ask('Runtime.evaluate', {expression});
    assert.equal(exceptionDetails?.exception.description, undefined, expression);
  }
  assert.match(await evaluate(client, 'main.items.byIDs'), /^main\.items has no field byIDs: its fields are .*; did you mean byID$/);
  assert.match(await evaluate(client, 'main.items.byID[-1]'), /^no entry -1 in main\.items\.byID \(2,000 entries; nearest .*\)$/);
  assert.match(await evaluate(client, 'help'), /^main\.cache, .*\n(.*\n)*len\(x\), retained\(x\) /);
  await client.close();
  await server.stop();
});

await test('a command: its output is the dump, and if it fails its last words are the message', async () => {
  const server = await attach('--exe', churn, '--command', `if [ -e '${directory}/stop' ]; then echo first >&2; echo no pod >&2; exit 7; fi; cat '${directory}/3.dump'`);
  const client = await Client.connect(server);
  assert.ok((await client.takeSnapshot()).text.length > 100000);
  assert.equal(await evaluate(client, 'len(main.items.byID)'), '2000');
  mkdirSync(join(directory, 'stop'));
  await assert.rejects(client.takeSnapshot(), /failed with status 7: no pod/);
  const {text} = await client.takeSnapshot({reportProgress: true});
  assert.match(text, /no snapshot: .* failed with status 7: no pod/);
  assert.equal(await evaluate(client, 'len(main.items.byID)'), '2000');
  await server.stop();
});

const pattern = readFileSync('/proc/sys/kernel/core_pattern', 'latin1').trim();
if (/[|/%]|^$/.test(pattern)) report('a core file # SKIP the kernel writes none to the current directory');
else await test('a core file: its values are there, and each snapshot is the same', async () => {
  const cores = join(directory, 'cores');
  mkdirSync(cores);
  const child = spawn('sh', ['-c', 'ulimit -c unlimited; exec "$@"', 'sh', churn, '2000'], {cwd: cores, env: {...process.env, GOTRACEBACK: 'crash'}, stdio: ['ignore', 'pipe', 'ignore']});
  await once(child.stdout, 'data');
  child.kill('SIGABRT');
  await once(child, 'exit');
  const server = await attach(join(cores, readdirSync(cores)[0]));
  const client = await Client.connect(server);
  const texts = [await client.takeSnapshot(), await client.takeSnapshot()].map(({text}) => text);
  assert.ok(texts[0].length > 100_000 && texts[0] === texts[1], texts.map(text => text.length).join(', '));
  assert.equal(await evaluate(client, 'len(main.items.byID)'), '2000');
  assert.match(await evaluate(client, 'main.items.last.Next.Name'), /^item \d+$/);
  await server.stop();
});

const items = process.env.CHECK_ALL ? 1_000_000 : 300_000;
const target = await full(items);
const server = await attach('--pid', String(target.pid));
const client = await Client.connect(server);
let [session] = childrenOf(server.process.pid);

/** Takes a snapshot that must succeed; the session is another process then. */
async function take() {
  const begin = Date.now();
  const {text} = await client.takeSnapshot();
  session = await until('a session', () => readdirSync('/proc').filter(name => /^\d+$/.test(name)).map(Number)
    .find(pid => pid !== session && stat(pid).state && readName(pid) === readName(server.process.pid) && pid !== server.process.pid && stat(pid).parent !== session));
  return {text, time: Date.now() - begin};
}
function readName(pid) {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1');
  } catch {
    return undefined;
  }
}

const {time} = await take();
await test(`completion among ${items} names: the first 1,000, and a message of at most a megabyte`, async () => {
  assert.equal(await evaluate(client, 'len(main.items.byID)'), String(items));
  const {result: {objectId}} = await client.ask('Runtime.evaluate', {expression: 'main.items.byID', objectGroup: 'completion', throwOnSideEffect: true});
  const answer = await client.ask('Runtime.getProperties', {objectId, ownProperties: true});
  assert.equal(new Set(answer.result.map(({name}) => name)).size, 1000);
  assert.ok(JSON.stringify(answer).length < 1_000_000);
});
await test(`a child that is killed at any of ${kills} moments: the session goes on with the snapshot before`, async () => {
  for (let i = 0; i < kills; i++) {
    client.socket._socket.pause(); // so that the child cannot be done before it is killed
    const pending = assert.rejects(client.takeSnapshot(), /died of signal 9; the session goes on/, `kill ${i}`);
    const [child] = await until('a child', () => childrenOf(session).length > 0 && childrenOf(session));
    await pause(time * i / kills);
    assert.equal(stat(child).parent, session, 'it has not become the session');
    process.kill(child, 'SIGKILL');
    client.socket._socket.resume();
    await pending;
    assert.equal(await evaluate(client, 'len(main.items.byID)'), String(items));
    assert.equal(target.exitCode, null);
  }
});
await test('and the next one is exact: what was there before has its id', async () => {
  const ids = text => {
    const {snapshot: {meta: {node_fields: fields}}, nodes, strings} = JSON.parse(text);
    const [name, id] = ['name', 'id'].map(field => fields.indexOf(field));
    const found = new Set();
    for (let i = 0; i < nodes.length; i += fields.length) if (strings[nodes[i + name]] === 'main.item') found.add(nodes[i + id]);
    return found;
  };
  const before = ids((await take()).text), after = ids((await take()).text);
  const kept = [...before].filter(id => after.has(id)).length;
  assert.ok(before.size >= items && kept >= items / 2 && kept < before.size, `${kept} of ${before.size} are in the next one`);
});
await test('memory does not grow from snapshot to snapshot', async () => {
  const taken = [];
  for (let i = 0; i < 7; i++) {
    await take();
    taken.push(Number.parseInt(server.status('RssAnon', session), 10));
  }
  // What the allocator keeps goes up and down by a third.
  assert.ok(Math.min(...taken.slice(-2)) < 1.3 * Math.max(...taken.slice(0, 3)), taken.join(', '));
});
await test('the process can be read while it is looked at, and is not traced', async () => {
  assert.match(readFileSync(`/proc/${target.pid}/status`, 'latin1'), /^TracerPid:\s*0$/m);
  assert.equal(target.exitCode, null);
});
await test('a server that is killed ends the session', async () => {
  await server.stop('SIGKILL');
  await until('the end of the session', () => !stat(session).state || stat(session).state === 'Z');
  assert.equal(target.exitCode, null);
});
target.kill('SIGKILL');
end();
