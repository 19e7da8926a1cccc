// Checks outputs before their digests are written: a digest says only that an output has changed, not that it is right.
//
// | output | checked by |
// |---|---|
// | snapshot | tests/devtools/check-snapshot.mjs: JSON.parse, the promises of docs/, and DevTools' own loader |
// | snapshot of a dump, without options | the oracle, too: the second reader, tests/oracle/verify.mjs |
// | report as JSON | tests/formats/report-json.mjs: JSON.parse, and the same report as text has these figures |
// | page | its data by JSON.parse; if it is whole and no series, tests/formats/page.mjs: the reports of the same heap agree |
// | hprof | tests/formats/hprof.mjs: a strict reader; the snapshot of the same view has the same objects |
// | SQLite | PRAGMA integrity_check; if there are all nodes, tests/formats/sqlite.mjs: the snapshot has the same |
// | pprof | the fields of its protocol buffer end where it ends |
// | answers of --mcp | each line by JSON.parse, and its text, too |
// | all text | UTF-8; except in CSV, which has strings as they are, without control characters |
import fs from 'node:fs';
import path from 'node:path';
import { fieldsOf } from './readable.mjs';

const isSnapshot = (bytes) => bytes.subarray(0, 20).toString('latin1').startsWith('{"snapshot":');
const formatOf = (one) => one.args.includes('--mcp') ? 'mcp' : one.args[one.args.indexOf('--format') + 1 || one.args.length] ?? 'heapsnapshot';

/** The dump of a case whose snapshot the oracle can verify: it is the only argument, and all of it was converted. */
function dumpForOracle({ one, status }) {
  const args = one.args.filter((arg, i, all) => arg !== '-v' && arg !== '--format' && all[i - 1] !== '--format');
  const isDump = (arg) => /^(samples\/|tests\/fuzz\/corpus\/dump\/)/.test(arg);
  return status === 0 && args.length === 1 && isDump(args[0]) ? args[0] : '';
}

/** Runs a script of the tests; gives a problem for each line that fails, or for an early end. */
async function script(context, name, args) {
  const { status, out, said } = await context.run('node', [path.join(context.top, 'tests', args[0]), ...args.slice(1)], { cwd: context.work });
  const lines = String(out).split('\n').filter((line) => /^(not ok|# .*: not so)/.test(line));
  if (status === 0 && lines.length === 0) return [];
  return (lines.length ? lines : [String(said).trim().split('\n').slice(-3).join(' ')]).slice(0, 10).map((line) => `${name}: ${args[0]}: ${line}`);
}

/** Converts the heap of a case in another way: with a format and options instead of its own. */
async function again(context, one, format, file, more = []) {
  const args = one.args.filter((arg, i, all) => arg !== '--format' && all[i - 1] !== '--format' && arg !== '--json');
  const { status, said } = await context.run(context.program, ['--format', format, ...more, '-o', file, ...args], { cwd: context.work, env: { ...process.env, LC_ALL: 'C', COLUMNS: '120' } });
  if (![0, 3].includes(status)) throw new Error(`with --format ${format} ${more.join(' ')} it fails: ${said}`);
  return file;
}

const checks = {
  async heapsnapshot(context, name, result) {
    const dump = dumpForOracle(result);
    return dump ? script(context, name, ['oracle/verify.mjs', path.join(context.work, dump), result.files[0]]) : [];
  },
  async report(context, name, { one, files, outputs }) {
    if (!one.args.includes('--json')) return [];
    JSON.parse(outputs[0].bytes);
    if (one.args.some((arg) => ['--show', '--path-to', '--sample'].includes(arg))) return [];
    return script(context, name, ['formats/report-json.mjs', one.name, files[0], await again(context, one, 'report', `${files[0]}.txt`)]);
  },
  async html(context, name, { one, files, outputs }) {
    const page = outputs[0].bytes.toString('utf8');
    const { redacted, cut } = JSON.parse(/<script type="application\/json" id="data">(.*?)<\/script>/s.exec(page)[1]);
    const isCut = Object.values(cut).flat().some((count) => count > 0);
    if (redacted || isCut) return [];
    if (!one.args.includes('--base') && one.args.filter((arg) => /\.dump/.test(arg)).length > 1) return [];
    const [json, text] = [await again(context, one, 'report', `${files[0]}.json`, ['--json']), await again(context, one, 'report', `${files[0]}.txt`)];
    return script(context, name, ['formats/page.mjs', one.name, files[0], json, text]);
  },
  async hprof(context, name, { one, files, status }) {
    // Of a dump that is not complete it has garbage, too: status 3.
    const snapshot = await again(context, one, 'heapsnapshot', `${files[0]}.heapsnapshot`, [...status === 3 ? [] : ['--reachable'], '--no-contexts']);
    return script(context, name, ['formats/hprof.mjs', files[0], snapshot]);
  },
  async sqlite(context, name, { one, files }) {
    const { out } = await context.run('sqlite3', ['-readonly', files[0], 'PRAGMA integrity_check; PRAGMA foreign_key_check']);
    if (String(out) !== 'ok\n') return [`${name}: PRAGMA integrity_check: ${out}`];
    if (one.args.includes('--summary')) return [];
    const snapshot = await again(context, one, 'heapsnapshot', `${files[0]}.heapsnapshot`, ['--no-contexts']);
    return script(context, name, ['formats/sqlite.mjs', files[0], snapshot]);
  },
  async pprof(context, name, { outputs }) {
    return fieldsOf(outputs[0].bytes) ? [] : [`${name}: is not a protocol buffer`];
  },
  async mcp(context, name, { outputs }) {
    for (const line of outputs[0].bytes.toString('utf8').trimEnd().split('\n')) {
      const { content, isError } = JSON.parse(line).result ?? {};
      if (content && !isError) JSON.parse(content[0].text);
    }
    return [];
  },
  async csv() { return []; },
  async heaptimeline() { return []; }, // it is a snapshot for the loader
  async dump() { return []; },
};

/** What is not text: it may have any bytes. */
const binary = new Set(['hprof', 'sqlite', 'pprof', 'dump']);

function checkText(name, bytes, mayHaveControls = false) {
  let text;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return [`${name}: is not UTF-8`];
  }
  // eslint-disable-next-line no-control-regex
  const control = !mayHaveControls && /[\x00-\x08\x0b-\x1f\x7f]/.exec(text);
  return control ? [`${name}: has the control character ${control[0].charCodeAt(0)}`] : [];
}

/** Checks the results of cases (golden.mjs, runCase()); gives a list of problems. */
export async function check(results, context) {
  const directory = path.join(context.work, 'checked');
  // Snapshots of several dumps have the ids of a series, not those of one dump's addresses.
  const [snapshots, series] = ['snapshots', 'series'].map((name) => path.join(directory, name));
  for (const name of [snapshots, series]) fs.mkdirSync(name, { recursive: true });
  const written = results.filter((result) => [0, 3].includes(result.status));
  for (const result of written) {
    result.files = result.outputs.map(({ name, bytes }) => {
      const is = isSnapshot(bytes);
      const file = path.join(!is ? directory : result.one.kind === 'dir' ? series : snapshots, `${result.one.name}${name && '.'}${name.replace(/\.heapsnapshot$/, '')}${is ? '.heapsnapshot' : ''}`);
      fs.writeFileSync(file, bytes);
      return file;
    });
  }
  const problems = [];
  if (written.some(({ one }) => ['heapsnapshot', 'sqlite'].includes(formatOf(one))) && !fs.existsSync(path.join(context.top, 'tests/devtools/node_modules'))) {
    return ["snapshots changed, and DevTools' loader is not there to read them: (cd tests/devtools && npm ci --ignore-scripts)"];
  }
  for (const [of, more] of [[snapshots, []], [series, ['--foreign']]]) {
    if (fs.readdirSync(of).length) problems.push(...await script(context, 'snapshots', ['devtools/check-snapshot.mjs', '--quiet', ...more, '--dir', of]));
  }
  await context.forEach(results, async (result) => {
    const name = result.one.name;
    const format = formatOf(result.one);
    problems.push(...checkText(`${name}: the messages`, result.said));
    if (!result.files) return;
    if (!binary.has(format)) for (const output of result.outputs) problems.push(...checkText(name, output.bytes, format === 'csv'));
    if (result.outputs.every(({ bytes }) => bytes.length === 0)) return;
    try {
      problems.push(...await checks[format](context, name, result));
    } catch (error) {
      problems.push(`${name}: ${error.message}`);
    }
  });
  const formats = {};
  for (const { one } of written) formats[formatOf(one)] = (formats[formatOf(one)] ?? 0) + 1;
  console.log(`checked: ${Object.entries(formats).map(([format, number]) => `${number} ${format}`).join(', ')}, `
    + `${written.filter((result) => formatOf(result.one) === 'heapsnapshot' && dumpForOracle(result)).length} of them by the oracle`);
  return problems;
}
