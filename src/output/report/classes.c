/* classes: the classes that have most bytes, or have grown most; see sections.h. */
#include "base/scope.h"
#include "output/report/sections.h"
#include "output/report/table.h"

struct class_row {
    uint32_t node; /* one of the class's nodes */
    uint64_t count, bytes, retained;
    uint64_t held; /* bytes that are not garbage */
    int64_t grown; /* bytes that are held; 0 without a base */
};

struct classes {
    VECTOR(struct class_row) list;
    struct map by_name;
};

static int compare_classes(const void *a, const void *b)
{
    const struct class_row *one = a, *other = b;
    if (one->grown != other->grown)
        return one->grown > other->grown ? -1 : 1;
    if (one->bytes != other->bytes)
        return one->bytes > other->bytes ? -1 : 1;
    return one->node < other->node ? -1 : one->node > other->node;
}

/* Sums up the nodes of each class. Of nodes that are below each other the uppermost one retains
 * what the others do. */
static struct g2h_error *gather_classes(const struct report *report, struct classes *classes)
{
    for (uint32_t i = 0; i < report->merged.nodes.count; i++) {
        const struct merged_node *node = report_node(report, i);
        uint32_t number = (uint32_t)classes->list.count;
        if (node->kind != MERGED_CLASS)
            continue;
        TRY_MEMORY(map_put(&classes->by_name, node->name, number, &number));
        if (number == classes->list.count)
            TRY_MEMORY(vector_push(&classes->list, ((struct class_row){.node = i})));
        struct class_row *row = &classes->list.data[number];
        row->count += node->count;
        row->bytes += node->bytes;
        row->held += node->is_garbage ? 0 : node->bytes;
        row->retained += node->outermost == i ? node->retained : 0;
    }
    for (size_t i = 0; i < classes->list.count && report->base; i++) {
        struct class_row *row = &classes->list.data[i];
        size_t size;
        const char *name = merged_name(&report->merged, row->node, &size);
        row->grown = (int64_t)(row->held - growth_class_before(report->base, name, size).bytes);
    }
    vector_sort(&classes->list, compare_classes);
    return NULL;
}

static void classes_deinit(struct classes *classes)
{
    free(classes->list.data);
    map_deinit(&classes->by_name);
}

static struct g2h_error *put_row(const struct report *report, struct table *table,
                                 const struct class_row *row)
{
    const struct page_field fields[] = {
        report_name(report, "class", row->node), page_count("objects", row->count),
        page_bytes("bytes", row->bytes),         page_bytes("retained", row->retained),
        page_bytes_change("grown", row->grown),
    };
    struct allocator allocator;
    table_open_row(table, fields, report->base ? 5 : 4);
    if (report->page->is_json &&
        allocated_by(&report->allocated, report_node(report, row->node)->name, MERGED_NONE,
                     &allocator))
        TRY(allocated_put(report->page, &allocator, false));
    page_close(report->page);
    return NULL;
}

struct g2h_error *report_put_classes(const struct report *report)
{
    _cleanup_(classes_deinit) struct classes classes = {0};
    _cleanup_(table_deinit) struct table table = {.page = NULL};
    static const struct table_column columns[] = {{"CLASSES", false},
                                                  {"objects", true},
                                                  {"bytes", true},
                                                  {"retained", true},
                                                  {"grown", true}}; /* with a base */
    uint64_t bytes = 0;
    size_t shown = 0;
    TRY(gather_classes(report, &classes));
    while (shown < classes.list.count && shown < REPORT_ROWS &&
           (!report->base || classes.list.data[shown].grown > 0))
        shown++; /* with a base, only classes that have grown */
    table_init(&table, report->page, "classes", columns, report->base ? 5 : 4, shown);
    for (size_t i = 0; i < classes.list.count; i++) {
        TRY(put_row(report, &table, &classes.list.data[i]));
        bytes += i < shown ? 0 : classes.list.data[i].bytes;
    }
    TRY(table_end(&table));
    if (classes.list.count > shown && shown > 0)
        PAGE_PUT(report->page, "  % more, %\n", page_count(NULL, classes.list.count - shown),
                 page_bytes(NULL, bytes));
    return NULL;
}
