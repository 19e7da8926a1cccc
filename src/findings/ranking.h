/* ranking: nodes of the merged tree by their weights, the heaviest first. */
#ifndef FINDINGS_RANKING_H
#define FINDINGS_RANKING_H

#include "findings/findings.h"

struct ranked {
    uint64_t weight;
    uint32_t node;
};
typedef VECTOR(struct ranked) ranking;

/* Sorts a list; of equal weights the node that comes first in the tree comes first. */
void ranking_sort(ranking *list);

/* Adds the children of a node, those that retain most first. Errors: G2H_ERROR_MEMORY. */
struct g2h_error *ranking_of_children(const struct findings *findings, uint32_t node, ranking *ret);

#endif
