/*
 * shared_entries; see shared_entries.h.
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
#include "dominators/shared_entries.h"

#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "base/contract.h"
#include "base/scope.h"
#include "base/workers.h"
#include "dominators/dominators.h"

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

/* Returns whether a walk looks at edges to a node with this owner. */
static inline bool is_looked_for(const struct shared_entries_walk *walk, owner_number known)
{
    return walk->crossings ? known > OWNER_FIXED : known == OWNER_SEVERAL;
}

/* Handles an edge that leads from a node of owner to node, and holds it; known is the owner of
 * node, which is_looked_for(). Returns false if memory runs out. */
static inline bool shared_entries_look_at(const struct shared_entries_finding *finding,
                                          struct crossings *crossings, owner_number owner,
                                          uint32_t node, owner_number known)
{
    if (finding->walk.crossings)
        return crossings_look(crossings, owner, known);
    uint64_t *word = &finding->found[node / 64], bit = (uint64_t)1 << (node % 64);
    if ((__atomic_load_n(word, __ATOMIC_RELAXED) & bit) == 0)
        __atomic_fetch_or(word, bit, __ATOMIC_RELAXED);
    return crossings_add(crossings, owner, node);
}

/* Returns whether the edges of an owner's nodes are looked at. */
static inline bool is_walked(const struct shared_entries_walk *walk, owner_number owner)
{
    return owner >= walk->from && owner < walk->end && (!walk->met || bits_have(walk->met, owner));
}

/* Looks at the edges of synthetic nodes. */
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

/* Looks at the pointers of a block of objects. */
static struct g2h_error *walk_block(const struct shared_entries_finding *finding, size_t number,
                                    struct crossings *crossings)
{
    const struct target_block *block = &finding->graph->targets->blocks[number];
    const struct tiers *tiers = &finding->graph->tiers;
    const owner_number *of = finding->owners->of_object;
    const uint32_t first = (uint32_t)number << BLOCK_SHIFT, last = block->starts[block->objects];
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

static struct g2h_error *shared_entries_walk(struct shared_entries_finding *finding,
                                             struct shared_entries_walk how)
{
    finding->walk = how;
    return workers_run(finding->graph->threads, finding->graph->targets->block_count + 1, walk_task,
                       finding);
}

/* Moves the crossings that a walk found to the shared entries. A crossing to a node becomes one to
 * the owner that the node has by now. */
static struct g2h_error *take_crossings(struct shared_entries_finding *finding)
{
    for (unsigned i = 0; i < finding->graph->threads; i++) {
        struct crossings *crossings = &finding->crossings[i];
        for (size_t j = 0; !finding->walk.crossings && j < crossings->all.count; j++)
            crossings->all.data[j].to =
                owner_of(finding->owners, finding->synthetics, crossings->all.data[j].to);
        TRY_MEMORY(crossings_move(crossings, &finding->entries->crossings));
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
        for (uint64_t left = finding->found[i]; left != 0; left &= left - 1) {
            const uint32_t node = i * 64 + (uint32_t)__builtin_ctzll(left);
            marker->owner = next_number(finding) | OWNER_FIXED;
            if (node < finding->synthetics)
                finding->owners->of_synthetic[node] = marker->owner;
            else
                TRY_MEMORY(marker_push(marker, node - finding->synthetics));
            TRY_MEMORY(vector_push(&finding->entries->nodes, node));
        }
    memset(finding->found, 0, ((size_t)nodes / 64 + 1) * sizeof(*finding->found));
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
            bits_add(finding->met, owner);
        TRY_MEMORY(crossings_look(&marker->crossings, owner, known));
    }
    return NULL;
}

/* Makes space for a bit per owner. */
static struct g2h_error *renew_met(struct shared_entries_finding *finding)
{
    free(finding->met);
    finding->met = zeroed_alloc((size_t)next_number(finding) / 64 + 1, sizeof(*finding->met));
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
        const uint32_t node = dominators->node_at[i], idom = dominators->idom[i];
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

static bool has_found(const struct shared_entries_finding *finding)
{
    const size_t words = (size_t)graph_node_count(finding->graph) / 64 + 1;
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

/* Returns whether each shared entry owns itself for good, and no other node has an owner of that
 * kind; and whether crossings lead to shared entries. */
static _asserted_ bool entries_own_themselves(const struct shared_entries *entries,
                                              const struct owners *owners, uint32_t synthetics)
{
    for (size_t i = 0; i < entries->nodes.count; i++)
        if (owner_known(owners, synthetics, entries->nodes.data[i]) !=
            (OWNER_FIXED | (entries->first + (owner_number)i)))
            return false;
    for (size_t i = 0; i < entries->crossings.all.count; i++)
        if (entries->crossings.all.data[i].to < entries->first ||
            entries->crossings.all.data[i].by >= entries->first + entries->nodes.count)
            return false;
    return true;
}

/* Owners have 31 bits, so a graph of 2^31 nodes is left without shared entries. */
struct g2h_error *shared_entries_init(struct shared_entries *entries, const struct g2h_graph *graph,
                                      struct owners *owners)
{
    const uint32_t nodes = graph_node_count(graph);
    *entries = (struct shared_entries){.first = OWNER_FIRST + (owner_number)graph->owners.count};
    if (nodes >= OWNER_FIXED - OWNER_FIRST)
        return NULL;
    _cleanup_(finding_deinit) struct shared_entries_finding finding = {
        .entries = entries,
        .graph = graph,
        .owners = owners,
        .found = zeroed_alloc((size_t)nodes / 64 + 1, sizeof(*finding.found)),
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

void shared_entries_deinit(struct shared_entries *entries)
{
    free(entries->nodes.data);
    crossings_deinit(&entries->crossings);
    *entries = (struct shared_entries){0};
}
