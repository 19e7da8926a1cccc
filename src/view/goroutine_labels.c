/*
 * goroutine_labels: the labels that a program has set on a goroutine for its profiles (pprof.Do,
 * SetGoroutineLabels), and who has started it; see include/go2heapsnapshot/view.h.
 *
 * Since Go 1.24 labels are a list (internal/runtime/pprof/label, Set), before that a map. Which of
 * them it is shows in the memory: the words of a list are an array of as many pairs of strings as
 * its length says. Keys and values may be literals, which only the executable's file has: such a
 * key is a name that the code gives, as those of fields and functions, so that redaction keeps it.
 */
#include <string.h>

#include "base/bytes.h"
#include "base/error.h"
#include "naming/symbols.h"
#include "view/locations.h"

enum { MOST_LABELS = 64, MOST_LABEL_BYTES = 1 << 16 };

struct labels_visit {
    const struct g2h_view *view;
    g2h_label_visit visit;
    void *context;
    bool is_stopped;
};

/* A key or a value. */
struct labels_string {
    struct g2h_bytes bytes;
    bool is_literal; /* of the program's code */
};

/* Gets the string whose header is at some memory. Returns false if its bytes are not there. */
static bool labels_string_at(const struct g2h_view *view, const struct view_memory *memory,
                             uint64_t offset, struct labels_string *ret)
{
    const uint64_t word = view->graph->heap->params.pointer_size,
                   size = view_memory_word(view, memory, offset + word);
    struct view_memory bytes;
    *ret = (struct labels_string){{(const uint8_t *)"", 0}, true};
    if (size == 0)
        return true;
    if (!view_memory_at(view, view_memory_word(view, memory, offset), &bytes) ||
        bytes.bytes.size < size)
        return false;
    *ret = (struct labels_string){bytes_before(bytes.bytes, size), bytes.is_of_file};
    return true;
}

/* Cuts a size to the most bytes that are read of a label. */
static size_t labels_cut(uint64_t size)
{
    return size < MOST_LABEL_BYTES ? (size_t)size : MOST_LABEL_BYTES;
}

/* Passes a label on; of a redacted graph its hashes, but for a key that is a literal. */
static void labels_pass(struct labels_visit *visit, const struct labels_string *key,
                        const struct labels_string *value)
{
    const struct g2h_redaction *redaction = visit->view->graph->names.redaction;
    _cleanup_(text_deinit) struct text keys = {0}, values = {0};
    struct g2h_label label = {.key = (const char *)key->bytes.data,
                              .key_size = labels_cut(key->bytes.size),
                              .value = (const char *)value->bytes.data,
                              .value_size = labels_cut(value->bytes.size)};
    if (redaction && !key->is_literal) {
        text_append_redacted(&keys, redaction, key->bytes.data, key->bytes.size);
        label.key = keys.data;
        label.key_size = keys.size;
    }
    if (redaction) {
        text_append_redacted(&values, redaction, value->bytes.data, value->bytes.size);
        label.value = values.data;
        label.value_size = values.size;
    }
    if (!visit->is_stopped && !keys.failed && !values.failed)
        visit->is_stopped = !visit->visit(visit->context, &label);
}

/* Visits a list of labels, pairs of strings in a slice. Returns false if the memory is no such
 * slice, or it has more than MOST_LABELS. Pairs whose strings are missing are passed over. */
static bool labels_visit_list(struct labels_visit *visit, const struct view_memory *set)
{
    const struct g2h_view *view = visit->view;
    const uint64_t word = view->graph->heap->params.pointer_size,
                   count = view_memory_word(view, set, word),
                   capacity = view_memory_word(view, set, 2 * word);
    struct view_memory list;
    struct labels_string key, value;
    if (set->bytes.size < 3 * word || count > capacity || count > MOST_LABELS ||
        !view_memory_at(view, view_memory_word(view, set, 0), &list) ||
        list.bytes.size < 4 * word * count)
        return false;
    for (uint64_t i = 0; i < count; i++)
        if (labels_string_at(view, &list, 4 * word * i, &key) &&
            labels_string_at(view, &list, 4 * word * i + 2 * word, &value))
            labels_pass(visit, &key, &value);
    return true;
}

/* Passes on an entry of a map of labels, if both are strings whose bytes are there. Returns false
 * to stop. */
static bool labels_visit_entry(void *context, const struct g2h_entry *entry)
{
    struct labels_visit *visit = context;
    const struct view_memory key = {.bytes = bytes_at(entry->key.data, entry->key.size)},
                             value = {.bytes = bytes_at(entry->elem.data, entry->elem.size)};
    struct labels_string one, other;
    if (labels_string_at(visit->view, &key, 0, &one) &&
        labels_string_at(visit->view, &value, 0, &other))
        labels_pass(visit, &one, &other);
    return !visit->is_stopped;
}

/* Visits the labels of a goroutine. The map of labels has a type that other objects have, too: the
 * object has it if anything typed leads there, as the context does that the program sets labels by.
 */
struct g2h_error *g2h_view_labels(const struct g2h_view *view, size_t goroutine,
                                  g2h_label_visit visit, void *context)
{
    const uint64_t labels = view->graph->roots.goroutines.data[goroutine].labels;
    struct labels_visit visiting = {.view = view, .visit = visit, .context = context};
    struct view_memory set, map;
    struct g2h_location location;
    if (labels == 0 || !view->graph->typing || !view_memory_at(view, labels, &set) ||
        labels_visit_list(&visiting, &set) ||
        !view_memory_at(view, view_memory_word(view, &set, 0), &map) || map.object == UINT32_MAX ||
        !g2h_location_of_object(view, map.object, &location))
        return NULL;
    return g2h_location_entries(view, &location, labels_visit_entry, &visiting);
}

/* ---- who has started it ---- */

size_t g2h_view_starter_count(const struct g2h_view *view, size_t goroutine)
{
    return view->graph->roots.goroutines.data[goroutine].starter_count;
}

uint64_t g2h_view_starter(const struct g2h_view *view, size_t goroutine, size_t starter)
{
    const struct roots *roots = &view->graph->roots;
    return roots->starters.data[roots->goroutines.data[goroutine].first_starter + starter].goid;
}

/* Gets a function on the stack from which a goroutine was started. Returns false after the last
 * call. */
bool g2h_view_starter_call(const struct g2h_view *view, size_t goroutine, size_t starter,
                           uint32_t index, struct g2h_view_call *ret)
{
    const struct roots *roots = &view->graph->roots;
    const struct root_starter *of =
        &roots->starters.data[roots->goroutines.data[goroutine].first_starter + starter];
    if (index >= of->frame_count)
        return false;
    const uint32_t number = roots->starter_frames.data[of->first_frame + index];
    const struct root_call *call = &roots->calls.data[number];
    *ret = (struct g2h_view_call){
        .function = call->function, .file = call->file, .line = call->line, .number = number};
    return true;
}
