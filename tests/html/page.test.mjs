// Tests pages that the program has written, in a browser, as a reader uses them. TAP on standard output.
//
//   page.test.mjs chromium|firefox DIRECTORY
//
// DIRECTORY has the pages that run.sh writes, and the report of one of them as text. What a page has to show is computed
// by truth.mjs. Firefox takes the part of the tests that its protocol allows.

import assert from 'node:assert/strict';
import {mkdirSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import process from 'node:process';
import {end, report as tell, skipAll, test} from '../tap.mjs';
import {dataOf, withData} from './assemble.mjs';
import {openBrowser, Visit} from './browsers.mjs';
import {bytes, copied, largestFirst, nodesOf, visible} from './truth.mjs';

const [browserName, directory] = process.argv.slice(2), isChromium = browserName === 'chromium';
const file = name => join(directory, name), source = name => readFileSync(file(name), 'utf8');
const browser = await openBrowser(browserName);
if (browser === undefined) {
  skipAll(browserName, `no ${browserName}: run tools/setup check`);
}

const leak = dataOf(source('leak.html')), leakNodes = nodesOf(leak);
const made = file('made');
mkdirSync(made, {recursive: true});

/** The node that is selected, by the address, once the page has written it. */
async function selected(visit) {
  await visit.until(() => document.querySelector('.selected'));
  return visit.see(() => Number(document.querySelector('.selected').id.slice(1)));
}
const side = visit => visit.text('.side .title');
const nodeOf = (nodes, name, parentName) => largestFirst(nodes.filter(node => node.name === name
  && (parentName === undefined || nodes[node.parent]?.name === parentName)))[0];

// ---- what is drawn ----

/** The node that a box of the icicle is named after, which a node shares with what alone it holds. */
function innermost(node) {
  const [inner, ...others] = node.children.filter(child => child.retained > 0);
  return inner && others.length === 0 && inner.retained >= node.retained * .999 ? innermost(inner) : node;
}

/** Compares an icicle with the tree: each box is as wide as its node is large, below the box that holds it, beside the next. */
function compareIcicle(boxes, nodes) {
  const drawn = new Map(boxes.map(box => [box.node, box]));
  assert.ok(boxes.length > 20, 'there are boxes');
  for (const box of boxes.filter(box => nodes[box.node].parent >= 0 && drawn.has(nodes[box.node].parent))) {
    const node = nodes[box.node], parent = nodes[node.parent], above = drawn.get(node.parent), name = `${node.name} (${node.number})`;
    assert.ok(Math.abs(box.width + 1 - (above.width + 1) * node.retained / parent.retained) <= 2.5, `${name} is as wide as it is large`);
    assert.equal(box.top, above.top + above.height + 1, `${name} is below ${parent.name}`);
    assert.ok(box.left >= above.left && box.left + box.width <= above.left + above.width + 2, `${name} is within ${parent.name}`);
    for (const other of parent.children) {
      const beside = drawn.get(other.number);
      if (beside === undefined || beside === box) continue;
      assert.ok(beside.left >= box.left + box.width || box.left >= beside.left + beside.width, `${name} and ${other.name} do not overlap`);
    }
  }
}

/** The same for the map: a box is within that of the node above, and its area is in proportion. Nodes may share a box. */
function compareMap(boxes, nodes) {
  const drawn = new Map(boxes.map(box => [box.node, box]));
  const above = node => {
    let parent = nodes[node].parent;
    while (parent >= 0 && !drawn.has(parent)) parent = nodes[parent].parent;
    return parent;
  };
  assert.ok(boxes.length > 20 && boxes.length <= 800, `${boxes.length} boxes`);
  let compared = 0;
  for (const box of boxes) {
    const parent = drawn.get(above(box.node)), node = nodes[box.node];
    if (parent === undefined) continue;
    assert.ok(box.left >= parent.left && box.top >= parent.top && box.left + box.width <= parent.left + parent.width + 1 &&
      box.top + box.height <= parent.top + parent.height + 1, `${node.name} (${node.number}) is within ${nodes[parent.node].name}`);
    if (parent.width > 100 && parent.height > 100 && box.width > 30 && box.height > 30) { // within the heading and the frame
      const share = (box.width + 1) * (box.height + 1) / ((parent.width - 6) * (parent.height - 22)), bytes = node.retained / nodes[parent.node].retained;
      assert.ok(Math.abs(share / bytes - 1) < .12, `${node.name} has ${share} of ${nodes[parent.node].name}, which is ${bytes} in bytes`);
    }
    const rival = boxes.find(other => other !== box && above(other.node) === parent.node && other.width > 30 && other.height > 30);
    if (rival === undefined || box.width < 30 || box.height < 30) continue;
    const byArea = (box.width + 1) * (box.height + 1) / ((rival.width + 1) * (rival.height + 1));
    const ratio = node.retained / nodes[rival.node].retained;
    assert.ok(Math.abs(byArea / ratio - 1) < .12, `${node.name}: its area is ${byArea} of another one's, its bytes ${ratio}`);
    compared++;
  }
  assert.ok(compared > 5, `${compared} areas were compared`);
}

/** Says that the selection is told in the side panel, and what the panel says. */
async function compareSide(visit, node) {
  assert.equal(await side(visit), visible(node.name));
  const facts = await visit.texts('.side dd');
  assert.ok(facts[0].startsWith(bytes(node.retained)), `${facts[0]} is ${node.retained}`);
  assert.ok(facts.includes(bytes(node.own)), `${facts} has ${node.own}`);
}

/** The picture is as wide as its frame: a bar to scroll it up and down must not make it scroll sideways, nor one that is not there leave a gap. */
async function isAsWideAsPlot(visit) {
  const {sideways, gap} = await visit.see(() => {
    const plot = document.querySelector('.plot'), widest = Math.max(...[...plot.querySelectorAll('.box')].map(box => box.offsetLeft + box.offsetWidth));
    return {sideways: plot.scrollWidth - plot.clientWidth, gap: plot.clientWidth - widest};
  });
  assert.equal(sideways, 0, 'it does not scroll sideways');
  assert.ok(gap >= 0 && gap <= 2, `a gap of ${gap} pixels`);
}

/** From now on, what the page offers as a file is the promise of its text in globalThis.saved; nothing is downloaded, or opened instead. */
const catchFiles = visit => visit.see(() => {
  URL.createObjectURL = blob => {
    globalThis.saved = blob.text();
    return '';
  };
  HTMLAnchorElement.prototype.click = () => {};
});

// ---- tests of one page, in one size and one scheme ----

async function testPictures(name, options) {
  const visit = await Visit.to(browser, file('leak.html'), options);
  const it = what => `${name}: ${what}`;
  await test(it('the icicle is the tree'), async () => compareIcicle(await visit.boxes(), leakNodes));
  await test(it('a click zooms in, one on the topmost box out, and crumbs lead up'), async () => {
    const boxes = await visit.boxes(), box = boxes.find(box => leakNodes[box.node].children.length > 1
      && boxes.some(other => other.node === leakNodes[box.node].parent)); // which has no part in its box
    await visit.click(`#n${box.node}`);
    await visit.addressField('top', box.node);
    const zoomed = (await visit.boxes()).find(other => other.node === box.node), width = await visit.see(() => document.querySelector('.plot').clientWidth);
    assert.ok(Math.abs(zoomed.width - width) <= 1);
    assert.ok(zoomed.width > box.width);
    await compareSide(visit, leakNodes[box.node]);
    await visit.click(`#n${box.node}`);
    await visit.addressField('top', leakNodes[box.node].parent);
    await visit.click('.crumbs button');
    await visit.addressField('top', 0);
  });
  await test(it('what is under the pointer in the icicle is what is drawn there'), async () => {
    assert.deepEqual(await visit.covered(), []);
    await isAsWideAsPlot(visit);
  });
  await visit.choose('Map');
  await test(it('the map is the tree'), async () => compareMap(await visit.boxes(), leakNodes));
  await test(it('what is under the pointer in the map is what is drawn there, also with a large box selected'), async () => {
    assert.deepEqual(await visit.covered(), []);
    await isAsWideAsPlot(visit);
    await visit.see(() => document.querySelector('.boxes').focus());
    await visit.press('ArrowDown', 'ArrowDown');
    assert.notEqual(await selected(visit), 0);
    assert.deepEqual(await visit.covered(), []);
  });
  await test(it('icicle, map and table have one selection'), async () => {
    const node = await selected(visit), title = await side(visit);
    for (const view of ['Table', 'Icicle', 'Map']) {
      await visit.choose(view);
      assert.equal(await selected(visit), node, view);
      assert.equal(await side(visit), title, view);
      await visit.addressField('view', view.toLowerCase());
    }
  });
  await test(it('a picture that is higher than its frame fits into it'), async () => {
    const depth = node => node.parent < 0 ? 0 : 1 + depth(leakNodes[node.parent]);
    await visit.addressField('view', 'map'); // the page will not write it again
    const [leaf] = leakNodes.filter(node => node.children.length === 0 && node.retained > 0).sort((a, b) => depth(a) - depth(b));
    await visit.see(rows => { document.querySelector('.plot').style.maxHeight = `${rows * 30 + 2}px`; }, depth(leaf) + 1);
    for (const node of [leaf.number, 0]) { // the first one needs no bar, the second one does
      await visit.see(node => { location.hash = `view=icicle&node=${node}&top=${node}`; }, node);
      await visit.until(node => (document.querySelector('.selected')?.id ?? 'n0') === `n${node}`, node);
      await visit.addressField('by', 'now'); // the page has written it: it must not do so when another one was just set
      await isAsWideAsPlot(visit);
    }
    await visit.see(() => { document.querySelector('.plot').style.maxHeight = ''; });
  });
  await test(it('each suspect is shown, selected and in sight'), async () => {
    for (const view of options.isLookedAt ? ['Icicle', 'Map', 'Table'] : ['Map']) {
      await visit.choose(view);
      for (const [i, suspect] of leak.report.suspects.entries()) {
        await visit.click(`.card:nth-child(${i + 1}) .foot button`);
        const node = nodeOf(leakNodes, suspect.item, suspect.in?.class);
        const counted = suspect.is_whole ? leakNodes[node.parent] : node; // a whole container counts with its own slots
        assert.equal(counted.retained, suspect.retained, `${suspect.item} is this node`);
        await visit.addressField('node', node.number);
        await compareSide(visit, node);
        await visit.until(() => { // it may scroll there
          const {x, y, width, height} = document.querySelector('.plot .selected').getBoundingClientRect();
          return document.elementFromPoint(x + width / 2, y + Math.min(9, height / 2))?.closest('.selected');
        });
      }
    }
  });
  await test(it('the page is not wider than the window'), async () =>
    assert.ok(await visit.see(() => document.documentElement.scrollWidth <= innerWidth), 'no horizontal scrolling'));
  if (isChromium && options.isLookedAt) await test(it('axe finds nothing'), async () => testAccessibility(visit, !options.isDark));
  await test(it('nothing was asked for, and the console is empty'), async () => {
    testQuiet(visit);
  });
  await visit.end();
}

/** Nothing was asked for but the page itself, of which Firefox does not tell, and the console is empty. */
function testQuiet(visit) {
  assert.deepEqual(visit.requests, isChromium ? [visit.address] : []);
  assert.deepEqual(visit.complaints, []);
}

const axe = isChromium ? readFileSync(new URL('node_modules/axe-core/axe.min.js', import.meta.url), 'utf8') : '';
/**
 * Asks axe about the page, and perhaps about each picture, without its contrasts there, which take most of the time: file.test.mjs
 * has those of all colours. axe's script comes in by the debugger, which no policy stops.
 */
async function testAccessibility(visit, withPictures) {
  const withoutColours = {'color-contrast': {enabled: false}};
  const pictures = withPictures ? [['Icicle', '.explore', withoutColours], ['Map', '.explore', withoutColours]] : [];
  await visit.session.send('Runtime.evaluate', {expression: axe});
  for (const [view, where, rules] of [['Table', 'body', {}], ...pictures]) {
    await visit.choose(view);
    const violations = await visit.see(async (where, rules) => (await axe.run(where, {resultTypes: ['violations'], rules})).violations
      .map(({id, nodes}) => `${id}: ${nodes.length} × ${nodes[0].html.slice(0, 160)} ${nodes[0].failureSummary.slice(0, 240)}`), where, rules);
    assert.deepEqual(violations, [], view);
  }
}

async function testSearch() {
  const visit = await Visit.to(browser, file('leak.html'));
  const hits = text => largestFirst(leakNodes.filter(node => node.name.toLowerCase().includes(text) && node.kind !== 3 && node.retained > 0));
  await test('a search counts and marks what it finds, and dims the rest', async () => {
    await visit.see(() => { for (const box of document.querySelectorAll('.box')) box.isOld = true; });
    await visit.press('/');
    await visit.type('Main.');
    const found = hits('main.'), outer = found.filter(node => {
      for (let i = node.parent; i >= 0; i = leakNodes[i].parent) if (found.includes(leakNodes[i])) return false;
      return true;
    });
    const sum = outer.reduce((sum, node) => sum + node.retained, 0);
    assert.ok(found.length > outer.length && outer.length > 0, 'some hits are in others');
    assert.ok((await visit.text('[role=status]')).startsWith(`${found.length.toLocaleString('en-US')} found, ${bytes(sum)},`),
      `${await visit.text('[role=status]')} is ${found.length}, ${sum}`);
    for (const box of await visit.boxes()) {
      assert.equal(box.classes.includes('hit'), found.includes(leakNodes[box.node]), `${leakNodes[box.node].name} is a hit`);
      assert.equal(box.classes.includes('off'), !found.includes(leakNodes[box.node]), `${leakNodes[box.node].name} is dimmed`);
    }
    assert.ok(await visit.see(() => [...document.querySelectorAll('.box')].every(box => box.isOld)), 'nothing was drawn anew');
  });
  await test('Enter goes from hit to hit by size, Shift+Enter back, Esc ends the search', async () => {
    const found = hits('main.').map(node => node.retained), at = async () => leakNodes[await selected(visit)].retained;
    for (const size of found.slice(0, 4)) {
      await visit.press('Enter');
      assert.equal(await at(), size);
    }
    await visit.tab.keyboard.down('Shift');
    await visit.press('Enter');
    await visit.tab.keyboard.up('Shift');
    assert.equal(await at(), found[2]);
    await visit.press('Escape');
    assert.equal(await visit.count('.box.off, .box.hit'), 0);
    assert.equal(await visit.see(() => document.activeElement.getAttribute('role')), 'tree');
  });
  await test('a shorter text finds more again, and what is nowhere is not found', async () => {
    await visit.press('/');
    for (const [key, text] of [['m', 'm'], ['a', 'ma'], ['Backspace', 'm']]) {
      await visit.press(key);
      assert.match(await visit.text('[role=status]'), new RegExp(`^${hits(text).length.toLocaleString('en-US')} found`));
    }
    await visit.type('!!');
    assert.equal(await visit.text('[role=status]'), 'nothing found');
    await visit.press('Escape');
  });
  await visit.end();
}

async function testKeys() {
  const visit = await Visit.to(browser, file('leak.html'), {address: 'view=icicle&node=0&top=0'});
  const focus = role => visit.see(role => document.querySelector(`[role=${role}]`).focus(), role);
  await test('arrows go to what is below, above and beside', async () => {
    await focus('tree');
    const [first, second] = largestFirst(leakNodes[0].children).map(innermost), left = innermost(largestFirst(first.children)[0]);
    const steps = [['ArrowDown', first], ['ArrowRight', second], ['ArrowLeft', first], ['ArrowDown', left], ['ArrowUp', first]];
    for (const [key, node] of steps) {
      await visit.press(key);
      assert.equal(await selected(visit), node.number, `${key} leads to ${node.name}`);
    }
    assert.equal(await visit.see(() => document.querySelector('[role=tree]').getAttribute('aria-activedescendant')), `n${first.number}`);
    await visit.press('ArrowDown', 'Enter');
    await visit.addressField('top', left.number);
    await visit.press('Escape');
    await visit.addressField('top', first.number);
    await visit.press('Backspace');
    await visit.addressField('top', 0);
  });
  await test('in the table arrows open, close and move', async () => {
    await visit.choose('Table');
    await focus('treegrid');
    const rows = async () => (await visit.boxes()).map(row => row.node);
    await visit.press('Home');
    assert.equal(await selected(visit), 0);
    const order = await rows(), first = largestFirst(leakNodes[0].children)[0].number;
    await visit.press('ArrowDown');
    assert.equal(await selected(visit), order[1]);
    assert.equal(order[1], first);
    await visit.press('ArrowLeft');
    assert.equal(await visit.see(id => document.getElementById(id).getAttribute('aria-expanded'), `n${first}`), 'false');
    assert.ok((await rows()).length < order.length, 'rows below are gone');
    await visit.press('ArrowRight');
    assert.deepEqual(await rows(), order);
    await visit.press('ArrowRight');
    assert.equal(await selected(visit), largestFirst(leakNodes[first].children)[0].number);
    await visit.press('ArrowLeft', 'ArrowLeft');
    await visit.press('ArrowUp');
    assert.equal(await selected(visit), 0);
  });
  await test('“n more” shows what is small', async () => {
    const before = await visit.count('tbody tr[id]'), [text] = await visit.texts('.plot button');
    await visit.clickText('.plot button', text);
    assert.equal(await visit.count('.plot tr[id]') - await visit.count('.nothing') > 0, true);
    assert.ok(await visit.count('tbody tr[id]') >= before + Number.parseInt(text.replace(',', ''), 10));
  });
  await visit.end();
}

async function testAddress() {
  await test('a link leads to the same place in another tab', async () => {
    const visit = await Visit.to(browser, file('leak.html'));
    const box = (await visit.boxes()).find(({node}) => leakNodes[node].children.length > 1 && leakNodes[node].parent > 0 && leakNodes[node].retained > leakNodes[node].was);
    await visit.choose('Map');
    await visit.click(`#n${box.node}`, {inFirstLine: true});
    await visit.choose('Growth', 0);
    await visit.press('/');
    await visit.type('main');
    await visit.addressField('find', 'main');
    await visit.addressField('by', 'grown');
    const address = await visit.see(() => location.hash.slice(1)), other = await Visit.to(browser, file('leak.html'), {address});
    const seen = one => Promise.all([side(one), one.text('.crumbs'), one.text('[role=status]'), one.texts('.choice [aria-pressed=true]'), one.boxes()]);
    assert.deepEqual(await seen(other), await seen(visit));
    await Promise.all([visit.end(), other.end()]);
  });
  await test('an address that was made up leads to the whole heap', async () => {
    for (const address of ['view=x&node=-1&top=99999999&by=constructor', 'node=1e3&top=__proto__&colour=<b>', 'node=99999&top=0x1&view=map']) {
      const visit = await Visit.to(browser, file('leak.html'), {address});
      assert.equal(await side(visit), leakNodes[0].name, address);
      assert.deepEqual(visit.complaints, []);
      await visit.end();
    }
  });
}

async function testGrowth() {
  const visit = await Visit.to(browser, file('leak.html'), {address: 'view=icicle&node=0&top=0&by=grown&colour=growth'});
  const gross = node => node.gross ??= Math.max(0, node.retained - node.was, node.children.reduce((sum, child) => sum + gross(child), 0));
  const signed = change => change > 0 ? `+${bytes(change)}` : change < 0 ? `−${bytes(-change)}` : '·';
  await test('the areas of growth are what grew, the labels what grew less what shrank', async () => {
    const boxes = await visit.boxes(), scale = await visit.see(() => document.querySelector('.plot').clientWidth) / gross(leakNodes[0]);
    assert.ok(boxes.length > 10);
    for (const box of boxes) {
      const node = leakNodes[box.node];
      assert.ok(Math.abs(box.width + 1 - gross(node) * scale) < 3, `${node.name} is as wide as it grew`);
      if (box.classes.includes('wide')) assert.ok(box.text.endsWith(signed(node.retained - node.was)), `${box.text} ends with ${signed(node.retained - node.was)}`);
    }
    const hint = await visit.text('.hint'), shrunk = gross(leakNodes[0]) - (leakNodes[0].retained - leakNodes[0].was);
    assert.ok(shrunk > 0 && hint.includes(bytes(gross(leakNodes[0]))) && hint.includes(bytes(shrunk)), hint);
  });
  await test('a click on a colour dims the others', async () => {
    await visit.choose('Size now');
    await visit.choose('Package');
    const [name] = await visit.texts('.legend button'), colour = await visit.see(() => document.querySelector('.legend button .swatch').className.split(' ')[1]);
    await visit.clickText('.legend button', name);
    for (const box of await visit.boxes()) assert.equal(box.classes.includes('off'), !box.classes.includes(colour), `${box.text} is dimmed`);
    assert.ok(await visit.count('.box.off') > 0);
    await visit.clickText('.legend button', name);
    assert.equal(await visit.count('.box.off'), 0);
    const there = new Set((await visit.boxes()).flatMap(box => box.classes.filter(name => /^(package\d|builtin|other|root)$/.test(name))));
    assert.deepEqual(new Set(await visit.see(() => [...document.querySelectorAll('.explore .legend .swatch')].map(one => one.className.split(' ')[1]))), there);
  });
  await visit.end();
}

async function testPages() {
  // As of a process, whose heap has them: each node by itself has a third of its bytes in pages, and free slots of a tenth, but one has more.
  const rich = largestFirst(leakNodes.filter(node => node.kind === 2 && node.children.length === 0))[3];
  const own = leak.tree.bytes.map((size, i) => i === rich.number ? 5_000_000 : Math.floor(size / 3)), slots = own.map(size => Math.floor(size / 10));
  const free_slots = {bytes: 2e6, in: 5e6, holders: [{free_slots: 1_500_000, bytes: 2e6, held_by: 'main.index', count: 9375, class: 'main.Req'},
    {free_slots: 400_000, bytes: 1e6, shared_by: [{held_by: 'main.a'}, {name: '(globals)'}], sharers: 5, is_sample: true},
    {free_slots: 300_000, bytes: 1e6, count: 20, class: 'main.Req'}]};
  const memory = {rss: {bytes: 9e6, parts: {objects: 5e6, free_slots: 4e6}, files: []}};
  const path = join(made, 'pages.html');
  writeFileSync(path, withData(source('leak.html'), {...leak, tree: {...leak.tree, pages: own, free_slots: slots}, report: {...leak.report, heap: {...leak.report.heap, source: "process 17 (it's a server)"}, free_slots, process: memory}}));
  const pages = node => node.pages ??= own[node.number] + leak.tree.parent.reduce((sum, parent, i) => sum + (parent === node.number ? pages(leakNodes[i]) : 0), 0);
  const visit = await Visit.to(browser, path, {address: `view=icicle&node=${rich.number}&top=0&by=pages`});
  await test('the areas of pages are what could be freed', async () => {
    const boxes = await visit.boxes(), all = pages(leakNodes[0]), scale = await visit.see(() => document.querySelector('.plot').clientWidth) / all;
    assert.ok(boxes.some(box => box.node === rich.number), 'what keeps most pages is there');
    for (const box of boxes) {
      assert.ok(Math.abs(box.width + 1 - pages(leakNodes[box.node]) * scale) < 3, `${leakNodes[box.node].name} is as wide as its pages`);
      if (box.classes.includes('wide')) assert.ok(box.text.endsWith(bytes(pages(leakNodes[box.node]))), `${box.text} ends with ${bytes(pages(leakNodes[box.node]))}`);
    }
    assert.ok((await visit.text('.hint')).includes(`${bytes(all)} of pages`));
    assert.ok((await visit.text('.side dl')).includes('5.00 MB could be freed without it, 500 kB of that are free slots'));
  });
  await test('the head names who keeps free slots', async () => {
    assert.deepEqual(await visit.texts('header li'), ['1.50 MB of free slots could be freed, too, if main.index were emptied of 9,375 main.Req.',
      '400 kB of free slots could be freed only if all that share these pages were emptied: main.a, (globals) and at least 3 more.',
      '300 kB of free slots could be freed, too, without the 20 main.Req.']);
    for (const command of await visit.texts('.card .next')) assert.match(command, /^go2heapsnapshot --pid 17 --(show|path-to) '[^']+'(Copy)?$/);
    await visit.choose('Table');
    assert.ok((await visit.texts('.plot th')).includes('pages'));
    assert.deepEqual(visit.complaints, []);
  });
  await visit.end();
}

async function testAges() {
  // As of a process that was watched for 12 s: the bytes of a node are all in one group of ages, by its number, and a suspect leaks.
  const groups = Array.from({length: 6}, (_, group) => leak.tree.bytes.map((size, i) => i % 6 === group ? size : 0));
  const age = {verdict: 'leaks', objects: 176, before: 16, born: 152, young: 8, seconds: 12, oldest: 12, spread: Array.from({length: 16}, (_, i) => ({born: 2 + i}))};
  const suspects = leak.report.suspects.map((suspect, i) => i === 0 ? {...suspect, age} : suspect);
  const path = join(made, 'ages.html');
  writeFileSync(path, withData(source('leak.html'), {...leak, tree: {...leak.tree, watched_ms: 12000, aged: groups}, report: {...leak.report, suspects}}));
  const sums = new Map(), old = (node, last) => {
    const key = `${node.number} ${last}`;
    if (!sums.has(key)) sums.set(key, (node.number % 6 <= last ? leak.tree.bytes[node.number] : 0) + node.children.reduce((sum, child) => sum + old(child, last), 0));
    return sums.get(key);
  };
  const visit = await Visit.to(browser, path, {address: 'view=icicle&node=0&top=0'});
  await test('areas are what had survived by then', async () => {
    for (const [name, last] of [['The start', 0], ['6 s ago', 2], ['The last collection', 4]]) {
      await visit.choose(name);
      const boxes = await visit.boxes(), all = old(leakNodes[0], last), scale = await visit.see(() => document.querySelector('.plot').clientWidth) / all;
      assert.ok(boxes.length > 10);
      for (const box of boxes) {
        const node = leakNodes[box.node];
        assert.ok(Math.abs(box.width + 1 - old(node, last) * scale) < 3, `${name}: ${node.name} is as wide as its old bytes`);
        if (box.classes.includes('wide')) assert.ok(box.text.endsWith(bytes(old(node, last))), `${box.text} ends with ${bytes(old(node, last))}`);
      }
      assert.ok((await visit.text('.hint')).startsWith(`Areas show ${bytes(all)} of objects that `));
    }
    await visit.choose('Any time');
  });
  await test('colours are by the age that half of the bytes have', async () => {
    await visit.choose('Age');
    const boxes = (await visit.boxes()).filter(box => leakNodes[box.node].kind === 2);
    assert.ok(boxes.length > 5);
    for (const {node: number, classes} of boxes) {
      const node = leakNodes[number], all = old(node, 5), group = [0, 1, 2, 3, 4, 5].find(last => 2 * old(node, last) >= all);
      assert.ok(classes.includes(all === 0 ? 'ageless' : ['age3', 'age2', 'age2', 'age1', 'age1', 'age0'][group]), `${node.name}: ${classes}, ${group}`);
    }
  });
  await test('a suspect has its objects by age', async () => {
    assert.equal(await visit.see(() => document.querySelector('.card .ages').getAttribute('aria-label').split(', ').length), 18);
    assert.ok((await visit.text('.card')).includes('Objects by age, over 12 s: evenly spread, and nothing ends: leaks, unless it is a cache that still fills.'));
    assert.deepEqual(visit.complaints, []);
  });
  await visit.end();
}

async function testLibrary() {
  const visit = await Visit.to(browser, file('leak.html'), {address: 'view=icicle&node=0&top=0'});
  const shown = async () => [(await visit.boxes()).map(box => leakNodes[box.node].name), await visit.texts('#goroutines tbody tr'), await visit.texts('#types tbody tr')].map(String);
  await test('the standard library is dimmed, or hidden, in pictures and tables, and found again', async () => {
    const before = await shown();
    await visit.choose('Dim');
    assert.ok(Number(await visit.see(() => getComputedStyle(document.querySelector('.box.standard')).opacity)) < 1);
    assert.equal(await visit.see(() => getComputedStyle(document.querySelector('.box:not(.standard)')).opacity), '1');
    assert.deepEqual(await shown(), before);
    await visit.choose('Hide');
    const [boxes, goroutines, types] = await shown();
    for (const text of [boxes, goroutines, types]) assert.match(text, /main\./);
    assert.doesNotMatch(boxes, /poolChainElt/);
    assert.doesNotMatch(goroutines, /GC worker/);
    assert.doesNotMatch(types, /runtime\.mPadded/);
    await visit.press('/');
    await visit.type('poolChainElt');
    await visit.press('Enter');
    assert.equal(leakNodes[await selected(visit)].name, 'sync.poolChainElt');
    assert.deepEqual(visit.complaints, []);
  });
  await visit.end();
}

async function testTables() {
  const visit = await Visit.to(browser, file('leak.html'));
  const rows = () => visit.see(() => [...document.querySelectorAll('#types tbody tr')].map(row => [...row.cells].map(cell => cell.textContent)));
  const {classes} = leak.report;
  await test('types are sorted by each column, both ways', async () => {
    await visit.clickText('#types .more button', `Show all ${classes.length}`);
    for (const [title, column, key] of [['objects', 1, 'objects'], ['own', 2, 'bytes'], ['retained', 3, 'retained'], ['type', 0, 'class']]) {
      for (const direction of key === 'class' ? [1, -1] : [-1, 1]) {
        await visit.clickText('#types th button', title);
        const format = key === 'class' ? visible : key === 'objects' ? number => number.toLocaleString('en-US') : bytes;
        const expected = [...classes].sort((a, b) => direction * (key === 'class' ? a.class.localeCompare(b.class, 'en') : a[key] - b[key]));
        assert.deepEqual((await rows()).map(row => row[column]), expected.map(row => format(row[key])), title);
        assert.equal(await visit.see(() => document.querySelector('#types [aria-sort]').getAttribute('aria-sort')), direction > 0 ? 'ascending' : 'descending');
      }
    }
  });
  await test('a filter leaves the types that have its text', async () => {
    await visit.click('#types input');
    await visit.type('MAP[');
    assert.deepEqual(new Set((await rows()).map(row => row[0])), new Set(classes.map(row => visible(row.class)).filter(name => name.toLowerCase().includes('map['))));
    await visit.press(...Array(4).fill('Backspace'));
    assert.equal((await rows()).length, classes.length);
  });
  await test('a filter hides what follows !, and takes regular expressions', async () => {
    const filtered = async (text, wanted) => {
      await visit.type(text);
      assert.deepEqual(new Set((await rows()).map(row => row[0])), new Set(classes.map(row => visible(row.class)).filter(wanted)), text);
      await visit.press(...Array(text.length).fill('Backspace'));
    };
    await filtered('!main.', name => !name.includes('main.'));
    await filtered('/^main\\.(Session|Bid)$/', name => /^main\.(Session|Bid)$/.test(name));
    await filtered('!/^\\[/', name => !name.startsWith('['));
    await filtered('/[', name => name.includes('/['));
    assert.equal((await rows()).length, classes.length);
  });
  await test('the rows of a table are saved as CSV', async () => {
    await catchFiles(visit);
    await visit.clickText('#types .more button', 'CSV');
    const lines = (await visit.see(() => globalThis.saved)).trim().split('\r\n');
    assert.equal(lines.length, classes.length + 1);
    assert.match(lines[0], /^type,objects,own,retained/);
    const session = classes.find(row => row.class === 'main.Session');
    assert.ok(lines.some(line => line.startsWith(`main.Session,${session.objects},${session.bytes},${session.retained},`)), 'numbers are as they are');
  });
  await test('a type lists all its holders, which lead to their places', async () => {
    const row = classes.find(row => row.class === '[]uint8'), parts = leakNodes.filter(node => node.name === row.class && node.kind === 2);
    await visit.clickText('#types td button', row.class);
    const listed = await visit.see(() => [...document.querySelectorAll('#holders tbody tr')].map(line => [...line.cells].map(cell => cell.textContent)));
    assert.ok(listed.length > 3 && listed.length <= 10);
    const shares = listed.map(cells => parseFloat(cells[3]));
    assert.deepEqual(shares, [...shares].sort((a, b) => b - a), 'the one with the largest share first');
    await visit.see(() => document.querySelectorAll('#holders .more button').forEach(one => one.textContent.startsWith('Show all') && one.click()));
    const all = await visit.see(() => [...document.querySelectorAll('#holders tbody tr')].map(line => Number(line.cells[1].textContent.replaceAll(',', ''))));
    assert.equal(all.reduce((sum, one) => sum + one, 0), row.objects, 'all objects are somewhere');
    await visit.click('#holders td button');
    const node = leakNodes[await selected(visit)];
    assert.ok(parts.includes(node));
  });
  await test('below a type stands what holds it, on its head, and a click zooms', async () => {
    const parts = leakNodes.filter(node => node.name === '[]uint8' && node.kind === 2), whole = parts.reduce((sum, node) => sum + node.own, 0), holders = new Map();
    for (const part of parts) {
      let above = leakNodes[part.parent];
      while (above?.number > 0 && above.name.startsWith('(')) above = leakNodes[above.parent];
      if (above?.number > 0) holders.set(above.name, (holders.get(above.name) ?? 0) + part.own);
    }
    await visit.clickText('#types td button', '[]uint8');
    const read = () => visit.see(() => [...document.querySelectorAll('#holders .box[id]')].map(box => ({level: Number(box.getAttribute('aria-level')),
      label: box.getAttribute('aria-label'), left: box.offsetLeft, top: box.offsetTop, width: box.offsetWidth})));
    const boxes = await read(), width = await visit.see(() => document.querySelector('#holders .plot').clientWidth);
    assert.equal(boxes[0].label, `[]uint8, ${bytes(whole)}`);
    const drawn = boxes.filter(box => box.level === 2), expected = [...holders].filter(([, own]) => own / whole * width >= 2.5);
    for (const [name, own] of expected) {
      const box = drawn.find(box => box.label === `${visible(name)}, ${bytes(own)}`);
      assert.ok(box && Math.abs(box.width + 1 - width * own / whole) <= 2.5 && box.top > boxes[0].top, `${name}, ${own}`);
    }
    assert.ok(expected.length > 3);
    const [largest] = [...holders].sort((a, b) => b[1] - a[1])[0];
    await visit.click('#h1');
    assert.equal((await read()).find(box => box.label.startsWith(`${largest}, `)).width >= width - 2, true, 'it is as wide as the picture');
    assert.match(await visit.text('#holders [role=status]'), new RegExp(`^Held through ${largest}: [\\d,]+ objects?, .* of the type`));
    await visit.press('Escape');
    assert.deepEqual(await read(), boxes);
    await visit.press('ArrowDown', 'ArrowDown');
    assert.equal(await visit.see(() => document.querySelectorAll('#holders .box.selected').length), 1);
    await visit.clickText('#holders [role=status] button', 'Show in the tree');
    assert.equal(leakNodes[await selected(visit)].name, '[]uint8');
  });
  await test('of a type that is in several places the panel leads to all its holders', async () => {
    await visit.see(() => { document.querySelector('#holders').hidden = true; });
    await visit.clickText('.side button', `Who holds all ${classes.find(row => row.class === '[]uint8').objects}`);
    assert.equal(await visit.text('#holders h3'), 'Who holds []uint8');
  });
  for (const view of ['Icicle', 'Map']) {
    await test(`the ${view.toLowerCase()} is saved as SVG, with every box where it is`, async () => {
      await visit.choose(view);
      await catchFiles(visit);
      await visit.clickText('#tree .tools button', 'SVG');
      const boxes = await visit.boxes(), path = join(made, 'picture.svg'), svg = await visit.see(() => globalThis.saved);
      writeFileSync(path, svg);
      const tab = await browser.newPage();
      await tab.goto(`file://${path}`);
      const rects = await tab.evaluate(() => [...document.querySelectorAll('rect')].slice(1).map(rect =>
        [...['x', 'y', 'width', 'height'].map(name => Number(rect.getAttribute(name))), rect.querySelector('title').textContent, rect.getAttribute('fill')]));
      const texts = await tab.evaluate(() => [...document.querySelectorAll('text')].map(text => text.textContent));
      await tab.close();
      for (const box of boxes) assert.ok(rects.some(rect => rect[0] === box.left && rect[1] === box.top && rect[2] === box.width && rect[3] === box.height && rect[4] === box.label), box.label);
      assert.ok(boxes.length > 20 && new Set(rects.map(rect => rect[5])).size > 3, 'it has the colours');
      assert.ok(texts.includes('main.Preview') || texts.some(text => text.includes('main.Auction')), texts.join());
    });
  }
  await test('a card has the values, or the stack, of an example', async () => {
    const shown = await visit.see(() => [...document.querySelectorAll('#suspects .card')].map(card => [...card.querySelectorAll('.example td, .example li')].map(cell => cell.textContent)));
    const examples = leak.suspect_examples.map(({fields, stack}) => (stack ?? fields?.flat() ?? []).map(visible));
    assert.deepEqual(shown, examples);
    assert.ok(examples.every(texts => texts.length > 0));
  });
  await test('a card and the panel have the same percentage, and each card the next command', async () => {
    const cards = await visit.see(() => [...document.querySelectorAll('#suspects .card')].map(card => card.textContent));
    for (const card of cards) assert.match(card, /go2heapsnapshot --exe APP --(show|path-to) '.+' leakserver\.2\.dump\.gz/);
    for (const [i, number] of leak.suspect_nodes.entries()) {
      const suspect = leak.report.suspects[i];
      if (number < 0 || leakNodes[number].retained !== suspect.retained) continue;
      await visit.clickText('#suspects .card:nth-child(' + (i + 1) + ') .foot button', 'Show in the tree');
      const [fact] = await visit.texts('.side dd'), whole = leak.report.heap.reachable;
      assert.ok(Math.abs(parseFloat(fact.split(', ')[1]) - 100 * suspect.retained / whole) < .6, `${fact} of ${whole}`);
    }
  });
  await test('the largest objects say how to get to them, and show where they are', async () => {
    const objects = await visit.see(() => [...document.querySelectorAll('#objects summary')].map(one => one.textContent));
    assert.ok(objects.length > 5);
    leak.largest.slice(0, objects.length).forEach((object, i) =>
      assert.equal(objects[i], visible(object.held_by ?? object.address) + visible(leak.names[object.class]) + bytes(object.retained)));
    const steps = await visit.texts('#objects details[open] .steps li');
    assert.equal(steps.length, leak.largest[0].steps.length);
    leak.largest[0].steps.forEach((step, i) => assert.ok(steps[i].includes(visible(step.step ?? '')) && steps[i].includes(visible(leak.names[step.class]))
      && steps[i].endsWith(bytes(step.retained)), steps[i]));
    await visit.clickText('#objects details[open] button', 'Show in the tree');
    assert.equal(await selected(visit), leak.largest[0].node);
  });
  await test('Copy selects the whole expression', async () => {
    await visit.click('.card .expression button');
    assert.equal(await visit.see(() => getSelection().toString()), visible(leak.report.suspects.find(suspect => suspect.held_by).held_by));
  });
  await test('the text of the report is there, to the letter', async () =>
    assert.equal(await visit.text('#text'), source('leak.txt')));
  await visit.end();
}

/** What is gone or less than before: each row is of the data, the leaks that are not there yet come first, and nothing that is gone is missing. */
async function testGone() {
  const data = dataOf(source('shrunk.html')), nodes = nodesOf(data), visit = await Visit.to(browser, file('shrunk.html'));
  await visit.clickText('#less .more button', `Show all ${await visit.see(() => document.querySelector('#less .more button').textContent.match(/\d+/)[0])}`);
  const rows = await visit.see(() => [...document.querySelectorAll('#less tbody tr')].map(row => [...row.cells].map(cell => cell.textContent)));
  await test('what has become less is listed', async () => {
    assert.ok(rows.length > 10);
    for (const [name, , fewer, less, now] of rows) {
      const isOf = now === 'gone' ? data.gone.some(gone => visible(gone.name) === name && gone.was_count.toLocaleString('en-US') === fewer && bytes(gone.was) === less)
        : nodes.some(node => visible(node.name) === name && bytes(node.retained) === now && (fewer === '0' ? node.children.reduce((left, child) => left - child.was, node.was
            - data.gone.reduce((sum, gone) => sum + (gone.below === node.number ? gone.was : 0), 0)) - node.own : node.was - node.retained) > 0
          && (fewer === '0' || (node.wasCount - node.count).toLocaleString('en-US') === fewer && bytes(node.was - node.retained) === less));
      assert.ok(isOf, `${name}: ${fewer} fewer, ${less} less, ${now} now`);
    }
    assert.deepEqual(rows.slice(0, 3).map(row => [row[0], row[2]]), [['main.Watcher', '1,600'], ['goroutines [chan send] main.ask main.go:178', '60'], ['main.Preview', '300']]);
    for (const gone of data.gone) assert.ok(rows.some(row => row[0] === visible(gone.name) && row[4] === 'gone'), gone.name);
  });
  await test('a click there leads to the place, or to what held it', async () => {
    for (const name of [rows[0][0], visible(data.gone[0].name)]) {
      await visit.clickText('#less td button', name);
      await visit.addressField('node', data.gone.find(gone => visible(gone.name) === name)?.below ?? nodeOf(nodes, name, 'map[uint64]*main.Watcher').number);
    }
    testQuiet(visit);
  });
  await test('names that are gone stay text', async () => {
    const path = join(made, 'gone.html'), name = '<img src=x onerror=window.pwned=30>\u202e';
    writeFileSync(path, withData(source('shrunk.html'), {...data, gone: data.gone.map(gone => ({...gone, name, was: 1e9}))}));
    const other = await Visit.to(browser, path);
    assert.equal(await other.text('#less td button'), visible(name));
    assert.equal(await other.count('#less img'), 0);
    testQuiet(other);
    await other.end();
  });
  await test('nothing is less: there is no such section', async () => {
    const path = join(made, 'same.html'), {since, ...report} = data.report, {was, was_count: wasCount, ...tree} = data.tree, {gone, ...others} = data;
    writeFileSync(path, withData(source('shrunk.html'), {...others, report, tree}));
    const other = await Visit.to(browser, path);
    assert.equal(await other.count('#less'), 0);
    testQuiet(other);
    await other.end();
  });
  await visit.end();
}

/** What suspects of other heaps have, as docs/report-json.md lists it: each must be told. */
async function testSuspects() {
  const base = {retained: 5_000_000, is_goroutines: false, is_deferred: false, not_resident: 0, count: 20};
  const suspects = [
    {is_outside: true, part: 'files', bytes: 205_000_000, meaning: 'MEANING', pointed_to_by: [{place: 'PLACE', bytes: 7_000_000}]},
    {...base, item: 'main.T', not_resident: 1_230_000, in: {class: 'HOLDER', count: 4}, each: {retained: 250_000, own: 48, parts: [{class: 'PART', bytes: 1000}]},
      keys: [{key: '["KEY"]', retained: 2_500_000}], held_by: 'main.HELD', shared_by: 'SHARED', never_freed: 'REASON',
      most: {held_by: 'main.MOST', count: 19, retained: 4_500_000}, timers: {count: 77, retained: 6_000_000, heaps: 8},
      leaked: {count: 1100, of: 1700, reason: 'LEAKS'}, stale: {count: 17, beyond: 17, before: 0, slices: 3, of: 'main.SLICE', length: 1234},
      allocated_by: {function: 'main.ALLOCATES', file: 'FILE.go', line: 31, samples: 12, of: 14, within: 'WITHIN'}},
    {...base, item: 'goroutines [select] main.WAIT', is_goroutines: true, wait_on: 'chan CHAN', started_by: 'go statement in main.START', stack: 2345,
      hold: [{variable: 'VARIABLE', of: 'main.OF', class: 'HELD', each: 1152}, {class: 'BY SEVERAL', of: 'main.OF', each: 800}], frames: {count: 2001, most: 1999, function: 'main.DEEP'}},
    {...base, item: 'goroutines [sync.Mutex.Lock] main.LOCK', is_goroutines: true, waited: {paths: 'main.LOCK.PATH', count: 1700, of: 2900}},
    {...base, item: 'deferred calls of main.DEFER', is_deferred: true, hold: [{class: 'CAPTURED', count: 900, retained: 800_000}]},
    {...base, item: 'runtime.g', ended: 4321},
    {...base, item: 'main.SAME', count: 1, count_grown: 0, retained_grown: 382_000},
  ];
  const shown = leakNodes.filter(node => node.number > 0 && !node.isRepetition), nodes = suspects.map((_, i) => i === 0 ? -1 : shown[i].number); // of any name
  const told = [
    ['205 MB', 'mapped files', 'MEANING', 'PLACE', '7.00 MB', '50 %'],
    ['5.00 MB', 'main.T', '1.23 MB', 'HOLDER', '250 kB', 'PART', '["KEY"]', '50 %', 'main.HELD', 'SHARED', 'REASON', 'main.MOST', '90 %', '77', '8 heaps', '17 of them',
      '1,100 of the 1,700 goroutines that hold it can never run again: LEAKS.',
      'beyond the length', 'main.SLICE', '1,234', 'main.ALLOCATES', 'FILE.go:31', '12 of 14', 'WITHIN'],
    ['[select] main.WAIT', 'chan CHAN', 'main.START', '2.35 kB', 'VARIABLE', 'main.OF', 'HELD', '1.15 kB', 'Each holds BY SEVERAL, 800 B.', '2,001 calls', '1,999', 'main.DEEP'],
    ['[sync.Mutex.Lock] main.LOCK', 'They wait on main.LOCK.PATH, as 1,700 of 2,900 do.'],
    ['main.DEFER', 'CAPTURED', '900', '800 kB'], ['runtime.g', '4,321 goroutines have ended'],
    ['+382 kB', 'main.SAME.'], // a map that has grown is no more of them
  ];
  await test('all that is known of a suspect is told', async () => {
    const path = join(made, 'suspects.html'), {process, ...report} = leak.report;
    writeFileSync(path, withData(source('leak.html'), {...leak, suspect_nodes: nodes, report: {...report, suspects, more_suspects: 6, ending: {how: 'killed by the OOM killer', time: 'TIME', resident: 629_000_000, limit: 640_000_000}, since: {...report.since, goroutines: 0},
      process: {...process, rss: {bytes: 410_000_000, parts: {objects: 8_000_000, free: 100_000_000, files: 205_000_000, gc: 97_000_000}}}}}));
    const visit = await Visit.to(browser, path), cards = await visit.texts('.card');
    assert.equal(cards.length, told.length);
    told.forEach((texts, i) => texts.forEach(text => assert.ok(cards[i].includes(text), `“${text}” is in “${cards[i]}”`)));
    assert.match(await visit.text('#suspects'), /6 more grew/);
    assert.doesNotMatch(await visit.text('.head'), /·\s*goroutines/); // of which there are as many as before
    assert.equal(await visit.count('.card:first-child .foot button'), 0);
    for (let i = 1; i < nodes.length; i++) {
      await visit.click(`.card:nth-child(${i + 1}) .foot button`);
      await visit.addressField('node', nodes[i]);
    }
    assert.match(await visit.text('.head'), /Killed by the OOM killer at TIME, with 629 MB resident, limit 640 MB\./);
    assert.match(await visit.text('.head'), /410 MB.*free heap 100 MB.*collector 97.0 MB/);
    testQuiet(visit);
    await visit.end();
  });
}

// ---- what a program may call its things ----

/** Reads a page of a hostile program. Scripts that names smuggle in would set window.pwned or load something. */
async function testHostile(name, path) {
  await test(`${name}: names stay text`, async () => {
    const visit = await Visit.to(browser, path), data = dataOf(readFileSync(path, 'utf8'));
    for (const view of ['Map', 'Table', 'Icicle']) await visit.choose(view);
    await visit.see(() => document.querySelectorAll('details').forEach(details => { details.open = true; }));
    for (const text of await visit.see(() => [...document.querySelectorAll('.more button')].map(button => button.textContent))) {
      await visit.see(text => [...document.querySelectorAll('.more button')].find(button => button.textContent === text)?.click(), text);
    }
    for (let i = 0; i < data.report.suspects.length; i++) {
      await visit.see(i => document.querySelectorAll('.card')[i].querySelector('.foot button')?.click(), i);
    }
    await visit.until(() => new Promise(resolve => setTimeout(resolve, 100, true)));
    assert.equal(await visit.see(() => window.pwned), undefined);
    assert.deepEqual(await visit.see(() => [...document.querySelectorAll('img, iframe, object, embed, link, form, svg script, script[src], a[href^="j" i], base')]
      .map(element => element.outerHTML)), []);
    assert.equal(await visit.count('script'), 2);
    assert.ok((await visit.text('main')).includes('window.pwned'), 'the names are there, as text');
    const shown = await visit.see(() => { // what is shown as it is: not the report's text, which the program itself has escaped, nor data
      const copy = document.body.cloneNode(true);
      copy.querySelectorAll('script, #text').forEach(element => element.remove());
      return copy.textContent + [...document.querySelectorAll('[aria-label], [title]')].map(one => one.getAttribute('aria-label') + one.title).join('');
    });
    assert.doesNotMatch(shown, /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff]/);
    testQuiet(visit);
    await visit.end();
  });
}

async function testPolicy() {
  const visit = await Visit.to(browser, file('hostile.html'));
  const attempts = {
    'HTML of text': () => { document.body.insertAdjacentHTML('beforeend', '<img src=x onerror="window.pwned=1">'); },
    'a handler in an attribute': () => { document.createElement('a').setAttribute('onclick', 'window.pwned=2'); },
    'the text of a script': () => { document.createElement('script').textContent = 'window.pwned=3'; },
  };
  const hasTrustedTypes = await visit.see(() => 'trustedTypes' in window); // Firefox 140 has none
  for (const [name, attempt] of Object.entries(hasTrustedTypes ? attempts : {})) {
    await test(`the policy forbids ${name}`, async () => assert.equal(await visit.see(attempt).then(() => 'allowed', error => /TypeError|Trusted/.test(String(error)) || String(error)), true));
  }
  await test('the policy forbids requests, pictures and styles', async () => {
    assert.equal(await visit.see(() => fetch('https://example.com/').then(() => 'fetched', error => error.name)), 'TypeError');
    assert.equal(await visit.see(() => new Promise(resolve => {
      const image = document.createElement('img');
      image.onload = () => resolve('loaded');
      image.onerror = () => resolve('refused');
      image.src = 'data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7';
    })), 'refused');
    assert.equal(await visit.see(() => {
      const style = document.createElement('style');
      style.textContent = 'body { position: fixed; }';
      document.head.append(style);
      return getComputedStyle(document.body).position;
    }), 'static');
  });
  await visit.end();
}

// ---- other readers: without scripts, on paper, with little room; much data ----

async function testWithoutScripts() {
  await test('without scripts the page is the report as text', async () => {
    const visit = await Visit.to(browser, file('leak.html'), {hasScripts: false});
    const {session} = visit, {root} = await session.send('DOM.getDocument', {depth: -1});
    const find = node => node.attributes?.includes('text') && node.localName === 'pre' ? node : (node.children ?? []).map(find).find(Boolean);
    assert.equal(find(root).children[0].nodeValue.trim(), source('leak.txt').trim());
    const {model} = await session.send('DOM.getBoxModel', {nodeId: find(root).nodeId});
    assert.ok(model.height > 200, 'it is visible');
    await visit.end();
  });
}

async function testPrint() {
  const visit = await Visit.to(browser, file('series.html'), {isDark: true});
  const headings = await visit.texts('h2');
  await test('a print has the headings of all sections', async () => {
    const pdf = Buffer.from(await visit.tab.pdf({format: 'A4', printBackground: true, outline: true, tagged: true}));
    writeFileSync(file('series.pdf'), pdf);
    const titles = [...pdf.toString('latin1').matchAll(/\/Title\s*(?:\((.*?)\)|<([0-9A-Fa-f]*)>)/g)].map(([, text, hex]) => hex === undefined ? text.replace(/^þÿ/, '').replace(/\0/g, '')
      : Buffer.from(hex, 'hex').swap16().toString('utf16le').replace('\ufeff', ''));
    assert.ok(headings.length >= 9);
    for (const heading of headings) assert.ok(titles.some(title => title.includes(heading)), `${heading} is in ${titles.join(' | ')}`);
  });
  await test('a print is light, without controls, with a picture that fits on paper', async () => {
    await visit.tab.emulateMediaType('print');
    await visit.see(() => dispatchEvent(new Event('beforeprint')));
    const seen = await visit.see(() => ({
      ground: getComputedStyle(document.body).backgroundColor, plot: document.querySelector('.plot').offsetWidth,
      widest: Math.max(...[...document.querySelectorAll('.box')].map(box => box.offsetLeft + box.offsetWidth)),
      controls: [...document.querySelectorAll('nav, input, .tools, .card button, .more button')].filter(element => element.offsetHeight > 0).length,
      headings: [...document.querySelectorAll('h2')].filter(element => element.offsetHeight > 0).length,
    }));
    assert.deepEqual({...seen, widest: seen.widest <= 680}, {ground: 'rgb(255, 255, 255)', plot: 680, widest: true, controls: 0, headings: headings.length});
  });
  await visit.end();
}

async function testNarrow() {
  for (const width of [720, 480, 360]) {
    const visit = await Visit.to(browser, file('leak.html'), {width});
    await test(`${width} pixels, as of a window at 200 % or a phone: nothing is wider than the page, no line is broken at each character`, async () => {
      assert.ok(await visit.see(() => document.documentElement.scrollWidth <= innerWidth));
      const tallest = await visit.see(() => Math.max(...[...document.querySelectorAll('#objects summary')].map(line => line.offsetHeight)));
      assert.ok(tallest < 200, `a line of the largest objects is ${tallest} pixels high`);
    });
    await visit.end();
  }
  await test('a phone has room for the choice of two dumps', async () => {
    const visit = await Visit.to(browser, file('series.html'), {width: 360});
    assert.deepEqual(await visit.see(() => [document.documentElement.scrollWidth <= innerWidth, [...document.querySelectorAll('select')].every(list => list.getBoundingClientRect().right < innerWidth)]), [true, true]);
    await visit.end();
  });
  await test('who wants no motion gets none', async () => {
    for (const [likesMotion, expected] of [[false, 'auto'], [true, 'smooth']]) {
      const visit = await Visit.to(browser, file('leak.html'), {likesMotion});
      assert.equal(await visit.see(() => getComputedStyle(document.documentElement).scrollBehavior), expected);
      await visit.end();
    }
  });
  await test('the button changes the colours, and back', async () => {
    const visit = await Visit.to(browser, file('leak.html')), ground = () => visit.see(() => getComputedStyle(document.body).backgroundColor);
    const light = await ground();
    await visit.clickText('nav button', 'Dark');
    assert.notEqual(await ground(), light);
    await visit.clickText('nav button', 'Light');
    assert.equal(await ground(), light);
    await visit.end();
  });
}

async function testSeries() {
  const visit = await Visit.to(browser, file('series.html')), {series, report} = dataOf(source('series.html'));
  await test('trends come first, and of these what has grown', async () => {
    assert.equal(await visit.see(() => document.querySelector('section').id), 'trends');
    await visit.clickText('#trends .more button', `Show all ${2 + series.places.length + series.classes.length}`);
  });
  await test('trends go from the first to the last dump', async () => {
    const charts = await visit.see(() => [...document.querySelectorAll('#trends figure')].map(figure =>
      [figure.querySelector('bdi').textContent, figure.querySelector('.number').textContent, figure.querySelectorAll('circle').length]));
    const first = series.dumps[0], last = series.dumps.at(-1), ends = (name, a, b) => [visible(name), `${a} → ${b}`, series.dumps.length];
    const count = number => number.toLocaleString('en-US');
    const rows = [...series.places.map(place => [place.name, place.count, count]), ...series.classes.map(one => [one.name, one.bytes, bytes])];
    const growthOf = ([, values]) => values.at(-1) - values[0], isPlace = ([,, format]) => format === count;
    const suspectOf = ([name]) => {
      const at = report.suspects.findIndex(({item}) => item?.replace(/^goroutines? /, '') === name.replace(/^goroutines? /, ''));
      return at < 0 ? Infinity : at;
    };
    const order = (one, other) => (suspectOf(one) === suspectOf(other) ? 0 : suspectOf(one) - suspectOf(other)) || isPlace(one) - isPlace(other) || growthOf(other) - growthOf(one);
    const grown = rows.filter(([, values]) => values.at(-1) > values[0]), shrunk = rows.filter(row => !grown.includes(row));
    // Suspects come first, and then what has grown most.
    grown.sort(order);
    shrunk.sort(order);
    assert.deepEqual(charts, [
      ends('reachable', bytes(first.reachable), bytes(last.reachable)), ends('goroutines', count(first.goroutines), count(last.goroutines)),
      ...[...grown, ...shrunk].map(([name, values, format]) => ends(name, format(values[0]), format(values.at(-1)))),
    ]);
  });
  await test('no label of an axis is cut', async () => {
    const cut = await visit.see(() => [...document.querySelectorAll('#trends svg')].flatMap(svg => [...svg.querySelectorAll('text')].filter(text => {
      const box = text.getBBox();
      return box.x < -1 || box.x + box.width > 301;
    }).map(text => text.textContent)));
    assert.deepEqual(cut, []);
  });
  await test('the charts are saved as SVG, with their lines, figures and colours', async () => {
    await catchFiles(visit);
    await visit.clickText('#trends .more button', 'SVG');
    const path = join(made, 'trends.svg'), tab = await browser.newPage();
    writeFileSync(path, await visit.see(() => globalThis.saved));
    await tab.goto(`file://${path}`);
    const looksOf = () => [...document.querySelectorAll('polyline')].map(line => [line.getAttribute('points'), getComputedStyle(line).stroke]);
    const saved = await tab.evaluate(looksOf), texts = await tab.evaluate(() => document.documentElement.textContent);
    const out = await tab.evaluate(() => [...document.querySelectorAll('text')].filter(text => text.getBoundingClientRect().right > document.documentElement.clientWidth).length);
    await tab.close();
    assert.deepEqual(saved, await visit.see(looksOf));
    assert.equal(out, 0);
    for (const text of await visit.see(() => [...document.querySelectorAll('#trends bdi, #trends .number, #trends .value')].map(each => each.textContent))) {
      assert.ok(texts.includes(text), text);
    }
  });
  await test('a line of a trend is as high as its value, from zero', async () => {
    const points = await visit.see(() => document.querySelector('#trends polyline').getAttribute('points').split(' ').map(point => Number(point.split(',')[1])));
    const base = await visit.see(() => Number(document.querySelector('#trends .axis').getAttribute('y1'))), values = series.dumps.map(dump => dump.reachable);
    assert.ok(Math.min(...points) < 15, 'the highest one reaches the top');
    values.forEach((value, i) => assert.ok(Math.abs((base - points[i]) / (base - points[values.indexOf(Math.max(...values))]) - value / Math.max(...values)) < .01));
  });
  await test('the marks of an axis are where their values are', async () => {
    const marks = await visit.see(() => [...document.querySelectorAll('#trends figure')].map(figure => ({
      base: Number(figure.querySelector('.axis').getAttribute('y1')), top: Math.min(...figure.querySelector('polyline').getAttribute('points').split(' ').map(point => Number(point.split(',')[1]))),
      at: [...figure.querySelectorAll('.mark')].map(mark => Number(mark.getAttribute('y1'))), texts: [...figure.querySelectorAll('.value')].map(value => value.textContent)})));
    const {dumps} = series, values = [dumps.map(dump => dump.reachable), dumps.map(dump => dump.goroutines)], numberOf = text => parseFloat(text.replace(/,/g, '')) * ({kB: 1e3, MB: 1e6}[text.split(' ')[1]] ?? 1);
    for (const [i, {base, top, at, texts}] of marks.slice(0, 2).entries()) {
      const most = Math.max(...values[i]);
      assert.ok(at.length >= 1 && at.length <= 4 && at.length === texts.length);
      texts.forEach((text, j) => assert.ok(Math.abs(numberOf(text) / most - (base - at[j]) / (base - top)) < .01, `${text} of ${most}`));
    }
  });
  await test('any two dumps are compared: picture, panel, types, goroutines and address', async () => {
    const page = dataOf(source('series.html')), {compared} = page.series, was = [...page.tree.was], signed = change => change > 0 ? `+${bytes(change)}` : change < 0 ? `−${bytes(-change)}` : '·';
    const [changes] = compared.changes, past = new Map(compared.classes.map(row => [row.name, row]));
    for (let i = 0; i < changes.length; i += 3) was[changes[i]] = changes[i + 1];
    await visit.tab.select('select[aria-label="compare with the dump"]', '1');
    await visit.addressField('from', '1');
    const whole = nodesOf(page)[0].retained;
    await visit.see(() => { location.hash = location.hash.replace(/node=\d+/, 'node=0').replace(/top=\d+/, 'top=0'); });
    await visit.addressField('node', 0);
    await visit.addressField('from', '1');
    assert.ok((await visit.texts('.side dd')).includes(signed(whole - was[0])), 'the growth of the whole heap');
    const grown = async () => visit.see(() => {
      const at = [...document.querySelectorAll('#types th')].findIndex(head => head.textContent.startsWith('grown'));
      return [...document.querySelectorAll('#types tbody tr')].map(row => [row.cells[0].textContent, row.cells[at].textContent]);
    });
    const rows = new Map(await grown()), changed = compared.classes.filter(row => rows.has(visible(row.name)));
    assert.ok(changed.length > 2);
    for (const {name} of changed) {
      const now = page.report.classes.find(row => row.class === name);
      assert.equal(rows.get(visible(name)), signed(now.bytes - past.get(name).bytes[1]), name);
    }
    await visit.tab.select('select[aria-label="the dump that is shown"]', '1');
    await visit.addressField('to', '1');
    const facts = await visit.texts('.side dd');
    assert.equal(facts[0], bytes(was[0]));
    assert.ok(facts.includes('·'), 'a dump is as large as itself');
    const again = await Visit.to(browser, file('series.html'), {address: await visit.see(() => location.hash.slice(1))});
    assert.deepEqual(await again.see(() => [...document.querySelectorAll('select')].map(list => list.value)), ['1', '1']);
    assert.deepEqual(await again.boxes(), await visit.boxes());
    await again.end();
    testQuiet(visit);
  });
  await visit.end();
  await test('a trend says how fast it went, and how far', async () => {
    const data = dataOf(source('series.html')), {dumps} = data.series, path = join(made, 'rates.html'), hour = 3_600_000;
    dumps.forEach((dump, i) => Object.assign(dump, {time: Date.UTC(2026, 10, 26) + 4 * hour * i / (dumps.length - 1), reachable: 1e6 * (i + 1), goroutines: [10, 500, 3, 10][i % 4]}));
    dumps.at(-1).reachable = 5e6;
    dumps.at(-1).goroutines = 10;
    writeFileSync(path, withData(source('series.html'), data));
    const timed = await Visit.to(browser, path);
    const [heap, goroutines] = await timed.see(() => [...document.querySelectorAll('#trends figure')].map(figure => ['.number', '.range', '.rate'].map(part => figure.querySelector(part).textContent)));
    assert.match(heap[2], /^\+1\.00 MB per hour · grew in \d+ of \d+ intervals$/);
    assert.match(goroutines[1], /^, from \d+ to 500 in between$/);
    assert.match(goroutines[2], /^grew in \d+ of \d+ intervals$/);
    await timed.end();
  });
}

/** A heap in which the root holds 20,000 objects of as many classes, all alike. */
async function testFlat() {
  const kinds = 20_000, list = value => Array.from({length: kinds + 1}, (_, i) => value(i));
  const tree = {parent: list(i => i === 0 ? -1 : 0), name: list(i => i), kind: list(i => i === 0 ? 0 : 2), package: list(() => 0), bytes: list(i => i === 0 ? 0 : 64),
    count: list(() => 1), more: []};
  const {since, ...report} = leak.report, path = join(made, 'flat.html');
  const heap = {...report.heap, reachable: 64 * kinds, garbage: 0};
  writeFileSync(path, withData(source('leak.html'), {...leak, names: list(i => i === 0 ? '' : `p.T${i}`), tree, layouts: [], largest: [], suspect_nodes: [], report: {...report, heap, suspects: []}}));
  await test('20,000 objects that are alike are drawn with few boxes', async () => {
    const visit = await Visit.to(browser, path);
    assert.ok(await visit.count('.box') < 5);
    await visit.choose('Map');
    const boxes = await visit.boxes();
    assert.equal(boxes.length, 800);
    assert.ok(boxes.every(box => box.node > 0), 'the whole heap needs no box');
    await visit.choose('Table');
    assert.ok(await visit.count('.plot tr') < 20);
    assert.equal(await visit.text('.plot tr:last-child button'), '19,995 more');
    testQuiet(visit);
    await visit.end();
  });
}

/** What becomes of 5,000 and 20,000 nodes: how many boxes, and what it costs. Costs are only told. */
async function testLarge() {
  for (const [wanted, name] of [[5000, 'many.html'], [20000, 'more.html']]) {
    const data = copied(leak, Math.ceil(wanted / leakNodes.length)), size = data.tree.parent.length, path = join(made, name);
    data.report = {...data.report, heap: {...data.report.heap, reachable: data.report.heap.reachable * Math.ceil(wanted / leakNodes.length)}};
    writeFileSync(path, withData(source('leak.html'), data));
    const visit = await Visit.to(browser, path), costs = {};
    const cost = async (step, action) => {
      const before = (await visit.counters()).TaskDuration;
      await action();
      await visit.see(() => new Promise(resolve => requestAnimationFrame(() => setTimeout(resolve, 0))));
      costs[step] = Math.round(1000 * ((await visit.counters()).TaskDuration - before));
    };
    costs.ready = Math.round(1000 * (await visit.counters()).TaskDuration);
    const drawn = await visit.count('.plot [id^=n]');
    await visit.see(() => { for (const box of document.querySelectorAll('.box')) box.isOld = true; });
    await visit.press('/');
    await cost('a key of a search', () => visit.press('m'));
    const isOld = await visit.see(() => [...document.querySelectorAll('.box')].every(box => box.isOld));
    await visit.press('Escape');
    const box = (await visit.boxes()).find(box => data.tree.parent.filter(parent => parent === box.node).length > 3);
    await cost('zoom', () => visit.click(`#n${box.node}`));
    await visit.press('Escape', 'Escape', 'Escape', 'Escape');
    await cost('map', () => visit.choose('Map'));
    const inMap = await visit.count('.box');
    await cost('table', () => visit.choose('Table'));
    await test(`${size} nodes are drawn with few boxes, and searched without drawing anew`, () => {
      assert.ok(drawn > 50 && drawn < 1600, `${drawn} boxes`);
      assert.ok(inMap > 50 && inMap <= 800, `${inMap} boxes in the map`);
      assert.ok(isOld);
      assert.deepEqual(visit.complaints, []);
    });
    console.log(`# ${size} nodes, ${drawn} boxes, ${inMap} in the map; ms of the page's thread, the protocol's share included: ${JSON.stringify(costs)}`);
    await visit.end();
  }
}

try {
  if (isChromium) {
    await testPictures('1440 pixels, light', {width: 1440, isLookedAt: true});
    await testPictures('1440 pixels, dark', {width: 1440, isDark: true});
    await testPictures('900 pixels, light', {width: 900});
    await testPictures('900 pixels, dark', {width: 900, isDark: true, isLookedAt: true});
  } else {
    await testPictures('1440 pixels', {width: 1440, isLookedAt: true});
  }
  await testSearch();
  await testKeys();
  await testAddress();
  await testHostile('a hostile program', file('hostile.html'));
  await testHostile('hostile names of classes', file('names.html'));
  const unprotected = join(made, 'unprotected.html'), hostile = source('hostile.html');
  writeFileSync(unprotected, hostile.replace(/<meta http-equiv="Content-Security-Policy"[^>]*>\n/, ''));
  await test('the policy can be taken out of a page', () => assert.notEqual(readFileSync(unprotected, 'utf8'), hostile));
  await testHostile('a hostile program, without the policy', unprotected);
  await testPolicy();
  if (isChromium) {
    await testGrowth();
    await testPages();
    await testAges();
    await testLibrary();
    await testTables();
    await testGone();
    await testSuspects();
    await testSeries();
    await testNarrow();
    await testWithoutScripts();
    await testPrint();
    await testLarge();
    await testFlat();
  }
} catch (error) {
  tell('the tests come to their end', error);
} finally {
  await browser.close();
  rmSync(made, {recursive: true, force: true});
}
end();
