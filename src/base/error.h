/*
 * error: makes errors, and leaves a function early without forgetting what must be freed. See
 * include/go2heapsnapshot/error.h for what callers see.
 *
 * Modules may use all of base/:
 *   error               errors that callers see, TRY, and guards that free what a scope owns
 *   contract            asserts of what modules promise each other, and options of callers that
 *                       know fewer of them
 *   memory              arrays that grow or are searched, and sets of bits
 *   map, strings, ranges
 *                       hash tables and sets of numbers, a pool of strings, files with holes
 *   bytes               bytes of the input with their bounds
 *   text                text that grows, its characters, what terminals and shells act upon
 *   redaction           hashes in place of texts
 *   workers             tasks on several threads
 *   process_root        files of other processes: where they are, and what may be read there
 *   releases            Go's releases, and the slots and spans of its heap
 *   elf_format          the format of executables and core files
 *   port                functions that not every system has, and the time
 *   limits              how much of a heap can be numbered
 */
#ifndef BASE_ERROR_H
#define BASE_ERROR_H

#include <stdlib.h>
#include <string.h>

#include <go2heapsnapshot/error.h>

/* ==== errors ==== */

/* The error for "no memory". It is static, so that it is available when memory has run out. */
extern struct g2h_error error_no_memory;

/* Makes an error whose message follows printf's rules. Returns &error_no_memory if memory runs
 * out. */
struct g2h_error *error_create(enum g2h_error_code code, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Makes an error for a failed system call: the message, ": " and strerror(error_number). */
struct g2h_error *error_system(int error_number, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* ==== leaves a function early without forgetting what must be freed ====
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
