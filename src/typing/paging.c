/* paging: tells the kernel, before typing reads the dump at random, whether all of it will be
 * needed, if there is memory for it, or only pages here and there; see paging.h. */
#include "typing/paging.h"

#include "input/input.h"
#include "process/attach/available.h"

/* Memory that a report takes for an object once the records have been read: docs/performance.md. */
enum { BYTES_OF_OBJECT = 72 };

/* Tells the system whether the dump will be read as a whole, for which memory must have room. Pages
 * that are in memory count as available, so those of the dump that still are there count as room
 * for it. */
void paging_prepare(const struct g2h_heap *heap)
{
    const struct g2h_input *input = heap->input;
    const uint64_t pages = input->size - ranges_bytes(input_holes(input), 0, input->size);
    const uint64_t later = heap->object_count * (uint64_t)BYTES_OF_OBJECT;
    const bool has_room = attach_available_has(pages + later);
    input_expect(input, has_room ? INPUT_ALL : INPUT_HERE_AND_THERE);
}
