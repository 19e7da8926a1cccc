// Plans of programs that once had a fault, each as small as it shows the fault: they stay, while seeds mean other programs as soon as the
// grammar changes. All kinds of faults fail these. only: how it is built; else plain and stripped.

const plant = (seed, number, container, element, holder, count, grows, more = {}) => ({number, tag: `${seed}_${number}`, container, element, holder, count, grows, ...more});
const plan = (seed, plants, more = {}) => ({seed, plants, waits: [], garbage: 0, moment: 'after', read: 'pid', compares: true, series: false, also: 'threads', ...more});

export const cases = [
  // A variable with two fields that hold something, one of which is an emptied pool in the next dump, grew by all that it held.
  plan(1, [plant(1, 1, 'linked', 'string', 'global_sync_map', 4000, 6000), plant(1, 2, 'linked', 'string', 'pool_of_structs', 4000, 0, {types: '1_1', twin: 1})], {moment: 'before', only: 'plain'}),
  // DWARF has "&c" for a variable that a closure holds by value and sends to a channel: c's first word was followed as if it were c.
  plan(2, [plant(2, 1, 'skiplist', 'boxed_slice', 'goroutine_closure', 1500, 500)]),
  // An object that only a stack's closure leads to: the first word of *c was taken for c, as in program 2.
  plan(3, [plant(3, 1, 'skiplist', 'small', 'goroutine_deep', 1500, 500)]),
  // The bits of deferred calls, a byte before a pointer, and the closure's code beside it, hid the pointer's type in stripped programs.
  plan(4, [plant(4, 1, 'linked', 'small', 'deferred', 8000, 3000)]),
  // The memory of the entries of a map whose type has a name was a class beside the map before Go 1.24.
  plan(5, [plant(5, 1, 'named_map', 'locked', 'global_slice', 9000, 4000)]),
  // The C of var v = &H{"x", &C{}}, which no code names, was a part of the variable before it, whose address code takes: stripped programs.
  plan(6, [plant(6, 1, 'map_string', 'locked', 'global_static', 9000, 4000), plant(6, 2, 'linked', 'small', 'global_atomic_pointer', 2000, 0)]),
  // What atomic.Pointer stores, by a call of sync/atomic.StorePointer, had no type in stripped programs.
  plan(7, [plant(7, 1, 'linked', 'small', 'global_atomic_pointer', 8000, 3000)]),
  // The same as program 2 where the C is as large as a pointer: the layout with which the closure is allocated says what it holds.
  plan(8, [plant(8, 1, 'tree', 'small', 'timer_global', 8000, 3000)]),
];
