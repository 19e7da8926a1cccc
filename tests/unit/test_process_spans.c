/* Which slots of a span are objects, at each moment of its sweep (runtime/mgcsweep.go); and
 * specials, goroutines, stacks of the profile and modules that are missing. And the window of a
 * watch of ages. */
#include "unit.h"

#include "base/bytes.h"
#include "base/elf_format.h"
#include "process/age_looks.h"
#include "process/records.h"
#include "process/spans.h"

enum { SWEEPGEN = 100, SLOTS = 8, SIZE = 1024, SPAN = 0x1000, START = 0x10000 };
enum { ALLOCATED = 0x2000, MARKED = 0x2008, FRESH = 0x2010 };

struct mspan {
    uint64_t freeindex, alloc_count, alloc_bits, mark_bits, sweepgen;
};

struct process_memory {
    struct memory memory;
    struct runtime runtime;
    uint8_t bytes[0x2000]; /* the memory from SPAN on */
};

static void put(struct process_memory *process, uint64_t address, const void *data, unsigned size)
{
    memcpy(process->bytes + (address - SPAN), data, size); /* on machines that are little endian */
}

static void set_field(struct process_memory *process, enum layout_field field, uint64_t value)
{
    const struct layout_member place = process->runtime.layout.members[field];
    for (unsigned i = 0; i < place.size && i < 8; i++)
        process->bytes[place.offset + i] = (uint8_t)(value >> (8 * i));
}

static void make(struct process_memory *process, const struct mspan *mspan, uint8_t allocated,
                 uint8_t marked)
{
    memset(process, 0, sizeof(*process));
    process->runtime.memory = &process->memory;
    process->runtime.sweepgen = SWEEPGEN;
    process->runtime.minor = 26;
    assert_true(
        layout_of_release(bytes_of("go1.26.1"), false, EM_X86_64, &process->runtime.layout));
    assert_true(memory_add(&process->memory, SPAN, sizeof(process->bytes), process->bytes));
    memory_sort(&process->memory);
    set_field(process, LAYOUT_MSPAN_START_ADDR, START);
    set_field(process, LAYOUT_MSPAN_NPAGES, 1);
    set_field(process, LAYOUT_MSPAN_ELEMSIZE, SIZE);
    set_field(process, LAYOUT_MSPAN_NELEMS, SLOTS);
    set_field(process, LAYOUT_MSPAN_STATE, 1);
    set_field(process, LAYOUT_MSPAN_SPANCLASS, 2 << 1);
    set_field(process, LAYOUT_MSPAN_FREEINDEX, mspan->freeindex);
    set_field(process, LAYOUT_MSPAN_ALLOC_COUNT, mspan->alloc_count);
    set_field(process, LAYOUT_MSPAN_ALLOC_BITS, mspan->alloc_bits);
    set_field(process, LAYOUT_MSPAN_GCMARK_BITS, mspan->mark_bits);
    set_field(process, LAYOUT_MSPAN_SWEEPGEN, mspan->sweepgen);
    put(process, ALLOCATED, &allocated, 1);
    put(process, MARKED, &marked, 1);
}

/* Returns the slots that live, a bit for each. */
static uint64_t live_of(const struct mspan *mspan, uint8_t allocated, uint8_t marked)
{
    static struct process_memory process;
    struct span span;
    make(&process, mspan, allocated, marked);
    assert_int_equal(span_read(&process.runtime, SPAN, &span), SPAN_IN_USE);
    memory_deinit(&process.memory);
    return span.live[0];
}

TEST(swept)
{
    const struct mspan mspan = {3, 5, ALLOCATED, FRESH, SWEEPGEN},
                       cached = {3, 5, ALLOCATED, FRESH, SWEEPGEN + 3};
    assert_int_equal(live_of(&mspan, 0x50, 0), 0x57);
    assert_int_equal(live_of(&cached, 0x50, 0), 0x57);
}

TEST(not_swept_yet)
{
    const struct mspan mspan = {8, 8, ALLOCATED, MARKED, SWEEPGEN - 2};
    assert_int_equal(live_of(&mspan, 0xff, 0x21), 0x21);
    assert_int_equal(live_of(&mspan, 0xff, 0), 0);
}

/* The moments have the order of mspan.sweep(): whatever it has stored, the same slots live. */
TEST(being_swept)
{
    const uint8_t marks[] = {0x21, 0};
    for (size_t i = 0; i < 2; i++) {
        const uint64_t count = marks[i] == 0 ? 0 : 2;
        const struct mspan moments[] = {
            {8, 8, ALLOCATED, MARKED, SWEEPGEN - 1},
            {8, count, ALLOCATED, MARKED, SWEEPGEN - 1},
            {0, count, ALLOCATED, MARKED, SWEEPGEN - 1},
            {0, count, MARKED, MARKED, SWEEPGEN - 1},
            {0, count, MARKED, FRESH, SWEEPGEN - 1},
            {0, count, MARKED, FRESH, SWEEPGEN},
        };
        for (size_t k = 0; k < sizeof(moments) / sizeof(*moments); k++)
            assert_int_equal(live_of(&moments[k], 0xff, marks[i]), marks[i]);
    }
}

/* A chain of specials whose next one is not in memory ends there, and that is counted. */
TEST(missing_special)
{
    static struct process_memory process;
    enum { SPECIAL = 0x2100 };
    const struct mspan mspan = {8, 8, ALLOCATED, MARKED, SWEEPGEN - 2};
    struct special special;
    uint64_t next = SPECIAL;
    make(&process, &mspan, 0xff, 0xff);
    process.runtime.specials_most = 8;
    const uint64_t missing = SPAN + sizeof(process.bytes);
    put(&process, SPECIAL + runtime_offset(&process.runtime, LAYOUT_SPECIAL_NEXT), &missing,
        sizeof(missing));
    assert_true(special_read(&process.runtime, next, &special, &next));
    assert_int_equal(next, missing);
    assert_int_equal(process.runtime.missing, 0);
    assert_false(special_read(&process.runtime, next, &special, &next));
    assert_int_equal(process.runtime.missing, 1);
    assert_false(special_read(&process.runtime, 0, &special, &next));
    assert_int_equal(process.runtime.missing, 1);
    memory_deinit(&process.memory);
}

/* Returns how many missing words are counted when the goroutines of allgs are written. */
static uint64_t missing_of_allgs(struct process_memory *process, uint64_t allgs)
{
    struct process threadless = {0};
    struct records records = {.runtime = &process->runtime};
    struct release release = {0};
    struct goroutines *goroutines = NULL;
    process->runtime.process = &threadless;
    process->runtime.allgs = allgs;
    process->runtime.missing = 0;
    assert_null(records_begin_goroutines(&records, &release, &goroutines));
    const uint64_t before = process->runtime.missing;
    assert_null(records_put_goroutines(goroutines));
    records_end_goroutines(goroutines);
    worker_buffer_deinit(&records.buffer);
    return process->runtime.missing - before;
}

/* Goroutines hold objects: none are left out without a count, be it their slice that is missing,
 * its array, or the end of that. */
TEST(missing_goroutines)
{
    static struct process_memory process;
    enum { SLICE = 0x2100, END = SPAN + sizeof(process.bytes) };
    const struct mspan mspan = {8, 8, ALLOCATED, MARKED, SWEEPGEN - 2};
    const uint64_t none[] = {0, 0, 0}, far[] = {END + 64, 2, 2}, cut[] = {END - 16, 3, 3};
    make(&process, &mspan, 0xff, 0xff);
    put(&process, SLICE, none, sizeof(none));
    assert_int_equal(missing_of_allgs(&process, SLICE), 0);
    assert_int_equal(missing_of_allgs(&process, END), 1);
    put(&process, SLICE, far, sizeof(far));
    assert_int_equal(missing_of_allgs(&process, SLICE), 1);
    put(&process, SLICE, cut, sizeof(cut));
    assert_int_equal(missing_of_allgs(&process, SLICE), 1);
    memory_deinit(&process.memory);
}

/* Returns how many missing words are counted when a profile of one bucket is written, which has so
 * many frames, and how many bytes that takes. */
static uint64_t missing_of_bucket(struct process_memory *process, uint64_t bucket, uint64_t frames,
                                  size_t *ret_size)
{
    enum { MBUCKETS = 0x2100, MEM_PROFILE = 1, ENOUGH = 100 };
    const struct runtime *runtime = &process->runtime;
    const uint64_t kind = MEM_PROFILE;
    struct records records = {.runtime = &process->runtime, .pcs_left = ENOUGH};
    put(process, MBUCKETS, &bucket, sizeof(bucket));
    put(process, bucket + runtime_offset(runtime, LAYOUT_BUCKET_TYP), &kind, 8);
    put(process, bucket + runtime_offset(runtime, LAYOUT_BUCKET_NSTK), &frames, 8);
    process->runtime.mbuckets = MBUCKETS;
    process->runtime.missing = 0;
    assert_null(records_put_profile(&records));
    *ret_size = records.buffer.size;
    worker_buffer_deinit(&records.buffer);
    return process->runtime.missing;
}

/* A bucket whose stack is not in memory, or has more frames than any, is left out and counted. */
TEST(missing_stack)
{
    static struct process_memory process;
    enum { BUCKET = 0x2200, END = SPAN + sizeof(process.bytes), HEAD = 0x80 };
    const struct mspan mspan = {8, 8, ALLOCATED, MARKED, SWEEPGEN - 2};
    size_t size;
    make(&process, &mspan, 0xff, 0xff);
    assert_int_equal(missing_of_bucket(&process, BUCKET, 2, &size), 0);
    assert_true(size > 0);
    assert_int_equal(missing_of_bucket(&process, END - HEAD, 20, &size), 1);
    assert_int_equal(size, 0);
    assert_int_equal(missing_of_bucket(&process, BUCKET, UINT64_MAX, &size), 1);
    assert_int_equal(size, 0);
    memory_deinit(&process.memory);
}

/* Sets a field of the module at an address. */
static void set_module(struct process_memory *process, uint64_t module, enum layout_field field,
                       unsigned behind, uint64_t value)
{
    put(process, module + runtime_offset(&process->runtime, field) + behind, &value, 8);
}

/* The list of modules goes on behind a plugin that the runtime refused, which has no masks. */
TEST(refused_module)
{
    static struct process_memory process;
    enum { FIRST = 0x2100, REFUSED = 0x2400, USED = 0x2700, BITS = 0x2a00, DATA = 0x10000 };
    const struct mspan mspan = {8, 8, ALLOCATED, MARKED, SWEEPGEN - 2};
    const uint64_t modules[] = {REFUSED, USED};
    struct runtime_segments segments;
    uint64_t module = FIRST;
    make(&process, &mspan, 0xff, 0xff);
    set_module(&process, FIRST, LAYOUT_MODULEDATA_NEXT, 0, REFUSED);
    set_module(&process, REFUSED, LAYOUT_MODULEDATA_NEXT, 0, USED);
    for (size_t i = 0; i < 2; i++) {
        set_module(&process, modules[i], LAYOUT_MODULEDATA_DATA, 0, DATA);
        set_module(&process, modules[i], LAYOUT_MODULEDATA_EDATA, 0, DATA + 64);
    }
    set_module(&process, USED, LAYOUT_MODULEDATA_GCDATAMASK, 0, 8);
    set_module(&process, USED, LAYOUT_MODULEDATA_GCDATAMASK, 8, BITS);
    set_module(&process, USED, LAYOUT_MODULEDATA_GCBSSMASK, 8, BITS);
    assert_true(runtime_next_module(&process.runtime, &module, &segments));
    assert_int_equal(module, REFUSED);
    assert_true(segments.is_refused);
    assert_int_equal(segments.edata - segments.data, 0);
    assert_true(runtime_next_module(&process.runtime, &module, &segments));
    assert_int_equal(module, USED);
    assert_false(segments.is_refused);
    assert_int_equal(segments.edata - segments.data, 64);
    assert_int_equal(segments.data_mask.count, 8);
    assert_false(runtime_next_module(&process.runtime, &module, &segments));
    assert_int_equal(process.runtime.missing, 0);
    set_module(&process, USED, LAYOUT_MODULEDATA_GCDATAMASK, 0, 7);
    module = REFUSED;
    assert_false(runtime_next_module(&process.runtime, &module, &segments));
    assert_int_equal(process.runtime.missing, 1);
    memory_deinit(&process.memory);
}

/* ---- the window of a watch without an end ---- */

enum { AGED_SLOTS = 64, SPAN_CLASS = 5, COLLECTIONS = 900, STEP_MS = 10 };

/* Returns the marks of a collection: slot i has an object in all but every (i + 3)th one, so that
 * objects of many ages end all the time. */
static uint64_t marks_after(uint64_t collection)
{
    uint64_t marks = 0;
    for (unsigned slot = 0; slot < AGED_SLOTS; slot++)
        if (collection % (slot * 7 + 3) != 0)
            marks |= UINT64_C(1) << slot;
    return marks;
}

/* Some collections have no look: those after them were too quick. */
static bool is_missed(uint64_t collection)
{
    return collection % 11 == 5;
}

/* Adds the look after a collection, at a time that is not the clock's. */
static void add_look(struct g2h_ages *ages, uint64_t collection)
{
    static const struct ages_shape shape = {0xc000000000, 64, AGED_SLOTS, SPAN_CLASS};
    const uint64_t marks = marks_after(collection);
    assert_true(ages_look_begin(ages, collection, (int64_t)collection * STEP_MS));
    struct aged_span *span = ages_span(ages, 0);
    assert_non_null(span);
    assert_true(ages_put_marks(ages, span, &shape, 1, &marks));
}

static const uint8_t *slots_of(const struct g2h_ages *ages)
{
    return (const uint8_t *)(ages->spans.data[0].marks + 1);
}

/* A watch with a window knows what one knows that began when the window did, however often it has
 * moved on; and one with more collections than there are numbers, at least since which of these. */
TEST(window_moves_on)
{
    static const unsigned lengths[] = {40, 100, 300}; /* collections */
    for (unsigned i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
        const uint64_t length = lengths[i];
        struct g2h_ages *moving = calloc(1, sizeof(*moving)), *fresh = calloc(1, sizeof(*fresh));
        assert_true(moving && fresh);
        moving->window.length = length * STEP_MS;
        for (uint64_t collection = 1; collection <= COLLECTIONS; collection++) {
            if (is_missed(collection))
                continue;
            add_look(moving, collection);
            const uint64_t since = (uint64_t)moving->begin / STEP_MS;
            assert_in_range(collection - since, 0, 2 * length + 4);
            assert_true(collection <= length || collection - since >= length);
        }
        for (uint64_t at = (uint64_t)moving->begin / STEP_MS; at <= COLLECTIONS; at++)
            if (!is_missed(at))
                add_look(fresh, at);
        assert_true(moving->begin > STEP_MS);
        assert_int_equal(moving->begin, fresh->begin);
        assert_int_equal(moving->seen, fresh->seen);
        assert_int_equal(moving->missed, fresh->missed);
        if (fresh->seen < AGES_MOST) {
            assert_int_equal(moving->look_count, fresh->look_count);
            assert_memory_equal(&moving->looks[2], &fresh->looks[2],
                                (fresh->look_count - 1) * sizeof(*fresh->looks));
            assert_memory_equal(slots_of(moving), slots_of(fresh), AGED_SLOTS);
        }
        for (unsigned slot = 0; slot < AGED_SLOTS; slot++) {
            const uint8_t age = slots_of(moving)[slot], right = slots_of(fresh)[slot];
            assert_int_equal(age == 0, right == 0);
            assert_int_equal(age == 1, right == 1);
            if (age > 1)
                assert_in_range(fresh->looks[right].last, moving->looks[age].first,
                                fresh->looks[right].last + moving->looks[age].last);
        }
        uint64_t ended[2] = {0}, first[2] = {0};
        for (unsigned look = 4; look <= AGES_MOST; look++) {
            ended[0] += moving->ended[SPAN_CLASS][look];
            ended[1] += fresh->ended[SPAN_CLASS][look];
            first[0] += moving->ended_first[SPAN_CLASS][look];
            first[1] += fresh->ended_first[SPAN_CLASS][look];
        }
        if (fresh->seen < AGES_MOST) {
            assert_true(ended[1] > first[1] && first[1] > 10);
            assert_int_equal(ended[0], ended[1]);
            assert_int_equal(first[0], first[1]);
        }
        for (unsigned look = fresh->look_count + 1; look <= AGES_MOST; look++) {
            assert_int_equal(fresh->ended[SPAN_CLASS][look], 0); /* joined with earlier ones */
            assert_int_equal(fresh->ended_first[SPAN_CLASS][look], 0);
        }
        g2h_ages_destroy(moving);
        g2h_ages_destroy(fresh);
    }
}

UNIT_MAIN(NULL, NULL)
