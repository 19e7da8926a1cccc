/* facts: what a dump made from outside the process says behind its EOF record; see dump/facts.h. */
#ifndef HEAP_FACTS_H
#define HEAP_FACTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/ranges.h"

/* An object whose type the runtime knows. */
struct fact_type {
    uint64_t address, type;
};

struct facts {
    bool has_stack_objects; /* words that no list of a frame contains are dead */
    VECTOR(struct fact_type) types;
    struct ranges untouched; /* addresses of parts of objects that take no memory; once the heap is
                                loaded, each is a part of one object */
};

/* Reads the facts at the beginning of size bytes, as far as they make sense. *ret_size is the
 * number of bytes that they take, or 0 if there are none. Error: G2H_ERROR_MEMORY. */
struct g2h_error *facts_read(const uint8_t *data, uint64_t size, struct facts *ret,
                             uint64_t *ret_size);

#endif
