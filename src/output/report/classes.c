/* classes: the classes that have most bytes, or have grown most; see sections.h. */
#include "base/scope.h"
#include "findings/class_rows.h"
#include "output/report/sections.h"
#include "output/report/table.h"

static struct g2h_error *report_classes_put_row(const struct report *report, struct table *table,
                                                const struct class_row *row)
{
    const struct page_field fields[] = {
        report_name(report, "class", row->node), page_count("objects", row->count),
        page_bytes("bytes", row->bytes),         page_bytes("retained", row->retained),
        page_bytes_change("grown", row->grown),
    };
    struct allocator allocator;
    table_open_row(table, fields, report->findings->base ? 5 : 4);
    if (report->page->is_json &&
        allocated_by(&report->findings->allocated, report_node(report, row->node)->name,
                     MERGED_NONE, &allocator))
        TRY(report_put_allocator(report, &allocator, false));
    page_close(report->page);
    return NULL;
}

struct g2h_error *report_put_classes(const struct report *report)
{
    _cleanup_(class_rows_deinit) struct class_rows classes = {0};
    _cleanup_(table_deinit) struct table table = {.page = NULL};
    static const struct table_column columns[] = {{"CLASSES", false},
                                                  {"objects", true},
                                                  {"bytes", true},
                                                  {"retained", true},
                                                  {"grown", true}}; /* with a base */
    uint64_t bytes = 0;
    size_t shown = 0;
    TRY(class_rows_find(report->findings, false, &classes));
    while (shown < classes.list.count && shown < report_rows(report, REPORT_ROWS) &&
           (!report->findings->base || classes.list.data[shown].grown > 0))
        shown++; /* with a base, only classes that have grown */
    table_init(&table, report->page, "classes", columns, report->findings->base ? 5 : 4, shown);
    for (size_t i = 0; i < classes.list.count; i++) {
        TRY(report_classes_put_row(report, &table, &classes.list.data[i]));
        bytes += i < shown ? 0 : classes.list.data[i].bytes;
    }
    TRY(table_end(&table));
    if (classes.list.count > shown && shown > 0)
        PAGE_PUT(report->page, "  % more, %\n", page_count(NULL, classes.list.count - shown),
                 page_bytes(NULL, bytes));
    return NULL;
}
