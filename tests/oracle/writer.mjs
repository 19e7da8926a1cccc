// Writes the dump of one of the cases to standard output; if that is a file and the case has holes, the file is sparse.
//
//   node writer.mjs CASE > file
//   node writer.mjs --list
import fs from 'node:fs';
import { pathToFileURL } from 'node:url';
import { cases } from './cases.mjs';
import { encode } from './encode.mjs';

/** Writes the parts of encode() to a file: holes become real holes. */
export function writeFile(fd, parts) {
  let at = 0;
  for (const part of parts) {
    if (part.zeros !== undefined) {
      at += part.zeros;
      continue;
    }
    for (let done = 0; done < part.length;) done += fs.writeSync(fd, part, done, part.length - done, at + done);
    at += part.length;
  }
  fs.ftruncateSync(fd, at);
}

/** A pipe has no holes: zeros are written out. */
function writePipe(fd, parts) {
  const zeros = Buffer.alloc(1 << 20);
  const write = (buffer) => {
    for (let done = 0; done < buffer.length;) done += fs.writeSync(fd, buffer, done, buffer.length - done);
  };
  for (const part of parts) {
    if (part.zeros === undefined) write(part);
    else for (let left = part.zeros; left > 0; left -= zeros.length) write(zeros.subarray(0, Math.min(left, zeros.length)));
  }
}

export function caseParts(name) {
  const c = cases[name];
  return encode(c.variant, c.dump);
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const [name] = process.argv.slice(2);
  if (name === '--list') {
    for (const [key, c] of Object.entries(cases)) console.log(`${key.padEnd(28)}${c.about}`);
  } else if (name in cases) {
    const parts = caseParts(name);
    if (fs.fstatSync(1).isFile()) writeFile(1, parts);
    else writePipe(1, parts);
  } else {
    console.error('usage: writer.mjs CASE > file | --list');
    process.exit(2);
  }
}
