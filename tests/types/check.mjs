// Looks up in a typed snapshot what program/ knows of its heap: check.mjs NAME DIRECTORY [--dwarf] [--captures]. DIRECTORY
// has types.json, types.dump and types.heapsnapshot. With --dwarf, everything must have types and names; without it, only
// what an interface leads to, but nothing else may be wrong. With --captures, closures' variables have names, as they do
// from Go 1.23 on. TAP on standard output; all complaints go to DIRECTORY/complaints.txt.
import fs from 'node:fs';
import { claimOf, spell } from '../truth/judge.mjs';
import { readDump, readSnapshot } from '../truth/readers.mjs';

const [name, directory, ...flags] = process.argv.slice(2);
const dwarf = flags.includes('--dwarf'), captures = flags.includes('--captures');
const known = JSON.parse(fs.readFileSync(`${directory}/types.json`, 'utf8'));
const dump = readDump(`${directory}/types.dump`), snapshot = readSnapshot(`${directory}/types.heapsnapshot`);
const { node, edge } = snapshot;

const complaints = [];
let failed = false;
function tap(what, count, list) {
  const good = list.length === 0 && count > 0;
  failed ||= !good;
  console.log(`${good ? 'ok' : 'not ok'} - ${name}: ${what}: ${count - list.length} of ${count}`);
  for (const c of list.slice(0, 12)) console.log(`# ${c}`);
  if (list.length > 12) console.log(`# … ${list.length - 12} more in ${directory}/complaints.txt`);
  complaints.push(`${what}: ${count - list.length} of ${count}`, ...list.map((c) => `  ${c}`));
}

// ---- where things are

const nodeOf = new Int32Array(dump.count).fill(-1), byId = new Map();
for (let n = 0; n < snapshot.count; n++) {
  byId.set(node.id[n], n);
  if (!snapshot.isObject(n)) continue;
  const o = dump.at(snapshot.address(n));
  if (o >= 0) nodeOf[o] = n;
}
/** Returns the node of the object that an address is in, and the offset in it: {n, offset, o}; or null if there is none. */
function locate(address) {
  const a = Number(address), o = dump.find(a);
  if (o < 0 || nodeOf[o] < 0) return null;
  const offset = a - dump.address[o];
  const header = dump.pointers[o] && dump.size[o] > (dump.pointerSize === 8 ? 512 : 128) && dump.size[o] <= 32768 && offset >= 8 &&
    Number(/^go1\.(\d+)/.exec(known.go)?.[1] ?? 99) >= 22;
  return { n: nodeOf[o], offset: header ? offset - 8 : offset, o };
}
function* edgesOf(n) {
  for (let e = node.first[n]; e < node.first[n + 1]; e++) yield e;
}
const typeOf = (e) => snapshot.edgeTypes[edge.type[e]];
const bareName = (e) => snapshot.edgeName(e).replace(/ \((?!key).*\)$/s, '').replace(/\?$/, '');
const incoming = new Map();
function edgesTo(to) {
  if (incoming.size === 0) {
    for (let n = 0; n < snapshot.count; n++) {
      for (const e of edgesOf(n)) {
        if (!incoming.has(edge.to[e])) incoming.set(edge.to[e], []);
        incoming.get(edge.to[e]).push([n, e]);
      }
    }
  }
  return incoming.get(to) ?? [];
}
const describe = (n) => `${snapshot.nodeTypes[node.type[n]]} ${snapshot.className(n).slice(0, 120)}`;
const claim = (n) => claimOf(snapshot.className(n), snapshot.nodeTypes[node.type[n]], snapshot.isGuess(n), snapshot.partOf(n));

// ---- objects

const required = (source) => source === 'any' || dwarf;

/** Returns right, guess, untyped or wrong. */
function verdict(object, n) {
  const c = claim(n);
  if (c.kind === 'untyped') return 'untyped';
  if (c.kind === 'tiny') return object.tiny ? 'right' : 'wrong';
  const classes = object.classes.map(spell);
  if (c.kind === 'string') {
    if (!classes.includes('(string)')) return object.tiny || !dump.pointers[dump.at(snapshot.address(n))] ? 'untyped' : 'wrong';
    const text = snapshot.className(n);
    return !object.string || object.tiny || text.includes(object.string) || object.string.startsWith(text.replace(/…$/, '').slice(0, 60)) ? 'right' : 'wrong';
  }
  const own = spell(c.name);
  const kv = (x) => x.replace(/, /g, ',');
  if (classes.includes(own) || classes.map(kv).includes(kv(own))) return c.kind === 'partly' || c.guess ? 'guess' : 'right';
  if (object.kind === 'closure' && own.replace(/\[.*\]/, '[…]') === classes[0].replace(/\[.*\]/, '[…]')) return 'right';
  // The bytes of a string may have been a []byte before.
  if (classes.includes('(string)') && own === '[]uint8') return 'right';
  if (object.tiny || c.kind === 'partly') return 'untyped';
  return 'wrong';
}

for (const source of ['any', 'global', 'local']) {
  const list = [];
  let count = 0;
  for (const object of known.objects) {
    if (object.source !== source) continue;
    const found = locate(object.addr);
    if (!found || found.offset !== 0) continue; // static data, or an address inside an object
    count++;
    const v = verdict(object, found.n);
    // If only the addresses of its elements lead into an array without pointers, no more can be known of it.
    const inside = claim(found.n).kind === 'partly' && object.kind === 'array' && !dump.pointers[found.o];
    const good = v === 'right' || inside || (!required(source) && v !== 'wrong') || (object.tiny && v === 'untyped');
    if (!good) list.push(`${object.where} (${object.kind}) at ${object.addr} should be ${object.classes[0]}${object.string ? ` "${object.string}"` : ''}, is ${describe(found.n)}`);
  }
  tap(`objects of ${{ any: 'an interface', global: 'global variables', local: 'local variables' }[source]} have their class`, count, list);
}

// ---- fields

const snapshotKey = /\(key.+\)$/; // the name of a word of a map's key

/**
 * Returns whether an edge's name is a field's path, or begins or ends with it. Names of strings and slices may go on:
 * "name.ptr".
 */
function fits(own, field, inner) {
  if (own === field || own.startsWith(`${field}.`) || field.startsWith(`${own}.`)) return true;
  if (own.endsWith(`.${field}`)) return true; // the pointer may lead to the first field of a larger object
  if (inner && snapshotKey.test(own)) return own.endsWith(`(key${field})`) || own.endsWith(`(key.${field})`);
  if (field === 'C' && own === 'c') return true; // of a time.Timer, which is a runtime.timeTimer
  const bare = (path) => path.replace(/^\[\d+\]/, ''); // a slice may begin within its array
  return inner && (own.endsWith(field) || bare(own) === bare(field));
}
const isNamed = (n, e) => (typeOf(e) === 'element' ? claim(n).kind !== 'untyped' : !/^f\d+$/.test(bareName(e)));

for (const source of ['any', 'global', 'local']) {
  const list = [];
  let count = 0;
  for (const want of known.edges) {
    if (want.source !== source || want.global || want.variable || want.closure) continue;
    const to = locate(want.to);
    if (!to) continue;
    const must = required(source);
    if (Number(want.from) === 0) { // the pointer is in a map
      if (!want.from_class) continue;
      count++;
      const pattern = new RegExp(want.from_class);
      const from = edgesTo(to.n).filter(([n]) => pattern.test(spell(snapshot.className(n))));
      const named = from.filter(([n, e]) => isNamed(n, e) && (!want.field || fits(bareName(e), want.field, true)));
      if (must && named.length === 0) {
        list.push(`${want.where}: ${want.to} should be in a ${want.from_class}${want.field ? `, ${want.field}` : ''}, is in ` +
          edgesTo(to.n).slice(0, 3).map(([n, e]) => `${describe(n)} . ${snapshot.edgeName(e)}`).join('; '));
      }
      continue;
    }
    const from = locate(want.from);
    if (!from) continue;
    const edges = [...edgesOf(from.n)].filter((e) => edge.to[e] === to.n);
    count++;
    const good = edges.some((e) => fits(bareName(e), want.field, from.offset !== 0) || (want.field === '' && isNamed(from.n, e)));
    const wrong = edges.length === 0 || edges.every((e) => isNamed(from.n, e));
    if (!good && (must || wrong)) {
      list.push(`${want.where}: ${want.from} → ${want.to} should be ${want.field}, is ` +
        `${edges.map((e) => snapshot.edgeName(e)).join(', ') || 'no edge'} of ${describe(from.n)}`);
    }
  }
  tap(`pointers of ${{ any: 'an interface', global: 'global variables', local: 'local variables' }[source]} have their field`, count, list);
}

// ---- variables

const globals = snapshot.child(snapshot.child(0, '(globals)'), 'main');
/** Yields the words of a package's variables: {name, to}. A variable of several words has a node of its own. */
function* wordsOf(n) {
  for (const e of n < 0 ? [] : edgesOf(n)) {
    const name = bareName(e), to = edge.to[e];
    yield {name, to};
    if (snapshot.isObject(to)) continue;
    for (const word of edgesOf(to)) yield {name: /^\[/.test(bareName(word)) ? name + bareName(word) : `${name}.${bareName(word)}`, to: edge.to[word]};
  }
}
if (dwarf) {
  const list = [];
  let count = 0;
  for (const want of known.edges) {
    const to = want.global ? locate(want.to) : null;
    if (!to) continue;
    count++;
    const label = want.global.replace(/^main\./, '');
    const words = [...wordsOf(globals)].filter((word) => word.to === to.n);
    if (!words.some(({name}) => fits(name, label) || fits(name, want.global))) {
      list.push(`${want.global} → ${want.to} is ${words.map(({name}) => name).join(', ') || 'no edge'}`);
    }
  }
  tap('global variables have their names', count, list);
}

for (const parameter of dwarf ? [false, true] : []) {
  const list = [];
  let count = 0;
  for (const want of known.edges) {
    const to = want.variable && Boolean(want.parameter) === parameter ? locate(want.to) : null;
    if (!to) continue;
    count++;
    const goroutine = byId.get(2 ** 30 + 2 * want.goroutine);
    // Frames are below the goroutine's stack, if that is known.
    const below = goroutine === undefined ? [] : [...edgesOf(goroutine)].filter((e) => snapshot.edgeName(e) === 'stack').map((e) => edge.to[e]);
    const keeper = below[0] ?? goroutine;
    const stack = keeper === undefined ? [] : [...edgesOf(keeper)].filter((e) => typeOf(e) === 'element').map((e) => edge.to[e]);
    // Parameters are in the caller's frame, or in the function's own.
    const frames = stack.filter((n) => snapshot.className(n).replace(/ [^ ]+:\d+$/, '') === want.function);
    const places = frames.flatMap((n) => [n, ...(parameter ? [stack[stack.indexOf(n) + 1]] : [])]).filter((n) => n !== undefined);
    const edges = places.flatMap((n) => [...edgesOf(n)].filter((e) => edge.to[e] === to.n));
    if (!edges.some((e) => fits(bareName(e), want.variable, parameter))) {
      list.push(`${want.function} of goroutine ${want.goroutine}: ${want.variable} → ${want.to} is ${edges.map((e) => `${typeOf(e)} ${snapshot.edgeName(e)}`).join(', ') || 'no edge'}` +
        (frames.length ? '' : ', there is no such frame'));
    }
  }
  tap(parameter ? 'parameters have their names' : 'local variables have their names', count, list);
}

{
  const list = [];
  let count = 0;
  for (const want of known.edges) {
    const from = want.closure ? locate(want.from) : null, to = want.closure ? locate(want.to) : null;
    if (!from || !to) continue;
    count++;
    const edges = [...edgesOf(from.n)].filter((e) => edge.to[e] === to.n);
    const good = edges.some((e) => bareName(e) === want.field);
    // Without the names, the label is X0, or what the closure's type says.
    if (!good && (captures || edges.length === 0)) list.push(`${want.where} of ${want.from} is ${edges.map((e) => snapshot.edgeName(e)).join(', ') || 'no edge'} of ${describe(from.n)}`);
  }
  tap('closures hold what they captured', count, list);
}

// ---- what the program cannot see

{
  const list = [];
  const wanted = known.counts.filter((c) => dwarf || !c.dwarf);
  for (const c of wanted) {
    const pattern = new RegExp(c.class);
    let count = 0;
    for (let n = 0; n < snapshot.count; n++) if (snapshot.isObject(n) && pattern.test(spell(snapshot.className(n)))) count++;
    if (count < c.min) list.push(`${c.min} objects of ${c.class}, there are ${count}`);
  }
  tap('the runtime’s objects have their class', wanted.length, list);
}

fs.writeFileSync(`${directory}/complaints.txt`, `${complaints.join('\n')}\n`);
process.exitCode = failed ? 1 : 0;
