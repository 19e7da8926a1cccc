// Makes snapshots in the shape of ours by hand, for tests of the tests: it is known what DevTools must say of them.
//
//   handmade.mjs DIR     writes DIR/base.heapsnapshot and DIR/target.heapsnapshot
//
// root -> (GC roots) -> (globals) -> main.leak -> ptr64 #0 -f8-> ptr64 #1 -f8-> … and each ptr64 -f16-> its noptr48
//                    -> (goroutines) -> goroutine 1 [running] -> main.main -> the one noptr1024
// The target has more links at the end of the chain; instead of the noptr1024 it has another one at another address.

import {mkdirSync, realpathSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {meta} from './check-snapshot.mjs';

const typeNumber = Object.fromEntries(meta.node_types[0].map((name, i) => [name, i]));
const edgeNumber = Object.fromEntries(meta.edge_types[0].map((name, i) => [name, i]));

/**
 * Returns the object that JSON.stringify turns into a snapshot, from
 * [{type, name, id, size, edges: [[edge type, name or index, id of the target]…]}…], the root first.
 */
export function snapshotOf(graph) {
  const strings = new Map([['<dummy>', 0]]);
  const stringIndex = text => strings.get(text) ?? (strings.set(text, strings.size), strings.size - 1);
  const position = new Map(graph.map((node, i) => [node.id, i * meta.node_fields.length]));
  const nodes = graph.flatMap(
    ({type, name, id, size, edges}) => [typeNumber[type], stringIndex(name), id, size, edges.length, 0, 0]);
  const edges = graph.flatMap(node => node.edges.flatMap(([type, name, target]) => [
    edgeNumber[type], typeof name === 'number' ? name : stringIndex(name), position.get(target),
  ]));
  return {
    snapshot: {
      meta, node_count: graph.length, edge_count: edges.length / meta.edge_fields.length, trace_function_count: 0,
    },
    nodes, edges, trace_function_infos: [], trace_tree: [], samples: [], locations: [],
    strings: [...strings.keys()],
  };
}

/** Returns the graph described above, with `links` links in the chain and the noptr1024 at id `bufferId`. */
export function chain(links, bufferId) {
  const synthetic = (id, name, edges) => ({type: 'synthetic', name, id, size: 0, edges});
  const linkId = i => 1001 + 16 * i;
  const graph = [
    synthetic(2, '', [['element', 1, 4]]),
    synthetic(4, '(GC roots)', [['element', 1, 6], ['element', 2, 8]]),
    synthetic(6, '(globals)', [['property', 'main.leak', linkId(0)]]),
    synthetic(8, '(goroutines)', [['element', 1, 10]]),
    synthetic(10, 'goroutine 1 [running]', [['element', 0, 12]]),
    synthetic(12, 'main.main', [['property', 'f8', bufferId], ['weak', 'f16', linkId(0)]]),
    {type: 'object', name: 'noptr1024', id: bufferId, size: 1024, edges: []},
  ];
  for (let i = 0; i < links; i++) {
    const edges = [['property', 'f16', linkId(i) + 8]];
    if (i + 1 < links) {
      edges.push(['property', 'f8', linkId(i + 1)]);
    }
    graph.push({type: 'object', name: 'ptr64', id: linkId(i), size: 64, edges});
    graph.push({type: 'object', name: 'noptr48', id: linkId(i) + 8, size: 48, edges: []});
  }
  return snapshotOf(graph);
}

/** The pair that the tests use. */
export const pair = {base: () => chain(5, 501), target: () => chain(205, 777)};

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const directory = process.argv[2];
  mkdirSync(directory, {recursive: true});
  for (const [name, make] of Object.entries(pair)) {
    writeFileSync(join(directory, `${name}.heapsnapshot`), JSON.stringify(make()));
  }
}
