// Reads an HPROF file strictly by the format and compares it with the snapshot of the same view: every object with its
// class, its size and all that it holds, and all that the roots hold; if the snapshot has numbers, also these with the numbers
// in the fields. TAP on standard output.
//
//   hprof.mjs HPROF SNAPSHOT [VISUALVM]      VISUALVM: the output of Hprof.java
import { readFileSync } from 'node:fs'
import process from 'node:process'

const [, , file, snapshotFile, visualvmFile] = process.argv

// ---- the file

const bytes = readFileSync(file)
const wrong = []
const check = (good, what) => good || wrong.length > 20 || wrong.push(what)
let at = 0
const u1 = () => bytes[at++]
const u2 = () => ((at += 2), bytes.readUInt16BE(at - 2))
const u4 = () => ((at += 4), bytes.readUInt32BE(at - 4))
const sizes = { 2: 4, 4: 1, 5: 2, 6: 4, 7: 8, 8: 1, 9: 2, 10: 4, 11: 8 }

const strings = new Map()
const classes = new Map() // id → name, super, size, statics, fields
const serials = new Map()
const names = new Map()
const frames = new Map()
const traces = new Map()
const objects = new Map() // id → class, kind, size, refs (with nulls), data
const roots = { 3: [], 5: [], 8: [] }
const primitives = { 4: '[Z', 5: '[C', 6: '[F', 7: '[D', 8: '[B', 9: '[S', 10: '[I', 11: '[J' }
const aligned = (size) => Math.ceil(size / 8) * 8

const add = (id, object) => {
  check(id !== 0 && !objects.has(id) && !classes.has(id), `id ${id} twice`)
  objects.set(id, object)
}

const readClass = () => {
  const id = u4()
  const of = { trace: u4(), super: u4(), statics: [], fields: [] }
  at += 5 * 4
  of.size = u4()
  check(u2() === 0, 'no constants')
  for (let left = u2(); left > 0; left--) {
    const field = { name: strings.get(u4()), type: u1() }
    field.value = field.type === 2 || field.type === 10 ? u4() : ((at += sizes[field.type]), undefined)
    of.statics.push(field)
  }
  for (let left = u2(); left > 0; left--) of.fields.push({ name: strings.get(u4()), type: u1() })
  of.name = names.get(id)
  check(of.name !== undefined, `class ${id} is loaded`)
  check([...of.statics, ...of.fields].every((field) => field.name !== undefined), `${of.name}: names of fields`)
  check(!classes.has(id), `class ${id} twice`)
  classes.set(id, of)
}

const hierarchy = (id) => (id === 0 ? [] : [classes.get(id), ...hierarchy(classes.get(id).super)])

const readInstance = () => {
  const id = u4()
  u4()
  const of = u4()
  const size = u4()
  const end = at + size
  const object = { kind: 'instance', class: classes.get(of), refs: [], values: {} }
  for (const { fields } of hierarchy(of))
    for (const { name, type } of fields) {
      if (type === 2) {
        object.refs.push({ name, to: u4() })
      } else {
        object.values[name] = [type, at]
        at += sizes[type]
      }
    }
  check(at === end, `${object.class.name}: fields have ${size} bytes`)
  object.size = object.class.size
  add(id, object)
}

const readSegment = (end) => {
  while (at < end) {
    const tag = u1()
    if (tag === 0x20) readClass()
    else if (tag === 0x21) readInstance()
    else if (tag === 0x22) {
      const id = u4()
      u4()
      const count = u4()
      const of = classes.get(u4())
      const refs = []
      for (let i = 0; i < count; i++) refs.push({ name: i, to: u4() })
      add(id, { kind: 'objects', class: of, refs, size: aligned(12 + 4 * count) })
    } else if (tag === 0x23) {
      const id = u4()
      u4()
      const count = u4()
      const type = u1()
      add(id, { kind: 'numbers', class: { name: primitives[type] }, refs: [], size: aligned(12 + sizes[type] * count), begin: at, count, type })
      at += sizes[type] * count
    } else if (tag === 5) {
      roots[5].push(u4())
    } else if (tag === 3 || tag === 8) {
      roots[tag].push({ id: u4(), thread: u4(), other: u4() })
    } else {
      throw new Error(`tag ${tag} at ${at - 1}`)
    }
  }
  check(at === end, 'a segment ends where it says')
}

const readRecord = () => {
  const tag = u1()
  u4()
  const size = u4()
  const end = at + size
  if (tag === 1) {
    const id = u4()
    strings.set(id, bytes.toString('utf8', at, end))
    at = end
  } else if (tag === 2) {
    const serial = u4()
    const id = u4()
    u4()
    names.set(id, strings.get(u4()))
    serials.set(serial, id)
  } else if (tag === 4) {
    frames.set(u4(), { method: strings.get(u4()), signature: strings.get(u4()), file: strings.get(u4()), class: names.get(serials.get(u4())), line: u4() | 0 })
  } else if (tag === 5) {
    const serial = u4()
    const thread = u4()
    const list = []
    for (let left = u4(); left > 0; left--) list.push(u4())
    traces.set(serial, { thread, frames: list })
  } else if (tag === 0x1c) {
    check(size <= 32 << 20 || objects.size > 0, 'a segment has at most 32 MB')
    readSegment(end)
  } else {
    check(tag === 0x2c && size === 0 && end === bytes.length, `record ${tag}`)
  }
  check(at === end, `record ${tag} ends where it says`)
  at = end
}

check(bytes.toString('latin1', 0, 19) === 'JAVA PROFILE 1.0.2\0', 'version')
at = 19
check(u4() === 4, 'size of ids')
at += 8
while (at < bytes.length) readRecord()
check(bytes.length > 40 && bytes[bytes.length - 9] === 0x2c, 'HEAP DUMP END')

// ---- the file by itself

for (const [id, of] of classes) {
  check(of.super === 0 ? of.name === 'java/lang/Object' : classes.has(of.super), `${of.name}: superclass`)
  for (const field of of.statics) check(field.type !== 2 || objects.has(field.value), `${of.name}: static ${field.name}`)
  check(!of.name.includes('.'), `${of.name}: no points`)
  check(!objects.has(id), `${id} is a class`)
}
for (const [id, object] of objects) {
  check(object.class, `${id}: has a class`)
  for (const { to } of object.refs) check(to === 0 || objects.has(to), `${object.class.name}: ${to} is there`)
  const name = object.class.name
  if (object.kind === 'instance') check(!name.startsWith('[') && !name.endsWith('[]'), `${name}: no name of an array`)
  else check(name.startsWith('['), `${name}: the name of an array`)
}
const javas = 'Object Class ClassLoader String Thread ThreadGroup ref/Reference ref/WeakReference ref/SoftReference ref/FinalReference ref/PhantomReference'
const all = [...classes.values()].map((of) => of.name)
for (const name of javas.split(' ').map((name) => `java/lang/${name}`).concat(Object.values(primitives), '[Ljava/lang/Object;'))
  check(all.filter((other) => other === name).length === 1, `${name} is there once`)
const byName = (name) => [...classes.values()].find((of) => of.name === name)
check(byName('java/lang/Object').size > 0, 'size of java.lang.Object')
check(byName('java/lang/ref/Reference').fields.some((field) => field.name === 'referent'), 'referent')
for (const { id, thread, other } of roots[8]) {
  check(objects.get(id)?.class.name === 'java/lang/Thread', 'a thread is one')
  check(traces.get(other)?.thread === thread, 'a thread has a stack')
}
for (const { id, thread, other } of roots[3]) {
  const trace = [...traces.values()][thread - 1]
  check(objects.has(id) && trace?.thread === thread && other < trace.frames.length, 'a local is in a frame')
}
for (const id of roots[5]) check(classes.has(id), 'a class that is a root is one')

// ---- compared with the snapshot

const snapshot = JSON.parse(readFileSync(snapshotFile, 'utf8'))
const { nodes, edges, strings: texts } = snapshot
const { node_types: [types], edge_types: [kinds] } = snapshot.snapshot.meta
const count = nodes.length / 7
const isObject = (node) => ['object', 'string', 'sliced string', 'native'].includes(types[nodes[7 * node]])
const idOf = (node) => nodes[7 * node + 2]

// Undoes the changes that a snapshot makes to names that DevTools would misread; turned() puts brackets where Java has
// them.
const goName = (name) =>
  name
    .replace(/^chan \(<-\) /, '<-chan ')
    .replace(/^Go (?=<|system \/ |Detached |Window|Object\(|\(closure)/, '')
    .replace(/ \(Go\)$/, '')
    .replace(/^(\[\](?:u?int\d*|uintptr|float\d+|complex\d+|bool)) \(.*\)$/s, '$1') // by what holds it: held_classes.h
const turned = (name) => {
  const brackets = /^(\[[^\]]*\])*/.exec(name)[0]
  return (name.slice(brackets.length) + brackets).replaceAll('.', '/')
}
const javaName = (object) => object.class.name.replace(/ \(Go\)(?=;?$)/, '')
const isNamed = (object, name) => {
  const java = javaName(object)
  if (object.kind === 'numbers') return name === '[]uint8'
  if (object.kind === 'objects') return java === `[L${turned(name.replace(/^\[\]/, ''))};`
  return java === turned(name) || (name.startsWith('[]') && java === `${turned(name)} (${object.size} bytes)`)
}

const differences = { class: [], size: [], edges: [], numbers: [], roots: [] }
const hasNumbers = nodes.some((type, at) => at % 7 === 0 && types[type] === 'number')
const differ = (what, text) => differences[what].length < 5 && differences[what].push(text.slice(0, 400))
// In a folded snapshot, an object has only one edge to a node that stands for several objects.
const isFolded = snapshot.snapshot.go2heapsnapshot.folded_nodes > 0
const sorted = (list) => (isFolded ? [...new Set(list)] : list).sort((a, b) => a - b).join(' ')
const held = new Set()
// Counts a class and arrays of it as one, because a class that is written as an array has the same name as they.
const plain = (name) => name.replaceAll('/', '.').replace(/ \(\d+ bytes\)$/, '').replace(/( \(Go\))?(\[\])?$/, '')
const histogram = new Map()
const sum = (map, name, size) => {
  const entry = map.get(name) ?? { count: 0, bytes: 0 }
  entry.count++
  entry.bytes += size
  map.set(name, entry)
}
// Numbers: the fields of an instance, but lengths, padding and elements of arrays of numbers, have an edge each, with the same
// value. A time.Time has three fields, wall, ext and loc, and one edge; hprof has the halves of complex numbers; a number of
// sync/atomic is called by the field that has it.
let numbersOf = 0
const isLeftOut = (object, name) =>
  /(^|\.)(wall|ext|real|imag)$|\]$/.test(name) || name === '(padding)' || (/\.(len|cap)$/.test(name) && object.refs.some((ref) => ref.name === (name.slice(0, -4) || '(value)')))
const readers = { 4: 'readUInt8', 6: 'readFloatBE', 7: 'readDoubleBE', 8: 'readInt8', 9: 'readInt16BE', 10: 'readInt32BE', 11: 'readBigInt64BE' }
const says = (text, type, at) => {
  const value = bytes[readers[type]](at)
  if (type === 4) return text === String(value !== 0)
  if (type === 6) return Object.is(Math.fround(Number(text.replace('Inf', 'Infinity'))), value)
  if (type === 7) return Object.is(Number(text.replace('Inf', 'Infinity')), value)
  if (/[a-zµ]/.test(text)) return true // a time.Duration
  return BigInt.asIntN(8 * sizes[type], BigInt(text)) === BigInt(value)
}
const compareNumbers = (object, numbers) => {
  const left = new Set(Object.keys(object.values).filter((name) => !isLeftOut(object, name)))
  for (const { name, text } of numbers) {
    const field = left.has(name) ? name : `${name}.v`
    const isOne = left.delete(field) && says(text, ...object.values[field])
    const isSplit = ['wall', 'real'].some((part) => `${name}.${part}` in object.values || (name === '(value)' && part in object.values))
    if (!isOne && !isSplit) differ('numbers', `${object.class.name}: ${name} is ${text}`)
    numbersOf++
  }
  for (const name of left) differ('numbers', `${object.class.name}: ${name} is missing`)
}

let edge = 0
let seen = 0
let inexact = 0
let inHprof = 0
let stringsOf = 0
let bytesOf = 0
for (let node = 0; node < count; node++) {
  const targets = []
  const elements = []
  const numbers = []
  for (let left = nodes[7 * node + 4]; left > 0; left--, edge += 3) {
    const to = edges[edge + 2] / 7
    if (types[nodes[7 * to]] === 'number')
      numbers.push({ name: kinds[edges[edge]] === 'element' ? edges[edge + 1] : texts[edges[edge + 1]], text: texts[nodes[7 * to + 1]] })
    if (kinds[edges[edge]] !== 'weak' && (kinds[edges[edge]] !== 'shortcut' || node === 0) && isObject(to)) {
      targets.push(idOf(to))
      if (kinds[edges[edge]] === 'element') elements.push([edges[edge + 1], idOf(to)])
    }
  }
  if (!isObject(node)) {
    targets.forEach((id) => held.add(id))
    continue
  }
  if (types[nodes[7 * node]] === 'native') targets.splice(0).forEach((id) => held.add(id)) // a stack: what its goroutine keeps
  seen++
  const object = objects.get(idOf(node))
  if (!object) {
    differ('class', `${texts[nodes[7 * node + 1]]} @${idOf(node)} is missing`)
    continue
  }
  inHprof++
  if (types[nodes[7 * node]].endsWith('string') && object.kind === 'instance') {
    if (object.class.name !== 'java/lang/String') differ('class', `${object.class.name} instead of a String`)
    stringsOf++
    continue
  }
  const name = types[nodes[7 * node]].endsWith('string') ? '(string)' : goName(texts[nodes[7 * node + 1]])
  if (!isNamed(object, name)) differ('class', `${object.class.name} instead of ${name}`)
  const others = object.refs.filter(({ name }) => name === '(others)').flatMap(({ to }) => (to === 0 ? [] : objects.get(to).refs))
  const refs = object.refs.filter(({ name }) => name !== '(others)').concat(others)
  const found = refs.map(({ to }) => to).filter((to) => to !== 0)
  if (sorted(found) !== sorted(targets)) differ('edges', `${object.class.name} @${idOf(node)}: ${found} instead of ${targets}`)
  if (object.kind === 'objects' && name.startsWith('[]') && !isFolded && elements.length === targets.length)
    for (const [index, to] of elements.filter(([index]) => index < 1 << 20)) // from there on, the element's number is its offset
      if (object.refs[index]?.to !== to) differ('edges', `${object.class.name} @${idOf(node)}: ${object.refs[index]?.to} at ${index} instead of ${to}`)
  if (object.kind === 'numbers') {
    bytesOf++
    continue
  }
  if (hasNumbers && object.kind === 'instance' && !name.endsWith(' entries')) compareNumbers(object, numbers)
  const size = nodes[7 * node + 3]
  if (object.size !== size) {
    inexact++
    const isFull = object.kind === 'objects' && object.size - size <= 16 && size <= 12 + 4 * object.refs.length
    if (!isFull) differ('size', `${object.class.name}: ${object.size} instead of ${size}`)
  }
  sum(histogram, plain(turned(name)), object.size)
}

const rooted = new Set()
for (const id of roots[5]) for (const { type, value } of classes.get(id).statics) if (type === 2) rooted.add(value)
for (const { id } of roots[3]) rooted.add(id)
for (const { id } of roots[8])
  for (const { name, to } of objects.get(id).refs) {
    if (name === 'stack' && to !== 0) rooted.add(to)
    if (name === 'others' && to !== 0) objects.get(to).refs.forEach(({ to }) => rooted.add(to))
  }
if (sorted([...rooted]) !== sorted([...held])) differ('roots', `${rooted.size} instead of ${held.size}`)


const result = (good, name, why = []) => {
  console.log(`${good ? 'ok' : 'not ok'} - ${name}`)
  for (const line of why) console.log(`# ${line}`)
}
result(wrong.length === 0, `${objects.size} objects of ${classes.size} classes: the file is whole`, wrong)
result(seen > 0 && inHprof === seen && differences.class.length === 0, `all ${seen} objects of the snapshot, with their classes`, differences.class)
result(differences.size.length === 0, `their sizes, but for strings and bytes${inexact ? `; ${inexact} arrays are a word or two larger` : ''}`, differences.size)
result(differences.edges.length === 0, 'each holds what it holds', differences.edges)
if (hasNumbers) result(numbersOf > 0 && differences.numbers.length === 0, `the ${numbersOf} numbers in their fields`, differences.numbers)
// ---- compared with VisualVM

const ofJava = new Set(['java.lang.String', 'byte[]', 'java.lang.Thread', 'java.lang.ThreadGroup', 'java.lang.Object[]'])
if (visualvmFile) {
  const seen = new Map()
  const difference = []
  let strings = 0
  for (const line of readFileSync(visualvmFile, 'utf8').split('\n')) {
    const [what, count, size, name] = line.split('\t')
    if (what !== 'class') continue
    if (name === 'java.lang.String') strings = Number(count)
    if (ofJava.has(name)) continue
    const entry = seen.get(plain(name)) ?? { count: 0, bytes: 0 }
    entry.count += Number(count)
    entry.bytes += Number(size)
    seen.set(plain(name), entry)
  }
  for (const name of new Set([...seen.keys(), ...histogram.keys()])) {
    const one = seen.get(name)
    const other = histogram.get(name)
    if (one?.count !== other?.count || one?.bytes !== other?.bytes) difference.push(`${name}: ${one?.count} of ${one?.bytes} instead of ${other?.count} of ${other?.bytes}`)
  }
  if (strings < stringsOf || (bytesOf > 0 && seen.size === 0)) difference.push(`${strings} strings`)
  result(seen.size > 0 && difference.length === 0, `VisualVM counts the same in ${seen.size} classes`, difference.slice(0, 10))
}
result(differences.roots.length === 0, `the roots hold the same ${held.size} objects`, differences.roots)
