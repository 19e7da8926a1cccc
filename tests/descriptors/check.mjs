// Checks what was read of an executable's types: check.mjs NAME DIRECTORY. DIRECTORY has read.json, from print_types; dep,
// the output of the linker with -dumpdep; and, if the program ran, types.json, from the program itself. TAP on standard
// output.
import fs from 'node:fs';

const [name, directory] = process.argv.slice(2);
const tap = (good, what, notes = []) => {
  console.log(`${good ? 'ok' : 'not ok'} - ${name}: ${what}`);
  if (!good) for (const note of notes.slice(0, 8)) console.log(`# ${note}`);
};
const read = JSON.parse(fs.readFileSync(`${directory}/read.json`, 'utf8'));
const types = read.types, at = new Map(types.map((t) => [t.address, t]));
const address = (number) => types[number]?.address ?? '';
const kinds = {bool: 1, array: 17, chan: 18, func: 19, interface: 20, map: 21, pointer: 22, slice: 23, string: 24,
  struct: 25, unsafe: 26};

// Each type that the program itself knew must have been read, by the address of its descriptor.
if (fs.existsSync(`${directory}/types.json`)) {
  const wrong = [];
  const known = JSON.parse(fs.readFileSync(`${directory}/types.json`, 'utf8'));
  for (const k of known) {
    const t = at.get(k.Address);
    const expected = [k.Name, k.Kind, k.Size, k.Length, k.Elem ?? '', k.Key ?? '', k.Empty,
      ...(k.Fields ?? []).flatMap((f) => [f.Name, f.Type, f.Offset, f.Embedded])];
    const found = t && [t.name, t.kind, t.size, t.length, address(t.elem), address(t.key), t.empty,
      ...t.fields.flatMap((f) => [f.name, address(f.type), f.offset, f.embedded])];
    if (k.Direct !== undefined && k.Direct !== null) {
      expected.push(k.Direct);
      found?.push(t.direct);
    }
    if (!found || expected.join('\n') !== found.join('\n'))
      wrong.push(`${k.Address} ${expected.join(' ')}`, `found: ${found?.join(' ')}`);
  }
  tap(known.length > 300 && wrong.length === 0, `${known.length} types are what package reflect says`, wrong);
}

// The dump names types in its own way. Those of the executable must be the same.
if (read.named > 0 || fs.existsSync(`${directory}/types.json`))
  tap(read.named > 60 && read.unfit === 0, `${read.named} types have the names that the dump gives them`, [`${read.unfit} have not`]);

// All types that the linker kept must have been read, and no others. The linker prints names of symbols, which say more
// than the names of types if there are fields or methods; long ones may be hashes.
const symbols = new Set();
for (const line of fs.readFileSync(`${directory}/dep`, 'utf8').split('\n'))
  for (const part of line.split(' -> ')) {
    const symbol = /^type[:.]([^.].*?)( <[A-Za-z,]+>)*$/.exec(part);
    if (symbol) symbols.add(symbol[1]);
  }
tap(symbols.size > 300 && types.length === symbols.size, `${types.length} types are all that the linker kept`,
  [`it kept ${symbols.size}`]);
const sorted = (names) => names.filter((n) => /^[\w./]+$/.test(n) && !/^\w{40}/.test(n)).sort();
const ours = sorted(types.map((t) => t.name)), theirs = sorted([...symbols].map((s) => s.replaceAll('%2e', '.').replace(/·\d+$/, '')));
const unexpected = ours.filter((n) => !theirs.includes(n)), missing = theirs.filter((n) => !ours.includes(n));
tap(ours.length > 100 && unexpected.length + missing.length === 0, `${ours.length} types with names of their own`,
  [...unexpected.map((n) => `no symbol: ${n}`), ...missing.map((n) => `not found: ${n}`)]);

// The pointer mask of an array or a struct must be made of its parts' pointers, whatever the masks of these are. In an
// interface, both words may be pointers, or only the second one.
const word = types.find((t) => t.kind === kinds.unsafe).size;
const pointers = (t) => { // offsets in words
  if (t.pointerBytes === 0) return [];
  if (t.kind === kinds.array) {
    const part = pointers(types[t.elem]);
    return Array.from({length: t.length}, (_, i) => part.map((p) => p + i * types[t.elem].size / word)).flat();
  }
  if (t.kind === kinds.struct) return t.fields.flatMap((f) => pointers(types[f.type]).map((p) => p + f.offset / word));
  return [...t.mask].flatMap((bit, i) => bit === '1' ? [i] : []);
};
const masked = types.filter((t) => t.mask !== null && t.size < 4096);
const bad = masked.filter((t) => pointers(t).join() !== [...t.mask].flatMap((b, i) => b === '1' ? [i] : []).join());
tap(masked.length > 300 && bad.length === 0, `${masked.length} pointer masks are those of the fields`,
  bad.map((t) => `${t.name} ${t.mask} ${pointers(t)}`));
