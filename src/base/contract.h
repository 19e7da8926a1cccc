/*
 * contract: asserts of what modules promise each other: what a caller must keep, in which order a
 * list is, which fields are set when. All builds for tests have them, releases do not (NDEBUG).
 *
 * Input is not trusted, so no assert may depend on it: that is checked, and is an error. Some
 * asserts go over whole lists, in linear time.
 */
#ifndef BASE_CONTRACT_H
#define BASE_CONTRACT_H

#include <assert.h>
#include <stddef.h>

/* Marks a function or a variable that only asserts use. */
#define _asserted_ __attribute__((unused))

/* Returns whether all entries of a list, but the first, fulfil a condition about the entry with
 * index i and the one before it: assert(IS_ORDERED(i, count, list[i - 1] < list[i])). */
#define IS_ORDERED(i, count, condition) \
    __extension__({ \
        size_t i = 1; \
        while (i < (size_t)(count) && (condition)) \
            i++; \
        i >= (size_t)(count); \
    })

#endif
