// Checks the names in a snapshot made with --exe: check.mjs NAME DIRECTORY MAIN.GO. DIRECTORY has
// {with,without}.heapsnapshot, of the same dump, and nm, the output of `go tool nm -size`. TAP on standard output.
import fs from 'node:fs';
import {load} from '../oracle/snapshot.mjs';
import {wrongUsers} from './users.mjs';

const [name, directory, source] = process.argv.slice(2);
const tap = (good, what, notes = []) => {
  console.log(`${good ? 'ok' : 'not ok'} - ${name}: ${what}`);
  if (!good) for (const note of notes.slice(0, 5)) console.log(`# ${note}`);
};
const withExe = load(`${directory}/with.heapsnapshot`);
const without = load(`${directory}/without.heapsnapshot`);
const child = (node, name) => node.edges.map((e) => e.to).find((n) => n.name === name);
const globals = (s) => child(s.root, '(globals)');

// This line starts the goroutines that leak; its function has no frame in them any more.
const lines = fs.readFileSync(source, 'utf8').split('\n');
const line = lines.findIndex((l) => l.trim().startsWith('go ask(')) + 1;
const site = `go statement in main.(*Server).value main.go:${line}`;
const stuck = child(child(withExe.root, '(GC roots)'), '(goroutines)').edges.map((e) => e.to)
  .flatMap((n) => (/^[\d,]+ goroutines \[/.test(n.name) ? n.edges.map((e) => e.to) : [n]))
  .filter((n) => n.edges.some((e) => e.label === 'created by' && e.to.name === site));
tap(line > 0 && stuck.length >= 10, `${stuck.length} goroutines were created by "${site}"`,
  withExe.nodes.filter((n) => n.name.startsWith('go statement')).map((n) => n.name));
const unnamed = withExe.nodes.filter((n) => /^go statement in pc /.test(n.name));
tap(unnamed.length === 0, 'every go statement has a function', unnamed.map((n) => n.name));

// Dynamic types: of most of them, a dump has only the package.
const labels = (s) => s.edges.filter((e) => typeof e.label === 'string').map((e) => e.label);
const nameless = labels(without).filter((l) => l.endsWith('?)')), left = labels(withExe).filter((l) => l.endsWith('?)'));
tap(nameless.length > 20 && left.length === 0, `all ${nameless.length} interfaces with a pointer have its type`, left);
tap(withExe.nodes.some((n) => n.name === 'net.TCPListener'), 'the server has a net.TCPListener',
  withExe.nodes.map((n) => n.name).filter((n) => n.startsWith('net.')));

// Nothing but the frame of a worker of the collector leads to the node that the worker has made: its code says what it is.
if (!name.endsWith('-386')) {
  const made = withExe.nodes.filter((n) => n.name.startsWith('runtime.gcBgMarkWorker ')).flatMap((n) => n.edges.map((e) => e.to.name));
  const nodes = made.filter((n) => n.startsWith('runtime.gcBgMarkWorkerNode'));
  tap(nodes.length > 0, "the collector's workers have their nodes", made);
}

// A word of data or bss is named by its address without the executable, and with it by its variable and the path to the
// word in the variable. The runtime's own variables are among the GC roots.
const packages = (s) => [...globals(s).edges, ...child(s.root, '(GC roots)').edges.filter((e) => !e.to.name.startsWith('('))];
// A variable with several words that lead to objects has a node between its package and them; its name and the path in it
// together are the word's name.
const isVariable = (e) => e.to.type === 'synthetic' && e.to.name === (/^global /.test(e.label) ? e.label : `${e.from.name}.${e.label}`);
const wordsBelow = (e) => (isVariable(e)
  ? e.to.edges.map((f) => ({label: `${e.label}${f.label.startsWith('[') ? '' : '.'}${f.label}`, to: f.to, variable: e.to}))
  : [e]);
// Variables that hold memory together are below a node for them, which also leads to what they hold.
const withoutGroups = (g) => g.to.edges.flatMap((e) => (e.label === 'held together'
  ? e.to.edges.filter((f) => !/^held by (both|several of these)/.test(f.label)).map((f) => ({...f, from: g.to}))
  : [e])).filter((e) => e.label !== 'timers');
const words = (s) => packages(s).flatMap((g) =>
  withoutGroups(g).flatMap(wordsBelow).map(({label, to, variable}) => ({parent: g.to.name, label, id: to.id, variable})));
const untyped = (w) => ({...w, label: w.label.replace(/ \(\*.*\)$/s, '')});
const before = words(without).map(untyped), after = words(withExe).map(untyped);
tap(before.length > 20 && before.length === after.length && before.map((w) => w.id).sort().join() === after.map((w) => w.id).sort().join(),
  `the ${before.length} words of globals that hit an object are the same`);
const few = withExe.nodes.filter((n) => after.filter((w) => w.variable === n).length === 1).map((n) => n.name);
tap(after.some((w) => w.variable) && few.length === 0, 'the variables with nodes have several words', few);

/**
 * Returns whether a text begins with the name of a variable. The name ends at a dot or a bracket, but it cannot be known at
 * which, so all are tried.
 */
const beginsWithOneOf = (names, text) => [...text.matchAll(/[.[]|$/g)].some((m) => names.has(text.slice(0, m.index)));
const symbolsOf = (nm) => fs.readFileSync(nm, 'utf8').split('\n')
  .map((l) => /^\s*([0-9a-f]+)\s+(\d+)\s+([dDbB])\s+(.*)$/.exec(l)).filter(Boolean)
  .map((m) => ({address: BigInt(`0x${m[1]}`), size: BigInt(m[2]), name: m[4]})).filter((s) => s.size > 0n);
const symbols = symbolsOf(`${directory}/nm`);
if (name.endsWith('-stripped')) {
  const isFirstThread = (w) => w.parent === 'runtime' && w.label.startsWith('m0.'); // a record that the dump knows
  tap(after.every((w) => isFirstThread(w) || /^0x|^global (set|initialized|used) by \S+ /.test(w.label)), 'a stripped executable gives no names of variables');
  const plain = `${directory.slice(0, -'stripped'.length)}plain/app`; // of the same code at the same addresses
  if (fs.existsSync(plain)) {
    const m0 = symbolsOf(plain.replace(/app$/, 'nm')).find((s) => s.name === 'runtime.m0');
    const named = new Set(after.filter(isFirstThread).map((w) => w.id));
    const there = before.filter((w) => BigInt(w.label) >= m0.address && BigInt(w.label) < m0.address + m0.size).map((w) => w.id);
    tap(there.length > 0 && there.length === named.size && there.every((id) => named.has(id)), `the ${there.length} words of m0 are named so, and no others`);
    // Words of the runtime's variables belong to no other package: only its own functions use these.
    const variables = symbolsOf(plain.replace(/app$/, 'nm')).filter((v) => /^runtime\.[^.]/.test(v.name));
    const isOnly = (list, w) => list.filter((other) => other.id === w.id).length === 1;
    const runtimes = before.filter((w) => isOnly(before, w) &&
      variables.some((v) => v.address <= BigInt(w.label) && BigInt(w.label) < v.address + v.size));
    const astray = after.filter((w) => runtimes.some((r) => r.id === w.id) && !/^(runtime|internal\/runtime\/.*|data|bss)$/.test(w.parent));
    tap(runtimes.length >= 10 && astray.length === 0, `the ${runtimes.length} words of the runtime's variables are below it`,
      astray.map((w) => `${w.parent} ${w.label}`));
    const {count, wrong} = wrongUsers(after.map((w) => w.label), plain);
    tap(count >= 100 && wrong.length === 0, `the users of ${count} globals have such instructions`, wrong);
  }
} else if (name.endsWith('-pie')) {
  const named = after.filter((w) => !/^0x/.test(w.label));
  const names = new Set(symbols.map((s) => s.name));
  const wrong = named.filter((w) => !beginsWithOneOf(names, `${w.parent}.${w.label}`) && !beginsWithOneOf(names, w.label));
  tap(named.length > after.length / 2 && wrong.length === 0, `${named.length} of ${after.length} have the name of a variable`,
    wrong.map((w) => `${w.parent} ${w.label}`));
} else {
  // If the executable is loaded at the addresses that it was linked for, nm says which variable each word is in. If the
  // compiler made the variable, or if it has no symbol, the word may be named by the path that leads there, which begins
  // with another variable. Only the caches of type assertions, which few processes have, have no other name.
  const expected = before.map((w) => {
    const [, hex] = /^(0x[0-9a-f]+)/.exec(w.label);
    const address = BigInt(hex);
    const s = symbols.find((t) => t.address <= address && address < t.address + t.size);
    if (!s) return [w.label, w.id];
    return [s.name, w.id];
  });
  const found = after.map((w) => ({id: w.id, name: `${/^(data|bss)$/.test(w.parent) ? '' : `${w.parent}.`}${w.label}`}));
  const isThere = (name, id) => found.some((f) => f.id === id && f.name.startsWith(name) && /^([.[ ]|$)/.test(f.name.slice(name.length)));
  const names = new Set(symbols.map((s) => s.name).filter((n) => !n.includes('..') || n.includes('..typeAssert.')));
  const isWay = (id) => found.some((f) => f.id === id && beginsWithOneOf(names, f.name));
  const wrong = expected.filter(([n, id]) => !isThere(n, id) && !(/^0x|\.\./.test(n) && isWay(id)));
  tap(wrong.length === 0, `all ${expected.length} have the variable that nm says`, wrong);
}
