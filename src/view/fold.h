/*
 * fold: makes a graph that is too large for its reader smaller: it leaves out garbage, and folds
 * the nodes that matter least into nodes that stand for many.
 *
 * docs/snapshot-format.md has the rules ("Folding"). A folded object hangs below the last of its
 * dominators that is kept: all objects of one class there become one node of that class, which has
 * the sum of their sizes, and so do all of one class that these dominate, below it. So the total
 * size, the size of each class and what it retains, and the dominators and retained sizes of all
 * kept nodes do not change; fold.c proves it.
 *
 * Nodes of the graph and of the view have different numbers here. The view's are, in this order:
 * the synthetic nodes that are kept; "(folded)", if anything is folded; the objects that are kept;
 * the folded nodes.
 */
#ifndef VIEW_FOLD_H
#define VIEW_FOLD_H

#include <go2heapsnapshot/view.h>

#include "base/contract.h"
#include "base/memory.h"
#include "graph/graph.h"

#define FOLD_LEFT_OUT UINT32_MAX

/* What a view under some nodes has, without garbage: see struct g2h_view_account. */
struct under_account {
    uint64_t objects, bytes, holder_objects, holder_bytes, else_objects, else_bytes;
    uint64_t shared_objects, shared_bytes;
};

/* A node of the view that stands for count nodes of the graph. */
struct folded {
    uint64_t size, retained;
    uint32_t
        above;     /* its dominator: a node of the view, which has a lower number if it is folded */
    uint32_t top;  /* the last one, of itself and the folded nodes that dominate it */
    uint32_t name; /* string; until it is set: CLASS_TEXT … */
    uint32_t count;
    uint32_t count_name; /* string: ×1,234 */
    uint8_t kind;        /* enum g2h_node_kind */
};

/* fold->rank has an entry for each 1 << FOLD_RANK_SHIFT objects of the graph. */
enum { FOLD_RANK_SHIFT = 12 };

struct fold {
    const struct g2h_graph *graph;
    uint64_t max_nodes; /* of the view; 0: no limit */
    bool leaves_out_garbage, folds, is_under;
    struct under_account under; /* zeros, unless the view is under some nodes */

    uint32_t *number_of;  /* by node of the graph: the view's node that it is or is part of, or
                             FOLD_LEFT_OUT */
    uint32_t nodes, kept; /* of the view: all, and all but the folded ones */
    uint64_t edges;       /* of the view */
    uint64_t folded_objects;
    uint64_t *hidden;         /* a bit per object that is not kept */
    uint32_t *synthetics;     /* by node of the view: the graph's synthetic node */
    uint32_t synthetic_count; /* those that are kept, without "(folded)" */
    uint32_t first_object;    /* the view's first node that is an object */
    uint32_t *rank; /* by object of the graph >> FOLD_RANK_SHIFT: the view's number of the first
                     * kept object from there on; one more entry */
    uint32_t group; /* the view's node "(folded)", or UINT32_MAX */
    uint32_t group_name; /* string */

    struct folded *folded; /* by node of the view minus kept */
    uint32_t folded_count;
    uint32_t *members; /* nodes of the graph, sorted by the folded node that they are part of */
    uint32_t *first_member; /* by folded node; one more entry */

    /* The added edges: targets, by source. They lead from a node to nodes that it dominates and
     * that would not be entered well without them; see fold.c. */
    uint32_t *extra;
    uint32_t *first_extra; /* by node of the view; one more entry */

    uint32_t *edge_counts; /* by node of the view */
};

/* Returns whether a view with these options differs from the graph, so that it needs
 * fold_init(). */
bool fold_is_needed(const struct g2h_graph *graph, const struct g2h_view_options *options);

/*
 * The callback that adds the names of folded nodes to the view's strings. add() stores the index of
 * a string, which is used as use says; it returns false if memory runs out.
 */
struct fold_names {
    bool (*add)(void *context, const char *text, enum g2h_name_use use, uint32_t *ret);
    void *context;
};

/* Decides which nodes are kept and which are folded. Errors: G2H_ERROR_MEMORY, G2H_ERROR_LIMIT. */
struct g2h_error *fold_init(struct fold *fold, const struct g2h_graph *graph,
                            const struct g2h_view_options *options, const struct fold_names *names);
void fold_deinit(struct fold *fold);

/* Which nodes a view under some nodes is about, and which ones hold these: a bit by number in
 * preorder (under.c). */
struct under {
    uint64_t *below, *holds;
};

struct dominators;

/* Finds them by the options' under and holders. Errors: G2H_ERROR_MEMORY. */
struct g2h_error *under_find(const struct g2h_graph *graph, const struct dominators *tree,
                             const struct g2h_view_options *options, struct under *ret);
void under_deinit(struct under *under);

/* Returns whether a node is neither under the options' nodes nor holds them. */
static inline bool under_is_else(const struct under *under, uint32_t preorder)
{
    return !bits_have(under->below, preorder) && !bits_have(under->holds, preorder);
}

/* Sums up what is below, above and beside. retained: bytes by number in preorder. Errors:
 * G2H_ERROR_MEMORY. */
struct g2h_error *under_count(const struct g2h_graph *graph, const struct dominators *tree,
                              const struct under *under, const uint64_t *retained,
                              struct under_account *ret);

/* Counts the edges of all nodes of the view, and finds the edges that have to be added:
 * fold_edges.c. dominators has those of the view's nodes; it is NULL if nothing is folded. Error:
 * G2H_ERROR_MEMORY. */
struct g2h_error *fold_count_edges(struct fold *fold, const uint32_t *dominators);

/* Returns whether an object has no node of its own in the view. */
static inline bool fold_hides(const struct fold *fold, uint32_t object)
{
    return bits_have(fold->hidden, object);
}

/* Returns whether an object is left out as garbage. */
static inline bool fold_leaves_out(const struct fold *fold, uint32_t object)
{
    return fold->leaves_out_garbage && graph_is_garbage(fold->graph, object);
}

/* Returns the object of a view's node, which is a kept object. */
uint32_t fold_object_of(const struct fold *fold, uint32_t node);

/*
 * Allocates the table seen. Between a folded node and another node there is one edge, however many
 * edges it stands for. So seen has, by node of the view, the tag of the last source that had an
 * edge to it, and whether that edge was strong. The table is zeroed at first, and each thread has
 * its own. Tags are below 2^31.
 */
static inline uint32_t *fold_seen(const struct fold *fold)
{
    return large_alloc(fold->nodes, sizeof(uint32_t));
}

static inline void fold_seen_free(const struct fold *fold, uint32_t *seen)
{
    large_free(seen, fold->nodes, sizeof(uint32_t));
}

/*
 * Returns the view's node to which an edge leads, or FOLD_LEFT_OUT if the view does not have that
 * edge. source is a node of the view, target one of the graph. Folded nodes have no weak edges, and
 * none to themselves.
 */
static inline uint32_t fold_target(const struct fold *fold, uint32_t *seen, uint32_t tag,
                                   uint32_t source, uint32_t target, bool is_weak)
{
    const uint32_t number = fold->number_of[target];
    const uint32_t strong = is_weak ? 0 : 1;
    assert(source < fold->nodes && tag < 1u << 31);
    assert(number == FOLD_LEFT_OUT || number < fold->nodes);
    if (number == FOLD_LEFT_OUT || (number < fold->kept && source < fold->kept))
        return number;
    if (source >= fold->kept && (is_weak || number == source))
        return FOLD_LEFT_OUT;
    if (seen[number] / 2 == tag && (seen[number] & 1) >= strong)
        return FOLD_LEFT_OUT;
    seen[number] = tag * 2 + strong;
    return number;
}

#endif
