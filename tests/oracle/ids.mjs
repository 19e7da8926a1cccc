// Computes the ids of objects from their addresses, as docs/snapshot-format.md says: Map id → object.
const MASK = (1n << 64n) - 1n;
const ARENA_SHIFT = 26n;
const ARENA = 1n << ARENA_SHIFT;
const PLACES = 1n << 31n;
const USUAL_REGION = 0xc000000000n >> 36n;

/** The finaliser of splitmix64. */
function mix(key) {
  key = ((key ^ (key >> 30n)) * 0xbf58476d1ce4e5b9n) & MASK;
  key = ((key ^ (key >> 27n)) * 0x94d049bb133111ebn) & MASK;
  return key ^ (key >> 31n);
}

/** The slot that the arena of an address has: one of 256, of 64 MiB each. */
export function slotOf(address, pointerSize) {
  const turn = pointerSize === 4 ? 0n : 157n * ((address >> 36n) - USUAL_REGION);
  return (((address >> ARENA_SHIFT) + turn) & 255n);
}

export function placeOf(address, pointerSize) {
  return ((slotOf(address, pointerSize) << ARENA_SHIFT) | (address & (ARENA - 1n))) / 8n;
}

/** The objects ascend by address. If two have the same place, the lower one gets it, and the other goes where a hash says. */
export function idsOf(objects, pointerSize) {
  const owner = new Map();
  const displaced = [];
  for (const o of objects) {
    const place = placeOf(o.address, pointerSize);
    if (owner.has(place)) displaced.push(o);
    else owner.set(place, o);
  }
  for (const o of displaced) {
    let place = mix(o.address) % PLACES;
    while (owner.has(place)) place = (place + 1n) % PLACES;
    owner.set(place, o);
  }
  return { byId: new Map([...owner].map(([place, o]) => [Number(2n * place + 1n), o])), displaced: displaced.length };
}
