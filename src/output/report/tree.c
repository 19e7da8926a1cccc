/* tree: what holds what; see sections.h. */
#include "base/scope.h"
#include "output/report/sections.h"
#include "output/report/table.h"

enum {
    MOST_LINES = 50,
    MOST_CHILDREN = 8, /* of a node */
    MOST_DEPTH = 16,
    LEAST_NAME = 20, /* characters */
};

struct tree {
    const struct report *report;
    uint64_t least; /* bytes that a line has */
    size_t lines;
};

/* Columns before the names. */
enum { OF_BYTES = 9, OF_PERCENT = 8, OF_COUNT = 11 };

static void put_branch(const struct report *report, uint32_t node, size_t depth)
{
    const struct merged_node *of = report_node(report, node);
    const struct growth *growth = report->base ? &report->growth.data[node] : NULL;
    struct text count = {0}, *out = report->out;
    const bool has_count =
        of->kind == MERGED_CLASS && (growth ? growth->count != 0 : of->count > 1);
    text_printf(out, "  ");
    if (growth && growth->retained < 0) {
        table_pad(out, OF_BYTES - 1);
        text_printf(out, "-");
    } else {
        table_right(out, growth ? (uint64_t)growth->retained : of->retained, growth != NULL,
                    OF_BYTES);
    }
    text_printf(out, " %4.0f %% ", table_percent(of->retained, report->total));
    if (has_count && growth)
        table_change(&count, growth->count, false);
    else if (has_count)
        text_append_grouped(&count, of->count);
    table_pad(out, count.size < OF_COUNT ? OF_COUNT - count.size : 0);
    text_append(out, count.data, count.size);
    out->failed |= count.failed;
    text_deinit(&count);
    table_pad(out, 2 + 2 * depth);
    size_t size;
    const char *name = merged_name(&report->merged, node, &size);
    const size_t used = 2 + OF_BYTES + OF_PERCENT + OF_COUNT + 2 + 2 * depth;
    table_clip(out, name, size,
               report->columns > used + LEAST_NAME ? report->columns - used : LEAST_NAME);
    text_printf(out, "\n");
}

static struct g2h_error *put_below(struct tree *tree, uint32_t node, size_t depth)
{
    const struct report *report = tree->report;
    ranking children = {0};
    struct g2h_error *error = NULL;
    for (uint32_t i = report_node(report, node)->child; i != MERGED_NONE && !error;
         i = report_node(report, i)->sibling)
        if (report_weight(report, i) >= tree->least &&
            !vector_push(&children, ((struct ranked){report_weight(report, i), i})))
            error = &error_no_memory;
    vector_sort(&children, report_compare_ranks);
    for (size_t i = 0; !error && i < children.count && i < MOST_CHILDREN; i++) {
        if (tree->lines++ >= MOST_LINES)
            break;
        put_branch(report, children.data[i].node, depth);
        if (depth + 1 < MOST_DEPTH)
            error = put_below(tree, children.data[i].node, depth + 1);
    }
    free(children.data);
    return error;
}

struct g2h_error *report_put_tree(const struct report *report)
{
    enum { OF_ALL = 50, LEAST = 4096 };
    const uint32_t gc_roots = report_find_kind(report, G2H_NODE_GC_ROOTS);
    const uint32_t root = gc_roots == MERGED_NONE ? 0 : gc_roots;
    const uint64_t least = report_weight(report, root) / OF_ALL;
    struct tree tree = {.report = report, .least = report->base && least < LEAST ? LEAST : least};
    text_printf(report->out,
                "\n%s   tree of dominators, from 2 %%; what is of one class below one node is one "
                "line\n",
                report->base ? "WHERE IT GREW" : "WHAT HOLDS WHAT");
    return put_below(&tree, root, 0);
}
