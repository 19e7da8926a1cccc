/* finalized; see finalized.h. */
#include "findings/finalized.h"

#include <stdlib.h>
#include <string.h>

#include "base/scope.h"

enum { MOST_DOMINATORS = 1024, MOST_VISITED = 200000, MOST_EDGES = 1000000 };

/* A search along strong edges. */
struct search {
    const struct findings *findings;
    struct g2h_edges *edges;
    VECTOR(uint32_t) visited; /* nodes of the view */
    struct map seen;
};

static void search_deinit(struct search *search)
{
    g2h_edges_destroy(search->edges);
    free(search->visited.data);
    map_deinit(&search->seen);
}

static bool visit(struct search *search, uint32_t node)
{
    const uint32_t number = (uint32_t)search->visited.count;
    uint32_t known;
    return map_put(&search->seen, node, number, &known) &&
           (known != number || vector_push(&search->visited, node));
}

/* Finds out whether an object leads to another, or to itself; *ret is false, too, if it leads to
 * more than can be looked at. */
static struct g2h_error *leads_to(struct search *search, uint32_t from, uint32_t to, bool *ret)
{
    struct g2h_edge edge;
    uint32_t edges = 0;
    *ret = false;
    search->visited.count = 0;
    map_deinit(&search->seen);
    search->seen = (struct map){0};
    TRY_MEMORY(visit(search, from));
    for (uint32_t i = 0; i < search->visited.count && i < MOST_VISITED && edges < MOST_EDGES; i++) {
        const uint32_t node = search->visited.data[i];
        g2h_edges_begin(search->edges, node, node + 1);
        while (g2h_edges_next(search->edges, &edge) && ++edges < MOST_EDGES) {
            if ((edge.flags & G2H_EDGE_WEAK) != 0)
                continue;
            *ret = edge.target == to;
            if (*ret)
                return NULL;
            TRY_MEMORY(visit(search, edge.target));
        }
    }
    return NULL;
}

/* What alone holds a node of the view: a finalizer, or an object that is kept for a cleanup. */
struct keeper {
    uint32_t finalizer, for_cleanup; /* nodes; UINT32_MAX: none */
};

static struct keeper keeper_of(const struct findings *findings, uint32_t node)
{
    struct keeper keeper = {UINT32_MAX, UINT32_MAX};
    struct g2h_node read;
    uint32_t below = UINT32_MAX;
    for (unsigned i = 0; node != 0 && i < MOST_DOMINATORS; i++) {
        g2h_view_brief(findings->view, node, &read);
        if (read.kind == G2H_NODE_FINALIZER)
            keeper.finalizer = node;
        if (read.kind == G2H_NODE_OTHER_ROOTS)
            keeper.for_cleanup = below;
        below = node;
        node = g2h_dominators_of(findings->dominators, node);
    }
    return keeper;
}

/* Gives the object that a finalizer is for, and its function; UINT32_MAX if it has none. */
static void read_finalizer(struct search *search, uint32_t finalizer, uint32_t *ret_object,
                           uint32_t *ret_function)
{
    struct g2h_edge edge;
    size_t size;
    *ret_object = *ret_function = UINT32_MAX;
    g2h_edges_begin(search->edges, finalizer, finalizer + 1);
    while (g2h_edges_next(search->edges, &edge)) {
        const char *name = g2h_view_name(search->findings->view, edge.name, &size);
        if (size == 6 && memcmp(name, "object", size) == 0)
            *ret_object = edge.target;
        else if (size == 2 && memcmp(name, "fn", size) == 0)
            *ret_function = edge.target;
    }
}

/* Returns the object that a cleanup is for, by a node that is kept for it, or UINT32_MAX. */
static uint32_t read_cleanup(struct search *search, uint32_t node)
{
    static const char of[] = "cleanup of";
    struct g2h_edge edge;
    size_t size;
    g2h_edges_begin(search->edges, node, node + 1);
    while (g2h_edges_next(search->edges, &edge)) {
        const char *name = g2h_view_name(search->findings->view, edge.name, &size);
        if ((edge.flags & G2H_EDGE_WEAK) != 0 && size == sizeof(of) - 1 &&
            memcmp(name, of, size) == 0)
            return edge.target;
    }
    return UINT32_MAX;
}

/* Gives why a finalizer or a cleanup never runs. */
static struct g2h_error *find_reason(struct search *search, const struct keeper *keeper,
                                     enum finalized *ret)
{
    const bool is_finalizer = keeper->finalizer != UINT32_MAX;
    uint32_t object = UINT32_MAX, function = UINT32_MAX;
    bool is_own = false, is_kept = false;
    if (is_finalizer)
        read_finalizer(search, keeper->finalizer, &object, &function);
    else
        object = read_cleanup(search, function = keeper->for_cleanup);
    if (object != UINT32_MAX && is_finalizer)
        TRY(leads_to(search, object, object, &is_own));
    if (object != UINT32_MAX && function != UINT32_MAX && !is_own)
        TRY(leads_to(search, function, object, &is_kept));
    *ret = is_own         ? FINALIZED_SELF
           : !is_kept     ? FINALIZED_CAN_RUN
           : is_finalizer ? FINALIZED_BY_FUNCTION
                          : FINALIZED_BY_CLEANUP;
    return NULL;
}

struct g2h_error *finalized_find(const struct findings *findings, uint32_t node,
                                 enum finalized *ret)
{
    _cleanup_(search_deinit) struct search search = {.findings = findings};
    const struct keeper keeper = keeper_of(findings, node);
    *ret = FINALIZED_CAN_RUN;
    if (keeper.finalizer == UINT32_MAX && keeper.for_cleanup == UINT32_MAX)
        return NULL;
    TRY(g2h_edges_create(findings->view, &search.edges));
    return find_reason(&search, &keeper, ret);
}
