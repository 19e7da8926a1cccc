/* Covers heap/load and heap/slot_classes: order, phantoms, duplicate, overlapping and misplaced
 * objects, damage, types. */
#include "dump_builder.h"

#include <inttypes.h>

#include "heap/heap.h"
#include "heap/heap_ages.h"
#include "base/limits.h"

enum { BASE_PAGES = 400, PAGE = 8192 };
#define BASE 0xc000000000

static void expect_ascending(const struct g2h_heap *heap)
{
    for (uint32_t i = 1; i < g2h_heap_object_count(heap); i++)
        assert_true(heap_address(heap, i - 1) + heap_object_size(heap, i - 1) <=
                    heap_address(heap, i));
}

/* Expects each object's contents to begin with its address, and the object to be found by its first
 * and last byte. */
static void expect_objects(const struct g2h_heap *heap)
{
    expect_ascending(heap);
    for (uint32_t i = 0; i < g2h_heap_object_count(heap); i++) {
        uint32_t found;
        struct g2h_object object = g2h_heap_object(heap, i);
        assert_int_equal(object.address, heap_address(heap, i));
        assert_int_equal(object.size, heap_object_size(heap, i));
        assert_int_equal(heap_word(heap, object.contents.data), object.address);
        assert_true(g2h_heap_find(heap, object.address, &found) && found == i);
        assert_true(g2h_heap_find(heap, object.address + object.size - 1, &found) && found == i);
    }
}

/* ---- order ---- */

/* Spans in the order of a shuffled deck, as Go's span table has them, with sizes from 8 to 8192,
 * and a large object. */
TEST(spans_in_any_order)
{
    static const uint32_t sizes[] = {8, 16, 24, 48, 112, 1024, 4096, 8192};
    uint32_t deck[BASE_PAGES];
    uint64_t random = 99, objects = 0, bytes = 0;
    struct dump dump;
    for (uint32_t i = 0; i < BASE_PAGES; i++)
        deck[i] = i;
    for (uint32_t i = BASE_PAGES; i-- > 1;) {
        uint32_t other = (uint32_t)(unit_random(&random) % (i + 1)), kept = deck[i];
        deck[i] = deck[other];
        deck[other] = kept;
    }
    dump_start_modern(&dump, "go1.19.8");
    for (uint32_t i = 0; i < BASE_PAGES; i++) {
        uint32_t size = sizes[deck[i] % 8];
        if (i % 50 == 3) /* what is read ahead ends here */
            dump_goroutine(&dump, i + 1, 0x1000 + i, 0x2000 + i);
        for (uint64_t at = 0; at + size <= PAGE; at += size) {
            if (unit_random(&random) % 3 == 0)
                continue; /* a free slot */
            uint64_t address = BASE + (uint64_t)deck[i] * PAGE + at;
            dump_object(&dump, address, size, WORDS(address));
            objects++;
            bytes += size;
        }
    }
    dump_eof(&dump);
    for (unsigned threads = 1; threads <= 9; threads += 2) {
        dump_load(&dump, threads);
        assert_int_equal(g2h_heap_object_count(dump.heap), objects);
        assert_int_equal(g2h_heap_account(dump.heap)->objects, objects);
        assert_int_equal(g2h_heap_account(dump.heap)->object_bytes, bytes);
        assert_int_equal(g2h_heap_account(dump.heap)->overlapping, 0);
        assert_int_equal(g2h_heap_account(dump.heap)->misplaced, 0);
        expect_objects(dump.heap);
        if (dump.heap->not_ahead > objects / 2)
            fail_msg("%u threads: %" PRIu64 " of %" PRIu64 " objects are not read ahead", threads,
                     dump.heap->not_ahead, objects);
    }
    dump_deinit(&dump);
}

/* No dump has its objects in these orders, but none is refused for them: descending, runs that lie
 * between each other, and scattered. */
TEST(objects_in_any_order)
{
    enum { COUNT = 3000 };
    struct dump dump;
    for (int order = 0; order < 3; order++) {
        dump_start_modern(&dump, "go1.19.8");
        for (uint64_t i = 0; i < COUNT; i++) {
            uint64_t place = order == 0   ? COUNT - 1 - i
                             : order == 1 ? i * 2 % COUNT + (i * 2 >= COUNT) /* evens, then odds */
                                          : i * 1009 % COUNT;
            dump_object(&dump, BASE + place * 64, 64, WORDS(BASE + place * 64));
        }
        dump_eof(&dump);
        for (unsigned threads = 1; threads <= 4; threads += 3) {
            dump_load(&dump, threads);
            assert_int_equal(g2h_heap_object_count(dump.heap), COUNT);
            expect_objects(dump.heap);
        }
        dump_deinit(&dump);
    }
}

/* A heap of more objects than numbers can count: the limit is lowered, since a dump with so many
 * has tens of gigabytes. */
TEST(too_many_objects)
{
    enum { COUNT = 3000 };
    const uint64_t most = limits.objects;
    DUMP dump;
    struct g2h_input *input;
    struct g2h_heap *heap;
    dump_start_modern(&dump, "go1.19.8");
    for (uint64_t i = 0; i < COUNT; i++)
        dump_object(&dump, BASE + i * 64, 64, WORDS(BASE + i * 64));
    dump_eof(&dump);
    assert_no_error(g2h_input_from_memory("app.dump", dump.data, dump.size, &input));
    for (unsigned threads = 1; threads <= 4; threads += 3) {
        const struct g2h_heap_options options = {.threads = threads};
        limits.objects = COUNT - 1;
        struct g2h_error *error = g2h_heap_load(input, &options, &heap);
        limits.objects = COUNT;
        struct g2h_error *none = g2h_heap_load(input, &options, &heap);
        limits.objects = most;
        assert_error(error, G2H_ERROR_LIMIT,
                     "app.dump: 3000 objects: more than the 2999 that can be read; --format "
                     "dump writes them all the same");
        assert_no_error(none);
        assert_int_equal(g2h_heap_object_count(heap), COUNT);
        g2h_heap_destroy(heap);
    }
    g2h_input_close(input);
}

/* Objects larger than a page, next to a small one. */
TEST(large_objects)
{
    DUMP dump;
    dump_start_modern(&dump, "go1.19.8");
    dump_object(&dump, BASE + 0x100000, 1 << 20, WORDS(BASE + 0x100000));
    dump_object(&dump, BASE + 0x10000, 0x8000, WORDS(BASE + 0x10000));
    dump_object(&dump, BASE + 0x18000, 40960, WORDS(BASE + 0x18000));
    dump_object(&dump, BASE + 0x200000, 16, WORDS(BASE + 0x200000));
    dump_eof(&dump);
    dump_load(&dump, 2);
    assert_int_equal(g2h_heap_object_count(dump.heap), 4);
    expect_objects(dump.heap);
}

TEST(empty_heap)
{
    DUMP dump;
    uint32_t found;
    dump_start_modern(&dump, "go1.26.1");
    dump_eof(&dump);
    dump_load(&dump, 3);
    assert_int_equal(g2h_heap_object_count(dump.heap), 0);
    assert_false(g2h_heap_find(dump.heap, BASE, &found));
    assert_false(g2h_heap_find(dump.heap, 0, &found));
}

/* ---- damage ---- */

TEST(duplicate_objects)
{
    DUMP dump;
    dump_start_modern(&dump, "go1.19.8");
    for (uint64_t i = 0; i < 10; i++)
        dump_object(&dump, BASE + i * 32, 32, WORDS(BASE + i * 32));
    dump_object(&dump, BASE + 32, 32, WORDS(BASE + 32));
    dump_object(&dump, BASE + 32, 32, WORDS(BASE + 32));
    dump_eof(&dump);
    dump_load(&dump, 1);
    assert_int_equal(g2h_heap_object_count(dump.heap), 10);
    assert_int_equal(g2h_heap_account(dump.heap)->overlapping, 2);
    assert_int_equal(g2h_heap_account(dump.heap)->object_bytes, 320);
    expect_objects(dump.heap);
}

/* Objects overlap in a page, across pages, and one overlaps many: the lower one is dropped. */
TEST(overlapping_objects)
{
    DUMP dump;
    dump_start_modern(&dump, "go1.19.8");
    dump_object(&dump, BASE, 64, WORDS(BASE));
    dump_object(&dump, BASE + 32, 64, WORDS(BASE + 32)); /* overlaps the one before */
    dump_object(&dump, BASE + 96, 32, WORDS(BASE + 96));
    dump_object(&dump, BASE + 0x10000, 0x4000, WORDS(BASE + 0x10000)); /* overlaps the next two */
    dump_object(&dump, BASE + 0x12000, 64, WORDS(BASE + 0x12000));
    dump_object(&dump, BASE + 0x13000, 64, WORDS(BASE + 0x13000));
    dump_eof(&dump);
    dump_load(&dump, 1);
    assert_int_equal(g2h_heap_account(dump.heap)->overlapping, 2);
    assert_int_equal(g2h_heap_object_count(dump.heap), 4);
    assert_int_equal(heap_address(dump.heap, 0), BASE + 32);
    assert_int_equal(heap_address(dump.heap, 2), BASE + 0x12000);
    expect_objects(dump.heap);
}

TEST(misplaced_objects)
{
    const uint64_t addresses[] = {0, BASE + 4, BASE + 1, (uint64_t)1 << 56, UINT64_MAX - 7};
    DUMP dump;
    dump_start_modern(&dump, "go1.19.8");
    dump_object(&dump, BASE, 16, WORDS(BASE));
    for (size_t i = 0; i < 5; i++)
        dump_object(&dump, addresses[i], 16, WORDS(1));
    dump_object(&dump, BASE + 16, 0, NO_WORDS);
    dump_object(&dump, BASE + 32, 16, WORDS(BASE + 32));
    dump_eof(&dump);
    dump_load(&dump, 1);
    assert_int_equal(g2h_heap_account(dump.heap)->misplaced, 6);
    assert_int_equal(g2h_heap_object_count(dump.heap), 2);
    expect_objects(dump.heap);
}

/* Objects whose contents need not be in the file: together they are larger than the heap's range,
 * and then the range itself is larger than any machine has. */
TEST(objects_larger_than_the_heap)
{
    const uint64_t huge = (uint64_t)1 << 41; /* 32 bits of it are 0: nothing is stored */
    struct dump dump;
    for (int range = 0; range < 2; range++) {
        dump_start_large(&dump, "go1.19.8", range == 0 ? huge + huge / 2 : (uint64_t)1 << 55);
        for (uint64_t i = 0; i < 1000; i++) {
            dump_tag(&dump, G2H_RECORD_OBJECT);
            dump_uvarints(&dump, WORDS(BASE + i * huge, huge, 0));
        }
        dump_eof(&dump);
        dump_load(&dump, 1);
        assert_int_equal(g2h_heap_account(dump.heap)->misplaced, range == 0 ? 999 : 1000);
        assert_int_equal(g2h_heap_object_count(dump.heap), range == 0 ? 1 : 0);
        dump_deinit(&dump);
    }
}

/* Everything before the damage is loaded, and the heap has the reason. */
TEST(cut_dump)
{
    DUMP dump;
    dump_start_modern(&dump, "go1.19.8");
    for (uint64_t i = 0; i < 100; i++)
        dump_object(&dump, BASE + i * 64, 64, WORDS(BASE + i * 64));
    dump.size -= 5;
    dump_load(&dump, 2);
    assert_int_equal(g2h_heap_object_count(dump.heap), 99);
    assert_non_null(g2h_heap_damage(dump.heap));
    assert_int_equal(g2h_heap_damage(dump.heap)->code, G2H_ERROR_DAMAGED);
    assert_non_null(strstr(g2h_heap_damage(dump.heap)->message, "record 101 (object"));
    assert_int_equal(g2h_heap_account(dump.heap)->bytes_behind, 0);
    expect_objects(dump.heap);
}

/* The facts that a dump from outside has behind its EOF record, cut everywhere. */
TEST(facts_behind_the_end)
{
    static const uint8_t facts[] =
        "go2heapsnapshot facts 1\n\x01\x02\x80\x20\x05\x03\x80\x40\x07\x00rest";
    const uint64_t text = 24, whole = text + 10;
    for (uint64_t size = 0; size < sizeof(facts); size++) {
        struct facts read = {0};
        uint64_t taken;
        assert_null(facts_read(facts, size, &read, &taken));
        assert_int_equal(taken == 0, size < text);
        assert_true(taken <= size && taken <= whole);
        assert_int_equal(read.is_damaged, size > 0 && size < whole);
        assert_false(read.is_partial);
        assert_int_equal(read.has_stack_objects, size > text);
        assert_int_equal(read.types.count, size >= text + 5);
        assert_int_equal(read.untouched.list.count, size >= whole - 1);
        if (read.types.count > 0) {
            assert_int_equal(read.types.data[0].address, 0x1000);
            assert_int_equal(read.types.data[0].type, 5);
        }
        if (read.untouched.list.count > 0) {
            assert_int_equal(read.untouched.list.data[0].begin, 0x2000);
            assert_int_equal(read.untouched.list.data[0].end, 0x2007);
        }
        free(read.types.data);
        ranges_deinit(&read.untouched);
    }
}

/* The ages of objects, cut everywhere: two looks, at the second of which objects of class 5 had
 * ended, and a span of four slots. Spans before the cut are kept. */
TEST(ages_of_objects)
{
    static const uint8_t facts[] = "go2heapsnapshot facts 1\n\x0e\x64\x02\x01\x00\x02"
                                   "\x00\x07\x00\x00"
                                   "\x08\x09\x05\x03\x05\x01\x00"
                                   "\x04\x80\x40\x10\x05\x00\x01\x01\x02\x02\x01\x00",
                         wrong[] = "go2heapsnapshot facts 1\n\x0e\x64\x02\x01\x00\x01"
                                   "\x00\x07\x00\x00\x04\x80\x40\x10\x05\x02\x04\x00";
    uint64_t taken, first;
    enum { LOOKS = 24 + 17, SPANS = LOOKS + 11 };
    for (uint64_t size = 24; size < sizeof(facts); size++) {
        struct facts read = {0};
        assert_null(facts_read(facts, size, &read, &taken));
        assert_int_equal(read.ages != NULL, size >= LOOKS);
        if (read.ages)
            assert_int_equal(read.ages->spans.end - facts, size < SPANS ? LOOKS : SPANS);
        assert_int_equal(read.is_damaged, size < sizeof(facts));
        heap_ages_destroy(read.ages);
    }
    struct facts read = {0};
    assert_null(facts_read(wrong, sizeof(wrong), &read, &taken));
    assert_non_null(read.ages);
    assert_true(read.is_damaged && read.ages->spans.at == read.ages->spans.end);
    heap_ages_destroy(read.ages);
    DUMP dump;
    dump_start_modern(&dump, "go1.26.1");
    for (uint64_t slot = 0; slot < 5; slot++)
        dump_object(&dump, 0x2000 + 16 * slot, 16, WORDS(0, 0));
    dump_eof(&dump);
    dump_bytes(&dump, facts, sizeof(facts));
    dump_load(&dump, 1);
    const struct g2h_ages_known *known = g2h_heap_ages(dump.heap);
    assert_non_null(known);
    assert_int_equal(known->look_count, 2);
    assert_int_equal(known->looks[2].first, 8);
    assert_int_equal(known->looks[2].time, 105);
    static const unsigned ages[] = {0, 1, 1, 2, G2H_AGE_UNKNOWN};
    for (uint32_t i = 0; i < 5; i++)
        assert_int_equal(g2h_heap_age(dump.heap, i), ages[i]);
    assert_int_equal(g2h_heap_ended(dump.heap, 5, 2, &first), 3);
    assert_int_equal(first, 1);
}

/* How a process ended, cut everywhere. */
TEST(ending)
{
    static const uint8_t facts[] = "go2heapsnapshot facts 1\n\x07\x80\x20\x09\x03\x05\x06\x07";
    for (uint64_t size = 0; size < sizeof(facts); size++) {
        struct facts read = {0};
        uint64_t taken;
        assert_null(facts_read(facts, size, &read, &taken));
        assert_int_equal(read.has_ending, size == sizeof(facts) - 1);
        if (!read.has_ending)
            continue;
        assert_int_equal(read.ending.seconds, 0x1000);
        assert_int_equal(read.ending.status, 9);
        assert_true(read.ending.by_oom && read.ending.by_group);
        assert_int_equal(read.ending.resident, 5);
        assert_int_equal(read.ending.peak, 6);
        assert_int_equal(read.ending.limit, 7);
    }
}

/* RSS and its parts, cut everywhere: a later version may have more parts. Parts that are more than
 * the whole are not believed. */
TEST(resident_memory)
{
    static const uint8_t facts[] = "go2heapsnapshot facts 1\n\x0c\x80\x40\x01\x0d\x09\x01\x02\x03"
                                   "\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c",
                         wrong[] = "go2heapsnapshot facts 1\n\x0c\x05\x01\x02\x03\x03";
    struct facts read = {0};
    uint64_t taken;
    for (uint64_t size = 0; size < sizeof(facts); size++) {
        read = (struct facts){0};
        assert_null(facts_read(facts, size, &read, &taken));
        assert_int_equal(read.memory.resident, size == sizeof(facts) - 1 ? 0x2000 : 0);
    }
    assert_true(read.memory.has_counters);
    assert_int_equal(read.memory.parts[G2H_MEMORY_OBJECTS], 9);
    assert_int_equal(read.memory.parts[G2H_MEMORY_PROGRAM], 10);
    read = (struct facts){0};
    assert_null(facts_read(wrong, sizeof(wrong), &read, &taken));
    assert_int_equal(read.memory.resident, 0);
    assert_false(read.is_damaged);
}

/* What was missing when a dump was made, cut everywhere. */
TEST(missing_memory)
{
    static const uint8_t facts[] = "go2heapsnapshot facts 1\n\x06\x08\x80\x20\x09\x03";
    for (uint64_t size = 0; size < sizeof(facts); size++) {
        struct facts read = {0};
        uint64_t taken;
        assert_null(facts_read(facts, size, &read, &taken));
        assert_int_equal(read.is_cut, size == sizeof(facts) - 1);
        if (!read.is_cut)
            continue;
        assert_int_equal(read.missing_bytes, 0x1000);
        assert_int_equal(read.missing_objects, 9);
        assert_int_equal(read.missing_spans, 3);
    }
}

/* What of a process could not be read, cut everywhere; each of the numbers makes the heap inexact,
 * and conservative objects and frames make it incomplete. */
TEST(unread_memory)
{
    static const uint8_t facts[] = "go2heapsnapshot facts 1\n\x06\x09\x01\x02\x03\x04\x80\x20";
    for (uint64_t size = 0; size < sizeof(facts); size++) {
        struct facts read = {0};
        uint64_t taken;
        assert_null(facts_read(facts, size, &read, &taken));
        assert_int_equal(read.unread_words, size == sizeof(facts) - 1 ? 0x1000 : 0);
        assert_int_equal(read.is_damaged, size > 0 && size < sizeof(facts));
    }
    for (size_t number = 0; number <= 5; number++) {
        uint8_t some[] = "go2heapsnapshot facts 1\n\x09\x00\x00\x00\x00\x00\x00";
        DUMP dump;
        dump_start_modern(&dump, "go1.26.1");
        dump_eof(&dump);
        some[25 + number] += number < 5; /* 5: none */
        dump_bytes(&dump, (const char *)some, 31);
        dump_load(&dump, 1);
        assert_null(g2h_heap_damage(dump.heap));
        assert_int_equal(g2h_heap_is_complete(dump.heap), number > 1);
        assert_int_equal(heap_is_exact(dump.heap), number == 5);
        assert_int_equal(g2h_heap_account(dump.heap)->conservative_objects, number == 0);
        assert_int_equal(g2h_heap_account(dump.heap)->conservative_frames, number == 1);
    }
}

/* Objects that secret.Do has allocated: the contents of those that are there are secret. */
TEST(secrets)
{
    DUMP dump;
    struct g2h_object object;
    dump_start_modern(&dump, "go1.26.1");
    dump_object(&dump, 0xc000000000, 64, NO_WORDS);
    dump_object(&dump, 0xc000000040, 64, NO_WORDS);
    dump_eof(&dump);
    dump_bytes(&dump, "go2heapsnapshot facts 1\n\x01\x0a\xc0\x80\x80\x80\x80\x18\x0a\x01", 34);
    dump_bytes(&dump, "", 1);
    dump_load(&dump, 1);
    assert_null(g2h_heap_damage(dump.heap));
    assert_int_equal(g2h_heap_account(dump.heap)->secret_objects, 1);
    object = g2h_heap_object(dump.heap, 0);
    assert_false(heap_is_secret(dump.heap, object.contents.data));
    assert_false(heap_is_secret(dump.heap, object.contents.data + 63));
    object = g2h_heap_object(dump.heap, 1);
    assert_true(heap_is_secret(dump.heap, object.contents.data));
    assert_true(heap_is_secret(dump.heap, object.contents.data + 63));
    assert_false(heap_is_secret(dump.heap, object.contents.data + 64));
    assert_false(heap_is_secret(dump.heap, (const uint8_t *)""));
}

/* The program's data without pointers, which the facts may have in any order, cut everywhere. */
TEST(data_behind_the_end)
{
    static const uint8_t facts[] = "go2heapsnapshot facts 1\n\x05\x80\x40\x80\x80\x08"
                                   "\x04\x80\x20\x03"
                                   "abc"
                                   "\x00"
                                   "rest";
    const uint64_t zeros = 24 + 6, whole = zeros + 7 + 1;
    for (uint64_t size = 0; size < sizeof(facts); size++) {
        struct facts read = {0};
        struct g2h_bytes found;
        uint64_t taken;
        assert_null(facts_read(facts, size, &read, &taken));
        assert_true(taken <= size && taken <= whole);
        assert_int_equal(read.data.count, (size >= zeros) + (size >= whole - 1));
        assert_false(facts_data_at(&read, 0xfff, &found));
        assert_false(facts_data_at(&read, 0x1003, &found));
        assert_int_equal(facts_data_at(&read, 0x1001, &found), size >= whole - 1);
        if (size >= whole - 1) {
            assert_int_equal(found.size, 2);
            assert_memory_equal(found.data, "bc", 2);
        }
        assert_int_equal(facts_data_at(&read, 0x2000 + 0x1ffff, &found), size >= zeros);
        if (size >= zeros) {
            assert_int_equal(found.size, 1);
            assert_int_equal(found.data[0], 0);
            assert_false(facts_data_at(&read, 0x2000 + 0x20000, &found));
        }
        free(read.data.data);
    }
}

/* What is untouched according to the facts, whatever they say, is then a part of one object. */
TEST(untouched_parts)
{
    static const uint8_t facts[] = "go2heapsnapshot facts 1\n";
    const uint64_t first = 0xc000000000, big = 0x20000;
    const struct {
        uint32_t object;
        uint64_t size;
    } expected[] = {{0, 0x8000}, {1, 0x4000}, {2, big}};
    DUMP dump;
    dump_start_modern(&dump, "go1.26.1");
    dump_object(&dump, first, big, NO_WORDS);
    dump_object(&dump, first + big, big, NO_WORDS);
    dump_object(&dump, first + 3 * big, big, NO_WORDS);
    dump_eof(&dump);
    dump_bytes(&dump, facts, sizeof(facts) - 1);
    dump_uvarints(&dump, WORDS(3, first + 3 * big - 0x10, 4 * big)); /* from free memory on */
    dump_uvarints(&dump, WORDS(3, first + big - 0x8000, 0xc000));    /* of two objects */
    dump_uvarints(&dump, WORDS(3, first + 9 * big, big));            /* of no object */
    dump_uvarints(&dump, WORDS(3, 0, 0x1000));
    dump_uvarints(&dump, WORDS(3, first + big - 0x100, 0x80)); /* once more */
    dump_uvarints(&dump, WORDS(3, first + big, 0, 0));
    dump_load(&dump, 1);
    assert_int_equal(g2h_heap_untouched_count(dump.heap), 3);
    for (size_t i = 0; i < 3; i++) {
        uint32_t object;
        assert_int_equal(g2h_heap_untouched(dump.heap, i, &object), expected[i].size);
        assert_int_equal(object, expected[i].object);
    }
}

/* A dump with facts that end before their end is damaged, and what unknown facts hide may be
 * missing. */
TEST(facts_without_their_end)
{
    static const struct {
        const char *facts;
        size_t size;
        bool is_damaged, is_partial;
    } cases[] = {{"go2heapsnapshot facts 1\n\x01\x00", 26, false, false},
                 {"go2heapsnapshot facts 1\n\x01", 25, true, false},
                 {"go2heapsnapshot facts 1\n\x04\x01\x02", 27, true, false},
                 {"go2heapsnapshot facts 1", 23, true, false},
                 {"go2heapsnapshot facts 1\n\x11\x00", 26, false, true}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        DUMP dump;
        dump_start_modern(&dump, "go1.26.1");
        dump_eof(&dump);
        dump_bytes(&dump, cases[i].facts, cases[i].size);
        dump_load(&dump, 1);
        assert_int_equal(g2h_heap_damage(dump.heap) != NULL, cases[i].is_damaged);
        assert_int_equal(dump.heap->facts.is_partial, cases[i].is_partial);
    }
}

TEST(bytes_behind_the_end)
{
    DUMP dump;
    dump_start_modern(&dump, "go1.19.8");
    dump_eof(&dump);
    dump_bytes(&dump, "behind", 6);
    dump_load(&dump, 1);
    assert_null(g2h_heap_damage(dump.heap));
    assert_int_equal(g2h_heap_account(dump.heap)->bytes_behind, 6);
    assert_int_equal(g2h_heap_account(dump.heap)->bytes_read, dump.size - 6);
}

/* ---- phantoms ---- */

/* Writes all slots of a page; slots that overlap the tail have no fields. Returns the number of
 * slots. */
static uint64_t put_page(struct dump *dump, uint64_t page, uint64_t size, bool pointers,
                         uint64_t reserve)
{
    uint64_t slots = PAGE / size;
    for (uint64_t i = 0; i < slots; i++) {
        bool phantom = (i + 1) * size > PAGE - reserve;
        if (pointers && !phantom)
            dump_object(dump, page + i * size, size, WORDS(page + i * size));
        else
            dump_object(dump, page + i * size, size, NO_WORDS);
    }
    return slots;
}

/* Writes pages with pointers and without, a page of 8-byte slots and one of slots that are too
 * large; returns the number of phantoms in them. */
static uint64_t put_pages(struct dump *dump, bool bitmap, bool green_tea, uint64_t *ret_objects)
{
    const uint64_t with = (bitmap ? 128u : 0u) + (green_tea ? 128u : 0u),
                   without = green_tea ? 128 : 0;
    static const uint64_t sizes[] = {16, 48, 112, 512};
    uint64_t slots = 0, real = 0, page = BASE;
    for (int i = 0; i < 4; i++, page += 2 * PAGE) {
        slots += put_page(dump, page, sizes[i], true, with);
        real += (PAGE - with) / sizes[i];
        slots += put_page(dump, page + PAGE, sizes[i], false, without);
        real += (PAGE - without) / sizes[i];
    }
    slots += put_page(dump, page, 8, false, 0); /* this page has no mark bits */
    real += PAGE / 8;
    slots += put_page(dump, page + PAGE, 576, true, 0);
    real += PAGE / 576;
    *ret_objects = real;
    return slots - real;
}

TEST(phantoms_of_versions)
{
    static const struct {
        const char *version;
        bool bitmap, green_tea;
    } cases[] = {{"go1.21.5", false, false},
                 {"go1.22.1", true, false},
                 {"go1.22.1 X:noallocheaders", false, false},
                 {"go1.25.1 X:greenteagc", true, true},
                 {"go1.26.1", true, true},
                 {"go1.26.11-X:nogreenteagc", true, false}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        DUMP dump;
        uint64_t objects, phantoms;
        dump_start_modern(&dump, cases[i].version);
        phantoms = put_pages(&dump, cases[i].bitmap, cases[i].green_tea, &objects);
        dump_eof(&dump);
        dump_load(&dump, 1 + (unsigned)i % 3);
        assert_int_equal(g2h_heap_object_count(dump.heap), objects);
        assert_int_equal(g2h_heap_account(dump.heap)->phantoms, phantoms);
        assert_int_equal(g2h_heap_account(dump.heap)->overlapping, 0);
        expect_ascending(dump.heap);
    }
}

/* memstats' count is exact, so it corrects a version that does not tell the tail, except in a dump
 * that is cut. */
TEST(memstats_has_the_last_word)
{
    static const struct {
        const char *version;
        bool bitmap, green_tea;
    } cases[] = {{"go1.26.1", true, false},
                 {"devel +123456", true, true},
                 {"go1.26.1", false, false},
                 {"go1.22.1", true, true}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        DUMP dump;
        uint64_t objects;
        dump_start_modern(&dump, cases[i].version);
        put_pages(&dump, cases[i].bitmap, cases[i].green_tea, &objects);
        dump_memstats(&dump, objects, 0);
        dump_eof(&dump);
        dump_load(&dump, 1);
        assert_int_equal(g2h_heap_object_count(dump.heap), objects);
        assert_int_equal(g2h_heap_memstats(dump.heap)->numbers[G2H_MEMSTATS_HEAP_OBJECTS], objects);
    }
}

/* A count that no tail explains changes nothing. */
TEST(memstats_that_fits_nothing)
{
    DUMP dump;
    uint64_t objects;
    dump_start_modern(&dump, "go1.22.1");
    put_pages(&dump, true, false, &objects);
    dump_memstats(&dump, objects + 12345, 0);
    dump_eof(&dump);
    dump_load(&dump, 1);
    assert_int_equal(g2h_heap_object_count(dump.heap), objects);
}

/* ---- types, frames, slot classes ---- */

TEST(first_type_record_counts)
{
    const struct g2h_field fields[] = {{G2H_FIELD_POINTER, 8}, {G2H_FIELD_POINTER, 16}};
    DUMP dump;
    dump_start(&dump, DUMP_1_3, 8, false);
    dump_type(&dump, 0x4a0000, 24, "main.First", true, fields, 2);
    dump_type(&dump, 0x4a0000, 24, "main.Second", false, fields, 1);
    dump_itab(&dump, 0x4b0000, 1);
    dump_itab(&dump, 0x4b0000, 0);
    dump_typed_object(&dump, BASE, 0x4a0000, 0, 32, NO_WORDS);
    dump_typed_object(&dump, BASE + 32, 0x4a0000, 1, 32, NO_WORDS);
    dump_typed_object(&dump, BASE + 64, 0x4a0000, 0, 32, NO_WORDS);
    dump_typed_object(&dump, BASE + 96, 0x4a9999, 0, 32, NO_WORDS); /* this type has no record */
    dump_typed_object(&dump, BASE + 128, 0, 127, 32, NO_WORDS);
    dump_eof(&dump);
    const struct g2h_heap *heap = dump_load(&dump, 1);
    assert_int_equal(heap->types.count, 1);
    assert_memory_equal(heap->types.data[0].name.data, "main.First", 10);
    assert_int_equal(heap->types.data[0].field_count, 2);
    assert_int_equal(heap->itabs.count, 1);
    assert_true(heap->itabs.data[0].data_is_pointer);
    assert_int_equal(heap_slot_class_number(heap, 0), heap_slot_class_number(heap, 2));
    assert_int_not_equal(heap_slot_class_number(heap, 0), heap_slot_class_number(heap, 1));
    assert_int_equal(heap->slot_classes.list.count, 4);
    assert_int_equal(heap_slot_class(heap, 3)->type, SLOT_CLASS_NO_TYPE);
    assert_false(heap_slot_class(heap, 3)->has_pointers);
    assert_true(heap_slot_class(heap, 4)->has_pointers);
}

/* Objects of a size share a slot class if they agree on having pointers; sizes of all sorts have
 * slot classes of their own. */
TEST(slot_classes_by_size_and_pointers)
{
    static const uint64_t sizes[] = {8, 16, 12, 32768, 32776, 40960, 4194304, 4194308};
    enum { SIZES = 8 };
    DUMP dump;
    uint64_t address = BASE;
    dump_start_modern(&dump, "go1.19.8");
    for (int round = 0; round < 4; round++)
        for (int i = 0; i < SIZES; i++, address += (uint64_t)1 << 23) {
            if (round % 2)
                dump_object(&dump, address, sizes[i], WORDS(address));
            else
                dump_object(&dump, address, sizes[i], NO_WORDS);
        }
    dump_eof(&dump);
    const struct g2h_heap *heap = dump_load(&dump, 2);
    assert_int_equal(heap->slot_classes.list.count, 2 * SIZES);
    for (uint32_t i = 0; i < 4 * SIZES; i++) {
        const struct slot_class *slot_class = heap_slot_class(heap, i);
        assert_int_equal(slot_class->size, sizes[i % SIZES]);
        assert_int_equal(slot_class->has_pointers, i / SIZES % 2);
    }
}

TEST(frames_follow_their_goroutine)
{
    DUMP dump;
    struct g2h_record record;
    dump_start_modern(&dump, "go1.19.8");
    dump_goroutine(&dump, 1, 0x1000, 0x2000);
    dump_goroutine(&dump, 7, 0x1100, 0x3000);
    dump_frame(&dump, "main.f", 0x3000, 0, WORDS(0), 1);
    dump_frame(&dump, "main.g", 0x3008, 1, WORDS(0), 1);
    dump_goroutine(&dump, 9, 0x1200, 0x4000);
    dump_frame(&dump, "main.h", 0x4000, 0, WORDS(0), 1);
    dump_eof(&dump);
    const struct g2h_heap *heap = dump_load(&dump, 1);
    assert_int_equal(g2h_heap_record_count(heap, G2H_RECORD_GOROUTINE), 3);
    assert_int_equal(g2h_heap_record_count(heap, G2H_RECORD_STACKFRAME), 3);
    assert_int_equal(heap->goroutines.data[0].frame_count, 0);
    assert_int_equal(heap->goroutines.data[1].frame_count, 2);
    assert_int_equal(heap->goroutines.data[2].first_frame, 2);
    assert_int_equal(heap->goroutines.data[2].frame_count, 1);
    g2h_heap_record(heap, G2H_RECORD_STACKFRAME, 1, &record);
    assert_memory_equal(record.stackframe.function.data, "main.g", 6);
    g2h_heap_record(heap, G2H_RECORD_GOROUTINE, 2, &record);
    assert_int_equal(record.goroutine.goid, 9);
}

/* The rate at which a process samples, cut everywhere. */
TEST(rate)
{
    static const uint8_t facts[] = "go2heapsnapshot facts 1\n\x0b\x80\x20";
    for (uint64_t size = 0; size < sizeof(facts); size++) {
        struct facts read = {0};
        uint64_t taken;
        assert_null(facts_read(facts, size, &read, &taken));
        assert_int_equal(read.has_alloc_rate, size == sizeof(facts) - 1);
        if (read.has_alloc_rate)
            assert_int_equal(read.alloc_rate, 0x1000);
    }
}

enum { SAMPLED_SIZE = 24, MANY = 4000 };

/* Makes a dump of MANY objects of 24 bytes, of which some have samples, as fact has a rate, unless
 * it is NULL. Returns the rate by which they are scaled. */
static uint64_t rate_of(uint64_t samples, const char *fact)
{
    DUMP dump;
    struct g2h_sampling sampling;
    const struct g2h_record site = {.kind = G2H_RECORD_MEMPROF,
                                    .memprof = {.id = 0x7000,
                                                .size = SAMPLED_SIZE,
                                                .allocs = samples,
                                                .frames = {(const uint8_t *)"", 0}}};
    dump_start_modern(&dump, "go1.27.1");
    for (uint64_t i = 0; i < MANY; i++)
        dump_object(&dump, 0xc000000000 + i * SAMPLED_SIZE, SAMPLED_SIZE, 0, NULL);
    dump_record(&dump, &site, NULL, 0);
    for (uint64_t i = 0; i < samples; i++) {
        const struct g2h_record sample = {
            .kind = G2H_RECORD_ALLOCSAMPLE,
            .allocsample = {0xc000000000 + i * SAMPLED_SIZE, site.memprof.id}};
        dump_record(&dump, &sample, NULL, 0);
    }
    dump_memstats(&dump, MANY, MANY * SAMPLED_SIZE);
    dump_eof(&dump);
    if (fact)
        dump_bytes(&dump, fact, strlen(fact) + 1);
    dump_load(&dump, 1);
    g2h_sampling(dump.heap, &sampling);
    return sampling.rate;
}

/* At the usual rate 4,000 objects of 24 bytes have no sample: one of 21,845 has. Forty samples are
 * one of a hundred, so that the rate is a hundred objects' bytes. */
TEST(samples_refute_a_rate)
{
    assert_int_equal(rate_of(MANY, NULL), 1);
    assert_int_equal(rate_of(1, NULL), G2H_MEMPROFILE_RATE);
    assert_int_equal(rate_of(40, NULL), 2048);
    assert_int_equal(rate_of(400, NULL), 256);
    assert_int_equal(rate_of(40, "go2heapsnapshot facts 1\n\x0b\x80\x20"), 4096);
    assert_int_equal(rate_of(MANY, "go2heapsnapshot facts 1\n\x0b\x80\x20"), 4096);
}

UNIT_MAIN(NULL, NULL)
