/*
 * rows: numbers that are in memory as rows of a table, for SQL to select from.
 *
 * A prepared statement that is stepped for each row spends most of its time on beginning and
 * ending. `INSERT INTO edge_ SELECT c0, c1, c2 FROM rows` is stepped once for many thousands of
 * them.
 */
#ifndef OUTPUT_ROWS_H
#define OUTPUT_ROWS_H

#include "output/database.h"

/* A row has at most so many numbers: columns c0, c1 … */
enum { ROWS_COLUMNS = 12 };

/* The number that SQL sees as NULL. */
#define ROWS_NULL INT64_MIN

/* What the table "rows" has at the moment: count rows of so many columns each, one behind the
 * other.
 */
struct rows {
    const int64_t *data;
    size_t count;
    unsigned columns;
};

/* Makes the table known to a database. rows must be there until that is closed. Errors: those of
 * database_error(). */
struct g2h_error *rows_offer(struct database *database, struct rows *rows);

#endif
