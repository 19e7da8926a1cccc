/*
 * phantoms: how the end of a span looks in each release, so that the slots there that are no
 * objects can be left out; see phantoms.h. Follows runtime/mbitmap.go (heapBitsInSpan) and
 * runtime/mgcmark_greenteagc.go.
 */
#include "heap/phantoms.h"

#include <string.h>

#include "base/contract.h"

/* Returns what a program keeps at the end of its spans: nothing before Go 1.22; a bitmap of
 * pointers; since Go 1.26 also the marks of the collector Green Tea. Experiments in the version may
 * differ from the release's default. */
enum span_tail span_tail_of_version(const char *version, int go_minor)
{
    if (go_minor < 22 || strstr(version, "noallocheaders"))
        return TAIL_NONE;
    if (strstr(version, "nogreenteagc"))
        return TAIL_BITMAP;
    return go_minor >= 26 || strstr(version, "greenteagc") ? TAIL_GREEN_TEA : TAIL_BITMAP;
}

/* Returns where in a page the slots begin that are none, but metadata. Small slots with pointers
 * leave space for the heap bitmap at the end of their span, and Green Tea for its marks. */
uint32_t phantoms_begin(enum span_tail tail, uint64_t pointer_size, uint64_t size,
                        bool has_pointers)
{
    const uint64_t largest =
        pointer_size == 8 ? 512 : 128; /* larger slots have a malloc header instead */
    const uint32_t mark_bits = 128;
    uint32_t reserve = 0;
    if (tail == TAIL_NONE || size == 0 || size > largest)
        return SPAN_PAGE;
    if (has_pointers)
        reserve += (uint32_t)(SPAN_PAGE / pointer_size / 8);
    if (tail == TAIL_GREEN_TEA && size >= 16)
        reserve += mark_bits;
    return reserve == 0 ? SPAN_PAGE : (uint32_t)((SPAN_PAGE - reserve) / size * size);
}
