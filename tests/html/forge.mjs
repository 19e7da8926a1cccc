// Writes a dump of Go 1.3 to standard output. Such a dump has the names of types in itself: these would harm a page that took
// them for HTML or scripts.

import process from 'node:process';
import {encode} from '../oracle/encode.mjs';

const names = [
  '</script><script>window.pwned=1</script>', '<img src=x onerror="window.pwned=2">', '<!--<script>', '"><svg onload=window.pwned=3>',
  'javascript:window.pwned=4', '${window.pwned=5}', '</pre><script>window.pwned=6</script>', '</style><script>window.pwned=7</script>',
  '&lt;img src=x onerror=window.pwned=8&gt;', '\\u003cscript>window.pwned=9</script>', 'main.\u202egnp.exe', '\u2066\u200f\u200b\ufeff',
  'main.\x1b[31mred\x07\x00', '\u2028window.pwned=10\u2029', '__proto__', 'constructor', 'hasOwnProperty', '\u{e0041}', ' ', '%SCRIPT%', '%DATA%', '$&',
];
const addressOf = i => 0xc208000000n + BigInt(i * 64), typeOf = i => 0x480000n + BigInt(i * 64);

for (const part of encode('1.3', {
  types: names.map((name, i) => ({address: typeOf(i), size: 64, name, fields: []})),
  objects: names.map((name, i) => ({address: addressOf(i), size: 64, type: typeOf(i), kind: 0})),
  bss: [{address: 0x550000, size: names.length * 8, words: Object.fromEntries(names.map((name, i) => [i * 8, addressOf(i)])), fields: names.map((name, i) => i * 8)}],
})) process.stdout.write(part.zeros === undefined ? part : Buffer.alloc(part.zeros));
