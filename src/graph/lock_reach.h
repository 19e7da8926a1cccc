/*
 * lock_reach: how far the value extends that a pointer leads to, as far as types show it. leaked.c
 * needs this for locks: whether a pointer reaches the lock on which a goroutine waits.
 *
 * Values without pointers of less than 16 bytes share slots of 16 bytes: a sync.Mutex of 8 bytes
 * and a []byte of 8, say. A pointer to one of them keeps the slot, but does not lead to the other
 * one. Go's types say what it leads to: a value of the pointer's type, the elements of a slice up
 * to its capacity, the bytes of a string. (Code that computes addresses with package unsafe might
 * go further; no code does that with a slot of 16 bytes.)
 */
#ifndef GRAPH_LOCK_REACH_H
#define GRAPH_LOCK_REACH_H

#include "graph/graph.h"

#define REACH_UNKNOWN UINT64_MAX

/* Returns the bytes that the pointer at an offset of an object leads to, from its address on, or
 * REACH_UNKNOWN. */
uint64_t reach_from_object(const struct g2h_graph *graph, uint32_t object, uint64_t offset);

/* Does the same for the pointer at an offset of a segment. */
uint64_t reach_from_segment(const struct g2h_graph *graph, const struct g2h_segment *segment,
                            uint64_t offset);

#endif
