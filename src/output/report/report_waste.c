/* report_waste: unused memory; see sections.h and findings/waste.h. */
#include "base/scope.h"
#include "output/report/sections.h"

enum { LONGEST = 60 /* characters of a string that are shown */ };

/* Returns the name of a declaration; of DECLARATION_OF_LOCAL, that it is a variable of a function.
 */
static struct page_field name_declaration(const struct g2h_capacities *capacities,
                                          uint32_t declaration, struct g2h_text *name)
{
    if (declaration == DECLARATION_OF_LOCAL)
        return page_words("place", "(local variables)");
    g2h_capacities_declaration(capacities, declaration, name);
    return page_text("place", name->data, name->size);
}

/* Reports the size of a row's arrays or strings, if any; or, if slices use small parts of large
 * arrays, how much they use of each. */
static void report_waste_put_each(struct page *page, const struct waste_row *row)
{
    if (row->bytes == 0) {
        page_say(page, "\n");
        return;
    }
    if (row->outside > row->wasted / 2)
        PAGE_PUT(page, ", which uses % of each %\n", page_bytes(NULL, row->elements / row->count),
                 page_bytes(NULL, row->bytes / row->count));
    else
        PAGE_PUT(page, ", of %\n", page_bytes(NULL, row->bytes));
    PAGE_DATA(page, page_bytes("bytes", row->bytes));
    if (row->outside > 0)
        PAGE_DATA(page, page_bytes("outside", row->outside), page_bytes("used", row->elements));
}

static void put_declarations(const struct report *report, const struct g2h_capacities *capacities,
                             struct g2h_text *name, const struct waste_rows *rows,
                             const char *counted)
{
    struct page *page = report->page;
    page_open_list(page, "places");
    for (size_t i = 0; i < rows->list.count; i++) {
        const struct waste_row *row = &rows->list.data[i];
        if (!report_is_shown(report, i, row->wasted, rows->sums.wasted))
            break;
        const struct page_field declaration = name_declaration(capacities, row->declaration, name);
        page_open(page, NULL);
        PAGE_PUT(page, "  %% × %", page_wide(page_bytes("wasted", row->wasted), 9),
                 page_wide(page_count(counted, row->count), 9), declaration);
        report_waste_put_each(page, row);
        page_close(page);
    }
    page_close(page);
}

static void report_waste_put_slices(const struct report *report,
                                    const struct g2h_capacities *capacities, struct g2h_text *name,
                                    const struct waste_rows *slices)
{
    struct page *page = report->page;
    if (slices->list.count == 0)
        return;
    page_open(page, "slices");
    const bool is_cut = slices->sums.outside > slices->sums.wasted / 2;
    PAGE_PUT(page,
             !report_is_much(report, slices->sums.wasted) ? NULL
             : is_cut ? "  slices   % outside of what slices use, in % arrays of %\n"
                      : "  slices   % beyond their length, in % arrays of %\n",
             page_bytes("wasted", slices->sums.wasted), page_count("arrays", slices->sums.count),
             page_bytes("bytes", slices->sums.bytes));
    put_declarations(report, capacities, name, slices, "arrays");
    page_close(page);
}

static void report_waste_put_stale(const struct report *report,
                                   const struct g2h_capacities *capacities, struct g2h_text *name,
                                   const struct waste_rows *stale)
{
    struct page *page = report->page;
    if (stale->list.count == 0)
        return;
    page_open(page, "stale");
    PAGE_PUT(
        page,
        report_is_much(report, stale->sums.wasted)
            ? "  stale    % only in slots that no slice uses, in % objects and what they retain\n"
            : NULL,
        page_bytes("wasted", stale->sums.wasted), page_count("objects", stale->sums.count));
    put_declarations(report, capacities, name, stale, "objects");
    page_close(page);
}

static void put_map(const struct report *report, const struct waste_row *row,
                    const struct g2h_text *name)
{
    struct page *page = report->page;
    page_open(page, NULL);
    PAGE_PUT(page, "  %% × %, % of % slots used", page_wide(page_bytes("wasted", row->wasted), 9),
             page_wide(page_count("maps", row->count), 9),
             page_text("type", name->data, name->size), page_count("used", row->used),
             page_count("slots", row->all));
    if (row->empty > 0)
        PAGE_PUT(page, ", % empty", page_count(NULL, row->empty));
    if (row->unknown > 0)
        PAGE_PUT(page, "; % entries not counted", page_count("entries_not_counted", row->unknown));
    PAGE_DATA(page, page_bytes("bytes", row->bytes), page_count("empty", row->empty),
              page_bytes("empty_bytes", row->empty_size));
    page_close(page);
    page_say(page, "\n");
}

static void put_maps(const struct report *report, const struct g2h_capacities *capacities,
                     struct g2h_text *name, const struct waste_rows *maps)
{
    struct page *page = report->page;
    const struct waste_row *sums = &maps->sums;
    const bool is_much = report_is_much(report, sums->wasted + sums->empty_size);
    if (maps->list.count == 0)
        return;
    page_open(page, "maps");
    PAGE_PUT(page, is_much ? "  maps     % in free slots: % maps use % of %" : NULL,
             page_bytes("wasted", sums->wasted), page_count("maps", sums->count),
             page_count("used", sums->used), page_count("slots", sums->all));
    PAGE_PUT(page, is_much && sums->empty > 0 ? "; % are empty, of %" : NULL,
             page_count("empty", sums->empty), page_bytes("empty_bytes", sums->empty_size));
    if (sums->unknown > 0)
        PAGE_PUT(page, is_much ? "; not counted: % entries in arrays that the dump lacks" : NULL,
                 page_count("entries_not_counted", sums->unknown));
    PAGE_DATA(page, page_bytes("bytes", sums->bytes));
    page_say(page, is_much ? "\n" : "");
    page_open_list(page, "types");
    for (size_t i = 0; i < maps->list.count; i++) {
        const struct waste_row *row = &maps->list.data[i];
        if (!report->page->is_json && !report_is_shown(report, i, row->wasted, sums->wasted))
            break;
        g2h_capacities_declaration(capacities, row->declaration, name);
        put_map(report, row, name);
    }
    page_close(page);
    page_close(page);
}

static void put_substrings(const struct report *report, const struct g2h_capacities *capacities,
                           struct g2h_text *name, const struct waste_rows *rows)
{
    struct page *page = report->page;
    if (rows->list.count == 0)
        return;
    page_open(page, "substrings");
    PAGE_PUT(page,
             report_is_much(report, rows->sums.wasted)
                 ? "  strings  % beyond the part in use, in % strings of %\n"
                 : NULL,
             page_bytes("wasted", rows->sums.wasted), page_count("texts", rows->sums.count),
             page_bytes("bytes", rows->sums.bytes));
    put_declarations(report, capacities, name, rows, "texts");
    page_close(page);
}

/* Reports a duplicate string: "48.0 kB    2,001 × "Go-http-client/1.1"" */
static void report_waste_put_text(const struct report *report, struct g2h_text *text,
                                  const struct equal *equal)
{
    size_t size;
    const char *data = g2h_view_text(report->findings->view, equal->node, text, &size);
    page_open(report->page, NULL);
    PAGE_PUT(
        report->page, "  %% × \"%\"\n", page_wide(page_bytes("wasted", equal_waste(equal)), 9),
        page_wide(page_count("count", equal->count), 9),
        page_clipped(page_text(report->page->hides_texts ? NULL : "text", data, size), LONGEST));
    page_close(report->page);
}

static void put_equals(const struct report *report, struct g2h_text *text,
                       const struct equals *equals)
{
    struct page *page = report->page;
    if (equals->count == 0)
        return;
    page_open(page, "strings");
    PAGE_PUT(page,
             report_is_much(report, equals->wasted)
                 ? "  strings  % in equal ones: % of % differ, of %\n"
                 : NULL,
             page_bytes("wasted", equals->wasted), page_count("different", equals->different),
             page_count("count", equals->count), page_bytes("bytes", equals->bytes));
    page_open_list(page, "texts");
    for (size_t i = 0; i < equals->list.count; i++) {
        if (!report_is_shown(report, i, equal_waste(&equals->list.data[i]), equals->wasted))
            break;
        report_waste_put_text(report, text, &equals->list.data[i]);
    }
    page_close(page);
    page_close(page);
}

static struct pinned sum_pinned(const struct report *report)
{
    struct pinned sums = {0};
    for (size_t i = 0; i < report->suspects->count; i++) {
        const struct pinned *pinned = &report->suspects->list[i].suspect.pinned;
        sums.arrays += pinned->arrays;
        sums.bytes += pinned->bytes;
        sums.wasted += pinned->wasted;
    }
    return sums;
}

/* Reports the arrays among the suspects in which only some elements are pointed to. */
static void report_waste_put_pinned(const struct report *report, const struct pinned *sums)
{
    struct page *page = report->page;
    if (sums->arrays == 0)
        return;
    page_open(page, "pinned");
    PAGE_PUT(page, "  arrays   % in elements that nothing refers to, in % arrays of %\n",
             page_bytes("wasted", sums->wasted), page_count("arrays", sums->arrays),
             page_bytes("bytes", sums->bytes));
    page_open_list(page, "types");
    for (size_t i = 0; i < report->suspects->count; i++) {
        const struct suspect *suspect = &report->suspects->list[i].suspect;
        if (suspect->pinned.arrays == 0)
            continue;
        size_t size;
        const char *name = merged_name(&report->findings->merged, suspect->item, &size);
        page_open(page, NULL);
        PAGE_PUT(page, "  %% × %\n", page_wide(page_bytes("wasted", suspect->pinned.wasted), 9),
                 page_wide(page_count("arrays", suspect->pinned.arrays), 9),
                 page_text("type", name, size));
        page_close(page);
    }
    page_close(page);
    page_close(page);
}

struct g2h_error *report_put_waste(const struct report *report)
{
    const struct waste *waste = &report->findings->waste;
    _cleanup_(g2h_text_deinit) struct g2h_text text = {0};
    const struct pinned pinned = sum_pinned(report);
    const uint64_t wasted = waste_all(waste) + pinned.wasted;
    page_open(report->page, "waste");
    page_head(report->page, "WASTE");
    PAGE_PUT(report->page, "   %, % of what is reachable\n", page_bytes("wasted", wasted),
             page_tenths(page_percent(wasted, report->findings->reachable)));
    report_waste_put_pinned(report, &pinned);
    report_waste_put_stale(report, waste->capacities, &text, &waste->stale);
    report_waste_put_slices(report, waste->capacities, &text, &waste->slices);
    put_maps(report, waste->capacities, &text, &waste->maps);
    put_substrings(report, waste->capacities, &text, &waste->substrings);
    put_equals(report, &text, &waste->texts);
    report_put_fragmentation(report, &waste->fragmentation);
    report_put_layout(report, &waste->layout);
    page_close(report->page);
    TRY_MEMORY(!text.failed);
    return NULL;
}
