/* Covers output/ids: the same address has the same id in two dumps; ids are unique and odd;
 * scattered heaps; ids of synthetic nodes. */
#include "snapshot.h"

#include "heap/heap.h"
#include "output/ids.h"

#define ARENA     ((uint64_t)1 << ID_ARENA_SHIFT)
#define PART_SIZE 0xfffffff8u /* the part of a huge object's size that its own node has */
#define BASE      0xc000000000

static int compare(const void *a, const void *b)
{
    uint32_t one = *(const uint32_t *)a, other = *(const uint32_t *)b;
    return one < other ? -1 : one > other;
}

static void expect_unique(uint32_t *ids, size_t count)
{
    qsort(ids, count, sizeof(*ids), compare);
    for (size_t i = 1; i < count; i++)
        if (ids[i] == ids[i - 1])
            fail_msg("two nodes have the id %u", ids[i]);
}

static uint32_t id_of(const struct ids *ids, uint32_t object)
{
    return ids_object(ids, object, heap_address(ids->heap, object));
}

/* Loads the dump's heap and makes its ids; expects all of them to be odd and unique. Their type
 * keeps them below 2^32. */
static void init(struct ids *ids, struct dump *dump)
{
    const struct g2h_heap *heap = dump_load(dump, 1);
    uint32_t *all = malloc((heap->object_count + 1) * sizeof(*all));
    assert_non_null(all);
    assert_no_error(ids_init(ids, heap, NULL));
    for (uint32_t i = 0; i < heap->object_count; i++) {
        all[i] = id_of(ids, i);
        assert_int_equal(all[i] % 2, 1);
    }
    expect_unique(all, heap->object_count);
    free(all);
}

/* Expects each object that is in both heaps to have the same id in both. */
static void expect_agreement(const struct ids *one, const struct ids *other)
{
    uint32_t both = 0;
    for (uint32_t i = 0; i < one->heap->object_count; i++) {
        uint32_t there = heap_find(other->heap, heap_address(one->heap, i));
        if (there == UINT32_MAX || heap_address(other->heap, there) != heap_address(one->heap, i))
            continue;
        assert_int_equal(id_of(one, i), id_of(other, there));
        both++;
    }
    assert_true(both > 0);
}

/* Expects the header's formula to give the id of each object that is not displaced. An arena that
 * is an exception has a base of its own. */
static void expect_formula(const struct ids *ids)
{
    for (uint32_t i = 0; i < ids->heap->object_count; i++) {
        uint64_t address = heap_address(ids->heap, i);
        for (size_t j = 0; j < ids->arena_count; j++) {
            const struct id_arena *arena = &ids->arenas[j];
            if (arena->arena != address >> ID_ARENA_SHIFT ||
                map_get(&ids->displaced, i) != MAP_NONE)
                continue;
            uint64_t base = ids_is_exception(ids, arena)
                                ? (arena->arena - arena->slot) << ID_ARENA_SHIFT
                                : ids->base;
            assert_int_equal(id_of(ids, i), 2 * ((address - base) / ID_GRANULE) + 1);
        }
    }
}

/* Writes 200 objects into an arena, except some that the seed leaves out. */
static void put_arena(struct dump *dump, uint64_t arena, uint64_t seed)
{
    uint64_t random = seed;
    for (uint64_t i = 0; i < 200; i++)
        if (unit_random(&random) % 4 != 0)
            dump_object(dump, arena * ARENA + i * 8192 + i * 16, 16, NO_WORDS);
}

TEST(ids_follow_the_formula)
{
    DUMP dump;
    struct ids ids;
    dump_start_modern(&dump, "go1.19.8");
    for (uint64_t arena = 0; arena < 256; arena += 15)
        put_arena(&dump, BASE / ARENA + arena, 1);
    dump_object(&dump, BASE + 256 * ARENA - 8, 8, NO_WORDS); /* the last position of 16 GiB */
    dump_eof(&dump);
    init(&ids, &dump);
    assert_int_equal(ids.base, BASE);
    for (size_t i = 0; i < ids.arena_count; i++)
        assert_false(ids_is_exception(&ids, &ids.arenas[i]));
    assert_int_equal(id_of(&ids, 0), 1 + 2 * ((heap_address(dump.heap, 0) - BASE) / 8));
    assert_int_equal(id_of(&ids, dump.heap->object_count - 1), UINT32_MAX);
    assert_int_equal(ids.displaced.count, 0);
    expect_formula(&ids);
    ids_deinit(&ids);
}

/* The second heap has more objects, and arenas above, between, and beyond 16 GiB; the heaps start
 * at several addresses. */
TEST(ids_stay_as_the_heap_grows)
{
    const uint64_t starts[] = {BASE / ARENA, 0x2998b8000000 / ARENA, 0x7f1234000000 / ARENA,
                               0x4000000000 / ARENA, 1};
    for (size_t i = 0; i < 5; i++) {
        DUMP one, other;
        struct ids one_ids, other_ids;
        dump_start_modern(&one, "go1.19.8");
        dump_start_modern(&other, "go1.19.8");
        one.heap_start = other.heap_start = starts[i] * ARENA;
        put_arena(&one, starts[i], 3);
        put_arena(&one, starts[i] + 2, 3);
        put_arena(&one, starts[i] + 100, 3);
        put_arena(&other, starts[i], 77);
        put_arena(&other, starts[i] + 1, 77);
        put_arena(&other, starts[i] + 2, 77);
        put_arena(&other, starts[i] + 100, 77);
        put_arena(&other, starts[i] + 101, 77);
        put_arena(&other, starts[i] + 700, 77);
        put_arena(&other, starts[i] + 256, 77); /* has the slot of the first arena */
        put_arena(&other, starts[i] + 4096, 77);
        dump_eof(&one);
        dump_eof(&other);
        init(&one_ids, &one);
        init(&other_ids, &other);
        expect_agreement(&one_ids, &other_ids);
        expect_formula(&one_ids);
        expect_formula(&other_ids);
        ids_deinit(&one_ids);
        ids_deinit(&other_ids);
    }
}

/* 40 GiB are in use: each slot has two or three arenas, whose objects meet at the same positions.
 */
TEST(large_heaps)
{
    DUMP one, other;
    struct ids one_ids, other_ids;
    dump_start_modern(&one, "go1.19.8");
    dump_start_modern(&other, "go1.19.8");
    for (uint64_t arena = 0; arena < 640; arena++) {
        put_arena(&one, BASE / ARENA + arena, arena + 1);
        put_arena(&other, BASE / ARENA + arena, arena + 1);
    }
    for (uint64_t arena = 640; arena < 700; arena++) /* new arenas, above the others */
        put_arena(&other, BASE / ARENA + arena, arena + 1);
    dump_eof(&one);
    dump_eof(&other);
    init(&one_ids, &one);
    init(&other_ids, &other);
    assert_true(one_ids.displaced.count > 1000);
    expect_formula(&one_ids);
    ids_deinit(&one_ids);
    /* nearly all ids agree, displaced or not: only a displaced object may have to give way to a new
     * one */
    assert_no_error(ids_init(&one_ids, one.heap, NULL));
    uint32_t differing = 0;
    for (uint32_t i = 0; i < one.heap->object_count; i++) {
        uint32_t there = heap_find(other.heap, heap_address(one.heap, i));
        differing += there == UINT32_MAX || id_of(&one_ids, i) != id_of(&other_ids, there);
    }
    assert_true(differing <= one.heap->object_count / 1000);
    ids_deinit(&one_ids);
    ids_deinit(&other_ids);
}

/* Three arenas with the same slot have objects at the same positions, so those of two arenas are
 * displaced. */
TEST(slots_that_are_full)
{
    DUMP dump;
    struct ids ids;
    dump_start_modern(&dump, "go1.19.8");
    for (uint64_t arena = 0; arena < 768; arena += 256)
        for (uint64_t i = 0; i < 20000; i++)
            dump_object(&dump, BASE + arena * ARENA + i * 8, 8, NO_WORDS);
    dump_eof(&dump);
    init(&ids, &dump);
    assert_int_equal(ids.displaced.count, 40000);
    ids_deinit(&ids);
}

/* Thousands of arenas have the same slot, and several of them have an object at each position: the
 * lowest arena's object has the position. */
TEST(slots_of_many_arenas)
{
    DUMP dump;
    struct ids ids;
    dump_start_modern(&dump, "go1.19.8");
    for (uint64_t i = 0; i < 3000; i++)
        dump_object(&dump, /* each 1024 arenas turn the slots by 157 more */
                    BASE + (i * 1024 + (256 - i * 157 % 256) % 256) * ARENA + i % 1000 * 16, 16,
                    NO_WORDS);
    dump_eof(&dump);
    init(&ids, &dump);
    assert_int_equal(ids.slot_begin[BASE / ARENA % 256 + 1] - ids.slot_begin[BASE / ARENA % 256],
                     3000);
    assert_int_equal(ids.displaced.count, 2000);
    for (uint32_t i = 0; i < 1000; i++)
        assert_int_equal(map_get(&ids.displaced, i), MAP_NONE);
    ids_deinit(&ids);
}

/* Nodes with the same key have ids of their own, the same ones each time if the order is the same,
 * and not those of neighbouring keys. */
TEST(ids_of_equal_keys)
{
    enum { EQUAL = 1000 };
    static uint32_t all[3 * EQUAL], again[3 * EQUAL];
    DUMP dump;
    struct ids ids;
    dump_start_modern(&dump, "go1.19.8");
    dump_object(&dump, BASE, 16, NO_WORDS);
    dump_eof(&dump);
    dump_load(&dump, 1);
    for (int round = 0; round < 2; round++) {
        uint32_t *to = round == 0 ? all : again;
        assert_no_error(ids_init(&ids, dump.heap, NULL));
        for (uint64_t i = 0; i < EQUAL; i++) {
            assert_true(ids_synthetic(&ids, G2H_NODE_GOROUTINE, 7, &to[3 * i]));
            assert_true(ids_synthetic(&ids, G2H_NODE_OS_THREAD, 7, &to[3 * i + 1]));
            assert_true(ids_folded(&ids, 7, &to[3 * i + 2]));
        }
        assert_int_equal(to[0], (1 << 30) + 14);
        uint32_t next;
        assert_true(ids_synthetic(&ids, G2H_NODE_GOROUTINE, 8, &next));
        assert_int_equal(next, (1 << 30) + 16);
        ids_deinit(&ids);
    }
    assert_memory_equal(all, again, sizeof(all));
    expect_unique(all, 3 * EQUAL);
}

/* In a 32-bit heap each address has its own id, wherever the heap starts: there are no exceptions
 * and no displaced objects. */
TEST(ids_of_32_bit_heaps)
{
    for (int low = 0; low < 2; low++) {
        DUMP dump;
        struct ids ids;
        dump_begin(&dump, DUMP_1_7, 4, true);
        dump.heap_start = low ? 0x400000 : 0x18000000;
        dump_params(&dump);
        for (uint64_t arena = low ? 0 : 6; arena < 64; arena++)
            for (uint64_t i = 1; i < 100; i++)
                dump_object(&dump, arena * ARENA + i * 16 + i * 4096, 16, NO_WORDS);
        dump_eof(&dump);
        init(&ids, &dump);
        assert_int_equal(ids.base, 0);
        for (uint32_t i = 0; i < dump.heap->object_count; i++)
            assert_int_equal(id_of(&ids, i), 2 * (heap_address(dump.heap, i) / 8) + 1);
        assert_int_equal(ids.displaced.count, 0);
        ids_deinit(&ids);
    }
}

/* ---- whole snapshots ---- */

static void expect_unique_in_snapshot(const struct snapshot *snapshot)
{
    uint32_t *all = malloc(snapshot->node_count * sizeof(*all));
    assert_non_null(all);
    for (size_t i = 0; i < snapshot->node_count; i++)
        all[i] = snapshot->nodes[i].id;
    expect_unique(all, snapshot->node_count);
    free(all);
}

/* Writes an object of 4 GiB or more, of which the file has only size modulo 2^32 bytes. */
static void put_huge(struct dump *dump, uint64_t address, uint64_t size)
{
    dump_tag(dump, G2H_RECORD_OBJECT);
    dump_uvarints(dump, WORDS(address, size));
    uint8_t *memory = calloc(1, (size_t)(size & UINT32_MAX) + 1);
    assert_non_null(memory);
    dump_bytes(dump, memory, (size_t)(size & UINT32_MAX));
    free(memory);
    dump_uvarint(dump, 0);
}

/* Expects the sizes of a huge object's node and of the node that continues it to add up to size. */
static void expect_parts(const struct snapshot *snapshot, const struct dump *dump, uint64_t address,
                         uint64_t size)
{
    const struct snapshot_node *node = &snapshot->nodes[snapshot_object(snapshot, dump, address)];
    for (uint32_t i = node->first_edge; i < node->first_edge + node->edge_count; i++) {
        const struct snapshot_node *part = &snapshot->nodes[snapshot->edges[i].target];
        assert_string_equal(snapshot->strings[part->name], "noptr4294975488 (continued)");
        assert_int_equal((uint64_t)node->size + part->size, size);
    }
    assert_int_equal(node->edge_count, 1);
}

/* The parts of an object have ids as well; 16 GiB above or below a part there may be an object or
 * another part. */
TEST(ids_of_parts)
{
    const uint64_t size = ((uint64_t)1 << 32) + 8192, span = 256 * ARENA;
    for (int i = 0; i < 3; i++) {
        DUMP dump;
        SNAPSHOT snapshot;
        dump_start_large(&dump, "go1.19.8", 3 * span);
        uint64_t huge = i == 1 ? BASE + span : BASE;
        if (i == 1)
            dump_object(&dump, huge + PART_SIZE - span, 16, NO_WORDS);
        put_huge(&dump, huge, size);
        if (i == 0)
            dump_object(&dump, huge + PART_SIZE + span, 16, NO_WORDS);
        if (i == 2)
            put_huge(&dump, huge + span, size);
        dump_eof(&dump);
        snapshot_of(&snapshot, &dump, 1);
        assert_int_equal(dump.heap->object_count, 2);
        expect_parts(&snapshot, &dump, huge, size);
        expect_unique_in_snapshot(&snapshot);
    }
}

/* ---- synthetic nodes ---- */

TEST(ids_of_synthetic_nodes)
{
    enum { COUNT = 3000 };
    static uint32_t all[9 * COUNT];
    DUMP dump;
    struct ids ids, again;
    size_t count = 0;
    dump_start_modern(&dump, "go1.19.8");
    dump_eof(&dump);
    init(&ids, &dump);
    assert_no_error(ids_init(&again, dump.heap, NULL));
    for (uint64_t key = 0; key < COUNT; key++)
        for (int kind = G2H_NODE_GOROUTINE; kind <= G2H_NODE_ALLOCATION_SITE; kind++) {
            uint32_t id, other;
            assert_true(ids_synthetic(&ids, (enum g2h_node_kind)kind, key * 4096, &id));
            assert_true(ids_synthetic(&again, (enum g2h_node_kind)kind, key * 4096, &other));
            assert_int_equal(id, other); /* both runs give the same id */
            assert_int_equal(id % 2, 0);
            assert_true(id >= 1024); /* the fixed ids are below 1024 */
            all[count++] = id;
        }
    expect_unique(all, count);
    ids_deinit(&ids);
    ids_deinit(&again);
}

/* A goroutine's id is 2^30 + 2 * goid; ids for a goid of 2^29 or above are hashed. */
TEST(ids_of_goroutines)
{
    const uint64_t keys[] = {0, 1, 2, 17, 1000000, ((uint64_t)1 << 29) - 1};
    DUMP dump;
    struct ids ids;
    uint32_t id, other;
    dump_start_modern(&dump, "go1.19.8");
    dump_eof(&dump);
    init(&ids, &dump);
    for (size_t i = 0; i < 6; i++) {
        assert_true(ids_synthetic(&ids, G2H_NODE_GOROUTINE, keys[i], &id));
        assert_int_equal(id, ((uint64_t)1 << 30) + 2 * keys[i]);
    }
    assert_true(ids_synthetic(&ids, G2H_NODE_GOROUTINE, (uint64_t)1 << 29, &id));
    assert_true(id >= (uint32_t)1 << 31);
    assert_true(ids_synthetic(&ids, G2H_NODE_GOROUTINE, UINT64_MAX, &other));
    assert_true(other >= (uint32_t)1 << 31 && other != id);
    ids_deinit(&ids);
}

/* An object may have two finalizers, and a damaged dump two goroutines with the same goid. */
TEST(the_same_key_twice)
{
    static uint32_t all[2000];
    DUMP dump;
    struct ids ids;
    dump_start_modern(&dump, "go1.19.8");
    dump_eof(&dump);
    init(&ids, &dump);
    for (size_t i = 0; i < 2000; i++) {
        assert_true(
            ids_synthetic(&ids, i % 2 ? G2H_NODE_FINALIZER : G2H_NODE_GOROUTINE, 5, &all[i]));
        assert_int_equal(all[i] % 2, 0);
    }
    expect_unique(all, 2000);
    ids_deinit(&ids);
}

TEST(all_ids_of_a_snapshot)
{
    DUMP dump;
    SNAPSHOT snapshot;
    dump_start_modern(&dump, "go1.19.8");
    put_arena(&dump, BASE / ARENA, 1);
    put_arena(&dump, BASE / ARENA + 256, 2);
    for (uint64_t goid = 1; goid < 50; goid++) {
        dump_goroutine(&dump, goid, 0xc000800000 + goid * 512, 0xc001000000 + goid * 4096);
        for (uint64_t depth = 0; depth < 4; depth++)
            dump_frame(&dump, "main.f", 0xc001000000 + goid * 4096 + depth * 16, depth,
                       WORDS(BASE, BASE + 8208), 2);
    }
    dump_finalizer(&dump, G2H_RECORD_FINALIZER, BASE, 0);
    dump_finalizer(&dump, G2H_RECORD_FINALIZER, BASE, 0);
    dump_eof(&dump);
    snapshot_of(&snapshot, &dump, 2);
    expect_unique_in_snapshot(&snapshot);
    for (size_t i = 0; i < snapshot.node_count; i++)
        assert_int_equal(snapshot.nodes[i].id % 2, snapshot.nodes[i].type == 3);
    uint32_t goroutine = snapshot_find(&snapshot, "goroutine 17 [select] main.f");
    assert_int_equal(snapshot.nodes[goroutine].id, (1u << 30) + 34);
}

UNIT_MAIN(NULL, NULL)
