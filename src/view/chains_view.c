/*
 * chains_view: the elements of long lists (graph/chains.h), as pairs of nodes: the first element
 * and another one. Elements that the view has folded or left out have no pair. See
 * include/go2heapsnapshot/view.h.
 */
#include <stdlib.h>

#include "base/error.h"
#include "graph/chains.h"
#include "view/view.h"

/* Lists the links of chains, each to an element of a list. None if nodes are folded. */
struct g2h_error *g2h_view_chains(const struct g2h_view *view, struct g2h_chain_link **ret,
                                  size_t *ret_count)
{
    _cleanup_vector_ chain_vector links = {0};
    *ret = NULL;
    *ret_count = 0;
    if (view->account.folded_nodes > 0)
        return NULL;
    TRY(chains_find(view->graph, &links));
    if (links.count == 0)
        return NULL;
    *ret = malloc(links.count * sizeof(**ret));
    TRY_MEMORY(*ret);
    for (size_t i = 0; i < links.count; i++)
        (*ret)[i] = (struct g2h_chain_link){g2h_view_object(view, links.data[i].first),
                                            g2h_view_object(view, links.data[i].element)};
    *ret_count = links.count;
    return NULL;
}
