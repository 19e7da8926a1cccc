/*
 * contract: what modules promise each other, and what programs were compiled with.
 */
#ifndef BASE_CONTRACT_H
#define BASE_CONTRACT_H

#include <assert.h>
#include <limits.h>
#include <stddef.h>
#include <stdint.h>
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

/* ==== numbers that stand in many expressions ====
 *
 * MIN, MAX and COMPARE may evaluate what they are given twice.
 */

/* The lesser and the greater of two numbers. */
#define MIN(one, other) ((one) < (other) ? (one) : (other))
#define MAX(one, other) ((one) > (other) ? (one) : (other))

/* What qsort() wants to know of two numbers: less than 0, 0 or more, as one is less than other,
 * equal, or greater. For the greater ones first, other comes first here. */
#define COMPARE(one, other) ((one) < (other) ? -1 : (one) > (other))

/* The number of an array's entries. */
#define COUNT_OF(array) (sizeof(array) / sizeof(*(array)))

/* ==== numbers whose value the narrower type has, too ====
 *
 * A cast may change a value; these say that it stays, and assert it. What input says is checked
 * before.
 */

/* Returns a difference or a result of the system that is not negative. */
static inline size_t as_size(int64_t number)
{
    assert(number >= 0 && (uint64_t)number <= SIZE_MAX);
    return (size_t)number;
}

/* Returns count + 1: the entries of a list that holds where each of count parts begins and then
 * where the last one ends, or of memory that has a byte even if there are none. */
static inline size_t count_and_end(uint64_t count)
{
    assert(count < SIZE_MAX);
    return (size_t)count + 1;
}

/* Returns a number of something of which there are fewer than 2^32, as objects and names. */
static inline uint32_t as_u32(uint64_t number)
{
    assert(number <= UINT32_MAX);
    return (uint32_t)number;
}

/* Returns a size as the width and the precision that printf() takes ("%.*s"); what is longer than
 * they can say is cut. */
static inline int as_width(uint64_t size)
{
    return size < INT_MAX ? (int)size : INT_MAX;
}

/* Returns what a number has grown by; less than 0: what it has shrunk by. */
static inline int64_t as_growth(uint64_t before, uint64_t now)
{
    assert(now < before ? before - now <= INT64_MAX : now - before <= INT64_MAX);
    return (int64_t)(now - before);
}

/* Returns part / whole, which is not 0. */
static inline double as_ratio(uint64_t part, uint64_t whole)
{
    return (double)part / (double)whole;
}

/* Returns a number of bytes in MB, or of other things in millions. */
static inline double in_millions(uint64_t number)
{
    return (double)number / 1e6;
}

/* Returns an address of another process, or a number, where a call of the system takes a pointer.
 */
static inline void *as_pointer(uint64_t address)
{
    assert(address <= UINTPTR_MAX);
    return (void *)(uintptr_t)address;
}

/* Returns one number for two, which map.h takes as a key. */
static inline uint64_t pair_key(uint32_t one, uint32_t other)
{
    return (uint64_t)one << 32 | other;
}

/* Returns which bit of a number is the lowest that is set. The number is not 0. */
static inline uint32_t lowest_bit(uint64_t number)
{
    assert(number != 0);
    return (uint32_t)__builtin_ctzll(number);
}

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
