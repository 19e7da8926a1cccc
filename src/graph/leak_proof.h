/*
 * leak_proof: whether a heap is known so completely that it proves which goroutines are leaked.
 *
 * "Nothing that runs reaches what it waits on" is true only of a heap of which nothing is missing.
 * So each way in which a reader may lose an object, a root or a pointer, or may not know it, counts
 * here, and nowhere else.
 */
#ifndef GRAPH_LEAK_PROOF_H
#define GRAPH_LEAK_PROOF_H

#include <go2heapsnapshot/graph.h>

#include "exe/exe.h"
#include "heap/heap.h"

/* Decides whether the heap proves leaks. exe is its executable, or NULL. *ret_reason says in plain
 * words why it does not, as the end of a sentence; NULL: it does. */
enum g2h_leak_proof leak_proof_of(const struct g2h_heap *heap, const struct g2h_exe *exe,
                                  const char **ret_reason);

#endif
