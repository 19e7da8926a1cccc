/* Covers dump/reader: each record kind in each layout, each kind of damage and its message, 1.5's
 * corrupt record. */
#include "dump_builder.h"

#include <sys/mman.h>
#include <unistd.h>

#include "dump/dump_facts.h"
#include "dump/reader.h"
#include "heap/heap.h"
#include "heap/pointers.h"

/* ---- one record at a time ---- */

struct reading {
    struct g2h_input *input;
    struct g2h_reader *reader;
    struct g2h_record record;
};

/* Reads params and the record behind it; returns the error of the second one. */
static struct g2h_error *read_second(struct reading *reading, const struct dump *dump)
{
    assert_no_error(g2h_input_from_memory("test.dump", dump->data, dump->size, &reading->input));
    assert_no_error(g2h_reader_create(reading->input, &reading->reader));
    assert_no_error(g2h_reader_next(reading->reader, &reading->record));
    assert_int_equal(reading->record.kind, G2H_RECORD_PARAMS);
    return g2h_reader_next(reading->reader, &reading->record);
}

static void reading_deinit(struct reading *reading)
{
    g2h_reader_destroy(reading->reader);
    g2h_input_close(reading->input);
}

static void expect_bytes(const struct g2h_bytes *one, const struct g2h_bytes *other)
{
    assert_int_equal(one->size, other->size);
    assert_memory_equal(one->data, other->data, one->size);
}

static void expect_fields(struct g2h_fields list, const struct g2h_field *fields, size_t count)
{
    struct g2h_field field;
    for (size_t i = 0; i < count; i++) {
        assert_true(g2h_fields_next(&list, &field));
        assert_int_equal(field.kind, fields[i].kind);
        assert_int_equal(field.offset, fields[i].offset);
    }
    assert_false(g2h_fields_next(&list, &field));
    assert_false(g2h_fields_next(&list, &field));
}

/* Compares the fields that the record's kind has; memcmp() compares records of numbers only. */
static void expect_record(const struct g2h_record *read, const struct g2h_record *wrote,
                          const struct dump *dump, const struct g2h_field *fields, size_t count)
{
    const bool old = dump->format < DUMP_1_4, is_2013 = dump->format == DUMP_2013;
    assert_int_equal(read->kind, wrote->kind);
    switch (wrote->kind) {
    case G2H_RECORD_OBJECT:
        assert_int_equal(read->object.address, wrote->object.address);
        assert_int_equal(read->object.size, wrote->object.size);
        assert_int_equal(read->object.type, old ? wrote->object.type : 0);
        assert_int_equal(read->object.kind, old ? wrote->object.kind : G2H_OBJECT_VALUE);
        expect_bytes(&read->object.contents, &wrote->object.contents);
        expect_fields(read->object.fields, fields, old ? 0 : count);
        break;
    case G2H_RECORD_OTHERROOT:
        expect_bytes(&read->otherroot.description, &wrote->otherroot.description);
        assert_int_equal(read->otherroot.pointer, wrote->otherroot.pointer);
        break;
    case G2H_RECORD_TYPE:
        assert_int_equal(read->type.address, wrote->type.address);
        assert_int_equal(read->type.size, wrote->type.size);
        expect_bytes(&read->type.name, &wrote->type.name);
        assert_int_equal(read->type.data_is_pointer, wrote->type.data_is_pointer);
        expect_fields(read->type.fields, fields, old ? count : 0);
        break;
    case G2H_RECORD_GOROUTINE: {
        const struct g2h_goroutine *one = &read->goroutine, *other = &wrote->goroutine;
        assert_int_equal(one->address, other->address);
        assert_int_equal(one->sp, other->sp);
        assert_int_equal(one->goid, other->goid);
        assert_int_equal(one->creation_pc, other->creation_pc);
        assert_int_equal(one->status, other->status);
        assert_int_equal(one->is_system, other->is_system);
        assert_int_equal(one->is_background, other->is_background);
        assert_int_equal(one->wait_since, other->wait_since);
        expect_bytes(&one->wait_reason, &other->wait_reason);
        assert_int_equal(one->ctxt, is_2013 ? 0 : other->ctxt);
        assert_int_equal(one->m, is_2013 ? 0 : other->m);
        assert_int_equal(one->defer, is_2013 ? 0 : other->defer);
        assert_int_equal(one->panic, is_2013 ? 0 : other->panic);
        break;
    }
    case G2H_RECORD_STACKFRAME: {
        const struct g2h_stackframe *one = &read->stackframe, *other = &wrote->stackframe;
        const bool has_continpc = !is_2013 && dump->format != DUMP_1_3_BETA;
        assert_int_equal(one->sp, other->sp);
        assert_int_equal(one->depth, is_2013 ? 0 : other->depth);
        assert_int_equal(one->child_sp, other->child_sp);
        assert_int_equal(one->entry, other->entry);
        assert_int_equal(one->pc, other->pc);
        assert_int_equal(one->continpc, has_continpc ? other->continpc : other->pc);
        expect_bytes(&one->function, &other->function);
        if (is_2013)
            assert_int_equal(one->contents.size, 0);
        else
            expect_bytes(&one->contents, &other->contents);
        expect_fields(one->fields, fields, is_2013 ? 0 : count);
        break;
    }
    case G2H_RECORD_ITAB:
        assert_int_equal(read->itab.address, wrote->itab.address);
        assert_int_equal(read->itab.type, old ? 0 : wrote->itab.type);
        assert_int_equal(read->itab.data_is_pointer, old ? wrote->itab.data_is_pointer : true);
        break;
    case G2H_RECORD_DATA:
    case G2H_RECORD_BSS:
        assert_int_equal(read->segment.address, wrote->segment.address);
        expect_bytes(&read->segment.contents, &wrote->segment.contents);
        expect_fields(read->segment.fields, fields, count);
        break;
    case G2H_RECORD_MEMSTATS: {
        struct g2h_memstats memstats;
        expect_bytes(&read->memstats, &wrote->memstats);
        assert_true(g2h_memstats_read(read->memstats, &memstats));
        for (uint64_t i = 0; i < G2H_MEMSTATS_NUMBERS; i++)
            assert_int_equal(memstats.numbers[i], i == 21 ? UINT64_MAX : i * i);
        assert_false(g2h_memstats_read((struct g2h_bytes){read->memstats.data, 100}, &memstats));
        assert_int_equal(memstats.numbers[1], 0);
        break;
    }
    case G2H_RECORD_MEMPROF: {
        struct g2h_memprof memprof = read->memprof;
        struct g2h_memprof_frame frame;
        assert_int_equal(memprof.id, wrote->memprof.id);
        assert_int_equal(memprof.size, wrote->memprof.size);
        assert_int_equal(memprof.allocs, wrote->memprof.allocs);
        assert_int_equal(memprof.frees, wrote->memprof.frees);
        for (uint64_t i = 0; i < wrote->memprof.frame_count; i++) {
            assert_true(g2h_memprof_next_frame(&memprof, &frame));
            assert_memory_equal(frame.function.data, "main.f", frame.function.size);
            assert_int_equal(frame.function.size, 6);
            assert_memory_equal(frame.file.data, "/a.go", frame.file.size);
            assert_int_equal(frame.line, 100 + i);
        }
        assert_false(g2h_memprof_next_frame(&memprof, &frame));
        break;
    }
    default: /* structs of uint64_t */
        assert_memory_equal(&read->finalizer, &wrote->finalizer,
                            wrote->kind == G2H_RECORD_DEFER         ? sizeof(wrote->defer)
                            : wrote->kind == G2H_RECORD_PANIC       ? sizeof(wrote->panic)
                            : wrote->kind == G2H_RECORD_OSTHREAD    ? sizeof(wrote->osthread)
                            : wrote->kind == G2H_RECORD_ALLOCSAMPLE ? sizeof(wrote->allocsample)
                            : wrote->kind == G2H_RECORD_STACKROOT   ? sizeof(wrote->stackroot)
                            : wrote->kind == G2H_RECORD_DATAROOT    ? sizeof(wrote->dataroot)
                                                                    : sizeof(wrote->finalizer));
    }
}

static uint8_t contents_bytes[96];
static struct dump memprof_frames, memstats_numbers;

/* Makes a record of the kind with a value of its own in each field; some of them are the largest
 * possible ones. */
static void make_record(enum g2h_record_kind kind, struct g2h_record *ret)
{
    const struct g2h_bytes contents = {contents_bytes, sizeof(contents_bytes)};
    const struct g2h_bytes name = {(const uint8_t *)"main.T\0\xff", 8};
    memset(ret, 0, sizeof(*ret));
    for (size_t i = 0; i < sizeof(contents_bytes); i++)
        contents_bytes[i] = (uint8_t)(i * 37);
    if (memprof_frames.size == 0)
        for (uint64_t i = 0; i < 3; i++) {
            dump_string(&memprof_frames, "main.f");
            dump_string(&memprof_frames, "/a.go");
            dump_uvarint(&memprof_frames, 100 + i);
        }
    if (memstats_numbers.size == 0)
        for (uint64_t i = 0; i < G2H_MEMSTATS_NUMBERS; i++)
            dump_uvarint(&memstats_numbers, i == 21 ? UINT64_MAX : i * i);
    ret->kind = kind;
    switch (kind) {
    case G2H_RECORD_OBJECT:
        ret->object = (struct g2h_object){0xc000001000, 96, contents, {0}, 0x4a0000, 2};
        break;
    case G2H_RECORD_OTHERROOT:
        ret->otherroot = (struct g2h_otherroot){name, 0xc000001000};
        break;
    case G2H_RECORD_TYPE:
        ret->type = (struct g2h_type){0x4a0000, 96, name, true, {0}};
        break;
    case G2H_RECORD_GOROUTINE:
        ret->goroutine =
            (struct g2h_goroutine){1, 2, 3, 4, 5, true, false, UINT64_MAX, name, 7, 8, 9, 10};
        break;
    case G2H_RECORD_STACKFRAME:
        ret->stackframe = (struct g2h_stackframe){
            0xc000002000, 3,        0xc000001fc0, contents,
            0x401000,     0x401010, 0x401020,     {(const uint8_t *)"main.f", 6},
            {0}};
        break;
    case G2H_RECORD_FINALIZER:
    case G2H_RECORD_QUEUEDFINALIZER:
        ret->finalizer = (struct g2h_finalizer){UINT64_MAX, 2, 3, 4, 5};
        break;
    case G2H_RECORD_ITAB:
        ret->itab = (struct g2h_itab){0x4b0000, 0x4a0000, true};
        break;
    case G2H_RECORD_OSTHREAD:
        ret->osthread = (struct g2h_osthread){1, 2, UINT64_MAX};
        break;
    case G2H_RECORD_MEMSTATS:
        ret->memstats = (struct g2h_bytes){memstats_numbers.data, memstats_numbers.size};
        break;
    case G2H_RECORD_DATA:
    case G2H_RECORD_BSS:
        ret->segment = (struct g2h_segment){0x560000, contents, {0}};
        break;
    case G2H_RECORD_DEFER:
        ret->defer = (struct g2h_defer){1, 2, UINT64_MAX, 4, 5, 6, 7};
        break;
    case G2H_RECORD_PANIC:
        ret->panic = (struct g2h_panic){1, 2, 3, 4, 5, UINT64_MAX};
        break;
    case G2H_RECORD_MEMPROF:
        ret->memprof =
            (struct g2h_memprof){1, 2, 3, 4, 3, {memprof_frames.data, memprof_frames.size}};
        break;
    case G2H_RECORD_ALLOCSAMPLE:
        ret->allocsample = (struct g2h_allocsample){0xc000001000, 1};
        break;
    case G2H_RECORD_STACKROOT:
        ret->stackroot = (struct g2h_stackroot){1, 2, 3};
        break;
    case G2H_RECORD_DATAROOT:
        ret->dataroot = (struct g2h_dataroot){1, UINT64_MAX};
        break;
    default:
        fail();
    }
}

static bool format_has(enum dump_format format, enum g2h_record_kind kind)
{
    switch (kind) {
    case G2H_RECORD_EOF:
    case G2H_RECORD_PARAMS:
    case G2H_RECORD_KINDS:
        return false;
    case G2H_RECORD_STACKROOT:
    case G2H_RECORD_DATAROOT:
        return format == DUMP_2013;
    case G2H_RECORD_OBJECT:
    case G2H_RECORD_OTHERROOT:
    case G2H_RECORD_TYPE:
    case G2H_RECORD_GOROUTINE:
    case G2H_RECORD_STACKFRAME:
    case G2H_RECORD_FINALIZER:
    case G2H_RECORD_ITAB:
        return true;
    default:
        return format != DUMP_2013;
    }
}

/* Makes fields of all kinds that the format has, the last one at the end of 96 bytes; returns their
 * number. */
static size_t make_fields(const struct dump *dump, struct g2h_field *ret)
{
    const uint64_t word = dump->pointer_size;
    if (dump->format < DUMP_1_4) {
        ret[0] = (struct g2h_field){G2H_FIELD_POINTER, 0};
        ret[1] = (struct g2h_field){G2H_FIELD_STRING, word};
        ret[2] = (struct g2h_field){G2H_FIELD_IFACE, 3 * word};
        ret[3] = (struct g2h_field){G2H_FIELD_EFACE, 5 * word};
        ret[4] = (struct g2h_field){G2H_FIELD_SLICE, 96 - 3 * word};
        return 5;
    }
    ret[0] = (struct g2h_field){G2H_FIELD_POINTER, 0};
    ret[1] = (struct g2h_field){G2H_FIELD_POINTER, 96 - 3 * word};
    if (dump->format == DUMP_1_4) {
        ret[1] = (struct g2h_field){G2H_FIELD_IFACE, word};
        ret[2] = (struct g2h_field){G2H_FIELD_EFACE, 96 - 2 * word};
        return 3;
    }
    ret[2] = (struct g2h_field){G2H_FIELD_POINTER, 96 - word};
    return 3;
}

/* Each record of each layout is read as it was written, and EOF can be read again and again. */
TEST(every_record_in_every_layout)
{
    for (int format = 0; format < DUMP_FORMATS; format++)
        for (uint64_t word = 4; word <= 8; word += 4)
            for (int kind = 0; kind < G2H_RECORD_KINDS; kind++) {
                struct dump dump;
                struct reading reading;
                struct g2h_record record;
                struct g2h_field fields[5];
                if (!format_has((enum dump_format)format, (enum g2h_record_kind)kind))
                    continue;
                dump_start(&dump, (enum dump_format)format, word, false);
                size_t offset = dump.size, count = make_fields(&dump, fields);
                make_record((enum g2h_record_kind)kind, &record);
                dump_record(&dump, &record, fields, count);
                size_t end = dump.size;
                dump_eof(&dump);
                assert_no_error(read_second(&reading, &dump));
                expect_record(&reading.record, &record, &dump, fields, count);
                assert_int_equal(reading.record.offset, offset);
                assert_int_equal(reading.record.number, 2);
                assert_int_equal(reader_offset(reading.reader), end);
                for (int i = 0; i < 3; i++) { /* EOF again and again */
                    assert_no_error(g2h_reader_next(reading.reader, &reading.record));
                    assert_int_equal(reading.record.kind, G2H_RECORD_EOF);
                    assert_int_equal(reading.record.number, 3);
                }
                reading_deinit(&reading);
                dump_deinit(&dump);
            }
}

/* Roots of this program say what cleanups that wait to be run keep; no other description does. */
TEST(queued_cleanups)
{
    static const struct {
        const char *description;
        bool is_queued;
    } roots[] = {{"queued cleanup", true},
                 {"queued cleanup's caller", true},
                 {"argument of a queued cleanup", true},
                 {"queued cleanups of somebody", false},
                 {"cleanup of 0xc000012340", false},
                 {"", false}};
    for (size_t i = 0; i < sizeof(roots) / sizeof(roots[0]); i++) {
        DUMP dump;
        struct reading reading;
        const struct g2h_record record = {
            .kind = G2H_RECORD_OTHERROOT,
            .otherroot = {.description = {(const uint8_t *)roots[i].description,
                                          strlen(roots[i].description)},
                          .pointer = 0xc000001000}};
        dump_start(&dump, DUMP_1_7, 8, false);
        dump_record(&dump, &record, NULL, 0);
        dump_eof(&dump);
        assert_no_error(read_second(&reading, &dump));
        assert_int_equal(reading.record.otherroot.is_queued_cleanup, roots[i].is_queued);
        reading_deinit(&reading);
    }
}

/* Each record that is cut anywhere gives an error that names it, and nothing behind the cut is
 * read. */
TEST(every_cut_of_every_record)
{
    const enum dump_format formats[] = {DUMP_2013, DUMP_1_3, DUMP_1_4, DUMP_1_7};
    for (int i = 0; i < 4; i++)
        for (int kind = 0; kind < G2H_RECORD_KINDS; kind++) {
            struct dump dump;
            struct g2h_record record;
            struct g2h_field fields[5];
            if (!format_has(formats[i], (enum g2h_record_kind)kind))
                continue;
            dump_start(&dump, formats[i], 8, false);
            size_t offset = dump.size, count = make_fields(&dump, fields);
            make_record((enum g2h_record_kind)kind, &record);
            dump_record(&dump, &record, fields, count);
            for (size_t size = offset; size < dump.size; size++) {
                struct dump cut = dump;
                struct reading reading;
                char expected[160];
                cut.data = malloc(size); /* so that the sanitizers see a read beyond it */
                memcpy(cut.data, dump.data, size);
                cut.size = size;
                struct g2h_error *error = read_second(&reading, &cut);
                assert_non_null(error);
                assert_int_equal(error->code, G2H_ERROR_DAMAGED);
                if (size == offset) /* there is not even a tag, so no kind */
                    snprintf(expected, sizeof(expected), ": record 2: ");
                else
                    snprintf(expected, sizeof(expected), ": record 2 (%s, begun at byte %zu): ",
                             g2h_record_kind_name(record.kind), offset);
                if (strncmp(error->message, "test.dump: byte ", 16) != 0 ||
                    !strstr(error->message, expected))
                    fail_msg("%s, but expected %s", error->message, expected);
                unsigned long long here = strtoull(error->message + 16, NULL, 10);
                assert_in_range(here, offset, size);
                g2h_error_destroy(error);
                reading_deinit(&reading);
                free(cut.data);
            }
            dump_deinit(&dump);
        }
    dump_deinit(&memprof_frames);
    dump_deinit(&memstats_numbers);
}

/* ---- damage ---- */

/* Expects the record behind params to be refused for this reason. */
static void expect_damage(struct dump *dump, enum g2h_record_kind kind, const char *reason)
{
    struct reading reading;
    char expected[200];
    struct g2h_error *error = read_second(&reading, dump);
    if (kind == G2H_RECORD_KINDS)
        snprintf(expected, sizeof(expected), "record 2: ");
    else
        snprintf(expected, sizeof(expected), "record 2 (%s, begun at byte",
                 g2h_record_kind_name(kind));
    if (!error)
        fail_msg("no error, but expected %s", reason);
    assert_int_equal(error->code, G2H_ERROR_DAMAGED);
    if (!strstr(error->message, reason) || !strstr(error->message, expected))
        fail_msg("%s, but expected %s", error->message, reason);
    g2h_error_destroy(error);
    reading_deinit(&reading);
    dump_deinit(dump);
}

TEST(unknown_tags)
{
    const uint64_t tags[] = {18, 19, 77, UINT32_MAX, UINT64_MAX};
    struct dump dump;
    for (size_t i = 0; i < 5; i++) {
        dump_start(&dump, DUMP_1_7, 8, false);
        dump_uvarint(&dump, tags[i]);
        expect_damage(&dump, G2H_RECORD_KINDS, "unknown tag");
    }
    const uint64_t tags_2013[] = {0, 2, 13, 14, 15, 16, 17, 18};
    for (size_t i = 0; i < 8; i++) {
        dump_start(&dump, DUMP_2013, 8, false);
        dump_uvarint(&dump, tags_2013[i]);
        dump_uvarints(&dump, WORDS(1, 1, 1, 1, 1, 1));
        expect_damage(&dump, G2H_RECORD_KINDS, "unknown tag");
    }
}

TEST(no_eof)
{
    struct dump dump;
    dump_start(&dump, DUMP_1_7, 8, false);
    expect_damage(&dump, G2H_RECORD_KINDS, "ends without an EOF record");
}

TEST(bad_params)
{
    struct dump dump;
    struct g2h_input *input;
    struct g2h_reader *reader;
    struct g2h_record record;
    static const struct {
        uint64_t numbers[3];
        const char *reason;
    } cases[] = {
        {{G2H_RECORD_PARAMS, 2, 8}, "a bool is neither 0 nor 1"},
        {{G2H_RECORD_PARAMS, 0, 0}, "pointer size"},
        {{G2H_RECORD_PARAMS, 0, 16}, "pointer size"},
        {{G2H_RECORD_PARAMS, 0, 64}, "pointer size"}, /* bits: only in the format of 2013 */
        {{G2H_RECORD_ITAB, 5, 5}, "params record is not the first"},
        {{G2H_RECORD_EOF, 0, 0}, "params record is not the first"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        dump_begin(&dump, DUMP_1_7, 8, false);
        dump_uvarints(&dump, 3, cases[i].numbers);
        dump_uvarints(&dump, WORDS(1, 2, 0, 0, 1));
        assert_no_error(g2h_input_from_memory("test.dump", dump.data, dump.size, &input));
        assert_no_error(g2h_reader_create(input, &reader));
        struct g2h_error *error = g2h_reader_next(reader, &record);
        assert_non_null(error);
        assert_non_null(strstr(error->message, cases[i].reason));
        assert_non_null(strstr(error->message, "record 1 ("));
        g2h_error_destroy(error);
        g2h_reader_destroy(reader);
        g2h_input_close(input);
        dump_deinit(&dump);
    }
    dump_start(&dump, DUMP_1_7, 8, false);
    dump_params(&dump);
    expect_damage(&dump, G2H_RECORD_PARAMS, "second params");
}

TEST(lengths_beyond_the_end)
{
    const uint64_t lengths[] = {11, 1000, UINT32_MAX, UINT64_MAX, UINT64_MAX - 9};
    struct dump dump;
    for (size_t i = 0; i < 5; i++) {
        dump_start(&dump, DUMP_1_7, 8, false);
        dump_tag(&dump, G2H_RECORD_TYPE);
        dump_uvarints(&dump, WORDS(0x4a0000, 8, lengths[i]));
        dump_bytes(&dump, "0123456789", 10);
        expect_damage(&dump, G2H_RECORD_TYPE, "beyond the end of the input");

        dump_start(&dump, DUMP_1_7, 8, false);
        dump_tag(&dump, G2H_RECORD_OBJECT);
        dump_uvarints(&dump, WORDS(0xc000000000, lengths[i]));
        dump_bytes(&dump, "0123456789", 10);
        expect_damage(&dump, G2H_RECORD_OBJECT,
                      lengths[i] > UINT32_MAX ? "beyond any memory"
                                              : "beyond the end of the input");
    }
    dump_start(&dump, DUMP_1_7, 8, false);
    dump_tag(&dump, G2H_RECORD_MEMPROF);
    dump_uvarints(&dump, WORDS(1, 2, UINT64_MAX, 0, 0));
    expect_damage(&dump, G2H_RECORD_MEMPROF, "frame count is beyond");
    dump_start(&dump, DUMP_2013, 8, false);
    dump_tag(&dump, G2H_RECORD_TYPE);
    dump_uvarints(&dump, WORDS(1, 8, 0, 1, UINT64_MAX, 0, 0));
    expect_damage(&dump, G2H_RECORD_TYPE, "field count is beyond");
}

TEST(wrong_values)
{
    struct dump dump;
    dump_start(&dump, DUMP_1_3, 8, false);
    dump_tag(&dump, G2H_RECORD_OBJECT);
    dump_uvarints(&dump, WORDS(0xc000000000, 0, 3, 0));
    expect_damage(&dump, G2H_RECORD_OBJECT, "unknown object kind");
    dump_start(&dump, DUMP_1_3, 8, false);
    dump_tag(&dump, G2H_RECORD_OBJECT);
    dump_uvarints(&dump, WORDS(0xc000000000, 0, 128, 0));
    expect_damage(&dump, G2H_RECORD_OBJECT, "unknown object kind");
    dump_start(&dump, DUMP_1_7, 8, false);
    dump_tag(&dump, G2H_RECORD_TYPE);
    dump_uvarints(&dump, WORDS(1, 8, 0, 2));
    expect_damage(&dump, G2H_RECORD_TYPE, "a bool is neither 0 nor 1");
    dump_start(&dump, DUMP_1_7, 8, false);
    dump_tag(&dump, G2H_RECORD_TYPE);
    dump_uvarints(&dump, WORDS(1, UINT64_MAX, 0, 1));
    expect_damage(&dump, G2H_RECORD_TYPE, "size is beyond any memory");
    dump_start(&dump, DUMP_1_7, 8, false);
    dump_tag(&dump, G2H_RECORD_OSTHREAD);
    dump_bytes(&dump, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02\x01\x01", 12);
    expect_damage(&dump, G2H_RECORD_OSTHREAD, "longer than 64 bits");
}

/* Writes an object of size bytes with one field. */
static void object_with_field(struct dump *dump, uint64_t size, uint64_t kind, uint64_t offset)
{
    dump_tag(dump, G2H_RECORD_OBJECT);
    dump_uvarint(dump, 0xc000000000);
    dump_memory(dump, size, NO_WORDS);
    dump_uvarints(dump, WORDS(kind, offset, 0));
}

TEST(fields_outside_of_contents)
{
    const uint64_t outside[] = {16, 9, 15, 24, 4, UINT64_MAX, UINT64_MAX - 7};
    struct dump dump;
    struct reading reading;
    for (size_t i = 0; i < sizeof(outside) / sizeof(outside[0]); i++) {
        dump_start(&dump, DUMP_1_7, 8, false);
        object_with_field(&dump, 16, 1, outside[i]);
        expect_damage(&dump, G2H_RECORD_OBJECT, "outside of its contents");
    }
    /* a field of two words needs both */
    dump_start(&dump, DUMP_1_4, 8, false);
    object_with_field(&dump, 16, 2, 8);
    expect_damage(&dump, G2H_RECORD_OBJECT, "outside of its contents");
    dump_start(&dump, DUMP_1_4, 8, false);
    object_with_field(&dump, 8, 2, 0);
    expect_damage(&dump, G2H_RECORD_OBJECT, "outside of its contents");
    dump_start(&dump, DUMP_1_4, 4, false);
    object_with_field(&dump, 8, 2, 0);
    assert_no_error(read_second(&reading, &dump));
    reading_deinit(&reading);
    dump_deinit(&dump);
    /* a slice of 1.3 needs three words */
    dump_start(&dump, DUMP_1_3, 8, false);
    dump_type(&dump, 0x4a0000, 16, "[]int", true, NULL, 0);
    dump.size--; /* removes the list's end */
    dump_uvarints(&dump, WORDS(3, 0, 0));
    expect_damage(&dump, G2H_RECORD_TYPE, "outside of its contents");
    /* no field fits into an empty object */
    dump_start(&dump, DUMP_1_7, 8, false);
    object_with_field(&dump, 0, 1, 0);
    expect_damage(&dump, G2H_RECORD_OBJECT, "outside of its contents");
}

TEST(unknown_field_kinds)
{
    struct dump dump;
    static const struct {
        enum dump_format format;
        uint64_t kind;
    } cases[] = {{DUMP_1_7, 2}, {DUMP_1_7, 3}, {DUMP_1_5, 2},  {DUMP_1_4, 4},
                 {DUMP_1_4, 5}, {DUMP_1_7, 6}, {DUMP_1_7, 255}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        dump_start(&dump, cases[i].format, 8, false);
        object_with_field(&dump, 32, cases[i].kind, 0);
        expect_damage(&dump, G2H_RECORD_OBJECT, "unknown field kind");
    }
    dump_start(&dump, DUMP_2013, 8, false);
    dump_tag(&dump, G2H_RECORD_TYPE);
    dump_uvarints(&dump, WORDS(1, 8, 0, 1, 1, 5, 0));
    expect_damage(&dump, G2H_RECORD_TYPE, "unknown field kind");
}

TEST(nothing_but_a_header)
{
    struct g2h_input *input;
    struct g2h_heap *heap = NULL;
    struct g2h_reader *reader = NULL;
    assert_no_error(g2h_input_from_memory("test.dump", "go1.7 heap dump\n", 16, &input));
    struct g2h_error *error = g2h_heap_load(input, NULL, &heap);
    assert_non_null(error);
    assert_null(heap);
    g2h_error_destroy(error);
    g2h_input_close(input);
    assert_no_error(g2h_input_from_memory("test.dump", "", 0, &input));
    assert_error(g2h_reader_create(input, &reader), G2H_ERROR_NOT_DUMP, "test.dump: is empty");
    g2h_input_close(input);
    assert_no_error(g2h_input_from_memory("test.dump", "PK\3\4", 4, &input));
    error = g2h_reader_create(input, &reader);
    assert_int_equal(error->code, G2H_ERROR_NOT_DUMP);
    g2h_error_destroy(error);
    g2h_input_close(input);
}

/* ---- params ---- */

TEST(params_of_every_layout)
{
    for (int format = 0; format < DUMP_FORMATS; format++)
        for (int big_endian = 0; big_endian < 2; big_endian++) {
            DUMP dump;
            dump_begin(&dump, (enum dump_format)format, 4, big_endian);
            dump.version = format == DUMP_1_7 ? "go1.19.8" : "fieldtrack";
            dump_params(&dump);
            dump_eof(&dump);
            const struct g2h_params *params = g2h_heap_params(dump_load(&dump, 1));
            assert_int_equal(params->big_endian, big_endian);
            assert_int_equal(params->pointer_size, 4);
            assert_int_equal(params->hchan_size, format < DUMP_1_4 ? 48 : 0);
            assert_int_equal(params->heap_start, dump.heap_start);
            assert_int_equal(params->heap_end, dump.heap_end);
            assert_int_equal(params->ncpu, format == DUMP_2013 ? 0 : 4);
            assert_string_equal(params->arch, format == DUMP_2013 ? "" : "386");
            assert_string_equal(g2h_heap_go_version(dump.heap),
                                format == DUMP_1_7 ? "go1.19.8" : "");
            assert_int_equal(params->experiment.size,
                             format == DUMP_2013 || format == DUMP_1_7 ? 0 : strlen("fieldtrack"));
            assert_int_equal(dump.heap->go_minor, format == DUMP_1_7 ? 19 : 0);
        }
}

TEST(version_or_experiment)
{
    static const struct {
        const char *text;
        int minor;
        bool is_version;
    } cases[] = {{"go1.26.11-X:nogreenteagc", 26, true},
                 {"go1.25.12 X:greenteagc", 25, true},
                 {"devel go1.27-2f3ab1", 27, true},
                 {"go1.4294967318", 4294, true}, /* far beyond, and not 22 */
                 {"go1.99999999999999999999", 9999, true},
                 {"go1.-3", 0, true},
                 {"devel +1234567", 0, true},
                 {"", 0, false},
                 {"framepointer", 0, false}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        DUMP dump;
        dump_start_modern(&dump, cases[i].text);
        dump_eof(&dump);
        dump_load(&dump, 1);
        assert_string_equal(g2h_heap_go_version(dump.heap),
                            cases[i].is_version ? cases[i].text : "");
        assert_int_equal(dump.heap->go_minor, cases[i].minor);
        assert_int_equal(dump.heap->params.experiment.size,
                         cases[i].is_version ? 0 : strlen(cases[i].text));
    }
}

TEST(letters_of_architectures)
{
    static const struct {
        char letter;
        const char *arch;
    } cases[] = {{'5', "arm"},   {'6', "amd64"},  {'7', "arm64"}, {'8', "386"},
                 {'9', "ppc64"}, {'0', "mips64"}, {'x', ""}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        DUMP dump;
        dump_begin(&dump, DUMP_1_5, 8, false);
        dump_tag(&dump, G2H_RECORD_PARAMS);
        dump_uvarints(&dump,
                      WORDS(0, 8, 0xc000000000, 0xc000100000, (uint64_t)cases[i].letter, 0, 1));
        dump_eof(&dump);
        assert_string_equal(g2h_heap_params(dump_load(&dump, 1))->arch, cases[i].arch);
    }
}

/* ---- Go 1.5's corrupt type record ---- */

/* Writes the record as 1.5 does: no real length, and then as much memory as the kernel took. */
static void put_corrupt_type(struct dump *dump, uint64_t type, const void *garbage, size_t size)
{
    dump_tag(dump, G2H_RECORD_TYPE);
    dump_uvarints(dump, WORDS(type, 8, 0xc820000000 + 0x5a2b40));
    dump_bytes(dump, garbage, size);
    dump_bytes(dump, ".", 1);
    dump_bytes(dump, "HandlerFunc", 11);
    dump_uvarint(dump, 1);
    dump_itab(dump, 0x5b0000, type);
}

TEST(corrupt_type_record)
{
    enum { GARBAGE = 100000 };
    uint8_t *garbage = malloc(GARBAGE);
    uint64_t random = 7;
    struct dump dump, decoy = {.format = DUMP_1_5};
    for (size_t i = 0; i < GARBAGE; i++)
        garbage[i] = (uint8_t)unit_random(&random);
    /* the garbage has an itab record of another type, and this type's number without its itab */
    dump_uvarint(&decoy, 1);
    dump_itab(&decoy, 0x5b0000, 0x4a1111);
    dump_uvarint(&decoy, 1);
    dump_uvarint(&decoy, 0x4a0000);
    memcpy(garbage + 5000, decoy.data, decoy.size);

    dump_start(&dump, DUMP_1_5, 8, false);
    dump_type(&dump, 0x4a2222, 8, "main.T", true, NULL, 0);
    put_corrupt_type(&dump, 0x4a0000, garbage, GARBAGE);
    dump_object(&dump, 0xc820000000, 64, NO_WORDS);
    dump_eof(&dump);
    dump_load(&dump, 1);
    assert_null(g2h_heap_damage(dump.heap));
    assert_int_equal(g2h_heap_account(dump.heap)->repairs, 1);
    assert_int_equal(g2h_heap_account(dump.heap)->records[G2H_RECORD_ITAB], 1);
    assert_int_equal(g2h_heap_object_count(dump.heap), 1);
    assert_int_equal(dump.heap->types.count, 2);
    assert_int_equal(dump.heap->types.data[1].address, 0x4a0000);
    assert_true(dump.heap->types.data[1].data_is_pointer);
    assert_int_equal(dump.heap->itabs.data[0].type, 0x4a0000);
    dump_deinit(&dump);

    /* without the itab the reader cannot go on */
    dump_start(&dump, DUMP_1_5, 8, false);
    put_corrupt_type(&dump, 0x4a0000, garbage, GARBAGE);
    dump.size -= 9;
    expect_damage(&dump, G2H_RECORD_TYPE, "length is corrupt");
    /* no other version has such a record */
    dump_start(&dump, DUMP_1_6, 8, false);
    put_corrupt_type(&dump, 0x4a0000, garbage, GARBAGE);
    expect_damage(&dump, G2H_RECORD_TYPE, "beyond the end");
    dump_deinit(&decoy);
    free(garbage);
}

/* ---- short writes ---- */

TEST(sizes_in_the_file)
{
    const uint64_t most = 0x7ffff000, wrap = (uint64_t)1 << 32;
    assert_int_equal(stored_size(0), 0);
    assert_int_equal(stored_size(1), 1);
    assert_int_equal(stored_size(most - 1), most - 1);
    assert_int_equal(stored_size(most), most);
    assert_int_equal(stored_size(most + 1), most);
    assert_int_equal(stored_size(0x80000000), most); /* FORMATS.md §4: 4096 bytes short */
    assert_int_equal(stored_size(wrap - 1), most);
    assert_int_equal(stored_size(wrap), 0);
    assert_int_equal(stored_size(wrap + 1), 1);
    assert_int_equal(stored_size(4300005376), 5038080); /* FORMATS.md §4 */
    assert_int_equal(stored_size(wrap + most + 5), most);
    assert_int_equal(stored_size(3 * wrap + 17), 17);
}

/* An object of 2 GiB, sparse in the file: the next record comes 4096 bytes early. */
TEST(object_of_2_gib)
{
    const uint64_t size = 0x80000000, stored = 0x7ffff000;
    struct dump head, tail = {.format = DUMP_1_7, .pointer_size = 8};
    struct g2h_input *input;
    struct g2h_heap *heap;
    struct g2h_object object;
    dump_start_large(&head, "go1.26.1", size);
    dump_tag(&head, G2H_RECORD_OBJECT);
    dump_uvarints(&head, WORDS(0xc000000000, size));
    dump_uvarints(&tail,
                  WORDS(1, 0, 1, size - 8, 0)); /* the second field is beyond the stored bytes */
    dump_object(&tail, 0xc000000000 + size, 64, NO_WORDS);
    dump_eof(&tail);

    int fd = memfd_create("dump", 0);
    assert_true(fd >= 0);
    assert_int_equal(pwrite(fd, head.data, head.size, 0), head.size);
    assert_int_equal(pwrite(fd, tail.data, tail.size, (off_t)(head.size + stored)), tail.size);
    size_t file_size = head.size + stored + tail.size;
    void *data = mmap(NULL, file_size, PROT_READ, MAP_SHARED, fd, 0);
    assert_true(data != MAP_FAILED);
    assert_no_error(g2h_input_from_memory("test.dump", data, file_size, &input));
    assert_no_error(g2h_heap_load(input, NULL, &heap));
    assert_null(g2h_heap_damage(heap));
    assert_int_equal(g2h_heap_object_count(heap), 2);
    assert_int_equal(g2h_heap_account(heap)->short_objects, 1);
    assert_int_equal(g2h_heap_account(heap)->object_bytes, size + 64);
    object = g2h_heap_object(heap, 0);
    assert_int_equal(object.size, size);
    assert_int_equal(object.contents.size, stored);
    assert_int_equal(g2h_heap_object(heap, 1).address, 0xc000000000 + size);
    g2h_heap_destroy(heap);
    g2h_input_close(input);
    munmap(data, file_size);
    close(fd);
    dump_deinit(&head);
    dump_deinit(&tail);
}

/* ---- shortened arrays ---- */

/* Writes an object of size bytes that has been shortened: its size takes ten bytes, as no dumper
 * writes it. */
static void dump_shortened(struct dump *dump, uint64_t address, uint64_t size, uint64_t left)
{
    static const uint8_t zeros[4096];
    uint8_t number[LONGEST_UVARINT];
    for (size_t i = 0; i < sizeof(number); i++)
        number[i] = (uint8_t)(size >> (7 * i) | (i + 1 < sizeof(number) ? 0x80 : 0));
    dump_tag(dump, G2H_RECORD_OBJECT);
    dump_uvarint(dump, address);
    dump_bytes(dump, number, sizeof(number));
    dump_uvarint(dump, left);
    dump_bytes(dump, zeros, left);
}

/* A shortened array has its size, and is another slot class than a whole one of that size. */
TEST(shortened_arrays)
{
    const uint64_t first = 0xc000000000, sizes[] = {2048, 2048, 2048, 1 << 20},
                   lefts[] = {2048, 1000, 2048, 100};
    uint64_t address = first;
    DUMP dump;
    dump_start_large(&dump, "go1.26.1", 1 << 22);
    for (int i = 0; i < 4; i++) {
        if (lefts[i] < sizes[i]) {
            dump_shortened(&dump, address, sizes[i], lefts[i]);
            dump_uvarint(&dump, 0);
        } else {
            dump_object(&dump, address, sizes[i], NO_WORDS);
        }
        address += sizes[i];
    }
    dump_eof(&dump);
    dump_load(&dump, 1);
    assert_null(g2h_heap_damage(dump.heap));
    assert_int_equal(g2h_heap_account(dump.heap)->short_objects, 2);
    assert_int_equal(g2h_heap_account(dump.heap)->shortened_arrays, 2);
    assert_int_equal(g2h_heap_account(dump.heap)->object_bytes, address - first);
    for (uint32_t i = 0; i < 4; i++) {
        const struct g2h_object object = g2h_heap_object(dump.heap, i);
        assert_int_equal(object.size, sizes[i]);
        assert_int_equal(object.contents.size, lefts[i]);
        assert_int_equal(g2h_heap_written_size(dump.heap, i, 500), lefts[i] < 500 ? lefts[i] : 500);
    }
}

TEST(damaged_shortened_arrays)
{
    struct dump dump;
    dump_start_large(&dump, "go1.26.1", 1 << 22);
    dump_shortened(&dump, 0xc000000000, 64, 64);
    expect_damage(&dump, G2H_RECORD_OBJECT, "is not shorter");
    dump_start_large(&dump, "go1.26.1", 1 << 22);
    dump_shortened(&dump, 0xc000000000, 64, 16);
    dump_uvarints(&dump, WORDS(1, 8, 0));
    dump_eof(&dump);
    expect_damage(&dump, G2H_RECORD_OBJECT, "a shortened array has pointers");
    dump_start_large(&dump, "go1.26.1", 1 << 22);
    dump_shortened(&dump, 0xc000000000, 64, 16);
    dump.size -= 8;
    expect_damage(&dump, G2H_RECORD_OBJECT, "beyond the end of the input");
}

static void dump_whole_contents(struct dump *dump)
{
    static const char text[] = "whole contents";
    dump_tag(dump, G2H_RECORD_OTHERROOT);
    dump_uvarint(dump, sizeof(text) - 1);
    dump_bytes(dump, text, sizeof(text) - 1);
    dump_uvarint(dump, 0);
}

/* What a dump says in any other place is a root, and an object of 4 GiB and 16 bytes has 16 of
 * them. */
TEST(whole_contents_said_too_late)
{
    const uint64_t size = ((uint64_t)1 << 32) + 16, first = 0xc000000000;
    const uint8_t contents[16] = {0};
    struct g2h_input *input;
    struct g2h_heap *heap;
    DUMP dump;
    dump_start_large(&dump, "go1.26.1", 4 * size);
    for (uint64_t i = 0; i < 2; i++) {
        dump_tag(&dump, G2H_RECORD_OBJECT);
        dump_uvarints(&dump, WORDS(first + i * size, size));
        dump_bytes(&dump, contents, sizeof(contents));
        dump_uvarint(&dump, 0);
        dump_whole_contents(&dump);
    }
    dump_eof(&dump);
    assert_no_error(g2h_input_from_memory("test.dump", dump.data, dump.size, &input));
    assert_no_error(g2h_heap_load(input, NULL, &heap));
    assert_null(g2h_heap_damage(heap));
    assert_int_equal(g2h_heap_object_count(heap), 2);
    assert_int_equal(g2h_heap_account(heap)->short_objects, 2);
    assert_int_equal(g2h_heap_record_count(heap, G2H_RECORD_OTHERROOT), 2);
    g2h_heap_destroy(heap);
    g2h_input_close(input);
}

/* If a dump says that its contents are whole, an object of 5 GiB, sparse in the file, has all its
 * bytes, and the pointers in its holes are nil. */
TEST(whole_object_of_5_gib)
{
    const uint64_t size = (uint64_t)5 << 30, first = 0xc000000000, last = size - 8;
    struct dump head, tail = {.format = DUMP_1_7, .pointer_size = 8};
    struct g2h_input *input;
    struct g2h_heap *heap;
    struct pointers pointers;
    uint64_t offset, target;
    dump_start_large(&head, "go1.26.1", 2 * size);
    dump_whole_contents(&head);
    dump_tag(&head, G2H_RECORD_OBJECT);
    dump_uvarints(&head, WORDS(first, size));
    dump_uvarints(&tail, WORDS(1, 0, 1, size / 2, 1, last, 0));
    dump_object(&tail, first + size, 64, NO_WORDS);
    dump_eof(&tail);

    char path[] = "/tmp/go2heapsnapshot-test-XXXXXX";
    const int fd = mkstemp(path);
    uint8_t word[8];
    dump_store(&head, word, first + size);
    assert_true(fd >= 0);
    assert_int_equal(pwrite(fd, head.data, head.size, 0), head.size);
    assert_int_equal(pwrite(fd, word, 8, (off_t)(head.size)), 8);
    assert_int_equal(pwrite(fd, word, 8, (off_t)(head.size + last)), 8);
    assert_int_equal(pwrite(fd, tail.data, tail.size, (off_t)(head.size + size)), tail.size);
    close(fd);
    if (sizeof(size_t) < 8) { /* such a host has no addresses for the file, and says so */
        struct g2h_error *error = g2h_input_open(path, NULL, &input);
        unlink(path);
        assert_error(error, G2H_ERROR_LIMIT, "too large for this machine's addresses");
        dump_deinit(&head);
        dump_deinit(&tail);
        return;
    }
    assert_no_error(g2h_input_open(path, NULL, &input));
    unlink(path);
    assert_no_error(g2h_heap_load(input, NULL, &heap));
    assert_null(g2h_heap_damage(heap));
    assert_int_equal(g2h_heap_object_count(heap), 2);
    assert_int_equal(g2h_heap_account(heap)->short_objects, 0);
    assert_int_equal(g2h_heap_object(heap, 0).contents.size, size);
    assert_int_equal(g2h_heap_record_count(heap, G2H_RECORD_OTHERROOT), 0);
    pointers_of(heap, 0, heap_slot_class(heap, 0), &pointers);
    for (size_t i = 0; i < 2; i++) {
        assert_true(pointers_next(&pointers, &offset, &target));
        assert_int_equal(offset, i == 0 ? 0 : last);
        assert_int_equal(target, first + size);
    }
    assert_false(pointers_next(&pointers, &offset, &target));
    g2h_heap_destroy(heap);
    g2h_input_close(input);
    dump_deinit(&head);
    dump_deinit(&tail);
}

/* A field list has each word once. There is room for some words that are listed more often, but not
 * for any number of them, because code that walks the list again must come to its end. */
TEST(long_field_lists)
{
    enum { LONGEST = 8 / 4 * 11 + 64 };
    struct dump dump;
    for (size_t fields = 0; fields <= LONGEST; fields++) {
        dump_start(&dump, DUMP_1_7, 8, false);
        dump_tag(&dump, G2H_RECORD_OBJECT);
        dump_uvarints(&dump, WORDS(0xc000000000, 8));
        dump_bytes(&dump, "01234567", 8);
        for (size_t i = 0; i < fields; i++)
            dump_uvarints(&dump, WORDS(1, 0));
        dump_uvarint(&dump, 0);
        dump_eof(&dump);
        if (2 * fields + 1 > LONGEST) {
            expect_damage(&dump, G2H_RECORD_OBJECT, "a field list is longer than");
            continue;
        }
        struct reading reading;
        assert_no_error(read_second(&reading, &dump));
        reading_deinit(&reading);
        dump_deinit(&dump);
    }
}

UNIT_MAIN(NULL, NULL)
