/*
 * never_run: finds the objects whose finalizers and cleanups lead back to them; see never_run.h.
 * Each object gets in finder->by what leads to it: nothing, one finalized object (its number, by
 * its finalizer and cleanups alone), or several. All starts are reached first, then pointers are
 * followed; when a walk from a finalized object comes back to it, that is noted as a way back,
 * which counts if nothing else has come there in the end.
 */
#include "graph/never_run.h"

#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "base/error.h"
#include "base/map.h"
#include "graph/leak_proof.h"

/* By object: what leads to it; else the number of a finalized object. */
enum { BY_NOTHING, BY_SEVERAL, BY_FIRST };

/* An object from which the collector marks because of a finalizer or cleanup of another one, or of
 * itself. */
struct never_start {
    uint32_t object, number;
};

struct finalized_object {
    uint32_t object;
    bool is_led_to; /* by what its own finalizer and cleanups lead to */
};

struct never_finder {
    const struct g2h_graph *graph;
    uint32_t *by;                            /* by object */
    VECTOR(struct finalized_object) objects; /* by number - BY_FIRST */
    struct map number_of;                    /* object → number */
    VECTOR(struct never_start) starts;
    VECTOR(uint32_t) stack;
    uint32_t object_label, cleanup_label; /* names of edges; NAME_NONE: there are none */
};

static void never_finder_deinit(struct never_finder *finder)
{
    large_free(finder->by, count_and_end(finder->graph->heap->object_count), sizeof(*finder->by));
    free(finder->objects.data);
    map_deinit(&finder->number_of);
    free(finder->starts.data);
    free(finder->stack.data);
}

/* Returns whether memory belongs to the program or to goroutines, whose code may change anything
 * that it leads to. */
static bool is_in_use(const struct never_finder *finder, uint32_t object)
{
    const enum tier tier = tiers_of(&finder->graph->tiers, object);
    return tier == TIER_PROGRAM || tier == TIER_GOROUTINES;
}

/* ---- what leads to objects ---- */

/* Notes that something leads to an object; by several if something else did before. Memory in use
 * is left out. Returns false if memory runs out. */
static bool never_reach(struct never_finder *finder, uint32_t object, uint32_t by)
{
    const uint32_t known = finder->by[object];
    if (known == by || known == BY_SEVERAL || is_in_use(finder, object))
        return true;
    finder->by[object] = known == BY_NOTHING ? by : BY_SEVERAL;
    return vector_push(&finder->stack, object);
}

/* Notes that what an object's own finalizer and cleanups lead to leads to the object. If more is
 * found to lead there later, this is not looked at. */
static inline void note_way_back(struct never_finder *finder, uint32_t target, uint32_t by)
{
    if (by >= BY_FIRST && finder->objects.data[by - BY_FIRST].object == target)
        finder->objects.data[by - BY_FIRST].is_led_to = true;
}

/* Follows the pointers from what has been reached. A pointer of an object to itself leads nowhere:
 * the collector ignores those (scanobject of runtime/mgcmark.go). Returns false if memory runs out.
 */
static bool never_spread(struct never_finder *finder)
{
    while (finder->stack.count > 0) {
        const uint32_t object = finder->stack.data[--finder->stack.count];
        const uint32_t by = finder->by[object];
        const uint32_t *end;
        const uint32_t *target = object_targets(finder->graph, object, &end);
        for (; target < end; target++) {
            if (*target == NO_TARGET || *target == object)
                continue;
            note_way_back(finder, *target, by);
            if (!never_reach(finder, *target, by))
                return false;
        }
    }
    return true;
}

/* Finds or makes the number of a finalized object. Returns false if memory runs out. */
static bool number_object(struct never_finder *finder, uint32_t object, uint32_t *ret)
{
    *ret = BY_FIRST + as_u32(finder->objects.count);
    return map_put(&finder->number_of, object, *ret, ret) &&
           (*ret < BY_FIRST + finder->objects.count ||
            vector_push(&finder->objects, ((struct finalized_object){object, false})));
}

/* Lists an object from which the walk for a finalized object starts. Returns false if memory runs
 * out. */
static bool never_start_at(struct never_finder *finder, uint32_t object, uint32_t number)
{
    return vector_push(&finder->starts, ((struct never_start){object, number}));
}

/* Returns the object to which an object that is kept for a cleanup has an edge; UINT32_MAX: it is
 * not kept for one. */
static uint32_t cleaned_by(const struct never_finder *finder, uint32_t kept)
{
    const struct g2h_graph *graph = finder->graph;
    for (uint64_t i = graph_object_child(graph, kept); graph_is_child_of(graph, i, kept); i++) {
        const struct edge *child = &graph->children[i];
        if (child->type == EDGE_WEAK && child->target.of == OF_OBJECT &&
            child->name == finder->cleanup_label)
            return child->target.index;
    }
    return UINT32_MAX;
}

/* Starts at the objects that a finalizer's node points to: the one that it is for, whose edge is
 * called "object", and its function; both with the number of the former. Nothing if there is no
 * such edge. Returns false if memory runs out. */
static bool start_finalizer(struct never_finder *finder, uint32_t node)
{
    const struct g2h_graph *graph = finder->graph;
    const struct edge *begin = graph->children + graph->first_child[node];
    const struct edge *end = graph->children + graph->first_child[node + 1];
    uint32_t number = 0;
    for (const struct edge *child = begin; child < end; child++)
        if (child->target.of == OF_OBJECT && child->name == finder->object_label &&
            !number_object(finder, child->target.index, &number))
            return false;
    for (const struct edge *child = begin; child < end && number != 0; child++)
        if (child->target.of == OF_OBJECT && !never_start_at(finder, child->target.index, number))
            return false;
    return true;
}

/* Goes over the strong edges of a root: what is kept for a cleanup starts with the number of the
 * object that it is for; all else is reached for other reasons (BY_SEVERAL). Returns false if
 * memory runs out. */
static bool start_others(struct never_finder *finder, uint32_t node)
{
    const struct g2h_graph *graph = finder->graph;
    const bool has_cleanups = graph->roots.nodes.data[node].kind == G2H_NODE_OTHER_ROOTS &&
                              finder->cleanup_label != NAME_NONE;
    for (uint64_t i = graph->first_child[node]; i < graph->first_child[node + 1]; i++) {
        const struct edge *edge = &graph->children[i];
        if (edge->target.of != OF_OBJECT || edge->type == EDGE_WEAK)
            continue;
        const uint32_t object = edge->target.index,
                       cleaned = has_cleanups ? cleaned_by(finder, object) : UINT32_MAX;
        uint32_t number;
        if (cleaned == UINT32_MAX ? !never_reach(finder, object, BY_SEVERAL)
                                  : !number_object(finder, cleaned, &number) ||
                                        !never_start_at(finder, object, number))
            return false;
    }
    return true;
}

/* Starts at the finalizers and at all other nodes of the roots, and follows the pointers from
 * there. Returns false if memory runs out. */
static bool start_all(struct never_finder *finder)
{
    const struct g2h_graph *graph = finder->graph;
    for (uint32_t i = 0; i < graph_synthetics(graph); i++)
        if (graph->roots.nodes.data[i].kind == G2H_NODE_FINALIZER ? !start_finalizer(finder, i)
                                                                  : !start_others(finder, i))
            return false;
    for (size_t i = 0; i < finder->starts.count; i++)
        if (!never_reach(finder, finder->starts.data[i].object, finder->starts.data[i].number))
            return false;
    return never_spread(finder);
}

/* Reaches what handles of weak pointers lead to: weak.Pointer.Value() gives it to code that may
 * change it. A dump does not say what is a handle; each word of an object that may be one is taken
 * for an address. Returns false if memory runs out. */
static bool reach_by_handles(struct never_finder *finder)
{
    const struct g2h_heap *heap = finder->graph->heap;
    const uint64_t word = heap->params.pointer_size;
    if (heap->go_minor < FIRST_WITH_WEAK_HANDLES)
        return true;
    for (uint32_t i = 0; i < heap->object_count; i++) {
        if (!heap_slot_is_shared(heap, i))
            continue;
        const struct g2h_bytes contents = heap_contents(heap, i);
        for (uint64_t at = 0; at + word <= contents.size; at += word) {
            const uint32_t target = heap_find(heap, heap_word(heap, contents.data + at));
            if (target != NO_TARGET && finder->by[target] != BY_NOTHING &&
                !never_reach(finder, target, BY_SEVERAL))
                return false;
        }
    }
    return never_spread(finder);
}

/* Finds the number of a name of edges. Returns false if no edge has it. */
static bool find_label(const struct g2h_graph *graph, const char *text, uint32_t *ret)
{
    *ret = NAME_NONE;
    return string_pool_find(&graph->names.strings, text, strlen(text), ret);
}

/* Finds the objects with finalizers or cleanups that never run. Only if the heap is complete enough
 * to prove leaks. Finds the objects with finalizers and cleanups, then which of them lead back to
 * themselves and are led to by nothing else, handles of weak pointers included: these never run. */
struct g2h_error *never_run_find(const struct g2h_graph *graph, uint64_t **ret)
{
    const uint32_t objects = graph->heap->object_count;
    _cleanup_(never_finder_deinit) struct never_finder finder = {.graph = graph};
    const char *reason;
    *ret = NULL;
    if (leak_proof_of(graph->heap, graph->exe, &reason) != G2H_LEAKS_PROVED)
        return NULL; /* what is missing may lead to any object */
    const bool has_finalizers = find_label(graph, "object", &finder.object_label),
               has_cleanups = find_label(graph, "cleanup of", &finder.cleanup_label);
    if (!has_finalizers && !has_cleanups)
        return NULL; /* there is none that could run */
    finder.by = large_alloc(count_and_end(objects), sizeof(*finder.by));
    TRY_MEMORY(finder.by && start_all(&finder) && reach_by_handles(&finder));
    uint64_t *bits = calloc(objects / 64 + 1, sizeof(*bits));
    TRY_MEMORY(bits);
    for (size_t i = 0; i < finder.objects.count; i++) {
        const struct finalized_object *object = &finder.objects.data[i];
        if (object->is_led_to && finder.by[object->object] == BY_FIRST + i)
            bits_add(bits, object->object);
    }
    *ret = bits;
    return NULL;
}
