/* Covers base/: the byte cursor's uvarints, the map, sets of numbers, the string pool, vectors,
 * texts, bisection, sets of bits, ranges, scope guards, Go's releases, large arrays and errors. */
#include "unit.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/ranges.h"
#include "base/releases.h"
#include "base/strings.h"
#include "base/text.h"

/* ---- memory ---- */

/* Returns how many bytes of this process are resident. */
static uint64_t resident(void)
{
    unsigned long long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file)
        return 0;
    assert_int_equal(fscanf(file, "%*u %llu", &pages), 1);
    fclose(file);
    return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* Memory that was touched is there, and blocks come from it. This is the first test, while there is
 * no free memory yet; those after it have a malloc() that memory_prepare() has changed. */
TEST(touched_memory_is_there)
{
    enum { SIZE = 40 << 20, BLOCK = 30 << 20, FEW = 5 << 20 };
    const uint64_t begin = resident();
#ifdef __GLIBC__
    const bool has_own_malloc = false;
#else
    const bool has_own_malloc = true;
#endif
    if (UNIT_SANITIZED || has_own_malloc || begin == 0)
        skip();
    memory_prepare();
    memory_touch(SIZE);
    const uint64_t touched = resident();
    assert_true(touched > begin + SIZE - FEW);
    char *block = malloc(BLOCK);
    assert_non_null(block);
    memset(block, 1, BLOCK);
    assert_true(resident() < touched + FEW);
    free(block);
}

/* ---- ranges ---- */

static void expect_range(const struct ranges *ranges, uint64_t from, uint64_t end, uint64_t first,
                         uint64_t last)
{
    struct range range;
    assert_int_equal(ranges_next(ranges, from, end, &range), first < last);
    assert_int_equal(range.begin, first);
    assert_int_equal(range.end, last);
}

TEST(ranges_are_found)
{
    const struct range unsorted[] = {{60, 90}, {10, 20}, {20, 30}, {70, 80}, {50, 50}, {15, 25}};
    struct ranges ranges = {0};
    expect_range(&ranges, 5, 9, 9, 9);
    for (size_t i = 0; i < sizeof(unsorted) / sizeof(*unsorted); i++)
        assert_true(vector_push(&ranges.list, unsorted[i]));
    ranges_sort(&ranges);
    assert_int_equal(ranges.list.count, 2);
    expect_range(&ranges, 0, 100, 10, 30);
    expect_range(&ranges, 12, 18, 12, 18);
    expect_range(&ranges, 30, 60, 60, 60);
    expect_range(&ranges, 30, 61, 60, 61);
    expect_range(&ranges, 95, 100, 100, 100);
    expect_range(&ranges, 70, 60, 60, 60);
    assert_int_equal(ranges_bytes(&ranges, 15, 65), 20);
    assert_int_equal(ranges_trim(&ranges, 40, 80), 60);
    assert_int_equal(ranges_trim(&ranges, 65, 80), 65);
    assert_int_equal(ranges_trim(&ranges, 40, 95), 95);
    assert_int_equal(ranges_trim(&ranges, 40, 60), 60);
    assert_true(ranges_add(&ranges, 90, 90) && ranges_add(&ranges, 90, 90 + LEAST_HOLE));
    assert_int_equal(ranges.list.count, 2);
    ranges_drop_short(&ranges);
    assert_int_equal(ranges.list.count, 1);
    expect_range(&ranges, 0, 70, 60, 70);
    ranges_deinit(&ranges);
}

/* ---- uvarint ---- */

static size_t encode(uint8_t *at, uint64_t value)
{
    size_t size = 0;
    for (; value >= 0x80; value >>= 7)
        at[size++] = (uint8_t)(value | 0x80);
    at[size++] = (uint8_t)value;
    return size;
}

/* Reads values at both ends of each length of 1 to 10 bytes, and each of them cut at each byte; the
 * reader touches nothing behind a value. */
TEST(uvarint_lengths)
{
    for (unsigned bytes = 1; bytes <= 10; bytes++) {
        const uint64_t smallest = bytes == 1 ? 0 : (uint64_t)1 << 7 * (bytes - 1);
        const uint64_t largest = bytes == 10 ? UINT64_MAX : ((uint64_t)1 << 7 * bytes) - 1;
        const uint64_t values[] = {smallest, smallest + 1, largest - 1, largest};
        for (size_t i = 0; i < 4; i++) {
            uint8_t data[24];
            memset(data, i % 2 ? 0xff : 0x01, sizeof(data));
            assert_int_equal(encode(data, values[i]), bytes);
            for (unsigned behind = 0; behind < 13; behind++) {
                struct cursor cursor = {data, data + bytes + behind};
                uint64_t value = 0;
                assert_true(cursor_uvarint(&cursor, &value));
                assert_true(value == values[i]);
                assert_ptr_equal(cursor.at, data + bytes);
            }
            for (unsigned cut = 0; cut < bytes; cut++) {
                /* memory of exactly that size, so that the sanitizers see a read beyond it */
                uint8_t *part = malloc(cut + 1u);
                memcpy(part + 1, data, cut);
                struct cursor cursor = {part + 1, part + 1 + cut};
                uint64_t value = 77;
                assert_false(cursor_uvarint(&cursor, &value));
                assert_ptr_equal(cursor.at, part + 1);
                assert_int_equal(value, 77);
                free(part);
            }
        }
    }
}

TEST(uvarint_overflow)
{
    uint8_t data[16];
    uint64_t value = 77;
    memset(data, 0xff, sizeof(data));
    struct cursor cursor = {data, data + sizeof(data)};
    assert_false(cursor_uvarint(&cursor, &value)); /* the number does not end */
    assert_ptr_equal(cursor.at, data);
    data[9] = 2; /* 2^64 */
    assert_false(cursor_uvarint(&cursor, &value));
    data[9] = 0x81; /* an eleventh byte */
    data[10] = 0;
    assert_false(cursor_uvarint(&cursor, &value));
    data[9] = 1;
    assert_true(cursor_uvarint(&cursor, &value));
    assert_true(value == UINT64_MAX);
    assert_ptr_equal(cursor.at, data + 10);
}

/* Reads random numbers one behind the other, whatever bytes are read along with them. */
TEST(uvarint_streams)
{
    enum { COUNT = 20000 };
    uint64_t random = 31, *values = malloc(COUNT * sizeof(*values)), value;
    uint8_t *data = malloc(10 * COUNT);
    size_t size = 0;
    assert_true(values && data);
    for (size_t i = 0; i < COUNT; i++) {
        values[i] = unit_random(&random) >> unit_random(&random) % 64;
        size += encode(data + size, values[i]);
    }
    data = realloc(data, size); /* so that the sanitizers see a read beyond it */
    assert_non_null(data);
    struct cursor cursor = {data, data + size}, slow = cursor;
    for (size_t i = 0; i < COUNT; i++) {
        assert_true(cursor_uvarint(&cursor, &value));
        assert_true(value == values[i]);
        assert_true(cursor_uvarint_checked(&slow, &value));
        assert_true(value == values[i]);
        assert_ptr_equal(cursor.at, slow.at);
    }
    assert_int_equal(cursor_left(&cursor), 0);
    free(values);
    free(data);
}

/* Encodings that are longer than necessary: no dump has them, but encoding/binary reads them as
 * well. */
TEST(uvarint_padded)
{
    const uint8_t data[] = {0x85, 0x80, 0x80, 0x00, 0x01};
    struct cursor cursor = {data, data + sizeof(data)};
    uint64_t value;
    assert_true(cursor_uvarint(&cursor, &value));
    assert_int_equal(value, 5);
    assert_ptr_equal(cursor.at, data + 4);
}

TEST(cursor_skips)
{
    const uint8_t data[4] = {0};
    struct cursor cursor = {data, data + 4};
    assert_false(cursor_skip(&cursor, 5));
    assert_false(cursor_skip(&cursor, UINT64_MAX));
    assert_int_equal(cursor_left(&cursor), 4);
    assert_true(cursor_skip(&cursor, 4));
    assert_true(cursor_skip(&cursor, 0));
    assert_false(cursor_skip(&cursor, 1));
}

/* ---- map ---- */

TEST(map_puts_and_gets)
{
    enum { COUNT = 100000 };
    struct map map = {0};
    uint32_t value;
    assert_int_equal(map_get(&map, 0), MAP_NONE);
    for (uint32_t i = 0; i < COUNT; i++) {
        assert_true(map_put(&map, (uint64_t)i * 4096, i, &value));
        assert_int_equal(value, i);
    }
    assert_int_equal(map.count, COUNT);
    for (uint32_t i = 0; i < COUNT; i++) {
        assert_int_equal(map_get(&map, (uint64_t)i * 4096), i);
        assert_int_equal(map_get(&map, (uint64_t)i * 4096 + 1), MAP_NONE);
    }
    /* the first value stays */
    assert_true(map_put(&map, 4096, 5, &value));
    assert_int_equal(value, 1);
    assert_int_equal(map_get(&map, 4096), 1);
    assert_int_equal(map.count, COUNT);
    map_deinit(&map);
    assert_int_equal(map_get(&map, 4096), MAP_NONE);
}

TEST(map_takes_all_keys)
{
    const uint64_t keys[] = {0, 1, UINT64_MAX, UINT64_MAX - 1, UINT32_MAX, (uint64_t)1 << 63};
    struct map map = {0};
    uint32_t value;
    for (uint32_t i = 0; i < 6; i++)
        assert_true(map_put(&map, keys[i], i, &value));
    for (uint32_t i = 0; i < 6; i++)
        assert_int_equal(map_get(&map, keys[i]), i);
    map_deinit(&map);
}

/* ---- sets of numbers ---- */

static int compare_numbers(const void *a, const void *b)
{
    const uint64_t one = *(const uint64_t *)a, other = *(const uint64_t *)b;
    return one < other ? -1 : one > other;
}

/* Returns a number such as the names of edges have: bits above, offsets below, most of them
 * multiples of 8. */
static uint64_t any_number(uint64_t *random)
{
    static const uint64_t extremes[] = {0, 1, 2, 3, 124, 127, 128, UINT64_MAX, UINT64_MAX - 1};
    const uint64_t number = unit_random(random);
    if (number % 16 == 0)
        return extremes[number / 16 % 9];
    return (number & 3) << 62 | (number >> 2 & 7) << 20 |
           (number % 5 == 0 ? number >> 5 & 0xffff : number >> 5 & 0xfff8);
}

TEST(number_sets_place_their_members)
{
    enum { COUNT = 40000 };
    struct number_set set = {0};
    uint64_t random = 12, *numbers = malloc(COUNT * sizeof(*numbers)),
             *members = malloc(COUNT * sizeof(*members));
    bool *is_taken = calloc(COUNT, sizeof(*is_taken));
    size_t count = 0;
    assert_int_equal(number_set_find(&set, 0), NUMBER_NONE);
    for (size_t i = 0; i < COUNT; i++) {
        numbers[i] = any_number(&random);
        assert_true(number_set_add(&set, numbers[i]));
        assert_true(number_set_add(&set, numbers[i]));
    }
    qsort(numbers, COUNT, sizeof(*numbers), compare_numbers);
    for (size_t i = 0; i < COUNT; i++)
        if (i == 0 || numbers[i] != numbers[i - 1])
            numbers[count++] = numbers[i];
    assert_int_equal(set.count, count);
    number_set_members(&set, members);
    qsort(members, count, sizeof(*members), compare_numbers);
    assert_memory_equal(members, numbers, count * sizeof(*numbers));

    number_set_rank(&set);
    for (size_t i = 0; i < count; i++) {
        const uint32_t place = number_set_find(&set, numbers[i]);
        assert_true(place < count && !is_taken[place]);
        is_taken[place] = true;
        if (i + 1 < count && numbers[i + 1] - numbers[i] > 4)
            assert_int_equal(number_set_find(&set, numbers[i] + 4), NUMBER_NONE);
    }
    number_set_deinit(&set);
    assert_int_equal(number_set_find(&set, 0), NUMBER_NONE);
    free(is_taken);
    free(members);
    free(numbers);
}

/* Returns the hash of a key of one of these forms: numbers, addresses of objects and pages, high
 * bits only, pairs, texts. */
static uint64_t hash_of(int pattern, uint64_t number)
{
    char text[64];
    switch (pattern) {
    case 0:
        return map_hash(number);
    case 1:
        return map_hash(0xc000000000 + number * 16);
    case 2:
        return map_hash(0xc000000000 + number * 4096);
    case 3:
        return map_hash(number << 40);
    case 4:
        return map_hash(number << 32 | number);
    case 5:
        return map_hash(map_hash_pair(number, 7));
    case 6:
        return map_hash(map_hash_pair(7, number));
    case 7:
        return map_hash_text(text, (size_t)snprintf(text, sizeof(text), "%u", (unsigned)number));
    default:
        return map_hash_text(
            text,
            (size_t)snprintf(text, sizeof(text), "github.com/a/b.(*T).%u.func1", (unsigned)number));
    }
}

/* Returns how many slots a key needs to look at on average in a table that is half full: 1.5 if the
 * hashes spread. */
static double looks_per_key(int pattern)
{
    enum { SLOTS = 1 << 12 };
    bool taken[SLOTS] = {false};
    unsigned looks = 0;
    for (uint64_t number = 0; number < SLOTS / 2; number++) {
        size_t slot = hash_of(pattern, number) % SLOTS;
        for (looks++; taken[slot]; looks++)
            slot = (slot + 1) % SLOTS;
        taken[slot] = true;
    }
    return (double)looks / (SLOTS / 2);
}

/* The seeds are fixed, so that the result does not depend on luck. */
TEST(hashes_spread)
{
    const uint64_t seeds[3] = {map_seed[0], map_seed[1], map_seed[2]};
    uint64_t random = 11;
    for (int round = 0; round < 50; round++) {
        for (size_t i = 0; i < 3; i++)
            map_seed[i] = unit_random(&random) | (uint64_t)(i > 0) << 63 | (i > 0);
        for (int pattern = 0; pattern < 9; pattern++)
            assert_true(looks_per_key(pattern) < 1.75);
    }
    memcpy(map_seed, seeds, sizeof(seeds));
}

/* Another seed gives other hashes, so that nobody can know which keys collide. */
TEST(hashes_have_a_seed)
{
    const uint64_t seeds[3] = {map_seed[0], map_seed[1], map_seed[2]};
    const uint64_t one = map_hash(42), pair = map_hash_pair(42, 43),
                   text = map_hash_text("text", 4);
    assert_true(seeds[0] != 0 && seeds[1] != seeds[2]);
    assert_true(map_hash_text_too("text", 4) != text);
    map_seed[0] ^= 0x1234567;
    assert_true(map_hash(42) != one && map_hash_pair(42, 43) != pair);
    assert_true(map_hash_text("text", 4) != text);
    memcpy(map_seed, seeds, sizeof(seeds));
    assert_true(map_hash(42) == one);
}

/* Texts of many sizes that differ in a few places have different hashes, because nothing compares
 * texts with the same hash. */
TEST(texts_have_their_own_hashes)
{
    enum { TEXTS = 120000 };
    static const char *const forms[] = {"%d", "[%d]", "%d/%d", "key %d of a text that is longer"};
    uint64_t *hashes = malloc(TEXTS * sizeof(*hashes));
    char text[64];
    assert_non_null(hashes);
    for (size_t too = 0; too < 2; too++) {
        for (int i = 0; i < TEXTS; i++) {
            const int size = snprintf(text, sizeof(text), forms[i % 4], i / 4, i / 4);
            hashes[i] =
                too ? map_hash_text_too(text, (size_t)size) : map_hash_text(text, (size_t)size);
        }
        qsort(hashes, TEXTS, sizeof(*hashes), compare_numbers);
        size_t equal = 0;
        for (int i = 1; i < TEXTS; i++)
            equal += hashes[i] == hashes[i - 1];
        assert_int_equal(equal, 0);
    }
    free(hashes);
}

/* ---- strings ---- */

TEST(pool_numbers_by_first_use)
{
    enum { COUNT = 5000 };
    struct string_pool pool = {0};
    char text[32];
    uint32_t number;
    size_t size;
    for (int round = 0; round < 2; round++)
        for (uint32_t i = 0; i < COUNT; i++) {
            snprintf(text, sizeof(text), "text %u", i);
            assert_true(string_pool_intern(&pool, text, strlen(text), &number));
            assert_int_equal(number, i);
        }
    assert_int_equal(pool.count, COUNT);
    for (uint32_t i = 0; i < COUNT; i++) {
        snprintf(text, sizeof(text), "text %u", i);
        const char *found = string_pool_text(&pool, i, &size);
        assert_int_equal(size, strlen(text));
        assert_memory_equal(found, text, size);
    }
    string_pool_deinit(&pool);
}

/* Adds the empty text, texts with NUL inside, a text that begins another one, and one larger than
 * the pool's steps. */
TEST(pool_takes_any_text)
{
    struct string_pool pool = {0};
    uint32_t number;
    size_t size;
    char *large = malloc(100000);
    memset(large, 'x', 100000);
    const struct {
        const char *text;
        size_t size;
    } texts[] = {{"", 0},     {"a", 1},        {"ab", 2},     {"a\0b", 3},
                 {"a\0c", 3}, {large, 100000}, {large, 99999}};
    for (int round = 0; round < 2; round++)
        for (uint32_t i = 0; i < 7; i++) {
            assert_true(string_pool_intern(&pool, texts[i].text, texts[i].size, &number));
            assert_int_equal(number, i);
        }
    for (uint32_t i = 0; i < 7; i++) {
        const char *found = string_pool_text(&pool, i, &size);
        assert_int_equal(size, texts[i].size);
        assert_memory_equal(found, texts[i].text, size);
    }
    free(large);
    string_pool_deinit(&pool);
}

/* ---- memory ---- */

/* A text that is in the pool already stays readable while it is added again, although the pool
 * moves. */
TEST(pool_takes_its_own_text)
{
    struct string_pool pool = {0};
    uint32_t number;
    size_t size;
    char first[80];
    for (unsigned i = 0; i < 3000; i++) {
        snprintf(first, sizeof(first), "%u/%050u", i, i);
        assert_true(string_pool_intern(&pool, first, strlen(first), &number));
        const char *own = string_pool_text(&pool, number, &size);
        const char *part = memchr(own, '/', size);
        assert_non_null(part);
        assert_true(string_pool_intern(&pool, part, size - (size_t)(part - own), &number));
        own = string_pool_text(&pool, number, &size);
        assert_int_equal(size, 51);
        assert_memory_equal(own, strchr(first, '/'), size);
    }
    string_pool_deinit(&pool);
}

TEST(vector_grows)
{
    VECTOR(uint64_t) vector = {0};
    for (uint64_t i = 0; i < 1000000; i++) { /* 8 MB, on huge pages in the end */
        assert_true(vector_push(&vector, i * i));
        assert_true(vector.count <= vector.capacity);
    }
    assert_int_equal(vector.count, 1000000);
    for (uint64_t i = 0; i < 1000000; i++)
        assert_int_equal(vector.data[i], i * i);
    /* What there is space for already moves nothing, or appending in small steps would cost a copy
     * of everything each time. */
    assert_true(vector_grow(&vector, 100));
    const uint64_t *data = vector.data;
    const size_t before = vector.capacity;
    for (size_t i = 0; i < 100; i++) {
        assert_true(vector_grow(&vector, 100 - i));
        vector.data[vector.count++] = i;
    }
    assert_ptr_equal(vector.data, data);
    assert_int_equal(vector.capacity, before);
    free(vector.data);

    size_t capacity = 0;
    assert_null(array_grow(NULL, &capacity, SIZE_MAX / 8, 1, 16)); /* the size overflows */
    assert_null(array_grow(NULL, &capacity, 1, SIZE_MAX, 1));
    assert_int_equal(capacity, 0);
}

/* Finds every place in a list of up to 9 entries, from every first entry. */
TEST(bisection)
{
    for (uint32_t count = 0; count < 10; count++)
        for (uint32_t first = 0; first <= count; first++)
            for (uint32_t place = 0; place <= count; place++) {
                uint32_t at;
                BISECT_FROM(at, first, count, at < place);
                assert_int_equal(at, place > first ? place : first);
            }
    uint64_t at;
    BISECT(at, UINT64_MAX, at < UINT64_MAX - 1); /* no overflow */
    assert_int_equal(at, UINT64_MAX - 1);
}

/* Lists in order one after the other are merged: equal entries stay in the order that they had. */
TEST(lists_in_order_are_merged)
{
    static const uint64_t lists[][3] = {/* first number, step, count */
                                        {5000, 1, 200}, {0, 1, 300},    {100, 7, 500},
                                        {4, 0, 100},    {9999, 1, 100}, {150, 3, 301}};
    struct pair {
        uint64_t number, place;
    };
    VECTOR(struct pair) pairs = {0};
    for (size_t most = 1; most <= COUNT_OF(lists); most++) {
        pairs.count = 0;
        for (size_t i = 0; i < most; i++)
            for (uint64_t j = 0; j < lists[i][2]; j++) {
                const struct pair pair = {lists[i][0] + j * lists[i][1], pairs.count};
                assert_true(vector_push(&pairs, pair));
            }
        vector_sort(&pairs, compare_numbers); /* a pair's number is its first field */
        uint64_t places = 0;
        for (size_t i = 0; i < pairs.count; i++) {
            const struct pair *pair = &pairs.data[i];
            assert_true(i == 0 || pair[-1].number < pair->number ||
                        (pair[-1].number == pair->number && pair[-1].place < pair->place));
            places += pair->place;
        }
        assert_int_equal(places, pairs.count * (pairs.count - 1) / 2);
    }
    free(pairs.data);
}

TEST(vectors_are_sorted)
{
    VECTOR(uint64_t) numbers = {0};
    vector_sort(&numbers, compare_numbers); /* an empty vector */
    for (uint64_t i = 0; i < 100; i++)
        assert_true(vector_push(&numbers, i * 37 % 100));
    vector_sort(&numbers, compare_numbers);
    for (uint64_t i = 0; i < 100; i++)
        assert_int_equal(numbers.data[i], i);
    free(numbers.data);
}

TEST(bytes_are_compared)
{
    const struct g2h_bytes text = bytes_of("runtime.mheap"), nothing = {NULL, 0},
                           half = {text.data, 7};
    assert_true(bytes_are(text, "runtime.mheap"));
    assert_false(bytes_are(text, "runtime.mheap_"));
    assert_false(bytes_are(text, "runtime.mheaq"));
    assert_true(bytes_are(half, "runtime"));
    assert_true(bytes_are(nothing, ""));
    assert_false(bytes_are(nothing, "a"));
    assert_true(bytes_same(nothing, bytes_none));
    assert_false(bytes_same(text, half));
    assert_true(bytes_begin(text, "runtime."));
    assert_false(bytes_begin(half, "runtime."));
    assert_false(bytes_begin(nothing, "r"));
    assert_true(bytes_contain(text, ".mhe"));
    assert_false(bytes_contain(half, "."));
    assert_false(bytes_contain(nothing, "."));
}

TEST(texts_grow)
{
    struct text text = {0};
    for (int i = 0; i < 1000; i++)
        text_append_number(&text, UINT64_MAX);
    assert_int_equal(text.size, 20000);
    assert_memory_equal(text.data + 19980, "18446744073709551615", 20);
    text.size = 0;
    text_append(&text, NULL, 0);
    text_printf(&text, "%s=%d;%300s", "x", 7, "");
    assert_int_equal(text.size, 304);
    assert_memory_equal(text.data, "x=7; ", 5);
    text_printf(&text, "%251s%s", "", "four"); /* what fits into its buffer, */
    assert_int_equal(text.size, 304 + 255);
    text_printf(&text, "%252s%s", "", "four"); /* and what does not */
    assert_int_equal(text.size, 304 + 255 + 256);
    assert_memory_equal(text.data + text.size - 5, " four", 5);
    assert_false(text.failed);
    text.size = 0;
    assert_false(text_append_clipped(&text, (const uint8_t *)"a\xff\u00e9", 4, 3));
    assert_true(text_append_clipped(&text, (const uint8_t *)"bc\u00e9", 4, 2));
    assert_true(text_append_clipped(&text, (const uint8_t *)"\xff", 1, 0));
    assert_int_equal(text.size, 8);
    assert_memory_equal(text.data,
                        "a\ufffd\u00e9"
                        "bc",
                        8);
    text_deinit(&text);
    assert_int_equal(text_ascii_run((const uint8_t *)"0123456789\x80", 11), 10);
}

/* Numbers are printed as Go's fmt.Println() prints them. */
TEST(numbers_are_as_go_has_them)
{
    static const struct {
        double value;
        const char *wide, *narrow;
    } numbers[] = {
        {0, "0", "0"},
        {-0.0, "-0", "-0"},
        {-1.5, "-1.5", "-1.5"},
        {0.1, "0.1", "0.1"},
        {100000, "100000", "100000"},
        {1000000, "1e+06", "1e+06"},
        {1234567, "1.234567e+06", "1.234567e+06"},
        {123456789, "1.23456789e+08", "1.2345679e+08"},
        {16777216, "1.6777216e+07", "1.6777216e+07"},
        {12345.678, "12345.678", "12345.678"},
        {1e23, "1e+23", "1e+23"},
        {0.0001, "0.0001", "0.0001"},
        {0.000123456, "0.000123456", "0.000123456"},
        {0.00001, "1e-05", "1e-05"},
        {DBL_MAX, "1.7976931348623157e+308", NULL},
        {4.9406564584124654e-324, "5e-324", NULL},
        {FLT_MAX, NULL, "3.4028235e+38"},
        {1.4012984643248171e-45, NULL, "1e-45"},
        {9007199254740993.0, "9.007199254740992e+15", "9.007199e+15"},
        {5.684341886080802e-14, "5.684341886080802e-14", NULL},
        {1.0 / 3, "0.3333333333333333", "0.33333334"},
        {(double)NAN, "NaN", "NaN"},
        {(double)INFINITY, "+Inf", "+Inf"},
        {-(double)INFINITY, "-Inf", "-Inf"},
    };
    struct text text = {0};
    for (size_t i = 0; i < 2 * sizeof(numbers) / sizeof(*numbers); i++) {
        const bool is_narrow = i % 2 != 0;
        const double value = numbers[i / 2].value;
        const char *expected = is_narrow ? numbers[i / 2].narrow : numbers[i / 2].wide;
        if (!expected)
            continue;
        text.size = 0;
        text_append_float(&text, is_narrow ? (double)(float)value : value, is_narrow);
        text_append(&text, "", 1);
        assert_string_equal(text.data, expected);
    }
    text_deinit(&text);
}

TEST(releases)
{
    assert_int_equal(go_release_parse("go1.26.1").minor, 26);
    assert_int_equal(go_release_parse("devel go1.27-2f3a X:noswissmap,greenteagc").minor, 27);
    assert_int_equal(go_release_parse("").minor, 0);
    assert_true(go_release_parse("go1.4294967318").minor > 22); /* 2^32 + 22 */
    assert_true(go_release_parse("go1.24.1 X:greenteagc,noswissmap").no_swiss_maps);
    assert_false(go_release_parse("go1.24.1 X:greenteagc,noswissmaps").no_swiss_maps);
}

static int guards_left;

static void leave_guard(int *guard)
{
    guards_left += *guard;
}

static struct g2h_error *leave_early(struct g2h_error *error, char **ret)
{
    _cleanup_(leave_guard) int guard = 1;
    _cleanup_free_ char *text = strdup("text");
    TRY(error);
    guard = 10;
    *ret = take_pointer(text);
    assert_null(text);
    return NULL;
}

TEST(scopes_end)
{
    char *text = NULL;
    assert_ptr_equal(leave_early(&error_no_memory, &text), &error_no_memory);
    assert_null(text);
    assert_int_equal(guards_left, 1);
    assert_null(leave_early(NULL, &text));
    assert_string_equal(text, "text");
    assert_int_equal(guards_left, 11);
    free(text);
}

TEST(large_arrays)
{
    const size_t counts[] = {0, 1, 4096, (size_t)9 << 20};
    for (size_t i = 0; i < 4; i++) {
        uint8_t *data = large_alloc(counts[i], 1);
        assert_non_null(data);
        for (size_t j = 0; j < counts[i]; j += 511)
            assert_int_equal(data[j], 0);
        memset(data, 0xff, counts[i]);
        large_free(data, counts[i], 1);
    }
    assert_null(large_alloc(SIZE_MAX / 2, 8));
    large_free(NULL, 5, 8);
}

/* Blocks up to, at and beyond the size that is on huge pages, and one that is no multiple of their
 * size. */
TEST(blocks_of_any_size)
{
    const size_t counts[] = {0, 1, 4096, (4 << 20) - 1, 4 << 20, (9 << 20) + 5};
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        uint8_t *zeroed = zeroed_alloc(counts[i], 1), *block = block_alloc(counts[i], 1);
        assert_non_null(zeroed);
        assert_non_null(block);
        for (size_t j = 0; j < counts[i]; j += 511)
            assert_int_equal(zeroed[j], 0);
        memset(zeroed, 0xff, counts[i]);
        memset(block, 0xff, counts[i]);
        free(zeroed);
        free(block);
    }
    assert_null(block_alloc(SIZE_MAX / 2, 8));
    assert_null(zeroed_alloc(SIZE_MAX / 2, 8));
}

/* ---- errors ---- */

TEST(errors_have_messages)
{
    assert_error(error_create(G2H_ERROR_DAMAGED, "%s: byte %d", "a.dump", 17), G2H_ERROR_DAMAGED,
                 "a.dump: byte 17");
    assert_error(error_system(ENOENT, "%s: cannot open", "b%s.dump"), G2H_ERROR_SYSTEM,
                 "b%s.dump: cannot open: No such file or directory");
    g2h_error_destroy(NULL);
    g2h_error_destroy(&error_no_memory); /* it is static */
    assert_int_equal(error_no_memory.code, G2H_ERROR_MEMORY);
}

/* ---- text for people ---- */

TEST(what_is_printable)
{
    static const struct {
        const char *text, *shown;
    } cases[] = {
        {"", ""},
        {"main.run ~!", "main.run ~!"},
        {"Gr\xc3\xb6\xc3\x9f"
         "e \xe6\x97\xa5 \xf0\x9f\x98\x80 \xc2\xa0",
         "Gr\xc3\xb6\xc3\x9f"
         "e \xe6\x97\xa5 \xf0\x9f\x98\x80 \xc2\xa0"},
        {"a\nb\tc\x1b[31m\x7f", "a?b?c?[31m?"},
        {"\xc2\x80\xc2\x9b\xc2\x9f", "???"}, /* C1 */
        {"\x9b\xff\xc3", "???"},             /* bytes that no sequence begins with */
        {"\xc0\x9b\xe0\x80\x9b\xf0\x80\x80\x9b", "?????????"},          /* longer than necessary */
        {"\xed\xa0\x80", "???"},                                        /* a surrogate */
        {"\xf4\x90\x80\x80", "????"},                                   /* beyond Unicode */
        {"\xe2\x80\xae|\xe2\x81\xa6|\xd8\x9c|\xe2\x80\x8f", "?|?|?|?"}, /* text directions */
        {"\xe2\x80\xa8|\xef\xbb\xbf|\xf3\xa0\x81\x81", "?|?|?"},
        {"\xe6\x97", "??"}, /* cut */
        {"\xe6\x97x", "??x"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        const size_t size = strlen(cases[i].text), expected = strlen(cases[i].shown);
        char *text = malloc(size + 1); /* no byte more, so that the sanitizers see a read beyond */
        memcpy(text, cases[i].text, size);
        assert_int_equal(g2h_printable(text, size), expected);
        assert_memory_equal(text, cases[i].shown, expected);
        free(text);
    }
    char zero[] = "a\0b";
    assert_int_equal(g2h_printable(zero, 3), 3);
    assert_memory_equal(zero, "a?b", 3);
    assert_error(error_create(G2H_ERROR_SYSTEM, "%s: no", "a\x1b[J\nb\xc2\x9b"), G2H_ERROR_SYSTEM,
                 "a?[J?b?: no");
}

/* Counts the bits of every part of three words, one by one. */
TEST(bits_are_counted)
{
    enum { NUMBERS = 3 * 64 };
    uint64_t bits[NUMBERS / 64] = {0}, random = 88172645463325252;
    for (unsigned i = 0; i < NUMBERS; i++)
        if (i / 64 == 1 || unit_random(&random) % 3 == 0)
            bits_add(bits, i);
    for (unsigned first = 0; first <= NUMBERS; first++) {
        unsigned count = 0;
        for (unsigned end = first; end <= NUMBERS; end++) {
            assert_int_equal(bits_count(bits, first, end), count);
            count += end < NUMBERS && bits_have(bits, end);
        }
    }
}

UNIT_MAIN(NULL, NULL)
