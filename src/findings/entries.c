/* entries; see entries.h. */
#include "findings/entries.h"

#include <string.h>

#include "base/scope.h"

struct collector {
    const struct g2h_view *view;
    struct entries *entries;
    struct g2h_text key, other;
};

/* Formats a key for display if it is a string. */
static bool entries_write_string(const struct g2h_view *view, const struct g2h_value *key,
                                 struct g2h_text *text)
{
    struct g2h_content content;
    if (key->kind != G2H_VALUE_STRING || g2h_view_is_redacted(view))
        return false;
    g2h_value_content(view, key, text, &content);
    return true;
}

/* Returns whether the new key, whose bytes are in collector->key if it is a string, comes before
 * another one. */
static bool is_before(struct collector *collector, const struct g2h_value *key, bool is_string,
                      const struct g2h_value *other)
{
    uint64_t one_order, other_order;
    const struct g2h_text *one = &collector->key, *two = &collector->other;
    if (is_string && entries_write_string(collector->view, other, &collector->other)) {
        const size_t size = one->size < two->size ? one->size : two->size;
        const int order = size > 0 ? memcmp(one->data, two->data, size) : 0;
        return order < 0 || (order == 0 && one->size < two->size);
    }
    return g2h_value_order(collector->view, key, &one_order) &&
           g2h_value_order(collector->view, other, &other_order) && one_order < other_order;
}

/* Inserts an entry into the sorted list of the first ENTRIES_FIRST ones, and drops the last if the
 * list is full. A map may have millions of entries, so they are not collected and sorted. Returns
 * false if memory runs out, which ends the visit. */
static bool entries_collect(void *context, const struct g2h_entry *entry)
{
    struct collector *collector = context;
    struct entries *entries = collector->entries;
    const bool is_string = entries_write_string(collector->view, &entry->key, &collector->key);
    size_t at = entries->shown;
    entries->count++;
    while (at > 0 && is_before(collector, &entry->key, is_string, &entries->first[at - 1].key))
        at--;
    if (at == ENTRIES_FIRST)
        return true;
    entries->shown += entries->shown < ENTRIES_FIRST;
    memmove(&entries->first[at + 1], &entries->first[at],
            (entries->shown - at - 1) * sizeof(*entries->first));
    entries->first[at] = *entry;
    return !collector->key.failed && !collector->other.failed;
}

struct g2h_error *entries_find(const struct g2h_view *view, const struct g2h_location *map,
                               struct entries *ret)
{
    struct collector collector = {.view = view, .entries = ret};
    *ret = (struct entries){.count = 0};
    struct g2h_error *error = g2h_location_entries(view, map, entries_collect, &collector);
    const bool failed = collector.key.failed || collector.other.failed;
    g2h_text_deinit(&collector.key);
    g2h_text_deinit(&collector.other);
    TRY(error);
    TRY_MEMORY(!failed);
    return NULL;
}

bool entries_length(const struct g2h_view *view, struct g2h_values *values,
                    const struct g2h_location *map, uint64_t *ret)
{
    const uint64_t sign = (uint64_t)1 << 63;
    struct g2h_value value;
    g2h_values_begin_at(values, map);
    while (g2h_values_next(values, &value)) {
        const bool is_used = value.path_size == 4 && memcmp(value.path, "used", 4) == 0,
                   is_count = value.path_size == 5 && memcmp(value.path, "count", 5) == 0;
        if (!is_used && !is_count)
            continue;
        if (!g2h_value_order(view, &value, ret))
            return false;
        *ret ^= value.kind == G2H_VALUE_INT ? sign : 0; /* count is an int, used a uint64 */
        return *ret < sign;
    }
    return false;
}
