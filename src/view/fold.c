/*
 * fold: decides which nodes of a graph a view shows, and puts the others into groups; see fold.h.
 *
 * The kept nodes are the upper part of the tree of dominators: nodes are folded in the order of
 * their worth, which is their retained size, so that no node is folded before the nodes that it
 * dominates; a mapping, which retains nothing, is worth its resident size, and a stack as much as
 * its goroutine. Each folded node belongs to the last of its dominators that is kept, d, by a tree
 * of written nodes: below d is one for each class of folded nodes whose dominator is d, F(d,
 * class); below that, one for each class of those that its members dominate directly, and so on, up
 * to MOST_DEPTH; what the members of the last ones dominate is beside them. How many nodes will be
 * written for a given worth is counted without writing any, and the worth is searched for.
 *
 * Every strong edge u → v of the graph becomes an edge between the nodes that u and v have become.
 * Two kinds of edges are added: from a node to each F directly below it; and d → k if a kept node
 * k, whose dominator is d, would be entered only by one tree of d: an F(d, c) and what is below it.
 * Then, with ≤ for "dominates or is", and T for such a tree taken as one node:
 *
 *   1. A source of an edge to a member of T(d, c) is dominated by d. For the dominator of any node
 *      dominates all sources of edges to it, and the members' dominators are d or folded below d.
 *   2. A kept x dominates a kept y after folding if and only if it did before. A path around x
 *      before folding leaves a path around x after it, since each of its edges has become an edge
 *      or has shrunk to nothing, and only x itself has become x. Conversely, take a path around x
 *      after folding. By induction along it, x dominated no member of any node on the path. This is
 *      clear for a kept node that is entered by an edge of a member. If x dominated a member of
 *      T(d, c), then x ≤ d, so by 1 it dominated all sources of edges to T, hence a member of the
 *      node before T. An added edge comes from d, which is on the path, so that x is not d and did
 *      not dominate d, nor any node whose dominator d was.
 *   3. The dominator of T(d, c) is d: by the argument of 2 no other kept node, below d, is on all
 *      paths to T, and d itself has an edge to F.
 *   4. No T dominates a kept node, or another tree. Suppose that T does, and let X be the kept
 * nodes that T dominates and whose dominator was d. By 2 and 3 there is one: if T dominates y, then
 * d dominated y, and the kept node between d and y on the way up cannot dominate T, so T dominates
 * that node, too. In the graph there is a path from d into X. Where it first enters the nodes that
 * some x in X dominates, it enters x, from d, from a folded node that belongs to d, or from a node
 * that is dominated by another child of d, which T does not dominate. In the first and in the last
 * case there is a path around T now. If only folded nodes of d lead to x, they either are of two
 * different trees, at least one of them not T, or d → x was added.
 *   5. Within a tree, a node's dominator is the one above it. A source of an edge to a member y of
 *      F is the dominator x of y, or is dominated by it. So it is in the node of x, or in one below
 *      it; or if x is at MOST_DEPTH, in one beside it. In all cases that is the node above F, or
 *      one below that; so all ways to F lead by the node above, which has an edge to F itself.
 *
 * A view under some nodes has all folded nodes of one class, and these are not below each other: 1
 * to 4 need no more than that the kept nodes are an upper part of the tree, and T is one node.
 *
 * If d is the root, the added edges come from "(folded)" instead: DevTools computes no distances if
 * objects are children of the root. "(folded)" is a child of the root, no other strong edge leads
 * to it, and only the added edges lead on from it. So it dominates nothing, because there is a path
 * without these edges to every node; and they serve as well as edges from the root.
 *
 * So the retained size of each kept node does not change: it is the node's own size, that of the
 * kept nodes that it dominates and that of the folded nodes that belong to these. And a class
 * retains in Summary what it did: all that its nodes retain of which none is below another one of
 * the class, for nodes that had dominators of the same classes have them now; unless a node of the
 * class is MOST_DEPTH deep. An object that would be alone in its F is kept if its dominator is kept
 * and if the same is true of all nodes that it dominates. That does not affect the proof above.
 *
 * Memory: 32 bytes per node of the graph while it is decided which nodes to keep, 12 of them for
 * the dominators, and some 60 per node that is going to be written; then 8 and 20. All work is done
 * in the order of the nodes or of their numbers: the result does not depend on the number of
 * threads.
 */
#include "view/fold.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "base/workers.h"
#include "dominators/dominators.h"

enum { AHEAD = 16 };

/* How many groups may be below each other. */
enum { MOST_DEPTH = 8 };

/* How much each synthetic node, such as a goroutine or a frame, adds to worths beside its size. */
enum { SYNTHETIC_WORTH = 4096 };

/* The worth of nodes that are never folded: the groups of roots. */
#define WORTH_KEPT UINT64_MAX

/* Values of folding->fate other than the string of a node's class and, later, the number of its
 * group. */
#define FATE_LEFT_OUT   UINT32_MAX
#define FATE_KEPT       (UINT32_MAX - 1)
#define CLASS_TEXT      (UINT32_MAX - 2)
#define CLASS_SYNTHETIC (UINT32_MAX - 3)
#define CLASS_ELSE      (UINT32_MAX - 4) /* of all nodes beside those that the view is about */

/* Where to cut: nodes of less worth are folded and, among nodes of the same worth, those from this
 * one on, in the graph's order (their numbers in preorder depend on how dominators are found). A
 * node never has the same worth as one that it dominates: an object without bytes dominates
 * nothing. */
struct cut {
    uint64_t worth;
    uint32_t node;
};

/* A node is shown as itself, by its number in preorder, or with this bit as a group, by its number.
 */
#define SHOWN_AS_GROUP (1u << 31)

/* The folded nodes of one class whose dominators are shown as the same kept node or group. */
struct group {
    uint32_t above, class; /* as in folding->shown_as, and as in folding->fate */
    uint32_t count;
    uint32_t depth;  /* from the kept node on: 1 if above is one */
    uint32_t folded; /* the folded node that it becomes, or UINT32_MAX */
};

struct folding {
    const struct g2h_graph *graph;
    struct fold *fold;
    const struct fold_names *names;
    const struct g2h_view_options *options;
    struct dominators tree;
    struct under under;        /* without bits, unless the view is under some nodes */
    uint64_t *worth;           /* by number in preorder */
    uint32_t *fate, *shown_as; /* by number in preorder; shown_as: what the node is shown as */
    VECTOR(struct group) groups;
    struct map group_of; /* what it is below, and class → group */
};

/* ---- whether there is anything to do ---- */

/* Returns the number of nodes, without the garbage if that is left out. */
static uint64_t fold_count_nodes(const struct g2h_graph *graph, bool leaves_out_garbage)
{
    const uint64_t count = graph_node_count(graph);
    return leaves_out_garbage && graph->live ? count - 1 - graph->account.unreachable_objects
                                             : count;
}

/* Returns whether the graph has more nodes than the view may have. */
static bool fold_is_too_large(const struct g2h_graph *graph, const struct g2h_view_options *options)
{
    return options->max_nodes > 0 &&
           fold_count_nodes(graph, options->reachable) > options->max_nodes;
}

/* Returns whether the view has folded nodes. */
static bool fold_has_folded(const struct g2h_graph *graph, const struct g2h_view_options *options)
{
    return options->under_count > 0 || fold_is_too_large(graph, options);
}

/* Returns whether a view with these options differs from the graph, so that it needs
 * fold_init(). */
bool fold_is_needed(const struct g2h_graph *graph, const struct g2h_view_options *options)
{
    return fold_has_folded(graph, options) || (options->reachable && graph->live);
}

/* ---- classes ---- */

/* Returns the fate of an object before any are kept: that it is left out, or its class in DevTools'
 * Summary. An object's class is its name, and all strings have the same class. */
static inline uint32_t fold_fate_of(const struct folding *folding, uint32_t object)
{
    const struct g2h_graph *graph = folding->graph;
    if (fold_leaves_out(folding->fold, object))
        return FATE_LEFT_OUT;
    if (graph->typing && typing_is_text(graph->typing, object))
        return CLASS_TEXT;
    return names_of_object(&graph->names, object);
}

/* Sets the fate of a block's objects. */
static struct g2h_error *fold_find_classes(void *context, size_t task, unsigned worker)
{
    const struct folding *folding = context;
    const struct g2h_graph *graph = folding->graph;
    const uint32_t *preorder_of = folding->tree.preorder_of + graph_synthetics(graph);
    const uint32_t first = as_u32(task) << BLOCK_SHIFT,
                   count = graph->targets->blocks[task].objects;
    (void)worker;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t object = first + i;
        if (count - i > AHEAD)
            __builtin_prefetch(&folding->fate[preorder_of[object + AHEAD]], 1);
        folding->fate[preorder_of[object]] = fold_fate_of(folding, object);
    }
    return NULL;
}

/* Returns the resident size of the mapping that begins at an address. */
static uint64_t resident_at(const struct g2h_memory *memory, uint64_t address)
{
    uint32_t mapping;
    return mappings_find(memory, address, &mapping) ? memory->mappings[mapping].resident : 0;
}

/* Sets the fate of all nodes to their classes, and the worth of synthetic nodes, by which folding
 * ranks them: groups are always kept; a stack comes right behind its goroutine; a mapping has its
 * resident bytes. Garbage is left out if the view is without. */
static struct g2h_error *classify(struct folding *folding)
{
    const struct g2h_graph *graph = folding->graph;
    struct g2h_error *error =
        workers_run(graph->threads, graph->targets->block_count, fold_find_classes, folding);
    for (uint32_t i = 0; i < graph_synthetics(graph); i++) {
        const uint32_t preorder = folding->tree.preorder_of[i];
        const struct synthetic *node = &graph->roots.nodes.data[i];
        const enum g2h_node_kind kind = node->kind;
        folding->fate[preorder] = kind == G2H_NODE_STACK ? node->name : CLASS_SYNTHETIC;
        if (kind <= G2H_NODE_MAPPINGS) /* the kinds of groups come first */
            folding->worth[preorder] = WORTH_KEPT;
        /* Outputs have all that the goroutine keeps below its stack, so both are worth as much; but
         * less than its dominator, as struct cut asks. */
        if (kind == G2H_NODE_STACK)
            folding->worth[preorder] = folding->worth[folding->tree.idom[preorder]] - 1;
        if (kind == G2H_NODE_MAPPING)
            folding->worth[preorder] += resident_at(graph->memory, node->key);
        if (kind == G2H_NODE_UNREACHABLE && folding->fold->leaves_out_garbage)
            folding->fate[preorder] = FATE_LEFT_OUT;
    }
    return error;
}

/* Finds what the view is about, of a view under some nodes: this and its holders stay, and
 * everything else is of one class. */
static struct g2h_error *set_beside(struct folding *folding)
{
    const struct dominators *tree = &folding->tree;
    struct under *under = &folding->under;
    TRY(under_find(folding->graph, tree, folding->options, under));
    TRY(under_count(folding->graph, tree, under, folding->worth, &folding->fold->under));
    for (uint32_t preorder = 0; preorder < tree->nodes; preorder++)
        if (folding->fate[preorder] != FATE_LEFT_OUT && under_is_else(under, preorder))
            folding->fate[preorder] = CLASS_ELSE;
        else if (bits_have(under->holds, preorder))
            folding->worth[preorder] = WORTH_KEPT;
    return NULL;
}

/* ---- how much to fold ---- */

/* Returns whether a cut folds a node: what is worth less, and of equal ones those with higher
 * numbers. */
static inline bool fold_is_cut(const struct folding *folding, const struct cut *cut,
                               uint32_t preorder)
{
    const uint64_t worth = folding->worth[preorder];
    return worth < cut->worth ||
           (worth == cut->worth && folding->tree.node_at[preorder] >= cut->node);
}

/* Finds or makes the group of a class below a kept node or group. Below MOST_DEPTH groups, those
 * below are beside each other. Returns false if memory runs out. */
static inline bool find_group(struct folding *folding, uint32_t above, uint32_t class,
                              uint32_t *ret)
{
    uint32_t depth = 1;
    if ((above & SHOWN_AS_GROUP) != 0 && class == CLASS_ELSE) { /* so is all that is above it */
        *ret = above & ~SHOWN_AS_GROUP;
        return true;
    }
    if ((above & SHOWN_AS_GROUP) != 0) {
        const struct group *group = &folding->groups.data[above & ~SHOWN_AS_GROUP];
        const bool is_deepest = group->depth == MOST_DEPTH;
        depth = is_deepest ? MOST_DEPTH : group->depth + 1;
        above = is_deepest ? group->above : above;
    }
    const struct group fresh = {above, class, 0, depth, UINT32_MAX};
    return map_put(&folding->group_of, pair_key(above, class), as_u32(folding->groups.count),
                   ret) &&
           (*ret < folding->groups.count || vector_push(&folding->groups, fresh));
}

/* Finds the groups that a cut makes, and what each node is shown as. A dominator comes before what
 * it dominates, so one pass is enough. Stops when there would be more than limit written nodes.
 * *ret is how many there would be, or a number above limit. Returns false if memory runs out. */
static bool find_groups(struct folding *folding, const struct cut *cut, uint64_t limit,
                        uint64_t *ret)
{
    const uint32_t nodes = folding->tree.nodes;
    const uint32_t *idom = folding->tree.idom;
    uint64_t kept = 2; /* the root and "(folded)" */
    uint32_t last_above = UINT32_MAX, last_class = UINT32_MAX, last = 0;
    map_deinit(&folding->group_of);
    folding->groups.count = 0;
    folding->shown_as[0] = 0;
    for (uint32_t preorder = 1; preorder < nodes && kept + folding->groups.count <= limit;
         preorder++) {
        const uint32_t class = folding->fate[preorder];
        const uint32_t above = folding->shown_as[idom[preorder]];
        if (class == FATE_LEFT_OUT)
            continue;
        if (class != CLASS_ELSE && !fold_is_cut(folding, cut, preorder)) {
            folding->shown_as[preorder] = preorder;
            kept++;
            continue;
        }
        /* Most nodes are of the same group as the one before: saves the look-up. */
        if (above != last_above || class != last_class) {
            if (!find_group(folding, above, class, &last))
                return false;
            last_above = above;
            last_class = class;
        }
        folding->shown_as[preorder] = last | SHOWN_AS_GROUP;
        folding->groups.data[last].count++;
    }
    *ret = kept + folding->groups.count;
    return true;
}

/* Orders cuts by how much they fold, the least first. */
static int compare_cuts(const void *a, const void *b)
{
    const struct cut *one = a;
    const struct cut *other = b;
    if (one->worth != other->worth)
        return COMPARE(one->worth, other->worth);
    return COMPARE(other->node, one->node);
}

/*
 * Finds what to fold so that at most limit nodes are written, and not many fewer. It bisects among
 * some thousands of nodes, because the number of written nodes falls as the worth rises: when a
 * node is folded, it disappears together with the folded nodes that belong to it, and at most as
 * many new ones appear at its dominator. If folding everything that may be folded is not enough,
 * all of it is folded nevertheless. Returns false if memory runs out.
 */
static bool find_cut(struct folding *folding, uint64_t limit, struct cut *ret)
{
    enum { SAMPLES = 1 << 15, NEAR = 128 /* divisor of the limit: how many fewer are near */ };
    const uint32_t nodes = folding->tree.nodes;
    const uint32_t stride = (nodes + 1) / SAMPLES + 1;
    _cleanup_free_ struct cut *samples = malloc((nodes / stride + 1) * sizeof(*samples));
    size_t count = 0;
    if (!samples)
        return false;
    for (uint32_t node = stride / 2; node < nodes; node += stride) {
        const uint32_t preorder = folding->tree.preorder_of[node];
        const uint32_t fate = folding->fate[preorder];
        if (fate != FATE_LEFT_OUT && fate != CLASS_ELSE && folding->worth[preorder] != WORTH_KEPT)
            samples[count++] = (struct cut){folding->worth[preorder], node};
    }
    if (folding->options->under_count > 0) { /* what it is about may be few enough */
        uint64_t written;
        *ret = (struct cut){0, UINT32_MAX};
        if (!find_groups(folding, ret, limit, &written))
            return false;
        if (written <= limit)
            return true;
    }
    if (count > 0)
        qsort(samples, count, sizeof(*samples), compare_cuts);
    /* If no sample folds enough: all that may be folded. */
    *ret = (struct cut){WORTH_KEPT, UINT32_MAX};
    size_t from = 0, to = count; /* cutting at samples[to] folds enough; *ret is that cut */
    while (from < to) {
        const size_t middle = from + (to - from) / 2;
        uint64_t written;
        if (!find_groups(folding, &samples[middle], limit, &written))
            return false;
        if (written > limit) {
            from = middle + 1;
            continue;
        }
        to = middle;
        *ret = samples[middle];
        if (written >= limit - limit / NEAR) /* each step costs a pass over all nodes */
            break;
    }
    return true;
}

/* ---- groups ---- */

/* Sets folding->fate of each node that is not left out to its group, or to FATE_KEPT. Returns false
 * if memory runs out. */
static bool make_groups(struct folding *folding, const struct cut *cut)
{
    uint64_t written;
    if (!find_groups(folding, cut, UINT64_MAX, &written))
        return false;
    folding->fate[0] = FATE_KEPT;
    for (uint32_t preorder = 1; preorder < folding->tree.nodes; preorder++)
        if (folding->fate[preorder] != FATE_LEFT_OUT)
            folding->fate[preorder] = (folding->shown_as[preorder] & SHOWN_AS_GROUP) != 0
                                          ? folding->shown_as[preorder] & ~SHOWN_AS_GROUP
                                          : FATE_KEPT;
    return true;
}

/*
 * Keeps a node if its dominator is kept, and if the node and all nodes that it dominates would be
 * alone in their groups: nothing is gained by folding them. Returns false if memory runs out.
 */
static bool keep_lone_ones(struct folding *folding)
{
    const uint32_t nodes = folding->tree.nodes;
    const uint32_t *idom = folding->tree.idom;
    /* A bit per number: the group of the node, or of one that it dominates, has other members. */
    uint64_t *shared = zeroed_alloc(nodes / 64 + 1, sizeof(*shared));
    if (!shared)
        return false;
    for (uint32_t preorder = nodes - 1; preorder > 0; preorder--) { /* dominators come after */
        const uint32_t group = folding->fate[preorder];
        if (group >= FATE_KEPT)
            continue;
        /* What the view is not about stays one node, even if it has one member. */
        if (folding->groups.data[group].count > 1 ||
            folding->groups.data[group].class == CLASS_ELSE)
            bits_add(shared, preorder);
        if (bits_have(shared, preorder))
            bits_add(shared, idom[preorder]);
    }
    for (uint32_t preorder = 1; preorder < nodes; preorder++)
        if (folding->fate[preorder] < FATE_KEPT && !bits_have(shared, preorder) &&
            folding->fate[idom[preorder]] == FATE_KEPT)
            folding->fate[preorder] = FATE_KEPT;
    free(shared);
    return true;
}

/* ---- the view's nodes ---- */

static bool fold_is_object(const struct g2h_graph *graph, uint32_t node)
{
    return node >= graph_synthetics(graph);
}

typedef VECTOR(struct folded) folded_vector;

/* Returns the kind of the node that stands for a class's nodes, one of which is given. */
static enum g2h_node_kind kind_of_folded(const struct g2h_graph *graph, uint32_t class,
                                         uint32_t node)
{
    if (class == CLASS_TEXT)
        return G2H_NODE_TEXT;
    if (class == CLASS_ELSE)
        return G2H_NODE_ELSE;
    if (class == CLASS_SYNTHETIC)
        return G2H_NODE_FOLDED_SYNTHETICS;
    return fold_is_object(graph, node) ? G2H_NODE_OBJECT : G2H_NODE_STACK;
}

/* Makes the folded nodes, in the order of groups: each comes after the one above it. Returns false
 * if memory runs out. */
static bool make_folded(struct folding *folding, folded_vector *folded)
{
    for (uint32_t preorder = 1; preorder < folding->tree.nodes; preorder++) {
        const uint32_t fate = folding->fate[preorder];
        if (fate >= FATE_KEPT || folding->groups.data[fate].folded != UINT32_MAX)
            continue;
        struct group *group = &folding->groups.data[fate];
        const enum g2h_node_kind kind =
            kind_of_folded(folding->graph, group->class, folding->tree.node_at[preorder]);
        group->folded = as_u32(folded->count);
        assert((group->above & SHOWN_AS_GROUP) == 0 ||
               folding->groups.data[group->above & ~SHOWN_AS_GROUP].folded < group->folded);
        if (!vector_push(folded, ((struct folded){.name = group->class, .kind = (uint8_t)kind})))
            return false;
    }
    return true;
}

/* Adds a node of the graph to its group's folded node. */
static void add_member(struct folding *folding, uint32_t folded, uint32_t node, folded_vector *list)
{
    list->data[folded].size += graph_node_size(folding->graph, node);
    list->data[folded].count++;
    folding->fold->number_of[node] = folded;
}

/* Formats ×1,234, a remark, and a NUL byte. */
static void count_text(struct text *text, uint32_t count, const char *remark)
{
    static const char times[] = "×";
    text->size = 0;
    text_append_string(text, times);
    text_append_grouped(text, count);
    text_append(text, remark, strlen(remark) + 1);
}

/* Adds the names of folded nodes, "×1,234", to the view's strings. Returns false if memory runs
 * out. Those of objects and stacks have the name of their class already; others get "1,234
 * (folded)", and the rest of the heap "(everything else)". */
static bool name_folded(struct folding *folding)
{
    const struct fold_names *names = folding->names;
    _cleanup_(text_deinit) struct text text = {0};
    bool good = true;
    for (uint32_t i = 0; i < folding->fold->folded_count && good; i++) {
        struct folded *folded = &folding->fold->folded[i];
        count_text(&text, folded->count, "");
        good = !text.failed &&
               names->add(names->context, text.data, G2H_NAME_OF_EDGE, &folded->count_name);
        if (good && folded->kind == G2H_NODE_ELSE)
            good = names->add(names->context, "(everything else)", G2H_NAME_OF_NODE, &folded->name);
        if (!good || folded->kind == G2H_NODE_OBJECT || folded->kind == G2H_NODE_STACK ||
            folded->kind == G2H_NODE_ELSE)
            continue; /* the name is the class's */
        count_text(&text, folded->count, " (folded)");
        good =
            !text.failed && names->add(names->context, text.data, G2H_NAME_OF_NODE, &folded->name);
    }
    return good;
}

/* Numbers the kept nodes and "(folded)", which comes before the objects, and adds folded nodes to
 * the view's node for their group. Until list_members(), their entries of fold->number_of are
 * indices in fold->folded. Returns false if memory runs out. */
static bool number_nodes(struct folding *folding)
{
    const struct g2h_graph *graph = folding->graph;
    struct fold *fold = folding->fold;
    const uint32_t *preorder_of = folding->tree.preorder_of;
    const uint32_t synthetics = graph_synthetics(graph);
    const uint32_t nodes = graph_node_count(graph);
    folded_vector folded = {0};
    const bool good = make_folded(folding, &folded);
    for (uint32_t node = 0; node < nodes && good; node++) {
        const uint32_t fate = folding->fate[preorder_of[node]];
        if (nodes - node > AHEAD)
            __builtin_prefetch(&folding->fate[preorder_of[node + AHEAD]]);
        if (node == synthetics)
            fold->group = fold->kept++;
        if (fate == FATE_KEPT) {
            fold->number_of[node] = fold->kept++;
            continue;
        }
        fold->number_of[node] = FOLD_LEFT_OUT;
        if (fold_is_object(graph, node))
            bits_add(fold->hidden, node - synthetics);
        if (fate == FATE_LEFT_OUT)
            continue;
        add_member(folding, folding->groups.data[fate].folded, node, &folded);
        fold->folded_objects += fold_is_object(graph, node);
    }
    if (nodes == synthetics) /* there are no objects, so the loop has not come to their first */
        fold->group = fold->kept++;
    fold->folded = folded.data;
    fold->folded_count = as_u32(folded.count);
    fold->nodes = fold->kept + fold->folded_count;
    return good && name_folded(folding);
}

/* Lists the members of folded nodes, and numbers folded nodes after all kept nodes. Returns false
 * if memory runs out. */
static bool list_members(struct folding *folding)
{
    struct fold *fold = folding->fold;
    const uint32_t *preorder_of = folding->tree.preorder_of,
                   nodes = graph_node_count(folding->graph);
    uint32_t sum = 0;
    fold->members = large_alloc(nodes, sizeof(*fold->members));
    fold->first_member =
        block_alloc(count_and_end(fold->folded_count), sizeof(*fold->first_member));
    if (!fold->members || !fold->first_member)
        return false;
    for (uint32_t i = 0; i < fold->folded_count; i++) {
        fold->first_member[i] = sum;
        sum += fold->folded[i].count;
    }
    fold->first_member[fold->folded_count] = sum;
    for (uint32_t node = 0; node < nodes; node++) {
        if (nodes - node > AHEAD)
            __builtin_prefetch(&folding->fate[preorder_of[node + AHEAD]]);
        if (folding->fate[preorder_of[node]] >= FATE_KEPT)
            continue;
        fold->members[fold->first_member[fold->number_of[node]]++] = node;
        fold->number_of[node] += fold->kept;
    }
    /* Each first member has become that of the next folded node: moves them back. */
    memmove(fold->first_member + 1, fold->first_member,
            fold->folded_count * sizeof(*fold->first_member));
    fold->first_member[0] = 0;
    return true;
}

/* Sets the dominators of folded nodes, the topmost folded node above each, and the sizes that they
 * retain. Groups come after those above them, so that one pass down finds the topmost, and one
 * up adds the sizes: folded nodes are in the same order. */
static void link_folded(const struct folding *folding)
{
    struct fold *fold = folding->fold;
    VECTOR_EACH(const struct group, group, folding->groups) {
        if (group->folded == UINT32_MAX)
            continue;
        struct folded *folded = &fold->folded[group->folded];
        const bool is_top = (group->above & SHOWN_AS_GROUP) == 0;
        const uint32_t above =
            is_top ? 0 : folding->groups.data[group->above & ~SHOWN_AS_GROUP].folded;
        folded->above =
            is_top ? fold->number_of[folding->tree.node_at[group->above]] : fold->kept + above;
        folded->top = is_top ? fold->kept + group->folded : fold->folded[above].top;
        folded->retained = folded->size;
    }
    for (uint32_t i = fold->folded_count; i-- > 0;)
        if (fold->folded[i].above >= fold->kept)
            fold->folded[fold->folded[i].above - fold->kept].retained += fold->folded[i].retained;
}

/* Returns the dominators of the view's nodes, or NULL if memory runs out. */
static uint32_t *list_dominators(const struct folding *folding)
{
    const struct fold *fold = folding->fold;
    const struct dominators *tree = &folding->tree;
    uint32_t *dominators = block_alloc(count_and_end(fold->nodes), sizeof(*dominators));
    if (!dominators)
        return NULL;
    dominators[fold->group] = 0;
    for (uint32_t preorder = 0; preorder < tree->nodes; preorder++)
        if (folding->fate[preorder] == FATE_KEPT)
            dominators[fold->number_of[tree->node_at[preorder]]] =
                fold->number_of[tree->node_at[tree->idom[preorder]]];
    for (uint32_t i = 0; i < fold->folded_count; i++)
        dominators[fold->kept + i] = fold->folded[i].above;
    return dominators;
}

/* ---- from the view's nodes to the graph's ---- */

/* Makes the tables that lead from the view's nodes to the graph's: a list of synthetic nodes and,
 * for objects, how many are kept before each block (a rank index over the bits of hidden). Returns
 * false if memory runs out. */
static bool list_kept(struct fold *fold)
{
    const struct g2h_graph *graph = fold->graph;
    const uint32_t synthetics = graph_synthetics(graph);
    const uint32_t objects = graph->heap->object_count;
    const uint32_t ranks = (objects >> FOLD_RANK_SHIFT) + 2;
    fold->synthetics = block_alloc(count_and_end(synthetics), sizeof(*fold->synthetics));
    fold->rank = block_alloc(ranks, sizeof(*fold->rank));
    if (!fold->synthetics || !fold->rank)
        return false;
    for (uint32_t i = 0; i < synthetics; i++)
        if (fold->number_of[i] < fold->kept)
            fold->synthetics[fold->synthetic_count++] = i;
    uint32_t number = fold->first_object = fold->synthetic_count + fold->folds;
    for (uint32_t object = 0; object < objects; object++) {
        if ((object & ((1u << FOLD_RANK_SHIFT) - 1)) == 0)
            fold->rank[object >> FOLD_RANK_SHIFT] = number;
        number += !fold_hides(fold, object);
    }
    /* Behind the last block: what ends the search in fold_object_of(). */
    for (uint32_t i = (objects + (1u << FOLD_RANK_SHIFT) - 1) >> FOLD_RANK_SHIFT; i < ranks; i++)
        fold->rank[i] = number;
    return true;
}

/* Finds the block of objects by bisection in rank, and then the object in it by counting the bits
 * of kept objects. */
uint32_t fold_object_of(const struct fold *fold, uint32_t node)
{
    const uint32_t ranks = (fold->graph->heap->object_count >> FOLD_RANK_SHIFT) + 2;
    uint32_t not_after;
    BISECT(not_after, ranks, fold->rank[not_after] <= node);
    assert(node >= fold->first_object && node < fold->kept && not_after > 0);
    uint32_t to_skip = node - fold->rank[not_after - 1]; /* kept objects of the block */
    uint32_t object = (not_after - 1) << FOLD_RANK_SHIFT;
    for (;; object += 64) { /* 64 objects at a time */
        uint64_t kept = ~fold->hidden[object / 64];
        const uint32_t count = bits_of_word(kept);
        if (to_skip >= count) {
            to_skip -= count;
            continue;
        }
        while (to_skip-- > 0)
            /* Clears the lowest bit: skips a kept object. */
            kept &= kept - 1;
        return object + lowest_bit(kept);
    }
}

/* ---- the whole fold ---- */

/* Numbers the kept nodes of a view that leaves out garbage and folds nothing. */
static void fold_leave_out(struct fold *fold)
{
    const struct g2h_graph *graph = fold->graph;
    const uint32_t synthetics = graph_synthetics(graph);
    for (uint32_t node = 0; node < synthetics; node++)
        fold->number_of[node] = graph->roots.nodes.data[node].kind == G2H_NODE_UNREACHABLE
                                    ? FOLD_LEFT_OUT
                                    : fold->kept++;
    for (uint32_t object = 0; object < graph->heap->object_count; object++) {
        const bool out = fold_leaves_out(fold, object);
        fold->number_of[synthetics + object] = out ? FOLD_LEFT_OUT : fold->kept++;
        if (out)
            bits_add(fold->hidden, object);
    }
    fold->nodes = fold->kept;
}

/* Frees what decides which nodes are kept. */
static void forget_worth(struct folding *folding)
{
    const uint32_t nodes = graph_node_count(folding->graph);
    large_free(folding->worth, nodes, sizeof(*folding->worth));
    large_free(folding->shown_as, nodes, sizeof(*folding->shown_as));
    map_deinit(&folding->group_of);
    folding->worth = NULL;
    folding->shown_as = NULL;
    folding->group_of = (struct map){0};
}

/* Decides which nodes are kept, and groups the others. Error: there are too many nodes to fold. */
static struct g2h_error *decide_folding(struct folding *folding)
{
    struct fold *fold = folding->fold;
    const uint32_t nodes = graph_node_count(folding->graph);
    const uint64_t limit = fold->max_nodes > 0 ? fold->max_nodes : UINT64_MAX;
    struct cut cut;
    if (nodes >= SHOWN_AS_GROUP) /* its bit is not part of a number */
        return error_create(G2H_ERROR_LIMIT, "%s: %u nodes: too many to fold",
                            folding->graph->heap->input->name, nodes);
    TRY(dominators_init(&folding->tree, folding->graph));
    TRY(dominators_sizes(&folding->tree, folding->graph, SYNTHETIC_WORTH, &folding->worth));
    folding->fate = large_alloc(nodes, sizeof(*folding->fate));
    folding->shown_as = large_alloc(nodes, sizeof(*folding->shown_as));
    TRY_MEMORY(folding->fate && folding->shown_as);
    TRY(classify(folding));
    if (folding->options->under_count > 0)
        TRY(set_beside(folding));
    TRY_MEMORY(find_cut(folding, limit, &cut));
    TRY_MEMORY(make_groups(folding, &cut));
    forget_worth(folding);
    TRY_MEMORY(keep_lone_ones(folding));
    return NULL;
}

static void folding_deinit(struct folding *folding)
{
    forget_worth(folding);
    large_free(folding->fate, graph_node_count(folding->graph), sizeof(*folding->fate));
    free(folding->groups.data);
    under_deinit(&folding->under);
    dominators_deinit(&folding->tree);
}

/* Decides what to fold, numbers the view's nodes, and lists the members of folded ones. */
static struct g2h_error *fold_nodes(struct fold *fold, const struct g2h_view_options *options,
                                    const struct fold_names *names, uint32_t **ret_dominators)
{
    _cleanup_(folding_deinit) struct folding folding = {
        .graph = fold->graph, .fold = fold, .names = names, .options = options};
    TRY(decide_folding(&folding));
    TRY_MEMORY(number_nodes(&folding) && list_members(&folding));
    link_folded(&folding);
    *ret_dominators = list_dominators(&folding);
    TRY_MEMORY(*ret_dominators);
    return NULL;
}

/* Returns whether the view's nodes are in the order that fold.h says, and stand for all of the
 * graph's bytes but those that are left out. */
static _asserted_ bool fold_is_whole(const struct fold *fold)
{
    const struct g2h_graph *graph = fold->graph;
    uint64_t kept = 0, folded = 0, all = 0;
    if (fold->synthetic_count > fold->first_object || fold->first_object > fold->kept ||
        fold->nodes != fold->kept + fold->folded_count)
        return false;
    for (uint32_t node = 0; node < graph_node_count(graph); node++) {
        const uint32_t number = fold->number_of[node];
        all += number != FOLD_LEFT_OUT ? graph_node_size(graph, node) : 0;
        kept += number < fold->kept ? graph_node_size(graph, node) : 0;
    }
    for (uint32_t i = 0; i < fold->folded_count; i++)
        folded += fold->folded[i].size;
    return kept + folded == all;
}

/* Decides what is shown. Either folds nodes, or only leaves out garbage; then lists what is kept,
 * and counts the edges of folded nodes, which need all numbers. */
struct g2h_error *fold_init(struct fold *fold, const struct g2h_graph *graph,
                            const struct g2h_view_options *options, const struct fold_names *names)
{
    _cleanup_free_ uint32_t *dominators = NULL;
    *fold = (struct fold){
        .graph = graph,
        .max_nodes = options->max_nodes,
        .leaves_out_garbage = options->reachable,
        .folds = fold_has_folded(graph, options),
        .is_under = options->under_count > 0,
        .group = UINT32_MAX,
        .number_of = large_alloc(graph_node_count(graph), sizeof(*fold->number_of)),
        .hidden = zeroed_alloc(graph->heap->object_count / 64 + 1, sizeof(*fold->hidden)),
    };
    if (!fold->number_of || !fold->hidden ||
        !names->add(names->context, "(folded)", G2H_NAME_OF_NODE, &fold->group_name) ||
        !names->add(names->context, "(folded)", G2H_NAME_OF_EDGE, &fold->group_name))
        return &error_no_memory;
    if (fold->folds)
        TRY(fold_nodes(fold, options, names, &dominators));
    else
        fold_leave_out(fold);
    TRY_MEMORY(list_kept(fold));
    assert(fold_is_whole(fold));
    /* last, since the edges of a folded node depend on all numbers */
    return fold_count_edges(fold, dominators);
}

void fold_deinit(struct fold *fold)
{
    const uint32_t nodes = graph_node_count(fold->graph);
    large_free(fold->number_of, nodes, sizeof(*fold->number_of));
    large_free(fold->members, nodes, sizeof(*fold->members));
    free(fold->hidden);
    free(fold->synthetics);
    free(fold->rank);
    free(fold->folded);
    free(fold->first_member);
    free(fold->extra);
    free(fold->first_extra);
    free(fold->edge_counts);
}
