// Checks that a snapshot has what the program expects of it: check.mjs NAME DIRECTORY [--stripped]. DIRECTORY has
// expected.json and 1.heapsnapshot; if it has 2.heapsnapshot too, no object that is in both may change its class. TAP on
// standard output.
import fs from 'node:fs';
import { reachable, readSnapshot } from '../truth/readers.mjs';

const [name, directory, ...flags] = process.argv.slice(2);
const stripped = flags.includes('--stripped');
const s = readSnapshot(`${directory}/1.heapsnapshot`);
const { node, edge } = s;
const { reached } = reachable(s);
const string = s.nodeTypes.indexOf('string'), weak = s.edgeTypes.indexOf('weak'), shortcut = s.edgeTypes.indexOf('shortcut');
/** Whether an edge of an object keeps its target alive. */
const holds = (e) => edge.type[e] !== weak && edge.type[e] !== shortcut;
let failed = false;

function tap(good, what, ...remarks) {
  failed ||= !good;
  console.log(`${good ? 'ok' : 'not ok'} - ${name}: ${what}`);
  if (!good) for (const r of remarks.slice(0, 12)) console.log(`# ${r}`);
}

const whole = (pattern) => new RegExp(`^(?:${pattern})$`, 's');
// Arrays of bytes and numbers are classes by what holds them, which may be something else in the next dump.
const withoutHolder = (name) => name.replace(/^(\[\](?:u?int\d*|uintptr|float\d+|complex\d+|bool)) \(.*\)$/s, '$1');
const classOf = (n) => (s.nodeTypes[node.type[n]].endsWith('string') ? '(string)' : withoutHolder(s.className(n)));
const isUntyped = (n) => node.type[n] !== string && (/^(?:no)?ptr\d+(?: \(.*\))?$/s.test(s.className(n)) || s.isGuess(n));
function* edgesOf(n) {
  for (let e = node.first[n]; e < node.first[n + 1]; e++) yield e;
}
const isLiving = (n) => reached[n] && s.isObject(n);
const below = (n) => [...edgesOf(n)].map((e) => edge.to[e]).filter((to) => !s.className(to).startsWith('system / NativeContext / '));
const goroutinePlaces = () => {
  const group = s.child(s.child(0, '(GC roots)'), '(goroutines)');
  return group < 0 ? [] : below(group);
};
const goroutines = () => goroutinePlaces().flatMap((n) => (/^[\d,]+ goroutines \[/.test(s.className(n)) ? below(n) : [n]));

/** Lists the classes of the reachable objects that the filter accepts, those with the most bytes first. */
function largest(filter) {
  const bytes = new Map();
  for (let n = 0; n < s.count; n++) {
    if (!isLiving(n) || !filter(n)) continue;
    const [count, size] = bytes.get(classOf(n)) ?? [0, 0];
    bytes.set(classOf(n), [count + 1, size + node.size[n]]);
  }
  return [...bytes].sort((a, b) => b[1][1] - a[1][1]).map(([c, [count, size]]) => `${count} × ${c.slice(0, 100)}: ${size} bytes`);
}

const kinds = {
  objects({ class: c, count }) {
    const pattern = whole(c);
    let found = 0;
    for (let n = 0; n < s.count; n++) if (isLiving(n) && pattern.test(classOf(n))) found++;
    tap(found >= count, `${count} objects of ${c}`, `there are ${found}`, ...largest((n) => classOf(n).includes('main.')));
  },
  none({ class: c }) {
    const pattern = whole(c);
    const found = largest((n) => pattern.test(classOf(n)));
    tap(found.length === 0, `no objects of ${c}`, ...found);
  },
  untyped({ most }) {
    let all = 0, untyped = 0;
    for (let n = 0; n < s.count; n++) {
      if (!isLiving(n)) continue;
      all += node.size[n];
      if (isUntyped(n)) untyped += node.size[n];
    }
    tap(untyped <= all * most / 100, `at most ${most} % of what lives has no plain type`,
      `${(100 * untyped / all).toFixed(2)} %: ${untyped} of ${all} bytes`, ...largest(isUntyped));
  },
  unreachable({ most }) {
    let all = 0, garbage = 0;
    const isGarbage = (n) => s.isObject(n) && !reached[n];
    const classes = new Map();
    for (let n = 0; n < s.count; n++) {
      if (!s.isObject(n)) continue;
      all += node.size[n];
      if (!isGarbage(n)) continue;
      garbage += node.size[n];
      const [count, size] = classes.get(classOf(n)) ?? [0, 0];
      classes.set(classOf(n), [count + 1, size + node.size[n]]);
    }
    tap(garbage <= all * most / 100, `at most ${most} % of the heap are unreachable`,
      `${(100 * garbage / all).toFixed(2)} %: ${garbage} of ${all} bytes`,
      ...[...classes].sort((a, b) => b[1][1] - a[1][1]).map(([c, [count, size]]) => `${count} × ${c.slice(0, 100)}: ${size} bytes`));
  },
  below({ way, what, count }) {
    const at = way.reduce((n, step) => (n < 0 ? n : s.child(n, step)), 0);
    const pattern = whole(what), members = at < 0 ? [] : [...edgesOf(at)].map((e) => edge.to[e]);
    const found = members.filter((n) => pattern.test(s.className(n))).reduce((sum, n) => sum + node.first[n + 1] - node.first[n], 0);
    tap(found >= count, `${count} objects below ${way.join(' › ')} › ${what}`, `${found} are`,
      ...members.map((n) => `${node.first[n + 1] - node.first[n]} below ${s.className(n)}`));
  },
  way({ way, edge: edgeName, class: c }) {
    const at = way.reduce((n, step) => (n < 0 ? n : s.child(n, step)), 0);
    const pattern = whole(c), edges = at < 0 ? [] : [...edgesOf(at)];
    const named = edges.map((e) => [s.edgeName(e), edge.to[e]]); // and the words of a variable with a node of its own
    for (const [variable, to] of [...named])
      if (classOf(to) === `${way.at(-1)}.${variable}`)
        for (const e of edgesOf(to)) named.push([variable + s.edgeName(e).replace(/^(?!\[)/, '.'), edge.to[e]]);
    tap(named.some(([name, to]) => name === edgeName && pattern.test(classOf(to))),
      `${[...way, edgeName].join(' › ')} is of ${c}`, at < 0 ? 'there is no such way' : '',
      ...edges.map((e) => `${s.edgeName(e)}: ${classOf(edge.to[e]).slice(0, 100)}`)
        .sort((a, b) => b.includes(edgeName.slice(0, 4)) - a.includes(edgeName.slice(0, 4))));
  },
  nameless({ what }) {
    const globals = s.child(0, '(globals)');
    const found = [];
    for (const e of edgesOf(globals)) {
      if (!['data', 'bss', what].includes(s.className(edge.to[e]))) continue;
      for (const f of edgesOf(edge.to[e])) {
        if (/^0x|\.\.stmp_|\.f\d+/.test(s.edgeName(f)) && classOf(edge.to[f]).includes(`${what}.`)) found.push(`${s.edgeName(f)}: ${classOf(edge.to[f]).slice(0, 100)}`);
      }
    }
    tap(found.length === 0, `what hangs from ${what}'s globals has their names`, ...found);
  },
  frame({ what, edge: edgeName, class: c, count }) {
    const pattern = whole(c), word = whole(edgeName);
    const targets = (n) => [...edgesOf(n)].map((e) => edge.to[e]);
    const frames = goroutines().flatMap((g) => targets(g).flatMap((n) => [n, ...targets(n)])) // below its stack
      .filter((n) => s.className(n).replace(/ [^ ]+:\d+$/, '') === what); // the name of a frame without its line
    const found = frames.filter((f) => [...edgesOf(f)].some((e) => word.test(s.edgeName(e)) && pattern.test(classOf(edge.to[e]))));
    tap(found.length >= count, `${count} frames of ${what} have ${edgeName}, of ${c}`, `${found.length} of ${frames.length} frames`,
      ...frames.slice(0, 1).flatMap((f) => [...edgesOf(f)].map((e) => `${s.edgeName(e)}: ${classOf(edge.to[e]).slice(0, 100)}`)));
  },
  keys({ class: c, count }) {
    const pattern = whole(c), found = new Set();
    const isKey = (e) => (s.edgeTypes[edge.type[e]] === 'element' ? true : /^\[(?!#)/.test(s.edgeName(e)) && !/\(key/.test(s.edgeName(e)));
    const others = new Map();
    for (let n = 0; n < s.count; n++) {
      if (!isLiving(n)) continue;
      const entries = /^map\[.* entries$/.test(s.className(n));
      for (const e of edgesOf(n)) {
        if (!holds(e) || !pattern.test(classOf(edge.to[e]))) continue;
        if (entries && isKey(e)) found.add(edge.to[e]);
        else others.set(`${classOf(n)} . ${s.edgeName(e)}`, 1);
      }
    }
    tap(found.size >= count, `${count} objects of ${c} are named by their keys`, `${found.size} are`, ...[...others.keys()].slice(0, 10));
  },
  nodes({ what, count = 0 }) {
    const pattern = whole(what), found = [];
    for (let n = 0; n < s.count; n++) if (pattern.test(s.className(n))) found.push(s.className(n));
    tap(count ? found.length >= count : found.length === 0, `${count || 'no'} nodes are called ${what}`, `there are ${found.length}`,
      ...(count ? s.strings.filter((t) => t.includes(what.replaceAll('\\', '').slice(-14))) : found));
  },
  edges({ class: c, edge: edgeName, what, count }) {
    const from = whole(c), to = whole(what), others = new Map();
    let found = 0;
    for (let n = 0; n < s.count; n++) {
      if (!isLiving(n) || !from.test(classOf(n))) continue;
      for (const e of edgesOf(n)) {
        if (s.edgeName(e) === edgeName && to.test(s.className(edge.to[e]))) found++;
        else others.set(`${s.edgeName(e)}: ${s.className(edge.to[e])}`, 1);
      }
    }
    tap(found >= count, `${count} objects of ${c} have ${edgeName}, to ${what}`, `${found} have`, ...others.keys());
  },
  stacks({ what, count, more = 0 }) {
    const pattern = whole(`goroutine stack ${what}`), group = whole(`([\\d,]+) goroutines ${what}`);
    const idsOf = (snapshot) => {
      const ids = new Set();
      for (let n = 0; n < snapshot.count; n++) if (pattern.test(snapshot.className(n)) && snapshot.node.size[n] > 0) ids.add(snapshot.node.id[n]);
      return ids;
    };
    const classes = new Map();
    for (let n = 0; n < s.count; n++) if (s.className(n).startsWith('goroutine stack')) classes.set(s.className(n), 1);
    const ids = idsOf(s), idsLater = idsOf(readSnapshot(`${directory}/2.heapsnapshot`));
    tap(ids.size === count, `${count} stacks in ${what}`, `there are ${ids.size}`, ...classes.keys());
    tap(idsLater.size === count + more && [...ids].every((id) => idsLater.has(id)), `${more} are new in the second dump`, `of ${idsLater.size}`);
    const together = goroutinePlaces().filter((n) => group.test(s.className(n)));
    const said = together.map((n) => Number(group.exec(s.className(n))[1].replaceAll(',', '')));
    tap(together.length === 1 && said[0] === count && below(together[0]).length === count, `${count} goroutines hang from one node`,
      ...together.map((n) => `${below(n).length} from ${s.className(n)}`));
  },
  inuse({ most }) {
    let sum = 0;
    for (let n = 0; n < s.count; n++) if (s.className(n).startsWith('goroutine stack ')) sum += node.size[n];
    const { stack_bytes: bytes, stack_inuse: inuse } = s.tool;
    tap(sum === bytes && Math.abs(sum - inuse) <= inuse * most / 100, `stacks are within ${most} % of StackInuse`, `${sum} bytes, of ${inuse}; the header has ${bytes}`);
  },
  retains({ way, count }) {
    let nodes = JSON.parse(fs.readFileSync(`${directory}/1.json`, 'utf8')).tree, found;
    for (const step of way) {
      found = nodes.find((one) => whole(step).test(one.name));
      if (!found) break;
      nodes = found.holds;
    }
    tap(found?.retained >= count, `${way.join(' › ')} retains ${count} bytes`, `it retains ${found?.retained}`, ...nodes.map((one) => `${one.name}: ${one.retained}`));
  },
  holdsOnly({ class: c }) {
    const pattern = whole(c), held = new Map();
    let found = 0;
    for (let n = 0; n < s.count; n++) {
      if (!isLiving(n) || !pattern.test(classOf(n))) continue;
      found++;
      for (const e of edgesOf(n)) if (holds(e) && !pattern.test(classOf(edge.to[e]))) held.set(`${s.edgeName(e)}: ${classOf(edge.to[e])}`, 1);
    }
    tap(found > 0 && held.size === 0, `objects of ${c} hold nothing but others of it`, `there are ${found}`, ...held.keys());
  },
  goroutines({ what, count }) {
    const pattern = new RegExp(what), names = goroutines().map((n) => s.className(n));
    const found = names.filter((n) => pattern.test(n)).length;
    tap(found >= count, `${count} goroutines are called ${what}`, `${found} are`, ...new Set(names.map((n) => n.replace(/\d+/, 'N'))));
  },
};

for (const expected of JSON.parse(fs.readFileSync(`${directory}/expected.json`, 'utf8'))) {
  if (expected.dwarf && stripped) continue;
  kinds[expected.kind](expected);
}

const named = (e) => ['property', 'internal', 'weak'].includes(s.edgeTypes[edge.type[e]]);
const nameless = [...edge.type.keys()].filter((e) => named(e) && edge.name[e] === 0);
tap(nameless.length === 0, 'all edges have names', `${nameless.length} of ${edge.type.length} have none`);
if (fs.existsSync(`${directory}/2.heapsnapshot`)) {
  const later = readSnapshot(`${directory}/2.heapsnapshot`);
  const before = new Map(), changes = new Map();
  for (let n = 0; n < s.count; n++) if (s.isObject(n)) before.set(node.id[n], n);
  let both = 0, shared = 0;
  const living = reachable(later).reached;
  for (let m = 0; m < later.count; m++) {
    const n = later.isObject(m) ? before.get(later.node.id[m]) : undefined;
    if (n === undefined || !reached[n] || !living[m] || node.size[n] !== later.node.size[m]) continue;
    both++;
    const is = later.nodeTypes[later.node.type[m]].endsWith('string') ? '(string)' : withoutHolder(later.className(m));
    // Without DWARF, nothing says which types the runtime's own variables have.
    if (stripped && [classOf(n), is].some((c) => c.includes('runtime.'))) continue;
    // A string that shares a slot with other things may die before they do.
    const tiny = ['(string)', '(tiny block)', 'noptr16'];
    if (classOf(n) !== is && tiny.includes(is) && tiny.includes(classOf(n)) && node.size[n] === 16) shared++;
    else if (classOf(n) !== is) changes.set(`${classOf(n)} is now ${is}`, (changes.get(`${classOf(n)} is now ${is}`) ?? 0) + 1);
  }
  tap(both > 0 && changes.size === 0 && shared <= both / 1000, `no object changes its class from one dump to the next`, `${shared} of ${both} are blocks of 16 bytes whose string has gone`,
    ...[...changes].sort((a, b) => b[1] - a[1]).map(([what, count]) => `${count} × ${what.slice(0, 160)}`));
}
process.exitCode = failed ? 1 : 0;
