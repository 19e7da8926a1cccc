/*
 * rows: offers numbers in memory as rows of a table that SQL can select from.
 *
 * A prepared statement that is stepped for each row spends most of its time on beginning and
 * ending. `INSERT INTO edge_ SELECT c0, c1, c2 FROM rows` is stepped once for many thousands of
 * rows.
 */
#ifndef OUTPUT_ROWS_H
#define OUTPUT_ROWS_H

#include "output/database.h"

/* The most numbers that a row has: columns c0, c1 … */
enum { ROWS_COLUMNS = 12 };

/* The number that SQL sees as NULL. */
#define ROWS_NULL INT64_MIN

/* The current contents of the table "rows": count rows of columns numbers each, one after the
 * other. */
struct rows {
    const int64_t *data;
    size_t count;
    unsigned columns;
};

/* Registers the table with a database. rows must live until the database is closed. Errors: those
 * of database_error(). */
struct g2h_error *rows_offer(struct database *database, struct rows *rows);

#endif
