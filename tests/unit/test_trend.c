/* Covers findings/trend and output/report/trend: how made-up numbers are judged, and which places
 * of series of made-up heaps are named: a leak beside a full cache, one that fills, waves. */
#include "dump_builder.h"

#include <sys/stat.h>
#include <unistd.h>

#include "findings/trend.h"

/* ---- numbers ---- */

enum { MOST = 60 };

static struct trend_course judge(size_t count, const uint64_t *numbers)
{
    struct trend_course course;
    trend_classify(numbers, count, &course);
    return course;
}

#define JUDGE(...) judge(WORDS(__VA_ARGS__))

TEST(shapes)
{
    assert_int_equal(JUDGE(100, 110, 120, 130, 140, 150).kind, TREND_STEADY);
    assert_int_equal(JUDGE(100, 110, 120, 130, 140, 150).straightness, 100);
    assert_int_equal(JUDGE(0, 10, 20, 30, 40, 50).kind, TREND_STEADY);
    assert_int_equal(JUDGE(100, 130, 131, 160, 170, 200).kind, TREND_STEADY);
    assert_int_equal(JUDGE(1000000, 1000010, 1000020, 1000030).kind, TREND_STEADY);
    assert_int_equal(JUDGE(100, 110, 105, 130, 140, 150).kind, TREND_UNEVEN);
    assert_int_equal(JUDGE(100, 110, 120, 120, 140, 150).kind, TREND_UNEVEN);
    assert_int_equal(JUDGE(100, 200, 300, 300, 300, 300).kind, TREND_STOPPED);
    assert_int_equal(JUDGE(100, 200, 300, 300, 300, 300).since, 2);
    assert_int_equal(JUDGE(100, 200, 300, 302, 299, 301).kind, TREND_STOPPED);
    assert_int_equal(JUDGE(0, 500, 750, 875, 938, 969, 985, 993).kind, TREND_SLOWING);
    assert_int_equal(JUDGE(0, 500, 750, 875, 938, 969, 985, 993).tail, 55);
    assert_int_equal(JUDGE(0, 500, 750, 875, 938, 969, 970, 970).kind, TREND_STOPPED);
    assert_int_equal(JUDGE(0, 500, 750, 875, 938, 969, 970, 970).since, 3);
    assert_int_equal(JUDGE(100, 200, 100, 200, 100, 200).kind, TREND_WAVES);
    assert_int_equal(JUDGE(0, 50, 87, 100, 87, 50, 0, 50).kind, TREND_WAVES);
    assert_int_equal(JUDGE(150, 140, 130, 120, 110, 100).kind, TREND_LEVEL);
    assert_int_equal(JUDGE(100, 100, 100, 100, 100, 100).kind, TREND_LEVEL);
    assert_int_equal(JUDGE(1000, 1001, 998, 1003, 1000, 1002).kind, TREND_LEVEL);
    assert_int_equal(JUDGE(0, 0, 0, 0, 0, 0).kind, TREND_LEVEL);
}

/* Few numbers, and very large ones. */
TEST(edges)
{
    assert_int_equal(judge(0, NULL).kind, TREND_LEVEL);
    assert_int_equal(JUDGE(7).kind, TREND_LEVEL);
    assert_int_equal(JUDGE(7, 8).kind, TREND_LEVEL);
    assert_int_equal(JUDGE(7, 8, 9).kind, TREND_STEADY);
    const struct trend_course most = JUDGE(0, UINT64_MAX / 4, UINT64_MAX / 2 - 1);
    assert_int_equal(most.kind, TREND_STEADY);
    assert_int_equal(most.straightness, 100);
    const struct trend_course wild = JUDGE(UINT64_MAX, 0, UINT64_MAX, 1, UINT64_MAX - 1);
    assert_int_equal(wild.least, 0);
    assert_true(wild.most == UINT64_MAX);
    assert_int_equal(JUDGE(100, 101, 102, 103, 104, 900).straightness, 20);
}

/* Over many intervals a leak may pause in a few, and a slow one in most, if it never shrinks. */
TEST(long_series)
{
    uint64_t pauses[MOST], slow[MOST], late[MOST];
    for (size_t i = 0; i < MOST; i++) {
        pauses[i] = i % 20 == 7 ? 100 + 10 * (i - 1) : 100 + 10 * i;
        slow[i] = 100 + 10 * (i / 7);
        late[i] = i < 5 ? i : 5; /* is full soon */
    }
    assert_int_equal(judge(MOST, pauses).kind, TREND_STEADY);
    assert_int_equal(judge(MOST, pauses).ups, MOST - 1 - 3);
    assert_int_equal(judge(MOST, slow).kind, TREND_STEADY);
    assert_int_equal(judge(MOST, late).kind, TREND_STOPPED);
    slow[30] += 10; /* and down again */
    assert_int_equal(judge(MOST, slow).kind, TREND_UNEVEN);
}

/* Returns a number about another one: from half of it to one and a half. */
static uint64_t about(uint64_t *random, uint64_t number)
{
    return number / 2 + unit_random(random) % (number + 1);
}

/* A leak whose load falls in the last third of the time has not stopped. */
TEST(falling_load)
{
    static const unsigned lengths[] = {6, 10, 20, 40}, loads[] = {350, 300, 200, 100, 50};
    enum { ROUNDS = 200 };
    uint64_t random = 11;
    for (size_t l = 0; l < sizeof(lengths) / sizeof(*lengths); l++)
        for (size_t s = 0; s < sizeof(loads) / sizeof(*loads); s++) {
            const size_t count = lengths[l];
            unsigned steady = 0;
            for (unsigned round = 0; round < ROUNDS; round++) {
                uint64_t exact[MOST] = {1000}, random_amounts[MOST] = {1000}, shrinks[MOST];
                for (size_t i = 1; i < count; i++) {
                    const uint64_t more = i < count * 7 / 10 ? 1000 : loads[s];
                    exact[i] = exact[i - 1] + more;
                    random_amounts[i] = random_amounts[i - 1] + about(&random, more);
                }
                for (size_t i = 0; i < count; i++)
                    shrinks[i] = 100000 - exact[i];
                assert_int_equal(judge(count, exact).kind, TREND_STEADY);
                assert_int_equal(judge(count, shrinks).kind, TREND_LEVEL);
                const enum trend_kind kind = judge(count, random_amounts).kind;
                assert_true(kind == TREND_STEADY || kind == TREND_SLOWING);
                steady += kind == TREND_STEADY;
            }
            assert_in_range(steady, ROUNDS / 5 * 4, ROUNDS);
        }
}

/* A cache that is full, whatever its size does then, does not grow steadily; nor does what is
 * emptied from time to time. */
TEST(full_caches)
{
    static const unsigned lengths[] = {6, 10, 20, 40};
    enum { ROUNDS = 500 };
    uint64_t random = 12;
    for (size_t l = 0; l < sizeof(lengths) / sizeof(*lengths); l++) {
        const size_t count = lengths[l], full = count / 2;
        unsigned steady = 0;
        for (unsigned round = 0; round < ROUNDS; round++) {
            uint64_t fills[MOST], changes[MOST], saw[MOST];
            for (size_t i = 0; i < count; i++) {
                fills[i] = 1000 * (i < full ? i : full);
                changes[i] = fills[i] + 50 - unit_random(&random) % 50;
                saw[i] = 1000 * (i % 5 + 1) + unit_random(&random) % 50;
            }
            assert_int_equal(judge(count, fills).kind, TREND_STOPPED);
            assert_int_not_equal(judge(count, saw).kind, TREND_STEADY);
            steady += judge(count, changes).kind == TREND_STEADY;
        }
        assert_in_range(steady, 0, ROUNDS / 20);
    }
}

/* A cache with random keys gets the same share of those that are missing in each interval. */
TEST(random_keys)
{
    enum { SPACE = 1 << 20 };
    for (unsigned percent = 25; percent <= 60; percent += 5)
        for (size_t count = 10; count <= 40; count += 10) {
            uint64_t numbers[MOST], left = SPACE;
            for (size_t i = 0; i < count; i++) {
                left -= left / 100 * percent;
                numbers[i] = SPACE - left;
            }
            const enum trend_kind kind = judge(count, numbers).kind;
            assert_true(kind == TREND_SLOWING || kind == TREND_STOPPED);
        }
}

/* Numbers in random order ascend in all of five intervals once in 720 times. */
TEST(noise)
{
    enum { ROUNDS = 20000 };
    uint64_t random = 43;
    unsigned steady = 0, longer = 0;
    for (unsigned round = 0; round < ROUNDS; round++) {
        uint64_t numbers[30];
        for (size_t i = 0; i < 30; i++)
            numbers[i] = 1000 + unit_random(&random) % 1000;
        steady += judge(TREND_LEAST, numbers).kind == TREND_STEADY;
        longer += judge(30, numbers).kind == TREND_STEADY;
    }
    assert_in_range(steady, 0, 2 * ROUNDS / 720);
    assert_int_equal(longer, 0);
}

/* ---- heaps ---- */

#define BASE  0xc000000000
#define STACK 0xc010000000

/* A goroutine holds a table of TABLE bytes, and this holds items. */
struct group {
    const char *function;
    unsigned items, size;
    bool is_shared; /* two goroutines in another place hold the table, too */
};

enum { TABLE = 1 << 13 };

/* Adds a heap with some groups, and with garbage. */
static void add(struct g2h_trend *trend, const struct group *groups, size_t count, unsigned garbage,
                int64_t time)
{
    struct dump dump;
    uint64_t next = BASE, words[TABLE / 8];
    dump_start_modern(&dump, "go1.19.8");
    for (size_t i = 0; i < count; i++) {
        const uint64_t table = next, first = table + TABLE;
        next = first;
        for (unsigned j = 0; j < groups[i].items; j++, next += groups[i].size) {
            words[j] = next;
            dump_object(&dump, next, groups[i].size, NO_WORDS);
        }
        dump_object(&dump, table, TABLE, groups[i].items, words);
        dump_goroutine(&dump, i + 1, 0x700000 + i, STACK + i * 4096);
        dump_frame(&dump, groups[i].function, STACK + i * 4096, 0, WORDS(table), 1);
        if (!groups[i].is_shared)
            continue;
        for (unsigned j = 100; j <= 200; j += 100) {
            dump_goroutine(&dump, j + i, 0x700000 + j * 0x100 + i, STACK + (j + i) * 4096);
            dump_frame(&dump, "main.other", STACK + (j + i) * 4096, 0, WORDS(table), 1);
        }
    }
    for (unsigned j = 0; j < garbage; j++)
        dump_object(&dump, next + (uint64_t)j * 48, 48, NO_WORDS);
    dump_eof(&dump);
    dump_view(&dump, 1, NULL);
    assert_no_error(g2h_trend_add(trend, dump.view, "a heap", time, 1));
    dump_deinit(&dump);
}

struct founds {
    trend_found_vector by_kind[TREND_KINDS];
};

static void free_founds(struct founds *founds)
{
    for (int i = 0; i < TREND_KINDS; i++)
        free(founds->by_kind[i].data);
}

/* Asserts that one place of a kind was found: what the goroutine with a function holds, the items
 * of which there are grown more. */
static void assert_only(const struct g2h_trend *trend, const struct founds *founds,
                        enum trend_kind kind, const char *function, int64_t grown)
{
    assert_int_equal(founds->by_kind[kind].count, 1);
    const struct trend_found *found = &founds->by_kind[kind].data[0];
    bool is_below = false;
    for (uint32_t at = found->place; at != 0; at = trend->places.data[at].parent) {
        size_t size;
        const char *name = trend_name(trend, at, &size);
        is_below = is_below || (size == strlen(function) && memcmp(name, function, size) == 0);
    }
    assert_true(is_below);
    assert_int_equal(found->count.grown, grown);
}

/* Returns what g2h_write_trend() writes, from malloc(). */
static char *written(const struct g2h_trend *trend, bool json, size_t *ret_steady)
{
    char path[] = "/tmp/trend.XXXXXX";
    const int fd = mkstemp(path);
    struct stat status;
    const struct g2h_report_options report = {.size = sizeof(report), .json = json};
    const struct g2h_output_options options = {
        .size = sizeof(options), .fd = fd, .name = "trend", .threads = 1, .report = &report};
    assert_true(fd >= 0);
    unlink(path);
    assert_no_error(g2h_write_trend(trend, &options, ret_steady));
    assert_int_equal(fstat(fd, &status), 0);
    char *text = calloc(1, (size_t)status.st_size + 1);
    assert_int_equal(pread(fd, text, (size_t)status.st_size, 0), status.st_size);
    close(fd);
    return text;
}

/* A leak, a full cache whose entries change, one that fills and is full, and load in waves. */
TEST(places)
{
    static const unsigned wave[] = {100, 200, 300, 200, 100, 200, 300, 200};
    struct g2h_trend *trend;
    struct founds founds = {0};
    size_t steady;
    assert_no_error(g2h_trend_create(&trend));
    for (unsigned i = 0; i < 8; i++) {
        const struct group groups[] = {{"main.leak", 10 + 7 * i, 64},
                                       {"main.full", 500 + (i * 5) % 7, 80},
                                       {"main.fills", i < 4 ? 100 + 200 * i : 700, 96},
                                       {"main.load", wave[i], 256}};
        add(trend, groups, 4, 100 * i, 60000 * (i + 1));
    }
    assert_no_error(trend_find(trend, founds.by_kind));
    assert_only(trend, &founds, TREND_STEADY, "main.leak", 49);
    assert_only(trend, &founds, TREND_STOPPED, "main.fills", 600);
    assert_only(trend, &founds, TREND_WAVES, "main.load", 100);
    assert_int_equal(founds.by_kind[TREND_UNEVEN].count, 0);
    assert_int_equal(founds.by_kind[TREND_STOPPED].data[0].retained.since, 3);
    assert_int_equal(trend_elapsed(trend), 7 * 60000);
    char *text = written(trend, false, &steady);
    assert_non_null(strstr(text, "8 heaps in 7 min"));
    assert_non_null(strstr(
        text,
        "+49 entries in f0  (local of main.leak), now 59 (7 a minute); +3.14 kB (448 B a minute)"));
    assert_non_null(strstr(text, "straight growth (100 %)"));
    assert_non_null(strstr(
        text, "held by f0  (local of main.leak)\n      example f0.f0  (local of main.leak)\n"));
    assert_null(strstr(text, "main.full"));
    assert_null(strstr(text, "at this rate"));
    assert_int_equal(steady, 1);
    free(text);
    text = written(trend, true, NULL);
    assert_non_null(strstr(text, "\"count\":[10,17,24,31,38,45,52,59]"));
    assert_null(strstr(text, "\"limit"));
    free(text);
    free_founds(&founds);
    g2h_trend_destroy(trend);
}

/* What grows is a container: its entries count, and all their bytes with those of the table. */
TEST(containers)
{
    struct g2h_trend *trend;
    struct founds founds = {0};
    assert_no_error(g2h_trend_create(&trend));
    for (unsigned i = 0; i < 7; i++) {
        const struct group groups[] = {{"main.leak", 100 + 50 * i, 64}};
        add(trend, groups, 1, 0, 0);
    }
    assert_no_error(trend_find(trend, founds.by_kind));
    assert_only(trend, &founds, TREND_STEADY, "main.leak", 300);
    for (int i = TREND_STEADY + 1; i < TREND_KINDS; i++)
        assert_int_equal(founds.by_kind[i].count, 0);
    const struct trend_found *found = &founds.by_kind[TREND_STEADY].data[0];
    assert_true(found->is_container);
    assert_int_equal(found->retained.grown, 300 * 64);
    const struct trend_value now = trend_found_value(trend, 6, found);
    assert_int_equal(now.count, 400);
    assert_int_equal(now.retained, 400 * 64 + TABLE);
    char *text = written(trend, false, NULL);
    assert_non_null(
        strstr(text, "      +300 entries in f0  (local of main.leak), now 400; +19.2 kB"));
    assert_non_null(strstr(text, "      held by f0  (local of main.leak)\n"));
    free(text);
    free_founds(&founds);
    g2h_trend_destroy(trend);
}

/* What grows does so although another goroutine holds it, too, in every second heap; and what is as
 * large as before neither grows nor goes up and down. */
TEST(changing_holders)
{
    struct g2h_trend *trend;
    struct founds founds = {0};
    size_t steady;
    assert_no_error(g2h_trend_create(&trend));
    for (unsigned i = 0; i < 8; i++) {
        const struct group groups[] = {{"main.leak", 500 + 30 * i, 64, i % 2 == 1},
                                       {"main.level", 900, 96, i % 2 == 0}};
        add(trend, groups, 2, 0, 0);
    }
    assert_no_error(trend_find(trend, founds.by_kind));
    assert_int_equal(founds.by_kind[TREND_STEADY].count, 1);
    assert_int_equal(founds.by_kind[TREND_STEADY].data[0].count.grown, 210);
    for (int i = TREND_STOPPED; i < TREND_KINDS; i++)
        assert_int_equal(founds.by_kind[i].count, 0);
    char *text = written(trend, false, &steady);
    assert_int_equal(steady, 1);
    assert_non_null(strstr(text, "  (held by different roots over time) › "));
    assert_non_null(
        strstr(text, "      now in (held by several) › goroutines in several places › "));
    assert_non_null(strstr(text, "      example f0.f0  (local of main.leak)\n"));
    free(text);
    free_founds(&founds);
    g2h_trend_destroy(trend);
}

/* Adds a heap of as many records of calls that are deferred, and of others that the runtime keeps
 * for reuse. */
static void add_deferred(struct g2h_trend *trend, unsigned deferred, unsigned pooled)
{
    enum { SIZE = 64, MOST_POOLED = 256, RECORD_TYPE = 0x400000, POINTER_TYPE = 0x400040 };
    const uint64_t g = 0x700000;
    const struct g2h_field pointer = {.kind = G2H_FIELD_POINTER};
    uint64_t words[MOST_POOLED], next;
    DUMP dump;
    dump_start(&dump, DUMP_1_3, 8, false);
    next = dump.heap_start;
    dump_type(&dump, RECORD_TYPE, SIZE, "runtime._defer", true, &pointer, 1);
    dump_type(&dump, POINTER_TYPE, 8, "*runtime._defer", true, &pointer, 1);
    dump_goroutine(&dump, 1, g, STACK);
    dump_frame(&dump, "main.defers", STACK, 0, NO_WORDS, 0);
    for (unsigned i = 0; i < deferred; i++, next += SIZE) {
        const struct g2h_record record = {.kind = G2H_RECORD_DEFER,
                                          .defer = {.address = next, .g = g, .argp = STACK}};
        dump_typed_object(&dump, next, RECORD_TYPE, 0, SIZE, NO_WORDS);
        dump_record(&dump, &record, NULL, 0);
    }
    for (unsigned i = 0; i < pooled; i++, next += SIZE)
        dump_typed_object(&dump, words[i] = next, RECORD_TYPE, 0, SIZE, NO_WORDS);
    dump_typed_object(&dump, next, POINTER_TYPE, 1, sizeof(words), pooled, words);
    dump_bss(&dump, 0x560000, WORDS(next));
    dump_eof(&dump);
    dump_view(&dump, 1, NULL);
    assert_no_error(g2h_trend_add(trend, dump.view, "a heap", 0, 1));
}

/* Calls that a goroutine defers without end are a leak; records that are kept for reuse are not. */
TEST(deferred_calls)
{
    for (unsigned is_pooled = 0; is_pooled < 2; is_pooled++) {
        struct g2h_trend *trend;
        struct founds founds = {0};
        assert_no_error(g2h_trend_create(&trend));
        for (unsigned i = 0; i < 8; i++)
            add_deferred(trend, is_pooled ? 20 : 20 + 10 * i, is_pooled ? 20 + 10 * i : 20);
        assert_no_error(trend_find(trend, founds.by_kind));
        if (!is_pooled)
            assert_only(trend, &founds, TREND_STEADY, "(defers and panics)", 70);
        else
            assert_int_equal(founds.by_kind[TREND_STEADY].count, 0);
        free_founds(&founds);
        g2h_trend_destroy(trend);
    }
}

/* Which heaps are followed by others changes nothing in what is written after the last one. */
TEST(more_expected)
{
    struct g2h_trend *trends[2];
    char *texts[2];
    size_t steady[2];
    for (unsigned is_said = 0; is_said < 2; is_said++) {
        assert_no_error(g2h_trend_create(&trends[is_said]));
        for (unsigned i = 0; i < 8; i++) {
            g2h_trend_expect_more(trends[is_said], is_said && i < 7);
            add_deferred(trends[is_said], 20 + 10 * i, 20);
            assert_int_equal(trends[is_said]->held.count > 0, i >= 2 && (!is_said || i == 7));
        }
        texts[is_said] = written(trends[is_said], true, &steady[is_said]);
    }
    assert_string_equal(texts[0], texts[1]);
    assert_int_equal(steady[0], steady[1]);
    for (unsigned i = 0; i < 2; i++) {
        free(texts[i]);
        g2h_trend_destroy(trends[i]);
    }
}

/* Few heaps are no reason to say that anything grows; garbage that grows never is. */
TEST(few_heaps_and_garbage)
{
    struct g2h_trend *trend;
    size_t steady;
    assert_no_error(g2h_trend_create(&trend));
    char *text = written(trend, true, &steady); /* of no heap */
    assert_int_equal(steady, 0);
    free(text);
    for (unsigned i = 0; i < TREND_LEAST; i++) {
        const struct group groups[] = {{"main.leak", 10 + 7 * i, 64}};
        text = written(trend, false, &steady);
        assert_int_equal(steady, 0);
        free(text);
        add(trend, groups, 1, 0, 0);
    }
    text = written(trend, false, &steady);
    assert_int_equal(steady, 1);
    free(text);
    g2h_trend_destroy(trend);

    assert_no_error(g2h_trend_create(&trend));
    for (unsigned i = 0; i < 8; i++) {
        const struct group groups[] = {{"main.level", 10, 64}};
        add(trend, groups, 1, 1000 * i, 0);
    }
    text = written(trend, false, &steady);
    assert_int_equal(steady, 0);
    assert_non_null(strstr(text, "Nothing grew in every interval."));
    free(text);
    g2h_trend_destroy(trend);
}

/* What grows less and less is neither denied nor called steady, in words, JSON and count. */
TEST(slowing)
{
    static const unsigned items[] = {0, 500, 750, 875, 938, 969, 985, 993};
    struct g2h_trend *trend;
    size_t steady;
    assert_no_error(g2h_trend_create(&trend));
    for (unsigned i = 0; i < 8; i++) {
        const struct group groups[] = {{"main.cache", items[i], 64}};
        add(trend, groups, 1, 0, 60000 * (i + 1));
    }
    char *text = written(trend, false, &steady);
    assert_int_equal(steady, 0);
    assert_non_null(strstr(text, "GROWS MORE AND MORE SLOWLY"));
    assert_non_null(
        strstr(text, "+993 entries in f0  (local of main.cache), now 993; +71.7 kB, now 71.7 kB; "
                     "+3.52 kB in the last third"));
    assert_non_null(strstr(text, "held by f0  (local of main.cache)\n"));
    assert_non_null(strstr(text, "Nothing grew steadily in every interval."));
    assert_null(strstr(text, "STOPPED"));
    free(text);
    text = written(trend, true, NULL);
    assert_non_null(strstr(text, "\"slowing\":[{\"place\":"));
    assert_non_null(strstr(text, "\"grown_lately\":3520"));
    free(text);
    g2h_trend_destroy(trend);
}

/* However many heaps there are, no more than TREND_MOST are kept, the first and the last of them.
 */
TEST(many_heaps)
{
    enum { HEAPS = 3 * TREND_MOST };
    struct g2h_trend *trend;
    size_t steady;
    assert_no_error(g2h_trend_create(&trend));
    for (unsigned i = 0; i < HEAPS; i++) {
        const struct group groups[] = {{"main.leak", 10 + i, 64}};
        add(trend, groups, 1, 0, 1000 * (i + 1));
        assert_in_range(trend->heaps.count, 1, TREND_MOST + 1);
    }
    assert_int_equal(trend->added, HEAPS);
    assert_int_equal(trend_elapsed(trend), 1000 * (HEAPS - 1));
    char *text = written(trend, false, &steady);
    assert_int_equal(steady, 1);
    assert_non_null(strstr(text, "600 heaps in 9 min 59 s"));
    assert_non_null(
        strstr(text, "+599 entries in f0  (local of main.leak), now 609 (60 a minute)"));
    free(text);
    g2h_trend_destroy(trend);
}

/* Memory of the process that is not objects grows in no place, and is said. */
TEST(outside_of_the_heap)
{
    enum { MB = 1000000 };
    struct g2h_trend *trend;
    size_t steady;
    assert_no_error(g2h_trend_create(&trend));
    for (unsigned i = 0; i < 8; i++) {
        const struct group groups[] = {{"main.level", 10, 64}};
        const struct g2h_memory memory = {.resident = (20 + 10 * (uint64_t)i) * MB,
                                          .parts = {[G2H_MEMORY_OBJECTS] = 5 * MB}};
        add(trend, groups, 1, 0, 1000 * (i + 1));
        g2h_trend_set_memory(trend, &memory);
    }
    char *text = written(trend, false, &steady);
    assert_int_equal(steady, 0);
    assert_non_null(strstr(text, "  RSS 20.0 MB to 90.0 MB; 15.0 MB to 85.0 MB of it not objects, "
                                 "+70.0 MB, which grew in every interval"));
    assert_non_null(strstr(text, "memory outside of the heap did."));
    assert_null(strstr(text, "Nothing grew"));
    free(text);
    text = written(trend, true, NULL);
    assert_non_null(strstr(text, "\"rss_beside_objects_grown\":70000000"));
    assert_non_null(strstr(text, "\"rss_beside_objects_is_steady\":true"));
    free(text);
    const struct group groups[] = {{"main.level", 10, 64}};
    add(trend, groups, 1, 0, 9000); /* whose memory is not known */
    text = written(trend, false, NULL);
    assert_null(strstr(text, "RSS"));
    free(text);
    g2h_trend_destroy(trend);
}

/* Free slots of the heap that become more are not memory outside of it. */
TEST(free_in_the_heap)
{
    enum { MB = 1000000 };
    struct g2h_trend *trend;
    assert_no_error(g2h_trend_create(&trend));
    for (unsigned i = 0; i < 8; i++) {
        const struct group groups[] = {{"main.level", 10, 64}};
        const struct g2h_memory memory = {.resident = (20 + 10 * (uint64_t)i) * MB,
                                          .parts = {[G2H_MEMORY_OBJECTS] = 5 * MB,
                                                    [G2H_MEMORY_SLOTS] = 5 * (uint64_t)i * MB,
                                                    [G2H_MEMORY_FREE] = 5 * (uint64_t)i * MB}};
        add(trend, groups, 1, 0, 1000 * (i + 1));
        g2h_trend_set_memory(trend, &memory);
    }
    char *text = written(trend, false, NULL);
    assert_non_null(strstr(text, "+70.0 MB, which grew in every interval: memory that is free in "
                                 "the heap, or outside of it\n"));
    assert_null(strstr(text, "memory outside of the heap"));
    free(text);
    g2h_trend_destroy(trend);
}

/* What grows is leaked only if all of its goroutines are. */
TEST(leaked_in_part)
{
    enum { GOROUTINES = 100 };
    static const struct {
        uint64_t leaked;
        const char *wanted;
    } cases[] = {{0, "What grew in every interval need not be a leak"},
                 {60, "Goroutines that can never run again are a leak."},
                 {GOROUTINES, "What grew in every interval is leaked"}};
    struct g2h_trend *trend;
    assert_no_error(g2h_trend_create(&trend));
    for (unsigned i = 0; i < 8; i++) {
        const struct group groups[] = {{"main.leak", 10 + i, 64}};
        add(trend, groups, 1, 0, 1000 * (i + 1));
    }
    assert_int_equal(trend->held.count, 1);
    trend->held.data[0].goroutines = GOROUTINES;
    text_append_string(&trend->held.data[0].waits_at, "main.get");
    trend->held.data[0].alike = 40;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        trend->held.data[0].leaked = cases[i].leaked;
        char *text = written(trend, false, NULL);
        if (!strstr(text, cases[i].wanted))
            fail_msg("%s is not in %s", cases[i].wanted, text);
        assert_non_null(strstr(text, "      waits at main.get, as 40 of 100 do\n"));
        free(text);
    }
    trend->held.data[0].goroutines = trend->held.data[0].leaked = 1;
    char *text = written(trend, false, NULL);
    assert_non_null(strstr(text, "      leaked: it can never run again: "));
    assert_non_null(strstr(text, "      waits at main.get\n"));
    free(text);
    g2h_trend_destroy(trend);
}

static void assert_limit(struct g2h_trend *trend, uint64_t limit, uint64_t left, const char *wanted,
                         const char *in_json)
{
    g2h_trend_set_limit(trend, limit, left);
    char *text = written(trend, false, NULL), *json = written(trend, true, NULL);
    if (!strstr(text, wanted) || !strstr(json, in_json))
        fail_msg("%s is not in %s, or %s in %s", wanted, text, in_json, json);
    const char *said = strstr(text, "at this rate");
    assert_true(*wanted ? said && !strstr(said + 1, "at this rate") : !said);
    free(text);
    free(json);
}

/* By 448 bytes in a minute, what a memory limit leaves is full at some time. */
TEST(memory_limit)
{
    struct g2h_trend *trend;
    assert_no_error(g2h_trend_create(&trend));
    for (unsigned i = 0; i < 8; i++) {
        const struct group groups[] = {{"main.slow", 10 + 3 * i, 64},
                                       {"main.leak", 10 + 7 * i, 64}};
        add(trend, groups, 2, 0, 60000 * (i + 1));
    }
    assert_limit(trend, 0, 448, "", "\"heaps\":");
    assert_limit(trend, 512 << 20, 448 * 60 * 14,
                 "      at this rate its limit of 512 MiB is reached within 14 h\n",
                 "\"limit_in_ms\":50400000");
    assert_limit(trend, 512 << 20, 192 * 60, "is reached within 25 min 43 s\n",
                 "\"limit_in_ms\":3600000"); /* the slow one */
    assert_limit(trend, 2ull << 30, 448 * 7, "its limit of 2 GiB is reached within 7 min\n",
                 "\"limit\":2147483648");
    assert_limit(trend, 500000000, 448 * 7, "its limit of 500 MB is reached within 7 min\n",
                 "\"limit_left\":3136");
    assert_limit(trend, 512 << 20, 448ull * 60 * 24 * 366, "", "\"limit_left\":");
    assert_limit(trend, 512 << 20, 0, "", "\"limit_left\":0");
    const struct group more[] = {{"main.slow", 10 + 3 * 8, 64}, {"main.leak", 10 + 7 * 8, 64}};
    add(trend, more, 2, 0, 60000 * 9); /* of which no limit is known */
    assert_limit(trend, trend->limit, trend->left, "", "\"heaps\":");
    add(trend, more, 2, 0, 0); /* nor its time */
    assert_limit(trend, 512 << 20, 448 * 60 * 14, "", "\"heaps\":");
    g2h_trend_destroy(trend);
}

UNIT_MAIN(NULL, NULL)
