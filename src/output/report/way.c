/* way; see way.h. */
#include "output/report/way.h"

#include <string.h>

#include "base/map.h"
#include "base/memory.h"
#include "base/scope.h"

enum {
    MOST_VISITED = 200000, /* nodes, on the way from one dominator to the next */
    MOST_EDGES = 1000000,  /* and edges */
    MOST_STEPS = 24,       /* of a way; what is between is left out */
    MOST_DOMINATORS = 64,
};

/* Nodes that were reached, and from where. */
struct visited {
    uint32_t node, from; /* index */
};

struct search {
    const struct g2h_view *view;
    const struct g2h_dominators *dominators;
    struct g2h_edges *edges;
    VECTOR(struct visited) visited;
    struct map seen;      /* node → index */
    VECTOR(uint32_t) way; /* nodes, from the root on */
    bool has_gap;         /* a part of the way was not found */
};

static enum g2h_node_kind kind_of(const struct search *search, uint32_t node)
{
    struct g2h_node read;
    g2h_view_node(search->view, node, &read);
    return read.kind;
}

static const char *name_of(const struct search *search, uint32_t node, size_t *ret_size)
{
    struct g2h_node read;
    g2h_view_node(search->view, node, &read);
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

/* Adds the nodes of the way that ends with the last one that was visited, without the first. */
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
 * What is looked at, one after the other: of the roots' groups the program's globals, by which
 * people know best what something is; all of them, by names that are certain; by others, too; and
 * only globals, also the runtime's, for goroutines may be more than can be looked at.
 */
enum scope { PROGRAM, CERTAIN, ALL, GLOBALS };

static bool is_runtime(const struct search *search, uint32_t package)
{
    size_t size;
    const char *name = name_of(search, package, &size);
    return size == strlen("runtime") && memcmp(name, "runtime", size) == 0;
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
    return kind == G2H_NODE_STACK || kind == G2H_NODE_CREATION_SITE ||
           kind == G2H_NODE_UNREACHABLE ||
           (scope == PROGRAM && kind == G2H_NODE_PACKAGE && is_runtime(search, edge->target)) ||
           ((scope == PROGRAM || scope == GLOBALS) && kind != G2H_NODE_GLOBALS &&
            kind != G2H_NODE_PACKAGE && kind != G2H_NODE_DATA && kind != G2H_NODE_BSS);
}

/* Whether a node will do: the one that is looked for or, where any of its class is as good, one
 * that the same holds alone. */
static bool is_found(const struct search *search, uint32_t node, uint32_t from, uint32_t to,
                     bool any)
{
    struct g2h_node is, wanted;
    if (node == to || !any)
        return node == to;
    g2h_view_node(search->view, node, &is);
    g2h_view_node(search->view, to, &wanted);
    return is.kind == wanted.kind && is.name == wanted.name &&
           g2h_dominators_of(search->dominators, node) == from;
}

/* The shortest way of strong edges between two nodes, breadth first. *ret_found is false where it
 * takes too long. */
static struct g2h_error *find(struct search *search, uint32_t from, uint32_t to, bool any,
                              enum scope scope, bool *ret_found)
{
    struct g2h_edge edge;
    uint32_t edges = 0;
    *ret_found = false;
    search->visited.count = 0;
    map_deinit(&search->seen);
    search->seen = (struct map){0};
    TRY_MEMORY(visit(search, from, 0));
    for (uint32_t i = 0; i < search->visited.count && i < MOST_VISITED && edges < MOST_EDGES; i++) {
        const uint32_t node = search->visited.data[i].node;
        g2h_edges_begin(search->edges, node, node + 1);
        while (g2h_edges_next(search->edges, &edge) && ++edges < MOST_EDGES) {
            if ((edge.flags & G2H_EDGE_WEAK) != 0 || is_passed(search, &edge, scope))
                continue;
            const size_t before = search->visited.count;
            TRY_MEMORY(visit(search, edge.target, i));
            if (search->visited.count == before || !is_found(search, edge.target, from, to, any))
                continue;
            *ret_found = true;
            TRY_MEMORY(keep_way(search));
            return NULL;
        }
    }
    return NULL;
}

/* ---- the best one ---- */

/* How many of the class of the last node the one before it leads to. */
static uint64_t covered(const struct search *search)
{
    const size_t count = search->way.count;
    struct g2h_node last, target;
    struct g2h_edge edge;
    uint64_t found = 0;
    if (count < 2)
        return 0;
    g2h_view_node(search->view, search->way.data[count - 1], &last);
    g2h_edges_begin(search->edges, search->way.data[count - 2], search->way.data[count - 2] + 1);
    for (uint32_t i = 0; i < MOST_EDGES && g2h_edges_next(search->edges, &edge); i++) {
        g2h_view_node(search->view, edge.target, &target);
        found += target.kind == last.kind && target.name == last.name;
    }
    return found;
}

/* From the roots: what one variable of the program leads to is better known by it than by the
 * variable of a goroutine, unless that leads to more of them. */
static struct g2h_error *find_from_roots(struct search *search, uint32_t from, uint32_t to,
                                         bool any, bool *ret_found)
{
    const size_t before = search->way.count;
    bool again;
    TRY(find(search, from, to, any, PROGRAM, ret_found));
    const size_t end = search->way.count;
    const uint64_t covers = covered(search);
    for (enum scope scope = CERTAIN; scope <= GLOBALS && !*ret_found; scope++) {
        TRY(find(search, from, to, any, scope, ret_found));
        if (*ret_found)
            return NULL;
    }
    TRY(find(search, from, to, any, CERTAIN, &again));
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

static struct g2h_error *collect(struct search *search, uint32_t node)
{
    uint32_t above[MOST_DOMINATORS];
    size_t count = 0;
    for (uint32_t i = node; i != 0 && count < MOST_DOMINATORS;
         i = g2h_dominators_of(search->dominators, i))
        above[count++] = i;
    uint32_t from = 0;
    if (g2h_dominators_of(search->dominators, above[count - 1]) != 0)
        from = above[--count]; /* it is far: the upper part is left out */
    while (count-- > 0) {
        bool found = false;
        TRY(kind_of(search, from) == G2H_NODE_GC_ROOTS
                ? find_from_roots(search, from, above[count], count == 0, &found)
                : find(search, from, above[count], count == 0, ALL, &found));
        search->has_gap |= !found;
        if (!found)
            TRY_MEMORY(vector_push(&search->way, above[count]));
        from = above[count];
    }
    return NULL;
}

/* ---- as text ---- */

static bool ends_in(const char *text, size_t size, const char *end)
{
    const size_t count = strlen(end);
    return size >= count && memcmp(text + size - count, end, count) == 0;
}

/* Whether a node is what the runtime keeps of a map. */
static bool is_entries(const struct search *search, uint32_t node)
{
    size_t size;
    const char *name = name_of(search, node, &size);
    return ends_in(name, size, " entries");
}

static bool find_edge(const struct search *search, uint32_t from, uint32_t to, struct g2h_edge *ret)
{
    g2h_edges_begin(search->edges, from, from + 1);
    for (uint32_t i = 0; i < MOST_EDGES && g2h_edges_next(search->edges, ret); i++)
        if (ret->target == to && (ret->flags & G2H_EDGE_WEAK) == 0)
            return true;
    return false;
}

static void append_edge(const struct search *search, const struct g2h_edge *edge, struct text *text)
{
    struct g2h_key_name key;
    size_t size;
    const enum g2h_key kind = g2h_edges_key(search->edges, edge, &key);
    const char *name = g2h_view_name(search->view, edge->name, &size);
    if (kind == G2H_KEY_TEXT) {
        text_append(text, key.text, key.size);
    } else if (kind == G2H_KEY_INDEX || (edge->flags & G2H_EDGE_BY_INDEX) != 0) {
        text_printf(text, "[%llu]",
                    (unsigned long long)(kind == G2H_KEY_INDEX ? key.index : edge->index));
    } else {
        if (text->size > 0 && size > 0 && name[0] != '[' && text->data[text->size - 1] != '.')
            text_append(text, ".", 1);
        text_append(text, name, size);
    }
}

/* What a way begins with: "main." of a package; of a frame its variable, and that it is of the
 * frame. */
static bool append_begin(const struct search *search, uint32_t node, struct text *text,
                         struct text *whose)
{
    size_t size;
    const enum g2h_node_kind kind = kind_of(search, node);
    const char *name = name_of(search, node, &size);
    if (kind == G2H_NODE_PACKAGE) {
        text_append(text, name, size);
        text_append(text, ".", 1);
    } else if (kind == G2H_NODE_FRAME) {
        text_printf(whose, "local of ");
        text_append(whose, name, size);
    } else if (kind == G2H_NODE_OTHER_ROOTS || kind == G2H_NODE_FINALIZER ||
               kind == G2H_NODE_QUEUED_FINALIZER || kind == G2H_NODE_DEFER ||
               kind == G2H_NODE_PANIC || kind == G2H_NODE_CLEANUP) {
        text_append(whose, name, size);
    } else {
        return kind == G2H_NODE_DATA || kind == G2H_NODE_BSS;
    }
    return true;
}

static void append_steps(const struct search *search, size_t from, struct text *text)
{
    const uint32_t *way = search->way.data;
    const size_t count = search->way.count;
    for (size_t i = from; i + 1 < count; i++) {
        struct g2h_edge edge;
        if (i - from == MOST_STEPS / 2 && count - i > MOST_STEPS / 2) {
            text_printf(text, " … ");
            i = count - MOST_STEPS / 2;
        }
        if (is_entries(search, way[i + 1]))
            continue;
        if (find_edge(search, way[i], way[i + 1], &edge))
            append_edge(search, &edge, text);
        else
            text_printf(text, " … ");
    }
}

static struct g2h_error *append(const struct search *search, struct text *text)
{
    _cleanup_(text_deinit) struct text whose = {0};
    const uint32_t synthetic = (uint32_t)g2h_view_account(search->view)->synthetic_nodes;
    size_t last = search->way.count;
    for (size_t i = 0; i < search->way.count && search->way.data[i] < synthetic; i++)
        last = i;
    if (last + 1 >= search->way.count)
        return NULL;
    append_begin(search, search->way.data[last], text, &whose);
    append_steps(search, last, text);
    if (whose.size > 0) {
        text_printf(text, "  (");
        text_append(text, whose.data, whose.size);
        text_append(text, ")", 1);
    }
    TRY_MEMORY(!whose.failed && !text->failed);
    return NULL;
}

static void search_deinit(struct search *search)
{
    g2h_edges_destroy(search->edges);
    free(search->visited.data);
    free(search->way.data);
    map_deinit(&search->seen);
}

struct g2h_error *way_append(const struct g2h_view *view, const struct g2h_dominators *dominators,
                             uint32_t node, struct text *text)
{
    _cleanup_(search_deinit) struct search search = {.view = view, .dominators = dominators};
    if (node == 0)
        return NULL;
    TRY(g2h_edges_create(view, &search.edges));
    TRY(collect(&search, node));
    return append(&search, text);
}
