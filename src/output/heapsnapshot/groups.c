/*
 * groups: puts nodes that are alike below one node of a snapshot, as finalizers of one class,
 * timers that call one function, or variables that hold objects together; see groups.h. Members
 * keep the edges that the view has, but these begin at the group's node: outputs write its name,
 * and then the edges, in the order of members.
 */
#include "output/heapsnapshot/groups.h"

#include <stdlib.h>
#include <string.h>

#include <go2heapsnapshot/exe.h>

#include "base/contract.h"
#include "base/error.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/text.h"
#include "output/labels.h"

CLEANUP_POINTER(edges_cleanup, struct g2h_edges, g2h_edges_destroy);

/* Characters of names in the names of groups. */
enum { LONGEST_VARIABLE = 200, LONGEST_FUNCTION = 400 };

/* What groups are made of. */
struct grouping {
    const struct contexts_making *making;
    struct g2h_edges *edges, *member_edges;
    struct map group_by_key;
    VECTOR(struct context_member) found;
    struct g2h_text function;
    struct g2h_held_together *together; /* together_count */
    size_t together_count;
    uint64_t *never_run; /* a bit per object whose finalizers and cleanups never run; NULL: none */
};

static void grouping_deinit(struct grouping *grouping)
{
    edges_cleanup(&grouping->edges);
    edges_cleanup(&grouping->member_edges);
    map_deinit(&grouping->group_by_key);
    free(grouping->found.data);
    free(grouping->together);
    free(grouping->never_run);
    g2h_text_deinit(&grouping->function);
}

/* ---- members ---- */

/* Adds a member, whose group is known, with the label that its edge has. */
static struct g2h_error *add_member(struct grouping *grouping, uint32_t group, uint32_t node,
                                    struct edge_label label)
{
    const struct context_member member = {.node = node,
                                          .group = group,
                                          .type = label.type,
                                          .name_or_index = (uint32_t)label.name_or_index};
    struct context_group *to = &grouping->making->contexts->groups.data[group];
    to->count++;
    to->moved += label.type != EDGE_WEAK;
    return vector_push(&grouping->found, member) ? NULL : &error_no_memory;
}

/* Adds a member to the group of its parent, name and key. */
static struct g2h_error *group_member(struct grouping *grouping, const struct context_group *group,
                                      uint32_t node, struct edge_label label)
{
    struct contexts *contexts = grouping->making->contexts;
    uint32_t number = as_u32(contexts->groups.count);
    const uint64_t key = map_hash_pair(map_hash_pair(group->name, group->key),
                                       2 * (uint64_t)group->parent + group->never_runs);
    TRY_MEMORY(map_put(&grouping->group_by_key, key, number, &number));
    if (number == contexts->groups.count)
        TRY_MEMORY(vector_push(&contexts->groups, *group));
    return add_member(grouping, number, node, label);
}

/* ---- finalizers, cleanups and timers ---- */

/* Returns whether the finalizers and cleanups of an object never run: of the one to which a
 * finalizer, or an object kept for a cleanup (node), has an edge of the name `label`. */
static bool runs_never(struct grouping *grouping, uint32_t node, const char *label)
{
    const struct g2h_view *view = grouping->making->view;
    struct g2h_node target;
    struct g2h_edge edge;
    size_t size;
    if (!grouping->never_run)
        return false;
    g2h_edges_begin(grouping->member_edges, node, node + 1);
    while (g2h_edges_next(grouping->member_edges, &edge)) {
        const char *name = g2h_view_name(view, edge.name, &size);
        if (size != strlen(label) || memcmp(name, label, size) != 0)
            continue;
        g2h_view_brief(view, edge.target, &target);
        return target.object != UINT32_MAX && bits_have(grouping->never_run, target.object);
    }
    return false;
}
/* Groups the finalizers below a node by their function and class, and whether they can ever run.
 * The index of an edge to a finalizer is the number of its record, from 1 on; weak edges, and
 * indexes of no record, are left out. */
static struct g2h_error *group_finalizers(struct grouping *grouping, uint32_t parent,
                                          enum g2h_record_kind kind)
{
    const struct g2h_view *view = grouping->making->view;
    const size_t records = g2h_heap_record_count(g2h_view_heap(view), kind);
    struct g2h_record record;
    struct g2h_node node;
    struct g2h_edge edge;
    g2h_edges_begin(grouping->edges, parent, parent + 1);
    while (g2h_edges_next(grouping->edges, &edge)) {
        if ((edge.flags & G2H_EDGE_WEAK) != 0 || edge.index < 1 || edge.index > records)
            continue;
        g2h_heap_record(g2h_view_heap(view), kind, (size_t)edge.index - 1, &record);
        g2h_view_brief(view, edge.target, &node);
        const struct context_group group = {.kind = GROUP_OF_FINALIZERS,
                                            .key = record.finalizer.code,
                                            .name = node.name,
                                            .parent = parent,
                                            .never_runs =
                                                runs_never(grouping, edge.target, "object")};
        TRY(group_member(grouping, &group, edge.target,
                         (struct edge_label){EDGE_ELEMENT, edge.index}));
    }
    return NULL;
}

/* What the runtime keeps for cleanups and weak pointers, by the beginning of the names of edges
 * from "(other roots)", and what several are called. */
static const struct {
    const char *label, *several;
} kept_for[] = {{"cleanup of ", "cleanups"},
                {"argument of a cleanup of ", "arguments of cleanups"},
                {"cleanup's caller", "callers of cleanups"},
                {"weak handle", "weak handles"}};

enum { KEPT_FOR = COUNT_OF(kept_for) };

/* Returns the index in kept_for by the name of an edge; KEPT_FOR: it is none of these. */
static size_t kept_index(const struct g2h_view *view, uint32_t name)
{
    size_t size, i = 0;
    const char *label = g2h_view_name(view, name, &size);
    while (i < KEPT_FOR && (size < strlen(kept_for[i].label) ||
                            memcmp(label, kept_for[i].label, strlen(kept_for[i].label)) != 0))
        i++;
    return i;
}

/* Groups what is kept for cleanups, which is below "(other roots)", by the class of objects that
 * the cleanups are for, and by its own class, which is the function or the argument's. */
static struct g2h_error *group_cleanups(struct grouping *grouping, uint32_t parent)
{
    const struct g2h_view *view = grouping->making->view;
    struct g2h_node node;
    struct g2h_edge edge;
    g2h_edges_begin(grouping->edges, parent, parent + 1);
    while (g2h_edges_next(grouping->edges, &edge)) {
        g2h_view_brief(view, edge.target, &node);
        if ((edge.flags & G2H_EDGE_WEAK) != 0 || node.kind != G2H_NODE_OBJECT ||
            kept_index(view, edge.name) == KEPT_FOR)
            continue;
        const struct context_group group = {.kind = GROUP_OF_CLEANUPS,
                                            .key = edge.name,
                                            .name = node.name,
                                            .parent = parent,
                                            .never_runs =
                                                runs_never(grouping, edge.target, "cleanup of")};
        TRY(group_member(grouping, &group, edge.target,
                         label_without_key(grouping->making->strings, &edge)));
    }
    return NULL;
}

/* Returns whether an edge of a timer leads to the argument of its function: "arg", "timer.arg". */
static bool is_argument(const struct g2h_view *view, const struct g2h_edge *edge)
{
    static const char argument[] = ".arg";
    size_t size;
    size_t length = sizeof(argument) - 1;
    if (edge->name == G2H_NAME_NONE)
        return false;
    const char *name = g2h_view_name(view, edge->name, &size);
    return (size == length - 1 && memcmp(name, argument + 1, size) == 0) ||
           (size > length && memcmp(name + size - length, argument, length) == 0);
}

/* Returns the class of what a timer's function gets: of the closure that it calls, for
 * time.AfterFunc(), of a channel, or of a goroutine that sleeps. G2H_NAME_NONE: it is not in the
 * heap. */
static uint32_t argument_class(struct grouping *grouping, uint32_t timer)
{
    const struct g2h_view *view = grouping->making->view;
    struct g2h_node target;
    struct g2h_edge edge;
    g2h_edges_begin(grouping->member_edges, timer, timer + 1);
    while (g2h_edges_next(grouping->member_edges, &edge)) {
        if (!is_argument(view, &edge))
            continue;
        g2h_view_brief(view, edge.target, &target);
        return target.kind == G2H_NODE_OBJECT ? target.name : G2H_NAME_NONE;
    }
    return G2H_NAME_NONE;
}

/* Groups the timers of a processor's list, also those that a variable or a goroutine holds. */
static struct g2h_error *group_timers(struct grouping *grouping, uint32_t list)
{
    const struct g2h_view *view = grouping->making->view;
    struct g2h_node node;
    struct g2h_edge edge;
    uint32_t index = 0;
    g2h_edges_begin(grouping->edges, list, list + 1);
    while (g2h_edges_next(grouping->edges, &edge)) {
        g2h_view_brief(view, edge.target, &node);
        if ((edge.flags & G2H_EDGE_WEAK) != 0 || node.kind != G2H_NODE_OBJECT)
            continue;
        const struct context_group group = {
            .kind = GROUP_OF_TIMERS, .name = argument_class(grouping, edge.target), .parent = list};
        TRY(group_member(grouping, &group, edge.target,
                         (struct edge_label){EDGE_ELEMENT, index++}));
    }
    return NULL;
}

/* ---- variables that hold memory together ---- */

/* Returns the index in together from first on, up to end, of a member; end: it is none. */
static size_t together_index(const struct grouping *grouping, size_t first, size_t end,
                             uint32_t node)
{
    while (first < end &&
           (grouping->together[first].node != node || grouping->together[first].is_shared))
        first++;
    return first;
}

/* Returns how many members the group that begins at first has: the entries before those of what its
 * members share. */
static size_t count_members(const struct grouping *grouping, size_t first)
{
    const struct g2h_held_together *entries = &grouping->together[first];
    size_t count = 0;
    while (first + count < grouping->together_count && !entries[count].is_shared &&
           entries[count].group == entries->group)
        count++;
    return count;
}

/* Adds a group for the entries [first, end) of together: its members, with the names of the
 * package's edges to them, and then what they hold together. The edges to this are weak: several
 * members lead there. */
static struct g2h_error *group_variables(struct grouping *grouping, size_t first, size_t end)
{
    static const char shared[] = "held by several of these";
    static const char both[] = "held by both";
    struct contexts *contexts = grouping->making->contexts;
    const uint32_t number = as_u32(contexts->groups.count),
                   package = grouping->together[first].package;
    const struct context_group group = {
        .kind = GROUP_OF_VARIABLES, .key = first, .parent = package, .name = G2H_NAME_NONE};
    const size_t members = count_members(grouping, first);
    struct edge_label label = {.type = EDGE_WEAK};
    struct g2h_edge edge;
    uint32_t name = 0;
    TRY_MEMORY(vector_push(&contexts->groups, group));
    g2h_edges_begin(grouping->edges, package, package + 1);
    while (g2h_edges_next(grouping->edges, &edge)) {
        const size_t at = together_index(grouping, first, end, edge.target);
        if ((edge.flags & G2H_EDGE_WEAK) != 0 || at == end)
            continue;
        TRY(add_member(grouping, number, edge.target,
                       (struct edge_label){EDGE_PROPERTY, strings_of_edge(edge.name)}));
    }
    if (grouping->making->strings)
        TRY_MEMORY(members == 2
                       ? strings_add(grouping->making->strings, both, sizeof(both) - 1, &name)
                       : strings_add(grouping->making->strings, shared, sizeof(shared) - 1, &name));
    label.name_or_index = name;
    for (size_t i = first + members; i < end; i++)
        TRY(add_member(grouping, number, grouping->together[i].node, label));
    return NULL;
}

/* Makes a group for each package with variables that hold memory together: these follow each other
 * in the list, by package. */
static struct g2h_error *group_all_variables(struct grouping *grouping)
{
    TRY(g2h_view_held_together(grouping->making->view, &grouping->together,
                               &grouping->together_count));
    for (size_t first = 0, end; first < grouping->together_count; first = end) {
        end = first + 1;
        while (end < grouping->together_count &&
               grouping->together[end].group == grouping->together[first].group)
            end++;
        TRY(group_variables(grouping, first, end));
    }
    return NULL;
}

/* Appends the name of the first strong edge of a package to a node; nothing if there is none. */
static void append_variable(struct grouping *grouping, uint32_t package, uint32_t node,
                            struct text *text)
{
    struct g2h_edge edge;
    size_t size;
    g2h_edges_begin(grouping->edges, package, package + 1);
    while (g2h_edges_next_to(grouping->edges, node, &edge)) {
        if ((edge.flags & G2H_EDGE_WEAK) != 0)
            continue;
        const char *name = g2h_view_name(grouping->making->view, edge.name, &size);
        text_append_utf8(text, name, size, LONGEST_VARIABLE);
        return;
    }
}

/* Names a group of variables by their package and those that hold most, NAMED at most: "main: byID,
 * byName and 3 more". */
static void name_variables(struct grouping *grouping, const struct context_group *group,
                           struct text *text)
{
    enum { NAMED = 3 };
    const struct g2h_view *view = grouping->making->view;
    const struct g2h_held_together *first = &grouping->together[group->key];
    struct g2h_node package;
    size_t size;
    const size_t members = count_members(grouping, (size_t)group->key);
    const size_t named = members > NAMED ? NAMED - 1 : members;
    g2h_view_brief(view, group->parent, &package);
    const char *name = g2h_view_name(view, package.name, &size);
    text_append(text, name, size);
    text_append_string(text, ": ");
    for (size_t i = 0; i < named; i++) {
        if (i > 0)
            text_append_string(text, i + 1 < members ? ", " : " and ");
        append_variable(grouping, group->parent, first[i].node, text);
    }
    if (members > named)
        text_printf(text, " and %zu more", members - named);
}

/* ---- names ---- */

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

/* Writes the rest of a name of finalizers, after their number: "finalizers of main.Queue
 * (main.flush)". Members have the name "finalizer of main.Queue". */
static void name_finalizers(struct grouping *grouping, const struct context_group *group,
                            struct text *text)
{
    size_t size;
    const char *name = g2h_view_name(grouping->making->view, group->name, &size);
    const size_t same = MIN(size, strlen("finalizer"));
    find_function(grouping, group->key);
    text_append_string(text, "finalizers");
    text_append(text, name + same, size - same);
    if (grouping->function.size > 0) {
        text_append_string(text, " (");
        text_append_utf8(text, grouping->function.data, grouping->function.size, LONGEST_FUNCTION);
        text_append_string(text, ")");
    }
}

/* Writes the rest of a name of what is kept for cleanups: "cleanups of main.File
 * (main.open.func1)", "arguments of cleanups of main.File (main.handle)". */
static void name_cleanups(const struct grouping *grouping, const struct context_group *group,
                          struct text *text)
{
    static const char closure[] = "func ";
    static const char of[] = " of ";
    const struct g2h_view *view = grouping->making->view;
    size_t size, class_size;
    const char *label = g2h_view_name(view, (uint32_t)group->key, &size);
    const char *class = g2h_view_name(view, group->name, &class_size); /* "func main.open.func1" */
    const size_t index = kept_index(view, (uint32_t)group->key);
    const bool is_closure =
        class_size > strlen(closure) && memcmp(class, closure, strlen(closure)) == 0;
    const size_t skipped = is_closure ? strlen(closure) : 0;
    const size_t same = strlen(kept_for[index].label);
    text_append_string(text, kept_for[index].several);
    if (size > same) { /* the label goes on with the type that they are of */
        text_append_string(text, of);
        text_append(text, label + same, size - same);
    }
    text_append_string(text, " (");
    text_append(text, class + skipped, class_size - skipped);
    text_append_string(text, ")");
}

/* Writes the rest of a name of timers, by the class of what their function gets. */
static void name_timers(const struct g2h_view *view, uint32_t class, struct text *text)
{
    static const char closure[] = "func ";
    static const char channel[] = "chan ";
    static const char goroutine[] = "runtime.g";
    size_t size = 0;
    const char *name = class == G2H_NAME_NONE ? "" : g2h_view_name(view, class, &size);
    text_append_string(text, "timers ");
    if (size >= strlen(closure) && memcmp(name, closure, strlen(closure)) == 0) {
        text_append_string(text, "calling ");
        text_append(text, name + strlen(closure), size - strlen(closure));
    } else if (size >= strlen(channel) && memcmp(name, channel, strlen(channel)) == 0) {
        text_append_string(text, "of a ");
        text_append(text, name, size);
    } else if (size == strlen(goroutine) && memcmp(name, goroutine, size) == 0) {
        text_append_string(text, "of sleeping goroutines");
    } else if (size > 0) {
        text_append_string(text, "with a ");
        text_append(text, name, size);
    } else {
        text_append_string(text, "of other functions");
    }
}

/* Returns the hash of what a group is, the same in every dump of one process. */
static uint64_t group_key(const struct grouping *grouping, const struct context_group *group,
                          const struct text *text)
{
    const struct g2h_view *view = grouping->making->view;
    struct g2h_node parent;
    size_t size = 0;
    const char *name = group->name == G2H_NAME_NONE ? "" : g2h_view_name(view, group->name, &size);
    g2h_view_brief(view, group->parent, &parent);
    switch (group->kind) {
    case GROUP_OF_TIMERS:
        return id_hash_text(name, size) ^ id_hash(group->key) ^ id_hash(parent.address);
    case GROUP_OF_VARIABLES:
        return id_hash_text(text->data, text->size);
    case GROUP_OF_CLEANUPS:
        return id_hash_text(name, size) ^ id_hash(parent.kind) ^ group->never_runs;
    default:
        return id_hash_text(name, size) ^ id_hash(group->key) ^ group->parent ^ group->never_runs;
    }
}

/* Names a group: "810 finalizers of main.Queue (main.flush)", "1,200 timers calling main.expire",
 * "main: byID and byName". */
static struct g2h_error *name_group(struct grouping *grouping, struct context_group *group)
{
    const struct contexts_making *making = grouping->making;
    _cleanup_(text_deinit) struct text text = {0};
    if (group->kind == GROUP_OF_VARIABLES) {
        name_variables(grouping, group, &text);
    } else {
        text_append_grouped(&text, group->count);
        text_append_string(&text, " ");
        if (group->kind == GROUP_OF_TIMERS)
            name_timers(making->view, group->name, &text);
        else if (group->kind == GROUP_OF_CLEANUPS)
            name_cleanups(grouping, group, &text);
        else
            name_finalizers(grouping, group, &text);
        text_append_string(&text, group->never_runs ? ", never run" : "");
    }
    const uint64_t key = group_key(grouping, group, &text);
    return !text.failed && !grouping->function.failed &&
                   strings_add(making->strings, text.data, text.size, &group->name) &&
                   ids_synthetic(making->ids, G2H_NODE_PART, key, &group->id)
               ? NULL
               : &error_no_memory;
}

/* Notes the change of the number of edges of a group's parent. Groups of one parent are in a row.
 * Returns false if memory runs out. */
static bool add_parent(struct contexts *contexts, uint32_t node, int64_t more)
{
    const struct context_parent fresh = {node, 0};
    const size_t count = contexts->parents.count;
    if ((count == 0 || contexts->parents.data[count - 1].node != node) &&
        !vector_push(&contexts->parents, fresh))
        return false;
    contexts->parents.data[contexts->parents.count - 1].more_edges += more;
    return true;
}

static int compare_parents(const void *a, const void *b)
{
    const struct context_parent *one = a;
    const struct context_parent *other = b;
    return COMPARE(one->node, other->node);
}

/* ---- all groups ---- */

/* Returns the package of the runtime, to whose variables the lists of timers belong. UINT32_MAX:
 * there is none. */
static uint32_t runtime_package(const struct g2h_view *view)
{
    static const char runtime[] = "runtime";
    const uint64_t synthetic = g2h_view_account(view)->synthetic_nodes;
    struct g2h_node node;
    size_t size;
    for (uint32_t i = 0; i < synthetic; i++) {
        g2h_view_brief(view, i, &node);
        if (node.kind != G2H_NODE_PACKAGE)
            continue;
        const char *name = g2h_view_name(view, node.name, &size);
        if (size == sizeof(runtime) - 1 && memcmp(name, runtime, size) == 0)
            return i;
    }
    return UINT32_MAX;
}

/* Leaves out groups of one member, and notes where the members of each of the others begin. Members
 * whose edges are weak do not count for that. number_of becomes the number that each group has
 * afterwards; UINT32_MAX: it is left out. If there are strings, names the groups. Counts how many
 * edges the snapshot has more, and each parent more or less: its edges to members are moved to the
 * group, to which it gets one. The package of the runtime gets one to each group of timers, too. */
static struct g2h_error *keep_groups(struct grouping *grouping, uint32_t *number_of)
{
    struct contexts *contexts = grouping->making->contexts;
    size_t kept = 0, members = 0, timers = 0;
    for (size_t i = 0; i < contexts->groups.count; i++) {
        struct context_group group = contexts->groups.data[i];
        number_of[i] = group.moved < 2 ? UINT32_MAX : as_u32(kept);
        if (group.moved < 2)
            continue;
        group.first = members;
        members += group.count;
        contexts->more_edges += group.count - group.moved + 1;
        timers += group.kind == GROUP_OF_TIMERS;
        TRY_MEMORY(add_parent(contexts, group.parent, 1 - (int64_t)group.moved));
        if (grouping->making->strings)
            TRY(name_group(grouping, &group));
        contexts->groups.data[kept++] = group;
    }
    contexts->groups.count = kept;
    contexts->timers_above = timers > 0 ? runtime_package(grouping->making->view) : UINT32_MAX;
    if (contexts->timers_above == UINT32_MAX)
        return NULL;
    contexts->more_edges += timers;
    return add_parent(contexts, contexts->timers_above, (int64_t)timers) ? NULL : &error_no_memory;
}

/* Leaves out groups of one member, and sorts the members by group. */
static struct g2h_error *finish_groups(struct grouping *grouping)
{
    struct contexts *contexts = grouping->making->contexts;
    _cleanup_free_ uint32_t *number_of = calloc(contexts->groups.count + 1, sizeof(*number_of));
    TRY_MEMORY(number_of);
    TRY(keep_groups(grouping, number_of));
    vector_sort(&contexts->parents, compare_parents);
    assert(IS_ORDERED(i, contexts->parents.count,
                      contexts->parents.data[i - 1].node < contexts->parents.data[i].node));
    TRY_MEMORY(grouping->found.count == 0 ||
               vector_grow(&contexts->members, grouping->found.count));
    VECTOR_EACH(struct context_group, group, contexts->groups)
        group->count = 0;
    for (size_t i = 0; i < grouping->found.count; i++) {
        struct context_member found = grouping->found.data[i];
        uint32_t known;
        found.group = number_of[found.group];
        if (found.group == UINT32_MAX)
            continue;
        struct context_group *group = &contexts->groups.data[found.group];
        contexts->members.data[group->first + group->count++] = found;
        contexts->members.count++;
        if (found.type != EDGE_WEAK)
            TRY_MEMORY(map_put(&contexts->group_of, pair_key(group->parent, found.node),
                               found.group, &known));
    }
    return NULL;
}

/* Groups the finalizers below both nodes, cleanups, the timers of all processors, and variables.
 * Groups of one member are still among them. None if nodes are folded. */
static struct g2h_error *find_groups(struct grouping *grouping, const target_vector *timers)
{
    const struct g2h_view *view = grouping->making->view;
    const uint64_t synthetic = g2h_view_account(view)->synthetic_nodes;
    struct g2h_node node;
    if (g2h_view_account(view)->folded_nodes > 0)
        return NULL; /* the number of nodes is limited */
    TRY(g2h_edges_create(view, &grouping->edges));
    TRY(g2h_edges_create(view, &grouping->member_edges));
    TRY(g2h_view_never_run(view, &grouping->never_run));
    for (uint32_t i = 0; i < synthetic; i++) {
        g2h_view_brief(view, i, &node);
        if (node.kind == G2H_NODE_FINALIZERS)
            TRY(group_finalizers(grouping, i, G2H_RECORD_FINALIZER));
        else if (node.kind == G2H_NODE_QUEUED_FINALIZERS)
            TRY(group_finalizers(grouping, i, G2H_RECORD_QUEUEDFINALIZER));
        else if (node.kind == G2H_NODE_OTHER_ROOTS)
            TRY(group_cleanups(grouping, i));
    }
    VECTOR_EACH(const uint32_t, timer, *timers)
        TRY(group_timers(grouping, *timer));
    return group_all_variables(grouping);
}

/* Makes nodes for groups of what is alike: see find_groups(). With strings also makes the names of
 * the nodes above the groups. */
struct g2h_error *groups_make(const struct contexts_making *making, const target_vector *timers)
{
    _cleanup_(grouping_deinit) struct grouping grouping = {.making = making};
    struct contexts *contexts = making->contexts;
    contexts->timers_above = UINT32_MAX;
    TRY(find_groups(&grouping, timers));
    TRY(finish_groups(&grouping));
    if (!making->strings)
        return NULL;
    if (grouping.together_count > 0)
        TRY_MEMORY(strings_add(making->strings, "held together", strlen("held together"),
                               &contexts->together));
    if (contexts->timers_above != UINT32_MAX)
        TRY_MEMORY(strings_add(making->strings, "timers", strlen("timers"), &contexts->timers));
    return NULL;
}
