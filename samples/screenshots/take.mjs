// Takes the screenshots of ../README.md and docs/snapshot.md again, in the Chromium that tests/devtools finds:
//
//   node samples/screenshots/take.mjs PROGRAM [DIRECTORY [NAME...]]
//
// PROGRAM is build/go2heapsnapshot; the pictures go to DIRECTORY, by default the one of this file. With NAMEs only those of
// flame-graph, page and report are taken, which need no DevTools, and of together, timers, finalizers and timeline. Check afterwards that
// the text around them still tells what they show. The flame graph is that of `go tool pprof`, with the go of
// tools/setup, which also builds tests/devtools/leaks, the program of docs/snapshot.md; the report is drawn as a terminal
// would, by what the program writes to one (script of util-linux). inspect.png is the hover.png of `tests/run inspect:panel`.

import {spawn, spawnSync} from 'node:child_process';
import {existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import {tmpdir} from 'node:os';
import {dirname, join, resolve} from 'node:path';
import {fileURLToPath, pathToFileURL} from 'node:url';
import {MemoryTab} from '../../tests/devtools/browser.mjs';
import {withPalette} from './palette.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const [program, directory = here] = process.argv.slice(2, 4).map(path => resolve(path)), names = process.argv.slice(4);
const isWanted = name => names.length === 0 || names.includes(name);
if (program === undefined || !existsSync(program)) {
  console.error('usage: take.mjs PROGRAM [DIRECTORY]');
  process.exit(2);
}

// MemoryTab keeps its page to itself, but pictures need two things more: a click on a column's title, and the bar above
// the Retainers pane dragged upwards.
const {chromium} = createRequire(join(here, '../../tests/devtools/browser.mjs'))('playwright-core');
const launch = chromium.launchPersistentContext;
let context;
chromium.launchPersistentContext = async (...args) => context = await launch.apply(chromium, args);

async function sortBy(page, title) {
  const header = page.locator('.heap-snapshot-view .data-grid th:visible').filter({hasText: title}).first();
  for (let i = 0; i < 2 && !(await header.getAttribute('class')).includes('sort-descending'); i++) {
    await header.click();
    await page.waitForTimeout(1000);
  }
}

async function dragRetainersTo(page, y) {
  const bar = page.getByText('Retainers', {exact: true}).locator('visible=true').first();
  const box = await bar.boundingBox();
  await page.mouse.move(box.x + 300, box.y + 2);
  await page.mouse.down();
  await page.mouse.move(box.x + 300, y, {steps: 5});
  await page.mouse.up();
}

const folder = mkdtempSync(join(tmpdir(), 'screenshots-'));
const snapshot = number => join(folder, `leak.${number}.heapsnapshot`);
const ofSeries = number => join(folder, 'series', `leakserver.${number}.heapsnapshot`);
const dump = number => join(here, `../leakserver.${number}.dump.gz`);

function convert(...files) {
  const {status} = spawnSync(program, ['--exe', join(here, '../leakserver.exe.gz'), '-o', ...files], {stdio: 'inherit'});
  if (status !== 0) process.exit(1);
}

for (const number of [1, 2]) convert(snapshot(number), dump(number));
mkdirSync(join(folder, 'series'));
convert(join(folder, 'series'), dump(1), dump(2));

const tab = await MemoryTab.open({size: {width: 1080, height: 600}});
const page = context.pages()[0];

async function picture(name) {
  await page.mouse.move(0, 0);
  await page.waitForTimeout(500);
  const path = join(directory, `${name}.png`);
  await tab.screenshot(path);
  shrink(path);
}

/** Makes a picture that has been written smaller. */
function shrink(path) { writeFileSync(path, withPalette(readFileSync(path))); }

/** The same of a page that is not DevTools. */
async function pictureOf(page, name) {
  const path = join(directory, `${name}.png`);
  await page.screenshot({path});
  shrink(path);
  await page.close();
}

/** A part of DevTools: the table and its head, down to a height. */
async function pictureOfTable(name, height) {
  const path = join(directory, `${name}.png`);
  await page.mouse.move(0, 0);
  await page.waitForTimeout(500);
  await page.screenshot({path, clip: {x: 200, y: 27, width: 880, height}});
  shrink(path);
}

/** Converts a live process of tests/devtools/leaks in one of its shapes. */
async function leak(shape, file) {
  const app = join(folder, 'leaks');
  if (!existsSync(app)) {
    const goroot = spawnSync(join(here, '../../tools/setup'), ['go-current'], {encoding: 'utf8'}).stdout.trim();
    const env = {...process.env, GOROOT: goroot, GOTOOLCHAIN: 'local', GOPROXY: 'off', GOFLAGS: '-mod=mod -trimpath', CGO_ENABLED: '0'};
    spawnSync(join(goroot, 'bin/go'), ['build', '-o', app, '.'], {cwd: join(here, '../../tests/devtools/leaks'), env, stdio: 'inherit'});
  }
  const running = spawn(app, [shape], {stdio: ['pipe', 'pipe', 'inherit']});
  await new Promise(resolve => running.stdout.once('data', resolve));
  const status = await (file.endsWith('.heaptimeline') ? watch(running, file) : read(running, file));
  running.kill();
  if (status !== 0) process.exit(1);
}

function read(running, file, ...options) {
  const reading = spawn(program, ['--pid', String(running.pid), ...options, '-o', file], {stdio: 'inherit'});
  return new Promise(resolve => reading.once('exit', resolve));
}

/** The same while the process is watched, and leaks more in two bursts. */
async function watch(running, file) {
  const reading = read(running, file, '--ages', '9s');
  for (const second of [2, 2.3, 2.6, 2.9, 6, 6.3, 6.6]) setTimeout(() => running.stdin.write('\n'), second * 1000);
  return reading;
}

/** What pprof's server shows of what the heap's memory is held by. */
async function flameGraph(number) {
  const profile = join(folder, 'leak.pb.gz'), url = 'http://127.0.0.1:18080/ui/flamegraph?si=space';
  convert(profile, '--format', 'pprof', dump(number));
  const goroot = spawnSync(join(here, '../../tools/setup'), ['go-current'], {encoding: 'utf8'}).stdout.trim();
  const pprof = spawn(join(goroot, 'bin/go'), ['tool', 'pprof', '-no_browser', '-http', new URL(url).host, profile], {stdio: 'ignore', detached: true});
  const page = await context.newPage();
  try {
    await page.setViewportSize({width: 1080, height: 420});
    for (let tries = 0; !(await page.goto(url).catch(() => undefined)) && tries < 100; tries++) await page.waitForTimeout(200);
    await page.waitForTimeout(1000);
    await pictureOf(page, 'flame-graph');
  } finally {
    process.kill(-pprof.pid);
  }
}

/** The first screen of the page that tells what has grown. */
async function pageOfHeap() {
  const file = join(folder, 'leak.html');
  convert(file, '--format', 'html', '--base', dump(1), dump(2));
  const page = await context.newPage();
  await (await context.newCDPSession(page)).send('Emulation.setScrollbarsHidden', {hidden: true});
  await page.setViewportSize({width: 1200, height: 1000});
  await page.goto(pathToFileURL(file).href);
  await page.waitForSelector('html[data-ready]');
  const {y, height} = await page.locator('.plot').boundingBox();
  await page.setViewportSize({width: 1200, height: Math.ceil(y + height) + 32}); // with the legend below
  await page.waitForTimeout(500);
  await pictureOf(page, 'page');
}

/** The first screen of a report, in the colours that it has on a terminal. */
async function terminal(name, rows, ...args) {
  const command = [program, '--exe', join(here, '../leakserver.exe.gz'), '--format', 'report', ...args];
  const {stdout} = spawnSync('script', ['-qec', `${command.join(' ')} 2> /dev/null`, '/dev/null'],
      {encoding: 'utf8', env: {...process.env, COLUMNS: '112', TERM: 'xterm-256color', PAGER: 'cat'}});
  const escape = text => text.replace(/&/g, '&amp;').replace(/</g, '&lt;');
  const lines = escape(stdout.replace(/\r/g, '').replaceAll(`${join(here, '..')}/`, '')).split('\n').slice(0, rows);
  const styles = {1: 'font-weight: bold', 2: 'opacity: 0.6', 36: 'color: #56c8d8', 33: 'color: #e0b050', 31: 'color: #e06060'};
  const html = lines.join('\n').replace(/\x1b\[([0-9;]*)m/g, (_, codes) => codes === '' || codes === '0' ? '</span>' :
    `<span style="${codes.split(';').map(code => styles[code] ?? '').join(';')}">`).replace(/\x1b\[[0-9;]*K/g, '');
  const page = await context.newPage();
  await page.setViewportSize({width: 970, height: 20 + rows * 17}); // 112 columns
  await page.setContent(`<body style="margin: 10px; overflow: hidden; background: #1c1f26; color: #d6d9e0"><pre style="margin: 0; font: 14px/17px 'DejaVu Sans Mono', monospace; white-space: pre-wrap; word-break: break-all">${html}</pre>`);
  await pictureOf(page, name);
}

try {
  if (isWanted('flame-graph')) await flameGraph(2);
  if (isWanted('page')) await pageOfHeap();
  if (isWanted('report')) await terminal('report', 36, '--base', dump(1), dump(2));
  if (names.length === 0) await ofDevTools();
  await ofGroups();
  if (isWanted('timeline')) await timeline();
  if (tab.problems.length > 0) throw new Error(tab.problems.join('\n'));
} finally {
  await tab.close();
  rmSync(folder, {recursive: true});
}

/** Those of the Memory tab, in the order in which its views are opened. */
async function ofDevTools() {
  await tab.load(snapshot(1));
  await tab.load(snapshot(2));
  await tab.select(1);

  /** The Retainers of one object of a class; DevTools opens the shortest way by itself. */
  const retainersOf = async (class_, name, height) => {
    const {id} = (await tab.expand(row => row.depth === 0 && row.name === class_))[0];
    await tab.retainers(row => row.id === id);
    await dragRetainersTo(page, height);
    await picture(name);
    await dragRetainersTo(page, 430);
    await page.keyboard.press('ArrowLeft'); // to the class
    await page.keyboard.press('ArrowLeft'); // and closes it
  };

  await tab.perspective('Summary');
  await picture('summary');

  await tab.perspective('Comparison');
  await sortBy(page, '# Delta');
  await picture('comparison');
  await retainersOf('main.Preview', 'retainers-global', 300);
  await retainersOf('main.Valuation', 'retainers-goroutine', 300);
  await retainersOf('main.Session', 'retainers-map', 190);

  await tab.perspective('Containment');
  await tab.expand(row => row.object === '(GC roots)');
  await tab.expand(row => row.object === '(held by several)');
  await picture('several');
  await page.keyboard.press('ArrowLeft'); // closes it
  await tab.expand(row => row.object === '(goroutines)');
  await tab.expand(row => / goroutines \[chan send\]/.test(row.object));
  await tab.expand(row => /^goroutine \d+ \[chan send\]/.test(row.object));
  await tab.expand(row => row.depth === 4 && row.edge === 'stack');
  await tab.expand(row => row.depth === 5 && row.object.startsWith('main.ask '));
  await picture('containment');

  await tab.perspective('Summary');
  await tab.objects('Native context globals of main @');
  await picture('contexts');
  await tab.objects('All objects');
  await tab.filter('map[string]*main');
  const [{id: map}] = await tab.expand(row => row.depth === 0 && row.name === 'map[string]*main.Preview');
  await tab.expand(row => row.id === map);
  await tab.expand(row => row.edge === 'groups[0]');
  await tab.expand(row => row.depth === 3 && row.object === 'main.Preview');
  await tab.retainers(row => row.id === map);
  await picture('map');

  await tab.filter('main.Session');
  const [{id: session}] = await tab.expand(row => row.depth === 0 && row.name === 'main.Session');
  await tab.expand(row => row.id === session);
  await tab.retainers(row => row.id === session);
  await picture('strings');
  await tab.filter('');

  await tab.perspective('Statistics');
  await page.setViewportSize({width: 1080, height: 250});
  await picture('statistics');

  await page.setViewportSize({width: 1080, height: 430});
  await tab.load(ofSeries(1));
  await tab.load(ofSeries(2));
  await tab.select(3);
  await tab.perspective('Summary');
  await tab.objects('Objects allocated between leakserver.1 and leakserver.2');
  await picture('between');

  // docs/snapshot.md
  await page.setViewportSize({width: 1080, height: 600});
  await tab.select(1);
  await tab.perspective('Summary');
  await tab.objects('Objects retained by detached DOM nodes');
  await pictureOfTable('detached', 200);
  await tab.objects('All objects');

  await show('indexes');
  await tab.perspective('Containment');
  await tab.expand(row => row.object === '(globals)');
  await tab.expand(row => row.object === 'main');
  await tab.expand(row => row.edge === 'registry');
  await pictureOfTable('variables', 180);

  await show('overwritten');
  await tab.perspective('Summary');
  const {id: element} = (await tab.expand(row => row.depth === 0 && row.name === 'list.Element')).at(-1);
  await tab.retainers(row => row.id === element);
  await dragRetainersTo(page, 300);
  await pictureOfTable('list', 480);
  await dragRetainersTo(page, 430);

  for (const [shape, name] of [['blocks', 'holders'], ['findings', 'sliced']]) {
    await show(shape);
    await tab.perspective('Summary');
    await sortBy(page, 'Shallow');
    await pictureOfTable(name, 150);
  }
  await tab.perspective('Statistics');
  await pictureOfTable('native', 220);
}

/** Opens a live process of tests/devtools/leaks in one of its shapes. */
async function show(shape, suffix = 'heapsnapshot') {
  const file = join(folder, `${shape}.${suffix}`);
  await leak(shape, file);
  await tab.load(file);
  await tab.select((await tab.snapshots()).length - 1);
}

/** A timeline, in which what came in the second burst is selected. */
async function timeline() {
  await show('addresses', 'heaptimeline');
  await page.waitForTimeout(1000);
  const grid = await page.locator('.heap-snapshot-view .data-grid:visible').first().boundingBox();
  const at = second => 200 + (second / 10) * 880;
  await page.mouse.move(at(5.5), grid.y - 30);
  await page.mouse.down();
  await page.mouse.move(at(7.5), grid.y - 30, {steps: 5});
  await page.mouse.up();
  await page.waitForTimeout(1000);
  await pictureOfTable('timeline', 260);
}

/** Those of groups of rows, each from a shape of the program. */
async function ofGroups() {
  const groups = [
    ['together', 'together', 160, '(globals)', 'main', 'main: byLogin and byID'],
    ['timers', 'deadlines', 200, '(GC roots)', 'runtime'],
    ['finalizers', 'finalized', 180, '(GC roots)', '(finalizers)'],
  ];
  for (const [name, shape, height, ...opened] of groups) {
    if (!isWanted(name)) continue;
    await show(shape);
    await tab.perspective('Containment');
    for (const object of opened) await tab.expand(row => row.object === object);
    await pictureOfTable(name, height);
  }
}
