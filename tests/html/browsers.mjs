// Browsers that look at pages as a reader would, by puppeteer: Chromium by its own protocol, a stock Firefox by WebDriver BiDi.
//
//   const browser = await openBrowser('chromium');                    // or 'firefox'; undefined if there is none
//   const visit = await Visit.to(browser, 'leak.html', {width: 900, isDark: true, address: 'view=map&node=0'});
//   await visit.click('.boxes');                                      // see below
//   visit.complaints, visit.requests                                  // what the page's console said; what it asked for
//   await visit.end();

import {existsSync} from 'node:fs';
import {delimiter, join, resolve} from 'node:path';
import {pathToFileURL} from 'node:url';
import process from 'node:process';
import {setTimeout} from 'node:timers/promises';
import puppeteer from 'puppeteer-core';
import {findChromium} from '../devtools/browser.mjs';

/** How long a step may take, in ms. A second would do on an idle machine. */
const longest = Number(process.env.LONGEST ?? 1_200_000);

function findFirefox() {
  if (process.env.FIREFOX) return process.env.FIREFOX;
  const paths = ['firefox-esr', 'firefox'].flatMap(name => (process.env.PATH ?? '').split(delimiter).map(directory => join(directory, name)));
  return paths.find(path => existsSync(path));
}

/** Starts a browser without a window. The caller closes it. */
export async function openBrowser(name) {
  const executablePath = name === 'firefox' ? findFirefox() : findChromium();
  if (executablePath === undefined) return undefined;
  const patience = {timeout: longest, protocolTimeout: longest};
  if (name === 'firefox') {
    return puppeteer.launch({browser: 'firefox', executablePath, ...patience, extraPrefsFirefox: {'ui.prefersReducedMotion': 1}});
  }
  // The sandbox works neither for root nor in a container; only files of these tests are opened. Scroll bars take room, as for most readers.
  return puppeteer.launch({executablePath, ...patience, ignoreDefaultArgs: ['--hide-scrollbars'], args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--lang=en-US',
    '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync']});
}

/** Tabs that nobody visits now. */
const idle = [];

/** A page in a tab. */
export class Visit {
  complaints = [];
  requests = [];

  /**
   * Opens a file. hasScripts: whether scripts run; address: what stands behind the # of the page's
   * address. Unless the reader likes motion, the page scrolls at once.
   */
  static async to(browser, file, {width = 1440, height = 900, isDark = false, address = '', hasScripts = true, likesMotion = false} = {}) {
    const visit = new Visit(), isChromium = !(await browser.version()).includes('irefox');
    // A tab is used again: another one would be another process, whose start takes longer than many a test.
    const tab = visit.tab = idle.pop() ?? await browser.newPage();
    tab.setDefaultTimeout(longest);
    await tab.goto('about:blank');
    tab.on('console', message => visit.complaints.push(message.text()));
    tab.on('pageerror', error => visit.complaints.push(`error: ${error.message}`));
    tab.on('request', request => visit.requests.push(request.url()));
    // Puppeteer also says how the screen is held, which Firefox 140 does not know: the size has been set by then.
    await tab.setViewport({width, height}).catch((error) => {
      if (isChromium || !error.message.includes('unknown command emulation.setScreenOrientationOverride')) throw error;
    });
    if (isChromium) {
      visit.session = await tab.createCDPSession();
      await visit.session.send('Performance.enable', {timeDomain: 'threadTicks'});
      await tab.emulateMediaType();
      await tab.setJavaScriptEnabled(hasScripts);
      await tab.emulateMediaFeatures([{name: 'prefers-color-scheme', value: isDark ? 'dark' : 'light'},
        {name: 'prefers-reduced-motion', value: likesMotion ? 'no-preference' : 'reduce'}]);
    }
    visit.address = pathToFileURL(resolve(file)).href;
    await tab.goto(visit.address + (address && `#${address}`));
    if (hasScripts) await visit.until(() => document.documentElement.dataset.ready);
    return visit;
  }

  async end() {
    await this.session?.detach();
    for (const event of ['console', 'pageerror', 'request']) this.tab.removeAllListeners(event);
    idle.push(this.tab);
  }

  /** Runs a function in the page. */
  see(what, ...args) { return this.tab.evaluate(what, ...args); }
  /**
   * Waits until a function says so in the page. (Puppeteer's own waitForFunction() makes the function of a text, which the policy of
   * the page forbids in Firefox 140.)
   */
  async until(what, ...args) {
    const says = `Boolean((${what})(...${JSON.stringify(args)}))`; // an element that it finds need not come here
    for (const start = Date.now(); !(await this.see(says)); await setTimeout(20)) {
      if (Date.now() - start > longest) throw new Error(`this does not come true: ${what}`);
    }
  }

  /** The text of the first element that a selector finds, or undefined. */
  text(selector) { return this.see(one => document.querySelector(one)?.textContent, selector); }
  texts(selector) { return this.see(all => [...document.querySelectorAll(all)].map(element => element.textContent), selector); }
  count(selector) { return this.see(all => document.querySelectorAll(all).length, selector); }

  /** Clicks with the mouse into the middle of an element, or, of a box, into its first line; it must be there. */
  async click(selector, {inFirstLine = false} = {}) {
    const point = await this.see((one, inFirstLine) => {
      const element = document.querySelector(one);
      element.scrollIntoView({block: 'center', behavior: 'instant'});
      const {x, y, width, height} = element.getBoundingClientRect();
      return {x: x + width / 2, y: y + (inFirstLine ? Math.min(9, height / 2) : height / 2)};
    }, selector);
    await this.tab.mouse.click(point.x, point.y);
  }
  /** Clicks on the button, of those that a selector finds, with this text. */
  async clickText(selector, text) {
    const found = await this.see((all, text) => {
      document.querySelectorAll('[data-clicked]').forEach(element => element.removeAttribute('data-clicked'));
      const element = [...document.querySelectorAll(all)].find(element => element.textContent === text);
      element?.setAttribute('data-clicked', '');
      return element !== undefined;
    }, selector, text);
    if (!found) throw new Error(`no ${selector} says “${text}”`);
    await this.click('[data-clicked]');
  }
  async press(...keys) { for (const key of keys) await this.tab.keyboard.press(key); }
  type(text) { return this.tab.keyboard.type(text); }

  /** Chooses one of the values of the picture: view, by or colour. */
  choose(text, nth = 0) {
    return this.see((text, nth) => [...document.querySelectorAll('.choice button')].filter(button => button.textContent === text)[nth].click(), text, nth);
  }

  /** The fields of the address, once it has this one. The page writes it a little later. */
  async addressField(name, value) {
    await this.until((name, value) => new URLSearchParams(location.hash.slice(1)).get(name) === value, name, String(value));
  }

  /** The boxes or rows that are drawn: node, text, what it is marked with, and where it is in the picture. */
  boxes() {
    return this.see(() => [...document.querySelectorAll('.plot [id^=n]')].map(element => ({
      node: Number(element.id.slice(1)), text: element.textContent, classes: element.className.split(' '), label: element.getAttribute('aria-label'),
      left: element.offsetLeft, top: element.offsetTop, width: element.offsetWidth, height: element.offsetHeight,
    })));
  }

  /** Finds what is wrong with the picture: for each box what the pointer meets in its first line, if that is another one. */
  covered() {
    return this.see(() => {
      const plot = document.querySelector('.plot'), wrong = [];
      plot.scrollIntoView({block: 'center', behavior: 'instant'});
      for (const box of plot.querySelectorAll('.box')) {
        if (plot.scrollHeight > plot.clientHeight) plot.scrollTop = box.offsetTop - 100;
        const {x, y, width, height} = box.getBoundingClientRect();
        if (width < 3 || height < 3) continue;
        const met = document.elementFromPoint(x + width / 2, y + Math.min(height / 2, 9))?.closest('.box');
        if (met !== box) wrong.push(`${box.id || 'rest'} is covered by ${met?.id || met?.className}`);
      }
      plot.scrollTop = 0;
      return wrong;
    });
  }

  /** What the browser has counted: processor seconds of the page's thread for all, scripts, layouts; Chromium only. */
  async counters() {
    const {metrics} = await this.session.send('Performance.getMetrics');
    return Object.fromEntries(metrics.map(({name, value}) => [name, value]));
  }
}
