// The page's own part: which files are there, what is done with them, and a tab for each heap that has been read.
'use strict';

const $ = id => document.getElementById(id);
const packed = {Z: 'zstd -d', X: 'xz -d', L: 'lz4 -d'}; // compressed files that this page cannot read, and what unpacks them
const kinds = {d: 'heap dump', c: 'core file', x: 'executable', '?': 'neither a heap dump of Go, nor an executable',
  ...Object.fromEntries(Object.entries(packed).map(([kind, command]) => [kind, `compressed: unpack it first, by ${command}`]))};
const formats = [ // as the program's --format has them
  {title: 'DevTools (.heapsnapshot)', format: 'heapsnapshot', suffixes: ['.heapsnapshot']},
  {title: 'Report', format: 'report', suffixes: ['.txt']},
  {title: 'Report as JSON', format: 'report', suffixes: ['.json'], json: true},
  {title: 'This page', format: 'html', suffixes: ['.html']},
  {title: 'pprof', format: 'pprof', suffixes: ['.pb.gz']},
  {title: 'hprof', format: 'hprof', suffixes: ['.hprof']},
  {title: 'CSV', format: 'csv', suffixes: ['.nodes.csv', '.edges.csv']},
];

const files = []; // {file, kind}: kind is undefined until it is known
let working = null; // the worker that reads a heap
let heaps = 0;

const size = bytes => {
  const units = ['B', 'kB', 'MB', 'GB'], unit = Math.min(3, Math.max(0, Math.floor(Math.log10(Math.max(1, bytes)) / 3)));
  return `${(bytes / 1000 ** unit).toFixed(unit === 0 ? 0 : 1)} ${units[unit]}`;
};

function element(name, properties, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

// ---- the program ----

const module = (async () => {
  const packed = Uint8Array.from(atob($('wasm').textContent.trim()), character => character.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'));
  return WebAssembly.compile(await new Response(stream).arrayBuffer());
})();

const workerUrl = URL.createObjectURL(new Blob([$('worker').textContent], {type: 'text/javascript'}));

/** Starts a worker, and passes its messages to what they are about, by name. */
function startWorker(handlers) {
  const worker = new Worker(workerUrl);
  worker.onmessage = ({data}) => {
    for (const name of Object.keys(handlers)) if (name in data) handlers[name](data);
  };
  worker.onerror = event => {
    handlers.say?.({say: `go2heapsnapshot: ${event.message}\n`});
    handlers.failed?.();
  };
  return worker;
}

// ---- files ----

/** Gives each file a name of its own, since the program knows files by name. */
function rename(file) {
  const names = new Set(files.map(entry => entry.file.name));
  if (!names.has(file.name)) return file;
  const [, begin, end] = /^(.*?)((?:\.[^.]*)*)$/.exec(file.name);
  let number = 2;
  while (names.has(`${begin} ${number}${end}`)) number++;
  return new File([file], `${begin} ${number}${end}`, {lastModified: file.lastModified});
}

async function addFiles(added) {
  const entries = [];
  for (const file of added) {
    if (files.some(({file: other}) => other.name === file.name && other.size === file.size && other.lastModified === file.lastModified)) continue;
    const entry = {file: rename(file), kind: undefined};
    files.push(entry);
    entries.push(entry);
  }
  if (entries.length === 0) return;
  showFiles();
  const looking = startWorker({
    kinds(data) {
      data.kinds.forEach((kind, i) => { entries[i].kind = kind; });
      looking.terminate();
      showFiles();
      if (canRead() && files.some(({kind}) => kind === 'x')) read();
    },
    say: say,
  });
  looking.postMessage({module: await module, look: entries.map(({file}) => file)});
}

const of = (...wanted) => files.filter(({kind}) => wanted.includes(kind));
const canRead = () => !working && of(undefined).length === 0 && of('d', 'c').length > 0;

/** Returns what is still missing, or '' if nothing is. */
function missing() {
  const heapsThere = of('d', 'c').length, executables = of('x').length;
  if (of(undefined).length > 0 || files.length === 0) return '';
  const [compressed] = of(...Object.keys(packed));
  if (compressed) return `This page has gzip only: unpack the file first (${packed[compressed.kind]} ${compressed.file.name}), then drop what that writes.`;
  if (heapsThere === 0 && executables > 0) return 'A heap is missing: drop the dump that this executable wrote.';
  if (heapsThere === 0) return 'A heap is missing: drop a dump of Go, or a core file.';
  if (executables > 1) return 'There are several executables: remove those that did not write the dump.';
  if (executables === 0 && of('c').length > 0) return 'A core file is read by the executable that ran: drop it, too.';
  if (executables === 0) return 'Without the executable that wrote the dump objects have sizes, but no types: drop it, too, or read the dump as it is.';
  return '';
}

function showFiles() {
  const rows = files.map(entry => element('tr', {},
    element('td', {textContent: entry.file.name}), element('td', {className: 'number', textContent: size(entry.file.size)}),
    element('td', {textContent: kinds[entry.kind] ?? '…'}),
    element('td', {}, element('button', {textContent: 'Remove', ariaLabel: `Remove ${entry.file.name}`, disabled: working !== null, onclick() {
      files.splice(files.indexOf(entry), 1);
      showFiles();
    }}))));
  $('list').tBodies[0].replaceChildren(...rows);
  $('list').hidden = files.length === 0;
  $('empty').hidden = files.length > 0;
  $('missing').textContent = missing();
  $('missing').hidden = missing() === '';
  $('actions').hidden = !canRead() || of('x').length > 1;
  $('read').textContent = of('d', 'c').length > 1 ? `Compare ${of('d', 'c').length} heaps` : 'Read the heap';
}

// ---- reading ----

function say({say: text}) {
  $('said').hidden = false;
  $('said').textContent += text;
}

function showStep({step, done, total}) {
  $('step').textContent = total > 0 ? `${step} ${Math.floor(100 * done / total)} %` : step;
  if (total > 0) $('bar').value = done / total;
  else $('bar').removeAttribute('value');
}

function stop() {
  working?.terminate();
  working = null;
  $('work').hidden = true;
  showFiles();
}

async function read() {
  const list = of('d', 'c').map(({file}) => file).sort((one, other) => one.lastModified - other.lastModified);
  const [executable] = of('x');
  $('said').hidden = true;
  $('said').textContent = '';
  $('work').hidden = false;
  showStep({step: 'starting', done: 0, total: 0});
  let panel = null;
  const worker = working = startWorker({
    say: data => panel ? panel.say(data.say) : say(data),
    step: data => panel ? panel.step(data) : showStep(data),
    heap({heap}) {
      panel = addHeap(heap, worker, list.length, $('said').textContent);
      worker.postMessage({format: 'html', json: false, suffixes: ['.html']});
      showStep({step: 'report', done: 0, total: 0});
    },
    saved(data) {
      panel.saved(data);
      if (working === worker) {
        working = null;
        $('work').hidden = true;
        showFiles();
      }
    },
    failed() {
      if (working === worker) stop();
      else panel?.step({step: '', done: 0, total: 0});
    },
  });
  showFiles();
  worker.postMessage({module: await module, heap: list.at(-1), bases: list.slice(0, -1), exe: executable?.file});
}

// ---- heaps that have been read ----

function select(panel, tab) {
  for (const other of $('tabs').children) other.ariaSelected = String(other === tab);
  for (const other of document.querySelectorAll('main, .heap')) other.hidden = other !== panel;
}

function download(name, blob) {
  const url = URL.createObjectURL(blob);
  element('a', {href: url, download: name}).click();
  setTimeout(() => URL.revokeObjectURL(url), 60000);
}

/** Adds a tab for a heap, whose worker keeps it for more formats. */
function addHeap(name, worker, count, said) {
  const id = `heap${++heaps}`;
  const step = element('span', {role: 'status'}), notes = element('pre', {textContent: said, hidden: said === ''});
  const frame = element('iframe', {title: `report of ${name}`});
  const buttons = formats.map(({title, format, suffixes, json = false}) => element('button', {textContent: title, onclick() {
    step.textContent = 'writing';
    worker.postMessage({format, json, suffixes});
  }}));
  const panel = element('section', {className: 'heap', id, role: 'tabpanel', hidden: true},
    element('div', {className: 'saves'}, 'Save: ', ...buttons, element('button', {textContent: 'Close', onclick() {
      worker.terminate();
      tab.remove();
      panel.remove();
      select($('start'), $('tabs').firstChild);
    }}), step), notes, frame);
  const tab = element('button', {role: 'tab', textContent: count > 1 ? `${name} and ${count - 1} before` : name, onclick() { select(panel, tab); }});
  document.body.append(panel);
  $('tabs').append(tab);
  return {
    say(text) {
      notes.hidden = false;
      notes.textContent += text;
    },
    step(data) { step.textContent = data.total > 0 ? `${data.step} ${Math.floor(100 * data.done / data.total)} %` : data.step; },
    saved({saved, format}) {
      step.textContent = '';
      if (format === 'html' && !frame.src) {
        frame.src = URL.createObjectURL(new Blob([saved[0].blob], {type: 'text/html'}));
        select(panel, tab);
      } else {
        for (const {name, blob} of saved) download(name, blob);
      }
    },
  };
}

// ---- events ----

const first = element('button', {role: 'tab', textContent: 'Files', ariaSelected: 'true', onclick() { select($('start'), first); }});
$('tabs').append(first);
$('files').onchange = () => addFiles([...$('files').files]);
$('read').onclick = read;
$('cancel').onclick = stop;
addEventListener('dragover', event => {
  event.preventDefault();
  $('drop').classList.add('over');
});
addEventListener('dragleave', () => $('drop').classList.remove('over'));
addEventListener('drop', event => {
  event.preventDefault();
  $('drop').classList.remove('over');
  addFiles([...event.dataTransfer.files]);
});
document.documentElement.dataset.ready = 'true';
