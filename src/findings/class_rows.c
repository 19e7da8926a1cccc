/* class_rows; see class_rows.h. */
#include "findings/class_rows.h"

#include "base/scope.h"
#include "findings/held.h"

enum { NODES = 256 /* nodes of the view that are read at a time */ };

/* Adds a node to the sums of its class. Of nodes that are below each other the uppermost one
 * retains what the others do. */
static void class_rows_add(const struct findings *findings, uint32_t number, struct class_row *row)
{
    const struct merged_node *node = findings_node(findings, number);
    row->count += node->count;
    row->bytes += node->bytes;
    row->held += node->is_garbage ? 0 : node->bytes;
    row->garbage += node->is_garbage ? node->count : 0;
    row->retained += node->outermost == number ? node->retained : 0;
}

/* Orders classes by growth since the base (all 0 without one), then by their own bytes. */
static int class_rows_compare(const void *a, const void *b)
{
    const struct class_row *one = a, *other = b;
    if (one->grown != other->grown)
        return one->grown > other->grown ? -1 : 1;
    if (one->bytes != other->bytes)
        return one->bytes > other->bytes ? -1 : 1;
    return one->node < other->node ? -1 : one->node > other->node;
}

/* Goes over the nodes of the merged tree, of which a class may have many, and adds each to the row
 * of its name. */
struct g2h_error *class_rows_find(const struct findings *findings, bool has_stacks,
                                  struct class_rows *ret)
{
    for (uint32_t i = 0; i < findings->merged.nodes.count; i++) {
        const struct merged_node *node = findings_node(findings, i);
        uint32_t number = (uint32_t)ret->list.count;
        if (node->kind != MERGED_CLASS &&
            !(has_stacks && findings_is_kind(findings, i, G2H_NODE_STACK)))
            continue;
        TRY_MEMORY(map_put(&ret->by_name, node->name, number, &number));
        if (number == ret->list.count)
            TRY_MEMORY(vector_push(&ret->list, ((struct class_row){.node = i})));
        class_rows_add(findings, i, &ret->list.data[number]);
    }
    for (size_t i = 0; i < ret->list.count && findings->base; i++) {
        struct class_row *row = &ret->list.data[i];
        size_t size;
        const char *name = merged_name(&findings->merged, row->node, &size);
        row->grown = (int64_t)(row->held - growth_class_before(findings->base, name, size).bytes);
    }
    vector_sort(&ret->list, class_rows_compare);
    return NULL;
}

void class_rows_deinit(struct class_rows *rows)
{
    free(rows->list.data);
    map_deinit(&rows->by_name);
}

/* A class has one merged node for each place that holds its objects: these are its holders. */
struct g2h_error *class_rows_find_one(const struct findings *findings, uint32_t name,
                                      struct class_row *ret, ranking *holders)
{
    *ret = (struct class_row){.node = MERGED_NONE};
    for (uint32_t i = 0; i < findings->merged.nodes.count; i++) {
        const struct merged_node *node = findings_node(findings, i);
        if (node->kind != MERGED_CLASS || node->name != name)
            continue;
        ret->node = ret->node == MERGED_NONE ? i : ret->node;
        TRY_MEMORY(vector_push(holders, ((struct ranked){node->retained, i})));
        class_rows_add(findings, i, ret);
    }
    ranking_sort(holders);
    return NULL;
}

/* Returns whether a node of the view is merged in the node line of merged, or line is MERGED_NONE:
 * any will do. */
static bool is_in_line(const struct findings *findings, uint32_t node, uint32_t line)
{
    return line == MERGED_NONE ||
           findings->merged.of[g2h_dominators_number(findings->dominators, node)] == line;
}

/* Does the work of class_rows_find_largest() by the index. */
static uint32_t class_rows_look_up(const struct findings *findings, uint32_t name, uint32_t line)
{
    size_t count;
    const uint32_t *nodes = class_index_find(&findings->held->classes, name, &count);
    for (size_t i = 0; i < count; i++)
        if (is_in_line(findings, nodes[i], line))
            return nodes[i];
    return UINT32_MAX;
}

/* Without the index of a held heap this reads all nodes of the view. A live object always outweighs
 * garbage, because its weight is one more than what it retains. */
uint32_t class_rows_find_largest(const struct findings *findings, uint32_t name, uint32_t line)
{
    if (findings->held)
        return class_rows_look_up(findings, name, line);
    struct g2h_node nodes[NODES];
    uint32_t best = UINT32_MAX;
    uint64_t most = 0;
    size_t count;
    for (uint32_t first = 0; (count = g2h_view_nodes(findings->view, first, NODES, nodes)) > 0;
         first += (uint32_t)count)
        for (size_t i = 0; i < count; i++) {
            const uint32_t node = first + (uint32_t)i;
            if (!merged_is_object(nodes[i].kind) ||
                (nodes[i].kind == G2H_NODE_TEXT ? UINT32_MAX : nodes[i].name) != name ||
                !is_in_line(findings, node, line))
                continue;
            const uint64_t retained = g2h_dominators_retained_size(findings->dominators, node),
                           weight = findings_is_dead(findings->view, node) ? 0 : retained + 1;
            if (best == UINT32_MAX || weight > most) {
                best = node;
                most = weight;
            }
        }
    return best;
}
