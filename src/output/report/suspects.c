/* suspects; see suspects.h. */
#include "output/report/suspects.h"

#include <string.h>

#include "base/scope.h"

enum {
    THRESHOLD = 5,   /* percent of what is reachable; */
    OF_RUNTIME = 25, /* of what only the runtime holds: a heap has some of that always */
    HEAVY = 60,      /* percent of a node that its heaviest child must have to be followed */
    MANY = 4,        /* times as many: there they are multiplied */
};

/* And so many bytes of the runtime: small heaps are half of it. */
#define LEAST_OF_RUNTIME 1000000u

struct finder {
    const struct merged *merged;
    uint64_t threshold, threshold_of_runtime;
    VECTOR(uint32_t) left; /* nodes to be looked at */
    suspect_vector *found;
};

enum g2h_node_kind merged_kind_of(const struct merged *merged, uint32_t node)
{
    struct g2h_node example;
    g2h_view_node(merged->view, merged->nodes.data[node].example, &example);
    return example.kind;
}

static bool begins_with(const struct merged *merged, uint32_t node, const char *prefix)
{
    size_t size;
    const char *name = merged_name(merged, node, &size);
    return size >= strlen(prefix) && memcmp(name, prefix, strlen(prefix)) == 0;
}

/* Whether goroutines are the runtime's, by the function that they were started with. */
static bool runs_runtime(const struct merged *merged, uint32_t node)
{
    static const char runtime[] = "] runtime.";
    size_t size;
    const char *name = merged_name(merged, node, &size);
    return memmem(name, size, runtime, sizeof(runtime) - 1) != NULL;
}

/* Whether only the runtime has it: its own types, below its own variables, its goroutines. */
static bool is_of_runtime(const struct merged *merged, uint32_t node)
{
    const struct merged_node *nodes = merged->nodes.data;
    if (nodes[node].kind == MERGED_CLASS && begins_with(merged, node, "runtime."))
        return true;
    for (uint32_t i = node; i != MERGED_NONE; i = nodes[i].parent) {
        size_t size;
        const char *name = merged_name(merged, i, &size);
        if (nodes[i].kind == MERGED_SYNTHETIC &&
            merged_kind_of(merged, i) == G2H_NODE_GOROUTINES_IN_PLACE && runs_runtime(merged, i))
            return true;
        if ((nodes[i].kind == MERGED_SYNTHETIC && size == 7 && memcmp(name, "runtime", 7) == 0 &&
             merged_kind_of(merged, i) == G2H_NODE_PACKAGE) ||
            (nodes[i].kind == MERGED_VARIABLE && begins_with(merged, i, "runtime and ")))
            return true;
    }
    return false;
}

static bool add(struct finder *finder, struct suspect suspect)
{
    suspect.bytes = finder->merged->nodes.data[suspect.item].retained;
    if (suspect.bytes < finder->threshold_of_runtime && is_of_runtime(finder->merged, suspect.item))
        return true;
    return vector_push(finder->found, suspect);
}

static uint32_t heaviest_child(const struct merged *merged, uint32_t node)
{
    const struct merged_node *nodes = merged->nodes.data;
    uint32_t best = MERGED_NONE;
    for (uint32_t i = nodes[node].child; i != MERGED_NONE; i = nodes[i].sibling)
        if (best == MERGED_NONE || nodes[i].retained > nodes[best].retained)
            best = i;
    return best;
}

/* Looks at the children that retain much later. Gives how many there are, UINT32_MAX without
 * memory. */
static uint32_t push_children(struct finder *finder, uint32_t node)
{
    const struct merged_node *nodes = finder->merged->nodes.data;
    uint32_t count = 0;
    for (uint32_t i = nodes[node].child; i != MERGED_NONE; i = nodes[i].sibling)
        if (nodes[i].retained >= finder->threshold) {
            if (!vector_push(&finder->left, i))
                return UINT32_MAX;
            count++;
        }
    return count;
}

/* How many times as many there are of a node as of what holds them. */
static uint64_t ratio_of(const struct merged *merged, uint32_t node)
{
    const struct merged_node *nodes = merged->nodes.data;
    const uint32_t above = nodes[node].parent;
    const bool has_holder = above != MERGED_NONE && nodes[above].kind == MERGED_CLASS;
    return nodes[node].count / (has_holder && nodes[above].count > 0 ? nodes[above].count : 1);
}

/* The child that has most of what a node holds; MERGED_NONE where it is not heavy, or the node
 * itself is most of it. */
static uint32_t heavy_child(const struct merged *merged, uint32_t node)
{
    const struct merged_node *nodes = merged->nodes.data;
    const uint64_t held = nodes[node].retained - nodes[node].bytes;
    const uint32_t child = heaviest_child(merged, node);
    return child != MERGED_NONE && held >= nodes[node].retained / 100 * (100 - HEAVY) &&
                   nodes[child].retained >= held / 100 * HEAVY
               ? child
               : MERGED_NONE;
}

/* Follows objects as long as one class has most, to where they are multiplied most; or, where they
 * are not, to where they part. */
static bool follow(struct finder *finder, uint32_t node)
{
    const struct merged *merged = finder->merged;
    const struct merged_node *nodes = merged->nodes.data;
    uint32_t last = node, best = node;
    for (uint32_t at = node; at != MERGED_NONE; at = heavy_child(merged, at)) {
        last = at;
        if (ratio_of(merged, at) > ratio_of(merged, best))
            best = at;
    }
    uint32_t item = best;
    if (ratio_of(merged, best) < MANY) {
        const bool is_most = nodes[last].bytes >= nodes[last].retained / 100 * (100 - HEAVY);
        const uint32_t parts = is_most ? 0 : push_children(finder, last);
        if (parts > 0)
            return parts != UINT32_MAX;
        item = last;
    }
    const uint32_t above = nodes[item].parent;
    const bool has_holder = above != MERGED_NONE && nodes[above].kind == MERGED_CLASS;
    return add(finder, (struct suspect){.item = item, .holder = has_holder ? above : MERGED_NONE});
}

static bool look_at(struct finder *finder, uint32_t node)
{
    const struct merged_node *nodes = finder->merged->nodes.data;
    if (nodes[node].kind == MERGED_CLASS)
        return follow(finder, node);
    if (nodes[node].kind == MERGED_SYNTHETIC) {
        const enum g2h_node_kind kind = merged_kind_of(finder->merged, node);
        if (kind == G2H_NODE_UNREACHABLE)
            return true;
        if (kind == G2H_NODE_GOROUTINES_IN_PLACE)
            return add(finder, (struct suspect){
                                   .item = node, .holder = MERGED_NONE, .is_goroutines = true});
    }
    return push_children(finder, node) != UINT32_MAX;
}

static int compare(const void *a, const void *b)
{
    const struct suspect *one = a, *other = b;
    if (one->bytes != other->bytes)
        return one->bytes > other->bytes ? -1 : 1;
    return one->item < other->item ? -1 : one->item > other->item;
}

struct g2h_error *suspects_find(const struct merged *merged, uint64_t reachable,
                                suspect_vector *ret)
{
    struct finder finder = {.merged = merged,
                            .threshold = reachable / 100 * THRESHOLD + 1,
                            .threshold_of_runtime = reachable / 100 * OF_RUNTIME > LEAST_OF_RUNTIME
                                                        ? reachable / 100 * OF_RUNTIME
                                                        : LEAST_OF_RUNTIME,
                            .found = ret};
    bool good = vector_push(&finder.left, 0);
    while (good && finder.left.count > 0)
        good = look_at(&finder, finder.left.data[--finder.left.count]);
    free(finder.left.data);
    vector_sort(ret, compare);
    return good ? NULL : &error_no_memory;
}
