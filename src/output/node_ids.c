/* node_ids; see node_ids.h. */
#include "output/node_ids.h"

#include <stdlib.h>

#include "base/id_hash.h"
#include "base/memory.h"
#include "base/scope.h"

enum { MANY = 64 /* nodes that are read at a time */ };

/* A node that is not an object, and where its id is stored. */
struct synthetic_node {
    uint64_t key;
    uint32_t *id;
    uint32_t whole;
    enum g2h_node_kind kind;
};

typedef VECTOR(struct synthetic_node) synthetic_vector;

/* Orders nodes as in the whole graph. */
static int compare_whole(const void *a, const void *b)
{
    const struct synthetic_node *one = a, *other = b;
    return one->whole < other->whole ? -1 : one->whole > other->whole;
}

/* Lists the synthetic nodes of the view, and where their ids go. */
static struct g2h_error *find_kept(const struct node_ids *node_ids, synthetic_vector *ret)
{
    struct g2h_node nodes[MANY];
    for (uint32_t first = 0; first < node_ids->first_object; first += MANY) {
        const uint32_t left = node_ids->first_object - first;
        const size_t count =
            g2h_view_nodes(node_ids->view, first, left < MANY ? left : MANY, nodes);
        for (size_t i = 0; i < count; i++)
            TRY_MEMORY(vector_push(
                ret, ((struct synthetic_node){nodes[i].key, &node_ids->synthetic[first + i],
                                              nodes[i].whole, nodes[i].kind})));
    }
    return NULL;
}

/* Returns whether the members of a folded node are not objects. */
static bool is_of_synthetics(const struct g2h_node *folded)
{
    return folded->kind == G2H_NODE_FOLDED_SYNTHETICS || folded->kind == G2H_NODE_STACK;
}

/* Finds the nodes that are not objects and are members of folded nodes. */
static struct g2h_error *find_hidden(struct node_ids *node_ids, synthetic_vector *ret)
{
    const uint32_t nodes = g2h_view_node_count(node_ids->view);
    const size_t first = ret->count;
    struct g2h_node node, member;
    for (uint32_t i = node_ids->first_folded; i < nodes; i++) {
        g2h_view_brief(node_ids->view, i, &node);
        for (uint32_t j = 0; is_of_synthetics(&node) && j < node.members; j++) {
            g2h_view_member(node_ids->view, i, j, &member);
            TRY_MEMORY(vector_push(
                ret, ((struct synthetic_node){member.key, NULL, member.whole, member.kind})));
        }
    }
    node_ids->hidden = block_alloc(ret->count - first + 1, sizeof(*node_ids->hidden));
    TRY_MEMORY(node_ids->hidden);
    for (size_t i = first; i < ret->count; i++)
        ret->data[i].id = &node_ids->hidden[i - first];
    return NULL;
}

/*
 * Finds the ids of nodes that are not objects. If two nodes would have the same id, the first one
 * gets it, in the order of the whole graph, so that a node's id does not depend on which nodes are
 * folded.
 */
static struct g2h_error *find_synthetic_ids(struct node_ids *node_ids)
{
    _cleanup_vector_ synthetic_vector all = {0};
    node_ids->synthetic =
        block_alloc((size_t)node_ids->first_object + 1, sizeof(*node_ids->synthetic));
    TRY_MEMORY(node_ids->synthetic);
    TRY(find_kept(node_ids, &all));
    TRY(find_hidden(node_ids, &all));
    vector_sort(&all, compare_whole);
    for (size_t i = 0; i < all.count; i++)
        TRY_MEMORY(
            ids_synthetic(&node_ids->ids, all.data[i].kind, all.data[i].key, all.data[i].id));
    return NULL;
}

/*
 * Finds the ids of folded nodes. DevTools' Comparison takes a node whose id is in both snapshots
 * for unchanged, whatever its size. So the id of a folded node is made from the ids of all its
 * members: a folded node that has changed gets another id, and the bytes of its class are right in
 * both snapshots.
 */
static struct g2h_error *find_folded_ids(struct node_ids *node_ids)
{
    const uint32_t nodes = g2h_view_node_count(node_ids->view), first = node_ids->first_folded;
    const uint32_t *hidden = node_ids->hidden;
    node_ids->folded = malloc(((size_t)(nodes - first) + 1) * sizeof(*node_ids->folded));
    if (!node_ids->folded)
        return &error_no_memory;
    for (uint32_t i = first; i < nodes; i++) {
        struct g2h_node node, member;
        uint64_t hash = 0;
        g2h_view_brief(node_ids->view, i, &node);
        for (uint32_t j = 0; j < node.members; j++) {
            g2h_view_member(node_ids->view, i, j, &member);
            hash += id_hash(is_of_synthetics(&node)
                                ? *hidden++
                                : ids_object(&node_ids->ids, member.object, member.address));
        }
        uint32_t *id = &node_ids->folded[i - first];
        if (!(is_of_synthetics(&node) ? ids_synthetic(&node_ids->ids, node.kind, hash, id)
                                      : ids_folded(&node_ids->ids, hash, id)))
            return &error_no_memory;
    }
    return NULL;
}

/* Folded nodes come last, because their ids are made from those of their members. */
struct g2h_error *node_ids_init(struct node_ids *node_ids, const struct g2h_view *view,
                                struct g2h_identity *series)
{
    const struct g2h_view_account *account = g2h_view_account(view);
    *node_ids = (struct node_ids){
        .view = view,
        .first_object = (uint32_t)account->first_object,
        .first_folded = (uint32_t)(account->nodes - account->folded_nodes),
    };
    TRY(ids_init(&node_ids->ids, g2h_view_heap(view), series));
    TRY(find_synthetic_ids(node_ids));
    return find_folded_ids(node_ids);
}

void node_ids_deinit(struct node_ids *node_ids)
{
    free(node_ids->synthetic);
    free(node_ids->folded);
    free(node_ids->hidden);
    ids_deinit(&node_ids->ids);
}
