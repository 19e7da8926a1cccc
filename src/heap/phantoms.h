/*
 * phantoms: records that look like objects but are not, in dumps of Go 1.22 and later.
 *
 * Since 1.22 the end of a span of small objects holds the bitmap of its pointers, and since 1.26
 * also the mark bits of the Green Tea collector. WriteHeapDump ignores them when it computes the
 * number of slots, and writes the slots that overlap them as objects. Such slots are recognized by
 * their offset in the page; see docs/dump-formats.md, "Phantom objects".
 */
#ifndef HEAP_PHANTOMS_H
#define HEAP_PHANTOMS_H

#include <stdbool.h>
#include <stdint.h>

enum { SPAN_PAGE = 8192, SLOTS_PER_PAGE = SPAN_PAGE / 8 };

/* What the end of a span of small objects may hold. */
enum span_tail {
    TAIL_NONE,      /* to 1.21, and 1.22 with GOEXPERIMENT=noallocheaders */
    TAIL_BITMAP,    /* the pointer bitmap */
    TAIL_GREEN_TEA, /* the pointer bitmap and Green Tea's mark bits */
    TAIL_KINDS
};

/* Returns what the end of a span holds, given the version that a dump's params name ("go1.26.1",
 * "go1.25.3 X:greenteagc", …) and the N of go1.N in it. */
enum span_tail span_tail_of_version(const char *version, int go_minor);

/* Returns the offset in a page from which its slots, of size bytes each, are phantoms, or SPAN_PAGE
 * if there are none. has_pointers: some slot of the page has a field. */
uint32_t phantoms_begin(enum span_tail tail, uint64_t pointer_size, uint64_t size,
                        bool has_pointers);

#endif
