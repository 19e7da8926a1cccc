// Which tests execute which lines of the unchanged program: collected once per revision, so that a mutant is only shown to tests
// that can notice it.
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { commands, failures, oracleTests } from './killers.mjs';
import { childSeconds } from './processes.mjs';

/**
 * Reads the blocks of an object: for each return address of a call of __sanitizer_cov_trace_pc, the lines of code up to the next
 * such call.
 */
function readBlocks(tree, object) {
  const { stdout } = spawnSync('objdump', ['-dlr', '--no-show-raw-insn', '-j', '.text', object], { cwd: tree, maxBuffer: 1e9 });
  const blocks = [];
  let block = null;
  let place = '';
  let called = false;
  for (const line of String(stdout).split('\n')) {
    if (/^[0-9a-f]+ <.*>:$/.test(line)) block = null;
    const at = /^(\/\S+):(\d+)( \(discriminator \d+\))?$/.exec(line);
    if (at) {
      // ccache may have the object from another clone
      place = `${at[1].slice(at[1].lastIndexOf('/src/') + 1)}:${at[2]}`;
      continue;
    }
    if (line.includes('R_X86_64_PLT32\t__sanitizer_cov_trace_pc')) {
      called = true;
      continue;
    }
    const instruction = /^ *([0-9a-f]+):\t/.exec(line);
    if (!instruction) continue;
    if (called) {
      block = { address: parseInt(instruction[1], 16), lines: new Set() };
      blocks.push(block);
      called = false;
    }
    if (block && place) block.lines.add(place);
  }
  return blocks;
}

/** Where the linker's map says that the code of each object starts, from the start of the program. */
function readMap(file) {
  const starts = new Map();
  for (const match of fs.readFileSync(file, 'utf8').matchAll(/^ \.text +0x([0-9a-f]+) +0x([0-9a-f]+) (\S+\.o)\)?$/gm)) {
    // of the library: build/covered/covered.a(src+dump+reader.o)
    const object = match[3].includes('(') ? `build/covered/${match[3].split('(')[1].replaceAll('+', '/')}` : match[3];
    if (parseInt(match[2], 16)) starts.set(object, parseInt(match[1], 16));
  }
  return starts;
}

const marksSize = 1 << 23;
/** Makes an empty file for the marks of coverage.c. */
function emptyMarks(file) {
  fs.writeFileSync(file, '');
  fs.truncateSync(file, marksSize);
  fs.chmodSync(file, 0o666); // tests run programs as other users
}

/** The names of all tests of tier check, by killer. */
function testNames(base) {
  const there = (file) => fs.existsSync(path.join(base.tree, file));
  return {
    golden: fs.readFileSync(path.join(base.tree, 'tests/golden/cases'), 'utf8').split('\n').filter((line) => line && !line.startsWith('#')).map((line) => line.split('\t')[0]),
    live: there('tests/golden/live.mjs') ? ['live'] : [],
    oracle: oracleTests,
    cli: fs.readdirSync(path.join(base.tree, 'tests/cli')).filter((name) => name.endsWith('.test.sh')).map((name) => name.slice(0, -8)),
    unit: base.unitTests,
  };
}

/** Runs the tests of a killer that are not known yet with the program that counts, and adds them. */
async function addTests(base, killer, known, save) {
  const missing = testNames(base)[killer].filter((name) => !known.tests.some((test) => test.name === name));
  if (missing.length === 0) return;
  console.error(`coverage of ${killer}`);
  const folder = path.join(base.home, `coverage-${killer}`);
  fs.rmSync(folder, { recursive: true, force: true });
  fs.mkdirSync(path.join(folder, 'bin'), { recursive: true });
  const blocks = new Map();
  for (const object of base.objectsOf('covered', [...base.objects.program, ...base.objects.library])) blocks.set(object, readBlocks(base.tree, object));
  for (const block of [...blocks.values()].flat()) {
    for (const line of block.lines) {
      const [file, number] = line.split(':');
      if (!(known.code[file] ??= []).includes(Number(number))) known.code[file].push(Number(number));
    }
  }
  for (const lines of Object.values(known.code)) lines.sort((a, b) => a - b);
  const how = commands(base.tree);
  /** Adds a test with the lines that its marks say. */
  const add = (name, marksFile, map, failed, seconds) => {
    const marks = fs.readFileSync(marksFile);
    const lines = new Set();
    for (const [object, start] of map) {
      for (const block of blocks.get(object) ?? []) if (marks[start + block.address]) for (const line of block.lines) lines.add(line);
    }
    fs.rmSync(marksFile);
    const files = {};
    for (const line of lines) {
      const [file, number] = line.split(':');
      (files[file] ??= []).push(Number(number));
    }
    known.tests.push({ killer, name, failed, seconds, files });
  };
  const runOne = async (name, program, map) => {
    const marks = path.join(folder, 'marks');
    emptyMarks(marks);
    const [command, options] = how[killer](program, [name]);
    const start = childSeconds();
    const { names } = await failures(command, { ...options, env: { ...options.env, COVERAGE: marks }, stop: false });
    console.error(`${killer} ${name}: ${(childSeconds() - start).toFixed(1)} s${names.length ? `, fails without a mutant: ${names.join('; ')}` : ''}`);
    add(name, marks, map, names, childSeconds() - start);
    save();
  };

  if (killer === 'unit') {
    for (const name of missing) {
      const unit = path.join(folder, name);
      base.link('covered', name, unit);
      await runOne(name, unit, readMap(`${unit}.map`));
    }
    return;
  }
  const program = path.join(folder, 'bin/go2heapsnapshot');
  base.link('covered', '', program);
  const map = readMap(`${program}.map`);
  if (killer !== 'golden') {
    for (const name of missing) await runOne(name, program, map);
    return;
  }
  const marks = path.join(folder, 'golden');
  for (const name of missing) emptyMarks(`${marks}.${name}`);
  const [command, options] = how.golden(program, missing);
  const { names } = await failures(command, { ...options, env: { ...options.env, COVERAGE: marks, FAIL_FAST: '' }, stop: false });
  for (const name of names) console.error(`${name} fails without a mutant`);
  for (const name of missing) add(name, `${marks}.${name}`, map, names.filter((failed) => failed.replace('golden: ', '') === name), 0);
  save();
}

/** Gives the tests of a killer, each with the lines that it executes. */
export async function collect(base, killer) {
  const file = path.join(base.home, `coverage-${killer}.json`);
  const coverage = fs.existsSync(file) ? JSON.parse(fs.readFileSync(file, 'utf8')) : { code: {}, tests: [] };
  const save = () => {
    fs.writeFileSync(`${file}.new`, JSON.stringify(coverage));
    fs.renameSync(`${file}.new`, file);
  };
  await addTests(base, killer, coverage, save);
  // A golden case that fails without a mutant tells nothing, nor does a test that is no longer there.
  const names = new Set(testNames(base)[killer]);
  coverage.tests = coverage.tests.filter((test) => names.has(test.name) && (killer !== 'golden' || !test.failed.length));
  if (killer !== 'golden') coverage.tests.sort((one, other) => one.seconds - other.seconds);
  for (const test of coverage.tests) for (const [name, lines] of Object.entries(test.files)) test.files[name] = new Set(lines);
  return coverage;
}

/**
 * The tests that execute a mutant's line. If it has no code of its own, it belongs to a statement that begins above it; if it is in
 * a table, each test that executes anything of the module may read it.
 */
export function testsOfLine(coverage, { file, line, inFunction }) {
  if (!inFunction) {
    const module = path.dirname(file);
    return coverage.tests.filter((test) => Object.keys(test.files).some((name) => path.dirname(name) === module));
  }
  const code = coverage.code[file] ?? [];
  const above = code.filter((number) => number < line).at(-1);
  const places = code.includes(line) ? [line] : [above];
  return coverage.tests.filter((test) => places.some((place) => test.files[file]?.has(place)));
}
