/* facts: what a dump that was made from outside says behind its EOF record; see dump/facts.h. */
#ifndef HEAP_FACTS_H
#define HEAP_FACTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/memory.h"

/* An object, of which the runtime knows the type. */
struct fact_type {
    uint64_t address, type;
};

struct facts {
    bool has_stack_objects; /* words that are in no list of a frame are not alive */
    VECTOR(struct fact_type) types;
};

/*
 * Reads the facts at the begin of so many bytes, as far as they make sense. *ret_size is how many
 * bytes they take: 0 where there are none. Errors: G2H_ERROR_MEMORY.
 */
struct g2h_error *facts_read(const uint8_t *data, uint64_t size, struct facts *ret,
                             uint64_t *ret_size);

#endif
