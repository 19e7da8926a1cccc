// Reads the leaking sample server by --pid twice, as many requests apart as the two dumps of samples/, and writes
// live.1.heapsnapshot and live.2.heapsnapshot. The second one must show the three leaks of samples/README.md, as does the
// snapshot of a dump that the server writes itself a moment later. TAP on standard output.
//
//   leakserver.mjs GO2HEAPSNAPSHOT LEAKSERVER DIRECTORY

import {execFileSync, spawn} from 'node:child_process';
import {readFileSync, rmSync, statSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';

import {end, report} from '../tap.mjs';

const [program, leakserver, directory] = process.argv.slice(2);
const rounds = [{watch: 400, value: 20, preview: 100}, {watch: 1600, value: 60, preview: 300}];
const auctions = ['lamp', 'clock', 'chair', 'globe'];
const ports = [20000 + process.pid % 20000, 20001 + process.pid % 20000];
const [publicUrl, debugUrl] = ports.map(port => `http://127.0.0.1:${port}`);

const server = spawn(leakserver, ['-listen', `127.0.0.1:${ports[0]}`, '-debug', `127.0.0.1:${ports[1]}`], {stdio: 'ignore'});
process.on('exit', () => server.kill('SIGKILL'));

/** Calls url(0) to url(count - 1), a few at a time. */
async function request(count, url) {
  let next = 0;
  const one = async () => {
    while (next < count) await (await fetch(url(next++))).arrayBuffer();
  };
  await Promise.all(Array.from({length: 8}, one));
}

async function started() {
  for (let i = 0; i < 600; i++) {
    try {
      return await fetch(`${publicUrl}/preview?auction=lamp&width=1`);
    } catch {
      await new Promise(resolve => setTimeout(resolve, 100));
    }
  }
  throw new Error('leakserver does not start');
}

/** Reads a snapshot: {classes: class → number of nodes, names: names of edges}. */
function read(path) {
  const {snapshot, nodes, edges, strings} = JSON.parse(readFileSync(path, 'utf8'));
  const {node_fields: nodeFields, edge_fields: edgeFields} = snapshot.meta;
  const classes = new Map(), names = new Set();
  for (let i = nodeFields.indexOf('name'); i < nodes.length; i += nodeFields.length)
    classes.set(strings[nodes[i]], (classes.get(strings[nodes[i]]) ?? 0) + 1);
  for (let i = 0; i < edges.length; i += edgeFields.length) names.add(strings[edges[i + edgeFields.indexOf('name_or_index')]]);
  return {classes, names};
}

/** Reports one test; if it is not good, seen is what was found instead. */
function ok(good, name, seen) {
  report(name, good ? undefined : `instead: ${[seen].flat().join('\n')}`);
}

await started();
const sums = {watch: 0, value: 0, preview: 0};
const live = [1, 2].map(i => join(directory, `live.${i}.heapsnapshot`));
const dump = join(directory, 'leak.dump'), dumped = join(directory, 'dump.heapsnapshot');
for (const [i, round] of rounds.entries()) {
  const auction = n => auctions[n % auctions.length];
  await request(round.watch, n => `${publicUrl}/watch?wait=1ms&auction=${auction(n)}`);
  await request(round.value, n => `${publicUrl}/value?auction=${auction(n)}`);
  await request(round.preview, n => `${publicUrl}/preview?auction=${auction(n)}&width=${100 + sums.preview + n}`);
  for (const kind of Object.keys(sums)) sums[kind] += round[kind];
  await fetch(`${debugUrl}/debug/heapdump?gc=1`).then(response => response.arrayBuffer()); // collects garbage for both snapshots
  rmSync(live[i], {force: true});
  process.umask(0o022);
  execFileSync(program, ['--pid', String(server.pid), '-o', live[i]], {stdio: 'pipe'});
  ok((statSync(live[i]).mode & 0o777) === 0o600, 'only its owner may read the snapshot', statSync(live[i]).mode.toString(8));
  ok((await fetch(`${publicUrl}/preview?auction=lamp&width=1`)).ok, 'the server answers afterwards');
}
writeFileSync(dump, Buffer.from(await (await fetch(`${debugUrl}/debug/heapdump`)).arrayBuffer()));
execFileSync(program, ['--exe', leakserver, dump, '-o', dumped], {stdio: 'pipe'});
const outside = read(live[1]), inside = read(dumped);

ok(outside.classes.get('main.Watcher') === sums.watch, `${sums.watch} main.Watcher`, outside.classes.get('main.Watcher'));
ok(outside.classes.get('main.Preview') > sums.preview, `the previews`, outside.classes.get('main.Preview'));
ok(outside.names.has('previews.byName'), 'held by main.previews.byName');
const group = [...outside.classes.keys()].find(name => name.startsWith(`${sums.value} goroutines [chan send] main.`));
ok(group, `${sums.value} goroutines that hang`, [...outside.classes.keys()].filter(name => name.includes(' goroutines [')));
const own = [...inside.classes].filter(([name]) => /^\*?(\[\])?main\./.test(name));
const others = own.filter(([name, count]) => outside.classes.get(name) !== count);
ok(own.length > 8 && others.length === 0, `each of ${own.length} classes of main has as many objects as in a dump`,
   others.map(([name, count]) => `${name}: ${outside.classes.get(name)} by --pid, ${count} in the dump`));
server.kill('SIGKILL');
end();
