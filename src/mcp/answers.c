/* answers; see answers.h. */
#include "mcp/answers.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/scope.h"
#include "base/workers.h"
#include "exe/exe.h"
#include "findings/class_rows.h"
#include "findings/lookup.h"
#include "output/report/report.h"
#include "output/report/sections.h"

struct answers {
    struct answers_options options;
    struct findings findings; /* without the base, so that suspects are by size */
    struct who_suspects suspects;
    struct findings grown; /* the same with the base, so that they are by growth; its view is NULL
                            * without a base */
    struct who_suspects growing;
    struct held held;
    struct class_rows classes; /* of findings */
};

/* ---- the kept heap ---- */

/* Computes the findings about growth, which share everything but the growth with the others. */
static struct g2h_error *answers_find_growth(struct answers *answers)
{
    if (!answers->options.base)
        return NULL;
    answers->grown = answers->findings;
    answers->grown.base = answers->options.base;
    answers->grown.growth = (growth_vector){0};
    TRY(growth_find(answers->options.base, &answers->findings.merged, &answers->grown.growth));
    return who_find(&answers->grown, &answers->growing);
}

struct g2h_error *answers_create(const struct answers_options *options, struct answers **ret)
{
    struct answers *answers = *ret = calloc(1, sizeof(*answers));
    const struct g2h_report_options report = {.size = sizeof(report), .json = true};
    TRY_MEMORY(answers);
    answers->options = *options;
    answers->findings =
        (struct findings){.view = options->view,
                          .memory = options->memory,
                          .threads = options->threads > 0 ? options->threads : workers_available()};
    TRY(report_make(&answers->findings, &report, options->source, NULL, 0, &answers->suspects));
    TRY(held_make(&answers->findings, &answers->held));
    TRY(class_rows_find(&answers->findings, false, &answers->classes));
    return answers_find_growth(answers);
}

void answers_destroy(struct answers **ret)
{
    struct answers *answers = *ret;
    if (!answers)
        return;
    free(answers->grown.growth.data);
    who_suspects_deinit(&answers->growing);
    who_suspects_deinit(&answers->suspects);
    class_rows_deinit(&answers->classes);
    held_deinit(&answers->held);
    findings_deinit(&answers->findings);
    free(answers);
}

bool answers_has_values(const struct answers *answers)
{
    return answers->options.has_values;
}

struct g2h_error *answers_check(const struct answers *answers)
{
    const struct g2h_exe *exe = answers->options.exe;
    TRY(g2h_input_check(answers->options.input));
    return exe ? exe_check_inputs(exe) : NULL;
}

/* Begins a page with an answer, about growth if there is a base and grown is set. */
static struct report answers_begin(const struct answers *answers, bool grown, struct page *page)
{
    const bool has_base = grown && answers->options.base;
    page_open(page, NULL);
    return has_base ? (struct report){&answers->grown, &answers->growing, page}
                    : (struct report){&answers->findings, &answers->suspects, page};
}

/* ---- answers that are sections of the report ---- */

struct g2h_error *answers_summary(struct answers *answers, const char *asked, struct page *page)
{
    const struct report report = answers_begin(answers, true, page);
    const struct g2h_view *view = answers->options.view;
    (void)asked;
    report_put_totals(&report, answers->options.source, answers->options.is_base_other);
    page_open(page, "server");
    PUT(page, "%n{classes}%f{has_types}%f{has_values}%f{has_base}%f{is_redacted}",
        answers->classes.list.count, g2h_view_is_typed(view), answers->options.has_values,
        answers->options.base != NULL, g2h_view_is_redacted(view));
    page_close(page);
    page_close(page);
    return NULL;
}

struct g2h_error *answers_suspects(struct answers *answers, const char *asked, struct page *page)
{
    const struct report report = answers_begin(answers, false, page);
    (void)asked;
    TRY(report_put_suspects(&report));
    page_close(page);
    return NULL;
}

struct g2h_error *answers_growth(struct answers *answers, const char *asked, struct page *page)
{
    const struct report report = answers_begin(answers, true, page);
    (void)asked;
    TRY(report_put_suspects(&report));
    TRY(report_put_classes(&report));
    page_close(page);
    return NULL;
}

struct g2h_error *answers_classes(struct answers *answers, const char *asked, struct page *page)
{
    const struct report report = answers_begin(answers, true, page);
    (void)asked;
    TRY(report_put_classes(&report));
    page_close(page);
    return NULL;
}

struct g2h_error *answers_path(struct answers *answers, const char *asked, struct page *page)
{
    const struct report report = answers_begin(answers, true, page);
    TRY(report_put_path(&report, asked));
    page_close(page);
    return NULL;
}

struct g2h_error *answers_show(struct answers *answers, const char *asked, struct page *page)
{
    const struct report report = answers_begin(answers, true, page);
    TRY(report_put_shown(&report, asked));
    page_close(page);
    return NULL;
}

struct g2h_error *answers_goroutines(struct answers *answers, const char *asked, struct page *page)
{
    const struct report report = answers_begin(answers, true, page);
    (void)asked;
    TRY(report_put_goroutines(&report));
    page_close(page);
    return NULL;
}

struct g2h_error *answers_waste(struct answers *answers, const char *asked, struct page *page)
{
    static const char *const kinds[] = {"slices", "stale",    "maps",    "substrings", "strings",
                                        "spans",  "rounding", "padding", "pinned"};
    const struct report report = answers_begin(answers, false, page);
    bool is_kind = !asked;
    for (size_t i = 0; asked && i < sizeof(kinds) / sizeof(*kinds); i++)
        is_kind |= strcmp(asked, kinds[i]) == 0;
    if (!is_kind)
        return error_create(G2H_ERROR_NOT_FOUND,
                            "'%s' is not a kind of waste; there are slices, stale, maps, "
                            "substrings, strings, spans, rounding, padding and pinned",
                            asked);
    if (!g2h_view_is_typed(answers->options.view))
        return error_create(G2H_ERROR_NOT_FOUND,
                            "without types it is not known what is waste: --exe gives them");
    page->only = asked;
    TRY(report_put_waste(&report));
    page_close(page);
    return NULL;
}

/* ---- objects of a class ---- */

/* Adds the objects of a class. There may be millions, so only those on the page are read. */
static void answers_put_objects(const struct answers *answers, struct page *page,
                                const uint32_t *nodes, size_t count)
{
    const struct findings *findings = &answers->findings;
    size_t at = page->window.first < count ? page->window.first : count;
    page_open_list(page, "instances");
    page_pass(page, at);
    for (; at < count && page->window.next == 0; at++) {
        struct g2h_node node;
        if (page->limits.rows > 0 && at >= page->limits.rows)
            break;
        g2h_view_brief(findings->view, nodes[at], &node);
        page_open(page, NULL);
        PUT(page, "%a{address}%b{bytes}%b{retained}", node.address, node.size,
            g2h_dominators_retained_size(findings->dominators, nodes[at]));
        if (findings_is_dead(findings->view, nodes[at]))
            PUT(page, "%f{is_garbage}", true);
        page_close(page);
    }
    page_add_missing(page, count - at);
    page_close(page);
}

struct g2h_error *answers_instances(struct answers *answers, const char *asked, struct page *page)
{
    const struct report report = answers_begin(answers, true, page);
    _cleanup_vector_ ranking nodes = {0};
    _cleanup_(lookup_deinit) struct lookup lookup = {.node = UINT32_MAX};
    struct g2h_node example;
    size_t count;
    TRY(lookup_find(report.findings, asked, &lookup));
    if (lookup.kind != LOOKUP_CLASS)
        return error_create(G2H_ERROR_NOT_FOUND, "'%s' is not a class: path and show are about it",
                            asked);
    TRY(report_put_class(&report, lookup.class, &nodes));
    page_close(page);
    g2h_view_brief(answers->options.view, report_node(&report, lookup.class)->example, &example);
    const uint32_t name =
        example.kind == G2H_NODE_TEXT ? UINT32_MAX : report_node(&report, lookup.class)->name;
    const uint32_t *found = class_index_find(&answers->held.classes, name, &count);
    answers_put_objects(answers, page, found, count);
    page_close(page);
    return NULL;
}

/* ---- names ---- */

static bool answers_contain(const char *name, size_t size, const char *asked)
{
    const size_t length = strlen(asked);
    for (size_t i = 0; i + length <= size; i++)
        if (strncasecmp(name + i, asked, length) == 0)
            return true;
    return false;
}

/* Returns whether the name of a node of merged contains a string. */
static bool answers_is_named(const struct answers *answers, uint32_t node, const char *asked)
{
    size_t size;
    const char *name = merged_name(&answers->findings.merged, node, &size);
    return answers_contain(name, size, asked);
}

static void answers_put_classes(const struct answers *answers, const char *asked,
                                const struct report *report)
{
    struct page *page = report->page;
    page_open_list(page, "classes");
    for (size_t i = 0; i < answers->classes.list.count; i++) {
        const struct class_row *row = &answers->classes.list.data[i];
        if (!answers_is_named(answers, row->node, asked))
            continue;
        PUT(page, "<>%s{class}%n{objects}%b{bytes}%b{retained}</>", report_name(report, row->node),
            row->count, row->bytes, row->retained);
    }
    page_close(page);
}

/* Adds the variables of packages, as expressions, those that retain most first. */
static struct g2h_error *answers_put_variables(const struct answers *answers, const char *asked,
                                               const struct report *report)
{
    const struct findings *findings = &answers->findings;
    struct page *page = report->page;
    _cleanup_(text_deinit) struct text name = {0};
    _cleanup_vector_ ranking found = {0};
    for (uint32_t i = 0; i < findings->merged.nodes.count; i++) {
        name.size = 0;
        if (!lookup_append_variable(findings, i, &name))
            continue;
        TRY_MEMORY(!name.failed);
        if (answers_contain(name.data, name.size, asked))
            TRY_MEMORY(
                vector_push(&found, ((struct ranked){findings_node(findings, i)->retained, i})));
    }
    ranking_sort(&found);
    page_open_list(page, "variables");
    for (size_t i = 0; i < found.count; i++) {
        name.size = 0;
        lookup_append_variable(findings, found.data[i].node, &name);
        TRY_MEMORY(!name.failed);
        page_open(page, NULL);
        PUT(page, "%s{variable}%b{retained}", &name, found.data[i].weight);
        page_close(page);
    }
    page_close(page);
    return NULL;
}

static void answers_put_locations(const struct answers *answers, const char *asked,
                                  const struct report *report)
{
    const struct findings *findings = &answers->findings;
    struct page *page = report->page;
    page_open_list(page, "goroutines");
    for (uint32_t i = 0; i < findings->merged.nodes.count; i++) {
        const struct merged_node *node = findings_node(findings, i);
        const bool is_group = findings_is_kind(findings, i, G2H_NODE_GOROUTINES_IN_PLACE),
                   is_alone =
                       findings_is_kind(findings, i, G2H_NODE_GOROUTINE) &&
                       !findings_is_kind(findings, node->parent, G2H_NODE_GOROUTINES_IN_PLACE);
        if ((!is_group && !is_alone) || !answers_is_named(answers, i, asked))
            continue;
        PUT(page, "<>%s{location}%n{count}%b{retained}</>", report_name(report, i),
            findings_members(findings, i), node->retained);
    }
    page_close(page);
}

struct g2h_error *answers_find(struct answers *answers, const char *asked, struct page *page)
{
    const struct report report = answers_begin(answers, false, page);
    TRY(answers_put_variables(answers, asked, &report));
    answers_put_classes(answers, asked, &report);
    answers_put_locations(answers, asked, &report);
    page_close(page);
    TRY_MEMORY(!page->out.failed);
    return NULL;
}
