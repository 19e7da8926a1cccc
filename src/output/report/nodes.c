/* nodes; see sections.h. */
#include "output/report/sections.h"

#include <string.h>

#include "base/scope.h"
#include "output/report/suspects.h"

bool report_is_kind(const struct report *report, uint32_t node, enum g2h_node_kind kind)
{
    return report_node(report, node)->kind == MERGED_SYNTHETIC &&
           merged_kind_of(&report->merged, node) == kind;
}

/* Returns the first node of a kind, which is the one nearest to the root, or MERGED_NONE. */
uint32_t report_find_kind(const struct report *report, enum g2h_node_kind kind)
{
    for (uint32_t i = 0; i < report->merged.nodes.count; i++)
        if (report_is_kind(report, i, kind))
            return i;
    return MERGED_NONE;
}

void report_free_ranking(ranking *list)
{
    free(list->data);
}

int report_compare_ranks(const void *a, const void *b)
{
    const struct ranked *one = a, *other = b;
    if (one->weight != other->weight)
        return one->weight > other->weight ? -1 : 1;
    return one->node < other->node ? -1 : one->node > other->node;
}

/* Adds the children of a node, those that retain most first. */
struct g2h_error *report_rank_children(const struct report *report, uint32_t node, ranking *ret)
{
    for (uint32_t i = report_node(report, node)->child; i != MERGED_NONE;
         i = report_node(report, i)->sibling)
        TRY_MEMORY(vector_push(ret, ((struct ranked){report_node(report, i)->retained, i})));
    vector_sort(ret, report_compare_ranks);
    return NULL;
}

void report_append_name(const struct report *report, uint32_t node, struct text *text)
{
    size_t size;
    const char *name = merged_name(&report->merged, node, &size);
    text_append(text, name, size);
}

struct page_field report_class(const struct report *report, const char *key, uint32_t name)
{
    size_t size;
    const char *text = g2h_view_name(report->view, name, &size);
    return name == G2H_NAME_NONE ? page_words(key, "(string)") : page_text(key, text, size);
}

struct page_field report_name(const struct report *report, const char *key, uint32_t node)
{
    size_t size;
    const char *name = merged_name(&report->merged, node, &size);
    return page_text(key, name, size);
}

static int64_t count_of(const struct report *report, uint32_t node)
{
    return (int64_t)report_node(report, node)->count;
}

static int64_t growth_of(const struct report *report, uint32_t node)
{
    return report->growth.data[node].count;
}

/* Returns a number of the calls of a list: a node that has no calls, but leads to records. */
static int64_t of_list(const struct report *report, uint32_t node,
                       int64_t (*of)(const struct report *report, uint32_t node))
{
    static const char record[] = "runtime._defer";
    int64_t most = 0;
    for (uint32_t i = node + 1; i < report->merged.nodes.count; i++) {
        uint32_t above = i;
        size_t size;
        const char *name = merged_name(&report->merged, i, &size);
        if (size != sizeof(record) - 1 || memcmp(name, record, size) != 0)
            continue;
        while (above > node)
            above = report_node(report, above)->parent;
        if (above == node && of(report, i) > most)
            most = of(report, i);
    }
    return most;
}

/* Returns a number of a node; of a group the sum over the goroutines, or deferred calls, in it. */
static int64_t sum_members(const struct report *report, uint32_t node,
                           int64_t (*of)(const struct report *report, uint32_t node))
{
    const bool is_deferred = report_is_kind(report, node, G2H_NODE_DEFERRED_CALLS);
    const enum g2h_node_kind member = is_deferred ? G2H_NODE_DEFER : G2H_NODE_GOROUTINE;
    int64_t sum = 0;
    if (!is_deferred && !report_is_kind(report, node, G2H_NODE_GOROUTINES_IN_PLACE))
        return of(report, node);
    for (uint32_t i = report_node(report, node)->child; i != MERGED_NONE;
         i = report_node(report, i)->sibling)
        if (report_is_kind(report, i, member))
            sum += of(report, i);
    return is_deferred && sum == 0 ? of_list(report, node, of) : sum;
}

uint64_t report_members(const struct report *report, uint32_t node)
{
    return (uint64_t)sum_members(report, node, count_of);
}

int64_t report_members_grown(const struct report *report, uint32_t node)
{
    return sum_members(report, node, growth_of);
}

/* Returns the weight that nodes are ranked by: the bytes that a node retains or, with a base, by
 * how much these have grown in the node or in one below it. */
uint64_t report_weight(const struct report *report, uint32_t node)
{
    return report->base ? report->growth.data[node].weight : report_node(report, node)->retained;
}

/* Appends the name of the first node that an edge called label leads to or, without a label, of the
 * first one of a kind that an edge leads to. */
void report_append_target(const struct report *report, struct g2h_edges *edges, uint32_t node,
                          const char *label, enum g2h_node_kind kind, struct text *text)
{
    struct g2h_edge edge;
    g2h_edges_begin(edges, node, node + 1);
    while (g2h_edges_next(edges, &edge)) {
        struct g2h_node target;
        size_t size;
        const char *name = g2h_view_name(report->view, edge.name, &size);
        g2h_view_brief(report->view, edge.target, &target);
        if (label ? size != strlen(label) || memcmp(name, label, size) != 0 : target.kind != kind)
            continue;
        name = g2h_view_name(report->view, target.name, &size);
        text_append(text, name, size);
        break;
    }
}

/* Returns the goroutine that is the example of a place. */
uint32_t report_example_goroutine(const struct report *report, uint32_t place)
{
    for (uint32_t i = report_node(report, place)->child; i != MERGED_NONE;
         i = report_node(report, i)->sibling)
        if (report_is_kind(report, i, G2H_NODE_GOROUTINE))
            return report_node(report, i)->example;
    return report_node(report, place)->example;
}
