/*
 * whole: finds the arrays of which a pointer may use more than slices and strings say; see whole.h.
 *
 * Most objects lead to none of the arrays that are asked for, so the types of pointers are looked
 * up only for those that hit one.
 */
#include "graph/whole.h"

#include "base/contract.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/workers.h"
#include "heap/pointers.h"

enum {
    DEPTH = 64,             /* of nested structs and arrays */
    OBJECTS = BLOCK_OBJECTS /* in a task */
};

struct whole_finder {
    const struct g2h_graph *graph;
    const uint64_t *asked;
    uint64_t *found;
    size_t tasks; /* over objects; one more task goes over variables */
};

/* A pointer: its target, and where it is. */
struct whole_pointer {
    uint32_t target;
    uint32_t type;   /* of the value that contains it; TYPE_NONE: not known */
    uint64_t offset; /* of the pointer in that value */
    struct g2h_bytes contents;
    uint64_t at; /* of the pointer in contents */
};

/* Returns how many bytes the value that an interface holds may use from its data word on;
 * UINT64_MAX: not known. */
static uint64_t used_by_interface(const struct g2h_graph *graph, const struct type *interface,
                                  const struct whole_pointer *pointer)
{
    const struct types *types = graph->typing->types;
    const uint64_t word = graph->heap->params.pointer_size;
    if (pointer->at < word)
        return UINT64_MAX;
    const uint32_t number = typing_interface_type(
        graph->typing, heap_word(graph->heap, pointer->contents.data + pointer->at - word),
        interface->empty_interface);
    if (number >= types->list.count)
        return UINT64_MAX;
    const struct type *type = types_get(types, number);
    if (!type->direct_interface)
        return types_size(types, number);
    return type->kind == TYPE_POINTER && type->elem < types->list.count
               ? types_size(types, type->elem)
               : UINT64_MAX;
}

/* Returns how many bytes a pointer may use from where it points to; UINT64_MAX: not known; 0: those
 * that a slice or a string says. */
static uint64_t bytes_used(const struct g2h_graph *graph, const struct whole_pointer *pointer)
{
    const struct types *types = graph->typing->types;
    const uint64_t word = graph->heap->params.pointer_size;
    uint32_t number = pointer->type;
    uint64_t offset = pointer->offset;
    for (unsigned depth = 0; depth < DEPTH && number < types->list.count; depth++) {
        const struct type *type = types_get(types, number);
        if ((type->kind == TYPE_SLICE || type->kind == TYPE_STRING) && offset == 0)
            return 0;
        if (type->kind == TYPE_POINTER && type->elem < types->list.count) {
            const uint64_t size = types_size(types, type->elem);
            return size > 0 ? size : UINT64_MAX;
        }
        if (type->kind == TYPE_INTERFACE && offset == word)
            return used_by_interface(graph, type, pointer);
        if (!types_step_into(types, &number, &offset))
            break;
    }
    return UINT64_MAX;
}

/* Returns the size of the elements of an array; 0 if the object is none. */
static uint64_t size_of_element(const struct g2h_graph *graph, uint32_t object)
{
    const struct types *types = graph->typing->types;
    const struct object_type known = typing_object(graph->typing, object);
    if (known.form == OBJECT_TEXT)
        return 1;
    if (known.type >= types->list.count)
        return 0;
    const struct type *type = types_get(types, known.type);
    if (known.form == OBJECT_ARRAY)
        return types_size(types, known.type);
    return known.form == OBJECT_VALUE && type->kind == TYPE_ARRAY && type->elem < types->list.count
               ? types_size(types, type->elem)
               : 0;
}

/* Marks the target of a pointer if it may use all of it; several threads mark. */
static void whole_mark(const struct whole_finder *finder, const struct whole_pointer *pointer)
{
    if (bytes_used(finder->graph, pointer) > size_of_element(finder->graph, pointer->target))
        __atomic_fetch_or(&finder->found[pointer->target / 64], UINT64_C(1) << pointer->target % 64,
                          __ATOMIC_RELAXED);
}

/* ---- objects ---- */

/* Marks what the pointers of an object lead to. */
static void see_object(const struct whole_finder *finder, uint32_t object)
{
    const struct g2h_graph *graph = finder->graph;
    const struct g2h_heap *heap = graph->heap;
    const struct object_type known = typing_object(graph->typing, object);
    const bool is_known = known.form == OBJECT_VALUE || known.form == OBJECT_ARRAY;
    const uint64_t base = heap_object_base(heap, object),
                   size = is_known ? types_size(graph->typing->types, known.type) : 0;
    struct whole_pointer found = {.contents = heap_contents(heap, object)};
    struct pointers pointers;
    uint64_t value;
    pointers_of(heap, object, heap_slot_class(heap, object), &pointers);
    while (pointers_next(&pointers, &found.at, &value)) {
        found.target = in_heap_range(heap, value) ? heap_find(heap, value) : UINT32_MAX;
        if (found.target == UINT32_MAX || !bits_have(finder->asked, found.target))
            continue;
        found.type = size > 0 && found.at >= base ? known.type : TYPE_NONE;
        found.offset = found.at - base;
        if (known.form == OBJECT_ARRAY && size > 0)
            found.offset %= size;
        whole_mark(finder, &found);
    }
}

/* Returns whether an object has a pointer to one that is asked for. */
static bool leads_to_asked(const struct whole_finder *finder, uint32_t object)
{
    const uint32_t *end;
    const uint32_t *target = object_targets(finder->graph, object, &end);
    while (target < end && (*target == NO_TARGET || !bits_have(finder->asked, *target)))
        target++;
    return target < end;
}

/* ---- variables ---- */

/* Finds the value that contains the word at an address of data or bss. */
static void find_variable(const struct g2h_graph *graph, uint64_t address,
                          struct whole_pointer *ret)
{
    const struct typing *typing = graph->typing;
    const struct dwarf_global *global = typing_global(typing, address, &ret->offset);
    ret->type = global ? global->type : TYPE_NONE;
    if (global)
        return;
    const struct outside_value *value =
        outside_value_at(&typing->outside, graph->heap, address, &ret->offset);
    const uint64_t size = value && value->type < typing->types->list.count
                              ? types_size(typing->types, value->type)
                              : 0;
    if (size == 0)
        return;
    ret->type = value->type;
    ret->offset %= size;
}

/* Marks what the pointers in data or bss lead to. */
static void see_segments(const struct whole_finder *finder, enum g2h_record_kind kind)
{
    const struct g2h_heap *heap = finder->graph->heap;
    for (size_t i = 0; i < heap->records[kind].count; i++) {
        struct g2h_record record;
        struct pointers pointers;
        uint64_t value;
        g2h_heap_record(heap, kind, i, &record);
        struct whole_pointer found = {.contents = record.segment.contents};
        pointers_of_fields(heap, record.segment.contents, record.segment.fields, &pointers);
        while (pointers_next(&pointers, &found.at, &value)) {
            found.target = heap_find(heap, value);
            if (found.target == UINT32_MAX || !bits_have(finder->asked, found.target))
                continue;
            find_variable(finder->graph, record.segment.address + found.at, &found);
            whole_mark(finder, &found);
        }
    }
}

static struct g2h_error *whole_task(void *context, size_t task, unsigned worker)
{
    const struct whole_finder *finder = context;
    const uint32_t objects = finder->graph->heap->object_count,
                   first = as_u32(task) * OBJECTS; /* of the last task it is not used */
    (void)worker;
    if (task == finder->tasks) {
        see_segments(finder, G2H_RECORD_DATA);
        see_segments(finder, G2H_RECORD_BSS);
        return NULL;
    }
    for (uint32_t i = first; i < objects && i - first < OBJECTS; i++)
        if (leads_to_asked(finder, i) && !graph_is_garbage(finder->graph, i))
            see_object(finder, i);
    return NULL;
}

/* Looks at the pointers of all objects and variables. Without types nothing is asked for, and
 * nothing found. */
struct g2h_error *whole_find(const struct g2h_graph *graph, const uint64_t *asked, unsigned threads,
                             uint64_t *ret)
{
    struct whole_finder finder = {graph, asked, ret, graph->heap->object_count / OBJECTS + 1};
    return graph->typing ? workers_run(threads, finder.tasks + 1, whole_task, &finder) : NULL;
}
