// Checks what a snapshot of a stripped program says of who sets and uses the globals: whether the function has such an
// instruction, according to objdump and go tool addr2line of the same program with symbols. Of amd64.
import {spawnSync} from 'node:child_process';

const run = (command, args, input) => spawnSync(command, args, {input, encoding: 'utf8', maxBuffer: 1 << 30}).stdout;

/** Most releases leave arguments of types out of the names in the pclntab: of main.get[int] and main.get[string], any may be meant. */
const plain = (name) => name.replace(/\[.*\]/, '[...]');

/** Gets the instructions of some functions as [address, mnemonic, operands], by the functions' plain names. */
function codeOf(executable, names) {
  const code = new Map();
  let instructions;
  for (const line of run('objdump', ['-d', '--no-show-raw-insn', executable]).split('\n')) {
    const [, start] = /^[0-9a-f]+ <(.*)>:$/.exec(line) ?? [];
    if (start !== undefined) {
      const name = plain(start);
      instructions = names.has(name) ? code.get(name) ?? code.set(name, []).get(name) : undefined;
    }
    const [, address, mnemonic, operands] = /^ +([0-9a-f]+):\t(?:(?:lock|repz|repnz) )?(\S+) *(.*)$/.exec(line) ?? [];
    if (instructions && address) instructions.push([Number.parseInt(address, 16), mnemonic, operands]);
  }
  return code;
}

const WIDEST = 16; // addresses that a register may have

/**
 * Finds the addresses that each instruction of a function may refer to, as [address, instruction, stores]. All addresses that
 * a register ever gets in the function count, so this finds too much rather than too little.
 */
function references(instructions) {
  const held = new Map(); // register or slot of the frame -> addresses
  const found = [];
  const of = (place) => held.get(place) ?? new Set();
  const add = (place, addresses) => {
    const set = held.get(place) ?? held.set(place, new Set()).get(place);
    for (const address of addresses) if (set.size < WIDEST || set.has(address)) set.add(address);
  };
  const split = (operands) => operands.replace(/ *[#<].*$/, '').split(/,(?![^(]*\))/);
  const addressesOf = (operand, operands) => {
    const [, fixed] = /# ([0-9a-f]+)/.exec(operands) ?? [];
    if (/\(%rip\)$/.test(operand)) return fixed ? [Number.parseInt(fixed, 16)] : [];
    const [, offset, base, index] = /^(-?0x[0-9a-f]+)?\((%\w+)?(?:,(%\w+),\d)?\)$/.exec(operand) ?? [];
    const parts = [base, index].filter(Boolean).flatMap((register) => [...of(register)]);
    return parts.map((address) => address + Number(offset?.replace(/^-/, '') ?? 0) * (offset?.startsWith('-') ? -1 : 1));
  };
  for (let round = 0; round < 4; round++) {
    found.length = 0;
    for (const [at, mnemonic, operands] of instructions) {
      const all = split(operands), last = all.at(-1);
      for (const operand of all.filter((o) => o.endsWith(')')))
        for (const address of addressesOf(operand, operands))
          found.push([address, at, operand === last && /^(mov|xchg|cmpxchg)/.test(mnemonic) && /^%r/.test(all[0])]);
      if (mnemonic === 'lea') add(last, addressesOf(all[0], operands));
      if (mnemonic === 'mov' && /^%|\(%rsp\)$/.test(last)) add(last, of(all[0]));
      if (mnemonic === 'add') add(last, of(all[0]));
    }
  }
  return found;
}

/** Returns which labels, such as "global set by main.add cache.go:31 (0x574f20)[1]", are wrong, and how many name a user. */
export function wrongUsers(labels, executable) {
  const users = labels.map((label) => [label, ...(/^global (\w+) by (.*?)(?: (\S+:\d+))? \(0x([0-9a-f]+)\)/.exec(label)?.slice(1) ?? [])])
    .filter(([, how]) => how);
  const code = codeOf(executable, new Set(users.map(([, , name]) => plain(name))));
  const found = new Map([...code].map(([name, instructions]) => [name, references(instructions)]));
  const hits = users.map(([, how, name, , address]) =>
    (found.get(plain(name)) ?? []).filter(([to, , stores]) => to === Number.parseInt(address, 16) && (stores || how === 'used')).map(([, at]) => at));
  const all = [...new Set(hits.flat())];
  const answers = run(`${process.env.GOROOT}/bin/go`, ['tool', 'addr2line', executable], all.map((at) => `0x${at.toString(16)}\n`).join(''));
  const lineOf = new Map(all.map((at, i) => [at, answers.split('\n')[2 * i + 1].replace(/^.*\//, '')])); // of each, function and line
  const isThere = (line, at) => line === undefined || lineOf.get(at) === line;
  const wrong = users.flatMap(([label, , , line], i) => (hits[i].some((at) => isThere(line, at)) ? []
    : [`${label}: ${hits[i].slice(0, 4).map((at) => `${at.toString(16)} ${lineOf.get(at)}`).join(', ')}`]));
  return {count: users.length, wrong};
}
