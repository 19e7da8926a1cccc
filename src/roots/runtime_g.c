/*
 * runtime_g: what the runtime's record of a goroutine says besides the dump: the channels that it
 * waits on, the function of a coroutine, who has started it, and its labels.
 */
#include "base/contract.h"
#include "roots/builder.h"

/* ==== the channels that a goroutine waits on ====
 *
 * A blocked goroutine has a list of sudogs, one for each channel of its select. The layout of a
 * sudog comes from the executable's DWARF; without DWARF the channels are not known.
 */

/* A select has at most 65,536 cases. In a damaged dump lists may be circular, or of many
 * goroutines: beyond OWN_CHANNELS, all goroutines together have no more sudogs than there are
 * objects. */
enum { MOST_CHANNELS = 1 << 16, OWN_CHANNELS = 256 };

/*
 * Returns the first word of a field, or the word after it if the first is nil. The field is in the
 * value at address, and its type must be known. Returns 0 if no object contains the field's
 * words.
 *
 * Since Go 1.26 the field c has two words: a pointer for the collector, which may be nil, and the
 * address. So this reads the second word if the first one is 0.
 */
static uint64_t builder_read_field(const struct builder *builder, uint64_t address,
                                   const struct type_field *field)
{
    const struct g2h_heap *heap = builder->heap;
    const struct types *types = builder->typing->types;
    const uint64_t word = heap->params.pointer_size;
    const uint32_t number = heap_find(heap, address);
    struct g2h_object object;
    assert(field->type < types->list.count);
    if (number == UINT32_MAX)
        return 0;
    heap_object(heap, number, &object);
    const uint64_t offset = address - heap_address(heap, number) + field->offset,
                   size = types_size(types, field->type);
    uint64_t value = 0;
    for (uint64_t at = 0; at + word <= size && at <= word && value == 0; at += word)
        if (object.contents.size >= word && offset + at <= object.contents.size - word)
            value = heap_word(heap, object.contents.data + offset + at);
    return value;
}

/* Returns a field whose type is known, or NULL. */
static const struct type_field *known_field(const struct types *types, uint32_t type,
                                            const char *name)
{
    const struct type_field *field = types_field(types, type, name);
    return field && field->type < types->list.count ? field : NULL;
}

/* Looks up the fields that lead from a goroutine's record to the channels it waits on. Without all
 * three, fields.waiting is NULL. */
static struct waiting_fields find_waiting_fields(const struct types *types, uint32_t type)
{
    struct waiting_fields fields = {.type = type + 1};
    const struct type_field *waiting = known_field(types, type, "waiting");
    const uint32_t sudog = waiting ? types_get(types, waiting->type)->elem : TYPE_NONE;
    if (sudog >= types->list.count)
        return fields;
    fields.channel = known_field(types, sudog, "c");
    fields.next = known_field(types, sudog, "waitlink");
    if (fields.channel && fields.next)
        fields.waiting = waiting;
    return fields;
}

/* Adds edges to the channels that a goroutine waits on. The edges are tentative: they hold the
 * channel only if nothing else does, since the goroutine does not own it. */
struct g2h_error *builder_add_waiting(struct builder *builder, uint32_t node, uint64_t g)
{
    const struct typing *typing = builder->typing;
    const uint32_t object = heap_find(builder->heap, g);
    struct waiting_fields *fields = &builder->waiting;
    struct typed_location location;
    if (!typing || object == UINT32_MAX ||
        !typing_locate(typing, object, g - heap_address(builder->heap, object), &location) ||
        location.offset != 0)
        return NULL;
    if (fields->type != location.type + 1) /* nearly always runtime.g, as before */
        *fields = find_waiting_fields(typing->types, location.type);
    if (!fields->waiting)
        return NULL;
    uint64_t at = builder_read_field(builder, g, fields->waiting);
    uint32_t name;
    for (unsigned i = 0; at != 0 && i < MOST_CHANNELS; i++) {
        if (i >= OWN_CHANNELS && builder->channels++ >= builder->heap->object_count)
            break;
        const uint32_t target =
            heap_find(builder->heap, builder_read_field(builder, at, fields->channel));
        if (target != UINT32_MAX) /* not a pointer of the goroutine, so it is not counted */
            TRY_MEMORY(builder_label_of(builder, "waiting on", &name) &&
                       builder_add_edge(builder, node_synthetic(node), EDGE_TENTATIVE, name,
                                        node_object(target)));
        at = builder_read_field(builder, at, fields->next);
    }
    return NULL;
}

/* ==== the function that a coroutine of iter.Pull runs ====
 *
 * A coroutine is a goroutine that begins with runtime.corostart.
 *
 * Next on its stack are the closure that iter.Pull made, and then the sequence. If a coroutine has
 * not begun yet, the closure is in its coro, to which the goroutine's runtime.g points, at an
 * offset that DWARF has.
 */

/* Gets the function of the sequence that the closure of iter.Pull has captured. Returns false if it
 * is not known. */
static bool captured_sequence(const struct builder *builder, uint64_t closure,
                              struct g2h_bytes *ret)
{
    const struct typing *typing = builder->typing;
    const uint32_t object = heap_find(builder->heap, closure);
    struct typed_location location;
    uint64_t entry;
    if (object == UINT32_MAX ||
        !typing_locate(typing, object, closure - heap_address(builder->heap, object), &location) ||
        types_get(typing->types, location.type)->role != ROLE_CLOSURE)
        return false;
    const struct type_field *sequence = types_field(typing->types, location.type, "seq");
    if (!sequence || sequence->type >= typing->types->list.count)
        return false;
    const uint64_t code = typing_word(typing, builder_read_field(builder, closure, sequence));
    return exe_function_at(builder->exe, code, ret, &entry) && entry == code;
}

/* Returns the first word of a field of the value at an address, or 0 if the value's type is not
 * known. */
static uint64_t field_of(const struct builder *builder, uint64_t address, const char *name)
{
    const struct typing *typing = builder->typing;
    const uint32_t object = heap_find(builder->heap, address);
    struct typed_location location;
    if (object == UINT32_MAX ||
        !typing_locate(typing, object, address - heap_address(builder->heap, object), &location) ||
        location.offset != 0)
        return 0;
    const struct type_field *field = types_field(typing->types, location.type, name);
    return field && field->type < typing->types->list.count
               ? builder_read_field(builder, address, field)
               : 0;
}

/* Finds the function of the sequence that a coroutine runs (iter.Pull). Goes through the frames
 * from the outermost one inwards: goexit, corostart, the closures of iter.Pull, and then the
 * sequence's own function. One that has not started is read from its closure. Returns false if the
 * goroutine is no coroutine, or the function is not known. */
bool builder_coroutine_function(const struct builder *builder, uint64_t g, const uint32_t *frames,
                                uint32_t count, struct g2h_bytes *ret)
{
    bool is_coroutine = false;
    while (count-- > 0) {
        const struct g2h_bytes function = heap_frame(builder->heap, frames[count]).function;
        if (bytes_are(function, "runtime.corostart")) {
            is_coroutine = true;
        } else if (is_coroutine) {
            if (bytes_begin(function, "iter.Pull[") || bytes_begin(function, "iter.Pull2["))
                continue;
            *ret = function;
            return !bytes_begin(function, "runtime.");
        } else if (!bytes_are(function, "runtime.goexit")) {
            return false;
        }
    }
    if (!is_coroutine || !builder->typing)
        return false;
    const uint64_t coroutine = field_of(builder, g, "coroarg");
    return coroutine != 0 && captured_sequence(builder, field_of(builder, coroutine, "f"), ret);
}

/* ==== who has started a goroutine, and its labels ====
 *
 * What the runtime's record of a goroutine says besides the dump: which goroutine has started it
 * (Go 1.21), its labels for profiles and, if GODEBUG has tracebackancestors, the stacks of those
 * that have started it and its starters.
 *
 * The fields' offsets come from the type of the record. Without types nothing of this is known.
 */

/* More starters, and more frames of one, are not read. All goroutines together have not more frames
 * than this for each object of the heap: in a damaged dump, many goroutines may have one list. */
enum { MOST_STARTERS = 100, MOST_FRAMES = 100, FRAMES_OF_OBJECT = 64 };

/* Returns the memory of the heap at an address, or NULL if no object has size bytes there. */
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

/* Returns the address of the elements of the slice at an address. *ret_count becomes their number,
 * most at most; 0 if the heap does not have the slice, or not all of these elements in one object.
 */
static uint64_t slice_at(const struct builder *builder, uint64_t address, uint64_t element,
                         uint64_t most, uint64_t *ret_count)
{
    const uint64_t word = builder->heap->params.pointer_size;
    const uint8_t *slice = memory_at(builder, address, 3 * word);
    *ret_count = slice ? heap_word(builder->heap, slice + word) : 0;
    const uint64_t list = slice ? heap_word(builder->heap, slice) : 0;
    *ret_count = MIN(*ret_count, most);
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
    return map_put(&builder->call_by_pc, pc, as_u32(roots->calls.count), ret) &&
           vector_push(&roots->calls, call);
}

/* Adds the frames of a starter, the goroutine whose go statement began another one, without those
 * of the runtime and of wrappers. In all at most FRAMES_OF_OBJECT for each object of the heap, so
 * that a damaged dump cannot have more. Returns false if memory runs out. */
static bool add_frames(struct builder *builder, uint64_t address, struct root_starter *starter)
{
    const uint64_t word = builder->heap->params.pointer_size;
    struct roots *roots = builder->roots;
    uint64_t count;
    const uint64_t list = slice_at(builder, address, word, MOST_FRAMES, &count);
    starter->first_frame = as_u32(roots->starter_frames.count);
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
    starter->frame_count = as_u32(roots->starter_frames.count) - starter->first_frame;
    return true;
}

/* Adds the starters of a goroutine: the slice at an address has a runtime.ancestorInfo for each,
 * with pcs, a slice, goid, 8 bytes, and gopc, a word. Returns false if memory runs out. */
static bool add_starters(struct builder *builder, uint64_t address, struct root_goroutine *ret)
{
    const uint64_t word = builder->heap->params.pointer_size;
    const uint64_t goid = 3 * word;
    const uint64_t element = goid + 8 + word;
    struct roots *roots = builder->roots;
    uint64_t count;
    const uint64_t list = slice_at(builder, address, element, MOST_STARTERS, &count);
    for (uint64_t i = 0; i < count; i++) {
        const uint8_t *at = memory_at(builder, list + i * element, element);
        struct root_starter starter = {.goid = heap_number(builder->heap, at + goid, 8)};
        if (!add_frames(builder, list + i * element, &starter) ||
            !vector_push(&roots->starters, starter))
            return false;
        ret->starter_count++;
    }
    return true;
}

/* Reads the fields of g that say which goroutine began it, and with which labels. Nothing if g has
 * no type. Returns false if memory runs out. */
bool builder_find_starters(struct builder *builder, uint64_t g, struct root_goroutine *ret)
{
    const struct typing *typing = builder->typing;
    const uint32_t object = heap_find(builder->heap, g);
    struct starter_fields *fields = &builder->starters;
    struct typed_location location;
    ret->first_starter = as_u32(builder->roots->starters.count);
    if (!typing || object == UINT32_MAX ||
        !typing_locate(typing, object, g - heap_address(builder->heap, object), &location) ||
        location.offset != 0)
        return true;
    if (fields->type != location.type + 1) /* nearly always runtime.g, as before */
        *fields = (struct starter_fields){
            .type = location.type + 1,
            .parent = known_field(typing->types, location.type, "parentGoid"),
            .labels = known_field(typing->types, location.type, "labels"),
            .ancestors = known_field(typing->types, location.type, "ancestors")};
    if (fields->parent)
        ret->parent = builder_read_field(builder, g, fields->parent);
    if (fields->labels)
        ret->labels = builder_read_field(builder, g, fields->labels);
    const uint64_t ancestors =
        fields->ancestors ? builder_read_field(builder, g, fields->ancestors) : 0;
    return ancestors == 0 || add_starters(builder, ancestors, ret);
}
