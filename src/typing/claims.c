/*
 * claims: keeps the types that objects may have; see claims.h. A claim is a candidate: a type that
 * some source of types gives to an object, or to a part of it, and that fits there (fit.h).
 *
 * The claim on an object's start is one word of typing->claims, which claim_start() writes without
 * a lock. All others are parts, kept in the object's shard: objects are distributed over shards by
 * a hash, and one thread at a time has a shard. Each new claim whose type has pointers, other than
 * those of strings, is queued, since what they lead to has a type, too (follow.c). judge.c picks
 * one claim for each object at the end.
 */
#include "base/contract.h"
#include "typing/claims.h"

/* Queues a new claim for following, if its type has pointers other than those of strings, which
 * lead no further and are followed last (typer->texts_only). part is its index in the object's
 * shard. */
static void push_item(struct typer *typer, uint32_t object, uint32_t part,
                      const struct pointer_map *map)
{
    if (map->has_non_strings && !vector_push(&typer->items, ((struct item){object, part})))
        typer->no_memory = true;
}

/* Queues a new claim on a start for following, if its type has pointers other than those of
 * strings. While several threads run, claims without them are listed in typer->fresh as well: the
 * end of the round clears CLAIM_FRESH for both lists. */
static inline void push_start(struct typer *typer, uint32_t object, const struct pointer_map *map)
{
    if (map->has_non_strings ? !vector_push(&typer->items, ((struct item){object, ITEM_START}))
                             : typer->shared && !vector_push(&typer->fresh, object))
        typer->no_memory = true;
}

/* The value in shard->known for a type that does not fit. */
#define PART_REFUSED (MAP_NONE - 1)

/* Names is_array, where a part is known to be none. */
enum { PART_IS_VALUE = false };

/* Returns a hash by which shard->known finds a claim on a part of an object; different claims may
 * share it. */
static uint64_t part_key(uint32_t object, uint64_t offset, uint32_t type, bool is_array)
{
    return map_hash_pair(pair_key(object, type), offset << 1 | is_array);
}

/* Returns whether a reference says nothing new about a part of an object. Checked before a part is
 * added: most references repeat what another one has said. */
bool part_is_known(struct typer *typer, uint32_t object, uint64_t offset, bool is_array,
                   const struct reference *reference)
{
    struct shard *shard = shard_of(typer->typing, object);
    bool result = false;
    const uint32_t found =
        map_get(&shard->known, part_key(object, offset, reference->type, is_array));
    if (found == PART_REFUSED) {
        result = true;
    } else if (found != MAP_NONE) {
        struct typed_part *known = &shard->parts.data[found];
        /* Equal hashes are no proof, so all properties are compared. */
        result = known->object == object && known->offset == offset &&
                 known->type == reference->type && known->is_array == is_array &&
                 known->count >= reference->count && (!is_array || reference->count > 0) &&
                 known->source <= reference->source;
    }
    return result;
}

/* Notes that a value of a type does not fit a part of a large object, so that the type is not tried
 * there again. */
void part_refuse(struct typer *typer, uint32_t object, uint64_t offset, uint32_t type)
{
    struct shard *shard = shard_of(typer->typing, object);
    uint32_t first;
    if (!map_put(&shard->known, part_key(object, offset, type, PART_IS_VALUE), PART_REFUSED,
                 &first))
        typer->no_memory = true;
}

/*
 * Returns whether an object has too many parts to get another one, or arrays that overlap too
 * often. Few programs come near these limits, which keep a damaged dump from taking forever. Parts
 * that come after a limit has been reached are left out.
 */
static bool exceeds_part_limits(const struct g2h_heap *heap, const struct typed_part *part,
                                const struct typed_part *last)
{
    const uint64_t size = heap_object_size(heap, part->object);
    return last && (last->number >= 64 + size / 64 /* parts */ ||
                    last->reach / 16 > size + 4096 /* array bytes: each byte 16 times over */);
}

/* Defers a reference whose order matters; false if it is to be proposed now. References whose
 * result depends on their order wait until all threads are done, and are then proposed in a fixed
 * order: so the snapshot is the same with any number of threads. */
bool typer_defer(struct typer *typer, uint32_t object, uint64_t offset,
                 const struct reference *reference)
{
    if (!typer->shared)
        return false;
    const struct typer_waiting waiting = {.offset = offset,
                                          .count = reference->count,
                                          .object = object,
                                          .type = reference->type & CLAIM_TYPE,
                                          .source = reference->source & 7u,
                                          .is_array = reference->form == REFERENCE_ARRAY};
    if (!vector_push(&typer->waiting[shard_of(typer->typing, object) - typer->typing->shards],
                     waiting))
        typer->no_memory = true;
    return true;
}

/* Returns whether a part without pointers is the first one of its object, so that the caller has to
 * add it. Only the part that comes first by part_is_before() matters: it names the object if
 * nothing is known about the object's start. So a later part either replaces the existing one in
 * place or is dropped. */
static bool keep_first_pointerless(const struct typing *typing, struct shard *shard,
                                   const struct typed_part *part)
{
    const uint32_t found = map_get(&shard->pointerless, part->object);
    if (found == MAP_NONE)
        return true;
    struct typed_part *known = &shard->parts.data[found];
    if (part_is_before(typing, part, known)) {
        const struct typed_part old = *known;
        *known = *part;
        known->next = old.next;
        known->number = old.number;
        known->reach = old.reach;
    }
    return false;
}

/* Returns whether a known part of the same type at the same place has all values of a new one, and
 * gives it the better source of both. found is its number in the shard, or another value. */
static bool is_covered_by(struct shard *shard, uint32_t found, const struct typed_part *part)
{
    if (found >= shard->parts.count) /* MAP_NONE or PART_REFUSED */
        return false;
    struct typed_part *known = &shard->parts.data[found];
    if (known->count < part->count)
        return false;
    if (part->source < known->source)
        known->source = part->source;
    known->is_exact = known->is_exact || part->is_exact;
    return true;
}

/* Appends a part to a shard, before the others of its object, whose first one is first or MAP_NONE,
 * and notes it by its key. If the key has a part with fewer values, the new one supersedes it, and
 * keeps the better source of both. Returns false if memory runs out. */
static bool append_part(struct typing *typing, struct shard *shard, const struct typed_part *part,
                        uint32_t first, uint64_t key, bool is_pointerless)
{
    const uint32_t added = as_u32(shard->parts.count);
    uint32_t number;
    if (added >= PART_REFUSED || !vector_push(&shard->parts, *part) ||
        !(is_pointerless ? map_put(&shard->pointerless, part->object, added, &number)
                         : map_put(&shard->known, key, added, &number)))
        return false;
    if (!is_pointerless && number < added) {
        struct typed_part *old = &shard->parts.data[number];
        struct typed_part *new = &shard->parts.data[added];
        map_set(&shard->known, key, added);
        old->is_superseded = true;
        new->source = MIN(old->source, new->source);
        new->is_exact = new->is_exact || old->is_exact;
    }
    if (first != MAP_NONE) {
        map_set(&shard->first, part->object, added);
        return true;
    }
    __atomic_fetch_or(&typing->has_parts[part->object / 64], UINT64_C(1) << (part->object % 64),
                      __ATOMIC_RELAXED);
    return map_put(&shard->first, part->object, added, &number);
}

/* Adds a claim on a part of an object, and queues it for following, unless a known part covers it
 * or the object has too many. Pointers may lead to one array with different counts: the part with
 * more values then supersedes the part with fewer. Parts without pointers only name the object, and
 * there may be millions of them: see keep_first_pointerless(). */
void claim_part(struct typer *typer, uint32_t object, const struct typed_part *wanted,
                const struct pointer_map *map)
{
    struct typing *typing = typer->typing;
    struct shard *shard = shard_of(typing, object);
    struct typed_part part = *wanted;
    const bool is_pointerless = map->known && map->field_count == 0 &&
                                part.offset != heap_object_base(typing->heap, object);
    const uint64_t key = part_key(object, part.offset, part.type, part.is_array);
    part.object = object;
    if (is_pointerless ? !keep_first_pointerless(typing, shard, &part)
                       : is_covered_by(shard, map_get(&shard->known, key), &part))
        return;
    const uint32_t first = map_get(&shard->first, object);
    const struct typed_part *last = first == MAP_NONE ? NULL : &shard->parts.data[first];
    if (exceeds_part_limits(typing->heap, &part, last))
        return;
    const uint32_t added = as_u32(shard->parts.count);
    part.next = first == MAP_NONE ? UINT32_MAX : first;
    part.number = last ? last->number + 1 : 1;
    part.reach = (last ? last->reach : 0) + part.count * map->size;
    if (append_part(typing, shard, &part, first, key, is_pointerless))
        push_item(typer, object, added, map);
    else
        typer->no_memory = true;
}

/* Counts a value, and returns whether enough have been counted to take the object for an array.
 * Each value counts once, however many references lead to it: counted_values has those that were
 * counted, value_counts how many there are. */
bool has_enough_for_array(struct typer *typer, uint32_t object, uint64_t offset, uint32_t type)
{
    struct shard *shard = shard_of(typer->typing, object);
    uint32_t count = 0, number = 0;
    bool good = map_put(&shard->value_counts, pair_key(object, type), 0, &count);
    if (good && count < ENOUGH_FOR_ARRAY) {
        good = map_put(&shard->counted_values, part_key(object, offset, type, PART_IS_VALUE), count,
                       &number);
        if (good && number == count) /* the value is counted for the first time */
            map_set(&shard->value_counts, pair_key(object, type), ++count);
    }
    typer->no_memory = typer->no_memory || !good;
    return count >= ENOUGH_FOR_ARRAY;
}

/* Adds a claim on the object's start that differs from the existing one, for the judge to choose
 * from. The claims array has space for one claim, so this one becomes a part at the object's
 * start. */
static void claim_start_again(struct typer *typer, uint32_t object, uint64_t base, uint32_t claim,
                              const struct pointer_map *map)
{
    uint32_t *claimed = &typer->typing->claims[object];
    const uint32_t old = *claimed;
    /* An array replaces its first element, since it covers the pointers to its other elements. */
    const bool is_larger = !claim_is_certain(old) && (claim & CLAIM_ARRAY) != 0 &&
                           ((old ^ claim) & (CLAIM_ARRAY | CLAIM_TYPE)) == CLAIM_ARRAY;
    const uint32_t other = is_larger ? old : claim;
    const struct typed_part part = {.offset = base,
                                    .type = (claim & CLAIM_TYPE) - 1,
                                    .source =
                                        (uint8_t)((other & CLAIM_SOURCE) >> CLAIM_SOURCE_SHIFT),
                                    .is_array = (other & CLAIM_ARRAY) != 0,
                                    .is_exact = (other & CLAIM_EXACT) != 0};
    if (is_larger)
        *claimed = claim;
    claim_part(typer, object, &part, map);
    if (is_larger)
        push_start(typer, object, map);
}

/* Writes the claim without a lock: threads that claim the same object retry until one of them has
 * added to what the others wrote. The results are the same in any order. */
void claim_start(struct typer *typer, uint32_t object, uint64_t base, bool is_array, bool is_exact,
                 const struct reference *reference, const struct pointer_map *map)
{
    uint32_t *claimed = &typer->typing->claims[object];
    const uint32_t claim = claim_pack(is_array, is_exact, reference->source, reference->type);
    uint32_t old = __atomic_load_n(claimed, __ATOMIC_RELAXED);
    for (;;) {
        uint32_t wanted = claim | typer->shared;
        if (old != 0) {
            if (!claim_is_same(old, claim)) {
                if (!typer_defer(typer, object, base, reference))
                    claim_start_again(typer, object, base, claim, map);
                return;
            }
            /* takes the better source; the claim is exact if one of the two is */
            wanted = (old & CLAIM_SOURCE) < (claim & CLAIM_SOURCE) ? old : claim;
            wanted |= ((old | claim) & CLAIM_EXACT) | (old & CLAIM_FRESH);
            if (wanted == old)
                return;
        }
        if (__atomic_compare_exchange_n(claimed, &old, wanted, false, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED)) {
            if (old == 0)
                push_start(typer, object, map);
            return;
        }
    }
}

/* Notes that an object of size bytes has a string of a length at an offset. Extends the recorded
 * end of the object's strings (struct typing's texts), without a lock, as in claim_start(). A block
 * of TINY_BLOCK bytes may hold several small strings, so each string's first byte is marked, too. A
 * string that does not fit is ignored. */
void claim_text(struct typing *typing, uint32_t object, uint64_t size, uint64_t offset,
                uint64_t length)
{
    uint32_t *text = &typing->texts[object];
    if (length == 0 || length > size - offset)
        return;
    const uint64_t end = offset + length;
    uint32_t wanted;
    uint32_t old = __atomic_load_n(text, __ATOMIC_RELAXED);
    do {
        if (size == TINY_BLOCK) {
            const uint32_t known = text_tiny_end(old);
            wanted = TEXT_TINY | (old & TEXT_TINY_STARTS) | 1u << offset |
                     (known > end ? known : (uint32_t)end) << TEXT_TINY_END;
        } else {
            wanted = end < TEXT_LIMIT ? (uint32_t)end : TEXT_LIMIT;
            if (wanted < old)
                wanted = old;
        }
        if (wanted == old)
            return;
    } while (!__atomic_compare_exchange_n(text, &old, wanted, false, __ATOMIC_RELAXED,
                                          __ATOMIC_RELAXED));
}
