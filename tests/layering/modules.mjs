// Tests that the modules (the directories of src/) depend on each other as CONTRIBUTING.md says: by the #include lines of src/,
// no module includes one that comes after it, findings include only the public headers, base/ and themselves, and an output
// these, findings/ and itself; and that the files of a module call each other in one direction, except those in a list. TAP on
// standard output.
//
//   modules.mjs [TREE]

import {readdirSync, readFileSync, statSync} from 'node:fs';
import {dirname, join, posix} from 'node:path';
import {fileURLToPath} from 'node:url';

/** The modules in the order in which a dump goes through them: each module may include the modules before it. */
const order = [
  'base', 'input', 'dump', 'heap', 'types', 'exe/image', 'exe/dwarf', 'exe/go', 'exe', 'process/attach', 'process', 'typing', 'naming', 'roots', 'graph', 'dominators', 'view', 'identity', 'findings', 'output', 'output/heapsnapshot', 'output/hprof', 'output/report', 'output/pprof', 'output/sqlite', 'output/html',
  'library', 'inspect', 'mcp',
];

/** The program, and the page that converts dumps: they may include all modules, and none of these may include them. */
const above = ['cli', 'web'];

/** Modules that a module must not include although they come before it: an executable and a process are read without a heap. */
const strangers = {types: ['dump', 'heap', 'exe'], exe: ['dump', 'heap'], process: ['heap', 'types']};

/** The module that a public header belongs to, if its name does not say it; null: it belongs to no module, but to the program. */
const headers = {
  bytes: 'base', error: 'base', memory: 'base', progress: 'base', redaction: 'base', version: 'base', visibility: 'base',
  match: 'typing', process: 'process/attach', names: 'naming', values: 'view', trend: 'findings', session: 'library',
  go2heapsnapshot: null,
};

/** Where the files of a module are listed, if it has no header of its own name; of other modules of one word it is MODULE/MODULE.h. */
const lists = {
  base: 'error.h', cli: 'options.h', dump: 'reader.h', 'exe/dwarf': 'dwarf_info.h', 'exe/go': 'pclntab.h', library: 'pipeline.h', naming: 'names.h', output: 'formats.c', 'output/heapsnapshot': 'heapsnapshot.c',
  'output/hprof': 'hprof.c', 'output/pprof': 'pprof.c', 'output/report': 'sections.h', 'output/sqlite': 'sqlite.c', 'output/html': 'html.c',
  process: 'read.h', web: 'web.c',
};

/** Files of one module that call each other in a circle, by name, and why they stay that way. */
const circles = {
  'typing: follow once outside propose': 'a claim leads to references, which propose claims',
};

const sourcePattern = /^(src|include)\/.*\.[ch]$/;

/** Reads all files that the tests judge: a Map from path to text. */
function read(tree) {
  const files = new Map();
  const walk = path => {
    for (const name of readdirSync(join(tree, path)).sort()) {
      const child = posix.join(path, name);
      if (statSync(join(tree, child)).isDirectory()) walk(child);
      else if (sourcePattern.test(child)) files.set(child, readFileSync(join(tree, child), 'utf8'));
    }
  };
  walk('src');
  walk('include');
  for (const path of ['CONTRIBUTING.md', 'Makefile']) files.set(path, readFileSync(join(tree, path), 'utf8'));
  return files;
}

/** Returns the module of a file: src/heap/load.c belongs to heap, src/main.c to none ('above'). */
function moduleOf(path) {
  const parts = path.split('/');
  if (parts[0] === 'include') {
    const name = posix.basename(path, '.h');
    return name in headers ? headers[name] : name;
  }
  return parts.length < 3 || above.includes(parts[1]) ? 'above' : parts.slice(1, -1).join('/');
}

/** Yields the project's files that a file includes: {line, name, path}; path is undefined if there is no such file. */
function* includes(files, path) {
  for (const [i, line] of files.get(path).split('\n').entries()) {
    const [, quote, name] = /^\s*#\s*include\s*(["<])([^">]*)[">]/.exec(line) ?? [];
    if (quote === '"') {
      const candidates = [posix.join(posix.dirname(path), name), posix.join('src', name), posix.join('include', name)];
      yield {line: i + 1, name, path: candidates.find(candidate => files.has(candidate))};
    } else if (quote === '<' && name.startsWith('go2heapsnapshot/')) {
      yield {line: i + 1, name, path: [posix.join('include', name)].find(candidate => files.has(candidate))};
    }
  }
}

/** Returns what is wrong if one file includes another; undefined: nothing. */
function complaint(from, to) {
  const [here, there] = [moduleOf(from), moduleOf(to)];
  if (from.startsWith('src/output/')) {
    // Files that outputs share are in src/output/ itself; files of one output are in a directory there.
    // The page for browsers contains a report.
    const own = [here, 'output', 'findings', ...(here === 'output/html' ? ['output/report'] : [])].includes(there);
    return own || to.startsWith('include/') || there === 'base' ? undefined : 'an output reads the view and the findings only';
  }
  if (here === 'findings') return [here, 'base'].includes(there) || to.startsWith('include/') ? undefined : 'findings read the view only';
  if (here === 'above' || here === null || there === null || here === there) return undefined;
  if (there === 'above') return 'no module may include the program';
  if (!order.includes(there)) return `there is no module ${there}`;
  if (strangers[here.split('/')[0]]?.includes(there.split('/')[0])) return `${here} must not depend on ${there}`;
  if (order.indexOf(there) > order.indexOf(here)) return `${there} comes after ${here}`;
  return undefined;
}

function wrongIncludes(files) {
  const wrong = [];
  for (const path of files.keys()) {
    if (!sourcePattern.test(path)) continue;
    for (const {line, name, path: to} of includes(files, path)) {
      const what = to === undefined ? 'there is no such file' : complaint(path, to);
      if (what) wrong.push(`${path}:${line}: ${name}: ${what}`);
    }
  }
  return wrong;
}

function wrongModules(files) {
  const wrong = [];
  const modules = new Set([...files.keys()].filter(path => path.startsWith('src/')).map(moduleOf));
  modules.delete('above');
  for (const module of modules) if (!order.includes(module)) wrong.push(`src/${module} is not a module: tests/layering/modules.mjs has the order`);
  for (const module of order) if (!modules.has(module)) wrong.push(`src/${module} is not there`);
  for (const path of files.keys()) {
    const module = path.startsWith('include/') ? moduleOf(path) : null;
    if (module !== null && !order.includes(module)) wrong.push(`${path} belongs to no module: see headers in tests/layering/modules.mjs`);
  }
  return wrong;
}

/** Returns the modules in the rows of the map, from top to bottom. */
const mapped = text => [...text.matchAll(/^\| `src\/([\w/]+)\/` \|/gm)].map(([, module]) => module).filter(module => !above.includes(module));
const built = text => (/^MODULES\s*:?=\s*(.*)$/m.exec(text)?.[1] ?? '').split(' ').filter(word => word !== '');

function wrongLists(files) {
  const wrong = [];
  const compare = (where, list) => {
    if (list.join() !== order.join()) wrong.push(`${where}: ${list.join(' ')}`, `here: ${order.join(' ')}`);
  };
  compare('the map of CONTRIBUTING.md', mapped(files.get('CONTRIBUTING.md')));
  compare('MODULES of the Makefile', built(files.get('Makefile')));
  return wrong;
}

/** Returns the files that the first comment of their module's header does not name: foo.c and foo.h as foo, or foo_*. */
function wrongHeaders(files) {
  const wrong = [];
  const named = new Map();
  for (const path of files.keys()) {
    const [, module, name] = /^src\/(.*)\/(\w+)\.[ch]$/.exec(path) ?? [];
    if (module === undefined || module.startsWith('web/libc')) continue; // headers of a C library
    if (!named.has(module)) {
      const header = `src/${module}/${lists[module] ?? `${posix.basename(module)}.h`}`;
      const [comment] = /^\/\*.*?\*\//s.exec(files.get(header) ?? '') ?? [''];
      named.set(module, new Set(comment.match(/\w+\*?/g)));
    }
    const words = named.get(module);
    if (!words.has(name) && !words.has(name.replace(/_[^_]*$/, '_*'))) wrong.push(`${path} is not named at the top of its module's header`);
  }
  return wrong;
}

/** Returns the code of a file without comments and texts. */
const codeOf = text => text.replace(/\/\*.*?\*\/|"(?:\\.|[^"\\\n])*"|\/\/[^\n]*/gs, ' ');

/** Returns the words of code that may name functions. */
const wordsOf = code => new Set(code.replace(/\b(?:struct|enum|union) \w+/g, ' ').match(/\w+/g));

/** Yields the functions that code defines: {name, isStatic, words}. */
function* functionsOf(code) {
  for (const {0: head, 1: before, 2: name, index} of code.matchAll(/^(static )?[a-z][\w *]*?(\w+)\([^;{}()]*(?:\([^;{}()]*\)[^;{}()]*)*\)\s*\{/gm)) {
    yield {name, isStatic: before !== undefined, words: wordsOf(code.slice(index + head.length, code.indexOf('\n}', index)))};
  }
}

/** Returns, by module, which of its .c files call which others: a Map from module to a Map from name to a Set of names. */
function calls(files) {
  const modules = new Map();
  for (const [path, text] of files) {
    const [, module, name, suffix] = /^src\/(.*)\/(\w+)\.([ch])$/.exec(path) ?? [];
    if (module === undefined || module.startsWith('web/libc')) continue; // headers of a C library
    if (!modules.has(module)) modules.set(module, {list: [], inlines: new Map()});
    const code = codeOf(text), defined = [...functionsOf(code)];
    // What a function in a header calls, its callers call.
    if (suffix === 'h') for (const {name: called, words} of defined) modules.get(module).inlines.set(called, words);
    else modules.get(module).list.push({name, words: wordsOf(code), defined});
  }
  return new Map([...modules].map(([module, {list, inlines}]) => [module, new Map(list.map(({name, words, defined}) => {
    const all = new Set(words), own = new Set(defined.map(({name: called}) => called));
    for (const word of all) for (const more of inlines.get(word) ?? []) all.add(more);
    const isCalled = ({name: called, isStatic}) => !isStatic && all.has(called) && !own.has(called);
    return [name, new Set(list.filter(other => other.name !== name && other.defined.some(isCalled)).map(other => other.name))];
  }))]));
}

/** Returns the files that a file calls, directly or not. */
function reached(graph, from) {
  const found = new Set(), queue = [from];
  for (const name of queue) {
    for (const next of graph.get(name)) {
      if (found.has(next)) continue;
      found.add(next);
      queue.push(next);
    }
  }
  return found;
}

/** Returns the circles that are not in the list, and what is in the list but no circle: 'MODULE: FILE FILE'. */
function wrongCircles(files) {
  const found = new Set();
  for (const [module, graph] of calls(files)) {
    const all = new Map([...graph.keys()].map(name => [name, reached(graph, name)]));
    for (const [name, to] of all) {
      const circle = [...to].filter(other => all.get(other).has(name)).sort();
      if (circle.length > 1) found.add(`${module}: ${circle.join(' ')}`);
    }
  }
  return [...[...found].filter(circle => !(circle in circles)).map(circle => `${circle} call each other`),
    ...Object.keys(circles).filter(circle => !found.has(circle)).map(circle => `${circle}: no longer call each other`)];
}

let tests = 0;
function none(name, wrong) {
  console.log(`${wrong.length === 0 ? 'ok' : 'not ok'} ${++tests} - ${name}`);
  for (const line of wrong.slice(0, 40)) console.log(`# ${line}`);
  if (wrong.length > 0) process.exitCode = 1;
}

const tree = process.argv[2] ?? join(dirname(fileURLToPath(import.meta.url)), '../..');
const files = read(tree);
none('no module includes one after it, and no output anything but the view', wrongIncludes(files));
none('there are the modules that the list has', wrongModules(files));
none('the map of CONTRIBUTING.md and the Makefile have the modules in this order', wrongLists(files));

none("the header of each module names the module's files", wrongHeaders(files));
none(`the files of a module call each other in one direction, but for ${Object.keys(circles).length} circles`, wrongCircles(files));

// Mistakes that the tests above must notice.
const spoiled = (path, line) => new Map([...files, [path, `${files.get(path) ?? ''}\n${line}\n`]]);
const anyOf = (start, end) => [...files.keys()].find(path => path.startsWith(start) && path.endsWith(end));
const damages = {
  'a module that includes the next one': [`src/${order[0]}/x.c`, `#include "${posix.relative('src', anyOf(`src/${order[1]}/`, '.h'))}"`],
  'the first module that includes the last one': ['src/base/x.h', `  # include "${posix.relative('src', anyOf('src/graph/', '.h'))}"`],
  'a path that goes up': ['src/heap/x.c', `#include "../${posix.relative('src', anyOf('src/graph/', '.h'))}"`],
  'a public header of a module behind': ['src/heap/x.c', '#include <go2heapsnapshot/graph.h>'],
  'an executable that knows the heap': ['src/exe/x.c', '#include <go2heapsnapshot/heap.h>'],
  'a public header that includes one after it': ['include/go2heapsnapshot/heap.h', '#include <go2heapsnapshot/output.h>'],
  'an output that reads the heap': ['src/output/x.c', `#include "${posix.relative('src', anyOf('src/heap/', '.h'))}"`],
  'an output that reads the graph': ['src/output/x/x.c', `#include "${posix.relative('src', anyOf('src/graph/', '.h'))}"`],
  'a finding that reads the graph': ['src/findings/x.c', `#include "${posix.relative('src', anyOf('src/graph/', '.h'))}"`],
  'a finding that knows how it is written': ['src/findings/x.c', '#include "output/y/y.h"'],
  'an output that reads another one': ['src/output/x/x.c', '#include "output/y/y.h"'],
  'a module that includes the options': ['src/graph/x.c', `#include "${posix.relative('src', anyOf('src/cli/', '.h'))}"`],
  'an include of what is not there': ['src/graph/x.c', '#include "graph/nowhere.h"'],
};
const before = wrongIncludes(files).length;
none('each of these would be noticed', Object.entries(damages).filter(([, [path, line]]) => {
  const copy = spoiled(path, line);
  copy.set('src/output/y/y.h', '');
  return wrongIncludes(copy).length <= before;
}).map(([what]) => what));
none('a module that is in no list would be noticed',
  wrongModules(spoiled('src/annex/x.c', '')).length > wrongModules(files).length ? [] : ['it is not']);
none('a file that its module does not name would be noticed',
  wrongHeaders(new Map([...files, ['src/heap/annex.c', '']])).length > wrongHeaders(files).length ? [] : ['it is not']);
none('a new circle would be noticed, and one that is gone', [
  spoiled('src/base/text.c', 'int to_strings(void)\n{\n    return from_strings();\n}').set('src/base/strings.c',
    `${files.get('src/base/strings.c')}\nint from_strings(void)\n{\n    return to_strings();\n}\n`),
  new Map([...files].filter(([path]) => path !== 'src/typing/follow.c')),
].filter(copy => wrongCircles(copy).length <= wrongCircles(files).length).map(() => 'it is not'));
none('lists in another order would be noticed', [
  ['CONTRIBUTING.md', text => text.replace('| `src/dump/` |', '| `src/x/` |')],
  ['Makefile', text => text.replace(/^(MODULES\s*:?= )(\w+) (\w+)/m, '$1$3 $2')],
].filter(([path, change]) => wrongLists(new Map([...files, [path, change(files.get(path))]])).length === 0).map(([path]) => path));
console.log(`1..${tests}`);
