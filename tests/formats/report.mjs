// Checks the report of a planted leak: what leaks must be the first suspect, with the name of its variable. TAP on standard
// output.
//
//   report.mjs NAME LEAK REPORT.txt      LEAK: one of tests/formats/planted

import {readFileSync} from 'node:fs';

import {end, report} from '../tap.mjs';

const [name, leak, path] = process.argv.slice(2);

/**
 * For each leak: the class of what leaks, what holds it, and how many there are (20000 if not given); then what holds the
 * second suspect, if there are two.
 */
const expected = {
  map: ['main.record', 'main.byName["record '],
  slice: ['main.record', 'main.history['],
  channel: ['main.record', 'main.queue.buf['],
  closure: ['main.record', 'main.callbacks['],
  goroutine: ['goroutines [chan send] main.send \\S+', 'hold .*main.record', 2000],
  conn: ['main.conn', 'main.conns["record ', 2000],
  timer: ['(time.Timer|runtime.timeTimer)', 'main.timers['],
  context: ['context.valueCtx', 'main.contexts['],
  pool: ['main.record', 'main.pooled['],
  syncmap: ['main\\.record', 'main.shared'],
  finalizer: ['main.node', 'main.finalized'],
  lru: ['main.record', 'main.cache.'],
  pointer: ['main.record', 'main.current.cache.records["record '],
  list: ['main.node', 'main.head'],
  interface: ['main.record', 'main.interfaces['],
  nested: ['main.record', 'main.nested["tenant '],
  keys: ['main.record', 'main.subscribers['],
  shards: ['main.record', 'main.shards[.*].records["record ', 20000, /\n      held by     main\.shards\[\d\]\.waiting(, a slice of [\d,]+ entries(, one of \d+)?)?\n/],
}[leak];

const text = readFileSync(path, 'utf8');
const suspects = /^WHO HOLDS THE MEMORY\n([^]*?)\n\n/m.exec(text)?.[1] ?? '';
const [first, second = ''] = suspects.split(/\n(?=  \d  )/);
const quoted = pattern => pattern.replace(/[.["]/g, match => `\\${match}`).replace(/\\\.\*/g, '.*');
if (!expected) {
  report(`${name}, ${leak}: nothing stands out`, suspects === '  Nothing that holds 5 % of the heap stands out.' ? undefined : suspects);
} else {
  const [item, holder, count = 20000, beside] = expected;
  const number = count.toLocaleString('en');
  const isItem = new RegExp(`^  1 .* of the heap   ${number} ${leak === 'goroutine' || leak === 'timer' || leak === 'syncmap' ? item.replace(/\[/g, '\\[') : quoted(item)}(, in .*)?$`, 'm');
  report(`${name}, ${leak}: is the first suspect`, isItem.test(first) ? undefined : suspects);
  report(`${name}, ${leak}: its variable is named`, new RegExp(`^      (held by     |example     |)${quoted(holder)}`, 'm').test(first) ? undefined : suspects);
  if (beside)
    report(`${name}, ${leak}: what leaks beside it is the second one`, beside.test(second) ? undefined : suspects);
}
end();
