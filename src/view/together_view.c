/*
 * together_view: variables that hold memory together, and objects whose finalizers never run, by
 * the view's nodes; see include/go2heapsnapshot/view.h. Both come from graph/; in a folded view
 * only kept nodes are listed.
 */
#include <stdlib.h>

#include "base/error.h"
#include "graph/held_together.h"
#include "graph/never_run.h"
#include "view/view.h"

/* Returns the view's number of a node of the graph. */
static uint32_t together_number(const struct g2h_view *view, struct node node)
{
    const uint32_t number = graph_node_number(view->graph, node);
    return view->is_folded ? view->fold.number_of[number] : number;
}

/* Returns groups of variables, each of one package, that hold memory together: the members of each
 * group, and objects that several of these hold. None if nodes are folded. */
struct g2h_error *g2h_view_held_together(const struct g2h_view *view,
                                         struct g2h_held_together **ret, size_t *ret_count)
{
    _cleanup_vector_ held_together_vector found = {0};
    *ret = NULL;
    *ret_count = 0;
    if (view->account.folded_nodes > 0)
        return NULL;
    TRY(held_together_find(view->graph, &found));
    if (found.count == 0)
        return NULL;
    *ret = malloc(found.count * sizeof(**ret));
    TRY_MEMORY(*ret);
    for (size_t i = 0; i < found.count; i++) {
        const struct held_together *member = &found.data[i];
        const uint32_t package = together_number(view, node_synthetic(member->package));
        const uint32_t node = together_number(view, member->node);
        (*ret)[i] = (struct g2h_held_together){package, member->group, node, member->is_shared};
    }
    *ret_count = found.count;
    return NULL;
}

struct g2h_error *g2h_view_never_run(const struct g2h_view *view, uint64_t **ret)
{
    return never_run_find(view->graph, ret);
}
