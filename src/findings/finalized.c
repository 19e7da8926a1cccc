/* finalized; see finalized.h. */
#include "findings/finalized.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/scope.h"
#include "findings/expression.h"

enum { MOST_DOMINATORS = 1024 };

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
    for (unsigned i = 0; node != 0 && i < MOST_DOMINATORS && !is_held; i++) {
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

/* Finds the object of a finalizer, and its function; UINT32_MAX if it has none. */
static void read_finalizer(const struct findings *findings, uint32_t finalizer,
                           uint32_t *ret_object, uint32_t *ret_function)
{
    struct g2h_edges *edges = paths_edges(findings->paths);
    struct g2h_edge edge;
    size_t size;
    *ret_object = *ret_function = UINT32_MAX;
    g2h_edges_begin(edges, finalizer, finalizer + 1);
    while (g2h_edges_next(edges, &edge)) {
        const char *name = g2h_view_name(findings->view, edge.name, &size);
        if (size == 6 && memcmp(name, "object", size) == 0)
            *ret_object = edge.target;
        else if (size == 2 && memcmp(name, "fn", size) == 0)
            *ret_function = edge.target;
    }
}

/* Returns the object that a cleanup is for, by a node that is kept for it, or UINT32_MAX. */
static uint32_t read_cleanup(const struct findings *findings, uint32_t node)
{
    struct g2h_edges *edges = paths_edges(findings->paths);
    static const char of[] = "cleanup of";
    struct g2h_edge edge;
    size_t size;
    g2h_edges_begin(edges, node, node + 1);
    while (g2h_edges_next(edges, &edge)) {
        const char *name = g2h_view_name(findings->view, edge.name, &size);
        if ((edge.flags & G2H_EDGE_WEAK) != 0 && size == sizeof(of) - 1 &&
            memcmp(name, of, size) == 0)
            return edge.target;
    }
    return UINT32_MAX;
}

/* Sets *ret to why a finalizer or a cleanup never runs: the object, or the function that is to be
 * called, reaches the object itself, which therefore never becomes unreachable. */
static struct g2h_error *find_reason(const struct findings *findings, const struct keeper *keeper,
                                     enum finalized *ret)
{
    const bool is_finalizer = keeper->finalizer != UINT32_MAX;
    uint32_t object = UINT32_MAX, function = UINT32_MAX;
    bool is_own = false, is_kept = false;
    if (is_finalizer)
        read_finalizer(findings, keeper->finalizer, &object, &function);
    else
        object = read_cleanup(findings, function = keeper->for_cleanup);
    if (object != UINT32_MAX && is_finalizer)
        TRY(path_leads(findings->paths, object, object, &is_own));
    if (object != UINT32_MAX && function != UINT32_MAX && !is_own)
        TRY(path_leads(findings->paths, function, object, &is_kept));
    *ret = is_own         ? FINALIZED_SELF
           : !is_kept     ? FINALIZED_CAN_RUN
           : is_finalizer ? FINALIZED_BY_FUNCTION
                          : FINALIZED_BY_CLEANUP;
    return NULL;
}

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

/* The functions that a goroutine of the runtime begins with to run finalizers or cleanups. */
static const struct {
    const char *function, *runs;
} runners[] = {{"runtime.runCleanups", "cleanups"}, /* Go 1.25 */
               {"runtime.runFinalizers", "finalizers"},
               {"runtime.runfinq", "finalizers and cleanups"}}; /* until Go 1.24 */

/* Returns the function of a frame. */
static struct g2h_bytes function_at(const struct findings *findings, size_t number)
{
    struct g2h_view_frame frame;
    size_t size;
    g2h_view_frame(findings->view, number, &frame);
    const char *name = findings_name_of(findings->view, frame.node, &size);
    return (struct g2h_bytes){(const uint8_t *)name, expression_without_line(name, size)};
}

/* Sets *ret to the function that a goroutine waits in, if it runs finalizers or cleanups. Frames
 * begin with the innermost one. */
static void read_runner(const struct findings *findings, size_t number,
                        struct finalized_blocker *ret)
{
    struct g2h_view_goroutine goroutine;
    struct g2h_bytes program = {0};
    g2h_view_goroutine(findings->view, number, &goroutine);
    for (uint32_t i = 0; i < goroutine.frame_count; i++) {
        const struct g2h_bytes function = function_at(findings, goroutine.first_frame + i);
        for (size_t j = 0; j < sizeof(runners) / sizeof(*runners) && program.size > 0; j++)
            if (bytes_are(function, runners[j].function))
                *ret = (struct finalized_blocker){goroutine.node, runners[j].runs,
                                                  (const char *)program.data, program.size};
        if (program.size == 0 && !bytes_begin(function, "runtime."))
            program = function;
    }
}

/* Returns whether a finalizer or a cleanup dominates a node: it is freed only after that has
 * run. */
static bool waits_for_its_end(const struct findings *findings, uint32_t node)
{
    struct g2h_node read;
    for (unsigned i = 0; node != 0 && i < MOST_DOMINATORS; i++) {
        g2h_view_brief(findings->view, node, &read);
        if (read.kind == G2H_NODE_FINALIZERS || read.kind == G2H_NODE_QUEUED_FINALIZERS ||
            read.kind == G2H_NODE_CLEANUP)
            return true;
        node = g2h_dominators_of(findings->dominators, node);
    }
    return false;
}

void finalized_find_blocker(const struct findings *findings, uint32_t node,
                            struct finalized_blocker *ret)
{
    const size_t count = g2h_view_goroutine_count(findings->view);
    *ret = (struct finalized_blocker){.goroutine = UINT32_MAX};
    if (!waits_for_its_end(findings, node))
        return;
    for (size_t i = 0; i < count && ret->goroutine == UINT32_MAX; i++)
        read_runner(findings, i, ret);
}
