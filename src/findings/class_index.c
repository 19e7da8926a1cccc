/* class_index; see class_index.h. */
#include "findings/class_index.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/scope.h"
#include "findings/findings.h"

enum { NODES = 256 /* nodes of the view that are read at a time */ };

struct class_index_entry {
    uint64_t weight; /* 0 of garbage, else one more than what it retains */
    uint32_t node;
};

/* Calls take for each object and string of the view, with the number of its class (UINT32_MAX:
 * strings). take returns false if memory runs out. */
static struct g2h_error *class_index_each(const struct g2h_view *view, void *context,
                                          bool (*take)(void *context, uint32_t name, uint32_t node))
{
    struct g2h_node nodes[NODES];
    size_t count;
    for (uint32_t first = 0; (count = g2h_view_nodes(view, first, NODES, nodes)) > 0;
         first += (uint32_t)count)
        for (size_t i = 0; i < count; i++)
            if (merged_is_object(nodes[i].kind))
                TRY_MEMORY(take(context,
                                nodes[i].kind == G2H_NODE_TEXT ? UINT32_MAX : nodes[i].name,
                                first + (uint32_t)i));
    return NULL;
}

struct class_index_work {
    struct class_index *index;
    VECTOR(uint32_t) sizes; /* by class: objects; then where the next one goes */
};

static void class_index_work_deinit(struct class_index_work *work)
{
    free(work->sizes.data);
}

/* First pass: numbers the class, if it is new, and counts its objects. */
static bool class_index_count(void *context, uint32_t name, uint32_t node)
{
    struct class_index_work *work = context;
    uint32_t number = (uint32_t)work->sizes.count;
    (void)node;
    if (!map_put(&work->index->numbers, name, number, &number) ||
        (number == work->sizes.count && !vector_push(&work->sizes, 0)))
        return false;
    work->sizes.data[number]++;
    return true;
}

/* Second pass: puts an object into the part of the index that its class has. */
static bool class_index_put(void *context, uint32_t name, uint32_t node)
{
    struct class_index_work *work = context;
    const uint32_t number = map_get(&work->index->numbers, name);
    if (number != MAP_NONE) /* always, unless another program writes to the dump */
        work->index->nodes[work->sizes.data[number]++] = node;
    return true;
}

/* Orders objects by weight, the heaviest first, and equal ones by node, so that the order is the
 * same in each run. */
static int class_index_compare(const void *a, const void *b)
{
    const struct class_index_entry *one = a, *other = b;
    if (one->weight != other->weight)
        return one->weight > other->weight ? -1 : 1;
    return one->node < other->node ? -1 : one->node > other->node;
}

/* Sorts the objects of a class by what they retain; garbage has weight 0 and comes last. */
static struct g2h_error *class_index_sort(const struct g2h_view *view,
                                          const struct g2h_dominators *dominators, uint32_t *nodes,
                                          size_t count)
{
    _cleanup_free_ struct class_index_entry *entries = block_alloc(count + 1, sizeof(*entries));
    TRY_MEMORY(entries);
    for (size_t i = 0; i < count; i++)
        entries[i] =
            (struct class_index_entry){findings_is_dead(view, nodes[i])
                                           ? 0
                                           : g2h_dominators_retained_size(dominators, nodes[i]) + 1,
                                       nodes[i]};
    qsort(entries, count, sizeof(*entries), class_index_compare);
    for (size_t i = 0; i < count; i++)
        nodes[i] = entries[i].node;
    return NULL;
}

/* A counting sort by class: counts the objects of each class, gives each class its part of one
 * array, and fills the parts in a second pass over the view. */
struct g2h_error *class_index_make(const struct g2h_view *view,
                                   const struct g2h_dominators *dominators, struct class_index *ret)
{
    _cleanup_(class_index_work_deinit) struct class_index_work work = {.index = ret};
    uint32_t sum = 0;
    TRY(class_index_each(view, &work, class_index_count));
    ret->count = (uint32_t)work.sizes.count;
    ret->first = block_alloc((size_t)ret->count + 1, sizeof(*ret->first));
    TRY_MEMORY(ret->first);
    for (uint32_t i = 0; i < ret->count; i++) {
        ret->first[i] = sum;
        sum += work.sizes.data[i];
        work.sizes.data[i] = ret->first[i];
    }
    ret->first[ret->count] = sum;
    ret->nodes = block_alloc((size_t)sum + 1, sizeof(*ret->nodes));
    TRY_MEMORY(ret->nodes);
    TRY(class_index_each(view, &work, class_index_put));
    for (uint32_t i = 0; i < ret->count; i++)
        TRY(class_index_sort(view, dominators, ret->nodes + ret->first[i],
                             ret->first[i + 1] - ret->first[i]));
    return NULL;
}

void class_index_deinit(struct class_index *index)
{
    map_deinit(&index->numbers);
    free(index->first);
    free(index->nodes);
}

const uint32_t *class_index_find(const struct class_index *index, uint32_t name, size_t *ret_count)
{
    const uint32_t number = map_get(&index->numbers, name);
    *ret_count = 0;
    if (number == MAP_NONE)
        return NULL;
    *ret_count = index->first[number + 1] - index->first[number];
    return index->nodes + index->first[number];
}
