// Clients of a server of --inspect: WebSockets of ws, and plain sockets that send whatever a test wants.
//
//   const server = await Server.start([program, '--piece', '7', '0', file]);   // says "listening at HOST:PORT/UUID"
//   const client = await Client.connect(server);
//   const result = await client.ask('Runtime.getHeapUsage');                    // throws an error that has a code
//   const {text, events} = await client.takeSnapshot({reportProgress: true});
//   const answer = await raw(server, 'GET / HTTP/1.1\r\n\r\n');                 // all that comes until the server closes
//   await server.stop();

import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {readFileSync} from 'node:fs';
import {connect} from 'node:net';
import WebSocket from 'ws';
import {step} from '../tap.mjs';

/** Waits until a function returns something that is true, which it returns. */
export async function until(what, body) {
  step(what);
  for (const end = Date.now() + 600_000; Date.now() < end; await new Promise(resolve => setTimeout(resolve, 10))) {
    const found = await body();
    if (found) return found;
  }
  throw new Error(`not in ten minutes: ${what}`);
}

export class Server {
  /** Lines on standard output and error. */
  lines = [];
  said = '';
  mayEnd = false;

  /** Starts a program, whose first line that matches says where it listens: host:port, and the path. */
  static async start(command, {pattern = /(\[[^\]]*\]|[\d.]+):(\d+)(\/[-0-9a-f]{36})/, ...options} = {}) {
    const server = new Server();
    step(`the start of ${command[0]}`);
    server.process = spawn(command[0], command.slice(1), {stdio: 'pipe', ...options});
    server.ended = once(server.process, 'exit');
    let rest = '';
    server.process.stdout.on('data', data => {
      const lines = (rest + data).split('\n');
      rest = lines.pop();
      server.lines.push(...lines);
    });
    server.process.stderr.on('data', data => { server.said += data; });
    const [, host, port, path] = await until('a server', () => {
      if (server.process.exitCode !== null) throw new Error(`it ended: ${server.said}`);
      return pattern.exec(server.lines.join('\n') + server.said);
    });
    return Object.assign(server, {host: host.replace(/[[\]]/g, ''), authority: `${host}:${port}`, port: Number(port), path});
  }

  get url() { return `ws://${this.authority}${this.path}`; }

  /** What /proc says of the process: a field of its status, in words. */
  status(field, pid = this.process.pid) {
    return new RegExp(`^${field}:\\s*(.*)$`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1];
  }

  /** Runs a body; fails at once if the server ends meanwhile, unless the body stops it. */
  during(body) {
    const fails = this.ended.then(([status, signal]) => {
      if (!this.mayEnd) throw new Error(`the server ended, ${status ?? signal}: ${this.said}`);
      return new Promise(() => {});
    });
    return Promise.race([body(this), fails]);
  }

  /** Ends the process; returns its exit status, or the signal. */
  async stop(signal = 'SIGTERM') {
    this.mayEnd = true;
    this.process.kill(signal);
    const [status, by] = await this.ended;
    return status ?? by;
  }
}

export class Client {
  /** All messages so far, those with an id also in answers. */
  messages = [];
  #waiting = new Map();
  #last = 0;

  static async connect(server, options = {}) {
    const client = new Client();
    client.socket = new WebSocket(server.url, {perMessageDeflate: true, ...options});
    client.closed = new Promise(resolve => client.socket.on('close', code => { client.code = code; resolve(code); }));
    client.socket.on('message', data => client.#take(JSON.parse(data)));
    await once(client.socket, 'open');
    client.socket.on('error', () => {});
    client.closed.then(code => { for (const [, reject] of client.#waiting.values()) reject(new Error(`closed: ${code}`)); });
    return client;
  }

  #take(message) {
    this.messages.push(message);
    const [resolve, reject] = this.#waiting.get(message.id) ?? [];
    this.#waiting.delete(message.id);
    if (message.error) reject?.(Object.assign(new Error(message.error.message), message.error));
    else resolve?.(message.result);
  }

  /** Sends a request; returns its result. */
  ask(method, params = {}) {
    const id = ++this.#last;
    step(`the answer to ${method}`);
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, [resolve, reject]);
      this.socket.send(JSON.stringify({id, method, params}));
    });
  }

  events(method) { return this.messages.filter(message => message.method === method).map(({params}) => params); }

  /** Takes a snapshot; returns its text, and the messages that came meanwhile. */
  async takeSnapshot(params = {}, method = 'HeapProfiler.takeHeapSnapshot') {
    const from = this.messages.length;
    const result = await this.ask(method, params);
    const messages = this.messages.splice(from);
    const text = messages.filter(message => message.method === 'HeapProfiler.addHeapSnapshotChunk').map(message => message.params.chunk).join('');
    return {text, result, messages};
  }

  async close() {
    this.socket.close();
    return this.closed;
  }
}

/** A plain socket. */
export class Raw {
  data = Buffer.alloc(0);

  static async connect(server) {
    const raw = new Raw();
    raw.socket = connect(server.port, server.host);
    raw.socket.on('data', data => { raw.data = Buffer.concat([raw.data, data]); });
    raw.socket.on('error', () => {});
    raw.closed = new Promise(resolve => raw.socket.on('close', resolve));
    await once(raw.socket, 'connect');
    return raw;
  }

  /** Connects, and makes a WebSocket of it; more is sent in the same packet. */
  static async upgrade(server, more = Buffer.alloc(0)) {
    const raw = await Raw.connect(server);
    raw.socket.write(Buffer.concat([Buffer.from(handshake(server)), more]));
    await until('an upgrade', () => raw.data.includes('\r\n\r\n'));
    return raw;
  }

  /** What follows the head of the answer. */
  get body() { return this.data.subarray(this.data.indexOf('\r\n\r\n') + 4); }

  /** The status with which the server has closed the WebSocket: that of the last frame. */
  async closeStatus() {
    await this.closed;
    const {body} = this;
    return body.length >= 4 && body.at(-4) === 0x88 && body.at(-3) === 2 ? body.readUInt16BE(body.length - 2) : undefined;
  }
}

export const handshake = (server, headers = {}) => {
  const all = {Host: server.authority, Upgrade: 'websocket', Connection: 'Upgrade', 'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==', 'Sec-WebSocket-Version': '13', ...headers};
  return `GET ${server.path} HTTP/1.1\r\n${Object.entries(all).filter(([, value]) => value !== undefined).map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`;
};

/** Sends bytes, and returns all that comes until the server closes the connection. */
export async function raw(server, bytes) {
  const {socket, ...client} = await Raw.connect(server);
  let all = Buffer.alloc(0);
  socket.on('data', data => { all = Buffer.concat([all, data]); });
  socket.write(bytes);
  await client.closed;
  return all.toString();
}

/** A frame of a client as RFC 6455 has it. */
export function frame(payload, {opcode = 1, fin = true, mask = Buffer.from([1, 2, 3, 4]), reserved = 0, length = payload.length} = {}) {
  const data = Buffer.from(payload);
  const more = length < 126 ? [length] : length < 65536 ? [126, length >> 8, length & 255] : [127, ...Array.from({length: 8}, (_, i) => Number(BigInt(length) >> BigInt(56 - 8 * i) & 255n))];
  const head = Buffer.from([(fin ? 0x80 : 0) | reserved | opcode, more[0] | (mask ? 0x80 : 0), ...more.slice(1)]);
  return Buffer.concat([head, mask ?? Buffer.alloc(0), mask ? data.map((byte, i) => byte ^ mask[i % 4]) : data]);
}
