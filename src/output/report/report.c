/*
 * report: a summary in text: how much memory there is, what is suspect and who holds it, goroutines
 * by their places, classes, the tree of retainers, waste.
 *
 * Each section shows what retains most, and counts what it does not show. Sizes are decimal, as in
 * DevTools. See docs/report.md.
 */
#include <string.h>

#include "base/option_size.h"
#include "base/scope.h"
#include "base/workers.h"
#include "output/report/report.h"
#include "output/report/sections.h"
#include "output/sink.h"

/* ---- the first lines ---- */

/* Reports the growth since the base: "since first.dump: +701 kB (+114 %), +12,314 objects, +60
 * goroutines". */
static void put_since(const struct report *report, bool is_other)
{
    const struct growth_totals *before = growth_totals(report->findings->base);
    const uint64_t objects = growth_count_held(report->findings->view),
                   goroutines = g2h_view_goroutine_count(report->findings->view);
    const int64_t bytes = (int64_t)(report->findings->reachable - before->reachable);
    PUT(report->page, "<since>since %s{source}%s: %d{reachable}|%f{is_other_build}|", before->name,
        is_other ? ", of another build" : "", bytes, is_other);
    if (before->reachable > 0)
        PUT(report->page, " (%s%p)", bytes < 0 ? "-" : "+",
            bytes < 0 ? -(uint64_t)bytes : (uint64_t)bytes, before->reachable);
    PUT(report->page, ", %c{objects} objects, %c{goroutines} goroutines\n</>",
        objects - before->objects, goroutines - before->goroutines);
}

/* Reports how the process ended whose heap was written then: "killed by the OOM killer at
 * 2026-11-27 13:05:35Z, with 629 MB resident, limit 629 MB". */
static void put_ending(const struct report *report)
{
    const struct g2h_ending *ending = g2h_heap_ending(g2h_view_heap(report->findings->view));
    char how[G2H_ENDING_WORDS], when[G2H_ENDING_TIME];
    if (!ending)
        return;
    g2h_ending_words(ending, how, when);
    PUT(report->page,
        "<ending>  %s{how} at %s{time}, with %b{resident} "
        "resident%s%?b{limit}\n|%n{status}%f{by_oom}%b{peak}|</>",
        how, when, ending->resident, ending->limit > 0 ? ", limit " : "", ending->limit > 0,
        ending->limit, ending->status, ending->by_oom, ending->peak);
}

void report_put_totals(const struct report *report, const char *name, bool is_base_other)
{
    const struct findings *findings = report->findings;
    const struct g2h_heap *heap = g2h_view_heap(findings->view);
    const struct g2h_view_account *account = g2h_view_account(findings->view);
    struct page *page = report->page;
    const char *version = g2h_heap_go_version(heap);
    PUT(page,
        "<heap>%s{source}   %s{go}   %b{bytes} in %n{objects} objects   %n{goroutines} goroutines\n"
        "  reachable %b{reachable}",
        name, *version ? version : "Go of an unknown version",
        findings->total - account->stack_bytes,
        g2h_heap_object_count(heap) - account->left_out_objects,
        g2h_view_goroutine_count(findings->view), findings->reachable);
    if (report_is_untouched(findings->untouched, findings->reachable))
        PUT(page, " (%b not resident)", findings->untouched);
    PUT(page, "|%b{not_resident}|", findings->untouched);
    if (account->stack_bytes > 0)
        PUT(page, " with %b{stacks} of stacks", account->stack_bytes);
    size_t all_types;
    const struct g2h_exe *exe = g2h_view_exe(findings->view);
    const size_t unfit_types = exe ? g2h_exe_unfit_types(exe, &all_types) : 0;
    if (unfit_types > 0)
        PUT(page, "|%n{types_left_out}|", (uint64_t)unfit_types);
    PUT(page, ", garbage %b{garbage}%s\n|%f{is_garbage_left_out}|</>",
        findings->garbage + account->left_out_bytes,
        account->left_out_objects > 0 ? ", left out" : "", account->left_out_objects > 0);
    put_ending(report);
    report_put_memory(report);
    if (findings->base)
        put_since(report, is_base_other);
}

/* ---- the whole report ---- */

struct report_work {
    struct findings *findings;
    const struct g2h_report_options *wanted;
    const char *source;
    struct page *pages;
    size_t count;
    struct who_suspects *suspects;
};

/* Returns whether the report is about one object or class only. */
static bool report_is_asked(const struct report_work *work)
{
    return work->wanted->path_to || work->wanted->show || work->wanted->by_label;
}

/* Returns whether the report omits details that are not needed at first. */
static bool is_short(const struct report_work *work)
{
    return work->wanted->is_short && !work->wanted->json && !report_is_asked(work);
}

/* Returns whether the report has a section. */
static bool report_has_section(const struct report_work *work, enum g2h_report_section section)
{
    return work->wanted->sections == 0 || !work->wanted->json ||
           (work->wanted->sections & section) != 0;
}

static struct g2h_error *put_sections(const struct report_work *work, const struct report *report)
{
    if (report_has_section(work, G2H_SECTION_SUSPECTS))
        TRY(report_put_suspects(report));
    if (report_has_section(work, G2H_SECTION_GOROUTINES))
        TRY(report_put_goroutines(report));
    if (is_short(work))
        return NULL;
    if (report_has_section(work, G2H_SECTION_CLASSES))
        TRY(report_put_classes(report));
    return report_has_section(work, G2H_SECTION_TREE) ? report_put_tree(report) : NULL;
}

/* Writes all sections except waste to a page. */
static struct g2h_error *put_page(const struct report_work *work, struct page *page)
{
    const struct report report = {work->findings, work->suspects, page};
    PUT(page, "<>|%s{format}%n{version}%?n{top}", "go2heapsnapshot report", REPORT_VERSION,
        page->top > 0, page->top);
    report_put_totals(&report, work->source, work->wanted->is_base_other);
    if (work->wanted->by_label)
        return report_put_labels(&report, work->wanted->by_label);
    if (work->wanted->path_to)
        return report_put_path(&report, work->wanted->path_to);
    return work->wanted->show ? report_put_shown(&report, work->wanted->show)
                              : put_sections(work, &report);
}

static struct g2h_error *report_put_most(void *context)
{
    struct report_work *work = context;
    TRY(findings_merge(work->findings));
    if (!report_is_asked(work)) {
        TRY(allocated_find(&work->findings->merged, &work->findings->allocated));
        TRY(who_find(work->findings, work->suspects));
    }
    for (size_t i = 0; i < work->count; i++)
        TRY(put_page(work, &work->pages[i]));
    return NULL;
}

static struct g2h_error *find_waste(void *context)
{
    struct report_work *work = context;
    return waste_find(work->findings, &work->findings->waste);
}

/* Writes the whole report. Much of the work runs on one thread only, so two steps run in
 * parallel. */
struct g2h_error *report_make(struct findings *findings, const struct g2h_report_options *wanted,
                              const char *source, struct page *pages, size_t count,
                              struct who_suspects *suspects)
{
    struct report_work work = {findings, wanted, source, pages, count, suspects};
    const bool has_waste = g2h_view_is_typed(findings->view) && !report_is_asked(&work) &&
                           !is_short(&work) && report_has_section(&work, G2H_SECTION_WASTE);
    TRY(findings_begin(findings, has_waste));
    TRY(has_waste ? workers_beside(findings->threads, report_put_most, find_waste, &work)
                  : report_put_most(&work));
    for (size_t i = 0; i < count; i++) {
        const struct report report = {findings, suspects, &pages[i]};
        if (has_waste)
            TRY(report_put_waste(&report));
        page_fit(&pages[i]);
        if (is_short(&work) && wanted->command) /* commands are not cut */
            TRY(report_put_next(&report, wanted->command));
        page_close(&pages[i]);
        TRY_MEMORY(!pages[i].out.failed);
    }
    return NULL;
}

struct g2h_error *g2h_write_report(const struct g2h_view *view,
                                   const struct g2h_dominators *dominators,
                                   const struct g2h_output_options *given)
{
    struct g2h_output_options known;
    struct g2h_report_options known_report;
    const struct g2h_output_options *options = OPTIONS_COPY(&known, given);
    const struct g2h_report_options *wanted = OPTIONS_COPY(&known_report, options->report);
    _cleanup_(findings_deinit) struct findings findings = {
        .view = view,
        .dominators = dominators,
        .base = wanted->base,
        .memory = options->memory,
        .threads = options->threads > 0 ? options->threads : workers_available()};
    _cleanup_(who_suspects_deinit) struct who_suspects suspects = {.count = 0};
    _cleanup_(page_deinit) struct page page;
    page_begin(wanted, &page);
    TRY(report_make(&findings, wanted, options->source ? options->source : "", &page, 1,
                    &suspects));
    return sink_text(options, &page.out);
}
