/*
 * fold: a graph that is too large for its reader, made smaller: garbage is left out, and what
 * matters least is folded into nodes that stand for many.
 *
 * docs/snapshot.md has the rules ("Folding"). What is folded hangs below the last of its dominators
 * that is kept: all objects of one class there become one node of that class, which has their size.
 * So sums, sums by class, and the dominators and retained sizes of all nodes that are kept are what
 * they were; fold.c says why.
 *
 * A graph's nodes and a view's have different numbers here. Those of the view are, in this order:
 * the synthetic nodes that are kept; "(folded)", if anything is; the objects that are kept; the
 * folded nodes.
 */
#ifndef GRAPH_FOLD_H
#define GRAPH_FOLD_H

#include "graph/graph.h"

#define FOLD_LEFT_OUT UINT32_MAX

/* A node of the view that stands for count nodes of the graph. */
struct folded {
    uint64_t size;
    uint32_t name; /* string; CLASS_TEXT … before it has one */
    uint32_t count;
    uint32_t count_name; /* string: ×1,234 */
    uint8_t kind;        /* enum g2h_node_kind */
};

/* Objects of the graph by which the view's objects are counted. */
enum { FOLD_RANK_SHIFT = 12 };

struct fold {
    const struct g2h_graph *graph;
    uint64_t max_nodes; /* of the view; 0: any number */
    bool leaves_out_garbage, folds;

    uint32_t *number_of;  /* by node of the graph: the view's node that it is or is part of, or
                             FOLD_LEFT_OUT */
    uint32_t nodes, kept; /* of the view; of them those that are no folded nodes */
    uint64_t edges;       /* of the view */
    uint64_t folded_objects;
    uint64_t *hidden;         /* a bit per object that is not kept */
    uint32_t *synthetics;     /* by node of the view: the graph's synthetic node */
    uint32_t synthetic_count; /* those that are kept, without "(folded)" */
    uint32_t first_object;    /* of the view's nodes the first that is an object */
    uint32_t *rank;      /* by objects of the graph >> FOLD_RANK_SHIFT: the view's node that the
                            first one kept of these is, or would be; one entry more */
    uint32_t group;      /* the view's node "(folded)"; UINT32_MAX: there is none */
    uint32_t group_name; /* string */

    struct folded *folded; /* by node of the view, from kept on */
    uint32_t folded_count;
    uint32_t *members;      /* nodes of the graph, by the folded node that they are part of */
    uint32_t *first_member; /* by folded node, one entry more */

    /* Edges from a node to what it dominates, where there would be none else; see fold.c. */
    uint32_t *extra;
    uint32_t *first_extra; /* by kept node, one entry more */

    uint32_t *edge_counts; /* by node of the view */
};

/* Whether a view with these options is anything else than the graph; if so fold_init() is needed.
 */
bool fold_is_needed(const struct g2h_graph *graph, const struct g2h_view_options *options);

/*
 * What names the folded nodes: strings of the view. add() gives the number of a text, which is used
 * as use says; false where there is no memory.
 */
struct fold_names {
    bool (*add)(void *context, const char *text, enum g2h_name_use use, uint32_t *ret);
    void *context;
};

/* Decides what is kept and what is folded. Errors: G2H_ERROR_MEMORY, G2H_ERROR_LIMIT. */
struct g2h_error *fold_init(struct fold *fold, const struct g2h_graph *graph,
                            const struct g2h_view_options *options, const struct fold_names *names);
void fold_deinit(struct fold *fold);

/* Counts the edges of all nodes of the view, and finds which ones are to be added: fold_edges.c.
 * dominators: by node of the view; NULL where nothing is folded. Error: G2H_ERROR_MEMORY. */
struct g2h_error *fold_count_edges(struct fold *fold, const uint32_t *dominators);

/* Whether an object is no node of its own in the view. */
static inline bool fold_hides(const struct fold *fold, uint32_t object)
{
    return (fold->hidden[object / 64] >> (object % 64) & 1) != 0;
}

/* Whether an object is left out as garbage. */
static inline bool fold_leaves_out(const struct fold *fold, uint32_t object)
{
    return fold->leaves_out_garbage && graph_is_garbage(fold->graph, object);
}

/* The object that a node of the view is: one that is kept. */
uint32_t fold_object_of(const struct fold *fold, uint32_t node);

/*
 * Between a folded node and another there is one edge, however many it stands for. So seen has, by
 * node of the view, the tag of the source that last had an edge to it, and whether that was a
 * strong one. It is zeroed at first, and one thread's own. Tags are below 2^31.
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
 * The node of the view to which an edge leads; FOLD_LEFT_OUT where it is none of the view's. source
 * is a node of the view, target one of the graph. Folded nodes have no weak edges, and none to
 * themselves.
 */
static inline uint32_t fold_target(const struct fold *fold, uint32_t *seen, uint32_t tag,
                                   uint32_t source, uint32_t target, bool is_weak)
{
    const uint32_t number = fold->number_of[target], strong = is_weak ? 0 : 1;
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
