/* expression; see expression.h. */
#include "findings/expression.h"

#include <inttypes.h>
#include <string.h>

#include <go2heapsnapshot/heap.h>

#include "base/scope.h"
#include "findings/findings.h"

enum {
    MOST_EDGES = 1000000, /* edges of a node that find_edge() reads at most */
    MOST_STEPS = 24,      /* of a longer path the middle is left out */
};

struct steps {
    const struct g2h_view *view;
    struct g2h_edges *edges;
    const uint32_t *nodes;
    size_t count;
};

static bool ends_in(const char *text, size_t size, const char *end)
{
    const size_t count = strlen(end);
    return size >= count && memcmp(text + size - count, end, count) == 0;
}

/* Returns whether a node is memory in which the runtime keeps a map's entries. */
static bool is_entries(const struct steps *steps, uint32_t node)
{
    size_t size;
    const char *name = findings_name_of(steps->view, node, &size);
    return ends_in(name, size, " entries");
}

/* Finds the first strong edge from one node to another; of a frame the last one, which belongs to a
 * variable that has a name. */
static bool find_edge(const struct steps *steps, uint32_t from, uint32_t to, struct g2h_edge *ret)
{
    const bool is_frame = findings_kind_of(steps->view, from) == G2H_NODE_FRAME;
    bool is_found = false;
    struct g2h_edge edge;
    g2h_edges_begin(steps->edges, from, from + 1);
    for (uint32_t i = 0; i < MOST_EDGES && g2h_edges_next(steps->edges, &edge); i++)
        if (edge.target == to && (edge.flags & G2H_EDGE_WEAK) == 0) {
            *ret = edge;
            is_found = true;
            if (!is_frame)
                break;
        }
    return is_found;
}

static void append_edge(const struct steps *steps, const struct g2h_edge *edge, struct text *text)
{
    struct g2h_key_name key;
    size_t size;
    const enum g2h_key kind = g2h_edges_key(steps->edges, edge, &key);
    const char *name = g2h_view_name(steps->view, edge->name, &size);
    if (kind == G2H_KEY_TEXT) {
        text_append(text, key.text, key.size);
    } else if (kind == G2H_KEY_INDEX || (edge->flags & G2H_EDGE_BY_INDEX) != 0) {
        text_printf(text, "[%" PRIu64 "]", kind == G2H_KEY_INDEX ? key.index : edge->index);
    } else {
        if (text->size > 0 && size > 0 && name[0] != '[' && text->data[text->size - 1] != '.')
            text_append(text, ".", 1);
        text_append(text, name, size);
    }
}

/* Appends what a path begins with: "main." for a package. For a frame, and for other roots that
 * have names, appends to whose instead: "local of" and the frame's name, or the root's name. For
 * all other nodes, appends nothing. */
static void append_root(const struct steps *steps, uint32_t node, struct text *text,
                        struct text *whose)
{
    size_t size;
    const enum g2h_node_kind kind = findings_kind_of(steps->view, node);
    const char *name = findings_name_of(steps->view, node, &size);
    if (kind == G2H_NODE_PACKAGE) {
        text_append(text, name, size);
        text_append(text, ".", 1);
    } else if (kind == G2H_NODE_FRAME) {
        text_printf(whose, "local of ");
        text_append(whose, name, size);
    } else if (kind == G2H_NODE_OTHER_ROOTS || kind == G2H_NODE_FINALIZER ||
               kind == G2H_NODE_QUEUED_FINALIZER || kind == G2H_NODE_DEFER ||
               kind == G2H_NODE_DEFERRED_CALLS || kind == G2H_NODE_PANIC ||
               kind == G2H_NODE_CLEANUP) {
        text_append(whose, name, size);
    }
}

/* Splits the name of a frame's word that another function has: "c (argument of runtime.chanrecv)"
 * becomes "c", and whose becomes "argument of runtime.chanrecv". */
static void split_argument(struct text *text, struct text *whose)
{
    static const char of[] = " (argument of ";
    const char *found = text->size > 0 ? memmem(text->data, text->size, of, sizeof(of) - 1) : NULL;
    if (!found || text->data[text->size - 1] != ')')
        return;
    const size_t begin = (size_t)(found - text->data);
    whose->size = 0;
    text_append(whose, found + strlen(" ("), text->size - begin - strlen(" ()"));
    text->size = begin;
}

size_t expression_without_line(const char *name, size_t size)
{
    const char *space = size > 0 ? memrchr(name, ' ', size) : NULL;
    return space && memchr(space, ':', size - (size_t)(space - name)) ? (size_t)(space - name)
                                                                      : size;
}

/*
 * Says which global a word is of which only the code is known that uses it: "global set by main.add
 * cache.go:31 (0x574f20)" becomes "the global that main.add sets (0x574f20)", without the package.
 * Returns false, and appends nothing, for all other words.
 */
static bool append_unnamed(const struct steps *steps, const struct g2h_edge *edge,
                           struct text *text)
{
    static const struct {
        const char *begin, *verb;
    } uses[] = {{"global set by ", "sets"},
                {"global initialized by ", "initializes"},
                {"global used by ", "uses"}};
    size_t size;
    const char *name = g2h_view_name(steps->view, edge->name, &size);
    for (size_t i = 0; i < sizeof(uses) / sizeof(uses[0]); i++) {
        const size_t begin = strlen(uses[i].begin);
        if (size <= begin || memcmp(name, uses[i].begin, begin) != 0)
            continue;
        const char *function = name + begin, *address = memrchr(name, '(', size);
        if (!address || address <= function)
            return false;
        text->size = 0;
        text_printf(text, "the global that ");
        text_append(text, function,
                    expression_without_line(function, (size_t)(address - 1 - function)));
        text_printf(text, " %s ", uses[i].verb);
        text_append(text, address, (size_t)(name + size - address));
        return true;
    }
    return false;
}

static void append_steps(const struct steps *steps, size_t from, struct text *text,
                         struct text *whose)
{
    const uint32_t *way = steps->nodes;
    const size_t count = steps->count;
    for (size_t i = from; i + 1 < count; i++) {
        struct g2h_edge edge;
        if (i - from == MOST_STEPS / 2 && count - i > MOST_STEPS / 2) {
            text_printf(text, " … ");
            i = count - MOST_STEPS / 2;
        }
        if (is_entries(steps, way[i + 1]))
            continue;
        if (find_edge(steps, way[i], way[i + 1], &edge)) {
            if (i != from || !append_unnamed(steps, &edge, text))
                append_edge(steps, &edge, text);
        } else
            text_printf(text, " … ");
        if (i == from && findings_kind_of(steps->view, way[i]) == G2H_NODE_FRAME)
            split_argument(text, whose);
    }
}

static void append_whose(struct text *text, const struct text *whose)
{
    if (whose->size == 0)
        return;
    text_printf(text, "  (");
    text_append(text, whose->data, whose->size);
    text_append(text, ")", 1);
}

struct g2h_error *expression_append(const struct g2h_view *view, struct g2h_edges *edges,
                                    const uint32_t *nodes, size_t count, struct text *text)
{
    const struct steps all = {view, edges, nodes, count}, *steps = &all;
    _cleanup_(text_deinit) struct text whose = {0};
    const uint32_t synthetic = (uint32_t)g2h_view_account(steps->view)->synthetic_nodes;
    size_t last = steps->count;
    for (size_t i = 0; i < steps->count && steps->nodes[i] < synthetic; i++)
        last = i;
    if (last + 1 >= steps->count)
        return NULL;
    append_root(steps, steps->nodes[last], text, &whose);
    append_steps(steps, last, text, &whose);
    append_whose(text, &whose);
    TRY_MEMORY(!whose.failed && !text->failed);
    return NULL;
}

bool expression_append_step(const struct g2h_view *view, struct g2h_edges *edges, uint32_t from,
                            uint32_t to, struct text *text)
{
    const struct steps steps = {.view = view, .edges = edges};
    struct g2h_edge edge;
    const bool is_found = find_edge(&steps, from, to, &edge);
    if (is_found)
        append_edge(&steps, &edge, text);
    return is_found;
}

struct g2h_error *expression_append_pointer(const struct g2h_view *view, struct g2h_edges *edges,
                                            const struct g2h_edge *edge, struct text *text)
{
    const struct steps steps = {.view = view, .edges = edges};
    _cleanup_(text_deinit) struct text whose = {0};
    append_root(&steps, edge->source, text, &whose);
    if (text->size == 0 && whose.size == 0)
        return NULL;
    if (!append_unnamed(&steps, edge, text))
        append_edge(&steps, edge, text);
    if (findings_kind_of(steps.view, edge->source) == G2H_NODE_FRAME)
        split_argument(text, &whose);
    append_whose(text, &whose);
    TRY_MEMORY(!whose.failed && !text->failed);
    return NULL;
}

bool expression_hides(const struct g2h_view *view, uint32_t node)
{
    return is_entries(&(struct steps){.view = view}, node);
}
