// Drives the Memory tab of a real Chromium as a user would: loads files, clicks, reads what the tables say.
//
//   const tab = await MemoryTab.open();
//   try {
//     await tab.load('base.heapsnapshot');             // 0 in the sidebar
//     await tab.load('target.heapsnapshot');           // 1
//     await tab.select(1);
//     await tab.perspective('Comparison');             // or Summary, Containment, Statistics
//     const rows = await tab.rows();                   // [{name: 'ptr64', '# New': '200', …}]
//     await tab.expand('ptr64');                       // a name, a RegExp or a function of the row
//     await tab.retainers('ptr64 @1017');              // selects the row; returns what the Retainers pane then says
//     await tab.filter('noptr');
//     await tab.clear();                               // removes all from the sidebar
//     await tab.screenshot('build/screenshots/x.png');
//
//   With a target, MemoryTab.open({address: 'devtools://devtools/bundled/js_app.html?ws=…&panel=heap-profiler'}):
//     await tab.take();                                // presses "Take snapshot"; 2 in the sidebar
//     const fields = await tab.hover('main.T @1017');  // what the popover says: {Count: '42', …}
//     await tab.follow(/main\.go:/);                   // clicks a link in the Retainers pane or the table: what Sources then shows
//     await tab.evaluate('len(main.byName)');          // what Console answers
//     await tab.complete('main.');                     // what it offers while one types
//   } finally {
//     await tab.close();
//   }
//
// Sizes and counts are texts as the panel shows them, but with plain spaces: '13.1 kB'.

import {existsSync, mkdirSync, mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {delimiter, dirname, join} from 'node:path';
import {createRequire} from 'node:module';
import process from 'node:process';
import {begin, end, giveUp, report, skipAll, step} from '../tap.mjs';

const frontEnd = 'devtools://devtools/bundled/devtools_app.html?panel=heap-profiler';

const sidebarEntries = '.heap-snapshot-sidebar-tree-item';
const consolePrompt = '.console-prompt-editor-container .cm-content, #console-prompt .cm-content';
const retainersGrid = '.retaining-paths-view .data-grid';
/** The table above the Retainers pane. The tables of the other perspectives are not in the document. */
const mainGrid = '.heap-snapshot-view .data-grid:not(.retaining-paths-view .data-grid)';

/** How long the panel may take for one step, in ms. A second would do on an idle machine. */
const defaultTimeout = 600_000;
/** A table counts as complete when it has not changed for this time, in ms, multiplied by the tab's patience. */
const quietTime = 300;
/** The same after scrolling, which only draws what the panel knows already. */
const scrollQuietTime = 100;

/** Returns Chromium's path: $CHROMIUM, or the file in PATH that has one of its names, or undefined if there is none. */
export function findChromium() {
  if (process.env.CHROMIUM) {
    return process.env.CHROMIUM;
  }
  for (const name of ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome']) {
    for (const directory of (process.env.PATH ?? '').split(delimiter)) {
      const path = join(directory, name);
      if (existsSync(path)) return path;
    }
  }
  return undefined;
}

/** Ends the process with a skipped test if there is no Chromium. */
export function endWithoutChromium() {
  if (findChromium() === undefined) skipAll('DevTools in a real Chromium', 'no Chromium: run tools/setup check, or set CHROMIUM');
}

/** A step has not come to its end in the time that it may take. */
class TooLate extends Error {}

/**
 * Tests that look at a tab. A busy machine may draw a table after a test has read it, so a test that fails is run again, which is
 * said. After a step that is too late nothing can be expected of the tab any more: the suite ends.
 */
export class TabTests {
  #tab;

  constructor(tab) { this.#tab = tab; }

  /** Runs a test; returns whether it passed. */
  async test(name, body) {
    begin(name);
    const {tries, wrong, first} = await patiently(this.#tab, body);
    report(name, wrong);
    if (tries > 1) console.log(`# retried ${tries - 1} times: ${String(first.message ?? first).split('\n')[0]}`);
    return wrong === undefined;
  }

  skip(name, why) { report(`${name} # SKIP ${why}`); }

  end() { end(); }
}

/**
 * Runs a body that looks at a tab; if it fails, runs it again with more patience. Returns how many tries there were, the error of
 * the last one and that of the first one, which are undefined if there was none.
 */
async function patiently(tab, body) {
  let tries = 0, wrong, first;
  for (tab.patience of [1, 5, 25]) {
    tries++;
    try {
      await body();
      wrong = undefined;
      break;
    } catch (error) {
      if (error instanceof TooLate) giveUp(error);
      wrong = error;
      first ??= error;
    }
  }
  tab.patience = 1;
  return {tries, wrong, first};
}

/** Runs in the page: returns the rows of a grid that are in the document now. */
function readRows(grid) {
  const text = node => (node?.textContent ?? '').replace(/\s+/g, ' ').trim();
  // Chromium 150 still wrote "Retained Size" and "Size Delta".
  const titles = [...grid.querySelectorAll('thead th:not(.corner)')].map(
    th => text(th).replace(/ Size$/, ' size').replace(/^Size Delta$/, 'Size delta'));
  const rows = [...grid.querySelectorAll('tr.data-grid-data-grid-node')].map(tr => {
    const cells = [...tr.cells].filter(cell => !cell.classList.contains('corner'));
    const row = {
      depth: Math.round((parseFloat(cells[0].style.paddingLeft) || 0) / 15),
      expandable: tr.classList.contains('parent'),
      expanded: tr.classList.contains('expanded'),
      selected: tr.classList.contains('selected'),
      cells: [],
    };
    cells.forEach((cell, i) => {
      const copy = cell.cloneNode(true);
      // The cell has "×205" after the class, "55 %" after the size.
      const extra = copy.querySelector('.objects-count, .percent-column');
      extra?.remove();
      const value = text(copy);
      row.cells.push(value);
      row[titles[i]] = value;
      if (i === 0) {
        // The text of an object consists of "f8", " in " or "::", the object and its id, without spaces of their own.
        const parts = [...copy.querySelectorAll('.event-properties > span')].map(text);
        row.name = parts.length > 0 ? parts.join(' ') : value;
        row.count = extra ? text(extra).slice(1) : '1';
        row.edge = text(copy.querySelector('.property-name'));
        row.object = text(copy.querySelector('.value')) || value;
        row.id = Number(text(copy.querySelector('.object-value-id')).slice(1));
      } else if (extra) {
        row[`${titles[i]} %`] = text(extra);
      }
    });
    return row;
  });
  return {titles, rows};
}

/** Runs in the page: returns the texts of elements, with what is in their shadow trees. */
function readDeep(elements) {
  const read = node => node.nodeType === Node.TEXT_NODE ? node.data
    : node.localName === 'style' ? '' : [...(node.shadowRoot ?? node).childNodes].map(read).join('');
  return elements.map(read);
}

/**
 * Runs in the page: waits until nothing of a grid has changed for `quiet` ms. Returns false if the grid keeps changing, or
 * is gone.
 */
function comesToRest(grid, quiet) {
  return new Promise(resolve => {
    let timer;
    const observer = new MutationObserver(waitOnce);
    const limit = setTimeout(() => end(false), 5000 + 10 * quiet);
    function end(hasRested) {
      observer.disconnect();
      clearTimeout(timer);
      clearTimeout(limit);
      resolve(hasRested && grid.isConnected);
    }
    function waitOnce() {
      clearTimeout(timer);
      timer = setTimeout(() => end(true), quiet);
    }
    observer.observe(grid, {subtree: true, childList: true, characterData: true, attributes: true});
    waitOnce();
  });
}

const matcherOf = matcher => {
  if (typeof matcher === 'function') return matcher;
  if (matcher instanceof RegExp) return row => matcher.test(row.name);
  return row => row.name === matcher;
};

export class MemoryTab {
  #context;
  #profile;
  #removeProfile;
  #page;
  #timeout;
  /** By how much longer than on an idle machine a table must stay unchanged to count as complete. */
  patience = 1;
  #passes = 0;

  /**
   * What DevTools has written to its own console since the start: 'error: …' or 'warning: …'. If it cannot load a file,
   * that shows up here only.
   */
  problems = [];

  /**
   * Starts Chromium and shows the empty Memory tab. timeout: for each step, in ms; size: that of the window; address: of DevTools.
   */
  static async open({timeout = defaultTimeout, size = {width: 1280, height: 800}, address = frontEnd} = {}) {
    const tab = new MemoryTab();
    tab.#timeout = timeout;
    try {
      await tab.#start(size, address);
    } catch (error) {
      await tab.close();
      throw error;
    }
    return tab;
  }

  async #start(size, address) {
    const executablePath = findChromium();
    if (executablePath === undefined) {
      throw new Error('no Chromium found in PATH, nor named by $CHROMIUM');
    }
    const {chromium} = createRequire(import.meta.url)('playwright-core');
    this.#profile = mkdtempSync(join(tmpdir(), 'memory-tab-'));
    // The profile is also removed if a test ends by an error that nobody caught; Playwright ends Chromium itself then.
    this.#removeProfile = () => rmSync(this.#profile, {recursive: true, force: true, maxRetries: 5});
    process.on('exit', this.#removeProfile);
    this.#context = await this.#step('start Chromium', chromium.launchPersistentContext(this.#profile, {
      executablePath,
      // Playwright's own headless mode would ask for another program, chrome-headless-shell, which has no DevTools.
      headless: false,
      viewport: size,
      timeout: this.#timeout,
      env: {...process.env, LANGUAGE: 'en_US', LC_ALL: 'C.UTF-8'},
      args: [
        '--headless=new',
        // The sandbox works neither for root nor in a container; only DevTools' own pages are opened.
        '--no-sandbox',
        '--lang=en-US', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
        '--disable-component-update', '--disable-sync', '--remote-allow-origins=*',
        // A container's /dev/shm may be too small for large files.
        '--disable-dev-shm-usage',
      ],
    }));
    this.#page = this.#context.pages()[0] ?? await this.#context.newPage();
    this.#page.setDefaultTimeout(this.#timeout);
    this.#page.on('pageerror', error => this.problems.push(`error: ${error.message ?? error}`));
    this.#page.on('console', message => {
      const type = message.type();
      if (type === 'error' || type === 'warning') this.problems.push(`${type}: ${message.text()}`);
    });
    this.#page.on('crash', () => this.problems.push('error: the page of DevTools crashed'));
    await this.#step('open DevTools', this.#page.goto(address));
    await this.#step('show the Memory tab', this.#page.getByText('Select profiling type').waitFor());
  }

  /** Awaits a step. If it fails, the error says which step it was, and what DevTools complained about. */
  async #step(what, promise) {
    step(what);
    try {
      return await promise;
    } catch (error) {
      const [reason] = String(error.message ?? error).split('\n');
      const last = this.problems.length > 0 ? ` (DevTools: ${this.problems.at(-1).split('\n')[0]})` : '';
      const Kind = error.name === 'TimeoutError' || error instanceof TooLate ? TooLate : Error;
      throw new Kind(`Memory tab: could not ${what}: ${reason}${last}`, {cause: error});
    }
  }

  /** Calls `look` again and again until it returns something other than undefined. */
  async #poll(what, look, timeout = this.#timeout) {
    const end = Date.now() + timeout;
    return this.#step(what, (async () => {
      for (;;) {
        const result = await look();
        if (result !== undefined) return result;
        if (Date.now() > end) throw new TooLate(`not within ${timeout / 1000} s`);
        await new Promise(resolve => setTimeout(resolve, 50));
      }
    })());
  }

  /** The snapshots in the sidebar, as [{title, size, loading}]. */
  async snapshots() {
    return this.#page.locator(sidebarEntries).evaluateAll(entries => entries.map(entry => {
      const text = selector => (entry.querySelector(selector)?.textContent ?? '').replace(/\s+/g, ' ');
      return {
        title: text('.title'), size: text('.subtitle').replace(/^\(|\)$/g, ''),
        loading: entry.classList.contains('wait'),
      };
    }));
  }

  /** Loads a file by the button "Load profile…" and waits until DevTools has finished loading it. */
  async load(file) {
    const before = (await this.snapshots()).length;
    const problems = this.problems.length;
    const [chooser] = await this.#step('press the button Load profile…', Promise.all([
      this.#page.waitForEvent('filechooser', {timeout: this.#timeout}),
      this.#page.getByRole('button', {name: 'Load profile…'}).first().click(),
    ]));
    await this.#step(`choose ${file}`, chooser.setFiles(file));
    await this.#poll(`load ${file}`, async () => {
      if (this.problems.slice(problems).some(problem => problem.startsWith('error'))) {
        throw new Error('DevTools refused it');
      }
      const snapshots = await this.snapshots();
      return snapshots.length > before && snapshots.every(snapshot => !snapshot.loading) || undefined;
    }, 5 * this.#timeout);
  }

  /** Removes all snapshots from the sidebar. */
  async clear() {
    if ((await this.snapshots()).length === 0) return;
    await this.#step('press Clear all profiles', this.#page.locator('[aria-label="Clear all profiles"]:visible').first().evaluate(element => element.click()));
    await this.#poll('see no snapshot', async () => (await this.snapshots()).length === 0 || undefined);
  }

  /** Takes a snapshot of the target and waits until it is loaded; returns what the sidebar says of it. */
  async take() {
    await this.#step('show Memory', this.#page.getByRole('tab', {name: 'Memory'}).first().click());
    const before = (await this.snapshots()).length;
    const button = before === 0 ? 'devtools-button:has-text("Take snapshot"), button:has-text("Take snapshot")'
                                : '[aria-label="Take heap snapshot"]:visible';
    await this.#step('press Take snapshot', this.#page.locator(button).first().evaluate(element => element.click()));
    return this.#poll('take a snapshot', async () => {
      const snapshots = await this.snapshots();
      const last = snapshots.at(-1);
      return snapshots.length > before && !last.loading && /\d\s?[kMG]?B$/.test(last.size) ? last : undefined;
    });
  }

  /** Selects an object's row and lets the mouse rest on it; returns the fields that the popover shows: {Count: '42', …}. */
  async hover(matcher) {
    const {row, element} = await this.#click(mainGrid, matcher);
    const place = await element.$('span.value');
    await place.hover();
    const fields = await this.#poll(`see what is in ${row.name}`, async () => {
      const found = await this.#page.locator('.object-popover-content li, .object-popover-tree li').evaluateAll(items => items.map(item => {
        const text = selector => (item.querySelector(selector)?.textContent ?? '').replace(/\s+/g, ' ').trim();
        return [text('.name'), text('.value')];
      }).filter(([name]) => name !== ''));
      return found.length > 0 ? Object.fromEntries(found) : undefined;
    });
    await this.#page.mouse.move(5, 5);
    return fields;
  }

  /** Clicks the first link whose text matches, in a table; returns {address, line}: where Sources then is, and the text there. */
  async follow(text) {
    const link = this.#page.locator('.devtools-link:visible').filter({hasText: text}).first();
    // What pops up for the row below the mouse may cover the link.
    await this.#page.mouse.move(5, 5);
    await this.#step(`follow ${text}`, link.click());
    return this.#poll('see the source', async () => {
      const [position] = (await this.#page.locator('.source-frame-toolbar:visible, .sources-toolbar:visible, .toolbar-text:visible').allTextContents())
        .map(words => /Line (\d+)/.exec(words)).filter(found => found);
      const lines = await this.#page.locator('.cm-content:visible').first().evaluate(content => content.cmView?.view?.state.doc.toString() ?? content.innerText)
        .catch(() => '');
      return position && lines.length > 0 ? {line: Number(position[1]), text: lines} : undefined;
    });
  }

  async #showConsole() {
    await this.#step('show Console', this.#page.getByRole('tab', {name: 'Console'}).first().click());
    const prompt = this.#page.locator(consolePrompt).first();
    await this.#step('type into Console', prompt.click());
  }

  /** Returns the messages in Console. */
  async messages() {
    await this.#showConsole();
    return (await this.#page.locator('.console-message-wrapper').evaluateAll(readDeep)).map(text => text.replace(/\s+/g, ' ').trim());
  }

  /** Types an expression into Console; returns what it answers. Other messages may come meanwhile. */
  async evaluate(expression) {
    await this.#showConsole();
    const prompt = this.#page.locator(consolePrompt).first(), results = this.#page.locator('.console-user-command-result');
    await results.evaluateAll(elements => elements.forEach(element => { element.dataset.before = ''; }));
    await this.#page.keyboard.press('Control+A');
    await this.#page.keyboard.insertText(expression);
    return this.#poll(`evaluate ${expression}`, async () => {
      // Enter may only close the list of what could follow.
      if ((await prompt.innerText()).trim() !== '') await this.#page.keyboard.press('Enter');
      const [answer] = await this.#page.locator('.console-user-command-result:not([data-before])').evaluateAll(readDeep);
      return answer?.replace(/\s+/g, ' ').trim() || undefined;
    });
  }

  /** Types into Console; returns what it offers to go on with, and clears the line. */
  async complete(text) {
    await this.#showConsole();
    await this.#page.keyboard.type(text);
    const offers = await this.#poll(`see what follows ${text}`, async () => {
      const items = await this.#page.locator('.cm-tooltip-autocomplete li .cm-completionLabel, .cm-tooltip-autocomplete li').allInnerTexts();
      return items.length > 0 ? [...new Set(items.map(item => item.trim()))] : undefined;
    });
    await this.#page.keyboard.press('Escape');
    await this.#page.keyboard.press('Control+A');
    await this.#page.keyboard.press('Delete');
    return offers;
  }

  /** Shows the snapshot at this place in the sidebar, in Summary if it was not shown before. */
  async select(index) {
    await this.#step(`select snapshot ${index}`, this.#page.locator(sidebarEntries).nth(index).click());
    await this.#step('see the perspectives', this.#select('Perspective').waitFor());
  }

  #select(label) { return this.#page.locator(`select[aria-label="${label}"]:visible`); }

  /** Chooses 'Summary', 'Comparison', 'Containment' or 'Statistics'. Waits for its rows, unless it may be empty. */
  async perspective(name, {mayBeEmpty = false} = {}) {
    await this.#step(`choose ${name}`, this.#select('Perspective').selectOption({label: name}));
    if (name === 'Statistics') {
      await this.#step('see the pie chart', this.#page.locator('.pie-chart-legend').first().waitFor());
      return;
    }
    const column = {Summary: 'Retained size', Comparison: '# New', Containment: 'Object'}[name];
    await this.#poll(`show ${name}`, async () => {
      const table = await this.#read(mainGrid);
      return table?.titles.includes(column) && (mayBeEmpty || table.rows.length > 0) || undefined;
    });
    await this.#settled(mainGrid);
  }

  /** Compares with the snapshot at this place in the sidebar (in Comparison, where the one before is the default). */
  async base(index) {
    await this.#step('choose the base', this.#select('Base snapshot').selectOption({index}));
    await this.#settled(mainGrid);
  }

  /**
   * Chooses the objects that Summary shows, by the start of an entry: "Objects allocated between leak.1 and leak.2". Versions of Chromium
   * differ in capital letters.
   */
  async objects(text) {
    const entries = await this.#select('Filter').locator('option').allTextContents();
    const index = entries.findIndex(entry => entry.toLowerCase().startsWith(text.toLowerCase()));
    if (index < 0) throw new Error(`no entry ${text} among ${entries.join(', ')}`);
    await this.#step(`choose ${text}`, this.#select('Filter').selectOption({index}));
    await this.#settled(mainGrid);
  }

  /** Returns Chromium's major version, and whether Summary's filter has native contexts, which not every version has. */
  async contexts() {
    const version = await this.#page.evaluate(() => Number(/Chrome\/(\d+)/.exec(navigator.userAgent)?.[1]));
    const entries = await this.#select('Filter').locator('option').allTextContents();
    return {version, are: entries.some(entry => entry.startsWith('Native context '))};
  }

  /** Types into "Filter by class" (of Summary and Comparison). */
  async filter(text) {
    const input = this.#page.locator('[aria-label="Filter by class"]:visible').first();
    await this.#step('filter by class', input.click());
    await this.#page.keyboard.press('Control+A');
    await this.#page.keyboard.press('Delete');
    await this.#page.keyboard.type(text);
    // The panel waits a moment before it filters.
    await new Promise(resolve => setTimeout(resolve, 500 * this.patience));
    await this.#settled(mainGrid);
  }

  /** Returns {titles, rows} of a grid as far as it is drawn, or null if there is no grid. */
  async #read(grid) {
    const visibleGrid = this.#page.locator(grid).locator('visible=true').first();
    if (await visibleGrid.count() === 0) {
      return null;
    }
    return visibleGrid.evaluate(readRows, undefined, {timeout: 1000}).catch(() => null);
  }

  /** Waits until a grid stays unchanged; returns it. */
  async #settled(grid, quiet = quietTime) {
    return this.#poll('see a table come to rest', async () => {
      const visibleGrid = this.#page.locator(grid).locator('visible=true').first();
      const hasRested = await visibleGrid.count() > 0 &&
        await visibleGrid.evaluate(comesToRest, quiet * this.patience, {timeout: 1000}).catch(() => false);
      return hasRested && await this.#read(grid) || undefined;
    });
  }

  #scroller(grid) { return this.#page.locator(`${grid} .data-container`).locator('visible=true').first(); }

  /**
   * Grids keep only the visible rows in the document. Scrolls from top to bottom and yields, in order, every row that was
   * not there before, with its place among the rows that are in the document.
   */
  async* #scrollThrough(grid) {
    const scroller = this.#scroller(grid);
    await scroller.evaluate(element => element.scrollTop = 0);
    const pass = String(++this.#passes);
    let quiet = quietTime;
    for (;;) {
      const {rows} = await this.#settled(grid, quiet);
      quiet = scrollQuietTime;
      // A row keeps its element while it is out of sight.
      const isNew = await this.#rowsOf(grid).evaluateAll((elements, mark) => elements.map(tr => {
        const before = tr.dataset.seenInPass;
        tr.dataset.seenInPass = mark;
        return before !== mark;
      }), pass);
      for (let place = 0; place < rows.length && place < isNew.length; place++) {
        if (isNew[place]) yield {row: rows[place], place};
      }
      const moved = await scroller.evaluate(element => {
        const before = element.scrollTop;
        element.scrollTop += element.clientHeight * 0.8;
        return element.scrollTop !== before;
      });
      if (!moved) return;
    }
  }

  #rowsOf(grid) {
    return this.#page.locator(grid).locator('visible=true').first().locator('tr.data-grid-data-grid-node');
  }

  async #allRows(grid, limit) {
    const found = [];
    for await (const {row} of this.#scrollThrough(grid)) {
      found.push(row);
      if (found.length >= limit) break;
    }
    await this.#scroller(grid).evaluate(element => element.scrollTop = 0);
    return found;
  }

  /**
   * Returns the rows of the table from the top, visible or not, at most `limit`:
   * {name, count, edge, object, id, depth, expandable, expanded, selected, cells: [text…]} and each cell under its
   * column's title. name is a class, or '[1] :: (globals) @6', or 'f8 in ptr64 @1017'; edge, object and id are its parts.
   */
  async rows({limit = 1000} = {}) {
    return this.#allRows(mainGrid, limit);
  }

  /** Selects the first row that matches, by a click; returns its data and its element. */
  async #click(grid, matcher) {
    const matches = matcherOf(matcher);
    const names = [];
    for await (const {row, place} of this.#scrollThrough(grid)) {
      if (matches(row)) {
        const element = await this.#rowsOf(grid).nth(place).elementHandle();
        await this.#step(`select row ${row.name}`, (async () => {
          await element.evaluate(tr => tr.scrollIntoView({block: 'center'}));
          await this.#settled(grid, scrollQuietTime);
          // The click is in the name's column, but to the right of the triangle that would open the row.
          await element.click({position: {x: 200, y: 8}});
        })());
        return {row, element};
      }
      names.push(row.name);
      if (names.length > 5000) break;
    }
    throw new Error(`Memory tab: no row ${matcher}; there are ${names.slice(0, 20).join(' | ')}`);
  }

  /** Opens a row; returns the visible rows of the next level below it. */
  async expand(matcher) {
    const {row, element} = await this.#click(mainGrid, matcher);
    if (!row.expanded) {
      await this.#page.keyboard.press('ArrowRight');
    }
    return this.#poll(`expand row ${row.name}`, async () => {
      const {rows} = await this.#settled(mainGrid);
      const place = await element.evaluate((tr, all) => all.indexOf(tr), await this.#rowsOf(mainGrid).elementHandles());
      const children = [];
      for (const below of place < 0 ? [] : rows.slice(place + 1)) {
        if (below.depth <= row.depth) break;
        if (below.depth === row.depth + 1) children.push(below);
      }
      return children.length > 0 ? children : undefined;
    });
  }

  /** Selects an object's row; returns the rows that the Retainers pane opens by itself. */
  async retainers(matcher, {limit = 200} = {}) {
    const {row} = await this.#click(mainGrid, matcher);
    await this.#poll(`see retainers of ${row.name}`, async () =>
      (await this.#read(retainersGrid))?.rows.length > 0 || undefined);
    return this.#allRows(retainersGrid, limit);
  }

  /** Returns what Statistics shows beside the pie: {Total: '24 kB', Code: '0 kB', …}. */
  async statistics() {
    const rows = await this.#page.locator('.pie-chart-legend-row').evaluateAll(elements => elements.map(element =>
      ['.pie-chart-name', '.pie-chart-size'].map(
        part => element.querySelector(part).textContent.replace(/\s+/g, ' ').trim())));
    return Object.fromEntries(rows);
  }

  async screenshot(path) {
    mkdirSync(dirname(path), {recursive: true});
    await this.#step('take a screenshot', this.#page.screenshot({path}));
  }

  /** Ends Chromium; must be called in any case. */
  async close() {
    if (this.#context !== undefined) {
      // If Chromium does not end, Playwright kills it when this process exits.
      await Promise.race([
        this.#context.close().catch(() => {}),
        new Promise(resolve => setTimeout(resolve, 10_000).unref()),
      ]);
      this.#context = undefined;
    }
    if (this.#removeProfile !== undefined) {
      process.off('exit', this.#removeProfile);
      this.#removeProfile();
      this.#removeProfile = undefined;
    }
  }
}
