/* path_search; see path_search.h. */
#include "findings/path_search.h"

#include <stdlib.h>
#include <string.h>

#include "base/scope.h"
#include "findings/findings.h"

enum { EDGES_PER_NODE = 5 };

/* Returns the uses of the name of a package or a frame: enum g2h_name_use. */
static unsigned uses_of(const struct g2h_view *view, uint32_t number)
{
    struct g2h_node node;
    g2h_view_brief(view, number, &node);
    return g2h_view_name_uses(view, node.name);
}

/* Returns whether the search follows an edge; see enum path_scope. */
static bool is_in_scope(const struct path_search *search, const struct g2h_edge *edge)
{
    const struct g2h_view *view = search->view;
    const uint64_t synthetic = g2h_view_account(view)->synthetic_nodes;
    const enum path_scope scope = search->scope;
    const bool is_certain = scope == PATH_PROGRAM || scope == PATH_OWN || scope == PATH_FRAMES ||
                            scope == PATH_CERTAIN || scope == PATH_CERTAIN_FIRST;
    if (!(scope == PATH_POINTERS ? g2h_edge_leads(edge->flags) : g2h_edge_holds(edge->flags)) ||
        (is_certain && (edge->flags & G2H_EDGE_DOUBTFUL) != 0))
        return false;
    if (edge->target >= synthetic || scope == PATH_STRONG || scope == PATH_POINTERS)
        return true;
    const enum g2h_node_kind kind = findings_kind_of(view, edge->target);
    return kind != G2H_NODE_STACK && kind != G2H_NODE_CREATION_SITE &&
           kind != G2H_NODE_UNREACHABLE &&
           (scope != PATH_OWN || kind != G2H_NODE_FRAME ||
            (uses_of(view, edge->target) & G2H_NAME_OF_LIBRARY) == 0) &&
           (scope > PATH_FRAMES || kind != G2H_NODE_PACKAGE ||
            (uses_of(view, edge->target) & G2H_NAME_OF_RUNTIME) == 0) &&
           ((scope != PATH_PROGRAM && scope != PATH_GLOBALS) || kind == G2H_NODE_GLOBALS ||
            kind == G2H_NODE_PACKAGE || kind == G2H_NODE_DATA || kind == G2H_NODE_BSS);
}

/* Records that a node was reached from the node with index from, unless it has been reached before,
 * by a path that is not longer. Returns false if memory runs out. */
static bool visit(struct path_search *search, uint32_t node, uint32_t from)
{
    uint32_t index = (uint32_t)search->visited.count;
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

/* Without a limit most nodes will be visited, so an array by node replaces the hash table. */
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
        TRY_MEMORY(search->seen_by_node);
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
    const uint32_t node = search->visited.data[index].node, start = search->visited.data[0].node;
    struct g2h_edge edge;
    g2h_edges_begin(search->edges, node, node + 1);
    while (g2h_edges_next(search->edges, &edge) && ++search->followed < search->most_edges) {
        if (!is_in_scope(search, &edge) ||
            (frames != ALL_FRAMES &&
             is_library_frame(search->view, edge.target) != (frames == LIBRARY_FRAMES)))
            continue;
        search->returns |= edge.target == start;
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
    const uint64_t synthetic = g2h_view_account(search->view)->synthetic_nodes;
    const uint32_t certain = (uint32_t)search->visited.count;
    search->scope = PATH_ALL;
    for (uint32_t i = 0; i < certain; i++)
        if (search->visited.data[i].node < synthetic)
            TRY(path_search_follow(search, i));
    return NULL;
}

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

/* Walks from the node back to the start, and reverses what it has appended. */
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
