// Runs the page's own worker in Node: worker.js and wasi.js as the page has them, with Node's files in the place of the browser's.

import {readFileSync, statSync} from 'node:fs';
import {basename} from 'node:path';
import {gunzipSync} from 'node:zlib';
import {createContext, runInContext} from 'node:vm';
import {webcrypto} from 'node:crypto';

/** A File of a browser, of a path; read by a FileReaderSync. */
class DiskFile {
  constructor(path, name = basename(path)) {
    this.name = name;
    this.bytes = readFileSync(path);
    this.size = this.bytes.length;
    this.lastModified = Math.floor(statSync(path).mtimeMs);
  }
  slice(from, to) { return this.bytes.subarray(from, to); }
}

/** Returns the sources of the worker in a page. */
export const workerOf = page => /<script type="text\/plain" id="worker">(.*?)<\/script>/s.exec(readFileSync(page, 'utf8'))[1];

/**
 * Makes a worker of a page, and a function that passes it a message and returns what it answered: an object with said, and the last of
 * kinds, heap, failed and saved.
 */
export function makeWorker(source) {
  let answers = null;
  const context = createContext({
    TextEncoder, TextDecoder, WebAssembly, performance, crypto: webcrypto, setTimeout,
    Blob: class { constructor(parts) { this.bytes = Buffer.concat(parts); } },
    FileReaderSync: class { readAsArrayBuffer(bytes) { return Uint8Array.from(bytes).buffer; } },
    postMessage(message) {
      if ('say' in message) answers.said += message.say;
      else Object.assign(answers, message);
    },
  });
  runInContext(`${source}\nglobalThis.ask = data => data.look ? look(data) : data.heap ? read(data) : save(data);`, context);
  return async message => {
    answers = {said: ''};
    await context.ask(message);
    return answers;
  };
}

/** Compiles the program in a page. */
export const moduleOf = page =>
  WebAssembly.compile(gunzipSync(Buffer.from(/<script type="text\/plain" id="wasm">(.*?)<\/script>/s.exec(readFileSync(page, 'utf8'))[1], 'base64')));

export const file = (path, name) => new DiskFile(path, name);
