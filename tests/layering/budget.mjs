// Prints how dense and fragmented src/ is, and tests what readers stumble over most: statements with more than one "?", and functions
// with more than six parameters. A change that lowers one of these figures writes the lower one here. TAP on standard output.
//
//   budget.mjs [--print] [TREE]     --print: only prints the measures, as a table
//
// All is found by patterns that fit the layout of clang-format (.clang-format), without a compiler.

import {readdirSync, readFileSync, statSync} from 'node:fs';
import {dirname, join, posix} from 'node:path';
import {fileURLToPath} from 'node:url';

/** By measure: the most that is allowed, or null, and what it means. */
const budget = {
  sourceFiles: [null, '.c files'],
  headers: [null, '.h files'],
  codeLines: [null, 'lines of code that are neither empty nor comments'],
  tokensPerLine: [null, 'tokens per line'],
  conditionals: [null, '?: per 1,000 lines'],
  nested: [39, 'statements with two or more ?'],
  asserts: [null, 'asserts per 1,000 lines'],
  casts: [null, 'casts per 1,000 lines'],
  structs: [null, 'structs per 1,000 lines'],
  manyParameters: [10, 'functions with more than six parameters'],
  sharedFiles: [0, 'names of files that are there more than once'],
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

/** Returns the code of a file without comments, strings and characters, which would look like code. */
const codeOf = text => text.replace(/\/\*.*?\*\/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])+'|\/\/[^\n]*/gs,
  found => found.startsWith('/') ? ' ' : found[0] === '"' ? '""' : '0');

const count = (text, pattern) => [...text.matchAll(pattern)].length;

/** Yields the numbers of parameters of the functions that code defines. */
function* parametersOf(code) {
  for (const [, list] of code.matchAll(/^(?:[a-zA-Z_]\w*[ *\n]+)+\w+\(([^;{}]*)\)\n\{/gm)) yield list.split(',').length;
}

/** Returns the measures of the files: an object with the keys of budget. */
function measure(files) {
  const names = new Map(), sum = {codeLines: 0, tokens: 0, conditionals: 0, nested: 0, asserts: 0, casts: 0, structs: 0, many: 0};
  for (const [path, text] of files) {
    const code = codeOf(text), base = posix.basename(path);
    names.set(base, (names.get(base) ?? 0) + 1);
    sum.codeLines += code.split('\n').filter(line => line.trim() !== '').length;
    sum.tokens += count(code, /\w+|[^\w\s]{1,2}/g);
    sum.conditionals += count(code, /\?/g);
    sum.nested += code.split(/[;{}]/).filter(statement => count(statement, /\?/g) > 1).length;
    sum.asserts += count(code, /\bassert\(/g);
    sum.casts += count(code, /\((?:const )?(?:struct \w+|enum \w+|\w+_t|char|int|unsigned|double|float|long)(?: \**)?\)[\w(&*]/g);
    sum.structs += count(code, /^\s*(?:typedef )?struct(?: \w+)? \{/gm);
    for (const parameters of parametersOf(code)) sum.many += parameters > 6;
  }
  const paths = [...files.keys()], perThousand = number => 1000 * number / sum.codeLines;
  return {
    sourceFiles: paths.filter(path => path.endsWith('.c')).length,
    headers: paths.filter(path => path.endsWith('.h')).length,
    codeLines: sum.codeLines,
    tokensPerLine: sum.tokens / sum.codeLines,
    conditionals: perThousand(sum.conditionals),
    nested: sum.nested,
    asserts: perThousand(sum.asserts),
    casts: perThousand(sum.casts),
    structs: perThousand(sum.structs),
    manyParameters: sum.many,
    sharedFiles: [...names.values()].filter(number => number > 1).length,
  };
}

const [first] = process.argv.slice(2);
const tree = process.argv.slice(2).find(word => !word.startsWith('--')) ?? join(dirname(fileURLToPath(import.meta.url)), '../..');
const files = read(tree), now = measure(files);
const figure = number => Number.isInteger(number) ? String(number) : number.toFixed(1);
const row = name => `${figure(now[name]).padStart(8)}  ${budget[name][1]}${budget[name][0] === null ? '' : `, at most ${budget[name][0]}`}`;
if (first === '--print') {
  for (const name of Object.keys(budget)) console.log(row(name));
  process.exit();
}

let tests = 0;
function test(name, isGood, ...lines) {
  console.log(`${isGood ? 'ok' : 'not ok'} ${++tests} - ${name}`);
  for (const line of isGood ? [] : lines) console.log(`# ${line}`);
  if (!isGood) process.exitCode = 1;
}

for (const name of Object.keys(budget)) console.log(`# ${row(name)}`);
for (const [name, [most, what]] of Object.entries(budget)) {
  if (most !== null) test(`src/: ${what}`, now[name] <= most, `${figure(now[name])}, and ${most} are allowed: tests/layering/budget.mjs`);
}

// Changes that the measures must notice.
const added = text => measure(new Map([...files, ['src/heap/annex.c', text]]));
test('a nested conditional would be noticed', added('int a(int b)\n{\n    return b ? 1 : b > 2 ? 2 : 3;\n}\n').nested === now.nested + 1);
test('two conditionals in two statements would not', added('int a(int b)\n{\n    b = b ? 1 : 2;\n    return b ? 1 : 2;\n}\n').nested === now.nested);
test('a question mark in a string or comment would not', added('/* ? ? */\nconst char *a = "? ?";\n').nested === now.nested);
test('a function of seven parameters would be noticed',
  added('int a(int b, int c, int d, int e, int f, int g, int h)\n{\n    return b;\n}\n').manyParameters === now.manyParameters + 1);
test('a file that has the name of another one would be noticed',
  measure(new Map([...files, [posix.join('src/annex', posix.basename([...files.keys()][0])), '']])).sharedFiles === now.sharedFiles + 1);
console.log(`1..${tests}`);
