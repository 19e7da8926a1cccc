#!/usr/bin/env node
// Says how strong the tests of tier check are: makes mutants of src, each of which has one small fault, and runs the tests until one
// of them notices (kills the mutant). A mutant that survives shows what no test looks at, or changes nothing that can be seen.
//
//   run.mjs [--count N] [--seed S]   makes so many mutants (default: 60), chosen by the seed (default: 1)
//     --part K/N        only each Nth of them, beginning with the Kth: N of these may run at the same time
//     --only MODULE     mutants of one directory of src
//     --base REVISION   of this revision (default: HEAD)
//     --tests REVISION  with the tests of this revision (default: those of the base)
//     --most N          runs at most so many tests of each killer, spread over those that execute the line
//     --keep-going      runs all killers, also after the first kill
//     --killers A,B     runs only these killers; a later run with others goes on with the survivors
//     --survivors-only  makes no new mutants
//     --replay FILE     runs the survivors of a file of results again, with the lines as they are now
//     --coverage        only prints how many lines of each module the tests of the killers execute
//     --summary         only prints the results that there are
//
// The killers, in this order: golden, unit, live (golden:live), cli, oracle, sanitized (unit with gcc's sanitizers). Of each, only the
// cases run that execute the changed line, by the blocks that they execute in the unchanged program (coverage.mjs).
//
// Everything is below build/mutants: a clone of the tree, its builds and coverage, and results-*.jsonl with a line for each mutant.
// A run that was interrupted goes on where it was. A mutant that takes too long or too much memory counts as killed.
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { Base } from './base.mjs';
import { killers } from './killers.mjs';
import { choose } from './mutations.mjs';
import { childSeconds } from './processes.mjs';

const { values: options } = parseArgs({
  options: {
    count: { type: 'string', default: '60' }, seed: { type: 'string', default: '1' }, part: { type: 'string', default: '1/1' },
    only: { type: 'string' }, base: { type: 'string', default: 'HEAD' }, tests: { type: 'string' }, 'keep-going': { type: 'boolean' },
    killers: { type: 'string', default: 'golden,unit,live,cli,oracle,sanitized' }, replay: { type: 'string' }, summary: { type: 'boolean' }, coverage: { type: 'boolean' }, 'survivors-only': { type: 'boolean' }, most: { type: 'string', default: '1000000' },
  },
});

const top = path.resolve(import.meta.dirname, '../..');
os.setPriority(Math.max(os.getPriority(), 5));
process.umask(0o022);
const [part, parts] = options.part.split('/').map(Number);
const base = new Base(top, options.base, options.tests);
const count = Number(options.count);
const name = ['results', base.revision, options.seed, count, ...(options.only ? [options.only.replaceAll('/', '-')] : [])].join('-');
const resultsFile = path.join(top, 'build/mutants', `${options.replay ? `replay-${base.revision}-${base.tests}` : name}.jsonl`);

/** The last result of each mutant. */
function readResults(file) {
  const lines = fs.existsSync(file) ? fs.readFileSync(file, 'utf8').split('\n').filter(Boolean) : [];
  return new Map(lines.map((line) => JSON.parse(line)).map((result) => [result.id, result]));
}

/** The survivors of other results, where their lines are now. */
function replayed(file) {
  const mutants = [];
  for (const { id, killedBy, module, kind, ...old } of readResults(file).values()) {
    if (killedBy) continue;
    const lines = base.lines(old.file);
    const same = lines.filter((line) => line.text === old.old).sort((a, b) => Math.abs(a.number - old.line) - Math.abs(b.number - old.line));
    if (same.length) mutants.push({ id, candidates: [{ module, file: old.file, line: same[0].number, inFunction: same[0].inFunction, kind, old: old.old, new: old.new }] });
    else console.log(`${old.file}:${old.line} is no longer there:\n${old.old}`);
  }
  return mutants;
}

/**
 * Makes a mutant of the first candidate that compiles and changes the code; runs the killers that have not tried it. `before` is its
 * last result.
 */
async function test({ id, candidates }, before, wanted) {
  const start = childSeconds();
  for (const candidate of before ? [before] : candidates.slice(0, 20)) {
    const object = base.compileMutant(candidate);
    if (!object) continue;
    const result = { killedBy: '', test: '', killers: {}, executed: {}, seconds: 0, ...candidate, id };
    for (const killer of killers(base).filter((one) => wanted.includes(one.name))) {
      if (killer.name in result.executed || (result.killedBy && !options['keep-going'])) continue;
      const all = base.testsOf(killer.name, candidate), every = Math.ceil(all.length / Number(options.most));
      const tests = every > 1 ? all.filter((_, i) => i % every === id % every) : all;
      const killed = tests.length ? await killer.run(object, tests) : '';
      result.executed[killer.name] = tests.length;
      if (!killed) continue;
      result.killers[killer.name] = killed;
      if (!result.killedBy) [result.killedBy, result.test] = [killer.name, killed];
    }
    result.seconds = Math.round((result.seconds + childSeconds() - start) * 10) / 10;
    return result;
  }
  return { id, module: candidates[0]?.module, killedBy: 'none', test: 'no candidate compiles to other code', executed: {}, seconds: childSeconds() - start };
}

/** Prints a mutant as a small diff. */
function show({ id, file, line, kind, old, new: text, killedBy, executed }) {
  const source = base.lines(file, true);
  console.log(`--- mutant ${id}: ${file}:${line} (${kind}) ${killedBy ? `killed by ${killedBy}` : 'survived'}; tests that execute it: ${Object.entries(executed).map(([name, n]) => `${name} ${n}`).join(', ')}`);
  if (source[line - 2] !== undefined) console.log(` ${source[line - 2]}`);
  console.log(`-${old}\n+${text}`);
  if (source[line] !== undefined) console.log(` ${source[line]}`);
}

/** Prints the results by module. */
function summary(results) {
  const made = results.filter((result) => result.killedBy !== 'none');
  const names = ['golden', 'unit', 'live', 'cli', 'oracle', 'sanitized'];
  const row = (module, list) => {
    const survived = list.filter((result) => !result.killedBy);
    return `| ${[module, list.length, ...names.map((name) => list.filter((result) => result.killedBy === name).length),
      survived.length, survived.filter((result) => Object.values(result.executed).every((n) => n === 0)).length].join(' | ')} |`;
  };
  console.log(`| module | made | ${names.join(' | ')} | survived | of these not executed |`);
  console.log(`|---|${'---|'.repeat(names.length + 3)}`);
  for (const module of [...new Set(made.map((result) => result.module))].sort()) console.log(row(module, made.filter((result) => result.module === module)));
  console.log(row('all', made));
  const killed = made.filter((result) => result.killedBy).length;
  const seconds = made.reduce((sum, result) => sum + result.seconds, 0);
  console.log(`\n${killed} of ${made.length} killed (${((100 * killed) / made.length).toFixed(0)} %); ${(seconds / made.length).toFixed(1)} processor seconds per mutant`);
}

/** Prints how many lines with code the tests execute, by module; those that are inlined from headers do not count. */
async function printCoverage() {
  await base.prepare(options.killers.split(','));
  const modules = new Map();
  for (const [file, lines] of Object.entries(Object.assign({}, ...Object.values(base.coverage).map((of) => of.code)))) {
    if (!file.endsWith('.c')) continue;
    const module = path.dirname(file).replace(/^src\/?/, '') || 'main';
    const tests = Object.values(base.coverage).flatMap((of) => of.tests);
    const sum = modules.get(module) ?? modules.set(module, { lines: 0, executed: 0 }).get(module);
    sum.lines += lines.length;
    sum.executed += lines.filter((line) => tests.some((test) => test.files[file]?.has(line))).length;
  }
  console.log('| module | lines | executed |\n|---|---|---|');
  for (const [module, { lines, executed }] of [...modules].sort()) console.log(`| ${module} | ${lines} | ${((100 * executed) / lines).toFixed(1)} % |`);
}

/** Runs what has not been run yet, in an order that mixes the modules, so that an interrupted run is a fair sample. */
async function runAll() {
  const wanted = options.killers.split(',');
  await base.prepare(wanted);
  const files = String(spawnSync('git', ['ls-files', 'src/*.c'], { cwd: base.tree }).stdout).split('\n').filter(Boolean);
  const mutants = options.replay ? replayed(options.replay) : choose(base.tree, files, { count, seed: Number(options.seed), only: options.only });
  mutants.sort((a, b) => (Math.imul(a.id, 0x9e3779b1) >>> 0) - (Math.imul(b.id, 0x9e3779b1) >>> 0));
  const known = readResults(resultsFile);
  for (const [i, mutant] of mutants.entries()) {
    if (i % parts !== part - 1) continue;
    const before = known.get(mutant.id);
    if (before ? (before.killedBy && !options['keep-going']) || wanted.every((killer) => killer in before.executed) : options['survivors-only']) continue;
    const result = await test(mutant, before, wanted);
    fs.appendFileSync(resultsFile, `${JSON.stringify(result)}\n`);
    if (result.file) console.log(`${result.id} ${result.file}:${result.line} ${result.kind}: ${result.killedBy ? `${result.killedBy}: ${result.test}` : 'survived'} (${result.seconds} s)`);
  }
}

if (options.coverage) {
  await printCoverage();
  process.exit();
}
if (!options.summary) await runAll();
const results = [...readResults(resultsFile).values()].sort((a, b) => a.id - b.id);
for (const result of results) if (!result.killedBy) show(result);
summary(results);
