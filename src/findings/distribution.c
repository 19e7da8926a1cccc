/* distribution; see distribution.h. */
#include "findings/distribution.h"

#include <stdlib.h>
#include <string.h>

#include "base/id_hash.h"
#include "base/scope.h"
#include "findings/held.h"

enum { NODES = 256 /* nodes of the view that are read at a time */ };

struct counter {
    const struct g2h_view *view;
    struct distribution *distribution;
    struct g2h_values *values;
    struct g2h_text text;
    uint32_t type; /* of the first object */
};

/* ---- values ---- */

/* Counts a value, given as bytes. Beyond DISTRIBUTION_DISTINCT different values, new ones count
 * only as others, so that memory stays bounded. */
static struct g2h_error *tally_add(struct tally *tally, const void *data, size_t size)
{
    uint32_t number;
    if (tally->counts.count < DISTRIBUTION_DISTINCT) {
        TRY_MEMORY(string_pool_intern(&tally->texts, data, size, &number));
        if (number == tally->counts.count)
            TRY_MEMORY(vector_push(&tally->counts, 0));
        tally->counts.data[number]++;
    } else if (string_pool_find(&tally->texts, data, size, &number)) {
        tally->counts.data[number]++;
    } else {
        tally->others++;
    }
    return NULL;
}

/* Adds a number: keeps the smallest and the largest one, counts the value, and maintains a random
 * sample for the median by reservoir sampling: the n-th number replaces a random element with
 * probability DISTRIBUTION_SAMPLE / n. */
static struct g2h_error *numbers_add(struct distribution_numbers *numbers,
                                     const struct sample *added)
{
    numbers->count++;
    if (numbers->count == 1 || added->order < numbers->least.order)
        numbers->least = *added;
    if (numbers->count == 1 || added->order > numbers->most.order)
        numbers->most = *added;
    const uint64_t at = id_hash(numbers->count) % numbers->count;
    if (numbers->sample.count < DISTRIBUTION_SAMPLE)
        TRY_MEMORY(vector_push(&numbers->sample, *added));
    else if (at < DISTRIBUTION_SAMPLE)
        numbers->sample.data[at] = *added;
    return tally_add(&numbers->tally, &added->order, sizeof(added->order));
}

static struct g2h_error *add_length(struct distribution_numbers *numbers, uint64_t length)
{
    return numbers_add(numbers, &(const struct sample){.order = length});
}

/* Counts a value that is not a number: whether it is nil, its length and capacity, and, unless
 * contents are redacted, which string, function or dynamic type it is. */
static struct g2h_error *add_content(struct counter *counter, const struct g2h_value *value,
                                     struct field_distribution *field)
{
    struct g2h_text *text = &counter->text;
    struct g2h_content content;
    g2h_value_content(counter->view, value, text, &content);
    TRY_MEMORY(!text->failed);
    field->nils += content.is_nil;
    if (content.has_length && value->kind != G2H_VALUE_BYTES)
        TRY(add_length(&field->lengths, content.length));
    if (content.has_length && value->kind == G2H_VALUE_SLICE)
        TRY(add_length(&field->capacities, content.capacity));
    if (content.is_nil || g2h_view_is_redacted(counter->view))
        return NULL;
    if (value->kind == G2H_VALUE_INTERFACE) {
        text->size = 0;
        g2h_value_type(counter->view, value, true, text);
        TRY_MEMORY(!text->failed);
    }
    return value->kind == G2H_VALUE_STRING || value->kind == G2H_VALUE_INTERFACE ||
                   field->is_function
               ? tally_add(&field->texts, text->data, text->size)
               : NULL;
}

/* Counts one field's value: an ordered value (number, time) by its number, a bool as true or false,
 * and all others by their contents. */
static struct g2h_error *add_value(struct counter *counter, const struct g2h_value *value,
                                   struct field_distribution *field)
{
    struct sample sample = {.data = value->data};
    field->count++;
    if (!g2h_value_order(counter->view, value, &sample.order))
        return add_content(counter, value, field);
    if (value->kind == G2H_VALUE_BOOL) {
        field->trues += sample.order != 0;
        return NULL;
    }
    return numbers_add(&field->numbers, &sample);
}

/* ---- objects ---- */

/* Adds the description of a field, with the path and the type that the value of the first object
 * has. */
static struct g2h_error *add_field(struct counter *counter, const struct g2h_value *value)
{
    struct distribution *distribution = counter->distribution;
    struct field_distribution field = {.value = *value};
    field.value.path = "";
    field.value.path_size = 0;
    counter->text.size = 0;
    g2h_value_type(counter->view, value, false, &counter->text);
    TRY_MEMORY(
        !counter->text.failed &&
        string_pool_intern(&distribution->names, value->path, value->path_size, &field.path) &&
        string_pool_intern(&distribution->names, counter->text.data, counter->text.size,
                           &field.type));
    field.is_function = value->kind == G2H_VALUE_POINTER && value->type_size > 4 &&
                        memcmp(value->type, "func", 4) == 0;
    TRY_MEMORY(vector_push(&distribution->fields, field));
    return NULL;
}

/* Counts an object. The values of two objects of one type correspond by their order. */
static struct g2h_error *add_object(struct counter *counter, uint32_t object)
{
    struct distribution *distribution = counter->distribution;
    struct g2h_location location;
    struct g2h_value value;
    const bool is_known = object != UINT32_MAX &&
                          g2h_location_of_object(counter->view, object, &location) &&
                          !location.is_array;
    if (!is_known || (distribution->objects > 0 && location.type != counter->type)) {
        distribution->others++;
        return NULL;
    }
    const bool is_first = distribution->objects++ == 0;
    counter->type = location.type;
    g2h_values_begin_at(counter->values, &location);
    for (size_t i = 0; g2h_values_next(counter->values, &value); i++) {
        if (i == DISTRIBUTION_FIELDS) {
            distribution->is_cut = true;
            break;
        }
        value.offset -= location.base;
        if (is_first)
            TRY(add_field(counter, &value));
        if (i < distribution->fields.count)
            TRY(add_value(counter, &value, &distribution->fields.data[i]));
    }
    return NULL;
}

static void counter_deinit(struct counter *counter)
{
    g2h_values_destroy(counter->values);
    g2h_text_deinit(&counter->text);
}

/* Counts the objects that the index has of a class. */
static struct g2h_error *distribution_look_up(const struct findings *findings, uint32_t name,
                                              struct counter *counter)
{
    size_t count;
    struct g2h_node node;
    const uint32_t *nodes = class_index_find(&findings->held->classes, name, &count);
    for (size_t i = 0; i < count && i < DISTRIBUTION_HELD; i++) {
        g2h_view_brief(findings->view, nodes[i], &node);
        TRY(add_object(counter, node.object));
    }
    counter->distribution->left_out = count > DISTRIBUTION_HELD ? count - DISTRIBUTION_HELD : 0;
    return NULL;
}

/* Without the index of a held heap this reads all nodes of the view. */
struct g2h_error *distribution_find(const struct findings *findings, uint32_t name,
                                    struct distribution *ret)
{
    _cleanup_(counter_deinit) struct counter counter = {.view = findings->view,
                                                        .distribution = ret};
    struct g2h_node nodes[NODES];
    size_t count;
    TRY(g2h_values_create(findings->view, &counter.values));
    if (findings->held)
        return distribution_look_up(findings, name, &counter);
    for (uint32_t first = 0; (count = g2h_view_nodes(findings->view, first, NODES, nodes)) > 0;
         first += (uint32_t)count)
        for (size_t i = 0; i < count; i++)
            if (nodes[i].kind == G2H_NODE_OBJECT && nodes[i].name == name)
                TRY(add_object(&counter, nodes[i].object));
    return NULL;
}

/* ---- results ---- */

static int compare_samples(const void *a, const void *b)
{
    const struct sample *one = a, *other = b;
    return one->order < other->order ? -1 : one->order > other->order;
}

const struct sample *numbers_median(struct distribution_numbers *numbers)
{
    vector_sort(&numbers->sample, compare_samples);
    return &numbers->sample.data[(numbers->sample.count - 1) / 2];
}

/* Selects by insertion: each value moves up in the list of the TALLY_TOP most frequent ones until a
 * more frequent one is above it. */
size_t tally_top(const struct tally *tally, uint32_t ret[TALLY_TOP])
{
    size_t count = 0;
    for (uint32_t i = 0; i < tally->counts.count; i++) {
        size_t at = count;
        while (at > 0 && tally->counts.data[i] > tally->counts.data[ret[at - 1]])
            at--;
        if (at == TALLY_TOP)
            continue;
        count += count < TALLY_TOP;
        memmove(&ret[at + 1], &ret[at], (count - at - 1) * sizeof(*ret));
        ret[at] = i;
    }
    return count;
}

static void tally_deinit(struct tally *tally)
{
    string_pool_deinit(&tally->texts);
    free(tally->counts.data);
}

static void distribution_numbers_deinit(struct distribution_numbers *numbers)
{
    free(numbers->sample.data);
    tally_deinit(&numbers->tally);
}

void distribution_deinit(struct distribution *distribution)
{
    for (size_t i = 0; i < distribution->fields.count; i++) {
        struct field_distribution *field = &distribution->fields.data[i];
        distribution_numbers_deinit(&field->numbers);
        distribution_numbers_deinit(&field->lengths);
        distribution_numbers_deinit(&field->capacities);
        tally_deinit(&field->texts);
    }
    free(distribution->fields.data);
    string_pool_deinit(&distribution->names);
}
