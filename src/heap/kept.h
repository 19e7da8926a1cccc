/*
 * kept: the objects that a process keeps for cleanups of runtime.AddCleanup. They are roots whose
 * descriptions have the address of the object that the cleanup is for (process/spans.c):
 * "cleanup of 0xc000012340".
 */
#ifndef HEAP_KEPT_H
#define HEAP_KEPT_H

#include "base/map.h"
#include "heap/heap.h"

/* Removes the address from such a description, and returns it; returns 0 for other descriptions. */
uint64_t kept_split(struct g2h_bytes *description);

/* Finds the boxes with the arguments of cleanups: the objects that the process keeps since Go 1.26
 * for the same cleanups as closures, the cleanups' callers. *ret_boxes maps a closure's object to
 * that of its box. Returns false if memory runs out. */
bool kept_boxes(const struct g2h_heap *heap, struct map *ret_boxes);

#endif
