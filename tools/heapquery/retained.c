/*
 * retained; see retained.h.
 *
 * The rules are those of DevTools' HeapSnapshot.ts (computeIsEssentialEdge,
 * calculateDominatorsAndRetainedSizes). These edges hold nothing: weak edges; shortcuts that do not
 * begin at the root; the edge from a WeakMap's table to a value, which the key holds; and edges to
 * nodes that belong to the page from nodes that do not, such as those of the debugger. A node that
 * no edge holds hangs below the root, with all that it holds. The nodes that are left then hold
 * each other; each of them hangs below the root by itself. Unlike DevTools, this leaves each node
 * its own size.
 */
#include "retained.h"

#include "base/error.h"
#include "dominators/semi_nca.h"

#define NOWHERE UINT32_MAX

struct level {
    uint32_t node, next; /* next: the edge to follow next */
};

struct search {
    const struct snapshot *snapshot;
    uint32_t nodes, root;
    uint32_t *first_edge; /* by node, and one entry more for the end */
    uint8_t *is_of_page;
    uint32_t *preorder_of, *node_at; /* preorder numbers by node, and nodes by number */
    uint32_t count, searched; /* numbers given so far; the search gave those below searched */
    VECTOR(struct level) levels;
    uint32_t *idom, *back;           /* see semi_nca.h */
    struct semi_nca_node *by_number; /* see semi_nca.h; one entry more for the end */
    size_t back_count;
    struct climb *climbs;
};

/* ---- which edges hold ---- */

static bool is_from_table(const struct search *search, uint32_t from,
                          const struct snapshot_edge *edge)
{
    const struct snapshot *snapshot = search->snapshot;
    const uint32_t pair = map_get(&snapshot->ephemerons, edge->name_or_index);
    return pair != MAP_NONE && snapshot->tables_of.data[pair] == snapshot->nodes.data[from].id;
}

static inline bool holds(const struct search *search, uint32_t from,
                         const struct snapshot_edge *edge)
{
    const struct snapshot_types *types = &search->snapshot->types;
    if (edge->type == types->weak || edge->to == from)
        return false;
    if (edge->type == types->internal && search->snapshot->ephemerons.count > 0 &&
        is_from_table(search, from, edge))
        return false;
    return from == search->root || (edge->type != types->shortcut &&
                                    (search->is_of_page[from] || !search->is_of_page[edge->to]));
}

/* Returns whether an edge of the root leads to a node that belongs to the page. */
static bool is_entry(const struct snapshot *snapshot, const struct snapshot_edge *edge)
{
    const struct snapshot_types *types = &snapshot->types;
    const struct snapshot_node *node = &snapshot->nodes.data[edge->to];
    return edge->type == types->shortcut ||
           (edge->type == types->element && node->type == types->synthetic &&
            node->name == snapshot->dom_trees);
}

static bool mark_page(struct search *search, uint32_t node)
{
    if (search->is_of_page[node])
        return true;
    search->is_of_page[node] = true;
    return vector_push(&search->levels, ((struct level){node, 0}));
}

/* Marks the page's windows and documents, and the nodes that they lead to. */
static struct g2h_error *mark_all_of_page(struct search *search)
{
    const struct snapshot_edge *edges = search->snapshot->edges.data;
    const uint32_t *first_edge = search->first_edge;
    for (uint32_t i = first_edge[search->root]; i < first_edge[search->root + 1]; i++)
        if (is_entry(search->snapshot, &edges[i]))
            TRY_MEMORY(mark_page(search, edges[i].to));
    while (search->levels.count > 0) {
        const uint32_t from = search->levels.data[--search->levels.count].node;
        for (uint32_t i = first_edge[from]; i < first_edge[from + 1]; i++)
            if (edges[i].type != search->snapshot->types.weak)
                TRY_MEMORY(mark_page(search, edges[i].to));
    }
    return NULL;
}

/* ---- the depth-first search ---- */

static void give_number(struct search *search, uint32_t node, uint32_t parent)
{
    search->preorder_of[node] = search->count;
    search->node_at[search->count] = node;
    search->idom[search->count] = search->by_number[search->count].semi = parent;
    search->count++;
}

/* Numbers a node, as a child of the number parent, and all nodes that it holds, directly or through
 * others, and that have no number yet. */
static struct g2h_error *search_from(struct search *search, uint32_t node, uint32_t parent)
{
    const struct snapshot_edge *edges = search->snapshot->edges.data;
    give_number(search, node, parent);
    TRY_MEMORY(vector_push(&search->levels, ((struct level){node, search->first_edge[node]})));
    while (search->levels.count > 0) {
        struct level *top = &search->levels.data[search->levels.count - 1];
        const uint32_t from = top->node;
        if (top->next == search->first_edge[from + 1]) {
            search->levels.count--;
            continue;
        }
        const struct snapshot_edge *edge = &edges[top->next++];
        if (search->preorder_of[edge->to] != NOWHERE || !holds(search, from, edge))
            continue;
        give_number(search, edge->to, search->preorder_of[from]);
        TRY_MEMORY(
            vector_push(&search->levels, ((struct level){edge->to, search->first_edge[edge->to]})));
    }
    return NULL;
}

/* Marks the nodes that something holds. */
static void mark_held(const struct search *search, uint8_t *is_held)
{
    const struct snapshot_edge *edges = search->snapshot->edges.data;
    for (uint32_t from = 0; from < search->nodes; from++)
        for (uint32_t i = search->first_edge[from]; i < search->first_edge[from + 1]; i++)
            if (!is_held[edges[i].to] && holds(search, from, &edges[i]))
                is_held[edges[i].to] = true;
}

static struct g2h_error *number_all(struct search *search)
{
    memset(search->preorder_of, 0xff, search->nodes * sizeof(*search->preorder_of));
    TRY(search_from(search, search->root, 0));
    if (search->count < search->nodes) {
        _cleanup_free_ uint8_t *is_held = calloc(search->nodes, 1);
        TRY_MEMORY(is_held);
        mark_held(search, is_held);
        for (uint32_t node = 0; node < search->nodes; node++)
            if (search->preorder_of[node] == NOWHERE && !is_held[node])
                TRY(search_from(search, node, 0));
    }
    search->searched = search->count;
    for (uint32_t node = 0; node < search->nodes; node++)
        if (search->preorder_of[node] == NOWHERE)
            give_number(search, node, 0);
    return NULL;
}

/* ---- edges by target ---- */

/* Calls take for each edge that holds, with the numbers of its nodes. Edges of nodes that the
 * search did not reach are left out: these nodes only hold each other, and hold nothing else. */
static void take_edges(struct search *search,
                       void (*take)(struct search *search, uint32_t from, uint32_t to))
{
    const struct snapshot_edge *edges = search->snapshot->edges.data;
    for (uint32_t from = 0; from < search->nodes; from++) {
        const uint32_t number = search->preorder_of[from];
        if (number >= search->searched)
            continue;
        for (uint32_t i = search->first_edge[from]; i < search->first_edge[from + 1]; i++)
            if (holds(search, from, &edges[i]))
                take(search, number, search->preorder_of[edges[i].to]);
    }
}

static void count_edge(struct search *search, uint32_t from, uint32_t to)
{
    if (from > to)
        search->by_number[to].back++;
    else if (from < search->by_number[to].semi)
        search->by_number[to].semi = from;
}

static void put_edge(struct search *search, uint32_t from, uint32_t to)
{
    if (from > to)
        search->back[--search->by_number[to].back] = from;
}

static struct g2h_error *sort_edges(struct search *search)
{
    uint32_t sum = 0;
    take_edges(search, count_edge);
    for (uint32_t i = 0; i < search->nodes; i++)
        search->by_number[i].back = sum += search->by_number[i].back; /* where its back edges end */
    search->by_number[search->nodes].back = sum;
    search->back_count = sum;
    search->back = large_alloc(sum, sizeof(*search->back));
    TRY_MEMORY(search->back);
    take_edges(search, put_edge);
    return NULL;
}

/* ---- all of it ---- */

static struct g2h_error *allocate(struct search *search)
{
    const size_t nodes = search->nodes;
    search->first_edge = large_alloc(nodes + 1, sizeof(*search->first_edge));
    search->is_of_page = large_alloc(nodes, sizeof(*search->is_of_page));
    search->preorder_of = large_alloc(nodes, sizeof(*search->preorder_of));
    search->node_at = large_alloc(nodes, sizeof(*search->node_at));
    search->idom = large_alloc(nodes, sizeof(*search->idom));
    search->by_number = large_alloc(nodes + 1, sizeof(*search->by_number));
    TRY_MEMORY(search->first_edge && search->is_of_page && search->preorder_of && search->node_at &&
               search->idom && search->by_number);
    for (size_t i = 0; i < nodes; i++)
        search->first_edge[i + 1] = search->first_edge[i] + search->snapshot->nodes.data[i].edges;
    return NULL;
}

static void search_deinit(struct search *search)
{
    const size_t nodes = search->nodes;
    large_free(search->first_edge, nodes + 1, sizeof(*search->first_edge));
    large_free(search->is_of_page, nodes, sizeof(*search->is_of_page));
    large_free(search->preorder_of, nodes, sizeof(*search->preorder_of));
    large_free(search->node_at, nodes, sizeof(*search->node_at));
    large_free(search->idom, nodes, sizeof(*search->idom));
    large_free(search->by_number, nodes + 1, sizeof(*search->by_number));
    large_free(search->back, search->back_count, sizeof(*search->back));
    large_free(search->climbs, nodes, sizeof(*search->climbs));
    free(search->levels.data);
}

static struct g2h_error *take_results(const struct search *search, struct retained *ret)
{
    const uint32_t nodes = search->nodes;
    ret->dominators = malloc(nodes * sizeof(*ret->dominators));
    ret->sizes = malloc(nodes * sizeof(*ret->sizes));
    TRY_MEMORY(ret->dominators && ret->sizes);
    for (uint32_t i = 0; i < nodes; i++)
        ret->sizes[i] = search->snapshot->nodes.data[i].self_size;
    for (uint32_t number = nodes; number-- > 0;) {
        const uint32_t node = search->node_at[number],
                       above = search->node_at[search->idom[number]];
        ret->dominators[node] = above;
        if (number > 0)
            ret->sizes[above] += ret->sizes[node];
    }
    return NULL;
}

struct g2h_error *retained_init(struct retained *retained, const struct snapshot *snapshot)
{
    _cleanup_(search_deinit) struct search search = {
        .snapshot = snapshot,
        .nodes = (uint32_t)snapshot->nodes.count,
        .root = (uint32_t)(snapshot->root / snapshot->node_fields),
    };
    *retained = (struct retained){0};
    TRY(allocate(&search));
    TRY(mark_all_of_page(&search));
    TRY(number_all(&search));
    TRY(sort_edges(&search));
    search.climbs = large_alloc(search.nodes, sizeof(*search.climbs));
    TRY_MEMORY(search.climbs);
    semi_nca_run(&(struct semi_nca){search.idom, search.by_number, search.back, search.climbs}, 0,
                 search.nodes);
    return take_results(&search, retained);
}

void retained_deinit(struct retained *retained)
{
    free(retained->dominators);
    free(retained->sizes);
}
