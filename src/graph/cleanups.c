/*
 * cleanups: the group (cleanups): objects that the runtime keeps by records that are in no dump of
 * WriteHeapDump.
 *
 * typing/cleanup_types.c has found objects that may be kept by such records. This file decides
 * which of them need a holder: those that no root reaches and that would otherwise be garbage. One
 * node for each function, or for each type of an argument, holds all objects that are alike. A
 * process has all of these records: there only cleanups that wait to be run are held so, and what
 * else looks like a part of one is garbage, of a cleanup that has run.
 */
#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "base/bytes.h"
#include "base/error.h"
#include "graph/graph.h"
#include "graph/mark.h"
#include "roots/builder.h"

/* Objects that are alike: the cleanups of a function, the arguments of a type … */
struct cleanups_alike {
    uint32_t node, count;
};

struct cleanups_gatherer {
    struct builder builder;
    struct marker *marker;
    const struct typing *typing;
    struct map alike_by_key;
    VECTOR(struct cleanups_alike) alike;
    uint64_t *queued; /* a bit per object that a queued cleanup has; NULL: records are lacking */
    uint32_t group;   /* UINT32_MAX before the node exists */
    uint32_t closures;
};

/* Appends a type's name, or of a closure's type the function's name. */
static void cleanups_append_type(struct cleanups_gatherer *gatherer, uint32_t type)
{
    const struct types *types = gatherer->typing->types;
    const struct g2h_bytes name = types_name(types, type);
    const bool is_func = types_get(types, type)->role == ROLE_CLOSURE && bytes_begin(name, "func ");
    const size_t skip = is_func ? strlen("func ") : 0;
    text_append_name(&gatherer->builder.text, gatherer->builder.names, name.data + skip,
                     name.size - skip, NAME_LIMIT / 2);
}

/* Makes the name of the node that holds all cleanup parts of one kind and type: "cleanup
 * main.close", "cleanup with argument *main.File"; with a question mark if it is only likely that
 * they are of a cleanup. */
static void name_alike(struct cleanups_gatherer *gatherer, const struct cleanup_part *part)
{
    struct builder *builder = &gatherer->builder;
    const uint64_t code =
        part->kind == CLEANUP_CLOSURE ? typing_cleanup_code(gatherer->typing, part->object) : 0;
    struct g2h_bytes function;
    uint64_t entry;
    builder->text.size = 0;
    switch (part->kind) {
    case CLEANUP_CLOSURE:
        text_printf(&builder->text, "cleanup");
        if (code != 0 && exe_function_at(builder->exe, code, &function, &entry) && entry == code) {
            text_printf(&builder->text, " ");
            builder_append(builder, &function);
        } else if (part->type != TYPE_NONE) {
            text_printf(&builder->text, " with argument ");
            cleanups_append_type(gatherer, part->type);
        }
        break;
    case CLEANUP_ARGUMENT:
        text_printf(&builder->text, "argument ");
        cleanups_append_type(gatherer, part->type);
        text_printf(&builder->text, "?");
        break;
    case CLEANUP_FUNCTION:
        text_printf(&builder->text, "cleanup ");
        cleanups_append_type(gatherer, part->type);
        text_printf(&builder->text, "?");
        break;
    case CLEANUP_HANDLE:
        text_printf(&builder->text, "weak handles?");
        break;
    }
}

/* Hangs a part below the node for objects like it, which is made if needed, and marks it, so that
 * it is not garbage. Objects are alike if their nodes have the same name. */
static struct g2h_error *hold_part(struct cleanups_gatherer *gatherer,
                                   const struct cleanup_part *part)
{
    struct builder *builder = &gatherer->builder;
    uint32_t number = as_u32(gatherer->alike.count);
    name_alike(gatherer, part);
    const uint64_t key = id_hash_text(builder->text.data, builder->text.size);
    TRY_MEMORY(!builder->text.failed && map_put(&gatherer->alike_by_key, key, number, &number));
    if (number == gatherer->alike.count) {
        struct cleanups_alike alike = {.count = 0};
        if (gatherer->group == UINT32_MAX) {
            TRY_MEMORY(builder_add_group(builder, builder->roots->gc_roots, "(cleanups)",
                                         G2H_NODE_CLEANUPS, &gatherer->group));
            name_alike(gatherer, part); /* again: builder->text was the group's name */
        }
        TRY_MEMORY(builder_add_member(builder, gatherer->group, number + 1, G2H_NODE_CLEANUP, key,
                                      &alike.node) &&
                   vector_push(&gatherer->alike, alike));
    }
    struct cleanups_alike *alike = &gatherer->alike.data[number];
    TRY_MEMORY(builder_add_edge(builder, node_synthetic(alike->node), EDGE_ELEMENT, ++alike->count,
                                node_object(part->object)) &&
               marker_push(gatherer->marker, part->object));
    return NULL;
}

/* Returns whether a part needs no holder: something reaches it already, or it is known that no
 * cleanup has it. */
static bool cleanups_passes_over(const struct cleanups_gatherer *gatherer,
                                 const struct cleanup_part *part)
{
    return marker_has(gatherer->marker, part->object) ||
           (gatherer->queued && !bits_have(gatherer->queued, part->object));
}

/* Holds all parts of a kind that are not marked yet, and then marks everything that they reach. */
static struct g2h_error *hold_kind(struct cleanups_gatherer *gatherer, enum cleanup_part_kind kind)
{
    const struct typing *typing = gatherer->typing;
    VECTOR_EACH(const struct cleanup_part, part, typing->cleanup_parts) {
        if (part->kind != kind || cleanups_passes_over(gatherer, part))
            continue;
        gatherer->closures += kind == CLEANUP_CLOSURE;
        TRY(hold_part(gatherer, part));
    }
    return marker_drain(gatherer->marker);
}

/* Returns whether a closure's type is one that the compiler makes for a go or defer statement. */
static bool is_wrapper(const struct types *types, uint32_t type)
{
    const struct g2h_bytes name = types_name(types, type);
    return bytes_contain(name, ".gowrap") || bytes_contain(name, ".deferwrap");
}

/* Holds the functions that cleanups call, as far as they are closures. There cannot be more of them
 * than cleanups. If something else holds a closure of the same function, the function has another
 * use, and its unheld closures are garbage. */
static struct g2h_error *hold_functions(struct cleanups_gatherer *gatherer)
{
    const struct typing *typing = gatherer->typing;
    const uint32_t objects = gatherer->builder.heap->object_count;
    uint32_t left = gatherer->closures;
    if (left == 0)
        return NULL;
    _cleanup_free_ bool *is_used = calloc(typing->types->list.count + 1, sizeof(*is_used));
    TRY_MEMORY(is_used);
    for (uint32_t object = 0; object < objects; object++)
        if (marker_has(gatherer->marker, object))
            is_used[typing->claims[object] & CLAIM_TYPE] = true; /* index 0: no claim */
    for (size_t i = 0; i < typing->cleanup_parts.count && left > 0; i++) {
        const struct cleanup_part *part = &typing->cleanup_parts.data[i];
        if (part->kind != CLEANUP_FUNCTION || cleanups_passes_over(gatherer, part) ||
            is_used[part->type + 1] || is_wrapper(typing->types, part->type))
            continue;
        left--;
        TRY(hold_part(gatherer, part));
    }
    return marker_drain(gatherer->marker);
}

/* Holds the handles (special weak handles) of living objects. A handle has the address of its
 * object in a word that the collector does not follow. The handle of an object that is garbage is
 * garbage, too. */
static struct g2h_error *hold_handles(struct cleanups_gatherer *gatherer)
{
    const struct g2h_heap *heap = gatherer->builder.heap;
    const struct typing *typing = gatherer->typing;
    const uint64_t word = heap->params.pointer_size;
    VECTOR_EACH(const struct cleanup_part, part, typing->cleanup_parts) {
        struct g2h_object object;
        if (part->kind != CLEANUP_HANDLE || cleanups_passes_over(gatherer, part))
            continue;
        heap_object(heap, part->object, &object);
        for (uint64_t at = 0; at + word <= object.contents.size; at += 8) {
            const uint32_t target = heap_find(heap, heap_word(heap, object.contents.data + at));
            if (target == UINT32_MAX || !marker_has(gatherer->marker, target))
                continue;
            TRY(hold_part(gatherer, part));
            break;
        }
    }
    return marker_drain(gatherer->marker);
}

/* Finds the objects of the cleanups that wait to be run, if the heap has the records of all
 * cleanups and handles: those of a process that was read as a whole. */
static struct g2h_error *find_queued(struct cleanups_gatherer *gatherer)
{
    const struct g2h_heap *heap = gatherer->builder.heap;
    if (!heap->facts.has_stack_objects || !heap_is_exact(heap))
        return NULL;
    gatherer->queued = zeroed_alloc(heap->object_count / 64 + 1, sizeof(*gatherer->queued));
    TRY_MEMORY(gatherer->queued);
    for (size_t i = 0; i < heap->records[G2H_RECORD_OTHERROOT].count; i++) {
        struct g2h_record record;
        g2h_heap_record(heap, G2H_RECORD_OTHERROOT, i, &record);
        const uint32_t object = record.otherroot.is_queued_cleanup
                                    ? heap_find(heap, record.otherroot.pointer)
                                    : NO_TARGET;
        if (object != NO_TARGET)
            bits_add(gatherer->queued, object);
    }
    return NULL;
}

static void gatherer_deinit(struct cleanups_gatherer *gatherer)
{
    free(gatherer->queued);
    builder_deinit(&gatherer->builder);
    map_deinit(&gatherer->alike_by_key);
    free(gatherer->alike.data);
}

/* Makes the node "(cleanups)" hold what cleanups and handles keep alive. The order matters: what
 * closures reach may be an argument, and the number of cleanups found so far limits that of plain
 * functions. */
struct g2h_error *graph_add_cleanups(struct g2h_graph *graph, struct marker *marker)
{
    if (!graph->typing || graph->typing->cleanup_parts.count == 0)
        return NULL;
    const struct root_sources sources = {.heap = graph->heap,
                                         .exe = graph->exe,
                                         .typing = graph->typing,
                                         .targets = graph->targets,
                                         .names = &graph->names};
    _cleanup_(gatherer_deinit) struct cleanups_gatherer gatherer = {
        .marker = marker, .typing = graph->typing, .group = UINT32_MAX};
    builder_init(&gatherer.builder, &graph->roots, &sources);
    TRY(find_queued(&gatherer));
    TRY(hold_kind(&gatherer, CLEANUP_CLOSURE));
    TRY(hold_kind(&gatherer, CLEANUP_ARGUMENT));
    TRY(hold_functions(&gatherer));
    return hold_handles(&gatherer);
}
