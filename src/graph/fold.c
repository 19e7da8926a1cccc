/*
 * fold; see fold.h.
 *
 * What is kept is the upper part of the tree of dominators: nodes are folded in the order of their
 * worth, which is their retained size, so that no node is folded before what it dominates. Each
 * folded node belongs to the last of its dominators that is kept, d; those of one class that belong
 * to the same d become one written node F(d, class). How many nodes will be written for a given
 * worth is counted without writing any, and the worth is searched for.
 *
 * Every strong edge u → v of the graph becomes an edge between what u and v have become. Two kinds
 * of edges are added: d → F for each F, and d → k where a kept node k, whose dominator is d, would
 * be entered by one F of d only. Then, with ≤ for "dominates or is":
 *
 *   1. A source of an edge to a member of F(d, c) is dominated by d. For the dominator of any node
 *      dominates all sources of edges to it, and the members' dominators are d or folded below d.
 *   2. A kept x dominates a kept y after folding if and only if it did before. If there was a way
 *      around x there still is one, since each of its edges has become an edge or has shrunk to
 *      nothing, and only x itself has become x. If there is a way around x after folding, then, by
 *      induction along it, x dominated no member of any node on the way: that is clear of kept
 *      nodes, entered by an edge of a member; and if x dominated a member of F(d, c), then x ≤ d,
 *      so by 1 it dominated all sources of edges to F, hence a member of the node before. An added
 *      edge comes from d, which is on the way, so that x is not d and did not dominate it, nor
 *      what d was the dominator of.
 *   3. The dominator of F(d, c) is d: by 2's argument nothing else that is kept, below d, is on all
 *      ways, and d itself has an edge to F.
 *   4. No F dominates anything. Suppose it does, and take the kept nodes X that F dominates and
 *      whose dominator was d: by 2 and 3 there is one (if F dominates y then d dominated y, and
 *      the kept node between d and y on the way up cannot dominate F, so F dominates it too). In
 *      the graph there is a way from d into X. Where it first enters what is dominated by some x in
 *      X, it enters x, from d, from a folded node that belongs to d, or from a node dominated by
 *      another child of d that F does not dominate. From the last and from d there is a way around
 *      F now. If only folded nodes of d lead there, either they have become two different ones, of
 *      which one is not F, or d → x was added.
 *
 * Where d is the root the added edges come from "(folded)" instead: DevTools computes no distances
 * if objects are children of the root. It is a child of the root which no other edge leads to and
 * from which no others lead on, so it dominates nothing, for there is a way without these edges to
 * everything; and they do as well as edges from the root.
 *
 * So the retained size of each kept node is what it was: its own size, that of the kept nodes it
 * dominates and that of the folded nodes that belong to these; and the retained size of a folded
 * one is its own. An object that would be alone in its F is kept itself if its dominator is and if
 * the same goes for all that it dominates, which changes none of this.
 *
 * Memory: 32 bytes per node of the graph while it is decided what to keep, 12 of them the
 * dominators', and some 40 per node that is going to be written; then 8 and 20. All of it is done
 * in the order of the nodes or of their places: the result does not depend on the number of
 * threads.
 */
#include "graph/fold.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/workers.h"
#include "graph/dominators.h"

enum { AHEAD = 16 };

/* A goroutine or a frame is worth more than what it holds. */
enum { SYNTHETIC_WORTH = 4096 };

/* Of nodes that are never folded: the groups of roots, by their fixed ids. */
#define WORTH_KEPT UINT64_MAX
enum { FIXED_IDS = 1024 };

/* What else folding->what says of a node but the string that is its class or, later, its group. */
#define WHAT_LEFT_OUT   UINT32_MAX
#define WHAT_KEPT       (UINT32_MAX - 1)
#define CLASS_TEXT      (UINT32_MAX - 2)
#define CLASS_SYNTHETIC (UINT32_MAX - 3)

/* Folded are nodes of less worth, and those of the same that have this place or a higher one. */
struct cut {
    uint64_t worth;
    uint32_t place;
};

/* Objects of one class that belong to one kept node. */
struct group {
    uint32_t dominator, class; /* place; as in folding->what */
    uint32_t count;
    uint32_t last; /* folded node that members go to; UINT32_MAX: none yet */
};

struct folding {
    struct g2h_graph *graph;
    struct fold *fold;
    struct dominators tree;
    uint64_t *worth;      /* by place */
    uint32_t *what, *top; /* by place; top: the last dominator or itself that is kept */
    VECTOR(struct group) groups;

    /* While nodes are counted: a hash table of kept node << 32 | class, plus 1; 0 where free. */
    uint64_t *pairs;
    size_t mask;
};

static bool is_left_out(const struct fold *fold, uint32_t object)
{
    return fold->leaves_out_garbage && graph_is_garbage(fold->graph, object);
}

/* ---- whether there is anything to do ---- */

/* The nodes that are left without the garbage. */
static uint64_t count_nodes(const struct fold *fold)
{
    const struct g2h_graph *graph = fold->graph;
    uint64_t count = graph->synthetics.count + graph->heap->object_count + graph->parts.count;
    if (!fold->leaves_out_garbage || !graph->live)
        return count;
    for (size_t i = 0; i < graph->edges.count && graph->parts.count > 0; i++)
        if (graph->edges.data[i].target.of == OF_PART &&
            is_left_out(fold, graph->edges.data[i].source.index))
            count--;
    return count - 1 - graph->account.unreachable_objects;
}

bool fold_prepare(struct g2h_graph *graph, uint64_t max_nodes, bool leave_out_garbage)
{
    static const char group[] = "(folded)";
    struct fold fold = {.graph = graph,
                        .group = UINT32_MAX,
                        .max_nodes = max_nodes,
                        .leaves_out_garbage = leave_out_garbage};
    const bool is_too_large = max_nodes > 0 && count_nodes(&fold) > max_nodes;
    if (!is_too_large && !(leave_out_garbage && graph->live))
        return true;
    if (is_too_large &&
        (!graph_add_synthetic(graph, group, sizeof(group) - 1, ID_FOLDED, &fold.group) ||
         !graph_add_edge(graph, node_synthetic(0), EDGE_ELEMENT, ID_FOLDED / 2,
                         node_synthetic(fold.group))))
        return false;
    if (!graph_intern(graph, group, &fold.folded_name))
        return false;
    graph->fold = malloc(sizeof(*graph->fold));
    if (graph->fold)
        *graph->fold = fold;
    return graph->fold != NULL;
}

void fold_destroy(struct fold *fold)
{
    if (!fold)
        return;
    large_free(fold->number_of, fold->graph_nodes, sizeof(*fold->number_of));
    large_free(fold->members, fold->graph_nodes - fold->kept, sizeof(*fold->members));
    free(fold->hidden);
    free(fold->folded);
    free(fold->first_member);
    free(fold->extra);
    free(fold->first_extra);
    free(fold->edge_counts);
    free(fold);
}

/* ---- what each node is ---- */

/* Classes of DevTools' Summary: those of objects are their names; all strings are of one. */
static struct g2h_error *find_classes(void *context, size_t task, unsigned worker)
{
    const struct folding *folding = context;
    const struct g2h_graph *graph = folding->graph;
    const uint32_t *place_of = folding->tree.place_of + graph->synthetics.count;
    const uint32_t first = (uint32_t)task << BLOCK_SHIFT,
                   count = graph->targets.blocks[task].objects;
    (void)worker;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t object = first + i;
        if (count - i > AHEAD)
            __builtin_prefetch(&folding->what[place_of[object + AHEAD]], 1);
        const bool is_text = graph->typing && typing_is_text(graph->typing, object);
        folding->what[place_of[object]] = is_left_out(folding->fold, object) ? WHAT_LEFT_OUT
                                          : is_text                          ? CLASS_TEXT
                                                    : names_of_object(&graph->names, object);
    }
    return NULL;
}

static struct g2h_error *classify(struct folding *folding)
{
    const struct g2h_graph *graph = folding->graph;
    const uint32_t synthetics = (uint32_t)graph->synthetics.count,
                   parts = synthetics + graph->heap->object_count;
    struct g2h_error *error =
        workers_run(graph->threads, graph->targets.block_count, find_classes, folding);
    for (uint32_t i = 0; i < synthetics; i++) {
        const uint32_t place = folding->tree.place_of[i], id = graph->synthetics.data[i].id;
        folding->what[place] = CLASS_SYNTHETIC;
        if (id < FIXED_IDS)
            folding->worth[place] = WORTH_KEPT;
        if (id == ID_UNREACHABLE && folding->fold->leaves_out_garbage)
            folding->what[place] = WHAT_LEFT_OUT;
    }
    for (uint32_t i = 0; i < graph->parts.count; i++) {
        const uint32_t place =
            folding->tree.place_of[parts + i]; /* an object dominates its parts */
        folding->what[place] = folding->what[folding->tree.above[place]] == WHAT_LEFT_OUT
                                   ? WHAT_LEFT_OUT
                                   : graph->parts.data[i].name;
    }
    return error;
}

/* ---- how much to fold ---- */

static inline bool is_cut(const struct folding *folding, const struct cut *cut, uint32_t place)
{
    const uint64_t worth = folding->worth[place];
    return worth < cut->worth || (worth == cut->worth && place >= cut->place);
}

/* Pairs on their way into the table: their slots are asked for some time before they are read. */
enum { BATCH = 32 };
struct batch {
    uint64_t pairs[BATCH];
    size_t slots[BATCH], count;
};

/* How many of them are new. */
static inline uint32_t add_pairs(struct folding *folding, struct batch *batch)
{
    uint32_t added = 0;
    for (size_t i = 0; i < batch->count; i++) {
        const uint64_t pair = batch->pairs[i];
        size_t slot = batch->slots[i];
        while (folding->pairs[slot] != 0 && folding->pairs[slot] != pair)
            slot = (slot + 1) & folding->mask;
        added += folding->pairs[slot] == 0;
        folding->pairs[slot] = pair;
    }
    batch->count = 0;
    return added;
}

/* How many nodes would be written; limit + 1 where there are more than limit. */
static uint64_t count_written(struct folding *folding, const struct cut *cut, uint64_t limit)
{
    const uint32_t nodes = folding->tree.nodes, *above = folding->tree.above;
    struct batch batch = {.count = 0};
    uint64_t count = 1, last = 0;
    memset(folding->pairs, 0, (folding->mask + 1) * sizeof(*folding->pairs));
    folding->top[0] = 0;
    for (uint32_t place = 1; place < nodes && count <= limit; place++) {
        const uint32_t class = folding->what[place], dominator = folding->top[above[place]];
        if (class == WHAT_LEFT_OUT)
            continue;
        if (!is_cut(folding, cut, place)) {
            folding->top[place] = place;
            count++;
            continue;
        }
        folding->top[place] = dominator;
        const uint64_t pair = ((uint64_t)dominator << 32 | class) + 1;
        if (pair == last)
            continue;
        if (batch.count == BATCH)
            count += add_pairs(folding, &batch);
        last = batch.pairs[batch.count] = pair;
        batch.slots[batch.count] = (size_t)map_hash(pair) & folding->mask;
        __builtin_prefetch(&folding->pairs[batch.slots[batch.count++]], 1);
    }
    return count + add_pairs(folding, &batch);
}

static int compare_cuts(const void *a, const void *b)
{
    const struct cut *one = a, *other = b;
    if (one->worth != other->worth)
        return one->worth < other->worth ? -1 : 1;
    return one->place > other->place ? -1 : one->place < other->place;
}

/*
 * Finds what to fold so that at most limit nodes are written, and not many fewer: among some
 * thousands of nodes by bisection, for the number written falls as the worth rises. A node that is
 * folded goes away with the folded nodes that belong to it, and at most as many are new at its
 * dominator. Where all that may be folded is too little, it is folded nevertheless.
 */
static bool find_cut(struct folding *folding, uint64_t limit, struct cut *ret)
{
    enum { SAMPLES = 1 << 15 };
    const uint32_t nodes = folding->tree.nodes, stride = nodes / SAMPLES + 1;
    struct cut *samples = malloc((nodes / stride + 1) * sizeof(*samples));
    size_t count = 0;
    if (!samples)
        return false;
    for (uint32_t place = stride / 2; place < nodes; place += stride)
        if (folding->what[place] != WHAT_LEFT_OUT && folding->worth[place] != WORTH_KEPT)
            samples[count++] = (struct cut){folding->worth[place], place};
    if (count > 0)
        qsort(samples, count, sizeof(*samples), compare_cuts);
    *ret = (struct cut){WORTH_KEPT, UINT32_MAX};
    size_t from = 0, to = count; /* enough is folded with samples[to]; *ret is that one */
    while (from < to) {
        const size_t middle = from + (to - from) / 2;
        const uint64_t written = count_written(folding, &samples[middle], limit);
        if (written > limit) {
            from = middle + 1;
            continue;
        }
        to = middle;
        *ret = samples[middle];
        if (written >= limit - limit / 128)
            break;
    }
    free(samples);
    return true;
}

/* ---- groups ---- */

/* folding->what becomes each node's group, or that it is kept. */
static bool make_groups(struct folding *folding, const struct cut *cut)
{
    const uint32_t nodes = folding->tree.nodes, *above = folding->tree.above;
    struct map group_of = {0};
    bool good = true;
    folding->top[0] = 0;
    folding->what[0] = WHAT_KEPT;
    for (uint32_t place = 1; place < nodes && good; place++) {
        const uint32_t class = folding->what[place];
        if (class == WHAT_LEFT_OUT)
            continue;
        if (!is_cut(folding, cut, place)) {
            folding->top[place] = place;
            folding->what[place] = WHAT_KEPT;
            continue;
        }
        const uint32_t dominator = folding->top[place] = folding->top[above[place]];
        const struct group fresh = {dominator, class, 0, UINT32_MAX};
        uint32_t group;
        good = map_put(&group_of, (uint64_t)dominator << 32 | class,
                       (uint32_t)folding->groups.count, &group) &&
               (group < folding->groups.count || vector_push(&folding->groups, fresh));
        if (!good)
            break;
        folding->what[place] = group;
        folding->groups.data[group].count++;
    }
    map_deinit(&group_of);
    return good;
}

/*
 * Where a node and all that it dominates would be alone in their groups, nothing is gained by
 * folding them: they are kept.
 */
static bool keep_lone_ones(struct folding *folding)
{
    const uint32_t nodes = folding->tree.nodes, *above = folding->tree.above;
    uint64_t *shared = calloc((size_t)nodes / 64 + 1, sizeof(*shared)); /* it, or some below it */
    if (!shared)
        return false;
    for (uint32_t place = nodes - 1; place > 0; place--) {
        const uint32_t group = folding->what[place];
        if (group >= WHAT_KEPT)
            continue;
        if (folding->groups.data[group].count > 1)
            shared[place / 64] |= (uint64_t)1 << (place % 64);
        if ((shared[place / 64] >> (place % 64) & 1) != 0)
            shared[above[place] / 64] |= (uint64_t)1 << (above[place] % 64);
    }
    for (uint32_t place = 1; place < nodes; place++)
        if (folding->what[place] < WHAT_KEPT && (shared[place / 64] >> (place % 64) & 1) == 0 &&
            folding->what[above[place]] == WHAT_KEPT)
            folding->what[place] = WHAT_KEPT;
    free(shared);
    return true;
}

/* ---- written nodes ---- */

static uint32_t node_size(const struct g2h_graph *graph, uint32_t node)
{
    const uint32_t synthetics = (uint32_t)graph->synthetics.count,
                   objects = graph->heap->object_count;
    if (node < synthetics)
        return 0;
    if (node - synthetics >= objects)
        return graph->parts.data[node - synthetics - objects].size;
    const uint64_t size = heap_object_size(graph->heap, node - synthetics);
    return size < PART_SIZE ? (uint32_t)size : PART_SIZE;
}

static uint32_t node_id(const struct g2h_graph *graph, uint32_t node)
{
    const uint32_t synthetics = (uint32_t)graph->synthetics.count,
                   objects = graph->heap->object_count;
    return node < synthetics             ? graph->synthetics.data[node].id
           : node - synthetics < objects ? ids_object(&graph->ids, node - synthetics)
                                         : graph->parts.data[node - synthetics - objects].id;
}

static bool is_object(const struct g2h_graph *graph, uint32_t node)
{
    return node - graph->synthetics.count < graph->heap->object_count;
}

/* What is being made of the groups. */
typedef VECTOR(struct folded) folded_vector;
typedef VECTOR(uint64_t) hash_vector;

/*
 * Adds a node of the graph to its group's folded node. A cell has 32 bits, so a group may need
 * several.
 */
static bool add_member(struct folding *folding, struct group *group, uint32_t node,
                       folded_vector *folded, hash_vector *hashes)
{
    const uint32_t size = node_size(folding->graph, node);
    if (group->last == UINT32_MAX || size > UINT32_MAX - folded->data[group->last].size) {
        const struct folded fresh = {
            .name = group->class,
            .type = group->class == CLASS_TEXT        ? NODE_STRING
                    : group->class == CLASS_SYNTHETIC ? NODE_SYNTHETIC
                                                      : NODE_OBJECT,
        };
        const uint64_t hash = 0;
        group->last = (uint32_t)folded->count;
        if (!vector_push(folded, fresh) || !vector_push(hashes, hash))
            return false;
    }
    folded->data[group->last].size += size;
    folded->data[group->last].count++;
    hashes->data[group->last] += id_hash(node_id(folding->graph, node));
    folding->fold->number_of[node] = group->last;
    return true;
}

/* ×1,234 */
static void print_count(char *at, size_t size, uint32_t count)
{
    char digits[16];
    const int length = snprintf(digits, sizeof(digits), "%u", count);
    size_t used = (size_t)snprintf(at, size, "×");
    for (int i = 0; i < length && used + 2 < size; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            at[used++] = ',';
        at[used++] = digits[i];
    }
    at[used] = '\0';
}

/*
 * Names and ids. DevTools' Comparison takes a node that has its id in both snapshots for unchanged,
 * whatever its size. So the id is made of all members' ids: a folded node that has changed is
 * another one, and the bytes of its class are right in both.
 */
static bool name_folded(struct folding *folding, const hash_vector *hashes)
{
    struct g2h_graph *graph = folding->graph;
    bool good = true;
    for (uint32_t i = 0; i < folding->fold->folded_count && good; i++) {
        struct folded *folded = &folding->fold->folded[i];
        char text[64];
        good = folded->type == NODE_SYNTHETIC
                   ? ids_synthetic(&graph->ids, ID_FOLDED_SYNTHETICS, hashes->data[i], &folded->id)
                   : ids_folded(&graph->ids, hashes->data[i], &folded->id);
        print_count(text, sizeof(text), folded->count);
        good = good && graph_intern(graph, text, &folded->count_name);
        strcat(text, " (folded)");
        if (folded->type != NODE_OBJECT)
            good = good && graph_intern(graph, text, &folded->name);
    }
    return good;
}

static bool number_nodes(struct folding *folding)
{
    struct g2h_graph_account *account = &folding->graph->account;
    const struct g2h_graph *graph = folding->graph;
    struct fold *fold = folding->fold;
    const uint32_t *place_of = folding->tree.place_of,
                   synthetics = (uint32_t)graph->synthetics.count;
    folded_vector folded = {0};
    hash_vector hashes = {0};
    bool good = true;
    for (uint32_t node = 0; node < fold->graph_nodes && good; node++) {
        const uint32_t what = folding->what[place_of[node]];
        if (fold->graph_nodes - node > AHEAD)
            __builtin_prefetch(&folding->what[place_of[node + AHEAD]]);
        if (what == WHAT_KEPT) {
            fold->number_of[node] = fold->kept++;
            continue;
        }
        fold->number_of[node] = FOLD_LEFT_OUT;
        if (is_object(graph, node))
            fold->hidden[(node - synthetics) / 64] |= (uint64_t)1 << ((node - synthetics) % 64);
        if (what == WHAT_LEFT_OUT)
            continue;
        good = add_member(folding, &folding->groups.data[what], node, &folded, &hashes);
        account->folded_objects += is_object(graph, node);
    }
    fold->folded = folded.data;
    fold->folded_count = (uint32_t)folded.count;
    fold->nodes = fold->kept + fold->folded_count;
    good = good && name_folded(folding, &hashes);
    free(hashes.data);
    return good;
}

/* Folded nodes get their numbers behind those that are kept, and their members. */
static bool list_members(struct folding *folding)
{
    struct fold *fold = folding->fold;
    const uint32_t *place_of = folding->tree.place_of;
    uint32_t sum = 0;
    fold->members = large_alloc(fold->graph_nodes - fold->kept, sizeof(*fold->members));
    fold->first_member = malloc(((size_t)fold->folded_count + 1) * sizeof(*fold->first_member));
    if (!fold->members || !fold->first_member)
        return false;
    for (uint32_t i = 0; i < fold->folded_count; i++) {
        fold->first_member[i] = sum;
        sum += fold->folded[i].count;
    }
    fold->first_member[fold->folded_count] = sum;
    for (uint32_t node = 0; node < fold->graph_nodes; node++) {
        if (fold->graph_nodes - node > AHEAD)
            __builtin_prefetch(&folding->what[place_of[node + AHEAD]]);
        if (folding->what[place_of[node]] >= WHAT_KEPT)
            continue;
        fold->members[fold->first_member[fold->number_of[node]]++] = node;
        fold->number_of[node] += fold->kept;
    }
    memmove(fold->first_member + 1, fold->first_member,
            fold->folded_count * sizeof(*fold->first_member));
    fold->first_member[0] = 0;
    return true;
}

/* The dominators of the written nodes. */
static uint32_t *list_dominators(const struct folding *folding)
{
    const struct fold *fold = folding->fold;
    const struct dominators *tree = &folding->tree;
    uint32_t *dominators = malloc(((size_t)fold->nodes + 1) * sizeof(*dominators));
    if (!dominators)
        return NULL;
    for (uint32_t place = 0; place < tree->nodes; place++)
        if (folding->what[place] != WHAT_LEFT_OUT)
            dominators[fold->number_of[tree->node_at[place]]] =
                fold->number_of[tree->node_at[folding->what[place] == WHAT_KEPT
                                                  ? tree->above[place]
                                                  : folding->top[place]]];
    return dominators;
}

/* ---- edges ---- */

/* How a written node is entered from its dominator: so far not, by one folded node, or well. */
#define ENTERED_NOT  UINT32_MAX
#define ENTERED_WELL (UINT32_MAX - 1)

struct counting {
    struct fold *fold;
    const uint32_t *dominators; /* by written node; NULL: nothing is folded */
    uint32_t *entered;          /* by written node: the folded one by which it is, or the above */
    uint32_t **seen;            /* by thread */
};

static inline void note_edge(const struct counting *counting, uint32_t source, uint32_t target)
{
    const struct fold *fold = counting->fold;
    uint32_t known, wanted = ENTERED_WELL;
    if (!counting->dominators)
        return;
    const uint32_t dominator = counting->dominators[target];
    if (source != dominator) {
        if (source < fold->kept || target >= fold->kept ||
            counting->dominators[source] != dominator)
            return;
        wanted = source;
    }
    known = __atomic_load_n(&counting->entered[target], __ATOMIC_RELAXED);
    while (known != wanted && known != ENTERED_WELL &&
           !__atomic_compare_exchange_n(&counting->entered[target], &known,
                                        known == ENTERED_NOT ? wanted : ENTERED_WELL, false,
                                        __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
}

/* An edge of a kept or folded node: 1 where it is written. */
static inline uint32_t count_edge(const struct counting *counting, uint32_t *seen, uint32_t source,
                                  uint32_t target, bool is_weak)
{
    const uint32_t number = fold_target(counting->fold, seen, source, target, is_weak);
    if (number == FOLD_LEFT_OUT)
        return 0;
    if (!is_weak)
        note_edge(counting, source, number);
    return 1;
}

static uint32_t count_children(const struct counting *counting, uint32_t *seen, uint32_t source,
                               uint64_t from, uint64_t to)
{
    const struct g2h_graph *graph = counting->fold->graph;
    uint32_t count = 0;
    for (uint64_t i = from; i < to; i++)
        count +=
            count_edge(counting, seen, source, graph_node_number(graph, graph->children[i].target),
                       graph->children[i].type == EDGE_WEAK);
    return count;
}

static inline uint32_t count_pointers(const struct counting *counting, uint32_t *seen,
                                      uint32_t source, uint32_t object)
{
    const struct g2h_graph *graph = counting->fold->graph;
    const uint32_t synthetics = (uint32_t)graph->synthetics.count;
    const uint32_t *end, *target = object_targets(graph, object, &end);
    uint32_t count = 0;
    for (; target < end; target++) {
        if (end - target > AHEAD && target[AHEAD] != NO_TARGET)
            __builtin_prefetch(&counting->fold->number_of[synthetics + target[AHEAD]]);
        if (*target != NO_TARGET)
            count += count_edge(counting, seen, source, synthetics + *target,
                                is_weak_pointer(graph, object, *target));
    }
    return count;
}

static void count_of_folded(const struct counting *counting, uint32_t *seen, uint32_t first)
{
    const struct fold *fold = counting->fold;
    const struct g2h_graph *graph = fold->graph;
    const uint32_t synthetics = (uint32_t)graph->synthetics.count;
    for (uint32_t i = first; i < fold->folded_count && i - first < FOLDED_PER_TASK; i++) {
        uint32_t count = 1; /* to (folded) */
        for (uint32_t j = fold->first_member[i]; j < fold->first_member[i + 1]; j++) {
            const uint32_t node = fold->members[j];
            if (node < synthetics)
                count += count_children(counting, seen, fold->kept + i, graph->first_child[node],
                                        graph->first_child[node + 1]);
            else if (is_object(graph, node))
                count += count_pointers(counting, seen, fold->kept + i, node - synthetics);
        }
        fold->edge_counts[fold->kept + i] = count;
    }
}

static struct g2h_error *count_edges(void *context, size_t task, unsigned worker)
{
    const struct counting *counting = context;
    const struct fold *fold = counting->fold;
    const struct g2h_graph *graph = fold->graph;
    const uint32_t synthetics = (uint32_t)graph->synthetics.count;
    uint32_t *seen = counting->seen[worker];
    if (task == 0) {
        for (uint32_t i = 0; i < synthetics; i++)
            if (fold->number_of[i] < fold->kept)
                fold->edge_counts[fold->number_of[i]] =
                    count_children(counting, seen, fold->number_of[i], graph->first_child[i],
                                   graph->first_child[i + 1]);
        return NULL;
    }
    if (task > graph->targets.block_count) {
        count_of_folded(counting, seen,
                        (uint32_t)(task - 1 - graph->targets.block_count) * FOLDED_PER_TASK);
        return NULL;
    }
    const uint32_t first = (uint32_t)(task - 1) << BLOCK_SHIFT;
    uint64_t child = graph_object_child(graph, first);
    for (uint32_t object = first; object < first + graph->targets.blocks[task - 1].objects;
         object++) {
        const uint32_t source = fold->number_of[synthetics + object];
        const uint64_t own = child;
        while (graph_is_child_of(graph, child, object))
            child++;
        if (source < fold->kept)
            fold->edge_counts[source] = count_pointers(counting, seen, source, object) +
                                        count_children(counting, seen, source, own, child);
    }
    return NULL;
}

/* A kept node is well entered if no folded node of its dominator's is the only one that does. */
static bool needs_extra(const struct counting *counting, uint32_t node)
{
    const uint32_t entered = counting->entered[node];
    return node != 0 && entered != ENTERED_WELL &&
           (entered != ENTERED_NOT || node >= counting->fold->kept);
}

/* The node that has the extra edge to another: the root must have none to objects. */
static uint32_t extra_source(const struct counting *counting, uint32_t node)
{
    const struct fold *fold = counting->fold;
    return counting->dominators[node] == 0 ? fold->number_of[fold->group]
                                           : counting->dominators[node];
}

static bool add_extras(const struct counting *counting)
{
    struct fold *fold = counting->fold;
    uint32_t *first = fold->first_extra = calloc((size_t)fold->kept + 2, sizeof(*first));
    if (!first)
        return false;
    for (uint32_t i = 0; counting->dominators && i < fold->nodes; i++)
        if (needs_extra(counting, i))
            first[extra_source(counting, i) + 2]++;
    for (uint32_t i = 0; i < fold->kept; i++) {
        fold->edge_counts[i] += first[i + 2];
        first[i + 2] += first[i + 1];
    }
    fold->extra = malloc(((size_t)first[fold->kept + 1] + 1) * sizeof(*fold->extra));
    if (!fold->extra)
        return false;
    for (uint32_t i = 0; counting->dominators && i < fold->nodes; i++)
        if (needs_extra(counting, i))
            fold->extra[first[extra_source(counting, i) + 1]++] = i;
    return true;
}

/* Counts the edges of all written nodes. dominators: of these, NULL where none is folded. */
static struct g2h_error *count_all_edges(struct fold *fold, const uint32_t *dominators)
{
    const struct g2h_graph *graph = fold->graph;
    struct counting counting = {.fold = fold, .dominators = dominators};
    struct g2h_error *error = &error_no_memory;
    bool good;
    const unsigned threads = fold_threads(graph->threads);
    counting.seen = calloc(threads, sizeof(*counting.seen));
    counting.entered = malloc(((size_t)fold->nodes + 1) * sizeof(*counting.entered));
    fold->edge_counts = calloc((size_t)fold->nodes + 1, sizeof(*fold->edge_counts));
    good = counting.seen && counting.entered && fold->edge_counts;
    for (unsigned i = 0; i < threads && good; i++) {
        counting.seen[i] = fold_seen(fold);
        good = counting.seen[i] != NULL;
    }
    if (good) {
        memset(counting.entered, 0xff, (size_t)fold->nodes * sizeof(*counting.entered));
        const size_t tasks = 1 + graph->targets.block_count + fold_tasks(fold);
        error = workers_run(threads, tasks, count_edges, &counting);
    }
    if (!error && !add_extras(&counting))
        error = &error_no_memory;
    if (!error && fold->group != UINT32_MAX)
        fold->edge_counts[fold->number_of[fold->group]] += fold->folded_count;
    for (uint32_t i = 0; i < fold->nodes && !error; i++)
        fold->edges += fold->edge_counts[i];
    for (unsigned i = 0; i < threads && counting.seen; i++)
        fold_seen_free(fold, counting.seen[i]);
    free(counting.seen);
    free(counting.entered);
    return error;
}

/* ---- all of it ---- */

/* What is kept where garbage is left out and nothing is folded. */
static void leave_out(struct fold *fold)
{
    const struct g2h_graph *graph = fold->graph;
    const uint32_t synthetics = (uint32_t)graph->synthetics.count,
                   parts = synthetics + graph->heap->object_count;
    for (uint32_t node = 0; node < synthetics; node++)
        fold->number_of[node] =
            graph->synthetics.data[node].id == ID_UNREACHABLE ? FOLD_LEFT_OUT : fold->kept++;
    for (uint32_t object = 0; object < graph->heap->object_count; object++) {
        const bool out = is_left_out(fold, object);
        fold->number_of[synthetics + object] = out ? FOLD_LEFT_OUT : fold->kept++;
        if (out)
            fold->hidden[object / 64] |= (uint64_t)1 << (object % 64);
    }
    for (uint64_t i = graph->first_object_child; i < graph->child_count; i++) {
        const struct edge *edge = &graph->children[i]; /* parts are in the order of objects */
        if (edge->target.of == OF_PART)
            fold->number_of[parts + edge->target.index] =
                is_left_out(fold, edge->source.index) ? FOLD_LEFT_OUT : fold->kept++;
    }
    fold->nodes = fold->kept;
}

static struct g2h_error *decide(struct folding *folding)
{
    struct fold *fold = folding->fold;
    const uint32_t nodes = fold->graph_nodes;
    /* a group of more than 4 GiB needs more than one node */
    const uint64_t spare = 2 * folding->graph->heap->account.object_bytes / PART_SIZE,
                   limit = fold->max_nodes > 2 * spare ? fold->max_nodes - spare : fold->max_nodes;
    struct cut cut;
    struct g2h_error *error = dominators_init(&folding->tree, folding->graph);
    if (!error)
        error = dominators_sizes(&folding->tree, folding->graph, SYNTHETIC_WORTH, &folding->worth);
    if (error)
        return error;
    for (folding->mask = 1023; folding->mask < 2 * limit && folding->mask < nodes;)
        folding->mask = 2 * folding->mask + 1;
    folding->what = large_alloc(nodes, sizeof(*folding->what));
    folding->top = large_alloc(nodes, sizeof(*folding->top));
    folding->pairs = large_alloc(folding->mask + 1, sizeof(*folding->pairs));
    if (!folding->what || !folding->top || !folding->pairs)
        return &error_no_memory;
    error = classify(folding);
    if (!error && !find_cut(folding, limit, &cut))
        error = &error_no_memory;
    large_free(folding->pairs, folding->mask + 1, sizeof(*folding->pairs));
    folding->pairs = NULL;
    if (!error && !(make_groups(folding, &cut) && keep_lone_ones(folding)))
        error = &error_no_memory;
    return error;
}

static void folding_deinit(struct folding *folding)
{
    large_free(folding->worth, folding->fold->graph_nodes, sizeof(*folding->worth));
    large_free(folding->what, folding->fold->graph_nodes, sizeof(*folding->what));
    large_free(folding->top, folding->fold->graph_nodes, sizeof(*folding->top));
    large_free(folding->pairs, folding->mask + 1, sizeof(*folding->pairs));
    free(folding->groups.data);
    dominators_deinit(&folding->tree);
}

static struct g2h_error *fold_nodes(struct g2h_graph *graph, uint32_t **ret_dominators)
{
    struct folding folding = {.graph = graph, .fold = graph->fold};
    struct g2h_error *error = decide(&folding);
    if (!error && !(number_nodes(&folding) && list_members(&folding) &&
                    (*ret_dominators = list_dominators(&folding))))
        error = &error_no_memory;
    folding_deinit(&folding);
    return error;
}

struct g2h_error *fold_run(struct g2h_graph *graph)
{
    struct fold *fold = graph->fold;
    struct g2h_error *error = NULL;
    uint32_t *dominators = NULL;
    if (!fold)
        return NULL;
    fold->graph_nodes =
        (uint32_t)(graph->synthetics.count + graph->heap->object_count + graph->parts.count);
    fold->number_of = large_alloc(fold->graph_nodes, sizeof(*fold->number_of));
    fold->hidden = calloc((size_t)graph->heap->object_count / 64 + 1, sizeof(*fold->hidden));
    if (!fold->number_of || !fold->hidden)
        return &error_no_memory;
    if (fold->group == UINT32_MAX)
        leave_out(fold);
    else
        error = fold_nodes(graph, &dominators);
    if (!error)
        error = count_all_edges(fold, dominators);
    free(dominators);
    return error;
}

void fold_account(const struct fold *fold, struct g2h_graph_account *account)
{
    const struct g2h_graph *graph = fold->graph;
    account->nodes = fold->nodes;
    account->edges = fold->edges;
    account->folded_nodes = fold->folded_count;
    account->synthetic_nodes = account->object_parts = 0;
    for (uint32_t i = 0; i < graph->synthetics.count; i++)
        account->synthetic_nodes += fold->number_of[i] < fold->kept;
    for (uint32_t i = 0; i < fold->folded_count; i++)
        account->synthetic_nodes += fold->folded[i].type == NODE_SYNTHETIC;
    for (uint32_t i = fold->graph_nodes - (uint32_t)graph->parts.count; i < fold->graph_nodes; i++)
        account->object_parts += fold->number_of[i] < fold->kept;
    if (fold->leaves_out_garbage) {
        account->left_out_objects = account->unreachable_objects;
        account->left_out_bytes = account->unreachable_bytes;
    }
}
