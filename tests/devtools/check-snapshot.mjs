// Checks that snapshots keep every promise that docs/ makes on their shape, and that DevTools loads them without a warning.
//
//   check-snapshot.mjs FILE...                one line of TAP for each promise and file
//   check-snapshot.mjs --quiet --dir DIR      one line of TAP for all *.heapsnapshot below DIR; failures as comments
//   --foreign                                 leaves out promises that only our own files keep (V8's use other ids and roots)
//
// Each file is read twice: by JSON.parse, which knows nothing of DevTools, and by DevTools itself.

import {readdirSync, readFileSync, realpathSync} from 'node:fs';
import {constants} from 'node:buffer';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {isDeepStrictEqual} from 'node:util';
import {loadSnapshot} from './devtools.mjs';

/** The meta object that V8 writes (heap-snapshot-generator.cc, HeapSnapshotJSONSerializer::SerializeSnapshot). */
export const meta = {
  node_fields: ['type', 'name', 'id', 'self_size', 'edge_count', 'trace_node_id', 'detachedness'],
  node_types: [
    ['hidden', 'array', 'string', 'object', 'code', 'closure', 'regexp', 'number', 'native', 'synthetic',
      'concatenated string', 'sliced string', 'symbol', 'bigint', 'object shape'],
    'string', 'number', 'number', 'number', 'number', 'number',
  ],
  edge_fields: ['type', 'name_or_index', 'to_node'],
  edge_types: [
    ['context', 'element', 'property', 'internal', 'hidden', 'shortcut', 'weak'],
    'string_or_number', 'node',
  ],
  trace_function_info_fields: ['function_id', 'name', 'script_name', 'script_id', 'line', 'column'],
  trace_node_fields: ['id', 'function_info_index', 'count', 'size', 'children'],
  sample_fields: ['timestamp_us', 'last_assigned_id'],
  location_fields: ['object_index', 'script_id', 'line', 'column'],
};

const nodeFields = meta.node_fields.length;
const edgeFields = meta.edge_fields.length;
const [typeField, nameField, idField, sizeField, edgeCountField] = [0, 1, 2, 3, 4];
const objectType = meta.node_types[0].indexOf('object');
const syntheticType = meta.node_types[0].indexOf('synthetic');
const weakEdge = meta.edge_types[0].indexOf('weak');
// Edges of these types have a number where the others have a string.
const numberedEdges = ['element', 'hidden'].map(type => meta.edge_types[0].indexOf(type));

class Broken extends Error {}

/** Collects what is wrong; throwIfAny() throws with the first few examples. */
class Complaints {
  #examples = [];
  #count = 0;

  add(makeText) {
    if (this.#count++ < 3) {
      this.#examples.push(makeText());
    }
  }

  throwIfAny() {
    if (this.#count > 0) {
      throw new Broken(this.#examples.join('; ') + (this.#count > 3 ? `; … ${this.#count} in all` : ''));
    }
  }
}

function expect(condition, text) {
  if (!condition) {
    throw new Broken(text);
  }
}

/**
 * The promises, in an order in which each may rely on the ones before it. Those with `ours` bind our own snapshots only.
 */
const promises = [
  {
    name: 'is one JSON document in valid UTF-8',
    check(context) {
      const text = new TextDecoder('utf-8', {fatal: true, ignoreBOM: true}).decode(context.bytes);
      const file = JSON.parse(text);
      Object.assign(context, {
        header: file.snapshot, nodes: file.nodes, edges: file.edges, strings: file.strings,
        nodeCount: file.nodes.length / nodeFields, edgeCount: file.edges.length / edgeFields,
      });
    },
  },
  {
    name: 'has the lists of fields and types that V8 writes',
    ours: true,
    check({header}) {
      for (const key of new Set([...Object.keys(meta), ...Object.keys(header.meta)])) {
        expect(isDeepStrictEqual(header.meta[key], meta[key]), `meta.${key} is ${JSON.stringify(header.meta[key])}`);
      }
    },
  },
  {
    name: 'has as many nodes and edges as its header says',
    check({header, nodes, edges, nodeCount, edgeCount}) {
      expect(header.node_count === nodeCount, `node_count ${header.node_count}, but ${nodes.length} cells`);
      expect(header.edge_count === edgeCount, `edge_count ${header.edge_count}, but ${edges.length} cells`);
      let sum = 0;
      for (let node = 0; node < nodes.length; node += nodeFields) {
        sum += nodes[node + edgeCountField];
      }
      expect(sum === edgeCount, `the nodes' edge counts make ${sum}, there are ${edgeCount} edges`);
    },
  },
  {
    name: 'has whole numbers below 2^32 only, and types and strings that exist',
    check({nodes, edges, strings}) {
      const complaints = new Complaints();
      for (const [what, cells] of [['nodes', nodes], ['edges', edges]]) {
        for (let i = 0; i < cells.length; i++) {
          if (cells[i] !== cells[i] >>> 0) complaints.add(() => `${what}[${i}] is ${cells[i]}`);
        }
      }
      for (let node = 0; node < nodes.length; node += nodeFields) {
        if (nodes[node + typeField] >= meta.node_types[0].length || nodes[node + nameField] >= strings.length) {
          complaints.add(() => `node ${nodes.slice(node, node + nodeFields)}`);
        }
      }
      for (let edge = 0; edge < edges.length; edge += edgeFields) {
        const type = edges[edge];
        if (type >= meta.edge_types[0].length ||
            !numberedEdges.includes(type) && edges[edge + 1] >= strings.length) {
          complaints.add(() => `edge ${edges.slice(edge, edge + edgeFields)}`);
        }
      }
      complaints.throwIfAny();
    },
  },
  {
    name: 'has a name for each node and edge that is none of V8\'s "<dummy>"',
    ours: true,
    check({nodes, edges, strings}) {
      const complaints = new Complaints();
      const dummy = strings.indexOf('<dummy>');
      for (let node = 0; node < nodes.length; node += nodeFields) {
        if (nodes[node + nameField] === dummy) complaints.add(() => `node ${nodes.slice(node, node + nodeFields)}`);
      }
      for (let edge = 0; edge < edges.length; edge += edgeFields) {
        if (!numberedEdges.includes(edges[edge]) && edges[edge + 1] === dummy) {
          complaints.add(() => `edge ${edges.slice(edge, edge + edgeFields)}`);
        }
      }
      complaints.throwIfAny();
    },
  },
  {
    name: 'has edges to nodes only',
    check({edges, nodes}) {
      const complaints = new Complaints();
      for (let edge = 2; edge < edges.length; edge += edgeFields) {
        if (edges[edge] % nodeFields !== 0 || edges[edge] >= nodes.length) {
          complaints.add(() => `edge ${(edge - 2) / edgeFields} leads to ${edges[edge]}`);
        }
      }
      complaints.throwIfAny();
    },
  },
  {
    name: 'has no string twice',
    ours: true,
    check({strings}) {
      const complaints = new Complaints();
      const seen = new Set();
      for (const string of strings) {
        if (typeof string !== 'string' || seen.has(string)) complaints.add(() => JSON.stringify(string));
        seen.add(string);
      }
      complaints.throwIfAny();
    },
  },
  {
    name: 'has ids that are unique',
    check({nodes}) {
      const ids = new Uint32Array(nodes.length / nodeFields);
      for (let i = 0; i < ids.length; i++) {
        ids[i] = nodes[i * nodeFields + idField];
      }
      ids.sort();
      const complaints = new Complaints();
      for (let i = 0; i < ids.length; i++) {
        if (ids[i] === 0 || i > 0 && ids[i] === ids[i - 1]) complaints.add(() => `id ${ids[i]}`);
      }
      complaints.throwIfAny();
    },
  },
  {
    name: 'has odd ids for objects and even ones for synthetic nodes',
    ours: true,
    check({nodes, strings}) {
      const complaints = new Complaints();
      for (let node = 0; node < nodes.length; node += nodeFields) {
        const type = nodes[node + typeField];
        if (type === objectType && nodes[node + idField] % 2 !== 1 ||
            type === syntheticType && nodes[node + idField] % 2 !== 0) {
          complaints.add(() =>
            `${meta.node_types[0][type]} ${strings[nodes[node + nameField]]} @${nodes[node + idField]}`);
        }
      }
      complaints.throwIfAny();
    },
  },
  {
    name: 'has a synthetic root with synthetic children only',
    ours: true,
    check({nodes, edges}) {
      expect(nodes[typeField] === syntheticType, 'the root is not synthetic');
      for (let edge = 0; edge < nodes[edgeCountField] * edgeFields; edge += edgeFields) {
        expect(nodes[edges[edge + 2] + typeField] === syntheticType, `edge ${edge / edgeFields} of the root`);
      }
    },
  },
  {
    name: 'has a way from the root to every node',
    ours: true,
    check({nodes, edges, nodeCount, strings}) {
      const firstEdge = new Uint32Array(nodeCount + 1);
      for (let i = 0; i < nodeCount; i++) {
        firstEdge[i + 1] = firstEdge[i] + nodes[i * nodeFields + edgeCountField] * edgeFields;
      }
      const seen = new Uint8Array(nodeCount);
      const queue = new Uint32Array(nodeCount);
      let length = 1;
      seen[0] = 1;
      for (let i = 0; i < length; i++) {
        for (let edge = firstEdge[queue[i]]; edge < firstEdge[queue[i] + 1]; edge += edgeFields) {
          const target = edges[edge + 2] / nodeFields;
          if (edges[edge] !== weakEdge && !seen[target]) {
            seen[target] = 1;
            queue[length++] = target;
          }
        }
      }
      const complaints = new Complaints();
      seen.forEach((reached, i) => reached || complaints.add(
        () => `${strings[nodes[i * nodeFields + nameField]]} @${nodes[i * nodeFields + idField]}`));
      complaints.throwIfAny();
    },
  },
  {
    name: 'loads in DevTools',
    async check(context) {
      context.snapshot = await loadSnapshot(context.bytes);
    },
  },
  {
    name: 'loads without a warning',
    ours: true,
    check({snapshot}) {
      expect(snapshot.problems.length === 0, snapshot.problems.join('; '));
    },
  },
  {
    name: 'shows as many nodes, edges and bytes in DevTools',
    check({snapshot, header, nodes, nodeCount, edgeCount}) {
      expect(snapshot.nodeCount === nodeCount, `${snapshot.nodeCount} nodes in DevTools, ${nodeCount} in the file`);
      expect(snapshot.edgeCount === edgeCount, `${snapshot.edgeCount} edges in DevTools, ${edgeCount} in the file`);
      let bytes = header.extra_native_bytes ?? 0;
      for (let node = 0; node < nodes.length; node += nodeFields) {
        bytes += nodes[node + sizeField];
      }
      expect(snapshot.totalSize === bytes, `${snapshot.totalSize} bytes in DevTools, ${bytes} in the file`);
    },
  },
  {
    name: 'has a distance for every node in DevTools',
    ours: true,
    check({snapshot}) {
      const complaints = new Complaints();
      for (let ordinal = 0; ordinal < snapshot.nodeCount; ordinal++) {
        // Very large distances mark nodes that are not reachable; those of DevTools itself start at 100,000,000.
        const distance = snapshot.worker.nodeDistances[ordinal];
        if (distance < 0 || distance >= 100_000_000) complaints.add(() => `${snapshot.node(ordinal)}`);
      }
      complaints.throwIfAny();
    },
  },
  {
    name: 'has stacks that retain as much as their goroutines',
    ours: true,
    check({snapshot}) {
      const complaints = new Complaints();
      for (const stack of snapshot.nodes()) {
        const goroutine = stack.type === 'native' && stack.edgeCount > 0 ? stack.retainers().find(edge => edge.name === 'stack')?.source : undefined;
        if (/^goroutine \d/.test(goroutine?.name) && goroutine.retainedSize !== stack.retainedSize) complaints.add(() => `${stack}: ${stack.retainedSize}, ${goroutine}: ${goroutine.retainedSize}`);
      }
      complaints.throwIfAny();
    },
  },
  {
    name: 'has event handlers for finalizers and cleanups',
    ours: true,
    check({snapshot}) {
      const complaints = new Complaints();
      const all = [...snapshot.nodes()], isFolded = snapshot.header.go2heapsnapshot?.folded_nodes > 0;
      if (isFolded || !all.some(node => node.name.startsWith('system / NativeContext / '))) return;
      const handled = new Set(all.filter(node => node.name === 'V8EventListener').map(node => node.follow('1').ordinal));
      for (const node of all) {
        const isGroup = node.type === 'synthetic' && /^\((queued )?finalizers\)$|^\(cleanups\)$/.test(node.name);
        if (isGroup && !handled.has(node.ordinal)) complaints.add(() => `${node}: no event handler`);
      }
      complaints.throwIfAny();
    },
  },
  {
    name: 'has rows for 99 % of what each package holds',
    ours: true,
    check({snapshot}) {
      const complaints = new Complaints(), isFolded = snapshot.header.go2heapsnapshot?.folded_nodes > 0;
      if (isFolded || snapshot.nodesByName('(globals)').length === 0 || ![...snapshot.nodes()].some(node => node.name.startsWith('system / NativeContext / '))) return;
      for (const {target: of} of snapshot.nodesByName('(globals)')[0].edges()) {
        const rows = new Map(of.edges().filter(({target}) => target.dominator.id === of.id).map(({target}) => [target.id, target.retainedSize]));
        const missing = of.retainedSize - [...rows.values()].reduce((sum, size) => sum + size, 0);
        if (!/^(data|bss)$/.test(of.name) && missing > of.retainedSize / 100) complaints.add(() => `${of}: ${missing} of ${of.retainedSize}`);
      }
      complaints.throwIfAny();
    },
  },
  {
    // The parser of VS Code (@vscode/v8-heap-parser 0.1.0) writes beyond its list of dominated nodes otherwise.
    name: 'ends in a node that dominates nothing',
    ours: true,
    check({snapshot}) {
      const complaints = new Complaints(), nodes = [...snapshot.nodes()], last = nodes.at(-1);
      if (!nodes.some(node => node.name.startsWith('system / NativeContext / '))) return;
      for (const node of nodes) if (node.dominator?.id === last.id) complaints.add(() => `${node}`);
      complaints.throwIfAny();
    },
  },
  {
    // The order of the Retainers pane (HeapSnapshotRetainingObjectNode.comparator): by distance, then the largest retained size.
    name: 'has frames after all other retainers at the same distance',
    ours: true,
    check({snapshot}) {
      const complaints = new Complaints();
      const isFrame = ({source}) => source.type === 'synthetic' && source.retainers().some(edge => edge.type === 'element' && edge.source.type === 'native');
      for (const node of snapshot.nodes()) {
        if (node.type !== 'object') continue;
        const retainers = node.retainers().filter(edge => edge.type !== 'weak');
        if (retainers.length < 2) continue;
        const least = Math.min(...retainers.map(edge => edge.source.distance ?? Infinity));
        const first = retainers.filter(edge => edge.source.distance === least).sort((a, b) => b.source.retainedSize - a.source.retainedSize);
        if (isFrame(first[0]) && !first.every(isFrame)) complaints.add(() => `${node}`);
      }
      complaints.throwIfAny();
    },
  },
];

/**
 * Checks one snapshot, a path or a Buffer. Returns [{name, problem}], a row for each promise; problem is null if the
 * promise is kept. If a broken promise leaves the later ones without a basis, they are not checked, and their rows say so.
 */
export async function checkSnapshot(pathOrBuffer, {foreign = false} = {}) {
  const context = {bytes: typeof pathOrBuffer === 'string' ? readFileSync(pathOrBuffer) : pathOrBuffer};
  if (context.bytes.length > constants.MAX_STRING_LENGTH) {
    throw new Error(`${context.bytes.length} bytes are more than JSON.parse can take: load it with devtools.mjs`);
  }
  const rows = [];
  let hopeless = false;
  for (const {name, ours, check} of promises) {
    if (ours && foreign) {
      continue;
    }
    let problem = null;
    if (hopeless) {
      problem = 'not looked at';
    } else {
      try {
        await check(context);
      } catch (error) {
        problem = error.message || String(error);
        // Any other error than a Broken means that there is nothing to check, or that the checks cannot make sense of it.
        hopeless = !(error instanceof Broken);
      }
    }
    rows.push({name, problem});
  }
  return rows;
}

function* filesBelow(directory) {
  for (const entry of readdirSync(directory, {withFileTypes: true}).sort((a, b) => a.name < b.name ? -1 : 1)) {
    const path = join(directory, entry.name);
    if (entry.isDirectory()) {
      yield* filesBelow(path);
    } else if (entry.name.endsWith('.heapsnapshot')) {
      yield path;
    }
  }
}

const oneLine = text => text.replace(/\s*\n\s*/g, ' ').replaceAll('#', '\\#');

async function main(words) {
  let quiet = false;
  let foreign = false;
  const files = [];
  const directories = [];
  for (let i = 0; i < words.length; i++) {
    if (words[i] === '--quiet') quiet = true;
    else if (words[i] === '--foreign') foreign = true;
    else if (words[i] === '--dir' && i + 1 < words.length) directories.push(words[++i]);
    else if (words[i].startsWith('-')) files.length = directories.length = 0, i = words.length;
    else files.push(words[i]);
  }
  for (const directory of directories) {
    files.push(...filesBelow(directory));
  }
  if (files.length === 0 && directories.length === 0) {
    console.error('usage: check-snapshot.mjs [--quiet] [--foreign] [--dir DIR] FILE...');
    return 2;
  }

  let tests = 0;
  let bad = 0;
  for (const file of files) {
    const rows = await checkSnapshot(file, {foreign}).catch(
      error => [{name: 'can be checked', problem: error.message}]);
    const problems = rows.filter(row => row.problem !== null);
    bad += problems.length > 0;
    for (const {name, problem} of quiet ? problems : rows) {
      if (quiet) {
        if (problem !== 'not looked at') console.log(`# ${file}: not so: ${name}: ${oneLine(problem)}`);
      } else {
        console.log(`${problem === null ? 'ok' : 'not ok'} ${++tests} - ${file} ${name}`);
        if (problem !== null) console.log(`# ${oneLine(problem)}`);
      }
    }
  }
  if (quiet) {
    // If there is no file at all, the program that should have made them did not.
    const result = bad === 0 && files.length > 0 ? 'ok' : 'not ok';
    console.log(`${result} ${++tests} - ${files.length - bad} of ${files.length} snapshots keep every promise`);
    bad += files.length === 0;
  }
  console.log(`1..${tests}`);
  return bad === 0 ? 0 : 1;
}

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  process.exitCode = await main(process.argv.slice(2));
}
