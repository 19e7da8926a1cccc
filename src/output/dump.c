/*
 * dump: writes an input as it is: the dump that all other outputs are made from.
 *
 * Holes of the input become holes of the file that is written, or are written as zeros where that
 * is not possible. They are not read, which would fill memory with zeros.
 */
#include <go2heapsnapshot/output.h>

#include "base/memory.h"
#include "base/option_size.h"
#include "base/scope.h"
#include "output/sink.h"

enum { CHUNK = 1 << 20 };

struct copying {
    const struct g2h_input *input;
    bool gzip;
};

static struct g2h_error *put_zeros(const struct copying *copying, struct worker_buffer *buffer,
                                   uint64_t zeros)
{
    if (zeros == 0)
        return NULL;
    if (!copying->gzip)
        return worker_buffer_flush_zeros(buffer, zeros);
    TRY_MEMORY(worker_buffer_put(buffer, NULL, (size_t)zeros));
    return NULL;
}

static struct g2h_error *dump_copy_produce(void *context, size_t task, unsigned worker,
                                           struct worker_buffer *buffer)
{
    const struct copying *copying = context;
    const struct g2h_input *input = copying->input;
    const uint64_t begin = (uint64_t)task * CHUNK, left = input->size - begin,
                   end = begin + (left < CHUNK ? left : CHUNK);
    uint64_t hole, behind;
    (void)worker;
    for (uint64_t at = begin; at < end; at = behind) {
        (void)g2h_input_hole(input, at, end, &hole, &behind);
        TRY_MEMORY(worker_buffer_put(buffer, input->data + at, (size_t)(hole - at)));
        TRY(put_zeros(copying, buffer, behind - hole));
    }
    return NULL;
}

struct g2h_error *g2h_write_dump(const struct g2h_input *input,
                                 const struct g2h_output_options *given)
{
    struct g2h_output_options known;
    const struct g2h_output_options *options = OPTIONS_COPY(&known, given);
    struct copying copying = {input, options->gzip};
    const size_t tasks = (size_t)((input->size + CHUNK - 1) / CHUNK);
    const unsigned threads = options->threads > 0 ? options->threads : workers_available();
    return sink_run(options, threads, tasks, dump_copy_produce, &copying);
}
