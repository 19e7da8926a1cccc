/* Covers graph/tiers: to whom objects belong, in random heaps, compared with the definition of
 * docs/report.md; and which edges are weak or foreign for it. test_dominators compares what
 * follows from it. */
#include "snapshot.h"

#include "graph/graph.h"
#include "view/view.h"

#define BASE  0xc000000000
#define AT(i) (BASE + (uint64_t)(i)*64)
#define STACK 0xc010000000

enum { MOST = 40, WORDS_EACH = 4, MOST_ROOTS = 4 };

/* A heap without types. Its objects have numbers; MOST is none. */
struct heap {
    unsigned count, variables, goroutines, threads;
    unsigned words[MOST][WORDS_EACH];
    unsigned held[MOST_ROOTS];                  /* by the words of bss */
    unsigned g[MOST_ROOTS], locals[MOST_ROOTS]; /* by goroutine: its record, what its frame holds */
    unsigned doubtful[MOST_ROOTS];              /* a word of the frame that may be a pointer */
    unsigned m[MOST_ROOTS];                     /* by thread: its record */
    unsigned finalized, function;               /* an object with a finalizer, and its function */
    unsigned other;                             /* by (other roots) */
};

static uint64_t address_of(unsigned object)
{
    return object < MOST ? AT(object) : 0;
}

static void put(struct dump *dump, const struct heap *heap)
{
    uint64_t words[WORDS_EACH];
    dump_start_modern(dump, "go1.19.8");
    for (unsigned i = 0; i < heap->count; i++) {
        for (unsigned j = 0; j < WORDS_EACH; j++)
            words[j] = address_of(heap->words[i][j]);
        dump_object(dump, AT(i), 64, WORDS_EACH, words);
    }
    for (unsigned i = 0; i < heap->threads; i++) {
        const struct g2h_record thread = {.kind = G2H_RECORD_OSTHREAD,
                                          .osthread = {address_of(heap->m[i]), i, i}};
        dump_record(dump, &thread, NULL, 0);
    }
    for (unsigned i = 0; i < heap->goroutines; i++) {
        const uint64_t sp =
            STACK + i * 4096; /* the frame points to itself, so that it is searched */
        dump_goroutine(dump, i + 1, address_of(heap->g[i]), sp);
        dump_frame(dump, "main.f", sp, 0,
                   WORDS(address_of(heap->locals[i]), sp, address_of(heap->doubtful[i])), 2);
    }
    dump_finalizer(dump, G2H_RECORD_FINALIZER, address_of(heap->finalized),
                   address_of(heap->function));
    const struct g2h_record other = {
        .kind = G2H_RECORD_OTHERROOT,
        .otherroot = {{(const uint8_t *)"r13", 3}, address_of(heap->other)}};
    dump_record(dump, &other, NULL, 0);
    for (unsigned i = 0; i < heap->variables; i++)
        words[i] = address_of(heap->held[i]);
    dump_bss(dump, 0x560000, heap->variables, words);
    dump_eof(dump);
}

/* ---- by the definition ---- */

/* Gives a tier to the objects that have none and that an object reaches without those of passed. */
static void walk(const struct heap *heap, unsigned from, enum tier tier, const bool *passed,
                 enum tier *tiers)
{
    if (from >= MOST || tiers[from] != TIER_GARBAGE || (passed && passed[from]))
        return;
    tiers[from] = tier;
    for (unsigned j = 0; j < WORDS_EACH; j++)
        walk(heap, heap->words[from][j], tier, passed, tiers);
}

struct truth {
    enum tier tiers[MOST];
    bool has_doubtful[MOST_ROOTS], has_m[MOST_ROOTS], has_finalized; /* what nothing else holds */
};

static void walk_all(const struct heap *heap, const bool *records, const bool *of_threads,
                     struct truth *truth)
{
    memset(truth->tiers, 0, sizeof(truth->tiers));
    for (unsigned i = 0; i < heap->variables; i++)
        walk(heap, heap->held[i], TIER_PROGRAM, records, truth->tiers);
    for (unsigned i = 0; i < heap->goroutines; i++) {
        walk(heap, heap->locals[i], TIER_GOROUTINES, of_threads, truth->tiers);
        walk(heap, heap->g[i], TIER_GOROUTINES, of_threads, truth->tiers);
        if (truth->has_doubtful[i])
            walk(heap, heap->doubtful[i], TIER_GOROUTINES, of_threads, truth->tiers);
    }
    for (unsigned i = 0; i < heap->threads; i++)
        if (truth->has_m[i])
            walk(heap, heap->m[i], TIER_REST, NULL, truth->tiers);
    if (truth->has_finalized)
        walk(heap, heap->finalized, TIER_REST, NULL, truth->tiers);
    walk(heap, heap->function, TIER_REST, NULL, truth->tiers);
    walk(heap, heap->other, TIER_OTHERS, NULL, truth->tiers);
}

static bool is_free(const struct truth *truth, unsigned object)
{
    return object < MOST && truth->tiers[object] == TIER_GARBAGE;
}

/* Returns whether an object that is no garbage has no tier: what passes it by leads there. */
static bool is_passed(const struct heap *heap, const struct truth *truth)
{
    for (unsigned i = 0; i < heap->count; i++)
        for (unsigned j = 0; j < WORDS_EACH; j++)
            if (truth->tiers[i] != TIER_GARBAGE && is_free(truth, heap->words[i][j]))
                return true;
    for (unsigned i = 0; i < heap->goroutines; i++)
        if (is_free(truth, heap->locals[i]))
            return true;
    for (unsigned i = 0; i < heap->variables; i++)
        if (is_free(truth, heap->held[i]))
            return true;
    return false;
}

/* Returns whether the definition says what to do: no record is held only by what passes it by. */
static bool find_truth(const struct heap *heap, struct truth *truth)
{
    bool records[MOST] = {false}, of_threads[MOST] = {false};
    for (unsigned i = 0; i < heap->threads; i++)
        records[heap->m[i]] = of_threads[heap->m[i]] = true;
    for (unsigned i = 0; i < heap->goroutines; i++)
        if (heap->g[i] < MOST)
            records[heap->g[i]] = true;
    memset(truth, 0, sizeof(*truth));
    walk_all(heap, records, of_threads, truth);
    const struct truth before = *truth;
    for (unsigned i = 0; i < heap->goroutines; i++)
        truth->has_doubtful[i] = is_free(&before, heap->doubtful[i]);
    for (unsigned i = 0; i < heap->threads; i++)
        truth->has_m[i] = is_free(&before, heap->m[i]);
    truth->has_finalized = is_free(&before, heap->finalized);
    walk_all(heap, records, of_threads, truth);
    return !is_passed(heap, truth);
}

/* ---- the graph ---- */

/* Checks what the edge between two objects is. */
static void check_edge(enum tier from, enum tier to, uint32_t type, uint32_t flags)
{
    const bool is_weak = from != to && (from == TIER_GARBAGE || to != TIER_PROGRAM);
    assert_int_equal(type == S_WEAK, is_weak);
    assert_int_equal((flags & G2H_EDGE_WEAK) != 0, is_weak);
    assert_int_equal((flags & G2H_EDGE_FOREIGN) != 0, from != to && from != TIER_GARBAGE);
}

static unsigned object_of(const struct g2h_node *node)
{
    return (unsigned)((node->address - BASE) / 64);
}

/* Checks all pointers between objects, in the view and in the snapshot. */
static void check_edges(const struct dump *dump, const struct snapshot *snapshot,
                        const struct truth *truth)
{
    struct g2h_edges *edges;
    struct g2h_edge edge;
    assert_null(g2h_edges_create(dump->view, &edges));
    g2h_edges_begin(edges, 0, UINT32_MAX);
    for (uint32_t i = 0; g2h_edges_next(edges, &edge); i++) {
        struct g2h_node source, target;
        g2h_view_node(dump->view, edge.source, &source);
        g2h_view_node(dump->view, edge.target, &target);
        assert_int_equal(snapshot->edges[i].target, edge.target);
        if (source.object != UINT32_MAX && target.object != UINT32_MAX)
            check_edge(truth->tiers[object_of(&source)], truth->tiers[object_of(&target)],
                       snapshot->edges[i].type, edge.flags);
    }
    g2h_edges_destroy(edges);
}

/* Checks that DevTools takes the same objects for the program's. */
static void check_program(const struct dump *dump, const struct snapshot *snapshot,
                          const struct heap *heap, const struct truth *truth)
{
    bool *program = snapshot_program(snapshot);
    for (unsigned i = 0; i < heap->count; i++) {
        const uint32_t node = snapshot_object(snapshot, dump, AT(i));
        assert_int_equal(program[node], truth->tiers[i] == TIER_PROGRAM);
    }
    free(program);
}

static void check(const struct heap *heap, unsigned threads, unsigned *ret_checked)
{
    struct truth truth;
    DUMP dump;
    SNAPSHOT snapshot;
    const bool is_defined = find_truth(heap, &truth);
    put(&dump, heap);
    snapshot_of(&snapshot, &dump, threads);
    for (unsigned i = 0; i < heap->count; i++) {
        const enum tier tier = tiers_of(&dump.graph->tiers, i);
        assert_int_equal(tier == TIER_GARBAGE, graph_is_garbage(dump.graph, i));
        if (is_defined)
            assert_int_equal(tier, truth.tiers[i]);
    }
    if (is_defined) {
        check_edges(&dump, &snapshot, &truth);
        check_program(&dump, &snapshot, heap, &truth);
        *ret_checked += 1;
    }
}

/* ---- heaps ---- */

static unsigned any(uint64_t *random, unsigned count)
{
    const uint64_t value = unit_random(random);
    return value % 8 < 3 ? MOST : (unsigned)(value / 8 % count);
}

static void fill(unsigned *objects, unsigned count, unsigned of, uint64_t *random)
{
    for (unsigned i = 0; i < count; i++)
        objects[i] = any(random, of);
}

TEST(random_heaps)
{
    uint64_t random = 20261127;
    unsigned checked = 0;
    for (unsigned round = 0; round < 3000; round++) {
        struct heap heap = {.count = 2 + round % (MOST - 1),
                            .variables = round % MOST_ROOTS,
                            .goroutines = round / 3 % MOST_ROOTS,
                            .threads = round / 7 % MOST_ROOTS};
        for (unsigned i = 0; i < heap.count; i++) {
            fill(heap.words[i], WORDS_EACH, heap.count, &random);
            for (unsigned j = 1 + round % 3; j < WORDS_EACH; j++)
                heap.words[i][j] = MOST;
        }
        fill(heap.held, MOST_ROOTS, heap.count, &random);
        fill(heap.g, MOST_ROOTS, heap.count, &random);
        fill(heap.locals, MOST_ROOTS, heap.count, &random);
        fill(heap.doubtful, MOST_ROOTS, heap.count, &random);
        for (unsigned i = 0; i < MOST_ROOTS; i++)
            heap.m[i] = (unsigned)(unit_random(&random) % heap.count);
        heap.finalized = any(&random, heap.count);
        heap.function = any(&random, heap.count);
        heap.other = any(&random, heap.count);
        check(&heap, 1 + round % 2, &checked);
    }
    assert_true(checked > 2000);
}

UNIT_MAIN(NULL, NULL)
