/* retainers; see retainers.h. */
#include "findings/retainers.h"

#include <stdlib.h>

#include "base/scope.h"
#include "findings/held.h"

enum { EDGES = 256 /* edges that are read at a time */ };

/* Returns whether a retainer's edge has a name of its own, other than those of the elements and
 * entries that lead there as well. */
static bool has_label(const struct g2h_edge *edge, bool is_entries)
{
    return !is_entries &&
           (edge->flags & (G2H_EDGE_BY_INDEX | G2H_EDGE_OF_KEY | G2H_EDGE_OF_ELEM)) == 0;
}

/* Appends a retainer's class and field: "main.Preview.Auction", "[]*main.Bid[]",
 * "map[string]*main.Preview[]". */
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
    const struct retainer *one = a, *other = b;
    if (one->count != other->count)
        return one->count > other->count ? -1 : 1;
    return one->name < other->name ? -1 : one->name > other->name;
}

void retainers_deinit(struct retainers *retainers)
{
    string_pool_deinit(&retainers->names);
    map_deinit(&retainers->by_edge);
    free(retainers->list.data);
}

/* Adds all edges to a node by the index of retainers. */
static struct g2h_error *retainers_look_up(const struct findings *findings, struct g2h_edges *edges,
                                           uint32_t node, struct retainers *ret)
{
    const uint32_t *sources;
    const uint64_t count = g2h_retainers_of(findings->held->retainers, node, &sources);
    struct g2h_edge edge;
    for (uint64_t i = 0; i < count; i++) {
        if (i > 0 && sources[i] == sources[i - 1])
            continue;
        g2h_edges_begin(edges, sources[i], sources[i] + 1);
        while (g2h_edges_next_to(edges, node, &edge))
            if ((edge.flags & G2H_EDGE_WEAK) == 0)
                TRY(add_retainer(findings, &edge, ret));
    }
    vector_sort(&ret->list, compare_retainers);
    return NULL;
}

/* Goes over all edges once, whatever the number of nodes. A bit per node tells most targets apart
 * from the nodes that are asked for; only for a hit are these compared one by one. */
struct g2h_error *retainers_find_all(const struct findings *findings, struct g2h_edges *edges,
                                     const uint32_t *nodes, size_t count, struct retainers *ret)
{
    enum { BITS = 64 };
    const uint32_t all = g2h_view_node_count(findings->view);
    _cleanup_free_ uint64_t *is_asked = calloc(all / BITS + 1, sizeof(*is_asked));
    struct g2h_edge read[EDGES];
    size_t got;
    TRY_MEMORY(is_asked);
    for (size_t i = 0; i < count; i++)
        is_asked[nodes[i] / BITS] |= 1ull << nodes[i] % BITS;
    g2h_edges_begin(edges, 0, all);
    while ((got = g2h_edges_read(edges, read, EDGES)) > 0)
        for (size_t i = 0; i < got; i++) {
            const uint32_t target = read[i].target;
            if ((is_asked[target / BITS] >> target % BITS & 1) == 0 ||
                (read[i].flags & G2H_EDGE_WEAK) != 0)
                continue;
            for (size_t j = 0; j < count; j++)
                if (nodes[j] == target)
                    TRY(add_retainer(findings, &read[i], &ret[j]));
        }
    for (size_t i = 0; i < count; i++)
        vector_sort(&ret[i].list, compare_retainers);
    return NULL;
}

struct g2h_error *retainers_find(const struct findings *findings, struct g2h_edges *edges,
                                 uint32_t node, struct retainers *ret)
{
    return findings->held ? retainers_look_up(findings, edges, node, ret)
                          : retainers_find_all(findings, edges, &node, 1, ret);
}
