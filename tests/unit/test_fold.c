/* Covers view/fold and its snapshots: random graphs are folded to every size, and compared with
 * what must have stayed as it was. tests/dominators does the same with samples, in DevTools'
 * worker. */
#include "snapshot.h"

#include <go2heapsnapshot/findings.h>

#include "heap/heap.h"

#define BASE  0xc000000000
#define AT(i) (BASE + (uint64_t)(i)*64)

enum { MOST = 64 /* nodes of a snapshot, at most */ };

static void fold(struct snapshot *snapshot, struct dump *dump, uint64_t max_nodes, bool reachable,
                 unsigned threads)
{
    const struct g2h_view_options options = {.max_nodes = max_nodes, .reachable = reachable};
    size_t size;
    dump_view(dump, threads, &options);
    snapshot_parse(snapshot, view_snapshot(dump->view, threads, false, &size));
}

/* ---- dominators by the definition ---- */

struct retained {
    uint64_t dominated_by[MOST]; /* a bit for each dominator of a node, the node itself included */
    uint64_t size[MOST];
};

static uint64_t reach(const struct snapshot *snapshot, const bool *program, uint32_t without)
{
    uint32_t stack[MOST];
    size_t depth = 0;
    uint64_t marks = 0;
    if (without != 0) {
        marks = 1;
        stack[depth++] = 0;
    }
    while (depth > 0) {
        const uint32_t source = stack[--depth];
        const struct snapshot_node *from = &snapshot->nodes[source];
        for (uint32_t i = from->first_edge; i < from->first_edge + from->edge_count; i++) {
            const uint32_t target = snapshot->edges[i].target;
            if (!snapshot_holds(snapshot, program, source, &snapshot->edges[i]) ||
                target == without || (marks >> target & 1))
                continue;
            marks |= (uint64_t)1 << target;
            stack[depth++] = target;
        }
    }
    return marks;
}

static void find_retained(const struct snapshot *snapshot, struct retained *ret)
{
    bool *program = snapshot_program(snapshot);
    memset(ret, 0, sizeof(*ret));
    assert_true(snapshot->node_count <= MOST);
    assert_int_equal(__builtin_popcountll(reach(snapshot, program, UINT32_MAX)),
                     snapshot->node_count);
    for (uint32_t node = 0; node < snapshot->node_count; node++) {
        const uint64_t marks = reach(snapshot, program, node);
        for (uint32_t i = 0; i < snapshot->node_count; i++) {
            if (marks >> i & 1)
                continue;
            ret->dominated_by[i] |= (uint64_t)1 << node;
            ret->size[node] += snapshot->nodes[i].size;
        }
    }
    free(program);
}

/* ---- what folding promises ---- */

static uint32_t by_id(const struct snapshot *snapshot, uint32_t id)
{
    for (uint32_t i = 0; i < snapshot->node_count; i++)
        if (snapshot->nodes[i].id == id)
            return i;
    return UINT32_MAX;
}

static bool is_folded(const struct snapshot *snapshot, uint32_t node)
{
    const struct snapshot_node *group = &snapshot->nodes[snapshot_find(snapshot, "(folded)")];
    bool found = false;
    for (uint32_t i = group->first_edge; i < group->first_edge + group->edge_count; i++)
        found = found || (snapshot->edges[i].target == node && snapshot->edges[i].type == S_WEAK);
    return found;
}

static uint64_t class_size(const struct snapshot *snapshot, const char *name)
{
    uint64_t size = 0;
    for (uint32_t i = 0; i < snapshot->node_count; i++)
        if (strcmp(snapshot_name(snapshot, i), name) == 0)
            size += snapshot->nodes[i].size;
    return size;
}

/* Returns the size that a class retains as Summary has it: that of its nodes which no other node of
 * the class dominates. */
static uint64_t class_retained(const struct snapshot *snapshot, const struct retained *retained,
                               const char *name)
{
    uint64_t size = 0;
    for (uint32_t i = 0; i < snapshot->node_count; i++) {
        bool is_top = strcmp(snapshot_name(snapshot, i), name) == 0;
        for (uint32_t j = 0; j < snapshot->node_count && is_top; j++)
            is_top = j == i || (retained->dominated_by[i] >> j & 1) == 0 ||
                     strcmp(snapshot_name(snapshot, j), name) != 0;
        size += is_top ? retained->size[i] : 0;
    }
    return size;
}

/* Returns whether no folded node is so deep below others that what it dominated is beside it. */
static bool is_shallow(const struct snapshot *folded, const struct retained *after)
{
    for (uint32_t i = 0; i < folded->node_count; i++) {
        unsigned depth = 0;
        for (uint32_t j = 0; j < folded->node_count; j++)
            depth += (after->dominated_by[i] >> j & 1) != 0 && is_folded(folded, j);
        if (depth >= 8)
            return false;
    }
    return true;
}

/* Asserts that the view says of folded nodes, too, what follows from its edges. */
static void compare_dominators(const struct dump *dump, const struct retained *retained)
{
    struct g2h_dominators *dominators;
    assert_null(g2h_view_dominators(dump->view, &dominators));
    for (uint32_t i = 0; i < g2h_view_node_count(dump->view); i++) {
        const uint32_t above = g2h_dominators_of(dominators, i),
                       number = g2h_dominators_number(dominators, i);
        assert_int_equal(g2h_dominators_retained_size(dominators, i), retained->size[i]);
        assert_int_equal(retained->dominated_by[above] | (uint64_t)1 << i,
                         retained->dominated_by[i]);
        assert_int_equal(g2h_dominators_node(dominators, number), i);
        assert_true(i == 0 || g2h_dominators_above(dominators, number) < number);
    }
    g2h_dominators_destroy(dominators);
}

/* Asserts that the nodes that are not folded, except the root, retain what they did, and have the
 * same dominators. */
static void compare_kept(const struct snapshot *whole, const struct retained *before,
                         const struct snapshot *folded, const struct retained *after)
{
    const uint32_t group = snapshot_find(folded, "(folded)");
    for (uint32_t i = 1; i < folded->node_count; i++) {
        uint64_t expected = 0;
        const uint32_t old = by_id(whole, folded->nodes[i].id);
        if (i == group || is_folded(folded, i))
            continue;
        assert_true(old != UINT32_MAX);
        assert_int_equal(after->size[i], before->size[old]);
        for (uint32_t j = 0; j < whole->node_count; j++)
            if (before->dominated_by[old] >> j & 1) {
                const uint32_t new = by_id(folded, whole->nodes[j].id);
                assert_true(new != UINT32_MAX);
                expected |= (uint64_t)1 << new;
            }
        assert_int_equal(after->dominated_by[i], expected);
    }
}

/* Compares a whole graph with the folded one of the dump. */
static void compare(const struct snapshot *whole, const struct snapshot *folded,
                    const struct dump *dump)
{
    struct retained before, after;
    find_retained(whole, &before);
    find_retained(folded, &after);
    compare_dominators(dump, &after);
    for (uint32_t i = 0; i < folded->nodes[0].edge_count; i++)
        assert_int_equal(folded->nodes[folded->edges[i].target].type, S_SYNTHETIC);
    const uint32_t group = snapshot_find(folded, "(folded)");
    assert_int_equal(after.size[group], 0);
    for (uint32_t i = 0; i < whole->node_count; i++) {
        const char *name = snapshot_name(whole, i);
        assert_int_equal(class_size(whole, name), class_size(folded, name));
        if (whole->nodes[i].type != S_SYNTHETIC && is_shallow(folded, &after))
            assert_int_equal(class_retained(whole, &before, name),
                             class_retained(folded, &after, name));
    }
    assert_int_equal(after.size[0], before.size[0]);
    compare_kept(whole, &before, folded, &after);
}

static uint64_t state = 88172645463325252u;

/* Writes objects of three classes with up to four pointers each; the roots hold some of them. */
static void put_random(struct dump *dump, unsigned count, unsigned pointers, unsigned roots)
{
    uint64_t held[4];
    dump_start_modern(dump, "go1.19.8");
    for (unsigned i = 0; i < count; i++) {
        uint64_t words[4];
        for (unsigned j = 0; j < pointers; j++) {
            const uint64_t random = unit_random(&state);
            const uint64_t near = (i + random / 8 % 4) % count, far = random / 8 % count;
            words[j] = random % 8 == 0 ? 0 : AT(random % 2 == 0 ? near : far);
        }
        dump_object(dump, AT(i), 32 + 16 * (unit_random(&state) % 3), pointers, words);
    }
    for (unsigned i = 0; i < 2; i++) { /* beside the other roots: what both hold is the root's */
        const uint64_t m = AT(unit_random(&state) % count);
        const struct g2h_record thread = {.kind = G2H_RECORD_OSTHREAD, .osthread = {m, i, i}};
        dump_record(dump, &thread, NULL, 0);
    }
    for (unsigned i = 0; i < roots; i++)
        held[i] = AT(unit_random(&state) % count);
    dump_bss(dump, 0x560000, roots, held);
    dump_eof(dump);
}

TEST(random_graphs)
{
    for (unsigned round = 0; round < 600; round += unit_step()) {
        DUMP dump;
        struct snapshot whole, folded;
        put_random(&dump, 4 + round % 40, 1 + round / 40 % 4, round % 5);
        snapshot_of(&whole, &dump, 1);
        const uint64_t nodes = whole.node_count;
        for (uint64_t most = 1 + round % 3; most < nodes; most += 3) {
            fold(&folded, &dump, most, false, 1 + round % 2);
            const struct g2h_view_account *account = g2h_view_account(dump.view);
            assert_int_equal(account->nodes, folded.node_count);
            assert_true(account->folded_nodes > 0 || folded.node_count == nodes + 1);
            if (most >= 40) /* the groups of roots, and at most seven classes below each of them */
                assert_true(folded.node_count <= most);
            compare(&whole, &folded, &dump);
            snapshot_deinit(&folded);
        }
        snapshot_deinit(&whole);
    }
}

/* ---- a view under some nodes ---- */

/* Returns the bytes of the nodes that are beside what a view is about. */
static uint64_t size_of_else(const struct snapshot *under)
{
    return class_size(under, "(everything else)");
}

/* Asserts that a view under some nodes has all that these dominate, and that nothing is lost.
 * Snapshots of whole graphs have the graph's numbers. */
static void compare_under(const struct snapshot *whole, const struct snapshot *under,
                          const struct dump *dump, const struct g2h_view_options *options)
{
    const struct g2h_view_account *account = g2h_view_account(dump->view);
    struct retained before, after;
    uint64_t below = 0, above = 1, shared = 0;
    find_retained(whole, &before);
    find_retained(under, &after);
    compare_dominators(dump, &after);
    compare_kept(whole, &before, under, &after);
    assert_int_equal(after.size[0] + account->left_out_bytes, before.size[0]);
    for (size_t j = 0; j < options->under_count; j++) {
        above |= before.dominated_by[options->under[j]];
        for (uint32_t i = 0; i < whole->node_count; i++)
            below |= (before.dominated_by[i] >> options->under[j] & 1) << i;
    }
    for (size_t j = 0; j < options->holder_count; j++)
        above |= before.dominated_by[options->holders[j]];
    uint64_t objects[3] = {0}, bytes[3] = {0};
    for (uint32_t i = 0; i < whole->node_count; i++) {
        const uint32_t new = by_id(under, whole->nodes[i].id),
                       synthetics = (uint32_t)whole->node_count - dump->heap->object_count;
        const bool is_object = i >= synthetics, is_below = (below >> i & 1) != 0,
                   is_above = (above >> i & 1) != 0,
                   is_dead = is_object ? g2h_view_is_garbage(dump->view, i - synthetics)
                                       : strcmp(snapshot_name(whole, i), "(unreachable)") == 0;
        const unsigned which = is_below ? 0 : is_above ? 1 : 2;
        if (is_object && !is_dead) {
            objects[which]++;
            bytes[which] += whole->nodes[i].size;
            assert_int_equal(g2h_view_is_else(dump->view, i - synthetics), which == 2);
        }
        if (which != 2 && options->max_nodes == 0 && !(is_dead && options->reachable))
            assert_true(new != UINT32_MAX && !is_folded(under, new));
        if (which == 2 && new != UINT32_MAX && !is_folded(under, new))
            assert_string_equal(snapshot_name(under, new), "(unreachable)");
        for (uint32_t e = 0; is_below && e < whole->nodes[i].edge_count; e++) {
            const struct snapshot_edge *edge = &whole->edges[whole->nodes[i].first_edge + e];
            if (edge->type != S_WEAK && edge->type != S_SHORTCUT && edge->target >= synthetics &&
                ((below | above) >> edge->target & 1) == 0 &&
                !g2h_view_is_garbage(dump->view, edge->target - synthetics))
                shared |= (uint64_t)1 << edge->target;
        }
    }
    const uint64_t found[] = {account->under_objects, account->holder_objects,
                              account->else_objects},
                   found_bytes[] = {account->under_bytes, account->holder_bytes,
                                    account->else_bytes};
    uint64_t shared_bytes = 0;
    for (uint32_t i = 0; i < whole->node_count; i++)
        shared_bytes += (before.dominated_by[i] & shared) != 0 ? whole->nodes[i].size : 0;
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(found[i], objects[i]);
        assert_int_equal(found_bytes[i], bytes[i]);
    }
    assert_int_equal(account->shared_objects, __builtin_popcountll(shared));
    assert_int_equal(account->shared_bytes, shared_bytes);
    assert_true(account->is_under && size_of_else(under) >= account->else_bytes);
}

/* One or two objects at random, with or without the path to another one, garbage and folding. */
TEST(under)
{
    for (unsigned round = 0; round < 600; round += unit_step()) {
        DUMP dump;
        SNAPSHOT whole, part;
        size_t size;
        const unsigned count = 4 + round % 40;
        put_random(&dump, count, 1 + round / 40 % 4, round % 5);
        snapshot_of(&whole, &dump, 1);
        const uint32_t first = (uint32_t)whole.node_count - count,
                       nodes[] = {first + (uint32_t)(unit_random(&state) % count),
                                  first + (uint32_t)(unit_random(&state) % count),
                                  first + (uint32_t)(unit_random(&state) % count)};
        const struct g2h_view_options options = {.reachable = round % 3 == 0,
                                                 .max_nodes = round % 4 == 0 ? 10 : 0,
                                                 .under = nodes,
                                                 .under_count = 1 + round % 2,
                                                 .holders = nodes + 2,
                                                 .holder_count = round / 2 % 2,
                                                 .under_name = "main.x"};
        dump_view(&dump, 1 + round % 2, &options);
        assert_string_equal(g2h_view_under(dump.view), "main.x");
        snapshot_parse(&part, view_snapshot(dump.view, 1, false, &size));
        compare_under(&whole, &part, &dump, &options);
    }
}

/* Leaving out garbage leaves the rest as it was, also if the rest is folded afterwards. */
TEST(reachable)
{
    for (unsigned round = 0; round < 200; round += unit_step()) {
        DUMP dump;
        struct snapshot whole, left, folded;
        struct retained before, after;
        put_random(&dump, 4 + round % 40, 1 + round / 40 % 4, 1 + round % 2);
        snapshot_of(&whole, &dump, 1);
        fold(&left, &dump, 0, true, 2);
        const struct g2h_view_account *account = g2h_view_account(dump.view);
        assert_false(snapshot_has(&left, "(unreachable)"));
        assert_int_equal(left.node_count, account->nodes);
        assert_int_equal(left.node_count + account->left_out_objects +
                             snapshot_has(&whole, "(unreachable)"),
                         whole.node_count);
        find_retained(&whole, &before);
        find_retained(&left, &after);
        assert_int_equal(after.size[0] + account->left_out_bytes, before.size[0]);
        for (uint32_t i = 1; i < left.node_count; i++) {
            const uint32_t old = by_id(&whole, left.nodes[i].id);
            assert_true(old != UINT32_MAX);
            assert_int_equal(after.size[i], before.size[old]);
        }
        for (uint64_t most = 5; most < left.node_count; most += 4) {
            fold(&folded, &dump, most, true, 1);
            compare(&left, &folded, &dump);
            snapshot_deinit(&folded);
        }
        snapshot_deinit(&left);
        snapshot_deinit(&whole);
    }
}

/* ---- shapes ---- */

/*
 * bss → 0 → 1, 2 and 4, all of which → 3: object 0 dominates object 3, which 1, 2 and 4 hold
 * together. They are folded and 3 is kept: 0 gets an edge to 3, since the folded node must not
 * dominate it.
 */
TEST(held_by_folded_ones)
{
    DUMP dump;
    SNAPSHOT folded;
    dump_start_modern(&dump, "go1.19.8");
    dump_object(&dump, AT(0), 64, WORDS(AT(1), AT(2), AT(4)));
    dump_object(&dump, AT(1), 32, WORDS(AT(3)));
    dump_object(&dump, AT(2), 32, WORDS(AT(3)));
    dump_object(&dump, AT(3), 64, NO_WORDS);
    dump_object(&dump, AT(4), 32, WORDS(AT(3)));
    dump_bss(&dump, 0x560000, WORDS(AT(0)));
    dump_eof(&dump);
    fold(&folded, &dump, 8, false, 1);
    const uint32_t head = g2h_view_object(dump.view, 0), held = g2h_view_object(dump.view, 3),
                   last = 7;
    assert_int_equal(folded.node_count, 8);
    assert_true(is_folded(&folded, last));
    assert_string_equal(snapshot_name(&folded, last), "ptr32");
    assert_int_equal(folded.nodes[last].size, 96);
    const struct snapshot_edge *edge = snapshot_edge(&folded, head, last);
    assert_non_null(edge);
    assert_string_equal(snapshot_edge_name(&folded, edge), "f0");
    edge = snapshot_edge(&folded, last, held);
    assert_non_null(edge);
    assert_string_equal(snapshot_edge_name(&folded, edge), "f0");
    edge = snapshot_edge(&folded, head, held);
    assert_non_null(edge);
    assert_int_equal(edge->type, S_INTERNAL);
    assert_string_equal(snapshot_edge_name(&folded, edge), "(folded)");
    edge = snapshot_edge(&folded, last, snapshot_find(&folded, "(folded)"));
    assert_non_null(edge);
    assert_int_equal(edge->type, S_WEAK);
    assert_string_equal(snapshot_edge_name(&folded, edge), "×3");
}

/* Of objects that retain the same the first ones are kept, in whatever order a search meets them:
 * the roots hold the last one first. */
TEST(equals)
{
    enum { COUNT = 20 };
    DUMP dump;
    SNAPSHOT folded;
    uint64_t holders[COUNT];
    unsigned kept = 0;
    dump_start_modern(&dump, "go1.19.8");
    for (unsigned i = 0; i < COUNT; i++) {
        holders[i] = AT(COUNT - 1 - i);
        dump_object(&dump, AT(i), 64, WORDS(AT(COUNT + i)));
    }
    for (unsigned i = 0; i < COUNT; i++)
        dump_object(&dump, AT(COUNT + i), 32, NO_WORDS);
    dump_bss(&dump, 0x560000, COUNT, holders);
    dump_eof(&dump);
    fold(&folded, &dump, 16, false, 1);
    while (kept < COUNT && !is_folded(&folded, g2h_view_object(dump.view, kept)))
        kept++;
    assert_in_range(kept, 1, COUNT - 1);
    for (unsigned i = kept; i < COUNT; i++)
        assert_true(is_folded(&folded, g2h_view_object(dump.view, i)));
}

/* Many goroutines with frames: goroutines and frames fold as well, though later than objects. */
TEST(goroutines)
{
    enum { COUNT = 300 };
    DUMP dump;
    struct snapshot folded;
    dump_start_modern(&dump, "go1.19.8");
    for (unsigned i = 0; i < COUNT; i++)
        dump_object(&dump, AT(i), 64, NO_WORDS);
    for (unsigned i = 0; i < COUNT; i++) {
        dump_goroutine(&dump, i + 1, AT(4096 + i), 0xc010000000 + 64 * i);
        dump_frame(&dump, "main.f", 0xc010000000 + 64 * i, 0, WORDS(AT(i)), 1);
    }
    dump_eof(&dump);
    fold(&folded, &dump, 20, false, 2);
    assert_true(folded.node_count <= 20);
    assert_int_equal(class_size(&folded, "noptr64"), COUNT * 64);
    assert_int_equal(g2h_view_account(dump.view)->folded_objects, COUNT - 4);
    assert_true(snapshot_has(
        &folded, "×296 (folded)")); /* all goroutines but four, and the frames of these */
    assert_false(snapshot_has(&folded, "×1 (folded)"));
    snapshot_deinit(&folded);
    fold(&folded, &dump, 700, false, 2);
    assert_true(folded.node_count <= 700);
    assert_int_equal(class_size(&folded, "noptr64"), COUNT * 64);
    snapshot_deinit(&folded);
}

/* A size that is too large for a cell is continued in a second node. */
TEST(more_than_4_gib)
{
    DUMP dump;
    SNAPSHOT folded;
    uint64_t words[3], size = 0;
    dump_start_modern(&dump, "go1.19.8");
    dump.heap_end = BASE + ((uint64_t)16 << 30);
    for (unsigned i = 0; i < 3; i++) {
        words[i] = BASE + ((uint64_t)i << 31);
        dump_object(&dump, words[i], 64, NO_WORDS);
    }
    dump_bss(&dump, 0x560000, 3, words);
    dump_eof(&dump);
    struct g2h_heap *heap = dump_load(&dump, 1);
    for (unsigned i = 0; i < 3; i++) /* makes them that large: contents are not needed */
        heap->slot_classes.list.data[heap_slot_class_number(heap, i)].size = (uint64_t)1 << 31;
    const struct g2h_view_options options = {.max_nodes = 7};
    size_t text_size;
    assert_no_error(g2h_graph_build(heap, NULL, &dump.graph));
    dump_view_again(&dump, &options);
    snapshot_parse(&folded, view_snapshot(dump.view, 1, false, &text_size));
    for (uint32_t i = 0; i < folded.node_count; i++)
        size += folded.nodes[i].size;
    assert_int_equal(size, (uint64_t)3 << 31);
    /* Findings keep such a size, too. */
    struct g2h_findings *findings;
    size_t classes;
    assert_no_error(g2h_findings_create(dump.view, NULL, &findings));
    assert_no_error(g2h_findings_classes(findings, &classes));
    assert_int_equal(classes, 1);
    assert_int_equal(g2h_findings_class(findings, 0)->bytes, (uint64_t)3 << 31);
    g2h_findings_destroy(findings);
}

UNIT_MAIN(NULL, NULL)
