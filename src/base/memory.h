/*
 * memory: arrays: sets of bits, sorted ones that are searched, those that grow, and the large ones
 * with an entry per object.
 */
#ifndef BASE_MEMORY_H
#define BASE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/error.h"

/* ==== sets of numbers as arrays of words, a bit for each number ==== */

/* Walks over all objects call these, and tests count the instructions of builds that do not
 * optimize. */
#define BITS_INLINE inline __attribute__((always_inline))

static BITS_INLINE bool bits_have(const uint64_t *bits, uint64_t number)
{
    return (bits[number / 64] >> (number % 64) & 1) != 0;
}

static BITS_INLINE void bits_add(uint64_t *bits, uint64_t number)
{
    bits[number / 64] |= UINT64_C(1) << (number % 64);
}

static BITS_INLINE void bits_remove(uint64_t *bits, uint64_t number)
{
    bits[number / 64] &= ~(UINT64_C(1) << (number % 64));
}

/* Returns the number of bits that are set in a word: adds up pairs, fours and bytes of bits in
 * parallel. */
static BITS_INLINE unsigned bits_of_word(uint64_t word)
{
    word -= word >> 1 & 0x5555555555555555;
    word = (word & 0x3333333333333333) + (word >> 2 & 0x3333333333333333);
    return (unsigned)(((word + (word >> 4)) & 0x0f0f0f0f0f0f0f0f) * 0x0101010101010101 >> 56);
}

/* Returns how many of the numbers [first, end) a set has. */
static inline uint64_t bits_count(const uint64_t *bits, uint64_t first, uint64_t end)
{
    uint64_t sum = 0;
    uint64_t mask = UINT64_MAX << (first % 64);
    if (first >= end)
        return 0;
    for (uint64_t word = first / 64; word < end / 64; word++, mask = UINT64_MAX)
        sum += bits_of_word(bits[word] & mask);
    if (end % 64 > 0)
        sum += bits_of_word(bits[end / 64] & mask & (UINT64_MAX >> (64 - end % 64)));
    return sum;
}

/* ==== binary search ==== */

/*
 * Sets at, a variable of an unsigned type, to the first index in [0, count) for which is_before, an
 * expression that uses at, is false, or to count if there is none. If is_before is false for an
 * index, it must be false for all larger ones, as in a sorted list.
 *
 *     size_t at;
 *     BISECT(at, areas->count, areas->data[at].address <= address);
 */
#define BISECT(at, count, is_before) BISECT_FROM(at, 0, count, is_before)

/* Does what BISECT() does, for indexes in [first, count). */
#define BISECT_FROM(at, first, count, is_before) \
    do { \
        __typeof__(at) bisect_from = (first), bisect_to = (count); \
        while (bisect_from < bisect_to) { \
            (at) = bisect_from + (bisect_to - bisect_from) / 2; \
            if (is_before) \
                bisect_from = (at) + 1; \
            else \
                bisect_to = (at); \
        } \
        (at) = bisect_from; \
    } while (0)

/* ==== arrays that grow, and the large arrays with an entry per object ==== */

/*
 * An array that grows:
 *
 *     VECTOR(struct frame) frames = {0};
 *     if (!vector_push(&frames, frame))
 *         return &error_no_memory;
 *
 *     VECTOR_EACH(const struct frame, frame, frames)
 *         depth += frame->depth;
 *
 * Entries are in .data[0 … .count). free(frames.data) frees it.
 */
#define VECTOR(type) \
    struct { \
        type *data; \
        size_t count, capacity; \
    }

/* A loop over the entries, by a pointer to each; .data may be NULL if there are none. The vector
 * must not grow meanwhile. */
#define VECTOR_EACH(type, entry, vector) \
    for (type *entry = (vector).data, \
              *entry##_end = (vector).count > 0 ? entry + (vector).count : entry; \
         entry != entry##_end; entry++)

/* Appends a copy of value. Returns false if memory runs out. */
#define vector_push(vector, value) \
    (vector_grow(vector, 1) && ((vector)->data[(vector)->count++] = (value), true))

/* Sorts the entries as array_sort() does. */
#define vector_sort(vector, compare) \
    array_sort((vector)->data, (vector)->count, sizeof(*(vector)->data), compare)

/* Makes space for this many more entries if there is not enough. Returns false, and changes
 * nothing, if memory runs out. With 0 more entries, .data may stay NULL. */
#define vector_grow(vector, more) \
    ((vector)->capacity - (vector)->count >= (more) || \
     ((vector)->data = array_grow((vector)->data, &(vector)->capacity, (vector)->count, more, \
                                  sizeof(*(vector)->data)), \
      (vector)->capacity - (vector)->count >= (more)))

/* Sorts entries that are not in order: by merging them, if they are a few lists in order one after
 * the other, as units list the functions of a program; else with qsort(). */
void array_sort_unordered(void *data, size_t count, size_t entry_size,
                          int (*compare)(const void *one, const void *other));

/* Sorts entries unless they are in order already, as many are. compare() must be an order: at most
 * one of two entries is greater than the other. */
static inline void array_sort(void *data, size_t count, size_t entry_size,
                              int (*compare)(const void *one, const void *other))
{
    const char *at = data;
    size_t ordered = 1;
    while (ordered < count && compare(at, at + entry_size) <= 0) {
        at += entry_size;
        ordered++;
    }
    if (ordered < count)
        array_sort_unordered(data, count, entry_size, compare);
}

/*
 * Makes space for more entries after the first count, and for at least count / 2, so that pushing
 * one entry at a time takes linear time. Returns the entries' new address. If memory runs out, it
 * returns data and leaves *capacity unchanged.
 */
void *array_grow(void *data, size_t *capacity, size_t count, size_t more, size_t entry_size);

/*
 * Like malloc() and calloc(), for arrays that grow with the heap: large ones are on huge pages, if
 * the system has them, so that few page faults serve much memory. Both return NULL if memory runs
 * out or the size overflows. free() frees the arrays.
 */
void *block_alloc(size_t count, size_t entry_size);

void *zeroed_alloc(size_t count, size_t entry_size);

/* Copies count entries to memory from malloc(). Returns NULL if memory runs out, or if count is
 * 0. */
void *memory_copy(const void *data, size_t count, size_t entry_size);

/* Returns a zeroed array of count entries. A large one has its own mapping on huge pages, which
 * large_free() returns to the system when given the same numbers. Returns NULL if memory runs out
 * or the size overflows. */
void *large_alloc(size_t count, size_t entry_size);

void large_free(void *data, size_t count, size_t entry_size);

/* Gives back the end of an array of size bytes, so that only the first kept bytes stay. Returns the
 * array, for which large_free() gets the new size. */
void *large_shrink(void *data, size_t size, size_t kept);

/* Returns a pointer by which an owner frees memory that others may only read. This is the only way
 * to cast const away. */
static inline void *not_const(const void *data)
{
    return (void *)(uintptr_t)data;
}

/* Prepares malloc(). A program calls it before it has other threads. Small blocks are then on huge
 * pages as well, in one address range for all threads, and large arrays go back to the system when
 * they are freed. */
void memory_prepare(void);

/* Makes memory for small blocks present, this many bytes in all, so that malloc() gets them without
 * the system's help later, if memory_prepare() has been called. Failure is ignored. */
void memory_touch(size_t size);

/* Returns freed small blocks to the system. This is slow, so it is only worth it after much was
 * freed. */
void memory_give_back(void);

#endif
