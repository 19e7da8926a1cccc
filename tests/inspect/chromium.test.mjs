// Goes to chrome://inspect in a real Chromium and takes a snapshot in the window that "inspect" opens. There, Chromium's own
// client of WebSocket is between, which loses what a page's socket takes: messages in fragments, and pings. TAP on standard
// output.
//
//   chromium.test.mjs GO2HEAPSNAPSHOT DIRECTORY     the directory is made anew, for screenshots

import assert from 'node:assert/strict';
import {spawn} from 'node:child_process';
import {existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import {tmpdir} from 'node:os';
import {join, resolve} from 'node:path';
import {fileURLToPath} from 'node:url';
import {endWithoutChromium, findChromium} from '../devtools/browser.mjs';
import {end, test} from '../tap.mjs';
import {Server, until} from './clients.mjs';

endWithoutChromium();
const {chromium} = createRequire(new URL('../devtools/', import.meta.url))('playwright-core');
const [program, directory] = process.argv.slice(2).map(path => resolve(path));
const sample = fileURLToPath(new URL('../../samples/leakserver', import.meta.url));
const patience = 1_200_000; // ms; a second would do on an idle machine
const title = 'leakserver.exe.gz';
rmSync(directory, {recursive: true, force: true});
mkdirSync(directory, {recursive: true});

/**
 * Starts Chromium with a profile of its own, in which chrome://inspect also looks at this address, as it does after "Configure…".
 * Windows that it opens by itself are seen only by those who connect to it.
 */
async function startChromium(address) {
  const profile = mkdtempSync(join(tmpdir(), 'go2heapsnapshot-inspect-'));
  mkdirSync(join(profile, 'Default'));
  writeFileSync(join(profile, 'Default/Preferences'), JSON.stringify({devtools: {discover_tcp_targets: true, tcp_discovery_config: [address]}}));
  const browser = spawn(findChromium(), ['--headless=new', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--no-first-run', '--disable-background-networking', '--disable-component-update',
    '--disable-sync', '--lang=en-US', `--user-data-dir=${profile}`, '--remote-debugging-port=0', '--remote-allow-origins=*', '--window-size=1400,900', 'about:blank'], {stdio: 'ignore', detached: true});
  const stop = async () => {
    const ended = new Promise(done => browser.once('exit', done));
    try {
      process.kill(-browser.pid, 'SIGKILL');
      await ended;
    } catch { /* it has ended */ }
    rmSync(profile, {recursive: true, force: true, maxRetries: 10});
  };
  const file = join(profile, 'DevToolsActivePort');
  const port = await until('Chromium', () => existsSync(file) && readFileSync(file, 'utf8').split('\n')[0]);
  const connect = async () => {
    const connected = await chromium.connectOverCDP(`http://127.0.0.1:${port}`, {timeout: patience});
    for (const context of connected.contexts()) context.setDefaultTimeout(patience);
    return connected;
  };
  return {connect, stop};
}

/** Waits until a snapshot of the sidebar is loaded; returns its text. */
const loaded = (page, index) => until(`snapshot ${index + 1}`, async () => {
  const entry = page.locator('.heap-snapshot-sidebar-tree-item').nth(index);
  if (await entry.count() === 0) return undefined;
  const [text, names] = [await entry.textContent(), await entry.getAttribute('class')];
  return !names.includes('wait') && /\d\s?[kMG]?B\)?$/.test(text.trim()) && text.trim();
});

const server = await Server.start([program, '--inspect=0', '--exe', `${sample}.exe.gz`, `${sample}.1.dump.gz`, `${sample}.2.dump.gz`], {pattern: /&ws=([\d.]+):(\d+)(\/[-0-9a-f]{36})/});
const {connect, stop} = await startChromium(server.authority);
let page;
try {
  await test('chrome://inspect lists the target, and opens a window for it', async () => {
    const browser = await connect(), list = browser.contexts()[0].pages()[0];
    await list.goto('chrome://inspect/#devices', {timeout: patience});
    const row = list.locator('.row', {hasText: title}).first();
    await row.waitFor();
    await list.screenshot({path: join(directory, 'list.png')});
    assert.match(await list.locator('body').innerText(), /go2heapsnapshot/);
    await row.locator('.action', {hasText: /^inspect$/}).first().click();
    page = await until('the window', async () => {
      const all = (await connect()).contexts().flatMap(context => context.pages());
      return all.find(one => one.url().startsWith('devtools://'));
    });
    await page.getByRole('tab', {name: 'Memory'}).first().click();
  });
  await test('two snapshots are taken there', async () => {
    await page.locator('devtools-button:has-text("Take snapshot"), button:has-text("Take snapshot")').first().evaluate(button => button.click());
    assert.match(await loaded(page, 0), /^Snapshot 1/);
    await page.locator('[aria-label="Take heap snapshot"]:visible').first().evaluate(button => button.click());
    assert.match(await loaded(page, 1), /^Snapshot 2/);
  });
  await test('Comparison of the two shows 1,600 sessions that leak', async () => {
    await page.locator('.heap-snapshot-sidebar-tree-item').nth(1).click();
    await page.locator('select[aria-label="Perspective"]').first().selectOption({label: 'Comparison'});
    const row = page.locator('tr.data-grid-data-grid-node:visible', {hasText: 'main.Session'}).first();
    await row.waitFor();
    const cells = (await row.locator('td').allTextContents()).map(text => text.trim());
    await page.screenshot({path: join(directory, 'comparison.png')});
    assert.deepEqual(cells.slice(1, 3).map(text => text.replace(/\D/g, '')), ['1600', '0'], cells.join(' | '));
  });
  await test('when --inspect has ended, the snapshots are still there', async () => {
    assert.equal(await server.stop('SIGINT'), 0, server.said);
    await page.locator('select[aria-label="Perspective"]').first().selectOption({label: 'Summary'});
    await page.locator('tr.data-grid-data-grid-node:visible', {hasText: /^main\.Session×/}).first().waitFor();
  });
} finally {
  await stop();
  if (server.process.exitCode === null) await server.stop('SIGKILL');
}
end();
