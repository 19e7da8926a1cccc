/*
 * html_series: how a heap grew over several dumps; see data.h.
 *
 * Each earlier dump is a base, which has hashes of names in place of names. So the classes and
 * places that are shown are those of the last dump, and the bases provide their earlier values. So
 * it is with the tree: its nodes have, for earlier dumps, what they retained then, with which the
 * page compares any two dumps.
 */
#include <string.h>

#include "base/contract.h"
#include "base/error.h"
#include "findings/class_rows.h"
#include "findings/goroutines.h"
#include "findings/trend.h"
#include "output/html/data.h"

/* How many are shown, and by how many goroutines a place must have changed: one comes and goes. */
enum { MOST_CLASSES = 8, MOST_PLACES = 4, LEAST_CHANGE = 2 };

/* Of how many classes the earlier values are looked up, those that grew most first. */
enum { PAST_CLASSES = 5000 };

struct html_series {
    struct data *data;
    const struct g2h_base *const *bases;
    size_t count;
    const int64_t *times; /* of the bases and of the last heap; NULL: not known */
};

static uint64_t html_series_distance(uint64_t one, uint64_t other)
{
    return one > other ? one - other : other - one;
}

/* ---- dumps ---- */

/* Adds the totals of one dump, and its time if times are known. */
static void put_dump(const struct html_series *series, const struct growth_totals *totals,
                     size_t number)
{
    struct data *data = series->data;
    const struct {
        const char *key;
        uint64_t value;
    } numbers[] = {{"reachable", totals->reachable},
                   {"objects", totals->objects},
                   {"goroutines", totals->goroutines}};
    data_words(data, number > 0 ? ",\n{" : "{");
    data_key(data, "source");
    data_string(data, totals->name, strlen(totals->name));
    for (size_t i = 0; i < COUNT_OF(numbers); i++) {
        data_words(data, ",");
        data_key(data, numbers[i].key);
        data_number(data, numbers[i].value);
    }
    if (series->times) {
        data_words(data, ",");
        data_key(data, "time");
        data_number(data, (uint64_t)series->times[number]);
    }
    data_words(data, "}");
}

/* Adds the totals of all bases, and then of the present heap. */
static void put_dumps(const struct html_series *series, const char *source)
{
    const struct findings *findings = series->data->findings;
    _cleanup_free_ char *name = strdup(source);
    const struct growth_totals last = {.name = name,
                                       .reachable = findings->reachable,
                                       .objects = growth_count_held(findings->view),
                                       .goroutines = g2h_view_goroutine_count(findings->view)};
    data_key(series->data, "dumps");
    data_words(series->data, "[");
    for (size_t i = 0; i < series->count; i++)
        put_dump(series, growth_totals(series->bases[i]), i);
    if (name)
        put_dump(series, &last, series->count);
    series->data->out.text.failed |= !name;
    data_words(series->data, "]");
}

/* ---- rows ---- */

/* The values of a class or a place in each dump. */
struct html_series_row {
    uint64_t weight; /* how much it grew or shrank */
    uint32_t node;   /* of merged */
    uint64_t objects, bytes;
};

/* Adds a row to the heaviest ones, at most `most`, which are sorted by weight. A row of weight 0,
 * or one lighter than all of these if there are as many already, is left out. */
static void html_series_add_row(struct html_series_row *rows, size_t *count, size_t most,
                                const struct html_series_row *row)
{
    size_t at = *count;
    assert(*count <= most && IS_ORDERED(i, *count, rows[i - 1].weight >= rows[i].weight));
    if (row->weight == 0)
        return;
    while (at > 0 && rows[at - 1].weight < row->weight)
        at--;
    if (at == most)
        return;
    *count += *count < most;
    memmove(&rows[at + 1], &rows[at], (*count - at - 1) * sizeof(*rows));
    rows[at] = *row;
}

/* Begins a row: its name, and a list under a key. */
static void begin_row(struct data *data, const char *name, size_t size, const char *key,
                      size_t number)
{
    data_words(data, number > 0 ? ",\n{" : "{");
    data_key(data, "name");
    data_string(data, name, size);
    data_words(data, ",");
    data_key(data, key);
    data_words(data, "[");
}

/* ---- classes ---- */

/* Adds how many objects and bytes a class had in each dump, the present one last. */
static void html_series_put_class(const struct html_series *series,
                                  const struct html_series_row *row, size_t number)
{
    struct data *data = series->data;
    size_t size;
    const char *name = merged_name(&data->findings->merged, row->node, &size);
    begin_row(data, name, size, "objects", number);
    for (size_t i = 0; i < series->count; i++) {
        data_number(data, growth_class_before(series->bases[i], name, size).count);
        data_words(data, ",");
    }
    data_number(data, row->objects);
    data_words(data, "],");
    data_key(data, "bytes");
    data_words(data, "[");
    for (size_t i = 0; i < series->count; i++) {
        data_number(data, growth_class_before(series->bases[i], name, size).bytes);
        data_words(data, ",");
    }
    data_number(data, row->bytes);
    data_words(data, "]}");
}

/* Adds the MOST_CLASSES classes whose bytes have changed most since the first base. */
static struct g2h_error *put_classes(const struct html_series *series)
{
    _cleanup_(class_rows_deinit) struct class_rows classes = {0};
    struct html_series_row rows[MOST_CLASSES + 1];
    size_t count = 0;
    TRY(class_rows_find(series->data->findings, false, &classes));
    VECTOR_EACH(const struct class_row, class, classes.list) {
        size_t size;
        const char *name = merged_name(&series->data->findings->merged, class->node, &size);
        const struct growth_class before = growth_class_before(series->bases[0], name, size);
        html_series_add_row(
            rows, &count, MOST_CLASSES,
            &(struct html_series_row){html_series_distance(class->held, before.bytes), class->node,
                                      class->count - class->garbage, class->held});
    }
    data_key(series->data, "classes");
    data_words(series->data, "[");
    for (size_t i = 0; i < count; i++)
        html_series_put_class(series, &rows[i], i);
    data_words(series->data, "]");
    return NULL;
}

/* ---- places of goroutines ---- */

/* Finds how many goroutines were in some places when a base was made. */
static struct g2h_error *count_before(const struct html_series *series, const struct g2h_base *base,
                                      const struct html_series_row *rows, size_t count,
                                      uint64_t *ret)
{
    struct findings then = *series->data->findings;
    growth_vector growth = {0};
    struct g2h_error *error = growth_find(base, &then.merged, &growth);
    then.growth = growth;
    for (size_t i = 0; i < count && !error; i++)
        ret[i] = rows[i].objects - (uint64_t)findings_members_grown(&then, rows[i].node);
    free(growth.data);
    return error;
}

/* Returns the name of a place, "[select] main.serve", without the word before it. */
static const char *place_name(const struct merged *merged, uint32_t node, size_t *ret_size)
{
    static const char word[] = "goroutine"; /* or goroutines */
    const char *name = merged_name(merged, node, ret_size);
    const char *blank = *ret_size > sizeof(word) - 1 && memcmp(name, word, sizeof(word) - 1) == 0
                            ? memchr(name, ' ', *ret_size)
                            : NULL;
    if (!blank)
        return name;
    *ret_size -= as_size(blank + 1 - name);
    return blank + 1;
}

/* Adds the places whose number of goroutines has changed most, with that number in each base and,
 * last, now. */
static struct g2h_error *put_places(const struct html_series *series)
{
    struct data *data = series->data;
    _cleanup_vector_ goroutine_place_vector places = {0};
    _cleanup_free_ uint64_t *counts = calloc(series->count * MOST_PLACES, sizeof(*counts));
    struct html_series_row rows[MOST_PLACES + 1];
    size_t count = 0;
    TRY_MEMORY(counts);
    TRY(goroutines_find_places(data->findings, &places));
    VECTOR_EACH(const struct goroutine_place, place, places) {
        const uint64_t change = (uint64_t)llabs(place->grown);
        if (change >= LEAST_CHANGE)
            html_series_add_row(rows, &count, MOST_PLACES,
                                &(struct html_series_row){change, place->node, place->count, 0});
    }
    for (size_t i = 0; i < series->count; i++)
        TRY(count_before(series, series->bases[i], rows, count, &counts[i * MOST_PLACES]));
    data_key(data, "places");
    data_words(data, "[");
    for (size_t i = 0; i < count; i++) {
        size_t size;
        const char *name = place_name(&data->findings->merged, rows[i].node, &size);
        begin_row(data, name, size, "count", i);
        for (size_t j = 0; j < series->count; j++) {
            data_number(data, counts[j * MOST_PLACES + i]);
            data_words(data, ",");
        }
        data_number(data, rows[i].objects);
        data_words(data, "]}");
    }
    data_words(data, "]");
    return NULL;
}

/* ---- the tree and the classes in earlier dumps ---- */

/* Adds the nodes whose retained bytes or counts differ from those of another dump: number,
 * retained, count. */
static void put_changes(struct data *data, const struct html_tree_past *before,
                        const struct html_tree_past *past)
{
    size_t count = 0;
    data_words(data, "[");
    for (uint32_t i = 0; i < past->size; i++) {
        if (past->was[i] == before->was[i] && past->was_count[i] == before->was_count[i])
            continue;
        data_comma(data, count++);
        data_number(data, i);
        data_words(data, ",");
        data_number(data, past->was[i]);
        data_words(data, ",");
        data_number(data, past->was_count[i]);
    }
    data_words(data, "]");
}

/* Finds what each node in the page's tree had when a base was made, by the growth since then. Only
 * a copy of the findings gets that growth. */
static struct g2h_error *find_past(const struct html_series *series, const struct html_tree *tree,
                                   size_t number, struct html_tree_past *ret)
{
    struct findings then = *series->data->findings;
    growth_vector growth = {0};
    struct g2h_error *error = growth_find(series->bases[number], &then.merged, &growth);
    then.growth = growth;
    if (!error)
        error = tree_past_find(&then, tree, ret);
    free(growth.data);
    return error;
}

/* Adds for every stride-th base but the first how the tree differs from that of the one before. */
static struct g2h_error *put_trees(const struct html_series *series, const struct html_tree *tree,
                                   size_t stride)
{
    _cleanup_(tree_past_deinit) struct html_tree_past before = {0}, past = {0};
    TRY(find_past(series, tree, 0, &before));
    for (size_t i = stride; i < series->count; i += stride) {
        TRY(find_past(series, tree, i, &past));
        data_comma(series->data, i - stride);
        put_changes(series->data, &before, &past);
        const struct html_tree_past found = past;
        past = before;
        before = found;
    }
    return NULL;
}

/* Adds what a class had in the past: its objects and bytes in every stride-th base. *count is how
 * many classes have been added. Nothing if it has not changed since any of these bases. Returns
 * false if it does not fit: the page has most bytes already. */
static bool put_past_class(const struct html_series *series, const struct class_row *class,
                           size_t stride, size_t *count, size_t most)
{
    struct data *data = series->data;
    const uint64_t held = class->count - class->garbage;
    bool is_changed = false;
    size_t size;
    const char *name = merged_name(&data->findings->merged, class->node, &size);
    for (size_t i = 0; i < series->count && !is_changed; i += stride) {
        const struct growth_class then = growth_class_before(series->bases[i], name, size);
        is_changed = then.count != held || then.bytes != class->held;
    }
    if (!is_changed)
        return true;
    if (data_size(&data->out) >= most)
        return false;
    begin_row(data, name, size, "objects", (*count)++);
    for (size_t i = 0; i < series->count; i += stride) {
        data_comma(data, i);
        data_number(data, growth_class_before(series->bases[i], name, size).count);
    }
    data_words(data, "],");
    data_key(data, "bytes");
    data_words(data, "[");
    for (size_t i = 0; i < series->count; i += stride) {
        data_comma(data, i);
        data_number(data, growth_class_before(series->bases[i], name, size).bytes);
    }
    data_words(data, "]}");
    return true;
}

/* Adds the earlier values of classes for every stride-th base, for the first PAST_CLASSES classes
 * and as long as there is space; and how many classes were cut. */
static struct g2h_error *put_past_classes(const struct html_series *series, size_t stride)
{
    _cleanup_(class_rows_deinit) struct class_rows classes = {0};
    const size_t most = data_size(&series->data->out) + DATA_PAST_CLASSES_BYTES;
    size_t count = 0, cut = 0;
    TRY(class_rows_find(series->data->findings, false, &classes));
    data_key(series->data, "classes");
    data_words(series->data, "[");
    for (size_t i = 0; i < classes.list.count; i++)
        cut += i >= PAST_CLASSES ||
               !put_past_class(series, &classes.list.data[i], stride, &count, most);
    data_words(series->data, "],");
    data_key(series->data, "cut");
    data_number(series->data, cut);
    return NULL;
}

/* Adds what the page compares: the numbers of the dumps, and how the tree differs between them. If
 * this has more than DATA_PAST_BYTES, it is taken back, and made again of every second dump, then
 * of every fourth one and so on. */
static struct g2h_error *put_compared(const struct html_series *series,
                                      const struct html_tree *tree)
{
    struct data *data = series->data;
    const size_t begin = data->out.text.size;
    const size_t markup = data->out.markup;
    size_t stride = 1;
    for (;; stride *= 2) {
        data_key(data, "compared");
        data_words(data, "{");
        data_key(data, "dumps");
        data_words(data, "[");
        for (size_t i = 0; i < series->count; i += stride) {
            data_comma(data, i);
            data_number(data, i);
        }
        data_words(data, "],");
        data_key(data, "changes");
        data_words(data, "[");
        TRY(put_trees(series, tree, stride));
        data_words(data, "],\n");
        if (stride >= series->count || data->out.text.size - begin <= DATA_PAST_BYTES)
            break;
        data->out.text.size = begin;
        data->out.markup = markup;
    }
    TRY(put_past_classes(series, stride));
    data_words(data, "}");
    return NULL;
}

/* Adds what earlier dumps of the series had. Times only if they differ. */
struct g2h_error *data_put_series(struct data *data, const struct html_tree *tree,
                                  const struct g2h_html_options *wanted, const char *source)
{
    const size_t count = wanted->series_count;
    const bool has_times = wanted->times && trend_times_elapsed(wanted->times, count + 1) > 0;
    const struct html_series series = {data, wanted->series, count,
                                       has_times ? wanted->times : NULL};
    data_key(data, "series");
    data_words(data, "{");
    put_dumps(&series, source);
    data_words(data, ",");
    TRY(put_classes(&series));
    data_words(data, ",");
    TRY(put_places(&series));
    data_words(data, ",\n");
    TRY(put_compared(&series, tree));
    data_words(data, "},\n");
    TRY_MEMORY(!data->out.text.failed);
    return NULL;
}
