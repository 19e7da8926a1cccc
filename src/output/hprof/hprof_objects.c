/*
 * hprof_objects: writes the objects of a view as instances and arrays, by their shapes.
 *
 * The edges of a block of nodes are read in the order of the nodes, each once. An edge goes to the
 * field or the element at its offset. Edges without a field go to the end: an object array has
 * space for them there, and an instance has a separate field that leads to an array of them.
 */
#include <stdlib.h>

#include "base/bisect.h"
#include "output/hprof/java_string.h"
#include "output/hprof/writer.h"

enum { LONG_TEXT = 2 << 10 /* from this slot size on, a string may have been cut */ };

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
        TRY(segment_reserve(&writer->segment, NUMBERS_HEADER + (size_t)size, &at));
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

static struct g2h_error *write_byte_slice(struct writer *writer, uint32_t number,
                                          const struct g2h_node *node)
{
    const struct file *file = writer->file;
    struct g2h_bytes contents = g2h_heap_object(file->heap, node->object).contents;
    if (file->is_redacted)
        contents.size = 0;
    else if (contents.size > node->size)
        contents.size = node->size;
    return write_bytes(writer, file->id_of[number], contents.data, (size_t)contents.size,
                       (uint32_t)node->size);
}

/* Writes a string as a String and its byte[]. If the string may have been cut, the array is large
 * enough that both together are at least as large as the slot. */
static struct g2h_error *write_text(struct writer *writer, uint32_t number,
                                    const struct g2h_node *node)
{
    enum { STRING_SIZE = OBJECT_HEADER + OBJECT_ALIGNMENT };
    const struct file *file = writer->file;
    size_t size;
    const char *text = g2h_view_text(file->view, number, &writer->text, &size);
    TRY_MEMORY(!writer->text.failed);
    if (node->size <= LONG_TEXT)
        return java_string_write(&writer->segment, file->id_of[number], helper_id(file, number),
                                 text, size);
    const struct java_string string = java_string_of(text, size);
    const uint32_t least = (uint32_t)node->size - STRING_SIZE - ARRAY_HEADER;
    _cleanup_free_ char *bytes = malloc((size_t)string.bytes + 1);
    char *at;
    TRY_MEMORY(bytes);
    java_string_put(bytes, &string);
    TRY(segment_reserve(&writer->segment, STRING_RECORD, &at));
    java_string_put_instance(at, file->id_of[number], helper_id(file, number), string.is_wide);
    return write_bytes(writer, helper_id(file, number), bytes, string.bytes,
                       string.bytes > least ? string.bytes : least);
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
    const uint32_t count = (uint32_t)writer->rest.count;
    char *at;
    TRY(segment_reserve(&writer->segment, OBJECTS_HEADER + (size_t)count * ID_SIZE, &at));
    at = put_objects(at, id, class_id(CLASS_OBJECTS), count);
    for (uint32_t i = 0; i < count; i++)
        at = put_u4(at, writer->rest.data[i]);
    writer->rest.count = 0;
    return NULL;
}

static struct g2h_error *write_instance(struct writer *writer, const struct shape *shape,
                                        uint32_t number, const struct g2h_node *node)
{
    const struct file *file = writer->file;
    const struct g2h_edge *edge;
    uint32_t id;
    char *fields;
    TRY(segment_reserve(&writer->segment, INSTANCE_HEADER + (size_t)shape->fields_size, &fields));
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

/* Returns whether an object has an edge without a field in its shape. */
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

/* Writes a node by the form of its shape. */
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

struct g2h_error *writer_write(struct writer *writer, uint32_t first, uint32_t end,
                               struct worker_buffer *buffer)
{
    struct g2h_node nodes[MANY];
    TRY(segment_open(&writer->segment, buffer));
    writer_begin_edges(writer, first, end);
    for (uint32_t node = first; node < end; node += MANY) {
        const size_t count =
            g2h_view_nodes(writer->file->view, node, end - node < MANY ? end - node : MANY, nodes);
        for (size_t i = 0; i < count; i++)
            if (writer->file->id_of[node + i] != 0)
                TRY(write_object(writer, node + (uint32_t)i, end, &nodes[i]));
    }
    segment_close(&writer->segment);
    return NULL;
}
