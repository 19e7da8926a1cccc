/*
 * dominators DUMP [EXE]: prints the dominator and the retained size of each node, as the library
 * computes them; a line per node, in the snapshot's order.
 */
#include <inttypes.h>
#include <stdio.h>

#include "../conversion.h"

static void print(const struct g2h_view *view, const struct g2h_dominators *dominators)
{
    for (uint32_t node = 0; node < g2h_view_node_count(view); node++)
        printf("%" PRIu32 " %" PRIu64 "\n", g2h_dominators_of(dominators, node),
               g2h_dominators_retained_size(dominators, node));
}

int main(int argc, char **argv)
{
    struct g2h_input *input = NULL;
    struct g2h_heap *heap = NULL;
    struct g2h_exe *exe = NULL;
    struct conversion_options options = {.exe = NULL};
    struct conversion conversion = {.graph = NULL};
    struct g2h_dominators *dominators = NULL;
    if (argc < 2)
        return 2;
    struct g2h_error *error = g2h_input_open(argv[1], NULL, &input);
    if (!error)
        error = g2h_heap_load(input, NULL, &heap);
    if (!error && argc > 2)
        error = g2h_exe_open(argv[2], &exe);
    if (!error && exe)
        error = g2h_exe_match(exe, heap);
    options.exe = exe;
    if (!error)
        error = conversion_init(&conversion, heap, &options);
    if (!error)
        error = g2h_view_dominators(conversion.view, &dominators);
    if (error)
        fprintf(stderr, "%s\n", error->message);
    else
        print(conversion.view, dominators);
    const int status = error ? 1 : 0;
    g2h_error_destroy(error);
    g2h_dominators_destroy(dominators);
    conversion_deinit(&conversion);
    g2h_exe_close(exe);
    g2h_heap_destroy(heap);
    g2h_input_close(input);
    return status;
}
