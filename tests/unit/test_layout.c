/* Covers dump/layout: the five layouts under the header "go1.3 heap dump", released and future
 * headers, and headers that are refused. */
#include "dump_builder.h"

#include "dump/dump_layout.h"
#include "heap/heap.h"

static const char *detect(const void *data, size_t size, const char **ret_warning)
{
    size_t header = 0;
    const struct dump_layout *layout = layout_detect(data, size, &header, ret_warning);
    if (layout)
        assert_int_equal(((const char *)data)[header - 1], '\n');
    return layout ? layout->name : NULL;
}

static const char *detect_text(const char *text, const char **ret_warning)
{
    return detect(text, strlen(text), ret_warning);
}

TEST(released_headers)
{
    const char *warning;
    assert_string_equal(detect_text("go1.3 heap dump\n", &warning), "1.3");
    assert_string_equal(detect_text("go1.4 heap dump\n", &warning), "1.4");
    assert_string_equal(detect_text("go1.5 heap dump\n", &warning), "1.5");
    assert_string_equal(detect_text("go1.6 heap dump\n", &warning), "1.6");
    assert_string_equal(detect_text("go1.7 heap dump\n", &warning), "1.7");
    assert_null(warning);
}

TEST(future_headers)
{
    static const char *const headers[] = {"go1.8 heap dump\n", "go1.10 heap dump\n",
                                          "go1.28 heap dump\n", "go1.100 heap dump\n"};
    for (size_t i = 0; i < 4; i++) {
        const char *warning = NULL;
        assert_string_equal(detect_text(headers[i], &warning), "1.7");
        assert_non_null(warning);
    }
}

TEST(refused_headers)
{
    static const char *const headers[] = {"",
                                          "g",
                                          "go1.",
                                          "go1.7",
                                          "go1.7 heap dump",
                                          "go1.7 heap dumps\n",
                                          "go1.7 heap dump\r\n",
                                          "go1. heap dump\n",
                                          "go2.7 heap dump\n",
                                          "Go1.7 heap dump\n",
                                          "go1.2 heap dump\n",
                                          "go1.0 heap dump\n",
                                          "go1.7.1 heap dump\n",
                                          "go1.x heap dump\n",
                                          "go1.-7 heap dump\n",
                                          " go1.7 heap dump\n",
                                          "go1.99999999999999999999 heap dump\n",
                                          "{\"snapshot\":{}}",
                                          "\x1f\x8b\x08"};
    for (size_t i = 0; i < sizeof(headers) / sizeof(headers[0]); i++) {
        const char *warning;
        if (detect_text(headers[i], &warning))
            fail_msg("header %zu was taken", i);
    }
}

/* Reads each prefix of a header, in memory that ends there. */
TEST(cut_headers)
{
    for (size_t size = 0; size < 16; size++) {
        char *data = malloc(size + 1);
        const char *warning;
        memcpy(data + 1, "go1.7 heap dump\n", size);
        assert_null(detect(data + 1, size, &warning));
        free(data);
    }
}

/* Expects the reader to know the layout by the end of a dump with a frame. */
static void expect_format(struct dump *dump, const char *format)
{
    struct g2h_heap *heap = dump_load(dump, 1);
    const struct g2h_error *damage = g2h_heap_damage(heap);
    if (damage)
        fail_msg("%s", damage->message);
    assert_string_equal(g2h_heap_format(heap), format);
    dump_deinit(dump);
}

TEST(five_layouts_of_go1_3)
{
    static const struct {
        enum dump_format format;
        uint64_t pointer_size;
        bool size_in_bits;
        const char *name;
    } cases[] = {
        {DUMP_2013, 8, false, "2013"},         {DUMP_2013, 4, false, "2013"},
        {DUMP_2013, 8, true, "2013"},          {DUMP_2013, 4, true, "2013"},
        {DUMP_1_3_BETA, 8, false, "1.3 beta"}, {DUMP_1_3_BETA, 4, false, "1.3 beta"},
        {DUMP_1_3, 8, false, "1.3"},           {DUMP_1_3, 4, false, "1.3"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        for (int big_endian = 0; big_endian < 2; big_endian++) {
            struct dump dump;
            dump_begin(&dump, cases[i].format, cases[i].pointer_size, big_endian);
            dump.size_in_bits = cases[i].size_in_bits;
            dump_params(&dump);
            dump_typed_object(&dump, dump.heap_start, 0, 0, 64, NO_WORDS);
            dump_goroutine(&dump, 1, dump.heap_start + 64, 0x1000);
            if (cases[i].format == DUMP_2013) {
                dump_tag(&dump, G2H_RECORD_STACKFRAME);
                dump_uvarints(&dump, WORDS(0x1000, 0x1040, 0x401000, 0x401010));
                dump_string(&dump, "main.main");
            } else {
                dump_frame(&dump, "main.main", 0x1000, 0, WORDS(0, 0), 2);
                dump_frame(&dump, "runtime.main", 0x1010, 1, WORDS(0, 0), 2);
            }
            dump_eof(&dump);
            assert_int_equal(dump_load(&dump, 1)->params.pointer_size, cases[i].pointer_size);
            expect_format(&dump, cases[i].name);
        }
}

/* 2013's writer may have begun with a record other than params; then the last byte tells the
 * layout. */
TEST(dump_of_2013_without_params_first)
{
    struct dump dump;
    dump_begin(&dump, DUMP_2013, 8, false);
    dump_typed_object(&dump, dump.heap_start, 0, 0, 64, NO_WORDS);
    dump_params(&dump);
    dump_eof(&dump);
    expect_format(&dump, "2013");
}

/* A cut dump of 2013 has no EOF by which the layout could be told. */
TEST(cut_dump_of_2013)
{
    for (int bits = 0; bits < 2; bits++) {
        DUMP dump;
        const char *warning;
        dump_begin(&dump, DUMP_2013, 8, false);
        dump.size_in_bits = bits;
        dump_params(&dump);
        dump_typed_object(&dump, dump.heap_start, 0, 0, 64, NO_WORDS);
        assert_string_equal(detect(dump.data, dump.size, &warning), "2013");
    }
}

/* Returns whether a frame looks like 1.3 beta; value, behind its pc, is a function name's length,
 * which text follows, or continpc. */
static bool looks_beta(uint64_t value, const char *text, uint64_t entry)
{
    struct dump bytes = {0};
    dump_uvarint(&bytes, value);
    dump_bytes(&bytes, text, strlen(text));
    bool beta = layout_stackframe_is_beta(bytes.data, bytes.data + bytes.size, entry);
    dump_deinit(&bytes);
    return beta;
}

TEST(beta_frames)
{
    assert_true(looks_beta(9, "main.main", 0x400000));
    assert_true(looks_beta(9, "main.main\x02\x01", 0x400000));
    assert_false(looks_beta(0, "\x09main.main", 0x400000));        /* a dead frame */
    assert_false(looks_beta(0x400010, "\x09main.main", 0x400000)); /* continpc */
    assert_false(looks_beta(10, "main.main", 0x400000));           /* the name is cut */
    assert_false(looks_beta(9, "main\x01main", 0x400000));
    assert_false(looks_beta(9, "main.main", 9)); /* no length: not below the entry */
}

/* A later frame does not change the layout; the first one can only turn "1.3" into "1.3 beta". */
TEST(first_frame_decides)
{
    struct dump dump;
    dump_start(&dump, DUMP_1_3, 8, false);
    dump_goroutine(&dump, 1, 0x2000, 0x1000);
    dump_frame(&dump, "main.main", 0x1000, 0, WORDS(0, 0), 2);
    struct g2h_record record = {.kind = G2H_RECORD_STACKFRAME};
    struct g2h_stackframe *frame = &record.stackframe;
    /* a dead frame whose continpc could be a name's length */
    *frame = (struct g2h_stackframe){.sp = 0x1010, .depth = 1, .entry = 0x401000, .continpc = 3};
    frame->contents.data = frame->function.data = (const uint8_t *)"main.f";
    frame->function.size = 6;
    dump_record(&dump, &record, NULL, 0);
    dump_eof(&dump);
    expect_format(&dump, "1.3");
}

UNIT_MAIN(NULL, NULL)
