/* stacks: what is said of goroutines' stacks, and of goroutines that have ended; see sections.h. */
#include <stdlib.h>
#include <string.h>

#include "base/scope.h"
#include "output/report/sections.h"

/* ---- the functions on a stack ---- */

/* The frames of a goroutine by their functions. */
struct frames {
    uint64_t count;
    struct map by_function; /* hash of a function's name → index in times */
    VECTOR(uint64_t) times;
    uint64_t most;    /* the most frames that a function has */
    uint32_t example; /* one of these: a node of the view */
};

static void frames_deinit(struct frames *frames)
{
    map_deinit(&frames->by_function);
    free(frames->times.data);
}

/* Returns the name of a frame without its line: "main.walk" of "main.walk walk.go:17". */
static const char *function_of(const struct report *report, uint32_t frame, size_t *ret_size)
{
    struct g2h_node node;
    g2h_view_brief(report->view, frame, &node);
    const char *name = g2h_view_name(report->view, node.name, ret_size);
    const char *space = *ret_size > 0 ? memrchr(name, ' ', *ret_size) : NULL;
    if (space && memchr(space, ':', *ret_size - (size_t)(space - name)))
        *ret_size = (size_t)(space - name);
    return name;
}

static bool count_frame(struct frames *frames, const struct report *report, uint32_t frame)
{
    const uint32_t number = (uint32_t)frames->times.count;
    size_t size;
    uint32_t at;
    const char *name = function_of(report, frame, &size);
    frames->count++;
    if (!map_put(&frames->by_function, map_hash_text(name, size), number, &at) ||
        (at == number && !vector_push(&frames->times, 0)))
        return false;
    if (++frames->times.data[at] > frames->most) {
        frames->most = frames->times.data[at];
        frames->example = frame;
    }
    return true;
}

static struct g2h_error *count_frames(struct frames *frames, const struct report *report,
                                      struct g2h_edges *edges, uint32_t goroutine)
{
    struct g2h_edge edge;
    struct g2h_node target;
    g2h_edges_begin(edges, goroutine, goroutine + 1);
    while (g2h_edges_next(edges, &edge)) {
        g2h_view_brief(report->view, edge.target, &target);
        if (target.kind == G2H_NODE_FRAME)
            TRY_MEMORY(count_frame(frames, report, edge.target));
    }
    return NULL;
}

static void destroy_edges(struct g2h_edges **edges)
{
    g2h_edges_destroy(*edges);
}

struct g2h_error *report_put_frames(const struct report *report, uint32_t goroutine)
{
    enum { DEEP = 100 }; /* frames from which on a stack is worth a word */
    _cleanup_(frames_deinit) struct frames frames = {0};
    _cleanup_(destroy_edges) struct g2h_edges *edges = NULL;
    struct page *page = report->page;
    size_t size;
    TRY(g2h_edges_create(report->view, &edges));
    TRY(count_frames(&frames, report, edges, goroutine));
    if (frames.count < DEEP)
        return NULL;
    const char *name = function_of(report, frames.example, &size);
    page_open(page, "frames");
    PAGE_PUT(page, "      frames      %, % of them of %\n", page_count("count", frames.count),
             page_count("most", frames.most), page_text("function", name, size));
    page_close(page);
    return NULL;
}

/* ---- goroutines that have ended ---- */

/* The objects of class runtime.g that are in use. */
struct living {
    const struct report *report;
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

static bool is_class(const struct report *report, uint32_t node, const char *name)
{
    size_t size;
    const char *text = merged_name(&report->merged, node, &size);
    return report_node(report, node)->kind == MERGED_CLASS && size == strlen(name) &&
           memcmp(text, name, size) == 0;
}

static struct g2h_error *find_nodes(struct living *living)
{
    const struct report *report = living->report;
    const uint32_t count = (uint32_t)report->merged.nodes.count;
    living->is_of = calloc(count, sizeof(*living->is_of));
    TRY_MEMORY(living->is_of);
    for (uint32_t i = 0; i < count; i++)
        living->is_of[i] = report_is_kind(report, i, G2H_NODE_GOROUTINE) ||
                           is_class(report, i, "runtime.g") || is_class(report, i, "runtime.m") ||
                           is_class(report, i, "runtime.mPadded");
    return NULL;
}

/* Marks the objects of class runtime.g that a goroutine or an M has. */
static struct g2h_error *mark_living(struct living *living, uint32_t number)
{
    const struct g2h_view *view = living->report->view;
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

static struct g2h_error *count_ended(struct living *living, struct ended *ret)
{
    const struct report *report = living->report;
    uint64_t bytes = 0;
    for (uint32_t number = 0; number < report->merged.of_count; number++) {
        const uint32_t merged = report->merged.of[number];
        if (merged == MERGED_NONE || !living->is_of[merged])
            continue;
        const uint32_t node = g2h_dominators_node(report->dominators, number);
        struct g2h_node read;
        if (node == UINT32_MAX)
            continue;
        g2h_view_brief(report->view, node, &read);
        if (read.kind == G2H_NODE_OBJECT && read.name == living->name) {
            ret->count += read.members > 0 ? read.members : 1;
            bytes += read.size;
        } else {
            TRY(mark_living(living, node));
        }
    }
    const uint64_t each = ret->count > 0 ? bytes / ret->count : 0;
    ret->count -= living->nodes.count < ret->count ? living->nodes.count : ret->count;
    ret->bytes = each * ret->count;
    return NULL;
}

struct g2h_error *report_find_ended(const struct report *report, struct ended *ret)
{
    static const char name[] = "runtime.g";
    _cleanup_(living_deinit) struct living living = {.report = report};
    *ret = (struct ended){0};
    if (!g2h_view_find_name(report->view, name, sizeof(name) - 1, &living.name))
        return NULL;
    TRY(find_nodes(&living));
    TRY(g2h_edges_create(report->view, &living.edges));
    return count_ended(&living, ret);
}
