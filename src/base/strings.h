/*
 * strings: a pool that keeps each text once and numbers texts in the order of their first use.
 *
 * The snapshot's strings table is such a pool: DevTools groups nodes by the number of their name,
 * so no text may have two numbers.
 */
#ifndef BASE_STRINGS_H
#define BASE_STRINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct string_pool {
    char *text; /* all texts, one after the other */
    size_t text_size, text_capacity;
    size_t *ends; /* where each text ends */
    size_t ends_capacity;
    uint32_t count;
    uint32_t *slots; /* a hash table of numbers; UINT32_MAX if free */
    size_t mask;
};

/* Gives the number of a text, and adds the text if it is new. The text may be a part of a text in
 * the pool, and may be NULL if it has no bytes. All texts of the pool may move. Returns false if
 * memory runs out. */
bool string_pool_intern(struct string_pool *pool, const char *text, size_t size, uint32_t *ret);

/* Gives the number of a text. Returns false if it is not in the pool. */
bool string_pool_find(const struct string_pool *pool, const char *text, size_t size, uint32_t *ret);

/* Returns the text with a number, which must be less than pool->count. It does not end with a
 * NUL. */
const char *string_pool_text(const struct string_pool *pool, uint32_t number, size_t *ret_size);

void string_pool_deinit(struct string_pool *pool);

/* Makes pool a copy of other. Returns false if memory runs out; pool is then empty. */
bool string_pool_copy(struct string_pool *pool, const struct string_pool *other);

#endif
