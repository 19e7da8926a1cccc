// Checks that each relative link of the documents leads to a file and, with #, to one of its headings: links.mjs TREE. Prints the links that
// do not, and fails if there are any. Paths "docs/PAGE.md" in sources, tests and tools must exist, too.
import {existsSync, readFileSync, readdirSync, statSync} from 'node:fs';
import {dirname, join, relative, resolve} from 'node:path';

const tree = process.argv[2];

/** Returns the files below a directory whose names match, without those of packages that tests install. */
const filesBelow = (directory, pattern) => readdirSync(directory, {withFileTypes: true}).flatMap(({name}) => {
  const path = join(directory, name);
  if (name === 'node_modules') return [];
  return statSync(path).isDirectory() ? filesBelow(path, pattern) : pattern.test(name) ? [path] : [];
});

const withoutCode = text => text.replace(/^```[^]*?^```$/gm, '');

/** Returns the fragment by which GitHub addresses a heading. */
const fragment = heading => heading.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase().replace(/[^\p{L}\p{N}\-_ ]/gu, '').replace(/ /g, '-');
const fragments = path => [...withoutCode(readFileSync(path, 'utf8')).matchAll(/^#+ (.*)$/gm)].map(([, heading]) => fragment(heading));

const wrong = [];
const pages = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'CHANGELOG.md'].map(name => join(tree, name));
pages.push(...['docs', 'samples', 'src', 'tests', 'tools'].flatMap(name => filesBelow(join(tree, name), /\.md$/)));
let links = 0;
for (const page of pages) {
  for (const [, target] of withoutCode(readFileSync(page, 'utf8')).matchAll(/\]\(([^)\s]+)\)/g)) {
    if (/^[a-z]+:/.test(target)) continue;
    const [path, heading] = target.split('#'), file = path ? resolve(dirname(page), path) : page;
    links++;
    if (!existsSync(file)) wrong.push(`${relative(tree, page)}: no file ${target}`);
    else if (heading && !fragments(file).includes(heading)) wrong.push(`${relative(tree, page)}: no heading ${target}`);
  }
}
for (const source of ['src', 'include', 'tests', 'tools', 'samples'].flatMap(name => filesBelow(join(tree, name), /\.([chj]s?|mjs|sh|go)$/)))
  for (const [path] of readFileSync(source, 'utf8').matchAll(/\bdocs\/[a-z-]+\.md\b/g))
    if (!existsSync(join(tree, path))) wrong.push(`${relative(tree, source)}: no file ${path}`);

if (links < 100) wrong.push(`only ${links} links were found`);
wrong.forEach(line => console.log(line));
process.exit(wrong.length > 0 ? 1 : 0);
