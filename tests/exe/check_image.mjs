// Checks what src/exe reads from an executable that is not run: check_image.mjs NAME RELEASE SHOWN NM [UNSTRIPPED]. SHOWN
// is show_image's output, NM that of `go tool nm -size`; for a stripped executable, UNSTRIPPED is show_image's output for
// the same program with symbols. TAP on standard output.
import fs from 'node:fs';

const [name, release, shown, nm, unstripped] = process.argv.slice(2);
const tap = (good, what, notes = []) => {
  console.log(`${good ? 'ok' : 'not ok'} - ${name}: ${what}`);
  if (!good) for (const note of notes.slice(0, 5)) console.log(`# ${note}`);
};
const lines = (file, kind) => fs.readFileSync(file, 'utf8').split('\n').filter((l) => l.startsWith(`${kind} `))
  .map((l) => l.slice(kind.length + 1));
const missing = (all, from) => { const set = new Set(from); return all.filter((x) => !set.has(x)); };
const same = (ours, theirs, what) => {
  const notes = [...missing(theirs, ours).map((x) => `missing: ${x}`), ...missing(ours, theirs).map((x) => `wrong: ${x}`)];
  tap(ours.length > 1000 && notes.length === 0, `${ours.length} ${what}`, notes);
};

const version = lines(shown, 'version')[0];
tap(version === release, `was built by ${release}`, [version]);
const functions = lines(shown, 'function');
if (unstripped) {
  same(functions, lines(unstripped, 'function'), 'functions, as with symbols');
} else {
  const symbols = fs.readFileSync(nm, 'utf8').split('\n')
    .map((l) => /^ *([0-9a-f]+) +(-?\d+) ([A-Za-z]) (.*)$/.exec(l)).filter(Boolean)
    .map((m) => ({address: BigInt(`0x${m[1]}`), size: BigInt(m[2]), type: m[3], name: m[4]}));
  // Only the symbol table has the linker's marks.
  const isMark = (s) => /^runtime\.(e?(text|data|bss|noptrdata|noptrbss|covctrs)|end)$/.test(s.name);
  // The table of functions has no ABIs and shortens types; in Mach-O, the symbol table puts a _ before the names of C.
  const plain = (text) => (/-darwin-/.test(name) ? text.replace(/ _+/, ' ') : text).replace(/\.abi0$/, '').replace(/\[(\d+|\.\.\.)\]/g, '[N]');
  const text = symbols.find((s) => s.name === 'runtime.text').address;
  same(functions.map(plain), symbols.filter((s) => /[Tt]/.test(s.type) && !isMark(s))
    .map((s) => plain(`${(s.address - text).toString(16)} ${s.name}`)), 'functions, those of nm');
  // nm does not know sections: for it, the last variable of a section extends to the next section.
  const globals = symbols.filter((s) => /[DdBb]/.test(s.type) && s.size > 0n && !isMark(s));
  const sizes = new Map(lines(shown, 'variable').map((l) => /^(\S+) (\d+) (.*)$/.exec(l)).map((m) => [plain(`${m[1]} ${m[3]}`), BigInt(m[2])]));
  const ends = new Set(lines(shown, 'section').map((l) => l.split(' ')).map((s) => BigInt(`0x${s[2]}`) + BigInt(s[3])));
  const lost = globals.filter((s) => {
    const size = sizes.get(plain(`${s.address.toString(16)} ${s.name}`));
    return size !== s.size && !(size < s.size && ends.has(s.address + size));
  }).map((s) => `${s.address.toString(16)} ${s.size} ${s.name}`);
  tap(globals.length > 100 && lost.length === 0, `${globals.length} global variables, those of nm`, lost);
}
const debug = lines(shown, 'section').map((l) => l.split(' ')).find((s) => s[0] === '.debug_info');
if (unstripped) tap(!debug, 'has no debug information');
else tap(Number(debug?.[4]) > 100000, `${debug?.[4]} bytes of debug information`);
