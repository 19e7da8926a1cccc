/*
 * dominators DUMP [EXE]: the dominator and the retained size of each node, as the library says; a
 * line per node, in the snapshot's order.
 */
#include <inttypes.h>
#include <stdio.h>

#include <go2heapsnapshot/go2heapsnapshot.h>

static void print(const struct g2h_dominators *dominators)
{
    for (uint32_t node = 0; node < g2h_dominators_node_count(dominators); node++)
        printf("%" PRIu32 " %" PRIu64 "\n", g2h_dominators_of(dominators, node),
               g2h_dominators_retained_size(dominators, node));
}

int main(int argc, char **argv)
{
    struct g2h_input *input = NULL;
    struct g2h_heap *heap = NULL;
    struct g2h_graph_options options = {0};
    struct g2h_graph *graph = NULL;
    struct g2h_dominators *dominators = NULL;
    if (argc < 2)
        return 2;
    struct g2h_error *error = g2h_input_open(argv[1], NULL, &input);
    if (!error)
        error = g2h_heap_load(input, NULL, &heap);
    if (!error && argc > 2)
        error = g2h_exe_open(argv[2], &options.exe);
    if (!error && options.exe)
        error = g2h_exe_match(options.exe, heap);
    if (!error)
        error = g2h_graph_build(heap, &options, &graph);
    if (!error)
        error = g2h_graph_dominators(graph, &dominators);
    if (error)
        fprintf(stderr, "%s\n", error->message);
    else
        print(dominators);
    const int status = error ? 1 : 0;
    g2h_error_destroy(error);
    g2h_dominators_destroy(dominators);
    g2h_graph_destroy(graph);
    g2h_exe_close(options.exe);
    g2h_heap_destroy(heap);
    g2h_input_close(input);
    return status;
}
