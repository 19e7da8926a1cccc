/* Covers heap/runs and how heap/load reads ahead: the loaded heap is the one that a reader finds
 * that goes from record to record, whatever the threads guess about where records begin. */
#include "dump_builder.h"

#include "heap/runs.h"

enum { PAGE = 8192, WINDOW = 1 << 18 };
#define BASE 0xc000000000

/* ---- dumps that are hard to cut ---- */

/* Writes a uvarint that is longer than necessary. */
static void put_padded(struct dump *dump, uint64_t value)
{
    uint8_t bytes[10];
    unsigned size = 0;
    for (; value >= 0x80; value >>= 7)
        bytes[size++] = (uint8_t)(value | 0x80);
    bytes[size++] = (uint8_t)(value | 0x80);
    bytes[size++] = 0;
    dump_bytes(dump, bytes, size);
}

/* Writes an object without pointers whose tag or one of whose numbers is not written as Go does. */
static void put_odd_object(struct dump *dump, uint64_t address, uint64_t size, unsigned which)
{
    const uint64_t values[] = {1, address, size};
    uint8_t contents[64] = {0};
    for (unsigned i = 0; i < 3; i++) {
        if (i == which)
            put_padded(dump, values[i]);
        else
            dump_uvarint(dump, values[i]);
    }
    dump_bytes(dump, contents, size);
    dump_bytes(dump, "", 1);
}

/* Writes an object that holds a part of a dump: many plausible objects in a row, all of them at
 * addresses that other objects have. */
static void put_dump_in_dump(struct dump *dump, uint64_t address, uint64_t size)
{
    DUMP inner;
    dump_start_modern(&inner, "go1.19.8");
    for (uint64_t at = BASE + 48; inner.size < size + 100; at += 48)
        dump_object(&inner, at, 48, WORDS(at, 0));
    dump_uvarints(dump, 3, (const uint64_t[]){1, address, size});
    dump_bytes(dump, inner.data + 50, size);
    dump_bytes(dump, "", 1);
}

/* Writes a few MB of objects of many kinds; now and then something that ends a run, and if is_odd,
 * objects that are not as Go writes them. */
static void make_dump(struct dump *dump, uint64_t seed, enum dump_format format, bool is_odd)
{
    static const uint32_t sizes[] = {8, 16, 48, 112, 512, 1024, 4096, 8192};
    uint64_t random = seed, address = BASE;
    uint64_t words[1024];
    dump_begin(dump, format, 8, false);
    dump->version = "go1.26.1";
    dump->heap_start = BASE;
    dump->heap_end = BASE + (64 << 20);
    dump_params(dump);
    while (dump->size < 6 * WINDOW) {
        const uint64_t kind = unit_random(&random) % 100;
        const uint32_t size = sizes[unit_random(&random) % 8];
        address += PAGE * (1 + unit_random(&random) % 3);
        for (uint64_t at = 0; at + size <= PAGE; at += size) {
            size_t count = unit_random(&random) % 3 ? unit_random(&random) % (size / 8 + 1) : 0;
            for (size_t i = 0; i < count; i++)
                words[i] = BASE + unit_random(&random) % (1 << 22);
            if (format < DUMP_1_4)
                dump_typed_object(dump, address + at, 0, 0, size, count, words);
            else
                dump_object(dump, address + at, size, count, words);
            if (is_odd && kind < 10 && at + 2 * size <= PAGE)
                put_odd_object(dump, address + (at += size), size < 64 ? size : 64,
                               (unsigned)(unit_random(&random) % 3));
            if (is_odd && kind == 10)
                dump_object(dump, address + at + 4, size, NO_WORDS); /* at no slot's address */
        }
        if (kind == 11)
            dump_itab(dump, 0x500000 + address % 4096, 1);
        if (kind == 12 && format >= DUMP_1_4) {
            put_dump_in_dump(dump, address + PAGE, 2 * WINDOW / 5 * 4);
            address += 2 * WINDOW;
        }
    }
    dump_goroutine(dump, 1, BASE, 0x2000);
    dump_frame(dump, "main.f", 0x2000, 0, WORDS(BASE), 1);
    dump_eof(dump);
}

static void expect_same_heap(const struct g2h_heap *one, const struct g2h_heap *other)
{
    assert_int_equal(one->object_count, other->object_count);
    assert_memory_equal(one->objects, other->objects, one->object_count * sizeof(*one->objects));
    assert_memory_equal(&one->account, &other->account, sizeof(one->account));
    assert_int_equal(one->span_tail, other->span_tail);
    assert_int_equal(one->slot_classes.list.count, other->slot_classes.list.count);
    assert_int_equal(one->frames.count, other->frames.count);
    assert_int_equal(!one->damage, !other->damage);
    if (one->damage)
        assert_string_equal(one->damage->message, other->damage->message);
}

/* Expects loading with several numbers of threads to give the same heap as with one. */
static void expect_same_with_threads(struct dump *dump)
{
    struct dump serial = *dump;
    serial.input = NULL;
    serial.heap = NULL;
    dump_load(&serial, 1);
    for (unsigned threads = 2; threads <= 8; threads += 3)
        expect_same_heap(serial.heap, dump_load(dump, threads));
    g2h_heap_destroy(serial.heap);
    g2h_input_close(serial.input);
}

/* Expects the heap to have the objects that the public reader gives one by one. */
static void expect_all_objects(struct dump *dump, const struct g2h_heap *heap)
{
    struct g2h_reader *reader;
    struct g2h_record record = {.kind = G2H_RECORD_KINDS};
    uint64_t objects = 0;
    assert_no_error(g2h_reader_create(dump->input, &reader));
    while (record.kind != G2H_RECORD_EOF) {
        assert_no_error(g2h_reader_next(reader, &record));
        uint32_t found;
        if (record.kind != G2H_RECORD_OBJECT)
            continue;
        objects++;
        if (!g2h_heap_find(heap, record.object.address, &found))
            continue; /* misplaced, or a phantom: counted below */
        const struct g2h_object object = g2h_heap_object(heap, found);
        if (record.object.address % 8 != 0)
            continue;
        assert_int_equal(object.address, record.object.address);
        assert_ptr_equal(object.contents.data, record.object.contents.data);
        assert_int_equal(object.size, record.object.size);
        assert_int_equal(object.type, record.object.type);
        if (heap->pointer_form != POINTERS_TYPED)
            assert_memory_equal(object.fields.at, record.object.fields.at,
                                record.object.fields.end - record.object.fields.at);
    }
    g2h_reader_destroy(reader);
    assert_int_equal(objects, heap->account.records[G2H_RECORD_OBJECT]);
    assert_int_equal(objects,
                     heap->account.objects + heap->account.phantoms + heap->account.misplaced);
    assert_int_equal(heap->account.overlapping, 0);
}

TEST(same_for_any_threads)
{
    static const enum dump_format formats[] = {DUMP_1_7, DUMP_1_4, DUMP_1_3};
    for (unsigned i = 0; i < 12; i++) {
        DUMP dump;
        make_dump(&dump, 1000 + i, formats[i % 3], i >= 6);
        expect_same_with_threads(&dump);
        expect_all_objects(&dump, dump.heap);
        assert_true(dump.heap->account.objects > 1000);
    }
}

TEST(same_for_cut_dumps)
{
    DUMP dump;
    uint64_t random = 77;
    make_dump(&dump, 5, DUMP_1_7, false);
    for (unsigned i = 0; i < 20; i += unit_step()) {
        const size_t whole = dump.size;
        dump.size = whole / 4 + unit_random(&random) % (whole / 4 * 3);
        expect_same_with_threads(&dump);
        assert_non_null(dump.heap->damage);
        dump.size = whole;
    }
}

/* A wrong byte may be found at once, or only where the records stop making sense. */
TEST(same_for_damaged_dumps)
{
    DUMP dump;
    uint64_t random = 78;
    make_dump(&dump, 6, DUMP_1_7, false);
    for (unsigned i = 0; i < 60; i += unit_step()) {
        const size_t at = 200 + unit_random(&random) % (dump.size - 200);
        const uint8_t byte = dump.data[at];
        dump.data[at] = (uint8_t)unit_random(&random);
        expect_same_with_threads(&dump);
        dump.data[at] = byte;
    }
}

/* ---- where a run begins ---- */

/* For each byte: whether an object's record begins there, and whether that is the first one of its
 * page. */
struct beginnings {
    uint8_t *record, *run;
};

static struct beginnings find_beginnings(const struct dump *dump)
{
    struct beginnings ret = {calloc(dump->size, 1), calloc(dump->size, 1)};
    struct g2h_reader *reader;
    struct g2h_record record = {.kind = G2H_RECORD_KINDS};
    uint64_t page = UINT64_MAX;
    assert_true(ret.record && ret.run);
    assert_no_error(g2h_reader_create(dump->input, &reader));
    while (record.kind != G2H_RECORD_EOF) {
        assert_no_error(g2h_reader_next(reader, &record));
        if (record.kind != G2H_RECORD_OBJECT)
            continue;
        ret.record[record.offset] = 1;
        ret.run[record.offset] = record.object.address / PAGE != page;
        page = record.object.address / PAGE;
    }
    g2h_reader_destroy(reader);
    return ret;
}

TEST(finds_runs)
{
    struct dump dump;
    uint64_t random = 8;
    unsigned found = 0;
    dump_start_modern(&dump, "go1.19.8");
    for (uint64_t address = BASE; dump.size < 4 * WINDOW; address += 64)
        dump_object(&dump, address, 64, WORDS(BASE + unit_random(&random) % (1 << 20), 0x0801));
    dump_eof(&dump);
    dump_load(&dump, 1);
    struct beginnings beginnings = find_beginnings(&dump);
    struct run_reader *reader = run_reader_create(dump.heap);
    for (unsigned i = 0; i < 1000; i++) {
        const uint64_t from = 100 + unit_random(&random) % (3 * WINDOW);
        uint64_t begin;
        if (!run_reader_find(reader, from, &begin))
            continue;
        found++;
        assert_true(begin >= from && begin < from + 3 * PAGE);
        assert_true(beginnings.record[begin] && beginnings.run[begin]);
    }
    assert_int_equal(found, 1000);
    run_reader_destroy(reader);
    free(beginnings.record);
    free(beginnings.run);
    dump_deinit(&dump);
}

/* Nothing is found where there is no chain of objects: bytes that look like the first ones of
 * records, objects of which each leads to a damaged one, field lists without an end. */
TEST(finds_nothing_elsewhere)
{
    static const uint8_t patterns[][12] = {
        {0}, {1}, {0xff}, {1, 8}, {1, 0x80, 0x80, 0x80, 0x80, 0x80, 0x18, 8, 1, 0, 1, 0}};
    static const size_t sizes[] = {1, 1, 1, 2, 12};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
        DUMP dump;
        uint64_t begin;
        dump_start_modern(&dump, "go1.19.8");
        dump_object(&dump, BASE, 64, NO_WORDS);
        dump_uvarints(&dump, 3, (const uint64_t[]){1, BASE + PAGE, 2 * WINDOW});
        const size_t from = dump.size;
        while (dump.size < from + 2 * WINDOW)
            dump_bytes(&dump, patterns[i], sizes[i]);
        dump.size = from + 2 * WINDOW;
        dump_bytes(&dump, "", 1);
        dump_eof(&dump);
        dump_load(&dump, 1);
        struct run_reader *reader = run_reader_create(dump.heap);
        assert_false(run_reader_find(reader, from, &begin));
        run_reader_destroy(reader);
        expect_same_with_threads(&dump);
        assert_int_equal(dump.heap->object_count, 2);
    }
}

UNIT_MAIN(NULL, NULL)
