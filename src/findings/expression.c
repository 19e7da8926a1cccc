/* expression; see expression.h. */
#include "base/port.h"
#include "findings/expression_parts.h"

#include <inttypes.h>
#include <string.h>

#include <go2heapsnapshot/heap.h>

#include "base/scope.h"
#include "findings/findings.h"

enum {
    MOST_EDGES = 1000000, /* edges of a node that find_edge() reads at most */
    MOST_STEPS = 24,      /* of a longer path the middle is left out */
};

bool expression_hides(const struct g2h_view *view, uint32_t node)
{
    struct g2h_node read;
    g2h_view_brief(view, node, &read);
    return findings_is_entries(view, read.name);
}

/* Sets *ret to the first strong edge from one node to another. Of a frame it takes the last one,
 * since edges for named variables come after those for unnamed stack words. Returns false if there
 * is none. */
static bool find_edge(const struct g2h_view *view, struct g2h_edges *edges, uint32_t from,
                      uint32_t to, struct g2h_edge *ret)
{
    const bool is_frame = findings_kind_of(view, from) == G2H_NODE_FRAME;
    bool is_found = false;
    struct g2h_edge edge;
    g2h_edges_begin(edges, from, from + 1);
    for (uint32_t i = 0; i < MOST_EDGES && g2h_edges_next(edges, &edge); i++)
        if (edge.target == to && g2h_edge_leads(edge.flags)) {
            *ret = edge;
            is_found = true;
            if (!is_frame)
                break;
        }
    return is_found;
}

/* A key of a map is appended as it is ("[\"a\"]"), an element by its index, and a field by its
 * name, after a dot unless it begins with a bracket. */
void expression_append_edge(const struct g2h_view *view, struct g2h_edges *edges,
                            const struct g2h_edge *edge, struct text *text)
{
    struct g2h_key_name key;
    size_t size;
    const enum g2h_key kind = g2h_edges_key(edges, edge, &key);
    const char *name = g2h_view_name(view, edge->name, &size);
    if (kind == G2H_KEY_TEXT) {
        text_append(text, key.text, key.size);
    } else if (kind == G2H_KEY_INDEX || (edge->flags & G2H_EDGE_BY_INDEX) != 0) {
        text_printf(text, "[%" PRIu64 "]", kind == G2H_KEY_INDEX ? key.index : edge->index);
    } else {
        if (text->size > 0 && size > 0 && name[0] != '[' && text->data[text->size - 1] != '.')
            text_append_string(text, ".");
        text_append(text, name, size);
    }
}

/* Appends what a path begins with: "main." for a package. For a frame, a goroutine, and other roots
 * that have names, appends to whose instead: "local of" and the frame's name, or the root's name.
 * For all other nodes, appends nothing. */
static void append_root(const struct g2h_view *view, uint32_t node, struct text *text,
                        struct text *whose)
{
    size_t size;
    const enum g2h_node_kind kind = findings_kind_of(view, node);
    const char *name = findings_name_of(view, node, &size);
    if (kind == G2H_NODE_PACKAGE) {
        text_append(text, name, size);
        text_append_string(text, ".");
    } else if (kind == G2H_NODE_FRAME) {
        text_printf(whose, "local of ");
        text_append(whose, name, size);
    } else if (kind == G2H_NODE_OTHER_ROOTS || kind == G2H_NODE_GOROUTINE ||
               kind == G2H_NODE_FINALIZER || kind == G2H_NODE_QUEUED_FINALIZER ||
               kind == G2H_NODE_DEFER || kind == G2H_NODE_DEFERRED_CALLS ||
               kind == G2H_NODE_PANIC || kind == G2H_NODE_CLEANUP) {
        text_append(whose, name, size);
    }
}

/* Appends what the runtime keeps for a cleanup: "argument" of "argument *main.conn?", to which
 * whose adds "of a cleanup"; or "function". The edge's index is not informative. */
static void append_cleanup(const struct g2h_view *view, uint32_t cleanup, struct text *text,
                           struct text *whose)
{
    static const char argument[] = "argument ";
    size_t size;
    const char *name = findings_name_of(view, cleanup, &size);
    const bool is_argument =
        size >= sizeof(argument) - 1 && memcmp(name, argument, sizeof(argument) - 1) == 0;
    append_root(view, cleanup, text, whose);
    text_printf(text, is_argument ? "argument" : "function");
    if (is_argument)
        text_printf(whose, " of a cleanup");
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
 * Names a global without a symbol by the code that uses it: "global set by main.add cache.go:31
 * (0x574f20)" becomes "the global set by main.add (0x574f20)", without the package. Returns
 * false, and appends nothing, for all other words.
 */
static bool append_unnamed(const struct g2h_view *view, const struct g2h_edge *edge,
                           struct text *text)
{
    static const char the[] = "the ", *const uses[] = {"global set by ", "global initialized by ",
                                                       "global used by "};
    size_t size;
    const char *name = g2h_view_name(view, edge->name, &size);
    for (size_t i = 0; i < sizeof(uses) / sizeof(uses[0]); i++) {
        const size_t begin = strlen(uses[i]);
        if (size <= begin || memcmp(name, uses[i], begin) != 0)
            continue;
        const char *function = name + begin, *address = memrchr(name, '(', size);
        if (!address || address <= function)
            return false;
        text->size = 0;
        text_append(text, the, sizeof(the) - 1);
        text_append(text, name,
                    begin + expression_without_line(function, (size_t)(address - 1 - function)));
        text_append_string(text, " ");
        text_append(text, address, (size_t)(name + size - address));
        return true;
    }
    return false;
}

/* A frame may have the header of a map as a variable, so that name is not hidden there. */
void expression_append_first(const struct g2h_view *view, struct g2h_edges *edges,
                             const struct g2h_edge *edge, struct text *text, struct text *whose)
{
    if (findings_kind_of(view, edge->source) == G2H_NODE_CLEANUP) {
        append_cleanup(view, edge->source, text, whose);
        return;
    }
    const bool is_frame = findings_kind_of(view, edge->source) == G2H_NODE_FRAME;
    append_root(view, edge->source, text, whose);
    if ((is_frame || !expression_hides(view, edge->target)) && !append_unnamed(view, edge, text))
        expression_append_edge(view, edges, edge, text); /* a frame may have a map's header */
    if (is_frame)
        split_argument(text, whose);
}

/* Appends an ellipsis, unless the path ends in one. */
static void append_ellipsis(struct text *text)
{
    static const char ellipsis[] = " … ";
    const size_t size = sizeof(ellipsis) - 1;
    if (text->size < size || memcmp(text->data + text->size - size, ellipsis, size) != 0)
        text_append(text, ellipsis, size);
}

/* Appends the names of the edges between nodes, the first of which is an object. The middle of a
 * long path is left out, and of consecutive steps with the same name, as in a list, all but the
 * first. */
static void append_steps(const struct g2h_view *view, struct g2h_edges *edges,
                         const uint32_t *nodes, size_t count, struct text *text)
{
    const bool is_long = count > MOST_STEPS;
    uint32_t last = G2H_NAME_NONE;
    for (size_t i = 0; i + 1 < count; i++) {
        struct g2h_edge edge;
        if (i + 1 == MOST_STEPS / 2 && count - i > MOST_STEPS / 2) {
            append_ellipsis(text);
            i = count - MOST_STEPS / 2;
        }
        if (expression_hides(view, nodes[i + 1]))
            continue;
        const bool is_found = find_edge(view, edges, nodes[i], nodes[i + 1], &edge);
        if (!is_found || (is_long && edge.name == last && (edge.flags & G2H_EDGE_BY_INDEX) == 0))
            append_ellipsis(text);
        else
            expression_append_edge(view, edges, &edge, text);
        last = is_found ? edge.name : G2H_NAME_NONE;
    }
}

/* Appends the owner of the variable, "  (local of main.serve main.go:12)", if there is one. */
static void append_whose(struct text *text, const struct text *whose)
{
    if (whose->size == 0)
        return;
    text_printf(text, "  (");
    text_append(text, whose->data, whose->size);
    text_append_string(text, ")");
}

/* Splits the path at its first object: the edge into it names the variable, and the edges after it
 * are fields, keys and elements. */
struct g2h_error *expression_append(const struct g2h_view *view, struct g2h_edges *edges,
                                    const uint32_t *nodes, size_t count, struct text *text)
{
    _cleanup_(text_deinit) struct text whose = {0};
    const uint32_t synthetic = (uint32_t)g2h_view_account(view)->synthetic_nodes;
    struct g2h_edge edge;
    size_t objects = 0; /* nodes before the first object */
    while (objects < count && nodes[objects] < synthetic)
        objects++;
    if (objects == 0 || objects == count)
        return NULL;
    if (find_edge(view, edges, nodes[objects - 1], nodes[objects], &edge)) {
        expression_append_first(view, edges, &edge, text, &whose);
    } else {
        append_root(view, nodes[objects - 1], text, &whose);
        text_printf(text, " … ");
    }
    append_steps(view, edges, nodes + objects, count - objects, text);
    append_whose(text, &whose);
    TRY_MEMORY(!whose.failed && !text->failed);
    return NULL;
}

bool expression_append_step(const struct g2h_view *view, struct g2h_edges *edges, uint32_t from,
                            uint32_t to, struct text *text)
{
    struct g2h_edge edge;
    const bool is_found = find_edge(view, edges, from, to, &edge);
    if (is_found)
        expression_append_edge(view, edges, &edge, text);
    return is_found;
}

/* The first append_root() only tests whether the edge begins at a named root, and is then
 * undone. */
struct g2h_error *expression_append_pointer(const struct g2h_view *view, struct g2h_edges *edges,
                                            const struct g2h_edge *edge, struct text *text)
{
    _cleanup_(text_deinit) struct text whose = {0};
    append_root(view, edge->source, text, &whose);
    if (text->size == 0 && whose.size == 0)
        return NULL;
    text->size = whose.size = 0;
    expression_append_first(view, edges, edge, text, &whose);
    append_whose(text, &whose);
    TRY_MEMORY(!whose.failed && !text->failed);
    return NULL;
}
