/*
 * tables: those of a database that holds the nodes and edges of a heap snapshot: docs/sqlite.md.
 *
 * Whoever has a snapshot can fill them: the format sqlite does it from a view, tools/heapquery from
 * a file. Rows come in their order; indexes and views are made behind the last one, for that takes
 * a part of the time.
 */
#ifndef OUTPUT_SQLITE_TABLES_H
#define OUTPUT_SQLITE_TABLES_H

#include "output/rows.h"

/* A row of node_. What is not known is ROWS_NULL. */
struct node_row {
    int64_t number; /* from 0, in the snapshot's order */
    int64_t type;   /* of node_type */
    int64_t name;   /* of string */
    int64_t id, self_size, edge_count;
    int64_t first_edge;    /* the number of the first of them */
    int64_t retained_size; /* in bytes */
    int64_t dominator;     /* a node's number; of the root NULL */
    int64_t address;
    int64_t trace_node_id, detachedness; /* V8's */
};

/* A row of edge_. */
struct edge_row {
    int64_t number, from_node;
    int64_t type; /* of edge_type */
    int64_t name; /* of string; NULL: it is called by an index, */
    int64_t element;
    int64_t to_node;
};

struct tables {
    struct database *database;
    struct rows rows;
    sqlite3_stmt *add_nodes, *add_edges, *add_string, *add_about;
};

/* Makes the tables in an empty database, which must be there until tables_deinit(), to which tables
 * go also after an error. Errors of this and of what follows: those of database_run(). */
struct g2h_error *tables_init(struct tables *tables, struct database *database);
void tables_deinit(struct tables *tables);

/* What is said of the whole: a row of the table about. A key comes once. */
struct g2h_error *tables_say_text(struct tables *tables, const char *key, const char *text);
struct g2h_error *tables_say_number(struct tables *tables, const char *key, uint64_t number);

/* The name of a type. */
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

/* Makes the indexes, in steps 0 … TABLES_INDEXES-1. */
enum { TABLES_INDEXES = 4 };
struct g2h_error *tables_make_index(struct tables *tables, unsigned step);

/* Makes the views, and tells SQLite how to plan queries. */
struct g2h_error *tables_finish(struct tables *tables);

#endif
