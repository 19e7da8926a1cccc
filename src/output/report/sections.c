/*
 * sections: lines and names that several sections of the report have in common; see sections.h:
 * names as fields of a template, the call that allocated, a finalizer that keeps an object,
 * thresholds from which on a line is worth showing, and the line about ages.
 */
#include "output/report/sections.h"

#include "base/bytes.h"
#include "base/error.h"
#include "findings/goroutines.h"

/* ==== names as fields, lines that several sections have, and thresholds for lines ==== */

/* Returns a class by its name in the view, which may be G2H_NAME_NONE: the contents of strings. */
struct g2h_bytes report_class(const struct report *report, uint32_t name)
{
    size_t size;
    const char *text = g2h_view_name(report->findings->view, name, &size);
    return name == G2H_NAME_NONE ? bytes_of("(string)") : report_bytes(text, size);
}

/* Returns the name of a node of merged. */
struct g2h_bytes report_name(const struct report *report, uint32_t node)
{
    size_t size;
    const char *name = merged_name(&report->findings->merged, node, &size);
    return report_bytes(name, size);
}

/* Writes who allocated objects. As text only if is_line. Says of how many samples the call is
 * known. */
struct g2h_error *report_put_allocator(const struct report *report,
                                       const struct allocator *allocator, bool is_line)
{
    _cleanup_(text_deinit) struct text function = {0}, file = {0}, within = {0};
    const struct allocating_call *call = &allocator->call;
    const struct g2h_bytes base = bytes_base_name(call->file);
    text_append_utf8(&function, call->function.data, call->function.size, SIZE_MAX);
    text_append_utf8(&file, base.data, base.size, SIZE_MAX);
    text_append_utf8(&within, allocator->within.data, allocator->within.size, SIZE_MAX);
    TRY_MEMORY(!function.failed && !file.failed && !within.failed);
    PUT_IF(is_line, report->page,
           "<allocated_by>      allocated by %s{function} %s{file}:%n{line} (%n{samples} of %n{of} "
           "samples",
           &function, &file, call->line, allocator->samples, allocator->of);
    if (allocator->samples < allocator->of)
        PUT_IF(is_line, report->page, ", %p of their bytes", allocator->bytes, allocator->bytes_of);
    PUT(report->page, "|%b{bytes}%b{bytes_of}", allocator->bytes, allocator->bytes_of);
    PUT_IF(is_line, report->page, ")");
    if (within.size > 0)
        PUT_IF(is_line, report->page, ", in %s{within}", &within);
    PUT_IF(is_line, report->page, "\n</>");
    return NULL;
}

/* Reports which goroutine keeps a finalizer or a cleanup from being run, if any does. */
static void put_blocker(const struct report *report, uint32_t node, const char *indent)
{
    struct finalized_blocker blocker;
    size_t size;
    finalized_find_blocker(report->findings, node, &blocker);
    if (blocker.goroutine == UINT32_MAX)
        return;
    const char *name = findings_name_of(report->findings->view, blocker.goroutine, &size);
    PUT(report->page,
        "<blocked_by>%sblocked by  %s{goroutine}:\n"
        "%s            %s, and this one has not returned\n|%s{function}|</>",
        indent, report_bytes(name, size), indent, blocker.how,
        report_bytes(blocker.function, blocker.function_size));
}

/* Reports a finalizer or cleanup that holds an object. Says why the finalizer or cleanup never
 * runs, or what keeps it from running. */
struct g2h_error *report_put_finalized(const struct report *report, uint32_t node,
                                       const char *indent)
{
    static const char *const reasons[] = {
        [FINALIZED_SELF] = "the object with the finalizer reaches itself",
        [FINALIZED_BY_FUNCTION] = "the finalizer's function reaches the object",
        [FINALIZED_BY_CLEANUP] = "the cleanup's function or argument reaches the object"};
    enum finalized reason;
    TRY(finalized_find(report->findings, node, &reason));
    if (reason == FINALIZED_CAN_RUN) {
        put_blocker(report, node, indent);
        return NULL;
    }
    PUT(report->page, "%snever freed %s{never_freed}, so the %s never runs\n", indent,
        reasons[reason], reason == FINALIZED_BY_CLEANUP ? "cleanup" : "finalizer");
    return NULL;
}

/* Returns whether parts of the heap are missing: the end of a dump, objects, or memory. */
bool report_lacks_memory(const struct report *report)
{
    const struct g2h_heap *heap = g2h_view_heap(report->findings->view);
    const struct g2h_account *account = g2h_heap_account(heap);
    return g2h_heap_damage(heap) || account->misplaced > 0 || account->overlapping > 0 ||
           account->missing_bytes > 0 || account->missing_objects > 0 || account->missing_spans > 0;
}

/* Returns whether waste is worth a line outside of JSON: a thousandth of the heap. */
bool report_is_much(const struct report *report, uint64_t wasted)
{
    return wasted > 0 && wasted >= report->findings->reachable / 1000;
}

/* Returns whether a row is shown. As text: the first REPORT_LINES rows, each at least a hundredth
 * of all, and much. JSON: all. */
bool report_is_shown(const struct report *report, size_t line, uint64_t wasted, uint64_t all)
{
    return wasted > 0 &&
           (report->page->is_json || (line < report_rows(report, REPORT_LINES) &&
                                      wasted >= all / 100 && report_is_much(report, wasted)));
}

/* ==== the line about how old objects are, of a suspect and of what grows ==== */

/* Appends how many objects a leak adds: "41 a second", or "3.0 a minute", or "2.0 an hour". */
static void append_rate(struct text *text, double per_second)
{
    static const struct {
        const char *name;
        double seconds;
    } units[] = {{"a second", 1}, {"a minute", 60}, {"an hour", 3600}};
    enum { LAST = COUNT_OF(units) - 1, SHORT = 10 };
    size_t i = 0;
    while (i < LAST && per_second * units[i].seconds < 1)
        i++;
    const double rate = per_second * units[i].seconds;
    text_printf(text, "%.*f %s", rate < SHORT ? 1 : 0, rate, units[i].name);
}

/* Returns whether a line says something of objects' ages. */
static bool says_age(enum ages_verdict verdict)
{
    return verdict != AGES_UNKNOWN && verdict != AGES_FEW;
}

/* Says what the ages of objects mean, in the words for the verdict, with the numbers that it was
 * made from. rate is that of the growth, in words. */
static void put_verdict(struct page *page, const struct ages_found *found, const struct text *rate)
{
    static const char unless[] = ", unless it is a cache that still fills";
    const uint64_t before = found->before;
    const uint64_t count = found->count;
    const uint64_t seconds = found->seconds;
    const uint64_t rest = found->born + found->young;
    switch (found->verdict) {
    case AGES_ONE_LOOK:
        if (before == count)
            PUT(page, "all survived the last collection\n");
        else
            PUT(page, "%n of %n survived the last collection\n", before, count);
        break;
    case AGES_FEW_LOOKS:
        PUT(page, "%n collections in %n s are too few to tell: --ages 5m\n", found->seen, seconds);
        break;
    case AGES_LEAKS:
        PUT(page, "%n of %n over %n s, evenly spread: leaks %s%s\n", before, count, seconds, rate,
            unless);
        break;
    case AGES_REPLACED:
        PUT(page,
            "%n of %n over %n s, evenly spread, but as many old ones end: "
            "bounded\n",
            before, count, seconds);
        break;
    case AGES_UNCLEAR:
        PUT(page,
            "%n of %n over %n s, evenly spread, but old objects of this size "
            "end, "
            "too: no verdict\n",
            before, count, seconds);
        break;
    case AGES_BOUNDED:
        if (before == 0)
            PUT(page, "none over %n s: bounded\n", found->oldest);
        else
            PUT(page, "%n of %n over %n s: bounded\n", before, count, seconds);
        break;
    case AGES_OTHERS:
        PUT(page, "none over %n s, but others of this size end, too: no verdict\n", found->oldest);
        break;
    case AGES_BEGUN:
        PUT(page, "none over %n s, evenly spread since: leaks %s%s\n", found->oldest, rate, unless);
        break;
    case AGES_SHORT:
        PUT(page, "none over %n s, which is too few collections: no verdict\n", found->oldest);
        break;
    case AGES_MOMENT:
        PUT(page, "%n of %n of one moment, %n s ago or less: built at once\n", found->born, count,
            found->oldest);
        break;
    case AGES_START:
        if (rest == 0)
            PUT(page, "all from the start, over %n s\n", seconds);
        else
            PUT(page, "all but %n from the start, over %n s\n", rest, seconds);
        break;
    case AGES_YOUNG:
        PUT(page, "%n of %n are new since the last collection\n", found->young, count);
        break;
    case AGES_MIXED:
        PUT(page, "%n of %n over %n s, neither evenly spread nor cut off: no verdict\n", before,
            count, seconds);
        break;
    case AGES_UNKNOWN:
    case AGES_FEW:
        break;
    }
}

/* Reports since when the objects of a suspect live, if that is known. */
void report_put_age(struct page *page, const char *head, struct g2h_bytes class,
                    const struct ages_found *found)
{
    _cleanup_(text_deinit) struct text rate = {0};
    if (found->verdict == AGES_UNKNOWN)
        return;
    append_rate(&rate, found->per_second);
    page->out.failed |= rate.failed;
    PUT(page, "<age>|%s{verdict}|", ages_word(found->verdict));
    PUT_IF(says_age(found->verdict), page, "%s", head);
    if (class.size > 0)
        PUT_IF(says_age(found->verdict), page, "%s{class}: ", class);
    put_verdict(page, found, &rate);
    PUT(page,
        "|%n{objects}%n{before}%n{born}%n{young}%n{seconds}%n{oldest}%n{per_hour}%n{collections}"
        "%n{missed}",
        found->count, found->before, found->born, found->young, found->seconds, found->oldest,
        (uint64_t)(found->per_second * 3600 + 0.5), found->seen, found->missed);
    PUT(page, "[spread]");
    for (unsigned i = 0; i < AGES_BINS && found->verdict > AGES_ONE_LOOK; i++)
        PUT(page, "|<>%n{born}</>", found->bins[i]);
    PUT(page, "[/]</>");
}
