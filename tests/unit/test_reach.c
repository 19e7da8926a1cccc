/* Covers graph/reach and the roots it starts from: heads of garbage, tentative edges, finalizers,
 * stack objects. */
#include "snapshot.h"

#include "graph/graph.h"
#include "graph/mark.h"

#define BASE  0xc000000000
#define AT(i) (BASE + (uint64_t)(i)*64)
#define STACK 0xc010000000

/* ---- a graph of objects, and a matrix of which object reaches which ---- */

enum { MOST = 48 };

static bool matrix[MOST][MOST];

/* Writes objects of up to eight pointers each by the matrix; bss points to the roots. */
static void put_matrix(struct dump *dump, unsigned count, const bool *roots)
{
    uint64_t held[MOST];
    size_t held_count = 0;
    dump_start_modern(dump, "go1.19.8");
    for (unsigned i = 0; i < count; i++) {
        uint64_t words[8];
        size_t words_count = 0;
        for (unsigned j = 0; j < count; j++)
            if (matrix[i][j] && words_count < 8)
                words[words_count++] = AT(j);
        dump_object(dump, AT(i), 64, words_count, words);
        if (roots[i])
            held[held_count++] = AT(i);
    }
    dump_bss(dump, 0x560000, held_count, held);
    dump_eof(dump);
}

/* Marks the nodes of the snapshot that strong edges lead to from node. */
static void mark(const struct snapshot *snapshot, uint32_t node, bool *marks)
{
    uint32_t *stack = malloc(snapshot->node_count * sizeof(*stack));
    size_t depth = 0;
    assert_non_null(stack);
    marks[node] = true;
    stack[depth++] = node;
    while (depth > 0) {
        const struct snapshot_node *from = &snapshot->nodes[stack[--depth]];
        for (uint32_t i = from->first_edge; i < from->first_edge + from->edge_count; i++) {
            uint32_t target = snapshot->edges[i].target;
            if (snapshot->edges[i].type != S_WEAK && !marks[target]) {
                marks[target] = true;
                stack[depth++] = target;
            }
        }
    }
    free(stack);
}

/* Expects strong edges to lead from the root to each node. */
static void expect_all_rooted(const struct snapshot *snapshot)
{
    bool *marks = calloc(snapshot->node_count, 1);
    assert_non_null(marks);
    mark(snapshot, 0, marks);
    for (uint32_t i = 0; i < snapshot->node_count; i++)
        if (!marks[i])
            fail_msg("node %u, %s, has no way from the root", i, snapshot_name(snapshot, i));
    free(marks);
}

static bool is_head(const struct snapshot *snapshot, const struct dump *dump, uint64_t address)
{
    if (!snapshot_has(snapshot, "(unreachable)"))
        return false;
    return snapshot_edge(snapshot, snapshot_find(snapshot, "(unreachable)"),
                         snapshot_object(snapshot, dump, address)) != NULL;
}

static uint32_t count_heads(const struct snapshot *snapshot)
{
    if (!snapshot_has(snapshot, "(unreachable)"))
        return 0;
    return snapshot->nodes[snapshot_find(snapshot, "(unreachable)")].edge_count;
}

/*
 * Heads must be garbage, reach all garbage, and be as few as can be: one for each strongly
 * connected component of garbage that no other garbage points into.
 */
static void check(unsigned count, const bool *roots)
{
    static bool reach[MOST][MOST];
    bool live[MOST] = {false};
    DUMP dump;
    SNAPSHOT snapshot;
    uint64_t garbage = 0;
    uint32_t expected_heads = 0;
    for (unsigned i = 0; i < count; i++)
        for (unsigned j = 0; j < count; j++)
            reach[i][j] = matrix[i][j] || i == j;
    for (unsigned k = 0; k < count; k++)
        for (unsigned i = 0; i < count; i++)
            for (unsigned j = 0; j < count; j++)
                reach[i][j] = reach[i][j] || (reach[i][k] && reach[k][j]);
    for (unsigned i = 0; i < count; i++)
        for (unsigned j = 0; j < count; j++)
            live[j] = live[j] || (roots[i] && reach[i][j]);
    for (unsigned i = 0; i < count; i++) {
        bool is_first = true; /* the first of a component that is a head */
        garbage += !live[i];
        for (unsigned j = 0; j < count && !live[i]; j++)
            is_first = is_first && (live[j] || !reach[j][i] || (reach[i][j] && j >= i));
        expected_heads += !live[i] && is_first;
    }

    put_matrix(&dump, count, roots);
    snapshot_of(&snapshot, &dump, 1);
    expect_all_rooted(&snapshot);
    assert_int_equal(g2h_graph_account(dump.graph)->unreachable_objects, garbage);
    assert_int_equal(g2h_graph_account(dump.graph)->unreachable_bytes, garbage * 64);
    for (unsigned i = 0; i < count; i++)
        assert_false(live[i] && is_head(&snapshot, &dump, AT(i)));
    assert_int_equal(count_heads(&snapshot), expected_heads);
}

static void clear(void)
{
    memset(matrix, 0, sizeof(matrix));
}

/* ---- garbage ---- */

TEST(no_garbage)
{
    const bool roots[MOST] = {true};
    clear();
    matrix[0][1] = matrix[1][2] = matrix[2][0] = true;
    check(3, roots);
}

/* Among them are chains and cycles of each direction, with tails, and into each other. */
TEST(random_graphs)
{
    uint64_t random = 4711;
    for (int round = 0; round < 400; round++) {
        bool roots[MOST] = {false};
        unsigned count = (unsigned)(unit_random(&random) % (MOST - 1)) + 1;
        clear();
        for (unsigned i = 0; i < count; i++) {
            unsigned edges = (unsigned)(unit_random(&random) % (1 + (unsigned)round % 3));
            roots[i] = unit_random(&random) % 16 == 0;
            for (unsigned j = 0; j <= edges && round % 4 != 3; j++)
                if (unit_random(&random) % 4 != 0)
                    matrix[i][unit_random(&random) % count] = true;
        }
        check(count, roots);
    }
}

/* Garbage must not take a live object away from the retained size of the object that holds it, so
 * the edges from garbage to live objects are weak. */
TEST(garbage_does_not_hold_what_is_live)
{
    DUMP dump;
    SNAPSHOT snapshot;
    dump_start_modern(&dump, "go1.19.8");
    dump_object(&dump, AT(0), 64, WORDS(AT(1)));
    dump_object(&dump, AT(1), 64, NO_WORDS);
    dump_object(&dump, AT(2), 64, WORDS(AT(1), AT(3)));
    dump_object(&dump, AT(3), 64, WORDS(AT(0)));
    dump_bss(&dump, 0x560000, WORDS(AT(0)));
    dump_eof(&dump);
    snapshot_of(&snapshot, &dump, 1);
    const struct {
        int from, to;
        uint32_t type;
    } edges[] = {{0, 1, S_PROPERTY}, {2, 1, S_WEAK}, {2, 3, S_PROPERTY}, {3, 0, S_WEAK}};
    for (int i = 0; i < 4; i++) {
        const struct snapshot_edge *edge =
            snapshot_edge(&snapshot, snapshot_object(&snapshot, &dump, AT(edges[i].from)),
                          snapshot_object(&snapshot, &dump, AT(edges[i].to)));
        assert_non_null(edge);
        assert_int_equal(edge->type, edges[i].type);
    }
}

/* A long chain of objects must not need a stack frame for each of them. */
TEST(long_chain)
{
    enum { COUNT = 300000 };
    DUMP dump;
    dump_start_modern(&dump, "go1.19.8");
    for (uint64_t i = 0; i < COUNT; i++)
        dump_object(&dump, AT(i), 64, WORDS(i + 1 < COUNT ? AT(i + 1) : AT(0)));
    dump_eof(&dump);
    dump_graph(&dump, 2);
    assert_int_equal(g2h_graph_account(dump.graph)->unreachable_objects, COUNT);
    assert_int_equal(g2h_graph_account(dump.graph)->pointers_hit, COUNT);
}

/*
 * Each kind of object is too much for one thread: objects that the roots hold, chains of garbage, a
 * ring with a tail that leads in, small rings that lead into each other.
 */
static void put_much_garbage(struct dump *dump, uint64_t each)
{
    dump_start_modern(dump, "go1.19.8");
    for (uint64_t i = 0; i < each; i++)
        dump_object(dump, AT(i), 64, WORDS(AT(2 * i + 1), AT(2 * i + 2)));
    for (uint64_t i = 2 * each + 2; i < 3 * each; i++)
        dump_object(dump, AT(i), 64, WORDS(i % 5 != 0 ? AT(i + 1) : 0, AT(i - 2 * each)));
    for (uint64_t i = 3 * each; i < 4 * each; i++)
        dump_object(dump, AT(i), 64, WORDS(i + 1 < 4 * each ? AT(i + 1) : AT(3 * each + 7)));
    for (uint64_t i = 4 * each; i < 5 * each; i++)
        dump_object(dump, AT(i), 64,
                    WORDS(i % 4 != 3 ? AT(i + 1) : AT(i - 3), i % 3 == 0 ? AT(i + 50) : 0));
    dump_bss(dump, 0x560000, WORDS(AT(0)));
    dump_eof(dump);
}

TEST(garbage_for_any_threads)
{
    enum { EACH = 2 * MARK_ALONE };
    const unsigned thread_counts[] = {2, 3, 8, 2, 3, 8};
    DUMP dump;
    size_t size, other_size;
    put_much_garbage(&dump, EACH);
    char *text = dump_snapshot(&dump, 1, false, &size);
    assert_int_equal(g2h_graph_account(dump.graph)->unreachable_objects, 3 * EACH - 2);
    for (size_t i = 0; i < sizeof(thread_counts) / sizeof(thread_counts[0]); i++) {
        char *other = dump_snapshot(&dump, thread_counts[i], false, &other_size);
        assert_int_equal(other_size, size);
        assert_memory_equal(other, text, size);
        free(other);
    }
    free(text);
}

/* ---- tentative edges ---- */

/* Returns the edge to an object from the node with the name; fails if there is no such edge. */
static const struct snapshot_edge *edge_from(const struct snapshot *snapshot,
                                             const struct dump *dump, const char *name,
                                             uint64_t address)
{
    const struct snapshot_edge *edge = snapshot_edge(snapshot, snapshot_find(snapshot, name),
                                                     snapshot_object(snapshot, dump, address));
    if (!edge)
        fail_msg("no edge from %s", name);
    return edge;
}

/*
 * Object 0 is held by its finalizer alone, 1 by 0 alone, 2 by its finalizer and bss; 3 is a
 * finalizer's closure. A registered finalizer does not keep its object alive, but the object must
 * hang somewhere, and the objects that it holds are no garbage.
 */
TEST(finalizers)
{
    DUMP dump;
    SNAPSHOT snapshot;
    dump_start_modern(&dump, "go1.19.8");
    dump_object(&dump, AT(0), 64, WORDS(AT(1)));
    dump_object(&dump, AT(1), 64, NO_WORDS);
    dump_object(&dump, AT(2), 48, NO_WORDS);
    dump_object(&dump, AT(3), 32, NO_WORDS);
    dump_object(&dump, AT(4), 16, NO_WORDS);
    dump_finalizer(&dump, G2H_RECORD_FINALIZER, AT(0), AT(3));
    dump_finalizer(&dump, G2H_RECORD_FINALIZER, AT(2), 0);
    dump_finalizer(&dump, G2H_RECORD_QUEUEDFINALIZER, AT(4), 0);
    dump_finalizer(&dump, G2H_RECORD_FINALIZER, 0x560000, 0x470000); /* both in the executable */
    dump_bss(&dump, 0x560000, WORDS(AT(2), AT(4)));
    dump_eof(&dump);
    snapshot_of(&snapshot, &dump, 1);
    expect_all_rooted(&snapshot);
    assert_int_equal(g2h_graph_account(dump.graph)->unreachable_objects, 0);
    assert_false(snapshot_has(&snapshot, "(unreachable)"));
    const struct snapshot_edge *edge = edge_from(&snapshot, &dump, "finalizer of ptr64", AT(0));
    assert_int_equal(edge->type, S_INTERNAL);
    assert_string_equal(snapshot_edge_name(&snapshot, edge), "object");
    edge = edge_from(&snapshot, &dump, "finalizer of ptr64", AT(3));
    assert_int_equal(edge->type, S_INTERNAL);
    assert_string_equal(snapshot_edge_name(&snapshot, edge), "fn");
    assert_int_equal(edge_from(&snapshot, &dump, "finalizer of noptr48", AT(2))->type, S_WEAK);
    /* a queued finalizer is a root of its own */
    assert_int_equal(edge_from(&snapshot, &dump, "finalizer of noptr16", AT(4))->type, S_INTERNAL);
}

/* An object with a finalizer is held by another object with a finalizer: both finalizers' edges
 * stay strong, in either order of the finalizers. */
TEST(finalizers_in_a_row)
{
    for (int order = 0; order < 2; order++) {
        DUMP dump;
        SNAPSHOT snapshot;
        dump_start_modern(&dump, "go1.19.8");
        dump_object(&dump, AT(0), 64, WORDS(AT(1)));
        dump_object(&dump, AT(1), 48, WORDS(AT(2)));
        dump_object(&dump, AT(2), 32, NO_WORDS);
        dump_finalizer(&dump, G2H_RECORD_FINALIZER, AT(order), 0);
        dump_finalizer(&dump, G2H_RECORD_FINALIZER, AT(1 - order), 0);
        dump_eof(&dump);
        snapshot_of(&snapshot, &dump, 1);
        expect_all_rooted(&snapshot);
        assert_int_equal(edge_from(&snapshot, &dump, "finalizer of ptr64", AT(0))->type,
                         S_INTERNAL);
        assert_int_equal(edge_from(&snapshot, &dump, "finalizer of ptr48", AT(1))->type,
                         S_INTERNAL);
    }
}

/*
 * Writes a frame of three words, of which the first is listed. The second word is of a stack
 * object: it counts if something points into the frame. By FORMATS.md §3.5 this holds in dumps of
 * Go 1.12 and later, which have the layout of 1.7.
 */
static void put_stack_object(struct dump *dump, enum dump_format format,
                             uint64_t pointer_into_frame, bool held)
{
    dump_start(dump, format, 8, false);
    dump_object(dump, AT(0), 64, NO_WORDS);
    dump_object(dump, AT(1), 64, WORDS(AT(2)));
    dump_object(dump, AT(2), 48, NO_WORDS);
    dump_object(dump, AT(3), 32, WORDS(pointer_into_frame));
    dump_goroutine(dump, 1, 0, STACK);
    dump_frame(dump, "main.f", STACK, 0, WORDS(AT(0), AT(1) + 8, 0x1234), 1);
    dump_frame(dump, "main.g", STACK + 24, 1, WORDS(AT(3)), 1);
    dump_bss(dump, 0x560000, held ? 1 : 0, (const uint64_t[]){AT(1)});
    dump_eof(dump);
}

TEST(stack_objects)
{
    struct dump dump;
    struct snapshot snapshot;
    put_stack_object(&dump, DUMP_1_7, STACK + 8, false);
    snapshot_of(&snapshot, &dump, 1);
    const struct snapshot_edge *edge = edge_from(&snapshot, &dump, "main.f", AT(1));
    assert_int_equal(edge->type, S_INTERNAL);
    assert_string_equal(snapshot_edge_name(&snapshot, edge), "f8?");
    assert_int_equal(edge_from(&snapshot, &dump, "main.f", AT(0))->type, S_PROPERTY);
    assert_int_equal(g2h_graph_account(dump.graph)->unreachable_objects, 0);
    assert_int_equal(g2h_graph_account(dump.graph)->conservative, 1);
    snapshot_deinit(&snapshot);
    dump_deinit(&dump);

    put_stack_object(&dump, DUMP_1_7, STACK + 8, true); /* bss holds it anyway */
    snapshot_of(&snapshot, &dump, 1);
    assert_int_equal(edge_from(&snapshot, &dump, "main.f", AT(1))->type, S_WEAK);
    snapshot_deinit(&snapshot);
    dump_deinit(&dump);

    const uint64_t elsewhere[] = {0, STACK - 8, STACK + 32, STACK + 24};
    for (int i = 0; i < 4; i++) { /* nothing points into the frame, so the word is dead */
        put_stack_object(&dump, DUMP_1_7, elsewhere[i], false);
        snapshot_of(&snapshot, &dump, 1);
        assert_int_equal(g2h_graph_account(dump.graph)->unreachable_objects, 2);
        assert_int_equal(g2h_graph_account(dump.graph)->conservative, 0);
        expect_all_rooted(&snapshot);
        snapshot_deinit(&snapshot);
        dump_deinit(&dump);
    }
    put_stack_object(&dump, DUMP_1_6, STACK + 8, false); /* before 1.12 all live words are listed */
    snapshot_of(&snapshot, &dump, 1);
    assert_int_equal(g2h_graph_account(dump.graph)->unreachable_objects, 2);
    snapshot_deinit(&snapshot);
    dump_deinit(&dump);
}

/* A stack object points to another one, in a frame that nothing else points into. */
TEST(stack_objects_in_a_row)
{
    DUMP dump;
    dump_start_modern(&dump, "go1.26.1");
    dump_object(&dump, AT(0), 64, NO_WORDS);
    dump_goroutine(&dump, 1, 0, STACK);
    dump_frame(&dump, "main.f", STACK, 0, WORDS(STACK + 24), 1);
    dump_frame(&dump, "main.g", STACK + 8, 1, WORDS(0, AT(0)), 0);
    dump_frame(&dump, "main.h", STACK + 24, 2, WORDS(0, STACK + 8), 0);
    dump_eof(&dump);
    dump_graph(&dump, 1);
    assert_int_equal(g2h_graph_account(dump.graph)->unreachable_objects, 0);
}

/* ---- other roots ---- */

/* Each kind of record keeps its objects live: a goroutine's ctxt, defer, panic, otherroot, data,
 * and an interior pointer. */
TEST(every_root_holds)
{
    DUMP dump;
    SNAPSHOT snapshot;
    struct g2h_record record = {.kind = G2H_RECORD_GOROUTINE};
    const struct g2h_field field = {G2H_FIELD_POINTER, 0};
    uint8_t word[8];
    dump_start_modern(&dump, "go1.19.8");
    for (int i = 0; i < 8; i++)
        dump_object(&dump, AT(i), 64, NO_WORDS);
    record.goroutine = (struct g2h_goroutine){.goid = 1, .ctxt = AT(0)};
    dump_record(&dump, &record, NULL, 0);
    record = (struct g2h_record){.kind = G2H_RECORD_DEFER};
    record.defer = (struct g2h_defer){.funcval = AT(1)};
    dump_record(&dump, &record, NULL, 0);
    record = (struct g2h_record){.kind = G2H_RECORD_PANIC};
    record.panic = (struct g2h_panic){.data = AT(2)};
    dump_record(&dump, &record, NULL, 0);
    record = (struct g2h_record){.kind = G2H_RECORD_OTHERROOT};
    record.otherroot = (struct g2h_otherroot){{(const uint8_t *)"x", 1}, AT(3) + 63};
    dump_record(&dump, &record, NULL, 0);
    record = (struct g2h_record){.kind = G2H_RECORD_DATA};
    dump_store(&dump, word, AT(4) + 8);
    record.segment = (struct g2h_segment){0x550000, {word, 8}, {0}};
    dump_record(&dump, &record, &field, 1);
    dump_finalizer(&dump, G2H_RECORD_QUEUEDFINALIZER, AT(5), AT(6));
    dump_bss(&dump, 0x560000, WORDS(AT(8), AT(7)));
    dump_eof(&dump);
    snapshot_of(&snapshot, &dump, 1);
    assert_int_equal(g2h_graph_account(dump.graph)->unreachable_objects, 0);
    assert_int_equal(g2h_graph_account(dump.graph)->root_pointers_hit, 8);
    assert_int_equal(g2h_graph_account(dump.graph)->root_pointers_missed, 1);
    expect_all_rooted(&snapshot);
    assert_non_null(snapshot_edge(&snapshot, 0, snapshot_find(&snapshot, "(GC roots)")));
}

/* A program that has run for long has goroutines whose numbers do not fit into 32 bits. */
TEST(deferred_call_of_large_goroutine)
{
    const uint64_t goid = 5000000000, g = AT(0);
    DUMP dump;
    SNAPSHOT snapshot;
    struct g2h_record record = {.kind = G2H_RECORD_DEFER};
    dump_start_modern(&dump, "go1.19.8");
    dump_object(&dump, g, 64, NO_WORDS);
    dump_goroutine(&dump, goid, g, 0xc010000000);
    record.defer = (struct g2h_defer){.address = AT(1), .g = g, .funcval = AT(2), .code = 0x1234};
    dump_record(&dump, &record, NULL, 0);
    dump_eof(&dump);
    snapshot_of(&snapshot, &dump, 1);
    assert_true(snapshot_has(&snapshot, "defer pc 0x1234 in goroutine 5000000000"));
}

/* In the format of 2013, roots come one by one, and frames are found by their caller's sp. */
TEST(roots_of_2013)
{
    DUMP dump;
    SNAPSHOT snapshot;
    dump_start(&dump, DUMP_2013, 8, false);
    for (int i = 0; i < 4; i++)
        dump_typed_object(&dump, AT(i), 0, 0, 64, NO_WORDS);
    dump_goroutine(&dump, 1, 0x1000, STACK);
    dump_tag(&dump, G2H_RECORD_STACKFRAME);
    dump_uvarints(&dump, WORDS(STACK, STACK + 64, 0x401000, 0x401010));
    dump_string(&dump, "main.f");
    dump_tag(&dump, G2H_RECORD_STACKROOT);
    dump_uvarints(&dump, WORDS(STACK + 16, AT(0), STACK));
    dump_tag(&dump, G2H_RECORD_STACKROOT);
    dump_uvarints(&dump, WORDS(STACK + 4096, AT(1), STACK + 4000)); /* of no frame */
    dump_tag(&dump, G2H_RECORD_DATAROOT);
    dump_uvarints(&dump, WORDS(0x560000, AT(2)));
    dump_eof(&dump);
    snapshot_of(&snapshot, &dump, 1);
    assert_int_equal(g2h_graph_account(dump.graph)->unreachable_objects, 1);
    assert_string_equal(snapshot_edge_name(&snapshot, edge_from(&snapshot, &dump, "main.f", AT(0))),
                        "f16");
    assert_string_equal(snapshot_edge_name(&snapshot, edge_from(&snapshot, &dump, "data", AT(2))),
                        "0x560000");
    assert_true(is_head(&snapshot, &dump, AT(3)));
    expect_all_rooted(&snapshot);
}

UNIT_MAIN(NULL, NULL)
