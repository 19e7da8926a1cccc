// Runs programs that may hang, use all memory or leave processes behind: a mutant may do anything.
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import readline from 'node:readline';

const pageSize = 4096;
const mostMemory = 5e9; // bytes of all processes of a command together

/** Reads the processes of the machine: pid, session and resident bytes of each. */
function processes() {
  const found = [];
  for (const name of fs.readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const stat = fs.readFileSync(`/proc/${name}/stat`, 'latin1');
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      found.push({ pid: Number(name), session: Number(fields[3]), bytes: Number(fields[21]) * pageSize });
    } catch {
      // it has ended
    }
  }
  return found;
}

/** Whether a process was started, directly or not, by the command with this mark in its environment. */
function isMarked(pid, mark) {
  try {
    return fs.readFileSync(`/proc/${pid}/environ`, 'latin1').includes(mark);
  } catch {
    return false;
  }
}

function kill(pid) {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // it has ended
  }
}

let commands = 0;
const running = new Set();
process.on('exit', () => {
  for (const one of running.size ? processes() : []) if (running.has(one.session)) kill(one.pid);
});

/**
 * Runs a command in a session of its own. `seconds` limits the processor time of each of its processes, `wall` the seconds by the
 * clock. `onLine` gets each line of its output; if it returns true, the command is ended. Gives the exit status, or why it was
 * ended, and what it said. None of its processes is left.
 */
export function run(command, { cwd, env = {}, seconds = 60, wall = 600, onLine = () => false }) {
  return new Promise((resolve) => {
    const mark = `MUTANTS_COMMAND=${process.pid}.${++commands}`;
    const [name, value] = mark.split('=');
    const limited = ['-c', `ulimit -c 0 -t ${seconds}; exec "$@"`, '-', ...command];
    const child = spawn('bash', limited, { cwd, env: { ...process.env, ...env, [name]: value }, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
    running.add(child.pid);
    let ended = '';
    const said = [];
    const end = (why) => {
      ended ||= why;
      for (const one of processes()) if (one.session === child.pid) kill(one.pid);
    };
    child.stderr.on('data', (part) => said.length < 100 && said.push(String(part)));
    readline.createInterface({ input: child.stdout }).on('line', (line) => {
      if (!ended && onLine(line)) end('enough');
    });
    const start = Date.now();
    const watch = setInterval(() => {
      const mine = processes().filter((one) => one.session === child.pid);
      if (mine.reduce((sum, one) => sum + one.bytes, 0) > mostMemory) end('memory');
      if (Date.now() - start > wall * 1000) end('time');
    }, 1000);
    child.on('exit', () => {
      // What it left behind would hold its output open.
      for (const one of processes()) if (one.session === child.pid || isMarked(one.pid, mark)) kill(one.pid);
    });
    child.on('close', (status, signal) => {
      clearInterval(watch);
      running.delete(child.pid);
      resolve({ status: ended || (status ?? signal), said: said.join('') });
    });
  });
}

/** The processor seconds that the processes which this one has waited for have used. */
export function childSeconds() {
  const stat = fs.readFileSync('/proc/self/stat', 'latin1');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[13]) + Number(fields[14])) / 100;
}
