/* goroutines: the places where goroutines are, how many, and what they retain; see sections.h. */
#include <stdlib.h>
#include <string.h>

#include "base/port.h"
#include "base/scope.h"
#include "findings/goroutines.h"
#include "output/report/sections.h"
#include "output/report/table.h"

/* Returns a field of a text without the first of the words that the text begins with. */
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

static struct g2h_error *put_place(const struct report *report, struct g2h_edges *edges,
                                   struct table *table, const struct goroutine_place *place)
{
    _cleanup_(text_deinit) struct text name = {0}, site = {0};
    static const char *const words[] = {"goroutines ", "goroutine ", NULL};
    report_append_name(report, place->node, &name);
    findings_append_target(report->findings, edges,
                           findings_example_goroutine(report->findings, place->node), NULL,
                           G2H_NODE_CREATION_SITE, &site);
    TRY_MEMORY(!name.failed && !site.failed);
    const struct page_field where = text_without("place", &name, words),
                            count = page_count("count", place->count),
                            retained = page_bytes("retained", place->retained),
                            started = site_of(&site);
    if (report->findings->base)
        TABLE_ROW(table, where, page_change("grown", place->grown), count, retained, started);
    else
        TABLE_ROW(table, where, count, retained, started);
    return NULL;
}

/* Puts how many goroutines have ended of which the runtime keeps so much that it matters. */
static struct g2h_error *put_ended(const struct report *report)
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

static void destroy_edges(struct g2h_edges **edges)
{
    g2h_edges_destroy(*edges);
}

static void free_places(goroutine_place_vector *places)
{
    free(places->data);
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
    _cleanup_(table_deinit) struct table table = {.page = NULL};
    _cleanup_(free_places) goroutine_place_vector places = {0};
    _cleanup_(destroy_edges) struct g2h_edges *edges = NULL;
    uint64_t others = 0, bytes = 0;
    size_t shown = 0;
    TRY(goroutines_find_places(report->findings, &places));
    TRY(g2h_edges_create(report->findings->view, &edges));
    while (shown < places.count && shown < REPORT_ROWS && places.data[shown].weight > 0)
        shown++; /* with a base, only places that have grown */
    table_init(&table, report->page, "goroutines", report->findings->base ? columns : usual,
               report->findings->base ? 5 : 4, shown);
    for (size_t i = 0; i < places.count; i++) {
        const struct goroutine_place *place = &places.data[i];
        TRY(put_place(report, edges, &table, place));
        others += i < shown ? 0 : place->count;
        bytes += i < shown ? 0 : place->retained;
    }
    TRY(table_end(&table));
    if (others > 0 && shown > 0)
        PAGE_PUT(report->page, "  % more in % other places, %\n", page_count(NULL, others),
                 page_count(NULL, places.count - shown), page_bytes(NULL, bytes));
    return put_ended(report);
}
