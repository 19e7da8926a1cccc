/*
 * strings: a string pool that keeps each string once and numbers strings in the order of their
 * first use.
 *
 * The snapshot's strings table is such a pool: DevTools groups nodes by the number of their name,
 * so no string may have two numbers.
 */
#ifndef BASE_STRINGS_H
#define BASE_STRINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct string_pool {
    char *text; /* all strings, concatenated */
    size_t text_size, text_capacity;
    size_t *ends; /* where each string ends */
    size_t ends_capacity;
    uint32_t count;
    uint32_t *slots; /* a hash table of numbers; UINT32_MAX if free */
    size_t mask;
};

/* Looks up a string's number, and adds the string if it is new. The string may be part of a string
 * in the pool, and may be NULL if it has no bytes. All strings of the pool may move. Returns false
 * if memory runs out. */
bool string_pool_intern(struct string_pool *pool, const void *text, size_t size, uint32_t *ret);

/* Looks up a string's number. Returns false if it is not in the pool. */
bool string_pool_find(const struct string_pool *pool, const void *text, size_t size, uint32_t *ret);

/* Returns the string with a number, which must be less than pool->count. It is not
 * NUL-terminated. */
const char *string_pool_text(const struct string_pool *pool, uint32_t number, size_t *ret_size);

void string_pool_deinit(struct string_pool *pool);

/* Makes pool a copy of other. Returns false if memory runs out; pool is then empty. */
bool string_pool_copy(struct string_pool *pool, const struct string_pool *other);

#endif
