// The script of the page that --format html writes. It draws what the element #data has, which docs/html.md describes, and
// loads nothing. All names in there come from the program that was looked at and may be hostile: they become text, by
// make() and visible(), and keys of Maps. Nothing of this page makes HTML, styles or code of text; the page's policy forbids
// it, and demands trusted types, of which there are none.
'use strict';
(() => {

const data = JSON.parse(document.getElementById('data').textContent);
const {report, names, tree} = data;
const since = report.since; // what has grown, if there is a base: from the first dump to the last one

// ---- elements and texts ----

/** Makes an element. Of the attributes, on has listeners by event, style has properties; undefined and false are left out. */
function make(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (name === 'on') for (const [event, listener] of Object.entries(value)) element.addEventListener(event, listener);
    else if (name === 'style') for (const [property, text] of Object.entries(value)) element.style.setProperty(property, text);
    else if (value !== undefined && value !== false) element.setAttribute(name, value === true ? '' : value);
  }
  return fill(element, ...children);
}
/** Puts children into an element instead of those that it has. Children may be lists; undefined and false are left out. */
function fill(element, ...children) {
  element.replaceChildren(...children.flat(9).filter(child => child !== undefined && child !== null && child !== false));
  return element;
}

/** Makes an element of a drawing. */
function draw(tag, attributes, ...children) {
  const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

/** What a name looks like: controls, and characters that cannot be seen or that reorder others, are written as \u202e. */
const visible = text => String(text).replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu, character => {
  const code = character.codePointAt(0).toString(16);
  return code.length > 4 ? `\\u{${code}}` : `\\u${code.padStart(4, '0')}`;
});
const code = text => make('bdi', {}, visible(text));

/** 160 B, 1.32 MB, 701 kB: as the report writes sizes. */
function bytes(size) {
  const units = ['B', 'kB', 'MB', 'GB', 'TB', 'PB', 'EB'];
  let value = Math.abs(size), unit = 0;
  for (; value >= 999.5 && unit < units.length - 1; unit++) value /= 1000;
  return `${size < 0 ? '−' : ''}${unit > 0 ? value.toPrecision(3) : value} ${units[unit]}`;
}
const count = number => (number < 0 ? '−' : '') + Math.abs(number).toLocaleString('en-US');
/** A change with its sign; · for none. */
const signed = (change, format) => change > 0 ? `+${format(change)}` : change < 0 ? format(change) : '·';
function percent(part, whole) {
  if (!whole) return '';
  const value = 100 * part / whole;
  return `${Math.abs(value) < 9.95 ? value.toFixed(1) : Math.round(value)} %`;
}
const several = (number, one, many = `${one}s`) => `${count(number)} ${number === 1 ? one : many}`;

// Moments are in the time zone of the reader, who compares them with graphs and logs; with dates if the dumps are of several days.
const times = data.series?.dumps.map(dump => dump.time) ?? [];
const hasTimes = times[0] !== undefined, firstTime = times[0], lastTime = times[times.length - 1];
const isLong = new Date(firstTime).toDateString() !== new Date(lastTime).toDateString();
const twoDigits = number => String(number).padStart(2, '0');
function momentOf(time, step = 1000) {
  const date = new Date(time), day = `${date.getFullYear()}-${twoDigits(date.getMonth() + 1)}-${twoDigits(date.getDate())}`;
  const clock = `${twoDigits(date.getHours())}:${twoDigits(date.getMinutes())}${step < 60_000 ? `:${twoDigits(date.getSeconds())}` : ''}`;
  return step >= 86_400_000 ? day.slice(5) : isLong ? `${day.slice(5)} ${clock}` : clock;
}
/** 45 s, 29 min, 2 h 10 min, 14 days. */
function durationOf(milliseconds) {
  const seconds = Math.round(milliseconds / 1000), minutes = Math.floor(seconds / 60), hours = Math.floor(minutes / 60);
  if (hours >= 48) return `${Math.round(hours / 24)} days`;
  if (hours > 0) return `${hours} h${minutes % 60 ? ` ${minutes % 60} min` : ''}`;
  return minutes > 0 ? `${minutes} min${seconds % 60 ? ` ${seconds % 60} s` : ''}` : `${seconds} s`;
}
const directionOf = change => change > 0 ? 'grown' : change < 0 ? 'shrunk' : '';
const baseName = path => path.split('/').pop();

const button = (text, click, attributes) => make('button', {type: 'button', on: {click}, ...attributes}, text);
const link = (text, click) => button(text, click, {class: 'link code'});
const note = text => make('p', {class: 'dim small'}, text);

/** A button that copies a text. Where the browser gives no access to the clipboard, the text is selected instead. */
function copyButton(text, element) {
  const copy = button('Copy', async () => {
    getSelection().selectAllChildren(element());
    try {
      await navigator.clipboard.writeText(text());
    } catch {
      if (!document.execCommand('copy')) return;
    }
    copy.className = 'copied';
    setTimeout(() => copy.className = '', 2000);
  });
  return copy;
}

/** A Go expression in a box: a click on it selects it. */
function expressionBox(expression) {
  const text = make('bdi', {}, visible(expression));
  return make('div', {class: 'expression'}, text, copyButton(() => visible(expression), () => text));
}

/** A bar of parts [name, bytes, class of its colour], and what they are. */
function partsBar(parts) {
  const there = parts.filter(part => part[1] > 0), sum = there.reduce((all, part) => all + part[1], 0);
  return [
    make('div', {class: 'parts', role: 'img', 'aria-label': there.map(([name, size]) => `${name} ${bytes(size)}`).join(', ')},
      there.map(([, size, colour]) => make('i', {class: colour, style: {width: `${100 * size / sum}%`}}))),
    make('div', {class: 'legend'}, there.map(([name, size, colour]) =>
      make('span', {}, make('i', {class: `swatch ${colour}`}), make('bdi', {}, name), ` ${bytes(size)}`))),
  ];
}

// ---- the tree: what nodes are, hold, and have grown by ----

const GROUP = 0, VARIABLE = 1, CLASS = 2, MORE = 3; // kinds of nodes
const size = tree.parent.length, parents = Int32Array.from(tree.parent);
const retained = Float64Array.from(tree.bytes), was = tree.was ? Float64Array.from(tree.was) : undefined;
const depths = new Uint16Array(size), below = Array.from({length: size}, () => []);
for (let i = size - 1; i > 0; i--) retained[parents[i]] += retained[i];

// What could be freed without a node: pages, and of these what is free slots now. Only if the heap knows its spans.
const hasPages = tree.pages !== undefined, pages = Float64Array.from(tree.pages ?? []), freeSlots = Float64Array.from(tree.free_slots ?? []);
for (let i = pages.length - 1; i > 0; i--) {
  pages[parents[i]] += pages[i];
  freeSlots[parents[i]] += freeSlots[i];
}

// Bytes by age, of a process that was watched: those that had survived a collection before the watch, in each quarter of it, or not yet.
const hasAges = tree.aged !== undefined, ageGroups = (tree.aged ?? []).map(column => Float64Array.from(column)), LAST_GROUP = ageGroups.length - 1;
for (const group of ageGroups) for (let i = size - 1; i > 0; i--) group[parents[i]] += group[i];
/** Bytes that had survived a collection by the end of a group, by node. */
const survived = ageGroups.map((_, last) => Float64Array.from({length: size}, (_, i) => ageGroups.slice(0, last + 1).reduce((sum, group) => sum + group[i], 0)));
/** How long ago the end of a group was. */
const agoOf = group => durationOf(tree.watched_ms * (LAST_GROUP - 1 - group) / (LAST_GROUP - 1));

const nameOf = i => names[tree.name[i]] || (i === 0 ? '(the whole heap)' : '(no name)'), packageOf = i => names[tree.package[i]];

const isMany = i => tree.kind[i] === GROUP && nameOf(i).startsWith('goroutines ');
const isOne = i => tree.kind[i] === GROUP && nameOf(i).startsWith('goroutine ');
const oneBelow = new Uint8Array(size); // how many "goroutine X" are below "goroutines X", up to two
for (let i = 1; i < size; i++) if (isOne(i)) oneBelow[tree.parent[i]] = Math.min(2, oneBelow[tree.parent[i]] + 1);

/** Whether a node only repeats what is above: "(GC roots)" of the whole heap, the one "goroutine X" of "goroutines X". */
function isRepetition(i) {
  const above = tree.parent[i];
  if (tree.kind[i] !== GROUP || tree.bytes[i] > 0) return false;
  return above === 0 ? /^\((GC roots|globals)\)$/.test(nameOf(i)) : isMany(above) && isOne(i) && oneBelow[above] === 1;
}
const shownAs = new Int32Array(size); // itself or, of a repetition, what is above it, which is drawn in its place
for (let i = 1; i < size; i++) {
  const above = parents[i] = shownAs[tree.parent[i]];
  shownAs[i] = isRepetition(i) ? above : i;
  if (shownAs[i] === i) {
    below[above].push(i);
    depths[i] = depths[above] + 1;
  } else if (above > 0) {
    tree.count[above] = tree.count[i];
    if (was) tree.was_count[above] = tree.was_count[i];
  }
}
const change = i => was ? retained[i] - was[i] : 0;
const moreBranches = new Map(tree.more ?? []);

// By how much a branch grew, without what shrank beside it. So the areas of a picture of growth fit into each other, while
// the labels say by how much the branch as a whole has grown.
const grown = new Float64Array(was ? size : 0);
function sumGrowth() {
  for (let i = grown.length - 1; i >= 0; i--) {
    let inner = 0;
    for (const child of below[i]) inner += grown[child];
    grown[i] = Math.max(0, change(i), inner);
  }
}
sumGrowth();

// ---- any two dumps of a series ----

// The numbers of the dumps that can be compared, the last one included, and what is compared: places in this list.
const comparedDumps = data.series ? [...data.series.compared.dumps, data.series.dumps.length - 1] : [];
const lastCompared = comparedDumps.length - 1, compared = {from: 0, to: lastCompared};
const nameOfDump = at => hasTimes ? momentOf(times[comparedDumps[at]]) : `${comparedDumps[at] + 1}: ${visible(baseName(data.series.dumps[comparedDumps[at]].source))}`;
const isLast = () => compared.to === lastCompared;

/** What all nodes retained in a dump, and their counts. Each dump has only what differs from the one before. */
const treesOfDumps = new Map();
if (data.series) {
  treesOfDumps.set(0, [Float64Array.from(tree.was), Float64Array.from(tree.was_count)]);
  treesOfDumps.set(lastCompared, [retained.slice(), Float64Array.from(tree.count)]);
}
function treeOfDump(at) {
  if (treesOfDumps.has(at)) return treesOfDumps.get(at);
  const [before, counts] = treeOfDump(at - 1), values = before.slice(), numbers = counts.slice(), changes = data.series.compared.changes[at - 1];
  for (let i = 0; i < changes.length; i += 3) {
    values[changes[i]] = changes[i + 1];
    numbers[changes[i]] = changes[i + 2];
  }
  treesOfDumps.set(at, [values, numbers]);
  return treesOfDumps.get(at);
}

const pastClasses = new Map(data.series?.compared.classes.map(row => [row.name, row]) ?? []);
/** The objects and bytes of a class in a dump, of a row of report.classes; those that are not listed have not changed. */
function classOfDump(row, at) {
  const past = pastClasses.get(row.class);
  return at === lastCompared || !past ? {objects: row.objects, bytes: row.bytes} : {objects: past.objects[at], bytes: past.bytes[at]};
}

/** Compares two dumps: all that says how large something is and how it has grown is of these from now on. */
function compareDumps(from, to) {
  const [before, countsBefore] = treeOfDump(from), [now, counts] = treeOfDump(to);
  Object.assign(compared, {from, to});
  was.set(before);
  retained.set(now);
  tree.was_count = Array.from(countsBefore);
  tree.count = Array.from(counts);
  for (let i = 1; i < size; i++) {
    if (shownAs[i] === i || tree.parent[i] <= 0) continue;
    tree.count[shownAs[i]] = tree.count[i];
    tree.was_count[shownAs[i]] = tree.was_count[i];
  }
  sumGrowth();
  if (!isLast()) { // pages and ages are known of the last dump only
    if (state.by === 'pages') state.by = 'now';
    if (state.colour === 'age') state.colour = 'package';
    state.since = 'all';
  }
  sortedChildren.clear();
  hitList = undefined;
}

/** The children of a node that have a value, the largest first. They are sorted when they are needed. */
const sortedChildren = new Map();
function childrenOf(i) {
  const values = areas(), isHiding = state.library === 'hide', key = isHiding ? `shown ${state.by} ${state.since}` : values;
  if (!sortedChildren.has(key)) sortedChildren.set(key, []);
  const known = sortedChildren.get(key);
  return known[i] ??= below[i].filter(child => values[child] > 0 && !(isHiding && onlyStandard[child]))
    .sort((a, b) => (tree.kind[a] === MORE) - (tree.kind[b] === MORE) || values[b] - values[a]);
}

/** The share of the reachable heap, which is what all percentages of the page are of. */
const reachable = () => isLast() ? report.heap.reachable : data.series.dumps[comparedDumps[compared.to]].reachable;
const shareOf = i => i === 0 ? '' : percent(retained[i], reachable());

/** The nodes from the root to a node. */
function trailOf(i) {
  const trail = [];
  for (; i >= 0; i = parents[i]) trail.push(i);
  return trail.reverse();
}

function labelOf(i, isShort) {
  if (tree.kind[i] === MORE) return several(moreBranches.get(i) ?? 0, 'smaller branch', 'smaller branches');
  if (tree.kind[i] === GROUP && nameOf(i).startsWith('goroutine stack ')) return tree.count[i] > 1 ? 'stacks' : 'stack';
  if (isMany(i)) return `${isShort ? '' : `${count(tree.count[i])} `}${visible(nameOf(i))}`;
  return (tree.kind[i] === CLASS && tree.count[i] > 1 && !isShort ? `${count(tree.count[i])} × ` : '') + visible(nameOf(i));
}

/** Sentences about what is not the program's own. */
const groups = new Map([
  ['(the whole heap)', 'Everything that was allocated: reachable objects and garbage.'],
  ['(root)', 'Everything that was allocated: reachable objects and garbage.'],
  ['(GC roots)', 'Reachable objects: the collector starts here.'],
  ['(globals)', 'Package variables, and what only they hold.'],
  ['(goroutines)', 'Goroutine stacks, and what only their variables hold.'],
  ['(held by several)', 'Objects that more than one package or goroutine reaches: none of these alone keeps them alive.'],
  ['(unreachable)', 'Garbage that the collector has not freed yet. Nothing holds it.'],
  ['(finalizers)', 'Objects that only their finalizers hold.'],
  ['(queued finalizers)', 'Objects whose finalizers are waiting to run.'],
  ['(cleanups)', 'Objects that only cleanups and weak pointers hold.'],
  ['(defers and panics)', 'Objects that only deferred calls and panics hold.'],
  ['(other roots)', 'Objects that other parts of the runtime hold.'],
  ['(string)', 'The bytes of strings.'],
  ['(tiny block)', 'Small values without pointers, several in one 16-byte slot.'],
]);
function sentenceOf(i) {
  const name = nameOf(i), above = i > 0 ? nameOf(tree.parent[i]) : '';
  if (tree.kind[i] === MORE) return 'All branches that are too small for this page.';
  if (groups.has(name)) return groups.get(name);
  if (above === '(held by several)') return 'Together they hold what is below: it stays alive until all of them release it.';
  if (above === '(globals)') return 'A package: what only its variables hold.';
  if (above === '(goroutines)') return 'Goroutines at one location, and what only they hold.';
  if (tree.kind[i] === VARIABLE) return packageOf(i) ? ['A variable of ', code(packageOf(i)), '.'] : 'A variable.';
  return '';
}

// ---- colours ----

// The packages that have most bytes of their own get a colour each.
const packageBytes = new Map();
for (let i = 0; i < size; i++) {
  if (tree.kind[i] !== CLASS || packageOf(i) === 'builtin' || packageOf(i) === '') continue;
  packageBytes.set(tree.package[i], (packageBytes.get(tree.package[i]) ?? 0) + tree.bytes[i]);
}
const colouredPackages = [...packageBytes].sort((a, b) => b[1] - a[1]).slice(0, 5).map(([number]) => number);
const packageColours = new Map(colouredPackages.map((number, i) => [number, `package${i}`]));

function packageColour(i) {
  if (tree.kind[i] === GROUP || tree.kind[i] === VARIABLE) return 'root';
  return packageColours.get(tree.package[i]) ?? (packageOf(i) === 'builtin' ? 'builtin' : 'other');
}
function growthColour(i) {
  const share = Math.abs(change(i)) < grown[0] / 1000 ? 0 : change(i) / (retained[i] || 1);
  if (share < -.01) return 'less';
  return share < .01 ? 'growth0' : share < .25 ? 'growth1' : share < .5 ? 'growth2' : share < .8 ? 'growth3' : 'growth4';
}
/** By the age that half of the bytes have, or are older than. */
function ageColour(i) {
  if (tree.kind[i] === GROUP || tree.kind[i] === VARIABLE) return 'root';
  const all = survived[LAST_GROUP][i];
  if (all === 0) return 'ageless';
  const group = survived.findIndex(bytesOf => 2 * bytesOf[i] >= all);
  return group === 0 ? 'age3' : group === LAST_GROUP ? 'age0' : 2 * group < LAST_GROUP ? 'age2' : 'age1';
}
const colourNames = new Map([
  ...colouredPackages.map(number => [packageColours.get(number), visible(names[number])]),
  ['builtin', 'Go’s own types: string, slice, map, chan'], ['other', 'other packages'], ['root', 'roots, variables'],
  ['growth0', 'unchanged'], ['growth1', '< 25 % new'], ['growth2', '< 50 % new'], ['growth3', '< 80 % new'],
  ['growth4', '> 80 % new'], ['less', 'shrunk'],
  ...hasAges ? [['age3', 'half from the start'], ['age2', `half older than ${agoOf(LAST_GROUP / 2 - .5)}`], ['age1', 'half survived a collection'],
    ['age0', 'half new since the last collection'], ['ageless', 'age not known']] : [],
]);

// ---- the standard library, which can be dimmed or hidden ----

// By the names of packages, which are all that names of types have. Those that programs use for their own are not here.
const standardPackages = new Set(`adler32 aes asn1 atomic base64 big bufio bytes bzip2 cipher context cookiejar crc32 crc64 crypto
  csv des driver ecdh ecdsa ed25519 elliptic expvar fips140 flag flate fmt fnv fs gob godebug gzip hmac hpack http http2 httptest httptrace httputil
  internal io jpeg json log lzw maphash maps md5 mime multipart net netip os poll pprof quotedprintable rand reflect regexp rpc rsa
  runtime sha1 sha256 sha3 sha512 slog sort sql strconv strings sync syntax syscall textproto tls trace unicode unique unsafe utf8
  vendor weak x509 xml zip zlib`.split(/\s+/));

/** Of a whole path, "crypto/internal/fips140/rsa", the beginning counts. Variables of functions have these as their package. */
const isStandardPackage = path => standardPackages.has(/^[^/. ]*/.exec(path)[0]);

/** Whether functions or types of a text, "[select] http.(*conn).serve ← http.(*Server).Serve", are all of the standard library. */
function isStandardText(text) {
  const packages = [...text.replace(/^[^[]*\[[^\]]*\] /, '').split(' ← ')].map(one => /^(?:.*\/)?([\w]+)\./.exec(one)?.[1]);
  return packages.length > 0 && packages.every(name => standardPackages.has(name));
}

/** Whether a node is of the standard library; undefined: as what holds it. */
function isStandardNode(i) {
  const name = nameOf(i), kind = tree.kind[i];
  if (kind === CLASS || (kind === VARIABLE && packageOf(i) !== '')) return packageOf(i) === 'builtin' ? undefined : isStandardPackage(packageOf(i));
  if (kind !== GROUP || name.startsWith('(')) return undefined;
  if (/^\((GC roots|globals)\)$/.test(nameOf(tree.parent[i]))) return isStandardPackage(name);
  return name.includes('.') ? isStandardText(name) : undefined;
}

// standard: nodes of the standard library; onlyStandard: these, if less than a hundredth of what they retain is of other packages.
const standard = new Uint8Array(size), onlyStandard = new Uint8Array(size), others = new Float64Array(size);
for (let i = 1; i < size; i++) standard[i] = isStandardNode(i) ?? standard[parents[i]];
for (let i = size - 1; i > 0; i--) {
  if (!standard[i]) others[i] += tree.bytes[i];
  if (shownAs[i] === i) others[parents[i]] += others[i];
  onlyStandard[i] = standard[i] && others[i] < retained[i] / 100;
}

// ---- the state of the picture, which the address keeps, so that a place in it can be linked to ----

const views = ['icicle', 'map', 'table'];
const sheets = []; // functions that write the page's tables anew
const state = {view: 'icicle', by: 'now', since: 'all', colour: was ? 'growth' : 'package', library: 'show', top: 0, node: 0, find: ''};
/** What areas stand for. Sizes are those of objects of all ages, or only of old ones. */
const areas = () => state.by === 'grown' ? grown : state.by === 'pages' ? pages : state.since !== 'all' ? survived[state.since] : retained;
/** How large a node is by what areas stand for; of growth what the labels say besides. */
const sizeOf = i => state.by === 'grown' ? retained[i] : areas()[i];
const ageChoices = ['all', ...ageGroups.slice(0, -1).map((_, group) => String(group))];
const measures = ['now', hasPages && 'pages', was && 'grown'].filter(Boolean);
const colours = ['package', hasAges && 'age', was && 'growth'].filter(Boolean);
const colourOf = i => state.colour === 'growth' ? growthColour(i) : state.colour === 'age' ? ageColour(i) : packageColour(i);

function readAddress() {
  const fields = new URLSearchParams(location.hash.slice(1));
  const oneOf = (name, allowed) => allowed.includes(fields.get(name)) ? fields.get(name) : state[name];
  const node = name => /^\d{1,7}$/.test(fields.get(name)) && Number(fields.get(name)) < size ? shownAs[Number(fields.get(name))] : 0;
  if (!fields.has('node')) return false;
  Object.assign(state, {view: oneOf('view', views), library: oneOf('library', ['show', 'dim', 'hide']), node: node('node'), top: node('top'), find: fields.get('find') ?? ''});
  state.by = oneOf('by', measures);
  state.colour = oneOf('colour', colours);
  state.since = state.by === 'now' ? oneOf('since', ageChoices) : 'all';
  const dump = (name, usual) => /^\d{1,3}$/.test(fields.get(name)) && Number(fields.get(name)) <= lastCompared ? Number(fields.get(name)) : usual;
  if (data.series) compareDumps(dump('from', 0), dump('to', lastCompared));
  if (areas()[state.top] <= 0) state.top = 0;
  return true;
}

let addressTimer;
function keepAddress() {
  const {find, ...place} = {...state, ...compared.from > 0 || !isLast() ? compared : {}};
  clearTimeout(addressTimer);
  // Browsers allow some changes of the address per second only, and none in a frame that is isolated.
  addressTimer = setTimeout(() => {
    try {
      history.replaceState(null, '', `#${new URLSearchParams(find ? {...place, find} : place)}`);
    } catch { /* the page works without */ }
  }, 60);
}

// ---- the frame of the page ----

const root = document.documentElement, page = document.getElementById('page');
document.getElementById('without-script').remove();
const navigation = make('div');
document.body.prepend(make('nav', {class: 'nav', 'aria-label': 'sections'}, navigation));

const goTo = id => document.getElementById(id).scrollIntoView();
/** Adds a section, and its short name to the navigation. */
function section(id, short, title, lead, ...children) {
  const click = event => { event.preventDefault(); goTo(id); };
  navigation.append(make('a', {href: `#${id}`, on: {click}}, short));
  page.append(make('section', {id, 'aria-labelledby': `${id}-title`}, make('h2', {id: `${id}-title`}, title),
    lead && make('p', {class: 'dim'}, lead), ...children));
}

// ---- head: how large the heap is, and where the memory of the process is ----

/** Parts of a process's memory: what they are called, and their colours. */
const rssParts = new Map([
  ['objects', ['objects', 'package1']], ['free_slots', ['free slots', 'package4']], ['free', ['free heap', 'root']],
  ['stacks', ['stacks', 'package2']], ['files', ['mapped files', 'package0']], ['c', ['C and other', 'package3']],
  ['program', ['executable and libraries', 'builtin']], ['buckets', ['profile buckets', 'other']], ['spans', ['spans', 'other']],
  ['gc', ['collector', 'other']], ['runtime', ['runtime', 'other']],
]);

/** Who keeps free slots. */
function holdersOfPages() {
  const holders = report.free_slots?.holders ?? [];
  const what = holder => holder.class && [count(holder.count), ' ', code(holder.class)];
  const without = (holder, name) => name ? ['if ', code(name), ' were emptied', holder.class && [' of ', what(holder)]] : ['without the ', what(holder)];
  return holders.length > 0 && make('ul', {class: 'small'}, holders.map(holder => make('li', {}, holder.shared_by
    ? [`${bytes(holder.free_slots)} of free slots could be freed only if all that share these pages were emptied: `,
      holder.shared_by.map((one, i) => [i > 0 && ', ', code(one.held_by ?? one.name)]),
      holder.sharers > holder.shared_by.length && ` and ${holder.is_sample ? 'at least ' : ''}${count(holder.sharers - holder.shared_by.length)} more`, '.']
    : [`${bytes(holder.free_slots)} of free slots could be freed, too, `, without(holder, holder.held_by ?? holder.name), '.'])));
}

function memoryOfProcess() {
  const {process} = report;
  if (process?.rss) {
    const parts = [...rssParts].map(([part, [name, colour]]) => [name, process.rss.parts[part] ?? 0, colour]);
    return make('div', {}, make('div', {class: 'dim'}, `The process occupies ${bytes(process.rss.bytes)} of memory (RSS)`),
      partsBar(parts), holdersOfPages());
  }
  if (process?.bytes === undefined) return undefined;
  const garbage = Math.min(report.heap.garbage ?? 0, process.objects);
  return make('div', {}, make('div', {class: 'dim'}, `The Go runtime has ${bytes(process.bytes)} from the system`), partsBar([
    ['objects', process.objects - garbage, 'package1'], ['garbage', garbage, 'package4'], ['stacks', process.stacks, 'package2'],
    ['free heap', process.free, 'root'], ['the runtime itself', process.runtime, 'builtin'],
  ]));
}

function growthOfHeap() {
  const {heap} = report, before = heap.reachable - since.reachable;
  return make('div', {},
    make('b', {class: directionOf(since.reachable)}, since.reachable ? signed(since.reachable, bytes) : 'no change'),
    before > 0 && since.reachable !== 0 && ` (${signed(since.reachable / before, x => `${Math.round(100 * x)} %`)})`,
    ' since ', since.source === report.heap.source && data.series?.dumps[0].time ? momentOf(data.series.dumps[0].time) : code(baseName(since.source)),
    since.objects !== 0 && `, ${signed(since.objects, count)} ${since.objects === 1 ? 'object' : 'objects'}`,
    since.goroutines !== 0 && `, ${signed(since.goroutines, count)} ${since.goroutines === 1 ? 'goroutine' : 'goroutines'}`,
    since.is_other_build && ', which another build of the program wrote');
}

/** How the process ended, of a heap that --at-death has written. */
function endingOfProcess({how, time, resident, limit}) {
  return `${how[0].toUpperCase()}${how.slice(1)} at ${time}, with ${bytes(resident)} resident${limit ? `, limit ${bytes(limit)}` : ''}.`;
}

page.append(make('header', {class: 'head'},
  make('div', {},
    make('h1', {}, code(baseName(report.heap.source))),
    make('div', {class: 'dim'}, code(report.heap.go), ` · ${several(report.heap.objects, 'object')} · `,
      several(report.heap.goroutines, 'goroutine')),
    make('div', {class: 'figure number'}, bytes(report.heap.reachable), ' ', make('small', {}, 'reachable',
      report.heap.garbage >= report.heap.reachable / 1000 && report.heap.garbage > 0 && `, and ${report.heap.is_garbage_at_most ? 'at most ' : ''}${bytes(report.heap.garbage)} of garbage`)),
    report.heap.not_resident >= report.heap.reachable / 10 && report.heap.not_resident > 0
      && make('div', {}, `${bytes(report.heap.not_resident)} of it occupies no memory: never written to.`),
    report.ending && make('div', {}, endingOfProcess(report.ending)),
    since && growthOfHeap()),
  memoryOfProcess()));

// ---- trends ----

/** Marks of a time axis, at most five: [time, text], at full minutes, hours and the like of the reader's clock. */
function timeMarks() {
  const second = 1000, minute = 60 * second, hour = 60 * minute, day = 24 * hour;
  const steps = [1, 2, 5, 10, 15, 30].map(n => n * second).concat([1, 2, 5, 10, 15, 30].map(n => n * minute), [1, 2, 3, 6, 12].map(n => n * hour));
  const fits = step => (lastTime - firstTime) / step <= (isLong && step < day ? 2 : 4);
  let step = steps.find(fits) ?? day;
  while (!fits(step)) step *= 2;
  const offset = new Date(firstTime).getTimezoneOffset() * minute, marks = [];
  for (let time = Math.ceil((firstTime - offset) / step) * step + offset; time <= lastTime; time += step) marks.push([time, momentOf(time, step)]);
  return marks;
}
/** Marks of an axis of dumps, by their number: [index, text]. */
function numberMarks(last) {
  const step = Math.ceil((last + 1) / 12);
  return Array.from({length: last + 1}, (_, i) => [i, String(i + 1)]).filter(([i]) => i % step === 0 || i === last);
}

/** In how many of the intervals a number has grown. */
function intervalsOf(values) {
  let grew = 0;
  for (let i = 1; i < values.length; i++) grew += values[i] > values[i - 1];
  return `grew in ${grew} of ${several(values.length - 1, 'interval')}`;
}

/** Round values up to the largest one, at most four, for the marks of an axis that begins at zero. */
function valueMarks(most) {
  const power = 10 ** Math.floor(Math.log10(most)), step = [.2, .5, 1, 2, 5].map(n => Math.max(1, n * power)).find(each => most / each < 5);
  return Array.from({length: Math.floor(most / step)}, (_, i) => (i + 1) * step);
}

/** By how much a number has changed per minute, hour or day, the longest that the dumps span. */
function rateOf(change, format) {
  const minute = 60_000, units = [['minute', minute], ['hour', 60 * minute], ['day', 24 * 60 * minute]];
  const [unit, length] = units.findLast(each => lastTime - firstTime >= each[1]) ?? units[0];
  const rate = hasTimes ? Math.round(change * length / (lastTime - firstTime)) : 0;
  return rate !== 0 ? `${signed(rate, format)} per ${unit} · ` : '';
}

/** The least and the largest value, if they are not at the ends. */
function rangeOf(values, format) {
  const least = Math.min(...values), most = Math.max(...values), ends = [values[0], values[values.length - 1]];
  return least < Math.min(...ends) || most > Math.max(...ends) ? `, from ${format(least)} to ${format(most)} in between` : '';
}

/** About half the width of a mark's text, which must not be cut. */
const halfOf = text => 3.2 * text.length;

/** A line from zero over all dumps of a series. */
function chart(title, values, format) {
  const width = 300, height = 96, left = 50, last = values.length - 1, most = Math.max(...values, 1), base = height - 18;
  const scale = (width - left - 6) / (hasTimes ? lastTime - firstTime : last);
  const x = at => left + (hasTimes ? at - firstTime : at) * scale, xOf = i => x(hasTimes ? times[i] : i);
  const y = value => base - value / most * (base - 10);
  const points = values.map((value, i) => `${xOf(i).toFixed(1)},${y(value).toFixed(1)}`).join(' '), total = values[last] - values[0];
  const marks = hasTimes ? timeMarks() : numberMarks(last);
  return make('figure', {class: directionOf(total)},
    make('figcaption', {}, code(title),
      make('div', {class: 'dim small'}, make('span', {class: 'number'}, `${format(values[0])} → ${format(values[last])}`),
        make('span', {class: 'range'}, rangeOf(values, format))),
      make('div', {class: 'dim small rate'}, rateOf(total, format), intervalsOf(values))),
    draw('svg', {viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': `${visible(title)}: ${values.map(format).join(', ')}`},
      draw('polygon', {class: 'area', points: `${xOf(0)},${base} ${points} ${xOf(last)},${base}`}),
      draw('line', {class: 'axis', x1: left, x2: width, y1: base, y2: base}),
      ...valueMarks(most).flatMap(value => [draw('line', {class: 'axis mark', x1: left, x2: width, y1: y(value), y2: y(value)}),
        draw('text', {class: 'value', x: left - 5, y: y(value) + 4, 'text-anchor': 'end'}, format(value).replace(/\.0+(?= )/, ''))]),
      draw('polyline', {class: 'line', points}),
      ...values.length > 40 ? [] : values.map((value, i) => draw('circle', {class: 'dot', cx: xOf(i), cy: y(value), r: 2.6},
        draw('title', {}, `${hasTimes ? momentOf(times[i]) : visible(baseName(data.series.dumps[i].source))}: ${format(value)}`))),
      ...marks.map(([at, text]) => draw('text', {x: x(at), y: height - 4,
        'text-anchor': x(at) - halfOf(text) < 0 ? 'start' : x(at) + halfOf(text) > width ? 'end' : 'middle'}, text)),
      ...hasTimes ? marks.map(([at]) => draw('line', {class: 'axis', x1: x(at), x2: x(at), y1: base, y2: base + 4})) : []));
}

/**
 * What the heap as a whole does, then the suspects, then what else has grown, types by bytes before locations by goroutines, the one
 * that has grown most first; then what has shrunk.
 */
function charts({dumps, classes, places}) {
  const growthOf = ([, values]) => values[values.length - 1] - values[0];
  const suspectOf = ([name]) => {
    const at = report.suspects.findIndex(({item}) => item && (item === name || item.replace(/^goroutines? /, '') === name.replace(/^goroutines? /, '')));
    return at < 0 ? report.suspects.length : at;
  };
  const rows = [...classes.map(one => [one.name, one.bytes, bytes]), ...places.map(place => [place.name, place.count, count])];
  const kinds = new Map(rows.map((row, i) => [row, i < classes.length ? 0 : 1]));
  rows.sort((one, other) => (growthOf(other) > 0) - (growthOf(one) > 0) || suspectOf(one) - suspectOf(other)
    || kinds.get(one) - kinds.get(other) || growthOf(other) - growthOf(one));
  return [['reachable', dumps.map(dump => dump.reachable), bytes], ['goroutines', dumps.map(dump => dump.goroutines), count], ...rows];
}

if (data.series) {
  const few = 4, all = charts(data.series), grid = make('div', {class: 'grid of-charts'}, all.slice(0, few).map(row => chart(...row)));
  const rest = all.length > few && button(`Show all ${all.length}`, () => {
    grid.append(...all.slice(few).map(row => chart(...row)));
    rest.remove();
  });
  const more = make('p', {class: 'more'}, rest, button('SVG', () => save('svg', svgOfCharts([...grid.children])), {title: 'Save the charts'}));
  section('trends', 'Trends', `Trends over ${count(data.series.dumps.length)} dumps${hasTimes ? `, ${durationOf(lastTime - firstTime)}` : ''}`,
    hasTimes ? `From ${momentOf(firstTime)} to ${momentOf(lastTime)}, in your time zone. Each chart starts at zero.`
      : 'From the oldest to the newest. Each chart starts at zero.', grid, more);
}

// ---- suspects ----

/** The go statement, or what else started goroutines. */
function starterOf({started_by: starter, count: number}) {
  const statement = 'go statement in ', them = number > 1 ? 'them' : 'it';
  return starter && (starter.startsWith(statement) ? [' The go statement in ', code(starter.slice(statement.length)), ` started ${them}.`]
    : [' ', code(starter), ` started ${them}.`]);
}

/** What goroutines wait on: the expressions that lead to it, or else its class. */
function waitOf({count: number, wait_on: classes, waited}) {
  const some = waited?.count < waited?.of && `, as ${count(waited.count)} of ${count(waited.of)} do`;
  return (waited ?? classes) && [` ${number > 1 ? 'They wait' : 'It waits'} on ${waited ? '' : 'a '}`, code(waited?.paths ?? classes), some, '.'];
}

/** What a suspect is, as a sentence: how many, and in what; first the holder that has most of them, if there is one. */
function sentenceOfSuspect(suspect) {
  const {item, count: number, count_grown: more, most, in: within} = suspect;
  const grown = more > 0 && number > 1 && `, ${count(more)} more than before`;
  if (suspect.is_entries) {
    return [make('b', {}, several(suspect.entries, 'entry', 'entries')), within && [' in ', code(within.class ?? within.variable)],
      suspect.entries_grown > 0 && `, ${count(suspect.entries_grown)} more than before`, '.'];
  }
  if (suspect.is_goroutines) {
    return [`${several(number, 'goroutine')} at one location`, grown, ': ', code(item.replace(/^goroutines /, '')), '.',
      suspect.waits_at && [' They wait at ', code(suspect.waits_at), suspect.waits_at_count < number && `, as ${count(suspect.waits_at_count)} of them do`,
        number > 1 && suspect.goroutine !== undefined && [' (for example ', code(`goroutine ${suspect.goroutine}`), ')'], '.'],
      waitOf(suspect), starterOf(suspect), suspect.meaning && ` What this means: ${suspect.meaning}.`];
  }
  const holder = within && [' in ', within.part ? `one ${within.part} of ` : within.count > 1 && `${count(within.count)}\u00a0×\u00a0`, code(within.class ?? within.variable)];
  return [
    most?.count > 1 && most.count < number && [make('b', {}, `${count(most.count)} of ${count(number)}`), ' ', code(item), ' in ', code(most.held_by),
      `: ${bytes(most.retained)} (${percent(most.retained, suspect.retained)}). All are`, holder ?? ' here', grown, '.'],
    !(most?.count > 1 && most.count < number) && [number > 1 && [make('b', {}, count(number)), ' '], code(item), most?.count === number && number > 1
      ? [', all in ', code(most.held_by)] : holder, grown, '.'],
    starterOf(suspect),
    suspect.not_resident > 0 && ` ${bytes(suspect.not_resident)} of it occupies no memory: never written to.`];
}

/** How many of the goroutines that a suspect is, or that hold it, can never run again. */
function leakedOfSuspect({leaked, count: number, is_goroutines: areMany}) {
  const some = leaked.of > leaked.count ? `${count(leaked.count)} of the ${count(leaked.of)} goroutines that hold it`
    : leaked.count > 1 ? 'The goroutines that hold it' : 'The goroutine that holds it';
  return make('p', {}, areMany ? (leaked.count < number ? `${count(leaked.count)} of these goroutines` : 'All of them') : some,
    ` can never run again: ${leaked.reason}.`);
}

/** What goroutines and deferred calls hold. */
function heldBySuspect(suspect) {
  return suspect.hold?.map(held => make('p', {class: 'dim'}, held.each !== undefined
    ? ['Each holds ', held.class && [code(held.class), ', '], bytes(held.each),
      held.variable !== undefined && [', through variable ', code(held.variable), ' of ', code(held.of)], '.']
    : [`${count(held.count)} × `, code(held.class), `, ${bytes(held.retained)}.`]));
}

/** What slices leave out. */
function staleOfSuspect({stale}) {
  const where = stale.before === 0 ? 'beyond the length' : stale.beyond === 0 ? 'before the start'
    : 'beyond the length or before the start';
  return make('p', {}, `${count(stale.count)} of ${stale.retained ? 'what they hold' : 'them'} live only in slots ${where} of `,
    stale.slices > 1 && `${count(stale.slices)} slices, such as `, stale.of ? code(stale.of) : 'a slice',
    ` (length ${count(stale.length)})`, stale.retained > 0 && `: ${bytes(stale.retained)}`, '.');
}

/** How many of a suspect's objects were there before the watch, were born in each 16th of it, and have not survived a collection. */
const verdicts = {'leaks': 'evenly spread, and nothing ends: leaks, unless it is a cache that still fills', 'bounded': 'bounded', 'of the start': 'from the start',
  'of one moment': 'built at once', 'young': 'new since the last collection'};
function agesOfSuspect({age: {verdict, before, young, seconds, spread}}) {
  if (!spread?.length || verdict === 'few') return false;
  const bars = [before, ...spread.map(part => part.born), young], most = Math.max(...bars);
  const nameOfBar = i => i === 0 ? `before the watch of ${seconds} s` : i === bars.length - 1 ? 'new since the last collection'
    : `${Math.round(seconds * (1 - i / spread.length))} s ago`;
  return [make('p', {class: 'dim'}, `Objects by age, over ${seconds} s: ${verdicts[verdict] ?? 'no verdict'}.`), make('div', {class: 'ages', role: 'img', 'aria-label': `objects by age: ${bars.map((number, i) => `${count(number)} ${nameOfBar(i)}`).join(', ')}`},
    bars.map((number, i) => make('i', {title: `${count(number)} ${nameOfBar(i)}`, style: {height: `${most ? Math.ceil(100 * number / most) : 0}%`}})))];
}

/** What could be freed without a suspect, if that is more than twice its bytes, or less than half of them. */
function pagesOfSuspect({pages: {bytes: could, free_slots: slots}, retained_grown: more, retained: size}) {
  if (more !== undefined || (could <= 2 * size && could >= size / 2) || Math.max(could, size) < 1 << 20) return false;
  return make('p', {}, could > size ? `${bytes(could)} of pages could be freed without it, ${bytes(slots)} of that are free slots.`
    : `Only ${bytes(could)} of pages could be freed without it: others have objects there, or they take no memory.`);
}

function factsOfSuspect(suspect) {
  const {each, keys, frames, most, timers, allocated_by: by} = suspect;
  const parts = each?.parts?.map((part, i) => [visible(part.class), part.bytes, `package${i % 5}`]) ?? [];
  const rest = parts.reduce((left, part) => left - part[1], (each?.retained ?? 0) - (each?.own ?? 0));
  return [
    suspect.leaked && leakedOfSuspect(suspect),
    suspect.stack > 0 && make('p', {class: 'dim'}, `The stack of each takes ${bytes(suspect.stack)}.`),
    frames && make('p', {}, `${several(frames.count, 'call')} on a stack, ${count(frames.most)} of `, code(frames.function), '.'),
    suspect.ended > 0 && make('p', {}, `${several(suspect.ended, 'goroutine')} have ended: after a burst, the runtime keeps their `,
      'memory for reuse.'),
    timers && make('p', {}, `${count(timers.count)} of these in all, ${bytes(timers.retained)}, in `,
      `${count(timers.heaps)} heaps of the runtime, one per processor.`),
    each && make('div', {}, make('div', {class: 'dim small'}, `each retains ${bytes(each.retained)}`,
      parts.length === 0 && each.own < each.retained && `, with ${bytes(each.own)} of its own`),
    parts.length > 0 && partsBar([['itself', each.own ?? 0, 'root'], ...parts, ['others', rest > each.retained / 100 ? rest : 0, 'other']])),
    keys?.length > 0 && make('ul', {class: 'small'}, keys.map(key => make('li', {}, code(key.key),
      make('span', {class: 'number'}, `${bytes(key.retained)}, ${percent(key.retained, suspect.retained)}`)))),
    suspect.held_by && expressionBox(suspect.held_by),
    suspect.container && make('p', {class: 'dim'}, `This is a ${suspect.container.kind} of ${several(suspect.container.entries, 'entry', 'entries')}.`),
    suspect.never_freed && make('p', {}, `Never freed: ${visible(suspect.never_freed)}.`),
    suspect.shared_by && make('p', {class: 'dim'}, 'Also reached from ', code(suspect.shared_by), '.'),
    most && (suspect.is_goroutines || !(most.count > 1)) && make('p', {}, code(most.held_by), ` alone has ${most.count > 1 ? `${count(most.count)} of these, ` : ''}`,
      `${bytes(most.retained)} (${percent(most.retained, suspect.retained)}).`),
    suspect.stale && staleOfSuspect(suspect),
    suspect.pages && pagesOfSuspect(suspect),
    suspect.age && agesOfSuspect(suspect),
    by && make('p', {class: 'dim'}, 'Allocated by ', code(by.function), ' ', code(`${by.file}:${by.line}`),
      ` (${count(by.samples)} of ${several(by.of, 'sample')})`, by.within && [', in ', code(by.within)], '.'),
  ];
}

function cardOf(suspect, number) {
  const size = suspect.bytes ?? suspect.retained_grown ?? suspect.retained, node = data.suspect_nodes[number];
  const big = (share, of) => make('div', {class: 'big number'}, suspect.retained_grown === undefined ? bytes(size) : signed(size, bytes),
    ' ', make('small', {}, `${share} of ${of}`));
  if (suspect.is_outside) {
    return make('article', {class: 'card'}, big(percent(size, report.process?.rss?.bytes), 'the process’s memory'),
      make('p', {}, `This is ${rssParts.get(suspect.part)?.[0] ?? visible(suspect.part)}, not Go objects: these are only `,
        `${bytes(report.process?.rss?.parts.objects ?? 0)}.`),
      suspect.meaning && make('p', {}, `This means: ${visible(suspect.meaning)}.`),
      suspect.pointed_to_by?.length > 0 && make('ul', {class: 'small'}, suspect.pointed_to_by.map(place => make('li', {},
        code(place.place), make('span', {class: 'number'}, bytes(place.bytes))))));
  }
  return make('article', {class: 'card'}, big(percent(size, report.heap.reachable), 'the heap'),
    make('p', {}, sentenceOfSuspect(suspect)), heldBySuspect(suspect), factsOfSuspect(suspect),
    exampleOf(number), nextCommand(suspect),
    node >= 0 && make('div', {class: 'foot'}, button('Show in the tree', () => show(node))));
}

/** The values of one of a suspect's objects, or the stack of one of its goroutines. */
function exampleOf(number) {
  const {class: name, address, fields, goroutine, stack} = data.suspect_examples?.[number] ?? {};
  if (stack?.length > 0) {
    return make('details', {class: 'example'}, make('summary', {}, goroutine === undefined ? 'Stack of one of these' : `Stack of goroutine ${goroutine}`),
      make('ol', {class: 'steps'}, stack.map(call => make('li', {}, code(call)))));
  }
  return fields?.length > 0 && make('details', {class: 'example'}, make('summary', {}, make('span', {}, 'Values of one ', code(names[name]))),
    make('div', {class: 'scrolls'}, fieldsTable(fields)), make('p', {class: 'dim small'}, code(address)));
}

const fieldsTable = fields => make('table', {class: 'fields'}, make('tbody', {}, fields.map(([name, type, value]) =>
  make('tr', {}, make('td', {}, code(name)), make('td', {class: 'dim'}, code(type)), make('td', {}, code(value))))));

/**
 * The command that says more about a suspect: what is in it or, of goroutines, where they are and what their variables are. Where
 * there is no expression that leads to it, or it would contain a hash: the paths to its type.
 */
function nextCommand(suspect) {
  const {held_by: held, goroutine, is_goroutines: areGoroutines, is_outside: isOutside, item} = suspect;
  const what = areGoroutines ? goroutine !== undefined && `goroutine ${goroutine}` : held && !held.includes('…') && held;
  const asked = what && !data.redacted ? ['--show', what] : item && !item.includes('…') ? ['--path-to', item] : undefined;
  if (!asked || isOutside) return undefined;
  const source = baseName(report.heap.source), [, pid] = /^process (\d+) \(/.exec(source) ?? [];
  const quoted = text => `'${text.replaceAll("'", "'\\''")}'`;
  const command = pid ? `go2heapsnapshot --pid ${pid} ${asked[0]} ${quoted(asked[1])}`
    : `go2heapsnapshot --exe APP ${asked[0]} ${quoted(asked[1])} ${/[^\w.,:+@%-]/.test(source) ? quoted(source) : source}`;
  const text = make('bdi', {}, visible(command));
  return make('div', {class: 'expression next'}, text, copyButton(() => visible(command), () => text));
}

/** What the suspects leave of the growth, if that is most of it. */
function restOfGrowth() {
  const rest = report.grown_elsewhere, named = report.suspects.reduce((sum, suspect) => sum + (suspect.retained_grown ?? 0), report.more_suspects_grown ?? 0);
  return rest?.bytes > named && note(`${signed(rest.bytes, bytes)} of the growth has no single place: `,
    rest.classes.map(({class: name, grown}, i) => [i > 0 ? ', ' : '', `${signed(grown, bytes)} of `, code(name)]).flat());
}

/** What is said if no suspect grew: the report's words for objects, and how much memory outside of the heap did. */
function wordsOfNoGrowth() {
  const outside = report.rss_growth?.outside ?? 0, where = report.grown_elsewhere?.bytes > 0 ? ' in a single place' : '';
  return outside >= 1e6 ? `No objects grew much${where}; memory of the process outside of the heap grew by ${bytes(outside)}.` : `Nothing grew much${where}.`;
}

section('suspects', 'Suspects', since ? 'What grew, and who holds it' : 'Who holds the memory',
  report.suspects.length > 0 ? '' : since ? wordsOfNoGrowth() : 'Nothing that retains 5 % of the heap stands out.',
  report.suspects.length > 0 && make('div', {class: 'cards'}, report.suspects.map(cardOf)),
  report.more_suspects > 0 && note(since ? `${count(report.more_suspects)} more grew much: see the tree.`
    : `${count(report.more_suspects)} more retain 5 % or more: see the tree.`),
  restOfGrowth());

// ---- what holds what: the controls ----

const treeView = make('div', {class: 'boxes', role: 'tree', tabindex: 0, 'aria-label': 'what holds what'});
const tableHead = make('thead'), tableBody = make('tbody');
const tableView = make('table', {role: 'treegrid', tabindex: 0, 'aria-label': 'what holds what', hidden: true}, tableHead, tableBody);
const plot = make('div', {class: 'plot'}, treeView, tableView);
const side = make('div', {class: 'side', role: 'region', 'aria-label': 'the selected box'});
const crumbs = make('div', {class: 'crumbs'}), legend = make('div', {class: 'legend'}), growthHint = make('p', {class: 'hint'});
const found = make('span', {class: 'dim number', role: 'status'});
const headHeight = 19; // of a box of the map
const svgButton = button('SVG', () => save('svg', svgOf(treeView, `what holds what: ${labelOf(state.top)}, ${bytes(areas()[state.top])}`)), {title: 'Save the picture'});

/** A choice of one of several values of the state. */
function choice(name, label, options, changed) {
  const buttons = options.map(([value, text]) => [value, button(text, () => {
    state[name] = value;
    changed?.();
    redraw();
  })]);
  const update = () => buttons.forEach(([value, element]) => element.setAttribute('aria-pressed', state[name] === value));
  return {update, element: make('span', {class: 'choice', role: 'group', 'aria-label': label},
    name !== 'view' && make('span', {}, label), buttons.map(([, element]) => element))};
}
const choices = [choice('view', 'View', [['icicle', 'Icicle'], ['map', 'Map'], ['table', 'Table']])];
const measureNames = {now: was ? 'Size now' : 'Size', pages: 'Pages', grown: 'Growth'};
if (measures.length > 1) choices.push(choice('by', 'Area', measures.map(measure => [measure, measureNames[measure]]), () => { state.since = 'all'; }));
if (hasAges) {
  const since = ageChoices.map(group => [group, group === 'all' ? 'Any time' : group === '0' ? 'The start' : Number(group) === LAST_GROUP - 1
    ? 'The last collection' : `${agoOf(Number(group))} ago`]);
  choices.push(choice('since', 'Survived since', since, () => { if (state.since !== 'all') state.by = 'now'; }));
}
const colourTitles = {package: 'Package', age: 'Age', growth: 'Growth'};
if (colours.length > 1) choices.push(choice('colour', 'Colour', colours.map(colour => [colour, colourTitles[colour]])));
choices.push(choice('library', 'Standard library', [['show', 'Show'], ['dim', 'Dim'], ['hide', 'Hide']], () => sheets.forEach(write => write())));

/** Two lists of the dumps of a series: what is compared with what. */
function dumpChoice() {
  const list = (key, label) => make('select', {'aria-label': label, on: {change: event => choose({...compared, [key]: Number(event.target.value)})}},
    comparedDumps.map((_, at) => make('option', {value: at}, nameOfDump(at))));
  const from = list('from', 'compare with the dump'), to = list('to', 'the dump that is shown');
  const choose = ({from, to}) => {
    compareDumps(from, to);
    if (areas()[state.top] <= 0) state.top = 0;
    comparePlaces();
    sheets.forEach(write => write());
    redraw();
  };
  const update = () => { from.value = compared.from; to.value = compared.to; };
  return {update, element: make('span', {class: 'choice'}, make('span', {}, 'From'), from, make('span', {}, 'to'), to)};
}
if (comparedDumps.length > 2) choices.push(dumpChoice());

const search = make('input', {type: 'search', placeholder: 'Find a type or variable   /', 'aria-label': 'Find a type or variable', on: {
  input: () => { state.find = search.value; paint(); keepAddress(); },
  keydown: event => {
    if (event.key === 'Enter') nextHit(event.shiftKey ? -1 : 1);
    else if (event.key === 'Escape') clearSearch();
    else return;
    event.preventDefault();
  },
}});

// ---- search ----

// Names are there once each, and in lower case only if something is searched for. What a longer text finds, its beginning
// has found already.
let lowerNames, lastSearch = {find: '', hits: undefined}, hitList; // hitList: nodes, and which of them was gone to last
function hitNames() {
  const find = state.find.toLowerCase();
  if (find === lastSearch.find) return lastSearch.hits;
  lowerNames ??= names.map(name => name.toLowerCase());
  const before = lastSearch.find && find.startsWith(lastSearch.find) ? lastSearch.hits : undefined;
  const hits = find ? new Uint8Array(names.length) : undefined;
  for (let i = 0; find && i < names.length; i++) if ((!before || before[i]) && lowerNames[i].includes(find)) hits[i] = 1;
  lastSearch = {find, hits};
  hitList = undefined;
  return hits;
}
const isHit = (hits, i) => hits[tree.name[i]] === 1 && tree.kind[i] !== MORE && shownAs[i] === i && areas()[i] > 0;

/** Says how much was found. What is below a hit is part of it. */
function countHits(hits) {
  if (!hits) return '';
  const inside = new Uint8Array(size), values = areas();
  let number = 0, sum = 0;
  for (let i = 0; i < size; i++) {
    inside[i] = i > 0 ? inside[parents[i]] : 0;
    if (!isHit(hits, i)) continue;
    number++;
    if (!inside[i]) sum += values[i];
    inside[i] = 1;
  }
  return number > 0 ? `${count(number)} found, ${bytes(sum)}, ${percent(sum, values === retained ? reachable() : values[0])}` : 'nothing found';
}

/** Selects the next hit, from large to small. */
function nextHit(step) {
  const hits = hitNames(), values = areas();
  if (!hits) return;
  if (hitList?.values !== values) {
    hitList = {values, nodes: [], at: step > 0 ? -1 : 0};
    for (let i = 0; i < size; i++) if (isHit(hits, i)) hitList.nodes.push(i);
    hitList.nodes.sort((a, b) => values[b] - values[a]);
  }
  const {nodes, at} = hitList;
  if (nodes.length === 0) return;
  hitList.at = (at + step + nodes.length) % nodes.length;
  reveal(nodes[hitList.at]);
}

function clearSearch() {
  search.value = state.find = '';
  paint();
  keepAddress();
  focusPlot();
}

// ---- the three views ----

// What is drawn: for each node its element, and for each element what it looks like. Nodes of the map that share a box have
// the same element.
let drawn = new Map(), looks = [];
const opened = new Set(), wholeLists = new Set(), lit = new Set();

/** Makes a box for nodes that share it, from the outermost to the innermost, which the box is named after. */
function addBox(out, nodes, x, y, width, height, kind) {
  const node = nodes[nodes.length - 1], element = document.createElement('div'), left = Math.round(x);
  const right = Math.max(left + 1, Math.round(x + width) - 1), isWide = right - left >= 150;
  element.id = `n${node}`;
  element.style.cssText = `left:${left}px;top:${y}px;width:${right - left}px;height:${height}px`;
  element.setAttribute('role', 'treeitem');
  element.setAttribute('aria-level', depths[nodes[0]] + 1);
  // With the number of objects there would be no room for the names. What can be read must be part of the label.
  const grows = state.by === 'grown', names = nodes.map(i => labelOf(i, !isWide)).filter((name, i) => i === 0 || name !== 'stack').join(' › ');
  const size = grows ? signed(change(node), bytes) : bytes(sizeOf(node)), growth = change(node) && state.by === 'now' && state.since === 'all' ? ` ${signed(change(node), bytes)}` : '';
  element.setAttribute('aria-label', `${nodes.length === 1 ? labelOf(node) : names}, ${size}${growth}`);
  if (isWide && height > 16) {
    element.append(make('span', {}, names), ' ', make('span', {}, size + (right - left >= 240 ? growth : '')));
  } else if (right - left >= 34 && height > 16) {
    element.textContent = names;
  }
  const colour = tree.kind[node] === MORE ? 'rest' : colourOf(node);
  const base = element.className = `box ${kind} ${colour}${standard[node] ? ' standard' : ''}${isWide ? ' wide' : right - left < 14 ? ' thin' : ''}`;
  looks.push({element, nodes, colour, base, now: base});
  for (const i of nodes) drawn.set(i, element);
  out.append(element);
}

/** Whether a node shares the box of nodes: it is all that the last of these holds, but for a little. */
function sharesBox(nodes, node, share) {
  const outer = nodes[nodes.length - 1];
  return outer > 0 && childrenOf(outer).length === 1 && areas()[node] >= areas()[outer] * share && nodes.length < 6;
}
/** Adds the nodes that share the box of nodes. */
function fillBox(nodes, share) {
  for (let [inner] = childrenOf(nodes[nodes.length - 1]); inner !== undefined && sharesBox(nodes, inner, share);) {
    nodes.push(inner);
    [inner] = childrenOf(inner);
  }
  return nodes;
}

const icicleShare = .999;
/** The boxes that hold a node, from the outside, and its own. The whole heap has none. */
function boxesAround(node) {
  const boxes = [];
  for (const inner of trailOf(node).slice(1)) {
    if (boxes.length > 0 && sharesBox(boxes[boxes.length - 1], inner, icicleShare)) boxes[boxes.length - 1].push(inner);
    else boxes.push([inner]);
  }
  return boxes;
}

/** Rows of boxes, each as wide as it is large; below each what it holds. Above are the boxes that hold the topmost one. */
function drawIcicle(width) {
  const values = areas(), out = document.createDocumentFragment(), above = boxesAround(state.top), top = above.pop() ?? [0];
  const boxes = [[fillBox(top, icicleShare), 0, width, state.top === 0 ? -1 : above.length]], rests = [];
  let rows = 0;
  for (let i = 0; i < boxes.length; i++) { // children are appended
    const [nodes, x, w, row] = boxes[i], node = nodes[nodes.length - 1];
    let at = x, narrow = 0, left = 0;
    for (const child of childrenOf(node)) {
      const childWidth = w * values[child] / values[node];
      if (childWidth >= 2) {
        boxes.push([fillBox([child], icicleShare), at, childWidth, row + 1]);
        at += childWidth;
      } else {
        left += childWidth;
        narrow += 1;
      }
    }
    if (left >= 3) rests.push([narrow, Math.round(at), Math.round(left) - 1, row + 1]);
    rows = Math.max(rows, row + 1 + (left >= 3));
  }
  const rowHeight = rows <= 16 ? 30 : 24;
  treeView.style.setProperty('--row', `${rowHeight - 1}px`);
  above.forEach((nodes, row) => addBox(out, nodes, 0, row * rowHeight, width, rowHeight - 1, 'above'));
  for (const [nodes, x, w, row] of boxes) if (row >= 0) addBox(out, nodes, x, row * rowHeight, w, rowHeight - 1, '');
  for (const [narrow, x, w, row] of rests) {
    out.append(make('div', {class: 'box rest', 'data-narrow': narrow,
      style: {left: `${x}px`, top: `${row * rowHeight}px`, width: `${w}px`, height: `${rowHeight - 1}px`}}));
  }
  treeView.replaceChildren(out);
  treeView.style.height = `${rows * rowHeight}px`;
  plot.style.height = `${Math.min(620, Math.max(rows, 6) * rowHeight + 2)}px`;
}

/**
 * Fills a rectangle with boxes for nodes, the largest first, so that none is much longer than wide: the squarified treemap
 * of Bruls, Huizing and van Wijk. A row along the shorter side takes nodes as long as that does not make its boxes longer.
 */
function squarify(nodes, values, x, y, width, height, put) {
  let sum = 0, next = 0;
  for (const node of nodes) sum += values[node];
  while (next < nodes.length && width > 2 && height > 2) {
    const shorter = Math.min(width, height), scale = width * height / sum, first = values[nodes[next]] * scale, row = next;
    let area = 0, worst = Infinity;
    for (; next < nodes.length; next++) {
      const last = values[nodes[next]] * scale, all = area + last;
      const ratio = Math.max(shorter * shorter * first / (all * all), all * all / (shorter * shorter * last));
      if (ratio > worst) break;
      worst = ratio;
      area = all;
    }
    const thickness = area / shorter;
    for (let i = row, at = 0; i < next; i++) {
      const length = values[nodes[i]] * scale / thickness;
      if (width >= height) put(nodes[i], x, y + at, thickness, length);
      else put(nodes[i], x + at, y, length, thickness);
      at += length;
      sum -= values[nodes[i]];
    }
    if (width >= height) {
      x += thickness;
      width -= thickness;
    } else {
      y += thickness;
      height -= thickness;
    }
  }
}

/** Boxes in boxes, by area. What a node has itself stays empty. Nodes that hold one other and hardly more share its box. */
function drawMap(width) {
  const most = 800; // boxes: the smallest ones take time, and say nothing
  const values = areas(), height = 558, boxes = [];
  const place = (outer, x, y, w, h) => {
    if (w < 4 || h < 4) return;
    const nodes = fillBox([outer], .985), node = nodes[nodes.length - 1], children = childrenOf(node);
    boxes.push([nodes, x, y, w - 1, h - 1]);
    if (children.length === 0 || w < 12 || h < headHeight + 8) return;
    let sum = 0;
    for (const child of children) sum += values[child];
    const share = Math.min(1, sum / values[node]), innerWidth = w - 7, innerHeight = h - headHeight - 4;
    if (innerWidth >= innerHeight) squarify(children, values, x + 3, y + headHeight, innerWidth * share, innerHeight, place);
    else squarify(children, values, x + 3, y + headHeight, innerWidth, innerHeight * share, place);
  };
  if (state.top > 0) place(state.top, 0, 0, width, height);
  else squarify(childrenOf(0), values, 0, 0, width, height, place);
  // A box is larger than those in it, and comes before them, so what is left out is never around something that is drawn.
  const area = ([, , , w, h]) => w * h, largest = new Set([...boxes].sort((a, b) => area(b) - area(a)).slice(0, most));
  const out = document.createDocumentFragment();
  for (const box of boxes) {
    const [nodes, x, y, w, h] = box;
    if (largest.has(box)) addBox(out, nodes, x, Math.round(y), w, Math.round(h), 'map');
  }
  treeView.replaceChildren(out);
  treeView.style.height = `${height}px`;
  plot.style.height = `${height + 2}px`; // with its borders
}

/** A row for each node: those below it follow if it is open. */
function drawTable() {
  const values = areas(), out = document.createDocumentFragment();
  const indent = level => make('span', {style: {'padding-left': `${level * 14}px`}});
  const add = node => {
    const children = childrenOf(node), isOpen = opened.has(node) || node === state.top, level = depths[node] - depths[state.top];
    const colour = colourOf(node);
    const row = make('tr', {id: `n${node}`, 'aria-level': level + 1, 'aria-expanded': children.length > 0 ? String(isOpen) : undefined},
      make('td', {class: 'name'}, indent(level), children.length > 0
        ? make('span', {class: 'twist', 'data-twist': node, 'aria-hidden': 'true'}, isOpen ? '▾' : '▸') : make('span', {class: 'twist'}),
      make('i', {class: `swatch ${colour}`}), code(tree.kind[node] === CLASS ? nameOf(node) : labelOf(node, true))),
      make('td', {class: 'n'}, (tree.kind[node] === CLASS || isMany(node)) && count(tree.count[node])),
      make('td', {class: 'n'}, isLast() && tree.bytes[node] > 0 && bytes(tree.bytes[node])),
      make('td', {class: 'n'}, bytes(retained[node])), make('td', {class: 'n'}, shareOf(node)),
      hasPages && make('td', {class: 'n'}, bytes(pages[node])),
      was && make('td', {class: `n ${directionOf(change(node))}`}, signed(change(node), bytes)),
      make('td', {class: 'visual'}, make('div', {class: 'bar', style: {width: `${100 * values[node] / (values[state.top] || 1)}%`}})));
    row.className = standard[node] ? 'standard' : '';
    looks.push({element: row, nodes: [node], colour, base: row.className, now: row.className});
    drawn.set(node, row);
    out.append(row);
    if (!isOpen) return;
    const large = children.filter(child => values[child] >= values[node] * .01).length;
    const shown = wholeLists.has(node) ? children.length : Math.max(5, large);
    children.slice(0, shown).forEach(add);
    if (children.length <= shown) return;
    const rest = children.slice(shown).reduce((sum, child) => sum + retained[child], 0);
    out.append(make('tr', {'aria-level': level + 2}, make('td', {class: 'name'}, indent(level + 1), make('span', {class: 'twist'}),
      button(`${count(children.length - shown)} more`, () => { wholeLists.add(node); redraw(); }, {class: 'link'})),
    make('td'), make('td'), make('td', {class: 'n dim'}, bytes(rest)), make('td'), hasPages && make('td'), was && make('td'), make('td')));
  };
  add(state.top);
  tableHead.replaceChildren(make('tr', {}, make('th', {}, 'held'), ['objects', 'own', 'retained', 'share'].map(title =>
    make('th', {class: 'n'}, title)), hasPages && make('th', {class: 'n'}, 'pages'), was && make('th', {class: 'n'}, 'grown'), make('td', {'aria-hidden': 'true'})));
  tableBody.replaceChildren(out);
  plot.style.height = '';
}

/** Draws the icicle or the map; twice if a bar to scroll it came or went, which changes how wide it may be. */
function drawBoxes() {
  for (let i = 0, width; i < 2 && width !== plot.clientWidth; i++) {
    width = plot.clientWidth;
    drawn = new Map();
    looks = [];
    if (state.view === 'map') drawMap(width);
    else drawIcicle(width);
  }
}

/** Draws everything anew. */
function redraw() {
  const isTable = state.view === 'table', hadFocus = plot.contains(document.activeElement);
  drawn = new Map();
  looks = [];
  choices.forEach(one => one.update());
  treeView.hidden = svgButton.hidden = isTable;
  tableView.hidden = !isTable;
  root.dataset.library = state.library;
  plot.classList.toggle('is-table', isTable);
  (isTable ? treeView : tableBody).replaceChildren();
  if (isTable) drawTable();
  else drawBoxes();
  const trail = trailOf(state.top);
  crumbs.replaceChildren(...trail.flatMap((node, i) => i < trail.length - 1
    ? [link(node > 0 ? labelOf(node, true) : 'whole heap', () => zoom(node)), '›']
    : [make('b', {}, node > 0 ? code(labelOf(node, true)) : `whole heap, ${bytes(sizeOf(0))}`)]));
  drawLegend();
  sayMeasure();
  select(state.node);
  if (hadFocus) focusPlot();
}

/** Names the colours that are there. A click on one dims the others. */
function drawLegend() {
  const there = new Set(looks.map(look => look.colour));
  for (const colour of lit) if (!there.has(colour)) lit.delete(colour);
  legend.replaceChildren(...[...colourNames].filter(([colour]) => there.has(colour)).map(([colour, name]) => {
    const toggle = button([make('i', {class: `swatch ${colour}`}), make('bdi', {}, name)], () => {
      if (!lit.delete(colour)) lit.add(colour);
      toggle.setAttribute('aria-pressed', lit.has(colour));
      paint();
    }, {'aria-pressed': lit.has(colour), title: 'dim the others'});
    return toggle;
  }));
}

/** What areas show, if it is not the size. */
function sayMeasure() {
  sayGrowth();
  if (state.since !== 'all') {
    growthHint.textContent = `Areas show ${bytes(areas()[state.top])} of objects that ${state.since === '0' ? `were there when the watch began, ${durationOf(tree.watched_ms)} `
      : Number(state.since) === LAST_GROUP - 1 ? 'have survived a collection, ' : `had survived a collection ${agoOf(Number(state.since))} `}before the last one.`;
    growthHint.hidden = false;
  }
  if (state.by !== 'pages') return;
  growthHint.textContent = `Areas show what could be freed without a box: ${bytes(pages[state.top])} of pages, ${bytes(freeSlots[state.top])} of that are `
    + 'free slots. The runtime returns it to the system within minutes, debug.FreeOSMemory() at once.';
  growthHint.hidden = false;
}

/** Growth as a whole, and what grew in it, differ: what shrank lies between. */
function sayGrowth() {
  const gross = state.by === 'grown' ? grown[state.top] : 0, shrunk = gross - change(state.top);
  growthHint.textContent = state.by !== 'grown' ? '' : gross === 0 ? 'Nothing in here has grown.'
    : `Areas show what grew, ${bytes(gross)}` + (shrunk > 0 ? `; ${bytes(shrunk)} shrank or is gone, so the net change is `
      + `${signed(change(state.top), bytes)}. Labels show net changes.` : '.');
  growthHint.hidden = state.by !== 'grown';
}

/** Marks what was found, what is dimmed and what is selected, without drawing anew. */
function paint() {
  const hits = hitNames(), selected = drawn.get(state.node) ?? drawn.get(trailOf(state.node).reverse().find(i => drawn.has(i)));
  for (const look of looks) {
    const isFound = hits && look.nodes.some(i => isHit(hits, i));
    const isOff = (hits && !isFound) || (lit.size > 0 && !lit.has(look.colour));
    const isSelected = look.element === selected;
    const classes = `${look.base}${isFound ? ' hit' : ''}${isOff ? ' off' : ''}${isSelected ? ' selected' : ''}`;
    if (classes === look.now) continue; // to set a class costs, even if it is the same
    look.element.className = look.now = classes;
    if (isSelected) look.element.setAttribute('aria-selected', 'true');
    else look.element.removeAttribute('aria-selected');
  }
  if (search.value !== state.find) search.value = state.find;
  found.textContent = countHits(hits);
  for (const view of [treeView, tableView]) {
    if (selected) view.setAttribute('aria-activedescendant', selected.id);
    else view.removeAttribute('aria-activedescendant');
  }
  return selected;
}

/** Selects a node, wherever it is drawn, and tells about it beside the picture. */
function select(node) {
  state.node = node;
  const element = paint();
  if (element) {
    const top = element.offsetTop, bottom = top + element.offsetHeight, head = state.view === 'table' ? 30 : 0;
    if (state.view !== 'map' && (top - head < plot.scrollTop || bottom > plot.scrollTop + plot.clientHeight)) {
      plot.scrollTop = top - plot.clientHeight / 2;
    }
  }
  tell();
  keepAddress();
}

/** Draws a node as the topmost one. */
function zoom(node) {
  state.top = state.node = node;
  redraw();
}

/** Selects a node, and draws it if it is not drawn or too narrow to be seen. */
function reveal(hidden) {
  const node = shownAs[hidden];
  if (state.library === 'hide' && onlyStandard[node]) state.library = 'show';
  if (areas()[node] <= 0) state.by = 'now';
  if (!trailOf(node).includes(state.top)) state.top = 0;
  // The topmost box is the nearest one in which the node has a width that can be read.
  if (areas()[node] * (plot.clientWidth || 900) < 60 * areas()[state.top]) {
    let top = Math.max(0, parents[node]);
    while (top > 0 && areas()[node] >= areas()[parents[top]] * .25) top = parents[top];
    state.top = top;
  }
  trailOf(node).forEach(i => opened.add(i));
  for (let i = node; i > 0; i = parents[i]) if (childrenOf(parents[i]).indexOf(i) >= 5) wholeLists.add(parents[i]);
  state.node = node;
  redraw();
}

/** The same for those who are elsewhere on the page. */
function show(node) {
  reveal(node);
  goTo('tree');
  focusPlot();
}

const focusPlot = () => (state.view === 'table' ? tableView : treeView).focus({preventScroll: true});

// ---- what the selected node is ----

/** Of a type that is in several places: a button that lists all of them. */
function holdersButton(node) {
  const row = tree.kind[node] === CLASS && report.classes.find(one => one.class === nameOf(node));
  return row && row.objects > tree.count[node] && isLast() && button(`Who holds all ${count(row.objects)}`, () => showHolders(row));
}

function tell() {
  const node = state.node, kind = tree.kind[node], number = tree.count[node], children = childrenOf(node);
  const before = tree.was_count?.[node] ?? number;
  const same = (data.largest ?? []).map((object, i) => [object, i]).filter(([object]) => object.node === node);
  const layout = kind === CLASS ? data.layouts?.find(one => names[one.class] === nameOf(node)) : undefined;
  const about = sentenceOf(node), rest = children.slice(7);
  fill(side,
    make('div', {class: 'title'}, make('i', {class: `swatch ${packageColour(node)}`}), code(kind === MORE ? labelOf(node) : nameOf(node))),
    about && make('p', {class: 'dim small'}, about),
    make('dl', {},
      make('dt', {}, 'retained'), make('dd', {}, [bytes(retained[node]), shareOf(node)].filter(Boolean).join(', ')),
      hasPages && isLast() && [make('dt', {}, 'pages'), make('dd', {}, pages[node] > 0 ? [`${bytes(pages[node])} could be freed without it`,
        freeSlots[node] > 0 && `, ${bytes(freeSlots[node])} of that are free slots`] : 'others have objects in all of them')],
      hasAges && isLast() && [make('dt', {}, 'from the start'), make('dd', {}, bytes(survived[0][node]), ageGroups[LAST_GROUP][node] > 0
        && `, ${bytes(ageGroups[LAST_GROUP][node])} new since the last collection`)],
      was && [make('dt', {}, 'grown'), make('dd', {class: directionOf(change(node))}, signed(change(node), bytes))],
      isLast() && [make('dt', {}, 'its own'), make('dd', {}, bytes(tree.bytes[node]))],
      kind === CLASS && [make('dt', {}, 'objects'),
        make('dd', {}, count(number), was && number !== before && ` (${signed(number - before, count)})`)],
      kind === CLASS && number > 1 && [make('dt', {}, 'each retains'), make('dd', {}, bytes(Math.round(retained[node] / number)))]),
    children.length > 0 && [make('h3', {}, 'holds'), make('ul', {class: 'holds'},
      children.slice(0, 7).map(child => make('li', {},
        make('div', {class: 'row'}, link(labelOf(child), () => reveal(child)), make('span', {class: 'number'}, bytes(retained[child]))),
        make('div', {class: 'bar', style: {width: `${100 * retained[child] / (retained[node] || 1)}%`}}))),
      rest.length > 0 && make('li', {class: 'dim small'},
        `${count(rest.length)} more, ${bytes(rest.reduce((sum, child) => sum + retained[child], 0))}`))],
    same.length > 0 && [make('h3', {}, 'the largest of these'), make('ul', {class: 'holds'}, same.slice(0, 5).map(([object, i]) =>
      make('li', {}, make('div', {class: 'row whole'}, link(visible(object.held_by ?? object.address), () => showObject(i)),
        make('span', {class: 'number'}, bytes(object.retained))))))],
    layout && [make('h3', {}, `layout, ${several(layout.size, 'byte')}`), layoutBar(layout, 300)],
    make('p', {class: 'more'}, node !== state.top && children.length > 0 && button('Zoom in', () => zoom(node)),
      holdersButton(node)));
}

// ---- mouse and keys ----

/** The node of the box or row that an event is in, or -1. */
function nodeAt(event) {
  const element = event.target.closest('[id^=n]');
  return element && plot.contains(element) ? Number(element.id.slice(1)) : -1;
}

/** The node that holds what the topmost box is: boxes of the map may stand for several nodes. */
function outOf(node) {
  const shared = looks.find(look => look.nodes.includes(node))?.nodes ?? [node];
  return Math.max(0, parents[shared[0]]);
}

treeView.addEventListener('click', event => {
  const node = nodeAt(event);
  treeView.focus({preventScroll: true});
  if (node < 0) return;
  if (drawn.get(state.top) === drawn.get(node)) zoom(outOf(node));
  else if (childrenOf(node).length === 0) select(node);
  else zoom(node);
});

function toggleRow(node, isOpen = !opened.has(node)) {
  if (isOpen) opened.add(node);
  else opened.delete(node);
  state.node = node;
  redraw();
}
tableView.addEventListener('click', event => {
  const twist = event.target.closest('[data-twist]'), node = nodeAt(event);
  if (event.target.closest('button')) return;
  if (twist) toggleRow(Number(twist.dataset.twist));
  else if (node >= 0) select(node);
  tableView.focus({preventScroll: true});
});
tableView.addEventListener('dblclick', event => {
  const node = nodeAt(event);
  if (node >= 0 && childrenOf(node).length > 0) zoom(node);
});

const tip = document.getElementById('tip');
treeView.addEventListener('mousemove', event => {
  const rest = event.target.closest('[data-narrow]'), node = nodeAt(event);
  tip.hidden = node < 0 && !rest;
  if (tip.hidden) return;
  tip.replaceChildren(...rest ? [`${count(Number(rest.dataset.narrow))} more, too narrow to draw: zoom in`] : [
    make('b', {}, labelOf(node)), make('br'), `retains ${[bytes(retained[node]), shareOf(node)].filter(Boolean).join(', ')}`,
    hasPages && isLast() ? `; pages ${bytes(pages[node])}` : '',
    was ? `, ${change(node) ? signed(change(node), bytes) : 'as before'}` : '',
    isLast() && tree.bytes[node] > 0 ? `; its own ${bytes(tree.bytes[node])}` : '']);
  const {width, height} = tip.getBoundingClientRect();
  tip.style.left = `${Math.max(6, Math.min(event.clientX + 14, innerWidth - width - 10))}px`;
  tip.style.top = `${event.clientY + 20 + height > innerHeight ? event.clientY - height - 12 : event.clientY + 18}px`;
});
treeView.addEventListener('mouseleave', () => { tip.hidden = true; });

/** In the pictures arrows go where they point: in the map, and in the icicle, down is into a box. */
function pictureKey(key) {
  const node = state.node, nodesBeside = of => looks.find(look => look.nodes.includes(of))?.nodes ?? [of];
  const around = node > 0 ? childrenOf(outOf(node)) : [node], at = around.indexOf(nodesBeside(node)[0]);
  const go = to => { if (to !== undefined && to >= 0 && drawn.has(to)) select(nodesBeside(to).at(-1)); };
  if (key === 'ArrowDown') {
    let to = node;
    do to = childrenOf(to)[0]; while (to !== undefined && drawn.get(to) === drawn.get(node)); // not to one in the same box
    go(to);
  } else if (key === 'ArrowUp') go(outOf(node));
  else if (key === 'ArrowRight') go(around[at + 1]);
  else if (key === 'ArrowLeft') go(around[at - 1]);
  else if (key === 'Home') go(state.top);
  else if (key === 'Enter' || key === ' ') zoom(node);
  else if (key === 'Escape' || key === 'Backspace') { state.top = outOf(state.top); redraw(); }
  else return false;
  return true;
}

function tableKey(key) {
  const rows = looks.map(look => look.nodes[0]), node = state.node, at = rows.indexOf(node);
  const go = to => { if (to !== undefined && drawn.has(to)) select(to); };
  if (key === 'ArrowDown') go(rows[at + 1]);
  else if (key === 'ArrowUp') go(rows[at - 1]);
  else if (key === 'Home') go(rows[0]);
  else if (key === 'End') go(rows[rows.length - 1]);
  else if (key === 'ArrowRight' && !opened.has(node)) toggleRow(node, true);
  else if (key === 'ArrowRight') go(childrenOf(node)[0]);
  else if (key === 'ArrowLeft' && opened.has(node) && childrenOf(node).length > 0) toggleRow(node, false);
  else if (key === 'ArrowLeft') go(parents[node]);
  else if (key === 'Enter') zoom(node);
  else if (key === 'Escape' || key === 'Backspace') { state.top = Math.max(0, parents[state.top]); redraw(); }
  else return false;
  return true;
}

for (const [view, handle] of [[treeView, pictureKey], [tableView, tableKey]]) {
  view.addEventListener('keydown', event => {
    if (event.target !== view || event.ctrlKey || event.metaKey || event.altKey) return;
    if (handle(event.key)) event.preventDefault();
  });
}
addEventListener('keydown', event => {
  if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|TEXTAREA)$/.test(event.target.tagName)) return;
  event.preventDefault();
  goTo('tree');
  search.focus({preventScroll: true});
});

const keys = (...list) => list.flatMap(key => [make('kbd', {}, key), ' ']);
section('tree', 'What holds what', 'What holds what',
  'Freeing a box frees everything inside or below it. Objects of one type with the same holder are one box.',
  make('div', {class: 'tools'}, choices.map(one => one.element), search, found, svgButton), crumbs,
  make('div', {class: 'explore'}, make('div', {}, plot, legend, growthHint, make('p', {class: 'hint'},
    'Click a box to zoom in, the topmost one to zoom out. ', keys('←', '↑', '→', '↓'), 'move, ', keys('Enter'), 'zooms in, ', keys('Esc'),
    'zooms out, ', keys('/'), 'searches, where ', keys('Enter'), 'goes to the next hit. The address of the page links to what is shown.')), side),
  data.series && comparedDumps.length < data.series.dumps.length && note(`${count(comparedDumps.length)} of the ${count(data.series.dumps.length)} dumps can be compared: `
    + 'this page has no room for the others.'),
  data.cut?.tree?.[0] > 0 && note(`${several(data.cut.tree[0], 'branch', 'branches')} too small for this page, `
    + `${bytes(data.cut.tree[1])}, are merged into “smaller branches” of what holds them.`));

// ---- what is gone, or less than before ----

/**
 * What has become less by a thousandth of all that has: the uppermost objects and goroutines of which there are fewer, and the
 * branches that are gone. Of objects as many as before, their own bytes may be fewer, with those of branches that are too small
 * for the list of what is gone.
 */
function lessThanBefore() {
  const goneBelow = new Map(), rows = [];
  for (const gone of data.gone) {
    const holder = shownAs[gone.below];
    goneBelow.set(holder, [...goneBelow.get(holder) ?? [], gone]);
  }
  const stack = [0];
  while (stack.length > 0) {
    const i = stack.pop(), fewer = tree.was_count[i] - tree.count[i];
    if (i > 0 && (tree.kind[i] === CLASS || tree.kind[i] === GROUP) && fewer > 0 && change(i) < 0) {
      rows.push({name: nameOf(i), in: labelOf(parents[i]), fewer, freed: -change(i), now: retained[i], node: i});
      continue;
    }
    const own = below[i].reduce((left, child) => left - was[child], was[i]) - (goneBelow.get(i) ?? []).reduce((all, gone) => all + gone.was, 0);
    if (tree.kind[i] === CLASS && own > tree.bytes[i])
      rows.push({name: nameOf(i), in: labelOf(parents[i]), fewer: 0, freed: own - tree.bytes[i], now: retained[i], node: i});
    for (const gone of goneBelow.get(i) ?? [])
      rows.push({name: gone.name, in: labelOf(i), fewer: gone.was_count, freed: gone.was, now: 0, node: i});
    stack.push(...below[i]);
  }
  const all = rows.reduce((sum, row) => sum + row.freed, 0);
  return rows.filter(row => row.freed >= all / 1000);
}

const less = since ? lessThanBefore() : [];
if (less.length > 0) {
  section('less', 'Gone', 'Gone or shrunk', 'Compared by path: what something else holds now is gone from its old path.',
    ...sheet([{key: 'name', title: 'what', click: row => show(row.node)}, {key: 'in', title: 'in'}, {key: 'fewer', title: 'fewer', format: count},
      {key: 'freed', title: 'less by', format: bytes, hasBar: true}, {key: 'now', title: 'retains now', format: size => size > 0 ? bytes(size) : 'gone'}],
    less, {sort: 'freed', most: 10}),
    data.cut?.gone > 0 && note(`${several(data.cut.gone, 'further branch', 'further branches')} that are gone are not in this table.`));
}

// ---- tables ----

/**
 * A table that can be sorted and filtered. Columns have a key of rows, a title, and
 *   format    writes a number; columns without have names
 *   isChange  writes it with its sign
 *   hasBar    shows it as a bar, if the table is sorted by it
 *   click     is called with a row whose name was clicked
 */
function sheet(columns, rows, {sort, most, filter, isStandard = () => false}) {
  let key = sort, direction = -1, isWhole = false, matches = () => true;
  let shown = rows;
  const box = make('div', {class: 'scrolls'}), more = make('p', {class: 'more'});
  const bars = columns.filter(column => column.hasBar);
  const largestOf = key => rows.reduce((max, row) => Math.max(max, Math.abs(row[key] ?? 0)), 1);
  const compare = (a, b) => direction * (columns.find(column => column.key === key).format
    ? (a[key] ?? 0) - (b[key] ?? 0) : String(a[key] ?? '').localeCompare(String(b[key] ?? ''), 'en'));
  const sortBy = column => {
    direction = key === column.key ? -direction : column.format ? -1 : 1;
    key = column.key;
    update();
    box.querySelector('[aria-sort] button').focus({preventScroll: true});
  };
  const head = column => make('th', {class: column.format && 'n', 'aria-sort': column.key === key
    ? direction < 0 ? 'descending' : 'ascending' : undefined}, button(column.title, () => sortBy(column)));
  const cell = (column, row) => {
    const value = row[column.key];
    if (!column.format) return make('td', {class: 'name'}, column.click ? link(visible(value), () => column.click(row)) : code(value ?? ''));
    return make('td', {class: `n ${column.isChange ? directionOf(value ?? 0) : ''}`},
      value === undefined ? '' : column.isChange ? signed(value, column.format) : column.format(value));
  };
  function update() {
    const chosen = rows.filter(row => !(state.library === 'hide' && isStandard(row))).filter(row => matches(String(row[columns[0].key]))).sort(compare);
    shown = chosen;
    const bar = bars.find(column => column.key === key) ?? bars[0], largest = bar && largestOf(bar.key);
    box.replaceChildren(make('table', {},
      make('thead', {}, make('tr', {}, columns.map(head), bar && make('td', {'aria-hidden': 'true'}))),
      make('tbody', {}, chosen.slice(0, isWhole ? chosen.length : most).map(row => make('tr', {class: isStandard(row) && 'standard'}, columns.map(column => cell(column, row)),
        bar && make('td', {class: 'visual', 'aria-hidden': 'true'}, make('div', {class: 'bar', style: {
          width: `${100 * Math.abs(row[bar.key] ?? 0) / largest}%`}})))))));
    more.replaceChildren(...chosen.length > most ? [button(isWhole ? 'Show fewer' : `Show all ${count(chosen.length)}`, () => {
      isWhole = !isWhole;
      update();
    })] : [], ...chosen.length > 3 ? [button('CSV', () => save('csv', csvOf(columns, shown)),
      {title: 'Save the rows as a table for spreadsheets'})] : []);
  }
  update();
  sheets.push(update);
  return [filter && make('div', {class: 'tools'}, make('input', {type: 'search', placeholder: filter, 'aria-label': filter,
    title: 'main. shows what has this in it, !main. hides it; /^main\\.(User|Session)$/ is a regular expression', on: {
      input: event => {
        matches = matcherOf(event.target.value);
        update();
      },
    }})), box, more];
}

/** What a filter lets pass: names with a text in them, whatever its case, or that a /regular expression/ finds; after ! the others. */
function matcherOf(filter) {
  const isHiding = filter.startsWith('!'), wanted = isHiding ? filter.slice(1) : filter;
  if (!wanted) return () => true;
  const [, pattern] = /^\/(.+?)\/?$/.exec(wanted) ?? [];
  let find = name => name.toLowerCase().includes(wanted.toLowerCase());
  try {
    const expression = pattern && new RegExp(pattern, 'u');
    if (expression) find = name => expression.test(name);
  } catch { /* it is being typed: until it is one, it is a text */ }
  return name => find(name) !== isHiding;
}

/** The rows of a table as CSV (RFC 4180), with numbers as they are. What a spreadsheet would calculate becomes text. */
function csvOf(columns, rows) {
  const cell = value => {
    if (typeof value === 'number') return String(value);
    const text = visible(value ?? '').replace(/^(?=[=+\-@])/, "'");
    return /[",]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return [columns.map(column => column.title), ...rows.map(row => columns.map(column => row[column.key]))].map(row => `${row.map(cell).join(',')}\r\n`).join('');
}

/** Offers a text as a file to save. */
function save(ending, text) {
  const {createObjectURL: publish, revokeObjectURL: forget} = URL, name = `${baseName(report.heap.source)}.${ending}`;
  const type = ending === 'svg' ? 'image/svg+xml' : 'text/csv';
  const address = publish(new Blob([text], {type})), anchor = make('a', {href: address, download: name});
  document.body.append(anchor);
  anchor.click();
  anchor.remove();
  setTimeout(() => forget(address), 10_000);
}

/** A text without the characters that XML forbids, besides those that visible() writes in another way. */
const legal = text => text.replace(/[\ufffe\uffff]/g, '\ufffd');

/** An empty drawing on the page's ground. */
const drawing = (width, height, title) => draw('svg', {width, height, viewBox: `0 0 ${width} ${height}`, 'font-family': 'monospace', 'font-size': 12},
  draw('title', {}, legal(`${visible(baseName(report.heap.source))}, ${title}`)),
  draw('rect', {width, height, fill: getComputedStyle(document.body).backgroundColor}));

/** Charts as a drawing, two in a row, each below its title and figures, with the colours that they have now. */
function svgOfCharts(figures) {
  const width = 300, height = 96, gap = 20, line = 16, looks = ['fill', 'stroke', 'stroke-width', 'stroke-dasharray', 'opacity'];
  const rows = Math.ceil(figures.length / 2), above = 3 * line, svg = drawing(2 * width + 3 * gap, rows * (above + height + gap) + gap, 'trends');
  for (const [i, figure] of figures.entries()) {
    const x = gap + i % 2 * (width + gap), y = gap + Math.floor(i / 2) * (above + height + gap), chart = figure.querySelector('svg'), copy = chart.cloneNode(true);
    for (const [name, value] of Object.entries({x, y: y + above, width, height})) copy.setAttribute(name, value);
    const originals = chart.querySelectorAll('*');
    for (const [j, element] of copy.querySelectorAll('*').entries()) {
      const style = getComputedStyle(originals[j]);
      for (const look of looks) element.setAttribute(look, style.getPropertyValue(look));
      if (element.tagName === 'text') element.setAttribute('font-size', style.fontSize);
    }
    const texts = [...figure.querySelectorAll('bdi, figcaption > div')];
    svg.append(draw('svg', {x, y, width, height: above}, ...texts.map((text, j) => draw('text', {y: line * (j + .75), fill: getComputedStyle(text).color}, legal(text.textContent)))), copy);
  }
  return new XMLSerializer().serializeToString(svg);
}

/** The boxes of a picture as a drawing, with the colours that they have now, for documents and tickets. */
function svgOf(view, title) {
  const {clientWidth: width, clientHeight: height} = view, svg = drawing(width, height, title);
  for (const box of view.children) {
    const {offsetLeft: x, offsetTop: y, offsetWidth: w, offsetHeight: h} = box, style = getComputedStyle(box);
    const isRest = box.classList.contains('rest'), texts = box.childElementCount > 0 ? [...box.children].map(part => part.textContent) : [box.textContent];
    const [name, size = ''] = texts, room = w - 8 - 7.3 * size.length, line = Math.min(h, Number.parseFloat(style.lineHeight) || h);
    const text = (content, left, space, anchor) => content && space > 12 && draw('svg', {x: x + left, y, width: space, height: h},
      draw('text', {x: anchor === 'end' ? space : 0, y: line / 2 + 4, 'text-anchor': anchor, fill: style.color}, legal(content)));
    svg.append(draw('g', {opacity: style.opacity}, draw('rect', {x, y, width: w, height: h, rx: 2, fill: isRest ? style.borderColor : style.backgroundColor,
      'fill-opacity': isRest ? .25 : 1, ...box.classList.contains('map') && {stroke: style.borderColor}}, draw('title', {}, legal(box.getAttribute('aria-label') ?? 'smaller ones'))),
    ...isRest ? [] : [text(name, 4, room, 'start'), text(size, w - 4 - 7.3 * size.length, 7.3 * size.length, 'end')].filter(Boolean)));
  }
  return new XMLSerializer().serializeToString(svg);
}

// ---- who holds a type ----

const holders = make('div', {id: 'holders', hidden: true});

/** The holders of a type's objects, as --path-to lists them: the names above them, the same ones merged, with their share. */
function holdersOf(row) {
  const found = new Map();
  let bytesFound = 0, objects = 0;
  for (let i = 1; i < size; i++) {
    if (tree.kind[i] !== CLASS || shownAs[i] !== i || nameOf(i) !== row.class) continue;
    const above = trailOf(parents[i]).filter(node => node > 0 && !nameOf(node).startsWith('('));
    const holder = above.map(node => visible(nameOf(node))).join(' › ') || 'several roots';
    const one = found.get(holder) ?? {holder, objects: 0, own: 0, retained: 0, node: i};
    if (retained[i] > retained[one.node]) one.node = i;
    one.objects += tree.count[i];
    one.own += tree.bytes[i];
    if (!above.some(node => tree.kind[node] === CLASS && nameOf(node) === row.class)) one.retained += retained[i];
    found.set(holder, one);
    bytesFound += tree.bytes[i];
    objects += tree.count[i];
  }
  const rows = [...found.values()];
  if (row.bytes > bytesFound) rows.push({holder: '(in branches too small for this page)', objects: Math.max(0, row.objects - objects), own: row.bytes - bytesFound, retained: 0, node: -1});
  return rows.map(one => ({...one, share: row.bytes > 0 ? 100 * one.own / row.bytes : 0}));
}

/**
 * The same as a tree that stands on its head: the type is the root, and below each node is what holds it, merged by name, up to
 * variables and goroutines. own is the bytes of the type's objects that are held in this way, node the largest place of these.
 */
function invertedTree(row) {
  const fresh = (name, level, node) => ({name, level, node, own: 0, objects: 0, inner: new Map(), colour: packageColour(node)});
  let top;
  for (let i = 1; i < size; i++) {
    if (tree.kind[i] !== CLASS || shownAs[i] !== i || nameOf(i) !== row.class) continue;
    top ??= fresh(row.class, 0, i);
    for (let at = top, above = i; at; above = parents[above]) {
      if (above === i || !nameOf(above).startsWith('(')) {
        if (above !== i) {
          const name = nameOf(above);
          if (!at.inner.has(name)) at.inner.set(name, {...fresh(name, at.level + 1, i), colour: packageColour(above)});
          at = at.inner.get(name);
        }
        at.own += tree.bytes[i];
        at.objects += tree.count[i];
        if (retained[i] > retained[at.node]) at.node = i;
      }
      if (parents[above] <= 0) break;
    }
  }
  return top;
}

/** Draws it as an icicle, in which a click zooms, with a line about the box that is selected. */
function invertedIcicle(row) {
  const whole = invertedTree(row), rowHeight = 26;
  if (!whole || whole.own === 0 || whole.inner.size === 0) return undefined;
  const view = make('div', {class: 'boxes', role: 'tree', tabindex: 0, 'aria-label': `what holds ${visible(row.class)}`});
  const about = make('p', {class: 'small', role: 'status'}), frame = make('div', {class: 'plot inverted'}, view);
  let top = whole, selected = whole, boxes = []; // boxes: [node, element, the node that it is below]
  const trail = [];
  const select = node => {
    selected = node;
    for (const [one, element] of boxes) {
      element.classList.toggle('selected', one === node);
      element.setAttribute('aria-selected', String(one === node));
      if (one === node) view.setAttribute('aria-activedescendant', element.id);
    }
    fill(about, node === whole ? '' : 'Held through ', code(node.name), `: ${several(node.objects, 'object')}, ${bytes(node.own)}, `
      + `${percent(node.own, whole.own)} of the type. `, button('Show in the tree', () => show(node.node)));
  };
  const zoomTo = node => {
    const path = pathTo(node);
    trail.splice(0, trail.length, ...path.slice(0, -1));
    top = node;
    paintBoxes();
    select(node);
  };
  const pathTo = node => {
    const path = [node];
    while (path[0] !== whole) path.unshift(path[0].outer);
    return path;
  };
  const addBox = (node, x, width, level, kind) => {
    const left = Math.round(x), right = Math.max(left + 1, Math.round(x + width) - 1), isWide = right - left >= 150;
    const element = make('div', {id: `h${boxes.length}`, role: 'treeitem', 'aria-level': node.level + 1, 'aria-label': `${visible(node.name)}, ${bytes(node.own)}`,
      class: `box ${kind} ${node.colour}${isWide ? ' wide' : right - left < 14 ? ' thin' : ''}`, title: `${visible(node.name)}, ${bytes(node.own)}`,
      style: {left: `${left}px`, top: `${level * rowHeight}px`, width: `${right - left}px`, height: `${rowHeight - 1}px`}},
    isWide ? [make('span', {}, visible(node.name)), ' ', make('span', {}, bytes(node.own))] : right - left >= 34 ? visible(node.name) : '');
    boxes.push([node, element]);
    view.append(element);
  };
  const paintBoxes = () => {
    const width = frame.clientWidth;
    boxes = [];
    view.replaceChildren();
    view.style.setProperty('--row', `${rowHeight - 1}px`);
    trail.forEach((node, level) => addBox(node, 0, width, level, 'above'));
    let rows = trail.length + 1;
    const place = (node, x, w, level) => {
      let at = x, left = 0;
      addBox(node, x, w, level, '');
      rows = Math.max(rows, level + 1);
      for (const inner of [...node.inner.values()].sort((a, b) => b.own - a.own)) {
        const innerWidth = w * inner.own / node.own;
        inner.outer = node;
        if (innerWidth >= 2) {
          place(inner, at, innerWidth, level + 1);
          at += innerWidth;
        } else left += innerWidth;
      }
      if (left < 3) return;
      rows = Math.max(rows, level + 2);
      view.append(make('div', {class: 'box rest', style: {left: `${Math.round(at)}px`, top: `${(level + 1) * rowHeight}px`, width: `${Math.round(left) - 1}px`, height: `${rowHeight - 1}px`}}));
    };
    place(top, 0, width, trail.length);
    view.style.height = `${rows * rowHeight}px`;
    frame.style.height = `${Math.min(420, rows * rowHeight + 2)}px`;
  };
  const boxOf = event => boxes.find(([, element]) => element.contains(event.target))?.[0];
  view.addEventListener('click', event => {
    const node = boxOf(event);
    view.focus({preventScroll: true});
    if (node) zoomTo(node === top && node !== whole ? node.outer : node);
  });
  view.addEventListener('keydown', event => {
    const drawnNodes = boxes.map(([node]) => node), beside = selected.outer ? [...selected.outer.inner.values()].filter(one => drawnNodes.includes(one)).sort((a, b) => b.own - a.own) : [];
    const inner = [...selected.inner.values()].filter(one => drawnNodes.includes(one)).sort((a, b) => b.own - a.own)[0], at = beside.indexOf(selected);
    const to = {ArrowDown: inner, ArrowUp: selected.outer, ArrowRight: beside[at + 1], ArrowLeft: beside[at - 1], Home: top}[event.key];
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (to) select(to);
    else if (event.key === 'Enter' || event.key === ' ') zoomTo(selected);
    else if (event.key === 'Escape' || event.key === 'Backspace') zoomTo(top.outer ?? whole);
    else if (!event.key.startsWith('Arrow')) return;
    event.preventDefault();
  });
  // It can be drawn only when it is in the page, and as wide as that.
  drawHolders = () => { paintBoxes(); select(selected); };
  return [make('p', {class: 'dim small'}, 'Below a box is what holds it, merged by name; widths are bytes of the type. A click zooms in, on the topmost box out.'), frame, about,
    make('p', {class: 'more'}, button('SVG', () => save('svg', svgOf(view, `what holds ${visible(row.class)}`)), {title: 'Save the picture'}))];
}

let drawHolders; // draws the picture of holders anew, if there is one

/** Lists who holds a type, below the table of types. */
function showHolders(row) {
  sheets.splice(sheetsOfPage);
  holders.hidden = false;
  drawHolders = undefined;
  fill(holders, make('h3', {}, 'Who holds ', code(row.class)),
    make('p', {class: 'dim'}, `${several(row.objects, 'object')} of ${bytes(row.bytes)}${isLast() ? '' : ', in the last dump'}. `
      + 'A holder is the trail from a variable or goroutine; the share is of these bytes.'), invertedIcicle(row),
    ...sheet([{key: 'holder', title: 'holder', click: one => one.node >= 0 && show(one.node)}, {key: 'objects', title: 'objects', format: count},
      {key: 'own', title: 'own', format: bytes, hasBar: true}, {key: 'share', title: 'share', format: part => percent(part, 100)},
      {key: 'retained', title: 'retained', format: bytes, hasBar: true}], holdersOf(row), {sort: 'own', most: 10}));
  drawHolders?.();
  holders.setAttribute('tabindex', '-1');
  holders.scrollIntoView({block: 'nearest'});
  holders.focus({preventScroll: true});
}

const typeRows = report.classes.map(row => row.allocated_by
  ? {...row, by: `${row.allocated_by.function} ${row.allocated_by.file}:${row.allocated_by.line}`} : {...row});

/** Puts the numbers of the dumps that are compared into the tables of types and of goroutines. */
function comparePlaces() {
  const isUsual = compared.from === 0 && isLast();
  report.classes.forEach((row, i) => {
    const before = classOfDump(row, compared.from), now = classOfDump(row, compared.to);
    Object.assign(typeRows[i], {objects: now.objects, bytes: now.bytes, retained: isLast() ? row.retained : undefined,
      grown: isUsual ? row.grown : now.bytes - before.bytes});
  });
  const groups = new Map();
  for (let i = 1; i < size; i++) if (isMany(i) || isOne(i)) groups.set(nameOf(i).replace(/^goroutines? /, ''), shownAs[i]);
  report.goroutines.forEach((row, i) => {
    const node = groups.get(row.place);
    Object.assign(placeRows[i], isUsual ? row : node === undefined ? {grown: undefined, count: isLast() ? row.count : undefined}
      : {count: tree.count[node], grown: tree.count[node] - tree.was_count[node], retained: retained[node]});
  });
}

const typesShown = 15, typesSorted = since ? 'grown' : 'bytes';
/** Whether the types that are shown first say what allocated them: others alone are not worth a column. */
const haveAllocators = [...report.classes].sort((a, b) => (b[typesSorted] ?? 0) - (a[typesSorted] ?? 0)).slice(0, typesShown)
  .some(row => row.allocated_by);
const growthColumn = format => since ? [{key: 'grown', title: 'grown', format, isChange: true, hasBar: true}] : [];
section('types', 'Types', 'Types', 'Own bytes add up to the heap. Retained: what would be freed without all objects of the type.',
  ...sheet([
    {key: 'class', title: 'type', click: row => showHolders(report.classes.find(one => one.class === row.class))}, {key: 'objects', title: 'objects', format: count, hasBar: true},
    {key: 'bytes', title: 'own', format: bytes, hasBar: true}, {key: 'retained', title: 'retained', format: bytes, hasBar: true},
    ...growthColumn(bytes),
    ...haveAllocators ? [{key: 'by', title: 'allocated by'}] : [],
  ], typeRows,
  {sort: typesSorted, most: typesShown, filter: 'Filter types', isStandard: row => isStandardText(row.class.replace(/^.*[\]*]/, ''))}),
  data.series?.compared.cut > 0 && note(`Of ${several(data.series.compared.cut, 'type')} that have changed least, this page knows the last dump only.`),
  data.cut?.classes > 0 && note(`${several(data.cut.classes, 'smaller type')} are not in this table.`), holders);

// ---- goroutines ----

const placeRows = report.goroutines.map(row => ({...row}));
section('goroutines', 'Goroutines', 'Goroutines by location', '',
  ...sheet([
    {key: 'place', title: 'location'}, {key: 'started_at', title: 'started at'},
    {key: 'count', title: 'goroutines', format: count, hasBar: true},
    ...report.leaked?.count > 0 ? [{key: 'leaked', title: 'leaked', format: count}] : [], {key: 'retained', title: 'retained', format: bytes, hasBar: true},
    ...growthColumn(count).map(column => ({...column, hasBar: false})),
  ], placeRows, {sort: 'retained', most: 12, filter: report.goroutines.length > 12 && 'Filter locations',
    isStandard: row => isStandardText(row.place)}),
  report.leaked?.count > 0 && note(`${several(report.leaked.count, 'goroutine')} can never run again, because nothing alive reaches `
    + `what ${report.leaked.count === 1 ? 'it waits' : 'they wait'} on; together they retain ${bytes(report.leaked.retained)}.`),
  report.leaked?.reason && note(`It is not known which goroutines can never run again: ${report.leaked.reason}.`),
  report.ended && note(`${several(report.ended.count, 'goroutine')} have ended; the runtime keeps ${bytes(report.ended.bytes)} for reuse.`),
  data.cut?.goroutines > 0 && note(`${several(data.cut.goroutines, 'more location')} are not in this table.`));

// ---- the largest objects ----

/** How to get to an object, step by step, and what is in it. */
function aboutObject(object) {
  return [
    object.held_by && expressionBox(object.held_by),
    make('p', {class: 'small dim'}, code(names[object.class]), ' at ', code(object.address), `, ${bytes(object.own)} of its own, retains `,
      `${bytes(object.retained)}.`, object.shared_by && [' Reached from ', code(object.shared_by), '.']),
    object.steps?.length > 0 && make('ol', {class: 'steps'}, object.steps.map(step => make('li', {},
      step.step && [make('b', {}, code(step.step)), '  '], make('span', {class: step.step && 'dim'}, code(names[step.class])),
      make('span', {class: 'dim'}, `  ${bytes(step.retained)}`)))),
    object.fields?.length > 0 && make('div', {class: 'scrolls'}, fieldsTable(object.fields)),
    object.referrers?.length > 0 && make('p', {class: 'small'}, 'Referred to by ', object.referrers.map(([text, times], i) =>
      [i > 0 && ', ', times > 1 && `${count(times)} × `, code(text)]), '.'),
    make('div', {}, button('Show in the tree', () => show(object.node))),
  ];
}

const objectDetails = (data.largest ?? []).map((object, i) => {
  const inner = make('div', {class: 'in'});
  const details = make('details', {}, make('summary', {}, make('span', {class: 'code'}, visible(object.held_by ?? object.address)),
    make('span', {class: 'code dim of'}, visible(names[object.class])), make('span', {class: 'number size'}, bytes(object.retained))), inner);
  const tellOnce = () => { if (details.open && inner.childElementCount === 0) fill(inner, aboutObject(object)); };
  details.addEventListener('toggle', tellOnce);
  details.open = i === 0;
  tellOnce();
  return details;
});
const fewObjects = 15, otherObjects = make('div', {}, objectDetails.slice(0, fewObjects));
const allObjects = objectDetails.length > fewObjects && make('p', {class: 'more'}, button(`Show all ${count(objectDetails.length)}`, showObjects));
function showObjects() {
  otherObjects.append(...objectDetails.slice(fewObjects));
  if (allObjects) allObjects.remove();
}
function showObject(i) {
  if (i >= fewObjects) showObjects();
  objectDetails[i].open = true;
  objectDetails[i].scrollIntoView({block: 'center'});
  objectDetails[i].querySelector('summary').focus({preventScroll: true});
}
if (objectDetails.length > 0) {
  section('objects', 'Largest objects', 'The largest objects, and who holds them',
    'Each with a Go expression that leads to it, and its path from the roots: field, type and retained size of each step.', otherObjects, allObjects);
}

// ---- waste ----

function wasteRows({slices, stale, maps, substrings, strings}) {
  const places = (part, kind, number) => (part?.places ?? []).map(row =>
    ({what: row.place, kind, number: row[number], of: row.bytes, wasted: row.wasted}));
  return [
    ...places(slices, 'capacity of slices', 'arrays'), ...places(stale, 'elements outside all slices', 'objects'),
    ...(maps?.types ?? []).map(row => ({what: row.type, kind: `${count(row.used)} of ${several(row.slots, 'slot')} of maps used`,
      number: row.maps, of: row.bytes, wasted: row.wasted})),
    ...places(substrings, 'strings kept by substrings', 'strings'),
    ...(strings?.texts ?? []).map(row => ({what: `"${row.text}"`, kind: 'identical strings', number: row.count, wasted: row.wasted})),
  ].filter(row => row.wasted > 0);
}

/** What is not part of the sum: memory that is not reachable, or that other rows have as well. */
function wasteBeside({spans, rounding, padding}) {
  const tables = [
    spans?.wasted > 0 && [`${bytes(spans.wasted)} are free in spans that are less than a quarter full`, 'slots of',
      spans.sizes.map(row => ({what: `${count(row.slot)} B`, number: row.spans, of: row.bytes, wasted: row.bytes - row.live})), 'spans'],
    rounding?.wasted > 0 && [`${bytes(rounding.wasted)} of size-class rounding`, 'type',
      rounding.classes.map(row => ({what: row.class, number: row.objects, of: row.bytes, wasted: row.wasted})), 'objects'],
    padding?.wasted > 0 && [`${bytes(padding.wasted)} of padding between fields`
      + (padding.saved > 0 ? `; reordering fields saves ${bytes(padding.saved)}` : ''), 'type',
    padding.classes.map(row => ({what: row.class, number: row.objects, wasted: row.wasted, saved: row.saved})), 'objects'],
  ];
  return tables.filter(Boolean).map(([title, what, rows, number]) => make('details', {}, make('summary', {}, make('span', {}, title)),
    make('div', {class: 'in'}, ...sheet([
      {key: 'what', title: what}, {key: 'number', title: number, format: count},
      ...rows.some(row => row.of) ? [{key: 'of', title: 'of', format: bytes}] : [],
      {key: 'wasted', title: 'unused', format: bytes, hasBar: true},
      ...rows.some(row => row.saved) ? [{key: 'saved', title: 'saved', format: bytes}] : [],
    ], rows, {sort: 'wasted', most: 8}))));
}

if (report.waste) {
  const {waste} = report, beside = wasteBeside(waste), rows = wasteRows(waste);
  section('waste', 'Waste', 'Waste', `${bytes(waste.wasted)}, ${percent(waste.wasted, report.heap.reachable)} of what is reachable.`,
    partsBar([
      ['free capacity of slices', waste.slices?.wasted ?? 0, 'package0'], ['elements outside all slices', waste.stale?.wasted ?? 0, 'package4'],
      ['free slots of maps', waste.maps?.wasted ?? 0, 'package1'], ['strings kept by substrings', waste.substrings?.wasted ?? 0, 'package3'],
      ['identical strings', waste.strings?.wasted ?? 0, 'package2'],
    ]),
    rows.length > 0 && sheet([
      {key: 'what', title: 'where'}, {key: 'kind', title: 'what'}, {key: 'number', title: 'number', format: count},
      {key: 'of', title: 'of', format: bytes}, {key: 'wasted', title: 'wasted', format: bytes, hasBar: true},
    ], rows, {sort: 'wasted', most: 12}),
    data.cut?.waste > 0 && note(`${several(data.cut.waste, 'smaller row')} are not in this table.`),
    beside.length > 0 && [make('h3', {}, 'Not included in this sum'), beside]);
}

// ---- layouts ----

const layoutColours = new Map([['p', 'package1'], ['s', 'package2'], ['l', 'package0'], ['i', 'package3'], ['n', 'root'], ['o', 'other']]);
const layoutNames = new Map([['p', 'pointers, maps, channels, functions'], ['s', 'strings'], ['l', 'slices'], ['i', 'interfaces'],
  ['n', 'numbers'], ['o', 'others']]);

/** As much of a field's name as fits into so many pixels: of a field of a struct in a struct, its own name rather than none. */
function nameWithin(name, pixels) {
  if (pixels < 22) return undefined;
  return visible(name.length * 6.7 + 6 <= pixels ? name : name.split('.').pop());
}

/** The fields of a struct to scale, in so many pixels; what lies between them is not used. */
function layoutBar(layout, width) {
  const whole = Math.max(layout.size, layout.slot ?? 0);
  const bar = make('div', {class: 'layout', role: 'img', 'aria-label': layout.fields.map(([name, type, offset, size]) =>
    `${visible(name)} ${visible(type)} at ${offset}, ${several(size, 'byte')}`).join('; ')});
  const unused = (size, what) => {
    if (size > 0) bar.append(make('i', {class: 'unused', title: `${several(size, 'byte')} ${what}`, style: {flex: `${size} 0 0`}}));
  };
  let at = 0;
  for (const [name, type, offset, size, kind] of layout.fields) {
    unused(offset - at, 'of padding');
    at = Math.max(at, offset + size);
    if (size > 0) {
      bar.append(make('i', {class: layoutColours.get(kind) ?? 'other', style: {flex: `${size} 0 0`},
        title: `${visible(name)} ${visible(type)}, at ${offset}, ${several(size, 'byte')}`}, nameWithin(name, size * width / whole)));
    }
  }
  unused(layout.size - at, 'of padding');
  unused((layout.slot ?? 0) - layout.size, 'of the slot unused');
  return bar;
}

function layoutFigure(layout) {
  let used = 0;
  for (const field of layout.fields) used += field[3];
  const unused = Math.max(0, layout.size - used) + Math.max(0, (layout.slot ?? 0) - layout.size);
  return make('figure', {}, make('figcaption', {}, code(names[layout.class]), make('div', {class: 'dim small number'},
    `${several(layout.size, 'byte')} in a slot of ${count(layout.slot)}; `, unused > 0
      ? `${count(unused)} unused, ${bytes(unused * layout.objects)} over ${several(layout.objects, 'object')}` : 'all used')),
  layoutBar(layout, 420));
}

if (data.layouts?.length > 0) {
  const few = 8, grid = make('div', {class: 'grid of-layouts'}, data.layouts.slice(0, few).map(layoutFigure));
  const kinds = new Set(data.layouts.flatMap(layout => layout.fields.map(field => field[4])));
  const more = data.layouts.length > few && make('p', {class: 'more'}, button(`Show all ${data.layouts.length}`, () => {
    grid.append(...data.layouts.slice(few).map(layoutFigure));
    more.remove();
  }));
  section('layouts', 'Layouts', 'Struct layouts',
    'The structs that take the most memory, with their fields to scale. Hatched: padding, or the unused rest of the allocator’s slot.',
    make('div', {class: 'legend'}, [...layoutNames].filter(([kind]) => kinds.has(kind)).map(([kind, name]) =>
      make('span', {}, make('i', {class: `swatch ${layoutColours.get(kind)}`}), name))), grid, more);
}

// ---- the report as text, which is what readers without scripts see ----

const text = document.getElementById('text'), textDetails = make('details', {}, make('summary', {}, 'Show'), text);
section('as-text', 'Text', 'The report as text', 'For a ticket or an email.', make('p', {},
  copyButton(() => text.textContent, () => { textDetails.open = true; return text; })), textDetails);
text.setAttribute('tabindex', 0); // it scrolls

page.append(make('footer', {}, `Written by ${visible(data.made)}. Everything that this page shows is in the file; it loads nothing. `,
  data.redacted ? 'Strings and keys of the program were left out.'
    : 'It may contain strings of the program: use --redact for a page that you share.',
  data.cut?.names > 0 && ` ${several(data.cut.names, 'name')} were cut at 256 characters.`));

// ---- light and dark, print, and the start ----

const darkScheme = matchMedia('(prefers-color-scheme: dark)');
const isDark = () => root.style.colorScheme ? root.style.colorScheme === 'dark' : darkScheme.matches;
const theme = button('', () => { root.style.colorScheme = isDark() ? 'light' : 'dark'; nameTheme(); });
function nameTheme() {
  theme.textContent = isDark() ? 'Light' : 'Dark';
  theme.setAttribute('aria-label', isDark() ? 'light colours' : 'dark colours');
}
darkScheme.addEventListener('change', nameTheme);
nameTheme();
navigation.append(theme);

// The navigation says which section is read.
const watcher = new IntersectionObserver(entries => {
  for (const {target, isIntersecting} of entries) {
    if (!isIntersecting) continue;
    for (const anchor of navigation.querySelectorAll('a')) {
      if (anchor.getAttribute('href') === `#${target.id}`) anchor.setAttribute('aria-current', 'true');
      else anchor.removeAttribute('aria-current');
    }
  }
}, {rootMargin: '-20% 0px -79% 0px'});
page.querySelectorAll('section').forEach(one => watcher.observe(one));

const sheetsOfPage = sheets.length; // those of holders come and go
for (let i = 0; i < size; i++) if (retained[i] > retained[0] * .02 && depths[i] < 30) opened.add(i);
// Without an address the first suspect is selected: beside the picture there is what it holds.
if (!readAddress()) state.node = data.suspect_nodes.find(node => node >= 0) ?? 0;
if (data.series) comparePlaces();
sheets.forEach(write => write());
redraw();
addEventListener('hashchange', () => {
  if (!readAddress()) return;
  if (data.series) comparePlaces();
  sheets.forEach(write => write());
  redraw();
});

let resizeTimer;
addEventListener('resize', () => {
  clearTimeout(resizeTimer);
  resizeTimer = setTimeout(() => { redraw(); drawHolders?.(); }, 80);
});
addEventListener('beforeprint', () => {
  plot.style.width = '680px';
  redraw();
});
addEventListener('afterprint', () => {
  plot.style.width = '';
  redraw();
});
root.dataset.ready = 'true'; // for tests

})();
