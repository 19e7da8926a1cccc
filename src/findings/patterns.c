/*
 * patterns: what goroutines at well-known functions of the standard library mean ("the body of a
 * response was not closed"), and where goroutines are; see patterns.h.
 *
 * The table patterns[] has the functions, and for each a test that counts the goroutines or objects
 * for which the meaning is certain; pattern_find() tries the rows for the goroutines of one place
 * (a node of the merged tree: the same functions on their stacks, in the same state). Most tests
 * need to know that nothing else leads to an object: reached_find() marks all objects that anything
 * besides the goroutines themselves can reach.
 */
#include "findings/patterns.h"

#include <stdlib.h>
#include <string.h>

#include <go2heapsnapshot/values.h>

#include "base/contract.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/memory.h"
#include "findings/pinned.h"

/* ==== where goroutines of a place are ==== */

/* ---- stacks ---- */

void stack_walk_begin(struct stack_walk *walk, const struct g2h_view *view, uint32_t goroutine,
                      bool is_whole)
{
    *walk = (struct stack_walk){.view = view, .is_whole = is_whole};
    g2h_view_goroutine(view, goroutine, &walk->goroutine);
}

/* Gets the next function, whichever it is. Returns false at the end of the stack. */
static bool next_function(struct stack_walk *walk, struct g2h_view_call *ret)
{
    while (walk->frame < walk->goroutine.frame_count) {
        if (g2h_view_call(walk->view, walk->goroutine.first_frame + (size_t)walk->frame,
                          walk->call++, ret))
            return true;
        walk->frame++;
        walk->call = 0;
    }
    return false;
}

/* Returns whether tracebacks leave a function out: those of the runtime that programs do not call,
 * and C's (showfuncinfo() of runtime/traceback.go). */
static bool is_hidden(struct g2h_bytes function)
{
    static const char runtime[] = "runtime.";
    static const char *const shown[] = {"runtime.gopanic", "runtime.runFinalizers",
                                        "runtime.runfinq", "runtime.runCleanups"};
    const size_t size = sizeof(runtime) - 1;
    for (size_t i = 0; i < COUNT_OF(shown); i++)
        if (bytes_are(function, shown[i]))
            return false;
    if (!bytes_begin(function, runtime))
        return !bytes_contain(function, "."); /* C has no packages */
    return function.size > size && !(function.data[size] >= 'A' && function.data[size] <= 'Z');
}

/* Finds the next function of a stack, the innermost first. Returns false at the end. Left out are
 * wrappers, which the compiler makes, and, unless is_whole is set, functions inside the one that
 * the goroutine is at, those that tracebacks hide, and those that goroutines begin with. A stack of
 * the runtime alone is at no function (at is UINT32_MAX): only wrappers and what goroutines begin
 * with are left out of it. */
bool stack_walk_next(struct stack_walk *walk, struct g2h_view_call *ret)
{
    static const char *const ends[] = {"runtime.goexit", "runtime.main", "runtime.corostart"};
    while (next_function(walk, ret)) {
        bool is_left_out = false;
        walk->has_arrived |=
            walk->goroutine.at == UINT32_MAX || ret->number == walk->goroutine.at || walk->is_whole;
        for (size_t i = 0; i < COUNT_OF(ends); i++)
            is_left_out |= bytes_are(ret->function, ends[i]);
        is_left_out |= walk->goroutine.at != UINT32_MAX && is_hidden(ret->function);
        if (walk->has_arrived && !ret->is_wrapper && (walk->is_whole || !is_left_out))
            return true;
    }
    return false;
}

/* Appends a frame after others. */
static void append_frame(const struct findings *findings, const struct g2h_view_call *call,
                         struct text *text)
{
    _cleanup_(g2h_text_deinit) struct g2h_text name = {0};
    g2h_view_call_text(findings->view, call, &name);
    text_append(text, name.data ? name.data : "", name.size);
    text->failed |= name.failed;
}

/* Appends the function that a goroutine runs, as names of frames have it. */
void stack_append_function(const struct findings *findings,
                           const struct g2h_view_goroutine *goroutine, struct text *text)
{
    const struct g2h_view_call call = {.function = goroutine->function};
    append_frame(findings, &call, text);
}

/* Appends the SHOWN innermost frames outside of the runtime, and then the first frame of the
 * program itself, with an ellipsis for those between. Returns false if there are none, or if memory
 * runs out. */
bool stack_append_frames(const struct findings *findings, uint32_t goroutine, struct text *text)
{
    enum { SHOWN = 4, READ = 200 };
    const struct g2h_exe *exe = g2h_view_exe(findings->view);
    struct stack_walk walk;
    struct g2h_view_call call;
    bool has_own = false;
    unsigned count = 0, shown = 0;
    stack_walk_begin(&walk, findings->view, goroutine, false);
    while (count < READ && (shown < SHOWN || !has_own) && stack_walk_next(&walk, &call)) {
        const bool is_own = g2h_exe_is_own(exe, call.function);
        if (shown < SHOWN || is_own) {
            if (shown > 0) /* count: of all functions so far; more than shown if any was left out */
                text_append_string(text, count == shown ? " ← " : " ← … ← ");
            append_frame(findings, &call, text);
            shown++;
        }
        has_own |= is_own;
        count++;
    }
    return count > 0 && !text->failed;
}

/* ---- places ---- */

/* A stack and how many goroutines have it. */
struct stack_kind {
    uint32_t count, example;
};

/* Returns a hash of the functions of all frames of goroutine number: equal for goroutines whose
 * stacks have the same functions. */
static uint64_t hash_stack(const struct g2h_view *view, uint32_t number)
{
    struct g2h_view_goroutine goroutine;
    struct g2h_view_call call;
    uint64_t hash = 0;
    g2h_view_goroutine(view, number, &goroutine);
    for (uint32_t i = 0; i < goroutine.frame_count; i++)
        if (g2h_view_call(view, goroutine.first_frame + (size_t)i, 0, &call))
            hash = map_hash_pair(hash, call.number);
    return hash;
}

static int compare_minutes(const void *a, const void *b)
{
    const uint32_t one = *(const uint32_t *)a;
    const uint32_t other = *(const uint32_t *)b;
    return COMPARE(one, other);
}

/* Finds the most frequent stack, and the first goroutine that has it. ret->alike is how many
 * goroutines have it. */
static struct g2h_error *find_typical(const struct findings *findings, const uint32_t *list,
                                      uint32_t count, struct stack_place *ret)
{
    _cleanup_(map_deinit) struct map kinds = {0}; /* hash of a stack → index in all */
    _cleanup_vector_ VECTOR(struct stack_kind) all = {0};
    for (uint32_t i = 0; i < count; i++) {
        uint32_t index = as_u32(all.count);
        TRY_MEMORY(map_put(&kinds, hash_stack(findings->view, list[i]), index, &index) &&
                   (index < all.count || vector_push(&all, ((struct stack_kind){0, list[i]}))));
        all.data[index].count++;
    }
    VECTOR_EACH(const struct stack_kind, kind, all)
        if (kind->count > ret->alike) { /* of equally frequent ones the first */
            ret->alike = kind->count;
            ret->example = kind->example;
        }
    return NULL;
}

/* Finds the most frequent stack of the goroutines of a place, an example of it, and how long they
 * have waited, in minutes: half of them, and the oldest. example is UINT32_MAX if the place has
 * none. */
struct g2h_error *stack_place_find(const struct findings *findings, uint32_t place,
                                   struct stack_place *ret)
{
    uint32_t count;
    const uint32_t *list = stack_index_of(findings, place, &count);
    struct g2h_view_goroutine goroutine;
    *ret = (struct stack_place){.example = UINT32_MAX, .of = count};
    if (count == 0)
        return NULL;
    TRY(find_typical(findings, list, count, ret));
    _cleanup_free_ uint32_t *minutes = calloc(count, sizeof(*minutes));
    TRY_MEMORY(minutes);
    for (uint32_t i = 0; i < count; i++) {
        g2h_view_goroutine(findings->view, list[i], &goroutine);
        minutes[i] = goroutine.minutes;
    }
    qsort(minutes, count, sizeof(*minutes), compare_minutes);
    ret->oldest = minutes[count - 1];
    ret->median = minutes[count / 2];
    g2h_view_goroutine(findings->view, ret->example, &goroutine);
    ret->goid = goroutine.record.goid;
    return NULL;
}

/* ==== what only goroutines of some places can reach ====
 *
 * In doubt an object is reached. A dump does not list the words of stack objects, such as the
 * closure of a deferred call that closes a body, so all words on the stacks of other goroutines
 * count as pointers, and lead on through what looks like garbage.
 */

struct reached {
    const struct findings *findings;
    const bool *inside;
    uint64_t *set;         /* by node of the view: it is reached */
    VECTOR(uint32_t) left; /* nodes whose edges are still to be followed */
    struct g2h_edges *edges;
};

static void reached_deinit(struct reached *reached)
{
    free(reached->set);
    free(reached->left.data);
    g2h_edges_destroy(reached->edges);
}

/* Returns the node of merged that a node of the view is in. */
static uint32_t reached_merged(const struct reached *reached, uint32_t node)
{
    const struct findings *findings = reached->findings;
    return findings->merged.of[g2h_dominators_number(findings->dominators, node)];
}

static bool is_inside(const struct reached *reached, uint32_t node)
{
    return reached->inside && reached->inside[reached_merged(reached, node)];
}

/* Marks an object as reached, once. Queues it, so that what it leads to is reached as well, only if
 * the search does not come to that by itself: if the object is inside of the places, or garbage.
 * Returns false if memory runs out. */
static bool reached_add(struct reached *reached, uint32_t node)
{
    const struct findings *findings = reached->findings;
    if (bits_have(reached->set, node) || findings_kind_of(findings->view, node) != G2H_NODE_OBJECT)
        return true;
    bits_add(reached->set, node);
    if (!is_inside(reached, node) &&
        !findings_node(findings, reached_merged(reached, node))->is_garbage)
        return true; /* add_from_outside() follows its edges */
    return vector_push(&reached->left, node);
}

/* Adds what the edges of a node lead to: those that are pointers which the collector follows.
 * Returns false if memory runs out. */
static bool add_targets(struct reached *reached, uint32_t node)
{
    struct g2h_edge edge;
    g2h_edges_begin(reached->edges, node, node + 1);
    while (g2h_edges_next(reached->edges, &edge))
        if (g2h_edge_leads(edge.flags) && !reached_add(reached, edge.target))
            return false;
    return true;
}

/* Adds what the words of a frame hit. Returns false if memory runs out. Words that point to no
 * object of the view are passed over. */
static bool add_words(struct reached *reached, struct g2h_bytes contents)
{
    const struct g2h_view *view = reached->findings->view;
    const struct g2h_heap *heap = g2h_view_heap(view);
    const struct g2h_params *params = g2h_heap_params(heap);
    for (uint64_t at = 0; at + params->pointer_size <= contents.size; at += params->pointer_size) {
        uint32_t object;
        if (!g2h_heap_find(heap, pinned_word(params, contents.data + at), &object))
            continue;
        const uint32_t node = g2h_view_object(view, object);
        if (node != UINT32_MAX && !reached_add(reached, node))
            return false;
    }
    return true;
}

/* Adds what the stacks of all goroutines but those of the places hit. Returns false if memory runs
 * out. */
static bool add_stacks(struct reached *reached)
{
    const struct g2h_view *view = reached->findings->view;
    const size_t count = g2h_view_goroutine_count(view);
    for (size_t i = 0; i < count; i++) {
        struct g2h_view_goroutine goroutine;
        struct g2h_view_frame frame;
        g2h_view_goroutine(view, i, &goroutine);
        if (goroutine.node != UINT32_MAX && is_inside(reached, goroutine.node))
            continue;
        for (uint32_t j = 0; j < goroutine.frame_count; j++) {
            g2h_view_frame(view, goroutine.first_frame + (size_t)j, &frame);
            if (!add_words(reached, frame.contents))
                return false;
        }
    }
    return true;
}

/* Adds what live nodes outside of the places lead to. Returns false if memory runs out. */
static bool add_from_outside(struct reached *reached)
{
    const uint32_t nodes = g2h_view_node_count(reached->findings->view);
    for (uint32_t i = 0; i < nodes; i++)
        if (!is_inside(reached, i) &&
            !findings_node(reached->findings, reached_merged(reached, i))->is_garbage &&
            !add_targets(reached, i))
            return false;
    return true;
}

/* Finds the nodes of the view, objects, that something leads to which is not below a place;
 * inside: by node of merged whether it is or is below such a place; NULL: no place is meant, and
 * only what words of stacks lead to is found. The caller frees *ret, bits by node of the view. */
static struct g2h_error *reached_find(const struct findings *findings, const bool *inside,
                                      uint64_t **ret)
{
    _cleanup_(reached_deinit) struct reached reached = {.findings = findings, .inside = inside};
    reached.set = calloc(g2h_view_node_count(findings->view) / 64 + 1, sizeof(*reached.set));
    TRY_MEMORY(reached.set);
    TRY(g2h_edges_create(findings->view, &reached.edges));
    TRY_MEMORY(add_stacks(&reached));
    TRY_MEMORY(!inside || add_from_outside(&reached));
    while (reached.left.count > 0)
        TRY_MEMORY(add_targets(&reached, reached.left.data[--reached.left.count]));
    *ret = reached.set;
    reached.set = NULL;
    return NULL;
}

/* ==== what goroutines at well-known locations mean ==== */

/* ---- names ---- */

/* Returns whether goroutine number number runs a function and waits in it, not in what it calls. A
 * function that ends in '*' stands for all whose names begin so. */
static bool waits_in(const struct findings *findings, uint32_t number, const char *function)
{
    const size_t size = strlen(function);
    struct stack_walk walk;
    struct g2h_view_call call;
    stack_walk_begin(&walk, findings->view, number, false);
    if (walk.goroutine.at == UINT32_MAX || !stack_walk_next(&walk, &call) ||
        !bytes_same(call.function, walk.goroutine.function))
        return false;
    return function[size - 1] != '*'
               ? bytes_are(call.function, function)
               : call.function.size >= size && memcmp(call.function.data, function, size - 1) == 0;
}

/* Returns whether a name is that of a class, with the path of its package or without. */
static bool pattern_is_class(const char *name, size_t size, const char *class)
{
    const size_t wanted = strlen(class);
    return size >= wanted && memcmp(name + size - wanted, class, wanted) == 0 &&
           (size == wanted || name[size - wanted - 1] == '/');
}

/* Returns whether a node of merged is objects of a class: see pattern_is_class(). */
static bool pattern_is_of_class(const struct findings *findings, uint32_t node, const char *class)
{
    size_t size;
    const char *name = merged_name(&findings->merged, node, &size);
    return findings_node(findings, node)->kind == MERGED_CLASS &&
           pattern_is_class(name, size, class);
}

/* ---- conditions of goroutines ---- */

/* The table's row of a pattern, and the place that it is tried for. */
struct pattern_try {
    const struct findings *findings;
    const char *class;
    uint32_t place, count; /* count: of goroutines */
    const uint32_t *list;
};

/* Returns whether goroutines are at a place that a pattern is about: at the place that is tried or,
 * with a function, at any place with its name. */
static bool pattern_is_place(const struct pattern_try *try, uint32_t node, const char *function)
{
    const struct findings *findings = try->findings;
    size_t size;
    if (!function)
        return node == try->place;
    if (!findings_is_kind(findings, node, G2H_NODE_GOROUTINES_IN_PLACE) &&
        !findings_is_kind(findings, node, G2H_NODE_GOROUTINE))
        return false;
    const char *name = merged_name(&findings->merged, node, &size);
    return memmem(name, size, function, strlen(function)) != NULL;
}

/* Counts the objects of the pattern's class that are below the places of goroutines in the tree,
 * and that nothing outside of these reaches. Parents come first in merged. */
static struct g2h_error *count_alone(const struct pattern_try *try, const char *function,
                                     uint64_t *ret)
{
    const struct findings *findings = try->findings;
    const struct merged *merged = &findings->merged;
    _cleanup_free_ uint64_t *reached = NULL;
    _cleanup_free_ bool *inside = calloc(merged->nodes.count + 1, sizeof(*inside));
    bool has_any = false;
    *ret = 0;
    TRY_MEMORY(inside);
    for (uint32_t i = 0; i < merged->nodes.count; i++) {
        const uint32_t parent = findings_node(findings, i)->parent;
        inside[i] = (parent != MERGED_NONE && inside[parent]) || pattern_is_place(try, i, function);
        has_any |= inside[i] && pattern_is_of_class(findings, i, try->class);
    }
    if (!has_any)
        return NULL;
    TRY(reached_find(findings, inside, &reached));
    for (uint32_t i = 0; i < merged->of_count; i++) {
        const uint32_t node = merged->of[i];
        if (node != MERGED_NONE && inside[node] && pattern_is_of_class(findings, node, try->class))
            *ret += !bits_have(reached, g2h_dominators_node(findings->dominators, i));
    }
    return NULL;
}

/* Counts the bodies of responses that cannot be closed any more. The goroutine that reads a
 * connection (readLoop) waits until the body of the response has been read or closed. If nothing
 * else leads to the body, nothing can do that: bodies that are not garbage, and not held by such a
 * goroutine alone, can still be closed. */
static struct g2h_error *count_unclosed(const struct pattern_try *try, uint64_t *ret)
{
    TRY(count_alone(try, ".readLoop", ret));
    *ret = MIN(*ret, try->count);
    return NULL;
}

/* Counts the objects that goroutines which wait until these are closed hold alone: nothing can
 * close them. */
static struct g2h_error *count_held_alone(const struct pattern_try *try, uint64_t *ret)
{
    TRY(count_alone(try, NULL, ret));
    *ret = MIN(*ret, try->count);
    return NULL;
}

/* Counts the objects of a pattern if there are MANY or more, else 0: few programs have as many of
 * these, and none has to. */
static struct g2h_error *count_many(const struct pattern_try *try, uint64_t *ret)
{
    enum { MANY = 10 };
    *ret = try->count >= MANY ? try->count : 0;
    return NULL;
}

/* ---- package time ---- */

CLEANUP_POINTER(pattern_destroy_values, struct g2h_values, g2h_values_destroy);

/* Returns whether the path of a value ends in a field's name, or several. */
static bool pattern_path_ends(const struct g2h_value *value, const char *end)
{
    const size_t size = strlen(end);
    return value->path_size >= size &&
           memcmp(value->path + value->path_size - size, end, size) == 0;
}

/* Returns the channel of a timer, a node of the view, if the timer is periodic, which is that of a
 * Ticker; else UINT32_MAX. The channel is the first word. */
static uint32_t ticker_channel(const struct findings *findings, struct g2h_values *values,
                               struct g2h_edges *edges, uint32_t timer)
{
    static const uint64_t OF_ZERO = UINT64_C(1) << 63; /* the order of a signed 0 */
    struct g2h_value value;
    struct g2h_edge edge;
    bool is_periodic = false;
    uint64_t number;
    g2h_values_begin(values, timer);
    while (g2h_values_next(values, &value))
        if (pattern_path_ends(&value, "period") && g2h_value_order(findings->view, &value, &number))
            is_periodic = number > OF_ZERO;
    g2h_edges_begin(edges, timer, timer + 1);
    while (is_periodic && g2h_edges_next(edges, &edge))
        if (edge.offset == 0)
            return edge.target;
    return UINT32_MAX;
}

/* Finds the channels of all Tickers: before Go 1.23 these are objects of their own class. Puts
 * their nodes into channels. */
static struct g2h_error *tickers_find(const struct findings *findings, struct map *channels)
{
    _cleanup_(pattern_destroy_values) struct g2h_values *values = NULL;
    _cleanup_(findings_destroy_edges) struct g2h_edges *edges = NULL;
    const uint32_t nodes = g2h_view_node_count(findings->view);
    uint32_t known;
    _cleanup_free_ bool *is_timer =
        calloc(g2h_view_name_count(findings->view) + (size_t)1, sizeof(*is_timer));
    TRY_MEMORY(is_timer);
    TRY(g2h_values_create(findings->view, &values));
    TRY(g2h_edges_create(findings->view, &edges));
    for (uint32_t i = 0; i < findings->merged.nodes.count; i++) {
        const uint32_t name = findings_node(findings, i)->name;
        if (name < g2h_view_name_count(findings->view) &&
            (pattern_is_of_class(findings, i, "runtime.timeTimer") ||
             pattern_is_of_class(findings, i, "time.Ticker") ||
             pattern_is_of_class(findings, i, "time.Timer")))
            is_timer[name] = true;
    }
    for (uint32_t i = 0; i < nodes; i++) {
        struct g2h_node node;
        g2h_view_brief(findings->view, i, &node);
        if (node.kind != G2H_NODE_OBJECT || node.name == G2H_NAME_NONE || !is_timer[node.name])
            continue;
        const uint32_t channel = ticker_channel(findings, values, edges, i);
        if (channel != UINT32_MAX)
            TRY_MEMORY(map_put(channels, channel, 1, &known));
    }
    return NULL;
}

/* Returns whether a goroutine waits for a tick, and for nothing else. */
static bool waits_for_tick(const struct findings *findings, struct g2h_edges *edges,
                           uint32_t number, const struct map *channels)
{
    static const char label[] = "waiting on";
    struct g2h_view_goroutine goroutine;
    struct g2h_edge edge;
    bool is_ticker = false;
    unsigned count = 0;
    g2h_view_goroutine(findings->view, number, &goroutine);
    g2h_edges_begin(edges, goroutine.node, goroutine.node + 1);
    while (g2h_edges_next(edges, &edge)) {
        size_t size;
        const char *name = g2h_view_name(findings->view, edge.name, &size);
        if (size != strlen(label) || memcmp(name, label, size) != 0)
            continue;
        is_ticker = map_get(channels, edge.target) != MAP_NONE;
        count++;
    }
    return is_ticker && count == 1;
}

/* Counts the goroutines that receive from the channel of a time.Ticker and wait for nothing else; 0
 * if there are fewer than MANY at the place, or no types, or if they do not receive. */
static struct g2h_error *count_ticking(const struct pattern_try *try, uint64_t *ret)
{
    _cleanup_(map_deinit) struct map channels = {0};
    _cleanup_(findings_destroy_edges) struct g2h_edges *edges = NULL;
    enum { MANY = 10 }; /* as for count_many() */
    struct g2h_view_goroutine goroutine;
    *ret = 0;
    if (try->count < MANY || !g2h_view_is_typed(try->findings->view))
        return NULL;
    g2h_view_goroutine(try->findings->view, try->list[0], &goroutine);
    if (!bytes_are(goroutine.record.wait_reason, "chan receive"))
        return NULL;
    TRY(tickers_find(try->findings, &channels));
    TRY(g2h_edges_create(try->findings->view, &edges));
    for (uint32_t i = 0; i < try->count; i++)
        *ret += waits_for_tick(try->findings, edges, try->list[i], &channels);
    return NULL;
}

/* ---- all patterns of goroutines ---- */

#define NO_BODY \
    "the body of a response from http.Client was not read to its end and closed: net/http keeps " \
    "the connection"

#define NO_CANCEL \
    "nothing has the context's cancel function any more, which ends them: go vet finds such calls"

static const struct {
    const char
        *function; /* that the goroutines run, and wait in, not in what it calls; NULL: any */
    struct g2h_error *(*count)(const struct pattern_try *try, uint64_t *ret);
    const char *class; /* of the object that they wait for */
    const char *meaning;
} patterns[] = {
    {"net/http.(*persistConn).readLoop", count_unclosed, "http.bodyEOFSignal", NO_BODY},
    {"net/http.(*persistConn).writeLoop", count_unclosed, "http.bodyEOFSignal", NO_BODY},
    {"database/sql.(*DB).connectionOpener", count_many, NULL,
     "each belongs to a sql.DB that is open: sql.Open makes one for the whole program, Close ends "
     "it"},
    {"database/sql.(*Rows).awaitDone", count_held_alone, "sql.Rows",
     "nothing else has the sql.Rows any more, which were neither read to their end nor closed: "
     "each keeps a connection"},
    {"database/sql.(*Tx).awaitDone", count_held_alone, "sql.Tx",
     "nothing else has the sql.Tx any more, which was neither committed nor rolled back: each "
     "keeps "
     "a connection"},
    {"context.(*cancelCtx).propagateCancel.func*", count_held_alone, "context.cancelCtx",
     NO_CANCEL},
    {"context.propagateCancel.func*", count_held_alone, "context.cancelCtx", NO_CANCEL},
    {"google.golang.org/grpc.newClientStream*", count_held_alone, "grpc.clientStream",
     "nothing else has the gRPC stream any more, which was not received from until io.EOF or an "
     "error: that, or its context's cancel function, ends it"},
    {NULL, count_ticking, NULL,
     "each receives from a time.Ticker and from nothing else: Stop does not end it, only its code "
     "after a tick can; a select with a channel that is closed ends it"},
};

/* Finds what goroutines in a place mean, by the table of patterns. The first pattern whose function
 * the first goroutine waits in decides, even if it then counts nothing. ret->meaning is NULL if
 * there is none. */
struct g2h_error *pattern_find(const struct findings *findings, uint32_t place, struct pattern *ret)
{
    struct pattern_try try = {.findings = findings, .place = place};
    try.list = stack_index_of(findings, place, &try.count);
    *ret = (struct pattern){.meaning = NULL};
    for (size_t i = 0; i < COUNT_OF(patterns) && try.count > 0; i++) {
        if (patterns[i].function && !waits_in(findings, try.list[0], patterns[i].function))
            continue;
        try.class = patterns[i].class;
        TRY(patterns[i].count(&try, &ret->count));
        ret->meaning = ret->count > 0 ? patterns[i].meaning : NULL;
        return NULL;
    }
    return NULL;
}

/* ---- conditions of objects ---- */

/* Returns a node of the view by its number in the order of dominators if it is merged in a node,
 * else UINT32_MAX. */
static uint32_t pattern_member(const struct findings *findings, uint32_t merged, uint32_t number)
{
    return findings->merged.of[number] == merged ? g2h_dominators_node(findings->dominators, number)
                                                 : UINT32_MAX;
}

/* Returns whether a node of the view belongs to package context: a context, or the memory of a map
 * of children. */
static bool contexts_are_of(const struct findings *findings, uint32_t number)
{
    struct g2h_node node;
    size_t size;
    g2h_view_brief(findings->view, number, &node);
    const char *name = findings_name_of(findings->view, number, &size);
    const struct g2h_bytes class = bytes_at(name, size);
    return node.kind == G2H_NODE_OBJECT &&
           (bytes_begin(class, "map[context.canceler]struct {}") || bytes_begin(class, "context."));
}

/* Removes the nodes from a set to which anything but contexts and their maps leads: a cancel
 * function, a frame that has one, or whoever may have one. */
static struct g2h_error *contexts_remove_used(const struct findings *findings, uint64_t *set)
{
    _cleanup_(findings_destroy_edges) struct g2h_edges *edges = NULL;
    const uint32_t nodes = g2h_view_node_count(findings->view);
    struct g2h_edge edge;
    TRY(g2h_edges_create(findings->view, &edges));
    for (uint32_t i = 0; i < nodes; i++) {
        bool is_asked = false; /* few nodes lead to the set, so only these are asked, and once */
        bool is_context = false;
        g2h_edges_begin_targets(edges, i, i + 1);
        while (g2h_edges_next(edges, &edge)) {
            if (!bits_have(set, edge.target) || !g2h_edge_leads(edge.flags))
                continue;
            is_context = is_asked ? is_context : contexts_are_of(findings, i);
            is_asked = true;
            if (!is_context)
                set[edge.target / 64] &= ~(UINT64_C(1) << edge.target % 64);
        }
    }
    return NULL;
}

/* Counts the contexts that nothing can cancel any more but their parent. */
static struct g2h_error *count_lost_contexts(const struct findings *findings, uint32_t node,
                                             uint64_t *ret)
{
    const uint32_t nodes = g2h_view_node_count(findings->view);
    _cleanup_free_ uint64_t *reached = NULL;
    _cleanup_free_ uint64_t *set = calloc(nodes / 64 + 1, sizeof(*set));
    TRY_MEMORY(set);
    for (uint32_t i = 0; i < findings->merged.of_count; i++) {
        const uint32_t member = pattern_member(findings, node, i);
        if (member < nodes)
            bits_add(set, member);
    }
    TRY(contexts_remove_used(findings, set));
    TRY(reached_find(findings, NULL, &reached));
    for (uint32_t i = 0; i < nodes; i++)
        *ret += bits_have(set, i) && !bits_have(reached, i);
    return NULL;
}

/* Counts the Tickers whose channel nothing else has. That the runtime's timers hold them, and not
 * the program, makes them lost. */
static struct g2h_error *count_lost_tickers(const struct findings *findings, uint32_t node,
                                            uint64_t *ret)
{
    _cleanup_(pattern_destroy_values) struct g2h_values *values = NULL;
    _cleanup_(findings_destroy_edges) struct g2h_edges *edges = NULL;
    _cleanup_free_ uint64_t *reached = NULL;
    TRY(g2h_values_create(findings->view, &values));
    TRY(g2h_edges_create(findings->view, &edges));
    TRY(reached_find(findings, NULL, &reached));
    for (uint32_t i = 0; i < findings->merged.of_count; i++) {
        const uint32_t member = pattern_member(findings, node, i);
        if (member == UINT32_MAX || bits_have(reached, member))
            continue;
        const uint32_t channel = ticker_channel(findings, values, edges, member);
        *ret += channel != UINT32_MAX && g2h_dominators_of(findings->dominators, channel) == member;
    }
    return NULL;
}

#define LOST_TICKERS \
    "nothing receives from these Tickers: before Go 1.23, or with GODEBUG=asynctimerchan=1, only " \
    "Stop frees one"

static const struct {
    const char *class, *holder; /* of the objects; what the class of what holds them begins with */
    struct g2h_error *(*count)(const struct findings *findings, uint32_t node, uint64_t *ret);
    const char *meaning;
} object_patterns[] = {
    {"context.cancelCtx", "map[context.canceler]struct {}", count_lost_contexts,
     "nothing has the cancel functions of these contexts any more: their parent keeps each until "
     "it "
     "ends itself. Call cancel when the work is done"},
    {"time.Ticker", "[]*runtime.timer", count_lost_tickers, LOST_TICKERS},
    {"runtime.timeTimer", "[]runtime.timerWhen", count_lost_tickers, LOST_TICKERS},
};

/* Finds what objects of a class mean below what holds them, by the table object_patterns; the first
 * row that fits decides. ret->meaning is NULL if there is none. */
struct g2h_error *pattern_find_objects(const struct findings *findings, uint32_t node,
                                       struct pattern *ret)
{
    const uint32_t parent = findings_node(findings, node)->parent;
    *ret = (struct pattern){.meaning = NULL};
    if (parent == MERGED_NONE)
        return NULL;
    for (size_t i = 0; i < COUNT_OF(object_patterns); i++) {
        size_t size;
        if (!pattern_is_of_class(findings, node, object_patterns[i].class))
            continue;
        const char *name = merged_name(&findings->merged, parent, &size);
        const struct g2h_bytes holder = bytes_at(name, size);
        if (!bytes_begin(holder, object_patterns[i].holder))
            continue;
        TRY(object_patterns[i].count(findings, node, &ret->count));
        ret->meaning = ret->count > 0 ? object_patterns[i].meaning : NULL;
        return NULL;
    }
    return NULL;
}
