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

#include "base/scope.h"
#include "view/entry_keys.h"
#include "naming/plain.h"
#include "naming/walk.h"

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
    bool has_usual_words; /* the dump's words are like this machine's */

    struct plain_names *plain; /* NULL with types, or if heap_is_plain() is false */
    struct entry_keys keys;
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
    edges->has_usual_words = heap_words_are_usual(view->graph->heap);
    TRY_MEMORY(!view->graph->typing || entry_keys_init(&edges->keys));
    edges->next_child = view->graph->first_object_child;
    if (view->is_folded && view->fold.folds) {
        edges->seen = fold_seen(&view->fold);
        TRY_MEMORY(edges->seen);
    }
    if (!view->graph->typing && heap_is_plain(view->graph->heap)) {
        edges->plain = plain_create(view->graph->heap);
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
    entry_keys_deinit(&edges->keys);
    free(edges);
}

/* ---- pointers ---- */

/* Names the pointer that the walk is at. A name whose key needs a look-up in a large table is only
 * prefetched: its key is stored as the edge's index until find_names() replaces it. */
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
    ret->flags = flags | (name->is_internal ? G2H_EDGE_INTERNAL : 0) |
                 (edge_name_is_stale(name) ? G2H_EDGE_STALE : 0);
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

/* Returns the flag of a pointer in a map's entry. In a folded node the entries of several members
 * come together, so they have no keys. */
static inline uint32_t entry_flag(const struct g2h_edges *edges, const struct edge_name *name)
{
    return edges->member_end != 0 ? 0 : name->is_key ? G2H_EDGE_OF_KEY : G2H_EDGE_OF_ELEM;
}

/* Reads the next pointers of the object that the walk is at: no more than most, which is not 0. */
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
            edge->flags |= entry_flag(edges, &pointer.name);
    }
    find_names(&graph->names, ret, count);
    return count;
}

/* ---- pointers of typed objects: a faster read_named_pointers() ---- */

/* Names a pointer that name_typed() cannot name. */
static __attribute__((noinline)) void name_other(struct g2h_edges *edges, uint64_t offset,
                                                 struct g2h_edge *ret)
{
    struct walk_pointer pointer;
    namer_name(&edges->walk.namer, offset, &pointer.name);
    name_pointer(edges, &pointer, ret->flags, ret);
    if (pointer.name.is_entry)
        ret->flags |= entry_flag(edges, &pointer.name);
    find_names(&edges->view->graph->names, ret, 1);
}

/* Sets the flag for the place of a word in a bucket or group. Returns false if the word is not in
 * an entry that is in use. */
static inline bool mark_entry(const struct namer *namer, uint64_t offset, uint32_t of_key,
                              uint32_t of_elem, struct g2h_edge *ret)
{
    const uint8_t place = namer->entries->place_of_word[(offset - namer->value) >> 3];
    if (place == PLACE_NONE || (namer->used >> (place & (SLOTS - 1)) & 1) == 0)
        return false;
    ret->flags |= (place & PLACE_KEY) != 0 ? of_key : of_elem;
    return true;
}

/* Names a word by the type of the object's value, or of an array's values. Returns false if the
 * type gives no name. */
static inline bool name_typed(struct namer *namer, uint64_t offset, bool has_entries, bool is_array,
                              uint32_t of_key, uint32_t of_elem, struct g2h_edge *ret)
{
    const uint64_t index = (offset - namer->base) >> 3;
    if (index >= namer->path_count || offset % 8 != 0)
        return false;
    const uint32_t path = namer->paths[index];
    if (is_array && (has_entries || path == NAME_NONE))
        namer_find_value(namer, offset);
    if (is_array && !has_entries && path == NAME_NONE && ret->flags == 0) {
        ret->flags = G2H_EDGE_BY_INDEX;
        ret->name = G2H_NAME_NONE;
        ret->index = namer->element;
        return true;
    }
    if (path == NAME_NONE || (has_entries && !mark_entry(namer, offset, of_key, of_elem, ret)))
        return false;
    ret->flags |= (path & PATH_INTERNAL) != 0 ? G2H_EDGE_INTERNAL : 0;
    ret->name = path & ~PATH_INTERNAL;
    return true;
}

/* Reads the pointers among 64 words of a typed object: those whose bit is set. The type may be that
 * of buckets or groups. */
static inline size_t read_typed_words(struct g2h_edges *restrict edges,
                                      struct g2h_edge *restrict ret, size_t most, bool has_entries,
                                      bool is_array)
{
    const struct g2h_graph *graph = edges->view->graph;
    struct namer *namer = &edges->walk.namer;
    const bool is_garbage = graph_is_garbage(graph, namer->object),
               has_keys =
                   has_entries && edges->member_end == 0 && namer->entries->kind != KEYS_PLAIN;
    const uint64_t low = graph->heap->index.low, size = graph->heap->index.high - low,
                   base = edges->walk.pointers.base;
    const uint32_t synthetics = graph_synthetics(graph), source = edges->source,
                   of_key = has_keys ? G2H_EDGE_OF_KEY : 0,
                   of_elem = has_keys ? G2H_EDGE_OF_ELEM : 0,
                   *target = edges->walk.target, *const end = edges->walk.end;
    const uint8_t *contents = edges->walk.pointers.contents.data;
    uint64_t words = edges->walk.pointers.words, value;
    struct g2h_edge *edge = ret, *const full = ret + most;
    while (words != 0 && edge < full && target < end) {
        const uint64_t offset = base + (uint64_t)__builtin_ctzll(words) * sizeof(value);
        words &= words - 1;
        memcpy(&value, contents + offset, sizeof(value));
        if (value - low >= size || value == 0)
            continue;
        const uint32_t hit = *target++;
        if (hit == NO_TARGET)
            continue;
        edge->source = source;
        edge->target = synthetics + hit;
        edge->flags = is_garbage && !graph_is_garbage(graph, hit) ? G2H_EDGE_WEAK : 0;
        edge->index = 0;
        edge->offset = offset;
        if (!name_typed(namer, offset, has_entries, is_array, of_key, of_elem, edge))
            name_other(edges, offset, edge);
        edge++;
    }
    edges->walk.pointers.words = words;
    edges->walk.target = target;
    return (size_t)(edge - ret);
}

static size_t read_typed(struct g2h_edges *edges, struct g2h_edge *ret, size_t most)
{
    struct object_walk *walk = &edges->walk;
    const bool is_array = walk->namer.is_array, has_entries = walk->namer.entries != NULL;
    size_t count = 0;
    do {
        struct g2h_edge *at = &ret[count];
        const size_t left = most - count;
        count += is_array      ? has_entries ? read_typed_words(edges, at, left, true, true)
                                             : read_typed_words(edges, at, left, false, true)
                      : has_entries ? read_typed_words(edges, at, left, true, false)
                               : read_typed_words(edges, at, left, false, false);
    } while (count < most && walk->target < walk->end && walk->pointers.walk == WALK_POINTERS &&
             pointers_decode(&walk->pointers));
    if (count < most)
        walk->target = walk->end;
    return count;
}

/* ---- pointers in a heap without types: a faster read_named_pointers() ---- */

/* An object whose pointers are being read. */
struct plain_object {
    const struct slot_class *slot_class;
    const uint8_t *contents;
    uint32_t node;
    bool is_garbage;
};

/* Names a pointer at or behind ELEMENT_OFFSET: it is called by its offset. */
static inline void name_far(const struct g2h_graph *graph, uint64_t offset, struct g2h_edge *ret)
{
    ret->name = (ret->flags & G2H_EDGE_WEAK) != 0 ? graph->weak_element : G2H_NAME_NONE;
    ret->flags |= G2H_EDGE_BY_INDEX;
    ret->index = offset;
}

/* Reads the pointers among the 64 words from base on: those whose bit is set in *words. */
static inline size_t read_plain_words(const struct g2h_edges *restrict edges,
                                      const struct plain_object *object, uint64_t base,
                                      uint64_t *words, const uint32_t **target, const uint32_t *end,
                                      struct g2h_edge *restrict ret, size_t most)
{
    const struct g2h_graph *graph = edges->view->graph;
    const uint64_t low = graph->heap->index.low, size = graph->heap->index.high - low;
    const uint32_t synthetics = graph_synthetics(graph), *next = *target;
    const uint8_t *contents = object->contents;
    const bool is_far = base > ELEMENT_OFFSET - 64 * sizeof(uint64_t);
    uint64_t left = *words;
    size_t count = 0;
    while (left != 0 && next < end && count < most) {
        const uint64_t offset = base + (uint64_t)__builtin_ctzll(left) * sizeof(uint64_t);
        left &= left - 1;
        if (plain_word(contents + offset) - low >= size || *next++ == NO_TARGET)
            continue;
        struct g2h_edge *edge = &ret[count++];
        edge->source = object->node;
        edge->target = synthetics + next[-1];
        edge->flags = object->is_garbage && !graph_is_garbage(graph, next[-1]) ? G2H_EDGE_WEAK : 0;
        edge->index = 0;
        edge->offset = offset;
        if (is_far && offset >= ELEMENT_OFFSET)
            name_far(graph, offset, edge);
        else
            plain_name(&graph->names, edges->plain, object->slot_class, contents, offset,
                       &edge->name);
    }
    *words = left;
    *target = next;
    return count;
}

/* Reads the pointers of an object whose pointer words are not all in its slot class's bits. */
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

/* Reads the next pointers of the source. Some of their names are not set before read_names(). */
static size_t read_pointers(struct g2h_edges *edges, struct g2h_edge *ret, size_t most)
{
    const struct object_walk *walk = &edges->walk;
    if (edges->plain)
        return read_large_plain(edges, ret, most);
    return walk->namer.path_count > 0 && edges->has_usual_words &&
                   walk->pointers.walk <= WALK_POINTERS
               ? read_typed(edges, ret, most)
               : read_named_pointers(edges, ret, most);
}

static inline void read_names(struct g2h_edges *edges)
{
    if (edges->plain)
        plain_finish(&edges->view->graph->names, edges->plain);
}

/* Moves next_child to the first edge that is not of an object before this one. */
static inline void pass_children(struct g2h_edges *edges, uint32_t object)
{
    const struct g2h_graph *graph = edges->view->graph;
    while (edges->next_child < graph->child_count &&
           graph->children[edges->next_child].source.index < object)
        edges->next_child++;
}

/* Prefetches the contents of an object that will be read soon, if it is in the same block. */
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

/* Reads all pointers of a typed object. Returns false if its pointer words are not all in its slot
 * class, or if the type at its start does not name all of its pointers. */
static inline bool read_typed_object(const struct g2h_edges *restrict edges, uint32_t object,
                                     const uint32_t *target, const uint32_t *end,
                                     struct g2h_edge *restrict ret, size_t *ret_count)
{
    const struct g2h_graph *graph = edges->view->graph;
    const struct slot_class *slot_class = heap_slot_class(graph->heap, object);
    const uint32_t claim = graph->typing->claims[object], synthetics = graph_synthetics(graph);
    const bool is_array = (claim & CLAIM_ARRAY) != 0, is_garbage = graph_is_garbage(graph, object);
    uint64_t words = slot_class->words, value;
    if (claim == 0 || words == 0)
        return false;
    const struct type_names *of_type = &graph->names.of_type[(claim & CLAIM_TYPE) - 1];
    if (of_type->entries ||
        (is_array && (is_garbage || windows_has(&graph->names.windows, object))))
        return false;
    const uint8_t *contents = graph->heap->input->data + heap_offset(graph->heap, object);
    const uint32_t *paths = is_array ? of_type->array_paths : of_type->value_paths;
    const uint64_t path_count = is_array ? of_type->array_words : of_type->value_words,
                   low = graph->heap->index.low, size = graph->heap->index.high - low;
    struct g2h_edge *edge = ret;
    for (; words != 0 && target < end; words &= words - 1) {
        const unsigned index = (unsigned)__builtin_ctzll(words);
        memcpy(&value, contents + index * sizeof(value), sizeof(value));
        if (value - low >= size || value == 0 || *target++ == NO_TARGET)
            continue;
        const uint32_t hit = target[-1], path = index < path_count ? paths[index] : NAME_NONE;
        if (path == NAME_NONE && (!is_array || index >= path_count))
            return false;
        edge->source = edges->node;
        edge->target = synthetics + hit;
        edge->flags = is_garbage && !graph_is_garbage(graph, hit) ? G2H_EDGE_WEAK : 0;
        edge->index = 0;
        edge->offset = index * sizeof(value);
        edge->name = path & ~PATH_INTERNAL;
        if (path == NAME_NONE) {
            edge->flags = G2H_EDGE_BY_INDEX;
            edge->name = G2H_NAME_NONE;
            edge->index = index * (uint32_t)sizeof(value) / (uint32_t)of_type->size;
        } else if ((path & PATH_INTERNAL) != 0) {
            edge->flags |= G2H_EDGE_INTERNAL;
        }
        edge++;
    }
    *ret_count = (size_t)(edge - ret);
    return true;
}

/* Reads all pointers of an untyped object. Returns false if its pointer words are not all in its
 * slot class. */
static inline bool read_plain_object(const struct g2h_edges *restrict edges, uint32_t object,
                                     const uint32_t *target, const uint32_t *end,
                                     struct g2h_edge *restrict ret, size_t *ret_count)
{
    const struct g2h_graph *graph = edges->view->graph;
    const struct slot_class *slot_class = heap_slot_class(graph->heap, object);
    const struct plain_object plain = {slot_class,
                                       graph->heap->input->data + heap_offset(graph->heap, object),
                                       edges->node, graph_is_garbage(graph, object)};
    uint64_t words = slot_class->words;
    if (words == 0)
        return false;
    *ret_count = read_plain_words(edges, &plain, 0, &words, &target, end, ret, SIZE_MAX);
    return true;
}

/* Reads the pointers of the next objects of a whole graph. It stops at an object that has other
 * edges as well, that the two functions above cannot read, or that has more pointers than ret has
 * room for. */
static inline size_t read_objects(struct g2h_edges *edges, struct g2h_edge *ret, size_t most)
{
    const struct g2h_graph *graph = edges->view->graph;
    size_t count = 0, more;
    if (!edges->plain && !(graph->typing && edges->has_usual_words))
        return 0;
    for (; edges->node < edges->end; edges->node++, edges->object++) {
        const uint32_t object = edges->object, *end, *target = object_targets(graph, object, &end);
        pass_children(edges, object);
        if (graph_is_child_of(graph, edges->next_child, object))
            break;
        prefetch_plain(graph, object);
        if (target == end)
            continue;
        if ((size_t)(end - target) > most - count ||
            !(edges->plain ? read_plain_object(edges, object, target, end, &ret[count], &more)
                           : read_typed_object(edges, object, target, end, &ret[count], &more)))
            break;
        count += more;
    }
    return count;
}

/* ---- other edges ---- */

static void fill_other(struct g2h_edges *edges, enum edge_type type, uint32_t name, uint32_t target,
                       struct g2h_edge *ret)
{
    const name_uses *uses = &edges->view->uses;
    *ret = (struct g2h_edge){.source = edges->source,
                             .target = target,
                             .flags = type == EDGE_ELEMENT    ? G2H_EDGE_BY_INDEX
                                      : type == EDGE_INTERNAL ? G2H_EDGE_INTERNAL
                                      : type == EDGE_WEAK     ? G2H_EDGE_WEAK
                                                              : 0,
                             .name = type == EDGE_ELEMENT ? G2H_NAME_NONE : name,
                             .index = type == EDGE_ELEMENT ? name : 0,
                             .offset = UINT64_MAX};
    if (type != EDGE_ELEMENT && (uses->data[name] & G2H_NAME_DOUBTFUL) != 0)
        ret->flags |= G2H_EDGE_DOUBTFUL;
}

static void next_child(struct g2h_edges *edges, struct g2h_edge *ret)
{
    const struct g2h_graph *graph = edges->view->graph;
    const struct edge *edge = &graph->children[edges->child++];
    fill_other(edges, edge->type, edge->name, graph_node_number(graph, edge->target), ret);
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

/* Reads the next edge that only a folded graph has. Returns false if there is none. */
static bool next_of_fold(struct g2h_edges *edges, struct g2h_edge *ret)
{
    const struct fold *fold = &edges->view->fold;
    if (edges->is_to_group && edges->source < fold->kept) { /* the root: its last edge */
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
}

/* Begins the edges of an object that is a node of its own. */
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

/* Gives the next node a tag of its own. When tags start again from 1, the table seen is cleared. */
static void begin_tag(struct g2h_edges *edges)
{
    if (!edges->seen || ++edges->tag <= INT32_MAX)
        return;
    memset(edges->seen, 0, (size_t)edges->view->fold.nodes * sizeof(*edges->seen));
    edges->tag = 1;
}

/* Begins the edges of a node of a folded graph. */
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

/* Returns whether a member has an edge to a target that the folded node has no edge to yet. Most
 * members have none, so their contents need not be read. */
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

/* Begins the edges of a folded node's next member. Returns false if there are no more members. */
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

/* Reads a folded node's edge to "(folded)", which comes before its other edges. Returns false if it
 * has been read. */
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

/* Reads edges of a whole graph. */
static size_t read_whole(struct g2h_edges *edges, struct g2h_edge *ret, size_t most)
{
    size_t count = 0;
    do {
        if (edges->walk.target < edges->walk.end)
            count += read_pointers(edges, &ret[count], most - count);
        while (count < most && edges->child < edges->child_end)
            next_child(edges, &ret[count++]);
        if (count < most && edges->node >= graph_synthetics(edges->view->graph))
            count += read_objects(edges, &ret[count], most - count);
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
            continue; /* ret is full, or edges were left out */
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
    return g2h_edges_read(edges, ret, 1) == 1;
}

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

void g2h_edges_prefetch_keys(const struct g2h_edges *edges, const struct g2h_edge *given,
                             size_t count)
{
    entry_keys_prefetch(edges->view, given, count);
}
