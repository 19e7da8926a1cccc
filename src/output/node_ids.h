/*
 * node_ids: the ids of all nodes of a view, whatever they stand for. ids.h has the ids of objects,
 * and makes those of other nodes.
 */
#ifndef OUTPUT_NODE_IDS_H
#define OUTPUT_NODE_IDS_H

#include "output/ids.h"

struct node_ids {
    const struct g2h_view *view;
    struct ids ids;
    uint32_t first_object, first_folded; /* numbers of nodes */
    uint32_t *synthetic, *folded;
    uint32_t *hidden; /* ids of folded nodes' members that are not objects, in their order */
};

/* series: NULL, or the series to which the view's heap was added last. node_ids must be passed to
 * node_ids_deinit() also after an error. Error: G2H_ERROR_MEMORY. */
struct g2h_error *node_ids_init(struct node_ids *node_ids, const struct g2h_view *view,
                                struct g2h_identity *series);
void node_ids_deinit(struct node_ids *node_ids);

/* Returns the id of the view's node of this number. */
static inline uint32_t node_ids_of(const struct node_ids *node_ids, uint32_t number,
                                   const struct g2h_node *node)
{
    return node->object != UINT32_MAX ? ids_object(&node_ids->ids, node->object, node->address)
           : number < node_ids->first_object ? node_ids->synthetic[number]
                                             : node_ids->folded[number - node_ids->first_folded];
}

#endif
