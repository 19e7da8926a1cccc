// An agent that knows nothing of --mcp but the list of its tools: it asks what that list says to ask first, and goes on with what the
// answers name. Prints a line for each leak: how many calls it took, what multiplies, what holds it, and what in turn shows that.
//
//   agent.mjs GO2HEAPSNAPSHOT ARGUMENT... DUMP
//
// Each question must fit the schema of its tool, and each answer must be one, in at most 4,000 bytes.

import assert from 'node:assert/strict';
import {spawn} from 'node:child_process';
import process from 'node:process';
import {createInterface} from 'node:readline';

const [program, ...given] = process.argv.slice(2);

/** A server, and what counts the calls to it. */
class Server {
  calls = 0;
  #waiting = new Map();
  #process = spawn(program, ['--mcp', ...given], {stdio: ['pipe', 'pipe', 'ignore']});

  constructor() {
    createInterface({input: this.#process.stdout}).on('line', line => {
      const answer = JSON.parse(line);
      this.#waiting.get(answer.id)?.(answer);
    });
    this.#process.on('exit', status => { for (const answer of this.#waiting.values()) answer({error: `the server ended with status ${status}`}); });
  }

  async request(method, params) {
    const id = this.#waiting.size, answer = new Promise(resolve => this.#waiting.set(id, resolve));
    this.#process.stdin.write(`${JSON.stringify({jsonrpc: '2.0', id, method, params})}\n`);
    const {result, error} = await answer;
    assert.equal(error, undefined, JSON.stringify(error));
    return result;
  }

  async begin() {
    await this.request('initialize', {protocolVersion: '2025-11-25', capabilities: {}, clientInfo: {name: 'agent', version: '1'}});
    this.calls++;
    this.tools = (await this.request('tools/list')).tools;
  }

  /** The tool whose description has these words. */
  tool(words) {
    const found = this.tools.filter(({description}) => words.test(description));
    assert.equal(found.length, 1, `one tool is about ${words}: ${found.map(({name}) => name)}`);
    return found[0];
  }

  async ask(tool, what) {
    const {properties, required = []} = tool.inputSchema, [key] = required, questions = what === undefined ? {} : {[key]: what};
    assert.ok(what === undefined ? required.length === 0 : required.length === 1 && properties[key].type === 'string', tool.name);
    this.calls++;
    const {content: [{text}], isError} = await this.request('tools/call', {name: tool.name, arguments: questions});
    assert.ok(!isError, `${tool.name} ${JSON.stringify(questions)}: ${text}`);
    assert.ok(Buffer.byteLength(text) <= 4000, `${tool.name} ${JSON.stringify(questions)}: ${Buffer.byteLength(text)} bytes`);
    return JSON.parse(text);
  }

  end() { this.#process.kill(); }
}

const isCut = expression => !expression || expression.includes('…');

/** Follows one of the suspects to what holds it, and asks back what it was told. */
async function follow(number) {
  const server = new Server();
  await server.begin();
  const hasBase = given.includes('--base');
  const first = await server.ask(server.tool(hasBase ? /The first thing to ask if there is a base/ : /The first thing to ask of a single heap/));
  const suspect = first.suspects[number], path = server.tool(/Why an object cannot be collected/);
  if (!suspect) return server.end();
  let holder = suspect.held_by, seen = [];
  if (suspect.is_goroutines) {
    const {goroutines} = await server.ask(server.tool(/^Where goroutines are/)), place = suspect.item.replace(/^goroutines? /, '');
    const row = goroutines.find(one => one.place === place);
    assert.ok(row, `${place} is in the list of goroutines`);
    holder = suspect.started_by ?? row.started_at;
    await server.ask(path, suspect.item);
    seen = [suspect.wait_on ?? suspect.waited?.paths ?? '', row.leaked > 0 ? `${row.leaked} leaked` : ''];
    if (suspect.waited && !isCut(suspect.waited.paths) && !suspect.waited.paths.includes(', ')) await server.ask(path, suspect.waited.paths);
  } else {
    const {object} = await server.ask(path, suspect.item);
    if (isCut(holder)) holder = object.held_by ?? object.holders?.[0]?.holder;
    if (!isCut(suspect.example ?? holder)) await server.ask(path, suspect.example ?? holder);
    if (!isCut(holder) && given.includes('--values')) await server.ask(server.tool(/^The values in an object/), holder);
  }
  console.log([`${server.calls} calls`, suspect.item, holder, ...seen.filter(Boolean)].join(' | '));
  server.end();
  return true;
}

for (let i = 0; await follow(i);) i++;
