/*
 * distribution: how the values of each field are spread over all objects of a class, in one pass.
 *
 * The data kept per field are bounded: 1,000 different values, and a sample of numbers for the
 * median. Classes with more objects have a median of the sample, and a lower bound for the number
 * of values.
 */
#ifndef FINDINGS_DISTRIBUTION_H
#define FINDINGS_DISTRIBUTION_H

#include <go2heapsnapshot/values.h>

#include "base/memory.h"
#include "base/strings.h"
#include "findings/findings.h"

enum {
    DISTRIBUTION_DISTINCT = 1000, /* different values that are counted */
    DISTRIBUTION_SAMPLE = 4096,   /* size of the sample for the median */
    DISTRIBUTION_HELD = 2000,     /* objects that are counted if the heap is held (held.h), where an
                                      answer must be quick: those that retain most */
    DISTRIBUTION_FIELDS = 256,    /* fields of a class; further ones are left out */
};

/* Different values, and how often each occurs. */
struct tally {
    struct string_pool texts;
    VECTOR(uint64_t) counts; /* by index of the string */
    uint64_t others;         /* values beyond the first DISTRIBUTION_DISTINCT different ones */
};

/* A number that occurs, and its place in the order of numbers. */
struct sample {
    uint64_t order;
    const uint8_t *data; /* of the value; NULL of a length, which is order */
};

struct distribution_numbers {
    uint64_t count;
    struct sample least, most;
    VECTOR(struct sample) sample;
    struct tally tally;
};

struct field_distribution {
    uint32_t path, type;    /* strings of names */
    struct g2h_value value; /* of the first object, without its path */
    bool is_function;
    uint64_t count, nils;
    uint64_t trues;                      /* of bools */
    struct distribution_numbers numbers; /* of numbers and times */
    struct distribution_numbers lengths, capacities;
    struct tally texts; /* of strings and functions; of interfaces, the dynamic types */
};

struct distribution {
    struct string_pool names;
    uint64_t objects;  /* whose fields are counted */
    uint64_t left_out; /* more objects of the class, which are not counted */
    uint64_t others;   /* whose type is another one, or not known as a whole */
    VECTOR(struct field_distribution) fields;
    bool is_cut; /* there are more fields */
};

/* Visits all objects of a class, garbage too. name is that of the class in the view. Arrays are not
 * counted. */
struct g2h_error *distribution_find(const struct findings *findings, uint32_t name,
                                    struct distribution *ret);
void distribution_deinit(struct distribution *distribution);

/* Sorts the sample and returns its median: the lower one of two. There must be a number. */
const struct sample *numbers_median(struct distribution_numbers *numbers);

/* Returns the indices of the most frequent strings, at most five, and how many there are. */
enum { TALLY_TOP = 5 };
size_t tally_top(const struct tally *tally, uint32_t ret[TALLY_TOP]);

#endif
