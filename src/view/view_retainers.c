/*
 * view_retainers: the edges of a view, backwards; see include/go2heapsnapshot/view.h.
 *
 * One pass over all edges counts how many lead to each node, a second one puts the sources there.
 */
#include <stdlib.h>

#include <go2heapsnapshot/view.h>

#include "base/contract.h"
#include "base/error.h"
#include "base/memory.h"

enum { EDGES = 256 /* edges that are read at a time */ };

struct g2h_retainers {
    uint64_t *first;   /* by node: index in sources; one more than there are nodes */
    uint32_t *sources; /* by target, ascending within each */
};

CLEANUP_POINTER(view_retainers_destroy, struct g2h_retainers, g2h_retainers_destroy);
CLEANUP_POINTER(view_retainers_destroy_edges, struct g2h_edges, g2h_edges_destroy);

/* Adds the number of edges that lead to node i to first[i + 1]. */
static void view_retainers_count_edges(struct g2h_edges *edges, uint32_t nodes, uint64_t *first)
{
    struct g2h_edge read[EDGES];
    size_t count;
    g2h_edges_begin(edges, 0, nodes);
    while ((count = g2h_edges_read(edges, read, EDGES)) > 0)
        for (size_t i = 0; i < count; i++)
            first[read[i].target + 1]++;
}

/* Moves first[i] from where the sources of node i begin to where they end. */
static void put_sources(struct g2h_edges *edges, uint32_t nodes, uint64_t *first, uint32_t *sources,
                        uint64_t end)
{
    struct g2h_edge read[EDGES];
    size_t count;
    g2h_edges_begin(edges, 0, nodes);
    while ((count = g2h_edges_read(edges, read, EDGES)) > 0)
        for (size_t i = 0; i < count; i++)
            if (first[read[i].target] < end) /* always, unless another program writes to the dump */
                sources[first[read[i].target]++] = read[i].source;
}

/* Lists, for each node, the sources of the edges to it. A counting sort by target: counts the edges
 * to each node, sums up where its sources begin, and puts them there. first begins one entry
 * further on while sources are placed, so that in the end its entries are where they begin. */
struct g2h_error *g2h_retainers_create(const struct g2h_view *view, struct g2h_retainers **ret)
{
    const uint32_t nodes = g2h_view_node_count(view);
    _cleanup_(view_retainers_destroy_edges) struct g2h_edges *edges = NULL;
    _cleanup_(view_retainers_destroy) struct g2h_retainers *retainers =
        calloc(1, sizeof(*retainers));
    TRY(g2h_edges_create(view, &edges));
    TRY_MEMORY(retainers && (retainers->first = calloc((size_t)nodes + 2, sizeof(uint64_t))));
    uint64_t *first = retainers->first + 1; /* so that the sources move to where they belong */
    view_retainers_count_edges(edges, nodes, first);
    for (uint32_t i = 0; i < nodes; i++)
        first[i + 1] += first[i];
    const uint64_t total = first[nodes];
    TRY_MEMORY(retainers->sources = calloc(count_and_end(total), sizeof(uint32_t)));
    put_sources(edges, nodes, first, retainers->sources, total);
    *ret = take_pointer(retainers);
    return NULL;
}

void g2h_retainers_destroy(struct g2h_retainers *retainers)
{
    if (!retainers)
        return;
    free(retainers->first);
    free(retainers->sources);
    free(retainers);
}

/* Gets the nodes that refer to a node, and returns how many. */
uint64_t g2h_retainers_of(const struct g2h_retainers *retainers, uint32_t node,
                          const uint32_t **ret)
{
    *ret = &retainers->sources[retainers->first[node]];
    return retainers->first[node + 1] - retainers->first[node];
}
