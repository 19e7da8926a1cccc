/* largest; see largest.h. */
#include "findings/largest.h"

#include <stdlib.h>

#include "base/scope.h"
#include "findings/expression.h"

enum {
    NODES = 256 /* nodes that are read at a time */,
    OF_ALL = 1000 /* the part of the heap that an object has at least */
};

/* Returns whether an object is worth listing by itself: its holder is not an object, or is one of
 * another class that has half as much again. Such objects of similar size do not hold each other,
 * so that there are at most some thousands of them, whatever the heap. */
static bool is_outermost(const struct findings *findings, uint32_t number,
                         const struct g2h_node *node, uint64_t retained)
{
    struct g2h_node above;
    do {
        number = g2h_dominators_of(findings->dominators, number);
        g2h_view_brief(findings->view, number, &above);
    } while (number != 0 && expression_hides(findings->view, number));
    const uint64_t has = g2h_dominators_retained_size(findings->dominators, number);
    return above.object == UINT32_MAX ||
           (has - retained >= retained / 2 && above.name != node->name);
}

/* Adds an object to the candidates if it may be listed. */
static struct g2h_error *consider(const struct findings *findings, uint32_t number,
                                  uint64_t retained, large_vector *candidates)
{
    struct g2h_node node;
    g2h_view_brief(findings->view, number, &node);
    if (!merged_is_object(node.kind) || node.members > 0 ||
        findings_is_dead(findings->view, number) || expression_hides(findings->view, number) ||
        !is_outermost(findings, number, &node, retained))
        return NULL;
    const uint32_t name = node.kind == G2H_NODE_TEXT ? G2H_NAME_NONE : node.name;
    TRY_MEMORY(vector_push(candidates, ((struct large_object){retained, number, name})));
    return NULL;
}

/* Collects the objects that retain at least a thousandth of the reachable heap and are not part of
 * a larger one that is listed instead. */
static struct g2h_error *find_candidates(const struct findings *findings, large_vector *candidates)
{
    const uint32_t count = g2h_view_node_count(findings->view);
    const uint64_t least = findings->reachable / OF_ALL + 1;
    uint32_t above[NODES];
    uint64_t sizes[NODES];
    for (uint32_t first = 0; first < count; first += NODES) {
        const uint32_t read = count - first < NODES ? count - first : NODES;
        g2h_dominators_read(findings->dominators, first, read, above, sizes);
        for (uint32_t i = 0; i < read; i++)
            if (sizes[i] >= least)
                TRY(consider(findings, first + i, sizes[i], candidates));
    }
    return NULL;
}

static int largest_compare(const void *a, const void *b)
{
    const struct large_object *one = a, *other = b;
    if (one->retained != other->retained)
        return one->retained > other->retained ? -1 : 1;
    return one->node < other->node ? -1 : one->node > other->node;
}

/* Takes the heaviest candidates, but only LARGEST_OF_CLASS of one class, so that one class does not
 * fill the list. */
struct g2h_error *largest_find(const struct findings *findings, large_vector *ret)
{
    _cleanup_vector_ large_vector candidates = {0};
    TRY(find_candidates(findings, &candidates));
    vector_sort(&candidates, largest_compare);
    for (size_t i = 0; i < candidates.count && ret->count < LARGEST_OBJECTS; i++) {
        size_t alike = 0;
        for (size_t j = 0; j < ret->count; j++)
            alike += ret->data[j].name == candidates.data[i].name;
        if (alike < LARGEST_OF_CLASS)
            TRY_MEMORY(vector_push(ret, candidates.data[i]));
    }
    return NULL;
}
