/* Covers findings/ages: what is said of objects by when they were seen first, and by what has ended
 * meanwhile: docs/ages.md has the rule. */
#include "dump_builder.h"

#include "dump/dump_facts.h"
#include "findings/ages.h"
#include "findings/findings.h"

enum { LOOKS = 11, SLOT = 64, SPAN_CLASS = 5, MOST = 128, LOOK_MS = 2000 };

/* Objects: those that are new, those that were there at the first look, and so many that each look
 * from one to another saw first. And what ended at each look from one on, and what of that was
 * there at the first one. */
struct aged {
    unsigned young, before, from, to, many, looks, ended_from;
    uint64_t ended, ended_first;
    unsigned others; /* of the same size, which have survived the last collection only */
    bool ended_once; /* at the look ended_from alone */
};

static unsigned count_of(const struct aged *aged, unsigned look)
{
    if (look < 2)
        return look == 0 ? aged->young : aged->before;
    return look >= aged->from && look <= aged->to ? aged->many : 0;
}

/* Writes the ages of a span of objects, after the end of a dump. */
static void put_ages(struct dump *dump, const struct aged *aged, uint64_t objects)
{
    dump_bytes(dump, FACTS_TEXT, sizeof(FACTS_TEXT) - 1);
    dump_uvarints(dump, WORDS(FACT_AGES, 1700000000000, aged->looks - 1, 0, 0, aged->looks));
    for (unsigned look = 1; look <= aged->looks; look++) {
        dump_uvarints(dump, WORDS(look, look, (look - 1) * LOOK_MS));
        if (look >= aged->ended_from && aged->ended > 0 &&
            (look == aged->ended_from || !aged->ended_once))
            dump_uvarints(dump, WORDS(aged->ended, SPAN_CLASS, aged->ended_first));
        dump_uvarint(dump, 0);
    }
    dump_uvarints(dump, WORDS(objects, dump->heap_start, SLOT, SPAN_CLASS));
    for (unsigned look = 0; look <= aged->looks; look++)
        if (count_of(aged, look) > 0)
            dump_uvarints(dump, WORDS(look, count_of(aged, look)));
    if (aged->others > 0)
        dump_uvarints(dump, WORDS(aged->looks, aged->others));
    dump_uvarints(dump, WORDS(0, FACT_END));
}

/* Returns what is found of the objects, which an array holds. */
static struct ages_found found_of(const struct aged *aged)
{
    static uint64_t words[MOST];
    struct ages_found ret = {.verdict = AGES_UNKNOWN}, array_s;
    DUMP dump;
    uint64_t objects = 0;
    dump_start_modern(&dump, "go1.27");
    for (unsigned look = 0; look <= aged->looks; look++)
        objects += count_of(aged, look);
    assert_true(objects + aged->others <= MOST);
    for (uint64_t i = 0; i < objects; i++) {
        words[i] = dump.heap_start + i * SLOT;
        dump_object(&dump, words[i], SLOT, NO_WORDS);
    }
    for (uint64_t i = objects; i < objects + aged->others; i++)
        dump_object(&dump, dump.heap_start + i * SLOT, SLOT, NO_WORDS);
    const uint64_t array = dump.heap_start + MOST * SLOT;
    dump_object(&dump, array, MOST * 8, objects, words);
    dump_bss(&dump, 0x560000, WORDS(array));
    dump_eof(&dump);
    put_ages(&dump, aged, objects + aged->others);
    struct findings findings = {.view = dump_view(&dump, 1, NULL), .threads = 1};
    assert_no_error(findings_begin(&findings, false));
    assert_no_error(findings_merge(&findings));
    for (uint32_t node = 0; node < findings.merged.nodes.count; node++)
        if (findings_node(&findings, node)->kind == MERGED_CLASS &&
            findings_node(&findings, node)->count == objects) {
            assert_no_error(ages_find(&findings, node, &ret));
            assert_int_equal(ret.node, node);
            assert_no_error(ages_find(&findings, findings_node(&findings, node)->parent, &array_s));
        }
    /* The array is one object of unknown age: what it holds stands for it, unless that is few. */
    if (ret.verdict != AGES_FEW)
        assert_memory_equal(&array_s, &ret, sizeof(ret));
    findings_deinit(&findings);
    return ret;
}

TEST(verdicts)
{
    static const struct {
        struct aged aged;
        enum ages_verdict verdict;
    } cases[] = {
        {{0, 100, 0, 0, 0, LOOKS, 0, 0, 0}, AGES_START},
        {{100, 0, 0, 0, 0, LOOKS, 0, 0, 0}, AGES_YOUNG},
        {{0, 10, 2, 11, 10, LOOKS, 0, 0, 0}, AGES_LEAKS},
        {{0, 10, 2, 11, 10, LOOKS, 2, 10, 10}, AGES_REPLACED},
        {{0, 10, 2, 11, 10, LOOKS, 2, 4, 4}, AGES_UNCLEAR},
        {{0, 0, 7, 11, 10, LOOKS, 2, 10, 0}, AGES_BOUNDED},
        {{0, 0, 7, 11, 10, LOOKS, 2, 10, 0, 50}, AGES_BOUNDED},
        {{0, 0, 7, 11, 10, LOOKS, 2, 10, 0, 51}, AGES_OTHERS},
        {{0, 0, 7, 11, 10, LOOKS, 0, 0, 0}, AGES_BEGUN},
        {{0, 0, 8, 11, 10, LOOKS, 0, 0, 0}, AGES_BEGUN},
        /* but what was there before ended as a whole: it is emptied from time to time */
        {{0, 0, 7, 11, 10, LOOKS, 7, 50, 0, 0, true}, AGES_OTHERS},
        /* As a cache that is renewed within two collections: none of its objects survives two. */
        {{5, 0, 9, 11, 20, LOOKS, 0, 0, 0}, AGES_SHORT},
        {{20, 0, 10, 11, 40, LOOKS, 0, 0, 0}, AGES_SHORT},
        {{0, 0, 7, 11, 10, LOOKS, 2, 4, 0}, AGES_MIXED},
        {{0, 50, 9, 11, 20, LOOKS, 0, 0, 0}, AGES_MIXED},
        {{0, 0, 6, 6, 100, LOOKS, 0, 0, 0}, AGES_MOMENT},
        {{0, 0, 10, 10, 100, LOOKS, 0, 0, 0}, AGES_MOMENT},
        {{0, 0, 11, 11, 100, LOOKS, 0, 0, 0}, AGES_SHORT}, /* as load, which is always young */
        {{0, 2, 2, 8, 2, LOOKS, 0, 0, 0}, AGES_FEW},
        {{0, 10, 2, 6, 10, 6, 0, 0, 0}, AGES_FEW_LOOKS},
        {{1, 99, 0, 0, 0, 1, 0, 0, 0}, AGES_ONE_LOOK},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        const struct ages_found found = found_of(&cases[i].aged);
        if (found.verdict != cases[i].verdict)
            fail_msg("case %zu: verdict %d, not %d", i, (int)found.verdict, (int)cases[i].verdict);
    }
}

/* A leak of 10 objects in each 2 s. */
TEST(numbers)
{
    const struct aged aged = {3, 10, 2, 11, 10, LOOKS, 0, 0, 0};
    const struct ages_found found = found_of(&aged);
    uint64_t sum = 0;
    assert_int_equal(found.count, 113);
    assert_int_equal(found.before, 10);
    assert_int_equal(found.born, 100);
    assert_int_equal(found.young, 3);
    assert_int_equal(found.seconds, 20);
    assert_int_equal(found.oldest, 20);
    assert_true(found.per_second > 4.99 && found.per_second < 5.01);
    for (unsigned i = 0; i < AGES_BINS; i++)
        sum += found.bins[i];
    assert_in_range(sum, 100 - AGES_BINS / 2, 100 + AGES_BINS / 2); /* each is rounded */
}

UNIT_MAIN(NULL, NULL)
