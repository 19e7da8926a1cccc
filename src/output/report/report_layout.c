/* report_layout: the cost of rounding and padding; see sections.h and findings/struct_layout.h. */
#include "output/report/sections.h"

/* Reports "15 MB × 1,000,000 main.T, 33 B in slots of 48 B", or for objects of several sizes "1.2
 * MB × 500 []main.T, together 2.8 MB in slots of 4 MB". */
static void put_rounding(const struct report *report, const struct layout_findings *layout,
                         const struct layout_row *row)
{
    const struct g2h_layout_class class = g2h_layouts_class(layout->layouts, row->class);
    struct page *page = report->page;
    PUT(page, "<>  %9b{wasted}%9n{objects} × %s{class}, ", layout_rounding(row), row->objects,
        report_class(report, class.name));
    if (!class.is_array && class.name != G2H_NAME_NONE)
        PUT(page, "%n B in slots of %n B", row->needed / row->objects, row->slots / row->objects);
    else
        PUT(page, "together %b in slots of %b", row->needed, row->slots);
    PUT(page, "\n|%b{needed}%b{headers}%b{bytes}|</>", row->needed, row->headers, row->slots);
}

/* Reports "21 MB × 1,000,000 main.T, 21 of 48 B; reordering its fields saves 16 B each, 16 MB:
 * slots of 32 B instead of 48". */
static void put_padding(const struct report *report, const struct layout_findings *layout,
                        const struct layout_row *row)
{
    const struct g2h_layout_class class = g2h_layouts_class(layout->layouts, row->class);
    struct page *page = report->page;
    PUT(page,
        "<>  %9b{wasted}%9n{objects} × %s{class}, %n{padding} of %n{size} "
        "B|%n{values}%b{reordered}%b{saved}",
        row->padding, row->objects, report_class(report, class.name), class.padding, class.size,
        row->values, class.reordered, row->saved);
    if (row->saved > 0 && class.is_array)
        PUT(page, "; reordering its fields saves %b", row->saved);
    else if (row->saved > 0)
        PUT(page, "; reordering its fields saves %n B each, %b: slots of %n B instead of %n",
            row->smallest - row->reordered, row->saved, row->reordered, row->smallest);
    PUT(page, "\n</>");
}

void report_put_layout(const struct report *report, const struct layout_findings *layout)
{
    const struct layout_row *sums = &layout->sums;
    const uint64_t rounding = layout_rounding(sums), weight = layout_weight(sums),
                   much = report->findings->reachable / 100; /* some of both is everywhere */
    struct page *page = report->page;
    if (sums->objects == 0)
        return;
    const bool is_rounded = rounding > 0 && rounding >= much,
               is_padded = weight > 0 && weight >= much;
    PUT_IF(is_rounded, page,
           "<rounding>  rounding %b{wasted} lost to size-class rounding, in %n{objects} objects of "
           "%b{bytes}\n"
           "|%b{needed}%b{headers}|[classes]",
           rounding, sums->objects, sums->slots, sums->needed, sums->headers);
    for (size_t i = 0; i < layout->rounding.count; i++) {
        const struct layout_row *row = &layout->rounding.data[i];
        if (!page->is_json &&
            (!is_rounded || !report_is_shown(report, i, layout_rounding(row), rounding)))
            break;
        put_rounding(report, layout, row);
    }
    PUT_IF(is_padded, page,
           "[/]</><padding>  padding  %b{wasted} between fields; reordering fields saves %b{saved} "
           "of slots\n[classes]",
           sums->padding, sums->saved);
    for (size_t i = 0; i < layout->padding.count; i++) {
        const struct layout_row *row = &layout->padding.data[i];
        if (!page->is_json &&
            (!is_padded || !report_is_shown(report, i, layout_weight(row), weight)))
            break;
        put_padding(report, layout, row);
    }
    PUT(page, "[/]</>");
}
