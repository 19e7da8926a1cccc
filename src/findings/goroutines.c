/*
 * goroutines: what a report says of goroutines; see goroutines.h. A place is a node of the merged
 * tree: goroutines with the same functions on their stacks, in the same state. The parts of the
 * file:
 *
 * goroutines  the places, the frames of a stack, what goroutines wait on, and records (runtime.g)
 *            of goroutines that have ended
 * leaks       goroutines that can never go on, by place, and why
 * deferred    what calls that are deferred hold, by class
 * finalized   objects that a finalizer or a cleanup keeps, why that never runs, and who blocks it
 * labels      pprof labels of goroutines, and what goroutines with each value retain
 */
#include "findings/goroutines.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "base/bytes.h"
#include "base/error.h"
#include "findings/path.h"
#include "findings/patterns.h"

/* ==== goroutines by place ==== */

/* ==== goroutines ==== */

/* ---- places ---- */

/* Returns whether a node is goroutines: one that is alone at its place, or a group. */
static bool is_place(const struct findings *findings, uint32_t node)
{
    return findings_is_kind(findings, node, G2H_NODE_GOROUTINES_IN_PLACE) ||
           findings_is_kind(findings, node, G2H_NODE_GOROUTINE);
}

/* Orders places by weight, most first; equal ones by node. */
static int goroutines_compare_places(const void *a, const void *b)
{
    const struct goroutine_place *one = a;
    const struct goroutine_place *other = b;
    if (one->weight != other->weight)
        return COMPARE(other->weight, one->weight);
    return COMPARE(one->node, other->node);
}

/* Adds the places below a node. In a view that is about one goroutine of a group, the group is a
 * node of that kind, too. */
static struct g2h_error *add_places(const struct findings *findings, uint32_t group,
                                    goroutine_place_vector *ret)
{
    for (uint32_t i = findings_node(findings, group)->child; i != MERGED_NONE;
         i = findings_node(findings, i)->sibling) {
        if (findings_is_kind(findings, i, G2H_NODE_GOROUTINES))
            TRY(add_places(findings, i, ret));
        if (!is_place(findings, i))
            continue;
        const struct goroutine_place place = {
            .node = i,
            .weight = findings_weight(findings, i),
            .count = findings_members(findings, i),
            .retained = findings_node(findings, i)->retained,
            .grown = findings->base ? findings_members_grown(findings, i) : 0};
        TRY_MEMORY(vector_push(ret, place));
    }
    return NULL;
}

/* Finds all places of goroutines, the heaviest first. The places are the children of the node of
 * all goroutines in the merged tree: groups in one place, and goroutines that are alone there. */
struct g2h_error *goroutines_find_places(const struct findings *findings,
                                         goroutine_place_vector *ret)
{
    const uint32_t group = findings_find_kind(findings, G2H_NODE_GOROUTINES);
    if (group != MERGED_NONE)
        TRY(add_places(findings, group, ret));
    vector_sort(ret, goroutines_compare_places);
    return NULL;
}

/* Returns a name or a query without how many goroutines it is about: what follows "goroutine ",
 * "130 goroutines ", or "goroutine stack ". */
static struct g2h_bytes without_count(struct g2h_bytes name)
{
    static const char *const words[] = {"goroutines ", "goroutine stack ", "goroutine "};
    uint64_t at = 0;
    while (at < name.size && (isdigit(name.data[at]) || name.data[at] == ','))
        at++;
    const struct g2h_bytes rest = bytes_from(name, at + (at > 0 && at < name.size));
    for (size_t i = 0; i < COUNT_OF(words); i++)
        if (bytes_begin(rest, words[i]))
            return bytes_from(rest, strlen(words[i]));
    return name;
}

/* Returns whether a query is the name of the goroutines in a place. An ellipsis in the name asked
 * for stands for any text. The first part must be at the begin, and the last one must end at a
 * blank or at the end. Counts before the names do not matter. */
bool goroutines_are_called(struct g2h_bytes name, const char *asked)
{
    static const char ellipsis[] = "…";
    struct g2h_bytes name_left = without_count(name);
    struct g2h_bytes asked_left = without_count(bytes_of(asked));
    if (asked_left.size == 0)
        return false;
    for (bool is_first = true;; is_first = false) {
        const uint8_t *cut = bytes_find(asked_left, ellipsis);
        const struct g2h_bytes part = cut ? bytes_between(asked_left.data, cut) : asked_left;
        uint64_t at = 0; /* where the part is in the name */
        for (;; at++) {
            if (part.size > name_left.size - at || (is_first && at > 0))
                return false;
            const uint64_t end = at + part.size;
            if (memcmp(name_left.data + at, part.data, (size_t)part.size) == 0 &&
                (cut || end == name_left.size || name_left.data[end] == ' '))
                break;
        }
        if (!cut) /* that was the last part */
            return true;
        name_left = bytes_from(name_left, at + part.size);
        asked_left = bytes_from(asked_left, as_size(cut - asked_left.data) + strlen(ellipsis));
    }
}

/* Sums up the stacks below the goroutines of a place. */
uint64_t goroutines_stack_bytes(const struct findings *findings, uint32_t place)
{
    uint64_t bytes = 0;
    for (uint32_t i = findings_node(findings, place)->child; i != MERGED_NONE;
         i = findings_node(findings, i)->sibling)
        for (uint32_t j = findings_node(findings, i)->child; j != MERGED_NONE;
             j = findings_node(findings, j)->sibling)
            if (findings_is_kind(findings, j, G2H_NODE_STACK))
                bytes += findings_node(findings, j)->retained;
    return bytes;
}

/* ---- the functions on a stack ---- */

/* The frames of a goroutine by their functions. */
struct goroutines_frames {
    uint64_t count;
    struct map by_function; /* hash of a function's name → index in times */
    VECTOR(uint64_t) times;
    uint64_t most;    /* the most frames that a function has */
    uint32_t example; /* one of these frames: a node of the view */
};

static void goroutines_frames_deinit(struct goroutines_frames *frames)
{
    map_deinit(&frames->by_function);
    free(frames->times.data);
}

/* Returns the name of a frame without its line: "main.walk" of "main.walk walk.go:17". */
static const char *function_of(const struct findings *findings, uint32_t frame, size_t *ret_size)
{
    struct g2h_node node;
    g2h_view_brief(findings->view, frame, &node);
    const char *name = g2h_view_name(findings->view, node.name, ret_size);
    *ret_size = expression_without_line(name, *ret_size);
    return name;
}

/* Counts a frame for its function, and keeps the function with the most frames: a deep recursion
 * has nearly all. Returns false if memory runs out. */
static bool count_frame(struct goroutines_frames *frames, const struct findings *findings,
                        uint32_t frame)
{
    const uint32_t number = as_u32(frames->times.count);
    size_t size;
    uint32_t index;
    const char *name = function_of(findings, frame, &size);
    frames->count++;
    if (!map_put(&frames->by_function, map_hash_text(name, size), number, &index) ||
        (index == number && !vector_push(&frames->times, 0)))
        return false;
    if (++frames->times.data[index] > frames->most) {
        frames->most = frames->times.data[index];
        frames->example = frame;
    }
    return true;
}

/* Counts the frames of a goroutine, which its edges lead to. */
static struct g2h_error *count_frames(struct goroutines_frames *frames,
                                      const struct findings *findings, struct g2h_edges *edges,
                                      uint32_t goroutine)
{
    struct g2h_edge edge;
    struct g2h_node target;
    g2h_edges_begin(edges, goroutine, goroutine + 1);
    while (g2h_edges_next(edges, &edge)) {
        g2h_view_brief(findings->view, edge.target, &target);
        if (target.kind == G2H_NODE_FRAME)
            TRY_MEMORY(count_frame(frames, findings, edge.target));
    }
    return NULL;
}

/* Counts the frames by function: a recursion that does not end has most of them in one. */
struct g2h_error *goroutines_find_frames(const struct findings *findings, uint32_t goroutine,
                                         struct goroutine_frames *ret)
{
    _cleanup_(goroutines_frames_deinit) struct goroutines_frames frames = {0};
    _cleanup_(findings_destroy_edges) struct g2h_edges *edges = NULL;
    *ret = (struct goroutine_frames){0};
    TRY(g2h_edges_create(findings->view, &edges));
    TRY(count_frames(&frames, findings, edges, goroutine));
    if (frames.count > 0)
        ret->function = function_of(findings, frames.example, &ret->function_size);
    ret->count = frames.count;
    ret->most = frames.most;
    return NULL;
}

/* Returns whether an edge leads to a node of a kind and a name; what follows a blank in a frame's
 * name is its line. */
static bool leads_to(const struct findings *findings, const struct g2h_edge *edge,
                     enum g2h_node_kind kind, const char *name)
{
    struct g2h_node target;
    size_t size;
    g2h_view_brief(findings->view, edge->target, &target);
    if (target.kind != kind)
        return false;
    const char *is = function_of(findings, edge->target, &size);
    return size == strlen(name) && memcmp(is, name, size) == 0;
}

/* Returns the state of a goroutine in its name: "chan receive" of "goroutine 7 [chan receive, 5
 * minutes] main.run". */
static struct g2h_bytes state_of(const struct findings *findings, uint32_t goroutine)
{
    size_t size;
    const char *name = findings_name_of(findings->view, goroutine, &size);
    const char *begin = memchr(name, '[', size);
    size_t end = 0;
    if (!begin)
        return (struct g2h_bytes){(const uint8_t *)"", 0};
    size -= as_size(++begin - name);
    while (end < size && begin[end] != ',' && begin[end] != ']')
        end++;
    return bytes_at(begin, end);
}

/* Returns whether a goroutine is above a node in the tree of dominators: it alone holds the node.
 */
static bool holds_alone(const struct findings *findings, uint32_t goroutine, uint32_t node)
{
    while (node != UINT32_MAX && node != 0 && node != goroutine)
        node = g2h_dominators_of(findings->dominators, node);
    return node == goroutine;
}

/* Finds the object runtime.coro that the frame of runtime.corostart points to. *ret is UINT32_MAX
 * if the goroutine is no coroutine, or if that object is only held by the goroutine itself. One
 * that waits on something else than next or stop is resumed by that: then there is none. */
struct g2h_error *goroutines_find_coroutine(const struct findings *findings, uint32_t goroutine,
                                            uint32_t *ret)
{
    _cleanup_(findings_destroy_edges) struct g2h_edges *edges = NULL;
    struct g2h_edge edge;
    uint32_t frame = UINT32_MAX;
    *ret = UINT32_MAX;
    if (!bytes_are(state_of(findings, goroutine), "coroutine"))
        return NULL;
    TRY(g2h_edges_create(findings->view, &edges));
    g2h_edges_begin(edges, goroutine, goroutine + 1);
    while (frame == UINT32_MAX && g2h_edges_next(edges, &edge))
        if (leads_to(findings, &edge, G2H_NODE_FRAME, "runtime.corostart"))
            frame = edge.target;
    if (frame == UINT32_MAX)
        return NULL;
    g2h_edges_begin(edges, frame, frame + 1);
    while (*ret == UINT32_MAX && g2h_edges_next(edges, &edge))
        if (leads_to(findings, &edge, G2H_NODE_OBJECT, "runtime.coro"))
            *ret = edge.target;
    if (*ret != UINT32_MAX && holds_alone(findings, goroutine, *ret))
        *ret = UINT32_MAX;
    return NULL;
}

/* Finds the function, next or stop, that has a coroutine. What the goroutine alone holds, as the
 * function yield, can only stop it. */
struct g2h_error *goroutines_find_resumer(const struct findings *findings, uint32_t goroutine,
                                          uint32_t coroutine, uint32_t *ret)
{
    _cleanup_(retainers_deinit) struct retainers retainers = {0};
    struct g2h_node node;
    *ret = UINT32_MAX;
    TRY(retainers_find(findings, paths_edges(findings->paths), coroutine, &retainers));
    for (size_t i = 0; i < retainers.list.count && *ret == UINT32_MAX; i++) {
        const uint32_t by = retainers.list.data[i].node;
        g2h_view_brief(findings->view, by, &node);
        if (node.kind == G2H_NODE_OBJECT && !findings_is_dead(findings->view, by) &&
            !holds_alone(findings, goroutine, by))
            *ret = by;
    }
    return NULL;
}

/* ---- what they wait on ---- */

/* What goroutines wait on, by their state. */
static const struct {
    const char *state, *what;
} waits[] = {
    {"chan receive", "the channel"},
    {"chan send", "the channel"},
    {"select", "the channels"},
    {"sync.Mutex.Lock", "the sync.Mutex"},
    {"sync.RWMutex.Lock", "the sync.RWMutex"},
    {"sync.RWMutex.RLock", "the sync.RWMutex"},
    {"sync.WaitGroup.Wait", "the sync.WaitGroup"},
    {"sync.Cond.Wait", "the sync.Cond"},
    {"semacquire", "the lock or sync.WaitGroup"},
};

/* Returns whether an edge has a label. */
static bool is_labelled(const struct findings *findings, const struct g2h_edge *edge,
                        const char *label)
{
    size_t size;
    const char *name = g2h_view_name(findings->view, edge->name, &size);
    return size == strlen(label) && memcmp(name, label, size) == 0;
}

/* What a goroutine waits on: a node of the view; or, with this bit, the hash of the name of a
 * global variable, which is the only one then. */
#define OF_VARIABLE (UINT64_C(1) << 32)

typedef VECTOR(uint64_t) waited_vector;

/* Replaces the contents of ret by everything that a goroutine waits on. */
static struct g2h_error *find_waited(const struct findings *findings, struct g2h_edges *edges,
                                     uint32_t goroutine, waited_vector *ret)
{
    struct g2h_edge edge;
    size_t size;
    const char *variable = g2h_view_waits_on(findings->view, goroutine, &size);
    ret->count = 0;
    if (variable)
        TRY_MEMORY(vector_push(ret, map_hash_text(variable, size) | OF_VARIABLE));
    g2h_edges_begin(edges, goroutine, goroutine + 1);
    while (g2h_edges_next(edges, &edge))
        if (is_labelled(findings, &edge, "waiting on"))
            TRY_MEMORY(vector_push(ret, (uint64_t)edge.target));
    return NULL;
}

/* Something that several goroutines wait on, and one of them. */
struct waited {
    uint64_t on, count;
    uint32_t example;
};

/* Everything that the goroutines in one place wait on. */
struct waited_all {
    struct map numbers; /* on → number in list */
    VECTOR(struct waited) list;
    waited_vector one; /* what the goroutine waits on that was read last */
};

static void waited_all_deinit(struct waited_all *all)
{
    map_deinit(&all->numbers);
    free(all->list.data);
    free(all->one.data);
}

/* Counts a goroutine for everything on which it waits. */
static struct g2h_error *count_waiter(const struct findings *findings, struct g2h_edges *edges,
                                      uint32_t goroutine, struct waited_all *all)
{
    TRY(find_waited(findings, edges, goroutine, &all->one));
    for (size_t i = 0; i < all->one.count; i++) {
        const uint64_t on = all->one.data[i];
        uint32_t number = as_u32(all->list.count);
        TRY_MEMORY(map_put(&all->numbers, on, number, &number));
        if (number == all->list.count)
            TRY_MEMORY(vector_push(&all->list, ((struct waited){on, 0, goroutine})));
        all->list.data[number].count++;
    }
    return NULL;
}

/* Finds what most goroutines of a place wait on: *ret_most, with the number of these goroutines and
 * one of them in ret. ret->of is the number of all goroutines of the place. Nothing is set if none
 * waits on anything. */
static struct g2h_error *find_most_waited(const struct findings *findings, struct g2h_edges *edges,
                                          uint32_t place, struct waited_all *all,
                                          struct goroutines_waited *ret, uint64_t *ret_most)
{
    uint32_t count;
    const uint32_t *list = stack_index_of(findings, place, &count);
    ret->of = count;
    for (uint32_t i = 0; i < count; i++) {
        struct g2h_view_goroutine goroutine;
        g2h_view_goroutine(findings->view, list[i], &goroutine);
        TRY(count_waiter(findings, edges, goroutine.node, all));
    }
    VECTOR_EACH(const struct waited, waited, all->list)
        if (waited->count > ret->count) {
            ret->count = waited->count;
            ret->goroutine = waited->example;
            *ret_most = waited->on;
        }
    return NULL;
}

/* Returns whether a name is that of memory which several small values may share: a variable that
 * leads there may be of another value than the one that a goroutine waits on. */
static bool may_be_shared(struct g2h_bytes name)
{
    return bytes_are(name, "(tiny block)") || bytes_are(name, "noptr16");
}

/* Appends what a goroutine waits on: the path to it if that begins with a variable of a package, or
 * the name of such a variable; otherwise its class. *ret_has_path becomes true in the first two
 * cases, and else stays as it is. */
static struct g2h_error *append_waited(const struct findings *findings, uint32_t goroutine,
                                       uint64_t on, struct text *text, bool *ret_has_path)
{
    static const char owner[] = "  ("; /* follows a path from a variable that is not a package's */
    _cleanup_(text_deinit) struct text path = {0};
    const bool is_variable = on >= OF_VARIABLE;
    const uint32_t node = (uint32_t)on;
    uint32_t end = node;
    size_t size;
    const char *name = is_variable ? g2h_view_waits_on(findings->view, goroutine, &size)
                                   : findings_name_of(findings->view, node, &size);
    const bool has_path = !is_variable && !may_be_shared(bytes_at(name, size));
    if (has_path)
        TRY(path_append(findings->paths, node, &path, &end));
    if (has_path && path.size > 0 &&
        (end != node || memmem(path.data, path.size, owner, sizeof(owner) - 1))) {
        path.size = 0;
        TRY(path_append_global(findings->paths, node, &path));
    }
    const bool is_path = path.size > 0;
    text_append_string(text, text->size > 0 ? ", " : "");
    if (is_path)
        text_append(text, path.data, path.size);
    else
        text_append(text, name, size);
    *ret_has_path |= is_variable || is_path;
    return NULL;
}

/* Finds what the goroutines of a place wait on: the path of what most of them wait on, then of up
 * to MOST_NAMED - 1 others that one of these goroutines waits on, too. The text is empty if no path
 * begins with a variable of a package, or if no more than half of them wait on the same. */
struct g2h_error *goroutines_find_waited(const struct findings *findings, uint32_t place,
                                         struct goroutines_waited *ret)
{
    enum { MOST_NAMED = 4 };
    _cleanup_(findings_destroy_edges) struct g2h_edges *edges = NULL;
    _cleanup_(waited_all_deinit) struct waited_all all = {.list = {0}};
    uint64_t most = 0;
    bool has_path = false;
    *ret = (struct goroutines_waited){.goroutine = UINT32_MAX};
    TRY(g2h_edges_create(findings->view, &edges));
    TRY(find_most_waited(findings, edges, place, &all, ret, &most));
    if (2 * ret->count <= ret->of) {
        ret->goroutine = UINT32_MAX; /* what a few wait on says nothing of the others */
        return NULL;
    }
    TRY(append_waited(findings, ret->goroutine, most, &ret->paths, &has_path));
    TRY(find_waited(findings, edges, ret->goroutine, &all.one));
    for (size_t i = 0, named = 1; i < all.one.count && named < MOST_NAMED; i++)
        if (all.one.data[i] != most) {
            TRY(append_waited(findings, ret->goroutine, all.one.data[i], &ret->paths, &has_path));
            named++;
        }
    if (all.one.count > MOST_NAMED)
        text_append_string(&ret->paths, ", …");
    TRY_MEMORY(!ret->paths.failed);
    ret->paths.size = has_path ? ret->paths.size : 0;
    return NULL;
}

/* Appends the class of something that is waited on. That of a lock in a block of 16 bytes, which
 * small values share, says nothing; nor does the runtime's list of those that wait for a sync.Cond.
 */
static void append_waited_class(struct g2h_bytes class, struct g2h_bytes state, struct text *text)
{
    static const char the[] = "the sync.";
    const bool is_known = !bytes_are(class, "(tiny block)") && !bytes_are(class, "runtime.sudog") &&
                          !bytes_begin(class, "noptr");
    for (size_t i = 0; i < COUNT_OF(waits) && !is_known; i++)
        if (bytes_are(state, waits[i].state) && strncmp(waits[i].what, the, strlen(the)) == 0) {
            text_append_string(text, waits[i].what + strlen("the "));
            return;
        }
    text_append(text, class.data, class.size);
}

/* Appends the classes of what a goroutine waits on; where these say nothing, as of a sudog, the
 * type of package sync that its state tells. */
void goroutines_append_classes(const struct findings *findings, uint32_t goroutine,
                               struct text *text)
{
    static const char between[] = ", ";
    _cleanup_(findings_destroy_edges) struct g2h_edges *edges = NULL;
    _cleanup_(text_deinit) struct text classes = {0};
    struct g2h_error *error = g2h_edges_create(findings->view, &edges);
    text->failed |= error != NULL;
    g2h_error_destroy(error);
    if (!edges)
        return;
    findings_append_targets(findings, edges, goroutine, "waiting on", G2H_NODE_ROOT, &classes);
    const struct g2h_bytes state = state_of(findings, goroutine);
    struct g2h_bytes rest = bytes_at(classes.data, classes.size);
    while (rest.size > 0) {
        const uint8_t *end = bytes_find(rest, between);
        const struct g2h_bytes class = end ? bytes_between(rest.data, end) : rest;
        const uint64_t step = class.size + (end ? strlen(between) : 0);
        text_append_string(text, text->size > 0 ? between : "");
        append_waited_class(class, state, text);
        rest.data += step;
        rest.size -= step;
    }
    text->failed |= classes.failed;
}

/* ---- goroutines that have ended ---- */

/* The objects of class runtime.g that are in use. */
struct living {
    const struct findings *findings;
    struct g2h_edges *edges;
    uint32_t name;    /* runtime.g */
    struct map nodes; /* node of the view → 1 */
    bool *is_of;      /* by node of merged: it has goroutines, Ms, or objects of class runtime.g */
};

static void living_deinit(struct living *living)
{
    g2h_edges_destroy(living->edges);
    map_deinit(&living->nodes);
    free(living->is_of);
}

/* Finds the nodes of merged whose view nodes count_ended() must read: goroutines and Ms, which use
 * objects of class runtime.g, and these objects. */
static struct g2h_error *goroutines_find_nodes(struct living *living)
{
    const struct findings *findings = living->findings;
    const uint32_t count = as_u32(findings->merged.nodes.count);
    living->is_of = calloc(count, sizeof(*living->is_of));
    TRY_MEMORY(living->is_of);
    for (uint32_t i = 0; i < count; i++) {
        const enum g2h_runtime_class class = merged_runtime_class(&findings->merged, i);
        living->is_of[i] = findings_is_kind(findings, i, G2H_NODE_GOROUTINE) ||
                           class == G2H_RUNTIME_G || class == G2H_RUNTIME_M;
        if (class == G2H_RUNTIME_G)
            living->name = findings_node(findings, i)->name;
    }
    return NULL;
}

/* Marks the objects of class runtime.g that a goroutine or an M has. */
static struct g2h_error *mark_living(struct living *living, uint32_t number)
{
    const struct g2h_view *view = living->findings->view;
    struct g2h_edge edge;
    struct g2h_node target;
    uint32_t known;
    g2h_edges_begin(living->edges, number, number + 1);
    while (g2h_edges_next(living->edges, &edge)) {
        g2h_view_brief(view, edge.target, &target);
        if (target.kind == G2H_NODE_OBJECT && target.name == living->name)
            TRY_MEMORY(map_put(&living->nodes, edge.target, 1, &known));
    }
    return NULL;
}

/* Counts all objects of class runtime.g, and subtracts those that a goroutine or an M uses. The
 * runtime keeps the others for reuse. Folded nodes stand for several objects each. */
static struct g2h_error *count_ended(struct living *living, struct goroutines_ended *ret)
{
    const struct findings *findings = living->findings;
    uint64_t bytes = 0;
    for (uint32_t number = 0; number < findings->merged.of_count; number++) {
        const uint32_t merged = findings->merged.of[number];
        if (merged == MERGED_NONE || !living->is_of[merged])
            continue;
        const uint32_t node = g2h_dominators_node(findings->dominators, number);
        struct g2h_node read;
        if (node == UINT32_MAX)
            continue;
        g2h_view_brief(findings->view, node, &read);
        if (read.kind == G2H_NODE_OBJECT && read.name == living->name) {
            ret->count += read.members > 0 ? read.members : 1;
            bytes += read.size;
        } else {
            TRY(mark_living(living, node));
        }
    }
    const uint64_t each = ret->count > 0 ? bytes / ret->count : 0;
    ret->count -= MIN(living->nodes.count, ret->count);
    ret->bytes = each * ret->count;
    return NULL;
}

/* Counts the goroutines that have ended, and what their descriptors take; 0 if no object has the
 * class of descriptors. */
struct g2h_error *goroutines_find_ended(const struct findings *findings,
                                        struct goroutines_ended *ret)
{
    _cleanup_(living_deinit) struct living living = {.findings = findings, .name = G2H_NAME_NONE};
    *ret = (struct goroutines_ended){0};
    TRY(goroutines_find_nodes(&living));
    if (living.name == G2H_NAME_NONE)
        return NULL;
    TRY(g2h_edges_create(findings->view, &living.edges));
    return count_ended(&living, ret);
}

/* ==== leaks ==== */

/* Adds a leaked goroutine to its place, of which it becomes the example if it is the first. A
 * goroutine without place is left out. */
static struct g2h_error *add_leaked(struct leaks *leaks, const struct findings *findings,
                                    uint32_t goroutine)
{
    const uint32_t number = g2h_dominators_number(findings->dominators, goroutine);
    const uint32_t place = findings_place_of(findings, findings->merged.of[number]);
    uint32_t index = as_u32(leaks->places.count);
    if (place == MERGED_NONE)
        return NULL;
    TRY_MEMORY(map_put(&leaks->by_node, place, index, &index));
    if (index == leaks->places.count)
        TRY_MEMORY(vector_push(&leaks->places,
                               ((struct leaks_place){.node = place, .example = goroutine})));
    leaks->places.data[index].count++;
    leaks->places.data[index].retained +=
        g2h_dominators_retained_size(findings->dominators, goroutine);
    return NULL;
}

/* Finds the leaked goroutines, by place. If all goroutines of a place are leaked, the place retains
 * more than each of them alone: also what they hold together. */
struct g2h_error *leaks_find(const struct findings *findings, struct leaks *ret)
{
    const uint64_t synthetics = g2h_view_account(findings->view)->first_object;
    ret->all = g2h_view_leaks(findings->view);
    for (uint32_t node = 0; node < synthetics && ret->all.leaked > 0; node++)
        if (g2h_view_is_leaked(findings->view, node))
            TRY(add_leaked(ret, findings, node));
    VECTOR_EACH(struct leaks_place, place, ret->places) {
        if (place->count == findings_members(findings, place->node))
            place->retained = findings_node(findings, place->node)->retained;
        ret->retained += place->retained;
    }
    return NULL;
}

void leaks_deinit(struct leaks *leaks)
{
    free(leaks->places.data);
    map_deinit(&leaks->by_node);
}

/* Returns the leaked goroutines in the place that a node of merged is, or is below of; NULL:
 * none. */
const struct leaks_place *leaks_at(const struct leaks *leaks, const struct findings *findings,
                                   uint32_t node)
{
    const uint32_t place =
        leaks->places.count == 0 ? MERGED_NONE : findings_place_of(findings, node);
    const uint32_t at = place == MERGED_NONE ? MAP_NONE : map_get(&leaks->by_node, place);
    return at == MAP_NONE ? NULL : &leaks->places.data[at];
}

/* ---- why ---- */

/* Appends why goroutines can never run again, by the wait state in the goroutine's name: the
 * channel is nil, the select has no cases, or nothing alive reaches what they wait on. are_many: in
 * the plural. */
void leaks_append_reason(const struct findings *findings, uint32_t goroutine, bool are_many,
                         struct text *text)
{
    const struct g2h_bytes state = state_of(findings, goroutine);
    const char *what = "what";
    if (bytes_are(state, "chan receive (nil chan)") || bytes_are(state, "chan send (nil chan)")) {
        text_printf(text, are_many ? "their channel is nil" : "its channel is nil");
        return;
    }
    if (bytes_are(state, "select (no cases)")) {
        text_printf(text, are_many ? "their select has no cases" : "its select has no cases");
        return;
    }
    for (size_t i = 0; i < COUNT_OF(waits); i++)
        if (bytes_are(state, waits[i].state))
            what = waits[i].what;
    text_printf(text, "nothing alive reaches %s %s on", what, are_many ? "they wait" : "it waits");
}

/* ==== deferred ==== */

struct holding {
    const struct findings *findings;
    struct map by_name; /* number of a name → index in list */
    deferred_vector *list;
};

/* Returns whether a node is part of the runtime's representation of a call: its record, the head of
 * a list of records (atomic.Pointer[runtime._defer]), or the closure that is called. Objects that
 * such a node holds belong to the program. */
static bool is_of_call(const struct findings *findings, uint32_t node)
{
    const enum g2h_runtime_class class = merged_runtime_class(&findings->merged, node);
    return findings_node(findings, node)->kind != MERGED_CLASS || class == G2H_RUNTIME_DEFER ||
           class == G2H_RUNTIME_DEFER_LIST ||
           merged_form(&findings->merged, node) == G2H_FORM_CLOSURE;
}

/* Adds the objects of a node of merged to the sums of their class. Returns false if memory runs
 * out. */
static bool deferred_add(struct holding *holding, uint32_t node)
{
    const struct merged_node *of = findings_node(holding->findings, node);
    const uint32_t number = as_u32(holding->list->count);
    uint32_t at;
    if (!map_put(&holding->by_name, of->name, number, &at) ||
        (at == number && !vector_push(holding->list, ((struct deferred_held){.node = node}))))
        return false;
    holding->list->data[at].count += of->count;
    holding->list->data[at].retained += of->retained;
    return true;
}

/* Collects what the calls below a node hold. Parents come before their children, so one pass finds
 * all nodes below. */
static struct g2h_error *deferred_collect(struct holding *holding, uint32_t calls)
{
    const struct findings *findings = holding->findings;
    const size_t count = findings->merged.nodes.count;
    _cleanup_free_ bool *is_passed = calloc(count, sizeof(*is_passed));
    TRY_MEMORY(is_passed);
    is_passed[calls] = true;
    for (uint32_t i = calls + 1; i < count; i++) {
        const uint32_t parent = findings_node(findings, i)->parent;
        if (parent == MERGED_NONE || !is_passed[parent])
            continue;
        is_passed[i] = is_of_call(findings, i);
        if (!is_passed[i])
            TRY_MEMORY(deferred_add(holding, i));
    }
    return NULL;
}

/* Orders what calls hold by retained bytes, most first; equal ones by node. */
static int deferred_compare(const void *a, const void *b)
{
    const struct deferred_held *one = a;
    const struct deferred_held *other = b;
    if (one->retained != other->retained)
        return COMPARE(other->retained, one->retained);
    return COMPARE(one->node, other->node);
}

static void holding_deinit(struct holding *holding)
{
    map_deinit(&holding->by_name);
}

/* Finds what the calls below a node of merged hold; the class that retains most comes first. */
struct g2h_error *deferred_find(const struct findings *findings, uint32_t calls,
                                deferred_vector *ret)
{
    _cleanup_(holding_deinit) struct holding holding = {.findings = findings, .list = ret};
    TRY(deferred_collect(&holding, calls));
    vector_sort(ret, deferred_compare);
    return NULL;
}

/* ==== finalized ==== */

/* A holder of a node of the view: a finalizer, or an object that is kept for a cleanup. */
struct keeper {
    uint32_t finalizer, for_cleanup; /* nodes; UINT32_MAX: none */
};

/* Returns whether only finalizers, or only other roots, among which are objects kept for cleanups,
 * hold a node. */
static bool is_held_by_keepers(const struct findings *findings, uint32_t node)
{
    struct g2h_node read;
    bool is_held = false;
    while (node != 0 && !is_held) {
        g2h_view_brief(findings->view, node, &read);
        is_held = read.kind == G2H_NODE_FINALIZERS || read.kind == G2H_NODE_OTHER_ROOTS;
        node = g2h_dominators_of(findings->dominators, node);
    }
    return is_held;
}

/* Finds the finalizer, or the object kept for a cleanup, that holds a node: of several, as of a
 * cycle of objects that all have one, that with the shortest path. */
static struct g2h_error *find_keeper(const struct findings *findings, uint32_t node,
                                     struct keeper *ret)
{
    _cleanup_vector_ node_vector path = {0};
    *ret = (struct keeper){UINT32_MAX, UINT32_MAX};
    if (!is_held_by_keepers(findings, node))
        return NULL;
    TRY(path_shortest(findings->paths, node, &path));
    for (size_t i = 0; i < path.count; i++) {
        const enum g2h_node_kind kind = findings_kind_of(findings->view, path.data[i]);
        if (kind == G2H_NODE_FINALIZER)
            ret->finalizer = path.data[i];
        else if (kind == G2H_NODE_OTHER_ROOTS && i + 1 < path.count)
            ret->for_cleanup = path.data[i + 1];
    }
    return NULL;
}

/* Finds the object of a finalizer, and its function, where the edges "object" and "fn" of its node
 * lead; UINT32_MAX if there is none. */
static void read_finalizer(const struct findings *findings, uint32_t finalizer,
                           uint32_t *ret_object, uint32_t *ret_function)
{
    struct g2h_edges *edges = paths_edges(findings->paths);
    struct g2h_edge edge;
    *ret_object = *ret_function = UINT32_MAX;
    g2h_edges_begin(edges, finalizer, finalizer + 1);
    while (g2h_edges_next(edges, &edge)) {
        if (is_labelled(findings, &edge, "object"))
            *ret_object = edge.target;
        else if (is_labelled(findings, &edge, "fn"))
            *ret_function = edge.target;
    }
}

/* Returns the object that a cleanup is for, or UINT32_MAX: the runtime keeps a node for the
 * cleanup, from which a weak edge leads to the object. */
static uint32_t object_of_cleanup(const struct findings *findings, uint32_t node)
{
    struct g2h_edges *edges = paths_edges(findings->paths);
    struct g2h_edge edge;
    g2h_edges_begin(edges, node, node + 1);
    while (g2h_edges_next(edges, &edge))
        if ((edge.flags & G2H_EDGE_WEAK) != 0 && is_labelled(findings, &edge, "cleanup of"))
            return edge.target;
    return UINT32_MAX;
}

/* What some nodes of the view reach by pointers. */
struct finalized_reach {
    const struct findings *findings;
    uint64_t *marks;   /* a bit per node */
    node_vector stack; /* nodes that are marked and have to be visited */
};

static void finalized_reach_deinit(struct finalized_reach *reach)
{
    free(reach->marks);
    free(reach->stack.data);
}

/* Prepares for a search. Returns false if memory runs out. */
static bool finalized_reach_init(struct finalized_reach *reach)
{
    const size_t words = g2h_view_node_count(reach->findings->view) / 64 + 1;
    reach->marks = zeroed_alloc(words, sizeof(*reach->marks));
    return reach->marks;
}

/* Marks a node that has no mark; UINT32_MAX is none. Returns false if memory runs out. */
static bool finalized_reach_push(struct finalized_reach *reach, uint32_t node)
{
    if (node == UINT32_MAX || bits_have(reach->marks, node))
        return true;
    bits_add(reach->marks, node);
    return vector_push(&reach->stack, node);
}

/* Marks everything that the marked nodes reach. Returns false if memory runs out. */
static bool finalized_reach_drain(struct finalized_reach *reach)
{
    struct g2h_edges *edges = paths_edges(reach->findings->paths);
    struct g2h_edge edge;
    while (reach->stack.count > 0) {
        const uint32_t node = reach->stack.data[--reach->stack.count];
        g2h_edges_begin_targets(edges, node, node + 1);
        while (g2h_edges_next(edges, &edge))
            if (g2h_edge_leads(edge.flags) && !finalized_reach_push(reach, edge.target))
                return false;
    }
    return true;
}

/* Pushes what finalizers and cleanups have, unless the object that they are for is marked in own:
 * that lives as long as own does, so they do not run before. Returns false if memory runs out. */
static bool push_other_keepers(const struct finalized_reach *own, struct finalized_reach *ret)
{
    const struct findings *findings = own->findings;
    const uint64_t synthetics = g2h_view_account(findings->view)->first_object;
    _cleanup_vector_ node_vector kept = {0};
    struct g2h_edges *edges = paths_edges(findings->paths);
    struct g2h_edge edge;
    for (uint32_t i = 0; i < synthetics; i++) {
        const enum g2h_node_kind kind = findings_kind_of(findings->view, i);
        uint32_t object, function;
        if (kind == G2H_NODE_FINALIZER) {
            read_finalizer(findings, i, &object, &function);
            if ((object == UINT32_MAX || !bits_have(own->marks, object)) &&
                !(finalized_reach_push(ret, object) && finalized_reach_push(ret, function)))
                return false;
        }
        if (kind != G2H_NODE_OTHER_ROOTS)
            continue;
        g2h_edges_begin(edges, i, i + 1);
        while (g2h_edges_next(edges, &edge))
            if (!vector_push(&kept, edge.target))
                return false;
    }
    VECTOR_EACH(const uint32_t, node, kept) {
        const uint32_t object = object_of_cleanup(findings, *node);
        if (object != UINT32_MAX && !bits_have(own->marks, object) &&
            !finalized_reach_push(ret, *node))
            return false;
    }
    return true;
}

/* Sets *ret to whether a weak pointer that is not garbage leads to something that is marked: the
 * program may get it, and cut what keeps the object. What a cleanup has is no weak pointer,
 * although it has such an edge to its object. Goes over all pointers. */
static struct g2h_error *find_weak(const struct finalized_reach *own, bool *ret)
{
    const struct findings *findings = own->findings;
    const uint64_t synthetics = g2h_view_account(findings->view)->first_object;
    _cleanup_(findings_destroy_edges) struct g2h_edges *edges = NULL;
    struct g2h_edge edge;
    TRY(g2h_edges_create(findings->view, &edges));
    g2h_edges_begin_targets(edges, 0, g2h_view_node_count(findings->view));
    while (!*ret && g2h_edges_next(edges, &edge))
        *ret = (edge.flags & G2H_EDGE_WEAK) != 0 && bits_have(own->marks, edge.target) &&
               edge.source >= synthetics && !findings_is_dead(findings->view, edge.source) &&
               object_of_cleanup(findings, edge.source) == UINT32_MAX;
    return NULL;
}

/* Finds out whether something else may free an object: another finalizer or cleanup, which may run,
 * reaches it, or a weak pointer leads to what it reaches. function: what the object's own finalizer
 * or cleanup calls, or UINT32_MAX. */
static struct g2h_error *finalized_is_reached(const struct findings *findings, uint32_t object,
                                              uint32_t function, bool *ret)
{
    _cleanup_(finalized_reach_deinit) struct finalized_reach own = {.findings = findings},
                                                             others = {.findings = findings};
    TRY_MEMORY(finalized_reach_init(&own) && finalized_reach_init(&others));
    TRY_MEMORY(finalized_reach_push(&own, object) && finalized_reach_push(&own, function) &&
               finalized_reach_drain(&own));
    TRY_MEMORY(push_other_keepers(&own, &others) && finalized_reach_drain(&others));
    *ret = bits_have(others.marks, object);
    return find_weak(&own, ret);
}

/* Sets *ret to why a finalizer or a cleanup never runs: the object, or the function that is to be
 * called, reaches the object itself, which therefore never becomes unreachable, unless another one
 * changes that. A pointer of the object to itself does not keep it: the collector passes it over.
 */
static struct g2h_error *find_reason(const struct findings *findings, const struct keeper *keeper,
                                     enum finalized *ret)
{
    const bool is_finalizer = keeper->finalizer != UINT32_MAX;
    uint32_t object = UINT32_MAX, function = UINT32_MAX;
    bool leads_to_itself = false, is_kept = false, is_reached = false;
    if (is_finalizer) {
        read_finalizer(findings, keeper->finalizer, &object, &function);
    } else {
        function = keeper->for_cleanup;
        object = object_of_cleanup(findings, function);
    }
    if (object != UINT32_MAX && is_finalizer)
        TRY(path_leads(findings->paths, object, object, &leads_to_itself));
    if (object != UINT32_MAX && function != UINT32_MAX && !leads_to_itself)
        TRY(path_leads(findings->paths, function, object, &is_kept));
    if (leads_to_itself || is_kept)
        TRY(finalized_is_reached(findings, object, function, &is_reached));
    if ((!leads_to_itself && !is_kept) || is_reached)
        *ret = FINALIZED_CAN_RUN;
    else if (leads_to_itself)
        *ret = FINALIZED_SELF;
    else
        *ret = is_finalizer ? FINALIZED_BY_FUNCTION : FINALIZED_BY_CLEANUP;
    return NULL;
}

/* Finds out whether a finalizer or cleanup that can never run keeps an object. *ret stays
 * FINALIZED_CAN_RUN if neither keeps the node. */
struct g2h_error *finalized_find(const struct findings *findings, uint32_t node,
                                 enum finalized *ret)
{
    struct keeper keeper;
    *ret = FINALIZED_CAN_RUN;
    TRY(find_keeper(findings, node, &keeper));
    if (keeper.finalizer == UINT32_MAX && keeper.for_cleanup == UINT32_MAX)
        return NULL;
    return find_reason(findings, &keeper, ret);
}

/* ---- which goroutine blocks ---- */

/* What goroutines of the runtime run: a set. */
enum { RUNS_FINALIZERS = 1, RUNS_CLEANUPS = 2 };

/* The functions that a goroutine of the runtime begins with to run finalizers or cleanups. */
static const struct {
    const char *function;
    unsigned runs;
    const char *how;
} runners[] = {{"runtime.runCleanups", RUNS_CLEANUPS, /* Go 1.25: GOMAXPROCS / 4 goroutines */
                "few goroutines run cleanups"},
               {"runtime.runFinalizers", RUNS_FINALIZERS, "finalizers run one after the other"},
               {"runtime.runfinq", RUNS_FINALIZERS | RUNS_CLEANUPS, /* until Go 1.24 */
                "finalizers and cleanups run one after the other"}};

/* Returns the function of a frame. */
static struct g2h_bytes function_at(const struct findings *findings, size_t number)
{
    struct g2h_view_frame frame;
    size_t size;
    g2h_view_frame(findings->view, number, &frame);
    const char *name = findings_name_of(findings->view, frame.node, &size);
    return bytes_at(name, expression_without_line(name, size));
}

/* Sets *ret to the function that a goroutine waits in, if it is one that runs what is waited for.
 * Frames begin with the innermost one. */
static void read_runner(const struct findings *findings, size_t number, unsigned wanted,
                        struct finalized_blocker *ret)
{
    struct g2h_view_goroutine goroutine;
    struct g2h_bytes program = {0};
    g2h_view_goroutine(findings->view, number, &goroutine);
    for (uint32_t i = 0; i < goroutine.frame_count; i++) {
        const struct g2h_bytes function = function_at(findings, goroutine.first_frame + i);
        for (size_t j = 0; j < COUNT_OF(runners) && program.size > 0; j++)
            if ((runners[j].runs & wanted) != 0 && bytes_are(function, runners[j].function))
                *ret = (struct finalized_blocker){goroutine.node, runners[j].how,
                                                  (const char *)program.data, (size_t)program.size};
        if (program.size == 0 && !bytes_begin(function, "runtime."))
            program = function;
    }
}

/* Returns what has to run before a node is freed, if a finalizer or a cleanup dominates it; 0:
 * nothing. */
static unsigned waits_for_its_end(const struct findings *findings, uint32_t node)
{
    struct g2h_node read;
    while (node != 0) {
        g2h_view_brief(findings->view, node, &read);
        if (read.kind == G2H_NODE_FINALIZERS || read.kind == G2H_NODE_QUEUED_FINALIZERS)
            return RUNS_FINALIZERS;
        if (read.kind == G2H_NODE_CLEANUP)
            return RUNS_CLEANUPS;
        node = g2h_dominators_of(findings->dominators, node);
    }
    return 0;
}

/* Finds the goroutine that runs a finalizer, and has not come to its end, if the node waits for
 * that. ret->goroutine stays UINT32_MAX if there is none. */
void finalized_find_blocker(const struct findings *findings, uint32_t node,
                            struct finalized_blocker *ret)
{
    const size_t count = g2h_view_goroutine_count(findings->view);
    const unsigned wanted = waits_for_its_end(findings, node);
    *ret = (struct finalized_blocker){.goroutine = UINT32_MAX};
    for (size_t i = 0; i < count && wanted != 0 && ret->goroutine == UINT32_MAX; i++)
        read_runner(findings, i, wanted, ret);
}

/* ==== labels, and what goroutines with each value retain ==== */

/* ---- reading ---- */

/* Adds a label of a goroutine; the type is that of a g2h_label_visit. Returns false if memory runs
 * out. */
static bool labels_add(void *context, const struct g2h_label *label)
{
    struct goroutine_labels *labels = context;
    struct goroutine_label made;
    return string_pool_intern(&labels->texts, label->key, label->key_size, &made.key) &&
           string_pool_intern(&labels->texts, label->value, label->value_size, &made.value) &&
           vector_push(&labels->list, made);
}

/* Reads the labels of all goroutines. A visit that stops too early has run out of memory. */
struct g2h_error *goroutine_labels_read(const struct findings *findings,
                                        struct goroutine_labels *ret)
{
    const size_t count = g2h_view_goroutine_count(findings->view);
    ret->first = calloc(count + 1, sizeof(*ret->first));
    TRY_MEMORY(ret->first);
    for (size_t i = 0; i < count; i++) {
        ret->first[i] = as_u32(ret->list.count);
        TRY(g2h_view_labels(findings->view, i, labels_add, ret));
    }
    ret->first[count] = as_u32(ret->list.count);
    return NULL;
}

void goroutine_labels_deinit(struct goroutine_labels *labels)
{
    string_pool_deinit(&labels->texts);
    free(labels->list.data);
    free(labels->first);
}

/* Returns the value of a goroutine's label; UINT32_MAX: it has none of that key. */
static uint32_t labels_value_of(const struct goroutine_labels *labels, uint32_t goroutine,
                                uint32_t key)
{
    for (uint32_t i = labels->first[goroutine]; i < labels->first[goroutine + 1]; i++)
        if (labels->list.data[i].key == key)
            return labels->list.data[i].value;
    return UINT32_MAX;
}

/* ---- values ---- */

/* Sums by value. */
struct label_sums {
    struct map numbers; /* value → index in list */
    label_values list;
};

static void label_sums_deinit(struct label_sums *sums)
{
    map_deinit(&sums->numbers);
    free(sums->list.data);
}

/* Adds goroutines, and what they retain, to the sums of a label's value, which is made if it is
 * new. Returns false if memory runs out. */
static bool label_sums_add(struct label_sums *sums, uint32_t value, uint64_t count,
                           uint64_t retained)
{
    uint32_t at = as_u32(sums->list.count);
    if (!map_put(&sums->numbers, value, at, &at) ||
        (at == sums->list.count && !vector_push(&sums->list, ((struct label_value){value, 0, 0}))))
        return false;
    sums->list.data[at].count += count;
    sums->list.data[at].retained += retained;
    return true;
}

/* Orders values by what their goroutines retain, the most first, and then by how many these are;
 * the goroutines without the label come last. */
static int label_values_compare(const void *a, const void *b)
{
    const struct label_value *one = a;
    const struct label_value *other = b;
    const bool is_none = one->value == UINT32_MAX;
    const bool is_other_none = other->value == UINT32_MAX;
    if (is_none != is_other_none)
        return is_none ? 1 : -1;
    if (one->retained != other->retained)
        return COMPARE(other->retained, one->retained);
    if (one->count != other->count)
        return COMPARE(other->count, one->count);
    return COMPARE(one->value, other->value);
}

/* Adds the goroutines of a place to the sums of a label's values. If all have the same value, what
 * the place retains counts, which is more than what each goroutine retains alone. Returns false if
 * memory runs out. */
static bool label_sums_add_place(struct label_sums *sums, const struct findings *findings,
                                 const struct goroutine_labels *labels, uint32_t key,
                                 uint32_t place)
{
    uint32_t count;
    const uint32_t *list = stack_index_of(findings, place, &count);
    struct g2h_view_goroutine goroutine;
    bool is_one = true;
    for (uint32_t i = 1; i < count; i++)
        is_one &= labels_value_of(labels, list[i], key) == labels_value_of(labels, list[0], key);
    if (is_one && count > 0)
        return label_sums_add(sums, labels_value_of(labels, list[0], key), count,
                              findings_node(findings, place)->retained);
    for (uint32_t i = 0; i < count; i++) {
        g2h_view_goroutine(findings->view, list[i], &goroutine);
        if (!label_sums_add(sums, labels_value_of(labels, list[i], key), 1,
                            g2h_dominators_retained_size(findings->dominators, goroutine.node)))
            return false;
    }
    return true;
}

/* Adds the goroutines of each node of merged to the sum of their value of the label, and sorts the
 * sums. */
struct g2h_error *label_values_find(const struct findings *findings,
                                    const struct goroutine_labels *labels, uint32_t key,
                                    label_values *ret)
{
    _cleanup_(label_sums_deinit) struct label_sums sums = {.list = {0}};
    for (uint32_t i = 0; i < findings->merged.nodes.count; i++)
        TRY_MEMORY(label_sums_add_place(&sums, findings, labels, key, i));
    vector_sort(&sums.list, label_values_compare);
    *ret = sums.list;
    sums.list.data = NULL;
    return NULL;
}

/* ---- the labels of a place ---- */

/* A label of more values has only their number. */
enum { FEW_VALUES = 3 };

/* Appends a label's key and what its values are in the goroutines of a place. Called once for each
 * case: with are_few it appends keys that have FEW_VALUES or fewer values, and each value with the
 * number of goroutines that have it, unless all have it; otherwise keys that have more, and only
 * their number. Appends nothing for a key of the other case. */
static struct g2h_error *labels_append_key(const struct goroutine_labels *labels,
                                           const uint32_t *list, uint32_t count, uint32_t key,
                                           bool are_few, struct text *text)
{
    _cleanup_(label_sums_deinit) struct label_sums sums = {.list = {0}};
    size_t size;
    const char *name = string_pool_text(&labels->texts, key, &size);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t value = labels_value_of(labels, list[i], key);
        if (value != UINT32_MAX)
            TRY_MEMORY(label_sums_add(&sums, value, 1, 0));
    }
    if ((sums.list.count <= FEW_VALUES) != are_few)
        return NULL;
    vector_sort(&sums.list, label_values_compare);
    text_append_string(text, text->size > 0 ? "; " : "");
    text_append_utf8(text, name, size, 64);
    if (!are_few) {
        text_append_string(text, ": ");
        text_append_grouped(text, sums.list.count);
        text_append_string(text, " values");
        return NULL;
    }
    for (size_t i = 0; i < sums.list.count; i++) {
        const char *value = string_pool_text(&labels->texts, sums.list.data[i].value, &size);
        text_append_string(text, i == 0 ? "=" : ", ");
        text_append_utf8(text, value, size, 64);
        if (sums.list.data[i].count == count)
            continue;
        text_append_string(text, " ");
        text_append_grouped(text, sums.list.data[i].count);
    }
    return NULL;
}

/* Appends the labels of the goroutines in a place. The keys are those of the first goroutine that
 * has labels: few programs set others at the same line. Those that tell most come first: a tenant
 * rather than the number of a request. */
struct g2h_error *goroutine_labels_append(const struct findings *findings,
                                          const struct goroutine_labels *labels, uint32_t place,
                                          struct text *text)
{
    enum { MOST_KEYS = 4 };
    uint32_t count, labelled = 0; /* index of the first goroutine with labels */
    const uint32_t *list = stack_index_of(findings, place, &count);
    while (labelled < count && labels->first[list[labelled]] == labels->first[list[labelled] + 1])
        labelled++;
    if (labelled == count)
        return NULL;
    const uint32_t first = labels->first[list[labelled]];
    const uint32_t end = labels->first[list[labelled] + 1];
    for (uint32_t i = first; i < end && i < first + MOST_KEYS; i++) /* the keys that tell most */
        TRY(labels_append_key(labels, list, count, labels->list.data[i].key, true, text));
    for (uint32_t i = first; i < end && i < first + MOST_KEYS; i++)
        TRY(labels_append_key(labels, list, count, labels->list.data[i].key, false, text));
    text_append_string(text, end - first > MOST_KEYS ? "; …" : "");
    return NULL;
}
