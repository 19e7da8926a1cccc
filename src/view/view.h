/*
 * view: the graph as include/go2heapsnapshot/view.h shows it: all of it, or the part that fold.h
 * leaves.
 *
 * Outputs, findings and users of the library read a heap by the view only. Nothing here changes
 * what it shows, so several threads may read one view.
 *
 *   view, edges, entry_keys
 *                       nodes and edges; names from the keys of maps
 *   values, layouts     values in objects, and how much of their slots these take
 *   locations, locals, contents, times, map_slots
 *                       values of objects and variables as people read them; entries of maps
 *   declarations, array_windows, chains_view, together_view
 *                       where slices, strings and maps are declared; arrays that slices use in
 *                       part; long lists; variables that hold memory together, and
 *                       finalizers that never run
 *   view_retainers, retained, stacks, goroutine_labels
 *                       edges backwards; dominators; goroutines, their labels, groups of roots
 *   fold, fold_edges    folds a graph that is too large
 *   under               what a view under some nodes has of the graph
 */
#ifndef VIEW_VIEW_H
#define VIEW_VIEW_H

#include <go2heapsnapshot/view.h>

#include "base/contract.h"
#include "view/fold.h"

struct g2h_view {
    const struct g2h_graph *graph;
    bool is_folded;   /* nodes are those of fold; else all nodes of the graph */
    struct fold fold; /* with is_folded: something is folded or left out */
    struct g2h_view_account account;
    struct string_pool own; /* names of folded nodes, numbered after the graph's */
    char *under;            /* what the view is about; NULL: the whole graph */
    name_uses uses;         /* by name, the graph's first: enum g2h_name_use */
};

/* Turns a g2h_text of the public header into the struct text that the modules append to.
 * view_give_back() turns it back. */
static inline struct text view_borrow(const struct g2h_text *text)
{
    return (struct text){text->data, text->size, text->capacity, text->failed};
}

static inline void view_give_back(struct g2h_text *text, const struct text *borrowed)
{
    *text = (struct g2h_text){borrowed->data, borrowed->size, borrowed->capacity, borrowed->failed};
}

/* Returns the first node that is an object. */
static inline uint32_t view_first_object(const struct g2h_view *view)
{
    return view->is_folded ? view->fold.first_object : graph_synthetics(view->graph);
}

/* Returns the number of nodes that are not folded ones; these come first. */
static inline uint32_t view_kept(const struct g2h_view *view)
{
    return view->is_folded ? view->fold.kept : graph_node_count(view->graph);
}

/* Returns the object of a node that is one. */
static inline uint32_t view_object_of(const struct g2h_view *view, uint32_t node)
{
    assert(node >= view_first_object(view) && node < view_kept(view));
    return view->is_folded ? fold_object_of(&view->fold, node)
                           : node - graph_synthetics(view->graph);
}

/* Returns whether a node is an object and not a folded node. */
static inline bool view_is_object(const struct g2h_view *view, uint32_t node)
{
    return node >= view_first_object(view) && node < view_kept(view);
}

/* Returns the graph's number of a synthetic node that is not "(folded)". */
static inline uint32_t view_synthetic_of(const struct g2h_view *view, uint32_t node)
{
    assert(node < view_first_object(view) && (!view->is_folded || node != view->fold.group));
    return view->is_folded ? view->fold.synthetics[node] : node;
}

#endif
