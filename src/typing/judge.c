/*
 * judge: picks one claim for each object.
 *
 * Several claims on an object's start are mostly views of one value: a struct and its first field,
 * a slice of values and a pointer to one of them, the runtime's generic map and the program's map.
 * Which of two claims is better depends on these two alone, so it does not matter which of them
 * came first.
 *
 * A claim is a candidate: a type that fits the object, with the source that says so (claims.h). A
 * part is a claim on some bytes of an object, not on its start. A shard is some of the objects,
 * distributed by a hash: one thread judges these.
 */
#include "base/contract.h"
#include "base/bytes.h"
#include "base/port.h"
#include "typing/claims.h"
#include "typing/fit.h"

#include <stdlib.h>
#include <string.h>

#include "base/workers.h"

struct candidate {
    uint32_t type;
    bool is_array, is_exact;
    uint8_t source;
};

/* Compares the names of two types as strings. */
static int compare_names(const struct types *types, uint32_t one, uint32_t other)
{
    return bytes_compare(types_name(types, one), types_name(types, other));
}

/* Returns how many types of the same size are nested in a type: struct{conn} is deeper than
 * conn. 64 stops at damaged types that contain themselves. */
static unsigned judge_depth_of(const struct types *types, uint32_t number)
{
    const uint64_t size = types_size(types, number);
    unsigned depth = 0;
    while (depth < 64) {
        const struct type *type = types_get(types, number);
        uint32_t next = TYPE_NONE;
        if (type->kind == TYPE_ARRAY)
            next = type->elem;
        if (type->kind == TYPE_STRUCT) { /* the field at 0 fills it */
            const struct type_field *field = types_field_at(types, type, 0);
            next = field ? field->type : TYPE_NONE;
        }
        if (next >= types->list.count || types_size(types, next) != size)
            break;
        number = next;
        depth++;
    }
    return depth;
}

/* Returns whether a candidate is certain: it comes from a malloc header, or it is the type of a
 * map's part. A map is more specific about its parts than their malloc headers, in which groups are
 * unnamed structs and directories point to the tables of any map. */
static bool is_certain(const struct candidate *candidate, const struct type *type)
{
    return candidate->source == SOURCE_HEADER || type_is_map_part(type);
}

/*
 * Returns whether one candidate is preferred to the other. Each step except the second compares a
 * property that each candidate has by itself, and the last step distinguishes any two types. The
 * second step is only for types of the same size: the malloc header of a map's group names a struct
 * without a role.
 */
static bool is_better(const struct typing *typing, const struct candidate *one,
                      const struct candidate *other)
{
    const struct type *type = typer_type_of(typing, one->type),
                      *rival = typer_type_of(typing, other->type);
    const bool certain = is_certain(one, type);
    const bool rival_certain = is_certain(other, rival);
    if (certain != rival_certain)
        return certain;
    if (certain && type->size == rival->size &&
        (type->role == ROLE_NONE) != (rival->role == ROLE_NONE))
        return type->role != ROLE_NONE;
    if ((one->source == SOURCE_GUESS) != (other->source == SOURCE_GUESS))
        return other->source == SOURCE_GUESS;
    if (type->is_generic != rival->is_generic) /* the runtime's own view of any map, say */
        return !type->is_generic;
    if (one->is_exact != other->is_exact) /* it explains all of the object */
        return one->is_exact;
    if (!one->is_exact && one->is_array != other->is_array)
        return one->is_array; /* the array fills the slot */
    if (type->size != rival->size)
        return type->size > rival->size;  /* the outer type */
    if (one->is_array != other->is_array) /* a pointer to a value also leads to the first of many */
        return one->is_array;
    const unsigned depth = judge_depth_of(typing->types, one->type),
                   rival_depth = judge_depth_of(typing->types, other->type);
    if (depth != rival_depth)
        return depth > rival_depth;
    if (one->source != other->source)
        return one->source < other->source;
    int order = compare_names(typing->types, one->type, other->type);
    return order != 0 ? order < 0 : one->type < other->type;
}

/* Unpacks the claim on an object's start. */
static struct candidate candidate_of_claim(uint32_t claim)
{
    return (struct candidate){(claim & CLAIM_TYPE) - 1, (claim & CLAIM_ARRAY) != 0,
                              (claim & CLAIM_EXACT) != 0,
                              (uint8_t)((claim & CLAIM_SOURCE) >> CLAIM_SOURCE_SHIFT)};
}

/*
 * Returns whether the type of a malloc header yields to another candidate. It does only if the
 * other describes the same memory more exactly, which is a map's own view of its parts. A candidate
 * of the same type is not more exact: an overflow bucket's pointer to the first bucket
 * (runtime.newoverflow: "safe non-nil pointer") does not turn the array of the malloc header into a
 * single bucket.
 */
static bool header_yields_to(const struct typing *typing, const struct candidate *header,
                             const struct candidate *other)
{
    const struct type *type = typer_type_of(typing, header->type),
                      *rival = typer_type_of(typing, other->type);
    return header->type != other->type && rival->role != ROLE_NONE && is_certain(other, rival) &&
           (type->is_generic || type->size == rival->size);
}

/*
 * Returns whether a guess, the only type that fits the whole object, is preferred to the best claim
 * on its start: it is if the guessed type begins with the claimed type. The pointer that the claim
 * comes from may be gone in the next dump, and then there would be only the guess.
 */
static bool guess_completes(const struct typing *typing, const struct candidate *best,
                            const struct candidate *guess)
{
    return !best->is_exact && best->source != SOURCE_GUESS && guess->is_exact &&
           guess->source == SOURCE_GUESS && type_holds(typing->types, guess->type, 0, best->type);
}

enum { HOLDERS = 16, AHEAD = 16 /* slots of a map, to prefetch */ };

/* Returns whether a part is a further claim on the start of its object, which begins at base. A
 * part with a count is an array that need not reach to the end of the slot, so it is none. */
static bool is_claim_on_start(const struct typed_part *part, uint64_t base)
{
    return part->offset == base && part->count == 0;
}

/* Drops the parts that follow from the claims on the object's start: a field of a struct that is
 * known to be there. If such a claim comes before them, they are not added at all (is_old_news() in
 * propose.c); if they come before it, they must be dropped here, because the result must not depend
 * on the order. */
static void drop_contained_parts(struct typing *typing, uint32_t object, struct shard *shard,
                                 uint32_t first)
{
    const uint64_t base = heap_object_base(typing->heap, object);
    struct candidate holders[HOLDERS];
    size_t count = 0;
    if (typing->claims[object] == 0)
        return;
    holders[count++] = candidate_of_claim(typing->claims[object]);
    for (uint32_t at = first; at != UINT32_MAX; at = shard->parts.data[at].next) {
        const struct typed_part *part = &shard->parts.data[at];
        struct candidate candidate = {part->type, part->is_array, part->is_exact, part->source};
        if (!is_claim_on_start(part, base))
            continue;
        for (size_t i = 0; i < count; i++) /* holders has the best candidates, the best first */
            if (is_better(typing, &candidate, &holders[i])) {
                const struct candidate worse = holders[i];
                holders[i] = candidate;
                candidate = worse;
            }
        if (count < HOLDERS)
            holders[count++] = candidate;
    }
    for (uint32_t at = first; at != UINT32_MAX; at = shard->parts.data[at].next) {
        struct typed_part *part = &shard->parts.data[at];
        for (size_t i = 0; i < count && part->offset != base && !part->is_superseded; i++)
            part->is_superseded = claim_holds(typing, base, holders[i].type, holders[i].is_array,
                                              part->offset, part->type, part->is_array);
    }
}

/* Stores the best claim on the object's start in typing->claims, unless it has none. The further
 * claims on the start are parts at its offset. A malloc header's type wins unless
 * header_yields_to() another one; otherwise a guess wins in the end if it completes the best claim.
 */
static void judge_object(struct typing *typing, uint32_t object, const struct shard *shard,
                         uint32_t first)
{
    const uint64_t base = heap_object_base(typing->heap, object);
    uint32_t *claim = &typing->claims[object];
    if (*claim == 0)
        return;
    const struct candidate header = candidate_of_claim(*claim);
    const bool has_header = header.source == SOURCE_HEADER;
    struct candidate best = header;
    /* The header yields to the first that passes the test below, and only then these compete. */
    bool competes = !has_header;
    for (uint32_t at = first; at != UINT32_MAX; at = shard->parts.data[at].next) {
        const struct typed_part *part = &shard->parts.data[at];
        const struct candidate candidate = {part->type, part->is_array, part->is_exact,
                                            part->source};
        if (!is_claim_on_start(part, base) ||
            (has_header && !header_yields_to(typing, &header, &candidate)))
            continue;
        if (!competes || is_better(typing, &candidate, &best))
            best = candidate;
        competes = true;
    }
    for (uint32_t at = first; at != UINT32_MAX && !has_header; at = shard->parts.data[at].next) {
        const struct typed_part *part = &shard->parts.data[at];
        const struct candidate guess = {part->type, part->is_array, part->is_exact, part->source};
        if (is_claim_on_start(part, base) && guess_completes(typing, &best, &guess))
            best = guess; /* an object has only one guess */
    }
    *claim = claim_pack(best.is_array, best.is_exact, best.source, best.type);
}

/* Compares two parts by object and offset; at one offset the better part comes first, then the one
 * with more values. */
static int judge_order_parts(const struct typing *typing, const struct typed_part *one,
                             const struct typed_part *other)
{
    if (one->object != other->object)
        return COMPARE(one->object, other->object);
    if (one->offset != other->offset)
        return COMPARE(one->offset, other->offset);
    const struct candidate candidate = {one->type, one->is_array, one->is_exact, one->source},
                           rival = {other->type, other->is_array, other->is_exact, other->source};
    if (is_better(typing, &candidate, &rival))
        return -1;
    if (is_better(typing, &rival, &candidate))
        return 1;
    return COMPARE(other->count, one->count);
}

static int judge_compare_parts(const void *one, const void *other, void *typing)
{
    return judge_order_parts(typing, one, other);
}

bool part_is_before(const struct typing *typing, const struct typed_part *one,
                    const struct typed_part *other)
{
    return judge_order_parts(typing, one, other) < 0;
}

/* Sorts the parts of a shard, so that the chain of each object becomes a run of the array: an
 * object's parts are sorted by offset, the best part at each offset first. Drops the superseded
 * parts. Notes how far each part and those before it reach (part->reach). */
static struct g2h_error *sort_parts(struct typing *typing, struct shard *shard)
{
    uint32_t number;
    size_t kept = 0;
    VECTOR_EACH(const struct typed_part, part, shard->parts)
        if (!part->is_superseded)
            shard->parts.data[kept++] = *part;
    shard->parts.count = kept;
    if (kept == 0)
        return NULL;
    qsort_r(shard->parts.data, shard->parts.count, sizeof(*shard->parts.data), judge_compare_parts,
            typing);
    const size_t objects = shard->first.count; /* its parts have other numbers now */
    map_deinit(&shard->first);
    if (!map_reserve(&shard->first, objects))
        return &error_no_memory;
    for (size_t i = 0; i < shard->parts.count; i++) {
        struct typed_part *part = &shard->parts.data[i];
        const bool last =
            i + 1 == shard->parts.count || shard->parts.data[i + 1].object != part->object;
        const bool is_first = i == 0 || shard->parts.data[i - 1].object != part->object;
        const uint64_t end = part->offset + (part->is_array ? part->count : 1) *
                                                typer_type_of(typing, part->type)->size;
        part->next = last ? UINT32_MAX : as_u32(i) + 1;
        part->reach = is_first || part[-1].reach < end ? end : part[-1].reach;
        if (is_first && !map_put(&shard->first, part->object, as_u32(i), &number))
            return &error_no_memory;
    }
    return NULL;
}

/* Frees the data of a shard that is needed only while claims are added. */
void shard_forget(struct shard *shard)
{
    map_deinit(&shard->known);
    map_deinit(&shard->value_counts);
    map_deinit(&shard->counted_values);
    map_deinit(&shard->pointerless);
    map_deinit(&shard->index_of);
    for (size_t i = 0; i < shard->indexes.count; i++)
        field_index_destroy(shard->indexes.data[i]);
    free(shard->indexes.data);
    shard->indexes.data = NULL;
    shard->indexes.count = shard->indexes.capacity = 0;
}

/* Judges the objects of a shard. The decision on an object depends only on its own claims, which
 * are all in its shard. */
static struct g2h_error *judge_shard(void *context, size_t task, unsigned worker)
{
    struct typing *typing = context;
    struct shard *shard = &typing->shards[task];
    const struct map_entry *entries = shard->first.entries;
    (void)worker;
    for (size_t i = 0; entries && i <= shard->first.mask; i++) {
        /* The objects of a map come in no order, so each would miss the cache. */
        if (i + AHEAD <= shard->first.mask && entries[i + AHEAD].value != MAP_NONE)
            typer_prefetch_target(typing, REFERENCE_VALUE, (uint32_t)entries[i + AHEAD].key);
        if (entries[i].value == MAP_NONE)
            continue;
        drop_contained_parts(typing, (uint32_t)entries[i].key, shard, entries[i].value);
        judge_object(typing, (uint32_t)entries[i].key, shard, entries[i].value);
    }
    shard_forget(shard);
    return sort_parts(typing, shard);
}

struct g2h_error *typing_judge(struct typing *typing)
{
    return workers_run(typing->threads, SHARDS, judge_shard, typing);
}
