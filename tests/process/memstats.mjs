// Compares the numbers of the report's head with those of runtime.ReadMemStats of the same process, and RSS with smaps.
//
//   memstats.mjs GO2HEAPSNAPSHOT APP TITLE
//
// The program does nothing between two lines that it prints. The runtime may still do something, so the numbers that are
// compared are those between two equal lines.

import {execFileSync, spawn} from 'node:child_process';
import {readFileSync} from 'node:fs';
import {createInterface} from 'node:readline';

import {end, report} from '../tap.mjs';

const [program, app, title] = process.argv.slice(2);
const TRIES = 10;
const running = spawn(app, [], {stdio: ['pipe', 'pipe', 'inherit']});
process.on('exit', () => running.kill('SIGKILL'));
const lines = createInterface({input: running.stdout})[Symbol.asyncIterator]();

const ask = async () => {
  running.stdin.write('\n');
  return (await lines.next()).value;
};
const read = () => JSON.parse(
    execFileSync(program, ['--pid', String(running.pid), '--format', 'report', '--json'], {encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'], maxBuffer: 1 << 30}));

/** Returns the bytes of RSS that smaps has: all, and those of files that have no code. */
function smaps() {
  const mappings = [];
  for (const line of readFileSync(`/proc/${running.pid}/smaps`, 'utf8').split('\n')) {
    const first = /^[0-9a-f]+-[0-9a-f]+ (\S+) \S+ \S+ (\d+) *(.*)$/.exec(line), rss = /^Rss: *(\d+) kB$/.exec(line);
    if (first) mappings.push({code: first[1][2] === 'x', path: first[2] !== '0' ? first[3] : '', rss: 0});
    if (rss) mappings.at(-1).rss = Number(rss[1]) * 1024;
  }
  const programs = new Set(mappings.filter(({code}) => code).map(({path}) => path));
  const sum = list => list.reduce((all, {rss}) => all + rss, 0);
  return {all: sum(mappings), files: sum(mappings.filter(({path}) => path !== '' && !programs.has(path)))};
}

const near = (a, b) => Math.abs(a - b) <= Math.max(a, b) / 100;
/** Whether a figure is one of two others, or between them: the kernel may collapse pages, which changes RSS, while the program waits. */
const within = (figure, one, other) => near(figure, one) || near(figure, other) || (figure - one) * (figure - other) < 0;
let before, said, after, earlier, rss;
await ask();
for (let i = 0; i < TRIES; i++) {
  before = await ask();
  earlier = smaps();
  said = read();
  rss = smaps();
  after = await ask();
  if (before === after) break;
}
const {memstats, rss: resident, bytes} = said.process ?? {};
const expected = JSON.parse(before), wrong = [];
if (before !== after) wrong.push(`the program does not stand still: ${before} ${after}`);
for (const [name, value] of Object.entries(expected))
  if (memstats?.[name] !== value) wrong.push(`${name} is ${memstats?.[name]} in the report, ${value} by ReadMemStats`);
if (bytes !== expected.Sys - expected.HeapReleased) wrong.push(`${bytes} bytes from the system`);
report(`${title}: the numbers are those of runtime.ReadMemStats`, wrong.join('\n') || undefined);

const parts = Object.values(resident?.parts ?? {}).reduce((a, b) => a + b, 0);
const differences = [
  [parts === resident?.bytes, `the parts add up to ${parts}, RSS is ${resident?.bytes}`],
  [within(resident?.bytes, earlier.all, rss.all), `RSS is ${resident?.bytes}, by smaps ${earlier.all} before and ${rss.all} after`],
  [resident?.parts.files === rss.files, `mapped files are ${resident?.parts.files}, by smaps ${rss.files}`],
  [near(resident?.parts.objects, expected.HeapAlloc), `objects are ${resident?.parts.objects}, HeapAlloc ${expected.HeapAlloc}`],
].filter(([good]) => !good).map(([, text]) => text);
report(`${title}: RSS and its parts are those of smaps`, differences.join('\n') || undefined);
running.kill('SIGKILL');
end();
