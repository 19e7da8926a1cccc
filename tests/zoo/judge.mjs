// Runs a program of the zoo, reads it as a user would, and judges what is said by what the program knows of itself. Each fault has a
// kind:
//
//   garbage     live objects are called garbage, or objects that nothing holds are not
//   types       objects have another class than they have; untyped: in a stripped program
//   proof       a goroutine is called leaked that runs again later: never allowed
//   missed      a goroutine that can never run again is not called leaked
//   threads     an output depends on the number of threads
//   formats     formats disagree about a figure
//   screen      the first suspect is not what leaks: its holder, its class, its bytes
//   grew        with a base: what grew is not named, or something else is
//   early       the machine was too busy to judge goroutines
//   failed      a conversion failed, or complained

import {execFile, execFileSync, spawn} from 'node:child_process';
import {createHash} from 'node:crypto';
import {once} from 'node:events';
import {join} from 'node:path';
import {promisify} from 'node:util';

import {containers, elements, holders, waits} from './grammar.mjs';

/** The bytes that the report gives may differ from those of the allocator by this share. */
const SHARE = 0.05;
const LEAST_OBJECT = 16, LITTER = 48; // bytes: of any object that is counted; of a main.Z
const NEAR = 3; // objects of garbage that a word of a stack may still lead to

/** A running program. */
class Running {
  constructor(app) {
    this.process = spawn(app, [], {stdio: ['pipe', 'pipe', 'inherit']});
    this.output = '';
    this.isOver = false;
    this.waiters = [];
    this.hung = setTimeout(() => this.tell(this.isHung = true), 300_000);
    this.process.stdout.on('data', data => this.tell(this.output += data));
    this.process.on('exit', () => this.tell(this.isOver = true));
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
  async end() {
    clearTimeout(this.hung);
    this.process.kill('SIGKILL');
    if (!this.isOver) await once(this.process, 'exit');
  }
}

const hash = data => createHash('sha256').update(data).digest('hex').slice(0, 16);

/** Returns by class how many objects the program holds: those of plants whose counts are certain. */
function heldClasses(plan, counts) {
  const classes = new Map();
  for (const {number, container, element} of plan.plants) {
    const c = containers[container], e = elements[element], count = counts.get(number);
    if (c.count === 'loose') continue;
    classes.set(`main.E${number}`, count * (e.self ?? 1));
    for (const [name, each] of Object.entries(e.extra ?? {})) classes.set(`main.${name.replace('$', number)}`, count * each);
    for (const [name, each] of Object.entries(c.extra ?? {})) classes.set(`main.${name.replace('$', number)}`, count * each);
  }
  return classes;
}

/** Checks the counts of classes among the reachable objects. */
function judgeClasses(report, isStripped, held, garbage, add) {
  const rows = new Map();
  for (const {class: name, objects} of report.classes) rows.set(name, objects);
  for (const [name, count] of held) {
    const found = rows.get(name) ?? 0, isGarbage = found < count && report.heap.garbage - garbage * LITTER >= (count - found) * LEAST_OBJECT;
    const kind = isGarbage || found > count ? 'garbage' : isStripped ? 'untyped' : 'types';
    if (found !== count) add(kind, `${name}: ${found} reachable, ${count} held`);
  }
  if (garbage && (rows.get('main.Z') ?? 0) > NEAR) add('garbage', `main.Z: ${rows.get('main.Z')} reachable of ${garbage} dropped`);
}

/** Checks what is said of goroutines, by their numbers. */
function judgeGoroutines(plan, report, begun, woken, add) {
  const leaked = new Set(report.leaked.goroutines?.map(({goid}) => goid) ?? []);
  if (report.leaked.proof !== 'proved') add('missed', `no proof: ${report.leaked.proof}`);
  for (const {goid, waits: name} of begun) {
    const kind = plan.waits.find(({number}) => name === `main.w${number}`)?.kind;
    if (leaked.has(goid) && woken.has(goid)) add('proof', `${kind}: goroutine ${goid} (${name}) is called leaked, and ran again`);
    if (!leaked.has(goid) && kind?.startsWith('leak_') && report.leaked.proof === 'proved') add('missed', `${kind}: goroutine ${goid} (${name}) is leaked`);
    if (kind?.startsWith('wakes_') && !woken.has(goid)) add('failed', `${kind}: goroutine ${goid} did not wake: the program is wrong`);
  }
}

/** Returns whether a suspect is of a plant's classes. */
const isOf = (suspect, number) => new RegExp(`main\\.(\\w\\.)?[A-Z]${number}\\b`).test(JSON.stringify(suspect));

/** Returns what names a plant's holder: its expression; in a stripped program also the functions that use it. */
function holderPattern({holder, number}, isStripped) {
  const names = holders[holder].says.source.replaceAll('\\$', number);
  return new RegExp(isStripped ? `${names}|(global (set|used|initialized) by|local of|argument of) main\\.((hold|fill|new|serve)${number}\\b|\\(\\*C${number}\\)|init)` : names);
}

/** Checks that a suspect is what leaks. bytes: what the program holds there; 0: not known. */
function judgeSuspect(kind, plan, way, suspects, bytes, of, add) {
  const [leak] = plan.plants, [first] = suspects;
  const where = `${leak.container} of ${leak.element} in ${leak.holder}`;
  if (!first) return add(kind, `${where}: no suspect`);
  const said = JSON.stringify(first).slice(0, 300);
  if (!isOf(first, leak.number)) return add(kind, `${where}: another class: ${said}`);
  if (!holderPattern(leak, way.stripped).test(JSON.stringify(first))) return add(kind, `${where}: another holder: ${said}`);
  if (bytes > 0 && Math.abs(first[of] - bytes) > SHARE * bytes) add(kind, `${where}: ${first[of]} bytes, ${bytes} held: ${said}`);
}

/**
 * Judges a program that has been built as app in directory. Calls add(kind, text) for each fault.
 * way.dump: read by WriteHeapDump instead of from outside; way.stripped: without symbols and DWARF.
 */
export async function judge(program, plan, directory, app, way, add) {
  const running = new Running(app), run = (...options) => promisify(execFile)(program, options, {maxBuffer: 1 << 30, encoding: 'buffer'});
  const file = name => join(directory, name);
  const take = async name => way.dump ? running.ask(`dump ${file(name)}`, /^READY$/gm)
    : run('--pid', String(running.process.pid), '--format', 'dump', '-o', file(name));
  const report = async (...options) => {
    const {stdout} = await run('--exe', app, '--format', 'report', '--json', ...options);
    return {text: stdout, json: JSON.parse(stdout)};
  };
  try {
    await running.until(/^READY$/gm, 1);
    await take('1.dump');
    const early = /^WOKE/m.test(running.output); // a busy machine
    if (early) add('early', 'goroutines ran again before the heap was read: nothing is judged of them');
    const begun = running.facts().filter(({goid}) => goid !== undefined);
    const first = new Map(running.facts().filter(({plant}) => plant).map(fact => [fact.plant, fact]));
    await running.ask('grow', /^READY$/gm);
    await take('2.dump');
    const grown = new Map(running.facts().filter(({plant}) => plant).map(fact => [fact.plant, fact]));
    await running.ask('wake', /^DONE$/gm);
    const woken = new Set([...running.output.matchAll(/^WOKE (\d+)/gm)].map(([, id]) => Number(id)));

    const one = await report('-j', '2', '--reachable', file('1.dump'));
    const counts = facts => new Map([...facts].map(([number, {count}]) => [number, count]));
    judgeClasses(one.json, way.stripped, heldClasses(plan, counts(first)), plan.garbage, add);
    if (!early && !way.dump) judgeGoroutines(plan, one.json, begun, woken, add);
    if (!early && way.dump) judgeGoroutines(plan, {leaked: {...one.json.leaked, proof: 'of a dump'}}, begun, woken, (kind, text) => kind === 'proof' && add(kind, text));
    judgeSuspect('screen', plan, way, one.json.suspects, first.get(1).added, 'retained', add);

    const options = ['--base', file('1.dump'), file('2.dump')];
    const [two, other] = [await report('-j', '1', ...options), await report('-j', '3', ...options)];
    if (hash(two.text) !== hash(other.text)) add('threads', 'the report with a base differs between -j 1 and -j 3');
    judgeSuspect('grew', plan, way, two.json.suspects, grown.get(1).added, 'retained_grown', add);
    for (const suspect of two.json.suspects)
      for (const {number, grows} of plan.plants) if (grows === 0 && isOf(suspect, number) && !isOf(suspect, 1)) add('grew', `plant ${number} did not grow: ${JSON.stringify(suspect).slice(0, 200)}`);

    await run('--exe', app, '--format', 'sqlite', '--reachable', '-o', file('1.db'), file('1.dump'));
    const [[reachable]] = execFileSync('sqlite3', ['-separator', ' ', file('1.db'), 'select sum(self_size) from node_ where address is not null'], {encoding: 'utf8'})
      .trim().split('\n').map(row => row.split(' ').map(Number));
    const objects = one.json.heap.bytes;
    if (reachable !== objects) add('formats', `SQLite has ${reachable} bytes of objects, the report ${objects}`);
  } catch (error) {
    add('failed', error.stderr ? `${error.message.split('\n')[0]}: ${error.stderr.toString().slice(0, 300)}` : String(error.stack));
  } finally {
    await running.end();
  }
}
