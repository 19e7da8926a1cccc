// Checks that the entries of a program's maps are named by their keys in its snapshot: check.mjs NAME DIRECTORY, with
// keys.json and keys.heapsnapshot. TAP on standard output.
import fs from 'node:fs';
import { load } from '../oracle/snapshot.mjs';
import { loadSnapshot } from '../devtools/devtools.mjs';

const [name, directory] = process.argv.slice(2);
const known = JSON.parse(fs.readFileSync(`${directory}/keys.json`, 'utf8'));
const file = `${directory}/keys.heapsnapshot`;
const snapshot = load(file);
function tap(what, count, complaints) {
  if (count === 0) complaints.push('there are none');
  const good = complaints.length === 0;
  console.log(`${good ? 'ok' : 'not ok'} - ${name}: ${what}: ${count - complaints.length} of ${count}`);
  complaints.slice(0, 10).forEach((c) => console.log(`# ${JSON.stringify(c).slice(0, 300)}`));
}

const { id_base: base, id_granule: granule, id_arenas: arenas } = snapshot.header.go2heapsnapshot;
const byId = new Map(snapshot.nodes.map((node) => [node.id, node]));
const at = (address) => byId.get(Number((BigInt(address) - BigInt(base)) / BigInt(granule)) * 2 + 1);
if (arenas) throw new Error('an arena has its ids elsewhere');

const label = (edge) => (edge.type === 'element' ? `[${edge.label}]` : edge.label);
/** Returns whether a node is a part of a map that holds entries, or leads to such parts. */
const isEntries = (node) => /^map\[.* entries$/.test(node.name);

/** Yields the edges that a user sees within this number of clicks. */
function* within(node, clicks) {
  for (const edge of node.edges) {
    yield edge;
    // Follows only a map's own parts: what an entry leads to has entries of its own.
    if (clicks > 1 && ['internal', 'weak', 'shortcut'].includes(edge.type)) yield* within(edge.to, clicks - 1);
  }
}

/**
 * Returns the edges of a map that a user sees, by name: "=" and the whole name, and "#" and the part of the name behind an
 * index.
 */
function edgesByName(map) {
  if (map.byName) return map.byName;
  map.byName = new Map();
  const add = (name, edge) => {
    if (!map.byName.has(name)) map.byName.set(name, []);
    map.byName.get(name).push(edge);
  };
  for (const edge of within(map, 2)) {
    add(`=${label(edge)}`, edge);
    if (/^\[#\d+\]/.test(edge.label)) add(`#${edge.label.replace(/^\[#\d+\]/, '')}`, edge);
  }
  return map.byName;
}

{
  const complaints = [];
  for (const want of known.expected) {
    const map = at(want.from);
    if (!map) {
      complaints.push(['no map', want]);
      continue;
    }
    const found = edgesByName(map).get(want.index ? `#${want.name ?? ''}` : `=${want.name}`) ?? [];
    const good = found.filter(({ to }) => (!want.to || to === at(want.to)) &&
      (!want.then || to.edges.some((e) => e.label === want.then && e.to === at(want.final))));
    if (want.absent ? found.length > 0 : good.length === 0) complaints.push([want, found.map((e) => `${label(e)} → ${e.to.name}`)]);
  }
  tap('entries of maps have their names, two clicks away', known.expected.length, complaints);
}

function direct(list, start, types, what) {
  const complaints = list.filter((want) => !start(want)?.edges.some((e) => e.label === want.name && types.includes(e.type) && e.to === at(want.to)));
  tap(what, list.length, complaints);
}
if (!name.includes('stripped')) {
  direct(known.waiting, (want) => snapshot.nodes.find((n) => n.name.startsWith(`goroutine ${want.from} [`)), ['weak', 'internal'],
    'goroutines show what they wait on');
}
if (known.weak) direct(known.weak, (want) => at(want.from), ['weak'], 'weak pointers lead to their objects');

if (Number(/^go1\.(\d+)/.exec(name)[1]) >= 22) {
  const called = new Set(snapshot.edges.filter((e) => e.type === 'weak' && e.label === 'element' && isEntries(e.from)).map((e) => e.to));
  tap('what garbage has by integers has weak edges', known.garbage.length, known.garbage.filter((address) => !called.has(at(address))));
}

{
  const names = new Set(snapshot.nodes.filter((n) => n.type.endsWith('string')).map((n) => n.name));
  tap('strings are named by their contents', known.texts.length, known.texts.filter((text) => !names.has(text)));
  const own = snapshot.edges.filter((e) => e.from.name.startsWith('map['));
  const inside = own.filter((e) => isEntries(e.to) && !['internal', 'shortcut', 'element'].includes(e.type));
  tap('the inside of maps is internal', own.length, inside.map((e) => `${e.from.name} ${e.label} ${e.to.name}`));
}

// ---- DevTools

{
  const tools = await loadSnapshot(file);
  const self = snapshot.nodes.reduce((sum, n) => sum + n.size, 0);
  tap('DevTools loads it without a word', 1, tools.problems);
  tap('DevTools has all bytes in one tree', 1, tools.root.retainedSize === self ? [] : [tools.root.retainedSize, self]);
  const strings = snapshot.nodes.filter((n) => n.type.endsWith('string'));
  const rows = tools.aggregates(), count = ['(string)', '(sliced string)'].reduce((sum, name) => sum + (rows[name]?.count ?? 0), 0);
  tap('DevTools counts every string', strings.length, count === strings.length ? [] : [count]);
  const shown = strings.filter((n) => n.name.startsWith('this text is: ')).map((n) => [n.name, tools.nodeById(n.id)]);
  tap('DevTools shows strings as they are', shown.length, shown.filter(([text, node]) => node.displayName !== text).map(([text]) => text));
  const shortcuts = snapshot.edges.filter((e) => e.type === 'shortcut' && /^(groups|overflow)\[/.test(e.label));
  if (shortcuts.length > 0) tap('shortcuts count for distances', shortcuts.length, shortcuts.filter((e) => {
    const distances = e.to.id && tools.nodeById(e.to.id).retainers().filter((r) => r.type !== 'weak').map((r) => r.source.distance);
    return tools.nodeById(e.to.id).distance !== Math.min(...distances) + 1;
  }).map((e) => e.label));
}
