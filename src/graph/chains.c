/*
 * chains: finds long lists, chains and rings, and for each of their elements where the list begins;
 * see chains.h. The steps of chains_find(): choose the classes whose objects point to others of
 * their class (a sample of each); list their objects, the members; find which members something
 * else points to, where a chain may begin; search breadth first from these within the class; and
 * list the links of chains that took more than 64 steps.
 */
#include "graph/chains.h"

#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "base/error.h"
#include "base/memory.h"

enum {
    LONG = 64,   /* steps that a chain takes at least */
    SAMPLE = 256 /* objects of a class that are looked at to see whether it contains itself */
};

/* What is known of a class: it has the number of its name, or for contexts that of one of them. */
struct chain_class {
    uint32_t objects, sampled;
    bool has_self; /* an object of the class points to another */
};

struct chains_finder {
    const struct g2h_graph *graph;
    struct chain_class *classes; /* by name */
    uint32_t *family;            /* by name: the name of its class */
    size_t names;
    uint64_t *members; /* a bit per object that is of a class that contains itself */
    uint64_t *entries; /* a bit per member to which something else points */
    uint64_t *outside; /* a bit per entry to which a variable or an object points */
    uint64_t *reached; /* a bit per member that the search has reached */
    VECTOR(struct chain_step) queue;
};

/* A member that the search has reached: by so many steps from the first one, which is at this index
 * of the queue. */
struct chain_step {
    uint32_t object, first, steps;
};

static void chains_finder_deinit(struct chains_finder *finder)
{
    free(finder->classes);
    free(finder->family);
    free(finder->members);
    free(finder->entries);
    free(finder->outside);
    free(finder->reached);
    free(finder->queue.data);
}

/* Returns the class of an object, or NAME_NONE if no chain can be of it. */
static inline uint32_t class_of(const struct chains_finder *finder, uint32_t object)
{
    const uint32_t name = names_of_object(&finder->graph->names, object);
    return name < finder->names ? finder->family[name] : NAME_NONE;
}

/* Makes all kinds of contexts of package context that the heap has one class, as a chain of
 * contexts has several kinds. */
static void join_contexts(struct chains_finder *finder)
{
    static const char *const contexts[] = {"context.valueCtx",     "context.cancelCtx",
                                           "context.timerCtx",     "context.withoutCancelCtx",
                                           "context.afterFuncCtx", "context.stopCtx"};
    uint32_t first = NAME_NONE, name;
    for (size_t i = 0; i < COUNT_OF(contexts); i++) {
        if (!string_pool_find(&finder->graph->names.strings, contexts[i], strlen(contexts[i]),
                              &name))
            continue;
        first = first == NAME_NONE ? name : first;
        finder->family[name] = first;
    }
}

/* ---- classes that contain themselves ---- */

/* Looks at an object of a class: does it point to another one of the class (number)? */
static void look_at(struct chains_finder *finder, uint32_t object, struct chain_class *class,
                    uint32_t number)
{
    const uint32_t *end;
    const uint32_t *target = object_targets(finder->graph, object, &end);
    class->sampled++;
    for (; target < end && !class->has_self; target++)
        class->has_self =
            *target != NO_TARGET && *target != object && class_of(finder, *target) == number;
}

/* Finds the classes with more than LONG objects that point to others of the class, by the first
 * SAMPLE objects of each. Returns whether there are any. */
static bool find_classes(struct chains_finder *finder)
{
    const uint32_t objects = finder->graph->heap->object_count;
    bool any = false;
    for (uint32_t i = 0; i < objects; i++) {
        const uint32_t number = class_of(finder, i);
        if (number == NAME_NONE || graph_is_garbage(finder->graph, i))
            continue;
        struct chain_class *class = &finder->classes[number];
        class->objects++;
        if (!class->has_self && class->sampled < SAMPLE)
            look_at(finder, i, class, number);
    }
    for (size_t i = 0; i < finder->names; i++) {
        finder->classes[i].has_self =
            finder->classes[i].has_self && finder->classes[i].objects > LONG;
        any = any || finder->classes[i].has_self;
    }
    return any;
}

/* ---- where chains begin ---- */

/* Sets the bit of each living object of such a class, and returns how many there are. */
static uint32_t find_members(struct chains_finder *finder)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < finder->graph->heap->object_count; i++) {
        const uint32_t number = class_of(finder, i);
        if (number != NAME_NONE && finder->classes[number].has_self &&
            !graph_is_garbage(finder->graph, i)) {
            bits_add(finder->members, i);
            count++;
        }
    }
    return count;
}

/* Finds the members of chains that are entered from outside: to which objects of other classes, or
 * objects that are no members, point. Garbage does not count. */
static void find_entries(struct chains_finder *finder)
{
    const struct g2h_graph *graph = finder->graph;
    for (uint32_t i = 0; i < graph->heap->object_count; i++) {
        const uint32_t *end;
        const uint32_t *target = object_targets(graph, i, &end);
        const bool is_member = bits_have(finder->members, i);
        uint32_t number = NAME_NONE;
        if (target < end && graph_is_garbage(graph, i))
            continue;
        for (; target < end; target++) {
            if (*target == NO_TARGET || !bits_have(finder->members, *target))
                continue;
            if (is_member && number == NAME_NONE)
                number = class_of(finder, i);
            if (is_member && class_of(finder, *target) == number)
                continue;
            bits_add(finder->entries, *target);
            bits_add(finder->outside, *target);
        }
    }
}

/* Finds the members to which roots point. Variables of frames come after all else, since they often
 * lead into the middle of a list. */
static void find_root_entries(struct chains_finder *finder)
{
    const struct g2h_graph *graph = finder->graph;
    for (uint64_t i = 0; i < graph->first_object_child; i++) {
        const struct edge *edge = &graph->children[i];
        if (edge->target.of != OF_OBJECT || !graph_holds(graph, edge) ||
            !bits_have(finder->members, edge->target.index))
            continue;
        bits_add(finder->entries, edge->target.index);
        if (graph->roots.nodes.data[edge->source.index].kind != G2H_NODE_FRAME)
            bits_add(finder->outside, edge->target.index);
    }
}

/* ---- the search ---- */

/* Queues a member, reached in so many steps from first, unless it has been reached before. Returns
 * false if memory runs out. */
static bool chains_reach(struct chains_finder *finder, uint32_t object, uint32_t first,
                         uint32_t steps)
{
    const struct chain_step step = {object, first, steps};
    if (bits_have(finder->reached, object))
        return true;
    bits_add(finder->reached, object);
    return vector_push(&finder->queue, step);
}

/* Reaches all that the queue's members from index begin on lead to within their classes. Returns
 * false if memory runs out. */
static bool chains_spread(struct chains_finder *finder, size_t begin)
{
    for (size_t i = begin; i < finder->queue.count; i++) {
        const struct chain_step step = finder->queue.data[i];
        const uint32_t *end, *target = object_targets(finder->graph, step.object, &end),
                             class = class_of(finder, step.object);
        for (; target < end; target++)
            if (*target != NO_TARGET && bits_have(finder->members, *target) &&
                class_of(finder, *target) == class &&
                !chains_reach(finder, *target, step.first, step.steps + 1))
                return false;
    }
    return true;
}

/* Reaches all members that are among from, each of which begins a chain, and then all members that
 * these lead to. Returns false if memory runs out. */
static bool chains_search(struct chains_finder *finder, const uint64_t *from)
{
    const size_t begin = finder->queue.count;
    for (uint32_t i = 0; i < finder->graph->heap->object_count; i++)
        if (bits_have(from, i) && !chains_reach(finder, i, as_u32(finder->queue.count), 0))
            return false;
    return chains_spread(finder, begin);
}

/* Orders links by the first element, then by element. */
static int compare_links(const void *a, const void *b)
{
    const struct chain_link *one = a;
    const struct chain_link *other = b;
    if (one->first != other->first)
        return COMPARE(one->first, other->first);
    return COMPARE(one->element, other->element);
}

/* Lists the members of long chains. The most steps of each chain are counted with its first
 * member. */
static struct g2h_error *list_links(struct chains_finder *finder, chain_vector *ret)
{
    const size_t count = finder->queue.count;
    _cleanup_free_ uint32_t *most = calloc(count + 1, sizeof(*most));
    TRY_MEMORY(most);
    for (size_t i = 0; i < count; i++) {
        const struct chain_step *step = &finder->queue.data[i];
        most[step->first] = MAX(step->steps, most[step->first]);
    }
    for (size_t i = 0; i < count; i++) {
        const struct chain_step *step = &finder->queue.data[i];
        if (step->steps > 1 && most[step->first] > LONG)
            TRY_MEMORY(vector_push(
                ret, ((struct chain_link){finder->queue.data[step->first].object, step->object})));
    }
    vector_sort(ret, compare_links);
    return NULL;
}

/* Finds the classes whose objects form chains, their members, and where other objects enter them,
 * and then searches from there on. Nothing is found without types. */
struct g2h_error *chains_find(const struct g2h_graph *graph, chain_vector *ret)
{
    _cleanup_(chains_finder_deinit) struct chains_finder finder = {
        .graph = graph, .names = graph->names.strings.count};
    const size_t words = graph->heap->object_count / 64 + 1;
    if (!graph->typing)
        return NULL;
    finder.classes = calloc(finder.names + 1, sizeof(*finder.classes));
    finder.family = malloc((finder.names + 1) * sizeof(*finder.family));
    TRY_MEMORY(finder.classes && finder.family);
    for (size_t i = 0; i < finder.names; i++)
        finder.family[i] = as_u32(i);
    join_contexts(&finder);
    if (!find_classes(&finder))
        return NULL;
    finder.members = calloc(words, sizeof(*finder.members));
    finder.entries = calloc(words, sizeof(*finder.entries));
    finder.outside = calloc(words, sizeof(*finder.outside));
    finder.reached = calloc(words, sizeof(*finder.reached));
    TRY_MEMORY(finder.members && finder.entries && finder.outside && finder.reached);
    const uint32_t members = find_members(&finder);
    TRY_MEMORY(vector_grow(&finder.queue, members));
    find_entries(&finder);
    find_root_entries(&finder);
    TRY_MEMORY(chains_search(&finder, finder.outside) && chains_search(&finder, finder.entries));
    return list_links(&finder, ret);
}
