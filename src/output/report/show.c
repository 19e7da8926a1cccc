/*
 * show: answers --show, about a variable, an object, a class or goroutines, and --path-to, about
 * the path from the roots to one; see sections.h. Each part ends with the function that looks up
 * what the query names, and dispatches to what writes that. The contents of a class are how the
 * values of each field are spread over its objects (tally).
 */
#include <inttypes.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include <go2heapsnapshot/dump.h>
#include <go2heapsnapshot/heap.h>
#include <go2heapsnapshot/values.h>

#include "base/bytes.h"
#include "base/error.h"
#include "findings/ages.h"
#include "findings/class_rows.h"
#include "findings/keys.h"
#include "findings/lookup.h"
#include "findings/path.h"
#include "output/report/page.h"
#include "output/report/sections.h"

/* ==== an object, a variable, or how values are spread over the objects of a class ==== */

enum { LABEL_WIDTH = 32 /* characters, outside of JSON */ };

/* ---- a variable ---- */

/* Shows a variable: its type, address and size, and its values. */
static struct g2h_error *put_variable(struct show *show, const char *name,
                                      const struct g2h_location *location)
{
    struct page *page = show->report->page;
    show->type.size = 0;
    g2h_location_type(show->view, location, &show->type);
    TRY_MEMORY(!show->type.failed);
    page_open(page, "variable");
    page_head(page, "VARIABLE");
    PUT(page, "   %#s{name} of type %s{type} at %a{address}, %n{bytes} B\n", name,
        report_made(&show->type), location->address, location->bytes.size);
    TRY(show_put_values(show, location));
    page_close(page);
    return NULL;
}

/* ---- a class ---- */

/* Adds a number that occurs, under a key. */
static struct g2h_error *show_put_sample(struct show *show, const struct field_distribution *field,
                                         const char *key, const struct sample *sample,
                                         struct text *text)
{
    struct g2h_value value = field->value;
    struct g2h_content content;
    show->text.size = 0;
    if (sample->data) {
        value.data = sample->data;
        g2h_value_content(show->view, &value, &show->text, &content);
        TRY_MEMORY(!show->text.failed);
        PUT(show->report->page, "|%s{*}", report_made(&show->text), key);
        text_append(text, show->text.data, show->text.size);
    } else {
        PUT(show->report->page, "|%n{*}", sample->order, key);
        text_append_grouped(text, sample->order);
    }
    return NULL;
}

/* Reports how many different values occur. */
static void put_distinct(const struct show *show, const struct tally *tally, struct text *text)
{
    PUT(show->report->page, "|%n{distinct}%f{is_distinct_at_least}", tally->counts.count,
        tally->others > 0);
    if (text->size > 0)
        text_append_string(text, "; ");
    text_printf(text, tally->others > 0 ? "at least " : "");
    text_append_grouped(text, tally->counts.count);
    text_printf(text, " distinct");
}

/* Reports least, median and largest of numbers: "1 … 17 … 42", or "1" if all are equal; "1 … ~17 …
 * 42" if the median is that of a sample. */
static struct g2h_error *show_put_numbers(struct show *show, const struct field_distribution *field,
                                          struct distribution_numbers *numbers, struct text *text)
{
    const size_t before = text->size;
    TRY(show_put_sample(show, field, "min", &numbers->least, text));
    const size_t one_number = text->size;
    text_append_string(text, " … ");
    if (numbers->count > DISTRIBUTION_SAMPLE)
        text_append_string(text, "~"); /* of a sample */
    TRY(show_put_sample(show, field, "median", numbers_median(numbers), text));
    text_append_string(text, " … ");
    TRY(show_put_sample(show, field, "max", &numbers->most, text));
    if (!text->failed && numbers->least.order == numbers->most.order && before < one_number)
        text->size = one_number; /* they are all the same */
    return NULL;
}

/* Reports how lengths or capacities are spread, under a key and a title; nothing if no value has
 * one. */
static struct g2h_error *put_lengths_of(struct show *show, const struct field_distribution *field,
                                        const char *key, const char *title,
                                        struct distribution_numbers *numbers, struct text *text)
{
    if (numbers->count == 0)
        return NULL;
    text_printf(text, "%s%s ", text->size > 0 ? "; " : "", title);
    page_open(show->report->page, key);
    TRY(show_put_numbers(show, field, numbers, text));
    page_close(show->report->page);
    return NULL;
}

/* Reports the most frequent values. As text, how often each occurs, or only EXAMPLES of them if
 * nearly all are different. */
static void put_top(const struct show *show, const struct tally *tally, struct text *text)
{
    enum { EXAMPLES = 3 };
    struct page *page = show->report->page;
    uint32_t top[TALLY_TOP];
    const size_t count = tally_top(tally, top);
    page_open_list(page, "top");
    for (size_t i = 0; i < count; i++) {
        size_t size;
        const char *value = string_pool_text(&tally->texts, top[i], &size);
        const uint64_t times = tally->counts.data[top[i]];
        const bool is_said = times > 1 || tally->counts.count <= TALLY_TOP;
        PUT(page, "|<>%s{value}%n{count}</>", report_bytes(value, size), times);
        if (!is_said && i >= EXAMPLES)
            continue; /* nearly all are different: some examples are enough */
        text_append_string(text, text->size > 0 ? ", " : "");
        text_append_string(text, is_said || i > 0 ? "" : "such as ");
        page_append_clipped(text, value, size, SHOW_VALUE_WIDTH);
        if (!is_said)
            continue;
        text_append_string(text, " ");
        text_append_grouped(text, times);
    }
    page_close(page);
}

/* Appends how often something is so: "never nil", "always nil", "nil in 3 of 12"; after what the
 * text already has, and a semicolon. */
static void append_share(struct text *text, const char *what, uint64_t part, uint64_t whole)
{
    text_append_string(text, text->size > 0 ? "; " : "");
    if (part == 0) {
        text_printf(text, "never %s", what);
        return;
    }
    if (part == whole) {
        text_printf(text, "always %s", what);
        return;
    }
    text_printf(text, "%s in ", what);
    text_append_grouped(text, part);
    text_append_string(text, " of ");
    text_append_grouped(text, whole);
}

/* Says that all times are past, which for an expiry means that nobody has looked at it: they are
 * before the last collection of garbage, which the dump has the time of, and so before the dump. A
 * time of 0 is none. */
static void put_past(const struct show *show, const struct field_distribution *field,
                     struct text *text)
{
    enum { SECOND = 1000000000 };
    const uint64_t to_1970 = (uint64_t)(INT64_MAX / SECOND - 1) * SECOND; /* g2h_value_order() */
    const struct g2h_memstats *stats = g2h_heap_memstats(g2h_view_heap(show->view));
    const uint64_t last = stats ? stats->numbers[G2H_MEMSTATS_LAST_GC] : 0;
    const bool is_past = last > 0 && last <= INT64_MAX && field->numbers.most.order > 0 &&
                         field->numbers.most.order < last + to_1970;
    PUT(show->report->page, "|%?f{is_past}", is_past, true);
    if (is_past)
        text_append_string(text, "; all before the dump");
}

/* Reports how the values of a field are spread, in JSON and as text. Which of true and nil,
 * numbers, texts, lengths and capacities: by the kind of value. Nothing if texts are hidden. */
static struct g2h_error *put_spread(struct show *show, struct field_distribution *field,
                                    struct text *text)
{
    struct page *page = show->report->page;
    const enum g2h_value_kind kind = field->value.kind;
    if (g2h_view_is_redacted(show->view))
        return NULL;
    if (kind == G2H_VALUE_BOOL) {
        PUT(page, "|%n{true}", field->trues);
        append_share(text, "true", field->trues, field->count);
    }
    if (field->numbers.count > 0) {
        TRY(show_put_numbers(show, field, &field->numbers, text));
        put_distinct(show, &field->numbers.tally, text);
        if (kind == G2H_VALUE_TIME)
            put_past(show, field, text);
    }
    if (kind == G2H_VALUE_POINTER || kind == G2H_VALUE_INTERFACE || kind == G2H_VALUE_SLICE) {
        PUT(page, "|%n{nil}", field->nils);
        append_share(text, "nil", field->nils, field->count);
    }
    if (field->texts.counts.count > 0) {
        put_top(show, &field->texts, text);
        put_distinct(show, &field->texts, text);
    }
    TRY(put_lengths_of(show, field, "lengths", "len", &field->lengths, text));
    return put_lengths_of(show, field, "capacities", "cap", &field->capacities, text);
}

/* Appends a string, clipped to a width, and blanks up to the next column, two after it. */
static void append_padded(struct text *text, const struct g2h_bytes *words, size_t width)
{
    const char *data = (const char *)words->data;
    const size_t count = page_characters(data, words->size);
    page_append_clipped(text, data, words->size, width);
    for (size_t i = MIN(count, width); i < width + 2; i++)
        text_append_string(text, " ");
}

static struct g2h_bytes show_name_of(const struct distribution *distribution, uint32_t name)
{
    size_t size;
    const char *text = string_pool_text(&distribution->names, name, &size);
    return bytes_at(text, size);
}

/* Returns the width of the widest string, up to the most that is shown. */
static size_t wider(struct g2h_bytes words, size_t width, size_t most)
{
    const size_t count = page_characters(words.data, words.size);
    return count < width ? width : MIN(count, most);
}

enum { SHOWN_ELEMENTS = 8 /* of an array in an object of a class; a ring may have hundreds */ };

/* Returns whether a field is in an element of an array from that number on. */
static bool is_far_element(struct g2h_bytes path)
{
    for (size_t i = 0; i < path.size; i++) {
        uint64_t number = 0;
        if (path.data[i] != '[')
            continue;
        while (++i < path.size && isdigit(path.data[i]) && number < SHOWN_ELEMENTS)
            number = number * 10 + path.data[i] - '0';
        if (number >= SHOWN_ELEMENTS)
            return true;
    }
    return false;
}

/* Reports how the values of each field are spread, in columns as wide as the longest names. The
 * text leaves out most elements of arrays. */
static struct g2h_error *show_put_fields(struct show *show, struct distribution *distribution)
{
    struct page *page = show->report->page;
    size_t names = 0, types = 0, left_out = 0, number = 0;
    VECTOR_EACH(const struct field_distribution, field, distribution->fields) {
        names = wider(show_name_of(distribution, field->path), names, LABEL_WIDTH);
        types = wider(show_name_of(distribution, field->type), types, SHOW_TYPE_WIDTH);
    }
    page_open_list(page, "fields");
    VECTOR_EACH(struct field_distribution, field, distribution->fields) {
        const struct g2h_bytes name = show_name_of(distribution, field->path);
        const struct g2h_bytes type = show_name_of(distribution, field->type);
        _cleanup_(text_deinit) struct text line = {0}, spread = {0};
        append_padded(&line, &name, names);
        append_padded(&line, &type, types);
        PUT(page, "<>|%s{name}%s{type}%n{offset}%n{size}%n{objects}", name, type,
            field->value.offset, field->value.size, field->count);
        TRY(put_spread(show, field, &spread));
        page_close(page);
        text_append(&line, spread.data, spread.size);
        TRY_MEMORY(!line.failed && !spread.failed);
        const bool is_far = is_far_element(name);
        const bool is_last = ++number == distribution->fields.count;
        left_out += is_far;
        if (left_out > 0 && (!is_far || is_last)) { /* the elements of one array end here */
            PUT(page, "  %n more, of elements from %n on\n", left_out, (uint64_t)SHOWN_ELEMENTS);
            left_out = 0;
        }
        if (!is_far)
            PUT(page, "  %s\n", &line);
    }
    page_close(page);
    return NULL;
}

/* Shows a class: who holds its objects, and how the values of each field are spread; if no layout
 * is known, its largest object instead. */
static struct g2h_error *show_put_class(struct show *show, const struct lookup *lookup)
{
    const struct report *report = show->report;
    const uint32_t name = report_node(report, lookup->class)->name;
    _cleanup_vector_ ranking nodes = {0};
    _cleanup_(distribution_deinit) struct distribution distribution = {.objects = 0};
    TRY(report_put_class(report, lookup->class, &nodes));
    TRY(distribution_find(report->findings, name, &distribution));
    PUT(report->page, "|%n{counted}%?n{not_counted}", distribution.objects,
        distribution.left_out > 0, distribution.left_out);
    if (distribution.objects > 0 && distribution.others > 0)
        PUT(report->page,
            "  %n{others} others have another type, or one that is not known as a whole\n",
            distribution.others);
    if (distribution.objects > 0)
        TRY(show_put_fields(show, &distribution));
    if (distribution.is_cut)
        PUT(report->page, "  and more fields\n|%f{is_cut}", true);
    page_close(report->page);
    if (distribution.objects > 0)
        return NULL;
    struct g2h_node example;
    g2h_view_brief(show->view, report_node(report, lookup->class)->example, &example);
    const uint32_t largest = class_rows_find_largest(
        report->findings, example.kind == G2H_NODE_TEXT ? UINT32_MAX : example.name, MERGED_NONE);
    if (largest == UINT32_MAX)
        return NULL;
    g2h_view_brief(show->view, largest, &example);
    return show_put_object(show, largest, example.address, 0);
}

/* ---- the query ---- */

static void show_deinit(struct show *show)
{
    text_deinit(&show->name);
    g2h_values_destroy(show->values);
    g2h_text_deinit(&show->text);
    g2h_text_deinit(&show->type);
}

/* Writes the stack of a goroutine with its variables, goroutine 17, or one of these, goroutine 17 ·
 * v: sections.h. Errors: G2H_ERROR_NOT_FOUND. */
static struct g2h_error *report_put_goroutine(const struct report *report, const char *asked)
{
    _cleanup_(show_deinit) struct show show = {.report = report, .view = report->findings->view};
    TRY(g2h_values_create(show.view, &show.values));
    return show_put_goroutine(&show, asked);
}

/* Shows the goroutines that are asked for, and one of them; *ret_found is false if there are none.
 */
static struct g2h_error *show_put_goroutines(struct show *show, const char *asked, bool *ret_found)
{
    _cleanup_(text_deinit) struct text example = {0};
    TRY(report_put_goroutines_of(show->report, asked, &example));
    *ret_found = example.size > 0;
    return *ret_found ? show_put_goroutine(show, example.data) : NULL;
}

/* Shows what has been found, and goroutines rather than their group. */
static struct g2h_error *show_put_found(struct show *show, const char *asked,
                                        const struct lookup *lookup)
{
    bool has_goroutines;
    switch (lookup->kind) {
    case LOOKUP_CLASS:
        return show_put_class(show, lookup);
    case LOOKUP_PART:
        return show_put_part(show, &lookup->part);
    case LOOKUP_GROUP:
        TRY(show_put_goroutines(show, asked, &has_goroutines));
        return has_goroutines ? NULL : report_put_group(show->report, lookup->group);
    default:
        return show_put_object(show, lookup->node, lookup->address, lookup->offset);
    }
}

/* Shows what a query names. The meanings are tried in this order: a goroutine by its number, a
 * variable, unless it is a pointer to an object, all else that has the name, goroutines by a place.
 */
struct g2h_error *report_put_shown(const struct report *report, const char *asked)
{
    _cleanup_(show_deinit) struct show show = {.report = report, .view = report->findings->view};
    _cleanup_(lookup_deinit) struct lookup lookup = {.node = UINT32_MAX};
    struct g2h_location location;
    bool has_goroutines;
    if (show_is_of_goroutine(asked))
        return report_put_goroutine(report, asked);
    if (!g2h_view_is_typed(show.view))
        return error_create(G2H_ERROR_NOT_FOUND,
                            "without types there are no values to show: --exe gives them");
    TRY(g2h_values_create(show.view, &show.values));
    const enum g2h_variable found = g2h_location_of_variable(show.view, asked, &location);
    if (found == G2H_VARIABLE_NOT_IN_DUMP)
        return lookup_refuse_absent(asked);
    if (found == G2H_VARIABLE_FOUND && show_leads_to(&show, &location) == 0)
        return put_variable(&show, asked, &location);
    struct g2h_error *error = lookup_find(report->findings, asked, &lookup);
    if (!error)
        return show_put_found(&show, asked, &lookup);
    if (error->code != G2H_ERROR_NOT_FOUND)
        return error;
    struct g2h_error *other = show_put_goroutines(&show, asked, &has_goroutines);
    g2h_error_destroy(other || has_goroutines ? error : NULL);
    return other || has_goroutines ? other : error;
}

/* ==== the path from the roots to an object ==== */

CLEANUP_POINTER(destroy_values, struct g2h_values, g2h_values_destroy);

struct path_to_path {
    const struct report *report;
    struct g2h_edges *edges;
    node_vector nodes;
    uint64_t older; /* only objects of a class that are older than so many seconds; 0: all */
};

/* Adds a row for a node. If has_edge is set, edge is its first column, and the node's class the
 * second, cut to LONGEST_CLASS characters; otherwise the class is the first. */
static void path_to_put_row(const struct report *report, struct table *table, uint32_t number,
                            struct g2h_bytes edge, bool has_edge)
{
    enum { LONGEST_CLASS = 48 };
    struct g2h_node node;
    g2h_view_brief(report->findings->view, number, &node);
    const bool is_object = merged_is_object(node.kind);
    const bool has_address = node.object != UINT32_MAX;
    TABLE_PUT(table, "%?s{step}%.*s{class}%?a{address}%?s%?b{bytes}%?s%b{retained}", has_edge, edge,
              has_edge ? LONGEST_CLASS : 0, report_name_of(report, &node), has_address,
              node.address, !has_address, "", is_object, node.size, !is_object, "",
              g2h_dominators_retained_size(report->findings->dominators, number));
}

/* ---- the path ---- */

/* Reports the path that has been found as an expression, if it has one; the groups that share the
 * object; and a finalizer that keeps it. */
static struct g2h_error *path_to_put_held_by(struct path_to_path *path, uint32_t node)
{
    const struct report *report = path->report;
    _cleanup_(text_deinit) struct text expression = {0};
    const char *sharers;
    size_t size;
    TRY(expression_append(report->findings->view, path->edges, path->nodes.data, path->nodes.count,
                          &expression));
    TRY_MEMORY(!expression.failed);
    if (expression.size > 0)
        PUT(report->page, "  held by     %#s{held_by}\n", &expression);
    if (g2h_view_sharers(report->findings->view, node, &sharers, &size))
        PUT(report->page, "  shared by   %s{shared_by}\n", report_bytes(sharers, size));
    return report_put_finalized(report, node, "  ");
}

/* Writes the table of the path's steps; nodes that paths do not show are left out. */
static struct g2h_error *put_steps(struct path_to_path *path)
{
    const struct report *report = path->report;
    const node_vector *nodes = &path->nodes;
    _cleanup_(table_deinit) struct table table = {0};
    table_init(&table, report->page, "steps", "STEPS,to,@at,>bytes,>retained",
               2 * REPORT_ASKED_ROWS);
    for (size_t i = 1; i < nodes->count; i++) {
        _cleanup_(text_deinit) struct text edge = {0};
        if (!path_shows(report->findings->view, nodes->data[i]) || table_skip_row(&table))
            continue;
        path_append_step(report->findings->paths, nodes->data[i - 1], nodes->data[i], &edge);
        TRY_MEMORY(!edge.failed);
        path_to_put_row(report, &table, nodes->data[i], report_bytes(edge.data, edge.size), true);
    }
    return table_end(&table);
}

/* Writes the table of all that alone holds a node, from the nearest dominator up to the root. */
static struct g2h_error *put_dominators(const struct path_to_path *path, uint32_t node)
{
    const struct report *report = path->report;
    _cleanup_(table_deinit) struct table table = {0};
    table_init(&table, report->page, "dominators", "HELD ALONE BY,@at,>bytes,>retained",
               REPORT_ASKED_ROWS);
    for (uint32_t i = node; i != 0;) {
        i = g2h_dominators_of(report->findings->dominators, i);
        if (path_shows(report->findings->view, i) && !table_skip_row(&table))
            path_to_put_row(report, &table, i, bytes_none, false);
    }
    return table_end(&table);
}

/* ---- an object ---- */

/* Reports an object and the path to it. offset is that of the address that was asked for, in the
 * object. */
static struct g2h_error *path_to_put_object(struct path_to_path *path, uint32_t number,
                                            uint64_t offset)
{
    const struct report *report = path->report;
    report_put_object(report, number, offset);
    TRY(path_shortest(report->findings->paths, number, &path->nodes));
    TRY(path_to_put_held_by(path, number));
    TRY(put_steps(path));
    TRY(put_dominators(path, number));
    TRY(report_put_retainers(report, path->edges, number));
    page_close(report->page);
    return NULL;
}

/* ---- a class ---- */

/* Adds a row for objects of a class that one node of merged has. */
static struct g2h_error *put_holders_row(const struct report *report, struct table *table,
                                         const struct ages_older_line *line)
{
    _cleanup_(text_deinit) struct text chain = {0};
    struct g2h_node example;
    g2h_view_brief(report->findings->view, line->largest, &example);
    report_append_holders(report, line->node, &chain);
    if (chain.size == 0)
        text_printf(&chain, "(several roots)");
    TRY_MEMORY(!chain.failed);
    TABLE_PUT(table, "%s{holders}%n{objects}%b{retained}%?a{address}", &chain, line->count,
              line->retained, example.object != UINT32_MAX, example.address);
    return NULL;
}

/* Begins the table of who holds the objects of a class. */
static void begin_holders(const struct report *report, struct table *ret)
{
    table_init(ret, report->page, "holders", "WHO HOLDS THEM,>objects,>retained,@one of them at",
               report_rows(report, REPORT_ROWS));
}

/* Writes a row for each node of merged that has objects of the class. */
static struct g2h_error *path_to_put_holders(const struct report *report, const ranking *nodes)
{
    _cleanup_(table_deinit) struct table table = {0};
    begin_holders(report, &table);
    VECTOR_EACH(const struct ranked, holder, *nodes) {
        const struct merged_node *merged = report_node(report, holder->node);
        const struct ages_older_line line = {holder->node, merged->count, merged->retained,
                                             merged->example};
        TRY(put_holders_row(report, &table, &line));
    }
    return table_end(&table);
}

/* Reports only the old objects of a class, after the line about all of them. */
static struct g2h_error *put_older(struct path_to_path *path, const struct lookup *lookup)
{
    const struct report *report = path->report;
    _cleanup_(ages_older_deinit) struct ages_older older = {0};
    _cleanup_(table_deinit) struct table table = {0};
    TRY(ages_find_older(report->findings, report_node(report, lookup->class)->name, path->older,
                        &older));
    PUT(report->page,
        "<older>  older       %n{objects} older than %n{seconds} s retain %b{retained} (%.1p); "
        "only these below\n</>",
        older.count, path->older, older.retained, older.retained, report->findings->reachable);
    begin_holders(report, &table);
    VECTOR_EACH(const struct ages_older_line, line, older.lines)
        TRY(put_holders_row(report, &table, line));
    TRY(table_end(&table));
    page_close(report->page);
    return older.lines.count > 0 ? path_to_put_object(path, older.lines.data[0].largest, 0) : NULL;
}

/* Returns the node of merged that has most of a class and is not garbage: its holder is to blame.
 * MERGED_NONE: all of them are garbage. */
static uint32_t path_to_find_holder(const struct findings *findings, const ranking *nodes)
{
    VECTOR_EACH(const struct ranked, holder, *nodes)
        if (!findings_is_dead(findings->view, findings_node(findings, holder->node)->example))
            return holder->node;
    return MERGED_NONE;
}

/* Reports who holds the objects of a class, and then the path to the largest one of the holder that
 * is to blame. If only old objects are asked for, reports these instead. */
static struct g2h_error *path_to_put_class(struct path_to_path *path, const struct lookup *lookup)
{
    const struct report *report = path->report;
    _cleanup_vector_ ranking nodes = {0};
    TRY(report_put_class(report, lookup->class, &nodes));
    if (path->older > 0)
        return put_older(path, lookup);
    TRY(path_to_put_holders(report, &nodes));
    page_close(report->page);
    const uint32_t live = path_to_find_holder(report->findings, &nodes);
    const uint32_t shown = live == MERGED_NONE ? lookup->class : live;
    /* The objects of a class may have a name of their own: the nodes of a sync.Map. */
    struct g2h_node example;
    g2h_view_brief(report->findings->view, report_node(report, shown)->example, &example);
    const uint32_t name = example.kind == G2H_NODE_TEXT ? UINT32_MAX : example.name;
    const uint32_t largest = class_rows_find_largest(report->findings, name, live);
    return largest == UINT32_MAX ? NULL : path_to_put_object(path, largest, 0);
}

static void path_deinit(struct path_to_path *path)
{
    free(path->nodes.data);
}

/* Returns whether a class has no objects but garbage. */
static bool path_to_is_garbage(const struct report *report, const struct lookup *lookup)
{
    _cleanup_vector_ ranking nodes = {0};
    struct class_row row = {0};
    if (lookup->kind != LOOKUP_CLASS)
        return false;
    struct g2h_error *error = class_rows_find_one(
        report->findings, report_node(report, lookup->class)->name, &row, &nodes);
    g2h_error_destroy(error);
    return !error && row.garbage == row.count;
}

/* ---- a part ---- */

/* Adds a table of the objects that the values of a part lead to. Pointers elsewhere are left
 * out. */
static struct g2h_error *path_to_put_targets(const struct report *report,
                                             const struct variable_part *part)
{
    const struct g2h_view *view = report->findings->view;
    const struct g2h_heap *heap = g2h_view_heap(view);
    _cleanup_(table_deinit) struct table table = {0};
    _cleanup_(destroy_values) struct g2h_values *values = NULL;
    struct g2h_value value;
    struct g2h_bytes rest;
    TRY(g2h_values_create(view, &values));
    table_init(&table, report->page, "leads_to", "LEADS TO,class,@at,>bytes,>retained",
               REPORT_ASKED_ROWS);
    g2h_values_begin_at(values, &part->location);
    while (g2h_values_next(values, &value)) {
        uint32_t object;
        if (!variable_part_has(part, &value, &rest) || table_skip_row(&table))
            continue;
        const struct variable_part one = {.is_value = true, .value = value};
        const uint64_t target = variable_part_target(report->findings, &one);
        if (target == 0 || !g2h_heap_find(heap, target, &object))
            continue;
        const uint32_t node = g2h_view_object(view, object);
        if (node != UINT32_MAX)
            path_to_put_row(report, &table, node, rest.size > 0 ? rest : page_key("(the value)"),
                            true);
    }
    return table_end(&table);
}

/* Reports how much a variable retains, if it has a node of its own in the tree; and how much the
 * sync.Pools in it cache, which is not the variable's. */
static struct g2h_error *path_to_put_retained(const struct report *report,
                                              const struct variable_part *part)
{
    const struct findings *findings = report->findings;
    uint32_t i = 0;
    while (i < findings->merged.nodes.count &&
           (!findings_is_kind(findings, i, G2H_NODE_VARIABLE) ||
            !bytes_same(report_name(report, i), report_bytes(part->name.data, part->name.size))))
        i++;
    if (i == findings->merged.nodes.count)
        return NULL;
    _cleanup_vector_ node_vector pooled = {0};
    const uint64_t own = report_node(report, i)->retained;
    uint64_t cached = 0;
    TRY(lookup_pooled(findings, i, &pooled));
    VECTOR_EACH(const uint32_t, node, pooled)
        cached += g2h_dominators_retained_size(findings->dominators, *node);
    if (own > 0 || pooled.count == 0)
        PUT(report->page, "  retains %b (%.1p) until the program changes it\n", own, own,
            findings->reachable);
    if (pooled.count > 0)
        PUT(report->page, "  caches %b (%.1p) that the next collections free\n", cached, cached,
            findings->reachable);
    PUT(report->page, "|%b{retained}|", own + cached);
    return NULL;
}

/* Reports a value that is no object: of an object the path to that, of a variable what it leads
 * to. */
static struct g2h_error *path_to_put_part(struct path_to_path *path, const struct lookup *lookup)
{
    const struct report *report = path->report;
    const struct variable_part *part = &lookup->part;
    const bool is_in_object = lookup->node != UINT32_MAX;
    page_open(report->page, "variable");
    TRY(show_put_part_head(report, part));
    if (!is_in_object) {
        TRY(path_to_put_retained(report, part));
        TRY(path_to_put_targets(report, part));
    }
    page_close(report->page);
    return is_in_object ? path_to_put_object(path, lookup->node, part->offset) : NULL;
}

/* Reports what lookup_find() has found, by its kind. */
static struct g2h_error *path_to_put_found(struct path_to_path *path, const struct lookup *lookup)
{
    switch (lookup->kind) {
    case LOOKUP_CLASS:
        return path_to_put_class(path, lookup);
    case LOOKUP_PART:
        return path_to_put_part(path, lookup);
    case LOOKUP_GROUP:
        return report_put_group(path->report, lookup->group);
    default:
        return path_to_put_object(path, lookup->node, lookup->offset);
    }
}

/* Refuses older objects of what has no age of its own, or one only. */
static struct g2h_error *check_older(const struct path_to_path *path, const struct lookup *lookup,
                                     const char *asked)
{
    return path->older == 0 || lookup->kind == LOOKUP_CLASS
               ? NULL
               : error_create(G2H_ERROR_NOT_FOUND,
                              "'%s' is not a class: only objects of a class are chosen by age",
                              asked);
}

/* Shows the path to what a query names. A goroutine's number is tried first, and is the only
 * meaning then. Otherwise, if the query names places of goroutines, these and an example are
 * written; and then whatever else has the name, such as an object, is written as well. If there
 * were goroutines, it is no error that nothing else has the name, and a group or garbage of that
 * name is left out. With an age (older > 0) only objects are meant. */
struct g2h_error *report_put_path(const struct report *report, const char *asked, uint64_t older)
{
    _cleanup_(path_deinit) struct path_to_path path = {
        .report = report, .edges = paths_edges(report->findings->paths), .older = older};
    _cleanup_(lookup_deinit) struct lookup lookup = {.node = UINT32_MAX};
    if (older == 0 && show_is_of_goroutine(asked))
        return report_put_goroutine(report, asked);
    _cleanup_(text_deinit) struct text example = {0};
    if (older == 0)
        TRY(report_put_goroutines_of(report, asked, &example));
    const bool has_goroutines = example.size > 0;
    if (has_goroutines)
        TRY(report_put_goroutine(report, example.data));
    struct g2h_error *error = lookup_find(report->findings, asked, &lookup);
    if (has_goroutines &&
        (error || lookup.kind == LOOKUP_GROUP || path_to_is_garbage(report, &lookup))) {
        g2h_error_destroy(error);
        return NULL;
    }
    TRY(error);
    TRY(check_older(&path, &lookup, asked));
    return path_to_put_found(&path, &lookup);
}
