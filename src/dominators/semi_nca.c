/* semi_nca; see semi_nca.h. Almost all of the time goes into waiting for memory. */
#include "dominators/semi_nca.h"

#include <stddef.h>

#include "base/contract.h"

#define NOWHERE UINT32_MAX

enum { AHEAD = 16 };

/* A node of the forest, which is linked from the last number to the first. */
struct semi_nca_link {
    uint32_t ancestor; /* path compression moves it further up */
    uint32_t best;     /* the lowest semidominator from here up to, but without, the ancestor */
};

/* Climbs take the place of links in memory. */
_Static_assert(sizeof(struct semi_nca_link) == sizeof(struct climb), "they share their memory");

/* ---- semidominators ---- */

/*
 * Returns the lowest semidominator on the path from a number up to, but without, the root of its
 * tree, which is the first ancestor that is not above limit. All nodes on the path get the root as
 * their ancestor. On the way up, the ancestors themselves store the way down again.
 */
static inline uint32_t semi_nca_evaluate(struct semi_nca_link *links, uint32_t preorder,
                                         uint32_t limit)
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
        links[below] = (struct semi_nca_link){root, best};
        below = next;
    }
    return best;
}

/* Finds the semidominators, from the last number to the first. Sources with lower numbers are in
 * semi already; for the others the lowest semidominator on their path in the forest counts. Then
 * the node is linked to its parent. */
static void find_semidominators(const struct semi_nca *graph, uint32_t begin, uint32_t end)
{
    const uint32_t *idom = graph->idom, *back = graph->back;
    struct semi_nca_link *links = (void *)graph->climbs;
    for (uint32_t preorder = end - 1; preorder > begin; preorder--) {
        const uint32_t first = graph->nodes[preorder].back;
        uint32_t best = graph->nodes[preorder].semi;
        for (uint32_t i = graph->nodes[preorder + 1].back; i > first; i--) {
            if (i > 2 * AHEAD)
                __builtin_prefetch(&links[back[i - 1 - 2 * AHEAD]]);
            const uint32_t found = semi_nca_evaluate(links, back[i - 1], preorder);
            if (found < best)
                best = found;
        }
        graph->nodes[preorder].semi = best;
        links[preorder] = (struct semi_nca_link){idom[preorder], best};
    }
}

/* ---- dominators ---- */

/* Finds the dominators, from the first number to the last: each is the nearest ancestor of the
 * parent, in the tree made so far, that is not after the semidominator. */
static void semi_nca_find_dominators(const struct semi_nca *graph, uint32_t begin, uint32_t end)
{
    uint32_t *idom = graph->idom;
    climb_add(graph->climbs, begin, idom[begin]);
    for (uint32_t preorder = begin + 1; preorder < end; preorder++) {
        idom[preorder] = climb_to(graph->climbs, idom, idom[preorder], graph->nodes[preorder].semi);
        climb_add(graph->climbs, preorder, idom[preorder]);
    }
}

/* Returns whether each node of a range but the first has a dominator in it, with a lower number. */
static _asserted_ bool dominators_are_above(const struct semi_nca *graph, uint32_t begin,
                                            uint32_t end)
{
    for (uint32_t i = begin + 1; i < end; i++)
        if (graph->idom[i] < begin || graph->idom[i] >= i)
            return false;
    return true;
}

void semi_nca_run(const struct semi_nca *graph, uint32_t begin, uint32_t end)
{
    assert(begin < end && (begin == 0 || graph->idom[begin] < begin));
    find_semidominators(graph, begin, end);
    semi_nca_find_dominators(graph, begin, end);
    assert(dominators_are_above(graph, begin, end));
}
