/* classes: the classes that have most bytes, or have grown most; see sections.h. */
#include "base/scope.h"
#include "findings/class_rows.h"
#include "output/report/sections.h"
#include "output/report/table.h"

struct g2h_error *report_put_classes(const struct report *report)
{
    _cleanup_(class_rows_deinit) struct class_rows classes = {0};
    _cleanup_(table_deinit) struct table table = {.page = NULL};
    const bool has_base = report->findings->base != NULL;
    uint64_t bytes = 0;
    size_t shown = 0;
    TRY(class_rows_find(report->findings, false, &classes));
    while (shown < classes.list.count && shown < report_rows(report, REPORT_ROWS) &&
           (!has_base || classes.list.data[shown].grown > 0))
        shown++; /* with a base, only classes that have grown */
    table_init(&table, report->page, "classes",
               has_base ? "CLASSES,>objects,>bytes,>retained,>grown"
                        : "CLASSES,>objects,>bytes,>retained",
               shown);
    for (size_t i = 0; i < classes.list.count; i++) {
        const struct class_row *row = &classes.list.data[i];
        struct allocator allocator;
        TABLE_OPEN(&table, "%s{class}%n{objects}%b{bytes}%b{retained}%?d{grown}",
                   report_name(report, row->node), row->count, row->bytes, row->retained, has_base,
                   row->grown);
        if (report->page->is_json &&
            allocated_by(&report->findings->allocated, report_node(report, row->node)->name,
                         MERGED_NONE, &allocator))
            TRY(report_put_allocator(report, &allocator, false));
        page_close(report->page);
        bytes += i < shown ? 0 : row->bytes;
    }
    TRY(table_end(&table));
    if (classes.list.count > shown && shown > 0)
        PUT(report->page, "  %n more, %b\n", classes.list.count - shown, bytes);
    return NULL;
}
