/*
 * shortcuts: weak edges that are not pointers of the dump.
 *
 * They lead from a map to its groups of entries and to its overflow buckets: without them there are
 * up to four edges between a map and a value. V8's name for such an edge is shortcut, too: readers
 * count it for distances, and show it in paths, but not for retained sizes. And they lead from a
 * handle, which weak.Pointers point to, to the object itself; these count for neither.
 *
 * Each bucket, table or group gets at most one map, so the work is bounded by the heap's size
 * whatever a damaged dump claims. There is no limit per map: each shortcut leads to an object of at
 * least eight entries.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "base/error.h"
#include "base/workers.h"
#include "graph/graph.h"

enum { NUMBERED = 1024 /* numbered shortcuts of a map; the others share a name */ };

struct shortcut_numbered {
    const char *text;
    uint32_t names[NUMBERED + 1];
};

struct shortcuts_finder {
    struct g2h_graph *graph;
    const struct types *types;
    uint64_t *taken; /* a bit per object */
    bool *is_source; /* by type + 1: objects of this type may have shortcuts */
    struct shortcut_numbered groups, overflows;
    uint32_t handle_type, object_name;
};

/* Returns the type at an object's start, or TYPE_NONE. */
static uint32_t type_at_start(const struct shortcuts_finder *finder, uint32_t object)
{
    const uint32_t claim = finder->graph->typing->claims[object];
    return claim == 0 ? TYPE_NONE : (claim & CLAIM_TYPE) - 1;
}

/* Returns whether an object begins with a value of a type that has a role: a map, a table, a
 * bucket. */
static bool has_role(const struct shortcuts_finder *finder, uint32_t object, enum type_role role)
{
    const uint32_t type = type_at_start(finder, object);
    return type != TYPE_NONE && types_get(finder->types, type)->role == role;
}

/* Marks an object as assigned to a map. Returns false if it already was. */
static bool shortcuts_take(struct shortcuts_finder *finder, uint32_t object)
{
    const uint64_t bit = UINT64_C(1) << (object % 64);
    const bool first = (finder->taken[object / 64] & bit) == 0;
    finder->taken[object / 64] |= bit;
    return first;
}

/* Adds a shortcut from a map; number counts the map's shortcuts of this kind. Returns false if
 * memory runs out. */
static bool shortcuts_add(struct shortcuts_finder *finder, uint32_t map, uint32_t target,
                          struct shortcut_numbered *numbered, uint32_t number)
{
    struct g2h_graph *graph = finder->graph;
    uint32_t *name = &numbered->names[MIN(number, NUMBERED)];
    char text[32];
    graph->account.shortcuts++;
    if (*name == NAME_NONE) {
        snprintf(text, sizeof(text), number < NUMBERED ? "%s[%u]" : "%s[…]", numbered->text,
                 number);
        if (!names_add_label(&graph->names, text, strlen(text), name))
            return false;
    }
    return graph_add_edge(graph, node_object(map), EDGE_GROUPS, *name, node_object(target));
}

/* ---- Go 1.24 and later ---- */

/* Adds shortcuts from a map to the groups of the tables of a directory. A table or group that has
 * been taken by another map is passed over. Returns false if memory runs out. */
static bool shortcuts_add_groups(struct shortcuts_finder *finder, uint32_t map, uint32_t directory)
{
    const uint32_t *end;
    const uint32_t *table = object_targets(finder->graph, directory, &end);
    uint32_t number = 0;
    for (; table < end; table++) {
        if (*table == NO_TARGET || !has_role(finder, *table, ROLE_INTERNAL) ||
            !shortcuts_take(finder, *table))
            continue;
        const uint32_t *last;
        const uint32_t *groups = object_targets(finder->graph, *table, &last);
        for (; groups < last; groups++)
            if (*groups != NO_TARGET && has_role(finder, *groups, ROLE_MAP_GROUP) &&
                shortcuts_take(finder, *groups) &&
                !shortcuts_add(finder, map, *groups, &finder->groups, number++))
                return false;
    }
    return true;
}

/* Returns whether an object is the array of pointers to a map's tables (Map.dirPtr). */
static bool is_directory(const struct shortcuts_finder *finder, uint32_t object)
{
    const uint32_t type = type_at_start(finder, object);
    if (type == TYPE_NONE || types_get(finder->types, type)->kind != TYPE_POINTER)
        return false;
    const uint32_t table = types_get(finder->types, type)->elem;
    return table < finder->types->list.count &&
           types_get(finder->types, table)->role == ROLE_INTERNAL;
}

/* ---- before Go 1.24 ---- */

/* Adds shortcuts from a map to the overflow buckets of the buckets in an object, and to theirs in
 * turn; *ret_number counts them. Each bucket has a pointer to the next one in its field "overflow".
 * Returns false if memory runs out. */
static bool add_overflows(struct shortcuts_finder *finder, uint32_t map, uint32_t buckets,
                          uint32_t *ret_number)
{
    const struct g2h_heap *heap = finder->graph->heap;
    const struct slot_class *slot_class = heap_slot_class(heap, buckets);
    const struct type *type = types_get(finder->types, type_at_start(finder, buckets));
    const struct type_field *field =
        types_field(finder->types, type_at_start(finder, buckets), "overflow");
    struct g2h_object object;
    if (!slot_class->has_pointers || !field || type->size < heap->params.pointer_size ||
        field->offset > type->size - heap->params.pointer_size)
        return true;
    heap_object(heap, buckets, &object);
    for (uint64_t at = heap_value_base(heap, slot_class);
         at < object.contents.size && type->size <= object.contents.size - at; at += type->size) {
        uint32_t next = buckets;
        const uint8_t *bucket = object.contents.data + at;
        for (;;) { /* along the chain, until it comes back into an array */
            const uint64_t value = heap_word(heap, bucket + field->offset);
            struct g2h_object overflow;
            next = value == 0 ? UINT32_MAX : heap_find(heap, value);
            if (next == UINT32_MAX || next == buckets || !has_role(finder, next, ROLE_MAP_BUCKET) ||
                !shortcuts_take(finder, next))
                break;
            if (!shortcuts_add(finder, map, next, &finder->overflows, (*ret_number)++))
                return false;
            heap_object(heap, next, &overflow);
            if (type_at_start(finder, next) != type_at_start(finder, buckets) ||
                overflow.contents.size < type->size)
                break;
            bucket = overflow.contents.data;
        }
    }
    return true;
}

/* ---- all ---- */

/* Adds the shortcuts from a map to its groups or overflow buckets. Returns false if memory runs
 * out. */
static bool add_of_map(struct shortcuts_finder *finder, uint32_t map)
{
    const uint32_t *end;
    const uint32_t *target = object_targets(finder->graph, map, &end);
    uint32_t number = 0;
    for (; target < end; target++) {
        if (*target == NO_TARGET)
            continue;
        if (has_role(finder, *target, ROLE_MAP_BUCKET)) {
            if (shortcuts_take(finder, *target) && !add_overflows(finder, map, *target, &number))
                return false;
        } else if (is_directory(finder, *target)) {
            if (shortcuts_take(finder, *target) && !shortcuts_add_groups(finder, map, *target))
                return false;
        }
    }
    return true;
}

/* Adds the shortcut from a handle, which a weak.Pointer points to. The handle is a word with the
 * object's address, which the collector does not follow. Returns false if memory runs out. */
static bool add_of_handle(struct shortcuts_finder *finder, uint32_t handle, uint64_t offset)
{
    const struct g2h_heap *heap = finder->graph->heap;
    const uint64_t word = heap->params.pointer_size;
    struct g2h_object object;
    heap_object(heap, handle, &object);
    if (object.contents.size < word || offset > object.contents.size - word)
        return true;
    const uint64_t value = heap_word(heap, object.contents.data + offset);
    const uint32_t target = value == 0 ? UINT32_MAX : heap_find(heap, value);
    if (target == UINT32_MAX)
        return true;
    finder->graph->account.shortcuts++;
    return graph_add_edge(finder->graph, node_object(handle), EDGE_WEAK, finder->object_name,
                          node_object(target));
}

/* Adds the shortcuts from handles of Go before 1.26, which share blocks of 16 bytes with other
 * small values: from each part with the type of handles, each once, unless the whole object has
 * that type. Returns false if memory runs out. */
static bool add_of_shared_handles(struct shortcuts_finder *finder)
{
    for (size_t i = 0; i < SHARDS && finder->handle_type != TYPE_NONE; i++) {
        const struct shard *shard = &finder->graph->typing->shards[i];
        uint32_t object = UINT32_MAX;
        uint64_t offset = 0;
        VECTOR_EACH(const struct typed_part, part, shard->parts) {
            /* The parts are sorted, so one that comes again follows itself. */
            const bool is_known =
                (part->object == object && part->offset == offset) ||
                (part->offset == 0 && type_at_start(finder, part->object) == finder->handle_type);
            if (part->type != finder->handle_type || is_known)
                continue;
            object = part->object;
            offset = part->offset;
            if (!add_of_handle(finder, object, offset))
                return false;
        }
    }
    return true;
}

/* Returns whether a map points to buckets or a directory, so that it may have shortcuts; small maps
 * do not. */
static bool shortcuts_leads_on(const struct shortcuts_finder *finder, uint32_t map)
{
    const uint32_t *end;
    const uint32_t *target = object_targets(finder->graph, map, &end);
    for (; target < end; target++)
        if (*target != NO_TARGET &&
            (has_role(finder, *target, ROLE_MAP_BUCKET) || is_directory(finder, *target)))
            return true;
    return false;
}

enum { OBJECTS_PER_TASK = 1 << 16 };

/* Gathers a task's objects that may have shortcuts, which are few. */
static struct g2h_error *shortcuts_gather(void *context, size_t task, unsigned worker,
                                          struct worker_buffer *buffer)
{
    const struct shortcuts_finder *finder = context;
    const uint32_t first = as_u32(task) * OBJECTS_PER_TASK,
                   left = finder->graph->heap->object_count - first,
                   end = first + MIN(left, OBJECTS_PER_TASK);
    (void)worker;
    for (uint32_t object = first; object < end; object++) {
        const uint32_t claimed = finder->graph->typing->claims[object] & CLAIM_TYPE;
        if (!finder->is_source[claimed] ||
            (claimed - 1 != finder->handle_type && !shortcuts_leads_on(finder, object)))
            continue;
        TRY_MEMORY(worker_buffer_put(buffer, &object, sizeof(object)));
    }
    return NULL;
}

/* Adds the shortcuts of the gathered objects. The order of the objects decides which map takes a
 * target. */
static struct g2h_error *add_gathered(void *context, const struct worker_buffer *buffer)
{
    struct shortcuts_finder *finder = context;
    for (size_t at = 0; at < buffer->size; at += sizeof(uint32_t)) {
        uint32_t object;
        memcpy(&object, buffer->data + at, sizeof(object));
        const uint32_t type = type_at_start(finder, object);
        if (!(types_get(finder->types, type)->role == ROLE_MAP ? add_of_map(finder, object)
                                                               : add_of_handle(finder, object, 0)))
            return &error_no_memory;
    }
    return NULL;
}

/* Marks the types whose objects may have shortcuts: maps, and handles, which weak.Pointers point
 * to. Returns false if memory runs out. */
static bool shortcuts_list_sources(struct shortcuts_finder *finder)
{
    const size_t types = finder->types->list.count;
    finder->is_source = calloc(types + 1, sizeof(*finder->is_source));
    for (uint32_t i = 0; finder->is_source && i < types; i++)
        finder->is_source[i + 1] =
            types_get(finder->types, i)->role == ROLE_MAP || i == finder->handle_type;
    return finder->is_source != NULL;
}

/* Gathers maps and handles on all threads, and adds their shortcuts in the order of objects. */
static struct g2h_error *shortcuts_add_all(struct shortcuts_finder *finder)
{
    const size_t objects = finder->graph->heap->object_count;
    TRY(workers_run_ordered(finder->graph->threads,
                            (objects + OBJECTS_PER_TASK - 1) / OBJECTS_PER_TASK, shortcuts_gather,
                            NULL, add_gathered, finder));
    TRY_MEMORY(add_of_shared_handles(finder));
    return NULL;
}

static void shortcuts_destroy(struct shortcuts_finder **finder)
{
    if (!*finder)
        return;
    free((*finder)->taken);
    free((*finder)->is_source);
    free(*finder);
}

/* Finds the maps and handles on all threads, but adds their edges in the order of objects, so that
 * the result does not depend on threads. */
struct g2h_error *graph_add_shortcuts(struct g2h_graph *graph)
{
    if (!graph->typing)
        return NULL;
    _cleanup_(shortcuts_destroy) struct shortcuts_finder *finder = calloc(1, sizeof(*finder));
    TRY_MEMORY(finder);
    finder->graph = graph;
    finder->types = graph->typing->types;
    finder->taken = zeroed_alloc(graph->heap->object_count / 64 + 1, sizeof(*finder->taken));
    finder->handle_type = types_find(graph->typing->types, WEAK_HANDLE_TYPE);
    finder->groups.text = "groups";
    finder->overflows.text = "overflow";
    memset(finder->groups.names, 0xff, sizeof(finder->groups.names));
    memset(finder->overflows.names, 0xff, sizeof(finder->overflows.names));
    TRY_MEMORY(finder->taken && shortcuts_list_sources(finder) &&
               names_add_label(&graph->names, "object", strlen("object"), &finder->object_name));
    return shortcuts_add_all(finder);
}
