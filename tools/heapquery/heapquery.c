/*
 * heapquery: reads a V8 heap snapshot, written by Chrome, Node or go2heapsnapshot, and writes the
 * tables of `go2heapsnapshot --format sqlite` (docs/sqlite.md).
 *
 *   heapquery FILE.heapsnapshot FILE.db
 *
 * It reads the file from front to back; "-" is standard input. It keeps 40 bytes per node and 12
 * per edge in memory, and needs as much again while it computes dominators.
 *
 * Exit status: 0 fine, 1 failed, 2 wrong usage.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <go2heapsnapshot/version.h>

#include "base/error.h"
#include "base/text.h"
#include "chunks.h"
#include "cli/target.h"
#include "input/input.h"
#include "retained.h"
#include "snapshot.h"

enum { MANY = 1 << 12 /* nodes that are added to the tables at a time */ };

static struct g2h_error *add_nodes(struct tables *tables, const struct snapshot *snapshot,
                                   const struct retained *retained)
{
    _cleanup_free_ struct node_row *rows = malloc(MANY * sizeof(*rows));
    const uint32_t root = (uint32_t)(snapshot->root / snapshot->node_fields);
    int64_t edges = 0;
    TRY_MEMORY(rows);
    for (size_t i = 0; i < snapshot->nodes.count; i++) {
        const struct snapshot_node *node = &snapshot->nodes.data[i];
        rows[i % MANY] = (struct node_row){
            .number = tables_number(i),
            .type = node->type,
            .name = node->name,
            .id = (int64_t)node->id,
            .self_size = (int64_t)node->self_size,
            .edge_count = node->edges,
            .first_edge = edges,
            .retained_size = (int64_t)retained->sizes[i],
            .dominator = i == root ? ROWS_NULL : retained->dominators[i],
            .address = ROWS_NULL,
            .trace_node_id = node->trace_node_id,
            .detachedness = node->detachedness,
        };
        edges += node->edges;
        if (i % MANY == MANY - 1 || i + 1 == snapshot->nodes.count)
            TRY(tables_add_nodes(tables, rows, i % MANY + 1));
    }
    return NULL;
}

/* Passes over the mark that some programs put before UTF-8. */
static void pass_mark(struct json *json)
{
    static const uint8_t mark[] = {0xef, 0xbb, 0xbf};
    if ((size_t)(json->end - json->at) >= sizeof(mark) && memcmp(json->at, mark, sizeof(mark)) == 0)
        json->at += sizeof(mark);
}

/* Reads the snapshot in a file, or in the messages of a log. */
static struct g2h_error *read_snapshot(const struct json *json, struct tables *tables,
                                       struct snapshot *snapshot)
{
    _cleanup_(text_deinit) struct text text = {0};
    _cleanup_(text_deinit) struct text name = {0};
    if (!chunks_are_in(json))
        return snapshot_read(snapshot, json, tables);
    TRY(chunks_join(json, &text));
    text_append(&name, json->name, strlen(json->name));
    text_append(&name, ": its chunks", sizeof(": its chunks"));
    TRY_MEMORY(!name.failed);
    const uint8_t *begin = (const uint8_t *)text.data;
    const struct json joined = {name.data, begin, begin, begin + text.size};
    TRY(snapshot_read(snapshot, &joined, tables));
    snapshot->json = *json; /* the joined text is gone */
    return NULL;
}

static struct g2h_error *fill(struct tables *tables, struct snapshot *snapshot,
                              const struct g2h_input *input)
{
    struct json json = {input->name, input->data, input->data, input->data + input->size};
    _cleanup_(retained_deinit) struct retained retained = {0};
    TRY(tables_say_text(tables, "writer", "heapquery " G2H_VERSION));
    TRY(tables_say_text(tables, "source", input->name));
    pass_mark(&json);
    TRY(read_snapshot(&json, tables, snapshot));
    TRY(retained_init(&retained, snapshot));
    TRY(add_nodes(tables, snapshot, &retained));
    for (unsigned i = 0; i < TABLES_INDEXES; i++)
        TRY(tables_make_index(tables, i));
    return tables_finish(tables);
}

static struct g2h_error *write_database(const struct g2h_input *input, const struct target *target)
{
    _cleanup_(database_closed) struct database *database = NULL;
    _cleanup_(tables_deinit) struct tables tables = {0};
    _cleanup_(snapshot_deinit) struct snapshot snapshot = {.strings = 0};
    TRY(database_create(target->fd, target->name, &database));
    TRY(tables_init(&tables, database, 0));
    TRY(fill(&tables, &snapshot, input));
    return database_commit(database);
}

static void close_input(struct g2h_input **input)
{
    g2h_input_close(*input);
}

static struct g2h_error *convert(const char *path, struct target *target, const char *output)
{
    const struct target_source source = {path, "snapshot"};
    _cleanup_(close_input) struct g2h_input *input = NULL;
    TRY(target_refuse_database(output, true, &source, 1));
    TRY(target_open(output, &source, 1, target));
    TRY(input_open(path, NULL, NULL, &input));
    if (input->damage)
        return take_pointer(input->damage);
    TRY(write_database(input, target));
    TRY(g2h_input_check(input));
    return target_complete(target, input);
}

int main(int argc, char **argv)
{
    static const char usage[] = "Usage: heapquery FILE.heapsnapshot FILE.db\n";
    struct target target = {0};
    const bool asks = argc == 2 && strcmp(argv[1], "--help") == 0;
    if (asks || (argc == 2 && strcmp(argv[1], "--version") == 0))
        return fputs(asks ? usage : "heapquery " G2H_VERSION "\n", stdout) == EOF ||
               fflush(stdout) != 0;
    if (argc != 3 || argv[1][0] == '\0' || argv[2][0] == '\0' || strcmp(argv[2], "-") == 0) {
        fputs(usage, stderr);
        return 2;
    }
    signals_catch("heapquery");
    struct g2h_error *error = convert(argv[1], &target, argv[2]);
    target_deinit(&target);
    if (error)
        fprintf(stderr, "heapquery: %.*s\n",
                (int)g2h_printable(error->message, strlen(error->message)), error->message);
    g2h_error_destroy(error);
    return error ? 1 : 0;
}
