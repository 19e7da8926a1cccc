/*
 * path_search: a breadth-first search along the edges of a view that hold their targets, from one
 * node on.
 *
 * A search serves any number of targets: it proceeds only as far as it is asked to, and records for
 * each node the one by which it was first reached, which precedes it on a shortest path.
 */
#ifndef FINDINGS_PATH_SEARCH_H
#define FINDINGS_PATH_SEARCH_H

#include <go2heapsnapshot/view.h>

#include "base/error.h"
#include "base/map.h"
#include "base/memory.h"

/*
 * The edges that a search follows. PROGRAM: among the groups of roots only the program's globals,
 * which identify an object best. OWN: all groups but the runtime's globals, by names that are
 * certain, but not by frames of the runtime and of the packages below every program, which hold
 * what the frames above have passed to them. FRAMES: by these as well. CERTAIN: also by the
 * runtime's globals. ALL: also by names that are not certain: a word of a stack may be a leftover.
 * GLOBALS: only globals, but also the runtime's, because there may be more goroutines than a search
 * can look at. CERTAIN_FIRST: CERTAIN to its end, and then ALL, to nodes that nothing else leads
 * to. None of these follows stacks, go statements and what holds garbage. STRONG: all edges that
 * hold something. POINTERS: all pointers that the collector follows, also to objects of other
 * owners.
 */
enum path_scope {
    PATH_PROGRAM,
    PATH_OWN,
    PATH_FRAMES,
    PATH_CERTAIN,
    PATH_ALL,
    PATH_GLOBALS,
    PATH_CERTAIN_FIRST,
    PATH_STRONG,
    PATH_POINTERS,
};

/* A node that was reached, and the index of the node before it. */
struct path_visit {
    uint32_t node, from;
};

struct path_search {
    const struct g2h_view *view;
    struct g2h_edges *edges;
    enum path_scope scope;
    uint64_t most_nodes, most_edges;   /* limits: nodes whose edges are followed, and edges */
    VECTOR(struct path_visit) visited; /* the first one is where the search begins */
    struct map seen;                   /* node → index in visited */
    uint32_t *seen_by_node;            /* the same, plus 1, of a search without limits */
    uint32_t next;                     /* index of the node whose edges are followed next */
    uint64_t followed;                 /* edges */
    bool returns;                      /* an edge leads back to where the search begins */
};

#define PATH_NO_LIMIT UINT32_MAX

/* Begins a search that follows the edges of at most most_nodes nodes, and five times as many edges.
 * Without a limit it takes 12 bytes per node of the view. edges is any iterator over the view's
 * edges, for this search and others. The caller calls path_search_deinit() in any case. Errors:
 * G2H_ERROR_MEMORY. */
struct g2h_error *path_search_begin(struct path_search *search, const struct g2h_view *view,
                                    struct g2h_edges *edges, uint32_t from, enum path_scope scope,
                                    uint32_t most_nodes);
void path_search_deinit(struct path_search *search);

/* Follows the edges of one more node. *ret is false once there are no more, or a limit is reached.
 * Errors: G2H_ERROR_MEMORY. */
struct g2h_error *path_search_extend(struct path_search *search, bool *ret);

typedef VECTOR(uint32_t) node_vector;

/* Appends the nodes of the path to a node that was visited, without the first one. Returns false if
 * memory runs out. */
bool path_search_append(const struct path_search *search, uint32_t index, node_vector *nodes);

#endif
