/*
 * keys; see keys.h.
 *
 * From the objects of the suspect on, this goes down the tree of dominators by the names of fields
 * and keys, and adds up what is retained below each sequence of names. Only the part of the tree
 * that has such maps is walked, and only so far down.
 */
#include "findings/keys.h"

#include <string.h>

#include "base/scope.h"
#include "findings/expression.h"

enum {
    MOST_STEPS = 8,  /* names of a sequence */
    MOST_NAMES = 32, /* distinct names below one sequence */
    MOST_SEQUENCES = 8192,
    SHARE = 10,  /* percent of the suspect that a key has at least */
    NARROW = 80, /* percent of a key that one of its own keys has to be reported instead */
};

/* The first sequence is none, the second the objects of the suspect. */
#define NO_SEQUENCE 0u
#define FIRST       1u

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
        const struct merged_node *node = findings_node(findings, (uint32_t)i);
        keys->leads[i] |=
            node->retained > least && merged_form(&findings->merged, (uint32_t)i) == G2H_FORM_MAP;
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

/* Finds or makes the sequence of a name below another one. If there are too many names, any further
 * key is "[]". Where no sequence can be made, that of the parent is the result. */
static struct g2h_error *sequence_below(struct keys_search *keys, uint32_t parent, uint32_t name,
                                        bool is_key, uint32_t *ret)
{
    uint32_t number = find_below(keys, parent, name);
    bool is_full = sequence_of(keys, parent)->children >= MOST_NAMES;
    if (number == NO_SEQUENCE && is_key && is_full) {
        sequence_of(keys, parent)->is_full = true;
        is_key = is_full = false;
        name = keys->any;
        number = find_below(keys, parent, name);
    }
    *ret = number != NO_SEQUENCE ? number : parent;
    if (number != NO_SEQUENCE || is_full || sequence_of(keys, parent)->steps >= MOST_STEPS ||
        keys->sequences.count >= MOST_SEQUENCES)
        return NULL;
    *ret = (uint32_t)keys->sequences.count;
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

/* Finds the sequence that an edge leads to from the sequence of its source. */
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
    return sequence_below(keys, from, name, kind == G2H_KEY_TEXT, ret);
}

/* Counts a node, and what it retains, for a sequence. */
static void add_node(struct keys_search *keys, uint32_t sequence, uint32_t node)
{
    struct sequence *of = sequence_of(keys, sequence);
    of->retained += g2h_dominators_retained_size(keys->findings->dominators, node);
    of->first = node < of->first ? node : of->first;
}

/* Assigns sequences to the nodes that a node points to and alone holds. */
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
        uint32_t *at = &keys->at[g2h_dominators_number(dominators, edge.target)];
        if (*at != NO_SEQUENCE)
            continue;
        TRY(keys_step(keys, &edge, from, &sequence));
        *at = sequence;
        if (sequence != from)
            add_node(keys, sequence, edge.target);
    }
    return NULL;
}

/* Assigns a sequence to each node in or below the item's objects that has a known name. Numbers
 * ascend from dominators to what they dominate, so a node's dominator has its sequence before. A
 * node without one takes that of its dominator. */
static struct g2h_error *walk(struct keys_search *keys)
{
    const struct g2h_dominators *dominators = keys->findings->dominators;
    const struct merged *merged = &keys->findings->merged;
    TRY_MEMORY(vector_push(&keys->sequences, (struct sequence){0}));
    TRY_MEMORY(vector_push(&keys->sequences, (struct sequence){0}));
    for (uint32_t number = 1; number < keys->at_count; number++) {
        const uint32_t node = g2h_dominators_node(dominators, number), in = merged->of[number];
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
    struct sequence *from = sequence_of(keys, sequence), *to = sequence_of(keys, into);
    to->retained += from->retained;
    to->first = from->first < to->first ? from->first : to->first;
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
        most = is > most ? is : most;
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
    const struct keys_told *one = a, *other = b;
    if (one->retained != other->retained)
        return one->retained > other->retained ? -1 : 1;
    return one->first < other->first ? -1 : one->first > other->first;
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

/* Copies the paths and sizes of the first KEYS_MOST chosen keys to the result. */
static struct g2h_error *keys_report(const struct keys_search *keys, struct held_keys *ret)
{
    ret->retained = sequence_of(keys, FIRST)->retained;
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

/* Nothing is searched if no large map is in or below the objects, as in most suspects. */
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
    TRY(walk(&keys));
    TRY(keys_choose(&keys, FIRST));
    vector_sort(&keys.told, compare_told);
    return keys_report(&keys, ret);
}
