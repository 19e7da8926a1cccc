/*
 * report_waste: the sections of a report about unused memory; see sections.h and findings/waste.h.
 * The first part writes what rounding to size classes and padding between fields cost, the second
 * who keeps spans that are mostly free slots, the third free slots of maps, equal strings, unused
 * capacity of slices, and arrays that short slices keep. Each is a line of sums, and rows by type
 * that are a hundredth of it or more.
 */
#include "base/bytes.h"
#include "base/error.h"
#include "output/report/sections.h"

/* ==== the cost of rounding and padding; see sections.h and findings/waste.h ==== */

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

/* Reports rounding and padding, each if it is at least a hundredth of the heap, with the classes
 * that lose most. JSON has all. */
static void report_put_layout(const struct report *report, const struct layout_findings *layout)
{
    const struct layout_row *sums = &layout->sums;
    const uint64_t rounding = layout_rounding(sums);
    const uint64_t weight = layout_weight(sums);
    const uint64_t much = report->findings->reachable / 100; /* some of both is everywhere */
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

/* ==== spans that few objects keep, and what emptying their holder would give back ==== */

enum {
    LEAST_WASTED =
        1 << 20,  /* each of some hundred kinds of slots has one span that is being filled */
    MOST_PINS = 2 /* classes that a line names */
};

/* Reports the classes that pin the sparse spans of a row, as text MOST_PINS of them. */
static void put_pins(const struct report *report, const struct fragmentation *fragmentation,
                     uint64_t slot)
{
    struct page *page = report->page;
    unsigned shown = 0;
    PUT(page, "[classes]");
    VECTOR_EACH(const struct span_pin, pin, fragmentation->pins) {
        if (pin->slot == slot && (page->is_json || shown < MOST_PINS))
            PUT(page,
                shown++ == 0 ? "<>, pinned by %n{objects} %s{class} in %n{spans}</>"
                             : "<>, %n{objects} %s{class} in %n{spans}</>",
                pin->objects, report_class(report, pin->name), pin->spans);
    }
    PUT(page, "[/]");
}

/* Reports the free memory in spans that are less than SPAN_SPARSE percent full, by slot size, with
 * what keeps them. As text only if it is LEAST_WASTED, and a hundredth of the heap, or more. */
static void report_put_fragmentation(const struct report *report,
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

/* ---- who keeps free slots ---- */

/* Returns whether a node is several objects. */
static bool is_of_many(const struct report *report, uint32_t node)
{
    const struct merged_node *read = report_node(report, node);
    return read->kind == MERGED_CLASS && read->count != 1;
}

/* Appends the path to a holder. Of several objects, the path to one would say that it has what all
 * have: what has all of them is meant. Appends nothing if there is no path. */
static struct g2h_error *append_path_of(const struct report *report, uint32_t node,
                                        struct text *path)
{
    const struct findings *findings = report->findings;
    uint32_t end;
    if (is_of_many(report, node))
        TRY(who_append_holder_of_all(findings, node, path, &end));
    else
        TRY(path_append(findings->paths, report_node(report, node)->example, path, &end));
    TRY_MEMORY(!path->failed);
    return NULL;
}

/* Reports what a holder is called: the path to it, or else its own name. */
static void put_holder_name(const struct report *report, uint32_t node, const struct text *path)
{
    if (path->size > 0)
        PUT(report->page, "%.*s{held_by}", report->page->columns, path);
    else
        PUT(report->page, "%.*s{name}", report->page->columns, report_name(report, node));
}

/* Reports who shares spans: "main.a, main.b and 2 more". */
static struct g2h_error *put_sharers(const struct report *report, const struct pages_holder *holder)
{
    struct page *page = report->page;
    PUT(page, "[shared_by]");
    for (uint32_t i = 0; i < holder->sharer_count; i++) {
        _cleanup_(text_deinit) struct text path = {0};
        TRY(append_path_of(report, holder->sharers[i], &path));
        PUT(page, i == 0 ? "<>" : "<>, ");
        put_holder_name(report, holder->sharers[i], &path);
        PUT(page, "</>");
    }
    PUT(page, "[/]|%n{sharers}%f{is_sample}", holder->all_sharers, holder->is_sampled);
    if (holder->all_sharers > holder->sharer_count)
        PUT(page, holder->is_sampled ? " and at least %n more" : " and %n more",
            holder->all_sharers - holder->sharer_count);
    return NULL;
}

/* Reports a holder that shares its pages with none, and what it could be emptied of. */
static struct g2h_error *put_lone_holder(const struct report *report,
                                         const struct pages_holder *holder)
{
    const struct merged_node *item = report_node(report, holder->item);
    const bool is_many = is_of_many(report, holder->node);
    struct page *page = report->page;
    _cleanup_(text_deinit) struct text path = {0};
    TRY(append_path_of(report, holder->node, &path));
    if (is_many && path.size == 0) { /* several hold these objects together */
        PUT(page, "%b{free_slots} could be freed, too, without the %n{count} %s{class}",
            holder->sum.empty, item->count, report_name(report, holder->item));
        return NULL;
    }
    PUT(page, "%b{free_slots} could be freed, too, if ", holder->sum.empty);
    put_holder_name(report, holder->node, &path);
    PUT(page, " were emptied");
    if (holder->item != holder->node || is_many)
        PUT(page, " of %n{count} %s{class}", item->count, report_name(report, holder->item));
    return NULL;
}

/* Reports a holder: "72.7 MB could be freed, too, if main.index were emptied of 9,375 main.Req":
 * beside the objects that it holds. */
static struct g2h_error *put_holder(const struct report *report, const struct pages_holder *holder)
{
    struct page *page = report->page;
    if (holder->is_shared) {
        PUT(page,
            "%b{free_slots} only if all that share these pages were emptied: ", holder->sum.empty);
        TRY(put_sharers(report, holder));
    } else {
        TRY(put_lone_holder(report, holder));
    }
    PUT(page, "\n|%b{bytes}", holder->sum.bytes);
    return NULL;
}

/* Adds, in JSON only, what would be free without a node. */
void report_put_pages(const struct report *report, uint32_t node)
{
    const struct pages_sum sum = pages_of(&report->findings->pages, node);
    if (report->findings->pages.retained)
        PUT(report->page, "<pages>|%b{bytes}%b{free_slots}|</>", sum.bytes, sum.empty);
}

/* Writes who keeps spans of free slots. Nothing is written without pages, or if the view is of what
 * an object holds. Texts leave out holders of a small share; JSON has all. */
struct g2h_error *report_put_free_slots(const struct report *report)
{
    const struct pages *pages = &report->findings->pages;
    const struct pages_sum all = pages_all(pages);
    struct page *page = report->page;
    size_t shown = 0;
    if (!pages->retained || g2h_view_under(report->findings->view)) /* they are of the whole heap */
        return NULL;
    PUT(page, "<free_slots>|%b{bytes}%b{in}|[holders]", all.empty, all.bytes);
    for (size_t i = 0; i < pages->holders.count; i++) {
        if (!page->is_json &&
            !report_is_shown(report, i, pages->holders.data[i].sum.empty, all.empty))
            break;
        PUT(page, shown++ == 0 ? "<>  free slots  " : "<>              ");
        TRY(put_holder(report, &pages->holders.data[i]));
        PUT(page, "</>");
    }
    PUT(page, "[/]");
    if (shown > 0)
        PUT(page, "              the runtime returns what is free to the system within minutes, "
                  "debug.FreeOSMemory() at once\n");
    PUT(page, "</>");
    return NULL;
}

/* ==== unused memory ==== */

enum { LONGEST = 60 /* characters of a string that are shown */ };

/* Adds the size of a row's arrays or strings, if any; or, if slices use small parts of large
 * arrays, how much they use of each. */
static void put_size(struct page *page, const struct waste_row *row)
{
    const uint64_t bytes = row->bytes;
    const uint64_t count = row->count;
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

/* Adds a part of JSON (key) whose rows are declarations; counted is the key of what its rows count.
 * head is the template of its first line, and tail ends this line; NULL: the bytes of what is
 * counted do. Nothing if there are no rows. As text only if it is much. */
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

/* Reports free slots of maps and empty maps, by type. As text only if it is much. */
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

/* Reports equal strings, if there are any: how many differ, and those that waste most, cut to
 * LONGEST characters. */
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
            equal_waste(equal), equal->count, LONGEST, bytes_at(data, size));
    }
    page->out.failed |= text.failed;
    PUT(page, "[/]</>");
}

/* Sums up the pinned arrays of all suspects. */
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

/* Reports all kinds of waste, each if it is much; JSON has all. */
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
