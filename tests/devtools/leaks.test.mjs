// Looks for leaks as somebody would who knows only DevTools: the shapes of leaks/, each as a pair of snapshots, must be seen at first glance.
// Twice: in the rows that DevTools' worker gives to the panel, and in a real Chromium.
//
//   leaks.test.mjs GO2HEAPSNAPSHOT LEAKS DIRECTORY [SHAPE]...       LEAKS is the program in leaks/
//
//   IN            what looks: worker, chromium (default: both)
//   CHECK_ALL     if set, all of them in Chromium; else those that differ in what DevTools' panel is asked
//
// What must be seen, for each shape:
//
//   Comparison    its first row is the class that leaks, or a part of it
//   Summary       the class or its container is in one of the first three rows
//   Containment   opening the largest row at most four times shows the container
//   Retainers     of an object that is new in Comparison: one of the first four rows names the variable
//                 or a field of it, before any variable of a frame
//   Filters       "Objects retained by detached DOM nodes" lists what leaked goroutines keep, if that is proved, else nothing;
//                 "Objects retained by event handlers" what only timers or finalizers keep; "Duplicated strings" no string that is unique
//
// TAP on standard output.

import assert from 'node:assert/strict';
import {execFileSync, spawn} from 'node:child_process';
import {once} from 'node:events';
import {mkdirSync, rmSync} from 'node:fs';
import {join} from 'node:path';
import {MemoryTab, TabTests, findChromium} from './browser.mjs';
import {comparison, loadSnapshot} from './devtools.mjs';
import {children, compared, detached, retainers, summary} from './rows.mjs';
import {end, report, step, test} from '../tap.mjs';

const [program, leaks, directory, ...asked] = process.argv.slice(2);
const looking = (process.env.IN ?? 'worker chromium').split(' ');

const MOST_SUMMARY = 3, MOST_OPENED = 4, MOST_RETAINERS = 4;

const shapes = {
  addresses: {
    grown: /^(map\[string\]\[\]time\.Time|\[\]time\.Time)/, container: / :: map\[string\]\[\]time\.Time$/,
    of: '[]time.Time', variable: /^visits in main$/,
  },
  overwritten: {
    grown: /^(list\.Element|main\.endpoint)$/, container: /^endpoints :: /, of: 'list.Element', variable: /^(entries|recent) in main\.endpoints$/,
  },
  topics: {
    grown: /^(map\[string\]\[\]\*main\.subscriber|internal\/sync\.(indirect|entry))/, container: /^requests :: main\.requests$/,
    of: 'map[string][]*main.subscriber entries', variable: /^subscribers in main\.requests$/,
  },
  statements: {
    grown: /^(main\.statement$|map\[\*main\.statement\]bool)/, container: /^rooms\.free\[0\]\.open :: map\[\*main\.statement\]bool$/,
    of: 'main.statement', variable: /^rooms\.free\[0\]\.open in main$/,
  },
  indexes: {grown: /^main\.user$/, container: /^registry :: main\.registry$/, of: 'main.user', variable: / in main\.registry$/},
  together: {
    grown: /^main\.account$/, container: /^held together :: main: byLogin and byID$/, of: 'main.account',
    variable: /^(byID|byLogin) in main: byLogin and byID$/,
  },
  listeners: {
    grown: /^(main\.request|\[\]func\(int\)|func main\.\(\*emitter\)\.on\.1)$/, container: /^changes\.handlers :: \[\]func\(int\)$/,
    of: 'main.request', variable: /^changes\.handlers in main$/,
  },
  backlog: {
    grown: /^(chan \*main\.message|\[\]\*main\.message|main\.message)$/, container: /^metrics\.queue :: chan \*main\.message$/,
    of: 'main.message', variable: /^metrics\.queue in main$/,
  },
  blocks: {
    grown: /^(\[\]\*?main\.block|main\.block|\[\]uint8( \(main\.block\.Body\))?)$/, container: /^mainnet\.pending :: \[\]\*main\.block$/,
    of: 'main.block', variable: /^mainnet\.pending in main$/, listed: '[]uint8 (main.block.Body)',
  },
  findings: {
    grown: /^(\[\]\*main\.finding|main\.finding|\(string\)|\(sliced string\))$/, container: /^found :: \[\]\*main\.finding$/,
    of: 'main.finding', variable: /^found in main$/, listed: '(sliced string)', isUnique: true,
  },
  contexts: {
    grown: /^(main\.request|context\.valueCtx)$/, container: /^current\.requests :: context\.valueCtx$/, of: 'main.request',
    variable: /^current\.requests in main$/,
  },
  abandoned: {
    grown: /^Detached goroutine stack \[chan send\] main\.ask /, container: /^\[\d+\] :: 800 goroutines \[chan send\] main\.ask shapes\.go:\d+ \(go shapes\.go:\d+\)$/,
    of: 'main.answer', variable: /^a\? in main\.ask shapes\.go:\d+$/, first: /^Detached goroutine stack \[chan send\] main\.ask /,
    leaked: {'main.answer': 800, 'runtime.g': 800, 'chan *main.answer': 800},
  },
  cleaners: {
    grown: /^(main\.(request|cache)|map\[int\]\*main\.request|goroutine stack \[select\] main\.\(\*cache\)\.run shapes\.go:\d+)$/,
    container: /^\[\d+\] :: 301 goroutines \[select\] main\.\(\*cache\)\.run shapes\.go:\d+$/,
    of: 'main.cache', variable: /^c in main\.\(\*cache\)\.run shapes\.go:\d+$/, first: /^goroutine stack \[select\] main\.\(\*cache\)\.run /,
  },
  deadlines: {
    grown: /^(main\.request|runtime\.timeTimer|\[\]runtime\.timerWhen|func main\.deadlines\.func1\.1)$/,
    container: /^timers :: [\d,]+ timers calling main\.deadlines\.func1\.1$/,
    of: 'runtime.timeTimer', variable: /^timers\.heap in runtime\.p$/, handled: {'runtime.timeTimer': 12000, 'main.request': 12000},
  },
  finalized: {
    grown: /^main\.(queue|request)$/, container: / :: [\d,]+ finalizers of main\.queue \(main\.\(\*queue\)\.flush\), never run$/,
    of: 'main.queue', variable: / in \(finalizers\)$/, handled: {'main.queue': 6000, 'main.request': 6000},
  },
};

// Filters of Summary, as the worker and the panel call them.
const filters = {
  detached: {worker: detached.filterName, tab: 'Objects retained by detached DOM nodes'},
  handlers: {worker: 'objectsRetainedByEventHandlers', tab: 'Objects retained by event handlers'},
  duplicated: {worker: 'duplicatedStrings', tab: 'Duplicated strings'},
};

const inChromium = new Set(['overwritten', 'findings', 'abandoned', 'deadlines']);

/** Runs the program in a shape, reads it twice, and converts both dumps together; returns the paths of the snapshots. */
async function pairOf(shape) {
  const at = join(directory, shape), dumps = [1, 2].map(i => join(at, `${i}.dump`));
  rmSync(at, {recursive: true, force: true});
  mkdirSync(at, {recursive: true});
  const running = spawn(leaks, [shape], {stdio: ['pipe', 'pipe', 'inherit']}), ended = once(running, 'exit');
  let said = '';
  running.stdout.on('data', data => { said += data; });
  step(`what ${shape} leaks`);
  for (const [i, dump] of dumps.entries()) {
    while (said.split('READY').length < i + 2) await Promise.race([once(running.stdout, 'data'), ended.then(() => assert.fail(`${shape} has ended`))]);
    execFileSync(program, ['--pid', String(running.pid), '--format', 'dump', '-o', dump], {stdio: 'pipe'});
    if (i === 0) running.stdin.write('\n');
  }
  running.kill('SIGKILL');
  await ended;
  execFileSync(program, ['--exe', leaks, '-o', at, ...dumps], {stdio: 'pipe'});
  for (const dump of dumps) rmSync(dump);
  return [1, 2].map(i => join(at, `${i}.heapsnapshot`));
}

// Both looks have the same functions: comparison() and summary() return the names of the first rows, filtered() how many objects each class
// has that leaked goroutines keep; opened() the rows of Containment that are seen when the largest one is opened again and again, as [{times,
// name}]; retainers(class) the rows for its first new object.

function lookOfWorker(base, target) {
  const named = ({edge, type, node}, between) => `${type === 'element' ? `[${edge}]` : edge} ${between} ${node.displayName}`;
  return {
    comparison: () => compared(base, target).map(({name}) => name),
    summary: () => summary(target).map(({name}) => name),
    filtered: filter => Object.fromEntries(summary(target, {filterName: filter.worker}).map(({name, count}) => [name, count])),
    opened(most) {
      const seen = [], been = new Set();
      for (let times = 0, at = target.root; times <= most && at; times++) {
        const rows = children(at).filter(({node}) => !been.has(node.id));
        seen.push(...rows.map(row => ({times, name: named(row, '::')})));
        at = rows[0]?.node;
        been.add(at?.id);
      }
      return seen;
    },
    retainers: class_ => retainers(target.nodeById(comparison(base, target)[class_].addedIds[0])).map(row => named(row, 'in')),
  };
}

function lookOfTab(tab) {
  const top = rows => rows.filter(row => row.depth === 0);
  return {
    async comparison() {
      await tab.perspective('Comparison');
      return (await tab.rows({limit: 3})).map(row => row.name);
    },
    async summary() {
      await tab.perspective('Summary');
      return (await tab.rows({limit: MOST_SUMMARY})).map(row => row.name);
    },
    async filtered(filter) {
      await tab.perspective('Summary');
      await tab.objects(filter.tab);
      const rows = top(await tab.rows({limit: 100}));
      await tab.objects('All objects');
      return Object.fromEntries(rows.map(row => [row.name, Number(row.count.replace(/\D/g, ''))]));
    },
    async opened(most) {
      await tab.perspective('Containment');
      const been = new Set(), seen = [];
      let rows = top(await tab.rows({limit: 30}));
      for (let times = 0; times <= most; times++) {
        rows = rows.filter(row => !been.has(row.id));
        seen.push(...rows.map(row => ({times, name: `${row.edge} :: ${row.object}`})));
        const [{id, depth, expandable} = {}] = rows;
        if (!expandable || times === most) break;
        been.add(id);
        rows = await tab.expand(row => row.id === id && row.depth === depth);
      }
      return seen;
    },
    async retainers(class_) {
      await tab.perspective('Comparison');
      const [{id}] = (await tab.expand(row => row.depth === 0 && row.name === class_)).filter(row => row['# New'] === '•');
      const rows = await tab.retainers(row => row.id === id && row.depth === 1, {limit: 2 * MOST_RETAINERS});
      return rows.map(row => `${row.edge} in ${row.object}`);
    },
  };
}

/** Asserts what must be seen of a shape. */
async function glance(look, {grown, container, of, variable, first, listed, isUnique = false, leaked = {}, handled = {}}) {
  const wrong = [];
  const expect = (holds, what, seen) => holds || wrong.push(`${what}; there are:`, ...seen);
  const compared = await look.comparison();
  expect(grown.test(compared[0]), `the first row of Comparison is not ${grown}`, compared.slice(0, 3));
  const holders = await look.retainers(of);
  expect(holders.slice(0, MOST_RETAINERS).some(name => variable.test(name)), `none of the first ${MOST_RETAINERS} Retainers of a ${of} is ${variable}`, holders.slice(0, 8));
  const frame = holders.findIndex(name => / shapes\.go:\d+$/.test(name)), named = holders.findIndex(name => variable.test(name));
  expect(frame < 0 || named <= frame, 'a variable of a frame comes before that of the program', holders.slice(0, 8));
  const classes = await look.summary();
  expect(!first || first.test(classes[0]), `the first row of Summary is not ${first}`, classes.slice(0, MOST_SUMMARY));
  expect(!listed || classes.slice(0, MOST_SUMMARY).includes(listed), `none of the first rows of Summary is ${listed}`, classes.slice(0, MOST_SUMMARY));
  expect(classes.slice(0, MOST_SUMMARY).some(name => grown.test(name)), `none of the first ${MOST_SUMMARY} rows of Summary is ${grown}`, classes.slice(0, MOST_SUMMARY));
  const kept = await look.filtered(filters.detached), stacks = Object.keys(kept).filter(name => name.startsWith('Detached goroutine stack '));
  for (const [name, count] of Object.entries(leaked)) expect(kept[name] === count, `the filter lists ${kept[name]} ${name}, not ${count}`, []);
  const isProved = Object.keys(leaked).length > 0;
  expect(isProved ? stacks.length === 1 && kept[stacks[0]] === Object.values(leaked)[0] : Object.keys(kept).length === 0, 'the filter lists others', Object.keys(kept));
  if (Object.keys(handled).length > 0) {
    const handlers = await look.filtered(filters.handlers);
    // One timer may also be in a variable of the goroutine that fires it.
    for (const [name, count] of Object.entries(handled))
      expect(handlers[name] <= count && handlers[name] >= 0.99 * count, `the filter of handlers lists ${handlers[name]} ${name}, not ${count}`, []);
    expect(!Object.keys(handlers).some(name => name.startsWith('main.product')), 'the filter of handlers lists others', Object.keys(handlers));
  }
  const repeated = isUnique ? await look.filtered(filters.duplicated) : {};
  expect(!(listed in repeated), `the filter of duplicated strings lists ${repeated[listed]} ${listed}`, []);
  const opened = await look.opened(MOST_OPENED);
  expect(!container || opened.some(({name}) => container.test(name)), `${MOST_OPENED} rows of Containment opened, and none is ${container}`,
      opened.slice(0, 40).map(({times, name}) => `${times} ${name}`));
  assert.ok(wrong.length === 0, wrong.join('\n'));
}

const pairs = new Map();
for (const shape of asked.length > 0 ? asked : Object.keys(shapes))
  await test(`${shape} leaks, and is converted`, async () => { pairs.set(shape, await pairOf(shape)); });

if (looking.includes('worker')) {
  for (const [shape, files] of pairs) {
    await test(`${shape} is seen at first glance, in the rows of DevTools' worker`, async () => {
      const [base, target] = [await loadSnapshot(files[0]), await loadSnapshot(files[1])];
      assert.deepEqual([...base.problems, ...target.problems], []);
      await glance(lookOfWorker(base, target), shapes[shape]);
    });
  }
}

if (looking.includes('chromium')) {
  if (findChromium() === undefined) {
    report('the leaks in a real Chromium # SKIP no Chromium: run tools/setup check, or set CHROMIUM');
  } else {
    const tab = await MemoryTab.open({size: {width: 1000, height: 600}});
    const tests = new TabTests(tab);
    try {
      for (const [shape, files] of pairs) {
        if (!inChromium.has(shape) && !process.env.CHECK_ALL && asked.length === 0) continue;
        await tests.test(`${shape} is seen at first glance, in a real Chromium`, async () => {
          await tab.clear();
          for (const file of files) await tab.load(file);
          await tab.select(1);
          await glance(lookOfTab(tab), shapes[shape]);
        });
      }
      await tests.test('DevTools has no complaint on its console', () => assert.deepEqual(tab.problems, []));
    } finally {
      await tab.close();
    }
  }
}
end();
