/*
 * typing_memory: reads memory of the process by address, wherever its bytes are: in an object of
 * the dump, or, for read-only data, in the executable's file, whose addresses differ from the
 * process's by the slide.
 */
#include "typing/typing.h"

/* Returns the bytes at an address, or NULL. The dump has the objects as they were, so it comes
 * first; read-only data is only in the executable's file, at addresses without the slide (ASLR). */
const uint8_t *typing_memory(const struct typing *typing, uint64_t address, uint64_t size,
                             uint32_t hint)
{
    const struct g2h_heap *heap = typing->heap;
    uint32_t found = hint;
    struct g2h_object object;
    if (found == UINT32_MAX || address - heap_address(heap, found) >= heap_object_size(heap, found))
        found = heap_find(heap, address);
    if (found == UINT32_MAX)
        return typing->exe
                   ? image_at(exe_image(typing->exe), address - exe_slide(typing->exe), size)
                   : NULL;
    heap_object(heap, found, &object);
    const uint64_t offset = address - heap_address(heap, found);
    return offset <= object.contents.size && size <= object.contents.size - offset
               ? object.contents.data + offset
               : NULL;
}

/* Returns the word at an address, or 0. A nonzero word of the file is taken for an address, and
 * gets the slide added, as the dynamic linker did in the process. */
uint64_t typing_word(const struct typing *typing, uint64_t address)
{
    const struct g2h_heap *heap = typing->heap;
    const uint32_t object = heap_find(heap, address);
    const uint8_t *at = typing_memory(typing, address, heap->params.pointer_size, object);
    const uint64_t value = at ? heap_word(heap, at) : 0;
    return object != UINT32_MAX || value == 0 ? value : value + exe_slide(typing->exe);
}
