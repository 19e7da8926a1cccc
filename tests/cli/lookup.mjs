// Asks --mcp, by its tools path and show, for everything that a report of the same heap prints: expressions, classes, locations, lines of
// code, go statements, nodes of the tree, addresses. Prints a line for each that is not found, and for a map whose entries are said wrongly; the last line says how many were asked.
//
//   lookup.mjs GO2HEAPSNAPSHOT TOOLS OPTION... DUMP      TOOLS: path,show, or path alone if there are no types

import {execFileSync, spawnSync} from 'node:child_process';

const [program, tools, ...args] = process.argv.slice(2);
/** Members of the JSON whose strings a reader may ask for. The functions of allocated_by are code, not memory. */
const members = new Set(['item', 'class', 'held_by', 'example', 'address', 'waits_at', 'started_by', 'started_at', 'place', 'runs', 'name', 'of', 'wait_on']);
const run = given => execFileSync(program, ['--json', '--full', ...given, ...args], {stdio: ['ignore', 'pipe', 'ignore'], maxBuffer: 1 << 28});
const asked = new Map();
const collect = (value, key, path) => {
  if (Array.isArray(value)) value.forEach(element => collect(element, key, path));
  else if (value && typeof value === 'object') Object.entries(value).forEach(([name, member]) => collect(member, name, `${path}.${name}`));
  else if (typeof value === 'string' && members.has(key) && !value.includes('…') && !path.endsWith('fields.name')) asked.set(value, path);
};
const report = JSON.parse(run([]));
collect(report, '', '');
/* What is said about the first suspects is asked for, too: steps, fields, holders. */
for (const {item, held_by: held} of report.suspects.slice(0, 3))
  for (const what of [item, held].filter(what => what && !what.includes('…'))) collect(JSON.parse(run(['--path-to', what])), '', 'path-to');

/* A container says as many entries as the container itself has. */
for (const {held_by: held, container} of tools.includes('show') ? report.suspects.filter(({container, held_by: held}) => container?.kind === 'map' && !held.includes('…')) : []) {
  const {object} = JSON.parse(run(['--show', held]));
  if (object?.entry_count !== container.entries) console.log(`${held} has ${object?.entry_count} entries, not ${container.entries}`);
}

const list = [...asked.keys()], names = tools.split(',');
const request = (id, method, params) => JSON.stringify({jsonrpc: '2.0', id, method, params});
const lines = [request('begin', 'initialize', {protocolVersion: '2025-11-25', capabilities: {}, clientInfo: {name: 'test', version: '1'}}),
  ...list.flatMap((what, i) => names.map(name => request(`${name} ${i}`, 'tools/call', {name, arguments: {what}})))];
const {stdout} = spawnSync(program, ['--mcp', '--values', ...args], {input: `${lines.join('\n')}\n`, stdio: ['pipe', 'pipe', 'ignore'], maxBuffer: 1 << 28});
const answers = new Map(stdout.toString().trim().split('\n').map(line => JSON.parse(line)).map(({id, result}) => [id, result]));
list.forEach((what, i) => {
  for (const name of names) {
    const answer = answers.get(`${name} ${i}`);
    if (!answer || answer.isError) console.log(`${name}: ${asked.get(what)}: ${what}: ${answer?.content[0].text ?? 'no answer'}`);
  }
});
console.log(`asked ${list.length}`);
