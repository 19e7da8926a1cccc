/*
 * path_to: the way from the roots to one object or to the objects of a class, what holds it alone,
 * and who refers to it; see sections.h.
 */
#include <stdlib.h>
#include <string.h>

#include "base/scope.h"
#include "output/report/lookup.h"
#include "output/report/sections.h"
#include "output/report/steps.h"
#include "output/report/table.h"

enum { MOST_LINES = 24 /* most lines of a table */, EDGES = 256 };

struct path {
    const struct report *report;
    struct g2h_edges *edges;
    struct shortest shortest;
    node_vector way;
};

static struct page_field name_of(const struct report *report, const char *key,
                                 const struct g2h_node *node)
{
    return node->kind == G2H_NODE_ROOT ? page_words(key, "(roots)")
                                       : report_class(report, key, node->name);
}

static bool is_object(const struct g2h_node *node)
{
    return node->kind == G2H_NODE_OBJECT || node->kind == G2H_NODE_TEXT;
}

/* Returns whether a node is garbage; of a folded node, whether its first member is. */
static bool is_dead(const struct g2h_view *view, uint32_t number)
{
    struct g2h_node node;
    g2h_view_brief(view, number, &node);
    if (node.members > 0)
        g2h_view_member(view, number, 0, &node);
    return node.object != UINT32_MAX && g2h_view_is_garbage(view, node.object);
}

/* Adds a row for a node. If has_edge is set, edge is its first column, and the node's class the
 * second; otherwise the class is the first. */
static void put_row(const struct report *report, struct table *table, uint32_t number,
                    struct page_field edge, bool has_edge)
{
    struct g2h_node node;
    g2h_view_brief(report->view, number, &node);
    const struct page_field none = page_words(NULL, ""),
                            what = page_clipped(name_of(report, "class", &node), 48),
                            bytes = is_object(&node) ? page_bytes("bytes", node.size) : none,
                            retained = page_bytes("retained", g2h_dominators_retained_size(
                                                                  report->dominators, number)),
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
    TRY(steps_append(report->view, path->edges, path->way.data, path->way.count, &way));
    TRY_MEMORY(!way.failed);
    if (way.size > 0)
        PAGE_PUT(report->page, "  held by     %\n", page_strong(page_made("held_by", &way)));
    if (g2h_view_sharers(report->view, node, &sharers, &size))
        PAGE_PUT(report->page, "  shared by   %\n", page_text("shared_by", sharers, size));
    return report_put_finalized(report, node, "  ");
}

/* Returns whether tables show a node. The groups of roots tell nothing, nor do a map's entries; but
 * a goroutine and its frame do. */
static bool is_said(const struct report *report, uint32_t number)
{
    struct g2h_node node;
    g2h_view_brief(report->view, number, &node);
    return node.kind != G2H_NODE_ROOT && node.kind != G2H_NODE_GC_ROOTS &&
           node.kind != G2H_NODE_GLOBALS && node.kind != G2H_NODE_GOROUTINES &&
           node.kind != G2H_NODE_GOROUTINES_IN_PLACE && !steps_is_entries(report->view, number);
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
        g2h_view_brief(report->view, way->data[i - 1], &node);
        if (is_object(&node) || node.kind == G2H_NODE_PACKAGE || node.kind == G2H_NODE_FRAME)
            steps_append_one(report->view, path->edges, way->data[i - 1], way->data[i], &edge);
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
        i = g2h_dominators_of(report->dominators, i);
        if (is_said(report, i))
            put_row(report, &table, i, page_words(NULL, ""), false);
    }
    return table_end(&table);
}

/* ---- who refers to an object ---- */

struct referrer {
    uint64_t count;
    uint32_t name, node; /* node: the first such referrer in the view */
};

struct referrers {
    struct string_pool names;
    VECTOR(struct referrer) list; /* by number in names; sorted later, the most frequent first */
};

/* Appends a referrer's class and field: "main.Preview.Auction", "[]*main.Bid[]",
 * "map[string]*main.Preview[]". */
static bool append_referrer(const struct report *report, const struct g2h_edge *edge,
                            struct text *text)
{
    static const char entries[] = " entries";
    struct g2h_node source;
    size_t size;
    g2h_view_brief(report->view, edge->source, &source);
    const struct page_field name = name_of(report, NULL, &source);
    const bool is_entries = steps_is_entries(report->view, edge->source);
    text_append(text, name.data, name.size - (is_entries ? sizeof(entries) - 1 : 0));
    const char *label = g2h_view_name(report->view, edge->name, &size);
    if (is_entries ||
        (edge->flags & (G2H_EDGE_BY_INDEX | G2H_EDGE_OF_KEY | G2H_EDGE_OF_ELEM)) != 0) {
        text_append(text, "[]", 2);
    } else {
        bool in_brackets = false;
        if (size > 0 && label[0] != '[')
            text_append(text, ".", 1);
        for (size_t i = 0; i < size; i++) {
            if (label[i] == '[' || label[i] == ']')
                in_brackets = label[i] == '[';
            if (!in_brackets || label[i] == '[')
                text_append(text, &label[i], 1);
        }
    }
    return !text->failed;
}

static struct g2h_error *add_referrer(const struct report *report, const struct g2h_edge *edge,
                                      struct referrers *referrers)
{
    _cleanup_(text_deinit) struct text text = {0};
    uint32_t number;
    TRY_MEMORY(append_referrer(report, edge, &text) &&
               string_pool_intern(&referrers->names, text.data, text.size, &number));
    if (number == referrers->list.count)
        TRY_MEMORY(vector_push(&referrers->list, ((struct referrer){0, number, edge->source})));
    referrers->list.data[number].count++;
    return NULL;
}

static int compare_referrers(const void *a, const void *b)
{
    const struct referrer *one = a, *other = b;
    if (one->count != other->count)
        return one->count > other->count ? -1 : 1;
    return one->name < other->name ? -1 : one->name > other->name;
}

static void referrers_deinit(struct referrers *referrers)
{
    string_pool_deinit(&referrers->names);
    free(referrers->list.data);
}

static struct g2h_error *find_referrers(const struct path *path, uint32_t node,
                                        struct referrers *ret)
{
    struct g2h_edge edges[EDGES];
    size_t count;
    g2h_edges_begin(path->edges, 0, g2h_view_node_count(path->report->view));
    while ((count = g2h_edges_read(path->edges, edges, EDGES)) > 0)
        for (size_t i = 0; i < count; i++)
            if (edges[i].target == node && (edges[i].flags & G2H_EDGE_WEAK) == 0)
                TRY(add_referrer(path->report, &edges[i], ret));
    vector_sort(&ret->list, compare_referrers);
    return NULL;
}

static struct g2h_error *put_referrers(const struct path *path, uint32_t node)
{
    static const struct table_column columns[] = {
        {"REFERRED TO BY", false}, {"times", true}, {"one of them at", false}};
    const struct report *report = path->report;
    _cleanup_(table_deinit) struct table table;
    _cleanup_(referrers_deinit) struct referrers referrers = {.list = {0}};
    table_init(&table, report->page, "referrers", columns, 3, MOST_LINES);
    TRY(find_referrers(path, node, &referrers));
    for (size_t i = 0; i < referrers.list.count; i++) {
        const struct referrer *referrer = &referrers.list.data[i];
        struct g2h_node source;
        size_t size;
        const char *name = string_pool_text(&referrers.names, referrer->name, &size);
        g2h_view_brief(report->view, referrer->node, &source);
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
    g2h_view_brief(report->view, number, &node);
    const uint64_t retained = g2h_dominators_retained_size(report->dominators, number);
    const bool is_garbage = is_dead(report->view, number);
    page_open(page, "object");
    page_head(page, "OBJECT");
    PAGE_PUT(page, "   % at %, % retains %", page_strong(name_of(report, "class", &node)),
             page_address("address", node.address), page_bytes("bytes", node.size),
             page_bytes("retained", retained));
    if (retained >= report->reachable / 1000)
        PAGE_PUT(page, " (%)", page_tenths(page_percent(retained, report->reachable)));
    page_say(page, "\n");
    if (offset > 0)
        PAGE_PUT(page, "  the address is % bytes into it\n", page_count("offset", offset));
    if (node.members > 0)
        PAGE_PUT(page, "  it is folded with others: % objects\n",
                 page_count("members", node.members));
    PAGE_DATA(page, page_flag("is_garbage", is_garbage));
    if (is_garbage)
        page_say(page, "  it is garbage: nothing that lives leads to it\n");
    TRY(shortest_way(&path->shortest, number, &path->way));
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
            !report_is_kind(report, i, G2H_NODE_GC_ROOTS) &&
            !report_is_kind(report, i, G2H_NODE_GLOBALS) &&
            !report_is_kind(report, i, G2H_NODE_GOROUTINES) &&
            !report_is_kind(report, i, G2H_NODE_SEVERAL))
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
        g2h_view_brief(report->view, merged->example, &example);
        append_holders(report, nodes->data[i].node, &chain);
        TRY_MEMORY(!chain.failed);
        TABLE_ROW(&table, page_made("holders", &chain), page_count("objects", merged->count),
                  page_bytes("retained", merged->retained),
                  example.object != UINT32_MAX ? page_address("address", example.address)
                                               : page_words(NULL, ""));
    }
    return table_end(&table);
}

/* Returns the node of a class that retains most, a live one if there is any, or UINT32_MAX if there
 * is none. name is UINT32_MAX for texts. */
static uint32_t find_largest(const struct report *report, uint32_t name)
{
    struct g2h_node nodes[EDGES];
    uint32_t best = UINT32_MAX;
    uint64_t most = 0;
    size_t count;
    for (uint32_t first = 0; (count = g2h_view_nodes(report->view, first, EDGES, nodes)) > 0;
         first += (uint32_t)count)
        for (size_t i = 0; i < count; i++) {
            const uint32_t node = first + (uint32_t)i;
            if (!is_object(&nodes[i]) ||
                (nodes[i].kind == G2H_NODE_TEXT ? UINT32_MAX : nodes[i].name) != name)
                continue;
            const uint64_t retained = g2h_dominators_retained_size(report->dominators, node),
                           weight = is_dead(report->view, node) ? 0 : retained + 1;
            if (best == UINT32_MAX || weight > most) {
                best = node;
                most = weight;
            }
        }
    return best;
}

static struct g2h_error *put_class(struct path *path, const struct lookup *lookup)
{
    const struct report *report = path->report;
    struct page *page = report->page;
    const uint32_t name = report_node(report, lookup->class)->name;
    _cleanup_(report_free_ranking) ranking nodes = {0};
    uint64_t count = 0, bytes = 0, retained = 0, garbage = 0;
    for (uint32_t i = 0; i < report->merged.nodes.count; i++) {
        const struct merged_node *node = report_node(report, i);
        if (node->kind != MERGED_CLASS || node->name != name)
            continue;
        TRY_MEMORY(vector_push(&nodes, ((struct ranked){node->retained, i})));
        count += node->count;
        bytes += node->bytes;
        retained += node->outermost == i ? node->retained : 0;
        garbage += node->is_garbage ? node->count : 0;
    }
    vector_sort(&nodes, report_compare_ranks);
    page_open(page, "class");
    page_head(page, "CLASS");
    PAGE_PUT(page,
             count == 1 ? "   %: % object of % retains % (%)" : "   %: % objects of % retain % (%)",
             page_strong(report_name(report, "class", lookup->class)), page_count("objects", count),
             page_bytes("bytes", bytes), page_bytes("retained", retained),
             page_tenths(page_percent(retained, report->total)));
    if (garbage > 0)
        PAGE_PUT(page, "; % are garbage", page_count(NULL, garbage));
    PAGE_DATA(page, page_count("garbage", garbage));
    if (report->base) {
        const struct page_field field = report_name(report, NULL, lookup->class);
        const struct growth_class before =
            growth_class_before(report->base, field.data, field.size);
        PAGE_PUT(page, "; % since then",
                 page_change("objects_grown", (int64_t)(count - garbage - before.count)));
    }
    page_say(page, "\n");
    TRY(put_holders(report, &nodes));
    page_close(page);
    struct g2h_node example;
    g2h_view_brief(report->view, report_node(report, lookup->class)->example, &example);
    const uint32_t largest =
        find_largest(report, example.kind == G2H_NODE_TEXT ? UINT32_MAX : name);
    return largest == UINT32_MAX ? NULL : put_object(path, largest, 0);
}

static void path_deinit(struct path *path)
{
    g2h_edges_destroy(path->edges);
    shortest_deinit(&path->shortest);
    free(path->way.data);
}

struct g2h_error *report_put_path(const struct report *report, const char *asked)
{
    _cleanup_(path_deinit) struct path path = {.report = report};
    struct lookup lookup;
    TRY(lookup_find(report, asked, &lookup));
    TRY(g2h_edges_create(report->view, &path.edges));
    TRY(shortest_find(report->view, &path.shortest));
    return lookup.is_class ? put_class(&path, &lookup)
                           : put_object(&path, lookup.node, lookup.offset);
}
