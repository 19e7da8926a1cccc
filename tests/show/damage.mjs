// Damages a dump and lets a program with sanitizers show what is in it, and write a snapshot with numbers: damage.mjs NAME DIRECTORY CONVERTER COUNT, with show.json,
// show.dump and app. Each dump is damaged at some random places, or cut; the places depend on nothing but their number. A run
// may fail with a message, but not crash, hang or write invalid JSON. TAP on standard output.
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';

const [name, directory, converter, count] = process.argv.slice(2);
const known = JSON.parse(fs.readFileSync(`${directory}/show.json`, 'utf8'));
const dump = fs.readFileSync(`${directory}/show.dump`);
const what = [known.class, ...known.objects.map((thing) => thing.what), ...known.variables.map((thing) => thing.what)];
const complaints = [];
let shown = 0, written = 0, seed = 1;
const below = (limit) => {
  seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
  return Math.floor((seed / 2 ** 32) * limit);
};
/** Returns where the contents of an object are: behind its record's tag, 1, its address, a number, and its size. */
function contentsOf(address) {
  const tag = [1];
  for (let left = BigInt(address); ; left >>= 7n) {
    tag.push(Number(left & 127n) | (left > 127n ? 128 : 0));
    if (left <= 127n) break;
  }
  let at = dump.indexOf(Buffer.from(tag)) + tag.length, size = 0, shift = 0;
  while (dump[at++] > 127);
  for (; dump[at] > 127; at++, shift += 7) size += (dump[at] & 127) * 2 ** shift;
  size += dump[at++] * 2 ** shift;
  return { at, size };
}

for (let i = 0; i < Number(count); i++) {
  const damaged = Buffer.from(dump), asked = what[i % what.length];
  const target = contentsOf(asked.startsWith('0x') ? asked : known.objects[below(known.objects.length)].what);
  for (let j = 1 + below(12); j > 0; j--) { // mostly what is shown; sometimes anything, such as what that leads to
    const at = below(30) === 0 ? below(damaged.length) : target.at + below(target.size);
    if (below(4) === 0) damaged.fill(0xff, at, Math.min(at + 8, target.at + target.size));
    else damaged[at] = below(2) === 0 ? below(256) : damaged[at] ^ (1 << below(8));
  }
  fs.writeFileSync(`${directory}/damaged.dump`, i % 10 === 9 ? damaged.subarray(0, damaged.length - below(damaged.length / 3)) : damaged);
  const { status, signal, stdout, stderr } = spawnSync(converter,
    ['--exe', `${directory}/app`, '--untyped-ok', '--format', 'report', '--json', '--show', asked, `${directory}/damaged.dump`], { encoding: 'utf8', maxBuffer: 1 << 28 });
  const complain = (wrong) => complaints.push([i, asked, wrong, (stderr ?? '').slice(0, 300)]);
  if (signal || ![0, 1, 3].includes(status) || /Sanitizer|runtime error/.test(stderr ?? '')) complain(signal ?? status);
  if (status === 1) continue;
  try {
    const { object, class: seen, variable } = JSON.parse(stdout);
    shown += (object ?? seen ?? variable) ? 1 : 0;
  } catch (error) {
    complain(error.message);
  }
  const numbers = spawnSync(converter, ['--exe', `${directory}/app`, '--untyped-ok', '--numbers', `${directory}/damaged.dump`], { encoding: 'utf8', maxBuffer: 1 << 28 });
  if (numbers.signal || ![0, 1, 3].includes(numbers.status) || /Sanitizer|runtime error/.test(numbers.stderr)) complaints.push([i, '--numbers', numbers.signal ?? numbers.status, numbers.stderr.slice(0, 300)]);
  if (numbers.status === 1) continue;
  try {
    const { snapshot, nodes, edges } = JSON.parse(numbers.stdout);
    if (snapshot.node_count !== nodes.length / 7 || snapshot.edge_count !== edges.length / 3) throw new Error('counts');
    written++;
  } catch (error) {
    complaints.push([i, '--numbers', error.message]);
  }
}
fs.rmSync(`${directory}/damaged.dump`, { force: true });
if (shown < Number(count) / 2 || written < Number(count) / 2) complaints.push(`only ${shown} were shown, ${written} written`);
console.log(`${complaints.length === 0 ? 'ok' : 'not ok'} - ${name}: ${count} damaged dumps, ${shown} of which were shown, and ${written} written with their numbers`);
complaints.slice(0, 5).forEach((complaint) => console.log(`# ${JSON.stringify(complaint).slice(0, 500)}`));
