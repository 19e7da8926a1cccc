/* who: the suspects as text; see sections.h. */
#include <string.h>

#include "base/scope.h"
#include "output/report/sections.h"
#include "output/report/suspects.h"
#include "output/report/table.h"
#include "output/report/way.h"

enum { MOST_SUSPECTS = 3, MOST_PARTS = 4 /* of what one is made of */ };

/* "320 B = 24 B + main.Session 152 B + chan *main.Bid 144 B" */
static struct g2h_error *put_each(const struct report *report, uint32_t item)
{
    const struct merged_node *node = report_node(report, item);
    struct text *out = report->out;
    ranking parts = {0};
    if (node->count < 2)
        return NULL;
    struct g2h_error *error = report_rank_children(report, item, &parts);
    text_printf(out, "      each        ");
    table_bytes(out, node->retained / node->count);
    if (node->bytes < node->retained) {
        text_printf(out, " = ");
        table_bytes(out, node->bytes / node->count);
    }
    for (size_t i = 0; i < parts.count && i < MOST_PARTS; i++) {
        const struct merged_node *part = report_node(report, parts.data[i].node);
        if (part->retained < node->retained / 50)
            break;
        text_printf(out, " + ");
        report_append_name(report, parts.data[i].node, out);
        text_printf(out, " ");
        table_bytes(out, part->retained / node->count);
    }
    text_printf(out, "\n");
    free(parts.data);
    return error;
}

/* Who holds something together, if it is below that. */
static uint32_t sharers_of(const struct report *report, uint32_t item)
{
    uint32_t variable = MERGED_NONE;
    for (uint32_t i = item; i != MERGED_NONE; i = report_node(report, i)->parent) {
        if (report_node(report, i)->kind == MERGED_VARIABLE)
            variable = i;
        if (report_is_kind(report, i, G2H_NODE_SEVERAL))
            return variable;
    }
    return MERGED_NONE;
}

static struct g2h_error *put_holders(const struct report *report, uint32_t item)
{
    _cleanup_(text_deinit) struct text way = {0};
    const uint32_t sharers = sharers_of(report, item);
    TRY(way_append(report->view, report->dominators, report_node(report, item)->example, &way));
    TRY_MEMORY(!way.failed);
    if (way.size > 0) {
        text_printf(report->out, "      held by     ");
        table_clip(report->out, way.data, way.size, 2 * report->columns);
        text_printf(report->out, "\n");
    }
    if (sharers != MERGED_NONE) {
        text_printf(report->out, "      shared by   ");
        report_append_name(report, sharers, report->out);
        text_printf(report->out, "\n");
    }
    return NULL;
}

static struct g2h_error *put_target(const struct report *report, const char *what, uint32_t node,
                                    const char *label, enum g2h_node_kind kind)
{
    _cleanup_(text_deinit) struct text text = {0};
    TRY(report_append_target(report, node, label, kind, &text));
    TRY_MEMORY(!text.failed);
    if (text.size > 0) {
        text_printf(report->out, "      %-10s  ", what);
        text_append(report->out, text.data, text.size);
        text_printf(report->out, "\n");
    }
    return NULL;
}

/* The variables below a node that retain most. Parents come before their children. */
static struct g2h_error *rank_variables(const struct report *report, uint32_t below, ranking *ret)
{
    const size_t count = report->merged.nodes.count;
    _cleanup_free_ bool *is_below = calloc(count, sizeof(*is_below));
    TRY_MEMORY(is_below);
    is_below[below] = true;
    for (uint32_t i = below + 1; i < count; i++) {
        const struct merged_node *node = report_node(report, i);
        is_below[i] = node->parent != MERGED_NONE && is_below[node->parent];
        if (is_below[i] && node->kind == MERGED_VARIABLE)
            TRY_MEMORY(vector_push(ret, ((struct ranked){node->retained, i})));
    }
    vector_sort(ret, report_compare_ranks);
    return NULL;
}

static struct g2h_error *put_locals(const struct report *report, uint32_t place)
{
    ranking locals = {0};
    struct g2h_error *error = rank_variables(report, place, &locals);
    const uint64_t goroutines = report_goroutines(report, place);
    for (size_t i = 0; !error && i < locals.count && i < 2; i++) {
        const struct merged_node *local = report_node(report, locals.data[i].node);
        if (local->retained < report_node(report, place)->retained / 50)
            break;
        text_printf(report->out, i == 0 ? "      hold        " : "                  ");
        report_append_name(report, locals.data[i].node, report->out);
        text_printf(report->out, " of ");
        report_append_name(report, local->parent, report->out);
        if (local->child != MERGED_NONE) {
            text_printf(report->out, ": ");
            report_append_name(report, local->child, report->out);
        }
        text_printf(report->out, ", ");
        table_bytes(report->out, local->retained / (goroutines > 0 ? goroutines : 1));
        text_printf(report->out, goroutines > 1 ? " each\n" : "\n");
    }
    free(locals.data);
    return error;
}

static struct g2h_error *put_goroutines_suspect(const struct report *report, uint32_t place)
{
    const uint32_t goroutine = report_example_goroutine(report, place);
    TRY(put_target(report, "wait on", goroutine, "waiting on", G2H_NODE_ROOT));
    TRY(put_target(report, "started by", goroutine, NULL, G2H_NODE_CREATION_SITE));
    return put_locals(report, place);
}

/* By how many of it there are more. */
static int64_t count_grown(const struct report *report, const struct suspect *suspect)
{
    return suspect->is_goroutines ? report_goroutines_grown(report, suspect->item)
                                  : (int64_t)suspect->grown;
}

static struct g2h_error *put_suspect(const struct report *report, const struct suspect *suspect,
                                     size_t number)
{
    struct text *out = report->out;
    const uint64_t count = suspect->is_goroutines ? report_goroutines(report, suspect->item)
                                                  : report_node(report, suspect->item)->count;
    text_printf(out, "  %zu  ", number);
    table_right(out, suspect->bytes, report->base != NULL, 9);
    text_printf(out, "  %3.0f %% of the heap   ", table_percent(suspect->bytes, report->reachable));
    if (report->base) {
        table_change(out, count_grown(report, suspect), false);
        text_printf(out, " ");
        report_append_name(report, suspect->item, out);
        text_printf(out, ", now ");
        text_append_grouped(out, count);
    } else {
        text_append_grouped(out, count);
        text_printf(out, " ");
        report_append_name(report, suspect->item, out);
    }
    if (suspect->holder != MERGED_NONE) {
        const struct merged_node *holder = report_node(report, suspect->holder);
        text_printf(out, ", in ");
        if (holder->count > 1) {
            text_append_grouped(out, holder->count);
            text_printf(out, " × ");
        }
        report_append_name(report, suspect->holder, out);
    }
    text_printf(out, "\n");
    if (suspect->is_goroutines)
        return put_goroutines_suspect(report, suspect->item);
    TRY(put_each(report, suspect->item));
    return put_holders(report, suspect->item);
}

struct g2h_error *report_put_suspects(const struct report *report)
{
    suspect_vector suspects = {0};
    struct g2h_error *error = suspects_find(&report->merged, report->reachable, report->base,
                                            report->base ? &report->growth : NULL, &suspects);
    if (!error) {
        text_printf(report->out,
                    report->base ? "\nWHAT GREW, AND WHO HOLDS IT\n" : "\nWHO HOLDS THE MEMORY\n");
        if (suspects.count == 0)
            text_printf(report->out, report->base
                                         ? "  Nothing grew by much.\n"
                                         : "  Nothing that holds 5 %% of the heap stands out.\n");
    }
    for (size_t i = 0; !error && i < suspects.count && i < MOST_SUSPECTS; i++)
        error = put_suspect(report, &suspects.data[i], i + 1);
    if (!error && suspects.count > MOST_SUSPECTS)
        text_printf(report->out,
                    report->base ? "     %zu more grew by much\n"
                                 : "     %zu more of 5 %% and above: see the tree below\n",
                    suspects.count - MOST_SUSPECTS);
    free(suspects.data);
    return error;
}
