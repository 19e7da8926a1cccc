/*
 * retained_pages: which pages the runtime could give back if a holder were emptied; see
 * retained_pages.h, which explains the idea.
 *
 * span_walk goes over the objects by address, span by span. node_of_span() finds the lowest node of
 * a tree that all live objects of a span are below, by positions in preorder (pages_tree); the
 * span's bytes are added to that node, and pages_sum_up() adds up the nodes below each. Then
 * find_holders() names the nodes that keep most free slots, and who shares their spans. The tree is
 * the merged one, or that of dominators for pages_find_nodes().
 */
#include "findings/retained_pages.h"

#include <stdlib.h>
#include <string.h>

#include <go2heapsnapshot/heap.h>

#include "base/contract.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/releases.h"
#include "base/workers.h"
#include "findings/findings.h"

/* Returns whether a node of merged is not objects but synthetic nodes of a kind. */
static bool is_of_kind(const struct merged *merged, uint32_t node, enum g2h_node_kind kind)
{
    return merged->nodes.data[node].kind == MERGED_SYNTHETIC &&
           merged_kind_of(merged, node) == kind;
}

/* ---- spans ---- */

/* Finds the span that a slot of slot bytes at this address must be in: the only begin, at a
 * multiple of SPAN_UNIT, from which a whole number of slots leads to the address; or one for the
 * object alone if it is larger than all slots. size is the bytes of spans with such slots, by
 * size_class_span(). Returns false if there is none: the object is not in a span of its size
 * class. */
static bool span_of(uint64_t address, uint64_t slot, uint64_t size, struct span *ret)
{
    enum { LARGEST_SLOT = 32768, MOST = 1 << 20 /* bytes of a span of slots, and more */ };
    if (address > UINT64_MAX - MOST || slot > UINT64_MAX - MOST - address)
        return false; /* the end of the span could wrap around */
    uint64_t begin = address & ~(uint64_t)(SPAN_UNIT - 1);
    if (slot > LARGEST_SLOT && begin == address) {
        const uint64_t end = (address + slot + SPAN_UNIT - 1) & ~(uint64_t)(SPAN_UNIT - 1);
        *ret = (struct span){.slot = slot, .begin = begin, .end = end, .is_large = true};
        return true;
    }
    for (; size > 0 && address - begin < size; begin -= SPAN_UNIT)
        if ((address - begin) % slot == 0 && address - begin + slot <= size) {
            *ret = (struct span){.slot = slot, .begin = begin, .end = begin + size};
            return true;
        }
    return false;
}

/* Finds the span that an object is in, by the size of its slot. Returns false if that is of no size
 * class. */
static bool span_of_object(const struct g2h_heap *heap, uint32_t object, struct span *ret)
{
    const uint64_t slot = g2h_heap_size(heap, object);
    return span_of(g2h_heap_address(heap, object), slot, size_class_span(slot), ret);
}

/* Begins a walk over the spans of a range of objects. If the span of the object before reaches into
 * this part, the walk over the part before goes to its end: its objects are skipped here. */
void span_walk_begin(const struct g2h_view *view, uint32_t first, uint32_t end,
                     struct span_walk *ret)
{
    const struct g2h_heap *heap = g2h_view_heap(view);
    struct span before;
    *ret = (struct span_walk){
        .view = view, .heap = heap, .at = first, .end = end, .count = g2h_heap_object_count(heap)};
    if (first > 0 && span_of_object(heap, first - 1, &before))
        ret->behind = before.end;
}

/* Returns the first object after the one with number at that is at address end or further: looks
 * at one, two, four … objects further, then between the last two of these. */
static uint32_t objects_until(const struct span_walk *walk, uint32_t at, uint64_t end)
{
    uint32_t step = 1;
    uint32_t last = walk->count;
    for (; step < walk->count - at; step *= 2) {
        if (g2h_heap_address(walk->heap, at + step) >= end) {
            last = at + step;
            break;
        }
        at += step;
    }
    BISECT_FROM(at, at + 1, last, g2h_heap_address(walk->heap, at) < end);
    return at;
}

/* Returns whether it is known that all objects of a span have its slots' size, without looking at
 * each. */
static bool has_equal_slots(const struct span_walk *walk, const struct span *span)
{
    for (uint64_t page = span->begin; page < span->end; page += SPAN_UNIT)
        if (g2h_heap_slot_size(walk->heap, page) != span->slot)
            return false;
    return true;
}

/* Counts the objects of a span, each by itself: those from the walk's on. */
static void count_each(const struct span_walk *walk, struct span *span)
{
    uint32_t at = walk->at;
    for (; at < walk->count && g2h_heap_address(walk->heap, at) < span->end; at++) {
        const uint64_t size = g2h_heap_size(walk->heap, at);
        span->used += size;
        if (!g2h_view_is_garbage(walk->view, at)) {
            span->objects++;
            span->live += size;
        }
    }
    span->after = at;
}

/* Counts the objects of a span of which it is known that they have the slots' size: all at once. */
static void count_all(const struct span_walk *walk, struct span *span)
{
    span->after = objects_until(walk, walk->at, span->end);
    span->objects = g2h_view_live_count(walk->view, walk->at, span->after);
    span->live = span->objects * span->slot;
    span->used = (span->after - walk->at) * span->slot;
}

/* Returns whether a span has so many objects that it is quicker to count all at once. */
static bool has_many(const struct span_walk *walk, const struct span *span)
{
    enum { MANY = 8 };
    return walk->count - walk->at > MANY &&
           g2h_heap_address(walk->heap, walk->at + MANY) < span->end;
}

/* Finds the span that the walk's next object is in. Returns false if it is in none of its size
 * class. */
static bool span_walk_span(struct span_walk *walk, uint64_t address, struct span *ret)
{
    const uint64_t slot = g2h_heap_size(walk->heap, walk->at);
    if (walk->slot != slot) {
        walk->slot = slot;
        walk->size = size_class_span(slot);
    }
    return span_of(address, slot, walk->size, ret);
}

/* Finds the next span, and counts its objects. Objects of many equal slots are counted by the first
 * and last one, others one by one. Returns false at the end. */
bool span_walk_next(struct span_walk *walk, struct span *ret)
{
    for (;; walk->at++) { /* over objects of the span before, and objects in no span */
        if (walk->at >= walk->end)
            return false;
        const uint64_t address = g2h_heap_address(walk->heap, walk->at);
        if (address >= walk->behind && span_walk_span(walk, address, ret))
            break;
    }
    ret->first = walk->at;
    assert(g2h_heap_address(walk->heap, walk->at) < ret->end);
    if (has_many(walk, ret) && has_equal_slots(walk, ret))
        count_all(walk, ret);
    else
        count_each(walk, ret);
    walk->at = ret->after;
    walk->behind = ret->end;
    return true;
}

/* ---- the lowest node above several ---- */

/* Positions of the nodes of a tree in an order in which each node comes before all that is below
 * it, and nothing else between these. */
struct pages_tree {
    uint32_t *parent;
    uint32_t *begin, *end; /* by node: its position, and that after the last one below it */
    uint32_t *jump; /* by node: one far above it: any node is reached by few jumps and steps */
};

static void pages_tree_deinit(struct pages_tree *tree)
{
    free(tree->parent);
    free(tree->begin);
    free(tree->end);
    free(tree->jump);
}

/* Fills begin, end and jump from the parents of count nodes, which the caller has set, and which
 * come before their children; that of the root is the root. First end counts the nodes from each
 * node down; then positions are given out, in which a node is followed by the subtree of each
 * child. A jump from a node leads as far as two jumps from its parent, if these are equally long,
 * else to the parent (Myers: An applicative random-access stack). */
static struct g2h_error *pages_tree_number(struct pages_tree *ret, uint32_t count)
{
    _cleanup_free_ uint32_t *depth = calloc(count, sizeof(*depth));
    ret->begin = calloc(count, sizeof(*ret->begin));
    ret->end = calloc(count, sizeof(*ret->end));
    ret->jump = calloc(count, sizeof(*ret->jump));
    TRY_MEMORY(depth && ret->begin && ret->end && ret->jump);
    for (uint32_t i = count; i-- > 0;) { /* end: for now the number of nodes from here down */
        ret->end[i]++;
        assert(ret->parent[i] <= i);
        if (i > 0)
            ret->end[ret->parent[i]] += ret->end[i];
    }
    _cleanup_free_ uint32_t *next = calloc(count, sizeof(*next)); /* position of the next child */
    TRY_MEMORY(next);
    next[0] = 1;
    for (uint32_t i = 1; i < count; i++) {
        const uint32_t parent = ret->parent[i];
        const uint32_t over = ret->jump[parent];
        ret->begin[i] = next[parent];
        next[parent] += ret->end[i];
        next[i] = ret->begin[i] + 1;
        ret->end[i] += ret->begin[i];
        depth[i] = depth[parent] + 1;
        ret->jump[i] = depth[parent] - depth[over] == depth[over] - depth[ret->jump[over]]
                           ? ret->jump[over]
                           : parent;
    }
    return NULL;
}

/* Returns the lowest node that is a node, or above it, and that has a position below it. */
static uint32_t pages_tree_above(const struct pages_tree *tree, uint32_t node, uint32_t position)
{
    while (tree->end[node] <= position) /* a jump that is not too far, or else one step */
        node = tree->end[tree->jump[node]] <= position ? tree->jump[node] : tree->parent[node];
    return node;
}

/* ---- what goes with each node ---- */

enum { PAGES_OBJECTS = 1 << 16 /* in a task */ };

/* What goes with a node: spans that follow each other. */
struct pages_part {
    uint32_t node;
    uint32_t first, after; /* their objects, as numbers of the heap */
    struct pages_sum sum;
};

typedef VECTOR(struct pages_part) pages_parts;

/* The tree is the merged one of findings or, if these are NULL, that of the dominators, whose nodes
 * have the numbers of their order. */
struct pages_finder {
    const struct findings *findings;
    const struct g2h_view *view;
    const struct g2h_dominators *dominators;
    const struct g2h_memory *memory;
    unsigned threads;
    struct pages_tree tree;
    uint32_t count;        /* nodes of the tree */
    uint8_t *kinds;        /* by node: bits of enum pages_kind */
    struct pages_sum *own; /* by node: what goes with it alone */
    pages_parts *parts;    /* by task */
    size_t tasks;
};

enum pages_kind {
    PAGES_KEPT = 1,    /* the runtime keeps such objects for ever: the records of goroutines, which
                          it takes for other goroutines when these have ended */
    PAGES_GARBAGE = 2, /* nothing holds them */
};

static void pages_finder_deinit(struct pages_finder *finder)
{
    pages_tree_deinit(&finder->tree);
    free(finder->kinds);
    free(finder->own);
    for (size_t i = 0; finder->parts && i < finder->tasks; i++)
        free(finder->parts[i].data);
    free(finder->parts);
}

/* Returns the node that an object is in; MERGED_NONE: the view leaves it out. */
static uint32_t node_of_object(const struct pages_finder *finder, uint32_t object)
{
    const uint32_t node = g2h_view_object(finder->view, object);
    if (node == UINT32_MAX)
        return MERGED_NONE;
    const uint32_t number = g2h_dominators_number(finder->dominators, node);
    return finder->findings ? finder->findings->merged.of[number] : number;
}

/* Allocates the arrays for a tree of count nodes, and a list of results for each task. Returns
 * false if memory runs out. */
static bool pages_finder_allocate(struct pages_finder *finder, uint32_t count)
{
    const uint32_t objects = g2h_heap_object_count(g2h_view_heap(finder->view));
    finder->count = count;
    finder->kinds = calloc(count, sizeof(*finder->kinds));
    finder->own = calloc(count, sizeof(*finder->own));
    finder->tree.parent = calloc(count, sizeof(*finder->tree.parent));
    finder->tasks = objects / PAGES_OBJECTS + 1;
    finder->parts = calloc(finder->tasks, sizeof(*finder->parts));
    return finder->kinds && finder->own && finder->tree.parent && finder->parts;
}

/* Adds a stack. Of a live process it is known how much of all stacks is resident, but not of
 * each. */
static void add_stack(const struct pages_finder *finder, uint32_t node, uint64_t bytes)
{
    const uint64_t all = g2h_view_account(finder->view)->stack_bytes;
    const uint64_t resident = finder->memory && finder->memory->resident > 0
                                  ? finder->memory->parts[G2H_MEMORY_STACKS]
                                  : all;
    const double share = resident < all ? as_ratio(resident, all) : 1;
    const uint64_t there = (uint64_t)((double)bytes * share);
    finder->own[node].bytes += there;
    finder->own[node].absent += bytes - there;
}

/* Takes the tree of merged nodes as the one that pages are summed up in: each one's parent, whether
 * it is garbage or a g, which the runtime never frees, and the memory of its stacks. */
static struct g2h_error *take_merged(struct pages_finder *finder)
{
    const struct merged *merged = &finder->findings->merged;
    TRY_MEMORY(pages_finder_allocate(finder, as_u32(merged->nodes.count)));
    for (uint32_t i = 0; i < finder->count; i++) {
        const struct merged_node *node = &merged->nodes.data[i];
        finder->tree.parent[i] = node->parent == MERGED_NONE ? 0 : node->parent;
        if (node->is_garbage)
            finder->kinds[i] = PAGES_GARBAGE;
        else if (merged_runtime_class(merged, i) == G2H_RUNTIME_G)
            finder->kinds[i] = PAGES_KEPT;
        if (is_of_kind(merged, i, G2H_NODE_STACK))
            add_stack(finder, i, node->bytes);
    }
    return NULL;
}

/* Takes the tree of dominators as the one that pages are summed up in: each node's parent, whether
 * it is garbage, or below garbage, or a g, which the runtime never frees, and the memory of its
 * stacks. */
static struct g2h_error *take_dominators(struct pages_finder *finder)
{
    enum { MANY = 64 };
    struct g2h_node nodes[MANY];
    TRY_MEMORY(pages_finder_allocate(finder, g2h_dominators_numbers(finder->dominators)));
    size_t count;
    for (uint32_t first = 0; (count = g2h_view_nodes(finder->view, first, MANY, nodes)) > 0;
         first += MANY)
        for (size_t i = 0; i < count; i++) {
            const uint32_t number = g2h_dominators_number(finder->dominators, first + as_u32(i));
            finder->tree.parent[number] = g2h_dominators_above(finder->dominators, number);
            if (nodes[i].kind == G2H_NODE_STACK)
                add_stack(finder, number, nodes[i].size);
            else if (nodes[i].kind == G2H_NODE_UNREACHABLE)
                finder->kinds[number] = PAGES_GARBAGE;
            else if (nodes[i].kind == G2H_NODE_OBJECT &&
                     g2h_view_runtime_class(finder->view, nodes[i].name) == G2H_RUNTIME_G)
                finder->kinds[number] = PAGES_KEPT;
        }
    for (uint32_t i = 1; i < finder->count; i++) /* parents come first */
        if (finder->kinds[finder->tree.parent[i]] == PAGES_GARBAGE)
            finder->kinds[i] = PAGES_GARBAGE;
    return NULL;
}

/* Returns the lowest node that all reachable objects of a span are below; 0 if it has some that are
 * kept for ever, MERGED_NONE if the view has none of them. */
static uint32_t node_of_span(const struct pages_finder *finder, const struct span *span)
{
    const struct pages_tree *tree = &finder->tree;
    uint32_t first = MERGED_NONE, last = 0; /* the node of the least position; the greatest one */
    for (uint32_t i = span->first, before = MERGED_NONE; i < span->after; i++) {
        const uint32_t node = node_of_object(finder, i);
        if (node == before || node == MERGED_NONE)
            continue;
        before = node;
        if (finder->kinds[node] == PAGES_KEPT)
            return 0;
        if (finder->kinds[node] == PAGES_GARBAGE)
            continue;
        if (first == MERGED_NONE || tree->begin[node] < tree->begin[first])
            first = node;
        if (tree->begin[node] > last)
            last = tree->begin[node];
    }
    return first == MERGED_NONE ? MERGED_NONE : pages_tree_above(tree, first, last);
}

static void pages_sum_add(struct pages_sum *to, const struct pages_sum *from)
{
    to->bytes += from->bytes;
    to->empty += from->empty;
    to->absent += from->absent;
}

/* Adds a span that goes with a node to the part with the span before, if that goes with it, too.
 * Returns false if memory runs out. */
static bool part_add(pages_parts *parts, uint32_t node, const struct span *span,
                     const struct pages_sum *sum)
{
    struct pages_part *last = parts->count > 0 ? &parts->data[parts->count - 1] : NULL;
    if (!last || last->node != node) {
        if (!vector_push(parts, ((struct pages_part){.node = node, .first = span->first})))
            return false;
        last = &parts->data[parts->count - 1];
    }
    last->after = span->after;
    pages_sum_add(&last->sum, sum);
    return true;
}

/* Walks the spans whose first object is in a task's range of objects, and adds each to the node
 * that it goes with. Absent pages take no memory and do not count. */
static struct g2h_error *pages_find_task(void *context, size_t task, unsigned worker)
{
    const struct pages_finder *finder = context;
    const struct g2h_heap *heap = g2h_view_heap(finder->view);
    const uint32_t count = g2h_heap_object_count(heap);
    const uint32_t first = as_u32(task) * PAGES_OBJECTS;
    const uint32_t end = count - first > PAGES_OBJECTS ? first + PAGES_OBJECTS : count;
    struct span_walk walk;
    struct span span;
    (void)worker;
    span_walk_begin(finder->view, first, end, &walk);
    while (span_walk_next(&walk, &span)) {
        const uint32_t node = span.objects > 0 ? node_of_span(finder, &span) : MERGED_NONE;
        const uint64_t absent = g2h_heap_absent(heap, span.begin, span.end),
                       bytes = span.end - span.begin - absent;
        const struct pages_sum sum = {bytes, bytes > span.used ? bytes - span.used : 0, absent};
        if (node != MERGED_NONE)
            TRY_MEMORY(part_add(&finder->parts[task], node, &span, &sum));
    }
    return NULL;
}

/* Takes the untouched parts of large objects off what goes with these: they take no memory. */
static void leave_out_untouched(const struct pages_finder *finder)
{
    const struct g2h_heap *heap = g2h_view_heap(finder->view);
    for (size_t i = 0; i < g2h_heap_untouched_count(heap); i++) {
        uint32_t object, node = MERGED_NONE;
        const uint64_t bytes = g2h_heap_untouched(heap, i, &object);
        if (object != UINT32_MAX && size_class_span(g2h_heap_size(heap, object)) == 0 &&
            !g2h_view_is_garbage(finder->view, object))
            node = node_of_object(finder, object);
        if (node == MERGED_NONE)
            continue;
        struct pages_sum *own = &finder->own[node];
        own->bytes -= MIN(bytes, own->bytes);
        own->absent += bytes;
    }
}

/* Adds up from what goes with each node alone what goes with it and all below it. */
static void pages_sum_up(const struct pages_finder *finder, struct pages_sum *sums)
{
    for (uint32_t i = finder->count; i-- > 1;)
        pages_sum_add(&sums[finder->tree.parent[i]], &sums[i]);
}

void pages_deinit(struct pages *pages)
{
    free(pages->holders.data);
    free(pages->own);
    free(pages->retained);
}

/* Returns what is free if a node and all below it are gone; zeros if spans are not known. */
struct pages_sum pages_of(const struct pages *pages, uint32_t node)
{
    return pages->retained ? pages->retained[node] : (struct pages_sum){0};
}

/* Returns what goes with a node, but with no node below it. */
struct pages_sum pages_own(const struct pages *pages, uint32_t node)
{
    return pages->own ? pages->own[node] : (struct pages_sum){0};
}

struct pages_sum pages_all(const struct pages *pages)
{
    return pages_of(pages, 0);
}

/* ---- holders of free slots ---- */

enum {
    LEAST_OF_FREE = 5, /* percent of all free slots that a holder keeps at least */
    MOST_SHARED = 3,   /* holders whose sharers are found: each takes a walk over all spans */
    NEARLY_ALL = 90,   /* percent of a node's free slots that make its child the holder */
};

struct holders_finder {
    const struct findings *findings;
    uint64_t threshold;
    VECTOR(uint32_t) left; /* nodes that have yet to be examined */
    struct pages *pages;
};

/* Returns the bytes of free slots in the spans that would be free without a node and all below
 * it. */
static uint64_t empty_of(const struct holders_finder *finder, uint32_t node)
{
    return finder->findings->pages.retained[node].empty;
}

/* Queues the children of a node that keep enough. Returns false if memory runs out. */
static bool push_children(struct holders_finder *finder, uint32_t node)
{
    for (uint32_t i = findings_node(finder->findings, node)->child; i != MERGED_NONE;
         i = findings_node(finder->findings, i)->sibling)
        if (empty_of(finder, i) >= finder->threshold && !vector_push(&finder->left, i))
            return false;
    return true;
}

/* Returns the child of a node that keeps nearly all of the node's free slots, or MERGED_NONE. */
static uint32_t keeping_child(const struct holders_finder *finder, uint32_t node)
{
    for (uint32_t i = findings_node(finder->findings, node)->child; i != MERGED_NONE;
         i = findings_node(finder->findings, i)->sibling)
        if (empty_of(finder, i) / NEARLY_ALL >= empty_of(finder, node) / 100)
            return i;
    return MERGED_NONE;
}

/* Goes down from an object as long as one of the objects below keeps nearly all of the free slots.
 */
static uint32_t keeper_below(const struct holders_finder *finder, uint32_t node)
{
    for (;;) {
        const uint32_t child = keeping_child(finder, node);
        if (child == MERGED_NONE)
            return node;
        node = child;
    }
}

/* Returns whether most of what a node keeps is kept by single objects below it, enough by each: by
 * the fields of a struct, not by the entries of a map. */
static bool has_keepers(const struct holders_finder *finder, uint32_t node)
{
    uint64_t sum = 0;
    for (uint32_t i = findings_node(finder->findings, node)->child; i != MERGED_NONE;
         i = findings_node(finder->findings, i)->sibling)
        if (findings_node(finder->findings, i)->count == 1 &&
            empty_of(finder, i) >= finder->threshold)
            sum += empty_of(finder, i);
    return sum >= empty_of(finder, node) / 2;
}

/* Adds the holder of what an object keeps. If that is only one object, whose children keep a part
 * each, these are examined for themselves. Returns false if memory runs out. */
static bool add_object(struct holders_finder *finder, uint32_t top)
{
    const struct findings *findings = finder->findings;
    const uint32_t item = keeper_below(finder, top);
    uint32_t node = item;
    if (findings_node(findings, item)->count == 1 && has_keepers(finder, item))
        return push_children(finder, item);
    while (node != top && findings_node(findings, node)->count != 1) /* to a single object */
        node = findings_node(findings, node)->parent;
    return vector_push(
        &finder->pages->holders,
        ((struct pages_holder){.node = node, .item = item, .sum = findings->pages.retained[node]}));
}

/* Examines a node: objects and goroutines in one place are holders; what is above them has what
 * they share. Returns false if memory runs out. */
static bool examine(struct holders_finder *finder, uint32_t node)
{
    const struct findings *findings = finder->findings;
    const struct pages_sum *own = &findings->pages.own[node];
    const struct pages_holder here = {
        .node = node, .item = node, .sum = findings->pages.retained[node]};
    if (findings_node(findings, node)->kind == MERGED_CLASS)
        return add_object(finder, node);
    if (is_of_kind(&findings->merged, node, G2H_NODE_GOROUTINES_IN_PLACE) ||
        is_of_kind(&findings->merged, node, G2H_NODE_GOROUTINE))
        return vector_push(&finder->pages->holders, here);
    if (own->empty >= finder->threshold &&
        !vector_push(
            &finder->pages->holders,
            ((struct pages_holder){.node = node, .item = node, .is_shared = true, .sum = *own})))
        return false;
    return push_children(finder, node);
}

/* Orders holders by the empty bytes of their pages, most first; equal ones by node. */
static int compare_holders(const void *a, const void *b)
{
    const struct pages_holder *one = a;
    const struct pages_holder *other = b;
    if (one->sum.empty != other->sum.empty)
        return COMPARE(other->sum.empty, one->sum.empty);
    return COMPARE(one->node, other->node);
}

/* ---- who shares spans ---- */

enum { SAMPLED_SPANS = 1024 }; /* of those that a node's children share: more cost too much */

struct sharers_finder {
    const struct pages_finder *pages;
    uint32_t *branch;       /* by node: the uppermost object, or goroutines, below the one that is
                               asked for; MERGED_NONE: it is not below that */
    uint64_t *bytes, *last; /* by node that is a branch: of shared spans; begin of the last one */
};

static void sharers_finder_deinit(struct sharers_finder *finder)
{
    free(finder->branch);
    free(finder->last);
}

/* Finds the branches below a node: the uppermost classes and goroutines there. finder->branch has
 * the branch that each node is in, or MERGED_NONE. Sets the bytes of all branches to 0. */
static void find_branches(const struct sharers_finder *finder, uint32_t top)
{
    const struct findings *findings = finder->pages->findings;
    const struct pages_tree *tree = &finder->pages->tree;
    for (uint32_t i = 0; i < findings->merged.nodes.count; i++) {
        const bool is_below = tree->begin[i] > tree->begin[top] && tree->begin[i] < tree->end[top];
        const bool is_holder = findings_node(findings, i)->kind == MERGED_CLASS ||
                               is_of_kind(&findings->merged, i, G2H_NODE_GOROUTINES_IN_PLACE) ||
                               is_of_kind(&findings->merged, i, G2H_NODE_GOROUTINE);
        finder->branch[i] = is_below ? finder->branch[tree->parent[i]] : MERGED_NONE;
        finder->bytes[i] = finder->last[i] = 0;
        if (is_below && finder->branch[i] == MERGED_NONE && is_holder)
            finder->branch[i] = i;
    }
}

/* Adds the bytes of a span once to each branch that has objects in it, garbage left out;
 * finder->last has the span that was added last. */
static void share_span(const struct sharers_finder *finder, const struct span *span)
{
    for (uint32_t i = span->first; i < span->after; i++) {
        const uint32_t node = g2h_view_is_garbage(finder->pages->findings->view, i)
                                  ? MERGED_NONE
                                  : node_of_object(finder->pages, i);
        const uint32_t branch = node == MERGED_NONE ? node : finder->branch[node];
        if (branch == MERGED_NONE || finder->last[branch] == span->begin)
            continue;
        finder->last[branch] = span->begin;
        finder->bytes[branch] += span->end - span->begin;
    }
}

/* Finds the span that an object is in, whose objects begin at least with number least. Returns
 * false if there is none. */
static bool span_at(const struct g2h_heap *heap, uint32_t at, uint32_t least, struct span *ret)
{
    const uint32_t count = g2h_heap_object_count(heap);
    if (!span_of_object(heap, at, ret))
        return false;
    ret->first = ret->after = at;
    while (ret->first > least && g2h_heap_address(heap, ret->first - 1) >= ret->begin)
        ret->first--;
    while (ret->after < count && g2h_heap_address(heap, ret->after) < ret->end)
        ret->after++;
    return true;
}

/* Looks at some spans of those that go with a node, evenly spread over their objects; at all if
 * these are few. Returns whether some may be left out. */
static bool sample_spans(const struct sharers_finder *finder, uint32_t node)
{
    const struct pages_finder *pages = finder->pages;
    const struct g2h_heap *heap = g2h_view_heap(pages->findings->view);
    uint32_t step = 1;
    for (size_t i = 0; i < pages->tasks; i++)
        VECTOR_EACH(const struct pages_part, part, pages->parts[i])
            step += part->node == node ? (part->after - part->first) / SAMPLED_SPANS : 0;
    for (size_t i = 0; i < pages->tasks; i++)
        VECTOR_EACH(const struct pages_part, part, pages->parts[i]) {
            const uint32_t after = part->node == node ? part->after : part->first;
            struct span span;
            for (uint64_t at = part->first; at < after;) {
                const bool is_there = span_at(heap, as_u32(at), part->first, &span);
                if (is_there)
                    share_span(finder, &span);
                at = is_there && span.after > at + step ? span.after : at + step;
            }
        }
    return step > 1;
}

/* Finds the PAGES_SHARERS branches that have objects in most of what they share, by bytes of spans,
 * the most first, and how many branches there are. */
static struct g2h_error *find_sharers(struct sharers_finder *finder, struct pages_holder *holder)
{
    const struct findings *findings = finder->pages->findings;
    find_branches(finder, holder->node);
    holder->is_sampled = sample_spans(finder, holder->node);
    for (uint32_t i = 0; i < findings->merged.nodes.count; i++) {
        uint32_t at = holder->sharer_count;
        if (finder->bytes[i] == 0)
            continue;
        holder->all_sharers++;
        while (at > 0 && finder->bytes[holder->sharers[at - 1]] < finder->bytes[i])
            at--;
        if (at == PAGES_SHARERS)
            continue;
        holder->sharer_count += holder->sharer_count < PAGES_SHARERS;
        for (uint32_t j = holder->sharer_count - 1; j > at; j--)
            holder->sharers[j] = holder->sharers[j - 1];
        holder->sharers[at] = i;
    }
    return NULL;
}

/* Finds who shares spans with the first MOST_SHARED holders that have shared ones. */
static struct g2h_error *find_all_sharers(const struct pages_finder *found, struct pages *pages)
{
    const size_t count = found->findings->merged.nodes.count;
    _cleanup_(sharers_finder_deinit) struct sharers_finder finder = {.pages = found};
    finder.branch = calloc(count, sizeof(*finder.branch));
    finder.bytes = calloc(count, sizeof(*finder.bytes));
    finder.last = calloc(count, sizeof(*finder.last));
    TRY_MEMORY(finder.branch && finder.bytes && finder.last);
    for (size_t i = 0, named = 0; i < pages->holders.count && named < MOST_SHARED; i++) {
        if (!pages->holders.data[i].is_shared)
            continue;
        TRY(find_sharers(&finder, &pages->holders.data[i]));
        named++;
    }
    return NULL;
}

/* Finds the holders that keep LEAST_OF_FREE percent of all free slots or more, and at least LEAST
 * bytes: examines nodes from the root down, from a work list. */
static struct g2h_error *find_holders(const struct pages_finder *found, struct pages *pages)
{
    enum { LEAST = 1 << 20 };
    const uint64_t share = pages_all(pages).empty / 100 * LEAST_OF_FREE;
    struct holders_finder finder = {
        .findings = found->findings, .threshold = MAX(share, LEAST), .pages = pages};
    bool is_any_shared = false;
    bool good = empty_of(&finder, 0) < finder.threshold || vector_push(&finder.left, 0);
    while (good && finder.left.count > 0)
        good = examine(&finder, finder.left.data[--finder.left.count]);
    free(finder.left.data);
    TRY_MEMORY(good);
    vector_sort(&pages->holders, compare_holders);
    VECTOR_EACH(const struct pages_holder, holder, pages->holders)
        is_any_shared |= holder->is_shared;
    return is_any_shared ? find_all_sharers(found, pages) : NULL;
}

/* ---- all of it ---- */

/* Finds what goes with each node of a tree that has been taken. */
static struct g2h_error *find_own(struct pages_finder *finder)
{
    TRY(pages_tree_number(&finder->tree, finder->count));
    TRY(workers_run(finder->threads, finder->tasks, pages_find_task, finder));
    for (size_t i = 0; i < finder->tasks; i++)
        VECTOR_EACH(const struct pages_part, part, finder->parts[i])
            pages_sum_add(&finder->own[part->node], &part->sum);
    leave_out_untouched(finder);
    return NULL;
}

/* Returns whether spans can be found by the addresses of objects: the release's size classes are
 * known, and the dump is of a process or core. */
static bool are_spans_known(const struct g2h_heap *heap)
{
    return go_release_parse(g2h_heap_go_version(heap)).minor >= SIZE_CLASSES_SINCE &&
           g2h_heap_is_of_process(heap);
}

/* Finds which pages would be free without each node. Sums up the pages in the tree of merged nodes,
 * and then finds what holds most of them. Nothing is found if the dump does not tell its spans. */
struct g2h_error *pages_find(struct findings *findings)
{
    _cleanup_(pages_finder_deinit) struct pages_finder finder = {.findings = findings,
                                                                 .view = findings->view,
                                                                 .dominators = findings->dominators,
                                                                 .memory = findings->memory,
                                                                 .threads = findings->threads};
    struct pages *ret = &findings->pages;
    if (!are_spans_known(g2h_view_heap(findings->view)))
        return NULL;
    TRY(take_merged(&finder));
    TRY(find_own(&finder));
    ret->retained = calloc(finder.count, sizeof(*ret->retained));
    TRY_MEMORY(ret->retained);
    memcpy(ret->retained, finder.own, finder.count * sizeof(*ret->retained));
    pages_sum_up(&finder, ret->retained);
    ret->own = finder.own;
    finder.own = NULL;
    return find_holders(&finder, ret);
}

/* Finds how many pages become free with each node of the view. *ret stays NULL if the dump does not
 * tell its spans. */
struct g2h_error *pages_find_nodes(const struct g2h_view *view,
                                   const struct g2h_dominators *dominators,
                                   const struct g2h_memory *memory, unsigned threads,
                                   struct pages_sum **ret)
{
    _cleanup_(pages_finder_deinit) struct pages_finder finder = {
        .view = view, .dominators = dominators, .memory = memory, .threads = threads};
    *ret = NULL;
    if (!are_spans_known(g2h_view_heap(view)))
        return NULL;
    TRY(take_dominators(&finder));
    TRY(find_own(&finder));
    pages_sum_up(&finder, finder.own);
    *ret = finder.own;
    finder.own = NULL;
    return NULL;
}
