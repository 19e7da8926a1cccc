// Prints what DevTools makes of a timeline: for each of its bars that is not empty the milliseconds since the first one, the bytes, and
// how many objects of a class Summary lists when only this bar is selected.
//
//   timeline.mjs FILE.heaptimeline CLASS

import {loadSnapshot} from './devtools.mjs';

const [path, name] = process.argv.slice(2);
const {worker, problems} = await loadSnapshot(path);
if (problems.length > 0) throw new Error(problems.join('\n'));
let first;
const {timestamps, lastAssignedIds, sizes} = worker.getSamples();
for (const [i, time] of timestamps.entries()) {
  if (sizes[i] === 0) continue;
  const range = {minNodeId: i > 0 ? lastAssignedIds[i - 1] : 0, maxNodeId: lastAssignedIds[i]};
  const rows = Object.values(worker.aggregatesWithFilter(range));
  first ??= time;
  console.log(`${Math.round(time - first)}|${sizes[i]}|${rows.find(row => row.name === name)?.count ?? 0}`);
}
