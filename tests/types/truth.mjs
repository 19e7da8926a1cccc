// Checks that what the program says of its objects is what the allocator was told: truth.mjs NAME DIRECTORY, with
// types.json, types.dump and types.truth of a program that was built with tests/truth's overlay. TAP on standard output.
import fs from 'node:fs';
import { Judge } from '../truth/judge.mjs';
import { allocations, readDump, readTruth } from '../truth/readers.mjs';

const [name, directory] = process.argv.slice(2);
const known = JSON.parse(fs.readFileSync(`${directory}/types.json`, 'utf8'));
const truth = readTruth(`${directory}/types.truth`), dump = readDump(`${directory}/types.dump`);
const judge = new Judge(truth, dump, allocations(dump, truth));
const wrong = [];
let right = 0;
for (const object of known.objects) {
  const address = Number(object.addr), o = dump.find(address);
  if (o < 0) continue; // static
  const offset = address - dump.address[o];
  if (offset !== 0 && offset !== 8) continue; // an address inside an object
  if (offset === 8 && (!dump.pointers[o] || dump.size[o] <= (dump.pointerSize === 8 ? 512 : 128))) continue;
  const verdicts = object.classes.map((c) => judge.judge(o, c === '(string)' ? { kind: 'string', name: 'string', guess: false }
    : { kind: 'typed', name: c, guess: false }, `known ${c}`).verdict);
  if (verdicts.includes('right')) right++;
  else if (!verdicts.includes('unverified')) wrong.push(`${object.where} at ${object.addr}: ${object.classes.join(', ')}, truth ${judge.truthName(o)}`);
}
console.log(`${wrong.length === 0 && right > 3000 ? 'ok' : 'not ok'} - ${name}: ${right} objects are what the allocator was told`);
wrong.slice(0, 20).forEach((w) => console.log(`# ${w}`));
process.exitCode = wrong.length ? 1 : 0;
