// A reader of .heapsnapshot files: nodes and edges as plain objects, fields looked up by the names in "meta".
import fs from 'node:fs';
import zlib from 'node:zlib';

/**
 * Returns {text, json, header, meta, nodes, edges, problems}, without DevTools' native contexts and event handlers and groups of finalizers, of which
 * no dump knows, and without edges to or from them. A node is {ordinal, type, name, id, size, edges: [...]}, an edge is
 * {from, type, label, to} where label is a string, or a number for element and hidden edges. `problems` lists
 * whatever does not add up in the file itself.
 */
export function load(path) {
  let bytes = fs.readFileSync(path);
  if (bytes[0] === 0x1f && bytes[1] === 0x8b) bytes = zlib.gunzipSync(bytes);
  const problems = [];
  let text;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    problems.push('the file is not valid UTF-8');
    text = bytes.toString('utf8');
  }
  const json = JSON.parse(text);
  const header = json.snapshot;
  const meta = header.meta;

  const N = Object.fromEntries(meta.node_fields.map((name, i) => [name, i]));
  const E = Object.fromEntries(meta.edge_fields.map((name, i) => [name, i]));
  const width = meta.node_fields.length;
  const edgeWidth = meta.edge_fields.length;
  const nodeTypes = meta.node_types[N.type];
  const edgeTypes = meta.edge_types[E.type];

  const expect = (what, actual, expected) => {
    if (actual !== expected) problems.push(`${what} is ${actual}, should be ${expected}`);
  };
  expect('node_types.length', meta.node_types.length, width);
  expect('edge_types.length', meta.edge_types.length, edgeWidth);
  expect('nodes.length', json.nodes.length, header.node_count * width);
  expect('edges.length', json.edges.length, header.edge_count * edgeWidth);

  const string = (index, where) => {
    const s = json.strings[index];
    if (s === undefined) problems.push(`${where}: no string ${index}`);
    return s ?? '';
  };
  const cell = (value, where) => {
    if (!Number.isInteger(value) || value < 0 || value >= 2 ** 32) problems.push(`${where}: ${value} is no 32-bit number`);
    return value;
  };

  const nodes = [];
  const edges = [];
  for (let i = 0; i * width < json.nodes.length; i++) {
    const at = i * width;
    for (let k = 0; k < width; k++) cell(json.nodes[at + k], `node ${i}`);
    nodes.push({ ordinal: i, type: nodeTypes[json.nodes[at + N.type]], name: string(json.nodes[at + N.name], `node ${i}`),
      id: json.nodes[at + N.id], size: json.nodes[at + N.self_size], count: json.nodes[at + N.edge_count], edges: [] });
    if (nodes[i].type === undefined) problems.push(`node ${i}: type ${json.nodes[at + N.type]}`);
  }
  let next = 0;
  for (const node of nodes) {
    for (let k = 0; k < node.count; k++, next++) {
      const at = next * edgeWidth;
      if (at >= json.edges.length) break;
      for (let j = 0; j < edgeWidth; j++) cell(json.edges[at + j], `edge ${next}`);
      const type = edgeTypes[json.edges[at + E.type]];
      const value = json.edges[at + E.name_or_index];
      const to = json.edges[at + E.to_node];
      if (type === undefined || to % width !== 0 || !nodes[to / width]) {
        problems.push(`edge ${next}: type ${json.edges[at + E.type]}, to ${to}`);
        continue;
      }
      const edge = { from: node, type, to: nodes[to / width],
        label: type === 'element' || type === 'hidden' ? value : string(value, `edge ${next}`) };
      node.edges.push(edge);
      edges.push(edge);
    }
  }
  expect('sum of edge counts', next, header.edge_count);
  const isContext = (node) => node.name.startsWith('system / NativeContext / ') || isHandler(node) || isGroup(node);
  for (const node of nodes) {
    if (!node.edges.some((e) => isGroup(e.to))) continue;
    node.edges = node.edges.flatMap((e) => (isGroup(e.to) ? e.to.edges.map((member) => ({ ...member, from: node })) : [e]));
  }
  for (const node of nodes) {
    if (isContext(node) && !isHandler(node) && !isGroup(node) && node.edges.some((e) => e.to !== node)) problems.push(`${node.name} leads somewhere`);
    if (node.edges.some((e) => isContext(e.to))) node.edges = node.edges.filter((e) => !isContext(e.to));
  }
  while (nodes.length > 0 && isContext(nodes.at(-1))) nodes.pop();
  return { text, json, header, meta, nodes, edges: nodes.flatMap((node) => node.edges), problems, root: nodes[(header.root_index ?? 0) / width] };
}

/** Whether a node is only there for DevTools' filter of event handlers. */
const isHandler = (node) => node.type === 'synthetic' && (node.name === '(event handlers)' || node.name === 'V8EventListener');

/** Whether a node is the group of finalizers of one class and function, or of timers with one function. The loader puts these where they would be without. */
const isGroup = (node) => node.type === 'synthetic' && /^[\d,]+ (finalizers( of |$| \()|timers (calling|of|with) )/.test(node.name);

/** Nodes reached from `start` over strong edges, never entering a node of `closed`. */
export function reach(start, closed = new Set()) {
  const seen = new Set([start]);
  const queue = [start];
  for (let i = 0; i < queue.length; i++) {
    for (const e of queue[i].edges) {
      if (e.type === 'weak' || closed.has(e.to) || seen.has(e.to)) continue;
      seen.add(e.to);
      queue.push(e.to);
    }
  }
  return seen;
}
