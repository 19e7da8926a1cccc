/*
 * path: how a program gets to an object.
 *
 * A path for people is a Go expression: main.previews.byName["chair, 338 wide"]. It goes from one
 * dominator of the object to the next, and between these it is the shortest one, as far as the
 * limits at the top of path.c allow; a part that is not found becomes an ellipsis.
 */
#ifndef FINDINGS_PATH_H
#define FINDINGS_PATH_H

#include "base/text.h"
#include "findings/path_search.h"

struct findings;

/* The searches for paths. Those from the roots are kept, since many objects are searched for there.
 * One thread at a time may use them. */
struct paths;

/* Begins; findings must have its merged tree, and outlive the paths. Errors: G2H_ERROR_MEMORY. */
struct g2h_error *paths_create(const struct findings *findings, struct paths **ret);
void paths_destroy(struct paths *paths);

/* Searches the whole heap once, for path_shortest() and paths_shortest(), which then take
 * microseconds. It takes 12 bytes per node of the view. Errors: G2H_ERROR_MEMORY. */
struct g2h_error *paths_search_all(struct paths *paths);

/* Returns an iterator over the view's edges that may be used between these calls. */
struct g2h_edges *paths_edges(struct paths *paths);

/*
 * Appends the path from the roots to a node of the view, or to another one that is merged with it,
 * has the same dominator and retains as much, as expression.h writes it. Appends nothing for a node
 * that no variable leads to. *ret_end becomes the node that the path leads to. Errors:
 * G2H_ERROR_MEMORY.
 */
struct g2h_error *path_append(struct paths *paths, uint32_t node, struct text *text,
                              uint32_t *ret_end);

/* Finds the nodes of a shortest path to a node, from the root on; no nodes if it is garbage. Names
 * that are certain come first. Errors: G2H_ERROR_MEMORY. */
struct g2h_error *path_shortest(struct paths *paths, uint32_t node, node_vector *ret);

/* Finds the nodes of a shortest path to each of count nodes, by one search; ret[i] becomes that of
 * nodes[i], from the root on, or empty if the node is garbage. */
struct g2h_error *paths_shortest(struct paths *paths, const uint32_t *nodes, size_t count,
                                 node_vector *ret);

/* Returns whether a node of such a path is shown. The groups of roots are not informative, nor are
 * a map's entries; but a goroutine and its frame are. */
bool path_shows(const struct g2h_view *view, uint32_t node);

/* Appends the name of the edge from one node of such a path to the next. Nothing is appended if the
 * first one is a node of roots whose edges have no names. */
void path_append_step(struct paths *paths, uint32_t from, uint32_t to, struct text *text);

/* Finds out whether a node leads to another, or to itself; *ret is false, too, if the search
 * exceeds its limits. Errors: G2H_ERROR_MEMORY. */
struct g2h_error *path_leads(struct paths *paths, uint32_t from, uint32_t to, bool *ret);

#endif
