/*
 * strings: a pool that has each string once, and numbers strings in the order of their first use;
 * see strings.h. All strings are in one block of memory, one after the other; a hash table leads
 * from a string's hash to its number.
 */
#include "base/contract.h"
#include "base/strings.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/memory.h"

/* Returns the string with a number, which must be less than pool->count. */
const char *string_pool_text(const struct string_pool *pool, uint32_t number, size_t *ret_size)
{
    assert(number < pool->count);
    size_t begin = number == 0 ? 0 : pool->ends[number - 1];
    *ret_size = pool->ends[number] - begin;
    return pool->text + begin;
}

/* Returns the slot that holds the string's number, or the free one (UINT32_MAX) where it belongs.
 * There must be slots, one of them free. */
static uint32_t *strings_find(const struct string_pool *pool, const void *text, size_t size)
{
    for (size_t slot = (size_t)map_hash_text(text, size) & pool->mask;;
         slot = (slot + 1) & pool->mask) {
        size_t there;
        if (pool->slots[slot] == UINT32_MAX)
            return &pool->slots[slot];
        const char *other = string_pool_text(pool, pool->slots[slot], &there);
        if (there == size && (size == 0 || memcmp(other, text, size) == 0))
            return &pool->slots[slot];
    }
}

/* Doubles the hash table, and puts all strings into it again. Returns false if memory runs out. */
static bool grow_slots(struct string_pool *pool)
{
    enum { FIRST_SLOTS = 1024 };
    const size_t count = pool->slots ? (pool->mask + 1) * 2 : FIRST_SLOTS;
    uint32_t *slots = block_alloc(count, sizeof(*slots));
    if (!slots)
        return false;
    memset(slots, 0xff, count * sizeof(*slots)); /* UINT32_MAX: no string */
    free(pool->slots);
    pool->slots = slots;
    pool->mask = count - 1;
    for (uint32_t i = 0; i < pool->count; i++) {
        size_t size;
        const char *text = string_pool_text(pool, i, &size);
        *strings_find(pool, text, size) = i;
    }
    return true;
}

/* Looks up a string's number. Returns false if the pool does not have it; *ret is then
 * UINT32_MAX. */
bool string_pool_find(const struct string_pool *pool, const void *text, size_t size, uint32_t *ret)
{
    *ret = pool->slots ? *strings_find(pool, text, size) : UINT32_MAX;
    return *ret != UINT32_MAX;
}

/* Makes space for size more bytes. *text, which will be appended, may be part of the pool's own
 * memory, and is then moved with it. Returns false if memory runs out. */
static bool strings_reserve(struct string_pool *pool, const void **text, size_t size)
{
    enum { SPARE = 4096 }; /* bytes, so that few strings need new memory */
    const uintptr_t offset = (uintptr_t)*text - (uintptr_t)pool->text;
    const bool is_own = pool->text && offset < pool->text_size;
    if (pool->text && pool->text_capacity - pool->text_size >= size)
        return true;
    pool->text = array_grow(pool->text, &pool->text_capacity, pool->text_size, size + SPARE, 1);
    if (is_own)
        *text = pool->text + offset;
    return pool->text && pool->text_capacity - pool->text_size >= size;
}

/* Finds the string, or appends it to the pool: *ret becomes its number. At most half of the slots
 * are used. Returns false if memory runs out. */
bool string_pool_intern(struct string_pool *pool, const void *text, size_t size, uint32_t *ret)
{
    if ((!pool->slots || (size_t)pool->count * 2 > pool->mask) && !grow_slots(pool))
        return false;
    uint32_t *slot = strings_find(pool, text, size);
    if (*slot != UINT32_MAX) {
        *ret = *slot;
        return true;
    }
    if (!strings_reserve(pool, &text, size))
        return false;
    if (pool->count == pool->ends_capacity)
        pool->ends =
            array_grow(pool->ends, &pool->ends_capacity, pool->count, 1, sizeof(*pool->ends));
    if (pool->count == pool->ends_capacity)
        return false;
    if (size > 0)
        memcpy(pool->text + pool->text_size, text, size);
    pool->text_size += size;
    pool->ends[pool->count] = pool->text_size;
    *slot = *ret = pool->count++;
    return true;
}

/* Makes a pool a copy of another. Returns false, and leaves the pool empty, if memory runs out. */
bool string_pool_copy(struct string_pool *pool, const struct string_pool *other)
{
    *pool = *other;
    pool->text_capacity = pool->text_size;
    pool->text = memory_copy(other->text, other->text_size, 1);
    pool->ends_capacity = pool->count;
    pool->ends = memory_copy(other->ends, other->count, sizeof(*other->ends));
    pool->slots =
        other->slots ? memory_copy(other->slots, other->mask + 1, sizeof(*other->slots)) : NULL;
    /* Without bytes there is nothing to copy, and memory_copy() may return NULL. */
    if ((pool->text || pool->text_size == 0) && (pool->ends || pool->count == 0) &&
        (pool->slots || !other->slots))
        return true;
    string_pool_deinit(pool);
    return false;
}

void string_pool_deinit(struct string_pool *pool)
{
    free(pool->text);
    free(pool->ends);
    free(pool->slots);
    *pool = (struct string_pool){0};
}
