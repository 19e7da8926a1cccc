/*
 * contexts: nodes of a snapshot that only DevTools' filters need: a "native context" for each large
 * group of roots, and event handlers; see contexts.h, which says how DevTools reads them.
 *
 * contexts_init() adds, in this order, contexts for the largest groups (MOST_OF_GROUPS) and for the
 * rest, rows that belong together (groups.h), and the listeners. Each node gets a name in the
 * strings table and an id that is the same in every dump of one process; heapsnapshot.c writes
 * nodes and edges from the lists that are made here.
 */
#include "output/heapsnapshot/groups.h"

#include <stdlib.h>
#include <string.h>

#include <go2heapsnapshot/output.h>

#include "base/contract.h"
#include "base/error.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/text.h"

enum { MOST_OF_GROUPS = G2H_MOST_CONTEXTS - 2 /* two are for garbage and for the other roots */ };

/* A group that gets a context. */
struct contexts_group {
    uint64_t bytes;
    struct g2h_node node;
    uint32_t number; /* of the group's node */
};

typedef VECTOR(struct contexts_group) group_vector;

/* Orders groups by bytes, most first; equal ones by number. */
static int compare_groups(const void *a, const void *b)
{
    const struct contexts_group *one = a;
    const struct contexts_group *other = b;
    if (one->bytes != other->bytes)
        return COMPARE(other->bytes, one->bytes);
    return COMPARE(one->number, other->number);
}

/* Orders edges by the node that they begin at. */
static int compare_edges(const void *a, const void *b)
{
    const struct context_edge *one = a;
    const struct context_edge *other = b;
    return COMPARE(one->node, other->node);
}

/* ---- groups ---- */

/* Returns the part of a context's name after "system / NativeContext / ", or NULL if a group of
 * this kind gets no context of its own. */
static const char *prefix_of(enum g2h_node_kind kind)
{
    switch (kind) {
    case G2H_NODE_PACKAGE:
        return "globals of ";
    case G2H_NODE_DATA:
    case G2H_NODE_BSS:
        return "globals in ";
    case G2H_NODE_GOROUTINE:
    case G2H_NODE_GOROUTINES_IN_PLACE:
        return "";
    default:
        return NULL;
    }
}

/* Reads the group of a number. Returns false if the view has no node for it. */
static bool read_group(const struct g2h_view *view, size_t number, struct contexts_group *ret)
{
    struct g2h_view_owner owner;
    g2h_view_owner(view, number, &owner);
    if (owner.node == UINT32_MAX)
        return false;
    g2h_view_brief(view, owner.node, &ret->node);
    ret->bytes = owner.bytes;
    ret->number = owner.node;
    return true;
}

/* Returns whether a group may have a context of its own. The largest such groups get one. */
static bool is_eligible(const struct contexts_group *group)
{
    return group->bytes > 0 && prefix_of(group->node.kind) != NULL;
}

/* Lists the groups that get a context of their own, the largest first. */
static struct g2h_error *list_groups(const struct g2h_view *view, group_vector *ret)
{
    struct contexts_group group;
    for (size_t i = 0; i < g2h_view_owner_count(view); i++)
        if (read_group(view, i, &group) && is_eligible(&group))
            TRY_MEMORY(vector_push(ret, group));
    vector_sort(ret, compare_groups);
    if (ret->count > MOST_OF_GROUPS)
        ret->count = MOST_OF_GROUPS;
    return NULL;
}

/* ---- nodes and edges ---- */

/* Adds a context. key is a hash of the context's meaning, and is the same in every dump of one
 * process. Returns false if memory runs out. */
static bool add_context(const struct contexts_making *making, const struct text *name, uint64_t key)
{
    struct contexts *contexts = making->contexts;
    struct context context;
    return !name->failed && strings_add(making->strings, name->data, name->size, &context.name) &&
           ids_synthetic(making->ids, G2H_NODE_PART, id_hash(key), &context.id) &&
           vector_push(&contexts->list, context);
}

/* Adds an edge from node to the context that was added last. Returns false if memory runs out. */
static bool contexts_add_edge(struct contexts *contexts, uint32_t node)
{
    const struct context_edge edge = {node, as_u32(contexts->list.count) - 1};
    return vector_push(&contexts->edges, edge);
}

/* Adds a context for a group, and the edge from the group's node to it. Returns false if memory
 * runs out. */
static bool contexts_add_group(const struct contexts_making *making,
                               const struct contexts_group *group, struct text *text)
{
    size_t size;
    const char *name = g2h_view_name(making->view, group->node.name, &size);
    text->size = 0;
    text_printf(text, "system / NativeContext / %s", prefix_of(group->node.kind));
    text_append(text, name, size);
    return add_context(making, text, group->node.key + group->node.kind) &&
           contexts_add_edge(making->contexts, group->number);
}

/* A context of several nodes. There is at most one node of each of its kinds. */
struct contexts_rest {
    const char *name;
    enum g2h_node_kind kinds[2];
};

/* Everything below (GC roots), (OS threads) and (globals) that has no context of its own is of
 * "other roots". (globals) is not a group, and none of the others holds it. */
static const struct contexts_rest rests[] = {
    {"system / NativeContext / garbage", {G2H_NODE_UNREACHABLE, G2H_NODE_UNREACHABLE}},
    {"system / NativeContext / other roots", {G2H_NODE_GC_ROOTS, G2H_NODE_OS_THREADS}}};

enum { RESTS = COUNT_OF(rests), OTHER_ROOTS = 1 };

/* Returns whether a group is of one of the kinds that a context of several nodes is for. */
static bool is_of_rest(const struct contexts_rest *rest, const struct contexts_group *group)
{
    return group->node.kind == rest->kinds[0] || group->node.kind == rest->kinds[1];
}

/* Adds a context of several nodes, with an edge from each group that belongs to it; none if there
 * is no such group. Returns false if memory runs out. */
static bool contexts_add_rest(const struct contexts_making *making,
                              const struct contexts_rest *rest, struct text *text)
{
    struct contexts_group group;
    bool is_there = false;
    text->size = 0;
    text_append_string(text, rest->name);
    for (size_t i = 0; i < g2h_view_owner_count(making->view); i++) {
        if (!read_group(making->view, i, &group) || !is_of_rest(rest, &group))
            continue;
        if ((!is_there && !add_context(making, text, rest->kinds[0])) ||
            !contexts_add_edge(making->contexts, group.number))
            return false;
        is_there = true;
    }
    const uint32_t globals = is_there && rest == &rests[OTHER_ROOTS]
                                 ? output_strings_node_of(making->view, G2H_NODE_GLOBALS)
                                 : UINT32_MAX;
    return globals == UINT32_MAX || contexts_add_edge(making->contexts, globals);
}

/* Adds all contexts: one per group, and those of several nodes. Returns false if memory runs
 * out. */
static bool contexts_add_all(const struct contexts_making *making, const group_vector *groups,
                             struct text *text)
{
    VECTOR_EACH(const struct contexts_group, group, *groups)
        if (!contexts_add_group(making, group, text))
            return false;
    for (size_t i = 0; i < RESTS; i++)
        if (!contexts_add_rest(making, &rests[i], text))
            return false;
    return true;
}

/* ---- event handlers ---- */

enum { MOST_OF_LISTENERS = 4096 /* there are as many lists of timers as processors */ };

/* Lists the groups of finalizers and cleanups. */
static struct g2h_error *list_handler_groups(const struct g2h_view *view, target_vector *ret)
{
    const uint64_t synthetic = g2h_view_account(view)->synthetic_nodes;
    struct g2h_node node;
    for (uint32_t i = 0; i < synthetic; i++) {
        g2h_view_brief(view, i, &node);
        if (node.kind == G2H_NODE_FINALIZERS || node.kind == G2H_NODE_QUEUED_FINALIZERS ||
            node.kind == G2H_NODE_CLEANUPS)
            TRY_MEMORY(vector_push(ret, i));
    }
    return NULL;
}

/* Lists the processors' lists of timers that are not folded: arrays of runtime.timerWhen, before Go
 * 1.23 of timers. MOST_OF_LISTENERS at most, without garbage; none if objects are folded. */
static struct g2h_error *list_timers(const struct g2h_view *view, target_vector *ret)
{
    static const char *const classes[] = {"[]runtime.timerWhen", "[]*runtime.timer"};
    const uint32_t objects = g2h_heap_object_count(g2h_view_heap(view));
    uint32_t names[2] = {G2H_NAME_NONE, G2H_NAME_NONE};
    struct g2h_node node;
    bool any = false;
    if (g2h_view_account(view)->folded_nodes > 0)
        return NULL; /* these snapshots have neither handlers nor groups */
    for (size_t i = 0; i < 2; i++)
        any |= g2h_view_find_name(view, classes[i], strlen(classes[i]), &names[i]);
    if (!any)
        return NULL;
    for (uint32_t i = 0; i < objects && ret->count < MOST_OF_LISTENERS; i++) {
        const uint32_t class = g2h_view_class(view, i);
        if (class == G2H_NAME_NONE || (class != names[0] && class != names[1]) ||
            g2h_view_is_garbage(view, i))
            continue;
        const uint32_t number = g2h_view_object(view, i);
        g2h_view_brief(view, number, &node);
        if (node.members == 0)
            TRY_MEMORY(vector_push(ret, number));
    }
    return NULL;
}

/* Lists what has handlers: the groups of finalizers and cleanups, and the lists of timers, which
 * are given, since finding them looks at each object. None if objects are folded. */
static struct g2h_error *list_handlers(const struct g2h_view *view, const target_vector *timers,
                                       target_vector *ret)
{
    if (g2h_view_account(view)->folded_nodes > 0)
        return NULL; /* the number of nodes is limited */
    TRY(list_handler_groups(view, ret));
    VECTOR_EACH(const uint32_t, timer, *timers)
        TRY_MEMORY(vector_push(ret, *timer));
    return NULL;
}

/* Adds the names and ids of "(event handlers)" and of a listener for each target that has handlers;
 * nothing if there are none. */
static struct g2h_error *add_listeners(const struct contexts_making *making,
                                       const target_vector *timers)
{
    static const char handlers[] = "(event handlers)";
    static const char listener[] = "V8EventListener";
    struct contexts *contexts = making->contexts;
    _cleanup_vector_ target_vector targets = {0};
    struct g2h_node node;
    TRY(list_handlers(making->view, timers, &targets));
    if (targets.count == 0)
        return NULL;
    TRY_MEMORY(strings_add(making->strings, handlers, sizeof(handlers) - 1, &contexts->handlers) &&
               strings_add(making->strings, listener, sizeof(listener) - 1, &contexts->listener) &&
               strings_add(making->strings, "1", 1, &contexts->first) &&
               ids_synthetic(making->ids, G2H_NODE_PART,
                             id_hash_text(handlers, sizeof(handlers) - 1), &contexts->handlers_id));
    for (size_t i = 0; i < targets.count; i++) {
        struct context_listener made = {.target = targets.data[i]};
        g2h_view_brief(making->view, made.target, &node);
        const uint64_t key =
            id_hash_text(listener, sizeof(listener) - 1) ^ id_hash(node.address ^ node.kind);
        TRY_MEMORY(ids_synthetic(making->ids, G2H_NODE_PART, key, &made.id) &&
                   vector_push(&contexts->listeners, made));
    }
    return NULL;
}

/* Makes the nodes by which DevTools attributes memory. Contexts, then groups, then the listeners of
 * event handlers: in this order the strings that they add are numbered. */
struct g2h_error *contexts_init(struct contexts *contexts, const struct g2h_view *view,
                                struct ids *ids, struct strings *strings)
{
    static const char map[] = "map";
    static const char native_context[] = "native_context";
    const struct contexts_making making = {contexts, view, ids, strings};
    _cleanup_vector_ group_vector groups = {0};
    _cleanup_vector_ target_vector timers = {0};
    _cleanup_(text_deinit) struct text text = {0};
    TRY(list_groups(view, &groups));
    TRY_MEMORY(contexts_add_all(&making, &groups, &text));
    TRY_MEMORY(strings_add(strings, map, sizeof(map) - 1, &contexts->map) &&
               strings_add(strings, native_context, sizeof(native_context) - 1,
                           &contexts->native_context));
    vector_sort(&contexts->edges, compare_edges);
    assert(IS_ORDERED(i, contexts->edges.count,
                      contexts->edges.data[i - 1].node < contexts->edges.data[i].node));
    TRY(list_timers(view, &timers));
    TRY(groups_make(&making, &timers));
    return add_listeners(&making, &timers);
}

void contexts_deinit(struct contexts *contexts)
{
    free(contexts->list.data);
    free(contexts->edges.data);
    free(contexts->listeners.data);
    free(contexts->groups.data);
    free(contexts->members.data);
    free(contexts->parents.data);
    map_deinit(&contexts->group_of);
}

/* Returns the first node from first on that has groups; NULL: none. */
const struct context_parent *contexts_next_parent(const struct contexts *contexts, uint32_t first)
{
    size_t at;
    BISECT(at, contexts->parents.count, contexts->parents.data[at].node < first);
    return at < contexts->parents.count ? &contexts->parents.data[at] : NULL;
}

/* Returns the number of the first edge that begins at or after node, or the number of edges if none
 * does. */
size_t contexts_from(const struct contexts *contexts, uint32_t node)
{
    size_t at;
    BISECT(at, contexts->edges.count, contexts->edges.data[at].node < node);
    return at;
}

/* Returns the context to which a node has an edge, or UINT32_MAX. */
uint32_t contexts_of(const struct contexts *contexts, uint32_t node)
{
    const size_t at = contexts_from(contexts, node);
    return at < contexts->edges.count && contexts->edges.data[at].node == node
               ? contexts->edges.data[at].context
               : UINT32_MAX;
}

/* Counts what contexts_init() would add, without adding it: a context for each of the largest
 * groups, and for each of the two rests (garbage, other roots) that has any, with an edge from each
 * node; then groups and handlers. Errors are dropped, and leave the numbers too small. */
void g2h_heapsnapshot_contexts(const struct g2h_view *view, struct g2h_contexts_account *ret)
{
    uint64_t groups = 0, of_rest[RESTS] = {0};
    _cleanup_vector_ target_vector timers = {0}, targets = {0};
    struct contexts_group group;
    for (size_t i = 0; i < g2h_view_owner_count(view); i++) {
        if (!read_group(view, i, &group))
            continue;
        groups += is_eligible(&group);
        for (size_t j = 0; j < RESTS; j++)
            of_rest[j] += is_of_rest(&rests[j], &group);
    }
    of_rest[OTHER_ROOTS] +=
        of_rest[OTHER_ROOTS] > 0 && output_strings_node_of(view, G2H_NODE_GLOBALS) != UINT32_MAX;
    ret->nodes = ret->edges = MIN(groups, MOST_OF_GROUPS);
    for (size_t i = 0; i < RESTS; i++) {
        ret->nodes += of_rest[i] > 0;
        ret->edges += of_rest[i];
    }
    ret->edges += CONTEXT_EDGES * ret->nodes;
    g2h_error_destroy(list_timers(view, &timers)); /* then writing runs out of memory, too */
    g2h_error_destroy(list_handlers(view, &timers, &targets));
    struct contexts contexts = {.map = 0};
    const struct contexts_making making = {.contexts = &contexts, .view = view};
    g2h_error_destroy(groups_make(&making, &timers));
    /* "(event handlers)" has an edge to it, and to each listener, which has one to its target. */
    ret->nodes += contexts.groups.count + (targets.count > 0 ? targets.count + 1 : 0);
    ret->edges += contexts.more_edges + (targets.count > 0 ? 2 * targets.count + 1 : 0);
    contexts_deinit(&contexts);
}
