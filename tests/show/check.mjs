// Checks what --show says of a program's values: check.mjs NAME DIRECTORY CONVERTER [stripped], with show.json, show.dump and
// app. A session of --mcp answers most questions, as each conversion reads the heap anew. With OUTSIDE in the environment, of outside.dump, which was made of the process from outside: without CHECK_ALL, a third of the
// values, and not what --redact hides, since each is a conversion of its own. TAP on standard output.
import { execFileSync, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import { ask } from '../ask.mjs';

const [name, directory, converter, stripped] = process.argv.slice(2);
const known = JSON.parse(fs.readFileSync(`${directory}/show.json`, 'utf8'));
const isOutside = process.env.OUTSIDE !== undefined, dump = `${directory}/${isOutside ? 'outside' : 'show'}.dump`;
const options = ['--exe', `${directory}/app`, '--format', 'report'];
const run = (...more) => execFileSync(converter, [...options, ...more, dump],
  { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'], maxBuffer: 1 << 28 });
const all = [...known.objects, ...known.variables, ...known.locals, ...known.scalars].map(({ what }) => what).concat(known.class);
/** Returns what --show has in JSON of all things, by their names. */
const shown = (...more) => {
  const answers = ask(converter, [...more, '--exe', `${directory}/app`, dump], all.map((what) => ['show', what]));
  return new Map(all.map((what, i) => [what, answers[i]]));
};
const answers = shown(), show = (what) => answers.get(what);

function tap(what, count, complaints) {
  if (count === 0) complaints.push('there are none');
  const good = complaints.length === 0;
  console.log(`${good ? 'ok' : 'not ok'} - ${name}: ${what}: ${Math.max(0, count - complaints.length)} of ${count}`);
  complaints.slice(0, 12).forEach((c) => console.log(`# ${JSON.stringify(c).slice(0, 400)}`));
}

/** Runs a check of each thing; what goes wrong is a complaint. */
function each(what, things, check) {
  const complaints = [];
  let count = 0;
  for (const thing of things) {
    const wrong = [];
    try {
      count += check(thing, (...complaint) => wrong.push([thing.is ?? thing, ...complaint]));
    } catch (error) {
      wrong.push([thing.is ?? thing, String(error.message).slice(0, 200)]);
    }
    complaints.push(...wrong);
  }
  tap(what, count, complaints);
}

/** Compares the values of an object or a variable. Types that Go writes out as structs are not compared. */
function compareFields(thing, seen, complain) {
  const found = seen.fields ?? [];
  if (thing.begins ? found.length < thing.fields.length : found.length !== thing.fields.length)
    complain(`${found.length} fields, not ${thing.fields.length}`, found.map((field) => field.name).join(' '));
  thing.fields.forEach((want, i) => {
    const field = found[i] ?? {};
    for (const member of ['name', 'offset', 'value'])
      if (field[member] !== want[member]) complain(want.name, member, field[member], want[member]);
    const type = want.type.replace(/interface \{\}/g, 'any');
    if (!/struct \{/.test(type) && field.type?.replace(/interface \{\}/g, 'any').replace(/(?<=\[|,)(\w+\/)+/g, '') !== type) complain(want.name, 'type', field.type, type);
  });
  return thing.fields.length;
}

const isThorough = !isOutside || process.env.CHECK_ALL;
const some = (things) => things.filter((_, i) => isThorough || i % 3 === 0);

const objects = some(known.objects.filter((thing) => thing.fields)), maps = some(known.objects.filter((thing) => !thing.fields));
each('values in objects are those of the program', objects, (thing, complain) => compareFields(thing, show(thing.what).object, complain));

each('entries of maps are those of the program', maps, (thing, complain) => {
  const { entries, entry_count: count } = show(thing.what).object;
  if (count !== (thing.count ?? 0)) complain(`${count} entries, not ${thing.count}`);
  const text = (entry) => JSON.stringify([entry.key, entry.value]);
  const want = (thing.entries ?? []).map(text), got = (entries ?? []).map(text);
  if (thing.any) [want, got].forEach((list) => list.sort());
  want.forEach((entry, i) => entry === got[i] || complain(got[i], entry));
  if (got.length !== want.length) complain(`${got.length} entries are shown`);
  return want.length + 1;
});

if (!stripped) {
  each('values of variables are those of the program', some(known.variables), (thing, complain) => compareFields(thing, show(thing.what).variable, complain));
  // Go 1.19 does not say where the capacity of a slice is.
  const locals = known.locals.filter(({ what }) => !name.startsWith('go1.19') || !what.endsWith('list'));
  each('values of local variables are those of the program', locals, (thing, complain) => {
    const { variable, object } = show(thing.what);
    return compareFields(thing, variable ?? object, complain);
  });
  if (isOutside) each('so are those of variables without pointers', known.scalars, (thing, complain) => compareFields(thing, show(thing.what).variable, complain));
  else each('a variable without pointers is not in a dump', known.scalars, ({ what }, complain) => {
    for (const question of ['--show', '--path-to', '--under']) {
      const { status, stderr } = spawnSync(converter, [...options, question, what, dump], { encoding: 'utf8' });
      if (status !== 1 || !stderr.includes(`'${what}' is not in the dump`)) complain(question, status, stderr);
    }
    return 1;
  });
}

const { class: seen } = JSON.parse(run('--json', '--show', known.class)); // a session counts a part of them
const fields = new Map((seen.fields ?? []).map((field) => [field.name, field]));
each('values of all objects of a class are spread as in the program', Object.entries(known.spreads), ([field, want], complain) => {
  const got = fields.get(field) ?? {};
  const least = (numbers) => numbers && [numbers.min, numbers.median, numbers.max];
  if (seen.counted !== known.class_objects || got.objects !== known.class_objects) complain(`${got.objects} objects`);
  for (const [member, value] of Object.entries(want)) {
    const found = { top: got.top && Object.fromEntries(got.top.map((top) => [top.value, top.count])), lengths: least(got.lengths), capacities: least(got.capacities) }[member] ?? got[member];
    const sorted = (any) => JSON.stringify(any && typeof any === 'object' && !Array.isArray(any) ? Object.entries(any).sort() : any);
    const none = found === undefined && (value === 0 || value === false); // of pointers nothing but the share of nil is said
    if (!none && sorted(found) !== sorted(value)) complain(member, found, value);
  }
  return 1;
});

// Of more values than are kept, the median is a sample's, and marked as such. Only a local variable holds the many ones, which a
// stripped executable does not name.
each('a median of a sample is marked', stripped ? [known.class] : ['main.many', known.class], (what, complain) => {
  const text = run('--show', what), [, median] = /^ +N +int +0 … ~(\d+) … 4999;/m.exec(text) ?? [];
  if (what === known.class ? text.includes('~') : !(Math.abs(median - 2500) < 250)) complain(what, text);
  return 1;
});

// The snapshot with numbers has the same values beside the same fields: numbers, bools and times, but no elements of arrays of
// them. Entries of maps are called by their keys.
const isNumber = (type) => /^(u?int(8|16|32|64|ptr)?|float(32|64)|complex(64|128)|bool|time\.(Time|Duration)|sync\/atomic\.(Int|Uint|Bool)\d*)$/.test(type);
const snapshot = JSON.parse(execFileSync(converter, ['--exe', `${directory}/app`, '--numbers', dump], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'], maxBuffer: 1 << 28 }));
const { nodes, edges, strings, snapshot: { meta: { node_types: [types], edge_types: [kinds] }, go2heapsnapshot: { id_base: base } } } = snapshot;
const nodeOf = new Map(), firstEdge = [];
for (let at = 0, edge = 0; at < nodes.length; edge += 3 * nodes[at + 4], at += 7) {
  nodeOf.set(nodes[at + 2], at);
  firstEdge.push(edge);
}
const edgesOf = (at) => Array.from({ length: nodes[at + 4] }, (_, i) => firstEdge[at / 7] + 3 * i);
const numbersOf = (at) => edgesOf(at).filter((edge) => types[nodes[edges[edge + 2]]] === 'number')
  .map((edge) => [kinds[edges[edge]] === 'element' ? `[${edges[edge + 1]}]` : strings[edges[edge + 1]], strings[nodes[edges[edge + 2] + 1]]]);
const nodeAt = (address) => [0n, 8n] // there may be a malloc header before the value
  .map((header) => nodeOf.get(2 * Number((BigInt(address) - header - BigInt(base)) / 8n) + 1)).find((at) => at !== undefined);

each('--numbers: values in objects are those of the program', objects.filter((thing) => thing.what.startsWith('0x') && !thing.begins), (thing, complain) => {
  const at = nodeAt(thing.what);
  if (at === undefined || types[nodes[at]] !== 'object') return 0; // in a tiny block
  const found = new Map(numbersOf(at));
  const want = thing.fields.filter(({ name: field, type }) => isNumber(type) && !field.endsWith(']'));
  for (const { name: field, value } of want) if (found.get(field || '(value)') !== value) complain(field, found.get(field), value);
  return want.length;
});

/** Returns the numbers in a map and in all that is a part of it. */
function entriesOf(at, seen = new Set()) {
  if (seen.has(at)) return [];
  seen.add(at);
  const isEntries = strings[nodes[at + 1]].endsWith(' entries');
  return [...(isEntries ? numbersOf(at) : []), ...edgesOf(at).map((edge) => edges[edge + 2]).filter((to) => strings[nodes[to + 1]].endsWith(' entries')).flatMap((to) => entriesOf(to, seen))];
}
each('--numbers: numbers in maps are called by their keys', maps.filter((thing) => thing.what.startsWith('0x')), (thing, complain) => {
  const isPlain = /^map\[(float|complex)/.test(thing.is); // such keys have no text: slots are counted
  const all = thing.entries ?? [], entries = all.filter(({ key, value }) => /^("[^"\\]{1,60}"|-?\d+|true|false)$/.test(key) && /^(-?\d+(\.\d+)?|true|false)$/.test(value));
  const at = nodeAt(thing.what);
  if (entries.length === 0 || at === undefined) return 0;
  const found = new Map(entriesOf(at));
  if (isPlain) {
    const values = (list) => JSON.stringify([...list].sort());
    if (![...found.keys()].every((key) => /^\[#\d+\]$/.test(key)) || values(found.values()) !== values(all.map(({ value }) => value))) complain(...found);
    return entries.length;
  }
  for (const { key, value } of entries) if (found.get(`[${key}]`) !== value) complain(key, found.get(`[${key}]`), value);
  if (found.size > (thing.count ?? 0)) complain(`${found.size} numbers in ${thing.count} entries`);
  return entries.length;
});

if (isThorough) {
  // Nothing is said of any value if texts are redacted, neither in JSON nor in text; but the names and places of fields are.
  const asked = [known.class, ...objects.map((thing) => thing.what), ...maps.slice(0, 4).map((thing) => thing.what), ...(stripped ? [] : [...known.variables, ...known.locals.slice(0, 4), ...(isOutside ? known.scalars : [])].map((thing) => thing.what))];
  const redacted = shown('--redact'), asText = asked.filter((_, i) => process.env.CHECK_ALL || i % 3 === 0);
  each('--redact shows no value', asked, (what, complain) => {
    const said = redacted.get(what), text = JSON.stringify(said), { fields = [], entries = [] } = said.object ?? said.class ?? said.variable;
    for (const secret of known.secrets) if (text.includes(secret)) complain(what, secret);
    for (const field of [...fields, ...entries])
      for (const member of ['value', 'key', 'length', 'capacity', 'is_nil', 'min', 'top', 'true', 'nil', 'lengths'])
        if (member in field) complain(what, member, field[member]);
    return 1;
  });
  each('--redact shows no value in text', asText, (what, complain) => {
    const text = run('--redact', '--show', what);
    for (const secret of known.secrets) if (text.includes(secret)) complain(what, secret);
    return 1;
  });
  const texts = asText.map((what) => run('--show', what)).join('\n'), open = known.secrets.filter((secret) => texts.includes(secret));
  tap('without --redact the same reports show secrets', open.length, []);
}
