/* memory: arrays that grow, and the large arrays with an entry per object. */
#ifndef BASE_MEMORY_H
#define BASE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/error.h"

/*
 * An array that grows:
 *
 *     VECTOR(struct frame) frames = {0};
 *     if (!vector_push(&frames, frame))
 *         return &error_no_memory;
 *
 * Entries are in .data[0 … .count). free(frames.data) frees it.
 */
#define VECTOR(type) \
    struct { \
        type *data; \
        size_t count, capacity; \
    }

/* Appends a copy of value. Returns false if memory runs out. */
#define vector_push(vector, value) \
    (vector_grow(vector, 1) && ((vector)->data[(vector)->count++] = (value), true))

/* Sorts the entries with qsort(), which does not allow the NULL of an empty vector. */
#define vector_sort(vector, compare) \
    array_sort((vector)->data, (vector)->count, sizeof(*(vector)->data), compare)

/* Makes space for this many more entries if there is not enough. Returns false, and changes
 * nothing, if memory runs out. With 0 more entries, .data may stay NULL. */
#define vector_grow(vector, more) \
    ((vector)->capacity - (vector)->count >= (more) || \
     ((vector)->data = array_grow((vector)->data, &(vector)->capacity, (vector)->count, more, \
                                  sizeof(*(vector)->data)), \
      (vector)->capacity - (vector)->count >= (more)))

static inline void array_sort(void *data, size_t count, size_t entry_size,
                              int (*compare)(const void *one, const void *other))
{
    if (count > 0)
        qsort(data, count, entry_size, compare);
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
