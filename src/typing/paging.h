/*
 * paging: prepares for reading the dump here and there.
 *
 * The dump is a mapped file. While its records were read and sorted, the system may have dropped
 * its pages for other memory. From typing on they are needed out of order: types are followed, and
 * strings and keys are read, wherever pointers lead.
 */
#ifndef TYPING_PAGING_H
#define TYPING_PAGING_H

#include "heap/heap.h"

/* Reads the dump back in large pieces, if memory has room for all of it beside what is still to be
 * allocated. Otherwise has it read page by page, because pages around those that are needed would
 * displace others that are. Can be called again: pages may be dropped again. */
void paging_prepare(const struct g2h_heap *heap);

#endif
