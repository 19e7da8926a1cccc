// Reads from a snapshot of a live process, with DevTools, what points into memory outside of the heap.

import {checkSnapshot} from '../devtools/check-snapshot.mjs';
import {loadSnapshot} from '../devtools/devtools.mjs';

/**
 * Returns the weak edges that lead to mappings, as "main.T data 33.6 MB table.db". Throws an error if the snapshot breaks a
 * promise, or if a mapping is more than a name: it has no size and holds nothing, and only "(mappings)" holds it.
 */
export async function mappingsOf(path) {
  for (const {name, problem} of await checkSnapshot(path)) if (problem) throw new Error(`${name}: ${problem}`);
  const snapshot = await loadSnapshot(path);
  const [group] = snapshot.nodesByName('(mappings)');
  if (group?.retainedSize !== 0) throw new Error(group ? `${group.retainedSize} bytes of mappings` : 'no mappings');
  return group.edges().flatMap(({target}) => {
    const edges = target.retainers(), strong = edges.filter(edge => edge.type !== 'weak');
    const holds = target.edges().some(edge => edge.type !== 'weak');
    if (target.type !== 'synthetic' || target.selfSize !== 0 || holds) throw new Error(`${target} is large`);
    if (strong.length !== 1 || strong[0].source.id !== group.id) throw new Error(`${target} is held by ${strong.map(edge => edge.source)}`);
    return edges.filter(edge => edge.type === 'weak').map(edge => `${edge.source.name} ${edge.name} ${target.name}`);
  });
}
