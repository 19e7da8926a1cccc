// The names in a snapshot: checks class names of objects, and finds the word that an edge's name stands for.
import { elementAt, wordAt } from './dump.mjs';

const ELEMENTS_FROM = 1 << 20; // from this offset on, a field is an element edge, as each offset would need a string
const LONGEST = 1024;

/** Names that have a meaning of their own in DevTools if an object has them. */
const EXACT = new Set(['Object', 'Array', 'Function', 'RegExp', 'V8EventListener', '(string)', '(array)', '(system)',
  '(compiled code)', '(closure)', '(number)', '(symbol)', '(bigint)', '(object shape)', '(concatenated string)',
  '(sliced string)', '(synthetic)', '(map descriptors)']);

export function isTrap(name) {
  return EXACT.has(name) || /^<[^ ]* /.test(name) || /^system \/ /.test(name) || /^Detached </.test(name);
}

/** Returns null if `name` is right for the object, otherwise the name that was expected. */
export function wrongClass(dump, o, name) {
  const type = dump.layout.typed ? dump.types.get(o.type) : undefined;
  if (!type) {
    const plain = `${o.hasPointers ? 'ptr' : 'noptr'}${o.size}`;
    return name === plain ? null : plain;
  }
  const prefix = { 0: '', 1: '[]', 2: 'chan ' }[o.kind] ?? '';
  return sameText(name, prefix + type.name) ? null : prefix + type.name;
}

/** Returns whether `shown` is `real` after the rewriting that a snapshot needs: traps, bytes that are not UTF-8, length. */
export function sameText(shown, real) {
  if (isTrap(shown)) return false;
  // Which character stands for a bad byte, and for how many, is the writer's choice.
  const smooth = (s) => s.replace(/[\ufffd?\u0080-\u00ff]+/g, '\ufffd');
  const want = smooth(real.replace(/^<-chan /, 'chan (<-) '));
  const have = smooth(shown);
  if (isTrap(want)) return have.includes(want.replace(/^[<(]|\)$/g, '').trim()) || have.includes(want);
  // A long name is cut at 1024 bytes, UTF-16 units or characters, perhaps with a mark of the cut at its end.
  if (want.length > LONGEST) return have.length <= 2 * LONGEST && [...have].length <= LONGEST + 1 && have.startsWith(want.slice(0, LONGEST - 14));
  return have === want;
}

/**
 * The word that an edge of a region stands for: {offset, conservative}, or {problem}. Labels are f8, f8 (type),
 * [3].f8, a number for elements, and any of them with a `?` behind for conservative frame words.
 */
export function wordOf(dump, region, edge) {
  const at = `${edge.type} ${JSON.stringify(edge.label)}`;
  if (edge.type === 'element') {
    const type = dump.layout.typed ? dump.types.get(region.type) : undefined;
    if (type && region.kind !== 0 && type.size === dump.params.ptrSize) {
      const element = elementAt(dump, region, edge.label);
      return element ? { offset: element.offset } : { problem: `${at}: no such element` };
    }
    if (edge.label >= ELEMENTS_FROM) return { offset: edge.label };
    return { problem: `${at}: an element edge below ${ELEMENTS_FROM}` };
  }
  const conservative = edge.type !== 'property';
  const match = /^(?:\[(\d+)\]\.)?f(\d+)(?: \((.*)\))?( ?\?)?$/s.exec(edge.label);
  if (!match) return { problem: `${at}: no name of a word` };
  if (conservative !== (match[4] !== undefined)) return { problem: `${at}: edge type and name do not agree` };
  let offset = Number(match[2]);
  if (match[1] === undefined) {
    if (offset >= ELEMENTS_FROM) return { problem: `${at}: should be an element edge` };
  } else {
    const element = elementAt(dump, region, Number(match[1]));
    const size = dump.types.get(region.type)?.size ?? 0;
    if (!element || offset >= size) return { problem: `${at}: no such element` };
    offset += element.offset;
  }
  if (match[3] !== undefined && !conservative) {
    const wrong = wrongDynamicType(dump, region, offset, match[3]);
    if (wrong) return { problem: `${at}: ${wrong}` };
  }
  return { offset, conservative };
}

/** As wordOf() for an edge of data or bss, which is named by the word's address: 0x55f2a0 or 0x55f2a0 (type). */
export function globalOf(dump, segment, edge) {
  const match = /^(0x[0-9a-f]+)(?: \((.*)\))?$/s.exec(edge.label);
  if (edge.type !== 'property' || !match) return { problem: `${edge.type} ${JSON.stringify(edge.label)}: no name of a global` };
  const offset = Number(BigInt(match[1]) - segment.address);
  const wrong = match[2] === undefined ? null : wrongDynamicType(dump, segment, offset, match[2]);
  return wrong ? { problem: `${edge.label}: ${wrong}` } : { offset };
}

/** A type behind a field's name is that of the interface word before the field. Returns what is wrong, or null. */
function wrongDynamicType(dump, region, offset, shown) {
  const head = offset >= dump.params.ptrSize ? wordAt(dump, region, offset - dump.params.ptrSize) : 0n;
  const itab = dump.itabs.get(head);
  const type = dump.types.get(itab ? itab.type : head);
  if (!itab && !type) return `the word before it, 0x${head.toString(16)}, is no itab and no type`;
  const core = (s) => s.replace(/^\*+/, '');
  if (type && !type.name.endsWith('.') && !sameText(core(shown), core(type.name))) return `the type is ${type.name}`;
  return null;
}
