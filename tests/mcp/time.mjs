// Prints how long a server of --mcp takes to load a heap and to answer each question about it, the longest of three times:
// time.mjs GO2HEAPSNAPSHOT EXE DUMP [CLASS OBJECT].

import {spawn} from 'node:child_process';
import {createInterface} from 'node:readline';

const [program, exe, dump, className, object] = process.argv.slice(2);
const server = spawn(program, ['--mcp', '--values', '--exe', exe, dump], {stdio: ['pipe', 'pipe', 'inherit']});
const lines = createInterface({input: server.stdout})[Symbol.asyncIterator]();
let id = 0;

/** Asks a server; returns its answer, and how many milliseconds it took. */
async function ask(method, params) {
  const begin = performance.now();
  server.stdin.write(JSON.stringify({jsonrpc: '2.0', id: ++id, method, params}) + '\n');
  const {value} = await lines.next();
  return [JSON.parse(value), performance.now() - begin];
}
const call = (name, args = {}) => ask('tools/call', {name, arguments: args});

console.log(`first answer ${(await ask('initialize', {protocolVersion: '2025-11-25'}))[1].toFixed(1)} ms`);
console.log(`heap ${((await call('summary'))[1] / 1000).toFixed(1)} s`);
const classes = JSON.parse((await call('classes'))[0].result.content[0].text).classes.map(row => row.class);
const suspects = JSON.parse((await call('suspects'))[0].result.content[0].text).suspects;
const name = className ?? classes[0], what = object ?? suspects[0].held_by;
const questions = [['summary'], ['suspects'], ['classes'], ['goroutines'], ['find', {text: name.slice(-4)}], ['waste'], ['waste', {kind: 'strings'}],
  ['instances', {class: name}], ['path', {what: name}], ['path', {what: suspects[0].item}], ['path', {what}], ['path', {what: 'no.such'}],
  ['show', {what: name}], ['show', {what: suspects[0].item}], ['show', {what}], ['show', {what: 'goroutine 1'}]];
for (const [tool, args] of questions) {
  const times = [];
  for (let i = 0; i < 3; i++) times.push((await call(tool, args))[1]);
  console.log(`${tool} ${JSON.stringify(args ?? {})}: ${Math.max(...times).toFixed(1)} ms`);
}
server.stdin.end();
