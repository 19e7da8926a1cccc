/* asked: the first lines about an object or a class for --path-to or --show, and who refers to an
 * object; see sections.h. */
#include "base/scope.h"
#include "findings/class_rows.h"
#include "findings/retainers.h"
#include "output/report/sections.h"
#include "output/report/table.h"

struct page_field report_name_of(const struct report *report, const char *key,
                                 const struct g2h_node *node)
{
    size_t size;
    const char *name = findings_class_name(report->findings->view, node, &size);
    return page_text(key, name, size);
}

void report_put_object(const struct report *report, uint32_t number, uint64_t offset)
{
    struct page *page = report->page;
    struct g2h_node node;
    g2h_view_brief(report->findings->view, number, &node);
    const uint64_t retained = g2h_dominators_retained_size(report->findings->dominators, number);
    const bool is_garbage = findings_is_dead(report->findings->view, number);
    page_open(page, "object");
    page_head(page, "OBJECT");
    PAGE_PUT(page, "   % at %, % retains %", page_strong(report_name_of(report, "class", &node)),
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
}

struct g2h_error *report_put_class(const struct report *report, uint32_t class, ranking *ret_nodes)
{
    struct page *page = report->page;
    const uint32_t name = report_node(report, class)->name;
    struct class_row row;
    TRY(class_rows_find_one(report->findings, name, &row, ret_nodes));
    page_open(page, "class");
    page_head(page, "CLASS");
    PAGE_PUT(page,
             row.count == 1 ? "   %: % object of % retains % (%)"
                            : "   %: % objects of % retain % (%)",
             page_strong(report_name(report, "class", class)), page_count("objects", row.count),
             page_bytes("bytes", row.bytes), page_bytes("retained", row.retained),
             page_tenths(page_percent(row.retained, report->findings->reachable)));
    if (row.garbage > 0)
        PAGE_PUT(page, "; % are garbage", page_count(NULL, row.garbage));
    PAGE_DATA(page, page_count("garbage", row.garbage));
    if (report->findings->base) {
        const struct page_field field = report_name(report, NULL, class);
        const struct growth_class before =
            growth_class_before(report->findings->base, field.data, field.size);
        PAGE_PUT(page, "; % since then",
                 page_change("objects_grown", (int64_t)(row.count - row.garbage - before.count)));
    }
    page_say(page, "\n");
    return NULL;
}

struct g2h_error *report_put_retainers(const struct report *report, struct g2h_edges *edges,
                                       uint32_t node)
{
    static const struct table_column columns[] = {
        {"REFERRED TO BY", false}, {"times", true}, {"one of them at", false}};
    _cleanup_(table_deinit) struct table table;
    _cleanup_(retainers_deinit) struct retainers retainers = {.list = {0}};
    table_init(&table, report->page, "referrers", columns, 3,
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
        TABLE_ROW(&table, page_text("field", name, size), page_count("times", retainer->count),
                  source.object != UINT32_MAX ? page_address("address", source.address)
                                              : page_words(NULL, ""));
    }
    return table_end(&table);
}
