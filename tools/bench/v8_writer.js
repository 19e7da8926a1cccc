// Makes a heap like that of heaps/held, and prints what V8's own writer takes for its snapshot: processor seconds, the memory
// that the process has more at its peak in MB, and nodes.
//
//	node --expose-gc v8_writer.js SESSIONS FILE
'use strict';

const fs = require('fs');
const v8 = require('v8');

// A string of its own, whose characters are in one piece.
const text = (characters) => Buffer.from(characters).toString();
const store = new Map();
const users = [];
for (let i = 0; i < Number(process.argv[2]); i++) {
	const friends = i > 3 ? [users[Math.floor(i / 2)], users[Math.floor(i / 3)]] : null;
	const user = { name: text(`user-${i}`), mail: text(`u${i}@example.org`), friends, last: null };
	const attrs = i % 10 === 0 ? { k: user.name, v: user.mail } : null;
	user.last = { id: i, user, tags: ['a', user.name], attrs, next: null, blob: text('x'.repeat(i % 500)) };
	users.push(user);
	store.set(user.mail, user.last);
}
globalThis.kept = [store, users];
globalThis.gc();

const before = process.resourceUsage();
v8.writeHeapSnapshot(process.argv[3]);
const after = process.resourceUsage();
const seconds = (after.userCPUTime + after.systemCPUTime - before.userCPUTime - before.systemCPUTime) / 1e6;
const head = Buffer.alloc(4096);
fs.readSync(fs.openSync(process.argv[3], 'r'), head);
const nodes = Number(/"node_count":(\d+)/.exec(head.toString())[1]);
console.log(seconds.toFixed(2), Math.round((after.maxRSS - before.maxRSS) / 1024), nodes);
