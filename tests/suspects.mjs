// What holds of the suspects of any report as JSON, whatever the heap.
//
// | suites | check |
// |---|---|
// | golden | each report as JSON |
// | answers, zoo | those of live programs |

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
    if (container && !container.is_of_other) check(suspect.entries === undefined || suspect.entries === container.entries, suspect, `${suspect.entries} entries, but len is ${container.entries}`);
    if (!each) continue;
    const count = suspect.is_entries ? suspect.entries : suspect.count;
    check(each.retained === Math.floor(retained / count), suspect, `each ${each.retained} × ${count} are not ${retained}`);
    const parts = (each.parts ?? []).reduce((all, {bytes}) => all + bytes, 0) + (each.slots ?? 0) + (each.rest ?? 0);
    check(!each.parts || parts === each.retained, suspect, `the parts of ${each.retained} are ${parts}`);
  }
  if (!since && sum > heap.reachable) wrong.push(`the suspects have ${sum} of ${heap.reachable}`); // what shrank is in no suspect
  return wrong;
}
