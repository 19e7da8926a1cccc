/* parts: names as fields, lines that several sections have, and thresholds for lines; see
 * sections.h. */
#include "base/bytes.h"
#include "base/scope.h"
#include "findings/goroutines.h"
#include "output/report/sections.h"

struct g2h_bytes report_class(const struct report *report, uint32_t name)
{
    size_t size;
    const char *text = g2h_view_name(report->findings->view, name, &size);
    return name == G2H_NAME_NONE ? bytes_of("(string)") : report_bytes(text, size);
}

struct g2h_bytes report_name(const struct report *report, uint32_t node)
{
    size_t size;
    const char *name = merged_name(&report->findings->merged, node, &size);
    return report_bytes(name, size);
}

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
        "%s            %s run one after the other, and this one has not "
        "returned\n|%s{function}|</>",
        indent, report_bytes(name, size), indent, blocker.runs,
        report_bytes(blocker.function, blocker.function_size));
}

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

bool report_is_much(const struct report *report, uint64_t wasted)
{
    return wasted > 0 && wasted >= report->findings->reachable / 1000;
}

bool report_is_shown(const struct report *report, size_t line, uint64_t wasted, uint64_t all)
{
    return wasted > 0 &&
           (report->page->is_json || (line < report_rows(report, REPORT_LINES) &&
                                      wasted >= all / 100 && report_is_much(report, wasted)));
}
