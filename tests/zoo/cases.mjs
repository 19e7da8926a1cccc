// Plans of programs that once had a fault, each as small as it shows the fault: they stay, while seeds mean other programs as soon as the
// grammar changes. All kinds of faults fail these.

const plant = (seed, number, container, element, holder, count, grows, more = {}) => ({number, tag: `${seed}_${number}`, container, element, holder, count, grows, ...more});
const plan = (seed, plants, more = {}) => ({seed, plants, waits: [], garbage: 0, moment: 'after', read: 'pid', compares: true, series: false, also: 'threads', ...more});

export const cases = [
  // A variable with two fields that hold something, one of which is an emptied pool in the next dump, grew by all that it held.
  plan(1, [plant(1, 1, 'linked', 'string', 'global_sync_map', 4000, 6000), plant(1, 2, 'linked', 'string', 'pool_of_structs', 4000, 0, {types: '1_1', twin: 1})], {moment: 'before'}),
];
