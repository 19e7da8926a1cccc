// Runs the library, beside the page, which stays alive. Messages to it: {module, look} asks what kinds of files a list has; {module, heap,
// bases, exe} with Files reads a heap; {format, json, suffixes} writes a
// format of it, by the program's name for it and one or two suffixes. Messages from it: {kinds}; {say}; {step, done, total};
// {heap: name}, {failed};
// {saved: [{name, blob}], format}.
'use strict';

const LIMIT = 'a page has at most 4 GB of memory, and this heap needs more: the program has no such limit, and its report page can be ' +
  'opened here: go2heapsnapshot --exe app heap.dump -o heap.html';
const files = new Map();
let web = null, name = '';

const giveFile = file => files.set(file.name, new Given(file.size, file.lastModified,
  (at, size) => new Uint8Array(new FileReaderSync().readAsArrayBuffer(file.slice(at, at + size)))));

/** Returns the address of a text in the program; 0: of none. */
function text(string) {
  if (string === undefined) return 0;
  const bytes = new TextEncoder().encode(string), at = web.web_text(bytes.length);
  new Uint8Array(web.memory.buffer, at, bytes.length).set(bytes);
  return at;
}

/** Calls a step, and tells the page if it ends in no result. What the program printed explains a false one. */
function attempt(step) {
  try {
    if (step()) return true;
    postMessage({failed: true});
  } catch (error) {
    // The program ends itself where a function cannot return that memory is short; there is no other cause that is known.
    postMessage({say: `go2heapsnapshot: ${LIMIT} (${error.message})\n`});
    postMessage({failed: true});
  }
  return false;
}

async function start(module) {
  const system = makeSystem(files, say => postMessage({say}));
  const progress = (at, size, done, total) =>
    postMessage({step: new TextDecoder().decode(new Uint8Array(web.memory.buffer, at, size)), done, total});
  const instance = await WebAssembly.instantiate(module, {wasi_snapshot_preview1: system.imports, page: {progress}});
  web = instance.exports;
  system.start(instance);
}

const readAll = (heap, bases, exe) => bases.every(base => web.web_add(text(base), text(exe))) && web.web_open(text(heap), text(exe));

/** Reads a heap. The bases are in the order of their files' times; if the facts in them say another one, all is read again. */
async function read({module, heap, bases, exe}) {
  for (const file of [heap, ...bases, ...(exe ? [exe] : [])]) giveFile(file);
  let names = [...bases.map(file => file.name), heap.name];
  await start(module);
  name = heap.name;
  let good = attempt(() => readAll(name, names.slice(0, -1), exe?.name));
  if (good && web.web_is_reversed()) {
    names = [names.at(-1), ...names.slice(0, -1)];
    name = names.at(-1);
    postMessage({say: `note: ${name} is the newest, by the collections that it counts: it is compared with the others\n`});
    await start(module);
    good = attempt(() => readAll(name, names.slice(0, -1), exe?.name));
    if (good && web.web_is_reversed()) postMessage({say: 'warning: the dumps are not in the order in which they were written\n'});
  }
  if (good) postMessage({heap: name});
}

function save({format, json, suffixes}) {
  const paths = suffixes.map(suffix => name.replace(/(\.dump)?(\.gz)?$/, '') + suffix);
  if (!attempt(() => web.web_write(text(format), json, text(paths[0]), text(paths[1])))) return;
  postMessage({saved: paths.map(path => ({name: path, blob: new Blob(files.get(path).list())})), format});
  for (const path of paths) files.delete(path);
}

/** Tells what kinds of files there are: 'd' a dump, 'c' a core file, 'x' an executable, '?' none of these. */
async function look({module, look}) {
  for (const file of look) giveFile(file);
  await start(module);
  postMessage({kinds: look.map(file => String.fromCharCode(web.web_kind(text(file.name))))});
}

onmessage = ({data}) => {
  if (data.look) look(data);
  else if (data.heap) read(data);
  else save(data);
};
