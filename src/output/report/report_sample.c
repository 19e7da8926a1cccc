/*
 * report_sample: a report about a sample of a heap (--sample); see sections.h.
 *
 * Of a process with a large heap, only one span in N was read, with all objects in it, and what
 * holds these. How many objects of each size there are is known exactly; how many of a class there
 * are is estimated from those in the spans that were read (findings/class_rows.h). So each figure
 * is exact or has its error. What a sample cannot say is left out: what is garbage, which
 * goroutines are leaked, what is wasted.
 *
 * To begin with: report_put_sample(), at the end. sample_estimate() puts each object that was read
 * into the sets of its class and of suspects, and estimates each set; then totals, suspects and
 * classes are written.
 */
#include <stdlib.h>

#include "base/contract.h"
#include "base/error.h"
#include "base/map.h"
#include "findings/class_rows.h"
#include "findings/suspects.h"
#include "output/report/sections.h"

struct sample_class {
    uint32_t node; /* of merged: one of the class */
    uint64_t seen; /* objects that were read, also those that are not of the sample */
};

/* The sets of objects that are estimated: two of each class, then two of each suspect. Of a class
 * the first has the objects that are counted, the second also what belongs to these, as the memory
 * of a map's entries does; of a suspect those of its class, and all that belongs to it. */
struct sample_report {
    const struct report *report;
    const struct g2h_sample *sample;
    struct estimates estimates;
    struct map classes; /* name in merged → number of the class */
    VECTOR(struct sample_class) list;
    uint64_t beside[WHO_SUSPECTS]; /* by suspect: bytes that are not of objects: stacks */
};

static void sample_report_deinit(struct sample_report *sample)
{
    estimates_deinit(&sample->estimates);
    map_deinit(&sample->classes);
    free(sample->list.data);
}

/* ---- the sets ---- */

/* Returns the number of a suspect's first set: those of the classes come before. */
static uint32_t set_of_suspect(const struct sample_report *sample, size_t suspect)
{
    return as_u32(2 * (sample->list.count + suspect));
}

/* Returns the node of merged that an object is merged in; MERGED_NONE: the view leaves it out, as
 * garbage (--reachable). */
static uint32_t sample_merged(const struct findings *findings, uint32_t object)
{
    const uint32_t node = g2h_view_object(findings->view, object);
    return node == UINT32_MAX
               ? MERGED_NONE
               : findings->merged.of[g2h_dominators_number(findings->dominators, node)];
}

/* Returns whether an object is one of the node of merged that it is in, and not memory of one, as
 * that of a map. */
static bool sample_is_itself(const struct findings *findings, uint32_t object, uint32_t node)
{
    const uint32_t name = g2h_view_class(findings->view, object);
    return name == G2H_NAME_NONE || name == findings_node(findings, node)->name;
}

/* Adds an object to the two sets of its class, by which their numbers are estimated: of its
 * objects, and of all that are merged with them, such as the memory of a map. Nothing if it is in
 * no class. */
static struct g2h_error *sample_add_object(struct sample_report *sample, uint32_t object)
{
    const struct findings *findings = sample->report->findings;
    const uint32_t node = sample_merged(findings, object);
    uint32_t class = as_u32(sample->list.count);
    if (node == MERGED_NONE || findings_node(findings, node)->kind != MERGED_CLASS)
        return NULL;
    const uint32_t merged_name = findings_node(findings, node)->name;
    TRY_MEMORY(map_put(&sample->classes, merged_name, class, &class));
    if (class == sample->list.count)
        TRY_MEMORY(vector_push(&sample->list, ((struct sample_class){.node = node})));
    if (sample_is_itself(findings, object, node)) {
        sample->list.data[class].seen++;
        TRY(estimates_add(&sample->estimates, 2 * class, object));
    }
    return estimates_add(&sample->estimates, 2 * class + 1, object);
}

/* Counts sync.Maps: what was added are inner nodes and entries of them. */
static void sample_count_tries(const struct sample_report *sample)
{
    const struct merged *merged = &sample->report->findings->merged;
    VECTOR_EACH(const struct merged_node, node, merged->nodes) {
        const uint32_t class = node->is_trie ? map_get(&sample->classes, node->name) : MAP_NONE;
        if (class != MAP_NONE)
            sample->list.data[class].seen += node->count;
    }
}

/* Returns the node of merged with all that belongs to a suspect. */
static uint32_t sample_node_of(const struct suspect *suspect)
{
    return suspect->container.node != MERGED_NONE ? suspect->container.node : suspect->item;
}

/* Adds the objects of a suspect to its two sets: those of its class, and all that it retains. What
 * it retains besides objects is summed up in sample->beside. */
static struct g2h_error *sample_add_suspect(struct sample_report *sample, size_t number)
{
    const struct findings *findings = sample->report->findings;
    const struct suspect *suspect = &sample->report->suspects->list[number].suspect;
    const struct merged *merged = &findings->merged;
    const size_t nodes = merged->nodes.count;
    const struct merged_node *list = merged->nodes.data;
    const uint32_t objects = g2h_heap_object_count(g2h_view_heap(findings->view));
    _cleanup_free_ bool *below = calloc(nodes + 1, sizeof(*below));
    _cleanup_free_ bool *items = calloc(nodes + 1, sizeof(*items));
    TRY_MEMORY(below && items);
    merged_mark_below(merged, sample_node_of(suspect), below);
    merged_mark_below(merged, suspect->item, items);
    for (size_t i = 0; i < nodes; i++)
        if (below[i] && list[i].kind != MERGED_CLASS)
            sample->beside[number] += list[i].bytes;
    for (uint32_t i = 0; i < objects; i++) {
        const uint32_t line = sample_merged(findings, i);
        if (line == MERGED_NONE)
            continue;
        if (items[line] && list[line].kind == MERGED_CLASS &&
            list[line].name == list[suspect->item].name && sample_is_itself(findings, i, line))
            TRY(estimates_add(&sample->estimates, set_of_suspect(sample, number), i));
        if (below[line])
            TRY(estimates_add(&sample->estimates, set_of_suspect(sample, number) + 1, i));
    }
    return NULL;
}

/* Adds all objects to the sets of their classes, and those of suspects to theirs, and then
 * estimates each set. */
static struct g2h_error *sample_estimate(struct sample_report *sample)
{
    const struct g2h_heap *heap = g2h_view_heap(sample->report->findings->view);
    const size_t suspects = sample->report->suspects->count;
    TRY(estimates_begin(heap, &sample->estimates));
    for (uint32_t i = 0; i < g2h_heap_object_count(heap); i++)
        TRY(sample_add_object(sample, i));
    sample_count_tries(sample);
    for (size_t i = 0; i < suspects; i++)
        TRY(sample_add_suspect(sample, i));
    return estimates_finish(&sample->estimates, set_of_suspect(sample, suspects));
}

/* ---- the first lines ---- */

/* Sums up what is known exactly: objects of each kind, and their bytes; of kinds without a slot
 * size, those of the objects that were read. */
static void sum_up(const struct sample_report *sample, uint64_t *ret_objects, uint64_t *ret_bytes)
{
    const struct g2h_heap *heap = g2h_view_heap(sample->report->findings->view);
    *ret_objects = *ret_bytes = 0;
    for (uint32_t i = 0; i < sample->sample->kind_count; i++) {
        const struct g2h_sample_kind *kind = &sample->sample->kinds[i];
        *ret_objects += kind->objects;
        *ret_bytes += kind->objects * kind->slot_size;
    }
    for (uint32_t i = 0; i < g2h_heap_object_count(heap); i++) {
        const uint32_t span = g2h_heap_sample_span(heap, i);
        if (span != UINT32_MAX &&
            sample->sample->kinds[sample->sample->spans[span].kind].slot_size == 0)
            *ret_bytes += g2h_heap_size(heap, i);
    }
}

/* Writes the first lines: the source, the size of the sample, what is exact, and what a sample
 * cannot say. */
static void sample_put_totals(const struct sample_report *sample, const char *name)
{
    const struct findings *findings = sample->report->findings;
    const struct g2h_heap *heap = g2h_view_heap(findings->view);
    const char *version = g2h_heap_go_version(heap);
    struct page *page = sample->report->page;
    uint64_t objects, bytes;
    sum_up(sample, &objects, &bytes);
    PUT(page,
        "<sample>%s{source}   %s{go}   SAMPLE: one span in %n{every}\n"
        "  %b{bytes} in %n{objects} objects (exact), of which %n{read} were read   %n{goroutines} "
        "goroutines\n",
        name, *version ? version : "Go of an unknown version", sample->sample->every, bytes,
        objects, g2h_heap_object_count(heap), g2h_view_goroutine_count(findings->view));
    PUT(page,
        "  after ±: %n{standard_errors} standard errors. A sample does not say what is garbage or "
        "wasted, or\n  which goroutines are leaked\n|%b{unseen}%b{holder_not_read}|</>",
        ESTIMATE_ERRORS, estimates_unseen(sample->sample), findings->garbage);
}

/* ---- suspects ---- */

/* Writes a number and its error, unless it is exact. */
static void put_estimate(struct page *page, const char *exact, const char *inexact,
                         const uint64_t *pair)
{
    PUT(page, pair[1] > 0 ? inexact : exact, pair[0], pair[1]);
}

/* Writes a suspect: its objects and bytes with their errors, who holds them, and the container that
 * they are in. */
static struct g2h_error *sample_put_suspect(const struct sample_report *sample, size_t number)
{
    const struct report *report = sample->report;
    const struct who *who = &report->suspects->list[number];
    const struct suspect *suspect = &who->suspect;
    const struct estimate *objects = &sample->estimates.sets[set_of_suspect(sample, number)],
                          *all = objects + 1;
    const uint32_t container = suspect->container.node;
    struct page *page = report->page;
    _cleanup_(text_deinit) struct text holders = {0};
    PUT(page, "<>  %n  ", number + 1);
    if (suspect->is_goroutines)
        PUT(page, "%n{count}", who_count(report->findings, suspect));
    else
        put_estimate(page, "%n{count}|%n{count_error}|", "%n{count} ± %n{count_error}",
                     (uint64_t[]){MAX(objects->objects, suspect->count), objects->objects_error});
    PUT(page, " %#s{item}   ", report_name(report, suspect->item));
    put_estimate(page, "%b{bytes}|%b{bytes_error}|", "%b{bytes} ± %b{bytes_error}",
                 (uint64_t[]){all->bytes + sample->beside[number], all->bytes_error});
    PUT(page, "%s|%n{read}%f{is_vague}|\n",
        all->is_vague ? "  (few spans have any: the error may be larger)" : "", all->read,
        all->is_vague);
    report_append_holders(report, sample_node_of(suspect), &holders);
    TRY_MEMORY(!holders.failed);
    if (holders.size > 0)
        PUT(page, "     held by  %.*s{held_by}\n", 2 * page->columns, &holders);
    if (container != MERGED_NONE && container != suspect->item) {
        const struct merged_node *in = report_node(report, container);
        PUT(page, "<in>     in       %s{*}</>", report_name(report, container),
            in->kind == MERGED_CLASS ? "class" : "variable");
        if (in->entries > 0)
            PUT(page,
                in->count == 1 ? ", which has %n{entries} entries (exact)"
                               : "; those that were read have %n{entries} entries",
                in->entries);
        PUT(page, "\n");
    }
    PUT(page, "</>");
    return NULL;
}

/* Writes all suspects, and how many bytes are held by what was not read. */
static struct g2h_error *sample_put_suspects(const struct sample_report *sample)
{
    const struct report *report = sample->report;
    page_head(report->page, "SUSPECTS OF THE SAMPLE");
    PUT(report->page, "\n[suspects]");
    for (size_t i = 0; i < report->suspects->count; i++)
        TRY(sample_put_suspect(sample, i));
    PUT(report->page, "[/]");
    if (report->findings->garbage > 0)
        PUT(report->page, "  about %b are held by what was not read\n", report->findings->garbage);
    return NULL;
}

/* ---- classes ---- */

struct sample_row {
    uint32_t node; /* of merged: one of the class */
    uint64_t objects, objects_error;
    const struct estimate *all;
};

/* Orders rows by their bytes, the most first. */
static int sample_compare_rows(const void *a, const void *b)
{
    const struct sample_row *one = a;
    const struct sample_row *other = b;
    if (one->all->bytes != other->all->bytes)
        return COMPARE(other->all->bytes, one->all->bytes);
    return COMPARE(one->node, other->node);
}

/* Returns the row with the estimates of a class. There are at least as many objects as were read,
 * whether they are of the sample or not. */
static struct sample_row row_of_class(const struct sample_report *sample, uint32_t class)
{
    const struct estimate *counted = &sample->estimates.sets[2 * class], *all = counted + 1;
    const struct sample_class *of = &sample->list.data[class];
    return (struct sample_row){.node = of->node,
                               .objects = MAX(counted->objects, of->seen),
                               .objects_error = counted->objects_error,
                               .all = all};
}

/* Returns how many of the rows may be the one with most bytes: their bytes and error reach the
 * first row's bytes without its error. The first row has the most bytes. */
static size_t count_overlapping(const struct sample_row *rows, size_t count)
{
    const struct estimate *first = rows[0].all;
    const uint64_t least =
        first->bytes > first->bytes_error ? first->bytes - first->bytes_error : 0;
    size_t overlapping = 0;
    for (size_t i = 0; i < count; i++)
        overlapping += rows[i].all->bytes + rows[i].all->bytes_error >= least;
    return overlapping;
}

/* Writes the table of classes, those with most bytes first, and how many of the first rows the
 * errors leave open. */
static struct g2h_error *sample_put_classes(const struct sample_report *sample)
{
    const struct report *report = sample->report;
    _cleanup_(table_deinit) struct table table = {.page = NULL};
    const size_t most = report_rows(report, REPORT_ROWS);
    _cleanup_free_ struct sample_row *rows = calloc(sample->list.count + 1, sizeof(*rows));
    size_t count = 0;
    TRY_MEMORY(rows);
    for (uint32_t i = 0; i < sample->list.count; i++)
        if (sample->estimates.sets[2 * i + 1].bytes > 0) /* else none is of the sample */
            rows[count++] = row_of_class(sample, i);
    qsort(rows, count, sizeof(*rows), sample_compare_rows);
    table_init(&table, report->page, "classes", "CLASSES OF THE SAMPLE,>objects,>±,>bytes,>±,",
               MIN(count, most));
    for (size_t i = 0; i < count; i++) {
        const struct estimate *all = rows[i].all;
        TABLE_PUT(&table,
                  "%s{class}%n{objects}%n{objects_error}%b{bytes}%b{bytes_error}%s|%n{read}%f{is_"
                  "vague}",
                  report_name(report, rows[i].node), rows[i].objects, rows[i].objects_error,
                  all->bytes, all->bytes_error, all->is_vague ? "in few spans" : "", all->read,
                  all->is_vague);
    }
    TRY(table_end(&table));
    const size_t overlapping = count > 0 ? count_overlapping(rows, count) : 0;
    if (overlapping > 1)
        PUT(report->page, "  each of %n classes may be the one with most bytes\n", overlapping);
    PUT(report->page, "  beyond ±: of a class in slots where none of it was read, at most %b\n",
        estimates_unseen(sample->sample));
    return NULL;
}

/* ---- all of it ---- */

/* Writes a report about a sample of a heap, in place of all sections; name is what the heap was
 * read from. */
struct g2h_error *report_put_sample(const struct report *report, const char *name)
{
    _cleanup_(sample_report_deinit) struct sample_report sample = {
        .report = report, .sample = g2h_heap_sample(g2h_view_heap(report->findings->view))};
    assert(sample.sample);
    TRY(sample_estimate(&sample));
    sample_put_totals(&sample, name);
    TRY(sample_put_suspects(&sample));
    return sample_put_classes(&sample);
}
