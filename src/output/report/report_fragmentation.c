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
    PUT(page, "[classes]");
    for (size_t i = 0; i < fragmentation->pins.count; i++) {
        const struct span_pin *pin = &fragmentation->pins.data[i];
        if (pin->slot == slot && (page->is_json || shown < MOST_PINS))
            PUT(page,
                shown++ == 0 ? "<>, pinned by %n{objects} %s{class} in %n{spans}</>"
                             : "<>, %n{objects} %s{class} in %n{spans}</>",
                pin->objects, report_class(report, pin->name), pin->spans);
    }
    PUT(page, "[/]");
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
    PUT_IF(is_much, page,
           "<spans>  spans    %b{wasted} free in %n{spans} spans that are less than %p full, "
           "%b{below_tenth} of it in "
           "spans less than %p full\n|%b{bytes}%b{live}%n{objects}|[sizes]",
           wasted, sums->sparse.spans, 1, SPAN_SPARSE, span_unused(&sums->empty), 1, SPAN_EMPTY,
           sums->sparse.bytes, sums->sparse.live, sums->sparse.objects);
    for (size_t i = 0; i < fragmentation->rows.count; i++) {
        const struct span_row *row = &fragmentation->rows.data[i];
        if (!page->is_json &&
            (!is_much || !report_is_shown(report, i, span_unused(&row->sparse), wasted)))
            break;
        PUT(page,
            "<>  %9b{wasted}%9n{spans} × spans of slots of %n{slot} B, %.1p full"
            "|%b{bytes}%b{live}%n{objects}%b{below_tenth}%n{all_spans}%b{all_bytes}%n{all_objects}",
            span_unused(&row->sparse), row->sparse.spans, row->slot, row->sparse.live,
            row->sparse.bytes, row->sparse.bytes, row->sparse.live, row->sparse.objects,
            span_unused(&row->empty), row->all.spans, row->all.bytes, row->all.objects);
        put_pins(report, fragmentation, row->slot);
        PUT(page, "\n</>");
    }
    PUT(page, "[/]</>");
}
