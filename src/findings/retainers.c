/* retainers; see retainers.h. */
#include "findings/retainers.h"

#include <stdlib.h>

#include "base/scope.h"

enum { EDGES = 256 /* edges that are read at a time */ };

/* Appends a retainer's class and field: "main.Preview.Auction", "[]*main.Bid[]",
 * "map[string]*main.Preview[]". */
static bool append_retainer(const struct findings *findings, const struct g2h_edge *edge,
                            struct text *text)
{
    struct g2h_node source;
    size_t size;
    g2h_view_brief(findings->view, edge->source, &source);
    const bool is_entries = findings_is_entries(findings->view, source.name);
    const char *class = is_entries ? findings_map_of(findings->view, source.name, &size)
                                   : findings_class_name(findings->view, &source, &size);
    text_append(text, class, size);
    const char *label = g2h_view_name(findings->view, edge->name, &size);
    if (is_entries ||
        (edge->flags & (G2H_EDGE_BY_INDEX | G2H_EDGE_OF_KEY | G2H_EDGE_OF_ELEM)) != 0) {
        text_append(text, "[]", 2);
    } else {
        bool in_brackets = false;
        if (size > 0 && label[0] != '[')
            text_append(text, ".", 1);
        for (size_t i = 0; i < size; i++) {
            if (label[i] == '[' || label[i] == ']')
                in_brackets = label[i] == '[';
            if (!in_brackets || label[i] == '[')
                text_append(text, &label[i], 1);
        }
    }
    return !text->failed;
}

static struct g2h_error *add_retainer(const struct findings *findings, const struct g2h_edge *edge,
                                      struct retainers *retainers)
{
    _cleanup_(text_deinit) struct text text = {0};
    uint32_t number;
    TRY_MEMORY(append_retainer(findings, edge, &text) &&
               string_pool_intern(&retainers->names, text.data, text.size, &number));
    if (number == retainers->list.count)
        TRY_MEMORY(vector_push(&retainers->list, ((struct retainer){0, number, edge->source})));
    retainers->list.data[number].count++;
    return NULL;
}

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
    free(retainers->list.data);
}

struct g2h_error *retainers_find(const struct findings *findings, struct g2h_edges *edges,
                                 uint32_t node, struct retainers *ret)
{
    struct g2h_edge read[EDGES];
    size_t count;
    g2h_edges_begin(edges, 0, g2h_view_node_count(findings->view));
    while ((count = g2h_edges_read(edges, read, EDGES)) > 0)
        for (size_t i = 0; i < count; i++)
            if (read[i].target == node && (read[i].flags & G2H_EDGE_WEAK) == 0)
                TRY(add_retainer(findings, &read[i], ret));
    vector_sort(&ret->list, compare_retainers);
    return NULL;
}
