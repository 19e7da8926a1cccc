/* asked: the first lines about an object or a class for --path-to or --show, and who refers to an
 * object; see sections.h. */
#include "base/scope.h"
#include "findings/class_rows.h"
#include "findings/path.h"
#include "output/report/sections.h"
#include "output/report/table.h"

struct g2h_bytes report_name_of(const struct report *report, const struct g2h_node *node)
{
    size_t size;
    const char *name = findings_class_name(report->findings->view, node, &size);
    return report_bytes(name, size);
}

void report_put_object(const struct report *report, uint32_t number, uint64_t offset)
{
    struct page *page = report->page;
    struct g2h_node node;
    g2h_view_brief(report->findings->view, number, &node);
    const uint64_t retained = g2h_dominators_retained_size(report->findings->dominators, number);
    const bool is_garbage = findings_is_dead(report->findings->view, number);
    PUT(page, "<object>");
    page_head(page, "OBJECT");
    PUT(page, "   %#s{class} at %a{address}, %b{bytes} retains %b{retained}",
        report_name_of(report, &node), node.address, node.size, retained);
    if (retained >= report->findings->reachable / 1000)
        PUT(page, " (%.1p)", retained, report->findings->reachable);
    PUT(page, "\n");
    if (offset > 0)
        PUT(page, "  the address is %n{offset} bytes into it\n", offset);
    if (node.members > 0)
        PUT(page, "  it is folded with others: %n{members} objects\n", node.members);
    PUT_IF(is_garbage, page, "|%f{is_garbage}|  it is garbage: nothing that lives leads to it\n",
           is_garbage);
}

struct g2h_error *report_put_class(const struct report *report, uint32_t class, ranking *ret_nodes)
{
    struct page *page = report->page;
    const struct g2h_bytes name = report_name(report, class);
    struct class_row row;
    TRY(class_rows_find_one(report->findings, report_node(report, class)->name, &row, ret_nodes));
    PUT(page, "<class>");
    page_head(page, "CLASS");
    PUT(page, "   %#s{class}: %n{objects} %s of %b{bytes} %s %b{retained} (%.1p)", name, row.count,
        row.count == 1 ? "object" : "objects", row.bytes, row.count == 1 ? "retains" : "retain",
        row.retained, row.retained, report->findings->reachable);
    if (row.garbage > 0)
        PUT(page, "; %n are garbage", row.garbage);
    PUT(page, "|%n{garbage}", row.garbage);
    if (report->findings->base) {
        const struct growth_class before =
            growth_class_before(report->findings->base, (const char *)name.data, (size_t)name.size);
        PUT(page, "; %c{objects_grown} since then", row.count - row.garbage - before.count);
    }
    PUT(page, "\n");
    return NULL;
}

void report_append_holders(const struct report *report, uint32_t node, struct text *text)
{
    uint32_t chain[REPORT_ASKED_ROWS];
    size_t count = 0;
    for (uint32_t i = report_node(report, node)->parent; i != MERGED_NONE;
         i = report_node(report, i)->parent)
        if (count < REPORT_ASKED_ROWS && report_node(report, i)->parent != MERGED_NONE &&
            !findings_is_kind(report->findings, i, G2H_NODE_GC_ROOTS) &&
            !findings_is_kind(report->findings, i, G2H_NODE_GLOBALS) &&
            !findings_is_kind(report->findings, i, G2H_NODE_GOROUTINES) &&
            !findings_is_kind(report->findings, i, G2H_NODE_SEVERAL))
            chain[count++] = i;
    while (count-- > 0) {
        const struct g2h_bytes name = report_name(report, chain[count]);
        text_append(text, (const char *)name.data, (size_t)name.size);
        text_append_string(text, count > 0 ? " › " : "");
    }
}

struct g2h_error *report_put_group(const struct report *report, uint32_t node)
{
    struct page *page = report->page;
    _cleanup_vector_ ranking children = {0};
    _cleanup_(text_deinit) struct text holders = {0};
    _cleanup_(table_deinit) struct table table;
    const uint64_t retained = report_node(report, node)->retained;
    PUT(page, "<group>");
    page_head(page, "GROUP");
    PUT(page, "   %#s{name} retains %b{retained} (%.1p)\n", report_name(report, node), retained,
        retained, report->findings->reachable);
    report_append_holders(report, node, &holders);
    TRY_MEMORY(!holders.failed);
    if (holders.size > 0)
        PUT(page, "  below       %s{holders}\n", &holders);
    TRY(ranking_of_children(report->findings, node, &children));
    table_init(&table, page, "holds", "HOLDS,>objects,>retained,@one of them at",
               report_rows(report, REPORT_ASKED_ROWS));
    for (size_t i = 0; i < children.count; i++) {
        if (table_skip_row(&table))
            continue;
        const struct merged_node *child = report_node(report, children.data[i].node);
        struct g2h_node example;
        g2h_view_brief(report->findings->view, child->example, &example);
        TABLE_PUT(&table, "%s{name}%n{objects}%b{retained}%?a{address}",
                  report_name(report, children.data[i].node), child->count, child->retained,
                  example.object != UINT32_MAX, example.address);
    }
    TRY(table_end(&table));
    page_close(page);
    return NULL;
}

struct g2h_error *report_put_retainers(const struct report *report, struct g2h_edges *edges,
                                       uint32_t node)
{
    _cleanup_(table_deinit) struct table table;
    _cleanup_(retainers_deinit) struct retainers retainers = {.list = {0}};
    table_init(&table, report->page, "referrers", "REFERRED TO BY,>times,@one of them at",
               report_rows(report, REPORT_ASKED_ROWS));
    TRY(retainers_find(report->findings, edges, node, &retainers));
    for (size_t i = 0; i < retainers.list.count; i++) {
        if (table_skip_row(&table))
            continue;
        const struct retainer *retainer = &retainers.list.data[i];
        struct g2h_node source;
        size_t size;
        const char *name = string_pool_text(&retainers.names, retainer->name, &size);
        g2h_view_brief(report->findings->view, retainer->node, &source);
        TABLE_PUT(&table, "%s{field}%n{times}%?a{address}", report_bytes(name, size),
                  retainer->count, source.object != UINT32_MAX, source.address);
    }
    return table_end(&table);
}
