// The rows of the Memory tab, in the order in which it draws them, as DevTools' worker gives them to the panel: without a browser.
//
//   const snapshot = await loadSnapshot('target.heapsnapshot');
//   summary(snapshot)[0]                   // {name: 'main.T', count, retained}: the class that retains most
//   summary(snapshot, detached)            // only what the filter "Objects retained by detached DOM nodes" leaves
//   compared(base, snapshot)[0]            // {name: 'main.T', addedCount, …}: the class of which most bytes are new
//   children(snapshot.root)                // Containment, below a row: [{edge: 'program', node}, …]
//   retainers(node)                        // the rows that the Retainers pane opens by itself: [{edge: 'f8', node}, …]

import {comparison} from './devtools.mjs';

/** Of Summary's filter: what leaked goroutines keep. */
export const detached = {filterName: 'objectsRetainedByDetachedDomNodes'};

const MOST_ROWS = 50; // of one level, which the panel draws before "Show more"
const MOST_EXPANDED = 20; // levels of Retainers: HeapSnapshotRetainingObjectNode.expandRetainersChain()

const byName = (one, other) => Number(one.name > other.name) - Number(one.name < other.name);

export function summary(snapshot, filter = {}) {
  return Object.values(snapshot.worker.aggregatesWithFilter(filter))
    .map(({name, count, maxRet: retained, idxs}) => ({name, count, retained, node: snapshot.node(idxs[0] / snapshot.worker.nodeFieldCount)}))
    .sort((one, other) => other.retained - one.retained || byName(one, other));
}

export function compared(base, target) {
  return Object.values(comparison(base, target)).sort((one, other) => other.addedSize - one.addedSize || byName(one, other));
}

function rowsOf(snapshot, provider, ...order) {
  const [fieldName1, ascending1, fieldName2, ascending2] = order;
  provider.sortAndRewind({fieldName1, ascending1, fieldName2, ascending2});
  return provider.serializeItemsRange(0, MOST_ROWS).items.map(({name, type, node}) =>
    ({edge: name, type, node: snapshot.node(node.nodeIndex / snapshot.worker.nodeFieldCount)}));
}

export function children({snapshot, index}) {
  return rowsOf(snapshot, snapshot.worker.createEdgesProvider(index), 'retainedSize', false, '!edgeName', true);
}

export function retainers({snapshot, index}) {
  const drawn = [], below = [];
  for (let at = index, levels = MOST_EXPANDED; levels > 0; levels--) {
    const [first, ...rest] = rowsOf(snapshot, snapshot.worker.createRetainingEdgesProvider(at), '!edgeDistance', true, 'name', true);
    if (first === undefined) break;
    drawn.push(first);
    below.unshift(...rest);
    if (!(first.node.distance > 1)) break;
    at = first.node.index;
  }
  return [...drawn, ...below];
}
