// Checks what is in a page of --format html: that its data agrees with the report, with what --path-to and --show say of the
// largest objects, with the tree of the base, and with the SQLite database of the same dump. TAP on standard output.
//
//   page.mjs NAME PAGE.html REPORT.json REPORT.txt     a page, and the report of the same dump and base
//   page.mjs NAME PAGE.html --before OTHER.html        what the tree was, and what is gone, is the tree of the base's page
//   page.mjs NAME PAGE.html --series REPORT.json...    the trends are the reports of the single dumps
//   page.mjs NAME PAGE.html --past GROWN.html REPORT.json   the second of three dumps is the base of another page of the same heap
//   page.mjs NAME PAGE.html --objects OBJECT.json...   the largest objects, in their order, as --path-to and --show have them
//   page.mjs NAME PAGE.html --database ROWS.json       the nodes and edges of the database: of each largest object and its path
//   page.mjs NAME PAGE.html --suspects VARIABLE...     the suspects are alike, and held by these variables
//   page.mjs NAME PAGE.html --limits                   a page of a heap with very many classes

import assert from 'node:assert/strict';
import {readFileSync, statSync} from 'node:fs';

import {end, test} from '../tap.mjs';

const [name, path, ...rest] = process.argv.slice(2);

/** Reads the data of a page, as a browser does: the text of the element. */
function read(file) {
  const [, text] = /<script type="application\/json" id="data">([^]*?)<\/script>/.exec(readFileSync(file, 'utf8'));
  return JSON.parse(text);
}
const json = file => JSON.parse(readFileSync(file, 'utf8'));
const sum = numbers => numbers.reduce((all, number) => all + number, 0);

const page = read(path), {tree, names, report} = page;
const count = tree.parent.length;
const nameOf = node => names[tree.name[node]];

/** What each node of a tree retains, by its number. */
function retainedOf({parent, bytes}) {
  const retained = [...bytes];
  for (let i = parent.length - 1; i > 0; i--) retained[parent[i]] += retained[i];
  return retained;
}
const retained = retainedOf(tree);

/** The bytes of the nodes of each class, and their objects. */
function classesOf() {
  const classes = new Map();
  for (let i = 0; i < count; i++) {
    if (tree.kind[i] !== 2) continue;
    const [objects, bytes] = classes.get(nameOf(i)) ?? [0, 0];
    classes.set(nameOf(i), [objects + tree.count[i], bytes + tree.bytes[i]]);
  }
  return classes;
}

function checkShape() {
  assert.deepEqual([page.format, page.version, page.redacted], ['go2heapsnapshot page', 1, false]);
  for (const column of Object.keys(tree).filter(key => key !== 'more')) {
    assert.equal(tree[column].length, count, column);
    for (const number of tree[column]) assert.ok(Number.isSafeInteger(number) && number >= (column === 'parent' ? -1 : 0), `${column}: ${number}`);
  }
  assert.equal(tree.parent[0], -1);
  for (let i = 1; i < count; i++) assert.ok(tree.parent[i] >= 0 && tree.parent[i] < i || tree.kind[i] === 3, `parent of ${i}`);
  for (const i of [...tree.name, ...tree.package]) assert.ok(i < names.length);
  assert.equal(new Set(names).size, names.length, 'each name is there once');
  assert.equal(sum(tree.bytes), report.heap.reachable + report.heap.garbage);
  assert.equal(sum(tree.more.map(([, branches]) => branches)), page.cut.tree[0]);
  assert.equal(sum(tree.more.map(([node]) => tree.bytes[node])), page.cut.tree[1]);
  assert.deepEqual(tree.more.map(([node]) => tree.kind[node]), tree.more.map(() => 3));
}

/** Finds each branch of the report's tree: below one node, names are distinct but for nodes of different kinds. */
function checkTree(lines, parents) {
  for (const line of lines) {
    const found = [];
    for (let i = 1; i < count; i++)
      if (parents.has(tree.parent[i]) && tree.kind[i] !== 3 && retained[i] === line.retained && tree.bytes[i] === line.bytes && tree.count[i] === line.count &&
          (nameOf(i) === line.name || line.name.endsWith(nameOf(i)))) found.push(i);
    assert.ok(found.length > 0, `${line.name}, ${line.retained} B`);
    checkTree(line.holds, new Set(found));
  }
}

if (rest[0] === '--before') {
  const before = read(rest[1]), was = retainedOf(before.tree), known = new Map();
  /** The names on the path to a node. */
  const key = (tree, names, i, shorten = name => name) =>
    i < 0 ? '' : `${key(tree, names, tree.parent[i], shorten)}\n${shorten(names[tree.name[i]], tree.kind[i])}`;
  const withoutNumbers = name => name.split(' ').filter(word => !/^[\d,]*$/.test(word)).join(' ');
  /** A name without the state of a goroutine or the line of a frame, and without words that are numbers, "main and 20 goroutines", unless it is a class's. */
  const withoutState = (name, kind) => kind === 2 ? name : withoutNumbers(kind !== 0 ? name :
    /^goroutine/.test(name) ? name.replace(/\[[^\]]*\]/, '') : name.replace(/ [^ ]*:\d+$/, ''));
  for (let i = 0; i < before.tree.parent.length; i++) {
    const at = key(before.tree, before.names, i), [bytes, objects] = known.get(at) ?? [0, 0];
    known.set(at, [bytes + was[i], objects + before.tree.count[i]]);
  }
  // A node that the base does not have is the next one there, in the order of the base, that differs in nothing but these.
  const here = new Set(tree.parent.map((_, i) => key(tree, names, i))), left = new Map(), matched = new Set(here), is = [];
  before.tree.parent.forEach((_, i) => {
    const at = key(before.tree, before.names, i), loose = key(before.tree, before.names, i, withoutState);
    if (!here.has(at)) left.set(loose, [...left.get(loose) ?? [], at].filter((each, j, all) => all.indexOf(each) === j));
  });
  for (let i = 0; i < count; i++) {
    const at = key(tree, names, i);
    is[i] = known.has(at) ? at : left.get(key(tree, names, i, withoutState))?.shift() ?? at;
    matched.add(is[i]);
  }
  test(`${name}: what the tree was is the tree of the base`, () => {
    let same = 0;
    for (let i = 1; i < count; i++) {
      const at = is[i];
      if (at.includes('(unreachable)')) continue;
      assert.deepEqual([tree.was[i], tree.was_count[i]], known.get(at) ?? [0, 0], at);
      same += known.has(at);
    }
    assert.ok(same > count / 3);
    assert.equal(retained[0] - tree.was[0], report.since.reachable);
  });
  test(`${name}: what is gone is in the tree of the base, and not in this one`, () => {
    const gone = new Map(), parent = before.tree.parent;
    for (let i = 1; i < parent.length; i++) {
      const at = key(before.tree, before.names, i), above = key(before.tree, before.names, parent[i]), [bytes, objects] = known.get(at);
      if (!matched.has(at) && matched.has(above) && !at.includes('(unreachable)') && bytes >= Math.max(1000, Math.floor(tree.was[0] / 10_000)) && !gone.has(at))
        gone.set(at, [above, before.names[before.tree.name[i]], before.tree.kind[i], bytes, objects]);
    }
    const all = sum([...gone.values()].map(row => row[3])), listed = page.gone.map(row => [is[row.below], row.name, row.kind, row.was, row.was_count]);
    assert.deepEqual(listed, [...gone.values()].sort((a, b) => b[3] - a[3]).filter(row => row[3] >= Math.floor(all / 1000)).slice(0, 500));
    assert.equal(page.cut.gone > 0, listed.length === 500);
    assert.equal(page.cut.gone, [...gone.values()].filter(row => row[3] >= Math.floor(all / 1000)).length - listed.length);
    assert.ok(listed.length > 0);
  });
} else if (rest[0] === '--series') {
  const reports = rest.slice(1).map(json), {series} = page;
  test(`${name}: the dumps of the series`, () => assert.deepEqual(series.dumps,
    reports.map(({heap}) => ({source: heap.source, reachable: heap.reachable, objects: heap.objects, goroutines: heap.goroutines}))));
  test(`${name}: its classes`, () => {
    assert.equal(series.classes.length, 8);
    for (const line of series.classes) {
      const rows = reports.map(({classes}) => classes.find(row => row.class === line.name) ?? {objects: 0, bytes: 0});
      assert.deepEqual(line.objects, rows.map(row => row.objects));
      assert.deepEqual(line.bytes, rows.map(row => row.bytes));
    }
  });
  test(`${name}: they are those that changed most`, () => {
    const [first, last] = [reports[0], reports.at(-1)].map(({classes}) => new Map(classes.map(row => [row.class, row.bytes])));
    const changes = [...last].map(([key, bytes]) => Math.abs(bytes - (first.get(key) ?? 0))).sort((a, b) => b - a);
    assert.deepEqual(series.classes.map(({bytes}) => Math.abs(bytes.at(-1) - bytes[0])), changes.slice(0, 8));
  });
  test(`${name}: places of goroutines`, () => {
    assert.ok(series.places.length > 0);
    for (const line of series.places)
      assert.deepEqual(line.count, reports.map(({goroutines}) => sum(goroutines.filter(row => row.place === line.name).map(row => row.count))), line.name);
  });
} else if (rest[0] === '--past') {
  const other = read(rest[1]), {compared} = page.series, reported = new Map(json(rest[2]).classes.map(row => [row.class, row]));
  test(`${name}: all but the last dump can be compared`, () => assert.deepEqual(compared.dumps, [0, 1]));
  test(`${name}: the tree in the second dump is what it was in that base`, () => {
    const was = [...tree.was], counts = [...tree.was_count], [changes] = compared.changes;
    for (let i = 0; i < changes.length; i += 3) [was[changes[i]], counts[changes[i]]] = [changes[i + 1], changes[i + 2]];
    assert.ok(changes.length > 150);
    assert.deepEqual([was, counts], [other.tree.was, other.tree.was_count]);
  });
  test(`${name}: so are the classes, and all that have changed are listed`, () => {
    const listed = new Map(compared.classes.map(row => [row.name, row]));
    assert.equal(compared.cut, 0);
    for (const row of report.classes.filter(row => row.bytes > 0)) {
      const {objects, bytes} = reported.get(row.class) ?? {objects: 0, bytes: 0}, past = listed.get(row.class);
      assert.deepEqual(past ? [past.objects[1], past.bytes[1]] : [row.objects, row.bytes], [objects, bytes], row.class);
    }
    assert.ok(listed.size > 20);
  });
} else if (rest[0] === '--objects') {
  const said = rest.slice(1).map(file => json(file).object);
  test(`${name}: the largest objects are as --path-to and --show say`, () => {
    assert.ok(said.length >= 16);
    for (let i = 0; i < said.length; i += 2) {
      const [way, values] = [said[i], said[i + 1]], object = page.largest[i / 2];
      assert.deepEqual([object.address, names[object.class], object.own, object.retained], [way.address, way.class, way.bytes, way.retained]);
      assert.equal(object.held_by, way.held_by);
      assert.deepEqual(object.steps.map(({step, class: of, address, retained}) => [step, names[of], address ?? '', retained]),
        way.steps.slice(0, 60).map(({step, class: of, address, retained}) => [step, of, address ?? '', retained]));
      assert.deepEqual(object.referrers, way.referrers.slice(0, 4).map(({field, times}) => [field, times]));
      assert.equal(nameOf(object.node), names[object.class]);
      if (way.shared_by) assert.equal(object.shared_by, way.shared_by);
      assert.deepEqual(object.fields ?? [], (values.fields ?? []).slice(0, object.fields ? 16 : 0).map(({name, type, value}) => [name, type, value]));
    }
  });
} else if (rest[0] === '--database') {
  // The snapshot and the database alone tell arrays apart by what holds them.
  const rows = new Map(json(rest[1]).map(row => [row.address, {...row, name: row.name.replace(/^(\[\]\w+) \(.*\)$/, '$1')}]));
  test(`${name}: the largest objects are those of the database`, () => {
    for (const object of page.largest) {
      const row = rows.get(Number(object.address));
      assert.deepEqual([row.name, row.self_size, row.retained_size], [names[object.class], object.own, object.retained]);
    }
    // No other object is larger, but what is held by one of its class or by one that has hardly more, and the ninth of a class.
    const least = page.largest.at(-1).retained, listed = new Set(page.largest.map(({address}) => Number(address)));
    for (const [address, row] of rows) {
      if (listed.has(address) || row.retained_size <= least || row.is_entries) continue;
      const alike = page.largest.filter(object => names[object.class] === row.name);
      let above = rows.get(row.above);
      while (above?.is_entries) above = rows.get(above.above);
      assert.ok(alike.length >= 8 && alike.at(-1).retained >= row.retained_size || above && (above.retained_size - row.retained_size < row.retained_size / 2 || above.name === row.name),
        `0x${address.toString(16)} ${row.name} retains ${row.retained_size}`);
    }
  });
} else if (rest[0] === '--suspects') {
  test(`${name}: of suspects that are alike each has its own node`, () => {
    const {suspects} = report, above = node => tree.parent[node];
    assert.equal(new Set(suspects.map(suspect => `${suspect.item} ${suspect.in.class}`)).size, 1);
    assert.deepEqual(page.suspect_nodes.map(node => [nameOf(above(above(above(node)))), nameOf(above(above(node)))].join('.')), rest.slice(1));
    suspects.forEach(({count, held_by: holder, example: expression = holder}, i) => {
      assert.equal(tree.count[page.suspect_nodes[i]], count);
      assert.ok(expression.startsWith(`${rest[1 + i]}[`), expression);
    });
  });
} else if (rest[0] === '--limits') {
  test(`${name}: the shape`, checkShape);
  test(`${name}: is less than 4 MB`, () => assert.ok(statSync(path).size < 4e6 && statSync(path).size > 1e5));
  test(`${name}: says what is left out`, () => assert.ok(count <= 20000 && page.cut.tree[0] > 0 && page.cut.classes > 0 && report.classes.length <= 5000));
} else {
  const whole = json(rest[0]);
  test(`${name}: the shape`, checkShape);
  test(`${name}: each suspect has an example, with values or with the stack that the report says`, () => {
    assert.equal(page.suspect_examples.length, report.suspects.length);
    report.suspects.forEach((suspect, i) => {
      const {class: of, address, fields, goroutine, stack} = page.suspect_examples[i];
      if (!suspect.is_goroutines) return assert.ok(names[of] && /^0x[0-9a-f]+$/.test(address) && (fields ?? []).every(field => field.length === 3));
      assert.equal(goroutine, suspect.goroutine);
      if (suspect.waits_at) assert.ok(suspect.waits_at.startsWith(stack[0]), `${suspect.waits_at}: ${stack}`);
    });
  });
  test(`${name}: nothing is cut, and the report is the report`, () => {
    assert.deepEqual(page.cut, {tree: [0, 0], classes: 0, goroutines: 0, waste: 0, gone: page.gone?.length === 500 ? page.cut.gone : 0, names: 0});
    assert.deepEqual(report, whole);
  });
  test(`${name}: the classes of the tree are those of the report`, () => {
    const classes = classesOf();
    assert.equal(classes.size, whole.classes.length);
    for (const row of whole.classes) assert.deepEqual(classes.get(row.class), [row.objects, row.bytes], row.class);
  });
  test(`${name}: the report's tree is in it`, () => {
    assert.ok(whole.tree.length > 0);
    checkTree(whole.tree, new Set(tree.parent.keys()));
  });
  test(`${name}: each suspect is in it`, () => {
    const {suspect_nodes: nodes} = page;
    assert.equal(nodes.length, whole.suspects.length);
    assert.equal(new Set(nodes).size, nodes.length, 'they are different nodes');
    whole.suspects.forEach(({item, retained: bytes, in: holder, is_goroutines: isPlace, is_deferred: isDeferred, is_outside: isOutside, example}, i) => {
      if (isOutside) return assert.equal(nodes[i], -1);
      const node = nodes[i], above = tree.parent[node];
      assert.equal(nameOf(node), item);
      assert.ok(example ? retained[node] <= bytes : whole.since || retained[node] === bytes, `${retained[node]} of ${bytes}`);
      if (isPlace || isDeferred) assert.equal(tree.kind[node], 0, item);
      if (holder?.class && !example) assert.deepEqual([nameOf(above), tree.kind[above], tree.count[above]], [holder.class, 2, holder.count]);
    });
  });
  test(`${name}: packages`, () => {
    for (let i = 0; i < count; i++) {
      const of = names[tree.package[i]];
      if (tree.kind[i] === 2) assert.ok(of === 'builtin' || nameOf(i).includes(`${of}.`), nameOf(i));
      else assert.equal(of, tree.kind[i] === 1 && !nameOf(tree.parent[i]).startsWith('(') ? nameOf(tree.parent[i]) : '');
    }
  });
  test(`${name}: fields lie one behind the other`, () => {
    for (const {class: of, size, slot, fields} of page.layouts) {
      assert.ok(size <= slot && fields.length > 0, names[of]);
      let end = 0;
      for (const [field, , offset, bytes, kind] of fields) {
        assert.ok(offset >= end && 'pslino'.includes(kind), `${names[of]}.${field}`);
        end = offset + bytes;
      }
      assert.ok(end <= size || fields.length === 64, names[of]);
    }
  });
  test(`${name}: the text is the report as text`, () => {
    const [, text] = /<pre id="text">([^]*?)<\/pre>/.exec(readFileSync(path, 'utf8'));
    const references = new Map([['&amp;', '&'], ['&lt;', '<'], ['&gt;', '>'], ['&quot;', '"'], ['&#39;', "'"]]);
    assert.equal(text.replace(/&[a-z#0-9]+;/g, reference => references.get(reference)), readFileSync(rest[1], 'utf8'));
  });
}
end();
