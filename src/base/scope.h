/*
 * scope: leaving a function early without forgetting what has to be freed.
 *
 * A function with several steps that can fail says TRY(step) for each, and marks what it owns where
 * it is declared; so each return frees it, and no ladder of `if (!error)` is needed. The marks are
 * those of systemd and drgn:
 *
 *     _cleanup_free_ char *name = strdup(path);
 *     _cleanup_(map_deinit) struct map map = {0};
 *     TRY(read_names(&map));
 *     *ret = take_pointer(name);
 *     return NULL;
 */
#ifndef BASE_SCOPE_H
#define BASE_SCOPE_H

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

/* Returns from the function with the error that expression gives, if it gives one. */
#define TRY(expression) \
    do { \
        struct g2h_error *try_error = (expression); \
        if (try_error) \
            return try_error; \
    } while (0)

/* Returns from the function with the error for "no memory" unless what can only fail for want of it
 * was good: a bool, or a pointer. */
#define TRY_MEMORY(good) \
    do { \
        if (!(good)) \
            return &error_no_memory; \
    } while (0)

/* When the variable's scope ends, function is called with a pointer to the variable. */
#define _cleanup_(function) __attribute__((cleanup(function)))

/* When its scope ends, what the pointer points to then is freed. */
#define _cleanup_free_ _cleanup_(cleanup_free)

/* pointer is that of a variable of any type of pointer, so it is copied, not dereferenced. */
static inline void cleanup_free(void *pointer)
{
    void *data;
    memcpy(&data, pointer, sizeof(data));
    free(data);
}

/* Gives the value of a pointer, which is NULL from then on: somebody else frees it. */
#define take_pointer(pointer) take_pointer_of(&(pointer), (pointer))

static inline void *take_pointer_of(void *pointer, void *value)
{
    void *const none = NULL;
    memcpy(pointer, &none, sizeof(none));
    return value;
}

#endif
