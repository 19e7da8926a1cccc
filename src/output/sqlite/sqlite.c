/*
 * sqlite: writes a view as tables of an SQLite database, for questions that no other output
 * answers: docs/sqlite.md.
 *
 * Nodes, edges and strings have the numbers that they have in a heap snapshot of the view without
 * contexts, and the same names and ids. All threads make rows, block by block, and one thread at a
 * time hands them to SQLite, in their order.
 *
 *   sqlite, tables, goroutine_tables
 *                       all of a view
 *   summary, summary_tables
 *                       the same of some thousand rows a dump
 */
#include <stdlib.h>

#include <go2heapsnapshot/output.h>
#include <go2heapsnapshot/heap.h>
#include <go2heapsnapshot/version.h>

#include "base/option_size.h"
#include "base/scope.h"
#include "base/workers.h"
#include "output/detached.h"
#include "output/labels.h"
#include "output/node_ids.h"
#include "output/sink.h"
#include "output/sqlite/goroutine_tables.h"
#include "output/sqlite/summary.h"
#include "output/sqlite/tables.h"

enum {
    STRINGS_PER_TASK = 1 << 14,
    MANY = 64,        /* nodes or edges that are read at a time */
    ENOUGH = 1 << 20, /* bytes from which on a buffer is flushed */
};

/* V8's types, the same as in a snapshot's header. labels.h names those that are in use. */
static const char *const node_types[] = {
    "hidden",
    "array",
    "string",
    "object",
    "code",
    "closure",
    "regexp",
    "number",
    "native",
    "synthetic",
    "concatenated string",
    "sliced string",
    "symbol",
    "bigint",
    "object shape",
};
static const char *const edge_types[] = {
    "context", "element", "property", "internal", "hidden", "shortcut", "weak",
};

struct sqlite_writer {
    const struct g2h_view *view;
    const struct g2h_dominators *dominators;
    const struct g2h_output_options *options;
    unsigned threads;
    struct database *database;
    struct tables tables;
    struct node_ids ids;
    struct strings strings;
    struct detached detached;
    struct g2h_edges **readers; /* by thread */
    uint64_t edges, strings_added;
    size_t tasks_done, tasks;
};

/* ---- preparation ---- */

static struct g2h_error *sqlite_prepare(struct sqlite_writer *writer)
{
    writer->readers = calloc(writer->threads, sizeof(*writer->readers));
    TRY_MEMORY(writer->readers);
    for (unsigned i = 0; i < writer->threads; i++)
        TRY(g2h_edges_create(writer->view, &writer->readers[i]));
    TRY(node_ids_init(&writer->ids, writer->view, writer->options->series));
    TRY(detached_init(writer->view, &writer->detached));
    TRY(strings_init(&writer->strings, writer->view));
    return strings_number_texts(&writer->strings, writer->threads);
}

static void writer_deinit(struct sqlite_writer *writer)
{
    for (unsigned i = 0; i < writer->threads && writer->readers; i++)
        g2h_edges_destroy(writer->readers[i]);
    free(writer->readers);
    strings_deinit(&writer->strings);
    node_ids_deinit(&writer->ids);
    detached_deinit(&writer->detached);
    tables_deinit(&writer->tables);
    database_close(writer->database);
}

static void sqlite_advance(const struct sqlite_writer *writer, unsigned worker, size_t task)
{
    const struct g2h_progress *progress = writer->options->progress;
    if (progress && worker == 0) /* the calling thread */
        progress->update(progress->context, "writing", writer->tasks_done + task, writer->tasks, 0);
}

/* ---- nodes ---- */

static void make_node(const struct sqlite_writer *writer, uint32_t number,
                      const struct g2h_node *node, const uint32_t **texts, struct node_row *ret)
{
    const struct node_label label = label_node(&writer->strings, node, texts);
    *ret = (struct node_row){
        .number = tables_number(number),
        .type = label.type,
        .name = label.name,
        .id = node_ids_of(&writer->ids, number, node),
        .self_size = (int64_t)node->size,
        .edge_count = node->edges,
        .retained_size = (int64_t)g2h_dominators_retained_size(writer->dominators, number),
        .dominator = number == 0 ? ROWS_NULL : g2h_dominators_of(writer->dominators, number),
        .address = node->object == UINT32_MAX ? ROWS_NULL : (int64_t)node->address,
        .detachedness = detached_of(&writer->detached, number),
    };
}

static struct g2h_error *produce_nodes(void *context, size_t block, unsigned worker,
                                       struct worker_buffer *buffer)
{
    const struct sqlite_writer *writer = context;
    const uint32_t first = (uint32_t)block << SNAPSHOT_BLOCK_SHIFT;
    const uint32_t *texts = writer->strings.node_texts[block];
    struct g2h_node nodes[MANY];
    struct node_row *rows =
        (struct node_row *)(void *)worker_buffer_reserve(buffer, SNAPSHOT_BLOCK * sizeof(*rows));
    size_t count = MANY, made = 0;
    TRY_MEMORY(rows);
    sqlite_advance(writer, worker, block);
    while (made < SNAPSHOT_BLOCK && count == MANY) {
        count = g2h_view_nodes(writer->view, first + (uint32_t)made, MANY, nodes);
        for (size_t i = 0; i < count; i++, made++)
            make_node(writer, first + (uint32_t)made, &nodes[i], &texts, &rows[made]);
    }
    buffer->size = made * sizeof(*rows);
    return NULL;
}

static struct g2h_error *consume_nodes(void *context, const struct worker_buffer *buffer)
{
    struct sqlite_writer *writer = context;
    struct node_row *rows = (struct node_row *)(void *)buffer->data;
    const size_t count = buffer->size / sizeof(*rows);
    for (size_t i = 0; i < count; i++) {
        rows[i].first_edge = (int64_t)writer->edges;
        writer->edges += (uint64_t)rows[i].edge_count;
    }
    return tables_add_nodes(&writer->tables, rows, count);
}

/* ---- edges ---- */

static void sqlite_make_edge(const struct sqlite_writer *writer, const struct g2h_edge *edge,
                             struct keys_left *keys, struct edge_row *ret)
{
    const struct edge_label label = label_edge(&writer->strings, edge, keys);
    const bool by_index = label.type == EDGE_ELEMENT;
    *ret = (struct edge_row){
        .from_node = edge->source,
        .type = label.type,
        .name = by_index ? ROWS_NULL : (int64_t)label.name_or_index,
        .element = by_index ? (int64_t)label.name_or_index : ROWS_NULL,
        .to_node = edge->target,
    };
}

static struct g2h_error *produce_edges(void *context, size_t block, unsigned worker,
                                       struct worker_buffer *buffer)
{
    const struct sqlite_writer *writer = context;
    const uint32_t first = (uint32_t)block << SNAPSHOT_BLOCK_SHIFT;
    struct keys_left keys = keys_of_block(&writer->strings, block);
    struct g2h_edges *reader = writer->readers[worker];
    struct g2h_edge edges[MANY];
    size_t count;
    sqlite_advance(writer, worker, block);
    g2h_edges_begin(reader, first, first + SNAPSHOT_BLOCK);
    while ((count = g2h_edges_read(reader, edges, MANY)) > 0) {
        struct edge_row *rows =
            (struct edge_row *)(void *)worker_buffer_reserve(buffer, count * sizeof(*rows));
        TRY_MEMORY(rows);
        for (size_t i = 0; i < count; i++)
            sqlite_make_edge(writer, &edges[i], &keys, &rows[i]);
        buffer->size += count * sizeof(*rows);
        if (buffer->size > ENOUGH)
            TRY(worker_buffer_flush(buffer));
    }
    return NULL;
}

static struct g2h_error *consume_edges(void *context, const struct worker_buffer *buffer)
{
    struct sqlite_writer *writer = context;
    struct edge_row *rows = (struct edge_row *)(void *)buffer->data;
    const size_t count = buffer->size / sizeof(*rows);
    for (size_t i = 0; i < count; i++)
        rows[i].number = tables_number(writer->edges++);
    return tables_add_edges(&writer->tables, rows, count);
}

/* ---- strings ---- */

/* Appends each string to the buffer, after its size. */
static struct g2h_error *produce_strings(void *context, size_t task, unsigned worker,
                                         struct worker_buffer *buffer)
{
    const struct sqlite_writer *writer = context;
    const struct strings *strings = &writer->strings;
    const uint64_t first = (uint64_t)task * STRINGS_PER_TASK, count = strings_count(strings);
    _cleanup_(g2h_text_deinit) struct g2h_text text = {0};
    sqlite_advance(writer, worker, task);
    for (uint64_t i = first; i < count && i < first + STRINGS_PER_TASK; i++) {
        size_t size;
        strings_prefetch(strings, i);
        const char *data = strings_text(strings, (uint32_t)i, &text, &size);
        TRY_MEMORY(!text.failed);
        char *at = worker_buffer_reserve(buffer, sizeof(size) + size);
        TRY_MEMORY(at);
        memcpy(at, &size, sizeof(size));
        if (size > 0)
            memcpy(at + sizeof(size), data, size);
        buffer->size += sizeof(size) + size;
    }
    return NULL;
}

static struct g2h_error *consume_strings(void *context, const struct worker_buffer *buffer)
{
    struct sqlite_writer *writer = context;
    for (size_t at = 0, size; at < buffer->size; at += sizeof(size) + size) {
        memcpy(&size, buffer->data + at, sizeof(size));
        TRY(tables_add_string(&writer->tables, writer->strings_added++,
                              buffer->data + at + sizeof(size), size));
    }
    return NULL;
}

/* ---- about the whole ---- */

static struct g2h_error *say_what_it_is(struct sqlite_writer *writer)
{
    struct tables *tables = &writer->tables;
    const struct g2h_heap *heap = g2h_view_heap(writer->view);
    const struct g2h_params *params = g2h_heap_params(heap);
    const struct g2h_output_options *options = writer->options;
    TRY(tables_say_text(tables, "writer", "go2heapsnapshot " G2H_VERSION));
    if (options->source)
        TRY(tables_say_text(tables, "source", options->source));
    if (options->program)
        TRY(tables_say_text(tables, "executable", options->program));
    TRY(tables_say_text(tables, "format", g2h_heap_format(heap)));
    TRY(tables_say_text(tables, "go_version", g2h_heap_go_version(heap)));
    TRY(tables_say_text(tables, "goarch", params->arch));
    TRY(tables_say_number(tables, "pointer_size", params->pointer_size));
    return tables_say_number(tables, "complete", g2h_heap_is_complete(heap));
}

static struct g2h_error *say_how_much(struct sqlite_writer *writer)
{
    struct tables *tables = &writer->tables;
    const struct g2h_view_account *account = g2h_view_account(writer->view);
    const struct {
        const char *key;
        uint64_t number;
    } numbers[] = {
        {"objects", g2h_heap_object_count(g2h_view_heap(writer->view))},
        {"object_bytes", g2h_heap_account(g2h_view_heap(writer->view))->object_bytes},
        {"left_out_objects", account->left_out_objects},
        {"left_out_bytes", account->left_out_bytes},
        {"folded_objects", account->folded_objects},
        {"folded_nodes", account->folded_nodes},
        {"stacks", account->stacks},
        {"stack_bytes", account->stack_bytes},
    };
    for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
        TRY(tables_say_number(tables, numbers[i].key, numbers[i].number));
    return NULL;
}

static struct g2h_error *sqlite_add_types(struct tables *tables)
{
    for (unsigned i = 0; i < sizeof(node_types) / sizeof(*node_types); i++)
        TRY(tables_add_node_type(tables, i, node_types[i], strlen(node_types[i])));
    for (unsigned i = 0; i < sizeof(edge_types) / sizeof(*edge_types); i++)
        TRY(tables_add_edge_type(tables, i, edge_types[i], strlen(edge_types[i])));
    return NULL;
}

/* ---- the whole database ---- */

/* Adds the rows of a table. */
static struct g2h_error *add_rows(struct sqlite_writer *writer, size_t tasks,
                                  workers_produce *produce, workers_consume *consume)
{
    TRY(workers_run_ordered(writer->threads, tasks, produce, NULL, consume, writer));
    writer->tasks_done += tasks;
    return NULL;
}

static struct g2h_error *make_indexes(struct sqlite_writer *writer)
{
    const struct g2h_progress *progress = writer->options->progress;
    for (unsigned i = 0; i < TABLES_INDEXES; i++) {
        if (progress)
            progress->update(progress->context, "indexing", i, TABLES_INDEXES, 0);
        TRY(tables_make_index(&writer->tables, i));
    }
    return NULL;
}

static struct g2h_error *sqlite_write_all(struct sqlite_writer *writer)
{
    const size_t blocks = writer->strings.blocks,
                 string_tasks = (size_t)((strings_count(&writer->strings) + STRINGS_PER_TASK - 1) /
                                         STRINGS_PER_TASK);
    writer->tasks = 2 * blocks + string_tasks;
    TRY(say_what_it_is(writer));
    TRY(say_how_much(writer));
    TRY(sqlite_add_types(&writer->tables));
    TRY(add_rows(writer, blocks, produce_nodes, consume_nodes));
    writer->edges = 0;
    TRY(add_rows(writer, blocks, produce_edges, consume_edges));
    TRY(add_rows(writer, string_tasks, produce_strings, consume_strings));
    TRY(goroutine_tables_write(writer->view, writer->database));
    TRY(make_indexes(writer));
    TRY(tables_finish(&writer->tables));
    return database_commit(writer->database);
}

struct g2h_error *g2h_write_sqlite(const struct g2h_view *view,
                                   const struct g2h_dominators *dominators,
                                   const struct g2h_output_options *given)
{
    struct g2h_output_options known;
    const struct g2h_output_options *options = OPTIONS_COPY(&known, given);
    if (options->summary)
        return summary_write(view, dominators, options);
    struct sqlite_writer writer = {.view = view,
                                   .dominators = dominators,
                                   .options = options,
                                   .threads = sink_threads(view, options)};
    struct g2h_error *error = database_create(options->fd, options->name, &writer.database);
    if (!error)
        error = tables_init(&writer.tables, writer.database);
    if (!error)
        error = sqlite_prepare(&writer);
    if (!error)
        error = sqlite_write_all(&writer);
    writer_deinit(&writer);
    return error;
}
