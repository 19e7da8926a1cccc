/*
 * coroutines: the function that a coroutine of iter.Pull runs. A coroutine is a goroutine that
 * begins with runtime.corostart.
 *
 * Next on its stack are the closure that iter.Pull made, and then the sequence. If a coroutine has
 * not begun yet, the closure is in its coro, to which the goroutine's runtime.g points, at an
 * offset that DWARF has.
 */
#include "roots/builder.h"

/* Gets the function of the sequence that the closure of iter.Pull has captured. */
static bool captured_sequence(const struct builder *builder, uint64_t closure,
                              struct g2h_bytes *ret)
{
    const struct typing *typing = builder->typing;
    const uint32_t object = heap_find(builder->heap, closure);
    struct typed_location location;
    uint64_t entry;
    if (object == UINT32_MAX ||
        !typing_locate(typing, object, closure - heap_address(builder->heap, object), &location) ||
        typing->types->list.data[location.type].role != ROLE_CLOSURE)
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

/* Goes through the frames from the outermost one inwards: goexit, corostart, the closures of
 * iter.Pull, and then the sequence's own function. */
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
