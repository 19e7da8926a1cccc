/*
 * hprof_objects: writes the objects of a view as instances and arrays of Java, by their shapes
 * (hprof_classes.c): what a node's class and fields are in the file.
 *
 * Each thread has a writer, which reads nodes and edges in runs. The first part writes arrays of
 * objects, which may be too large for memory, then in pieces; the second writes instances: strings,
 * byte slices, arrays of numbers, and structs, whose fields get the edges by their offsets. Edges
 * that no field is for follow in a further array (writer_find_rests() tells beforehand which shapes
 * need it).
 */
#include <stdlib.h>

#include "base/bytes.h"
#include "base/contract.h"
#include "base/memory.h"
#include "output/hprof/file.h"
#include "output/hprof/hprof_classes.h"

/* ==== each thread writes with a writer of its own ==== */

enum {
    MANY = 64,        /* nodes or edges that are read at a time */
    LARGE = 16 << 20, /* bytes from which on a record is not assembled in memory */
};

struct writer {
    const struct file *file;
    struct g2h_edges *edges;
    struct g2h_edge given[MANY];
    size_t count, at; /* number of edges in given; index of the next one */
    struct g2h_text text;
    struct hprof_segment segment;
    VECTOR(uint32_t) rest; /* ids of objects to which an object points without a field for them */
};

/* Begins with the edges of the nodes from first to end. */
static inline void writer_begin_edges(struct writer *writer, uint32_t first, uint32_t end)
{
    g2h_edges_begin(writer->edges, first, end);
    writer->count = writer->at = 0;
}

/* Reads more edges; returns false at the end. */
static inline bool writer_read_more(struct writer *writer)
{
    writer->at = 0;
    writer->count = g2h_edges_read(writer->edges, writer->given, MANY);
    for (size_t i = 0; i < writer->count; i++)
        __builtin_prefetch(&writer->file->id_of[writer->given[i].target]);
    return writer->count > 0;
}

/* Returns the next edge of a node that holds an object, whose id it stores in *ret; or NULL if
 * there are no more. */
static inline const struct g2h_edge *writer_next_edge(struct writer *writer, uint32_t node,
                                                      uint32_t *ret)
{
    while (writer->at < writer->count || writer_read_more(writer)) {
        const struct g2h_edge *edge = &writer->given[writer->at];
        if (edge->source > node)
            return NULL;
        writer->at++;
        *ret = writer->file->id_of[edge->target];
        if (edge->source == node && (edge->flags & G2H_EDGE_WEAK) == 0 && *ret != 0)
            return edge;
    }
    return NULL;
}

/* Returns whether nothing has been written to a field or element. */
static inline bool is_empty_field(const char *field)
{
    return (field[0] | field[1] | field[2] | field[3]) == 0;
}

/* ==== writes object arrays, and records that are too large for memory ====
 *
 * The offset of an edge determines its element. Edges without an element go to the last elements,
 * if these are free, and after them.
 */

/* ---- records that are too large for memory ---- */

/*
 * Begins a segment with one large record of size bytes, which large_add() adds piece by piece.
 * Errors of this and the following functions: G2H_ERROR_MEMORY; those of worker_buffer_flush().
 *
 * Ends the current segment; large_end() opens another one.
 */
static struct g2h_error *large_begin(struct writer *writer, uint64_t size)
{
    struct worker_buffer *buffer = writer->segment.buffer;
    segment_close(&writer->segment);
    TRY(worker_buffer_flush(buffer));
    TRY_MEMORY(worker_buffer_reserve(buffer, RECORD_HEADER + OBJECTS_HEADER));
    put_record(buffer->data, RECORD_HEAP_SEGMENT, (uint32_t)size);
    buffer->size = RECORD_HEADER;
    return NULL;
}

/* Ends a large record, and opens the next segment. */
static struct g2h_error *large_end(struct writer *writer)
{
    TRY(worker_buffer_flush(writer->segment.buffer));
    return segment_open(&writer->segment, writer->segment.buffer);
}

/* Adds bytes to a large record; data NULL: zeros. */
static struct g2h_error *large_add(struct writer *writer, const void *data, uint64_t size)
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

/* Returns the element of an edge, by its offset or, in a row of folded nodes, the next one; count
 * if it has none. Elements below before are taken. */
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
 * them. The elements begin at begin in the buffer; *count is how many there are. */
static struct g2h_error *hprof_arrays_put_rest(struct writer *writer, size_t begin, uint32_t *count)
{
    struct worker_buffer *buffer = writer->segment.buffer;
    const uint32_t rest = as_u32(writer->rest.count);
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

/* Writes an object array. Pointers without an element of their own (element_of() returns count) go
 * after the last one, which adds to count. array_write_large() writes an array that is too large
 * for memory; the caller then begins the edges again. */
static struct g2h_error *array_write(struct writer *writer, const struct shape *shape,
                                     uint32_t number, const struct g2h_node *node)
{
    const struct file *file = writer->file;
    const struct g2h_edge *edge;
    uint64_t before = 0;
    uint32_t id;
    uint32_t count = (uint32_t)array_elements(node->size);
    char *elements;
    TRY(segment_reserve(&writer->segment, OBJECTS_HEADER + (size_t)count * ID_SIZE, &elements));
    elements += OBJECTS_HEADER;
    const size_t begin = as_size(elements - writer->segment.buffer->data);
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

/* Returns the pieces that a node is written in; NULL: it is written as a whole. */
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
    const uint32_t piece = (uint32_t)(row->done / PIECE_ELEMENTS);
    uint32_t links = 0;
    uint32_t id = row->id;
    if (piece == 0)
        links = row->count - 1;
    else
        id = row->pieces->first_id + 2 * (piece - 1);
    const uint32_t count = (left < PIECE_ELEMENTS ? (uint32_t)left : PIECE_ELEMENTS) + links;
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
                       to = MIN(element, end);
        if (row->done % PIECE_ELEMENTS == 0)
            TRY(begin_piece(row));
        TRY(large_add(row->writer, NULL, (to - row->done) * ID_SIZE));
        row->done = to;
    }
    return NULL;
}

/* Writes an element of a large array, after zeros for those that were left out before it; begins
 * the next piece if the last one is full. */
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

/* Writes an array that is too large for memory, in pieces: first counts the ids without an element,
 * then writes elements in the order of edges, and those ids after the last one. Error: more edges
 * than the node has (the dump was written to meanwhile). */
static struct g2h_error *array_write_large(struct writer *writer, const struct shape *shape,
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

/* ==== instances ====
 *
 * Writes the objects of a view as instances and arrays, by their shapes.
 *
 * The edges of a block of nodes are read in the order of the nodes, each once. An edge goes to the
 * field or the element at its offset. Edges without a field go to the end: an object array has
 * space for them there, and an instance has a separate field that leads to an array of them.
 */

enum { LONG_TEXT = 2 << 10 /* from this slot size on, a string may have been cut */ };

/* Makes a writer with edges of its own, for one thread. On an error *ret is to be destroyed all the
 * same. */
struct g2h_error *writer_create(const struct file *file, struct writer **ret)
{
    *ret = calloc(1, sizeof(**ret));
    TRY_MEMORY(*ret);
    (*ret)->file = file;
    TRY(g2h_edges_create(file->view, &(*ret)->edges));
    g2h_edges_repeat((*ret)->edges, true);
    return NULL;
}

void writer_destroy(struct writer *writer)
{
    if (!writer)
        return;
    g2h_edges_destroy(writer->edges);
    g2h_text_deinit(&writer->text);
    free(writer->rest.data);
    free(writer);
}

/* ---- bytes and strings ---- */

/* Writes a byte[] of size bytes. The first known bytes are in data; the others are zeros. */
static struct g2h_error *write_bytes(struct writer *writer, uint32_t id, const void *data,
                                     size_t known, uint32_t size)
{
    char *at;
    if (size < LARGE) {
        TRY(segment_reserve(&writer->segment, NUMBERS_HEADER + size, &at));
        at = hprof_put_byte_array(at, id, size);
        if (known > 0)
            memcpy(at, data, known);
        memset(at + known, 0, size - known);
        return NULL;
    }
    struct worker_buffer *buffer = writer->segment.buffer;
    TRY(large_begin(writer, NUMBERS_HEADER + (uint64_t)size));
    hprof_put_byte_array(buffer->data + buffer->size, id, size);
    buffer->size += NUMBERS_HEADER;
    TRY(large_add(writer, data, known));
    TRY(large_add(writer, NULL, size - known));
    return large_end(writer);
}

/* Writes an array of bytes: its contents, none if the view is redacted, and zeros up to its
 * size. */
static struct g2h_error *write_byte_slice(struct writer *writer, uint32_t number,
                                          const struct g2h_node *node)
{
    const struct file *file = writer->file;
    struct g2h_bytes contents = g2h_heap_object(file->heap, node->object).contents;
    if (file->is_redacted)
        contents.size = 0;
    else if (contents.size > node->size)
        contents = bytes_before(contents, node->size);
    return write_bytes(writer, file->id_of[number], contents.data, contents.size,
                       (uint32_t)node->size);
}

/* Writes a string as a String and its byte[]. If the string may have been cut, the array is large
 * enough that both together are at least as large as the slot. */
static struct g2h_error *write_text(struct writer *writer, uint32_t number,
                                    const struct g2h_node *node)
{
    enum { STRING_SIZE = OBJECT_HEADER + OBJECT_ALIGNMENT }; /* fields of 5 bytes, rounded up */
    const struct file *file = writer->file;
    size_t size;
    const char *text = g2h_view_text(file->view, number, &writer->text, &size);
    TRY_MEMORY(!writer->text.failed);
    if (node->size <= LONG_TEXT)
        return java_string_write(&writer->segment, file->id_of[number], helper_id(file, number),
                                 text, size);
    const struct java_string string = java_string_of(text, size);
    const uint32_t least = (uint32_t)node->size - STRING_SIZE - ARRAY_HEADER;
    _cleanup_free_ char *bytes = malloc(count_and_end(string.bytes));
    char *at;
    TRY_MEMORY(bytes);
    java_string_put(bytes, &string);
    TRY(segment_reserve(&writer->segment, STRING_RECORD, &at));
    java_string_put_instance(at, file->id_of[number], helper_id(file, number), string.is_wide);
    return write_bytes(writer, helper_id(file, number), bytes, string.bytes,
                       MAX(string.bytes, least));
}

/* ---- instances ---- */

/* Copies the bytes of a number, in reverse order if is_reversed. */
static void copy_bytes(char *to, const uint8_t *from, size_t size, bool is_reversed)
{
    uint64_t wide;
    uint32_t narrow;
    if (is_reversed && size == sizeof(wide)) {
        memcpy(&wide, from, sizeof(wide));
        wide = __builtin_bswap64(wide);
        memcpy(to, &wide, sizeof(wide));
    } else if (is_reversed && size == sizeof(narrow)) {
        memcpy(&narrow, from, sizeof(narrow));
        narrow = __builtin_bswap32(narrow);
        memcpy(to, &narrow, sizeof(narrow));
    } else {
        for (size_t i = 0; i < size; i++)
            to[i] = (char)from[is_reversed ? size - 1 - i : i];
    }
}

/* Copies a number in the file's byte order; a bool of any bytes becomes one of 0 or 1. */
static void copy_number(const struct file *file, char *to, const uint8_t *from,
                        const struct shape_number *number)
{
    copy_bytes(to, from, number->size, file->swaps);
    if (number->is_bool) {
        uint8_t any = 0;
        for (size_t i = 0; i < number->size; i++)
            any |= from[i];
        to[0] = any != 0;
    }
}

/* Copies an object's numbers into its fields, as far as the dump has its contents. */
static void copy_numbers(const struct file *file, const struct shape *shape,
                         const struct g2h_node *node, char *fields)
{
    const struct shape_number *numbers = file->classes.numbers.data + shape->first_number;
    const struct g2h_bytes contents = g2h_heap_object(file->heap, node->object).contents;
    for (uint32_t i = 0; i < shape->numbers; i++)
        if (contents.size >= numbers[i].size &&
            numbers[i].offset <= contents.size - numbers[i].size)
            copy_number(file, fields + numbers[i].position, contents.data + numbers[i].offset,
                        &numbers[i]);
}

/* Returns the field of the pointer at an offset, or NULL if it has none. */
static const struct shape_pointer *find_pointer(const struct file *file, const struct shape *shape,
                                                uint64_t offset)
{
    const struct shape_pointer *pointers = file->classes.pointers.data + shape->first_pointer;
    uint32_t at;
    BISECT(at, shape->pointers, pointers[at].offset < offset);
    return at < shape->pointers && pointers[at].offset == offset ? &pointers[at] : NULL;
}

/* Writes the edges without fields of an instance as an array beside it. */
static struct g2h_error *write_rest(struct writer *writer, uint32_t id)
{
    const uint32_t count = as_u32(writer->rest.count);
    char *at;
    TRY(segment_reserve(&writer->segment, OBJECTS_HEADER + (size_t)count * ID_SIZE, &at));
    at = put_objects(at, id, class_id(CLASS_OBJECTS), count);
    for (uint32_t i = 0; i < count; i++)
        at = put_u4(at, writer->rest.data[i]);
    writer->rest.count = 0;
    return NULL;
}

/* Writes an instance: its numbers, and the targets of its edges in the fields at their offsets.
 * Edges without a field, or to one that is used already, go into an array beside it (write_rest).
 * The shape's field for them, which it has if writer_find_rests() found that it needs one, gets the
 * array's id; without that field nothing refers to the array. */
static struct g2h_error *write_instance(struct writer *writer, const struct shape *shape,
                                        uint32_t number, const struct g2h_node *node)
{
    const struct file *file = writer->file;
    const struct g2h_edge *edge;
    uint32_t id;
    char *fields;
    TRY(segment_reserve(&writer->segment, INSTANCE_HEADER + shape->fields_size, &fields));
    fields = put_instance(fields, file->id_of[number], class_id(shape->class), shape->fields_size);
    memset(fields, 0, shape->fields_size);
    if (shape->numbers > 0 && node->object != UINT32_MAX)
        copy_numbers(file, shape, node, fields);
    while ((edge = writer_next_edge(writer, number, &id)) != NULL) {
        const struct shape_pointer *pointer = find_pointer(file, shape, edge->offset);
        if (pointer && is_empty_field(fields + pointer->position))
            put_u4(fields + pointer->position, id);
        else
            TRY_MEMORY(vector_push(&writer->rest, id));
    }
    if (writer->rest.count == 0)
        return NULL;
    if (shape->rest != UINT32_MAX)
        put_u4(fields + shape->rest, helper_id(file, number));
    return write_rest(writer, helper_id(file, number));
}

/* ---- blocks ---- */

/* Returns whether an object has an edge without a field of its own in its shape: no field is at the
 * edge's offset, or the edge before it has that field. */
static bool has_rest(struct writer *writer, const struct shape *shape, uint32_t number)
{
    const struct shape_pointer *before = NULL, *pointer;
    const struct g2h_edge *edge;
    bool has = false;
    uint32_t id;
    while ((edge = writer_next_edge(writer, number, &id)) != NULL) {
        pointer = find_pointer(writer->file, shape, edge->offset);
        has = has || !pointer || pointer == before;
        before = pointer;
    }
    return has;
}

/* Returns whether an object may have an edge without a field; the shapes of most objects exclude
 * it. */
static inline bool may_have_rest(const struct file *file, uint32_t node)
{
    const struct shape *shape = file->id_of[node] != 0 ? shape_of_node(file, node) : NULL;
    return shape && shape->may_have_rest;
}

/* Returns the end of the run of nodes to read: after the last object that may have such an edge and
 * is not far from the one before it. Reading the nodes in between is faster than beginning
 * again. */
static uint32_t end_of_run(const struct file *file, uint32_t node, uint32_t end)
{
    enum { FAR = 16 };
    uint32_t last = node;
    for (; node < end && node - last < FAR; node++)
        if (may_have_rest(file, node))
            last = node;
    return last + 1;
}

/* Sets ret of each shape that some node of [first, end) has which points to more than its fields
 * have (has_rest()). Such a node, if its shape is that of strings or of byte slices, gets the shape
 * pointing_text or pointing_bytes instead, as an array of objects. Nodes whose shapes allow such
 * edges, and the few between them, are read in one run (end_of_run()). */
void writer_find_rests(struct writer *writer, uint32_t first, uint32_t end, bool *ret)
{
    const struct file *file = writer->file;
    uint32_t run = first;
    for (uint32_t node = first; node < end; node++) {
        if (!may_have_rest(file, node))
            continue;
        if (node >= run) {
            run = end_of_run(file, node, end);
            writer_begin_edges(writer, node, run);
        }
        const struct shape *shape = shape_of_node(file, node);
        if (!has_rest(writer, shape, node))
            continue;
        __atomic_store_n(&ret[file->shape_of[node]], true, __ATOMIC_RELAXED);
        if (shape->form == SHAPE_TEXT)
            file->shape_of[node] = file->classes.pointing_text;
        if (shape->form == SHAPE_BYTES)
            file->shape_of[node] = file->classes.pointing_bytes;
    }
}

/* Writes a node by the form of its shape; end is that of the nodes that the edges are read of. One
 * with LARGE or more bytes, or as many of ids, is written in parts, and reading the edges begins
 * anew after it. Nothing for a node without a shape. */
static struct g2h_error *write_object(struct writer *writer, uint32_t number, uint32_t end,
                                      const struct g2h_node *whole)
{
    const struct shape *shape = shape_of_node(writer->file, number);
    struct g2h_node written = *whole;
    const struct g2h_node *node = &written;
    written.size = written_size(&writer->file->written, number, whole);
    if (!shape)
        return NULL;
    switch (shape->form) {
    case SHAPE_TEXT:
        return write_text(writer, number, node);
    case SHAPE_BYTES:
        return write_byte_slice(writer, number, node);
    case SHAPE_INSTANCE:
        return write_instance(writer, shape, number, node);
    case SHAPE_OBJECTS:
    case SHAPE_ROW:
        break;
    }
    if (node->size < LARGE && node->edges < LARGE / ID_SIZE)
        return array_write(writer, shape, number, node);
    TRY(array_write_large(writer, shape, number, node));
    writer_begin_edges(writer, number + 1, end);
    return NULL;
}

/* Writes the nodes [first, end) that have an id, in one segment. */
struct g2h_error *writer_write(struct writer *writer, uint32_t first, uint32_t end,
                               struct worker_buffer *buffer)
{
    struct g2h_node nodes[MANY];
    TRY(segment_open(&writer->segment, buffer));
    writer_begin_edges(writer, first, end);
    for (uint32_t node = first; node < end; node += MANY) {
        const size_t count = g2h_view_nodes(writer->file->view, node, MIN(end - node, MANY), nodes);
        for (size_t i = 0; i < count; i++)
            if (writer->file->id_of[node + i] != 0)
                TRY(write_object(writer, node + as_u32(i), end, &nodes[i]));
    }
    segment_close(&writer->segment);
    return NULL;
}
