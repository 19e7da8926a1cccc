/* Covers heap/phantoms: where phantom slots begin, by FORMATS.md §3.1, and what each version's span
 * tail holds. */
#include "unit.h"

#include "heap/phantoms.h"

/* Returns the value of FORMATS.md's formula, literally. */
static uint32_t expected(bool green_tea, uint64_t word, uint64_t size, bool has_pointers)
{
    uint64_t reserve = 0;
    if (has_pointers)
        reserve += 8192 / word / 8;
    if (green_tea && size >= 16)
        reserve += 128;
    return reserve ? (uint32_t)((8192 - reserve) / size * size) : SPAN_PAGE;
}

TEST(values_of_the_formula)
{
    for (uint64_t word = 4; word <= 8; word += 4)
        for (uint64_t size = 8; size <= (word == 8 ? 512 : 128); size += 8)
            for (int pointers = 0; pointers < 2; pointers++) {
                assert_int_equal(phantoms_begin(TAIL_NONE, word, size, pointers), SPAN_PAGE);
                assert_int_equal(phantoms_begin(TAIL_BITMAP, word, size, pointers),
                                 expected(false, word, size, pointers));
                assert_int_equal(phantoms_begin(TAIL_GREEN_TEA, word, size, pointers),
                                 expected(true, word, size, pointers));
            }
}

/* By hand: 8192 - 128 = 8064 = 168 * 48; 8192 - 256 = 7936 = 165.3 * 48 = 62 * 128. */
TEST(values_by_hand)
{
    assert_int_equal(phantoms_begin(TAIL_BITMAP, 8, 48, true), 8064);
    assert_int_equal(phantoms_begin(TAIL_BITMAP, 8, 48, false), SPAN_PAGE);
    assert_int_equal(phantoms_begin(TAIL_GREEN_TEA, 8, 48, true), 165 * 48);
    assert_int_equal(phantoms_begin(TAIL_GREEN_TEA, 8, 48, false), 8064);
    assert_int_equal(phantoms_begin(TAIL_GREEN_TEA, 8, 8, false), SPAN_PAGE);
    assert_int_equal(phantoms_begin(TAIL_GREEN_TEA, 8, 8, true), 8064);
    assert_int_equal(phantoms_begin(TAIL_BITMAP, 8, 512, true), 15 * 512);
    assert_int_equal(phantoms_begin(TAIL_BITMAP, 4, 128, true), 62 * 128);
    assert_int_equal(phantoms_begin(TAIL_GREEN_TEA, 4, 16, true), 8192 - 384);
}

/* Larger slots have malloc headers instead of phantoms. */
TEST(larger_slots_have_none)
{
    for (int tail = TAIL_NONE; tail < TAIL_KINDS; tail++) {
        assert_int_equal(phantoms_begin((enum span_tail)tail, 8, 520, true), SPAN_PAGE);
        assert_int_equal(phantoms_begin((enum span_tail)tail, 8, 576, true), SPAN_PAGE);
        assert_int_equal(phantoms_begin((enum span_tail)tail, 4, 136, true), SPAN_PAGE);
        assert_int_equal(phantoms_begin((enum span_tail)tail, 4, 144, true), SPAN_PAGE);
        assert_int_equal(phantoms_begin((enum span_tail)tail, 8, 0, true), SPAN_PAGE);
        assert_int_equal(phantoms_begin((enum span_tail)tail, 8, UINT64_MAX, true), SPAN_PAGE);
    }
}

TEST(tails_of_versions)
{
    static const struct {
        const char *version;
        int minor;
        enum span_tail tail;
    } cases[] = {
        {"", 0, TAIL_NONE},
        {"go1.19.8", 19, TAIL_NONE},
        {"go1.21.13", 21, TAIL_NONE},
        {"go1.21.13 X:greenteagc", 21, TAIL_NONE},
        {"go1.22.0", 22, TAIL_BITMAP},
        {"go1.22.5 X:noallocheaders", 22, TAIL_NONE},
        {"go1.22.5-X:noallocheaders", 22, TAIL_NONE},
        {"go1.23.4", 23, TAIL_BITMAP},
        {"go1.24.1", 24, TAIL_BITMAP},
        {"go1.25.12", 25, TAIL_BITMAP},
        {"go1.25.12 X:greenteagc", 25, TAIL_GREEN_TEA},
        {"go1.25.12-X:greenteagc", 25, TAIL_GREEN_TEA},
        {"go1.25.12 X:nogreenteagc", 25, TAIL_BITMAP},
        {"go1.26.11", 26, TAIL_GREEN_TEA},
        {"go1.26.11-X:nogreenteagc", 26, TAIL_BITMAP},
        {"go1.26.11 X:nogreenteagc", 26, TAIL_BITMAP},
        {"go1.27rc1", 27, TAIL_GREEN_TEA},
        {"devel go1.27-2f3ab1", 27, TAIL_GREEN_TEA},
        {"go1.100.1", 100, TAIL_GREEN_TEA},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        if (span_tail_of_version(cases[i].version, cases[i].minor) != cases[i].tail)
            fail_msg("%s", cases[i].version);
}

UNIT_MAIN(NULL, NULL)
