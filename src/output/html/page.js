'use strict';
(() => {
const D = JSON.parse(document.getElementById('data').textContent), R = D.report, T = D.tree, NAMES = D.names, root = document.documentElement;
const $ = (tag, props, ...kids) => {
  const e = document.createElement(tag);
  for (const k in props || {}) {
    const v = props[k];
    if (k.startsWith('on')) e.addEventListener(k.slice(2), v);
    else if (k === 'css') for (const p in v) e.style.setProperty(p, v[p]);
    else if (v !== undefined && v !== false && v !== null) e.setAttribute(k, v === true ? '' : v);
  }
  e.append(...kids.flat(9).filter(k => k !== undefined && k !== null && k !== false && k !== 0));
  return e;
};
const S = (tag, props, ...kids) => { const e = document.createElementNS('http://www.w3.org/2000/svg', tag); for (const k in props) e.setAttribute(k, props[k]); e.append(...kids); return e; };
const UNITS = ['B', 'kB', 'MB', 'GB', 'TB'];
const bytes = n => { let a = Math.abs(n), u = 0; while (a >= 999.5 && u < 4) { a /= 1000; u++; } return (n < 0 ? '−' : '') + (u ? a.toPrecision(3) : a) + ' ' + UNITS[u]; };
const count = n => (n < 0 ? '−' : '') + Math.abs(n).toLocaleString('en-US');
const plus = (n, f) => n > 0 ? '+' + f(n) : n < 0 ? f(n) : '·';
const pct = (a, b) => b ? (100 * a / b < 10 ? (100 * a / b).toFixed(1) : Math.round(100 * a / b)) + ' %' : '';
// controls and characters that reorder text are shown, not obeyed
const clean = s => String(s).replace(/[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g, c => '\\u' + c.charCodeAt(0).toString(16).padStart(4, '0'));
const code = s => $('bdi', {}, clean(s));
const TOTAL = R.heap.reachable, SINCE = R.since;

/* ---- the tree ---- */
const N = T.parent.length, ret = Float64Array.from(T.bytes), obj = Float64Array.from(T.count), was = Float64Array.from(T.was || T.bytes), grow = new Float64Array(N), kids = Array.from({length: N}, () => []), depth = new Uint16Array(N);
for (let i = N - 1; i > 0; i--) { ret[T.parent[i]] += ret[i]; kids[T.parent[i]].push(i); }
for (let i = 1; i < N; i++) depth[i] = depth[T.parent[i]] + 1;
// growth of a branch: what grew in it, without what shrank beside it
for (let i = N - 1; i >= 0; i--) { let below = 0; for (const k of kids[i]) below += grow[k]; grow[i] = Math.max(0, ret[i] - was[i], below); }
const name = i => NAMES[T.name[i]], label = i => (T.count[i] > 1 && T.kind[i] === 2 ? count(T.count[i]) + ' × ' : '') + clean(name(i)), change = i => T.was ? ret[i] - was[i] : 0;
const VAL = {now: ret, grown: grow}, sorted = {};
const children = (i, by) => { const c = sorted[by] || (sorted[by] = []); return c[i] || (c[i] = kids[i].filter(k => VAL[by][k] > 0).sort((a, b) => VAL[by][b] - VAL[by][a])); };
const trail = i => { const p = []; for (; i >= 0; i = T.parent[i]) p.unshift(i); return p; };

/* ---- colours: the packages that have most bytes of their own get one each ---- */
const pkgBytes = new Map();
for (let i = 0; i < N; i++) if (T.kind[i] === 2 && NAMES[T.package[i]] !== 'builtin') pkgBytes.set(T.package[i], (pkgBytes.get(T.package[i]) || 0) + T.bytes[i]);
const topPkgs = [...pkgBytes].sort((a, b) => b[1] - a[1]).slice(0, 5).map(p => p[0]), hue = new Map(topPkgs.map((p, i) => [p, `var(--c${i})`]));
const byPackage = i => T.kind[i] === 0 ? 'var(--root)' : hue.get(T.package[i]) || (NAMES[T.package[i]] === 'builtin' ? 'var(--builtin)' : T.kind[i] === 1 ? 'var(--root)' : 'var(--other)');
const byGrowth = i => { const c = change(i); if (c < -ret[i] * .01) return 'var(--gd)'; const s = c / (ret[i] || 1); return s < .01 ? 'var(--g0)' : s < .25 ? 'var(--g1)' : s < .5 ? 'var(--g2)' : s < .8 ? 'var(--g3)' : 'var(--g4)'; };

/* ---- state, kept in the address so that a place can be linked to ---- */
const st = {mode: 'icicle', by: 'now', col: 'pkg', top: 0, sel: 0, q: ''};
const save = () => history.replaceState(null, '', '#' + new URLSearchParams({view: st.mode, by: st.by, colour: st.col, node: st.sel, top: st.top, ...(st.q ? {find: st.q} : {})}));
const load = () => { const p = new URLSearchParams(location.hash.slice(1)); if (!p.has('node')) return; const n = k => { const v = +p.get(k); return v >= 0 && v < N ? v | 0 : 0; }; st.sel = n('node'); st.top = n('top'); st.q = p.get('find') || ''; if (['icicle', 'map', 'table'].includes(p.get('view'))) st.mode = p.get('view'); if (T.was && p.get('by') === 'grown') st.by = 'grown'; if (T.was && p.get('colour') === 'growth') st.col = 'growth'; };
const matches = () => { const m = new Uint8Array(N); if (!st.q) return null; const q = st.q.toLowerCase(); let hits = 0, sum = 0; const inside = new Uint8Array(N); for (let i = 0; i < N; i++) { const p = T.parent[i]; inside[i] = p >= 0 && (inside[p] || m[p] === 1) ? 1 : 0; if (name(i).toLowerCase().includes(q)) { m[i] = 1; hits++; if (!inside[i]) sum += VAL[st.by][i]; } } return {m, hits, sum}; };

/* ---- page ---- */
const page = document.getElementById('page');
const theme = $('button', {onclick: () => { root.classList.toggle('dark'); theme.textContent = root.classList.contains('dark') ? 'Light' : 'Dark'; }, 'aria-label': 'switch between light and dark'}, 'Dark');
if (matchMedia('(prefers-color-scheme: dark)').matches) { root.classList.add('dark'); theme.textContent = 'Light'; }
const nav = $('nav', {'aria-label': 'sections'});
const SHORT = {suspects: 'Suspects', tree: 'What holds what', classes: 'Types', trends: 'Trends', goroutines: 'Goroutines', objects: 'Largest objects', waste: 'Waste', layouts: 'Layouts', text: 'Text'};
const section = (id, title, lead, ...kids) => { nav.append($('a', {href: '#' + id, onclick: e => { e.preventDefault(); document.getElementById(id).scrollIntoView(); }}, SHORT[id])); return $('section', {id, 'aria-labelledby': id + '-h'}, $('h2', {id: id + '-h'}, title), lead && $('p', {class: 'dim'}, lead), ...kids); };
const stackBar = parts => { const sum = parts.reduce((s, p) => s + p[1], 0); return [$('div', {class: 'stack', role: 'img', 'aria-label': parts.map(p => p[0] + ' ' + bytes(p[1])).join(', ')}, parts.filter(p => p[1] > 0).map(p => $('i', {css: {width: 100 * p[1] / sum + '%', background: p[2]}}))), $('div', {class: 'legend'}, parts.filter(p => p[1] > 0).map(p => $('span', {css: {'--k': p[2]}}, p[0] + ' ' + bytes(p[1]))))]; };

page.append(nav);
const proc = R.process;
page.append($('header', {class: 'head'},
  $('div', {}, $('h1', {}, clean(R.heap.source.split('/').pop())), $('div', {class: 'dim'}, `${clean(R.heap.go)} · ${count(R.heap.objects)} objects · ${count(R.heap.goroutines)} goroutines`),
    $('div', {class: 'figure num'}, bytes(TOTAL), ' ', $('small', {}, 'reachable')),
    SINCE && $('div', {}, $('span', {class: SINCE.reachable > 0 ? 'up' : 'down'}, $('b', {}, plus(SINCE.reachable, bytes)), ` (${plus(SINCE.reachable / (TOTAL - SINCE.reachable), x => Math.round(100 * x) + ' %')})`), ' since ', code(SINCE.source.split('/').pop()), `, ${plus(SINCE.objects, count)} objects, ${plus(SINCE.goroutines, count)} goroutines`)),
  proc ? $('div', {}, $('div', {class: 'dim', css: {'margin-bottom': '6px'}}, `The process has ${bytes(proc.bytes)} from the system`),
    stackBar([['objects', proc.objects - R.heap.garbage, 'var(--c1)'], ['garbage', R.heap.garbage, 'var(--c4)'], ['stacks', proc.stacks, 'var(--c2)'], ['free heap', proc.free, 'var(--root)'], ['the runtime’s own', proc.runtime, 'var(--builtin)']])) : null));

/* suspects */
const findNode = (s) => { let best = -1; for (let i = 0; i < N; i++) if (name(i) === s.item && (!s.in || name(T.parent[i]) === s.in.class) && (best < 0 || ret[i] > ret[best])) best = i; return best; };
const show = i => { st.sel = i; st.top = Math.max(0, T.parent[i]); for (let k = 0; k < 2 && st.top > 0 && kids[st.top].length === 1; k++) st.top = T.parent[st.top]; if (st.mode === 'table') trail(i).forEach(k => open.add(k)); draw(); document.getElementById('tree').scrollIntoView(); };
const card = (s, i) => {
  const node = findNode(s), grown = s.retained_grown;
  const parts = s.each ? [['itself', s.each.own, 'var(--root)'], ...s.each.parts.map((p, k) => [clean(p.class), p.bytes, `var(--c${k % 5})`])] : [];
  return $('article', {class: 'card'},
    $('div', {class: 'big num'}, grown !== undefined ? plus(grown, bytes) : bytes(s.retained), ' ', $('small', {}, `${pct(grown !== undefined ? grown : s.retained, TOTAL)} of the heap`)),
    s.is_goroutines
      ? $('p', {}, s.count_grown ? `${count(s.count_grown)} more goroutines stand in one place, ${count(s.count)} in all: ` : `${count(s.count)} goroutines stand in one place: `, code(s.item.replace(/^goroutines /, '')), s.wait_on && ['. They wait on a ', code(s.wait_on)], s.started_by && [', and were started by the ', code(s.started_by)], '.')
      : $('p', {}, s.count_grown ? `${count(s.count_grown)} more ` : `${count(s.count)} `, code(s.item), s.count_grown && `, now ${count(s.count)}`, s.in && [', in ', s.in.count > 1 ? count(s.in.count) + ' × ' : '', code(s.in.class)], '.'),
    s.hold && s.hold.length > 0 && $('p', {class: 'dim'}, 'Each holds ', s.hold.map((h, k) => [k ? '; ' : '', code(h.class), `, ${bytes(h.each)}, by its variable `, code(h.variable), ' of ', code(h.of)])),
    s.each && $('div', {}, $('div', {class: 'dim', css: {'font-size': '13px', 'margin-bottom': '4px'}}, `each retains ${bytes(s.each.retained)}`), stackBar(parts)),
    s.held_by && $('div', {class: 'way', title: 'a Go expression that leads to one of them'}, clean(s.held_by)),
    s.shared_by && $('p', {class: 'dim'}, 'Also reached from ', code(s.shared_by)),
    node >= 0 && $('div', {class: 'foot noprint'}, $('button', {onclick: () => show(node)}, 'Show in the tree')));
};
page.append(section('suspects', SINCE ? 'What grew, and who holds it' : 'Who holds the memory', R.suspects.length ? '' : 'Nothing holds an unusual share of this heap.', $('div', {class: 'cards'}, R.suspects.map(card))));

/* ---- the explorer ---- */
let ROW = 24; const open = new Set(), plot = $('div', {class: 'plot', tabindex: 0, role: 'tree', 'aria-label': 'what holds what'}), inner = $('div', {class: 'in'}), side = $('aside', {class: 'side', 'aria-live': 'polite'}), crumbs = $('div', {class: 'crumbs'}), legend = $('div', {class: 'legend'}), found = $('span', {class: 'dim num', role: 'status'});
plot.append(inner);
const seg = (key, options, aria) => { const box = $('span', {class: 'seg', role: 'group', 'aria-label': aria}); for (const [v, t] of options) box.append($('button', {'data-v': v, onclick: () => { st[key] = v; draw(); }}, t)); box.sync = () => { for (const b of box.children) b.setAttribute('aria-pressed', b.dataset.v === st[key]); }; return box; };
const segs = [seg('mode', [['icicle', 'Icicle'], ['map', 'Map'], ['table', 'Table']], 'view')];
if (T.was) segs.push(seg('by', [['now', 'Size now'], ['grown', 'Growth']], 'area is'), seg('col', [['pkg', 'Colour: package'], ['growth', 'growth']], 'colour'));
const search = $('input', {type: 'search', placeholder: 'Find a type or variable   /', 'aria-label': 'find', oninput: () => { st.q = search.value; draw(); }, onkeydown: e => { if (e.key === 'Enter') { next(e.shiftKey ? -1 : 1); e.preventDefault(); } if (e.key === 'Escape') { search.value = st.q = ''; draw(); plot.focus(); } }});
const next = d => { const f = matches(); if (!f || !f.hits) return; const list = []; for (let i = 0; i < N; i++) if (f.m[i]) list.push(i); list.sort((a, b) => VAL[st.by][b] - VAL[st.by][a]); const at = list.indexOf(st.sel); const i = list[(at + d + list.length) % list.length]; st.sel = i; if (!trail(i).includes(st.top)) st.top = 0; if (VAL[st.by][i] * (plot.clientWidth || 900) / VAL[st.by][st.top] < 40) st.top = Math.max(0, T.parent[i]); trail(i).forEach(k => open.add(k)); draw(); };
const zoom = i => { st.top = i; st.sel = i; draw(); };

let shown = [];
const fill = i => st.col === 'growth' && T.was ? byGrowth(i) : byPackage(i);
function cell(i, x, y, w, h, f, cls) {
  const e = $('div', {class: 'cell ' + cls + (w < 14 ? ' thin' : '') + (f ? f.m[i] ? ' hit' : ' off' : '') + (i === st.sel && i > 0 ? ' sel' : ''), id: 'n' + i, role: 'treeitem', 'aria-level': depth[i] + 1, 'aria-selected': i === st.sel, 'aria-label': `${label(i)}, ${bytes(ret[i])}`, css: {left: x + 'px', top: y + 'px', width: w + 'px', height: h + 'px', 'line-height': Math.min(h, ROW - 1) + 'px', '--k': fill(i)}});
  if (w >= 26) e.textContent = label(i) + (w > 190 ? '  ' + (st.by === 'grown' ? plus(change(i), bytes) : bytes(ret[i])) : '');
  shown.push(i);
  return e;
}
function icicle(f, W) {
  const v = VAL[st.by], out = document.createDocumentFragment(), up = trail(st.top).slice(0, -1); let rows = up.length; ROW = 24;
  up.forEach((i, k) => out.append(cell(i, 0, k * ROW, W, ROW - 1, f, 'up0')));
  const work = [[st.top, 0, W, up.length]];
  while (work.length) {
    const [i, x, w, d] = work.pop();
    out.append(cell(i, x, d * ROW, Math.max(1, w - 1), ROW - 1, f, '')); rows = Math.max(rows, d + 1);
    let at = x, left = 0, n = 0;
    for (const k of children(i, st.by)) { const kw = w * v[k] / v[i]; if (kw < 2) { left += kw; n++; continue; } work.push([k, at, kw, d + 1]); at += kw; }
    if (left >= 3) out.append($('div', {class: 'cell rest', 'data-rest': n, 'data-of': i, css: {left: at + 'px', top: (d + 1) * ROW + 'px', width: left - 1 + 'px'}}, left > 60 ? count(n) + ' more' : ''));
  }
  inner.style.height = rows * ROW + 'px'; plot.style.height = Math.min(620, rows * ROW + 20) + 'px';
  return out;
}
function squarify(list, v, x, y, w, h, put) { // Bruls, Huizing, van Wijk
  let sum = list.reduce((s, k) => s + v[k], 0), i = 0;
  while (i < list.length && w > 1 && h > 1) {
    const side = Math.min(w, h), scale = w * h / sum; let row = [], area = 0, worst = Infinity;
    while (i < list.length) { const a = v[list[i]] * scale, s = area + a, mx = Math.max(v[row.length ? row[0] : list[i]] * scale, a), mn = a, r = Math.max(side * side * mx / (s * s), s * s / (side * side * mn)); if (r > worst) break; worst = r; area = s; row.push(list[i++]); }
    const t = area / side; let at = 0;
    for (const k of row) { const l = v[k] * scale / t; if (w >= h) put(k, x, y + at, t, l); else put(k, x + at, y, l, t); at += l; sum -= v[k]; }
    if (w >= h) { x += t; w -= t; } else { y += t; h -= t; }
  }
}
function treemap(f, W) {
  plot.style.height = ''; const v = VAL[st.by], H = plot.clientHeight - 2, out = document.createDocumentFragment(), HEAD = 19;
  const put = (i, x, y, w, h) => {
    if (w < 3 || h < 3) return;
    const chain = [i]; let list = children(i, st.by);
    while (list.length === 1 && v[list[0]] >= v[i] * .985 && chain.length < 6) { chain.push(i = list[0]); list = children(i, st.by); }
    const box = cell(i, x, y, w - 1, h - 1, f, 'tm' + (h < 14 ? ' thin' : '')); if (h < 14) box.textContent = ''; out.append(box);
    if (chain.length > 1 && w >= 26 && h >= 14) box.textContent = chain.map(label).join(' › ') + (w > 190 ? '  ' + bytes(ret[i]) : ''); if (!list.length || w < 12 || h < HEAD + 8) return;
    const sum = list.reduce((s, k) => s + v[k], 0), iw = w - 7, ih = h - HEAD - 4, share = Math.min(1, sum / v[i]); // what the node itself has stays empty
    if (iw >= ih) squarify(list, v, x + 3, y + HEAD, iw * share, ih, put); else squarify(list, v, x + 3, y + HEAD, iw, ih * share, put);
  };
  put(st.top, 0, 0, W, H); inner.style.height = H + 'px';
  return out;
}
const whole = new Set();
function table(f) {
  const v = VAL[st.by], body = $('tbody'), most = v[st.top];
  const row = i => {
    const list = children(i, st.by), is = open.has(i) || i === st.top, d = depth[i] - depth[st.top];
    shown.push(i);
    body.append($('tr', {id: 'n' + i, class: (f && f.m[i] ? 'hit ' : '') + (i === st.sel ? 'sel' : ''), 'aria-level': d + 1},
      $('td', {class: 'name'}, $('span', {css: {'padding-left': d * 14 + 'px'}}), list.length ? $('button', {class: 'tw', 'aria-expanded': is, 'aria-label': 'open', 'data-tw': i}, is ? '▾' : '▸') : $('span', {css: {display: 'inline-block', width: '20px'}}), $('span', {class: 'key', css: {'--k': fill(i)}}), clean(name(i))),
      $('td', {class: 'n'}, T.kind[i] === 2 ? count(T.count[i]) : ''), $('td', {class: 'n'}, T.bytes[i] ? bytes(T.bytes[i]) : ''), $('td', {class: 'n'}, bytes(ret[i])), $('td', {class: 'n'}, pct(ret[i], TOTAL)),
      T.was && $('td', {class: 'n ' + (change(i) > 0 ? 'up' : change(i) < 0 ? 'down' : '')}, plus(change(i), bytes)), $('td', {class: 'vis'}, $('div', {class: 'bar', css: {width: 100 * v[i] / most + '%'}}))));
    if (!is) return;
    const few = whole.has(i) ? list.length : Math.max(5, list.filter(k => v[k] >= v[i] * .01).length);
    list.slice(0, few).forEach(row);
    if (list.length > few) { const left = list.slice(few); body.append($('tr', {}, $('td', {class: 'name'}, $('span', {css: {'padding-left': (d + 1) * 14 + 20 + 'px'}}), $('button', {class: 'link', 'data-whole': i}, `${count(left.length)} more`)), $('td'), $('td'), $('td', {class: 'n dim'}, bytes(left.reduce((a, k) => a + ret[k], 0))), $('td', {}), T.was && $('td'), $('td'))); }
  };
  row(st.top);
  return $('table', {class: 'tree'}, $('thead', {}, $('tr', {}, $('th', {}, 'held by'), $('th', {class: 'n'}, 'objects'), $('th', {class: 'n'}, 'own'), $('th', {class: 'n'}, 'retained'), $('th', {class: 'n'}, ''), T.was && $('th', {class: 'n'}, 'grown'), $('th'))), body);
}
const ABOUT = [[/^\(the whole heap\)$/, 'All that was allocated: what the program can reach, and garbage.'], [/^\(GC roots\)$/, 'Everything that the program can reach.'], [/^\(globals\)$/, 'Variables of packages.'], [/^\(held by several\)$/, 'Objects that more than one package or goroutine holds: none of them alone keeps these alive.'], [/^\(goroutines\)$/, 'Stacks, and what local variables hold.'], [/^\(unreachable\)$/, 'Garbage that the collector has not taken yet.'], [/^\(cleanups\)|^\(finalizers\)/, 'What only finalizers, cleanups or weak pointers hold.'], [/^\(string\)$/, 'The bytes of strings.']];
const about = i => { const a = ABOUT.find(a => a[0].test(name(i))); return a ? a[1] : T.kind[i] === 1 ? 'A variable' + (T.package[i] >= 0 && NAMES[T.package[i]] && !NAMES[T.package[i]].startsWith('(') ? ' of ' + clean(NAMES[T.package[i]]) : '') + '.' : ''; };
function detail() {
  const i = st.sel, c = children(i, st.by), n = T.count[i], same = D.largest.filter(o => NAMES[o.name] === name(i) && T.kind[i] === 2).slice(0, 5), lay = D.layouts.find(l => l.name === name(i));
  side.replaceChildren($('div', {}, $('div', {class: 't'}, $('span', {class: 'key', css: {'--k': byPackage(i)}}), clean(name(i))),
    about(i) && $('p', {class: 'dim', css: {'font-size': '13px'}}, about(i)),
    $('dl', {}, $('dt', {}, 'retained'), $('dd', {}, bytes(ret[i]) + '  ' + pct(ret[i], ret[0])), T.was && [$('dt', {}, 'grown'), $('dd', {class: change(i) > 0 ? 'up' : ''}, plus(change(i), bytes))], $('dt', {}, 'its own'), $('dd', {}, bytes(T.bytes[i])), T.kind[i] === 2 && [$('dt', {}, 'objects'), $('dd', {}, count(n) + (T.was && n !== T.was_count[i] ? '  (' + plus(n - T.was_count[i], count) + ')' : '')), n > 1 && [$('dt', {}, 'each retains'), $('dd', {}, bytes(Math.round(ret[i] / n)))]]),
    c.length > 0 && [$('h3', {}, 'holds'), $('ul', {class: 'hold'}, c.slice(0, 7).map(k => $('li', {}, $('div', {class: 'r'}, $('button', {class: 'link m', onclick: () => { st.sel = k; if (VAL[st.by][k] * 900 / VAL[st.by][st.top] < 30) st.top = i; draw(); }}, label(k)), $('span', {class: 'num'}, bytes(ret[k]))), $('div', {class: 'bar', css: {width: 100 * ret[k] / (ret[i] || 1) + '%'}}))), c.length > 7 && $('li', {class: 'dim'}, `${count(c.length - 7)} more`))],
    same.length > 0 && [$('h3', {}, 'the largest of this type'), $('ul', {class: 'hold'}, same.map(o => $('li', {}, $('div', {class: 'r'}, $('span', {class: 'm', title: clean(o.way || o.address)}, clean(o.way || o.address)), $('span', {class: 'num'}, bytes(o.retained))))))],
    lay && [$('h3', {}, `layout, ${lay.size} bytes`), layBar(lay)],
    i !== st.top && c.length > 0 && $('p', {class: 'noprint', css: {margin: '14px 0 0'}}, $('button', {onclick: () => zoom(i)}, 'Zoom in'))));
}
function draw() {
  const W = plot.clientWidth || 900, f = matches();
  shown = [];
  segs.forEach(s => s.sync()); if (search.value !== st.q) search.value = st.q;
  inner.replaceChildren(st.mode === 'icicle' ? icicle(f, W) : st.mode === 'map' ? treemap(f, W) : table(f));
  if (st.mode === 'table') { inner.style.height = 'auto'; plot.style.height = '620px'; }
  found.textContent = f ? `${count(f.hits)} found, ${bytes(f.sum)}, ${pct(f.sum, VAL[st.by][0])}` : '';
  crumbs.replaceChildren(...trail(st.top).flatMap((i, k, a) => k < a.length - 1 ? [$('button', {class: 'link', onclick: () => zoom(i)}, clean(name(i))), '›'] : [$('b', {}, clean(name(i)))]));
  legend.replaceChildren(...(st.col === 'growth' && T.was ? [['unchanged', '--g0'], ['up to a quarter new', '--g1'], ['to a half', '--g2'], ['to 80 %', '--g3'], ['all new', '--g4'], ['shrunk', '--gd']].map(([t, v]) => $('span', {css: {'--k': `var(${v})`}}, t)) : [...topPkgs.filter(p => shown.some(i => T.package[i] === p && T.kind[i] > 0)).map(p => $('span', {css: {'--k': hue.get(p)}}, clean(NAMES[p]))), $('span', {css: {'--k': 'var(--builtin)'}}, 'Go’s own types: string, slice, map, chan'), $('span', {css: {'--k': 'var(--other)'}}, 'other packages'), $('span', {css: {'--k': 'var(--root)'}}, 'roots, variables')]));
  plot.setAttribute('aria-activedescendant', 'n' + st.sel);
  const s = document.getElementById('n' + st.sel); if (s) { const y = s.offsetTop; if (st.mode === 'icicle' && (y < plot.scrollTop || y + ROW > plot.scrollTop + plot.clientHeight)) plot.scrollTop = y - plot.clientHeight / 2; }
  detail(); save();
}
const at = e => { const c = e.target.closest('[id^=n]'); return c && inner.contains(c) ? +c.id.slice(1) : -1; };
inner.addEventListener('click', e => { const wh = e.target.closest('[data-whole]'); if (wh) { whole.add(+wh.dataset.whole); return draw(); } const tw = e.target.closest('[data-tw]'); if (tw) { const i = +tw.dataset.tw; open.has(i) ? open.delete(i) : open.add(i); st.sel = i; return draw(); } const i = at(e); if (i < 0) return; if (st.mode === 'table') { st.sel = i; return draw(); } zoom(i === st.top && i > 0 ? T.parent[i] : i); });
const tip = document.getElementById('tip');
inner.addEventListener('mousemove', e => { if (st.mode === 'table') return; const r = e.target.closest('.rest'), i = at(e); if (i < 0 && !r) { tip.hidden = true; return; }
  tip.replaceChildren(...(r ? [`${count(+r.dataset.rest)} more, too narrow to be drawn: zoom in`] : [$('b', {}, label(i)), $('br'), `retains ${bytes(ret[i])}, ${pct(ret[i], TOTAL)}` + (T.was ? `, ${change(i) ? plus(change(i), bytes) : 'unchanged'}` : '') + (T.bytes[i] ? `; its own ${bytes(T.bytes[i])}` : '')]));
  tip.hidden = false; const b = tip.getBoundingClientRect(); tip.style.left = Math.max(6, Math.min(e.clientX + 14, innerWidth - b.width - 10)) + 'px'; tip.style.top = (e.clientY + 20 + b.height > innerHeight ? e.clientY - b.height - 12 : e.clientY + 18) + 'px'; });
inner.addEventListener('mouseleave', () => { tip.hidden = true; });
plot.addEventListener('keydown', e => {
  const i = st.sel, p = T.parent[i], sib = p >= 0 ? children(p, st.by) : [0], k = sib.indexOf(i), go = n => { if (n >= 0 && n !== undefined) { st.sel = n; draw(); } };
  const vis = n => n !== undefined && (st.mode !== 'icicle' || shown.includes(n)) ? n : -1;
  if (st.mode === 'table') { const rows = shown, a = rows.indexOf(i); if (e.key === 'ArrowDown') go(rows[a + 1]); else if (e.key === 'ArrowUp') go(rows[a - 1]); else if (e.key === 'ArrowRight') { open.add(i); draw(); } else if (e.key === 'ArrowLeft') { if (open.has(i)) { open.delete(i); draw(); } else go(p); } else return; e.preventDefault(); document.getElementById('n' + st.sel)?.scrollIntoView({block: 'nearest'}); return; }
  if (e.key === 'ArrowDown') go(vis(children(i, st.by)[0])); else if (e.key === 'ArrowUp') go(p); else if (e.key === 'ArrowRight') go(vis(sib[k + 1])); else if (e.key === 'ArrowLeft') go(vis(sib[k - 1])); else if (e.key === 'Enter') zoom(i); else if (e.key === 'Escape' || e.key === 'Backspace') { st.top = Math.max(0, T.parent[st.top]); draw(); } else return;
  e.preventDefault();
});
addEventListener('keydown', e => { if (e.key === '/' && !/INPUT|SELECT|TEXTAREA/.test(document.activeElement.tagName)) { e.preventDefault(); search.focus(); document.getElementById('tree').scrollIntoView(); } });
const layColours = t => /^(\*|func|chan|map)/.test(t) || /unsafe.Pointer/.test(t) ? 'var(--c1)' : /^string/.test(t) ? 'var(--c2)' : /^\[\]/.test(t) ? 'var(--c0)' : /interface|error|any|context.Context/.test(t) ? 'var(--c3)' : /^(u?int|float|bool|byte|rune|complex)/.test(t) ? 'var(--root)' : 'var(--c3)';
const layBar = l => { const box = $('div', {class: 'lay', role: 'img', 'aria-label': l.fields.map(f => `${f[0]} ${f[1]} at ${f[2]}, ${f[3]} bytes`).join('; ')}); let at = 0; const pad = (n, w) => n > 0 && box.append($('i', {class: 'pad', title: `${n} bytes ${w}`, css: {flex: n + ' 0 0'}})); for (const [n, t, o, s] of l.fields) { pad(o - at, 'of padding'); if (s) box.append($('i', {title: `${clean(n)} ${clean(t)}, at ${o}, ${s} bytes`, css: {flex: s + ' 1 0', '--k': layColours(t)}}, clean(n))); at = o + s; } pad(l.size - at, 'of padding'); pad(l.slot - l.size, 'of the slot unused'); return box; };
page.append(section('tree', 'What holds what', 'Every box would be free if the box above it were gone. Objects of one type in one place are one box. Click to zoom in, click again to zoom out.', $('div', {class: 'tools'}, segs, search, found), crumbs, $('div', {class: 'explore'}, $('div', {}, plot, legend, $('p', {class: 'hint'}, $('kbd', {}, '←'), ' ', $('kbd', {}, '↑'), ' ', $('kbd', {}, '→'), ' ', $('kbd', {}, '↓'), ' move, ', $('kbd', {}, 'Enter'), ' zooms in, ', $('kbd', {}, 'Esc'), ' out, ', $('kbd', {}, '/'), ' finds, ', $('kbd', {}, 'Enter'), ' there goes to the next.')), side)));

/* ---- tables ---- */
function sheet(cols, rows, sortKey, limit, find) {
  let key = sortKey, dir = -1, all = false, q = ''; const box = $('div', {class: 'wrap'}), more = $('p', {class: 'more'}), most = {};
  for (const c of cols) if (c.bar) most[c.key] = Math.max(...rows.map(r => Math.abs(r[c.key] || 0)), 1);
  const render = () => {
    const f = rows.filter(r => !q || String(r[cols[0].key]).toLowerCase().includes(q)), s = [...f].sort((a, b) => { const x = a[key], y = b[key]; return dir * (typeof x === 'string' || typeof y === 'string' ? String(x || '').localeCompare(String(y || '')) * -1 * -1 : (x || 0) - (y || 0)); });
    box.replaceChildren($('table', {}, $('thead', {}, $('tr', {}, cols.map(c => $('th', {class: c.n ? 'n' : '', 'aria-sort': c.key === key ? dir < 0 ? 'descending' : 'ascending' : undefined}, $('button', {onclick: () => { if (key === c.key) dir = -dir; else { key = c.key; dir = c.n ? -1 : 1; } render(); }}, c.t))), cols.some(c => c.bar) && $('th'))),
      $('tbody', {}, s.slice(0, all ? 5000 : limit).map(r => $('tr', {}, cols.map(c => c.n ? $('td', {class: 'n ' + (c.sign && r[c.key] ? r[c.key] > 0 ? 'up' : 'down' : '')}, r[c.key] === undefined ? '' : c.sign ? plus(r[c.key], c.f) : c.f(r[c.key])) : $('td', {class: 'name'}, c.go ? $('button', {class: 'link m', onclick: () => c.go(r)}, clean(r[c.key])) : clean(r[c.key] ?? ''))), cols.filter(c => c.bar).slice(0, 1).map(() => { const c = cols.find(c => c.key === key && c.bar) || cols.find(c => c.bar); return $('td', {class: 'vis'}, $('div', {class: 'bar', css: {width: 100 * Math.abs(r[c.key] || 0) / most[c.key] + '%'}})); }))))));
    more.replaceChildren(...(s.length > limit ? [$('button', {onclick: () => { all = !all; render(); }}, all ? 'Show fewer' : `Show all ${count(s.length)}`)] : []));
  };
  render();
  const filter = find && $('input', {type: 'search', placeholder: find, 'aria-label': find, oninput: e => { q = e.target.value.toLowerCase(); render(); }});
  return [filter && $('div', {class: 'tools'}, filter), box, more];
}
const goClass = r => { st.q = r.class; st.top = 0; const f = matches(); let b = -1; for (let i = 0; i < N; i++) if (name(i) === r.class && (b < 0 || ret[i] > ret[b])) b = i; if (b >= 0) show(b); else { draw(); document.getElementById('tree').scrollIntoView(); } };
page.append(section('classes', 'Types', 'Own bytes add up to the heap. Retained is what would go with all objects of a type.', ...sheet([{key: 'class', t: 'type', go: goClass}, {key: 'objects', t: 'objects', n: 1, f: count, bar: 1}, {key: 'bytes', t: 'own', n: 1, f: bytes, bar: 1}, {key: 'retained', t: 'retained', n: 1, f: bytes, bar: 1}, ...(SINCE ? [{key: 'grown', t: 'grown', n: 1, f: bytes, sign: 1, bar: 1}] : [])], R.classes, SINCE ? 'grown' : 'bytes', 15, 'Filter types')));

if (D.series) {
  const s = D.series, n = s.dumps.length;
  const line = (title, values, f, w = 300, h = 84) => { const mx = Math.max(...values, 1), x = k => 6 + k * (w - 12) / (n - 1), y = v => h - 18 - v / mx * (h - 30), p = values.map((v, k) => `${x(k)},${y(v)}`).join(' '); return $('figure', {class: 'chart', css: {margin: 0}}, $('div', {class: 't'}, clean(title)), $('div', {class: 'dim num', css: {'font-size': '13px'}}, `${f(values[0])} → ${f(values[n - 1])}`), S('svg', {viewBox: `0 0 ${w} ${h}`, role: 'img', 'aria-label': `${title}: ${values.map(f).join(', ')}`}, S('line', {class: 'ax', x1: 0, x2: w, y1: h - 18, y2: h - 18}), S('polygon', {class: 'ar', points: `${x(0)},${h - 18} ${p} ${x(n - 1)},${h - 18}`}), S('polyline', {class: 'ln', points: p}), ...values.map((v, k) => { const c = S('circle', {class: 'dot', cx: x(k), cy: y(v), r: 2.6}); c.append(S('title', {}, `${s.dumps[k].source}: ${f(v)}`)); return c; }), ...s.dumps.map((d, k) => { const t = S('text', {x: x(k), y: h - 4, 'text-anchor': k ? k === n - 1 ? 'end' : 'middle' : 'start'}); t.textContent = k + 1; return t; }))); };
  page.append(section('trends', `Trends over ${n} dumps`, 'From the oldest to the newest. Each chart begins at zero.', $('div', {class: 'grid2'}, line('reachable', s.dumps.map(d => d.reachable), bytes), line('goroutines', s.dumps.map(d => d.goroutines), count), s.places.slice(0, 2).map(c => line('goroutines ' + c.name, c.objects, count)), s.classes.map(c => line(c.name, c.bytes, bytes)))));
}

page.append(section('goroutines', 'Goroutines, by the place where they stand', '', ...sheet([{key: 'place', t: 'place'}, {key: 'started_at', t: 'started at'}, {key: 'count', t: 'goroutines', n: 1, f: count, bar: 1}, {key: 'retained', t: 'retained', n: 1, f: bytes, bar: 1}, ...(SINCE ? [{key: 'grown', t: 'grown', n: 1, f: count, sign: 1}] : [])], R.goroutines, 'retained', 12)));

const largest = $('div'); D.largest.filter(o => o.steps && o.steps.length).slice(0, 15).forEach((o, k) => largest.append($('details', {open: k === 0}, $('summary', {}, $('span', {class: 'm'}, clean(NAMES[o.name])), $('span', {class: 'num'}, bytes(o.retained)), $('span', {class: 'm dim'}, o.address)), $('div', {class: 'in'}, o.way && $('p', {class: 'm'}, clean(o.way)), $('ol', {class: 'steps'}, o.steps.map(s => $('li', {}, s.step ? [$('b', {}, clean(s.step)), '  '] : '', $('span', {class: s.step ? 'dim' : ''}, clean(NAMES[s.name])), $('span', {class: 'dim'}, '  ' + bytes(s.retained)))))))));
if (largest.childElementCount) page.append(section('objects', 'The largest objects, and who holds them', 'The shortest way from the roots to each, step by step: field, type, and what the step retains.', largest));

const w = R.waste;
if (w) { const parts = [['free capacity of slices', w.slices?.wasted || 0, 'var(--c0)'], ['free slots of maps', w.maps?.wasted || 0, 'var(--c1)'], ['texts of which little is used', w.substrings?.wasted || 0, 'var(--c3)'], ['equal strings', w.strings?.wasted || 0, 'var(--c2)']];
  const list = [...(w.slices?.places || []).map(p => ({what: p.place, kind: 'slices', number: p.arrays, of: p.bytes, wasted: p.wasted})), ...(w.maps?.types || []).map(p => ({what: p.type, kind: `maps: ${count(p.used)} of ${count(p.slots)} slots used`, number: p.maps, of: p.bytes, wasted: p.wasted})), ...(w.substrings?.places || []).map(p => ({what: p.place, kind: 'parts of texts', number: p.texts, of: p.bytes, wasted: p.wasted})), ...(w.strings?.texts || []).map(p => ({what: '"' + p.text + '"', kind: 'equal strings', number: p.count, of: undefined, wasted: p.wasted}))].filter(x => x.wasted > 0);
  page.append(section('waste', 'Waste', `${bytes(w.wasted)}, ${pct(w.wasted, TOTAL)} of what is reachable.`, ...stackBar(parts), ...sheet([{key: 'what', t: 'where'}, {key: 'kind', t: 'what'}, {key: 'number', t: 'number', n: 1, f: count}, {key: 'of', t: 'of', n: 1, f: bytes}, {key: 'wasted', t: 'wasted', n: 1, f: bytes, bar: 1}], list, 'wasted', 12))); }

if (D.layouts.length) page.append(section('layouts', 'How the types lie in memory', 'Fields to scale; hatched is padding, or the part of the allocator’s slot that the type does not use.', $('div', {class: 'grid2', css: {'grid-template-columns': 'repeat(auto-fit,minmax(420px,1fr))'}}, D.layouts.slice(0, 10).map(l => { const used = l.fields.reduce((s, f) => s + f[3], 0), hole = l.size - used, slack = Math.max(0, l.slot - l.size); return $('div', {}, $('div', {class: 'm'}, clean(l.name)), $('div', {class: 'dim num', css: {'font-size': '13px'}}, `${l.size} bytes in a slot of ${l.slot}` + (hole + slack > 0 ? `; ${hole + slack} unused, ${bytes((hole + slack) * l.objects)} over ${count(l.objects)} objects` : '; nothing unused')), layBar(l)); }))));

const text = document.getElementById('text'); if (text) { const pre = $('pre', {}, text.textContent); text.remove(); page.append(section('text', 'The same as text', 'For a ticket or a mail.', $('details', {}, $('summary', {}, $('span', {class: 'm'}, 'Show')), pre))); }
page.append($('footer', {}, `Written by ${D.made}. Everything on this page is in the file; it loads nothing. `, D.redacted ? 'Texts and keys are hashes.' : 'It may show texts of the process: use --redact before you give it away.'));
nav.append($('span', {class: 'sp'}), theme);
load(); if (!location.hash.includes('node')) while (st.top < N && kids[st.top].length === 1 && kids[kids[st.top][0]].length > 1 && depth[st.top] < 1) st.top = st.sel = kids[st.top][0];
trail(0); for (let i = 0; i < N; i++) if (ret[i] > TOTAL * .02 && depth[i] < 30) open.add(i);
draw();
let wait; addEventListener('resize', () => { clearTimeout(wait); wait = setTimeout(draw, 80); });
addEventListener('beforeprint', () => { root.classList.remove('dark'); plot.style.width = '680px'; draw(); }); addEventListener('afterprint', () => { plot.style.width = ''; draw(); });
root.dataset.ready = Math.round(performance.now());
})();
