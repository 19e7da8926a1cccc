/* classes: those that have most bytes, or have grown most; see sections.h. */
#include "base/scope.h"
#include "output/report/sections.h"
#include "output/report/table.h"

struct class_row {
    uint32_t node; /* one of its nodes */
    uint64_t count, bytes, retained;
    int64_t grown; /* bytes; 0 without a base */
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

/* What is above a node is of no class of the same name: there it would be one with it. */
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
        row->retained += node->retained;
    }
    for (size_t i = 0; i < classes->list.count && report->base; i++) {
        struct class_row *row = &classes->list.data[i];
        size_t size;
        const char *name = merged_name(&report->merged, row->node, &size);
        row->grown = (int64_t)(row->bytes - growth_class_before(report->base, name, size).bytes);
    }
    vector_sort(&classes->list, compare_classes);
    return NULL;
}

static void classes_deinit(struct classes *classes)
{
    free(classes->list.data);
    map_deinit(&classes->by_name);
}

struct g2h_error *report_put_classes(const struct report *report)
{
    _cleanup_(classes_deinit) struct classes classes = {0};
    static const struct table_column columns[] = {{"CLASSES", false},
                                                  {"objects", true},
                                                  {"bytes", true},
                                                  {"retained", true},
                                                  {"grown", true}}; /* with a base */
    struct table table;
    TRY(gather_classes(report, &classes));
    table_init(&table, report->out, columns, report->base ? 5 : 4, report->columns);
    for (size_t i = 0; i < classes.list.count && i < REPORT_ROWS; i++) {
        const struct class_row *row = &classes.list.data[i];
        size_t size;
        const char *name = merged_name(&report->merged, row->node, &size);
        table_text(&table, name, size);
        table_count(&table, row->count);
        table_size(&table, row->bytes);
        table_size(&table, row->retained);
        if (report->base)
            table_growth(&table, row->grown, true);
    }
    struct g2h_error *error = table_end(&table);
    if (!error && classes.list.count > REPORT_ROWS) {
        uint64_t bytes = 0;
        for (size_t i = REPORT_ROWS; i < classes.list.count; i++)
            bytes += classes.list.data[i].bytes;
        text_printf(report->out, "  ");
        text_append_grouped(report->out, classes.list.count - REPORT_ROWS);
        text_printf(report->out, " more, ");
        table_bytes(report->out, bytes);
        text_printf(report->out, "\n");
    }
    table_deinit(&table);
    return error;
}
