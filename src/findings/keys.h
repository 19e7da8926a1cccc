/*
 * keys: which keys of maps hold most of a suspect's memory.
 *
 * A document that was read from JSON or YAML consists of nested maps: their classes say nothing,
 * but their keys do.
 *
 * entries: the first entries of a map in the order of their keys.
 *
 * distribution: how the values of each field are spread over all objects of a class, in one pass.
 *
 * The data kept per field are bounded: 1,000 different values, and a sample of numbers for the
 * median. Classes with more objects have a median of the sample, and a lower bound for the number
 * of values.
 */
#ifndef FINDINGS_KEYS_H
#define FINDINGS_KEYS_H

#include <go2heapsnapshot/values.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/strings.h"
#include "findings/findings.h"

/* ---- keys ---- */

enum { KEYS_MOST = 4 };

/* The keys, each as the names of fields and keys from the suspect's objects on: ["items"][].name.
 */
struct held_keys {
    struct {
        struct text path;
        uint64_t retained;
    } list[KEYS_MOST]; /* the one that retains most comes first */
    size_t count;
    uint64_t retained; /* by the objects of the suspect */
};

/* Finds the keys below the objects of a node of merged that hold a tenth or more of the memory that
 * these retain; none if no key holds a quarter of it. A key is left out if one of its own keys has
 * nearly all of it. Errors: G2H_ERROR_MEMORY. */
struct g2h_error *keys_find(const struct findings *findings, uint32_t node, struct held_keys *ret);

void held_keys_deinit(struct held_keys *keys);

/* ---- entries ---- */

enum { ENTRIES_FIRST = 20 };

struct entries {
    uint64_t count; /* of all entries that the dump has */
    size_t shown;
    struct g2h_entry first[ENTRIES_FIRST];
};

/* Finds the entries of a map: the ones that come first by numbers or by the bytes of strings; if
 * keys are neither, those that are first in memory. */
struct g2h_error *entries_find(const struct g2h_view *view, const struct g2h_location *map,
                               struct entries *ret);

/* ---- distribution ---- */

enum {
    DISTRIBUTION_DISTINCT = 1000, /* different values that are counted */
    DISTRIBUTION_SAMPLE = 4096,   /* size of the sample for the median */
    DISTRIBUTION_HELD = 2000,  /* objects that are counted if the heap is held (class_rows.h), where
                                  an  answer must be quick: those that retain most */
    DISTRIBUTION_FIELDS = 256, /* fields of a class; further ones are left out */
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
