/*
 * held_together: groups the variables of a package that hold memory together; see held_together.h,
 * which has the idea. A member is what an edge of a package leads to: a variable, or an object. A
 * set is the members that lead to an object: each object has one, of one or several members of a
 * package, OF_NONE, or OF_SEVERAL_PACKAGES. together_spread() passes sets along pointers in waves
 * until nothing changes; then the sets with most bytes are chosen, and their members joined to
 * groups.
 */
#include "graph/held_together.h"

#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "base/error.h"
#include "base/map.h"

enum {
    MOST_HOLDERS = 8,    /* of a set; one set of a package stands for all with more (many) */
    MOST_SETS = 1 << 16, /* of several members; many stands for those that are found later, too */
    MOST_SHARED = 16,    /* objects that a set holds together and that are listed */
    MOST_CLOSED = 64,    /* how often it is found out again, when a set is closed, which matter */
    RECENT = 64,         /* merges that are found at once; a power of two */
    SMALL_PART = 100,    /* of what a package holds: one percent may be in no row */
    OF_NONE = 0,         /* a set: nothing has reached the object */
    OF_SEVERAL_PACKAGES = 1 /* a set */
};

#define SET_FIXED (1u << 31) /* of a member: the set is the member's own */
#define SET_WAITS (1u << 30) /* its set has changed, and it has not been walked since */
#define SET_FLAGS (SET_FIXED | SET_WAITS)
#define SET_NONE  UINT32_MAX /* memory has run out */

struct held_set {
    uint32_t package; /* index in packages */
    uint32_t count;   /* of holders; MOST_HOLDERS + 1: all members that have is_in_many */
    uint32_t holders[MOST_HOLDERS]; /* members, ascending */
    uint64_t bytes;
    bool is_chosen;  /* its holders are a group */
    bool leads;      /* some of its holders are in a group, and it may lead to what more hold */
    uint32_t shared; /* objects that are found for the list */
};

struct held_package {
    uint32_t node, many; /* many: the set of more holders than a set can have; OF_NONE: none yet */
    uint32_t first_member, end_member;
    uint64_t bytes, shared_bytes;
};

struct held_member {
    struct node node;
    uint32_t package, set;
    uint32_t up; /* another member of its group, or itself; see group_of() */
    bool is_in_many, is_grouped;
    bool is_open; /* objects that it holds with others may still be listed */
};

/* An edge from what a set holds to a member. */
struct held_crossing {
    uint32_t set, member;
};

/* Two sets and the set of an object to which both lead. All zero: none. */
struct recent_merge {
    uint32_t known, set, merged;
};

typedef VECTOR(uint32_t) object_vector;

struct together_finder {
    const struct g2h_graph *graph;
    uint32_t *set_of; /* by object, with SET_FLAGS */
    VECTOR(struct held_package) packages;
    VECTOR(struct held_member) members;
    VECTOR(struct held_set) sets;
    VECTOR(struct held_crossing) crossings;
    object_vector next;  /* objects that have been reached and not been walked */
    object_vector later; /* objects of which the set has changed since they were walked */
    bool is_again;       /* the wave is of the latter */
    bool any_open;       /* objects of some chosen set may still be listed */
    unsigned closed;     /* sets of which no more objects are listed */
    struct recent_merge recent[RECENT];
    struct map merged;     /* two sets → their union */
    struct map by_holders; /* hash of holders → set */
    struct map crossed;    /* set and member → index of the crossing */
};

static void together_finder_deinit(struct together_finder *finder)
{
    large_free(finder->set_of, count_and_end(finder->graph->heap->object_count),
               sizeof(*finder->set_of));
    free(finder->packages.data);
    free(finder->members.data);
    free(finder->sets.data);
    free(finder->crossings.data);
    free(finder->next.data);
    free(finder->later.data);
    map_deinit(&finder->merged);
    map_deinit(&finder->by_holders);
    map_deinit(&finder->crossed);
}

/* ---- sets ---- */

/* Adds a set. Returns its number, or SET_NONE if memory runs out or there are too many. */
static uint32_t together_add_set(struct together_finder *finder, const struct held_set *set)
{
    return finder->sets.count < SET_WAITS && vector_push(&finder->sets, *set)
               ? as_u32(finder->sets.count) - 1
               : SET_NONE;
}

/* Marks the members of a set as being among the many of their package. */
static void join_many(struct together_finder *finder, const struct held_set *set)
{
    for (uint32_t i = 0; set->count <= MOST_HOLDERS && i < set->count; i++)
        finder->members.data[set->holders[i]].is_in_many = true;
}

/* Returns the set of a package's many members, to which it adds those of two sets. */
static uint32_t unite_as_many(struct together_finder *finder, uint32_t one, uint32_t other)
{
    struct held_package *package = &finder->packages.data[finder->sets.data[one].package];
    const struct held_set many = {.package = finder->sets.data[one].package,
                                  .count = MOST_HOLDERS + 1};
    join_many(finder, &finder->sets.data[one]);
    join_many(finder, &finder->sets.data[other]);
    if (package->many == OF_NONE)
        package->many = together_add_set(finder, &many);
    return package->many;
}

/* Makes the union of the holders of two sets of a package, which ascend. Returns false if either
 * has, or both together have, more than MOST_HOLDERS. */
static bool unite_holders(const struct held_set *one, const struct held_set *other,
                          struct held_set *ret)
{
    uint32_t i = 0, j = 0;
    *ret = (struct held_set){.package = one->package};
    if (one->count > MOST_HOLDERS || other->count > MOST_HOLDERS)
        return false;
    while (i < one->count || j < other->count) {
        const bool is_left =
            j == other->count || (i < one->count && one->holders[i] <= other->holders[j]);
        const uint32_t next = is_left ? one->holders[i] : other->holders[j];
        i += is_left;
        j += j < other->count && other->holders[j] == next; /* both, if both have it */
        if (ret->count == MOST_HOLDERS)
            return false;
        assert(ret->count == 0 || ret->holders[ret->count - 1] < next);
        ret->holders[ret->count++] = next;
    }
    return true;
}

/* Finds or makes the union of two different sets of one package, and remembers it for the next
 * time. If it has too many holders, or there are MOST_SETS sets, it is one that stands for all such
 * sets (unite_as_many()). SET_NONE: memory has run out. */
static uint32_t unite_sets(struct together_finder *finder, uint32_t one, uint32_t other)
{
    const uint64_t pair = pair_key(one, other);
    uint32_t set = map_get(&finder->merged, pair);
    struct held_set made;
    if (set != MAP_NONE)
        return set;
    if (unite_holders(&finder->sets.data[one], &finder->sets.data[other], &made)) {
        const uint64_t key = map_hash_text(made.holders, made.count * sizeof(*made.holders));
        set = map_get(&finder->by_holders, key);
        /* The set that each member has by itself does not count. */
        if (set == MAP_NONE && finder->sets.count - finder->members.count < MOST_SETS) {
            set = together_add_set(finder, &made);
            if (set == SET_NONE || !map_put(&finder->by_holders, key, set, &set))
                return SET_NONE;
        }
    }
    if (set == MAP_NONE)
        set = unite_as_many(finder, one, other);
    return set != SET_NONE && map_put(&finder->merged, pair, set, &set) ? set : SET_NONE;
}

/* Returns where the union of two sets is remembered. */
static inline struct recent_merge *recent_of(struct together_finder *finder, uint32_t known,
                                             uint32_t set)
{
    return &finder->recent[(known ^ set * 8) % RECENT];
}

/* Returns the set of an object that two sets lead to, neither of which is OF_NONE: their union if
 * both are of one package, else OF_SEVERAL_PACKAGES. The result is remembered in recent. SET_NONE:
 * memory has run out. */
static __attribute__((noinline)) uint32_t find_merged(struct together_finder *finder,
                                                      uint32_t known, uint32_t set)
{
    uint32_t merged = OF_SEVERAL_PACKAGES;
    if (known != OF_SEVERAL_PACKAGES && set != OF_SEVERAL_PACKAGES &&
        finder->sets.data[known].package == finder->sets.data[set].package)
        merged = unite_sets(finder, known, set);
    *recent_of(finder, known, set) = (struct recent_merge){known, set, merged};
    return merged;
}

/* Returns the set of an object that two sets lead to, from a small cache of recent answers;
 * SET_NONE: memory has run out. */
static inline uint32_t merge_sets(struct together_finder *finder, uint32_t known, uint32_t set)
{
    const struct recent_merge *recent = recent_of(finder, known, set);
    assert(known != OF_NONE && set != OF_NONE);
    return recent->known == known && recent->set == set ? recent->merged
                                                        : find_merged(finder, known, set);
}

/* ---- what sets reach ---- */

/* Notes that what a set holds leads to a member. Returns false if memory runs out. */
static bool note_crossing(struct together_finder *finder, uint32_t set, uint32_t own)
{
    const struct held_crossing crossing = {set, finder->sets.data[own].holders[0]};
    uint32_t index = as_u32(finder->crossings.count);
    return map_put(&finder->crossed, pair_key(set, own), index, &index) &&
           (index < finder->crossings.count || vector_push(&finder->crossings, crossing));
}

/* Gives an object that has one another set, and lists it to be walked again if it leads to others.
 * Returns false if memory runs out. */
static inline bool change_set(struct together_finder *finder, uint32_t object, uint32_t set)
{
    const uint32_t waits = finder->set_of[object] & SET_WAITS;
    assert(set != OF_NONE && (set & SET_FLAGS) == 0);
    finder->set_of[object] = set | waits;
    /* It is listed already, or leads to nothing. */
    if (waits != 0 || !bits_have(finder->graph->targets->leading, object))
        return true;
    finder->set_of[object] |= SET_WAITS;
    return vector_push(&finder->later, object);
}

/* Adds a set to those that lead to a member, which keeps its own unless the set is of another
 * package. Returns false if memory runs out. */
static __attribute__((noinline)) bool reach_member(struct together_finder *finder, uint32_t object,
                                                   uint32_t set)
{
    const uint32_t own = finder->set_of[object] & ~SET_FLAGS;
    if (own == set)
        return true;
    if (set == OF_SEVERAL_PACKAGES ||
        finder->sets.data[own].package != finder->sets.data[set].package)
        return change_set(finder, object, OF_SEVERAL_PACKAGES);
    return note_crossing(finder, set, own);
}

/* Adds a set to those that lead to an object that others lead to already. Returns false if memory
 * runs out. */
static inline bool reach_again(struct together_finder *finder, uint32_t object, uint32_t set)
{
    const uint32_t known = finder->set_of[object] & ~SET_WAITS;
    if (known == set || known == OF_SEVERAL_PACKAGES)
        return true;
    if ((known & SET_FIXED) != 0)
        return reach_member(finder, object, set);
    const uint32_t merged = merge_sets(finder, known, set);
    return merged == known || (merged != SET_NONE && change_set(finder, object, merged));
}

/* Adds a set to those that lead to an object, which belongs to the program. Returns false if memory
 * runs out. */
static inline bool together_reach(struct together_finder *finder, uint32_t object, uint32_t set)
{
    if (finder->set_of[object] != OF_NONE)
        return reach_again(finder, object, set);
    assert(tiers_of(&finder->graph->tiers, object) == TIER_PROGRAM);
    finder->set_of[object] = set;
    return !bits_have(finder->graph->targets->leading, object) ||
           vector_push(&finder->next, object);
}

/* Reaches what an object of the program holds: the targets of its tier, and of a record of a
 * waiting goroutine (source.waits) only other such records (tiers_hold()). What has been reached
 * already is the program's; for that the test is spared. Returns false if memory runs out. */
static inline bool reach_targets(struct together_finder *finder, uint32_t object)
{
    const struct tiers *tiers = &finder->graph->tiers;
    const struct tier_source source = {TIER_PROGRAM, tiers_waits(tiers->waiters, object)};
    const uint32_t *set_of = finder->set_of;
    const uint32_t set = set_of[object] & ~SET_FLAGS;
    const uint32_t *end;
    const uint32_t *target = object_targets(finder->graph, object, &end);
    for (; target < end; target++) {
        if (*target == NO_TARGET)
            continue;
        if (set_of[*target] != OF_NONE && !source.waits) {
            if (!reach_again(finder, *target, set))
                return false;
        } else if (tiers_hold(tiers, source, *target) && !together_reach(finder, *target, set)) {
            return false;
        }
    }
    return true;
}

/* Makes the objects that are walked next the wave: those that were reached for the first time or,
 * if there are none, those of which the set has changed. Returns whether there are any. */
static bool next_wave(struct together_finder *finder, object_vector *wave)
{
    object_vector *from = finder->next.count > 0 ? &finder->next : &finder->later;
    const object_vector walked = *wave;
    finder->is_again = from == &finder->later;
    *wave = *from;
    *from = walked;
    from->count = 0;
    return wave->count > 0;
}

/* Reaches everything in waves. An object to which several members lead is walked after all to which
 * one does, so that most have the set of all that lead to them by then, and are walked once.
 * Returns false if memory runs out. */
static bool together_spread(struct together_finder *finder)
{
    _cleanup_vector_ object_vector wave = {0};
    while (next_wave(finder, &wave))
        for (size_t i = 0; i < wave.count; i++) {
            const uint32_t object = wave.data[i];
            if (finder->is_again)
                finder->set_of[object] &= ~SET_WAITS;
            /* One that was reached and has changed since waits for its second walk only. */
            if ((finder->set_of[object] & SET_WAITS) == 0 && !reach_targets(finder, object))
                return false;
        }
    return true;
}

/* ---- where sets begin ---- */

/* Adds a member of the last package, or finds that its target is one already. Returns false if
 * memory runs out. What members of several packages point to belongs to none of them. */
static bool together_add_member(struct together_finder *finder, struct node node)
{
    const uint32_t package = as_u32(finder->packages.count) - 1,
                   member = as_u32(finder->members.count);
    const struct held_set own = {.package = package, .count = 1, .holders = {member}};
    uint32_t *known = node.of == OF_OBJECT ? &finder->set_of[node.index] : NULL;
    if (known && *known != OF_NONE) {
        if (*known == OF_SEVERAL_PACKAGES ||
            finder->sets.data[*known & ~SET_FLAGS].package != package)
            *known = OF_SEVERAL_PACKAGES;
        return true;
    }
    const uint32_t set = together_add_set(finder, &own);
    if (known)
        *known = set | SET_FIXED;
    return set != SET_NONE &&
           vector_push(
               &finder->members,
               ((struct held_member){.node = node, .package = package, .set = set, .up = member}));
}

/* Adds a package and its members. Returns false if memory runs out. */
static bool together_add_package(struct together_finder *finder, uint32_t node)
{
    const struct g2h_graph *graph = finder->graph;
    const uint32_t first = as_u32(finder->members.count);
    if (!vector_push(&finder->packages,
                     ((struct held_package){.node = node, .many = OF_NONE, .first_member = first})))
        return false;
    for (uint64_t i = graph->first_child[node]; i < graph->first_child[node + 1]; i++)
        if (graph_holds(graph, &graph->children[i]) &&
            !together_add_member(finder, graph->children[i].target))
            return false;
    finder->packages.data[finder->packages.count - 1].end_member = as_u32(finder->members.count);
    return true;
}

/* Reaches the objects that a synthetic node holds directly, as those of a set. Returns false if
 * memory runs out. */
static bool reach_from(struct together_finder *finder, uint32_t node, uint32_t set)
{
    const struct g2h_graph *graph = finder->graph;
    for (uint64_t i = graph->first_child[node]; i < graph->first_child[node + 1]; i++) {
        const struct edge *edge = &graph->children[i];
        if (edge->target.of == OF_OBJECT && graph_holds(graph, edge) &&
            !together_reach(finder, edge->target.index, set))
            return false;
    }
    return true;
}

/* Reaches what all members are or hold. Returns false if memory runs out. */
static bool reach_from_members(struct together_finder *finder)
{
    VECTOR_EACH(const struct held_member, member, finder->members) {
        const bool is_object = member->node.of == OF_OBJECT;
        if (is_object ? !vector_push(&finder->next, member->node.index)
                      : !reach_from(finder, member->node.index, member->set))
            return false;
    }
    return true;
}

/* Reaches everything from all packages, and from the other nodes that the program's memory belongs
 * to: words of data and bss without a name. Returns false if memory runs out. */
static bool reach_all(struct together_finder *finder)
{
    const struct roots *roots = &finder->graph->roots;
    const struct synthetic *nodes = roots->nodes.data;
    for (uint32_t i = 0; i < roots->nodes.count; i++)
        if (nodes[i].kind == G2H_NODE_PACKAGE && nodes[i].tier == TIER_PROGRAM &&
            !together_add_package(finder, i))
            return false;
    if (!reach_from_members(finder))
        return false;
    for (uint32_t i = 0; i < roots->nodes.count; i++)
        if ((nodes[i].kind == G2H_NODE_DATA || nodes[i].kind == G2H_NODE_BSS) &&
            !reach_from(finder, i, OF_SEVERAL_PACKAGES))
            return false;
    return together_spread(finder);
}

/* ---- groups ---- */

/* Adds up the bytes of the objects of each set, and of each package alone and shared. */
static void together_sum_up(struct together_finder *finder)
{
    const struct g2h_heap *heap = finder->graph->heap;
    for (uint32_t i = 0; i < heap->object_count; i++)
        if (finder->set_of[i] != OF_NONE)
            finder->sets.data[finder->set_of[i] & ~SET_FLAGS].bytes += heap_object_size(heap, i);
    /* From the first set on that is of one package. */
    for (size_t i = OF_SEVERAL_PACKAGES + 1; i < finder->sets.count; i++) {
        const struct held_set *set = &finder->sets.data[i];
        struct held_package *package = &finder->packages.data[set->package];
        package->bytes += set->bytes;
        package->shared_bytes += set->count > 1 ? set->bytes : 0;
    }
}

/* Returns the member that stands for a member's group. */
static uint32_t group_of(struct together_finder *finder, uint32_t member)
{
    struct held_member *members = finder->members.data;
    while (members[member].up != member)
        member = members[member].up = members[members[member].up].up;
    return member;
}

/* Makes two members a group. The first in order stands for it. Returns whether anything changed. */
static bool join_members(struct together_finder *finder, uint32_t one, uint32_t other)
{
    struct held_member *members = finder->members.data;
    const bool changes = !members[one].is_grouped || !members[other].is_grouped;
    members[one].is_grouped = members[other].is_grouped = true;
    one = group_of(finder, one);
    other = group_of(finder, other);
    if (one < other)
        members[other].up = one;
    else
        members[one].up = other;
    return changes || one != other;
}

/* Makes a member and all holders of a set a group. Returns whether anything changed. Of a set with
 * more than MOST_HOLDERS these are all members that are in such sets. */
static bool join_set(struct together_finder *finder, uint32_t member, const struct held_set *set)
{
    const struct held_package *package = &finder->packages.data[set->package];
    bool changes = false;
    for (uint32_t i = 0; set->count <= MOST_HOLDERS && i < set->count; i++)
        changes |= join_members(finder, member, set->holders[i]);
    for (uint32_t i = package->first_member; set->count > MOST_HOLDERS && i < package->end_member;
         i++)
        if (finder->members.data[i].is_in_many)
            changes |= join_members(finder, member, i);
    return changes;
}

/* Returns one of the members that hold a set of several: the first of a few, or of many the first
 * that is among them. */
static uint32_t a_holder(const struct together_finder *finder, const struct held_set *set)
{
    uint32_t member = finder->packages.data[set->package].first_member;
    if (set->count <= MOST_HOLDERS)
        return set->holders[0];
    while (!finder->members.data[member].is_in_many)
        member++;
    return member;
}

struct sized_set {
    uint64_t bytes;
    uint32_t set, package;
};

/* Orders sets by package, those with most bytes first. */
static int compare_sized(const void *a, const void *b)
{
    const struct sized_set *one = a;
    const struct sized_set *other = b;
    if (one->package != other->package)
        return COMPARE(one->package, other->package);
    if (one->bytes != other->bytes)
        return COMPARE(other->bytes, one->bytes);
    return COMPARE(one->set, other->set);
}

/* Returns whether more of a package is in no row than may be. */
static bool has_more(const struct held_package *package)
{
    return package->shared_bytes > package->bytes / SMALL_PART;
}

/* Chooses the sets that hold most of what is in no row, and makes groups of their holders. If what
 * other members hold leads to a member of a group, these others join it, too: else that member's
 * memory would not belong to the group alone. */
static struct g2h_error *choose_sets(struct together_finder *finder)
{
    _cleanup_vector_ VECTOR(struct sized_set) sized = {0};
    bool changes = true;
    for (uint32_t i = OF_SEVERAL_PACKAGES + 1; i < finder->sets.count; i++) {
        const struct held_set *set = &finder->sets.data[i];
        if (set->count > 1 && set->bytes > 0 && has_more(&finder->packages.data[set->package]))
            TRY_MEMORY(vector_push(&sized, ((struct sized_set){set->bytes, i, set->package})));
    }
    vector_sort(&sized, compare_sized);
    VECTOR_EACH(const struct sized_set, candidate, sized) {
        struct held_set *set = &finder->sets.data[candidate->set];
        struct held_package *package = &finder->packages.data[set->package];
        if (!has_more(package))
            continue;
        package->shared_bytes -= set->bytes;
        set->is_chosen = true;
        join_set(finder, a_holder(finder, set), set);
    }
    /* Again and again: a member that joins a group brings in those that lead to it. */
    while (changes && sized.count > 0) {
        changes = false;
        VECTOR_EACH(const struct held_crossing, crossing, finder->crossings)
            if (finder->members.data[crossing->member].is_grouped)
                changes |= join_set(finder, crossing->member, &finder->sets.data[crossing->set]);
    }
    return NULL;
}

/* ---- what is listed ---- */

struct shared_object {
    uint32_t object, set;
};

typedef VECTOR(struct shared_object) shared_object_vector;

/* Returns whether objects of a set may still be added to the list. */
static bool is_open(const struct held_set *set)
{
    return set->is_chosen && set->shared <= MOST_SHARED;
}

/* Sets set->leads for the sets whose objects may lead to what an open set holds, which has more
 * holders: those that share a holder with an open set. Of an open set with too many holders to
 * list, these are all of its package that are in such sets. */
static void find_leading(struct together_finder *finder)
{
    finder->any_open = false;
    VECTOR_EACH(struct held_member, member, finder->members)
        member->is_open = false;
    for (size_t i = OF_SEVERAL_PACKAGES + 1; i < finder->sets.count; i++) {
        const struct held_set *set = &finder->sets.data[i];
        const struct held_package *package = &finder->packages.data[set->package];
        finder->any_open |= is_open(set);
        for (uint32_t j = 0; is_open(set) && set->count <= MOST_HOLDERS && j < set->count; j++)
            finder->members.data[set->holders[j]].is_open = true;
        for (uint32_t j = package->first_member;
             is_open(set) && set->count > MOST_HOLDERS && j < package->end_member; j++)
            finder->members.data[j].is_open |= finder->members.data[j].is_in_many;
    }
    for (size_t i = OF_SEVERAL_PACKAGES + 1; i < finder->sets.count; i++) {
        struct held_set *set = &finder->sets.data[i];
        set->leads = false;
        for (uint32_t j = 0; set->count <= MOST_HOLDERS && j < set->count; j++)
            set->leads |= finder->members.data[set->holders[j]].is_open;
    }
}

/* Notes an object that a chosen set holds, and to which what another set (from) holds leads, unless
 * seen has it. Returns false if memory runs out. A set with more than MOST_SHARED is closed: no
 * more is looked for; the sets that may lead there are found anew then, MOST_CLOSED times. */
static bool note_shared(struct together_finder *finder, uint32_t object, uint32_t from,
                        uint64_t *seen, shared_object_vector *ret)
{
    const uint32_t set = finder->set_of[object];
    if (set == from || set == OF_NONE || (set & SET_FIXED) != 0 ||
        !finder->sets.data[set].is_chosen || bits_have(seen, object))
        return true;
    bits_add(seen, object);
    if (finder->sets.data[set].shared++ < MOST_SHARED)
        return vector_push(ret, ((struct shared_object){object, set}));
    if (finder->sets.data[set].shared == MOST_SHARED + 1 && finder->closed++ < MOST_CLOSED)
        find_leading(finder);
    return true;
}

/* Finds the objects that the holders of chosen sets hold together, and that others of these do not
 * lead to: the targets of objects of other sets that may lead there, and those that the holders'
 * nodes point to. seen marks those that are in ret already. */
static struct g2h_error *find_shared(struct together_finder *finder, shared_object_vector *ret)
{
    const struct g2h_graph *graph = finder->graph;
    const uint32_t objects = graph->heap->object_count;
    _cleanup_free_ uint64_t *seen = zeroed_alloc(objects / 64 + 1, sizeof(*seen));
    TRY_MEMORY(seen);
    find_leading(finder);
    for (uint32_t i = 0; i < objects && finder->any_open; i++) {
        const uint32_t set = finder->set_of[i] & ~SET_FLAGS;
        if (!finder->sets.data[set].leads)
            continue;
        const struct tier_source source = tiers_source(&graph->tiers, i);
        const uint32_t *end;
        const uint32_t *target = object_targets(graph, i, &end);
        for (; target < end; target++)
            if (*target != NO_TARGET && tiers_hold(&graph->tiers, source, *target))
                TRY_MEMORY(note_shared(finder, *target, set, seen, ret));
    }
    VECTOR_EACH(const struct held_member, member, finder->members) {
        const uint32_t node = member->node.index;
        if (member->node.of != OF_SYNTHETIC)
            continue;
        for (uint64_t j = graph->first_child[node]; j < graph->first_child[node + 1]; j++)
            if (graph->children[j].target.of == OF_OBJECT &&
                graph_holds(graph, &graph->children[j]))
                TRY_MEMORY(
                    note_shared(finder, graph->children[j].target.index, member->set, seen, ret));
    }
    return NULL;
}

/* Orders what is listed by group: members first, then what they share, each the largest first, and
 * of one size synthetic nodes first. */
static int compare_listed(const void *a, const void *b)
{
    const struct held_together *one = a;
    const struct held_together *other = b;
    if (one->group != other->group)
        return COMPARE(one->group, other->group);
    if (one->is_shared != other->is_shared)
        return one->is_shared ? 1 : -1;
    if (one->bytes != other->bytes)
        return COMPARE(other->bytes, one->bytes);
    if (one->node.of != other->node.of)
        return one->node.of == OF_SYNTHETIC ? -1 : 1;
    return COMPARE(one->node.index, other->node.index);
}

/* Lists the members of groups, and the objects of sets that have few. */
static struct g2h_error *list_all(struct together_finder *finder,
                                  const shared_object_vector *shared, held_together_vector *ret)
{
    for (uint32_t i = 0; i < finder->members.count; i++) {
        const struct held_member *member = &finder->members.data[i];
        const struct held_together listed = {finder->packages.data[member->package].node,
                                             group_of(finder, i), member->node,
                                             finder->sets.data[member->set].bytes, false};
        if (member->is_grouped)
            TRY_MEMORY(vector_push(ret, listed));
    }
    VECTOR_EACH(const struct shared_object, entry, *shared) {
        const struct held_set *set = &finder->sets.data[entry->set];
        const struct held_together listed = {finder->packages.data[set->package].node,
                                             group_of(finder, a_holder(finder, set)),
                                             node_object(entry->object), 0, true};
        if (set->shared <= MOST_SHARED)
            TRY_MEMORY(vector_push(ret, listed));
    }
    vector_sort(ret, compare_listed);
    return NULL;
}

/* Finds what several members of a package lead to, sums it up per set of members, chooses the sets
 * that become groups, and lists their members. Returns with an empty list if no two members hold
 * anything together, or no set is large enough for a group. */
struct g2h_error *held_together_find(const struct g2h_graph *graph, held_together_vector *ret)
{
    _cleanup_(together_finder_deinit) struct together_finder finder = {.graph = graph};
    _cleanup_vector_ shared_object_vector shared = {0};
    const struct held_set none = {.package = UINT32_MAX};
    finder.set_of = large_alloc(count_and_end(graph->heap->object_count), sizeof(*finder.set_of));
    TRY_MEMORY(finder.set_of && together_add_set(&finder, &none) == OF_NONE &&
               together_add_set(&finder, &none) == OF_SEVERAL_PACKAGES && reach_all(&finder));
    /* There are only the sets of nothing, of several packages, and of each member by itself. */
    if (finder.sets.count == finder.members.count + OF_SEVERAL_PACKAGES + 1)
        return NULL;
    together_sum_up(&finder);
    TRY(choose_sets(&finder));
    bool has_groups = false;
    for (size_t i = 0; i < finder.members.count && !has_groups; i++)
        has_groups = finder.members.data[i].is_grouped;
    if (!has_groups)
        return NULL;
    TRY(find_shared(&finder, &shared));
    return list_all(&finder, &shared, ret);
}
