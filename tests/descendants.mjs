// The processes that a test has started, and those that these have started: what they have used, and their end.

import {readFileSync, readdirSync} from 'node:fs';
import process from 'node:process';

/** Returns {pid, ticks} of each process that descends from this one. Without /proc there is none. */
export function descendants() {
  const children = new Map();
  let names = [];
  try {
    names = readdirSync('/proc').filter(name => /^\d+$/.test(name));
  } catch { /* no Linux */ }
  for (const name of names) {
    try {
      const text = readFileSync(`/proc/${name}/stat`, 'latin1');
      const fields = text.slice(text.lastIndexOf(')') + 2).split(' '); // from the third field of proc(5) on
      const parent = Number(fields[1]), ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
      children.set(parent, [...children.get(parent) ?? [], {pid: Number(name), ticks}]);
    } catch { /* it has ended */ }
  }
  const found = [];
  for (let next = children.get(process.pid) ?? []; next.length > 0; next = next.flatMap(({pid}) => children.get(pid) ?? [])) found.push(...next);
  return found;
}

/** Kills them. They are stopped first, so that none of them starts another one meanwhile. */
export function endDescendants() {
  const stopped = new Set();
  for (let more = true; more;) {
    more = false;
    for (const {pid} of descendants().filter(({pid}) => !stopped.has(pid))) {
      stopped.add(pid);
      more = send(pid, 'SIGSTOP') || more;
    }
  }
  for (const pid of stopped) send(pid, 'SIGKILL');
}

function send(pid, signal) {
  try {
    return process.kill(pid, signal);
  } catch {
    return false; // it has ended, or is another user's
  }
}

/** Returns how many seconds of processors this process and they have used, and those that they have waited for. */
export function usedSeconds() {
  const {user, system} = process.cpuUsage();
  return (user + system) / 1e6 + descendants().reduce((sum, {ticks}) => sum + ticks / 100, 0);
}
