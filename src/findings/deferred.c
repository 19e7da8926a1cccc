/* deferred; see deferred.h. */
#include "findings/deferred.h"

#include <stdlib.h>
#include <string.h>

#include "base/scope.h"

struct holding {
    const struct findings *findings;
    struct map by_name; /* number of a name → index in list */
    deferred_vector *list;
};

/* Returns whether a node is part of the runtime's representation of a call: its record, the head of
 * a list of records (atomic.Pointer[runtime._defer]), or the closure that is called. Objects that
 * such a node holds belong to the program. */
static bool is_of_call(const struct findings *findings, uint32_t node)
{
    const enum g2h_runtime_class class = merged_runtime_class(&findings->merged, node);
    return findings_node(findings, node)->kind != MERGED_CLASS || class == G2H_RUNTIME_DEFER ||
           class == G2H_RUNTIME_DEFER_LIST ||
           merged_form(&findings->merged, node) == G2H_FORM_CLOSURE;
}

/* Adds the objects of a node of merged to the sums of their class. Returns false if memory runs
 * out. */
static bool deferred_add(struct holding *holding, uint32_t node)
{
    const struct merged_node *of = findings_node(holding->findings, node);
    const uint32_t number = (uint32_t)holding->list->count;
    uint32_t at;
    if (!map_put(&holding->by_name, of->name, number, &at) ||
        (at == number && !vector_push(holding->list, ((struct deferred_held){.node = node}))))
        return false;
    holding->list->data[at].count += of->count;
    holding->list->data[at].retained += of->retained;
    return true;
}

/* Collects what the calls below a node hold. Parents come before their children, so one pass finds
 * all nodes below. */
static struct g2h_error *deferred_collect(struct holding *holding, uint32_t calls)
{
    const struct findings *findings = holding->findings;
    const size_t count = findings->merged.nodes.count;
    _cleanup_free_ bool *is_passed = calloc(count, sizeof(*is_passed));
    TRY_MEMORY(is_passed);
    is_passed[calls] = true;
    for (uint32_t i = calls + 1; i < count; i++) {
        const uint32_t parent = findings_node(findings, i)->parent;
        if (parent == MERGED_NONE || !is_passed[parent])
            continue;
        is_passed[i] = is_of_call(findings, i);
        if (!is_passed[i])
            TRY_MEMORY(deferred_add(holding, i));
    }
    return NULL;
}

static int deferred_compare(const void *a, const void *b)
{
    const struct deferred_held *one = a, *other = b;
    if (one->retained != other->retained)
        return one->retained > other->retained ? -1 : 1;
    return one->node < other->node ? -1 : one->node > other->node;
}

static void holding_deinit(struct holding *holding)
{
    map_deinit(&holding->by_name);
}

struct g2h_error *deferred_find(const struct findings *findings, uint32_t calls,
                                deferred_vector *ret)
{
    _cleanup_(holding_deinit) struct holding holding = {.findings = findings, .list = ret};
    TRY(deferred_collect(&holding, calls));
    vector_sort(ret, deferred_compare);
    return NULL;
}
