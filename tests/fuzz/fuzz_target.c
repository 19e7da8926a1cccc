/*
 * fuzz_target; see fuzz_target.h. Also the entry point for libFuzzer, where a driver other than
 * mutate.c has main().
 *
 * It does what convert() and main() of src/main.c do, with the program's own messages
 * (src/cli/messages.c).
 */
#include "fuzz_target.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <go2heapsnapshot/go2heapsnapshot.h>

#include "cli/messages.h"
#include "cli/options.h"

/* Of all inputs a third is folded, and half is converted without garbage. */
static struct g2h_graph_options choose_options(const struct g2h_input *input, unsigned threads)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i < input->size; i++)
        sum += input->data[i];
    return (struct g2h_graph_options){.threads = threads,
                                      .reachable = sum % 2 == 0,
                                      .max_nodes = sum % 3 == 0 ? 100 + sum / 6 % 8192 : 0};
}

int fuzz_convert(const struct g2h_input *input, unsigned threads, int fd)
{
    const struct g2h_heap_options heap_options = {.threads = threads};
    const struct g2h_graph_options graph_options = choose_options(input, threads);
    const struct g2h_output_options output_options = {
        .fd = fd, .name = "the snapshot", .threads = threads};
    struct g2h_heap *heap = NULL;
    struct g2h_graph *graph = NULL;

    struct g2h_error *error = g2h_heap_load(input, &heap_options, &heap);
    if (!error) {
        message_warnings(input, heap);
        error = g2h_graph_build(heap, &graph_options, &graph);
    }
    if (!error)
        message_size(input, heap, graph, &graph_options);
    if (!error)
        error = g2h_write_heapsnapshot(graph, &output_options);
    if (!error)
        message_account(input, heap, NULL, graph);
    else
        message_error(error);
    int status = error ? EXIT_FAILED : g2h_heap_is_complete(heap) ? EXIT_FINE : EXIT_DAMAGED;

    g2h_error_destroy(error);
    g2h_graph_destroy(graph);
    g2h_heap_destroy(heap);
    return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static int nowhere = -1;
    struct g2h_input *input;
    if (nowhere < 0)
        nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    struct g2h_error *error = g2h_input_from_memory("fuzz", data, size, &input);
    if (error)
        abort();
    fuzz_convert(input, 1, nowhere);
    g2h_input_close(input);
    return 0;
}
