// Tests pages as files, without a browser: that nothing of a program gets out of the places where it is text, what redacted pages
// do not have, and the sources and colours of all pages. tests/formats/page.mjs tests the data. TAP on standard output.
//
//   file.test.mjs DIRECTORY PROGRAM
//
// DIRECTORY has the pages that run.sh writes.

import assert from 'node:assert/strict';
import {spawnSync} from 'node:child_process';
import {readFileSync} from 'node:fs';
import {join} from 'node:path';
import process from 'node:process';
import {fileURLToPath} from 'node:url';
import {end, test} from '../tap.mjs';
import {dataOf, sources} from './assemble.mjs';

const [directory, program] = process.argv.slice(2);
const read = name => readFileSync(join(directory, name), 'utf8');
const sum = (list, value) => list.reduce((all, one) => all + value(one), 0);

test('threads do not change a page', () => {
  const dumps = ['1', '2'].map(i => fileURLToPath(new URL(`../../samples/leakserver.${i}.dump.gz`, import.meta.url)));
  const write = threads => spawnSync(program, ['-j', threads, '--exe', dumps[0].replace('.1.dump', '.exe'), '--format', 'html', '-o', '-', '--base', ...dumps],
    {maxBuffer: 1 << 28});
  const [one, four] = ['1', '4'].map(write);
  assert.equal(one.status, 0, String(one.stderr));
  assert.ok(one.stdout.length > 100_000);
  assert.ok(one.stdout.equals(four.stdout));
});

// ---- what a program may call its things ----

/** All tags of a page, without the text between them. */
const tagsOf = page => page.replace(/(?<=<style>)[^]*?(?=<\/style>)/, '').replace(/(<script[^>]*>)[^]*?(?=<\/script>)/g, '$1').match(/<[^>]*>/g);

for (const name of ['hostile', 'redacted', 'names']) {
  test(`${name}: a page has the tags that every page has`, () => {
    assert.deepEqual(tagsOf(read(`${name}.html`)), tagsOf(read('leak.html')));
    const json = read(`${name}.html`).match(/<script type="application\/json" id="data">([^]*?)<\/script>/)[1];
    assert.doesNotMatch(json, /[<>&]/);
    assert.ok(json.includes('window.pwned'), 'the names are in there');
  });
}

test('a redacted page has no text, key or value of the program, the other one has', () => {
  assert.ok(read('hostile.html').includes('s3cr3t'));
  assert.ok(dataOf(read('hostile.html')).largest.some(object => object.fields?.length > 0));
  assert.ok(!read('redacted.html').includes('s3cr3t'));
  const {redacted, largest} = dataOf(read('redacted.html'));
  assert.equal(redacted, true);
  assert.ok(largest.length > 0 && largest.every(object => object.fields === undefined));
});

// ---- the sources ----

test('the sources make no HTML or code of text, and name no other file', () => {
  const {page, style, script} = sources, svg = 'http://www.w3.org/2000/svg';
  assert.doesNotMatch(script, /innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|\bFunction\b|DOMParser|createContextualFragment|setHTML|srcdoc|import\(/);
  assert.doesNotMatch(script.replace(svg, ''), /https?:/);
  assert.doesNotMatch(style, /url\(|@import|https?:|<\//);
  assert.doesNotMatch(script, /<\/|<!--/);
  assert.doesNotMatch(page, /https?:| on\w+=|<link|src=/);
});

// ---- colours ----

/** The colours of page.css by name: [light, dark], each [red, green, blue] from 0 to 1, linear. */
const linear = hex => [1, 3, 5].map(at => Number.parseInt(hex.slice(at, at + 2), 16) / 255).map(part => part <= .04045 ? part / 12.92 : ((part + .055) / 1.055) ** 2.4);
const colours = new Map([...sources.style.matchAll(/--([\w]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)/g)]
  .map(([, name, light, dark]) => [name, [linear(light), linear(dark)]]));

/** WCAG 2: contrast of two colours. */
const luminance = ([red, green, blue]) => .2126 * red + .7152 * green + .0722 * blue;
function contrast(a, b) {
  const [dark, light] = [luminance(a), luminance(b)].sort((a, b) => a - b);
  return (light + .05) / (dark + .05);
}

/** What colours become for people whose eyes lack a pigment: Machado, Oliveira and Fernandes 2009, severity 1. */
const eyes = {
  all: [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
  'those with deuteranopia': [[.367322, .860646, -.227968], [.280085, .672501, .047413], [-.01182, .04294, .968881]],
  'those with protanopia': [[.152286, 1.052583, -.204868], [.114503, .786281, .099216], [-.003882, -.048116, 1.051998]],
};
/** CIE L*a*b* (D65), in which the distance of 1976 is Euclid's. */
function labOf(colour, matrix) {
  const [red, green, blue] = matrix.map(row => Math.min(1, Math.max(0, sum([0, 1, 2], i => row[i] * colour[i]))));
  const [x, y, z] = [(.4124 * red + .3576 * green + .1805 * blue) / .95047, .2126 * red + .7152 * green + .0722 * blue,
    (.0193 * red + .1192 * green + .9505 * blue) / 1.08883].map(value => value > .008856 ? Math.cbrt(value) : 7.787 * value + 16 / 116);
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}

const packages = ['package0', 'package1', 'package2', 'package3', 'package4'], growth = ['growth0', 'growth1', 'growth2', 'growth3', 'growth4', 'less'];
const schemes = ['light', 'dark'];
test('text can be read on all colours that it is on', () => {
  const pairs = [
    ...[...packages, ...growth, 'root', 'builtin', 'other', 'ground', 'panel'].map(ground => ['ink', ground]),
    ...['dim', 'link', 'grown', 'shrunk'].flatMap(text => [[text, 'ground'], [text, 'panel']]), ['ground', 'ink'],
  ];
  for (const [text, ground] of pairs) {
    schemes.forEach((scheme, i) => {
      const value = contrast(colours.get(text)[i], colours.get(ground)[i]);
      assert.ok(value >= 4.5, `${scheme}: ${text} on ${ground}: ${value.toFixed(2)}`);
    });
  }
});
test('edges of what can be operated are 3 to 1', () => schemes.forEach((scheme, i) => {
  for (const ground of ['ground', 'panel']) assert.ok(contrast(colours.get('edge')[i], colours.get(ground)[i]) >= 3, `${scheme}: on ${ground}`);
}));
/** Finds the two colours that are nearest to each other. */
function nearest(names, i, matrix) {
  let best = {distance: Infinity};
  for (const [at, a] of names.entries()) {
    for (const b of names.slice(at + 1)) {
      const distance = Math.hypot(...labOf(colours.get(a)[i], matrix).map((value, k) => value - labOf(colours.get(b)[i], matrix)[k]));
      if (distance < best.distance) best = {distance, pair: `${a} and ${b}`};
    }
  }
  return best;
}
for (const [who, matrix] of Object.entries(eyes)) {
  test(`colours of packages are different for ${who}`, () => schemes.forEach((scheme, i) => {
    const {distance, pair} = nearest([...packages, 'root'], i, matrix);
    assert.ok(distance >= 12, `${scheme}: ${pair} are ${distance.toFixed(1)} apart`);
  }));
  test(`colours of growth are different for ${who}`, () => schemes.forEach((scheme, i) => {
    const {distance, pair} = nearest(growth, i, matrix);
    assert.ok(distance >= 9, `${scheme}: ${pair} are ${distance.toFixed(1)} apart`);
  }));
}
end();
