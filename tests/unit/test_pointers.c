/* Covers heap/pointers: fields of 1.3 by type, arrays, channels, conservative objects; 1.4; 1.5 and
 * later; both byte orders. */
#include "dump_builder.h"

#include "heap/pointers.h"
#include "input/input.h"

struct found {
    uint64_t offset, value;
};

enum { MOST = 64 };

static size_t collect(struct pointers *pointers, struct found *ret)
{
    size_t count = 0;
    while (pointers_next(pointers, &ret[count].offset, &ret[count].value))
        assert_true(++count < MOST);
    return count;
}

/* Expects the dump's first object to have these pointers: offset, value, …. */
static void expect_object(const struct dump *dump, size_t count, const uint64_t *numbers)
{
    const struct g2h_heap *heap = dump->heap;
    struct found found[MOST];
    struct pointers pointers;
    struct g2h_object object = g2h_heap_object(heap, 0);
    pointers_of_object(heap, &object, heap_slot_class(heap, 0), &pointers);
    assert_int_equal(collect(&pointers, found), count / 2);
    for (size_t i = 0; i < count / 2; i++) {
        assert_int_equal(found[i].offset, numbers[2 * i]);
        assert_int_equal(found[i].value, numbers[2 * i + 1]);
    }
}

/* Addresses of types and itabs: values of these types in an interface are pointers, or are not. */
enum {
    T = 0x4a0000,
    POINTER_TYPE = 0x4a1000,
    SCALAR_TYPE = 0x4a2000,
    POINTER_ITAB = 0x4b1000,
    SCALAR_ITAB = 0x4b2000,
    UNKNOWN = 0x4c0000
};

static void put_types(struct dump *dump, uint64_t size, const struct g2h_field *fields,
                      size_t count)
{
    dump_type(dump, T, size, "main.T", true, fields, count);
    dump_type(dump, POINTER_TYPE, dump->pointer_size, "*int", true, NULL, 0);
    dump_type(dump, SCALAR_TYPE, dump->pointer_size, "int", false, NULL, 0);
    dump_itab(dump, POINTER_ITAB, 1);
    dump_itab(dump, SCALAR_ITAB, 0);
}

/* Checks dumps of one object of type T and a kind, in all formats before 1.4, word sizes and byte
 * orders. */
static void check_typed(const struct g2h_field *fields, size_t field_count, uint64_t kind,
                        size_t word_count, const uint64_t *words, size_t expected_count,
                        const uint64_t *expected)
{
    const enum dump_format formats[] = {DUMP_2013, DUMP_1_3_BETA, DUMP_1_3};
    for (unsigned i = 0; i < 12; i++) {
        DUMP dump;
        struct g2h_field scaled[8];
        uint64_t places[2 * MOST];
        const uint64_t word = i & 1 ? 8 : 4;
        for (size_t j = 0; j < field_count; j++) /* offsets are given in words */
            scaled[j] = (struct g2h_field){fields[j].kind, fields[j].offset * word};
        for (size_t j = 0; j < expected_count; j++)
            places[j] = j % 2 ? expected[j] : expected[j] * word;
        dump_start(&dump, formats[i / 4], word, i & 2);
        put_types(&dump, word_count * word, scaled, field_count);
        dump_typed_object(&dump, dump.heap_start, T, kind, word_count * word, word_count, words);
        dump_eof(&dump);
        dump_load(&dump, 1);
        assert_null(g2h_heap_damage(dump.heap));
        expect_object(&dump, expected_count, places);
    }
}

#define FIELDS(...) \
    (const struct g2h_field[]){__VA_ARGS__}, \
        sizeof((struct g2h_field[]){__VA_ARGS__}) / sizeof(struct g2h_field)

TEST(pointers_of_1_3)
{
    check_typed(FIELDS({G2H_FIELD_POINTER, 0}, {G2H_FIELD_POINTER, 2}, {G2H_FIELD_POINTER, 3}), 0,
                WORDS(0x1111, 0x2222, 0, 0x4444), WORDS(0, 0x1111, 3, 0x4444));
}

/* The collector does not follow an empty string. */
TEST(strings_of_1_3)
{
    check_typed(FIELDS({G2H_FIELD_STRING, 0}), 0, WORDS(0x1111, 5), WORDS(0, 0x1111));
    check_typed(FIELDS({G2H_FIELD_STRING, 0}), 0, WORDS(0x1111, 0), NO_WORDS);
    check_typed(FIELDS({G2H_FIELD_STRING, 0}), 0, WORDS(0, 5), NO_WORDS);
}

/* Nor does it follow a slice without capacity, whatever the length. */
TEST(slices_of_1_3)
{
    check_typed(FIELDS({G2H_FIELD_SLICE, 1}), 0, WORDS(7, 0x1111, 0, 5), WORDS(1, 0x1111));
    check_typed(FIELDS({G2H_FIELD_SLICE, 1}), 0, WORDS(7, 0x1111, 5, 0), NO_WORDS);
}

TEST(ifaces_of_1_3)
{
    check_typed(FIELDS({G2H_FIELD_IFACE, 0}), 0, WORDS(POINTER_ITAB, 0x1111),
                WORDS(0, POINTER_ITAB, 1, 0x1111));
    check_typed(FIELDS({G2H_FIELD_IFACE, 0}), 0, WORDS(SCALAR_ITAB, 0x1111), WORDS(0, SCALAR_ITAB));
    check_typed(FIELDS({G2H_FIELD_IFACE, 0}), 0, WORDS(UNKNOWN, 0x1111),
                WORDS(0, UNKNOWN, 1, 0x1111));
    check_typed(FIELDS({G2H_FIELD_IFACE, 0}), 0, WORDS(POINTER_ITAB, 0), WORDS(0, POINTER_ITAB));
    check_typed(FIELDS({G2H_FIELD_IFACE, 0}), 0, WORDS(0, 0x1111), NO_WORDS);
    /* an itab is not looked for among the types */
    check_typed(FIELDS({G2H_FIELD_IFACE, 0}), 0, WORDS(SCALAR_TYPE, 0x1111),
                WORDS(0, SCALAR_TYPE, 1, 0x1111));
}

TEST(efaces_of_1_3)
{
    check_typed(FIELDS({G2H_FIELD_EFACE, 0}, {G2H_FIELD_POINTER, 2}), 0,
                WORDS(POINTER_TYPE, 0x1111, 0x2222), WORDS(0, POINTER_TYPE, 1, 0x1111, 2, 0x2222));
    check_typed(FIELDS({G2H_FIELD_EFACE, 0}, {G2H_FIELD_POINTER, 2}), 0,
                WORDS(SCALAR_TYPE, 0x1111, 0x2222), WORDS(0, SCALAR_TYPE, 2, 0x2222));
    check_typed(FIELDS({G2H_FIELD_EFACE, 0}, {G2H_FIELD_POINTER, 2}), 0, WORDS(0, 0x1111, 0x2222),
                WORDS(2, 0x2222));
    check_typed(FIELDS({G2H_FIELD_EFACE, 0}), 0, WORDS(SCALAR_ITAB, 0x1111),
                WORDS(0, SCALAR_ITAB, 1, 0x1111));
}

/* ---- arrays, channels, conservative objects ---- */

/* Loads a dump of an object of kind and size whose type has elements of element_size bytes; all of
 * the object's words have values. */
static void put_object_of(struct dump *dump, uint64_t kind, uint64_t element_size, uint64_t size)
{
    const struct g2h_field fields[] = {{G2H_FIELD_POINTER, 0}, {G2H_FIELD_POINTER, 16}};
    uint64_t words[32];
    for (uint64_t i = 0; i < 32; i++)
        words[i] = 0x1000 + i;
    dump_start(dump, DUMP_1_3, 8, false);
    put_types(dump, element_size, fields, element_size < 24 ? element_size / 8 > 0 : 2);
    dump_typed_object(dump, dump->heap_start, kind == 127 ? 0 : T, kind, size, (size_t)(size / 8),
                      words);
    dump_eof(dump);
    dump_load(dump, 1);
    assert_null(g2h_heap_damage(dump->heap));
}

TEST(arrays)
{
    struct dump dump;
    put_object_of(&dump, G2H_OBJECT_ARRAY, 24, 72);
    expect_object(&dump,
                  WORDS(0, 0x1000, 16, 0x1002, 24, 0x1003, 40, 0x1005, 48, 0x1006, 64, 0x1008));
    dump_deinit(&dump);
    put_object_of(&dump, G2H_OBJECT_ARRAY, 24,
                  64); /* the bytes behind the last whole element are no element */
    expect_object(&dump, WORDS(0, 0x1000, 16, 0x1002, 24, 0x1003, 40, 0x1005));
    dump_deinit(&dump);
    put_object_of(&dump, G2H_OBJECT_ARRAY, 8, 24);
    expect_object(&dump, WORDS(0, 0x1000, 8, 0x1001, 16, 0x1002));
    dump_deinit(&dump);
    put_object_of(&dump, G2H_OBJECT_ARRAY, 24, 16); /* shorter than an element */
    expect_object(&dump, NO_WORDS);
    dump_deinit(&dump);
    put_object_of(&dump, G2H_OBJECT_ARRAY, 0, 64); /* elements of no size must not loop */
    expect_object(&dump, NO_WORDS);
    dump_deinit(&dump);
}

TEST(channels)
{
    struct dump dump;
    put_object_of(&dump, G2H_OBJECT_CHAN, 24, 88 + 2 * 24); /* hchansize is 88 */
    expect_object(&dump, WORDS(88, 0x100b, 104, 0x100d, 112, 0x100e, 128, 0x1010));
    dump_deinit(&dump);
    put_object_of(&dump, G2H_OBJECT_CHAN, 24, 88); /* unbuffered */
    expect_object(&dump, NO_WORDS);
    dump_deinit(&dump);
    put_object_of(&dump, G2H_OBJECT_CHAN, 24, 64); /* shorter than its header */
    expect_object(&dump, NO_WORDS);
    dump_deinit(&dump);
}

TEST(conservative_objects)
{
    struct dump dump;
    put_object_of(&dump, G2H_OBJECT_CONSERVATIVE, 24, 32);
    expect_object(&dump, WORDS(0, 0x1000, 8, 0x1001, 16, 0x1002, 24, 0x1003));
    dump_deinit(&dump);
    put_object_of(&dump, G2H_OBJECT_CONSERVATIVE, 24, 28); /* the last word is not whole */
    expect_object(&dump, WORDS(0, 0x1000, 8, 0x1001, 16, 0x1002));
    dump_deinit(&dump);
}

/* A value's slot may be larger than its type; if the type is larger than the slot, only the slot's
 * words count. */
TEST(values_and_slots)
{
    struct dump dump;
    put_object_of(&dump, G2H_OBJECT_VALUE, 24, 64);
    expect_object(&dump, WORDS(0, 0x1000, 16, 0x1002));
    dump_deinit(&dump);
    put_object_of(&dump, G2H_OBJECT_VALUE, 24, 16);
    expect_object(&dump, WORDS(0, 0x1000));
    dump_deinit(&dump);
}

/* ---- 1.4 and later ---- */

static void put_listed(struct dump *dump, enum dump_format format, uint64_t word, bool big_endian,
                       const struct g2h_field *fields, size_t count, size_t word_count,
                       const uint64_t *words)
{
    dump_start(dump, format, word, big_endian);
    dump_tag(dump, G2H_RECORD_OBJECT);
    dump_uvarint(dump, dump->heap_start);
    dump_memory(dump, word_count * word, word_count, words);
    dump_fields(dump, fields, count);
    dump_eof(dump);
    dump_load(dump, 1);
    assert_null(g2h_heap_damage(dump->heap));
}

/* An interface is one field of two words; the data word always is a pointer. */
TEST(interfaces_of_1_4)
{
    for (uint64_t i = 0; i < 4; i++) {
        struct dump dump;
        const uint64_t word = i & 1 ? 8 : 4;
        const struct g2h_field fields[] = {{G2H_FIELD_POINTER, 0},
                                           {G2H_FIELD_IFACE, word},
                                           {G2H_FIELD_EFACE, 3 * word},
                                           {G2H_FIELD_POINTER, 5 * word}};
        put_listed(&dump, DUMP_1_4, word, i & 2, fields, 4,
                   WORDS(0x11, 0x22, 0x33, 0x44, 0x55, 0x66));
        expect_object(&dump, WORDS(0, 0x11, word, 0x22, 2 * word, 0x33, 3 * word, 0x44, 4 * word,
                                   0x55, 5 * word, 0x66));
        dump_deinit(&dump);
        put_listed(&dump, DUMP_1_4, word, i & 2, fields, 4, WORDS(0, 0, 0x33, 0x44, 0, 0x66));
        expect_object(&dump, WORDS(3 * word, 0x44, 5 * word, 0x66));
        dump_deinit(&dump);
    }
}

/* Only the words in the list are pointers, in its order, except those that are nil. */
TEST(listed_pointers)
{
    const enum dump_format formats[] = {DUMP_1_4, DUMP_1_5, DUMP_1_6, DUMP_1_7};
    for (uint64_t i = 0; i < 16; i++) {
        DUMP dump;
        const uint64_t word = i & 1 ? 8 : 4;
        const uint64_t high = word == 8 ? 0xc012345678 : 0xdeadbeef;
        const struct g2h_field fields[] = {{G2H_FIELD_POINTER, word},
                                           {G2H_FIELD_POINTER, 2 * word},
                                           {G2H_FIELD_POINTER, 4 * word}};
        put_listed(&dump, formats[i / 4], word, i & 2, fields, 3, WORDS(0x11, 0x22, 0, 0x44, high));
        expect_object(&dump, WORDS(word, 0x22, 4 * word, high));
    }
}

/* Large objects, whose lists have gaps; most of their words are nil, and a few words are out of
 * order, which no Go writes. */
TEST(long_lists)
{
    enum { WORDS_OF_OBJECT = 5000 };
    uint64_t random = 5;
    struct g2h_field *fields = calloc(WORDS_OF_OBJECT, sizeof(*fields));
    uint64_t *words = calloc(WORDS_OF_OBJECT, sizeof(*words));
    for (unsigned i = 0; i < 16; i++) {
        struct dump dump;
        const uint64_t word = i & 1 ? 8 : 4;
        size_t count = 0;
        for (uint64_t at = 0; at < WORDS_OF_OBJECT; at += 1 + unit_random(&random) % (1 + i * i)) {
            words[at] = unit_random(&random) % 4 == 0 ? 0x1000 + at : 0;
            fields[count++] = (struct g2h_field){G2H_FIELD_POINTER, at * word};
        }
        for (size_t j = 0; i >= 8 && j < 20; j++) {
            const struct g2h_field field = fields[unit_random(&random) % count];
            fields[unit_random(&random) % count] = field;
        }
        put_listed(&dump, DUMP_1_7, word, i & 2, fields, count, WORDS_OF_OBJECT, words);
        struct pointers pointers;
        struct g2h_object object = g2h_heap_object(dump.heap, 0);
        uint64_t offset, value;
        pointers_of_object(dump.heap, &object, heap_slot_class(dump.heap, 0), &pointers);
        for (size_t j = 0; j < count; j++) {
            if (words[fields[j].offset / word] == 0)
                continue;
            assert_true(pointers_next(&pointers, &offset, &value));
            assert_int_equal(offset, fields[j].offset);
            assert_int_equal(value, words[offset / word]);
        }
        assert_false(pointers_next(&pointers, &offset, &value));
        assert_false(pointers_next(&pointers, &offset, &value));
        dump_deinit(&dump);
        memset(words, 0, WORDS_OF_OBJECT * sizeof(*words));
    }
    free(words);
    free(fields);
}

/* An object of 4 GiB and 24 bytes has 24 bytes in the file; fields beyond these bytes are passed
 * over. */
TEST(fields_that_are_not_in_the_file)
{
    DUMP dump;
    uint8_t contents[24] = {0};
    dump_start_large(&dump, "go1.26.1", (uint64_t)1 << 33);
    dump_store(&dump, contents, 0x11);
    dump_store(&dump, contents + 16, 0x33);
    dump_tag(&dump, G2H_RECORD_OBJECT);
    dump_uvarints(&dump, WORDS(dump.heap_start, ((uint64_t)1 << 32) + 24));
    dump_bytes(&dump, contents, 24);
    dump_uvarints(&dump, WORDS(1, 0, 1, 16, 1, 24, 1, 0x80000000, 0));
    dump_eof(&dump);
    dump_load(&dump, 1);
    assert_null(g2h_heap_damage(dump.heap));
    expect_object(&dump, WORDS(0, 0x11, 16, 0x33));
}

/* Frames and segments have field lists of their own in all formats with contents. */
TEST(segments)
{
    for (int format = DUMP_1_3_BETA; format < DUMP_FORMATS; format++) {
        DUMP dump;
        struct g2h_record record;
        struct pointers pointers;
        struct found found[MOST];
        dump_start(&dump, (enum dump_format)format, 8, true);
        dump_bss(&dump, 0x560000, WORDS(0x11, 0, 0x33));
        dump_eof(&dump);
        dump_load(&dump, 1);
        g2h_heap_record(dump.heap, G2H_RECORD_BSS, 0, &record);
        pointers_of_fields(dump.heap, record.segment.contents, record.segment.fields, &pointers);
        assert_int_equal(collect(&pointers, found), 2);
        assert_int_equal(found[0].value, 0x11);
        assert_int_equal(found[1].offset, 16);
        assert_int_equal(found[1].value, 0x33);
        pointers_of_words(dump.heap, record.segment.contents, &pointers);
        assert_int_equal(collect(&pointers, found), 2);
    }
}

/* The contents of an object of 4 GiB and 20,008 bytes begin in a hole of the file, whose end is in
 * the last word that the file has. Fields beyond that word are passed over, too: the bytes there
 * are those of the list itself. */
TEST(fields_behind_a_hole)
{
    enum { STORED = 20008, LAST = STORED - 8, IN_LAST = LAST + 4 };
    DUMP dump;
    struct input_file file = {.fd = -1};
    uint8_t *contents = calloc(1, STORED);
    dump_start_large(&dump, "go1.26.1", (uint64_t)1 << 33);
    dump_store(&dump, contents + LAST, (uint64_t)0x11 << 32);
    dump_tag(&dump, G2H_RECORD_OBJECT);
    dump_uvarints(&dump, WORDS(dump.heap_start, ((uint64_t)1 << 32) + STORED));
    dump_bytes(&dump, contents, STORED);
    dump_uvarints(&dump, WORDS(1, LAST, 1, LAST + 8, 1, LAST + 16, 1, LAST + 24, 0));
    dump_eof(&dump);
    dump_load(&dump, 1);
    assert_null(g2h_heap_damage(dump.heap));
    const uint64_t begin =
        (uint64_t)(g2h_heap_object(dump.heap, 0).contents.data - dump.input->data);
    assert_true(ranges_add(&file.holes, begin, begin + IN_LAST));
    dump.input->file = &file;
    expect_object(&dump, WORDS(LAST, (uint64_t)0x11 << 32));
    dump.input->file = NULL;
    ranges_deinit(&file.holes);
    free(contents);
}

UNIT_MAIN(NULL, NULL)
