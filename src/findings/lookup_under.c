/*
 * lookup_under: the nodes that --under asks for, of a view of the whole graph; see lookup.h.
 *
 * What --show and --path-to find is one object, or all objects of a class, or what a variable leads
 * to. A goroutine is a node of the view, as is a variable with several words; other variables, and
 * values inside of objects, stand for the objects that they lead to.
 */
#include <stdlib.h>
#include <string.h>

#include <go2heapsnapshot/heap.h>

#include "base/contract.h"
#include "base/bytes.h"
#include "findings/findings.h"
#include "findings/goroutines.h"
#include "findings/lookup.h"
#include "findings/patterns.h"

CLEANUP_POINTER(under_destroy_values, struct g2h_values, g2h_values_destroy);
CLEANUP_POINTER(under_destroy_edges, struct g2h_edges, g2h_edges_destroy);

/* ---- goroutines ---- */

/* Reads "goroutine 17", also with the state that reports print after it. Returns false for other
 * queries. */
static bool read_goroutine_number(const char *asked, uint64_t *ret)
{
    static const char word[] = "goroutine ";
    const size_t size = sizeof(word) - 1;
    char *end;
    if (strncmp(asked, word, size) != 0 || asked[size] < '0' || asked[size] > '9')
        return false;
    *ret = strtoull(asked + size, &end, 10);
    end += strspn(end, " ");
    return *end == '\0' || *end == '[';
}

/* Adds the goroutine with this number. Error: there is none. */
static struct g2h_error *add_goroutine(const struct g2h_view *view, const char *asked,
                                       uint64_t number, node_vector *ret)
{
    for (size_t i = 0; i < g2h_view_goroutine_count(view); i++) {
        struct g2h_view_goroutine goroutine;
        struct g2h_node node;
        g2h_view_goroutine(view, i, &goroutine);
        g2h_view_brief(view, goroutine.node, &node);
        if (node.kind != G2H_NODE_GOROUTINE || node.key != number)
            continue;
        TRY_MEMORY(vector_push(ret, goroutine.node));
        return NULL;
    }
    return error_create(G2H_ERROR_NOT_FOUND, "'%s': there is no such goroutine", asked);
}

/* Returns whether a function is called as in a query: as the view calls it, or the linker. */
static bool is_called(const struct g2h_view *view, struct g2h_bytes function, const char *asked)
{
    _cleanup_(g2h_text_deinit) struct g2h_text name = {0};
    const struct g2h_view_call call = {.function = function};
    g2h_view_call_text(view, &call, &name);
    return bytes_are(function, asked) ||
           (!name.failed && name.size == strlen(asked) && memcmp(name.data, asked, name.size) == 0);
}

/* Adds the goroutines that run a function, or wait in it. */
static struct g2h_error *add_goroutines_of(const struct findings *findings, const char *asked,
                                           node_vector *ret)
{
    for (size_t i = 0; i < g2h_view_goroutine_count(findings->view); i++) {
        struct stack_walk walk;
        struct g2h_view_call call;
        stack_walk_begin(&walk, findings->view, as_u32(i), false);
        if (is_called(findings->view, walk.goroutine.function, asked) ||
            (walk.goroutine.at != UINT32_MAX && stack_walk_next(&walk, &call) &&
             is_called(findings->view, call.function, asked)))
            TRY_MEMORY(vector_push(ret, walk.goroutine.node));
    }
    return NULL;
}

/* ---- what lookup_find() finds ---- */

/* Adds the nodes of the view that are merged in marked nodes. */
static struct g2h_error *add_merged(const struct findings *findings, const bool *is_marked,
                                    node_vector *ret)
{
    const struct merged *merged = &findings->merged;
    for (uint32_t node = 0; node < g2h_view_node_count(findings->view); node++)
        if (is_marked[merged->of[g2h_dominators_number(findings->dominators, node)]])
            TRY_MEMORY(vector_push(ret, node));
    return NULL;
}

/* Adds all objects of a class that are not garbage, given by one of its nodes of merged. */
static struct g2h_error *add_class(const struct findings *findings, uint32_t class,
                                   node_vector *ret)
{
    const size_t count = findings->merged.nodes.count;
    _cleanup_free_ bool *is_marked = calloc(count, sizeof(*is_marked));
    TRY_MEMORY(is_marked);
    for (uint32_t i = 0; i < count; i++) {
        const struct merged_node *node = findings_node(findings, i);
        is_marked[i] = node->kind == MERGED_CLASS && !node->is_garbage &&
                       node->name == findings_node(findings, class)->name;
    }
    return add_merged(findings, is_marked, ret);
}

/* Adds a node of merged that is not a class: the view has no node for a variable of one word, but
 * for what it leads to. */
static struct g2h_error *add_group(const struct findings *findings, uint32_t group,
                                   node_vector *ret)
{
    const size_t count = findings->merged.nodes.count;
    const bool is_variable = findings_node(findings, group)->kind == MERGED_VARIABLE;
    _cleanup_free_ bool *is_marked = calloc(count, sizeof(*is_marked));
    TRY_MEMORY(is_marked);
    for (uint32_t i = 0; i < count; i++)
        is_marked[i] = is_variable ? findings_node(findings, i)->parent == group : i == group;
    return add_merged(findings, is_marked, ret);
}

/* Finds the node of a variable that has one of its own, by its name or as paths call it, as "the
 * global set by main.main (0x575ce0)" of a stripped program. MERGED_NONE: there is none. */
static struct g2h_error *find_variable_node(const struct findings *findings, const char *name,
                                            size_t size, uint32_t *ret)
{
    _cleanup_(text_deinit) struct text called = {0};
    *ret = MERGED_NONE;
    for (uint32_t i = 0; i < findings->merged.nodes.count; i++) {
        size_t node_size;
        const char *node_name = merged_name(&findings->merged, i, &node_size);
        if (!findings_is_kind(findings, i, G2H_NODE_VARIABLE))
            continue;
        called.size = 0;
        expression_append_variable(findings->view, findings_node(findings, i)->example, &called);
        TRY_MEMORY(!called.failed);
        if ((node_size == size && memcmp(node_name, name, size) == 0) ||
            (called.size == size && memcmp(called.data, name, size) == 0)) {
            *ret = i;
            return NULL;
        }
    }
    return NULL;
}

/* Returns whether the group (sync.Pool) holds a node: the memory of a pool. */
static bool is_pooled(const struct findings *findings, uint32_t node)
{
    const uint32_t merged = findings->merged.of[g2h_dominators_number(findings->dominators, node)];
    uint32_t holder = findings_node(findings, merged)->parent;
    if (holder != MERGED_NONE && findings_node(findings, holder)->kind == MERGED_VARIABLE)
        holder = findings_node(findings, holder)->parent; /* main.buffers.local is in between */
    return holder != MERGED_NONE && findings_is_kind(findings, holder, G2H_NODE_POOLS);
}

/* Adds the targets of the variable's edges that are pools. */
struct g2h_error *lookup_pooled(const struct findings *findings, uint32_t variable,
                                node_vector *ret)
{
    _cleanup_(under_destroy_edges) struct g2h_edges *edges = NULL;
    const uint32_t node = findings_node(findings, variable)->example;
    struct g2h_edge edge;
    TRY(g2h_edges_create(findings->view, &edges));
    g2h_edges_begin_targets(edges, node, node + 1);
    while (g2h_edges_next(edges, &edge))
        if (is_pooled(findings, edge.target))
            TRY_MEMORY(vector_push(ret, edge.target));
    return NULL;
}

/* Adds the node of a variable, given by its node of merged, and what pools in it cache. */
static struct g2h_error *add_variable(const struct findings *findings, uint32_t variable,
                                      node_vector *ret)
{
    TRY(add_group(findings, variable, ret));
    return lookup_pooled(findings, variable, ret);
}

/* Adds the objects that the values of a part lead to. Pointers to what is no object, or to none of
 * the view, are passed over. */
static struct g2h_error *add_targets(const struct findings *findings,
                                     const struct variable_part *part, node_vector *ret)
{
    _cleanup_(under_destroy_values) struct g2h_values *values = NULL;
    struct g2h_value value;
    struct g2h_bytes rest;
    TRY(g2h_values_create(findings->view, &values));
    g2h_values_begin_at(values, &part->location);
    while (g2h_values_next(values, &value)) {
        const struct variable_part one = {.is_value = true, .value = value};
        uint32_t object;
        if (!variable_part_has(part, &value, &rest))
            continue;
        const uint64_t target = variable_part_target(findings, &one);
        if (target == 0 || !g2h_heap_find(g2h_view_heap(findings->view), target, &object))
            continue;
        const uint32_t node = g2h_view_object(findings->view, object);
        if (node != UINT32_MAX)
            TRY_MEMORY(vector_push(ret, node));
    }
    return NULL;
}

/* Adds the goroutines, and the places of goroutines, that reports call by the given name; none is
 * no error. */
static struct g2h_error *add_places(const struct findings *findings, const char *asked,
                                    node_vector *ret)
{
    for (uint32_t i = 0; i < findings->merged.nodes.count; i++) {
        struct g2h_bytes name = bytes_none;
        if (!findings_is_kind(findings, i, G2H_NODE_GOROUTINES_IN_PLACE) &&
            !findings_is_kind(findings, i, G2H_NODE_GOROUTINE))
            continue;
        name.data = (const uint8_t *)merged_name(&findings->merged, i, &name.size);
        if (goroutines_are_called(name, asked))
            TRY(add_group(findings, i, ret));
    }
    return NULL;
}

/* Adds what a part of a variable or an object leads to. A variable as a whole that has a node of
 * its own stands for all of its words. */
static struct g2h_error *add_part(const struct findings *findings, const struct lookup *lookup,
                                  node_vector *ret)
{
    uint32_t variable = MERGED_NONE;
    if (lookup->part.location.object == UINT32_MAX)
        TRY(find_variable_node(findings, lookup->part.name.data, lookup->part.name.size,
                               &variable));
    return variable != MERGED_NONE ? add_variable(findings, variable, ret)
                                   : add_targets(findings, &lookup->part, ret);
}

/* Adds the nodes that one name of --under means: goroutines that run a function of this name,
 * goroutines that reports call so, a variable, or what lookup_find() finds; the first of these that
 * there are. */
static struct g2h_error *add_found(const struct findings *findings, const char *asked,
                                   node_vector *ret)
{
    _cleanup_(lookup_deinit) struct lookup lookup = {.node = UINT32_MAX};
    uint32_t variable;
    TRY(add_goroutines_of(findings, asked, ret));
    if (ret->count == 0)
        TRY(add_places(findings, asked, ret));
    if (ret->count > 0)
        return NULL;
    TRY(find_variable_node(findings, asked, strlen(asked), &variable));
    if (variable != MERGED_NONE)
        return add_variable(findings, variable, ret);
    TRY(lookup_find(findings, asked, &lookup));
    switch (lookup.kind) {
    case LOOKUP_CLASS:
        return add_class(findings, lookup.class, ret);
    case LOOKUP_PART:
        return add_part(findings, &lookup, ret);
    case LOOKUP_GROUP:
        return findings_is_kind(findings, lookup.group, G2H_NODE_VARIABLE)
                   ? add_variable(findings, lookup.group, ret)
                   : add_group(findings, lookup.group, ret);
    default:
        TRY_MEMORY(vector_push(ret, lookup.node));
        return NULL;
    }
}

/* ---- all of it ---- */

/* Adds the nodes of a shortest path to each node, if these are not too many: those of others are
 * known by their dominators only. */
static struct g2h_error *add_paths(const struct findings *findings, struct under_nodes *ret)
{
    enum { MOST = 1 << 16 };
    const size_t count = ret->under.count;
    if (count > MOST)
        return NULL;
    node_vector *paths = calloc(count, sizeof(*paths));
    TRY_MEMORY(paths);
    struct g2h_error *error = paths_shortest(findings->paths, ret->under.data, count, paths);
    bool good = true;
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < paths[i].count && good && !error; j++)
            good = vector_push(&ret->holders, paths[i].data[j]);
        free(paths[i].data);
    }
    free(paths);
    if (!error)
        TRY_MEMORY(good);
    return error;
}

/* Replaces the numbers of a view's nodes by those that they have in the whole graph. */
static void number_as_whole(const struct g2h_view *view, node_vector *nodes)
{
    for (size_t i = 0; i < nodes->count; i++) {
        struct g2h_node node;
        g2h_view_brief(view, nodes->data[i], &node);
        nodes->data[i] = node.whole;
    }
}

/* Finds the objects asked for, and then those on the paths to them. Error: there are none. */
struct g2h_error *lookup_under(const struct g2h_view *view, unsigned threads, const char *asked,
                               struct under_nodes *ret)
{
    _cleanup_(findings_deinit) struct findings findings = {.view = view, .threads = threads};
    uint64_t number;
    TRY(findings_begin(&findings, false));
    TRY(findings_merge(&findings));
    TRY(read_goroutine_number(asked, &number) ? add_goroutine(view, asked, number, &ret->under)
                                              : add_found(&findings, asked, &ret->under));
    if (ret->under.count == 0)
        return error_create(G2H_ERROR_NOT_FOUND,
                            "'%s' leads to no object that is not garbage, so there is nothing "
                            "under it",
                            asked);
    TRY(add_paths(&findings, ret));
    number_as_whole(view, &ret->under);
    number_as_whole(view, &ret->holders);
    return NULL;
}

void under_nodes_deinit(struct under_nodes *nodes)
{
    free(nodes->under.data);
    free(nodes->holders.data);
}
