// Reads the leaking sample server by --pid twice, as many requests apart as the two dumps of samples/, and writes
// live.1.heapsnapshot and live.2.heapsnapshot. The second one must show the three leaks of samples/README.md. A dump that the
// server writes itself must have as many objects of each class. The server bids by itself, every ten seconds, so the dump is
// compared only if another reading by --pid, after it, has the same objects as the one before it. TAP on standard output.
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

/** Calls url(0) to url(count - 1), a few at a time. Returns how many of the answers leak, according to their status and text. */
async function request(count, url, leaks) {
  let next = 0, sum = 0;
  const one = async () => {
    while (next < count) {
      const response = await fetch(url(next++));
      if (leaks(response.status, await response.text())) sum++;
    }
  };
  await Promise.all(Array.from({length: 8}, one));
  return sum;
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

/** Converts the process to a snapshot, a file that is made anew. */
function readProcess(path) {
  rmSync(path, {force: true});
  execFileSync(program, ['--pid', String(server.pid), '-o', path], {stdio: 'pipe'});
  return read(path);
}

/** Asks the server for a dump, and returns its bytes. */
async function heapDump(query = '') {
  return Buffer.from(await (await fetch(`${debugUrl}/debug/heapdump${query}`)).arrayBuffer());
}

/** Returns the classes of main, each with its number of objects. */
function ofMain({classes}) {
  return [...classes].filter(([name]) => /^\*?(\[\])?main\./.test(name)).sort();
}

/** Takes a dump between two readings of the process that have the same objects of main, and returns the classes of these. */
async function dumpUnchanged(dump) {
  for (let i = 0; i < 20; i++) {
    const [before, after] = ['before', 'after'].map(when => join(directory, `${when}.heapsnapshot`));
    const classes = ofMain(readProcess(before));
    writeFileSync(dump, await heapDump());
    if (String(ofMain(readProcess(after))) === String(classes)) return classes;
  }
  return [];
}

await started();
process.umask(0o022);
const sums = {watch: 0, value: 0, preview: 0};
const live = [1, 2].map(i => join(directory, `live.${i}.heapsnapshot`));
let outside;
for (const [i, round] of rounds.entries()) {
  const auction = n => auctions[n % auctions.length];
  // If the server bids just then, a watcher gets the bid, and does not leak; nor does an expert who is as fast as the clock.
  sums.watch += await request(round.watch, n => `${publicUrl}/watch?wait=1ms&auction=${auction(n)}`, (_, text) => text === 'no bid\n');
  sums.value += await request(round.value, n => `${publicUrl}/value?auction=${auction(n)}`, status => status === 504);
  sums.preview += await request(round.preview, n => `${publicUrl}/preview?auction=${auction(n)}&width=${100 + sums.preview + n}`,
                                status => status === 200);
  await heapDump('?gc=1'); // collects garbage for both snapshots
  outside = readProcess(live[i]);
  ok((statSync(live[i]).mode & 0o777) === 0o600, 'only its owner may read the snapshot', statSync(live[i]).mode.toString(8));
  ok((await fetch(`${publicUrl}/preview?auction=lamp&width=1`)).ok, 'the server answers afterwards');
}
ok(outside.classes.get('main.Watcher') === sums.watch, `${sums.watch} main.Watcher`, outside.classes.get('main.Watcher'));
ok(outside.classes.get('main.Preview') > sums.preview, `the previews`, outside.classes.get('main.Preview'));
ok(outside.names.has('previews.byName'), 'held by main.previews.byName');
const group = [...outside.classes.keys()].find(name => name.startsWith(`${sums.value} goroutines [chan send] main.`));
ok(group, `${sums.value} goroutines that hang`, [...outside.classes.keys()].filter(name => name.includes(' goroutines [')));

const dump = join(directory, 'leak.dump'), dumped = join(directory, 'dump.heapsnapshot');
const own = await dumpUnchanged(dump);
execFileSync(program, ['--exe', leakserver, dump, '-o', dumped], {stdio: 'pipe'});
const inside = new Map(ofMain(read(dumped)));
const others = own.filter(([name, count]) => inside.get(name) !== count);
ok(own.length > 8 && own.length === inside.size && others.length === 0,
   `each of ${own.length} classes of main has as many objects as in a dump`,
   others.map(([name, count]) => `${name}: ${count} by --pid, ${inside.get(name)} in the dump`));
server.kill('SIGKILL');
end();
