/*
 * slice_words; see slice_words.h.
 *
 * The three words of a slice are contiguous in variables of packages, and in values that these
 * point to. A frame's variable may have its words in different places, and only some of these in
 * the frame: then the slice is not known.
 */
#include "graph/slice_words.h"

#include "heap/pointers.h"

enum { DEPTH = 64 /* of nested structs and arrays */ };

struct slice_words_visitor {
    const struct g2h_graph *graph;
    slice_word_visit visit;
    void *context;
};

/* Returns the slice type that begins at an offset of a value, or TYPE_NONE. */
static uint32_t slice_type_at(const struct types *types, uint32_t number, uint64_t offset)
{
    for (unsigned depth = 0; depth < DEPTH && number < types->list.count; depth++) {
        if (types->list.data[number].kind == TYPE_SLICE)
            return offset == 0 ? number : TYPE_NONE;
        if (!types_step_into(types, &number, &offset))
            return TYPE_NONE;
    }
    return TYPE_NONE;
}

/* Returns the size of the elements of the slice that begins at an offset of a value of a type, or
 * 0. */
static uint64_t element_size_at(const struct g2h_graph *graph, uint32_t type, uint64_t offset)
{
    const struct types *types = graph->typing->types;
    const uint32_t slice = slice_type_at(types, type, offset),
                   elem = slice == TYPE_NONE ? TYPE_NONE : types->list.data[slice].elem;
    return elem < types->list.count ? types->list.data[elem].size : 0;
}

/* Returns the array that a word hits, or UINT32_MAX. */
static uint32_t find_array(const struct g2h_graph *graph, uint64_t word)
{
    const uint32_t object = heap_find(graph->heap, word);
    return object != UINT32_MAX && (graph->typing->claims[object] & CLAIM_ARRAY) != 0 ? object
                                                                                      : UINT32_MAX;
}

static bool visit_word(const struct slice_words_visitor *visitor, uint32_t array,
                       const struct slice *slice)
{
    return slice->size == 0 || slice->length > slice->capacity ||
           visitor->visit(visitor->context, array, slice);
}

/* ---- data and bss ---- */

/* Returns the size of the elements of the slice at an address, or 0. */
static uint64_t static_element_size(const struct g2h_graph *graph, uint64_t address)
{
    const struct typing *typing = graph->typing;
    uint64_t offset;
    const struct dwarf_global *global = typing_global(typing, address, &offset);
    if (global)
        return element_size_at(graph, global->type, offset);
    const struct outside_value *value =
        outside_value_at(&typing->outside, graph->heap, address, &offset);
    if (!value || value->type >= typing->types->list.count ||
        typing->types->list.data[value->type].size == 0)
        return 0;
    return element_size_at(graph, value->type, offset % typing->types->list.data[value->type].size);
}

static bool visit_segment(const struct slice_words_visitor *visitor,
                          const struct g2h_segment *segment)
{
    const struct g2h_heap *heap = visitor->graph->heap;
    const uint64_t word = heap->params.pointer_size;
    struct pointers pointers;
    uint64_t offset, value;
    pointers_of_fields(heap, segment->contents, segment->fields, &pointers);
    while (pointers_next(&pointers, &offset, &value)) {
        const uint32_t array = find_array(visitor->graph, value);
        struct slice slice = {.address = value};
        if (array == UINT32_MAX)
            continue;
        if (segment->contents.size >= 3 * word && offset <= segment->contents.size - 3 * word) {
            const uint8_t *at = segment->contents.data + offset;
            slice.size = static_element_size(visitor->graph, segment->address + offset);
            slice.length = heap_word(heap, at + word);
            slice.capacity = heap_word(heap, at + 2 * word);
        }
        if (!visit_word(visitor, array, &slice))
            return false;
    }
    return true;
}

/* ---- frames ---- */

/* Reads the word at an offset of a frame's variable. Returns false if it is not in the frame. */
static bool read_local(const struct g2h_graph *graph, const struct heap_stack_frame *frame,
                       const struct dwarf_local *local, uint64_t offset, uint64_t *ret)
{
    const uint64_t word = graph->heap->params.pointer_size;
    for (uint32_t i = 0; i < local->piece_count; i++) {
        const struct dwarf_piece *piece =
            &graph->typing->scopes->pieces.data[local->first_piece + i];
        const uint64_t inside = offset - piece->offset,
                       at = frame->contents.size + (uint64_t)piece->cfa_offset + inside;
        if (offset < piece->offset || piece->size < word || inside > piece->size - word)
            continue;
        if (frame->contents.size < word || at > frame->contents.size - word)
            return false;
        *ret = heap_word(graph->heap, frame->contents.data + at);
        return true;
    }
    return false;
}

static bool visit_frame(const struct slice_words_visitor *visitor,
                        const struct heap_stack_frame *frame)
{
    const struct g2h_graph *graph = visitor->graph;
    const uint64_t word = graph->heap->params.pointer_size;
    struct pointers pointers;
    uint64_t offset, value, within;
    pointers_of_fields(graph->heap, frame->contents, frame->fields, &pointers);
    while (pointers_next(&pointers, &offset, &value)) {
        const uint32_t array = find_array(graph, value);
        struct slice slice = {.address = value};
        if (array == UINT32_MAX)
            continue;
        const struct dwarf_local *local =
            typing_local_at(graph->typing, frame, offset, false, &within);
        if (local && read_local(graph, frame, local, within + word, &slice.length) &&
            read_local(graph, frame, local, within + 2 * word, &slice.capacity))
            slice.size = element_size_at(graph, local->type, within);
        if (!visit_word(visitor, array, &slice))
            return false;
    }
    return true;
}

/* ---- all slices ---- */

bool slice_words_visit(const struct g2h_graph *graph, slice_word_visit visit, void *context)
{
    static const enum g2h_record_kind kinds[] = {G2H_RECORD_DATA, G2H_RECORD_BSS};
    const struct slice_words_visitor visitor = {graph, visit, context};
    for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
        for (size_t j = 0; j < graph->heap->records[kinds[i]].count; j++) {
            struct g2h_record record;
            g2h_heap_record(graph->heap, kinds[i], j, &record);
            if (!visit_segment(&visitor, &record.segment))
                return false;
        }
    for (size_t i = 0; i < graph->roots.frames.count; i++) {
        const struct heap_stack_frame frame =
            heap_frame(graph->heap, graph->roots.frames.data[i].frame);
        if (!visit_frame(&visitor, &frame))
            return false;
    }
    return true;
}
