// Tests what the groups of roots hold, alone and together: compares (held by several) and the native contexts of a snapshot
// with what DevTools' worker computes and with what a walk from each group reaches.
//
//   owners.test.mjs SNAPSHOT WITHOUT [SNAPSHOT WITHOUT]...
//
// WITHOUT is the snapshot of the same dump with --no-contexts. TAP on standard output.

import assert from 'node:assert/strict';
import {basename} from 'node:path';
import {loadSnapshot} from '../devtools/devtools.mjs';
import {end, test} from '../tap.mjs';

/** How many rows (held by several) has at most, and how many groups have a context of their own at most. */
const mostRows = 1000, mostContexts = 20;

const strong = edge => edge.type !== 'weak';
const children = node => node.edges().filter(strong).map(edge => edge.target);
const childNamed = (node, name) => node.edges().map(edge => edge.target).find(target => target.name === name);
const sum = numbers => numbers.reduce((total, number) => total + number, 0);
const prefix = 'system / NativeContext / ';

/** Returns the groups of a snapshot's roots: [{node, kind}]. */
function groupsOf(snapshot) {
  const gcRoots = childNamed(snapshot.root, '(GC roots)'), threads = childNamed(snapshot.root, '(OS threads)'),
    garbage = childNamed(snapshot.root, '(unreachable)');
  const groups = [];
  const globals = childNamed(snapshot.root, '(globals)');
  if (globals) groups.push(...children(globals).filter(node => !node.name.startsWith(prefix)).map(node => ({node, kind: 'package'})));
  for (const group of children(gcRoots)) {
    if (!group.name.startsWith('(') && group.type === 'synthetic' && !group.name.startsWith(prefix)) groups.push({node: group, kind: 'package'});
    else if (group.name === '(goroutines)') groups.push(...children(group).map(node => ({node, kind: 'goroutine'})));
    else if (group.type === 'synthetic' && group.name !== '(held by several)' && !group.name.startsWith(prefix))
      groups.push({node: group, kind: 'other'});
  }
  if (threads) groups.push({node: threads, kind: 'other'});
  groups.push({node: gcRoots, kind: 'other'});
  if (garbage) groups.push({node: garbage, kind: 'garbage'});
  return groups;
}

/** Returns, by ordinal, whether a node belongs to the program's variables: the root's shortcut leads there. */
function programOf(snapshot) {
  const program = new Uint8Array(snapshot.nodeCount);
  const stack = snapshot.root.edges().filter(edge => edge.type === 'shortcut').map(edge => edge.target);
  for (const node of stack) program[node.ordinal] = 1;
  while (stack.length > 0)
    for (const target of children(stack.pop()))
      if (!program[target.ordinal]) {
        program[target.ordinal] = 1;
        stack.push(target);
      }
  return program;
}

/** Returns, by ordinal, the set of groups that reach a node. A group reaches its own node, and nothing by way of another group's node,
 * nor by an edge to what belongs to the program from what does not, unless `program` is undefined. */
function reachedBy(snapshot, groups, program) {
  const sets = Array.from({length: snapshot.nodeCount}, () => new Set());
  const own = new Set(groups.map(group => group.node.ordinal));
  for (const group of groups) {
    const stack = [group.node];
    sets[group.node.ordinal].add(group);
    while (stack.length > 0) {
      const source = stack.pop();
      for (const target of children(source)) {
        if (program && program[target.ordinal] && !program[source.ordinal]) continue;
        if (own.has(target.ordinal) || sets[target.ordinal].has(group)) continue;
        sets[target.ordinal].add(group);
        stack.push(target);
      }
    }
  }
  return sets;
}

/** Returns the parts that the name of something must have by the groups that hold it, and how many parts there are at least. */
function partsOf(groups) {
  const packages = groups.filter(group => group.kind === 'package').map(group => group.node.name);
  const goroutines = groups.filter(group => group.kind === 'goroutine').map(group => group.node.name);
  const others = groups.filter(group => group.kind === 'other').map(group => group.node.name);
  const parts = packages.length > 3 ? [`${packages.length - 2} more packages`] : packages;
  if (goroutines.length === 1) parts.push(goroutines[0]);
  if (goroutines.length > 1)
    parts.push(goroutines.every(name => name.startsWith('goroutine ')) ? `${goroutines.length} goroutines`
      : `goroutines in ${goroutines.length} places`);
  if (others.length === 1) parts.push(others[0]);
  if (others.length > 1) parts.push(`${others.length} other groups of roots`);
  return {parts, count: parts.length + (packages.length > 3 ? 2 : 0)};
}

function checkSeveral(snapshot, groups, sets) {
  const gcRoots = childNamed(snapshot.root, '(GC roots)');
  const above = new Set([snapshot.root, gcRoots, childNamed(snapshot.root, '(globals)'), childNamed(gcRoots, '(goroutines)')]
    .filter(node => node).map(node => node.ordinal));
  const own = new Set(groups.map(group => group.node.ordinal));
  const expected = [], direct = []; // direct: dominated by a node of above, and held by at most one group
  for (let ordinal = 1; ordinal < snapshot.nodeCount; ordinal++) {
    const node = snapshot.node(ordinal);
    if (!above.has(node.dominator.ordinal) || above.has(ordinal) || own.has(ordinal) || node.retainedSize === 0) continue;
    (sets[ordinal].size > 1 ? expected : direct).push(node);
  }
  expected.sort((a, b) => b.retainedSize - a.retainedSize || a.ordinal - b.ordinal);
  const several = childNamed(gcRoots, '(held by several)'), edges = several?.edges() ?? [];
  assert.ok(edges.every(edge => edge.type === 'weak'), 'its edges are weak');
  assert.deepEqual(edges.map(edge => edge.target.ordinal), expected.slice(0, mostRows).map(node => node.ordinal));
  if (expected.length <= mostRows) {
    const rows = [...groups.map(group => group.node).filter(node => !above.has(node.ordinal)), ...direct,
      ...edges.map(edge => edge.target)];
    assert.equal(sum(rows.map(node => node.retainedSize)), snapshot.root.retainedSize, 'rows add up to all');
  }
  for (const {name, target} of edges) {
    const holders = [...sets[target.ordinal]], {parts, count} = partsOf(holders);
    assert.ok(holders.length > 1, `${target} is held by several`);
    for (const part of parts) assert.ok(name.includes(part), `"${name}" says ${part}`);
    assert.ok(name.split(/, | and /).length >= count, `"${name}" has ${count} parts`);
  }
  return edges.length;
}

function checkContexts(snapshot, groups, sets, holding) {
  const {nativeContexts, sharedSize, noAttributionSize} = snapshot.worker.getNativeContextSizes();
  assert.equal(sum(nativeContexts.map(context => context.attributedSize)) + sharedSize + noAttributionSize,
    snapshot.totalSize, 'sizes add up to all');
  assert.equal(noAttributionSize, 0);
  // The context of each group: the one that its edge "map" leads to, or else that of (GC roots), which is that of the rest.
  const contextOf = group => group.node.edges().find(edge => edge.type === 'internal' && edge.name === 'map')?.target.id;
  const gcRoots = groups.find(group => group.node.name === '(GC roots)');
  const contexts = new Map(groups.map(group => [group, contextOf(group) ?? contextOf(gcRoots)]));
  const attributed = new Map(), alone = new Map();
  let shared = 0;
  for (let ordinal = 0; ordinal < snapshot.nodeCount; ordinal++) {
    const size = snapshot.node(ordinal).selfSize, holders = [...sets[ordinal]];
    if (size === 0) continue;
    const held = new Set(holders.map(group => contexts.get(group)));
    if (held.size === 1) attributed.set([...held][0], (attributed.get([...held][0]) ?? 0) + size);
    else shared += size;
    if (holding[ordinal].size === 1) {
      const [holder] = holding[ordinal];
      alone.set(holder, (alone.get(holder) ?? 0) + size);
    }
  }
  assert.equal(sharedSize, shared, 'what is shared between contexts');
  for (const {nodeId, nodeName, attributedSize, retainedSize, selfSize} of nativeContexts) {
    assert.equal(attributedSize, attributed.get(nodeId) ?? 0, nodeName);
    assert.deepEqual([retainedSize, selfSize], [0, 0], nodeName);
    const node = snapshot.nodeById(nodeId);
    assert.ok(node.edges().every(edge => edge.target.ordinal === node.ordinal), `${nodeName} leads nowhere`);
  }
  // Among packages and goroutines, those that alone hold most have contexts of their own.
  const sizes = groups.filter(group => group.kind === 'package' || group.kind === 'goroutine')
    .map(group => ({name: group.node.name, size: alone.get(group) ?? 0, has: contextOf(group) !== undefined}))
    .filter(group => group.size > 0);
  const largest = sizes.map(group => group.size).sort((a, b) => b - a);
  for (const {name, size, has} of sizes) {
    if (size > (largest[mostContexts - 1] ?? 0)) assert.ok(has, `${name} has a context`);
    if (size < (largest[mostContexts - 1] ?? 0)) assert.ok(!has, `${name} has none`);
  }
  assert.equal(sizes.filter(group => group.has).length, Math.min(mostContexts, sizes.length));
}

/** Whether a node is for variables of a package that hold memory together. */
const isTogether = node => node?.type === 'synthetic' && node.retainers().some(edge => edge.name === 'held together');
/** Whether a node is the group of finalizers of one class and function, or of timers with one function. */
const isGrouped = node => node?.type === 'synthetic' && /^[\d,]+ (finalizers( of |$| \()|timers (calling|of|with) )/.test(node.name);
const isGroup = node => isGrouped(node) || isTogether(node);
const timerLists = /^\[\]runtime\.timerWhen$|^\[\]\*runtime\.timer$/;

/** Checks a node for variables that hold memory together: the package's edges to them are its own now, and it has all that they hold. */
function checkTogether(group, without) {
  const strong = node => node.edges().filter(edge => edge.type !== 'weak').map(edge => edge.target);
  const members = strong(group), [parent, ...more] = group.retainers().map(edge => edge.source);
  assert.equal(more.length, 0);
  assert.ok(members.length > 1, `${group} has several members`);
  const had = new Set(strong(without.node(parent.ordinal)).map(node => node.ordinal)), has = new Set(strong(parent).map(node => node.ordinal));
  for (const member of members) {
    assert.ok(had.has(member.ordinal) && !has.has(member.ordinal), `${member} was the package's`);
    if (member.dominator.ordinal === group.ordinal) assert.equal(without.node(member.ordinal).dominator.ordinal, parent.ordinal);
  }
}

/**
 * Checks the nodes that come with contexts and are none: event handlers, and groups of finalizers, timers and variables. Returns how many
 * there are.
 */
function checkAdded(snapshot, without) {
  const added = Array.from({length: snapshot.nodeCount - without.nodeCount}, (_, i) => snapshot.node(without.nodeCount + i))
    .filter(node => !node.name.startsWith(prefix));
  const handlers = added.filter(node => node.name === '(event handlers)'), listeners = added.filter(node => node.name === 'V8EventListener');
  const groups = added.filter(isGrouped), together = added.filter(isTogether);
  assert.deepEqual(added.map(node => node.ordinal), [...groups, ...together, ...handlers, ...listeners].map(node => node.ordinal));
  for (const group of together) checkTogether(group, without);
  assert.deepEqual(handlers.flatMap(node => node.edges().map(edge => edge.target.ordinal)), listeners.map(node => node.ordinal));
  for (const listener of listeners) {
    const [edge, ...more] = listener.edges();
    assert.deepEqual([edge.type, edge.name, more.length, listener.retainedSize], ['weak', '1', 0, 0]);
    if (!timerLists.test(edge.target.name)) assert.match(edge.target.name, /^\((queued )?finalizers\)$|^\(cleanups\)$/);
  }
  for (const group of groups) {
    const members = group.edges().map(edge => edge.target), [parent, ...more] = group.retainers().map(edge => edge.source);
    const [, count, kind, of] = /^([\d,]+) (finalizer|timer)s(.*)$/s.exec(group.name);
    assert.equal(more.length, 0);
    assert.equal(Number(count.replaceAll(',', '')), members.length);
    assert.ok(members.length > 1, `${group} has several members`);
    for (const member of members) {
      const dominators = [member.dominator.ordinal, without.node(member.ordinal).dominator.ordinal];
      if (kind === 'finalizer') {
        assert.ok(`${of} (`.startsWith(`${member.name.replace(/^finalizer/, '')} (`), `${member} belongs to ${group}`);
        assert.deepEqual(dominators, [group.ordinal, parent.ordinal]);
      } else { // which other things may hold as well
        assert.match(parent.name, timerLists);
        assert.ok(without.node(parent.ordinal).edges().some(edge => edge.type !== 'weak' && edge.target.ordinal === member.ordinal));
        assert.equal(dominators[0] === group.ordinal, dominators[1] === parent.ordinal);
      }
    }
  }
  return added.length;
}

/** Checks that all else is as without contexts, but that finalizers in groups, and what these hold, are one edge farther. */
function checkSame(snapshot, without) {
  const isFarther = node => node.ordinal < without.nodeCount && node.distance === without.node(node.ordinal).distance + 1;
  for (let ordinal = 0; ordinal < without.nodeCount; ordinal++) {
    const [one, other] = [snapshot.node(ordinal), without.node(ordinal)];
    const dominator = isGroup(one.dominator) ? one.dominator.dominator : one.dominator;
    assert.deepEqual([one.id, one.name, one.retainedSize, dominator?.ordinal], [other.id, other.name, other.retainedSize, other.dominator?.ordinal]);
    if (one.distance === other.distance) continue;
    assert.ok(isFarther(one), `${one} has the same distance or is one farther`);
    assert.ok(one.retainers().some(edge => isGroup(edge.source) || isFarther(edge.source)), `${one} is farther because of a group`);
  }
}

const files = process.argv.slice(2);
let rows = 0, added = 0;
for (let i = 0; i < files.length; i += 2) {
  const [snapshot, without] = [await loadSnapshot(files[i]), await loadSnapshot(files[i + 1])];
  // DevTools' contexts follow all edges; what groups hold follows only those that count for retained sizes.
  const name = basename(files[i], '.heapsnapshot'), groups = groupsOf(snapshot), sets = reachedBy(snapshot, groups);
  const holding = reachedBy(snapshot, groups, programOf(snapshot));
  test(`${name}: (held by several) has what groups hold together, by their names`, () => {
    rows += checkSeveral(snapshot, groups, holding);
  });
  test(`${name}: contexts have what their groups alone reach`, () => checkContexts(snapshot, groups, sets, holding));
  test(`${name}: contexts change nothing else`, () => {
    assert.deepEqual([...snapshot.problems, ...without.problems], []);
    const more = checkAdded(snapshot, without);
    assert.ok(snapshot.nodeCount - without.nodeCount - more <= mostContexts + 2);
    added += more;
    checkSame(snapshot, without);
    assert.deepEqual(without.worker.getNativeContextSizes().nativeContexts, []);
  });
}
test('some dump has much that several hold', () => assert.ok(rows > 100));
test('some dump has event handlers and groups of finalizers', () => assert.ok(added > 10));
end();
