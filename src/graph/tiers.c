/*
 * tiers: divides all objects among the program, goroutines, and the rest of the roots; see tiers.h.
 * A boundary is a record of the runtime (of a goroutine, thread or processor, and what a pool
 * caches) at which the walks for the program and for goroutines end: it is closed, as if it were
 * marked already, and opened again afterwards. tiers_find_program() walks from variables,
 * tiers_find_others() from the rest; each walk gives a tier to what it reaches first.
 */
#include "graph/tiers.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/contract.h"
#include "base/error.h"
#include "base/memory.h"
#include "graph/graph.h"
#include "graph/mark.h"
#include "graph/owners.h"

/* The owner of a boundary while a walk passes it by. */
#define OWNER_BOUNDARY (OWNER_FIXED | OWNER_GC_ROOTS)

/* ---- the runtime's records ---- */

/* Adds a record that walks pass by; nothing if the dump has no such object (UINT32_MAX). Returns
 * false if memory runs out. */
static bool add_boundary(struct boundaries *boundaries, uint32_t object, enum boundary_of of)
{
    return object == UINT32_MAX || vector_push(&boundaries->list, ((struct boundary){object, of}));
}

/* Adds the records that the dump lists as objects at which walks end: goroutines (g) and threads
 * (m). Returns false if memory runs out. */
static bool add_listed_records(const struct g2h_heap *heap, struct boundaries *boundaries)
{
    VECTOR_EACH(const struct heap_goroutine, goroutine, heap->goroutines)
        if (!add_boundary(boundaries, heap_find(heap, goroutine->record.address),
                          BOUNDARY_GOROUTINE))
            return false;
    for (size_t i = 0; i < heap->records[G2H_RECORD_OSTHREAD].count; i++) {
        struct g2h_record record;
        g2h_heap_record(heap, G2H_RECORD_OSTHREAD, i, &record);
        if (!add_boundary(boundaries, heap_find(heap, record.osthread.m), BOUNDARY_THREAD))
            return false;
    }
    return true;
}

/* Returns which class of the runtime a name is that of. */
static enum g2h_runtime_class class_of_name(const struct names *names, uint32_t name)
{
    return name == NAME_NONE
               ? G2H_RUNTIME_NONE
               : (enum g2h_runtime_class)(names->uses.data[name] >> NAME_RUNTIME_SHIFT);
}

/* Returns whether objects of a class are records at which walks end. */
static bool is_record(enum g2h_runtime_class class)
{
    return class == G2H_RUNTIME_G || class == G2H_RUNTIME_M || class == G2H_RUNTIME_P ||
           class == G2H_RUNTIME_SUDOG;
}

/* Returns whether a type is that of what a sync.Pool caches, for one processor. */
static bool is_pool(const struct types *types, uint32_t type)
{
    return bytes_are(types_name(types, type), "sync.poolLocal");
}

/* Sets the bit of a runtime.sudog. Returns false if memory runs out. */
static bool add_waiter(struct tiers *tiers, uint32_t object, uint32_t objects)
{
    if (!tiers->waiters)
        tiers->waiters = zeroed_alloc(objects / 64 + 1, sizeof(*tiers->waiters));
    if (tiers->waiters)
        bits_add(tiers->waiters, object);
    return tiers->waiters != NULL;
}

/* Adds the objects at which walks end by their type: pools, and records of the runtime. A waiter
 * (sudog) is noted as such, too. */
static struct g2h_error *add_typed_records(struct tiers *tiers, const struct g2h_graph *graph,
                                           struct boundaries *boundaries)
{
    const struct names *names = &graph->names;
    const size_t types = graph->typing->types->list.count;
    const uint32_t objects = graph->heap->object_count;
    _cleanup_free_ bool *may_be = calloc(types + 1, sizeof(*may_be)); /* index 0: no claim */
    bool any = false;
    TRY_MEMORY(may_be);
    for (size_t i = 0; i < types; i++)
        any |= may_be[i + 1] = is_pool(graph->typing->types, as_u32(i)) ||
                               is_record(class_of_name(names, names->of_type[i].value));
    for (uint32_t object = 0; any && object < objects; object++) {
        if (!may_be[graph->typing->claims[object] & CLAIM_TYPE])
            continue;
        if (is_pool(graph->typing->types, (graph->typing->claims[object] & CLAIM_TYPE) - 1)) {
            TRY_MEMORY(add_boundary(boundaries, object, BOUNDARY_POOL));
            continue;
        }
        const enum g2h_runtime_class class = class_of_name(names, names_of_object(names, object));
        if (!is_record(class))
            continue;
        const bool is_waiter = class == G2H_RUNTIME_SUDOG;
        TRY_MEMORY((!is_waiter || add_waiter(tiers, object, objects)) &&
                   add_boundary(boundaries, object,
                                is_waiter || class == G2H_RUNTIME_G ? BOUNDARY_GOROUTINE
                                                                    : BOUNDARY_THREAD));
    }
    return NULL;
}

/* Orders boundaries by object. */
static int compare_boundaries(const void *a, const void *b)
{
    const struct boundary *one = a;
    const struct boundary *other = b;
    return COMPARE(one->object, other->object);
}

/* Sorts the boundaries, and joins those of one object. */
static void sort_boundaries(struct boundaries *boundaries)
{
    struct boundary *list = boundaries->list.data;
    size_t count = 0;
    vector_sort(&boundaries->list, compare_boundaries);
    for (size_t i = 0; i < boundaries->list.count; i++)
        if (count > 0 && list[count - 1].object == list[i].object)
            list[count - 1].of = MAX(list[count - 1].of, list[i].of);
        else
            list[count++] = list[i];
    boundaries->list.count = count;
}

/* Lists the objects at which walks end, and makes all objects garbage for now. */
struct g2h_error *tiers_init(struct tiers *tiers, const struct g2h_graph *graph,
                             struct boundaries *ret)
{
    tiers->of_object = zeroed_alloc((size_t)graph->heap->object_count / TIERS_PER_WORD + 1,
                                    sizeof(*tiers->of_object));
    TRY_MEMORY(tiers->of_object && add_listed_records(graph->heap, ret));
    if (graph->typing)
        TRY(add_typed_records(tiers, graph, ret));
    sort_boundaries(ret);
    return NULL;
}

void tiers_deinit(struct tiers *tiers)
{
    free(tiers->of_object);
    free(tiers->waiters);
    *tiers = (struct tiers){0};
}

void boundaries_deinit(struct boundaries *boundaries)
{
    free(boundaries->list.data);
}

/* ---- walks ---- */

/* Makes walks pass by the boundaries that belong to nothing yet: by all, or only by those that are
 * not of goroutines. */
static void tiers_close_boundaries(const struct boundaries *boundaries, owner_number *of, bool all)
{
    VECTOR_EACH(const struct boundary, boundary, boundaries->list)
        if ((all || boundary->of != BOUNDARY_GOROUTINE) && of[boundary->object] == OWNER_NONE)
            of[boundary->object] = OWNER_BOUNDARY;
}

/* Undoes tiers_close_boundaries() for the boundaries that the walk has given to nothing. */
static void tiers_open_boundaries(const struct g2h_graph *graph,
                                  const struct boundaries *boundaries, owner_number *of)
{
    VECTOR_EACH(const struct boundary, boundary, boundaries->list) {
        const uint32_t object = boundary->object;
        if (tiers_of(&graph->tiers, object) == TIER_GARBAGE)
            of[object] = OWNER_NONE;
    }
}

/* Finds the owners of the objects that the synthetic nodes of a tier reach and that have none. */
static struct g2h_error *tiers_walk(const struct g2h_graph *graph, struct owners *owners,
                                    enum tier tier)
{
    const struct roots *roots = &graph->roots;
    _cleanup_(marker_deinit) struct marker marker = {.targets = graph->targets,
                                                     .waiters = graph->tiers.waiters,
                                                     .owners = owners->of_object,
                                                     .threads = graph->threads};
    VECTOR_EACH(const struct edge, edge, roots->edges) {
        if (edge->source.of != OF_SYNTHETIC || edge->target.of != OF_OBJECT ||
            !roots_edge_holds(edge) || roots->nodes.data[edge->source.index].tier != tier)
            continue;
        marker.owner = owners->of_synthetic[edge->source.index] & ~OWNER_FIXED;
        TRY_MEMORY(marker_push(&marker, edge->target.index));
    }
    return marker_drain(&marker);
}

/* Assigns a tier to the objects whose owners have been found since the last tier, and fixes these
 * owners, so that other walks pass by the objects. */
static void tiers_settle(struct g2h_graph *graph, struct owners *owners, enum tier tier)
{
    const uint32_t objects = graph->heap->object_count;
    for (uint32_t first = 0; first < objects; first += TIERS_PER_WORD) {
        const uint32_t count = MIN(objects - first, TIERS_PER_WORD);
        owner_number *of = &owners->of_object[first];
        uint64_t word = 0;
        for (uint32_t i = 0; i < count; i++) {
            const bool is_new = of[i] != OWNER_NONE && of[i] < OWNER_FIXED;
            word |= (is_new ? (uint64_t)tier : 0) << (TIER_BITS * i);
            of[i] |= is_new ? OWNER_FIXED : 0;
        }
        graph->tiers.of_object[first / TIERS_PER_WORD] |= word;
    }
}

/* Finds the objects that belong to the program, not to the runtime or to pools. With the boundaries
 * closed, the program's roots reach only what is the program's; they are open again afterwards. */
struct g2h_error *tiers_find_program(struct g2h_graph *graph, struct owners *owners,
                                     const struct boundaries *boundaries)
{
    tiers_close_boundaries(boundaries, owners->of_object, true);
    TRY(tiers_walk(graph, owners, TIER_PROGRAM));
    tiers_settle(graph, owners, TIER_PROGRAM);
    tiers_open_boundaries(graph, boundaries, owners->of_object);
    return NULL;
}

/* Finds what belongs to goroutines, then what belongs to the rest of the roots, and then to (other
 * roots). The walk of goroutines passes by the records of threads and by pools; the last walks by
 * none. */
static struct g2h_error *walk_other_tiers(struct g2h_graph *graph, struct owners *owners,
                                          const struct boundaries *boundaries)
{
    tiers_close_boundaries(boundaries, owners->of_object, false);
    TRY(tiers_walk(graph, owners, TIER_GOROUTINES));
    tiers_settle(graph, owners, TIER_GOROUTINES);
    tiers_open_boundaries(graph, boundaries, owners->of_object);
    TRY(tiers_walk(graph, owners, TIER_REST));
    tiers_settle(graph, owners, TIER_REST);
    TRY(tiers_walk(graph, owners, TIER_OTHERS));
    tiers_settle(graph, owners, TIER_OTHERS);
    return NULL;
}

/* Removes the boundaries that are not garbage but have no tier: only edges that walks pass by lead
 * there. Returns whether there were any. */
static bool drop_boundaries(const struct g2h_graph *graph, const uint64_t *marks,
                            struct boundaries *boundaries)
{
    const size_t before = boundaries->list.count;
    size_t count = 0;
    for (size_t i = 0; i < before; i++) {
        const uint32_t object = boundaries->list.data[i].object;
        if (!is_marked(marks, object) || tiers_of(&graph->tiers, object) != TIER_GARBAGE)
            boundaries->list.data[count++] = boundaries->list.data[i];
    }
    boundaries->list.count = count;
    return count < before;
}

/* Resets all owners and tiers, to begin again. */
static void tiers_forget(struct g2h_graph *graph, struct owners *owners)
{
    const size_t objects = graph->heap->object_count;
    memset(owners->of_object, 0, objects * sizeof(*owners->of_object));
    memset(graph->tiers.of_object, 0,
           (objects / TIERS_PER_WORD + 1) * sizeof(*graph->tiers.of_object));
}

/* Returns whether each object that is not garbage has a tier, and whether the objects with a tier,
 * and no others, have an owner or several. */
static _asserted_ bool all_have_tiers(const struct g2h_graph *graph, const struct owners *owners,
                                      const uint64_t *marks)
{
    for (uint32_t i = 0; i < graph->heap->object_count; i++) {
        const bool is_garbage = tiers_of(&graph->tiers, i) == TIER_GARBAGE;
        if ((is_marked(marks, i) && is_garbage) ||
            is_garbage != (owners->of_object[i] == OWNER_NONE))
            return false;
    }
    return true;
}

/* Finds the tier of all objects that are not the program's. Repeats the walks without boundaries
 * that turn out to be reached only through each other, until each object that is not garbage has a
 * tier. */
struct g2h_error *tiers_find_others(struct g2h_graph *graph, struct owners *owners,
                                    struct boundaries *boundaries, const uint64_t *marks,
                                    bool is_changed)
{
    enum { MOST = 2 /* times that boundaries are removed one by one */ };
    for (int i = 0;; i++) {
        if (is_changed) {
            tiers_forget(graph, owners);
            TRY(tiers_find_program(graph, owners, boundaries));
        }
        TRY(walk_other_tiers(graph, owners, boundaries));
        if (!drop_boundaries(graph, marks, boundaries))
            break;
        /* Removing boundaries may uncover others, so this could take many rounds: give up all of
         * them. */
        if (i == MOST)
            boundaries->list.count = 0;
        is_changed = true;
    }
    for (uint32_t i = 0; i < graph->heap->object_count; i++)
        owners->of_object[i] &= ~OWNER_FIXED;
    assert(all_have_tiers(graph, owners, marks));
    return NULL;
}
