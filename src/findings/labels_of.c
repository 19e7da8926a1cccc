/* labels_of; see labels_of.h. */
#include "findings/labels_of.h"

#include <stdlib.h>
#include <string.h>

#include "findings/stack_places.h"

/* ---- reading ---- */

static bool labels_add(void *context, const struct g2h_label *label)
{
    struct goroutine_labels *labels = context;
    struct goroutine_label made;
    return string_pool_intern(&labels->texts, label->key, label->key_size, &made.key) &&
           string_pool_intern(&labels->texts, label->value, label->value_size, &made.value) &&
           vector_push(&labels->list, made);
}

/* A visit that stops too early has run out of memory. */
struct g2h_error *goroutine_labels_read(const struct findings *findings,
                                        struct goroutine_labels *ret)
{
    const size_t count = g2h_view_goroutine_count(findings->view);
    ret->first = calloc(count + 1, sizeof(*ret->first));
    TRY_MEMORY(ret->first);
    for (size_t i = 0; i < count; i++) {
        ret->first[i] = (uint32_t)ret->list.count;
        TRY(g2h_view_labels(findings->view, i, labels_add, ret));
    }
    ret->first[count] = (uint32_t)ret->list.count;
    return NULL;
}

void goroutine_labels_deinit(struct goroutine_labels *labels)
{
    string_pool_deinit(&labels->texts);
    free(labels->list.data);
    free(labels->first);
}

/* Returns the value of a goroutine's label; UINT32_MAX: it has none of that key. */
static uint32_t labels_value_of(const struct goroutine_labels *labels, uint32_t goroutine,
                                uint32_t key)
{
    for (uint32_t i = labels->first[goroutine]; i < labels->first[goroutine + 1]; i++)
        if (labels->list.data[i].key == key)
            return labels->list.data[i].value;
    return UINT32_MAX;
}

/* ---- values ---- */

/* Sums by value. */
struct label_sums {
    struct map numbers; /* value → index in list */
    label_values list;
};

static void label_sums_deinit(struct label_sums *sums)
{
    map_deinit(&sums->numbers);
    free(sums->list.data);
}

static bool label_sums_add(struct label_sums *sums, uint32_t value, uint64_t count,
                           uint64_t retained)
{
    uint32_t at = (uint32_t)sums->list.count;
    if (!map_put(&sums->numbers, value, at, &at) ||
        (at == sums->list.count && !vector_push(&sums->list, ((struct label_value){value, 0, 0}))))
        return false;
    sums->list.data[at].count += count;
    sums->list.data[at].retained += retained;
    return true;
}

/* The goroutines without the label come last. */
static int label_values_compare(const void *a, const void *b)
{
    const struct label_value *one = a, *other = b;
    const bool is_none = one->value == UINT32_MAX, is_other_none = other->value == UINT32_MAX;
    if (is_none != is_other_none)
        return is_none ? 1 : -1;
    if (one->retained != other->retained)
        return one->retained > other->retained ? -1 : 1;
    if (one->count != other->count)
        return one->count > other->count ? -1 : 1;
    return one->value < other->value ? -1 : one->value > other->value;
}

/* Adds the goroutines of a place. */
static bool label_sums_add_place(struct label_sums *sums, const struct findings *findings,
                                 const struct goroutine_labels *labels, uint32_t key,
                                 uint32_t place)
{
    uint32_t count;
    const uint32_t *list = stack_index_of(findings, place, &count);
    struct g2h_view_goroutine goroutine;
    bool is_one = true;
    for (uint32_t i = 1; i < count; i++)
        is_one &= labels_value_of(labels, list[i], key) == labels_value_of(labels, list[0], key);
    if (is_one && count > 0)
        return label_sums_add(sums, labels_value_of(labels, list[0], key), count,
                              findings_node(findings, place)->retained);
    for (uint32_t i = 0; i < count; i++) {
        g2h_view_goroutine(findings->view, list[i], &goroutine);
        if (!label_sums_add(sums, labels_value_of(labels, list[i], key), 1,
                            g2h_dominators_retained_size(findings->dominators, goroutine.node)))
            return false;
    }
    return true;
}

struct g2h_error *label_values_find(const struct findings *findings,
                                    const struct goroutine_labels *labels, uint32_t key,
                                    label_values *ret)
{
    _cleanup_(label_sums_deinit) struct label_sums sums = {.list = {0}};
    for (uint32_t i = 0; i < findings->merged.nodes.count; i++)
        TRY_MEMORY(label_sums_add_place(&sums, findings, labels, key, i));
    vector_sort(&sums.list, label_values_compare);
    *ret = sums.list;
    sums.list.data = NULL;
    return NULL;
}

/* ---- the labels of a place ---- */

/* A label of more values has only their number. */
enum { FEW_VALUES = 3 };

/* Appends the values that goroutines of a place have for a key, if these are few or if they are
 * many. */
static struct g2h_error *labels_append_key(const struct goroutine_labels *labels,
                                           const uint32_t *list, uint32_t count, uint32_t key,
                                           bool are_few, struct text *text)
{
    _cleanup_(label_sums_deinit) struct label_sums sums = {.list = {0}};
    size_t size;
    const char *name = string_pool_text(&labels->texts, key, &size);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t value = labels_value_of(labels, list[i], key);
        if (value != UINT32_MAX)
            TRY_MEMORY(label_sums_add(&sums, value, 1, 0));
    }
    if ((sums.list.count <= FEW_VALUES) != are_few)
        return NULL;
    vector_sort(&sums.list, label_values_compare);
    text_append_string(text, text->size > 0 ? "; " : "");
    text_append_utf8(text, (const uint8_t *)name, size, 64);
    if (!are_few) {
        text_append_string(text, ": ");
        text_append_grouped(text, sums.list.count);
        text_append_string(text, " values");
        return NULL;
    }
    for (size_t i = 0; i < sums.list.count; i++) {
        const char *value = string_pool_text(&labels->texts, sums.list.data[i].value, &size);
        text_append_string(text, i == 0 ? "=" : ", ");
        text_append_utf8(text, (const uint8_t *)value, size, 64);
        if (sums.list.data[i].count == count)
            continue;
        text_append_string(text, " ");
        text_append_grouped(text, sums.list.data[i].count);
    }
    return NULL;
}

/* The keys are those of the first goroutine that has labels: few programs set others at the same
 * line. Those that tell most come first: a tenant rather than the number of a request. */
struct g2h_error *goroutine_labels_append(const struct findings *findings,
                                          const struct goroutine_labels *labels, uint32_t place,
                                          struct text *text)
{
    enum { MOST_KEYS = 4 };
    uint32_t count, at = 0;
    const uint32_t *list = stack_index_of(findings, place, &count);
    while (at < count && labels->first[list[at]] == labels->first[list[at] + 1])
        at++;
    if (at == count)
        return NULL;
    const uint32_t first = labels->first[list[at]], end = labels->first[list[at] + 1];
    for (uint32_t i = first; i < end && i < first + MOST_KEYS; i++)
        TRY(labels_append_key(labels, list, count, labels->list.data[i].key, true, text));
    for (uint32_t i = first; i < end && i < first + MOST_KEYS; i++)
        TRY(labels_append_key(labels, list, count, labels->list.data[i].key, false, text));
    text_append_string(text, end - first > MOST_KEYS ? "; …" : "");
    return NULL;
}
