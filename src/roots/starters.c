/*
 * starters: what the runtime's record of a goroutine says besides the dump: which goroutine has
 * started it (Go 1.21), its labels for profiles and, if GODEBUG has tracebackancestors, the stacks
 * of those that have started it and its starters.
 *
 * The fields' offsets come from the type of the record. Without types nothing of this is known.
 */
#include "roots/builder.h"

/* More starters, and more frames of one, are not read. All goroutines together have not more frames
 * than this for each object of the heap: in a damaged dump, many goroutines may have one list. */
enum { MOST_STARTERS = 100, MOST_FRAMES = 100, FRAMES_OF_OBJECT = 64 };

/* Returns a field whose type is known, or NULL. */
static const struct type_field *starters_field(const struct types *types, uint32_t type,
                                               const char *name)
{
    const struct type_field *field = types_field(types, type, name);
    return field && field->type < types->list.count ? field : NULL;
}

/* Returns the memory of the heap from an address to the end of its object, if it has size bytes. */
static const uint8_t *memory_at(const struct builder *builder, uint64_t address, uint64_t size)
{
    const uint32_t object = heap_find(builder->heap, address);
    if (object == UINT32_MAX)
        return NULL;
    const struct g2h_bytes contents = heap_contents(builder->heap, object);
    const uint64_t offset = address - heap_address(builder->heap, object);
    return offset <= contents.size && contents.size - offset >= size ? contents.data + offset
                                                                     : NULL;
}

/* Returns the address and the number of a slice's elements, which must be in one object. */
static uint64_t slice_at(const struct builder *builder, uint64_t address, uint64_t element,
                         uint64_t most, uint64_t *ret_count)
{
    const uint64_t word = builder->heap->params.pointer_size;
    const uint8_t *slice = memory_at(builder, address, 3 * word);
    *ret_count = slice ? heap_word(builder->heap, slice + word) : 0;
    const uint64_t list = slice ? heap_word(builder->heap, slice) : 0;
    *ret_count = *ret_count < most ? *ret_count : most;
    if (*ret_count > 0 && !memory_at(builder, list, *ret_count * element))
        *ret_count = 0;
    return list;
}

/* Finds the innermost function at a return address. Returns false if memory runs out. */
static bool find_call(struct builder *builder, uint64_t pc, uint32_t *ret)
{
    struct roots *roots = builder->roots;
    struct exe_call calls[EXE_MOST_CALLS];
    *ret = map_get(&builder->call_by_pc, pc);
    if (*ret != MAP_NONE)
        return true;
    if (exe_calls(builder->exe, pc - 1, &builder->lines_left, calls) == 0)
        calls[0] = (struct exe_call){.function = bytes_none};
    const struct root_call call = {.function = calls[0].function,
                                   .file = calls[0].file,
                                   .line = calls[0].line,
                                   .is_wrapper = calls[0].is_wrapper};
    return map_put(&builder->call_by_pc, pc, (uint32_t)roots->calls.count, ret) &&
           vector_push(&roots->calls, call);
}

/* Adds the frames of a starter, without those of the runtime. */
static bool add_frames(struct builder *builder, uint64_t address, struct root_starter *starter)
{
    const uint64_t word = builder->heap->params.pointer_size;
    struct roots *roots = builder->roots;
    uint64_t count;
    const uint64_t list = slice_at(builder, address, word, MOST_FRAMES, &count);
    starter->first_frame = (uint32_t)roots->starter_frames.count;
    for (uint64_t i = 0;
         i < count && roots->starter_frames.count / FRAMES_OF_OBJECT <= builder->heap->object_count;
         i++) {
        uint32_t call;
        const uint64_t pc =
            heap_word(builder->heap, memory_at(builder, list, (i + 1) * word) + i * word);
        if (!find_call(builder, pc, &call))
            return false;
        const struct root_call *found = &roots->calls.data[call];
        if (found->function.size > 0 && !found->is_wrapper &&
            !bytes_begin(found->function, "runtime.") && !vector_push(&roots->starter_frames, call))
            return false;
    }
    starter->frame_count = (uint32_t)roots->starter_frames.count - starter->first_frame;
    return true;
}

/* Adds the starters of a goroutine: runtime.ancestorInfo has pcs, goid and gopc. */
static bool add_starters(struct builder *builder, uint64_t address, struct root_goroutine *ret)
{
    const uint64_t word = builder->heap->params.pointer_size, element = 4 * word + 8;
    struct roots *roots = builder->roots;
    uint64_t count;
    const uint64_t list = slice_at(builder, address, element, MOST_STARTERS, &count);
    for (uint64_t i = 0; i < count; i++) {
        const uint8_t *at = memory_at(builder, list + i * element, element);
        struct root_starter starter = {.goid = heap_number(builder->heap, at + 3 * word, 8)};
        if (!add_frames(builder, list + i * element, &starter) ||
            !vector_push(&roots->starters, starter))
            return false;
        ret->starter_count++;
    }
    return true;
}

bool builder_find_starters(struct builder *builder, uint64_t g, struct root_goroutine *ret)
{
    const struct typing *typing = builder->typing;
    const uint32_t object = heap_find(builder->heap, g);
    struct starter_fields *fields = &builder->starters;
    struct typed_location location;
    ret->first_starter = (uint32_t)builder->roots->starters.count;
    if (!typing || object == UINT32_MAX ||
        !typing_locate(typing, object, g - heap_address(builder->heap, object), &location) ||
        location.offset != 0)
        return true;
    if (fields->type != location.type + 1) /* nearly always runtime.g, as before */
        *fields = (struct starter_fields){
            .type = location.type + 1,
            .parent = starters_field(typing->types, location.type, "parentGoid"),
            .labels = starters_field(typing->types, location.type, "labels"),
            .ancestors = starters_field(typing->types, location.type, "ancestors")};
    if (fields->parent)
        ret->parent = builder_read_field(builder, g, fields->parent);
    if (fields->labels)
        ret->labels = builder_read_field(builder, g, fields->labels);
    const uint64_t ancestors =
        fields->ancestors ? builder_read_field(builder, g, fields->ancestors) : 0;
    return ancestors == 0 || add_starters(builder, ancestors, ret);
}
