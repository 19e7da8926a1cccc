// Runs programs that nobody wrote: each is made from its seed by the grammar, built, run, read and judged by what it knows of itself.
// docs/testing.md has the kinds of faults, and how many of 1,000 programs have them.
//
//   zoo.mjs GO2HEAPSNAPSHOT DIRECTORY FIRST COUNT     judges the programs of COUNT seeds; TAP on standard output
//   zoo.mjs --shrink GO2HEAPSNAPSHOT DIRECTORY SEED   leaves out of a program what its fault does not need; prints what is left
//   zoo.mjs --print SEED                              prints the program
//
//   GOROOT    the release of Go      WAYS    how to build and read: words of plain, stripped, pie, noopt, dump (default: by the seed)
//   JOBS      programs at a time     RATES   a file to which a line is added for each fault: seed, way, kind, text
//   STRICT    the kinds of faults that fail a program (default: all that would be a false certainty)

import {execFile, execFileSync} from 'node:child_process';
import {appendFileSync, mkdirSync, readFileSync, rmSync} from 'node:fs';
import {join} from 'node:path';
import {promisify} from 'node:util';

import {planOf, random} from './grammar.mjs';
import {judge} from './judge.mjs';
import {programOf, writeProgram} from './program.mjs';

const args = process.argv.slice(2);
const go = join(process.env.GOROOT ?? '/usr/lib/go', 'bin/go');
const minor = () => Number(execFileSync(go, ['version'], {encoding: 'utf8'}).match(/go1\.(\d+)/)[1]);
const strict = new Set((process.env.STRICT ?? 'garbage types proof threads formats failed').split(' '));
const flags = {plain: [], stripped: ['-ldflags=-s -w'], pie: ['-buildmode=pie'], noopt: ['-gcflags=all=-N -l'], dump: []};

/** Returns how to build and read the program of a seed: words of flags. */
function waysOf(seed) {
  if (process.env.WAYS) return process.env.WAYS.split(' ');
  const below = random(seed + 7919);
  return [['plain'], ['stripped'], ['stripped'], ['pie', 'stripped'], ['noopt'], ['plain', 'dump'], ['stripped', 'dump']][below(7)];
}

/** Builds and judges a plan; returns its faults, each {kind, text}. */
async function faultsOf(program, plan, ways, directory) {
  const faults = [], app = join(directory, 'app');
  mkdirSync(directory, {recursive: true});
  writeProgram(plan, directory);
  try {
    await promisify(execFile)(go, ['build', ...ways.flatMap(way => flags[way]), '-o', app, '.'], {cwd: directory, env: {...process.env, GO111MODULE: 'on', GOFLAGS: '-mod=mod'}});
  } catch (error) {
    return [{kind: 'failed', text: `does not compile: ${error.stderr}`}];
  }
  await judge(program, plan, directory, app, {dump: ways.includes('dump'), stripped: ways.includes('stripped')}, (kind, text) => faults.push({kind, text}));
  return faults;
}

/** Judges the programs of some seeds, several at a time. */
async function runAll(program, directory, first, count) {
  const release = minor(), totals = new Map();
  let next = first, right = 0;
  const work = async () => {
    while (next < first + count) {
      const seed = next++, plan = planOf(seed, release), ways = waysOf(seed), place = join(directory, String(seed));
      const faults = await faultsOf(program, plan, ways, place), bad = faults.filter(({kind}) => strict.has(kind));
      console.log(`${bad.length > 0 ? 'not ok' : 'ok'} - program ${seed} (1.${release} ${ways.join(' ')}, ${plan.moment} a collection)`);
      for (const {kind, text} of faults) {
        console.log(`# ${kind}: ${text}`);
        if (process.env.RATES) appendFileSync(process.env.RATES, `${seed}\t1.${release} ${ways.join(' ')}\t${kind}\t${text}\n`);
      }
      for (const kind of new Set(faults.map(fault => fault.kind))) totals.set(kind, (totals.get(kind) ?? 0) + 1);
      right += !faults.some(({kind}) => kind === 'screen');
      if (bad.length === 0) rmSync(place, {recursive: true});
    }
  };
  await Promise.all(Array.from({length: Number(process.env.JOBS ?? 2)}, work));
  console.log(`# seeds ${first} to ${first + count - 1}: ${right} first screens right; programs with faults: ${[...totals].map(([kind, n]) => `${kind} ${n}`).join(', ') || 'none'}`);
  if (count === 0) process.exitCode = 1;
}

/** Yields the plans that are a step smaller. */
function* smaller(plan) {
  for (const key of ['plants', 'waits'])
    for (let i = key === 'plants' ? 1 : 0; i < plan[key].length; i++) yield {...plan, [key]: plan[key].filter((_, j) => j !== i)};
  if (plan.garbage) yield {...plan, garbage: 0};
  for (const [i, plant] of plan.plants.entries())
    for (const change of [{element: 'small'}, {container: 'slice'}, {holder: 'global_pointer'}, {count: Math.max(4, plant.count >> 2), grows: plant.grows && Math.max(4, plant.grows >> 2)}])
      if (Object.entries(change).some(([key, value]) => plant[key] !== value)) yield {...plan, plants: plan.plants.map((each, j) => j === i ? {...each, ...change} : each)};
  for (const [i, wait] of plan.waits.entries()) if (wait.count > 1) yield {...plan, waits: plan.waits.map((each, j) => j === i ? {...each, count: 1} : each)};
}

/** Leaves parts out as long as a fault of the same kind remains. */
async function shrink(program, directory, seed) {
  const ways = waysOf(seed);
  let plan = planOf(seed, minor());
  const [fault] = await faultsOf(program, plan, ways, directory);
  if (!fault) return console.log(`program ${seed} has no fault`);
  const has = async candidate => (await faultsOf(program, candidate, ways, directory)).find(({kind}) => kind === fault.kind);
  let found = fault;
  for (let isSmaller = true; isSmaller;) {
    isSmaller = false;
    for (const candidate of smaller(plan)) {
      const left = await has(candidate);
      if (!left) continue;
      [plan, found, isSmaller] = [candidate, left, true];
      break;
    }
  }
  writeProgram(plan, directory);
  console.log(JSON.stringify(plan, null, 1), `\n${found.kind}: ${found.text}\n${join(directory, 'main.go')} (${ways.join(' ')})`);
}

if (args[0] === '--print') console.log(programOf(planOf(Number(args[1]), minor())));
else if (args[0] === '--shrink') await shrink(args[1], args[2], Number(args[3]));
else await runAll(args[0], args[1], Number(args[2]), Number(args[3]));
