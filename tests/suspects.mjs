// What holds of any report as JSON, whatever the heap: of its suspects, and of its other figures.
//
// | suites | check |
// |---|---|
// | golden | each report as JSON: suspects and figures |
// | answers, zoo | the suspects of live programs |

/** Returns what is wrong with the suspects of a report: a text for each. */
export function wrongSuspects({heap, since, suspects}) {
  const wrong = [];
  const check = (is, suspect, text) => is || wrong.push(`${suspect.item}, ${suspect.held_by}: ${text}`);
  let sum = 0;
  for (const suspect of suspects ?? []) {
    if (suspect.is_outside || !suspect.item) continue;
    const {retained, each, container} = suspect;
    sum += retained;
    const holders = [suspect.held_by, ...(suspect.shared_by?.split(', ') ?? [])].map((holder) => holder?.replace(/ {2}\(.*$/, '')); // without where these are
    const isHeld = holders.some((holder) => suspect.example?.startsWith(holder));
    check(!container || !suspect.example || isHeld, suspect, `the example ${suspect.example} is not in it`);
    if (container) check(suspect.entries === undefined || (suspect.in?.count > 1 ? suspect.entries >= container.entries : suspect.entries === container.entries), suspect, `${suspect.entries} entries, but len is ${container.entries}`);
    if (!each) continue;
    const count = suspect.is_entries ? suspect.entries : suspect.count;
    check(each.retained === Math.floor(retained / count), suspect, `each ${each.retained} × ${count} are not ${retained}`);
    const parts = (each.parts ?? []).reduce((all, {bytes}) => all + bytes, 0) + (each.slots ?? 0) + (each.rest ?? 0);
    check(!each.parts || parts === each.retained, suspect, `the parts of ${each.retained} are ${parts}`);
  }
  if (!since && sum > heap.reachable) wrong.push(`the suspects have ${sum} of ${heap.reachable}`); // what shrank is in no suspect
  return wrong;
}

/** Returns what is wrong with the figures of a report: sums, and the order of its rows. */
export function wrongFigures({heap, since, classes, tree, goroutines, leaked, process: system, waste}) {
  const wrong = [];
  const check = (is, text) => is || wrong.push(text);
  const sum = (rows, of) => rows.reduce((all, row) => all + of(row), 0);
  const isSorted = (rows, of) => rows.every((row, i) => i === 0 || of(row) <= of(rows[i - 1]));
  check(heap.reachable + heap.garbage === heap.bytes + (heap.stacks ?? 0), `${heap.reachable} reachable and ${heap.garbage} of garbage are not ${heap.bytes} with ${heap.stacks} of stacks`);
  if (system?.rss) check(sum(Object.values(system.rss.parts), (bytes) => bytes) === system.rss.bytes, `the parts of RSS are not ${system.rss.bytes}`);
  if (system?.bytes !== undefined) check(system.objects + system.free + system.stacks + system.runtime === system.bytes, `the parts of the process are not ${system.bytes}`);
  for (const {place, count, leaked: of = 0} of goroutines ?? []) check(of <= count, `${of} of ${count} are leaked: ${place}`);
  if (leaked?.count !== undefined) check(leaked.count <= leaked.blocked && sum(goroutines ?? [], (row) => row.leaked ?? 0) <= leaked.count, `${leaked.count} of ${leaked.blocked} goroutines are leaked`);
  if (since) return wrong; // what shrank is in no row
  check(sum(classes ?? [], (row) => row.bytes) <= heap.bytes && sum(classes ?? [], (row) => row.objects) <= heap.objects, 'the classes have more than the heap');
  check(isSorted(classes ?? [], (row) => row.bytes), 'the classes are not sorted');
  check(sum(goroutines ?? [], (row) => row.count) <= heap.goroutines, `more goroutines than ${heap.goroutines}`);
  for (const kind of ['slices', 'stale', 'maps', 'substrings', 'strings', 'spans', 'rounding']) {
    const rows = waste?.[kind]?.places ?? waste?.[kind]?.types ?? waste?.[kind]?.texts ?? waste?.[kind]?.classes ?? [];
    check(isSorted(rows, (row) => row.wasted) && sum(rows, (row) => row.wasted) <= (waste?.[kind]?.wasted ?? 0), `the rows of waste: ${kind}`);
  }
  (function walk(nodes, most, above) {
    check(sum(nodes, (node) => node.retained) <= most, `what ${above} holds retains more than ${most}`);
    for (const node of nodes) walk(node.holds, node.retained - node.bytes, node.name);
  })(tree ?? [], heap.reachable, 'the tree');
  return wrong;
}
