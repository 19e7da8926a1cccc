/*
 * Covers what view.h promises, by the results: nodes, edges and accounts agree, in any order and
 * whatever is left out or folded; dominators match their definition. Uses views of random heaps,
 * and of a sample with its types.
 */
#include "dump_builder.h"

#include "../conversion.h"
#include "base/text.h"
#include "graph/graph.h"
#include "naming/namer.h"

#define BASE  0xc000000000
#define STACK 0xc030000000
#define AT(i) (BASE + (uint64_t)(i)*64)

enum { MOST = 256 /* most nodes for which dominators are compared with their definition */ };

static uint64_t state;

static uint32_t below(uint64_t limit)
{
    return (uint32_t)(unit_random(&state) % limit);
}

/* ---- all that a view gives ---- */

struct seen {
    const struct g2h_view *view;
    const struct g2h_view_account *account;
    uint32_t count;
    struct g2h_node *nodes;
    struct g2h_edge *edges; /* in the order of their sources */
    uint64_t edge_count;
    uint64_t *first; /* index of each node's first edge; one entry more */
};

static void *allocate(size_t count, size_t size)
{
    void *all = calloc(count + 1, size);
    assert_non_null(all);
    return all;
}

static struct g2h_edges *create_edges(const struct g2h_view *view)
{
    struct g2h_edges *edges;
    assert_no_error(g2h_edges_create(view, &edges));
    return edges;
}

/* Reads the edges of all nodes at once: expects as many for each node as the node says, and as many
 * in all as the account says. */
static void see_edges(struct seen *seen)
{
    struct g2h_edges *edges = create_edges(seen->view);
    struct g2h_edge edge;
    uint32_t source = 0;
    seen->edges = allocate(seen->account->edges, sizeof(*seen->edges));
    seen->first = allocate(seen->count + (size_t)1, sizeof(*seen->first));
    g2h_edges_begin(edges, 0, seen->count);
    while (g2h_edges_next(edges, &edge)) {
        assert_true(edge.source >= source && edge.source < seen->count);
        while (source < edge.source)
            seen->first[++source] = seen->edge_count;
        assert_true(seen->edge_count < seen->account->edges);
        seen->edges[seen->edge_count++] = edge;
    }
    assert_false(g2h_edges_next(edges, &edge));
    while (source < seen->count)
        seen->first[++source] = seen->edge_count;
    assert_int_equal(seen->edge_count, seen->account->edges);
    for (uint32_t i = 0; i < seen->count; i++)
        if (seen->first[i + 1] - seen->first[i] != seen->nodes[i].edges)
            fail_msg("node %u says that it has %u edges, and has %u", i, seen->nodes[i].edges,
                     (unsigned)(seen->first[i + 1] - seen->first[i]));
    g2h_edges_destroy(edges);
}

static struct seen see(const struct g2h_view *view)
{
    struct seen seen = {.view = view, .account = g2h_view_account(view)};
    seen.count = g2h_view_node_count(view);
    seen.nodes = allocate(seen.count, sizeof(*seen.nodes));
    assert_int_equal(g2h_view_nodes(view, 0, seen.count + (size_t)7, seen.nodes), seen.count);
    see_edges(&seen);
    return seen;
}

static void forget(struct seen *seen)
{
    free(seen->nodes);
    free(seen->edges);
    free(seen->first);
}

static bool is_object(const struct g2h_node *node)
{
    return node->kind == G2H_NODE_OBJECT || node->kind == G2H_NODE_TEXT;
}

/* ---- nodes ---- */

static void expect_same_node(const struct g2h_node *one, const struct g2h_node *other)
{
    assert_true(one->kind == other->kind && one->name == other->name &&
                one->object == other->object && one->members == other->members &&
                one->address == other->address && one->size == other->size &&
                one->key == other->key && one->edges == other->edges && one->whole == other->whole);
}

/* Nodes are the same when they are read in any order and in any number. */
static void check_ranges_of_nodes(const struct seen *seen)
{
    enum { MANY = 70 };
    struct g2h_node nodes[MANY];
    for (uint32_t i = 0; i < 300; i++) {
        const uint32_t first = below(seen->count), count = 1 + below(MANY),
                       left = seen->count - first, expected = left < count ? left : count;
        assert_int_equal(g2h_view_nodes(seen->view, first, count, nodes), expected);
        for (uint32_t j = 0; j < expected; j++)
            expect_same_node(&nodes[j], &seen->nodes[first + j]);
        g2h_view_node(seen->view, first, &nodes[0]);
        expect_same_node(&nodes[0], &seen->nodes[first]);
        g2h_view_prefetch(seen->view, first + count, (enum g2h_soon)(i % 3));
    }
    assert_int_equal(g2h_view_nodes(seen->view, seen->count, 1, nodes), 0);
    assert_int_equal(g2h_view_nodes(seen->view, UINT32_MAX, MANY, nodes), 0);
    assert_int_equal(g2h_view_nodes(seen->view, 0, 0, nodes), 0);
    g2h_view_prefetch(seen->view, UINT32_MAX, G2H_SOON_KEYS);
}

/* Synthetic nodes that are not folded come first, then objects by their addresses, then folded
 * nodes; there are as many of each kind as the account says, and no byte is lost. */
static void check_nodes(const struct seen *seen)
{
    const struct g2h_view_account *account = seen->account;
    const struct g2h_heap *heap = g2h_view_heap(seen->view);
    uint64_t synthetics = 0, texts = 0, folded = 0, folded_objects = 0, objects = 0, bytes = 0,
             heap_bytes = 0, stack_bytes = 0, before = 0;
    assert_int_equal(account->nodes, seen->count);
    assert_int_equal(seen->nodes[0].kind, G2H_NODE_ROOT);
    for (uint32_t i = 0; i < seen->count; i++) {
        const struct g2h_node *node = &seen->nodes[i];
        const bool is_folded = node->members > 0;
        if (i < account->first_object)
            assert_true(!is_folded && !is_object(node));
        else if (i < seen->count - account->folded_nodes)
            assert_true(!is_folded && is_object(node));
        else
            assert_true(is_folded);
        if (is_object(node) && !is_folded) {
            assert_true(node->address > before);
            assert_int_equal(node->address, g2h_heap_address(heap, node->object));
            before = node->address;
            objects++;
        } else {
            assert_int_equal(node->object, UINT32_MAX);
            assert_int_equal(node->address, 0);
        }
        assert_true((node->size > 0) == (is_object(node) || node->kind == G2H_NODE_STACK));
        if (node->kind == G2H_NODE_STACK)
            stack_bytes += node->size;
        synthetics += !is_object(node);
        texts += node->kind == G2H_NODE_TEXT && !is_folded;
        folded += is_folded;
        folded_objects += is_object(node) ? node->members : 0;
        bytes += node->size;
        assert_true(node->size <= account->largest_node);
    }
    for (uint32_t i = 0; i < g2h_heap_object_count(heap); i++)
        heap_bytes += g2h_heap_object(heap, i).size;
    assert_int_equal(account->synthetic_nodes, synthetics);
    assert_int_equal(account->texts, texts);
    assert_int_equal(account->folded_nodes, folded);
    assert_int_equal(account->folded_objects, folded_objects);
    assert_int_equal(objects + folded_objects + account->left_out_objects,
                     g2h_heap_object_count(heap));
    assert_int_equal(bytes + account->left_out_bytes, heap_bytes + stack_bytes);
    assert_int_equal(account->stack_bytes, stack_bytes);
}

/* Each object that is not left out is one node, or a member of one folded node. */
static void check_objects(const struct seen *seen)
{
    const uint32_t objects = g2h_heap_object_count(g2h_view_heap(seen->view));
    uint8_t *found = allocate(objects, 1);
    uint64_t left_out = 0;
    for (uint32_t i = 0; i < seen->count; i++) {
        const struct g2h_node *node = &seen->nodes[i];
        uint64_t size = 0;
        if (node->object != UINT32_MAX) {
            found[node->object]++;
            assert_int_equal(g2h_view_object(seen->view, node->object), i);
        }
        for (uint32_t j = 0; j < node->members; j++) {
            struct g2h_node member;
            g2h_view_member(seen->view, i, j, &member);
            assert_int_equal(member.members, 0);
            assert_int_equal(member.edges, 0);
            size += member.size;
            if (node->kind == G2H_NODE_FOLDED_SYNTHETICS) {
                assert_false(is_object(&member));
                assert_true(member.kind >= G2H_NODE_GOROUTINE);
                continue;
            }
            assert_int_equal(member.kind, node->kind);
            if (member.kind != G2H_NODE_TEXT) /* all members are of one class */
                assert_int_equal(member.name, node->name);
            if (member.kind == G2H_NODE_STACK)
                continue;
            found[member.object]++;
            assert_int_equal(g2h_view_object(seen->view, member.object), i);
        }
        if (node->members > 0)
            assert_int_equal(size, node->size);
    }
    for (uint32_t i = 0; i < objects; i++) {
        const bool is_left_out = g2h_view_object(seen->view, i) == UINT32_MAX;
        assert_int_equal(found[i], is_left_out ? 0 : 1);
        left_out += is_left_out;
    }
    assert_int_equal(left_out, seen->account->left_out_objects);
    free(found);
}

/* ---- edges ---- */

static bool has_flag(const struct g2h_edge *edge, uint32_t flag)
{
    return (edge->flags & flag) != 0;
}

static void expect_same_edge(const struct g2h_edge *one, const struct g2h_edge *other)
{
    assert_true(one->source == other->source && one->target == other->target &&
                one->flags == other->flags && one->name == other->name &&
                one->offset == other->offset);
    if (has_flag(one, G2H_EDGE_BY_INDEX))
        assert_int_equal(one->index, other->index);
}

/* Expects the edges of the nodes [first, end), or only the first most ones of them. */
static void expect_edges(const struct seen *seen, struct g2h_edges *edges, uint32_t first,
                         uint32_t end, uint64_t most)
{
    struct g2h_edge edge;
    g2h_edges_begin(edges, first, end);
    const uint64_t begin = seen->first[first],
                   last = seen->first[end < seen->count ? end : seen->count];
    for (uint64_t i = begin; i < last && i - begin < most; i++) {
        assert_true(g2h_edges_next(edges, &edge));
        expect_same_edge(&edge, &seen->edges[i]);
    }
    if (last - begin > most)
        return;
    assert_false(g2h_edges_next(edges, &edge));
    assert_false(g2h_edges_next(edges, &edge));
}

/* Expects the same edges when they are read many at a time; the number wanted changes from time to
 * time. */
static void expect_many_edges(const struct seen *seen, struct g2h_edges *edges, uint32_t first,
                              uint32_t end)
{
    enum { MANY = 100 };
    struct g2h_edge some[MANY];
    uint64_t at = seen->first[first];
    const uint64_t last = seen->first[end < seen->count ? end : seen->count];
    g2h_edges_begin(edges, first, end);
    for (size_t count = 1, most; count > 0; at += count) {
        most = 1 + below(below(2) ? 4 : MANY);
        count = g2h_edges_read(edges, some, most);
        assert_true(count <= most && count <= last - at);
        for (size_t i = 0; i < count; i++)
            expect_same_edge(&some[i], &seen->edges[at + i]);
        if (count > 0 && below(4) == 0 && at + count < last) { /* sometimes reads a single edge */
            assert_true(g2h_edges_next(edges, &some[0]));
            expect_same_edge(&some[0], &seen->edges[at++ + count]);
        }
    }
    assert_int_equal(at, last);
}

/* A node's edges are the same in any order, when they are read again, and after a reading that
 * stopped early. */
static void check_ranges_of_edges(const struct seen *seen)
{
    struct g2h_edges *edges = create_edges(seen->view), *other = create_edges(seen->view);
    for (uint32_t i = 0; i < seen->count; i++)
        expect_edges(seen, edges, i, i + 1, UINT64_MAX);
    for (uint32_t i = seen->count < 2000 ? seen->count : 2000; i-- > 0;)
        expect_edges(seen, edges, i, i + 1, UINT64_MAX);
    for (uint32_t i = 0; i < 300; i++) {
        const uint32_t first = below(seen->count),
                       end = below(20) == 0 ? UINT32_MAX : first + below(40);
        expect_edges(seen, edges, first, end, below(2) ? UINT64_MAX : below(30));
        expect_edges(seen, edges, first, end, below(2) ? UINT64_MAX : below(30));
        expect_edges(seen, other, first, first + 1, UINT64_MAX); /* readings are independent */
        expect_many_edges(seen, edges, first, end);
    }
    expect_many_edges(seen, edges, 0, seen->count);
    g2h_edges_destroy(edges);
    g2h_edges_destroy(other);
}

/* Expects an edge that was read without its name, if it is a pointer in an object. */
static void expect_target(const struct g2h_edge *one, const struct g2h_edge *other)
{
    enum { HOLDS = G2H_EDGE_WEAK | G2H_EDGE_FOREIGN | G2H_EDGE_REPEATED };
    if (other->offset == UINT64_MAX) {
        expect_same_edge(one, other);
        return;
    }
    assert_true(one->source == other->source && one->target == other->target &&
                one->flags == (other->flags & HOLDS) && one->name == G2H_NAME_NONE &&
                one->index == 0 && one->offset == UINT64_MAX);
}

/* Expects the edges of the nodes [first, end) without names, now one, now many at a time; the last
 * reading may stop early. */
static void expect_targets(const struct seen *seen, struct g2h_edges *edges, uint32_t first,
                           uint32_t end, uint64_t most)
{
    enum { MANY = 70 };
    struct g2h_edge some[MANY];
    uint64_t at = seen->first[first];
    const uint64_t last = seen->first[end < seen->count ? end : seen->count],
                   stop = last - at < most ? last : at + most;
    g2h_edges_begin_targets(edges, first, end);
    while (at < stop) {
        size_t count = 1;
        if (below(2) == 0)
            assert_true(g2h_edges_next(edges, &some[0]));
        else
            count = g2h_edges_read(edges, some, 1 + below(below(2) ? 4 : MANY));
        assert_true(count > 0 && count <= last - at);
        for (size_t i = 0; i < count; i++)
            expect_target(&some[i], &seen->edges[at++]);
    }
    if (at == last) {
        assert_false(g2h_edges_next(edges, &some[0]));
        assert_int_equal(g2h_edges_read(edges, some, MANY), 0);
    }
}

/* Edges without names are the same edges, in the same order, also if readings with and without
 * names of one iterator follow each other. */
static void check_targets(const struct seen *seen)
{
    struct g2h_edges *edges = create_edges(seen->view);
    expect_targets(seen, edges, 0, seen->count, UINT64_MAX);
    for (uint32_t i = 0; i < seen->count; i++)
        expect_targets(seen, edges, i, i + 1, UINT64_MAX);
    for (uint32_t i = 0; i < 300; i++) {
        const uint32_t first = below(seen->count),
                       end = below(20) == 0 ? UINT32_MAX : first + below(40);
        expect_targets(seen, edges, first, end, below(2) ? UINT64_MAX : below(30));
        expect_targets(seen, edges, first, end, below(2) ? UINT64_MAX : below(30));
        expect_edges(seen, edges, first, end, below(2) ? UINT64_MAX : below(30));
    }
    g2h_edges_destroy(edges);
}

/* Two readings that take turns do not disturb each other. */
static void check_two_at_once(const struct seen *seen)
{
    struct g2h_edges *edges[2] = {create_edges(seen->view), create_edges(seen->view)};
    struct g2h_edge edge;
    uint64_t at[2] = {0, seen->first[seen->count / 2]};
    g2h_edges_begin(edges[0], 0, seen->count);
    g2h_edges_begin(edges[1], seen->count / 2, seen->count);
    while (at[0] < seen->edge_count || at[1] < seen->edge_count) {
        const unsigned turn = below(2);
        if (at[turn] == seen->edge_count)
            continue;
        assert_true(g2h_edges_next(edges[turn], &edge));
        expect_same_edge(&edge, &seen->edges[at[turn]++]);
    }
    g2h_edges_destroy(edges[0]);
    g2h_edges_destroy(edges[1]);
}

/* With g2h_edges_repeat(), an edge is there also if it leads to a folded node that an earlier edge
 * of its source leads to; the other edges are the same. */
static void check_repeated(const struct seen *seen)
{
    struct g2h_edges *edges = create_edges(seen->view);
    struct g2h_edge edge;
    uint64_t at = 0;
    g2h_edges_repeat(edges, true);
    g2h_edges_begin(edges, 0, seen->count);
    while (g2h_edges_next(edges, &edge)) {
        if (!has_flag(&edge, G2H_EDGE_REPEATED)) {
            assert_true(at < seen->edge_count);
            expect_same_edge(&edge, &seen->edges[at++]);
            continue;
        }
        bool found = false;
        assert_int_equal(seen->nodes[edge.source].members, 0);
        for (uint64_t i = seen->first[edge.source]; i < at; i++)
            found = found || seen->edges[i].target == edge.target;
        assert_true(found && seen->nodes[edge.target].members > 0);
    }
    assert_int_equal(at, seen->edge_count);
    g2h_edges_repeat(edges, false);
    expect_edges(seen, edges, 0, seen->count, UINT64_MAX);
    g2h_edges_destroy(edges);
}

static uint64_t word_at(const struct g2h_heap *heap, const uint8_t *at)
{
    const struct g2h_params *params = g2h_heap_params(heap);
    uint64_t word = 0;
    for (unsigned i = 0; i < params->pointer_size; i++)
        word |= (uint64_t)at[i] << 8 * (params->big_endian ? (unsigned)params->pointer_size - 1 - i
                                                           : i);
    return word;
}

/* A pointer leads to the node of the object that the word at its offset points to. */
static void check_pointers(const struct seen *seen)
{
    const struct g2h_heap *heap = g2h_view_heap(seen->view);
    for (uint32_t i = 0; i < seen->count; i++) {
        uint64_t before = 0;
        for (uint64_t j = seen->first[i]; j < seen->first[i + 1]; j++) {
            const struct g2h_edge *edge = &seen->edges[j];
            uint32_t object;
            assert_true(edge->target < seen->count);
            assert_false(has_flag(edge, G2H_EDGE_REPEATED));
            if (edge->offset == UINT64_MAX) {
                assert_false(has_flag(edge, G2H_EDGE_OF_KEY | G2H_EDGE_OF_ELEM));
                before = UINT64_MAX; /* edges without an offset come last */
                continue;
            }
            assert_true(is_object(&seen->nodes[i]));
            if (seen->nodes[i].members > 0)
                continue;
            assert_true(edge->offset >= before);
            before = edge->offset + 1;
            const struct g2h_object source = g2h_heap_object(heap, seen->nodes[i].object);
            assert_true(edge->offset < source.contents.size);
            assert_true(
                g2h_heap_find(heap, word_at(heap, source.contents.data + edge->offset), &object));
            assert_int_equal(g2h_view_object(seen->view, object), edge->target);
        }
    }
}

/* ---- names ---- */

static void check_text(const char *text, size_t size, size_t most)
{
    size_t characters = 0;
    for (size_t at = 0; at < size; characters++) {
        uint32_t character;
        const size_t length = utf8_read((const uint8_t *)text + at, size - at, &character);
        if (length == 0)
            fail_msg("%.*s is no UTF-8", (int)size, text);
        at += length;
    }
    assert_true(characters <= most);
}

/* Each name is there once and is UTF-8; nodes and edges have names that are meant for them. */
static void check_names(const struct seen *seen)
{
    enum { NAME_LIMIT = 1024 };
    const uint32_t count = g2h_view_name_count(seen->view);
    uint32_t number;
    size_t size;
    for (uint32_t i = 0; i < count; i++) {
        const char *name = g2h_view_name(seen->view, i, &size);
        check_text(name, size, NAME_LIMIT);
        assert_true(g2h_view_find_name(seen->view, name, size, &number));
        assert_int_equal(number, i);
        assert_true((g2h_view_name_uses(seen->view, i) & (G2H_NAME_OF_NODE | G2H_NAME_OF_EDGE)) !=
                    0);
    }
    assert_false(g2h_view_find_name(seen->view, "no one is called so", 19, &number));
    g2h_view_name(seen->view, G2H_NAME_NONE, &size);
    assert_int_equal(size, 0);
    for (uint32_t i = 0; i < seen->count; i++) {
        const struct g2h_node *node = &seen->nodes[i];
        if (node->kind == G2H_NODE_TEXT && node->members == 0) {
            assert_int_equal(node->name, G2H_NAME_NONE);
            continue;
        }
        assert_true(node->name < count);
        assert_true((g2h_view_name_uses(seen->view, node->name) & G2H_NAME_OF_NODE) != 0);
    }
    for (uint64_t i = 0; i < seen->edge_count; i++) {
        const struct g2h_edge *edge = &seen->edges[i];
        if (has_flag(edge, G2H_EDGE_BY_INDEX) && !has_flag(edge, G2H_EDGE_WEAK)) {
            assert_int_equal(edge->name, G2H_NAME_NONE);
            continue;
        }
        assert_true(edge->name < count);
        assert_true((g2h_view_name_uses(seen->view, edge->name) & G2H_NAME_OF_EDGE) != 0);
        if (seen->nodes[edge->source].object != UINT32_MAX || seen->nodes[edge->source].members > 0)
            continue;
        const char *name = g2h_view_name(seen->view, edge->name, &size);
        assert_int_equal(has_flag(edge, G2H_EDGE_DOUBTFUL), size > 0 && name[size - 1] == '?');
    }
}

/* ---- dominators, weak edges, walks ---- */

/* Marks the nodes that are reached from the root without passing the node without: by edges that
 * hold, or by all that the collector follows. */
static void reach(const struct seen *seen, uint32_t without, bool all, bool *marks)
{
    uint32_t *stack = allocate(seen->count, sizeof(*stack));
    size_t depth = 0;
    memset(marks, 0, seen->count);
    if (without != 0) {
        marks[0] = true;
        stack[depth++] = 0;
    }
    while (depth > 0) {
        const uint32_t node = stack[--depth];
        for (uint64_t i = seen->first[node]; i < seen->first[node + 1]; i++) {
            const uint32_t target = seen->edges[i].target;
            if ((all ? g2h_edge_leads : g2h_edge_holds)(seen->edges[i].flags) &&
                target != without && !marks[target]) {
                marks[target] = true;
                stack[depth++] = target;
            }
        }
    }
    free(stack);
}

/* Each node has a number of its own, which is higher than its dominator's; all other numbers belong
 * to no node. */
static void check_order(const struct g2h_dominators *dominators, uint32_t nodes)
{
    const uint32_t numbers = g2h_dominators_numbers(dominators);
    uint32_t found = 0;
    assert_int_equal(g2h_dominators_number(dominators, 0), 0);
    for (uint32_t node = 0; node < nodes; node++) {
        const uint32_t number = g2h_dominators_number(dominators, node);
        assert_true(number < numbers);
        assert_int_equal(g2h_dominators_node(dominators, number), node);
        if (node == 0)
            continue;
        const uint32_t above = g2h_dominators_above(dominators, number);
        assert_true(above < number);
        assert_int_equal(g2h_dominators_node(dominators, above),
                         g2h_dominators_of(dominators, node));
    }
    for (uint32_t number = 0; number < numbers; number++)
        found += g2h_dominators_node(dominators, number) != UINT32_MAX;
    assert_int_equal(found, nodes);
}

/* Checks dominators by their definition, on the view's own edges: a node holds the nodes that
 * cannot be reached without it. */
static void check_dominators(const struct seen *seen)
{
    struct g2h_dominators *dominators;
    bool marks[MOST];
    if (seen->count > MOST)
        return;
    assert_no_error(g2h_view_dominators(seen->view, &dominators));
    check_order(dominators, seen->count);
    reach(seen, UINT32_MAX, false, marks);
    for (uint32_t i = 0; i < seen->count; i++)
        assert_true(marks[i]);
    assert_int_equal(g2h_dominators_of(dominators, 0), 0);
    for (uint32_t node = 0; node < seen->count; node++) {
        uint64_t size = 0;
        reach(seen, node, false, marks);
        for (uint32_t i = 0; i < seen->count; i++)
            size += marks[i] ? 0 : seen->nodes[i].size;
        assert_int_equal(g2h_dominators_retained_size(dominators, node), size);
        for (uint32_t i = 1; i < seen->count; i++) {
            uint32_t above = i;
            if (g2h_dominators_of(dominators, i) == node)
                assert_true(i != node && !marks[i]);
            if (marks[i] || i == node)
                continue;
            while (above != node && above != 0) /* each dominator of i is above it in the tree */
                above = g2h_dominators_of(dominators, above);
            assert_int_equal(above, node);
        }
    }
    g2h_dominators_destroy(dominators);
}

/* Objects that only (unreachable) leads to are garbage, and the weak pointers are those from
 * garbage to other objects, except between what belongs to different roots. */
static void check_weak(const struct seen *seen, const struct g2h_graph *graph)
{
    uint32_t group = UINT32_MAX;
    uint64_t garbage = 0, bytes = 0;
    bool *marks = allocate(seen->count, sizeof(*marks));
    for (uint32_t i = 0; i < seen->count; i++)
        if (seen->nodes[i].kind == G2H_NODE_UNREACHABLE)
            group = i;
    reach(seen, group, true, marks);
    for (uint32_t i = 0; i < seen->count; i++) {
        if (!is_object(&seen->nodes[i]))
            continue;
        garbage += !marks[i];
        bytes += marks[i] ? 0 : seen->nodes[i].size;
        for (uint64_t j = seen->first[i]; j < seen->first[i + 1]; j++)
            if (seen->edges[j].offset != UINT64_MAX && !has_flag(&seen->edges[j], G2H_EDGE_FOREIGN))
                assert_int_equal(has_flag(&seen->edges[j], G2H_EDGE_WEAK),
                                 !marks[i] && marks[seen->edges[j].target]);
    }
    assert_int_equal(g2h_graph_account(graph)->unreachable_objects, garbage);
    assert_int_equal(g2h_graph_account(graph)->unreachable_bytes, bytes);
    free(marks);
}

/* Expects an edge to be the pointer, as namer.h and namer.h have it. */
static void expect_pointer(const struct g2h_edge *edge, const struct g2h_graph *graph,
                           const struct walk_pointer *pointer)
{
    const struct edge_name *name = &pointer->name;
    const uint32_t of_entry = G2H_EDGE_OF_KEY | G2H_EDGE_OF_ELEM;
    assert_int_equal(edge->target, graph_synthetics(graph) + pointer->target);
    assert_int_equal(edge->offset, pointer->offset);
    assert_int_equal(has_flag(edge, G2H_EDGE_BY_INDEX), name->form == EDGE_NAME_INDEX);
    assert_int_equal(edge->flags & of_entry, !name->is_entry ? 0
                                             : name->is_key  ? G2H_EDGE_OF_KEY
                                                             : G2H_EDGE_OF_ELEM);
    if (name->form == EDGE_NAME_INDEX) {
        assert_int_equal(edge->index, name->value);
        return;
    }
    assert_int_equal(has_flag(edge, G2H_EDGE_INTERNAL), name->is_internal);
    assert_int_equal(edge->index, 0);
    assert_int_equal(edge->name, name->form == EDGE_NAME_STRING
                                     ? name->value
                                     : names_of_key(&graph->names, name->value));
}

/* Edges whose words have bits are read by a loop of their own, which must give the pointers that
 * the walk over an object gives. */
static void check_walks(const struct seen *seen, const struct g2h_graph *graph)
{
    for (uint32_t i = 0; i < seen->count; i++) {
        const struct g2h_edge *edge = &seen->edges[seen->first[i]],
                              *end = &seen->edges[seen->first[i + 1]];
        struct object_walk walk;
        struct walk_pointer pointer;
        if (!is_object(&seen->nodes[i]))
            continue;
        object_walk_begin(&walk, &graph->names, graph->targets, seen->nodes[i].object);
        while (object_walk_next(&walk, &pointer)) {
            assert_true(edge < end);
            expect_pointer(edge++, graph, &pointer);
        }
        for (; edge < end; edge++)
            assert_int_equal(edge->offset, UINT64_MAX);
    }
}

/* Expects a node of a view, folded or not, to be in the view of the whole graph as well. */
static void check_number(const struct g2h_view *whole, const struct g2h_node *node, uint8_t *found)
{
    struct g2h_node same;
    assert_in_range(node->whole, 0, g2h_view_node_count(whole) - 1);
    assert_int_equal(found[node->whole]++, 0);
    g2h_view_node(whole, node->whole, &same);
    assert_int_equal(same.whole, node->whole);
    assert_true(same.kind == node->kind && same.name == node->name && same.key == node->key &&
                same.object == node->object);
}

static void check_numbers(const struct g2h_view *view, const struct g2h_view *whole)
{
    uint8_t *found = allocate(g2h_view_node_count(whole), 1);
    for (uint32_t i = 0; i < g2h_view_node_count(view); i++) {
        struct g2h_node node, member;
        g2h_view_node(view, i, &node);
        if (node.members == 0 && node.kind != G2H_NODE_FOLDED)
            check_number(whole, &node, found);
        else
            assert_int_equal(node.whole, UINT32_MAX);
        for (uint32_t j = 0; j < node.members; j++) {
            g2h_view_member(view, i, j, &member);
            check_number(whole, &member, found);
        }
    }
    free(found);
}

/* Expects folding and leaving out garbage to leave the other nodes as they were: their names,
 * sizes, retained sizes and dominators. */
static void check_same_as_whole(const struct g2h_view *view, const struct g2h_view *whole)
{
    const struct g2h_heap *heap = g2h_view_heap(view);
    struct g2h_dominators *dominators, *before;
    assert_no_error(g2h_view_dominators(view, &dominators));
    assert_no_error(g2h_view_dominators(whole, &before));
    check_numbers(view, whole);
    for (uint32_t i = 0; i < g2h_heap_object_count(heap); i++) {
        const uint32_t number = g2h_view_object(view, i), old = g2h_view_object(whole, i);
        struct g2h_node node, was;
        if (number == UINT32_MAX)
            continue;
        g2h_view_node(view, number, &node);
        g2h_view_node(whole, old, &was);
        assert_int_equal(node.kind, was.kind);
        if (node.members > 0)
            continue;
        assert_int_equal(node.name, was.name);
        assert_int_equal(node.size, was.size);
        assert_int_equal(g2h_dominators_retained_size(dominators, number),
                         g2h_dominators_retained_size(before, old));
        g2h_view_node(whole, g2h_dominators_of(before, old), &was);
        g2h_view_node(view, g2h_dominators_of(dominators, number), &node);
        assert_int_equal(node.kind, was.kind);
        assert_int_equal(node.object, was.object);
        assert_int_equal(node.key, was.key);
    }
    g2h_dominators_destroy(dominators);
    g2h_dominators_destroy(before);
}

/* ---- texts and keys ---- */

/* A text is UTF-8, and tells nothing if it is redacted. */
static void check_texts(const struct seen *seen, bool redacted)
{
    enum { TEXT_LIMIT = 1024 };
    struct g2h_text text = {0};
    for (uint32_t i = 0; i < seen->count; i++) {
        size_t size;
        if (seen->nodes[i].kind != G2H_NODE_TEXT || seen->nodes[i].members > 0)
            continue;
        const char *data = g2h_view_text(seen->view, i, &text, &size);
        assert_false(text.failed);
        check_text(data, size, TEXT_LIMIT);
        if (redacted)
            assert_true(size > 6 && memcmp(data, "(<=", 3) == 0);
    }
    g2h_text_deinit(&text);
}

/* A key has the same name when it is asked for again, and only nodes that may have keys have any.
 * Returns the number of keys. */
static uint64_t check_keys(const struct seen *seen, bool redacted)
{
    struct g2h_edges *edges = create_edges(seen->view);
    struct g2h_edge edge;
    struct g2h_text again = {0};
    uint64_t count = 0;
    g2h_edges_begin(edges, 0, seen->count);
    while (g2h_edges_next(edges, &edge)) {
        struct g2h_key_name name;
        again.size = 0;
        const enum g2h_key key = g2h_edges_key(edges, &edge, &name);
        if (key == G2H_KEY_NONE)
            continue;
        count++;
        assert_true(has_flag(&edge, G2H_EDGE_OF_KEY) != has_flag(&edge, G2H_EDGE_OF_ELEM));
        assert_int_equal(g2h_view_next_keyed(seen->view, edge.source, edge.source + 1),
                         edge.source);
        if (key == G2H_KEY_INDEX) {
            assert_false(redacted);
            continue;
        }
        check_text(name.text, name.size, 1024);
        assert_true(name.size > 2 && name.text[0] == '[');
        if (redacted)
            assert_memory_equal(name.text, "[(<=", 4);
        g2h_view_prefetch_key(seen->view, name.again, G2H_SOON_NODE);
        g2h_view_prefetch_key(seen->view, name.again, G2H_SOON_KEYS);
        g2h_view_key(seen->view, name.again, &again);
        assert_int_equal(again.size, name.size);
        assert_memory_equal(again.data, name.text, name.size);
    }
    g2h_text_deinit(&again);
    g2h_edges_destroy(edges);
    return count;
}

/* ---- random heaps ---- */

/* Writes objects behind the first count, each a runtime.g with the bounds of its stack. */
static void put_gs(struct dump *dump, unsigned count, unsigned goroutines)
{
    for (unsigned i = 0; i < goroutines; i++)
        dump_object(dump, AT(count + i), 48,
                    WORDS(STACK + i * 4096, STACK + (i + 1 + below(2)) * 4096));
}

/* Writes goroutines, some of them in the same place; some have another object's address in place of
 * their runtime.g's. */
static void put_goroutines(struct dump *dump, unsigned count, unsigned goroutines)
{
    for (unsigned i = 0; i < goroutines; i++) {
        dump_goroutine(dump, i + 1, AT(below(3) ? count + i : below(count)), STACK + i * 4096);
        for (unsigned depth = below(2); depth < 2; depth++)
            dump_frame(dump, depth ? "main.main" : "main.f", STACK + i * 4096 + depth * 16, depth,
                       WORDS(AT(below(count)), below(3) ? AT(below(count)) : 0), 2);
    }
}

/* Writes where some objects were allocated: this makes edges of objects that are not pointers. */
static void put_sites(struct dump *dump, unsigned count)
{
    static const uint8_t frame[] = {6, 'm', 'a', 'i', 'n', '.', 'f', 4, 'm', '.', 'g', 'o', 7};
    for (uint64_t i = 1; i <= 2; i++) {
        const struct g2h_record site = {.kind = G2H_RECORD_MEMPROF,
                                        .memprof = {i, 32, 1, 1, 1, {frame, sizeof(frame)}}};
        dump_record(dump, &site, NULL, 0);
    }
    for (unsigned i = 0; i < count; i += 1 + below(6)) {
        const struct g2h_record sample = {.kind = G2H_RECORD_ALLOCSAMPLE,
                                          .allocsample = {AT(i), 1 + below(2)}};
        dump_record(dump, &sample, NULL, 0);
    }
}

/* Writes objects with pointers to near and far objects and to themselves, and roots of several
 * kinds. */
static void put_heap(struct dump *dump, unsigned count, unsigned pointers, unsigned roots)
{
    uint64_t held[4];
    const unsigned goroutines = roots / 2 * 4;
    dump_start_modern(dump, "go1.19.8");
    for (unsigned i = 0; i < count; i++) {
        uint64_t words[8];
        for (unsigned j = 0; j < pointers; j++) {
            const uint64_t near = (i + below(4)) % count, far = below(count);
            words[j] = below(8) == 0 ? 0 : AT(below(2) ? near : far) + below(2) * 8;
        }
        dump_object(dump, AT(i), 48 + 16 * below(2), below(6) ? pointers : 0, words);
    }
    put_gs(dump, count, goroutines);
    for (unsigned i = 0; i < 2; i++) { /* beside the other roots: what both hold is the root's */
        const struct g2h_record thread = {.kind = G2H_RECORD_OSTHREAD,
                                          .osthread = {AT(below(count)), i, i}};
        dump_record(dump, &thread, NULL, 0);
    }
    put_goroutines(dump, count, goroutines);
    if (roots > 2)
        dump_finalizer(dump, G2H_RECORD_FINALIZER, AT(below(count)), AT(below(count)));
    put_sites(dump, count);
    for (unsigned i = 0; i < roots; i++)
        held[i] = AT(below(count));
    dump_bss(dump, 0x560000, roots, held);
    dump_eof(dump);
}

/* Each stack belongs to a goroutine, and only that goroutine's node leads to it; the goroutines of
 * a place stand together. If something is folded, other nodes may lead to them. */
static void check_stacks(const struct seen *seen)
{
    for (uint64_t i = 0; i < seen->edge_count && seen->account->folded_nodes == 0; i++) {
        const struct g2h_edge *edge = &seen->edges[i];
        const struct g2h_node *from = &seen->nodes[edge->source], *to = &seen->nodes[edge->target];
        if (to->kind == G2H_NODE_STACK) {
            assert_int_equal(from->kind, G2H_NODE_GOROUTINE);
            assert_int_equal(from->key, to->key);
            assert_int_equal(edge->flags, G2H_EDGE_INTERNAL);
        }
        if (from->kind == G2H_NODE_GOROUTINES_IN_PLACE) {
            assert_int_equal(to->kind, G2H_NODE_GOROUTINE);
            assert_int_equal(edge->index, to->key);
        }
    }
}

static void check_view(const struct g2h_view *view)
{
    struct seen seen = see(view);
    check_stacks(&seen);
    check_ranges_of_nodes(&seen);
    check_nodes(&seen);
    check_objects(&seen);
    check_ranges_of_edges(&seen);
    check_targets(&seen);
    check_two_at_once(&seen);
    check_repeated(&seen);
    check_pointers(&seen);
    check_names(&seen);
    check_dominators(&seen);
    assert_false(g2h_view_is_typed(view));
    assert_int_equal(check_keys(&seen, false), 0);
    forget(&seen);
}

static void check_whole(const struct g2h_view *view, const struct g2h_graph *graph)
{
    struct seen seen = see(view);
    const struct g2h_view_account *account = seen.account;
    assert_int_equal(account->left_out_objects + account->left_out_bytes, 0);
    assert_int_equal(account->folded_objects + account->folded_nodes, 0);
    check_weak(&seen, graph);
    check_walks(&seen, graph);
    forget(&seen);
}

/* Checks views of one graph: the whole graph, without garbage, folded more or less, and both; the
 * whole view stays open meanwhile. */
static void check_graph(const struct g2h_graph *graph)
{
    struct g2h_view *whole, *view;
    assert_no_error(g2h_view_create(graph, NULL, &whole));
    check_view(whole);
    check_whole(whole, graph);
    for (uint32_t i = 0; i < 8; i++) {
        const struct g2h_view_options options = {
            .reachable = i % 2 == 1,
            .max_nodes = i < 2 ? 0 : 1 + below(g2h_view_node_count(whole) + 4)};
        assert_no_error(g2h_view_create(graph, &options, &view));
        if (options.max_nodes == 0)
            assert_int_equal(g2h_view_account(view)->folded_nodes, 0);
        if (options.reachable)
            assert_int_equal(g2h_view_account(view)->left_out_objects,
                             g2h_graph_account(graph)->unreachable_objects);
        else
            assert_int_equal(g2h_view_account(view)->left_out_objects, 0);
        check_view(view);
        check_same_as_whole(view, whole);
        g2h_view_destroy(view);
    }
    g2h_view_destroy(whole);
}

TEST(random_heaps)
{
    for (unsigned round = 0; round < 200; round += unit_step()) {
        DUMP dump;
        state = round * 0x9e3779b97f4a7c15u + 1;
        put_heap(&dump, 4 + round % 60, 1 + round / 5 % 4, round % 5);
        const struct conversion_options options = {.threads = 1 + round % 2,
                                                   .redact = round % 3 == 0};
        struct conversion conversion;
        assert_no_error(conversion_init(&conversion, dump_load(&dump, 1), &options));
        check_graph(conversion.graph);
        conversion_deinit(&conversion);
    }
}

/* A heap of more objects than one block of targets has, folded to few nodes, by several threads. */
TEST(large_heap)
{
    enum { COUNT = 70000 };
    DUMP dump;
    state = 4711;
    put_heap(&dump, COUNT, 2, 4);
    dump_graph(&dump, 2);
    for (unsigned i = 0; i < 4; i++) {
        const struct g2h_view_options options = {.reachable = i % 2 == 1,
                                                 .max_nodes = i < 2 ? 0 : 3000};
        check_view(dump_view_again(&dump, &options));
    }
}

/* Heaps without objects and roots, and with garbage only. */
TEST(empty_heaps)
{
    for (unsigned count = 0; count < 3; count++) {
        DUMP dump;
        state = 99;
        dump_start_modern(&dump, "go1.19.8");
        for (unsigned i = 0; i < count; i++)
            dump_object(&dump, AT(i), 64, WORDS(AT(count - 1 - i)));
        dump_eof(&dump);
        dump_graph(&dump, 1);
        check_graph(dump.graph);
    }
}

/* A dump does not say when it was written: goroutines have waited until the newest time in it. */
TEST(minutes_of_waiting)
{
    enum { RUNNABLE = 1, WAITING = 4 };
    static const struct {
        uint64_t since, status; /* since: seconds */
        uint32_t minutes;
    } cases[] = {{100, WAITING, 5}, {341, WAITING, 0}, {340, WAITING, 1},
                 {400, WAITING, 0}, {0, WAITING, 0},   {100, RUNNABLE, 0}};
    DUMP dump;
    dump_start_modern(&dump, "go1.22.1");
    for (unsigned i = 0; i < COUNT_OF(cases); i++) {
        const struct g2h_record record = {
            .kind = G2H_RECORD_GOROUTINE,
            .goroutine = {.address = AT(i),
                          .sp = STACK + 4096 * i,
                          .goid = i + 1,
                          .status = cases[i].status,
                          .wait_since = cases[i].since * UINT64_C(1000000000)}};
        dump_object(&dump, AT(i), 64, NO_WORDS);
        dump_record(&dump, &record, NULL, 0);
        dump_frame(&dump, "main.wait", STACK + 4096 * i, 0, WORDS(0), 1);
    }
    dump_eof(&dump);
    dump_view(&dump, 1, NULL);
    assert_int_equal(g2h_view_goroutine_count(dump.view), COUNT_OF(cases));
    for (unsigned i = 0; i < COUNT_OF(cases); i++) {
        struct g2h_view_goroutine goroutine;
        g2h_view_goroutine(dump.view, i, &goroutine);
        assert_int_equal(goroutine.minutes, cases[goroutine.record.goid - 1].minutes);
    }
}

/* Arrays of Go 1.3 have elements; a weak element has a name, because all weak edges of this kind
 * have the same one. */
TEST(weak_elements)
{
    const struct g2h_field first = {G2H_FIELD_POINTER, 0};
    DUMP dump;
    struct g2h_edge edge;
    dump_start(&dump, DUMP_1_3, 8, false);
    dump_type(&dump, 0x4a0000, 8, "*int", true, &first, 1);
    dump_typed_object(&dump, AT(0), 0x4a0000, G2H_OBJECT_ARRAY, 64, WORDS(0, AT(1), 0, AT(2)));
    dump_typed_object(&dump, AT(1), 0x4a0000, G2H_OBJECT_ARRAY, 64, WORDS(0, 0, AT(2)));
    dump_typed_object(&dump, AT(2), 0, 0, 64, NO_WORDS);
    const struct g2h_record root = {.kind = G2H_RECORD_OTHERROOT,
                                    .otherroot = {{(const uint8_t *)"root", 4}, AT(1)}};
    dump_record(&dump, &root, NULL, 0);
    dump_eof(&dump);
    const struct g2h_view *view = dump_view(&dump, 1, NULL);
    state = 7;
    check_graph(dump.graph);
    struct g2h_edges *edges = create_edges(view);
    const uint32_t node = g2h_view_object(view, 0);
    g2h_edges_begin(edges, node, node + 2);
    for (uint64_t i = 1; i <= 3; i += 2) {
        assert_true(g2h_edges_next(edges, &edge));
        assert_int_equal(edge.flags, G2H_EDGE_BY_INDEX | G2H_EDGE_WEAK);
        assert_int_equal(edge.index, i);
        assert_int_equal(edge.offset, 8 * i);
        assert_int_not_equal(edge.name, G2H_NAME_NONE);
    }
    assert_true(g2h_edges_next(edges, &edge)); /* this edge is of a live object */
    assert_true(edge.flags == G2H_EDGE_BY_INDEX && edge.index == 2);
    assert_int_equal(edge.name, G2H_NAME_NONE);
    assert_false(g2h_edges_next(edges, &edge));
    g2h_edges_destroy(edges);
}

/* ---- a sample, with its types ---- */

static uint64_t check_typed(const struct g2h_view *view, bool redacted)
{
    struct seen seen = see(view);
    assert_true(g2h_view_is_typed(view));
    check_ranges_of_nodes(&seen);
    check_nodes(&seen);
    check_objects(&seen);
    check_ranges_of_edges(&seen);
    check_targets(&seen);
    check_two_at_once(&seen);
    check_repeated(&seen);
    check_pointers(&seen);
    check_names(&seen);
    check_texts(&seen, redacted);
    const uint64_t keys = check_keys(&seen, redacted);
    assert_true(seen.account->texts > 0);
    forget(&seen);
    return keys;
}

TEST(typed_heap)
{
    struct g2h_input *input;
    struct g2h_heap *heap;
    struct g2h_exe *exe;
    assert_no_error(g2h_input_open("samples/leakserver.1.dump.gz", NULL, &input));
    assert_no_error(g2h_heap_load(input, NULL, &heap));
    assert_no_error(g2h_exe_open("samples/leakserver.exe.gz", &exe));
    assert_no_error(g2h_exe_match(exe, heap));
    for (unsigned redact = 0; redact < 2; redact++) {
        const struct conversion_options options = {.exe = exe, .threads = 2, .redact = redact};
        struct conversion conversion;
        assert_no_error(conversion_init(&conversion, heap, &options));
        state = 1 + redact;
        assert_true(check_typed(conversion.view, redact) > 100);
        check_whole(conversion.view, conversion.graph);
        for (unsigned i = 0; i < 3; i++) {
            const struct g2h_view_options others[] = {
                {.reachable = true}, {.max_nodes = 2000}, {.reachable = true, .max_nodes = 5000}};
            struct g2h_view *view;
            assert_no_error(g2h_view_create(conversion.graph, &others[i], &view));
            check_typed(view, redact);
            check_same_as_whole(view, conversion.view);
            g2h_view_destroy(view);
        }
        conversion_deinit(&conversion);
    }
    g2h_exe_close(exe);
    g2h_heap_destroy(heap);
    g2h_input_close(input);
}

UNIT_MAIN(NULL, NULL)
