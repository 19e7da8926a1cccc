/* retained: dominators and retained sizes of a view's nodes; see include/go2heapsnapshot/view.h. */
#include <stdlib.h>

#include "graph/dominators.h"
#include "graph/view.h"

struct g2h_dominators {
    const struct g2h_view *view;
    struct dominators tree; /* of the graph */
    uint64_t *sizes;        /* by place */
};

struct g2h_error *g2h_view_dominators(const struct g2h_view *view, struct g2h_dominators **ret)
{
    struct g2h_dominators *dominators = calloc(1, sizeof(*dominators));
    if (!dominators)
        return &error_no_memory;
    dominators->view = view;
    struct g2h_error *error = dominators_init(&dominators->tree, view->graph);
    if (!error)
        error = dominators_sizes(&dominators->tree, view->graph, 0, &dominators->sizes);
    if (error) {
        g2h_dominators_destroy(dominators);
        return error;
    }
    dominators->sizes[0] -= view->account.left_out_bytes; /* all of it hung below the root */
    *ret = dominators;
    return NULL;
}

void g2h_dominators_destroy(struct g2h_dominators *dominators)
{
    if (!dominators)
        return;
    large_free(dominators->sizes, dominators->tree.nodes, sizeof(*dominators->sizes));
    dominators_deinit(&dominators->tree);
    free(dominators);
}

/* A node of the graph that the view's node is, or that is part of it; the root for "(folded)". */
static uint32_t graph_node_of(const struct g2h_view *view, uint32_t node)
{
    const struct fold *fold = &view->fold;
    if (!view->is_folded)
        return node;
    if (node < fold->synthetic_count)
        return fold->synthetics[node];
    if (node < fold->first_object)
        return 0;
    return node < fold->kept ? graph_synthetics(view->graph) + fold_object_of(fold, node)
                             : fold->members[fold->first_member[node - fold->kept]];
}

uint32_t g2h_dominators_of(const struct g2h_dominators *dominators, uint32_t node)
{
    const struct g2h_view *view = dominators->view;
    const struct dominators *tree = &dominators->tree;
    uint32_t place = tree->above[tree->place_of[graph_node_of(view, node)]];
    if (!view->is_folded)
        return tree->node_at[place];
    while (view->fold.number_of[tree->node_at[place]] >= view->fold.kept)
        place = tree->above[place]; /* the root is kept */
    return view->fold.number_of[tree->node_at[place]];
}

uint64_t g2h_dominators_retained_size(const struct g2h_dominators *dominators, uint32_t node)
{
    const struct g2h_view *view = dominators->view;
    if (node >= view_kept(view))
        return view->fold.folded[node - view->fold.kept].size;
    if (view->is_folded && node == view->fold.group)
        return 0;
    return dominators->sizes[dominators->tree.place_of[graph_node_of(view, node)]];
}
