/*
 * edges: an iterator over the edges of a view's nodes; see include/go2heapsnapshot/view.h.
 *
 * A node that is also a node of the graph has the edges that it has in the graph. The edges of an
 * object are first its pointers, which one walk reads from the dump together with their offsets,
 * targets and names; then its edges in the graph's list of children; then, in a folded graph, the
 * edges that folding added. A folded node has an edge to "(folded)" and the edges of its members:
 * one edge to each target, with the name that the first member's edge to it has.
 */
#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "base/error.h"
#include "naming/namer.h"
#include "view/entry_keys.h"

enum { AHEAD = 32 };

struct g2h_edges {
    const struct g2h_view *view;
    uint32_t node, end; /* nodes that are still to come: [node, end) */
    uint32_t source;    /* the node whose edges are being read */

    /* The remaining edges of the source, in this order: */
    bool is_to_group;            /* the edge of a folded node to "(folded)" */
    struct object_walk walk;     /* pointers */
    uint64_t child, child_end;   /* in graph->children */
    uint64_t extra, extra_end;   /* in fold->extra */
    uint32_t folded, folded_end; /* "(folded)": the folded nodes */
    uint32_t member, member_end; /* of a folded node, in fold->members */

    uint32_t object;     /* the object that comes next */
    uint64_t next_child; /* in graph->children: the first edge of object or a later one */
    uint32_t *seen;      /* if there are folded nodes: see fold_target() */
    uint32_t tag;        /* the source's tag in seen */
    bool repeats;
    bool has_targets_only;     /* pointers have no names: g2h_edges_begin_targets(). Then: */
    uint32_t ahead, ahead_end; /* of ahead_edges, what g2h_edges_next() has read ahead */
    struct g2h_edge ahead_edges[AHEAD]; /* and not returned: [ahead, ahead_end) */
    bool has_usual_words;               /* the dump's words are like this machine's */

    struct untyped_names *untyped; /* NULL with types, or if heap_names_untyped() is false */
    struct entry_keys keys;
};

CLEANUP_POINTER(edges_destroy, struct g2h_edges, g2h_edges_destroy);

/* Allocates only what this view needs: seen for a folded one, keys for one with types, untyped
 * names without. */
struct g2h_error *g2h_edges_create(const struct g2h_view *view, struct g2h_edges **ret)
{
    _cleanup_(edges_destroy) struct g2h_edges *edges = calloc(1, sizeof(*edges));
    TRY_MEMORY(edges);
    edges->view = view;
    edges->has_usual_words = heap_words_are_usual(view->graph->heap);
    TRY_MEMORY(!view->graph->typing || entry_keys_init(&edges->keys));
    edges->next_child = view->graph->first_object_child;
    if (view->is_folded && view->fold.folds) {
        edges->seen = fold_seen(&view->fold);
        TRY_MEMORY(edges->seen);
    }
    if (!view->graph->typing && heap_names_untyped(view->graph->heap)) {
        edges->untyped = untyped_create(view->graph->heap);
        TRY_MEMORY(edges->untyped);
    }
    *ret = take_pointer(edges);
    return NULL;
}

void g2h_edges_destroy(struct g2h_edges *edges)
{
    if (!edges)
        return;
    if (edges->seen)
        fold_seen_free(&edges->view->fold, edges->seen);
    free(edges->untyped);
    entry_keys_deinit(&edges->keys);
    free(edges);
}

/* ---- pointers ---- */

/* Returns the flag of a pointer in a map's entry. In a folded node the entries of several members
 * come together, so they have no keys. */
static inline uint32_t entry_flag(const struct g2h_edges *edges, const struct edge_name *name)
{
    if (edges->member_end != 0)
        return 0;
    return name->is_key ? G2H_EDGE_OF_KEY : G2H_EDGE_OF_ELEM;
}

/* Names a pointer. A name whose key needs a look-up in a large table is only prefetched: its key is
 * stored as the edge's index until resolve_key_names() replaces it. Returns whether the name is
 * final. */
static inline bool name_pointer(const struct g2h_edges *edges, const struct edge_name *name,
                                struct g2h_edge *ret)
{
    const struct g2h_graph *graph = edges->view->graph;
    if (name->is_entry)
        ret->flags |= entry_flag(edges, name);
    if (name->is_internal)
        ret->flags |= G2H_EDGE_INTERNAL;
    if (name->form == EDGE_NAME_STRING) {
        ret->name = (uint32_t)name->value;
        ret->index = 0;
        return true;
    }
    ret->index = name->value;
    ret->name = G2H_NAME_NONE;
    if (name->form == EDGE_NAME_INDEX) {
        if ((ret->flags & G2H_EDGE_WEAK) != 0)
            ret->name = graph->weak_element;
        ret->flags |= G2H_EDGE_BY_INDEX;
        return true;
    }
    ret->flags |= edge_name_is_stale(name) ? G2H_EDGE_STALE : 0;
    names_prefetch_key(&graph->names, name->value);
    return false;
}

/* Replaces the keys that name_pointer() has stored by the names they stand for, in a batch: the
 * table's entries have been prefetched. */
static void resolve_key_names(const struct names *names, struct g2h_edge *edges, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (edges[i].name == G2H_NAME_NONE && (edges[i].flags & G2H_EDGE_BY_INDEX) == 0) {
            edges[i].name = names_of_key(names, edges[i].index);
            edges[i].index = 0;
        }
}

/* Returns the flags of an edge that holds its target so (graph/tiers.h). */
static inline uint32_t flags_of(enum hold hold)
{
    static const uint16_t flags[] = {[HOLD_FOREIGN] = G2H_EDGE_FOREIGN,
                                     [HOLD_PASSED] = G2H_EDGE_FOREIGN | G2H_EDGE_WEAK,
                                     [HOLD_WEAK] = G2H_EDGE_WEAK};
    return flags[hold];
}

/* Makes the edge of a pointer to an object, without its name. */
static inline void make_edge(const struct g2h_edges *edges, struct tier_source holder,
                             uint64_t offset, uint32_t target, struct g2h_edge *ret)
{
    const struct g2h_graph *graph = edges->view->graph;
    ret->source = edges->source;
    ret->target = graph_synthetics(graph) + target;
    ret->flags = flags_of(tiers_hold_as(&graph->tiers, holder, target));
    ret->index = 0;
    ret->offset = offset;
}

/* Names a pointer in a heap without types. From ELEMENT_OFFSET on it is called by its offset. */
static inline void name_untyped(const struct g2h_edges *edges, const struct namer *namer,
                                uint64_t offset, struct g2h_edge *ret)
{
    const struct g2h_graph *graph = edges->view->graph;
    if (offset >= ELEMENT_OFFSET) {
        const struct edge_name name = {.value = offset, .form = EDGE_NAME_INDEX};
        name_pointer(edges, &name, ret);
        return;
    }
    untyped_name_of(&graph->names, edges->untyped, namer->slot_class, namer->contents.data, offset,
                    &ret->name);
}

/* Reads pointers of the object that the walk is at, from where the last call stopped; its words
 * must be usual, and a bit each in walk->pointers.words. is_untyped: the object has no type, and
 * its words are named by their offsets. Returns how many edges it has written to ret, most at most.
 */
static inline size_t edges_read_words(struct g2h_edges *restrict edges,
                                      struct g2h_edge *restrict ret, size_t most, bool is_untyped)
{
    const struct g2h_graph *graph = edges->view->graph;
    struct object_walk *walk = &edges->walk;
    const struct tier_source holder = tiers_source(&graph->tiers, walk->namer.object);
    const uint64_t low = graph->heap->index.low;
    const uint64_t size = graph->heap->index.high - low;
    const uint64_t base = walk->pointers.base;
    const uint8_t *contents = walk->pointers.contents.data;
    const uint32_t *target = walk->target;
    const uint32_t *const end = walk->end;
    uint64_t value;
    uint64_t words = walk->pointers.words;
    struct g2h_edge *edge = ret;
    struct g2h_edge *const ret_end = ret + most;
    bool named = true;
    while (words != 0 && edge < ret_end && target < end) {
        const uint64_t offset = base + lowest_bit(words) * sizeof(value);
        words &= words - 1;
        memcpy(&value, contents + offset, sizeof(value));
        /* Only words in the heap's range have a target, which is taken in any case. */
        if (value - low >= size || value == 0 || *target++ == NO_TARGET)
            continue;
        make_edge(edges, holder, offset, target[-1], edge);
        if (is_untyped) {
            name_untyped(edges, &walk->namer, offset, edge++);
        } else {
            const struct edge_name name =
                namer_name_by(&walk->namer, offset, 3 /* words of 8 bytes */);
            named &= name_pointer(edges, &name, edge++);
        }
    }
    walk->pointers.words = words;
    walk->target = target;
    if (!named)
        resolve_key_names(&graph->names, ret, as_size(edge - ret));
    return as_size(edge - ret);
}

/* Reads pointers of the object that the walk is at, of any heap, and returns how many. */
static size_t read_any_pointers(struct g2h_edges *edges, struct g2h_edge *ret, size_t most)
{
    const struct g2h_graph *graph = edges->view->graph;
    const struct tier_source holder = tiers_source(&graph->tiers, edges->walk.namer.object);
    struct walk_pointer pointer;
    size_t count = 0;
    for (; count < most && object_walk_next(&edges->walk, &pointer); count++) {
        make_edge(edges, holder, pointer.offset, pointer.target, &ret[count]);
        name_pointer(edges, &pointer.name, &ret[count]);
    }
    resolve_key_names(&graph->names, ret, count);
    return count;
}

/* Reads the next pointers of the source: no more than most, which is not 0. Some of the names in an
 * untyped heap are not set before read_names(). Returns how many it has read. */
static size_t read_pointers(struct g2h_edges *edges, struct g2h_edge *ret, size_t most)
{
    struct object_walk *walk = &edges->walk;
    size_t count = 0;
    /* edges_read_words() needs words like this machine's, and a bit for each pointer. */
    if (!edges->has_usual_words || walk->pointers.walk > WALK_POINTERS)
        return read_any_pointers(edges, ret, most);
    /* The constants give the compiler a loop for each case. */
    do
        count += edges->untyped ? edges_read_words(edges, &ret[count], most - count, true)
                                : edges_read_words(edges, &ret[count], most - count, false);
    while (count < most && walk->target < walk->end && walk->pointers.walk == WALK_POINTERS &&
           pointers_decode(&walk->pointers));
    if (count < most) /* all words have been read */
        walk->target = walk->end;
    return count;
}

/* Reads pointers of the object that the walk is at, without their names: only from the targets.
 * Returns how many. */
static inline size_t edges_read_targets(struct g2h_edges *edges, struct g2h_edge *ret, size_t most)
{
    const struct g2h_graph *graph = edges->view->graph;
    const struct tier_source holder = tiers_source(&graph->tiers, edges->walk.namer.object);
    const uint32_t *target = edges->walk.target;
    const uint32_t *const end = edges->walk.end;
    size_t count = 0;
    for (; target < end && count < most; target++)
        if (*target != NO_TARGET) {
            make_edge(edges, holder, UINT64_MAX, *target, &ret[count]);
            ret[count++].name = G2H_NAME_NONE;
        }
    edges->walk.target = target;
    return count;
}

static inline size_t edges_read_pointers(struct g2h_edges *edges, struct g2h_edge *ret, size_t most)
{
    return edges->has_targets_only ? edges_read_targets(edges, ret, most)
                                   : read_pointers(edges, ret, most);
}

static inline void read_names(struct g2h_edges *edges)
{
    if (edges->untyped && !edges->has_targets_only)
        untyped_finish(&edges->view->graph->names, edges->untyped);
}

/* Moves next_child to the first edge that is not of an object before this one. */
static inline void pass_children(struct g2h_edges *edges, uint32_t object)
{
    const struct g2h_graph *graph = edges->view->graph;
    while (edges->next_child < graph->child_count &&
           graph->children[edges->next_child].source.index < object)
        edges->next_child++;
}

/* ---- other edges ---- */

/* Fills an edge that is not a pointer of an object; name is the index of an EDGE_ELEMENT, else a
 * string. */
static void edges_fill_other(struct g2h_edges *edges, enum roots_edge_type type, uint32_t name,
                             uint32_t target, struct g2h_edge *ret)
{
    static const uint32_t flags[] = {[EDGE_ELEMENT] = G2H_EDGE_BY_INDEX,
                                     [EDGE_INTERNAL] = G2H_EDGE_INTERNAL,
                                     [EDGE_SHORTCUT] = G2H_EDGE_SHORTCUT,
                                     [EDGE_WEAK] = G2H_EDGE_WEAK,
                                     [EDGE_GROUPS] = G2H_EDGE_WEAK | G2H_EDGE_SHORTCUT,
                                     [EDGE_LAST] = 0};
    const name_uses *uses = &edges->view->uses;
    *ret = (struct g2h_edge){.source = edges->source,
                             .target = target,
                             .flags = flags[type],
                             .name = name,
                             .offset = UINT64_MAX};
    if (type == EDGE_ELEMENT) {
        ret->name = G2H_NAME_NONE;
        ret->index = name;
    } else if ((uses->data[name] & G2H_NAME_DOUBTFUL) != 0) {
        ret->flags |= G2H_EDGE_DOUBTFUL;
    }
}

/* Reads the next edge from the graph's list of children. */
static void next_child(struct g2h_edges *edges, struct g2h_edge *ret)
{
    const struct g2h_graph *graph = edges->view->graph;
    const struct edge *edge = &graph->children[edges->child++];
    edges_fill_other(edges, edge->type, edge->name, graph_node_number(graph, edge->target), ret);
    ret->flags |= flags_of(graph_hold_as(graph, edge));
    if ((ret->flags & (G2H_EDGE_WEAK | G2H_EDGE_BY_INDEX)) == (G2H_EDGE_WEAK | G2H_EDGE_BY_INDEX))
        ret->name = graph->weak_element;
}

/* ---- of a folded graph ---- */

/*
 * Turns edges of the graph into edges of the view: replaces their targets by the view's nodes, and
 * removes, or with edges->repeats marks, an edge to a folded node to which the source has an edge
 * already. Returns how many edges remain.
 */
static size_t fold_edges(struct g2h_edges *edges, struct g2h_edge *read, size_t count)
{
    const struct fold *fold = &edges->view->fold;
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        struct g2h_edge *edge = &read[i];
        const uint32_t target = edge->target;
        edge->target = fold_target(fold, edges->seen, edges->tag, edge->source, target,
                                   (edge->flags & G2H_EDGE_WEAK) != 0);
        if (edge->target == FOLD_LEFT_OUT && edges->repeats && edge->source < fold->kept) {
            edge->target = fold->number_of[target];
            edge->flags |= G2H_EDGE_REPEATED;
        }
        if (edge->target != FOLD_LEFT_OUT)
            read[kept++] = *edge;
    }
    return kept;
}

/* Reads the next edge that only a folded graph has. Returns false at the end. */
static bool next_of_fold(struct g2h_edges *edges, struct g2h_edge *ret)
{
    const struct fold *fold = &edges->view->fold;
    if (edges->is_to_group && edges->source < fold->kept) { /* the root: its last edge */
        edges->is_to_group = false;
        edges_fill_other(edges, EDGE_ELEMENT, root_group_index(G2H_NODE_FOLDED), fold->group, ret);
        return true;
    }
    if (edges->extra < edges->extra_end) {
        edges_fill_other(edges, EDGE_INTERNAL, fold->group_name, fold->extra[edges->extra++], ret);
        ret->flags |= G2H_EDGE_ADDED;
        return true;
    }
    if (edges->folded < edges->folded_end) {
        const uint32_t folded = edges->folded++;
        edges_fill_other(edges, EDGE_WEAK, fold->folded[folded].count_name, fold->kept + folded,
                         ret);
        return true;
    }
    return false;
}

/* ---- the next node ---- */

/* Begins the walk over an object's pointers: over its targets alone, if names are not asked for,
 * else with offsets by which edges are named. */
static void begin_pointers(struct g2h_edges *edges, uint32_t object)
{
    const struct g2h_graph *graph = edges->view->graph;
    if (edges->has_targets_only) {
        edges->walk.target = object_targets(graph, object, &edges->walk.end);
        edges->walk.namer.object = object;
        return;
    }
    object_walk_begin(&edges->walk, &graph->names, graph->targets, object);
}

/* Begins the edges of an object that is a node of its own. */
static inline void begin_object(struct g2h_edges *edges, uint32_t object)
{
    const struct g2h_graph *graph = edges->view->graph;
    const uint32_t *end;
    const uint32_t *target = object_targets(graph, object, &end);
    if (!edges->has_targets_only)
        heap_prefetch(graph->heap, (uint64_t)object + OBJECTS_AHEAD);
    if (target < end)
        begin_pointers(edges, object);
    assert(edges->next_child == graph->first_object_child ||
           graph->children[edges->next_child - 1].source.index < object); /* objects ascend */
    pass_children(edges, object);
    edges->child = edges->next_child;
    while (graph_is_child_of(graph, edges->next_child, object))
        edges->next_child++;
    edges->child_end = edges->next_child;
}

/* Begins the edges of a synthetic node of the graph. */
static void begin_synthetic(struct g2h_edges *edges, uint32_t synthetic)
{
    const struct g2h_graph *graph = edges->view->graph;
    edges->child = graph->first_child[synthetic];
    edges->child_end = graph->first_child[synthetic + 1];
}

/* Assigns the next node its own tag, if the targets of nodes are remembered (seen). When tags start
 * again from 1, the table seen is cleared. */
static void begin_tag(struct g2h_edges *edges)
{
    if (!edges->seen || ++edges->tag <= INT32_MAX)
        return;
    memset(edges->seen, 0, (size_t)edges->view->fold.nodes * sizeof(*edges->seen));
    edges->tag = 1;
}

/* Begins the edges of a node of a folded graph. What these come from depends on the node: a folded
 * node's are those of all its members; a kept one's are those of a synthetic node, or of an object,
 * whose hidden ones are passed over; the group of all folded nodes has an edge to each; and any may
 * have extra ones. */
static void begin_of_fold(struct g2h_edges *edges, uint32_t node)
{
    const struct fold *fold = &edges->view->fold;
    begin_tag(edges);
    edges->member = edges->member_end = 0;
    if (fold->folds) {
        edges->extra = fold->first_extra[node];
        edges->extra_end = fold->first_extra[node + 1];
    }
    if (node >= fold->kept) {
        edges->is_to_group = true;
        edges->member = fold->first_member[node - fold->kept];
        edges->member_end = fold->first_member[node - fold->kept + 1];
        return;
    }
    edges->is_to_group = fold->folds && node == 0;
    if (node < fold->synthetic_count) {
        begin_synthetic(edges, fold->synthetics[node]);
    } else if (node == fold->group) {
        edges->folded = 0;
        edges->folded_end = fold->folded_count;
    } else {
        while (fold_hides(fold, edges->object))
            edges->object++;
        begin_object(edges, edges->object++);
    }
}

/* Returns whether a member has an edge to a target that the folded node has no edge to yet. Edges
 * that do not hold their target are passed over, as are targets that are left out of the view, or
 * are in the same folded node. Most members have none, so their contents need not be read. */
static bool has_new_target(const struct g2h_edges *edges, uint32_t object)
{
    const struct g2h_graph *graph = edges->view->graph;
    const uint32_t *number_of = edges->view->fold.number_of + graph_synthetics(graph);
    const struct tier_source holder = tiers_source(&graph->tiers, object);
    const uint32_t *end;
    const uint32_t *target = object_targets(graph, object, &end);
    for (; target < end; target++) {
        if (*target == NO_TARGET || tiers_hold_as(&graph->tiers, holder, *target) >= HOLD_PASSED)
            continue;
        const uint32_t number = number_of[*target];
        /* tag * 2 + 1: fold_target() has found a strong edge of this source to it */
        if (number != FOLD_LEFT_OUT && number != edges->source &&
            edges->seen[number] != edges->tag * 2 + 1)
            return true;
    }
    return false;
}

/* Begins the edges of a folded node's next member. Returns false if there are no more members. */
static bool begin_member(struct g2h_edges *edges)
{
    const struct g2h_graph *graph = edges->view->graph;
    const uint32_t synthetics = graph_synthetics(graph);
    while (edges->member < edges->member_end) {
        const uint32_t node = edges->view->fold.members[edges->member++];
        if (node < synthetics)
            begin_synthetic(edges, node);
        else if (has_new_target(edges, node - synthetics))
            begin_pointers(edges, node - synthetics);
        else
            continue;
        return true;
    }
    return false;
}

/* Begins the next member or node of a folded graph. Returns false at the end. */
static bool begin_next_of_fold(struct g2h_edges *edges)
{
    if (edges->member < edges->member_end && begin_member(edges))
        return true;
    if (edges->node >= edges->end)
        return false;
    edges->source = edges->node++;
    begin_of_fold(edges, edges->source);
    return true;
}

/* Begins the next node of a whole graph that has edges. Returns false at the end. */
static inline bool begin_next(struct g2h_edges *edges)
{
    const struct g2h_graph *graph = edges->view->graph;
    const uint32_t synthetics = graph_synthetics(graph);
    for (; edges->node < edges->end; edges->node++) {
        if (edges->node < synthetics)
            begin_synthetic(edges, edges->node);
        else
            begin_object(edges, edges->object++);
        if (edges->walk.target == edges->walk.end && edges->child == edges->child_end)
            continue;
        edges->source = edges->node++;
        return true;
    }
    return false;
}

/* Sets whether all edges from a node to the same folded node are returned, or only the first
 * one. */
void g2h_edges_repeat(struct g2h_edges *edges, bool repeat)
{
    edges->repeats = repeat;
}

/* Keeps next_child if the iterator goes on where it was; otherwise searches for it. An end beyond
 * the last node is that of the nodes. */
static void edges_begin(struct g2h_edges *edges, uint32_t first, uint32_t end)
{
    const struct g2h_view *view = edges->view;
    const uint32_t nodes = g2h_view_node_count(view);
    const uint32_t first_object = view_first_object(view);
    edges->node = MIN(first, nodes);
    edges->end = MIN(end, nodes);
    edges->walk.target = edges->walk.end = NULL;
    edges->child = edges->child_end = edges->extra = edges->extra_end = 0;
    edges->folded = edges->folded_end = edges->member = edges->member_end = 0;
    edges->is_to_group = false;
    edges->ahead = edges->ahead_end = 0;
    if (edges->end <= first_object || edges->node >= view_kept(view))
        return;
    const uint32_t before = edges->object;
    edges->object = edges->node > first_object ? view_object_of(view, edges->node) : 0;
    if (edges->object < before || edges->object > before + 1)
        edges->next_child = graph_object_child(view->graph, edges->object);
}

/* Begins with the edges of the nodes [first, end), with names. */
void g2h_edges_begin(struct g2h_edges *edges, uint32_t first, uint32_t end)
{
    edges->has_targets_only = false;
    edges_begin(edges, first, end);
}

/* Begins with the edges of the nodes [first, end), of which only targets are read. */
void g2h_edges_begin_targets(struct g2h_edges *edges, uint32_t first, uint32_t end)
{
    edges->has_targets_only = true;
    edges_begin(edges, first, end);
}

/* Reads a folded node's edge to "(folded)", which comes before its other edges. Returns false if it
 * has been read. */
static bool next_to_group(struct g2h_edges *edges, struct g2h_edge *ret)
{
    const struct fold *fold = &edges->view->fold;
    if (!edges->is_to_group || edges->source < view_kept(edges->view))
        return false;
    edges->is_to_group = false;
    edges_fill_other(edges, EDGE_WEAK, fold->folded[edges->source - fold->kept].count_name,
                     fold->group, ret);
    return true;
}

/* Reads edges of a whole graph that have targets only, most of them at most: as read_whole() does,
 * but without names. Returns how many. */
static size_t read_whole_targets(struct g2h_edges *edges, struct g2h_edge *ret, size_t most)
{
    const struct g2h_graph *graph = edges->view->graph;
    const uint32_t synthetics = graph_synthetics(graph);
    size_t count = 0;
    do {
        count += edges_read_targets(edges, &ret[count], most - count);
        while (count < most && edges->child < edges->child_end)
            next_child(edges, &ret[count++]);
        if (edges->node < synthetics)
            continue;
        /* objects in a row that have nothing but targets, for all of which there is room */
        pass_children(edges, edges->object);
        for (; count < most && edges->node < edges->end && edges->child == edges->child_end;
             edges->node++, edges->object++) {
            const uint32_t *end;
            const uint32_t *target = object_targets(graph, edges->object, &end);
            if (as_size(end - target) > most - count ||
                graph_is_child_of(graph, edges->next_child, edges->object))
                break;
            if (target == end)
                continue;
            edges->source = edges->node;
            edges->walk.namer.object = edges->object;
            edges->walk.target = target;
            edges->walk.end = end;
            count += edges_read_targets(edges, &ret[count], most - count);
        }
    } while (count < most && begin_next(edges));
    return count;
}

/* Reads edges of a whole graph, most of them at most, node by node: first the pointers, then the
 * edges that are no pointers. Returns how many. */
static size_t read_whole(struct g2h_edges *edges, struct g2h_edge *ret, size_t most)
{
    size_t count = 0;
    do {
        if (edges->walk.target < edges->walk.end)
            count += edges_read_pointers(edges, &ret[count], most - count);
        while (count < most && edges->child < edges->child_end)
            next_child(edges, &ret[count++]);
    } while (count < most && begin_next(edges));
    read_names(edges);
    return count;
}

/* Reads edges of a folded graph in the order that the top of this file gives, and then replaces
 * their targets by the view's nodes, which drops some: so it goes on until ret is full. Returns how
 * many. */
static size_t read_fold(struct g2h_edges *edges, struct g2h_edge *ret, size_t most)
{
    size_t count = 0;
    while (count < most) {
        const size_t before = count;
        if (next_to_group(edges, &ret[count])) {
            count++;
            continue;
        }
        if (edges->walk.target < edges->walk.end)
            count += edges_read_pointers(edges, &ret[count], most - count);
        while (count < most && edges->child < edges->child_end)
            next_child(edges, &ret[count++]);
        read_names(edges);
        count = before + fold_edges(edges, &ret[before], count - before);
        if (edges->walk.target < edges->walk.end || edges->child < edges->child_end)
            continue; /* ret is full, or edges were left out */
        while (count < most && next_of_fold(edges, &ret[count]))
            count++;
        if (count < most && !begin_next_of_fold(edges))
            break;
    }
    return count;
}

/* Reads at most most edges, which is not 0, from where the iterator is, and returns how many: fewer
 * only at the end. */
static size_t edges_read(struct g2h_edges *edges, struct g2h_edge *ret, size_t most)
{
    if (edges->view->is_folded)
        return read_fold(edges, ret, most);
    return edges->has_targets_only ? read_whole_targets(edges, ret, most)
                                   : read_whole(edges, ret, most);
}

/* Reads up to most edges, first those that were read ahead, and returns how many. */
size_t g2h_edges_read(struct g2h_edges *edges, struct g2h_edge *ret, size_t most)
{
    size_t count = 0;
    while (count < most && edges->ahead < edges->ahead_end)
        ret[count++] = edges->ahead_edges[edges->ahead++];
    return count < most ? count + edges_read(edges, &ret[count], most - count) : count;
}

/* Gets the next edge; false at the end. Edges with names are read one by one; targets alone cost
 * little, so AHEAD of them are read at a time. */
bool g2h_edges_next(struct g2h_edges *edges, struct g2h_edge *ret)
{
    if (!edges->has_targets_only)
        return edges_read(edges, ret, 1) == 1;
    if (edges->ahead == edges->ahead_end) {
        edges->ahead = 0;
        edges->ahead_end = (uint32_t)edges_read(edges, edges->ahead_edges, AHEAD);
        if (edges->ahead_end == 0)
            return false;
    }
    *ret = edges->ahead_edges[edges->ahead++];
    return true;
}

/* Finds the next edge that leads to a node; false if there are no more. */
bool g2h_edges_next_to(struct g2h_edges *edges, uint32_t target, struct g2h_edge *ret)
{
    while (g2h_edges_next(edges, ret))
        if (ret->target == target)
            return true;
    return false;
}

/* ---- keys ---- */

enum g2h_key g2h_edges_key(struct g2h_edges *edges, const struct g2h_edge *edge,
                           struct g2h_key_name *ret)
{
    return entry_keys_name(&edges->keys, edges->view, edge, ret);
}

struct g2h_error *g2h_edges_value_key(struct g2h_edges *edges, uint32_t node,
                                      const struct g2h_value *value, enum g2h_key *ret_form,
                                      struct g2h_key_name *ret)
{
    return entry_keys_of_value(&edges->keys, edges->view, node, value, ret_form, ret);
}

void g2h_edges_prefetch_keys(const struct g2h_edges *edges, const struct g2h_edge *given,
                             size_t count)
{
    entry_keys_prefetch(edges->view, given, count);
}
