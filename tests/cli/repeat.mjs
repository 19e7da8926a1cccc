// Writes a dump whose record of data is there nine times: what follows from that a variable's words lie at different addresses is false.
//
//   repeat.mjs DUMP FILE      DUMP: of an executable of linux/amd64 that is not PIE, with gzip

import {readFileSync, writeFileSync} from 'node:fs';
import {gunzipSync} from 'node:zlib';

const DATA = 12, POINTER = 1, FIRST = 0x400000, LAST = 0x1000000, LEAST = 50;
const dump = gunzipSync(readFileSync(process.argv[2]));

/** Reads a uvarint; returns it and where the next begins. */
function number(at) {
  for (let value = 0, factor = 1; ; factor *= 128) {
    value += (dump[at] & 127) * factor;
    if (dump[at++] < 128) return [value, at];
  }
}

/** Returns where the record that may begin here ends: tag, address, contents, and pointers' offsets; 0: none does. */
function endOfData(begin) {
  const [address, behindAddress] = number(begin + 1), [size, contents] = number(behindAddress);
  let at = contents + size, pointers = 0;
  if (dump[begin] !== DATA || address < FIRST || address > LAST || at >= dump.length) return 0;
  for (; dump[at] === POINTER; pointers++) [, at] = number(at + 1);
  return pointers >= LEAST ? at + 1 : 0;
}

const begin = dump.findIndex((byte, at) => byte === DATA && endOfData(at) > 0), end = endOfData(begin);
writeFileSync(process.argv[3], Buffer.concat([dump.subarray(0, end), ...Array(8).fill(dump.subarray(begin, end)), dump.subarray(end)]));
