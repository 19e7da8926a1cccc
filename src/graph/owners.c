/* owners; see owners.h. */
#include "graph/owners.h"

#include <stdlib.h>

#include "base/scope.h"

/* So many have numbers; all but the last one stand for one group, and that for all that are left.
 */
enum { MOST_OWNERS = UINT16_MAX - OWNER_FIRST + 1 };

static struct g2h_error *grow(struct owners *owners, const struct g2h_graph *graph)
{
    const size_t nodes = graph->roots.nodes.count;
    owner_number *of = reallocarray(owners->of_synthetic, nodes, sizeof(*of));
    TRY_MEMORY(of);
    owners->of_synthetic = of;
    for (; owners->synthetics < nodes; owners->synthetics++)
        of[owners->synthetics] = OWNER_NONE;
    return NULL;
}

/* Adds a group; one that has no node yet, too. */
static struct g2h_error *add_group(struct owners *owners, struct g2h_graph *graph, uint32_t node)
{
    const size_t count = graph->owners.count,
                 number = count < MOST_OWNERS ? count : MOST_OWNERS - 1;
    if (node != UINT32_MAX)
        owners->of_synthetic[node] = (owner_number)(OWNER_FIRST + number);
    if (count >= MOST_OWNERS)
        graph->owners.data[number].node = UINT32_MAX;
    else
        TRY_MEMORY(vector_push(&graph->owners, ((struct graph_owner){.node = node})));
    return NULL;
}

/* ---- groups ---- */

/* Whether each member holds by itself. These two hold nothing else. */
static bool has_groups(enum g2h_node_kind kind)
{
    return kind == G2H_NODE_GLOBALS || kind == G2H_NODE_GOROUTINES;
}

static bool is_group(enum g2h_node_kind kind)
{
    return kind == G2H_NODE_FINALIZERS || kind == G2H_NODE_QUEUED_FINALIZERS ||
           kind == G2H_NODE_DEFERS_AND_PANICS || kind == G2H_NODE_OTHER_ROOTS ||
           kind == G2H_NODE_OS_THREADS;
}

static struct g2h_error *add_groups(struct owners *owners, struct g2h_graph *graph)
{
    const struct roots *roots = &graph->roots;
    TRY(add_group(owners, graph, UINT32_MAX));      /* OWNER_CLEANUPS */
    TRY(add_group(owners, graph, roots->gc_roots)); /* OWNER_GC_ROOTS */
    for (uint32_t node = 0; node < roots->nodes.count; node++)
        if (is_group(roots->nodes.data[node].kind))
            TRY(add_group(owners, graph, node));
    for (size_t i = 0; i < roots->edges.count; i++) {
        const struct edge *edge = &roots->edges.data[i];
        if (edge->source.of == OF_SYNTHETIC && edge->target.of == OF_SYNTHETIC &&
            has_groups(roots->nodes.data[edge->source.index].kind))
            TRY(add_group(owners, graph, edge->target.index));
    }
    return NULL;
}

/* ---- what the groups' nodes lead to ---- */

/* Takes the owner of an edge's source to its target. Gives whether that has another one since. */
static bool take_along(owner_number *of, const uint64_t *is_fixed, const struct edge *edge)
{
    if (edge->type == EDGE_WEAK || edge->source.of != OF_SYNTHETIC ||
        edge->target.of != OF_SYNTHETIC || is_marked(is_fixed, edge->target.index))
        return false;
    const owner_number known = of[edge->target.index],
                       merged = owner_merge(known, of[edge->source.index]);
    if (merged == known)
        return false;
    of[edge->target.index] = merged;
    return true;
}

/* Along the edges as they were added, which is downwards, so that hardly more than one walk is
 * needed; there are no longer ways than from a group by goroutine and thread to what is below. */
static struct g2h_error *spread(struct owners *owners, const struct g2h_graph *graph)
{
    _cleanup_free_ uint64_t *is_fixed = calloc(owners->synthetics / 64 + 1, sizeof(*is_fixed));
    bool more = true;
    TRY_MEMORY(is_fixed);
    for (size_t i = 0; i < owners->synthetics; i++)
        is_fixed[i / 64] |= (uint64_t)(owners->of_synthetic[i] != OWNER_NONE) << (i % 64);
    while (more) {
        more = false;
        for (size_t i = 0; i < graph->roots.edges.count; i++)
            more |= take_along(owners->of_synthetic, is_fixed, &graph->roots.edges.data[i]);
    }
    for (size_t i = 0; i < owners->synthetics; i++)
        if (owners->of_synthetic[i] == OWNER_NONE)
            owners->of_synthetic[i] = OWNER_GC_ROOTS;
    return NULL;
}

struct g2h_error *owners_init(struct owners *owners, struct g2h_graph *graph)
{
    *owners = (struct owners){
        .of_object = calloc((size_t)graph->heap->object_count + 1, sizeof(*owners->of_object))};
    TRY_MEMORY(owners->of_object);
    TRY(grow(owners, graph));
    TRY(add_groups(owners, graph));
    return spread(owners, graph);
}

void owners_deinit(struct owners *owners)
{
    free(owners->of_synthetic);
    free(owners->of_object);
    *owners = (struct owners){0};
}

struct g2h_error *owners_own_cleanups(struct owners *owners, struct g2h_graph *graph)
{
    const size_t before = owners->synthetics;
    TRY(grow(owners, graph));
    for (size_t i = before; i < owners->synthetics; i++) {
        owners->of_synthetic[i] = OWNER_CLEANUPS;
        if (graph->roots.nodes.data[i].kind == G2H_NODE_CLEANUPS)
            graph->owners.data[OWNER_CLEANUPS - OWNER_FIRST].node = (uint32_t)i;
    }
    return NULL;
}

/* ---- sums ---- */

static void add_to(struct owners *owners, struct g2h_graph *graph, owner_number owner,
                   uint64_t size)
{
    if (owner == OWNER_SEVERAL) {
        owners->several++;
        graph->account.shared_bytes += size;
    } else if (owner != OWNER_NONE) {
        graph->owners.data[owner - OWNER_FIRST].bytes += size;
    }
}

void owners_sum_up(struct owners *owners, struct g2h_graph *graph)
{
    const uint32_t nodes = graph_node_count(graph), synthetics = graph_synthetics(graph);
    for (uint32_t node = 0; node < nodes; node++)
        add_to(owners, graph, owner_of(owners, synthetics, node), graph_node_size(graph, node));
}
