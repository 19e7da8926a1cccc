/* finalized: objects whose finalizers never run; see sections.h. */
#include <stdlib.h>
#include <string.h>

#include "base/scope.h"
#include "output/report/sections.h"

enum { MOST_DOMINATORS = 1024, MOST_VISITED = 200000, MOST_EDGES = 1000000 };

/* A search along strong edges. */
struct search {
    const struct report *report;
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

/* Returns the finalizer that alone holds a node of the view, or UINT32_MAX. */
static uint32_t finalizer_of(const struct report *report, uint32_t node)
{
    struct g2h_node read;
    for (unsigned i = 0; node != 0 && i < MOST_DOMINATORS; i++) {
        g2h_view_node(report->view, node, &read);
        if (read.kind == G2H_NODE_FINALIZER)
            return node;
        node = g2h_dominators_of(report->dominators, node);
    }
    return UINT32_MAX;
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
        const char *name = g2h_view_name(search->report->view, edge.name, &size);
        if (size == 6 && memcmp(name, "object", size) == 0)
            *ret_object = edge.target;
        else if (size == 2 && memcmp(name, "fn", size) == 0)
            *ret_function = edge.target;
    }
}

struct g2h_error *report_put_finalized(const struct report *report, uint32_t node,
                                       const char *indent)
{
    _cleanup_(search_deinit) struct search search = {.report = report};
    const uint32_t finalizer = finalizer_of(report, node);
    uint32_t object, function;
    bool is_own = false, is_of_function = false;
    if (finalizer == UINT32_MAX)
        return NULL;
    TRY(g2h_edges_create(report->view, &search.edges));
    read_finalizer(&search, finalizer, &object, &function);
    if (object != UINT32_MAX)
        TRY(leads_to(&search, object, object, &is_own));
    if (object != UINT32_MAX && function != UINT32_MAX && !is_own)
        TRY(leads_to(&search, function, object, &is_of_function));
    if (!is_own && !is_of_function)
        return NULL;
    page_say(report->page, indent);
    PAGE_PUT(report->page, "never freed %, so the finalizer never runs\n",
             page_words("never_freed", is_own ? "the object with the finalizer reaches itself"
                                              : "the finalizer's function reaches the object"));
    return NULL;
}
