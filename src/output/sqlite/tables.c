/*
 * tables: the tables of a database with a whole graph, how rows are added to them, and the views;
 * see tables.h.
 *
 * Rows are numbered as the snapshot numbers them, from 0: so the number that an edge leads to finds
 * a row of node_, and the edges of a node are consecutive, from first_edge on. The views are for
 * people: they have the columns of heapquery, which are V8's, and ids in place of numbers. Columns
 * that few queries search by are looked up by subqueries; columns that rows are searched by come
 * from outer joins, which SQLite turns into inner joins in whichever order is fastest. ANALYZE
 * finds that order from a sample, which takes a moment.
 */
#include "output/sqlite/tables.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/contract.h"
#include "base/error.h"

enum {
    APPLICATION = 0x67326868, /* "g2hh": file(1) and PRAGMA application_id */
    SCHEMA = 1 /* PRAGMA user_version: it increases when a column changes its meaning */
};

static const char create[] =
    "CREATE TABLE about(key TEXT PRIMARY KEY, value) WITHOUT ROWID;"
    "CREATE TABLE string(number INTEGER PRIMARY KEY, text TEXT);"
    "CREATE TABLE node_type(number INTEGER PRIMARY KEY, name TEXT);"
    "CREATE TABLE edge_type(number INTEGER PRIMARY KEY, name TEXT);"
    "CREATE TABLE node_(number INTEGER PRIMARY KEY, type INTEGER, name INTEGER, id INTEGER,"
    " self_size INTEGER, edge_count INTEGER, first_edge INTEGER, retained_size INTEGER,"
    " dominator INTEGER, address INTEGER, trace_node_id INTEGER, detachedness INTEGER);"
    "CREATE TABLE edge_(number INTEGER PRIMARY KEY, from_node INTEGER, type INTEGER, name INTEGER,"
    " element INTEGER, to_node INTEGER)";

static const char *const create_indexes[TABLES_INDEXES] = {
    "CREATE INDEX edge_to_node ON edge_(to_node)",
    "CREATE INDEX node_name ON node_(name)",
    "CREATE INDEX node_dominator ON node_(dominator)",
    "CREATE INDEX node_id ON node_(id)",
};

/* What each optional group of columns adds to the table, to its rows, and to the view. */
static const struct {
    enum tables_columns columns;
    const char *table, *rows, *view;
} optional[] = {
    {TABLES_PAGES,
     "ALTER TABLE node_ ADD COLUMN retained_pages INTEGER;"
     "ALTER TABLE node_ ADD COLUMN free_slots INTEGER",
     ", c12, c13", ", n.retained_pages AS retained_pages, n.free_slots AS free_slots"},
    {TABLES_AGES,
     "ALTER TABLE node_ ADD COLUMN alive_since INTEGER;"
     "ALTER TABLE node_ ADD COLUMN alive_since_ms INTEGER",
     ", c14, c15", ", n.alive_since AS alive_since, n.alive_since_ms AS alive_since_ms"},
};
enum { OPTIONAL = COUNT_OF(optional) };

static const char create_node_view[] =
    "CREATE VIEW node AS"
    " SELECT n.id AS id, s.text AS name,"
    " (SELECT t.name FROM node_type t WHERE t.number = n.type) AS type,"
    " n.self_size AS self_size, n.edge_count AS edge_count, n.trace_node_id AS trace_node_id,"
    " n.detachedness AS detachedness, n.retained_size AS retained_size, d.id AS dominator,"
    " n.address AS address, n.number AS number%s"
    " FROM node_ n LEFT JOIN string s ON s.number = n.name"
    " LEFT JOIN node_ d ON d.number = n.dominator";

static const char create_edge_view[] =
    "CREATE VIEW edge AS"
    " SELECT f.id AS from_node, o.id AS to_node,"
    " (SELECT t.name FROM edge_type t WHERE t.number = e.type) AS type,"
    " coalesce(e.element, (SELECT s.text FROM string s WHERE s.number = e.name)) AS name_or_index,"
    " e.number AS number"
    " FROM edge_ e LEFT JOIN node_ f ON f.number = e.from_node"
    " AND e.number >= f.first_edge AND e.number < f.first_edge + f.edge_count"
    " LEFT JOIN node_ o ON o.number = e.to_node";

/* Marks the database as one of this program, of this version of its tables. */
static struct g2h_error *set_header(struct database *database)
{
    char sql[96];
    snprintf(sql, sizeof(sql), "PRAGMA application_id=%d; PRAGMA user_version=%d", APPLICATION,
             SCHEMA);
    return database_run(database, sql);
}

static bool has_columns(const struct tables *tables, size_t i)
{
    return (tables->columns & optional[i].columns) != 0;
}

/* Adds the optional columns, and prepares the statement that adds nodes. */
static struct g2h_error *prepare_nodes(struct tables *tables)
{
    char sql[160] = "INSERT INTO node_ SELECT c0, c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11";
    for (size_t i = 0; i < OPTIONAL; i++)
        if (has_columns(tables, i)) {
            TRY(database_run(tables->database, optional[i].table));
            strcat(sql, optional[i].rows);
        }
    strcat(sql, " FROM rows");
    return database_prepare(tables->database, sql, &tables->add_nodes);
}

/* Creates the tables. Rows of nodes and edges come through a virtual table, "rows", whose columns
 * are c0, c1, …: one statement inserts many. */
struct g2h_error *tables_init(struct tables *tables, struct database *database, unsigned columns)
{
    *tables = (struct tables){.database = database, .columns = columns};
    TRY(set_header(database));
    TRY(database_run(database, create));
    TRY(rows_offer(database, &tables->rows));
    TRY(prepare_nodes(tables));
    TRY(database_prepare(database, "INSERT INTO edge_ SELECT c0, c1, c2, c3, c4, c5 FROM rows",
                         &tables->add_edges));
    TRY(database_prepare(database, "INSERT INTO string VALUES (?, ?)", &tables->add_string));
    return database_prepare(database, "INSERT INTO about VALUES (?, ?)", &tables->add_about);
}

void tables_deinit(struct tables *tables)
{
    sqlite3_finalize(tables->add_nodes);
    sqlite3_finalize(tables->add_edges);
    sqlite3_finalize(tables->add_string);
    sqlite3_finalize(tables->add_about);
}

struct g2h_error *tables_say_text(struct tables *tables, const char *key, const char *text)
{
    database_bind_text(tables->add_about, 1, key, strlen(key));
    database_bind_text(tables->add_about, 2, text, strlen(text));
    return database_step(tables->database, tables->add_about);
}

struct g2h_error *tables_say_number(struct tables *tables, const char *key, uint64_t number)
{
    database_bind_text(tables->add_about, 1, key, strlen(key));
    database_bind_number(tables->add_about, 2, number);
    return database_step(tables->database, tables->add_about);
}

/* Adds a type. There are few, so the statement is prepared for each. */
static struct g2h_error *tables_add_type(struct tables *tables, const char *sql, unsigned number,
                                         const char *name, size_t size)
{
    _cleanup_(database_finalize) sqlite3_stmt *statement = NULL;
    TRY(database_prepare(tables->database, sql, &statement));
    database_bind_number(statement, 1, number);
    database_bind_text(statement, 2, name, size);
    return database_step(tables->database, statement);
}

struct g2h_error *tables_add_node_type(struct tables *tables, unsigned number, const char *name,
                                       size_t size)
{
    return tables_add_type(tables, "INSERT INTO node_type VALUES (?, ?)", number, name, size);
}

struct g2h_error *tables_add_edge_type(struct tables *tables, unsigned number, const char *name,
                                       size_t size)
{
    return tables_add_type(tables, "INSERT INTO edge_type VALUES (?, ?)", number, name, size);
}

/* Adds nodes by one statement, which reads these rows. */
struct g2h_error *tables_add_nodes(struct tables *tables, const struct node_row *rows, size_t count)
{
    tables->rows = (struct rows){&rows->number, count, sizeof(*rows) / sizeof(int64_t)};
    return database_step(tables->database, tables->add_nodes);
}

/* Adds edges by one statement, which reads these rows. */
struct g2h_error *tables_add_edges(struct tables *tables, const struct edge_row *rows, size_t count)
{
    tables->rows = (struct rows){&rows->number, count, sizeof(*rows) / sizeof(int64_t)};
    return database_step(tables->database, tables->add_edges);
}

/* Adds the string with this number, which must be the next one. With NULL as the number SQLite
 * gives it the next one itself, which is faster; only the first one, 0, is given. */
struct g2h_error *tables_add_string(struct tables *tables, uint64_t number, const char *text,
                                    size_t size)
{
    if (number == 0)
        database_bind_number(tables->add_string, 1, 0);
    else
        sqlite3_bind_null(tables->add_string, 1); /* see tables_number() */
    database_bind_text(tables->add_string, 2, text, size);
    return database_step(tables->database, tables->add_string);
}

struct g2h_error *tables_make_index(struct tables *tables, unsigned step)
{
    return database_run(tables->database, create_indexes[step]);
}

/* Creates the views, and runs ANALYZE, so that SQLite knows how to plan queries. */
struct g2h_error *tables_finish(struct tables *tables)
{
    char sql[sizeof(create_node_view) + 160], added[160] = "";
    for (size_t i = 0; i < OPTIONAL; i++)
        if (has_columns(tables, i))
            strcat(added, optional[i].view);
    snprintf(sql, sizeof(sql), create_node_view, added);
    TRY(database_run(tables->database, sql));
    TRY(database_run(tables->database, create_edge_view));
    return database_run(tables->database, "PRAGMA analysis_limit=1000; ANALYZE");
}
