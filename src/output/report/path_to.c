/*
 * path_to: the way from the roots to one object or to the objects of a class, what holds it alone,
 * and who refers to it; see sections.h.
 */
#include <stdlib.h>
#include <string.h>

#include "base/scope.h"
#include "findings/class_rows.h"
#include "findings/lookup.h"
#include "findings/referrers.h"
#include "findings/expression.h"
#include "output/report/sections.h"
#include "output/report/table.h"

enum { MOST_LINES = 24 /* most lines of a table */ };

struct path {
    const struct report *report;
    struct g2h_edges *edges;
    node_vector way;
};

static struct page_field name_of(const struct report *report, const char *key,
                                 const struct g2h_node *node)
{
    size_t size;
    const char *name = findings_class_name(report->findings->view, node, &size);
    return page_text(key, name, size);
}

static bool is_object(const struct g2h_node *node)
{
    return node->kind == G2H_NODE_OBJECT || node->kind == G2H_NODE_TEXT;
}

/* Adds a row for a node. If has_edge is set, edge is its first column, and the node's class the
 * second; otherwise the class is the first. */
static void put_row(const struct report *report, struct table *table, uint32_t number,
                    struct page_field edge, bool has_edge)
{
    struct g2h_node node;
    g2h_view_brief(report->findings->view, number, &node);
    const struct page_field none = page_words(NULL, ""),
                            what = page_clipped(name_of(report, "class", &node), 48),
                            bytes = is_object(&node) ? page_bytes("bytes", node.size) : none,
                            retained = page_bytes(
                                "retained",
                                g2h_dominators_retained_size(report->findings->dominators, number)),
                            address = node.object != UINT32_MAX
                                          ? page_address("address", node.address)
                                          : none;
    if (has_edge)
        TABLE_ROW(table, edge, what, address, bytes, retained);
    else
        TABLE_ROW(table, page_clipped(what, 0), address, bytes, retained);
}

/* ---- the way ---- */

static struct g2h_error *put_held_by(struct path *path, uint32_t node)
{
    const struct report *report = path->report;
    _cleanup_(text_deinit) struct text way = {0};
    const char *sharers;
    size_t size;
    TRY(expression_append(report->findings->view, path->edges, path->way.data, path->way.count,
                          &way));
    TRY_MEMORY(!way.failed);
    if (way.size > 0)
        PAGE_PUT(report->page, "  held by     %\n", page_strong(page_made("held_by", &way)));
    if (g2h_view_sharers(report->findings->view, node, &sharers, &size))
        PAGE_PUT(report->page, "  shared by   %\n", page_text("shared_by", sharers, size));
    return report_put_finalized(report, node, "  ");
}

/* Returns whether tables show a node. The groups of roots tell nothing, nor do a map's entries; but
 * a goroutine and its frame do. */
static bool is_said(const struct report *report, uint32_t number)
{
    struct g2h_node node;
    g2h_view_brief(report->findings->view, number, &node);
    return node.kind != G2H_NODE_ROOT && node.kind != G2H_NODE_GC_ROOTS &&
           node.kind != G2H_NODE_GLOBALS && node.kind != G2H_NODE_GOROUTINES &&
           node.kind != G2H_NODE_GOROUTINES_IN_PLACE &&
           !expression_hides(report->findings->view, number);
}

static struct g2h_error *put_steps(struct path *path)
{
    static const struct table_column columns[] = {
        {"STEPS", false}, {"to", false}, {"at", false}, {"bytes", true}, {"retained", true}};
    const struct report *report = path->report;
    const node_vector *way = &path->way;
    _cleanup_(table_deinit) struct table table;
    table_init(&table, report->page, "steps", columns, 5, 2 * MOST_LINES);
    for (size_t i = 1; i < way->count; i++) {
        _cleanup_(text_deinit) struct text edge = {0};
        if (!is_said(report, way->data[i]))
            continue;
        struct g2h_node node;
        g2h_view_brief(report->findings->view, way->data[i - 1], &node);
        if (is_object(&node) || node.kind == G2H_NODE_PACKAGE || node.kind == G2H_NODE_FRAME)
            expression_append_step(report->findings->view, path->edges, way->data[i - 1],
                                   way->data[i], &edge);
        TRY_MEMORY(!edge.failed);
        put_row(report, &table, way->data[i], page_made("step", &edge), true);
    }
    return table_end(&table);
}

static struct g2h_error *put_dominators(const struct path *path, uint32_t node)
{
    static const struct table_column columns[] = {
        {"HELD ALONE BY", false}, {"at", false}, {"bytes", true}, {"retained", true}};
    const struct report *report = path->report;
    _cleanup_(table_deinit) struct table table;
    table_init(&table, report->page, "dominators", columns, 4, MOST_LINES);
    for (uint32_t i = node; i != 0;) {
        i = g2h_dominators_of(report->findings->dominators, i);
        if (is_said(report, i))
            put_row(report, &table, i, page_words(NULL, ""), false);
    }
    return table_end(&table);
}

/* ---- who refers to an object ---- */

static struct g2h_error *put_referrers(const struct path *path, uint32_t node)
{
    static const struct table_column columns[] = {
        {"REFERRED TO BY", false}, {"times", true}, {"one of them at", false}};
    const struct report *report = path->report;
    _cleanup_(table_deinit) struct table table;
    _cleanup_(referrers_deinit) struct referrers referrers = {.list = {0}};
    table_init(&table, report->page, "referrers", columns, 3, MOST_LINES);
    TRY(referrers_find(report->findings, path->edges, node, &referrers));
    for (size_t i = 0; i < referrers.list.count; i++) {
        const struct referrer *referrer = &referrers.list.data[i];
        struct g2h_node source;
        size_t size;
        const char *name = string_pool_text(&referrers.names, referrer->name, &size);
        g2h_view_brief(report->findings->view, referrer->node, &source);
        TABLE_ROW(&table, page_text("field", name, size), page_count("times", referrer->count),
                  source.object != UINT32_MAX ? page_address("address", source.address)
                                              : page_words(NULL, ""));
    }
    return table_end(&table);
}

/* ---- an object ---- */

static struct g2h_error *put_object(struct path *path, uint32_t number, uint64_t offset)
{
    const struct report *report = path->report;
    struct page *page = report->page;
    struct g2h_node node;
    g2h_view_brief(report->findings->view, number, &node);
    const uint64_t retained = g2h_dominators_retained_size(report->findings->dominators, number);
    const bool is_garbage = findings_is_dead(report->findings->view, number);
    page_open(page, "object");
    page_head(page, "OBJECT");
    PAGE_PUT(page, "   % at %, % retains %", page_strong(name_of(report, "class", &node)),
             page_address("address", node.address), page_bytes("bytes", node.size),
             page_bytes("retained", retained));
    if (retained >= report->findings->reachable / 1000)
        PAGE_PUT(page, " (%)", page_tenths(page_percent(retained, report->findings->reachable)));
    page_say(page, "\n");
    if (offset > 0)
        PAGE_PUT(page, "  the address is % bytes into it\n", page_count("offset", offset));
    if (node.members > 0)
        PAGE_PUT(page, "  it is folded with others: % objects\n",
                 page_count("members", node.members));
    PAGE_DATA(page, page_flag("is_garbage", is_garbage));
    if (is_garbage)
        page_say(page, "  it is garbage: nothing that lives leads to it\n");
    TRY(path_shortest(report->findings->paths, number, &path->way));
    TRY(put_held_by(path, number));
    TRY(put_steps(path));
    TRY(put_dominators(path, number));
    TRY(put_referrers(path, number));
    page_close(page);
    return NULL;
}

/* ---- a class ---- */

/* Appends who holds the objects of a node of merged: "main › previews.byName ›
 * map[string]*main.Preview". */
static void append_holders(const struct report *report, uint32_t node, struct text *text)
{
    uint32_t chain[MOST_LINES];
    size_t count = 0;
    for (uint32_t i = report_node(report, node)->parent; i != MERGED_NONE;
         i = report_node(report, i)->parent)
        if (count < MOST_LINES && report_node(report, i)->parent != MERGED_NONE &&
            !findings_is_kind(report->findings, i, G2H_NODE_GC_ROOTS) &&
            !findings_is_kind(report->findings, i, G2H_NODE_GLOBALS) &&
            !findings_is_kind(report->findings, i, G2H_NODE_GOROUTINES) &&
            !findings_is_kind(report->findings, i, G2H_NODE_SEVERAL))
            chain[count++] = i;
    while (count-- > 0) {
        report_append_name(report, chain[count], text);
        if (count > 0)
            text_append(text, " › ", strlen(" › "));
    }
    if (text->size == 0)
        text_printf(text, "(several roots)");
}

static struct g2h_error *put_holders(const struct report *report, const ranking *nodes)
{
    static const struct table_column columns[] = {{"WHO HOLDS THEM", false},
                                                  {"objects", true},
                                                  {"retained", true},
                                                  {"one of them at", false}};
    _cleanup_(table_deinit) struct table table;
    table_init(&table, report->page, "holders", columns, 4, REPORT_ROWS);
    for (size_t i = 0; i < nodes->count; i++) {
        const struct merged_node *merged = report_node(report, nodes->data[i].node);
        _cleanup_(text_deinit) struct text chain = {0};
        struct g2h_node example;
        g2h_view_brief(report->findings->view, merged->example, &example);
        append_holders(report, nodes->data[i].node, &chain);
        TRY_MEMORY(!chain.failed);
        TABLE_ROW(&table, page_made("holders", &chain), page_count("objects", merged->count),
                  page_bytes("retained", merged->retained),
                  example.object != UINT32_MAX ? page_address("address", example.address)
                                               : page_words(NULL, ""));
    }
    return table_end(&table);
}

static struct g2h_error *put_class(struct path *path, const struct lookup *lookup)
{
    const struct report *report = path->report;
    struct page *page = report->page;
    const uint32_t name = report_node(report, lookup->class)->name;
    _cleanup_(ranking_deinit) ranking nodes = {0};
    struct class_row row;
    TRY(class_rows_find_one(report->findings, name, &row, &nodes));
    page_open(page, "class");
    page_head(page, "CLASS");
    PAGE_PUT(
        page,
        row.count == 1 ? "   %: % object of % retains % (%)" : "   %: % objects of % retain % (%)",
        page_strong(report_name(report, "class", lookup->class)), page_count("objects", row.count),
        page_bytes("bytes", row.bytes), page_bytes("retained", row.retained),
        page_tenths(page_percent(row.retained, report->findings->total)));
    if (row.garbage > 0)
        PAGE_PUT(page, "; % are garbage", page_count(NULL, row.garbage));
    PAGE_DATA(page, page_count("garbage", row.garbage));
    if (report->findings->base) {
        const struct page_field field = report_name(report, NULL, lookup->class);
        const struct growth_class before =
            growth_class_before(report->findings->base, field.data, field.size);
        PAGE_PUT(page, "; % since then",
                 page_change("objects_grown", (int64_t)(row.count - row.garbage - before.count)));
    }
    page_say(page, "\n");
    TRY(put_holders(report, &nodes));
    page_close(page);
    struct g2h_node example;
    g2h_view_brief(report->findings->view, report_node(report, lookup->class)->example, &example);
    const uint32_t largest = class_rows_find_largest(
        report->findings, example.kind == G2H_NODE_TEXT ? UINT32_MAX : name);
    return largest == UINT32_MAX ? NULL : put_object(path, largest, 0);
}

static void path_deinit(struct path *path)
{
    free(path->way.data);
}

struct g2h_error *report_put_path(const struct report *report, const char *asked)
{
    _cleanup_(path_deinit) struct path path = {.report = report,
                                               .edges = paths_edges(report->findings->paths)};
    struct lookup lookup;
    TRY(lookup_find(report->findings, asked, &lookup));
    return lookup.is_class ? put_class(&path, &lookup)
                           : put_object(&path, lookup.node, lookup.offset);
}
