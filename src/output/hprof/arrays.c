/*
 * arrays: writes object arrays, and records that are too large for memory; see writer.h.
 *
 * The offset of an edge determines its element. Edges without an element go to the last elements,
 * if these are free, and after them.
 */
#include "base/bisect.h"
#include "output/hprof/writer.h"

/* ---- records that are too large for memory ---- */

/* Ends the current segment; large_end() opens another one. */
struct g2h_error *large_begin(struct writer *writer, uint64_t size)
{
    struct worker_buffer *buffer = writer->segment.buffer;
    segment_close(&writer->segment);
    TRY(worker_buffer_flush(buffer));
    TRY_MEMORY(worker_buffer_reserve(buffer, RECORD_HEADER + OBJECTS_HEADER));
    put_record(buffer->data, RECORD_HEAP_SEGMENT, (uint32_t)size);
    buffer->size = RECORD_HEADER;
    return NULL;
}

struct g2h_error *large_end(struct writer *writer)
{
    TRY(worker_buffer_flush(writer->segment.buffer));
    return segment_open(&writer->segment, writer->segment.buffer);
}

struct g2h_error *large_add(struct writer *writer, const void *data, uint64_t size)
{
    struct worker_buffer *buffer = writer->segment.buffer;
    const char *from = data;
    while (size > 0) {
        const size_t part = size < LARGE ? (size_t)size : LARGE;
        TRY_MEMORY(worker_buffer_put(buffer, from, part));
        from = from ? from + part : NULL;
        size -= part;
        if (buffer->size >= LARGE)
            TRY(worker_buffer_flush(buffer));
    }
    return NULL;
}

/* ---- arrays ---- */

/* Returns the element of an edge, or count if it has none. Elements below before are taken. */
static inline uint64_t element_of(const struct shape *shape, const struct g2h_edge *edge,
                                  uint64_t before, uint64_t count)
{
    const uint64_t element =
        shape->form == SHAPE_ROW ? before : (edge->offset - shape->base) / shape->stride;
    const bool is_there =
        shape->form == SHAPE_ROW || (edge->offset != UINT64_MAX && edge->offset >= shape->base);
    return is_there && element >= before && element < count ? element : count;
}

/* Writes the ids that have no element to the last elements, as far as these are free, and after
 * them. */
static struct g2h_error *hprof_arrays_put_rest(struct writer *writer, size_t begin, uint32_t *count)
{
    struct worker_buffer *buffer = writer->segment.buffer;
    const uint32_t rest = (uint32_t)writer->rest.count;
    const char *elements = buffer->data + begin;
    uint32_t first = *count;
    while (first > 0 && *count - first < rest &&
           is_empty_field(elements + (size_t)(first - 1) * ID_SIZE))
        first--;
    const size_t more = (size_t)(first + rest - *count) * ID_SIZE;
    TRY_MEMORY(worker_buffer_reserve(buffer, more));
    for (uint32_t i = 0; i < rest; i++)
        put_u4(buffer->data + begin + (size_t)(first + i) * ID_SIZE, writer->rest.data[i]);
    *count = first + rest;
    buffer->size += more;
    writer->rest.count = 0;
    return NULL;
}

struct g2h_error *array_write(struct writer *writer, const struct shape *shape, uint32_t number,
                              const struct g2h_node *node)
{
    const struct file *file = writer->file;
    const struct g2h_edge *edge;
    uint64_t before = 0;
    uint32_t id, count = (uint32_t)array_elements(node->size);
    char *elements;
    TRY(segment_reserve(&writer->segment, OBJECTS_HEADER + (size_t)count * ID_SIZE, &elements));
    elements += OBJECTS_HEADER;
    const size_t begin = (size_t)(elements - writer->segment.buffer->data);
    memset(elements, 0, (size_t)count * ID_SIZE);
    while ((edge = writer_next_edge(writer, number, &id)) != NULL) {
        const uint64_t element = element_of(shape, edge, before, count);
        if (element == count) {
            TRY_MEMORY(vector_push(&writer->rest, id));
            continue;
        }
        put_u4(elements + element * ID_SIZE, id);
        before = element + 1;
    }
    if (writer->rest.count > 0)
        TRY(hprof_arrays_put_rest(writer, begin, &count));
    put_objects(writer->segment.buffer->data + begin - OBJECTS_HEADER, file->id_of[number],
                class_id(shape->class), count);
    return NULL;
}

/* ---- arrays that are too large for memory ---- */

/* An array of total elements that is written piece by piece; done elements have been written. */
struct hprof_arrays_row {
    struct writer *writer;
    const struct pieces *pieces; /* NULL: it has one piece */
    uint64_t total, done;
    uint32_t count; /* of pieces */
    uint32_t id, class;
};

static const struct pieces *pieces_of(const struct file *file, uint32_t node)
{
    size_t at;
    BISECT(at, file->pieces.count, file->pieces.data[at].node < node);
    return at < file->pieces.count && file->pieces.data[at].node == node ? &file->pieces.data[at]
                                                                         : NULL;
}

/* Begins a piece. The first elements of the first piece lead to the other pieces. */
static struct g2h_error *begin_piece(struct hprof_arrays_row *row)
{
    struct writer *writer = row->writer;
    struct worker_buffer *buffer = writer->segment.buffer;
    const uint64_t left = row->total - row->done;
    const uint32_t piece = (uint32_t)(row->done / PIECE_ELEMENTS),
                   links = piece == 0 ? row->count - 1 : 0,
                   count = (left < PIECE_ELEMENTS ? (uint32_t)left : PIECE_ELEMENTS) + links,
                   id = piece == 0 ? row->id : row->pieces->first_id + 2 * (piece - 1);
    TRY(large_begin(writer, OBJECTS_HEADER + (uint64_t)count * ID_SIZE));
    put_objects(buffer->data + buffer->size, id, row->class, count);
    buffer->size += OBJECTS_HEADER;
    for (uint32_t i = 0; i < links; i++) {
        char link[ID_SIZE];
        put_u4(link, row->pieces->first_id + 2 * i);
        TRY(large_add(writer, link, sizeof(link)));
    }
    return NULL;
}

/* Writes zeros up to an element. */
static struct g2h_error *skip_elements(struct hprof_arrays_row *row, uint64_t element)
{
    while (row->done < element) {
        const uint64_t end = (row->done / PIECE_ELEMENTS + 1) * PIECE_ELEMENTS,
                       to = element < end ? element : end;
        if (row->done % PIECE_ELEMENTS == 0)
            TRY(begin_piece(row));
        TRY(large_add(row->writer, NULL, (to - row->done) * ID_SIZE));
        row->done = to;
    }
    return NULL;
}

static struct g2h_error *hprof_arrays_add_element(struct hprof_arrays_row *row, uint64_t element,
                                                  uint32_t id)
{
    char bytes[ID_SIZE];
    TRY(skip_elements(row, element));
    if (row->done % PIECE_ELEMENTS == 0)
        TRY(begin_piece(row));
    put_u4(bytes, id);
    row->done++;
    return large_add(row->writer, bytes, sizeof(bytes));
}

/* Fills writer->rest with the ids that have no element; they follow the count elements of the
 * others. */
static struct g2h_error *count_elements(struct writer *writer, const struct shape *shape,
                                        uint32_t number, uint64_t count)
{
    const struct g2h_edge *edge;
    uint64_t before = 0;
    uint32_t id;
    writer_begin_edges(writer, number, number + 1);
    while ((edge = writer_next_edge(writer, number, &id)) != NULL) {
        const uint64_t element = element_of(shape, edge, before, count);
        if (element == count)
            TRY_MEMORY(vector_push(&writer->rest, id));
        else
            before = element + 1;
    }
    return NULL;
}

struct g2h_error *array_write_large(struct writer *writer, const struct shape *shape,
                                    uint32_t number, const struct g2h_node *node)
{
    const struct file *file = writer->file;
    const uint64_t count = array_elements(node->size);
    const struct g2h_edge *edge;
    uint64_t before = 0;
    uint32_t id;
    struct hprof_arrays_row row = {.writer = writer,
                                   .pieces = pieces_of(file, number),
                                   .id = file->id_of[number],
                                   .class = class_id(shape->class)};
    TRY(count_elements(writer, shape, number, count));
    row.total = count + writer->rest.count;
    row.count = (uint32_t)((row.total + PIECE_ELEMENTS - 1) / PIECE_ELEMENTS);
    if (row.count > (row.pieces ? row.pieces->count : 1))
        return file_is_too_large(file); /* more edges have been read than the node has */
    writer_begin_edges(writer, number, number + 1);
    while ((edge = writer_next_edge(writer, number, &id)) != NULL) {
        const uint64_t element = element_of(shape, edge, before, count);
        if (element == count)
            continue;
        TRY(hprof_arrays_add_element(&row, element, id));
        before = element + 1;
    }
    TRY(skip_elements(&row, count));
    for (size_t i = 0; i < writer->rest.count; i++)
        TRY(hprof_arrays_add_element(&row, count + i, writer->rest.data[i]));
    writer->rest.count = 0;
    return large_end(writer);
}
