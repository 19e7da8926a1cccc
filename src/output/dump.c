/* dump: writes an input as it is: the dump that all other outputs are made from. Holes of its file
 * stay holes. */
#include <string.h>

#include <go2heapsnapshot/output.h>

#include "base/memory.h"
#include "output/sink.h"

enum { CHUNK = 1 << 20 };

static struct g2h_error *produce(void *context, size_t task, unsigned worker,
                                 struct worker_buffer *buffer)
{
    const struct g2h_input *input = context;
    const uint64_t at = (uint64_t)task * CHUNK, left = input->size - at;
    const size_t size = left < CHUNK ? (size_t)left : CHUNK;
    (void)worker;
    if (g2h_input_is_hole(input, at, size)) {
        buffer->zeros = size;
        return NULL;
    }
    char *bytes = worker_buffer_reserve(buffer, size);
    if (!bytes)
        return &error_no_memory;
    memcpy(bytes, input->data + at, size);
    buffer->size += size;
    return NULL;
}

struct g2h_error *g2h_write_dump(const struct g2h_input *input,
                                 const struct g2h_output_options *options)
{
    const size_t tasks = (size_t)((input->size + CHUNK - 1) / CHUNK);
    const unsigned threads = options->threads > 0 ? options->threads : workers_available();
    return sink_run(options, threads, tasks, produce, not_const(input));
}
