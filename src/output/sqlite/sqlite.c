/*
 * sqlite: writes a view as tables of an SQLite database, for questions that no other output
 * answers: docs/sqlite.md.
 *
 * Nodes, edges and strings have the numbers that they have in a heap snapshot of the view without
 * contexts, and the same names and ids. All threads make rows, block by block, and one thread at a
 * time hands them to SQLite, in their order.
 *
 *   sqlite, tables      all of a view
 *   summary             the same of some thousand rows a dump
 *
 * To begin with: g2h_write_sqlite(), at the end; sqlite_write_all() has the steps.
 */
#include <stdlib.h>
#include <string.h>

#include <go2heapsnapshot/heap.h>
#include <go2heapsnapshot/output.h>
#include <go2heapsnapshot/version.h>
#include <go2heapsnapshot/view.h>

#include "base/contract.h"
#include "base/error.h"
#include "base/workers.h"
#include "findings/ages.h"
#include "findings/retained_pages.h"
#include "output/database.h"
#include "output/ids.h"
#include "output/labels.h"
#include "output/overlay.h"
#include "output/sink.h"
#include "output/sqlite/summary.h"
#include "output/sqlite/tables.h"

/* ==== the goroutines of a view as tables, with their stacks, labels and starters ==== */

static const char create[] =
    "CREATE TABLE goroutine(goid INTEGER PRIMARY KEY, node INTEGER, state TEXT, minutes INTEGER,"
    " runs TEXT, waits_at TEXT, parent INTEGER);"
    "CREATE TABLE goroutine_frame(goid INTEGER, depth INTEGER, function TEXT, file TEXT,"
    " line INTEGER, is_inlined INTEGER, is_wrapper INTEGER, PRIMARY KEY(goid, depth))"
    " WITHOUT ROWID;"
    "CREATE TABLE goroutine_label(goid INTEGER, key TEXT, value TEXT, PRIMARY KEY(goid, key))"
    " WITHOUT ROWID;"
    "CREATE TABLE goroutine_starter(goid INTEGER, level INTEGER, starter INTEGER, depth INTEGER,"
    " function TEXT, file TEXT, line INTEGER, PRIMARY KEY(goid, level, depth)) WITHOUT ROWID";

struct goroutine_tables {
    const struct g2h_view *view;
    struct database *database;
    sqlite3_stmt *add_goroutine, *add_frame, *add_label, *add_starter;
    struct g2h_text text, waits_at, runs;
    uint64_t goid;           /* of the goroutine whose labels are visited */
    struct g2h_error *error; /* of that visit */
};

static void goroutine_tables_deinit(struct goroutine_tables *tables)
{
    sqlite3_finalize(tables->add_goroutine);
    sqlite3_finalize(tables->add_frame);
    sqlite3_finalize(tables->add_label);
    sqlite3_finalize(tables->add_starter);
    g2h_text_deinit(&tables->text);
    g2h_text_deinit(&tables->waits_at);
    g2h_text_deinit(&tables->runs);
}

/* Creates the tables of goroutines, and prepares the statements that fill them. A dump that is
 * damaged may have a number twice: the first goroutine that has it counts (INSERT OR IGNORE). */
static struct g2h_error *goroutine_tables_init(struct goroutine_tables *tables)
{
    struct database *database = tables->database;
    TRY(database_run(database, create));
    TRY(database_prepare(database, "INSERT OR IGNORE INTO goroutine VALUES (?, ?, ?, ?, ?, ?, ?)",
                         &tables->add_goroutine));
    TRY(database_prepare(database,
                         "INSERT OR IGNORE INTO goroutine_frame VALUES (?, ?, ?, ?, ?, ?, ?)",
                         &tables->add_frame));
    TRY(database_prepare(database, "INSERT OR IGNORE INTO goroutine_label VALUES (?, ?, ?)",
                         &tables->add_label));
    return database_prepare(database,
                            "INSERT OR IGNORE INTO goroutine_starter VALUES (?, ?, ?, ?, ?, ?, ?)",
                            &tables->add_starter);
}

/* Binds a function's names and line, from a parameter on: a line that is not known is NULL. */
static void bind_call(sqlite3_stmt *statement, int first, const struct g2h_view_call *call)
{
    database_bind_text(statement, first, call->function.data, call->function.size);
    if (call->line > 0) {
        database_bind_text(statement, first + 1, call->file.data, call->file.size);
        database_bind_number(statement, first + 2, call->line);
    } else {
        sqlite3_bind_null(statement, first + 1);
        sqlite3_bind_null(statement, first + 2);
    }
}

/* Adds the functions on a goroutine's stack, and notes where it waits. */
static struct g2h_error *goroutine_tables_add_frames(struct goroutine_tables *tables,
                                                     const struct g2h_view_goroutine *goroutine)
{
    struct g2h_view_call call;
    uint64_t depth = 0;
    tables->waits_at.size = 0;
    for (uint32_t i = 0; i < goroutine->frame_count; i++)
        for (uint32_t j = 0;
             g2h_view_call(tables->view, goroutine->first_frame + (size_t)i, j, &call); j++) {
            if (call.number == goroutine->at && tables->waits_at.size == 0)
                g2h_view_call_text(tables->view, &call, &tables->waits_at);
            database_bind_number(tables->add_frame, 1, goroutine->record.goid);
            database_bind_number(tables->add_frame, 2, depth++);
            bind_call(tables->add_frame, 3, &call);
            database_bind_number(tables->add_frame, 6, call.is_inlined);
            database_bind_number(tables->add_frame, 7, call.is_wrapper);
            TRY(database_step(tables->database, tables->add_frame));
        }
    return NULL;
}

/* Adds a label of the goroutine that is visited. Returns false after an error, which is in
 * tables->error: the visit ends. */
static bool goroutine_tables_add_label(void *context, const struct g2h_label *label)
{
    struct goroutine_tables *tables = context;
    database_bind_number(tables->add_label, 1, tables->goid);
    database_bind_text(tables->add_label, 2, label->key, label->key_size);
    database_bind_text(tables->add_label, 3, label->value, label->value_size);
    tables->error = database_step(tables->database, tables->add_label);
    return tables->error == NULL;
}

/* Adds the stacks of the goroutines that started a goroutine: level 0 is the one that started it, 1
 * the one that started that, and so on, as far as the dump has them. */
static struct g2h_error *goroutine_tables_add_starters(struct goroutine_tables *tables,
                                                       size_t number, uint64_t goid)
{
    struct g2h_view_call call;
    for (size_t i = 0; i < g2h_view_starter_count(tables->view, number); i++)
        for (uint32_t j = 0; g2h_view_starter_call(tables->view, number, i, j, &call); j++) {
            database_bind_number(tables->add_starter, 1, goid);
            database_bind_number(tables->add_starter, 2, i);
            database_bind_number(tables->add_starter, 3, g2h_view_starter(tables->view, number, i));
            database_bind_number(tables->add_starter, 4, j);
            bind_call(tables->add_starter, 5, &call);
            TRY(database_step(tables->database, tables->add_starter));
        }
    return NULL;
}

/* Binds a string, or NULL if it is empty. */
static void bind_if_any(sqlite3_stmt *statement, int number, const struct g2h_text *text)
{
    if (text->size > 0)
        database_bind_text(statement, number, text->data, text->size);
    else
        sqlite3_bind_null(statement, number);
}

/* Adds a goroutine with its frames, labels and starters. What is not known is NULL. */
static struct g2h_error *goroutine_tables_add(struct goroutine_tables *tables, size_t number)
{
    sqlite3_stmt *statement = tables->add_goroutine;
    struct g2h_view_goroutine goroutine;
    g2h_view_goroutine(tables->view, number, &goroutine);
    const struct g2h_view_call runs = {.function = goroutine.function};
    TRY(goroutine_tables_add_frames(tables, &goroutine));
    g2h_view_state(tables->view, number, &tables->text);
    tables->runs.size = 0;
    g2h_view_call_text(tables->view, &runs, &tables->runs);
    TRY_MEMORY(!tables->text.failed && !tables->waits_at.failed && !tables->runs.failed);
    database_bind_number(statement, 1, goroutine.record.goid);
    if (goroutine.node != UINT32_MAX)
        database_bind_number(statement, 2, goroutine.node);
    else
        sqlite3_bind_null(statement, 2);
    database_bind_text(statement, 3, tables->text.data, tables->text.size);
    database_bind_number(statement, 4, goroutine.minutes);
    bind_if_any(statement, 5, &tables->runs);
    bind_if_any(statement, 6, &tables->waits_at);
    if (goroutine.parent != 0)
        database_bind_number(statement, 7, goroutine.parent);
    else
        sqlite3_bind_null(statement, 7);
    TRY(database_step(tables->database, statement));
    tables->goid = goroutine.record.goid;
    TRY(g2h_view_labels(tables->view, number, goroutine_tables_add_label, tables));
    TRY(tables->error);
    return goroutine_tables_add_starters(tables, number, goroutine.record.goid);
}

/* Creates the tables of goroutines in a database, and fills them, goroutine by goroutine. Errors:
 * those of database_run(). */
static struct g2h_error *goroutine_tables_write(const struct g2h_view *view,
                                                struct database *database)
{
    _cleanup_(goroutine_tables_deinit) struct goroutine_tables tables = {.view = view,
                                                                         .database = database};
    TRY(goroutine_tables_init(&tables));
    for (size_t i = 0; i < g2h_view_goroutine_count(view); i++)
        TRY(goroutine_tables_add(&tables, i));
    return NULL;
}

/* ==== nodes, edges and strings ==== */

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
    struct overlay overlay;
    struct overlay_edges *readers;     /* by thread */
    struct pages_sum *pages;           /* by number in the order of dominators; NULL: not known */
    const struct g2h_ages_known *ages; /* NULL: the process was not watched */
    uint64_t edges, strings_added;
    size_t tasks_done, tasks;
};

/* ---- preparation ---- */

/* Creates the tables, and finds all that rows are made from: pages, ids, strings. */
static struct g2h_error *sqlite_prepare(struct sqlite_writer *writer)
{
    writer->ages = ages_watched(g2h_view_heap(writer->view));
    TRY(pages_find_nodes(writer->view, writer->dominators, writer->options->memory, writer->threads,
                         &writer->pages));
    const unsigned columns =
        (writer->pages != NULL) * TABLES_PAGES | (writer->ages != NULL) * TABLES_AGES;
    TRY(tables_init(&writer->tables, writer->database, columns));
    TRY(overlay_init(&writer->overlay, writer->view));
    writer->readers = calloc(writer->threads, sizeof(*writer->readers));
    TRY_MEMORY(writer->readers);
    for (unsigned i = 0; i < writer->threads; i++)
        TRY(overlay_edges_init(&writer->readers[i], &writer->overlay));
    TRY(node_ids_init(&writer->ids, writer->view, writer->options->series));
    TRY(detached_init(writer->view, &writer->detached));
    TRY(strings_init(&writer->strings, writer->view, writer->options->series));
    TRY_MEMORY(strings_name_links(&writer->strings, &writer->overlay));
    return strings_number_texts(&writer->strings, writer->threads);
}

static void writer_deinit(struct sqlite_writer *writer)
{
    for (unsigned i = 0; i < writer->threads && writer->readers; i++)
        overlay_edges_deinit(&writer->readers[i]);
    free(writer->readers);
    free(writer->pages);
    overlay_deinit(&writer->overlay);
    strings_deinit(&writer->strings);
    node_ids_deinit(&writer->ids);
    detached_deinit(&writer->detached);
    tables_deinit(&writer->tables);
    database_close(writer->database);
}

/* Reports progress of the current table's tasks; only the calling thread does, which is worker
 * 0. */
static void sqlite_advance(const struct sqlite_writer *writer, unsigned worker, size_t task)
{
    const struct g2h_progress *progress = writer->options->progress;
    if (progress && worker == 0) /* the calling thread */
        progress->update(progress->context, "writing", writer->tasks_done + task, writer->tasks, 0);
}

/* ---- nodes ---- */

/* Sets what could be freed without a node, of which a stack has what its goroutine has otherwise,
 * as in retained_size. */
static void set_pages(const struct sqlite_writer *writer, uint32_t number, struct node_row *row)
{
    const uint32_t node = overlay_retainer(&writer->overlay, number);
    const struct pages_sum *sum = &writer->pages[g2h_dominators_number(writer->dominators, node)];
    row->retained_pages = (int64_t)sum->bytes;
    row->free_slots = (int64_t)sum->empty;
}

/* Sets the collection since which an object lives; NULL for other nodes, and for an object that has
 * not survived a collection. */
static void set_age(const struct sqlite_writer *writer, uint32_t object, struct node_row *row)
{
    const struct g2h_age_look *look = ages_look(g2h_view_heap(writer->view), object);
    row->alive_since = look ? (int64_t)look->last : ROWS_NULL;
    row->alive_since_ms = look ? look->time : ROWS_NULL;
}

/* Makes the row of a node. *texts is at the string of the block's next string node. */
static void make_node(const struct sqlite_writer *writer, uint32_t number,
                      const struct g2h_node *node, const uint32_t **texts, struct node_row *ret)
{
    const struct node_label label = label_node(&writer->strings, node, texts);
    uint32_t dominator = g2h_dominators_of(writer->dominators, number);
    uint64_t retained = g2h_dominators_retained_size(writer->dominators, number);
    overlay_dominator(&writer->overlay, writer->dominators, number, &dominator, &retained);
    *ret = (struct node_row){
        .number = tables_number(number),
        .type = label.type,
        .name = label.name,
        .id = node_ids_of(&writer->ids, number, node),
        .self_size = (int64_t)node->size,
        .edge_count = overlay_edge_count(&writer->overlay, number, node->edges),
        .retained_size = (int64_t)retained,
        .dominator = number == 0 ? ROWS_NULL : dominator,
        .address = node->object == UINT32_MAX ? ROWS_NULL : (int64_t)node->address,
        .detachedness = detached_of(&writer->detached, number),
    };
    if (writer->pages)
        set_pages(writer, number, ret);
    if (writer->ages)
        set_age(writer, node->object, ret);
}

/* Makes the rows of a block of nodes. The block's texts are numbered in the order of its nodes, so
 * that making a row takes the next one. The last block has fewer nodes. */
static struct g2h_error *produce_nodes(void *context, size_t block, unsigned worker,
                                       struct worker_buffer *buffer)
{
    static_assert(SNAPSHOT_BLOCK % MANY == 0, "the rows of a block are reserved");
    const struct sqlite_writer *writer = context;
    const uint32_t first = as_u32(block) << SNAPSHOT_BLOCK_SHIFT;
    const uint32_t *texts = writer->strings.node_texts[block];
    struct g2h_node nodes[MANY];
    struct node_row *rows =
        (struct node_row *)(void *)worker_buffer_reserve(buffer, SNAPSHOT_BLOCK * sizeof(*rows));
    size_t count = MANY, made = 0;
    TRY_MEMORY(rows);
    sqlite_advance(writer, worker, block);
    while (made < SNAPSHOT_BLOCK && count == MANY) {
        count = g2h_view_nodes(writer->view, first + as_u32(made), MANY, nodes);
        for (size_t i = 0; i < count; i++, made++)
            make_node(writer, first + as_u32(made), &nodes[i], &texts, &rows[made]);
    }
    buffer->size = made * sizeof(*rows);
    return NULL;
}

/* Adds the rows of a block of nodes, in the order of blocks, so that it is known now which edge is
 * the first of each node. */
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

/* Makes the row of an edge, which has a name or an index; its number is set later, by
 * consume_edges(). */
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

/* A task: makes the rows of the edges of a block of nodes. */
static struct g2h_error *produce_edges(void *context, size_t block, unsigned worker,
                                       struct worker_buffer *buffer)
{
    const struct sqlite_writer *writer = context;
    const uint32_t first = as_u32(block) << SNAPSHOT_BLOCK_SHIFT;
    struct keys_left keys = keys_of_block(&writer->strings, block);
    struct overlay_edges *reader = &writer->readers[worker];
    struct g2h_edge edges[MANY];
    size_t count;
    sqlite_advance(writer, worker, block);
    overlay_edges_begin(reader, first, first + SNAPSHOT_BLOCK);
    while ((count = overlay_edges_read(reader, edges, MANY)) > 0) {
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

/* Numbers the rows of a block's edges, and adds them. */
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
    const uint64_t first = (uint64_t)task * STRINGS_PER_TASK;
    const uint64_t count = strings_count(strings);
    _cleanup_(g2h_text_deinit) struct g2h_text text = {0};
    sqlite_advance(writer, worker, task);
    for (uint64_t i = first; i < count && i < first + STRINGS_PER_TASK; i++) {
        size_t size;
        strings_prefetch(strings, i);
        const char *data = strings_text(strings, as_u32(i), &text, &size);
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

/* Adds the strings of a task, each of which follows its size. */
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

/* Adds where the heap comes from to the table about. */
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

/* Adds the totals of the heap and of the view to the table about. */
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
    for (size_t i = 0; i < COUNT_OF(numbers); i++)
        TRY(tables_say_number(tables, numbers[i].key, numbers[i].number));
    return NULL;
}

/* Adds the names of the types of nodes and edges, which are numbers in the other tables. */
static struct g2h_error *sqlite_add_types(struct tables *tables)
{
    for (unsigned i = 0; i < COUNT_OF(node_types); i++)
        TRY(tables_add_node_type(tables, i, node_types[i], strlen(node_types[i])));
    for (unsigned i = 0; i < COUNT_OF(edge_types); i++)
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

/* Makes all indexes, and reports progress. */
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

/* Adds all rows, then makes indexes and views, and commits. */
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

/* Writes one row about the heap (--summary), or the whole graph in a new database. */
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
        error = sqlite_prepare(&writer);
    if (!error)
        error = sqlite_write_all(&writer);
    writer_deinit(&writer);
    return error;
}
