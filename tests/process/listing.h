/*
 * listing: all records of a dump, which can be read again in any order, without phantoms, which
 * WriteHeapDump takes for objects.
 */
#ifndef PROCESS_TESTS_LISTING_H
#define PROCESS_TESTS_LISTING_H

#include "base/memory.h"
#include "dump/reader.h"

struct listing {
    struct g2h_reader *reader;
    const uint8_t *data;     /* the input's */
    VECTOR(uint64_t) places; /* where each record begins */
    VECTOR(uint64_t) keys;   /* what a record is about: an object's address, … */
    VECTOR(uint8_t) kinds;
    VECTOR(uint32_t) of_kind[G2H_RECORD_KINDS]; /* the numbers of the records of each kind */
    struct g2h_params params;
    struct g2h_memstats memstats;
    uint64_t phantoms; /* how many were left out */
    VECTOR(uint32_t)
    doubtful;              /* ascending numbers of objects that may be phantoms: no other object
                              of the span shows whether it has pointers */
    uint64_t object_bytes; /* including the doubtful ones */
};

/* Lists the records of a dump. Errors are those of the reader. Records that were read before an
 * error stay in ret. */
struct g2h_error *listing_load(const struct g2h_input *input, struct listing *ret);
void listing_deinit(struct listing *listing);

/* Returns a record, which is read again. */
struct g2h_record listing_record(const struct listing *listing, uint32_t number);

/* Returns the address of the goroutine of a stack frame. */
uint64_t listing_goroutine(const struct listing *listing, uint32_t number);

/* Returns the bytes of a record. */
struct g2h_bytes listing_bytes(const struct listing *listing, uint32_t number);

#endif
