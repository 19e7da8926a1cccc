/* Covers the whole conversion: the same bytes for any number of threads, an edge for every pointer
 * in its place, all layouts, damage, the header. */
#include "snapshot.h"

#include <zlib.h>

#include "graph/graph.h"

#define BASE  0xc000000000
#define STACK 0xc030000000

static const unsigned thread_counts[] = {1, 2, 3, 8};

/* ---- a random heap, and its expected snapshot ---- */

struct truth {
    uint64_t *words; /* 8 for each object; object i is at the heap's start + 64 * i */
    uint32_t count;
    uint64_t hits;
};

static void truth_deinit(struct truth *truth)
{
    free(truth->words);
}

/* Returns the object that a word hits, by arithmetic, or UINT32_MAX if it hits none. */
static uint32_t hit(const struct truth *truth, uint64_t base, uint64_t word)
{
    return word >= base && word - base < 64 * (uint64_t)truth->count
               ? (uint32_t)((word - base) / 64)
               : UINT32_MAX;
}

/* Writes a heap of count objects of 64 bytes; a quarter of their words misses all objects or is
 * nil. */
static void put_random_heap(struct dump *dump, struct truth *truth, uint32_t count, uint64_t seed)
{
    uint64_t random = seed | 1;
    const uint64_t base = dump->heap_start;
    const size_t words = 64 / dump->pointer_size < 8 ? 64 / dump->pointer_size : 8;
    *truth = (struct truth){.words = calloc((size_t)count * 8, sizeof(uint64_t)), .count = count};
    assert_non_null(truth->words);
    for (uint32_t i = 0; i < count; i++) {
        size_t used = (size_t)(unit_random(&random) % (words + 1));
        for (size_t j = 0; j < used; j++) {
            uint64_t pick = unit_random(&random) % 8;
            uint64_t word = pick == 0   ? 0
                            : pick == 1 ? 0x4000
                                        : base + unit_random(&random) % (64 * (uint64_t)count);
            truth->words[8 * i + j] = word;
            truth->hits += hit(truth, base, word) != UINT32_MAX;
        }
        if (dump->format < DUMP_1_4)
            dump_typed_object(dump, base + 64 * i, 0, 127, 64, used, &truth->words[8 * i]);
        else
            dump_object(dump, base + 64 * (uint64_t)i, 64, used, &truth->words[8 * i]);
    }
}

/* Writes roots of all kinds that the format has. */
static void put_roots(struct dump *dump, uint32_t count)
{
    const uint64_t base = dump->heap_start, stack = base + (48 << 20);
    for (uint64_t goid = 1; goid <= 20; goid++) {
        dump_goroutine(dump, goid, base + 64 * goid, stack + goid * 4096);
        for (uint64_t depth = 0; depth < 3 && dump->format != DUMP_2013; depth++)
            dump_frame(dump, depth == 2 ? "main.main" : "main.(*T).f",
                       stack + goid * 4096 + depth * 16, depth,
                       WORDS(base + goid * 640, depth ? stack + goid * 4096 : 7), 2);
    }
    dump_finalizer(dump, G2H_RECORD_FINALIZER, base + 64 * (count / 2), base + 64 * (count / 3));
    if (dump->format != DUMP_2013)
        dump_bss(dump, 0x560000, WORDS(base, 0, base + 64 * (count / 2) + 8));
    dump_eof(dump);
}

/* Expects each object to have an edge for each of its words that hits an object, in order, named by
 * its offset. */
static void expect_truth(const struct snapshot *snapshot, const struct dump *dump,
                         const struct truth *truth)
{
    const uint32_t first = (uint32_t)(snapshot->node_count - truth->count);
    for (uint32_t i = 0; i < truth->count; i++) {
        const struct snapshot_node *node = &snapshot->nodes[first + i];
        uint32_t edge = node->first_edge;
        assert_int_equal(node->size, 64);
        for (uint64_t j = 0; j < 8; j++) {
            uint32_t target = hit(truth, dump->heap_start, truth->words[8 * i + j]);
            char name[16];
            if (target == UINT32_MAX)
                continue;
            snprintf(name, sizeof(name), "f%u", (unsigned)(j * dump->pointer_size));
            assert_true(edge < node->first_edge + node->edge_count);
            assert_int_equal(snapshot->edges[edge].target, first + target);
            assert_string_equal(snapshot_edge_name(snapshot, &snapshot->edges[edge]), name);
            edge++;
        }
        assert_int_equal(edge, node->first_edge + node->edge_count);
    }
}

/* Expects that each node can be reached from the root by strong edges. */
static void expect_all_rooted(const struct snapshot *snapshot)
{
    uint32_t *stack = malloc(snapshot->node_count * sizeof(*stack));
    bool *marks = calloc(snapshot->node_count, 1);
    size_t depth = 0, reached = 0;
    assert_true(stack && marks);
    marks[0] = true;
    stack[depth++] = 0;
    while (depth > 0) {
        const struct snapshot_node *node = &snapshot->nodes[stack[--depth]];
        reached++;
        for (uint32_t i = node->first_edge; i < node->first_edge + node->edge_count; i++) {
            const struct snapshot_edge *edge = &snapshot->edges[i];
            if (edge->type != S_WEAK && !marks[edge->target]) {
                marks[edge->target] = true;
                stack[depth++] = edge->target;
            }
        }
    }
    assert_int_equal(reached, snapshot->node_count);
    free(stack);
    free(marks);
}

/* Expects only synthetic nodes below the root, because otherwise DevTools gives no object a
 * distance; DEVTOOLS.md §7. */
static void expect_synthetic_roots(const struct snapshot *snapshot)
{
    assert_int_equal(snapshot->nodes[0].type, 9);
    for (uint32_t i = 0; i < snapshot->nodes[0].edge_count; i++)
        assert_int_equal(snapshot->nodes[snapshot->edges[i].target].type, 9);
    for (size_t i = 0; i < snapshot->node_count; i++)
        assert_true(snapshot->nodes[i].type == 3 || snapshot->nodes[i].size == 0);
}

/* For expect_unique_strings(): of two equal strings DevTools would show only one group; DEVTOOLS.md
 * §3. */
static int compare_strings(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void expect_unique_strings(const struct snapshot *snapshot)
{
    char **sorted = malloc(snapshot->string_count * sizeof(*sorted));
    assert_non_null(sorted);
    memcpy(sorted, snapshot->strings, snapshot->string_count * sizeof(*sorted));
    qsort(sorted, snapshot->string_count, sizeof(*sorted), compare_strings);
    for (size_t i = 1; i < snapshot->string_count; i++)
        assert_string_not_equal(sorted[i - 1], sorted[i]);
    free(sorted);
}

TEST(every_layout)
{
    for (int format = 0; format < DUMP_FORMATS; format++)
        for (unsigned i = 0; i < 4; i++) {
            DUMP dump;
            struct truth truth;
            struct snapshot snapshot;
            dump_start(&dump, (enum dump_format)format, i & 1 ? 8 : 4, i & 2);
            put_random_heap(&dump, &truth, 3000, (uint64_t)format * 4 + i + 1);
            put_roots(&dump, truth.count);
            snapshot_of(&snapshot, &dump, 1 + i);
            assert_null(g2h_heap_damage(dump.heap));
            assert_int_equal(dump.heap->object_count, truth.count);
            assert_int_equal(g2h_graph_account(dump.graph)->pointers_hit, truth.hits);
            expect_truth(&snapshot, &dump, &truth);
            expect_all_rooted(&snapshot);
            expect_synthetic_roots(&snapshot);
            expect_unique_strings(&snapshot);
            assert_true(snapshot_has(&snapshot, "goroutine 17 [select] main.main") ||
                        format == DUMP_2013);
            snapshot_deinit(&snapshot);
            truth_deinit(&truth);
        }
}

/* A heap has more objects than three blocks, so that several threads have work in each phase. */
TEST(same_bytes_for_any_threads)
{
    DUMP dump;
    struct truth truth;
    struct snapshot snapshot;
    size_t size, other_size;
    dump_start_modern(&dump, "go1.19.8");
    put_random_heap(&dump, &truth, 3 * BLOCK_OBJECTS + 1234, 5);
    put_roots(&dump, truth.count);
    char *text = dump_snapshot(&dump, 1, false, &size);
    for (size_t i = 1; i < 4; i++) {
        char *other = dump_snapshot(&dump, thread_counts[i], false, &other_size);
        assert_int_equal(other_size, size);
        assert_memory_equal(other, text, size);
        free(other);
    }
    char *packed = dump_snapshot(&dump, 2, true, &other_size), *inflated = malloc(size + 1);
    z_stream stream = {.next_in = (Bytef *)packed, .avail_in = (uInt)other_size};
    assert_non_null(inflated);
    assert_int_equal(inflateInit2(&stream, 15 + 16), Z_OK);
    stream.next_out = (Bytef *)inflated;
    stream.avail_out = (uInt)size + 1;
    assert_int_equal(inflate(&stream, Z_FINISH), Z_STREAM_END);
    assert_int_equal(stream.total_out, size);
    assert_memory_equal(inflated, text, size);
    inflateEnd(&stream);
    free(packed);
    free(inflated);
    snapshot_parse(&snapshot, text);
    expect_truth(&snapshot, &dump, &truth);
    snapshot_deinit(&snapshot);
    truth_deinit(&truth);
}

/* Types and interfaces give names that different threads meet in different orders. */
TEST(same_names_for_any_threads)
{
    DUMP dump;
    uint64_t random = 3;
    size_t size, other_size;
    dump_start_modern(&dump, "go1.19.8");
    for (uint64_t i = 0; i < 500; i++) {
        char name[32];
        snprintf(name, sizeof(name), "main.T%u", (unsigned)i);
        dump_type(&dump, 0x4a0000 + i * 32, 16, name, true, NULL, 0);
        dump_itab(&dump, 0x4b0000 + i * 32, 0x4a0000 + i * 32);
    }
    for (uint64_t i = 0; i < 4 * BLOCK_OBJECTS; i++) { /* each block has types of its own */
        const uint64_t type = i / BLOCK_OBJECTS * 125 + unit_random(&random) % 125;
        dump_object(&dump, BASE + i * 64, 64,
                    WORDS(0x4b0000 + type * 32, BASE + unit_random(&random) % (1 << 20), 0,
                          0x4a0000 + type * 32, BASE + unit_random(&random) % (1 << 20)));
    }
    dump_eof(&dump);
    char *text = dump_snapshot(&dump, 1, false, &size);
    assert_non_null(strstr(text, "f8 (main.T499)"));
    for (size_t i = 1; i < 4; i++)
        for (unsigned round = 0; round < 3; round += unit_step()) {
            char *other = dump_snapshot(&dump, thread_counts[i], false, &other_size);
            assert_int_equal(other_size, size);
            assert_memory_equal(other, text, size);
            free(other);
        }
    free(text);
}

/* Dumps without anything, without objects, and without edges between objects: there are more
 * threads than work. */
TEST(small_dumps)
{
    for (int i = 0; i < 3; i++)
        for (int round = 0; round < 30; round++) {
            DUMP dump;
            SNAPSHOT snapshot;
            dump_start_modern(&dump, "go1.26.1");
            if (i > 0)
                dump_bss(&dump, 0x560000, WORDS(BASE));
            for (uint64_t j = 0; i > 1 && j < 5; j++)
                dump_object(&dump, BASE + j * 64, 64, NO_WORDS);
            dump_eof(&dump);
            snapshot_of(&snapshot, &dump, 8);
            expect_all_rooted(&snapshot);
        }
}

/* Cut anywhere, a dump gives an error or a snapshot that holds together. */
TEST(cut_dumps)
{
    const enum dump_format formats[] = {DUMP_2013, DUMP_1_3, DUMP_1_4, DUMP_1_7};
    for (int i = 0; i < 4; i++) {
        DUMP dump;
        struct truth truth;
        dump_start(&dump, formats[i], 8, false);
        size_t params_end = dump.size;
        put_random_heap(&dump, &truth, 30, 9);
        put_roots(&dump, truth.count);
        const size_t size = dump.size;
        for (dump.size = params_end; dump.size <= size; dump.size += 7 * unit_step()) {
            SNAPSHOT snapshot;
            snapshot_of(&snapshot, &dump, 2);
            assert_non_null(strstr(snapshot.text,
                                   dump.size == size ? "\"complete\":true" : "\"complete\":false"));
            expect_all_rooted(&snapshot);
            expect_unique_strings(&snapshot);
        }
        dump.size = size;
        truth_deinit(&truth);
    }
}

/* Random bytes are changed: the program does not crash or hang, and its snapshot can be parsed. */
TEST(damaged_dumps)
{
    uint64_t random = 123456789;
    for (int i = 0; i < 600 / (int)unit_step(); i++) {
        DUMP dump;
        struct truth truth;
        struct g2h_heap *heap;
        struct g2h_input *input;
        dump_start(&dump, (enum dump_format)(i % DUMP_FORMATS), i / DUMP_FORMATS % 2 ? 8 : 4,
                   false);
        if (dump.format < DUMP_1_4) {
            const struct g2h_field fields[] = {{G2H_FIELD_POINTER, 0}, {G2H_FIELD_EFACE, 8}};
            dump_type(&dump, 0x4a0000, 24, "main.T", true, fields, 2);
            for (uint64_t j = 0; j < 10; j++)
                dump_typed_object(&dump, dump.heap_start + 0x100000 + j * 128, 0x4a0000, j % 3, 128,
                                  WORDS(dump.heap_start, 0x4a0000, 3));
        }
        put_random_heap(&dump, &truth, 20, 9);
        put_roots(&dump, truth.count);
        for (uint64_t changes = unit_random(&random) % 3 + 1; changes > 0; changes--)
            dump.data[16 + unit_random(&random) % (dump.size - 16)] = (uint8_t)unit_random(&random);
        assert_no_error(g2h_input_from_memory("test.dump", dump.data, dump.size, &input));
        struct g2h_error *error = g2h_heap_load(input, NULL, &heap);
        if (error) {
            assert_true(error->code == G2H_ERROR_DAMAGED || error->code == G2H_ERROR_NOT_DUMP);
            g2h_error_destroy(error);
        } else {
            SNAPSHOT snapshot;
            g2h_heap_destroy(heap);
            snapshot_of(&snapshot, &dump, 1);
            expect_all_rooted(&snapshot);
            expect_unique_strings(&snapshot);
        }
        g2h_input_close(input);
        truth_deinit(&truth);
    }
}

/* Header: DevTools finds sections by text and needs exact counts; other tools need "key": without a
 * space. */
TEST(header)
{
    DUMP dump;
    size_t size;
    dump_start_modern(&dump, "go1.26.1-X:nogreenteagc\"}{[]");
    dump_object(&dump, BASE, 64, NO_WORDS);
    dump_eof(&dump);
    char *text = dump_snapshot(&dump, 1, false, &size);
    assert_int_equal(strncmp(text, "{\"snapshot\":{\"meta\":{", 21), 0);
    assert_non_null(strstr(text, "\"go_version\":\"go1.26.1-X:nogreenteagc?????\""));
    assert_non_null(strstr(text, "\"goarch\":\"amd64\""));
    assert_non_null(strstr(text, "\"id_base\":\"0xc000000000\",\"id_granule\":8"));
    static const char *const sections[] = {
        "\n\"nodes\":[",      "\n\"edges\":[",   "\n\"trace_function_infos\":[",
        "\n\"trace_tree\":[", "\n\"samples\":[", "\n\"locations\":[",
        "\n\"strings\":["};
    const char *at = text;
    for (size_t i = 0; i < 7; i++) {
        at = strstr(at, sections[i]);
        assert_non_null(at);
    }
    free(text);
}

UNIT_MAIN(NULL, NULL)
