// Tests --mcp with twenty clients that send damaged messages: every line that it prints must be a message, it must answer a good
// request at the end, and end with status 0. TAP on standard output.
//
//   rude.test.mjs GO2HEAPSNAPSHOT DUMP

import assert from 'node:assert/strict';
import {execFile} from 'node:child_process';

import {end, test} from '../tap.mjs';

const [program, dump] = process.argv.slice(2);
const CLIENTS = 20, MESSAGES = 200;

/** Returns random numbers, the same for the same seed: mulberry32. */
function dice(seed) {
  return most => {
    seed = seed + 0x6d2b79f5 | 0;
    let t = Math.imul(seed ^ seed >>> 15, 1 | seed);
    t = t + Math.imul(t ^ t >>> 7, 61 | t) ^ t;
    return ((t ^ t >>> 14) >>> 0) % most;
  };
}

const names = ['summary', 'suspects', 'classes', 'path', 'instances', 'goroutines', 'find', 'waste', 'show', 'x'];
const texts = ['main.Session', '0x3374cc1b49a8', '0xffffffffffffffffff', '[]', 'main.previews.byName["x', '(string)', '', 'a.b[', '\u0000', '💥'.repeat(500), '(', 'main.previews.byName[0]', 'goroutine 1'];
const good = roll => ({jsonrpc: '2.0', id: roll(1000), method: 'tools/call', params: {name: names[roll(names.length)],
  arguments: {what: texts[roll(texts.length)], class: texts[roll(texts.length)], text: texts[roll(texts.length)], rows: roll(5), bytes: roll(9000), cursor: `${roll(99)}-${roll(99)}`}}});

/** Makes a message: one with few arguments, and then perhaps one whose bytes are changed, cut or doubled. */
function message(roll) {
  const asked = good(roll), given = asked.params.arguments;
  for (const key of Object.keys(given)) if (roll(3) > 0) delete given[key];
  const bytes = Buffer.from(JSON.stringify(asked));
  for (let i = roll(4); i > 0; i--) bytes[roll(bytes.length)] = roll(256);
  return [bytes, bytes.subarray(0, roll(bytes.length)), Buffer.concat([bytes, bytes]), Buffer.alloc(roll(70), '[{"'[roll(3)])][roll(8)] ?? bytes;
}

for (let client = 0; client < CLIENTS; client++)
  await test(`damaged messages, client ${client}`, async () => {
    const roll = dice(client), lines = [];
    if (client % 4 > 0) lines.push(Buffer.from('{"jsonrpc":"2.0","id":"begin","method":"initialize","params":{"protocolVersion":"2025-11-25"}}'));
    for (let i = 0; i < MESSAGES; i++) lines.push(message(roll));
    lines.push(Buffer.from('{"jsonrpc":"2.0","id":"end","method":"ping"}'));
    const input = Buffer.concat(lines.flatMap(line => [line, Buffer.from('\n')]));
    const {code, stdout} = await new Promise(resolve => {
      const child = execFile(program, ['--mcp', dump], {encoding: 'buffer', maxBuffer: 1 << 28}, (error, out) => resolve({code: error ? error.code ?? error.signal : 0, stdout: out}));
      child.stdin.end(input);
    });
    assert.equal(code, 0);
    const answers = new TextDecoder('utf-8', {fatal: true}).decode(stdout).split('\n').slice(0, -1).map(line => JSON.parse(line));
    for (const answer of answers) {
      assert.equal(answer.jsonrpc, '2.0');
      assert('id' in answer && ('result' in answer) !== ('error' in answer), JSON.stringify(answer));
    }
    assert.deepEqual(answers.at(-1), {jsonrpc: '2.0', id: 'end', result: {}});
    assert(answers.length > MESSAGES / 4, `${answers.length} answers`);
  });
end();
