// Checks what --redact keeps secret: redact.mjs NAME DIRECTORY CONVERTER, with keys.json, keys.dump, app and
// keys.heapsnapshot. TAP on standard output.
import fs from 'node:fs';
import { randomBytes } from 'node:crypto';
import { spawnSync } from 'node:child_process';
import { load } from '../oracle/snapshot.mjs';

const [name, directory, converter] = process.argv.slice(2);
const known = JSON.parse(fs.readFileSync(`${directory}/keys.json`, 'utf8'));
function tap(what, count, complaints) {
  if (count === 0) complaints.push('there are none');
  const good = complaints.length === 0;
  console.log(`${good ? 'ok' : 'not ok'} - ${name}: ${what}: ${count - complaints.length} of ${count}`);
  complaints.slice(0, 10).forEach((c) => console.log(`# ${JSON.stringify(c).slice(0, 300)}`));
}

function convert(what, ...options) {
  const file = `${directory}/${what}.heapsnapshot`;
  const { status, stderr } = spawnSync(converter, [...options, '-o', file], { encoding: 'utf8' });
  if (status !== 0) console.log(`# ${what}: ${stderr}`);
  return status === 0 ? fs.readFileSync(file, 'utf8') : '';
}
const dump = `${directory}/keys.dump`, typed = ['--exe', `${directory}/app`];
const plain = fs.readFileSync(`${directory}/keys.heapsnapshot`, 'utf8');
const closed = convert('redacted', '--redact', ...typed, dump);
const again = convert('redacted-again', '-r', ...typed, dump);
const untyped = convert('redacted-untyped', '-r', dump), untypedPlain = convert('untyped', dump);

// ---- texts

const names = (snapshot) => [...snapshot.matchAll(/#[0-9a-f]{8,}/g)].map(([text]) => text);
{
  const all = [...known.secrets, ...known.fields, ...known.pins.map((pin) => `"${pin}`)];
  const [open, redacted] = [plain, closed].map((snapshot) => snapshot.replaceAll('\\"', '"'));
  tap('secrets are in the snapshot', all.length, all.filter((s) => !open.includes(s)));
  tap('no secret is in a redacted one', all.length, all.filter((s) => redacted.includes(s)));
  const tag = 't4g-of-a-struct';
  const records = untypedPlain.includes(tag) ? [untyped, closed] : [closed];
  tap('no tag of a struct that package reflect made is, either', records.length, records.filter((s) => s.includes(tag)).map(() => tag));
}
{
  // Equal strings stay equal: if their names were whole, nodes with equal names have equal names afterwards, and others do
  // not.
  const snapshot = load(`${directory}/keys.heapsnapshot`), redacted = load(`${directory}/redacted.heapsnapshot`);
  const classes = new Map(), back = new Map(), complaints = [];
  let count = 0;
  snapshot.nodes.forEach((node, i) => {
    if (node.type !== 'string' || node.name.length >= 1000 || node.name.includes('\ufffd')) return;
    count++;
    const other = redacted.nodes[i].name;
    if (!/^\(<=\d+ bytes, #[0-9a-f]{20}\)( \| \(<=\d+ bytes, #[0-9a-f]{20}\))*$/.test(other)) complaints.push(other);
    if ((classes.get(node.name) ?? other) !== other) complaints.push([node.name, classes.get(node.name), other]);
    if ((back.get(other) ?? node.name) !== node.name) complaints.push([other, back.get(other), node.name]);
    classes.set(node.name, other);
    back.set(other, node.name);
  });
  tap('redacted strings are a rounded length and a hash, equal where the strings are and nowhere else', count, complaints);
  const shape = (s) => s.nodes.map((n) => [n.type, n.id, n.size, n.edges.length].join()).join('\n');
  tap('a redacted snapshot has the same nodes', 1, shape(snapshot) === shape(redacted) ? [] : ['differs']);
  // Some objects were sampled and have an edge to the place where they were allocated.
  const own = redacted.edges.filter((e) => e.type !== 'internal' && e.label !== 'allocated at' &&
    !/^map\[.* entries$/.test(e.to.name)); // leaves out edges from a map's directory to its tables
  const keys = own.filter((e) => /^map\[(string|int|interface).* entries$/.test(e.from.name));
  tap('redacted keys are hashes or places', keys.length, keys.filter((e) => e.type === 'element' ||
    !/^\[(\(<=\d+ bytes, #[0-9a-f]{20}\)|#\d+)\]/.test(e.label) && !/^(\[\d+\]\.)?(slots|keys|elems)/.test(e.label)).map((e) => e.label));
  const numbers = own.filter((e) => /^map\[(u?int\d*|uintptr|bool|main.weekday)\].* entries$/.test(e.from.name));
  tap('numbers are places', numbers.length, numbers.filter((e) =>
    !/^\[#\d+\]/.test(e.label) && !/^(\[\d+\]\.)?(slots|keys|elems)/.test(e.label)).map((e) => e.label));
}

// ---- guessing texts

{
  const first = new Set(names(closed)), second = names(again);
  tap('what another run says of a text says nothing of this one\'s', second.length, second.filter((n) => first.has(n)));
}

/** SipHash-2-4 with 128 bits, as its paper defines it. */
function sipHash(key, data) {
  const mask = (1n << 64n) - 1n, rotate = (x, n) => ((x << n) | (x >> (64n - n))) & mask;
  const k0 = key.readBigUInt64LE(0), k1 = key.readBigUInt64LE(8);
  let [v0, v1, v2, v3] = [k0 ^ 0x736f6d6570736575n, k1 ^ 0x646f72616e646f6dn ^ 0xeen, k0 ^ 0x6c7967656e657261n, k1 ^ 0x7465646279746573n];
  const rounds = (count) => {
    while (count-- > 0) {
      v0 = (v0 + v1) & mask; v1 = rotate(v1, 13n) ^ v0; v0 = rotate(v0, 32n);
      v2 = (v2 + v3) & mask; v3 = rotate(v3, 16n) ^ v2;
      v0 = (v0 + v3) & mask; v3 = rotate(v3, 21n) ^ v0;
      v2 = (v2 + v1) & mask; v1 = rotate(v1, 17n) ^ v2; v2 = rotate(v2, 32n);
    }
  };
  const padded = Buffer.alloc((data.length >> 3) * 8 + 8);
  data.copy(padded);
  padded[padded.length - 1] = data.length & 255;
  for (let i = 0; i < padded.length; i += 8) {
    const word = padded.readBigUInt64LE(i);
    v3 ^= word; rounds(2); v0 ^= word;
  }
  const result = Buffer.alloc(16);
  v2 ^= 0xeen; rounds(4); result.writeBigUInt64LE(v0 ^ v1 ^ v2 ^ v3, 0);
  v1 ^= 0xddn; rounds(4); result.writeBigUInt64LE(v0 ^ v1 ^ v2 ^ v3, 8);
  return result;
}
const none = Buffer.alloc(16);
const shown = (key, text) => `#${sipHash(key, Buffer.from(text)).toString('hex', 0, 10)}`;

const keyFiles = ['key', 'other-key'].map((n) => `${directory}/${n}`);
keyFiles.forEach((file) => {
  fs.rmSync(file, { force: true });
  fs.writeFileSync(file, randomBytes(32), { mode: 0o600 });
});
const withKey = ['--redact-key', keyFiles[0], ...typed];
const keyed = convert('keyed', ...withKey, dump), other = convert('keyed-other', '--redact-key', keyFiles[1], ...typed, dump);
{
  const key = sipHash(none, fs.readFileSync(keyFiles[0]));
  const shownIn = { closed: new Set(names(closed)), keyed: new Set(names(keyed)) };
  tap('who has the key finds a text by trying', known.pins.length, known.pins.filter((pin) => !shownIn.keyed.has(shown(key, pin))));
  const found = [];
  let tried = 0;
  for (const guess of [none, Buffer.from(Array.from({ length: 16 }, (_, i) => i)), sipHash(none, Buffer.alloc(0))]) {
    for (let pin = 0; pin < 10000; pin++, tried++) {
      const text = shown(guess, String(pin).padStart(4, '0'));
      if (shownIn.closed.has(text) || shownIn.keyed.has(text)) found.push(pin);
    }
  }
  tap('who has not finds none of all there are', tried, found);
}
{
  const same = ['1', '7'].map((j) => convert('keyed-again', '-j', j, '-r', ...withKey, dump));
  tap('the same key gives the same bytes, whatever the number of threads', same.length, same.filter((s) => s !== keyed || s === '').map(() => 'differs'));
  const first = new Set(names(keyed)), second = names(other);
  tap('another key gives other hashes', second.length, second.filter((n) => first.has(n)));
}

// ---- numbers

{
  // The dump of the same program with other numbers: each place that has one of them gets another number.
  const bytes = fs.readFileSync(dump), missing = [];
  const pattern = (value) => { const at = Buffer.alloc(4); at.writeInt32LE(value); return at; };
  for (const text of known.ints) {
    let places = 0;
    for (const sign of [1, -1]) {
      const from = pattern(sign * Number(text)), to = pattern(sign * (Number(text) + 0x01010101));
      for (let at = bytes.indexOf(from); at >= 0; at = bytes.indexOf(from, at + 4), places++) to.copy(bytes, at);
    }
    if (places === 0) missing.push(text);
  }
  tap('numbers are in the dump', known.ints.length, missing);
  fs.writeFileSync(`${directory}/numbers.dump`, bytes);
  const changed = convert('numbers', ...withKey, `${directory}/numbers.dump`);
  tap('other numbers, the same redacted snapshot', 1, changed === keyed && keyed !== '' ? [] : ['differs']);
  const open = convert('numbers-plain', ...typed, `${directory}/numbers.dump`);
  tap('which is not so without', 1, open !== plain ? [] : ['the same']);
}
