/* Memory: arrays that grow, and the large arrays with an entry per object. */
#ifndef BASE_MEMORY_H
#define BASE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/*
 * An array that grows: VECTOR(struct frame) frames = {0}; then
 *     struct frame *slot;
 *     error = vector_append(&frames, &slot);
 * Entries are in .data[0 … .count). free(frames.data) frees it.
 */
#define VECTOR(type) \
    struct { \
        type *data; \
        size_t count, capacity; \
    }

/* Makes room for one more entry behind count; false where there is no memory. */
bool vector_grow(void **data, size_t *capacity, size_t count, size_t entry_size);

/* Appends an entry of value zero-initialised by the caller; true on success. */
#define vector_push(vector, value) \
    ((((vector)->count < (vector)->capacity) || \
      vector_grow((void **)&(vector)->data, &(vector)->capacity, (vector)->count, \
                  sizeof(*(vector)->data))) \
         ? ((vector)->data[(vector)->count++] = (value), true) \
         : false)

/* A copy of so many entries, from malloc(); NULL where there is no memory or there are none. */
void *memory_copy(const void *data, size_t count, size_t entry_size);

/*
 * A large zeroed array of count entries, on huge pages where the system gives them. NULL where
 * there is no memory or the size overflows. Freed by large_free() with the same numbers.
 */
void *large_alloc(size_t count, size_t entry_size);
void large_free(void *data, size_t count, size_t entry_size);

/* Gives what was freed in small pieces back to the system: worth it after much was. */
void memory_give_back(void);

#endif
