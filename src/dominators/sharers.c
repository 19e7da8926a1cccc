/*
 * sharers; see sharers.h. Groups hold some shared entries directly, and a shared entry holds
 * another one if an edge leads there from a node that it owns: these are the crossings that were
 * recorded when the shared entries were found. Shared entries that hold each other have the same
 * holders. So sets are made component by component, each after all components that lead to it.
 */
#include "dominators/sharers.h"

#include <stdlib.h>
#include <string.h>

#include "base/bisect.h"
#include "base/contract.h"
#include "base/map.h"
#include "base/port.h"
#include "base/scope.h"
#include "dominators/components.h"

enum { SET_BITS = 64, LEAST_WORDS = 1, MOST_WORDS = 64 };

/* The most bytes that the sets of all entries may have, unless LEAST_WORDS per set are more.
 */
static const uint64_t SETS_MEMORY = 32 << 20;

/* ---- groups ---- */

/* Orders groups by what they own, the most first: these get their own bits. */
static int compare_bytes(const void *a, const void *b, void *context)
{
    const struct graph_owner *owners = context;
    const uint32_t one = *(const uint32_t *)a, other = *(const uint32_t *)b;
    if (owners[one].bytes != owners[other].bytes)
        return owners[one].bytes > owners[other].bytes ? -1 : 1;
    return one < other ? -1 : one > other;
}

/* What the name of a set says about its groups. A goroutine in a group of its own counts as a
 * place, too. */
enum kind { OF_PACKAGES, OF_PLACES, OF_GOROUTINES, OF_OTHERS, OF_UNKNOWN, KINDS };

/* Returns which kind of holder a group of graph->owners is. owner is UINT32_MAX for the bit that
 * several groups share. */
static enum kind sharers_kind_of(const struct g2h_graph *graph, uint32_t owner)
{
    if (owner == UINT32_MAX || graph->owners.data[owner].node == UINT32_MAX)
        return OF_UNKNOWN;
    switch ((enum g2h_node_kind)graph->roots.nodes.data[graph->owners.data[owner].node].kind) {
    case G2H_NODE_PACKAGE:
    case G2H_NODE_DATA:
    case G2H_NODE_BSS:
        return OF_PACKAGES;
    case G2H_NODE_GOROUTINE:
        return OF_GOROUTINES;
    case G2H_NODE_GOROUTINES_IN_PLACE:
        return OF_PLACES;
    default:
        return OF_OTHERS;
    }
}

static void add_bit(uint64_t *set, uint32_t bit)
{
    set[bit / SET_BITS] |= (uint64_t)1 << (bit % SET_BITS);
}

/* Assigns bits to the groups, first to those that own most; all groups that are left share the last
 * bit. */
static struct g2h_error *give_bits(struct sharers *sharers)
{
    const struct g2h_graph *graph = sharers->graph;
    const uint32_t groups = (uint32_t)graph->owners.count, bits = sharers->words * SET_BITS;
    sharers->bit_of = calloc((size_t)groups + 1, sizeof(*sharers->bit_of));
    sharers->owner_at = block_alloc((size_t)groups + 1, sizeof(*sharers->owner_at));
    sharers->kinds = calloc(KINDS, sharers->words * sizeof(*sharers->kinds));
    TRY_MEMORY(sharers->bit_of && sharers->owner_at && sharers->kinds);
    for (uint32_t i = 0; i < groups; i++)
        sharers->owner_at[i] = i;
    qsort_r(sharers->owner_at, groups, sizeof(*sharers->owner_at), compare_bytes,
            graph->owners.data);
    for (uint32_t i = 0; i < groups; i++)
        sharers->bit_of[sharers->owner_at[i]] = i < bits - 1 ? i : bits - 1;
    if (groups >= bits)
        sharers->owner_at[bits - 1] = UINT32_MAX;
    for (uint32_t i = 0; i < groups && i < bits; i++) {
        const enum kind kind = sharers_kind_of(graph, sharers->owner_at[i]);
        add_bit(&sharers->kinds[kind * sharers->words], i);
        if (kind == OF_GOROUTINES)
            add_bit(&sharers->kinds[OF_PLACES * sharers->words], i);
    }
    return NULL;
}

/* ---- who holds shared entries ---- */

/* Adds the groups that hold shared entries directly to these entries' sets. */
static void add_holders(struct sharers *sharers)
{
    const struct shared_entries *entries = sharers->entries;
    for (size_t i = 0; i < entries->crossings.all.count; i++) {
        const struct crossing *crossing = &entries->crossings.all.data[i];
        if (crossing->by >= entries->first)
            continue;
        add_bit(&sharers->sets[(size_t)(crossing->to - entries->first) * sharers->words],
                sharers->bit_of[crossing->by - OWNER_FIRST]);
    }
}

/* ---- sets ---- */

static void sharers_unite(uint64_t *set, const uint64_t *other, unsigned words)
{
    for (unsigned i = 0; i < words; i++)
        set[i] |= other[i];
}

/* Sets all shared entries of a component to the union of their sets. */
static void share_set(struct sharers *sharers, const uint32_t *members, uint32_t count)
{
    const unsigned words = sharers->words;
    uint64_t *set = &sharers->sets[(size_t)members[0] * words];
    for (uint32_t i = 1; i < count; i++)
        sharers_unite(set, &sharers->sets[(size_t)members[i] * words], words);
    for (uint32_t i = 1; i < count; i++)
        memcpy(&sharers->sets[(size_t)members[i] * words], set, words * sizeof(*set));
}

/* Passes the sets of shared entries on to the entries that these hold. */
static struct g2h_error *sharers_spread(struct sharers *sharers, const struct edge_lists *edges)
{
    _cleanup_(components_deinit) struct components components = {0};
    TRY(components_init(&components, edges));
    for (uint32_t i = 0, end; i < edges->nodes; i = end) {
        const uint32_t *members = &components.order[i];
        end = components_end(&components, i, edges->nodes);
        share_set(sharers, members, end - i);
        for (uint32_t j = i; j < end; j++)
            for (uint32_t k = edges->first[components.order[j]];
                 k < edges->first[components.order[j] + 1]; k++)
                sharers_unite(&sharers->sets[(size_t)edges->targets[k] * sharers->words],
                              &sharers->sets[(size_t)components.order[j] * sharers->words],
                              sharers->words);
    }
    return NULL;
}

/* Sets of holders start with the groups that hold an entry directly, and then spread along the
 * crossings between entries. */
static struct g2h_error *sharers_find_all(struct sharers *sharers)
{
    const struct shared_entries *entries = sharers->entries;
    _cleanup_(edge_lists_deinit) struct edge_lists edges = {0};
    sharers->sets = zeroed_alloc(entries->nodes.count + 1, sharers->words * sizeof(uint64_t));
    TRY_MEMORY(sharers->sets);
    TRY(give_bits(sharers));
    add_holders(sharers);
    TRY(edge_lists_init(&edges, (uint32_t)entries->nodes.count, entries->first, &entries->crossings,
                        1, sharers->graph->heap->input->name));
    return sharers_spread(sharers, &edges);
}

/* Returns whether the sets say of each shared entry that several groups hold it, as it must be. A
 * bit that several groups share stands for all of them. */
static _asserted_ bool sharers_are_several(const struct sharers *sharers)
{
    const uint64_t *of_unknown = &sharers->kinds[OF_UNKNOWN * sharers->words];
    for (size_t i = 0; i < sharers->entries->nodes.count; i++) {
        const uint64_t *set = &sharers->sets[i * sharers->words];
        unsigned groups = 0;
        for (unsigned j = 0; j < sharers->words; j++)
            groups += (unsigned)__builtin_popcountll(set[j]) + ((set[j] & of_unknown[j]) != 0);
        if (groups < 2)
            return false;
    }
    return true;
}

/* Chooses how many words each set has: enough for a bit per group, but no more than SETS_MEMORY
 * allows or MOST_WORDS, and at least LEAST_WORDS. If there are fewer bits than groups, the smallest
 * groups share the last one (give_bits()). Then finds the sets of all entries. */
struct g2h_error *sharers_init(struct sharers *sharers, const struct g2h_graph *graph,
                               const struct shared_entries *entries)
{
    const uint64_t memory = SETS_MEMORY / sizeof(uint64_t) / ((uint64_t)entries->nodes.count + 1),
                   wanted = graph->owners.count / SET_BITS + 1;
    uint64_t most = memory < MOST_WORDS ? memory : MOST_WORDS;
    if (most < LEAST_WORDS)
        most = LEAST_WORDS;
    *sharers = (struct sharers){
        .graph = graph, .entries = entries, .words = (unsigned)(wanted < most ? wanted : most)};
    struct g2h_error *error = sharers_find_all(sharers);
    if (error)
        sharers_deinit(sharers);
    assert(error || sharers_are_several(sharers));
    return error;
}

void sharers_deinit(struct sharers *sharers)
{
    free(sharers->bit_of);
    free(sharers->owner_at);
    free(sharers->kinds);
    free(sharers->sets);
    *sharers = (struct sharers){0};
}

/* ---- names ---- */

/* The groups that hold a shared entry: the first few packages, and how many groups of each kind
 * there are. */
struct naming {
    const struct sharers *sharers;
    uint32_t names[3]; /* nodes of packages */
    uint32_t packages, goroutines, places, place, others, other;
    bool has_more; /* there are groups that are not counted */
    bool without_names;
};

/* Returns how many groups of a kind are in the set of a shared entry, and stores the nodes of the
 * first most of them; the others are only counted, because a set may have thousands. */
static uint32_t count_kind(const struct sharers *sharers, uint32_t entry, enum kind kind,
                           uint32_t *nodes, uint32_t most)
{
    const uint64_t *set = &sharers->sets[(size_t)entry * sharers->words],
                   *of_kind = &sharers->kinds[kind * sharers->words];
    uint32_t count = 0;
    for (unsigned i = 0; i < sharers->words; i++) {
        const uint64_t word = set[i] & of_kind[i];
        uint32_t at = count;
        for (uint64_t left = word; left != 0 && at < most; left &= left - 1) {
            const unsigned bit = i * SET_BITS + (unsigned)__builtin_ctzll(left);
            nodes[at++] = sharers->graph->owners.data[sharers->owner_at[bit]].node;
        }
        count += (uint32_t)__builtin_popcountll(word);
    }
    return count;
}

/* Counts the groups that hold a shared entry, by kind, and notes the nodes to be named. */
static void count_groups(struct naming *naming, uint32_t entry)
{
    const struct sharers *sharers = naming->sharers;
    enum { NAMED = sizeof(naming->names) / sizeof(naming->names[0]) };
    naming->packages = count_kind(sharers, entry, OF_PACKAGES, naming->names, NAMED);
    naming->places = count_kind(sharers, entry, OF_PLACES, &naming->place, 1);
    naming->goroutines = count_kind(sharers, entry, OF_GOROUTINES, NULL, 0);
    naming->others = count_kind(sharers, entry, OF_OTHERS, &naming->other, 1);
    naming->has_more = count_kind(sharers, entry, OF_UNKNOWN, NULL, 0) > 0;
}

/* Appends the separator before item at of count: nothing, a comma, or before the last item
 * "and". */
static void separate(struct text *text, unsigned at, unsigned count)
{
    if (at > 0)
        text_printf(text, at + 1 < count ? ", " : " and ");
}

static void sharers_append_name(const struct naming *naming, uint32_t node, struct text *text)
{
    const struct g2h_graph *graph = naming->sharers->graph;
    size_t size;
    const char *name =
        string_pool_text(&graph->names.strings, graph->roots.nodes.data[node].name, &size);
    text_append(text, name, size);
}

/* Returns how many packages are named: all, or one fewer than there is space for, or none. */
static uint32_t packages_named(const struct naming *naming)
{
    enum { NAMED = sizeof(naming->names) / sizeof(naming->names[0]) };
    if (naming->without_names)
        return 0;
    return naming->packages > NAMED ? NAMED - 1 : naming->packages;
}

/* Appends the holders, by kind: "main, net/http and goroutines in 3 places". */
static void append_all(const struct naming *naming, struct text *text)
{
    const uint32_t named = packages_named(naming), more = naming->packages - named;
    const unsigned count =
        named + (more > 0) + (naming->places > 0) + (naming->others > 0) + naming->has_more;
    unsigned at = 0;
    for (uint32_t i = 0; i < named; i++) {
        separate(text, at++, count);
        sharers_append_name(naming, naming->names[i], text);
    }
    if (more > 0) {
        separate(text, at++, count);
        text_printf(text, named > 0 ? "%u more package" : "%u package", more);
        text_append_string(text, more > 1 ? "s" : "");
    }
    if (naming->places > 0) {
        separate(text, at++, count);
        if (naming->places == 1 && !naming->without_names)
            sharers_append_name(naming, naming->place, text);
        else if (naming->goroutines == naming->places)
            text_printf(text, "%u goroutine%s", naming->places, naming->places > 1 ? "s" : "");
        else
            text_printf(text, "goroutines in %u place%s", naming->places,
                        naming->places > 1 ? "s" : "");
    }
    if (naming->others > 0) {
        separate(text, at++, count);
        if (naming->others == 1 && !naming->without_names)
            sharers_append_name(naming, naming->other, text);
        else
            text_printf(text, "%u other group%s of roots", naming->others,
                        naming->others > 1 ? "s" : "");
    }
    if (naming->has_more) {
        separate(text, at, count);
        text_printf(text, "others");
    }
}

void sharers_append(const struct sharers *sharers, uint32_t entry, bool without_names,
                    struct text *text)
{
    struct naming naming = {.sharers = sharers, .without_names = without_names};
    count_groups(&naming, entry);
    append_all(&naming, text);
}

/* ---- names ---- */

enum { MOST_SETS = 1 << 16 /* whose names have the names of holders */ };

/* Finds or makes the name of a shared entry. Shared entries with the same holders have the same
 * name. */
static struct g2h_error *name_entry(const struct sharers *sharers, uint32_t entry, struct map *sets,
                                    struct string_pool *texts, uint32_t *ret)
{
    const uint64_t *set = &sharers->sets[(size_t)entry * sharers->words],
                   key = map_hash_text(set, sharers->words * sizeof(*set));
    *ret = map_get(sets, key);
    if (*ret != MAP_NONE)
        return NULL;
    const bool is_known = sets->count < MOST_SETS;
    _cleanup_(text_deinit) struct text text = {0};
    sharers_append(sharers, entry, !is_known, &text);
    TRY_MEMORY(!text.failed && string_pool_intern(texts, text.data, text.size, ret) &&
               (!is_known || map_put(sets, key, *ret, ret)));
    return NULL;
}

/* Adding "(held by several)" has moved the objects' node numbers by the number of synthetic nodes
 * added since: moved. */
struct g2h_error *sharing_fill(struct g2h_graph *graph, const struct sharers *sharers,
                               const uint32_t *ascending, uint32_t count, uint32_t before)
{
    struct sharing *sharing = &graph->sharing;
    assert(before <= graph_synthetics(graph));
    const uint32_t moved = graph_synthetics(graph) - before;
    _cleanup_(map_deinit) struct map sets = {0};
    sharing->nodes = block_alloc(count, sizeof(*sharing->nodes));
    sharing->names = block_alloc(count, sizeof(*sharing->names));
    TRY_MEMORY(sharing->nodes && sharing->names);
    sharing->count = count;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t node = sharers->entries->nodes.data[ascending[i]];
        sharing->nodes[i] = node < before ? node : node + moved;
        assert(i == 0 || sharing->nodes[i - 1] < sharing->nodes[i]); /* for sharing_find() */
        TRY(name_entry(sharers, ascending[i], &sets, &sharing->texts, &sharing->names[i]));
    }
    return NULL;
}

void sharing_deinit(struct sharing *sharing)
{
    free(sharing->nodes);
    free(sharing->names);
    string_pool_deinit(&sharing->texts);
}

bool sharing_find(const struct sharing *sharing, uint32_t node, const char **ret, size_t *ret_size)
{
    size_t entry;
    BISECT(entry, sharing->count, sharing->nodes[entry] < node);
    if (entry == sharing->count || sharing->nodes[entry] != node)
        return false;
    *ret = string_pool_text(&sharing->texts, sharing->names[entry], ret_size);
    return true;
}
