/*
 * report: the whole report, section by section, and the sections that are short; see report.h.
 * report_make() finds what all sections need and then writes one page per form that is asked for
 * (text, JSON), on two threads: one does all but waste, the other finds waste. A suspect is a part
 * of the heap to look at first, and a row of the tree is a node of the merged tree: all objects of
 * a class that one holder has.
 */
#include "output/report/report.h"

#include <string.h>

#include <go2heapsnapshot/error.h>

#include "base/contract.h"
#include "base/error.h"
#include "base/text.h"
#include "base/workers.h"
#include "findings/class_rows.h"
#include "findings/goroutines.h"
#include "findings/lookup.h"
#include "findings/merged.h"
#include "output/report/sections.h"
#include "output/sink.h"

/* ==== the classes that have most bytes, or have grown most ==== */

/* Returns the plural's end: "1 object", "2 objects". */
static const char *plural_of(uint64_t count)
{
    return count == 1 ? "" : "s";
}

/* Says what is in no row, because it is beside what the report is about (--under); JSON has that
 * with the totals. */
static void put_else(const struct report *report)
{
    const struct g2h_view_account *account = g2h_view_account(report->findings->view);
    if (!report->page->is_json)
        PUT(report->page, "  (everything else): %n object%s, %b\n", account->else_objects,
            plural_of(account->else_objects), account->else_bytes);
}

/* Shows the rows of the largest classes, or with a base of those that grew most, and sums up the
 * others in a line. In JSON each class has also who allocated it. */
struct g2h_error *report_put_classes(const struct report *report)
{
    _cleanup_(class_rows_deinit) struct class_rows classes = {0};
    _cleanup_(table_deinit) struct table table = {.page = NULL};
    const bool has_base = report->findings->base != NULL;
    uint64_t bytes = 0;
    size_t shown = 0;
    TRY(class_rows_find(report->findings, false, &classes));
    while (shown < classes.list.count && shown < report_rows(report, REPORT_ROWS) &&
           (!has_base || classes.list.data[shown].grown > 0))
        shown++; /* with a base, only classes that have grown */
    table_init(&table, report->page, "classes",
               has_base ? "CLASSES,>objects,>bytes,>retained,>grown"
                        : "CLASSES,>objects,>bytes,>retained",
               shown);
    for (size_t i = 0; i < classes.list.count; i++) {
        const struct class_row *row = &classes.list.data[i];
        struct allocator allocator;
        TABLE_OPEN(&table, "%s{class}%n{objects}%b{bytes}%b{retained}%?d{grown}",
                   report_name(report, row->node), row->count, row->bytes, row->retained, has_base,
                   row->grown);
        if (report->page->is_json &&
            allocated_by(&report->findings->allocated, report_node(report, row->node)->name,
                         MERGED_NONE, &allocator))
            TRY(report_put_allocator(report, &allocator, false));
        page_close(report->page);
        bytes += i < shown ? 0 : row->bytes;
    }
    TRY(table_end(&table));
    if (classes.list.count > shown && shown > 0)
        PUT(report->page, "  %n more, %b\n", classes.list.count - shown, bytes);
    if (g2h_view_under(report->findings->view))
        put_else(report);
    return NULL;
}

/* ==== the tree of retainers ==== */

enum {
    MOST_LINES = 50,   /* of the whole tree */
    MOST_CHILDREN = 8, /* most children of a node that are shown */
    MOST_DEPTH = 16,
    LEAST_NAME = 20, /* characters */
};

struct report_tree {
    const struct report *report;
    uint64_t least; /* bytes that a line has at least */
    size_t lines;
};

/* Widths of the columns before the names. */
enum { OF_BYTES = 9, OF_PERCENT = 8, OF_COUNT = 11 };

/* Writes the line of a node: bytes (with a base, how much these have grown), percent, count, and
 * name, indented by depth. */
static void put_branch(const struct report *report, uint32_t node, size_t depth)
{
    const struct merged_node *branch = report_node(report, node);
    const size_t before_name = 2 + OF_BYTES + OF_PERCENT + OF_COUNT + 2 + 2 * depth;
    const size_t columns = report->page->columns;
    const size_t width = columns > before_name + LEAST_NAME ? columns - before_name : LEAST_NAME;
    const bool has_base = report->findings->base != NULL;
    const struct growth *growth = has_base ? &report->findings->growth.data[node] : NULL;
    const int64_t within = growth ? growth->within : (int64_t)branch->retained;
    const int64_t grown = growth ? growth->count : 0;
    struct page *page = report->page;
    if (within < 0) /* a node that as a whole has shrunk */
        PUT(page, "  %*s", OF_BYTES, "-");
    else
        PUT(page, has_base ? "  %*d" : "  %*b", OF_BYTES, within);
    PUT(page, " %*p ", OF_PERCENT - 2, MAX(within, 0), report->findings->reachable);
    /* The count is for several objects; with a base, how many more there are. */
    if (branch->kind != MERGED_CLASS || (has_base ? grown == 0 : branch->count < 2))
        page_blanks(page, OF_COUNT);
    else
        PUT(page, has_base ? "%*c" : "%*n", OF_COUNT, has_base ? (uint64_t)grown : branch->count);
    page_blanks(page, 2 + 2 * depth);
    PUT(page, "%.*s{name}\n|%b{retained}%b{bytes}%n{count}", width, report_name(report, node),
        branch->retained, branch->bytes, branch->count);
    if (has_base)
        PUT(page, "|%d{retained_grown}%c{count_grown}", within, grown);
    report_put_pages(report, node);
}

/* Adds a node to those that get a branch, if it is large enough. Returns false if memory runs
 * out. */
static bool report_tree_add(const struct report_tree *tree, uint32_t node, ranking *children)
{
    const uint64_t weight = findings_weight(tree->report->findings, node);
    return weight < tree->least || vector_push(children, ((struct ranked){weight, node}));
}

/* Adds those children of a node that are large enough. The groups of (GC roots) are shown beside
 * (globals), not below it; garbage and threads are left out. Returns false if memory runs out. */
static bool add_children(const struct report_tree *tree, uint32_t node, ranking *children)
{
    const struct findings *findings = tree->report->findings;
    const uint32_t gc_roots =
        node == 0 ? findings_find_kind(findings, G2H_NODE_GC_ROOTS) : MERGED_NONE;
    if (gc_roots != MERGED_NONE) {
        const uint32_t globals = findings_find_kind(findings, G2H_NODE_GLOBALS);
        if (globals != MERGED_NONE && !report_tree_add(tree, globals, children))
            return false;
        node = gc_roots;
    }
    for (uint32_t i = report_node(tree->report, node)->child; i != MERGED_NONE;
         i = report_node(tree->report, i)->sibling)
        if (!report_tree_add(tree, i, children))
            return false;
    return true;
}

/* Adds the largest branches below a node, as many and as deep as the limits allow: MOST_CHILDREN of
 * each node (report_rows()), MOST_LINES together, MOST_DEPTH levels. */
static struct g2h_error *put_below(struct report_tree *tree, uint32_t node, size_t depth)
{
    const struct report *report = tree->report;
    ranking children = {0};
    struct g2h_error *error = add_children(tree, node, &children) ? NULL : &error_no_memory;
    ranking_sort(&children);
    for (size_t i = 0; !error && i < children.count && i < report_rows(report, MOST_CHILDREN);
         i++) {
        if (tree->lines++ >= MOST_LINES)
            break;
        PUT(report->page, "<>");
        put_branch(report, children.data[i].node, depth);
        PUT(report->page, "[holds]");
        if (depth + 1 < MOST_DEPTH)
            error = put_below(tree, children.data[i].node, depth + 1);
        PUT(report->page, "[/]</>");
    }
    free(children.data);
    return error;
}

/* Returns the weight of the node of a kind; 0: there is none. */
static uint64_t report_tree_weight_of(const struct findings *findings, enum g2h_node_kind kind)
{
    const uint32_t node = findings_find_kind(findings, kind);
    return node == MERGED_NONE ? 0 : findings_weight(findings, node);
}

/* Writes the tree of dominators down to a fiftieth of the heap or, with a base, of its growth: but
 * then not what grew by less than LEAST bytes, which says nothing. */
static struct g2h_error *report_put_tree(const struct report *report)
{
    enum { OF_ALL = 50, LEAST = 4096 };
    const uint64_t all = report_tree_weight_of(report->findings, G2H_NODE_GLOBALS) +
                         report_tree_weight_of(report->findings, G2H_NODE_GC_ROOTS),
                   least = all / OF_ALL;
    struct report_tree tree = {.report = report,
                               .least = report->findings->base && least < LEAST ? LEAST : least};
    if (all >= tree.least) {
        page_head(report->page, report->findings->base ? "WHERE IT GREW" : "WHAT HOLDS WHAT");
        page_say(report->page,
                 "   tree of dominators, down to 2 % of the heap; equal children are merged\n");
    }
    PUT(report->page, "[tree]");
    TRY(put_below(&tree, 0, 0));
    PUT(report->page, "[/]");
    return NULL;
}

/* ==== answers --by label: what the goroutines with each value of a label retain ==== */

/* Reports the values of a label as a table: goroutines, and what they retain. */
static struct g2h_error *by_label_put_key(const struct report *report,
                                          const struct goroutine_labels *labels, uint32_t key)
{
    _cleanup_(table_deinit) struct table table = {.page = NULL};
    _cleanup_vector_ label_values values = {0};
    struct page *page = report->page;
    size_t size, shown;
    const char *name = string_pool_text(&labels->texts, key, &size);
    TRY(label_values_find(report->findings, labels, key, &values));
    PUT(page, "<>");
    page_head(page, "LABEL");
    PUT(page, " %#s{key}\n", report_bytes(name, size));
    shown = report_rows(report, REPORT_ROWS);
    table_init(&table, page, "values", "VALUE,>goroutines,>retained,>of the heap", shown);
    VECTOR_EACH(const struct label_value, value, values) {
        const bool is_none = value->value == UINT32_MAX;
        const char *text =
            is_none ? "no label" : string_pool_text(&labels->texts, value->value, &size);
        const struct g2h_bytes words = report_bytes(text, is_none ? strlen(text) : size);
        TABLE_PUT(&table, "%s%n{goroutines}%b{retained}%p|%?s{value}", words, value->count,
                  value->retained, value->retained, report->findings->reachable, !is_none, words);
    }
    TRY(table_end(&table));
    if (values.count > shown)
        PUT(page, "  %n more\n", values.count - shown);
    PUT(page, "</>");
    return NULL;
}

/* Writes what the goroutines with each value of a label retain, or of all labels if asked is empty.
 * Errors: G2H_ERROR_NOT_FOUND. */
static struct g2h_error *report_put_labels(const struct report *report, const char *asked)
{
    _cleanup_(goroutine_labels_deinit) struct goroutine_labels labels = {.list = {0}};
    _cleanup_(map_deinit) struct map seen = {0};
    uint32_t keys = 0;
    if (!g2h_view_is_typed(report->findings->view))
        return error_create(G2H_ERROR_NOT_FOUND,
                            "without types it is not known where labels are: --exe gives them");
    TRY(goroutine_labels_read(report->findings, &labels));
    PUT(report->page, "[labels]");
    for (size_t i = 0; i < labels.list.count; i++) {
        const uint32_t key = labels.list.data[i].key;
        uint32_t number = keys;
        size_t size;
        const char *name = string_pool_text(&labels.texts, key, &size);
        if (*asked != '\0' && (size != strlen(asked) || memcmp(name, asked, size) != 0))
            continue;
        TRY_MEMORY(map_put(&seen, key, keys, &number));
        if (number != keys)
            continue;
        keys++;
        TRY(by_label_put_key(report, &labels, key));
    }
    PUT(report->page, "[/]");
    if (keys == 0 && *asked != '\0')
        return error_create(G2H_ERROR_NOT_FOUND, "no goroutine has a label '%s'", asked);
    if (keys == 0)
        return error_create(G2H_ERROR_NOT_FOUND,
                            "no goroutine has labels: pprof.Do and pprof.SetGoroutineLabels set "
                            "them");
    return NULL;
}

/* ==== suggests commands that show more than a short report ==== */

/* Adds a command. An option that takes nothing has no argument. */
static void put_command(const struct report *report, const char *command, const char *option,
                        const char *argument)
{
    _cleanup_(text_deinit) struct text line = {0};
    text_append_string(&line, command);
    text_printf(&line, " %s", option);
    if (argument) {
        text_append_string(&line, " ");
        shell_append(&line, argument);
    }
    report->page->out.failed |= line.failed;
    PUT(report->page, "  %s\n", &line);
}

/* Adds an option with a class or an expression as its argument, if that can be typed and leads to
 * something. Ends asked with a NUL. */
static struct g2h_error *put_if_found(const struct report *report, const char *command,
                                      const char *option, struct text *asked)
{
    enum { LONGEST = 160 };
    _cleanup_(lookup_deinit) struct lookup lookup = {.node = UINT32_MAX};
    if (asked->size == 0 || asked->size > LONGEST || asked->data[0] == '-' ||
        !printable_is(asked->data, asked->size))
        return NULL;
    text_append(asked, "", 1);
    TRY_MEMORY(!asked->failed);
    struct g2h_error *error = lookup_find(report->findings, asked->data, &lookup);
    if (!error)
        put_command(report, command, option, asked->data);
    if (error && error->code != G2H_ERROR_NOT_FOUND)
        return error;
    g2h_error_destroy(error);
    return NULL;
}

/* Adds the commands for the first suspect that is objects of a class. None if no suspect is. */
static struct g2h_error *report_next_put_suspect(const struct report *report, const char *command)
{
    const struct who_suspects *suspects = report->suspects;
    _cleanup_(text_deinit) struct text name = {0}, path = {0};
    size_t i = 0;
    while (i < suspects->count &&
           report_node(report, suspects->list[i].suspect.item)->kind != MERGED_CLASS)
        i++;
    if (i == suspects->count)
        return NULL;
    const struct who *who = &suspects->list[i];
    const struct g2h_bytes item = report_name(report, who->suspect.item);
    text_append(&name, item.data, item.size);
    text_append(&path, who->path.data, who->path.size);
    TRY_MEMORY(!name.failed && !path.failed);
    /* Hashes have another key the next time. */
    if (g2h_view_is_typed(report->findings->view) && !g2h_view_is_redacted(report->findings->view))
        TRY(put_if_found(report, command, "--show", &path));
    return put_if_found(report, command, "--path-to", &name);
}

/* Suggests commands that show more about the subject of the report: each begins with command, and
 * works as shown. Errors: G2H_ERROR_MEMORY. */
static struct g2h_error *report_put_next(const struct report *report, const char *command)
{
    page_head(report->page, "NEXT");
    page_say(report->page, "\n");
    TRY(report_next_put_suspect(report, command));
    put_command(report, command, "--full", NULL);
    put_command(report, command, "-o", "page.html");
    return NULL;
}

/* ==== all of a report, for outputs that contain one ====
 *
 * A summary in text: how much memory there is, what is suspect and who holds it, goroutines
 * by their places, classes, the tree of retainers, waste.
 *
 * Each section shows what retains most, and counts what it does not show. Sizes are decimal, as in
 * DevTools. See docs/report.md.
 */

/* ---- the first lines ---- */

/* Reports the growth since the base: "since first.dump: +701 kB (+114 %), +12,314 objects, +60
 * goroutines". is_other: the base is a dump of another build of the program. */
static void put_since(const struct report *report, bool is_other)
{
    const struct growth_totals *before = growth_totals(report->findings->base);
    const uint64_t objects = growth_count_held(report->findings->view),
                   goroutines = g2h_view_goroutine_count(report->findings->view);
    const int64_t bytes = as_growth(before->reachable, report->findings->reachable);
    PUT(report->page, "<since>since %s{source}%s: %d{reachable}|%f{is_other_build}|", before->name,
        is_other ? ", of another build" : "", bytes, is_other);
    if (before->reachable > 0)
        PUT(report->page, " (%s%p)", bytes < 0 ? "-" : "+",
            bytes < 0 ? -(uint64_t)bytes : (uint64_t)bytes, before->reachable);
    PUT(report->page, ", %c{objects} objects, %c{goroutines} goroutines\n</>",
        objects - before->objects, goroutines - before->goroutines);
}

/* Reports how the process ended whose heap was written then: "killed by the OOM killer at
 * 2026-11-27 13:05:35Z, with 629 MB resident, limit 629 MB". Nothing of other heaps. */
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

/* Reports what the report is about, if that is a part of the heap, and how much else there is. */
static void report_put_under(const struct report *report)
{
    const struct g2h_view_account *account = g2h_view_account(report->findings->view);
    const char *name = g2h_view_under(report->findings->view);
    if (!name)
        return;
    const struct g2h_bytes asked = report_bytes(name, strlen(name));
    PUT(report->page,
        "<under>  under %s{asked}: %b{bytes} in %n{objects} object%s   <else>everything else: "
        "%b{bytes} in %n{objects}</>\n|",
        asked, account->under_bytes, account->under_objects, plural_of(account->under_objects),
        account->else_bytes, account->else_objects);
    if (account->holder_objects > 0)
        PUT(report->page, "  <holders>held by %n{objects} object%s of %b{bytes} on the way\n</>",
            account->holder_objects, plural_of(account->holder_objects), account->holder_bytes);
    if (account->shared_objects > 0)
        PUT(report->page,
            "  <shared>shared: it points to %n{objects} object%s that others hold, too: in "
            "everything else, retaining %b{retained}\n</>",
            account->shared_objects, plural_of(account->shared_objects), account->shared_bytes);
    PUT(report->page, "</>");
}

/* Reports the totals of the heap: version, bytes, objects, goroutines, what is reachable, how much
 * of it is not resident or stacks, and the garbage; then what --under is about, how the process
 * ended, its memory, and, with a base, the growth since. */
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
    PUT(page, ", garbage %b{garbage}", findings->garbage + account->left_out_bytes);
    const bool is_at_most = report_lacks_memory(report);
    PUT(page, "%s%s", is_at_most ? " or less" : "",
        account->left_out_objects > 0 ? ", left out" : "");
    if (is_at_most)
        PUT(page, ": a part of the heap may be missing|%f{is_garbage_at_most}|", true);
    PUT(page, "\n|%f{is_garbage_left_out}|", account->left_out_objects > 0);
    if (report_is_untouched(findings->untouched_garbage, findings->garbage))
        PUT(page, "  of the garbage %b{garbage_not_resident} are not resident: never written to\n",
            findings->untouched_garbage);
    PUT(page, "</>");
    report_put_under(report);
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

/* Returns whether the report is about a sample of a heap. */
static bool is_of_sample(const struct report_work *work)
{
    return g2h_heap_sample(g2h_view_heap(work->findings->view)) != NULL;
}

/* Returns whether the report omits details that are not needed at first. */
static bool is_short(const struct report_work *work)
{
    return work->wanted->is_short && !work->wanted->json && !report_is_asked(work);
}

/* Returns whether the report has a section: all are in the text, and in JSON if none is chosen. */
static bool report_has_section(const struct report_work *work, enum g2h_report_section section)
{
    return work->wanted->sections == 0 || !work->wanted->json ||
           (work->wanted->sections & section) != 0;
}

/* Writes the sections that the report has, in order; a short report has no classes and no tree. */
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

/* Writes the totals, and then all sections except waste to a page: free slots, and all others; or
 * only the one that answers what was asked for: a label, a path, a node. A sample of a heap has a
 * report of its own. Leaves the object of JSON open that has all of the page: report_make() adds to
 * it, and closes it. */
static struct g2h_error *put_page(const struct report_work *work, struct page *page)
{
    const struct report report = {work->findings, work->suspects, page};
    PUT(page, "<>|%s{format}%n{version}%?n{top}", "go2heapsnapshot report", REPORT_VERSION,
        page->top > 0, page->top);
    if (is_of_sample(work))
        return report_put_sample(&report, work->source);
    report_put_totals(&report, work->source, work->wanted->is_base_other);
    if (work->wanted->by_label)
        return report_put_labels(&report, work->wanted->by_label);
    if (work->wanted->path_to)
        return report_put_path(&report, work->wanted->path_to, work->wanted->older);
    if (work->wanted->show)
        return report_put_shown(&report, work->wanted->show);
    TRY(report_put_free_slots(&report));
    return put_sections(work, &report);
}

/* Finds what all sections but waste need, then writes these sections to each page. */
static struct g2h_error *put_all_but_waste(void *context)
{
    struct report_work *work = context;
    TRY(findings_merge(work->findings));
    if (!work->wanted->show && !work->wanted->by_label)
        TRY(pages_find(work->findings));
    if (!report_is_asked(work)) {
        TRY(allocated_find(&work->findings->merged, &work->findings->allocated));
        TRY(who_find(work->findings, work->suspects));
    }
    for (size_t i = 0; i < work->count; i++)
        TRY(put_page(work, &work->pages[i]));
    return NULL;
}

/* Finds waste, beside put_all_but_waste() on another thread. */
static struct g2h_error *find_waste(void *context)
{
    struct report_work *work = context;
    return waste_find(work->findings, &work->findings->waste);
}

/* Writes the whole report on each of count pages (text and JSON). The section about waste, which
 * needs types and is not in short reports nor in those of a sample or of one question, is found
 * while the rest is written: much of either runs on one thread only. A short report ends with the
 * command that shows more. */
struct g2h_error *report_make(struct findings *findings, const struct g2h_report_options *wanted,
                              const char *source, struct page *pages, size_t count,
                              struct who_suspects *suspects)
{
    struct report_work work = {findings, wanted, source, pages, count, suspects};
    const bool has_waste = g2h_view_is_typed(findings->view) && !report_is_asked(&work) &&
                           !is_short(&work) && !is_of_sample(&work) &&
                           report_has_section(&work, G2H_SECTION_WASTE);
    TRY(findings_begin(findings, has_waste));
    TRY(has_waste ? workers_beside(findings->threads, put_all_but_waste, find_waste, &work)
                  : put_all_but_waste(&work));
    for (size_t i = 0; i < count; i++) {
        const struct report report = {findings, suspects, &pages[i]};
        if (has_waste)
            TRY(report_put_waste(&report));
        page_fit(&pages[i]);
        if (is_short(&work) && wanted->command && !is_of_sample(&work)) /* commands are not cut */
            TRY(report_put_next(&report, wanted->command));
        page_close(&pages[i]);
        TRY_MEMORY(!pages[i].out.failed);
    }
    return NULL;
}

/* Makes the whole page in memory, and writes it at the end, so that an error leaves no half of a
 * report. */
struct g2h_error *g2h_write_report(const struct g2h_view *view,
                                   const struct g2h_dominators *dominators,
                                   const struct g2h_output_options *given)
{
    struct g2h_output_options known;
    struct g2h_report_options known_report;
    const struct g2h_output_options *options = OPTIONS_COPY(&known, given);
    const struct g2h_report_options *wanted = OPTIONS_COPY(&known_report, options->report);
    _cleanup_(findings_deinit) struct findings findings = {.view = view,
                                                           .dominators = dominators,
                                                           .base = wanted->base,
                                                           .memory = options->memory,
                                                           .threads = options->threads};
    _cleanup_(who_suspects_deinit) struct who_suspects suspects = {.count = 0};
    _cleanup_(page_deinit) struct page page;
    page_begin(wanted, &page);
    TRY(report_make(&findings, wanted, options->source ? options->source : "", &page, 1,
                    &suspects));
    return sink_text(options, &page.out);
}
