// Bundles the snapshot loader and the snapshot worker of Chrome DevTools, as the npm package
// chrome-devtools-frontend ships them, into one module that runs in Node.
//
// The code that parses a snapshot and computes what the Memory tab shows is DevTools' own, byte for byte. Replaced is only
// what those two files import from the rest of the front end and use hardly or never: the "barrel" modules, which would
// pull in half of DevTools, and the translation of progress texts.

import {mkdirSync, realpathSync, renameSync, rmSync, statSync, writeFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import {dirname, join, relative} from 'node:path';
import {fileURLToPath, pathToFileURL} from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const output = join(here, '../../build/devtools/heap-snapshot-worker.mjs');
const frontEnd = join(here, 'node_modules/chrome-devtools-frontend/front_end');

// The replacements of modules of the front end, by path below front_end/.
const stubs = {
  // Progress messages stay as they are written in the source.
  'core/i18n/i18n.ts': `
    export const i18n = {serializeUIString: (string, values = {}) => JSON.stringify({string, values})};`,
  'core/platform/platform.ts': `
    export * as ArrayUtilities from './ArrayUtilities.js';
    export * as MapUtilities from './MapUtilities.js';
    export * as StringUtilities from './StringUtilities.js';
    export * as TypedArrayUtilities from './TypedArrayUtilities.js';`,
  'core/text_utils/text_utils.ts': `export * as TextUtils from './TextUtils.js';`,
  // TextUtils.ts needs these two to search source files; the loader uses only its JSON tokenizer.
  'core/text_utils/ContentData.ts': `export const ContentData = null;`,
  'core/text_utils/ContentProvider.ts': `export const SearchMatch = null;`,
  'models/heap_snapshot/heap_snapshot.ts': `export * as HeapSnapshotModel from './HeapSnapshotModel.js';`,
};

const entry = `
  export {HeapSnapshotLoader} from './HeapSnapshotLoader.js';
  export {SecondaryInitManager} from './HeapSnapshot.js';
  export * as HeapSnapshotModel from '../../models/heap_snapshot/HeapSnapshotModel.js';`;

// The worker's console becomes a list that a test can look at. Node before 22 lacks Promise.withResolvers, and before 20
// toSorted().
const banner = `
export const consoleMessages = [];
const console = Object.fromEntries(['log', 'info', 'debug', 'warn', 'error', 'assert', 'trace'].map(
  level => [level, (...words) => {
    if (level === 'assert' && words.shift()) return;
    if (['warn', 'error', 'assert', 'trace'].includes(level)) consoleMessages.push(level + ': ' + words.join(' '));
  }]));
Promise.withResolvers ??= function() {
  const parts = {};
  parts.promise = new this((resolve, reject) => Object.assign(parts, {resolve, reject}));
  return parts;
};
Array.prototype.toSorted ??= function(...compare) { return [...this].sort(...compare); };`;

const stubPlugin = {
  name: 'stubs',
  setup(build) {
    // The sources say './X.js' and mean './X.ts'.
    build.onResolve({filter: /\.js$/}, args => ({path: join(args.resolveDir, args.path.replace(/js$/, 'ts'))}));
    build.onLoad({filter: /\.ts$/}, args => {
      const name = relative(frontEnd, args.path).replaceAll('\\', '/');
      return name in stubs ? {contents: stubs[name], resolveDir: dirname(args.path)} : undefined;
    });
  },
};

const modified = path => statSync(path, {throwIfNoEntry: false})?.mtimeMs;

function isFresh() {
  const built = modified(output);
  // Files from an npm archive have a date of the last century, so the lock file tells whether a version changed.
  return built !== undefined &&
    ['build.mjs', 'package-lock.json'].every(source => modified(join(here, source)) <= built);
}

/** Makes the bundle if it is missing or older than its sources; returns its URL. */
export async function buildWorker() {
  if (!isFresh()) {
    if (modified(frontEnd) === undefined) {
      throw new Error('chrome-devtools-frontend is not installed: run tools/setup check');
    }
    const esbuild = createRequire(import.meta.url)('esbuild');
    const result = await esbuild.build({
      stdin: {contents: entry, resolveDir: join(frontEnd, 'entrypoints/heap_snapshot_worker'), loader: 'ts'},
      bundle: true,
      format: 'esm',
      target: 'es2022',
      banner: {js: banner},
      tsconfigRaw: {compilerOptions: {useDefineForClassFields: true, experimentalDecorators: true}},
      plugins: [stubPlugin],
      write: false,
      logLevel: 'warning',
    });
    // The file is written whole or not at all, as several tests may come here at once.
    mkdirSync(dirname(output), {recursive: true});
    const unfinished = `${output}.${process.pid}`;
    try {
      writeFileSync(unfinished, result.outputFiles[0].contents);
      renameSync(unfinished, output);
    } finally {
      rmSync(unfinished, {force: true});
    }
  }
  return pathToFileURL(output).href;
}

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  console.log(fileURLToPath(await buildWorker()));
}
