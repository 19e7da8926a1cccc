/* way; see way.h. */
#include "findings/way.h"

#include <string.h>

#include "base/map.h"
#include "base/memory.h"
#include "base/scope.h"
#include "findings/steps.h"

enum {
    MOST_VISITED = 200000, /* nodes that one search visits, from one dominator to the next, */
    MOST_EDGES = 1000000,  /* and edges that it follows; */
    TIMES = 20,            /* both as many times as large for one of many objects */
    LESS = 10,             /* divisor of both if there is a way already */
    MOST_DOMINATORS = 64,
};

/* A node that was reached, and the index of the node before it. */
struct visited {
    uint32_t node, from; /* index in visited */
};

struct search {
    const struct findings *findings;
    const struct g2h_view *view;
    const struct g2h_dominators *dominators;
    struct g2h_edges *edges;
    VECTOR(struct visited) visited;
    struct map seen;      /* node → index */
    VECTOR(uint32_t) way; /* nodes of the way, from the root on */
};

static enum g2h_node_kind kind_of(const struct search *search, uint32_t node)
{
    struct g2h_node read;
    g2h_view_brief(search->view, node, &read);
    return read.kind;
}

static const char *name_of(const struct search *search, uint32_t node, size_t *ret_size)
{
    struct g2h_node read;
    g2h_view_brief(search->view, node, &read);
    return g2h_view_name(search->view, read.name, ret_size);
}

/* ---- from one dominator to the next ---- */

static bool visit(struct search *search, uint32_t node, uint32_t from)
{
    uint32_t index = (uint32_t)search->visited.count;
    if (!map_put(&search->seen, node, index, &index))
        return false;
    return index < search->visited.count ||
           vector_push(&search->visited, ((struct visited){node, from}));
}

/* Adds the nodes of the way that ends with the node that was visited last, without the first node.
 */
static bool keep_way(struct search *search)
{
    const size_t before = search->way.count;
    for (uint32_t i = (uint32_t)search->visited.count - 1; i != 0; i = search->visited.data[i].from)
        if (!vector_push(&search->way, search->visited.data[i].node))
            return false;
    for (size_t low = before, high = search->way.count; low + 1 < high; low++) {
        const uint32_t node = search->way.data[low];
        search->way.data[low] = search->way.data[--high];
        search->way.data[high] = node;
    }
    return true;
}

/*
 * The edges that a search follows. find_from_roots() tries these scopes in order. PROGRAM: of the
 * groups of roots only the program's globals, by which people know best what something is. OWN: all
 * groups but the runtime's globals, by names that are certain, but not by frames of the runtime and
 * of the packages below every program, to which the frames above these have passed what they hold.
 * FRAMES: by these as well. CERTAIN: also by the runtime's globals. ALL: also by names that are not
 * certain. GLOBALS: only globals, but also the runtime's, for there may be more goroutines than a
 * search can look at.
 */
enum scope { PROGRAM, OWN, FRAMES, CERTAIN, ALL, GLOBALS };

static bool is_runtime(const struct search *search, uint32_t package)
{
    size_t size;
    const char *name = name_of(search, package, &size);
    return size == strlen("runtime") && memcmp(name, "runtime", size) == 0;
}

/* Returns whether a frame is of the runtime, or of a package that waits for others. */
static bool is_below_programs(const struct search *search, uint32_t frame)
{
    static const char *const packages[] = {"runtime", "internal/", "sync",   "syscall", "poll",
                                           "net",     "os",        "io",     "bufio",   "time",
                                           "context", "tls",       "signal", "reflect", NULL};
    size_t size;
    const char *name = name_of(search, frame, &size);
    for (const char *const *at = packages; *at; at++) {
        const size_t count = strlen(*at);
        if (size > count && memcmp(name, *at, count) == 0 &&
            (name[count] == '.' || name[count - 1] == '/'))
            return true;
    }
    return false;
}

static bool is_passed(const struct search *search, const struct g2h_edge *edge, enum scope scope)
{
    const uint64_t synthetic = g2h_view_account(search->view)->synthetic_nodes;
    size_t size;
    const char *name = g2h_view_name(search->view, edge->name, &size);
    if (scope <= CERTAIN && edge->source < synthetic && size > 0 && name[size - 1] == '?')
        return true;
    if (edge->target >= synthetic)
        return false;
    const enum g2h_node_kind kind = kind_of(search, edge->target);
    return (scope == OWN && kind == G2H_NODE_FRAME && is_below_programs(search, edge->target)) ||
           kind == G2H_NODE_STACK || kind == G2H_NODE_CREATION_SITE ||
           kind == G2H_NODE_UNREACHABLE ||
           (scope <= FRAMES && kind == G2H_NODE_PACKAGE && is_runtime(search, edge->target)) ||
           ((scope == PROGRAM || scope == GLOBALS) && kind != G2H_NODE_GLOBALS &&
            kind != G2H_NODE_PACKAGE && kind != G2H_NODE_DATA && kind != G2H_NODE_BSS);
}

static uint32_t merged_in(const struct search *search, uint32_t node)
{
    return search->findings->merged.of[g2h_dominators_number(search->dominators, node)];
}

/* What a search looks for: a node; or one that people cannot tell from it, because it is merged
 * with it, has the same dominator and retains as much; or one that at least is merged with it and
 * has the same dominator. */
enum target { EXACT, EQUAL, ALIKE };

static bool is_found(const struct search *search, uint32_t node, uint32_t from, uint32_t to,
                     enum target target)
{
    if (node == to || target == EXACT)
        return node == to;
    return merged_in(search, node) == merged_in(search, to) &&
           g2h_dominators_of(search->dominators, node) == from &&
           (target == ALIKE || g2h_dominators_retained_size(search->dominators, node) ==
                                   g2h_dominators_retained_size(search->dominators, to));
}

/* Adds the shortest way of strong edges between two nodes, found breadth first. *ret_found is false
 * if there is none that visits at most most nodes. */
static struct g2h_error *find(struct search *search, uint32_t from, uint32_t to, enum target target,
                              enum scope scope, uint32_t most, bool *ret_found)
{
    const uint32_t most_edges = most * (MOST_EDGES / MOST_VISITED);
    struct g2h_edge edge;
    uint32_t edges = 0;
    *ret_found = false;
    search->visited.count = 0;
    map_deinit(&search->seen);
    search->seen = (struct map){0};
    TRY_MEMORY(visit(search, from, 0));
    for (uint32_t i = 0; i < search->visited.count && i < most && edges < most_edges; i++) {
        const uint32_t node = search->visited.data[i].node;
        g2h_edges_begin(search->edges, node, node + 1);
        while (g2h_edges_next(search->edges, &edge) && ++edges < most_edges) {
            if ((edge.flags & G2H_EDGE_WEAK) != 0 || is_passed(search, &edge, scope))
                continue;
            const size_t before = search->visited.count;
            TRY_MEMORY(visit(search, edge.target, i));
            if (search->visited.count == before || !is_found(search, edge.target, from, to, target))
                continue;
            *ret_found = true;
            TRY_MEMORY(keep_way(search));
            return NULL;
        }
    }
    return NULL;
}

/* ---- the best way from the roots ---- */

/* Returns how many edges the last node but one has to nodes of the last node's class. */
static uint64_t covered(const struct search *search)
{
    const size_t count = search->way.count;
    struct g2h_node last, target;
    struct g2h_edge edge;
    uint64_t found = 0;
    if (count < 2)
        return 0;
    g2h_view_brief(search->view, search->way.data[count - 1], &last);
    g2h_edges_begin(search->edges, search->way.data[count - 2], search->way.data[count - 2] + 1);
    for (uint32_t i = 0; i < MOST_EDGES && g2h_edges_next(search->edges, &edge); i++) {
        g2h_view_brief(search->view, edge.target, &target);
        found += target.kind == last.kind && target.name == last.name;
    }
    return found;
}

/* Finds a way from the roots. A way by a variable of the program tells people more than one by a
 * variable of a goroutine, unless the latter leads to more objects of the class. */
static struct g2h_error *find_from_roots(struct search *search, uint32_t from, uint32_t to,
                                         enum target target, bool *ret_found)
{
    const size_t before = search->way.count;
    bool again;
    TRY(find(search, from, to, target, PROGRAM, MOST_VISITED, ret_found));
    const size_t end = search->way.count;
    const uint64_t covers = covered(search);
    for (enum scope scope = OWN; scope <= GLOBALS && !*ret_found; scope++) {
        TRY(find(search, from, to, target, scope, MOST_VISITED, ret_found));
        if (*ret_found)
            return NULL;
    }
    TRY(find(search, from, to, target, OWN, MOST_VISITED / LESS, &again));
    if (again && covered(search) > covers) {
        memmove(search->way.data + before, search->way.data + end,
                (search->way.count - end) * sizeof(*search->way.data));
        search->way.count -= end - before;
    } else {
        search->way.count = end;
    }
    return NULL;
}

/* ---- all of the way ---- */

/* Finds the way from one dominator to the next. */
static struct g2h_error *find_next(struct search *search, uint32_t from, uint32_t to,
                                   enum target target, bool *ret_found)
{
    return kind_of(search, from) == G2H_NODE_GC_ROOTS
               ? find_from_roots(search, from, to, target, ret_found)
               : find(search, from, to, target, ALL, MOST_VISITED, ret_found);
}

/* Finds the way to the node itself, the last one. If it cannot be found among many, one that is
 * merged with it is as true, if not as heavy. */
static struct g2h_error *find_last(struct search *search, uint32_t from, uint32_t to,
                                   bool *ret_found)
{
    TRY(find_next(search, from, to, EQUAL, ret_found));
    if (!*ret_found)
        TRY(find(search, from, to, EQUAL, ALL, MOST_VISITED * TIMES, ret_found));
    return *ret_found ? NULL : find_next(search, from, to, ALIKE, ret_found);
}

static struct g2h_error *collect(struct search *search, uint32_t node)
{
    uint32_t above[MOST_DOMINATORS];
    size_t count = 0;
    for (uint32_t i = node; i != 0 && count < MOST_DOMINATORS;
         i = g2h_dominators_of(search->dominators, i))
        above[count++] = i;
    uint32_t from = 0;
    if (g2h_dominators_of(search->dominators, above[count - 1]) != 0)
        from = above[--count]; /* the node is deep in the tree: the upper part of the way is left
                                  out */
    while (count-- > 0) {
        bool found = false;
        TRY(count == 0 ? find_last(search, from, above[count], &found)
                       : find_next(search, from, above[count], EXACT, &found));
        if (!found)
            TRY_MEMORY(vector_push(&search->way, above[count]));
        from = above[count];
    }
    return NULL;
}

static void search_deinit(struct search *search)
{
    g2h_edges_destroy(search->edges);
    free(search->visited.data);
    free(search->way.data);
    map_deinit(&search->seen);
}

struct g2h_error *way_append(const struct findings *findings, uint32_t node, struct text *text,
                             uint32_t *ret_end)
{
    _cleanup_(search_deinit) struct search search = {
        .findings = findings, .view = findings->view, .dominators = findings->dominators};
    *ret_end = node;
    if (node == 0)
        return NULL;
    TRY(g2h_edges_create(findings->view, &search.edges));
    TRY(collect(&search, node));
    *ret_end = search.way.data[search.way.count - 1];
    return steps_append(findings->view, search.edges, search.way.data, search.way.count, text);
}
