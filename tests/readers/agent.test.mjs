// Tests that an agent can read our snapshots: the tools for heap snapshots of chrome-devtools-mcp, the server by which agents use
// Chrome DevTools, find a leak. The server starts a browser before it answers anything.
//
//   agent.test.mjs NAME BASE.heapsnapshot TARGET.heapsnapshot      of samples/leakserver or a shape of ../devtools/leaks, converted together
//
// The server wants Node 20.19 or later, and a function of Node 22's, which is given to older ones. TAP on standard output.

import assert from 'node:assert/strict';
import {spawn} from 'node:child_process';
import {copyFileSync, mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {basename, join} from 'node:path';
import {createInterface} from 'node:readline';
import {createRequire} from 'node:module';
import {findChromium} from '../devtools/browser.mjs';
import {end, skipAll, test} from '../tap.mjs';

// The server reads files below the system's temporary directory only, unless its client names others.
const directory = mkdtempSync(join(tmpdir(), 'agent-'));
process.on('exit', () => rmSync(directory, {recursive: true}));
const [name, ...files] = process.argv.slice(2), [base, target] = files.map(path => {
  copyFileSync(path, join(directory, basename(path)));
  return join(directory, basename(path));
});
const [major, minor] = process.versions.node.split('.').map(Number);
const isOld = major < 20 || (major === 20 && minor < 19), browser = findChromium();
if (isOld || browser === undefined) {
  const lacks = isOld ? `Node 20.19 or later, this is ${process.version}` : 'Chromium';
  skipAll('an agent reads the snapshots', `chrome-devtools-mcp needs ${lacks}`);
}
const withResolvers = `Promise.withResolvers ??= function () {
  let resolve, reject;
  return {promise: new Promise((one, other) => { resolve = one; reject = other; }), resolve, reject};
};`;
const server = createRequire(import.meta.url).resolve('chrome-devtools-mcp/build/src/bin/chrome-devtools-mcp.js');
const child = spawn(process.execPath, ['--import', `data:text/javascript,${encodeURIComponent(withResolvers)}`, server,
  '--memoryDebugging=true', '--experimentalMemory=true', '--categoryMemory', '--no-usage-statistics', '--no-performance-crux', '--headless', '--isolated', `--executablePath=${browser}`, '--chromeArg=--no-sandbox'],
{stdio: ['pipe', 'pipe', 'ignore']});

let requests = 0;
const waiting = new Map();
child.on('exit', () => {
  for (const {reject} of waiting.values()) reject(new Error('the server has ended'));
});
createInterface({input: child.stdout}).on('line', line => {
  const {id, result, error} = JSON.parse(line);
  if (error) waiting.get(id)?.reject(new Error(JSON.stringify(error)));
  else waiting.get(id)?.resolve(result);
  waiting.delete(id);
});
const send = message => child.stdin.write(`${JSON.stringify({jsonrpc: '2.0', ...message})}\n`);
const request = (method, params) => new Promise((resolve, reject) => {
  waiting.set(++requests, {resolve, reject});
  send({id: requests, method, params});
});

/** Calls a tool of the server; returns its text. */
async function call(name, args) {
  const {content, isError} = await request('tools/call', {name, arguments: args});
  const text = content.map(part => part.text).join('\n');
  assert.ok(!isError, text);
  return text;
}

await request('initialize', {protocolVersion: '2025-06-18', capabilities: {}, clientInfo: {name: 'test', version: '1'}});
send({method: 'notifications/initialized'});

/** What is asked for: of the snapshot, of the comparison, and of the paths to an object of the class. */
const {of, classes, grown, ways} = {
  leakserver: {
    of: 'main.Session',
    classes: [/^\d+,main\.Session,2000,192\skB,304\skB$/m],
    grown: [/^\d+,main\.Session,1600,0,1600,154\skB,0\.0\skB,154\skB$/m],
    ways: [/main\.Watcher via property Session/, /main\.Auction via property watchers/, /main via property previews\.byName/],
  },
  abandoned: {
    of: 'main.answer',
    classes: [/^\d+,main\.answer,820,/m, /^\d+,Detached goroutine stack \[chan send\] main\.ask shapes\.go:\d+ \(go shapes\.go:\d+\),800,/m],
    grown: [/^\d+,main\.answer,400,0,400,/m],
    ways: [/main\.ask shapes\.go:\d+ via property a/, /goroutine stack \[chan send\] main\.ask /, /(20|800) goroutines \[chan send\] main\.ask /],
  },
  deadlines: {
    of: 'main.request',
    classes: [/^\d+,runtime\.timeTimer,12000,/m],
    grown: [/^\d+,runtime\.timeTimer,6000,0,6000,/m],
    ways: [/func main\.deadlines\.func1\.1 via property r/, /runtime\.timeTimer via property timer\.arg/, /[\d,]+ timers calling main\.deadlines\.func1\.1 via element/],
  },
}[name];

await test('an agent sees the classes', async () => {
  const text = await call('get_heapsnapshot_details', {filePath: target});
  for (const line of classes) assert.match(text, line);
});
await test('an agent sees what has grown', async () => {
  const text = await call('compare_heapsnapshots', {baseFilePath: base, currentFilePath: target});
  for (const line of grown) assert.match(text, line);
});
await test('an agent sees who holds it', async () => {
  const found = await call('query_heapsnapshot_objects', {filePath: target, className: of, pageSize: 2000});
  const [, id] = new RegExp(`^(\\d+),${of},object,`, 'm').exec(found);
  const paths = await call('get_heapsnapshot_retaining_paths', {filePath: target, nodeId: Number(id), maxDepth: 12});
  for (const way of ways) assert.match(paths, way);
});
child.kill();
end();
