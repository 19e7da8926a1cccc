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
    char *text; /* all texts, one behind the other */
    size_t text_size, text_capacity;
    size_t *ends; /* where each ends */
    size_t ends_capacity;
    uint32_t count;
    uint32_t *slots; /* a hash table of numbers, UINT32_MAX where free */
    size_t mask;
};

/* Gives the number of a text, which is added if it is new. It may be a part of a text in the pool,
 * and NULL where it has no bytes. All texts may move. False where there is no memory. */
bool string_pool_intern(struct string_pool *pool, const char *text, size_t size, uint32_t *ret);

/* Gives the number of a text; false where it is not in the pool. */
bool string_pool_find(const struct string_pool *pool, const char *text, size_t size, uint32_t *ret);

/* Gives the text that has a number, which is below pool->count. No NUL ends it. */
const char *string_pool_text(const struct string_pool *pool, uint32_t number, size_t *ret_size);

void string_pool_deinit(struct string_pool *pool);

/* Makes a pool a copy of another. False where there is no memory; then it is empty. */
bool string_pool_copy(struct string_pool *pool, const struct string_pool *other);

#endif
