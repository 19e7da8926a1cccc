// Copies an executable so that the copy claims to be built without Green Tea, and go2heapsnapshot does not look at inline
// marks: the version in its build information (debug/buildinfo) gets " X:nogreenteagc", and the text behind it becomes that
// much shorter. The copy serves to show that without these marks objects are missing.
//
//   without_marks.mjs EXECUTABLE COPY

import {readFileSync, writeFileSync} from 'node:fs';

const [from, to] = process.argv.slice(2);
const bytes = readFileSync(from);
const magic = bytes.indexOf(Buffer.from('\xff Go buildinf:', 'latin1'));
if (magic < 0) throw new Error(`${from}: no build information`);

/** Reads a length, in groups of seven bits, and returns where the text behind it is. */
function text(at) {
  let size = 0, shift = 0, byte;
  do {
    byte = bytes[at++];
    size |= (byte & 0x7f) << shift;
    shift += 7;
  } while (byte >= 0x80);
  return {start: at, end: at + size};
}

/** Encodes a text behind its length, which takes lengthBytes bytes. */
function encode(content, lengthBytes) {
  const length = [];
  for (let i = 0, left = content.length; i < lengthBytes; i++, left >>= 7) length.push((left & 0x7f) | (i < lengthBytes - 1 ? 0x80 : 0));
  return Buffer.concat([Buffer.from(length), content]);
}

const first = magic + 32, version = text(first), info = text(version.end);
const longer = Buffer.concat([bytes.subarray(version.start, version.end), Buffer.from(' X:nogreenteagc')]);
const head = encode(longer, version.start - first), space = info.end - first - head.length;
const lengthBytes = info.start - version.end;
const tail = encode(bytes.subarray(info.start, info.start + space - lengthBytes), lengthBytes);
Buffer.concat([head, tail]).copy(bytes, first);
writeFileSync(to, bytes, {mode: 0o755});
