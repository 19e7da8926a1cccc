/* ranking; see ranking.h. */
#include "findings/ranking.h"

#include "base/scope.h"

/* Orders by weight, the greatest first, and then by node, so that the order is the same in each
 * run. */
static int ranking_compare(const void *a, const void *b)
{
    const struct ranked *one = a, *other = b;
    if (one->weight != other->weight)
        return one->weight > other->weight ? -1 : 1;
    return one->node < other->node ? -1 : one->node > other->node;
}

void ranking_sort(ranking *list)
{
    vector_sort(list, ranking_compare);
}

struct g2h_error *ranking_of_children(const struct findings *findings, uint32_t node, ranking *ret)
{
    for (uint32_t i = findings_node(findings, node)->child; i != MERGED_NONE;
         i = findings_node(findings, i)->sibling)
        TRY_MEMORY(vector_push(ret, ((struct ranked){findings_node(findings, i)->retained, i})));
    ranking_sort(ret);
    return NULL;
}
