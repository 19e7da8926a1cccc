/*
 * contract: what modules promise each other, and what programs were compiled with.
 */
#ifndef BASE_CONTRACT_H
#define BASE_CONTRACT_H

#include <assert.h>
#include <stddef.h>
#include <string.h>

/* ==== asserts of what modules promise each other ====
 *
 * All builds for tests have them, releases do not (NDEBUG).
 *
 * Input is not trusted, so no assert may depend on it: that is checked, and is an error. Some
 * asserts go over whole lists, in linear time.
 */

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

/* ==== structs of options that begin with their size ==== */

/* Copies as many bytes of given as its size member covers; the rest becomes 0. given may be NULL.
 * Both begin with a size_t. Returns ret. */
static inline void *options_copy(void *ret, size_t size, const void *given)
{
    size_t known = 0;
    memset(ret, 0, size);
    if (given)
        memcpy(&known, given, sizeof(known));
    if (known > 0)
        memcpy(ret, given, known < size ? known : size);
    return ret;
}

/* Copies *given into *ret, which is of the library's own type. */
#define OPTIONS_COPY(ret, given) options_copy(ret, sizeof(*(ret)), given)

#endif
