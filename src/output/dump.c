/*
 * dump: writes an input as it is: the dump that all other outputs are made from. Large arrays
 * without pointers may be shortened; their records then say so, and still have their sizes:
 * docs/dump-formats.md, "Shortened arrays".
 *
 * Holes of the input become holes of the file that is written, or are written as zeros where that
 * is not possible. They are not read, which would fill memory with zeros.
 */
#include <stdlib.h>

#include <go2heapsnapshot/output.h>

#include "base/bytes.h"
#include "base/contract.h"
#include "base/error.h"
#include "base/memory.h"
#include "output/sink.h"

enum { CHUNK = SINK_PIECE }; /* as for dumps that are streamed */

/* Bytes of the input that are replaced: an array's size by two numbers, or the end of its contents
 * by nothing. */
struct dump_edit {
    uint64_t begin, end; /* offsets in the input */
    uint8_t bytes[2 * LONGEST_UVARINT];
    uint8_t size; /* of bytes */
};

struct copying {
    const struct g2h_input *input;
    uint64_t end; /* offset in the input where copying ends */
    bool gzip;
    VECTOR(struct dump_edit) edits; /* ascending */
};

/* ---- shortening ---- */

/* Returns the offset of an object's size in the input: after the tag and the address; that of the
 * record if these cannot be read. */
static uint64_t offset_of_size(const struct g2h_input *input, const struct g2h_record *record)
{
    struct cursor cursor = {input->data + record->offset, record->object.contents.data};
    uint64_t number;
    return cursor_uvarint(&cursor, &number) && cursor_uvarint(&cursor, &number)
               ? as_size(cursor.at - input->data)
               : record->offset;
}

/* Shortens the array of a record to size bytes: its size is replaced by both sizes, which take a
 * fixed number of bytes, and the end of its contents is left out. Returns false if memory runs out.
 */
static bool copying_shorten(struct copying *copying, const struct g2h_record *record, uint64_t size)
{
    const struct g2h_object *object = &record->object;
    const uint64_t contents = as_size(object->contents.data - copying->input->data);
    struct dump_edit sizes = {offset_of_size(copying->input, record), contents,
                              .size = sizeof(sizes.bytes)};
    const struct dump_edit rest = {contents + size, contents + object->contents.size, .size = 0};
    _asserted_ const size_t known = copying->edits.count;
    assert(size <= object->contents.size && sizes.begin < sizes.end);
    assert(known == 0 || copying->edits.data[known - 1].end <= sizes.begin); /* in file order */
    cursor_put_longest(sizes.bytes, object->size);
    cursor_put_longest(sizes.bytes + LONGEST_UVARINT, size);
    return vector_push(&copying->edits, sizes) && vector_push(&copying->edits, rest);
}

/* Returns whether a record is an object without pointers that has more bytes than largest, and of
 * which a dump may lack a part: of others that would be damage (g2h_object_may_be_short()). */
static bool is_long_array(const struct g2h_record *record, const struct g2h_params *params,
                          uint64_t largest)
{
    return record->kind == G2H_RECORD_OBJECT && record->object.contents.size > largest &&
           *record->object.fields.at == 0 && g2h_object_may_be_short(params, &record->object);
}

/* Finds the arrays to shorten. If the dump is damaged, copying ends before the damage, because
 * arrays after it could not be shortened. Errors: as g2h_write_dump(). */
static struct g2h_error *find_arrays(struct copying *copying, struct g2h_reader *reader,
                                     uint64_t largest)
{
    struct g2h_record record = {.kind = G2H_RECORD_PARAMS};
    struct g2h_params params = {.heap_end = 0};
    struct g2h_error *damage = NULL;
    bool good = true;
    while (!damage && good && record.kind != G2H_RECORD_EOF) {
        damage = g2h_reader_next(reader, &record);
        if (!damage && record.kind == G2H_RECORD_PARAMS)
            params = record.params;
        if (!damage && is_long_array(&record, &params, largest))
            good = copying_shorten(copying, &record, largest);
    }
    if (damage)
        copying->end = record.offset;
    if (damage && params.pointer_size == 0)
        damage->code = G2H_ERROR_NOT_DUMP; /* nothing in it can be read */
    return good ? damage : &error_no_memory;
}

/* Finds the arrays to shorten, which needs the dump's records to be read once. */
static struct g2h_error *shorten_arrays(struct copying *copying, uint64_t largest)
{
    struct g2h_reader *reader;
    TRY(g2h_reader_create(copying->input, &reader));
    struct g2h_error *error =
        g2h_reader_objects_have_types(reader)
            ? error_create(G2H_ERROR_NOT_DUMP,
                           "%s: arrays of a dump of Go 1.3 cannot be shortened: its objects do not "
                           "say whether they have pointers",
                           copying->input->name)
            : find_arrays(copying, reader, largest);
    g2h_reader_destroy(reader);
    return error;
}

/* ---- copying ---- */

/* Writes a hole of the input, if it has bytes: as a hole, or compressed as zeros. */
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

/* Copies bytes of the input. */
static struct g2h_error *copying_put(const struct copying *copying, struct worker_buffer *buffer,
                                     uint64_t begin, uint64_t end)
{
    const struct g2h_input *input = copying->input;
    uint64_t hole, hole_end; /* both end without a hole */
    for (uint64_t at = begin; at < end; at = hole_end) {
        (void)g2h_input_hole(input, at, end, &hole, &hole_end);
        TRY_MEMORY(worker_buffer_put(buffer, input->data + at, (size_t)(hole - at)));
        TRY(put_zeros(copying, buffer, hole_end - hole));
    }
    return NULL;
}

/* A task: copies a chunk of the input, and applies the edits in it. The bytes of an edit belong to
 * the chunk in which it begins; an edit that began in the chunk before only skips bytes here. */
static struct g2h_error *dump_copy_produce(void *context, size_t task, unsigned worker,
                                           struct worker_buffer *buffer)
{
    const struct copying *copying = context;
    const struct dump_edit *edits = copying->edits.data;
    const uint64_t begin = (uint64_t)task * CHUNK;
    const uint64_t left = copying->end - begin;
    const uint64_t end = begin + MIN(left, CHUNK);
    size_t next;
    (void)worker;
    BISECT(next, copying->edits.count, edits[next].end <= begin); /* the first that ends in it */
    for (uint64_t at = begin; at < end; next++) {
        if (next == copying->edits.count || edits[next].begin >= end)
            return copying_put(copying, buffer, at, end);
        TRY(copying_put(copying, buffer, at, edits[next].begin));
        if (edits[next].begin >= begin)
            TRY_MEMORY(worker_buffer_put(buffer, edits[next].bytes, edits[next].size));
        at = edits[next].end;
    }
    return NULL;
}

/* Writes a copy of the dump, with arrays shortened to largest_array bytes unless that is 0. Chunks
 * are copied on several threads, and written in their order. Of a damaged dump what can be read is
 * written, and the error returned. */
struct g2h_error *g2h_write_dump(const struct g2h_input *input,
                                 const struct g2h_output_options *given)
{
    struct g2h_output_options known;
    const struct g2h_output_options *options = OPTIONS_COPY(&known, given);
    struct copying copying = {input, input->size, options->gzip, {0}};
    const unsigned threads = options->threads > 0 ? options->threads : workers_available();
    struct g2h_error *error =
        options->largest_array > 0 ? shorten_arrays(&copying, options->largest_array) : NULL;
    if (!error || error->code == G2H_ERROR_DAMAGED) {
        const size_t tasks = (size_t)((copying.end + CHUNK - 1) / CHUNK);
        struct g2h_error *failed = sink_run(options, threads, tasks, dump_copy_produce, &copying);
        if (failed)
            g2h_error_destroy(error);
        error = failed ? failed : error;
    }
    free(copying.edits.data);
    return error;
}
