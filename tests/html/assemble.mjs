// Puts pages together as src/output/html/html.c does, for data that no dump has.

import {createHash} from 'node:crypto';
import {readFileSync} from 'node:fs';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';

const room = fileURLToPath(new URL('../../src/output/html/', import.meta.url));
const read = name => readFileSync(join(room, name), 'utf8');

/** The sources of the page. */
export const sources = {page: read('page.html'), style: read('page.css'), script: read('page.js')};

const hashOf = text => `sha256-${createHash('sha256').update(text).digest('base64')}`;
/** What the policy in page.html must say of the other two. */
export const hashes = {style: hashOf(sources.style), script: hashOf(sources.script)};

/** JSON that cannot end the element that it is in. */
export const embedded = data => JSON.stringify(data).replace(/[<>&\u2028\u2029]/g,
  character => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
export const escaped = text => text.replace(/[&<>"']/g, character => `&#${character.charCodeAt(0)};`);

/** A page with other data, a text, and a title. */
export function assemble(data, text = '', title = 'test') {
  const parts = {TITLE: escaped(title), STYLE: sources.style, TEXT: escaped(text), DATA: embedded(data), SCRIPT: sources.script};
  return sources.page.replace(/sha256-[^']*(?='; style)/, hashes.script).replace(/(?<=style-src ')sha256-[^']*/, hashes.style)
    .replace(/%([A-Z]+)%/g, (all, name) => parts[name] ?? all);
}

/** The data of a page. */
export const dataOf = page => JSON.parse(page.match(/<script type="application\/json" id="data">([^]*?)<\/script>/)[1]);
/** The page with other data. */
export const withData = (page, data) => page.replace(/(?<=<script type="application\/json" id="data">)[^]*?(?=<\/script>)/, () => embedded(data));
