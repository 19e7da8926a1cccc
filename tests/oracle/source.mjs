// Bytes by position, from a Buffer or from a file too large for one (a dump with an object of 4 GiB is sparse
// on disk but would not fit into memory). Readers call only byteAt() and slice().
import fs from 'node:fs';
import zlib from 'node:zlib';

const PAGE = 1 << 20;
const LARGE = 1 << 29; // files from here on stay on disk

export class Source {
  constructor(length, read) {
    this.length = length;
    this.read = read; // (offset, size) → Buffer of exactly that size
    this.page = null;
    this.pageStart = -1;
  }

  static fromBuffer(buffer) {
    return new Source(buffer.length, (offset, size) => buffer.subarray(offset, offset + size));
  }

  static fromFile(path) {
    const fd = fs.openSync(path, 'r');
    return new Source(fs.fstatSync(fd).size, (offset, size) => {
      const buffer = Buffer.alloc(size);
      for (let done = 0; done < size;) {
        const n = fs.readSync(fd, buffer, done, size - done, offset + done);
        if (n === 0) throw new Error(`${path}: shorter than it was`);
        done += n;
      }
      return buffer;
    });
  }

  byteAt(offset) {
    if (offset < this.pageStart || offset >= this.pageStart + PAGE || this.page === null) {
      this.pageStart = offset - (offset % PAGE);
      this.page = this.read(this.pageStart, Math.min(PAGE, this.length - this.pageStart));
    }
    return this.page[offset - this.pageStart];
  }

  slice(offset, size) {
    if (offset < 0 || offset + size > this.length) throw new Error(`slice ${offset}+${size} of ${this.length} bytes`);
    return this.read(offset, size);
  }
}

const isGzip = (b) => b.length > 2 && b[0] === 0x1f && b[1] === 0x8b;

/** A Source for a Buffer or a path; gzip is recognised by its magic, not by a name. */
export function open(input) {
  if (input instanceof Source) return input;
  if (Buffer.isBuffer(input)) return Source.fromBuffer(isGzip(input) ? zlib.gunzipSync(input) : input);
  if (fs.statSync(input).size >= LARGE) return Source.fromFile(input);
  return open(fs.readFileSync(input));
}
