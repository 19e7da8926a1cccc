/* contexts; see contexts.h. */
#include "output/heapsnapshot/contexts.h"

#include <stdlib.h>
#include <string.h>

#include <go2heapsnapshot/output.h>

#include "base/bisect.h"
#include "base/id_hash.h"
#include "base/scope.h"
#include "base/text.h"

enum { MOST_OF_GROUPS = G2H_MOST_CONTEXTS - 2 /* two are for garbage and for the other roots */ };

/* A group that gets a context. */
struct contexts_group {
    uint64_t bytes;
    struct g2h_node node;
    uint32_t number; /* of the group's node */
};

typedef VECTOR(struct contexts_group) group_vector;

struct contexts_making {
    struct contexts *contexts;
    const struct g2h_view *view;
    struct ids *ids;
    struct strings *strings;
};

static int compare_groups(const void *a, const void *b)
{
    const struct contexts_group *one = a, *other = b;
    if (one->bytes != other->bytes)
        return one->bytes > other->bytes ? -1 : 1;
    return one->number < other->number ? -1 : one->number > other->number;
}

static int compare_edges(const void *a, const void *b)
{
    const struct context_edge *one = a, *other = b;
    return one->node < other->node ? -1 : one->node > other->node;
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
    const struct context_edge edge = {node, (uint32_t)contexts->list.count - 1};
    return vector_push(&contexts->edges, edge);
}

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

enum { RESTS = sizeof(rests) / sizeof(rests[0]), OTHER_ROOTS = 1 };

/* Returns the node (globals), or UINT32_MAX. */
static uint32_t find_globals(const struct g2h_view *view)
{
    const uint64_t synthetic = g2h_view_account(view)->synthetic_nodes;
    struct g2h_node node;
    for (uint32_t i = 0; i < synthetic; i++) {
        g2h_view_brief(view, i, &node);
        if (node.kind == G2H_NODE_GLOBALS)
            return i;
    }
    return UINT32_MAX;
}

static bool is_of_rest(const struct contexts_rest *rest, const struct contexts_group *group)
{
    return group->node.kind == rest->kinds[0] || group->node.kind == rest->kinds[1];
}

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
    const uint32_t globals =
        is_there && rest == &rests[OTHER_ROOTS] ? find_globals(making->view) : UINT32_MAX;
    return globals == UINT32_MAX || contexts_add_edge(making->contexts, globals);
}

static bool contexts_add_all(const struct contexts_making *making, const group_vector *groups,
                             struct text *text)
{
    for (size_t i = 0; i < groups->count; i++)
        if (!contexts_add_group(making, &groups->data[i], text))
            return false;
    for (size_t i = 0; i < RESTS; i++)
        if (!contexts_add_rest(making, &rests[i], text))
            return false;
    return true;
}

struct g2h_error *contexts_init(struct contexts *contexts, const struct g2h_view *view,
                                struct ids *ids, struct strings *strings)
{
    static const char map[] = "map", native_context[] = "native_context";
    const struct contexts_making making = {contexts, view, ids, strings};
    _cleanup_vector_ group_vector groups = {0};
    struct text text = {0};
    TRY(list_groups(view, &groups));
    const bool good = contexts_add_all(&making, &groups, &text);
    text_deinit(&text);
    TRY_MEMORY(good && strings_add(strings, map, sizeof(map) - 1, &contexts->map) &&
               strings_add(strings, native_context, sizeof(native_context) - 1,
                           &contexts->native_context));
    vector_sort(&contexts->edges, compare_edges);
    return NULL;
}

void contexts_deinit(struct contexts *contexts)
{
    free(contexts->list.data);
    free(contexts->edges.data);
}

size_t contexts_from(const struct contexts *contexts, uint32_t node)
{
    size_t at;
    BISECT(at, contexts->edges.count, contexts->edges.data[at].node < node);
    return at;
}

uint32_t contexts_of(const struct contexts *contexts, uint32_t node)
{
    const size_t at = contexts_from(contexts, node);
    return at < contexts->edges.count && contexts->edges.data[at].node == node
               ? contexts->edges.data[at].context
               : UINT32_MAX;
}

void g2h_heapsnapshot_contexts(const struct g2h_view *view, struct g2h_contexts_account *ret)
{
    uint64_t groups = 0, of_rest[RESTS] = {0};
    struct contexts_group group;
    for (size_t i = 0; i < g2h_view_owner_count(view); i++) {
        if (!read_group(view, i, &group))
            continue;
        groups += is_eligible(&group);
        for (size_t j = 0; j < RESTS; j++)
            of_rest[j] += is_of_rest(&rests[j], &group);
    }
    of_rest[OTHER_ROOTS] += of_rest[OTHER_ROOTS] > 0 && find_globals(view) != UINT32_MAX;
    ret->nodes = ret->edges = groups < MOST_OF_GROUPS ? groups : MOST_OF_GROUPS;
    for (size_t i = 0; i < RESTS; i++) {
        ret->nodes += of_rest[i] > 0;
        ret->edges += of_rest[i];
    }
    ret->edges += CONTEXT_EDGES * ret->nodes;
}
