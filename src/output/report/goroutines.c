/* goroutines: where they are, how many, and what they retain; see sections.h. */
#include <string.h>

#include "base/scope.h"
#include "output/report/sections.h"
#include "output/report/table.h"

static bool is_place(const struct report *report, uint32_t node)
{
    return report_is_kind(report, node, G2H_NODE_GOROUTINES_IN_PLACE) ||
           report_is_kind(report, node, G2H_NODE_GOROUTINE);
}

/* Without a word at its begin. */
static void put_without(struct table *table, const struct text *text, const char *const *words)
{
    for (; *words; words++)
        if (text->size > strlen(*words) && memcmp(text->data, *words, strlen(*words)) == 0) {
            table_text(table, text->data + strlen(*words), text->size - strlen(*words));
            return;
        }
    table_text(table, text->data, text->size);
}

/* Of "go statement in main.run main.go:17" the last word, which is where it stands; where that is
 * not known, the function. */
static void put_site(struct table *table, const struct text *site)
{
    static const char *const words[] = {"go statement in ", NULL};
    const char *space = site->size > 0 ? memrchr(site->data, ' ', site->size) : NULL;
    const size_t size = space ? site->size - (size_t)(space + 1 - site->data) : 0;
    if (size > 0 && memchr(space, ':', size))
        table_text(table, space + 1, size);
    else
        put_without(table, site, words);
}

static struct g2h_error *put_place(const struct report *report, struct table *table, uint32_t place)
{
    _cleanup_(text_deinit) struct text name = {0}, site = {0};
    static const char *const words[] = {"goroutines ", "goroutine ", NULL};
    report_append_name(report, place, &name);
    TRY(report_append_target(report, report_example_goroutine(report, place), NULL,
                             G2H_NODE_CREATION_SITE, &site));
    TRY_MEMORY(!name.failed && !site.failed);
    put_without(table, &name, words);
    if (report->base)
        table_growth(table, report_goroutines_grown(report, place), false);
    table_count(table, report_goroutines(report, place));
    table_size(table, report_node(report, place)->retained);
    put_site(table, &site);
    return NULL;
}

/* Those that retain most come first. */
static struct g2h_error *rank_places(const struct report *report, ranking *ret)
{
    const uint32_t group = report_find_kind(report, G2H_NODE_GOROUTINES);
    for (uint32_t i = group == MERGED_NONE ? group : report_node(report, group)->child;
         i != MERGED_NONE; i = report_node(report, i)->sibling)
        if (is_place(report, i))
            TRY_MEMORY(vector_push(ret, ((struct ranked){report_weight(report, i), i})));
    vector_sort(ret, report_compare_ranks);
    return NULL;
}

struct g2h_error *report_put_goroutines(const struct report *report)
{
    static const struct table_column columns[] = {{"GOROUTINES", false},
                                                  {"grown", true}, /* with a base */
                                                  {"count", true},
                                                  {"retained", true},
                                                  {"started by", false}},
                                     usual[] = {{"GOROUTINES", false},
                                                {"count", true},
                                                {"retained", true},
                                                {"started by", false}};
    struct table table;
    ranking places = {0};
    struct g2h_error *error = rank_places(report, &places);
    table_init(&table, report->out, report->base ? columns : usual, report->base ? 5 : 4,
               report->columns);
    for (size_t i = 0; !error && i < places.count && i < REPORT_ROWS; i++)
        error = put_place(report, &table, places.data[i].node);
    uint64_t others = 0, bytes = 0;
    for (size_t i = REPORT_ROWS; i < places.count; i++) {
        others += report_goroutines(report, places.data[i].node);
        bytes += report_node(report, places.data[i].node)->retained;
    }
    if (!error && places.count > 0)
        error = table_end(&table);
    if (!error && others > 0) {
        text_printf(report->out, "  ");
        text_append_grouped(report->out, others);
        text_printf(report->out, " more in %zu other places, ", places.count - REPORT_ROWS);
        table_bytes(report->out, bytes);
        text_printf(report->out, "\n");
    }
    table_deinit(&table);
    free(places.data);
    return error;
}
