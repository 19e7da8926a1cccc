// Asks a heap many questions in one process, which reads it once: a session of --mcp.

import assert from 'node:assert/strict';
import {execFileSync, spawnSync} from 'node:child_process';

/**
 * Asks questions, each of which is the name of a tool and what it asks of, of the heap of some arguments. Returns the answers, with the
 * members that --path-to and --show have in the report's JSON; what cannot be answered is {error}.
 */
export function ask(program, options, questions) {
  const calls = questions.map(([name, what], i) => ({id: i + 1, method: 'tools/call', params: {name, arguments: {what, rows: 100_000, bytes: 100_000}}}));
  const input = [{id: 0, method: 'initialize', params: {protocolVersion: '2025-11-25'}}, ...calls].map(each => `${JSON.stringify({jsonrpc: '2.0', ...each})}\n`).join('');
  const {status, stdout, stderr} = spawnSync(program, ['--mcp', '--values', ...options], {input, encoding: 'utf8', maxBuffer: 1 << 30});
  assert.equal(status, 0, stderr);
  const answers = new Map(stdout.trim().split('\n').map(line => JSON.parse(line)).map(({id, result, error}) => [id, result ?? {isError: true, content: [{text: error.message}]}]));
  return calls.map(({id}) => {
    const {isError, content: [{text}]} = answers.get(id), answer = isError ? {error: text} : JSON.parse(text);
    return /_left_out":|"next_cursor":/.test(text) ? askAlone(program, options, ...questions[id - 1]) : answer;
  });
}

/** Asks a question whose answer is larger than those of a session. */
function askAlone(program, options, name, what) {
  const words = ['--format', 'report', '--json', {path: '--path-to', show: '--show'}[name], what];
  return JSON.parse(execFileSync(program, [...words, ...options], {encoding: 'utf8', maxBuffer: 1 << 30, stdio: ['ignore', 'pipe', 'ignore']}));
}
