/* path; see path.h. */
#include "findings/path.h"

#include <stdlib.h>
#include <string.h>

#include "base/scope.h"
#include "findings/expression.h"
#include "findings/findings.h"

enum {
    MOST_VISITED = 200000, /* nodes whose edges one search follows */
    TIMES = 20,            /* as many times as large for one of many objects */
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
    struct path_search all;                  /* of paths_search_all(), likewise */
    node_vector nodes;                       /* of the path, from the root on */
};

struct g2h_error *paths_create(const struct findings *findings, struct paths **ret)
{
    struct paths *paths = *ret = calloc(1, sizeof(*paths));
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
    path_search_deinit(&paths->all);
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
 * among the nodes that have been visited, or further on. */
static struct g2h_error *path_find(struct paths *paths, struct path_search *search, uint32_t to,
                                   enum path_target target, bool *ret_found)
{
    uint32_t at = 1;
    *ret_found = false;
    for (bool more = true; more;) {
        for (; at < search->visited.count; at++) {
            const uint32_t from = search->visited.data[0].node;
            if (!is_found(paths, search->visited.data[at].node, from, to, target))
                continue;
            *ret_found = true;
            TRY_MEMORY(path_search_append(search, at, &paths->nodes));
            return NULL;
        }
        TRY(path_search_extend(search, &more));
    }
    return NULL;
}

/* Like path_find(), with a new search from the node from that is dropped afterwards and follows the
 * edges of at most most nodes. */
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
 * is a scope, or LESS_OWN. */
static struct g2h_error *path_find_in(struct paths *paths, uint32_t from, uint32_t to,
                                      enum path_target target, int number, bool *ret_found)
{
    struct path_search *search = &paths->from_roots[number];
    const bool is_less = number == LESS_OWN;
    if (!search->view)
        TRY(path_search_begin(search, paths->view, paths->edges, from,
                              is_less ? PATH_OWN : (enum path_scope)number,
                              is_less ? MOST_VISITED / LESS : MOST_VISITED));
    return path_find(paths, search, to, target, ret_found);
}

/* Finds a path from the roots. A path by a variable of the program is more informative than one by
 * a variable of a goroutine, unless the latter leads to more objects of the class. */
static struct g2h_error *find_from_roots(struct paths *paths, uint32_t from, uint32_t to,
                                         enum path_target target, bool *ret_found)
{
    const size_t before = paths->nodes.count;
    bool again;
    TRY(path_find_in(paths, from, to, target, PATH_PROGRAM, ret_found));
    const size_t end = paths->nodes.count;
    const uint64_t covers = edges_to_class(paths);
    for (int scope = PATH_OWN; scope <= PATH_GLOBALS && !*ret_found; scope++) {
        TRY(path_find_in(paths, from, to, target, scope, ret_found));
        if (*ret_found)
            return NULL;
    }
    TRY(path_find_in(paths, from, to, target, LESS_OWN, &again));
    if (again && edges_to_class(paths) > covers) {
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

/* Finds the path to the node itself, the last one. If it cannot be found among many, one that is
 * merged with it is as true, if not as heavy. */
static struct g2h_error *find_last(struct paths *paths, uint32_t from, uint32_t to, bool *ret_found)
{
    TRY(find_next(paths, from, to, EQUAL, ret_found));
    if (!*ret_found)
        TRY(find_once(paths, from, to, EQUAL, MOST_VISITED * TIMES, ret_found));
    return *ret_found ? NULL : find_next(paths, from, to, ALIKE, ret_found);
}

/* Finds the path as a sequence of short searches, from each dominator to the next: every path goes
 * through all of them, and a search over the whole heap would take too long. A part that is not
 * found is left out. */
static struct g2h_error *collect_by_dominators(struct paths *paths, uint32_t node)
{
    uint32_t above[MOST_DOMINATORS];
    size_t count = 0;
    for (uint32_t i = node; i != 0 && count < MOST_DOMINATORS;
         i = g2h_dominators_of(paths->dominators, i))
        above[count++] = i;
    uint32_t from = 0;
    if (g2h_dominators_of(paths->dominators, above[count - 1]) != 0)
        from = above[--count]; /* the node is deep in the tree: the upper part of the path is left
                                  out */
    while (count-- > 0) {
        bool found = false;
        TRY(count == 0 ? find_last(paths, from, above[count], &found)
                       : find_next(paths, from, above[count], EXACT, &found));
        if (!found)
            TRY_MEMORY(vector_push(&paths->nodes, above[count]));
        from = above[count];
    }
    return NULL;
}

struct g2h_error *path_append(struct paths *paths, uint32_t node, struct text *text,
                              uint32_t *ret_end)
{
    *ret_end = node;
    if (node == 0)
        return NULL;
    paths->nodes.count = 0;
    TRY(collect_by_dominators(paths, node));
    *ret_end = paths->nodes.data[paths->nodes.count - 1];
    return expression_append(paths->view, paths->edges, paths->nodes.data, paths->nodes.count,
                             text);
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
            break;
        TRY(path_search_extend(search, &more));
    }
    return NULL;
}

static struct g2h_error *path_search_from_roots(const struct paths *paths, struct path_search *ret)
{
    return path_search_begin(ret, paths->view, paths->edges, 0, PATH_CERTAIN_FIRST, PATH_NO_LIMIT);
}

struct g2h_error *paths_search_all(struct paths *paths)
{
    TRY(path_search_from_roots(paths, &paths->all));
    for (bool more = true; more;)
        TRY(path_search_extend(&paths->all, &more));
    return NULL;
}

/* Uses the search over the whole heap if paths_search_all() has made it; otherwise searches only
 * until all nodes are found. */
struct g2h_error *paths_shortest(struct paths *paths, const uint32_t *nodes, size_t count,
                                 node_vector *ret)
{
    _cleanup_(path_search_deinit) struct path_search once = {.view = NULL};
    struct path_search *search = paths->all.view ? &paths->all : &once;
    if (search == &once) {
        TRY(path_search_from_roots(paths, search));
        TRY(extend_to_all(search, nodes, count));
    }
    for (size_t i = 0; i < count; i++) {
        const uint32_t seen = search->seen_by_node[nodes[i]];
        ret[i].count = 0;
        if (seen != 0)
            TRY_MEMORY(vector_push(&ret[i], 0) && path_search_append(search, seen - 1, &ret[i]));
    }
    return NULL;
}

struct g2h_error *path_shortest(struct paths *paths, uint32_t node, node_vector *ret)
{
    return paths_shortest(paths, &node, 1, ret);
}

bool path_shows(const struct g2h_view *view, uint32_t node)
{
    const enum g2h_node_kind kind = findings_kind_of(view, node);
    return kind != G2H_NODE_ROOT && kind != G2H_NODE_GC_ROOTS && kind != G2H_NODE_GLOBALS &&
           kind != G2H_NODE_GOROUTINES && kind != G2H_NODE_GOROUTINES_IN_PLACE &&
           !expression_hides(view, node);
}

void path_append_step(struct paths *paths, uint32_t from, uint32_t to, struct text *text)
{
    const enum g2h_node_kind kind = findings_kind_of(paths->view, from);
    if (merged_is_object(kind) || kind == G2H_NODE_PACKAGE || kind == G2H_NODE_FRAME)
        expression_append_step(paths->view, paths->edges, from, to, text);
}

/* For a path from a node to itself the search must return to its begin, which it has visited
 * already: search.returns. */
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
