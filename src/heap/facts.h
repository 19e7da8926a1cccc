/* facts: the data after the EOF record of a dump made from outside the process; see
 * dump/dump_facts.h. */
#ifndef HEAP_FACTS_H
#define HEAP_FACTS_H

#include <stdbool.h>
#include <stdint.h>

#include <go2heapsnapshot/dump.h>
#include <go2heapsnapshot/heap.h>
#include <go2heapsnapshot/memory.h>

#include "base/error.h"
#include "base/ranges.h"

struct heap_ages;

/* An object whose type the runtime knows. */
struct fact_type {
    uint64_t address, type;
};

/* A part of the program's data that has no pointers. */
struct fact_data {
    uint64_t address;
    struct g2h_bytes bytes; /* of zeros: no data */
};

/* A span of small objects, some of whose pages were not resident. */
struct fact_absent {
    uint64_t address, bytes;
};

/* What a sample has; see g2h_heap_sample(). */
struct fact_sample {
    struct g2h_sample all; /* its lists are kinds and spans; every is 0: it is not a sample */
    VECTOR(struct g2h_sample_kind) kinds;
    VECTOR(struct g2h_sample_span) spans;
};

struct facts {
    bool are_there;         /* the dump was made of a process or core file */
    bool has_stack_objects; /* words that are in no list of a frame are dead */
    bool is_partial;        /* stacks, spans, objects or pointers of the process are missing, or
                               may be: an unknown fact hides those after it */
    bool is_damaged;        /* the last facts are missing, or one is damaged */
    bool is_cut;            /* memory of the process is missing */
    uint64_t missing_bytes, missing_objects, missing_spans; /* valid if is_cut */
    /* Of a process: what could not be read of that which holds objects. Objects and frames whose
     * pointers are not known are conservative: each of their words counts as a pointer. */
    uint64_t conservative_objects, conservative_frames, incomplete_stacks, unread_threads,
        unread_words;
    VECTOR(struct fact_type) types;
    VECTOR(struct fact_absent) absent; /* ascending by address */
    VECTOR(uint64_t) secrets;          /* addresses of objects whose contents were left out */
    struct ranges untouched; /* addresses of parts of objects that take no memory; once the heap is
                                loaded, each is a part of one object */
    VECTOR(struct fact_data) data; /* ascending by address */
    bool has_alloc_rate;
    uint64_t alloc_rate;      /* runtime.MemProfileRate; valid if has_alloc_rate */
    struct g2h_memory memory; /* of the process, without files and mappings; resident is 0 if it is
                                 not known */
    struct g2h_collector collector;
    bool has_ending;
    struct g2h_ending ending; /* valid if has_ending */
    struct heap_ages *ages;   /* NULL: they are not known */
    struct fact_sample sample;
};

/* Reads the facts at the beginning of size bytes, as far as they are valid. *ret_size is the number
 * of bytes that they take, or 0 if there are none. Error: G2H_ERROR_MEMORY. */
struct g2h_error *facts_read(const uint8_t *data, uint64_t size, struct facts *ret,
                             uint64_t *ret_size);

/* Finds the program's data without pointers at an address: the bytes up to the end of a part, or
 * some zeros. Returns false if there are none. */
bool facts_data_at(const struct facts *facts, uint64_t address, struct g2h_bytes *ret);

#endif
