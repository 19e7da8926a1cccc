/* semi_nca; see semi_nca.h. Almost all of the time goes into waiting for memory. */
#include "graph/semi_nca.h"

#include <stddef.h>

#include "base/memory.h"
#include "base/scope.h"

#define NOWHERE UINT32_MAX

enum { AHEAD = 16 };

/* A tree of the forest that is being linked from the last number to the first. */
struct link {
    uint32_t ancestor; /* by and by one further up */
    uint32_t best;     /* the lowest semidominator from here up to, but without, the ancestor */
};

/* One after the other. */
union forest {
    struct link *links;
    struct climb *climbs;
};

/* ---- semidominators ---- */

/*
 * The lowest semidominator on the way from a number up to, but without, the root of its tree, which
 * is the first ancestor that is not above limit. All on the way get the root as their ancestor. The
 * way down again is kept in the ancestors themselves.
 */
static inline uint32_t evaluate(struct link *links, uint32_t preorder, uint32_t limit)
{
    uint32_t below = NOWHERE, at = preorder, up;
    while ((up = links[at].ancestor) > limit) {
        links[at].ancestor = below;
        below = at;
        at = up;
    }
    const uint32_t root = up;
    uint32_t best = links[at].best;
    while (below != NOWHERE) {
        const uint32_t next = links[below].ancestor;
        if (links[below].best < best)
            best = links[below].best;
        links[below] = (struct link){root, best};
        below = next;
    }
    return best;
}

static void find_semidominators(const struct semi_nca *graph, struct link *links)
{
    const uint32_t *idom = graph->idom, *back = graph->back;
    for (uint32_t preorder = graph->nodes - 1; preorder > 0; preorder--) {
        const uint32_t begin = graph->first_back[preorder], end = graph->first_back[preorder + 1];
        uint32_t best = graph->semi[preorder];
        for (uint32_t i = end; i > begin; i--) {
            if (i > 2 * AHEAD)
                __builtin_prefetch(&links[back[i - 1 - 2 * AHEAD]]);
            const uint32_t found = evaluate(links, back[i - 1], preorder);
            if (found < best)
                best = found;
        }
        graph->semi[preorder] = best;
        links[preorder] = (struct link){idom[preorder], best};
    }
}

/* ---- dominators ---- */

static void find_dominators(const struct semi_nca *graph, struct climb *climbs)
{
    uint32_t *idom = graph->idom;
    climb_add(climbs, 0, 0);
    for (uint32_t preorder = 1; preorder < graph->nodes; preorder++) {
        idom[preorder] = climb_to(climbs, idom, idom[preorder], graph->semi[preorder]);
        climb_add(climbs, preorder, idom[preorder]);
    }
}

struct g2h_error *semi_nca_run(const struct semi_nca *graph, struct climb **ret)
{
    union forest forest = {large_alloc(graph->nodes, sizeof(*forest.links))};
    TRY_MEMORY(forest.links);
    find_semidominators(graph, forest.links);
    find_dominators(graph, forest.climbs);
    *ret = forest.climbs;
    return NULL;
}
