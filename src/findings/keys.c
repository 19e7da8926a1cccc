/*
 * keys: what the maps and fields of many objects have in common; see keys.h. Three parts:
 *
 * keys          the names of fields and keys of maps, from a suspect's objects downwards, that
 *              lead to most of its memory
 * entries       the first entries of one map, in the order of keys
 * distribution  how the values of each field are spread over all objects of a class
 */
#include "findings/keys.h"

#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "base/error.h"
#include "base/map.h"
#include "findings/class_rows.h"
#include "findings/path.h"

/* ==== keys ====
 *
 * keys; see keys.h.
 *
 * From the objects of the suspect on, this goes down the tree of dominators by the names of fields
 * and keys, and adds up what is retained below each sequence of names. Only the part of the tree
 * that has such maps is walked, and only so far down.
 */

enum {
    MOST_STEPS = 8,        /* names of a sequence */
    MOST_NAMES = 32,       /* distinct names below one sequence, and */
    MOST_SEQUENCES = 8192, /* sequences; one whose first node has SHARE is always made */
    SHARE = 10,            /* percent of the suspect that a key has at least */
    TOLD = 25,             /* percent that the largest key has at least if any is reported */
    NARROW = 80, /* percent of a key that one of its own keys has to be reported instead */
};

/* The first sequence is none, the second the objects of the suspect. */
#define NO_SEQUENCE 0u

#define FIRST 1u

/* A sequence of names below the objects of the suspect. */
struct sequence {
    uint32_t parent, child, sibling; /* NO_SEQUENCE: none */
    uint32_t name;                   /* in names */
    uint32_t steps, children;        /* names up to here; how many sequences are just below */
    bool is_key;                     /* the last name is the key of a map */
    bool is_full;                    /* there are more names below than the limit */
    uint32_t first;                  /* the node with the lowest number */
    uint64_t retained;
};

/* A sequence that may be reported. */
struct keys_told {
    uint64_t retained;
    uint32_t first, sequence;
};

struct keys_search {
    const struct findings *findings;
    struct g2h_edges *edges;
    uint32_t item;
    bool *leads;                       /* by node of merged: there are maps in it or below */
    VECTOR(struct sequence) sequences; /* from NO_SEQUENCE and FIRST on */
    struct string_pool names;
    uint32_t any; /* the name "[]" */
    uint32_t *at; /* by number of the dominators: the sequence of a node; NO_SEQUENCE: none */
    uint32_t at_count;
    VECTOR(struct keys_told) told;
};

/* ---- where maps are ---- */

/* Finds the nodes of merged that have to be walked: maps in or below the item that retain enough to
 * be reported, and the nodes above these. */
static struct g2h_error *keys_find_maps(struct keys_search *keys, bool *ret)
{
    const struct findings *findings = keys->findings;
    const size_t count = findings->merged.nodes.count;
    const uint64_t least = findings_node(findings, keys->item)->retained / 100 * SHARE;
    keys->leads = calloc(count, sizeof(*keys->leads));
    TRY_MEMORY(keys->leads);
    for (size_t i = count; i-- > keys->item;) { /* children come after their parents */
        const struct merged_node *node = findings_node(findings, as_u32(i));
        keys->leads[i] |=
            node->retained > least && merged_form(&findings->merged, as_u32(i)) == G2H_FORM_MAP;
        if (i != keys->item && keys->leads[i] && node->parent != MERGED_NONE)
            keys->leads[node->parent] = true;
    }
    *ret = keys->leads[keys->item];
    return NULL;
}

/* ---- sequences ---- */

static struct sequence *sequence_of(const struct keys_search *keys, uint32_t sequence)
{
    return &keys->sequences.data[sequence];
}

/* Returns the sequence of a name just below another sequence, or NO_SEQUENCE. */
static uint32_t find_below(const struct keys_search *keys, uint32_t sequence, uint32_t name)
{
    uint32_t child = sequence_of(keys, sequence)->child;
    while (child != NO_SEQUENCE && sequence_of(keys, child)->name != name)
        child = sequence_of(keys, child)->sibling;
    return child;
}

/* Makes a sequence the first child of another one. */
static void link_below(struct keys_search *keys, uint32_t parent, uint32_t sequence)
{
    sequence_of(keys, sequence)->parent = parent;
    sequence_of(keys, sequence)->sibling = sequence_of(keys, parent)->child;
    sequence_of(keys, parent)->child = sequence;
    sequence_of(keys, parent)->children++;
}

/* Returns whether a node retains enough to be reported, so that whether its key is does not depend
 * on how many others come before. */
static bool is_large(const struct keys_search *keys, uint32_t node)
{
    const struct findings *findings = keys->findings;
    const uint64_t least = findings_node(findings, keys->item)->retained / 100 * SHARE;
    return g2h_dominators_retained_size(findings->dominators, node) >= least;
}

/* Finds or makes the sequence that has one name more than the parent, and leads to a node. A parent
 * that has MOST_NAMES names below it gets no further key of its own (is_key: the name is a map's
 * key or an index), but one sequence "[]" for all of them; a node that is large is the exception.
 * Where no sequence can be made, because there are MOST_SEQUENCES, or the parent is MOST_STEPS
 * long, that of the parent is the result. */
static struct g2h_error *sequence_below(struct keys_search *keys, uint32_t parent, uint32_t name,
                                        uint32_t node, bool is_key, uint32_t *ret)
{
    uint32_t number = find_below(keys, parent, name);
    bool is_full = sequence_of(keys, parent)->children >= MOST_NAMES;
    bool is_end = keys->sequences.count >= MOST_SEQUENCES; /* of the list of all sequences */
    if (number == NO_SEQUENCE && is_key && (is_full || is_end) && is_large(keys, node))
        is_full = is_end = false;
    if (number == NO_SEQUENCE && is_key && is_full) {
        sequence_of(keys, parent)->is_full = true;
        is_key = is_full = false; /* the one for all is beyond the limit */
        name = keys->any;
        number = find_below(keys, parent, name);
    }
    *ret = number != NO_SEQUENCE ? number : parent;
    if (number != NO_SEQUENCE || is_full || sequence_of(keys, parent)->steps >= MOST_STEPS ||
        is_end)
        return NULL;
    *ret = as_u32(keys->sequences.count);
    const struct sequence sequence = {.name = name,
                                      .is_key = is_key,
                                      .steps = sequence_of(keys, parent)->steps + 1,
                                      .first = UINT32_MAX};
    TRY_MEMORY(vector_push(&keys->sequences, sequence));
    link_below(keys, parent, *ret);
    return NULL;
}

/* ---- the walk ---- */

/* Appends the name of a field, which has "[]" for any element of an array. */
static void append_field(const char *name, size_t size, struct text *text)
{
    bool in_brackets = false;
    if (size > 0 && name[0] != '[')
        text_append_string(text, ".");
    for (size_t i = 0; i < size; i++) {
        in_brackets = name[i] == '[' || (in_brackets && name[i] != ']');
        if (!in_brackets || name[i] == '[')
            text_append(text, &name[i], 1);
    }
}

/* Returns whether the name of an edge is that of a value as a whole, a slice in an interface for
 * example, and not that of a field. */
static bool is_whole(const struct g2h_view *view, const struct g2h_edge *edge, const char *name,
                     size_t size)
{
    struct g2h_node source;
    g2h_view_brief(view, edge->source, &source);
    const enum g2h_class_form form = g2h_view_class_form(view, source.name);
    return size == strlen("value") && memcmp(name, "value", size) == 0 &&
           (form == G2H_FORM_SLICE || form == G2H_FORM_POINTER);
}

/* Finds the sequence that an edge leads to from the sequence of its source: one name longer, by a
 * key, by "[]" for elements, or by a field. Of edges that paths do not show, and of keys
 * themselves, it is that of the source. */
static struct g2h_error *keys_step(struct keys_search *keys, const struct g2h_edge *edge,
                                   uint32_t from, uint32_t *ret)
{
    const struct g2h_view *view = keys->findings->view;
    struct g2h_key_name key;
    _cleanup_(text_deinit) struct text text = {0};
    size_t size;
    uint32_t name = keys->any;
    *ret = from;
    const bool is_elem = (edge->flags & G2H_EDGE_OF_ELEM) != 0;
    if ((edge->flags & G2H_EDGE_OF_KEY) != 0 || (!is_elem && expression_hides(view, edge->target)))
        return NULL;
    const enum g2h_key kind = is_elem ? g2h_edges_key(keys->edges, edge, &key) : G2H_KEY_NONE;
    if (kind == G2H_KEY_TEXT) {
        TRY_MEMORY(string_pool_intern(&keys->names, key.text, key.size, &name));
    } else if (kind == G2H_KEY_NONE && (edge->flags & G2H_EDGE_BY_INDEX) == 0) {
        const char *label = g2h_view_name(view, edge->name, &size);
        if (!is_whole(view, edge, label, size))
            append_field(label, size, &text);
        TRY_MEMORY(!text.failed);
        if (text.size == 0)
            return NULL;
        TRY_MEMORY(string_pool_intern(&keys->names, text.data, text.size, &name));
    }
    return sequence_below(keys, from, name, edge->target, kind == G2H_KEY_TEXT, ret);
}

/* Counts a node, and what it retains, for a sequence. */
static void add_node(struct keys_search *keys, uint32_t sequence, uint32_t node)
{
    struct sequence *of = sequence_of(keys, sequence);
    of->retained += g2h_dominators_retained_size(keys->findings->dominators, node);
    of->first = MIN(node, of->first);
}

/* Assigns sequences to the nodes that a node points to and alone holds (whose dominator it is),
 * unless they have one. A node is added to its sequence if that is not the one of the node above.
 */
static struct g2h_error *step_down(struct keys_search *keys, uint32_t node, uint32_t from)
{
    const struct g2h_dominators *dominators = keys->findings->dominators;
    struct g2h_edge edge;
    g2h_edges_begin(keys->edges, node, node + 1);
    while (g2h_edges_next(keys->edges, &edge)) {
        uint32_t sequence;
        if ((edge.flags & G2H_EDGE_WEAK) != 0 || edge.target == node ||
            g2h_dominators_of(dominators, edge.target) != node)
            continue;
        uint32_t *assigned = &keys->at[g2h_dominators_number(dominators, edge.target)];
        if (*assigned != NO_SEQUENCE)
            continue;
        TRY(keys_step(keys, &edge, from, &sequence));
        *assigned = sequence;
        if (sequence != from)
            add_node(keys, sequence, edge.target);
    }
    return NULL;
}

/* Assigns a sequence to each node in or below the item's objects that has a known name. Numbers
 * ascend from dominators to what they dominate, so a node's dominator has its sequence before. A
 * node without one takes that of its dominator. */
static struct g2h_error *assign_sequences(struct keys_search *keys)
{
    const struct g2h_dominators *dominators = keys->findings->dominators;
    const struct merged *merged = &keys->findings->merged;
    for (uint32_t i = NO_SEQUENCE; i <= FIRST; i++) /* both have an entry */
        TRY_MEMORY(vector_push(&keys->sequences, (struct sequence){0}));
    for (uint32_t number = 1; number < keys->at_count; number++) {
        const uint32_t node = g2h_dominators_node(dominators, number);
        const uint32_t in = merged->of[number];
        if (node == UINT32_MAX || in < keys->item || !keys->leads[in])
            continue;
        uint32_t *at = &keys->at[number];
        if (*at == NO_SEQUENCE)
            *at = keys->at[g2h_dominators_above(dominators, number)];
        if (*at == NO_SEQUENCE && in == keys->item) {
            *at = FIRST;
            add_node(keys, FIRST, node);
        }
        if (*at != NO_SEQUENCE && sequence_of(keys, *at)->steps < MOST_STEPS)
            TRY(step_down(keys, node, *at));
    }
    return NULL;
}

/* ---- sequences with many keys ---- */

/* Merges a sequence into another one that has no fewer steps below it. */
static void merge_sequences(struct keys_search *keys, uint32_t sequence, uint32_t into)
{
    struct sequence *from = sequence_of(keys, sequence);
    struct sequence *to = sequence_of(keys, into);
    to->retained += from->retained;
    to->first = MIN(from->first, to->first);
    for (uint32_t i = sequence_of(keys, sequence)->child, next; i != NO_SEQUENCE; i = next) {
        const uint32_t same = find_below(keys, into, sequence_of(keys, i)->name);
        next = sequence_of(keys, i)->sibling;
        if (same != NO_SEQUENCE)
            merge_sequences(keys, i, same);
        else
            link_below(keys, into, i);
    }
}

/* If a sequence has more keys below it than the limit, merges those that hold little into one,
 * "[]". */
static void merge_small(struct keys_search *keys, uint32_t sequence)
{
    const uint32_t any = find_below(keys, sequence, keys->any);
    const uint64_t least = sequence_of(keys, FIRST)->retained / 100 * SHARE;
    uint32_t *link = &sequence_of(keys, sequence)->child;
    if (!sequence_of(keys, sequence)->is_full || any == NO_SEQUENCE)
        return;
    while (*link != NO_SEQUENCE) {
        const uint32_t child = *link;
        if (!sequence_of(keys, child)->is_key || sequence_of(keys, child)->retained >= least) {
            link = &sequence_of(keys, child)->sibling;
            continue;
        }
        *link = sequence_of(keys, child)->sibling;
        merge_sequences(keys, child, any);
    }
}

/* ---- reported keys ---- */

/* Returns how much the heaviest of the nearest keys below a sequence retains. */
static uint64_t heaviest_key(const struct keys_search *keys, uint32_t sequence)
{
    uint64_t most = 0;
    for (uint32_t i = sequence_of(keys, sequence)->child; i != NO_SEQUENCE;
         i = sequence_of(keys, i)->sibling) {
        const uint64_t is =
            sequence_of(keys, i)->is_key ? sequence_of(keys, i)->retained : heaviest_key(keys, i);
        most = MAX(is, most);
    }
    return most;
}

/* Chooses the keys to report, from a sequence downwards: large ones, unless one of their own keys
 * has nearly as much. */
static struct g2h_error *keys_choose(struct keys_search *keys, uint32_t sequence)
{
    const uint64_t least = sequence_of(keys, FIRST)->retained / 100 * SHARE;
    merge_small(keys, sequence);
    const struct sequence *of = sequence_of(keys, sequence);
    if (of->retained < least)
        return NULL;
    if (of->is_key && heaviest_key(keys, sequence) < of->retained / 100 * NARROW)
        TRY_MEMORY(
            vector_push(&keys->told, ((struct keys_told){of->retained, of->first, sequence})));
    for (uint32_t i = of->child; i != NO_SEQUENCE; i = sequence_of(keys, i)->sibling)
        TRY(keys_choose(keys, i));
    return NULL;
}

/* Orders sequences by what they retain, those that retain most first. */
static int compare_told(const void *a, const void *b)
{
    const struct keys_told *one = a;
    const struct keys_told *other = b;
    if (one->retained != other->retained)
        return COMPARE(other->retained, one->retained);
    return COMPARE(one->first, other->first);
}

/* Appends the names of a sequence from the suspect's objects on: ".items[\"a\"].data". */
static void append_names(const struct keys_search *keys, uint32_t sequence, struct text *text)
{
    size_t size;
    if (sequence_of(keys, sequence)->parent == NO_SEQUENCE)
        return;
    append_names(keys, sequence_of(keys, sequence)->parent, text);
    const char *name = string_pool_text(&keys->names, sequence_of(keys, sequence)->name, &size);
    text_append(text, name, size);
}

/* Copies the paths and sizes of the first KEYS_MOST chosen keys to the result. None if the heaviest
 * one has less than TOLD percent of what the objects retain. */
static struct g2h_error *keys_report(const struct keys_search *keys, struct held_keys *ret)
{
    ret->retained = sequence_of(keys, FIRST)->retained;
    if (keys->told.count > 0 && keys->told.data[0].retained < ret->retained / 100 * TOLD)
        return NULL;
    for (size_t i = 0; i < keys->told.count && i < KEYS_MOST; i++) {
        ret->list[i].retained = keys->told.data[i].retained;
        append_names(keys, keys->told.data[i].sequence, &ret->list[i].path);
        ret->count = i + 1;
        TRY_MEMORY(!ret->list[i].path.failed);
    }
    return NULL;
}

void held_keys_deinit(struct held_keys *keys)
{
    for (size_t i = 0; i < keys->count; i++)
        text_deinit(&keys->list[i].path);
}

static void keys_search_deinit(struct keys_search *keys)
{
    g2h_edges_destroy(keys->edges);
    free(keys->leads);
    free(keys->sequences.data);
    string_pool_deinit(&keys->names);
    large_free(keys->at, keys->at_count, sizeof(*keys->at));
    free(keys->told.data);
}

/* Finds the keys that hold SHARE percent or more of what the objects retain, the heaviest first,
 * KEYS_MOST at most. None if the heaviest has less than TOLD percent, or if no large map is in or
 * below the objects, as in most suspects; a key is left out if one of its own keys has nearly all
 * of it (NARROW). */
struct g2h_error *keys_find(const struct findings *findings, uint32_t node, struct held_keys *ret)
{
    _cleanup_(keys_search_deinit) struct keys_search keys = {.findings = findings, .item = node};
    bool has_maps;
    *ret = (struct held_keys){.count = 0};
    TRY(keys_find_maps(&keys, &has_maps));
    if (!has_maps)
        return NULL;
    TRY_MEMORY(string_pool_intern(&keys.names, "[]", 2, &keys.any));
    TRY(g2h_edges_create(findings->view, &keys.edges));
    keys.at = large_alloc(findings->merged.of_count, sizeof(*keys.at));
    TRY_MEMORY(keys.at);
    keys.at_count = findings->merged.of_count;
    TRY(assign_sequences(&keys));
    TRY(keys_choose(&keys, FIRST));
    vector_sort(&keys.told, compare_told);
    return keys_report(&keys, ret);
}

/* ==== entries ==== */

struct collector {
    const struct g2h_view *view;
    struct entries *entries;
    struct g2h_text key, other;
};

/* Formats a key for display if it is a string. Returns whether it is. */
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
 * another one. Strings are ordered by their bytes, other keys by g2h_value_order(); false if there
 * is no order. */
static bool is_before(struct collector *collector, const struct g2h_value *key, bool is_string,
                      const struct g2h_value *other)
{
    uint64_t one_order, other_order;
    const struct g2h_text *one = &collector->key;
    const struct g2h_text *two = &collector->other;
    if (is_string && entries_write_string(collector->view, other, &collector->other)) {
        const size_t size = MIN(one->size, two->size);
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

/* Finds the entries of a map that are shown. Collects the entries one by one. Errors of the
 * collector's texts are seen at the end. */
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

/* ==== distribution ==== */

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
    field.is_function = value->kind == G2H_VALUE_POINTER && value->type_size > strlen("func") &&
                        memcmp(value->type, "func", strlen("func")) == 0;
    TRY_MEMORY(vector_push(&distribution->fields, field));
    return NULL;
}

/* Counts the values of an object. The values of two objects of one type correspond by their order.
 * An object of another type than the first one, an array, or a node without an object is only
 * counted as another; of an object with more than DISTRIBUTION_FIELDS values, the rest is left out.
 */
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

/* Visits all objects of a class. Without the index of a held heap this reads all nodes of the
 * view. */
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
         first += as_u32(count))
        for (size_t i = 0; i < count; i++)
            if (nodes[i].kind == G2H_NODE_OBJECT && nodes[i].name == name)
                TRY(add_object(&counter, nodes[i].object));
    return NULL;
}

/* ---- results ---- */

static int compare_samples(const void *a, const void *b)
{
    const struct sample *one = a;
    const struct sample *other = b;
    return COMPARE(one->order, other->order);
}

/* Sorts the sample and returns its median: the lower one of two. */
const struct sample *numbers_median(struct distribution_numbers *numbers)
{
    assert(numbers->sample.count > 0);
    vector_sort(&numbers->sample, compare_samples);
    return &numbers->sample.data[(numbers->sample.count - 1) / 2];
}

/* Selects by insertion: each value moves up in the list of the TALLY_TOP most frequent ones until a
 * more frequent one is above it. Returns how many values the list has. */
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
    VECTOR_EACH(struct field_distribution, field, distribution->fields) {
        distribution_numbers_deinit(&field->numbers);
        distribution_numbers_deinit(&field->lengths);
        distribution_numbers_deinit(&field->capacities);
        tally_deinit(&field->texts);
    }
    free(distribution->fields.data);
    string_pool_deinit(&distribution->names);
}
