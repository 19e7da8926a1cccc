/*
 * pools: the group (sync.Pool): what pools cache.
 *
 * A sync.Pool only remembers what it caches: the next two collections free whatever nobody takes
 * out before. But a cached object often still points to what it has last been used for: a request's
 * context to its server, and so to half of the program. So the walks of the program and of
 * goroutines pass by a pool's memory, an array of sync.poolLocal (tiers.h), and it belongs to the
 * rest: this group holds each such array that something living points to. The edge has the name of
 * the pool, "main.buffers.local" or "gin.Engine.pool.local".
 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "graph/graph.h"
#include "graph/mark.h"
#include "graph/owners.h"
#include "naming/namer.h"

struct pools_finder {
    struct g2h_graph *graph;
    struct marker *marker;
    struct owners *owners;
    uint64_t *left; /* a bit per object: an array that nothing has been found to point to yet */
    uint32_t group; /* UINT32_MAX before the node exists */
    struct text text;
    VECTOR(uint32_t) found;
};

/* Adds the group's node. Returns an error if memory runs out. */
static struct g2h_error *pools_add_group(struct pools_finder *finder)
{
    static const char text[] = "(sync.Pool)";
    struct g2h_graph *graph = finder->graph;
    struct roots *roots = &graph->roots;
    uint32_t name;
    TRY_MEMORY(names_add_node(&graph->names, text, sizeof(text) - 1, &name) &&
               roots_add_node(roots, G2H_NODE_POOLS, 0, name, &finder->group) &&
               graph_add_edge(graph, node_synthetic(roots->gc_roots), EDGE_ELEMENT,
                              root_group_index(G2H_NODE_FOLDED), node_synthetic(finder->group)));
    return owners_own_group(finder->owners, graph, finder->group);
}

/* Makes the group hold an array, by an edge whose name is the finder's text. */
static struct g2h_error *pools_hold(struct pools_finder *finder, uint32_t array)
{
    struct g2h_graph *graph = finder->graph;
    uint32_t name;
    bits_remove(finder->left, array);
    if (finder->group == UINT32_MAX)
        TRY(pools_add_group(finder));
    TRY_MEMORY(!finder->text.failed &&
               names_add_label(&graph->names, finder->text.data, finder->text.size, &name) &&
               graph_add_edge(graph, node_synthetic(finder->group), EDGE_PROPERTY, name,
                              node_object(array)) &&
               vector_push(&finder->found, array));
    return NULL;
}

/* Returns whether the array is one of those that nothing has been found to point to yet. */
static bool pools_is_left(const struct pools_finder *finder, uint32_t object)
{
    return object != NO_TARGET && bits_have(finder->left, object);
}

/* Makes finder->text the name of a node of roots and that of its edge: "main.buffers.local". What
 * is called after the code that uses it has the package in its name. "local" stands for an element
 * without name. */
static void pools_append_root(struct pools_finder *finder, const struct edge *edge)
{
    const struct g2h_graph *graph = finder->graph;
    const struct synthetic *source = &graph->roots.nodes.data[edge->source.index];
    struct text *text = &finder->text;
    size_t size, length;
    const char *package = string_pool_text(&graph->names.strings, source->name, &size);
    const char *name = edge->type == EDGE_ELEMENT
                           ? NULL
                           : string_pool_text(&graph->names.strings, edge->name, &length);
    text->size = 0;
    if (source->kind == G2H_NODE_PACKAGE && name &&
        (length < strlen("global ") || memcmp(name, "global ", strlen("global ")) != 0)) {
        text_append(text, package, size);
        text_append_string(text, ".");
    } else if (source->kind == G2H_NODE_VARIABLE) {
        text_append(text, package, size);
        text_append_string(text, name && length > 0 && name[0] == '[' ? "" : ".");
    }
    if (name)
        text_append(text, name, length);
    else
        text_append_string(text, "local");
}

/* Finds the pools that are variables, for the arrays of which nothing has been found yet that
 * points to them. A word of a frame that may be a leftover is no variable. */
static struct g2h_error *pools_find_variables(struct pools_finder *finder)
{
    const struct roots *roots = &finder->graph->roots;
    const size_t count = roots->edges.count;
    for (size_t i = 0; i < count; i++) {
        const struct edge edge = roots->edges.data[i]; /* pools_hold() may move the list */
        if (edge.source.of != OF_SYNTHETIC || edge.target.of != OF_OBJECT ||
            !roots_edge_holds(&edge) || !pools_is_left(finder, edge.target.index))
            continue;
        pools_append_root(finder, &edge);
        TRY(pools_hold(finder, edge.target.index));
    }
    return NULL;
}

/* Holds the arrays that an object points to and that nothing holds yet, by the name of the class
 * and the field: "gin.Engine.pool.local". */
static struct g2h_error *pools_hold_of(struct pools_finder *finder, uint32_t object)
{
    const struct names *names = &finder->graph->names;
    struct text *text = &finder->text;
    struct object_walk walk;
    struct walk_pointer pointer;
    size_t size;
    object_walk_begin(&walk, names, finder->graph->targets, object);
    while (object_walk_next(&walk, &pointer)) {
        if (!pools_is_left(finder, pointer.target))
            continue;
        const uint32_t class = names_of_object(names, object);
        const char *name =
            class == NAME_NONE ? "" : string_pool_text(&names->strings, class, &size);
        text->size = 0;
        text_append(text, name, class == NAME_NONE ? 0 : size);
        text_append_string(text, ".");
        namer_append(&walk.namer, &pointer.name, text);
        TRY(pools_hold(finder, pointer.target));
    }
    return NULL;
}

/* Finds the pools that are parts of objects that are marked as living, by the arrays that these
 * point to. */
static struct g2h_error *pools_find_fields(struct pools_finder *finder)
{
    const struct g2h_graph *graph = finder->graph;
    const uint64_t *marks = finder->marker->marks;
    for (uint32_t object = 0; object < graph->heap->object_count; object++) {
        if (!is_marked(marks, object))
            continue;
        const uint32_t *end;
        const uint32_t *target = object_targets(graph, object, &end);
        while (target < end && !pools_is_left(finder, *target))
            target++;
        if (target < end)
            TRY(pools_hold_of(finder, object));
    }
    return NULL;
}

static void pools_finder_deinit(struct pools_finder *finder)
{
    free(finder->left);
    free(finder->found.data);
    text_deinit(&finder->text);
}

/* Makes the node "(sync.Pool)" hold the memory of pools that nothing else holds. Only memory of
 * pools that nothing holds is left for this: it is looked for in variables first, then in objects,
 * and is then marked. */
struct g2h_error *graph_add_pools(struct g2h_graph *graph, struct marker *marker,
                                  struct owners *owners, const struct boundaries *boundaries)
{
    _cleanup_(pools_finder_deinit) struct pools_finder finder = {
        .graph = graph, .marker = marker, .owners = owners, .group = UINT32_MAX};
    bool any = false;
    finder.left = zeroed_alloc(graph->heap->object_count / 64 + 1, sizeof(*finder.left));
    TRY_MEMORY(finder.left);
    VECTOR_EACH(const struct boundary, boundary, boundaries->list) {
        if (boundary->of != BOUNDARY_POOL || is_marked(marker->marks, boundary->object))
            continue;
        bits_add(finder.left, boundary->object);
        any = true;
    }
    if (!any)
        return NULL;
    TRY(pools_find_variables(&finder));
    TRY(pools_find_fields(&finder));
    VECTOR_EACH(const uint32_t, object, finder.found)
        TRY_MEMORY(marker_push(marker, *object));
    return marker_drain(marker);
}
