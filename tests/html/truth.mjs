// What a page has to show, computed from its data in the plainest way, without page.js.

/**
 * A tree of nodes {number, name, kind, count, own, retained, was, wasCount, children, parent} from the columns of the data, as pictures have it:
 * what only repeats the node above ("(GC roots)", the one "goroutine X" of "goroutines X") has no size, and that node has what it holds.
 */
export function nodesOf({names, tree}) {
  const nodes = tree.parent.map((parent, number) => ({
    number, parent, name: names[tree.name[number]] || (number === 0 ? '(the whole heap)' : '(no name)'), package: names[tree.package[number]], kind: tree.kind[number], count: tree.count[number],
    own: tree.bytes[number], was: tree.was?.[number], wasCount: tree.was_count?.[number], children: [],
  }));
  const isGroup = (node, beginning) => node.kind === 0 && node.name.startsWith(beginning), all = [...nodes];
  const repeats = ({own, kind, name, parent, number}) => parent >= 0 && own === 0 && kind === 0 && (parent === 0 ? ['(GC roots)', '(globals)'].includes(name)
    : isGroup(all[parent], 'goroutines ') && name.startsWith('goroutine ') && !all.some(other => other.parent === tree.parent[number] && other.number !== number && isGroup(other, 'goroutine ')));
  const repeated = new Set(nodes.filter(repeats));
  for (const node of nodes) {
    while (node.parent >= 0 && repeated.has(nodes[node.parent])) node.parent = nodes[node.parent].parent;
    if (repeated.has(node) && node.parent > 0) Object.assign(nodes[node.parent], {count: node.count, wasCount: node.wasCount});
  }
  for (const node of nodes) if (node.parent >= 0 && !repeated.has(node)) nodes[node.parent].children.push(node);
  for (const node of repeated) node.isRepetition = true;
  const add = node => node.retained = node.children.reduce((sum, child) => sum + add(child), node.own);
  add(nodes[0]);
  for (const node of repeated) node.retained = 0;
  return nodes;
}

/** Children as the pictures have them: the largest first. */
export const largestFirst = children => [...children].sort((a, b) => (a.kind === 3) - (b.kind === 3) || b.retained - a.retained);

/** 160 B, 1.32 MB: three digits. */
export function bytes(number) {
  const exponent = number < 1000 ? 0 : Math.floor(Math.log10(Number(number.toPrecision(3))) / 3);
  return exponent === 0 ? `${number} B` : `${(number / 1000 ** exponent).toPrecision(3)} ${['B', 'kB', 'MB', 'GB'][exponent]}`;
}

/** A name with controls and what cannot be seen written out. */
export const visible = name => name.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, character => {
  const code = character.codePointAt(0).toString(16);
  return code.length > 4 ? `\\u{${code}}` : `\\u${code.padStart(4, '0')}`;
});

/** The same tree several times below one root, as a stress case: names of copies end in /1, /2 …. */
export function copied(data, copies) {
  const tree = {}, names = [...data.names], size = data.tree.parent.length;
  for (const [column, values] of Object.entries(data.tree)) tree[column] = column === 'more' ? [] : [...values];
  for (let copy = 1; copy < copies; copy++) {
    const first = names.length;
    for (const name of data.names) names.push(`${name}/${copy}`);
    for (let i = 1; i < size; i++) {
      const parent = data.tree.parent[i];
      for (const [column, values] of Object.entries(data.tree)) if (column !== 'more') tree[column].push(values[i]);
      tree.parent[tree.parent.length - 1] = parent === 0 ? 0 : parent + copy * (size - 1);
      tree.name[tree.name.length - 1] = data.tree.name[i] + first;
    }
  }
  return {...data, names, tree};
}
