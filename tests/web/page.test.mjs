// Tests the page as a reader uses it, in a browser: files are dropped, a report is read, and formats are saved. TAP on standard output.
//
//   page.test.mjs chromium|firefox PAGE NATIVE DIRECTORY
//
//   NATIVE      the program
//   DIRECTORY   for what is saved

import assert from 'node:assert/strict';
import {execFileSync} from 'node:child_process';
import {existsSync, mkdirSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {basename, join, resolve} from 'node:path';
import process from 'node:process';
import {setTimeout} from 'node:timers/promises';
import {end, skipAll, step, test} from '../tap.mjs';
import {openBrowser, Visit} from '../html/browsers.mjs';

const [browserName, page, native, directory] = process.argv.slice(2), isChromium = browserName === 'chromium';
const browser = await openBrowser(browserName);
if (browser === undefined) skipAll(browserName, `no ${browserName}: run tools/setup check`);
rmSync(directory, {recursive: true, force: true});
mkdirSync(directory, {recursive: true});

const sample = name => resolve('samples', `leakserver.${name}`);
const [first, second, executable] = ['1.dump.gz', '2.dump.gz', 'exe.gz'].map(sample);

/**
 * Drops files on the page: in Chromium as the system does, elsewhere by an event of the page's own with files of its input.
 *
 * Chromium passes a drop to what it has drawn there. While it has not drawn the list of files yet, that is the frame of a report, in
 * another process, which drops it: then the files are dropped again, as a reader would do.
 */
async function drop(visit, ...paths) {
  step(`${paths} in the list`);
  if (isChromium) {
    const {x, y} = await visit.see(() => { const {x, y} = document.querySelector('#start').getBoundingClientRect(); return {x, y}; });
    const data = {items: [], files: paths, dragOperationsMask: 1}, names = paths.map(path => basename(path));
    for (let retried = 0; ; retried++) {
      for (const type of ['dragEnter', 'dragOver', 'drop']) {
        await visit.session.send('Input.dispatchDragEvent', {type, x: x + 50, y: y + 50, data});
      }
      for (let waits = 0; waits < 40; waits++, await setTimeout(50)) {
        const listed = await visit.texts('#list tbody td:first-child');
        if (!names.every(name => listed.includes(name))) continue;
        if (retried > 0) console.log(`# dropped again ${retried} times`);
        return;
      }
    }
  }
  const input = await visit.tab.$('#files');
  await input.uploadFile(...paths);
  await visit.see(() => {
    const transfer = new DataTransfer();
    for (const file of document.querySelector('#files').files) transfer.items.add(file);
    document.querySelector('#drop').dispatchEvent(new DragEvent('drop', {dataTransfer: transfer, bubbles: true, cancelable: true}));
  });
}

/** Waits for the tab of a heap, and returns the frame that has its report. */
async function reportOf(visit, number) {
  step(`heap ${number}`);
  await visit.until(number => document.querySelectorAll('nav button').length > number &&
    document.querySelectorAll('.heap')[number - 1]?.querySelector('iframe').src, number);
  for (;; await setTimeout(50)) {
    const frame = await (await visit.tab.$$('.heap iframe'))[number - 1].contentFrame();
    if (frame && await frame.evaluate(() => document.documentElement.dataset.ready !== undefined).catch(() => false)) return frame;
  }
}

const visit = await Visit.to(browser, page, {width: 1000, height: 800});
const downloads = join(resolve(directory), 'saved');
mkdirSync(downloads);
if (isChromium) await visit.session.send('Browser.setDownloadBehavior', {behavior: 'allow', downloadPath: downloads});

/** Saves a format by its button, and returns its bytes. */
async function save(title, name) {
  await visit.clickText('.heap:not([hidden]) .saves button', title);
  const path = join(downloads, name);
  while (!existsSync(path)) await setTimeout(50);
  return readFileSync(path);
}
const written = (...options) => execFileSync(native, ['-j', '1', ...options], {cwd: 'samples', stdio: ['ignore', 'pipe', 'ignore'], maxBuffer: 1 << 28});

await test('what is missing is said: an executable alone', async () => {
  await drop(visit, executable);
  await visit.until(() => document.querySelector('#missing').textContent.startsWith('A heap is missing'));
  assert.deepEqual(await visit.texts('#list tbody td:nth-child(3)'), ['executable']);
});

await test('a dump is read as soon as its executable is there, and its report is shown', async () => {
  await drop(visit, second);
  const report = await reportOf(visit, 1);
  const expected = written('--exe', 'leakserver.exe.gz', '--format', 'html', 'leakserver.2.dump.gz').toString();
  assert.equal(await report.evaluate(() => document.title), /<title>(.*?)<\/title>/.exec(expected)[1]);
  assert.ok(await report.evaluate(() => document.body.textContent.includes('main.Session')), 'it names the leak');
});

if (isChromium) {
  await test('what is saved is what the program writes', async () => {
    const options = ['--exe', 'leakserver.exe.gz', '-o', '-'];
    assert.ok((await save('DevTools (.heapsnapshot)', 'leakserver.2.heapsnapshot')).equals(written(...options, 'leakserver.2.dump.gz')), 'snapshot');
    assert.ok((await save('Report', 'leakserver.2.txt')).equals(written(...options, '--format', 'report', 'leakserver.2.dump.gz')), 'report');
  });
}

await test('a second dump is compared with the first, in the order in which they were written', async () => {
  await visit.clickText('nav button', 'Files');
  await drop(visit, first);
  const report = await reportOf(visit, 2);
  assert.ok(await report.evaluate(() => document.body.textContent.includes('leakserver.1.dump.gz')), 'it names the base');
  assert.deepEqual((await visit.texts('nav button')).slice(1), ['leakserver.2.dump.gz', 'leakserver.2.dump.gz and 1 before']);
});

await test('a file that is nothing is named, and can be removed; a packed one is unpacked first; a damaged dump ends in the program’s sentence', async () => {
  const text = join(directory, 'notes.txt'), packed = join(directory, 'heap.dump.zst'), cut = join(directory, 'cut.dump');
  writeFileSync(text, 'notes');
  writeFileSync(packed, Uint8Array.from([0x28, 0xb5, 0x2f, 0xfd, 0]));
  writeFileSync(cut, 'go1.7 heap dump\n\xff\xff\xff', 'latin1');
  await visit.clickText('nav button', 'Files');
  while (await visit.count('#list tbody tr') > 0) await visit.click('#list tbody button');
  await drop(visit, text);
  await visit.until(() => document.querySelector('#list tbody td:nth-child(3)').textContent.startsWith('neither'));
  await visit.click('#list tbody button');
  await drop(visit, packed);
  await visit.until(() => document.querySelector('#missing').textContent.includes('zstd -d heap.dump.zst'));
  assert.ok(await visit.see(() => document.querySelector('#actions').hidden), 'it is not read');
  await visit.click('#list tbody button');
  await drop(visit, cut);
  await visit.until(() => !document.querySelector('#actions').hidden);
  await visit.click('#read');
  await visit.until(() => /go2heapsnapshot: .*cut\.dump/.test(document.querySelector('#said').textContent));
  await visit.until(() => document.querySelector('#work').hidden);
});

await test('reading can be cancelled, and the page stays alive meanwhile', async () => {
  while (await visit.count('#list tbody tr') > 0) await visit.click('#list tbody button');
  await visit.see(() => { // a step that never ends, in the place of the program's
    window.OriginalWorker = Worker;
    window.Worker = class extends OriginalWorker { postMessage(message) { if (!message.heap) super.postMessage(message); } };
  });
  await drop(visit, first, executable);
  await visit.until(() => !document.querySelector('#work').hidden);
  await visit.click('#cancel');
  await visit.until(() => document.querySelector('#work').hidden && !document.querySelector('#actions').hidden);
  await visit.see(() => { window.Worker = OriginalWorker; });
});

await test('the page has no network: every request of its own fails, and it makes none', async () => {
  const before = visit.requests.filter(url => !url.startsWith('blob:') && url !== visit.address);
  assert.deepEqual(before, []);
  const results = await visit.see(async () => {
    const tries = {
      fetch: () => fetch('http://127.0.0.1:9/'),
      image: () => new Promise((good, bad) => Object.assign(new Image(), {onload: good, onerror: bad, src: 'http://127.0.0.1:9/a.png'})),
      socket: () => new Promise((good, bad) => Object.assign(new WebSocket('ws://127.0.0.1:9/'), {onopen: good, onerror: bad})),
      worker: () => new Promise((good, bad) => Object.assign(new Worker('http://127.0.0.1:9/a.js'), {onmessage: good, onerror: bad})),
    };
    const ended = {};
    let violations = 0;
    addEventListener('securitypolicyviolation', () => violations++);
    for (const [name, attempt] of Object.entries(tries)) ended[name] = await attempt().then(() => 'went through', () => 'refused');
    return {...ended, violations};
  });
  assert.deepEqual({...results, violations: undefined}, {fetch: 'refused', image: 'refused', socket: 'refused', worker: 'refused', violations: undefined});
  assert.ok(results.violations >= 3, `the policy refused them: ${results.violations}`);
});
await visit.end();
await browser.close();
end();
