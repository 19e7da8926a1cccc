// Converts every dump and every case of the writer with the program and verifies the snapshots.
//
//   node run.mjs PROGRAM [-v] [--no-cases] [--cuts N [--cut-first]] [DIRECTORY | DUMP]...
//
// The output has one line per dump, with the checks that failed under it; -v shows all checks. --cuts also cuts every dump
// given, or with --cut-first the first one, at N places, and verifies the snapshots of these parts as well.
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import zlib from 'node:zlib';
import { cases } from './cases.mjs';
import { parse } from './dump.mjs';
import { dumpsIn } from './selftest.mjs';
import { Tap } from './tap.mjs';
import { verify, verifyPair } from './verify.mjs';
import { caseParts, writeFile } from './writer.mjs';

const args = process.argv.slice(2);
const option = (name, count) => {
  const i = args.indexOf(name);
  return i < 0 ? null : args.splice(i, count);
};
const verbose = option('-v', 1) !== null;
const noCases = option('--no-cases', 1) !== null;
const cutFirst = option('--cut-first', 1) !== null;
const cuts = Number(option('--cuts', 2)?.[1] ?? 0);
const [program, ...inputs] = args;
if (!program) {
  console.error('usage: run.mjs PROGRAM [-v] [--no-cases] [--cuts N [--cut-first]] [DIRECTORY | DUMP]...');
  process.exit(2);
}

const tap = new Tap();
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'oracle-'));

/** Runs the checks of `body` as one line. */
function group(name, body) {
  const lines = [];
  const inner = new Tap((line) => lines.push(line));
  let crash = null;
  try {
    body(inner);
  } catch (error) {
    crash = error.stack;
  }
  tap.ok(inner.failed === 0 && crash === null, `${name} (${inner.count} checks)`);
  for (let i = 0; i < lines.length; i++) {
    const note = lines[i].startsWith('#');
    if (verbose || /^not ok/.test(lines[i]) || (note && inner.failed)) tap.write(`# ${lines[i].replace(/^# /, '    ')}`);
  }
  if (crash) tap.write(`# ${crash.replace(/\n/g, '\n# ')}`);
}

function convert(inner, dump, snapshot, status) {
  const out = fs.openSync(snapshot, 'w');
  const run = spawnSync(program, [dump], { stdio: ['ignore', out, 'pipe'] });
  fs.closeSync(out);
  inner.ok(run.status === status, `exit ${status}`, [`exit ${run.status ?? run.signal ?? run.error}`, ...String(run.stderr).split('\n').slice(0, 4)]);
  return fs.statSync(snapshot).size > 0;
}

function one(name, dump, status = 0) {
  const snapshot = path.join(folder, `${name}.heapsnapshot`);
  let verified;
  group(name, (inner) => {
    if (convert(inner, dump, snapshot, status)) verified = verify(inner, dump, snapshot);
  });
  fs.rmSync(snapshot);
  return verified;
}

/** The dump cut at `cuts` places spread over it, always the same ones. */
function cutUp(dump) {
  let bytes = fs.readFileSync(dump);
  if (bytes[0] === 0x1f) bytes = zlib.gunzipSync(bytes);
  for (let i = 1; i <= cuts; i++) {
    const size = Math.floor((bytes.length * (i - 0.5 + Math.sin(i * 7919) / 2)) / cuts);
    const name = `${path.basename(dump)} cut at ${size}`;
    const file = path.join(folder, 'cut');
    fs.writeFileSync(file, bytes.subarray(0, size));
    if (size < 64 || parse(file).records.length === 0) continue;
    one(name, file, 3);
  }
}

try {
  const done = new Map(); // dump → Case; the first of a pair is kept until the second comes
  const pairUp = (dump, verified) => {
    const first = dump.replace(/\.2(\.dump(\.gz)?)?$/, '.1$1');
    if (first !== dump && done.has(first)) {
      group(`${path.basename(first)} and .2`, (inner) => verifyPair(inner, done.get(first), verified));
      done.delete(first);
    } else if (/\.1(\.dump(\.gz)?)?$/.test(dump)) {
      done.set(dump, verified);
    }
  };
  for (const [i, dump] of dumpsIn(inputs).entries()) {
    pairUp(dump, one(path.basename(dump), dump));
    if (i === 0 || !cutFirst) cutUp(dump);
  }
  for (const [name, c] of noCases ? [] : Object.entries(cases)) {
    const dump = path.join(folder, name);
    const fd = fs.openSync(dump, 'w');
    writeFile(fd, caseParts(name));
    fs.closeSync(fd);
    pairUp(dump, one(name, dump, c.status ?? 0));
  }
} finally {
  fs.rmSync(folder, { recursive: true });
}
tap.end();
