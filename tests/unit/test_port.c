/* Covers base/port on systems without GNU's functions, such as macOS: this file takes the part of
 * one. Its qsort_r() has its arguments in BSD's order. */
#define qsort_r gnu_qsort_r /* stdlib.h declares that one, and nothing calls it */
#include <stdlib.h>
#undef qsort_r

static int (*bsd_compare)(void *context, const void *one, const void *other);
static void *bsd_context;

static int bsd_compare_two(const void *one, const void *other)
{
    return bsd_compare(bsd_context, one, other);
}

static void qsort_r(void *entries, size_t count, size_t size, void *context,
                    int (*compare)(void *context, const void *one, const void *other))
{
    bsd_compare = compare;
    bsd_context = context;
    qsort(entries, count, size, bsd_compare_two);
}

#define __APPLE__ 1
#include "base/port.c"
#undef qsort_r
#define qsort_r port_qsort_r

#include "unit.h"

static int by_rank(const void *one, const void *other, void *ranks)
{
    const int *rank = ranks;
    return rank[*(const uint8_t *)one] - rank[*(const uint8_t *)other];
}

TEST(sorts_with_a_context)
{
    int ranks[] = {3, 1, 4, 0, 2};
    uint8_t entries[] = {0, 1, 2, 3, 4};
    qsort_r(entries, 5, 1, by_rank, ranks);
    assert_memory_equal(entries, ((uint8_t[]){3, 1, 4, 0, 2}), 5);
}

TEST(finds_the_last_byte)
{
    const char text[] = "a.b.c\xff";
    assert_ptr_equal(memrchr(text, '.', 6), text + 3);
    assert_ptr_equal(memrchr(text, '.', 3), text + 1);
    assert_ptr_equal(memrchr(text, 'a', 1), text);
    assert_ptr_equal(memrchr(text, '\xff', 6),
                     text + 5); /* a negative int, where char has a sign */
    assert_null(memrchr(text, 'b', 2));
    assert_null(memrchr(text, 'a', 0));
}

TEST(refuses_products_that_overflow)
{
    uint64_t *numbers = reallocarray(NULL, 2, sizeof(*numbers));
    assert_non_null(numbers);
    numbers[1] = 42;
    errno = 0;
    assert_null(reallocarray(numbers, SIZE_MAX / 4, sizeof(*numbers)));
    assert_int_equal(errno, ENOMEM);
    numbers = reallocarray(numbers, 3, sizeof(*numbers));
    assert_non_null(numbers);
    assert_int_equal(numbers[1], 42);
    free(numbers);
}

TEST(clears)
{
    char key[] = "secret";
    explicit_bzero(key, 4);
    assert_memory_equal(key, "\0\0\0\0et", 7);
}

/* More bytes than getentropy() gives at a time. Each one is another in at least one of some tries;
 * that a byte never changes has a probability of 2^-128. */
TEST(fills_everything_with_random_bytes)
{
    enum { SIZE = 1000, TRIES = 17 };
    static uint8_t first[SIZE + 1], next[SIZE + 1];
    bool changed[SIZE] = {false};
    for (int i = 0; i < TRIES; i++) {
        assert_int_equal(port_random(i == 0 ? first : next, SIZE, true), 0);
        for (int at = 0; i > 0 && at < SIZE; at++)
            changed[at] |= next[at] != first[at];
    }
    for (int at = 0; at < SIZE; at++)
        assert_true(changed[at]);
    assert_int_equal(first[SIZE] | next[SIZE], 0);
}

UNIT_MAIN(NULL, NULL)
