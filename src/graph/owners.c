/*
 * owners: which group of roots alone reaches each node; see owners.h. A group is a package with its
 * globals, the goroutines of one place, and so on. owners_init() numbers the groups and finds the
 * owners of synthetic nodes (those that are not objects) by passing them along edges; mark.c does
 * the same for objects. A node that two groups reach has OWNER_SEVERAL.
 */
#include "graph/owners.h"

#include <stdlib.h>

#include "base/contract.h"
#include "base/error.h"
#include "base/port.h"

/* Makes space for nodes that were added. Nodes that were added have no owner yet. */
struct g2h_error *owners_grow(struct owners *owners, const struct g2h_graph *graph)
{
    const size_t nodes = graph->roots.nodes.count;
    assert(owners->synthetics <= nodes);
    owner_number *of = reallocarray(owners->of_synthetic, nodes, sizeof(*of));
    TRY_MEMORY(of);
    owners->of_synthetic = of;
    for (; owners->synthetics < nodes; owners->synthetics++)
        of[owners->synthetics] = OWNER_NONE;
    return NULL;
}

/* Adds a group. node is UINT32_MAX if the group has no node yet. Errors: G2H_ERROR_MEMORY;
 * G2H_ERROR_LIMIT: there are too many groups. */
static struct g2h_error *owners_add_group(struct owners *owners, struct g2h_graph *graph,
                                          uint32_t node)
{
    const owner_number number = OWNER_FIRST + (owner_number)graph->owners.count;
    if (number >= OWNER_FIXED)
        return error_create(G2H_ERROR_LIMIT, "%s: %zu groups of roots: too many",
                            graph->heap->input->name, graph->owners.count);
    if (node != UINT32_MAX)
        owners->of_synthetic[node] = number | OWNER_FIXED;
    TRY_MEMORY(vector_push(&graph->owners, ((struct graph_owner){.node = node})));
    return NULL;
}

/* ---- groups ---- */

/* Returns whether each member of a node of this kind is a group. Nodes of these two kinds hold only
 * groups. */
static bool has_groups(enum g2h_node_kind kind)
{
    return kind == G2H_NODE_GLOBALS || kind == G2H_NODE_GOROUTINES;
}

/* Returns whether an edge leads to a group: a member of such a node, or a package whose
 * variables are not the program's, directly below (GC roots). */
static bool leads_to_group(const struct roots *roots, const struct edge *edge)
{
    return edge->source.of == OF_SYNTHETIC && edge->target.of == OF_SYNTHETIC &&
           (has_groups(roots->nodes.data[edge->source.index].kind) ||
            roots->nodes.data[edge->target.index].kind == G2H_NODE_PACKAGE);
}

/* Returns whether a node of this kind is a group as a whole. */
static bool owners_is_group(enum g2h_node_kind kind)
{
    return kind == G2H_NODE_FINALIZERS || kind == G2H_NODE_QUEUED_FINALIZERS ||
           kind == G2H_NODE_DEFERS_AND_PANICS || kind == G2H_NODE_OTHER_ROOTS ||
           kind == G2H_NODE_OS_THREADS;
}

/* Adds all groups: the two with fixed numbers first, of which (cleanups) gets its node only later
 * (owners_own_cleanups()); then the nodes that are groups; then those that edges lead to as groups:
 * the members of (globals) and (goroutines), and the packages below (GC roots), whose variables are
 * not the program's. Errors: those of owners_add_group(). */
static struct g2h_error *owners_add_groups(struct owners *owners, struct g2h_graph *graph)
{
    const struct roots *roots = &graph->roots;
    TRY(owners_add_group(owners, graph, UINT32_MAX));      /* OWNER_CLEANUPS */
    TRY(owners_add_group(owners, graph, roots->gc_roots)); /* OWNER_GC_ROOTS */
    assert(graph->owners.count == OWNER_GC_ROOTS + 1 - OWNER_FIRST);
    for (uint32_t node = 0; node < roots->nodes.count; node++)
        if (owners_is_group(roots->nodes.data[node].kind))
            TRY(owners_add_group(owners, graph, node));
    VECTOR_EACH(const struct edge, edge, roots->edges)
        if (leads_to_group(roots, edge))
            TRY(owners_add_group(owners, graph, edge->target.index));
    return NULL;
}

/* ---- the owners of synthetic nodes ---- */

/* Merges the owner of an edge's source into that of its target: a target with two owners has
 * OWNER_SEVERAL. Returns whether the target's owner has changed. */
static bool pass_owner_on(owner_number *of, const struct edge *edge, owner_number first)
{
    if (edge->type == EDGE_WEAK || edge->source.of != OF_SYNTHETIC ||
        edge->target.of != OF_SYNTHETIC)
        return false;
    const owner_number known = of[edge->target.index],
                       owner = of[edge->source.index] & ~OWNER_FIXED,
                       merged = owner >= first || owner == OWNER_SEVERAL ? owner_merge(known, owner)
                                                                         : known;
    of[edge->target.index] = merged;
    return merged != known;
}

/* Gives synthetic nodes the owners of those that hold them. The edges are in the order in which
 * they were added, or sorted by their sources. Both orders go downwards, so hardly more than one
 * walk is needed: the longest paths lead from a group by a goroutine and a thread to the nodes
 * below. */
void owners_spread(struct owners *owners, const struct edge *edges, uint64_t count,
                   owner_number first)
{
    bool more = true;
    while (more) {
        more = false;
        for (uint64_t i = 0; i < count; i++)
            more |= pass_owner_on(owners->of_synthetic, &edges[i], first);
    }
}

/* Finds the owners of synthetic nodes. Groups get owners first, which then spread along the edges
 * between synthetic nodes; (GC roots) owns the rest. */
struct g2h_error *owners_init(struct owners *owners, struct g2h_graph *graph)
{
    *owners = (struct owners){.of_object = zeroed_alloc(count_and_end(graph->heap->object_count),
                                                        sizeof(*owners->of_object))};
    TRY_MEMORY(owners->of_object);
    TRY(owners_grow(owners, graph));
    TRY(owners_add_groups(owners, graph));
    owners_spread(owners, graph->roots.edges.data, graph->roots.edges.count, OWNER_FIRST);
    for (size_t i = 0; i < owners->synthetics; i++)
        if (owners->of_synthetic[i] == OWNER_NONE)
            owners->of_synthetic[i] = OWNER_GC_ROOTS;
    return NULL;
}

void owners_deinit(struct owners *owners)
{
    free(owners->of_synthetic);
    free(owners->of_object);
    *owners = (struct owners){0};
}

/* Makes (cleanups) the owner of nodes. The nodes that were added since belong to (cleanups); the
 * group's own node is now known. */
struct g2h_error *owners_own_cleanups(struct owners *owners, struct g2h_graph *graph)
{
    const size_t before = owners->synthetics;
    TRY(owners_grow(owners, graph));
    for (size_t i = before; i < owners->synthetics; i++) {
        owners->of_synthetic[i] = OWNER_CLEANUPS;
        if (graph->roots.nodes.data[i].kind != G2H_NODE_CLEANUPS)
            continue;
        owners->of_synthetic[i] |= OWNER_FIXED;
        assert(graph->owners.data[OWNER_CLEANUPS - OWNER_FIRST].node == UINT32_MAX);
        graph->owners.data[OWNER_CLEANUPS - OWNER_FIRST].node = as_u32(i);
    }
    return NULL;
}

/* Adds a group for a synthetic node that was added since. */
struct g2h_error *owners_own_group(struct owners *owners, struct g2h_graph *graph, uint32_t node)
{
    TRY(owners_grow(owners, graph));
    return owners_add_group(owners, graph, node);
}

/* Gives the last nodes an owner. (GC roots) becomes the owner of the synthetic nodes that have none
 * yet, except "(unreachable)", which belongs to the garbage. */
struct g2h_error *owners_finish(struct owners *owners, const struct g2h_graph *graph)
{
    TRY(owners_grow(owners, graph));
    for (size_t i = 0; i < owners->synthetics; i++)
        if (owners->of_synthetic[i] == OWNER_NONE)
            owners->of_synthetic[i] = graph->roots.nodes.data[i].kind == G2H_NODE_UNREACHABLE
                                          ? OWNER_NONE | OWNER_FIXED
                                          : OWNER_GC_ROOTS;
    assert(owners->synthetics == graph->roots.nodes.count);
    return NULL;
}
