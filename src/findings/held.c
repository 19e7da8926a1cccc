/* held; see held.h. */
#include "findings/held.h"

#include "base/scope.h"

struct g2h_error *held_make(struct findings *findings, struct held *ret)
{
    TRY(class_index_make(findings->view, findings->dominators, &ret->classes));
    TRY(g2h_retainers_create(findings->view, &ret->retainers));
    TRY(paths_search_all(findings->paths));
    findings->held = ret;
    return NULL;
}

void held_deinit(struct held *held)
{
    class_index_deinit(&held->classes);
    g2h_retainers_destroy(held->retainers);
}
