/* Memory: arrays that grow, and the large arrays with an entry per object. */
#ifndef BASE_MEMORY_H
#define BASE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/error.h"

/*
 * An array that grows: VECTOR(struct frame) frames = {0}; then
 *     if (!vector_push(&frames, frame))
 *         return &error_no_memory;
 * Entries are in .data[0 … .count). free(frames.data) frees it.
 */
#define VECTOR(type) \
    struct { \
        type *data; \
        size_t count, capacity; \
    }

/* Appends a copy of value; false where there is no memory. */
#define vector_push(vector, value) \
    ((vector)->count < (vector)->capacity || vector_grow(vector, 1) \
         ? ((vector)->data[(vector)->count++] = (value), true) \
         : false)

/* Sorts the entries, as qsort() does; that must not be given the NULL of an empty vector. */
#define vector_sort(vector, compare) \
    ((vector)->count > 0 \
         ? qsort((vector)->data, (vector)->count, sizeof(*(vector)->data), compare) \
         : (void)0)

/* Makes room for so many entries more; false, with all as it was, where there is no memory. */
#define vector_grow(vector, more) \
    ((vector)->data = array_grow((vector)->data, &(vector)->capacity, (vector)->count, more, \
                                 sizeof(*(vector)->data)), \
     (vector)->capacity - (vector)->count >= (more))

/*
 * Makes room for more entries behind count of them, and for half as many as there are or more, so
 * that pushing one after the other takes linear time. Gives where the entries are then; without
 * memory, data, and *capacity stays.
 */
void *array_grow(void *data, size_t *capacity, size_t count, size_t more, size_t entry_size);

/*
 * As malloc() and calloc(), for arrays that grow with the heap: where they are large they are on
 * huge pages, if the system gives them, which takes few faults for much memory. NULL where there is
 * no memory or the size overflows. free() frees them.
 */
void *block_alloc(size_t count, size_t entry_size);
void *zeroed_alloc(size_t count, size_t entry_size);

/* Copies so many entries to memory of malloc(); NULL where there is no memory, or no entry. */
void *memory_copy(const void *data, size_t count, size_t entry_size);

/* A zeroed array of count entries. A large one has a mapping of its own, on huge pages, that goes
 * back to the system when it is freed: by large_free() with the same numbers. NULL where there is
 * no memory or the size overflows. */
void *large_alloc(size_t count, size_t entry_size);
void large_free(void *data, size_t count, size_t entry_size);

/* The pointer with which an owner frees what all others may only read. This is the one way to cast
 * const away. */
static inline void *not_const(const void *data)
{
    return (void *)(uintptr_t)data;
}

/* For a program to call before it has other threads: what is allocated in small pieces is on huge
 * pages as well, of one range of addresses for all threads; large arrays go back to the system when
 * they are freed. */
void memory_prepare(void);

/* Gives memory that was freed in small pieces back to the system. It takes a while, so it is worth
 * it only after much was freed. */
void memory_give_back(void);

#endif
