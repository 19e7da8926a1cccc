/*
 * several: the nodes that several groups of roots hold together, and the group "(held by several)"
 * that lists them; see several.h. The parts of the file, which graph_add_several() puts together:
 *
 * shared_entries  which nodes several groups hold directly: by walks along edges, level by level
 * sharers         which groups hold each of these: a set of bits per shared entry
 * sharing         names of the sets: "main, net/http and 3 goroutines"
 * gathering       adds the group to the graph, with weak edges to the largest shared entries
 *
 * The owner of a node is the group, or shared entry, that alone reaches it. A crossing is an edge
 * from a node of one owner to a node of another one.
 */
#include "dominators/several.h"

#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "base/error.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/port.h"
#include "base/workers.h"
#include "dominators/dominators.h"
#include "dominators/regions.h"

/* ==== the nodes that several groups hold together directly ====
 *
 * Every other node with several owners belongs to the shared entry that alone holds it.
 *
 * Shared entries are found level by level. A node with several owners is a shared entry if an edge
 * leads to it from a node with one owner, because a node that alone held it would hold the source
 * of that edge, too. A marker then finds the nodes that each of these entries alone reaches: it
 * becomes their owner. The nodes that several entries reach are left; among them, each node to
 * which an edge leads from a node that an entry owns is a shared entry again, for the same
 * reason.
 *
 * In most heaps no nodes are left after a level or two. Some heaps have as many levels as nodes,
 * such as a list that is held at both ends: after MOST_LEVELS levels, dominators.h finds the rest,
 * with all other nodes merged with the root. That takes several times as long.
 */

struct shared_entries {
    owner_number first;     /* the owner number of the first shared entry */
    VECTOR(uint32_t) nodes; /* in the order of their numbers */
    /* From groups to entries, and from entries to others, at most two per edge. Which crossings
     * there are depends on the order of threads: a marker that meets a node before it has several
     * owners records a crossing from a group, where one that comes later records it from the entry
     * of that node. By all of them together, an entry is held by the same groups for every order.
     */
    struct crossings crossings;
};

enum { MOST_LEVELS = 4, AHEAD = 16 };

/* A walk along the edges of all nodes whose owner is in [from, end), and what it looks for. */
struct shared_entries_walk {
    owner_number from, end;
    const uint64_t *met; /* if not NULL, only owners that have a bit here */
    bool crossings; /* looks for targets whose owner is fixed and another one; else for targets with
                       several owners */
};

struct shared_entries_finding {
    struct shared_entries *entries;
    const struct g2h_graph *graph;
    struct owners *owners;
    struct shared_entries_walk walk;
    uint64_t *found; /* a bit per node that was found to be a shared entry */
    uint64_t *met;   /* a bit per owner that may hold nodes with several owners; see mark.h */
    struct crossings *crossings; /* by worker */
    uint32_t synthetics;
};

/* Returns the owner number that the next shared entry gets. */
static owner_number next_number(const struct shared_entries_finding *finding)
{
    return finding->entries->first + (owner_number)finding->entries->nodes.count;
}

/* ---- walks along the edges of owned nodes ---- */

/* Returns the owner known of a node, with OWNER_FIXED if it is fixed. */
static owner_number known_of(const struct owners *owners, struct node node)
{
    return node.of == OF_OBJECT ? owners->of_object[node.index] : owners->of_synthetic[node.index];
}

/* Returns whether a walk looks at edges to a node with this owner: for crossings, an owner that is
 * fixed (and so above OWNER_FIXED); else OWNER_SEVERAL. */
static inline bool is_looked_for(const struct shared_entries_walk *walk, owner_number known)
{
    return walk->crossings ? known > OWNER_FIXED : known == OWNER_SEVERAL;
}

/* Handles an edge that leads from a node of owner to node, and holds it; known is the owner of
 * node, which is_looked_for(). A walk for crossings only notes the crossing between the two owners;
 * else node, which has several owners, is noted as found, with a crossing from owner to it. Returns
 * false if memory runs out. */
static inline bool shared_entries_look_at(const struct shared_entries_finding *finding,
                                          struct crossings *crossings, owner_number owner,
                                          uint32_t node, owner_number known)
{
    if (finding->walk.crossings)
        return crossings_look(crossings, owner, known);
    uint64_t *word = &finding->found[node / 64];
    uint64_t bit = UINT64_C(1) << (node % 64);
    if ((__atomic_load_n(word, __ATOMIC_RELAXED) & bit) == 0)
        __atomic_fetch_or(word, bit, __ATOMIC_RELAXED);
    return crossings_add(crossings, owner, node);
}

/* Returns whether the edges of an owner's nodes are looked at. */
static inline bool is_walked(const struct shared_entries_walk *walk, owner_number owner)
{
    return owner >= walk->from && owner < walk->end && (!walk->met || bits_have(walk->met, owner));
}

/* Looks at the edges of synthetic nodes. They count if the source's owner is walked, the target is
 * looked for, and the edge holds it. */
static struct g2h_error *walk_synthetics(const struct shared_entries_finding *finding,
                                         struct crossings *crossings)
{
    const struct g2h_graph *graph = finding->graph;
    for (uint64_t i = 0; i < graph->first_object_child; i++) {
        const struct edge *edge = &graph->children[i];
        const owner_number owner = known_of(finding->owners, edge->source) & ~OWNER_FIXED;
        const owner_number known = known_of(finding->owners, edge->target);
        if (is_walked(&finding->walk, owner) && is_looked_for(&finding->walk, known) &&
            graph_holds(graph, edge))
            TRY_MEMORY(shared_entries_look_at(finding, crossings, owner,
                                              graph_node_number(graph, edge->target), known));
    }
    return NULL;
}

/* Looks at the pointers of a block of objects: those from an object of an owner that is walked to
 * an object that is looked for, if the edge holds its target. */
static struct g2h_error *walk_block(const struct shared_entries_finding *finding, size_t number,
                                    struct crossings *crossings)
{
    const struct target_block *block = &finding->graph->targets->blocks[number];
    const struct tiers *tiers = &finding->graph->tiers;
    const owner_number *of = finding->owners->of_object;
    const uint32_t first = as_u32(number) << BLOCK_SHIFT;
    const uint32_t last = block->starts[block->objects];
    for (uint32_t i = 0; i < block->objects; i++) {
        const owner_number owner = of[first + i] & ~OWNER_FIXED;
        const uint32_t end = block->starts[i + 1];
        for (uint32_t j = is_walked(&finding->walk, owner) ? block->starts[i] : end; j < end; j++) {
            const uint32_t target = block->targets[j];
            if (last - j > AHEAD && block->targets[j + AHEAD] != NO_TARGET)
                __builtin_prefetch(&of[block->targets[j + AHEAD]]);
            if (target != NO_TARGET && is_looked_for(&finding->walk, of[target]) &&
                tiers_hold(tiers, tiers_source(tiers, first + i), target))
                TRY_MEMORY(shared_entries_look_at(finding, crossings, owner,
                                                  finding->synthetics + target, of[target]));
        }
    }
    return NULL;
}

/* Walks the synthetic nodes (task 0), or a block of objects. */
static struct g2h_error *walk_task(void *context, size_t task, unsigned worker)
{
    const struct shared_entries_finding *finding = context;
    struct crossings *crossings = &finding->crossings[worker];
    return task == 0 ? walk_synthetics(finding, crossings)
                     : walk_block(finding, task - 1, crossings);
}

/* Walks along edges, on all threads, as how says. Fills finding->found, or the crossings of each
 * worker. */
static struct g2h_error *shared_entries_walk(struct shared_entries_finding *finding,
                                             struct shared_entries_walk how)
{
    finding->walk = how;
    return workers_run(finding->graph->threads, finding->graph->targets->block_count + 1, walk_task,
                       finding);
}

/* Moves the crossings that a walk found to the shared entries. A walk for crossings has found
 * owners; one for shared entries has found nodes, which did not have their owners yet: such a
 * crossing becomes one to the owner that the node has by now. */
static struct g2h_error *take_crossings(struct shared_entries_finding *finding)
{
    const bool leads_to_nodes = !finding->walk.crossings;
    for (unsigned i = 0; i < finding->graph->threads; i++) {
        struct crossings *crossings = &finding->crossings[i];
        for (size_t j = 0; leads_to_nodes && j < crossings->all.count; j++)
            crossings->all.data[j].to =
                owner_of(finding->owners, finding->synthetics, crossings->all.data[j].to);
        TRY_MEMORY(crossings_move(crossings, &finding->entries->crossings));
        /* The next walk's crossings lead to others: nodes instead of owners, or the reverse. */
        memset(crossings->seen, 0, sizeof(crossings->seen));
    }
    return NULL;
}

/* ---- a level ---- */

/* Resets the owners of all nodes that have several to OWNER_NONE. */
static void forget_several(struct owners *owners, uint32_t objects)
{
    for (size_t i = 0; i < owners->synthetics; i++)
        if (owners->of_synthetic[i] == OWNER_SEVERAL)
            owners->of_synthetic[i] = OWNER_NONE;
    for (uint32_t i = 0; i < objects; i++)
        owners->of_object[i] =
            owners->of_object[i] == OWNER_SEVERAL ? OWNER_NONE : owners->of_object[i];
}

/* Turns the nodes that the walk found into shared entries, in the order of their numbers. */
static struct g2h_error *add_found(struct shared_entries_finding *finding, struct marker *marker)
{
    const uint32_t nodes = graph_node_count(finding->graph);
    for (uint32_t i = 0; i <= nodes / 64; i++)
        for (uint64_t bits = finding->found[i]; bits != 0; bits &= bits - 1) {
            const uint32_t node = i * 64 + lowest_bit(bits);
            marker->owner = next_number(finding) | OWNER_FIXED;
            if (node < finding->synthetics)
                finding->owners->of_synthetic[node] = marker->owner;
            else
                TRY_MEMORY(marker_push(marker, node - finding->synthetics));
            TRY_MEMORY(vector_push(&finding->entries->nodes, node));
        }
    memset(finding->found, 0, (nodes / 64 + 1) * sizeof(*finding->found));
    return NULL;
}

/* Pushes the objects that synthetic nodes lead to, with the owners of the synthetic nodes. Owners
 * below first are left out, except OWNER_SEVERAL. */
static struct g2h_error *push_from_synthetics(const struct shared_entries_finding *finding,
                                              struct marker *marker, owner_number first)
{
    const struct g2h_graph *graph = finding->graph;
    for (uint64_t i = 0; i < graph->first_object_child; i++) {
        const struct edge *edge = &graph->children[i];
        const owner_number owner = known_of(finding->owners, edge->source) & ~OWNER_FIXED;
        if (!graph_holds(graph, edge) || (owner < first && owner != OWNER_SEVERAL))
            continue;
        const owner_number known = known_of(finding->owners, edge->target);
        marker->owner = owner;
        if (edge->target.of == OF_OBJECT)
            TRY_MEMORY(marker_push(marker, edge->target.index));
        else if (known == OWNER_SEVERAL && owner >= first)
            bits_add(finding->met, owner); /* as the marker does for objects */
        TRY_MEMORY(crossings_look(&marker->crossings, owner, known));
    }
    return NULL;
}

/* Makes space for a bit per owner. */
static struct g2h_error *renew_met(struct shared_entries_finding *finding)
{
    free(finding->met);
    finding->met = zeroed_alloc(next_number(finding) / 64 + 1, sizeof(*finding->met));
    TRY_MEMORY(finding->met);
    return NULL;
}

/* Turns the nodes that have been found into the shared entries of a level, and finds the nodes that
 * each of them alone reaches. */
static struct g2h_error *find_level(struct shared_entries_finding *finding)
{
    const struct g2h_graph *graph = finding->graph;
    struct owners *owners = finding->owners;
    const owner_number first = next_number(finding);
    _cleanup_(marker_deinit) struct marker marker = {.targets = graph->targets,
                                                     .waiters = graph->tiers.waiters,
                                                     .tiers = &graph->tiers,
                                                     .owners = owners->of_object,
                                                     .threads = graph->threads};
    forget_several(owners, graph->heap->object_count);
    TRY(add_found(finding, &marker));
    TRY(take_crossings(finding));
    TRY(renew_met(finding));
    marker.met = finding->met;
    owners_spread(owners, graph->children, graph->first_object_child, first);
    TRY(push_from_synthetics(finding, &marker, first));
    TRY(marker_drain(&marker));
    TRY_MEMORY(crossings_move(&marker.crossings, &finding->entries->crossings));
    return NULL;
}

/* ---- the nodes that are left after the last level ---- */

/* Turns the nodes whose dominator is the root into shared entries, and makes each shared entry the
 * owner of the nodes that it dominates. A node's dominator has a lower number, so the owners can
 * replace the dominators in place. */
static struct g2h_error *take_dominators(struct shared_entries_finding *finding,
                                         struct dominators *dominators)
{
    struct owners *owners = finding->owners;
    owner_number *number_of = dominators->idom;
    for (uint32_t i = 1; i < dominators->nodes; i++) {
        const uint32_t node = dominators->node_at[i];
        const uint32_t idom = dominators->idom[i];
        owner_number *of = node < finding->synthetics
                               ? &owners->of_synthetic[node]
                               : &owners->of_object[node - finding->synthetics];
        if (idom == 0) { /* the node is a shared entry */
            number_of[i] = next_number(finding);
            TRY_MEMORY(vector_push(&finding->entries->nodes, node));
            *of = number_of[i] | OWNER_FIXED;
        } else {
            number_of[i] = number_of[idom];
            *of = number_of[i];
        }
    }
    return NULL;
}

/* Finds the shared entries that are left after the last level, by their dominators. */
static struct g2h_error *find_rest(struct shared_entries_finding *finding)
{
    _cleanup_(dominators_deinit) struct dominators dominators = {0};
    const owner_number first = next_number(finding);
    TRY(dominators_init_several(&dominators, finding->graph, finding->owners));
    TRY(take_dominators(finding, &dominators));
    TRY(take_crossings(finding));
    TRY(shared_entries_walk(finding,
                            (struct shared_entries_walk){first, next_number(finding), NULL, true}));
    return take_crossings(finding);
}

/* ---- the whole search ---- */

/* Returns whether the last walk has found any shared entry. */
static bool has_found(const struct shared_entries_finding *finding)
{
    const size_t words = graph_node_count(finding->graph) / 64 + 1;
    for (size_t i = 0; i < words; i++)
        if (finding->found[i] != 0)
            return true;
    return false;
}

/* Repeats walk and marking, level by level, until a walk finds no nodes. Each walk only follows the
 * nodes that got owners on the last level. */
static struct g2h_error *shared_entries_find_all(struct shared_entries_finding *finding)
{
    struct shared_entries_walk how = {OWNER_FIRST, finding->entries->first, NULL, false};
    for (unsigned level = 0;; level++) {
        TRY(shared_entries_walk(finding, how));
        if (!has_found(finding))
            return NULL;
        if (level == MOST_LEVELS)
            return find_rest(finding);
        how.from = next_number(finding);
        TRY(find_level(finding));
        how.end = next_number(finding);
        how.met = finding->met;
    }
}

static void finding_deinit(struct shared_entries_finding *finding)
{
    for (unsigned i = 0; finding->crossings && i < finding->graph->threads; i++)
        crossings_deinit(&finding->crossings[i]);
    free(finding->crossings);
    free(finding->found);
    free(finding->met);
}

/* Returns whether each shared entry owns itself for good (OWNER_FIXED), and whether all crossings
 * lead from groups or shared entries to shared entries. */
static _asserted_ bool entries_own_themselves(const struct shared_entries *entries,
                                              const struct owners *owners, uint32_t synthetics)
{
    for (size_t i = 0; i < entries->nodes.count; i++)
        if (owner_known(owners, synthetics, entries->nodes.data[i]) !=
            (OWNER_FIXED | (entries->first + (owner_number)i)))
            return false;
    VECTOR_EACH(const struct crossing, crossing, entries->crossings.all)
        if (crossing->to < entries->first || crossing->by >= entries->first + entries->nodes.count)
            return false;
    return true;
}

static void shared_entries_deinit(struct shared_entries *entries);

/* Finds the shared entries, and makes them the owners of the nodes that have several owners. In a
 * graph of 2^31 nodes or more it finds none, because owners have 31 bits. Errors: G2H_ERROR_MEMORY;
 * those of dominators_init_several(). */
static struct g2h_error *shared_entries_init(struct shared_entries *entries,
                                             const struct g2h_graph *graph, struct owners *owners)
{
    const uint32_t nodes = graph_node_count(graph);
    *entries = (struct shared_entries){.first = OWNER_FIRST + (owner_number)graph->owners.count};
    if (nodes >= OWNER_FIXED - OWNER_FIRST)
        return NULL;
    _cleanup_(finding_deinit) struct shared_entries_finding finding = {
        .entries = entries,
        .graph = graph,
        .owners = owners,
        .found = zeroed_alloc(nodes / 64 + 1, sizeof(*finding.found)),
        .crossings = calloc(graph->threads, sizeof(*finding.crossings)),
        .synthetics = graph_synthetics(graph)};
    TRY_MEMORY(finding.found && finding.crossings);
    struct g2h_error *error = shared_entries_find_all(&finding);
    owners->end = next_number(&finding);
    if (error)
        shared_entries_deinit(entries);
    assert(error || entries_own_themselves(entries, owners, finding.synthetics));
    return error;
}

static void shared_entries_deinit(struct shared_entries *entries)
{
    free(entries->nodes.data);
    crossings_deinit(&entries->crossings);
    *entries = (struct shared_entries){0};
}

/* ==== which groups hold each of them ====
 *
 * Groups hold some shared entries directly, and a shared entry holds another one if an edge leads
 * there from a node that it owns: these are the crossings that were recorded when the shared
 * entries were found. Shared entries that hold each other have the same holders. So sets are made
 * component by component, each after all components that lead to it.
 */

struct sharers {
    const struct g2h_graph *graph;
    const struct shared_entries *entries;
    unsigned words;     /* per set */
    uint32_t *bit_of;   /* by group of graph->owners: its bit */
    uint32_t *owner_at; /* by bit: the group; UINT32_MAX: all groups without a bit of their own */
    uint64_t *kinds;    /* by kind of group: the set of the groups of that kind */
    uint64_t *sets;     /* by shared entry: the set of the groups that hold it */
};

enum { SET_BITS = 64, LEAST_WORDS = 1, MOST_WORDS = 64 };

/* The most bytes that the sets of all entries may have, unless LEAST_WORDS per set are more.
 */
static const uint64_t SETS_MEMORY = 32 << 20;

/* ---- groups ---- */

/* Orders groups by what they own, the most first: these get their own bits. */
static int compare_bytes(const void *a, const void *b, void *context)
{
    const struct graph_owner *owners = context;
    const uint32_t one = *(const uint32_t *)a;
    const uint32_t other = *(const uint32_t *)b;
    if (owners[one].bytes != owners[other].bytes)
        return COMPARE(owners[other].bytes, owners[one].bytes);
    return COMPARE(one, other);
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
    set[bit / SET_BITS] |= UINT64_C(1) << (bit % SET_BITS);
}

/* Assigns bits to the groups, first to those that own most; all groups that are left share the last
 * bit. */
static struct g2h_error *give_bits(struct sharers *sharers)
{
    const struct g2h_graph *graph = sharers->graph;
    const uint32_t groups = as_u32(graph->owners.count);
    const uint32_t bits = sharers->words * SET_BITS;
    sharers->bit_of = calloc(count_and_end(groups), sizeof(*sharers->bit_of));
    sharers->owner_at = block_alloc(count_and_end(groups), sizeof(*sharers->owner_at));
    sharers->kinds = calloc(KINDS, sharers->words * sizeof(*sharers->kinds));
    TRY_MEMORY(sharers->bit_of && sharers->owner_at && sharers->kinds);
    for (uint32_t i = 0; i < groups; i++)
        sharers->owner_at[i] = i;
    qsort_r(sharers->owner_at, groups, sizeof(*sharers->owner_at), compare_bytes,
            graph->owners.data);
    for (uint32_t i = 0; i < groups; i++)
        sharers->bit_of[sharers->owner_at[i]] = MIN(i, bits - 1);
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

/* Adds the groups that hold shared entries directly to these entries' sets. Crossings from one
 * shared entry to another come later: sharers_spread(). */
static void add_holders(struct sharers *sharers)
{
    const struct shared_entries *entries = sharers->entries;
    VECTOR_EACH(const struct crossing, crossing, entries->crossings.all) {
        if (crossing->by >= entries->first)
            continue;
        add_bit(&sharers->sets[(size_t)(crossing->to - entries->first) * sharers->words],
                sharers->bit_of[crossing->by - OWNER_FIRST]);
    }
}

/* ---- sets ---- */

/* Adds all bits of another set to a set. */
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
    TRY(edge_lists_init(&edges, as_u32(entries->nodes.count), entries->first, &entries->crossings,
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
            groups += bits_of_word(set[j]) + ((set[j] & of_unknown[j]) != 0);
        if (groups < 2)
            return false;
    }
    return true;
}

static void sharers_deinit(struct sharers *sharers);

/*
 * Finds all groups that hold each shared entry. If there are very many shared entries, the groups
 * that own least have no bits of their own. Errors: G2H_ERROR_MEMORY; G2H_ERROR_LIMIT: 2^32 edges.
 *
 * Chooses how many words each set has: enough for a bit per group, but no more than SETS_MEMORY
 * allows or MOST_WORDS, and at least LEAST_WORDS. If there are fewer bits than groups, the smallest
 * groups share the last one (give_bits()). Then finds the sets of all entries.
 */
static struct g2h_error *sharers_init(struct sharers *sharers, const struct g2h_graph *graph,
                                      const struct shared_entries *entries)
{
    const uint64_t memory = SETS_MEMORY / sizeof(uint64_t) / ((uint64_t)entries->nodes.count + 1),
                   wanted = graph->owners.count / SET_BITS + 1;
    uint64_t most = MIN(memory, MOST_WORDS);
    if (most < LEAST_WORDS)
        most = LEAST_WORDS;
    *sharers =
        (struct sharers){.graph = graph, .entries = entries, .words = (unsigned)MIN(wanted, most)};
    struct g2h_error *error = sharers_find_all(sharers);
    if (error)
        sharers_deinit(sharers);
    assert(error || sharers_are_several(sharers));
    return error;
}

static void sharers_deinit(struct sharers *sharers)
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

/* Returns how many groups of a kind are in the set of a shared entry, and stores the nodes of
 * some of them, at most `most`; the others are only counted, because a set may have thousands. */
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
            const unsigned bit = i * SET_BITS + lowest_bit(left);
            nodes[at++] = sharers->graph->owners.data[sharers->owner_at[bit]].node;
        }
        count += bits_of_word(word);
    }
    return count;
}

/* Counts the groups that hold a shared entry, by kind, and notes the nodes to be named. */
static void count_groups(struct naming *naming, uint32_t entry)
{
    const struct sharers *sharers = naming->sharers;
    enum { NAMED = COUNT_OF(naming->names) };
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

/* Appends the name of a synthetic node. */
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
    enum { NAMED = COUNT_OF(naming->names) };
    if (naming->without_names)
        return 0;
    return naming->packages > NAMED ? NAMED - 1 : naming->packages;
}

/* Appends the holders, by kind: "main, net/http and goroutines in 3 places". Packages come by name
 * as long as there is room, and then as a number; a single place or other holder by name, unless
 * names are left out. */
static void append_all(const struct naming *naming, struct text *text)
{
    const uint32_t named = packages_named(naming);
    const uint32_t more = naming->packages - named;
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

/* Appends the holders of a shared entry: "main and 22 goroutines". without_names: "1 package and 22
 * goroutines". */
static void sharers_append(const struct sharers *sharers, uint32_t entry, bool without_names,
                           struct text *text)
{
    struct naming naming = {.sharers = sharers, .without_names = without_names};
    count_groups(&naming, entry);
    append_all(&naming, text);
}

/* ---- the names of all shared entries ---- */

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

/*
 * Stores the names of all shared entries in graph->sharing. ascending has count shared entries, in
 * the order of their nodes; before is the number of synthetic nodes when the shared entries were
 * found. Heaps have few different names: of a shared entry whose set of holders is not among the
 * first 65,536 different ones, the name only says how many of each kind there are. Errors:
 * G2H_ERROR_MEMORY.
 *
 * Adding "(held by several)" has moved the objects' node numbers by the number of synthetic nodes
 * added since: moved.
 */
static struct g2h_error *sharing_fill(struct g2h_graph *graph, const struct sharers *sharers,
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

/* Finds the name of the holders of a node of the graph. Returns false if it is not a shared entry.
 */
bool sharing_find(const struct sharing *sharing, uint32_t node, const char **ret, size_t *ret_size)
{
    size_t entry;
    BISECT(entry, sharing->count, sharing->nodes[entry] < node);
    if (entry == sharing->count || sharing->nodes[entry] != node)
        return false;
    *ret = string_pool_text(&sharing->texts, sharing->names[entry], ret_size);
    return true;
}

/* ==== the group (held by several) ====
 *
 * Memory that one group alone holds is in the group's retained size. Memory that several groups
 * hold is in none of their retained sizes, and may be most of a heap. (held by several) lists the
 * shared entries, largest first, but at most MOST_SHOWN. Its edges are weak: they hold nothing, so
 * that they change no retained sizes. The retained sizes of all shared entries and of the groups
 * add up to the size of everything that the roots reach.
 */

enum { MOST_SHOWN = 1000 };

struct shown {
    uint64_t size; /* retained size */
    uint32_t node, entry;
};

typedef VECTOR(struct shown) shown_vector;

struct gathering {
    struct g2h_graph *graph;
    struct shared_entries entries;
    uint64_t *sizes;            /* retained sizes, by shared entry */
    VECTOR(uint32_t) ascending; /* shared entries, in the order of their nodes */
    struct sharers sharers;
    shown_vector shown; /* the largest shared entries */
};

/* Orders shared entries by retained size, the largest first, and equal ones by node. */
static int compare_shown(const void *a, const void *b)
{
    const struct shown *one = a;
    const struct shown *other = b;
    if (one->size != other->size)
        return COMPARE(other->size, one->size);
    return COMPARE(one->node, other->node);
}

/* Sorts the list, and cuts it off after MOST_SHOWN. */
static void keep_largest(shown_vector *shown)
{
    vector_sort(shown, compare_shown);
    if (shown->count > MOST_SHOWN)
        shown->count = MOST_SHOWN;
}

/* Sums up the sizes of the nodes that each owner, a group or a shared entry, has, and counts the
 * nodes that are shared. Lists the entries in the order of nodes. */
static struct g2h_error *several_sum_up(struct gathering *gathering, const struct owners *owners)
{
    struct g2h_graph *graph = gathering->graph;
    const uint32_t nodes = graph_node_count(graph);
    const uint32_t synthetics = graph_synthetics(graph);
    const owner_number first = gathering->entries.first;
    gathering->sizes = zeroed_alloc(gathering->entries.nodes.count + 1, sizeof(*gathering->sizes));
    TRY_MEMORY(gathering->sizes);
    for (uint32_t node = 0; node < nodes; node++) {
        const owner_number owner = owner_of(owners, synthetics, node);
        const uint64_t size = owner == OWNER_NONE ? 0 : graph_node_size(graph, node);
        const bool is_shared = owner >= first || owner == OWNER_SEVERAL;
        graph->account.shared += is_shared;
        graph->account.shared_bytes += is_shared ? size : 0;
        if (owner >= first && gathering->entries.nodes.data[owner - first] == node)
            TRY_MEMORY(vector_push(&gathering->ascending, owner - first));
        if (owner >= first)
            gathering->sizes[owner - first] += size;
        else if (owner >= OWNER_FIRST)
            graph->owners.data[owner - OWNER_FIRST].bytes += size;
    }
    return NULL;
}

/* Finds the largest shared entries without sorting all of them. */
static struct g2h_error *find_largest(struct gathering *gathering)
{
    const struct shared_entries *entries = &gathering->entries;
    uint64_t least = 1; /* the least size of a shared entry that may be among the largest */
    for (uint32_t i = 0; i < entries->nodes.count; i++) {
        const struct shown shown = {gathering->sizes[i], entries->nodes.data[i], i};
        if (shown.size < least)
            continue;
        TRY_MEMORY(vector_push(&gathering->shown, shown));
        if (gathering->shown.count < (size_t)2 * MOST_SHOWN)
            continue;
        keep_largest(&gathering->shown);
        least = gathering->shown.data[MOST_SHOWN - 1].size;
    }
    keep_largest(&gathering->shown);
    assert(gathering->shown.count <= MOST_SHOWN);
    return NULL;
}

/* Counts what is shared for messages. */
static void several_account(const struct gathering *gathering)
{
    struct g2h_graph_account *account = &gathering->graph->account;
    account->several = gathering->entries.nodes.count;
    account->several_shown = gathering->shown.count;
    VECTOR_EACH(const struct shown, shown, gathering->shown)
        account->several_shown_bytes += shown->size;
}

/* ---- nodes and edges ---- */

/* Sets the targets of the edges from (held by several), and names them by the entries' holders. */
static struct g2h_error *name_edges(const struct gathering *gathering, struct edge *edges)
{
    const uint32_t synthetics = graph_synthetics(gathering->graph);
    struct text text = {0};
    bool good = true;
    for (size_t i = 0; i < gathering->shown.count && good; i++) {
        const struct shown *shown = &gathering->shown.data[i];
        text.size = 0;
        sharers_append(&gathering->sharers, shown->entry, false, &text);
        edges[i].type = EDGE_WEAK;
        edges[i].target = shown->node < synthetics ? node_synthetic(shown->node)
                                                   : node_object(shown->node - synthetics);
        good = !text.failed &&
               names_add_label(&gathering->graph->names, text.data, text.size, &edges[i].name);
    }
    text_deinit(&text);
    TRY_MEMORY(good);
    return NULL;
}

/* Adds the node "(held by several)" below (GC roots). */
static struct g2h_error *several_add_group(struct g2h_graph *graph, uint32_t *ret)
{
    static const char text[] = "(held by several)";
    struct edge edge = {.source = node_synthetic(graph->roots.gc_roots),
                        .type = EDGE_ELEMENT,
                        .name = root_group_index(G2H_NODE_SEVERAL)};
    uint32_t name;
    TRY_MEMORY(names_add_node(&graph->names, text, sizeof(text) - 1, &name));
    TRY(graph_append_node(graph, G2H_NODE_SEVERAL, name, ret));
    edge.target = node_synthetic(*ret);
    return graph_insert_children(graph, graph->roots.gc_roots, &edge, 1);
}

/* Adds the group, and its edges to the largest shared entries. */
static struct g2h_error *several_show(const struct gathering *gathering)
{
    const size_t count = gathering->shown.count;
    _cleanup_free_ struct edge *edges = zeroed_alloc(count + 1, sizeof(*edges));
    uint32_t group;
    TRY_MEMORY(edges);
    TRY(name_edges(gathering, edges));
    TRY(several_add_group(gathering->graph, &group));
    for (size_t i = 0; i < count; i++)
        edges[i].source = node_synthetic(group);
    return graph_insert_children(gathering->graph, group, edges, count);
}

/* ---- the whole step ---- */

static void gathering_deinit(struct gathering *gathering)
{
    shared_entries_deinit(&gathering->entries);
    sharers_deinit(&gathering->sharers);
    free(gathering->sizes);
    free(gathering->ascending.data);
    free(gathering->shown.data);
}

/* Finds the shared entries, adds the group with the largest ones, and then names the holders of
 * all: adding the group changes the numbers of objects' nodes, which the names are kept by. */
struct g2h_error *graph_add_several(struct g2h_graph *graph, struct owners *owners)
{
    _cleanup_(gathering_deinit) struct gathering gathering = {.graph = graph};
    TRY(owners_grow(owners, graph));
    TRY(shared_entries_init(&gathering.entries, graph, owners));
    TRY(several_sum_up(&gathering, owners));
    TRY(find_largest(&gathering));
    assert(gathering.ascending.count == gathering.entries.nodes.count);
    several_account(&gathering);
    if (gathering.shown.count == 0)
        return NULL;
    TRY(sharers_init(&gathering.sharers, graph, &gathering.entries));
    const uint32_t before = graph_synthetics(graph);
    TRY(several_show(&gathering));
    return sharing_fill(graph, &gathering.sharers, gathering.ascending.data,
                        as_u32(gathering.ascending.count), before);
}
