/* Covers graph/children: on random edges, the order is that of V8's FillChildren, as a naive
 * version of its counting sort gives it. */
#include "unit.h"

#include "graph/graph.h"

/*
 * V8's HeapSnapshot::FillChildren (src/profiler/heap-snapshot-generator.cc): each entry's first
 * slot is the number of children of the entries before it, then each edge, in the order of
 * creation, goes to the next slot of its source.
 */
static void naive_fill(const struct edge *edges, size_t count, size_t nodes, struct edge *ret)
{
    size_t *next = calloc(nodes + 1, sizeof(*next));
    assert_non_null(next);
    for (size_t i = 0; i < count; i++)
        next[edges[i].source.index + 1]++;
    for (size_t i = 1; i <= nodes; i++)
        next[i] += next[i - 1];
    for (size_t i = 0; i < count; i++)
        ret[next[edges[i].source.index]++] = edges[i];
    free(next);
}

/* Checks random edges of synthetic nodes and of objects; an edge's name is its number in the order
 * of arrival. */
static void check(size_t synthetics, size_t objects, size_t count, uint64_t seed)
{
    struct g2h_graph graph = {0};
    struct edge *of_synthetics = malloc((count + 1) * sizeof(*of_synthetics));
    struct edge *of_objects = malloc((count + 1) * sizeof(*of_objects));
    struct edge *expected = malloc((count + 1) * sizeof(*expected));
    size_t synthetic_count = 0, object_count = 0;
    uint64_t random = seed | 1;
    assert_true(of_synthetics && of_objects && expected);
    for (size_t i = 0; i < synthetics; i++)
        assert_true(vector_push(&graph.roots.nodes, ((struct synthetic){.key = i})));
    for (size_t i = 0; i < count; i++) {
        struct edge edge = {.name = (uint32_t)i, .type = EDGE_PROPERTY};
        bool of_object = synthetics == 0 || (objects > 0 && unit_random(&random) % 3 == 0);
        /* squared, so that some nodes have many children and some none */
        uint64_t pick = unit_random(&random) % 1000 * (unit_random(&random) % 1000);
        edge.source = of_object ? node_object((uint32_t)(pick * objects / 1000000))
                                : node_synthetic((uint32_t)(pick * synthetics / 1000000));
        edge.target = node_object((uint32_t)unit_random(&random));
        if (of_object)
            of_objects[object_count++] = edge;
        else
            of_synthetics[synthetic_count++] = edge;
        assert_true(vector_push(&graph.roots.edges, edge));
    }
    naive_fill(of_synthetics, synthetic_count, synthetics, expected);
    naive_fill(of_objects, object_count, objects, expected + synthetic_count);

    assert_no_error(graph_fill_children(&graph));
    assert_int_equal(graph.child_count, count);
    assert_int_equal(graph.first_object_child, synthetic_count);
    assert_int_equal(graph.first_child[0], 0);
    assert_int_equal(graph.first_child[synthetics], synthetic_count);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(graph.children[i].name, expected[i].name);
        assert_int_equal(graph.children[i].source.of, expected[i].source.of);
        assert_int_equal(graph.children[i].source.index, expected[i].source.index);
        assert_int_equal(graph.children[i].target.index, expected[i].target.index);
    }
    for (size_t node = 0; node < synthetics; node++)
        for (uint64_t i = graph.first_child[node]; i < graph.first_child[node + 1]; i++)
            assert_int_equal(graph.children[i].source.index, node);
    assert_int_equal(graph.roots.edges.count, 0);
    free(graph.children);
    free(graph.first_child);
    free(graph.roots.nodes.data);
    free(of_synthetics);
    free(of_objects);
    free(expected);
}

TEST(random_edges)
{
    for (uint64_t seed = 1; seed <= 200; seed++)
        check(seed % 23 + 1, seed * 7 % 31, seed * 13 % 211, seed * 0x9e3779b97f4a7c15);
    check(1000, 5000, 100000, 12345);
}

TEST(no_edges)
{
    check(1, 0, 0, 1);
    check(10, 10, 0, 1);
}

TEST(edges_of_one_sort)
{
    check(1, 0, 500, 2); /* all edges are of one node */
    check(0, 100, 500, 3);
    check(100, 0, 500, 4);
}

/* Edges that are added later are the last ones of their source, however many they are. */
TEST(inserted)
{
    enum { NODES = 3, FIRST = 2, MANY = 5000 };
    static struct edge edges[MANY];
    for (uint32_t source = 0; source < NODES; source++) {
        struct g2h_graph graph = {0};
        for (uint32_t i = 0; i < NODES; i++)
            assert_true(vector_push(&graph.roots.nodes, ((struct synthetic){.key = i})));
        for (uint32_t i = 0; i < NODES * FIRST; i++) {
            const struct edge edge = {.name = i, .source = node_synthetic(i / FIRST)};
            assert_true(vector_push(&graph.roots.edges, edge));
        }
        assert_no_error(graph_fill_children(&graph));
        for (uint32_t i = 0; i < MANY; i++)
            edges[i] = (struct edge){.name = 1000 + i, .source = node_synthetic(source)};
        assert_no_error(graph_insert_children(&graph, source, edges, 1));
        assert_no_error(graph_insert_children(&graph, source, &edges[1], MANY - 1));
        assert_int_equal(graph.child_count, NODES * FIRST + MANY);
        assert_true(graph.child_capacity >= graph.child_count);
        for (uint32_t node = 0, at = 0, first = 0; node < NODES; node++) {
            assert_int_equal(graph.first_child[node], at);
            for (uint32_t i = 0; i < FIRST; i++)
                assert_int_equal(graph.children[at++].name, first++);
            for (uint32_t i = 0; node == source && i < MANY; i++)
                assert_int_equal(graph.children[at++].name, 1000 + i);
            assert_int_equal(graph.first_child[node + 1], at);
        }
        free(graph.children);
        free(graph.first_child);
        free(graph.roots.nodes.data);
    }
}

UNIT_MAIN(NULL, NULL)
