// Tests that src/ does not become larger or more fragmented than the figures below say. A change that raises a figure says why in
// its commit message; one that lowers a figure writes the lower one here. TAP on standard output.
//
//   budget.mjs [--print] [TREE]     --print: only prints the measures, as a table
//
// Lines and functions are found by patterns that fit the layout of clang-format (.clang-format), without a compiler.

import {readdirSync, readFileSync, statSync} from 'node:fs';
import {dirname, join, posix} from 'node:path';
import {fileURLToPath} from 'node:url';

/** By measure: the most that is allowed, and what it means. */
const budget = {
  codeLines: [87757, 'lines of src/ that are neither empty nor comments'],
  sharedNames: [1, 'percent of functions whose name is in more than one file'],
  sharedFiles: [0, 'names of files of src/ that are there more than once'],
  calledOnce: [67, 'percent of static functions that are named once outside of their definition'],
  functionsPerFile: [15, 'functions of a .c file, on average'],
  smallHeaders: [68, 'headers of less than 60 lines that one file includes'],
};

/** Reads all .c and .h files of src/: a Map from path to text. */
function read(tree) {
  const files = new Map();
  const walk = path => {
    for (const name of readdirSync(join(tree, path)).sort()) {
      const child = posix.join(path, name);
      if (statSync(join(tree, child)).isDirectory()) walk(child);
      else if (/\.[ch]$/.test(child)) files.set(child, readFileSync(join(tree, child), 'utf8'));
    }
  };
  walk('src');
  return files;
}

/** Returns the code of a file without comments and strings; lines stay where they are. */
const codeOf = text => text.replace(/\/\*.*?\*\/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])+'|\/\/[^\n]*/gs,
  found => found.startsWith('/') ? found.replace(/[^\n]+/g, '') : '""');

/** Yields the functions that code defines: {name, isStatic}. A definition begins at the start of a line, and so does its brace. */
function* functionsOf(code) {
  for (const [, head, name] of code.matchAll(/^((?:[a-zA-Z_][\w]*[ *]+)+)(\w+)\([^;{}]*\)\n\{/gm)) {
    if (!/^(?:typedef|struct \w+ =)/.test(head)) yield {name, isStatic: /\bstatic\b/.test(head)};
  }
}

/** Returns the measures of the files: an object with the keys of budget. */
function measure(files) {
  const where = new Map(), names = new Map(), includers = new Map();
  let codeLines = 0, functions = 0, inSource = 0, sources = 0, statics = 0, calledOnce = 0;
  for (const [path, text] of files) {
    const code = codeOf(text), defined = [...functionsOf(code)];
    codeLines += code.split('\n').filter(line => line.trim() !== '').length;
    functions += defined.length;
    const base = posix.basename(path);
    names.set(base, (names.get(base) ?? 0) + 1);
    for (const [, included] of text.matchAll(/^#include "([^"]+)"/gm)) {
      const header = posix.join('src', included);
      includers.set(header, (includers.get(header) ?? new Set()).add(path));
    }
    const uses = new Map();
    for (const [word] of code.matchAll(/\w+/g)) uses.set(word, (uses.get(word) ?? 0) + 1);
    for (const {name, isStatic} of defined) {
      where.set(name, (where.get(name) ?? new Set()).add(path));
      if (!isStatic || path.endsWith('.h')) continue;
      statics++;
      calledOnce += uses.get(name) === 2;
    }
    if (!path.endsWith('.c')) continue;
    sources++;
    inSource += defined.length;
  }
  const shared = [...where.values()].filter(paths => paths.size > 1).reduce((sum, paths) => sum + paths.size, 0);
  const small = [...files].filter(([path, text]) => path.endsWith('.h') && text.split('\n').length <= 60 &&
    [...includers.get(path) ?? []].filter(from => from !== path.replace(/h$/, 'c')).length <= 1);
  return {
    codeLines,
    sharedNames: 100 * shared / functions,
    sharedFiles: [...names.values()].filter(count => count > 1).length,
    calledOnce: 100 * calledOnce / statics,
    functionsPerFile: inSource / sources,
    smallHeaders: small.length,
  };
}

const [first] = process.argv.slice(2);
const tree = process.argv.slice(2).find(word => !word.startsWith('--')) ?? join(dirname(fileURLToPath(import.meta.url)), '../..');
const files = read(tree), now = measure(files);
const figure = number => Number.isInteger(number) ? String(number) : number.toFixed(1);
if (first === '--print') {
  for (const [name, [most, what]] of Object.entries(budget)) console.log(`${figure(now[name]).padStart(8)} of ${String(most).padStart(6)}  ${what}`);
  process.exit();
}

let tests = 0;
function test(name, isGood, ...lines) {
  console.log(`${isGood ? 'ok' : 'not ok'} ${++tests} - ${name}`);
  for (const line of isGood ? [] : lines) console.log(`# ${line}`);
  if (!isGood) process.exitCode = 1;
}

for (const [name, [most, what]] of Object.entries(budget)) {
  test(`budget of src/: ${what}`, now[name] <= most, `${figure(now[name])}, and ${most} are allowed: tests/layering/budget.mjs`);
}

// Changes that the measures must notice.
const one = [...files.keys()].find(path => path.endsWith('.c'));
const copies = text => new Map([...files, ['src/heap/annex.c', text]]);
const twice = `${[...functionsOf(codeOf(files.get(one)))].map(({name}) => `static int ${name}(void)\n{\n    return 0;\n}\n`).join('')}`;
test('a function that has the name of another one would be noticed', measure(copies(twice)).sharedNames > now.sharedNames);
test('a line more would be noticed', measure(copies('int annex;\n')).codeLines === now.codeLines + 1);
test('a comment would not be counted', measure(copies('/* int\n * annex; */\n')).codeLines === now.codeLines);
test('a file that has the name of another one would be noticed',
  measure(new Map([...files, [posix.join('src/annex', posix.basename(one)), '']])).sharedFiles === now.sharedFiles + 1);
const steps = Array.from({length: 400}, (_, i) => `static int annex_${i}(void)\n{\n    return 0;\n}\nint annex${i}(void)\n{\n    return annex_${i}();\n}\n`).join('');
test('functions that are called once would be noticed', measure(copies(steps)).calledOnce > now.calledOnce);
test('a file with many functions would be noticed', measure(copies(steps)).functionsPerFile > now.functionsPerFile);
test('a small header would be noticed', measure(new Map([...files, ['src/heap/annex.h', 'int annex;\n']])).smallHeaders === now.smallHeaders + 1);
console.log(`1..${tests}`);
