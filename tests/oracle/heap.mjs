// Finds the object of an address in a dump, the roots, and the objects that they reach.
import { followed, wordAt } from './dump.mjs';

/** Whether a function is of the runtime, or one of those that call it for the program. */
export const isBelowProgram = (name) => /^(runtime[./]|internal\/|sync\.)|^time\.Sleep$|\.runtime_[^.]+$/.test(String(name));

/** Finds the object that an address points into; interior pointers are normal, phantoms are no objects. */
export class Heap {
  constructor(dump) {
    this.dump = dump;
    this.sorted = [...dump.objects.values()].sort((a, b) => (a.address < b.address ? -1 : a.address > b.address ? 1 : 0));
    this.first = this.sorted.length ? this.sorted[0].address : 0n;
    this.starts = this.sorted.map((o) => Number(o.address - this.first));
  }

  find(address) {
    if (this.sorted.length === 0 || address < this.first) return undefined;
    const at = Number(address - this.first);
    let low = 0;
    let high = this.starts.length; // the object sought is the last that starts at or below `at`
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (this.starts[middle] <= at) low = middle;
      else high = middle;
    }
    const o = this.sorted[low];
    return at < this.starts[low] + o.size ? o : undefined;
  }

  /** The words of `list` that hit an object: [{offset, value, sure, target}]. */
  hits(list) {
    const hits = [];
    for (const word of list) {
      const target = this.find(word.value);
      if (target) hits.push({ ...word, target });
    }
    return hits;
  }

  edges(o) {
    return (o.hits ??= this.hits(o.pointers));
  }

  /**
   * The Set of all objects reached from those of `start`. `all` also follows words that are not sure; `extra` may add
   * objects when one is visited.
   */
  reach(start, all, extra = () => []) {
    const seen = new Set(start);
    const queue = [...seen];
    for (let i = 0; i < queue.length; i++) {
      const next = this.edges(queue[i]).filter((e) => all || e.sure).map((e) => e.target);
      for (const o of [...next, ...extra(queue[i])]) {
        if (!seen.has(o)) {
          seen.add(o);
          queue.push(o);
        }
      }
    }
    return seen;
  }
}

/** All frames with contents, to find the frame that a pointer points into. */
export class Stacks {
  constructor(dump) {
    this.frames = dump.goroutines.flatMap((g) => g.frames).filter((f) => f.contents && f.contents.declared > 0)
      .sort((a, b) => (a.sp < b.sp ? -1 : a.sp > b.sp ? 1 : 0));
  }

  find(address) {
    let low = 0;
    let high = this.frames.length;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (this.frames[middle].sp <= address) low = middle;
      else high = middle;
    }
    const f = this.frames[low];
    return f && address >= f.sp && address < f.sp + BigInt(f.contents.declared) ? f : undefined;
  }
}

/** All aligned words of a frame, as the conservative scan sees them. */
export function allWords(dump, frame) {
  const words = [];
  if (!frame.contents) return words;
  const size = dump.params.ptrSize;
  for (let at = 0; at + size <= frame.contents.available; at += size) {
    const value = wordAt(dump, frame, at);
    if (value !== 0n) words.push({ offset: at, value, sure: false });
  }
  return words;
}

/**
 * Finds the frames that some pointer leads into: their words count although no field list names them (§3.5: stack
 * objects, Go ≥ 1.12, and nothing in the dump tells 1.12 from 1.7). The search starts from all pointers in the dump.
 */
export function pointedFrames(dump, heap) {
  const frames = new Set();
  if (!dump.layout.modern) return frames;
  const stacks = new Stacks(dump);
  const enter = (words) => {
    for (const w of words) {
      const f = stacks.find(w.value);
      if (f) frames.add(f);
    }
  };
  for (const o of heap.sorted) enter(o.pointers);
  for (const segment of [...dump.data, ...dump.bss]) enter(followed(dump, segment));
  for (const f of stacks.frames) enter(followed(dump, f));
  for (const g of dump.goroutines) enter([...g.panics.map((p) => ({ value: p.data })), { value: g.ctxt }]);
  for (const f of frames) enter(allWords(dump, f)); // a Set grows while it is walked
  return frames;
}

/**
 * Finds two bounds of the reachable objects. `must` has those that the records alone keep alive beyond doubt. `may`
 * has those that are alive in any reading that the format leaves open (frames scanned conservatively, finalizers'
 * objects, g and m and defer records as roots, interface words that no record explains). A snapshot has to lie
 * between the two.
 */
export function reachability(dump, heap) {
  const must = new Set();
  const may = new Set();
  const root = (value, sure = true) => {
    const o = heap.find(value);
    if (!o) return;
    may.add(o);
    if (sure) must.add(o);
  };

  for (const segment of [...dump.data, ...dump.bss]) for (const w of followed(dump, segment)) root(w.value, w.sure);
  for (const r of [...dump.otherRoots, ...dump.stackRoots, ...dump.dataRoots]) root(r.value);
  for (const g of dump.goroutines) {
    root(g.ctxt);
    for (const id of [g.address, g.m, g.defer, g.panic]) root(id, false);
    for (const d of g.defers) {
      root(d.funcval);
      root(d.address, false);
    }
    for (const p of g.panics) {
      root(p.data, !dump.layout.typed || dump.types.get(p.type)?.pointer === true);
      root(p.address, false);
    }
    for (const f of g.frames) for (const w of followed(dump, f)) root(w.value, w.sure);
  }
  for (const t of dump.threads) root(t.m, false);
  for (const f of dump.finalizers) {
    root(f.funcval);
    root(f.object, false);
    const o = heap.find(f.object);
    // §3.7: everything reachable from the object is a root, the object itself is not.
    if (o) for (const e of heap.edges(o)) root(e.value, e.sure);
  }
  for (const f of dump.queued) {
    root(f.funcval);
    root(f.object);
  }

  const pointed = pointedFrames(dump, heap);
  for (const f of pointed) for (const w of allWords(dump, f)) root(w.value, false);

  // Frames that segments, listed frame words or living objects point into are scanned beyond doubt.
  const stacks = new Stacks(dump);
  const scanned = new Set();
  const scan = (words) => words.flatMap((w) => {
    const f = dump.layout.modern ? stacks.find(w.value) : undefined;
    if (!f || scanned.has(f)) return [];
    scanned.add(f);
    return heap.hits(allWords(dump, f)).map((h) => h.target);
  });
  for (const region of [...dump.data, ...dump.bss, ...stacks.frames]) for (const o of scan(followed(dump, region))) must.add(o);
  return { must: heap.reach(must, false, (o) => scan(o.pointers)), may: heap.reach(may, true), pointed };
}

/** The objects that point to deferred calls which have records: a Map of each one to the Set of these. */
export function pointersToDeferred(dump, heap) {
  const all = dump.goroutines.flatMap((g) => g.defers);
  const known = new Map(all.map((d) => [d.address, heap.find(d.address)]).filter(([address, o]) => o?.address === address));
  const result = new Map();
  const add = (from, to) => {
    const source = heap.find(from), target = known.get(to);
    if (source && target) result.set(source, (result.get(source) ?? new Set()).add(target));
  };
  for (const g of dump.goroutines) add(g.address, g.defer);
  for (const d of all) add(d.address, d.next);
  return result;
}

/**
 * Finds to whom objects belong (docs/report.md): a Map of each object that is not garbage to 'program', 'goroutines' or 'rest'.
 * `roots` has, by these names, the objects that the roots of each kind lead to; `alive` tells which objects are not garbage.
 */
export function tiers(dump, heap, roots, alive) {
  const toDeferred = pointersToDeferred(dump, heap);
  const threads = new Set(dump.threads.map((t) => heap.find(t.m)));
  let records = new Set([...threads, ...dump.goroutines.map((g) => heap.find(g.address))]);
  for (let attempt = 0; ; attempt++) {
    const tier = new Map();
    const walk = (name, passed) => {
      const queue = [];
      const enter = (o) => {
        if (!alive(o) || tier.has(o) || records.has(o) && passed.has(o)) return;
        tier.set(o, name);
        queue.push(o);
      };
      roots[name].forEach(enter);
      for (let i = 0; i < queue.length; i++) {
        for (const h of heap.edges(queue[i])) if (!toDeferred.get(queue[i])?.has(h.target)) enter(h.target);
      }
    };
    walk('program', records);
    walk('goroutines', threads);
    walk('rest', new Set());
    // A record to which only pointers lead that pass it by is passed by no more.
    const left = [...records].filter((o) => o && alive(o) && !tier.has(o));
    if (left.length === 0) return tier;
    records = attempt < 2 ? new Set([...records].filter((o) => !left.includes(o))) : new Set();
  }
}

/** Whether an edge is weak because of whom its source and its target belong to; undefined is garbage. */
export function isWeakBetween(from, to) {
  return from !== to && (from === undefined || to !== 'program');
}
