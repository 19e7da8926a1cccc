/* heap_ages: since which collection each object lives, by the fact FACT_AGES (dump/dump_facts.h).
 */
#ifndef HEAP_HEAP_AGES_H
#define HEAP_HEAP_AGES_H

#include <go2heapsnapshot/heap.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "dump/dump_facts.h"

/* How many objects of a class of spans had ended at a look. */
struct heap_ended {
    uint8_t look, class;
    uint64_t count, first; /* first: of those that the first look found */
};

/* The ages of a dump. */
struct heap_ages {
    struct g2h_ages_known known;
    struct g2h_age_look looks[FACT_AGES_MOST_LOOKS + 1];
    VECTOR(struct heap_ended) ended;
    struct cursor spans; /* in the dump */
    uint8_t *of;         /* an age, and a class of spans, for each object */
};

/* Reads the fact from its first number on. Returns false if it is cut or invalid: then *ret has the
 * spans before that, or stays NULL, as it does if memory runs out. */
bool heap_ages_read(struct cursor *cursor, struct heap_ages **ret);
void heap_ages_destroy(struct heap_ages *ages);

/* Finds the age of each object of a heap whose objects have been sorted. Error: G2H_ERROR_MEMORY.
 */
struct g2h_error *heap_ages_find(struct g2h_heap *heap);

#endif
