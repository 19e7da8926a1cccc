/*
 * queries: answers questions of other modules about the types that were found: which variable or
 * local is at an address, what type an object has as a whole (typing_object), and which typed value
 * contains a byte of it (typing_locate); see typing.h.
 */
#include "typing/typing.h"

#include "base/memory.h"
#include "typing/exe_match.h"
#include "typing/typer.h"

/* Returns the index in typing->dwarf_info->globals of the first variable at or after an address of
 * the file. */
size_t typing_first_global(const struct typing *typing, uint64_t address)
{
    const struct dwarf_info *dwarf = typing->dwarf_info;
    size_t at;
    BISECT(at, dwarf->globals.count, dwarf->globals.data[at].address < address);
    return at;
}

/* Returns the type of the value that an interface holds, or TYPE_NONE. first is the interface's
 * first word: the address of a type if the interface has no methods, else of an itab. */
uint32_t typing_interface_type(const struct typing *typing, uint64_t first, bool is_empty)
{
    if (is_empty)
        return types_at(typing->types, first);
    const uint32_t itab = map_get(&typing->heap->itab_by_address, first);
    return itab == MAP_NONE ? TYPE_NONE
                            : types_at(typing->types, typing->heap->itabs.data[itab].type);
}

/* Returns the variable that has an address, or NULL. *ret_offset: where in the variable. */
const struct dwarf_global *typing_global(const struct typing *typing, uint64_t address,
                                         uint64_t *ret_offset)
{
    const uint64_t in_file = address - exe_slide(typing->exe);
    const size_t behind = typing_first_global(typing, in_file + 1);
    if (behind == 0)
        return NULL;
    const struct dwarf_global *global = &typing->dwarf_info->globals.data[behind - 1];
    if (global->type >= typing->types->list.count ||
        in_file - global->address >= typer_type_of(typing, global->type)->size)
        return NULL;
    if (ret_offset)
        *ret_offset = in_file - global->address;
    return global;
}

const struct dwarf_local *typing_locals(const struct typing *typing,
                                        const struct heap_stack_frame *frame, uint32_t *ret_count)
{
    return scopes_locals(typing->scopes, match_call_pc(frame), ret_count);
}

/* Returns whether one of two variables that share their memory is more informative than the other:
 * a name from the program is better than ~r0, and a variable of the function better than one of an
 * inlined call. */
static bool is_clearer(const struct dwarf_local *one, const struct dwarf_local *other)
{
    if (one->is_made != other->is_made)
        return other->is_made;
    return one->function == UINT32_MAX && other->function != UINT32_MAX;
}

/* Returns the variable of a frame that contains a word, or NULL. A variable may consist of pieces,
 * at offsets from the canonical frame address (CFA), which is the caller's sp. Of several variables
 * there, the clearest is returned. */
const struct dwarf_local *typing_local_at(const struct typing *typing,
                                          const struct heap_stack_frame *frame, uint64_t offset,
                                          bool is_argument, uint64_t *ret_offset)
{
    uint32_t count;
    const struct dwarf_local *locals = typing_locals(typing, frame, &count);
    const uint64_t cfa = is_argument ? 0 : frame->contents.size;
    const struct dwarf_local *best = NULL;
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t j = 0; j < locals[i].piece_count; j++) {
            const struct dwarf_piece *piece =
                &typing->scopes->pieces.data[locals[i].first_piece + j];
            const uint64_t inside = offset - (cfa + (uint64_t)piece->cfa_offset);
            if (inside >= piece->size || locals[i].type >= typing->types->list.count ||
                (best && !is_clearer(&locals[i], best)))
                continue;
            *ret_offset = piece->offset + inside;
            best = &locals[i];
        }
    return best;
}

/* Finds the name of the innermost function that is inlined at a frame's program counter. Returns
 * false if none is, or if it has no name. */
bool typing_inlined_at(const struct typing *typing, const struct heap_stack_frame *frame,
                       struct g2h_bytes *ret)
{
    const uint32_t name = scopes_inlined(typing->scopes, match_call_pc(frame));
    if (name == UINT32_MAX)
        return false;
    *ret = types_text(typing->types, name);
    return ret->size > 0;
}

/* Returns whether a claim says less than that the object is a string. An array of bytes does not
 * show what the bytes mean; a string does. So does a string in a 16-byte block, which small values
 * share. */
bool typing_yields_to_text(const struct typing *typing, uint32_t object, uint32_t claim)
{
    return (claim & CLAIM_EXACT) == 0 || heap_object_size(typing->heap, object) == TINY_BLOCK ||
           ((claim & CLAIM_ARRAY) != 0 &&
            typer_type_of(typing, (claim & CLAIM_TYPE) - 1)->size == 1);
}

/* Returns the first of an object's parts that contains the word at offset, or NULL if none does. */
static const struct typed_part *queries_part_at(const struct typing *typing, uint32_t object,
                                                uint64_t offset)
{
    const struct shard *shard = &typing->shards[shard_number(object)];
    const struct typed_part *parts = shard->parts.data;
    const size_t first = map_get(&shard->first, object);
    const size_t count = shard->parts.count;
    size_t at;
    if (first == MAP_NONE)
        return NULL;
    /* The first part that reaches beyond offset begins at or before it if any part contains
     * it. */
    BISECT_FROM(at, first, count, parts[at].object == object && parts[at].reach <= offset);
    if (at == count || parts[at].object != object || parts[at].offset > offset)
        return NULL;
    return &parts[at];
}

/* Returns whether an object is a block shared by values smaller than it. */
static bool is_tiny(const struct typing *typing, uint32_t object)
{
    const struct slot_class *slot_class = heap_slot_class(typing->heap, object);
    return slot_class->size == TINY_BLOCK && !slot_class->has_pointers;
}

/* Returns what type an object has, and how sure that is. A claim is one word per object: its type
 * plus 1, and flags. 0 means that no type was found, but parts may have been. */
struct object_type typing_object(const struct typing *typing, uint32_t object)
{
    const uint32_t claim = typing->claims[object];
    const struct typed_part *part;
    if (typing_is_text(typing, object))
        return (struct object_type){OBJECT_TEXT, TYPE_NONE};
    if (claim == 0) {
        part = first_part(typing, object);
        return !part                     ? (struct object_type){OBJECT_UNTYPED, TYPE_NONE}
               : is_tiny(typing, object) ? (struct object_type){OBJECT_TINY, part->type}
                                         : (struct object_type){OBJECT_PART, part->type};
    }
    if ((claim & CLAIM_EXACT) == 0 && is_tiny(typing, object))
        return (struct object_type){OBJECT_TINY, (claim & CLAIM_TYPE) - 1};
    struct object_type result = {OBJECT_VALUE, (claim & CLAIM_TYPE) - 1};
    if ((claim & CLAIM_EXACT) == 0)
        result.form = OBJECT_PART;
    else if ((claim & CLAIM_ARRAY) != 0)
        result.form = OBJECT_ARRAY;
    return result;
}

/* Finds the typed value that contains a byte of an object. The claim on the object's start comes
 * first; a part counts only where the claim does not reach. Returns false if there is none. */
bool typing_locate(const struct typing *typing, uint32_t object, uint64_t offset,
                   struct typed_location *ret)
{
    const uint32_t claim = typing->claims[object];
    const uint64_t base = heap_object_base(typing->heap, object);
    if (claim != 0 && offset >= base) {
        *ret = (struct typed_location){.type = (claim & CLAIM_TYPE) - 1,
                                       .offset = offset - base,
                                       .is_array = (claim & CLAIM_ARRAY) != 0};
        const uint64_t size = typer_type_of(typing, ret->type)->size;
        if (ret->is_array && size > 0) {
            ret->element = ret->offset / size;
            ret->offset %= size;
            return true;
        }
        if (ret->offset < size)
            return true;
    }
    const struct typed_part *part = queries_part_at(typing, object, offset);
    if (!part)
        return false;
    const uint64_t size = typer_type_of(typing, part->type)->size;
    const uint64_t inside = offset - part->offset;
    *ret = (struct typed_location){.type = part->type,
                                   .offset = inside % size,
                                   .element = inside / size,
                                   .is_array = part->is_array,
                                   .part_offset = part->offset};
    return true;
}
