/*
 * lock_reach: how many bytes from a pointer on the program can reach by it, according to the
 * pointer's type; see lock_reach.h. Both functions find the pointer in the type of what contains
 * it: an object, or a variable of data or bss. Nothing here is about locks: leaked.c asks for those
 * in small slots that other values share, where a pointer to one value does not reach the others.
 */
#include "graph/lock_reach.h"

#include "base/bytes.h"
#include "heap/pointers.h"
#include "typing/typing.h"

enum { DEEPEST = 64 /* of nested structs and arrays */ };

/* Returns how much the pointer that begins at an offset of a value of a type leads to. words begins
 * with the pointer, and has the rest of the same memory: a string's length, or a slice's capacity.
 * In bytes: those of a pointer's target, of a string, or of a slice's capacity. REACH_UNKNOWN for
 * all other values. */
static uint64_t reach_of_value(const struct g2h_graph *graph, uint32_t number, uint64_t offset,
                               struct g2h_bytes words)
{
    const struct types *types = graph->typing->types;
    const uint64_t word = graph->heap->params.pointer_size;
    for (unsigned i = 0; i < DEEPEST && number < types->list.count; i++)
        if (!types_step_into(types, &number, &offset))
            break;
    if (number >= types->list.count || offset != 0)
        return REACH_UNKNOWN;
    const struct type *type = types_get(types, number);
    const uint64_t size = type->elem < types->list.count ? types_size(types, type->elem) : 0;
    uint64_t reach;
    if (type->kind == TYPE_POINTER && type->target == TARGET_ONE && size > 0)
        return size;
    if (type->kind == TYPE_STRING && words.size >= 2 * word)
        return heap_word(graph->heap, words.data + word);
    if (type->kind != TYPE_SLICE || size == 0 || words.size < 3 * word ||
        __builtin_mul_overflow(heap_word(graph->heap, words.data + 2 * word), size, &reach))
        return REACH_UNKNOWN;
    return reach;
}

/* Returns the bytes that a pointer in an object leads to, or REACH_UNKNOWN. A type that is only
 * guessed does not count: a guess is no proof. */
uint64_t reach_from_object(const struct g2h_graph *graph, uint32_t object, uint64_t offset)
{
    const struct g2h_bytes contents = heap_contents(graph->heap, object);
    struct typed_location location;
    if (!graph->typing || typing_is_guess(graph->typing, object) || offset >= contents.size ||
        !typing_locate(graph->typing, object, offset, &location))
        return REACH_UNKNOWN;
    return reach_of_value(graph, location.type, location.offset, bytes_from(contents, offset));
}

/* Returns the bytes that a pointer in a segment leads to, or REACH_UNKNOWN. DWARF knows the
 * variables; without it, values that were inferred, or code, may show to what their words point: to
 * one value, or of a slice to as many as its capacity. */
uint64_t reach_from_segment(const struct g2h_graph *graph, const struct g2h_segment *segment,
                            uint64_t offset)
{
    const struct typing *typing = graph->typing;
    const uint64_t address = segment->address + offset;
    const uint64_t word = graph->heap->params.pointer_size;
    if (!typing || offset >= segment->contents.size)
        return REACH_UNKNOWN;
    const struct g2h_bytes words = bytes_from(segment->contents, offset);
    uint64_t inside, reach;
    const struct dwarf_global *global = typing_global(typing, address, &inside);
    if (global)
        return reach_of_value(graph, global->type, inside, words);
    const struct outside_value *value =
        outside_value_at(&typing->outside, graph->heap, address, &inside);
    /* One of several consecutive values: the remainder is the offset in it. */
    if (value && value->type < typing->types->list.count &&
        types_size(typing->types, value->type) > 0)
        return reach_of_value(graph, value->type, inside % types_size(typing->types, value->type),
                              words);
    const struct static_pointer_type *pointer = typing_static_pointer(typing, address);
    const uint64_t size = pointer ? types_size(typing->types, pointer->type) : 0;
    if (size == 0)
        return REACH_UNKNOWN;
    if (!pointer->is_slice)
        return size;
    if (words.size < 3 * word ||
        __builtin_mul_overflow(heap_word(graph->heap, words.data + 2 * word), size, &reach))
        return REACH_UNKNOWN;
    return reach;
}
