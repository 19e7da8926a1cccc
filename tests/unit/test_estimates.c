/* Covers findings/estimates and the fact that says what a sample has: random samples of a known
 * population, whose estimates must be as far off as their errors say, neither more nor less; kinds
 * of spans that are read as a whole; and damaged facts. */
#include "dump_builder.h"

#include "dump/dump_facts.h"
#include "findings/class_rows.h"

enum {
    PAGE = 8192,
    SLOT = 512,
    SLOTS = PAGE / SLOT,
    SPANS = 400, /* of the kind of which some are read */
    READ = 60,   /* of these */
    LARGE = 3,   /* spans of one object, which are all read */
    LARGE_SIZE = 5 * PAGE,
    SETS = 5,
    SAMPLES = 120,
};

static const uint64_t heap_start = 0xc000000000, large_start = 0xc100000000;

/* The population: set 0 is anywhere, 1 fills whole spans, 2 is rare, 3 is all large objects and one
 * in two of the others, 4 has the rest. Some slots are free. */
static bool is_free(unsigned span, unsigned slot)
{
    return (span * 7 + slot * 5) % 11 == 0;
}

static unsigned set_of(unsigned span, unsigned slot)
{
    uint64_t state = span * SLOTS + slot + 1;
    for (int i = 0; i < 3; i++)
        unit_random(&state);
    if (span % 9 == 0)
        return 1;
    if (state % 100 < 2)
        return 2;
    return state % 100 < 22 ? 0 : state % 2 == 0 ? 3 : 4;
}

static void count_population(uint64_t ret[SETS], uint64_t *ret_objects)
{
    *ret_objects = 0;
    for (unsigned i = 0; i < SETS; i++)
        ret[i] = i == 3 ? LARGE : 0;
    for (unsigned span = 0; span < SPANS; span++)
        for (unsigned slot = 0; slot < SLOTS; slot++)
            if (!is_free(span, slot)) {
                ret[set_of(span, slot)]++;
                (*ret_objects)++;
            }
}

/* Writes a dump with the objects of the chosen spans; with a holder that is in none of these. */
static struct g2h_heap *write(struct dump *dump, const bool *is_chosen, uint64_t objects)
{
    uint64_t before = 0, read = 0;
    dump_start_large(dump, "go1.22", UINT64_C(1) << 34);
    for (unsigned span = 0; span < SPANS; span++) {
        read += is_chosen[span];
        for (unsigned slot = 0; slot < SLOTS && is_chosen[span]; slot++)
            if (!is_free(span, slot))
                dump_object(dump, heap_start + span * PAGE + slot * SLOT, SLOT, NO_WORDS);
    }
    dump_object(dump, heap_start + SPANS * PAGE, SLOT, NO_WORDS);
    for (unsigned i = 0; i < LARGE; i++)
        dump_object(dump, large_start + i * LARGE_SIZE, LARGE_SIZE, NO_WORDS);
    dump_eof(dump);
    dump_bytes(dump, FACTS_TEXT, sizeof(FACTS_TEXT) - 1);
    dump_uvarints(dump, WORDS(FACT_SAMPLE, 7, 2));
    dump_uvarints(dump, WORDS(1, 0, LARGE, LARGE, LARGE));
    dump_uvarints(dump, WORDS(45, SLOT, SPANS, read, objects));
    for (unsigned span = 0; span < SPANS; span++)
        if (is_chosen[span]) {
            dump_uvarints(dump, WORDS(PAGE, 1, heap_start + span * PAGE - before));
            before = heap_start + span * PAGE;
        }
    for (unsigned i = 0; i < LARGE; i++) {
        dump_uvarints(dump, WORDS(LARGE_SIZE, 0, large_start + i * LARGE_SIZE - before));
        before = large_start + i * LARGE_SIZE;
    }
    dump_uvarints(dump, WORDS(0, FACT_END));
    return dump_load(dump, 1);
}

/* Estimates all sets of a dump. */
static void estimate(struct g2h_heap *heap, struct estimates *ret)
{
    assert_no_error(estimates_begin(heap, ret));
    for (uint32_t i = 0; i < g2h_heap_object_count(heap); i++) {
        const uint64_t address = g2h_heap_address(heap, i), offset = address - heap_start;
        const unsigned set = address >= large_start ? 3
                                                    : set_of((unsigned)(offset / PAGE),
                                                             (unsigned)(offset % PAGE / SLOT));
        assert_no_error(estimates_add(ret, set, i));
    }
    assert_no_error(estimates_finish(ret, SETS));
}

static uint64_t difference(uint64_t one, uint64_t other)
{
    return one > other ? one - other : other - one;
}

/* An error is 4 standard errors. Two of these, and a half of one, are left by about 5 % and 62 % of
 * all estimates. */
TEST(test_errors)
{
    uint64_t objects, all[SETS], seed = 20261129, beyond = 0, beyond_two = 0, beyond_half = 0;
    count_population(all, &objects);
    for (unsigned sample = 0; sample < SAMPLES; sample++) {
        struct dump dump = {0};
        struct estimates estimates;
        bool is_chosen[SPANS] = {false};
        for (unsigned left = READ; left > 0;) {
            const unsigned span = unit_random(&seed) % SPANS;
            left -= !is_chosen[span];
            is_chosen[span] = true;
        }
        estimate(write(&dump, is_chosen, objects), &estimates);
        for (unsigned i = 0; i < SETS; i++) {
            const struct estimate *set = &estimates.sets[i];
            const uint64_t off = difference(set->objects, all[i]);
            beyond += off > set->objects_error;
            beyond_two += 2 * off > set->objects_error;
            beyond_half += 8 * off > set->objects_error;
            assert_int_equal(set->is_vague, set->spans < ESTIMATE_LEAST_SPANS);
            if (i != 3) {
                assert_true(difference(set->bytes, SLOT * set->objects) < SLOT);
                assert_true(difference(set->bytes_error, SLOT * set->objects_error) < SLOT);
            } else {
                assert_true(set->bytes > LARGE * LARGE_SIZE);
            }
        }
        estimates_deinit(&estimates);
        dump_deinit(&dump);
    }
    assert_int_equal(beyond, 0);
    assert_in_range(beyond_two, SAMPLES * SETS * 2 / 100, SAMPLES * SETS * 9 / 100);
    assert_in_range(beyond_half, SAMPLES * SETS * 54 / 100, SAMPLES * SETS * 70 / 100);
}

/* If all spans are read, there is no error. */
TEST(test_whole)
{
    struct dump dump = {0};
    struct estimates estimates;
    bool is_chosen[SPANS];
    uint64_t objects, all[SETS];
    memset(is_chosen, true, sizeof(is_chosen));
    count_population(all, &objects);
    struct g2h_heap *heap = write(&dump, is_chosen, objects);
    estimate(heap, &estimates);
    for (unsigned i = 0; i < SETS; i++) {
        assert_int_equal(estimates.sets[i].objects, all[i]);
        assert_int_equal(estimates.sets[i].objects_error, 0);
        assert_int_equal(estimates.sets[i].read, all[i]);
        assert_int_equal(estimates.sets[i].is_vague, false);
    }
    assert_int_equal(estimates_unseen(g2h_heap_sample(heap)), 0);
    estimates_deinit(&estimates);
    dump_deinit(&dump);
}

/* A kind of which no span was read may be all that a set has. */
TEST(test_unread)
{
    const struct g2h_sample_kind kind = {.slot_size = SLOT, .spans = 10, .objects = 100};
    assert_int_equal(estimates_unseen(&(struct g2h_sample){.kinds = &kind, .kind_count = 1}),
                     100 * SLOT);
}

/* What an object stands for; one that is not of the sample stands for nothing. */
TEST(test_sizes)
{
    struct dump dump = {0};
    bool is_chosen[SPANS] = {[1] = true, [3] = true};
    uint64_t objects, all[SETS], sum = 0;
    uint32_t object;
    count_population(all, &objects);
    struct g2h_heap *heap = write(&dump, is_chosen, objects);
    for (uint32_t i = 0; i < g2h_heap_object_count(heap); i++)
        sum += g2h_heap_estimated_size(heap, i);
    assert_true(difference(sum, objects * SLOT + LARGE * LARGE_SIZE) < SLOTS * 2);
    assert_true(g2h_heap_find(heap, large_start, &object));
    assert_int_equal(g2h_heap_estimated_size(heap, object), LARGE_SIZE);
    assert_true(g2h_heap_find(heap, heap_start + SPANS * PAGE, &object));
    assert_int_equal(g2h_heap_estimated_size(heap, object), 0);
    /* Most of a sixteenth thousandth is what two spans of 400 may both not have. */
    assert_in_range(estimates_unseen(g2h_heap_sample(heap)), objects * SLOT * 99 / 100,
                    objects * SLOT);
    dump_deinit(&dump);
}

/* Facts that contradict themselves are damage, and no sample. */
TEST(test_damaged)
{
    static const struct {
        size_t count;
        uint64_t values[12];
    } facts[] = {
        {4, {FACT_SAMPLE, 0, 0, 0}},                                    /* every is 0 */
        {8, {FACT_SAMPLE, 7, 1, 256, SLOT, 1, 1, 1}},                   /* no such class */
        {8, {FACT_SAMPLE, 7, 1, 45, SLOT, 1, 2, 1}},                    /* more than there are */
        {9, {FACT_SAMPLE, 7, 1, 45, SLOT, 2, 1, 1, 0}},                 /* a span is missing */
        {12, {FACT_SAMPLE, 7, 1, 45, SLOT, 2, 1, 1, PAGE, 1, 4096, 0}}, /* no such kind */
        {11, {FACT_SAMPLE, 7, 1, 45, SLOT, 2, 1, 1, PAGE, 0, 4096}},    /* cut */
    };
    for (size_t i = 0; i < sizeof(facts) / sizeof(*facts); i++) {
        struct dump dump = {0};
        dump_start_large(&dump, "go1.22", UINT64_C(1) << 34);
        dump_object(&dump, heap_start, SLOT, NO_WORDS);
        dump_eof(&dump);
        dump_bytes(&dump, FACTS_TEXT, sizeof(FACTS_TEXT) - 1);
        dump_uvarints(&dump, facts[i].count, facts[i].values);
        assert_null(g2h_heap_sample(dump_load(&dump, 1)));
        assert_non_null(g2h_heap_damage(dump.heap));
        dump_deinit(&dump);
    }
}

UNIT_MAIN(NULL, NULL)
