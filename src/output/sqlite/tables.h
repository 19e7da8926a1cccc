/*
 * tables: the tables of a database that holds the nodes and edges of a heap snapshot:
 * docs/sqlite.md.
 *
 * They do not depend on where a snapshot comes from: the format sqlite fills them from a view,
 * tools/heapquery from a file. Rows are added in the order of their numbers. Indexes and views are
 * made after the last row, because that takes a fraction of the time.
 */
#ifndef OUTPUT_SQLITE_TABLES_H
#define OUTPUT_SQLITE_TABLES_H

#include "output/database.h"

/* Returns what a row has as its number: only the first row has it, and SQLite counts on from there.
 * This takes 0.7 times as many instructions, because SQLite then need not search for rows that have
 * the number already. So rows are added in order and without gaps. */
static inline int64_t tables_number(uint64_t number)
{
    return number == 0 ? 0 : ROWS_NULL;
}

/* A row of node_. ROWS_NULL stands for a value that is not known. */
struct node_row {
    int64_t number; /* tables_number() of its number, from 0 in the snapshot's order */
    int64_t type;   /* number in node_type */
    int64_t name;   /* number in string */
    int64_t id, self_size, edge_count;
    int64_t first_edge;    /* number of the node's first edge */
    int64_t retained_size; /* in bytes */
    int64_t dominator;     /* number of the node; of the root NULL */
    int64_t address;
    int64_t trace_node_id, detachedness; /* columns of V8 */
    int64_t retained_pages, free_slots;  /* TABLES_PAGES: bytes */
    int64_t alive_since, alive_since_ms; /* TABLES_AGES: a collection and its time */
};

/* Columns of nodes that a database has only if they are known. */
enum tables_columns { TABLES_PAGES = 1, TABLES_AGES = 2 };

/* A row of edge_. */
struct edge_row {
    int64_t number; /* tables_number() */
    int64_t from_node;
    int64_t type; /* number in edge_type */
    int64_t name; /* number in string; NULL: the edge is named by an index, */
    int64_t element;
    int64_t to_node;
};

struct tables {
    struct database *database;
    struct rows rows;
    unsigned columns; /* bits of enum tables_columns */
    sqlite3_stmt *add_nodes, *add_edges, *add_string, *add_about;
};

/* Creates the tables in an empty database, with these columns besides (enum tables_columns), which
 * must live until tables_deinit(). The caller calls that after an error, too. Errors of this and of
 * the following functions: those of database_run(). */
struct g2h_error *tables_init(struct tables *tables, struct database *database, unsigned columns);
void tables_deinit(struct tables *tables);

/* Add a row to the table about, which describes the snapshot as a whole. Each key comes once. */
struct g2h_error *tables_say_text(struct tables *tables, const char *key, const char *text);
struct g2h_error *tables_say_number(struct tables *tables, const char *key, uint64_t number);

/* Add the name of a type. */
struct g2h_error *tables_add_node_type(struct tables *tables, unsigned number, const char *name,
                                       size_t size);
struct g2h_error *tables_add_edge_type(struct tables *tables, unsigned number, const char *name,
                                       size_t size);

struct g2h_error *tables_add_nodes(struct tables *tables, const struct node_row *rows,
                                   size_t count);
struct g2h_error *tables_add_edges(struct tables *tables, const struct edge_row *rows,
                                   size_t count);
struct g2h_error *tables_add_string(struct tables *tables, uint64_t number, const char *text,
                                    size_t size);

/* Creates an index; the steps are 0 … TABLES_INDEXES-1. */
enum { TABLES_INDEXES = 4 };
struct g2h_error *tables_make_index(struct tables *tables, unsigned step);

/* Creates the views, and runs ANALYZE, so that SQLite knows how to plan queries. */
struct g2h_error *tables_finish(struct tables *tables);

#endif
