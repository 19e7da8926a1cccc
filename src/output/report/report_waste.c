/* report_waste: unused memory; see sections.h and findings/waste.h. */
#include "base/scope.h"
#include "output/report/sections.h"

enum { LONGEST = 60 /* characters of a string that are shown */ };

/* Adds the size of a row's arrays or strings, if any; or, if slices use small parts of large
 * arrays, how much they use of each. */
static void put_size(struct page *page, const struct waste_row *row)
{
    const uint64_t bytes = row->bytes, count = row->count;
    const bool is_cut = row->outside > row->wasted / 2;
    if (bytes == 0)
        PUT(page, "\n");
    else if (is_cut)
        PUT(page, ", which uses %b of each %b\n", row->elements / count, bytes / count);
    else
        PUT(page, ", of %b\n", bytes);
    if (bytes > 0)
        PUT(page, "|%b{bytes}", bytes);
    if (bytes > 0 && row->outside > 0)
        PUT(page, "|%b{outside}%b{used}", row->outside, row->elements);
}

/* Adds a part whose rows are declarations; counted is what its rows count. head is the template of
 * its first line, and tail ends this line; NULL: the bytes of what is counted do. */
static void put_places(const struct report *report, const struct waste_rows *rows, const char *key,
                       const char *counted, const char *head, const char *tail)
{
    const struct waste_row *sums = &rows->sums;
    struct page *page = report->page;
    _cleanup_(g2h_text_deinit) struct g2h_text name = {0};
    if (rows->list.count == 0)
        return;
    page_open(page, key);
    const bool is_much = report_is_much(report, sums->wasted);
    PUT_IF(is_much, page, head, sums->wasted, sums->count);
    if (!tail)
        PUT_IF(is_much, page, " of %b{bytes}\n", sums->bytes);
    else if (is_much)
        page_say(page, tail);
    page_open_list(page, "places");
    for (size_t i = 0; i < rows->list.count; i++) {
        const struct waste_row *row = &rows->list.data[i];
        const bool is_local = row->declaration == DECLARATION_OF_LOCAL;
        if (!report_is_shown(report, i, row->wasted, sums->wasted))
            break;
        if (!is_local)
            g2h_capacities_declaration(report->findings->waste.capacities, row->declaration, &name);
        PUT(page, "<>  %9b{wasted}%9n{*} × %s{place}", row->wasted, row->count, counted,
            is_local ? bytes_of("(local variables)") : report_made(&name));
        put_size(page, row);
        PUT(page, "</>");
    }
    page->out.failed |= name.failed;
    PUT(page, "[/]</>");
}

static void put_maps(const struct report *report, const struct waste_rows *maps)
{
    const struct waste_row *sums = &maps->sums;
    const bool is_much = report_is_much(report, sums->wasted + sums->empty_size);
    struct page *page = report->page;
    _cleanup_(g2h_text_deinit) struct g2h_text name = {0};
    if (maps->list.count == 0)
        return;
    PUT_IF(is_much, page,
           "<maps>  maps     %b{wasted} in free slots: %n{maps} maps use %n{used} of %n{slots}",
           sums->wasted, sums->count, sums->used, sums->all);
    PUT_IF(is_much && sums->empty > 0, page, "; %n{empty} are empty, of %b{empty_bytes}",
           sums->empty, sums->empty_size);
    if (sums->unknown > 0)
        PUT_IF(is_much, page,
               "; not counted: %n{entries_not_counted} entries in arrays that the dump lacks",
               sums->unknown);
    PUT_IF(is_much, page, "\n|%b{bytes}|[types]", sums->bytes);
    for (size_t i = 0; i < maps->list.count; i++) {
        const struct waste_row *row = &maps->list.data[i];
        if (!page->is_json && !report_is_shown(report, i, row->wasted, sums->wasted))
            break;
        g2h_capacities_declaration(report->findings->waste.capacities, row->declaration, &name);
        PUT(page, "<>  %9b{wasted}%9n{maps} × %s{type}, %n{used} of %n{slots} slots used",
            row->wasted, row->count, report_made(&name), row->used, row->all);
        if (row->empty > 0)
            PUT(page, ", %n empty", row->empty);
        if (row->unknown > 0)
            PUT(page, "; %n{entries_not_counted} entries not counted", row->unknown);
        PUT(page, "\n|%b{bytes}%n{empty}%b{empty_bytes}|</>", row->bytes, row->empty,
            row->empty_size);
    }
    page->out.failed |= name.failed;
    PUT(page, "[/]</>");
}

static void put_equals(const struct report *report, const struct equals *equals)
{
    struct page *page = report->page;
    _cleanup_(g2h_text_deinit) struct g2h_text text = {0};
    if (equals->count == 0)
        return;
    PUT_IF(report_is_much(report, equals->wasted), page,
           "<strings>  strings  %b{wasted} in equal ones: %n{different} of %n{count} differ, of "
           "%b{bytes}\n[texts]",
           equals->wasted, equals->different, equals->count, equals->bytes);
    for (size_t i = 0; i < equals->list.count; i++) {
        const struct equal *equal = &equals->list.data[i];
        size_t size;
        if (!report_is_shown(report, i, equal_waste(equal), equals->wasted))
            break;
        const char *data = g2h_view_text(report->findings->view, equal->node, &text, &size);
        PUT(page,
            page->hides_texts ? "<>  %9b{wasted}%9n{count} × \"%.*s\"\n</>"
                              : "<>  %9b{wasted}%9n{count} × \"%.*s{text}\"\n</>",
            equal_waste(equal), equal->count, LONGEST,
            ((struct g2h_bytes){(const uint8_t *)data, size}));
    }
    page->out.failed |= text.failed;
    PUT(page, "[/]</>");
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
static void put_pinned(const struct report *report, const struct pinned *sums)
{
    if (sums->arrays == 0)
        return;
    PUT(report->page,
        "<pinned>  arrays   %b{wasted} in elements that nothing refers to, in %n{arrays} arrays of "
        "%b{bytes}\n[types]",
        sums->wasted, sums->arrays, sums->bytes);
    for (size_t i = 0; i < report->suspects->count; i++) {
        const struct suspect *suspect = &report->suspects->list[i].suspect;
        if (suspect->pinned.arrays > 0)
            PUT(report->page, "<>  %9b{wasted}%9n{arrays} × %s{type}\n</>", suspect->pinned.wasted,
                suspect->pinned.arrays, report_name(report, suspect->item));
    }
    PUT(report->page, "[/]</>");
}

struct g2h_error *report_put_waste(const struct report *report)
{
    const struct waste *waste = &report->findings->waste;
    const struct pinned pinned = sum_pinned(report);
    const uint64_t wasted = waste_all(waste) + pinned.wasted;
    const struct waste_row *slices = &waste->slices.sums;
    PUT(report->page, "<waste>");
    page_head(report->page, "WASTE");
    PUT(report->page, "   %b{wasted}, %.1p of what is reachable\n", wasted, wasted,
        report->findings->reachable);
    put_pinned(report, &pinned);
    put_places(report, &waste->stale, "stale", "objects",
               "  stale    %b{wasted} only in slots that no slice uses, in %n{objects} objects",
               " and what they retain\n");
    put_places(report, &waste->slices, "slices", "arrays",
               slices->outside > slices->wasted / 2
                   ? "  slices   %b{wasted} outside of what slices use, in %n{arrays} arrays"
                   : "  slices   %b{wasted} beyond their length, in %n{arrays} arrays",
               NULL);
    put_maps(report, &waste->maps);
    put_places(report, &waste->substrings, "substrings", "texts",
               "  strings  %b{wasted} beyond the part in use, in %n{texts} strings", NULL);
    put_equals(report, &waste->texts);
    report_put_fragmentation(report, &waste->fragmentation);
    report_put_layout(report, &waste->layout);
    PUT(report->page, "</>");
    return NULL;
}
