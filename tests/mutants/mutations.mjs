// Finds the places of src that a single mutation can change, and chooses some of them.
import fs from 'node:fs';
import path from 'node:path';

/** Returns a generator of numbers below 1 that depend on the seed only (mulberry32). */
function random(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

function shuffle(list, next) {
  for (let i = list.length - 1; i > 0; i--) {
    const j = Math.floor(next() * (i + 1));
    [list[i], list[j]] = [list[j], list[i]];
  }
}

const blank = (text) => text.replace(/[^\n]/g, ' ');

/**
 * Reads the lines of a C file that have code: those inside of functions and of tables, without comments, and without what is only
 * compiled elsewhere than on Linux. Gives each line's text, its number, and whether it is inside of a function.
 */
export function codeLines(source) {
  const text = source.replace(/\/\*[^]*?\*\//g, blank).replace(/\/\/[^\n]*/g, blank);
  const lines = [];
  let elsewhere = 0;
  let inFunction = false;
  for (const [i, line] of text.split('\n').entries()) {
    if (elsewhere && /^\s*#\s*if/.test(line)) elsewhere++;
    else if (elsewhere && /^\s*#\s*endif/.test(line)) elsewhere--;
    else if (/^\s*#\s*if.*(__APPLE__|MACOS|_WIN32)/.test(line)) elsewhere++;
    if (line === '{') inFunction = true;
    if (line.startsWith('}')) inFunction = false;
    if (!elsewhere && /^\s+[^\s#]/.test(line)) lines.push({ number: i + 1, text: line.trimEnd(), inFunction });
  }
  return lines;
}

const patterns = [
  ['off by one', /(?<![<\-=])<(?![<=])(?= )/g, () => '<='],
  ['off by one', / <= /g, () => ' < '],
  ['off by one', /(?<![>\-=])(?<= )>(?![>=])(?= )/g, () => '>='],
  ['off by one', / >= /g, () => ' > '],
  ['off by one', / \+ 1\b/g, () => ' + 0'],
  ['off by one', / - 1\b/g, () => ' - 0'],
  ['sign', / \+ (?!1\b)/g, () => ' - '],
  ['sign', / - (?!1\b)/g, () => ' + '],
  ['sign', / \+= /g, () => ' -= '],
  ['sign', / -= /g, () => ' += '],
  ['logic', / && /g, () => ' || '],
  ['logic', / \|\| /g, () => ' && '],
  ['logic', / == /g, () => ' != '],
  ['logic', / != /g, () => ' == '],
  ['constant', /(?<![\w.])\d+(?![\w.])/g, (digits) => String(BigInt(digits) + 1n)],
  ['constant', /\b0x[0-9a-f]+\b/g, (digits) => digits.slice(0, -1) + (digits.endsWith('1') ? '3' : '1')],
  ['constant', /\btrue\b/g, () => 'false'],
  ['constant', /\bfalse\b/g, () => 'true'],
];

/** Lists the mutations of a line, each with its kind and the new text. */
function mutationsOf(line) {
  const plain = line.replace(/"(\\.|[^"\\])*"|'(\\.|[^'\\])'/g, (literal) => '\u0001'.repeat(literal.length));
  const found = [];
  const condition = /^(\s*(?:\} else )?if \()(.*)(\)(?: \{)?|\) (?:return|continue|break)[^;]*;)$/.exec(plain);
  if (condition && plain.split('(').length === plain.split(')').length) {
    const [start, end] = [condition[1].length, condition[1].length + condition[2].length];
    found.push({ kind: 'condition', text: `${line.slice(0, start)}!(${line.slice(start, end)})${line.slice(end)}` });
  }
  for (const [kind, pattern, change] of patterns) {
    for (const match of plain.matchAll(pattern)) {
      found.push({ kind, text: line.slice(0, match.index) + change(match[0]) + line.slice(match.index + match[0].length) });
    }
  }
  const statement = /^\s+(TRY\(.*\);|[\w\->.[\]*&]+ [|&^+\-*]?= [^{]*;|[a-z_0-9]+\(.*\);|continue;|break;|[\w\->.[\]]+(\+\+|--);)$/;
  if (statement.test(plain) && !/^\s+(return|assert|va_)/.test(plain)) found.push({ kind: 'statement', text: `${/^\s*/.exec(line)[0]};` });
  const result = /^(\s*(?:if \(.*\) )?return )(?!0;|NULL;|false;)([^;]+);$/.exec(plain);
  if (result) found.push({ kind: 'return', text: `${line.slice(0, result[1].length)}0;` });
  return found;
}

/**
 * Chooses mutations, as many for each module of src as its share of the lines with code. Gives a list of mutants, each of which is a
 * list of candidates: if the first does not compile or changes nothing, the next takes its place.
 */
export function choose(tree, files, { count, seed, only }) {
  const next = random(seed);
  const modules = new Map();
  for (const file of files) {
    const module = path.dirname(file).replace(/^src\/?/, '') || 'main';
    const lines = codeLines(fs.readFileSync(path.join(tree, file), 'utf8'));
    if (!modules.has(module)) modules.set(module, { lines: 0, places: [] });
    modules.get(module).lines += lines.length;
    for (const line of lines) {
      const mutations = mutationsOf(line.text);
      if (mutations.length) modules.get(module).places.push({ file, line, mutations });
    }
  }
  const names = [...modules.keys()].sort().filter((name) => !only || name === only);
  const total = names.reduce((sum, name) => sum + modules.get(name).lines, 0);
  const share = (name) => (count * modules.get(name).lines) / total;
  const wanted = new Map(names.map((name) => [name, Math.floor(share(name))]));
  let rest = count - [...wanted.values()].reduce((sum, n) => sum + n, 0);
  for (const name of [...names].sort((a, b) => (share(b) % 1) - (share(a) % 1))) if (rest-- > 0) wanted.set(name, wanted.get(name) + 1);
  const mutants = [];
  for (const module of names) {
    const { places } = modules.get(module);
    shuffle(places, next);
    const candidates = places.map(({ file, line, mutations }) => {
      const kinds = [...new Set(mutations.map((mutation) => mutation.kind))];
      const kind = kinds[Math.floor(next() * kinds.length)];
      const ofKind = mutations.filter((mutation) => mutation.kind === kind);
      const { text } = ofKind[Math.floor(next() * ofKind.length)];
      return { module, file, line: line.number, inFunction: line.inFunction, kind, old: line.text, new: text };
    });
    const n = wanted.get(module);
    for (let i = 0; i < n; i++) mutants.push(candidates.filter((_, j) => j % n === i));
  }
  return mutants.map((candidates, i) => ({ id: i + 1, candidates }));
}
