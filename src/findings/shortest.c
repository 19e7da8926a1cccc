/* shortest; see shortest.h. */
#include "findings/shortest.h"

#include <stdlib.h>
#include <string.h>

#include "base/scope.h"

struct search {
    const struct g2h_view *view;
    struct g2h_edges *edges;
    uint32_t *from, *queue;
    uint32_t count; /* nodes in the queue, which are those that have been reached */
    uint64_t synthetic;
};

/* Returns whether an edge from a root may be a leftover on a stack: its name then ends in "?". */
static bool is_doubtful(const struct search *search, const struct g2h_edge *edge)
{
    size_t size;
    const char *name = g2h_view_name(search->view, edge->name, &size);
    return edge->source < search->synthetic && size > 0 && name[size - 1] == '?';
}

static bool is_passed(const struct search *search, const struct g2h_edge *edge)
{
    struct g2h_node target;
    if ((edge->flags & G2H_EDGE_WEAK) != 0 || search->from[edge->target] != UINT32_MAX)
        return true;
    if (edge->target >= search->synthetic)
        return false;
    g2h_view_brief(search->view, edge->target, &target);
    return target.kind == G2H_NODE_STACK || target.kind == G2H_NODE_CREATION_SITE ||
           target.kind == G2H_NODE_UNREACHABLE;
}

static void follow(struct search *search, uint32_t node, bool doubtful)
{
    struct g2h_edge edge;
    g2h_edges_begin(search->edges, node, node + 1);
    while (g2h_edges_next(search->edges, &edge))
        if (!is_passed(search, &edge) && (doubtful || !is_doubtful(search, &edge))) {
            search->from[edge.target] = node;
            search->queue[search->count++] = edge.target;
        }
}

static struct g2h_error *reach(struct search *search)
{
    uint32_t next = 0;
    TRY(g2h_edges_create(search->view, &search->edges));
    search->from[0] = 0;
    search->queue[search->count++] = 0;
    for (; next < search->count; next++)
        follow(search, search->queue[next], false);
    const uint32_t certain = search->count;
    for (uint32_t i = 0; i < certain; i++)
        if (search->queue[i] < search->synthetic)
            follow(search, search->queue[i], true);
    for (; next < search->count; next++)
        follow(search, search->queue[next], true);
    return NULL;
}

static void search_deinit(struct search *search)
{
    g2h_edges_destroy(search->edges);
    free(search->queue);
    free(search->from);
}

struct g2h_error *shortest_find(const struct g2h_view *view, struct shortest *ret)
{
    const size_t count = g2h_view_node_count(view);
    _cleanup_(search_deinit) struct search search = {
        .view = view, .synthetic = g2h_view_account(view)->synthetic_nodes};
    search.from = malloc(count * sizeof(*search.from));
    search.queue = malloc(count * sizeof(*search.queue));
    TRY_MEMORY(search.from && search.queue);
    memset(search.from, 0xff, count * sizeof(*search.from));
    TRY(reach(&search));
    ret->from = take_pointer(search.from);
    return NULL;
}

void shortest_deinit(struct shortest *shortest)
{
    free(shortest->from);
}

struct g2h_error *shortest_way(const struct shortest *shortest, uint32_t node, node_vector *ret)
{
    ret->count = 0;
    if (shortest->from[node] == UINT32_MAX)
        return NULL;
    for (uint32_t i = node; i != 0; i = shortest->from[i])
        TRY_MEMORY(vector_push(ret, i));
    TRY_MEMORY(vector_push(ret, 0));
    for (size_t low = 0, high = ret->count; low + 1 < high; low++) {
        const uint32_t other = ret->data[--high];
        ret->data[high] = ret->data[low];
        ret->data[low] = other;
    }
    return NULL;
}
