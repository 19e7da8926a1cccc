/*
 * slice_words: the slices among the words outside of the heap that the collector follows.
 */
#ifndef GRAPH_SLICE_WORDS_H
#define GRAPH_SLICE_WORDS_H

#include "graph/graph.h"

/* A slice, as its three words say, and the size of its elements. */
struct slice {
    uint64_t address, length, capacity;
    uint64_t size;
};

/* Gets a slice, and the array that its pointer hits. Returns false to stop. */
typedef bool (*slice_word_visit)(void *context, uint32_t array, const struct slice *slice);

/* Visits the slices in data, bss and frames whose three words are known and that lead to objects
 * which are arrays, in the order of the dump. Returns false if visit stopped. */
bool slice_words_visit(const struct g2h_graph *graph, slice_word_visit visit, void *context);

#endif
