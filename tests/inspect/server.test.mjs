// Tests the server of --inspect with a session of canned answers (canned.c): what clients get, and what becomes of those that
// do not keep to the protocols. TAP on standard output.
//
//   server.test.mjs CANNED SNAPSHOT DIRECTORY     the directory is made anew, for files of the test
//
//   SANITIZED     CANNED is built with sanitizers, so how much memory it takes says nothing

import assert from 'node:assert/strict';
import {execFileSync, spawn} from 'node:child_process';
import {mkdirSync, readFileSync, readdirSync, readlinkSync, symlinkSync, writeFileSync, rmSync} from 'node:fs';
import {join, resolve} from 'node:path';
import CDP from 'chrome-remote-interface';
import {end, report, test} from '../tap.mjs';
import {Client, Raw, Server, frame, handshake, raw, until} from './clients.mjs';

const [canned, snapshotFile, directory] = process.argv.slice(2).map(path => resolve(path));
const isSanitized = Boolean(process.env.SANITIZED);
rmSync(directory, {recursive: true, force: true});
mkdirSync(directory, {recursive: true});
const snapshot = readFileSync(snapshotFile, 'utf8');
const start = (...options) => Server.start([canned, ...options, '127.0.0.1:0', snapshotFile]);

/** Runs a test with a server of its own. */
async function served(name, options, body) {
  await test(name, async () => {
    const server = await start(...options);
    try {
      await server.during(body);
      if (server.process.exitCode === null) assert.equal(await server.stop(), 0, server.said);
    } finally {
      if (server.process.exitCode === null && server.process.signalCode === null) await server.stop('SIGKILL');
    }
  });
}

const asked = (server, kind) => server.lines.filter(line => line === `asked ${kind}`).length;
const TAKE = 1, MORE = 2;
const get = async (server, path, headers = {}) => {
  const text = await raw(server, `GET ${path} HTTP/1.1\r\n${Object.entries({Host: server.authority, ...headers}).map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`);
  const [head, body] = [text.slice(0, text.indexOf('\r\n\r\n')), text.slice(text.indexOf('\r\n\r\n') + 4)];
  return {status: Number(text.split(' ')[1]), head, body};
};

// ---- two that need half a minute, whose end is seen below

const longFile = join(directory, 'long.heapsnapshot');
writeFileSync(longFile, Buffer.alloc(64 << 20, 'x'));
const patient = await start();
const idleClient = await Client.connect(patient);
const stalled = await Server.start([canned, '127.0.0.1:0', longFile]);
const stalledClient = await Raw.upgrade(stalled);
stalledClient.socket.pause();
stalledClient.socket.write(frame(JSON.stringify({id: 1, method: 'HeapProfiler.takeHeapSnapshot'})));
/** How many sockets a server has: the one that listens, and one for each client. */
const socketsOf = server => readdirSync(`/proc/${server.process.pid}/fd`).filter(fd => {
  try {
    return readlinkSync(`/proc/${server.process.pid}/fd/${fd}`).startsWith('socket:');
  } catch {
    return false; // it was closed
  }
}).length;
await until('the stalled client is answered', () => asked(stalled, MORE) > 0);
const withStalled = socketsOf(stalled);

// ---- discovery

await served('what chrome://inspect polls', [], async server => {
  for (const path of ['/json', '/json/', '/json/list', '/json/list?for_tab']) {
    const {status, head, body} = await get(server, path);
    assert.equal(status, 200);
    assert.match(head, /\r\nContent-Type: application\/json; charset=UTF-8\r\n/);
    assert.equal(Number(/\r\nContent-Length: (\d+)/.exec(head)[1]), Buffer.byteLength(body));
    const ws = `${server.authority}${server.path}`;
    assert.deepEqual(JSON.parse(body), [{
      id: server.path.slice(1), type: 'node', title: 'cänned', url: 'file:///canned', description: '', faviconUrl: '',
      devtoolsFrontendUrl: `devtools://devtools/bundled/js_app.html?experiments=true&v8only=true&ws=${ws}`,
      devtoolsFrontendUrlCompat: `devtools://devtools/bundled/inspector.html?experiments=true&v8only=true&ws=${ws}`,
      webSocketDebuggerUrl: `ws://${ws}`,
    }]);
  }
  const tunnel = JSON.parse((await get(server, '/json', {Host: 'localhost:1'})).body);
  assert.equal(tunnel[0].webSocketDebuggerUrl, `ws://localhost:1${server.path}`, 'the address is the one that the client knows');
  const {Browser, 'Protocol-Version': version} = JSON.parse((await get(server, '/json/version')).body);
  assert.deepEqual([Browser, version], ['canned 1.0', '1.3']);
  const {domains} = JSON.parse((await get(server, '/json/protocol')).body);
  assert.ok(domains.find(({domain}) => domain === 'HeapProfiler').commands.some(({name}) => name === 'takeHeapSnapshot'));
});
await served('a target that has ended is off the list', ['--ended'], async server => assert.equal((await get(server, '/json')).body, '[]'));
await served('a private target is not on the list, and there', ['--private'], async server => {
  assert.equal((await get(server, '/json')).body, '[]');
  const client = await Client.connect(server);
  assert.equal((await client.ask('Runtime.getHeapUsage')).usedSize, 1);
});
await served('a client that sends no more still gets its answer', [], async server => {
  const client = await Raw.connect(server);
  client.socket.end(`GET /json HTTP/1.1\r\nHost: ${server.authority}\r\n\r\n`);
  await client.closed;
  assert.match(client.data.toString(), /^HTTP\/1.1 200 OK\r\n/);
});

// ---- who may connect

await served('Host and Origin', [], async server => {
  const {port} = server;
  const table = [
    [{Host: 'localhost'}, 200], [{Host: `LocalHost:${port}`}, 200], [{Host: `127.0.0.1:${port}`}, 200], [{Host: '[::1]'}, 200], [{Host: `[::1]:${port}`}, 200],
    [{Host: 'localhost:9'}, 200], // a port that is forwarded
    [{Host: 'evil.example'}, 400], [{Host: `evil.example:${port}`}, 400], [{Host: 'localhost6'}, 400], [{Host: 'localhost.'}, 400], [{Host: 'localhost.evil.example'}, 400],
    [{Host: '127.0.0.1.nip.io'}, 400], [{Host: '127.1'}, 400], [{Host: '0x7f.0.0.1'}, 400], [{Host: '0177.0.0.1'}, 400], [{Host: '2130706433'}, 400], [{Host: '10.0.0.1'}, 400],
    [{Host: '0.0.0.0'}, 400], [{Host: '127.0.0.1:'}, 400], [{Host: '127.0.0.1:80x'}, 400], [{Host: '::1'}, 400], [{Host: '[127.0.0.1]'}, 400], [{Host: '[localhost]'}, 400],
    [{Host: '[::1'}, 400], [{Host: '[]'}, 400], [{Host: '['}, 400], [{Host: ''}, 400], [{Host: 'user@localhost'}, 400], [{Host: 'a'.repeat(200)}, 400], [{Host: '[::1]x'}, 400],
    [{Host: `localhost\r\nHost: localhost`}, 400], [{Host: 'localhost\r\nX: y\r\n folded'}, 400], [{'Host ': 'x'}, 400],
    [{Origin: 'devtools://devtools'}, 200], [{Origin: 'http://evil.example'}, 403], [{Origin: 'null'}, 403], [{Origin: ''}, 403], [{Origin: `http://127.0.0.1:${port}`}, 403],
    [{'Sec-Fetch-Site': 'cross-site'}, 403], [{'Sec-Fetch-Site': 'same-site'}, 403], [{'Sec-Fetch-Site': 'none'}, 200], [{'Sec-Fetch-Site': 'same-origin'}, 200],
    [{'Sec-Fetch-Site': 'cross-site', Origin: 'devtools://devtools'}, 200], [{'Sec-Fetch-Site': 'none', Origin: 'http://evil.example'}, 403],
    [{Origin: 'devtools://devtools.evil.example'}, 403], [{Origin: 'DEVTOOLS://devtools'}, 403],
  ];
  for (const [headers, status] of table) {
    assert.equal((await get(server, '/json/version', headers)).status, status, JSON.stringify(headers));
    const upgraded = await Raw.connect(server);
    upgraded.socket.write(handshake(server, headers));
    await until('an answer', () => upgraded.data.includes('\r\n\r\n'));
    assert.equal(Number(upgraded.data.toString().split(' ')[1]), status === 200 ? 101 : status, `upgrade: ${JSON.stringify(headers)}`);
    upgraded.socket.destroy();
  }
  assert.match(await raw(server, 'GET /json HTTP/1.1\r\n\r\n'), /^HTTP\/1.1 400 /, 'no Host');
  assert.doesNotMatch((await get(server, '/json')).head, /access-control/i);
});
await served('methods, paths and handshakes', [], async server => {
  const {authority: host, path} = server;
  const statusOf = async text => Number((await raw(server, text)).split(' ')[1]);
  for (const method of ['POST', 'HEAD', 'OPTIONS', 'get']) assert.equal(await statusOf(`${method} /json HTTP/1.1\r\nHost: ${host}\r\n\r\n`), 405, method);
  for (const [target, status] of [['/', 404], ['/json/x', 404], ['/jso', 404], [`${path}0`, 404], [path.slice(0, -1), 404], [path.toUpperCase(), 404], [path, 426], ['*', 400], ['http://x/json', 400]]) {
    assert.equal(await statusOf(`GET ${target} HTTP/1.1\r\nHost: ${host}\r\n\r\n`), status, target);
  }
  for (const [headers, status] of [[{'Sec-WebSocket-Version': '8'}, 426], [{'Sec-WebSocket-Key': 'short=='}, 400], [{'Sec-WebSocket-Key': undefined}, 400], [{Upgrade: undefined}, 426], [{Connection: 'close'}, 426]]) {
    assert.equal(await statusOf(handshake(server, headers)), status, JSON.stringify(headers));
  }
  for (const text of ['\r\n\r\n', 'GET\r\n\r\n', 'GET / HTTP/2.0\r\n\r\n', 'GET /\r\n\r\n', `GET /json HTTP/1.1\nHost: ${host}\r\n\r\n`, `GET /json HTTP/1.1\r\nHost: ${host}\r\nno colon\r\n\r\n`, `GET /json\x00 HTTP/1.1\r\nHost: ${host}\r\n\r\n`]) {
    assert.equal(await statusOf(text), 400, JSON.stringify(text));
  }
  assert.equal(await statusOf(`GET /json HTTP/1.1\r\nHost: ${host}\r\nX: ${'x'.repeat(9000)}\r\n\r\n`), 431);
  // As chrome://inspect sends it: a fixed key, WebSocket in capitals, an extension that is not taken.
  const client = await Raw.connect(server);
  client.socket.write(handshake(server, {Upgrade: 'WebSocket', Connection: 'keep-alive, Upgrade', 'Sec-WebSocket-Extensions': 'permessage-deflate; client_max_window_bits'}));
  await until('an upgrade', () => client.data.includes('\r\n\r\n'));
  assert.match(client.data.toString(), /^HTTP\/1.1 101 [^]*\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK\+xOo=\r\n/);
  assert.doesNotMatch(client.data.toString(), /Extensions/);
  client.socket.destroy();
});
if (process.getuid() === 0) {
  await served('of other users, none', [], async server => {
    const script = `require('net').connect(${server.port}, '127.0.0.1').on('data', data => process.stdout.write(data)).write('GET /json HTTP/1.1\\r\\nHost: localhost\\r\\n\\r\\n')`;
    const as = (uid, text = script) => execFileSync(process.execPath, ['-e', text], {uid, gid: uid, cwd: '/', encoding: 'utf8'});
    assert.match(as(12345), /^HTTP\/1.1 403 /);
    assert.match(as(65534), /^HTTP\/1.1 403 /);
    assert.match(as(0), /^HTTP\/1.1 200 /);
    // One that is gone before it is looked at is nobody's, not root's.
    as(12345, `require('net').connect(${server.port}, '127.0.0.1', function () { this.end('GET /json HTTP/1.1\\r\\nHost: localhost\\r\\n\\r\\n'); this.destroy(); })`);
    assert.equal((await get(server, '/json')).status, 200);
  });
  for (const [who, env, uid] of [['nobody', {}, '65534'], ['who called sudo', {SUDO_UID: '12345', SUDO_GID: '12346'}, '12345']]) {
    await test(`the server of root is ${who}, without any right`, async () => {
      const server = await Server.start([canned, '--drop', '127.0.0.1:0', snapshotFile], {env});
      const words = field => server.status(field).split(/\s+/);
      assert.deepEqual(words('Uid'), Array(4).fill(uid));
      assert.deepEqual(words('Gid'), Array(4).fill(env.SUDO_GID ?? '65534'));
      assert.deepEqual(words('Groups').filter(word => word), [env.SUDO_GID ?? '65534']);
      for (const field of ['CapInh', 'CapPrm', 'CapEff', 'CapAmb']) assert.match(server.status(field), /^0+$/, field);
      assert.equal(server.status('NoNewPrivs'), '1');
      const script = `require('http').get('http://${server.authority}/json', {agent: false}, answer => { console.log(answer.statusCode); answer.destroy(); })`;
      const as = user => execFileSync(process.execPath, ['-e', script], {uid: user, gid: user, cwd: '/', encoding: 'utf8'}).trim();
      assert.equal(as(0), '200');
      assert.equal(as(65534), '403');
      assert.equal(as(12345), uid === '12345' ? '200' : '403');
      assert.equal(await server.stop(), 0);
    });
  }
} else {
  for (const name of ['of other users, none', 'the server of root is nobody, without any right', 'the server of root is who called sudo, without any right']) report(`${name} # SKIP this is not root`);
}

// ---- requests

await served('each request that DevTools send is answered', [], async server => {
  const client = await Client.connect(server);
  const empty = ['Debugger.setAsyncCallStackDepth', 'Debugger.setBlackboxPatterns', 'Debugger.setPauseOnExceptions', 'Debugger.setSkipAllPauses', 'Debugger.disable', 'HeapProfiler.enable', 'HeapProfiler.disable',
    'HeapProfiler.startTrackingHeapObjects', 'HeapProfiler.collectGarbage', 'Profiler.enable', 'Profiler.setSamplingInterval', 'Runtime.compileScript', 'Runtime.discardConsoleEntries', 'Runtime.enable', 'Runtime.releaseObject',
    'Runtime.releaseObjectGroup', 'Runtime.runIfWaitingForDebugger'];
  for (const method of empty) assert.deepEqual(await client.ask(method), {}, method);
  for (const method of ['Network.enable', 'Network.setBlockedURLs', 'Target.setDiscoverTargets', 'Storage.getStorageKey', 'x', '', 'Runtime', 'Runtime.enable ']) {
    await assert.rejects(client.ask(method), {code: -32601, message: `'${method}' wasn't found`});
  }
  for (const method of ['HeapProfiler.startSampling', 'HeapProfiler.stopSampling', 'HeapProfiler.getSamplingProfile', 'Profiler.start', 'Profiler.stop', 'Runtime.callFunctionOn']) await assert.rejects(client.ask(method), {code: -32000});
  assert.deepEqual(await client.ask('Runtime.globalLexicalScopeNames'), {names: []});
  assert.deepEqual(await client.ask('Runtime.getIsolateId'), {id: server.path.replace(/[/-]/g, '').slice(0, 16)});
  assert.deepEqual(await client.ask('Runtime.getHeapUsage'), {usedSize: 1, totalSize: 2});
  assert.deepEqual(await client.ask('HeapProfiler.getObjectByHeapObjectId', {objectId: '7', objectGroup: 'popover'}), {result: {type: 'object', description: 'seven', objectId: 'o7'}});
  await assert.rejects(client.ask('HeapProfiler.getObjectByHeapObjectId', {objectId: '8'}), {code: -32000, message: 'no object has this id'});
  await assert.rejects(client.ask('HeapProfiler.getObjectByHeapObjectId', {objectId: 7}), {code: -32602});
  assert.deepEqual(await client.ask('HeapProfiler.getHeapObjectId', {objectId: 'o7'}), {heapSnapshotObjectId: '7'});
  assert.deepEqual(await client.ask('Runtime.getProperties', {objectId: 'o7', accessorPropertiesOnly: true}), {result: [], internalProperties: []});
  assert.deepEqual(await client.ask('Runtime.getProperties', {objectId: 'o7', ownProperties: true}), {result: [], internalProperties: [{name: '[[of]]'}]});
  assert.deepEqual(client.events('Runtime.executionContextCreated').map(({context}) => [context.id, context.name]), [[1, 'canned[1]']]);
  assert.match(client.events('Runtime.consoleAPICalled')[0].args[0].value, /^Collect garbage: /);
});
await served('expressions, and what is selected', [], async server => {
  const client = await Client.connect(server), other = await Client.connect(server);
  const evaluated = async (expression, params = {}, from = client) => (await from.ask('Runtime.evaluate', {expression, ...params})).result.value;
  const hex = text => Buffer.from(text).toString('hex');
  assert.equal(await evaluated('main.x'), `0 0 0: ${hex('main.x')}`);
  assert.equal(await evaluated('ü"\\\n\u2028😀\0'), `0 0 0: ${hex('ü"\\\n\u2028😀\0')}`);
  for (const id of ['7', '4294967295']) assert.deepEqual(await client.ask('HeapProfiler.addInspectedHeapObject', {heapObjectId: id}), {});
  for (const id of ['0', '-1', '4294967296', '99999999999999999999', 'x', '7x', '', 7, undefined]) await assert.rejects(client.ask('HeapProfiler.addInspectedHeapObject', {heapObjectId: id}), {code: -32000}, String(id));
  assert.equal(await evaluated('$0', {throwOnSideEffect: true}), `1 4294967295 7: ${hex('$0')}`);
  assert.equal(await evaluated('$0', {objectGroup: 'completion'}), `2 4294967295 7: ${hex('$0')}`);
  assert.equal(await evaluated('$0', {}, other), `0 0 0: ${hex('$0')}`, 'each client has its own');
  await assert.rejects(client.ask('Runtime.evaluate'), {code: -32000});
  await assert.rejects(client.ask('Runtime.evaluate', {expression: 'x'.repeat(100_000)}), {code: -32000});
});
await served('scripts and lines are sent again after the debugger was disabled, and only then', [], async server => {
  const client = await Client.connect(server);
  const enable = async () => {
    const from = client.messages.length;
    assert.deepEqual(await client.ask('Debugger.enable'), {debuggerId: server.path.replace(/[/-]/g, '')});
    return client.messages.slice(from).map(({method}) => method);
  };
  const all = ['Debugger.scriptParsed', 'Debugger.scriptParsed', 'Runtime.consoleAPICalled', undefined];
  assert.deepEqual(await enable(), all);
  assert.deepEqual(await enable(), [undefined]);
  await client.ask('Debugger.disable');
  assert.deepEqual(await enable(), all);
});
await served('files of Go', [], async server => {
  const client = await Client.connect(server);
  const at = name => join(directory, name);
  const source = 'package main // "ü" \u2028 \t\n', odd = Buffer.from([0x61, 0xff, 0xc3, 0x62, 0x00, 0xed, 0xa0, 0x80]);
  writeFileSync(at('main.go'), source);
  writeFileSync(at('odd.go'), odd);
  writeFileSync(at('empty.go'), '');
  writeFileSync(at('most.go'), '/'.repeat(4 << 20));
  writeFileSync(at('large.go'), '/'.repeat((4 << 20) + 1));
  symlinkSync('main.go', at('link.go'));
  execFileSync('mkfifo', [at('fifo.go')]);
  const read = async name => (await client.ask('Debugger.getScriptSource', {scriptId: at(name)})).scriptSource;
  assert.equal(await read('main.go'), source);
  assert.equal(await read('odd.go'), 'a��b\0���');
  assert.equal(await read('empty.go'), '');
  assert.equal((await read('most.go')).length, 4 << 20);
  for (const name of ['large.go', 'link.go', 'fifo.go', 'nowhere.go', '.']) await assert.rejects(read(name), {code: -32000, message: `${at(name)}: cannot be read`});
});
await served('requests that are none', [], async server => {
  const client = await Client.connect(server);
  const told = async text => {
    const from = client.messages.length;
    client.socket.send(text);
    return until('an answer', () => client.messages[from]);
  };
  for (const text of ['', '{', 'nonsense', '{"id":1,}', '[1,]', '{"id":01}', '"\x01"', '"\\x"', '{"id":1} 2', `${'['.repeat(33)}${']'.repeat(33)}`, '{"a":+1}', '{"a":1.}', 'nul', "{'id':1}", '"\\ud8"']) {
    assert.equal((await told(text)).error?.code, -32700, text);
  }
  for (const text of ['{}', '[]', '1', 'null', '{"id":1}', '{"method":"x"}', '{"id":"1","method":"x"}', '{"id":1.5,"method":"x"}', '{"id":1,"method":2}', '{"id":123456789012345678901234567890,"method":"x"}', `${'['.repeat(32)}${']'.repeat(32)}`, '{"id":1,"method":"x","sessionId":1}']) {
    assert.equal((await told(text)).error?.code, -32600, text);
  }
  const call = '"method":"Runtime.globalLexicalScopeNames"', names = {names: []};
  assert.deepEqual(await told(`{"id":7,${call},"sessionId":"A\\u0041"}`), {id: 7, sessionId: 'AA', result: names});
  assert.deepEqual(await told(` {\t"id" : -7 ,\r\n ${call} } `), {id: -7, result: names});
  assert.deepEqual(await told(`{"id":1,"id":9,${call.replace('Runtime', '\\u0052untime')},"params":{"id":3}}`), {id: 9, result: names});
  assert.deepEqual(await told(`{"\\u0069d":5,${call}}`), {id: 5, result: names});
});

// ---- snapshots

const isSnapshot = text => assert.ok(text === snapshot, `${text.length} characters are not the ${snapshot.length} of the file`);
await served('a snapshot with progress', [], async server => {
  const client = await Client.connect(server);
  for (const method of ['HeapProfiler.takeHeapSnapshot', 'HeapProfiler.stopTrackingHeapObjects']) {
    const {text, result, messages} = await client.takeSnapshot({reportProgress: true, captureNumericValue: true}, method);
    isSnapshot(text);
    assert.deepEqual(result, {});
    const progress = messages.filter(message => message.method === 'HeapProfiler.reportHeapSnapshotProgress').map(({params}) => params);
    assert.deepEqual(progress, [{done: 0, total: 100}, {done: 25, total: 100}, {done: 50, total: 100}, {done: 100, total: 100, finished: true}]);
    const order = messages.map(message => message.params?.finished ? 'f' : message.method?.endsWith('Progress') ? 'p' : message.method ? 'c' : 'r').join('');
    assert.match(order, /^p+fc+r$/);
  }
});
await served('a snapshot without progress', [], async server => {
  const client = await Client.connect(server), {text, messages} = await client.takeSnapshot();
  isSnapshot(text);
  assert.deepEqual([...new Set(messages.map(({method}) => method))], ['HeapProfiler.addHeapSnapshotChunk', undefined]);
});
for (const size of [1, 2, 3, 4, 5, 7, 64]) {
  await test(`text of all kinds, in pieces of ${size} bytes`, async () => {
    const file = join(directory, 'odd.heapsnapshot');
    const text = `{"strings":["ü","\u007f\u0080\u009f\u2028\u2029\u202e\ufeff\ufffd\uffff","😀\u{10ffff}","\\u0000\\"\\\\","</script>"]}\n\t\r\0\x01${'€'.repeat(50)}`;
    writeFileSync(file, text);
    const server = await Server.start([canned, '--piece', String(size), '127.0.0.1:0', file]);
    const client = await Client.connect(server);
    assert.equal((await client.takeSnapshot()).text, text);
    await server.stop();
  });
}
await served('chrome-remote-interface gets the file', [], async server => {
  const client = await CDP({host: server.host, port: server.port});
  let text = '';
  client.HeapProfiler.addHeapSnapshotChunk(({chunk}) => { text += chunk; });
  await client.HeapProfiler.takeHeapSnapshot({reportProgress: false});
  isSnapshot(text);
  await client.close();
});
await served('node inspect gets the file', [], async server => {
  const file = join(directory, 'node.heapsnapshot');
  const node = spawn(process.execPath, ['inspect', server.authority], {stdio: 'pipe'});
  let said = '';
  node.stdout.on('data', data => { said += data; });
  await until('a prompt', () => said.includes('debug>'));
  node.stdin.write(`takeHeapSnapshot(${JSON.stringify(file)})\n`);
  await until('a snapshot', () => /Wrote snapshot: /.test(said) || node.exitCode !== null);
  node.stdin.end('.exit\n');
  isSnapshot(readFileSync(file, 'utf8'));
});
await served('a snapshot that fails says so', ['--fail', 'no "memory" ü'], async server => {
  const client = await Client.connect(server);
  const {text, messages} = await client.takeSnapshot({reportProgress: true});
  const made = JSON.parse(text);
  assert.deepEqual(made.strings, ['', 'no snapshot: no "memory" ü']);
  assert.equal(made.nodes.length, made.snapshot.node_count * made.snapshot.meta.node_fields.length);
  assert.equal(made.edges.length, made.snapshot.edge_count * made.snapshot.meta.edge_fields.length);
  assert.equal(messages.filter(message => message.params?.finished).length, 1);
  await assert.rejects(client.takeSnapshot(), {code: -32000, message: 'no "memory" ü'});
});
await served('a snapshot that fails later is an error', ['--piece', '1000', '--fail-later', 'gone'], async server => {
  const client = await Client.connect(server);
  await assert.rejects(client.takeSnapshot({reportProgress: true}), {code: -32000, message: 'gone'});
  assert.deepEqual(await client.ask('Runtime.getHeapUsage'), {usedSize: 1, totalSize: 2});
});
await served('presses at the same time share a snapshot; later ones share the next', ['--wait', '--piece', '100000'], async server => {
  const clients = await Promise.all(Array.from({length: 5}, () => Client.connect(server)));
  const first = clients[0].takeSnapshot({reportProgress: true});
  await until('a question', () => asked(server, TAKE) === 1);
  await until('progress', () => clients[0].messages.length >= 3);
  const second = clients[1].takeSnapshot({reportProgress: true});
  await until('progress', () => clients[1].messages.length >= 1);
  assert.deepEqual(clients[1].messages[0].params, {done: 50, total: 100}, 'who comes later sees how far it is');
  const again = clients[0].ask('HeapProfiler.takeHeapSnapshot'), thrice = clients[0].ask('HeapProfiler.takeHeapSnapshot');
  await assert.rejects(thrice, {code: -32000}, 'a client waits for the current one and the next one at the most');
  server.process.stdin.write('\n');
  isSnapshot((await first).text);
  isSnapshot((await second).text);
  const [third, fourth] = [clients[2].takeSnapshot(), clients[3].takeSnapshot({reportProgress: true})];
  const before = Date.now();
  await until('the next question', () => asked(server, TAKE) === 2);
  server.process.stdin.write('\n');
  isSnapshot((await third).text);
  isSnapshot((await fourth).text);
  await again;
  assert.equal(asked(server, TAKE), 2);
  assert.ok(Date.now() - before > 500, 'the process runs for two seconds between snapshots');
  // One whose client has gone is read to its end, and the next one is whole.
  const gone = clients[4].takeSnapshot();
  gone.catch(() => {});
  await until('a question', () => asked(server, TAKE) === 3);
  clients[4].socket.terminate();
  server.process.stdin.write('\n\n');
  isSnapshot((await clients[0].takeSnapshot()).text);
});
await served('other clients get what they ask for while one takes a snapshot slowly', [], async server => {
  const slow = await Raw.upgrade(server), quick = await Client.connect(server);
  slow.socket.pause();
  slow.socket.write(frame(JSON.stringify({id: 1, method: 'HeapProfiler.takeHeapSnapshot'})));
  await until('the first bytes', () => asked(server, MORE) > 0);
  for (let i = 0; i < 50; i++) await quick.ask('HeapProfiler.getObjectByHeapObjectId', {objectId: '7'});
  slow.socket.resume();
  await until('the end', () => slow.data.includes('{"id":1,"result":{}}'));
  slow.socket.destroy();
});

// ---- rude clients

await served('frames that are refused', [], async server => {
  const statusOf = async (...frames) => {
    const client = await Raw.upgrade(server);
    client.socket.write(Buffer.concat(frames));
    return client.closeStatus();
  };
  const request = JSON.stringify({id: 1, method: 'Runtime.enable'});
  assert.equal(await statusOf(frame(request, {mask: null})), 1002, 'no mask');
  for (const reserved of [0x10, 0x20, 0x40]) assert.equal(await statusOf(frame(request, {reserved})), 1002, 'reserved bits');
  assert.equal(await statusOf(frame(request, {opcode: 2})), 1003, 'binary');
  for (const opcode of [3, 7, 11, 15]) assert.equal(await statusOf(frame(request, {opcode})), 1002, `opcode ${opcode}`);
  assert.equal(await statusOf(frame('x'.repeat(126), {opcode: 9})), 1002, 'a ping that is too long');
  assert.equal(await statusOf(frame('', {opcode: 9, fin: false})), 1002, 'a ping in fragments');
  assert.equal(await statusOf(frame('', {length: 2 ** 63})), 1009, '2^63 bytes');
  assert.equal(await statusOf(frame('', {length: (1 << 20) + 1})), 1009, 'more than 1 MB');
  assert.equal(await statusOf(frame(request, {opcode: 0})), 1002, 'a continuation of nothing');
  assert.equal(await statusOf(frame('{', {fin: false}), frame(request)), 1002, 'a message within another one');
  assert.equal(await statusOf(frame('"', {fin: false}), ...Array(20).fill(frame('x'.repeat(60_000), {opcode: 0, fin: false}))), 1009, 'fragments without an end');
  assert.equal(await statusOf(frame(Buffer.from([0x22, 0xff, 0x22]))), 1007, 'no UTF-8');
  assert.equal(await statusOf(frame(Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22]))), 1007, 'a surrogate');
  assert.equal(await statusOf(frame(Buffer.from([3, 232]), {opcode: 8})), 1000, 'a close frame is answered');
});
await served('frames that are taken', [], async server => {
  const request = JSON.stringify({id: 1, method: 'Runtime.globalLexicalScopeNames'}), answer = '{"id":1,"result":{"names":[]}}';
  const early = await Raw.upgrade(server, frame(request));
  await until('an answer to a frame in the packet of the upgrade', () => early.body.includes(answer));
  const parts = [...request].map((character, i) => frame(character, {opcode: i === 0 ? 1 : 0, fin: i === request.length - 1}));
  parts.splice(3, 0, frame('ping', {opcode: 9}), frame('', {opcode: 10}));
  const pieces = await Raw.upgrade(server);
  for (const part of parts) for (const byte of part) pieces.socket.write(Buffer.from([byte]));
  await until('an answer to fragments, byte by byte, with a ping between', () => pieces.body.includes(answer));
  assert.ok(pieces.body.subarray(0, 6).equals(Buffer.from('\x8a\x04ping', 'latin1')));
  const large = await Raw.upgrade(server);
  large.socket.write(frame(request.padEnd(1 << 20)));
  await until('an answer to 1 MB', () => large.body.includes(answer));
  const many = await Raw.upgrade(server);
  many.socket.write(Buffer.concat(Array(5000).fill(frame(JSON.stringify({id: 1, method: 'Runtime.getHeapUsage'})))));
  await until('5000 answers', () => many.body.length === 5000 * (2 + '{"id":1,"result":{"usedSize":1,"totalSize":2}}'.length));
  for (const client of [early, pieces, large, many]) client.socket.destroy();
});
await served('who sends no head is sent away after 5 s, or at once for another one', [], async server => {
  const before = Date.now(), idle = await Raw.connect(server), slow = await Raw.connect(server);
  slow.socket.write('GET /json HTTP/1.1\r\n');
  const timer = setInterval(() => slow.socket.write('X: y\r\n'), 500);
  await Promise.all([idle.closed, slow.closed]);
  clearInterval(timer);
  assert.ok(Date.now() - before >= 4900);
  const many = await Promise.all(Array.from({length: 40}, () => Raw.connect(server)));
  assert.equal((await get(server, '/json')).status, 200);
  for (const client of many) client.socket.destroy();
});

await served('20 clients, half of them rude: the others get everything, and memory stays as it is', [], async server => {
  const request = JSON.stringify({id: 1, method: 'HeapProfiler.takeHeapSnapshot', params: {reportProgress: true}});
  const rude = [
    async () => { (await Raw.connect(server)).socket.write('GET /json'); },
    async () => { (await Raw.connect(server)).socket.write(Buffer.alloc(20_000, 0xff)); },
    async () => { const client = await Raw.upgrade(server); client.socket.write(frame(request).subarray(0, 20)); },
    async () => { const client = await Raw.upgrade(server); client.socket.write(frame(request)); client.socket.destroy(); },
    async () => { const client = await Raw.upgrade(server); client.socket.write(frame(request)); await until('bytes', () => client.body.length > 100); client.socket.resetAndDestroy(); },
    async () => { const client = await Raw.upgrade(server); client.socket.write(frame('x', {mask: null})); },
    async () => { const client = await Raw.upgrade(server); client.socket.write(frame('', {length: 2 ** 62})); },
    async () => { const client = await Raw.upgrade(server); for (let i = 0; i < 100; i++) client.socket.write(frame(request)); },
    async () => { const client = await Raw.upgrade(server); client.socket.pause(); client.socket.write(Buffer.concat(Array(2000).fill(frame(JSON.stringify({id: 1, method: 'Runtime.getHeapUsage'}))))); setTimeout(() => client.socket.destroy(), 3000); },
    async () => { const client = await Raw.upgrade(server); client.socket.write(frame('"', {fin: false})); },
  ];
  const presses = 10 * 4;
  for (let round = 0; round < presses / 10; round++) {
    const polite = Array.from({length: 10}, async (_, i) => {
      const client = await Client.connect(server);
      const {text} = await client.takeSnapshot({reportProgress: i % 2 === 0});
      isSnapshot(text);
      for (let j = 0; j < 20; j++) assert.equal((await client.ask('HeapProfiler.getHeapObjectId', {objectId: 'x'})).heapSnapshotObjectId, '7');
      assert.equal(await client.close(), 1000);
    });
    await Promise.all([...rude.map(body => body()), ...polite]);
  }
  // At the most each client has a piece waiting. If each press left its piece behind, there would be more.
  const peak = parseInt(server.status('VmHWM'));
  assert.ok((peak < 40_000 || isSanitized) && snapshot.length * presses > 39e6, `${peak} kB`);
});
await test('500 MB: every byte, in little memory', async () => {
  const file = join(directory, 'large.heapsnapshot'), block = Buffer.from(`${'9,0,1,0,1,0,0\n,'.repeat(1000)}"ü😀\\"",`), copies = Math.ceil(5e8 / block.length);
  writeFileSync(file, Buffer.concat(Array(Math.ceil(copies / 100)).fill(block)));
  for (let i = 1; i < 100; i++) writeFileSync(file, Buffer.concat(Array(Math.ceil(copies / 100)).fill(block)), {flag: 'a'});
  const server = await Server.start([canned, '127.0.0.1:0', file]);
  const client = await Client.connect(server);
  const {createHash} = await import('node:crypto');
  const hash = createHash('sha256');
  let size = 0, largest = 0;
  client.socket.removeAllListeners('message');
  const done = new Promise(resolve => client.socket.on('message', data => {
    const message = JSON.parse(data);
    if (message.id) resolve(message);
    if (message.method !== 'HeapProfiler.addHeapSnapshotChunk') return;
    const bytes = Buffer.from(message.params.chunk);
    hash.update(bytes);
    size += bytes.length;
    largest = Math.max(largest, bytes.length);
  }));
  client.ask('HeapProfiler.takeHeapSnapshot', {reportProgress: true}).catch(() => {}); // its answer is taken above
  assert.deepEqual((await done).result, {});
  assert.equal(hash.digest('hex'), execFileSync('sha256sum', [file], {encoding: 'utf8'}).slice(0, 64));
  assert.ok(size > 5e8 && largest <= (1 << 20) + 3, `${size} bytes, at most ${largest} in a message`);
  const peak = parseInt(server.status('VmHWM'));
  assert.ok(peak < 20_000 || isSanitized, `${peak} kB`);
  await server.stop();
  rmSync(file);
});

// ---- half a minute later

await until('the stalled client is sent away', () => socketsOf(stalled) < withStalled);
await test('a client that has asked for nothing is still there', async () => {
  assert.deepEqual(await idleClient.ask('HeapProfiler.enable'), {});
  assert.equal(await patient.stop(), 0, patient.said);
  assert.equal(await idleClient.closed, 1001);
});
await test('one that does not take its snapshot is not, and the next one gets all of it', async () => {
  const client = await Client.connect(stalled);
  assert.equal((await client.takeSnapshot()).text.length, 64 << 20);
  stalledClient.socket.resume();
  await stalledClient.closed;
  assert.ok(stalledClient.data.length < 64 << 20);
  assert.equal(await stalled.stop(), 0, stalled.said);
});

// ---- the end

for (const signal of ['SIGINT', 'SIGTERM']) {
  await served(`${signal} closes what is open`, [], async server => {
    const client = await Client.connect(server);
    assert.equal(await server.stop(signal), 0, server.said);
    assert.equal(await client.closed, 1001);
  });
}
await served('the end of the session is told', [], async server => {
  const client = await Client.connect(server);
  server.mayEnd = true;
  process.kill(Number(/session (\d+)/.exec(server.lines[0])[1]), 'SIGKILL');
  assert.equal(await client.closed, 1011);
  assert.deepEqual(await server.ended, [1, null]);
  assert.match(server.said, /the process that holds the heaps has ended/);
});
await served('a port that is taken', [], async server => {
  const other = spawn(canned, [server.authority, snapshotFile]);
  let said = '';
  other.stderr.on('data', data => { said += data; });
  await new Promise(resolve => other.on('exit', resolve));
  assert.match(said, new RegExp(`^port ${server.port} is taken, by another --inspect or by Node perhaps: take --inspect=9229\n$`));
});
await test('addresses that are none', async () => {
  for (const address of ['', 'x', '65536', '-1', '80x', ':80', 'example.org:80', '127.0.0.1', '127.0.0.1:', '[::1]', '::1:80', '[127.0.0.1]:80', '127.1:80', '[::1:80', '0x1', `${'1'.repeat(90)}:1`]) {
    assert.throws(() => execFileSync(canned, [address, snapshotFile], {stdio: 'pipe'}), {status: 2}, address);
  }
  for (const [address, host] of [['0', '127.0.0.1'], ['localhost:0', '127.0.0.1'], ['[::1]:0', '::1'], ['0.0.0.0:0', '0.0.0.0']]) {
    const server = await Server.start([canned, address, snapshotFile], {pattern: /([\d.:]*):(\d+)(\/[-0-9a-f]{36})/});
    assert.equal(server.host, host);
    await server.stop();
  }
});
end();
