// Tests --inspect with clients that know nothing of Go: what they get of saved dumps is what -o DIRECTORY writes. TAP on standard
// output.
//
//   program.test.mjs GO2HEAPSNAPSHOT DIRECTORY     the directory is made anew

import assert from 'node:assert/strict';
import {execFileSync, spawn} from 'node:child_process';
import {mkdirSync, readFileSync, readdirSync, readlinkSync, rmSync} from 'node:fs';
import {join, resolve} from 'node:path';
import {fileURLToPath} from 'node:url';
import CDP from 'chrome-remote-interface';
import {end, test} from '../tap.mjs';
import {Client, Server, raw, until} from './clients.mjs';

const [program, directory] = process.argv.slice(2).map(path => resolve(path));
const sample = fileURLToPath(new URL('../../samples/leakserver', import.meta.url));
const dumps = ['--exe', `${sample}.exe.gz`, `${sample}.1.dump.gz`, `${sample}.2.dump.gz`];
rmSync(directory, {recursive: true, force: true});
mkdirSync(directory, {recursive: true});
execFileSync(program, [...dumps.slice(0, 2), '-o', directory, ...dumps.slice(2)], {stdio: 'pipe'});
const files = [1, 2].map(i => readFileSync(join(directory, `leakserver.${i}.heapsnapshot`), 'utf8'));

/** Where --inspect says that it listens: in the address for Chrome. */
const attach = (...options) => Server.start([program, '--inspect=0', ...options, ...dumps], {pattern: /&ws=([\d.]+):(\d+)(\/[-0-9a-f]{36})/});

/** Runs a test with an --inspect of its own. */
const attached = (name, options, body) => test(name, async () => {
  const server = await attach(...options);
  try {
    await server.during(body);
    assert.equal(await server.stop(), 0, server.said);
  } finally {
    if (server.process.exitCode === null) await server.stop('SIGKILL');
  }
});

/** A snapshot that is taken has links to lines of Go, which a file cannot have: without these the two are the same. */
function isFile(text, index) {
  const links = /"locations":\[([\d,]*)\]/.exec(text)?.[1] ?? assert.fail('there are no locations');
  assert.ok(links.length > 100, 'there are links');
  assert.ok(text.replace(links, '') === files[index], `snapshot ${index + 1} has ${text.length} characters, the file ${files[index].length}`);
}

await attached('a WebSocket gets each dump after the other, then the last one again', [], async server => {
  const client = await Client.connect(server);
  for (const index of [0, 1]) {
    const {text, messages} = await client.takeSnapshot({reportProgress: true});
    isFile(text, index);
    const done = messages.filter(({method}) => method === 'HeapProfiler.reportHeapSnapshotProgress').map(({params}) => params.done);
    assert.deepEqual(done, [...done].sort((a, b) => a - b));
    assert.ok(done[0] === 0 && done.at(-1) === 100);
  }
  const {nodes} = JSON.parse((await client.takeSnapshot()).text);
  assert.equal(nodes.length, JSON.parse(files[1]).nodes.length);
});
await attached('chrome-remote-interface', [], async server => {
  const client = await CDP({host: server.host, port: server.port});
  for (const index of [0, 1]) {
    let text = '';
    client.HeapProfiler.removeAllListeners?.();
    const forget = client.HeapProfiler.addHeapSnapshotChunk(({chunk}) => { text += chunk; });
    await client.HeapProfiler.takeHeapSnapshot({reportProgress: false});
    forget();
    isFile(text, index);
  }
  const {result} = await client.Runtime.evaluate({expression: 'len(main.previews.byName)'});
  assert.equal(result.type, 'number');
  await client.close();
});
await attached('node inspect', [], async server => {
  const node = spawn(process.execPath, ['inspect', server.authority], {stdio: 'pipe'});
  let said = '';
  node.stdout.on('data', data => { said += data; });
  for (const index of [0, 1]) {
    const file = join(directory, `node.${index}.heapsnapshot`);
    await until('a prompt', () => said.endsWith('debug> '));
    node.stdin.write(`takeHeapSnapshot(${JSON.stringify(file)})\n`);
    await until('a snapshot', () => said.split('Wrote snapshot: ').length > index + 1 || node.exitCode !== null);
    isFile(readFileSync(file, 'utf8'), index);
  }
  node.stdin.end('.exit\n');
  await new Promise(done => node.on('exit', done));
});
await attached('several clients share what is taken at the same time', [], async server => {
  const clients = await Promise.all(Array.from({length: 4}, () => Client.connect(server)));
  const texts = (await Promise.all(clients.map(client => client.takeSnapshot({reportProgress: true})))).map(({text}) => text);
  for (const text of texts) isFile(text, 0);
});
await attached('the list has one target, named after what is inspected', [], async server => {
  const [head, body] = (await raw(server, `GET /json/list HTTP/1.1\r\nHost: ${server.authority}\r\n\r\n`)).split('\r\n\r\n');
  assert.match(head, /^HTTP\/1.1 200 /);
  const [{title, url, type, webSocketDebuggerUrl}, ...more] = JSON.parse(body);
  assert.deepEqual([title, type, webSocketDebuggerUrl, more], ['leakserver.exe.gz', 'node', server.url, []]);
  assert.match(url, /^file:\/\/\//);
});

await attached('source files have names, and those of main.go a path', [], async server => {
  const client = await Client.connect(server);
  await client.takeSnapshot();
  await client.ask('Debugger.enable');
  const urls = client.events('Debugger.scriptParsed').map(({url}) => url);
  assert.ok(urls.length > 5 && urls.every(url => /^file:\/\/.*\.(go|s)$/.test(url)), urls.join('\n'));
  assert.equal(urls.filter(url => url.endsWith('/main.go')).length, 1);
});

/** Calls a function for each node of a snapshot: its name, its id, its type, and its properties, [name, node] each. */
function* nodesOf({snapshot: {meta: {node_fields: fields}}, nodes, edges, strings}) {
  const at = Object.fromEntries(fields.map((field, i) => [field, i])), count = fields.length;
  const node = index => ({index, name: strings[nodes[index + at.name]], id: nodes[index + at.id], isText: nodes[index + at.type] === 2});
  let edge = 0;
  for (let i = 0; i < nodes.length; i += count) {
    const properties = [];
    for (const end = edge + 3 * nodes[i + at.edge_count]; edge < end; edge += 3)
      if (edges[edge] === 2) properties.push([strings[edges[edge + 1]], node(edges[edge + 2])]);
    yield {...node(i), properties};
  }
}
await attached('links and values are those of the snapshot: the line in the name of each goroutine and frame, what each edge leads to', [], async server => {
  const client = await Client.connect(server);
  await client.takeSnapshot();
  const snapshot = JSON.parse((await client.takeSnapshot()).text);
  await client.ask('Debugger.enable');
  const urls = new Map(client.events('Debugger.scriptParsed').map(({scriptId, url}) => [scriptId, url]));
  const links = new Map();
  for (let i = 0; i < snapshot.locations.length; i += 4) links.set(snapshot.locations[i], snapshot.locations.slice(i + 1, i + 3));
  const sums = {lines: 0, texts: 0, objects: 0};
  for (const {index, name, id, properties} of nodesOf(snapshot)) {
    const [, file, line] = /^(?:(?!goroutine).*|goroutine \d+ \[[^\]]*\] \S+) ([^ /]+\.(?:go|s)):(\d+)(?:$| [←(])/.exec(name) ?? [], [script, row] = links.get(index) ?? [];
    if (file && script) {
      assert.deepEqual([urls.get(String(script)).split('/').at(-1), row + 1], [file, Number(line)], name);
      sums.lines++;
    }
    if (!/^main\.\w+$/.test(name) || sums.objects > 2000) continue;
    const {result: {objectId}} = await client.ask('HeapProfiler.getObjectByHeapObjectId', {objectId: String(id)});
    const {result} = await client.ask('Runtime.getProperties', {objectId, ownProperties: true});
    const values = new Map(result.map(property => [property.name, property.value]));
    for (const [field, target] of properties) {
      const value = values.get(field);
      if (value?.type === 'string' && target.isText) {
        assert.ok(target.name.includes(value.value), `${name}.${field}`);
        sums.texts++;
      } else if (value?.objectId?.startsWith('o:')) {
        const {heapSnapshotObjectId} = await client.ask('HeapProfiler.getHeapObjectId', {objectId: value.objectId});
        assert.equal(Number(heapSnapshotObjectId), target.id, `${name}.${field}`);
        sums.objects++;
      }
    }
  }
  assert.ok(sums.lines > 400 && sums.texts > 1000 && sums.objects > 2000, JSON.stringify(sums));
});

await attached('--redact: no text and no number of the heap, in whatever is asked', ['--redact'], async server => {
  const client = await Client.connect(server);
  let said = (await client.takeSnapshot()).text;
  for (const expression of ['main.previews', 'main.previews.byName', 'instances("main.Session")', 'instances("main.Preview")[3]', 'instances("main.Session")[3].Started',
                            'instances("main.Session")[3].Agent', 'goroutine 1', 'main']) {
    const {result} = await client.ask('Runtime.evaluate', {expression});
    assert.notEqual(result.subtype, 'error', expression);
    said += JSON.stringify(result);
    if (result.objectId) said += JSON.stringify(await client.ask('Runtime.getProperties', {objectId: result.objectId, ownProperties: true}));
  }
  assert.match(said, /"\(<=32 bytes, #[0-9a-f]+\)"/);
  for (const secret of ['Go-http-client', '127.0.0.1:', ' wide', 'len ', '2026-']) assert.ok(!said.includes(secret), secret);
});

/** Returns the processes that have a socket which listens at a port. */
function listeners(port) {
  const wanted = port.toString(16).toUpperCase().padStart(4, '0'), listening = '0A';
  const [inode] = readFileSync('/proc/net/tcp', 'latin1').split('\n').map(line => line.trim().split(/\s+/))
    .filter(([, local, , state]) => local?.endsWith(`:${wanted}`) && state === listening).map(words => words[9]);
  const has = pid => {
    try {
      return readdirSync(`/proc/${pid}/fd`).some(fd => readlinkSync(`/proc/${pid}/fd/${fd}`) === `socket:[${inode}]`);
    } catch {
      return false; // it has ended
    }
  };
  return readdirSync('/proc').filter(name => /^\d+$/.test(name) && has(name)).map(Number);
}
await attached('what has the heaps has no socket of the network; of root, what has one has no right', [], async server => {
  const client = await Client.connect(server);
  await client.takeSnapshot();
  assert.deepEqual(listeners(server.port), [server.process.pid]);
  for (const field of ['CapPrm', 'CapEff', 'CapInh', 'CapAmb']) assert.match(server.status(field), /^0+$/);
  if (process.getuid() === 0) assert.match(server.status('Uid'), /^65534\s+65534\s+65534\s+65534$/);
});
end();
