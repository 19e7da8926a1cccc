// Compares what exe/dwarf/dwarf_info.h gives for the program tests/exe/debug with what the program knew of itself: debug.mjs NAME
// DIRECTORY PRINT_DEBUG. DIRECTORY has app, truth.json and debug.dump. TAP on standard output.
import fs from 'node:fs';
import {execFileSync} from 'node:child_process';
import {parse} from '../oracle/dump.mjs';

const [name, directory, program] = process.argv.slice(2);
const tap = (good, what, notes = []) => {
  console.log(`${good ? 'ok' : 'not ok'} - ${name}: ${what}`);
  if (!good) for (const note of notes.slice(0, 8)) console.log(`# ${note}`);
};
const print = (...pcs) => execFileSync(program, [`${directory}/app`, ...pcs.map((pc) => pc.toString(16))],
  {encoding: 'utf8', maxBuffer: 1 << 30}).trimEnd().split('\n').slice(1).map((line) => JSON.parse(line));

const dump = parse(`${directory}/debug.dump`);
const truths = JSON.parse(fs.readFileSync(`${directory}/truth.json`, 'utf8'));
const plain = print();
const optimized = !name.includes('-N');
const release = Number(/go1\.(\d+)/.exec(name)[1]);

// The distance of the process's addresses from those in the file, which any global variable gives.
const globals = new Map(plain.filter((l) => l.global !== undefined).map((l) => [l.global, l]));
const anchor = truths.find((t) => t.Name === 'main.globalInt');
const slide = BigInt(anchor.Address) - BigInt(`0x${globals.get(anchor.Name)?.address ?? '0'}`);
tap(slide % 4096n === 0n, `the process is ${slide.toString(16)} beyond the file`);

// The memory that the dump has: segments, objects, frames.
const regions = [...dump.data, ...dump.bss, ...dump.objects.values()]
  .map((r) => ({address: r.address, contents: r.contents}));
for (const g of dump.goroutines) for (const f of g.frames) regions.push({address: f.sp, contents: f.contents});
const memory = (address, size, among = regions) => {
  for (const r of among) {
    const offset = Number(address - r.address);
    if (offset >= 0 && offset + size <= r.contents.available) return dump.source.slice(r.contents.offset + offset, size).toString('hex');
  }
};

// The runtime calls the kind of pointers "ptr". For types of C, the kinds are near enough.
const kind = (k) => ({pointer: 'ptr'}[k] ?? k);
const wrongType = (t, type) => {
  const wrong = [];
  const same = (what, is, wanted) => {
    if (String(is) !== String(wanted)) wrong.push(`${t.Name}: ${what} is ${is}, not ${wanted}`);
  };
  if (!type) return [`${t.Name}: it has no type`];
  same('kind', kind(type.kind), t.Kind);
  same('size', type.size, t.Size);
  if (!t.Type) return wrong;
  if (!t.Type.startsWith('struct {')) same('type', type.name, t.Type);
  if (t.Elem) same('elem', type.elem?.name, t.Elem);
  if (t.Key) same('key', type.key?.name, t.Key);
  if (t.Kind === 'interface') same('empty', !!type.empty, t.Empty);
  if (t.Fields) {
    const text = (f) => `${f.Name}@${f.Offset}${f.Embedded ? '!' : ''}`;
    const own = (type.fields ?? []).map((f) => text({Name: f.name, Offset: f.offset, Embedded: f.embedded}));
    // A C compiler leaves out blank fields, and Go 1.18 and before did not say of all types which fields are embedded.
    if (!name.includes('cgo') || t.Type.startsWith('main.')) same('fields', own.join(), t.Fields.map(text).join());
    t.Fields.forEach((f, i) => {
      if (!/struct \{|_Ctype/.test(f.Type) && t.Type.startsWith('main.')) same(`field ${f.Name}`, type.fields?.[i]?.type?.name, f.Type);
    });
  }
  return wrong;
};

{
  const wrong = [], known = truths.filter((t) => t.Where === 'global');
  for (const t of known) {
    const found = globals.get(t.Name);
    if (!found) {
      wrong.push(`${t.Name}: there is no such variable`);
      continue;
    }
    const address = BigInt(`0x${found.address}`) + slide;
    if (address !== BigInt(t.Address)) wrong.push(`${t.Name}: at ${address.toString(16)}, not ${t.Address.toString(16)}`);
    wrong.push(...wrongType(t, found.type));
  }
  tap(wrong.length === 0, `${known.length} global variables have address and type, ${globals.size} there are`, wrong);
}

// Local variables in the frames of the program's functions. A frame's pc is the address that the callee returns to.
const frames = dump.goroutines.flatMap((g) => g.frames.map((f) => ({...f, g})))
  .filter((f) => /^main\./.test(f.name));
const at = new Map();
const pcs = [...new Set(frames.map((f) => f.pc - slide - 1n))];
for (const l of print(...pcs)) if (l.local !== undefined) at.set(l.pc, [...at.get(l.pc) ?? [], l]);
const locals = frames.flatMap((f) => (at.get((f.pc - slide - 1n).toString(16)) ?? [])
  .map((l) => ({...l, in: l.function ?? f.name, frame: f})));
{
  const wrong = [], missing = [], known = truths.filter((t) => t.Where === 'local');
  let partly = 0;
  for (const t of known) {
    // A generic function has one function per shape.
    const found = locals.filter((l) => l.in.replace(/\[.*/, '[...]') === t.Function && l.local === t.Name);
    if (found.length === 0) {
      missing.push(`${t.Function} ${t.Name}`);
      continue;
    }
    // Each instance of a generic function has its own variable; that of at least one frame must be right.
    const problems = found.map((l) => {
      const notes = wrongType(t, l.type);
      let covered = 0;
      for (const p of l.pieces) {
        const cfa = l.frame.sp + BigInt(l.frame.contents.available);
        const bytes = memory(cfa + BigInt(p.place), p.size,
          l.frame.g.frames.map((f) => ({address: f.sp, contents: f.contents})));
        const wanted = t.Bytes.slice(2 * p.offset, 2 * (p.offset + p.size));
        if (bytes !== wanted) notes.push(`${t.Function} ${t.Name}: ${bytes} at cfa ${p.place}, not ${wanted}`);
        covered += p.size;
      }
      if (covered < t.Size) partly++;
      if (covered < t.Size && !optimized) notes.push(`${t.Function} ${t.Name}: only ${covered} bytes of ${t.Size}`);
      return notes;
    });
    if (problems.every((p) => p.length > 0)) wrong.push(...problems[0]);
  }
  tap(wrong.length === 0, `${known.length - missing.length} local variables have place and type, ${partly} of them in part`, wrong);
  tap(missing.length <= (optimized ? 2 : 0), `${missing.length} of ${known.length} local variables are not found: ${missing.join(', ')}`);
  const inlined = locals.filter((l) => l.function === 'main.inlined').length;
  tap(inlined > 0 === optimized, `${inlined} of them belong to an inlined function`);
}

{
  const known = truths.filter((t) => t.Where === 'captured'), wrong = [];
  const captured = plain.filter((l) => l.captured !== undefined);
  if (release >= 23) {
    for (const t of known) {
      const entry = memory(BigInt(t.Address), dump.params.ptrSize);
      const pc = Buffer.from(entry, 'hex').reverse().toString('hex');
      const found = captured.find((c) => BigInt(`0x${c.entry}`) === BigInt(`0x${pc}`) - slide && c.captured === t.Name);
      if (!found) wrong.push(`${t.Name}: not captured at ${pc}`);
      else {
        wrong.push(...wrongType(t, found.type));
        const bytes = memory(BigInt(t.Address) + BigInt(found.offset), t.Size);
        if (bytes !== t.Bytes) wrong.push(`${t.Name}: ${bytes}, not ${t.Bytes}`);
      }
    }
    tap(wrong.length === 0, `${known.length} captured variables have place and type, ${captured.length} there are`, wrong);
  } else {
    tap(captured.length === 0, 'before Go 1.23 there are no captured variables');
  }
}

if (name.includes('cgo')) {
  const all = globals.get('c_all')?.type, fields = Object.fromEntries((all?.fields ?? []).map((f) => [f.name, f]));
  const is = (what, wanted) => tap(String(what) === String(wanted), `of C: ${wanted}`, [what]);
  is(all?.kind, 'struct');
  is(`${fields.point?.type.kind} ${fields.point?.type.name}`, 'struct point');
  is(`${fields.points?.type.kind} ${fields.points?.type.length} ${fields.points?.type.size}`, 'array 6 96');
  is(`${fields.number?.type.kind} ${fields.number?.type.size}`, 'invalid 8');
  is(`${fields.name?.type.kind} ${fields.name?.type.name}`, 'pointer *char');
  is(`${fields.any?.type.kind}`, 'unsafe.Pointer');
  is(`${fields.wide?.type.kind} ${fields.is?.type.kind}`, 'float64 bool');
  is('bits' in fields, false);
  const names = globals.get('c_names')?.type;
  is(`${names?.kind} ${names?.length} ${names?.size} ${names?.elem?.name}`, 'array 6 48 *char');
}
