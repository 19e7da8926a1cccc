/*
 * path_to: the path from the roots to one object or to the objects of a class, its dominators, and
 * who refers to it; see sections.h.
 */
#include <stdlib.h>
#include <string.h>

#include "base/scope.h"
#include "findings/class_rows.h"
#include "findings/lookup.h"
#include "findings/path.h"
#include "output/report/show.h"
#include "output/report/table.h"

CLEANUP_POINTER(destroy_values, struct g2h_values, g2h_values_destroy);

struct path_to_path {
    const struct report *report;
    struct g2h_edges *edges;
    node_vector nodes;
};

/* Adds a row for a node. If has_edge is set, edge is its first column, and the node's class the
 * second; otherwise the class is the first. */
static void path_to_put_row(const struct report *report, struct table *table, uint32_t number,
                            struct g2h_bytes edge, bool has_edge)
{
    struct g2h_node node;
    g2h_view_brief(report->findings->view, number, &node);
    const bool is_object = merged_is_object(node.kind), has_address = node.object != UINT32_MAX;
    TABLE_PUT(table, "%?s{step}%.*s{class}%?a{address}%?s%?b{bytes}%?s%b{retained}", has_edge, edge,
              has_edge ? 48 : 0, report_name_of(report, &node), has_address, node.address,
              !has_address, "", is_object, node.size, !is_object, "",
              g2h_dominators_retained_size(report->findings->dominators, number));
}

/* ---- the path ---- */

static struct g2h_error *path_to_put_held_by(struct path_to_path *path, uint32_t node)
{
    const struct report *report = path->report;
    _cleanup_(text_deinit) struct text expression = {0};
    const char *sharers;
    size_t size;
    TRY(expression_append(report->findings->view, path->edges, path->nodes.data, path->nodes.count,
                          &expression));
    TRY_MEMORY(!expression.failed);
    if (expression.size > 0)
        PUT(report->page, "  held by     %#s{held_by}\n", &expression);
    if (g2h_view_sharers(report->findings->view, node, &sharers, &size))
        PUT(report->page, "  shared by   %s{shared_by}\n", report_bytes(sharers, size));
    return report_put_finalized(report, node, "  ");
}

static struct g2h_error *put_steps(struct path_to_path *path)
{
    const struct report *report = path->report;
    const node_vector *nodes = &path->nodes;
    _cleanup_(table_deinit) struct table table;
    table_init(&table, report->page, "steps", "STEPS,to,@at,>bytes,>retained",
               2 * REPORT_ASKED_ROWS);
    for (size_t i = 1; i < nodes->count; i++) {
        _cleanup_(text_deinit) struct text edge = {0};
        if (!path_shows(report->findings->view, nodes->data[i]) || table_skip_row(&table))
            continue;
        path_append_step(report->findings->paths, nodes->data[i - 1], nodes->data[i], &edge);
        TRY_MEMORY(!edge.failed);
        path_to_put_row(report, &table, nodes->data[i], report_bytes(edge.data, edge.size), true);
    }
    return table_end(&table);
}

static struct g2h_error *put_dominators(const struct path_to_path *path, uint32_t node)
{
    const struct report *report = path->report;
    _cleanup_(table_deinit) struct table table;
    table_init(&table, report->page, "dominators", "HELD ALONE BY,@at,>bytes,>retained",
               REPORT_ASKED_ROWS);
    for (uint32_t i = node; i != 0;) {
        i = g2h_dominators_of(report->findings->dominators, i);
        if (path_shows(report->findings->view, i) && !table_skip_row(&table))
            path_to_put_row(report, &table, i, bytes_none, false);
    }
    return table_end(&table);
}

/* ---- an object ---- */

static struct g2h_error *path_to_put_object(struct path_to_path *path, uint32_t number,
                                            uint64_t offset)
{
    const struct report *report = path->report;
    report_put_object(report, number, offset);
    TRY(path_shortest(report->findings->paths, number, &path->nodes));
    TRY(path_to_put_held_by(path, number));
    TRY(put_steps(path));
    TRY(put_dominators(path, number));
    TRY(report_put_retainers(report, path->edges, number));
    page_close(report->page);
    return NULL;
}

/* ---- a class ---- */

static struct g2h_error *path_to_put_holders(const struct report *report, const ranking *nodes)
{
    _cleanup_(table_deinit) struct table table;
    table_init(&table, report->page, "holders", "WHO HOLDS THEM,>objects,>retained,@one of them at",
               report_rows(report, REPORT_ROWS));
    for (size_t i = 0; i < nodes->count; i++) {
        const struct merged_node *merged = report_node(report, nodes->data[i].node);
        _cleanup_(text_deinit) struct text chain = {0};
        struct g2h_node example;
        g2h_view_brief(report->findings->view, merged->example, &example);
        report_append_holders(report, nodes->data[i].node, &chain);
        if (chain.size == 0)
            text_printf(&chain, "(several roots)");
        TRY_MEMORY(!chain.failed);
        TABLE_PUT(&table, "%s{holders}%n{objects}%b{retained}%?a{address}", &chain, merged->count,
                  merged->retained, example.object != UINT32_MAX, example.address);
    }
    return table_end(&table);
}

/* Returns the node of merged that has most of a class and is not garbage: its holder is to blame.
 * MERGED_NONE: all of them are garbage. */
static uint32_t path_to_find_holder(const struct findings *findings, const ranking *nodes)
{
    for (size_t i = 0; i < nodes->count; i++)
        if (!findings_is_dead(findings->view,
                              findings_node(findings, nodes->data[i].node)->example))
            return nodes->data[i].node;
    return MERGED_NONE;
}

static struct g2h_error *path_to_put_class(struct path_to_path *path, const struct lookup *lookup)
{
    const struct report *report = path->report;
    _cleanup_vector_ ranking nodes = {0};
    TRY(report_put_class(report, lookup->class, &nodes));
    TRY(path_to_put_holders(report, &nodes));
    page_close(report->page);
    const uint32_t line = path_to_find_holder(report->findings, &nodes);
    /* The objects of a class may have a name of their own: the nodes of a sync.Map. */
    struct g2h_node example;
    g2h_view_brief(report->findings->view,
                   report_node(report, line == MERGED_NONE ? lookup->class : line)->example,
                   &example);
    const uint32_t largest = class_rows_find_largest(
        report->findings, example.kind == G2H_NODE_TEXT ? UINT32_MAX : example.name, line);
    return largest == UINT32_MAX ? NULL : path_to_put_object(path, largest, 0);
}

static void path_deinit(struct path_to_path *path)
{
    free(path->nodes.data);
}

/* Returns whether a class has no objects but garbage. */
static bool path_to_is_garbage(const struct report *report, const struct lookup *lookup)
{
    _cleanup_vector_ ranking nodes = {0};
    struct class_row row = {0};
    if (lookup->kind != LOOKUP_CLASS)
        return false;
    struct g2h_error *error = class_rows_find_one(
        report->findings, report_node(report, lookup->class)->name, &row, &nodes);
    g2h_error_destroy(error);
    return !error && row.garbage == row.count;
}

/* ---- a part ---- */

/* Adds a table of what the values of a part lead to. */
static struct g2h_error *path_to_put_targets(const struct report *report,
                                             const struct variable_part *part)
{
    const struct g2h_view *view = report->findings->view;
    const struct g2h_heap *heap = g2h_view_heap(view);
    _cleanup_(table_deinit) struct table table;
    _cleanup_(destroy_values) struct g2h_values *values = NULL;
    struct g2h_value value;
    struct g2h_bytes rest;
    TRY(g2h_values_create(view, &values));
    table_init(&table, report->page, "leads_to", "LEADS TO,class,@at,>bytes,>retained",
               REPORT_ASKED_ROWS);
    g2h_values_begin_at(values, &part->location);
    while (g2h_values_next(values, &value)) {
        uint32_t object;
        if (!variable_part_has(part, &value, &rest) || table_skip_row(&table))
            continue;
        const struct variable_part one = {.is_value = true, .value = value};
        const uint64_t target = variable_part_target(report->findings, &one);
        if (target == 0 || !g2h_heap_find(heap, target, &object))
            continue;
        const uint32_t node = g2h_view_object(view, object);
        if (node != UINT32_MAX)
            path_to_put_row(report, &table, node, rest.size > 0 ? rest : page_key("(the value)"),
                            true);
    }
    return table_end(&table);
}

/* Reports how much a variable retains, if it has a node of its own in the tree. */
static void path_to_put_retained(const struct report *report, const struct variable_part *part)
{
    const struct findings *findings = report->findings;
    for (uint32_t i = 0; i < findings->merged.nodes.count; i++)
        if (findings_is_kind(findings, i, G2H_NODE_VARIABLE) &&
            bytes_same(report_name(report, i), report_bytes(part->name.data, part->name.size))) {
            PUT(report->page, "  retains %b{retained} (%.1p), for as long as the program runs\n",
                report_node(report, i)->retained, report_node(report, i)->retained,
                findings->reachable);
            return;
        }
}

/* Reports a value that is no object: of an object the path to that, of a variable what it leads
 * to. */
static struct g2h_error *path_to_put_part(struct path_to_path *path, const struct lookup *lookup)
{
    const struct report *report = path->report;
    const struct variable_part *part = &lookup->part;
    const bool is_in_object = lookup->node != UINT32_MAX;
    page_open(report->page, "variable");
    TRY(show_put_part_head(report, part));
    if (!is_in_object) {
        path_to_put_retained(report, part);
        TRY(path_to_put_targets(report, part));
    }
    page_close(report->page);
    return is_in_object ? path_to_put_object(path, lookup->node, part->offset) : NULL;
}

static struct g2h_error *path_to_put_found(struct path_to_path *path, const struct lookup *lookup)
{
    switch (lookup->kind) {
    case LOOKUP_CLASS:
        return path_to_put_class(path, lookup);
    case LOOKUP_PART:
        return path_to_put_part(path, lookup);
    case LOOKUP_GROUP:
        return report_put_group(path->report, lookup->group);
    default:
        return path_to_put_object(path, lookup->node, lookup->offset);
    }
}

struct g2h_error *report_put_path(const struct report *report, const char *asked)
{
    _cleanup_(path_deinit) struct path_to_path path = {
        .report = report, .edges = paths_edges(report->findings->paths)};
    _cleanup_(lookup_deinit) struct lookup lookup = {.node = UINT32_MAX};
    if (show_is_of_goroutine(asked))
        return report_put_goroutine(report, asked);
    _cleanup_(text_deinit) struct text example = {0};
    TRY(report_put_goroutines_of(report, asked, &example));
    if (example.size > 0)
        TRY(report_put_goroutine(report, example.data));
    struct g2h_error *error = lookup_find(report->findings, asked, &lookup);
    if (example.size > 0 &&
        (error || lookup.kind == LOOKUP_GROUP || path_to_is_garbage(report, &lookup))) {
        g2h_error_destroy(error);
        return NULL;
    }
    TRY(error);
    return path_to_put_found(&path, &lookup);
}
