// Runs the cases for run.sh, which says how it is called.
//
// A line of the file `cases` has a name, a kind and arguments, with tabs between them; ␣ in an argument is a space. The kind says
// where the output goes: `out` to standard output, `dir` to a directory, `file` to a file. --mcp reads the file `requests`. A case gives one text: its output, what
// was said, the exit status. An output that was compressed is unpacked, and a database is read, because the bytes of these depend
// on the release of a library. A case that needs a library which is missing is skipped.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import zlib from 'node:zlib';
import { wrongFigures, wrongSuspects } from '../suspects.mjs';
import { check } from './checks.mjs';
import { readable } from './readable.mjs';

const top = process.cwd();
const here = path.join(top, 'tests/golden');
const work = fs.mkdtempSync(path.join(os.tmpdir(), 'golden-'));
process.on('exit', () => fs.rmSync(work, { recursive: true, force: true }));
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => process.exit(1));
const jobs = Number(process.env.JOBS) || os.cpus().length;
const environment = { ...process.env, LC_ALL: 'C' };

/** Ends with a message: what was asked for cannot be done. */
function refuse(message) {
  console.error(`golden: ${message}`);
  process.exit(2);
}

/** What -v says of waiting for a disk depends on the machine's other work. */
const isOfMachine = /^memory\n {2}pages that a disk was waited for .*\n/m;
const withoutMachine = (said) => Buffer.from(said.toString('latin1').replace(isOfMachine, ''), 'latin1');

/** Runs a program to its end; gives its status, or the signal that ended it, and what it wrote and said. */
function run(program, args, options) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { env: environment, stdio: ['ignore', 'pipe', 'pipe'], ...options });
    const [out, said] = [[], []];
    child.stdout.on('data', (part) => out.push(part));
    child.stderr.on('data', (part) => said.push(part));
    child.on('error', reject);
    child.on('close', (status, signal) => resolve({ status: status ?? signal, out: Buffer.concat(out), said: withoutMachine(Buffer.concat(said)) }));
  });
}

/** Runs an action for each of a list, several at a time; gives the results in the order of the list. */
async function forEach(list, action) {
  const results = [];
  let next = 0;
  const worker = async () => {
    while (next < list.length) {
      const i = next++;
      results[i] = await action(list[i]);
    }
  };
  await Promise.all(Array.from({ length: jobs }, worker));
  return results;
}

// ---- cases and their inputs ----

function readCases() {
  const lines = fs.readFileSync(path.join(here, 'cases'), 'utf8').split('\n').filter((line) => line && !line.startsWith('#'));
  const cases = lines.map((line) => {
    const [name, kind, args] = line.split('\t');
    if (!['out', 'dir', 'file'].includes(kind) || !args) refuse(`cases: this line has no kind or no arguments: ${line}`);
    return { name, kind, args: args.split(' ').map((arg) => arg.replaceAll('␣', ' ')) };
  });
  if (new Set(cases.map((one) => one.name)).size < cases.length) refuse('cases: two cases have the same name');
  return cases;
}

const digestsFile = path.join(here, 'digests');
const readDigests = () => new Map(fs.readFileSync(digestsFile, 'utf8').split('\n').filter(Boolean).map((line) => {
  const [digest, name] = line.split('  ');
  return [name, digest];
}));

/** Writes the inputs that other files contain to the directory `in`, below which the cases find them. */
function unpackInputs() {
  fs.symlinkSync(path.join(top, 'tests'), path.join(work, 'tests'));
  fs.mkdirSync(path.join(work, 'samples'));
  for (const name of fs.readdirSync('samples')) fs.symlinkSync(path.join(top, 'samples', name), path.join(work, 'samples', name));
  // Many cases read this one: unpacking it would take more than all else.
  const packed = 'samples/leakserver.exe.gz', unpacked = path.join(work, packed);
  fs.rmSync(unpacked);
  fs.writeFileSync(unpacked, zlib.gunzipSync(fs.readFileSync(packed)));
  fs.mkdirSync(path.join(work, 'in'));
  fs.writeFileSync(path.join(work, 'in/key'), 'a key of thirty-two bytes, fixed');
  // The pairs of tests/fuzz are an executable with what it left behind it: pair.h.
  for (const [prefix, directory] of [['', 'corpus'], ['find-', 'findings']]) {
    for (const kind of ['core', 'exe']) {
      for (const name of fs.readdirSync(path.join('tests/fuzz', directory, kind))) {
        const pair = fs.readFileSync(path.join('tests/fuzz', directory, kind, name));
        const at = kind === 'core' ? pair.readUInt32LE(12) : startOfDump(pair);
        fs.writeFileSync(path.join(work, 'in', `${prefix}${kind}-${name}.exe`), pair.subarray(0, at));
        fs.writeFileSync(path.join(work, 'in', `${prefix}${kind}-${name}.${kind === 'core' ? 'core' : 'dump'}`), pair.subarray(at));
      }
    }
  }
}
/** Finds where the heap dump behind an executable starts. */
function startOfDump(pair) {
  for (let at = pair.length; (at = pair.lastIndexOf(' heap dump', at - 1)) >= 0;) {
    const start = pair.lastIndexOf('go1.', at);
    if (start >= 0 && at - start <= 6) return start;
  }
  return refuse('a pair of tests/fuzz has no dump');
}

/** Returns a function that says why a case cannot run with this program; empty if it can. */
function missing(program) {
  const version = String(spawnSync(program, ['--version'], { env: environment }).stdout);
  if (!version.includes('built with zlib')) refuse(`${program} does not run`);
  const without = (library) => version.includes(`without ${library}`) && `built without ${library}`;
  const noShell = spawnSync('sqlite3', ['--version']).status !== 0 && 'no sqlite3';
  const magics = [['28b52ffd', 'zstd'], ['fd377a585a00', 'xz'], ['04224d18', 'lz4']];
  return ({ args }) => {
    if (args.includes('sqlite')) return without('SQLite') || noShell || '';
    for (const file of args.map((arg) => path.join(work, arg)).filter((name) => fs.existsSync(name))) {
      const start = Buffer.alloc(6);
      const descriptor = fs.openSync(file);
      fs.readSync(descriptor, start, 0, 6, 0);
      fs.closeSync(descriptor);
      for (const [magic, library] of magics) if (start.toString('hex').startsWith(magic) && without(library)) return without(library);
    }
    return '';
  };
}

// ---- a case ----

const isPacked = (bytes) => bytes[0] === 0x1f && bytes[1] === 0x8b;
const isDatabase = (bytes) => bytes.subarray(0, 15).toString('latin1') === 'SQLite format 3';

/**
 * Reads what is in a database: the schema, and the rows of all tables; of a summary without when the dump's file was written. The
 * indices and views are last, sorted: releases of SQLite print them in different orders. Their estimates of how many rows an index has
 * differ as well, and are left out.
 */
async function readDatabase(file, isSummary) {
  const commands = [...isSummary ? ['UPDATE dump SET time = time > 0'] : [], 'PRAGMA user_version', '.dump'];
  const { status, out, said } = await run('sqlite3', ['-batch', '-init', '/dev/null', file, ...commands]);
  if (status !== 0 || said.length) return Buffer.from(`sqlite3: ${status}: ${said}`);
  const lines = out.toString('latin1').split('\n').filter((line) => !line.startsWith('INSERT INTO sqlite_stat1 ')), isLast = (line) => /^CREATE (INDEX|VIEW) /.test(line);
  return Buffer.from([...lines.filter((line) => !isLast(line)), ...lines.filter(isLast).sort()].join('\n'), 'latin1');
}

/** Runs a case. Gives its text, and its outputs, each with the name of the file or an empty one. */
async function runCase(program, one) {
  const target = path.join('out', one.name);
  const to = { out: [], dir: ['-o', target], file: ['-o', target] }[one.kind];
  const isServer = one.args.includes('--mcp'), input = isServer ? fs.openSync(path.join(here, 'requests')) : 'ignore';
  const { status, out, said } = await run(program, [...to, ...one.args], { cwd: work, env: { ...environment, GOLDEN_CASE: one.name }, stdio: [input, 'pipe', 'pipe'] });
  if (isServer) fs.closeSync(input);
  const whole = path.join(work, target);
  const outputs = [];
  if (isServer) outputs.push({ name: '', bytes: Buffer.from(out.toString('utf8').replace(/"version":"[0-9.]+"/, '"version":""')) });
  else if (one.kind === 'out') outputs.push({ name: '', bytes: out });
  else if (one.kind === 'file') outputs.push({ name: '', bytes: fs.existsSync(whole) ? fs.readFileSync(whole) : Buffer.alloc(0) });
  else if (fs.existsSync(whole)) for (const name of fs.readdirSync(whole).sort()) outputs.push({ name, bytes: fs.readFileSync(path.join(whole, name)) });
  const parts = [];
  for (const output of outputs) {
    if (isPacked(output.bytes)) output.bytes = zlib.gunzipSync(output.bytes);
    if (isDatabase(output.bytes)) output.rows = await readDatabase(whole, one.args.includes('--summary'));
    parts.push(output.rows ?? output.bytes);
  }
  fs.rmSync(whole, { recursive: true, force: true });
  const ending = Buffer.from(`status ${status}\n`);
  return { one, status, said, outputs, text: Buffer.concat([...parts, Buffer.from('\n'), said, ending]) };
}

/** Returns what is wrong with a report as JSON, whatever its digest. */
function wrongInReport({ one, status, outputs }) {
  const isJson = one.args.includes('--json') && [0, 3].includes(status), report = isJson ? JSON.parse(outputs[0].bytes) : {};
  return report.heap ? [...wrongSuspects(report), ...wrongFigures(report)] : []; // not of a sample
}

const digestOf = (text) => createHash('sha256').update(text).digest('hex').slice(0, 16);

// ---- what run.sh is asked for ----

/** Tests the cases; prints TAP. */
async function test(program, cases, isAll) {
  const want = readDigests();
  const why = missing(program);
  let failed = 0;
  await forEach(cases, async (one) => {
    if (failed && process.env.FAIL_FAST) return undefined;
    const reason = why(one);
    if (reason) return console.log(`ok - golden: ${one.name} # SKIP ${reason}`);
    const result = await runCase(program, one), digest = digestOf(result.text), wrong = wrongInReport(result);
    if (want.get(one.name) === digest && wrong.length === 0) return console.log(`ok - golden: ${one.name}`);
    for (const text of wrong) console.log(`# ${text}`);
    console.log(`not ok - golden: ${one.name}${want.has(one.name) ? '' : ' has no digest yet'}`);
    if (failed++ === 0) console.log(`# tests/golden/run.sh --diff '^${one.name}$' shows the difference`);
    return undefined;
  });
  const names = new Set(cases.map((one) => one.name));
  for (const name of want.keys()) {
    if (isAll && !names.has(name)) {
      failed++;
      console.log(`not ok - golden: ${name} has a digest, but is not a case`);
    }
  }
  return failed ? 1 : 0;
}

/** Writes the digests of the cases anew, if others than the program think that the outputs are right. */
async function write(program, cases) {
  const digests = readDigests();
  const why = missing(program);
  const skipped = [];
  const changed = [];
  await forEach(cases, async (one) => {
    if (why(one)) return skipped.push(`${one.name}: ${why(one)}`);
    const result = await runCase(program, one);
    result.digest = digestOf(result.text);
    return digests.get(one.name) === result.digest || changed.push(result);
  });
  for (const line of skipped) console.log(`skipped, and its digest left as it is: ${line}`);
  const order = new Map(cases.map((one, i) => [one.name, i]));
  changed.sort((a, b) => order.get(a.one.name) - order.get(b.one.name));
  for (const { one } of changed) console.log(`${digests.has(one.name) ? 'changed' : 'new'}: ${one.name}`);
  const problems = changed.length ? await check(changed, { top, work, run, forEach, program }) : [];
  for (const problem of problems) console.log(`not right: ${problem}`);
  if (problems.length) {
    console.log(`golden: ${problems.length} problems; no digest was written`);
    return 1;
  }
  const all = new Set(readCases().map((one) => one.name));
  for (const name of digests.keys()) if (!all.has(name)) digests.delete(name);
  for (const { one, digest } of changed) digests.set(one.name, digest);
  const lines = [...digests].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, digest]) => `${digest}  ${name}\n`);
  fs.writeFileSync(digestsFile, lines.join(''));
  console.log(`golden: ${changed.length} of ${cases.length} digests written`);
  return 0;
}

/** Builds a revision of the program below build/golden, where it stays for the next time. */
async function buildRevision(revision) {
  const directory = path.join(top, 'build/golden', revision);
  const program = path.join(directory, 'build/go2heapsnapshot');
  if (fs.existsSync(program)) return program;
  fs.mkdirSync(directory, { recursive: true });
  const unpacked = await run('sh', ['-c', `git archive ${revision} -- Makefile src include docs tools | tar -x -C '${directory}'`]);
  if (unpacked.said.length) refuse(`the sources of ${revision}: ${unpacked.said}`);
  const cached = spawnSync('ccache', ['--version']).status === 0 ? 'ccache ' : '';
  const make = ['-s', '-C', directory, `-j${jobs}`, 'BUILD=build', `CC=${cached}${process.env.CC ?? 'cc'}`, 'CFLAGS=-O0', 'build/go2heapsnapshot'];
  const built = await run('make', make, { env: { ...environment, MAKEFLAGS: '', CCACHE_NOHASHDIR: 'yes', CCACHE_BASEDIR: top } });
  if (built.status !== 0) refuse(`${revision} does not build:\n${built.said}`);
  return program;
}

/** Shows how the outputs of cases differ between a revision and the program. */
async function diff(program, cases, revision) {
  const old = await buildRevision(revision);
  const files = [revision, 'now'].map((name) => path.join(work, name));
  let differ = 0;
  for (const one of cases) {
    const results = [await runCase(old, one), await runCase(program, one)];
    if (results[0].text.equals(results[1].text)) continue;
    differ++;
    let texts = results.map((result) => readable(result, true));
    if (texts[0] === texts[1]) texts = results.map((result) => readable(result, false));
    texts.forEach((text, i) => fs.writeFileSync(files[i], text));
    const { out } = await run('diff', ['-a', '-u', '--label', `${one.name} ${revision}`, '--label', `${one.name} now`, ...files]);
    const lines = out.toString('utf8').trimEnd().split('\n');
    const most = cases.length > 1 ? 40 : 400;
    for (const line of lines.slice(0, most)) console.log(line.length > 200 ? `${line.slice(0, 200)}…` : line);
    if (lines.length > most) console.log(`… and ${lines.length - most} lines more`);
  }
  console.log(`golden: ${differ} of ${cases.length} cases differ between ${revision} and ${program}`);
  return differ ? 1 : 0;
}

/** Finds the revision to compare with: the last word if it matches no case, or the one that last wrote the digests. */
function revisionOf(words, cases) {
  const git = (...args) => String(spawnSync('git', args, { cwd: top }).stdout).trim();
  const last = words.length > 1 && !cases.some((one) => new RegExp(words.at(-1)).test(one.name)) ? words.pop() : '';
  const revision = last ? git('rev-parse', '--short', '--verify', '--quiet', `${last}^{commit}`) : git('log', '-1', '--format=%h', '--', digestsFile);
  if (!revision) refuse(last ? `${last} is neither a case nor a revision` : 'git does not tell which revision wrote the digests');
  return revision;
}

async function main(words) {
  const mode = words[0]?.startsWith('--') ? words.shift() : '';
  const program = path.resolve(process.env.GO2HEAPSNAPSHOT ?? 'build/go2heapsnapshot');
  if (!['', '--write', '--diff'].includes(mode)) refuse('see run.sh');
  if (!fs.existsSync(program)) refuse(`${program} is not there: make`);
  const all = readCases();
  if (mode === '--diff' && words.length === 0) refuse('which case?');
  const revision = mode === '--diff' ? revisionOf(words, all) : '';
  const patterns = words.map((word) => new RegExp(word));
  const exact = all.filter((one) => words.includes(one.name));
  const cases = exact.length && exact.length === words.length ? exact
    : all.filter((one) => patterns.length === 0 || patterns.some((pattern) => pattern.test(one.name)));
  if (cases.length === 0) refuse(`there is no case ${words.join(' ')}`);
  unpackInputs();
  fs.mkdirSync(path.join(work, 'out'));
  if (mode === '--write') return write(program, cases);
  if (mode === '--diff') return diff(program, cases, revision);
  return test(program, cases, cases.length === all.length);
}

process.exitCode = await main(process.argv.slice(2));
