/*
 * fold: a graph that is too large for DevTools, made smaller: garbage is left out, and what matters
 * least is folded into nodes that stand for many.
 *
 * docs/snapshot.md has the rules ("Folding"). What is folded hangs below the last of its dominators
 * that is kept: all objects of one class there become one node of that class, which has their size.
 * So sums, sums by class, and the dominators and retained sizes of all nodes that are kept are what
 * they were; fold.c says why.
 *
 * Nodes of the graph have the numbers that they have without folding: synthetic ones, objects,
 * parts. Written nodes have others: first come those that are kept, in the same order, then the
 * folded ones.
 */
#ifndef GRAPH_FOLD_H
#define GRAPH_FOLD_H

#include "graph/graph.h"

#define FOLD_LEFT_OUT UINT32_MAX

/* A written node that stands for count nodes of the graph. */
struct folded {
    uint32_t name, id, size, count;
    uint32_t count_name; /* string: ×1,234 */
    enum node_type type;
};

struct fold {
    const struct g2h_graph *graph;
    uint32_t nodes, kept; /* written nodes; of them those of the graph */
    uint64_t edges;       /* that are written */
    uint32_t *number_of;  /* by node of the graph: the written node that it is or is part of, or
                             FOLD_LEFT_OUT */
    uint32_t graph_nodes;
    uint64_t *hidden;   /* a bit per object that is not kept */
    uint64_t max_nodes; /* that are to be written; 0: any number */
    bool leaves_out_garbage;

    struct folded *folded; /* by written node, from kept on */
    uint32_t folded_count;
    uint32_t *members;      /* nodes of the graph, by the folded node that they are part of */
    uint32_t *first_member; /* by folded node, one entry more */

    /* Edges from a node to what it dominates, where there would be none else; see fold.c. */
    uint32_t *extra;
    uint32_t *first_extra; /* by kept node, one entry more */

    uint32_t *edge_counts; /* by written node */
    uint32_t group;        /* the synthetic node "(folded)", a kept one; UINT32_MAX: nothing is */
    uint32_t folded_name;  /* string: (folded) */
};

/*
 * Before the edges are in their order: makes graph->fold where there is garbage to leave out, or
 * where there are more than max_nodes nodes (0: any number will do); then the graph gets the node
 * "(folded)". Otherwise it stays NULL. False where there is no memory.
 */
bool fold_prepare(struct g2h_graph *graph, uint64_t max_nodes, bool leave_out_garbage);

/* And behind: decides what is written. Strings may be added. */
struct g2h_error *fold_run(struct g2h_graph *graph);
void fold_destroy(struct fold *fold);

/* Of the account of the whole graph, makes that of what is written. */
void fold_account(const struct fold *fold, struct g2h_graph_account *account);

/* Whether an object is not written as a node of its own. fold may be NULL. */
static inline bool fold_hides(const struct fold *fold, uint32_t object)
{
    return fold && (fold->hidden[object / 64] >> (object % 64) & 1) != 0;
}

/* Folded nodes whose edges are one task, and how many such tasks there are. */
enum { FOLDED_PER_TASK = 1 << 12 };
static inline size_t fold_tasks(const struct fold *fold)
{
    return ((size_t)fold->folded_count + FOLDED_PER_TASK - 1) / FOLDED_PER_TASK;
}

/*
 * Edges to folded nodes, and from them, are written once, however many they stand for. seen says
 * by written node which source last had an edge to it, and whether a strong one. Zeroed; for one
 * thread.
 */
static inline uint32_t *fold_seen(const struct fold *fold)
{
    return large_alloc(fold->nodes, sizeof(uint32_t));
}

static inline void fold_seen_free(const struct fold *fold, uint32_t *seen)
{
    large_free(seen, fold->nodes, sizeof(uint32_t));
}

/* So there are not too many threads that need one. */
static inline unsigned fold_threads(unsigned threads)
{
    return threads < 8 ? threads : 8;
}

/*
 * The written node to which an edge leads; FOLD_LEFT_OUT where it is not written. source is a
 * written node, target one of the graph. Of a folded node no weak edges are written, and none to
 * itself.
 */
static inline uint32_t fold_target(const struct fold *fold, uint32_t *seen, uint32_t source,
                                   uint32_t target, bool is_weak)
{
    const uint32_t number = fold->number_of[target], strong = is_weak ? 0 : 1;
    if (number == FOLD_LEFT_OUT || (number < fold->kept && source < fold->kept))
        return number;
    if (source >= fold->kept && (is_weak || number == source))
        return FOLD_LEFT_OUT;
    /* the root, source 0, has edges to kept nodes only: an entry of 0 is none */
    if (seen[number] / 2 == source && (seen[number] & 1) >= strong)
        return FOLD_LEFT_OUT;
    seen[number] = source * 2 + strong;
    return number;
}

#endif
