/* Covers heap/index: boundaries, gaps, arenas far apart or nearly empty, objects over arenas,
 * compared with a bisection over all objects. */
#include "unit.h"

#include "heap/index.h"

#define ARENA ((uint64_t)1 << ARENA_SHIFT)

struct objects {
    struct heap_object *list;
    uint64_t *sizes;
    uint32_t count, capacity;
};

static void add(struct objects *objects, uint64_t address, uint64_t size)
{
    if (objects->count == objects->capacity) {
        objects->capacity = 2 * objects->capacity + 64;
        objects->list = realloc(objects->list, objects->capacity * sizeof(*objects->list));
        objects->sizes = realloc(objects->sizes, objects->capacity * sizeof(uint64_t));
        assert_true(objects->list && objects->sizes);
    }
    assert_true(objects->count == 0 || objects->list[objects->count - 1].address < address);
    objects->list[objects->count] = (struct heap_object){address, objects->count};
    objects->sizes[objects->count++] = size;
}

static void deinit(struct objects *objects)
{
    free(objects->list);
    free(objects->sizes);
    *objects = (struct objects){0};
}

static void init(struct object_index *index, const struct objects *objects, unsigned threads)
{
    assert_no_error(
        index_init(index, objects->list, objects->count, objects->sizes, objects->count, threads));
}

/* Finds an object by bisection over all objects, without pages and arenas. */
static uint32_t find_slowly(const struct objects *objects, uint64_t address)
{
    uint32_t from = 0, to = objects->count;
    while (from < to) {
        uint32_t middle = from + (to - from) / 2;
        if (objects->list[middle].address <= address)
            from = middle + 1;
        else
            to = middle;
    }
    return from > 0 && address - objects->list[from - 1].address < objects->sizes[from - 1]
               ? from - 1
               : UINT32_MAX;
}

/* Looks up all boundaries of all objects and of the arenas around them, and random addresses
 * between. Frees the objects. */
static void check(struct objects *objects, bool has_tables)
{
    struct object_index index;
    uint64_t random = 5;
    init(&index, objects, 2);
    assert_int_equal(index.tables != NULL, has_tables);
    for (uint32_t i = 0; i < objects->count; i++) {
        const uint64_t start = objects->list[i].address, end = start + objects->sizes[i];
        const uint64_t places[] = {start,
                                   start + 1,
                                   start - 1,
                                   end - 1,
                                   end,
                                   end + 511,
                                   start + objects->sizes[i] / 2,
                                   start / 128 * 128,
                                   start / ARENA * ARENA,
                                   start / ARENA * ARENA - 1,
                                   end / ARENA * ARENA + ARENA,
                                   end / ARENA * ARENA + ARENA - 1,
                                   start + unit_random(&random) % (4 * ARENA)};
        uint64_t inside[sizeof(places) / sizeof(places[0])];
        uint32_t found[sizeof(places) / sizeof(places[0])];
        size_t count = 0;
        for (size_t j = 0; j < sizeof(places) / sizeof(places[0]); j++) {
            if (index_find(&index, places[j]) != find_slowly(objects, places[j]))
                fail_msg("address 0x%llx", (unsigned long long)places[j]);
            if (places[j] - index.low < index.high - index.low)
                inside[count++] = places[j];
        }
        index_find_many(&index, inside, count, found);
        for (size_t j = 0; j < count; j++)
            assert_int_equal(found[j], find_slowly(objects, inside[j]));
    }
    const uint64_t ends[] = {
        0, 1, UINT64_MAX, index.low - 1, index.high, index.high + 1, (uint64_t)1 << 63};
    for (size_t j = 0; j < sizeof(ends) / sizeof(ends[0]); j++)
        assert_int_equal(index_find(&index, ends[j]), find_slowly(objects, ends[j]));
    index_deinit(&index);
    deinit(objects);
}

/* Adds count objects of up to largest bytes from start on; some are back to back, some have gaps
 * between them. */
static void add_random(struct objects *objects, uint64_t start, uint32_t count, uint64_t largest)
{
    uint64_t random = start | 1, address = start;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t size = (unit_random(&random) % (largest / 8) + 1) * 8;
        if (unit_random(&random) % 4 == 0)
            address += unit_random(&random) % 4096 / 8 * 8;
        add(objects, address, size);
        address += size;
    }
}

TEST(no_objects)
{
    struct object_index index;
    assert_no_error(index_init(&index, NULL, 0, NULL, 0, 2));
    assert_int_equal(index_find(&index, 0), UINT32_MAX);
    assert_int_equal(index_find(&index, UINT64_MAX), UINT32_MAX);
    assert_int_equal(index_find(&index, 0xc000000000), UINT32_MAX);
    index_deinit(&index);
}

TEST(one_object)
{
    struct objects objects = {0};
    add(&objects, 8, 8);
    check(&objects, true);
    add(&objects, 0xc000000000, 16);
    check(&objects, true);
    add(&objects, ARENA - 8, 16); /* across the boundary of two arenas */
    check(&objects, true);
}

TEST(one_arena)
{
    struct objects objects = {0};
    add_random(&objects, 0xc000000000, 20000, 64);
    check(&objects, true);
    add_random(&objects, 0xc000000000 + 8, 20000, 3000);
    check(&objects, true);
}

/* Pages as Go fills them: slots of one size, some of them free; slots that begin in the page
 * before; and pages that are not like this. */
TEST(slots_of_pages)
{
    static const uint32_t sizes[] = {8,    16,   24,   48,   112,   128, 1152, 1408,
                                     2048, 3072, 8192, 9472, 24576, 20,  8184};
    struct objects objects = {0};
    uint64_t random = 3, address = 0xc000000000;
    for (unsigned i = 0; i < 3000; i++) {
        const uint64_t size = sizes[unit_random(&random) % (sizeof(sizes) / sizeof(*sizes))];
        const uint64_t slots = (3 * 8192) / size, odd = unit_random(&random) % 8;
        const unsigned full = unit_random(&random) % 3;
        for (uint64_t slot = 0; slot < slots; slot++) {
            const bool is_other = odd == 0 && slot == slots / 2 && size >= 24;
            if (full != 0 && unit_random(&random) % (4 * full) != 0)
                continue;
            /* another size, or not at a slot's start */
            add(&objects, address + slot * size + (is_other && i % 2 ? 8 : 0),
                is_other ? size - 8 : size);
        }
        address += 3 * 8192 + unit_random(&random) % 2 * 8192;
    }
    check(&objects, true);
}

/* Objects at the first and the last address of each arena. */
TEST(arena_boundaries)
{
    struct objects objects = {0};
    for (uint64_t arena = 3000; arena < 3010; arena++) {
        add(&objects, arena * ARENA, 8);
        add(&objects, (arena + 1) * ARENA - 8, 8);
    }
    check(&objects, true);
}

TEST(arenas_far_apart)
{
    struct objects objects = {0};
    add_random(&objects, 0x18000000, 1000, 64);
    add_random(&objects, 0xc000000000, 1000, 64);
    add_random(&objects, 0x2998b8000000, 1000, 64);
    add_random(&objects, 0x7f0000000000, 1000, 64);
    add(&objects, ((uint64_t)1 << 56) - 64, 64);
    check(&objects, true);
}

/* Nearly empty arenas have no tables. */
TEST(nearly_empty_arenas)
{
    struct objects objects = {0};
    struct object_index index;
    for (uint64_t i = 0; i < 50000; i++)
        add(&objects, 0xc000000000 + i * ARENA + i % 1000 * 64, 64);
    init(&index, &objects, 3);
    for (size_t i = 0; i < index.arena_count; i++)
        assert_null(index.tables[i].pages); /* 128 KB for one object would be too much */
    index_deinit(&index);
    check(&objects, true);
}

TEST(objects_over_arenas)
{
    struct objects objects = {0};
    add(&objects, 0xc000000000, 5 * ARENA);
    add(&objects, 0xc000000000 + 5 * ARENA, 3 * ARENA + 4096);
    add(&objects, 0xc000000000 + 8 * ARENA + 4096, 8);
    add(&objects, 0xc000000000 + 20 * ARENA + 64, ARENA);
    add_random(&objects, 0xc000000000 + 40 * ARENA, 1000, 100000);
    check(&objects, true);
}

/* A heap beyond all limits, as only damage can make it: the index is slower, not wrong. */
TEST(too_many_arenas)
{
    struct objects objects = {0};
    for (uint64_t i = 0; i < 20; i++)
        add(&objects, ((uint64_t)1 << 44) * (i + 1), ((uint64_t)1 << 42) - 8);
    check(&objects, false);
}

UNIT_MAIN(NULL, NULL)
