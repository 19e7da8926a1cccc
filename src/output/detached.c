/* detached: the nodes that DevTools is told are detached; see detached.h. */
#include <stdlib.h>

#include "base/error.h"
#include "base/scope.h"
#include "output/detached.h"

static void edges_destroy(struct g2h_edges **edges)
{
    g2h_edges_destroy(*edges);
}

/* Marks a goroutine and its stack. */
static void add_goroutine(struct detached *detached, const struct g2h_view *view,
                          struct g2h_edges *edges, uint32_t goroutine)
{
    struct g2h_edge edge;
    struct g2h_node target;
    bits_add(detached->nodes, goroutine);
    g2h_edges_begin(edges, goroutine, goroutine + 1);
    while (g2h_edges_next(edges, &edge)) {
        if (edge.target >= detached->count)
            continue;
        g2h_view_brief(view, edge.target, &target);
        if (target.kind == G2H_NODE_STACK)
            bits_add(detached->nodes, edge.target);
    }
}

struct g2h_error *detached_init(const struct g2h_view *view, struct detached *ret)
{
    _cleanup_(edges_destroy) struct g2h_edges *edges = NULL;
    *ret = (struct detached){0};
    if (g2h_view_leaks(view).leaked == 0)
        return NULL;
    const uint32_t count = (uint32_t)g2h_view_account(view)->first_object;
    TRY(g2h_edges_create(view, &edges));
    ret->nodes = calloc((size_t)count / 64 + 1, sizeof(*ret->nodes));
    TRY_MEMORY(ret->nodes);
    ret->count = count;
    for (uint32_t node = 0; node < count; node++)
        if (g2h_view_is_leaked(view, node))
            add_goroutine(ret, view, edges, node);
    return NULL;
}

void detached_deinit(struct detached *detached)
{
    free(detached->nodes);
    *detached = (struct detached){0};
}
