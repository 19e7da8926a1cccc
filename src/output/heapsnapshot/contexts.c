/* contexts; see contexts.h. */
#include "output/heapsnapshot/contexts.h"

#include <stdlib.h>
#include <string.h>

#include <go2heapsnapshot/exe.h>
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

/* ---- event handlers ---- */

enum { MOST_OF_LISTENERS = 4096 /* there are as many lists of timers as processors */ };

typedef VECTOR(uint32_t) target_vector;

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
 * 1.23 of timers. */
static struct g2h_error *list_timers(const struct g2h_view *view, target_vector *ret)
{
    static const char *const classes[] = {"[]runtime.timerWhen", "[]*runtime.timer"};
    const uint32_t objects = g2h_heap_object_count(g2h_view_heap(view));
    uint32_t names[2] = {G2H_NAME_NONE, G2H_NAME_NONE};
    struct g2h_node node;
    bool any = false;
    for (size_t i = 0; i < 2; i++)
        any |= g2h_view_find_name(view, classes[i], strlen(classes[i]), &names[i]);
    for (uint32_t i = 0; any && i < objects && ret->count < MOST_OF_LISTENERS; i++) {
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

static struct g2h_error *list_handlers(const struct g2h_view *view, target_vector *ret)
{
    if (g2h_view_account(view)->folded_nodes > 0)
        return NULL; /* the number of nodes is limited */
    TRY(list_handler_groups(view, ret));
    return list_timers(view, ret);
}

static struct g2h_error *add_listeners(const struct contexts_making *making)
{
    static const char handlers[] = "(event handlers)", listener[] = "V8EventListener";
    struct contexts *contexts = making->contexts;
    _cleanup_vector_ target_vector targets = {0};
    struct g2h_node node;
    TRY(list_handlers(making->view, &targets));
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

/* ---- groups of finalizers ---- */

static void contexts_edges_destroy(struct g2h_edges **edges)
{
    g2h_edges_destroy(*edges);
}

/* What groups are made of. */
struct grouping {
    const struct contexts_making *making;
    struct map group_by_key;
    VECTOR(struct context_finalizer) found;
    struct g2h_text function;
};

static void grouping_deinit(struct grouping *grouping)
{
    map_deinit(&grouping->group_by_key);
    free(grouping->found.data);
    g2h_text_deinit(&grouping->function);
}

/* Finds the function of a finalizer, the empty text if it is not known. */
static void find_function(struct grouping *grouping, uint64_t code)
{
    const struct g2h_view *view = grouping->making->view;
    struct g2h_line line = {.line = 0};
    grouping->function.size = 0;
    if (!g2h_view_exe(view) || code == 0 || !g2h_exe_line(g2h_view_exe(view), code, &line))
        return;
    const struct g2h_view_call call = {.function = line.function};
    g2h_view_call_text(view, &call, &grouping->function);
}

/* Adds a finalizer to the group of its class and function. */
static struct g2h_error *group_finalizer(struct grouping *grouping, uint32_t parent,
                                         const struct g2h_edge *edge, uint64_t code)
{
    struct contexts *contexts = grouping->making->contexts;
    struct g2h_node node;
    uint32_t number = (uint32_t)contexts->groups.count;
    g2h_view_brief(grouping->making->view, edge->target, &node);
    const uint64_t key = map_hash_pair(map_hash_pair(node.name, code), parent);
    TRY_MEMORY(map_put(&grouping->group_by_key, key, number, &number));
    if (number == contexts->groups.count)
        TRY_MEMORY(vector_push(
            &contexts->groups,
            ((struct context_finalizers){.key = code, .name = node.name, .parent = parent})));
    contexts->groups.data[number].count++;
    return vector_push(&grouping->found,
                       ((struct context_finalizer){edge->target, number, (uint32_t)edge->index}))
               ? NULL
               : &error_no_memory;
}

/* Groups the finalizers below a node, whose edges are in the order of the records. */
static struct g2h_error *group_below(struct grouping *grouping, struct g2h_edges *edges,
                                     uint32_t parent, enum g2h_record_kind kind)
{
    const struct g2h_heap *heap = g2h_view_heap(grouping->making->view);
    const size_t records = g2h_heap_record_count(heap, kind);
    struct g2h_record record;
    struct g2h_edge edge;
    g2h_edges_begin(edges, parent, parent + 1);
    while (g2h_edges_next(edges, &edge)) {
        if (!g2h_edge_holds(edge.flags) || edge.index < 1 || edge.index > records)
            continue;
        g2h_heap_record(heap, kind, (size_t)edge.index - 1, &record);
        TRY(group_finalizer(grouping, parent, &edge, record.finalizer.code));
    }
    return NULL;
}

/* Names a group: "810 finalizers of main.Queue (main.flush)". Its members have the name "finalizer
 * of main.Queue". */
static struct g2h_error *name_group(struct grouping *grouping, struct context_finalizers *group)
{
    const struct contexts_making *making = grouping->making;
    _cleanup_(text_deinit) struct text text = {0};
    size_t size;
    const char *name = g2h_view_name(making->view, group->name, &size);
    const size_t same = size < strlen("finalizer") ? size : strlen("finalizer");
    find_function(grouping, group->key);
    text_append_grouped(&text, group->count);
    text_append_string(&text, " finalizers");
    text_append(&text, name + same, size - same);
    if (grouping->function.size > 0) {
        text_append_string(&text, " (");
        text_append_utf8(&text, (const uint8_t *)grouping->function.data, grouping->function.size,
                         400);
        text_append_string(&text, ")");
    }
    const uint64_t key = id_hash_text(name, size) ^ id_hash(group->key) ^ group->parent;
    return !text.failed && strings_add(making->strings, text.data, text.size, &group->name) &&
                   ids_synthetic(making->ids, G2H_NODE_PART, key, &group->id)
               ? NULL
               : &error_no_memory;
}

/* Leaves out groups of one finalizer, and sorts the members by group. */
static struct g2h_error *finish_groups(struct grouping *grouping)
{
    struct contexts *contexts = grouping->making->contexts;
    _cleanup_free_ uint32_t *number_of = calloc(contexts->groups.count + 1, sizeof(*number_of));
    size_t kept = 0, members = 0;
    TRY_MEMORY(number_of);
    for (size_t i = 0; i < contexts->groups.count; i++) {
        struct context_finalizers group = contexts->groups.data[i];
        number_of[i] = group.count < 2 ? UINT32_MAX : (uint32_t)kept;
        if (group.count < 2)
            continue;
        group.first = members;
        members += group.count;
        contexts->fewer_edges[contexts->parents[1] == group.parent] += (uint32_t)group.count - 1;
        TRY(name_group(grouping, &group));
        group.count = 0;
        contexts->groups.data[kept++] = group;
    }
    contexts->groups.count = kept;
    TRY_MEMORY(members == 0 || vector_grow(&contexts->finalizers, members));
    contexts->finalizers.count = members;
    for (size_t i = 0; i < grouping->found.count; i++) {
        struct context_finalizer found = grouping->found.data[i];
        uint32_t known;
        found.group = number_of[found.group];
        if (found.group == UINT32_MAX)
            continue;
        struct context_finalizers *group = &contexts->groups.data[found.group];
        contexts->finalizers.data[group->first + group->count++] = found;
        TRY_MEMORY(map_put(&contexts->group_of, found.node, found.group, &known));
    }
    return NULL;
}

/* Groups the finalizers below both nodes. Groups of one finalizer are still among them. */
static struct g2h_error *find_groups(struct grouping *grouping)
{
    _cleanup_(contexts_edges_destroy) struct g2h_edges *edges = NULL;
    const struct g2h_view *view = grouping->making->view;
    struct contexts *contexts = grouping->making->contexts;
    const uint64_t synthetic = g2h_view_account(view)->synthetic_nodes;
    struct g2h_node node;
    contexts->parents[0] = contexts->parents[1] = UINT32_MAX;
    if (g2h_view_account(view)->folded_nodes > 0)
        return NULL; /* the number of nodes is limited */
    TRY(g2h_edges_create(view, &edges));
    for (uint32_t i = 0; i < synthetic; i++) {
        g2h_view_brief(view, i, &node);
        const bool is_queued = node.kind == G2H_NODE_QUEUED_FINALIZERS;
        if (node.kind != G2H_NODE_FINALIZERS && !is_queued)
            continue;
        contexts->parents[is_queued] = i;
        TRY(group_below(grouping, edges, i,
                        is_queued ? G2H_RECORD_QUEUEDFINALIZER : G2H_RECORD_FINALIZER));
    }
    return NULL;
}

static struct g2h_error *group_finalizers(const struct contexts_making *making)
{
    _cleanup_(grouping_deinit) struct grouping grouping = {.making = making};
    TRY(find_groups(&grouping));
    return finish_groups(&grouping);
}

/* Returns the number of groups that have two finalizers or more; 0 if memory runs out, as it then
 * does when the snapshot is written. */
static uint64_t count_groups(const struct g2h_view *view)
{
    struct contexts contexts = {.map = 0};
    const struct contexts_making making = {.contexts = &contexts, .view = view};
    _cleanup_(grouping_deinit) struct grouping grouping = {.making = &making};
    uint64_t count = 0;
    g2h_error_destroy(find_groups(&grouping));
    for (size_t i = 0; i < contexts.groups.count; i++)
        count += contexts.groups.data[i].count > 1;
    contexts_deinit(&contexts);
    return count;
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
    TRY(group_finalizers(&making));
    return add_listeners(&making);
}

void contexts_deinit(struct contexts *contexts)
{
    free(contexts->list.data);
    free(contexts->edges.data);
    free(contexts->listeners.data);
    free(contexts->groups.data);
    free(contexts->finalizers.data);
    map_deinit(&contexts->group_of);
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
    _cleanup_vector_ target_vector targets = {0};
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
    g2h_error_destroy(list_handlers(view, &targets)); /* then writing runs out of memory, too */
    const uint64_t finalizers = count_groups(view);
    ret->nodes += finalizers + (targets.count > 0 ? targets.count + 1 : 0);
    ret->edges += finalizers + (targets.count > 0 ? 2 * targets.count + 1 : 0);
}
