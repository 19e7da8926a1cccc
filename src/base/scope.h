/*
 * scope: leaves a function early without forgetting what must be freed.
 *
 * A function with several steps that can fail uses TRY(step) for each, and marks what it owns at
 * the declaration. Each return then frees what is owned, and no ladder of `if (!error)` is needed.
 * The marks are those of systemd and drgn:
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

/* Returns from the function with expression's error, if it has one. */
#define TRY(expression) \
    do { \
        struct g2h_error *try_error = (expression); \
        if (try_error) \
            return try_error; \
    } while (0)

/* Returns from the function with the error for "no memory" if good, a bool or a pointer, is false
 * or NULL. good is the result of a step that can fail only for lack of memory. */
#define TRY_MEMORY(good) \
    do { \
        if (!(good)) \
            return &error_no_memory; \
    } while (0)

/* Calls function with a pointer to the variable when the variable's scope ends. */
#define _cleanup_(function) __attribute__((cleanup(function)))

/* Defines name() for _cleanup_(name): passes what a variable points to to destroy(), which takes
 * NULL, too. */
#define CLEANUP_POINTER(name, type, destroy) \
    static inline void name(type **pointer) \
    { \
        destroy(*pointer); \
    } \
    _Static_assert(sizeof(type *) == sizeof(void *), "it ends in a semicolon")

/* Frees what the variable points to when the variable's scope ends. */
#define _cleanup_free_ _cleanup_(cleanup_free)

/* Frees the entries of a VECTOR, whose first member points to them. */
#define _cleanup_vector_ _cleanup_(cleanup_free)

/* pointer points to a variable of any pointer type, so the variable is copied, not dereferenced. */
static inline void cleanup_free(void *pointer)
{
    void *data;
    memcpy(&data, pointer, sizeof(data));
    free(data);
}

/* Returns the value of a pointer variable and sets the variable to NULL: the caller's scope no
 * longer frees it. */
#define take_pointer(pointer) take_pointer_of(&(pointer), (pointer))

static inline void *take_pointer_of(void *pointer, void *value)
{
    void *const none = NULL;
    memcpy(pointer, &none, sizeof(none));
    return value;
}

#endif
