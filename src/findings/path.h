/*
 * path_search: a breadth-first search along the edges of a view that hold their targets, from one
 * node on.
 *
 * A search serves any number of targets: it proceeds only as far as it is asked to, and records for
 * each node the one by which it was first reached, which precedes it on a shortest path.
 *
 * expression_parts: shared by writing and reading an expression.
 *
 * expression: a path from the roots, node by node, as a Go expression.
 *
 * path: how a program gets to an object.
 *
 * A path for people is a Go expression: main.previews.byName["chair, 338 wide"]. It goes from one
 * dominator of the object to the next, and between these it is the shortest one, as far as the
 * limits at the top of path.c allow; a part that is not found becomes an ellipsis.
 *
 * retainers: the nodes that point to a node, by class and field.
 */
#ifndef FINDINGS_PATH_H
#define FINDINGS_PATH_H

#include <go2heapsnapshot/view.h>

#include "base/error.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/strings.h"
#include "base/text.h"

struct findings;
struct paths;

/* ---- path_search ---- */

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
    bool returns; /* an edge of another node leads back to where the search begins */
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

/* ---- expression_parts ---- */

/* Appends the name of a pointer, and a dot before it if a field follows something. */
void expression_append_edge(const struct g2h_view *view, struct g2h_edges *edges,
                            const struct g2h_edge *edge, struct text *text);

/* ---- expression ---- */

/*
 * Appends a path of count nodes, the first of which are nodes of roots. If the variable that the
 * path begins with is not a package's, its owner follows in brackets. Appends nothing if the path
 * has no nodes of roots, or only those. Errors: G2H_ERROR_MEMORY.
 */
struct g2h_error *expression_append(const struct g2h_view *view, struct g2h_edges *edges,
                                    const uint32_t *nodes, size_t count, struct text *text);

/* Appends the name of a node of kind G2H_NODE_VARIABLE, as paths begin with it: main.cache. */
void expression_append_variable(const struct g2h_view *view, uint32_t node, struct text *text);

/* Returns whether a node is memory in which the runtime keeps a map's entries: paths hide it. */
bool expression_hides(const struct g2h_view *view, uint32_t node);

/* Returns the size of a frame's name without its line, "main.walk" of "main.walk walk.go:17". Names
 * of functions may have spaces, too. */
size_t expression_without_line(const char *name, size_t size);

/* Appends what a pointer of a variable is called: main.cache.items, or items  (local of main.serve
 * main.go:12), to an empty text. Appends nothing if no variable has it. Errors:
 * G2H_ERROR_MEMORY. */
struct g2h_error *expression_append_pointer(const struct g2h_view *view, struct g2h_edges *edges,
                                            const struct g2h_edge *edge, struct text *text);

/* The owner of a variable, "(local of main.serve)", in an expression that is read: the expression
 * says it if the variable has one; or may do without; or does without, and the variable has one. */
enum expression_owner {
    EXPRESSION_OWNER_SAID,
    EXPRESSION_OWNER_ANY,
    EXPRESSION_OWNER_LEFT_OUT,
};

/*
 * Finds the node that an expression leads to: one that expression_append() has written, with its
 * owner in brackets if it has one, but without an ellipsis. If several variables or paths have the
 * same expression, as locals of goroutines in one place do, finds one of them. *ret becomes
 * UINT32_MAX if none matches, or if the search exceeds its limits. If the expression then is a part
 * of a variable or an object that is no object of its own, appends to longer, unless it is NULL,
 * the expression of something that the part leads to. Errors: G2H_ERROR_MEMORY.
 */
struct g2h_error *expression_read(const struct g2h_view *view, struct g2h_edges *edges,
                                  const char *expression, enum expression_owner owner,
                                  uint32_t *ret, struct text *longer);

/* ---- path ---- */

/* Begins; findings must have its merged tree, and outlive the paths. Errors: G2H_ERROR_MEMORY. */
struct g2h_error *paths_create(const struct findings *findings, struct paths **ret);

void paths_destroy(struct paths *paths);

/* Returns an iterator over the view's edges that may be used between these calls. */
struct g2h_edges *paths_edges(struct paths *paths);

/*
 * Appends the path from the roots to a node of the view, or to another one that is merged with it,
 * has the same dominator and retains as much, as an expression has it. Appends nothing for a node
 * that no variable leads to. *ret_end becomes the node that the path leads to. Errors:
 * G2H_ERROR_MEMORY.
 */
struct g2h_error *path_append(struct paths *paths, uint32_t node, struct text *text,
                              uint32_t *ret_end);

/* Appends the shortest path to a node from a variable of the program, by which also objects that
 * other roots hold, too, have a name. Appends nothing if there is none among the nearest objects.
 * Errors: G2H_ERROR_MEMORY. */
struct g2h_error *path_append_global(struct paths *paths, uint32_t node, struct text *text);

/* Does the same for a path that goes by a certain holder of one of the node's dominators, or of the
 * node itself: held. */
struct g2h_error *path_append_by(struct paths *paths, uint32_t holder, uint32_t held, uint32_t node,
                                 struct text *text, uint32_t *ret_end);

/* Gets the holder by which the path that was appended last goes to a node. Returns false if it does
 * not go there. */
bool path_goes_by(const struct paths *paths, uint32_t held, uint32_t *ret_holder);

/* Finds the nodes of a shortest path to a node, from the root on; no nodes if it is garbage. Names
 * that are certain come first. Errors: G2H_ERROR_MEMORY. */
struct g2h_error *path_shortest(struct paths *paths, uint32_t node, node_vector *ret);

/* Finds the nodes of a shortest path to each of count nodes, by one search; ret[i] becomes that of
 * nodes[i], from the root on, or empty if the node is garbage. Errors: G2H_ERROR_MEMORY. */
struct g2h_error *paths_shortest(struct paths *paths, const uint32_t *nodes, size_t count,
                                 node_vector *ret);

/* Returns whether a node of such a path is shown. The groups of roots are not informative, nor are
 * a map's entries; but a goroutine and its frame are. */
bool path_shows(const struct g2h_view *view, uint32_t node);

/* Appends the name of the edge from one node of such a path to the next. Nothing is appended if the
 * first one is a node of roots whose edges have no names. */
void path_append_step(struct paths *paths, uint32_t from, uint32_t to, struct text *text);

/* Finds out whether a node leads to another, or by another to itself; *ret is false, too, if the
 * search exceeds its limits. Errors: G2H_ERROR_MEMORY. */
struct g2h_error *path_leads(struct paths *paths, uint32_t from, uint32_t to, bool *ret);

/* ---- retainers ---- */

struct retainer {
    uint64_t count;
    uint32_t name; /* string of retainers.names: "main.Preview.Auction", "[]*main.Bid[]" */
    uint32_t node; /* of the view: the first such retainer */
};

struct retainers {
    struct string_pool names;
    VECTOR(struct retainer) list; /* the most frequent first */
    struct map by_edge; /* names of a retainer and an edge → index in list, until all are found */
};

/* Finds all nodes with strong edges to a node of the view, garbage too. Goes over all edges.
 * Errors: G2H_ERROR_MEMORY. */
struct g2h_error *retainers_find(const struct findings *findings, struct g2h_edges *edges,
                                 uint32_t node, struct retainers *ret);

/* Finds the nodes with strong edges to each of count nodes, in one walk over all edges: nodes[i]
 * gets ret[i]. Takes a bit per node of the view. Errors: G2H_ERROR_MEMORY. */
struct g2h_error *retainers_find_all(const struct findings *findings, struct g2h_edges *edges,
                                     const uint32_t *nodes, size_t count, struct retainers *ret);

void retainers_deinit(struct retainers *retainers);

#endif
