/* parts: names as fields, lines that several sections have, and thresholds for lines; see
 * sections.h. */
#include "base/bytes.h"
#include "base/scope.h"
#include "findings/finalized.h"
#include "output/report/sections.h"

void report_append_name(const struct report *report, uint32_t node, struct text *text)
{
    size_t size;
    const char *name = merged_name(&report->findings->merged, node, &size);
    text_append(text, name, size);
}

struct page_field report_class(const struct report *report, const char *key, uint32_t name)
{
    size_t size;
    const char *text = g2h_view_name(report->findings->view, name, &size);
    return name == G2H_NAME_NONE ? page_words(key, "(string)") : page_text(key, text, size);
}

struct page_field report_name(const struct report *report, const char *key, uint32_t node)
{
    size_t size;
    const char *name = merged_name(&report->findings->merged, node, &size);
    return page_text(key, name, size);
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
    struct page *page = report->page;
    const struct page_field in = page_made("within", &within);
    page_open(page, "allocated_by");
    PAGE_PUT(page, is_line ? "      allocated by % %:% (% of % samples)" : NULL,
             page_made("function", &function), page_made("file", &file),
             page_count("line", call->line), page_count("samples", allocator->samples),
             page_count("of", allocator->of));
    if (within.size > 0)
        PAGE_PUT(page, is_line ? ", in %" : NULL, in);
    page_close(page);
    if (is_line)
        page_say(page, "\n");
    return NULL;
}

/* Reports which goroutine keeps a finalizer or a cleanup from being run, if any does. */
static void put_blocker(const struct report *report, uint32_t node, const char *indent)
{
    struct finalized_blocker blocker;
    struct page *page = report->page;
    size_t size;
    finalized_find_blocker(report->findings, node, &blocker);
    if (blocker.goroutine == UINT32_MAX)
        return;
    const char *name = findings_name_of(report->findings->view, blocker.goroutine, &size);
    page_open(page, "blocked_by");
    page_say(page, indent);
    PAGE_PUT(page, "blocked by  %:\n", page_text("goroutine", name, size));
    page_say(page, indent);
    PAGE_PUT(page, "            % run one after the other, and this one has not returned\n",
             page_words(NULL, blocker.runs));
    PAGE_DATA(page, page_text("function", blocker.function, blocker.function_size));
    page_close(page);
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
    page_say(report->page, indent);
    PAGE_PUT(report->page,
             reason == FINALIZED_BY_CLEANUP ? "never freed %, so the cleanup never runs\n"
                                            : "never freed %, so the finalizer never runs\n",
             page_words("never_freed", reasons[reason]));
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
