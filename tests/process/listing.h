/*
 * listing: all records of a dump, to be read again in any order, without what WriteHeapDump takes
 * for objects and is none.
 */
#ifndef PROCESS_TESTS_LISTING_H
#define PROCESS_TESTS_LISTING_H

#include "base/memory.h"
#include "dump/reader.h"

struct listing {
    struct g2h_reader *reader;
    const uint8_t *data;     /* the input's */
    VECTOR(uint64_t) places; /* where each record begins, and the last one ends */
    VECTOR(uint64_t) keys;   /* what a record is about: of an object its address, … */
    VECTOR(uint8_t) kinds;
    VECTOR(uint32_t) of_kind[G2H_RECORD_KINDS]; /* the records of each kind, by their numbers */
    struct g2h_params params;
    struct g2h_memstats memstats;
    uint64_t phantoms; /* that are left out */
    VECTOR(uint32_t)
    doubtful;              /* ascending: objects that may be phantoms, for no other object of
                              the span says whether it has pointers */
    uint64_t object_bytes; /* with doubtful ones */
};

/* Errors are those of the reader. What was read before stays there. */
struct g2h_error *listing_load(const struct g2h_input *input, struct listing *ret);
void listing_deinit(struct listing *listing);

/* Reads a record again. */
struct g2h_record listing_record(const struct listing *listing, uint32_t number);

/* The goroutine of a stack frame. */
uint64_t listing_goroutine(const struct listing *listing, uint32_t number);

/* The bytes of a record. */
struct g2h_bytes listing_bytes(const struct listing *listing, uint32_t number);

#endif
