// Builds the programs in programs/ with one release of Go, runs them, and checks what the report says of each: run.sh. TAP on
// standard output.
//
//   answers.mjs GO2HEAPSNAPSHOT DIRECTORY RELEASE [PROGRAM]...
//
// A program prints "READY" on a line and then waits until its standard input has a line or ends. Before that it prints "SKIP" and
// the reason if this machine cannot show what the case is about. Its first comment has the cases, a word and its argument on each
// line; all that stands before "case" is for every case:
//
//   case NAME [VARIABLE=VALUE]...   runs the program with these variables in its environment
//   from RELEASE                    only with this release of Go (1.24) or newer
//   ways WAY...                     how to build: plain, stripped, pie, cgo (default: plain stripped, without $CHECK_ALL stripped)
//   options OPTION...               more options of the report, and of the snapshot for points
//   unwalked REASON                 the report of this case is not walked back to its heap, because walk.mjs does not know what it says
//   base                            a dump of the process is the base: the program then gets a line on its standard input, on
//                                   which it goes on, prints READY once more and waits again
//   says REGEX                      is in the first screen (40 lines) of the report, behind what the last "says" has found
//   tells REGEX                     is anywhere in the report
//   never REGEX                     is nowhere in the report
//   is EXPRESSION                   in JavaScript, of the report r (as JSON): true
//   within PERCENT                the bytes that the program prints after READY are those of the first suspect, or of its growth
//   samples                         who allocated the objects of each class, and of how many samples, is what SQLite has of the
//                                   same heap; each function must allocate the objects of a class on one line only
//   points REGEX                    is what an edge to a mapping outside of the heap says in the snapshot that DevTools loads:
//                                   what has the pointer, the pointer's name, the mapping: main.T data 33.6 MB table.db
//
// says[WAY], tells[WAY], never[WAY], is[WAY] and points[WAY] are only for programs that were built in that way.

import {execFile, execFileSync, spawn} from 'node:child_process';
import {once} from 'node:events';
import {readdirSync, readFileSync, rmSync, statSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {promisify} from 'node:util';

import {wrongSuspects} from '../suspects.mjs';
import {end, report} from '../tap.mjs';
import {wrongNamed} from './growth.mjs';
import {mappingsOf} from './mappings.mjs';
import {walk} from './walk.mjs';

const [program, directory, release, ...asked] = process.argv.slice(2);
const programs = fileURLToPath(new URL('programs', import.meta.url));
const packages = fileURLToPath(new URL('../go', import.meta.url));
const minor = text => Number(text.split('.')[1]);
const buildFlags = {
  plain: ['-ldflags=-compressdwarf=false'], // ../go.sh says why
  stripped: ['-ldflags=-s -w'],
  pie: ['-buildmode=pie'],
  cgo: ['-ldflags=-linkmode=external'],
};
const FIRST_SCREEN = 40;
const LARGEST_WALKED = 12 << 20;
const LESS_TYPED = 0.5; // %: two processes never have quite the same heap

/** Reads the cases of a program's first comment. */
function casesOf(source) {
  const common = {name: '', env: {}, from: '1.19', ways: ['plain', 'stripped'], isUsual: true, options: [], base: false, checks: []};
  const cases = [];
  let current = common;
  for (const line of source.split('\n')) {
    if (!line.startsWith('//')) break;
    const match = /^\/\/\t(\w+)(?:\[(\w+)\])?(?: (.*))?$/.exec(line);
    if (!match) continue;
    const [, word, way, argument = ''] = match, words = argument.split(' ').filter(Boolean);
    if (word === 'case') {
      const env = Object.fromEntries(words.slice(1).map(each => each.split(/=(.*)/s, 2)));
      cases.push(current = {...common, name: words[0], env: {...common.env, ...env}, checks: [...common.checks]});
    } else if (word === 'from') {
      current.from = argument;
    } else if (word === 'ways') {
      Object.assign(current, {ways: words, isUsual: false});
    } else if (word === 'options') {
      current.options = words;
    } else if (word === 'base') {
      current.base = true;
    } else if (word === 'unwalked') {
      current.isUnwalked = true;
    } else if (['says', 'tells', 'never', 'is', 'within', 'samples', 'points'].includes(word)) {
      current.checks.push({word, way, argument});
    } else {
      throw new Error(`the word is none of a case's: ${line}`);
    }
  }
  return cases.length > 0 ? cases : [common];
}

/** Runs a case; returns the report as text and as JSON, and the share of the live bytes that is typed, in %. Leaves a dump of the process if its report is walked. */
async function reportOf(app, name, each, mayBeWalked) {
  const running = spawn(app, [], {env: {...process.env, ...each.env}, stdio: ['pipe', 'pipe', 'inherit']});
  const kill = () => running.kill('SIGKILL');
  process.on('exit', kill);
  let output = '', over = false;
  running.stdout.on('data', data => output += data);
  running.on('exit', () => over = true);
  const ready = async times => {
    while (output.split('\n').filter(line => line.startsWith('READY')).length < times) {
      if (over) throw new Error(`${name} ended before it was ready: ${output}`);
      await Promise.race([once(running.stdout, 'data'), once(running, 'exit')]);
    }
  };
  const runWhole = (...options) => promisify(execFile)(program, options, {env: {...process.env, COLUMNS: '120'}, maxBuffer: 1 << 30});
  const run = (...options) => runWhole(...options).then(({stdout}) => stdout);
  try {
    await ready(1);
    const skipped = /^SKIP (.*)/m.exec(output)?.[1];
    if (skipped) return {skipped};
    const base = [];
    if (each.base) {
      await run('--pid', String(running.pid), '--format', 'dump', '-o', `${name}.base.dump`);
      base.push('--base', `${name}.base.dump`);
      running.stdin.write('\n');
      await ready(2);
    }
    const folding = each.options.indexOf('--max-nodes'); // is for snapshots, and so for what points to mappings
    const ofReport = each.options.filter((_, i) => folding < 0 || i < folding || i > folding + 1);
    const options = ['--pid', String(running.pid), '--format', 'report', ...base, ...ofReport];
    const {stdout: text, stderr: messages} = await runWhole(...options);
    writeFileSync(`${name}.txt`, text);
    for (const [, pool] of text.matchAll(/^ +held by +(.*) {2}\(in a sync\.Pool: .*\)$/gm)) // JSON has another name for it
      await run('--pid', String(running.pid), '--path-to', pool);
    const json = JSON.parse(await run(...options, '--json'));
    const allocated = each.checks.some(({word}) => word === 'samples') && await allocatedBy(name, running.pid, run);
    const mappings = each.checks.some(({word}) => word === 'points') && await mappingsIn(name, running.pid, run, each.options);
    if (mayBeWalked) await run('--pid', String(running.pid), '--format', 'dump', '-o', `${name}.dump`);
    const measured = Number([...output.matchAll(/^READY (\d+)$/gm)].at(-1)?.[1]);
    return {text, json, measured, allocated, mappings, typed: Number(/([\d.]+) % of live bytes typed/.exec(messages)?.[1])};
  } finally {
    process.off('exit', kill);
    kill();
    if (!over) await once(running, 'exit');
  }
}

/**
 * Reads who allocated the objects of each class from the samples of a heap: {said, counted}, which should be equal. said is the
 * report's, counted is from the sites that the sampled objects have edges to in SQLite: of their functions, which a site's name
 * lists the four innermost, the first one of package main counts; if none of them is, any may.
 */
async function allocatedBy(name, pid, run) {
  const dump = `${name}.dump`, database = `${name}.db`;
  await run('--pid', String(pid), '--format', 'dump', '-o', dump);
  const options = ['--exe', `/proc/${pid}/exe`, dump];
  const {classes} = JSON.parse(await run('--format', 'report', '--json', ...options));
  await run('--format', 'sqlite', '-o', database, ...options);
  const rows = JSON.parse(execFileSync('sqlite3', ['-json', database, `select o.name as class, s.name as site from edge e
    join node o on o.id = e.from_node join node s on s.id = e.to_node where e.name_or_index = 'allocated at'`], {encoding: 'utf8', maxBuffer: 1 << 30}));
  const byClass = new Map();
  for (const row of rows) {
    row.class = row.class.replace(/^(\[\d*\]\S+) \(.*\)$/, '$1'); // without the field that the arrays are of
    const function_ = /(?:^| ← )(main\.\S+) /.exec(row.site)?.[1];
    if (!byClass.has(row.class)) byClass.set(row.class, []);
    byClass.get(row.class).push(function_);
  }
  const said = [], counted = [];
  for (const {class: name_, allocated_by: by} of classes) {
    if (!by || !by.function.startsWith('main.') || /^map\[|^\(/.test(name_)) continue; // a row has several classes of SQLite
    const functions = byClass.get(name_) ?? [];
    const least = functions.filter(each => each === by.function).length, unknown = functions.filter(each => !each).length;
    said.push([name_, by.function, by.samples, by.of]);
    counted.push([name_, by.function, Math.min(Math.max(by.samples, least), least + unknown), functions.length]);
  }
  return {said, counted};
}

/** Returns the edges to mappings in the snapshot of a process. */
async function mappingsIn(name, pid, run, options) {
  const snapshot = `${name}.heapsnapshot`;
  await run('--pid', String(pid), '-o', snapshot, ...options);
  const edges = await mappingsOf(snapshot);
  rmSync(snapshot);
  return edges;
}

/** Checks all that the report says of a dump by the tables of SQLite; returns what is wrong. */
function wrongInGraph(app, name) {
  const wrong = [];
  walk(program, `${name}.db`, ['--exe', app, `${name}.dump`], (title, check) => {
    try {
      check();
    } catch (error) {
      wrong.push(`${title}: ${error.message}`);
    }
  });
  for (const file of [`${name}.db`, `${name}.dump`]) rmSync(file);
  return wrong.length > 0 ? wrong.join('\n') : undefined;
}

/** Checks that no line of a tree of growth has grown by more than a line above it that has grown, or than the heap; returns what is wrong. */
function wrongGrowth({tree, since, suspects}) {
  const wrong = suspects.filter(({retained_grown: grown}) => since.reachable >= 0 && grown > since.reachable).map(({item}) => item);
  const visit = (lines, most) => lines.forEach(({name, retained_grown: grown, holds}) => {
    if (grown > 0 && grown > most) wrong.push(name);
    visit(holds, grown < 0 ? most : grown);
  });
  visit(tree, since.reachable < 0 ? Infinity : since.reachable);
  return wrong.map(name => `${name} has grown by more than what holds it`);
}

/** Checks a report; returns what is wrong. */
function wrongWith({text, json, measured, allocated, mappings}, checks, way) {
  const wrong = [...json.sample ? [] : wrongSuspects(json), ...json.tree && json.since ? [...wrongGrowth(json), ...wrongNamed(text, json)] : []];
  let rest = text.split('\n').slice(0, FIRST_SCREEN).join('\n');
  for (const check of checks) {
    if (check.way && check.way !== way) continue;
    if (check.word === 'is') {
      if (new Function('r', `return ${check.argument}`)(json) !== true) wrong.push(`is not so: ${check.argument}`);
      continue;
    }
    if (check.word === 'within') {
      const {retained_grown: grown, retained = 0} = json.suspects[0] ?? {}, said = grown ?? retained;
      if (!(Math.abs(said - measured) <= measured * Number(check.argument) / 100)) wrong.push(`within ${check.argument} %: the first suspect has ${said} B, the program measured ${measured}`);
      continue;
    }
    if (check.word === 'samples') {
      const [said, counted] = [allocated.said, allocated.counted].map(rows => rows.map(row => row.join(' ')).join(', '));
      if (said !== counted || said === '') wrong.push(`samples: the report says ${said}; SQLite has ${counted}`);
      continue;
    }
    if (check.word === 'points') {
      if (!mappings.some(edge => new RegExp(check.argument).test(edge))) wrong.push(`no edge is ${check.argument}`);
      continue;
    }
    const pattern = new RegExp(check.argument, 'm'), found = pattern.exec(check.word === 'says' ? rest : text);
    if (check.word === 'says' && found) rest = rest.slice(found.index + found[0].length);
    if ((check.word === 'never') === Boolean(found)) wrong.push(`${check.word}: ${check.argument}`);
  }
  return wrong.length > 0 ? [...wrong, ...text.split('\n').slice(0, FIRST_SCREEN)].join('\n') : undefined;
}

/** Returns how to build a program for a case; without $CHECK_ALL in more than one way only for a program's first case, and if it says so. */
function waysOf({ways, isUsual}, isFirst) {
  if (process.env.WAYS) return process.env.WAYS.split(' ');
  const isOneWay = process.env.ONE_WAY || (!isFirst || isUsual) && !process.env.CHECK_ALL && asked.length === 0;
  return isOneWay ? [ways.includes('stripped') ? 'stripped' : ways[0]] : ways;
}

/**
 * Whether a report is walked back to its heap, which takes most of the time: with $CHECK_ALL each; else, unless there is only one
 * way to build programs ($ONE_WAY), that of a program's first case, built in its first way, if its dump is not large.
 */
function mayBeWalked(each, way, first) {
  if (each.isUnwalked) return false;
  return Boolean(process.env.CHECK_ALL) || !process.env.ONE_WAY && each === first && way === waysOf(each, true)[0];
}
function isWalked(dump) {
  return Boolean(process.env.CHECK_ALL) || statSync(dump).size <= LARGEST_WALKED;
}

/** Whether a program has what differs between releases: of an older one only such programs are read. */
const differs = name => /map\[|sync\.Map|time\.(AfterFunc|NewTimer|NewTicker)/.test(readFileSync(join(programs, `${name}.go`), 'utf8'));
const usual = readdirSync(programs).filter(file => file.endsWith('.go')).map(file => file.slice(0, -3)).filter(name => !process.env.ONE_WAY || differs(name));
const names = asked.length > 0 ? asked : usual;
for (const file of names) {
  const source = join(programs, `${file}.go`), cases = casesOf(readFileSync(source, 'utf8'));
  const all = cases.filter(({from}) => minor(release) >= minor(from));
  const here = process.env.ONE_WAY ? all.slice(0, 1) : all; // an older release: the runtime differs, not the cases
  const typed = new Map(); // by case and way
  const ways = each => waysOf(each, each === here[0]);
  for (const way of new Set(here.flatMap(ways))) {
    const app = join(directory, `${file}-${way}`);
    try {
      execFileSync(join(process.env.GOROOT, 'bin/go'), ['build', '-o', app, ...buildFlags[way], source],
          {env: {...process.env, GO111MODULE: 'off', GOPATH: packages, GOFLAGS: '-trimpath', CGO_ENABLED: way === 'cgo' ? '1' : '0'}, stdio: 'pipe'});
    } catch (error) {
      report(`${file} builds with ${release}, ${way}`, String(error.stderr));
      continue;
    }
    for (const each of here.filter(one => ways(one).includes(way))) {
      const name = `${app}.${each.name}`;
      const title = [release, `${file}`, each.name, way].filter(Boolean).join(', ');
      try {
        const walked = mayBeWalked(each, way, here[0]), said = await reportOf(app, name, each, walked);
        if (said.skipped) {
          report(`${title} # SKIP ${said.skipped}`);
          continue;
        }
        report(title, wrongWith(said, each.checks, way));
        typed.set(`${each.name} ${way}`, said.typed);
        if (walked && isWalked(`${name}.dump`)) report(`${title}: walked`, wrongInGraph(app, name));
      } catch (error) {
        report(title, error);
      }
    }
  }
  const worse = here.map(({name}) => [name, typed.get(`${name} plain`), typed.get(`${name} stripped`)])
      .filter(([, plain, stripped]) => plain !== undefined && stripped !== undefined && !(plain > stripped - LESS_TYPED));
  if (typed.size > 0)
    report(`${release}, ${file}: as much is typed as when it is stripped`,
        worse.map(([name, plain, stripped]) => `${name}: ${plain} %, stripped ${stripped} %`).join('\n') || undefined);
}
end();
