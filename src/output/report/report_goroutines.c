/* report_goroutines: the places where goroutines are, how many, and what they retain; see
 * sections.h. */
#include <stdlib.h>
#include <string.h>

#include "base/port.h"
#include "base/scope.h"
#include "findings/goroutines.h"
#include "findings/leaks.h"
#include "output/report/sections.h"
#include "output/report/table.h"

/* Returns a field of a string without the first of the words that it begins with. */
static struct page_field text_without(const char *key, const struct text *text,
                                      const char *const *words)
{
    for (; *words; words++)
        if (text->size > strlen(*words) && memcmp(text->data, *words, strlen(*words)) == 0)
            return page_text(key, text->data + strlen(*words), text->size - strlen(*words));
    return page_made(key, text);
}

/* Returns the last word of "go statement in main.run main.go:17", which is the place of the
 * statement, or the function if the place is not known. */
static struct page_field site_of(const struct text *site)
{
    static const char *const words[] = {"go statement in ", NULL};
    const char *space = site->size > 0 ? memrchr(site->data, ' ', site->size) : NULL;
    const size_t size = space ? site->size - (size_t)(space + 1 - site->data) : 0;
    return size > 0 && memchr(space, ':', size) ? page_text("started_at", space + 1, size)
                                                : text_without("started_at", site, words);
}

/* The state of the table's rows. */
struct report_goroutines_rows {
    const struct report *report;
    struct g2h_edges *edges;
    struct leaks leaks;
    struct table table;
};

static struct g2h_error *report_goroutines_put_place(struct report_goroutines_rows *rows,
                                                     const struct goroutine_place *place)
{
    const struct report *report = rows->report;
    const struct leaks_place *leaked = leaks_at(&rows->leaks, report->findings, place->node);
    struct g2h_edges *edges = rows->edges;
    _cleanup_(text_deinit) struct text name = {0}, site = {0};
    static const char *const words[] = {"goroutines ", "goroutine ", NULL};
    report_append_name(report, place->node, &name);
    findings_append_targets(report->findings, edges,
                            findings_example_goroutine(report->findings, place->node), NULL,
                            G2H_NODE_CREATION_SITE, &site);
    TRY_MEMORY(!name.failed && !site.failed);
    const struct page_field where = text_without("place", &name, words),
                            count = page_count("count", place->count),
                            retained = page_bytes("retained", place->retained),
                            started = site_of(&site),
                            never = page_count("leaked", leaked ? leaked->count : 0);
    struct page_field fields[7];
    size_t count_of = 0;
    fields[count_of++] = where;
    if (report->findings->base)
        fields[count_of++] = page_change("grown", place->grown);
    fields[count_of++] = count;
    if (rows->leaks.places.count > 0)
        fields[count_of++] = never;
    fields[count_of++] = retained;
    fields[count_of++] = started;
    if (rows->leaks.places.count > 0)
        fields[count_of++] = page_bytes("leaked_retained", leaked ? leaked->retained : 0);
    table_row(&rows->table, fields, count_of);
    return NULL;
}

/* Begins the table. Its columns depend on whether there is a base, and on whether goroutines are
 * leaked. */
static void begin_rows(struct report_goroutines_rows *rows, size_t shown,
                       struct table_column *columns)
{
    size_t count = 0;
    columns[count++] = (struct table_column){"GOROUTINES", false};
    if (rows->report->findings->base)
        columns[count++] = (struct table_column){"grown", true};
    columns[count++] = (struct table_column){"count", true};
    if (rows->leaks.places.count > 0)
        columns[count++] = (struct table_column){"leaked", true};
    columns[count++] = (struct table_column){"retained", true};
    columns[count++] = (struct table_column){"started by", false};
    table_init(&rows->table, rows->report->page, "goroutines", columns, count, shown);
}

/* Adds the numbers of the leaked goroutines, which are in JSON only, and not if the heap is
 * redacted. */
static void put_goids(const struct report *report)
{
    const struct g2h_view *view = report->findings->view;
    const uint64_t synthetics = g2h_view_account(view)->synthetic_nodes;
    struct g2h_node node;
    page_open_list(report->page, "goroutines");
    for (uint32_t i = 0; report->page->is_json && !g2h_view_is_redacted(view) && i < synthetics;
         i++)
        if (g2h_view_is_leaked(view, i)) {
            g2h_view_brief(view, i, &node);
            page_open(report->page, NULL);
            PAGE_DATA(report->page, page_count("goid", node.key));
            page_close(report->page);
        }
    page_close(report->page);
}

/* Reports how many goroutines can never run again, or why that is not known. */
static void put_leaks(const struct report *report, const struct leaks *leaks)
{
    static const char *const proofs[] = {
        [G2H_LEAKS_PROVED] = "proved",
        [G2H_LEAKS_INCOMPLETE] = "incomplete",
        [G2H_LEAKS_OF_RELEASE_UNKNOWN] = "unknown release",
    };
    struct page *page = report->page;
    if (leaks->all.blocked == 0)
        return;
    page_open(page, "leaked");
    PAGE_DATA(page, page_words("proof", proofs[leaks->all.proof]),
              page_count("blocked", leaks->all.blocked));
    if (leaks->all.leaked > 0)
        PAGE_PUT(page,
                 leaks->all.leaked > 1
                     ? "  leaked: % can never run again: nothing alive reaches what they wait on. "
                       "They retain %\n"
                     : "  leaked: % can never run again: nothing alive reaches what it waits on. "
                       "It retains %\n",
                 page_count("count", leaks->all.leaked), page_bytes("retained", leaks->retained));
    else if (leaks->all.proof == G2H_LEAKS_INCOMPLETE)
        page_say(page, "  which of them can never run again is not known: stacks or objects are "
                       "missing\n");
    put_goids(report);
    page_close(page);
}

/* Reports how many goroutines have ended, if what the runtime keeps of them is large enough to
 * matter. */
static struct g2h_error *report_goroutines_put_ended(const struct report *report)
{
    enum { OF_ALL = 50 }; /* the part of the heap that matters */
    static const char template[] =
        "  % have ended: the runtime keeps their runtime.g, %, for reuse\n";
    struct goroutines_ended ended;
    TRY(goroutines_find_ended(report->findings, &ended));
    if (ended.bytes == 0 || ended.bytes < report->findings->reachable / OF_ALL)
        return NULL;
    page_open(report->page, "ended");
    PAGE_PUT(report->page, template, page_count("count", ended.count),
             page_bytes("bytes", ended.bytes));
    page_close(report->page);
    return NULL;
}

static void rows_deinit(struct report_goroutines_rows *rows)
{
    table_deinit(&rows->table);
    leaks_deinit(&rows->leaks);
    g2h_edges_destroy(rows->edges);
}

struct g2h_error *report_put_goroutines(const struct report *report)
{
    struct table_column columns[6];
    _cleanup_(rows_deinit) struct report_goroutines_rows rows = {.report = report};
    _cleanup_vector_ goroutine_place_vector places = {0};
    uint64_t others = 0, bytes = 0;
    size_t shown = 0;
    TRY(goroutines_find_places(report->findings, &places));
    TRY(leaks_find(report->findings, &rows.leaks));
    TRY(g2h_edges_create(report->findings->view, &rows.edges));
    while (shown < places.count && shown < report_rows(report, REPORT_ROWS) &&
           places.data[shown].weight > 0)
        shown++; /* with a base, only places that have grown */
    begin_rows(&rows, shown, columns);
    for (size_t i = 0; i < places.count; i++) {
        const struct goroutine_place *place = &places.data[i];
        TRY(report_goroutines_put_place(&rows, place));
        others += i < shown ? 0 : place->count;
        bytes += i < shown ? 0 : place->retained;
    }
    TRY(table_end(&rows.table));
    if (others > 0 && shown > 0)
        PAGE_PUT(report->page, "  % more at % other locations, %\n", page_count(NULL, others),
                 page_count(NULL, places.count - shown), page_bytes(NULL, bytes));
    put_leaks(report, &rows.leaks);
    return report_goroutines_put_ended(report);
}
