/* report_layout: the cost of rounding and padding; see sections.h and findings/struct_layout.h. */
#include "output/report/sections.h"

/* Reports "15 MB × 1,000,000 main.T, 33 B in slots of 48 B", or for objects of several sizes "1.2
 * MB × 500 []main.T, together 2.8 MB in slots of 4 MB". */
static void put_rounding(const struct report *report, const struct layout_findings *layout,
                         const struct layout_row *row)
{
    const struct g2h_layout_class class = g2h_layouts_class(layout->layouts, row->class);
    const bool is_each = !class.is_array && class.name != G2H_NAME_NONE;
    struct page *page = report->page;
    page_open(page, NULL);
    PAGE_PUT(page, "  %% × %, ", page_wide(page_bytes("wasted", layout_rounding(row)), 9),
             page_wide(page_count("objects", row->objects), 9),
             report_class(report, "class", class.name));
    if (is_each)
        PAGE_PUT(page, "% B in slots of % B", page_count(NULL, row->needed / row->objects),
                 page_count(NULL, row->slots / row->objects));
    else
        PAGE_PUT(page, "together % in slots of %", page_bytes(NULL, row->needed),
                 page_bytes(NULL, row->slots));
    PAGE_DATA(page, page_bytes("needed", row->needed), page_bytes("headers", row->headers),
              page_bytes("bytes", row->slots));
    page_close(page);
    page_say(page, "\n");
}

/* Reports "21 MB × 1,000,000 main.T, 21 of 48 B; reordering its fields saves 16 B each, 16 MB:
 * slots of 32 B instead of 48". */
static void put_padding(const struct report *report, const struct layout_findings *layout,
                        const struct layout_row *row)
{
    const struct g2h_layout_class class = g2h_layouts_class(layout->layouts, row->class);
    struct page *page = report->page;
    page_open(page, NULL);
    PAGE_PUT(page, "  %% × %, % of % B", page_wide(page_bytes("wasted", row->padding), 9),
             page_wide(page_count("objects", row->objects), 9),
             report_class(report, "class", class.name), page_count("padding", class.padding),
             page_count("size", class.size));
    PAGE_DATA(page, page_count("values", row->values), page_bytes("reordered", class.reordered),
              page_bytes("saved", row->saved));
    if (row->saved > 0 && class.is_array)
        PAGE_PUT(page, "; reordering its fields saves %", page_bytes(NULL, row->saved));
    else if (row->saved > 0)
        PAGE_PUT(page, "; reordering its fields saves % B each, %: slots of % B instead of %",
                 page_count(NULL, row->smallest - row->reordered), page_bytes(NULL, row->saved),
                 page_count(NULL, row->reordered), page_count(NULL, row->smallest));
    page_close(page);
    page_say(page, "\n");
}

/* Returns whether a line is worth it: some rounding and padding is everywhere. */
static bool is_much(const struct report *report, uint64_t wasted)
{
    return wasted > 0 && wasted >= report->findings->reachable / 100;
}

static void put_all_rounding(const struct report *report, const struct layout_findings *layout)
{
    const struct layout_row *sums = &layout->sums;
    const uint64_t wasted = layout_rounding(sums);
    struct page *page = report->page;
    page_open(page, "rounding");
    PAGE_PUT(page,
             is_much(report, wasted)
                 ? "  rounding % lost to size-class rounding, in % objects of %\n"
                 : NULL,
             page_bytes("wasted", wasted), page_count("objects", sums->objects),
             page_bytes("bytes", sums->slots));
    PAGE_DATA(page, page_bytes("needed", sums->needed), page_bytes("headers", sums->headers));
    page_open_list(page, "classes");
    for (size_t i = 0; i < layout->rounding.count; i++) {
        const struct layout_row *row = &layout->rounding.data[i];
        if (!page->is_json &&
            (!is_much(report, wasted) || !report_is_shown(report, i, layout_rounding(row), wasted)))
            break;
        put_rounding(report, layout, row);
    }
    page_close(page);
    page_close(page);
}

static void put_all_padding(const struct report *report, const struct layout_findings *layout)
{
    const struct layout_row *sums = &layout->sums;
    const uint64_t weight = layout_weight(sums);
    struct page *page = report->page;
    page_open(page, "padding");
    PAGE_PUT(page,
             is_much(report, weight)
                 ? "  padding  % between fields; reordering fields saves % of slots\n"
                 : NULL,
             page_bytes("wasted", sums->padding), page_bytes("saved", sums->saved));
    page_open_list(page, "classes");
    for (size_t i = 0; i < layout->padding.count; i++) {
        const struct layout_row *row = &layout->padding.data[i];
        if (!page->is_json &&
            (!is_much(report, weight) || !report_is_shown(report, i, layout_weight(row), weight)))
            break;
        put_padding(report, layout, row);
    }
    page_close(page);
    page_close(page);
}

void report_put_layout(const struct report *report, const struct layout_findings *layout)
{
    if (layout->sums.objects == 0)
        return;
    put_all_rounding(report, layout);
    put_all_padding(report, layout);
}
