// The system interface of WebAssembly (wasi_snapshot_preview1) for one program, over files in memory: what wasi-libc and the library
// call, and no more. https://github.com/WebAssembly/WASI/blob/main/legacy/preview1/docs.md has the calls.
'use strict';

const SUCCESS = 0, BADF = 8, EXIST = 20, INVAL = 28, NOENT = 44, NOSYS = 52;
const CHARACTERS = 2, DIRECTORY = 3, REGULAR = 4;

/** A file that the program writes: bytes in blocks, so that it grows without being copied. */
class Blocks {
  static SIZE = 1 << 20;
  constructor() { this.blocks = []; this.size = 0; }

  /** Yields the parts of blocks that a range covers. */
  * parts(at, size) {
    while (size > 0) {
      const begin = at % Blocks.SIZE, end = Math.min(Blocks.SIZE, begin + size);
      yield this.blocks[Math.floor(at / Blocks.SIZE)].subarray(begin, end);
      at += end - begin;
      size -= end - begin;
    }
  }

  resize(size) {
    const count = Math.ceil(size / Blocks.SIZE);
    this.blocks.length = Math.min(count, this.blocks.length);
    while (this.blocks.length < count) this.blocks.push(new Uint8Array(Blocks.SIZE));
    for (const part of this.parts(this.size, size - this.size)) part.fill(0);
    this.size = size;
  }

  read(at, to) {
    let done = 0;
    for (const part of this.parts(at, Math.min(to.length, this.size - at))) {
      to.set(part, done);
      done += part.length;
    }
    return done;
  }

  write(at, from) {
    let done = 0;
    if (at + from.length > this.size) this.resize(at + from.length);
    for (const part of this.parts(at, from.length)) {
      part.set(from.subarray(done, done + part.length));
      done += part.length;
    }
  }

  /** Returns its bytes, in order. */
  list() { return [...this.parts(0, this.size)]; }
}

/** A file of the user's: read(at, size) returns bytes of it. It cannot be written. */
class Given {
  static MOST = 1 << 24; // at a time: the bytes are here twice meanwhile
  constructor(size, time, read) { this.size = size; this.time = time; this.bytes = read; }
  read(at, to) {
    const size = Math.max(0, Math.min(to.length, this.size - at, Given.MOST));
    if (size > 0) to.set(this.bytes(at, size));
    return size;
  }
}

/**
 * Returns the imports of a program, and start(instance), which initializes it. files is a Map from a name to a Blocks or Given, print()
 * gets what the program writes on standard output and error.
 */
function makeSystem(files, print) {
  const decoder = new TextDecoder();
  const open = [{type: CHARACTERS}, {type: CHARACTERS}, {type: CHARACTERS}, {type: DIRECTORY}]; // 3: the directory that has all files
  let memory = null, last = 0;
  const inodes = new Map();
  const view = () => new DataView(memory.buffer);
  const bytes = (at, size) => new Uint8Array(memory.buffer, at >>> 0, size >>> 0);
  const nameAt = (at, size) => decoder.decode(bytes(at, size)).replace(/^(\.?\/)+/, '');
  const inodeOf = file => inodes.get(file) ?? (inodes.set(file, ++last), last);
  const isFile = entry => entry !== undefined && entry.type === REGULAR;

  /** Yields the ranges of memory in a list of iovecs. */
  function* vectors(at, count) {
    for (let i = 0; i < count; i++) yield bytes(view().getUint32(at + 8 * i, true), view().getUint32(at + 8 * i + 4, true));
  }

  function putStatus(at, type, file) {
    const to = view(), time = BigInt(Math.round(file?.time ?? 0)) * 1000000n;
    bytes(at, 64).fill(0);
    to.setBigUint64(at + 8, BigInt(file ? inodeOf(file) : 0), true);
    to.setUint8(at + 16, type);
    to.setBigUint64(at + 24, 1n, true);
    to.setBigUint64(at + 32, BigInt(file?.size ?? 0), true);
    for (const field of [40, 48, 56]) to.setBigUint64(at + field, time, true);
    return SUCCESS;
  }

  function readAt(file, position, vectorsAt, count, ret) {
    let sum = 0;
    for (const to of vectors(vectorsAt, count)) {
      const done = file.read(position + sum, to);
      sum += done;
      if (done < to.length) break;
    }
    view().setUint32(ret, sum, true);
    return sum;
  }

  function writeAt(file, position, vectorsAt, count, ret) {
    let sum = 0;
    for (const from of vectors(vectorsAt, count)) {
      file.write(position + sum, from);
      sum += from.length;
    }
    view().setUint32(ret, sum, true);
    return sum;
  }

  function printAll(vectorsAt, count, ret) {
    let sum = 0;
    for (const from of vectors(vectorsAt, count)) {
      print(decoder.decode(from.slice()));
      sum += from.length;
    }
    view().setUint32(ret, sum, true);
    return SUCCESS;
  }

  const CREATE = 1, EXCLUSIVE = 4, TRUNCATE = 8;
  function openFile(name, flags) {
    if (name === '') return {type: DIRECTORY};
    let file = files.get(name);
    if (file && (flags & EXCLUSIVE)) return EXIST;
    if (!file && !(flags & CREATE)) return NOENT;
    if (!file || (flags & TRUNCATE)) files.set(name, file = new Blocks());
    return {type: REGULAR, file, position: 0};
  }

  const calls = {
    args_sizes_get: (count, size) => { view().setUint32(count, 0, true); view().setUint32(size, 0, true); return SUCCESS; },
    args_get: () => SUCCESS,
    environ_sizes_get: (count, size) => calls.args_sizes_get(count, size),
    environ_get: () => SUCCESS,
    clock_res_get: (clock, ret) => { view().setBigUint64(ret, 1000000n, true); return SUCCESS; },
    clock_time_get(clock, precision, ret) {
      view().setBigUint64(ret, BigInt(Math.round((clock === 0 ? Date.now() : performance.now()) * 1e6)), true);
      return SUCCESS;
    },
    random_get(at, size) {
      for (let done = 0; done < size; done += 65536) { // at a time
        const random = new Uint8Array(Math.min(65536, size - done));
        crypto.getRandomValues(random);
        bytes(at + done, random.length).set(random);
      }
      return SUCCESS;
    },
    fd_prestat_get(fd, ret) {
      if (fd !== 3) return BADF;
      view().setUint32(ret, 0, true);
      view().setUint32(ret + 4, 1, true);
      return SUCCESS;
    },
    fd_prestat_dir_name: (fd, at) => { bytes(at, 1)[0] = 47; return SUCCESS; },
    fd_fdstat_get(fd, ret) {
      const entry = open[fd];
      if (!entry) return BADF;
      bytes(ret, 24).fill(0);
      view().setUint8(ret, entry.type);
      for (const rights of [8, 16]) view().setBigUint64(ret + rights, 0x1fffffffn, true);
      return SUCCESS;
    },
    fd_fdstat_set_flags: () => SUCCESS,
    fd_filestat_get: (fd, ret) => open[fd] ? putStatus(ret, open[fd].type, open[fd].file) : BADF,
    fd_filestat_set_size(fd, size) {
      if (!isFile(open[fd])) return BADF;
      open[fd].file.resize(Number(size));
      return SUCCESS;
    },
    path_filestat_get(fd, flags, at, size, ret) {
      const name = nameAt(at, size), file = files.get(name);
      if (name === '') return putStatus(ret, DIRECTORY);
      return file ? putStatus(ret, REGULAR, file) : NOENT;
    },
    path_open(fd, lookup, at, size, flags, rights, inherited, fdFlags, ret) {
      const entry = openFile(nameAt(at, size), flags);
      if (typeof entry === 'number') return entry;
      const free = open.indexOf(undefined, 4), number = free < 0 ? open.length : free;
      open[number] = entry;
      view().setUint32(ret, number, true);
      return SUCCESS;
    },
    path_unlink_file: (fd, at, size) => files.delete(nameAt(at, size)) ? SUCCESS : NOENT,
    fd_close(fd) {
      if (!open[fd]) return BADF;
      open[fd] = undefined;
      return SUCCESS;
    },
    fd_read(fd, at, count, ret) {
      if (!isFile(open[fd])) return BADF;
      open[fd].position += readAt(open[fd].file, open[fd].position, at, count, ret);
      return SUCCESS;
    },
    fd_pread(fd, at, count, position, ret) {
      if (!isFile(open[fd])) return BADF;
      readAt(open[fd].file, Number(position), at, count, ret);
      return SUCCESS;
    },
    fd_write(fd, at, count, ret) {
      if (open[fd]?.type === CHARACTERS) return printAll(at, count, ret);
      if (!isFile(open[fd]) || !open[fd].file.write) return BADF;
      open[fd].position += writeAt(open[fd].file, open[fd].position, at, count, ret);
      return SUCCESS;
    },
    fd_pwrite(fd, at, count, position, ret) {
      if (!isFile(open[fd]) || !open[fd].file.write) return BADF;
      writeAt(open[fd].file, Number(position), at, count, ret);
      return SUCCESS;
    },
    fd_seek(fd, offset, from, ret) {
      const entry = open[fd];
      if (!isFile(entry)) return BADF;
      const position = Number(offset) + [0, entry.position, entry.file.size][from];
      if (position < 0) return INVAL;
      entry.position = position;
      view().setBigUint64(ret, BigInt(position), true);
      return SUCCESS;
    },
    fd_tell(fd, ret) {
      if (!isFile(open[fd])) return BADF;
      view().setBigUint64(ret, BigInt(open[fd].position), true);
      return SUCCESS;
    },
    fd_sync: () => SUCCESS,
    fd_datasync: () => SUCCESS,
    fd_advise: () => SUCCESS,
    sched_yield: () => SUCCESS,
    poll_oneoff: () => NOSYS,
    proc_exit(status) { throw new Error(`the program ended with status ${status}`); },
  };
  // Whatever else a library of C may call fails.
  const imports = new Proxy(calls, {get: (all, name) => all[name] ?? (() => NOSYS)});
  return {
    imports,
    start(instance) {
      memory = instance.exports.memory;
      instance.exports._initialize();
    },
  };
}
