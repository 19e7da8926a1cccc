/* Covers graph/owners and dominators/several, sharers, sharing, components: what
 * groups of roots hold alone and together, compared with the objects that cannot be reached without
 * them; shapes that are deep. And findings/growth: how much more groups hold together than in the
 * base. */
#include "snapshot.h"

#include <go2heapsnapshot/output.h>

#include "findings/findings.h"

#define BASE  0xc000000000
#define AT(i) (BASE + (uint64_t)(i)*64)
#define STACK 0xc010000000

enum { MOST = 40, MOST_GROUPS = 6, WORDS_EACH = 4 };

/* A heap whose groups of roots are bss, number 0, and goroutines in places of their own. */
struct heap {
    unsigned count, groups;
    uint32_t words[MOST][WORDS_EACH]; /* by object: the objects that it points to; MOST: none */
    uint32_t held[MOST_GROUPS][WORDS_EACH]; /* by group: the objects that it points to */
};

static void put(struct dump *dump, const struct heap *heap)
{
    uint64_t words[WORDS_EACH];
    dump_start_modern(dump, "go1.19.8");
    for (unsigned i = 0; i < heap->count; i++) {
        for (unsigned j = 0; j < WORDS_EACH; j++)
            words[j] = heap->words[i][j] < MOST ? AT(heap->words[i][j]) : 0;
        dump_object(dump, AT(i), 64, WORDS_EACH, words);
    }
    for (unsigned i = 1; i < heap->groups; i++) {
        char function[] = "main.f0";
        function[6] = (char)('0' + i);
        for (unsigned j = 0; j < WORDS_EACH; j++)
            words[j] = heap->held[i][j] < MOST ? AT(heap->held[i][j]) : 0;
        dump_goroutine(dump, i, 0x700000 + i, STACK + i * 4096);
        dump_frame(dump, function, STACK + i * 4096, 0, WORDS_EACH, words, WORDS_EACH);
    }
    for (unsigned j = 0; j < WORDS_EACH; j++)
        words[j] = heap->held[0][j] < MOST ? AT(heap->held[0][j]) : 0;
    dump_bss(dump, 0x560000, WORDS_EACH, words);
    dump_eof(dump);
}

/* ---- by the definitions ---- */

/* Marks the objects that a group reaches without passing object number without, nor any of
 * others. */
static void reach(const struct heap *heap, unsigned group, unsigned without, const bool *others,
                  bool *marks)
{
    unsigned stack[MOST * WORDS_EACH + WORDS_EACH], depth = 0;
    for (unsigned j = 0; j < WORDS_EACH; j++)
        stack[depth++] = heap->held[group][j];
    while (depth > 0) {
        const unsigned object = stack[--depth];
        if (object >= MOST || object == without || marks[object] || (others && others[object]))
            continue;
        marks[object] = true;
        for (unsigned j = 0; j < WORDS_EACH; j++)
            stack[depth++] = heap->words[object][j];
    }
}

struct truth {
    unsigned groups[MOST];      /* by object: a bit per group that reaches it */
    bool dominates[MOST][MOST]; /* whether nothing reaches the second without the first */
};

static void find_truth(const struct heap *heap, struct truth *truth)
{
    bool program[MOST] = {false}; /* what bss reaches belongs to the program, not to goroutines */
    memset(truth, 0, sizeof(*truth));
    reach(heap, 0, MOST, NULL, program);
    for (unsigned group = 0; group < heap->groups; group++) {
        bool marks[MOST] = {false};
        reach(heap, group, MOST, group > 0 ? program : NULL, marks);
        for (unsigned i = 0; i < heap->count; i++)
            truth->groups[i] |= (unsigned)marks[i] << group;
    }
    for (unsigned i = 0; i < heap->count; i++) {
        bool marks[MOST] = {false};
        for (unsigned group = 0; group < heap->groups; group++)
            reach(heap, group, i, group > 0 ? program : NULL, marks);
        for (unsigned j = 0; j < heap->count; j++)
            truth->dominates[i][j] = truth->groups[j] != 0 && !marks[j];
    }
}

static bool has_several(unsigned groups)
{
    return (groups & (groups - 1)) != 0;
}

static bool is_shared_entry(const struct heap *heap, const struct truth *truth, unsigned object)
{
    bool is = has_several(truth->groups[object]);
    for (unsigned i = 0; i < heap->count; i++)
        is = is && !(i != object && has_several(truth->groups[i]) && truth->dominates[i][object]);
    return is;
}

static unsigned retained(const struct heap *heap, const struct truth *truth, unsigned object)
{
    unsigned size = 0;
    for (unsigned i = 0; i < heap->count; i++)
        size += truth->dominates[object][i] ? 64 : 0;
    return size;
}

static void append_name(unsigned groups, char *name, size_t size)
{
    const int goroutines = __builtin_popcount(groups >> 1);
    snprintf(name, size, "%s%s", (groups & 1) != 0 ? "bss" : "",
             (groups & 1) != 0 && goroutines > 0 ? " and " : "");
    const size_t used = strlen(name);
    if (goroutines > 1)
        snprintf(name + used, size - used, "%d goroutines", goroutines);
    else if (goroutines == 1)
        snprintf(name + used, size - used, "goroutine %d [select] main.f%d",
                 __builtin_ctz(groups >> 1) + 1, __builtin_ctz(groups >> 1) + 1);
}

/* ---- the graph's results ---- */

static void check_owners(const struct dump *dump, const struct heap *heap,
                         const struct truth *truth)
{
    const struct g2h_graph_account *account = g2h_graph_account(dump->graph);
    uint64_t alone[MOST_GROUPS] = {0}, shared = 0, found = 0;
    for (unsigned i = 0; i < heap->count; i++) {
        if (has_several(truth->groups[i]))
            shared += 64;
        else if (truth->groups[i] != 0)
            alone[__builtin_ctz(truth->groups[i])] += 64;
    }
    assert_int_equal(account->shared_bytes, shared);
    for (size_t i = 0; i < g2h_view_owner_count(dump->view); i++) {
        struct g2h_view_owner owner;
        struct g2h_node node;
        g2h_view_owner(dump->view, i, &owner);
        if (owner.node == UINT32_MAX)
            continue;
        g2h_view_node(dump->view, owner.node, &node);
        const bool is_group = node.kind == G2H_NODE_GOROUTINE || node.kind == G2H_NODE_BSS;
        const uint64_t expected = node.kind == G2H_NODE_GOROUTINE     ? alone[node.key]
                                  : node.kind == G2H_NODE_BSS         ? alone[0]
                                  : node.kind == G2H_NODE_UNREACHABLE ? account->unreachable_bytes
                                                                      : 0;
        assert_int_equal(owner.bytes, expected);
        found += is_group ? owner.bytes : 0;
    }
    assert_int_equal(found + shared + account->unreachable_bytes, (uint64_t)heap->count * 64);
}

/* Checks for each node whether several groups hold it directly, and the groups' names. */
static void check_sharers(const struct dump *dump, const struct heap *heap,
                          const struct truth *truth)
{
    for (uint32_t i = 0; i < g2h_view_node_count(dump->view); i++) {
        struct g2h_node node;
        const char *sharers;
        size_t size;
        char name[64];
        g2h_view_node(dump->view, i, &node);
        const unsigned object = (unsigned)((node.address - BASE) / 64);
        const bool is = node.kind == G2H_NODE_OBJECT && is_shared_entry(heap, truth, object);
        assert_int_equal(g2h_view_sharers(dump->view, i, &sharers, &size), is);
        if (!is)
            continue;
        append_name(truth->groups[object], name, sizeof(name));
        assert_int_equal(size, strlen(name));
        assert_memory_equal(sharers, name, size);
    }
}

static void check(const struct heap *heap, unsigned threads)
{
    struct truth truth;
    DUMP dump;
    SNAPSHOT snapshot;
    unsigned entries = 0, last = UINT32_MAX, last_object = 0;
    find_truth(heap, &truth);
    put(&dump, heap);
    snapshot_of(&snapshot, &dump, threads);
    check_owners(&dump, heap, &truth);
    check_sharers(&dump, heap, &truth);
    for (unsigned i = 0; i < heap->count; i++)
        entries += is_shared_entry(heap, &truth, i);
    assert_int_equal(snapshot_has(&snapshot, "(held by several)"), entries > 0);
    const struct snapshot_node
        none = {0},
        *group =
            entries == 0 ? &none : &snapshot.nodes[snapshot_find(&snapshot, "(held by several)")];
    assert_int_equal(group->edge_count, entries);
    for (uint32_t i = 0; i < entries; i++) {
        const struct snapshot_edge *edge = &snapshot.edges[group->first_edge + i];
        struct g2h_node node;
        char name[64];
        g2h_view_node(dump.view, edge->target, &node);
        const unsigned object = (unsigned)((node.address - BASE) / 64),
                       size = retained(heap, &truth, object);
        assert_true(is_shared_entry(heap, &truth, object));
        assert_true(size < last || (size == last && object > last_object)); /* largest first */
        assert_int_equal(edge->type, S_WEAK);
        append_name(truth.groups[object], name, sizeof(name));
        assert_string_equal(snapshot_edge_name(&snapshot, edge), name);
        last = size;
        last_object = object;
    }
}

/* ---- heaps ---- */

static uint32_t any(uint64_t *random, unsigned count, unsigned near)
{
    const uint64_t value = unit_random(random);
    return value % 8 < 3    ? MOST
           : value % 16 < 8 ? (uint32_t)((near + value / 16 % 4) % count)
                            : (uint32_t)(value / 16 % count);
}

TEST(random_heaps)
{
    uint64_t random = 20261122;
    for (int round = 0; round < 3000; round += (int)unit_step()) {
        struct heap heap = {.count = 2 + (unsigned)round % (MOST - 1),
                            .groups = 1 + (unsigned)round % MOST_GROUPS};
        for (unsigned i = 0; i < heap.count; i++)
            for (unsigned j = 0; j < WORDS_EACH; j++)
                heap.words[i][j] = j < 1 + (unsigned)round % 3 ? any(&random, heap.count, i) : MOST;
        for (unsigned i = 0; i < heap.groups; i++)
            for (unsigned j = 0; j < WORDS_EACH; j++)
                heap.held[i][j] = j < 2 ? any(&random, heap.count, i * 7) : MOST;
        check(&heap, 1 + (unsigned)round % 2);
    }
}

/* Two lists hold each other at each step, so that several groups hold each of their objects, but no
 * group points to more than one of the first two. */
TEST(ladder)
{
    enum { STEPS = 100000 };
    DUMP dump;
    SNAPSHOT snapshot;
    dump_start_modern(&dump, "go1.19.8");
    for (int i = 0; i < STEPS; i++)
        for (int j = 0; j < 2; j++)
            dump_object(
                &dump, AT(2 * i + j), 64,
                WORDS(i + 1 < STEPS ? AT(2 * i + 2) : AT(0), AT((2 * i + 3) % (2 * STEPS))));
    dump_goroutine(&dump, 1, 0x700001, STACK);
    dump_frame(&dump, "main.f1", STACK, 0, WORDS(AT(0)), 1);
    dump_goroutine(&dump, 2, 0x700002, STACK + 4096);
    dump_frame(&dump, "main.f2", STACK + 4096, 0, WORDS(AT(1)), 1);
    dump_eof(&dump);
    snapshot_of(&snapshot, &dump, 1);
    assert_int_equal(g2h_graph_account(dump.graph)->several, 2 * STEPS);
    assert_int_equal(g2h_graph_account(dump.graph)->several_shown, 1000);
    assert_int_equal(g2h_graph_account(dump.graph)->several_shown_bytes, 64000);
    const struct snapshot_node *group =
        &snapshot.nodes[snapshot_find(&snapshot, "(held by several)")];
    for (uint32_t i = 0; i < group->edge_count; i++)
        assert_string_equal(snapshot_edge_name(&snapshot, &snapshot.edges[group->first_edge + i]),
                            "2 goroutines");
}

/* A group holds each object directly, another one only through the objects before it. */
TEST(many_shared_entries)
{
    enum { OBJECTS = 70000 };
    struct dump dump;
    struct snapshot snapshot;
    uint64_t *words = malloc(OBJECTS * sizeof(*words));
    assert_non_null(words);
    dump_start_modern(&dump, "go1.19.8");
    for (uint32_t i = 0; i < OBJECTS; i++) {
        words[i] = AT(i);
        dump_object(&dump, AT(i), i == 0 ? 64 : 32, WORDS(i + 1 < OBJECTS ? AT(i + 1) : 0));
    }
    dump_goroutine(&dump, 1, 0x700001, STACK);
    dump_frame(&dump, "main.f1", STACK, 0, WORDS(AT(0)), 1);
    dump_goroutine(&dump, 2, 0x700002, STACK + 4096);
    dump_frame(&dump, "main.f2", STACK + 4096, 0, OBJECTS, words, OBJECTS);
    dump_eof(&dump);
    snapshot_of(&snapshot, &dump, 2);
    const struct g2h_graph_account *account = g2h_graph_account(dump.graph);
    assert_int_equal(account->shared, OBJECTS);
    assert_int_equal(account->several, OBJECTS);
    assert_int_equal(account->shared_bytes, (uint64_t)OBJECTS * 32 + 32);
    const struct snapshot_node *group =
        &snapshot.nodes[snapshot_find(&snapshot, "(held by several)")];
    for (uint32_t i = 0; i < group->edge_count; i++)
        assert_string_equal(snapshot_edge_name(&snapshot, &snapshot.edges[group->first_edge + i]),
                            "2 goroutines");
    snapshot_deinit(&snapshot);
    dump_deinit(&dump);
    free(words);
}

/* More groups than a set has bits for, in a heap of which several groups hold much. */
TEST(many_groups)
{
    enum { GROUPS = 6000, OBJECTS = 20000 };
    DUMP dump;
    SNAPSHOT snapshot;
    uint64_t words[GROUPS];
    dump_start_modern(&dump, "go1.19.8");
    for (int i = 0; i < OBJECTS; i++)
        dump_object(&dump, AT(i), 64, WORDS(i + 1 < OBJECTS ? AT(i + 1) : 0));
    for (unsigned i = 1; i < GROUPS; i++) {
        char function[32];
        snprintf(function, sizeof(function), "main.f%u", i);
        dump_goroutine(&dump, i, 0x700000 + i, STACK + i * 4096);
        dump_frame(&dump, function, STACK + i * 4096, 0, WORDS(AT(i)), 1);
        words[i] = AT(i);
    }
    words[0] = AT(0);
    dump_goroutine(&dump, GROUPS, 0x700000 + GROUPS, STACK + GROUPS * 4096);
    dump_frame(&dump, "main.all", STACK + GROUPS * 4096, 0, GROUPS, words, GROUPS);
    dump_eof(&dump);
    snapshot_of(&snapshot, &dump, 2);
    const struct snapshot_node *group =
        &snapshot.nodes[snapshot_find(&snapshot, "(held by several)")];
    assert_int_equal(group->edge_count, 1000);
    static const struct {
        uint32_t row;
        const char *name;
    } rows[] = {{0, "4093 goroutines and others"}, /* held by all groups */
                {1, "2 goroutines"},
                {2, "3 goroutines"},
                {999, "1000 goroutines"}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        assert_string_equal(
            snapshot_edge_name(&snapshot, &snapshot.edges[group->first_edge + rows[i].row]),
            rows[i].name);
}

/* More groups than names can tell apart. */
TEST(very_many_groups)
{
    enum { GROUPS = 66000 };
    DUMP dump;
    SNAPSHOT snapshot;
    uint64_t bytes = 0;
    dump_start_modern(&dump, "go1.19.8");
    for (int i = 0; i < GROUPS; i++)
        dump_object(&dump, AT(i), 64, WORDS(AT(GROUPS)));
    dump_object(&dump, AT(GROUPS), 64, NO_WORDS);
    for (unsigned i = 0; i < GROUPS; i++) {
        char function[32];
        snprintf(function, sizeof(function), "main.f%u", i);
        dump_goroutine(&dump, i + 1, 0x700000 + i, STACK + i * 4096);
        dump_frame(&dump, function, STACK + i * 4096, 0, WORDS(AT(i)), 1);
    }
    dump_eof(&dump);
    snapshot_of(&snapshot, &dump, 2);
    for (size_t i = 0; i < g2h_view_owner_count(dump.view); i++) {
        struct g2h_view_owner owner;
        g2h_view_owner(dump.view, i, &owner);
        bytes += owner.bytes;
        assert_true(owner.bytes == 0 || (owner.node != UINT32_MAX && owner.bytes == 64));
    }
    assert_int_equal(bytes, (uint64_t)GROUPS * 64);
    const struct snapshot_node *group =
        &snapshot.nodes[snapshot_find(&snapshot, "(held by several)")];
    assert_int_equal(group->edge_count, 1);
    assert_string_equal(snapshot_edge_name(&snapshot, &snapshot.edges[group->first_edge]),
                        "4095 goroutines and others");
}

/* Each two of many goroutines hold an object together: more sets of holders than have names of
 * their own. The holders of the others are said by their number. */
TEST(more_sets_than_are_named)
{
    enum { GROUPS = 370, OBJECTS = GROUPS * (GROUPS - 1) / 2 };
    struct dump dump;
    uint64_t words[GROUPS];
    uint32_t named = 0;
    dump_start_modern(&dump, "go1.19.8");
    for (uint32_t i = 0; i < OBJECTS; i++)
        dump_object(&dump, AT(i), 64, NO_WORDS);
    for (uint32_t i = 0; i < GROUPS; i++) {
        char function[32];
        size_t count = 0;
        for (uint32_t j = 0; j < GROUPS; j++)
            if (j != i) /* a pair has the number of its larger one, and then of its smaller one */
                words[count++] = j < i ? AT(i * (i - 1) / 2 + j) : AT(j * (j - 1) / 2 + i);
        snprintf(function, sizeof(function), "main.f%u", i);
        dump_goroutine(&dump, i + 1, 0x700000 + i, STACK + i * 4096);
        dump_frame(&dump, function, STACK + i * 4096, 0, count, words, count);
    }
    dump_eof(&dump);
    const struct g2h_view *view = dump_view(&dump, 2, NULL);
    for (uint32_t node = 0; node < g2h_view_node_count(view); node++) {
        const char *name;
        size_t size;
        if (!g2h_view_sharers(view, node, &name, &size))
            continue;
        assert_int_equal(size, strlen("2 goroutines"));
        assert_memory_equal(name, "2 goroutines", size);
        named++;
    }
    assert_int_equal(named, OBJECTS);
    dump_deinit(&dump);
}

/* ---- growth ---- */

/* A heap in which the first two of three goroutines hold a list together, and all of them another
 * one; the lists have that many objects. */
static void put_lists(struct dump *dump, unsigned of_two, unsigned of_three)
{
    const unsigned all = of_two + of_three;
    dump_start_modern(dump, "go1.19.8");
    for (unsigned i = 0; i < all; i++)
        dump_object(dump, AT(i), 64, WORDS(i + 1 == of_two || i + 1 == all ? 0 : AT(i + 1)));
    for (unsigned i = 1; i <= 3; i++) {
        char function[] = "main.f0";
        function[6] = (char)('0' + i);
        dump_goroutine(dump, i, 0x700000 + i, STACK + i * 4096);
        dump_frame(dump, function, STACK + i * 4096, 0,
                   WORDS(i < 3 && of_two > 0 ? AT(0) : 0, of_three > 0 ? AT(of_two) : 0), 2);
    }
    dump_eof(dump);
}

/* Expects by how many objects a group of goroutines holds more than in the base. */
static void expect_held(const struct findings *findings, const char *name, int64_t grown)
{
    uint32_t found = MERGED_NONE;
    for (uint32_t i = 0; i < findings->merged.nodes.count; i++) {
        size_t size;
        const char *is = merged_name(&findings->merged, i, &size);
        if (size == strlen(name) && memcmp(is, name, size) == 0)
            found = i;
    }
    assert_int_not_equal(found, MERGED_NONE);
    assert_int_equal(findings->growth.data[found].retained, grown * 64);
    assert_int_not_equal(findings->growth.data[found].before, MERGED_NONE);
}

/* The names of two groups differ only in a number: each is compared with itself. If there is no
 * other, a group whose number has changed is the same. */
TEST(growth_of_groups)
{
    static const struct {
        unsigned of_two, of_three, of_two_now, of_three_now;
        int64_t two, three;
    } cases[] = {{10, 20, 10, 20, 0, 0}, {10, 20, 15, 90, 5, 70}, {10, 0, 0, 30, 0, 20}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        DUMP before, now;
        struct g2h_base *base;
        put_lists(&before, cases[i].of_two, cases[i].of_three);
        put_lists(&now, cases[i].of_two_now, cases[i].of_three_now);
        assert_no_error(g2h_base_create(dump_view(&before, 1, NULL), "before", 1, &base));
        struct findings findings = {.view = dump_view(&now, 1, NULL), .base = base, .threads = 1};
        assert_no_error(findings_begin(&findings, false));
        assert_no_error(findings_merge(&findings));
        if (cases[i].of_two_now > 0)
            expect_held(&findings, "2 goroutines", cases[i].two);
        expect_held(&findings, "3 goroutines", cases[i].three);
        findings_deinit(&findings);
        g2h_base_destroy(base);
    }
}

UNIT_MAIN(NULL, NULL)
