/*
 * edges: the edges of a view's nodes, one after the other; see include/go2heapsnapshot/view.h.
 *
 * A node that is in the graph has the edges that it has there: of an object its pointers, which are
 * read from the dump by one walk that gives offset, target and name together; then what is kept in
 * the graph's list of children; then, in a folded graph, what was added. A folded node has an edge
 * to "(folded)", and those of its members: each kind of target once, by the name that the first of
 * them has for it.
 */
#include <stdlib.h>
#include <string.h>

#include "graph/view.h"
#include "naming/keys.h"
#include "naming/walk.h"

/* What is known of the keys of the bucket or group that the walk is at. */
struct entry_keys {
    struct key_memo memo[SLOTS];
    uint32_t targets[SLOTS]; /* by slot: what the pointer to its key last hit */
    uint64_t value;          /* the bucket or group; UINT64_MAX: none */
    unsigned textless; /* a bit per slot of it whose key has no text: need not be asked again */
};

struct g2h_edges {
    const struct g2h_view *view;
    uint32_t node, end; /* nodes whose turn comes */
    uint32_t source;    /* the one whose edges are given */

    /* What is left of the source's edges, in this order: */
    bool is_to_group;            /* the edge of a folded node to "(folded)" */
    struct object_walk walk;     /* pointers */
    uint64_t child, child_end;   /* in the graph's children */
    uint64_t extra, extra_end;   /* in fold->extra */
    uint32_t folded, folded_end; /* "(folded)": the folded nodes */
    uint32_t member, member_end; /* of a folded node: in fold->members */

    uint32_t object; /* of a source that is one, and of the whole graph */
    uint64_t
        next_child; /* of objects: the first of the children that is of this one or a later one */
    uint32_t *seen; /* with folded nodes: see fold_target() */
    uint32_t tag;   /* of the source in seen */
    bool repeats;

    struct entry_keys keys;
    uint64_t offset; /* of the pointer that was given last */
    uint32_t target; /* an object */
    enum g2h_entry entry;
};

struct g2h_error *g2h_edges_create(const struct g2h_view *view, struct g2h_edges **ret)
{
    struct g2h_edges *edges = calloc(1, sizeof(*edges));
    if (!edges)
        return &error_no_memory;
    edges->view = view;
    edges->next_child = view->graph->first_object_child;
    if (view->is_folded && view->fold.folds) {
        edges->seen = fold_seen(&view->fold);
        if (!edges->seen) {
            free(edges);
            return &error_no_memory;
        }
    }
    *ret = edges;
    return NULL;
}

void g2h_edges_destroy(struct g2h_edges *edges)
{
    if (!edges)
        return;
    if (edges->seen)
        fold_seen_free(&edges->view->fold, edges->seen);
    free(edges);
}

/* ---- one edge ---- */

/* The node of the view that an edge of the source leads to; FOLD_LEFT_OUT. target: the graph's. */
static inline uint32_t target_of(struct g2h_edges *edges, uint32_t target, bool is_weak)
{
    return edges->view->is_folded ? fold_target(&edges->view->fold, edges->seen, edges->tag,
                                                edges->source, target, is_weak)
                                  : target;
}

/* The pointer that the walk has come to, which leads to node target. */
static inline void fill_pointer(struct g2h_edges *edges, const struct walk_pointer *pointer,
                                uint32_t target, bool is_weak, struct g2h_edge *ret)
{
    const struct g2h_graph *graph = edges->view->graph;
    const struct edge_name *name = &pointer->name;
    ret->source = edges->source;
    ret->target = target;
    ret->weak = is_weak;
    ret->offset = edges->offset = pointer->offset;
    edges->target = pointer->target;
    if (name->form == EDGE_NAME_INDEX) {
        ret->label = G2H_BY_INDEX;
        ret->internal = false;
        ret->index = name->value;
        ret->name = is_weak ? graph->weak_element : G2H_NAME_NONE;
    } else {
        ret->label = G2H_BY_NAME;
        ret->internal = name->is_internal;
        ret->index = 0;
        ret->name = name->form == EDGE_NAME_STRING ? (uint32_t)name->value
                                                   : names_of_key(&graph->names, name->value);
    }
    ret->entry = edges->entry = G2H_ENTRY_NONE;
    if (name->is_entry && edges->member_end == 0) /* a folded node has several members' */
        ret->entry = edges->entry =
            namer_is_of_key(&edges->walk.namer, pointer->offset) ? G2H_ENTRY_KEY : G2H_ENTRY_ELEM;
}

static inline bool next_pointer(struct g2h_edges *edges, struct g2h_edge *ret)
{
    const struct g2h_graph *graph = edges->view->graph;
    struct walk_pointer pointer;
    while (object_walk_next(&edges->walk, &pointer)) {
        const bool is_weak = is_weak_pointer(graph, edges->walk.namer.object, pointer.target);
        uint32_t target = target_of(edges, graph_synthetics(graph) + pointer.target, is_weak);
        ret->repeated = target == FOLD_LEFT_OUT;
        if (ret->repeated && !(edges->repeats && edges->source < edges->view->fold.kept))
            continue;
        if (ret->repeated)
            target = g2h_view_object(edges->view, pointer.target);
        fill_pointer(edges, &pointer, target, is_weak, ret);
        return true;
    }
    return false;
}

/* An edge that is no pointer. */
static void fill_other(struct g2h_edges *edges, enum edge_type type, uint32_t name, uint32_t target,
                       struct g2h_edge *ret)
{
    edges->entry = G2H_ENTRY_NONE;
    *ret = (struct g2h_edge){.source = edges->source,
                             .target = target,
                             .label = type == EDGE_ELEMENT ? G2H_BY_INDEX : G2H_BY_NAME,
                             .weak = type == EDGE_WEAK,
                             .internal = type == EDGE_INTERNAL,
                             .name = type == EDGE_ELEMENT ? G2H_NAME_NONE : name,
                             .index = type == EDGE_ELEMENT ? name : 0,
                             .offset = UINT64_MAX};
}

static bool next_child(struct g2h_edges *edges, struct g2h_edge *ret)
{
    const struct g2h_graph *graph = edges->view->graph;
    while (edges->child < edges->child_end) {
        const struct edge *edge = &graph->children[edges->child++];
        const uint32_t target =
            target_of(edges, graph_node_number(graph, edge->target), edge->type == EDGE_WEAK);
        if (target == FOLD_LEFT_OUT)
            continue;
        fill_other(edges, edge->type, edge->name, target, ret);
        return true;
    }
    return false;
}

/* What only a folded graph has. */
static bool next_of_fold(struct g2h_edges *edges, struct g2h_edge *ret)
{
    const struct fold *fold = &edges->view->fold;
    if (edges->is_to_group && edges->source < fold->kept) { /* the root, behind all its others */
        edges->is_to_group = false;
        fill_other(edges, EDGE_ELEMENT, root_group_index(G2H_NODE_FOLDED), fold->group, ret);
        return true;
    }
    if (edges->extra < edges->extra_end) {
        fill_other(edges, EDGE_INTERNAL, fold->group_name, fold->extra[edges->extra++], ret);
        return true;
    }
    if (edges->folded < edges->folded_end) {
        const uint32_t folded = edges->folded++;
        fill_other(edges, EDGE_WEAK, fold->folded[folded].count_name, fold->kept + folded, ret);
        return true;
    }
    return false;
}

/* ---- the next node ---- */

static void begin_pointers(struct g2h_edges *edges, uint32_t object)
{
    const struct g2h_graph *graph = edges->view->graph;
    object_walk_begin(&edges->walk, &graph->names, graph->targets, object);
    edges->keys.value = UINT64_MAX;
}

/* The edges of an object that is a node. */
static inline void begin_object(struct g2h_edges *edges, uint32_t object)
{
    const struct g2h_graph *graph = edges->view->graph;
    const uint32_t *end, *target = object_targets(graph, object, &end);
    heap_prefetch(graph->heap, (uint64_t)object + OBJECTS_AHEAD);
    if (target < end)
        begin_pointers(edges, object);
    while (edges->next_child < graph->child_count &&
           graph->children[edges->next_child].source.index < object)
        edges->next_child++;
    edges->child = edges->next_child;
    while (graph_is_child_of(graph, edges->next_child, object))
        edges->next_child++;
    edges->child_end = edges->next_child;
}

static void begin_synthetic(struct g2h_edges *edges, uint32_t synthetic)
{
    const struct g2h_graph *graph = edges->view->graph;
    edges->child = graph->first_child[synthetic];
    edges->child_end = graph->first_child[synthetic + 1];
}

/* The table of what was seen is cleared when tags begin anew. */
static void begin_tag(struct g2h_edges *edges)
{
    if (!edges->seen || ++edges->tag <= INT32_MAX)
        return;
    memset(edges->seen, 0, (size_t)edges->view->fold.nodes * sizeof(*edges->seen));
    edges->tag = 1;
}

/* A node of a folded graph. */
static void begin_of_fold(struct g2h_edges *edges, uint32_t node)
{
    const struct fold *fold = &edges->view->fold;
    begin_tag(edges);
    edges->member = edges->member_end = 0;
    if (node >= fold->kept) {
        edges->is_to_group = true;
        edges->member = fold->first_member[node - fold->kept];
        edges->member_end = fold->first_member[node - fold->kept + 1];
        return;
    }
    if (fold->folds) {
        edges->is_to_group = node == 0;
        edges->extra = fold->first_extra[node];
        edges->extra_end = fold->first_extra[node + 1];
    }
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

/* Whether a member has an edge that has not been given: most have none, and need not be read. */
static bool has_news(const struct g2h_edges *edges, uint32_t object)
{
    const struct g2h_graph *graph = edges->view->graph;
    const uint32_t *number_of = edges->view->fold.number_of + graph_synthetics(graph);
    const uint32_t *end, *target = object_targets(graph, object, &end);
    for (; target < end; target++) {
        if (*target == NO_TARGET || is_weak_pointer(graph, object, *target))
            continue;
        const uint32_t number = number_of[*target];
        if (number != FOLD_LEFT_OUT && number != edges->source &&
            edges->seen[number] != edges->tag * 2 + 1)
            return true;
    }
    return false;
}

/* The next member of a folded node; false where all have been. */
static bool begin_member(struct g2h_edges *edges)
{
    const struct g2h_graph *graph = edges->view->graph;
    const uint32_t synthetics = graph_synthetics(graph);
    while (edges->member < edges->member_end) {
        const uint32_t node = edges->view->fold.members[edges->member++];
        if (node < synthetics)
            begin_synthetic(edges, node);
        else if (has_news(edges, node - synthetics))
            begin_pointers(edges, node - synthetics);
        else
            continue;
        return true;
    }
    return false;
}

/* False at the end. */
static inline bool begin_next(struct g2h_edges *edges)
{
    const struct g2h_view *view = edges->view;
    if (edges->member < edges->member_end && begin_member(edges))
        return true;
    if (edges->node >= edges->end)
        return false;
    edges->source = edges->node++;
    if (view->is_folded)
        begin_of_fold(edges, edges->source);
    else if (edges->source < graph_synthetics(view->graph))
        begin_synthetic(edges, edges->source);
    else
        begin_object(edges, edges->object++);
    return true;
}

void g2h_edges_repeat(struct g2h_edges *edges, bool repeat)
{
    edges->repeats = repeat;
}

void g2h_edges_begin(struct g2h_edges *edges, uint32_t first, uint32_t end)
{
    const struct g2h_view *view = edges->view;
    const uint32_t nodes = g2h_view_node_count(view), first_object = view_first_object(view);
    edges->node = first < nodes ? first : nodes;
    edges->end = end < nodes ? end : nodes;
    edges->walk.target = edges->walk.end = NULL;
    edges->child = edges->child_end = edges->extra = edges->extra_end = 0;
    edges->folded = edges->folded_end = edges->member = edges->member_end = 0;
    edges->is_to_group = false;
    if (edges->end <= first_object || edges->node >= view_kept(view))
        return;
    const uint32_t before = edges->object;
    edges->object = edges->node > first_object ? view_object_of(view, edges->node) : 0;
    if (edges->object < before || edges->object > before + 1)
        edges->next_child = graph_object_child(view->graph, edges->object);
}

bool g2h_edges_next(struct g2h_edges *edges, struct g2h_edge *ret)
{
    for (;;) {
        if (edges->walk.target < edges->walk.end && next_pointer(edges, ret))
            return true;
        if (edges->child < edges->child_end && next_child(edges, ret))
            return true;
        if (edges->view->is_folded && next_of_fold(edges, ret))
            return true;
        if (!begin_next(edges))
            return false;
        if (edges->is_to_group && edges->source >= view_kept(edges->view)) {
            const struct fold *fold = &edges->view->fold;
            edges->is_to_group = false;
            fill_other(edges, EDGE_WEAK, fold->folded[edges->source - fold->kept].count_name,
                       fold->group, ret);
            return true;
        }
    }
}

/* ---- keys ---- */

enum g2h_key g2h_edges_key(struct g2h_edges *edges, struct g2h_text *text, uint64_t *ret_index)
{
    static const enum g2h_key keys[] = {
        [KEY_NONE] = G2H_KEY_NONE, [KEY_TEXT] = G2H_KEY_TEXT, [KEY_INTEGER] = G2H_KEY_INDEX};
    struct entry_keys *known = &edges->keys;
    const struct namer *namer = &edges->walk.namer;
    if (edges->entry == G2H_ENTRY_NONE)
        return G2H_KEY_NONE;
    const unsigned slot = namer_slot(namer, edges->offset);
    if (edges->entry == G2H_ENTRY_KEY)
        known->targets[slot] = edges->target;
    if (known->value != namer->value)
        known->textless = 0;
    known->value = namer->value;
    if ((known->textless >> slot & 1) != 0)
        return G2H_KEY_NONE;
    const struct key_reader reader = {namer->names, known->memo, known->targets[slot]};
    struct text made = {text->data, text->size, text->capacity, text->failed};
    uint32_t integer = 0;
    const enum key_form form =
        key_append(&reader, namer->entries, namer->contents.data + namer->value,
                   edges->offset - namer->value, &made, &integer);
    *text = (struct g2h_text){made.data, made.size, made.capacity, made.failed};
    if (form == KEY_NONE)
        known->textless |= 1u << slot;
    *ret_index = integer;
    return keys[form];
}
