// Checks what the report says of a heap against SQLite's tables of the same heap. Each Go expression is walked through the graph
// and must end at an object of the very line that it is said of, and shares and counts must be what the tables give. TAP on
// standard output.
//
//   walk.mjs GO2HEAPSNAPSHOT DATABASE NAME ARGUMENT...
//
// The arguments are a dump and options, as for the report; DATABASE is a file to write.

import assert from 'node:assert/strict';
import {execFileSync} from 'node:child_process';
import {existsSync, readFileSync} from 'node:fs';
import {fileURLToPath} from 'node:url';

import {ask} from '../ask.mjs';
import {end, test} from '../tap.mjs';
import {Heap, isBelow, unnamedVariable} from './heap.mjs';

const [CLASSES, OBJECTS] = process.env.CHECK_ALL ? [3, 3] : [2, 1]; // of which --path-to is asked
const [LARGEST, READ] = process.env.CHECK_ALL ? [60, Infinity] : [2, 5]; // objects on the page; expressions that are read back

const SEVERAL = '(held by several)';
const MOST_LINES = 50; // of the tree

const quotient = (sum, count) => Math.floor(sum / count);
const sum = (list, of) => list.reduce((all, each) => all + of(each), 0);
const addressOf = text => Number(BigInt(text));

/** Checks all of a heap; calls check(title, body) for each part. */
export function walk(program, database, options, check) {
  const run = (...more) => execFileSync(program, [...more, ...options], {encoding: 'utf8', maxBuffer: 1 << 30, stdio: ['ignore', 'pipe', 'ignore']});
  run('--format', 'sqlite', '-o', database);
  const heap = new Heap(database), report = JSON.parse(run('--format', 'report', '--json'));
  const walker = new Walker(heap);
  check('tree', () => walker.tree(report.tree));
  check('classes', () => walker.classes(report.classes));
  check('goroutines', () => walker.goroutines(report.goroutines));
  if (report.waste) check('waste', () => walker.waste(report.waste, report.heap));
  const pages = pagesOf(process.env.GOROOT);
  if (pages && report.waste?.spans) check('spans', () => walker.spans(report.waste.spans, pages));
  report.suspects.forEach((suspect, i) => check(`suspect ${i + 1}, ${suspect.item ?? suspect.part}`, () => walker.suspect(suspect)));
  check('suspects share nothing', () => walker.apart(report.suspects));
  const variables = report.suspects.filter(({held_by: variable, address, is_goroutines: isPlace}) => variable && !address && !isPlace && !/ … /.test(variable));
  const names = variables.map(({held_by: variable}) => variable), questions = [...walker.questions(report)];
  const answers = ask(program, options, [...names, ...questions].map(asked => ['path', asked]));
  names.forEach((name, i) => check(`--path-to ${name}`, () => walker.variable(name, answers[i])));
  questions.forEach((asked, i) => check(`--path-to ${asked}`, () => walker.path(answers[names.length + i])));
  const isTyped = options.includes('--exe');
  const page = JSON.parse(run('--format', 'html').match(/<script type="application\/json" id="data">(.*?)<\/script>/s)[1]);
  const said = [...walker.expressions(report, page.largest.slice(0, LARGEST), ...answers.slice(names.length).map(({object}) => object))].slice(0, READ);
  const read = ask(program, options, said.flatMap(([asked]) => [['path', asked], ...isTyped ? [['show', asked]] : []]));
  for (const [asked, addresses] of said) {
    check(`--path-to ${asked}`, () => walker.readsBack(asked, addresses, read.shift().object));
    if (isTyped) check(`--show ${asked}`, () => walker.isShown(asked, addresses, read.shift()));
  }
}

class Walker {
  constructor(heap) {
    this.heap = heap;
    Object.assign(this, heap.merge()); // lines, lineOf, isCut: not all that several hold is below these
  }

  linesOf(name, ...kinds) {
    return this.lines.filter(line => line.name === name && kinds.includes(line.kind));
  }

  /** Lines of a class of which no line above is of the class. */
  outermost(name) {
    return this.linesOf(name, 'class').filter(line => !this.lines.some(top => top !== line && top.name === name && top.kind === 'class' && isBelow(line, top)));
  }

  /** Returns the node that an address in the report is of. */
  nodeAt(address) {
    const node = this.heap.at.get(addressOf(address));
    assert.notEqual(node, undefined, `no object is at ${address}`);
    return node;
  }

  /** Checks that an expression leads to a node; returns all nodes that it leads to. */
  leads(expression, node) {
    const ends = this.heap.walk(expression);
    const {name, address} = this.heap;
    assert.ok(ends.has(node), `${expression} does not lead to 0x${address[node].toString(16)}, ${name[node]}, but to ${[...ends].slice(0, 5).map(each => name[each])}`);
    return ends;
  }

  /**
   * Returns all expressions in what is said that lead to objects, those without an ellipsis, with the nodes of which they are said.
   */
  expressions(...said) {
    const found = new Map();
    const add = (expression, address) => {
      if (!expression || !address || / … /.test(expression) || expression.endsWith(` at ${address}`)) return;
      if (!found.has(expression)) found.set(expression, new Set());
      found.get(expression).add(this.nodeAt(address));
    };
    const visit = part => {
      if (part === null || typeof part !== 'object') return;
      if (typeof part.held_by === 'string') add(part.held_by, part.address);
      Object.values(part).forEach(visit);
    };
    said.forEach(visit);
    return found;
  }

  /** Checks that the program reads an expression as it is: that its object is one of those that it leads to, the one that was said if it leads to one. */
  readsBack(expression, said, object) {
    assert.ok(object, `${expression} is read as a class or variable`);
    const node = this.nodeAt(object.address), ends = this.leads(expression, node);
    if (ends.size === 1) assert.ok(said.has(node), `${expression} is another object, ${object.address}`);
  }

  /** Checks that --show says what is in the object that an expression leads to, or in the variable, a slice or a struct, that it is the name of. */
  isShown(expression, said, {object, variable}) {
    if (!variable) return this.readsBack(expression, said, object);
    const {address, self} = this.heap, targets = variable.fields.flatMap(({target}) => target ? [addressOf(target)] : []);
    assert.equal(variable.name, expression);
    // A slice need not begin where its array does, which may have a malloc header before its first element, too.
    assert.ok([...said].some(node => targets.some(target => target >= address[node] && target < address[node] + self[node])), `${expression} does not lead there`);
  }

  tree(said) {
    const check = (nodes, lines) => {
      for (const {name, retained, bytes, count, holds} of nodes) {
        if (name === SEVERAL && this.isCut) continue;
        const line = lines.find(each => each.name === name && each.retained === retained);
        assert.ok(line, `${name} with ${retained} is none of ${lines.map(each => `${each.name} ${each.retained}`).slice(0, 20).join(', ')}`);
        assert.equal(line.bytes, bytes, name);
        if (line.kind === 'class') assert.equal(line.nodes.length, count, name);
        check(holds, line.lines);
      }
    };
    const [gcRoots, globals] = ['(GC roots)', '(globals)'].map(name => this.lines.find(line => line.name === name));
    const roots = [...gcRoots.lines, ...globals ? [globals] : []];
    check(said, roots);
    const linesOf = nodes => sum(nodes, ({holds}) => 1 + linesOf(holds));
    if (this.isCut || linesOf(said) === MOST_LINES) return;
    const least = (gcRoots.retained + (globals?.retained ?? 0)) / 50, shown = said.map(({name}) => name);
    for (const line of roots) if (line.retained >= least && shown.length < 8) assert.ok(shown.includes(line.name), `${line.name} is not shown`);
  }

  classes(said) {
    const known = new Map();
    for (const line of this.lines) {
      if (line.kind !== 'class') continue;
      const row = known.get(line.name) ?? {objects: 0, bytes: 0, retained: 0};
      known.set(line.name, {objects: row.objects + line.nodes.length, bytes: row.bytes + line.bytes, retained: row.retained});
    }
    for (const node of this.heap.order) { // what no other object of the class holds
      if (this.heap.kind[node] === 'root') continue;
      const {name} = this.lineOf[node];
      let above = this.lineOf[this.heap.dominator[node]];
      while (above && !(above.kind === 'class' && above.name === name)) above = above.parent;
      if (!above) known.get(name).retained += this.heap.retained[node];
    }
    // Garbage without a type is one class there, by sizes in the report: these cannot be told apart.
    const bySize = known.delete('(garbage)') ? ({class: name}) => /^(no)?ptr\d+$/.test(name) : () => false;
    const compared = said.filter(row => !bySize(row));
    for (const row of said) if (bySize(row)) known.delete(row.class);
    assert.equal(compared.length, known.size);
    for (const {class: name, objects, bytes, retained} of compared) assert.deepEqual({name, ...known.get(name)}, {name, objects, bytes, retained});
  }

  /** Returns the lines of a place of goroutines. */
  places(place, retained) {
    return this.lines.filter(line => line.kind === 'root' && line.name.replace(/^goroutines? /, '') === place && line.retained === retained);
  }

  /** Returns the goroutines of a line: those below a place, or a goroutine itself. */
  goroutinesOf(line) {
    return line.name.startsWith('goroutines ') ? line.lines.filter(({name}) => name.startsWith('goroutine ')).flatMap(({nodes}) => nodes) : line.nodes;
  }

  goroutines(said) {
    for (const {place, count, retained} of said)
      assert.ok(this.places(place, retained).some(line => this.goroutinesOf(line).length === count), `${count} ${place}, ${retained}`);
  }

  // ---- waste ----

  /** Checks what only slots hold that no slice uses, and that no byte is wasted twice: such objects' texts are none of the equal ones. */
  waste({wasted, pinned, stale, slices, maps, substrings, strings}, {reachable}) {
    const {heap} = this, isStale = new Set(), isLost = edge => / (beyond the length|before the start)\]/.test(heap.label[edge] ?? '');
    const unreachable = heap.find('(unreachable)'), known = {objects: 0, wasted: 0}, held = new Map();
    let texts = 0;
    for (const node of heap.order) {
      const above = heap.dominator[node];
      if (above >= 0 && isStale.has(above)) isStale.add(node);
      else if (above >= 0 && held.get(above)?.has(node)) {
        isStale.add(node);
        known.objects++;
        known.wasted += heap.retained[node];
      }
      const edges = [...heap.edgesOf(node)].filter(edge => !heap.isWeak[edge]);
      if (edges.some(isLost)) {
        const used = new Set(edges.filter(edge => !isLost(edge)).map(edge => heap.to[edge]));
        held.set(node, new Set(edges.map(edge => heap.to[edge]).filter(to => !used.has(to))));
      }
      if (heap.kind[node] === 'text' && !isStale.has(node) && !(unreachable >= 0 && heap.dominates(unreachable, node))) texts += heap.self[node];
    }
    assert.deepEqual({objects: stale?.objects ?? 0, wasted: stale?.wasted ?? 0}, known);
    assert.equal(wasted, [pinned, stale, slices, maps, substrings, strings].reduce((all, part) => all + (part?.wasted ?? 0), 0));
    assert.ok((strings?.bytes ?? 0) <= texts, `${strings?.bytes} of texts, of which ${texts} are not stale`);
    assert.ok(wasted <= reachable, `${wasted} of ${reachable} are wasted`);
  }

  // ---- spans ----

  /** Checks which spans few objects are in; pages has how many pages the spans of each size of slots have. */
  spans(said, pages) {
    const {heap} = this, spans = new Map(), PAGE = 8192, unreachable = heap.find('(unreachable)');
    for (const node of heap.order) {
      const size = heap.self[node], address = heap.address[node], count = pages.get(size);
      if (!count || heap.kind[node] === 'root' || (unreachable >= 0 && heap.dominates(unreachable, node))) continue;
      const begins = Array.from({length: count}, (_, i) => (Math.floor(address / PAGE) - i) * PAGE).filter(begin => (address - begin) % size === 0);
      assert.equal(begins.length, 1, `the span of 0x${address.toString(16)}`);
      const span = spans.get(begins[0]) ?? {slot: size, bytes: count * PAGE, live: 0, nodes: []};
      assert.equal(span.slot, size);
      span.live += size;
      span.nodes.push(node);
      spans.set(begins[0], span);
    }
    const known = new Map();
    for (const span of spans.values()) {
      const row = known.get(span.slot) ?? {wasted: 0, spans: 0, bytes: 0, live: 0, objects: 0, below_tenth: 0, all_spans: 0, all_bytes: 0, all_objects: 0, classes: new Map()};
      known.set(span.slot, row);
      row.all_spans++;
      row.all_bytes += span.bytes;
      row.all_objects += span.nodes.length;
      if (4 * span.live >= span.bytes) continue;
      row.spans++;
      row.bytes += span.bytes;
      row.live += span.live;
      row.wasted += span.bytes - span.live;
      row.objects += span.nodes.length;
      if (10 * span.live < span.bytes) row.below_tenth += span.bytes - span.live;
      const names = span.nodes.map(node => heap.name[node]);
      for (const name of new Set(names)) {
        const pin = row.classes.get(name) ?? {objects: 0, spans: 0};
        row.classes.set(name, {objects: pin.objects + names.filter(each => each === name).length, spans: pin.spans + 1});
      }
    }
    assert.equal(said.sizes.length, known.size);
    for (const {slot, classes, ...row} of said.sizes) {
      const {classes: pins, ...wanted} = known.get(slot);
      assert.deepEqual({slot, ...row}, {slot, ...wanted});
      assert.deepEqual(Object.fromEntries(classes.map(({class: name, objects, spans: some}) => [name, {objects, spans: some}])), Object.fromEntries(pins));
    }
    for (const key of ['wasted', 'spans', 'bytes', 'live', 'objects', 'below_tenth']) assert.equal(said[key], sum([...known.values()], row => row[key]), key);
  }

  // ---- suspects ----

  suspect(suspect) {
    if (suspect.is_outside) return;
    if (suspect.example) return this.container(suspect);
    const lines = this.lines.filter(line => line.name === suspect.item && (line.retained === suspect.retained || suspect.each));
    if (lines.length === 0 && this.isCut && suspect.shared_by) return;
    assert.ok(lines.length > 0, 'no line of the tree is this one');
    const wrong = [];
    for (const line of lines) { // another one may be equal
      try {
        return this.suspectOf(suspect, line);
      } catch (error) {
        wrong.push(error);
      }
    }
    throw wrong[0];
  }

  /** Checks a container: its bytes and parts, how many entries it has, and that the example is one of these. */
  container(suspect) {
    const {heap} = this, {each, retained} = suspect, count = suspect.is_entries ? suspect.entries : suspect.count;
    let top = suspect.address ? this.lineOf[this.nodeAt(suspect.address)] : this.lines.find(line => line.name === suspect.in.variable && line.kind === 'root');
    assert.ok(top, `there is no ${suspect.held_by}`);
    while (/\.indirect\[/.test(top.name)) top = top.parent; // the trie of a sync.Map
    if (suspect.in && top.name !== suspect.in.class && top.parent?.name === suspect.in.class) top = top.parent; // its first field has its address
    const inside = this.lines.filter(line => isBelow(line, top));
    const bytesOf = name => quotient(sum(inside.filter(line => line.name === name), ({bytes}) => bytes), count);
    const most = sum(inside, ({bytes}) => bytes), grown = suspect.retained_grown !== undefined;
    assert.ok(suspect.is_whole || grown ? retained <= most : retained < most, `${retained} of ${most}`);
    if (suspect.is_whole && !grown) assert.equal(retained, most);
    const items = inside.filter(line => line.name === suspect.item && line.kind === 'class').flatMap(({nodes}) => nodes);
    assert.ok(items.length >= suspect.count, `${items.length} ${suspect.item}`);
    if (each) {
      assert.equal(each.retained, quotient(retained, count));
      const parts = sum(each.parts ?? [], ({bytes}) => bytes) + (each.slots ?? 0) + (each.rest ?? 0);
      assert.ok(!each.parts?.length || parts === each.retained, `${parts} of ${each.retained}`);
      for (const {class: name, bytes} of each.parts ?? []) {
        if (suspect.is_whole && !grown) assert.equal(bytes, bytesOf(name), name);
        else assert.ok(bytes <= bytesOf(name), `${name} ${bytes} of ${bytesOf(name)}`);
      }
    }
    if (/ … /.test(suspect.example)) return;
    const named = suspect.address && this.nodeAt(suspect.address), ends = [...heap.walk(suspect.example)];
    assert.ok(ends.some(node => isBelow(this.lineOf[node], top)), `${suspect.example} is not in ${suspect.held_by}`);
    if (named && top.nodes.length > 1 && top.nodes.includes(named)) // of several containers the one that has the example is named
      assert.ok(ends.some(node => heap.dominates(named, node)), `${suspect.example} is in another one than ${suspect.held_by}`);
  }

  /** Checks that no two suspects have an object in common: what is a whole container, or a class, is below no other. */
  apart(suspects) {
    const taken = new Map();
    for (const [i, suspect] of suspects.entries()) {
      if (!suspect.address || suspect.is_goroutines || suspect.is_deferred || !(suspect.is_whole ?? !suspect.each)) continue;
      for (const line of this.lines.filter(line => isBelow(line, this.lineOf[this.nodeAt(suspect.address)]))) {
        assert.ok(!taken.has(line), `${chain(line)} is in suspects ${taken.get(line) + 1} and ${i + 1}`);
        taken.set(line, i);
      }
    }
  }

  /** Checks what is said of a variable whose words point to several objects. */
  variable(name, {variable}) {
    const {heap} = this, node = heap.name.findIndex((each, i) => heap.kind[i] === 'root' && (unnamedVariable(each) ?? each) === name);
    assert.ok(node >= 0, `there is no ${name}`);
    assert.deepEqual([variable.name, variable.retained], [name, heap.retained[node]]);
    const edges = [...heap.edgesOf(node)].filter(edge => !heap.isWeak[edge]);
    for (const {word, step, address, retained} of variable.holds ?? variable.leads_to) {
      const edge = edges.find(each => heap.address[heap.to[each]] === addressOf(address) && heap.label[each].replace(/^\./, '') === (word ?? step));
      assert.equal(heap.retained[heap.to[edge]], retained, word ?? step);
    }
  }

  suspectOf(suspect, line) {
    const {heap} = this;
    const items = this.lines.filter(each => each.name === line.name && each.kind === line.kind && isBelow(each, line)).flatMap(({nodes}) => nodes);
    if (suspect.is_goroutines) {
      this.hold(suspect, line);
      if (suspect.inside) this.inside(suspect.inside, line);
      return this.most(suspect, line, this.goroutinesOf(line));
    }
    if (suspect.is_deferred || line.kind !== 'class') return;
    assert.equal(suspect.count, items.length);
    let above = line.parent; // boxes of interfaces do not count, nor does the tree of a sync.Map
    while (above?.parent && (above.name === 'interface {}' || (suspect.is_container && above.isTrie))) above = above.parent;
    if (suspect.in) assert.deepEqual([suspect.in.class, suspect.in.count], [above.name, above === line.parent ? this.having(above, items) : above.nodes.length]);
    if (suspect.in) assert.equal(suspect.in.part, this.partOf(above, items));
    if (suspect.each) this.each(suspect, line, items);
    const node = this.nodeAt(suspect.address);
    this.blocked(suspect, node);
    if (suspect.is_container) {
      this.leads(suspect.held_by, node);
      if (suspect.held_of) return this.pointsToAll(suspect, node, items);
      return assert.ok(isBelow(line, this.lineOf[node]), `${suspect.held_by} has none of this line`);
    }
    if (suspect.held_by) {
      for (const each of this.leads(suspect.held_by, node))
        if (heap.name[each] === line.name && !/ {2}\(| … /.test(suspect.held_by)) assert.ok(isBelow(this.lineOf[each], line), `${suspect.held_by} leads to another line`);
    }
    if (suspect.each && items.some(item => heap.dominates(node, item)) && !items.includes(node)) return; // what each of them is in
    assert.ok(items.includes(node), `${suspect.held_by} is not of this line, but of ${chain(this.lineOf[node])}`);
    const holder = this.most(suspect, line, items);
    const alike = this.branches(items, holder === undefined ? items : items.filter(each => heap.dominates(holder, each)));
    assert.equal(heap.retained[node], Math.max(...alike.map(each => heap.retained[each])), 'another one is heavier');
  }

  /** Checks that a container, which others hold with it, has pointers to all objects, or to what they are in. */
  pointsToAll({held, held_of: of, held_by: by}, container, items) {
    const {heap} = this, targets = new Set();
    for (let node = 0; node < heap.name.length; node++)
      if (heap.dominates(container, node)) for (const edge of heap.edgesOf(node)) if (!heap.isWeak[edge]) targets.add(heap.to[edge]);
    assert.equal(held, of);
    for (const item of items) {
      const isHeld = targets.has(item) || [...targets].some(target => heap.dominates(target, item));
      assert.ok(isHeld, `${by} has no pointer to ${heap.name[item]}`);
    }
  }

  /** Checks what goroutines hold many of: the objects of one line below theirs, and those of its name below that. */
  inside({class: name, count, retained}, line) {
    const lines = this.linesOf(name, 'class').filter(each => isBelow(each, line));
    const countOf = top => sum(lines.filter(each => isBelow(each, top)), ({nodes}) => nodes.length);
    assert.ok(lines.some(each => each.retained === retained && countOf(each) === count), `${count} ${name}, ${retained}`);
    assert.ok(retained > line.retained / 2, 'that is not most');
  }

  /** Checks which goroutine keeps the finalizer or cleanup that an object waits for from being run. */
  blocked({blocked_by: blocker, never_freed: reason}, node) {
    const {heap} = this, isRoot = each => heap.kind[each] === 'root';
    const waits = heap.dominatorsOf(node).some(each => isRoot(each) && /^\((finalizers|queued finalizers|cleanups)\)$/.test(heap.name[each]));
    const expected = waits && reason === undefined ? this.runner() : undefined;
    assert.deepEqual(blocker, expected);
  }

  /** Returns the goroutine that runs a finalizer or cleanup, and the innermost function there that is not the runtime's. */
  runner() {
    const {heap} = this;
    for (let node = 0; node < heap.count; node++) {
      if (heap.kind[node] !== 'root' || !heap.name[node].startsWith('goroutine ')) continue;
      const frames = [...heap.edgesOf(node)].filter(edge => heap.label[edge] === undefined).map(edge => heap.to[edge]).filter(to => heap.kind[to] === 'root').map(to => heap.name[to].replace(/ \S+:\d+$/, ''));
      const own = frames.findIndex(name => !name.startsWith('runtime.')), runner = frames.findIndex(name => /^runtime\.(runCleanups|runFinalizers|runfinq)$/.test(name));
      if (own >= 0 && own < runner) return {goroutine: heap.name[node], function: frames[own]};
    }
    return undefined;
  }

  /** Returns "entry" or "element" if all items hang on one of them, of a map or slice. */
  partOf(above, items) {
    const {heap} = this, all = new Set(items);
    const uppermost = items.filter(node => heap.nearest(heap.dominator[node], each => all.has(each)) === undefined);
    if (items.length > 1 && uppermost.length === 1 && heap.pointersInto(uppermost[0]) === 1) return {'map[': 'entry', '[]': 'element'}[/^(map\[|\[\])?/.exec(above.name)[0]];
  }

  /** Returns how many objects of a line hold some of the items. */
  having(line, items) {
    const {heap} = this, ofLine = new Set(line.nodes);
    return new Set(items.map(node => heap.nearest(heap.dominator[node], each => ofLine.has(each))).filter(node => node >= 0)).size;
  }

  each({each, count, retained}, line, items) {
    assert.equal(each.retained, quotient(retained, count));
    const parts = sum(each.parts ?? [], ({bytes}) => bytes) + (each.slots ?? 0) + (each.rest ?? 0);
    assert.ok(!each.parts?.length || parts === each.retained, `${parts} of ${each.retained}`);
    assert.ok(items.length > 0);
  }

  /** Returns of some objects those directly below the one that holds most of all, or all if there is none. */
  branches(items, some) {
    const {heap} = this, all = new Set(items), below = new Map();
    const nearest = new Map(items.map(node => [node, heap.nearest(heap.dominator[node], above => all.has(above))]));
    for (const above of nearest.values()) if (above !== undefined) below.set(above, (below.get(above) ?? 0) + 1);
    for (const [root, count] of below) if (count >= 4 && count > items.length / 2) return some.filter(node => nearest.get(node) === root);
    return some;
  }

  /** Checks what one holder alone has; returns the holder. */
  most({most}, line, items) {
    if (!most) return undefined;
    const {heap} = this;
    const holder = most.address ? this.nodeAt(most.address) : heap.find(most.held_by);
    assert.ok(holder >= 0, `there is no ${most.held_by}`);
    if (most.address && !most.held_by.endsWith(` at ${most.address}`)) this.leads(most.held_by, holder);
    const isItem = items.includes(holder), all = new Set(items), holders = this.lineOf[holder];
    const isOne = node => this.lineOf[node] === holders && heap.name[node] === heap.name[holder];
    const own = items.filter(node => heap.dominates(holder, node) && (isItem || heap.nearest(node, isOne) === holder));
    const outermost = own.filter(node => {
      if (node === holder) return true;
      const above = heap.nearest(heap.dominator[node], each => each === holder || all.has(each));
      return !all.has(above);
    });
    assert.equal(most.count, own.length, 'how many one has');
    assert.equal(most.retained, sum(outermost, node => heap.retained[node]), 'how much one has');
    if (!isItem) assert.equal(most.holders, new Set(items.map(node => heap.nearest(node, isOne)).filter(node => node >= 0)).size, 'how many have any');
    assert.ok(most.retained > line.retained / 2, 'that is not most');
    return holder;
  }

  hold({hold, count}, line) {
    assert.equal(count, this.goroutinesOf(line).length);
    const localsOf = ({variable, of, class: name}) => variable === undefined
      ? this.linesOf(name, 'class').filter(each => each.parent.kind === 'root' && each.parent.name === of && isBelow(each, line))
      : this.linesOf(variable, 'variable').filter(each => each.parent.name === of && isBelow(each, line) && (name === undefined || each.lines.some(below => below.name === name)));
    for (const local of hold) {
      const others = sum(local.with ?? [], part => Math.max(...localsOf(part).map(({retained}) => retained)));
      assert.ok(localsOf(local).some(({retained}) => quotient(retained + others, count) === local.each), JSON.stringify(local));
    }
  }

  // ---- --path-to ----

  /** Returns classes and addresses for --path-to. */
  questions({suspects, classes}) {
    const names = suspects.filter(({is_goroutines: many, is_deferred: calls, address}) => !many && !calls && address).map(({item}) => item);
    const heavy = classes.filter(row => !/^\(|^ptr|^noptr/.test(row.class)).sort((a, b) => b.retained - a.retained).map(row => row.class);
    const {heap} = this, objects = heap.order.filter(node => heap.kind[node] === 'object');
    const some = Array.from({length: OBJECTS}, (_, i) => objects[Math.floor(objects.length * (i + 1) / (OBJECTS + 1))]);
    return [...new Set([...names, ...heavy].slice(0, CLASSES)), ...some.map(node => `0x${heap.address[node].toString(16)}`)];
  }

  path({class: class_, object}) {
    if (class_) this.class_(class_);
    const {heap} = this, node = this.nodeAt(object.address);
    assert.deepEqual([object.bytes, object.retained], [heap.self[node], heap.retained[node]]);
    if (class_) assert.equal(this.lineOf[node].name.replace(/ entries$/, ''), class_.class.replace(/ entries$/, ''));
    if (object.held_by) this.leads(object.held_by, node);
    this.blocked(object, node);
    this.rows(object.steps);
    const steps = object.steps.filter(({address}) => address).map(({address}) => this.nodeAt(address));
    for (const [i, step] of steps.entries()) if (i > 0) assert.ok(this.isNext(steps[i - 1], step), `no strong edge is step ${i}`);
    if (object.held_by && !heap.isEntries(node)) assert.equal(steps.at(-1), node);
    this.rows(object.dominators);
    const above = new Set(heap.dominatorsOf(node).slice(1).filter(each => heap.kind[each] !== 'root' && !heap.isEntries(each)));
    assert.deepEqual(object.dominators.filter(({address}) => address).map(({address}) => this.nodeAt(address)), [...above]);
    assert.equal(sum(object.referrers, ({times}) => times), heap.referrers(node));
    for (const {address} of object.referrers) if (address) assert.ok([...heap.edgesOf(this.nodeAt(address))].some(edge => heap.to[edge] === node));
  }

  rows(rows) {
    const {heap} = this;
    for (const row of rows.filter(({address}) => address)) {
      const node = this.nodeAt(row.address);
      assert.deepEqual([row.bytes, row.retained], [heap.self[node], heap.retained[node]], row.class);
    }
  }

  /** Returns whether a strong edge leads from one node to another, or does so by way of a map's entries. */
  isNext(from, to) {
    const {heap} = this, found = new Set([from]);
    for (const node of found)
      for (const edge of heap.edgesOf(node)) {
        if (heap.isWeak[edge]) continue;
        if (heap.to[edge] === to) return true;
        if (heap.isEntries(heap.to[edge])) found.add(heap.to[edge]);
      }
    return false;
  }

  class_({class: name, objects, bytes, holders}) {
    const lines = this.linesOf(name, 'class');
    assert.equal(objects, sum(lines, ({nodes}) => nodes.length));
    assert.equal(bytes, sum(lines, line => line.bytes));
    for (const {holders: above, objects: count, retained, address} of holders)
      assert.ok(lines.some(line => line.nodes.length === count && line.retained === retained && line.nodes.includes(this.nodeAt(address)) && chain(line.parent).endsWith(above === '(several roots)' ? '' : above)) ||
          (this.isCut && this.lineOf[this.nodeAt(address)].name === name), above);
  }
}

/** Reads from Go's sources how many pages the spans of each size of slots have; undefined without sources. */
function pagesOf(goroot) {
  const file = ['internal/runtime/gc', 'runtime'].map(room => `${goroot}/src/${room}/sizeclasses.go`).find(path => goroot && existsSync(path));
  if (!file) return undefined;
  const rows = readFileSync(file, 'utf8').matchAll(/^\/\/ +\d+ +(\d+) +(\d+) +\d+ +\d+ +[\d.]+% +\d+$/gm);
  return new Map([...rows].map(([, size, bytes]) => [Number(size), Number(bytes) / 8192]));
}

/** Returns the names of a line and of those above it: "main › rooms › map[string]*main.room". */
function chain(line) {
  const names = [];
  for (let at = line; at; at = at.parent) names.unshift(at.name);
  return names.join(' › ');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [program, database, name, ...options] = process.argv.slice(2);
  walk(program, database, options, (title, body) => test(`${name}: ${title}`, body));
  end();
}
