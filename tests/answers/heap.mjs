// Reads a heap from the tables of --format sqlite and knows of it what the report says, by rules of its own: the tree of
// dominators with like siblings merged (docs/pprof.md), and where a Go expression leads.

import {execFileSync} from 'node:child_process';

const ENTRIES = ' entries'; // the end of the name of what the runtime keeps of a map
const MOST_SHARED = 1000; // edges of the node of what several hold (docs/snapshot-format.md)

// The parts of a sync.Map: what leads to its entries, and these. Until Go 1.23 an entry points to an interface with the value.
const TRIE = /^(internal\/(sync|concurrent)|sync|concurrent|unique)\.indirect\[|^sync\.readOnly$|^map\[interface \{\}\]\*sync\.entry$/;
const TRIE_ENTRY = /^(internal\/(sync|concurrent)|sync|concurrent|unique)\.entry\[|^sync\.entry$/;
const LINK = /^sync\.(Map|readOnly|entry)$|\b(sync|concurrent)\.(HashTrieMap|indirect)\[|^unique\.indirect\[/; // paths leave out their pointers

/** Returns the name of the map that a part of it is counted as. */
const mapOf = name => (/\bindirect\[/.test(name) && !/^internal\/sync\.indirect\[interface \{\},interface \{\}\]$/.test(name) ? name.replace('indirect[', 'HashTrieMap[') : 'sync.Map');

/** Returns the rows of a query, each an array of texts. */
function select(path, query) {
  const text = execFileSync('sqlite3', ['-ascii', path, query], {encoding: 'utf8', maxBuffer: 1 << 30});
  return text.split('\x1e').slice(0, -1).map(row => row.split('\x1f'));
}

/** Returns a name as the report has it: some are changed in snapshots because DevTools would misread them. */
const goName = name => name.replace(/^chan \(<-\) /, '<-chan ').replace(/^Go (?=<|system \/ |Detached |Window|Object\(|\(closure)/, '').replace(/ \(Go\)$/, '');

/** Returns the class of an object without the field that the arrays are of: snapshots have that of the largest ones. */
const withoutHolder = name => name.replace(/^(\[\d*\]\S+) \((?!Go\)).*\)$/, '$1');

/** Returns the name of what is no object without its numbers: those of goroutines, of elements, and waiting times. */
function plain(name) {
  const numbers = name.replace(/(^|[ [])(\d+(?:,\d+)*)(?=$|[ \]]) ?/g, '$1');
  return numbers.replace(/\[([^\],]*),[^\]]*\]/g, '[$1]').replace(/ in goroutine ?$/, '');
}

/** A heap. Nodes are numbers; each list has a value for each node or, edges' lists, for each edge. */
export class Heap {
  constructor(path) {
    const strings = select(path, 'select text from string order by number').map(([text]) => text);
    const nodes = select(path, `select t.name, n.name, self_size, edge_count, first_edge, retained_size, coalesce(dominator, -1), coalesce(address, -1)
      from node_ n join node_type t on t.number = n.type order by n.number`);
    const edges = select(path, `select e.to_node, t.name, coalesce(e.name, -1), coalesce(e.element, -1)
      from edge_ e join edge_type t on t.number = e.type order by e.number`);
    const about = new Map(select(path, 'select key, value from about'));
    this.pointer = /^(386|arm|mips|mipsle)$/.test(about.get('goarch')) ? 4 : 8;
    this.count = nodes.length;
    const isText = type => type === 'string' || type === 'sliced string';
    this.kind = nodes.map(([type]) => isText(type) ? 'text' : ({synthetic: 'root', native: 'root'})[type] ?? 'object');
    this.name = nodes.map(([type, name]) => isText(type) ? '(string)' : goName(withoutHolder(strings[name])));
    for (const [list, column] of Object.entries({self: 2, edgeCount: 3, firstEdge: 4, retained: 5, dominator: 6, address: 7}))
      this[list] = Float64Array.from(nodes, row => Number(row[column]));
    this.to = Float64Array.from(edges, ([to]) => Number(to));
    this.label = edges.map(([,, name]) => name === '-1' ? undefined : strings[name]);
    this.isWeak = edges.map(([, type], edge) => type === 'weak' || type === 'shortcut' && edge >= this.edgeCount[0]); // the root's are first
    this.element = Float64Array.from(edges, row => Number(row[3]));
    this.at = new Map(Array.from(this.address, (address, node) => [address, node]));
    this.stackOf = this.moveStacks(nodes.map(([type]) => type === 'native'));
    this.order = this.topDown();
    this.number();
  }

  /**
   * Has what is below the stack of a goroutine below the goroutine, as the report and the graph have it: docs/snapshot.md. Returns the
   * stacks by goroutine.
   */
  moveStacks(isNative) {
    const stackOf = new Map();
    for (let node = 1; node < this.count; node++) {
      if (isNative[node] && this.name[node].startsWith('goroutine stack') && this.edgeCount[node] > 0) stackOf.set(this.dominator[node], node);
    }
    const stacks = new Map(Array.from(stackOf, ([goroutine, stack]) => [stack, goroutine]));
    this.dominator = this.dominator.map(node => stacks.get(node) ?? node);
    for (const stack of stacks.keys()) this.retained[stack] = this.self[stack];
    this.isEmpty = new Set(stacks.keys());
    return stackOf;
  }

  /** The nodes, each behind its dominator. */
  topDown() {
    const children = Array.from({length: this.count}, () => []);
    for (let node = 1; node < this.count; node++) children[this.dominator[node]]?.push(node);
    const order = [0];
    for (let i = 0; i < order.length; i++) for (const child of children[order[i]]) order.push(child);
    return order;
  }

  /** Numbers the nodes so that a node has the numbers from first to last with all that it dominates. */
  number() {
    const sizes = new Float64Array(this.count).fill(1);
    for (const node of this.order.slice(1).reverse()) sizes[this.dominator[node]] += sizes[node];
    this.first = new Float64Array(this.count).fill(-1);
    const next = new Float64Array(this.count);
    for (const node of this.order) {
      this.first[node] = node === 0 ? 0 : next[this.dominator[node]];
      if (node !== 0) next[this.dominator[node]] += sizes[node];
      next[node] = this.first[node] + 1;
    }
    this.last = this.first.map((first, node) => first + sizes[node] - 1);
  }

  /** Returns whether a node dominates another one, or is it. */
  dominates(top, node) {
    return this.first[top] >= 0 && this.first[top] <= this.first[node] && this.first[node] <= this.last[top];
  }

  /** Returns the nearest of those that dominate a node, itself first, of which a condition is true. */
  nearest(node, condition) {
    let at = node;
    while (at >= 0 && !condition(at)) at = this.dominator[at];
    return at >= 0 ? at : undefined;
  }

  * edgesOf(node) {
    const stack = this.stackOf.get(node);
    if (this.isEmpty.has(node)) return;
    for (let i = 0; i < this.edgeCount[node]; i++) yield this.firstEdge[node] + i;
    for (let i = 0; stack !== undefined && i < this.edgeCount[stack]; i++) yield this.firstEdge[stack] + i;
  }

  /** Returns the nodes that dominate a node, itself first. */
  dominatorsOf(node) {
    const found = [];
    for (let at = node; at >= 0; at = this.dominator[at]) found.push(at);
    return found;
  }

  /** Returns how many strong edges lead to a node. */
  referrers(node) {
    let count = 0;
    for (let edge = 0; edge < this.to.length; edge++) if (this.to[edge] === node && !this.isWeak[edge]) count++;
    return count;
  }

  /** Returns the number of strong edges to a node from living nodes that it does not dominate. */
  pointersInto(node) {
    const unreachable = this.find('(unreachable)');
    let count = 0;
    for (let from = 0; from < this.name.length; from++) {
      if (this.dominates(node, from) || (unreachable >= 0 && this.dominates(unreachable, from))) continue;
      for (const edge of this.edgesOf(from)) if (this.to[edge] === node && !this.isWeak[edge]) count++;
    }
    return count;
  }

  isEntries(node) {
    return this.kind[node] !== 'root' && this.name[node].endsWith(ENTRIES);
  }

  find(name) {
    return this.name.findIndex((each, node) => each === name && this.kind[node] === 'root');
  }

  /** Returns the nodes of roots that strong edges of these lead to. */
  rootsBelow(nodes) {
    const found = new Set(nodes);
    for (const node of found)
      for (const edge of this.edgesOf(node)) if (!this.isWeak[edge] && this.kind[this.to[edge]] === 'root') found.add(this.to[edge]);
    return [...found].filter(node => !nodes.includes(node));
  }

  // ---- the merged tree ----

  /**
   * Merges the tree of dominators; returns its lines. A line has its name; kind: class, variable or root; parent, a line;
   * lines: those below it; nodes that are merged in it; parts: memory of its maps; bytes, retained.
   */
  merge() {
    const lines = [], lineOf = new Array(this.count), several = this.find('(held by several)');
    const tops = [0, ...['(GC roots)', '(globals)', '(goroutines)'].map(name => this.find(name))];
    const [variables, sharers, declared] = [this.variables(), new Map(), this.declaredMaps()];
    if (several >= 0) for (const edge of this.edgesOf(several)) if (this.isWeak[edge]) sharers.set(this.to[edge], this.label[edge]);
    const below = (parent, kind, name) => {
      const known = parent?.known.get(`${kind} ${name}`);
      if (known) return known;
      const line = (kind === 'class' && cycleOf(parent, name)) || {name, kind, parent, lines: [], known: new Map(), nodes: [], parts: [], bytes: 0, retained: 0};
      parent?.known.set(`${kind} ${name}`, line);
      if (line.nodes.length === 0 && line.parts.length === 0) {
        lines.push(line);
        parent?.lines.push(line);
      }
      return line;
    };
    for (const node of this.order) {
      const name = this.name[node], over = node === 0 ? undefined : lineOf[this.dominator[node]];
      if (this.kind[node] !== 'root' && over.kind === 'class' && this.isEntries(node) && (over.name.startsWith('map[') ? name === over.name + ENTRIES : declared.has(over.name))) {
        over.parts.push(node);
        lineOf[node] = over;
        continue;
      }
      const isTrie = this.kind[node] !== 'root' && (TRIE.test(name) || TRIE_ENTRY.test(name) || (over.isTrie && (this.isEntries(node) || /^interface \{/.test(name))));
      if (isTrie && over.isTrie) {
        over.parts.push(node);
        lineOf[node] = over;
        continue;
      }
      let parent = over;
      if (this.kind[node] !== 'root' && variables.has(node)) parent = below(parent, 'variable', variables.get(node));
      else if (this.kind[node] !== 'root' && tops.includes(this.dominator[node]) && sharers.has(node))
        parent = below(below(parent, 'root', '(held by several)'), 'variable', sharers.get(node));
      if (isTrie) {
        const of = mapOf(name), isInside = parent.kind === 'class' && parent.name === of, line = isInside ? parent : below(parent, 'class', of);
        line.isTrie = true;
        (!isInside && TRIE.test(name) && !name.startsWith('map[') ? line.nodes : line.parts).push(node);
        lineOf[node] = line;
        continue;
      }
      const line = this.kind[node] === 'root' ? below(parent, 'root', plain(name)) : below(parent, 'class', name);
      line.nodes.push(node);
      lineOf[node] = line;
    }
    for (const line of lines) if (line.isTrie && line.nodes.length === 0) line.nodes.push(line.parts.shift());
    for (const line of lines.slice().reverse()) {
      for (const list of [line.nodes, line.parts]) for (const node of list) line.bytes += this.self[node];
      line.retained += line.bytes;
      if (line.parent) line.parent.retained += line.retained;
    }
    return {lines, lineOf, isCut: several >= 0 && this.edgeCount[several] >= MOST_SHARED};
  }

  /** Returns the classes of maps whose type has a name of its own, as http.Header: their objects point to nothing but entries. */
  declaredMaps() {
    const maps = new Set(), others = new Set();
    for (let node = 0; node < this.name.length; node++)
      for (const edge of this.edgesOf(node)) if (!this.isWeak[edge] && this.kind[node] !== 'root') (this.isEntries(this.to[edge]) ? maps : others).add(this.name[node]);
    return new Set([...maps].filter(name => !others.has(name) && !name.endsWith(ENTRIES) && !/^ptr\d+$|^\(garbage\)$/.test(name))); // ptr16: not known to be a map
  }

  /** Returns what each object is called by the package or frame that alone holds it. */
  variables() {
    const globals = this.find('(globals)'), goroutines = this.find('(goroutines)'), names = new Map(), gcRoots = this.find('(GC roots)');
    const packages = globals < 0 ? [] : this.rootsBelow([globals]);
    for (const edge of this.edgesOf(gcRoots)) if (!this.isWeak[edge] && /^[^(]|^\(sync\.Pool\)$/.test(this.name[this.to[edge]])) packages.push(this.to[edge]); // the runtime's; pools
    const frames = goroutines < 0 ? [] : this.rootsBelow([goroutines]).filter(node => !/^(\d[\d,]* )?goroutines? |^stack/.test(this.name[node]));
    for (const node of [...packages, ...frames])
      for (const edge of this.edgesOf(node)) {
        const to = this.to[edge];
        if (this.dominator[to] !== node || this.kind[to] === 'root' || this.label[edge] === undefined) continue;
        if (/^(read|dirty)$/.test(this.label[edge]) && TRIE.test(this.name[to])) continue; // the variable is a sync.Map, before Go 1.24
        names.set(to, plain(this.label[edge]));
      }
    return names;
  }

  // ---- expressions ----

  /** Returns what a report may call an edge. */
  textsOf(edge, from) {
    const element = this.element[edge];
    const unnamed = unnamedVariable(this.label[edge] ?? '');
    if (unnamed) return [unnamed];
    if (this.label[edge] !== undefined) return [this.label[edge].replace(/^\.(?=.)/, '')];
    const cleanup = this.kind[from] === 'root' && /^(argument|cleanup)\b/.exec(this.name[from])?.[1];
    if (cleanup) return [cleanup === 'argument' ? 'argument' : 'function'];
    return element >= 1 << 20 && this.name[from].startsWith('[]*') ? [`[${element}]`, `[${element / this.pointer}]`] : [`[${element}]`];
  }

  /** Returns the nodes of roots that an expression may begin with, each with the rest: [node, rest, owner]. */
  beginnings(expression) {
    const [, path, owner] = /^(.*?)(?: {2}\((.*)\))?$/s.exec(expression), starts = [];
    const argument = owner && /^argument of /.test(owner) ? ` (${owner})` : undefined;
    const local = owner && /^local of /.test(owner) ? owner.slice('local of '.length) : undefined;
    for (let node = 0; node < this.count; node++) {
      if (this.kind[node] !== 'root') continue;
      if (argument || !owner || this.name[node] === (local ?? owner?.replace(/ of a cleanup$/, ''))) starts.push([node, path, argument]);
      const variable = unnamedVariable(this.name[node]) ?? this.name[node];
      if (!owner && path.startsWith(`${variable}.`)) starts.push([node, path.slice(variable.length + 1)]);
    }
    return starts;
  }

  /**
   * Walks an expression, such as main.rooms["lobby"].last or "list.head  (local of main.work main.go:17)", along the names of
   * strong edges; returns the nodes to which it leads. What an ellipsis leaves out may be any number of edges.
   */
  walk(expression) {
    const ends = new Set(), seen = new Set(), states = [], rests = expression.length + 1;
    const push = (node, rest) => {
      const key = node * rests + rest.length;
      if (seen.has(key)) return;
      seen.add(key);
      states.push([node, rest]);
    };
    for (const [node, rest, owner] of this.beginnings(expression))
      for (const edge of this.edgesOf(node)) {
        if (this.isWeak[edge] || this.kind[this.to[edge]] === 'root') continue;
        for (const text of this.textsOf(edge, node)) {
          if (owner && !text.endsWith(owner)) continue;
          const begin = owner ? text.slice(0, -owner.length) : text;
          if (rest.startsWith(begin)) push(this.to[edge], rest.slice(begin.length));
          if (rest.startsWith(begin) && /^argument of a cleanup/.test(begin) && this.name[this.to[edge]].startsWith('*')) // its box
            for (const inner of this.edgesOf(this.to[edge])) push(this.to[inner], rest.slice(begin.length));
        }
        if (rest.startsWith(' … ')) push(this.to[edge], rest);
      }
    while (states.length > 0) {
      const [node, rest] = states.pop();
      if (rest === '') ends.add(node);
      const leavesOut = rest.startsWith(' … ');
      if (leavesOut) push(node, rest.slice(3));
      for (const edge of this.edgesOf(node)) {
        const to = this.to[edge];
        if (this.isWeak[edge]) continue;
        if (leavesOut || this.isEntries(to) || LINK.test(this.name[node]) || (TRIE_ENTRY.test(this.name[node]) && TRIE_ENTRY.test(this.name[to]))) push(to, rest);
        if (this.name[node] === 'sync.entry') for (const inner of this.edgesOf(to)) push(this.to[inner], rest);
        const step = rest.replace(/^\./, '');
        for (const text of this.textsOf(edge, node))
          if (text !== '' && (text.startsWith('[') ? rest : step).startsWith(text)) push(to, rest.slice(rest.length - (text.startsWith('[') ? rest : step).length + text.length));
      }
    }
    return ends;
  }
}

/** Returns what a report calls a variable without a symbol, which is known by the function that uses it; undefined for others. */
export function unnamedVariable(name) {
  const [, how, user, address] = /^global (set|initialized|used) by (.*?)(?: \S+:\d+)? (\(0x[0-9a-f]+\).*)$/s.exec(name) ?? [];
  return how && `the global ${how} by ${user} ${address}`;
}

/** Returns the line above with which an object below parent is merged: its class again, with none in between that is new. */
function cycleOf(parent, name) {
  const between = new Set();
  let at = parent;
  for (; at?.kind === 'class' && at.name !== name; at = at.parent) between.add(at.name);
  if (at?.kind !== 'class') return undefined;
  for (let above = at.parent; above; above = above.parent) if (above.kind === 'class') between.delete(above.name);
  return between.size === 0 ? at : undefined;
}

/** Returns whether a line is another one or below it. */
export function isBelow(line, top) {
  for (let at = line; at; at = at.parent) if (at === top) return true;
  return false;
}
