/*
 * path: how a program gets to an object: main.cache.items["a"]; see path.h. The parts of the file,
 * each of which uses those before it:
 *
 * path_search      a breadth-first search from a node along the edges that hold
 * expression       writes a path of nodes as a Go expression
 * expression_read  finds the node that such an expression leads to
 * path             the best path to an object, from each of its dominators to the next
 * retainers        the nodes that point to a node, by class and field
 *
 * Scope: which edges a search may follow (enum path_scope), as only those from global variables.
 */
#include "findings/path.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <go2heapsnapshot/heap.h>

#include "base/contract.h"
#include "base/error.h"
#include "base/port.h"
#include "findings/class_rows.h"
#include "findings/findings.h"
#include "findings/merged.h"

/* ==== path_search ==== */

enum { EDGES_PER_NODE = 5 };

/* Returns the uses of the name of a package or a frame: enum g2h_name_use. */
static unsigned uses_of(const struct g2h_view *view, uint32_t number)
{
    struct g2h_node node;
    g2h_view_brief(view, number, &node);
    return g2h_view_name_uses(view, node.name);
}

/* Returns whether the search goes by a node that is not an object: never by stacks, creation sites
 * and garbage; by frames of a library not with PATH_OWN; by packages of the runtime not with the
 * scopes up to PATH_FRAMES; and by what is not a global variable, or above one, not with
 * PATH_PROGRAM and PATH_GLOBALS. */
static bool is_synthetic_in_scope(const struct path_search *search, uint32_t node)
{
    const struct g2h_view *view = search->view;
    const enum path_scope scope = search->scope;
    const enum g2h_node_kind kind = findings_kind_of(view, node);
    if (kind == G2H_NODE_STACK || kind == G2H_NODE_CREATION_SITE || kind == G2H_NODE_UNREACHABLE)
        return false;
    if (scope == PATH_OWN && kind == G2H_NODE_FRAME &&
        (uses_of(view, node) & G2H_NAME_OF_LIBRARY) != 0)
        return false;
    if (scope <= PATH_FRAMES && kind == G2H_NODE_PACKAGE &&
        (uses_of(view, node) & G2H_NAME_OF_RUNTIME) != 0)
        return false;
    if (scope != PATH_PROGRAM && scope != PATH_GLOBALS)
        return true;
    return kind == G2H_NODE_GLOBALS || kind == G2H_NODE_PACKAGE || kind == G2H_NODE_VARIABLE ||
           kind == G2H_NODE_DATA || kind == G2H_NODE_BSS;
}

/* Returns whether the search follows an edge; see enum path_scope. In short: weak edges only with
 * PATH_POINTERS; doubtful ones only if the scope is not about certain paths; added ones, and those
 * to what a view is not about, only with PATH_STRONG and PATH_POINTERS; and those to nodes that are
 * not objects if is_synthetic_in_scope() says so. */
static bool is_in_scope(const struct path_search *search, const struct g2h_edge *edge)
{
    const struct g2h_view *view = search->view;
    const uint64_t synthetic = g2h_view_account(view)->first_object;
    const enum path_scope scope = search->scope;
    const bool is_certain = scope == PATH_PROGRAM || scope == PATH_OWN || scope == PATH_FRAMES ||
                            scope == PATH_CERTAIN || scope == PATH_CERTAIN_FIRST;
    if (!(scope == PATH_POINTERS ? g2h_edge_leads(edge->flags) : g2h_edge_holds(edge->flags)) ||
        (is_certain && (edge->flags & G2H_EDGE_DOUBTFUL) != 0))
        return false;
    if (scope == PATH_STRONG || scope == PATH_POINTERS)
        return true;
    if ((edge->flags & G2H_EDGE_ADDED) != 0 ||
        (g2h_view_under(view) && findings_kind_of(view, edge->target) == G2H_NODE_ELSE))
        return false;
    return edge->target >= synthetic || is_synthetic_in_scope(search, edge->target);
}

/* Records that a node was reached from the node with index from, unless it has been reached before,
 * by a path that is not longer. Returns false if memory runs out. */
static bool visit(struct path_search *search, uint32_t node, uint32_t from)
{
    uint32_t index = as_u32(search->visited.count);
    if (search->seen_by_node) {
        if (search->seen_by_node[node] != 0)
            return true;
        search->seen_by_node[node] = index + 1;
    } else if (!map_put(&search->seen, node, index, &index)) {
        return false;
    }
    return index < search->visited.count ||
           vector_push(&search->visited, ((struct path_visit){node, from}));
}

/* Begins a search from a node along edges. Without a limit most nodes will be visited, so an array
 * by node replaces the hash table. */
struct g2h_error *path_search_begin(struct path_search *search, const struct g2h_view *view,
                                    struct g2h_edges *edges, uint32_t from, enum path_scope scope,
                                    uint32_t most_nodes)
{
    *search = (struct path_search){.view = view,
                                   .edges = edges,
                                   .scope = scope,
                                   .most_nodes = most_nodes,
                                   .most_edges = (uint64_t)most_nodes * EDGES_PER_NODE};
    if (most_nodes == PATH_NO_LIMIT) {
        search->most_edges = UINT64_MAX;
        search->seen_by_node = large_alloc(g2h_view_node_count(view), sizeof(uint32_t));
        TRY_MEMORY(search->seen_by_node &&
                   vector_grow(&search->visited, g2h_view_node_count(view)));
    }
    TRY_MEMORY(visit(search, from, 0));
    return NULL;
}

void path_search_deinit(struct path_search *search)
{
    free(search->visited.data);
    map_deinit(&search->seen);
    if (search->seen_by_node)
        large_free(search->seen_by_node, g2h_view_node_count(search->view), sizeof(uint32_t));
}

/* Whether frames of the runtime and of the packages below every program are followed. */
enum path_search_frames { ALL_FRAMES, OWN_FRAMES, LIBRARY_FRAMES };

/* Returns whether a node is a frame of a function of a library. */
static bool is_library_frame(const struct g2h_view *view, uint32_t node)
{
    return findings_kind_of(view, node) == G2H_NODE_FRAME &&
           (uses_of(view, node) & G2H_NAME_OF_LIBRARY) != 0;
}

/* Visits the targets of a node's edges that are in scope; frames says whether edges to frames of
 * the runtime and the like are followed, or only these. */
static struct g2h_error *follow_edges(struct path_search *search, uint32_t index,
                                      enum path_search_frames frames)
{
    const uint32_t node = search->visited.data[index].node;
    const uint32_t start = search->visited.data[0].node;
    struct g2h_edge edge;
    g2h_edges_begin_targets(search->edges, node, node + 1);
    /* followed counts over all nodes: the edges of one may be cut short, and the search ends. */
    while (g2h_edges_next(search->edges, &edge) && ++search->followed < search->most_edges) {
        if (!is_in_scope(search, &edge) ||
            (frames != ALL_FRAMES &&
             is_library_frame(search->view, edge.target) != (frames == LIBRARY_FRAMES)))
            continue;
        search->returns |= edge.target == start && node != start;
        TRY_MEMORY(visit(search, edge.target, index));
    }
    return NULL;
}

/* Follows the edges of a node. For a goroutine, the frames of the runtime come last: the frames
 * above these have passed them what they hold, and are more informative. */
static struct g2h_error *path_search_follow(struct path_search *search, uint32_t index)
{
    if (findings_kind_of(search->view, search->visited.data[index].node) != G2H_NODE_GOROUTINE)
        return follow_edges(search, index, ALL_FRAMES);
    TRY(follow_edges(search, index, OWN_FRAMES));
    return follow_edges(search, index, LIBRARY_FRAMES);
}

/* Follows the edges of the roots that have been left out because their names are not certain. */
static struct g2h_error *follow_doubtful(struct path_search *search)
{
    const uint64_t synthetic = g2h_view_account(search->view)->first_object;
    const uint32_t certain = as_u32(search->visited.count);
    search->scope = PATH_ALL;
    for (uint32_t i = 0; i < certain; i++) /* only the edges of roots have doubtful names */
        if (search->visited.data[i].node < synthetic)
            TRY(path_search_follow(search, i));
    return NULL;
}

/* Follows the edges of one more node; *ret: there was one. The search goes breadth first; the
 * limits are most_nodes and most_edges. When all that certain names lead to has been reached, it
 * goes on by edges of doubtful names, if the scope allows them. */
struct g2h_error *path_search_extend(struct path_search *search, bool *ret)
{
    const bool is_limited =
        search->next >= search->most_nodes || search->followed >= search->most_edges;
    *ret = !is_limited && search->next < search->visited.count;
    if (*ret)
        return path_search_follow(search, search->next++);
    /* All that certain names lead to has been reached: go on by doubtful ones. */
    *ret = !is_limited && search->scope == PATH_CERTAIN_FIRST;
    return *ret ? follow_doubtful(search) : NULL;
}

/* Appends the nodes of a path that the search has found. Walks from the node back to the start, and
 * reverses what it has appended. Returns false if memory runs out. */
bool path_search_append(const struct path_search *search, uint32_t index, node_vector *nodes)
{
    const size_t before = nodes->count;
    for (uint32_t i = index; i != 0; i = search->visited.data[i].from)
        if (!vector_push(nodes, search->visited.data[i].node))
            return false;
    for (size_t low = before, high = nodes->count; low + 1 < high; low++) {
        const uint32_t node = nodes->data[low];
        nodes->data[low] = nodes->data[--high];
        nodes->data[high] = node;
    }
    return true;
}

/* ==== expression_parts ==== */

/* The prefix of the name of a global that is known only by the code that uses it. */
#define EXPRESSION_UNNAMED "the global "

/* ==== expression ==== */

enum {
    MOST_EDGES = 1000000, /* edges of a node that find_edge() reads at most */
    MOST_STEPS = 24,      /* of a longer path the middle is left out */
};

/* Returns whether a node is memory in which the runtime keeps a map's entries: paths hide it. */
bool expression_hides(const struct g2h_view *view, uint32_t node)
{
    struct g2h_node read;
    g2h_view_brief(view, node, &read);
    return findings_is_entries(view, read.name);
}

/* Returns whether paths leave out the pointers of a node, a part of a sync.Map, or a variable that
 * is one; or, of the class with this name, which sync.Map has until Go 1.23, also those of the
 * values that it points to. */
static bool is_link(const struct g2h_view *view, uint32_t node)
{
    struct g2h_node read;
    g2h_view_brief(view, node, &read);
    return read.name != G2H_NAME_NONE &&
           (g2h_view_name_uses(view, read.name) & G2H_NAME_OF_LINKS) != 0;
}

/* Returns whether a node is an entry of a sync.Map until Go 1.23, which points to the interface
 * with the value. */
static bool is_boxing(const struct g2h_view *view, uint32_t node)
{
    struct g2h_node read;
    g2h_view_brief(view, node, &read);
    return is_link(view, node) && g2h_view_runtime_class(view, read.name) == G2H_RUNTIME_TRIE_ENTRY;
}

/* Returns whether a node is an interface by itself, to which an entry of a sync.Map points
 * (is_boxing()). */
static bool is_box(const struct g2h_view *view, uint32_t node)
{
    struct g2h_node read;
    g2h_view_brief(view, node, &read);
    return read.kind == G2H_NODE_OBJECT && read.name != G2H_NAME_NONE &&
           g2h_view_class_form(view, read.name) == G2H_FORM_INTERFACE;
}

/* Returns whether a pointer leads from an entry of a sync.Map to the next one. */
static bool is_chain(const struct g2h_view *view, const struct g2h_edge *edge)
{
    struct g2h_node read;
    g2h_view_brief(view, edge->source, &read);
    return (edge->flags & G2H_EDGE_INTERNAL) != 0 && read.name != G2H_NAME_NONE &&
           g2h_view_runtime_class(view, read.name) == G2H_RUNTIME_TRIE_ENTRY;
}

/* Returns whether an edge is a word of a frame that is called after its offset, "f88": no variable
 * is known to have it. */
static bool is_offset(const struct g2h_view *view, const struct g2h_edge *edge)
{
    size_t size;
    const char *name = g2h_view_name(view, edge->name, &size);
    return size > 1 && name[0] == 'f' && name[1] >= '0' && name[1] <= '9';
}

/* Sets *ret to the first strong edge from one node to another. Of a frame it takes the last one,
 * since edges for named variables come after those for unnamed stack words, and that of a variable
 * rather than a copy of its value. Returns false if there is none. */
static bool find_edge(const struct g2h_view *view, struct g2h_edges *edges, uint32_t from,
                      uint32_t to, struct g2h_edge *ret)
{
    const bool is_frame = findings_kind_of(view, from) == G2H_NODE_FRAME;
    bool is_found = false;
    struct g2h_edge edge;
    g2h_edges_begin(edges, from, from + 1);
    for (uint32_t i = 0; i < MOST_EDGES && g2h_edges_next(edges, &edge); i++)
        if (edge.target == to && g2h_edge_leads(edge.flags) &&
            !(is_found && is_offset(view, &edge) && !is_offset(view, ret))) {
            *ret = edge;
            is_found = true;
            if (!is_frame)
                return true;
        }
    return is_found;
}

/* Returns whether a node is an element of container/list or container/ring. */
static bool is_entry(const struct g2h_view *view, uint32_t node)
{
    struct g2h_node read;
    g2h_view_brief(view, node, &read);
    return read.kind == G2H_NODE_OBJECT && read.name != G2H_NAME_NONE &&
           g2h_view_runtime_class(view, read.name) == G2H_RUNTIME_ENTRY;
}

/* Returns the method by which a program follows a pointer of a list or a ring, whose fields have no
 * names for it: main.ll.Front().Next() is root.next.next. *size becomes the part of the pointer's
 * name that is not of that field, such as the name of a list in a struct. Returns NULL if it is
 * another pointer. */
static const char *method_of(const struct g2h_view *view, const struct g2h_edge *edge,
                             const char *name, size_t *size)
{
    static const struct {
        const char *field, *method;
        bool is_of_list; /* else of an element */
    } methods[] = {{"root.next", "Front()", true},
                   {"root.prev", "Back()", true},
                   {"next", "Next()", false},
                   {"prev", "Prev()", false}};
    if ((edge->flags & G2H_EDGE_BY_INDEX) != 0 || edge->name == G2H_NAME_NONE)
        return NULL;
    for (size_t i = 0; i < COUNT_OF(methods); i++) {
        const size_t length = strlen(methods[i].field);
        const size_t before = *size - length; /* only used if the name is at least as long */
        if (*size < length || memcmp(name + before, methods[i].field, length) != 0 ||
            (before > 0 && (!methods[i].is_of_list || name[before - 1] != '.')))
            continue;
        if (!is_entry(view, edge->target) ||
            (!methods[i].is_of_list && !is_entry(view, edge->source)))
            return NULL;
        *size = before > 0 ? before - 1 : 0;
        return methods[i].method;
    }
    return NULL;
}

/* Appends an edge's name to an expression. A key of a map is appended as it is ("[\"a\"]"), an
 * element by its index, and a field by its name, after a dot unless it begins with a bracket. */
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
        const char *method = method_of(view, edge, name, &size);
        if (text->size > 0 && size > 0 && name[0] != '[' && text->data[text->size - 1] != '.')
            text_append_string(text, ".");
        const size_t dot = text->size > 0 && size > 1 && name[0] == '.'; /* .this of a frame */
        text_append(text, name + dot, size - dot);
        if (method)
            text_printf(text, "%s%s",
                        text->size > 0 && text->data[text->size - 1] != '.' ? "." : "", method);
    }
}

/* Returns the size of a frame's name without its line, "main.walk" of "main.walk walk.go:17". */
size_t expression_without_line(const char *name, size_t size)
{
    const char *space = size > 0 ? memrchr(name, ' ', size) : NULL;
    return space && memchr(space, ':', size - as_size(space - name)) ? as_size(space - name) : size;
}

/*
 * Names a global without a symbol by the code that uses it: "global set by main.add cache.go:31
 * (0x574f20)" becomes "the global set by main.add (0x574f20)", without the package. Returns
 * false, and appends nothing, for all other words.
 */
static bool append_unnamed(const char *name, size_t size, struct text *text)
{
    static const char the[] = "the ";
    static const char *const uses[] = {"global set by ", "global initialized by ",
                                       "global used by "};
    for (size_t i = 0; i < COUNT_OF(uses); i++) {
        const size_t begin = strlen(uses[i]);
        if (size <= begin || memcmp(name, uses[i], begin) != 0)
            continue;
        const char *function = name + begin;
        const char *address = memrchr(name, '(', size);
        if (!address || address <= function)
            return false;
        text->size = 0; /* of the package's name, which append_root() has appended */
        text_append(text, the, sizeof(the) - 1);
        text_append(text, name,
                    begin + expression_without_line(function, as_size(address - 1 - function)));
        text_append_string(text, " ");
        text_append(text, address, as_size(name + size - address));
        return true;
    }
    return false;
}

/* Appends the name of a node of kind G2H_NODE_VARIABLE, as paths begin with it: main.cache. */
void expression_append_variable(const struct g2h_view *view, uint32_t node, struct text *text)
{
    size_t size;
    const char *name = findings_name_of(view, node, &size);
    if (!append_unnamed(name, size, text))
        text_append(text, name, size);
}

/* Appends what a path begins with: "main." for a package, "main.cache" for a variable. For a frame,
 * a goroutine, and other roots that have names, appends to whose instead: "local of" and the
 * frame's name, or the root's name. For all other nodes, appends nothing. */
static void append_root(const struct g2h_view *view, uint32_t node, struct text *text,
                        struct text *whose)
{
    size_t size;
    const enum g2h_node_kind kind = findings_kind_of(view, node);
    const char *name = findings_name_of(view, node, &size);
    if (kind == G2H_NODE_PACKAGE) {
        text_append(text, name, size);
        text_append_string(text, ".");
    } else if (kind == G2H_NODE_VARIABLE) {
        expression_append_variable(view, node, text);
    } else if (kind == G2H_NODE_FRAME) {
        text_printf(whose, "local of ");
        text_append(whose, name, size);
    } else if (kind == G2H_NODE_GOROUTINE || kind == G2H_NODE_FINALIZER ||
               kind == G2H_NODE_QUEUED_FINALIZER || kind == G2H_NODE_DEFER ||
               kind == G2H_NODE_DEFERRED_CALLS || kind == G2H_NODE_PANIC ||
               kind == G2H_NODE_CLEANUP) {
        text_append(whose, name, size);
    } else if (kind == G2H_NODE_POOLS) {
        text_printf(whose, "in a sync.Pool: the next collections free it");
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

/* Returns whether an edge leads to the box that the runtime has made for the argument of a cleanup,
 * if that is a pointer: paths leave out the box. */
static bool is_boxed_argument(const struct g2h_view *view, const struct g2h_edge *edge)
{
    static const char argument[] = "argument of a cleanup";
    struct g2h_node box;
    size_t size;
    const char *name = g2h_view_name(view, edge->name, &size);
    if (findings_kind_of(view, edge->source) != G2H_NODE_OTHER_ROOTS ||
        size < sizeof(argument) - 1 || memcmp(name, argument, sizeof(argument) - 1) != 0)
        return false;
    g2h_view_brief(view, edge->target, &box);
    return g2h_view_class_form(view, box.name) == G2H_FORM_POINTER;
}

/* Splits the name of a frame's word that another function has: "c (argument of runtime.chanrecv)"
 * becomes "c", and whose becomes "argument of runtime.chanrecv". */
static void split_argument(struct text *text, struct text *whose)
{
    static const char argument[] = " (argument of ";
    const char *found =
        text->size > 0 ? memmem(text->data, text->size, argument, sizeof(argument) - 1) : NULL;
    if (!found || text->data[text->size - 1] != ')')
        return;
    const size_t begin = as_size(found - text->data);
    whose->size = 0; /* the function says more than the frame, which append_root() has put there */
    text_append(whose, found + strlen(" ("), text->size - begin - strlen(" ()"));
    text->size = begin;
}

/*
 * Appends the beginning of an expression, up to the first object: the names of a root and of an
 * edge that begins there; and to whose the owner, if the root is not a package.
 *
 * A frame may have the header of a map as a variable, so that name is not hidden there.
 */
static void expression_append_first(const struct g2h_view *view, struct g2h_edges *edges,
                                    const struct g2h_edge *edge, struct text *text,
                                    struct text *whose)
{
    if (findings_kind_of(view, edge->source) == G2H_NODE_CLEANUP) {
        append_cleanup(view, edge->source, text, whose);
        return;
    }
    const bool is_frame = findings_kind_of(view, edge->source) == G2H_NODE_FRAME;
    size_t size;
    const char *name = g2h_view_name(view, edge->name, &size);
    append_root(view, edge->source, text, whose);
    if ((is_frame || !expression_hides(view, edge->target)) && !is_link(view, edge->source) &&
        !append_unnamed(name, size, text))
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

/* Appends the names of the edges between nodes, the first of which is an object. Step i leads from
 * node i to the next one. Steps that Go has no word for are left out: into memory that expressions
 * hide, out of links, out of the box of a value in an interface, along chains of buckets. Of a path
 * of more than MOST_STEPS nodes the first and the last ones are shown, the steps from middle to
 * after are "…", and so are those with the same name as the one before, as in a list. */
static void append_steps(const struct g2h_view *view, struct g2h_edges *edges,
                         const uint32_t *nodes, size_t count, struct text *text)
{
    const bool is_long = count > MOST_STEPS;
    const size_t middle = MOST_STEPS / 2 - 1;
    const size_t after = count >= MOST_STEPS ? count - MOST_STEPS / 2 : middle;
    uint32_t last = G2H_NAME_NONE; /* the name of the step before */
    for (size_t i = 0; i + 1 < count; i++) {
        struct g2h_edge edge;
        if (i == middle && middle < after) {
            append_ellipsis(text);
            i = after;
        }
        if (expression_hides(view, nodes[i + 1]) || is_link(view, nodes[i]) ||
            (i > 0 && is_boxing(view, nodes[i - 1]) && is_box(view, nodes[i])))
            continue;
        const bool is_found = find_edge(view, edges, nodes[i], nodes[i + 1], &edge);
        if (is_found && is_chain(view, &edge))
            continue;
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

/* Appends a path as an expression of Go. Splits the path at its first object: the edge into it
 * names the variable, and the edges after it are fields, keys and elements. */
struct g2h_error *expression_append(const struct g2h_view *view, struct g2h_edges *edges,
                                    const uint32_t *nodes, size_t count, struct text *text)
{
    _cleanup_(text_deinit) struct text whose = {0};
    const uint32_t synthetic = as_u32(g2h_view_account(view)->first_object);
    struct g2h_edge edge;
    size_t first = 0; /* index of the first object */
    while (first < count && nodes[first] < synthetic)
        first++;
    if (first == 0 || first == count)
        return NULL;
    const bool is_found = find_edge(view, edges, nodes[first - 1], nodes[first], &edge);
    if (is_found) {
        expression_append_first(view, edges, &edge, text, &whose);
    } else {
        append_root(view, nodes[first - 1], text, &whose);
        text_printf(text, " … ");
    }
    first += is_found && first + 1 < count && is_boxed_argument(view, &edge);
    append_steps(view, edges, nodes + first, count - first, text);
    append_whose(text, &whose);
    TRY_MEMORY(!whose.failed && !text->failed);
    return NULL;
}

/* Appends the name of the edge from one node to another, as paths show it. Returns false, and
 * appends nothing, if no edge leads there. */
static bool expression_append_step(const struct g2h_view *view, struct g2h_edges *edges,
                                   uint32_t from, uint32_t to, struct text *text)
{
    struct g2h_edge edge;
    const bool is_found = find_edge(view, edges, from, to, &edge);
    if (is_found)
        expression_append_edge(view, edges, &edge, text);
    return is_found;
}

/* Appends the name of a pointer of a variable, by which a root leads to objects. The first
 * append_root() only tests whether the edge begins at a named root, and is then undone. */
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

/* ==== expression_read ====
 *
 * finds the node that a Go expression leads to.
 *
 * A name of a pointer may have dots and brackets in it, and may be the beginning of another name,
 * so the expression is not cut into names. Instead the names of edges, as expression_append()
 * writes them, are compared with the rest of the expression. A state is a node, and how much of the
 * expression has led there; from each, all edges whose names come next are tried.
 */

enum { EXPRESSION_READ_MOST_EDGES = 50000000 };

struct reached {
    uint32_t node;
    size_t at;           /* characters of the expression that have led here */
    bool is_cleanup_box; /* of a cleanup's argument (is_boxed_argument()) */
};

struct reading {
    const struct g2h_view *view;
    struct g2h_edges *edges;
    const char *text, *owner; /* the expression, and the contents of the brackets after it */
    size_t size, owner_size;
    uint32_t synthetic;
    uint64_t followed;
    bool all_that_lead;
    enum expression_owner wanted;
    bool lacks_any; /* edges that lead have been left out */
    VECTOR(struct reached) reached;
    struct map seen;         /* hash of what is reached → its index */
    struct text name, whose; /* of the edge that is tried */
    uint32_t found;
    struct text *longer; /* NULL, or a path that begins with the expression, once there is one */
};

/* Cuts off the owner: " (local of main.serve main.go:12)". Without one, reading->owner stays
 * NULL. */
static void split_owner(struct reading *reading, const char *expression)
{
    static const char bracket[] = "  (";
    const size_t size = strlen(expression);
    reading->text = expression;
    reading->size = size;
    if (size == 0 || expression[size - 1] != ')')
        return;
    for (size_t i = size; i-- > 0;)
        if (strncmp(expression + i, bracket, strlen(bracket)) == 0) {
            reading->size = i;
            reading->owner = expression + i + strlen(bracket);
            reading->owner_size = size - 1 - i - strlen(bracket);
            return;
        }
}

/* Adds a state that is not the result: a node, and how many characters of the expression have led
 * there. One that is known already is not followed again. is_cleanup_box: the node is the box of a
 * cleanup's argument, which the runtime makes. */
static struct g2h_error *expression_push(struct reading *reading, uint32_t node, size_t at,
                                         bool is_cleanup_box)
{
    uint32_t index = as_u32(reading->reached.count);
    TRY_MEMORY(map_put(&reading->seen, map_hash_pair(node, at), index, &index));
    if (index == reading->reached.count)
        TRY_MEMORY(vector_push(&reading->reached, ((struct reached){node, at, is_cleanup_box})));
    return NULL;
}

/* Adds a state: a node, and how many characters of the expression have led there. A state that
 * matches the whole expression is the result, but for an entry of a sync.Map, which only leads to
 * the value that is meant; one that is known already is not followed again. */
static struct g2h_error *expression_add(struct reading *reading, uint32_t node, size_t at)
{
    if (at != reading->size || is_boxing(reading->view, node))
        return expression_push(reading, node, at, false);
    reading->found = node;
    return NULL;
}

/* Gets the next edge to an object: a strong one or, with all_that_lead, see g2h_edge_leads().
 * Returns false at the end, once the object is found, or after EXPRESSION_READ_MOST_EDGES.
 * lacks_any becomes true if others would lead further. */
static bool next_edge(struct reading *reading, struct g2h_edge *ret)
{
    while (reading->found == UINT32_MAX && reading->followed < EXPRESSION_READ_MOST_EDGES &&
           g2h_edges_next(reading->edges, ret)) {
        const bool leads = g2h_edge_leads(ret->flags);
        const bool is_weak = (ret->flags & G2H_EDGE_WEAK) != 0;
        reading->followed++;
        if ((reading->all_that_lead ? leads : !is_weak) && ret->target >= reading->synthetic)
            return true;
        reading->lacks_any |= leads && ret->target >= reading->synthetic;
    }
    return false;
}

/* Remembers the name of an edge that goes on after the rest of the expression, from at on: then the
 * expression is a part of a variable or an object, such as a struct in it. */
static void note_longer(const struct reading *reading, size_t at, const char *name, size_t size)
{
    const size_t left = reading->size - at;
    if (!reading->longer || reading->longer->size > 0 || reading->owner_size > 0)
        return; /* it is not wanted, or there is one, or the expression is not one of a global */
    if (size <= left || (name[left] != '.' && name[left] != '[') ||
        memcmp(name, reading->text + at, left) != 0)
        return;
    text_append(reading->longer, reading->text, at);
    text_append(reading->longer, name, size);
}

/* ---- from a root ---- */

/* Returns whether no expression begins with a root: a package of another name (unless the
 * expression names its variable by code), or a kind of root that paths do not use. */
static bool cannot_begin(const struct reading *reading, uint32_t node)
{
    const enum g2h_node_kind kind = findings_kind_of(reading->view, node);
    size_t size;
    if (kind == G2H_NODE_STACK || kind == G2H_NODE_CREATION_SITE || kind == G2H_NODE_UNREACHABLE)
        return true;
    const char *name = findings_name_of(reading->view, node, &size);
    return kind == G2H_NODE_PACKAGE &&
           strncmp(reading->text, EXPRESSION_UNNAMED, strlen(EXPRESSION_UNNAMED)) != 0 &&
           (size >= reading->size || memcmp(reading->text, name, size) != 0 ||
            reading->text[size] != '.');
}

/* Adds the state that an edge of a root leads to; the edge's name is the first at characters of the
 * expression. The box that the runtime makes for a cleanup's argument is never the result, even if
 * the expression ends here: expression_begin() goes on from it. */
static struct g2h_error *expression_enter(struct reading *reading, const struct g2h_edge *edge,
                                          size_t at)
{
    return is_boxed_argument(reading->view, edge) ? expression_push(reading, edge->target, at, true)
                                                  : expression_add(reading, edge->target, at);
}

/* Returns whether the variable that an edge of a root names, with the owner whose, is one that the
 * expression may mean: the owners are the same; or none is given in the expression, and any is
 * wanted, or, with EXPRESSION_OWNER_LEFT_OUT, one that has an owner. */
static bool is_of_owner(const struct reading *reading)
{
    const struct text *whose = &reading->whose;
    const bool is_same =
        whose->size == reading->owner_size &&
        memcmp(whose->size > 0 ? whose->data : "", reading->owner, whose->size) == 0;
    if (reading->owner_size > 0 || reading->wanted == EXPRESSION_OWNER_SAID)
        return is_same;
    return reading->wanted == EXPRESSION_OWNER_ANY || whose->size > 0;
}

/* Follows the edges of a root whose names begin the expression. The box of a cleanup's argument is
 * passed: what it points to is reached as well. Names that begin with the expression, but are
 * longer, are noted for the error. */
static struct g2h_error *expression_begin(struct reading *reading, uint32_t root)
{
    struct g2h_edge edge;
    const size_t before = reading->reached.count;
    g2h_edges_begin(reading->edges, root, root + 1);
    while (next_edge(reading, &edge)) {
        struct text *name = &reading->name;
        struct text *whose = &reading->whose;
        name->size = whose->size = 0;
        expression_append_first(reading->view, reading->edges, &edge, name, whose);
        TRY_MEMORY(!name->failed && !whose->failed);
        if (is_of_owner(reading) && name->size <= reading->size &&
            memcmp(name->size > 0 ? name->data : "", reading->text, name->size) == 0)
            TRY(expression_enter(reading, &edge, name->size));
        else if (whose->size == 0)
            note_longer(reading, 0, name->data, name->size);
    }
    for (size_t i = before, end = reading->reached.count; i < end; i++) {
        const struct reached box = reading->reached.data[i]; /* a copy: the list may move */
        if (!box.is_cleanup_box)
            continue;
        g2h_edges_begin(reading->edges, box.node, box.node + 1);
        while (next_edge(reading, &edge))
            TRY(expression_add(reading, edge.target, box.at));
    }
    return NULL;
}

/* ---- from an object ---- */

/* Returns the index that comes next in the expression, "[17]"; UINT64_MAX: none does. */
static uint64_t index_at(const char *at)
{
    enum { DIGITS = 18 }; /* of these no number is too large */
    const size_t digits = *at == '[' ? strspn(at + 1, "0123456789") : 0;
    return digits > 0 && digits <= DIGITS && at[digits + 1] == ']' ? strtoull(at + 1, NULL, 10)
                                                                   : UINT64_MAX;
}

/* Returns whether an edge has another index as its name. An array may have millions of elements, so
 * these are not formatted. */
static bool is_other_index(const struct reading *reading, const struct g2h_edge *edge,
                           uint64_t index)
{
    /* Edges of entries may be by index, too, and are called after their keys. */
    const uint32_t naming = G2H_EDGE_BY_INDEX | G2H_EDGE_OF_KEY | G2H_EDGE_OF_ELEM;
    return (edge->flags & naming) == G2H_EDGE_BY_INDEX && edge->index != index &&
           !expression_hides(reading->view, edge->target);
}

/* Follows those edges of a reached node whose names come next in the expression, and adds the nodes
 * they lead to. Nodes that paths hide add nothing to the expression, and are passed. Names that
 * begin with the rest, but are longer, are noted for the error. Each name is written after the
 * character of the expression before it, if there is one, because a dot is only written after
 * something; before counts that character. */
static struct g2h_error *expression_go_on(struct reading *reading, struct reached from)
{
    struct g2h_edge edge;
    struct text *name = &reading->name;
    const size_t before = from.at > 0;
    const uint64_t index = index_at(reading->text + from.at);
    const bool is_silent = is_link(reading->view, from.node);
    g2h_edges_begin(reading->edges, from.node, from.node + 1);
    if (is_boxing(reading->view, from.node) && next_edge(reading, &edge)) /* on from the box */
        g2h_edges_begin(reading->edges, edge.target, edge.target + 1);
    while (next_edge(reading, &edge)) {
        const bool is_hidden = is_silent || expression_hides(reading->view, edge.target) ||
                               is_chain(reading->view, &edge);
        if (!is_hidden && is_other_index(reading, &edge, index))
            continue;
        name->size = 0;
        text_append(name, reading->text + from.at - before, before);
        if (!is_hidden)
            expression_append_edge(reading->view, reading->edges, &edge, name);
        TRY_MEMORY(!name->failed);
        const size_t size = name->size - before;
        if (size <= reading->size - from.at &&
            memcmp(name->size > 0 ? name->data + before : "", reading->text + from.at, size) == 0)
            TRY(expression_add(reading, edge.target, from.at + size));
        else
            note_longer(reading, from.at, name->data + before, size);
    }
    return NULL;
}

static void reading_deinit(struct reading *reading)
{
    free(reading->reached.data);
    map_deinit(&reading->seen);
    text_deinit(&reading->name);
    text_deinit(&reading->whose);
}

/* Finds the node of an expression. A breadth-first search over states (node, characters matched):
 * from all roots whose variable begins the expression, along all edges whose names come next, until
 * a state has matched it to its end. */
static struct g2h_error *read_along(struct reading *reading)
{
    for (uint32_t i = 0; i < reading->synthetic && reading->found == UINT32_MAX; i++)
        if (!cannot_begin(reading, i))
            TRY(expression_begin(reading, i));
    for (size_t i = 0; i < reading->reached.count && reading->found == UINT32_MAX; i++)
        TRY(expression_go_on(reading, reading->reached.data[i]));
    return NULL;
}

/* Finds the node that an expression of a report leads to. Of many goroutines with a variable of one
 * name, one that holds what the expression leads to is meant, and not one whose variable leads
 * there by a pointer that holds nothing. */
struct g2h_error *expression_read(const struct g2h_view *view, struct g2h_edges *edges,
                                  const char *expression, enum expression_owner owner,
                                  uint32_t *ret, struct text *longer)
{
    _cleanup_(reading_deinit) struct reading reading = {
        .view = view,
        .edges = edges,
        .owner = "",
        .synthetic = as_u32(g2h_view_account(view)->first_object),
        .found = UINT32_MAX,
        .wanted = owner,
        .longer = longer};
    split_owner(&reading, expression);
    *ret = UINT32_MAX;
    if (owner == EXPRESSION_OWNER_LEFT_OUT && reading.owner_size > 0)
        return NULL;
    /* The second search finds nothing else if the first one has left nothing out. */
    for (int i = 0; i < 2 && reading.found == UINT32_MAX && (i == 0 || reading.lacks_any); i++) {
        reading.all_that_lead = i > 0;
        reading.reached.count = 0;
        map_deinit(&reading.seen);
        TRY(read_along(&reading));
    }
    *ret = reading.found;
    if (reading.found == UINT32_MAX && reading.followed >= EXPRESSION_READ_MOST_EDGES)
        return error_create(G2H_ERROR_LIMIT,
                            "'%s': not found among the first %u pointers that may lead there",
                            expression, (unsigned)EXPRESSION_READ_MOST_EDGES);
    TRY_MEMORY(!longer || !longer->failed);
    return NULL;
}

/* ==== path ==== */

enum {
    MOST_VISITED = 200000, /* nodes whose edges one search follows */
    TIMES = 20,            /* as many times as large for the last object of a path, if need be */
    LESS = 10,             /* divisor if there is a path already */
    MOST_COVERED = 1000000,
    MOST_DOMINATORS = 64,
};

/* The searches from (GC roots), by scope; the last one is PATH_OWN with a lower limit. */
enum { LESS_OWN = PATH_GLOBALS + 1, SEARCHES };

struct paths {
    const struct findings *findings;
    const struct g2h_view *view;
    const struct g2h_dominators *dominators;
    struct g2h_edges *edges;
    struct path_search from_roots[SEARCHES]; /* view NULL: it has not begun */
    struct path_search kept;                 /* of paths_shortest() if findings->held, likewise */
    node_vector nodes;                       /* of the path, from the root on */
};

/* Begins to search paths in a view. */
struct g2h_error *paths_create(const struct findings *findings, struct paths **ret)
{
    struct paths *paths = *ret = calloc(1, sizeof(*paths));
    assert(findings->merged.nodes.count > 0 && findings->dominators);
    TRY_MEMORY(paths);
    paths->findings = findings;
    paths->view = findings->view;
    paths->dominators = findings->dominators;
    return g2h_edges_create(findings->view, &paths->edges);
}

void paths_destroy(struct paths *paths)
{
    if (!paths)
        return;
    for (int i = 0; i < SEARCHES; i++)
        path_search_deinit(&paths->from_roots[i]);
    path_search_deinit(&paths->kept);
    g2h_edges_destroy(paths->edges);
    free(paths->nodes.data);
    free(paths);
}

struct g2h_edges *paths_edges(struct paths *paths)
{
    return paths->edges;
}

/* ---- from one dominator to the next ---- */

static uint32_t merged_in(const struct paths *paths, uint32_t node)
{
    return paths->findings->merged.of[g2h_dominators_number(paths->dominators, node)];
}

/* The target of a search: a node; or one that users cannot distinguish from it, because it is
 * merged with it, has the same dominator and retains as much; or one that at least is merged with
 * it and has the same dominator. */
enum path_target { EXACT, EQUAL, ALIKE };

/* Returns whether a node that the search has reached is the target, or as good: see enum
 * path_target. from is the node that the search began with. */
static bool is_found(const struct paths *paths, uint32_t node, uint32_t from, uint32_t to,
                     enum path_target target)
{
    if (node == to || target == EXACT)
        return node == to;
    return merged_in(paths, node) == merged_in(paths, to) &&
           g2h_dominators_of(paths->dominators, node) == from &&
           (target == ALIKE || g2h_dominators_retained_size(paths->dominators, node) ==
                                   g2h_dominators_retained_size(paths->dominators, to));
}

/* Adds the shortest path between the node that a search begins with and the target, which is found
 * among the nodes that have been visited, or further on. *ret_found is false if there is none. */
static struct g2h_error *path_find(struct paths *paths, struct path_search *search, uint32_t to,
                                   enum path_target target, bool *ret_found)
{
    uint32_t visit = 1; /* index of the one that is looked at next; the first is the begin itself */
    *ret_found = false;
    for (bool more = true; more;) {
        for (; visit < search->visited.count; visit++) {
            const uint32_t from = search->visited.data[0].node;
            if (!is_found(paths, search->visited.data[visit].node, from, to, target))
                continue;
            *ret_found = true;
            TRY_MEMORY(path_search_append(search, visit, &paths->nodes));
            return NULL;
        }
        TRY(path_search_extend(search, &more));
    }
    return NULL;
}

/* Adds the shortest path from a node to another, by a new search that is dropped afterwards. It
 * follows the edges of at most most nodes; *ret_found is false if it has not come to the target by
 * then. */
static struct g2h_error *find_once(struct paths *paths, uint32_t from, uint32_t to,
                                   enum path_target target, uint32_t most, bool *ret_found)
{
    _cleanup_(path_search_deinit) struct path_search search = {.view = NULL};
    TRY(path_search_begin(&search, paths->view, paths->edges, from, PATH_ALL, most));
    return path_find(paths, &search, to, target, ret_found);
}

/* ---- the best path from the roots ---- */

/* Returns how many edges the last node but one of the path has to nodes of the last node's class:
 * how much of the class the path explains. */
static uint64_t edges_to_class(const struct paths *paths)
{
    const size_t count = paths->nodes.count;
    struct g2h_node last, target;
    struct g2h_edge edge;
    uint64_t found = 0;
    if (count < 2)
        return 0;
    g2h_view_brief(paths->view, paths->nodes.data[count - 1], &last);
    g2h_edges_begin(paths->edges, paths->nodes.data[count - 2], paths->nodes.data[count - 2] + 1);
    for (uint32_t i = 0; i < MOST_COVERED && g2h_edges_next(paths->edges, &edge); i++) {
        g2h_view_brief(paths->view, edge.target, &target);
        found += target.kind == last.kind && target.name == last.name;
    }
    return found;
}

/* Finds a path from the roots in a scope, by the search that is kept for it, or begun now. number
 * is a scope, or LESS_OWN: PATH_OWN with a search of fewer nodes (MOST_VISITED / LESS), which is
 * tried first as it takes less time. *ret_found is false if there is none among the nodes that the
 * search may visit. */
static struct g2h_error *path_find_in(struct paths *paths, uint32_t from, uint32_t to,
                                      enum path_target target, int number, bool *ret_found)
{
    struct path_search *search = &paths->from_roots[number];
    enum path_scope scope = (enum path_scope)number;
    uint32_t most = MOST_VISITED;
    if (number == LESS_OWN) {
        scope = PATH_OWN;
        most /= LESS;
    }
    if (!search->view)
        TRY(path_search_begin(search, paths->view, paths->edges, from, scope, most));
    return path_find(paths, search, to, target, ret_found);
}

/* Finds a path from the roots, and adds it to paths->nodes; *ret_found: there is one. A path by a
 * variable of the program is more informative than one by a variable of a goroutine, unless the
 * latter leads to more objects of the class: it is appended behind the first one, and of the two
 * only one stays. */
static struct g2h_error *find_from_roots(struct paths *paths, uint32_t from, uint32_t to,
                                         enum path_target target, bool *ret_found)
{
    const size_t before = paths->nodes.count;
    bool has_other;
    TRY(path_find_in(paths, from, to, target, PATH_PROGRAM, ret_found));
    const size_t end = paths->nodes.count;
    const uint64_t covers = edges_to_class(paths);
    for (int scope = PATH_OWN; scope <= PATH_GLOBALS && !*ret_found; scope++) {
        TRY(path_find_in(paths, from, to, target, scope, ret_found));
        if (*ret_found)
            return NULL;
    }
    TRY(path_find_in(paths, from, to, target, LESS_OWN, &has_other));
    if (has_other && edges_to_class(paths) > covers) {
        memmove(paths->nodes.data + before, paths->nodes.data + end,
                (paths->nodes.count - end) * sizeof(*paths->nodes.data));
        paths->nodes.count -= end - before;
    } else {
        paths->nodes.count = end;
    }
    return NULL;
}

/* ---- all of the path ---- */

/* Finds the path from one dominator to the next. */
static struct g2h_error *find_next(struct paths *paths, uint32_t from, uint32_t to,
                                   enum path_target target, bool *ret_found)
{
    return findings_kind_of(paths->view, from) == G2H_NODE_GC_ROOTS
               ? find_from_roots(paths, from, to, target, ret_found)
               : find_once(paths, from, to, target, MOST_VISITED, ret_found);
}

/* Returns whether an earlier heap may tell a node from others that are as heavy, because it is one
 * of a few: only one of them may have grown. */
static bool is_one_of_few(const struct paths *paths, uint32_t node)
{
    return paths->findings->holders &&
           paths->findings->merged.nodes.data[merged_in(paths, node)].count <= GROWTH_MOST_HOLDERS;
}

/* Finds the path to the node itself, the last one. If it cannot be found among many, one that is
 * merged with it is as true, if not as heavy. */
static struct g2h_error *find_last(struct paths *paths, uint32_t from, uint32_t to, bool *ret_found)
{
    const enum path_target first = is_one_of_few(paths, to) ? EXACT : EQUAL;
    TRY(find_next(paths, from, to, first, ret_found));
    if (!*ret_found && first != EQUAL)
        TRY(find_next(paths, from, to, EQUAL, ret_found));
    if (!*ret_found)
        TRY(find_once(paths, from, to, EQUAL, MOST_VISITED * TIMES, ret_found));
    return *ret_found ? NULL : find_next(paths, from, to, ALIKE, ret_found);
}

/* Finds the path from a dominator of a node as a sequence of short searches, from each dominator to
 * the next: every path goes through all of them, and a search over the whole heap would take too
 * long. A part that is not found is left out. */
static struct g2h_error *collect_by_dominators(struct paths *paths, uint32_t from, uint32_t node)
{
    uint32_t above[MOST_DOMINATORS];
    size_t count = 0;
    for (uint32_t i = node; i != from && i != 0 && count < MOST_DOMINATORS;
         i = g2h_dominators_of(paths->dominators, i))
        above[count++] = i;
    if (count > 0 && g2h_dominators_of(paths->dominators, above[count - 1]) != from)
        from = above[--count]; /* the node is deep in the tree: the upper part of the path is left
                                  out */
    while (count-- > 0) {      /* the uppermost one was added last */
        bool found = false;
        TRY(count == 0 ? find_last(paths, from, above[count], &found)
                       : find_next(paths, from, above[count], EXACT, &found));
        if (!found)
            TRY_MEMORY(vector_push(&paths->nodes, above[count]));
        from = above[count];
    }
    return NULL;
}

/* Replaces the frame at nodes[at] of a path by one that has a variable, if possible. nodes[at] is a
 * frame, and nodes[at - 1] its goroutine. If only words without names lead from the frame to the
 * next node, puts another frame of the goroutine in its place: the innermost that has a variable
 * with that pointer. That is a caller, and the word is a copy of its variable. */
static void take_variable(struct paths *paths, size_t at)
{
    enum { MOST = 256 };
    uint32_t frames[MOST];
    uint32_t *nodes = paths->nodes.data;
    struct g2h_edge edge;
    size_t count = 0;
    if (!find_edge(paths->view, paths->edges, nodes[at], nodes[at + 1], &edge) ||
        !is_offset(paths->view, &edge))
        return;
    g2h_edges_begin_targets(paths->edges, nodes[at - 1], nodes[at - 1] + 1);
    while (count < MOST && g2h_edges_next(paths->edges, &edge))
        if (findings_kind_of(paths->view, edge.target) == G2H_NODE_FRAME &&
            !is_library_frame(paths->view, edge.target))
            frames[count++] = edge.target;
    for (size_t i = 0; i < count; i++)
        if (find_edge(paths->view, paths->edges, frames[i], nodes[at + 1], &edge) &&
            !is_offset(paths->view, &edge) && (edge.flags & G2H_EDGE_DOUBTFUL) == 0) {
            nodes[at] = frames[i];
            return;
        }
}

/* Appends the expression of the path that has been collected. */
static struct g2h_error *append_collected(struct paths *paths, struct text *text)
{
    const node_vector *nodes = &paths->nodes;
    for (size_t i = 1; i + 1 < nodes->count; i++)
        if (findings_kind_of(paths->view, nodes->data[i]) == G2H_NODE_FRAME &&
            findings_kind_of(paths->view, nodes->data[i - 1]) == G2H_NODE_GOROUTINE)
            take_variable(paths, i);
    return expression_append(paths->view, paths->edges, nodes->data, nodes->count, text);
}

/* Appends the path from the roots to a node; *ret_end is the node that it leads to, which may be
 * one like it. Nothing for the root itself. */
struct g2h_error *path_append(struct paths *paths, uint32_t node, struct text *text,
                              uint32_t *ret_end)
{
    *ret_end = node;
    if (node == 0)
        return NULL;
    paths->nodes.count = 0;
    TRY(collect_by_dominators(paths, 0, node));
    *ret_end = paths->nodes.data[paths->nodes.count - 1];
    return append_collected(paths, text);
}

/* Appends the shortest path to a node from a variable of the program. Names that are certain come
 * first. */
struct g2h_error *path_append_global(struct paths *paths, uint32_t node, struct text *text)
{
    static const enum path_scope scopes[] = {PATH_PROGRAM, PATH_GLOBALS};
    bool found = false;
    paths->nodes.count = 0;
    for (size_t i = 0; i < COUNT_OF(scopes) && !found; i++) {
        _cleanup_(path_search_deinit) struct path_search search = {.view = NULL};
        TRY(path_search_begin(&search, paths->view, paths->edges, 0, scopes[i], MOST_VISITED));
        TRY(path_find(paths, &search, node, EXACT, &found));
    }
    return found ? expression_append(paths->view, paths->edges, paths->nodes.data,
                                     paths->nodes.count, text)
                 : NULL;
}

/* Appends the path to a node as an expression, by a certain holder: from the roots to the holder,
 * from there to the node held, and on to the node. *ret_end becomes the last node on it. */
struct g2h_error *path_append_by(struct paths *paths, uint32_t holder, uint32_t held, uint32_t node,
                                 struct text *text, uint32_t *ret_end)
{
    paths->nodes.count = 0;
    TRY(collect_by_dominators(paths, 0, holder));
    TRY_MEMORY(vector_push(&paths->nodes, held));
    TRY(collect_by_dominators(paths, held, node));
    *ret_end = paths->nodes.data[paths->nodes.count - 1];
    return append_collected(paths, text);
}

/* Returns whether the last path has a node after its first one, and which one comes before it. */
bool path_goes_by(const struct paths *paths, uint32_t held, uint32_t *ret_holder)
{
    for (size_t i = 1; i < paths->nodes.count; i++) {
        if (paths->nodes.data[i] != held)
            continue;
        *ret_holder = paths->nodes.data[i - 1];
        return true;
    }
    return false;
}

/* ---- other paths ---- */

/* Extends the search until it has reached all count nodes, or has no more edges. */
static struct g2h_error *extend_to_all(struct path_search *search, const uint32_t *nodes,
                                       size_t count)
{
    size_t reached = 0;
    for (bool more = true; more;) {
        while (reached < count && search->seen_by_node[nodes[reached]] != 0)
            reached++;
        if (reached == count)
            return NULL;
        TRY(path_search_extend(search, &more));
    }
    return NULL;
}

static struct g2h_error *path_search_from_roots(const struct paths *paths, struct path_search *ret)
{
    return path_search_begin(ret, paths->view, paths->edges, 0, PATH_CERTAIN_FIRST, PATH_NO_LIMIT);
}

/* Moves a search out of *search, which becomes empty. */
static struct path_search take_search(struct path_search *search)
{
    const struct path_search taken = *search;
    *search = (struct path_search){.view = NULL};
    return taken;
}

/* Finds the shortest paths to some nodes. Searches only until all nodes are found. The search is
 * kept for later ones if the heap is queried repeatedly, and goes on from there; after an error it
 * begins again. */
struct g2h_error *paths_shortest(struct paths *paths, const uint32_t *nodes, size_t count,
                                 node_vector *ret)
{
    _cleanup_(path_search_deinit) struct path_search search = {.view = NULL};
    if (paths->findings->held)
        search = take_search(&paths->kept);
    if (!search.view)
        TRY(path_search_from_roots(paths, &search));
    TRY(extend_to_all(&search, nodes, count));
    for (size_t i = 0; i < count; i++) {
        const uint32_t seen = search.seen_by_node[nodes[i]];
        ret[i].count = 0;
        if (seen != 0)
            TRY_MEMORY(vector_push(&ret[i], 0) && path_search_append(&search, seen - 1, &ret[i]));
    }
    if (paths->findings->held)
        paths->kept = take_search(&search);
    return NULL;
}

struct g2h_error *path_shortest(struct paths *paths, uint32_t node, node_vector *ret)
{
    return paths_shortest(paths, &node, 1, ret);
}

/* Returns whether a node is shown on a path. Paths leave out the nodes that only group roots, and
 * what the expressions hide. */
bool path_shows(const struct g2h_view *view, uint32_t node)
{
    const enum g2h_node_kind kind = findings_kind_of(view, node);
    return kind != G2H_NODE_ROOT && kind != G2H_NODE_GC_ROOTS && kind != G2H_NODE_GLOBALS &&
           kind != G2H_NODE_GOROUTINES && kind != G2H_NODE_GOROUTINES_IN_PLACE &&
           !expression_hides(view, node);
}

/* Appends nothing for edges from nodes that only group others: they have no names in Go. */
void path_append_step(struct paths *paths, uint32_t from, uint32_t to, struct text *text)
{
    const enum g2h_node_kind kind = findings_kind_of(paths->view, from);
    if (merged_is_object(kind) || kind == G2H_NODE_PACKAGE || kind == G2H_NODE_VARIABLE ||
        kind == G2H_NODE_FRAME || kind == G2H_NODE_POOLS)
        expression_append_step(paths->view, paths->edges, from, to, text);
}

/* Finds out whether one node leads to another. For a path from a node to itself the search must
 * return to its begin, which it has visited already: search.returns. */
struct g2h_error *path_leads(struct paths *paths, uint32_t from, uint32_t to, bool *ret)
{
    _cleanup_(path_search_deinit) struct path_search search = {.view = NULL};
    paths->nodes.count = 0;
    TRY(path_search_begin(&search, paths->view, paths->edges, from, PATH_POINTERS, MOST_VISITED));
    if (from != to)
        return path_find(paths, &search, to, EXACT, ret);
    for (bool more = true; more && !search.returns;)
        TRY(path_search_extend(&search, &more));
    *ret = search.returns;
    return NULL;
}

/* ==== retainers ==== */

enum { EDGES = 256 /* edges that are read at a time */ };

/* Returns whether a retainer's edge has a name of its own, other than those of the elements and
 * entries that lead there as well. If the retainer holds a map's entries (is_entries), no edge has
 * one. */
static bool has_label(const struct g2h_edge *edge, bool is_entries)
{
    return !is_entries &&
           (edge->flags & (G2H_EDGE_BY_INDEX | G2H_EDGE_OF_KEY | G2H_EDGE_OF_ELEM)) == 0;
}

/* Appends a retainer's class and field: "main.Preview.Auction", "[]*main.Bid[]",
 * "map[string]*main.Preview[]". Returns false if memory runs out. Indexes and keys in the field's
 * name are left out: only their brackets stay. */
static bool append_retainer(const struct findings *findings, const struct g2h_edge *edge,
                            const struct g2h_node *source, struct text *text)
{
    size_t size;
    const bool is_entries = findings_is_entries(findings->view, source->name);
    const char *class = is_entries ? g2h_view_map_of(findings->view, source->name, &size)
                                   : findings_class_name(findings->view, source, &size);
    text_append(text, class, size);
    const char *label = g2h_view_name(findings->view, edge->name, &size);
    if (!has_label(edge, is_entries)) {
        text_append_string(text, "[]");
    } else {
        bool in_brackets = false;
        if (size > 0 && label[0] != '[')
            text_append_string(text, ".");
        for (size_t i = 0; i < size; i++) {
            if (label[i] == '[' || label[i] == ']')
                in_brackets = label[i] == '[';
            if (!in_brackets || label[i] == '[')
                text_append(text, &label[i], 1);
        }
    }
    return !text->failed;
}

/* Formats the label of an edge's retainer, and sets *ret to its number in the list, where it is
 * added if the label is new. Edges with different names may have one label. */
static struct g2h_error *add_text(const struct findings *findings, const struct g2h_edge *edge,
                                  const struct g2h_node *source, struct retainers *retainers,
                                  uint32_t *ret)
{
    _cleanup_(text_deinit) struct text text = {0};
    TRY_MEMORY(append_retainer(findings, edge, source, &text) &&
               string_pool_intern(&retainers->names, text.data, text.size, ret));
    if (*ret == retainers->list.count)
        TRY_MEMORY(vector_push(&retainers->list, ((struct retainer){0, *ret, edge->source})));
    return NULL;
}

/* Counts an edge. Many have the same names, so that the label is not formatted each time. */
static struct g2h_error *add_retainer(const struct findings *findings, const struct g2h_edge *edge,
                                      struct retainers *retainers)
{
    struct g2h_node source;
    g2h_view_brief(findings->view, edge->source, &source);
    const bool is_named = has_label(edge, findings_is_entries(findings->view, source.name));
    const uint64_t key = map_hash_pair(source.name + ((uint64_t)source.kind << 32),
                                       is_named ? edge->name + 1ull : 0);
    uint32_t number = map_get(&retainers->by_edge, key);
    if (number == MAP_NONE) {
        TRY(add_text(findings, edge, &source, retainers, &number));
        TRY_MEMORY(map_put(&retainers->by_edge, key, number, &number));
    }
    retainers->list.data[number].count++;
    return NULL;
}

/* Orders retainers by the number of their edges, the most first. */
static int compare_retainers(const void *a, const void *b)
{
    const struct retainer *one = a;
    const struct retainer *other = b;
    if (one->count != other->count)
        return COMPARE(other->count, one->count);
    return COMPARE(one->name, other->name);
}

void retainers_deinit(struct retainers *retainers)
{
    string_pool_deinit(&retainers->names);
    map_deinit(&retainers->by_edge);
    free(retainers->list.data);
}

/* Adds all edges to a node by the index of retainers. Weak edges do not count. Sorts them. */
static struct g2h_error *retainers_look_up(const struct findings *findings, struct g2h_edges *edges,
                                           uint32_t node, struct retainers *ret)
{
    const uint32_t *sources;
    const uint64_t count = g2h_retainers_of(findings->held->retainers, node, &sources);
    struct g2h_edge edge;
    for (uint64_t i = 0; i < count; i++) {
        if (i > 0 && sources[i] == sources[i - 1])
            continue; /* all its edges to the node have been added */
        g2h_edges_begin(edges, sources[i], sources[i] + 1);
        while (g2h_edges_next_to(edges, node, &edge))
            if ((edge.flags & G2H_EDGE_WEAK) == 0)
                TRY(add_retainer(findings, &edge, ret));
    }
    vector_sort(&ret->list, compare_retainers);
    return NULL;
}

/* Adds to ret the nodes with edges to those in a set, ascending: goes over all edges. */
static struct g2h_error *find_sources(const struct findings *findings, struct g2h_edges *edges,
                                      const uint64_t *is_asked, node_vector *ret)
{
    struct g2h_edge read[EDGES];
    size_t got;
    g2h_edges_begin_targets(edges, 0, g2h_view_node_count(findings->view));
    while ((got = g2h_edges_read(edges, read, EDGES)) > 0)
        for (size_t i = 0; i < got; i++)
            if (bits_have(is_asked, read[i].target) && (read[i].flags & G2H_EDGE_WEAK) == 0 &&
                (ret->count == 0 || ret->data[ret->count - 1] != read[i].source))
                TRY_MEMORY(vector_push(ret, read[i].source));
    return NULL;
}

/* Finds the nodes that refer to some nodes. Goes over all edges once, whatever the number of nodes,
 * to find the sources: the nodes with an edge to one that is asked for; and then over the edges of
 * the sources. A bit per node tells most targets apart from the nodes that are asked for; only for
 * a hit are these compared one by one. */
struct g2h_error *retainers_find_all(const struct findings *findings, struct g2h_edges *edges,
                                     const uint32_t *nodes, size_t count, struct retainers *ret)
{
    _cleanup_free_ uint64_t *is_asked =
        calloc(g2h_view_node_count(findings->view) / 64 + 1, sizeof(*is_asked));
    _cleanup_vector_ node_vector sources = {0};
    struct g2h_edge read[EDGES];
    size_t got;
    TRY_MEMORY(is_asked);
    for (size_t i = 0; i < count; i++)
        bits_add(is_asked, nodes[i]);
    TRY(find_sources(findings, edges, is_asked, &sources));
    for (size_t i = 0; i < sources.count; i++) {
        g2h_edges_begin(edges, sources.data[i], sources.data[i] + 1);
        while ((got = g2h_edges_read(edges, read, EDGES)) > 0)
            for (size_t j = 0; j < got; j++) {
                if (!bits_have(is_asked, read[j].target) || (read[j].flags & G2H_EDGE_WEAK) != 0)
                    continue;
                for (size_t k = 0; k < count; k++)
                    if (nodes[k] == read[j].target)
                        TRY(add_retainer(findings, &read[j], &ret[k]));
            }
    }
    for (size_t i = 0; i < count; i++)
        vector_sort(&ret[i].list, compare_retainers);
    return NULL;
}

/* Finds all nodes with strong edges to a node of the view, garbage too. */
struct g2h_error *retainers_find(const struct findings *findings, struct g2h_edges *edges,
                                 uint32_t node, struct retainers *ret)
{
    return findings->held ? retainers_look_up(findings, edges, node, ret)
                          : retainers_find_all(findings, edges, &node, 1, ret);
}
