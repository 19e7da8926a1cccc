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

#include "base/scope.h"
#include "graph/view.h"
#include "naming/keys.h"
#include "naming/plain.h"
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

    struct plain_names *plain; /* NULL: with types, or words are not this machine's */
    struct entry_keys keys;
    struct g2h_edge given; /* the last one that g2h_edges_next() gave */
    uint32_t target;       /* its object, if it is a pointer */
};

static void destroy(struct g2h_edges **edges)
{
    g2h_edges_destroy(*edges);
}

struct g2h_error *g2h_edges_create(const struct g2h_view *view, struct g2h_edges **ret)
{
    _cleanup_(destroy) struct g2h_edges *edges = calloc(1, sizeof(*edges));
    TRY_MEMORY(edges);
    edges->view = view;
    edges->next_child = view->graph->first_object_child;
    if (view->is_folded && view->fold.folds) {
        edges->seen = fold_seen(&view->fold);
        TRY_MEMORY(edges->seen);
    }
    if (!view->graph->typing && heap_is_plain(view->graph->heap)) {
        edges->plain = calloc(1, sizeof(*edges->plain));
        TRY_MEMORY(edges->plain);
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
    free(edges->plain);
    free(edges);
}

/* ---- pointers ---- */

/* Names the pointer that the walk has come to; but a key that is to be looked up in a large table
 * becomes the edge's index for now, and what the table has of it is on its way: find_names(). */
static inline void name_pointer(const struct g2h_edges *edges, const struct walk_pointer *pointer,
                                uint32_t flags, struct g2h_edge *ret)
{
    const struct g2h_graph *graph = edges->view->graph;
    const struct edge_name *name = &pointer->name;
    if (name->form == EDGE_NAME_INDEX) {
        ret->flags = flags | G2H_EDGE_BY_INDEX;
        ret->name = (flags & G2H_EDGE_WEAK) != 0 ? graph->weak_element : G2H_NAME_NONE;
        ret->index = name->value;
        return;
    }
    ret->flags = flags | (name->is_internal ? G2H_EDGE_INTERNAL : 0);
    ret->index = 0;
    if (name->form == EDGE_NAME_STRING) {
        ret->name = (uint32_t)name->value;
    } else if (name->value < ELEMENT_OFFSET) {
        ret->name = names_of_key(&graph->names, name->value);
    } else {
        ret->index = name->value;
        names_prefetch_key(&graph->names, name->value);
    }
}

static inline void find_names(const struct names *names, struct g2h_edge *edges, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (edges[i].index != 0 && (edges[i].flags & G2H_EDGE_BY_INDEX) == 0) {
            edges[i].name = names_of_key(names, edges[i].index);
            edges[i].index = 0;
        }
}

/* Of a pointer of a map's entry. A folded node has several members' entries: they have no keys. */
static void mark_entry(const struct g2h_edges *edges, struct g2h_edge *ret)
{
    if (edges->member_end == 0)
        ret->flags |=
            namer_is_of_key(&edges->walk.namer, ret->offset) ? G2H_EDGE_OF_KEY : G2H_EDGE_OF_ELEM;
}

/* The next pointers of the object that the walk is at: at most most, which is not 0. */
static size_t read_named_pointers(struct g2h_edges *restrict edges, struct g2h_edge *restrict ret,
                                  size_t most)
{
    const struct g2h_graph *graph = edges->view->graph;
    const uint32_t synthetics = graph_synthetics(graph), source = edges->source;
    const bool is_garbage = graph_is_garbage(graph, edges->walk.namer.object);
    struct walk_pointer pointer = {.target = NO_TARGET};
    size_t count = 0;
    while (count < most && object_walk_next(&edges->walk, &pointer)) {
        struct g2h_edge *edge = &ret[count++];
        const bool is_weak = is_garbage && !graph_is_garbage(graph, pointer.target);
        edge->source = source;
        edge->target = synthetics + pointer.target;
        edge->offset = pointer.offset;
        name_pointer(edges, &pointer, is_weak ? G2H_EDGE_WEAK : 0, edge);
        if (pointer.name.is_entry)
            mark_entry(edges, edge);
    }
    find_names(&graph->names, ret, count);
    edges->target = pointer.target;
    return count;
}

/* ---- pointers where nothing has types: read_named_pointers() in fewer steps ---- */

/* An object whose pointers are read. */
struct plain_object {
    const struct slot_class *slot_class;
    const uint8_t *contents;
    uint32_t node;
    bool is_garbage;
};

static inline void fill_plain(const struct g2h_edges *edges, const struct plain_object *object,
                              uint64_t offset, uint32_t target, struct g2h_edge *ret)
{
    const struct g2h_graph *graph = edges->view->graph;
    const bool is_weak = object->is_garbage && !graph_is_garbage(graph, target),
               is_far = offset >= ELEMENT_OFFSET;
    ret->source = object->node;
    ret->target = graph_synthetics(graph) + target;
    ret->flags = (is_weak ? G2H_EDGE_WEAK : 0) | (is_far ? G2H_EDGE_BY_INDEX : 0);
    ret->index = is_far ? offset : 0;
    ret->offset = offset;
    if (is_far)
        ret->name = is_weak ? graph->weak_element : G2H_NAME_NONE;
    else
        plain_name(&graph->names, edges->plain, object->slot_class, object->contents, offset,
                   &ret->name);
}

/* Of 64 words from base on those that have a bit in *words. */
static inline size_t read_plain_words(const struct g2h_edges *restrict edges,
                                      const struct plain_object *object, uint64_t base,
                                      uint64_t *words, const uint32_t **target, const uint32_t *end,
                                      struct g2h_edge *restrict ret, size_t most)
{
    const struct object_index *index = &edges->view->graph->heap->index;
    const uint64_t low = index->low, size = index->high - index->low;
    const uint32_t *next = *target;
    uint64_t left = *words;
    size_t count = 0;
    while (left != 0 && next < end && count < most) {
        const uint64_t offset = base + (uint64_t)__builtin_ctzll(left) * sizeof(uint64_t);
        left &= left - 1;
        if (plain_word(object->contents + offset) - low >= size || *next++ == NO_TARGET)
            continue;
        fill_plain(edges, object, offset, next[-1], &ret[count++]);
    }
    *words = left;
    *target = next;
    return count;
}

/* Of an object whose words are not all in the bits of its slot class. */
static size_t read_large_plain(struct g2h_edges *edges, struct g2h_edge *ret, size_t most)
{
    struct object_walk *walk = &edges->walk;
    struct pointers *pointers = &walk->pointers;
    const struct plain_object object = {walk->namer.slot_class, pointers->contents.data,
                                        edges->source,
                                        graph_is_garbage(edges->view->graph, walk->namer.object)};
    size_t count = 0;
    do
        count += read_plain_words(edges, &object, pointers->base, &pointers->words, &walk->target,
                                  walk->end, &ret[count], most - count);
    while (count < most && walk->target < walk->end && pointers->walk == WALK_POINTERS &&
           pointers_decode(pointers));
    if (count < most)
        walk->target = walk->end;
    return count;
}

/* Names may wait until read_names(). */
static size_t read_pointers(struct g2h_edges *edges, struct g2h_edge *ret, size_t most)
{
    return edges->plain ? read_large_plain(edges, ret, most)
                        : read_named_pointers(edges, ret, most);
}

static inline void read_names(struct g2h_edges *edges)
{
    if (edges->plain)
        plain_finish(&edges->view->graph->names, edges->plain);
}

/* The object's own edges that are no pointers are not before this one. */
static inline void pass_children(struct g2h_edges *edges, uint32_t object)
{
    const struct g2h_graph *graph = edges->view->graph;
    while (edges->next_child < graph->child_count &&
           graph->children[edges->next_child].source.index < object)
        edges->next_child++;
}

/* Brings to the cache what will be read of an object soon, if it is in the same block. */
static inline void prefetch_plain(const struct g2h_graph *graph, uint32_t object)
{
    const struct target_block *block = &graph->targets->blocks[object >> BLOCK_SHIFT];
    const uint32_t ahead = (object & (BLOCK_OBJECTS - 1)) + OBJECTS_AHEAD;
    if (ahead >= block->objects || block->starts[ahead] == block->starts[ahead + 1])
        return;
    const uint8_t *contents =
        graph->heap->input->data + heap_offset(graph->heap, object + OBJECTS_AHEAD);
    __builtin_prefetch(contents);
    __builtin_prefetch(contents + 64);
}

/* Of the next objects of a whole graph, up to one that has other edges as well, or too many words,
 * or more pointers than there is room for. */
static size_t read_plain_objects(struct g2h_edges *edges, struct g2h_edge *ret, size_t most)
{
    const struct g2h_graph *graph = edges->view->graph;
    size_t count = 0;
    for (; edges->node < edges->end; edges->node++, edges->object++) {
        const uint32_t object = edges->object, *end, *target = object_targets(graph, object, &end);
        pass_children(edges, object);
        if (graph_is_child_of(graph, edges->next_child, object))
            break;
        prefetch_plain(graph, object);
        if (target == end)
            continue;
        const struct slot_class *slot_class = heap_slot_class(graph->heap, object);
        const struct plain_object plain = {
            slot_class, graph->heap->input->data + heap_offset(graph->heap, object), edges->node,
            graph_is_garbage(graph, object)};
        uint64_t words = slot_class->words;
        if (words == 0 || (size_t)(end - target) > most - count)
            break;
        count += read_plain_words(edges, &plain, 0, &words, &target, end, &ret[count], SIZE_MAX);
    }
    return count;
}

/* ---- other edges ---- */

static void fill_other(struct g2h_edges *edges, enum edge_type type, uint32_t name, uint32_t target,
                       struct g2h_edge *ret)
{
    *ret = (struct g2h_edge){.source = edges->source,
                             .target = target,
                             .flags = type == EDGE_ELEMENT    ? G2H_EDGE_BY_INDEX
                                      : type == EDGE_INTERNAL ? G2H_EDGE_INTERNAL
                                      : type == EDGE_WEAK     ? G2H_EDGE_WEAK
                                                              : 0,
                             .name = type == EDGE_ELEMENT ? G2H_NAME_NONE : name,
                             .index = type == EDGE_ELEMENT ? name : 0,
                             .offset = UINT64_MAX};
}

static void next_child(struct g2h_edges *edges, struct g2h_edge *ret)
{
    const struct g2h_graph *graph = edges->view->graph;
    const struct edge *edge = &graph->children[edges->child++];
    fill_other(edges, edge->type, edge->name, graph_node_number(graph, edge->target), ret);
}

/* ---- of a folded graph ---- */

/*
 * Edges of the graph become those of the view: their targets other nodes, and those to a folded
 * node that has one already are left out, or marked. Gives how many are left.
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
    pass_children(edges, object);
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

/* The next node of a folded graph; false at the end. */
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

/* The next node of a whole graph that has edges; false at the end. */
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

/* What comes before all other edges of a folded node. */
static bool next_to_group(struct g2h_edges *edges, struct g2h_edge *ret)
{
    const struct fold *fold = &edges->view->fold;
    if (!edges->is_to_group || edges->source < view_kept(edges->view))
        return false;
    edges->is_to_group = false;
    fill_other(edges, EDGE_WEAK, fold->folded[edges->source - fold->kept].count_name, fold->group,
               ret);
    return true;
}

/* Of a whole graph. */
static size_t read_whole(struct g2h_edges *edges, struct g2h_edge *ret, size_t most)
{
    size_t count = 0;
    do {
        if (edges->walk.target < edges->walk.end)
            count += read_pointers(edges, &ret[count], most - count);
        while (count < most && edges->child < edges->child_end)
            next_child(edges, &ret[count++]);
        if (count < most && edges->plain && edges->node >= graph_synthetics(edges->view->graph))
            count += read_plain_objects(edges, &ret[count], most - count);
    } while (count < most && begin_next(edges));
    read_names(edges);
    return count;
}

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
            count += read_pointers(edges, &ret[count], most - count);
        while (count < most && edges->child < edges->child_end)
            next_child(edges, &ret[count++]);
        read_names(edges);
        count = before + fold_edges(edges, &ret[before], count - before);
        if (edges->walk.target < edges->walk.end || edges->child < edges->child_end)
            continue; /* there is no room, or what was read has been left out */
        while (count < most && next_of_fold(edges, &ret[count]))
            count++;
        if (count < most && !begin_next_of_fold(edges))
            break;
    }
    return count;
}

size_t g2h_edges_read(struct g2h_edges *edges, struct g2h_edge *ret, size_t most)
{
    return most == 0                ? 0
           : edges->view->is_folded ? read_fold(edges, ret, most)
                                    : read_whole(edges, ret, most);
}

bool g2h_edges_next(struct g2h_edges *edges, struct g2h_edge *ret)
{
    const bool is_there = g2h_edges_read(edges, ret, 1) == 1;
    edges->given = is_there ? *ret : (struct g2h_edge){0};
    return is_there;
}

/* ---- keys ---- */

enum g2h_key g2h_edges_key(struct g2h_edges *edges, struct g2h_text *text, uint64_t *ret_index)
{
    static const enum g2h_key keys[] = {
        [KEY_NONE] = G2H_KEY_NONE, [KEY_TEXT] = G2H_KEY_TEXT, [KEY_INTEGER] = G2H_KEY_INDEX};
    struct entry_keys *known = &edges->keys;
    const struct namer *namer = &edges->walk.namer;
    if ((edges->given.flags & (G2H_EDGE_OF_KEY | G2H_EDGE_OF_ELEM)) == 0)
        return G2H_KEY_NONE;
    const unsigned slot = namer_slot(namer, edges->given.offset);
    if ((edges->given.flags & G2H_EDGE_OF_KEY) != 0)
        known->targets[slot] = edges->target;
    if (known->value != namer->value)
        known->textless = 0;
    known->value = namer->value;
    if ((known->textless >> slot & 1) != 0)
        return G2H_KEY_NONE;
    const struct key_reader reader = {namer->names, known->memo, known->targets[slot]};
    struct text made = view_borrow(text);
    uint32_t integer = 0;
    const enum key_form form =
        key_append(&reader, namer->entries, namer->contents.data + namer->value,
                   edges->given.offset - namer->value, &made, &integer);
    view_give_back(text, &made);
    if (form == KEY_NONE)
        known->textless |= 1u << slot;
    if (form == KEY_INTEGER)
        *ret_index = integer;
    return keys[form];
}
