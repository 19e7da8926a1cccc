// Runs programs that nobody wrote: each is made from its seed by the grammar, built, run, read and judged by what it knows of itself.
// README.md has the kinds of faults, and how many of 1,000 programs have them.
//
//   zoo.mjs GO2HEAPSNAPSHOT DIRECTORY FIRST COUNT     judges the programs of COUNT seeds; TAP on standard output
//   zoo.mjs --cases GO2HEAPSNAPSHOT DIRECTORY         judges the programs of cases.mjs
//   zoo.mjs --every GO2HEAPSNAPSHOT DIRECTORY         judges programs that together have each production of the grammar once
//   zoo.mjs --shrink GO2HEAPSNAPSHOT DIRECTORY SEED   leaves out of a program what its fault does not need; prints what is left
//   zoo.mjs --print SEED                              prints the program
//
//   GOROOT    the release of Go      WAYS    how to build: words of plain, stripped, pie, noopt, trimpath, cgo, race,
//                                         exp=GOEXPERIMENT (default: by the seed)
//   JOBS      programs at a time     RATES   a file to which a line is added for each program and for each fault: seed, way, kind, text
//   PACK      programs in one build  DELAY   seconds after which timers wake goroutines (default: 8)
//   KEEP      leaves the files       STRICT  the kinds of faults that fail a program (default: all that would be a false certainty)
//   KIND      shrink: the kind of the fault (default: the first one found)

import {execFile, execFileSync} from 'node:child_process';
import {appendFileSync, mkdirSync, rmSync} from 'node:fs';
import {join} from 'node:path';
import {promisify} from 'node:util';

import {cases} from './cases.mjs';
import {everyPlan, planOf, waysOf as usualWays} from './grammar.mjs';
import {judge} from './judge.mjs';
import {programOf, writeProgram} from './program.mjs';

const args = process.argv.slice(2);
const go = join(process.env.GOROOT ?? '/usr/lib/go', 'bin/go');
const minor = () => Number(execFileSync(go, ['version'], {encoding: 'utf8'}).match(/go1\.(\d+)/)[1]);
const strict = new Set((process.env.STRICT ?? 'garbage types proof threads formats failed').split(' '));
const flags = {plain: process.env.CHECK_ALL ? [] : ['-ldflags=-compressdwarf=false'], stripped: ['-ldflags=-s -w'], pie: ['-buildmode=pie'], noopt: ['-gcflags=all=-N -l'], trimpath: ['-trimpath'], cgo: [], race: ['-race']};
const SIZE = Number(process.env.PACK ?? 40);

/** Returns how to build the pack of a seed: words of flags. Seeds of one pack have the same. */
const waysOf = seed => process.env.WAYS ? process.env.WAYS.split(' ') : usualWays(seed, minor());

/** Builds the program of some plans as DIRECTORY/app. Returns why it does not compile, or nothing. */
async function build(plans, ways, directory) {
  const hasC = ways.includes('cgo');
  writeProgram(plans, directory, hasC);
  const experiment = ways.find(way => way.startsWith('exp='))?.slice(4) ?? '';
  const environment = {...process.env, GO111MODULE: 'on', CGO_ENABLED: hasC || ways.includes('race') ? '1' : '0', GOFLAGS: '-mod=mod', GOEXPERIMENT: experiment};
  try {
    await promisify(execFile)(go, ['build', ...ways.flatMap(way => flags[way] ?? []), '-o', join(directory, 'app'), '.'], {cwd: directory, env: environment});
  } catch (error) {
    return `does not compile: ${error.stderr}`;
  }
  return undefined;
}

/** Builds and judges one plan; returns its faults, each {kind, text}. */
async function faultsOf(program, plan, ways, directory) {
  const faults = [], failure = await build([plan], ways, directory);
  if (failure) return [{kind: 'failed', text: failure}];
  await judge(program, plan, join(directory, 'files'), join(directory, 'app'), ways, (kind, text) => faults.push({kind, text}));
  return faults;
}

/** Judges the programs of a pack, several at a time, built in a directory. totals: programs by kind of fault, and "ran". */
async function runPack(program, plans, ways, place, fails, totals) {
  const note = line => process.env.RATES && appendFileSync(process.env.RATES, `${line}\n`), release = minor();
  const failure = await build(plans, ways, place);
  if (failure) console.log(`${fails('failed') ? 'not ok' : 'ok'} - the pack of program ${plans[0].seed} (1.${release} ${ways.join(' ')})\n# ${failure.replaceAll('\n', '\n# ')}`);
  let failed = failure !== undefined;
  const queue = failure ? [] : [...plans];
  const work = async () => {
    for (let plan; (plan = queue.shift());) {
      const faults = [], {seed} = plan;
      await judge(program, plan, join(place, String(seed)), join(place, 'app'), ways, (kind, text) => faults.push({kind, text: text.replaceAll('\n', ' ')}));
      const bad = faults.filter(({kind}) => fails(kind)), way = `1.${release} ${ways.join(' ')} ${plan.read}, ${plan.moment}`;
      console.log(`${bad.length > 0 ? 'not ok' : 'ok'} - program ${seed} (${way})`);
      for (const {kind, text} of [{kind: 'ran', text: ''}, ...faults]) note(`${seed}\t${way}\t${kind}\t${text}`);
      for (const {kind, text} of faults) console.log(`# ${kind}: ${text}`);
      for (const kind of new Set(['ran', ...faults.map(fault => fault.kind)])) totals.set(kind, (totals.get(kind) ?? 0) + 1);
      failed ||= bad.length > 0;
    }
  };
  await Promise.all(Array.from({length: Number(process.env.JOBS ?? 2)}, work));
  if (!failed && !process.env.KEEP) rmSync(place, {recursive: true});
}

/** Judges the programs of some seeds. */
async function runAll(program, directory, first, count) {
  const release = minor(), totals = new Map();
  for (let from = first; from < first + count;) {
    const to = Math.min(first + count, (Math.floor(from / SIZE) + 1) * SIZE);
    const ways = waysOf(from), plans = Array.from({length: to - from}, (_, i) => planOf(from + i, release, ways));
    await runPack(program, plans, ways, join(directory, String(from)), kind => strict.has(kind), totals);
    from = to;
  }
  console.log(`# seeds ${first} to ${first + count - 1}: ${[...totals].map(([kind, n]) => `${kind} ${n}`).join(', ')}`);
  if (count === 0) process.exitCode = 1;
}

/** Yields the plans that are a step smaller. */
function* smaller(plan) {
  for (const key of ['plants', 'waits'])
    for (let i = key === 'plants' ? 1 : 0; i < plan[key].length; i++) yield {...plan, [key]: plan[key].filter((_, j) => j !== i)};
  if (plan.garbage) yield {...plan, garbage: 0};
  if (plan.moment !== 'after') yield {...plan, moment: 'after'};
  if (plan.read !== 'pid') yield {...plan, read: 'pid'};
  for (const [i, plant] of plan.plants.entries())
    for (const change of [{element: 'small'}, {container: 'slice'}, {holder: 'global_pointer'}, {count: Math.max(4, plant.count >> 2), grows: plant.grows && Math.max(4, plant.grows >> 2)}]) {
      if (plant.types && (change.element || change.container)) continue; // as its twin has
      if (!Object.entries(change).some(([key, value]) => plant[key] !== value)) continue;
      yield {...plan, plants: plan.plants.map((each, j) => j === i ? {...each, ...change} : each.types === plant.tag && !change.holder && !change.count ? {...each, ...change} : each)};
    }
  for (const [i, wait] of plan.waits.entries()) if (wait.count > 1) yield {...plan, waits: plan.waits.map((each, j) => j === i ? {...each, count: 1} : each)};
}

/** Leaves parts out as long as a fault of the same kind remains. */
async function shrink(program, directory, seed) {
  let ways = waysOf(seed), plan = planOf(seed, minor(), ways);
  mkdirSync(directory, {recursive: true});
  const find = faults => faults.find(({kind}) => !process.env.KIND || kind === process.env.KIND);
  const fault = find(await faultsOf(program, plan, ways, directory));
  if (!fault) return console.log(`program ${seed} has no fault`);
  const has = async (candidate, in_ways) => (await faultsOf(program, candidate, in_ways, directory)).find(({kind}) => kind === fault.kind);
  let found = fault;
  for (const fewer of [['plain'], ['stripped']]) {
    const left = ways.length > 1 && await has(plan, fewer);
    if (left) [found, ways] = [left, fewer];
  }
  for (let isSmaller = true; isSmaller;) {
    isSmaller = false;
    for (const candidate of smaller(plan)) {
      const left = await has(candidate, ways);
      if (!left) continue;
      [plan, found, isSmaller] = [candidate, left, true];
      break;
    }
  }
  writeProgram([plan], directory, ways.includes('cgo'));
  console.log(JSON.stringify(plan, null, 1), `\n${found.kind}: ${found.text}\n${join(directory, 'main.go')} (${ways.join(' ')})`);
  return undefined;
}

if (args[0] === '--print') console.log(programOf([planOf(Number(args[1]), minor(), waysOf(Number(args[1])))]));
else if (args[0] === '--cases') await runPack(args[1], cases.filter(({only = waysOf(0)[0]}) => only === waysOf(0)[0]), waysOf(0), join(args[2], 'cases'), kind => !['untyped', 'early'].includes(kind), new Map());
else if (args[0] === '--every') await runPack(args[1], everyPlan(minor(), waysOf(0)), waysOf(0), join(args[2], 'every'), kind => strict.has(kind), new Map());
else if (args[0] === '--shrink') await shrink(args[1], args[2], Number(args[3]));
else await runAll(args[0], args[1], Number(args[2]), Number(args[3]));
