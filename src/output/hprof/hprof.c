/*
 * hprof: writes a view as a heap dump of Java, for Eclipse MAT and VisualVM. docs/hprof.md says
 * what stands for what.
 *
 * Strings, classes and stacks come first in the file, and are made before anything is written. The
 * objects follow by blocks of nodes; each block is one heap dump segment or several.
 *
 *   hprof               the file; hprof_roots: packages, threads, frames
 *   hprof_classes, shapes, hprof_parts
 *                       the Java classes and arrays that Go's objects become
 *   hprof_objects, arrays
 *                       instances, and how long they are
 *   writer, file, hprof_records
 *                       bytes
 *   java_names, java_string
 *                       names that Java allows, java.lang.String
 */
#include <stdlib.h>

#include "output/hprof/file.h"
#include "base/option_size.h"
#include "output/sink.h"

enum { BLOCK = 1 << 14 /* nodes that are written together */, MANY = 64 };

struct hprof_writing {
    struct file file;
    const struct g2h_progress *progress;
    struct writer **writers; /* by thread */
    size_t blocks;
};

/* ---- preparation ---- */

/* Stores the ids and shapes of a task's nodes. */
static struct g2h_error *look_at_nodes(void *context, size_t task, unsigned worker)
{
    struct file *file = context;
    struct g2h_node nodes[MANY];
    const uint32_t first = (uint32_t)task * BLOCK;
    size_t count = MANY;
    (void)worker;
    for (uint32_t node = first; node - first < BLOCK && count == MANY; node += MANY) {
        count = g2h_view_nodes(file->view, node, MANY, nodes);
        for (uint32_t i = 0; i < count; i++) {
            if (!is_written(&file->classes, node + i, &nodes[i]))
                continue;
            const struct shape_key key = shape_key_of(&file->classes, node + i, &nodes[i]);
            file->id_of[node + i] = node_ids_of(&file->ids, node + i, &nodes[i]);
            file->shape_of[node + i] = map_get(&file->classes.by_key, key.hash);
        }
    }
    return NULL;
}

struct hprof_finding {
    struct hprof_writing *writing;
    bool *has_rest; /* by shape */
};

static struct g2h_error *find_rests(void *context, size_t task, unsigned worker)
{
    const struct hprof_finding *finding = context;
    const uint32_t first = (uint32_t)task * BLOCK, nodes = finding->writing->file.nodes;
    writer_find_rests(finding->writing->writers[worker], first,
                      nodes - first < BLOCK ? nodes : first + BLOCK, finding->has_rest);
    return NULL;
}

/* Adds a field for edges without one to shapes that need it. Only reading all edges shows which
 * shapes do. */
static struct g2h_error *add_rests(struct hprof_writing *writing, unsigned threads)
{
    struct classes *classes = &writing->file.classes;
    _cleanup_free_ bool *has_rest = calloc(classes->shapes.count + 1, sizeof(*has_rest));
    struct hprof_finding finding = {writing, has_rest};
    TRY_MEMORY(has_rest);
    TRY(workers_run(threads, writing->blocks, find_rests, &finding));
    for (size_t i = 0; i < classes->shapes.count; i++)
        if (has_rest[i])
            TRY(classes_add_rest(classes, i));
    return NULL;
}

/* Finds the nodes that are too large for one record. */
static struct g2h_error *find_pieces(struct file *file)
{
    struct g2h_node node;
    if (g2h_view_account(file->view)->largest_node < PIECE)
        return NULL;
    for (uint32_t i = 0; i < file->nodes; i++) {
        g2h_view_node(file->view, i, &node);
        const uint64_t elements = array_elements(written_size(&file->written, i, &node));
        if (file->id_of[i] == 0 || elements + node.edges <= PIECE_ELEMENTS)
            continue;
        const uint64_t count = (elements + node.edges) / PIECE_ELEMENTS + 1;
        struct pieces pieces = {.node = i, .count = (uint32_t)count};
        pieces.first_id = count < END_OF_FREE ? take_ids(file, pieces.count - 1) : 0;
        if (pieces.first_id == 0)
            return file_is_too_large(file);
        TRY_MEMORY(vector_push(&file->pieces, pieces));
    }
    return NULL;
}

static struct g2h_error *create_writers(struct hprof_writing *writing, unsigned threads)
{
    writing->writers = calloc(threads, sizeof(*writing->writers));
    TRY_MEMORY(writing->writers);
    for (unsigned i = 0; i < threads; i++)
        TRY(writer_create(&writing->file, &writing->writers[i]));
    return NULL;
}

static struct g2h_error *hprof_prepare(struct hprof_writing *writing, unsigned threads)
{
    struct file *file = &writing->file;
    writing->blocks = ((size_t)file->nodes + BLOCK - 1) / BLOCK;
    TRY_MEMORY(java_names_init(&file->names, file->view));
    TRY(node_ids_init(&file->ids, file->view, NULL));
    TRY(classes_init(&file->classes, file->view, &file->names));
    file->classes.largest_array = file->written.largest_array;
    TRY(classes_find(&file->classes, threads));
    file->id_of = large_alloc((size_t)file->nodes + 1, sizeof(*file->id_of));
    file->shape_of = large_alloc((size_t)file->nodes + 1, sizeof(*file->shape_of));
    TRY_MEMORY(file->id_of && file->shape_of);
    TRY(workers_run(threads, writing->blocks, look_at_nodes, file));
    TRY(create_writers(writing, threads));
    TRY(add_rests(writing, threads));
    file->last_free = END_OF_FREE;
    file->first_helper = take_ids(file, file->nodes);
    if (file->first_helper == 0)
        return file_is_too_large(file);
    TRY(find_pieces(file));
    TRY(roots_make(file)); /* which adds classes, too */
    return class_id((uint32_t)file->classes.list.count) <= file->last_free
               ? NULL
               : file_is_too_large(file);
}

static void file_deinit(struct file *file)
{
    java_names_deinit(&file->names);
    node_ids_deinit(&file->ids);
    classes_deinit(&file->classes);
    large_free(file->id_of, (size_t)file->nodes + 1, sizeof(*file->id_of));
    large_free(file->shape_of, (size_t)file->nodes + 1, sizeof(*file->shape_of));
    free(file->pieces.data);
    worker_buffer_deinit(&file->before);
    worker_buffer_deinit(&file->roots);
}

/* ---- writing ---- */

static struct g2h_error *hprof_write_header(struct worker_buffer *buffer)
{
    static const char version[] = "JAVA PROFILE 1.0.2"; /* with its NUL */
    char *at = worker_buffer_reserve(buffer, sizeof(version) + 4 + 8);
    TRY_MEMORY(at);
    memcpy(at, version, sizeof(version));
    put_u8(put_u4(at + sizeof(version), ID_SIZE), 0); /* the time, which a dump does not contain */
    buffer->size += sizeof(version) + 4 + 8;
    return NULL;
}

static struct g2h_error *hprof_write_strings(const struct string_pool *pool,
                                             struct worker_buffer *buffer)
{
    for (uint32_t i = 0; i < pool->count; i++) {
        size_t size;
        const char *text = string_pool_text(pool, i, &size);
        char *at = worker_buffer_reserve(buffer, RECORD_HEADER + ID_SIZE + size);
        TRY_MEMORY(at);
        at = put_u4(put_record(at, RECORD_STRING, (uint32_t)(ID_SIZE + size)), i + 1);
        if (size > 0)
            memcpy(at, text, size);
        buffer->size += RECORD_HEADER + ID_SIZE + size;
        if (buffer->size > SEGMENT_MOST)
            TRY(worker_buffer_flush(buffer));
    }
    return NULL;
}

static struct g2h_error *write_begin(const struct file *file, struct worker_buffer *buffer)
{
    TRY(hprof_write_header(buffer));
    TRY(hprof_write_strings(&file->names.pool, buffer));
    TRY(classes_write_loads(&file->classes, buffer));
    TRY_MEMORY(worker_buffer_put(buffer, file->before.data, file->before.size));
    TRY(classes_write(&file->classes, buffer));
    TRY_MEMORY(worker_buffer_put(buffer, file->roots.data, file->roots.size));
    return NULL;
}

static struct g2h_error *write_end(struct worker_buffer *buffer)
{
    char *at = worker_buffer_reserve(buffer, RECORD_HEADER);
    TRY_MEMORY(at);
    put_record(at, RECORD_HEAP_END, 0);
    buffer->size += RECORD_HEADER;
    return NULL;
}

static struct g2h_error *hprof_produce(void *context, size_t task, unsigned worker,
                                       struct worker_buffer *buffer)
{
    const struct hprof_writing *writing = context;
    const uint32_t nodes = writing->file.nodes;
    if (writing->progress && worker == 0) /* worker 0 is the thread of the caller */
        writing->progress->update(writing->progress->context, "writing", task, writing->blocks + 2,
                                  0);
    if (task == 0)
        return write_begin(&writing->file, buffer);
    if (task > writing->blocks)
        return write_end(buffer);
    const uint32_t first = (uint32_t)(task - 1) * BLOCK,
                   end = nodes - first < BLOCK ? nodes : first + BLOCK;
    return writer_write(writing->writers[worker], first, end, buffer);
}

static struct g2h_error *hprof_write_file(struct hprof_writing *writing, unsigned threads,
                                          const struct g2h_output_options *options)
{
    TRY(hprof_prepare(writing, threads));
    return sink_run(options, threads, writing->blocks + 2, hprof_produce, writing);
}

struct g2h_error *g2h_write_hprof(const struct g2h_view *view,
                                  const struct g2h_dominators *dominators,
                                  const struct g2h_output_options *given)
{
    struct g2h_output_options known;
    const struct g2h_output_options *options = OPTIONS_COPY(&known, given);
    const unsigned threads = sink_threads(view, options);
    struct hprof_writing writing = {.progress = options->progress};
    (void)dominators;
    writing.file.view = view;
    writing.file.written = written_begin(view, options);
    writing.file.heap = g2h_view_heap(view);
    writing.file.name = options->name;
    writing.file.nodes = g2h_view_node_count(view);
    writing.file.is_redacted = g2h_view_is_redacted(view);
    writing.file.swaps = !g2h_heap_params(writing.file.heap)->big_endian;
    struct g2h_error *error = hprof_write_file(&writing, threads, options);
    for (unsigned i = 0; writing.writers && i < threads; i++)
        writer_destroy(writing.writers[i]);
    free(writing.writers);
    file_deinit(&writing.file);
    return error;
}
