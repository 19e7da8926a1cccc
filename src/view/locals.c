/*
 * locals: the variables of frames; see include/go2heapsnapshot/values.h.
 *
 * DWARF says where a variable is at the frame's program counter. The words of a variable that is
 * dead may have been reused since; the frame's field list says which pointers are alive.
 */
#include "base/bytes.h"
#include "heap/pointers.h"
#include "view/locations.h"
#include "view/view.h"

/* Returns the dump's frame by the number of the view's. */
static struct heap_stack_frame frame_of(const struct g2h_view *view, size_t number)
{
    return heap_frame(view->graph->heap, view->graph->roots.frames.data[number].frame);
}

/* Returns whether a word of a frame is in its field list. */
static bool locals_is_listed(const struct heap_stack_frame *frame, uint64_t offset)
{
    struct g2h_fields fields = frame->fields;
    struct g2h_field field;
    while (g2h_fields_next(&fields, &field))
        if (field.offset == offset)
            return true;
    return false;
}

/* Returns how many bytes of a variable, from its first one on, are contiguous in memory. */
static uint64_t bytes_together(const struct typing *typing, const struct dwarf_local *local)
{
    const struct dwarf_piece *pieces = &typing->scopes->pieces.data[local->first_piece];
    uint64_t done = 0;
    for (uint32_t i = 0; i < local->piece_count; i++) {
        if (pieces[i].offset != done ||
            (uint64_t)pieces[i].cfa_offset != (uint64_t)pieces[0].cfa_offset + done)
            break;
        done += pieces[i].size;
    }
    return done;
}

/* Locates the memory of a variable. Offsets count from the CFA, where the frame ends and its
 * caller's begins: below 0 the variable is in the frame, else in the caller's. caller: SIZE_MAX if
 * there is none. Returns false if not all bytes of the variable are there, one after the other. It
 * is doubtful if its first pointer is not in the frame's field list: then it may be dead. */
static bool locals_locate(const struct g2h_view *view, const struct dwarf_local *local,
                          size_t number, size_t caller, struct g2h_local *ret)
{
    const struct typing *typing = view->graph->typing;
    struct heap_stack_frame frame = frame_of(view, number);
    if (local->type >= typing->types->list.count || local->piece_count == 0)
        return false;
    const int64_t offset = typing->scopes->pieces.data[local->first_piece].cfa_offset;
    const uint64_t size = types_size(typing->types, local->type);
    uint64_t at = frame.contents.size + (uint64_t)offset;
    if (offset >= 0 && caller == SIZE_MAX)
        return false;
    if (offset >= 0) {
        at = (uint64_t)offset;
        frame = frame_of(view, caller);
    }
    if (bytes_together(typing, local) < size || frame.contents.size < size ||
        at > frame.contents.size - size)
        return false;
    ret->location = (struct g2h_location){.type = local->type,
                                          .address = frame.sp + at,
                                          .bytes = bytes_at(frame.contents.data + at, size),
                                          .object = UINT32_MAX};
    const struct pointer_map *map = pointer_map_of(&typing->pointer_maps, local->type);
    ret->is_doubtful = map && map->word_count > 0 && !locals_is_listed(&frame, at + map->words[0]);
    return true;
}

/* Returns a string of the executable's types; an empty one for UINT32_MAX. */
static const char *locals_text_of(const struct g2h_view *view, uint32_t string, size_t *ret_size)
{
    *ret_size = 0;
    return string == UINT32_MAX
               ? ""
               : string_pool_text(&view->graph->typing->types->names, string, ret_size);
}

/* Gets a variable of a frame, by its index. The name and the function are set even if the memory of
 * the variable is not in the dump. Returns false if there is no such variable, or nothing has
 * types. */
bool g2h_view_local(const struct g2h_view *view, size_t frame, size_t caller, uint32_t index,
                    struct g2h_local *ret)
{
    const struct typing *typing = view->graph->typing;
    uint32_t count = 0;
    if (!typing)
        return false;
    const struct heap_stack_frame of = frame_of(view, frame);
    const struct dwarf_local *local = typing_locals(typing, &of, &count);
    if (index >= count)
        return false;
    local += index;
    *ret = (struct g2h_local){.is_parameter = local->is_parameter, .is_made = local->is_made};
    ret->name = locals_text_of(view, local->name, &ret->name_size);
    ret->function = locals_text_of(view, local->function, &ret->function_size);
    ret->is_there = locals_locate(view, local, frame, caller, ret);
    return true;
}

/* ---- maps in frames ---- */

/* Gets the map that a word of a frame belongs to. Returns false if there is none. */
static bool map_around(const struct g2h_view *view, const struct heap_stack_frame *frame,
                       uint64_t offset, struct g2h_location *ret)
{
    uint64_t start;
    const uint32_t type = typing_value_in_frame(view->graph->typing, frame, offset, &start);
    if (type == TYPE_NONE)
        return false;
    *ret = (struct g2h_location){.type = type,
                                 .address = frame->sp + start,
                                 .bytes = bytes_at(frame->contents.data + start,
                                                   types_size(view->graph->typing->types, type)),
                                 .object = UINT32_MAX};
    return g2h_location_is_map(view, ret);
}

/* Finds the map in a frame of which a word points to the object, such as to its buckets. Returns
 * false if there is none, or types are not known. Frames are in the order of their nodes. */
bool g2h_location_of_map_in_frame(const struct g2h_view *view, uint32_t node, uint32_t object,
                                  struct g2h_location *ret)
{
    const struct g2h_graph *graph = view->graph;
    const struct root_frame *frames = graph->roots.frames.data;
    const size_t count = graph->roots.frames.count;
    struct pointers pointers;
    uint64_t offset, value;
    size_t at;
    BISECT(at, count, frames[at].node < node);
    if (!graph->typing || object == UINT32_MAX || at == count || frames[at].node != node)
        return false;
    const struct heap_stack_frame frame = frame_of(view, at);
    pointers_of_words(graph->heap, frame.contents, &pointers);
    while (pointers_next(&pointers, &offset, &value))
        if (heap_find(graph->heap, value) == object && map_around(view, &frame, offset, ret))
            return true;
    return false;
}
