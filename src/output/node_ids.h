/*
 * node_ids: the ids of a view's nodes, whatever they stand for: ids.h has those of objects, and how
 * the others are made.
 */
#ifndef OUTPUT_NODE_IDS_H
#define OUTPUT_NODE_IDS_H

#include "output/ids.h"

struct node_ids {
    const struct g2h_view *view;
    struct ids ids;
    uint32_t first_object, first_folded; /* nodes */
    uint32_t *synthetic, *folded;
    uint32_t *hidden; /* of those members of folded nodes that are no objects, in their order */
};

/* series: NULL, or one to which the view's heap has been added last. node_ids must be given to
 * node_ids_deinit() also after an error. Error: G2H_ERROR_MEMORY. */
struct g2h_error *node_ids_init(struct node_ids *node_ids, const struct g2h_view *view,
                                struct g2h_identity *series);
void node_ids_deinit(struct node_ids *node_ids);

/* The id of node number node of the view. */
static inline uint32_t node_ids_of(const struct node_ids *node_ids, uint32_t number,
                                   const struct g2h_node *node)
{
    return node->object != UINT32_MAX ? ids_object(&node_ids->ids, node->object, node->address)
           : number < node_ids->first_object ? node_ids->synthetic[number]
                                             : node_ids->folded[number - node_ids->first_folded];
}

#endif
