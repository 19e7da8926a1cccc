/*
 * sharers; see sharers.h.
 *
 * Groups hold entries directly. From one top to another they come by the pointers that lead from
 * what the one dominates to the other. Tops that hold each other have the same holders, so that
 * sets are made of components, each after all that lead to it.
 */
#include "graph/sharers.h"

#include <stdlib.h>
#include <string.h>

#include "base/scope.h"
#include "graph/components.h"

enum { SET_BITS = 64, LEAST_WORDS = 1, MOST_WORDS = 64 };

/* Bytes that the sets of all nodes may have, where LEAST_WORDS are not more. */
static const uint64_t SETS_ROOM = 32 << 20;

/* ---- groups ---- */

static int compare_bytes(const void *a, const void *b, void *context)
{
    const struct graph_owner *owners = context;
    const uint32_t one = *(const uint32_t *)a, other = *(const uint32_t *)b;
    if (owners[one].bytes != owners[other].bytes)
        return owners[one].bytes > owners[other].bytes ? -1 : 1;
    return one < other ? -1 : one > other;
}

/* Gives bits to the groups, those first that have most; the last bit is of all that are left. */
static struct g2h_error *give_bits(struct sharers *sharers)
{
    const struct g2h_graph *graph = sharers->graph;
    const uint32_t groups = (uint32_t)graph->owners.count, bits = sharers->words * SET_BITS;
    sharers->bit_of = calloc((size_t)groups + 1, sizeof(*sharers->bit_of));
    sharers->owner_at = malloc(((size_t)groups + 1) * sizeof(*sharers->owner_at));
    TRY_MEMORY(sharers->bit_of && sharers->owner_at);
    for (uint32_t i = 0; i < groups; i++)
        sharers->owner_at[i] = i;
    qsort_r(sharers->owner_at, groups, sizeof(*sharers->owner_at), compare_bytes,
            graph->owners.data);
    for (uint32_t i = 0; i < groups; i++)
        sharers->bit_of[sharers->owner_at[i]] = i < bits - 1 ? i : bits - 1;
    if (groups >= bits)
        sharers->owner_at[bits - 1] = UINT32_MAX;
    return NULL;
}

struct g2h_error *sharers_init(struct sharers *sharers, const struct g2h_graph *graph,
                               const struct owners *owners)
{
    const uint64_t nodes = (uint64_t)owners->several + 1,
                   room = SETS_ROOM / sizeof(uint64_t) / nodes,
                   wanted = graph->owners.count / SET_BITS + 1;
    const uint64_t most = room < LEAST_WORDS ? LEAST_WORDS : room < MOST_WORDS ? room : MOST_WORDS;
    *sharers = (struct sharers){
        .graph = graph, .owners = owners, .words = (unsigned)(wanted < most ? wanted : most)};
    sharers->entry_words = (size_t)(nodes * sharers->words);
    sharers->entries = large_alloc(sharers->entry_words, sizeof(*sharers->entries));
    TRY_MEMORY(sharers->entries);
    return give_bits(sharers);
}

void sharers_deinit(struct sharers *sharers)
{
    large_free(sharers->entries, sharers->entry_words, sizeof(*sharers->entries));
    free(sharers->bit_of);
    free(sharers->owner_at);
    free(sharers->sets);
    *sharers = (struct sharers){0};
}

void sharers_hear(void *context, uint32_t preorder, owner_number owner)
{
    const struct sharers *sharers = context;
    const uint32_t bit = sharers->bit_of[owner - OWNER_FIRST];
    sharers->entries[(size_t)preorder * sharers->words + bit / SET_BITS] |= (uint64_t)1
                                                                            << (bit % SET_BITS);
}

/* ---- from top to top ---- */

struct linking {
    const struct g2h_graph *graph;
    const struct dominators *dominators;
    const uint32_t *top_of;
    struct edge_lists *edges;
    bool is_second; /* walk: targets are put where the first has made room */
    uint64_t count;
};

static inline void link_nodes(struct linking *linking, uint32_t from, uint32_t node)
{
    const struct dominators *dominators = linking->dominators;
    const uint32_t to = dominators->preorder_of[node];
    uint32_t *first = linking->edges->first;
    if (to == 0 || dominators->idom[to] != 0 || linking->top_of[to] == linking->top_of[from])
        return;
    linking->count++;
    if (linking->is_second)
        linking->edges->targets[first[linking->top_of[from]]++] = linking->top_of[to];
    else
        first[linking->top_of[from] + 1]++;
}

static void link_all(struct linking *linking)
{
    const struct g2h_graph *graph = linking->graph;
    const uint32_t synthetics = graph_synthetics(graph),
                   *preorder_of = linking->dominators->preorder_of;
    for (uint64_t i = 0; i < graph->first_object_child; i++) {
        const struct edge *edge = &graph->children[i];
        const uint32_t from = preorder_of[edge->source.index];
        if (from != 0 && edge->type != EDGE_WEAK)
            link_nodes(linking, from, graph_node_number(graph, edge->target));
    }
    for (uint32_t object = 0; object < graph->heap->object_count; object++) {
        const uint32_t *end, *target = object_targets(graph, object, &end),
                             from = preorder_of[synthetics + object];
        for (; from != 0 && target < end; target++)
            if (*target != NO_TARGET)
                link_nodes(linking, from, synthetics + *target);
    }
}

static struct g2h_error *link_tops(struct linking *linking)
{
    struct edge_lists *edges = linking->edges;
    const struct g2h_graph *graph = linking->graph;
    edges->first = calloc((size_t)edges->nodes + 2, sizeof(*edges->first));
    TRY_MEMORY(edges->first);
    link_all(linking);
    if (linking->count > UINT32_MAX)
        return error_create(G2H_ERROR_LIMIT, "%s: %llu edges: too many to find who holds what",
                            graph->heap->input->name, (unsigned long long)linking->count);
    for (uint32_t i = 0; i < edges->nodes; i++)
        edges->first[i + 1] += edges->first[i];
    edges->targets = malloc((linking->count + 1) * sizeof(*edges->targets));
    TRY_MEMORY(edges->targets);
    linking->is_second = true;
    link_all(linking);
    memmove(edges->first + 1, edges->first, (size_t)edges->nodes * sizeof(*edges->first));
    edges->first[0] = 0;
    return NULL;
}

static void lists_deinit(struct edge_lists *edges)
{
    free(edges->first);
    free(edges->targets);
}

/* ---- sets ---- */

static void unite(uint64_t *set, const uint64_t *other, unsigned words)
{
    for (unsigned i = 0; i < words; i++)
        set[i] |= other[i];
}

/* All of a component have the set of the first: it takes theirs, and then they its. */
static void share_set(struct sharers *sharers, const uint32_t *members, uint32_t count)
{
    const unsigned words = sharers->words;
    uint64_t *set = &sharers->sets[(size_t)members[0] * words];
    for (uint32_t i = 1; i < count; i++)
        unite(set, &sharers->sets[(size_t)members[i] * words], words);
    for (uint32_t i = 1; i < count; i++)
        memcpy(&sharers->sets[(size_t)members[i] * words], set, words * sizeof(*set));
}

static struct g2h_error *spread(struct sharers *sharers, const struct edge_lists *edges)
{
    _cleanup_(components_deinit) struct components components = {0};
    TRY(components_init(&components, edges));
    for (uint32_t i = 0, end; i < edges->nodes; i = end) {
        const uint32_t *members = &components.order[i];
        for (end = i; end < edges->nodes &&
                      components.of[components.order[end]] == components.of[members[0]];)
            end++;
        share_set(sharers, members, end - i);
        for (uint32_t j = i; j < end; j++)
            for (uint32_t k = edges->first[components.order[j]];
                 k < edges->first[components.order[j] + 1]; k++)
                unite(&sharers->sets[(size_t)edges->targets[k] * sharers->words],
                      &sharers->sets[(size_t)components.order[j] * sharers->words], sharers->words);
    }
    return NULL;
}

struct g2h_error *sharers_find(struct sharers *sharers, const struct dominators *dominators,
                               const uint32_t *top_of, uint32_t tops)
{
    const unsigned words = sharers->words;
    _cleanup_(lists_deinit) struct edge_lists edges = {.nodes = tops};
    struct linking linking = {
        .graph = sharers->graph, .dominators = dominators, .top_of = top_of, .edges = &edges};
    sharers->sets = calloc((size_t)tops + 1, words * sizeof(*sharers->sets));
    TRY_MEMORY(sharers->sets);
    for (uint32_t i = 1; i < dominators->nodes; i++)
        unite(&sharers->sets[(size_t)top_of[i] * words], &sharers->entries[(size_t)i * words],
              words); /* only tops are held directly */
    TRY(link_tops(&linking));
    return spread(sharers, &edges);
}

/* ---- what they are called ---- */

/* Of the groups that hold something: the first few packages, and how many there are. */
struct naming {
    const struct sharers *sharers;
    uint32_t names[3]; /* nodes of packages */
    uint32_t packages, goroutines, places, place, others, other;
    bool has_more; /* groups that have no bit */
};

static void count_group(struct naming *naming, uint32_t node)
{
    const struct g2h_graph *graph = naming->sharers->graph;
    switch ((enum g2h_node_kind)graph->roots.nodes.data[node].kind) {
    case G2H_NODE_PACKAGE:
    case G2H_NODE_DATA:
    case G2H_NODE_BSS:
        if (naming->packages < sizeof(naming->names) / sizeof(naming->names[0]))
            naming->names[naming->packages] = node;
        naming->packages++;
        break;
    case G2H_NODE_GOROUTINE:
    case G2H_NODE_GOROUTINES_IN_PLACE:
        naming->goroutines += graph->roots.nodes.data[node].kind == G2H_NODE_GOROUTINE;
        naming->places++;
        naming->place = node;
        break;
    default:
        naming->others++;
        naming->other = node;
    }
}

static void count_groups(struct naming *naming, uint32_t top)
{
    const struct sharers *sharers = naming->sharers;
    const uint64_t *set = &sharers->sets[(size_t)top * sharers->words];
    for (unsigned i = 0; i < sharers->words; i++)
        for (uint64_t left = set[i]; left != 0; left &= left - 1) {
            const uint32_t owner =
                sharers->owner_at[i * SET_BITS + (unsigned)__builtin_ctzll(left)];
            if (owner == UINT32_MAX)
                naming->has_more = true;
            else
                count_group(naming, sharers->graph->owners.data[owner].node);
        }
}

/* Before one of so many: a comma, or before the last "and". */
static void separate(struct text *text, unsigned at, unsigned count)
{
    if (at > 0)
        text_printf(text, at + 1 < count ? ", " : " and ");
}

static void append_name(const struct naming *naming, uint32_t node, struct text *text)
{
    const struct g2h_graph *graph = naming->sharers->graph;
    size_t size;
    const char *name =
        string_pool_text(&graph->names.strings, graph->roots.nodes.data[node].name, &size);
    text_append(text, name, size);
}

static void append_all(const struct naming *naming, struct text *text)
{
    enum { NAMED = sizeof(naming->names) / sizeof(naming->names[0]) };
    const uint32_t named = naming->packages > NAMED ? NAMED - 1 : naming->packages,
                   more = naming->packages - named;
    const unsigned count =
        named + (more > 0) + (naming->places > 0) + (naming->others > 0) + naming->has_more;
    unsigned at = 0;
    for (uint32_t i = 0; i < named; i++) {
        separate(text, at++, count);
        append_name(naming, naming->names[i], text);
    }
    if (more > 0) {
        separate(text, at++, count);
        text_printf(text, "%u more packages", more);
    }
    if (naming->places > 0) {
        separate(text, at++, count);
        if (naming->places == 1)
            append_name(naming, naming->place, text);
        else if (naming->goroutines == naming->places)
            text_printf(text, "%u goroutines", naming->places);
        else
            text_printf(text, "goroutines in %u places", naming->places);
    }
    if (naming->others > 0) {
        separate(text, at++, count);
        if (naming->others == 1)
            append_name(naming, naming->other, text);
        else
            text_printf(text, "%u other groups of roots", naming->others);
    }
    if (naming->has_more) {
        separate(text, at, count);
        text_printf(text, "others");
    }
}

void sharers_append(const struct sharers *sharers, uint32_t top, struct text *text)
{
    struct naming naming = {.sharers = sharers};
    count_groups(&naming, top);
    append_all(&naming, text);
}
