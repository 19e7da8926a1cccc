/* report_fragmentation: spans that few objects keep; see sections.h and findings/fragmentation.h.
 */
#include "output/report/sections.h"

enum {
    LEAST_WASTED =
        1 << 20,  /* each of some hundred kinds of slots has one span that is being filled */
    MOST_PINS = 2 /* classes that a line names */
};

/* Reports the classes that pin the sparse spans of a row. */
static void put_pins(const struct report *report, const struct fragmentation *fragmentation,
                     uint64_t slot)
{
    struct page *page = report->page;
    unsigned shown = 0;
    page_open_list(page, "classes");
    for (size_t i = 0; i < fragmentation->pins.count; i++) {
        const struct span_pin *pin = &fragmentation->pins.data[i];
        if (pin->slot != slot || (!page->is_json && shown == MOST_PINS))
            continue;
        page_open(page, NULL);
        PAGE_PUT(page, shown++ == 0 ? ", pinned by % % in %" : ", % % in %",
                 page_count("objects", pin->objects), report_class(report, "class", pin->name),
                 page_count("spans", pin->spans));
        page_close(page);
    }
    page_close(page);
}

static void report_fragmentation_put_row(const struct report *report,
                                         const struct fragmentation *fragmentation,
                                         const struct span_row *row)
{
    struct page *page = report->page;
    page_open(page, NULL);
    PAGE_PUT(page, "  %% × spans of slots of % B, % full",
             page_wide(page_bytes("wasted", span_unused(&row->sparse)), 9),
             page_wide(page_count("spans", row->sparse.spans), 9), page_count("slot", row->slot),
             page_tenths(page_percent(row->sparse.live, row->sparse.bytes)));
    PAGE_DATA(page, page_bytes("bytes", row->sparse.bytes), page_bytes("live", row->sparse.live),
              page_count("objects", row->sparse.objects),
              page_bytes("below_tenth", span_unused(&row->empty)),
              page_count("all_spans", row->all.spans), page_bytes("all_bytes", row->all.bytes),
              page_count("all_objects", row->all.objects));
    put_pins(report, fragmentation, row->slot);
    page_close(page);
    page_say(page, "\n");
}

void report_put_fragmentation(const struct report *report,
                              const struct fragmentation *fragmentation)
{
    const struct span_row *sums = &fragmentation->sums;
    const uint64_t wasted = span_unused(&sums->sparse);
    struct page *page = report->page;
    const bool is_much = wasted >= LEAST_WASTED && wasted >= report->findings->reachable / 100;
    if (fragmentation->rows.count == 0)
        return;
    page_open(page, "spans");
    PAGE_PUT(page,
             is_much
                 ? "  spans    % free in % spans that are less than % full, % of it in spans less "
                   "than % full\n"
                 : NULL,
             page_bytes("wasted", wasted), page_count("spans", sums->sparse.spans),
             page_percent(1, SPAN_SPARSE), page_bytes("below_tenth", span_unused(&sums->empty)),
             page_percent(1, SPAN_EMPTY));
    PAGE_DATA(page, page_bytes("bytes", sums->sparse.bytes), page_bytes("live", sums->sparse.live),
              page_count("objects", sums->sparse.objects));
    page_open_list(page, "sizes");
    for (size_t i = 0; i < fragmentation->rows.count; i++) {
        const struct span_row *row = &fragmentation->rows.data[i];
        if (!page->is_json &&
            (!is_much || !report_is_shown(report, i, span_unused(&row->sparse), wasted)))
            break;
        report_fragmentation_put_row(report, fragmentation, row);
    }
    page_close(page);
    page_close(page);
}
