// Tests the answers of --mcp with the official clients of the Model Context Protocol, as an agent uses them: a strategy that knows
// nothing of the programs finds each leak of leaks.go in a few calls. TAP on standard output.
//
//   leaks.test.mjs GO2HEAPSNAPSHOT PROGRAM DIRECTORY
//
// PROGRAM is leaks.go, built; the dumps go to DIRECTORY.

import assert from 'node:assert/strict';
import {execFileSync} from 'node:child_process';
import {mkdirSync} from 'node:fs';
import {join} from 'node:path';
import {Client} from '@modelcontextprotocol/sdk/client/index.js';
import {StdioClientTransport} from '@modelcontextprotocol/sdk/client/stdio.js';
import {Client as ModernClient} from '@modelcontextprotocol/client';
import {StdioClientTransport as ModernTransport} from '@modelcontextprotocol/client/stdio';

import {end, test} from '../tap.mjs';

const [program, app, directory] = process.argv.slice(2);
const MOST_CALLS = 6, MOST_BYTES = 4000;

/** What each leak must be found as: the class or the function that multiplies, and the variable or statement to blame. */
const leaks = {
  map: [/^main\.session$/, /^main\.byUser\b/],
  slice: [/^main\.session$/, /^main\.history\b/],
  syncmap: [/^main\.session$/, /^main\.shared\b/],
  list: [/^main\.session$/, /^main\.recent\b/],
  channel: [/^main\.request$/, /^main\.queue\b/],
  chain: [/^main\.session$/, /^main\.chain\b/],
  tree: [/^main\.branch$/, /^main\.index\b/],
  nested: [/^main\.session$/, /^main\.tenants\[/],
  substrings: [/^\(string\)$/, /^main\.prefixes\b/],
  windows: [/^\[\]uint8$/, /^main\.windows\b/],
  field: [/^main\.session$/, /^main\.app\.cache\b/],
  closures: [/^main\.session$/, /^main\.app\.hooks\b/],
  context: [/^main\.session$/, /^main\.root\b/],
  timers: [/^main\.session$/, /\btimers\b/],
  interfaces: [/^main\.session$/, /^main\.boxes\b/],
  senders: [/main\.answer\b/, /^go statement in main\..* leaks\.go:\d+$/],
  receivers: [/main\.await\b/, /^go statement in main\..* leaks\.go:\d+$/],
  lock: [/main\.hold\b/, /^go statement in main\..* leaks\.go:\d+$/],
  defers: [/main\.looping\b/, /\bmain\.looping\b/],
};

/** Connects a client to a server; returns what asks it, counts the calls, and measures the answers. */
async function connect(args, Kind = Client, Transport = StdioClientTransport, options = {}) {
  const client = new Kind({name: 'tests', version: '1'}, options);
  await client.connect(new Transport({command: program, args: ['--mcp', ...args], stderr: 'ignore'}));
  let calls = 0, longest = 0;
  const ask = async (name, given = {}) => {
    calls++;
    const {content: [{text}], isError} = await client.callTool({name, arguments: given});
    assert(!isError, `${name} ${JSON.stringify(given)}: ${text}`);
    longest = Math.max(longest, Buffer.byteLength(text));
    return JSON.parse(text);
  };
  return {client, ask, calls: () => calls, longest: () => longest};
}

const isOwn = name => name?.startsWith('main.');

/**
 * Looks for a leak as an agent would: asks what grew; of objects of the library goes on to the program's own class in them; and reads
 * the path back, which must lead to where it came from.
 */
async function strategy(ask) {
  const {suspects: [suspect], classes} = await ask('growth');
  if (suspect?.is_goroutines) {
    const {goroutines: [first]} = await ask('goroutines');
    assert(suspect.item.includes(first.place), `${first.place} grew most`);
    return {what: suspect.item, holder: suspect.started_by};
  }
  if (suspect?.is_deferred) return {what: suspect.item, holder: suspect.item};
  const own = [...suspect?.each?.parts ?? [], ...classes.filter(row => row.grown > 0)].map(row => row.class);
  const what = suspect && isOwn(suspect.item) ? suspect.item : own.find(isOwn) ?? suspect.item;
  const found = what === suspect?.item ? suspect : (await ask('path', {what})).object;
  const {object} = await ask('path', {what: found.held_by.includes('…') ? found.address : found.held_by});
  assert.equal(object.held_by, found.held_by);
  return {what, holder: found.held_by};
}

for (const [kind, [what, holder]] of Object.entries(leaks)) {
  await test(`${kind}: is found by ${MOST_CALLS} calls`, async () => {
    const at = join(directory, kind);
    mkdirSync(at, {recursive: true});
    execFileSync(app, [kind, at]);
    const {client, ask, calls, longest} = await connect(['--exe', app, '--base', join(at, 'first.dump'), join(at, 'second.dump')]);
    try {
      const found = await strategy(ask);
      assert.match(found.what, what);
      assert.match(found.holder, holder);
      assert(calls() <= MOST_CALLS, `${calls()} calls`);
      assert(longest() <= MOST_BYTES, `an answer has ${longest()} bytes`);
    } finally {
      await client.close();
    }
  });
}

const sample = ['--exe', app, '--base', join(directory, 'map', 'first.dump'), '--values', join(directory, 'map', 'second.dump')];

await test('each tool answers what its schema takes, within its size', async () => {
  const {client, ask, longest} = await connect(sample);
  try {
    const {tools} = await client.listTools();
    const values = {what: 'main.byUser', class: 'main.session', text: 'session', kind: 'maps'};
    assert.deepEqual(tools.map(tool => tool.name), ['summary', 'suspects', 'growth', 'classes', 'path', 'show', 'instances', 'goroutines', 'find', 'waste']);
    for (const {name, inputSchema} of tools)
      await ask(name, Object.fromEntries(Object.keys(inputSchema.properties).filter(key => key in values).map(key => [key, values[key]])));
    assert(longest() <= MOST_BYTES, `an answer has ${longest()} bytes`);
    await client.ping();
    await assert.rejects(client.callTool({name: 'nothing', arguments: {}}), /-32602/);
  } finally {
    await client.close();
  }
});

await test('all pages of a list are the list', async () => {
  const {client, ask} = await connect(sample);
  try {
    const whole = (await ask('instances', {class: 'main.session', bytes: 100000})).instances;
    const pages = [];
    for (let cursor; ;) {
      const page = await ask('instances', {class: 'main.session', bytes: 2000, ...cursor && {cursor}});
      pages.push(...page.instances);
      cursor = page.next_cursor;
      if (!cursor || pages.length >= whole.length) break;
    }
    assert.deepEqual(pages.slice(0, whole.length), whole);
  } finally {
    await client.close();
  }
});

await test('a client of the revision without a handshake', async () => {
  const {client, ask} = await connect(sample, ModernClient, ModernTransport, {versionNegotiation: {mode: 'auto'}});
  try {
    assert.equal((await ask('summary')).server.has_types, true);
    assert.equal((await client.listTools()).tools.length, 10);
    assert.equal(client.getNegotiatedProtocolVersion(), '2026-07-28');
  } finally {
    await client.close();
  }
});

end();
