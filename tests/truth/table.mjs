// Prints the figures of all releases that run.sh has measured, as the table of README.md: table.mjs DIRECTORY, which
// is run.sh's directory, build/truth. Shares are cut, not rounded, so that 100 means all.
import fs from 'node:fs';
import path from 'node:path';

const [directory] = process.argv.slice(2);
if (!directory) {
  console.error('usage: table.mjs DIRECTORY');
  process.exit(2);
}
const read = (...parts) => {
  const file = path.join(directory, ...parts);
  return fs.existsSync(file) ? JSON.parse(fs.readFileSync(file, 'utf8')) : null;
};
const share = (value) => (value === 100 ? '100' : (Math.floor(value * 100) / 100).toFixed(2));
const few = (value) => (value === 0 ? '0' : value < 0.0001 ? '< 0.0001' : value.toFixed(4));

const minor = (release) => Number(/^go1\.(\d+)/.exec(release)?.[1] ?? 0);
const releases = fs.readdirSync(directory).filter((name) => minor(name)).sort((a, b) => minor(a) - minor(b));
console.log('| heap | Go | objects | with DWARF: any / with pointers / bytes / edges | wrong | stripped: any / with pointers / bytes / edges | wrong | changed |');
console.log('|---|---|---|---|---|---|---|---|');
for (const heap of ['gotypes', 'httpserver', 'maps']) {
  for (const release of releases) {
    const [plain, stripped] = ['plain', 'stripped'].map((variant) => read(release, heap, variant, 'measure.1.json'));
    if (!plain || !stripped) continue;
    const shares = (m) => [m.any, m.whole ?? m.pointers, m.bytes, m.edges].map(share).join(' / ');
    const pair = read(release, heap, 'plain', 'pair.json');
    console.log(`| ${heap} | ${release.slice(2)} | ${plain.sum.objects.toLocaleString('en')} | ${shares(plain)} | ${few(plain.wrong)} | ` +
      `${shares(stripped)} | ${few(stripped.wrong)} | ${pair ? few(pair.changed) : ''} |`);
  }
}
