/* Covers dominators/ and view/retained: random graphs, compared with the nodes
 * that cannot be reached without a node; shapes that are slow or deep with a worse algorithm.
 * tests/dominators compares with DevTools. */
#include "snapshot.h"

#include "findings/merged.h"
#include "graph/owners.h"
#include "view/view.h"

#define BASE  0xc000000000
#define AT(i) (BASE + (uint64_t)(i)*64)
#define STACK 0xc010000000

/* ---- against the definition ---- */

/* Marks the nodes that are reached from the root, by edges that hold, without passing the node
 * without. */
static void mark(const struct snapshot *snapshot, const bool *program, uint32_t without,
                 bool *marks)
{
    uint32_t *stack = malloc(snapshot->node_count * sizeof(*stack));
    size_t depth = 0;
    assert_non_null(stack);
    memset(marks, 0, snapshot->node_count);
    if (without != 0) {
        marks[0] = true;
        stack[depth++] = 0;
    }
    while (depth > 0) {
        const uint32_t source = stack[--depth];
        const struct snapshot_node *from = &snapshot->nodes[source];
        for (uint32_t i = from->first_edge; i < from->first_edge + from->edge_count; i++) {
            const uint32_t target = snapshot->edges[i].target;
            if (snapshot_holds(snapshot, program, source, &snapshot->edges[i]) &&
                target != without && !marks[target]) {
                marks[target] = true;
                stack[depth++] = target;
            }
        }
    }
    free(stack);
}

/* Findings are ordered by the nodes of the merged tree, so these must not depend on the regions. */
static void check_merged(const struct g2h_view *view, const struct g2h_dominators *dominators,
                         const struct g2h_dominators *expected)
{
    struct merged merged, other;
    assert_null(merged_make(view, dominators, 1, MERGED_ISLANDS_SEVERAL, &merged));
    assert_null(merged_make(view, expected, 1, MERGED_ISLANDS_SEVERAL, &other));
    assert_int_equal(merged.nodes.count, other.nodes.count);
    for (uint32_t i = 0; i < merged.nodes.count; i++) {
        const struct merged_node *one = &merged.nodes.data[i], *same = &other.nodes.data[i];
        size_t size, same_size;
        const char *name = merged_name(&merged, i, &size),
                   *same_name = merged_name(&other, i, &same_size);
        assert_int_equal(size, same_size);
        assert_memory_equal(name, same_name, size);
        assert_int_equal(one->parent, same->parent);
        assert_int_equal(one->outermost, same->outermost);
        assert_int_equal(one->example, same->example);
        assert_int_equal(one->retained, same->retained);
    }
    for (uint32_t i = 0; i < g2h_view_node_count(view); i++)
        assert_int_equal(merged.of[g2h_dominators_number(dominators, i)],
                         other.of[g2h_dominators_number(expected, i)]);
    merged_deinit(&merged);
    merged_deinit(&other);
}

static void check_same(const struct g2h_view *view, const struct g2h_dominators *expected)
{
    struct g2h_dominators *dominators = NULL;
    assert_null(g2h_view_dominators(view, &dominators));
    for (uint32_t i = 0; i < g2h_view_node_count(view); i++)
        assert_int_equal(g2h_dominators_of(dominators, i), g2h_dominators_of(expected, i));
    check_merged(view, dominators, expected);
    g2h_dominators_destroy(dominators);
}

/* Owners only save time: the dominators are the same without them, or if one of them is missing,
 * which is tried with every unit_step()th object from first on. */
static void check_regions(const struct g2h_view *view, const struct g2h_dominators *expected,
                          uint32_t first)
{
    struct owners *owners = &((struct g2h_graph *)not_const(view->graph))->node_owners;
    const uint32_t objects = view->graph->heap->object_count, step = unit_step();
    const struct owners kept = *owners;
    *owners = (struct owners){.end = 0}; /* as g2h_graph_options.no_dominators leaves them */
    check_same(view, expected);
    *owners = kept;
    for (uint32_t i = first % step; i < objects; i += step) {
        const owner_number owner = owners->of_object[i];
        owners->of_object[i] = OWNER_NONE;
        check_same(view, expected);
        owners->of_object[i] = owner;
    }
}

/* Expects each node to retain those nodes that cannot be reached without it. */
static void check(struct dump *dump, unsigned round)
{
    struct snapshot snapshot;
    struct g2h_dominators *dominators = NULL;
    snapshot_of(&snapshot, dump, 1 + round % 2);
    assert_null(g2h_view_dominators(dump->view, &dominators));
    const uint32_t nodes = (uint32_t)snapshot.node_count;
    bool *marks = malloc(nodes), *program = snapshot_program(&snapshot);
    uint64_t *sizes = calloc(nodes, sizeof(*sizes));
    assert_non_null(marks);
    assert_non_null(sizes);
    assert_int_equal(g2h_view_node_count(dump->view), nodes);
    assert_int_equal(g2h_dominators_of(dominators, 0), 0);
    for (uint32_t node = 0; node < nodes; node++) {
        uint64_t size = 0;
        mark(&snapshot, program, node, marks);
        for (uint32_t i = 0; i < nodes; i++)
            size += marks[i] ? 0 : snapshot.nodes[i].size;
        assert_int_equal(g2h_dominators_retained_size(dominators, node), size);
        for (uint32_t i = 1; i < nodes; i++)
            if (g2h_dominators_of(dominators, i) == node)
                assert_true(i != node && !marks[i]);
        for (uint32_t i = 1; i < nodes; i++) { /* each dominator of i is above it in the tree */
            if (marks[i] || i == node)
                continue;
            uint32_t above = i;
            while (above != node && above != 0)
                above = g2h_dominators_of(dominators, above);
            assert_int_equal(above, node);
        }
    }
    check_regions(dump->view, dominators, round / 2);
    free(sizes);
    free(marks);
    free(program);
    g2h_dominators_destroy(dominators);
    snapshot_deinit(&snapshot);
}

/* Writes goroutines that hold objects: two are in one place, the others in places of their own.
 * Some have their records, and those of threads, among the objects. */
static void add_goroutines(struct dump *dump, unsigned goroutines, unsigned count, uint64_t *random)
{
    const bool has_records = unit_random(random) % 2 == 0;
    static const char *const functions[] = {"main.f", "main.f", "main.g", "main.h"};
    for (unsigned i = 0; i < goroutines; i++) {
        const uint64_t held[] = {AT(unit_random(random) % count), AT(unit_random(random) % count)},
                       sp = STACK + (uint64_t)i * 4096;
        const uint64_t m = AT(unit_random(random) % count);
        const struct g2h_record thread = {.kind = G2H_RECORD_OSTHREAD, .osthread = {m, i, i}};
        if (has_records)
            dump_record(dump, &thread, NULL, 0);
        dump_goroutine(dump, i + 1, has_records ? AT(unit_random(random) % count) : 0x700000 + i,
                       sp);
        dump_frame(dump, functions[i], sp, 0, 2, held, 2);
    }
}

TEST(random_graphs)
{
    uint64_t random = 88172645463325252u;
    for (int round = 0; round < 400; round++) {
        const unsigned count = 2 + (unsigned)(round % 40), edges = 1 + (unsigned)(round / 40) % 4;
        DUMP dump;
        uint64_t held[4];
        dump_start_modern(&dump, "go1.19.8");
        for (unsigned i = 0; i < count; i++) {
            uint64_t words[8];
            for (unsigned j = 0; j < edges; j++) {
                unit_random(&random);
                /* near targets are more frequent, so that graphs are deep */
                const uint64_t near = (i + random / 8 % 4) % count, far = random / 8 % count;
                words[j] = random % 8 == 0 ? 0 : AT(random % 2 == 0 ? near : far);
            }
            dump_object(&dump, AT(i), 64, edges, words);
        }
        for (int i = 0; i < 4; i++)
            held[i] = AT((random >> (8 * i)) % count);
        add_goroutines(&dump, (unsigned)(round / 5) % 5, count, &random);
        dump_bss(&dump, 0x560000, (size_t)(round % 5), held); /* with none, all may be garbage */
        dump_eof(&dump);
        check(&dump, (unsigned)round);
    }
}

/* ---- large graphs ---- */

enum { COUNT = 200000 };

/*
 * A list whose last object holds, by an array, as many leaves as the list has objects; the head
 * holds the leaves too. The dominator of each leaf is the head, at the other end of the list.
 */
TEST(list_with_leaves)
{
    const uint64_t head = AT(0), array = AT(2 * COUNT), other = array + 8 * COUNT;
    uint64_t *words = malloc(COUNT * sizeof(*words));
    struct g2h_dominators *dominators = NULL;
    struct dump dump;
    assert_non_null(words);
    dump_start_modern(&dump, "go1.19.8");
    for (int i = 0; i < COUNT; i++)
        dump_object(&dump, AT(i), 64, WORDS(i + 1 < COUNT ? AT(i + 1) : array, i == 0 ? other : 0));
    for (int i = 0; i < COUNT; i++) {
        dump_object(&dump, AT(COUNT + i), 64, NO_WORDS);
        words[i] = AT(COUNT + i);
    }
    dump_object(&dump, array, 8 * COUNT, COUNT, words);
    dump_object(&dump, other, 8 * COUNT, COUNT, words);
    dump_bss(&dump, 0x560000, WORDS(head));
    dump_eof(&dump);
    dump_view(&dump, 2, NULL);
    assert_null(g2h_view_dominators(dump.view, &dominators));
    const uint32_t first = g2h_view_object(dump.view, 0);
    assert_int_equal(g2h_dominators_of(dominators, first + COUNT), first);
    assert_int_equal(g2h_dominators_of(dominators, first + 2 * COUNT - 1), first);
    assert_int_equal(g2h_dominators_of(dominators, first + COUNT - 1), first + COUNT - 2);
    assert_int_equal(g2h_dominators_retained_size(dominators, first),
                     (uint64_t)2 * COUNT * 64 + (uint64_t)2 * COUNT * 8);
    assert_int_equal(g2h_dominators_retained_size(dominators, first + COUNT - 1), 64 + 8 * COUNT);
    g2h_dominators_destroy(dominators);
    dump_deinit(&dump);
    free(words);
}

/* Each object of a list points back to the head and to the object before it. */
TEST(list_back_and_forth)
{
    struct g2h_dominators *dominators = NULL;
    DUMP dump;
    dump_start_modern(&dump, "go1.19.8");
    for (int i = 0; i < COUNT; i++)
        dump_object(&dump, AT(i), 64,
                    WORDS(AT(0), i > 0 ? AT(i - 1) : 0, i + 1 < COUNT ? AT(i + 1) : 0));
    dump_bss(&dump, 0x560000, WORDS(AT(0), AT(COUNT / 2)));
    dump_eof(&dump);
    dump_view(&dump, 2, NULL);
    assert_null(g2h_view_dominators(dump.view, &dominators));
    const uint32_t first = g2h_view_object(dump.view, 0);
    const uint32_t bss = g2h_dominators_of(dominators, first);
    assert_true(bss < first);
    /* up to the middle, objects can be reached from both roots; behind it there is one way only */
    assert_int_equal(g2h_dominators_of(dominators, first + COUNT / 2), bss);
    assert_int_equal(g2h_dominators_of(dominators, first + COUNT / 2 - 1), bss);
    assert_int_equal(g2h_dominators_of(dominators, first + COUNT - 1), first + COUNT - 2);
    g2h_dominators_destroy(dominators);
}

UNIT_MAIN(NULL, NULL)
