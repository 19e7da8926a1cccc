// Runs a program of the zoo, reads it as a user would, and judges what is said by what the program knows of itself. Each fault has a
// kind:
//
//   garbage     live objects are called garbage, or objects that nothing holds are not
//   types       objects have another class than they have; untyped: in a stripped program
//   proof       a goroutine is called leaked that runs again later: never allowed
//   missed      a goroutine that can never run again is not called leaked
//   line        a goroutine that waits is not listed at its line
//   threads     an output depends on the number of threads
//   formats     formats disagree about a figure
//   screen      the first suspect is not what has most: its holder, its class, its bytes
//   show        what the report calls the holder does not lead back to the object
//   grew        with a base: what grew is not named, or something else is
//   trend       of four dumps: the same
//   early       the machine was too busy to judge goroutines
//   failed      a conversion failed, or complained

import {execFile, execFileSync, spawn} from 'node:child_process';
import {createHash} from 'node:crypto';
import {once} from 'node:events';
import {mkdirSync, readFileSync, readdirSync, rmSync} from 'node:fs';
import {join} from 'node:path';
import {promisify} from 'node:util';

import {wrongSuspects} from '../suspects.mjs';
import {containers, elements, holders, waits} from './grammar.mjs';

/** The bytes that the report gives may differ from those of the allocator by this share, and by what the runtime's own tables take. */
const SHARE = 0.05, SLACK = 12288;
const NEAR = 3; // objects of garbage that a word of a stack may still lead to

/** A running program. */
class Running {
  constructor(app, seed, directory, aborts) {
    const options = {stdio: ['pipe', 'pipe', aborts ? 'ignore' : 'inherit'], cwd: directory, env: {...process.env, ZOO_DELAY: `${process.env.DELAY ?? 8}s`, GORACE: 'report_bugs=0 atexit_sleep_ms=0', ...(aborts ? {GOTRACEBACK: 'crash'} : {})}};
    this.process = spawn('/bin/sh', ['-c', `${aborts ? 'ulimit -c unlimited; ' : ''}exec "$0" "$1"`, app, String(seed)], options);
    this.output = '';
    this.isOver = false;
    this.waiters = [];
    this.hung = setTimeout(() => this.tell(this.isHung = true), 300_000);
    this.process.stdout.on('data', data => this.tell(this.output += data));
    this.process.on('close', () => this.tell(this.isOver = true)); // exit may come before the last output
    this.process.stdin.on('error', () => {}); // the program has ended, which until() says
  }
  tell() {
    for (const resolve of this.waiters.splice(0)) resolve();
  }
  async until(pattern, times) {
    while ((this.output.match(pattern) ?? []).length < times) {
      if (this.isOver) throw new Error(`the program ended: ${this.output.slice(-300)}`);
      if (this.isHung) throw new Error(`the program does not go on: ${this.output.slice(-300)}`);
      await new Promise(resolve => this.waiters.push(resolve));
    }
  }
  async ask(line, pattern) {
    const times = (this.output.match(pattern) ?? []).length + 1;
    this.process.stdin.write(`${line}\n`);
    await this.until(pattern, times);
  }
  facts() {
    return [...this.output.matchAll(/^FACT (.*)$/gm)].map(([, json]) => JSON.parse(json));
  }
  async end(signal = 'SIGKILL') {
    clearTimeout(this.hung);
    this.process.kill(signal);
    if (!this.isOver) await once(this.process, 'close');
  }
}

const hash = data => createHash('sha256').update(data).digest('hex').slice(0, 16);

/** Returns by class how many objects the program holds: those of plants whose counts are certain. soft: classes that no type tells. */
function heldClasses(plan, counts) {
  const classes = new Map(), soft = new Set(), add = (name, tag, n) => classes.set(`main.${name.replace('$', tag)}`, (classes.get(`main.${name.replace('$', tag)}`) ?? 0) + n);
  for (const {number, tag, types = tag, container, element} of plan.plants) {
    const c = containers[container], e = elements[element], count = counts.get(number);
    if (c.count === 'loose') soft.add(`main.E${types}`).add('loose');
    if (!c.values && !c.none) add('E$', types, count * (e.self ?? 1));
    if (e.blocks) soft.add(`main.E${types}`); // several share a block
    for (const [name, each] of [...Object.entries(c.none ? {} : e.extra ?? {}), ...Object.entries(c.extra ?? {})]) add(name, types, count * each);
    for (const [name, each] of Object.entries(c.once ?? {})) add(name, types, each);
    if (types === tag && !c.none) for (const [name, each] of Object.entries(e.once ?? {})) add(name, types, each);
    if (c.count === 'loose' || c.slow || e.values || c.values && e.self) for (const name of ['E$', ...Object.keys(e.extra ?? {}), ...Object.keys(c.extra ?? {})]) soft.add(`main.${name.replace('$', types)}`);
    if (c.slow) for (const name of [...e.blocks ? [] : ['E$'], ...Object.keys(e.extra ?? {})]) soft.delete(`main.${name.replace('$', types)}`);
  }
  for (const name of soft) classes.delete(name);
  for (const {number, container, element} of plan.plants)
    for (const [name, each] of containers[container].none || containers[container].count === 'loose' ? [] : Object.entries(elements[element].classes ?? {})) classes.set(name, (classes.get(name) ?? 0) + each * counts.get(number));
  return classes;
}

/** Checks the counts of classes among the reachable objects. */
function judgeClasses(report, plan, mayLack, held, facts, add) {
  const rows = new Map(), {garbage} = plan, sum = list => list.reduce((a, b) => a + b, 0);
  const bytes = sum([...facts.values()].map(({added}) => added)), objects = sum([...held.values()]);
  const lacks = report.heap.bytes < bytes || report.heap.objects < objects;
  for (const {class: name, objects} of report.classes) rows.set(name, objects);
  const what = plan.plants.map(({container, element, holder}) => `${container} of ${element} in ${holder}`).join('; ');
  for (const {number, tag, types = tag, container, element} of plan.plants)
    if (elements[element].closures && !containers[container].none && !containers[container].values && containers[container].count !== 'loose' && types === tag) {
      const twins = plan.plants.filter(plant => plant.number === number || plant.types === tag), count = sum(twins.map(plant => facts.get(plant.number).count));
      const found = sum([...rows].filter(([name]) => name.startsWith('func ') && new RegExp(`new${tag}\\.`).test(name)).map(([, objects]) => objects));
      if (found < count || found > count + NEAR) add(mayLack ? 'untyped' : 'types', `func new${tag}: ${found} closures reachable, ${count} held (${container} of ${element})`);
    }
  for (const [name, count] of held) {
    const found = rows.get(name) ?? 0;
    // A value that a frame or register still has, or that is dropped while it is replaced, may be one more.
    if (found === count || found > count && found <= count + NEAR) continue;
    const kind = lacks || found > count ? 'garbage' : mayLack ? 'untyped' : 'types';
    add(kind, `${name}: ${found} reachable, ${count} held (${what})`);
  }
  if (lacks) add('garbage', `${report.heap.bytes} bytes in ${report.heap.objects} objects are reachable, ${bytes} in ${objects} are held`);
  if (garbage && (rows.get('main.Z') ?? 0) > NEAR) add('garbage', `main.Z: ${rows.get('main.Z')} reachable of ${garbage} dropped`);
}

/** Checks what is said of goroutines, by their numbers. hasProof: the way of reading is one that may prove. */
function judgeGoroutines(plan, report, begun, woken, hasProof, add) {
  const leaked = new Set(report.leaked?.goroutines?.map(({goid}) => goid) ?? []);
  if (!report.leaked && !plan.waits.some(({kind}) => kind.startsWith('leak_'))) return undefined;
  if (!report.leaked) return add('missed', 'nothing is said of goroutines that are leaked');
  if (hasProof && report.leaked.proof !== 'proved') add('missed', `no proof: ${report.leaked.proof}`);
  for (const {goid, waits: name} of begun) {
    const kind = plan.waits.find(({tag}) => new RegExp(`\\.w${tag}\\b`).test(name))?.kind;
    if (leaked.has(goid) && woken.has(goid)) add('proof', `${kind}: goroutine ${goid} (${name}) is called leaked, and ran again`);
    if (hasProof && !leaked.has(goid) && kind?.startsWith('leak_') && !waits[kind].soft && report.leaked.proof === 'proved') add('missed', `${kind}: goroutine ${goid} (${name}) is leaked`);
    if (kind?.startsWith('wakes_') && !woken.has(goid)) add('failed', `${kind}: goroutine ${goid} did not wake: the program is wrong`);
  }
  return undefined;
}

/** Checks that the goroutines of each place are counted there. */
function judgeLines(plan, report, begun, add) {
  const places = new Map();
  for (const {waits: name, line} of begun) {
    const short = name.replace(/\[\.\.\.\]$/, ''), key = `${short} ${line}`;
    places.set(key, {short, line, count: (places.get(key)?.count ?? 0) + 1});
  }
  for (const {short, line, count} of places.values()) {
    const rows = report.goroutines.filter(({waits_at: at = '', place}) => [at, place].some(text => text.includes(short) && new RegExp(`\\.go:${line}\\b`).test(text)));
    const found = rows.reduce((sum, row) => sum + row.count, 0);
    const kind = plan.waits.find(({tag}) => new RegExp(`\\.w${tag}\\b`).test(short))?.kind;
    if (found !== count) add('line', `${kind}: ${found} of ${count} at ${short} line ${line}: ${JSON.stringify(report.goroutines.filter(row => JSON.stringify(row).includes(short)).map(row => row.waits_at ?? row.place)).slice(0, 300)}`);
  }
}

/** Returns whether a suspect is of a plant's classes. */
const isOf = (suspect, {tag, types = tag}) => new RegExp(`main\\.(\\(\\*)?(\\w\\.)?[A-Z]${types}\\b`).test(JSON.stringify(suspect));

/** Returns whether a suspect is of a plant's classes, or of those of its container. */
const fits = (suspect, plant) => isOf(suspect, plant) || containers[plant.container].as?.test(JSON.stringify(suspect));

/** Returns whether a suspect is of one of the goroutines that wait. */
const isOfWaits = (suspect, {waits: waiting}) => waiting.some(({tag}) => new RegExp(`[A-Za-z]${tag}\\b`).test(JSON.stringify(suspect)));

/** Returns what names a plant's holder: its expression, or that of another that holds all of it; in a stripped program also the functions that use it. */
function holderPattern({holder, container, tag, types = tag}, isStripped) {
  const names = holders[holder].says.source.replaceAll('C\\$', `C${types}`).replaceAll('\\$', tag).replaceAll('%', tag.split('_')[0]);
  const by = holders[holder].by ? `global (set|used|initialized) by ${holders[holder].by}\\b|` : '';
  const others = containers[container].also ? `${containers[container].also.source.replaceAll('C\\$', `C${types}`).replaceAll('\\$', types)}|` : '';
  return new RegExp(isStripped ? `${by}${others}${names}|(global (set|used|initialized) by|used by|local of|argument of|result of) (main|store)\\.?[^"]{0,40}((hold|fill|serve|outer|inner|add)${holders[holder].shared ? '\\w+' : tag}\\b|new${types}\\b|\\(\\*C${types}\\)|(Put|Get|init)\\b)` : others + names);
}

const tellPlant = ({container, element, holder, count}) => `${count} in ${container} of ${element} in ${holder}`;

/**
 * Checks that a suspect is a plant. bytes: what the program holds there; 0: not known. isLoose: what load has dropped since the base may
 * be of the same classes, whose growth bounds what is said.
 */
function judgeSuspect(kind, plant, isStripped, first, bytes, of, add, isLoose = false) {
  const where = tellPlant(plant);
  if (!first) return add(kind, `${where}: no suspect`);
  const said = JSON.stringify(first).slice(0, 400);
  if (!fits(first, plant) && !holders[plant.holder].opaque) return add(kind, `${where}: another class: ${said}`);
  if (!holderPattern(plant, isStripped).test(JSON.stringify(first))) return add(kind, `${where}: another holder: ${said}`);
  // Of a container of several parts one part may be said, if it is most.
  let share = 0.5;
  if (containers[plant.container].also) share = 0.4;
  if (containers[plant.container].elsewhere) share = 0.25;
  const least = (containers[plant.container].split || isLoose ? share : 1 - SHARE) * bytes - SLACK;
  if (bytes > 0 && (first[of] < least || first[of] > (1 + SHARE) * bytes + SLACK)) return add(kind, `${where}: ${first[of]} bytes, ${bytes} held: ${said}`);
  const isCounted = first.item === `main.E${plant.types ?? plant.tag}` && !elements[plant.element].self && !containers[plant.container].split && containers[plant.container].count !== 'loose';
  if (kind === 'screen' && isCounted && first.count !== plant.count) return add(kind, `${where}: ${first.count} are said: ${said}`);
  return undefined;
}

/** Checks the first suspect of a report without a base: it must be the plant that has most, or one that has nearly as much. */
function judgeScreen(plan, isStripped, report, facts, add) {
  const eachOf = (container, element) => containers[container].none ?? elements[element].bytes + 16 + (containers[container].each ?? 0);
  const bytesOf = ({number, count, element, container}) => (facts.get(number).added || count * eachOf(container, element)) + (containers[container].base ?? 0);
  const isExact = plan.moment !== 'before', most = Math.max(...plan.plants.map(plant => bytesOf(plant) * (containers[plant.container].elsewhere ? 0.5 : 1)));
  const first = report.suspects.find(suspect => !isOfWaits(suspect, plan));
  const tries = plan.plants.filter(plant => bytesOf(plant) >= most * (isExact ? 0.9 : 0.5)).map(plant => {
    const texts = [];
    judgeSuspect('screen', plant, isStripped, first, isExact && !containers[plant.container].base ? facts.get(plant.number).added : 0, 'retained', (_, text) => texts.push(text));
    return texts;
  });
  if (!tries.some(texts => texts.length === 0)) add('screen', tries[0][0]);
  return first;
}

/** Judges what four dumps say. A leak that slows is rising as well. */
function judgeTrend(plan, isStripped, trend, add) {
  const [leak] = plan.plants, rising = [...trend.steady, ...trend.slowing ?? []], said = JSON.stringify(rising).slice(0, 300);
  const names = JSON.stringify(rising);
  if (!isOf(rising, leak) && !holderPattern(leak, isStripped).test(names)) add('trend', `${tellPlant(leak)}: ${said}`);
  for (const plant of plan.plants.slice(1))
    for (const each of rising) if (holderPattern(plant, isStripped).test(JSON.stringify(each)) && !holderPattern(leak, isStripped).test(JSON.stringify(each))) add('trend', `${tellPlant(plant)} does not grow: ${JSON.stringify(each).slice(0, 200)}`);
}

/** Checks that what is held by several names at least two of them. */
function judgeSharing(rows, add) {
  for (const {name, holds = []} of rows) {
    if (name !== '(held by several)') judgeSharing(holds, add);
    else for (const {name: holders} of holds) if (!/ and |^\d/.test(holders)) add('formats', `held by several, but named by one: ${holders}`);
  }
}

/** Kills a program whose heap is to be written when it dies, and waits for the dump. */
async function die(program, running, directory, file) {
  const box = spawn(program, ['--at-death', '--pid', String(running.process.pid), '-o', file], {cwd: directory, stdio: ['ignore', 'ignore', 'pipe']}), over = once(box, 'close');
  let said = '', armed;
  box.stderr.on('data', data => (said += data, said.includes('is written when it is killed') && armed?.()));
  await Promise.race([over, new Promise(resolve => said.includes('is written when it is killed') ? resolve() : armed = resolve)]);
  await running.end();
  const [status] = await over;
  if (status !== 0) throw new Error(`--at-death: status ${status}: ${said}`);
}

/**
 * Judges the program of a plan, which has been built as app. Calls add(kind, text) for each fault.
 * ways: words of zoo.mjs; directory: for its files, removed unless there are faults.
 */
export async function judge(program, plan, directory, app, ways, add) {
  mkdirSync(directory, {recursive: true});
  const isStripped = ways.includes('stripped'), how = plan.read;
  const running = new Running(app, plan.seed, directory, how === 'core');
  const run = (...options) => promisify(execFile)(program, options, {maxBuffer: 1 << 30, encoding: 'buffer', cwd: directory});
  const take = name => how === 'dump' ? running.ask(`dump ${name}`, /^READY$/gm)
    : run('--pid', String(running.process.pid), ...(how === 'fork' ? ['--fork'] : []), '--format', 'dump', '-o', name);
  const report = async (...options) => {
    const {stdout} = await run('--exe', app, '--format', 'report', '--json', ...options);
    return {text: stdout, json: JSON.parse(stdout)};
  };
  const plants = () => new Map(running.facts().filter(({plant}) => plant).map(fact => [fact.plant, fact]));
  try {
    await running.until(/^READY$/gm, 1);
    let first = '1.dump', woken, grown, series = false;
    const wakes = () => new Set(begun.filter(({waits: name}) => plan.waits.some(({tag, kind}) => kind.startsWith('wakes_') && name.includes(`w${tag}`))).map(({goid}) => goid));
    const facts = plants(), begun = running.facts().filter(({goid}) => goid !== undefined);
    if (how === 'death') {
      await die(program, running, directory, first);
      woken = wakes();
    } else if (how === 'core') {
      await running.end('SIGABRT');
      first = readdirSync(directory).find(name => name.startsWith('core'));
      if (!first) return add('early', 'no core was written'); // not allowed here
      woken = wakes();
    } else {
      await take(first);
      grown = new Map();
    }
    const early = /^WOKE/m.test(running.output); // a busy machine
    if (early) add('early', 'goroutines ran again before the heap was read: nothing is judged of them');
    const lives = !['core', 'death'].includes(how), compares = lives && (plan.compares || plan.series);
    if (lives) {
      await running.ask('grow', /^READY$/gm); // also ends the noise
      if (compares) await take('2.dump');
      grown = plants();
      if (plan.series) {
        for (const name of ['3.dump', '4.dump']) {
          await running.ask('grow', /^READY$/gm);
          await take(name);
        }
        series = true;
      }
      await running.ask('wake', /^DONE$/gm);
      woken = new Set([...running.output.matchAll(/^WOKE (\d+)/gm)].map(([, id]) => Number(id)));
    }
    await running.end();

    const one = await report('-j', '2', '--reachable', first);
    const counts = new Map([...facts].map(([number, {count}]) => [number, count]));
    if (plan.moment !== 'load') judgeClasses(one.json, plan, isStripped || plan.plants.some(({holder}) => holders[holder].opaque), heldClasses(plan, counts), facts, add);
    if (!early) judgeGoroutines(plan, one.json, begun, woken, how !== 'dump' && plan.moment !== 'marking', add);
    if (!early) judgeLines(plan, one.json, begun, add);
    judgeSharing(one.json.tree, add);
    for (const wrong of wrongSuspects(one.json)) add('screen', wrong);
    const suspect = judgeScreen(plan, isStripped, one.json, facts, add);

    if (plan.also === 'threads') {
      const other = await report('-j', '1', '--reachable', first), snapshots = [];
      if (hash(one.text) !== hash(other.text)) add('threads', 'the report differs between -j 1 and -j 2');
      for (const threads of ['1', '8']) snapshots.push(hash((await run('--exe', app, '-j', threads, '--format', 'heapsnapshot', '-o', '-', first)).stdout));
      if (snapshots[0] !== snapshots[1]) add('threads', 'the snapshot differs between -j 1 and -j 8');
    } else if (plan.also === 'sqlite') {
      await run('--exe', app, '--format', 'sqlite', '--reachable', '-o', '1.db', first);
      const reachable = Number(execFileSync('sqlite3', [join(directory, '1.db'), 'select sum(self_size) from node_ where address is not null'], {encoding: 'utf8'}));
      if (reachable !== one.json.heap.bytes) add('formats', `SQLite has ${reachable} bytes of objects, the report ${one.json.heap.bytes}`);
    } else if (plan.also === 'snapshot') {
      await run('--exe', app, '--reachable', '-o', '1.heapsnapshot', first);
      const {snapshot: {meta}, nodes} = JSON.parse(readFileSync(join(directory, '1.heapsnapshot'), 'utf8'));
      const width = meta.node_fields.length, at = meta.node_fields.indexOf('self_size');
      let bytes = 0;
      for (let i = at; i < nodes.length; i += width) bytes += nodes[i];
      if (bytes !== one.json.heap.reachable) add('formats', `the snapshot has ${bytes} bytes, the report ${one.json.heap.reachable}`);
    } else if (suspect?.held_by && suspect.address) {
      const shown = await report('--show', suspect.held_by, first).catch(error => ({text: error.stderr ?? ''}));
      if (!shown.text.includes(suspect.address)) add('show', `${suspect.held_by} does not lead to ${suspect.address}: ${shown.text.toString().slice(0, 200)}`);
    }
    if (!compares) return undefined;

    const [leak] = plan.plants, two = await report('--base', '1.dump', '2.dump');
    for (const wrong of wrongSuspects(two.json)) add('grew', wrong);
    judgeSuspect('grew', leak, isStripped, two.json.suspects.find(each => !isOfWaits(each, plan)), grown.get(1).added, 'retained_grown', add, plan.moment === 'load');
    for (const each of two.json.suspects)
      for (const plant of plan.plants) if (plant.grows === 0 && !plant.twin && isOf(each, plant)) add('grew', `${tellPlant(plant)} ${plant.moves ? 'moved, and ' : ''}did not grow: ${JSON.stringify(each).slice(0, 300)}`);
    if (series) judgeTrend(plan, isStripped, JSON.parse((await run('--exe', app, '--format', 'report', '--json', '1.dump', '2.dump', '3.dump', '4.dump').catch(error => {
      if (error.code === 4) return error;
      throw error;
    })).stdout), add);
  } catch (error) {
    add('failed', error.stderr?.length ? `${error.message.split('\n')[0]}: ${error.stderr.toString().slice(0, 300)}` : String(error.stack));
  } finally {
    await running.end();
    if (!process.env.KEEP) rmSync(directory, {recursive: true});
  }
  return undefined;
}
